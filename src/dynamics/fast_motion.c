// The flight of fast bodies: from event to event, each an impact of two bodies where and when they meet.
//
// A *flier* is a body whose way is followed piece by piece. Each pair of its shapes with what lies along the way knows a
// time before which it does not meet (collide/meeting.h). The pair with the earliest such time is next: it is followed by
// one round, or, if it is known to meet then, is an impact, after which the pairs of the two bodies begin again. So no
// pair is followed farther than the next impact needs. At the impact both bodies stand where they are at that time, so
// the arms are true and both momenta are conserved to round-off. Forces act evenly over the step: at time t the share
// t/h of what they add has come. A flier that is hit too often in one step goes along with its last partner, and so
// does one whose partner cannot give way before the step ends.
//
// No step runs away: impacts of a flier are counted, and so is the work of following it. One that has used up its share
// (as bodies that turn many times in the step beside others may) does not turn any more in this step, then stands
// still, then is followed no more; velocities and momenta stay as they are.

#include "dynamics/fast_bodies.h"

#include <string.h>

#include "collide/meeting.h"
#include "collide/nearby.h"
#include "core/sort.h"
#include "core/tasks.h"
#include "dynamics/collision_input.h"
#include "dynamics/impact.h"

#define PAIR_GRAIN 4
#define FIRST_ROUNDS 16  // of each pair, in parallel, before any impact
#define FREE_HITS 16     // of a flier in a step; then it goes along with what it hits
#define MOST_HITS 32     // then nothing is looked for any more
#define MOST_LOOKS 40000 // of a flier at each pace
#define ROUND_LOOKS 10   // that a round costs besides
#define NUDGE_SHARE 0.1  // of the thinner shape's thickness
#define IDLE 1e-9        // of the speeds: a slower approach is none
#define BOUNCE_STEPS 2.0 // an approach that gravity makes in so many steps does not bounce
#define HIT_FEATURE (UINT64_C(1) << 63)
#define NONE (-1)

// What a flier still does in this step: all, no turning, nothing. One that rests is not looked after.
typedef enum Pace { FLIES, GLIDES, WAITS, RESTS } Pace;

typedef struct Flier {
	int body;
	bool keepsPath; // held by contacts or joints: ends the step where the solve put it
	Pace pace;
	int hits;
	int looks;       // that following it has taken
	int firstPair;   // of its pairs, NONE at the end
	double time;     // of the pose
	knFrame pose;    // of the centre of mass
	knTwist path;    // along which it moves from then on
	knVec3 velocity; // at the end of the step
	knVec3 momentum; // angular
	knVec3 force;    // m/s, what forces add in the step
	knAabb swept;    // its way to the end of the step
} Flier;

typedef struct Pair {
	int shape[2], body[2]; // shape[0] < shape[1]
	int next[2];           // of the flier's pairs
	int place;             // in the queue
	double thin;
	knMeeting meeting;
} Pair;

typedef struct Flight {
	const knFastMoveInput* in;
	knFastBodies* fast;
	knCollideInput input;
	double h, now;
	double slowReach; // m, the farthest way of a body that is not followed, unless the trees know it
	int* slot;        // [bodyCount] its flier, NONE
	uint8_t* held;    // [bodyCount] by contacts or joints
	Flier* fliers;    // [bodyCount]
	int flierCount;
	Pair* pairs;
	int* queue; // [pairCapacity] a heap of the pairs: the earliest time first
	int pairCount, pairCapacity;
	int hitCapacity;
	int* nearby; // [shapeCount] scratch of listPairs
	int nearbyCount;
} Flight;

// --- ways ----------------------------------------------------------------------------------------------------

static knTwist plannedPath(const Flight* f, int body) {
	const knBlocks* blocks = f->in->blocks;
	bool pushed = blocks->push != NULL && blocks->invMass[body] > 0.0;
	return pushed ? knAddT(blocks->u[body], blocks->push[body]) : blocks->u[body];
}

static knTwist presentPath(const Flight* f, int body) {
	int slot = f->slot[body];
	return slot == NONE || f->fliers[slot].keepsPath ? plannedPath(f, body) : f->fliers[slot].path;
}

