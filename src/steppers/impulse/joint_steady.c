// Steadying couples: what keeps taut joints from fluttering at large steps (no part of the published method).
//
// A force f that pulls at the arm r of a body turns it back like a spring of stiffness k = f . r. The impulses of a
// step act at the arms of its start, which treats this spring explicitly: beyond h^2 k/I = 4 the body flutters and the
// energy of a taut chain or net grows without bound, the sooner the better the joints are solved. The cure is that
// of an implicit step, a couple -c w with c = h k/2 or more, written here between the two jointed bodies:
//
//   kappa = -C (w_c - w_p),   C = h^2 (s_c k_c + s_p k_p)/KN_STEADY, a part ALONG less along the line of the centres
//
// so that it conserves momentum, only ever takes energy, leaves a turn of the whole alone and vanishes with h. s ramps
// from 0 to 1 over KN_STEADY_RAMP where h^2 k/I exceeds KN_STEADY_CALM (joint_lanes_kernel.h, which finds C of four joints at a
// time). A link of a tread or net turns about its centre, its neighbours the other way: I is its own. Bobs, cranks and links
// that hang free turn about their pins, and are not taut however small they are: I is what the joint leaves of their inertia.
// f is that of the step before. The joint's locked directions answer the couple (joint_bounds.c).
#include "core/dense.h"
#include "steppers/impulse/joint_lanes.h"

#define ALONG 4.0
#define SIMILAR 1.5 // a couple that is softer or harder by less stays as it is

static bool isSimilar(double a, double b) {
	return a < SIMILAR * b && b < SIMILAR * a;
}

// Sets the rows for a softness, with its axis; true: they changed, and are to be factored.
static bool setRows(knArticulationSolve* solve, int i, double softness, const knVec3* along) {
	const knSolveJoint* entry = &solve->joints[i];
	knJointBlock* block = &solve->blocks[i];
	const bool had = block->all > block->count;
	if (had ? isSimilar(softness, block->softness[block->count]) : softness == 0.0) {
		return false; // the rows, and what was factored with them, will do
	}
	block->all = block->count;
	solve->stale[knSolveJoint_Island(solve, entry)] = 1;
	if (softness == 0.0) {
		block->slack = knLengthSquared(entry->couple) > 0.0;
		return false;
	}
	const knVec3 line = *along, first = knAnyOrthogonal(line);
	const knVec3 axes[3] = { first, knCross(line, first), line };
	for (int k = 0; k < 3; ++k) {
		block->rows[block->count + k] = knMakeTwist(axes[k], knZero3());
		block->softness[block->count + k] = k < 2 ? softness : ALONG * softness;
	}
	block->all = block->count + 3;
	return true;
}

void knJointSteady_Rows(knArticulationSolve* solve, const int* entries, int count) {
	const knJointKernel* kernel = knJointKernel_Best();
	for (int n = 0; n < count; n += KN_JOINT_LANES) {
		const knJointLanes lanes = knJointLanes_Make(solve, entries + n, count - n);
		knSteadyLanes steady;
		int changed[KN_JOINT_LANES], changedCount = 0;
		kernel->steady(&lanes, &steady);
		for (int l = 0; l < lanes.count; ++l) {
			if (setRows(solve, lanes.entry[l], steady.softness[l], &steady.line[l])) {
				changed[changedCount++] = lanes.entry[l];
			}
		}
		if (changedCount > 0) {
			const knJointLanes anew = knJointLanes_Make(solve, changed, changedCount);
			kernel->factorAll(&anew);
		}
	}
}

void knJointSteady_Release(knArticulationSolve* solve, int i) {
	knSolveJoint* entry = &solve->joints[i];
	knJointBlock* block = &solve->blocks[i];
	if (!block->slack) {
		return;
	}
	knJointPair pair = knJointPair_Make(solve, entry, block->rP, block->rC);
	knTwist wrench = knMakeTwist(knNeg(entry->couple), knZero3());
	block->slack = false;
	entry->couple = knZero3();
	knSolveJoint_Push(solve, entry, &pair, wrench, knZero3(), knZeroTwist());
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
