// knuckle: the command-line tool. Picks the command; each has its own file, cmd_*.c.
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "core/text.h"
#include "options.h"

static const cliCommand* const commands[] = { &cliScenesCommand,  &cliRunCommand,   &cliViewCommand,
											  &cliRenderCommand,  &cliInfoCommand,  &cliConvertCommand,
											  &cliCompareCommand, &cliBenchCommand, &cliDynamicsCommand };

#define COMMAND_COUNT ((int)(sizeof(commands) / sizeof(commands[0])))

int cliFail(int status, const char* format, ...) {
	va_list arguments;
	va_start(arguments, format);
	fputs("knuckle: ", stderr);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
	return status;
}

int cliFailWith(int status, const knError* error) {
	char text[sizeof(knError) + 64];
	return cliFail(status, "%s", knError_Format(error, text, sizeof(text)));
}

int cliStatusOf(const knError* error) {
	return error->status == KN_BAD_ARGUMENT ? CLI_USAGE : CLI_BAD_INPUT;
}

bool cliHasExtension(const char* path, const char* extension) {
	size_t length = strlen(path), tail = strlen(extension);
	if (length < tail) {
		return false;
	}
	for (size_t i = 0; i < tail; ++i) {
		if (tolower((unsigned char)path[length - tail + i]) != extension[i]) {
			return false;
		}
	}
	return true;
}

bool cliFindProgram(const char* name) {
	const char* folders = getenv("PATH");
	while (folders != NULL && *folders != '\0') {
		char path[1024];
		int length = (int)strcspn(folders, ":");
		int used = snprintf(path, sizeof(path), "%.*s/%s", length, folders, name);
		if (used < (int)sizeof(path) && access(path, X_OK) == 0) {
			return true;
		}
		folders += length + (folders[length] == ':' ? 1 : 0);
	}
	return false;
}

double cliClock(void* context) {
	(void)context;
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void printHelp(void) {
	puts("knuckle " KN_VERSION_STRING ": articulated rigid bodies with contact and collision\n\n"
		 "usage: knuckle COMMAND [options]\n");
	for (int i = 0; i < COMMAND_COUNT; ++i) {
		printf("  %-8s %s\n", commands[i]->name, commands[i]->summary);
	}
	puts("\n'knuckle COMMAND --help' tells more. Start with 'knuckle scenes' and 'knuckle run box-stack'.\n"
		 "exit status: 0 done; 1 the simulation failed; 2 wrong usage; 3 bad input");
}

static int unknownCommand(const char* name) {
	const char* names[COMMAND_COUNT];
	for (int i = 0; i < COMMAND_COUNT; ++i) {
		names[i] = commands[i]->name;
	}
	const char* closest = knText_Closest(name, names, COMMAND_COUNT);
	if (closest != NULL) {
		return cliFail(CLI_USAGE, "unknown command '%s'; did you mean '%s'?", name, closest);
	}
	return cliFail(CLI_USAGE, "unknown command '%s'; 'knuckle --help' lists them", name);
}

static int dispatch(int argc, char** argv) {
	if (argc < 2) {
		printHelp();
		return CLI_USAGE;
	}
	const char* name = argv[1];
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
		printHelp();
		return CLI_DONE;
	}
	if (strcmp(name, "--version") == 0) {
		puts("knuckle " KN_VERSION_STRING " (" KN_BUILD_INFO ")");
		return CLI_DONE;
	}
	for (int i = 0; i < COMMAND_COUNT; ++i) {
		if (strcmp(name, commands[i]->name) == 0) {
			return commands[i]->run(commands[i], argc - 2, argv + 2);
		}
	}
	return unknownCommand(name);
}

int main(int argc, char** argv) {
	int status = dispatch(argc, argv);
	if (fflush(stdout) != 0 || ferror(stdout) != 0) {
		return cliFail(CLI_BAD_INPUT, "cannot write to standard output");
	}
	return status;
}
