// Piles with nine sweeps a step: what must topple does so as if the sweeps were many, what must stand does not move.
#include "contact_step.h"

#define DT 0.01
#define G 9.81
#define FEW 9

static knWorld* worldOf(knScene* scene, int sweeps, int shock) {
	knSettings settings = knSettings_Default();
	settings.sweeps = sweeps;
	settings.shock = shock;
	knWorldDef def = knWorldDef_Default();
	def.stepper = "impulse";
	def.settings = &settings;
	return newWorldWith(scene, &def);
}

// Unit cubes; those of the top third are shifted to the side.
static knScene* newColumn(int boxes, double shift, knBodyId* top) {
	knScene* scene = newScene(earth);
	newGround(scene, material(0.6, 0.0));
	for (int i = 0; i < boxes; ++i) {
		double x = i >= boxes - boxes / 3 ? shift : 0.0;
		*top = newBox(scene, knV3(x, 0.0, 0.5 + i), knV3(0.5, 0.5, 0.5), material(0.6, 0.0));
	}
	return scene;
}

// --- what must topple ----------------------------------------------------------------------------------------

static double wayOfColumn(int boxes, int sweeps, int shock) {
	knBodyId top;
	knWorld* world = worldOf(newColumn(boxes, 0.6, &top), sweeps, shock);
	run(world, 100, DT);
	double way = knWorld_BodyCenter(world, top).x - 0.6;
	knWorld_Destroy(world);
	return way;
}

// Two hundred sweeps without shock propagation are the reference.
static void test_shifted_columns_topple(void** state) {
	(void)state;
	const int boxes[3] = { 8, 13, 20 };
	for (int k = 0; k < 3; ++k) {
		double few = wayOfColumn(boxes[k], FEW, 1), many = wayOfColumn(boxes[k], 200, 0);
		assert_true(many > 0.1);
		assert_near(few, many, 0.02 * many);
	}
}

#define WALL_ROWS 12
#define WALL_BRICKS 4

// Bricks in a bond, those of the top third shifted beyond the face of the wall; too wide to count as a column.
static double wayOfWall(int sweeps, int shock) {
	const knVec3 half = { 0.4, 0.2, 0.125 };
	knScene* scene = newScene(earth);
	newGround(scene, material(0.6, 0.0));
	knBodyId top = { 0 };
	for (int row = 0; row < WALL_ROWS; ++row) {
		double y = row >= WALL_ROWS - WALL_ROWS / 3 ? 0.21 : 0.0;
		for (int i = 0; i < WALL_BRICKS; ++i) {
			top = newBox(scene, knV3(0.8 * i + 0.4 * (row % 2), y, half.z * (2 * row + 1)), half,
						 material(0.6, 0.0));
		}
	}
	knWorld* world = worldOf(scene, sweeps, shock);
	run(world, 50, DT);
	double way = knWorld_BodyCenter(world, top).y - 0.21;
	knWorld_Destroy(world);
	return way;
}

static void test_shifted_wall_gives_way(void** state) {
	(void)state;
	double few = wayOfWall(FEW, 1), many = wayOfWall(500, 0);
	assert_true(many > 0.01);
	assert_near(few, many, 0.15 * many);
}

// --- what must stand -----------------------------------------------------------------------------------------

static void test_columns_stand(void** state) {
	(void)state;
	const int boxes[3] = { 6, 25, 60 };
	for (int k = 0; k < 3; ++k) {
		knBodyId top;
		knWorld* world = worldOf(newColumn(boxes[k], 0.0, &top), FEW, 1);
		knVec3 start = knWorld_BodyCenter(world, top);
		run(world, 100, DT);
		assert_near3(knWorld_BodyCenter(world, top), start, 1e-8);
		knWorld_Destroy(world);
	}
}

#define RING 12
#define RING_LAYERS 10

