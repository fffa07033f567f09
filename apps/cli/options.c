// The option parser (options.h).
#include "options.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/text.h"

#define MAX_OPTIONS 32

cliReader cliReader_Begin(const cliCommand* command, int argc, char** argv) {
	cliReader reader = { .command = command, .argc = argc, .argv = argv };
	return reader;
}

static void printHelp(const cliCommand* command) {
	printf("usage: knuckle %s%s%s [options]\n\n%s\n", command->name, command->operands[0] != '\0' ? " " : "",
		   command->operands, command->summary);
	puts("\noptions:");
	for (const cliOption* option = command->options; option->name != NULL; ++option) {
		char left[64];
		snprintf(left, sizeof(left), "%s %s", option->name, option->value != NULL ? option->value : "");
		printf("  %-24s %s\n", left, option->help);
	}
	printf("  %-24s %s\n", "--help", "this text");
	if (command->notes != NULL) {
		printf("\n%s", command->notes);
	}
}

static int refuseUnknown(const cliCommand* command, const char* name) {
	const char* names[MAX_OPTIONS];
	int count = 0;
	for (const cliOption* option = command->options; option->name != NULL && count < MAX_OPTIONS - 1;
		 ++option) {
		names[count++] = option->name;
	}
	names[count++] = "--help";
	const char* closest = knText_Closest(name, names, count);
	if (closest != NULL) {
		cliFail(CLI_USAGE, "unknown option '%s'; did you mean '%s'?", name, closest);
	} else {
		cliFail(CLI_USAGE, "unknown option '%s'; 'knuckle %s --help' lists them", name, command->name);
	}
	return CLI_REFUSED;
}

// The value of an option: behind its '=' or the next argument.
static int takeValue(cliReader* reader, int index, const char* inside, const char** value) {
	const cliOption* option = &reader->command->options[index];
	if (option->value == NULL) {
		if (inside != NULL) {
			cliFail(CLI_USAGE, "option '%s' takes no value", option->name);
			return CLI_REFUSED;
		}
		return index;
	}
	if (inside == NULL && reader->next < reader->argc && strncmp(reader->argv[reader->next], "--", 2) != 0) {
		inside = reader->argv[reader->next++];
	}
	if (inside == NULL || inside[0] == '\0') {
		cliFail(CLI_USAGE, "option '%s' needs a value: %s %s", option->name, option->name, option->value);
		return CLI_REFUSED;
	}
	*value = inside;
	return index;
}

int cliReader_Next(cliReader* reader, const char** value) {
	*value = NULL;
	if (reader->next >= reader->argc) {
		return CLI_END;
	}
	const char* argument = reader->argv[reader->next++];
	if (reader->operandsOnly || argument[0] != '-' || argument[1] == '\0') {
		*value = argument;
		return CLI_OPERAND;
	}
	if (strcmp(argument, "--") == 0) {
		reader->operandsOnly = true;
		return cliReader_Next(reader, value);
	}
	if (strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0) {
		printHelp(reader->command);
		return CLI_HELPED;
	}

	char name[64];
	const char* equals = strchr(argument, '=');
	size_t length = equals != NULL ? (size_t)(equals - argument) : strlen(argument);
	snprintf(name, sizeof(name), "%.*s", (int)(length < sizeof(name) ? length : sizeof(name) - 1), argument);
	for (int i = 0; reader->command->options[i].name != NULL; ++i) {
		if (strcmp(name, reader->command->options[i].name) == 0) {
			return takeValue(reader, i, equals != NULL ? equals + 1 : NULL, value);
		}
	}
	return refuseUnknown(reader->command, name);
}

bool cliParseNumber(const char* option, const char* text, double lower, double upper, const char* what,
					double* value) {
	if (!knText_ParseDouble(text, value) || *value < lower || *value > upper) {
		cliFail(CLI_USAGE, "%s must be %s, not '%s'", option, what, text);
		return false;
	}
	return true;
}

bool cliParseWhole(const char* option, const char* text, double lower, double upper, int64_t* value) {
	double number;
	if (!knText_ParseDouble(text, &number) || number < lower || number > upper || number != floor(number)) {
		cliFail(CLI_USAGE, "%s must be a whole number from %.0f to %.0f, not '%s'", option, lower, upper,
				text);
		return false;
	}
	*value = (int64_t)number;
	return true;
}
