// Shock propagation after the sweeps, and the pass that carries loads down before them.
#include "contact_step.h"

#define H 0.01
#define G 9.81

static knScene* newStack(int boxes) {
	knScene* scene = newScene(earth);
	newGround(scene, material(0.5, 0.0));
	for (int i = 0; i < boxes; ++i) {
		newBox(scene, knV3(0.0, 0.0, 0.5 + i), knV3(0.5, 0.5, 0.5), material(0.5, 0.0));
	}
	return scene;
}

static void passLevels(knImpulseStep* step) {
	knShockPropagation shock = { .groups = &step->m.known, .friction = KN_SWEEP_CONE, .chosenSweeps = -1 };
	assert_true(knShockPropagation_Run(&shock));
}

// Shock propagation after sweeps that may be wrong by anything.
static void propagate(knImpulseStep* step) {
	assert_true(knContactGroups_Find(&step->m.known));
	passLevels(step);
}

static double fastest(const knImpulseStep* step) {
	double speed = 0.0;
	for (int b = 0; b < step->m.model->bodyCount; ++b) {
		speed = knMax(speed, knLength(step->m.blocks.u[b].lin) + knLength(step->m.blocks.u[b].ang));
	}
	return speed;
}

// What the sweeps have solved, the pass leaves alone: it has the same fixed points.
static void test_same_fixed_point(void** state) {
	(void)state;
	ContactStep c;
	openContactStep(&c, newStack(4), H);
	sweepPoints(&c, 2000);
	const double before = fastest(&c.step);
	assert_true(before < 1e-9);
	propagate(&c.step);
	assert_true(fastest(&c.step) <= before + 1e-12);
	closeContactStep(&c);
}

// A stack at rest whose boxes are jolted a little, each differently: with what is below frozen most of that is gone at once.
static void test_calms(void** state) {
	(void)state;
	ContactStep c;
	openContactStep(&c, newStack(6), H);
	sweepPoints(&c, 2000);
	uint64_t series = 5;
	disturb(&c.step, &series, 1e-3);
	const double before = kineticFrom(&c.step, knZero3());
	propagate(&c.step);
	assert_true(kineticFrom(&c.step, knZero3()) < 1e-6 * before);
	closeContactStep(&c);
}

// A block as heavy as a stack of bricks sinks on it: the bricks are brought to rest all the same. (Seen from the centre of
// mass, which sinks with the block, bricks at rest are those with energy.)
static void test_calms_under_a_heavy_block(void** state) {
	(void)state;
	knScene* scene = newStack(8);
	knShapeDef dense = material(0.5, 0.0);
	dense.density *= 100.0;
	knBodyId block = newBox(scene, knV3(0.0, 0.0, 8.5), knV3(0.5, 0.5, 0.5), dense);
	ContactStep c;
	openContactStep(&c, scene, H);
	sweepPoints(&c, 5000);
	uint64_t series = 5;
	disturb(&c.step, &series, 1e-3);
	c.step.m.blocks.u[bodyOf(&c, block)].lin.z = -0.1;
	propagate(&c.step);
	assert_true(fastest(&c.step) < 1e-4);
	closeContactStep(&c);
}

// A box that comes down on another, farther from it than it may go in a step: it is stopped where they meet, although most of
// its speed is left.
static void test_gap_is_closed_not_crossed(void** state) {
	(void)state;
	knScene* scene = newStack(3);
	const double gap = 0.013;
	knBodyDef def = knBodyDef_Default();
	def.frame.p = knV3(0.0, 0.0, 3.5 + gap);
	def.velocity = knV3(0.0, 0.0, -1.7);
	knBodyId falling = newBody(scene, &def);
	knShapeDef shape = material(0.5, 0.0);
	assert_false(KN_ID_IS_NULL(knScene_AddBox(scene, falling, knV3(0.5, 0.5, 0.5), &shape, NULL)));
	ContactStep c;
	openContactStep(&c, scene, H);
	propagate(&c.step);
	assert_near(c.step.m.blocks.u[bodyOf(&c, falling)].lin.z, -gap / H, 1e-6);
	closeContactStep(&c);
}

