// Levels of the contact graph for a step.
//
// A body rests on another if, moved alone with its new velocity while the other goes on with its old one, it runs
// into it (Guendelman et al. 2003, 8.1). Going on with the old velocity, instead of staying, keeps the order of a
// stack that moves as a whole. This is asked of the contact points, to first order; an overlap that
// is already there says nothing about who supports whom and is left out of it, and so is a speed at which two bodies
// meet, which would make each rest on the other: the forces must push a body onto its support. (The published scheme
// asks the collider, one body moved at a time.)

#include "core/tasks.h"
#include "steppers/maximal/maximal_step.h"

enum { CHUNK_GRAIN = 64 };
#define LEAST_LEAN 0.02 // a support must take at least this share of the push of this step's forces

static knTwist oldVelocity(const knMaximalStep* step, int body) {
	return knSubT(step->blocks.u[body], knMaximal_Force(step, body));
}

// m, by which a point closes when A and B move with the given velocities; negative: they run into each other.
static double closing(const knMaximalStep* step, const knSweepPoint* p, knTwist uA, knTwist uB) {
	knVec3 vA = knAdd(uA.lin, knCross(uA.ang, p->rA)), vB = knAdd(uB.lin, knCross(uB.ang, p->rB));
	return knMax(p->depth, 0.0) + step->h * knDot(p->n, knSub(vB, vA));
}

// The forces of this step push `body` along `direction`, by more than a trace.
static bool leans(const knMaximalStep* step, int body, knVec3 r, knVec3 direction) {
	const knTwist force = knMaximal_Force(step, body);
	double along = knDot(direction, knAdd(force.lin, knCross(force.ang, r)));
	return along > LEAST_LEAN * knLength(force.lin);
}

// Which of a chunk's bodies bears the other.
enum { A_BEARS_B = 1, B_BEARS_A = 2 };

typedef struct LookTask {
	const knMaximalStep* step;
	uint8_t* bears; // [chunkCount]
} LookTask;

static void lookAtChunks(int begin, int end, int worker, void* argument) {
	(void)worker;
	const LookTask* task = argument;
	const knMaximalStep* step = task->step;
	for (int i = begin; i < end; ++i) {
		const knSweepChunk* chunk = &step->contacts.chunks[i];
		const int a = chunk->a, b = chunk->b;
		knTwist uA = step->blocks.u[a], uB = step->blocks.u[b];
		knTwist oldA = oldVelocity(step, a), oldB = oldVelocity(step, b);
		bool aOnB = false, bOnA = false;
		for (int k = chunk->first; k < chunk->first + chunk->count; ++k) {
			const knSweepPoint* p = &step->contacts.points[k];
			bOnA = bOnA || (leans(step, b, p->rB, knNeg(p->n)) && closing(step, p, oldA, uB) < 0.0);
			aOnB = aOnB || (leans(step, a, p->rA, p->n) && closing(step, p, uA, oldB) < 0.0);
		}
		task->bears[i] = (uint8_t)((bOnA ? A_BEARS_B : 0) | (aOnB ? B_BEARS_A : 0));
	}
}

knStatus knMaximal_BuildLevels(knMaximalStep* step) {
	knArena* arena = step->context->arena;
	const int chunkCount = step->contacts.chunkCount, bodyCount = step->model->bodyCount;
	LookTask task = { step, KN_SCRATCH(arena, uint8_t, chunkCount) };
	knSupport* edges = KN_SCRATCH(arena, knSupport, 2 * chunkCount);
	bool* anchored = KN_SCRATCH(arena, bool, bodyCount);
	int edgeCount = 0;
	if (arena->failed) {
		return knMaximal_OutOfMemory(step);
	}
	knTasks_For(&step->context->tasks, chunkCount, CHUNK_GRAIN, lookAtChunks, &task);
	for (int i = 0; i < chunkCount; ++i) {
		const knSweepChunk* chunk = &step->contacts.chunks[i];
		if ((task.bears[i] & A_BEARS_B) != 0) {
			edges[edgeCount++] = (knSupport){ chunk->a, chunk->b };
		}
		if ((task.bears[i] & B_BEARS_A) != 0) {
			edges[edgeCount++] = (knSupport){ chunk->b, chunk->a };
		}
	}
	for (int b = 0; b < bodyCount; ++b) {
		anchored[b] = step->blocks.invMass[b] == 0.0;
	}
	bool built = knContactGraph_Build(&step->graph, bodyCount, anchored, edges, edgeCount, arena);
	return built ? KN_OK : knMaximal_OutOfMemory(step);
}
