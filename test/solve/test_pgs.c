// Projected Gauss-Seidel: against a dense twin, against solved problems, and its merit.
#include "support/kn_test.h"

#include "solve/pgs.h"

#define MAX_ROWS 60
#define MAX_BLOCKS 10

typedef struct Problem {
	knRow items[MAX_ROWS];
	knRows rows;
	knTwist u[MAX_BLOCKS];
	double W[MAX_BLOCKS][6]; // diagonal inverse masses
} Problem;

static double component(knTwist t, int i) {
	return i < 3 ? knComponent(t.ang, i) : knComponent(t.lin, i - 3);
}

static knTwist timesW(const double* W, knTwist t) {
	return knMakeTwist(knV3(W[0] * t.ang.x, W[1] * t.ang.y, W[2] * t.ang.z),
					   knV3(W[3] * t.lin.x, W[4] * t.lin.y, W[5] * t.lin.z));
}

static void finishRow(Problem* problem, knRow* row) {
	row->Ta = timesW(problem->W[row->a], row->Ja);
	row->Tb = timesW(problem->W[row->b], row->Jb);
	row->D = knDotT(row->Ja, row->Ta) + knDotT(row->Jb, row->Tb) + row->gamma;
}

static knTwist randomTwist(knTestRandom* random) {
	knVec3 ang = testVec3(random, 1.0);
	return knMakeTwist(ang, testVec3(random, 1.0));
}

// Contacts of three rows, bounded, free and soft rows between random blocks; block 0 is immovable.
static void randomProblem(Problem* problem, knTestRandom* random) {
	memset(problem, 0, sizeof(*problem));
	for (int b = 0; b < MAX_BLOCKS; ++b) {
		problem->u[b] = b > 0 ? randomTwist(random) : knZeroTwist();
		for (int i = 0; i < 6; ++i) {
			problem->W[b][i] = b > 0 ? testUniform(random, 0.2, 2.0) : 0.0;
		}
	}
	problem->rows = (knRows){
		.items = problem->items, .count = MAX_ROWS, .capacity = MAX_ROWS, .blockCount = MAX_BLOCKS
	};
	for (int i = 0; i < MAX_ROWS; ++i) {
		knRow* row = &problem->items[i];
		row->normal = KN_ROW_NO_NORMAL;
		row->a = testInt(random, MAX_BLOCKS);
		row->b = (row->a + 1 + testInt(random, MAX_BLOCKS - 1)) % MAX_BLOCKS;
		row->Ja = randomTwist(random);
		row->Jb = randomTwist(random);
		row->bias = testUniform(random, -0.5, 0.5);
		row->hi = (double)INFINITY;
		row->lambda = testUniform(random, 0.0, 0.1);
		int part = i % 6;
		if (part == 1 || part == 2) {
			row->normal = i - part;
			row->mu = testUniform(random, 0.1, 1.0);
		} else if (part == 3) {
			row->lo = -0.05;
			row->hi = 0.07;
		} else if (part == 4) {
			row->lo = -(double)INFINITY;
			row->gamma = 0.3;
		}
		finishRow(problem, row);
	}
}

static double entry(const Problem* problem, int i, int k) {
	const knRow *p = &problem->items[i], *q = &problem->items[k];
	double sum = i == k ? p->gamma : 0.0;
	for (int c = 0; c < 6; ++c) {
		sum += p->a == q->a ? component(p->Ja, c) * component(q->Ta, c) : 0.0;
		sum += p->a == q->b ? component(p->Ja, c) * component(q->Tb, c) : 0.0;
		sum += p->b == q->a ? component(p->Jb, c) * component(q->Ta, c) : 0.0;
		sum += p->b == q->b ? component(p->Jb, c) * component(q->Tb, c) : 0.0;
	}
	return sum;
}

