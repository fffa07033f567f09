// Integrators over the coordinates of the forest.
//
// A part of the step starts at (q, v). Its unknowns are the way delta from there and v:
//
//   delta' = T(delta) v,   v' = qdd(q moved by delta, v)
//
// T is 1 but for turns that quaternions hold: q = q0 exp(delta), T = the inverse of exp's right tangent (Munthe-Kaas 1998), and
// a free joint's origin, which moves by exp(delta)[v]. So every method keeps its order, quaternions stay of unit length,
// and a steady turn about a fixed axis is exact.
//
//   euler      v' = v + h qdd(q, v),  q' = q moved by h v'
//   rk4        Kutta 1901
//   embedded   Dormand and Prince 1980, 5(4): parts of h as long as the error allows
#include "steppers/reduced/paper/paper_step.h"

#define MAX_STAGES 7
#define MAX_PARTS 100000 // of an embedded step: then it is given up
#define SAFETY 0.9       // of the part that the error allows
#define LEAST_PART 1e-6  // of the step: errors of what is smooth
#define LEAST_HELD                                                                                           \
	5e-3 // of it, where constraints hold: their forces jump, and no part is short enough for a jump
#define MOST_GROWTH 5.0 // of a part against the one before
#define LEAST_GROWTH 0.2

typedef struct Tableau {
	int stages;
	double a[MAX_STAGES][MAX_STAGES], b[MAX_STAGES], c[MAX_STAGES];
	double e[MAX_STAGES]; // b less those of the lower order
} Tableau;

static const Tableau kutta = {
	.stages = 4,
	.a = { { 0.0 }, { 0.5 }, { 0.0, 0.5 }, { 0.0, 0.0, 1.0 } },
	.b = { 1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0 },
	.c = { 0.0, 0.5, 0.5, 1.0 },
};

static const Tableau dormandPrince = {
	.stages = 7,
	.a = { { 0.0 },
		   { 1.0 / 5.0 },
		   { 3.0 / 40.0, 9.0 / 40.0 },
		   { 44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0 },
		   { 19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0 },
		   { 9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0 },
		   { 35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0 } },
	.b = { 35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0, 0.0 },
	.c = { 0.0, 0.2, 0.3, 0.8, 8.0 / 9.0, 1.0, 1.0 },
	.e = { 71.0 / 57600.0, 0.0, -71.0 / 16695.0, 71.0 / 1920.0, -17253.0 / 339200.0, 22.0 / 525.0,
		   -1.0 / 40.0 },
};

// --- turns -------------------------------------------------------------------------------------------------

// d' for a turn exp(d) whose angular velocity in its own axes is w.
static knVec3 turnRate(knVec3 d, knVec3 w) {
	double angle2 = knLengthSquared(d), c = 1.0 / 12.0 + angle2 / 720.0;
	if (angle2 > 1e-4) {
		double angle = sqrt(angle2), sine, cosine;
		knSinCos(0.5 * angle, &sine, &cosine);
		c = (1.0 - 0.5 * angle * cosine / sine) / angle2;
	}
	knVec3 first = knCross(d, w);
	return knMulAdd(knMulAdd(w, 0.5, first), c, knCross(d, first));
}

static void storeVec(knVec3 x, double* to) {
	to[0] = x.x;
	to[1] = x.y;
	to[2] = x.z;
}

// delta' = T(delta) v.
static void wayRates(const knForest* forest, const double* delta, const double* v, double* rates) {
	for (int i = 0; i < forest->count; ++i) {
		const knForestLink* link = &forest->links[i];
		const double *d = delta + link->vOffset, *u = v + link->vOffset;
		double* rate = rates + link->vOffset;
		if (link->nq == link->nv) {
			for (int k = 0; k < link->nv; ++k) {
				rate[k] = u[k];
			}
			continue;
		}
		knVec3 turn = knV3(d[0], d[1], d[2]);
		storeVec(turnRate(turn, knV3(u[0], u[1], u[2])), rate);
		if (link->kind == KN_JOINT_FREE) {
			storeVec(knRotate(knQuat_Exp(turn), knV3(u[3], u[4], u[5])), rate + 3);
		}
	}
}

