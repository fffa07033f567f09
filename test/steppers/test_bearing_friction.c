// Friction of loaded bearings, the same facts for every stepper: wheels that run down, levers and sliders that stand or slip,
// what counts as load, energy, momentum.
#include "steppers/methods.h"
#include "support/sphere_joint.h"

#define DT 0.01
#define G 9.81

// A body on a joint to the world, one axis with a bearing.
static knBodyId hang(knScene* scene, knJointKind kind, knFrame frame, double mass, double inertia,
					 knVec3 axis, double bearing) {
	knBodyId body = newMass(scene, frame, mass, knV3(inertia, inertia, inertia));
	knJointDef def = jointAt(scene, kind, KN_WORLD_BODY, body, knZero3(), axis);
	for (int i = 0; i < 6; ++i) {
		def.axis[i].bearing = bearing;
	}
	newJoint(scene, &def);
	return body;
}

// --- wheels ----------------------------------------------------------------------------------------------

// Deceleration b N/I, N the weight; stands still from I w/(b N) on.
static void test_wheel_runs_down(void** state) {
	(void)state;
	knTestRandom random = { 11 };
	for (int n = 0; n < 4 * METHODS; ++n) {
		const double mass = testUniform(&random, 0.5, 20.0), inertia = testUniform(&random, 0.05, 1.0);
		const double spin = testUniform(&random, 1.0, 9.0), end = testUniform(&random, 1.0, 2.0);
		const double bearing = inertia * spin / (mass * G * end);
		const double heading = testUniform(&random, -3.0, 3.0);
		const knVec3 axis = knV3(cos(heading), sin(heading), 0.0);
		knScene* scene = newScene(earth);
		knBodyId wheel = hang(scene, KN_JOINT_HINGE, knIdentityF(), mass, inertia, axis, bearing);
		knScene_EditBody(scene, wheel)->angularVelocity = knScale(spin, axis);
		knWorld* world = worldOf(scene, n % METHODS);
		run(world, 50, DT);
		assert_near(knDot(knWorld_BodyAngularVelocity(world, wheel), axis), spin * (1.0 - 0.5 / end), 1e-9);
		run(world, (int)((end - 0.5) / DT) - 1, DT);
		assert_true(knDot(knWorld_BodyAngularVelocity(world, wheel), axis) > 0.0);
		run(world, 3, DT);
		assert_true(knLength(knWorld_BodyAngularVelocity(world, wheel)) < 1e-12);
		const knQuat there = knWorld_BodyFrame(world, wheel).q;
		run(world, 300, DT);
		assert_true(knAbs(knDotQ(knWorld_BodyFrame(world, wheel).q, there)) > 1.0 - 1e-15);
		knWorld_Destroy(world);
	}
}

// Another load that hangs on the wheel's centre counts.
static void test_axle_carries_all_that_hangs_on_it(void** state) {
	(void)state;
	for (int method = 0; method < METHODS; ++method) {
		knScene* scene = newScene(earth);
		const double bearing = 0.01, inertia = 0.5, spin = 6.0;
		const knVec3 axis = knV3(0.0, 1.0, 0.0);
		knBodyId wheel = hang(scene, KN_JOINT_HINGE, knIdentityF(), 2.0, inertia, axis, bearing);
		knScene_EditBody(scene, wheel)->angularVelocity = knScale(spin, axis);
		knBodyId load =
			newMass(scene, knMakeFrame(knV3(0.0, 0.0, -0.5), knIdentityQ()), 7.0, knV3(0.1, 0.1, 0.1));
		knJointDef def = jointAt(scene, KN_JOINT_BALL, wheel, load, knZero3(), axis);
		newJoint(scene, &def);
		knWorld* world = worldOf(scene, method);
		run(world, 100, DT);
		assert_near(knDot(knWorld_BodyAngularVelocity(world, wheel), axis),
					spin - bearing * 9.0 * G / inertia, method == PUBLISHED ? 0.02 : 1e-6);
		knWorld_Destroy(world);
	}
}

