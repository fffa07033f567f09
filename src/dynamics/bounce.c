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
// the balance positive the round is done without it. Joints take part: what an impulse does to a body
// is what it does after their answer. What does not bounce is left to the solve of contacts.

#include "dynamics/bounce.h"

#define ROUNDS 64       // at most; a row of so many balls passes a blow on in one step
#define ROUND_SWEEPS 60 // over the points of a round
#define SETTLED 1e-12   // of the fastest approach: a round has settled

static knVec3 relativeVelocity(const knBouncePoint* p, const knTwist* u) {
	knVec3 vA = knAdd(u[p->a].lin, knCross(u[p->a].ang, p->rA));
	knVec3 vB = knAdd(u[p->b].lin, knCross(u[p->b].ang, p->rB));
	return knSub(vB, vA);
}

// Before the forces, with what the impacts have changed.
static knVec3 velocityAt(const knBounceInput* in, const knBouncePoint* p) {
	return knAdd(relativeVelocity(p, in->start), relativeVelocity(p, in->change));
}

// Immovable bodies are not written to: groups that touch the same one bounce at the same time.
void knBounce_Push(const knBounceInput* in, const knBouncePoint* p, knVec3 impulse, knTwist* change) {
	const knStepBodies* blocks = in->blocks;
	knTwist *a = &change[p->a], *b = &change[p->b];
	// the blocks hold inverse masses times the weights
	if (blocks->invMass[p->a] > 0.0) {
		knVec3 whole = knScale(1.0 / blocks->weight[p->a], impulse);
		a->lin = knMulAdd(a->lin, -blocks->invMass[p->a], whole);
		a->ang = knSub(a->ang, knMulMV(&blocks->invInertia[p->a], knCross(p->rA, whole)));
	}
	if (blocks->invMass[p->b] > 0.0) {
		knVec3 whole = knScale(1.0 / blocks->weight[p->b], impulse);
		b->lin = knMulAdd(b->lin, blocks->invMass[p->b], whole);
		b->ang = knAdd(b->ang, knMulMV(&blocks->invInertia[p->b], knCross(p->rB, whole)));
	}
}

static void copyBodies(const knBounceInput* in, const knTwist* from, knTwist* to) {
	for (int i = 0; i < in->bodyCount; ++i) {
		const int b = in->bodies != NULL ? in->bodies[i] : i;
		to[b] = from != NULL ? from[b] : knZeroTwist();
	}
}

static void clearTouched(const knBounceInput* in, const knBouncePoint* p) {
	const int bodies[2] = { p->a, p->b };
	for (int k = 0; k < 2; ++k) {
		if (in->blocks->invMass[bodies[k]] > 0.0) {
			in->unit[bodies[k]] = knZeroTwist();
		}
	}
	if (p->jointed && in->exact) {
		copyBodies(in, NULL, in->unit);
	}
}

static void findResponse(const knBounceInput* in, knBouncePoint* p) {
	const knVec3 axes[3] = { p->n, p->t1, p->t2 };
	double across = 0.0;
	for (int i = 0; i < 3; ++i) {
		knBounce_Push(in, p, axes[i], in->unit);
		if (p->jointed && in->exact) {
			in->answer(in->unit, p->a, p->b, in->context);
		}
		knVec3 answer = relativeVelocity(p, in->unit);
		p->D[i] = knDot(axes[i], answer);
		across = i == 1 ? knAbs(knDot(p->t2, answer)) : across;
		clearTouched(in, p);
	}
	double largest = knMax(p->D[1], p->D[2]) + across;
	p->tangential = largest > 0.0 ? 1.0 / largest : 0.0;
	p->known = true;
}

// --- which points ----------------------------------------------------------------------------------------

// Does a point that approaches with this velocity take part?
static bool bounces(const knBounceInput* in, const knBouncePoint* p, double before) {
	knVec3 forces = knSub(relativeVelocity(p, in->forced), relativeVelocity(p, in->start));
	bool meets = p->gap + in->h * (before + knDot(p->n, forces)) <= 0.0 || p->gap <= p->touching;
	return meets && before < -KN_BOUNCE_STEPS * in->gravity * in->h;
}

bool knBounce_Begins(const knBounceInput* in, const knBouncePoint* p) {
	return !p->passing && bounces(in, p, knDot(p->n, relativeVelocity(p, in->start)));
}

