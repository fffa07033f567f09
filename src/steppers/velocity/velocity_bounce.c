// Bounces: impacts that pass through a row of bodies one after the other, as in Newton's cradle.
//
// A shared solve of all contacts with Newton's law would give every ball of a cradle its part of the blow. Here the pairs
// that approach fast enough bounce first, with the velocities from before the forces, and only those: together, so that
// equal hits are treated alike, each point leaving with e times its approach,
//
//   w' = w + A lambda,   0 <= lambda complementary to w' + e w >= 0,   |friction| <= mu lambda        w: approaching points
//
// Whoever was hit may now approach the next in the row: rounds go on until nobody approaches (Smith et al. 2012). Momentum
// is kept by equal and opposite impulses, energy because w' + w <= 0 wherever there is a lambda; where friction makes
// the balance positive the round is done without it. Joints that are solved directly take part: what an impulse does to a body
// is what it does after their rows have been restored. What does not bounce is left to the global solve.

#include "steppers/velocity/velocity_step.h"

#define ROUNDS 64        // at most; a row of so many balls passes a blow on in one step
#define ROUND_SWEEPS 60  // over the points of a round
#define SETTLED 1e-12    // of the fastest approach: a round has settled
#define BOUNCE_STEPS 2.0 // an approach that gravity makes in so many steps does not bounce
#define EXACT_WORK                                                                                           \
	20000 // joint rows times points: with more, joints answer once a round and not at every visit

// A contact point that may bounce.
typedef struct BouncePoint {
	int32_t point;         // index into the step's contacts
	int32_t a, b;          // bodies
	double e, gap;         // m
	double touching;       // m, a gap below it is none
	double D[3];           // what a unit impulse along n, t1, t2 does there
	double tangential;     // 1 / a bound of the tangential block's eigenvalues
	knVec3 before;         // m/s, of b relative to a when this round began
	double target;         // m/s, of this round
	double lambda[3];      // N s, of this round
	knVec3 carried;        // N s, of all rounds, on b
	bool jointed;          // a body of it hangs on joints that are solved directly
	bool takesPart, known; // in this round; D is known
	bool bounced;          // in any round
} BouncePoint;

typedef struct Bounce {
	knVelocityStep* step;
	BouncePoint* points;
	int count;
	knTwist* change; // [bodyCount] of the velocities, by all impulses
	knTwist* saved;  // [bodyCount] of `change`, when a round began
	knTwist* unit;   // [bodyCount] scratch, zero between uses
	bool joints;     // some points are jointed
	bool exact;      // joints answer at every visit
} Bounce;

static const knSweepPoint* pointOf(const Bounce* bounce, const BouncePoint* p) {
	return &bounce->step->contacts.points[p->point];
}

static knVec3 relativeVelocity(const knSweepPoint* point, const BouncePoint* p, const knTwist* u) {
	knVec3 vA = knAdd(u[p->a].lin, knCross(u[p->a].ang, point->rA));
	knVec3 vB = knAdd(u[p->b].lin, knCross(u[p->b].ang, point->rB));
	return knSub(vB, vA);
}

// Before the forces, with what the impacts have changed.
static knVec3 velocityAt(const Bounce* bounce, const BouncePoint* p) {
	const knSweepPoint* point = pointOf(bounce, p);
	knVec3 start = relativeVelocity(point, p, bounce->step->context->state->velocity);
	return knAdd(start, relativeVelocity(point, p, bounce->change));
}

static void push(const Bounce* bounce, const BouncePoint* p, knVec3 impulse, knTwist* change) {
	const knSweepPoint* point = pointOf(bounce, p);
	const knBlocks* blocks = &bounce->step->blocks;
	knTwist *a = &change[p->a], *b = &change[p->b];
	a->lin = knMulAdd(a->lin, -blocks->invMass[p->a], impulse);
	a->ang = knSub(a->ang, knMulMV(&blocks->invInertia[p->a], knCross(point->rA, impulse)));
	b->lin = knMulAdd(b->lin, blocks->invMass[p->b], impulse);
	b->ang = knAdd(b->ang, knMulMV(&blocks->invInertia[p->b], knCross(point->rB, impulse)));
}

