// Velocities of an island with joints at one pose, changed by impulses at once: what arrives before the step (landing), and what
// flips its sign after it (settling). Both are the convex problem of island_newton.h with the true masses, solved in rounds.
#pragma once

#include "dynamics/mixed_islands.h"

// What a contact point asks of the velocities.
typedef struct knPointTask {
	bool takesPart;
	double target;     // m/s, of J v along n
	double least;      // N s, the impulse along n may fall to this: 0, or minus what the step carried
	double radius;     // N s, of the friction disc around `carried`; negative: mu times the impulse along n
	double carried[2]; // N s, along the tangents in the step: they count against the radius
	double impulse[3]; // out, N s: along n, t1, t2
} knPointTask;

// What a joint asks of the velocities along one direction.
typedef struct knVelocityRow {
	knBodyRow row; // on parent and child
	double wanted; // m/s
	bool bounded;
	double lower, upper; // N s, bounds of its impulse
	double softness;     // m/s per N s: it yields by that much; 0: not at all
} knVelocityRow;

typedef struct knMixedVelocities {
	const knMixedIslands* islands;
	const knModel* model;
	const knState* state;
	const knFrame* pose;            // [bodyCount]
	const knVelocityRow* jointRows; // of the island's joints, one after the other
	const int* jointFirst;          // [jointCount + 1]
	const knContactRows* contacts;  // normals and arms at these poses
	knPointTask* tasks;             // [contacts->pointCount]; NULL: joints alone
	knTwist* velocity;              // [bodyCount] in and out
	double
		softness; // of a locked row's own response: what is softer than that together is left; 0: the least that round-off bears
	int rounds;   // at most; 0: until rows hold
	bool places;  // they are displacements, and their energy means nothing
	const knMat33*
		stiffness; // [bodyCount] kg m2, world axes, what bodies' inertias are raised by; NULL: nothing

	// out
	double taken; // J, kinetic energy lost
	double work;  // J, that kinematic bodies put in
	int factorizations;
} knMixedVelocities;

// The rows of the island's joints at given poses: locked directions stand still, limits are not broken within h. False: no
// memory.
bool knMixedVelocities_ListJoints(knMixedVelocities* problem, const knMixedIsland* island, double h,
								  knArena* arena);
// Changes the velocities so that joints have what they want and the points' tasks are met.
// Kinetic energy never rises with targets 0. False: not solved, and nothing is changed.
bool knMixedVelocities_Solve(knMixedVelocities* problem, knMixedIsland* island, knArena* arena);
// The same for what is to stand still: all rows are held at once, and those that pass their bounds are let go, a few
// times over. Kinetic energy never rises.
bool knMixedVelocities_Settle(knMixedVelocities* problem, knMixedIsland* island, knArena* arena);
