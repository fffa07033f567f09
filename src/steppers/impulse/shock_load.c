// Shock propagation in the default scheme: the load of a pile is carried to the ground in two passes.
//
// Upwards: which velocity will every body have? Level by level, each is stopped by what lies below it, supports
// immovable, as in the published pass; but only the velocities are kept, as a forecast, and no impulse.
// Downwards: which impulses bring that about? Level by level from the top, each body is brought to move with the
// forecast of its supports, which take the opposite impulse and will pass it on when their own turn comes.
//
// A pile at rest gets its exact reactions, whatever its height, and momentum is conserved, where the published pass
// forgets the reactions of what it froze. The sweeps with true masses begin from there; a pile that does not rest (a
// see-saw, a stack that is struck) is put right by them.
//
// Downwards only normal impulses are found. Friction could balance any load with stresses of its own, and those grow
// from level to level until nothing below can hold them. For the same reason a body's load is first shared out evenly
// over its points (two passes with 1/n of the correction each), then settled by symmetric Gauss-Seidel passes.

#include "steppers/impulse/impulse_step.h"

#define SHARED_PASSES 2
#define PASSES 16
#define SETTLED 1e-6 // of g h
#define RESTING 0.01 // of g h: a slower approach is none

// Velocities and impulses before the passes, and sums by group.
typedef struct Start {
	knTwist* u;                    // [bodyCount]
	knVec3* j;                     // [pointCount]
	double *slope, *curve, *share; // [bodyCount]
} Start;

// 1: A lies below and bears, 2: B does, 0: neither (same level, or nothing below it stands on the ground).
static int bearer(const knImpulseStep* step, const knImpulsePair* pair) {
	int levelA = step->graph.level[pair->a], levelB = step->graph.level[pair->b];
	if (levelA < levelB && step->graph.grounded[pair->a]) {
		return 1;
	}
	return levelB < levelA && step->graph.grounded[pair->b] ? 2 : 0;
}

// The body whose load the pair carries.
static int carried(const knImpulseStep* step, const knImpulsePair* pair) {
	return bearer(step, pair) == 2 ? pair->a : pair->b;
}

static void setMasses(knImpulseStep* step, int begin, int end) {
	for (int i = begin; i < end; ++i) {
		const knImpulsePair* pair = &step->pairs[step->order[i]];
		int bears = bearer(step, pair);
		for (int k = pair->first; k < pair->first + pair->count; ++k) {
			knImpulsePoint_SetMasses(&step->points[k], bears == 1 ? 0.0 : 1.0, bears == 2 ? 0.0 : 1.0);
		}
	}
}

// --- upwards ---------------------------------------------------------------------------------------------

// One visit with the bearer immovable; the impulses are those of the forecast alone.
static double forecastPoint(knImpulseStep* step, knImpulsePoint* p, int bears) {
	const knBlocks* blocks = &step->blocks;
	knVec3 u = knImpulsePoint_Velocity(p, step->forecast);
	double wanted = p->trial.x + (p->target - knDot(p->n, u)) * p->invNn;
	double dn = (wanted > 0.0 ? wanted : 0.0) - p->trial.x;
	double u1 = knDot(p->t1, u) + p->K.n1 * dn, u2 = knDot(p->t2, u) + p->K.n2 * dn;
	knVec3 before = p->trial;
	p->trial.x += dn;
	p->trial.y -= p->inv11 * u1 + p->inv12 * u2;
	p->trial.z -= p->inv12 * u1 + p->inv22 * u2;
	knClampDisc(&p->trial.y, &p->trial.z, p->mu * p->trial.x);
	knVec3 change = knSub(p->trial, before);
	knVec3 j = knMulAdd(knMulAdd(knScale(change.x, p->n), change.y, p->t1), change.z, p->t2);
	int body = bears == 1 ? p->b : p->a;
	knVec3 r = bears == 1 ? p->rB : p->rA;
	j = bears == 1 ? j : knNeg(j);
	knTwist* v = &step->forecast[body];
	v->lin = knMulAdd(v->lin, blocks->invMass[body], j);
	v->ang = knAdd(v->ang, knMulMV(&blocks->invInertia[body], knCross(r, j)));
	return knAbs(change.x) * p->K.nn;
}

static double forecastPass(knImpulseStep* step, int begin, int end, bool backwards) {
	double largest = 0.0;
	for (int i = begin; i < end; ++i) {
		const knImpulsePair* pair = &step->pairs[step->order[backwards ? begin + end - 1 - i : i]];
		int bears = bearer(step, pair);
		bool steady = bears == 0 || step->steady[carried(step, pair)];
		for (int m = 0; !steady && m < pair->count; ++m) {
			knImpulsePoint* p = &step->points[pair->first + (backwards ? pair->count - 1 - m : m)];
			largest = knMax(largest, forecastPoint(step, p, bears));
		}
	}
	return largest;
}