static void clearTouched(const Bounce* bounce, const BouncePoint* p) {
	if (p->jointed) {
		for (int b = 0; b < bounce->step->blocks.count; ++b) {
			bounce->unit[b] = knZeroTwist();
		}
	}
	bounce->unit[p->a] = bounce->unit[p->b] = knZeroTwist();
}

static void findResponse(const Bounce* bounce, BouncePoint* p) {
	const knSweepPoint* point = pointOf(bounce, p);
	const knVec3 axes[3] = { point->n, point->t1, point->t2 };
	double across = 0.0;
	for (int i = 0; i < 3; ++i) {
		push(bounce, p, axes[i], bounce->unit);
		if (p->jointed) {
			knDirectRows_Restore(&bounce->step->direct, bounce->unit);
		}
		knVec3 answer = relativeVelocity(point, p, bounce->unit);
		p->D[i] = knDot(axes[i], answer);
		across = i == 1 ? knAbs(knDot(point->t2, answer)) : across;
		clearTouched(bounce, p);
	}
	double largest = knMax(p->D[1], p->D[2]) + across;
	p->tangential = largest > 0.0 ? 1.0 / largest : 0.0;
	p->known = true;
}

// --- which points ----------------------------------------------------------------------------------------

static bool isJointed(const knVelocityStep* step, int b) {
	int32_t group = step->islands.group[b];
	return group >= 0 && step->islands.jointed[group] && step->direct.count > 0;
}

static bool listPoints(Bounce* bounce) {
	knVelocityStep* step = bounce->step;
	const knContactRows* contacts = &step->contacts;
	bounce->points = KN_SCRATCH_ZERO(step->context->arena, BouncePoint, contacts->pointCount);
	if (bounce->points == NULL) {
		return false;
	}
	int jointed = 0;
	for (int i = 0; i < contacts->chunkCount; ++i) {
		const knSweepChunk* chunk = &contacts->chunks[i];
		for (int k = chunk->first; k < chunk->first + chunk->count && chunk->stage >= 0; ++k) {
			double e = knContactRows_Restitution(contacts, &step->input, k);
			if (e <= 0.0) {
				break;
			}
			double envelope = knContactRows_Envelope(step->context->model, chunk->a, chunk->b);
			BouncePoint* p = &bounce->points[bounce->count++];
			*p = (BouncePoint){ .point = k,
								.a = chunk->a,
								.b = chunk->b,
								.e = e,
								.gap = contacts->points[k].depth,
								.touching = KN_REST_GAP * envelope,
								.jointed = isJointed(step, chunk->a) || isJointed(step, chunk->b) };
			jointed += p->jointed;
		}
	}
	bounce->joints = jointed > 0;
	bounce->exact = (double)jointed * step->direct.count <= EXACT_WORK;
	return true;
}

// Chooses the points of a round; returns the fastest approach, m/s, 0: nobody approaches.
static double choosePoints(const Bounce* bounce) {
	const knVelocityStep* step = bounce->step;
	const knState* state = step->context->state;
	double resting = BOUNCE_STEPS * knLength(state->header->gravity) * step->h, fastest = 0.0;
	for (int i = 0; i < bounce->count; ++i) {
		BouncePoint* p = &bounce->points[i];
		const knSweepPoint* point = pointOf(bounce, p);
		p->before = velocityAt(bounce, p);
		double before = knDot(point->n, p->before);
		knVec3 forces =
			knSub(relativeVelocity(point, p, step->blocks.u), relativeVelocity(point, p, state->velocity));
		bool meets = p->gap + step->h * (before + knDot(point->n, forces)) <= 0.0 || p->gap <= p->touching;
		p->takesPart = meets && before < -resting;
		p->target = -p->e * before;
		if (p->takesPart) {
			fastest = knMax(fastest, -before);
			if (!p->known) {
				findResponse(bounce, p);
			}
		}
	}
	return fastest;
}

