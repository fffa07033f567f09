// What the parts of joint_contact.c share: rows with laws, and the round's problem of one island.
#pragma once

#include "solve/row_law.h"
#include "steppers/impulse/joint_contact.h"
#include "steppers/impulse/joint_direct.h"

// What a row's impulse may be.
typedef knRowLaw knLaw;

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
	double weight;   // -dx/dr of the piece that the direction is for
	double made;     // that of the matrix; large groups
	int bound;       // of a joint
} knLawRow;

// Rows of a joint or point are neighbours; a point has its normal, then a disc's two tangents.
typedef struct knLawEntry {
	int index; // entry of `whole`
	int a, b;  // steps of its parent and child in the matrix; -1: immovable
	int first; // of its rows
	bool cut;  // between two parts of a large group: not in the matrix

	// of a round
	int count;
	int locked;    // rows of a joint's block; the others are its bounds
	double radius; // of the disc
} knLawEntry;

// A bound of a joint in the matrix of a large group: rows of bounds turn, and come and go.
typedef struct knHeldRow {
	knBodyRow row;
	int a, b; // as in knLawEntry
	double weight;
} knHeldRow;

// A row by which the matrix of a large group is not the one that is wanted.
typedef struct knLawDelta {
	const knBodyRow* row;
	int a, b;
	double weight;
} knLawDelta;

// What is solved at once: bodies that touch or are joined.
typedef struct knLawGroup {
	knJointContacts* contacts;
	int count, pointCount;
	knLawEntry* entries; // [count]
	knBodyMatrix matrix;
	double *moved, *forward; // [bodies][6] v - u, Newton's direction
	double* work;            // likewise, KN_LAW_VECTORS of them if the group is large
	bool heap;               // of many units, the bodies that hang together by joints
	bool large;              // solved less exactly, by a matrix that is made anew as seldom as possible
	bool factored;           // with the weights that the rows have
	int usual;               // iterations of the direction after that
	bool solved;             // takes part in no more rounds
	double worst;            // m/s, the worst rate of the first round
	int islandCount;
	int* islands; // large groups: of joints
	int heldCount;
	knHeldRow* held;    // [its bounds] large groups: those in the matrix
	knLawDelta* deltas; // [its rows and bounds] likewise

	// of a round
	bool last;     // as far as is known
	double enough; // m/s, rates that are as good as right
	int over;      // entries that are worse
	bool refactor; // the rows are not those of the round before
	bool pushing;  // poses only
	knTwist* u;    // velocities of bodies, or pushes
} knLawGroup;

#define KN_LAW_VECTORS 5

struct knJointContacts {
	knImpulseStep* step;
	knArticulationSolve whole; // entries: joints, then points
	int jointCount, pointCount;
	int* points;      // [pointCount] index into step->points
	uint8_t* touched; // [whole.islandCount] has points
	int rounds;       // so far
	int groupCount;
	knLawGroup* groups;
	int rowCount;
	knLawRow* rows;
};

// The groups of the islands that are touched and not too dense (joint_contact_groups.c). False: no memory.
bool knJointContacts_Group(knJointContacts* contacts, knArena* arena);
// The least of the group's sum: changes x of all rows (joint_contact_newton.c). False if a matrix could not be factored.
bool knLawGroup_Descend(knLawGroup* group);

// joint_contact_linear.c: the matrix of the rows' weights, factored. False: it could not be.
bool knLawGroup_Factor(knLawGroup* group);
// The direction for the force in `forward`, in place. Of a large group, whose weights need not be those of the matrix,
// roughly; returns the iterations it took.
int knLawGroup_Solve(knLawGroup* group);

// The rate of a row at velocities v, [bodies][6].
static inline double knLawRow_Rate(const knBodyRow* row, int a, int b, const double* v) {
	double sum = 0.0;
	for (int c = 0; a >= 0 && c < 6; ++c) {
		sum += row->a[c] * v[6 * (ptrdiff_t)a + c];
	}
	for (int c = 0; b >= 0 && c < 6; ++c) {
		sum += row->b[c] * v[6 * (ptrdiff_t)b + c];
	}
	return sum;
}

// Adds a row times x to the forces on its bodies.
static inline void knLawRow_Push(const knBodyRow* row, int a, int b, double x, double* force) {
	if (a >= 0) {
		knBodyRow_AddTo(force + 6 * (ptrdiff_t)a, x, row->a);
	}
	if (b >= 0) {
		knBodyRow_AddTo(force + 6 * (ptrdiff_t)b, x, row->b);
	}
}
