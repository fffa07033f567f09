// The impulse at one point: Newton's law, the friction cone, energy, and turning without slipping.
#include "support/kn_test.h"

#include "steppers/impulse/paper/impact_turn.h"

// Two bodies that meet at a point.
typedef struct Meeting {
	double invMass[2];
	knMat33 invInertia[2];
	knVec3 r[2], v[2], w[2];
	knImpact impact;
} Meeting;

static knMat33 randomInverse(knTestRandom* random) {
	knMat33 diagonal = knDiagonal33(testUniform(random, 0.3, 6.0), testUniform(random, 0.3, 6.0),
									testUniform(random, 0.3, 6.0));
	return knRotateTensor(testQuat(random), &diagonal);
}

static knVec3 relative(const Meeting* m) {
	knVec3 onA = knAdd(m->v[0], knCross(m->w[0], m->r[0]));
	return knSub(knAdd(m->v[1], knCross(m->w[1], m->r[1])), onA);
}

static Meeting meet(knTestRandom* random, bool fixedA) {
	Meeting m = { 0 };
	knMat33 share[2];
	for (int k = 0; k < 2; ++k) {
		bool fixed = fixedA && k == 0;
		m.invMass[k] = fixed ? 0.0 : testUniform(random, 0.2, 5.0);
		m.invInertia[k] = fixed ? knDiagonal33(0.0, 0.0, 0.0) : randomInverse(random);
		m.r[k] = testVec3(random, 0.5);
		m.v[k] = fixed ? knZero3() : testVec3(random, 1.0);
		m.w[k] = fixed ? knZero3() : testVec3(random, 1.0);
		share[k] = knImpact_Share(m.invMass[k], &m.invInertia[k], m.r[k]);
	}
	m.impact.K = knAddMM(&share[0], &share[1]);
	m.impact.n = testUnit3(random);
	m.impact.u = relative(&m);
	m.impact.e = testUniform(random, 0.0, 1.0);
	m.impact.mu = testUniform(random, 0.0, 1.0);
	return m;
}

static void apply(Meeting* m, knVec3 j, knVec3 g) {
	for (int k = 0; k < 2; ++k) {
		double side = k == 0 ? -1.0 : 1.0;
		m->v[k] = knMulAdd(m->v[k], side * m->invMass[k], j);
		knVec3 moment = knScale(side, knAdd(knCross(m->r[k], j), g));
		m->w[k] = knAdd(m->w[k], knMulMV(&m->invInertia[k], moment));
	}
}

static double kineticOf(const Meeting* m) {
	double energy = 0.0;
	for (int k = 0; k < 2; ++k) {
		if (m->invMass[k] > 0.0) {
			knMat33 inertia = knInverse33(&m->invInertia[k]);
			energy += 0.5 * knDot(m->v[k], m->v[k]) / m->invMass[k];
			energy += 0.5 * knDot(m->w[k], knMulMV(&inertia, m->w[k]));
		}
	}
	return energy;
}

// K is by definition what an impulse does to the relative velocity.
static void test_matrix_is_the_response(void** state) {
	(void)state;
	knTestRandom random = { 1 };
	for (int i = 0; i < 500; ++i) {
		Meeting m = meet(&random, i % 3 == 0);
		knVec3 j = testVec3(&random, 2.0), before = relative(&m);
		apply(&m, j, knZero3());
		assert_near3(knSub(relative(&m), before), knMulMV(&m.impact.K, j), 1e-12);
	}
}

// Stick stops the sliding and obeys Newton's law, slip lies on the cone against the sliding; no pair gains energy. Where
// the guard had to step in, only the last is asked.
static void test_random_impacts(void** state) {
	(void)state;
	knTestRandom random = { 2 };
	int kinds[3] = { 0 }, guarded = 0;
	for (int i = 0; i < 100000; ++i) {
		Meeting m = meet(&random, i % 4 == 0);
		double approach = knDot(m.impact.u, m.impact.n), energy = kineticOf(&m);
		knImpactKind kind;
		knVec3 j = knImpact_Solve(&m.impact, &kind);
		kinds[kind] += 1;
		apply(&m, j, knZero3());
		assert_true(kineticOf(&m) <= energy + 1e-12 * (1.0 + energy));
		if (approach >= 0.0) {
			assert_int_equal(kind, KN_IMPACT_NONE);
			assert_near3(j, knZero3(), 0.0);
			continue;
		}
		knVec3 after = relative(&m);
		double push = knDot(j, m.impact.n);
		knVec3 pull = knMulAdd(j, -push, m.impact.n);
		assert_true(push >= 0.0);
		assert_true(knLength(pull) <= m.impact.mu * push + 1e-12 * (1.0 + push));
		if (knAbs(knDot(after, m.impact.n) + m.impact.e * approach) > 1e-9) {
			guarded += 1;
			continue;
		}
		if (kind == KN_IMPACT_STICK) {
			assert_near3(after, knScale(-m.impact.e * approach, m.impact.n), 1e-9);
		} else if (knLength(pull) > 1e-9) {
			knVec3 sliding = knMulAdd(m.impact.u, -approach, m.impact.n);
			assert_near(knLength(pull), m.impact.mu * push, 1e-9 * (1.0 + push));
			assert_near(knDot(pull, sliding), -knLength(pull) * knLength(sliding), 1e-9 * (1.0 + push));
		}
	}
	assert_true(kinds[KN_IMPACT_STICK] > 5000 && kinds[KN_IMPACT_SLIP] > 5000);
	assert_true(guarded > 0 && guarded < 5000);
}

