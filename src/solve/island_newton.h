// Rows with laws over the velocities of an island, solved at once: the convex problem of one round of the method of
// multipliers (proximal point),
//
//   1/2 d.H.d + g.d + sum psi(r)     r = rate + J d,   -psi' = x(r) = law(lambda - r/e) - lambda
//
// d: change of the velocities, six numbers a node; g: what the nodes lack at d = 0, the impulses lambda included; e:
// softness of the changes of a round. Rounds with the true rates and g converge to rows without softness. Newton's
// method with an exact line search; its matrix H + sum J^T w J is factored over nodes (body_matrix.h), so that contacts
// add nothing to its size and redundant loops nothing but weight. The solver knows no bodies.
#pragma once

#include "solve/body_matrix.h"
#include "solve/joint_law.h"
#include "solve/row_law.h"

typedef struct knIslandRow {
	knBodyRow row; // wrenches on the two nodes per unit of impulse

	// in
	knRowLaw law;
	double rate;             // of the row at d = 0, less what it should be
	double soft;             // e > 0
	double lambda;           // at the start of the round
	double lo, hi;           // RANGE; DISC: hi of the first is the radius
	const knJointLaw* graph; // GRAPH: rate times `span` is the change of the coordinate
	double span;             // s

	// out
	double change; // of lambda

	// knIslandProblem_Solve
	double r;        // at the present d
	double along;    // its change along the direction
	double weight;   // -dx/dr; DISC: of the first across the wish, of the second along it
	double foreseen; // DISC: the change that the slope of the branch foresaw
	double axis;     // DISC: the component of the unit wish along this row; 0: it sticks
} knIslandRow;

// Rows between the same two nodes.
typedef struct knIslandEntry {
	int a, b;         // pivots of the nodes in the matrix; -1: immovable
	int block;        // knBodyMatrix_BlockOf
	int first, count; // rows
} knIslandEntry;

typedef struct knIslandProblem {
	// in
	knBodyMatrix matrix; // its pattern has all entries
	double* H;           // [nodes][36] by pivot, symmetric, upper halves
	double* gradient;    // [nodes][6] by pivot: g
	// [nodes][9] by pivot, row-major: what the true matrix of a node's first three numbers has beside H. It need not be
	// symmetric, and is taken by refinements. knIslandProblem_Reserve, zero
	double* extra;
	int refinements; // of extra, at most
	knIslandEntry* entries;
	int entryCount;
	knIslandRow* rows;
	bool kept;          // H, rows and softness are those of the last solve, and the matrix is still factored
	int iterationLimit; // of Newton's method
	double discTolerance; // of the radius: impulses on a rim may be off by this
	int secantIterations; // in which rims are taken by their secant: a cautious start
	double
		nearEnough; // m/s, of the last change, sqrt(f.H.f/mass) of each node: what is left is the next round's
	int discPatience; // iterations after which discs need not agree with their laws any more

	// out
	double* d; // [nodes][6] by pivot
	int iterations, factorizations;

	// scratch
	double* forward; // [nodes][6] Newton's direction
	double* work;    // [nodes][6]
	double* lagged;  // [nodes][6] extra times the d of before
} knIslandProblem;

typedef enum knIslandStatus {
	KN_ISLAND_SOLVED,
	KN_ISLAND_UNFINISHED, // the iterations did not suffice: d is the best so far, and impulses follow from it by their laws
	KN_ISLAND_SINGULAR, // the matrix could not be factored: d and the changes are zero
} knIslandStatus;

// Room for the vectors of a problem whose matrix is built; false: no memory.
bool knIslandProblem_Reserve(knIslandProblem* problem, knArena* arena);
knIslandStatus knIslandProblem_Solve(knIslandProblem* problem);
// The rate of a row at velocities v, [nodes][6].
double knIslandRow_Rate(const knIslandEntry* entry, const knBodyRow* row, const double* v);
// Adds x times a row to the impulses on its nodes, [nodes][6].
void knIslandRow_Push(const knIslandEntry* entry, const knBodyRow* row, double x, double* impulse);
