// Pre-stabilization of joints alone: every kind closes and conserves momentum; pendulums, sliders, limits, chains.
#include "steppers/joint_step.h"

#include "support/sphere_joint.h"

#define G 9.81

static double energyOf(const JointWorld* w) {
	return knMeasure_Kinetic(w->model, &w->state) + knMeasure_Potential(w->model, &w->state);
}

// --- every kind ------------------------------------------------------------------------------------------

static knScene* pairOf(knJointKind kind, knVec3 gravity) {
	knScene* scene = newScene(gravity);
	knBodyId bodies[2];
	for (int i = 0; i < 2; ++i) {
		bodies[i] = newMass(scene, knMakeFrame(knV3(1.2 * i, 0.1 * i, 0.0), knIdentityQ()), 2.0 + i,
							knV3(0.5, 0.8, 1.0));
		knBodyDef* def = knScene_EditBody(scene, bodies[i]);
		def->velocity = knV3(0.3, 0.5 * i, -0.2);
		def->angularVelocity = knV3(0.7, -0.4 + i, 1.1);
	}
	knJointDef def = jointAt(scene, kind, bodies[0], bodies[1], knV3(0.6, 0.0, 0.1), knV3(0.0, 0.0, 1.0));
	if (kind == KN_JOINT_CUSTOM) {
		def.custom = testSphereJoint;
		def.frameParent.p = knZero3();
		def.frameChild.p = knSub(knV3(1.0, 0.0, 0.0), knV3(1.2, 0.1, 0.0));
	}
	newJoint(scene, &def);
	return scene;
}

static void test_every_kind_closes_and_conserves(void** state) {
	(void)state;
	for (int kind = 0; kind < KN_JOINT_KIND_COUNT; ++kind) {
		JointWorld w = newJointWorld(pairOf((knJointKind)kind, noGravity));
		knMomentum before = knMeasure_Momentum(w.model, &w.state);
		for (int k = 0; k < 200; ++k) {
			stepJoints(&w, 1.0 / 60.0);
			knJointErrors errors = knMeasure_Joints(w.model, &w.state);
			assert_true(errors.maxDistance < 2e-3);
			assert_true(errors.maxAngle < 2e-3);
		}
		knMomentum after = knMeasure_Momentum(w.model, &w.state);
		assert_near3(after.linear, before.linear, 1e-12);
		assert_near3(after.angular, before.angular, 2e-12);
		freeJointWorld(&w);
	}
}

// --- pendulums -------------------------------------------------------------------------------------------

static double periodOf(JointWorld* w, int body, double h) {
	double last = w->state.pose[body].p.x, first = 0.0, period = 0.0;
	for (int crossings = 0; crossings < 6;) {
		stepJoints(w, h);
		double x = w->state.pose[body].p.x;
		if (last > 0.0 && x <= 0.0) {
			double when = w->state.header->time - h * x / (x - last);
			first = crossings == 0 ? when : first;
			period = (when - first) / 5.0;
			crossings += 1;
		}
		last = x;
	}
	return period;
}

static void test_pendulum_period(void** state) {
	(void)state;
	const double steps[2] = { 1.0 / 60.0, 1.0 / 240.0 };
	for (int k = 0; k < 2; ++k) {
		knScene* scene = newScene(earth);
		double amplitude = 0.05, d = 0.5;
		knQuat turned = knQuat_FromAxisAngle(knV3(0.0, 1.0, 0.0), -amplitude);
		knBodyId rod = newMass(scene, knMakeFrame(knV3(d * sin(amplitude), 0.0, -d * cos(amplitude)), turned),
							   2.0, knV3(0.2, 0.2, 0.01));
		knJointDef def = jointAt(scene, KN_JOINT_HINGE, KN_WORLD_BODY, rod, knZero3(), knV3(0.0, 1.0, 0.0));
		newJoint(scene, &def);
		JointWorld w = newJointWorld(scene);
		double exact =
			2.0 * KN_PI * sqrt((0.2 + 2.0 * d * d) / (2.0 * G * d)) * (1.0 + amplitude * amplitude / 16.0);
		assert_near(periodOf(&w, 1, steps[k]), exact, 0.25 * steps[k] * exact);
		freeJointWorld(&w);
	}
}

