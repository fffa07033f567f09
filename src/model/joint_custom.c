// CUSTOM: a user's black box that knows only the closest allowed frame and the closest allowed velocity.
//
// Locked rows by probing: with P the user's velocity projection, a row r is locked if r . P e = 0 for every
// unit motion e, so the locked rows span the row space of 1 - P. The motion-subspace side is that of a free
// joint.
#include "core/dense.h"
#include "model/joint_free.h"
#include "model/joint_math.h"

// what a user's function leaves of a removed motion by its own differences counts as removed
#define PROBE_TOLERANCE 1e-7

static void storeTwist(knTwist t, double* six) {
	const double values[6] = { t.ang.x, t.ang.y, t.ang.z, t.lin.x, t.lin.y, t.lin.z };
	for (int i = 0; i < 6; ++i) {
		six[i] = values[i];
	}
}

int knJoint_ProbeLockedRows(const knCustomJoint* custom, knFrame J, knTwist rows[6]) {
	// rows of 1 - P one after another, as knDense_Range wants its columns
	double complement[36], basis[36];
	for (int e = 0; e < 6; ++e) {
		knTwist unit = knUnitTwist(e);
		double removed[6];
		storeTwist(knSubT(unit, custom->projectVelocity(J, unit, custom->context)), removed);
		for (int i = 0; i < 6; ++i) {
			// an answer that is not a number removes nothing
			complement[6 * i + e] = knIsFinite(removed[i]) ? removed[i] : 0.0;
		}
	}
	int rank = knDense_Range(complement, 6, 6, PROBE_TOLERANCE, basis);
	for (int i = 0; i < rank; ++i) {
		const double* b = basis + 6 * i;
		rows[i] = knMakeTwist(knV3(b[0], b[1], b[2]), knV3(b[3], b[4], b[5]));
	}
	return rank;
}

static knFrame projectState(const knJoint* joint, knFrame J) {
	return joint->custom.projectState(J, joint->custom.context);
}

static int lockedRows(const knJoint* joint, knFrame J, knTwist rows[6]) {
	return knJoint_ProbeLockedRows(&joint->custom, J, rows);
}

const knJointOps knJointOps_Custom = {
	.name = "custom",
	.synonyms = "",
	.nq = 7,
	.nv = 6,
	.projectState = projectState,
	.lockedRows = lockedRows,
	.coordinates = knJointFree_Coordinates,
	.transform = knJointFree_Transform,
	.subspace = knJointFree_Subspace,
	.subspaceRate = knJoint_NoSubspaceRate,
	.integrate = knJointFree_Integrate,
};
