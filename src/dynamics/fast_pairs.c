// Pairs of fliers with what may be on their way, and the order in which they are followed.
//
// The queue is a heap over all pairs by the time before which a pair does not meet: that of its meeting, as far as it has
// been followed, or when the balls about the bodies meet if it has not been looked at. Equal times are ordered by index,
// so the order is the same for any number of threads.

#include <string.h>

#include "collide/tree_query.h"
#include "collide/turning.h"
#include "core/sort.h"
#include "core/tasks.h"
#include "dynamics/fast_flight.h"

enum { PAIR_GRAIN = 4 };
#define FIRST_ROUNDS 16 // of each pair, in parallel, before any impact
#define FIRST_LOOKS 500 // the same: then it is followed no farther than needed
#define NUDGE_SHARE 0.1 // of the thinner shape's thickness

// --- ways ----------------------------------------------------------------------------------------------------

knTwist knFlight_PlannedPath(const knFlight* f, int body) {
	const knStepBodies* blocks = f->in->blocks;
	bool pushed = blocks->push != NULL && blocks->invMass[body] > 0.0;
	return pushed ? knAddT(blocks->u[body], blocks->push[body]) : blocks->u[body];
}

static knTwist presentPath(const knFlight* f, int body) {
	int slot = f->slot[body];
	return slot == KN_FLIGHT_NONE || f->fliers[slot].keepsPath ? knFlight_PlannedPath(f, body)
															   : f->fliers[slot].path;
}

// The pose at time 0 of a body that has always moved as it does now, and that motion.
static knFrame virtualStart(const knFlight* f, int body, knTwist* path) {
	int slot = f->slot[body];
	*path = presentPath(f, body);
	if (slot == KN_FLIGHT_NONE || f->fliers[slot].keepsPath) {
		return f->in->state->pose[body];
	}
	const knFlier* flier = &f->fliers[slot];
	return flier->time > 0.0 ? knMovePose(flier->pose, flier->path, -flier->time) : flier->pose;
}

static knVec3 placeNow(const knFlight* f, int body) {
	int slot = f->slot[body];
	if (slot == KN_FLIGHT_NONE || f->fliers[slot].keepsPath) {
		return knMulAdd(f->in->state->pose[body].p, f->now, knFlight_PlannedPath(f, body).lin);
	}
	const knFlier* flier = &f->fliers[slot];
	return knMulAdd(flier->pose.p, f->now - flier->time, flier->path.lin);
}

// s, when the balls about two bodies meet on their ways from now on; INFINITY: not before the step ends.
static double whenBallsMeet(const knFlight* f, int a, int b) {
	knVec3 apart = knSub(placeNow(f, b), placeNow(f, a));
	knVec3 v = knSub(presentPath(f, b).lin, presentPath(f, a).lin);
	double reach = f->in->model->radius[a] + f->in->model->radius[b] + knFastBodies_Skin(f->in->model, a, b);
	double time = f->now + knBalls_Time(apart, v, reach);
	return time < f->h ? time : (double)INFINITY;
}

static knMoving movingShape(const knFlight* f, int shape) {
	const knModelShape* s = &f->in->model->shapes[shape];
	knTwist path;
	knFrame start = virtualStart(f, s->body, &path);
	return (knMoving){ s->geom, knMulF(start, s->local), start.p, path };
}

static void follow(knFlight* f, int index, int rounds) {
	knFlightPair* pair = &f->pairs[index];
	const knModel* model = f->in->model;
	knTimeOfImpactInput in = { .a = movingShape(f, pair->shape[0]),
							   .b = movingShape(f, pair->shape[1]),
							   .to = f->h,
							   .skin = knFastBodies_Skin(model, pair->body[0], pair->body[1]),
							   .nudge = NUDGE_SHARE * pair->thin };
	in.idle = KN_FLIGHT_IDLE * (knLength(in.a.motion.lin) + knLength(in.b.motion.lin) +
								knLength(in.a.motion.ang) * model->radius[pair->body[0]] +
								knLength(in.b.motion.ang) * model->radius[pair->body[1]]);
	knTimeOfImpact_Follow(&in, rounds, &pair->meeting);
}

