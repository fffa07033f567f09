// Moving, and projection error correction (Erleben 2007, section 3.5): displacements p that leave no overlap and
// no joint error, by normal rows and depths alone. Velocities are not touched, so it adds no kinetic energy.
//
//   w = A_n lambda + d,  0 <= lambda complementary to w >= 0,  p = W J_n^T lambda
//
// d is the separation at the present poses, measured between the places on the two bodies that touched when the
// contact was found; rows with room take part, so that a push does not make new overlaps. Within one correction
// the depths follow p linearly; before the next they are measured anew.
//
// Where nothing fixed is near, moving bodies apart changes the moments of their momenta; the group gets that back
// as one rigid rotation, so angular momentum is conserved to round-off.

#include "core/tasks.h"
#include "solve/pgs.h"
#include "steppers/velocity/velocity_step.h"

#define TURN_LIMIT 0.2 // rad a correction
#define BODY_GRAIN 64
#define LAYERED_OVERLAP                                                                                      \
	1e-3 // of the envelope: less than that anywhere is left to the correction of the whole world
#define NEWTON_ROUNDS 8       // of the global correction, while joints are apart
#define NEWTON_TOLERANCE 1e-6 // m or rad

knStatus knVelocity_Move(knVelocityStep* step) {
	knStepContext* context = step->context;
	step->depthsKnown = false;
	knFastMoveInput in = { .model = context->model,
						   .state = context->state,
						   .blocks = &step->blocks,
						   .collider = context->collider,
						   .lookedAhead = context->settings->scheme != KN_SCHEME_PAPER,
						   .contacts = &step->contacts,
						   .tasks = context->tasks,
						   .arena = context->arena };
	bool moved = knFastBodies_Find(&step->fast, in.model, in.state, in.blocks, in.arena) &&
				 knFastBodies_Move(&step->fast, &in) &&
				 knFastBodies_Publish(&step->fast, &context->contacts, &context->contactCount, in.arena);
	knVelocity_LandBounces(step);
	return moved ? KN_OK : knVelocity_OutOfMemory(step);
}

// --- angular momentum of free groups ---------------------------------------------------------------------

// Sums over a group, kept at its root body.
typedef struct GroupSum {
	double mass;
	knVec3 center, velocity; // first sums, then means
	knVec3 before, after;    // angular momentum about the centre
	knMat33 inertia;         // of the whole about the centre
} GroupSum;

static knVec3 spinOf(const knModel* model, const knState* state, int b) {
	knQuat q = state->pose[b].q;
	return knRotate(q, knMulMV(&model->inertiaLocal[b], knInvRotate(q, state->velocity[b].ang)));
}

static bool floats(const knVelocityStep* step, int b) {
	int32_t group = step->islands.group[b];
	return group >= 0 && !step->islands.anchored[group] && step->islands.linked[group];
}

static void sumCenters(const knVelocityStep* step, GroupSum* sums) {
	const knModel* model = step->context->model;
	const knState* state = step->context->state;
	for (int b = 0; b < model->bodyCount; ++b) {
		if (floats(step, b)) {
			GroupSum* sum = &sums[step->islands.group[b]];
			sum->mass += model->mass[b];
			sum->center = knMulAdd(sum->center, model->mass[b], state->pose[b].p);
			sum->velocity = knMulAdd(sum->velocity, model->mass[b], state->velocity[b].lin);
		}
	}
	for (int b = 0; b < model->bodyCount; ++b) {
		if (sums[b].mass > 0.0) {
			sums[b].center = knScale(1.0 / sums[b].mass, sums[b].center);
			sums[b].velocity = knScale(1.0 / sums[b].mass, sums[b].velocity);
		}
	}
}

static knVec3 momentOf(const knVelocityStep* step, const GroupSum* sum, int b) {
	const knModel* model = step->context->model;
	const knState* state = step->context->state;
	knVec3 arm = knSub(state->pose[b].p, sum->center);
	knVec3 relative = knSub(state->velocity[b].lin, sum->velocity);
	return knAdd(spinOf(model, state, b), knScale(model->mass[b], knCross(arm, relative)));
}

