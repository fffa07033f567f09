// All measures that need no collision query, in one struct.
#include "measure/measures.h"

knMeasures knMeasure_All(const knModel* model, const knState* state, const knVec3* initial) {
	knJointErrors joints = knMeasure_Joints(model, state);
	knMomentum momentum = knMeasure_Momentum(model, state);
	knMeasures all = {
		.jointError = joints.maxDistance,
		.jointErrorMean = joints.meanDistance,
		.jointAngleError = joints.maxAngle,
		.kinetic = knMeasure_Kinetic(model, state),
		.potential = knMeasure_Potential(model, state),
		.momentum = momentum.linear,
		.angularMomentum = momentum.angular,
		.center = momentum.center,
		.displacement = knMeasure_Displacement(model, state, initial),
	};
	// a finite state may still have an energy that overflows
	all.finite = knState_IsFinite(state, model) && knIsFinite(all.jointError) &&
				 knIsFinite(all.jointErrorMean) && knIsFinite(all.jointAngleError) &&
				 knIsFinite(all.kinetic) && knIsFinite(all.potential) && knIsFinite3(all.momentum) &&
				 knIsFinite3(all.angularMomentum) && knIsFinite3(all.center) && knIsFinite(all.displacement);
	return all;
}
