// Displacement: the largest distance of a moving (dynamic or kinematic) body's centre of mass from where it
// started.
#include "measure/measures.h"

double knMeasure_Displacement(const knModel* model, const knState* state, const knVec3* initial) {
	double largest = 0.0;
	for (int b = 1; b < model->bodyCount; ++b) {
		if (model->bodyKind[b] != KN_BODY_FIXED) {
			knVec3 start = initial != NULL ? initial[b] : model->initialPose[b].p;
			largest = knMeasure_Worse(largest, knDistance(state->pose[b].p, start));
		}
	}
	return largest;
}
