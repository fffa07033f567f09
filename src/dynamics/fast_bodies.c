// Which bodies are fast, and what a step's query leaves to the way they fly.

#include "dynamics/fast_bodies.h"

#include "collide/tree_query.h"
#include "core/sort.h"
#include "dynamics/collision_input.h"
#include "dynamics/joint_rows.h"

#define THIN_SHARE 0.5  // of the thickness a step: what is marked and goes farther is fast
#define SKIN_SHARE 0.05 // of the envelope
#define TOUCH_SKINS 2.0 // a wider gap is no contact of a fast body
#define CROWD 4         // movable bodies on the way of one that is not marked

double knFastBodies_Skin(const knModel* model, int a, int b) {
	double envelopeA = knCollisionEnvelope(model, a), envelopeB = knCollisionEnvelope(model, b);
	if (model->invMass[a] > 0.0 && model->invMass[b] > 0.0) {
		return SKIN_SHARE * knMin(envelopeA, envelopeB);
	}
	return SKIN_SHARE * (model->invMass[a] > 0.0 ? envelopeA : envelopeB);
}

// What goes farther than its diameter in a step is fast by itself.
static bool isFast(const knModel* model, const knStepBodies* blocks, int b) {
	double radius = model->radius[b];
	if (blocks->invMass[b] == 0.0 || radius == 0.0) {
		return false;
	}
	double way = blocks->h * knLength(blocks->u[b].lin);
	double reach = model->bodyFast[b] ? way + blocks->h * radius * knLength(blocks->u[b].ang) : 0.0;
	bool far = way > 2.0 * radius || (model->bodyFast[b] && reach > THIN_SHARE * model->thinness[b]);
	return far && knIsFinite(way) && knIsFinite3(blocks->u[b].ang);
}

static bool findJointed(knFastBodies* fast, const knModel* model, const knState* state, knArena* arena) {
	knJointEdge* edges = KN_SCRATCH(arena, knJointEdge, knState_JointCount(model));
	fast->kind = KN_SCRATCH_ZERO(arena, uint8_t, model->bodyCount);
	fast->ahead.margins = KN_SCRATCH(arena, double, model->bodyCount);
	fast->ahead.motions = KN_SCRATCH(arena, knFrameMotion, model->bodyCount);
	fast->jointed = KN_SCRATCH_ZERO(arena, uint8_t, model->bodyCount);
	if (arena->failed) {
		return false;
	}
	int count = knJointRows_ListEdges(model, state, edges);
	for (int i = 0; i < count; ++i) {
		fast->jointed[edges[i].a] = fast->jointed[edges[i].b] = 1;
	}
	return true;
}

bool knFastBodies_Find(knFastBodies* fast, const knModel* model, const knState* state,
					   const knStepBodies* blocks, knArena* arena) {
	for (int b = 1; b < model->bodyCount; ++b) {
		if (!isFast(model, blocks, b)) {
			continue;
		}
		if (fast->kind == NULL && !findJointed(fast, model, state, arena)) {
			return false;
		}
		if (fast->kind[b] == KN_FAST_NOT && (model->bodyFast[b] || !fast->jointed[b])) {
			fast->kind[b] = fast->jointed[b] ? KN_FAST_JOINTED : KN_FAST_FREE;
			fast->count += 1;
		}
	}
	return true;
}

static void setMargins(const knFastBodies* fast, const knModel* model, knSearchMargins* reach) {
	for (int b = 0; fast->count > 0 && b < model->bodyCount; ++b) {
		fast->ahead.margins[b] = reach->margins[b];
		fast->ahead.motions[b] = reach->motions[b];
		if (fast->kind[b] == KN_FAST_FREE) {
			reach->margins[b] = 0.5 * knCollisionEnvelope(model, b) + 2.0 * model->radius[b];
			reach->motions[b] = (knFrameMotion){ .around = reach->margins[b] };
		}
	}
}

// --- crowds ----------------------------------------------------------------------------------------------------

typedef struct Crowd {
	const knModel* model;
	const knStepBodies* blocks;
	const knCollider* collider;
	int body;
	knAabb box; // at the start
	knVec3 way;
	int count;
} Crowd;

// Whether the box, moved along its way, meets another.
static bool passes(const Crowd* crowd, const knAabb* other) {
	double enter = 0.0, leave = 1.0;
	for (int k = 0; k < 3; ++k) {
		double ahead = knComponent(other->lower, k) - knComponent(crowd->box.upper, k);
		double behind = knComponent(other->upper, k) - knComponent(crowd->box.lower, k);
		double speed = knComponent(crowd->way, k);
		if (speed == 0.0) {
			leave = ahead > 0.0 || behind < 0.0 ? -1.0 : leave;
			continue;
		}
		enter = knMax(enter, (speed > 0.0 ? ahead : behind) / speed);
		leave = knMin(leave, (speed > 0.0 ? behind : ahead) / speed);
	}
	return enter <= leave;
}

static bool countShape(int shape, void* context) {
	Crowd* crowd = context;
	int body = crowd->model->shapes[shape].body;
	const knTwist* u = crowd->blocks->u;
	bool counts = body != crowd->body && crowd->blocks->invMass[body] > 0.0 &&
				  knFastBodies_IsFastPair(crowd->model, crowd->body, body, u[crowd->body].lin, u[body].lin,
										  crowd->blocks->h);
	if (counts && passes(crowd, &crowd->collider->boxes[shape])) {
		crowd->count += 1;
	}
	return crowd->count <= CROWD; // enough is enough
}