// A block as heavy as the tower on which it falls from a foot: no brick moves by as much as a tenth of a millimetre.
static void test_block_falls_on_a_tower(void** state) {
	(void)state;
	const knVec3 half = { 0.15, 0.23, 0.125 };
	const double radius = 1.05;
	knScene* scene = newScene(earth);
	newGround(scene, material(0.6, 0.0));
	knBodyId bricks[RING * RING_LAYERS];
	for (int i = 0; i < RING * RING_LAYERS; ++i) {
		int layer = i / RING;
		double angle = 2.0 * KN_PI * (i % RING + 0.5 * (layer % 2)) / RING;
		knBodyDef def = knBodyDef_Default();
		def.frame.p = knV3(radius * knCos(angle), radius * knSin(angle), half.z * (2 * layer + 1));
		def.frame.q = knQuat_FromAxisAngle(knV3(0.0, 0.0, 1.0), angle);
		knShapeDef shape = material(0.6, 0.0);
		bricks[i] = newBody(scene, &def);
		assert_false(KN_ID_IS_NULL(knScene_AddBox(scene, bricks[i], half, &shape, NULL)));
	}
	const double mass = RING * RING_LAYERS * 8.0 * half.x * half.y * half.z,
				 height = 2.0 * half.z * RING_LAYERS;
	knShapeDef heavy = material(0.6, 0.0);
	heavy.density *= mass / (2.6 * 2.6 * 0.5);
	knBodyId block = newBox(scene, knV3(0.0, 0.0, height + 0.3 + 0.25), knV3(1.3, 1.3, 0.25), heavy);
	knWorld* world = worldOf(scene, FEW, 1);
	knVec3 start[RING * RING_LAYERS];
	for (int i = 0; i < RING * RING_LAYERS; ++i) {
		start[i] = knWorld_BodyCenter(world, bricks[i]);
	}
	run(world, 60, DT);
	for (int i = 0; i < RING * RING_LAYERS; ++i) {
		assert_near3(knWorld_BodyCenter(world, bricks[i]), start[i], 1e-4);
	}
	assert_near3(knWorld_BodyVelocity(world, block), knZero3(), 1e-3);
	assert_near(knWorld_BodyCenter(world, block).z, height + 0.25, 1e-3);
	knWorld_Destroy(world);
}

// A plank on two balls on a slope, held by rolling friction alone: what that carries is known from step to step, so one sweep a
// step will do.
static void test_plank_on_balls_stays_on_a_slope(void** state) {
	(void)state;
	knShapeDef rough = material(0.8, 0.0);
	rough.rollingFriction = 0.1;
	knScene* scene = newScene(knV3(0.1 * G, 0.0, -G));
	newGround(scene, rough);
	knBodyId plank = newBox(scene, knV3(0.0, 0.0, 1.1), knV3(2.0, 0.5, 0.1), rough);
	newBall(scene, knV3(-1.0, 0.0, 0.5), 0.5, knZero3(), rough);
	newBall(scene, knV3(1.0, 0.0, 0.5), 0.5, knZero3(), rough);
	knWorld* world = worldOf(scene, 1, 1);
	run(world, 100, DT);
	knVec3 settled = knWorld_BodyCenter(world, plank);
	assert_near3(settled, knV3(0.0, 0.0, 1.1), 1e-3);
	run(world, 200, DT);
	assert_near3(knWorld_BodyCenter(world, plank), settled, 1e-8);
	knWorld_Destroy(world);
}

// --- what is known of groups ---------------------------------------------------------------------------------

// Two columns, one on a lift: each is seen from its own ground, and what moves with the lift has no energy.
static void test_facts_of_groups(void** state) {
	(void)state;
	const knVec3 rise = { 0.3, 0.0, 2.0 };
	knScene* scene = newScene(earth);
	newGround(scene, material(0.5, 0.0));
	knBodyDef def = knBodyDef_Default();
	def.kind = KN_BODY_KINEMATIC;
	def.frame.p = knV3(10.0, 0.0, 0.5);
	def.velocity = rise;
	knBodyId lift = newBody(scene, &def);
	knShapeDef shape = material(0.5, 0.0);
	assert_false(KN_ID_IS_NULL(knScene_AddBox(scene, lift, knV3(2.0, 2.0, 0.5), &shape, NULL)));
	knBodyId boxes[2][3];
	for (int i = 0; i < 3; ++i) {
		boxes[0][i] = newBox(scene, knV3(0.0, 0.0, 0.5 + i), knV3(0.5, 0.5, 0.5), shape);
		boxes[1][i] = newBox(scene, knV3(10.0, 0.0, 1.5 + i), knV3(0.5, 0.5, 0.5), shape);
		knScene_EditBody(scene, boxes[1][i])->velocity = rise;
	}
	ContactStep c;
	openContactStep(&c, scene, DT);
	sweepPoints(&c, 500);
	assert_true(knContactGroups_Find(&c.step.m.known));
	for (int k = 0; k < 2; ++k) {
		const knGroupFacts* facts = &c.step.m.known.facts[c.step.m.islands.group[bodyOf(&c, boxes[k][0])]];
		assert_int_equal(facts->levels, 3);
		assert_int_equal(facts->points, 12);
		assert_false(facts->turns);
		assert_near(facts->mass, 3000.0, 1e-9);
		assert_near3(facts->ground, k == 0 ? knZero3() : rise, 1e-12);
		assert_true(facts->energy < 1e-9);
	}
	closeContactStep(&c);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shifted_columns_topple),
		cmocka_unit_test(test_shifted_wall_gives_way),
		cmocka_unit_test(test_columns_stand),
		cmocka_unit_test(test_block_falls_on_a_tower),
		cmocka_unit_test(test_plank_on_balls_stays_on_a_slope),
		cmocka_unit_test(test_facts_of_groups),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