// A body is steady if its supports are and it did not approach them before the forces: it will go on as it is.
static void findUnsteady(knImpulseStep* step, int begin, int end) {
	double resting = RESTING * step->h * knLength(step->state->header->gravity);
	for (int i = begin; i < end; ++i) {
		const knImpulsePair* pair = &step->pairs[step->order[i]];
		int bears = bearer(step, pair);
		if (bears == 0) {
			continue;
		}
		bool steady = step->steady[bears == 1 ? pair->a : pair->b];
		for (int k = pair->first; steady && k < pair->first + pair->count; ++k) {
			const knImpulsePoint* p = &step->points[k];
			steady = knDot(p->n, knImpulsePoint_Velocity(p, step->state->velocity)) >= p->target - resting;
		}
		if (!steady) {
			int body = carried(step, pair);
			step->steady[body] = false;
			step->forecast[body] = knAddT(step->state->velocity[body], step->force[body]);
		}
	}
}

static void forecast(knImpulseStep* step, double settled) {
	for (int b = 0; b < step->model->bodyCount; ++b) {
		step->forecast[b] = step->state->velocity[b];
		step->steady[b] = true;
	}
	for (int level = 0; level < step->graph.levelCount; ++level) {
		int begin = step->levelFirst[level], end = step->levelFirst[level + 1];
		setMasses(step, begin, end);
		findUnsteady(step, begin, end);
		double change = 1.0;
		for (int pass = 0; begin < end && pass < PASSES && change > settled; ++pass) {
			change = forecastPass(step, begin, end, pass % 2 == 1);
		}
	}
}

// --- downwards -------------------------------------------------------------------------------------------

static double normalSpeed(const knImpulseStep* step, const knImpulsePair* pair, const knImpulsePoint* p) {
	int bears = bearer(step, pair);
	const knTwist* uA = bears == 1 ? &step->forecast[p->a] : &step->blocks.u[p->a];
	const knTwist* uB = bears == 2 ? &step->forecast[p->b] : &step->blocks.u[p->b];
	knVec3 vA = knAdd(uA->lin, knCross(uA->ang, p->rA)), vB = knAdd(uB->lin, knCross(uB->ang, p->rB));
	return knDot(p->n, knSub(vB, vA));
}

// Changes the normal impulse by what the missing speed asks for; returns the change of speed.
static double loadPoint(const knImpulseStep* step, knImpulsePoint* p, double missing) {
	double wanted = p->jn + missing * p->invNn;
	double dn = (wanted > 0.0 ? wanted : 0.0) - p->jn;
	if (dn == 0.0) {
		return 0.0;
	}
	double j1 = p->j1, j2 = p->j2;
	p->jn += dn;
	knClampDisc(&p->j1, &p->j2, p->mu * p->jn);
	knVec3 friction = knMulAdd(knScale(p->j1 - j1, p->t1), p->j2 - j2, p->t2);
	knImpulsePoint_Apply(step, p, knMulAdd(friction, dn, p->n));
	return knAbs(dn) * p->K.nn;
}

// Every point takes its share of what its body needs, all from the same velocities.
static double sharePass(knImpulseStep* step, int begin, int end) {
	for (int i = begin; i < end; ++i) {
		step->share[carried(step, &step->pairs[step->order[i]])] = 0;
	}
	for (int i = begin; i < end; ++i) {
		const knImpulsePair* pair = &step->pairs[step->order[i]];
		for (int k = pair->first; k < pair->first + pair->count; ++k) {
			knImpulsePoint* p = &step->points[k];
			p->wait = p->target - normalSpeed(step, pair, p);
			step->share[carried(step, pair)] += p->jn > 0.0 || p->wait > 0.0;
		}
	}
	double largest = 0.0;
	for (int i = begin; i < end; ++i) {
		const knImpulsePair* pair = &step->pairs[step->order[i]];
		for (int k = pair->first; k < pair->first + pair->count; ++k) {
			knImpulsePoint* p = &step->points[k];
			if (p->jn > 0.0 || p->wait > 0.0) {
				largest = knMax(largest, loadPoint(step, p, p->wait / step->share[carried(step, pair)]));
			}
		}
	}
	return largest;
}

static double settlePass(knImpulseStep* step, int begin, int end, bool backwards) {
	double largest = 0.0;
	for (int i = begin; i < end; ++i) {
		const knImpulsePair* pair = &step->pairs[step->order[backwards ? begin + end - 1 - i : i]];
		for (int m = 0; m < pair->count; ++m) {
			knImpulsePoint* p = &step->points[pair->first + (backwards ? pair->count - 1 - m : m)];
			largest = knMax(largest, loadPoint(step, p, p->target - normalSpeed(step, pair, p)));
		}
	}
	return largest;
}

