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
#include "steppers/velocity/paper/layers.h"

#define SWEEPS 10       // section 5: "less than 10"
#define LAYER_SWEEPS 10 // the same
#define QUERIES 2       // at t and t + h
#define WEIGHTING 0.01  // a: the largest that the paper recommends

static knVelocityOptions options(const knStepContext* context) {
	static const knVelocityChoices own = {
		.sweeps = { SWEEPS, SWEEPS, SWEEPS },
		.layerSweeps = LAYER_SWEEPS,
		.queries = QUERIES,
		.friction = KN_FRICTION_BOX,
		.relaxation = KN_RELAXATION_GAUSS_SEIDEL,
	};
	return knVelocity_Options(context, &own);
}

static knStatus buildRows(knVelocityStep* step) {
	knMaximalStep* m = &step->m;
	if (!knMaximal_ReserveSwept(m)) {
		return knMaximal_OutOfMemory(m);
	}
	knContactRows_Fill(&m->contacts, &m->input, m->cold ? NULL : knStepMemory_Contacts(m->state));
	if (!knVelocity_FindGroups(step) || !knVelocity_FindSleepers(step) || !knJointSweeps_Begin(&m->swept) ||
		!knVelocity_BuildGlobalSet(step)) {
		return knMaximal_OutOfMemory(m);
	}
	knSweep_Apply(&step->global, &m->context->tasks, m->blocks.u);
	return KN_OK;
}

// --- layers ----------------------------------------------------------------------------------------------

typedef struct Paper {
	knVelocityStep* step;
	knLayers layers;
	knSweepSet layered;
} Paper;

// The set in which each body is free in one layer only. False: no memory.
static bool buildLayeredSet(Paper* paper) {
	knVelocityStep* step = paper->step;
	const knStepContext* context = step->m.context;
	// the layered set has stages of its own, so it needs its own chunks
	int count = step->m.contacts.chunkCount;
	knSweepChunk* chunks = KN_SCRATCH(context->arena, knSweepChunk, count);
	for (int i = 0; chunks != NULL && i < count; ++i) {
		chunks[i] = step->m.contacts.chunks[i];
		bool sleeps = chunks[i].stage < 0;
		chunks[i].stage = sleeps ? -1 : knLayers_Between(&paper->layers, chunks[i].a, chunks[i].b);
	}
	knSweepBlocks blocks = { .count = step->m.blocks.count,
							 .invMass = step->m.blocks.invMass,
							 .invInertia = step->m.blocks.invInertia,
							 .freeStage = paper->layers.stage };
	return chunks != NULL &&
		   knSweepSet_Build(&paper->layered, chunks, count, paper->layers.count, step->m.contacts.points,
							&blocks, step->options.friction, &context->tasks, context->arena) &&
		   knSweepRows_Build(&paper->layered.joints, &step->m.swept.rows, paper->layers.stage,
							 paper->layers.count, NULL, 0, context->arena);
}

// The layers' sweeps begin from nothing.
static bool beginLayers(Paper* paper) {
	knVelocityStep* step = paper->step;
	knContactRows* contacts = &step->m.contacts;
	for (int k = 0; k < contacts->pointCount; ++k) {
		for (int i = 0; i < 3; ++i) {
			contacts->points[k].lambda[i] = 0.0;
		}
		contacts->points[k].rolling = knZero3();
	}
	for (int b = 0; b < step->m.blocks.count; ++b) {
		step->m.correction.p[b] = knZeroTwist();
	}
	return buildLayeredSet(paper);
}

// Separations of a layer's points, between bodies that have moved; those of fast bodies are found along their way.
static void measureLayer(Paper* paper, int layer) {
	knVelocityStep* step = paper->step;
	knSweepSet* set = &paper->layered;
	const knSweepStage* stage = &set->stages[layer];
	for (int c = stage->firstColour; c < stage->firstColour + stage->colourCount; ++c) {
		for (int i = set->colours[c].first; i < set->colours[c].first + set->colours[c].count; ++i) {
			const knPack* pack = &set->packs[i];
			for (int at = pack->first; at < pack->first + pack->count; ++at) {
				for (int lane = 0; lane < KN_LANES; ++lane) {
					const int32_t source = set->source[at][lane];
					if (source >= 0) {
						set->points[at].depth[lane] = knContactCorrection_Depth(&step->m.correction, source);
					}
				}
			}
		}
	}
}

