// Momentum against point masses and against the invariances that define it.
#include "measure_test.h"

#define BODIES 4

typedef struct Swarm {
	knTestSystem system;
	knBodyId body[BODIES];
	double mass[BODIES];
	knVec3 arm[BODIES]; // six points of mass/6 at +- these along the body's axes
} Swarm;

static Swarm makeSwarm(knTestRandom* random) {
	Swarm swarm;
	knScene* scene = testScene(0);
	for (int b = 0; b < BODIES; ++b) {
		swarm.mass[b] = testUniform(random, 0.5, 5.0);
		swarm.arm[b] = knAdd(knAbs3(testVec3(random, 1.0)), knV3(0.1, 0.1, 0.1));
		knVec3 s = knMulComponents(swarm.arm[b], swarm.arm[b]);
		swarm.body[b] = testBody(scene, KN_BODY_DYNAMIC, swarm.mass[b], testVec3(random, 1.0),
								 knScale(swarm.mass[b] / 3.0, knV3(s.y + s.z, s.z + s.x, s.x + s.y)));
	}
	// who is not dynamic has no part in it
	testBody(scene, KN_BODY_FIXED, 10.0, knZero3(), knV3(1.0, 1.0, 1.0));
	knBodyId scripted = testBody(scene, KN_BODY_KINEMATIC, 10.0, knZero3(), knV3(1.0, 1.0, 1.0));
	swarm.system = testCompile(scene);
	testPlace(&swarm.system, scripted, knMakeFrame(knV3(9.0, 9.0, 9.0), knIdentityQ()));
	testMove(&swarm.system, scripted, knV3(9.0, 9.0, 9.0), knV3(9.0, 9.0, 9.0));
	for (int b = 0; b < BODIES; ++b) {
		testPlace(&swarm.system, swarm.body[b], testFrame(random, 2.0));
		knVec3 velocity = testVec3(random, 3.0);
		testMove(&swarm.system, swarm.body[b], velocity, testVec3(random, 3.0));
	}
	return swarm;
}

// Calls for every point mass.
typedef void PointFn(double mass, knVec3 position, knVec3 velocity, void* context);

static void eachPoint(const Swarm* swarm, PointFn* fn, void* context) {
	for (int b = 0; b < BODIES; ++b) {
		int i = knModel_BodyIndex(swarm->system.model, swarm->body[b]);
		knFrame pose = swarm->system.state.pose[i];
		knTwist v = swarm->system.state.velocity[i];
		for (int k = 0; k < 6; ++k) {
			knVec3 local = knZero3();
			knSetComponent(&local, k / 2, (k % 2 == 0 ? 1.0 : -1.0) * knComponent(swarm->arm[b], k / 2));
			knVec3 r = knRotate(pose.q, local);
			fn(swarm->mass[b] / 6.0, knAdd(pose.p, r), knAdd(v.lin, knCross(v.ang, r)), context);
		}
	}
}

static void addLinear(double mass, knVec3 position, knVec3 velocity, void* context) {
	knMomentum* sum = context;
	sum->mass += mass;
	sum->center = knMulAdd(sum->center, mass, position);
	sum->linear = knMulAdd(sum->linear, mass, velocity);
}

static void addAngular(double mass, knVec3 position, knVec3 velocity, void* context) {
	knMomentum* sum = context;
	sum->angular = knMulAdd(sum->angular, mass, knCross(knSub(position, sum->center), velocity));
}

static void momentumIsThatOfPointMasses(void** state) {
	(void)state;
	knTestRandom random = { 1 };
	for (int round = 0; round < 20; ++round) {
		Swarm swarm = makeSwarm(&random);
		knMomentum expected = { 0 };
		eachPoint(&swarm, addLinear, &expected);
		expected.center = knScale(1.0 / expected.mass, expected.center);
		eachPoint(&swarm, addAngular, &expected);
		knMomentum measured = knMeasure_Momentum(swarm.system.model, &swarm.system.state);
		assert_near(measured.mass, expected.mass, 1e-13);
		assert_near3(measured.center, expected.center, 1e-13);
		assert_near3(measured.linear, expected.linear, 1e-12);
		assert_near3(measured.angular, expected.angular, 1e-12);
		testSystemFree(&swarm.system);
	}
}

