// The flight of fast bodies: from event to event, each an impact of two bodies where and when they meet.
//
// A *flier* is a body whose way is followed piece by piece. Each pair of its shapes with what lies along the way knows a
// time before which it does not meet (collide/time_of_impact.h). The pair with the earliest such time is next: it is followed by
// one round, or, if it is known to meet then, is an impact, after which the pairs of the two bodies begin again. So no
// pair is followed farther than the next impact needs. At the impact both bodies stand where they are at that time, so
// the arms are true and both momenta are conserved to round-off. Forces act evenly over the step: at time t the share
// t/h of what they add has come. A flier that is hit too often in one step goes along with its last partner, and so
// does one whose partner cannot give way before the step ends.
//
// No step runs away: impacts of a flier are counted, and so is the work of following it. One that has used up its share
// (as bodies that turn many times in the step beside others may) does not turn any more in this step, then stands
// still, then is followed no more; velocities and momenta stay as they are.

#include "dynamics/collision_input.h"
#include "dynamics/fast_flight.h"
#include "knuckle/impact.h"

#define FREE_HITS                                                                                            \
	16 // of a flier in a step; then it goes along with what it hits, after twice as many nothing is looked for any more
#define MOST_LOOKS 20000 // of a flier at each pace
#define ROUND_LOOKS 10   // that a round costs besides
#define HIT_FEATURE (UINT64_C(1) << 63)

// --- fliers --------------------------------------------------------------------------------------------------

static int addFlier(knFlight* f, int body, bool keepsPath) {
	const knFastMoveInput* in = f->in;
	const knStepBodies* blocks = in->blocks;
	knFrame pose = in->state->pose[body];
	knVec3 gravity = knScale(in->model->gravityScale[body], in->state->header->gravity);
	knFlier flier = { .body = body,
					  .keepsPath = keepsPath,
					  .firstPair = KN_FLIGHT_NONE,
					  .pose = pose,
					  .path = knFlight_PlannedPath(f, body),
					  .velocity = knStepBodies_EndVelocity(blocks, in->model, in->state, body),
					  .momentum = knStepBodies_EndMomentum(blocks, in->model, in->state, body) };
	knMat33 inverse = knRotateTensor(pose.q, &in->model->invInertiaLocal[body]);
	flier.energy = 0.5 * knDot(flier.momentum, knMulMV(&inverse, flier.momentum));
	flier.force = knScale(f->h, knMulAdd(gravity, in->model->invMass[body], in->state->force[body].lin));
	f->slot[body] = f->flierCount;
	f->fliers[f->flierCount] = flier;
	f->fliers[f->flierCount].swept = knFlight_SweptBox(f, &flier);
	return f->flierCount++;
}

// The flier of a body that is hit; KN_FLIGHT_NONE for one that nothing moves.
static int flierOf(knFlight* f, int body) {
	if (f->slot[body] != KN_FLIGHT_NONE || f->in->blocks->invMass[body] == 0.0) {
		return f->slot[body];
	}
	int index = addFlier(f, body, f->held[body]);
	for (int i = 0; i < f->pairCount; ++i) {
		for (int side = 0; side < 2; ++side) {
			if (f->pairs[i].body[side] == body) {
				knFlight_LinkPair(f, i, side);
			}
		}
	}
	return index;
}

static void advance(knFlight* f, knFlier* flier) {
	flier->pose = knMovePose(flier->pose, flier->path, f->now - flier->time);
	flier->time = f->now;
}

// The way from now on, as far as the flier's pace lets it.
static void setPath(knFlier* flier, knTwist path) {
	if (flier->pace == KN_PACE_GLIDES) {
		path.ang = knZero3();
	}
	flier->path = flier->pace >= KN_PACE_WAITS ? knZeroTwist() : path;
}

// False: it was as slow already.
static bool slowDown(knFlight* f, knFlier* flier, knPace pace) {
	if (flier->keepsPath || flier->pace >= pace) {
		return false;
	}
	advance(f, flier);
	flier->pace = pace;
	setPath(flier, flier->path);
	return true;
}

// What following a pair took is on the account of its fliers.
static void charge(knFlight* f, int index, int rounds, int looks) {
	for (int side = 0; side < 2; ++side) {
		int slot = f->slot[f->pairs[index].body[side]];
		knFlier* flier = slot != KN_FLIGHT_NONE ? &f->fliers[slot] : NULL;
		if (flier == NULL || flier->keepsPath || flier->pace == KN_PACE_RESTS) {
			continue;
		}
		flier->looks += looks + ROUND_LOOKS * rounds;
		if (flier->looks > MOST_LOOKS) {
			flier->looks = 0;
			slowDown(f, flier, flier->pace + 1);
			knFlight_RestartPairs(f, flier);
		}
	}
}

