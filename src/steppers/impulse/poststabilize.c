// Velocity post-stabilization (Weinstein et al. 2006, section V): impulses that take the constrained part out of a
// joint's relative velocity and leave the rest.
//
//   B^T W B z = -B^T (V - V*),  wrench B z on the child at its joint origin
//
// B are the locked rows; V* the closest allowed velocity, whose locked components vanish except for a user's joint
// that says otherwise. Limits, friction and motors follow as bounds (joint_bounds.c).
#include "steppers/impulse/articulation_internal.h"

knTwist knJoint_WrongRate(const knJoint* joint, knFrame J, knQuat axes, knTwist V) {
	if (joint->kind != KN_JOINT_CUSTOM) {
		return V;
	}
	knTwist local = knInvRotateT(axes, V);
	return knRotateT(axes, knSubT(local, knJoint_ProjectVelocity(joint, J, local)));
}

double knPostStabilize_Joint(knArticulationSolve* solve, int i, double epsilon) {
	if (solve->phase == KN_ARTICULATION_DYNAMICS && !solve->paper && !solve->velocitiesOnly) {
		const int island = knSolveJoint_Island(solve, &solve->joints[i]);
		if (solve->pressed[island] != 0 || knSettle_IsLone(solve, island) ||
			solve->joints[i].boundCount == 0) {
			return 0.0; // settled with all others, with contacts, or with other lone ones
		}
		// these velocities are for moving along arcs, which pre-stabilization follows
		return knPreStabilize_Joint(solve, i, epsilon) / solve->input.h;
	}
	knSolveJoint* entry = &solve->joints[i];
	if (!solve->paper && solve->phase != KN_ARTICULATION_DYNAMICS &&
		solve->exact[knSolveJoint_Island(solve, entry)] != 0) {
		return 0.0; // settled a moment ago
	}
	knJointBlock* block = knJointBlock_Get(solve, i);
	knJointPair pair = knJointPair_Make(solve, entry, block->rP, block->rC);
	knTwist wrong = knJoint_WrongRate(entry->joint, block->J, block->axes, knJointPair_Rate(&pair));
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
		knSolveJoint_Push(solve, entry, &pair, wrench, knZero3(), wrench);
	}
	if (entry->boundCount > 0) {
		knJointBounds_Pass(solve, i, false);
	}
	return worst;
}

double knPostStabilize_Sweep(knArticulationSolve* solve, double epsilon) {
	bool backwards = !solve->paper && solve->postSweeps % 2 == 1;
	solve->postSweeps += 1;
	const bool predicted =
		solve->phase == KN_ARTICULATION_DYNAMICS && !solve->paper && !solve->velocitiesOnly;
	const double lone = predicted ? knPreStabilize_Lone(solve, epsilon) : 0.0;
	return knMax(lone, knArticulationSolve_Sweep(solve, knPostStabilize_Joint, backwards, epsilon));
}