// Chooses the points of a round; returns the fastest approach, m/s, 0: nobody approaches.
static double choosePoints(const knBounceInput* in, knBouncePoint* points, int count) {
	double fastest = 0.0;
	for (int i = 0; i < count; ++i) {
		knBouncePoint* p = &points[i];
		p->before = velocityAt(in, p);
		double before = knDot(p->n, p->before);
		bool aside =
			knDotT(in->change[p->a], in->change[p->a]) + knDotT(in->change[p->b], in->change[p->b]) > 0.0;
		p->takesPart = (aside || !p->passing) && bounces(in, p, before);
		p->target = -p->e * before;
		if (p->takesPart) {
			fastest = knMax(fastest, -before);
			if (!p->known) {
				findResponse(in, p);
			}
		}
	}
	return fastest;
}

// --- a round ---------------------------------------------------------------------------------------------

static knVec3 impulseOf(const knBouncePoint* p, const double lambda[3]) {
	return knMulAdd(knMulAdd(knScale(lambda[0], p->n), lambda[1], p->t1), lambda[2], p->t2);
}

// One visit; returns the change of speed that it made, m/s.
static double visit(const knBounceInput* in, knBouncePoint* p, double grip) {
	knVec3 u = velocityAt(in, p);
	double change[3] = { p->lambda[0], p->lambda[1], p->lambda[2] };
	double wanted = p->lambda[0] + (p->D[0] > 0.0 ? (p->target - knDot(p->n, u)) / p->D[0] : 0.0);
	p->lambda[0] = wanted > 0.0 ? wanted : 0.0;
	p->lambda[1] -= p->tangential * knDot(p->t1, u);
	p->lambda[2] -= p->tangential * knDot(p->t2, u);
	double limit = grip * p->mu * p->lambda[0];
	double length = sqrt(p->lambda[1] * p->lambda[1] + p->lambda[2] * p->lambda[2]);
	double scale = length > limit ? limit / length : 1.0, speed = 0.0;
	p->lambda[1] *= scale;
	p->lambda[2] *= scale;
	for (int i = 0; i < 3; ++i) {
		change[i] = p->lambda[i] - change[i];
		speed += knAbs(change[i]) * p->D[i];
	}
	knBounce_Push(in, p, impulseOf(p, change), in->change);
	if (p->jointed && in->exact) {
		in->answer(in->change, p->a, p->b, in->context);
	}
	return speed;
}

// Impulses of the chosen points from zero, with friction scaled by `grip`.
static void sweepPoints(const knBounceInput* in, knBouncePoint* points, int count, double fastest,
						double grip) {
	for (int i = 0; i < count; ++i) {
		points[i].lambda[0] = points[i].lambda[1] = points[i].lambda[2] = 0.0;
	}
	double change = fastest;
	for (int sweep = 0; sweep < ROUND_SWEEPS && change > SETTLED * fastest; ++sweep) {
		change = 0.0;
		for (int i = 0; i < count; ++i) {
			if (points[i].takesPart) {
				change = knMax(change, visit(in, &points[i], grip));
			}
		}
	}
	if (in->answer != NULL && !in->exact) {
		in->answer(in->change, -1, -1, in->context);
	}
}

// Returns the change of kinetic energy, J.
static double solveRound(const knBounceInput* in, knBouncePoint* points, int count, double fastest,
						 double grip) {
	double gain = 0.0;
	sweepPoints(in, points, count, fastest, grip);
	for (int i = 0; i < count; ++i) {
		const knBouncePoint* p = &points[i];
		if (p->takesPart) {
			knVec3 both = knAdd(p->before, velocityAt(in, p));
			gain += 0.5 * knDot(impulseOf(p, p->lambda), both);
		}
	}
	return gain;
}

static void doRound(const knBounceInput* in, knBouncePoint* points, int count, double fastest) {
	copyBodies(in, in->change, in->saved);
	// friction and bounce together may gain energy, each alone does not
	if (solveRound(in, points, count, fastest, 1.0) > 0.0) {
		copyBodies(in, in->saved, in->change);
		solveRound(in, points, count, fastest, 0.0);
	}
	for (int i = 0; i < count; ++i) {
		knBouncePoint* p = &points[i];
		if (p->takesPart) {
			p->impulse = knAdd(p->impulse, impulseOf(p, p->lambda));
			p->bounced = true;
		}
	}
}

// --- what the forces do to it ----------------------------------------------------------------------------