static void followRange(int begin, int end, int worker, void* argument) {
	(void)worker;
	knFlight* f = argument;
	for (int i = begin; i < end; ++i) {
		const knTimeOfImpact* meeting = &f->pairs[i].meeting;
		while (meeting->state == KN_MEETING_OPEN && knIsFinite(meeting->time) &&
			   meeting->rounds < FIRST_ROUNDS && meeting->looks < FIRST_LOOKS) {
			follow(f, i, 1);
		}
	}
}

// --- pairs ---------------------------------------------------------------------------------------------------

static bool growPairs(knFlight* f) {
	if (f->pairCount < f->pairCapacity) {
		return true;
	}
	int capacity = 2 * f->pairCapacity + 4 * f->fast->count + 64;
	knFlightPair* pairs = KN_SCRATCH(f->in->arena, knFlightPair, capacity);
	int* queue = KN_SCRATCH(f->in->arena, int, capacity);
	if (f->in->arena->failed) {
		return false;
	}
	for (int i = 0; i < f->pairCount; ++i) {
		pairs[i] = f->pairs[i];
		queue[i] = f->queue[i];
	}
	f->pairs = pairs;
	f->queue = queue;
	f->pairCapacity = capacity;
	return true;
}

// --- queue -----------------------------------------------------------------------------------------------------

static bool isEarlier(const knFlight* f, int p, int q) {
	double timeP = f->pairs[p].meeting.time, timeQ = f->pairs[q].meeting.time;
	return timeP < timeQ || (timeP == timeQ && p < q);
}

static void place(knFlight* f, int at, int index) {
	f->queue[at] = index;
	f->pairs[index].place = at;
}

// Moves the pair at a place of the heap down until what is below is later.
static void sink(knFlight* f, int at) {
	int index = f->queue[at];
	for (int child; (child = 2 * at + 1) < f->pairCount; at = child) {
		child += child + 1 < f->pairCount && isEarlier(f, f->queue[child + 1], f->queue[child]);
		if (!isEarlier(f, f->queue[child], index)) {
			break;
		}
		place(f, at, f->queue[child]);
	}
	place(f, at, index);
}

// Puts a pair whose time has changed to its place.
static void requeue(knFlight* f, int index) {
	int at = f->pairs[index].place;
	for (int up; at > 0 && isEarlier(f, index, f->queue[up = (at - 1) / 2]); at = up) {
		place(f, at, f->queue[up]);
	}
	place(f, at, index);
	sink(f, at);
}

void knFlight_FollowAll(knFlight* f) {
	knTasks_For(&f->in->tasks, f->pairCount, PAIR_GRAIN, followRange, f);
	for (int at = f->pairCount - 1; at >= 0; --at) {
		sink(f, at);
	}
	for (int i = 0; i < f->pairCount; ++i) {
		f->fast->rounds += f->pairs[i].meeting.rounds;
		f->fast->looks += f->pairs[i].meeting.looks;
	}
}

int knFlight_FollowPair(knFlight* f, int index) {
	const knTimeOfImpact* meeting = &f->pairs[index].meeting;
	int before = meeting->looks;
	follow(f, index, 1);
	requeue(f, index);
	f->fast->rounds += 1;
	f->fast->looks += meeting->looks - before;
	return meeting->looks - before;
}

bool knFlight_IsFollowed(const knFlight* f, int body) {
	int slot = f->slot[body];
	return slot != KN_FLIGHT_NONE && !f->fliers[slot].keepsPath && f->fliers[slot].pace != KN_PACE_RESTS;
}

// A pair from now on, as if it had never been looked at.
static void restartPair(knFlight* f, int index) {
	knFlightPair* pair = &f->pairs[index];
	const int* items = f->in->collider->items;
	bool planes = items[pair->shape[0]] < 0 || items[pair->shape[1]] < 0;
	pair->meeting = knTimeOfImpact_Begin(planes ? f->now : whenBallsMeet(f, pair->body[0], pair->body[1]));
	if (!knFlight_IsFollowed(f, pair->body[0]) && !knFlight_IsFollowed(f, pair->body[1])) {
		pair->meeting.time = INFINITY;
	}
	requeue(f, index);
}

void knFlight_RestartPairs(knFlight* f, const knFlier* flier) {
	for (int i = flier->firstPair; i != KN_FLIGHT_NONE;
		 i = f->pairs[i].next[f->pairs[i].body[1] == flier->body]) {
		restartPair(f, i);
	}
}

