// Nonlinear conjugate gradients over sweeps (Silcowitz-Hansen et al. 2010): what a sweep changes is taken as a gradient,
//
//   g = j_k - j_k-1,   beta = |g_k|^2 / |g_k-1|^2,   j += beta p,   p = g + beta p
//
// so that a load that creeps through a pile in the same direction, sweep after sweep, arrives early. Where beta
// exceeds one the direction starts anew. Velocities are linear in the impulses and go along; impulses count in |g| by what
// they would do alone. Every group of bodies that touch has its own beta; groups with joints are
// left out, as joints change velocities between the sweeps.

#include "steppers/impulse/impulse_step.h"

#define POINT_NUMBERS (3 * KN_LANES) // of a point of the set: three impulses a lane

struct knContactMomentum {
	knTwist *u, *direction;       // [bodyCount] before the sweep; of the search
	double *j, *jDirection;       // [pointCount of the set][POINT_NUMBERS]
	knVec3 *turn, *turnDirection; // [turnCount]
	double *last, *square, *beta; // [bodyCount] by group
};

knContactMomentum* knContactMomentum_Begin(knImpulseStep* step) {
	knArena* arena = step->context->arena;
	int bodyCount = step->model->bodyCount, numbers = POINT_NUMBERS * step->set.pointCount;
	knContactMomentum* m = KN_SCRATCH(arena, knContactMomentum, 1);
	if (m == NULL) {
		return NULL;
	}
	*m = (knContactMomentum){ .u = KN_SCRATCH(arena, knTwist, bodyCount),
							  .direction = KN_SCRATCH_ZERO(arena, knTwist, bodyCount),
							  .j = KN_SCRATCH(arena, double, numbers),
							  .jDirection = KN_SCRATCH_ZERO(arena, double, numbers),
							  .turn = KN_SCRATCH(arena, knVec3, step->turnCount),
							  .turnDirection = KN_SCRATCH_ZERO(arena, knVec3, step->turnCount),
							  .last = KN_SCRATCH_ZERO(arena, double, bodyCount),
							  .square = KN_SCRATCH(arena, double, bodyCount),
							  .beta = KN_SCRATCH(arena, double, bodyCount) };
	return arena->failed ? NULL : m;
}

void knContactMomentum_Before(knContactMomentum* m, const knImpulseStep* step) {
	for (int b = 0; b < step->model->bodyCount; ++b) {
		m->u[b] = step->blocks.u[b];
		m->square[b] = 0.0;
	}
	for (int k = 0; k < step->set.pointCount; ++k) {
		const double* lambda = &step->set.points[k].lambda[0][0];
		for (int i = 0; i < POINT_NUMBERS; ++i) {
			m->j[POINT_NUMBERS * k + i] = lambda[i];
		}
	}
	for (int i = 0; i < step->turnCount; ++i) {
		m->turn[i] = step->turns[i].g;
	}
}

double knContactMomentum_Change(const knContactMomentum* m, const knImpulseStep* step) {
	double largest = 0.0;
	for (int b = 0; b < step->model->bodyCount; ++b) {
		if (step->islands.group[b] >= 0) {
			knTwist change = knSubT(step->blocks.u[b], m->u[b]);
			double speed = knLength(change.lin) + step->model->radius[b] * knLength(change.ang);
			largest = knMax(largest, speed);
		}
	}
	return largest;
}

static int groupOfLane(const knImpulseStep* step, const knPack* pack, int lane) {
	int group = step->islands.group[pack->a[lane]];
	return group >= 0 ? group : step->islands.group[pack->b[lane]];
}

static double weighted(double change, double inverse) {
	return inverse > 0.0 ? change * change / inverse : 0.0;
}

static void addSquares(knContactMomentum* m, const knImpulseStep* step, const knPack* pack) {
	for (int lane = 0; lane < KN_LANES && pack->chunk[lane] >= 0; ++lane) {
		double sum = 0.0;
		for (int k = pack->first; k < pack->first + pack->count; ++k) {
			const knPackPoint* point = &step->set.points[k];
			const double* before = &m->j[POINT_NUMBERS * k + lane];
			sum += weighted(point->lambda[0][lane] - before[0], point->invD[lane]);
			sum += weighted(point->lambda[1][lane] - before[KN_LANES], point->invD1[lane]);
			sum += weighted(point->lambda[2][lane] - before[2 * KN_LANES], point->invD2[lane]);
		}
		m->square[groupOfLane(step, pack, lane)] += sum;
	}
}

static void setBetas(knContactMomentum* m, const knImpulseStep* step) {
	for (int p = 0; p < step->set.packCount; ++p) {
		addSquares(m, step, &step->set.packs[p]);
	}
	for (int b = 0; b < step->model->bodyCount; ++b) {
		bool goesOn = m->last[b] > 0.0 && m->square[b] <= m->last[b] && step->islands.jointed[b] == 0;
		m->beta[b] = goesOn ? m->square[b] / m->last[b] : 0.0;
		m->last[b] = m->square[b];
	}
}

static knVec3 advance(knVec3 before, knVec3 now, double beta, knVec3* direction) {
	knVec3 after = knMulAdd(now, beta, *direction);
	*direction = knMulAdd(knSub(now, before), beta, *direction);
	return after;
}

static void advancePack(knContactMomentum* m, const knImpulseStep* step, const knPack* pack) {
	double beta[KN_LANES] = { 0.0 };
	for (int lane = 0; lane < KN_LANES && pack->chunk[lane] >= 0; ++lane) {
		beta[lane] = m->beta[groupOfLane(step, pack, lane)];
	}
	for (int k = pack->first; k < pack->first + pack->count; ++k) {
		double* lambda = &step->set.points[k].lambda[0][0];
		double *before = &m->j[POINT_NUMBERS * k], *direction = &m->jDirection[POINT_NUMBERS * k];
		for (int i = 0; i < POINT_NUMBERS; ++i) {
			double now = lambda[i], along = beta[i % KN_LANES] * direction[i];
			lambda[i] = now + along;
			direction[i] = now - before[i] + along;
		}
	}
}

void knContactMomentum_After(knContactMomentum* m, knImpulseStep* step) {
	setBetas(m, step);
	for (int b = 0; b < step->model->bodyCount; ++b) {
		int group = step->islands.group[b];
		if (group >= 0) {
			knTwist* u = &step->blocks.u[b];
			u->lin = advance(m->u[b].lin, u->lin, m->beta[group], &m->direction[b].lin);
			u->ang = advance(m->u[b].ang, u->ang, m->beta[group], &m->direction[b].ang);
		}
	}
	for (int p = 0; p < step->set.packCount; ++p) {
		advancePack(m, step, &step->set.packs[p]);
	}
	for (int i = 0; i < step->pointCount && step->turnCount > 0; ++i) {
		const knImpulsePoint* p = &step->points[i];
		if (p->turn >= 0) {
			double beta = m->beta[knImpulseStep_GroupOf(step, p)];
			knVec3* g = &step->turns[p->turn].g;
			*g = advance(m->turn[p->turn], *g, beta, &m->turnDirection[p->turn]);
		}
	}
}
