// CSV recordings, read back by an independent parser of RFC 4180: every bit of every number and every byte of
// every name is there.
#include "record_test.h"

#include <locale.h>

#define COLUMNS 15

static const char CONTRACT[] = "time,body,px,py,pz,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz\n";

// One field, unquoted into `field`; returns what follows it (the separator included).
static const char* parseField(const char* at, char* field) {
	if (*at != '"') {
		while (*at != ',' && *at != '\n') {
			assert_true(*at != '\0' && *at != '"' && *at != '\r');
			*field++ = *at++;
		}
		*field = '\0';
		return at;
	}
	for (++at;; ++at) {
		assert_true(*at != '\0');
		if (*at == '"' && *++at != '"') {
			*field = '\0';
			return at;
		}
		*field++ = *at;
	}
}

// One row of 15 fields; returns the start of the next.
static const char* parseRow(const char* at, char fields[COLUMNS][256]) {
	for (int k = 0; k < COLUMNS; ++k) {
		at = parseField(at, fields[k]);
		assert_int_equal(*at, k < COLUMNS - 1 ? ',' : '\n');
		++at;
	}
	return at;
}

static void assertBits(const char* text, double expected) {
	char* end;
	double value = strtod(text, &end);
	assert_int_equal(*end, '\0');
	assert_memory_equal(&value, &expected, sizeof(double));
}

static void assertRow(char fields[COLUMNS][256], double time, const char* name, const knBodyState* body) {
	assertBits(fields[0], time);
	assert_string_equal(fields[1], name);
	double numbers[13];
	memcpy(numbers, body, sizeof(numbers));
	for (int k = 0; k < 13; ++k) {
		assertBits(fields[2 + k], numbers[k]);
	}
}

static void everyNumberAndNameReadsBack(void** state) {
	(void)state;
	knAllocator allocator = knAllocator_Default();
	knTestPath path = testPath("a.csv");
	knSceneSnapshot cast = testCast("carriage\rreturn", &allocator);
	testRecord(&knCsvWriter, path.text, &cast, 20, 7, &allocator);

	knTestFile file = testRead(path.text);
	const char* at = (const char*)file.bytes;
	assert_int_equal(strncmp(at, CONTRACT, strlen(CONTRACT)), 0);
	at += strlen(CONTRACT);
	knTestRandom random = { 7 };
	char fields[COLUMNS][256];
	for (int f = 0; f < 20; ++f) {
		knBodyState bodies[TEST_BODIES];
		testStates(&random, bodies, TEST_BODIES);
		for (int b = 0; b < TEST_BODIES; ++b) {
			at = parseRow(at, fields);
			assertRow(fields, 0.1 * f, cast.bodies[b].name, &bodies[b]);
		}
	}
	assert_int_equal(*at, '\0');
	free(file.bytes);
	knSceneSnapshot_Free(&cast);
	remove(path.text);
}

// One frame of one body, all whose numbers are `value`; returns the row without its line end.
static void rowOf(double value, char* row) {
	knAllocator allocator = knAllocator_Default();
	knTestPath path = testPath("a.csv");
	knSceneSnapshot cast;
	assert_true(knSceneSnapshot_Create(&cast, 1, 0, 64, &allocator));
	cast.scene = testText(&cast, "");
	cast.stepper = testText(&cast, "");
	cast.bodies[0].name = testText(&cast, "b");
	knBodyState body = { knV3(value, value, value), knQ(value, value, value, value),
						 knV3(value, value, value), knV3(value, value, value) };
	knCastFrame frame = { &cast, 0, value, 0, &body, NULL };
	void* writer = knCsvWriter.open(path.text, KN_OUTPUT_STAGED, &cast, &allocator, NULL);
	assert_non_null(writer);
	assert_ok(knCsvWriter.write(writer, &frame, NULL));
	assert_ok(knCsvWriter.close(writer, NULL));
	knTestFile file = testRead(path.text);
	snprintf(row, 512, "%s", (const char*)file.bytes + strlen(CONTRACT));
	free(file.bytes);
	knSceneSnapshot_Free(&cast);
	remove(path.text);
}

