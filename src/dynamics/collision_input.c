// What the collider is asked in a step. The envelope eps_c is 1 % of a body's size, at most 5 mm (Erleben
// 3.8); two bodies meet within half of each one's, plus what they can go in the step (search_margins.h).

#include "dynamics/collision_input.h"

#include "core/sort.h"

#define ENVELOPE_SHARE 0.01
#define ENVELOPE_LIMIT 0.005 // m

static bool pairBefore(const void* a, const void* b, void* context) {
	(void)context;
	const knFramePair *p = a, *q = b;
	return p->a < q->a || (p->a == q->a && p->b < q->b);
}

double knCollisionEnvelope_OfRadius(double radius) {
	return knMin(2.0 * ENVELOPE_SHARE * radius, ENVELOPE_LIMIT);
}

double knCollisionEnvelope(const knModel* model, int body) {
	return knCollisionEnvelope_OfRadius(model->radius[body]);
}

bool knCollisionInput_Make(knCollideInput* input, const knModel* model, const knState* state,
						   const double* margins, const knTasks* tasks, knArena* arena) {
	*input = (knCollideInput){ .frames = state->pose, .margins = margins };
	if (model->shapeCount > 0) {
		input->shapeActive = state->shapeEnabled;
	}
	if (tasks != NULL) {
		input->tasks = *tasks;
	}
	if (state->header->attachedCount == 0) {
		return true;
	}
	knFramePair* pairs = KN_SCRATCH(arena, knFramePair, model->jointCapacity);
	if (pairs == NULL) {
		return false;
	}
	int count = 0;
	for (int k = 0; k < model->jointCapacity; ++k) {
		const knJoint* joint = &state->attached[k];
		if (state->joint[model->jointCount + k].inUse && !joint->collide) {
			bool ordered = joint->parent < joint->child;
			pairs[count++] = (knFramePair){ .a = ordered ? joint->parent : joint->child,
											.b = ordered ? joint->child : joint->parent };
		}
	}
	input->excluded = pairs;
	input->excludedCount = count;
	return knSort_Merge(pairs, count, sizeof(*pairs), pairBefore, NULL, arena);
}
