// Rounds of the subspace solve. Every round starts from impulses that are within their bounds and velocities that belong to
// them, and ends so. A group keeps the round with the least residual
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
	int32_t a, b, group;
	knVec3 axis[3];
	double D[3];
	double lambda[3];
} Site;

typedef struct Solve {
	const knSubspace* problem;
	Site* sites;
	int siteCount;
	knTwist* u;
	knRows rows;
	int32_t* siteOf;   // [rows.capacity] 3 site + axis
	double* residual;  // [blocks]
	double (*best)[3]; // [siteCount]
	knTwist* bestU;    // [blocks]
} Solve;

static knTwist along(knVec3 r, knVec3 axis, double sign) {
	return knMakeTwist(knScale(sign, knCross(r, axis)), knScale(sign, axis));
}

static knTwist response(const knSweepBlocks* blocks, int block, knTwist J) {
	return knMakeTwist(knMulMV(&blocks->invInertia[block], J.ang), knScale(blocks->invMass[block], J.lin));
}

static double speedOf(const Solve* solve, const Site* site, int i) {
	const knTwist *a = &solve->u[site->a], *b = &solve->u[site->b];
	knVec3 va = knAdd(a->lin, knCross(a->ang, site->point->rA));
	knVec3 vb = knAdd(b->lin, knCross(b->ang, site->point->rB));
	return knDot(site->axis[i], knSub(vb, va)) + (i == 0 ? site->point->bias : 0.0);
}

static void push(Solve* solve, const Site* site, int i, double impulse) {
	const knSweepBlocks* blocks = solve->problem->blocks;
	knTwist Ja = along(site->point->rA, site->axis[i], -1.0), Jb = along(site->point->rB, site->axis[i], 1.0);
	if (blocks->invMass[site->a] > 0.0) {
		solve->u[site->a] = knMulAddT(solve->u[site->a], impulse, response(blocks, site->a, Ja));
	}
	if (blocks->invMass[site->b] > 0.0) {
		solve->u[site->b] = knMulAddT(solve->u[site->b], impulse, response(blocks, site->b, Jb));
	}
}

static void addSite(Solve* solve, const knSweepChunk* chunk, int k) {
	const knSubspace* problem = solve->problem;
	const knSweepBlocks* blocks = problem->blocks;
	knSweepPoint* point = &problem->points[k];
	int32_t group = problem->group[chunk->a] >= 0 ? problem->group[chunk->a] : problem->group[chunk->b];
	Site* site = &solve->sites[solve->siteCount++];
	*site = (Site){ point, chunk->a, chunk->b, group, { point->n, point->t1, point->t2 }, { 0 }, { 0 } };
	for (int i = 0; i < 3; ++i) {
		knTwist Ja = along(point->rA, site->axis[i], -1.0), Jb = along(point->rB, site->axis[i], 1.0);
		site->D[i] += blocks->invMass[chunk->a] > 0.0 ? knDotT(Ja, response(blocks, chunk->a, Ja)) : 0.0;
		site->D[i] += blocks->invMass[chunk->b] > 0.0 ? knDotT(Jb, response(blocks, chunk->b, Jb)) : 0.0;
		site->lambda[i] = point->lambda[i];
	}
}