// --- one part ------------------------------------------------------------------------------------------------

typedef struct Part {
	double *q, *v;                              // at the start
	double *way, *rate;                         // [nv] scratch
	double *stageQ, *stageV;                    // scratch
	double *ways[MAX_STAGES], *qdd[MAX_STAGES]; // [nv] each, rates of the stages
	double *qEnd, *vEnd;
} Part;

static bool makePart(knPaperStep* step, Part* part, int stages) {
	knArena* arena = step->context->arena;
	int nq = step->forest->nq, nv = step->forest->nv;
	if (step->stages == NULL) {
		step->stages = KN_SCRATCH(arena, double, 3 * nq + (5 + 2 * MAX_STAGES) * nv);
	}
	if (arena->failed) {
		return false;
	}
	double* at = step->stages;
	double** quaternions[3] = { &part->q, &part->stageQ, &part->qEnd };
	double** vectors[5] = { &part->v, &part->way, &part->rate, &part->stageV, &part->vEnd };
	for (int k = 0; k < 3; ++k, at += nq) {
		*quaternions[k] = at;
	}
	for (int k = 0; k < 5; ++k, at += nv) {
		*vectors[k] = at;
	}
	for (int k = 0; k < stages; ++k, at += 2 * nv) {
		part->ways[k] = at;
		part->qdd[k] = at + nv;
	}
	return true;
}

static void copy(double* to, const double* from, int count) {
	for (int k = 0; k < count; ++k) {
		to[k] = from[k];
	}
}

// The way and v after h with the weights `by` of the first stages.
static void combine(const knPaperStep* step, Part* part, const double* by, int stages, double h, double* q,
					double* v) {
	int nv = step->forest->nv;
	for (int k = 0; k < nv; ++k) {
		double way = 0.0, change = 0.0;
		for (int s = 0; s < stages; ++s) {
			way += by[s] * part->ways[s][k];
			change += by[s] * part->qdd[s][k];
		}
		part->way[k] = h * way;
		v[k] = part->v[k] + h * change;
	}
	copy(q, part->q, step->forest->nq);
	knForest_Advance(step->forest, q, part->way, 1.0);
}

// The rates of a stage at q, v, which are `way` from the start of the part.
static bool evaluate(knPaperStep* step, Part* part, int s, double time, const double* q, const double* v) {
	const knForest* forest = step->forest;
	for (int k = 0; k < forest->nv; ++k) {
		step->delta[k] = step->before[k] + part->way[k];
	}
	wayRates(forest, part->way, v, part->ways[s]);
	return knPaper_Accelerate(step, time, q, v, part->qdd[s]);
}

// All stages but those before `first`, and the end.
static bool runStages(knPaperStep* step, Part* part, const Tableau* tableau, int first, double time,
					  double h) {
	for (int s = first; s < tableau->stages; ++s) {
		combine(step, part, tableau->a[s], s, h, part->stageQ, part->stageV);
		if (!evaluate(step, part, s, time + tableau->c[s] * h, part->stageQ, part->stageV)) {
			return false;
		}
	}
	combine(step, part, tableau->b, tableau->stages, h, part->qEnd, part->vEnd);
	return true;
}

static bool runEuler(knPaperStep* step, Part* part, double h) {
	step->softStep = h;
	for (int k = 0; k < step->forest->nv; ++k) {
		part->way[k] = 0.0;
	}
	if (!evaluate(step, part, 0, step->time, part->q, part->v)) {
		return false;
	}
	for (int k = 0; k < step->forest->nv; ++k) {
		part->vEnd[k] = part->v[k] + h * part->qdd[0][k];
		part->way[k] = h * part->vEnd[k];
	}
	copy(part->qEnd, part->q, step->forest->nq);
	knForest_Advance(step->forest, part->qEnd, part->way, 1.0);
	return true;
}

