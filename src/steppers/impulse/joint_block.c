// Locked directions of a joint at the poses of the phase: K = B^T W B (Weinstein et al. 2006, section V), factored
// once and used by every sweep of the phase. In the correction limits that are held count as locked.
#include "core/dense.h"
#include "steppers/impulse/articulation_internal.h"

#define SOFTNESS                                                                                             \
	1e-7 // of a locked row beside its own resistance: a net drawn flat has no solution without it
#define FAST_TURN 0.7 // rad

// A ball may turn as it likes.
static knTwist errorOf(const knJoint* joint, knFrame J, knFrame allowed) {
	return joint->kind == KN_JOINT_BALL ? knMakeTwist(knZero3(), J.p) : knJoint_ErrorTwist(J, allowed);
}

// Most rows are a force or a couple alone.
static knTwist turnRow(const knMat33* turn, knTwist row) {
	return knMakeTwist(knIsZero3(row.ang) ? row.ang : knMulMV(turn, row.ang),
					   knIsZero3(row.lin) ? row.lin : knMulMV(turn, row.lin));
}

static void build(const knArticulationSolve* solve, const knSolveJoint* entry, knJointBlock* block) {
	// in
	const knJoint* joint = entry->joint;
	const knState* state = solve->input.state;
	const knFrame poseP = state->pose[entry->parent], poseC = state->pose[entry->child];

	// the joint's frames on its bodies: knJoint_Frame, with what else is needed of them
	const knFrame onP = knMulF(poseP, joint->frameParent), onC = knMulF(poseC, joint->frameChild);
	block->ready = true;
	block->rP = knSub(onC.p, poseP.p);
	block->rC = knSub(onC.p, poseC.p);
	block->axes = onP.q;
	block->J = knInvMulF(onP, onC);
	const knFrame allowed = entry->ops->projectState(joint, block->J);
	block->error = errorOf(joint, block->J, allowed);
	block->count = entry->ops->lockedRows(joint, allowed, block->rows);
	block->free = block->count;
	if (solve->phase == KN_ARTICULATION_CORRECTION && entry->boundCount > 0) {
		block->count += knJointBounds_Hold(solve, entry, block->J, 6 - block->free, block->rows + block->free,
										   block->room + block->free);
	}
	knJointPair pair = knJointPair_Make(solve, entry, block->rP, block->rC);
	const knMat33 turn = knQuat_ToMat33(block->axes);
	for (int i = 0; i < block->count; ++i) {
		block->rows[i] = turnRow(&turn, block->rows[i]);
		knTwist response = knJointPair_Response(&pair, block->rows[i]);
		for (int k = 0; k <= i; ++k) {
			block->factor[block->count * i + k] = knDotT(block->rows[k], response);
		}
		block->softness[i] = SOFTNESS * block->factor[(block->count + 1) * i];
	}
	if (!knDense_FactorLdl(block->factor, block->count)) {
		block->count = 0;
	}
	block->all = block->count;
}

knJointBlock* knJointBlock_Get(knArticulationSolve* solve, int i) {
	knJointBlock* block = &solve->blocks[i];
	if (!block->ready) {
		build(solve, &solve->joints[i], block);
	}
	return block;
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
