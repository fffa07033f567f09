// Errors: filled, cut at the border of a character, printed without their empty parts.
#include "support/kn_test.h"

static void set_fills_all_fields(void** state) {
	(void)state;
	knError error;
	memset(&error, 0x55, sizeof error);
	assert_int_equal(
		knError_Set(&error, KN_BAD_DATA, "body 'crank'", "mass is %g; it must be positive", -1.0),
		KN_BAD_DATA);
	assert_int_equal(error.status, KN_BAD_DATA);
	assert_int_equal(error.line, 0);
	assert_int_equal(error.column, 0);
	assert_string_equal(error.file, "");
	assert_string_equal(error.element, "body 'crank'");
	assert_string_equal(error.message, "mass is -1; it must be positive");
	assert_int_equal(knError_Set(NULL, KN_IO, NULL, "nobody listens"), KN_IO);
}

static void arguments_may_lie_in_the_error_itself(void** state) {
	(void)state;
	knError error;
	knError_Set(&error, KN_IO, "file 'a'", "cannot read");
	knError_Set(&error, KN_IO, error.element, "while loading: %s", error.message);
	assert_string_equal(error.element, "file 'a'");
	assert_string_equal(error.message, "while loading: cannot read");
}

static void long_texts_are_cut(void** state) {
	(void)state;
	char text[2000];
	knError error;
	// plain letters fill the field to the last byte
	memset(text, 'x', sizeof text);
	text[sizeof text - 1] = '\0';
	knError_Set(&error, KN_LIMIT, text, "%s", text);
	assert_int_equal(strlen(error.element), sizeof error.element - 1);
	assert_int_equal(strlen(error.message), sizeof error.message - 1);

	// characters of two, three and four bytes are kept whole, wherever the border falls
	const char* characters[] = { "\xC3\xA4", "\xE2\x82\xAC", "\xF0\x9F\x98\x80" };
	for (int kind = 0; kind < 3; ++kind) {
		size_t size = strlen(characters[kind]);
		for (size_t lead = 0; lead < 4; ++lead) {
			memset(text, 'x', lead);
			for (size_t i = lead; i + size < sizeof text; i += size) {
				memcpy(text + i, characters[kind], size + 1);
			}
			knError_Set(&error, KN_LIMIT, text, "%s", text);
			size_t length = strlen(error.message);
			assert_int_equal((length - lead) % size, 0);
			assert_true(length + size >= sizeof error.message);
			assert_int_equal((strlen(error.element) - lead) % size, 0);
			char shortText[40];
			knError_Format(&error, shortText, sizeof shortText);
			assert_true(strlen(shortText) < sizeof shortText);
			assert_int_equal((strlen(shortText) - lead) % size, 0);
		}
	}
}

static void format_leaves_out_empty_parts(void** state) {
	(void)state;
	knError error;
	char text[900];
	knError_Set(&error, KN_BAD_DATA, "<geom>", "size is missing");
	assert_string_equal(knError_Format(&error, text, sizeof text), "<geom>: size is missing");
	snprintf(error.file, sizeof error.file, "arm.xml");
	assert_string_equal(knError_Format(&error, text, sizeof text), "arm.xml: <geom>: size is missing");
	error.line = 12;
	assert_string_equal(knError_Format(&error, text, sizeof text), "arm.xml:12: <geom>: size is missing");
	error.column = 3;
	assert_string_equal(knError_Format(&error, text, sizeof text), "arm.xml:12:3: <geom>: size is missing");
	error.element[0] = '\0';
	assert_string_equal(knError_Format(&error, text, sizeof text), "arm.xml:12:3: size is missing");
	// a sentence that begins with its element
	knError_Set(&error, KN_BAD_DATA, "body 'a'", "body 'a' has mass 0");
	assert_string_equal(knError_Format(&error, text, sizeof text), "body 'a' has mass 0");
	// an error without words still says something
	knError bare = { .status = KN_NO_MEMORY };
	assert_string_equal(knError_Format(&bare, text, sizeof text), knStatus_Name(KN_NO_MEMORY));
}

static void format_keeps_within_capacity(void** state) {
	(void)state;
	knError error;
	knError_Set(&error, KN_BAD_DATA, "element", "message");
	char text[40];
	for (size_t capacity = 0; capacity < sizeof text; ++capacity) {
		memset(text, '#', sizeof text);
		assert_ptr_equal(knError_Format(&error, text, capacity), text);
		for (size_t i = capacity; i < sizeof text; ++i) {
			assert_int_equal(text[i], '#');
		}
		if (capacity > 0) {
			assert_int_equal(strncmp("element: message", text, strlen(text)), 0);
		}
	}
}

static void names_of_statuses_differ(void** state) {
	(void)state;
	for (int a = KN_OK; a <= KN_DIVERGED; ++a) {
		for (int b = KN_OK; b < a; ++b) {
			assert_string_not_equal(knStatus_Name((knStatus)a), knStatus_Name((knStatus)b));
		}
	}
	assert_string_equal(knStatus_Name(KN_OK), "ok");
	assert_non_null(knStatus_Name((knStatus)99));
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(set_fills_all_fields),
		cmocka_unit_test(arguments_may_lie_in_the_error_itself),
		cmocka_unit_test(long_texts_are_cut),
		cmocka_unit_test(format_leaves_out_empty_parts),
		cmocka_unit_test(format_keeps_within_capacity),
		cmocka_unit_test(names_of_statuses_differ),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
