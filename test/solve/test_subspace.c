// Unfinished contacts solved at once: columns of boxes, after few sweeps, stand or fall as complementarity demands.
#include "support/kn_test.h"

#include "solve/subspace.h"

#define BOXES 60
#define STEP_FALL 0.0981 // m/s

// Boxes of 1 m and 1 kg on a floor, block 0, four points under each. `lean` moves each box to the side of the one below.
typedef struct Column {
	double invMass[BOXES + 1];
	knMat33 invInertia[BOXES + 1];
	knTwist u[BOXES + 1];
	int32_t group[BOXES + 1];
	knSweepChunk chunks[BOXES];
	knSweepPoint points[4 * BOXES];
	knSweepBlocks blocks;
	knArena arena;
	knAllocator allocator;
} Column;

static void makeColumn(Column* column, double lean, double mu) {
	memset(column, 0, sizeof(*column));
	column->allocator = knAllocator_Default();
	knArena_Init(&column->arena, &column->allocator);
	column->group[0] = -1;
	for (int b = 1; b <= BOXES; ++b) {
		column->invMass[b] = 1.0;
		column->invInertia[b] = knDiagonal33(6.0, 6.0, 6.0);
		column->u[b].lin.z = -STEP_FALL;
		column->group[b] = 1;
		column->chunks[b - 1] = (knSweepChunk){ .a = b - 1, .b = b, .first = 4 * (b - 1), .count = 4 };
		for (int k = 0; k < 4; ++k) {
			double x = k & 1 ? 0.5 : -0.5, y = k & 2 ? 0.5 : -0.5, side = b > 1 ? lean : 0.0;
			// the common part of both faces
			double from = side > 0.0 ? side - 0.5 : -0.5, to = side < 0.0 ? side + 0.5 : 0.5;
			double at = x < 0.0 ? from : to;
			column->points[4 * (b - 1) + k] = (knSweepPoint){ .n = { 0.0, 0.0, 1.0 },
															  .t1 = { 1.0, 0.0, 0.0 },
															  .t2 = { 0.0, 1.0, 0.0 },
															  .rA = { at, y, 0.5 },
															  .rB = { at - side, y, -0.5 },
															  .mu = mu };
		}
	}
	column->blocks = (knSweepBlocks){ BOXES + 1, column->invMass, column->invInertia, NULL };
}

static void freeColumn(Column* column) {
	knArena_Free(&column->arena);
}

static void sweep(Column* column, int sweeps) {
	knSweepSet set;
	knSweepOptions options = { .sweeps = sweeps, .omega = 1.0 };
	assert_true(knSweepSet_Build(&set, column->chunks, BOXES, 1, column->points, &column->blocks,
								 KN_SWEEP_CONE, NULL, &column->arena));
	knSweep_Velocities(&set, 0, &options, column->u);
	knSweepSet_Store(&set, NULL, column->points);
}

static double solve(Column* column) {
	double left[BOXES + 1];
	const uint8_t wanted[BOXES + 1] = { 0, 1 };
	knSubspace problem = { .chunks = column->chunks,
						   .chunkCount = BOXES,
						   .points = column->points,
						   .blocks = &column->blocks,
						   .group = column->group,
						   .wanted = wanted };
	assert_true(knSubspace_Solve(&problem, column->u, left, &column->arena));
	return left[1];
}

// Straight: nothing moves, and every interface carries what stands on it.
static void test_straight_column_carries_its_weight(void** state) {
	(void)state;
	static Column column;
	makeColumn(&column, 0.0, 0.5);
	sweep(&column, 20);
	double left = solve(&column);
	assert_true(left < 1e-15);
	for (int b = 1; b <= BOXES; ++b) {
		double sum = 0.0;
		for (int k = 4 * (b - 1); k < 4 * b; ++k) {
			assert_true(column.points[k].lambda[0] >= 0.0);
			sum += column.points[k].lambda[0];
		}
		assert_near(sum, STEP_FALL * (BOXES + 1 - b), 1e-8);
		assert_near3(column.u[b].lin, knZero3(), 1e-3 * STEP_FALL);
	}
	freeColumn(&column);
}

// Leaning so far that it falls, which 60 sweeps do not find out: normals press or separate, impulses stay in their cones.
static void test_leaning_column_falls(void** state) {
	(void)state;
	static Column solved;
	makeColumn(&solved, 0.03, 0.5);
	sweep(&solved, 60);
	assert_true(solved.u[BOXES].lin.x < 1e-6);
	double left = solve(&solved);
	for (int i = 0; i < 5; ++i) {
		left = solve(&solved); // what it found is kept, and made better
	}
	assert_true(left < 1e-18);
	assert_true(solved.u[BOXES].lin.x > 1e-3);
	for (int i = 0; i < BOXES; ++i) {
		for (int k = 4 * i; k < 4 * i + 4; ++k) {
			const knSweepPoint* point = &solved.points[k];
			knVec3 below = knAdd(solved.u[i].lin, knCross(solved.u[i].ang, point->rA));
			knVec3 above = knAdd(solved.u[i + 1].lin, knCross(solved.u[i + 1].ang, point->rB));
			double w = above.z - below.z;
			assert_true(w > -1e-8);
			assert_true(point->lambda[0] < 1e-8 || w < 1e-8);
		}
	}
	for (int k = 0; k < 4 * BOXES; ++k) {
		const double* lambda = solved.points[k].lambda;
		assert_true(lambda[0] >= 0.0);
		assert_true(sqrt(lambda[1] * lambda[1] + lambda[2] * lambda[2]) <=
					0.5 * lambda[0] * (1.0 + 1e-12) + 1e-15);
	}
	freeColumn(&solved);
}

// Velocities belong to impulses: their momentum is what gravity and the floor gave.
static void test_momentum_belongs_to_the_impulses(void** state) {
	(void)state;
	static Column column;
	makeColumn(&column, 0.1, 0.05);
	sweep(&column, 5);
	solve(&column);
	knVec3 momentum = knZero3(), given = knV3(0.0, 0.0, -STEP_FALL * BOXES);
	for (int b = 1; b <= BOXES; ++b) {
		momentum = knAdd(momentum, column.u[b].lin);
	}
	for (int k = 0; k < 4; ++k) {
		const double* lambda = column.points[k].lambda;
		given = knAdd(given, knV3(lambda[1], lambda[2], lambda[0]));
	}
	assert_near3(momentum, given, 1e-9);
	freeColumn(&column);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_straight_column_carries_its_weight),
		cmocka_unit_test(test_leaning_column_falls),
		cmocka_unit_test(test_momentum_belongs_to_the_impulses),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
