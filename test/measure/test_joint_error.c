// Joint error against joints torn open by known vectors and angles, of every kind.
#include "measure_test.h"
#include "support/sphere_joint.h"

static const knVec3 X = { 1.0, 0.0, 0.0 }, Y = { 0.0, 1.0, 0.0 }, Z = { 0.0, 0.0, 1.0 };

// Two bodies with a joint between arbitrary frames, the parent anywhere; bodies' centres are not at their
// origins.
typedef struct Pair {
	knTestSystem system;
	knBodyId parent, child;
	knFrame parentFrame;
	knJointDef def;
} Pair;

static Pair makePair(knJointDef def, uint64_t seed) {
	knTestRandom random = { seed };
	Pair pair = { .def = def };
	knScene* scene = testScene(0);
	pair.parent = testBody(scene, KN_BODY_DYNAMIC, 1.0, testVec3(&random, 1.0), knV3(1.0, 1.0, 1.0));
	pair.child = testBody(scene, KN_BODY_DYNAMIC, 2.0, testVec3(&random, 1.0), knV3(1.0, 1.0, 1.0));
	pair.def.parent = pair.parent;
	pair.def.child = pair.child;
	pair.def.frameParent = testFrame(&random, 1.0);
	pair.def.frameChild = testFrame(&random, 1.0);
	pair.parentFrame = testFrame(&random, 1.0);
	knError error = { 0 };
	if (KN_ID_IS_NULL(knScene_AddJoint(scene, &pair.def, &error))) {
		fail_msg("%s: %s", error.element, error.message);
	}
	pair.system = testCompile(scene);
	return pair;
}

// Places the bodies so that the joint frame is J, and measures.
static knJointError measureAt(Pair* pair, knFrame J) {
	knFrame childFrame =
		knMulF(knMulF(knMulF(pair->parentFrame, pair->def.frameParent), J), knInvF(pair->def.frameChild));
	testPlace(&pair->system, pair->parent, pair->parentFrame);
	testPlace(&pair->system, pair->child, childFrame);
	return knMeasure_Joint(pair->system.model, &pair->system.state, 0);
}

static knJointError measureOnce(knJointDef def, knFrame J) {
	Pair pair = makePair(def, 17);
	knJointError error = measureAt(&pair, J);
	testSystemFree(&pair.system);
	return error;
}

static void assertError(knJointError error, double distance, double angle, double tolerance) {
	assert_near(error.distance, distance, tolerance);
	assert_near(error.angle, angle, tolerance);
}

// --- every kind ------------------------------------------------------------------------------------------

// Locked slides (bits x, y, z).
static const int LOCKED_SLIDES[KN_JOINT_CUSTOM] = {
	[KN_JOINT_BALL] = 7,    [KN_JOINT_HINGE] = 7,     [KN_JOINT_SLIDER] = 6,   [KN_JOINT_SLIDER2] = 4,
	[KN_JOINT_SLIDER3] = 0, [KN_JOINT_UNIVERSAL] = 7, [KN_JOINT_CYLINDER] = 6, [KN_JOINT_PLANAR] = 4,
	[KN_JOINT_FREE] = 0,    [KN_JOINT_FIXED] = 7,
};

static bool turnsFreely(knJointKind kind) {
	return kind == KN_JOINT_BALL || kind == KN_JOINT_FREE;
}

// Anywhere along the free slides; `gap` away from them along the locked ones.
static knVec3 tornPosition(knJointKind kind, double gap, knTestRandom* random) {
	knVec3 slide = testVec3(random, 2.0), torn = testUnit3(random);
	for (int k = 0; k < 3; ++k) {
		bool locked = LOCKED_SLIDES[kind] >> k & 1;
		knSetComponent(locked ? &slide : &torn, k, 0.0);
	}
	return knMulAdd(slide, gap, knNormalize(torn));
}

static knVec3 acrossAxis(knVec3 axis, knTestRandom* random) {
	return knNormalize(knCross(axis, testUnit3(random)));
}