static void addRow(Solve* solve, int s, int i) {
	const Site* site = &solve->sites[s];
	const knSweepBlocks* blocks = solve->problem->blocks;
	knTwist Ja = along(site->point->rA, site->axis[i], -1.0), Jb = along(site->point->rB, site->axis[i], 1.0);
	bool freeA = blocks->invMass[site->a] > 0.0, freeB = blocks->invMass[site->b] > 0.0;
	solve->siteOf[solve->rows.count] = 3 * s + i;
	solve->rows.items[solve->rows.count++] =
		(knRow){ .a = site->a,
				 .b = site->b,
				 .Ja = Ja,
				 .Jb = Jb,
				 .Ta = freeA ? response(blocks, site->a, Ja) : knZeroTwist(),
				 .Tb = freeB ? response(blocks, site->b, Jb) : knZeroTwist(),
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

// Groups whose residual fell keep what they have now.
static void keepBest(Solve* solve, double* left, double* now) {
	const knSubspace* problem = solve->problem;
	for (int b = 0; b < problem->blocks->count; ++b) {
		now[b] = 0.0;
	}
	for (int s = 0; s < solve->siteCount; ++s) {
		now[solve->sites[s].group] += residualOf(solve, &solve->sites[s]);
	}
	for (int s = 0; s < solve->siteCount; ++s) {
		const Site* site = &solve->sites[s];
		if (now[site->group] < left[site->group]) {
			for (int i = 0; i < 3; ++i) {
				solve->best[s][i] = site->lambda[i];
			}
			solve->bestU[site->a] = solve->u[site->a];
			solve->bestU[site->b] = solve->u[site->b];
		}
	}
	for (int b = 0; b < problem->blocks->count; ++b) {
		left[b] = knMin(left[b], now[b]);
	}
}

static bool begin(Solve* solve, double* left, knArena* arena) {
	const knSubspace* problem = solve->problem;
	int count = 0, blocks = problem->blocks->count;
	for (int i = 0; i < problem->listCount; ++i) {
		count += problem->chunks[problem->list[i]].count;
	}
	solve->sites = KN_SCRATCH(arena, Site, count);
	solve->rows.items = KN_SCRATCH(arena, knRow, 3 * count);
	solve->siteOf = KN_SCRATCH(arena, int32_t, 3 * count);
	solve->best = (double(*)[3])KN_SCRATCH(arena, double, 3 * count);
	solve->bestU = KN_SCRATCH(arena, knTwist, blocks);
	solve->residual = KN_SCRATCH(arena, double, blocks);
	solve->rows.capacity = 3 * count;
	solve->rows.blockCount = blocks;
	if (arena->failed) {
		return false;
	}
	for (int i = 0; i < problem->listCount; ++i) {
		const knSweepChunk* chunk = &problem->chunks[problem->list[i]];
		for (int k = chunk->first; k < chunk->first + chunk->count; ++k) {
			addSite(solve, chunk, k);
		}
	}
	for (int b = 0; b < blocks; ++b) {
		left[b] = (double)INFINITY;
	}
	keepBest(solve, left, solve->residual);
	return true;
}

static void end(const Solve* solve, double* left) {
	const knSweepBlocks* blocks = solve->problem->blocks;
	for (int s = 0; s < solve->siteCount; ++s) {
		const Site* site = &solve->sites[s];
		for (int i = 0; i < 3; ++i) {
			site->point->lambda[i] = solve->best[s][i];
		}
		solve->u[site->a] = solve->bestU[site->a];
		solve->u[site->b] = solve->bestU[site->b];
	}
	for (int b = 0; b < blocks->count; ++b) {
		solve->residual[b] = 0.0;
	}
	for (int b = 0; b < blocks->count; ++b) {
		if (solve->problem->group[b] >= 0) {
			solve->residual[solve->problem->group[b]] += 1.0 / blocks->invMass[b];
		}
	}
	for (int b = 0; b < blocks->count; ++b) {
		left[b] = solve->residual[b] > 0.0 ? left[b] / solve->residual[b] : left[b];
	}
}

bool knSubspace_Solve(const knSubspace* problem, knTwist* u, double* left, knArena* arena) {
	Solve solve = { .problem = problem, .u = u };
	if (!begin(&solve, left, arena)) {
		return false;
	}
	for (int round = 0; round < ROUNDS; ++round) {
		listRows(&solve);
		knDirectRows direct;
		if (!knDirectRows_Build(&direct, &solve.rows, arena)) {
			return false;
		}
		if (direct.count < solve.rows.count) {
			break; // too dense, or not finite
		}
		for (int i = 0; i < 3; ++i) {
			knDirectRows_Solve(&direct, u); // again, as rows of loops give way
		}
		takeOver(&solve);
		sweepSites(&solve);
		keepBest(&solve, left, solve.residual);
	}
	end(&solve, left);
	return true;
}
