// Shock propagation: an algorithm applied layer by layer from the ground up, the bodies below being frozen. They
// count as infinitely heavy and keep their velocities.
//
// The default scheme's algorithm has no time of its own: the global solve has taken the whole step, with all
// masses true, and its impulses carry the load; but few sweeps leave small velocities, always to the same side,
// and tall piles would creep. Sweeps over one layer after the other take them out: they continue the same
// impulses, friction bounded by the whole. The impulses of this pass are not reported and not carried on: they are those
// of infinitely heavy supports. (Carried on as a start for the same pass of the next step, they make tall stacks still
// sooner, but act like forces from outside, and a heap in a silo never comes to rest.)
//
// A frozen body that moves would be a hammer. So an assembly keeps the result only if that leaves at most half of
// its kinetic energy as seen from its supports, or if these are next to still; else it returns to the velocities of the global
// solve.

#include "core/tasks.h"
#include "steppers/velocity/velocity_step.h"

#define TALL_LAYERS 60     // piles of more layers get more sweeps
#define ENERGY_SHARE 0.5   // kinetic energy that may be left
#define STILL_SHARE 1e-4   // of it: supports that are so slow are no hammers, whatever is left
#define ENERGY_FLOOR 1e-10 // J/kg, below it anything goes
#define TRUSTED                                                                                              \
	1e-3 // of the speed that gravity gives in a step: velocities that a sweep changes less are true
#define TRUSTED_LAYERS 25.0 // in piles of at most so many layers
#define RETURNED 0.9        // share of what the layers took that comes back
#define RETURN_FLOOR 1e-3   // of the speed that gravity gives in a step: less than that does not
#define PACK_GRAIN 8
#define BODY_GRAIN 32

void knVelocity_Propagate(knVelocityStep* step, knLayerFn* algorithm) {
	for (int layer = 0; layer < step->layers.count; ++layer) {
		algorithm(step, layer);
	}
}

// --- the set ---------------------------------------------------------------------------------------------

knStatus knVelocity_BuildLayers(knVelocityStep* step, knLayersFn* build) {
	const knStepContext* context = step->context;
	knArena* arena = context->arena;
	knLayerInput input = { .bodyCount = step->blocks.count,
						   .invMass = step->blocks.invMass,
						   .poses = step->start,
						   .gravity = context->state->header->gravity,
						   .chunks = step->contacts.chunks,
						   .chunkCount = step->contacts.chunkCount,
						   .points = step->contacts.points,
						   .islands = &step->islands,
						   .tasks = &context->tasks };
	return build(&step->layers, &input, arena) && !arena->failed ? KN_OK : knVelocity_OutOfMemory(step);
}

bool knVelocity_BuildLayeredSet(knVelocityStep* step) {
	const knStepContext* context = step->context;
	// the layered set has stages of its own, so it needs its own chunks
	int count = step->contacts.chunkCount;
	knSweepChunk* chunks = KN_SCRATCH(context->arena, knSweepChunk, count);
	for (int i = 0; chunks != NULL && i < count; ++i) {
		chunks[i] = step->contacts.chunks[i];
		bool sleeps = chunks[i].stage < 0;
		chunks[i].stage = sleeps ? -1 : knLayers_Between(&step->layers, chunks[i].a, chunks[i].b);
	}
	const knSweepOptions* solver = &step->options.solver;
	uint8_t* tied = KN_SCRATCH_ZERO(context->arena, uint8_t, step->blocks.count);
	for (int b = 0; tied != NULL && b < step->blocks.count; ++b) {
		int32_t group = step->islands.group[b];
		tied[b] = group >= 0 && step->islands.jointed[group];
	}
	bool plain = solver->gamma == 0.0 && solver->omega == 1.0 && !solver->jacobi;
	knSweepBlocks blocks = { .count = step->blocks.count,
							 .invMass = step->blocks.invMass,
							 .invInertia = step->blocks.invInertia,
							 .freeStage = step->layers.stage,
							 .tied = plain ? tied : NULL };
	return chunks != NULL && tied != NULL &&
		   knSweepSet_Build(&step->layered, chunks, count, step->layers.count, step->contacts.points, &blocks,
							step->options.friction, &context->tasks, context->arena) &&
		   knSweepRows_Build(&step->layered.joints, &step->rows, step->layers.stage, step->layers.count, NULL,
							 0, context->arena);
}

// --- the guard -------------------------------------------------------------------------------------------

// Sums over an assembly, kept at its root body.
typedef struct Assembly {
	knTwist support; // sum of the velocities of the supports at the contact points
	int supports;
	double before, after; // J, kinetic energy as seen from the supports
	double carried;       // J, what it has when it goes along with them
	double mass;
} Assembly;