// --- slider ----------------------------------------------------------------------------------------------

// A frictionless slider on a slope, struck from the side and turned in every step: no impulse acts along the free axis,
// so it travels g sin(a) h^2 N (N + 1)/2 all the same.
static void test_slider_travels_exactly(void** state) {
	(void)state;
	for (int struck = 0; struck < 2; ++struck) {
		knScene* scene = newScene(earth);
		knVec3 along = knV3(cos(KN_PI / 6.0), 0.0, -0.5);
		knBodyId block =
			newMass(scene, knMakeFrame(knV3(0.1, 0.2, 0.37), knIdentityQ()), 2.0, knV3(0.3, 0.5, 0.2));
		knJointDef def = jointAt(scene, KN_JOINT_SLIDER, KN_WORLD_BODY, block, knZero3(), along);
		newJoint(scene, &def);
		JointWorld w = newJointWorld(scene);
		knVec3 start = w.state.pose[1].p;
		knTestRandom random = { 21 };
		double h = 1.0 / 60.0;
		for (int k = 0; k < 60; ++k) {
			if (struck) {
				knVec3 kick = testVec3(&random, 2.0);
				kick = knMulAdd(kick, -knDot(kick, along), along);
				w.state.velocity[1].lin = knAdd(w.state.velocity[1].lin, kick);
				w.state.velocity[1].ang = knAdd(w.state.velocity[1].ang, testVec3(&random, 2.0));
			}
			stepJoints(&w, h);
		}
		double travel = knDot(knSub(w.state.pose[1].p, start), along);
		assert_near(travel, G * 0.5 * h * h * 60.0 * 61.0 / 2.0, 1e-10);
		assert_true(knMeasure_Joints(w.model, &w.state).maxDistance < 1e-10);
		freeJointWorld(&w);
	}
}

// --- sign of quaternions -----------------------------------------------------------------------------------

static void test_signs_of_quaternions_do_not_matter(void** state) {
	(void)state;
	const knJointKind kinds[3] = { KN_JOINT_HINGE, KN_JOINT_UNIVERSAL, KN_JOINT_FIXED };
	for (int k = 0; k < 3; ++k) {
		JointWorld a = newJointWorld(pairOf(kinds[k], earth)), b = newJointWorld(pairOf(kinds[k], earth));
		knTestRandom random = { 31 };
		for (int n = 0; n < 100; ++n) {
			for (int body = 1; body < 3; ++body) {
				knQuat* q = &b.state.pose[body].q;
				*q = testInt(&random, 2) ? knNegQ(*q) : *q;
			}
			stepJoints(&a, 0.02);
			stepJoints(&b, 0.02);
		}
		for (int body = 1; body < 3; ++body) {
			assert_near3(a.state.pose[body].p, b.state.pose[body].p, 1e-12);
			assert_near(knAbs(knDotQ(a.state.pose[body].q, b.state.pose[body].q)), 1.0, 1e-12);
		}
		freeJointWorld(&a);
		freeJointWorld(&b);
	}
}

// --- chains and loops --------------------------------------------------------------------------------------

static knScene* chainOf(int links, double length, double lastMass, knJointKind kind) {
	knScene* scene = newScene(earth);
	knBodyId parent = KN_WORLD_BODY;
	for (int i = 0; i < links; ++i) {
		double m = i == links - 1 ? lastMass : 1.0, across = m * length * length / 12.0;
		knBodyId link = newMass(scene, knMakeFrame(knV3((i + 0.5) * length, 0.0, 0.0), knIdentityQ()), m,
								knV3(0.2 * across, across, across));
		knVec3 axis = kind == KN_JOINT_HINGE && i % 2 == 1 ? knV3(0.0, 0.0, 1.0) : knV3(0.0, 1.0, 0.0);
		knJointDef def = jointAt(scene, kind, parent, link, knV3(i * length, 0.0, 0.0), axis);
		newJoint(scene, &def);
		parent = link;
	}
	return scene;
}

typedef struct Worst {
	double gap, angle, gain;
} Worst;

