// Gaps that say nothing: what is passed over stays open, whatever the two do before they are looked at again, and much is.
#include "support/kn_test.h"
#include "support/mesh_shapes.h"

#include "collide/sdf_target.h"

#define TRIALS 200000

// Whatever turn and slide leave the stop open leaves the gap open as well, to first order in the turn.
static void checkOpen(knTestRandom* random, const knGapCulling* stops, const knCullingContact* gap) {
	const knCullingContact* stop = &stops->items[0];
	for (int k = 0; k < 8; ++k) {
		knVec3 turn = knScale(stops->rule.tilt, testUnit3(random));
		knVec3 slide = knScale(stops->rule.slide, testUnit3(random));
		if (stop->separation + knDot(stop->normal, slide) < 0.0) {
			continue; // that would close the stop
		}
		knVec3 move = knAdd(slide, knCross(turn, knSub(gap->point, stop->point)));
		assert_true(gap->separation + knDot(gap->normal, move) > 0.0);
	}
}

static void test_shut_gaps_stay_open(void** state) {
	(void)state;
	knTestRandom random = { 1 };
	int shut = 0;
	for (int i = 0; i < TRIALS; ++i) {
		double slide = testUniform(&random, 0.0, 0.01), tilt = testUniform(&random, 0.0, 0.2);
		knGapCulling stops = knGapCulling_Make(knCullingRule_Make(tilt, slide, 1.0));
		knVec3 normal = testUnit3(&random);
		knGapCulling_Add(&stops, testVec3(&random, 0.05), normal, testUniform(&random, 0.0, 0.01));
		// a ball of gaps, and one of those that it stands for
		knGap ball = { .center = testVec3(&random, 0.05),
					   .normal = knNormalize(knAdd(normal, testVec3(&random, 0.3))),
					   .radius = testUniform(&random, 0.0, 0.01),
					   .bend = testUniform(&random, 0.0, 0.1),
					   .separation = testUniform(&random, 0.0, 0.03) };
		if (!knGapCulling_Covers(&stops, &ball)) {
			continue;
		}
		knVec3 bent = knNormalize(knMulAdd(ball.normal, 0.5 * ball.bend, testUnit3(&random)));
		knCullingContact one = { knMulAdd(ball.center, ball.radius, testUnit3(&random)), bent,
								 ball.separation };
		assert_true(knDistance(bent, ball.normal) <= ball.bend);
		checkOpen(&random, &stops, &one);
		shut += 1;
	}
	assert_in_range(shut, TRIALS / 100, TRIALS);
}

// What touches is never passed over; nor is what lies behind nothing, or looks another way.
static void test_other_gaps_count(void** state) {
	(void)state;
	knGapCulling stops = knGapCulling_Make(knCullingRule_Make(0.05, 0.001, 1.0));
	knGap gap = { .center = knV3(0.01, 0.0, 0.0), .normal = knV3(0.0, 0.0, 1.0), .separation = 0.01 };
	assert_false(knGapCulling_Covers(&stops, &gap));
	knGapCulling_Add(&stops, knZero3(), knV3(0.0, 0.0, 1.0), -0.001);
	assert_true(knGapCulling_Covers(&stops, &gap));
	gap.separation = 0.0;
	assert_false(knGapCulling_Covers(&stops, &gap));
	gap.separation = 0.01;
	gap.normal = knV3(1.0, 0.0, 0.0);
	assert_false(knGapCulling_Covers(&stops, &gap));
	knGapCulling all = knGapCulling_Make(knCullingRule_Make(INFINITY, INFINITY, 1.0));
	knGapCulling_Add(&all, knZero3(), knV3(0.0, 0.0, 1.0), -1.0);
	gap.normal = knV3(0.0, 0.0, 1.0);
	gap.center = knZero3();
	assert_false(knGapCulling_Covers(&all, &gap));
}

