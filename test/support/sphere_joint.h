// A user's joint for tests: the child's joint origin stays on a sphere of radius 1 about the parent's.
#pragma once

#include "knuckle/scene.h"

static inline knFrame testOntoSphere(knFrame joint, void* context) {
	(void)context;
	joint.p = knNormalize(joint.p);
	return joint;
}

static inline knTwist testAlongSphere(knFrame joint, knTwist velocity, void* context) {
	(void)context;
	knVec3 n = knNormalize(joint.p);
	velocity.lin = knMulAdd(velocity.lin, -knDot(n, velocity.lin), n);
	return velocity;
}

static const knCustomJoint testSphereJoint = { testOntoSphere, testAlongSphere, NULL };
