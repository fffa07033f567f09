// Pre-stabilization of one joint to the letter (Weinstein et al. 2006, section IV): the target frame J*, limits
// included, is aimed at as a whole; first a force closes the position, then a couple, with the bodies and their target
// predicted anew, the orientation. Each is accepted once the share epsilon of its error is gone.
//
// Friction, springs and motors, which the paper leaves to the joint model, are bounds (joint_bounds.c).
#include "core/assert.h"
#include "steppers/impulse/paper/articulation_internal.h"

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

// One joint at the start of the step, as Newton's equations want it.
static void setBody(const knArticulationSolve* solve, int body, knVec3 arm, knQuat Q, knNewtonBody* out) {
	out->x = solve->input.state->pose[body].p;
	out->u = solve->u[body];
	out->invMass = solve->invMass[body];
	out->invInertia = solve->invInertia[body];
	out->arm = arm;
	out->Q = Q;
}

static void setNewton(const knArticulationSolve* solve, int i, knFrame target, knJointNewton* newton) {
	const knSolveJoint* entry = &solve->joints[i];
	const knFrame* pose = solve->input.state->pose;
	const knFrame frameP = entry->joint->frameParent, frameC = entry->joint->frameChild;
	const knFrame poseP = pose[entry->parent], poseC = pose[entry->child];
	newton->h = solve->input.h;
	knFrame place = knMulF(frameP, target);
	setBody(solve, entry->parent, knRotate(poseP.q, place.p), knMulQ(poseP.q, place.q), &newton->parent);
	setBody(solve, entry->child, knRotate(poseC.q, frameC.p), knMulQ(poseC.q, frameC.q), &newton->child);
	knJointNewton_SameCover(newton);

	// the application point lies midway between the two articulation points
	knVec3 gap = knSub(knAdd(poseC.p, newton->child.arm), knAdd(poseP.p, newton->parent.arm));
	newton->parent.lever = knMulAdd(newton->parent.arm, 0.5, gap);
	newton->child.lever = knMulAdd(newton->child.arm, -0.5, gap);
}

static void pushNewton(knArticulationSolve* solve, int i, const knJointNewton* newton, knTwist wrench) {
	knSolveJoint* entry = &solve->joints[i];
	knJointPair pair = knJointPair_Make(solve, entry, newton->parent.lever, newton->child.lever);
	knSolveJoint_Push(solve, entry, &pair, wrench, knSub(newton->child.lever, newton->child.arm));
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

double knPreStabilize_Joint(knArticulationSolve* solve, int i, double epsilon) {
	KN_ASSERT(solve->phase == KN_ARTICULATION_DYNAMICS);
	const knSolveJoint* entry = &solve->joints[i];
	if (solve->input.settings->impulse.prestabilize == 0) {
		return 0.0;
	}
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
		setNewton(solve, i, targetOf(solve, entry), &newton);
		knNewtonResult result =
			knJointNewton_Solve(&newton, KN_NEWTON_LINEAR, search, epsilon, LINEAR_TOLERANCE);
		pushNewton(solve, i, &newton, knMakeTwist(knZero3(), result.impulse));
		error = result.before;
	}
	if (locks(solve, i, true)) {
		setNewton(solve, i, targetOf(solve, entry), &newton);
		knNewtonResult result = knJointNewton_Solve(&newton, angular, search, epsilon, ANGULAR_TOLERANCE);
		pushNewton(solve, i, &newton, knMakeTwist(result.impulse, knZero3()));
		// a quaternion's difference is half the angle
		error = knMax(error, (angular == KN_NEWTON_ANGULAR ? 2.0 : 1.0) * result.before);
	}
	return error;
}
