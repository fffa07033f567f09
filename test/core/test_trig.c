// Own sine, cosine and arc tangent against the long double functions of the C library, in ulps of the double
// result.
#include "support/kn_test.h"

#include <float.h>

// |value - reference| in units of the last place of the reference.
static double ulps(double value, long double reference) {
	int exponent;
	frexpl(reference, &exponent);
	exponent = exponent < -1021 ? -1021 : exponent;
	return (double)(fabsl((long double)value - reference) / ldexpl(1.0L, exponent - 53));
}

static void checkSinCos(double x) {
	double s, c;
	knSinCos(x, &s, &c);
	double sineError = ulps(s, sinl(x)), cosineError = ulps(c, cosl(x));
	if (!(sineError < 2.0) || !(cosineError < 2.0)) {
		fail_msg("x = %a: sine off by %.3g ulp, cosine by %.3g ulp", x, sineError, cosineError);
	}
	assert_true(knSin(x) == s && knCos(x) == c);
	assert_true(knSin(-x) == -s && knCos(-x) == c);
}

static void checkAtan2(double y, double x) {
	double a = knAtan2(y, x);
	double error = ulps(a, atan2l(y, x));
	if (!(error < 2.0)) {
		fail_msg("atan2(%a, %a) = %.17g is off by %.3g ulp", y, x, a, error);
	}
}

// A positive double with any mantissa and an exponent from [lowest, highest].
static double anyDouble(knTestRandom* random, int lowest, int highest) {
	return ldexp(testUniform(random, 1.0, 2.0), lowest + testInt(random, highest - lowest + 1));
}

static void sine_cosine_random(void** state) {
	(void)state;
	knTestRandom random = { 1 };
	for (int i = 0; i < 100000; ++i) {
		checkSinCos(testUniform(&random, -4.0, 4.0));
		checkSinCos(testUniform(&random, -1e6, 1e6));
		checkSinCos(anyDouble(&random, -60, 19));
	}
}

static void sine_cosine_tiny_and_huge(void** state) {
	(void)state;
	knTestRandom random = { 2 };
	for (int i = 0; i < 50000; ++i) {
		checkSinCos(anyDouble(&random, -1074, -20));
		checkSinCos(anyDouble(&random, 19, 1023));
	}
	checkSinCos(DBL_MAX);
	checkSinCos(DBL_MIN);
	checkSinCos(0x1p-1074);
	checkSinCos(1e6);
	checkSinCos(nextafter(1e6, INFINITY));
}

// The doubles next to multiples of pi/2 lose most bits in the reduction.
static void sine_cosine_near_multiples_of_right_angles(void** state) {
	(void)state;
	const long double halfPi = 1.570796326794896619231321691639751442L;
	knTestRandom random = { 3 };
	for (int i = 0; i < 40000; ++i) {
		int n = i < 20000 ? i : testInt(&random, 636619);
		double x = (double)(n * halfPi);
		checkSinCos(x);
		checkSinCos(nextafter(x, INFINITY));
		checkSinCos(nextafter(x, 0.0));
	}
	// the double closest to any multiple of pi/2 (Muller et al., Handbook of Floating-Point Arithmetic, 11.3)
	checkSinCos(0x1.6ac5b262ca1ffp+849);
	// continued-fraction numerators of pi: integers that are almost multiples of pi
	const double convergents[] = { 3,         22,         333,        355,        103993,
								   104348,    208341,     312689,     833719,     1146408,
								   4272943,   5419351,    80143857,   165707065,  245850922,
								   411557987, 1068966896, 2549491779, 6167950454, 14885392687 };
	for (int i = 0; i < (int)(sizeof convergents / sizeof *convergents); ++i) {
		checkSinCos(convergents[i]);
		checkSinCos(0.5 * convergents[i]);
	}
}

static void sine_cosine_special(void** state) {
	(void)state;
	const double bad[] = { INFINITY, -INFINITY, NAN };
	for (int i = 0; i < 3; ++i) {
		assert_true(isnan(knSin(bad[i])) && isnan(knCos(bad[i])));
	}
	assert_true(knSin(0.0) == 0.0 && !signbit(knSin(0.0)));
	assert_true(knSin(-0.0) == 0.0 && signbit(knSin(-0.0)));
	assert_true(knCos(0.0) == 1.0);
}

