// The measures as users have them, over a world that is torn, pushed and turned by hand.
#include "support/kn_test.h"

#include "knuckle/knuckle.h"

typedef struct Fixture {
	knWorld* world;
	knBodyId left, right;
	knJointId ball;
} Fixture;

// Two boxes of 1 m side by side, a gap of 0.2 m between them; the left one hangs on a ball joint at its top.
static Fixture makeFixture(void) {
	Fixture fixture;
	knSceneDef sceneDef = knSceneDef_Default();
	sceneDef.jointCapacity = 1;
	knScene* scene = knScene_Create(&sceneDef, NULL, NULL);
	assert_non_null(scene);
	knBodyId* bodies[2] = { &fixture.left, &fixture.right };
	for (int b = 0; b < 2; ++b) {
		knBodyDef def = knBodyDef_Default();
		def.frame.p = knV3(1.2 * b, 0.0, 0.0);
		*bodies[b] = knScene_AddBody(scene, &def, NULL);
		assert_false(KN_ID_IS_NULL(knScene_AddBox(scene, *bodies[b], knV3(0.5, 0.5, 0.5), NULL, NULL)));
	}
	knJointDef joint = knJointDef_Default(KN_JOINT_BALL);
	assert_ok(knJointDef_At(&joint, scene, KN_WORLD_BODY, fixture.left, knV3(0.0, 0.0, 0.5),
							knV3(1.0, 0.0, 0.0), NULL));
	fixture.ball = knScene_AddJoint(scene, &joint, NULL);
	assert_false(KN_ID_IS_NULL(fixture.ball));
	knModel* model = knModel_Create(scene, NULL);
	assert_non_null(model);
	fixture.world = knWorld_Create(model, NULL, NULL);
	assert_non_null(fixture.world);
	knModel_Release(model);
	knScene_Destroy(scene);
	return fixture;
}

static knPenetration penetration(knWorld* world) {
	knPenetration result;
	assert_ok(knWorld_MeasurePenetration(world, &result, NULL));
	return result;
}

static void handMadeErrorsAreMeasured(void** state) {
	(void)state;
	Fixture fixture = makeFixture();
	knWorld* world = fixture.world;
	knMeasures all = knWorld_Measure(world);
	assert_true(all.finite);
	assert_near(all.jointError, 0.0, 1e-15);
	assert_near(all.kinetic, 0.0, 0.0);
	assert_near(all.displacement, 0.0, 0.0);
	assert_int_equal(penetration(world).pairs, 0);

	// the left box moves by 0.3 to the right: into the other, away from its pin
	assert_ok(knWorld_SetBodyFrame(world, fixture.left, knMakeFrame(knV3(0.3, 0.0, 0.0), knIdentityQ())));
	assert_ok(knWorld_SetBodyVelocity(world, fixture.right, knV3(0.0, 3.0, 0.0), knZero3()));
	all = knWorld_Measure(world);
	assert_near(all.jointError, 0.3, 1e-15);
	assert_near(all.displacement, 0.3, 1e-15);
	assert_near(all.kinetic, 0.5 * 1000.0 * 9.0, 1e-9);
	assert_near3(all.momentum, knV3(0.0, 3000.0, 0.0), 1e-9);
	assert_near3(all.center, knV3(0.75, 0.0, 0.0), 1e-15);
	assert_near(knWorld_MeasureJoint(world, fixture.ball).distance, 0.3, 1e-15);
	assert_near(penetration(world).max, 0.1, 1e-14);
	knWorld_Destroy(world);
}

// A joint attached at run time is measured by its id, and its two bodies no longer count as penetrating.
static void attachedJointIsMeasured(void** state) {
	(void)state;
	Fixture fixture = makeFixture();
	knWorld* world = fixture.world;
	knJointDef def = knJointDef_Default(KN_JOINT_FIXED);
	def.parent = fixture.left;
	def.child = fixture.right;
	def.frameParent.p = knV3(1.2, 0.0, 0.0);
	knJointId attached = knWorld_Attach(world, &def, NULL);
	assert_false(KN_ID_IS_NULL(attached));
	assert_near(knWorld_MeasureJoint(world, attached).distance, 0.0, 1e-15);
	knQuat turn = knQuat_FromAxisAngle(knV3(0.0, 0.0, 1.0), 0.2);
	assert_ok(knWorld_SetBodyFrame(world, fixture.right, knMakeFrame(knV3(0.7, 0.0, 0.0), turn)));
	assert_near(knWorld_MeasureJoint(world, attached).distance, 0.5, 1e-15);
	assert_near(knWorld_MeasureJoint(world, attached).angle, 0.2, 1e-14);
	assert_near(knWorld_Measure(world).jointError, 0.5, 1e-15);
	assert_int_equal(penetration(world).pairs, 0);
	assert_ok(knWorld_Release(world, attached));
	assert_near(knWorld_Measure(world).jointError, 0.0, 1e-15);
	assert_int_equal(penetration(world).pairs, 1);
	knWorld_Destroy(world);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(handMadeErrorsAreMeasured),
		cmocka_unit_test(attachedJointIsMeasured),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