// --- a round ---------------------------------------------------------------------------------------------

static knVec3 impulseOf(const knSweepPoint* point, const double lambda[3]) {
	return knMulAdd(knMulAdd(knScale(lambda[0], point->n), lambda[1], point->t1), lambda[2], point->t2);
}

// One visit; returns the change of speed that it made, m/s.
static double visit(const Bounce* bounce, BouncePoint* p, double grip) {
	const knSweepPoint* point = pointOf(bounce, p);
	knVec3 u = velocityAt(bounce, p);
	double change[3] = { p->lambda[0], p->lambda[1], p->lambda[2] };
	double wanted = p->lambda[0] + (p->D[0] > 0.0 ? (p->target - knDot(point->n, u)) / p->D[0] : 0.0);
	p->lambda[0] = wanted > 0.0 ? wanted : 0.0;
	p->lambda[1] -= p->tangential * knDot(point->t1, u);
	p->lambda[2] -= p->tangential * knDot(point->t2, u);
	double limit = grip * point->mu * p->lambda[0];
	double length = sqrt(p->lambda[1] * p->lambda[1] + p->lambda[2] * p->lambda[2]);
	double scale = length > limit ? limit / length : 1.0, speed = 0.0;
	p->lambda[1] *= scale;
	p->lambda[2] *= scale;
	for (int i = 0; i < 3; ++i) {
		change[i] = p->lambda[i] - change[i];
		speed += knAbs(change[i]) * p->D[i];
	}
	push(bounce, p, impulseOf(point, change), bounce->change);
	if (p->jointed && bounce->exact) {
		knDirectRows_Restore(&bounce->step->direct, bounce->change);
	}
	return speed;
}

// Impulses of the chosen points from zero, with friction scaled by `grip`; returns the change of kinetic energy, J.
static double solveRound(const Bounce* bounce, double fastest, double grip) {
	for (int i = 0; i < bounce->count; ++i) {
		BouncePoint* p = &bounce->points[i];
		p->lambda[0] = p->lambda[1] = p->lambda[2] = 0.0;
	}
	double change = fastest, gain = 0.0;
	for (int sweep = 0; sweep < ROUND_SWEEPS && change > SETTLED * fastest; ++sweep) {
		change = 0.0;
		for (int i = 0; i < bounce->count; ++i) {
			if (bounce->points[i].takesPart) {
				change = knMax(change, visit(bounce, &bounce->points[i], grip));
			}
		}
	}
	if (bounce->joints && !bounce->exact) {
		knDirectRows_Restore(&bounce->step->direct, bounce->change);
	}
	for (int i = 0; i < bounce->count; ++i) {
		const BouncePoint* p = &bounce->points[i];
		if (p->takesPart) {
			knVec3 both = knAdd(p->before, velocityAt(bounce, p));
			gain += 0.5 * knDot(impulseOf(pointOf(bounce, p), p->lambda), both);
		}
	}
	return gain;
}

static void doRound(const Bounce* bounce, double fastest) {
	int bodies = bounce->step->blocks.count;
	for (int b = 0; b < bodies; ++b) {
		bounce->saved[b] = bounce->change[b];
	}
	// friction and bounce together may gain energy, each alone does not
	if (solveRound(bounce, fastest, 1.0) > 0.0) {
		for (int b = 0; b < bodies; ++b) {
			bounce->change[b] = bounce->saved[b];
		}
		solveRound(bounce, fastest, 0.0);
	}
	for (int i = 0; i < bounce->count; ++i) {
		BouncePoint* p = &bounce->points[i];
		if (p->takesPart) {
			p->carried = knAdd(p->carried, impulseOf(pointOf(bounce, p), p->lambda));
			p->bounced = true;
		}
	}
}

// --- where bounces happen --------------------------------------------------------------------------------

