// How much of a change of impulses to take. Contact impulses minimise
//
//   E(j) = u.M.u/2 - sum j_n target          u, the velocities, are linear in j; M twice the masses where u is a mean
//
// so between the impulses of before (s = 0) and of now (s = 1) E is a parabola in s; every group of bodies in contact gets
// the s of its lowest point. Impulses carried over from the step before, in which something may have been struck, are
// cut back to what this step has use for; a guess at the load of a pile does not make things worse.

#include "steppers/impulse/impulse_step.h"

struct knContactDescent {
	knTwist* u;                    // [bodyCount] of before
	knVec3* j;                     // [pointCount] (jn, j1, j2) of before; NULL: zero
	knVec3* turn;                  // [turnCount] of before, likewise
	double *slope, *curve, *share; // [bodyCount] by group
};

knContactDescent* knContactDescent_BeginFromZero(knImpulseStep* step) {
	knArena* arena = step->context->arena;
	int bodyCount = step->model->bodyCount;
	knContactDescent* d = KN_SCRATCH(arena, knContactDescent, 1);
	if (d == NULL) {
		return NULL;
	}
	*d = (knContactDescent){ .u = KN_SCRATCH(arena, knTwist, bodyCount),
							 .slope = KN_SCRATCH_ZERO(arena, double, bodyCount),
							 .curve = KN_SCRATCH_ZERO(arena, double, bodyCount),
							 .share = KN_SCRATCH(arena, double, bodyCount) };
	if (arena->failed) {
		return NULL;
	}
	for (int b = 0; b < bodyCount; ++b) {
		d->u[b] = step->blocks.u[b];
	}
	return d;
}

knContactDescent* knContactDescent_Begin(knImpulseStep* step) {
	knArena* arena = step->context->arena;
	knContactDescent* d = knContactDescent_BeginFromZero(step);
	if (d == NULL) {
		return NULL;
	}
	d->j = KN_SCRATCH(arena, knVec3, step->pointCount);
	d->turn = KN_SCRATCH(arena, knVec3, step->turnCount);
	if (arena->failed) {
		return NULL;
	}
	for (int i = 0; i < step->pointCount; ++i) {
		d->j[i] = knV3(step->points[i].jn, step->points[i].j1, step->points[i].j2);
	}
	for (int i = 0; i < step->turnCount; ++i) {
		d->turn[i] = step->turns[i].g;
	}
	return d;
}

// m/s, the least speed of the bodies that move, along the normal.
static double ownTarget(const knImpulseStep* step, const knImpulsePoint* p) {
	double target = p->target;
	if (step->blocks.invMass[p->a] == 0.0) {
		const knTwist* u = &step->blocks.u[p->a];
		target += knDot(p->n, knAdd(u->lin, knCross(u->ang, p->rA)));
	}
	if (step->blocks.invMass[p->b] == 0.0) {
		const knTwist* u = &step->blocks.u[p->b];
		target -= knDot(p->n, knAdd(u->lin, knCross(u->ang, p->rB)));
	}
	return target;
}

// Returns whether a group takes less than all.
static bool setShares(const knImpulseStep* step, const knContactDescent* d) {
	const int32_t* group = step->islands.group;
	for (int b = 0; b < step->model->bodyCount; ++b) {
		if (group[b] >= 0) {
			knTwist change = knSubT(step->blocks.u[b], d->u[b]);
			const double inertia = 1.0 / step->blocks.weight[b]; // by which u answers impulses
			d->slope[group[b]] += inertia * knImpulseStep_Product(step, b, d->u[b], change);
			d->curve[group[b]] += inertia * knImpulseStep_Product(step, b, change, change);
		}
	}
	for (int i = 0; i < step->pointCount; ++i) {
		const knImpulsePoint* p = &step->points[i];
		double change = p->jn - (d->j != NULL ? d->j[i].x : 0.0);
		if (change != 0.0) {
			d->slope[knImpulseStep_GroupOf(step, p)] -= change * ownTarget(step, p);
		}
	}
	bool any = false;
	for (int b = 0; b < step->model->bodyCount; ++b) {
		// what joints will add is not known yet: with them nothing is cut back
		bool cut = d->curve[b] > 0.0 && step->islands.jointed[b] == 0;
		d->share[b] = cut ? knClamp(-d->slope[b] / d->curve[b], 0.0, 1.0) : 1.0;
		any = any || d->share[b] < 1.0;
	}
	return any;
}

void knContactDescent_Take(knImpulseStep* step, const knContactDescent* d) {
	const int32_t* group = step->islands.group;
	if (!setShares(step, d)) {
		return;
	}
	for (int b = 0; b < step->model->bodyCount; ++b) {
		if (group[b] >= 0 && d->share[group[b]] < 1.0) {
			knTwist change = knSubT(step->blocks.u[b], d->u[b]);
			step->blocks.u[b] = knMulAddT(d->u[b], d->share[group[b]], change);
		}
	}
	for (int i = 0; i < step->pointCount; ++i) {
		knImpulsePoint* p = &step->points[i];
		double share = d->share[knImpulseStep_GroupOf(step, p)];
		if (share < 1.0) {
			knVec3 j = knLerp(d->j != NULL ? d->j[i] : knZero3(), knV3(p->jn, p->j1, p->j2), share);
			p->jn = j.x;
			p->j1 = j.y;
			p->j2 = j.z;
			if (p->turn >= 0) {
				knVec3* g = &step->turns[p->turn].g;
				*g = knLerp(d->turn != NULL ? d->turn[p->turn] : knZero3(), *g, share);
			}
		}
	}
}