// --- finding pairs -----------------------------------------------------------------------------------------------

// A sheet has no thickness; the other's counts.
static double thinner(const knGeom* a, const knGeom* b) {
	double thinA = knGeom_Thinness(a), thinB = knGeom_Thinness(b);
	return thinA > 0.0 && thinB > 0.0 ? knMin(thinA, thinB) : knMax(thinA, thinB);
}

void knFlight_LinkPair(knFlight* f, int index, int side) {
	int slot = f->slot[f->pairs[index].body[side]];
	if (slot != KN_FLIGHT_NONE) {
		f->pairs[index].next[side] = f->fliers[slot].firstPair;
		f->fliers[slot].firstPair = index;
	}
}

static bool hasPair(const knFlight* f, const knFlier* flier, int low, int high) {
	for (int i = flier->firstPair; i != KN_FLIGHT_NONE;
		 i = f->pairs[i].next[f->pairs[i].body[1] == flier->body]) {
		if (f->pairs[i].shape[0] == low && f->pairs[i].shape[1] == high) {
			return true;
		}
	}
	return false;
}

static bool isFastPair(const knFlight* f, int bodyA, int bodyB) {
	const double* invMass = f->in->blocks->invMass;
	bool crowds = f->fast->kind[bodyA] == KN_FAST_CROWDED || f->fast->kind[bodyB] == KN_FAST_CROWDED;
	bool followed = knFastBodies_Follows(f->fast, bodyA) || knFastBodies_Follows(f->fast, bodyB);
	if (crowds && !followed && invMass[bodyA] > 0.0 && invMass[bodyB] > 0.0) {
		return false;
	}
	knVec3 velocityA = presentPath(f, bodyA).lin, velocityB = presentPath(f, bodyB).lin;
	return knFastBodies_IsFastPair(f->in->model, bodyA, bodyB, velocityA, velocityB, f->h);
}

// A pair of a flier's shape with another, unless it is there already or may not be. False: no memory.
static bool addPair(knFlight* f, int flierIndex, int shape, int other) {
	const knModelShape *shapes = f->in->model->shapes, *own = &shapes[shape], *its = &shapes[other];
	int low = shape < other ? shape : other, high = shape < other ? other : shape;
	if (own->sensor || its->sensor || !knCollider_MayTouch(f->in->collider, &f->input, shape, other) ||
		!isFastPair(f, own->body, its->body) || hasPair(f, &f->fliers[flierIndex], low, high)) {
		return true;
	}
	if (!growPairs(f)) {
		return false;
	}
	int index = f->pairCount++;
	f->pairs[index] = (knFlightPair){ .shape = { low, high },
									  .body = { shapes[low].body, shapes[high].body },
									  .next = { KN_FLIGHT_NONE, KN_FLIGHT_NONE },
									  .thin = thinner(own->geom, its->geom) };
	knFlight_LinkPair(f, index, 0);
	knFlight_LinkPair(f, index, 1);
	place(f, index, index);
	restartPair(f, index);
	return true;
}

knAabb knFlight_SweptBox(const knFlight* f, const knFlier* flier) {
	double radius = f->in->model->radius[flier->body] + f->slowReach;
	knVec3 here = placeNow(f, flier->body),
		   there = knMulAdd(flier->pose.p, f->h - flier->time, flier->path.lin);
	knAabb box = { knMin3(here, there), knMax3(here, there) };
	return knAabb_Grow(box, radius);
}

// Whether the box about a flier's ball, moved along its way, meets a shape's box.
static bool passesShape(const knFlight* f, const knFlier* flier, int shape) {
	const knCollider* c = f->in->collider;
	if (c->items[shape] < 0) {
		return true; // a plane
	}
	knVec3 here = placeNow(f, flier->body), way = knScale(f->h - f->now, flier->path.lin);
	knAabb box = knAabb_Grow(c->boxes[shape], f->in->model->radius[flier->body] + f->slowReach);
	double enter = 0.0, leave = 1.0;
	for (int k = 0; k < 3; ++k) {
		double lower = knComponent(box.lower, k) - knComponent(here, k);
		double upper = knComponent(box.upper, k) - knComponent(here, k), speed = knComponent(way, k);
		if (speed == 0.0) {
			leave = lower > 0.0 || upper < 0.0 ? -1.0 : leave;
			continue;
		}
		enter = knMax(enter, (speed > 0.0 ? lower : upper) / speed);
		leave = knMin(leave, (speed > 0.0 ? upper : lower) / speed);
	}
	return enter <= leave;
}

