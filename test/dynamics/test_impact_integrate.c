// Collision integration: closed forms for the sphere, the planar rod, and laws that hold for every collision.
#include "knuckle/impact.h"

#include "support/kn_test.h"

#include <math.h>

static uint64_t seed = 5;

static double uniform(double lower, double upper) {
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return lower + (upper - lower) * ((double)(seed >> 11) * 0x1p-53);
}

static knVec3 randomVector(void) {
	double x = uniform(-1.0, 1.0), y = uniform(-1.0, 1.0);
	return knV3(x, y, uniform(-1.0, 1.0));
}

static knMat33 sphereMatrix(double mass, double radius, knVec3 n) {
	knMat33 invInertia = knDiagonal33(2.5 / (mass * radius * radius), 2.5 / (mass * radius * radius),
									  2.5 / (mass * radius * radius));
	return knImpact_Share(1.0 / mass, &invInertia, knScale(-radius, n));
}

// p_n = (1+e)|u_n|/K_nn; the tangential speed falls by mu K_tt p_n, to zero at most.
static void spheres_follow_the_closed_form(void** state) {
	(void)state;
	for (int trial = 0; trial < 2000; ++trial) {
		knVec3 n = knNormalize(randomVector());
		double mass = uniform(0.1, 5.0), radius = uniform(0.1, 2.0);
		knImpact impact = {
			.K = sphereMatrix(mass, radius, n), .n = n, .e = uniform(0.0, 1.0), .mu = uniform(0.0, 1.0)
		};
		knVec3 across = randomVector();
		across = knMulAdd(across, -knDot(across, n), n);
		double approach = uniform(0.1, 3.0);
		impact.u = knMulAdd(across, -approach, n);
		knVec3 j = knImpact_Integrate(&impact, NULL), after = knAdd(impact.u, knMulMV(&impact.K, j));
		double push = (1.0 + impact.e) * approach * mass;
		double sliding = fmax(0.0, knLength(across) - impact.mu * 3.5 / mass * push);
		assert_true(fabs(knDot(j, n) - push) < 1e-8 * push);
		knVec3 rest = knMulAdd(after, -knDot(after, n), n);
		assert_true(fabs(knLength(rest) - sliding) < 1e-6);
	}
}

// A stuck and a sliding case worked out by hand: unit mass, K = diag(3.5, 3.5, 1).
static void worked_examples(void** state) {
	(void)state;
	knImpact impact = { .K = sphereMatrix(1.0, 1.0, knV3(0.0, 0.0, 1.0)), .n = knV3(0.0, 0.0, 1.0) };
	impact.u = knV3(1.0, 0.0, -2.0);
	impact.e = 0.5;
	impact.mu = 0.4;
	knImpactCourse course;
	knVec3 j = knImpact_Integrate(&impact, &course);
	assert_true(course.stuck && course.complete);
	assert_true(fabs(j.z - 3.0) < 1e-9 && fabs(j.x + 1.0 / 3.5) < 1e-6);
	impact.u.x = 5.0;
	impact.mu = 0.1;
	j = knImpact_Integrate(&impact, &course);
	assert_false(course.stuck);
	assert_true(fabs(j.x + 0.3) < 1e-9);
	// normal work: -(1 - e^2) times the energy of the approach
	assert_true(fabs(course.normalWork + 0.75 * 2.0) < 1e-9);
}

// A sum of random directions; with two terms the bodies cannot move in all directions.
static knMat33 randomMatrix(int terms) {
	knMat33 K = knDiagonal33(0.0, 0.0, 0.0);
	for (int i = 0; i < terms; ++i) {
		knVec3 v = randomVector();
		knMat33 outer = { knScale(v.x, v), knScale(v.y, v), knScale(v.z, v) };
		outer = knScaleM(uniform(0.1, 4.0), &outer);
		K = knAddMM(&K, &outer);
	}
	return K;
}

