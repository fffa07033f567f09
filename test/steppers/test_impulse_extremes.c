// Worlds at the edge of sense under the impulse stepper: torn joints, bodies in one place, mass ratios of a million, wild
// spins, steps of any length. All stay finite, gain no energy worth naming, and joints that can close do.
#include "world/fixture.h"

static const knScheme schemes[2] = { KN_SCHEME_DEFAULT, KN_SCHEME_PAPER };

static knWorld* impulseWorld(knScene* scene, knScheme scheme) {
	knSettings settings = knSettings_Default();
	settings.scheme = scheme;
	settings.sweeps = 9;
	knWorldDef def = knWorldDef_Default();
	def.stepper = "impulse";
	def.settings = &settings;
	return newWorldWith(scene, &def);
}

static bool isFinite(knWorld* world) {
	knMeasures m = knWorld_Measure(world);
	return m.finite && knIsFinite(m.kinetic) && knIsFinite(m.jointError);
}

// --- torn joints -----------------------------------------------------------------------------------------------

static knScene* tornPair(knJointKind kind, double gap) {
	knScene* scene = newScene(noGravity);
	knBodyId a = newMass(scene, knIdentityF(), 2.0, knV3(0.2, 0.3, 0.25));
	knBodyId b = newMass(scene, knMakeFrame(knV3(1.0, 0.0, 0.0), knIdentityQ()), 1.0, knV3(0.1, 0.15, 0.1));
	knJointDef def = jointAt(scene, kind, a, b, knV3(0.5, 0.0, 0.0), knV3(0.0, 0.0, 1.0));
	def.frameParent.p = knAdd(def.frameParent.p, knScale(gap / sqrt(3.0), knV3(1.0, 1.0, 1.0)));
	newJoint(scene, &def);
	return scene;
}

// Half a metre open at the start: every kind closes within a second, and momentum stays zero.
static void test_torn_joints_close(void** state) {
	(void)state;
	for (int s = 0; s < 2; ++s) {
		for (int kind = 0; kind < KN_JOINT_KIND_COUNT; ++kind) {
			if (kind == KN_JOINT_CUSTOM || kind == KN_JOINT_FREE) {
				continue;
			}
			knWorld* world = impulseWorld(tornPair((knJointKind)kind, 0.5), schemes[s]);
			run(world, 100, 0.01);
			knMeasures m = knWorld_Measure(world);
			assert_true(m.jointError < 1e-3 && m.jointAngleError < 1e-2);
			assert_near3(m.momentum, knZero3(), 1e-9);
			knWorld_Destroy(world);
		}
	}
}

// Joints at the very centres of both bodies, and bodies in one place.
static void test_no_arms(void** state) {
	(void)state;
	for (int s = 0; s < 2; ++s) {
		for (int kind = 0; kind < KN_JOINT_KIND_COUNT; ++kind) {
			if (kind == KN_JOINT_CUSTOM) {
				continue;
			}
			knScene* scene = newScene(earth);
			knBodyId parent = KN_WORLD_BODY;
			for (int i = 0; i < 3; ++i) {
				knBodyId body = newMass(scene, knIdentityF(), 1.0 + i, knV3(0.1, 0.2, 0.15));
				knScene_EditBody(scene, body)->angularVelocity = knV3(3.0, i, -2.0);
				knJointDef def =
					jointAt(scene, (knJointKind)kind, parent, body, knZero3(), knV3(1.0, 1.0, 0.0));
				newJoint(scene, &def);
				parent = body;
			}
			knWorld* world = impulseWorld(scene, schemes[s]);
			for (int i = 0; i < 60; ++i) {
				run(world, 1, 1.0 / 60.0);
				assert_true(isFinite(world));
			}
			knWorld_Destroy(world);
		}
	}
}

// --- bodies in one place ---------------------------------------------------------------------------------------

