// Displacement: the largest distance of a moving body's centre from where it started.
#include "measure_test.h"

static void largestDistanceOfAMovingBodyCounts(void** state) {
	(void)state;
	knScene* scene = testScene(0);
	knBodyId dynamic = testBody(scene, KN_BODY_DYNAMIC, 1.0, knV3(1.0, 0.0, 0.0), knV3(1.0, 1.0, 1.0));
	knBodyId scripted = testBody(scene, KN_BODY_KINEMATIC, 1.0, knZero3(), knV3(1.0, 1.0, 1.0));
	knBodyId fixed = testBody(scene, KN_BODY_FIXED, 1.0, knZero3(), knV3(1.0, 1.0, 1.0));
	knTestSystem system = testCompile(scene);
	assert_true(knMeasure_Displacement(system.model, &system.state, NULL) == 0.0);

	testPlace(&system, dynamic, knMakeFrame(knV3(1e-6, 0.0, 0.0), knIdentityQ()));
	assert_near(knMeasure_Displacement(system.model, &system.state, NULL), 1e-6, 1e-15);
	// a half turn of the body about its origin carries its centre from x = 1 to x = -1
	testPlace(&system, dynamic, knMakeFrame(knZero3(), knQ(0.0, 0.0, 0.0, 1.0)));
	assert_near(knMeasure_Displacement(system.model, &system.state, NULL), 2.0, 1e-15);
	testPlace(&system, scripted, knMakeFrame(knV3(0.0, -3.0, 4.0), knIdentityQ()));
	assert_near(knMeasure_Displacement(system.model, &system.state, NULL), 5.0, 1e-15);
	testPlace(&system, fixed, knMakeFrame(knV3(100.0, 0.0, 0.0), knIdentityQ()));
	assert_near(knMeasure_Displacement(system.model, &system.state, NULL), 5.0, 1e-15);
	testSystemFree(&system);
}

static void countsFromAGivenStart(void** state) {
	(void)state;
	knScene* scene = testScene(0);
	testBody(scene, KN_BODY_DYNAMIC, 1.0, knZero3(), knV3(1.0, 1.0, 1.0));
	knTestSystem system = testCompile(scene);
	knVec3 initial[2] = { knZero3(), knV3(0.0, 0.0, 7.0) };
	assert_near(knMeasure_All(system.model, &system.state, initial).displacement, 7.0, 1e-15);
	assert_near(knMeasure_All(system.model, &system.state, NULL).displacement, 0.0, 0.0);
	testSystemFree(&system);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(largestDistanceOfAMovingBodyCounts),
		cmocka_unit_test(countsFromAGivenStart),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
