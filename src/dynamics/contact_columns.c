// What the sweeps leave over in a column is larger than what sets it in motion: news passes by a few levels a sweep, and slower
// where what is above is heavier. A column about to topple, or a light one under a great load, is known only to a solve that
// has settled. Wide piles, which cost more and in which sweeps do better, and groups with joints or rolling friction are
// left to the sweeps; so is a column in a motion that is larger than what the sweeps can be wrong by.

#include "dynamics/contact_groups.h"
#include "solve/subspace.h"

#define COLUMN_LEVELS 3 // at least
// What is borne by many has loops, in which friction shares the load out: there the solve goes nowhere.
#define COLUMN_BODIES 2 // a level, at most
#define ENOUGH                                                                                               \
	1e-12 // of g h, to which columns are solved in which the last sweep changed more than KN_SETTLED_SMALL
#define EXACT 0.001 // of the speed of a column: what the sweeps may be wrong by

static bool isColumn(const knContactGroups* groups, int group, double left) {
	const knGroupFacts* facts = &groups->facts[group];
	bool narrow = facts->points <= KN_SUBSPACE_POINTS && facts->bodies <= COLUMN_BODIES * facts->levels;
	bool plain = !groups->islands->jointed[group] && !facts->turns;
	double wrong = knGroupFacts_LeftOver(facts) * facts->mass;
	return facts->levels >= COLUMN_LEVELS && narrow && plain && facts->change > left * left &&
		   wrong > EXACT * EXACT * 2.0 * facts->energy;
}

bool knContactColumns_Run(knContactGroups* groups) {
	knArena* arena = groups->arena;
	const knStepBodies* blocks = groups->blocks;
	double weight = blocks->h * knLength(groups->state->header->gravity), enough = ENOUGH * weight;
	uint8_t* wanted = KN_SCRATCH_ZERO(arena, uint8_t, blocks->count);
	double* left = KN_SCRATCH(arena, double, blocks->count);
	if (arena->failed) {
		return false;
	}
	for (int b = 0; b < blocks->count; ++b) {
		wanted[b] = groups->islands->group[b] == b && isColumn(groups, b, KN_SETTLED_SMALL * weight);
		groups->solved = groups->solved || wanted[b];
	}
	if (!groups->solved) {
		return true;
	}
	knSweepBlocks sweeps = { .count = blocks->count,
							 .invMass = blocks->invMass,
							 .invInertia = blocks->invInertia };
	knSubspace problem = { .chunks = groups->contacts->chunks,
						   .chunkCount = groups->contacts->chunkCount,
						   .points = groups->contacts->points,
						   .blocks = &sweeps,
						   .group = groups->islands->group,
						   .wanted = wanted,
						   .enough = enough * enough };
	if (!knSubspace_Solve(&problem, blocks->u, left, arena)) {
		return false;
	}
	for (int b = 0; b < blocks->count; ++b) {
		groups->facts[b].change = wanted[b] ? left[b] : groups->facts[b].change;
	}
	return true;
}
