// Sweeps over contacts in packs: against rows one by one, kernels against their scalar twin, stages, corrections, merit.
#include "support/kn_test.h"

#include "solve/pgs.h"
#include "solve/sweep.h"

#define BLOCKS 40
#define CHUNKS 90
#define POINTS (CHUNKS * KN_CHUNK_POINTS)

// Random contacts between random blocks; block 0 is immovable.
typedef struct Problem {
	double invMass[BLOCKS];
	knMat33 invInertia[BLOCKS];
	knTwist u[BLOCKS];
	knSweepChunk chunks[CHUNKS];
	int chunkCount;
	knSweepPoint points[POINTS];
	int pointCount;
	knArena arena;
	knAllocator allocator;
} Problem;

static knSweepPoint randomPoint(knTestRandom* random, bool rolls) {
	knSweepPoint point = { .n = testUnit3(random) };
	point.t1 = knAnyOrthogonal(point.n);
	point.t2 = knCross(point.n, point.t1);
	point.rA = testVec3(random, 1.0);
	point.rB = testVec3(random, 1.0);
	point.bias = testUniform(random, -0.5, 0.5);
	point.mu = testUniform(random, 0.1, 1.0);
	point.arm = rolls ? 0.1 : 0.0;
	point.lambda[0] = testUniform(random, 0.0, 0.2);
	point.depth = testUniform(random, -0.1, 0.1);
	return point;
}

static void makeProblem(Problem* problem, uint64_t seed, bool rolls) {
	knTestRandom random = { seed };
	memset(problem, 0, sizeof(*problem));
	problem->allocator = knAllocator_Default();
	knArena_Init(&problem->arena, &problem->allocator);
	for (int b = 1; b < BLOCKS; ++b) {
		knMat33 I = knDiagonal33(testUniform(&random, 0.2, 2.0), testUniform(&random, 0.2, 2.0), 1.0);
		problem->invMass[b] = testUniform(&random, 0.2, 2.0);
		problem->invInertia[b] = knRotateTensor(testQuat(&random), &I);
		problem->u[b] = knMakeTwist(testVec3(&random, 1.0), testVec3(&random, 1.0));
	}
	problem->chunkCount = CHUNKS;
	for (int i = 0; i < CHUNKS; ++i) {
		knSweepChunk* chunk = &problem->chunks[i];
		chunk->a = testInt(&random, BLOCKS);
		chunk->b = (chunk->a + 1 + testInt(&random, BLOCKS - 1)) % BLOCKS;
		chunk->first = problem->pointCount;
		chunk->count = 1 + testInt(&random, KN_CHUNK_POINTS);
		for (int k = 0; k < chunk->count; ++k) {
			problem->points[problem->pointCount++] = randomPoint(&random, rolls);
		}
	}
}

static void freeProblem(Problem* problem) {
	knArena_Free(&problem->arena);
}

static knSweepSet buildSet(Problem* problem, int stages, const int32_t* freeStage, knSweepFriction friction) {
	knSweepSet set;
	knSweepBlocks blocks = { .count = BLOCKS,
							 .invMass = problem->invMass,
							 .invInertia = problem->invInertia,
							 .freeStage = freeStage };
	assert_true(knSweepSet_Build(&set, problem->chunks, problem->chunkCount, stages, problem->points, &blocks,
								 friction, NULL, &problem->arena));
	return set;
}

// --- packs -----------------------------------------------------------------------------------------------

// Every chunk is in exactly one lane, and no two lanes of a colour share a block that moves.
static void test_packs_are_proper(void** state) {
	(void)state;
	for (uint64_t seed = 1; seed < 10; ++seed) {
		Problem problem;
		makeProblem(&problem, seed, false);
		knSweepSet set = buildSet(&problem, 1, NULL, KN_SWEEP_CONE);
		int seen[CHUNKS] = { 0 };
		for (int c = 0; c < set.colourCount; ++c) {
			int users[BLOCKS] = { 0 };
			for (int p = set.colours[c].first; p < set.colours[c].first + set.colours[c].count; ++p) {
				for (int lane = 0; lane < KN_LANES && set.packs[p].chunk[lane] >= 0; ++lane) {
					const knSweepChunk* chunk = &problem.chunks[set.packs[p].chunk[lane]];
					seen[set.packs[p].chunk[lane]] += 1;
					assert_true(chunk->count <= set.packs[p].count);
					users[chunk->a] += chunk->a > 0;
					users[chunk->b] += chunk->b > 0;
				}
			}
			for (int b = 0; b < BLOCKS; ++b) {
				assert_true(set.colours[c].serial || users[b] <= 1);
			}
		}
		for (int i = 0; i < CHUNKS; ++i) {
			assert_int_equal(seen[i], 1);
		}
		freeProblem(&problem);
	}
}

