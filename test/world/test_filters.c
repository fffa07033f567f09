// Who touches whom in a world: groups, masks, excluded pairs, jointed neighbours, links of one body; slow and fast.
#include "world/fixture.h"

static const char* const steppers[2] = { "velocity", "impulse" };

static knWorld* worldOf(knScene* scene, const char* stepper) {
	knWorldDef def = knWorldDef_Default();
	def.stepper = stepper;
	return newWorldWith(scene, &def);
}

typedef enum Rule { RULE_NONE, RULE_MASK, RULE_GROUP, RULE_BOTH, RULE_EXCLUDED, RULE_JOINT, RULE_COUNT } Rule;

// A ball at `speed` towards a fixed plate, under a rule; true if it got past it.
static bool getsPast(Rule rule, double speed, const char* stepper) {
	knScene* scene = newScene(noGravity);
	knError error = { 0 };
	knShapeDef ball = material(0.0, 0.0), plate = material(0.0, 0.0);
	if (rule == RULE_MASK) {
		ball.filter.category = 2;
		plate.filter.mask = ~UINT64_C(2);
	} else if (rule == RULE_GROUP) {
		ball.filter.group = plate.filter.group = -3;
	} else if (rule == RULE_BOTH) {
		// a common positive group overrules masks
		ball.filter = plate.filter = (knFilter){ .category = 1, .mask = 0, .group = 3 };
	}
	knBodyId bullet = newBall(scene, knV3(-0.5, 0.0, 0.0), 0.1, knV3(speed, 0.0, 0.0), ball);
	knBodyDef def = knBodyDef_Default();
	def.kind = KN_BODY_FIXED;
	knBodyId wall = newBody(scene, &def);
	assert_false(KN_ID_IS_NULL(knScene_AddBox(scene, wall, knV3(0.05, 2.0, 2.0), &plate, &error)));
	if (rule == RULE_EXCLUDED) {
		assert_ok(knScene_ExcludePair(scene, bullet, wall, &error));
	} else if (rule == RULE_JOINT) {
		knJointDef slider = jointAt(scene, KN_JOINT_SLIDER, wall, bullet, knZero3(), knV3(1.0, 0.0, 0.0));
		newJoint(scene, &slider);
	}
	knWorld* world = worldOf(scene, stepper);
	run(world, (int)(1.5 / speed * 100.0) + 2, 0.01);
	bool past = knWorld_BodyCenter(world, bullet).x > 0.5;
	if (past) {
		assert_near(knWorld_BodyVelocity(world, bullet).x, speed, 1e-9 * speed);
	}
	knWorld_Destroy(world);
	return past;
}

static void test_rules_hold_at_every_speed(void** state) {
	(void)state;
	const double speeds[3] = { 1.0, 10.0, 200.0 };
	const bool passes[RULE_COUNT] = { false, true, true, false, true, true };
	for (int s = 0; s < 2; ++s) {
		for (int v = 0; v < 3; ++v) {
			for (int rule = 0; rule < RULE_COUNT; ++rule) {
				if (getsPast((Rule)rule, speeds[v], steppers[s]) != passes[rule]) {
					fail_msg("%s: rule %d at %g m/s", steppers[s], rule, speeds[v]);
				}
			}
		}
	}
}

// Three links in a row, joined end to end; the outer two fold onto each other. They touch, neighbours do not.
static void test_links_of_one_body_touch_but_not_neighbours(void** state) {
	(void)state;
	for (int s = 0; s < 2; ++s) {
		knScene* scene = newScene(noGravity);
		knShapeDef shape = material(0.2, 0.0);
		knBodyId links[3];
		// a U: the middle lies along x, the outer ones stand up from its ends and lean inwards
		links[0] = newBox(scene, knV3(-0.5, 0.0, 0.5), knV3(0.05, 0.05, 0.5), shape);
		links[1] = newBox(scene, knV3(0.0, 0.0, 0.0), knV3(0.5, 0.05, 0.05), shape);
		links[2] = newBox(scene, knV3(0.5, 0.0, 0.5), knV3(0.05, 0.05, 0.5), shape);
		for (int side = 0; side < 2; ++side) {
			double x = side == 0 ? -0.5 : 0.5;
			knJointDef hinge = jointAt(scene, KN_JOINT_HINGE, links[1], links[2 * side], knV3(x, 0.0, 0.0),
									   knV3(0.0, 1.0, 0.0));
			newJoint(scene, &hinge);
			double turn = side == 0 ? 2.0 : -2.0;
			knScene_EditBody(scene, links[2 * side])->angularVelocity = knV3(0.0, turn, 0.0);
			knScene_EditBody(scene, links[2 * side])->velocity = knV3(0.5 * turn, 0.0, 0.0);
		}
		knWorld* world = worldOf(scene, steppers[s]);
		bool outerTouch = false;
		for (int k = 0; k < 150; ++k) {
			run(world, 1, 0.01);
			int count;
			const knContact* contacts = knWorld_Contacts(world, &count);
			for (int i = 0; i < count; ++i) {
				uint32_t a = contacts[i].bodyA.index1, b = contacts[i].bodyB.index1;
				assert_true(a != links[1].index1 && b != links[1].index1);
				outerTouch = outerTouch || knLengthSquared(contacts[i].impulse) > 0.0;
			}
			// the outer links' upper ends never change sides
			knVec3 left = knPoint(knWorld_BodyFrame(world, links[0]), knV3(0.0, 0.0, 0.5));
			knVec3 right = knPoint(knWorld_BodyFrame(world, links[2]), knV3(0.0, 0.0, 0.5));
			assert_true(left.x < right.x);
		}
		assert_true(outerTouch);
		knWorld_Destroy(world);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules_hold_at_every_speed),
		cmocka_unit_test(test_links_of_one_body_touch_but_not_neighbours),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