// A hinge feels what lies across its axis, so one that stands upright runs on; a ball feels the whole, whichever way it spins.
static void test_which_load_counts(void** state) {
	(void)state;
	for (int method = 0; method < METHODS; ++method) {
		const knVec3 up = knV3(0.0, 0.0, 1.0);
		const struct {
			knJointKind kind;
			knVec3 axis;
			bool slows;
		} cases[] = {
			{ KN_JOINT_HINGE, up, false }, { KN_JOINT_UNIVERSAL, up, false },
			{ KN_JOINT_PLANAR, up, true }, { KN_JOINT_CYLINDER, knV3(0.0, 1.0, 0.0), true },
			{ KN_JOINT_BALL, up, true },   { KN_JOINT_BALL, knV3(0.0, 1.0, 0.0), true },
		};
		for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
			knScene* scene = newScene(earth);
			knBodyId body = hang(scene, cases[i].kind, knIdentityF(), 3.0, 0.4, cases[i].axis, 0.01);
			knScene_EditBody(scene, body)->angularVelocity = knScale(4.0, cases[i].axis);
			knWorld* world = worldOf(scene, method);
			run(world, 100, DT);
			const double expected = 4.0 - (cases[i].slows ? 0.01 * 3.0 * G / 0.4 : 0.0);
			assert_near(knDot(knWorld_BodyAngularVelocity(world, body), cases[i].axis), expected, 1e-7);
			knWorld_Destroy(world);
		}
	}
}

// --- levers ----------------------------------------------------------------------------------------------

// The centre hangs beside the pin by x. Up to x = b friction holds it, in compact bobs far from the pin as well; beyond, it
// turns with alpha = m g (x - b)/(I + m l^2 - b m x), the pin being relieved by m x alpha.
static void test_lever_stands_or_slips(void** state) {
	(void)state;
	knTestRandom random = { 12 };
	for (int n = 0; n < 8 * METHODS; ++n) {
		const bool slips = n / METHODS % 2 == 1;
		const double length = testUniform(&random, 0.1, 2.0), inertia = testUniform(&random, 0.002, 0.1);
		const double mass = testUniform(&random, 0.1, 50.0), bearing = testUniform(&random, 0.005, 0.05);
		const double x = bearing * (slips ? 1.2 : 0.98);
		const knVec3 center = knV3(x, 0.0, -sqrt(length * length - x * x));
		knScene* scene = newScene(earth);
		knBodyId lever = hang(scene, KN_JOINT_HINGE, knMakeFrame(center, knIdentityQ()), mass, mass * inertia,
							  knV3(0.0, 1.0, 0.0), bearing);
		knWorld* world = worldOf(scene, n % METHODS);
		if (slips) {
			run(world, 4, 0.001);
			const double alpha = G * (x - bearing) / (inertia + length * length - bearing * x);
			assert_near(knWorld_BodyAngularVelocity(world, lever).y, 0.004 * alpha, 0.005 * 0.004 * alpha);
		} else {
			run(world, 1000, DT);
			assert_near3(knWorld_BodyCenter(world, lever), center, 1e-10);
		}
		knWorld_Destroy(world);
	}
}

// Three links of a chain, each joint below its limit: they come to rest near where they began and stay there.
static void test_chain_stands(void** state) {
	(void)state;
	for (int method = 0; method < 2; ++method) {
		knScene* scene = newScene(earth);
		const knVec3 along = knV3(sin(0.03), 0.0, -cos(0.03));
		knVec3 at = knZero3();
		knBodyId link = KN_WORLD_BODY;
		for (int i = 0; i < 3; ++i) {
			knBodyId next = newMass(
				scene, knMakeFrame(knMulAdd(at, 0.25, along), knQuat_Between(knV3(0.0, 0.0, -1.0), along)),
				1.0, knV3(0.02, 0.02, 0.002));
			knJointDef def = jointAt(scene, KN_JOINT_HINGE, link, next, at, knV3(0.0, 1.0, 0.0));
			def.axis[0].bearing = 0.05;
			newJoint(scene, &def);
			at = knMulAdd(at, 0.5, along);
			link = next;
		}
		knWorld* world = worldOf(scene, method);
		const knVec3 start = knWorld_BodyCenter(world, link);
		run(world, 200, DT);
		const knVec3 there = knWorld_BodyCenter(world, link);
		assert_near3(there, start, 2e-4);
		run(world, 800, DT);
		assert_near3(knWorld_BodyCenter(world, link), there, 1e-8);
		knWorld_Destroy(world);
	}
}

