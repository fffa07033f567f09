// Rounds of the subspace solve, group by group. A group is solved with numbers of its own for its blocks, so it costs as much
// as it has contacts, whatever else there is, and does not know of other groups. Every round starts from impulses that are
// within their bounds and velocities that belong to them, and ends so. The round with the least residual counts
//
//   r = 1/2 sum over points of D (lambda - P(lambda - w / D))^2      P: onto the bounds
//
// an energy: what visits of the rows, each by itself, would still change.

#include "solve/subspace.h"

#define ROUNDS 8
#define SWEEPS 10           // between rounds
#define STICKS (1.0 - 1e-9) // of the cone: less is sticking
#define TOUCHES 1e-9        // m/s: what separates more slowly may come to press

// A point and its rows, whether they take part or not.
typedef struct Site {
	knSweepPoint* point;
	int32_t a, b; // numbers within the group
	knVec3 axis[3];
	double D[3];
	double lambda[3];
} Site;

// One group.
typedef struct Solve {
	const knSubspace* problem;
	const int32_t* chunks; // [chunkCount] of the group
	int chunkCount;
	int32_t* number; // [problem's blocks] of a block within the group, -1: none yet
	int32_t* block;  // [blockCount] the problem's; number 0 stands for none, as rows want it
	int blockCount;
	Site* sites;
	int siteCount;
	knTwist* u; // [blockCount]
	knRows rows;
	int32_t* siteOf;   // [rows.capacity] 3 site + axis
	double (*best)[3]; // [siteCount]
	knTwist* bestU;    // [blockCount]
	double left;       // m2/s2 of the mass, of the best
	double mass;
} Solve;

static knTwist along(knVec3 r, knVec3 axis, double sign) {
	return knMakeTwist(knScale(sign, knCross(r, axis)), knScale(sign, axis));
}

// Zero for a block that does not move.
static knTwist response(const Solve* solve, int32_t number, knTwist J) {
	const knSweepBlocks* blocks = solve->problem->blocks;
	int32_t block = solve->block[number];
	bool moves = blocks->invMass[block] > 0.0;
	return moves ? knMakeTwist(knMulMV(&blocks->invInertia[block], J.ang),
							   knScale(blocks->invMass[block], J.lin))
				 : knZeroTwist();
}

static double speedOf(const Solve* solve, const Site* site, int i) {
	const knTwist *a = &solve->u[site->a], *b = &solve->u[site->b];
	knVec3 va = knAdd(a->lin, knCross(a->ang, site->point->rA));
	knVec3 vb = knAdd(b->lin, knCross(b->ang, site->point->rB));
	return knDot(site->axis[i], knSub(vb, va)) + (i == 0 ? site->point->bias : 0.0);
}

static void push(Solve* solve, const Site* site, int i, double impulse) {
	knTwist Ja = along(site->point->rA, site->axis[i], -1.0), Jb = along(site->point->rB, site->axis[i], 1.0);
	solve->u[site->a] = knMulAddT(solve->u[site->a], impulse, response(solve, site->a, Ja));
	solve->u[site->b] = knMulAddT(solve->u[site->b], impulse, response(solve, site->b, Jb));
}

static void addSite(Solve* solve, const knSweepChunk* chunk, int k) {
	knSweepPoint* point = &solve->problem->points[k];
	Site* site = &solve->sites[solve->siteCount++];
	*site = (Site){ .point = point,
					.a = solve->number[chunk->a],
					.b = solve->number[chunk->b],
					.axis = { point->n, point->t1, point->t2 } };
	for (int i = 0; i < 3; ++i) {
		knTwist Ja = along(point->rA, site->axis[i], -1.0), Jb = along(point->rB, site->axis[i], 1.0);
		site->D[i] = knDotT(Ja, response(solve, site->a, Ja)) + knDotT(Jb, response(solve, site->b, Jb));
		site->lambda[i] = point->lambda[i];
	}
}

static void addRow(Solve* solve, int s, int i) {
	const Site* site = &solve->sites[s];
	knTwist Ja = along(site->point->rA, site->axis[i], -1.0), Jb = along(site->point->rB, site->axis[i], 1.0);
	solve->siteOf[solve->rows.count] = 3 * s + i;
	solve->rows.items[solve->rows.count++] = (knRow){ .a = site->a,
													  .b = site->b,
													  .Ja = Ja,
													  .Jb = Jb,
													  .Ta = response(solve, site->a, Ja),
													  .Tb = response(solve, site->b, Jb),
													  .D = site->D[i],
													  .bias = i == 0 ? site->point->bias : 0.0,
													  .lo = -(double)INFINITY,
													  .hi = (double)INFINITY,
													  .normal = KN_ROW_NO_NORMAL,
													  .group = s,
													  .lambda = site->lambda[i] };
}

