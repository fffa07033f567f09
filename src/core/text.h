// Text helpers: strict number parsing independent of the locale, and "did you mean".
#pragma once

#include "knuckle/base.h"

// The whole of `text` must be one finite number (leading and trailing blanks allowed) of at most 400
// characters.
bool knText_ParseDouble(const char* text, double* value);
bool knText_ParseInt(const char* text, int* value);
// The closest of `count` names within a plausible typing distance, else NULL.
const char* knText_Closest(const char* word, const char* const* names, int count);
// Shortest text that reads back as the same double; returns `text`. Capacity of at least 32.
char* knText_FormatDouble(double value, char* text, size_t capacity);
// Replaces the locale's decimal sign in a number written by printf's %g, %e or %f by a dot, in place.
void knText_UseDot(char* number);
