// Formats a line and hands it to the user's log callback, if any.
#pragma once

#include "knuckle/base.h"

void knLog_Write(const knLog* log, knLogLevel level, const char* format, ...) KN_PRINTF(3, 4);
