// The box tree: its shape, refits and walks against a plain loop, and inputs that tempt it to grow deep.
#include "geom/bvh.h"
#include "support/kn_test.h"

static knAllocator heap(void) {
	return knAllocator_Default();
}

static knAabb randomBox(knTestRandom* random, double spread) {
	knVec3 center = testVec3(random, spread);
	knVec3 half = knAdd(knV3(0.5, 0.5, 0.5), testVec3(random, 0.45));
	return (knAabb){ knSub(center, half), knAdd(center, half) };
}

// Every node holds its children, skips are where subtrees end, parents and leaves agree. Returns the depth.
static int assertTree(const knBvh* tree) {
	int deepest = 0;
	for (int i = 0; i < tree->nodeCount; ++i) {
		const knBvhNode* node = &tree->nodes[i];
		if (node->item >= 0) {
			assert_int_equal(node->skip, i + 1);
			assert_int_equal(tree->leaves[node->item], i);
		} else {
			int left = i + 1, right = tree->nodes[left].skip;
			assert_int_equal(tree->nodes[right].skip, node->skip);
			assert_int_equal(tree->parents[left], i);
			assert_int_equal(tree->parents[right], i);
			assert_true(knAabb_Contains(node->box, tree->nodes[left].box));
			assert_true(knAabb_Contains(node->box, tree->nodes[right].box));
		}
		int depth = 0;
		for (int up = i; up > 0; up = tree->parents[up]) {
			++depth;
		}
		deepest = depth > deepest ? depth : deepest;
	}
	return deepest;
}

static void assertWalkFindsAll(const knBvh* tree, const knAabb* boxes, int count, knAabb query) {
	char* found = calloc((size_t)count, 1);
	int cursor = 0;
	for (int item; (item = knBvh_Next(tree, &query, &cursor)) >= 0;) {
		assert_int_equal(found[item], 0);
		found[item] = 1;
	}
	for (int i = 0; i < count; ++i) {
		assert_int_equal(found[i], knAabb_Overlap(boxes[i], query));
	}
	free(found);
}

static void walksFindWhatALoopFinds(void** state) {
	(void)state;
	knTestRandom random = { 1 };
	knAllocator allocator = heap();
	for (int n = 0; n < 30; ++n) {
		int count = n < 6 ? n : 6 + testInt(&random, 400);
		knAabb* boxes = malloc(sizeof(knAabb) * (size_t)(count + 1));
		knVec3* centers = malloc(sizeof(knVec3) * (size_t)(count + 1));
		for (int i = 0; i < count; ++i) {
			boxes[i] = testInt(&random, 10) == 0 ? knAabb_Empty() : randomBox(&random, 8.0);
			centers[i] = testVec3(&random, 8.0);
		}
		knBvh tree;
		assert_true(knBvh_Create(&tree, count, &allocator));
		knBvh_Build(&tree, boxes, centers);
		assertTree(&tree);
		for (int k = 0; k < 20; ++k) {
			assertWalkFindsAll(&tree, boxes, count, randomBox(&random, 8.0));
		}
		// move some one by one, then all at once
		for (int k = 0; k < 50 && count > 0; ++k) {
			int item = testInt(&random, count);
			boxes[item] = randomBox(&random, 20.0);
			knBvh_SetBox(&tree, item, boxes[item]);
		}
		assertTree(&tree);
		assertWalkFindsAll(&tree, boxes, count, randomBox(&random, 8.0));
		double area = tree.area;
		knBvh_RefitAll(&tree);
		assert_near(tree.area, area, 1e-9 * (1.0 + area));
		for (int i = 0; i < count; ++i) {
			boxes[i] = randomBox(&random, 8.0);
			knBvh_SetLeaf(&tree, i, boxes[i]);
		}
		knBvh_RefitAll(&tree);
		assertTree(&tree);
		assertWalkFindsAll(&tree, boxes, count, randomBox(&random, 8.0));
		knBvh_Destroy(&tree, &allocator);
		free(boxes);
		free(centers);
	}
}

static void walksBelowAPlaneFindWhatALoopFinds(void** state) {
	(void)state;
	knTestRandom random = { 2 };
	knAllocator allocator = heap();
	enum { COUNT = 200 };
	knAabb boxes[COUNT];
	knVec3 centers[COUNT];
	for (int i = 0; i < COUNT; ++i) {
		boxes[i] = randomBox(&random, 5.0);
		centers[i] = knAabb_Center(boxes[i]);
	}
	knBvh tree;
	assert_true(knBvh_Create(&tree, COUNT, &allocator));
	knBvh_Build(&tree, boxes, centers);
	for (int k = 0; k < 100; ++k) {
		knVec3 normal = testUnit3(&random);
		double offset = testUniform(&random, -6.0, 6.0);
		bool found[COUNT] = { false };
		int cursor = 0;
		for (int item; (item = knBvh_NextBelow(&tree, normal, offset, &cursor)) >= 0;) {
			found[item] = true;
		}
		for (int i = 0; i < COUNT; ++i) {
			double lowest = INFINITY;
			for (int c = 0; c < 8; ++c) {
				knVec3 corner = knV3(c & 1 ? boxes[i].lower.x : boxes[i].upper.x,
									 c & 2 ? boxes[i].lower.y : boxes[i].upper.y,
									 c & 4 ? boxes[i].lower.z : boxes[i].upper.z);
				lowest = fmin(lowest, knDot(normal, corner));
			}
			assert_int_equal(found[i], lowest <= offset);
		}
	}
	knBvh_Destroy(&tree, &allocator);
}

// Coinciding, geometrically growing and overflowing positions: the depth stays bounded.
static void depthIsBounded(void** state) {
	(void)state;
	knAllocator allocator = heap();
	enum { COUNT = 2000 };
	knAabb* boxes = malloc(sizeof(knAabb) * COUNT);
	knVec3* centers = malloc(sizeof(knVec3) * COUNT);
	knBvh tree;
	assert_true(knBvh_Create(&tree, COUNT, &allocator));
	for (int kind = 0; kind < 3; ++kind) {
		double x = 1e-300;
		for (int i = 0; i < COUNT; ++i) {
			x *= kind == 1 ? 1.9 : 1.0;
			double place =
				kind == 0 ? 1.0 : (kind == 1 ? (x < 1e300 ? x : 1e300) : (i % 2 ? 1.7e308 : -1.7e308));
			centers[i] = knV3(place, 0.0, 0.0);
			boxes[i] = (knAabb){ centers[i], centers[i] };
		}
		knBvh_Build(&tree, boxes, centers);
		assert_true(assertTree(&tree) <= 64);
		int cursor = 0, found = 0;
		while (knBvh_Next(&tree, &boxes[0], &cursor) >= 0) {
			++found;
		}
		assert_int_equal(found, kind == 0 ? COUNT : (kind == 1 ? 1 : COUNT / 2));
	}
	knBvh_Destroy(&tree, &allocator);
	free(boxes);
	free(centers);
}

static void failedMemoryLeavesNothing(void** state) {
	(void)state;
	knTestMemory memory;
	knAllocator allocator = testAllocator(&memory);
	knBvh tree;
	for (int allowed = 0; allowed < 4; ++allowed) {
		memory.calls = 0;
		memory.failAfter = allowed;
		assert_false(knBvh_Create(&tree, 10, &allocator));
		assert_int_equal(memory.live, 0);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(walksFindWhatALoopFinds),
		cmocka_unit_test(walksBelowAPlaneFindWhatALoopFinds),
		cmocka_unit_test(depthIsBounded),
		cmocka_unit_test(failedMemoryLeavesNothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
