// Bodies that are struck in this step, and the velocity that a blow may give them.
//
// Contacts are looked for along the way that two bodies come closer. Two that fall together do not; but when the lower one
// lands, the upper one goes on into it, in the same step. So who is struck hard, compared with its width, is also looked
// at with the velocity of what strikes it; what it then runs into is struck as well, and so on.

#include "steppers/impulse/impulse_step.h"

#define HARD                                                                                                 \
	0.5 // of the half width: a blow that moves a body by less in the step is seen early enough in the next
#define PASSES 4    // bodies in a row that stop each other
#define LARGER 1.01 // a blow counts anew

typedef struct Blows {
	const knImpulseStep* step;
	knVec3* struck; // [bodyCount]
	double* change; // [bodyCount] m/s, from the body's own velocity
} Blows;

static knVec3 velocityAt(const knImpulseStep* step, int body, knVec3 place) {
	const knTwist* u = &step->blocks.u[body];
	return knAdd(u->lin, knCross(u->ang, knSub(place, step->state->pose[body].p)));
}

// m/s along the normal, with its own velocity or after a blow, whichever is more.
static double fastestAlong(const Blows* blows, int body, knVec3 place, knVec3 normal) {
	knVec3 blow = knSub(blows->struck[body], blows->step->blocks.u[body].lin);
	return knDot(normal, velocityAt(blows->step, body, place)) + knMax(knDot(normal, blow), 0.0);
}

static bool isHit(const Blows* blows, const knContactSet* set, const knContactPair* pair) {
	for (int k = pair->first; k < pair->first + pair->count; ++k) {
		const knContactPoint* point = &set->points[k];
		double closing = fastestAlong(blows, pair->frameA, point->pointA, point->normal) +
						 fastestAlong(blows, pair->frameB, point->pointB, knNeg(point->normal));
		if (closing > 0.0 && point->separation <= blows->step->h * closing) {
			return true;
		}
	}
	return false;
}

static bool strike(const Blows* blows, int body, knVec3 by) {
	const knImpulseStep* step = blows->step;
	const double change = knDistance(by, step->blocks.u[body].lin);
	const bool hard = step->h * change > HARD * step->model->thinness[body];
	if (step->blocks.invMass[body] == 0.0 || !hard || !(change > LARGER * blows->change[body])) {
		return false;
	}
	blows->struck[body] = by;
	blows->change[body] = change;
	return true;
}

// A body is struck by what another does by itself, or after a blow.
static bool strikeBoth(const Blows* blows, int a, int b) {
	const knTwist* u = blows->step->blocks.u;
	const knVec3 byA[2] = { u[a].lin, blows->struck[a] }, byB[2] = { u[b].lin, blows->struck[b] };
	bool any = false;
	for (int k = 0; k < 2; ++k) {
		any = strike(blows, a, byB[k]) || any;
		any = strike(blows, b, byA[k]) || any;
	}
	return any;
}

bool knSecondaryImpacts_Find(knImpulseStep* step, const knContactSet* set) {
	const int bodyCount = step->model->bodyCount;
	Blows blows = { .step = step,
					.struck = KN_SCRATCH(step->context->arena, knVec3, bodyCount),
					.change = KN_SCRATCH_ZERO(step->context->arena, double, bodyCount) };
	if (step->context->arena->failed) {
		return false;
	}
	for (int b = 0; b < bodyCount; ++b) {
		blows.struck[b] = step->blocks.u[b].lin;
	}
	bool any = true;
	for (int pass = 0; pass < PASSES && any; ++pass) {
		any = false;
		for (int i = 0; i < set->pairCount; ++i) {
			const knContactPair* pair = &set->pairs[i];
			if (isHit(&blows, set, pair)) {
				any = strikeBoth(&blows, pair->frameA, pair->frameB) || any;
			}
		}
	}
	step->input.struck = blows.struck;
	return true;
}