static void sine_cosine_identities(void** state) {
	(void)state;
	knTestRandom random = { 4 };
	for (int i = 0; i < 10000; ++i) {
		double a = testUniform(&random, -10.0, 10.0), b = testUniform(&random, -10.0, 10.0);
		assert_near(knSin(a) * knSin(a) + knCos(a) * knCos(a), 1.0, 4e-16);
		assert_near(knSin(a + b), knSin(a) * knCos(b) + knCos(a) * knSin(b), 4e-15);
		assert_near(knAtan2(knSin(a / 4.0), knCos(a / 4.0)), a / 4.0, 1e-15);
	}
}

static void atan2_random(void** state) {
	(void)state;
	knTestRandom random = { 5 };
	for (int i = 0; i < 100000; ++i) {
		double x = testUniform(&random, -1.0, 1.0), y = testUniform(&random, -1.0, 1.0);
		checkAtan2(y, x);
		// every order of magnitude of either
		double sx = random.state & 64 ? 1.0 : -1.0, sy = random.state & 128 ? 1.0 : -1.0;
		checkAtan2(sy * anyDouble(&random, -1074, 1023), sx * anyDouble(&random, -1074, 1023));
		double scale = anyDouble(&random, -1060, 1020);
		checkAtan2(y * scale, x * scale);
	}
}

// Ratios at and beside the points k/16, their midpoints, and the border of the plain series.
static void atan2_at_table_points(void** state) {
	(void)state;
	knTestRandom random = { 6 };
	for (int k = 0; k <= 64; ++k) {
		for (int i = 0; i < 200; ++i) {
			double x = testUniform(&random, 0.5, 2.0);
			double y = x * (k / 32.0);
			checkAtan2(y, x);
			checkAtan2(nextafter(y, INFINITY), x);
			checkAtan2(nextafter(y, 0.0), -x);
			checkAtan2(-y, nextafter(x, INFINITY));
		}
	}
}

static void atan2_special(void** state) {
	(void)state;
	const double values[] = { 0.0,     -0.0,     1.0,     -1.0,     INFINITY,  -INFINITY,
							  DBL_MAX, -DBL_MAX, DBL_MIN, -DBL_MIN, 0x1p-1074, -0x1p-1074 };
	const int count = (int)(sizeof values / sizeof *values);
	for (int i = 0; i < count; ++i) {
		for (int j = 0; j < count; ++j) {
			double ours = knAtan2(values[i], values[j]), theirs = atan2(values[i], values[j]);
			assert_near(ours, theirs, 2.0 * DBL_EPSILON * fabs(theirs));
			assert_true(signbit(ours) == signbit(theirs));
		}
		assert_true(isnan(knAtan2(values[i], NAN)) && isnan(knAtan2(NAN, values[i])));
	}
}

static void arc_sine_and_cosine(void** state) {
	(void)state;
	knTestRandom random = { 7 };
	for (int i = 0; i < 50000; ++i) {
		double x = testUniform(&random, -1.0, 1.0);
		assert_near(knAsin(x), (double)asinl(x), 1e-15);
		assert_near(knAcos(x), (double)acosl(x), 1e-15);
		assert_near(knAsin(x) + knAcos(x), KN_PI / 2.0, 1e-15);
	}
	assert_true(knAsin(1.5) == knAsin(1.0) && knAcos(-7.0) == knAcos(-1.0));
	assert_true(knAcos(1.0) == 0.0);
	assert_near(knAcos(-1.0), KN_PI, 0.0);
	assert_near(knAsin(-1.0), -KN_PI / 2.0, 0.0);
	assert_true(isnan(knAsin(NAN)) && isnan(knAcos(NAN)));
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sine_cosine_random),
		cmocka_unit_test(sine_cosine_tiny_and_huge),
		cmocka_unit_test(sine_cosine_near_multiples_of_right_angles),
		cmocka_unit_test(sine_cosine_special),
		cmocka_unit_test(sine_cosine_identities),
		cmocka_unit_test(atan2_random),
		cmocka_unit_test(atan2_at_table_points),
		cmocka_unit_test(atan2_special),
		cmocka_unit_test(arc_sine_and_cosine),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
