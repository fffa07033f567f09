// The law of muscles: known values, and slopes against differences.
#include "model/muscle.h"
#include "support/kn_test.h"

static const knMuscle muscle = { .shortest = 0.15,
								 .longest = 0.21,
								 .rangeLeast = 0.75,
								 .rangeMost = 1.05,
								 .force = 100.0,
								 .lengthLeast = 0.5,
								 .lengthMost = 1.6,
								 .speed = 1.5,
								 .passive = 1.3,
								 .lengthening = 1.2 };
// one optimal length is (0.21 - 0.15)/(1.05 - 0.75) = 0.2 m; length 0.75 lies at 0.15 m
#define UNIT 0.2

static double force(double u, double L, double V) {
	return knMuscle_Force(&muscle, u, 0.15 + (L - 0.75) * UNIT, V * UNIT * 1.5);
}

static void test_known_values(void** state) {
	(void)state;
	// at its optimal length and at rest it pulls with its force in proportion to the activation
	assert_near(force(1.0, 1.0, 0.0), -100.0, 1e-12);
	assert_near(force(0.3, 1.0, 0.0), -30.0, 1e-12);
	// half of it at the middle of either flank, nothing at the ends and while it shortens at full speed
	assert_near(force(1.0, 0.75, 0.0), -50.0, 1e-10);
	assert_near(force(1.0, 1.3, 0.0) - force(0.0, 1.3, 0.0), -50.0, 1e-10);
	assert_near(force(1.0, 0.5, 0.0), 0.0, 1e-10);
	assert_near(force(1.0, 1.6, 0.0) - force(0.0, 1.6, 0.0), 0.0, 1e-10);
	assert_near(force(1.0, 1.0, -1.0), 0.0, 1e-10);
	// a quarter of the force at half the speed; more than it while it is lengthened, up to 1.2
	assert_near(force(1.0, 1.0, -0.5), -25.0, 1e-10);
	assert_near(force(1.0, 1.0, 0.5), -120.0, 1e-10);
	// passive: nothing up to the optimal length, half of 1.3 at the middle of the far flank
	assert_near(force(0.0, 0.99, 0.0), 0.0, 0.0);
	assert_near(force(0.0, 1.3, 0.0), -65.0, 1e-10);
	// it never pushes
	for (double L = 0.2; L < 2.5; L += 0.01) {
		for (double V = -2.0; V < 2.0; V += 0.05) {
			assert_true(force(0.8, L, V) <= 0.0);
		}
	}
}

static void test_slopes(void** state) {
	(void)state;
	const double e = 1e-6;
	for (double l = 0.06; l < 0.4; l += 0.00317) {
		for (double v = -0.5; v < 0.5; v += 0.0293) {
			const knForceLaw law = knMuscle_Law(&muscle, 0.6, l, v);
			const double byLength =
				(knMuscle_Force(&muscle, 0.6, l + e, v) - knMuscle_Force(&muscle, 0.6, l - e, v)) / (2.0 * e);
			const double bySpeed =
				(knMuscle_Force(&muscle, 0.6, l, v + e) - knMuscle_Force(&muscle, 0.6, l, v - e)) / (2.0 * e);
			assert_near(law.stiffness, -byLength, 0.1);
			assert_near(law.damping, -bySpeed, 0.1);
			assert_near(law.force - law.stiffness * l - law.damping * v, knMuscle_Force(&muscle, 0.6, l, v),
						1e-9);
		}
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_values),
		cmocka_unit_test(test_slopes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