// The textbook method on A lambda + b, in the same row order.
static void densePgs(const Problem* problem, int sweeps, double* lambda) {
	static double A[MAX_ROWS][MAX_ROWS], b[MAX_ROWS];
	for (int i = 0; i < MAX_ROWS; ++i) {
		const knRow* row = &problem->items[i];
		lambda[i] = row->lambda;
		b[i] = knDotT(row->Ja, problem->u[row->a]) + knDotT(row->Jb, problem->u[row->b]) + row->bias;
		for (int k = 0; k < MAX_ROWS; ++k) {
			A[i][k] = entry(problem, i, k);
		}
	}
	for (int s = 0; s < sweeps; ++s) {
		for (int i = 0; i < MAX_ROWS; ++i) {
			const knRow* row = &problem->items[i];
			double w = b[i], lo = row->lo, hi = row->hi;
			for (int k = 0; k < MAX_ROWS; ++k) {
				w += A[i][k] * lambda[k];
			}
			if (row->normal >= 0) {
				hi = row->mu * lambda[row->normal];
				lo = -hi;
			}
			lambda[i] = knClamp(lambda[i] - w / A[i][i], lo, hi);
		}
	}
}

static void test_matrix_free_equals_dense(void** state) {
	(void)state;
	knTestRandom random = { 1 };
	for (int n = 0; n < 10; ++n) {
		Problem problem;
		double expected[MAX_ROWS];
		randomProblem(&problem, &random);
		knTwist before[MAX_BLOCKS];
		memcpy(before, problem.u, sizeof(before));
		densePgs(&problem, 7, expected);
		knPgsResult result = knPgs_Solve(&problem.rows, 7, problem.u);
		assert_int_equal(result.sweeps, 7);

		// impulses agree, and the velocities are those that the impulses make
		knTwist after[MAX_BLOCKS];
		memcpy(after, before, sizeof(after));
		for (int i = 0; i < MAX_ROWS; ++i) {
			const knRow* row = &problem.items[i];
			assert_near(row->lambda, expected[i], 1e-13);
			after[row->a] = knMulAddT(after[row->a], row->lambda, row->Ta);
			after[row->b] = knMulAddT(after[row->b], row->lambda, row->Tb);
		}
		for (int b = 0; b < MAX_BLOCKS; ++b) {
			assert_near3(problem.u[b].ang, after[b].ang, 1e-13);
			assert_near3(problem.u[b].lin, after[b].lin, 1e-13);
		}
		assert_near3(problem.u[0].lin, knZero3(), 0.0);
	}
}

// n unit boxes on the ground in one dimension, one step of gravity.
static void makeStack(Problem* problem, knRow* items, knTwist* u, int n, double h) {
	memset(items, 0, sizeof(*items) * (size_t)n);
	knTwist up = knMakeTwist(knZero3(), knV3(0.0, 0.0, 1.0));
	for (int i = 0; i < n; ++i) {
		items[i] = (knRow){ .a = i,
							.b = i + 1,
							.Ja = knScaleT(-1.0, up),
							.Jb = up,
							.hi = (double)INFINITY,
							.normal = KN_ROW_NO_NORMAL };
		items[i].Ta = i > 0 ? items[i].Ja : knZeroTwist();
		items[i].Tb = items[i].Jb;
		items[i].D = i > 0 ? 2.0 : 1.0;
	}
	for (int b = 0; b <= n; ++b) {
		u[b] = b > 0 ? knScaleT(-9.81 * h, up) : knZeroTwist();
	}
	problem->rows = (knRows){ .items = items, .count = n, .capacity = n, .blockCount = n + 1 };
}

// Reference numbers of a column of 25 unit boxes at h = 0.01, computed independently: bottom impulse after so many sweeps, merit in plain units.
static void test_stack_reference(void** state) {
	(void)state;
	const int sweeps[3] = { 10, 100, 1000 };
	const double bottom[3] = { 0.346, 1.105, 2.414 }, theta[3] = { 5.5e-4, 1.7e-4, 1.3e-7 };
	for (int k = 0; k < 3; ++k) {
		Problem problem;
		knRow items[25];
		knTwist u[26];
		makeStack(&problem, items, u, 25, 0.01);
		knPgs_Solve(&problem.rows, sweeps[k], u);
		assert_near(items[0].lambda, bottom[k], 6e-4);
		double plain = 0.0;
		for (int i = 0; i < 25; ++i) {
			double w = knDotT(items[i].Ja, u[items[i].a]) + knDotT(items[i].Jb, u[items[i].b]);
			double H = knMin(items[i].lambda, w);
			plain += 0.5 * H * H;
		}
		assert_near(plain, theta[k], 0.06 * theta[k]);
	}
}

