// How much of a change of impulses to take. Contact impulses minimise
//
//   E(j) = u.M.u/2 - sum j_n target          u, the velocities, are linear in j; M twice the masses where u is a mean
//
// so between the impulses of before (s = 0) and of now (s = 1) E is a parabola in s; every group of bodies in contact gets
// the s of its lowest point. Impulses carried over from the step before, in which something may have been struck, are
// cut back to what this step has use for; a guess at the load of a pile does not make things worse.

#include "dynamics/contact_groups.h"

struct knContactDescent {
	knTwist* u;                    // [bodyCount] of before
	knVec3* j;                     // [pointCount] lambda of before; NULL: zero
	knVec3* rolling;               // [pointCount] of before, likewise
	double *slope, *curve, *share; // [bodyCount] by group
};

static knVec3 lambdaOf(const knSweepPoint* p) {
	return knV3(p->lambda[0], p->lambda[1], p->lambda[2]);
}

knContactDescent* knContactDescent_BeginFromZero(const knContactGroups* groups) {
	knArena* arena = groups->arena;
	int bodyCount = groups->blocks->count;
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
		d->u[b] = groups->blocks->u[b];
	}
	return d;
}

knContactDescent* knContactDescent_Begin(const knContactGroups* groups) {
	knContactDescent* d = knContactDescent_BeginFromZero(groups);
	const int count = groups->contacts->pointCount;
	if (d == NULL) {
		return NULL;
	}
	d->j = KN_SCRATCH(groups->arena, knVec3, count);
	d->rolling = KN_SCRATCH(groups->arena, knVec3, count);
	if (groups->arena->failed) {
		return NULL;
	}
	for (int k = 0; k < count; ++k) {
		d->j[k] = lambdaOf(&groups->contacts->points[k]);
		d->rolling[k] = groups->contacts->points[k].rolling;
	}
	return d;
}

// m/s, the least speed of the bodies that move, along the normal.
static double ownTarget(const knContactGroups* groups, const knSweepChunk* chunk, const knSweepPoint* p) {
	const knStepBodies* blocks = groups->blocks;
	double target = -p->bias;
	if (blocks->invMass[chunk->a] == 0.0) {
		const knTwist* u = &blocks->u[chunk->a];
		target += knDot(p->n, knAdd(u->lin, knCross(u->ang, p->rA)));
	}
	if (blocks->invMass[chunk->b] == 0.0) {
		const knTwist* u = &blocks->u[chunk->b];
		target -= knDot(p->n, knAdd(u->lin, knCross(u->ang, p->rB)));
	}
	return target;
}

// Returns whether a group takes less than all.
static bool setShares(const knContactGroups* groups, const knContactDescent* d) {
	const int32_t* group = groups->islands->group;
	const knStepBodies* blocks = groups->blocks;
	for (int b = 0; b < blocks->count; ++b) {
		if (group[b] >= 0) {
			knTwist change = knSubT(blocks->u[b], d->u[b]);
			const double inertia = 1.0 / blocks->weight[b]; // by which u answers impulses
			d->slope[group[b]] += inertia * knContactGroups_Product(groups, b, d->u[b], change);
			d->curve[group[b]] += inertia * knContactGroups_Product(groups, b, change, change);
		}
	}
	for (int i = 0; i < groups->contacts->chunkCount; ++i) {
		const knSweepChunk* chunk = &groups->contacts->chunks[i];
		for (int k = chunk->first; k < chunk->first + chunk->count; ++k) {
			const knSweepPoint* p = &groups->contacts->points[k];
			double change = p->lambda[0] - (d->j != NULL ? d->j[k].x : 0.0);
			if (change != 0.0) {
				d->slope[knContactGroups_Of(groups, chunk)] -= change * ownTarget(groups, chunk, p);
			}
		}
	}
	bool any = false;
	for (int b = 0; b < blocks->count; ++b) {
		// what joints will add is not known yet: with them nothing is cut back
		bool cut = d->curve[b] > 0.0 && groups->islands->jointed[b] == 0;
		d->share[b] = cut ? knClamp(-d->slope[b] / d->curve[b], 0.0, 1.0) : 1.0;
		any = any || d->share[b] < 1.0;
	}
	return any;
}

void knContactDescent_Take(const knContactGroups* groups, const knContactDescent* d) {
	const int32_t* group = groups->islands->group;
	knTwist* u = groups->blocks->u;
	if (!setShares(groups, d)) {
		return;
	}
	for (int b = 0; b < groups->blocks->count; ++b) {
		if (group[b] >= 0 && d->share[group[b]] < 1.0) {
			u[b] = knMulAddT(d->u[b], d->share[group[b]], knSubT(u[b], d->u[b]));
		}
	}
	for (int i = 0; i < groups->contacts->chunkCount; ++i) {
		const knSweepChunk* chunk = &groups->contacts->chunks[i];
		double share = d->share[knContactGroups_Of(groups, chunk)];
		for (int k = chunk->first; share < 1.0 && k < chunk->first + chunk->count; ++k) {
			knSweepPoint* p = &groups->contacts->points[k];
			knVec3 j = knLerp(d->j != NULL ? d->j[k] : knZero3(), lambdaOf(p), share);
			p->lambda[0] = j.x;
			p->lambda[1] = j.y;
			p->lambda[2] = j.z;
			p->rolling = knLerp(d->rolling != NULL ? d->rolling[k] : knZero3(), p->rolling, share);
		}
	}
}