static Worst runWorst(JointWorld* w, int steps, double h) {
	Worst worst = { 0.0, 0.0, 0.0 };
	double start = energyOf(w);
	for (int k = 0; k < steps; ++k) {
		stepJoints(w, h);
		knJointErrors errors = knMeasure_Joints(w->model, &w->state);
		worst.gap = knMax(worst.gap, errors.maxDistance);
		worst.angle = knMax(worst.angle, errors.maxAngle);
		worst.gain = knMax(worst.gain, energyOf(w) - start);
	}
	return worst;
}

// The published sweeps: a chain of ten opens by about a centimetre with nine, and more with five.
static void test_published_chain(void** state) {
	(void)state;
	double gaps[2];
	const int sweeps[2] = { 5, 9 };
	for (int k = 0; k < 2; ++k) {
		JointWorld w = newJointWorld(chainOf(10, 0.4, 1.0, KN_JOINT_BALL));
		w.preSweeps = sweeps[k];
		gaps[k] = runWorst(&w, 120, 1.0 / 60.0).gap;
		freeJointWorld(&w);
	}
	assert_true(gaps[1] < gaps[0]);
	assert_true(gaps[1] > 1e-3 && gaps[1] < 3e-2);
}

// Hinges as published: force first, then a couple for the state that the force leaves. A couple for the state of before
// would hold the free axes too, and drive a chain without bound.
static void test_published_hinges_gain_nothing(void** state) {
	(void)state;
	knScene* scene = newScene(earth);
	knBodyId parent = KN_WORLD_BODY;
	for (int i = 0; i < 4; ++i) {
		knBodyId rod = newMass(scene, knMakeFrame(knV3(i + 0.5, 0.0, 0.0), knIdentityQ()), 1.0,
							   knV3(0.001, 0.0833, 0.0833));
		knJointDef def = jointAt(scene, KN_JOINT_HINGE, parent, rod, knV3(i, 0.0, 0.0), knV3(0.0, 1.0, 0.0));
		newJoint(scene, &def);
		parent = rod;
	}
	JointWorld w = newJointWorld(scene);
	Worst worst = runWorst(&w, 300, 0.01);
	assert_true(worst.gain < 1.0); // of 78 J that the fall sets free
	assert_true(worst.gap < 2e-3 && worst.angle < 2e-3);
	freeJointWorld(&w);
}

// A small heavy bob on a pin, and two rods in a row, swing for five seconds at an animation's step: what steadies taut
// chains must leave them alone.
static void test_pendulums_keep_their_energy(void** state) {
	(void)state;
	knScene* bob = newScene(earth);
	knBodyId ball =
		newMass(bob, knMakeFrame(knV3(1.0, 0.0, 0.0), knIdentityQ()), 5.0, knV3(0.005, 0.005, 0.005));
	knJointDef pin = jointAt(bob, KN_JOINT_HINGE, KN_WORLD_BODY, ball, knZero3(), knV3(0.0, 1.0, 0.0));
	newJoint(bob, &pin);
	knScene* scenes[2] = { bob, chainOf(2, 1.0, 1.0, KN_JOINT_BALL) };
	const double swing[2] = { 5.0 * G, 2.0 * G }; // J, from the horizontal to the lowest pose
	for (int k = 0; k < 2; ++k) {
		JointWorld w = newJointWorld(scenes[k]);
		double start = energyOf(&w);
		Worst worst = runWorst(&w, 300, 1.0 / 60.0);
		assert_near(energyOf(&w), start, 0.05 * swing[k]);
		assert_true(worst.gain < 0.05 * swing[k]);
		freeJointWorld(&w);
	}
}

// Without pre-stabilization the errors of a chain add up.
static void test_velocities_alone_drift(void** state) {
	(void)state;
	JointWorld w = newJointWorld(chainOf(10, 0.4, 1.0, KN_JOINT_BALL));
	w.settings.impulse.prestabilize = 0;
	assert_true(runWorst(&w, 120, 1.0 / 60.0).gap > 1e-2);
	freeJointWorld(&w);
}

