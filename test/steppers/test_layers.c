// Groups and published layers of small piles, by hand: walls, planks on unequal pillars, joints.
#include "support/kn_test.h"

#include "steppers/velocity/paper/layers.h"

#define MAX 16

typedef struct Pile {
	double invMass[MAX];
	int bodies;
	knSweepChunk chunks[MAX];
	int contacts;
	knJointEdge joints[MAX];
	int jointCount;
	knArena arena;
	knAllocator allocator;
	knIslands islands;
	knLayers layers;
} Pile;

// Body 0 is the ground.
static void makePile(Pile* pile, int bodies) {
	memset(pile, 0, sizeof(*pile));
	pile->allocator = knAllocator_Default();
	knArena_Init(&pile->arena, &pile->allocator);
	pile->bodies = bodies;
	for (int b = 0; b < bodies; ++b) {
		pile->invMass[b] = b > 0 ? 1.0 : 0.0;
	}
}

static void touch(Pile* pile, int a, int b) {
	pile->chunks[pile->contacts] = (knSweepChunk){ .a = a, .b = b, .first = pile->contacts, .count = 1 };
	pile->contacts += 1;
}

static void build(Pile* pile) {
	assert_true(knIslands_Build(&pile->islands, pile->bodies, pile->invMass, pile->chunks, pile->contacts,
								pile->joints, pile->jointCount, &pile->arena));
	knLayerInput input = { pile->bodies, pile->invMass, pile->chunks, pile->contacts, &pile->islands };
	assert_true(knLayers_Build(&pile->layers, &input, &pile->arena));
}

static void assertHeights(const Pile* pile, const int* heights) {
	for (int b = 0; b < pile->bodies; ++b) {
		assert_int_equal(pile->layers.height[b], heights[b]);
		assert_int_equal(pile->layers.stage[b], heights[b] - 1);
	}
	// every body with a height is listed exactly once, in its layer
	int seen[MAX] = { 0 };
	for (int l = 0; l < pile->layers.count; ++l) {
		for (int i = pile->layers.first[l]; i < pile->layers.first[l + 1]; ++i) {
			assert_int_equal(pile->layers.stage[pile->layers.bodies[i]], l);
			seen[pile->layers.bodies[i]] += 1;
		}
	}
	for (int b = 0; b < pile->bodies; ++b) {
		assert_int_equal(seen[b], heights[b] > 0);
	}
}

static void test_column(void** state) {
	(void)state;
	Pile pile;
	makePile(&pile, 5);
	touch(&pile, 3, 2); // any order, either way round
	touch(&pile, 0, 1);
	touch(&pile, 1, 2);
	touch(&pile, 4, 3);
	build(&pile);
	assertHeights(&pile, (const int[]){ 0, 1, 2, 3, 4 });
	assert_int_equal(pile.layers.count, 4);
	assert_int_equal(pile.layers.ofGroup[1], 4);
	assert_int_equal(knLayers_Between(&pile.layers, 2, 3), 2);
	assert_int_equal(knLayers_Between(&pile.layers, 0, 1), 0);
	knArena_Free(&pile.arena);
}

// Three blocks in a column beside a fixed wall (body 0 too): all have height 1.
static void test_walls_give_height(void** state) {
	(void)state;
	Pile pile;
	makePile(&pile, 4);
	touch(&pile, 0, 1);
	touch(&pile, 1, 2);
	touch(&pile, 2, 3);
	for (int b = 1; b < 4; ++b) {
		touch(&pile, 0, b);
	}
	build(&pile);
	assertHeights(&pile, (const int[]){ 0, 1, 1, 1 });
	knArena_Free(&pile.arena);
}

// A plank (4) on one block (1) and on two thin ones (2, 3): it comes after the lower pillar.
static void test_unequal_supports(void** state) {
	(void)state;
	Pile pile;
	makePile(&pile, 5);
	touch(&pile, 0, 1);
	touch(&pile, 0, 2);
	touch(&pile, 2, 3);
	touch(&pile, 1, 4);
	touch(&pile, 3, 4);
	build(&pile);
	assertHeights(&pile, (const int[]){ 0, 1, 1, 2, 2 });
	knArena_Free(&pile.arena);
}

// Two bodies that touch in the air belong to no layer; they are a group of their own.
static void test_floating_group(void** state) {
	(void)state;
	Pile pile;
	makePile(&pile, 5);
	touch(&pile, 0, 1);
	touch(&pile, 1, 2);
	touch(&pile, 3, 4);
	build(&pile);
	assertHeights(&pile, (const int[]){ 0, 1, 2, 0, 0 });
	const int32_t groups[5] = { -1, 1, 1, 3, 3 };
	assert_memory_equal(pile.islands.group, groups, sizeof(groups));
	assert_true(pile.islands.anchored[1] && !pile.islands.anchored[3] && pile.islands.linked[3]);
	assert_false(pile.islands.jointed[1]);
	knArena_Free(&pile.arena);
}

// Two joined bodies (2, 3) on a block share one height; 4 stands on the second of them.
static void test_joints_make_assemblies(void** state) {
	(void)state;
	Pile pile;
	makePile(&pile, 6);
	touch(&pile, 0, 1);
	touch(&pile, 1, 2);
	touch(&pile, 3, 4);
	pile.joints[pile.jointCount++] = (knJointEdge){ 3, 2 };
	build(&pile);
	assertHeights(&pile, (const int[]){ 0, 1, 2, 2, 3, 0 });
	assert_int_equal(pile.islands.assembly[3], 2);
	assert_true(pile.islands.jointed[1]);

	// a chain that hangs from the ground: nothing stands on anything, the global solve has done all
	pile.contacts = 0;
	pile.joints[pile.jointCount++] = (knJointEdge){ 0, 2 };
	build(&pile);
	assertHeights(&pile, (const int[]){ 0, 0, 0, 0, 0, 0 });
	assert_true(pile.islands.anchored[2]);
	knArena_Free(&pile.arena);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_column),
		cmocka_unit_test(test_walls_give_height),
		cmocka_unit_test(test_unequal_supports),
		cmocka_unit_test(test_floating_group),
		cmocka_unit_test(test_joints_make_assemblies),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
