// The broad phase's limits: crowds, the pair limit, masses of bodies far apart.
#include "collide/random_world.h"

typedef struct Crowd {
	int count;
	knGeom* geom;
	knCollideShape* shapes;
	knFrame* frames;
	knCollider* collider;
	knCollideInput input;
} Crowd;

// `count` unit cubes on as many frames, all at the origin.
static Crowd makeCrowd(int count, int pairLimit, knFilter filter) {
	Crowd crowd = { .count = count, .geom = knGeom_Box(knV3(0.5, 0.5, 0.5), NULL, NULL) };
	crowd.shapes = calloc((size_t)count, sizeof(*crowd.shapes));
	crowd.frames = calloc((size_t)count, sizeof(*crowd.frames));
	for (int i = 0; i < count; ++i) {
		crowd.shapes[i] = (knCollideShape){ crowd.geom, i, knIdentityF(), filter };
		crowd.frames[i] = knIdentityF();
	}
	knColliderDef def = {
		.frameCount = count, .shapeCount = count, .shapes = crowd.shapes, .pairLimit = pairLimit
	};
	crowd.collider = knCollider_Create(&def, NULL);
	assert_non_null(crowd.collider);
	crowd.input.frames = crowd.frames;
	return crowd;
}

static void freeCrowd(Crowd* crowd) {
	knCollider_Destroy(crowd->collider);
	knGeom_Release(crowd->geom);
	free(crowd->shapes);
	free(crowd->frames);
}

static void tooManyPairsAreRefusedAndTheColliderLives(void** state) {
	(void)state;
	Crowd crowd = makeCrowd(3000, 1000, knFilter_Default());
	knContactSet set;
	for (int n = 0; n < 2; ++n) {
		knError error = { 0 };
		assert_int_equal(knCollide(crowd.collider, &crowd.input, &set, &error), KN_LIMIT);
		assert_non_null(strstr(error.message, "1000 pairs"));
		assert_int_equal(set.pairCount, 0);
	}
	// in a row, each touching the next
	for (int i = 0; i < crowd.count; ++i) {
		crowd.frames[i].p = knV3(i < 900 ? 0.99 * i : 10.0 * i, 0.0, 0.0);
	}
	assert_ok(knCollide(crowd.collider, &crowd.input, &set, NULL));
	assert_int_equal(set.pairCount, 899);
	freeCrowd(&crowd);
}

// The limit counts exact boxes, so it cannot depend on how fat the boxes of earlier calls were.
static void theLimitIsExact(void** state) {
	(void)state;
	for (int n = 0; n < 2; ++n) {
		// 20 cubes in a row with gaps smaller than a fat box, the first 10 of them at one place: 45 pairs
		Crowd crowd = makeCrowd(30, n == 0 ? 45 : 44, knFilter_Default());
		for (int i = 0; i < crowd.count; ++i) {
			crowd.frames[i].p = knV3(i < 10 ? 0.0 : 1.01 * (i - 9), 0.0, 0.0);
		}
		knContactSet set;
		for (int call = 0; call < 3; ++call) {
			knStatus status = knCollide(crowd.collider, &crowd.input, &set, NULL);
			assert_int_equal(status, n == 0 ? KN_OK : KN_LIMIT);
			assert_int_equal(set.candidateCount, n == 0 ? 45 : 0);
			crowd.frames[20].p.y += 0.2; // leaves its fat box, touches nothing
		}
		freeCrowd(&crowd);
	}
}

// Walks that are cut for threads: pieces that find more than they have room for, and the limit.
static void crowdsAndLimitsAreTheSameWithThreads(void** state) {
	(void)state;
	const int limits[2] = { 0, 1000 };
	knTaskPool* pool = knTaskPool_Create(3, NULL, NULL);
	for (int n = 0; n < 2; ++n) {
		Crowd crowd = makeCrowd(400, limits[n], knFilter_Default());
		crowd.input.tasks = knTaskPool_Tasks(pool);
		knContactSet set;
		knStatus status = knCollide(crowd.collider, &crowd.input, &set, NULL);
		assert_int_equal(status, n == 0 ? KN_OK : KN_LIMIT);
		assert_int_equal(set.pairCount, n == 0 ? 400 * 399 / 2 : 0);
		// in a row, each touching the next
		for (int i = 0; i < crowd.count; ++i) {
			crowd.frames[i].p = knV3(0.99 * i, 0.0, 0.0);
		}
		assert_ok(knCollide(crowd.collider, &crowd.input, &set, NULL));
		assert_int_equal(set.pairCount, 399);
		freeCrowd(&crowd);
	}
	knTaskPool_Destroy(pool);
}

