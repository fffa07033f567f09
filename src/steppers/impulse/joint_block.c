// Locked directions of a joint at the poses of the phase: K = B^T W B (Weinstein et al. 2006, section V), factored
// once and used by every sweep of the phase; four joints at a time. In the correction limits that are held count as locked.
#include "core/dense.h"
#include "core/tasks.h"
#include "steppers/impulse/joint_lanes.h"

#define FAST_TURN 0.7 // rad
#define JOINT_GRAIN 64

// A ball may turn as it likes.
static knTwist errorOf(const knJoint* joint, knFrame J, knFrame allowed) {
	return joint->kind == KN_JOINT_BALL ? knMakeTwist(knZero3(), J.p) : knJoint_ErrorTwist(J, allowed);
}

// What the joint locks at the frames of its block, in its own axes.
static void describe(const knArticulationSolve* solve, const knSolveJoint* entry, knJointBlock* block) {
	const knFrame allowed = entry->ops->projectState(entry->joint, block->J);
	block->ready = true;
	block->slack = false;
	block->error = errorOf(entry->joint, block->J, allowed);
	block->count = entry->ops->lockedRows(entry->joint, allowed, block->rows);
	block->free = block->count;
	if (solve->phase == KN_ARTICULATION_CORRECTION && entry->boundCount > 0) {
		block->count += knJointBounds_Hold(solve, entry, block->J, 6 - block->free, block->rows + block->free,
										   block->room + block->free);
	}
}

// Blocks of at most four entries.
static void build(knArticulationSolve* solve, const int* entries, int count) {
	const knJointKernel* kernel = knJointKernel_Best();
	knJointBlock spare;
	knJointLanes lanes = knJointLanes_Make(solve, entries, count);
	for (int l = count; l < KN_JOINT_LANES; ++l) {
		lanes.block[l] = &spare;
	}
	kernel->takeFrames(&lanes);
	for (int l = 0; l < count; ++l) {
		describe(solve, &solve->joints[entries[l]], lanes.block[l]);
	}
	kernel->factorRows(&lanes);
	for (int l = 0; l < count; ++l) {
		lanes.block[l]->all = lanes.block[l]->count;
	}
}

static void buildRange(int begin, int end, int worker, void* argument) {
	(void)worker;
	knArticulationSolve* solve = argument;
	int entries[KN_JOINT_LANES], count = 0;
	for (int i = begin; i < end; ++i) {
		if (!solve->blocks[i].ready) {
			entries[count++] = i;
		}
		if (count == KN_JOINT_LANES || (count > 0 && i + 1 == end)) {
			build(solve, entries, count);
			count = 0;
		}
	}
}

void knJointBlocks_Make(knArticulationSolve* solve) {
	knTasks_For(&solve->input.tasks, solve->jointCount, JOINT_GRAIN, buildRange, solve);
}

knJointBlock* knJointBlock_Get(knArticulationSolve* solve, int i) {
	if (!solve->blocks[i].ready) {
		build(solve, &i, 1);
	}
	return &solve->blocks[i];
}

void knJointBlock_Answer(const knJointBlock* block, knTwist change, double z[6]) {
	for (int i = 0; i < block->count; ++i) {
		z[i] = -knDotT(block->rows[i], change);
	}
	knDense_SolveLdl(block->factor, block->count, z);
}

knTwist knSolveJoint_ErrorAt(const knSolveJoint* entry, knFrame poseP, knFrame poseC) {
	const knJoint* joint = entry->joint;
	if (joint->kind == KN_JOINT_BALL) {
		// only where its two points are
		knVec3 apart = knSub(knPoint(poseC, joint->frameChild.p), knPoint(poseP, joint->frameParent.p));
		return knMakeTwist(knZero3(), knInvRotate(knMulQ(poseP.q, joint->frameParent.q), apart));
	}
	knFrame J = knJoint_Frame(joint, poseP, poseC);
	return errorOf(joint, J, entry->ops->projectState(joint, J));
}

static bool armTurnsFast(double h, knVec3 spin, knVec3 arm) {
	knVec3 way = knScale(h, knCross(spin, arm));
	return knLengthSquared(way) > FAST_TURN * FAST_TURN * knLengthSquared(arm);
}

bool knJointBlock_TurnsFast(knArticulationSolve* solve, int i, const knTwist* velocities) {
	const knSolveJoint* entry = &solve->joints[i];
	const knJointBlock* block = knJointBlock_Get(solve, i);
	const double h = solve->input.h;
	return armTurnsFast(h, velocities[entry->parent].ang, block->rP) ||
		   armTurnsFast(h, velocities[entry->child].ang, block->rC);
}
