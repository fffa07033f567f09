// What the tests of the tool share: running it with captured output, looking into JSON, and small files.
//
// The tool is named by the environment variable KN_TOOL; without it the tests are skipped. Files are written to a folder
// of their own below the working directory.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/kn_test.h"

#define MAX_ARGUMENTS 40

// --- running the tool --------------------------------------------------------------------------------------------

typedef struct Ran {
	int status; // exit status; 128 + signal after a crash
	char* out;
	char* err;
} Ran;

static inline char* readWhole(const char* path) {
	FILE* file = fopen(path, "rb");
	if (file == NULL) {
		return NULL;
	}
	fseek(file, 0, SEEK_END);
	long size = ftell(file);
	rewind(file);
	char* text = malloc((size_t)size + 1);
	assert_non_null(text);
	assert_int_equal(fread(text, 1, (size_t)size, file), size);
	text[size] = '\0';
	fclose(file);
	return text;
}

static inline void writeBytes(const char* path, const void* bytes, size_t size) {
	FILE* file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

static inline void writeText(const char* path, const char* text) {
	writeBytes(path, text, strlen(text));
}

static inline bool exists(const char* path) {
	return access(path, F_OK) == 0;
}

static inline void redirect(int descriptor, const char* path) {
	int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (file < 0 || dup2(file, descriptor) < 0) {
		_exit(126);
	}
	close(file);
}

// Splits at blanks; no argument here has one inside.
static inline Ran runTool(const char* line) {
	char copy[2048];
	char* arguments[MAX_ARGUMENTS];
	int count = 0;
	arguments[count++] = getenv("KN_TOOL");
	assert_true(strlen(line) < sizeof(copy));
	strcpy(copy, line);
	char* rest = NULL;
	for (char* word = strtok_r(copy, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
		assert_true(count < MAX_ARGUMENTS - 1);
		arguments[count++] = word;
	}
	arguments[count] = NULL;

	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		redirect(STDOUT_FILENO, "tool.out");
		redirect(STDERR_FILENO, "tool.err");
		execv(arguments[0], arguments);
		_exit(127);
	}
	int state;
	assert_int_equal(waitpid(child, &state, 0), child);
	Ran ran = { WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state), readWhole("tool.out"),
				readWhole("tool.err") };
	return ran;
}

static inline void freeRan(Ran* ran) {
	free(ran->out);
	free(ran->err);
}

// --- JSON: one pass that checks the grammar, and lookups by path ---------------------------------------------------

static inline const char* jsonSkip(const char* text) {
	while (*text == ' ' || *text == '\n' || *text == '\t' || *text == '\r') {
		++text;
	}
	return text;
}

static inline const char* jsonString(const char* text) {
	if (*text++ != '"') {
		return NULL;
	}
	while (*text != '"') {
		if ((unsigned char)*text < 0x20) {
			return NULL;
		}
		text += *text == '\\' && text[1] != '\0' ? 2 : 1;
	}
	return text + 1;
}

static inline const char* jsonNumber(const char* text) {
	const char* first = text + (*text == '-');
	if (*first < '0' || *first > '9' || (first[0] == '0' && first[1] >= '0' && first[1] <= '9')) {
		return NULL;
	}
	char* end;
	double value = strtod(text, &end);
	return isfinite(value) ? end : NULL;
}

// The end of the value at `text`, NULL if it is not JSON. When `key` (with `keyLength`) is given and the value is an
// object, *found becomes the start of that member's value.
static inline const char* jsonValue(const char* text, const char* key, size_t keyLength, const char** found) {
	text = jsonSkip(text);
	bool object = *text == '{';
	if (*text == '"') {
		return jsonString(text);
	}
	if (!object && *text != '[') {
		static const char* const words[] = { "true", "false", "null" };
		for (int i = 0; i < 3; ++i) {
			if (strncmp(text, words[i], strlen(words[i])) == 0) {
				return text + strlen(words[i]);
			}
		}
		return jsonNumber(text);
	}
	char closing = object ? '}' : ']';
	text = jsonSkip(text + 1);
	if (*text == closing) {
		return text + 1;
	}
	for (int index = 0;; ++index) {
		bool hit = false;
		if (object) {
			const char* name = text;
			text = jsonString(text);
			if (text == NULL) {
				return NULL;
			}
			hit = key != NULL && (size_t)(text - name) == keyLength + 2 &&
				  strncmp(name + 1, key, keyLength) == 0;
			text = jsonSkip(text);
			if (*text++ != ':') {
				return NULL;
			}
		} else if (key != NULL && strtol(key, NULL, 10) == index && key[0] >= '0' && key[0] <= '9') {
			hit = true;
		}
		text = jsonSkip(text);
		if (hit && found != NULL) {
			*found = text;
		}
		text = jsonValue(text, NULL, 0, NULL);
		if (text == NULL) {
			return NULL;
		}
		text = jsonSkip(text);
		if (*text == closing) {
			return text + 1;
		}
		if (*text++ != ',') {
			return NULL;
		}
		text = jsonSkip(text);
	}
}

// One value and nothing behind it.
static inline bool jsonValid(const char* text) {
	const char* end = jsonValue(text, NULL, 0, NULL);
	return end != NULL && *jsonSkip(end) == '\0';
}

// The value at "energy.initial" or "bodies.3.mass"; NULL if absent.
static inline const char* jsonFind(const char* text, const char* path) {
	while (text != NULL && *path != '\0') {
		size_t length = strcspn(path, ".");
		const char* found = NULL;
		jsonValue(text, path, length, &found);
		text = found;
		path += length + (path[length] == '.');
	}
	return text;
}

static inline double jsonNumberAt(const char* text, const char* path) {
	const char* value = jsonFind(text, path);
	if (value == NULL) {
		fail_msg("no key '%s' in: %.200s", path, text);
	}
	char* end;
	double number = strtod(value, &end);
	assert_true(end != value);
	return number;
}

static inline void jsonTextAt(const char* text, const char* path, char* value, size_t capacity) {
	const char* found = jsonFind(text, path);
	if (found == NULL || *found != '"') {
		fail_msg("no text '%s' in: %.200s", path, text);
	}
	size_t length = strcspn(found + 1, "\"");
	assert_true(length < capacity);
	memcpy(value, found + 1, length);
	value[length] = '\0';
}

static inline knVec3 jsonVecAt(const char* text, const char* path) {
	char element[160];
	double v[3];
	for (int i = 0; i < 3; ++i) {
		snprintf(element, sizeof(element), "%s.%d", path, i);
		v[i] = jsonNumberAt(text, element);
	}
	return knV3(v[0], v[1], v[2]);
}

static inline knQuat jsonQuatAt(const char* text, const char* path) {
	char element[160];
	double q[4];
	for (int i = 0; i < 4; ++i) {
		snprintf(element, sizeof(element), "%s.%d", path, i);
		q[i] = jsonNumberAt(text, element);
	}
	return knQ(q[0], q[1], q[2], q[3]);
}

// --- set-up ----------------------------------------------------------------------------------------------------

static inline int enterFolder(const char* name) {
	if ((mkdir(name, 0755) != 0 && errno != EEXIST) || chdir(name) != 0) {
		return -1;
	}
	return 0;
}

// For a group of tests: false prints why and means that there is nothing to test.
static inline bool haveTool(void) {
	if (getenv("KN_TOOL") == NULL) {
		print_message("skipped: KN_TOOL does not name the tool\n");
		return false;
	}
	return true;
}
