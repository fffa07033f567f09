// Poses of an island with joints, moved as little as possible (in the metric of mass) so that joints are closed, limits hold and
// nothing overlaps. Velocities are not touched: what is torn, newly attached or pushed into each other gains no energy of motion.
#pragma once

#include "dynamics/mixed_velocities.h"

typedef struct knMixedPositions {
	const knMixedIslands* islands;
	const knModel* model;
	const knState* state;    // coordinates of joints
	knContactRows* contacts; // anchors; arms of the points are written. NULL: joints alone
	const knFrame* start;    // [bodyCount] poses at which the contacts were found
	knFrame* pose;           // [bodyCount] in and out
	const knMat33*
		stiffness; // [bodyCount] kg m2, world axes: what the step's loads raise inertias by; NULL: nothing
	double gapTolerance;   // m, of joints: smaller ones are left
	double depthTolerance; // m, of overlaps, likewise

	// out
	double gap; // m, the worst that is left of joints
	int rounds;
} knMixedPositions;

// False: no memory.
bool knMixedPositions_Close(knMixedPositions* problem, knMixedIsland* island, knArena* arena);