// Of stops beside each other the deepest stays, in any order; seen from the other body they say the same.
static void test_deepest_stop_stays(void** state) {
	(void)state;
	knTestRandom random = { 2 };
	for (int i = 0; i < 1000; ++i) {
		knGapCulling stops = knGapCulling_Make(knCullingRule_Make(0.05, 0.001, 1.0));
		double deepest = INFINITY;
		for (int k = 0; k < 20; ++k) {
			double separation = testUniform(&random, -0.01, 0.01);
			deepest = knMin(deepest, separation);
			knGapCulling_Add(&stops, testVec3(&random, 0.01), knV3(0.0, 0.0, 1.0), separation);
		}
		assert_int_equal(stops.count, 1);
		assert_near(stops.items[0].separation, deepest, 0.0);
		knFrame frame = testFrame(&random, 1.0);
		knGapCulling turned = stops;
		knGapCulling_Turn(&turned, frame);
		knGap gap = { .center = testVec3(&random, 0.1),
					  .normal = knNormalize(knAdd(knV3(0.0, 0.0, 1.0), testVec3(&random, 0.2))),
					  .separation = testUniform(&random, 0.0, 0.01) };
		knGap seen = gap;
		seen.center = knPoint(frame, gap.center);
		seen.normal = knNeg(knRotate(frame.q, gap.normal));
		assert_true(knGapCulling_Covers(&stops, &gap) == knGapCulling_Covers(&turned, &seen));
	}
}

// --- meshes ----------------------------------------------------------------------------------------------------

static int probes; // of the target below
static knSeen (*probeOfMesh)(const knSdfTarget* target, knVec3 point, int nearby);

static knSeen countedProbe(const knSdfTarget* target, knVec3 point, int nearby) {
	probes += 1;
	return probeOfMesh(target, point, nearby);
}

// Contacts of a torus that lies across another, a little above it; with stops or without.
static int collideTori(const knGeom* torus, knFrame frame, knCullingRule rule, double* deepest) {
	knPairInput in = knPairInput_Make(torus, frame, torus, knIdentityF(), 0.02);
	in.looksAhead = true;
	knReducer reducer;
	knReducer_Init(&reducer, torus->mesh->size);
	knSdfTarget target = knSdfTarget_Mesh(torus->mesh, in.margin, torus->mesh->size);
	knSdfTarget_SetWays(&target, &in, false);
	probeOfMesh = target.probe;
	target.probe = countedProbe;
	knGapCulling stops = knGapCulling_Make(rule);
	knContactSink sink = { &reducer, knIdentityF(), false, &stops };
	knSamples samples = { torus->mesh, frame, &target, KN_FEATURE_VERTEX, &sink };
	probes = 0;
	knMeshSamples_Collide(&samples, 1);
	knContactPoint points[KN_MESH_MAX_POINTS];
	int count = knReducer_Finish(&reducer, points);
	*deepest = INFINITY;
	for (int i = 0; i < count; ++i) {
		*deepest = knMin(*deepest, points[i].separation);
	}
	return probes;
}

// Edges beside a deeper contact are not searched; the deepest contact is the same.
static void test_stops_save_probes(void** state) {
	(void)state;
	knTestMesh shape = testMeshTorus(1.0, 0.25, 96, 24);
	knMeshDef def = testMeshDef(&shape);
	knGeom* torus = knGeom_Mesh(&def, NULL, NULL);
	assert_non_null(torus);
	knTestRandom random = { 3 };
	int with = 0, without = 0;
	for (int i = 0; i < 20; ++i) {
		knVec3 place = knV3(testUniform(&random, 0.8, 1.2), testUniform(&random, -0.2, 0.2), 0.5);
		knQuat turn = knQuat_FromAxisAngle(testUnit3(&random), testUniform(&random, -0.02, 0.02));
		knFrame frame = knMakeFrame(place, turn);
		double all, some;
		without += collideTori(torus, frame, knCullingRule_Make(INFINITY, INFINITY, 1.0), &all);
		with += collideTori(torus, frame, knCullingRule_Make(0.05, 0.001, 1.0), &some);
		assert_true(all < 0.02);
		assert_near(some, all, 0.0);
	}
	assert_true(4 * with < 3 * without);
	knGeom_Release(torus);
	testMeshFree(&shape);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shut_gaps_stay_open),
		cmocka_unit_test(test_other_gaps_count),
		cmocka_unit_test(test_deepest_stop_stays),
		cmocka_unit_test(test_stops_save_probes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
