// Dynamics of random trees: independent methods agree, and the laws of mechanics hold.
#include "knuckle/articulated.h"

#include "support/kn_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LINKS 20
#define MAX_V (6 * MAX_LINKS)

static const knVec3 gravity = { 0.3, -0.2, -9.81 };

static uint64_t seed = 11;

static double uniform(double lower, double upper) {
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return lower + (upper - lower) * ((double)(seed >> 11) * 0x1p-53);
}

static knVec3 randomVector(void) {
	double x = uniform(-1.0, 1.0), y = uniform(-1.0, 1.0);
	return knV3(x, y, uniform(-1.0, 1.0));
}

static knFrame randomFrame(void) {
	knVec3 p = knScale(0.5, randomVector());
	return knMakeFrame(p, knQuat_Exp(knScale(2.0, randomVector())));
}

// Mass properties of a random box.
static knMassProps randomMass(void) {
	double m = uniform(0.2, 3.0), a = uniform(0.05, 0.4), b = uniform(0.05, 0.4), c = uniform(0.05, 0.4);
	knMassProps props = { .mass = m, .center = knScale(0.3, randomVector()) };
	props.inertia =
		knDiagonal33(m / 3.0 * (b * b + c * c), m / 3.0 * (a * a + c * c), m / 3.0 * (a * a + b * b));
	props.inertia = knRotateTensor(randomFrame().q, &props.inertia);
	return props;
}

typedef struct Tree {
	int count, nq, nv;
	knTreeLink links[MAX_LINKS];
	knTree* tree;
	knTreeWork* work;
	double q[7 * MAX_LINKS], v[MAX_V], tau[MAX_V];
	knTwist forces[MAX_LINKS];
} Tree;

static const knJointKind kinds[] = { KN_JOINT_HINGE,     KN_JOINT_SLIDER,   KN_JOINT_BALL,
									 KN_JOINT_UNIVERSAL, KN_JOINT_CYLINDER, KN_JOINT_PLANAR,
									 KN_JOINT_SLIDER2,   KN_JOINT_SLIDER3,  KN_JOINT_FIXED };

static void randomState(Tree* t) {
	knTree_NeutralCoordinates(t->tree, t->q);
	for (int i = 0; i < t->nv; ++i) {
		t->v[i] = uniform(-1.5, 1.5);
	}
	knTree_Integrate(t->tree, t->q, t->v, 1.0);
	for (int i = 0; i < t->nv; ++i) {
		t->v[i] = uniform(-1.0, 1.0);
		t->tau[i] = uniform(-1.0, 1.0);
	}
	for (int i = 0; i < t->count; ++i) {
		t->forces[i] = (knTwist){ randomVector(), randomVector() };
	}
}

static void makeTree(Tree* t, int count, bool floating, bool hinges) {
	t->count = count;
	for (int i = 0; i < count; ++i) {
		knJointKind kind = hinges ? KN_JOINT_HINGE : kinds[(int)uniform(0.0, 9.0)];
		t->links[i] = (knTreeLink){ .parent = i == 0 ? -1 : (int)uniform(0.0, (double)i),
									.kind = i == 0 && floating ? KN_JOINT_FREE : kind,
									.frameParent = randomFrame(),
									.frameChild = randomFrame(),
									.mass = randomMass() };
	}
	knError error = { 0 };
	t->tree = knTree_Create(t->links, count, NULL, &error);
	assert_non_null(t->tree);
	t->work = knTreeWork_Create(t->tree, NULL, &error);
	assert_non_null(t->work);
	t->nq = knTree_CoordinateCount(t->tree);
	t->nv = knTree_VelocityCount(t->tree);
	randomState(t);
}

static void freeTree(Tree* t) {
	knTreeWork_Destroy(t->work);
	knTree_Destroy(t->tree);
}

static double largest(const double* v, int n) {
	double result = 1e-30;
	for (int i = 0; i < n; ++i) {
		result = fmax(result, fabs(v[i]));
	}
	return result;
}

static double difference(const double* a, const double* b, int n) {
	double result = 0.0;
	for (int i = 0; i < n; ++i) {
		result = fmax(result, fabs(a[i] - b[i]));
	}
	return result;
}

#define FOR_TREES(t, trials)                                                                                 \
	Tree t;                                                                                                  \
	for (int trial = 0; trial < (trials); ++trial, freeTree(&t))                                             \
		if (makeTree(&t, 1 + trial % MAX_LINKS, trial % 3 == 0, trial % 4 == 0), true)

// --- agreement -------------------------------------------------------------------------------------------

