// Energies, from poses and velocities alone.
//
//   kinetic    sum of 1/2 m v.v + 1/2 w.(R I R^T) w       over dynamic bodies (the others have no mass)
//   potential  sum of -m s g.x   (s the body's gravity scale, zero at the world's origin)
//              + the springs of the enabled joints
#include "measure/measures.h"
#include "model/joint_parts.h"

double knMeasure_Kinetic(const knModel* model, const knState* state) {
	double energy = 0.0;
	for (int b = 1; b < model->bodyCount; ++b) {
		if (model->bodyKind[b] == KN_BODY_DYNAMIC) {
			knTwist v = state->velocity[b];
			knVec3 w = knInvRotate(state->pose[b].q, v.ang);
			energy += 0.5 * model->mass[b] * knLengthSquared(v.lin);
			energy += 0.5 * knDot(w, knMulMV(&model->inertiaLocal[b], w));
		}
	}
	// motors turn or slide with their axes
	for (int j = 0; j < knState_JointCount(model); ++j) {
		if (knState_JointActive(state, model, j)) {
			const knJoint* joint = knState_Joint(state, model, j);
			for (int i = 0; i < joint->nv; ++i) {
				const double rate = joint->axis[i].armature > 0.0 ? state->v[joint->vOffset + i] : 0.0;
				energy += 0.5 * joint->axis[i].armature * rate * rate;
			}
		}
	}
	return energy;
}

double knMeasure_GravityPotential(const knModel* model, const knState* state) {
	knVec3 gravity = state->header->gravity;
	double energy = 0.0;
	for (int b = 1; b < model->bodyCount; ++b) {
		if (model->bodyKind[b] == KN_BODY_DYNAMIC) {
			energy -= model->mass[b] * model->gravityScale[b] * knDot(gravity, state->pose[b].p);
		}
	}
	return energy;
}

double knMeasure_Potential(const knModel* model, const knState* state) {
	double energy = knMeasure_GravityPotential(model, state);
	for (int j = 0; j < knState_JointCount(model); ++j) {
		if (knState_JointActive(state, model, j)) {
			const knJoint* joint = knState_Joint(state, model, j);
			double q[KN_JOINT_MAX_Q] = { 0.0 };
			knMeasure_JointFrame(state, joint, q);
			energy += knJoint_SpringEnergy(joint, q);
		}
	}
	return energy;
}