static void sumBefore(const knVelocityStep* step, GroupSum* sums) {
	sumCenters(step, sums);
	for (int b = 0; b < step->blocks.count; ++b) {
		if (floats(step, b)) {
			GroupSum* sum = &sums[step->islands.group[b]];
			sum->before = knAdd(sum->before, momentOf(step, sum, b));
		}
	}
}

// Corrections keep the centre of a group's mass, so it is the same point afterwards.
static void restoreMoments(const knVelocityStep* step, GroupSum* sums) {
	const knModel* model = step->context->model;
	knState* state = step->context->state;
	for (int b = 0; b < step->blocks.count; ++b) {
		if (floats(step, b)) {
			GroupSum* sum = &sums[step->islands.group[b]];
			sum->after = knAdd(sum->after, momentOf(step, sum, b));
			knVec3 r = knSub(state->pose[b].p, sum->center);
			knMat33 skew = knSkew(r), square = knMulMM(&skew, &skew);
			knMat33 shift = knScaleM(-model->mass[b], &square);
			knMat33 own = knRotateTensor(state->pose[b].q, &model->inertiaLocal[b]);
			own = knAddMM(&own, &shift);
			sum->inertia = knAddMM(&sum->inertia, &own);
		}
	}
	for (int b = 0; b < step->blocks.count; ++b) {
		if (sums[b].mass > 0.0) {
			knMat33 inverse = knInverse33(&sums[b].inertia);
			sums[b].after = knMulMV(&inverse, knSub(sums[b].before, sums[b].after));
		}
	}
	for (int b = 0; b < step->blocks.count; ++b) {
		if (floats(step, b)) {
			const GroupSum* sum = &sums[step->islands.group[b]];
			knTwist* velocity = &state->velocity[b];
			knVec3 arm = knSub(state->pose[b].p, sum->center);
			velocity->ang = knAdd(velocity->ang, sum->after);
			velocity->lin = knAdd(velocity->lin, knCross(sum->after, arm));
		}
	}
}

// --- corrections -----------------------------------------------------------------------------------------

// Where fast bodies end is found along their way: they may be far from the contacts of the start.
static void leaveFastBodies(knVelocityStep* step) {
	for (int k = 0; step->fast.count > 0 && k < step->contacts.pointCount; ++k) {
		const knContactAnchor* anchor = &step->contacts.anchors[k];
		const uint8_t* kind = step->fast.kind;
		if (kind[anchor->bodyA] != KN_FAST_NOT || kind[anchor->bodyB] != KN_FAST_NOT) {
			step->contacts.points[k].depth = KN_OUT_OF_REACH_GAP;
		}
	}
}

// At the present poses, unless they are known.
static void measureDepths(knVelocityStep* step) {
	if (!step->depthsKnown) {
		knContactRows_Depths(&step->contacts, step->start, step->context->state->pose, step->blocks.count,
							 step->turns, &step->context->tasks);
		if (step->time.contacts != NULL) {
			knTimeStep_Depths(&step->time);
		}
		leaveFastBodies(step);
		step->depthsKnown = true;
	}
}

// Errors at the present poses, for the contacts of `set` (their depths are known) and for the joints.
static bool beginCorrection(knVelocityStep* step, knSweepSet* set, const int32_t* stageOf,
							knSweepRows* joints) {
	knStepContext* context = step->context;
	knSweepSet_LoadDepths(set, &context->tasks, step->contacts.points);
	knJointRows_FillErrors(&step->errorList, &step->input, &step->errorRows);
	for (int b = 0; b < step->blocks.count; ++b) {
		step->p[b] = knZeroTwist();
	}
	knPgs_Begin(&step->errorRows, step->p);
	knDirectRows* direct = NULL;
	if (set == &step->global && step->options.directJoints && step->errorRows.count > 0) {
		direct = &step->direct;
		if (!knDirectRows_Build(direct, &step->errorRows, context->arena)) {
			return false;
		}
	}
	return knSweepRows_Build(joints, &step->errorRows, stageOf, set->stageCount, direct, KN_STAGE_JOINTED,
							 context->arena);
}