static void forward_and_inverse_dynamics_undo_each_other(void** state) {
	(void)state;
	FOR_TREES(t, 2000) {
		double qdd[MAX_V], tau[MAX_V];
		knTree_ForwardDynamics(t.tree, t.work, t.q, t.v, t.tau, t.forces, gravity, qdd);
		knTree_InverseDynamics(t.tree, t.work, t.q, t.v, qdd, t.forces, gravity, tau);
		assert_true(difference(tau, t.tau, t.nv) <= 1e-9 * fmax(largest(tau, t.nv), largest(qdd, t.nv)));
	}
}

static void articulated_bodies_agree_with_the_mass_matrix(void** state) {
	(void)state;
	static double H[MAX_V * MAX_V];
	double worst = 0.0;
	FOR_TREES(t, 2000) {
		double qdd[MAX_V], x[MAX_V], bias[MAX_V];
		knTree_ForwardDynamics(t.tree, t.work, t.q, t.v, t.tau, NULL, gravity, qdd);
		knTree_InverseDynamics(t.tree, t.work, t.q, t.v, NULL, NULL, gravity, bias);
		knTree_MassMatrix(t.tree, t.work, t.q, H);
		for (int i = 0; i < t.nv; ++i) {
			x[i] = t.tau[i] - bias[i];
			for (int j = 0; j < i; ++j) {
				assert_true(H[i * t.nv + j] == H[j * t.nv + i]);
			}
		}
		assert_true(knTree_FactorMassMatrix(t.tree, H));
		knTree_SolveMassMatrix(t.tree, H, x);
		double apart = difference(x, qdd, t.nv) / largest(qdd, t.nv);
		worst = fmax(worst, apart);
		assert_true(apart < 1e-8);
	}
	print_message("largest relative difference: %.2g\n", worst);
}

// H columns are inverse dynamics of unit accelerations without velocity and gravity.
static void mass_matrix_is_inverse_dynamics_of_unit_accelerations(void** state) {
	(void)state;
	static double H[MAX_V * MAX_V];
	FOR_TREES(t, 300) {
		double still[MAX_V] = { 0 }, unit[MAX_V], column[MAX_V];
		knTree_MassMatrix(t.tree, t.work, t.q, H);
		for (int j = 0; j < t.nv; ++j) {
			memset(unit, 0, sizeof(unit));
			unit[j] = 1.0;
			knTree_InverseDynamics(t.tree, t.work, t.q, still, unit, NULL, knZero3(), column);
			for (int i = 0; i < t.nv; ++i) {
				assert_true(fabs(column[i] - H[i * t.nv + j]) < 1e-11 * (1.0 + fabs(column[i])));
			}
		}
	}
}

// --- impulses --------------------------------------------------------------------------------------------

// x = H^-1 J^T p, J the rows of the point's linear velocity.
static void respondByMatrix(Tree* t, int link, knVec3 point, knVec3 p, double* x) {
	static double H[MAX_V * MAX_V], J[6 * MAX_V];
	knTree_Kinematics(t->tree, t->work, t->q, t->v);
	knTree_Jacobian(t->tree, t->work, link, point, J);
	knTree_MassMatrix(t->tree, t->work, t->q, H);
	for (int i = 0; i < t->nv; ++i) {
		x[i] = J[3 * t->nv + i] * p.x + J[4 * t->nv + i] * p.y + J[5 * t->nv + i] * p.z;
	}
	assert_true(knTree_FactorMassMatrix(t->tree, H));
	knTree_SolveMassMatrix(t->tree, H, x);
}

static void impulses_change_velocities_by_the_mass_matrix(void** state) {
	(void)state;
	FOR_TREES(t, 600) {
		int link = (int)uniform(0.0, (double)t.count);
		knVec3 point = randomVector(), p = randomVector();
		double expected[MAX_V], dv[MAX_V];
		respondByMatrix(&t, link, point, p, expected);
		knTree_PrepareImpulses(t.tree, t.work, t.q);
		knTreeImpulse hit = { link, point, p, knZero3() };
		knTree_Respond(t.tree, t.work, &hit, 1, NULL, dv);
		assert_true(difference(dv, expected, t.nv) < 1e-9 * (1.0 + largest(expected, t.nv)));
	}
}

