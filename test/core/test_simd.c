// Four doubles at once: every operation equals plain arithmetic lane by lane, bit by bit.
#include "support/kn_test.h"

#include "core/simd.h"

typedef struct Lanes {
	_Alignas(32) double v[KN_LANES];
} Lanes;

static Lanes out(knWide a) {
	Lanes lanes;
	knWide_Store(lanes.v, a);
	return lanes;
}

static bool sameBits(double a, double b) {
	return memcmp(&a, &b, sizeof(a)) == 0;
}

static void test_arithmetic(void** state) {
	(void)state;
	knTestRandom random = { 3 };
	for (int n = 0; n < 200; ++n) {
		Lanes a, b, c;
		for (int i = 0; i < KN_LANES; ++i) {
			a.v[i] = testUniform(&random, -3.0, 3.0);
			b.v[i] = n % 5 == 0 ? a.v[i] : testUniform(&random, -3.0, 3.0);
			c.v[i] = testUniform(&random, 0.0, 3.0);
		}
		knWide x = knWide_Load(a.v), y = knWide_Load(b.v), z = knWide_Load(c.v);
		Lanes sum = out(knWide_Add(x, y)), difference = out(knWide_Sub(x, y)),
			  product = out(knWide_Mul(x, y));
		Lanes quotient = out(knWide_Div(x, z)), root = out(knWide_Sqrt(z));
		Lanes most = out(knWide_Max(x, y)), least = out(knWide_Min(x, y));
		Lanes chosen = out(knWide_Select(knWide_Greater(x, y), x, z));
		Lanes fused = out(knWide_MulAdd(x, y, z)), apart = out(knWide_MulSub(x, y, z));
		bool any = false;
		for (int i = 0; i < KN_LANES; ++i) {
			double p = a.v[i], q = b.v[i], r = c.v[i];
			volatile double qr = q * r; // two roundings, whatever the compiler may fuse
			assert_true(sameBits(sum.v[i], p + q) && sameBits(difference.v[i], p - q));
			assert_true(sameBits(product.v[i], p * q) && sameBits(quotient.v[i], p / r));
			assert_true(sameBits(root.v[i], sqrt(r)));
			assert_true(sameBits(most.v[i], p > q ? p : q) && sameBits(least.v[i], p < q ? p : q));
			assert_true(sameBits(chosen.v[i], p > q ? p : r));
			assert_true(sameBits(fused.v[i], p + qr) && sameBits(apart.v[i], p - qr));
			any = any || p > q;
		}
		assert_int_equal(knWide_Any(knWide_Greater(x, y)), any);
	}
}

static void test_distances_from_boxes(void** state) {
	(void)state;
	knTestRandom random = { 9 };
	for (int n = 0; n < 200; ++n) {
		float lower[3][4], upper[3][4], p[3], squared[4];
		for (int axis = 0; axis < 3; ++axis) {
			p[axis] = (float)testUniform(&random, -3.0, 3.0);
			for (int k = 0; k < 4; ++k) {
				lower[axis][k] = (float)testUniform(&random, -2.0, 1.0);
				upper[axis][k] = lower[axis][k] + (float)testUniform(&random, 0.0, 2.0);
			}
		}
		knBoxes_Squared(lower, upper, p, squared);
		for (int k = 0; k < 4; ++k) {
			volatile float sum = 0.0f;
			for (int axis = 0; axis < 3; ++axis) {
				float out = p[axis] < lower[axis][k]   ? lower[axis][k] - p[axis]
							: p[axis] > upper[axis][k] ? p[axis] - upper[axis][k]
													   : 0.0f;
				volatile float square = out * out;
				sum += square;
			}
			assert_true(squared[k] == sum);
		}
	}
}

static void test_gather_and_scatter(void** state) {
	(void)state;
	knTestRandom random = { 4 };
	knTwist twists[7], after[7];
	for (int i = 0; i < 7; ++i) {
		twists[i] = after[i] = knMakeTwist(testVec3(&random, 1.0), testVec3(&random, 1.0));
	}
	const int32_t index[KN_LANES] = { 5, 0, 3, 6 };
	knWideTwist wide = knWideTwist_Gather(twists, index);
	wide.ang.y = knWide_Add(wide.ang.y, knWide_Splat(1.0));
	wide.lin.z = knWide_Mul(wide.lin.z, knWide_Splat(2.0));
	knWideTwist_Scatter(after, index, 0xDu, wide); // lane 1 is not written
	for (int i = 0; i < 7; ++i) {
		knTwist expected = twists[i];
		if (i == 5 || i == 3 || i == 6) {
			expected.ang.y += 1.0;
			expected.lin.z *= 2.0;
		}
		assert_memory_equal(&after[i], &expected, sizeof(expected));
	}
}

int main(void) {
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_arithmetic),
										cmocka_unit_test(test_distances_from_boxes),
										cmocka_unit_test(test_gather_and_scatter) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
