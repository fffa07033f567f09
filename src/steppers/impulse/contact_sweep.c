// Contact impulses accumulated over sweeps (default scheme).
//
// Every visit of a point changes its impulse j, on B, so that for the present velocities of the two bodies
//
//   j_n >= 0,  u_n >= target,  j_n (u_n - target) = 0        target = -gap/h: a gap may be closed, not crossed
//   |j_t| <= mu j_n,  u_t = 0 or j_t against the sliding
//
// and because j is the sum over all visits, an impulse that turns out too large is taken back later. (The published
// scheme can only push, and leaves what its early impulses overshot as separating speed.) Levels are swept upwards and
// down again: a load travels downwards through a pile, what it rests on upwards. Within a level, contacts that share no
// body are visited four at a time (solve/sweep.h).

#include "core/tasks.h"
#include "steppers/impulse/impulse_step.h"

#define POINT_GRAIN 64

knVec3 knImpulsePoint_Carried(const knImpulsePoint* p) {
	knVec3 friction = knMulAdd(knScale(p->j1, p->t1), p->j2, p->t2);
	return knMulAdd(friction, p->jn, p->n);
}

void knImpulsePoint_Apply(const knImpulseStep* step, const knImpulsePoint* p, knVec3 j) {
	const knStepBodies* blocks = &step->blocks;
	knTwist *uA = &blocks->u[p->a], *uB = &blocks->u[p->b];
	// immovable bodies are not written to: groups on the same one are solved at the same time
	if (blocks->invMass[p->a] > 0.0) {
		uA->lin = knMulAdd(uA->lin, -blocks->invMass[p->a], j);
		uA->ang = knSub(uA->ang, knMulMV(&blocks->invInertia[p->a], knCross(p->rA, j)));
	}
	if (blocks->invMass[p->b] > 0.0) {
		uB->lin = knMulAdd(uB->lin, blocks->invMass[p->b], j);
		uB->ang = knAdd(uB->ang, knMulMV(&blocks->invInertia[p->b], knCross(p->rB, j)));
	}
}

// An angular impulse on B.
static void turn(const knImpulseStep* step, const knImpulsePoint* p, knVec3 change) {
	const knStepBodies* blocks = &step->blocks;
	if (blocks->invMass[p->a] > 0.0) {
		knVec3* w = &blocks->u[p->a].ang;
		*w = knSub(*w, knMulMV(&blocks->invInertia[p->a], change));
	}
	if (blocks->invMass[p->b] > 0.0) {
		knVec3* w = &blocks->u[p->b].ang;
		*w = knAdd(*w, knMulMV(&blocks->invInertia[p->b], change));
	}
}

// --- the set -----------------------------------------------------------------------------------------------

static void setTurnMasses(const knImpulseStep* step, const knImpulsePoint* p) {
	knMat33 both = knAddMM(&step->blocks.invInertia[p->a], &step->blocks.invInertia[p->b]);
	step->turnInverses[p->turn] = knInverse33(&both);
}

bool knContactSweep_BuildSet(knImpulseStep* step, knSweepSet* set, const int* parts, int partCount) {
	const knContactRows* list = &step->list;
	knArena* arena = step->context->arena;
	const int levels = step->graph.levelCount;
	knSweepChunk* chunks = KN_SCRATCH(arena, knSweepChunk, list->chunkCount);
	if (arena->failed) {
		return false;
	}
	for (int c = 0; c < list->chunkCount; ++c) {
		chunks[c] = list->chunks[c];
		int a = step->graph.level[chunks[c].a], b = step->graph.level[chunks[c].b];
		int part = step->partOf[knImpulseStep_GroupOfBodies(step, chunks[c].a, chunks[c].b)];
		chunks[c].stage = -1;
		for (int i = 0; i < partCount && !step->points[chunks[c].first].withJoints; ++i) {
			chunks[c].stage = part == parts[i] ? i * levels + (a > b ? a : b) : chunks[c].stage;
		}
	}
	knSweepBlocks blocks = { .count = step->model->bodyCount,
							 .invMass = step->blocks.invMass,
							 .invInertia = step->blocks.invInertia };
	return knSweepSet_Build(set, chunks, list->chunkCount, partCount * levels, list->points, &blocks,
							KN_SWEEP_CONE, &step->context->tasks, arena);
}

