// How far turning carries points along a direction: every bound against the motion itself, and those that are exact.
#include "support/kn_test.h"

#include "collide/turning.h"

enum { POINTS = 5, SAMPLES = 60 };

typedef struct Case {
	knVec3 points[POINTS];
	knAabb box; // about them
	knSpin spin;
	knVec3 n;
} Case;

static Case makeCase(knTestRandom* random) {
	Case c;
	knVec3 at = testVec3(random, 1.0);
	double size = testUniform(random, 0.01, 0.5);
	for (int i = 0; i < POINTS; ++i) {
		c.points[i] = knAdd(at, testVec3(random, size));
		c.box.lower = i == 0 ? c.points[i] : knMin3(c.box.lower, c.points[i]);
		c.box.upper = i == 0 ? c.points[i] : knMax3(c.box.upper, c.points[i]);
	}
	c.spin =
		knSpin_Make(testVec3(random, 1.0), testVec3(random, testInt(random, 2) == 0 ? 2.0 : 200.0), INFINITY);
	c.n = testUnit3(random);
	return c;
}

// How high the highest of some points is along n at a time.
static double heightAt(const Case* c, double time) {
	double height = -INFINITY;
	knQuat turn = knQuat_Exp(knScale(time, c->spin.w));
	for (int i = 0; i < POINTS; ++i) {
		knVec3 p = knAdd(c->spin.center, knRotate(turn, knSub(c->points[i], c->spin.center)));
		height = knMax(height, knDot(p, c->n));
	}
	return height;
}

static void checkBounds(const Case* c, const knExcursion* e, double boxRoom) {
	double start = heightAt(c, 0.0);
	for (int k = 0; k < SAMPLES; ++k) {
		double time = 7.0 / c->spin.speed * k / SAMPLES, rise = heightAt(c, time) - start;
		// a box may be higher than what is in it: its bounds are from there
		assert_true(rise <= e->rate * time + 0.5 * e->bend * time * time + boxRoom + 1e-12);
		assert_true(rise <= e->turn * time + boxRoom + 1e-12);
		assert_true(rise <= e->most + boxRoom + 1e-12);
	}
}

static void test_points_and_boxes_stay_below_their_bounds(void** state) {
	(void)state;
	knTestRandom random = { 3 };
	for (int trial = 0; trial < 2000; ++trial) {
		Case c = makeCase(&random);
		knExcursion points = knExcursion_OfPoints(&c.spin, c.points, POINTS, c.n);
		double reach = knSpin_Reach(&c.spin, &c.box);
		knExcursion box = knExcursion_OfBox(&c.spin, &c.box, reach, c.n);
		knVec3 middle = knLerp(c.box.lower, c.box.upper, 0.5),
			   half = knScale(0.5, knSub(c.box.upper, c.box.lower));
		double top = knDot(middle, c.n) + knDot(half, knAbs3(c.n));
		checkBounds(&c, &points, 0.0);
		checkBounds(&c, &box, top - heightAt(&c, 0.0));
		// the ring of the points is no wider than it is
		double highest = -INFINITY;
		for (int k = 0; k < 2000; ++k) {
			highest = knMax(highest, heightAt(&c, 2.0 * KN_PI / c.spin.speed * k / 2000.0));
		}
		assert_near(points.most, highest - heightAt(&c, 0.0), 1e-4);
		assert_true(box.turn >= points.turn - 1e-12 && box.bend >= points.bend * (1.0 - 1e-12));
	}
}

// About its own axis along n a thing stays where it is along n; what does not turn has no excursion.
static void test_turning_about_the_direction(void** state) {
	(void)state;
	knVec3 corners[3] = { { 0.4, 0.0, 0.0 }, { -0.3, 0.5, 0.1 }, { 0.0, -0.4, -0.2 } };
	knAabb box = { { -0.4, -0.4, -0.2 }, { 0.4, 0.5, 0.1 } };
	knSpin spin = knSpin_Make(knZero3(), knV3(0.0, 0.0, 1000.0), INFINITY);
	knVec3 up = knV3(0.0, 0.0, 1.0);
	knExcursion e = knExcursion_OfPoints(&spin, corners, 3, up);
	assert_near(e.rate + e.turn + e.bend + e.most, 0.0, 1e-15);
	e = knExcursion_OfBox(&spin, &box, knSpin_Reach(&spin, &box), up);
	assert_near(e.rate + e.turn + e.bend + e.most, 0.0, 1e-15);
	spin = knSpin_Make(knZero3(), knZero3(), INFINITY);
	e = knExcursion_OfPoints(&spin, corners, 3, up);
	assert_near(e.rate + e.turn + e.bend + e.most, 0.0, 0.0);
}

// Two sets of points on either side of a plane: they do not cross within the time, and it is exact where it can be.
static void test_time(void** state) {
	(void)state;
	knTestRandom random = { 4 };
	int useful = 0;
	for (int trial = 0; trial < 2000; ++trial) {
		Case a = makeCase(&random), b = makeCase(&random);
		b.n = knNeg(a.n);
		double gap = testUniform(&random, 0.001, 2.0), approach = testUniform(&random, -20.0, 20.0);
		knExcursion ea = knExcursion_OfPoints(&a.spin, a.points, POINTS, a.n);
		knExcursion eb = knExcursion_OfPoints(&b.spin, b.points, POINTS, b.n);
		double time = knExcursion_Time(gap, approach, &ea, &eb);
		assert_true(time > 0.0);
		double until = knMin(time, 1.0), startA = heightAt(&a, 0.0), startB = heightAt(&b, 0.0);
		for (int k = 0; k <= 400; ++k) {
			double t = until * k / 400.0;
			double left = gap - approach * t - (heightAt(&a, t) - startA) - (heightAt(&b, t) - startB);
			assert_true(left > -1e-9);
		}
		useful += time > gap / (knMax(0.0, approach) + ea.turn + eb.turn) * 1.01;
	}
	assert_true(useful > 1500); // than the bound by speeds alone
	knExcursion still = { 0 };
	assert_near(knExcursion_Time(3.0, 2.0, &still, &still), 1.5, 0.0);
	assert_true(knExcursion_Time(3.0, -2.0, &still, &still) == (double)INFINITY);
	// a ring that is apart is apart for ever, however fast it turns
	knExcursion ring = { .rate = 1e4, .turn = 1e4, .bend = 1e8, .most = 1.0 };
	assert_true(knExcursion_Time(1.01, 0.0, &ring, &still) == (double)INFINITY);
	assert_near(knExcursion_Time(1.5, 10.0, &ring, &still), 0.05, 1e-15);
	assert_near(knExcursion_Time(1.5, 10.0, &still, &ring), 0.05, 1e-15);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_points_and_boxes_stay_below_their_bounds),
		cmocka_unit_test(test_turning_about_the_direction),
		cmocka_unit_test(test_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
