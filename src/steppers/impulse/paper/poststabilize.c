// Velocity post-stabilization (Weinstein et al. 2006, section V): impulses that take the constrained part out of a
// joint's relative velocity and leave the rest.
//
//   B^T W B z = -B^T (V - V*),  wrench B z on the child at its joint origin
//
// B are the locked rows; V* the closest allowed velocity, whose locked components vanish except for a user's joint
// that says otherwise. Limits, friction and motors follow as bounds (joint_bounds.c).
#include "steppers/impulse/paper/articulation_internal.h"

static knTwist wrongRate(const knJoint* joint, knFrame J, knQuat axes, knTwist V) {
	if (joint->kind != KN_JOINT_CUSTOM) {
		return V;
	}
	knTwist local = knInvRotateT(axes, V);
	return knRotateT(axes, knSubT(local, knJoint_ProjectVelocity(joint, J, local)));
}

static void project(knArticulationSolve* solve, int i, double epsilon) {
	knSolveJoint* entry = &solve->joints[i];
	knJointBlock* block = knJointBlock_Get(solve, i);
	knJointPair pair = knJointPair_Make(solve, entry, block->rP, block->rC);
	double z[6];
	knJointBlock_Answer(block, wrongRate(entry->joint, block->J, block->axes, knJointPair_Rate(&pair)), z);
	knTwist wrench = knZeroTwist();
	for (int k = 0; k < block->count; ++k) {
		wrench = knMulAddT(wrench, epsilon * z[k], block->rows[k]);
	}
	knSolveJoint_Push(solve, entry, &pair, wrench, knZero3());
	if (entry->boundCount > 0) {
		knJointBounds_Pass(solve, i, false);
	}
}

void knPostStabilize_Sweep(knArticulationSolve* solve, double epsilon) {
	for (int i = 0; i < solve->jointCount; ++i) {
		project(solve, i, epsilon);
	}
}