// The closed formulas alone do gain energy: the guard is needed.
static void test_slip_without_guard_would_gain_energy(void** state) {
	(void)state;
	knTestRandom random = { 3 };
	int gains = 0;
	for (int i = 0; i < 100000; ++i) {
		Meeting m = meet(&random, false);
		double approach = knDot(m.impact.u, m.impact.n);
		knVec3 sliding = knMulAdd(m.impact.u, -approach, m.impact.n);
		knVec3 along = knMulAdd(m.impact.n, -m.impact.mu, knNormalize(sliding));
		double stiffness = knDot(m.impact.n, knMulMV(&m.impact.K, along));
		if (approach < 0.0 && stiffness > 0.0) {
			knVec3 j = knScale(-(1.0 + m.impact.e) * approach / stiffness, along);
			gains += knDot(j, m.impact.u) + 0.5 * knDot(j, knMulMV(&m.impact.K, j)) > 1e-9;
		}
	}
	assert_true(gains > 0);
}

// Negative restitution takes only a share of the approach away, as the sweeps of contact do.
static void test_contact_takes_a_share(void** state) {
	(void)state;
	knTestRandom random = { 4 };
	for (int i = 0; i < 1000; ++i) {
		Meeting m = meet(&random, true);
		m.impact.e = -0.9;
		m.impact.mu = 0.0;
		double approach = knDot(m.impact.u, m.impact.n);
		knImpactKind kind;
		apply(&m, knImpact_Solve(&m.impact, &kind), knZero3());
		if (approach < 0.0) {
			assert_near(knDot(relative(&m), m.impact.n), 0.9 * approach, 1e-12);
		}
	}
}

static void test_nothing_can_move(void** state) {
	(void)state;
	knImpact impact = { .u = { 0.0, 0.0, -1.0 }, .n = { 0.0, 0.0, 1.0 }, .mu = 0.5 };
	knImpactKind kind;
	assert_near3(knImpact_Solve(&impact, &kind), knZero3(), 0.0);
	assert_int_equal(kind, KN_IMPACT_NONE);
}

// The turning changes as asked, the velocity at the point does not.
static void test_turn_leaves_the_point(void** state) {
	(void)state;
	knTestRandom random = { 6 };
	for (int i = 0; i < 500; ++i) {
		Meeting m = meet(&random, i % 2 == 0);
		knMat33 K12 = knDiagonal33(0.0, 0.0, 0.0), K22 = K12;
		for (int k = 0; k < 2; ++k) {
			knMat33 skew = knSkew(knNeg(m.r[k])), part = knMulMM(&skew, &m.invInertia[k]);
			K12 = knAddMM(&K12, &part);
			K22 = knAddMM(&K22, &m.invInertia[k]);
		}
		knVec3 w = knSub(m.w[1], m.w[0]), u = relative(&m);
		knVec3 wanted = knImpact_ReduceTurning(w, m.impact.n, 0.4), j, g;
		knImpact_Turn(&m.impact.K, &K12, &K22, knSub(wanted, w), &j, &g);
		apply(&m, j, g);
		assert_near3(knSub(m.w[1], m.w[0]), wanted, 1e-9);
		assert_near3(relative(&m), u, 1e-9);
	}
}

static void test_turning_is_reduced_to_zero_at_most(void** state) {
	(void)state;
	knVec3 n = knV3(0.0, 0.0, 1.0);
	assert_near3(knImpact_ReduceTurning(knV3(3.0, 4.0, -2.0), n, 1.0), knV3(2.4, 3.2, -1.0), 1e-15);
	assert_near3(knImpact_ReduceTurning(knV3(3.0, 4.0, -2.0), n, 3.0), knV3(1.2, 1.6, 0.0), 1e-15);
	assert_near3(knImpact_ReduceTurning(knV3(3.0, 4.0, -2.0), n, 9.0), knZero3(), 0.0);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_matrix_is_the_response),
		cmocka_unit_test(test_random_impacts),
		cmocka_unit_test(test_slip_without_guard_would_gain_energy),
		cmocka_unit_test(test_contact_takes_a_share),
		cmocka_unit_test(test_nothing_can_move),
		cmocka_unit_test(test_turn_leaves_the_point),
		cmocka_unit_test(test_turning_is_reduced_to_zero_at_most),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