// --- slides ----------------------------------------------------------------------------------------------

// On a slope a slider stays below atan(mu) and slides by g (sin - mu cos) above, whatever couple its guide bears. A cylinder
// alike.
static void test_slider_on_a_slope(void** state) {
	(void)state;
	knTestRandom random = { 13 };
	for (int n = 0; n < 8 * METHODS; ++n) {
		const bool slides = n / METHODS % 2 == 1;
		const double mu = testUniform(&random, 0.1, 1.0);
		const double slope = atan(mu) * (slides ? testUniform(&random, 1.05, 1.4) : 0.98);
		const knVec3 down = knV3(cos(slope), 0.0, -sin(slope));
		const knVec3 center = n % 4 < 2 ? knV3(0.3, 0.1, 0.4) : knZero3();
		knScene* scene = newScene(earth);
		knBodyId body =
			hang(scene, n % 4 == 3 ? KN_JOINT_CYLINDER : KN_JOINT_SLIDER, knMakeFrame(center, knIdentityQ()),
				 testUniform(&random, 0.2, 9.0), 0.3, down, mu);
		knWorld* world = worldOf(scene, n % METHODS);
		run(world, slides ? 50 : 1000, DT);
		const double speed = slides ? 0.5 * G * (sin(slope) - mu * cos(slope)) : 0.0;
		assert_near(knDot(knWorld_BodyVelocity(world, body), down), speed, 1e-8);
		if (!slides) {
			assert_near3(knWorld_BodyCenter(world, body), center, 1e-10);
		}
		knWorld_Destroy(world);
	}
}

// A box lies on a plate that slides on a guide. What presses on the plate loads the guide: a smooth box stays behind and slows
// the plate by mu g (1 + M/m), a rough one rides along and both slow by mu g.
static void test_contact_loads_the_guide(void** state) {
	(void)state;
	for (int n = 0; n < 2 * METHODS; ++n) {
		const bool rough = n >= METHODS;
		knScene* scene = newScene(earth);
		const knShapeDef matter = material(rough ? 0.9 : 0.0, 0.0);
		knBodyId plate = newBox(scene, knZero3(), knV3(2.0, 0.5, 0.1), matter);
		knBodyId box = newBox(scene, knV3(0.0, 0.0, 0.3), knV3(0.2, 0.2, 0.2), matter);
		knScene_EditBody(scene, plate)->velocity = knV3(2.0, 0.0, 0.0);
		knScene_EditBody(scene, box)->velocity = knV3(rough ? 2.0 : 0.0, 0.0, 0.0);
		knJointDef def =
			jointAt(scene, KN_JOINT_SLIDER, KN_WORLD_BODY, plate, knZero3(), knV3(1.0, 0.0, 0.0));
		def.axis[0].bearing = 0.2;
		newJoint(scene, &def);
		knWorld* world = worldOf(scene, n % METHODS);
		run(world, 40, DT);
		const double ratio = 0.4 * 0.4 * 0.4 / (4.0 * 1.0 * 0.2);
		const double slowed = 0.2 * G * (rough ? 1.0 : 1.0 + ratio);
		assert_near(knWorld_BodyVelocity(world, plate).x, 2.0 - 0.4 * slowed, 1e-4);
		run(world, 160, DT);
		assert_near(knWorld_BodyVelocity(world, plate).x, 0.0, 1e-6);
		knWorld_Destroy(world);
	}
}

