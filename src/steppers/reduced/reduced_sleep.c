// Sleeping (dynamics/sleep.h) of islands of trees: a world whose islands are all asleep costs the search for contacts.
#include "steppers/reduced/reduced_step.h"

#include <string.h>

bool knReduced_FindSleepers(knReducedStep* world, const knReducedIslands* islands) {
	knStepContext* context = world->context;
	// inside a step of another stepper bodies stay awake: it alone knows what touches them
	if (context->settings->sleep <= 0 || context->findContacts != NULL) {
		return true;
	}
	const knReducedMemory* memory = knReducedMemory_Get(context->state, context->model);
	const knSleepInput input = { .model = context->model,
								 .state = context->state,
								 .contacts = &world->list,
								 .group = islands->group,
								 .rest = knReducedMemory_Rest(context->state),
								 .signature = memory->signature };
	bool found = knSleep_Find(&world->sleep, &input, context->arena);
	context->report->sleeping += world->sleep.count;
	return found;
}

bool knReduced_IsAsleep(const knReducedStep* world, int body) {
	return world->sleep.asleep != NULL && world->sleep.asleep[body];
}

void knReduced_KeepIsland(const knReducedIslands* islands, int k, knReducedStep* world) {
	for (int i = islands->linkFirst[k]; i < islands->linkFirst[k + 1]; ++i) {
		const knForestLink* link = &world->forest.links[islands->links[i]];
		memcpy(world->q + link->qOffset, world->q0 + link->qOffset, (size_t)link->nq * sizeof(double));
		memset(world->v + link->vOffset, 0, (size_t)link->nv * sizeof(double));
	}
	for (int i = islands->contactFirst[k]; i < islands->contactFirst[k + 1]; ++i) {
		knReducedContact* contact = &world->contacts[islands->contacts[i]];
		memcpy(contact->sum, contact->lambda, sizeof(contact->sum));
	}
}

void knReduced_RecordRest(knReducedStep* world, const knReducedIslands* islands) {
	if (world->sleep.asleep == NULL) {
		return;
	}
	const knModel* model = world->context->model;
	knState* state = world->context->state;
	knRestMemory* rest = knReducedMemory_Rest(state);
	knSleep_Record(&world->sleep, model, state, islands->group, world->start, world->h, rest);
	for (int b = 0; b < model->bodyCount; ++b) {
		knTwist v = state->velocity[b];
		if (islands->group[b] >= 0 && knDotT(v, v) == 0.0) {
			memset(knReducedMemory_Links(state)[b].v, 0, sizeof(knReducedMemory_Links(state)[b].v));
		}
	}
	knReducedMemory* memory = state->stepperPart;
	memory->signature = knSleep_Signature(model, state);
}