// The largest error against what is allowed.
static double errorOf(const knPaperStep* step, const Part* part, const Tableau* tableau, double h) {
	double worst = 0.0;
	for (int k = 0; k < step->forest->nv; ++k) {
		double way = 0.0, change = 0.0;
		for (int s = 0; s < tableau->stages; ++s) {
			way += tableau->e[s] * part->ways[s][k];
			change += tableau->e[s] * part->qdd[s][k];
		}
		double speed = 1.0 + knMax(knAbs(part->v[k]), knAbs(part->vEnd[k]));
		worst = knMax(worst, knMax(h * knAbs(way), h * knAbs(change) / speed));
		if (!(worst < (double)INFINITY)) {
			return (double)INFINITY;
		}
	}
	return worst / step->choices.tolerance;
}

// x^(-1/5) of x > 0 within a hundredth: Newton's method on y^-5 = x.
static double inverseFifthRoot(double x) {
	double y = 1.0;
	x = knClamp(x, 1e-4, 1e4);
	for (int k = 0; k < 30; ++k) {
		double y5 = y * y * y * y * y;
		y = knClamp(y * (6.0 - x * y5) / 5.0, 0.5 * y, 1.5 * y);
	}
	return y;
}

// --- all parts -----------------------------------------------------------------------------------------------

static bool runEmbedded(knPaperStep* step, Part* part, double h) {
	const Tableau* tableau = &dormandPrince;
	const knForest* forest = step->forest;
	double done = 0.0, next = step->guess > 0.0 ? knMin(step->guess, h) : h;
	const double least = (step->C.count > 0 ? LEAST_HELD : LEAST_PART) * step->h;
	bool first = true; // the last stage of a part is the first of the next
	for (int tries = 0; done < h; ++tries) {
		double left = h - done, size = next >= left ? left : knMin(next, 0.5 * left);
		if (tries >= MAX_PARTS || !runStages(step, part, tableau, first ? 0 : 1, step->time + done, size)) {
			return false;
		}
		first = false;
		double error = errorOf(step, part, tableau, size);
		double growth = knClamp(SAFETY * inverseFifthRoot(error), LEAST_GROWTH, MOST_GROWTH);
		if (error > 1.0 && size > least) {
			next = knMax(growth * size, least);
			continue;
		}
		// the guess is not what the end of h cut off
		next = size < left || growth < 1.0 ? growth * size : knMax(next, growth * size);
		next = knMax(next, least);
		done = size < left ? done + size : h;
		for (int k = 0; k < forest->nv; ++k) {
			step->before[k] += part->way[k];
		}
		copy(part->q, part->qEnd, forest->nq);
		copy(part->v, part->vEnd, forest->nv);
		double *ways = part->ways[0], *qdd = part->qdd[0];
		part->ways[0] = part->ways[tableau->stages - 1];
		part->qdd[0] = part->qdd[tableau->stages - 1];
		part->ways[tableau->stages - 1] = ways;
		part->qdd[tableau->stages - 1] = qdd;
		// seen from the new start, the way begins at zero
		for (int k = 0; k < forest->nv; ++k) {
			part->ways[0][k] = part->v[k];
		}
	}
	step->guess = next;
	return true;
}

bool knPaper_Integrate(knPaperStep* step, double h) {
	Part part;
	const Tableau* tableau = step->choices.integrator == KN_PAPER_EMBEDDED ? &dormandPrince : &kutta;
	if (!makePart(step, &part, tableau->stages)) {
		return false;
	}
	copy(part.q, step->q, step->forest->nq);
	copy(part.v, step->v, step->forest->nv);
	for (int k = 0; k < step->forest->nv; ++k) {
		step->before[k] = 0.0;
	}
	step->softStep = 0.0;
	bool done = step->choices.integrator == KN_PAPER_EULER ? runEuler(step, &part, h)
				: step->choices.integrator == KN_PAPER_RK4 ? runStages(step, &part, &kutta, 0, step->time, h)
														   : runEmbedded(step, &part, h);
	copy(step->qn, part.qEnd, step->forest->nq);
	copy(step->vn, part.vEnd, step->forest->nv);
	return done;
}
