// JSON: what is written is read back by a strict little parser, which sees the same keys, strings and
// numbers.
#include "support/kn_test.h"

#include "core/json.h"

#include <locale.h>

// --- a strict JSON parser that reports a flat list of values
// -------------------------------------------------

typedef struct Value {
	char path[64]; // keys and indices joined by '/'
	char kind;     // n number, s string, b bool, 0 null, o empty object, a empty array
	double number;
	char string[300];
} Value;

typedef struct Reader {
	const char* at;
	bool bad;
	int count;
	Value values[600];
} Reader;

static void readValue(Reader* reader, const char* path, int depth);

static void skipBlanks(Reader* reader) {
	while (*reader->at == ' ' || *reader->at == '\n') {
		reader->at += 1;
	}
}

static bool accept(Reader* reader, char c) {
	skipBlanks(reader);
	bool there = *reader->at == c;
	reader->at += there ? 1 : 0;
	return there;
}

static void readString(Reader* reader, char* out, size_t capacity) {
	size_t length = 0;
	reader->bad = reader->bad || !accept(reader, '"');
	while (!reader->bad && *reader->at != '"') {
		unsigned char c = (unsigned char)*reader->at++;
		if (c < 0x20 || length + 1 >= capacity) {
			reader->bad = true;
		} else if (c == '\\') {
			const char* pairs = "\"\"\\\\//b\bf\fn\nr\rt\t";
			char escape = *reader->at++;
			unsigned code = 0;
			for (; *pairs != '\0' && *pairs != escape; pairs += 2) {
			}
			if (*pairs != '\0') {
				code = (unsigned char)pairs[1];
			} else if (escape != 'u' || sscanf(reader->at, "%4x", &code) != 1 || code > 127) {
				reader->bad = true;
			} else {
				reader->at += 4;
			}
			out[length++] = (char)code;
		} else {
			out[length++] = (char)c;
		}
	}
	out[length] = '\0';
	reader->at += reader->bad ? 0 : 1;
}

static void readGroup(Reader* reader, const char* path, bool object, int depth) {
	char close = object ? '}' : ']';
	int index = 0;
	if (accept(reader, close)) {
		Value* value = &reader->values[reader->count++];
		snprintf(value->path, sizeof value->path, "%s", path);
		value->kind = object ? 'o' : 'a';
		return;
	}
	do {
		char key[300], inner[64];
		snprintf(key, sizeof key, "%d", index++);
		if (object) {
			readString(reader, key, sizeof key);
			reader->bad = reader->bad || !accept(reader, ':');
		}
		snprintf(inner, sizeof inner, "%.30s/%.30s", path, key);
		readValue(reader, inner, depth + 1);
	} while (!reader->bad && accept(reader, ','));
	reader->bad = reader->bad || !accept(reader, close);
}

static void readValue(Reader* reader, const char* path, int depth) {
	if (reader->bad || depth > 20 || reader->count >= 590) {
		reader->bad = true;
		return;
	}
	if (accept(reader, '{')) {
		readGroup(reader, path, true, depth);
		return;
	}
	if (accept(reader, '[')) {
		readGroup(reader, path, false, depth);
		return;
	}
	Value* value = &reader->values[reader->count++];
	snprintf(value->path, sizeof value->path, "%s", path);
	if (*reader->at == '"') {
		value->kind = 's';
		readString(reader, value->string, sizeof value->string);
	} else if (strncmp(reader->at, "true", 4) == 0 || strncmp(reader->at, "false", 5) == 0) {
		value->kind = 'b';
		value->number = *reader->at == 't';
		reader->at += *reader->at == 't' ? 4 : 5;
	} else if (strncmp(reader->at, "null", 4) == 0) {
		value->kind = '0';
		reader->at += 4;
	} else {
		char* end;
		value->kind = 'n';
		reader->bad = reader->bad || (*reader->at != '-' && (*reader->at < '0' || *reader->at > '9'));
		value->number = strtod(reader->at, &end);
		reader->bad = reader->bad || end == reader->at;
		reader->at = end;
	}
}

static Reader reader;

static void parse(const knJson* json) {
	memset(&reader, 0, sizeof reader);
	assert_false(json->failed);
	assert_int_equal(strlen(json->text), json->length);
	reader.at = json->text;
	readValue(&reader, "", 0);
	skipBlanks(&reader);
	if (reader.bad || *reader.at != '\0') {
		fail_msg("not JSON at '%.40s' of\n%s", reader.at, json->text);
	}
}

static const Value* valueAt(const char* path) {
	for (int i = 0; i < reader.count; ++i) {
		if (strcmp(reader.values[i].path, path) == 0) {
			return &reader.values[i];
		}
	}
	fail_msg("no value at %s", path);
	return NULL;
}

// --- tests
// ---------------------------------------------------------------------------------------------------

static void writeSample(knJson* json) {
	knJson_BeginObject(json, NULL);
	knJson_String(json, "scene", "tower");
	knJson_Integer(json, "steps", INT64_MIN);
	knJson_Bool(json, "finite", true);
	knJson_Null(json, "nothing");
	knJson_BeginObject(json, "empty");
	knJson_EndObject(json);
	knJson_BeginArray(json, "none");
	knJson_EndArray(json);
	knJson_BeginArray(json, "bodies");
	for (int i = 0; i < 3; ++i) {
		knJson_BeginObject(json, NULL);
		knJson_Integer(json, "id", i);
		knJson_BeginArray(json, "p");
		knJson_Number(json, NULL, 0.1 * i);
		knJson_Number(json, NULL, -1e300);
		knJson_EndArray(json);
		knJson_EndObject(json);
	}
	knJson_EndArray(json);
	knJson_Bool(json, "last", false);
	knJson_EndObject(json);
}

