// Divergence, seen whatever the stepper: a step fails with KN_DIVERGED when
//   - the state is no longer finite,
//   - a body leaves a ball of FARTHEST sizes of the scene about its middle, or
//   - the energy E (kinetic and gravity) exceeds its budget by GROWTH times what may come and go in the scene.
//
// The budget is E at the start, plus the work that the steps report, plus what users and scripts changed between steps (E
// before a step less E after the one before). What may come and go: the kinetic energy and the springs' at the start, a fall
// by the scene's size, all that entered or left since, and blows of kinematic bodies; at least all of the scene moving by its
// size in a second, since one that starts at rest, without weight, may have joints and overlaps to close.
#include "world/world_internal.h"

#include <stdio.h>

#include "measure/measures.h"

#define FARTHEST 1e6      // sizes of the scene
#define GROWTH 1e3        // thousandfold
#define SMALLEST_SIZE 1.0 // m: one body in free flight is no scene of a centimetre
// 1/s: sizes of the scene in a second, at which all of it may move from rest (torn joints that close)
#define LEAST_RATE 1.0

// --- the scene's measure ---------------------------------------------------------------------------------------

static double plainEnergy(const knWorld* world) {
	double energy;
	if (world->ops->energy != NULL && world->ops->energy(world->model, &world->state, &energy)) {
		return energy;
	}
	return knMeasure_Kinetic(world->model, &world->state) +
		   knMeasure_GravityPotential(world->model, &world->state);
}

// Middle and half diagonal of the box about the bodies' centres, and the largest body.
static void measureScene(const knWorld* world, knDivergenceWatch* watch) {
	const knModel* model = world->model;
	const knFrame* pose = world->state.pose;
	knVec3 lower = pose[model->bodyCount > 1 ? 1 : 0].p, upper = lower;
	double largest = SMALLEST_SIZE;
	for (int b = 1; b < model->bodyCount; ++b) {
		lower = knMin3(lower, pose[b].p);
		upper = knMax3(upper, pose[b].p);
		largest = knMax(largest, model->radius[b]);
	}
	watch->center = knScale(0.5, knAdd(lower, upper));
	watch->size = largest + 0.5 * knDistance(lower, upper);
}

static double totalMass(const knModel* model) {
	double mass = 0.0;
	for (int b = 1; b < model->bodyCount; ++b) {
		mass += model->bodyKind[b] == KN_BODY_DYNAMIC ? model->mass[b] : 0.0;
	}
	return mass;
}

static void startWatch(const knWorld* world, knDivergenceWatch* watch, double energy) {
	const knModel* model = world->model;
	measureScene(world, watch);
	double mass = totalMass(model), least = LEAST_RATE * watch->size;
	double springs =
		knMeasure_Potential(model, &world->state) - knMeasure_GravityPotential(model, &world->state);
	watch->started = 1;
	watch->budget = energy;
	watch->scale = knMeasure_Kinetic(model, &world->state) + knAbs(springs) +
				   mass * knLength(world->state.header->gravity) * watch->size;
	watch->scale = knMax(watch->scale, mass * least * least);
}

// A kinematic body may strike others to twice its own speed, whatever part of that work the stepper knows of.
static double strikeEnergy(const knWorld* world) {
	const knModel* model = world->model;
	double fastest = 0.0;
	for (int b = 1; b < model->bodyCount && model->kinematicCount > 0; ++b) {
		if (model->bodyKind[b] == KN_BODY_KINEMATIC) {
			knTwist v = world->state.velocity[b];
			fastest = knMax(fastest, knLength(v.lin) + model->radius[b] * knLength(v.ang));
		}
	}
	return fastest > 0.0 ? 2.0 * totalMass(model) * fastest * fastest : 0.0;
}

void knWorld_WatchStep(knWorld* world) {
	knDivergenceWatch* watch = &world->state.header->watch;
	double energy = plainEnergy(world);
	if (watch->started == 0) {
		startWatch(world, watch, energy);
	} else {
		watch->budget += energy - watch->last;
		watch->scale += knAbs(energy - watch->last);
	}
	watch->scale = knMax(watch->scale, strikeEnergy(world));
}

// --- the check -------------------------------------------------------------------------------------------------

static knStatus refuseBody(const knWorld* world, int body, knError* error, const char* what) {
	const knStateHeader* header = world->state.header;
	char element[96];
	snprintf(element, sizeof(element), "body '%s'", knModel_BodyName(world->model, body));
	return knError_Set(error, KN_DIVERGED, element, "%s after step %llu, at %g s", what,
					   (unsigned long long)header->step + 1, header->time);
}

static knStatus refuseNumbers(const knWorld* world, knError* error) {
	const knState* state = &world->state;
	for (int b = 0; b < world->model->bodyCount; ++b) {
		if (!knIsFiniteF(state->pose[b]) || !knIsFinite3(state->velocity[b].ang) ||
			!knIsFinite3(state->velocity[b].lin)) {
			return refuseBody(world, b, error, "its motion is no longer finite");
		}
	}
	return knError_Set(error, KN_DIVERGED, "world", "a joint's coordinates are no longer finite");
}

// The body that this step has taken out of the scene; -1: none. Where users put a body is their affair.
static int findLost(const knWorld* world, const knStepContext* context, const knDivergenceWatch* watch) {
	double limit = FARTHEST * watch->size;
	bool listed = context->written != NULL && world->journal.on;
	int count = listed ? context->writtenCount : world->model->bodyCount;
	for (int k = 0; k < count; ++k) {
		int b = listed ? context->written[k] : k;
		knVec3 before = listed ? context->writtenAt[k] : world->backup.pose[b].p;
		if (b > 0 && knDistance(world->state.pose[b].p, watch->center) > limit &&
			!(knDistance(before, watch->center) > limit)) {
			return b;
		}
	}
	return -1;
}

static bool isFinite(const knWorld* world, const knStepContext* context) {
	const knState* state = &world->state;
	if (context->written == NULL || !world->journal.on) {
		return knState_IsFinite(state, world->model);
	}
	bool finite = true;
	for (int k = 0; k < context->writtenCount; ++k) {
		int b = context->written[k];
		finite = finite && knIsFiniteF(state->pose[b]) && knIsFinite3(state->velocity[b].ang) &&
				 knIsFinite3(state->velocity[b].lin);
	}
	return finite;
}

knStatus knWorld_CheckDivergence(knWorld* world, const knStepContext* context, knError* error) {
	if (!isFinite(world, context)) {
		return refuseNumbers(world, error);
	}
	knDivergenceWatch* watch = &world->state.header->watch;
	int lost = findLost(world, context, watch);
	if (lost > 0) {
		return refuseBody(world, lost, error, "it is a million times the scene's size away from it");
	}
	const knStateHeader* header = world->state.header;
	double energy = plainEnergy(world), work = world->report.work;
	watch->budget += work;
	watch->scale += knAbs(work);
	if (!(energy - watch->budget <= GROWTH * watch->scale)) {
		return knError_Set(
			error, KN_DIVERGED, "world",
			"the energy has grown by %.3g J that nothing brought in, a thousand times what is in the "
			"scene, after step %llu, at %g s",
			energy - watch->budget, (unsigned long long)header->step + 1, header->time);
	}
	watch->last = energy;
	return KN_OK;
}