// A user's joint: a bead on a sphere stays where the slope is below atan(mu), and slides where it is above.
static void test_bead_on_a_sphere(void** state) {
	(void)state;
	for (int n = 0; n < 2 * METHODS; ++n) {
		const bool slides = n >= METHODS;
		const double mu = 0.5, slope = atan(mu) * (slides ? 1.1 : 0.95);
		knScene* scene = newScene(earth);
		const knVec3 place = knV3(sin(slope), 0.0, cos(slope));
		const knQuat turn = knQuat_FromAxisAngle(knV3(0.0, 1.0, 0.0), slope);
		knBodyId bead = newMass(scene, knMakeFrame(place, turn), 1.5, knV3(0.01, 0.01, 0.01));
		knJointDef def = knJointDef_Default(KN_JOINT_CUSTOM);
		def.child = bead;
		def.custom = testSphereJoint;
		def.axis[3].bearing = def.axis[4].bearing = def.axis[5].bearing = mu;
		newJoint(scene, &def);
		knWorld* world = worldOf(scene, n % METHODS);
		run(world, slides ? 10 : 500, DT);
		const double speed = slides ? 0.1 * G * (sin(slope) - mu * cos(slope)) : 0.0;
		assert_near(knLength(knWorld_BodyVelocity(world, bead)), speed, slides ? 0.02 * speed : 1e-9);
		knWorld_Destroy(world);
	}
}

// --- energy and momentum ---------------------------------------------------------------------------------

// A double pendulum swings wide on two hinges: with bearings its energy falls from step to step and ends lower than without.
static void test_energy_falls(void** state) {
	(void)state;
	for (int method = 0; method < METHODS; ++method) {
		double last[2];
		for (int rubs = 0; rubs < 2; ++rubs) {
			knScene* scene = newScene(earth);
			knBodyId link = KN_WORLD_BODY;
			for (int i = 0; i < 2; ++i) {
				knBodyId next = newMass(scene, knMakeFrame(knV3(0.25 + 0.5 * i, 0.0, 0.0), knIdentityQ()),
										1.0, knV3(0.002, 0.02, 0.02));
				knJointDef def =
					jointAt(scene, KN_JOINT_HINGE, link, next, knV3(0.5 * i, 0.0, 0.0), knV3(0.0, 1.0, 0.0));
				def.axis[0].bearing = rubs ? 0.04 : 0.0;
				newJoint(scene, &def);
				link = next;
			}
			knWorld* world = worldOf(scene, method);
			knMeasures before = knWorld_Measure(world);
			const double start = before.kinetic + before.potential;
			double energy = start;
			for (int k = 0; k < 4000; ++k) {
				run(world, 1, 0.002);
				knMeasures now = knWorld_Measure(world);
				const double next = now.kinetic + now.potential;
				// J of 9.8; what sweeps have left over when the two come to rest
				assert_true(!rubs || next < energy + (method == PUBLISHED ? 5e-4 : 1e-7));
				energy = knMin(energy, next);
			}
			last[rubs] = energy;
			if (rubs) {
				// at rest, hanging to within what the bearings hold
				assert_true(energy < start - 0.9 * (0.25 + 0.75) * G);
				assert_true(knLength(knWorld_BodyVelocity(world, link)) <
							(method == PUBLISHED ? 1e-3 : 1e-12));
			}
			knWorld_Destroy(world);
		}
		assert_true(last[1] < last[0]);
	}
}