static void structure_survives(void** state) {
	(void)state;
	knTestMemory memory;
	knAllocator allocator = testAllocator(&memory);
	knJson json;
	knJson_Init(&json, &allocator);
	writeSample(&json);
	assert_int_equal(json.depth, 0);
	parse(&json);
	assert_int_equal(reader.count, 16);
	assert_string_equal(valueAt("/scene")->string, "tower");
	assert_true(valueAt("/steps")->number == -0x1p63);
	assert_true(valueAt("/finite")->kind == 'b' && valueAt("/finite")->number == 1.0);
	assert_true(valueAt("/nothing")->kind == '0');
	assert_true(valueAt("/empty")->kind == 'o' && valueAt("/none")->kind == 'a');
	assert_true(valueAt("/bodies/2/id")->number == 2.0);
	assert_true(valueAt("/bodies/1/p/0")->number == 0.1 && valueAt("/bodies/1/p/1")->number == -1e300);
	assert_true(valueAt("/last")->number == 0.0);
	knJson_Free(&json);
	assert_int_equal(memory.live, 0);
}

static void strings_survive(void** state) {
	(void)state;
	knAllocator allocator = knAllocator_Default();
	char all[257];
	for (int c = 1; c < 256; ++c) {
		all[c - 1] = (char)c; // every byte, valid UTF-8 or not
	}
	all[255] = '\0';
	const char* samples[] = { "",
							  "\"",
							  "\\",
							  "\\\"",
							  "a\nb\tc\r\b\f",
							  "</script>",
							  "\x01\x1F\x7F",
							  "gr\xC3\xB6\xC3\x9F"
							  "e",
							  "C:\\dir\\new",
							  all };
	knJson json;
	knJson_Init(&json, &allocator);
	knJson_BeginObject(&json, NULL);
	const int count = (int)(sizeof samples / sizeof *samples);
	knJson_BeginArray(&json, "list");
	for (int i = 0; i < count; ++i) {
		knJson_String(&json, NULL, samples[i]);
	}
	knJson_EndArray(&json);
	knJson_Integer(&json, "quoted \"key\"\n", 1);
	knJson_String(&json, "none", NULL);
	knJson_EndObject(&json);
	parse(&json);
	for (int i = 0; i < count; ++i) {
		char path[16];
		snprintf(path, sizeof path, "/list/%d", i);
		assert_string_equal(valueAt(path)->string, samples[i]);
	}
	assert_true(valueAt("/quoted \"key\"\n")->number == 1.0);
	assert_true(valueAt("/none")->kind == '0');
	knJson_Free(&json);
}

static void numbers_survive(void** state) {
	(void)state;
	knAllocator allocator = knAllocator_Default();
	knTestRandom random = { 1 };
	double numbers[500] = { 0.0,       -0.0,   0.1,
							1.0 / 3.0, 1e-320, 1.7976931348623157e308,
							5e-324,    1e21,   123456789012345678.0 };
	for (int i = 9; i < 500; ++i) {
		numbers[i] = ldexp(testUniform(&random, -1.0, 1.0), testInt(&random, 2000) - 1000);
	}
	knJson json;
	knJson_Init(&json, &allocator);
	knJson_BeginArray(&json, NULL);
	for (int i = 0; i < 500; ++i) {
		knJson_Number(&json, NULL, numbers[i]);
	}
	knJson_Number(&json, NULL, NAN);
	knJson_Number(&json, NULL, -INFINITY);
	knJson_EndArray(&json);
	parse(&json);
	for (int i = 0; i < 500; ++i) {
		assert_true(reader.values[i].kind == 'n' && reader.values[i].number == numbers[i]);
	}
	assert_true(reader.values[500].kind == '0' && reader.values[501].kind == '0');
	knJson_Free(&json);
}

static void values_alone_at_the_top(void** state) {
	(void)state;
	knAllocator allocator = knAllocator_Default();
	knJson json;
	knJson_Init(&json, &allocator);
	knJson_Number(&json, NULL, 2.5);
	parse(&json);
	assert_true(reader.count == 1 && reader.values[0].number == 2.5);
	knJson_Free(&json);
}

// Where a comma is the host's decimal sign, JSON still has dots.
static void comma_locale(void** state) {
	(void)state;
	if (setlocale(LC_NUMERIC, "de_DE.UTF-8") == NULL && setlocale(LC_NUMERIC, "fr_FR.UTF-8") == NULL) {
		print_message("skipped: no locale with a decimal comma here\n");
		skip();
	}
	knAllocator allocator = knAllocator_Default();
	knJson json;
	knJson_Init(&json, &allocator);
	knJson_Number(&json, NULL, -1.5e-7);
	setlocale(LC_NUMERIC, "C");
	parse(&json);
	assert_true(reader.values[0].number == -1.5e-7);
	knJson_Free(&json);
}

static void out_of_memory(void** state) {
	(void)state;
	for (int failAfter = 0; failAfter < 3; ++failAfter) {
		knTestMemory memory;
		knAllocator allocator = testAllocator(&memory);
		memory.failAfter = failAfter;
		knJson json;
		knJson_Init(&json, &allocator);
		knJson_BeginArray(&json, NULL);
		for (int i = 0; i < 20; ++i) {
			writeSample(&json);
		}
		knJson_EndArray(&json);
		assert_true(json.failed);
		// what there is has an end
		assert_true(json.text == NULL || strlen(json.text) == json.length);
		knJson_Free(&json);
		assert_int_equal(memory.live, 0);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(structure_survives), cmocka_unit_test(strings_survive),
		cmocka_unit_test(numbers_survive),    cmocka_unit_test(values_alone_at_the_top),
		cmocka_unit_test(comma_locale),       cmocka_unit_test(out_of_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
