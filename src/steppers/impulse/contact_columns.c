// Columns that the sweeps leave unfinished, solved at once (solve/subspace.h). News passes by a few levels a sweep; a column
// about to topple is known only to a solve that has settled, and what few sweeps leave over is larger than what sets it in
// motion. Wide piles, which cost more and in which sweeps do better, and groups with joints or rolling friction are left
// to the sweeps; so is a column in a motion that is larger than what the sweeps can be wrong by.

#include "solve/subspace.h"
#include "steppers/impulse/impulse_step.h"

#define COLUMN_LEVELS 4  // at least
#define COLUMN_POINTS 24 // a level, at most
#define LEFT 1e-11       // of g h: columns in which the last sweep changed more than that are solved,
#define ENOUGH 1e-12     // to so much
#define PATIENCE 2       // rounds that bring little
#define EXACT 0.001      // of the speed of a column: what the sweeps may be wrong by

static bool isColumn(const knImpulseStep* step, int group, double left) {
	const knGroupFacts* facts = &step->facts[group];
	bool narrow = facts->points <= KN_SUBSPACE_POINTS && facts->points <= COLUMN_POINTS * facts->levels;
	bool plain = !step->islands.jointed[group] && !facts->turns;
	double wrong = knGroupFacts_LeftOver(facts) * facts->mass;
	return facts->levels >= COLUMN_LEVELS && narrow && plain && facts->change > left * left &&
		   wrong > EXACT * EXACT * 2.0 * facts->energy;
}

bool knContactColumns_Run(knImpulseStep* step) {
	knArena* arena = step->context->arena;
	int bodyCount = step->model->bodyCount;
	double weight = step->h * knLength(step->state->header->gravity), enough = ENOUGH * weight;
	uint8_t* wanted = KN_SCRATCH_ZERO(arena, uint8_t, bodyCount);
	double* left = KN_SCRATCH(arena, double, bodyCount);
	if (arena->failed) {
		return false;
	}
	bool any = false;
	for (int b = 0; b < bodyCount; ++b) {
		wanted[b] = step->islands.group[b] == b && isColumn(step, b, LEFT * weight);
		any = any || wanted[b];
	}
	if (!any) {
		return true;
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
						   .enough = enough * enough,
						   .patience = PATIENCE };
	knContactSweep_HandOver(step);
	if (!knSubspace_Solve(&problem, step->blocks.u, left, arena)) {
		return false;
	}
	for (int b = 0; b < bodyCount; ++b) {
		step->facts[b].change = wanted[b] ? left[b] : step->facts[b].change;
	}
	knContactSweep_TakeOver(step);
	return true;
}
