// The mean angular velocity of a step: the arc, the energy of one step, the angle of a steady spin.
#include "dynamics/mean_rotation.h"

#include "support/kn_test.h"

#define TRIALS 400

static uint64_t seed = 88172645463325252u;

static double random1(void) {
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (double)(seed >> 11) / 9007199254740992.0 * 2.0 - 1.0;
}

static knVec3 random3(double scale) {
	double x = random1(), y = random1(), z = random1();
	return knV3(scale * x, scale * y, scale * z);
}

// exp(phi) r - r = phi x arc(r, phi)
static void test_arc(void** state) {
	(void)state;
	for (int i = 0; i < TRIALS; ++i) {
		knVec3 phi = random3(3.4), r = random3(1.0);
		knVec3 moved = knSub(knRotate(knQuat_Exp(phi), r), r);
		assert_near3(knCross(phi, knArcMean(r, phi)), moved, 2e-14);
	}
}

static double energyOf(const knMat33* inverse, knVec3 Pi) {
	return 0.5 * knDot(Pi, knMulMV(inverse, Pi));
}

// E' - E = w . T, whichever map the turn is of.
static void test_energy(void** state) {
	(void)state;
	const knMat33 inertia = knDiagonal33(1.0, 2.0, 3.0), inverse = knInverse33(&inertia);
	for (int i = 0; i < TRIALS; ++i) {
		double h = 0.1;
		knVec3 Pi = random3(20.0), T = random3(5.0);
		knMeanTurn turn = knMeanTurn_Find(&inertia, &inverse, Pi, T, h, knMulMV(&inverse, Pi));
		assert_true(knIsFinite3(turn.w));
		knVec3 after = knInvRotate(knMeanTurn_Quat(turn.w, h, turn.cayley), knAdd(Pi, T));
		double first = energyOf(&inverse, Pi), last = energyOf(&inverse, after);
		assert_near(last - first, knDot(turn.w, T), 1e-11 * (first + last));
	}
}

// A spin about a principal axis turns by h w.
static void test_steady_spin(void** state) {
	(void)state;
	const knMat33 inertia = knDiagonal33(1.0, 2.0, 3.0), inverse = knInverse33(&inertia);
	const knVec3 axes[3] = { { 1.0, 0.0, 0.0 }, { 0.0, 1.0, 0.0 }, { 0.0, 0.0, 1.0 } };
	for (int k = 0; k < 3; ++k) {
		for (double turn = 0.1; turn < 3.15; turn += 0.1) {
			knVec3 w = knScale(turn, axes[k]);
			assert_near3(knMeanAngularVelocity(&inertia, &inverse, knMulMV(&inertia, w), 1.0), w, 1e-12);
		}
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arc),
		cmocka_unit_test(test_energy),
		cmocka_unit_test(test_steady_spin),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