static void descend(knImpulseStep* step, double settled) {
	for (int level = step->graph.levelCount - 1; level >= 0; --level) {
		int begin = step->levelFirst[level], end = step->levelFirst[level + 1];
		double change = 1.0;
		for (int pass = 0; begin < end && pass < PASSES && change > settled; ++pass) {
			change = pass < SHARED_PASSES ? sharePass(step, begin, end)
										  : settlePass(step, begin, end, pass % 2 == 1);
		}
	}
}

// --- how much of it ----------------------------------------------------------------------------------------

// The body that stands for the group of a point's bodies.
static int groupOf(const knImpulseStep* step, const knImpulsePoint* p) {
	const int32_t* group = step->islands.group;
	return group[p->a] >= 0 ? group[p->a] : group[p->b];
}

// m/s, the least speed of the bodies that move, along the normal.
static double ownTarget(const knImpulseStep* step, const knImpulsePoint* p) {
	double target = p->target;
	if (step->blocks.invMass[p->a] == 0.0) {
		const knTwist* u = &step->blocks.u[p->a];
		target += knDot(p->n, knAdd(u->lin, knCross(u->ang, p->rA)));
	}
	if (step->blocks.invMass[p->b] == 0.0) {
		const knTwist* u = &step->blocks.u[p->b];
		target -= knDot(p->n, knAdd(u->lin, knCross(u->ang, p->rB)));
	}
	return target;
}

// u . M . v of one body.
static double kinetic(const knImpulseStep* step, int body, knTwist u, knTwist v) {
	knQuat q = step->state->pose[body].q;
	knVec3 L = knMulMV(&step->model->inertiaLocal[body], knInvRotate(q, v.ang));
	return step->model->mass[body] * knDot(u.lin, v.lin) + knDot(knInvRotate(q, u.ang), L);
}

// The contact impulses minimise E(j) = u.M.u/2 - sum j_n target. Between those of before (s = 0) and those of this
// pass (s = 1) E is a parabola in s; every group of bodies in contact gets the s of its lowest point.
static void takeBest(knImpulseStep* step, const Start* start) {
	const int32_t* group = step->islands.group;
	double *slope = start->slope, *curve = start->curve;
	for (int b = 0; b < step->model->bodyCount; ++b) {
		if (group[b] >= 0) {
			knTwist change = knSubT(step->blocks.u[b], start->u[b]);
			slope[group[b]] += kinetic(step, b, start->u[b], change);
			curve[group[b]] += kinetic(step, b, change, change);
		}
	}
	for (int i = 0; i < step->pointCount; ++i) {
		const knImpulsePoint* p = &step->points[i];
		double change = p->jn - start->j[i].x;
		if (change != 0.0) {
			slope[groupOf(step, p)] -= change * ownTarget(step, p);
		}
	}
	for (int b = 0; b < step->model->bodyCount; ++b) {
		start->share[b] = curve[b] > 0.0 ? knClamp(-slope[b] / curve[b], 0.0, 1.0) : 1.0;
	}
	for (int b = 0; b < step->model->bodyCount; ++b) {
		if (group[b] >= 0 && start->share[group[b]] < 1.0) {
			knTwist change = knSubT(step->blocks.u[b], start->u[b]);
			step->blocks.u[b] = knMulAddT(start->u[b], start->share[group[b]], change);
		}
	}
	for (int i = 0; i < step->pointCount; ++i) {
		knImpulsePoint* p = &step->points[i];
		double share = start->share[groupOf(step, p)];
		if (share < 1.0) {
			knVec3 j = knLerp(start->j[i], knV3(p->jn, p->j1, p->j2), share);
			p->jn = j.x;
			p->j1 = j.y;
			p->j2 = j.z;
		}
	}
}

static bool remember(knImpulseStep* step, Start* start) {
	knArena* arena = step->context->arena;
	int bodyCount = step->model->bodyCount;
	step->share = KN_SCRATCH(arena, int, bodyCount);
	step->forecast = KN_SCRATCH(arena, knTwist, bodyCount);
	step->steady = KN_SCRATCH(arena, bool, bodyCount);
	start->u = KN_SCRATCH(arena, knTwist, bodyCount);
	start->j = KN_SCRATCH(arena, knVec3, step->pointCount);
	start->slope = KN_SCRATCH_ZERO(arena, double, bodyCount);
	start->curve = KN_SCRATCH_ZERO(arena, double, bodyCount);
	start->share = KN_SCRATCH(arena, double, bodyCount);
	if (arena->failed) {
		return false;
	}
	for (int b = 0; b < bodyCount; ++b) {
		start->u[b] = step->blocks.u[b];
	}
	for (int i = 0; i < step->pointCount; ++i) {
		start->j[i] = knV3(step->points[i].jn, step->points[i].j1, step->points[i].j2);
	}
	return true;
}

bool knShockLoad_Run(knImpulseStep* step) {
	Start start;
	if (!remember(step, &start)) {
		return false;
	}
	double settled = SETTLED * step->h * knLength(step->state->header->gravity);
	forecast(step, settled);
	descend(step, settled);
	takeBest(step, &start);
	return true;
}