// K against J H^-1 J^T, also between two links of one tree, where the cross terms matter.
static void collision_matrices_are_j_hinv_jt(void** state) {
	(void)state;
	static double JA[6 * MAX_V], JB[6 * MAX_V], H[MAX_V * MAX_V];
	double worst = 0.0;
	FOR_TREES(t, 600) {
		int a = (int)uniform(0.0, (double)t.count), b = -1 + (int)uniform(0.0, (double)t.count + 1.0);
		knVec3 point = randomVector();
		knTree_Kinematics(t.tree, t.work, t.q, t.v);
		knTree_Jacobian(t.tree, t.work, a, point, JA);
		memset(JB, 0, sizeof(JB));
		if (b >= 0) {
			knTree_Jacobian(t.tree, t.work, b, point, JB);
		}
		knTree_MassMatrix(t.tree, t.work, t.q, H);
		assert_true(knTree_FactorMassMatrix(t.tree, H));
		knTree_PrepareImpulses(t.tree, t.work, t.q);
		knMat33 K = knTree_CollisionMatrix(t.tree, t.work, a, b, point);
		double size = knAbs(K.cx.x) + knAbs(K.cy.y) + knAbs(K.cz.z) + 1e-12;
		for (int c = 0; c < 3; ++c) {
			double x[MAX_V];
			for (int i = 0; i < t.nv; ++i) {
				x[i] = JA[(3 + c) * t.nv + i] - JB[(3 + c) * t.nv + i];
			}
			knTree_SolveMassMatrix(t.tree, H, x);
			knVec3 column = c == 0 ? K.cx : c == 1 ? K.cy : K.cz;
			for (int r = 0; r < 3; ++r) {
				double sum = 0.0;
				for (int i = 0; i < t.nv; ++i) {
					sum += (JA[(3 + r) * t.nv + i] - JB[(3 + r) * t.nv + i]) * x[i];
				}
				worst = fmax(worst, fabs(sum - knComponent(column, r)) / size);
			}
		}
	}
	print_message("largest relative difference: %.2g\n", worst);
	assert_true(worst < 1e-10);
}

// --- laws ------------------------------------------------------------------------------------------------

// Small steps of the exact equations: energy changes by the torques' work, momentum of a free tree by gravity alone.
static void power_and_momentum(void** state) {
	(void)state;
	for (int trial = 0; trial < 40; ++trial) {
		Tree t;
		makeTree(&t, 1 + trial % MAX_LINKS, true, trial % 2 == 0);
		double qdd[MAX_V], h = 1e-5, energy[2];
		for (int i = 0; i < 6; ++i) {
			t.tau[i] = 0.0; // nothing holds the base
		}
		knTree_ForwardDynamics(t.tree, t.work, t.q, t.v, t.tau, NULL, gravity, qdd);
		double power = 0.0, mass = 0.0;
		for (int i = 0; i < t.nv; ++i) {
			power += t.tau[i] * t.v[i];
		}
		for (int i = 0; i < t.count; ++i) {
			mass += t.links[i].mass.mass;
		}
		knTwist momentum[2];
		for (int side = 0; side < 2; ++side) {
			double q[7 * MAX_LINKS], v[MAX_V], mean[MAX_V], step = side == 0 ? -h : h;
			memcpy(q, t.q, sizeof(q));
			for (int i = 0; i < t.nv; ++i) {
				v[i] = t.v[i] + step * qdd[i];
				mean[i] = t.v[i] + 0.5 * step * qdd[i];
			}
			knTree_Integrate(t.tree, q, mean, step);
			knTree_Kinematics(t.tree, t.work, q, v);
			energy[side] =
				knTree_KineticEnergy(t.tree, t.work) + knTree_PotentialEnergy(t.tree, t.work, gravity);
			momentum[side] = knTree_Momentum(t.tree, t.work, knZero3());
		}
		double rate = (energy[1] - energy[0]) / (2.0 * h), scale = 1.0 + fabs(energy[0]) + largest(qdd, t.nv);
		assert_true(fabs(rate - power) < 1e-5 * scale);
		knVec3 force = knScale(0.5 / h, knSub(momentum[1].lin, momentum[0].lin));
		assert_true(knLength(knSub(force, knScale(mass, gravity))) < 1e-5 * scale);
		freeTree(&t);
	}
}

static void velocities_are_rates_of_poses(void** state) {
	(void)state;
	FOR_TREES(t, 300) {
		knTree_Kinematics(t.tree, t.work, t.q, t.v);
		int link = t.count - 1;
		knTwist velocity = knTree_LinkVelocity(t.tree, t.work, link);
		double q[7 * MAX_LINKS], h = 1e-6;
		knFrame frame[2];
		for (int side = 0; side < 2; ++side) {
			memcpy(q, t.q, sizeof(q));
			knTree_Integrate(t.tree, q, t.v, side == 0 ? -h : h);
			knTree_Kinematics(t.tree, t.work, q, t.v);
			frame[side] = knTree_LinkFrame(t.tree, t.work, link);
		}
		knVec3 speed = knScale(0.5 / h, knSub(frame[1].p, frame[0].p));
		knVec3 spin = knScale(0.5 / h, knQuat_Log(knMulQ(frame[1].q, knConj(frame[0].q))));
		assert_true(knLength(knSub(speed, velocity.lin)) < 1e-6 * (1.0 + knLength(speed)));
		assert_true(knLength(knSub(spin, velocity.ang)) < 1e-6 * (1.0 + knLength(spin)));
	}
}

