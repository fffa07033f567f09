// Four joints, or bodies, at a time: work that only reads bodies, so that all joints are independent (joint_lanes.c). A lane
// has the bits of the same work done for one, whatever is in the others and whichever machine it is built for.
#pragma once

#include "steppers/impulse/articulation_internal.h"
#include "solve/body_matrix.h"

#define KN_JOINT_LANES 4

// Lanes behind `count` repeat the first one and are not written.
typedef struct knJointLanes {
	const knArticulationSolve* solve;
	int count;
	int entry[KN_JOINT_LANES];
	knJointBlock*
		block[KN_JOINT_LANES]; // of the entries; while blocks are made, behind them one that nobody reads
} knJointLanes;

// The first four of `count` entries.
static inline knJointLanes knJointLanes_Make(const knArticulationSolve* solve, const int* entries,
											 int count) {
	knJointLanes lanes = { .solve = solve, .count = count < KN_JOINT_LANES ? count : KN_JOINT_LANES };
	for (int l = 0; l < KN_JOINT_LANES; ++l) {
		lanes.entry[l] = entries[l < count ? l : 0];
		lanes.block[l] = &solve->blocks[lanes.entry[l]];
	}
	return lanes;
}

// Newton's equations of pre-stabilization (prestabilize.c) for joints that share no moving body.
typedef struct knNewtonLanes {
	const knArticulationSolve* solve;
	int entry[KN_JOINT_LANES]; // one may stand in several lanes

	// predict: the bodies' motions (knNewtonMotion: center, phi, turn, c1, c2), lane by lane, and the joint frames after them
	_Alignas(32) double parent[12][KN_JOINT_LANES];
	_Alignas(32) double child[12][KN_JOINT_LANES];
	knFrame J[KN_JOINT_LANES];

	// by the caller: targets and their locked rows, in the joint's axes, `most` of them: zero where a lane has fewer
	knFrame target[KN_JOINT_LANES];
	knTwist rows[KN_JOINT_LANES][6]; // derive: world axes
	int most;

	// derive: what is wrong along the rows, its change along them, and where the impulse acts
	_Alignas(32) double F[6][KN_JOINT_LANES];
	_Alignas(
		32) double K[6][6][KN_JOINT_LANES]; // by row, then direction; only where an F is more than `closed`
	double closed;
	knTwist kept[KN_JOINT_LANES];    // error of the start, world axes at the end
	knTwist levers[KN_JOINT_LANES];  // of the parent and the child
	knTwist offsets[KN_JOINT_LANES]; // lin: from the child's joint origin
} knNewtonLanes;

// Steadying couples (joint_steady.c).
typedef struct knSteadyLanes {
	double softness[KN_JOINT_LANES]; // of the couple; 0: none
	knVec3 line[KN_JOINT_LANES];     // and its axis, where there is one
} knSteadyLanes;

typedef struct knJointKernel {
	const char* name;
	// R I R^T of four bodies; places may be the same.
	void (*turnTensors)(const knFrame* const pose[KN_JOINT_LANES], const knMat33* const local[KN_JOINT_LANES],
						knMat33* const world[KN_JOINT_LANES]);
	// Levers, axes and J of the blocks from the poses of the state.
	void (*takeFrames)(const knJointLanes* lanes);
	// Rows from the joint's axes to those of the world, their softness, and the factors of K; count 0 where it is singular.
	void (*factorRows)(const knJointLanes* lanes);
	// All rows of a block as wrenches about the two bodies' centres, four rows at a time.
	void (*spreadRows)(const knJointBlock* block, knBodyRow rows[KN_BLOCK_ROWS]);
	// How soft couples have to be for the forces at hand; the blocks' locked rows are factored.
	void (*steady)(const knJointLanes* lanes, knSteadyLanes* steady);
	// The factors `whole` of all rows, with the softness of those that are not locked; all = count where they are singular.
	void (*factorAll)(const knJointLanes* lanes);
	void (*predict)(knNewtonLanes* lanes);
	void (*derive)(knNewtonLanes* lanes);
} knJointKernel;

extern const knJointKernel knJointKernelPlain;
#if defined(KN_AVX_KERNEL)
extern const knJointKernel knJointKernelAvx;
#endif

// The fastest that this machine can run.
const knJointKernel* knJointKernel_Best(void);
