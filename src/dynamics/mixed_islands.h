// Islands with joints: the bodies that joints and contacts connect, with their joints and contact points, as one problem
// over the velocities of its bodies (solve/island_newton.h). Bodies that do not move connect nothing.
#pragma once

#include "dynamics/contact_rows.h"
#include "dynamics/islands.h"
#include "solve/island_newton.h"

// One island. Joints come first among the entries of its problem, then the points.
typedef struct knMixedIsland {
	int bodyCount, jointCount, pointCount;
	const int* bodies; // [bodyCount]
	const int* joints; // [jointCount] indices of active joints
	const int* points; // [pointCount] indices of contact points
	knIslandProblem problem;
	int* firstRow; // [jointCount + pointCount] of the problem's rows: room for all that an entry may have
} knMixedIsland;

typedef struct knMixedIslands {
	int count;
	knMixedIsland* items;
	int32_t* islandOf; // [bodyCount] of a body; -1: none
	int32_t* pivotOf;  // [bodyCount] of a body in the matrix of its island; -1: immovable, or in none
} knMixedIslands;

typedef struct knMixedIslandsInput {
	const knModel* model;
	const knState* state;
	const knIslands* islands;
	const knContactRows* contacts; // NULL: none
	const uint8_t* alone;          // [bodyCount] 1: its points are in no island; NULL: none
	int rowsOfJoint;               // at most, of a joint in a problem
} knMixedIslandsInput;

// Lists, patterns and room; everything lives in the arena. False: no memory.
bool knMixedIslands_Build(knMixedIslands* set, const knMixedIslandsInput* input, knArena* arena);

// Six numbers of a body in the vectors of its island's problem; NULL: immovable.
static inline double* knMixedIslands_At(const knMixedIslands* set, double* vectors, int body) {
	int pivot = set->pivotOf[body];
	return pivot >= 0 ? vectors + 6 * (ptrdiff_t)pivot : NULL;
}