static void aHundredThousandAtOnePlaceEndQuickly(void** state) {
	(void)state;
	Crowd crowd = makeCrowd(100000, 0, knFilter_Default());
	knContactSet set;
	knError error = { 0 };
	assert_int_equal(knCollide(crowd.collider, &crowd.input, &set, &error), KN_LIMIT);
	assert_non_null(strstr(error.message, "8388608"));
	// spread out they are no trouble
	for (int i = 0; i < crowd.count; ++i) {
		crowd.frames[i].p = knV3(1.5 * (i % 50), 1.5 * (i / 50 % 50), 0.999 * (i / 2500));
	}
	assert_ok(knCollide(crowd.collider, &crowd.input, &set, &error));
	assert_int_equal(set.pairCount, 39 * 2500);
	freeCrowd(&crowd);
}

// Compounds count with their parts.
static void partsCountTowardsTheLimit(void** state) {
	(void)state;
	knGeom* sphere = knGeom_Sphere(1.0, NULL, NULL);
	knGeomChild children[100];
	for (int i = 0; i < 100; ++i) {
		children[i] = (knGeomChild){ sphere, knIdentityF() };
	}
	knGeom* compound = knGeom_Compound(children, 100, NULL, NULL);
	knCollideShape shapes[2] = { { compound, 0, knIdentityF(), knFilter_Default() },
								 { compound, 1, knIdentityF(), knFilter_Default() } };
	knFrame frames[2] = { knIdentityF(), knIdentityF() };
	for (int n = 0; n < 2; ++n) {
		knColliderDef def = {
			.frameCount = 2, .shapeCount = 2, .shapes = shapes, .pairLimit = n == 0 ? 10000 : 9999
		};
		knCollider* collider = knCollider_Create(&def, NULL);
		knCollideInput input = { .frames = frames };
		knContactSet set;
		assert_int_equal(knCollide(collider, &input, &set, NULL), n == 0 ? KN_OK : KN_LIMIT);
		assert_int_equal(set.pointCount, n == 0 ? 10000 : 0);
		knCollider_Destroy(collider);
	}
	knGeom_Release(compound);
	knGeom_Release(sphere);
}

// Parked, inactive bodies cost no pairs, wherever they are.
static void inactiveCrowdsHaveNoPairs(void** state) {
	(void)state;
	Crowd crowd = makeCrowd(5000, 1000, knFilter_Default());
	uint8_t* active = calloc(5000, 1);
	crowd.input.shapeActive = active;
	knContactSet set;
	assert_ok(knCollide(crowd.collider, &crowd.input, &set, NULL));
	assert_int_equal(set.candidateCount, 0);
	// they appear one by one
	for (int i = 0; i < 40; ++i) {
		active[i * 100] = 1;
		assert_ok(knCollide(crowd.collider, &crowd.input, &set, NULL));
		assert_int_equal(set.pairCount, (i + 1) * i / 2);
	}
	memset(active, 0, 5000);
	assert_ok(knCollide(crowd.collider, &crowd.input, &set, NULL));
	assert_int_equal(set.candidateCount, 0);
	free(active);
	freeCrowd(&crowd);
}

// One body far away stretches the tree; nothing is lost, near or far.
static void farFliersAreFollowed(void** state) {
	(void)state;
	Crowd crowd = makeCrowd(400, 0, knFilter_Default());
	for (int i = 0; i < crowd.count; ++i) {
		crowd.frames[i].p = knV3(2.0 * (i % 20), 2.0 * (i / 20), 0.0);
	}
	knContactSet set;
	double far = 1.0;
	for (int step = 0; step < 200; ++step) {
		crowd.frames[7].p.z = far *= 1.5;
		crowd.frames[8].p =
			knAdd(crowd.frames[7].p, knV3(0.9 * (1.0 + (far > 1e12)), 0.0, 0.0)); // with a companion
		assert_ok(knCollide(crowd.collider, &crowd.input, &set, NULL));
		if (far < 1e12) {
			assert_int_equal(set.pairCount, 1);
			assert_int_equal(set.pairs[0].shapeA, 7);
		}
	}
	freeCrowd(&crowd);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tooManyPairsAreRefusedAndTheColliderLives),
		cmocka_unit_test(theLimitIsExact),
		cmocka_unit_test(crowdsAndLimitsAreTheSameWithThreads),
		cmocka_unit_test(aHundredThousandAtOnePlaceEndQuickly),
		cmocka_unit_test(partsCountTowardsTheLimit),
		cmocka_unit_test(inactiveCrowdsHaveNoPairs),
		cmocka_unit_test(farFliersAreFollowed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
