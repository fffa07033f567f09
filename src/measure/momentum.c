// Momentum of the dynamic bodies.
//
//   M = sum m     c = sum m x / M     P = sum m v
//   L = sum of R I R^T w + m (x - c) x (v - P/M)      about c
//
// Taking the mean velocity off changes nothing in exact arithmetic and keeps the digits of a fast-flying
// group.
#include "measure/measures.h"

knMomentum knMeasure_Momentum(const knModel* model, const knState* state) {
	knMomentum sum = { 0.0, knZero3(), knZero3(), knZero3() };
	for (int b = 1; b < model->bodyCount; ++b) {
		if (model->bodyKind[b] == KN_BODY_DYNAMIC) {
			sum.mass += model->mass[b];
			sum.center = knMulAdd(sum.center, model->mass[b], state->pose[b].p);
			sum.linear = knMulAdd(sum.linear, model->mass[b], state->velocity[b].lin);
		}
	}
	if (!(sum.mass > 0.0)) {
		return sum;
	}
	sum.center = knScale(1.0 / sum.mass, sum.center);
	knVec3 mean = knScale(1.0 / sum.mass, sum.linear);

	for (int b = 1; b < model->bodyCount; ++b) {
		if (model->bodyKind[b] == KN_BODY_DYNAMIC) {
			knFrame pose = state->pose[b];
			knVec3 wLocal = knInvRotate(pose.q, state->velocity[b].ang);
			knVec3 spin = knRotate(pose.q, knMulMV(&model->inertiaLocal[b], wLocal));
			knVec3 orbit = knCross(knSub(pose.p, sum.center), knSub(state->velocity[b].lin, mean));
			sum.angular = knMulAdd(knAdd(sum.angular, spin), model->mass[b], orbit);
		}
	}
	return sum;
}
