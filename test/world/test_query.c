// What a body would touch elsewhere.
#include "world/fixture.h"

static void test_collide_body(void** state) {
	(void)state;
	knScene* scene = newScene(noGravity);
	newBall(scene, knV3(3.0, 0.0, 0.0), 0.5, knZero3(), material(0.5, 0.0));
	knBodyDef def = knBodyDef_Default();
	def.hasMass = true;
	def.mass =
		(knMassProps){ .mass = 1.0, .center = { 0.2, 0.0, 0.0 }, .inertia = knDiagonal33(1.0, 1.0, 1.0) };
	knBodyId probe = newBody(scene, &def);
	knShapeDef shape = knShapeDef_Default();
	assert_false(KN_ID_IS_NULL(knScene_AddSphere(scene, probe, 0.5, &shape, NULL)));
	knWorld* world = newWorld(scene);
	uint64_t hash = knWorld_Hash(world);
	int count;
	knFrame at = knMakeFrame(knV3(2.1, 0.0, 0.0), knIdentityQ());
	const knContact* contacts = knWorld_CollideBody(world, probe, at, 0.0, &count);
	assert_int_equal(count, 1);
	assert_near(contacts[0].point.separation, -0.1, 1e-14);
	assert_near3(contacts[0].impulse, knZero3(), 0.0);

	// a margin sees further; the body itself has not moved
	at.p.x = 1.9;
	knWorld_CollideBody(world, probe, at, 0.0, &count);
	assert_int_equal(count, 0);
	contacts = knWorld_CollideBody(world, probe, at, 0.2, &count);
	assert_int_equal(count, 1);
	assert_near(contacts[0].point.separation, 0.1, 1e-14);
	assert_true(knWorld_Hash(world) == hash);
	run(world, 3, 0.01);
	knWorld_Destroy(world);
}

int main(void) {
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_collide_body) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