// The pose at time 0 of a body that has always moved as it does now, and that motion.
static knFrame virtualStart(const Flight* f, int body, knTwist* path) {
	int slot = f->slot[body];
	*path = presentPath(f, body);
	if (slot == NONE || f->fliers[slot].keepsPath) {
		return f->in->state->pose[body];
	}
	const Flier* flier = &f->fliers[slot];
	return flier->time > 0.0 ? knMovePose(flier->pose, flier->path, -flier->time) : flier->pose;
}

static knMoving movingShape(const Flight* f, int shape) {
	const knModelShape* s = &f->in->model->shapes[shape];
	knTwist path;
	knFrame start = virtualStart(f, s->body, &path);
	return (knMoving){ s->geom, knMulF(start, s->local), start.p, path };
}

static void followPair(Flight* f, int index, int rounds) {
	Pair* pair = &f->pairs[index];
	const knModel* model = f->in->model;
	knMeetingInput in = { .a = movingShape(f, pair->shape[0]),
						  .b = movingShape(f, pair->shape[1]),
						  .to = f->h,
						  .skin = knFastBodies_Skin(model, pair->body[0], pair->body[1]),
						  .nudge = NUDGE_SHARE * pair->thin };
	in.idle = IDLE * (knLength(in.a.motion.lin) + knLength(in.b.motion.lin) +
					  knLength(in.a.motion.ang) * model->radius[pair->body[0]] +
					  knLength(in.b.motion.ang) * model->radius[pair->body[1]]);
	knMeeting_Follow(&in, rounds, &pair->meeting);
}

static void followRange(int begin, int end, int worker, void* argument) {
	(void)worker;
	for (int i = begin; i < end; ++i) {
		followPair(argument, i, FIRST_ROUNDS);
	}
}

// --- pairs ---------------------------------------------------------------------------------------------------

