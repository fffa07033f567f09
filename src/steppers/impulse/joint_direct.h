// Rows between bodies as a matrix over the bodies' velocities (joint_direct.c):
//
//   H = M + sum J^T w J       w: weight of a row, one over its softness
//
// With softness S of the rows, (K + S) x = -b in the impulses is the same as H du = -J^T S^-1 b, x = -S^-1 (b + J du):
// bodies instead of rows, so that contacts add nothing to the size, and redundant loops nothing but weight.
#pragma once

#include "steppers/impulse/articulation_internal.h"
#include "solve/body_matrix.h"

// Matrices of the islands of a solve.
struct knJointDirect {
	knBodyMatrix* matrices; // [islandCount]; count 0: not solved directly
	int* stepOf;            // [bodyCount] in the matrix of its island; -1: none
	int* blockOf;           // [jointCount] of its two bodies in that matrix (knBodyMatrix_BlockOf)
	int* firstOf;           // [islandCount] of the island's numbers in vectors of 6 a body
	double* x;              // [all bodies of islands][6]
};

// Patterns of the islands for which `wanted` is set and which are not too dense. False: no memory.
bool knJointDirect_Build(knJointDirect* direct, const knArticulationSolve* solve, const uint8_t* wanted,
						 knArena* arena);
bool knJointDirect_Has(const knJointDirect* direct, int island);
knBodyRow knBodyRow_Make(const knArticulationSolve* solve, int entry, knTwist wrench);
// Those of all rows of a joint's block.
void knBodyRow_MakeAll(const knArticulationSolve* solve, int entry, knBodyRow rows[KN_BLOCK_ROWS]);
// The matrix with the bodies' masses alone.
void knBodyMatrix_Begin(knBodyMatrix* matrix, const knArticulationSolve* solve);
// The linear problem of an island of joints: factors K + S with the rows of its blocks, false: it could not; then
// settle[1] holds -b, and settle[0] gets x.
bool knJointDirect_Factor(knJointDirect* direct, const knSettleIsland* island);
void knJointDirect_Solve(const knJointDirect* direct, const knSettleIsland* island);
