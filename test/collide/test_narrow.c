// The narrow phase: many points per pair, and contacts kept for pairs that did not move.
#include "support/kn_test.h"
#include "support/mesh_shapes.h"

#include "collide/collider.h"

#define FRAMES 12

typedef struct Fixture {
	knGeom* geoms[4];
	knCollideShape shapes[FRAMES];
	bool moves[FRAMES];
	knFrame frames[FRAMES];
	double margins[FRAMES];
} Fixture;

static void setUp(Fixture* f, knTestRandom* random) {
	knTestMesh torus = testMeshTorus(0.6, 0.2, 16, 8);
	knMeshDef def = testMeshDef(&torus);
	f->geoms[0] = knGeom_Mesh(&def, NULL, NULL);
	testMeshFree(&torus);
	f->geoms[1] = knGeom_Box(knV3(0.4, 0.3, 0.2), NULL, NULL);
	f->geoms[2] = knGeom_Sphere(0.4, NULL, NULL);
	knGeomChild children[2] = { { f->geoms[0], knMakeFrame(knV3(-0.4, 0.0, 0.0), knIdentityQ()) },
								{ f->geoms[1], knMakeFrame(knV3(0.5, 0.0, 0.0), knIdentityQ()) } };
	f->geoms[3] = knGeom_Compound(children, 2, NULL, NULL);
	for (int i = 0; i < FRAMES; ++i) {
		f->moves[i] = i > 0;
		f->margins[i] = 0.01;
		f->frames[i] = testFrame(random, 1.2);
		f->shapes[i] = (knCollideShape){ f->geoms[i % 4], i, knIdentityF(), knFilter_Default() };
	}
}

static void tearDown(Fixture* f) {
	for (int i = 0; i < 4; ++i) {
		knGeom_Release(f->geoms[i]);
	}
}

static knCollider* newCollider(const Fixture* f) {
	knColliderDef def = {
		.frameCount = FRAMES, .frameMoves = f->moves, .shapeCount = FRAMES, .shapes = f->shapes
	};
	knCollider* collider = knCollider_Create(&def, NULL);
	assert_non_null(collider);
	return collider;
}

static void assertSame(const knContactSet* a, const knContactSet* b) {
	assert_int_equal(a->pairCount, b->pairCount);
	assert_int_equal(a->pointCount, b->pointCount);
	for (int i = 0; i < a->pairCount; ++i) {
		assert_memory_equal(&a->pairs[i], &b->pairs[i], sizeof(knContactPair));
	}
	for (int i = 0; i < a->pointCount; ++i) {
		assert_memory_equal(&a->points[i], &b->points[i], sizeof(knContactPoint));
	}
}

// A collider that keeps contacts of what stands still says the same as one that never saw anything.
static void test_kept_contacts_are_those_of_a_fresh_query(void** state) {
	(void)state;
	knTestRandom random = { 17 };
	Fixture f;
	setUp(&f, &random);
	knCollider* collider = newCollider(&f);
	int reused = 0, mostPoints = 0;
	for (int step = 0; step < 60; ++step) {
		knCollideInput input = { .frames = f.frames, .margins = f.margins };
		knContactSet kept, fresh;
		assert_ok(knCollide(collider, &input, &kept, NULL));
		for (int i = 0; i < collider->narrowItems.count; ++i) {
			reused += collider->narrowItems.items[i].childA == KN_REUSED;
		}
		for (int i = 0; i < kept.pairCount; ++i) {
			mostPoints = kept.pairs[i].count > mostPoints ? kept.pairs[i].count : mostPoints;
		}
		knCollider* other = newCollider(&f);
		assert_ok(knCollide(other, &input, &fresh, NULL));
		assertSame(&kept, &fresh);
		knCollider_Destroy(other);

		// other questions in between, some about other places
		if (step % 3 == 0) {
			knContactSet body;
			assert_ok(knCollide_Body(collider, &input, 3, testFrame(&random, 1.0), &body, NULL));
		}
		if (step % 5 == 0) {
			knFrame elsewhere[FRAMES];
			memcpy(elsewhere, f.frames, sizeof(elsewhere));
			elsewhere[5] = testFrame(&random, 1.0);
			knCollideInput otherInput = { .frames = elsewhere, .margins = f.margins };
			knContactSet body;
			assert_ok(knCollide_Body(collider, &otherInput, 5, elsewhere[5], &body, NULL));
		}
		for (int i = 1; i < FRAMES; ++i) {
			if (testInt(&random, 3) == 0) {
				f.frames[i] = testFrame(&random, 1.2);
			}
		}
		f.margins[1] = testInt(&random, 4) == 0 ? 0.03 : 0.01;
	}
	assert_true(reused > 50);
	assert_true(mostPoints > KN_PAIR_MAX_POINTS);
	knCollider_Destroy(collider);
	tearDown(&f);
}

static void test_threads_find_the_same_contacts(void** state) {
	(void)state;
	knTestRandom random = { 23 };
	Fixture f;
	setUp(&f, &random);
	knAllocator allocator = knAllocator_Default();
	knTaskPool* pool = knTaskPool_Create(3, &allocator, NULL);
	knCollider *one = newCollider(&f), *three = newCollider(&f);
	for (int step = 0; step < 10; ++step) {
		knCollideInput input = { .frames = f.frames, .margins = f.margins };
		knContactSet a, b;
		assert_ok(knCollide(one, &input, &a, NULL));
		input.tasks = knTaskPool_Tasks(pool);
		assert_ok(knCollide(three, &input, &b, NULL));
		assertSame(&a, &b);
		for (int i = 1; i < FRAMES; ++i) {
			f.frames[i] = testFrame(&random, 1.2);
		}
	}
	knCollider_Destroy(one);
	knCollider_Destroy(three);
	knTaskPool_Destroy(pool);
	tearDown(&f);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kept_contacts_are_those_of_a_fresh_query),
		cmocka_unit_test(test_threads_find_the_same_contacts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