// Another numbering of the same tree gives the same accelerations.
static void numbering_does_not_matter(void** state) {
	(void)state;
	for (int trial = 0; trial < 100; ++trial) {
		Tree t, other;
		makeTree(&t, 8, false, true);
		// a legal renumbering: sort by depth, within a depth from the last to the first
		int depth[MAX_LINKS], order[MAX_LINKS], place[MAX_LINKS], count = 0;
		for (int i = 0; i < t.count; ++i) {
			depth[i] = t.links[i].parent < 0 ? 0 : depth[t.links[i].parent] + 1;
		}
		for (int d = 0; d < t.count; ++d) {
			for (int i = t.count - 1; i >= 0; --i) {
				if (depth[i] == d) {
					place[i] = count;
					order[count++] = i;
				}
			}
		}
		other = t;
		for (int i = 0; i < t.count; ++i) {
			other.links[i] = t.links[order[i]];
			other.links[i].parent = other.links[i].parent < 0 ? -1 : place[other.links[i].parent];
			other.q[i] = t.q[order[i]];
			other.v[i] = t.v[order[i]];
			other.tau[i] = t.tau[order[i]];
		}
		other.tree = knTree_Create(other.links, other.count, NULL, NULL);
		other.work = knTreeWork_Create(other.tree, NULL, NULL);
		double first[MAX_V], second[MAX_V];
		knTree_ForwardDynamics(t.tree, t.work, t.q, t.v, t.tau, NULL, gravity, first);
		knTree_ForwardDynamics(other.tree, other.work, other.q, other.v, other.tau, NULL, gravity, second);
		for (int i = 0; i < t.count; ++i) {
			assert_true(fabs(first[order[i]] - second[i]) < 1e-10 * largest(first, t.nv));
		}
		freeTree(&t);
		freeTree(&other);
	}
}

// --- trouble ---------------------------------------------------------------------------------------------

static void checkRefused(knTreeLink link, const char* says) {
	knTreeLink links[2] = { { .parent = -1,
							  .kind = KN_JOINT_HINGE,
							  .frameParent = knIdentityF(),
							  .frameChild = knIdentityF(),
							  .mass = randomMass() },
							link };
	links[1].name = "crank";
	knError error = { 0 };
	assert_null(knTree_Create(links, 2, NULL, &error));
	assert_int_equal(error.status, KN_BAD_DATA);
	assert_non_null(strstr(error.message, "crank"));
	assert_non_null(strstr(error.message, says));
}

static void bad_links_are_named_and_refused(void** state) {
	(void)state;
	const knTreeLink good = { .parent = 0,
							  .kind = KN_JOINT_HINGE,
							  .frameParent = knIdentityF(),
							  .frameChild = knIdentityF(),
							  .mass = { 1.0, knZero3(), knDiagonal33(1.0, 1.0, 1.0) } };
	knTreeLink bad = good;
	bad.parent = 1;
	checkRefused(bad, "parent");
	bad = good;
	bad.mass.mass = 0.0;
	checkRefused(bad, "mass 0");
	bad = good;
	bad.mass.inertia.cy.y = -1.0;
	checkRefused(bad, "positive definite");
	bad = good;
	bad.mass.inertia.cz.z = 2.5;
	checkRefused(bad, "no body can have");
	bad = good;
	bad.frameParent.q = knQ(0.0, 0.0, 0.0, 0.0);
	checkRefused(bad, "quaternion");
	bad = good;
	bad.mass.center.x = NAN;
	checkRefused(bad, "not finite");
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forward_and_inverse_dynamics_undo_each_other),
		cmocka_unit_test(articulated_bodies_agree_with_the_mass_matrix),
		cmocka_unit_test(mass_matrix_is_inverse_dynamics_of_unit_accelerations),
		cmocka_unit_test(impulses_change_velocities_by_the_mass_matrix),
		cmocka_unit_test(collision_matrices_are_j_hinv_jt),
		cmocka_unit_test(power_and_momentum),
		cmocka_unit_test(velocities_are_rates_of_poses),
		cmocka_unit_test(numbering_does_not_matter),
		cmocka_unit_test(bad_links_are_named_and_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
