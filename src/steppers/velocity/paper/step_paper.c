// The velocity stepper as published (Erleben 2007, section 5): the time h of a step is divided between a global solve,
// the share a, and a layered one.
//
//   1 contacts at t
//   2 dynamics(a h) on every group
//   3 for layers from the ground up, the bodies below fixed:  dynamics((1 - a) h);  correction()
//   4 contacts at t + h
//   5 correction() on every group
//
//   dynamics(k)    lambda = 0;  u' = u + W (J^T lambda + k f),  w = J u' + b,  lo <= lambda <= hi complementary to w;  s += k u'
//                  friction: a pyramid with fixed sides;  b = e min(0, J_n u): Newton's law of impact, in the rows
//   correction()   w = J_n W J_n^T lambda + d,  0 <= lambda complementary to w >= 0;  s += W J_n^T lambda
//
// d are separations where the bodies of the layer have just moved to, those below where they came to rest. An interface
// carries the share a of the weight above it: docs/methods/velocity.md, "Why not as published".

#include "steppers/velocity/paper/step_paper.h"

#include "solve/pgs.h"

#define SWEEPS 10       // section 5: "less than 10"
#define LAYER_SWEEPS 10 // the same
#define QUERIES 2       // at t and t + h
#define WEIGHTING 0.01  // a: the largest that the paper recommends

static knVelocityOptions options(const knStepContext* context) {
	static const knVelocityChoices own = {
		.sweeps = { SWEEPS, SWEEPS, SWEEPS, SWEEPS },
		.layerSweeps = LAYER_SWEEPS,
		.queries = QUERIES,
		.friction = KN_FRICTION_BOX,
		.relaxation = KN_RELAXATION_GAUSS_SEIDEL,
	};
	knVelocityOptions chosen = knVelocity_Options(context, &own);
	chosen.bounceRows = true;
	return chosen;
}

static knStatus buildRows(knVelocityStep* step) {
	const knState* state = step->context->state;
	bool warm = step->options.warmStart;
	if (!knVelocity_ReserveRows(step)) {
		return knVelocity_OutOfMemory(step);
	}
	knContactRows_Fill(&step->contacts, &step->input, warm ? knStepMemory_Contacts(state) : NULL);
	if (!knVelocity_FindGroups(step) || !knVelocity_FindSleepers(step)) {
		return knVelocity_OutOfMemory(step);
	}
	if (!knJointSweeps_Begin(&step->swept) || !knVelocity_BuildGlobalSet(step)) {
		return knVelocity_OutOfMemory(step);
	}
	knSweep_Apply(&step->global, &step->context->tasks, step->blocks.u);
	return KN_OK;
}

// --- layers ----------------------------------------------------------------------------------------------

// The set in which each body is free in one layer only. False: no memory.
static bool buildLayeredSet(knVelocityStep* step) {
	const knStepContext* context = step->context;
	// the layered set has stages of its own, so it needs its own chunks
	int count = step->contacts.chunkCount;
	knSweepChunk* chunks = KN_SCRATCH(context->arena, knSweepChunk, count);
	for (int i = 0; chunks != NULL && i < count; ++i) {
		chunks[i] = step->contacts.chunks[i];
		bool sleeps = chunks[i].stage < 0;
		chunks[i].stage = sleeps ? -1 : knLayers_Between(&step->layers, chunks[i].a, chunks[i].b);
	}
	knSweepBlocks blocks = { .count = step->blocks.count,
							 .invMass = step->blocks.invMass,
							 .invInertia = step->blocks.invInertia,
							 .freeStage = step->layers.stage };
	return chunks != NULL &&
		   knSweepSet_Build(&step->layered, chunks, count, step->layers.count, step->contacts.points, &blocks,
							step->options.friction, &context->tasks, context->arena) &&
		   knSweepRows_Build(&step->layered.joints, &step->swept.rows, step->layers.stage, step->layers.count,
							 NULL, 0, context->arena);
}

// The layers' sweeps begin from nothing.
static bool beginLayers(knVelocityStep* step) {
	knContactRows* contacts = &step->contacts;
	for (int k = 0; k < contacts->pointCount; ++k) {
		for (int i = 0; i < 3; ++i) {
			contacts->points[k].lambda[i] = 0.0;
		}
		contacts->points[k].rolling = knZero3();
	}
	for (int b = 0; b < step->blocks.count; ++b) {
		step->correction.p[b] = knZeroTwist();
	}
	return buildLayeredSet(step);
}

