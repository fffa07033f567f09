// The search for the time at which two moving geometries meet: it is never late, and its work is bounded however fast
// they turn. Work is counted in rounds and in pairs of boxes that are looked at.
#include "support/kn_test.h"
#include "support/mesh_shapes.h"

#include "collide/time_of_impact.h"
#include "knuckle/query.h"

#define DT 0.1
#define RING 0.3
#define TUBE 0.06
#define REACH (RING + TUBE)
#define SKIN 1e-5
#define NUDGE 0.003
#define LOOKS_A_ROUND 8000

static knGeom* newTorus(int around, int across) {
	knTestMesh mesh = testMeshTorus(RING, TUBE, around, across);
	knMeshDef def = testMeshDef(&mesh);
	knGeom* geom = knGeom_Mesh(&def, NULL, NULL);
	testMeshFree(&mesh);
	assert_non_null(geom);
	return geom;
}

static knTimeOfImpactInput inputOf(const knGeom* a, knFrame frameA, const knGeom* b, knFrame frameB) {
	return (knTimeOfImpactInput){ .a = { a, frameA, frameA.p, knZeroTwist() },
								  .b = { b, frameB, frameB.p, knZeroTwist() },
								  .to = DT,
								  .skin = SKIN,
								  .nudge = NUDGE };
}

static double distanceAt(const knTimeOfImpactInput* in, double time) {
	knClosestPoints closest;
	bool near = knGeom_ClosestPoints(in->a.geom, knMoving_At(&in->a, time), in->b.geom,
									 knMoving_At(&in->b, time), 10.0, &closest);
	return near ? closest.distance : 10.0;
}

// Rings whose spheres do not touch are looked at once, whether they turn by 10 or by 2,000 radians.
static void test_spinners_apart_take_one_round(void** state) {
	(void)state;
	knTestRandom random = { 11 };
	knGeom* torus = newTorus(50, 20);
	for (int trial = 0; trial < 60; ++trial) {
		knVec3 apart = knScale(2.6 * REACH, testUnit3(&random));
		knTimeOfImpactInput in = inputOf(torus, knMakeFrame(knZero3(), testQuat(&random)), torus,
										 knMakeFrame(apart, testQuat(&random)));
		double speed = testUniform(&random, 100.0, 20000.0);
		in.a.motion = knMakeTwist(knScale(speed, testUnit3(&random)), testVec3(&random, 0.1));
		in.b.motion = knMakeTwist(knScale(speed, testUnit3(&random)), testVec3(&random, 0.1));
		knTimeOfImpact meeting;
		assert_false(knTimeOfImpact_Find(&in, &meeting));
		assert_int_equal(meeting.rounds, 1);
		assert_int_equal(meeting.looks, 0);
	}
	knGeom_Release(torus);
}

// Two rings one over the other, 1 mm apart, turn about their common axis; and a ring beside a plane.
static void test_turning_about_the_normal_is_no_approach(void** state) {
	(void)state;
	knGeom *torus = newTorus(50, 20), *plane = knGeom_Plane(NULL, NULL);
	knFrame above = knMakeFrame(knV3(0.0, 0.0, 2.0 * TUBE + 1e-3), knIdentityQ());
	knTimeOfImpactInput in = inputOf(torus, knIdentityF(), torus, above);
	in.a.motion.ang = knV3(0.0, 0.0, 20000.0);
	in.b.motion.ang = knV3(0.0, 0.0, -13000.0);
	knTimeOfImpact meeting;
	assert_false(knTimeOfImpact_Find(&in, &meeting));
	assert_true(meeting.rounds <= 2);
	assert_true(meeting.looks <= 2 * LOOKS_A_ROUND);
	in = inputOf(plane, knIdentityF(), torus, knMakeFrame(knV3(0.0, 0.0, TUBE + 1e-3), knIdentityQ()));
	in.b.motion.ang = knV3(0.0, 0.0, 20000.0);
	assert_false(knTimeOfImpact_Find(&in, &meeting));
	assert_int_equal(meeting.rounds, 1);
	knGeom_Release(torus);
	knGeom_Release(plane);
}