static double rubbing(const double lambda[3]) {
	return sqrt(lambda[1] * lambda[1] + lambda[2] * lambda[2]);
}

// The rows of points that press or sink, with friction where it holds.
static void listRows(Solve* solve) {
	solve->rows.count = 0;
	for (int s = 0; s < solve->siteCount; ++s) {
		const Site* site = &solve->sites[s];
		bool presses = site->lambda[0] > 0.0 || speedOf(solve, site, 0) < TOUCHES;
		if (!presses) {
			continue;
		}
		addRow(solve, s, 0);
		double limit = site->point->mu * site->lambda[0];
		if (site->point->mu > 0.0 && rubbing(site->lambda) <= STICKS * limit) {
			addRow(solve, s, 1);
			addRow(solve, s, 2);
		}
	}
}

// Takes the rows' impulses over, as far as their bounds allow; velocities follow.
static void takeOver(Solve* solve) {
	for (int r = 0; r < solve->rows.count; ++r) {
		Site* site = &solve->sites[solve->siteOf[r] / 3];
		site->lambda[solve->siteOf[r] % 3] = solve->rows.items[r].lambda;
	}
	for (int s = 0; s < solve->siteCount; ++s) {
		Site* site = &solve->sites[s];
		double normal = knMax(site->lambda[0], 0.0), limit = site->point->mu * normal;
		double rubs = rubbing(site->lambda), share = rubs > limit ? limit / rubs : 1.0;
		const double within[3] = { normal, share * site->lambda[1], share * site->lambda[2] };
		for (int i = 0; i < 3; ++i) {
			if (within[i] != site->lambda[i]) {
				push(solve, site, i, within[i] - site->lambda[i]);
				site->lambda[i] = within[i];
			}
		}
	}
}

// What a visit of the point's rows, normal and friction by themselves, would change. Friction has one D that bounds the
// response of both of its rows.
static void visit(const Solve* solve, const Site* site, double change[3], double* D) {
	*D = site->D[1] + site->D[2];
	change[0] = knMax(site->lambda[0] - speedOf(solve, site, 0) / site->D[0], 0.0) - site->lambda[0];
	double limit = site->point->mu * site->lambda[0];
	double t1 = site->lambda[1] - speedOf(solve, site, 1) / *D;
	double t2 = site->lambda[2] - speedOf(solve, site, 2) / *D;
	double rubs = sqrt(t1 * t1 + t2 * t2), share = rubs > limit ? limit / rubs : 1.0;
	change[1] = share * t1 - site->lambda[1];
	change[2] = share * t2 - site->lambda[2];
}

static double residualOf(const Solve* solve, const Site* site) {
	double change[3], D;
	visit(solve, site, change, &D);
	return 0.5 * (site->D[0] * change[0] * change[0] + D * (change[1] * change[1] + change[2] * change[2]));
}

// Plain sweeps: which points press and stick is found out anew.
static void sweepSites(Solve* solve) {
	for (int n = 0; n < SWEEPS * solve->siteCount; ++n) {
		Site* site = &solve->sites[n % solve->siteCount];
		double change[3], D;
		visit(solve, site, change, &D);
		site->lambda[0] += change[0];
		push(solve, site, 0, change[0]);
		visit(solve, site, change, &D);
		for (int i = 1; i < 3; ++i) {
			site->lambda[i] += change[i];
			push(solve, site, i, change[i]);
		}
	}
}

// What a group has now, if it is the best so far.
static void keepBest(Solve* solve) {
	double now = 0.0;
	for (int s = 0; s < solve->siteCount; ++s) {
		now += residualOf(solve, &solve->sites[s]);
	}
	now /= solve->mass;
	if (!(now < solve->left)) {
		return;
	}
	solve->left = now;
	for (int s = 0; s < solve->siteCount; ++s) {
		for (int i = 0; i < 3; ++i) {
			solve->best[s][i] = solve->sites[s].lambda[i];
		}
	}
	for (int b = 0; b < solve->blockCount; ++b) {
		solve->bestU[b] = solve->u[b];
	}
}

static void addBlock(Solve* solve, int32_t block, const knTwist* u) {
	if (solve->number[block] < 0) {
		double invMass = solve->problem->blocks->invMass[block];
		solve->number[block] = solve->blockCount;
		solve->u[solve->blockCount] = u[block];
		solve->block[solve->blockCount++] = block;
		solve->mass += invMass > 0.0 ? 1.0 / invMass : 0.0;
	}
}

