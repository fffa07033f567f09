// Reading --control files (control_file.h).
#include "control_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/text.h"

#define LINE_MOST (1 << 20) // bytes
#define TIME_SLACK 1e-9     // s, by which a row may come early

typedef struct Reading {
	cliControl* control;
	const knScene* scene;
	const char* path;
	int line;
} Reading;

static int failAt(const Reading* reading, const char* sentence, const char* word) {
	return cliFail(CLI_BAD_INPUT, "%s:%d: %s '%.60s'", reading->path, reading->line, sentence, word);
}

static char* trim(char* text) {
	text += strspn(text, " \t\r\n");
	size_t length = strlen(text);
	while (length > 0 && strchr(" \t\r\n", text[length - 1]) != NULL) {
		text[--length] = '\0';
	}
	return text;
}

static int readHead(Reading* reading, int column, const char* name) {
	knAllocator allocator = knAllocator_Default();
	if (column == 0) {
		return strcmp(name, "time") == 0 ? CLI_DONE
										 : failAt(reading, "the first column must be time, not", name);
	}
	int actuator = knScene_FindActuator(reading->scene, name);
	if (actuator < 0) {
		return failAt(reading, "the scene has no actuator", name);
	}
	for (int i = 0; i < reading->control->actuators.count; ++i) {
		if (reading->control->actuators.items[i] == actuator) {
			return failAt(reading, "there are two columns", name);
		}
	}
	return KN_ARRAY_PUSH(&allocator, &reading->control->actuators, actuator)
			   ? CLI_DONE
			   : cliFail(CLI_FAILED, "out of memory");
}

static int readValue(Reading* reading, int column, const char* text) {
	knAllocator allocator = knAllocator_Default();
	double value;
	if (!knText_ParseDouble(text, &value)) {
		return failAt(reading, "not a finite number:", text);
	}
	const int width = reading->control->actuators.count + 1, count = reading->control->values.count;
	if (column == 0 && count >= width && value < reading->control->values.items[count - width]) {
		return failAt(reading, "times must not go back:", text);
	}
	return KN_ARRAY_PUSH(&allocator, &reading->control->values, value) ? CLI_DONE
																	   : cliFail(CLI_FAILED, "out of memory");
}

static int readLine(Reading* reading, char* line) {
	int column = 0;
	for (char* part = line; part != NULL; ++column) {
		char* comma = strchr(part, ',');
		if (comma != NULL) {
			*comma = '\0';
		}
		int status = reading->line == 1 ? readHead(reading, column, trim(part))
										: readValue(reading, column, trim(part));
		if (status != CLI_DONE) {
			return status;
		}
		part = comma != NULL ? comma + 1 : NULL;
	}
	if (reading->line > 1 && column != reading->control->actuators.count + 1) {
		char found[32];
		snprintf(found, sizeof found, "%d", column);
		return failAt(reading, "the line has not as many numbers as the first has names:", found);
	}
	return CLI_DONE;
}

static int readAll(Reading* reading, FILE* file) {
	knAllocator allocator = knAllocator_Default();
	KN_ARRAY(char) line = { 0 };
	int status = CLI_DONE;
	for (int c = 0; c != EOF && status == CLI_DONE;) {
		line.count = 0;
		while ((c = fgetc(file)) != EOF && c != '\n') {
			if (c == '\0' || line.count == LINE_MOST) {
				reading->line += 1;
				status = failAt(reading, "the line has a zero byte, or more than a million, after", "");
				break;
			}
			if (!KN_ARRAY_PUSH(&allocator, &line, (char)c)) {
				status = cliFail(CLI_FAILED, "out of memory");
				break;
			}
		}
		if (status != CLI_DONE || !KN_ARRAY_PUSH(&allocator, &line, '\0')) {
			break;
		}
		reading->line += 1;
		if (*trim(line.items) != '\0') {
			status = readLine(reading, line.items);
		} else if (reading->line == 1) {
			status = failAt(reading, "the first line must name the columns, not", "");
		}
	}
	KN_ARRAY_FREE(&allocator, &line);
	return status;
}

int cliControl_Open(cliControl* control, const char* path, const knScene* scene) {
	memset(control, 0, sizeof(*control));
	FILE* file = fopen(path, "rb");
	if (file == NULL) {
		return cliFail(CLI_BAD_INPUT, "cannot open '%s': %s", path, strerror(errno));
	}
	Reading reading = { .control = control, .scene = scene, .path = path };
	int status = readAll(&reading, file);
	fclose(file);
	if (status == CLI_DONE && control->values.count == 0) {
		status = failAt(&reading, "there is no line of numbers after the first", "");
	}
	if (status != CLI_DONE) {
		cliControl_Close(control);
	}
	return status;
}

void cliControl_Close(cliControl* control) {
	knAllocator allocator = knAllocator_Default();
	KN_ARRAY_FREE(&allocator, &control->actuators);
	KN_ARRAY_FREE(&allocator, &control->values);
	memset(control, 0, sizeof(*control));
}

void cliControl_Apply(cliControl* control, knWorld* world) {
	const int width = control->actuators.count + 1;
	const double now = knWorld_Time(world) + TIME_SLACK;
	for (; (control->next + 1) * width <= control->values.count; ++control->next) {
		const double* row = &control->values.items[control->next * width];
		if (row[0] > now) {
			return;
		}
		for (int i = 0; i < control->actuators.count; ++i) {
			(void)knWorld_SetControl(world, control->actuators.items[i], row[i + 1]);
		}
	}
}