// Anything that turns and flies beside anything: apart up to the time that is found, touching at a hit. The search
// ends within its rounds, each of bounded work.
static void test_never_late_and_bounded(void** state) {
	(void)state;
	enum { KINDS = 5 };
	knTestRandom random = { 12 };
	knGeom* kinds[KINDS] = { newTorus(24, 12), newTorus(50, 20), knGeom_Box(knV3(0.2, 0.05, 0.3), NULL, NULL),
							 knGeom_Capsule(0.05, 0.3, NULL, NULL), knGeom_Cylinder(0.25, 0.05, NULL, NULL) };
	int hits = 0, misses = 0;
	for (int trial = 0; trial < 120; ++trial) {
		const knGeom *a = kinds[testInt(&random, KINDS)], *b = kinds[testInt(&random, KINDS)];
		knFrame frame =
			knMakeFrame(knScale(testUniform(&random, 0.2, 1.0), testUnit3(&random)), testQuat(&random));
		knTimeOfImpactInput in = inputOf(a, knMakeFrame(knZero3(), testQuat(&random)), b, frame);
		double speed = testUniform(&random, 0.0, 300.0);
		in.a.motion = knMakeTwist(knScale(speed, testUnit3(&random)), testVec3(&random, 5.0));
		in.b.motion = knMakeTwist(knScale(speed, testUnit3(&random)), testVec3(&random, 5.0));
		if (distanceAt(&in, 0.0) < 2.0 * SKIN) {
			continue;
		}
		knTimeOfImpact meeting;
		bool found = knTimeOfImpact_Find(&in, &meeting);
		double until = found ? meeting.time : DT;
		assert_true(meeting.rounds <= 500);
		assert_true(meeting.looks <= LOOKS_A_ROUND * meeting.rounds);
		for (int k = 0; k < 40; ++k) {
			assert_true(distanceAt(&in, until * k / 40.0) > -2.0 * NUDGE);
		}
		if (meeting.state == KN_MEETING_HIT) {
			assert_true(distanceAt(&in, meeting.time) < 2.0 * SKIN);
		}
		hits += meeting.state == KN_MEETING_HIT;
		misses += !found;
	}
	assert_true(hits > 15 && misses > 20);
	for (int i = 0; i < KINDS; ++i) {
		knGeom_Release(kinds[i]);
	}
}

// A ring about a pole that it does not touch, turning 300 times: no plane is between them, so it is followed; it is
// given up while both are apart.
static void test_what_hugs_is_given_up(void** state) {
	(void)state;
	knGeom *torus = newTorus(50, 20), *pole = knGeom_Capsule(0.22, 1.0, NULL, NULL);
	knTimeOfImpactInput in =
		inputOf(torus, knMakeFrame(knV3(0.01, 0.0, 0.0), knIdentityQ()), pole, knIdentityF());
	in.a.motion.ang = knV3(0.0, 500.0, 20000.0);
	knTimeOfImpact meeting;
	assert_true(knTimeOfImpact_Find(&in, &meeting));
	assert_true(meeting.rounds <= 500 && meeting.looks <= LOOKS_A_ROUND * meeting.rounds);
	assert_true(meeting.time < DT);
	for (int k = 0; k <= 200; ++k) {
		assert_true(distanceAt(&in, meeting.time * k / 200.0) > -NUDGE);
	}
	knGeom_Release(torus);
	knGeom_Release(pole);
}