static void addSupport(const knVelocityStep* step, Assembly* assembly, int lower, knVec3 r) {
	knTwist u = step->blocks.u[lower];
	assembly->support.lin = knAdd(assembly->support.lin, knAdd(u.lin, knCross(u.ang, r)));
	assembly->support.ang = knAdd(assembly->support.ang, u.ang);
	assembly->supports += 1;
}

// Points of a lane between a body of the layer and one that is frozen. A body that is alone is b, and each of its points
// names the other.
static void addLane(const knVelocityStep* step, const knPack* pack, int lane, bool alone) {
	const knSweepSet* set = &step->layered;
	bool freeA = (pack->freeA >> lane & 1) != 0;
	if (((pack->freeA ^ pack->freeB) >> lane & 1) == 0) {
		return;
	}
	Assembly* assemblies = step->assemblies;
	Assembly* assembly = &assemblies[step->islands.assembly[freeA ? pack->a[lane] : pack->b[lane]]];
	for (int at = pack->first; at < pack->first + pack->count; ++at) {
		if (set->source[at][lane] >= 0) {
			const double(*r)[KN_LANES] = freeA ? set->points[at].rB : set->points[at].rA;
			int other = freeA ? pack->b[lane] : pack->a[lane];
			addSupport(step, assembly, alone ? set->frozen[at].block[lane] : other,
					   knV3(r[0][lane], r[1][lane], r[2][lane]));
		}
	}
}

static void addColour(const knVelocityStep* step, const knSweepColour* colour, int begin, int end) {
	for (int p = colour->first + begin; p < colour->first + end; ++p) {
		for (int lane = 0; lane < KN_LANES; ++lane) {
			addLane(step, &step->layered.packs[p], lane, colour->alone);
		}
	}
}

static double kineticEnergy(const knModel* model, int b, knQuat q, knTwist u) {
	knVec3 w = knInvRotate(q, u.ang);
	return 0.5 * (model->mass[b] * knLengthSquared(u.lin) + knDot(w, knMulMV(&model->inertiaLocal[b], w)));
}

typedef struct GuardTask {
	knVelocityStep* step;
	int layer;
} GuardTask;

// Packs of bodies that are alone.
static void supportAloneRange(int begin, int end, int worker, void* argument) {
	(void)worker;
	const GuardTask* task = argument;
	const knSweepSet* set = &task->step->layered;
	addColour(task->step, &set->colours[set->stages[task->layer].firstColour], begin, end);
}

// Batches share no free bodies.
static void supportBatchRange(int begin, int end, int worker, void* argument) {
	(void)worker;
	const GuardTask* task = argument;
	const knSweepSet* set = &task->step->layered;
	for (int i = begin; i < end; ++i) {
		const knSweepBatch* batch = &set->batches[set->stages[task->layer].firstBatch + i];
		for (int c = batch->firstColour; c < batch->firstColour + batch->colourCount; ++c) {
			addColour(task->step, &set->colours[c], 0, set->colours[c].count);
		}
	}
}

static void clearRange(int begin, int end, int worker, void* argument) {
	(void)worker;
	const GuardTask* task = argument;
	Assembly* assemblies = task->step->assemblies;
	const int32_t* bodies = &task->step->layers.bodies[task->step->layers.first[task->layer]];
	for (int i = begin; i < end; ++i) {
		assemblies[task->step->islands.assembly[bodies[i]]] = (Assembly){ 0 };
	}
}

static void energyRange(int begin, int end, int worker, void* argument) {
	(void)worker;
	const GuardTask* task = argument;
	const knVelocityStep* step = task->step;
	const knModel* model = step->context->model;
	Assembly* assemblies = step->assemblies;
	const int32_t* bodies = &step->layers.bodies[step->layers.first[task->layer]];
	for (int i = begin; i < end; ++i) {
		int b = bodies[i];
		Assembly* assembly = &assemblies[step->islands.assembly[b]];
		knTwist frame = knZeroTwist();
		if (assembly->supports > 0) {
			frame = knScaleT(1.0 / assembly->supports, assembly->support);
		}
		knQuat q = step->start[b].q;
		assembly->before += kineticEnergy(model, b, q, knSubT(step->saved[b], frame));
		assembly->after += kineticEnergy(model, b, q, knSubT(step->blocks.u[b], frame));
		assembly->carried += kineticEnergy(model, b, q, frame);
		assembly->mass += model->mass[b];
	}
}