// What the sweeps are sure of is given back: after sweeps that changed nothing any more a disturbance counts as motion, and
// after ones that changed a thousandth of it as well; not if they changed more than half of it.
static void test_gives_back_what_is_real(void** state) {
	(void)state;
	const double changed[] = { 1e-12, 1e-6, 1e-3 };
	for (int trial = 0; trial < 3; ++trial) {
		ContactStep c;
		openContactStep(&c, newStack(4), H);
		sweepPoints(&c, 2000);
		uint64_t series = 5;
		disturb(&c.step, &series, 1e-3);
		const double before = kineticFrom(&c.step, knZero3());
		assert_true(knContactGroups_Find(&c.step.m.known));
		for (int b = 0; b < c.step.m.model->bodyCount; ++b) {
			c.step.m.known.facts[b].change = changed[trial] * changed[trial];
		}
		passLevels(&c.step);
		const double share = kineticFrom(&c.step, knZero3()) / before;
		assert_true(trial < 2 ? share == 1.0 : share < 1e-6);
		closeContactStep(&c);
	}
}

// Whatever a pile does: the pass never puts energy into it, as seen from the ground.
static void test_takes_energy_only(void** state) {
	(void)state;
	uint64_t series = 3;
	for (int trial = 0; trial < 30; ++trial) {
		knScene* scene = newScene(earth);
		newGround(scene, material(0.5, 0.0));
		for (int row = 0; row < 3; ++row) {
			for (int i = 0; i < 3 - row; ++i) {
				newBox(scene, knV3(1.05 * (i + 0.5 * row), 0.0, 0.5 + row), knV3(0.5, 0.5, 0.5),
					   material(0.5, 0.0));
			}
		}
		ContactStep c;
		openContactStep(&c, scene, H);
		sweepPoints(&c, 1 + trial % 3);
		disturb(&c.step, &series, trial % 2 == 0 ? 0.01 : 1.0);
		const double before = kineticFrom(&c.step, knZero3());
		propagate(&c.step);
		assert_true(kineticFrom(&c.step, knZero3()) <= before * (1.0 + 1e-12));
		closeContactStep(&c);
	}
}

// A plank on two blocks, of which one rises: the supports would throw it, so it keeps its velocity. Beside it a block falls on
// another one of the group: that is stopped, so the pass as a whole is of use.
static void test_supports_are_no_hammers(void** state) {
	(void)state;
	knScene* scene = newScene(earth);
	newGround(scene, material(0.0, 0.0));
	knBodyId left = newBox(scene, knV3(-1.0, 0.0, 0.5), knV3(0.5, 0.5, 0.5), material(0.0, 0.0));
	newBox(scene, knV3(1.0, 0.0, 0.5), knV3(0.5, 0.5, 0.5), material(0.0, 0.0));
	knBodyId plank = newBox(scene, knV3(0.0, 0.0, 1.1), knV3(1.5, 0.5, 0.1), material(0.0, 0.0));
	newBox(scene, knV3(2.0, 0.0, 0.5), knV3(0.5, 0.5, 0.5), material(0.0, 0.0));
	knBodyId falling = newBox(scene, knV3(2.0, 0.0, 1.5), knV3(0.5, 0.5, 0.5), material(0.0, 0.0));
	ContactStep c;
	openContactStep(&c, scene, H);
	sweepPoints(&c, 500);
	c.step.m.blocks.u[bodyOf(&c, falling)].lin.z = -5.0;
	const int up = bodyOf(&c, left), top = bodyOf(&c, plank);
	// the plank already moves as its supports do on average; the blow of the left one would tilt it
	c.step.m.blocks.u[up].lin.z = 2.0;
	c.step.m.blocks.u[top].lin.z = 1.0;
	const knTwist before = c.step.m.blocks.u[top];
	propagate(&c.step);
	assert_memory_equal(&before, &c.step.m.blocks.u[top], sizeof(before));
	assert_near(c.step.m.blocks.u[bodyOf(&c, falling)].lin.z, 0.0, 1e-6);
	closeContactStep(&c);
}

