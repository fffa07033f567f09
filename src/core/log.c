// Log lines for the user's callback. A line is at most 511 bytes; longer ones are cut.
#include "core/log.h"

#include <stdarg.h>
#include <stdio.h>

void knLog_Write(const knLog* log, knLogLevel level, const char* format, ...) {
	if (log == NULL || log->fn == NULL || level < log->threshold) {
		return;
	}
	char line[512];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(line, sizeof line, format, arguments);
	va_end(arguments);
	log->fn(level, line, log->context);
}
