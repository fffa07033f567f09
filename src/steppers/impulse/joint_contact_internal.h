// What the parts of joint_contact.c share: rows with laws, and the round's problem of one island.
#pragma once

#include "steppers/impulse/joint_contact.h"
#include "steppers/impulse/joint_direct.h"

// What a row's impulse may be.
typedef enum knLaw { KN_LAW_FREE, KN_LAW_RANGE, KN_LAW_DISC } knLaw;

typedef struct knLawRow {
	knBodyRow row;
	knLaw law;
	double soft;     // e
	double lambda;   // at the start of the round
	double lo, hi;   // KN_LAW_RANGE
	double start;    // r at the start of the round
	double r;        // at the present v
	double along;    // its change along the direction
	double x;        // change of lambda by the law at r
	double balanced; // and as the last direction has it, which balances the bodies exactly
	double weight;   // -dx/dr of the piece that the matrix was made for
	int bound;       // of a joint
} knLawRow;

// Rows of a joint or point are neighbours; a point has its normal, then a disc's two tangents.
typedef struct knLawEntry {
	int first, count;
	int locked;    // rows of a joint's block; the others are its bounds
	double radius; // of the disc
	int index;     // entry of `whole`
} knLawEntry;

struct knJointContacts {
	knImpulseStep* step;
	knArticulationSolve whole; // entries: joints, then points
	int jointCount, pointCount;
	int* points;       // [pointCount] index into step->points
	uint8_t* touched;  // [whole.islandCount] has points and is solved here
	uint8_t* factored; // [whole.islandCount] with the weights that the rows have
	uint8_t* solved;   // [whole.islandCount] takes part in no more rounds
	double* first;     // [whole.islandCount] m/s, the worst rate of the first round
	int rounds;        // so far
	knJointDirect direct;
	knLawEntry* entries; // [whole.jointCount] in the order of islandJoint
	knLawRow* rows;
	int* rowFirst;   // [whole.jointCount + 1] room of entries
	double* moved;   // [bodies][6] v - u
	double* forward; // [bodies][6] Newton's direction
};

typedef struct knLawIsland {
	knJointContacts* contacts;
	int index;
	knLawEntry* entries;
	int count;
	knBodyMatrix* matrix;
	double *moved, *forward;
	bool refactor; // the rows are not those of the round before
	bool pushing;  // poses only
	knTwist* u;    // velocities of bodies, or pushes
} knLawIsland;

// The least of the island's sum: changes x of all rows (joint_contact_newton.c). `work` has room for six numbers a body.
// False if a matrix could not be factored.
bool knLawIsland_Descend(knLawIsland* island, double* work);
