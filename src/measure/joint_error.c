// Joint error: how far a joint's frame is from the closest one that the joint and its limits allow.
//
//   J         the child's joint frame seen from the parent's, from the two poses
//   allowed   the closest frame to J (knJoint_ProjectLimits)
//   distance  |J.p - allowed.p|         angle  |log(allowed.q^-1 J.q)|
//
// Motion along a free axis is no error; motion beyond its limit is.
#include "measure/measures.h"
#include "model/joint_parts.h"

knFrame knMeasure_JointFrame(const knState* state, const knJoint* joint, double q[KN_JOINT_MAX_Q]) {
	knFrame J = knJoint_Frame(joint, state->pose[joint->parent], state->pose[joint->child]);
	knJointOps_Get(joint->kind)->coordinates(joint, J, state->q + joint->qOffset, q);
	return J;
}

knJointError knMeasure_Joint(const knModel* model, const knState* state, int joint) {
	knJointError error = { 0.0, 0.0 };
	const knJoint* compiled = knState_Joint(state, model, joint);
	if (compiled == NULL) {
		return error;
	}
	double q[KN_JOINT_MAX_Q] = { 0.0 };
	knFrame J = knMeasure_JointFrame(state, compiled, q);
	knFrame allowed = knJoint_ProjectLimits(compiled, J, q);
	error.distance = knDistance(J.p, allowed.p);
	error.angle = knLength(knQuat_Log(knInvMulQ(allowed.q, J.q)));
	return error;
}

knJointErrors knMeasure_Joints(const knModel* model, const knState* state) {
	knJointErrors errors = { 0.0, 0.0, 0.0 };
	double sum = 0.0;
	int enabled = 0;
	for (int j = 0; j < knState_JointCount(model); ++j) {
		if (!knState_JointActive(state, model, j)) {
			continue;
		}
		knJointError error = knMeasure_Joint(model, state, j);
		errors.maxDistance = knMeasure_Worse(errors.maxDistance, error.distance);
		errors.maxAngle = knMeasure_Worse(errors.maxAngle, error.angle);
		sum += error.distance;
		enabled += 1;
	}
	errors.meanDistance = enabled > 0 ? sum / enabled : 0.0;
	return errors;
}