// Anywhere along the free turns; turned by `angle` from the closest such rotation. A turn about an axis at
// right angles to a free one leaves no better choice of the free one.
static knQuat tornRotation(knJointKind kind, double angle, knTestRandom* random) {
	double a = testUniform(random, -3.0, 3.0), b = testUniform(random, -3.0, 3.0);
	switch (kind) {
	case KN_JOINT_BALL:
	case KN_JOINT_FREE:
		return testQuat(random);
	case KN_JOINT_HINGE:
	case KN_JOINT_CYLINDER:
		return knMulQ(knQuat_FromAxisAngle(acrossAxis(X, random), angle), knQuat_FromAxisAngle(X, a));
	case KN_JOINT_PLANAR:
		return knMulQ(knQuat_FromAxisAngle(acrossAxis(Z, random), angle), knQuat_FromAxisAngle(Z, a));
	case KN_JOINT_UNIVERSAL:
		return knMulQ(knMulQ(knQuat_FromAxisAngle(X, a), knQuat_FromAxisAngle(Y, angle)),
					  knQuat_FromAxisAngle(Z, b));
	default:
		return knQuat_FromAxisAngle(testUnit3(random), angle);
	}
}

static void tornJointsShowTheTear(void** state) {
	(void)state;
	// nothing, a hair, a lot
	const double gaps[] = { 0.0, 1e-6, 0.3 }, angles[] = { 0.0, 1e-6, 0.8 };
	for (int kind = 0; kind < KN_JOINT_CUSTOM; ++kind) {
		Pair pair = makePair(knJointDef_Default((knJointKind)kind), 100 + (uint64_t)kind);
		knTestRandom random = { 200 + (uint64_t)kind };
		for (int k = 0; k < 9 * 4; ++k) {
			double gap = gaps[k % 3], angle = angles[k / 3 % 3];
			knFrame J = knMakeFrame(tornPosition((knJointKind)kind, gap, &random),
									tornRotation((knJointKind)kind, angle, &random));
			double distance = LOCKED_SLIDES[kind] != 0 ? gap : 0.0;
			assertError(measureAt(&pair, J), distance, turnsFreely((knJointKind)kind) ? 0.0 : angle, 1e-13);
		}
		testSystemFree(&pair.system);
	}
}

// A user's joint: a point on a sphere of radius 1.
static void customJointIsMeasuredByItsProjection(void** state) {
	(void)state;
	knJointDef def = knJointDef_Default(KN_JOINT_CUSTOM);
	def.custom = testSphereJoint;
	Pair pair = makePair(def, 5);
	knTestRandom random = { 6 };
	const double radii[] = { 1.0, 1.0 + 1e-6, 1.7, 0.4 };
	for (int k = 0; k < 4; ++k) {
		knFrame J = knMakeFrame(knScale(radii[k], testUnit3(&random)), testQuat(&random));
		assertError(measureAt(&pair, J), fabs(radii[k] - 1.0), 0.0, 1e-13);
	}
	testSystemFree(&pair.system);
}

// --- limits ----------------------------------------------------------------------------------------------

static knJointDef limitedDef(knJointKind kind, int axis, double lower, double upper) {
	knJointDef def = knJointDef_Default(kind);
	def.axis[axis].limited = true;
	def.axis[axis].lower = lower;
	def.axis[axis].upper = upper;
	return def;
}

static knFrame turned(knVec3 axis, double angle) {
	return knMakeFrame(knZero3(), knQuat_FromAxisAngle(axis, angle));
}

static knFrame moved(double x, double y, double z) {
	return knMakeFrame(knV3(x, y, z), knIdentityQ());
}

static void turnBeyondALimitIsAnError(void** state) {
	(void)state;
	knJointDef hinge = limitedDef(KN_JOINT_HINGE, 0, -0.5, 0.7);
	assertError(measureOnce(hinge, turned(X, 0.69)), 0.0, 0.0, 1e-13);
	assertError(measureOnce(hinge, turned(X, -0.49)), 0.0, 0.0, 1e-13);
	assertError(measureOnce(hinge, turned(X, 0.7 + 1e-6)), 0.0, 1e-6, 1e-13);
	assertError(measureOnce(hinge, turned(X, 0.9)), 0.0, 0.2, 1e-13);
	assertError(measureOnce(hinge, turned(X, -0.8)), 0.0, 0.3, 1e-13);
	assertError(measureOnce(limitedDef(KN_JOINT_CYLINDER, 1, -0.5, 0.7), turned(X, 0.9)), 0.0, 0.2, 1e-13);
	assertError(measureOnce(limitedDef(KN_JOINT_PLANAR, 2, -0.5, 0.7), turned(Z, -0.8)), 0.0, 0.3, 1e-13);
	assertError(measureOnce(limitedDef(KN_JOINT_UNIVERSAL, 0, -0.5, 0.7), turned(X, 0.9)), 0.0, 0.2, 1e-13);
	assertError(measureOnce(limitedDef(KN_JOINT_UNIVERSAL, 1, -0.5, 0.7), turned(Z, 0.9)), 0.0, 0.2, 1e-13);

	// equal bounds lock the axis
	knJointDef locked = limitedDef(KN_JOINT_HINGE, 0, 0.25, 0.25);
	assertError(measureOnce(locked, turned(X, 0.25)), 0.0, 0.0, 1e-13);
	assertError(measureOnce(locked, turned(X, 0.25 - 1e-6)), 0.0, 1e-6, 1e-13);
}

