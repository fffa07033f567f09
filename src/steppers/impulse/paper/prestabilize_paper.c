// Pre-stabilization of one joint to the letter (Weinstein et al. 2006, section IV): the target frame J*, limits
// included, is aimed at as a whole; first a force closes the position, then a couple, with the bodies and their target
// predicted anew, the orientation. Each is accepted once the share epsilon of its error is gone.
//
// Friction, springs and motors, which the paper leaves to the joint model, act as in the default form.
#include "steppers/impulse/articulation_internal.h"
#include "steppers/impulse/joint_newton.h"

#define LINEAR_TOLERANCE 1e-9
#define ANGULAR_TOLERANCE 1e-9

static knFrame targetOf(const knArticulationSolve* solve, const knSolveJoint* entry) {
	const knFrame* pose = solve->input.state->pose;
	knFrame endP = knMovePose(pose[entry->parent], solve->u[entry->parent], solve->input.h);
	knFrame endC = knMovePose(pose[entry->child], solve->u[entry->child], solve->input.h);
	knFrame J = knJoint_Frame(entry->joint, endP, endC);
	double q[KN_JOINT_MAX_Q];
	entry->ops->coordinates(entry->joint, J, &solve->input.state->q[entry->joint->qOffset], q);
	return knJoint_ProjectLimits(entry->joint, J, q);
}

static bool locks(knArticulationSolve* solve, int i, bool angular) {
	// the paper's joint says whether it constrains positions or orientations at all
	const knJointBlock* block = knJointBlock_Get(solve, i);
	for (int k = 0; k < block->count; ++k) {
		if (knLengthSquared(angular ? block->rows[k].ang : block->rows[k].lin) > 1e-12) {
			return true;
		}
	}
	const knSolveJoint* entry = &solve->joints[i];
	for (int k = 0; k < entry->boundCount; ++k) {
		const knJointBound* bound = &solve->bounds[entry->boundBegin + k];
		if (bound->part == KN_BOUND_LIMIT && bound->turns == angular) {
			return true;
		}
	}
	return false;
}

double knPreStabilize_PaperJoint(knArticulationSolve* solve, int i, double epsilon) {
	const knSolveJoint* entry = &solve->joints[i];
	if (entry->boundCount > 0) {
		knJointBounds_Pass(solve, i, true);
	}
	const knSettings* settings = solve->input.settings;
	const knNewtonStep search = settings->impulse.newton == 1 ? KN_NEWTON_DAMPED : KN_NEWTON_GOLDEN;
	const knNewtonEquation angular =
		settings->impulse.angular == 1 ? KN_NEWTON_ANGULAR_SQUARE : KN_NEWTON_ANGULAR;
	double error = 0.0;
	knJointNewton newton;
	if (locks(solve, i, false)) {
		knJointNewton_Set(solve, i, targetOf(solve, entry), &newton);
		knNewtonResult result =
			knJointNewton_Solve(&newton, KN_NEWTON_LINEAR, search, epsilon, LINEAR_TOLERANCE);
		knPreStabilize_Push(solve, i, &newton, knMakeTwist(knZero3(), result.impulse));
		error = result.before;
	}
	if (locks(solve, i, true)) {
		knJointNewton_Set(solve, i, targetOf(solve, entry), &newton);
		knNewtonResult result = knJointNewton_Solve(&newton, angular, search, epsilon, ANGULAR_TOLERANCE);
		knPreStabilize_Push(solve, i, &newton, knMakeTwist(result.impulse, knZero3()));
		// a quaternion's difference is half the angle
		error = knMax(error, (angular == KN_NEWTON_ANGULAR ? 2.0 : 1.0) * result.before);
	}
	return error;
}
