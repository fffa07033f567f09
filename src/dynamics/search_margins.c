// The reach of search_margins.h.
//
//   way      h u
//   turn     h w
//   around   half an envelope
//
// A struck body's velocity ends between its own and that of what struck it: it is looked for along both.
#include "dynamics/search_margins.h"

#include "collide/collider.h"
#include "dynamics/collision_input.h"

#define REACH_LIMIT 100.0 // m; what goes further in a step, or is not even finite, is past predicting
#define UNSEEN_SHARE 0.5  // of the half width: a blow that moves a body less is early enough in the next step
#define LARGER 1.01       // a blow counts anew
enum { PASSES = 4 };      // bodies in a row that stop each other in one step

static double travel(const knModel* model, const knStepBodies* blocks, int body, knVec3 drift, knTwist u) {
	// no turn moves a point by more than two radii
	double turn = knMin(blocks->h * knLength(u.ang), 2.0);
	double reach = knDistance(knScale(blocks->h, u.lin), drift) + turn * model->radius[body];
	return reach < REACH_LIMIT ? reach : REACH_LIMIT;
}

static void setReach(knSearchMargins* reach, const knModel* model, const knStepBodies* blocks, int b) {
	knTwist u = blocks->u[b];
	double half = 0.5 * knCollisionEnvelope(model, b), farthest = travel(model, blocks, b, reach->drift, u);
	reach->margins[b] = half + farthest;
	reach->motions[b] = (knFrameMotion){ .around = reach->margins[b] };
	if (farthest < REACH_LIMIT) {
		knVec3 way = knScale(blocks->h, u.lin);
		reach->motions[b] = (knFrameMotion){ { way, way }, knScale(blocks->h, u.ang), half };
	}
}

bool knSearchMargins_Begin(knSearchMargins* reach, const knModel* model, double h, knVec3 drift,
						   knArena* arena) {
	reach->drift = knScale(h, drift);
	reach->h = h;
	reach->wantsStruck = false;
	reach->struck = NULL;
	reach->margins = KN_SCRATCH(arena, double, model->bodyCount);
	reach->motions = KN_SCRATCH(arena, knFrameMotion, model->bodyCount);
	return !arena->failed;
}

void knSearchMargins_Set(knSearchMargins* reach, const knModel* model, const knStepBodies* blocks, int body) {
	setReach(reach, model, blocks, body);
}

bool knSearchMargins_Make(knSearchMargins* reach, const knModel* model, const knStepBodies* blocks,
						  knVec3 drift, bool predict, knArena* arena) {
	if (!knSearchMargins_Begin(reach, model, blocks->h, drift, arena)) {
		return false;
	}
	for (int b = 0; b < model->bodyCount; ++b) {
		if (predict) {
			setReach(reach, model, blocks, b);
		} else {
			reach->margins[b] = 0.5 * knCollisionEnvelope(model, b);
			reach->motions[b] = (knFrameMotion){ .around = reach->margins[b] };
		}
	}
	return true;
}

// --- blows -----------------------------------------------------------------------------------------------

typedef struct Blows {
	const knModel* model;
	const knCollider* collider;
	knSearchMargins* reach; // a body's second way is the one that a blow may give, else the first
	double* change;         // [bodyCount] between the two
} Blows;

// How far a body may go along the normal at a place, at most or at least, whichever blow it got.
static double farthestAlong(const Blows* blows, int body, knVec3 place, knVec3 normal, double sign) {
	const knFrameMotion* motion = &blows->reach->motions[body];
	knVec3 turning = knCross(motion->turn, knSub(place, blows->collider->frames[body].p));
	double first = sign * knDot(normal, motion->ways[0]), second = sign * knDot(normal, motion->ways[1]);
	return knMax(first, second) + sign * knDot(normal, turning);
}