static void test_stack_converges(void** state) {
	(void)state;
	Problem problem;
	knRow items[25];
	knTwist u[26];
	makeStack(&problem, items, u, 25, 0.01);
	double last = (double)INFINITY;
	for (int k = 0; k < 12; ++k) {
		// every call goes on from the impulses of the one before
		for (int b = 0; b < 26; ++b) {
			u[b].lin.z = b > 0 ? -0.0981 : 0.0;
		}
		double theta = knPgs_Solve(&problem.rows, 1000, u).theta;
		assert_true(theta < last || theta < 1e-28);
		last = theta;
	}
	assert_near(items[0].lambda, 25 * 0.0981, 1e-10);
	assert_near(items[24].lambda, 0.0981, 1e-10);
	assert_true(last < 1e-20);
}

// One contact of one block: everything in closed form.
static void test_friction_sticks_and_slides(void** state) {
	(void)state;
	for (int sliding = 0; sliding < 2; ++sliding) {
		double speed = sliding ? 2.0 : 0.1, mu = 0.5;
		knRow items[2] = { 0 };
		knTwist up = knMakeTwist(knZero3(), knV3(0.0, 0.0, 1.0)),
				along = knMakeTwist(knZero3(), knV3(1.0, 0.0, 0.0));
		for (int i = 0; i < 2; ++i) {
			items[i] = (knRow){ .a = 0,
								.b = 1,
								.Jb = i == 0 ? up : along,
								.hi = (double)INFINITY,
								.normal = i == 0 ? KN_ROW_NO_NORMAL : 0,
								.mu = mu,
								.D = 0.5 };
			items[i].Tb = knScaleT(0.5, items[i].Jb); // mass 2
		}
		knRows rows = { .items = items, .count = 2, .capacity = 2, .blockCount = 2 };
		knTwist u[2] = { knZeroTwist(), knMakeTwist(knZero3(), knV3(speed, 0.0, -1.0)) };
		knPgsResult result = knPgs_Solve(&rows, 2, u);
		assert_near(items[0].lambda, 2.0, 1e-15);
		assert_near(items[1].lambda, sliding ? -mu * 2.0 : -2.0 * speed, 1e-15);
		assert_near3(u[1].lin, knV3(sliding ? speed - mu : 0.0, 0.0, 0.0), 1e-15);
		assert_near(result.theta, 0.0, 1e-30);
	}
}

// w = J u + bias + gamma lambda = 0 for a soft row; a row between immovable blocks is skipped.
static void test_soft_and_immovable(void** state) {
	(void)state;
	knTwist along = knMakeTwist(knZero3(), knV3(1.0, 0.0, 0.0));
	knRow items[2] = {
		{ .a = 0,
		  .b = 1,
		  .Jb = along,
		  .Tb = knScaleT(0.5, along),
		  .gamma = 3.0,
		  .D = 3.5,
		  .bias = 1.0,
		  .lo = -(double)INFINITY,
		  .hi = (double)INFINITY,
		  .normal = KN_ROW_NO_NORMAL },
		{ .a = 0,
		  .b = 0,
		  .Jb = along,
		  .bias = -5.0,
		  .hi = (double)INFINITY,
		  .normal = KN_ROW_NO_NORMAL,
		  .lambda = 7.0 },
	};
	knRows rows = { .items = items, .count = 2, .capacity = 2, .blockCount = 2 };
	knTwist u[2] = { knZeroTwist(), knMakeTwist(knZero3(), knV3(6.0, 0.0, 0.0)) };
	knPgsResult result = knPgs_Solve(&rows, 1, u);
	assert_near(items[0].lambda, -2.0, 1e-15);
	assert_near(u[1].lin.x, 5.0, 1e-15);
	assert_near(items[1].lambda, 0.0, 0.0);
	assert_near(result.theta, 0.0, 1e-30);
}