// Two links between pins that are too far apart: it cannot close, and must not go wild either.
static void test_loop_that_cannot_close(void** state) {
	(void)state;
	knScene* scene = newScene(earth);
	knBodyId links[2];
	for (int i = 0; i < 2; ++i) {
		links[i] = newMass(scene, knMakeFrame(knV3(0.1 + 0.21 * i, 0.0, 0.0), knIdentityQ()), 1.0,
						   knV3(1e-3, 4e-3, 4e-3));
	}
	const knVec3 y = knV3(0.0, 1.0, 0.0);
	knJointDef first = jointAt(scene, KN_JOINT_HINGE, KN_WORLD_BODY, links[0], knZero3(), y);
	newJoint(scene, &first);
	knJointDef middle = jointAt(scene, KN_JOINT_HINGE, links[0], links[1], knV3(0.2, 0.0, 0.0), y);
	middle.frameChild.p = knV3(-0.1, 0.0, 0.0);
	newJoint(scene, &middle);
	knJointDef last = jointAt(scene, KN_JOINT_HINGE, KN_WORLD_BODY, links[1], knV3(0.41, 0.0, 0.0), y);
	newJoint(scene, &last);
	JointWorld w = newJointWorld(scene);
	Worst worst = runWorst(&w, 300, 0.01);
	assert_true(worst.gap > 0.003 && worst.gap < 0.0101);
	assert_true(knMeasure_Kinetic(w.model, &w.state) < 1e-2);
	freeJointWorld(&w);
}

// --- a user's joint ----------------------------------------------------------------------------------------

static knFrame hingeState(knFrame joint, void* context) {
	(void)context;
	double n = sqrt(joint.q.w * joint.q.w + joint.q.x * joint.q.x);
	return knMakeFrame(knZero3(), knQ(joint.q.w / n, joint.q.x / n, 0.0, 0.0));
}

static knTwist hingeVelocity(knFrame joint, knTwist velocity, void* context) {
	(void)joint, (void)context;
	return knMakeTwist(knV3(velocity.ang.x, 0.0, 0.0), knZero3());
}

static void test_custom_equals_built_in(void** state) {
	(void)state;
	knScene* scenes[2];
	for (int k = 0; k < 2; ++k) {
		scenes[k] = newScene(earth);
		knBodyId rod =
			newMass(scenes[k], knMakeFrame(knV3(0.5, 0.1, 0.0), knIdentityQ()), 2.0, knV3(0.1, 0.2, 0.25));
		knJointKind kind = k == 0 ? KN_JOINT_HINGE : KN_JOINT_CUSTOM;
		knJointDef def = jointAt(scenes[k], kind, KN_WORLD_BODY, rod, knZero3(), knV3(0.1, 1.0, 0.2));
		def.custom = (knCustomJoint){ .projectState = k == 0 ? NULL : hingeState,
									  .projectVelocity = k == 0 ? NULL : hingeVelocity };
		newJoint(scenes[k], &def);
	}
	JointWorld built = newJointWorld(scenes[0]), custom = newJointWorld(scenes[1]);
	for (int k = 0; k < 200; ++k) {
		stepJoints(&built, 0.01);
		stepJoints(&custom, 0.01);
	}
	assert_near3(built.state.pose[1].p, custom.state.pose[1].p, 1e-9);
	assert_near3(built.state.joint[0].reaction.lin, custom.state.joint[0].reaction.lin, 1e-6);
	freeJointWorld(&built);
	freeJointWorld(&custom);
}

// --- threads -----------------------------------------------------------------------------------------------

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_kind_closes_and_conserves),
		cmocka_unit_test(test_pendulum_period),
		cmocka_unit_test(test_slider_travels_exactly),
		cmocka_unit_test(test_signs_of_quaternions_do_not_matter),
		cmocka_unit_test(test_published_chain),
		cmocka_unit_test(test_published_hinges_gain_nothing),
		cmocka_unit_test(test_pendulums_keep_their_energy),
		cmocka_unit_test(test_velocities_alone_drift),
		cmocka_unit_test(test_loop_that_cannot_close),
		cmocka_unit_test(test_custom_equals_built_in),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
