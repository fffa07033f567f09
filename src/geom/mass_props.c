// Sums and changes of frame of mass properties.
//
//   parallel axes:  I about c = I about c1 + m1 (|d|^2 1 - d d^T),  d = c1 - c
#include "knuckle/collide.h"

// Adds mass * (|d|^2 1 - d d^T).
static knMat33 addPointMass(const knMat33* inertia, double mass, knVec3 d) {
	double dd = knDot(d, d);
	knMat33 shift = knMakeMat33(knMulAdd(knV3(dd, 0.0, 0.0), -d.x, d), knMulAdd(knV3(0.0, dd, 0.0), -d.y, d),
								knMulAdd(knV3(0.0, 0.0, dd), -d.z, d));
	knMat33 scaled = knScaleM(mass, &shift);
	return knAddMM(inertia, &scaled);
}

knMassProps knMassProps_Add(const knMassProps* a, const knMassProps* b) {
	double mass = a->mass + b->mass;
	if (!(mass > 0.0)) {
		return (knMassProps){ mass, a->center, knAddMM(&a->inertia, &b->inertia) };
	}
	knVec3 weighted = knMulAdd(knScale(a->mass, a->center), b->mass, b->center);
	knVec3 center = knScale(1.0 / mass, weighted);
	knMat33 first = addPointMass(&a->inertia, a->mass, knSub(a->center, center));
	knMat33 second = addPointMass(&b->inertia, b->mass, knSub(b->center, center));
	return (knMassProps){ mass, center, knAddMM(&first, &second) };
}

knMassProps knMassProps_Transform(const knMassProps* props, knFrame frame) {
	return (knMassProps){ props->mass, knPoint(frame, props->center),
						  knRotateTensor(frame.q, &props->inertia) };
}