// Two blocks, four free rows and one whose bound follows them: the row stands still within its bound, or moves against its
// impulse, which is at the bound; the free rows hold; the velocities are those that the impulses make.
static void test_bound_follows_a_load(void** state) {
	(void)state;
	knTestRandom random = { 9 };
	int stuck = 0;
	for (int n = 0; n < 200; ++n) {
		Problem problem;
		randomProblem(&problem, &random);
		knRowLoad load = { .least = testUniform(&random, 0.0, 0.1),
						   .share = testUniform(&random, 0.0, 0.2),
						   .first = 1,
						   .count = 4 };
		problem.rows.count = 5;
		problem.rows.loads = &load;
		problem.rows.loadCount = problem.rows.loadCapacity = 1;
		for (int i = 0; i < 5; ++i) {
			knRow* row = &problem.items[i];
			row->a = n % 3 == 0 ? 0 : 1;
			row->b = 2;
			row->normal = KN_ROW_NO_NORMAL;
			row->lo = -(double)INFINITY;
			row->hi = (double)INFINITY;
			row->gamma = 0.0;
			row->load = i == 0 ? 1 : 0;
			load.direction[i > 0 ? i - 1 : 0] = testVec3(&random, 1.0);
			finishRow(&problem, row);
		}
		knTwist before[MAX_BLOCKS];
		memcpy(before, problem.u, sizeof(before));
		knPgs_Solve(&problem.rows, 2000, problem.u);
		knVec3 sum = knZero3();
		double w[5];
		for (int i = 0; i < 5; ++i) {
			const knRow* row = &problem.items[i];
			w[i] = knDotT(row->Ja, problem.u[row->a]) + knDotT(row->Jb, problem.u[row->b]) + row->bias;
			before[row->a] = knMulAddT(before[row->a], row->lambda, row->Ta);
			before[row->b] = knMulAddT(before[row->b], row->lambda, row->Tb);
			sum = i > 0 ? knMulAdd(sum, row->lambda, load.direction[i - 1]) : sum;
			assert_true(i == 0 || knAbs(w[i]) < 1e-8);
		}
		for (int b = 0; b < 3; ++b) {
			assert_near3(before[b].ang, problem.u[b].ang, 1e-9);
			assert_near3(before[b].lin, problem.u[b].lin, 1e-9);
		}
		const double bound = load.least + load.share * knLength(sum), lambda = problem.items[0].lambda;
		assert_true(knAbs(lambda) <= bound + 1e-8);
		const bool inside = knAbs(lambda) < bound - 1e-8;
		assert_true(inside ? knAbs(w[0]) < 1e-8 : w[0] * lambda <= 1e-8);
		stuck += inside;
	}
	assert_true(stuck > 20 && stuck < 180);
}

// The merit notices each kind of violation and is in scaled units: w / sqrt(D) and lambda sqrt(D).
static void test_merit_notices(void** state) {
	(void)state;
	knTwist along = knMakeTwist(knZero3(), knV3(1.0, 0.0, 0.0));
	knRow row = { .a = 0,
				  .b = 1,
				  .Jb = along,
				  .Tb = knScaleT(4.0, along),
				  .D = 4.0,
				  .lo = 0.0,
				  .hi = 1.0,
				  .normal = KN_ROW_NO_NORMAL };
	knRows rows = { .items = &row, .count = 1, .capacity = 1, .blockCount = 2 };
	const struct {
		double lambda, w, theta;
	} cases[] = {
		{ 0.0, 3.0, 0.0 },         // separating without impulse
		{ 0.0, -3.0, 0.5 * 2.25 }, // approaching without impulse: H = w/2
		{ 0.5, 0.0, 0.0 },         // carrying
		{ 0.5, 3.0, 0.5 * 1.0 },   // pulling: H = lambda sqrt(D) = 1
		{ 1.0, -3.0, 0.0 },        // at its upper bound
		{ 1.5, 0.0, 0.5 * 1.0 },   // beyond its upper bound by 0.5: H = 0.5 * 2
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
		row.lambda = cases[i].lambda;
		knTwist u[2] = { knZeroTwist(), knMakeTwist(knZero3(), knV3(cases[i].w, 0.0, 0.0)) };
		assert_near(knPgs_Merit(&rows, u), cases[i].theta, 1e-15);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_matrix_free_equals_dense), cmocka_unit_test(test_stack_reference),
		cmocka_unit_test(test_stack_converges),          cmocka_unit_test(test_friction_sticks_and_slides),
		cmocka_unit_test(test_soft_and_immovable),       cmocka_unit_test(test_merit_notices),
		cmocka_unit_test(test_bound_follows_a_load),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
