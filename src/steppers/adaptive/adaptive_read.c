// What the world asks of the hybrid body between steps: motions of links that the state does not have, energies.
//
// A step leaves the poses and velocities of links stale where it can: they follow from their segments. They are brought up to
// date when all are asked for, and before anything is changed by hand.
#include "steppers/adaptive/adaptive_step.h"

// Actuators, tendons and media look at poses by themselves.
static bool isPlain(const knModel* model) {
	const knModelControl* control = &model->control;
	return control->actuatorCount + control->tendonCount + control->couplingCount + control->dragCount == 0;
}

static bool isUnchanged(knHybridForest* hybrid, const knModel* model, const knState* state) {
	*hybrid = (knHybridForest){ 0 };
	return knHybridForest_Open(hybrid, state, model) && hybrid->header->edits == state->header->edits;
}

bool knAdaptive_Journals(const knModel* model, const knState* state) {
	knHybridForest hybrid;
	return isPlain(model) && state->header->attachedCount == 0 && isUnchanged(&hybrid, model, state);
}

void knAdaptive_Sync(const knModel* model, knState* state) {
	knHybridForest hybrid = { 0 };
	if (!knHybridForest_Open(&hybrid, state, model) || !hybrid.header->stale) {
		return;
	}
	for (int k = 0; k < hybrid.header->frontCount; ++k) {
		int root = hybrid.fronts[k];
		knHybridForest_PlaceLinks(&hybrid, root, hybrid.segments[root].pose, hybrid.segments[root].velocity,
								  state->pose, state->velocity);
	}
	hybrid.header->stale = 0;
}

bool knAdaptive_Motion(const knModel* model, const knState* state, int body, knFrame* pose,
					   knTwist* velocity) {
	knHybridForest hybrid = { 0 };
	if (!knHybridForest_Open(&hybrid, state, model) || !hybrid.header->stale || hybrid.links[body].rank < 0) {
		return false;
	}
	knHybridForest_LinkMotion(&hybrid, body, pose, velocity);
	return true;
}

// Before the first step all move.
bool knAdaptive_IsActive(const knModel* model, const knState* state, int body) {
	knHybridForest hybrid = { 0 };
	if (!knHybridForest_Open(&hybrid, state, model) || hybrid.links[body].rank < 0) {
		return model->bodyKind[body] == KN_BODY_DYNAMIC;
	}
	return hybrid.segments[body].node != KN_NODE_NONE && !knHybridForest_IsGrounded(&hybrid, body);
}

// Motors turn with their axes, of joints that move.
static double carried(const knModel* model, const knState* state, int index) {
	const knJoint* joint = &model->joints[index];
	double energy = 0.0;
	for (int i = 0; i < joint->nv; ++i) {
		const double rate = joint->axis[i].armature > 0.0 ? state->v[joint->vOffset + i] : 0.0;
		energy += 0.5 * joint->axis[i].armature * rate * rate;
	}
	return energy;
}

bool knAdaptive_Energy(const knModel* model, const knState* state, double* energy) {
	knHybridForest hybrid;
	if (!isUnchanged(&hybrid, model, state)) {
		return false;
	}
	double sum = 0.0;
	for (int k = 0; k < hybrid.header->frontCount; ++k) {
		int root = hybrid.fronts[k];
		const knSegment* segment = &hybrid.segments[root];
		const knHybridNode* node = &hybrid.nodes[segment->node];
		// what is welded to the ground has no mass as a whole
		double mass = node->ground ? hybrid.nodes[node->right].mass : node->mass;
		knVec3 w = knInvRotate(segment->pose.q, segment->velocity.ang);
		sum += 0.5 * mass * knLengthSquared(segment->velocity.lin) +
			   0.5 * knDot(w, knMulMV(&node->inertia, w)) -
			   mass * model->gravityScale[root] * knDot(state->header->gravity, segment->pose.p);
		sum += hybrid.links[root].joint >= 0 ? carried(model, state, hybrid.links[root].joint) : 0.0;
	}
	*energy = sum;
	return true;
}
