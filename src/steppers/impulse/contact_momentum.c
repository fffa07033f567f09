// Nonlinear conjugate gradients over sweeps (Silcowitz-Hansen et al. 2010): what sweeps change is taken as a gradient,
//
//   g = j_k - j_k-1,   beta = |g_k|^2 / |g_k-1|^2,   p = g + beta p,   j += beta p_before
//
// so that a load that creeps through a pile in the same direction, sweep after sweep, arrives early. Where beta
// exceeds one the direction starts anew. Velocities are linear in the impulses and go along. Every group of bodies
// that touch has its own beta; groups with joints are left out, as joints change velocities between the sweeps.

#include "steppers/impulse/impulse_step.h"

struct knContactMomentum {
	knTwist *u, *direction;       // [bodyCount] before the sweep; of the search
	knVec3 *j, *jDirection;       // [pointCount] (jn, j1, j2)
	knVec3 *g, *gDirection;       // [turnCount]
	double *last, *square, *beta; // [bodyCount] by group
};

static knVec3 impulseOf(const knImpulsePoint* p) {
	return knV3(p->jn, p->j1, p->j2);
}

static int groupOf(const knImpulseStep* step, const knImpulsePoint* p) {
	int group = step->islands.group[p->a];
	return group >= 0 ? group : step->islands.group[p->b];
}

knContactMomentum* knContactMomentum_Begin(knImpulseStep* step) {
	knArena* arena = step->context->arena;
	int bodyCount = step->model->bodyCount;
	knContactMomentum* m = KN_SCRATCH(arena, knContactMomentum, 1);
	if (m == NULL) {
		return NULL;
	}
	*m = (knContactMomentum){ .u = KN_SCRATCH(arena, knTwist, bodyCount),
							  .direction = KN_SCRATCH_ZERO(arena, knTwist, bodyCount),
							  .j = KN_SCRATCH(arena, knVec3, step->pointCount),
							  .jDirection = KN_SCRATCH_ZERO(arena, knVec3, step->pointCount),
							  .g = KN_SCRATCH(arena, knVec3, step->turnCount),
							  .gDirection = KN_SCRATCH_ZERO(arena, knVec3, step->turnCount),
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
	for (int i = 0; i < step->pointCount; ++i) {
		m->j[i] = impulseOf(&step->points[i]);
	}
	for (int i = 0; i < step->turnCount; ++i) {
		m->g[i] = step->turns[i].g;
	}
}

static void setBetas(knContactMomentum* m, const knImpulseStep* step) {
	for (int i = 0; i < step->pointCount; ++i) {
		const knImpulsePoint* p = &step->points[i];
		knVec3 change = knSub(impulseOf(p), m->j[i]);
		m->square[groupOf(step, p)] +=
			p->K.nn * change.x * change.x + p->K.d11 * change.y * change.y + p->K.d22 * change.z * change.z;
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
	for (int i = 0; i < step->pointCount; ++i) {
		knImpulsePoint* p = &step->points[i];
		double beta = m->beta[groupOf(step, p)];
		knVec3 j = advance(m->j[i], impulseOf(p), beta, &m->jDirection[i]);
		p->jn = j.x;
		p->j1 = j.y;
		p->j2 = j.z;
		if (p->turn >= 0) {
			step->turns[p->turn].g =
				advance(m->g[p->turn], step->turns[p->turn].g, beta, &m->gDirection[p->turn]);
		}
	}
}
