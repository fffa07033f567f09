// Contact impulses accumulated over sweeps (default scheme).
//
// Every visit of a point changes its impulse j, on B, so that for the present velocities of the two bodies
//
//   j_n >= 0,  u_n >= target,  j_n (u_n - target) = 0        target = -gap/h: a gap may be closed, not crossed
//   |j_t| <= mu j_n,  u_t = 0 or j_t against the sliding
//
// and because j is the sum over all visits, an impulse that turns out too large is taken back later. (The published
// scheme can only push, and leaves what its early impulses overshot as separating speed.)

#include "steppers/impulse/impulse_step.h"

static knContactMatrix sum(const knContactMatrix* a, double wa, const knContactMatrix* b, double wb) {
	return (
		knContactMatrix){ wa * a->nn + wb * b->nn,   wa * a->n1 + wb * b->n1,   wa * a->n2 + wb * b->n2,
						  wa * a->d11 + wb * b->d11, wa * a->d12 + wb * b->d12, wa * a->d22 + wb * b->d22 };
}

void knImpulsePoint_SetMasses(knImpulsePoint* p, double wa, double wb) {
	p->K = sum(&p->KA, wa, &p->KB, wb);
	p->invNn = p->K.nn > 0.0 ? 1.0 / p->K.nn : 0.0;
	// one number for both tangents, the larger eigenvalue: with the inverse of the block, sliding friction would settle
	// against K^-1 u instead of against u
	double half = 0.5 * (p->K.d11 - p->K.d22), mean = 0.5 * (p->K.d11 + p->K.d22);
	double largest = mean + sqrt(half * half + p->K.d12 * p->K.d12);
	p->invTt = largest > 0.0 ? 1.0 / largest : 0.0;
}

static void setTurnMasses(const knImpulseStep* step, const knImpulsePoint* p) {
	knMat33 both = knAddMM(&step->blocks.invInertia[p->a], &step->blocks.invInertia[p->b]);
	step->turns[p->turn].inv = knInverse33(&both);
}

void knContactSweep_SetMasses(knImpulseStep* step) {
	for (int i = 0; i < step->pointCount; ++i) {
		knImpulsePoint* p = &step->points[i];
		knImpulsePoint_SetMasses(p, 1.0, 1.0);
		if (step->points[i].turn >= 0) {
			setTurnMasses(step, &step->points[i]);
		}
	}
}

void knImpulsePoint_Apply(const knImpulseStep* step, const knImpulsePoint* p, knVec3 j) {
	const knBlocks* blocks = &step->blocks;
	knTwist *uA = &blocks->u[p->a], *uB = &blocks->u[p->b];
	uA->lin = knMulAdd(uA->lin, -blocks->invMass[p->a], j);
	uA->ang = knSub(uA->ang, knMulMV(&blocks->invInertia[p->a], knCross(p->rA, j)));
	uB->lin = knMulAdd(uB->lin, blocks->invMass[p->b], j);
	uB->ang = knAdd(uB->ang, knMulMV(&blocks->invInertia[p->b], knCross(p->rB, j)));
}

knVec3 knImpulsePoint_Carried(const knImpulsePoint* p) {
	knVec3 friction = knMulAdd(knScale(p->j1, p->t1), p->j2, p->t2);
	return knMulAdd(friction, p->jn, p->n);
}

static void applyTurn(const knImpulseStep* step, const knImpulsePoint* p, knVec3 g) {
	const knBlocks* blocks = &step->blocks;
	blocks->u[p->a].ang = knSub(blocks->u[p->a].ang, knMulMV(&blocks->invInertia[p->a], g));
	blocks->u[p->b].ang = knAdd(blocks->u[p->b].ang, knMulMV(&blocks->invInertia[p->b], g));
}

// What nothing holds any more carries no weight: it starts from zero.
void knContactSweep_WarmStart(knImpulseStep* step) {
	for (int i = 0; i < step->pointCount; ++i) {
		knImpulsePoint* p = &step->points[i];
		int group = step->islands.group[p->a] >= 0 ? step->islands.group[p->a] : step->islands.group[p->b];
		if (!step->islands.anchored[group]) {
			p->jn = p->j1 = p->j2 = 0.0;
		} else if (p->jn > 0.0) {
			knImpulsePoint_Apply(step, p, knImpulsePoint_Carried(p));
		}
	}
}

double knImpulsePoint_Solve(const knImpulseStep* step, knImpulsePoint* p) {
	knVec3 u = knImpulsePoint_Velocity(p, step->blocks.u);

	// normal
	double wanted = p->jn + (p->target - knDot(p->n, u)) * p->invNn;
	double dn = (wanted > 0.0 ? wanted : 0.0) - p->jn;
	p->jn += dn;
	if (p->jn == 0.0 && dn == 0.0) {
		return 0.0;
	}

	// friction, after what the normal impulse does to the sliding
	double u1 = knDot(p->t1, u) + p->K.n1 * dn, u2 = knDot(p->t2, u) + p->K.n2 * dn;
	double j1 = p->j1 - p->invTt * u1, j2 = p->j2 - p->invTt * u2;
	knClampDisc(&j1, &j2, p->mu * p->jn);
	double d1 = j1 - p->j1, d2 = j2 - p->j2;
	p->j1 = j1;
	p->j2 = j2;
	knImpulsePoint_Apply(step, p, knMulAdd(knMulAdd(knScale(dn, p->n), d1, p->t1), d2, p->t2));
	return knAbs(dn) * p->K.nn + knAbs(d1) * p->K.d11 + knAbs(d2) * p->K.d22;
}

// Rolling and spinning: an angular impulse against the relative turning, its parts along and across the normal
// each bounded by arm j_n.
static void solveTurn(const knImpulseStep* step, const knImpulsePoint* p) {
	knImpulseTurn* turn = &step->turns[p->turn];
	knVec3 w = knSub(step->blocks.u[p->b].ang, step->blocks.u[p->a].ang);
	knVec3 g = knSub(turn->g, knMulMV(&turn->inv, w));
	double limit = turn->arm * p->jn, spin = knDot(g, p->n);
	double roll1 = knDot(g, p->t1), roll2 = knDot(g, p->t2);
	knClampDisc(&roll1, &roll2, limit);
	g = knScale(knClamp(spin, -limit, limit), p->n);
	g = knMulAdd(knMulAdd(g, roll1, p->t1), roll2, p->t2);
	applyTurn(step, p, knSub(g, turn->g));
	turn->g = g;
}

double knContactSweep_Level(knImpulseStep* step, int level) {
	double largest = 0.0;
	for (int i = step->levelFirst[level]; i < step->levelFirst[level + 1]; ++i) {
		const knImpulsePair* pair = &step->pairs[step->order[i]];
		for (int k = pair->first; k < pair->first + pair->count; ++k) {
			if (!pair->withJoints) {
				largest = knMax(largest, knImpulsePoint_Solve(step, &step->points[k]));
			}
			if (step->points[k].turn >= 0) {
				solveTurn(step, &step->points[k]);
			}
		}
	}
	return largest;
}
