// Velocity post-stabilization (Weinstein et al. 2006, section V): impulses that take the constrained part out of a
// joint's relative velocity and leave the rest.
//
//   B^T W B z = -B^T (V - V*),  wrench B z on the child at its joint origin
//
// B are the locked rows; V* the closest allowed velocity, whose locked components vanish except for a user's joint
// that says otherwise. Limits, friction and motors follow as bounds (joint_bounds.c).
#include "steppers/impulse/articulation_internal.h"

// What is wrong with the velocity V (world axes) along the locked rows.
static knTwist wrongRate(const knSolveJoint* entry, const knJointBlock* block, knTwist V) {
	if (entry->joint->kind != KN_JOINT_CUSTOM) {
		return V;
	}
	knTwist local = knInvRotateT(block->axes, V);
	knTwist wrong = knSubT(local, knJoint_ProjectVelocity(entry->joint, block->J, local));
	return knRotateT(block->axes, wrong);
}

double knPostStabilize_Joint(knArticulationSolve* solve, int i, double epsilon) {
	knSolveJoint* entry = &solve->joints[i];
	knJointBlock* block = knJointBlock_Get(solve, i);
	knJointPair pair = knJointPair_Make(solve, entry, block->rP, block->rC);
	knTwist wrong = wrongRate(entry, block, knJointPair_Rate(&pair));
	double z[6], worst = 0.0;
	for (int k = 0; k < block->count; ++k) {
		worst = knMax(worst, knAbs(knDotT(block->rows[k], wrong)));
	}
	if (worst > 0.0) {
		knJointBlock_Answer(block, wrong, z);
		knTwist wrench = knZeroTwist();
		for (int k = 0; k < block->count; ++k) {
			wrench = knMulAddT(wrench, epsilon * z[k], block->rows[k]);
		}
		knJointPair_Push(&pair, wrench);
		entry->total = knAddT(entry->total, wrench);
		if (solve->phase == KN_ARTICULATION_DYNAMICS) {
			entry->locked = knAddT(entry->locked, wrench);
		}
	}
	if (entry->boundCount > 0) {
		knJointBounds_Pass(solve, i, false);
	}
	return worst;
}

double knPostStabilize_Sweep(knArticulationSolve* solve, double epsilon) {
	bool backwards = !solve->paper && solve->postSweeps % 2 == 1;
	solve->postSweeps += 1;
	return knArticulationSolve_Sweep(solve, knPostStabilize_Joint, backwards, epsilon);
}
