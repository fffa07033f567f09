// The collision phase of the default scheme: pairs that bounce, with the velocities from before the forces.
//
// A pair bounces if a point approaches faster than gravity makes it in two steps and would meet in this step. Pairs
// of a group are taken one after another, round and round, because that is how a blow travels along a row of balls. A single
// point takes the closed impulse of impact.c; several bounce together, their impulses accumulated until each
// separates with e times its approach, so that a box that falls flat rises flat. What does not bounce is left to the
// contact phase: it stops in the same step, and an inelastic collision and a contact are the same thing there.

#include "core/tasks.h"
#include "dynamics/impact.h"
#include "steppers/impulse/impulse_step.h"

#define ROUNDS 64        // at most; a row of so many balls passes a blow on in one step
#define PAIR_SWEEPS 50   // over the points of a pair
#define SETTLED 1e-12    // of the approach: the points of a pair have settled
#define BOUNCE_STEPS 2.0 // an approach that gravity makes in so many steps does not bounce

static double approachOf(const knImpulseStep* step, const knImpulsePoint* p) {
	return knDot(p->n, knImpulsePoint_Velocity(p, step->blocks.u));
}

// m/s, how fast the pair's points that will meet in this step approach; 0: none does, or too slowly to bounce.
static double bounceSpeed(const knImpulseStep* step, const knImpulsePair* pair) {
	double resting = BOUNCE_STEPS * step->h * knLength(step->state->header->gravity), fastest = 0.0;
	for (int k = pair->first; pair->e > 0.0 && k < pair->first + pair->count; ++k) {
		const knImpulsePoint* p = &step->points[k];
		double approach = -approachOf(step, p), added = knDot(p->n, knImpulsePoint_Velocity(p, step->force));
		bool meets = p->target > -(double)INFINITY && p->gap + step->h * (added - approach) <= 0.0;
		if (meets && approach > resting) {
			fastest = knMax(fastest, approach);
		}
	}
	return fastest;
}

static knVec3 bouncePoint(const knImpulseStep* step, const knImpulsePair* pair, knImpulsePoint* p) {
	const knBlocks* blocks = &step->blocks;
	knMat33 shareA = knImpact_Share(blocks->invMass[p->a], &blocks->invInertia[p->a], p->rA);
	knMat33 shareB = knImpact_Share(blocks->invMass[p->b], &blocks->invInertia[p->b], p->rB);
	knImpact impact = {
		.K = knAddMM(&shareA, &shareB),
		.u = knImpulsePoint_Velocity(p, blocks->u),
		.n = p->n,
		.e = pair->e,
		.mu = p->mu,
	};
	knImpactKind kind;
	return knImpact_Solve(&impact, &kind);
}

// A point's collision matrix in its axes, as far as a visit needs it.
typedef struct Response {
	double nn, n1, n2;   // what a normal impulse does along n, t1, t2
	double invNn, invTt; // inverse; of a bound of the tangential block's eigenvalues
	double d11, d22;
} Response;

static Response responseOf(const knImpulseStep* step, const knImpulsePoint* p) {
	const knBlocks* blocks = &step->blocks;
	knMat33 shareA = knImpact_Share(blocks->invMass[p->a], &blocks->invInertia[p->a], p->rA);
	knMat33 shareB = knImpact_Share(blocks->invMass[p->b], &blocks->invInertia[p->b], p->rB);
	knMat33 K = knAddMM(&shareA, &shareB);
	knVec3 Kn = knMulMV(&K, p->n), K1 = knMulMV(&K, p->t1), K2 = knMulMV(&K, p->t2);
	Response r = { .nn = knDot(p->n, Kn),
				   .n1 = knDot(p->t1, Kn),
				   .n2 = knDot(p->t2, Kn),
				   .d11 = knDot(p->t1, K1),
				   .d22 = knDot(p->t2, K2) };
	// one number for both tangents: with the inverse of the block, sliding friction would settle against K^-1 u
	// instead of against u
	double largest = knMax(r.d11, r.d22) + knAbs(knDot(p->t1, K2));
	r.invNn = r.nn > 0.0 ? 1.0 / r.nn : 0.0;
	r.invTt = largest > 0.0 ? 1.0 / largest : 0.0;
	return r;
}

// One visit; returns the change of speed that it made (m/s).
static double visit(const knImpulseStep* step, knImpulsePoint* p, const Response* r) {
	knVec3 u = knImpulsePoint_Velocity(p, step->blocks.u);
	double wanted = p->jn + (p->target - knDot(p->n, u)) * r->invNn;
	double dn = (wanted > 0.0 ? wanted : 0.0) - p->jn;
	p->jn += dn;
	// friction, after what the normal impulse does to the sliding
	double j1 = p->j1 - r->invTt * (knDot(p->t1, u) + r->n1 * dn);
	double j2 = p->j2 - r->invTt * (knDot(p->t2, u) + r->n2 * dn);
	knClampDisc(&j1, &j2, p->mu * p->jn);
	double d1 = j1 - p->j1, d2 = j2 - p->j2;
	p->j1 = j1;
	p->j2 = j2;
	knImpulsePoint_Apply(step, p, knMulAdd(knMulAdd(knScale(dn, p->n), d1, p->t1), d2, p->t2));
	return knAbs(dn) * r->nn + knAbs(d1) * r->d11 + knAbs(d2) * r->d22;
}

