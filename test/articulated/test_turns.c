// Sines and cosines four at a time have the bits of the plain functions.
#include "articulated/tree.h"

#include "support/kn_test.h"

#define COUNT 4003

static void check(const double* x, int count) {
	double sine[COUNT + 4], cosine[COUNT + 4];
	knTreeKernel_Best()->turns(x, count, sine, cosine);
	for (int i = 0; i < count; ++i) {
		double s, c;
		knSinCos(x[i], &s, &c);
		assert_memory_equal(&sine[i], &s, sizeof(s));
		assert_memory_equal(&cosine[i], &c, sizeof(c));
	}
}

static void turns_have_the_bits_of_sine_and_cosine(void** state) {
	(void)state;
	knTestRandom dice = { 5 };
	double x[COUNT];
	const double sizes[] = { 1e-12, 1e-8, 1e-3, 1.0, 4.0, 100.0, 1e5, 9.9e5 };
	for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); ++k) {
		for (int i = 0; i < COUNT; ++i) {
			x[i] = testUniform(&dice, -sizes[k], sizes[k]);
		}
		check(x, COUNT);
	}
	for (int count = 0; count < 9; ++count) {
		check(x, count);
	}
}

// Beyond the reach of the short reduction, and numbers that are none.
static void far_angles_and_no_numbers_take_the_plain_function(void** state) {
	(void)state;
	double x[6] = { 1e7, 0.5, -3e300, 2e6, 1e6, -1.5 };
	check(x, 6);
	double bad[3] = { INFINITY, NAN, 0.25 }, sine[7], cosine[7];
	knTreeKernel_Best()->turns(bad, 3, sine, cosine);
	assert_true(isnan(sine[0]) && isnan(cosine[1]) && sine[2] == knSin(0.25));
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(turns_have_the_bits_of_sine_and_cosine),
		cmocka_unit_test(far_angles_and_no_numbers_take_the_plain_function),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