static bool growPairs(Flight* f) {
	if (f->pairCount < f->pairCapacity) {
		return true;
	}
	int capacity = 2 * f->pairCapacity + 4 * f->fast->count + 64;
	Pair* pairs = KN_SCRATCH(f->in->arena, Pair, capacity);
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

static bool isEarlier(const Flight* f, int p, int q) {
	double timeP = f->pairs[p].meeting.time, timeQ = f->pairs[q].meeting.time;
	return timeP < timeQ || (timeP == timeQ && p < q);
}

static void place(Flight* f, int at, int index) {
	f->queue[at] = index;
	f->pairs[index].place = at;
}

// Moves the pair at a place of the heap down until what is below is later.
static void sink(Flight* f, int at) {
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
static void requeue(Flight* f, int index) {
	int at = f->pairs[index].place;
	for (int up; at > 0 && isEarlier(f, index, f->queue[up = (at - 1) / 2]); at = up) {
		place(f, at, f->queue[up]);
	}
	place(f, at, index);
	sink(f, at);
}

// Whether a body's pairs are looked at for its own sake.
static bool isFollowed(const Flight* f, int body) {
	int slot = f->slot[body];
	return slot != NONE && !f->fliers[slot].keepsPath && f->fliers[slot].pace != RESTS;
}

// A pair from now on, as if it had never been looked at.
static void restartPair(Flight* f, int index) {
	Pair* pair = &f->pairs[index];
	pair->meeting = knMeeting_Begin(f->now);
	if (!isFollowed(f, pair->body[0]) && !isFollowed(f, pair->body[1])) {
		pair->meeting.state = KN_MEETING_NONE;
		pair->meeting.time = INFINITY;
	}
	requeue(f, index);
}

static void restartPairs(Flight* f, const Flier* flier) {
	for (int i = flier->firstPair; i != NONE; i = f->pairs[i].next[f->pairs[i].body[1] == flier->body]) {
		restartPair(f, i);
	}
}

// --- finding pairs -----------------------------------------------------------------------------------------------

// A sheet has no thickness; the other's counts.
static double thinner(const knGeom* a, const knGeom* b) {
	double thinA = knGeom_Thinness(a), thinB = knGeom_Thinness(b);
	return thinA > 0.0 && thinB > 0.0 ? knMin(thinA, thinB) : knMax(thinA, thinB);
}

static void linkPair(Flight* f, int index, int side) {
	int slot = f->slot[f->pairs[index].body[side]];
	if (slot != NONE) {
		f->pairs[index].next[side] = f->fliers[slot].firstPair;
		f->fliers[slot].firstPair = index;
	}
}

static bool hasPair(const Flight* f, const Flier* flier, int low, int high) {
	for (int i = flier->firstPair; i != NONE; i = f->pairs[i].next[f->pairs[i].body[1] == flier->body]) {
		if (f->pairs[i].shape[0] == low && f->pairs[i].shape[1] == high) {
			return true;
		}
	}
	return false;
}

static bool isFastPair(const Flight* f, int bodyA, int bodyB) {
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
static bool addPair(Flight* f, int flierIndex, int shape, int other) {
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
	f->pairs[index] = (Pair){ .shape = { low, high },
							  .body = { shapes[low].body, shapes[high].body },
							  .next = { NONE, NONE },
							  .thin = thinner(own->geom, its->geom) };
	f->pairs[index].meeting = knMeeting_Begin(f->now);
	linkPair(f, index, 0);
	linkPair(f, index, 1);
	place(f, index, index);
	requeue(f, index);
	return true;
}

static knVec3 placeNow(const Flight* f, const Flier* flier) {
	return knMulAdd(flier->pose.p, f->now - flier->time, flier->path.lin);
}

// The box of a body's way from now to the end.
static knAabb sweptBox(const Flight* f, const Flier* flier) {
	double radius = f->in->model->radius[flier->body] + f->slowReach;
	knVec3 here = placeNow(f, flier), there = knMulAdd(flier->pose.p, f->h - flier->time, flier->path.lin);
	knAabb box = { knMin3(here, there), knMax3(here, there) };
	return knAabb_Grow(box, radius);
}

// Whether the balls about two fliers meet before the step ends.
static bool ballsMeet(const Flight* f, const Flier* a, const Flier* b) {
	const double* radius = f->in->model->radius;
	knVec3 apart = knSub(placeNow(f, b), placeNow(f, a)), v = knSub(b->path.lin, a->path.lin);
	double square = knLengthSquared(v), time = 0.0;
	if (square > 0.0) {
		time = knClamp(-knDot(apart, v) / square, 0.0, f->h - f->now);
	}
	double reach = radius[a->body] + radius[b->body] + knFastBodies_Skin(f->in->model, a->body, b->body);
	return knLength(knMulAdd(apart, time, v)) <= reach;
}

// Whether the box about a flier's ball, moved along its way, meets a shape's box.
static bool passesShape(const Flight* f, const Flier* flier, int shape) {
	const knCollider* c = f->in->collider;
	if (c->items[shape] < 0) {
		return true; // a plane
	}
	knVec3 here = placeNow(f, flier), way = knScale(f->h - f->now, flier->path.lin);
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
	Flight* f = context;
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

static bool addPairsWith(Flight* f, int flierIndex, int other) {
	const knCollider* c = f->in->collider;
	int body = f->fliers[flierIndex].body;
	for (int k = c->firstShape[body]; k < c->firstShape[body + 1]; ++k) {
		if (!addPair(f, flierIndex, c->shapesOfFrame[k], other)) {
			return false;
		}
	}
	return true;
}

// Pairs of a flier with what lies along its way from now on. False: no memory.
static bool listPairs(Flight* f, int flierIndex) {
	Flier* flier = &f->fliers[flierIndex];
	flier->swept = sweptBox(f, flier);
	f->nearbyCount = 0;
	knCollider_Nearby(f->in->collider, &flier->swept, listShape, f);
	sortShapes(f->nearby, f->nearbyCount);
	for (int i = 0; i < f->nearbyCount; ++i) {
		int body = f->in->model->shapes[f->nearby[i]].body;
		bool met = f->slot[body] == NONE && passesShape(f, &f->fliers[flierIndex], f->nearby[i]);
		if (met && !addPairsWith(f, flierIndex, f->nearby[i])) {
			return false;
		}
	}
	return true;
}

// Pairs of two fliers: these are where the trees do not know them. False: no memory.
static bool pairFliers(Flight* f, int flierIndex, int otherIndex) {
	const knCollider* c = f->in->collider;
	const Flier *flier = &f->fliers[flierIndex], *other = &f->fliers[otherIndex];
	int body = other->body;
	if (!knAabb_Overlap(flier->swept, other->swept) || !isFastPair(f, flier->body, body) ||
		!ballsMeet(f, flier, other)) {
		return true;
	}
	for (int k = c->firstShape[body]; k < c->firstShape[body + 1]; ++k) {
		if (!addPairsWith(f, flierIndex, c->shapesOfFrame[k])) {
			return false;
		}
	}
	return true;
}

static bool pairWithFliers(Flight* f, int flierIndex) {
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

// All pairs of fliers, sorted along x.
static bool pairAllFliers(Flight* f) {
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
		const Flier* flier = &f->fliers[order[i].value];
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

// --- fliers --------------------------------------------------------------------------------------------------

static int addFlier(Flight* f, int body, bool keepsPath) {
	const knFastMoveInput* in = f->in;
	const knBlocks* blocks = in->blocks;
	knFrame pose = in->state->pose[body];
	knMat33 inertia = knRotateTensor(pose.q, &in->model->inertiaLocal[body]);
	knVec3 change = knSub(blocks->u[body].ang, blocks->free[body].ang);
	knVec3 gravity = knScale(in->model->gravityScale[body], in->state->header->gravity);
	Flier flier = { .body = body,
					.keepsPath = keepsPath,
					.firstPair = NONE,
					.pose = pose,
					.path = plannedPath(f, body),
					.velocity = blocks->u[body].lin,
					.momentum = knAdd(blocks->momentum[body], knMulMV(&inertia, change)) };
	flier.force = knScale(f->h, knMulAdd(gravity, blocks->invMass[body], in->state->force[body].lin));
	f->slot[body] = f->flierCount;
	f->fliers[f->flierCount] = flier;
	f->fliers[f->flierCount].swept = sweptBox(f, &flier);
	return f->flierCount++;
}

// The flier of a body that is hit; NONE for one that nothing moves.
static int flierOf(Flight* f, int body) {
	if (f->slot[body] != NONE || f->in->blocks->invMass[body] == 0.0) {
		return f->slot[body];
	}
	int index = addFlier(f, body, f->held[body]);
	for (int i = 0; i < f->pairCount; ++i) {
		for (int side = 0; side < 2; ++side) {
			if (f->pairs[i].body[side] == body) {
				linkPair(f, i, side);
			}
		}
	}
	return index;
}

static void advance(Flight* f, Flier* flier) {
	flier->pose = knMovePose(flier->pose, flier->path, f->now - flier->time);
	flier->time = f->now;
}

// The way from now on, as far as the flier's pace lets it.
static void setPath(Flier* flier, knTwist path) {
	if (flier->pace == GLIDES) {
		path.ang = knZero3();
	}
	flier->path = flier->pace >= WAITS ? knZeroTwist() : path;
}

// False: it was as slow already.
static bool slowDown(Flight* f, Flier* flier, Pace pace) {
	if (flier->keepsPath || flier->pace >= pace) {
		return false;
	}
	advance(f, flier);
	flier->pace = pace;
	setPath(flier, flier->path);
	return true;
}

// What following a pair took is on the account of its fliers.
static void charge(Flight* f, int index, int looks) {
	for (int side = 0; side < 2; ++side) {
		int slot = f->slot[f->pairs[index].body[side]];
		Flier* flier = slot != NONE ? &f->fliers[slot] : NULL;
		if (flier == NULL || flier->keepsPath || flier->pace == RESTS) {
			continue;
		}
		flier->looks += looks;
		if (flier->looks > MOST_LOOKS) {
			flier->looks = 0;
			slowDown(f, flier, flier->pace + 1);
			restartPairs(f, flier);
		}
	}
}

// --- impacts -------------------------------------------------------------------------------------------------

// A body as an impact sees it.
typedef struct Party {
	Flier* flier; // NULL: nothing moves it
	double invMass;
	knMat33 invInertia;
	knVec3 arm; // from the centre to the point
	knTwist u;
} Party;

static Party makeParty(Flight* f, int body, int slot, knVec3 point) {
	const knFastMoveInput* in = f->in;
	Party party = { .invMass = in->blocks->invMass[body] };
	if (slot == NONE) {
		party.u = in->blocks->u[body];
		knFrame pose = knMovePose(in->state->pose[body], party.u, f->now);
		party.arm = knSub(point, pose.p);
		return party;
	}
	Flier* flier = &f->fliers[slot];
	party.flier = flier;
	advance(f, flier);
	party.arm = knSub(point, flier->pose.p);
	party.invInertia = knRotateTensor(flier->pose.q, &in->model->invInertiaLocal[body]);
	// what forces are still to add has not come yet
	party.u.lin = knMulAdd(flier->velocity, f->now / f->h - 1.0, flier->force);
	party.u.ang = knMulMV(&party.invInertia, flier->momentum);
	return party;
}

static knVec3 velocityAt(knTwist u, knVec3 arm) {
	return knAdd(u.lin, knCross(u.ang, arm));
}

static void push(Party* party, knVec3 j) {
	if (party->flier != NULL) {
		knVec3 moment = knCross(party->arm, j);
		party->u.lin = knMulAdd(party->u.lin, party->invMass, j);
		party->u.ang = knAdd(party->u.ang, knMulMV(&party->invInertia, moment));
		party->flier->momentum = knAdd(party->flier->momentum, moment);
	}
}

static knVec3 strike(Party* a, Party* b, knVec3 n, double e, double mu) {
	knMat33 shareA = knImpact_Share(a->invMass, &a->invInertia, a->arm);
	knMat33 shareB = knImpact_Share(b->invMass, &b->invInertia, b->arm);
	knImpact impact = { .K = knAddMM(&shareA, &shareB),
						.u = knSub(velocityAt(b->u, b->arm), velocityAt(a->u, a->arm)),
						.n = n,
						.e = e,
						.mu = mu };
	knImpactKind kind;
	knVec3 j = knImpact_Solve(&impact, &kind);
	if (kind == KN_IMPACT_NONE) {
		return knZero3();
	}
	push(a, knNeg(j));
	push(b, j);
	return j;
}

static void addRestOfForces(const Flight* f, Party* party) {
	if (party->flier != NULL) {
		party->u.lin = knMulAdd(party->u.lin, 1.0 - f->now / f->h, party->flier->force);
	}
}

// The velocity along which a party's points move until the end of the step.
static knTwist pathOf(const Flight* f, const Party* party, int body) {
	bool planned = party->flier == NULL || party->flier->keepsPath;
	return planned ? plannedPath(f, body) : party->flier->path;
}

static bool canTurnAside(const Party* party) {
	return party->flier != NULL && !party->flier->keepsPath && party->flier->pace < WAITS;
}

// What still approaches along the ways goes along with the other.
static void goAlong(const Flight* f, const Pair* pair, Party parties[2], knVec3 n, bool always) {
	knTwist paths[2] = { pathOf(f, &parties[0], pair->body[0]), pathOf(f, &parties[1], pair->body[1]) };
	knVec3 apart = knSub(velocityAt(paths[1], parties[1].arm), velocityAt(paths[0], parties[0].arm));
	double scale = knLength(paths[0].lin) + knLength(paths[1].lin);
	if (!always && knDot(apart, n) >= -0.5 * IDLE * scale) {
		return;
	}
	if (canTurnAside(&parties[0]) && canTurnAside(&parties[1])) {
		// both wait: any way that is not along a body's velocity would change its angular momentum
		setPath(parties[0].flier, knZeroTwist());
		setPath(parties[1].flier, knZeroTwist());
		return;
	}
	for (int side = 0; side < 2; ++side) {
		if (canTurnAside(&parties[side])) {
			// the other's motion, at this one's centre
			const Party* other = &parties[1 - side];
			knVec3 arm = knSub(other->arm, parties[side].arm);
			setPath(parties[side].flier, knMakeTwist(paths[1 - side].ang, velocityAt(paths[1 - side], arm)));
		}
	}
}

static bool recordHit(Flight* f, const Pair* pair, knVec3 impulse) {
	knFastBodies* fast = f->fast;
	if (fast->hitCount == f->hitCapacity) {
		int capacity = 2 * f->hitCapacity + 4 * fast->count + 64;
		knStepContact* hits = KN_SCRATCH(f->in->arena, knStepContact, capacity);
		if (hits == NULL) {
			return false;
		}
		for (int i = 0; i < fast->hitCount; ++i) {
			hits[i] = fast->hits[i];
		}
		fast->hits = hits;
		f->hitCapacity = capacity;
	}
	const knNearest* touch = &pair->meeting.touch;
	knStepContact hit = { .shapeA = pair->shape[0], .shapeB = pair->shape[1], .impulse = impulse };
	hit.point = (knContactPoint){ .pointA = touch->pointA,
								  .pointB = touch->pointB,
								  .normal = touch->normal,
								  .separation = touch->distance,
								  .feature = HIT_FEATURE | (uint64_t)fast->hitCount };
	fast->hits[fast->hitCount++] = hit;
	return true;
}

static double restitutionOf(const Flight* f, const Pair* pair, Party parties[2], knVec3 n) {
	const knModel* model = f->in->model;
	const knModelShape *a = &model->shapes[pair->shape[0]], *b = &model->shapes[pair->shape[1]];
	knVec3 u = knSub(velocityAt(parties[1].u, parties[1].arm), velocityAt(parties[0].u, parties[0].arm));
	double resting = BOUNCE_STEPS * f->h * knLength(f->in->state->header->gravity);
	return -knDot(u, n) > resting ? knCombine_Apply(model->restitutionCombine, a->restitution, b->restitution)
								  : 0.0;
}

// The impact of a pair that meets now. False: no memory.
static bool collidePair(Flight* f, int index) {
	const Pair pair = f->pairs[index];
	const knModel* model = f->in->model;
	const knModelShape *a = &model->shapes[pair.shape[0]], *b = &model->shapes[pair.shape[1]];
	int slots[2] = { flierOf(f, pair.body[0]), flierOf(f, pair.body[1]) };
	const knNearest* touch = &pair.meeting.touch;
	knVec3 point = knLerp(touch->pointA, touch->pointB, 0.5), n = touch->normal;
	Party parties[2] = { makeParty(f, pair.body[0], slots[0], point),
						 makeParty(f, pair.body[1], slots[1], point) };
	double mu = knCombine_Apply(model->frictionCombine, a->friction, b->friction);
	double e = restitutionOf(f, &pair, parties, n);
	knVec3 impulse = strike(&parties[0], &parties[1], n, e, mu);
	addRestOfForces(f, &parties[0]);
	addRestOfForces(f, &parties[1]);
	impulse = knAdd(impulse, strike(&parties[0], &parties[1], n, 0.0, mu));
	bool often = false;
	for (int side = 0; side < 2; ++side) {
		Flier* flier = parties[side].flier;
		if (flier == NULL) {
			continue;
		}
		flier->hits += 1;
		flier->velocity = parties[side].u.lin;
		if (!flier->keepsPath) {
			often = often || flier->hits > FREE_HITS;
			setPath(flier, parties[side].u);
		}
	}
	goAlong(f, &pair, parties, n, often);
	return recordHit(f, &pair, impulse);
}

// A pair whose search was given up now, still apart: it turns no more, or stays as it is.
static void partPair(Flight* f, int index) {
	const Pair pair = f->pairs[index];
	knVec3 point = pair.meeting.touch.pointA;
	Party parties[2];
	bool slower = false;
	for (int side = 0; side < 2; ++side) {
		parties[side] = makeParty(f, pair.body[side], f->slot[pair.body[side]], point);
		Flier* flier = parties[side].flier;
		if (flier != NULL) {
			flier->hits += 1;
			bool turns = knLengthSquared(flier->path.ang) > 0.0;
			slower = (slowDown(f, flier, GLIDES) && turns) || slower;
		}
	}
	if (!slower) {
		goAlong(f, &pair, parties, knZero3(), true);
	}
}

// New pairs along a flier's new way, and all of its pairs from now on. False: no memory.
static bool lookAhead(Flight* f, int slot) {
	if (slot == NONE) {
		return true;
	}
	Flier* flier = &f->fliers[slot];
	if (flier->hits > MOST_HITS && !flier->keepsPath) {
		flier->pace = RESTS;
	}
	if (isFollowed(f, flier->body) && (!listPairs(f, slot) || !pairWithFliers(f, slot))) {
		return false;
	}
	restartPairs(f, flier);
	return true;
}

// What the pair with the earliest time does: it is followed by a round, or its bodies' ways change. False: no memory.
static bool takeNext(Flight* f, int next) {
	knMeeting* meeting = &f->pairs[next].meeting;
	if (meeting->state == KN_MEETING_OPEN) {
		int before = meeting->looks;
		followPair(f, next, 1);
		requeue(f, next);
		charge(f, next, ROUND_LOOKS + meeting->looks - before);
		return true;
	}
	f->now = meeting->time;
	if (meeting->state == KN_MEETING_STALLED) {
		partPair(f, next);
	} else if (!collidePair(f, next)) {
		return false;
	}
	int slots[2] = { f->slot[f->pairs[next].body[0]], f->slot[f->pairs[next].body[1]] };
	return lookAhead(f, slots[0]) && lookAhead(f, slots[1]);
}

static bool fly(Flight* f) {
	while (f->pairCount > 0 && knIsFinite(f->pairs[f->queue[0]].meeting.time)) {
		if (!takeNext(f, f->queue[0])) {
			return false;
		}
	}
	return true;
}

// --- the step ------------------------------------------------------------------------------------------------

static bool begin(Flight* f) {
	const knFastMoveInput* in = f->in;
	const knModel* model = in->model;
	int bodyCount = model->bodyCount;
	f->slot = KN_SCRATCH(in->arena, int, bodyCount);
	f->held = KN_SCRATCH_ZERO(in->arena, uint8_t, bodyCount);
	f->fliers = KN_SCRATCH(in->arena, Flier, bodyCount);
	f->nearby = KN_SCRATCH(in->arena, int, model->shapeCount);
	if (in->arena->failed ||
		!knCollisionInput_Make(&f->input, model, in->state, NULL, &in->tasks, in->arena)) {
		return false;
	}
	for (int b = 0; b < bodyCount; ++b) {
		f->slot[b] = NONE;
		f->held[b] = f->fast->jointed[b];
		if (!in->lookedAhead && !knFastBodies_Follows(f->fast, b)) {
			knTwist u = plannedPath(f, b);
			double reach = f->h * (knLength(u.lin) + knLength(u.ang) * model->radius[b]);
			f->slowReach = knMax(f->slowReach, knIsFinite(reach) ? reach : 0.0);
		}
	}
	// what only fast bodies touch is free
	for (int i = 0; i < in->contacts->chunkCount; ++i) {
		const knSweepChunk* chunk = &in->contacts->chunks[i];
		f->held[chunk->a] |= !knFastBodies_Follows(f->fast, chunk->b);
		f->held[chunk->b] |= !knFastBodies_Follows(f->fast, chunk->a);
	}
	for (int b = 1; b < bodyCount; ++b) {
		if (f->fast->kind[b] != KN_FAST_NOT) {
			addFlier(f, b, false);
		}
	}
	int first = f->flierCount;
	for (int i = 0; i < first; ++i) {
		if (!listPairs(f, i)) {
			return false;
		}
	}
	if (!pairAllFliers(f)) {
		return false;
	}
	knTasks_For(&in->tasks, f->pairCount, PAIR_GRAIN, followRange, f);
	for (int at = f->pairCount - 1; at >= 0; --at) {
		sink(f, at);
	}
	for (int i = 0; i < f->pairCount; ++i) {
		charge(f, i, ROUND_LOOKS * f->pairs[i].meeting.rounds + f->pairs[i].meeting.looks);
	}
	return true;
}

// Bodies that were hit or slowed down end where their ways led them, with the velocities that the impacts left.
static void land(Flight* f) {
	const knModel* model = f->in->model;
	knState* state = f->in->state;
	for (int i = 0; i < f->flierCount; ++i) {
		Flier* flier = &f->fliers[i];
		if (flier->hits == 0 && flier->pace == FLIES) {
			continue;
		}
		int b = flier->body;
		f->now = f->h;
		if (!flier->keepsPath) {
			advance(f, flier);
			state->pose[b] = flier->pose;
		}
		// the spin belongs to the pose that it ends with
		knMat33 inverse = knRotateTensor(state->pose[b].q, &model->invInertiaLocal[b]);
		knMat33 inertia = knRotateTensor(state->pose[b].q, &model->inertiaLocal[b]);
		knVec3 omega = knMulMV(&inverse, flier->momentum);
		knVec3 lost = knSub(flier->momentum, knMulMV(&inertia, omega));
		omega = knAdd(omega, knMulMV(&inverse, lost));
		state->velocity[b] = knMakeTwist(omega, flier->velocity);
	}
}

bool knFastBodies_Move(knFastBodies* fast, const knFastMoveInput* in) {
	fast->hitCount = 0;
	if (fast->count == 0) {
		knBlocks_End(in->blocks, in->model, &in->tasks, in->state);
		return true;
	}
	Flight flight = { .in = in, .fast = fast, .h = in->blocks->h };
	if (!begin(&flight) || !fly(&flight)) {
		return false;
	}
	knBlocks_End(in->blocks, in->model, &in->tasks, in->state);
	land(&flight);
	return true;
}