// Two bricks on every kind of joint, tumbling: their joint is loaded by what turns them, and rubs; both momenta stay.
static void test_momentum_stays(void** state) {
	(void)state;
	for (int n = 0; n < METHODS * KN_JOINT_KIND_COUNT; ++n) {
		const knJointKind kind = (knJointKind)(n / METHODS);
		double kinetic[2];
		for (int rubs = 0; rubs < 2; ++rubs) {
			knScene* scene = newScene(noGravity);
			knBodyId bodies[2];
			for (int i = 0; i < 2; ++i) {
				bodies[i] = newMass(scene, knMakeFrame(knV3(1.2 * i, 0.1 * i, 0.0), knIdentityQ()), 2.0 + i,
									knV3(0.5, 0.8, 1.0));
				knBodyDef* def = knScene_EditBody(scene, bodies[i]);
				def->velocity = knV3(0.3, 0.5 * i, -0.2);
				def->angularVelocity = knV3(0.7, -0.4 + i, 1.1);
			}
			knJointDef def =
				jointAt(scene, kind, bodies[0], bodies[1], knV3(0.6, 0.0, 0.1), knV3(0.0, 0.0, 1.0));
			def.custom = testSphereJoint;
			if (kind == KN_JOINT_CUSTOM) {
				def.frameParent.p = knZero3();
				def.frameChild.p = knSub(knV3(1.0, 0.0, 0.0), knV3(1.2, 0.1, 0.0));
			}
			for (int i = 0; i < 6; ++i) {
				def.axis[i].bearing = rubs ? 0.1 : 0.0;
			}
			newJoint(scene, &def);
			knWorld* world = worldOf(scene, n % METHODS);
			knMeasures start = knWorld_Measure(world);
			run(world, 100, 0.005);
			knMeasures end = knWorld_Measure(world);
			assert_near3(end.momentum, start.momentum, 1e-12);
			// joints are closed to 1e-10 m
			assert_near3(end.angularMomentum, start.angularMomentum, 1e-10);
			kinetic[rubs] = end.kinetic;
			knWorld_Destroy(world);
		}
		// without a locked direction there is no load
		const bool rubs = kind != KN_JOINT_FIXED && kind != KN_JOINT_FREE && kind != KN_JOINT_SLIDER3;
		assert_true(rubs ? kinetic[1] < kinetic[0] - 1e-6 : knAbs(kinetic[1] - kinetic[0]) < 1e-12);
	}
}

// --- state -----------------------------------------------------------------------------------------------

// Saved in the middle of a swing and restored, the joint goes on to the same bits, attached or authored.
static void test_snapshot(void** state) {
	(void)state;
	for (int n = 0; n < 2 * METHODS; ++n) {
		knScene* scene = newScene(earth);
		knScene_Def(scene)->jointCapacity = 1;
		knBodyId body =
			newMass(scene, knMakeFrame(knV3(0.4, 0.0, 0.0), knIdentityQ()), 2.0, knV3(0.1, 0.1, 0.1));
		knJointDef def = jointAt(scene, KN_JOINT_HINGE, KN_WORLD_BODY, body, knZero3(), knV3(0.0, 1.0, 0.0));
		def.axis[0].bearing = 0.03;
		def.axis[0].friction = 0.1;
		if (n < METHODS) {
			newJoint(scene, &def);
		}
		knWorld* world = worldOf(scene, n % METHODS);
		knError error = { 0 };
		if (n >= METHODS && KN_ID_IS_NULL(knWorld_Attach(world, &def, &error))) {
			failWith(&error);
		}
		run(world, 40, DT);
		const size_t size = knWorld_StateSize(world);
		void* saved = malloc(size);
		assert_non_null(saved);
		assert_ok(knWorld_Save(world, saved, size));
		run(world, 60, DT);
		const uint64_t hash = knWorld_Hash(world);
		assert_ok(knWorld_Restore(world, saved, size, &error));
		run(world, 60, DT);
		assert_true(knWorld_Hash(world) == hash);
		free(saved);
		knWorld_Destroy(world);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wheel_runs_down),
		cmocka_unit_test(test_axle_carries_all_that_hangs_on_it),
		cmocka_unit_test(test_which_load_counts),
		cmocka_unit_test(test_lever_stands_or_slips),
		cmocka_unit_test(test_chain_stands),
		cmocka_unit_test(test_slider_on_a_slope),
		cmocka_unit_test(test_contact_loads_the_guide),
		cmocka_unit_test(test_bead_on_a_sphere),
		cmocka_unit_test(test_energy_falls),
		cmocka_unit_test(test_momentum_stays),
		cmocka_unit_test(test_snapshot),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