// A hub that everything touches needs more colours than there are; what is left over is visited one by one.
static void test_hub_with_many_neighbours(void** state) {
	(void)state;
	Problem problem;
	makeProblem(&problem, 3, false);
	for (int i = 0; i < CHUNKS; ++i) {
		problem.chunks[i].a = 1;
		problem.chunks[i].b = 2 + i % (BLOCKS - 2);
	}
	for (int k = 0; k < problem.pointCount; ++k) {
		problem.points[k].bias = 0.1; // rest is allowed, so the problem has a solution
	}
	knSweepSet set = buildSet(&problem, 1, NULL, KN_SWEEP_CONE);
	assert_true(set.colours[set.colourCount - 1].serial);
	knSweepOptions options = { .sweeps = 2000, .omega = 1.0 };
	knSweep_Apply(&set, NULL, problem.u);
	double before = knSweep_Merit(&set, 0, false, NULL, problem.u);
	knSweep_Velocities(&set, 0, &options, problem.u);
	assert_true(knSweep_Merit(&set, 0, false, NULL, problem.u) < 0.02 * before);
	freeProblem(&problem);
}

// --- against rows ----------------------------------------------------------------------------------------

static knTwist timesMass(const Problem* problem, int block, knTwist J) {
	return knMakeTwist(knMulMV(&problem->invInertia[block], J.ang), knScale(problem->invMass[block], J.lin));
}

static knRow makeRow(const Problem* problem, const knSweepChunk* chunk, const knSweepPoint* point, knVec3 c) {
	knRow row = { .a = chunk->a,
				  .b = chunk->b,
				  .Ja = knMakeTwist(knNeg(knCross(point->rA, c)), knNeg(c)),
				  .Jb = knMakeTwist(knCross(point->rB, c), c),
				  .normal = KN_ROW_NO_NORMAL };
	row.Ta = timesMass(problem, row.a, row.Ja);
	row.Tb = timesMass(problem, row.b, row.Jb);
	row.D = knDotT(row.Ja, row.Ta) + knDotT(row.Jb, row.Tb);
	return row;
}

// The same problem as independent rows, visited in the order of the packs: a friction box gives the same impulses.
static void test_box_equals_rows(void** state) {
	(void)state;
	static knRow items[3 * POINTS];
	Problem problem;
	makeProblem(&problem, 7, false);
	knSweepSet set = buildSet(&problem, 1, NULL, KN_SWEEP_BOX);
	knRows rows = { .items = items, .blockCount = BLOCKS };
	int place[POINTS];
	for (int p = 0; p < set.packCount; ++p) {
		for (int lane = 0; lane < KN_LANES && set.packs[p].chunk[lane] >= 0; ++lane) {
			const knSweepChunk* chunk = &problem.chunks[set.packs[p].chunk[lane]];
			for (int k = chunk->first; k < chunk->first + chunk->count; ++k) {
				const knSweepPoint* point = &problem.points[k];
				const knVec3 axes[3] = { point->n, point->t1, point->t2 };
				place[k] = rows.count;
				for (int c = 0; c < 3; ++c) {
					knRow* row = &items[rows.count++];
					*row = makeRow(&problem, chunk, point, axes[c]);
					row->normal = c == 0 ? KN_ROW_NO_NORMAL : place[k];
					row->mu = point->mu;
				}
				items[place[k]].hi = (double)INFINITY;
				items[place[k]].bias = point->bias;
				items[place[k]].lambda = point->lambda[0];
			}
		}
	}
	knTwist u[BLOCKS];
	memcpy(u, problem.u, sizeof(u));
	knPgsResult result = knPgs_Solve(&rows, 6, u);
	knSweepOptions options = { .sweeps = 6, .omega = 1.0 };
	knSweep_Apply(&set, NULL, problem.u);
	knSweep_Velocities(&set, 0, &options, problem.u);
	knSweepSet_Store(&set, NULL, problem.points);
	for (int k = 0; k < problem.pointCount; ++k) {
		for (int c = 0; c < 3; ++c) {
			assert_near(problem.points[k].lambda[c], items[place[k] + c].lambda, 1e-12);
		}
	}
	for (int b = 0; b < BLOCKS; ++b) {
		assert_near3(problem.u[b].ang, u[b].ang, 1e-11);
		assert_near3(problem.u[b].lin, u[b].lin, 1e-11);
	}
	assert_near(knSweep_Merit(&set, 0, false, NULL, problem.u), result.theta, 1e-10 * (1.0 + result.theta));
	freeProblem(&problem);
}