static bool listShape(int shape, void* context) {
	knFlight* f = context;
	f->nearby[f->nearbyCount++] = shape;
	return true;
}

// Heap sort: the trees' order means nothing.
static void sortShapes(int* items, int count) {
	for (int end = count, start = count / 2; end > 1;) {
		if (start > 0) {
			--start;
		} else {
			int last = items[--end];
			items[end] = items[0];
			items[0] = last;
		}
		for (int root = start, child; (child = 2 * root + 1) < end; root = child) {
			child += child + 1 < end && items[child] < items[child + 1];
			if (items[root] >= items[child]) {
				break;
			}
			int item = items[root];
			items[root] = items[child];
			items[child] = item;
		}
	}
}

static bool addPairsWith(knFlight* f, int flierIndex, int other) {
	const knCollider* c = f->in->collider;
	int body = f->fliers[flierIndex].body;
	for (int k = c->firstShape[body]; k < c->firstShape[body + 1]; ++k) {
		if (!addPair(f, flierIndex, c->shapesOfFrame[k], other)) {
			return false;
		}
	}
	return true;
}

bool knFlight_ListPairs(knFlight* f, int flierIndex) {
	knFlier* flier = &f->fliers[flierIndex];
	flier->swept = knFlight_SweptBox(f, flier);
	f->nearbyCount = 0;
	knCollider_Nearby(f->in->collider, &flier->swept, listShape, f);
	sortShapes(f->nearby, f->nearbyCount);
	for (int i = 0; i < f->nearbyCount; ++i) {
		int body = f->in->model->shapes[f->nearby[i]].body;
		bool met = f->slot[body] == KN_FLIGHT_NONE && passesShape(f, &f->fliers[flierIndex], f->nearby[i]);
		if (met && !addPairsWith(f, flierIndex, f->nearby[i])) {
			return false;
		}
	}
	return true;
}

// Pairs of two fliers: these are where the trees do not know them. False: no memory.
static bool pairFliers(knFlight* f, int flierIndex, int otherIndex) {
	const knCollider* c = f->in->collider;
	const knFlier *flier = &f->fliers[flierIndex], *other = &f->fliers[otherIndex];
	int body = other->body;
	if (!knAabb_Overlap(flier->swept, other->swept) || !isFastPair(f, flier->body, body) ||
		whenBallsMeet(f, flier->body, body) == (double)INFINITY) {
		return true;
	}
	for (int k = c->firstShape[body]; k < c->firstShape[body + 1]; ++k) {
		if (!addPairsWith(f, flierIndex, c->shapesOfFrame[k])) {
			return false;
		}
	}
	return true;
}

bool knFlight_PairWithFliers(knFlight* f, int flierIndex) {
	for (int i = 0; i < f->flierCount; ++i) {
		if (i != flierIndex && !pairFliers(f, flierIndex, i)) {
			return false;
		}
	}
	return true;
}

// Doubles as keys in the same order.
static uint64_t keyOf(double x) {
	uint64_t bits;
	memcpy(&bits, &x, sizeof(bits));
	return bits >> 63 != 0 ? ~bits : bits | UINT64_C(1) << 63;
}

// Sorted along x.
bool knFlight_PairAllFliers(knFlight* f) {
	int count = f->flierCount;
	knKeyed* order = KN_SCRATCH(f->in->arena, knKeyed, count);
	if (order == NULL) {
		return false;
	}
	for (int i = 0; i < count; ++i) {
		order[i] = (knKeyed){ keyOf(f->fliers[i].swept.lower.x), (uint32_t)i };
	}
	if (!knSort_Keys(order, count, f->in->arena)) {
		return false;
	}
	for (int i = 0; i < count; ++i) {
		const knFlier* flier = &f->fliers[order[i].value];
		for (int k = i + 1; k < count; ++k) {
			if (f->fliers[order[k].value].swept.lower.x > flier->swept.upper.x) {
				break;
			}
			if (!pairFliers(f, (int)order[i].value, (int)order[k].value)) {
				return false;
			}
		}
	}
	return true;
}
