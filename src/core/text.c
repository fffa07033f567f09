// Text helpers. The C library reads and writes numbers with the decimal sign of the host's locale; files and
// JSON always have a dot. So numbers are checked against a grammar here, and the sign is exchanged.
#include "core/text.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "knuckle/vecmath.h"

enum { LONGEST_NUMBER = 400, LONGEST_WORD = 63 };

static bool isBlank(char c) {
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool isDigit(char c) {
	return c >= '0' && c <= '9';
}

// Skips digits; returns how many.
static int skipDigits(const char** at) {
	const char* begin = *at;
	while (isDigit(**at)) {
		*at += 1;
	}
	return *at - begin > LONGEST_NUMBER ? LONGEST_NUMBER : (int)(*at - begin);
}

// The end of the number [+-] digits [. digits] [e [+-] digits] at `at`, or NULL if there is none.
static const char* scanNumber(const char* at) {
	at += *at == '+' || *at == '-' ? 1 : 0;
	int digits = skipDigits(&at);
	if (*at == '.') {
		at += 1;
		digits += skipDigits(&at);
	}
	if (digits == 0) {
		return NULL;
	}
	if (*at == 'e' || *at == 'E') {
		at += 1;
		at += *at == '+' || *at == '-' ? 1 : 0;
		if (skipDigits(&at) == 0) {
			return NULL;
		}
	}
	return at;
}

// Copies a number and writes the locale's decimal sign for its dot. `out` has room for the longest.
static void localize(const char* number, size_t length, char* out) {
	// "0.5" in the current locale, without its digits
	char half[16];
	snprintf(half, sizeof half, "%.1f", 0.5);
	size_t signLength = strlen(half) - 2;
	for (size_t i = 0; i < length; ++i) {
		if (number[i] == '.') {
			memcpy(out, half + 1, signLength);
			out += signLength;
		} else {
			*out++ = number[i];
		}
	}
	*out = '\0';
}

bool knText_ParseDouble(const char* text, double* value) {
	if (text == NULL) {
		return false;
	}
	while (isBlank(*text)) {
		++text;
	}
	const char* end = scanNumber(text);
	if (end == NULL || end - text > LONGEST_NUMBER) {
		return false;
	}
	const char* rest = end;
	while (isBlank(*rest)) {
		++rest;
	}
	if (*rest != '\0') {
		return false;
	}

	char copy[LONGEST_NUMBER + 16];
	localize(text, (size_t)(end - text), copy);
	double number = strtod(copy, NULL);
	if (!knIsFinite(number)) {
		return false;
	}
	*value = number;
	return true;
}

bool knText_ParseInt(const char* text, int* value) {
	if (text == NULL) {
		return false;
	}
	while (isBlank(*text)) {
		++text;
	}
	bool negative = *text == '-';
	text += *text == '+' || *text == '-' ? 1 : 0;
	if (!isDigit(*text)) {
		return false;
	}
	int64_t number = 0;
	for (; isDigit(*text); ++text) {
		number = 10 * number + (*text - '0');
		if (number > (int64_t)INT_MAX + 1) {
			return false;
		}
	}
	while (isBlank(*text)) {
		++text;
	}
	number = negative ? -number : number;
	if (*text != '\0' || number > INT_MAX) {
		return false;
	}
	*value = (int)number;
	return true;
}

// Damerau and Levenshtein's distance (insert, delete, replace, exchange neighbours; no part edited twice).
static int editDistance(const char* a, int aLength, const char* b, int bLength) {
	int rows[3][LONGEST_WORD + 1];
	int *before = rows[0], *previous = rows[1], *current = rows[2];
	for (int j = 0; j <= bLength; ++j) {
		previous[j] = j;
	}
	for (int i = 1; i <= aLength; ++i) {
		current[0] = i;
		for (int j = 1; j <= bLength; ++j) {
			int best = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
			best = previous[j] + 1 < best ? previous[j] + 1 : best;
			best = current[j - 1] + 1 < best ? current[j - 1] + 1 : best;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < best) {
				best = before[j - 2] + 1;
			}
			current[j] = best;
		}
		int* oldest = before;
		before = previous;
		previous = current;
		current = oldest;
	}
	return previous[bLength];
}

const char* knText_Closest(const char* word, const char* const* names, int count) {
	size_t length = word != NULL ? strlen(word) : 0;
	if (length == 0 || length > LONGEST_WORD) {
		return NULL;
	}
	int limit = length < 6 ? 1 : (int)length / 3;
	const char* closest = NULL;
	int closestDistance = limit + 1;
	for (int i = 0; i < count; ++i) {
		size_t nameLength = strlen(names[i]);
		if (nameLength > LONGEST_WORD) {
			continue;
		}
		int distance = editDistance(word, (int)length, names[i], (int)nameLength);
		// a name of which nothing is left is no suggestion
		if (distance < closestDistance && distance < (int)nameLength) {
			closest = names[i];
			closestDistance = distance;
		}
	}
	return closest;
}

char* knText_FormatDouble(double value, char* text, size_t capacity) {
	if (capacity == 0) {
		return text;
	}
	if (!knIsFinite(value)) {
		snprintf(text, capacity, "%s", value > 0.0 ? "inf" : (value < 0.0 ? "-inf" : "nan"));
		return text;
	}
	char number[40];
	for (int digits = 15; digits <= 17; ++digits) {
		snprintf(number, sizeof number, "%.*g", digits, value);
		if (digits == 17 || strtod(number, NULL) == value) {
			break;
		}
	}
	knText_UseDot(number);
	snprintf(text, capacity, "%s", number);
	return text;
}

void knText_UseDot(char* number) {
	// whatever is neither digit, sign nor exponent is the decimal sign, in one byte or several
	char* out = number;
	bool inSign = false;
	for (const char* at = number; *at != '\0'; ++at) {
		bool plain = isDigit(*at) || *at == '-' || *at == '+' || *at == 'e';
		if (plain) {
			*out++ = *at;
		} else if (!inSign) {
			*out++ = '.';
		}
		inSign = !plain;
	}
	*out = '\0';
}
