// Push-out: what overlaps beyond a small slop at the end of the step is moved apart, velocities untouched.
//
//   gap + h (u_n + p_n) >= -slop     p: velocities that move poses in this step and are then forgotten
//
// Only a share of the overlap is taken out per step, and only at a modest speed, so that deep overlaps dissolve
// instead of exploding. Impulses are equal and opposite: the common centre of mass stays where it is, and angular momentum
// is kept (returnSpin). The published
// method has nothing like it, and keeps whatever overlap it once got.

#include "dynamics/collision_input.h"
#include "steppers/impulse/impulse_step.h"

#define SLOP 0.05 // of the envelope
#define GAIN 0.3  // share of the overlap that is taken out per step
#define SPEED 1.0 // m/s, at most
#define SWEEPS 8

// m/s, how fast the point has to be pushed apart; 0: not at all.
static double wantedSpeed(const knImpulseStep* step, const knImpulsePoint* p) {
	double envelope = knMin(knCollisionEnvelope(step->model, p->a), knCollisionEnvelope(step->model, p->b));
	double after = p->gap + step->h * knDot(p->n, knImpulsePoint_Velocity(p, step->blocks.u));
	double overlap = -after - SLOP * envelope;
	return overlap > 0.0 ? knMin(GAIN * overlap / step->h, SPEED) : 0.0;
}

static void pushPoint(const knImpulseStep* step, knImpulsePoint* p) {
	const knBlocks* blocks = &step->blocks;
	double speed = knDot(p->n, knImpulsePoint_Velocity(p, step->push));
	double wanted = p->push + (p->target - speed) * p->invNn;
	double change = (wanted > 0.0 ? wanted : 0.0) - p->push;
	if (change == 0.0) {
		return;
	}
	p->push += change;
	knVec3 j = knScale(change, p->n);
	knTwist *uA = &step->push[p->a], *uB = &step->push[p->b];
	uA->lin = knMulAdd(uA->lin, -blocks->invMass[p->a], j);
	uA->ang = knSub(uA->ang, knMulMV(&blocks->invInertia[p->a], knCross(p->rA, j)));
	uB->lin = knMulAdd(uB->lin, blocks->invMass[p->b], j);
	uB->ang = knAdd(uB->ang, knMulMV(&blocks->invInertia[p->b], knCross(p->rB, j)));
}

// Two bodies shifted by +-h j/m without the velocities to it would gain h j x (v_B - v_A) of angular momentum: they give
// it back, half each.
static void returnSpin(const knImpulseStep* step, const knImpulsePoint* p) {
	const knBlocks* blocks = &step->blocks;
	if (blocks->invMass[p->a] > 0.0 && blocks->invMass[p->b] > 0.0) {
		knVec3 apart = knSub(blocks->u[p->b].lin, blocks->u[p->a].lin);
		knVec3 half = knScale(-0.5 * step->h * p->push, knCross(p->n, apart));
		blocks->u[p->a].ang = knAdd(blocks->u[p->a].ang, knMulMV(&blocks->invInertia[p->a], half));
		blocks->u[p->b].ang = knAdd(blocks->u[p->b].ang, knMulMV(&blocks->invInertia[p->b], half));
	}
}

void knContactPush_Run(knImpulseStep* step) {
	bool any = false;
	for (int i = 0; i < step->pointCount; ++i) {
		knImpulsePoint* p = &step->points[i];
		double wanted = wantedSpeed(step, p);
		any = any || wanted > 0.0;
		// a point without overlap may close what room it has
		double room = knMax(p->gap + step->h * knDot(p->n, knImpulsePoint_Velocity(p, step->blocks.u)), 0.0);
		p->target = wanted > 0.0 ? wanted : -room / step->h;
	}
	for (int sweep = 0; any && sweep < SWEEPS; ++sweep) {
		for (int i = 0; i < step->pairCount; ++i) {
			const knImpulsePair* pair = &step->pairs[step->order[i]];
			for (int k = pair->first; !pair->withJoints && k < pair->first + pair->count; ++k) {
				pushPoint(step, &step->points[k]);
			}
		}
	}
}

void knContactPush_ReturnSpin(knImpulseStep* step) {
	for (int i = 0; i < step->pointCount; ++i) {
		if (step->points[i].push > 0.0) {
			returnSpin(step, &step->points[i]);
		}
	}
}