static bool isHit(const Blows* blows, const knContactSet* set, const knContactPair* pair) {
	const knFrameMotion* motions = blows->reach->motions;
	double around = motions[pair->frameA].around + motions[pair->frameB].around;
	for (int k = pair->first; k < pair->first + pair->count; ++k) {
		const knContactPoint* point = &set->points[k];
		double closer = farthestAlong(blows, pair->frameA, point->pointA, point->normal, 1.0) +
						farthestAlong(blows, pair->frameB, point->pointB, point->normal, -1.0);
		if (closer > 0.0 && closer + around > point->separation) {
			return true;
		}
	}
	return false;
}

// What stops `body` may go either way of `by`.
static bool strike(const Blows* blows, int body, const knFrameMotion* by) {
	knFrameMotion* motion = &blows->reach->motions[body];
	double least = UNSEEN_SHARE * blows->model->thinness[body];
	bool changed = false;
	for (int k = 0; k < 2 && blows->model->invMass[body] > 0.0; ++k) {
		double change = knDistance(by->ways[k], motion->ways[0]);
		if (change > least && change > LARGER * blows->change[body]) {
			motion->ways[1] = by->ways[k];
			blows->change[body] = change;
			changed = true;
		}
	}
	knVec3 drift = blows->reach->drift;
	double margin = motion->around +
					knMax(knDistance(motion->ways[0], drift), knDistance(motion->ways[1], drift)) +
					knMin(knLength(motion->turn), 2.0) * blows->model->radius[body];
	blows->reach->margins[body] = knMax(blows->reach->margins[body], margin);
	return changed;
}

enum { NONE_STRUCK, STRUCK, MESH_STRUCK };

// Bodies that are struck may go another way; says whether there are more of them, and pairs with meshes among theirs.
static int widen(const Blows* blows, const knContactSet* set) {
	const uint8_t* meshes = blows->collider->meshes;
	int any = NONE_STRUCK;
	for (int i = 0; i < set->pairCount; ++i) {
		const knContactPair* pair = &set->pairs[i];
		const bool mesh = meshes[pair->shapeA] || meshes[pair->shapeB];
		if ((mesh || blows->reach->wantsStruck) && isHit(blows, set, pair)) {
			knFrameMotion a = blows->reach->motions[pair->frameA], b = blows->reach->motions[pair->frameB];
			bool struckA = strike(blows, pair->frameA, &b), struckB = strike(blows, pair->frameB, &a);
			int now = !struckA && !struckB ? NONE_STRUCK : mesh ? MESH_STRUCK : STRUCK;
			any = now > any ? now : any;
		}
	}
	return any;
}

static bool noteStruck(knSearchMargins* reach, int bodyCount, knArena* arena) {
	reach->struck = KN_SCRATCH(arena, knVec3, bodyCount);
	for (int b = 0; reach->struck != NULL && b < bodyCount; ++b) {
		reach->struck[b] = knScale(1.0 / reach->h, reach->motions[b].ways[1]);
	}
	return reach->struck != NULL;
}

knStatus knSearchMargins_Collide(knSearchMargins* reach, const knModel* model, knCollider* collider,
								 knCollideInput* input, knContactSet* set, knArena* arena, knError* error) {
	input->margins = reach->margins;
	input->motions = reach->motions;
	knStatus status = knCollide(collider, input, set, error);
	if (status != KN_OK || !(collider->anyMesh || reach->wantsStruck)) {
		return status;
	}
	Blows blows = { model, collider, reach, KN_SCRATCH_ZERO(arena, double, model->bodyCount) };
	int any = arena->failed ? NONE_STRUCK : STRUCK;
	for (int pass = 0; pass < PASSES && status == KN_OK && any != NONE_STRUCK; ++pass) {
		any = widen(&blows, set);
		// margins cover all blows; meshes are asked by motions
		status = any == MESH_STRUCK ? knCollide(collider, input, set, error) : status;
	}
	if (status == KN_OK &&
		(arena->failed || (reach->wantsStruck && !noteStruck(reach, model->bodyCount, arena)))) {
		return knError_Set(error, KN_NO_MEMORY, "step", "there is no memory for this step");
	}
	return status;
}