static void slideBeyondALimitIsAnError(void** state) {
	(void)state;
	knJointDef slider = limitedDef(KN_JOINT_SLIDER, 0, -0.2, 1.1);
	assertError(measureOnce(slider, moved(1.0, 0.0, 0.0)), 0.0, 0.0, 1e-13);
	assertError(measureOnce(slider, moved(1.1 + 1e-6, 0.0, 0.0)), 1e-6, 0.0, 1e-13);
	assertError(measureOnce(slider, moved(-0.5, 0.0, 0.0)), 0.3, 0.0, 1e-13);
	// with a gap across: 0.4 beyond, 0.3 beside
	assertError(measureOnce(slider, moved(1.5, 0.3, 0.0)), 0.5, 0.0, 1e-13);
	assertError(measureOnce(limitedDef(KN_JOINT_CYLINDER, 0, -0.2, 1.1), moved(1.5, 0.0, 0.3)), 0.5, 0.0,
				1e-13);

	knJointDef plane = limitedDef(KN_JOINT_SLIDER2, 0, -0.1, 0.1);
	plane.axis[1] = plane.axis[0];
	assertError(measureOnce(plane, moved(0.4, -0.5, 0.0)), 0.5, 0.0, 1e-13);
	knJointDef magnet = limitedDef(KN_JOINT_PLANAR, 0, -0.1, 0.1);
	magnet.axis[1] = magnet.axis[0];
	assertError(measureOnce(magnet, moved(0.4, -0.5, 0.0)), 0.5, 0.0, 1e-13);
	knJointDef box = limitedDef(KN_JOINT_SLIDER3, 2, -0.1, 0.1);
	assertError(measureOnce(box, moved(3.0, -3.0, 0.35)), 0.25, 0.0, 1e-13);
}

static void swingAndTwistOfABallBeyondTheirLimitsAreErrors(void** state) {
	(void)state;
	knJointDef cone = knJointDef_Default(KN_JOINT_BALL);
	cone.coneLimited = true;
	cone.coneY = cone.coneZ = 0.6;
	knVec3 across = knNormalize(knV3(0.0, 1.0, -2.0));
	assertError(measureOnce(cone, turned(across, 0.59)), 0.0, 0.0, 1e-11);
	assertError(measureOnce(cone, turned(across, 0.9)), 0.0, 0.3, 1e-11);
	// turning about its own axis does not matter to a cone
	knFrame spun =
		knMakeFrame(knZero3(), knMulQ(knQuat_FromAxisAngle(across, 0.9), knQuat_FromAxisAngle(X, 2.0)));
	assertError(measureOnce(cone, spun), 0.0, 0.3, 1e-11);
	// an ellipse: each half axis has its own bound
	cone.coneZ = 0.4;
	assertError(measureOnce(cone, turned(Y, 0.9)), 0.0, 0.3, 1e-11);
	assertError(measureOnce(cone, turned(Z, 0.9)), 0.0, 0.5, 1e-11);

	knJointDef twist = knJointDef_Default(KN_JOINT_BALL);
	twist.twistLimited = true;
	twist.twistLower = -0.2;
	twist.twistUpper = 0.1;
	assertError(measureOnce(twist, turned(X, 0.09)), 0.0, 0.0, 1e-11);
	assertError(measureOnce(twist, turned(X, 0.5)), 0.0, 0.4, 1e-11);
	assertError(measureOnce(twist, turned(X, -0.5)), 0.0, 0.3, 1e-11);
	assertError(measureOnce(twist, turned(across, 1.0)), 0.0, 0.0, 1e-11);
}

