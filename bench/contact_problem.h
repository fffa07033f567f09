// The contact problem of one step of a world, taken out of it: bodies, contact points and the velocities that gravity leaves,
// for benches that look at solvers from outside.
//
//   w = A lambda + b,  A = J W J^T,  b = J (v + h g),  three rows a point: normal and two tangents
#pragma once

#include "core/arena.h"
#include "knuckle/knuckle.h"
#include "solve/sweep.h"

typedef struct knContactProblem {
	knArena arena; // owns everything
	int bodyCount; // block 0 is the world
	double* invMass;
	knMat33* invInertia; // world axes
	knTwist* u;          // v + h g
	int pointCount;
	knSweepPoint* points;
	int chunkCount;
	knSweepChunk* chunks;
} knContactProblem;

// Looks at what the next step of `world`, of length h, would meet; the world itself is left alone. False: out of memory.
bool knContactProblem_Open(knContactProblem* problem, const knWorld* world, double h);
void knContactProblem_Close(knContactProblem* problem);
int knContactProblem_Rows(const knContactProblem* problem);
// A, row-major, n x n with n the number of rows.
void knContactProblem_Matrix(const knContactProblem* problem, double* A);
// b = J u, n numbers.
void knContactProblem_Right(const knContactProblem* problem, double* b);
// -(L + D)^-1 U: what Gauss-Seidel multiplies the error by. Rows without diagonal give zeros.
void knContactProblem_GaussSeidel(const double* A, int n, double* T);
