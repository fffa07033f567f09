// Reads a command's arguments against its table of options: --name value and --name=value in any order, operands
// between them, -- before operands that begin with a dash.
#pragma once

#include "cli.h"

typedef struct cliReader {
	const cliCommand* command;
	int argc;
	char** argv;
	int next;
	bool operandsOnly; // after --
} cliReader;

enum {
	CLI_END = -1,     // no more
	CLI_OPERAND = -2, // *value is an operand
	CLI_REFUSED = -3, // a complaint was printed: exit with CLI_USAGE
	CLI_HELPED = -4,  // help was printed: exit with CLI_DONE
};

cliReader cliReader_Begin(const cliCommand* command, int argc, char** argv);
// The index of the next option in the command's table (with its value, NULL for a flag), or one of the above.
int cliReader_Next(cliReader* reader, const char** value);

// Number parsing that complains: false after a message. `option` names the option.
bool cliParseNumber(const char* option, const char* text, double lower, double upper, const char* what,
					double* value);
bool cliParseWhole(const char* option, const char* text, double lower, double upper, int64_t* value);