static void judgeRange(int begin, int end, int worker, void* argument) {
	(void)worker;
	const GuardTask* task = argument;
	knVelocityStep* step = task->step;
	const Assembly* assemblies = step->assemblies;
	const int32_t* bodies = &step->layers.bodies[step->layers.first[task->layer]];
	for (int i = begin; i < end; ++i) {
		int b = bodies[i];
		const Assembly* assembly = &assemblies[step->islands.assembly[b]];
		bool still = assembly->supports > 0 && assembly->carried <= STILL_SHARE * assembly->before;
		step->held[b] = assembly->after <= ENERGY_SHARE * assembly->before + ENERGY_FLOOR * assembly->mass ||
						(still && assembly->after <= assembly->before);
		if (!step->held[b]) {
			step->blocks.u[b] = step->saved[b];
		}
	}
}

static void lookAndJudge(int begin, int end, int worker, void* argument) {
	energyRange(begin, end, worker, argument);
	judgeRange(begin, end, worker, argument);
}

// Where there are no joints an assembly is a body, and bodies are judged one by one.
static void guardLayer(knVelocityStep* step, int layer) {
	const knSweepSet* set = &step->layered;
	const knSweepStage* stage = &set->stages[layer];
	bool jointed = step->rows.count > 0;
	const knTasks* tasks = jointed ? NULL : &step->context->tasks;
	GuardTask task = { step, layer };
	int bodies = step->layers.first[layer + 1] - step->layers.first[layer];
	clearRange(0, bodies, 0, &task);
	if (stage->colourCount > 0 && set->colours[stage->firstColour].alone) {
		knTasks_For(tasks, set->colours[stage->firstColour].count, PACK_GRAIN, supportAloneRange, &task);
	}
	knTasks_For(tasks, stage->batchCount, 1, supportBatchRange, &task);
	if (jointed) {
		energyRange(0, bodies, 0, &task);
		judgeRange(0, bodies, 0, &task);
	} else {
		knTasks_For(tasks, bodies, BODY_GRAIN, lookAndJudge, &task);
	}
}

static void sweepLayer(knVelocityStep* step, int layer) {
	knSweepOptions options = step->options.solver;
	options.sweeps =
		step->layers.count > TALL_LAYERS ? step->options.tallLayerSweeps : step->options.layerSweeps;
	knSweep_Velocities(&step->layered, layer, &options, step->blocks.u);
	guardLayer(step, layer);
}

// What the layers took from a body may have been real: a heap that gives way, a tower about to topple. Where the global
// solve has settled, so that its velocities are more than noise, most of it comes back after the move. What sweeps leave
// over in a pile of L layers is up to L^2 times what the last of them changed.
static void noteTaken(knVelocityStep* step) {
	const knModel* model = step->context->model;
	double layers = step->layers.count, fall = knLength(step->context->state->header->gravity) * step->h;
	double trusted = fall * TRUSTED * knMin(1.0, TRUSTED_LAYERS * TRUSTED_LAYERS / (layers * layers));
	double least = 0.5 * RETURN_FLOOR * fall * RETURN_FLOOR * fall;
	for (int b = 0; b < step->blocks.count; ++b) {
		knTwist taken = knSubT(step->saved[b], step->blocks.u[b]);
		bool comesBack = step->held[b] && step->change[step->islands.group[b]] <= trusted * trusted &&
						 kineticEnergy(model, b, step->start[b].q, taken) > least * model->mass[b];
		step->saved[b] = comesBack ? knScaleT(RETURNED, taken) : knZeroTwist();
	}
}

knStatus knVelocity_ContinueLayers(knVelocityStep* step) {
	for (int b = 0; b < step->blocks.count; ++b) {
		step->saved[b] = step->blocks.u[b];
	}
	step->assemblies = KN_SCRATCH(step->context->arena, Assembly, step->blocks.count);
	step->held = KN_SCRATCH_ZERO(step->context->arena, uint8_t, step->blocks.count);
	if (step->assemblies == NULL || step->held == NULL || !knVelocity_BuildLayeredSet(step)) {
		return knVelocity_OutOfMemory(step);
	}
	knVelocity_Propagate(step, sweepLayer);
	knTimeStep_AddChanges(&step->time, step->saved);
	noteTaken(step);
	step->context->report->iterations += step->options.layerSweeps;
	return KN_OK;
}

knStatus knVelocity_ReturnVelocities(knVelocityStep* step) {
	knTwist* velocity = step->context->state->velocity;
	for (int b = 0; b < step->blocks.count; ++b) {
		velocity[b] = knMulAddT(velocity[b], 1.0 / step->blocks.weight[b], step->saved[b]);
	}
	return KN_OK;
}