// Boxes and balls in one heap of overlaps, some of them jointed, half of them in the very same place.
static void test_heap_of_overlaps(void** state) {
	(void)state;
	for (int s = 0; s < 2; ++s) {
		knTestRandom random = { 5 };
		knScene* scene = newScene(earth);
		newGround(scene, material(0.6, 0.0));
		knBodyId last = { 0 };
		for (int i = 0; i < 16; ++i) {
			knVec3 at = i % 2 == 0 ? knV3(0.0, 0.0, 0.5) : knAdd(knV3(0.0, 0.0, 0.5), testVec3(&random, 0.3));
			knBodyId body = i % 4 < 2 ? newBox(scene, at, knV3(0.2, 0.15, 0.1), material(0.6, 0.2))
									  : newBall(scene, at, 0.15, knZero3(), material(0.6, 0.2));
			if (i % 3 == 2) {
				knJointDef def = jointAt(scene, KN_JOINT_BALL, last, body, at, knV3(1.0, 0.0, 0.0));
				newJoint(scene, &def);
			}
			last = body;
		}
		knWorld* world = impulseWorld(scene, schemes[s]);
		double most = 0.0;
		for (int i = 0; i < 150; ++i) {
			run(world, 1, 0.01);
			assert_true(isFinite(world));
			most = knMax(most, knWorld_Measure(world).kinetic);
		}
		// the heap weighs about 16 x 10 kg: it may spread, not burst
		assert_true(most < (s == 0 ? 2e3 : 2e4));
		knWorld_Destroy(world);
	}
}

// --- numbers ---------------------------------------------------------------------------------------------------

// Chains whose links differ by a million in mass, heavy ones first, last and by turns.
static void test_mass_ratios_of_a_million(void** state) {
	(void)state;
	for (int k = 0; k < 3; ++k) {
		knScene* scene = newScene(earth);
		knBodyId parent = KN_WORLD_BODY;
		double potential = 0.0;
		for (int i = 0; i < 6; ++i) {
			const bool heavy = k == 0 ? i < 3 : (k == 1 ? i >= 3 : i % 2 == 0);
			const double mass = heavy ? 1e4 : 1e-2;
			potential += mass * 9.81 * (i + 1.0);
			knBodyId link = newMass(scene, knMakeFrame(knV3(i + 0.5, 0.0, 0.0), knIdentityQ()), mass,
									knV3(0.02 * mass, 0.08 * mass, 0.08 * mass));
			knJointDef def = jointAt(scene, i % 2 == 0 ? KN_JOINT_HINGE : KN_JOINT_BALL, parent, link,
									 knV3(i, 0.0, 0.0), knV3(0.0, 1.0, 0.0));
			newJoint(scene, &def);
			parent = link;
		}
		knWorld* world = impulseWorld(scene, KN_SCHEME_DEFAULT);
		knMeasures start = knWorld_Measure(world);
		for (int i = 0; i < 200; ++i) {
			run(world, 1, 0.01);
			knMeasures m = knWorld_Measure(world);
			assert_true(m.jointError < 1e-3);
			assert_true(m.kinetic + m.potential < start.kinetic + start.potential + 0.05 * potential);
		}
		knWorld_Destroy(world);
	}
}

// A jointed pair that spins with a thousand radians a second, about any axis, with steps from 1e-4 to 0.1 s.
static void test_wild_spins(void** state) {
	(void)state;
	const double steps[4] = { 1e-4, 1e-3, 0.01, 0.1 };
	for (int k = 0; k < 8; ++k) {
		knScene* scene = newScene(earth);
		newGround(scene, material(0.6, 0.2));
		knBodyId a = newBox(scene, knV3(0.0, 0.0, 0.5), knV3(0.2, 0.1, 0.1), material(0.6, 0.2));
		knBodyId b = newBox(scene, knV3(0.5, 0.0, 0.5), knV3(0.2, 0.1, 0.1), material(0.6, 0.2));
		knScene_EditBody(scene, a)->angularVelocity = knV3(0.0, 1000.0, 300.0);
		knScene_EditBody(scene, b)->angularVelocity = knV3(1000.0, 0.0, -1000.0);
		knJointDef def = jointAt(scene, k % 2 == 0 ? KN_JOINT_HINGE : KN_JOINT_BALL, a, b,
								 knV3(0.25, 0.0, 0.5), knV3(0.0, 1.0, 0.0));
		newJoint(scene, &def);
		knWorld* world = impulseWorld(scene, schemes[k / 4]);
		knMeasures start = knWorld_Measure(world);
		for (int i = 0; i < 100; ++i) {
			run(world, 1, steps[k % 4]);
			assert_true(isFinite(world));
		}
		assert_true(k >= 4 || knWorld_Measure(world).kinetic < 1.1 * (start.kinetic + start.potential));
		knWorld_Destroy(world);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_torn_joints_close), cmocka_unit_test(test_no_arms),
		cmocka_unit_test(test_heap_of_overlaps),  cmocka_unit_test(test_mass_ratios_of_a_million),
		cmocka_unit_test(test_wild_spins),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