static void displaceRange(int begin, int end, int worker, void* argument) {
	(void)worker;
	const knVelocityStep* step = argument;
	knFrame* pose = step->context->state->pose;
	for (int b = begin; b < end; ++b) {
		knTwist p = step->p[b];
		if (step->blocks.invMass[b] > 0.0 && knDotT(p, p) > 0.0) {
			double angle = knLength(p.ang);
			p.ang = angle > TURN_LIMIT ? knScale(TURN_LIMIT / angle, p.ang) : p.ang;
			pose[b] = knMovePose(pose[b], p, 1.0);
		}
	}
}

static bool finishCorrection(knVelocityStep* step) {
	const knTasks* tasks = &step->context->tasks;
	bool floating = false;
	step->depthsKnown = false;
	for (int b = 0; b < step->blocks.count && !floating; ++b) {
		floating = floats(step, b);
	}
	if (!floating) {
		knTasks_For(tasks, step->blocks.count, BODY_GRAIN, displaceRange, step);
		return true;
	}
	GroupSum* sums = KN_SCRATCH_ZERO(step->context->arena, GroupSum, step->blocks.count);
	if (sums == NULL) {
		return false;
	}
	sumBefore(step, sums);
	knTasks_For(tasks, step->blocks.count, BODY_GRAIN, displaceRange, step);
	restoreMoments(step, sums);
	return true;
}

// Layers are for overlaps that a few sweeps over the whole world would only pass on.
static bool overlapsDeeply(const knVelocityStep* step) {
	const knModel* model = step->context->model;
	for (int i = 0; i < step->contacts.chunkCount; ++i) {
		const knSweepChunk* chunk = &step->contacts.chunks[i];
		double limit = -LAYERED_OVERLAP * knContactRows_Envelope(model, chunk->a, chunk->b);
		for (int k = chunk->first; k < chunk->first + chunk->count; ++k) {
			if (step->contacts.points[k].depth < limit) {
				return true;
			}
		}
	}
	return false;
}

static void correctLayer(knVelocityStep* step, int layer) {
	knSweep_Correct(&step->layered, layer, step->options.correctionSweeps, &step->context->tasks,
					&step->errors, step->p);
	// what the guard let go on moving would be hammered out of the way by infinitely heavy supports
	for (int i = step->layers.first[layer]; i < step->layers.first[layer + 1] && step->held != NULL; ++i) {
		int b = step->layers.bodies[i];
		step->p[b] = step->held[b] ? step->p[b] : knZeroTwist();
	}
}

knStatus knVelocity_CorrectLayers(knVelocityStep* step) {
	bool paper = step->context->settings->scheme == KN_SCHEME_PAPER;
	measureDepths(step);
	if (!paper && step->rows.count == 0 && !overlapsDeeply(step)) {
		return KN_OK;
	}
	if (!beginCorrection(step, &step->layered, step->layers.stage, &step->errors)) {
		return knVelocity_OutOfMemory(step);
	}
	knVelocity_Propagate(step, correctLayer);
	step->context->report->iterations += step->options.correctionSweeps;
	return finishCorrection(step) ? KN_OK : knVelocity_OutOfMemory(step);
}

// The largest error of a locked row, m or rad.
static double worstJoint(const knVelocityStep* step) {
	double worst = 0.0;
	for (int i = 0; i < step->direct.count; ++i) {
		worst = knMax(worst, knAbs(step->errorRows.items[step->direct.order[i]].bias));
	}
	return worst;
}

// Joints that turned far in a step are closed by more than one linear correction.
knStatus knVelocity_CorrectGlobal(knVelocityStep* step) {
	int rounds = step->rows.count > 0 ? NEWTON_ROUNDS : 1;
	for (int round = 0; round < rounds; ++round) {
		step->direct.count = 0;
		measureDepths(step);
		if (!beginCorrection(step, &step->global, step->solveSet, &step->errors)) {
			return knVelocity_OutOfMemory(step);
		}
		if (round > 0 && worstJoint(step) < NEWTON_TOLERANCE) {
			break;
		}
		for (int stage = round == 0 ? 0 : KN_STAGE_JOINTED; stage < KN_STAGE_COUNT; ++stage) {
			knSweep_Correct(&step->global, stage, step->options.correctionSweeps, &step->context->tasks,
							&step->errors, step->p);
		}
		if (!finishCorrection(step)) {
			return knVelocity_OutOfMemory(step);
		}
	}
	step->context->report->iterations += step->options.correctionSweeps;
	return KN_OK;
}