// Separations of a layer's points, between bodies that have moved; those of fast bodies are found along their way.
static void measureLayer(knVelocityStep* step, int layer) {
	knSweepSet* set = &step->layered;
	const knSweepStage* stage = &set->stages[layer];
	for (int c = stage->firstColour; c < stage->firstColour + stage->colourCount; ++c) {
		for (int i = set->colours[c].first; i < set->colours[c].first + set->colours[c].count; ++i) {
			const knPack* pack = &set->packs[i];
			for (int at = pack->first; at < pack->first + pack->count; ++at) {
				for (int lane = 0; lane < KN_LANES; ++lane) {
					const int32_t source = set->source[at][lane];
					if (source >= 0) {
						set->points[at].depth[lane] = knContactCorrection_Depth(&step->correction, source);
					}
				}
			}
		}
	}
}

// dynamics((1 - a) h) of a layer, then its correction(). Poses are those after dynamics; what correction adds is p, and moves
// bodies after the last layer.
static void solveLayer(knVelocityStep* step, int layer) {
	const knStepContext* context = step->context;
	knSweepOptions sweeps = step->options.solver;
	sweeps.sweeps = step->options.layerSweeps;
	knSweep_Velocities(&step->layered, layer, &sweeps, step->blocks.u);
	for (int i = step->layers.first[layer]; i < step->layers.first[layer + 1]; ++i) {
		int b = step->layers.bodies[i];
		context->state->pose[b] = knStepBodies_EndPose(&step->blocks, context->state, b);
	}
	measureLayer(step, layer);
	knSweepRows none = { 0 };
	const knSweepRows* joints = &none;
	if (step->swept.rows.count > 0) {
		knJointRows_FillErrors(&step->swept.errorList, &step->input, &step->swept.errorRows);
		knPgs_Begin(&step->swept.errorRows, step->correction.p);
		knSweepRows_Build(&step->swept.errors, &step->swept.errorRows, step->layers.stage,
						  step->layered.stageCount, NULL, KN_STAGE_JOINTED, context->arena);
		joints = &step->swept.errors;
	}
	knSweep_Correct(&step->layered, layer, step->options.correctionSweeps, &context->tasks, joints,
					step->correction.p);
}

// A contact carries what both parts of the step gave it.
static void addImpulses(knVelocityStep* step) {
	const knContactRows* contacts = &step->contacts;
	knSweepSet_Store(&step->layered, &step->context->tasks, contacts->points);
	for (int k = 0; k < contacts->pointCount; ++k) {
		const knSweepPoint* point = &contacts->points[k];
		knVec3* impulse = &contacts->contacts[contacts->anchors[k].contact].impulse;
		*impulse = knMulAdd(*impulse, point->lambda[0], point->n);
		*impulse = knMulAdd(*impulse, point->lambda[1], point->t1);
		*impulse = knMulAdd(*impulse, point->lambda[2], point->t2);
	}
}

// Layers look at poses of bodies moved one after the other; then all move, fast ones along their ways.
static knStatus solveLayers(knVelocityStep* step) {
	knFrame* pose = step->context->state->pose;
	knFrame* before = KN_SCRATCH(step->context->arena, knFrame, step->blocks.count);
	if (before == NULL || !beginLayers(step)) {
		return knVelocity_OutOfMemory(step);
	}
	for (int b = 0; b < step->blocks.count; ++b) {
		before[b] = pose[b];
	}
	for (int layer = 0; layer < step->layers.count; ++layer) {
		solveLayer(step, layer);
	}
	for (int b = 0; b < step->blocks.count; ++b) {
		pose[b] = before[b];
	}
	addImpulses(step);
	step->context->report->iterations += step->options.layerSweeps + step->options.correctionSweeps;
	knStatus status = knVelocity_Move(step);
	if (status != KN_OK || step->context->arena->failed || !knContactCorrection_Finish(&step->correction)) {
		return status != KN_OK ? status : knVelocity_OutOfMemory(step);
	}
	return KN_OK;
}

// --- the step --------------------------------------------------------------------------------------------

knStatus knVelocityPaper_Step(knVelocityStep* step) {
	const double weighting = step->context->settings->velocity.weighting;
	step->options = options(step->context);
	double a = !step->options.shock ? 1.0 : weighting >= 0.0 ? weighting : WEIGHTING;

	// 1
	knStatus status = knVelocity_ApplyForces(step, a * step->h);
	KN_THEN(status, knVelocity_FindContacts(step, false));

	// 2
	KN_THEN(status, buildRows(step));
	KN_THEN(status, knVelocity_SolveGlobal(step));
	KN_THEN(status, knVelocity_Collect(step));
	KN_THEN(status, knVelocity_Move(step));

	// 3
	if (step->options.shock) {
		KN_THEN(status, knVelocity_BuildLayers(step, knLayers_BuildBreadthFirst));
		KN_THEN(status, knVelocity_ApplyForces(step, (1.0 - a) * step->h));
		KN_THEN(status, solveLayers(step));
	}

	// 4
	if (step->options.queries > 1) {
		KN_THEN(status, knVelocity_FindAgain(step));
	}

	// 5
	KN_THEN(status, knVelocity_CorrectGlobal(step));
	return status;
}
