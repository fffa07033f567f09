// The parts of an impulse step one by one, for tests of the contact phase: forces are applied, contacts found and the contact
// graph made, then the test goes on by itself.
#pragma once

#include "world/fixture.h"

#include "steppers/impulse/impulse_step.h"
#include "world/world_internal.h"

typedef struct ContactStep {
	knWorld* world;
	knError error;
	knStepContext context;
	knImpulseStep step;
} ContactStep;

// Every group sees velocities at the end of the step, all in one part, so that energies and momenta are those of blocks.u.
static inline void seeEndVelocities(knImpulseStep* step) {
	for (int b = 0; b < step->m.model->bodyCount; ++b) {
		if (step->m.stageOf[b] >= 0 && step->m.weights[b] < KN_WEIGHT_END) {
			step->m.weights[b] = KN_WEIGHT_END;
			knStepBodies_Restart(&step->m.blocks, step->m.model, step->m.state, b, KN_WEIGHT_END);
			step->m.stageOf[b] = KN_PART_END;
		}
	}
	for (int c = 0; c < step->m.contacts.chunkCount; ++c) {
		step->m.contacts.chunks[c].stage = KN_PART_END;
	}
}

// The scene is gone afterwards.
static inline void openContactStep(ContactStep* c, knScene* scene, double h) {
	knWorldDef def = knWorldDef_Default();
	knSettings settings = knSettings_Default();
	settings.articulation = KN_ARTICULATION_SWEEP; // joints stay in the phases
	def.stepper = "impulse";
	def.settings = &settings;
	*c = (ContactStep){ .world = newWorldWith(scene, &def) };
	knWorld* world = c->world;
	knArena_Clear(&world->arena);
	c->context = (knStepContext){ .model = world->model,
								  .settings = &world->settings,
								  .state = &world->state,
								  .collider = world->collider,
								  .islands = world->islands,
								  .arena = &world->arena,
								  .log = &world->log,
								  .allocator = &world->allocator,
								  .report = &world->report,
								  .error = &c->error };
	c->step = (knImpulseStep){
		.m = { .context = &c->context, .model = world->model, .state = &world->state, .h = h }
	};
	assert_int_equal(knImpulseStep_Prepare(&c->step), KN_OK);
	seeEndVelocities(&c->step);
	assert_int_equal(knMaximal_BuildLevels(&c->step.m), KN_OK);
	assert_true(knMaximal_BeginGroups(&c->step.m));
	c->step.m.known.change = NULL; // not known: nothing counts as solved
}

static inline void closeContactStep(ContactStep* c) {
	knWorld_Destroy(c->world);
}

static inline int bodyOf(const ContactStep* c, knBodyId id) {
	int body = knModel_BodyIndex(c->world->model, id);
	assert_true(body >= 0);
	return body;
}

// So many sweeps over all points.
static inline void sweepPoints(ContactStep* c, int sweeps) {
	c->world->settings.sweeps = sweeps;
	assert_true(knContactSolve_RunEnd(&c->step));
}

// J, of the bodies that move, seen from something with velocity `frame`.
static inline double kineticFrom(const knImpulseStep* step, knVec3 frame) {
	double sum = 0.0;
	for (int b = 0; b < step->m.model->bodyCount; ++b) {
		if (step->m.blocks.invMass[b] > 0.0) {
			knTwist seen = knMakeTwist(step->m.blocks.u[b].ang, knSub(step->m.blocks.u[b].lin, frame));
			sum += 0.5 * knContactGroups_Product(&step->m.known, b, seen, seen);
		}
	}
	return sum;
}

// kg m/s
static inline knVec3 momentumOf(const knImpulseStep* step) {
	knVec3 sum = knZero3();
	for (int b = 0; b < step->m.model->bodyCount; ++b) {
		if (step->m.blocks.invMass[b] > 0.0) {
			sum = knMulAdd(sum, step->m.model->mass[b], step->m.blocks.u[b].lin);
		}
	}
	return sum;
}

// A number in [-1, 1), the next of a fixed series.
static inline double nextOf(uint64_t* series) {
	*series = *series * 6364136223846793005u + 1442695040888963407u;
	return (double)(int64_t)(*series >> 11) * 0x1p-52 - 1.0;
}

static inline void disturb(const knImpulseStep* step, uint64_t* series, double speed) {
	for (int b = 0; b < step->m.model->bodyCount; ++b) {
		if (step->m.blocks.invMass[b] > 0.0) {
			knVec3 spin = knV3(nextOf(series), nextOf(series), nextOf(series));
			knVec3 lin = knV3(nextOf(series), nextOf(series), nextOf(series));
			step->m.blocks.u[b] = knAddT(step->m.blocks.u[b], knScaleT(speed, knMakeTwist(spin, lin)));
		}
	}
}