static bool begin(Solve* solve, const knTwist* u, knArena* arena) {
	const knSubspace* problem = solve->problem;
	int points = 0;
	for (int i = 0; i < solve->chunkCount; ++i) {
		points += problem->chunks[solve->chunks[i]].count;
	}
	int blocks = 2 * solve->chunkCount + 1; // at most
	solve->block = KN_SCRATCH(arena, int32_t, blocks);
	solve->u = KN_SCRATCH_ZERO(arena, knTwist, blocks);
	solve->bestU = KN_SCRATCH(arena, knTwist, blocks);
	solve->sites = KN_SCRATCH(arena, Site, points);
	solve->rows.items = KN_SCRATCH(arena, knRow, 3 * points);
	solve->siteOf = KN_SCRATCH(arena, int32_t, 3 * points);
	solve->best = (double(*)[3])KN_SCRATCH(arena, double, 3 * points);
	if (arena->failed) {
		return false;
	}
	solve->blockCount = 1;
	for (int i = 0; i < solve->chunkCount; ++i) {
		const knSweepChunk* chunk = &problem->chunks[solve->chunks[i]];
		addBlock(solve, chunk->a, u);
		addBlock(solve, chunk->b, u);
		for (int k = chunk->first; k < chunk->first + chunk->count; ++k) {
			addSite(solve, chunk, k);
		}
	}
	solve->rows.capacity = 3 * points;
	solve->rows.blockCount = solve->blockCount;
	solve->left = (double)INFINITY;
	keepBest(solve);
	return true;
}

static void end(const Solve* solve, knTwist* u) {
	for (int s = 0; s < solve->siteCount; ++s) {
		for (int i = 0; i < 3; ++i) {
			solve->sites[s].point->lambda[i] = solve->best[s][i];
		}
	}
	for (int b = 1; b < solve->blockCount; ++b) {
		int32_t block = solve->block[b];
		if (solve->problem->blocks->invMass[block] > 0.0) {
			u[block] = solve->bestU[b];
		}
		solve->number[block] = -1;
	}
}

static bool solveGroup(Solve* solve, knTwist* u, knArena* arena) {
	if (!begin(solve, u, arena)) {
		return false;
	}
	for (int round = 0; round < ROUNDS && solve->left > solve->problem->enough; ++round) {
		listRows(solve);
		knDirectRows direct;
		if (!knDirectRows_Build(&direct, &solve->rows, arena)) {
			return false;
		}
		if (direct.count < solve->rows.count) {
			break; // too dense, or not finite
		}
		for (int i = 0; i < 3; ++i) {
			knDirectRows_Solve(&direct, solve->u); // again, as rows of loops give way
		}
		takeOver(solve);
		sweepSites(solve);
		keepBest(solve);
	}
	end(solve, u);
	return true;
}

// The chunks of groups wanted, by group: those of group g from first[g] to first[g + 1].
static bool listChunks(const knSubspace* problem, int32_t** chunks, int32_t** first, knArena* arena) {
	int count = problem->blocks->count;
	*chunks = KN_SCRATCH(arena, int32_t, problem->chunkCount);
	*first = KN_SCRATCH_ZERO(arena, int32_t, count + 2);
	if (arena->failed) {
		return false;
	}
	for (int i = 0; i < problem->chunkCount; ++i) {
		int32_t group = knSubspace_GroupOf(problem->group, &problem->chunks[i]);
		(*first)[group + 2] += problem->wanted[group];
	}
	for (int g = 0; g < count; ++g) {
		(*first)[g + 2] += (*first)[g + 1];
	}
	// first[g + 1] runs from the begin to the end of group g
	for (int i = 0; i < problem->chunkCount; ++i) {
		int32_t group = knSubspace_GroupOf(problem->group, &problem->chunks[i]);
		if (problem->wanted[group]) {
			(*chunks)[(*first)[group + 1]++] = i;
		}
	}
	return true;
}

bool knSubspace_Solve(const knSubspace* problem, knTwist* u, double* left, knArena* arena) {
	int32_t *chunks, *first;
	int32_t* number = KN_SCRATCH(arena, int32_t, problem->blocks->count);
	if (number == NULL || !listChunks(problem, &chunks, &first, arena)) {
		return false;
	}
	for (int b = 0; b < problem->blocks->count; ++b) {
		number[b] = -1;
	}
	for (int g = 0; g < problem->blocks->count; ++g) {
		if (first[g + 1] > first[g]) {
			Solve solve = { .problem = problem,
							.chunks = &chunks[first[g]],
							.chunkCount = first[g + 1] - first[g],
							.number = number };
			if (!solveGroup(&solve, u, arena)) {
				return false;
			}
			left[g] = solve.left;
		}
	}
	return true;
}
