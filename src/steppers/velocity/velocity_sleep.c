// Sleeping (dynamics/sleep.h) under the velocity stepper: groups are the islands of touch and joints.
#include "steppers/velocity/velocity_step.h"

bool knVelocity_FindSleepers(knVelocityStep* step) {
	knStepContext* context = step->context;
	const knModel* model = context->model;
	if (context->settings->sleep <= 0) {
		return true;
	}
	const knStepMemory* memory = knStepMemory_Get(context->state);
	bool known = memory->bodyCount == model->bodyCount;
	const knSleepInput input = { .model = model,
								 .state = context->state,
								 .contacts = &step->contacts,
								 .group = step->islands.group,
								 .rest = known ? knStepMemory_Bodies(context->state) : NULL,
								 .signature = memory->signature };
	if (!knSleep_Find(&step->sleep, &input, context->arena)) {
		return false;
	}
	step->asleep = step->sleep.asleep;
	context->report->sleeping += step->sleep.count;
	for (int b = 0; b < model->bodyCount; ++b) {
		step->solveSet[b] = step->asleep[b] ? -1 : step->solveSet[b];
	}
	for (int i = 0; i < step->contacts.chunkCount; ++i) {
		knSweepChunk* chunk = &step->contacts.chunks[i];
		chunk->stage = step->asleep[chunk->a] || step->asleep[chunk->b] ? -1 : chunk->stage;
	}
	return true;
}

void knVelocity_QuietSleepers(knVelocityStep* step) {
	for (int b = 0; step->asleep != NULL && b < step->blocks.count; ++b) {
		if (step->asleep[b]) {
			step->blocks.u[b] = step->blocks.free[b] = step->blocks.drive[b] = knZeroTwist();
			step->blocks.momentum[b] = knZero3();
		}
	}
}

// What a fast body hit in its sleep keeps the velocity that it got.
static void wakeStruck(knVelocityStep* step) {
	const knModelShape* shapes = step->context->model->shapes;
	for (int i = 0; i < step->fast.hitCount; ++i) {
		const knStepContact* hit = &step->fast.hits[i];
		int bodies[2] = { shapes[hit->shapeA].body, shapes[hit->shapeB].body };
		for (int k = 0; k < 2; ++k) {
			step->sleep.asleep[bodies[k]] = 0;
			step->sleep.still[bodies[k]] = 0.0;
		}
	}
}

void knVelocity_RecordRest(knVelocityStep* step) {
	if (step->asleep == NULL) {
		return;
	}
	wakeStruck(step);
	const knModel* model = step->context->model;
	knState* state = step->context->state;
	knSleep_Record(&step->sleep, model, state, step->islands.group, step->start, step->h,
				   knStepMemory_Bodies(state));
	knStepMemory* memory = state->stepperPart;
	memory->signature = knSleep_Signature(model, state);
}
