// Steadying couples: what keeps taut joints from fluttering at large steps (no part of the published method).
//
// A force f that pulls at the arm r of a body turns it back like a spring of stiffness k = f . r. The impulses of a
// step act at the arms of its start, which treats this spring explicitly: beyond h^2 k/I = 4 the body flutters and the
// energy of a taut chain or net grows without bound, the sooner the better the joints are solved. The cure is that
// of an implicit step, a couple -c w with c = h k/2 or more, written here between the two jointed bodies:
//
//   kappa = -C (w_c - w_p),   C = h^2 (s_c k_c + s_p k_p)/STEADY, a part ALONG less along the line of the centres
//
// so that it conserves momentum, only ever takes energy, leaves a turn of the whole alone and vanishes with h. s ramps
// from 0 to 1 over RAMP where h^2 k/I exceeds CALM. A link of a tread or net turns about its centre, its neighbours the
// other way: I is its own. Bobs, cranks and links that hang free turn about their pins, and are not taut however small
// they are: I is what the joint leaves of their inertia. f is that of the step before. The joint's locked directions
// answer the couple (joint_bounds.c).
#include "core/dense.h"
#include "steppers/impulse/articulation_internal.h"
#include "steppers/impulse/joint_direct.h"

#define ALONG 4.0
#define STEADY 0.25
#define CALM 0.1     // of a link of a loop,
#define CALM_PIN 0.2 // of what turns about a pin
#define RAMP 0.4
#define SIMILAR 1.5 // a couple that is softer or harder by less stays as it is

// What a unit couple does to the spin of one of the bodies about axes across its arm, the joint holding: the sum over
// both. (About the arm itself the force has no spring; a thin rod would be far too light there.)
static double responseAcross(const knArticulationSolve* solve, int i, bool child, knVec3 arm) {
	const knSolveJoint* entry = &solve->joints[i];
	const knJointBlock* block = &solve->blocks[i];
	const knMat33* invInertia = &solve->invInertia[child ? entry->child : entry->parent];
	const knVec3 first = knAnyOrthogonal(knNormalize(arm));
	const knVec3 axes[2] = { first, knCross(knNormalize(arm), first) };
	double sum = 0.0;
	for (int k = 0; k < 2; ++k) {
		double z[6];
		knVec3 spin = knMulMV(invInertia, axes[k]), torque = axes[k];
		knJointBlock_Answer(block, knMakeTwist(spin, knCross(spin, arm)), z);
		for (int r = 0; r < block->count; ++r) {
			torque = knMulAdd(torque, z[r], knAdd(block->rows[r].ang, knCross(arm, block->rows[r].lin)));
		}
		sum += knDot(spin, torque);
	}
	return sum;
}

// A link of a loop, as of a tread or net, with nothing immovable to turn about.
static bool isStrung(const knArticulationSolve* solve, int i, int body) {
	return solve->jointsOfBody[body] > 1 && solve->pinned[body] == 0 &&
		   knJointDirect_Has(solve->direct, knSolveJoint_Island(solve, &solve->joints[i]));
}

// s k of one body that a force pulls at its arm.
static double stiffness(const knArticulationSolve* solve, int i, bool child, knVec3 pull, double force) {
	const int body = child ? solve->joints[i].child : solve->joints[i].parent;
	const knVec3 arm = child ? solve->blocks[i].rC : solve->blocks[i].rP;
	const knMat33* invInertia = &solve->invInertia[body];
	const double h = solve->input.h, k = force * knDot(pull, arm), size = knLengthSquared(arm);
	const double trace = invInertia->cx.x + invInertia->cy.y + invInertia->cz.z;
	double across = trace - knDot(arm, knMulMV(invInertia, arm)) / size, calm = CALM;
	// most joints are not taut, and known so at once: the joint can only make the answer smaller
	if (!(size > 0.0 && h * h * k * across > calm)) {
		return 0.0;
	}
	if (!isStrung(solve, i, body)) {
		across = responseAcross(solve, i, child, arm);
		calm = CALM_PIN;
	}
	return k * knClamp((h * h * k * across - calm) / RAMP, 0.0, 1.0);
}