// Impulses of all points of the pair from zero, with friction scaled by `grip`; returns the change of kinetic energy.
static double bounceTogether(knImpulseStep* step, const knImpulsePair* pair, double speed, double grip) {
	double gain = 0.0;
	int end = pair->first + pair->count;
	Response response[KN_IMPULSE_PAIR_POINTS];
	knTwist before[2] = { step->blocks.u[pair->a], step->blocks.u[pair->b] };
	for (int k = pair->first; k < end; ++k) {
		knImpulsePoint* p = &step->points[k];
		double approach = approachOf(step, p);
		response[k - pair->first] = responseOf(step, p);
		p->target = approach < 0.0 ? -pair->e * approach : 0.0;
		p->mu *= grip;
		p->jn = p->j1 = p->j2 = 0.0;
	}
	double change = speed;
	for (int sweep = 0; sweep < PAIR_SWEEPS && change > SETTLED * speed; ++sweep) {
		change = 0.0;
		for (int k = pair->first; k < end; ++k) {
			change = knMax(change, visit(step, &step->points[k], &response[k - pair->first]));
		}
	}
	knTwist twoA = knAddT(before[0], step->blocks.u[pair->a]),
			twoB = knAddT(before[1], step->blocks.u[pair->b]);
	for (int k = pair->first; k < end; ++k) {
		const knImpulsePoint* p = &step->points[k];
		knVec3 vA = knAdd(twoA.lin, knCross(twoA.ang, p->rA)), vB = knAdd(twoB.lin, knCross(twoB.ang, p->rB));
		gain += 0.5 * knDot(knImpulsePoint_Carried(p), knSub(vB, vA));
	}
	return gain;
}

static void restore(const knImpulseStep* step, int body, knTwist u) {
	if (step->blocks.invMass[body] > 0.0) {
		step->blocks.u[body] = u;
	}
}

// The impulses live in the points' own fields while they are found; what the contact phase keeps there comes back.
static void bouncePair(knImpulseStep* step, const knImpulsePair* pair, double speed) {
	knImpulsePoint saved[KN_IMPULSE_PAIR_POINTS];
	int count = pair->count < KN_IMPULSE_PAIR_POINTS ? pair->count : KN_IMPULSE_PAIR_POINTS;
	knImpulsePair part = *pair;
	part.count = count;
	knTwist uA = step->blocks.u[pair->a], uB = step->blocks.u[pair->b];
	for (int i = 0; i < count; ++i) {
		saved[i] = step->points[pair->first + i];
	}
	// friction and bounce together may gain energy, each alone does not
	double gain = bounceTogether(step, &part, speed, 1.0);
	if (gain > 0.0) {
		restore(step, pair->a, uA);
		restore(step, pair->b, uB);
		bounceTogether(step, &part, speed, 0.0);
	}
	for (int i = 0; i < count; ++i) {
		knImpulsePoint* p = &step->points[pair->first + i];
		saved[i].bounce = knAdd(saved[i].bounce, knImpulsePoint_Carried(p));
		*p = saved[i];
	}
}

// Returns the number of rounds in which a pair of the group bounced.
static int bounceGroup(knImpulseStep* step, int group) {
	bool any = true;
	int rounds = 0;
	while (any && rounds < ROUNDS) {
		any = false;
		for (int i = step->groups.first[group]; i < step->groups.first[group + 1]; ++i) {
			const knImpulsePair* pair = &step->pairs[step->groups.items[i]];
			double speed = bounceSpeed(step, pair);
			if (speed == 0.0) {
				continue;
			}
			any = true;
			if (pair->count == 1) {
				knImpulsePoint* p = &step->points[pair->first];
				knVec3 j = bouncePoint(step, pair, p);
				knImpulsePoint_Apply(step, p, j);
				p->bounce = knAdd(p->bounce, j);
			} else {
				bouncePair(step, pair, speed);
			}
		}
		rounds += any;
	}
	return rounds;
}

typedef struct BounceTask {
	knImpulseStep* step;
	int* rounds; // [groups]
} BounceTask;

static void bounceGroups(int begin, int end, int worker, void* argument) {
	(void)worker;
	const BounceTask* task = argument;
	for (int g = begin; g < end; ++g) {
		task->rounds[g] = bounceGroup(task->step, g);
	}
}

bool knContactCollisions_Run(knImpulseStep* step, bool* bounced) {
	BounceTask task = { step, KN_SCRATCH(step->context->arena, int, step->groups.count) };
	if (step->context->arena->failed) {
		return false;
	}
	knTasks_For(&step->context->tasks, step->groups.count, 1, bounceGroups, &task);
	int most = 0;
	for (int g = 0; g < step->groups.count; ++g) {
		most = task.rounds[g] > most ? task.rounds[g] : most;
	}
	step->context->report->iterations += most;
	*bounced = most > 0;
	return true;
}