static void extremeNumbersReadBack(void** state) {
	(void)state;
	const double values[] = {
		0.0, -0.0, 0.1, -1.0 / 3.0, 1e300, -1.7976931348623157e308, 5e-324, 123456789012345678.0
	};
	for (size_t k = 0; k < sizeof(values) / sizeof(values[0]); ++k) {
		char row[512], fields[COLUMNS][256];
		rowOf(values[k], row);
		parseRow(row, fields);
		for (int c = 0; c < COLUMNS; ++c) {
			if (c != 1) {
				assertBits(fields[c], values[k]);
			}
		}
	}
}

static void numbersHaveSeventeenDigits(void** state) {
	(void)state;
	char row[512];
	rowOf(0.1, row);
	assert_int_equal(strncmp(row, "0.10000000000000001,b,0.10000000000000001,", 42), 0);
	rowOf(-2.5, row);
	assert_int_equal(strncmp(row, "-2.5,b,-2.5,", 12), 0);
}

static void decimalPointDoesNotDependOnTheLocale(void** state) {
	(void)state;
	const char* commas[] = { "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8", "de_DE", "fr_FR" };
	bool found = false;
	for (size_t k = 0; k < sizeof(commas) / sizeof(commas[0]) && !found; ++k) {
		found = setlocale(LC_NUMERIC, commas[k]) != NULL && strcmp(localeconv()->decimal_point, ".") != 0;
	}
	if (!found) {
		setlocale(LC_NUMERIC, "C");
		skip();
	}
	char row[512];
	rowOf(-1.5e-7, row);
	setlocale(LC_NUMERIC, "C");
	assert_int_equal(strncmp(row, "-1.4999999999999999e-07,b,", 26), 0);
}

static void fullDiskLeavesNoFile(void** state) {
	(void)state;
	if (!testExists("/dev/full")) {
		skip();
	}
	knTestMemory memory;
	knAllocator allocator = testAllocator(&memory);
	knTestPath path = testPath("a.csv"), part = testPath("a.csv.part");
	knSceneSnapshot cast = testCast("last", &allocator);
	assert_int_equal(symlink("/dev/full", part.text), 0);
	knError error = { 0 };
	assert_null(knCsvWriter.open(path.text, KN_OUTPUT_STAGED, &cast, &allocator, &error));
	assert_int_equal(error.status, KN_IO);
	assert_non_null(strstr(error.message, strerror(ENOSPC)));
	assert_int_equal(testFolderCount(), 0);
	knSceneSnapshot_Free(&cast);
	assert_int_equal(memory.live, 0);
}

static void abandonedRecordingLeavesNoFile(void** state) {
	(void)state;
	knTestMemory memory;
	knAllocator allocator = testAllocator(&memory);
	knTestPath path = testPath("a.csv");
	knSceneSnapshot cast = testCast("last", &allocator);
	void* writer = knCsvWriter.open(path.text, KN_OUTPUT_STAGED, &cast, &allocator, NULL);
	assert_non_null(writer);
	knCsvWriter.abandon(writer);
	assert_int_equal(testFolderCount(), 0);
	knSceneSnapshot_Free(&cast);
	assert_int_equal(memory.live, 0);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everyNumberAndNameReadsBack), cmocka_unit_test(extremeNumbersReadBack),
		cmocka_unit_test(numbersHaveSeventeenDigits),  cmocka_unit_test(decimalPointDoesNotDependOnTheLocale),
		cmocka_unit_test(fullDiskLeavesNoFile),        cmocka_unit_test(abandonedRecordingLeavesNoFile),
	};
	return cmocka_run_group_tests(tests, testFolderMake, testFolderRemove);
}
