// The figure: closed beforehand the joint pushes the ball ahead, closed afterwards it lets the ball through.
#include "scene_test.h"

static void test_pre_pushes(void** state) {
	(void)state;
	Built push = BUILD("push-through", "method", "pre");
	knSceneChecks checks = { 0 };
	stepBuilt(&push, 30, &checks);
	assert_near(checkOf(&checks, "passed"), 0.0, 0.0);
	assert_true(checkOf(&checks, "travelled") > 1.0);
	destroy(&push);
}

static void test_post_lets_through(void** state) {
	(void)state;
	Built push = BUILD("push-through", "method", "post");
	knSceneChecks checks = { 0 };
	stepBuilt(&push, 30, &checks);
	assert_near(checkOf(&checks, "passed"), 1.0, 0.0);
	assert_true(checkOf(&checks, "travelled") < 0.1);
	destroy(&push);
}

// Closing afterwards moves and slows the bars by equal and opposite amounts: momentum stays, and the gap closes.
static void test_post_closes_the_gap(void** state) {
	(void)state;
	Built push = BUILD("push-through", "method", "post");
	knVec3 momentum = knWorld_Measure(push.world).momentum;
	stepBuilt(&push, 30, NULL);
	assert_near3(knWorld_Measure(push.world).momentum, momentum, 1e-9);
	knFrame upper = knWorld_BodyFrame(push.world, knScene_FindBody(push.scene, "upper"));
	knFrame lower = knWorld_BodyFrame(push.world, knScene_FindBody(push.scene, "lower"));
	knVec3 gap = knSub(knPoint(upper, knV3(0.0, -0.5, 0.0)), knPoint(lower, knV3(0.0, 0.5, 0.0)));
	assert_true(knLength(gap) < 0.01);
	destroy(&push);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pre_pushes),
		cmocka_unit_test(test_post_lets_through),
		cmocka_unit_test(test_post_closes_the_gap),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