// The row turns a body around where it stands, a gap d above the surface, and it would rise from there. A flight of steps
// keeps  z + w^2/(2g) - w h/2  (w the velocity upwards), so that the next height is e^2 of the last if the step that leaves with
// w = e v ends not at d + e v h but lower by (1 - e) ((1 + e) d + e v h/2).
static knVec3 landing(const Bounce* bounce, const BouncePoint* p) {
	const knVelocityStep* step = bounce->step;
	const knTwist* start = step->context->state->velocity;
	const knSweepPoint* point = pointOf(bounce, p);
	double v = -knDot(point->n, relativeVelocity(point, p, start));
	double forces = knDot(point->n, relativeVelocity(point, p, step->blocks.u)) + v;
	if (!p->bounced || p->gap <= p->touching || !(v > 0.0) || !(forces < 0.0)) {
		return knZero3();
	}
	double drop = (1.0 - p->e) * ((1.0 + p->e) * p->gap + 0.5 * p->e * v * step->h);
	return knScale(-drop, point->n);
}

// Of bodies that bounce off one that does not move: the point that is nearest to it.
static void findLandings(const Bounce* bounce) {
	const double* invMass = bounce->step->blocks.invMass;
	knVec3* landings = bounce->step->landings;
	for (int i = 0; i < bounce->count; ++i) {
		const BouncePoint* p = &bounce->points[i];
		knVec3 way = landing(bounce, p);
		int body = invMass[p->a] == 0.0 ? p->b : p->a;
		way = body == p->b ? way : knNeg(way);
		double old = knLengthSquared(landings[body]), length = knLengthSquared(way);
		if ((invMass[p->a] == 0.0) != (invMass[p->b] == 0.0) && length > 0.0 &&
			(old == 0.0 || length < old)) {
			landings[body] = way;
		}
	}
}

bool knVelocity_Bounce(knVelocityStep* step) {
	knArena* arena = step->context->arena;
	Bounce bounce = { .step = step };
	if (!listPoints(&bounce)) {
		return false;
	}
	if (bounce.count == 0) {
		return true;
	}
	bounce.change = KN_SCRATCH_ZERO(arena, knTwist, step->blocks.count);
	bounce.saved = KN_SCRATCH(arena, knTwist, step->blocks.count);
	bounce.unit = KN_SCRATCH_ZERO(arena, knTwist, step->blocks.count);
	step->bounces = KN_SCRATCH_ZERO(arena, knVec3, step->contacts.pointCount);
	step->landings = KN_SCRATCH_ZERO(arena, knVec3, step->blocks.count);
	if (arena->failed) {
		return false;
	}
	double fastest = choosePoints(&bounce);
	for (int round = 0; round < ROUNDS && fastest > 0.0; ++round) {
		doRound(&bounce, fastest);
		step->context->report->iterations += 1;
		fastest = choosePoints(&bounce);
	}
	findLandings(&bounce);
	for (int b = 0; b < step->blocks.count; ++b) {
		step->blocks.u[b] = knAddT(step->blocks.u[b], bounce.change[b]);
	}
	for (int i = 0; i < bounce.count; ++i) {
		// forces of this step do not slow what has bounced
		const BouncePoint* p = &bounce.points[i];
		knSweepPoint* point = &step->contacts.points[p->point];
		double after = knDot(point->n, velocityAt(&bounce, p));
		if (p->bounced && after > 0.0) {
			point->bias = -after;
		}
		step->bounces[p->point] = p->carried;
	}
	return true;
}

void knVelocity_LandBounces(knVelocityStep* step) {
	knFrame* pose = step->context->state->pose;
	for (int b = 0; step->landings != NULL && b < step->blocks.count; ++b) {
		pose[b].p = knAdd(pose[b].p, step->landings[b]);
	}
}

void knVelocity_ReportBounces(knVelocityStep* step) {
	for (int k = 0; step->bounces != NULL && k < step->contacts.pointCount; ++k) {
		knVec3* impulse = &step->contacts.contacts[step->contacts.anchors[k].contact].impulse;
		*impulse = knAdd(*impulse, step->bounces[k]);
	}
}
