// What is known of every group of bodies in contact once the sweeps are done, for those who go on from there: columns that are
// solved at once, and shock propagation. Speeds are seen from the ground, the bodies that do not yield, so that a pile on
// a lift is treated like any other. (Not from the centre of mass: a heavy block draws that down with it, and bricks
// that stand still would be those in motion.)
#pragma once

#include "dynamics/contact_rows.h"
#include "dynamics/islands.h"

// Of g h: what the last sweep over a group may change when it ends, of small groups and of large ones.
#define KN_SETTLED_SMALL 1e-9
#define KN_SETTLED_LARGE 1e-7
#define KN_SETTLED_LEAST 1e-12 // m/s, the same without gravity
#define KN_SETTLED_RELATIVE                                                                                  \
	1e-6 // of what the first sweep changed: where things move, nothing depends on more digits

typedef struct knGroupFacts {
	double change; // m2/s2 of its mass: what the last sweep changed; or what is left by knContactColumns_Run
	int levels;    // of what stands on the ground
	int points, bodies;
	bool turns;    // it has points with rolling friction
	knVec3 ground; // m/s, of what does not yield below it
	double mass;   // kg
	double energy; // J, kinetic as seen from the ground
} knGroupFacts;

typedef struct knContactGroups {
	// in
	const knModel* model;
	const knState* state;
	knStepBodies* blocks;
	knContactRows* contacts;
	const knIslands* islands;
	const int32_t* level; // [bodyCount] 0: does not move; -1: nothing below it stands on the ground
	int levelCount;
	const knTasks* tasks;
	const double*
		change; // [bodyCount] by group, m2/s2, of the last sweep; NULL: not known, which counts as infinite
	knArena* arena;

	knGroupFacts* facts; // [bodyCount] by group. knContactGroups_Find
	bool solved;         // columns were. knContactColumns_Run
} knContactGroups;

// The group of a chunk.
static inline int32_t knContactGroups_Of(const knContactGroups* groups, const knSweepChunk* chunk) {
	int32_t group = groups->islands->group[chunk->a];
	return group >= 0 ? group : groups->islands->group[chunk->b];
}
// J, twice: u . M . v of one body.
double knContactGroups_Product(const knContactGroups* groups, int body, knTwist u, knTwist v);
// The facts; those of levels from `level`. False: no memory.
bool knContactGroups_Find(knContactGroups* groups);
// J, of a body with velocity u, as seen from the ground of its group.
double knContactGroups_Energy(const knContactGroups* groups, int body, knTwist u);
// m2/s2, the square of the speed by which sweeps may still be wrong: twice what the last one changed for every level.
static inline double knGroupFacts_LeftOver(const knGroupFacts* facts) {
	return 4.0 * facts->levels * facts->levels * facts->change;
}

// contact_descent.c: takes as much of a change of impulses as lowers their energy most, group by group.
typedef struct knContactDescent knContactDescent;
// Before the change; NULL when out of memory.
knContactDescent* knContactDescent_Begin(const knContactGroups* groups);
// The same for points that count as carrying nothing yet, whatever is written there.
knContactDescent* knContactDescent_BeginFromZero(const knContactGroups* groups);
void knContactDescent_Take(const knContactGroups* groups, const knContactDescent* descent);

// What the points carry acts on u, as far as it is of use; what nothing holds any more begins with nothing. False: no memory.
bool knContactGroups_WarmStart(const knContactGroups* groups);

// shock_load.c: carries the weight of piles down to the ground, before the sweeps. False: no memory.
bool knShockLoad_Run(const knContactGroups* groups);

// contact_columns.c: columns that the sweeps have left unfinished, solved at once (solve/subspace.h); u and the points'
// impulses change. False: no memory.
bool knContactColumns_Run(knContactGroups* groups);