// A cone: converged impulses obey Coulomb's law in every direction, and the merit vanishes.
static void test_cone_obeys_coulomb(void** state) {
	(void)state;
	Problem problem;
	makeProblem(&problem, 11, false);
	problem.chunkCount = 20;
	knSweepSet set = buildSet(&problem, 1, NULL, KN_SWEEP_CONE);
	knSweepOptions options = { .sweeps = 4000, .omega = 1.0 };
	knSweep_Apply(&set, NULL, problem.u);
	knSweep_Velocities(&set, 0, &options, problem.u);
	knSweepSet_Store(&set, NULL, problem.points);
	assert_true(knSweep_Merit(&set, 0, false, NULL, problem.u) < 1e-12);
	int sliding = 0, sticking = 0;
	for (int i = 0; i < problem.chunkCount; ++i) {
		const knSweepChunk* chunk = &problem.chunks[i];
		for (int k = chunk->first; k < chunk->first + chunk->count; ++k) {
			const knSweepPoint* point = &problem.points[k];
			const knTwist *a = &problem.u[chunk->a], *b = &problem.u[chunk->b];
			knVec3 v =
				knSub(knAdd(b->lin, knCross(b->ang, point->rB)), knAdd(a->lin, knCross(a->ang, point->rA)));
			double w1 = knDot(point->t1, v), w2 = knDot(point->t2, v), speed = sqrt(w1 * w1 + w2 * w2);
			double limit = point->mu * point->lambda[0];
			double friction = sqrt(point->lambda[1] * point->lambda[1] + point->lambda[2] * point->lambda[2]);
			assert_true(knDot(point->n, v) + point->bias > -1e-5);
			assert_true(friction <= limit * (1.0 + 1e-9) + 1e-12);
			if (speed > 1e-4 && limit > 1e-6) {
				// sliding: all of the friction, against the motion
				assert_near(friction, limit, 1e-9);
				assert_near(point->lambda[1] * w1 + point->lambda[2] * w2, -limit * speed,
							1e-4 * limit * speed + 1e-9);
				sliding += 1;
			} else {
				sticking += limit > 1e-6;
			}
		}
	}
	assert_true(sliding > 3 && sticking > 3);
	freeProblem(&problem);
}

// --- kernels ---------------------------------------------------------------------------------------------

static void runKernel(const knSweepKernel* kernel, const knSweepSet* set, const Problem* problem,
					  const knPackOptions* options, knTwist* u, knTwist* p, double* theta) {
	memset(set->points, 0, sizeof(knPackPoint) * (size_t)set->pointCount);
	kernel->load(set, problem->points, 0, set->packCount);
	kernel->prepare(set, 0, set->packCount);
	for (int c = 0; c < set->colourCount; ++c) {
		int begin = set->colours[c].first, end = begin + set->colours[c].count;
		kernel->apply(set, begin, end, u);
		for (int sweep = 0; sweep < 3; ++sweep) {
			kernel->velocities(set, begin, end, options, u, u);
			kernel->correct(set, begin, end, p);
		}
	}
	kernel->merit(set, 0, set->packCount, options, u, theta);
}

// All kernels that this build and machine have, every option: equal bits.
static void test_kernels_equal_their_scalar_twin(void** state) {
	(void)state;
	for (int n = 0; n < 8; ++n) {
		knSweepFriction friction = n % 2 == 0 ? KN_SWEEP_CONE : KN_SWEEP_BOX;
		knPackOptions options = { .friction = friction,
								  .gamma = n >= 4 ? 0.1 : 0.0,
								  .omega = n >= 4 ? 1.2 : 1.0,
								  .general = n % 2 == 1 || n >= 4,
								  .unscaled = n == 3 };
		for (int k = 0; knSweepKernel_At(k) != NULL; ++k) {
			Problem one, two;
			makeProblem(&one, 20 + (uint64_t)n, n >= 2);
			makeProblem(&two, 20 + (uint64_t)n, n >= 2);
			knSweepSet setOne = buildSet(&one, 1, NULL, friction), setTwo = buildSet(&two, 1, NULL, friction);
			knTwist p1[BLOCKS] = { 0 }, p2[BLOCKS] = { 0 };
			double theta1[CHUNKS], theta2[CHUNKS];
			runKernel(&knSweepKernelScalar, &setOne, &one, &options, one.u, p1, theta1);
			runKernel(knSweepKernel_At(k), &setTwo, &two, &options, two.u, p2, theta2);
			assert_memory_equal(one.u, two.u, sizeof(one.u));
			assert_memory_equal(p1, p2, sizeof(p1));
			assert_memory_equal(theta1, theta2, sizeof(double) * (size_t)setOne.packCount);
			assert_memory_equal(setOne.points, setTwo.points,
								sizeof(knPackPoint) * (size_t)setOne.pointCount);
			freeProblem(&one);
			freeProblem(&two);
		}
	}
}