// --- impacts -------------------------------------------------------------------------------------------------

// A body as an impact sees it.
typedef struct Party {
	knFlier* flier; // NULL: nothing moves it
	double invMass;
	knMat33 invInertia;
	knVec3 arm; // from the centre to the point
	knTwist u;
} Party;

// A held body does not turn as its momentum has it, so that this may come to lie about a thinner axis; it is not to gain
// energy by that. The angular velocity of its momentum, at most as fast as allowed; the momentum follows.
static knVec3 restrainSpin(knFlier* flier, knVec3 omega) {
	double energy = 0.5 * knDot(flier->momentum, omega);
	if (!flier->keepsPath || energy <= flier->energy) {
		return omega;
	}
	double share = sqrt(flier->energy / energy);
	flier->momentum = knScale(share, flier->momentum);
	return knScale(share, omega);
}

static Party makeParty(knFlight* f, int body, int slot, knVec3 point) {
	const knFastMoveInput* in = f->in;
	Party party = { .invMass = in->model->invMass[body] };
	if (slot == KN_FLIGHT_NONE) {
		party.u = in->blocks->u[body];
		knFrame pose = knMovePose(in->state->pose[body], party.u, f->now);
		party.arm = knSub(point, pose.p);
		return party;
	}
	knFlier* flier = &f->fliers[slot];
	party.flier = flier;
	advance(f, flier);
	party.arm = knSub(point, flier->pose.p);
	party.invInertia = knRotateTensor(flier->pose.q, &in->model->invInertiaLocal[body]);
	// what forces are still to add has not come yet
	party.u.lin = knMulAdd(flier->velocity, f->now / f->h - 1.0, flier->force);
	party.u.ang = knMulMV(&party.invInertia, flier->momentum);
	party.u.ang = restrainSpin(flier, party.u.ang);
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

static void addRestOfForces(const knFlight* f, Party* party) {
	if (party->flier != NULL) {
		party->u.lin = knMulAdd(party->u.lin, 1.0 - f->now / f->h, party->flier->force);
	}
}

// The velocity along which a party's points move until the end of the step.
static knTwist pathOf(const knFlight* f, const Party* party, int body) {
	bool planned = party->flier == NULL || party->flier->keepsPath;
	return planned ? knFlight_PlannedPath(f, body) : party->flier->path;
}

static bool canTurnAside(const Party* party) {
	return party->flier != NULL && !party->flier->keepsPath && party->flier->pace < KN_PACE_WAITS;
}

// What still approaches along the ways goes along with the other.
static void goAlong(const knFlight* f, const knFlightPair* pair, Party parties[2], knVec3 n, bool always) {
	knTwist paths[2] = { pathOf(f, &parties[0], pair->body[0]), pathOf(f, &parties[1], pair->body[1]) };
	knVec3 apart = knSub(velocityAt(paths[1], parties[1].arm), velocityAt(paths[0], parties[0].arm));
	double scale = knLength(paths[0].lin) + knLength(paths[1].lin);
	if (!always && knDot(apart, n) >= -0.5 * KN_FLIGHT_IDLE * scale) {
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

static bool recordHit(knFlight* f, const knFlightPair* pair, knVec3 impulse) {
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

static double restitutionOf(const knFlight* f, const knFlightPair* pair, Party parties[2], knVec3 n) {
	const knModel* model = f->in->model;
	const knModelShape *a = &model->shapes[pair->shape[0]], *b = &model->shapes[pair->shape[1]];
	knVec3 u = knSub(velocityAt(parties[1].u, parties[1].arm), velocityAt(parties[0].u, parties[0].arm));
	double resting = KN_BOUNCE_STEPS * f->h * knLength(f->in->state->header->gravity);
	return -knDot(u, n) > resting ? knCombine_Apply(model->restitutionCombine, a->restitution, b->restitution)
								  : 0.0;
}

// The impact of a pair that meets now. False: no memory.
static bool collidePair(knFlight* f, int index) {
	const knFlightPair pair = f->pairs[index];
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
		knFlier* flier = parties[side].flier;
		if (flier == NULL) {
			continue;
		}
		flier->hits += 1;
		flier->velocity = parties[side].u.lin;
		flier->energy = 0.5 * knDot(flier->momentum, parties[side].u.ang);
		if (!flier->keepsPath) {
			often = often || flier->hits > FREE_HITS;
			setPath(flier, parties[side].u);
		}
	}
	goAlong(f, &pair, parties, n, often);
	return recordHit(f, &pair, impulse);
}

// A pair whose search was given up now, still apart: it turns no more, or stays as it is.
static void partPair(knFlight* f, int index) {
	const knFlightPair pair = f->pairs[index];
	knVec3 point = pair.meeting.touch.pointA;
	Party parties[2];
	bool slower = false;
	for (int side = 0; side < 2; ++side) {
		parties[side] = makeParty(f, pair.body[side], f->slot[pair.body[side]], point);
		knFlier* flier = parties[side].flier;
		if (flier != NULL) {
			flier->hits += 1;
			bool turns = knLengthSquared(flier->path.ang) > 0.0;
			slower = (slowDown(f, flier, KN_PACE_GLIDES) && turns) || slower;
		}
	}
	if (!slower) {
		goAlong(f, &pair, parties, knZero3(), true);
	}
}

// New pairs along a flier's new way, and all of its pairs from now on. False: no memory.
static bool lookAhead(knFlight* f, int slot) {
	if (slot == KN_FLIGHT_NONE) {
		return true;
	}
	knFlier* flier = &f->fliers[slot];
	if (flier->hits > 2 * FREE_HITS && !flier->keepsPath) {
		flier->pace = KN_PACE_RESTS;
	}
	if (knFlight_IsFollowed(f, flier->body) &&
		(!knFlight_ListPairs(f, slot) || !knFlight_PairWithFliers(f, slot))) {
		return false;
	}
	knFlight_RestartPairs(f, flier);
	return true;
}

// What the pair with the earliest time does: it is followed by a round, or its bodies' ways change. False: no memory.
static bool takeNext(knFlight* f, int next) {
	knTimeOfImpact* meeting = &f->pairs[next].meeting;
	if (meeting->state == KN_MEETING_OPEN) {
		charge(f, next, 1, knFlight_FollowPair(f, next));
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

static bool fly(knFlight* f) {
	while (f->pairCount > 0 && knIsFinite(f->pairs[f->queue[0]].meeting.time)) {
		if (!takeNext(f, f->queue[0])) {
			return false;
		}
	}
	return true;
}

// --- the step ------------------------------------------------------------------------------------------------

static bool begin(knFlight* f) {
	const knFastMoveInput* in = f->in;
	const knModel* model = in->model;
	int bodyCount = model->bodyCount;
	f->slot = KN_SCRATCH(in->arena, int, bodyCount);
	f->held = KN_SCRATCH_ZERO(in->arena, uint8_t, bodyCount);
	f->fliers = KN_SCRATCH(in->arena, knFlier, bodyCount);
	f->nearby = KN_SCRATCH(in->arena, int, model->shapeCount);
	if (in->arena->failed ||
		!knCollisionInput_Make(&f->input, model, in->state, NULL, &in->tasks, in->arena)) {
		return false;
	}
	for (int b = 0; b < bodyCount; ++b) {
		f->slot[b] = KN_FLIGHT_NONE;
		f->held[b] = f->fast->jointed[b];
		if (!in->lookedAhead && !knFastBodies_Follows(f->fast, b)) {
			knTwist u = knFlight_PlannedPath(f, b);
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
		if (!knFlight_ListPairs(f, i)) {
			return false;
		}
	}
	if (!knFlight_PairAllFliers(f)) {
		return false;
	}
	knFlight_FollowAll(f);
	for (int i = 0; i < f->pairCount; ++i) {
		charge(f, i, f->pairs[i].meeting.rounds, f->pairs[i].meeting.looks);
	}
	return true;
}

// Bodies that were hit or slowed down end where their ways led them, with the velocities that the impacts left.
static void land(knFlight* f) {
	const knModel* model = f->in->model;
	knState* state = f->in->state;
	for (int i = 0; i < f->flierCount; ++i) {
		knFlier* flier = &f->fliers[i];
		if (flier->hits == 0 && flier->pace == KN_PACE_FLIES) {
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
		omega = restrainSpin(flier, omega);
		state->velocity[b] = knMakeTwist(omega, flier->velocity);
	}
}

bool knFastBodies_Move(knFastBodies* fast, const knFastMoveInput* in) {
	fast->hitCount = 0;
	fast->rounds = fast->looks = 0;
	if (fast->count == 0) {
		knStepBodies_End(in->blocks, in->model, &in->tasks, in->state);
		return true;
	}
	knFlight flight = { .in = in, .fast = fast, .h = in->blocks->h };
	if (!begin(&flight) || !fly(&flight)) {
		return false;
	}
	knStepBodies_End(in->blocks, in->model, &in->tasks, in->state);
	land(&flight);
	return true;
}
