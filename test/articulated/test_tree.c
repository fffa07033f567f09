// The laws of mechanics hold for random trees, and bad links are refused.
#include "tree_test.h"

#define FOR_TREES(t, trials)                                                                                 \
	Tree t;                                                                                                  \
	for (int trial = 0; trial < (trials); ++trial, freeTree(&t))                                             \
		if (makeTree(&t, 1 + trial % MAX_LINKS, trial % 3 == 0, trial % 4 == 0), true)

// --- agreement -------------------------------------------------------------------------------------------

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
		// mass times centre: the potential energy in gravities along the axes
		knTree_Kinematics(t.tree, t.work, t.q, t.v);
		knVec3 center = knV3(-knTree_PotentialEnergy(t.tree, t.work, knV3(1.0, 0.0, 0.0)),
							 -knTree_PotentialEnergy(t.tree, t.work, knV3(0.0, 1.0, 0.0)),
							 -knTree_PotentialEnergy(t.tree, t.work, knV3(0.0, 0.0, 1.0)));
		knVec3 moment = knScale(0.5 / h, knSub(momentum[1].ang, momentum[0].ang));
		assert_true(knLength(knSub(moment, knCross(center, gravity))) < 1e-5 * scale);
		freeTree(&t);
	}
}

// J v is the velocity of the point; J also moves momentum: p = the sum over links of m J_c v.
static void jacobians_give_velocities(void** state) {
	(void)state;
	static double J[6 * MAX_V];
	FOR_TREES(t, 500) {
		knTree_Kinematics(t.tree, t.work, t.q, t.v);
		knVec3 momentum = knZero3();
		for (int link = 0; link < t.count; ++link) {
			knFrame frame = knTree_LinkFrame(t.tree, t.work, link);
			knVec3 point = knPoint(frame, t.links[link].mass.center);
			knTwist velocity = knTree_LinkVelocity(t.tree, t.work, link);
			knVec3 u = knAdd(velocity.lin, knCross(velocity.ang, knSub(point, frame.p)));
			knTree_Jacobian(t.tree, t.work, link, point, J);
			double sum[6] = { 0 };
			for (int row = 0; row < 6; ++row) {
				for (int i = 0; i < t.nv; ++i) {
					sum[row] += J[row * t.nv + i] * t.v[i];
				}
			}
			assert_true(knDistance(velocity.ang, knV3(sum[0], sum[1], sum[2])) < 1e-11);
			assert_true(knDistance(u, knV3(sum[3], sum[4], sum[5])) < 1e-11);
			momentum = knMulAdd(momentum, t.links[link].mass.mass, u);
		}
		assert_true(knDistance(momentum, knTree_Momentum(t.tree, t.work, knZero3()).lin) < 1e-10);
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

// --- memory ----------------------------------------------------------------------------------------------

// Every allocation of a creation may fail: it then says so and leaves nothing behind. Calls take no memory at all.
static void memory_runs_out_cleanly(void** state) {
	(void)state;
	Tree t;
	makeTree(&t, 12, true, false);
	knTreeLoop loop = { .parent = -1,
						.child = t.count - 1,
						.kind = KN_JOINT_BALL,
						.frameParent = knIdentityF(),
						.frameChild = knIdentityF() };
	bool done = false;
	for (int limit = 0; !done; ++limit) {
		knTestMemory memory;
		knAllocator allocator = testAllocator(&memory);
		memory.failAfter = limit;
		knError error = { 0 };
		knTree* tree = knTree_Create(t.links, t.count, &allocator, &error);
		knTreeWork* work = tree != NULL ? knTreeWork_Create(tree, &allocator, &error) : NULL;
		knTreeLagrange* lagrange =
			work != NULL ? knTreeLagrange_Create(tree, &loop, 1, &allocator, &error) : NULL;
		done = lagrange != NULL;
		assert_true(done || error.status == KN_NO_MEMORY);
		if (done) {
			double qdd[MAX_V];
			int calls = memory.calls;
			knTree_ForwardDynamics(tree, work, t.q, t.v, t.tau, t.forces, gravity, qdd);
			knTree_InverseDynamics(tree, work, t.q, t.v, qdd, t.forces, gravity, qdd);
			knTree_CollisionMatrix(tree, work, 3, -1, knZero3());
			assert_true(
				knTreeLagrange_ForwardDynamics(lagrange, work, t.q, t.v, t.tau, t.forces, gravity, qdd));
			assert_int_equal(memory.calls, calls);
		}
		knTreeLagrange_Destroy(lagrange);
		knTreeWork_Destroy(work);
		knTree_Destroy(tree);
		assert_int_equal(memory.live, 0);
	}
	freeTree(&t);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mass_matrix_is_inverse_dynamics_of_unit_accelerations),
		cmocka_unit_test(impulses_change_velocities_by_the_mass_matrix),
		cmocka_unit_test(power_and_momentum),
		cmocka_unit_test(jacobians_give_velocities),
		cmocka_unit_test(velocities_are_rates_of_poses),
		cmocka_unit_test(bad_links_are_named_and_refused),
		cmocka_unit_test(memory_runs_out_cleanly),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