// lambda += beta p, p = lambda - before + beta p; and what has changed since, each row by its D.
static void goOn(knPackMomentum* m, double lambda[3][KN_LANES], int lane, double beta) {
	for (int i = 0; i < 3; ++i) {
		double next = lambda[i][lane] + beta * m->direction[i][lane];
		m->direction[i][lane] = next - m->before[i][lane];
		m->before[i][lane] = lambda[i][lane] = next;
	}
}

static double squareOf(const knPackMomentum* m, double lambda[3][KN_LANES], int lane, const double invD[3]) {
	double sum = 0.0;
	for (int i = 0; i < 3; ++i) {
		double g = lambda[i][lane] - m->before[i][lane];
		sum += invD[i] > 0.0 ? g * g / invD[i] : 0.0;
	}
	return sum;
}

static void goOnAll(const knSweepSet* set, const knMomentumPacks* m) {
	for (int p = 0; p < set->packCount; ++p) {
		for (int lane = 0; lane < KN_LANES; ++lane) {
			double beta = m->groupOf[p][lane] >= 0 ? m->groupBeta[m->groupOf[p][lane]] : 0.0;
			for (int k = set->packs[p].first; k < set->packs[p].first + set->packs[p].count; ++k) {
				goOn(&m->points[k], set->points[k].lambda, lane, beta);
				if (m->rolling != NULL) {
					goOn(&m->rolling[k], set->rolling[k].lambda, lane, beta);
				}
			}
		}
	}
}

static double squareOfLane(const knSweepSet* set, const knMomentumPacks* m, int p, int lane) {
	double sum = 0.0;
	for (int k = set->packs[p].first; k < set->packs[p].first + set->packs[p].count; ++k) {
		const knPackPoint* point = &set->points[k];
		const double invD[3] = { point->invD[lane], point->invD1[lane], point->invD2[lane] };
		sum += squareOf(&m->points[k], set->points[k].lambda, lane, invD);
		if (m->rolling != NULL) {
			const double turn = set->rolling[k].invD[lane], same[3] = { turn, turn, turn };
			sum += squareOf(&m->rolling[k], set->rolling[k].lambda, lane, same);
		}
	}
	return sum;
}

typedef struct Momenta {
	knPackMomentum points[POINTS], rolling[POINTS];
	double square[CHUNKS][KN_LANES];
	int32_t groupOf[CHUNKS][KN_LANES];
} Momenta;

static knMomentumPacks momentaOf(Momenta* m, const knSweepSet* set, const double* groupBeta, bool rolls) {
	for (int p = 0; p < set->packCount; ++p) {
		for (int lane = 0; lane < KN_LANES; ++lane) {
			m->groupOf[p][lane] = set->packs[p].chunk[lane] >= 0 ? p % 2 : -1;
		}
	}
	return (knMomentumPacks){ .points = m->points,
							  .rolling = rolls ? m->rolling : NULL,
							  .square = m->square,
							  .groupOf = m->groupOf,
							  .groupBeta = groupBeta };
}