// After a query: bodies in crowds become so, and get their margins back. True: there are some.
static bool leaveCrowds(knFastBodies* fast, const knModel* model, const knStepBodies* blocks,
						const knCollider* collider, knSearchMargins* reach) {
	bool left = false;
	for (int b = 1; fast->count > 0 && b < model->bodyCount; ++b) {
		if (fast->kind[b] != KN_FAST_FREE || model->bodyFast[b]) {
			continue;
		}
		knVec3 here = collider->frames[b].p, way = knScale(blocks->h, blocks->u[b].lin);
		knAabb point = { here, here }, end = { knAdd(here, way), knAdd(here, way) };
		Crowd crowd = { .model = model, .blocks = blocks, .collider = collider, .body = b, .way = way };
		crowd.box = knAabb_Grow(point, model->radius[b]);
		knAabb swept = knAabb_Grow(knAabb_Union(point, end), model->radius[b]);
		if (!knCollider_Nearby(collider, &swept, countShape, &crowd)) {
			fast->kind[b] = KN_FAST_CROWDED;
			reach->margins[b] = fast->ahead.margins[b];
			reach->motions[b] = fast->ahead.motions[b];
			left = true;
		}
	}
	return left;
}

knStatus knFastBodies_Collide(knFastBodies* fast, const knModel* model, const knStepBodies* blocks,
							  knCollider* collider, knCollideInput* input, knSearchMargins* reach,
							  knContactSet* set, knArena* arena, knError* error) {
	setMargins(fast, model, reach);
	knStatus status = knSearchMargins_Collide(reach, model, collider, input, set, arena, error);
	if (status == KN_OK && leaveCrowds(fast, model, blocks, collider, reach)) {
		status = knSearchMargins_Collide(reach, model, collider, input, set, arena, error);
	}
	return status;
}

// --- what the solve sees ---------------------------------------------------------------------------------------

bool knFastBodies_IsFastPair(const knModel* model, int bodyA, int bodyB, knVec3 velocityA, knVec3 velocityB,
							 double h) {
	double radius = model->invMass[bodyA] > 0.0 ? model->radius[bodyA] : (double)INFINITY;
	radius = model->invMass[bodyB] > 0.0 ? knMin(radius, model->radius[bodyB]) : radius;
	bool marked = model->bodyFast[bodyA] || model->bodyFast[bodyB];
	return marked || h * knDistance(velocityA, velocityB) > 2.0 * radius;
}

static bool leavesGaps(const knFastBodies* fast, const knModel* model, const knStepBodies* blocks,
					   const knContactPair* pair) {
	int a = pair->frameA, b = pair->frameB;
	return (fast->kind[a] == KN_FAST_FREE || fast->kind[b] == KN_FAST_FREE) &&
		   knFastBodies_IsFastPair(model, a, b, blocks->u[a].lin, blocks->u[b].lin, blocks->h);
}

bool knFastBodies_Filter(const knFastBodies* fast, const knModel* model, const knStepBodies* blocks,
						 knContactSet* set, knArena* arena) {
	if (fast->count == 0) {
		return true;
	}
	knContactPair* pairs = KN_SCRATCH(arena, knContactPair, set->pairCount);
	knContactPoint* points = KN_SCRATCH(arena, knContactPoint, set->pointCount);
	if (arena->failed) {
		return false;
	}
	int pairCount = 0, pointCount = 0;
	for (int i = 0; i < set->pairCount; ++i) {
		knContactPair pair = set->pairs[i];
		bool sensor = model->shapes[pair.shapeA].sensor || model->shapes[pair.shapeB].sensor;
		bool touching = leavesGaps(fast, model, blocks, &pair) && !sensor;
		double gap = touching ? TOUCH_SKINS * knFastBodies_Skin(model, pair.frameA, pair.frameB) : 0.0;
		int first = pointCount;
		for (int k = pair.first; k < pair.first + pair.count; ++k) {
			if (!touching || set->points[k].separation <= gap) {
				points[pointCount++] = set->points[k];
			}
		}
		pair.first = first;
		pair.count = pointCount - first;
		if (pair.count > 0) {
			pairs[pairCount++] = pair;
		}
	}
	set->pairs = pairs;
	set->pairCount = pairCount;
	set->points = points;
	set->pointCount = pointCount;
	return true;
}

static bool contactBefore(const void* a, const void* b, void* context) {
	(void)context;
	const knStepContact *p = a, *q = b;
	if (p->shapeA != q->shapeA) {
		return p->shapeA < q->shapeA;
	}
	return p->shapeB < q->shapeB || (p->shapeB == q->shapeB && p->point.feature < q->point.feature);
}

bool knFastBodies_Publish(const knFastBodies* fast, knStepContact** contacts, int* count, knArena* arena) {
	if (fast->hitCount == 0) {
		return true;
	}
	int total = *count + fast->hitCount;
	knStepContact* all = KN_SCRATCH(arena, knStepContact, total);
	if (arena->failed) {
		return false;
	}
	for (int i = 0; i < total; ++i) {
		all[i] = i < *count ? (*contacts)[i] : fast->hits[i - *count];
	}
	*contacts = all;
	*count = total;
	return knSort_Merge(all, total, sizeof(*all), contactBefore, NULL, arena);
}