// Poses look the same after a full turn; the state remembers how often the hinge went round.
static void limitsCountTurns(void** state) {
	(void)state;
	Pair pair = makePair(limitedDef(KN_JOINT_HINGE, 0, -1.0, 10.0), 9);
	double* angle = &pair.system.state.q[pair.system.model->joints[0].qOffset];
	*angle = 9.9;
	assertError(measureAt(&pair, turned(X, 10.3)), 0.0, 0.3, 1e-13);
	*angle = 9.9 - 2.0 * KN_PI;
	assertError(measureAt(&pair, turned(X, 10.3)), 0.0, 0.0, 1e-13);
	testSystemFree(&pair.system);
}

// --- all joints ------------------------------------------------------------------------------------------

// Gaps of 0.1 (authored), 0.2 (disabled) and 0.6 (attached).
static void enabledJointsCountAttachedOnesToo(void** state) {
	(void)state;
	knScene* scene = testScene(2);
	knBodyId bodies[4];
	for (int b = 0; b < 4; ++b) {
		bodies[b] = testBody(scene, KN_BODY_DYNAMIC, 1.0, knZero3(), knV3(1.0, 1.0, 1.0));
	}
	knJointDef def = knJointDef_Default(KN_JOINT_FIXED);
	def.child = bodies[0];
	assert_false(KN_ID_IS_NULL(knScene_AddJoint(scene, &def, NULL)));
	def.child = bodies[1];
	def.enabled = false;
	assert_false(KN_ID_IS_NULL(knScene_AddJoint(scene, &def, NULL)));
	knTestSystem system = testCompile(scene);
	def.child = bodies[2];
	def.parent = bodies[3];
	int attached = testAttach(&system, 1, &def);
	testPlace(&system, bodies[0], moved(0.1, 0.0, 0.0));
	testPlace(&system, bodies[1], moved(0.0, 0.2, 0.0));
	testPlace(&system, bodies[2], knMakeFrame(knV3(0.0, 0.0, 5.0), knQuat_FromAxisAngle(Y, 0.25)));
	testPlace(&system, bodies[3], moved(0.0, 0.0, 5.6));

	knMeasures all = knMeasure_All(system.model, &system.state, NULL);
	assert_near(all.jointError, 0.6, 1e-15);
	assert_near(all.jointErrorMean, 0.35, 1e-15);
	assert_near(all.jointAngleError, 0.25, 1e-15);
	assertError(knMeasure_Joint(system.model, &system.state, attached), 0.6, 0.25, 1e-15);

	system.state.joint[attached].enabled = 0;
	system.state.joint[1].enabled = 1;
	all = knMeasure_All(system.model, &system.state, NULL);
	assert_near(all.jointError, 0.2, 1e-15);
	assert_near(all.jointErrorMean, 0.15, 1e-15);
	assert_near(all.jointAngleError, 0.0, 1e-15);

	// an empty slot is no joint
	system.state.joint[attached].inUse = 0;
	assertError(knMeasure_Joint(system.model, &system.state, attached), 0.0, 0.0, 0.0);
	system.state.joint[0].enabled = system.state.joint[1].enabled = 0;
	all = knMeasure_All(system.model, &system.state, NULL);
	assert_true(all.jointError == 0.0 && all.jointErrorMean == 0.0 && all.finite);
	testSystemFree(&system);
}

static void brokenPoseIsNotHiddenBySoundOnes(void** state) {
	(void)state;
	knScene* scene = testScene(0);
	knJointDef def = knJointDef_Default(KN_JOINT_BALL);
	for (int b = 0; b < 3; ++b) {
		def.child = testBody(scene, KN_BODY_DYNAMIC, 1.0, knZero3(), knV3(1.0, 1.0, 1.0));
		assert_false(KN_ID_IS_NULL(knScene_AddJoint(scene, &def, NULL)));
	}
	knTestSystem system = testCompile(scene);
	assert_true(knMeasure_All(system.model, &system.state, NULL).finite);
	system.state.pose[2].p.y = NAN;
	knMeasures all = knMeasure_All(system.model, &system.state, NULL);
	assert_true(isnan(all.jointError));
	assert_false(all.finite);
	testSystemFree(&system);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tornJointsShowTheTear),
		cmocka_unit_test(customJointIsMeasuredByItsProjection),
		cmocka_unit_test(turnBeyondALimitIsAnError),
		cmocka_unit_test(slideBeyondALimitIsAnError),
		cmocka_unit_test(swingAndTwistOfABallBeyondTheirLimitsAreErrors),
		cmocka_unit_test(limitsCountTurns),
		cmocka_unit_test(enabledJointsCountAttachedOnesToo),
		cmocka_unit_test(brokenPoseIsNotHiddenBySoundOnes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
