// What contact points carried in the last step, for the points of this step.
//
// A point that is found again, by its feature or its place, carries on. But the few points that stand for a face are
// chosen anew in every step, and the smallest motion may change the choice: then the points of the pair together take
// over the resultant of what the pair carried,
//
//   sum j_i = N,   sum j_i x_i = X       (x_i in the plane of contact; the shortest j >= 0)
//
// and friction and rolling friction in proportion. Without that a pile would lose its hold whenever a choice changes.

#include "steppers/impulse/impulse_memory.h"
#include "steppers/impulse/impulse_step.h"

#define TINY 1e-9 // of the trace of the 3x3 system: points on a line, or one alone
#define ROUNDS 4  // of dropping points that would pull

// The resultant of what a pair carried.
typedef struct Resultant {
	double normal; // N s
	double m1, m2; // N m s: normal impulses times places along t1 and t2
	knVec3 friction, rolling;
	knVec3 center; // places are counted from here
	knVec3 t1, t2;
} Resultant;

static void recallPoint(const knImpulseStep* step, knImpulsePoint* p, double normal, knVec3 friction,
						knVec3 rolling) {
	p->jn = normal;
	p->j1 = knDot(friction, p->t1);
	p->j2 = knDot(friction, p->t2);
	if (p->turn >= 0) {
		step->turns[p->turn].g = rolling;
	}
}

static knVec3 placeOf(const knImpulseStep* step, const knImpulsePoint* p) {
	return knAdd(step->state->pose[p->a].p, p->rA);
}

static Resultant sumUp(const knImpulseStep* step, const knImpulsePair* pair, const knContactMemory* memory,
					   int count) {
	const knImpulsePoint* first = &step->points[pair->first];
	int anchor = step->model->invMass[pair->a] > 0.0 ? pair->a : pair->b;
	Resultant sum = { .center = placeOf(step, first), .t1 = first->t1, .t2 = first->t2 };
	for (int i = 0; i < count; ++i) {
		double normal = step->input.impulseScale * memory[i].normal;
		knVec3 from = knSub(knPoint(step->state->pose[anchor], memory[i].place), sum.center);
		sum.normal += normal;
		sum.m1 += normal * knDot(from, sum.t1);
		sum.m2 += normal * knDot(from, sum.t2);
		sum.friction = knMulAdd(sum.friction, step->input.impulseScale, memory[i].friction);
		sum.rolling = knMulAdd(sum.rolling, step->input.impulseScale, memory[i].rolling);
	}
	return sum;
}

// The shortest impulses of the points that still push; returns whether one of them would pull.
static bool shareOut(const knImpulseStep* step, const knImpulsePair* pair, const Resultant* sum) {
	knMat33 G = knDiagonal33(0.0, 0.0, 0.0);
	for (int k = pair->first; k < pair->first + pair->count; ++k) {
		const knImpulsePoint* p = &step->points[k];
		if (p->jn > 0.0) {
			knVec3 from = knSub(placeOf(step, p), sum->center);
			knVec3 g = knV3(1.0, knDot(from, sum->t1), knDot(from, sum->t2));
			G.cx = knMulAdd(G.cx, g.x, g);
			G.cy = knMulAdd(G.cy, g.y, g);
			G.cz = knMulAdd(G.cz, g.z, g);
		}
	}
	double soft = TINY * (G.cx.x + G.cy.y + G.cz.z);
	G.cx.x += soft;
	G.cy.y += soft;
	G.cz.z += soft;
	knMat33 inverse = knInverse33(&G);
	knVec3 y = knMulMV(&inverse, knV3(sum->normal, sum->m1, sum->m2));
	bool pulls = false;
	for (int k = pair->first; k < pair->first + pair->count; ++k) {
		knImpulsePoint* p = &step->points[k];
		if (p->jn > 0.0) {
			knVec3 from = knSub(placeOf(step, p), sum->center);
			p->jn = y.x + y.y * knDot(from, sum->t1) + y.z * knDot(from, sum->t2);
			pulls = pulls || p->jn < 0.0;
		}
	}
	return pulls;
}

static void recallResultant(const knImpulseStep* step, const knImpulsePair* pair,
							const knContactMemory* memory, int count) {
	Resultant sum = sumUp(step, pair, memory, count);
	if (!(sum.normal > 0.0)) {
		return;
	}
	for (int k = pair->first; k < pair->first + pair->count; ++k) {
		step->points[k].jn = 1.0;
	}
	bool pulls = true;
	for (int round = 0; pulls && round < ROUNDS; ++round) {
		pulls = shareOut(step, pair, &sum);
	}
	double total = 0.0;
	for (int k = pair->first; k < pair->first + pair->count; ++k) {
		knImpulsePoint* p = &step->points[k];
		p->jn = p->jn > 0.0 ? p->jn : 0.0;
		total += p->jn;
	}
	for (int k = pair->first; total > 0.0 && k < pair->first + pair->count; ++k) {
		knImpulsePoint* p = &step->points[k];
		double share = p->jn / total;
		recallPoint(step, p, share * sum.normal, knScale(share, sum.friction), knScale(share, sum.rolling));
	}
}

static bool isBefore(const knContactMemory* memory, const knImpulsePair* pair) {
	return memory->shapeA < pair->shapeA || (memory->shapeA == pair->shapeA && memory->shapeB < pair->shapeB);
}

static bool isOf(const knContactMemory* memory, const knImpulsePair* pair) {
	return memory->shapeA == pair->shapeA && memory->shapeB == pair->shapeB;
}

int knContactWarmStart_Run(knImpulseStep* step, int firstPair, int firstMemory) {
	const knContactMemory* memory = knImpulseMemory_Contacts(step->state);
	int total = knImpulseMemory_Get(step->state).contactCount, begin = 0, end = firstMemory;
	for (int i = firstPair; i < step->pairCount; ++i) {
		const knImpulsePair* pair = &step->pairs[i];
		for (begin = end; begin < total && isBefore(&memory[begin], pair);) {
			++begin;
		}
		for (end = begin; end < total && isOf(&memory[end], pair);) {
			++end;
		}
		int found = 0;
		for (int k = pair->first; k < pair->first + pair->count; ++k) {
			int remembered = step->list.anchors[k].remembered;
			if (remembered >= 0) {
				double scale = step->input.impulseScale;
				const knContactMemory* old = &memory[remembered];
				recallPoint(step, &step->points[k], scale * old->normal, knScale(scale, old->friction),
							knScale(scale, old->rolling));
				++found;
			}
		}
		if (found < end - begin) {
			recallResultant(step, pair, &memory[begin], end - begin);
		}
	}
	return end;
}
