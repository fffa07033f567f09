// Closest points of segments with segments and boxes, against searches that know nothing of the closed forms.
#include "collide/segment.h"
#include "support/kn_test.h"

static knSegment randomSegment(knTestRandom* random) {
	knSegment segment = { testVec3(random, 1.5), testVec3(random, 1.0) };
	return segment;
}

static double distanceAt(const knSegment* a, const knSegment* b, double s, double t) {
	return knDistance(knSegment_At(a, s), knSegment_At(b, t));
}

// Minimises a convex function on [-1, 1] by golden section.
static double goldenSection(double (*fn)(double t, void* context), void* context) {
	const double ratio = 0.6180339887498949;
	double lower = -1.0, upper = 1.0;
	for (int i = 0; i < 90; ++i) {
		double t1 = upper - ratio * (upper - lower), t2 = lower + ratio * (upper - lower);
		if (fn(t1, context) < fn(t2, context)) {
			upper = t2;
		} else {
			lower = t1;
		}
	}
	double best = fmin(fn(lower, context), fn(upper, context));
	return fmin(best, fmin(fn(-1.0, context), fn(1.0, context)));
}

typedef struct Search {
	const knSegment *a, *b;
	knVec3 half;
	double s;
} Search;

static double overB(double t, void* context) {
	Search* search = context;
	return distanceAt(search->a, search->b, search->s, t);
}

static double overA(double s, void* context) {
	Search* search = context;
	search->s = s;
	return goldenSection(overB, search);
}

static void closestPointsOfSegments(void** state) {
	(void)state;
	knTestRandom random = { 1 };
	for (int n = 0; n < 300; ++n) {
		knSegment a = randomSegment(&random), b = randomSegment(&random);
		if (n % 3 == 0) { // parallel, or nearly
			b.half = knScale(testUniform(&random, -1.5, 1.5), a.half);
			b.half = knAdd(b.half, testVec3(&random, n % 2 == 0 ? 0.0 : 1e-4));
		}
		double s, t;
		knSegment_Closest(&a, &b, &s, &t);
		assert_true(fabs(s) <= 1.0 && fabs(t) <= 1.0);
		Search search = { .a = &a, .b = &b };
		assert_near(distanceAt(&a, &b, s, t), goldenSection(overA, &search), 1e-6);
		assert_true(distanceAt(&a, &b, s, t) <= goldenSection(overA, &search) + 1e-12);
	}
}

static void parallelSegmentsMeetAmidTheirOverlap(void** state) {
	(void)state;
	knSegment a = { { 0.0, 0.0, 0.0 }, { 1.0, 0.0, 0.0 } }, b = { { 1.2, 1.0, 0.0 }, { -0.8, 0.0, 0.0 } };
	double s, t;
	knSegment_Closest(&a, &b, &s, &t); // overlap from 0.4 to 1
	assert_near(s, 0.7, 1e-12);
	assert_near3(knSegment_At(&b, t), knV3(0.7, 1.0, 0.0), 1e-12);
	b.center.x = 3.0;
	knSegment_Closest(&a, &b, &s, &t);
	assert_near(s, 1.0, 0.0);
	assert_near(t, 1.0, 0.0);
}

static double toBox(double t, void* context) {
	Search* search = context;
	knVec3 p = knSegment_At(search->a, t);
	knVec3 q = knMax3(knNeg(search->half), knMin3(search->half, p));
	return knDistance(p, q);
}

static void closestPointToABox(void** state) {
	(void)state;
	knTestRandom random = { 2 };
	int inside = 0;
	for (int n = 0; n < 3000; ++n) {
		knSegment a = randomSegment(&random);
		if (n % 3 == 0) { // along an axis, or in a plane
			knSetComponent(&a.half, testInt(&random, 3), 0.0);
			knSetComponent(&a.half, testInt(&random, 3), 0.0);
		}
		Search search = { .a = &a, .half = knAbs3(testVec3(&random, 1.0)) };
		double t = knSegment_ClosestToBox(&a, search.half);
		assert_true(fabs(t) <= 1.0);
		double found = toBox(t, &search), searched = goldenSection(toBox, &search);
		assert_near(found, searched, 1e-6);
		assert_true(found <= searched + 1e-12);
		inside += found == 0.0;
	}
	assert_true(inside > 200 && inside < 2000);
}

static void clippingKeepsWhatLiesBetween(void** state) {
	(void)state;
	knTestRandom random = { 3 };
	for (int n = 0; n < 2000; ++n) {
		knSegment a = randomSegment(&random);
		int axis = testInt(&random, 3);
		if (n % 5 == 0) {
			knSetComponent(&a.half, axis, 0.0);
		}
		double limit = testUniform(&random, 0.05, 1.0), t0 = -1.0, t1 = 1.0;
		bool kept = knSegment_Clip(&a, axis, limit, &t0, &t1);
		for (int k = 0; k <= 50; ++k) {
			double t = -1.0 + 0.04 * k;
			double x = fabs(knComponent(knSegment_At(&a, t), axis));
			if (fabs(x - limit) > 1e-9) {
				assert_int_equal(x < limit, kept && t >= t0 && t <= t1);
			}
		}
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(closestPointsOfSegments),
		cmocka_unit_test(parallelSegmentsMeetAmidTheirOverlap),
		cmocka_unit_test(closestPointToABox),
		cmocka_unit_test(clippingKeepsWhatLiesBetween),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