// What floats, and what has joints, is left alone to the bit.
static void test_free_and_jointed_groups(void** state) {
	(void)state;
	knScene* scene = newScene(earth);
	newGround(scene, material(0.5, 0.0));
	knBodyId ids[4];
	for (int i = 0; i < 2; ++i) {
		ids[i] = newBox(scene, knV3(0.0, 0.0, 20.5 + i), knV3(0.5, 0.5, 0.5), material(0.5, 0.0));
		ids[2 + i] = newBox(scene, knV3(5.0, 0.0, 0.5 + 1.0 * i), knV3(0.5, 0.5, 0.5), material(0.5, 0.0));
	}
	knJointDef joint =
		jointAt(scene, KN_JOINT_BALL, ids[2], ids[3], knV3(5.0, 0.0, 1.0), knV3(0.0, 0.0, 1.0));
	newJoint(scene, &joint);
	ContactStep c;
	openContactStep(&c, scene, H);
	uint64_t series = 11;
	disturb(&c.step, &series, 0.5);
	sweepPoints(&c, 2);
	knTwist before[4];
	for (int i = 0; i < 4; ++i) {
		before[i] = c.step.m.blocks.u[bodyOf(&c, ids[i])];
	}
	propagate(&c.step);
	for (int i = 0; i < 4; ++i) {
		assert_memory_equal(&before[i], &c.step.m.blocks.u[bodyOf(&c, ids[i])], sizeof(before[i]));
	}
	closeContactStep(&c);
}

// --- the load --------------------------------------------------------------------------------------------------

// Sixty boxes: from nothing, one pass finds what every level carries, and all stand still. Two such stacks are two groups.
static void test_load_of_a_stack(void** state) {
	(void)state;
	knScene* scene = newStack(60);
	for (int i = 0; i < 20; ++i) {
		newBox(scene, knV3(5.0, 0.0, 0.5 + i), knV3(0.5, 0.5, 0.5), material(0.5, 0.0));
	}
	ContactStep c;
	openContactStep(&c, scene, H);
	const knVec3 start = momentumOf(&c.step);
	assert_true(knShockLoad_Run(&c.step.m.known));
	const double weight = 1000.0 * G * H;
	knVec3 given = knZero3();
	for (int i = 0; i < c.step.m.pairCount; ++i) {
		const knShapePair* pair = &c.step.m.pairs[i];
		double carried = 0.0;
		for (int k = pair->first; k < pair->first + pair->count; ++k) {
			const knSweepPoint* p = &c.step.m.contacts.points[k];
			carried += p->lambda[0];
			if (c.step.m.blocks.invMass[pair->a] == 0.0 || c.step.m.blocks.invMass[pair->b] == 0.0) {
				given = knMulAdd(given, c.step.m.blocks.invMass[pair->a] == 0.0 ? 1.0 : -1.0,
								 knScale(p->lambda[0], p->n));
			}
		}
		const knFrame* pose = c.step.m.state->pose;
		const double z = knMin(c.step.m.blocks.invMass[pair->a] > 0.0 ? pose[pair->a].p.z : -0.5,
							   c.step.m.blocks.invMass[pair->b] > 0.0 ? pose[pair->b].p.z : -0.5);
		const bool tall = knAbs(pose[c.step.m.blocks.invMass[pair->b] > 0.0 ? pair->b : pair->a].p.x) < 1.0;
		const double above = (tall ? 60.0 : 20.0) - (z + 0.5);
		assert_near(carried, above * weight, 1e-4 * above * weight);
	}
	assert_true(fastest(&c.step) < 1e-4 * G * H * 60.0);
	// equal and opposite: what the piles gained is what the ground gave
	assert_near3(momentumOf(&c.step), knAdd(start, given), 1e-9 * knLength(start));
	closeContactStep(&c);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_fixed_point),          cmocka_unit_test(test_calms),
		cmocka_unit_test(test_calms_under_a_heavy_block), cmocka_unit_test(test_gap_is_closed_not_crossed),
		cmocka_unit_test(test_gives_back_what_is_real),   cmocka_unit_test(test_takes_energy_only),
		cmocka_unit_test(test_supports_are_no_hammers),   cmocka_unit_test(test_free_and_jointed_groups),
		cmocka_unit_test(test_load_of_a_stack),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
