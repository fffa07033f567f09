// Locked directions of a joint at the poses of the phase: K = B^T W B (Weinstein et al. 2006, section V), factored
// once and used by every sweep of the phase.
#include "core/dense.h"
#include "steppers/impulse/paper/articulation_internal.h"

static void build(const knArticulationSolve* solve, const knSolveJoint* entry, knJointBlock* block) {
	const knFrame* pose = solve->input.state->pose;
	const knFrame onP = knMulF(pose[entry->parent], entry->joint->frameParent);
	const knFrame onC = knMulF(pose[entry->child], entry->joint->frameChild);
	block->ready = true;
	block->axes = onP.q;
	block->rP = knSub(onC.p, pose[entry->parent].p);
	block->rC = knSub(onC.p, pose[entry->child].p);
	block->J = knJoint_Frame(entry->joint, pose[entry->parent], pose[entry->child]);
	block->count =
		entry->ops->lockedRows(entry->joint, entry->ops->projectState(entry->joint, block->J), block->rows);
	const knJointPair pair = knJointPair_Make(solve, entry, block->rP, block->rC);
	const int n = block->count;
	for (int i = 0; i < n; ++i) {
		block->rows[i] = knRotateT(block->axes, block->rows[i]);
		const knTwist response = knJointPair_Response(&pair, block->rows[i]);
		for (int k = 0; k <= i; ++k) {
			block->factor[i * n + k] = block->factor[k * n + i] = knDotT(block->rows[k], response);
		}
	}
	if (n > 0 && !knDense_FactorLdl(block->factor, n)) {
		block->count = 0;
	}
}

knJointBlock* knJointBlock_Get(knArticulationSolve* solve, int i) {
	if (!solve->blocks[i].ready) {
		build(solve, &solve->joints[i], &solve->blocks[i]);
	}
	return &solve->blocks[i];
}

void knJointBlock_Answer(const knJointBlock* block, knTwist change, double z[6]) {
	for (int i = 0; i < block->count; ++i) {
		z[i] = -knDotT(block->rows[i], change);
	}
	if (block->count > 0) {
		knDense_SolveLdl(block->factor, block->count, z);
	}
}