// Softness for the impulse at hand and the direction of the force; 0: the joint is not taut.
static double softnessOf(const knArticulationSolve* solve, int i, knVec3* pull) {
	const knSolveJoint* entry = &solve->joints[i];
	const knJointBlock* block = &solve->blocks[i];
	const double h = solve->input.h;
	knVec3 impulse = knAdd(knAdd(entry->locked.lin, entry->recalled), entry->late);
	double force = knLength(impulse) / h;
	if (!(force > 0.0)) {
		return 0.0;
	}
	*pull = knScale(1.0 / (h * force), impulse);
	const knMat33 *parent = &solve->invInertia[entry->parent], *child = &solve->invInertia[entry->child];
	double k = stiffness(solve, i, true, *pull, force) + stiffness(solve, i, false, knNeg(*pull), force);
	// the line along which the two bodies are strung
	knVec3 line =
		knSub(parent->cx.x > 0.0 ? block->rP : knZero3(), child->cx.x > 0.0 ? block->rC : knZero3());
	*pull = knNormalize(line);
	return k > 0.0 ? STEADY / (h * h * k) : 0.0;
}

static bool isSimilar(double a, double b) {
	return a < SIMILAR * b && b < SIMILAR * a;
}

void knJointSteady_Rows(knArticulationSolve* solve, int i) {
	knSolveJoint* entry = &solve->joints[i];
	knJointBlock* block = knJointBlock_Get(solve, i);
	knJointPair pair = knJointPair_Make(solve, entry, block->rP, block->rC);
	knVec3 pull;
	const bool had = block->all > block->count;
	const double softness = softnessOf(solve, i, &pull);
	if (had ? isSimilar(softness, block->softness[block->count]) : softness == 0.0) {
		return; // the rows, and what was factored with them, will do
	}
	block->all = block->count;
	solve->stale[knSolveJoint_Island(solve, entry)] = 1;
	if (softness == 0.0) {
		// a joint that went slack gives its couple back
		if (knLengthSquared(entry->couple) > 0.0) {
			knTwist wrench = knMakeTwist(knNeg(entry->couple), knZero3());
			entry->couple = knZero3();
			knSolveJoint_Push(solve, entry, &pair, wrench, knZero3(), knZeroTwist());
		}
		return;
	}

	knVec3 first = knAnyOrthogonal(pull);
	const knVec3 axes[3] = { first, knCross(pull, first), pull };
	for (int k = 0; k < 3; ++k) {
		block->rows[block->count + k] = knMakeTwist(axes[k], knZero3());
		block->softness[block->count + k] = k < 2 ? softness : ALONG * softness;
	}
	block->all = block->count + 3;
	for (int r = 0; r < block->all; ++r) {
		knTwist response = knJointPair_Response(&pair, block->rows[r]);
		for (int c = 0; c <= r; ++c) {
			block->whole[block->all * r + c] = knDotT(block->rows[c], response);
		}
		block->whole[block->all * r + r] += r >= block->count ? block->softness[r] : 0.0;
	}
	if (!knDense_FactorLdl(block->whole, block->all)) {
		block->all = block->count;
	}
}

bool knJointSteady_ByRates(knArticulationSolve* solve, int i) {
	const knJointBlock* block = &solve->blocks[i];
	return solve->joints[i].byRates || block->all > block->count ||
		   knJointBlock_TurnsFast(solve, i, solve->u);
}

double knJointSteady_Visit(knArticulationSolve* solve, int i, double epsilon) {
	knSolveJoint* entry = &solve->joints[i];
	const knJointBlock* block = &solve->blocks[i];
	knJointPair pair = knJointPair_Make(solve, entry, block->rP, block->rC);
	knTwist V = knJointPair_Rate(&pair), couple = knZeroTwist(), locked = knZeroTwist();
	knTwist wrong = knAddT(knJoint_WrongRate(entry->joint, block->J, block->axes, V), entry->curve);
	double z[KN_BLOCK_ROWS], worst = 0.0;
	for (int k = 0; k < block->count; ++k) {
		z[k] = -knDotT(block->rows[k], wrong);
		worst = knMax(worst, knAbs(z[k]));
	}
	for (int k = block->count; k < block->all; ++k) {
		z[k] = -knDot(block->rows[k].ang, knMulAdd(V.ang, block->softness[k], entry->couple));
	}
	knDense_SolveLdl(block->all > block->count ? block->whole : block->factor, block->all, z);
	for (int k = 0; k < block->all; ++k) {
		knTwist* sum = k < block->count ? &locked : &couple;
		*sum = knMulAddT(*sum, epsilon * z[k], block->rows[k]);
	}
	entry->couple = knAdd(entry->couple, couple.ang);
	knSolveJoint_Push(solve, entry, &pair, knAddT(couple, locked), knZero3(), locked);
	return solve->input.h * worst;
}