// Momentum in the course of a sweep, of one or two passes, is that of plain passes with loops before and after them, in every
// kernel and for every kind of friction.
static void test_sweeps_that_go_on(void** state) {
	(void)state;
	static Problem one, two;
	static Momenta apart, within;
	const double groupBeta[2] = { 0.3, 0.8 };
	for (int n = 0; knSweepKernel_At(n / 8) != NULL; ++n) {
		const knSweepKernel* kernel = knSweepKernel_At(n / 8);
		const bool rolls = n % 2 == 1;
		const int passes = 1 + n / 2 % 2;
		const knSweepFriction friction = n / 4 % 2 == 0 ? KN_SWEEP_CONE : KN_SWEEP_BOX;
		makeProblem(&one, 71, rolls);
		makeProblem(&two, 71, rolls);
		knSweepSet a = buildSet(&one, 1, NULL, friction), b = buildSet(&two, 1, NULL, friction);
		knMomentumPacks loops = momentaOf(&apart, &a, groupBeta, rolls);
		knMomentumPacks inPass = momentaOf(&within, &b, groupBeta, rolls);
		// what is not written yet must not matter
		memset(within.points, 0xff, sizeof(within.points));
		memset(within.rolling, 0xff, sizeof(within.rolling));
		for (int k = 0; k < a.pointCount; ++k) {
			apart.points[k] = apart.rolling[k] = (knPackMomentum){ 0 };
			memcpy(apart.points[k].before, a.points[k].lambda, sizeof(apart.points[k].before));
			if (rolls) {
				memcpy(apart.rolling[k].before, a.rolling[k].lambda, sizeof(apart.rolling[k].before));
			}
		}
		knPackOptions options = { .friction = friction, .omega = 1.0, .general = friction == KN_SWEEP_BOX };
		for (int sweep = 0; sweep < 4; ++sweep) {
			if (sweep > 0) {
				goOnAll(&a, &loops);
			}
			for (int c = 0; c < passes * a.colourCount; ++c) {
				const knSweepColour* colour = &a.colours[c < a.colourCount ? c : 2 * a.colourCount - 1 - c];
				int begin = colour->first, end = begin + colour->count;
				int pass = c >= a.colourCount ? 0 : sweep == 0 ? KN_MOMENTUM_BEGIN : KN_MOMENTUM_GO_ON;
				pass |= c >= (passes - 1) * a.colourCount ? KN_MOMENTUM_SQUARE : 0;
				kernel->velocities(&a, begin, end, &options, one.u, one.u);
				kernel->velocitiesInPass(&b, begin, end, &options, &inPass, pass, two.u);
			}
			assert_memory_equal(one.u, two.u, sizeof(one.u));
			assert_memory_equal(apart.points, within.points, sizeof(knPackMomentum) * (size_t)a.pointCount);
			assert_memory_equal(a.points, b.points, sizeof(*a.points) * (size_t)a.pointCount);
			for (int k = 0; rolls && k < a.pointCount; ++k) {
				assert_memory_equal(a.rolling[k].lambda, b.rolling[k].lambda, sizeof(a.rolling[k].lambda));
			}
			for (int i = 0; i < KN_LANES * a.packCount; ++i) {
				double expected = squareOfLane(&a, &loops, i / KN_LANES, i % KN_LANES);
				assert_near(within.square[i / KN_LANES][i % KN_LANES], expected, 1e-12 * expected);
			}
		}
		freeProblem(&one);
		freeProblem(&two);
	}
}

// --- stages ----------------------------------------------------------------------------------------------

// A block that is free in another stage keeps its velocity, but the others feel it.
static void test_frozen_blocks_keep_their_velocity(void** state) {
	(void)state;
	Problem problem;
	makeProblem(&problem, 5, false);
	int32_t freeStage[BLOCKS];
	for (int b = 0; b < BLOCKS; ++b) {
		freeStage[b] = b % 2;
	}
	for (int i = 0; i < CHUNKS; ++i) {
		problem.chunks[i].stage = i % 3 == 2 ? -1 : i % 2;
	}
	knSweepSet set = buildSet(&problem, 2, freeStage, KN_SWEEP_CONE);
	knTwist before[BLOCKS];
	memcpy(before, problem.u, sizeof(before));
	knSweepOptions options = { .sweeps = 5, .omega = 1.0 };
	knSweep_Velocities(&set, 1, &options, problem.u);
	int moved = 0;
	for (int b = 0; b < BLOCKS; ++b) {
		bool same = memcmp(&before[b], &problem.u[b], sizeof(knTwist)) == 0;
		assert_true(same || freeStage[b] == 1);
		moved += !same;
	}
	assert_true(moved > 5);
	freeProblem(&problem);
}

// --- relaxation and stop rules ---------------------------------------------------------------------------

