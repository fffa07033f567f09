// What the files of the joint solver share: joint_island.c (making, storing), joint_island_pattern.c (elimination orders,
// cached), joint_island_newton.c (one attempt), joint_island_step.c (the ladder), joint_island_project.c (velocities).
#pragma once

#include "core/sparse_ldl.h"
#include "dynamics/joint_island.h"

#define KN_ISLAND_DEPTH 8 // halvings of a step, at most one less

// The structure of an island and the factorisation that goes with it. Joints are blocks of the matrix, eliminated bodies
// couple them; a body with many joints is a block of its own.
typedef struct knIslandPattern {
	uint64_t hash;
	int keyCount;
	int* key; // bodies, joints, then ends and rows of each joint
	int lastUsed;
	int bodyCount, jointCount;
	bool loop;  // joints close cycles
	int* first; // [bodyCount + 1] into `ends`
	int* ends;  // [2 jointCount] of each moving body: 2 joint + (1: it is the child)
	int* hub;   // [bodyCount] block of a body that is not eliminated; -1
	knSparse* sparse;
	double** pairs; // for each eliminated body, each of its ends, each of its ends: the matrix block
	int pairCount;
	double**
		hubs; // for each end of a hub: the blocks (joint, hub) and (hub, joint); its diagonal block comes first
	int hubCount;
} knIslandPattern;

typedef struct knIslandSnapshot {
	knVec3 x, v, L;
	knQuat q;
} knIslandSnapshot;

struct knJointIsland {
	const knModel* model;
	double h;
	int bodyCount, jointCount, rowCount;
	knEquationBody* bodies;
	int* bodyIndex; // [bodyCount] in the model
	knEquationJoint* joints;
	knEquationRow* rows;
	knIslandPattern* pattern;
	double* right;    // [size of the matrix]
	bool cold;        // impulses start from zero: a loop with redundant rows
	double tolerance; // m
	double size;      // m, mean distance of bodies' anchors
	knIslandSnapshot* saved[KN_ISLAND_DEPTH];
	double* savedNumbers[KN_ISLAND_DEPTH]; // impulses, coordinates
	knTwist* impulse;                      // [jointCount] N s, sum over sub-steps, on the child at its anchor
	double* last;                          // [rowCount] impulses of the last sub-step, as of the whole step
	knJointIslandReport report;
};

// --- joint_island_pattern.c ---
// The pattern of an island, from the cache or new; NULL when out of memory.
knIslandPattern* knIslandPattern_Find(knJointIslands* islands, const knEquationBody* bodies, int bodyCount,
									  const knEquationJoint* joints, int jointCount);

// --- joint_island_newton.c ---
typedef struct knNewtonAttempt {
	knSpan span;
	int iterations; // at most
	bool lineSearch;
} knNewtonAttempt;

typedef enum knNewtonResult { KN_NEWTON_DONE, KN_NEWTON_FAILED, KN_NEWTON_CONFLICT } knNewtonResult;

// From the iterate (u, w, lambda) of bodies and rows.
knNewtonResult knJointIsland_Newton(knJointIsland* island, const knNewtonAttempt* attempt);
// Writes the matrix of rows (responses and `mean` or, for rates, end rows) with relative regularisation, and factors it.
bool knJointIsland_FactorRows(knJointIsland* island, bool rates);

// --- joint_island_project.c ---
// Velocities at the end of the step that the joints allow; the bodies have begun at the new pose.
void knJointIsland_Project(knJointIsland* island, double h);
double knJointIsland_KineticEnergy(const knJointIsland* island);