// dynamics((1 - a) h) of a layer, then its correction(). Poses are those after dynamics; what correction adds is p, and moves
// bodies after the last layer.
static void solveLayer(Paper* paper, int layer) {
	knVelocityStep* step = paper->step;
	const knStepContext* context = step->m.context;
	knSweepOptions sweeps = step->options.solver;
	sweeps.sweeps = step->options.layerSweeps;
	knSweep_Velocities(&paper->layered, layer, &sweeps, step->m.blocks.u);
	for (int i = paper->layers.first[layer]; i < paper->layers.first[layer + 1]; ++i) {
		int b = paper->layers.bodies[i];
		context->state->pose[b] = knStepBodies_EndPose(&step->m.blocks, context->state, b);
	}
	measureLayer(paper, layer);
	knSweepRows none = { 0 };
	const knSweepRows* joints = &none;
	if (step->m.swept.rows.count > 0) {
		knJointRows_FillErrors(&step->m.swept.errorList, &step->m.input, &step->m.swept.errorRows);
		knPgs_Begin(&step->m.swept.errorRows, step->m.correction.p);
		knSweepRows_Build(&step->m.swept.errors, &step->m.swept.errorRows, paper->layers.stage,
						  paper->layered.stageCount, NULL, KN_STAGE_JOINTED, context->arena);
		joints = &step->m.swept.errors;
	}
	knSweep_Correct(&paper->layered, layer, step->options.correctionSweeps, &context->tasks, joints,
					step->m.correction.p);
}

// A contact carries what both parts of the step gave it.
static void addImpulses(Paper* paper) {
	knVelocityStep* step = paper->step;
	const knContactRows* contacts = &step->m.contacts;
	knSweepSet_Store(&paper->layered, &step->m.context->tasks, contacts->points);
	for (int k = 0; k < contacts->pointCount; ++k) {
		const knSweepPoint* point = &contacts->points[k];
		knVec3* impulse = &contacts->contacts[contacts->anchors[k].contact].impulse;
		*impulse = knMulAdd(*impulse, point->lambda[0], point->n);
		*impulse = knMulAdd(*impulse, point->lambda[1], point->t1);
		*impulse = knMulAdd(*impulse, point->lambda[2], point->t2);
	}
}

// Layers look at poses of bodies moved one after the other; then all move, fast ones along their ways.
static knStatus solveLayers(Paper* paper, double span) {
	knVelocityStep* step = paper->step;
	knFrame* pose = step->m.context->state->pose;
	knFrame* before = KN_SCRATCH(step->m.context->arena, knFrame, step->m.blocks.count);
	knLayerInput input = { .bodyCount = step->m.blocks.count,
						   .invMass = step->m.blocks.invMass,
						   .chunks = step->m.contacts.chunks,
						   .chunkCount = step->m.contacts.chunkCount,
						   .islands = &step->m.islands };
	knStatus status = knMaximal_ApplyForces(&step->m, span);
	if (status != KN_OK) {
		return status;
	}
	if (before == NULL || !knLayers_Build(&paper->layers, &input, step->m.context->arena) ||
		!beginLayers(paper)) {
		return knMaximal_OutOfMemory(&step->m);
	}
	for (int b = 0; b < step->m.blocks.count; ++b) {
		before[b] = pose[b];
	}
	for (int layer = 0; layer < paper->layers.count; ++layer) {
		solveLayer(paper, layer);
	}
	for (int b = 0; b < step->m.blocks.count; ++b) {
		pose[b] = before[b];
	}
	addImpulses(paper);
	step->m.context->report->iterations += step->options.layerSweeps + step->options.correctionSweeps;
	status = knMaximal_Move(&step->m);
	if (status != KN_OK || step->m.context->arena->failed ||
		!knContactCorrection_Finish(&step->m.correction)) {
		return status != KN_OK ? status : knMaximal_OutOfMemory(&step->m);
	}
	return KN_OK;
}

// --- the step --------------------------------------------------------------------------------------------

knStatus knVelocityPaper_Step(knVelocityStep* step) {
	const double weighting = step->m.context->settings->velocity.weighting;
	step->options = options(step->m.context);
	knVelocity_BeginStep(step);
	step->m.input.bounceRows = true;
	double a = !step->options.shock ? 1.0 : weighting >= 0.0 ? weighting : WEIGHTING;

	// 1
	knStatus status = knMaximal_ApplyForces(&step->m, a * step->m.h);
	KN_THEN(status, knMaximal_FindContacts(&step->m, false));

	// 2
	KN_THEN(status, buildRows(step));
	KN_THEN(status, knVelocity_SolveGlobal(step));
	KN_THEN(status, knMaximal_Collect(&step->m));
	KN_THEN(status, knMaximal_Move(&step->m));

	// 3
	if (step->options.shock) {
		Paper paper = { .step = step };
		KN_THEN(status, solveLayers(&paper, (1.0 - a) * step->m.h));
	}

	// 4
	if (step->options.queries > 1) {
		KN_THEN(status, knVelocity_FindAgain(step));
	}

	// 5
	KN_THEN(status, knVelocity_CorrectGlobal(step));
	return status;
}