// Damping that falls to zero, over-relaxation and Jacobi's method (under-relaxed) have the same solution.
static void test_other_relaxations_agree(void** state) {
	(void)state;
	knTwist expected[BLOCKS];
	for (int n = 0; n < 4; ++n) {
		Problem problem;
		makeProblem(&problem, 31, false);
		problem.chunkCount = 12;
		for (int k = 0; k < problem.pointCount; ++k) {
			problem.points[k].mu = 0.0; // without friction the solution in u is unique
			problem.points[k].bias = knAbs(problem.points[k].bias);
		}
		knTwist copy[BLOCKS];
		knSweepSet set = buildSet(&problem, 1, NULL, KN_SWEEP_CONE);
		knSweepOptions options = { .sweeps = 20000, .omega = 1.0, .copy = copy, .blockCount = BLOCKS };
		options.gamma = n == 1 ? 0.5 : 0.0;
		options.omega = n == 2 ? 1.3 : (n == 3 ? 0.2 : 1.0);
		options.jacobi = n == 3;
		knSweep_Apply(&set, NULL, problem.u);
		knSweep_Velocities(&set, 0, &options, problem.u);
		if (n == 0) {
			memcpy(expected, problem.u, sizeof(expected));
		}
		for (int b = 0; b < BLOCKS; ++b) {
			assert_near3(problem.u[b].ang, expected[b].ang, 2e-4);
			assert_near3(problem.u[b].lin, expected[b].lin, 2e-4);
		}
		freeProblem(&problem);
	}
}

typedef struct Trace {
	int count;
	double first, last;
} Trace;

static void note(int sweep, double theta, void* context) {
	Trace* trace = context;
	assert_int_equal(sweep, trace->count + 1);
	trace->count = sweep;
	trace->first = sweep == 1 ? theta : trace->first;
	trace->last = theta;
}

static void test_stop_rules(void** state) {
	(void)state;
	for (int n = 0; n < 3; ++n) {
		Problem problem;
		makeProblem(&problem, 41, false);
		problem.chunkCount = 15;
		knSweepSet set = buildSet(&problem, 1, NULL, KN_SWEEP_CONE);
		Trace trace = { 0 };
		knSweepOptions options = { .sweeps = 3000, .omega = 1.0, .fn = note, .context = &trace };
		options.stopTheta = n == 1 ? 1e-6 : 0.0;
		options.stopStall = n == 2 ? 0.01 : 0.0;
		int done = knSweep_Velocities(&set, 0, &options, problem.u);
		assert_int_equal(done, trace.count);
		assert_true(trace.last < trace.first);
		if (n == 0) {
			assert_int_equal(done, 3000);
		} else {
			assert_true(done < 3000);
		}
		assert_true(n != 1 || trace.last < 1e-6);
		freeProblem(&problem);
	}
}

// --- corrections -----------------------------------------------------------------------------------------

// Two overlapping free balls move apart by the overlap, in inverse proportion to their masses.
static void test_correction_of_two_balls(void** state) {
	(void)state;
	Problem problem;
	makeProblem(&problem, 2, false);
	problem.invMass[1] = 1.0;
	problem.invMass[2] = 0.25;
	problem.chunkCount = 1;
	problem.chunks[0] = (knSweepChunk){ .a = 1, .b = 2, .first = 0, .count = 1 };
	problem.points[0] = (knSweepPoint){ .n = { 1.0, 0.0, 0.0 },
										.t1 = { 0.0, 1.0, 0.0 },
										.t2 = { 0.0, 0.0, 1.0 },
										.rA = { 0.5, 0.0, 0.0 },
										.rB = { -0.5, 0.0, 0.0 },
										.depth = -0.01 };
	knSweepSet set = buildSet(&problem, 1, NULL, KN_SWEEP_CONE);
	knTwist p[BLOCKS] = { 0 };
	knSweepRows none = { 0 };
	knSweep_Correct(&set, 0, 3, NULL, &none, p);
	assert_near3(p[1].lin, knV3(-0.008, 0.0, 0.0), 1e-16);
	assert_near3(p[2].lin, knV3(0.002, 0.0, 0.0), 1e-16);
	assert_near(p[1].lin.x / problem.invMass[1] + p[2].lin.x / problem.invMass[2], 0.0, 1e-16);
	freeProblem(&problem);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packs_are_proper),
		cmocka_unit_test(test_hub_with_many_neighbours),
		cmocka_unit_test(test_box_equals_rows),
		cmocka_unit_test(test_cone_obeys_coulomb),
		cmocka_unit_test(test_kernels_equal_their_scalar_twin),
		cmocka_unit_test(test_sweeps_that_go_on),
		cmocka_unit_test(test_frozen_blocks_keep_their_velocity),
		cmocka_unit_test(test_other_relaxations_agree),
		cmocka_unit_test(test_stop_rules),
		cmocka_unit_test(test_correction_of_two_balls),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
