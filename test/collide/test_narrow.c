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

// --- motions ---------------------------------------------------------------------------------------------

// Two shapes that stray from what is said about them by nothing at all.
typedef struct Meeting {
	knFrame frames[2];
	knFrameMotion motions[2];
	double margins[2];
} Meeting;

static knFrame movedTo(const Meeting* m, int i, double part) {
	knQuat turn = knQuat_Exp(knScale(part, m->motions[i].turn));
	return knMakeFrame(knMulAdd(m->frames[i].p, part, m->motions[i].ways[0]), knMulQ(turn, m->frames[i].q));
}

static Meeting randomMeeting(knTestRandom* random) {
	Meeting m;
	for (int i = 0; i < 2; ++i) {
		m.frames[i] = testFrame(random, 1.5);
		knVec3 way = knScale(testUniform(random, 0.0, 2.0), testUnit3(random));
		knVec3 turn = knScale(testUniform(random, 0.0, 0.4), testUnit3(random));
		m.motions[i] = (knFrameMotion){ { way, way }, turn, 0.005 };
		m.margins[i] = 0.005 + knLength(way) + knLength(turn) * 2.0;
	}
	return m;
}

// Whether the two, not yet touching, overlap by more than a little somewhere along their motion.
static bool collidesLater(const Meeting* m, const knGeom* a, const knGeom* b) {
	knContactPoint points[64];
	if (knCollide_Pair(a, m->frames[0], b, m->frames[1], 0.0, points, 64) > 0) {
		return false;
	}
	for (int k = 1; k <= 8; ++k) {
		double part = k / 8.0;
		int count = knCollide_Pair(a, movedTo(m, 0, part), b, movedTo(m, 1, part), 0.0, points, 64);
		for (int i = 0; i < count && i < 64; ++i) {
			if (points[i].separation < -0.02) {
				return true;
			}
		}
	}
	return false;
}

// Whatever a motion brings together is seen before; what moves together is not.
static void test_motions_that_collide_are_seen(void** state) {
	(void)state;
	knTestRandom random = { 31 };
	Fixture f;
	setUp(&f, &random);
	int collisions = 0, passes = 0;
	for (int trial = 0; trial < 1500; ++trial) {
		Meeting m = randomMeeting(&random);
		knCollideShape shapes[2] = { { f.geoms[0], 0, knIdentityF(), knFilter_Default() },
									 { f.geoms[trial % 3], 1, knIdentityF(), knFilter_Default() } };
		knColliderDef def = { .frameCount = 2, .shapeCount = 2, .shapes = shapes };
		knCollider* collider = knCollider_Create(&def, NULL);
		assert_non_null(collider);
		knCollideInput input = { .frames = m.frames, .margins = m.margins, .motions = m.motions };
		knContactSet set;
		assert_ok(knCollide(collider, &input, &set, NULL));
		if (collidesLater(&m, shapes[0].geom, shapes[1].geom)) {
			collisions += 1;
			assert_int_equal(set.pairCount, 1);
			// the second way counts as well as the first
			m.motions[1].ways[0] = knV3(0.0, 0.0, 0.0);
			assert_ok(knCollide(collider, &input, &set, NULL));
			assert_int_equal(set.pairCount, 1);
		} else {
			passes += set.pairCount == 0;
		}
		knCollider_Destroy(collider);
	}
	assert_true(collisions > 50);
	assert_true(passes > 500);
	tearDown(&f);
}

static const knContactPair* pairOf(const knContactSet* set, const knContactPair* like) {
	for (int i = 0; i < set->pairCount; ++i) {
		if (set->pairs[i].shapeA == like->shapeA && set->pairs[i].shapeB == like->shapeB) {
			return &set->pairs[i];
		}
	}
	return NULL;
}

static const knContactPoint* deepestOf(const knContactSet* set, const knContactPair* pair) {
	const knContactPoint* deepest = &set->points[pair->first];
	for (int i = pair->first; i < pair->first + pair->count; ++i) {
		deepest = set->points[i].separation < deepest->separation ? &set->points[i] : deepest;
	}
	return deepest;
}

// A query that looks ahead reports fewer points, but of what nearly touches it says the same as one that does not: the
// deepest of every pair, and every other that both report. What is farther apart is within the field's tolerance.
static void test_near_contacts_are_exact(void** state) {
	(void)state;
	knTestRandom random = { 37 };
	Fixture f;
	setUp(&f, &random);
	double size = knDistance(knGeom_Aabb(f.geoms[0], knIdentityF()).lower,
							 knGeom_Aabb(f.geoms[0], knIdentityF()).upper);
	knFrameMotion motions[FRAMES] = { 0 };
	int near = 0, gaps = 0;
	for (int step = 0; step < 40; ++step) {
		for (int i = 0; i < FRAMES; ++i) {
			f.margins[i] = motions[i].around = 0.004;
			f.frames[i] = i > 0 ? testFrame(&random, 1.2) : f.frames[i];
		}
		knCollider *plain = newCollider(&f), *ahead = newCollider(&f);
		knCollideInput input = { .frames = f.frames, .margins = f.margins };
		knContactSet a, b;
		assert_ok(knCollide(plain, &input, &a, NULL));
		input.motions = motions;
		assert_ok(knCollide(ahead, &input, &b, NULL));
		for (int i = 0; i < a.pairCount; ++i) {
			const knContactPair* twin = pairOf(&b, &a.pairs[i]);
			const knContactPoint* deepest = deepestOf(&a, &a.pairs[i]);
			// what lies deep has several ways out
			if (knAbs(deepest->separation) < 2e-3 * size) {
				assert_non_null(twin);
				assert_near(deepest->separation, deepestOf(&b, twin)->separation, 2e-5 * size);
			}
			for (int k = 0; twin != NULL && k < a.pairs[i].count * twin->count; ++k) {
				const knContactPoint* p = &a.points[a.pairs[i].first + k / twin->count];
				const knContactPoint* q = &b.points[twin->first + k % twin->count];
				if (p->feature == q->feature && knAbs(p->separation) < 1e-3 * size) {
					assert_near(p->separation, q->separation, 2e-5 * size);
					near += 1;
				} else if (p->feature == q->feature && p->separation > 0.0) {
					assert_near(p->separation, q->separation, 1e-3 * size);
					gaps += 1;
				}
			}
		}
		knCollider_Destroy(plain);
		knCollider_Destroy(ahead);
	}
	assert_true(near > 100 && gaps > 0);
	tearDown(&f);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kept_contacts_are_those_of_a_fresh_query),
		cmocka_unit_test(test_threads_find_the_same_contacts),
		cmocka_unit_test(test_motions_that_collide_are_seen),
		cmocka_unit_test(test_near_contacts_are_exact),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
