// Piles that the sweeps leave unfinished, solved at once (solve/subspace.h): columns, in which news passes by a few levels a
// sweep. A column about to topple is known only to a solve that has settled; what is left over by sweeps is larger
// than what sets it in motion, and shock propagation, whose supports are frozen, would hold it for ever. Groups with
// joints or rolling friction are left to the sweeps.

#include "solve/subspace.h"
#include "steppers/impulse/impulse_step.h"

#define COLUMN_LEVELS 4 // groups of fewer are left to the sweeps
#define ENOUGH 1e-10    // of g h

// Groups without joints, turns and too many points, that have not settled.
static bool listColumns(const knImpulseStep* step, double settled, uint8_t* wanted) {
	const int32_t* group = step->islands.group;
	int* points = KN_SCRATCH_ZERO(step->context->arena, int, step->model->bodyCount);
	if (points == NULL) {
		return false;
	}
	for (int b = 0; b < step->model->bodyCount; ++b) {
		if (group[b] >= 0 && step->graph.level[b] >= COLUMN_LEVELS) {
			bool left = step->change[group[b]] > settled * settled;
			wanted[group[b]] = left && step->graph.grounded[b] && !step->islands.jointed[group[b]];
		}
	}
	for (int i = 0; i < step->pointCount; ++i) {
		int32_t g = knImpulseStep_GroupOf(step, &step->points[i]);
		points[g] += 1;
		if (points[g] > KN_SUBSPACE_POINTS || step->points[i].turn >= 0) {
			wanted[g] = 0;
		}
	}
	return true;
}

bool knContactColumns_Run(knImpulseStep* step) {
	knArena* arena = step->context->arena;
	int bodyCount = step->model->bodyCount;
	double enough = ENOUGH * step->h * knLength(step->state->header->gravity);
	uint8_t* wanted = KN_SCRATCH_ZERO(arena, uint8_t, bodyCount);
	double* left = KN_SCRATCH(arena, double, bodyCount);
	if (arena->failed || !listColumns(step, enough, wanted)) {
		return false;
	}
	knSweepBlocks blocks = { .count = bodyCount,
							 .invMass = step->blocks.invMass,
							 .invInertia = step->blocks.invInertia };
	knSubspace problem = { .chunks = step->list.chunks,
						   .chunkCount = step->list.chunkCount,
						   .points = step->list.points,
						   .blocks = &blocks,
						   .group = step->islands.group,
						   .wanted = wanted,
						   .enough = enough * enough };
	if (!knSubspace_Solve(&problem, step->blocks.u, left, arena)) {
		return false;
	}
	for (int b = 0; b < bodyCount; ++b) {
		step->change[b] = wanted[b] ? left[b] : step->change[b];
	}
	for (int i = 0; i < step->pointCount; ++i) {
		knImpulsePoint_Take(&step->points[i], &step->list.points[i]);
	}
	return true;
}
