// The motion-subspace side of FREE, which CUSTOM shares.
#pragma once

#include "model/joint.h"

void knJointFree_Coordinates(const knJoint* joint, knFrame J, const double* previous, double* q);
knFrame knJointFree_Transform(const knJoint* joint, const double* q);
void knJointFree_Subspace(const knJoint* joint, const double* q, knTwist* S);
void knJointFree_Integrate(const knJoint* joint, double* q, const double* qd, double h);