// Boxes deep in each other that move as one body: their closest points are off each other's normals, but nothing
// approaches.
static void test_moving_as_one_is_no_hit(void** state) {
	(void)state;
	knTestRandom random = { 14 };
	knGeom* box = knGeom_Box(knV3(0.2, 0.05, 0.3), NULL, NULL);
	for (int trial = 0; trial < 300; ++trial) {
		knFrame frame = knMakeFrame(testVec3(&random, 0.2), testQuat(&random));
		knTimeOfImpactInput in = inputOf(box, knMakeFrame(knZero3(), testQuat(&random)), box, frame);
		knVec3 w = testVec3(&random, 5.0), v = testVec3(&random, 5.0);
		in.a.motion = knMakeTwist(w, v);
		in.b.motion = knMakeTwist(w, knAdd(v, knCross(w, frame.p)));
		in.idle = 1e-9 * (knLength(v) + knLength(w));
		knTimeOfImpact meeting = knTimeOfImpact_Begin(0.0);
		knTimeOfImpact_Follow(&in, 1, &meeting);
		assert_true(meeting.state != KN_MEETING_HIT);
	}
	knGeom_Release(box);
}

// Round by round is the same as at once, to the last bit.
static void test_rounds_add_up(void** state) {
	(void)state;
	knTestRandom random = { 13 };
	knGeom *torus = newTorus(24, 12), *box = knGeom_Box(knV3(0.2, 0.05, 0.3), NULL, NULL);
	for (int trial = 0; trial < 30; ++trial) {
		knTimeOfImpactInput in = inputOf(torus, knMakeFrame(knZero3(), testQuat(&random)), box,
										 knMakeFrame(knScale(0.8, testUnit3(&random)), testQuat(&random)));
		in.a.motion = knMakeTwist(testVec3(&random, 100.0), testVec3(&random, 5.0));
		knTimeOfImpact whole, parts = knTimeOfImpact_Begin(0.0);
		knTimeOfImpact_Find(&in, &whole);
		double before = 0.0;
		while (parts.state == KN_MEETING_OPEN) {
			knTimeOfImpact_Follow(&in, 1, &parts);
			assert_true(parts.time >= before);
			before = parts.time;
		}
		assert_true(parts.state == whole.state && parts.rounds == whole.rounds && parts.looks == whole.looks);
		assert_true(parts.time == whole.time);
		knTimeOfImpact_Follow(&in, 10, &parts);
		assert_int_equal(parts.rounds, whole.rounds);
	}
	knGeom_Release(torus);
	knGeom_Release(box);
}

// A compound beside a mesh is looked at once for each child, not for each triangle.
static void test_compound_beside_a_mesh(void** state) {
	(void)state;
	knGeom *torus = newTorus(50, 20), *ball = knGeom_Sphere(0.05, NULL, NULL);
	knGeomChild children[3];
	for (int i = 0; i < 3; ++i) {
		children[i] = (knGeomChild){ ball, knMakeFrame(knV3(0.1 * i - 0.1, 0.0, 0.0), knIdentityQ()) };
	}
	knGeom* three = knGeom_Compound(children, 3, NULL, NULL);
	knFrame above = knMakeFrame(knV3(0.0, 0.0, 0.3), knIdentityQ());
	knVec3 down = knV3(0.0, 0.0, -2.0);
	int looks[2];
	for (int k = 0; k < 2; ++k) {
		knTimeOfImpactInput in = inputOf(k == 0 ? ball : three, above, torus, knIdentityF());
		in.a.motion = knMakeTwist(knV3(0.0, 30.0, 0.0), down);
		knTimeOfImpact meeting = knTimeOfImpact_Begin(0.0);
		knTimeOfImpact_Follow(&in, 1, &meeting);
		looks[k] = meeting.looks;
	}
	assert_true(looks[1] < 3 * looks[0] + 300);
	knGeom_Release(three);
	knGeom_Release(ball);
	knGeom_Release(torus);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spinners_apart_take_one_round),
		cmocka_unit_test(test_turning_about_the_normal_is_no_approach),
		cmocka_unit_test(test_never_late_and_bounded),
		cmocka_unit_test(test_what_hugs_is_given_up),
		cmocka_unit_test(test_moving_as_one_is_no_hit),
		cmocka_unit_test(test_rounds_add_up),
		cmocka_unit_test(test_compound_beside_a_mesh),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
