// Projection error correction of contacts (Erleben 2007, section 3.5): displacements p that leave no overlap, by normal rows and
// depths alone. Velocities are not touched, so it adds no kinetic energy.
//
//   w = A_n lambda + d,  0 <= lambda complementary to w >= 0,  p = W J_n^T lambda
//
// d is the separation at the present poses, measured between the places on the two bodies that touched when the
// contact was found; rows with room take part, so that a push does not make new overlaps. Within one correction
// the depths follow p linearly; before the next they are measured anew.
//
// Where nothing fixed is near, moving bodies apart changes the moments of their momenta; the group gets that back
// as one rigid rotation, so angular momentum is conserved to round-off.

#include "dynamics/contact_correction.h"

#include "core/tasks.h"

enum { BODY_GRAIN = 64 };
#define TURN_LIMIT 0.2 // rad a correction
#define DEEP 1e-3      // of the envelope: a few sweeps over all bodies take out less than that
#define TRACE 1e-6     // of the envelope: overlap that may stay

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

static bool floats(const knContactCorrection* c, int b) {
	int32_t group = c->islands->group[b];
	return group >= 0 && !c->islands->anchored[group] && c->islands->linked[group];
}

static void sumCenters(const knContactCorrection* c, GroupSum* sums) {
	const knModel* model = c->model;
	const knState* state = c->state;
	for (int b = 0; b < model->bodyCount; ++b) {
		if (floats(c, b)) {
			GroupSum* sum = &sums[c->islands->group[b]];
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

static knVec3 momentOf(const knContactCorrection* c, const GroupSum* sum, int b) {
	const knModel* model = c->model;
	const knState* state = c->state;
	knVec3 arm = knSub(state->pose[b].p, sum->center);
	knVec3 relative = knSub(state->velocity[b].lin, sum->velocity);
	return knAdd(spinOf(model, state, b), knScale(model->mass[b], knCross(arm, relative)));
}

static void sumBefore(const knContactCorrection* c, GroupSum* sums) {
	sumCenters(c, sums);
	for (int b = 0; b < c->blocks->count; ++b) {
		if (floats(c, b)) {
			GroupSum* sum = &sums[c->islands->group[b]];
			sum->before = knAdd(sum->before, momentOf(c, sum, b));
		}
	}
}

// Corrections keep the centre of a group's mass, so it is the same point afterwards.
static void restoreMoments(const knContactCorrection* c, GroupSum* sums) {
	const knModel* model = c->model;
	knState* state = c->state;
	for (int b = 0; b < c->blocks->count; ++b) {
		if (floats(c, b)) {
			GroupSum* sum = &sums[c->islands->group[b]];
			sum->after = knAdd(sum->after, momentOf(c, sum, b));
			knVec3 r = knSub(state->pose[b].p, sum->center);
			knMat33 skew = knSkew(r), square = knMulMM(&skew, &skew);
			knMat33 shift = knScaleM(-model->mass[b], &square);
			knMat33 own = knRotateTensor(state->pose[b].q, &model->inertiaLocal[b]);
			own = knAddMM(&own, &shift);
			sum->inertia = knAddMM(&sum->inertia, &own);
		}
	}
	for (int b = 0; b < c->blocks->count; ++b) {
		if (sums[b].mass > 0.0) {
			knMat33 inverse = knInverse33(&sums[b].inertia);
			sums[b].after = knMulMV(&inverse, knSub(sums[b].before, sums[b].after));
		}
	}
	for (int b = 0; b < c->blocks->count; ++b) {
		if (floats(c, b)) {
			const GroupSum* sum = &sums[c->islands->group[b]];
			knTwist* velocity = &state->velocity[b];
			knVec3 arm = knSub(state->pose[b].p, sum->center);
			velocity->ang = knAdd(velocity->ang, sum->after);
			velocity->lin = knAdd(velocity->lin, knCross(sum->after, arm));
		}
	}
}

// --- corrections -----------------------------------------------------------------------------------------

// Where fast bodies end is found along their way: they may be far from the contacts of the start. Points that took no part have
// planes beyond the faces that they belong to.
static bool isLeft(const knContactCorrection* c, int k) {
	const knContactAnchor* anchor = &c->contacts->anchors[k];
	const uint8_t* kind = c->fast->kind;
	return c->contacts->points[k].bias >= KN_ROW_OUT_OF_REACH ||
		   (c->fast->count > 0 && (kind[anchor->bodyA] != KN_FAST_NOT || kind[anchor->bodyB] != KN_FAST_NOT));
}

double knContactCorrection_Depth(const knContactCorrection* c, int k) {
	return isLeft(c, k) ? KN_ROW_OUT_OF_REACH : knContactRows_Depth(c->contacts, c->start, c->state->pose, k);
}

void knContactCorrection_Measure(knContactCorrection* c) {
	if (!c->depthsKnown) {
		knContactRows_Depths(c->contacts, c->start, c->state->pose, c->blocks->count, c->turns, &c->tasks);
		if (c->time != NULL) {
			knTimeStep_Depths(c->time);
		}
		for (int k = 0; k < c->contacts->pointCount; ++k) {
			c->contacts->points[k].depth = isLeft(c, k) ? KN_ROW_OUT_OF_REACH : c->contacts->points[k].depth;
		}
		c->depthsKnown = true;
	}
}

void knContactCorrection_Begin(knContactCorrection* c, knSweepSet* set) {
	knSweepSet_LoadDepths(set, &c->tasks, c->contacts->points);
	for (int b = 0; b < c->blocks->count; ++b) {
		c->p[b] = knZeroTwist();
	}
}

static void displaceRange(int begin, int end, int worker, void* argument) {
	(void)worker;
	const knContactCorrection* c = argument;
	knFrame* pose = c->state->pose;
	for (int b = begin; b < end; ++b) {
		knTwist p = c->p[b];
		if (c->blocks->invMass[b] > 0.0 && knDotT(p, p) > 0.0) {
			double angle = knLength(p.ang);
			p.ang = angle > TURN_LIMIT ? knScale(TURN_LIMIT / angle, p.ang) : p.ang;
			pose[b] = knMovePose(pose[b], p, 1.0);
		}
	}
}

bool knContactCorrection_Finish(knContactCorrection* c) {
	const knTasks* tasks = &c->tasks;
	bool floating = false;
	c->depthsKnown = false;
	for (int b = 0; b < c->blocks->count && !floating; ++b) {
		floating = floats(c, b);
	}
	if (!floating) {
		knTasks_For(tasks, c->blocks->count, BODY_GRAIN, displaceRange, c);
		return true;
	}
	GroupSum* sums = KN_SCRATCH_ZERO(c->arena, GroupSum, c->blocks->count);
	if (sums == NULL) {
		return false;
	}
	sumBefore(c, sums);
	knTasks_For(tasks, c->blocks->count, BODY_GRAIN, displaceRange, c);
	restoreMoments(c, sums);
	return true;
}

// --- levels ----------------------------------------------------------------------------------------------

static bool isDeeper(const knContactCorrection* c, double share) {
	const knModel* model = c->model;
	for (int i = 0; i < c->contacts->chunkCount; ++i) {
		const knSweepChunk* chunk = &c->contacts->chunks[i];
		double limit = -share * knContactRows_Envelope(model, chunk->a, chunk->b);
		for (int k = chunk->first; k < chunk->first + chunk->count; ++k) {
			if (c->contacts->points[k].depth < limit) {
				return true;
			}
		}
	}
	return false;
}

bool knContactCorrection_Overlaps(const knContactCorrection* c) {
	return isDeeper(c, TRACE);
}

static int levelOf(const knContactCorrection* c, const int32_t* level, int b) {
	int32_t group = c->islands->group[b];
	return group >= 0 && !c->islands->jointed[group] ? level[b] : -1;
}

static bool buildLevels(knContactCorrection* c, const int32_t* level, int levelCount, knSweepSet* set) {
	const double* invMass = c->blocks->invMass;
	const int chunkCount = c->contacts->chunkCount;
	knSweepChunk* chunks = KN_SCRATCH(c->arena, knSweepChunk, chunkCount);
	int32_t* free = KN_SCRATCH(c->arena, int32_t, c->blocks->count);
	if (c->arena->failed) {
		return false;
	}
	for (int b = 0; b < c->blocks->count; ++b) {
		free[b] = levelOf(c, level, b);
	}
	for (int i = 0; i < chunkCount; ++i) {
		chunks[i] = c->contacts->chunks[i];
		int a = free[chunks[i].a], b = free[chunks[i].b];
		bool floats = (a < 0 && invMass[chunks[i].a] > 0.0) || (b < 0 && invMass[chunks[i].b] > 0.0);
		chunks[i].stage = floats || chunks[i].stage < 0 ? -1 : a > b ? a : b;
	}
	knSweepBlocks blocks = {
		.count = c->blocks->count, .invMass = invMass, .invInertia = c->blocks->invInertia, .freeStage = free
	};
	return knSweepSet_Build(set, chunks, chunkCount, levelCount, c->contacts->points, &blocks, KN_SWEEP_CONE,
							&c->tasks, c->arena);
}

bool knContactCorrection_PushLevels(knContactCorrection* c, const int32_t* level, int levelCount,
									int sweeps) {
	const knSweepRows none = { 0 };
	knSweepSet set;
	knContactCorrection_Measure(c);
	if (!isDeeper(c, DEEP)) {
		return true;
	}
	if (!buildLevels(c, level, levelCount, &set)) {
		return false;
	}
	knContactCorrection_Begin(c, &set);
	for (int stage = 0; stage < levelCount; ++stage) {
		knSweep_Correct(&set, stage, sweeps, &c->tasks, &none, c->p);
	}
	return knContactCorrection_Finish(c);
}