// Seen from a moving, shifted and turned place: linear momentum changes by M V, angular momentum about the
// centre only turns.
static void momentumIsInvariant(void** state) {
	(void)state;
	knTestRandom random = { 2 };
	for (int round = 0; round < 20; ++round) {
		Swarm swarm = makeSwarm(&random);
		knState* s = &swarm.system.state;
		knMomentum before = knMeasure_Momentum(swarm.system.model, s);
		knFrame place = testFrame(&random, 5.0);
		knVec3 drift = testVec3(&random, 5.0);
		for (int b = 1; b < swarm.system.model->bodyCount; ++b) {
			s->pose[b] = knMulF(place, s->pose[b]);
			s->velocity[b] = knRotateT(place.q, s->velocity[b]);
			s->velocity[b].lin = knAdd(s->velocity[b].lin, drift);
		}
		knMomentum after = knMeasure_Momentum(swarm.system.model, s);
		assert_near3(after.center, knPoint(place, before.center), 1e-12);
		assert_near3(after.linear, knMulAdd(knRotate(place.q, before.linear), before.mass, drift), 1e-11);
		assert_near3(after.angular, knRotate(place.q, before.angular), 1e-11);
		testSystemFree(&swarm.system);
	}
}

// An impulse pair between two bodies at one point conserves both; one alone is noticed to its last digit.
static void lostImpulseIsNoticed(void** state) {
	(void)state;
	knTestRandom random = { 3 };
	Swarm swarm = makeSwarm(&random);
	knState* s = &swarm.system.state;
	const knModel* model = swarm.system.model;
	int a = knModel_BodyIndex(model, swarm.body[0]), b = knModel_BodyIndex(model, swarm.body[1]);
	knMomentum before = knMeasure_Momentum(model, s);
	knVec3 point = testVec3(&random, 1.0), impulse = testVec3(&random, 1.0);
	for (int side = 0; side < 2; ++side) {
		int i = side == 0 ? a : b;
		knVec3 j = knScale(side == 0 ? -1.0 : 1.0, impulse);
		knMat33 inverse = knRotateTensor(s->pose[i].q, &model->invInertiaLocal[i]);
		knVec3 moment = knCross(knSub(point, s->pose[i].p), j);
		s->velocity[i].lin = knMulAdd(s->velocity[i].lin, model->invMass[i], j);
		s->velocity[i].ang = knAdd(s->velocity[i].ang, knMulMV(&inverse, moment));
		if (side == 0) {
			knMomentum half = knMeasure_Momentum(model, s);
			assert_near3(knSub(half.linear, before.linear), j, 1e-12);
			assert_near3(knSub(half.angular, before.angular), knCross(knSub(point, before.center), j), 1e-12);
		}
	}
	knMomentum after = knMeasure_Momentum(model, s);
	assert_near3(after.linear, before.linear, 1e-12);
	assert_near3(after.angular, before.angular, 1e-12);

	s->velocity[a].lin.x += 1e-6;
	knMomentum torn = knMeasure_Momentum(model, s);
	assert_near(torn.linear.x - after.linear.x, 1e-6 * swarm.mass[0], 1e-14);
	testSystemFree(&swarm.system);
}

static void nothingDynamicHasNoMomentum(void** state) {
	(void)state;
	knScene* scene = testScene(0);
	testBody(scene, KN_BODY_FIXED, 1.0, knZero3(), knV3(1.0, 1.0, 1.0));
	knTestSystem system = testCompile(scene);
	knMeasures all = knMeasure_All(system.model, &system.state, NULL);
	assert_true(all.finite);
	assert_near3(all.momentum, knZero3(), 0.0);
	assert_near3(all.angularMomentum, knZero3(), 0.0);
	assert_near3(all.center, knZero3(), 0.0);
	testSystemFree(&system);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(momentumIsThatOfPointMasses),
		cmocka_unit_test(momentumIsInvariant),
		cmocka_unit_test(lostImpulseIsNoticed),
		cmocka_unit_test(nothingDynamicHasNoMomentum),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
