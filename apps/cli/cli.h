// What the tool's commands share: exit statuses, the one way to complain, and the description of a command that its
// parser, its --help and the dispatcher read.
#pragma once

#include "knuckle/knuckle.h"

// How this program was built: compiler and flags.
#ifndef KN_BUILD_INFO
#define KN_BUILD_INFO "unknown"
#endif

enum { CLI_DONE = 0, CLI_FAILED = 1, CLI_USAGE = 2, CLI_BAD_INPUT = 3 };

typedef struct cliOption {
	const char* name;  // "--dt"
	const char* value; // what it takes, for --help; NULL: a flag
	const char* help;
} cliOption;

typedef struct cliCommand cliCommand;

struct cliCommand {
	const char* name;
	const char* operands; // "SCENE|FILE"
	const char* summary;
	const cliOption* options; // ends with a NULL name; --help is understood by all
	const char* notes;        // more for --help, NULL: nothing
	int (*run)(const cliCommand* command, int argc, char** argv); // returns the exit status
};

extern const cliCommand cliScenesCommand, cliRunCommand, cliRenderCommand, cliInfoCommand, cliConvertCommand,
	cliCompareCommand, cliBenchCommand, cliDynamicsCommand, cliViewCommand;

// Prints "knuckle: ..." to stderr and returns `status`.
int cliFail(int status, const char* format, ...) KN_PRINTF(2, 3);
int cliFailWith(int status, const knError* error);
// The exit status for a library call that failed before the simulation began.
int cliStatusOf(const knError* error);

// True if `path` ends with `extension`, in any case.
bool cliHasExtension(const char* path, const char* extension);
// True if a program of this name is on the PATH.
bool cliFindProgram(const char* name);
// Seconds since some fixed moment (a knClockFn).
double cliClock(void* context);