static void no_collision_gains_energy_or_leaves_the_cone(void** state) {
	(void)state;
	int incomplete = 0;
	for (int trial = 0; trial < 100000; ++trial) {
		int terms = 1 + trial % 6;
		knImpact impact = { .K = randomMatrix(terms),
							.u = randomVector(),
							.n = knNormalize(randomVector()),
							.e = trial % 9 == 0 ? 1.0 : uniform(0.0, 1.0),
							.mu = trial % 7 == 0 ? 0.0 : uniform(0.0, 1.5) };
		// what cannot be moved does not move: u is in the range of K
		impact.u = terms < 3 ? knMulMV(&impact.K, impact.u) : impact.u;
		knImpactCourse course;
		knVec3 j = knImpact_Integrate(&impact, &course);
		incomplete += course.complete ? 0 : 1;
		double push = knDot(j, impact.n);
		double pull = knLength(knMulAdd(j, -push, impact.n));
		double gain = knDot(j, impact.u) + 0.5 * knDot(j, knMulMV(&impact.K, j));
		assert_true(push >= 0.0);
		assert_true(pull <= impact.mu * push + 1e-12 * (1.0 + push));
		assert_true(gain <= 1e-12 * (1.0 + push));
		knVec3 after = knAdd(impact.u, knMulMV(&impact.K, j));
		if (knDot(impact.u, impact.n) < 0.0) {
			assert_true(knDot(after, impact.n) >= -1e-6 * (1.0 + knLength(impact.u)));
		}
	}
	print_message("given up: %d of 100000\n", incomplete);
	assert_int_equal(incomplete, 0);
}

// Without friction and with e = 1 the energy is kept.
static void elastic_hits_keep_their_energy(void** state) {
	(void)state;
	for (int trial = 0; trial < 2000; ++trial) {
		knImpact impact = {
			.K = randomMatrix(3), .u = randomVector(), .n = knNormalize(randomVector()), .e = 1.0
		};
		knVec3 j = knImpact_Integrate(&impact, NULL);
		double gain = knDot(j, impact.u) + 0.5 * knDot(j, knMulMV(&impact.K, j));
		assert_true(fabs(gain) < 1e-9);
	}
}

// Energetic restitution: the normal work is -(1 - e^2) of what compression took, whatever friction did.
static void restitution_returns_its_share_of_the_work(void** state) {
	(void)state;
	for (int trial = 0; trial < 2000; ++trial) {
		knImpact impact = { .K = randomMatrix(3),
							.u = randomVector(),
							.n = knNormalize(randomVector()),
							.mu = uniform(0.0, 1.0) };
		if (knDot(impact.u, impact.n) >= 0.0) {
			continue;
		}
		knImpactCourse compressed, whole;
		knImpact_Integrate(&impact, &compressed);
		impact.e = uniform(0.05, 1.0);
		knImpact_Integrate(&impact, &whole);
		if (compressed.complete && whole.complete) {
			double share = (1.0 - impact.e * impact.e) * compressed.normalWork;
			assert_true(fabs(whole.normalWork - share) < 1e-9 + 1e-6 * fabs(compressed.normalWork));
		}
	}
}

// A rod that falls on its end, in a plane, against small steps of the plainest kind.
static void a_slanted_rod_matches_small_steps(void** state) {
	(void)state;
	for (int trial = 0; trial < 40; ++trial) {
		double angle = uniform(0.2, 1.4), half = 0.5;
		knVec3 arm = knV3(-half * cos(angle), 0.0, -half * sin(angle));
		knMat33 invInertia = knDiagonal33(3.0 / (half * half), 3.0 / (half * half), 3.0 / (half * half));
		knImpact impact = { .K = knImpact_Share(1.0, &invInertia, arm),
							.u = knV3(uniform(-1.0, 1.0), 0.0, -1.0),
							.n = knV3(0.0, 0.0, 1.0),
							.e = uniform(0.0, 1.0),
							.mu = uniform(0.05, 0.8) };
		knVec3 u = impact.u, p = knZero3();
		double W = 0.0, end = 1.0, ds = 2e-6;
		bool restoring = false;
		for (int i = 0; i < 4000000; ++i) {
			// regularised friction: the force follows the sign of the sliding, or holds it when it can
			double hold = -(u.x + ds * impact.K.cz.x) / (ds * impact.K.cx.x);
			double pull = fmax(-impact.mu, fmin(impact.mu, hold));
			knVec3 xi = knV3(pull, 0.0, 1.0), du = knScale(ds, knMulMV(&impact.K, xi));
			W += ds * (u.z + 0.5 * du.z);
			u = knAdd(u, du);
			p = knMulAdd(p, ds, xi);
			if (!restoring && u.z >= 0.0) {
				restoring = true;
				end = (1.0 - impact.e * impact.e) * W;
			}
			if (restoring && W >= end) {
				break;
			}
		}
		knVec3 j = knImpact_Integrate(&impact, NULL);
		assert_true(knLength(knSub(j, p)) < 2e-3 * (1.0 + knLength(p)));
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spheres_follow_the_closed_form),
		cmocka_unit_test(worked_examples),
		cmocka_unit_test(no_collision_gains_energy_or_leaves_the_cone),
		cmocka_unit_test(elastic_hits_keep_their_energy),
		cmocka_unit_test(restitution_returns_its_share_of_the_work),
		cmocka_unit_test(a_slanted_rod_matches_small_steps),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