bool knContactSweep_Begin(knImpulseStep* step) {
	static const int parts[] = { KN_PART_END };
	step->turnInverses =
		step->joints != NULL ? KN_SCRATCH(step->context->arena, knMat33, step->turnCount) : NULL;
	if (step->context->arena->failed) {
		return false;
	}
	knContactSweep_HandOver(step);
	for (int i = 0; step->turnInverses != NULL && i < step->pointCount; ++i) {
		const knImpulsePoint* p = &step->points[i];
		if (p->turn >= 0 && p->withJoints) {
			setTurnMasses(step, p);
		}
	}
	return knContactSweep_BuildSet(step, &step->set, parts, 1);
}

static void takeOver(int begin, int end, int worker, void* argument) {
	(void)worker;
	const knImpulseStep* step = argument;
	for (int i = begin; i < end; ++i) {
		knImpulsePoint* p = &step->points[i];
		const knSweepPoint* from = &step->list.points[i];
		if (!p->withJoints) {
			p->jn = from->lambda[0];
			p->j1 = from->lambda[1];
			p->j2 = from->lambda[2];
			if (p->turn >= 0) {
				step->turns[p->turn].g = from->rolling;
			}
		}
	}
}

void knContactSweep_TakeOver(knImpulseStep* step) {
	knTasks_For(&step->context->tasks, step->pointCount, POINT_GRAIN, takeOver, step);
}

static void handOver(int begin, int end, int worker, void* argument) {
	(void)worker;
	const knImpulseStep* step = argument;
	for (int i = begin; i < end; ++i) {
		const knImpulsePoint* p = &step->points[i];
		knSweepPoint* to = &step->list.points[i];
		to->lambda[0] = p->jn;
		to->lambda[1] = p->j1;
		to->lambda[2] = p->j2;
		if (p->turn >= 0) {
			to->rolling = step->turns[p->turn].g;
		}
	}
}

void knContactSweep_HandOver(knImpulseStep* step) {
	knTasks_For(&step->context->tasks, step->pointCount, POINT_GRAIN, handOver, step);
}

void knContactSweep_Store(knImpulseStep* step, const knSweepSet* set) {
	knSweepSet_Store(set, &step->context->tasks, step->list.points);
	knContactSweep_TakeOver(step);
}

// --- sweeps ------------------------------------------------------------------------------------------------

// Rolling and spinning: an angular impulse against the relative turning, its parts along and across the normal
// each bounded by arm j_n. The kernels do so as well; this is for points that are solved with joints.
static void solveTurn(const knImpulseStep* step, const knImpulsePoint* p) {
	const knTwist* u = step->blocks.u;
	const knImpulseTurn* old = &step->turns[p->turn];
	knVec3 g = knSub(old->g, knMulMV(&step->turnInverses[p->turn], knSub(u[p->b].ang, u[p->a].ang)));
	double limit = old->arm * knMax(p->jn, 0.0), spin = knDot(g, p->n);
	double roll1 = knDot(g, p->t1), roll2 = knDot(g, p->t2);
	knClampDisc(&roll1, &roll2, limit);
	g = knScale(knClamp(spin, -limit, limit), p->n);
	g = knMulAdd(knMulAdd(g, roll1, p->t1), roll2, p->t2);
	knVec3 change = knSub(g, old->g);
	step->turns[p->turn].g = knAdd(old->g, change);
	turn(step, p, change);
}

static void sweepTurns(const knImpulseStep* step) {
	for (int i = 0; i < step->pointCount && step->joints != NULL && step->turnCount > 0; ++i) {
		const knImpulsePoint* p = &step->points[i];
		if (p->turn >= 0 && p->withJoints) {
			solveTurn(step, p);
		}
	}
}

double knContactSweep_Run(knImpulseStep* step, knContactNncg* momentum) {
	return knContactNncg_Sweep(momentum, sweepTurns, step->blocks.u);
}
