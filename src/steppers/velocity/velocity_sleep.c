// Sleeping (dynamics/sleep.h) under the velocity stepper: groups are the islands of touch and joints.
#include "steppers/velocity/velocity_step.h"

bool knVelocity_FindSleepers(knVelocityStep* step) {
	knStepContext* context = step->m.context;
	const knModel* model = context->model;
	if (context->settings->sleep <= 0) {
		return true;
	}
	const knStepMemory* memory = knStepMemory_Get(context->state);
	bool known = memory->bodyCount == model->bodyCount;
	const knSleepInput input = { .model = model,
								 .state = context->state,
								 .contacts = &step->m.contacts,
								 .group = step->m.islands.group,
								 .rest = known ? knStepMemory_Bodies(context->state) : NULL,
								 .signature = memory->signature };
	if (!knSleep_Find(&step->m.sleep, &input, context->arena)) {
		return false;
	}
	step->m.asleep = step->m.sleep.asleep;
	context->report->sleeping += step->m.sleep.count;
	for (int b = 0; b < model->bodyCount; ++b) {
		step->m.stageOf[b] = step->m.asleep[b] ? -1 : step->m.stageOf[b];
	}
	for (int i = 0; i < step->m.contacts.chunkCount; ++i) {
		knSweepChunk* chunk = &step->m.contacts.chunks[i];
		chunk->stage = step->m.asleep[chunk->a] || step->m.asleep[chunk->b] ? -1 : chunk->stage;
	}
	return true;
}

void knVelocity_QuietSleepers(knVelocityStep* step) {
	for (int b = 0; step->m.asleep != NULL && b < step->m.blocks.count; ++b) {
		if (step->m.asleep[b]) {
			step->m.blocks.u[b] = step->m.blocks.free[b] = step->m.blocks.drive[b] = knZeroTwist();
			step->m.blocks.momentum[b] = knZero3();
		}
	}
}

// What a fast body hit in its sleep keeps the velocity that it got.
static void wakeStruck(knVelocityStep* step) {
	const knModelShape* shapes = step->m.context->model->shapes;
	for (int i = 0; i < step->m.fast.hitCount; ++i) {
		const knStepContact* hit = &step->m.fast.hits[i];
		int bodies[2] = { shapes[hit->shapeA].body, shapes[hit->shapeB].body };
		for (int k = 0; k < 2; ++k) {
			step->m.sleep.asleep[bodies[k]] = 0;
			step->m.sleep.still[bodies[k]] = 0.0;
		}
	}
}

void knVelocity_RecordRest(knVelocityStep* step) {
	if (step->m.asleep == NULL) {
		return;
	}
	wakeStruck(step);
	const knModel* model = step->m.context->model;
	knState* state = step->m.context->state;
	knSleep_Record(&step->m.sleep, model, state, step->m.islands.group, step->m.start, step->m.h,
				   knStepMemory_Bodies(state));
	knStepMemory* memory = state->stepperPart;
	memory->signature = knSleep_Signature(model, state);
}