// A body that has bounced stands where the step found it, not where it ought to be (knBounce_Land), and there the forces of
// this step are not to slow it. What holds them off is found from them alone: as a contact that keeps its speed of leaving
// it would hold off all others that press on the body, too, and put in energy.
static void hold(const knBounceInput* in, knBouncePoint* points, int count) {
	double fastest = 0.0;
	for (int i = 0; i < count; ++i) {
		knBouncePoint* p = &points[i];
		bool fixed = (in->blocks->invMass[p->a] == 0.0) != (in->blocks->invMass[p->b] == 0.0);
		p->target = knDot(p->n, velocityAt(in, p));
		p->takesPart = p->bounced && fixed && p->target > 0.0;
		fastest = p->takesPart ? knMax(fastest, p->target) : fastest;
	}
	if (fastest == 0.0) {
		return;
	}
	copyBodies(in, in->change, in->saved);
	for (int i = 0; i < in->bodyCount; ++i) {
		const int b = in->bodies != NULL ? in->bodies[i] : i;
		in->change[b] = knAddT(in->change[b], knSubT(in->forced[b], in->start[b]));
	}
	if (in->answer != NULL) {
		in->answer(in->change, -1, -1, in->context);
	}
	sweepPoints(in, points, count, fastest, 0.0);
	copyBodies(in, in->saved, in->change);
	for (int i = 0; i < count; ++i) {
		points[i].held = points[i].takesPart ? points[i].lambda[0] : 0.0;
	}
}

int knBounce_Run(const knBounceInput* in, knBouncePoint* points, int count) {
	int rounds = 0;
	double fastest = choosePoints(in, points, count);
	while (rounds < ROUNDS && fastest > 0.0) {
		doRound(in, points, count, fastest);
		rounds += 1;
		fastest = choosePoints(in, points, count);
	}
	if (rounds > 0 && !in->yields) {
		hold(in, points, count);
	}
	return rounds;
}

// --- where bounces happen --------------------------------------------------------------------------------

// The row turns a body around where it stands, a gap d above the surface, and it would rise from there. A flight of steps
// keeps  z + w^2/(2g) - w h/2  (w the velocity upwards), so that the next height is e^2 of the last if the step that leaves with
// w = e v ends not at d + e v h but lower by (1 - e) ((1 + e) d + e v h/2).
static knVec3 landing(const knBounceInput* in, const knBouncePoint* p) {
	double v = -knDot(p->n, relativeVelocity(p, in->start));
	double forces = knDot(p->n, relativeVelocity(p, in->forced)) + v;
	if (!p->bounced || p->gap <= p->touching || !(v > 0.0) || !(forces < 0.0)) {
		return knZero3();
	}
	double drop = (1.0 - p->e) * ((1.0 + p->e) * p->gap + 0.5 * p->e * v * in->h);
	return knScale(-drop, p->n);
}

// What is joined lands as a whole, by the share of its mass that the impulse turned round.
static double shareOf(const knBounceLanding* whole) {
	double length = knLength(whole->nearest);
	if (!(length > 0.0)) {
		return 0.0;
	}
	double change = -knDot(whole->impulse, whole->nearest) / (length * whole->mass);
	return knClamp(change / whole->change, 0.0, 1.0);
}

// Points of an assembly with a body that does not move: the one that is nearest to it counts.
static void addPoint(const knBounceInput* in, const knIslands* islands, const knBouncePoint* p,
					 knBounceLanding* landings) {
	const double* invMass = in->blocks->invMass;
	if ((invMass[p->a] == 0.0) == (invMass[p->b] == 0.0)) {
		return;
	}
	const double sign = invMass[p->a] == 0.0 ? 1.0 : -1.0;
	knBounceLanding* whole = &landings[islands->assembly[sign > 0.0 ? p->b : p->a]];
	knVec3 way = knScale(sign, landing(in, p));
	double old = knLengthSquared(whole->nearest), length = knLengthSquared(way);
	whole->impulse = knMulAdd(whole->impulse, sign, p->impulse);
	if (length > 0.0 && (old == 0.0 || length < old)) {
		whole->nearest = way;
		whole->change = -(1.0 + p->e) * knDot(p->n, relativeVelocity(p, in->start));
	}
}

void knBounce_Land(const knBounceInput* in, const knIslands* islands, const knBouncePoint* points, int count,
				   knBounceLanding* landings) {
	for (int i = 0; i < count; ++i) {
		addPoint(in, islands, &points[i], landings);
	}
	for (int pass = 0; pass < 2; ++pass) {
		for (int b = 0; b < in->blocks->count; ++b) {
			const int lead = islands->assembly[b];
			if (lead >= 0 && pass == 0) {
				landings[lead].mass += 1.0 / in->blocks->invMass[b];
			} else if (lead >= 0 && islands->hung[lead] == 0) {
				landings[b].way = knScale(shareOf(&landings[lead]), landings[lead].nearest);
			}
		}
	}
}
