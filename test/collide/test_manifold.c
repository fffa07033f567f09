// Reduction to four points: the deepest stays, the base stays wide, near doubles go, ties do not flicker.
#include "collide/manifold.h"
#include "support/kn_test.h"

// A convex polygon: points of an ellipse in order of angle.
static int randomPolygon(knTestRandom* random, int count, knManifoldPoint* points) {
	double a = testUniform(random, 0.3, 1.0), b = testUniform(random, 0.3, 1.0), angle = 0.0;
	for (int i = 0; i < count; ++i) {
		angle += 2.0 * KN_PI / count * testUniform(random, 0.6, 1.0);
		points[i] = (knManifoldPoint){ a * cos(angle), b * sin(angle), testUniform(random, -0.1, 0.1) };
	}
	return count;
}

static double area(const knManifoldPoint* points, const int* order, int count) {
	double sum = 0.0;
	for (int i = 0; i < count; ++i) {
		const knManifoldPoint* p = &points[order == NULL ? i : order[i]];
		const knManifoldPoint* q = &points[order == NULL ? (i + 1) % count : order[(i + 1) % count]];
		sum += 0.5 * (p->u * q->v - q->u * p->v);
	}
	return sum;
}

static void fourPointsSpanMostOfTheArea(void** state) {
	(void)state;
	knTestRandom random = { 1 };
	for (int n = 0; n < 2000; ++n) {
		knManifoldPoint points[8];
		int count = randomPolygon(&random, 4 + testInt(&random, 5), points), chosen[4];
		int kept = knManifold_Reduce(points, count, 1.0, chosen);
		assert_int_equal(kept, 4);
		int deepest = 0;
		bool found = false;
		for (int i = 1; i < count; ++i) {
			deepest = points[i].separation < points[deepest].separation ? i : deepest;
		}
		for (int k = 0; k < 4; ++k) {
			assert_in_range(chosen[k], k == 0 ? 0 : chosen[k - 1] + 1, count - 1); // ascending
			found = found || chosen[k] == deepest;
		}
		assert_true(found);
		assert_true(area(points, chosen, 4) >= 0.5 * area(points, NULL, count));
	}
}

static void doublesAreLeftOut(void** state) {
	(void)state;
	int chosen[4];
	knManifoldPoint one[] = { { 0.0, 0.0, 0.0 }, { 1e-6, 0.0, 0.0 }, { 0.0, -1e-6, -1.0 } };
	assert_int_equal(knManifold_Reduce(one, 3, 1.0, chosen), 1);
	assert_int_equal(chosen[0], 2);
	knManifoldPoint line[] = { { 0.0, 0.0, 0.0 }, { 1.0, 0.0, 0.0 }, { 0.5, 1e-6, 0.0 }, { 1.0, 1e-6, 0.0 } };
	assert_int_equal(knManifold_Reduce(line, 4, 1.0, chosen), 2);
	knManifoldPoint triangle[] = {
		{ 0.0, 0.0, 0.0 }, { 1.0, 0.0, 0.0 }, { 0.0, 1.0, 0.0 }, { 1e-6, 1.0, 0.0 }
	};
	assert_int_equal(knManifold_Reduce(triangle, 4, 1.0, chosen), 3);
	assert_int_equal(knManifold_Reduce(NULL, 0, 1.0, chosen), 0);
}

static void shakingDoesNotChangeTheChoice(void** state) {
	(void)state;
	knTestRandom random = { 2 };
	int first[4];
	for (int n = 0; n < 1000; ++n) {
		knManifoldPoint points[8]; // a regular octagon: everything is a tie
		for (int i = 0; i < 8; ++i) {
			double angle = KN_PI / 4.0 * i, shake = n == 0 ? 0.0 : 1e-8;
			points[i] = (knManifoldPoint){ cos(angle) + testUniform(&random, -shake, shake),
										   sin(angle) + testUniform(&random, -shake, shake),
										   testUniform(&random, -shake, shake) };
		}
		int chosen[4];
		assert_int_equal(knManifold_Reduce(points, 8, 1.0, chosen), 4);
		if (n == 0) {
			memcpy(first, chosen, sizeof(first));
		}
		assert_memory_equal(chosen, first, sizeof(first));
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fourPointsSpanMostOfTheArea),
		cmocka_unit_test(doublesAreLeftOut),
		cmocka_unit_test(shakingDoesNotChangeTheChoice),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
