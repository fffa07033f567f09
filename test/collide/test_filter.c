// Filters: groups first, then categories and masks, always agreeing both ways.
#include "knuckle/collide.h"
#include "support/kn_test.h"

static void groupsComeFirst(void** state) {
	(void)state;
	knFilter always = { 0, 0, 4 }, never = { UINT64_MAX, UINT64_MAX, -4 };
	assert_true(knFilter_Allows(always, always));
	assert_false(knFilter_Allows(never, never));
	assert_false(knFilter_Allows(always, never)); // different groups: the masks decide, and `always` has none
}

static void bothMasksMustAgree(void** state) {
	(void)state;
	knTestRandom random = { 1 };
	for (int n = 0; n < 1000; ++n) {
		knFilter a = { testNext(&random) & testNext(&random) & 7, testNext(&random) & 7,
					   testInt(&random, 3) - 1 };
		knFilter b = { testNext(&random) & testNext(&random) & 7, testNext(&random) & 7,
					   testInt(&random, 3) - 1 };
		bool expected = (a.category & b.mask) != 0 && (b.category & a.mask) != 0;
		if (a.group != 0 && a.group == b.group) {
			expected = a.group > 0;
		}
		assert_int_equal(knFilter_Allows(a, b), expected);
		assert_int_equal(knFilter_Allows(b, a), expected);
	}
	assert_true(knFilter_Allows(knFilter_Default(), knFilter_Default()));
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groupsComeFirst),
		cmocka_unit_test(bothMasksMustAgree),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
