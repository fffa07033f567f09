// Four joints, or bodies, at a time: work that only reads bodies, so that all joints are independent (joint_lanes.c). A lane
// has the bits of the same work done for one, whatever is in the others and whichever machine it is built for.
#pragma once

#include "steppers/impulse/articulation_internal.h"

#define KN_JOINT_LANES 4

// Lanes behind `count` repeat the first one and are not written.
typedef struct knJointLanes {
	const knArticulationSolve* solve;
	int count;
	int entry[KN_JOINT_LANES];
	knJointBlock* block[KN_JOINT_LANES]; // of the entries; behind them one that nobody reads
} knJointLanes;

typedef struct knJointKernel {
	const char* name;
	// R I R^T of four bodies; places may be the same.
	void (*turnTensors)(const knFrame* const pose[KN_JOINT_LANES], const knMat33* const local[KN_JOINT_LANES],
						knMat33* const world[KN_JOINT_LANES]);
	// Levers, axes and J of the blocks from the poses of the state.
	void (*takeFrames)(const knJointLanes* lanes);
	// Rows from the joint's axes to those of the world, their softness, and the factors of K; count 0 where it is singular.
	void (*factorRows)(const knJointLanes* lanes);
} knJointKernel;

extern const knJointKernel knJointKernelPlain;
#if defined(KN_AVX_KERNEL)
extern const knJointKernel knJointKernelAvx;
#endif

// The fastest that this machine can run.
const knJointKernel* knJointKernel_Best(void);
