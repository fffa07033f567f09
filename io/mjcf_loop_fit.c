// What of the gap of a loop no motion of the joints can close.
//
// A file gives the two ends of a loop in a few digits. Where the loop's rows depend on each other, as in every plane
// linkage that is closed by a ball joint, the digits' errors across the plane cannot be closed: MuJoCo's soft constraints
// rest with such a gap, hard ones have no solution. So it is taken as how the loop was meant.
//
//   g       gaps of the locked rows of all loops of a mechanism, as the scene stands
//   A       how the coordinates of its tree (and its free bodies) change them
//   (A A^T + e) y = g,   g0 = e y          what is left of g when A x comes as close as it can: e is round-off
//
// A A^T is summed over coordinates, each of which touches the few rows of loops that pass it.
#include "mjcf_loop_fit.h"

#include "core/array.h"
#include "core/dense.h"
#include "model/joint.h"

#define SOFTNESS                                                                                             \
	1e-12 // of the largest diagonal: directions in which A is 1e6 times smaller count as closed to it
#define MOST_SHARE 1e-3 // of the mechanism's size (angles: rad): a gap beyond that is no error of digits
#define ROUND_OFF 1e-15 // m or rad: no move
#define MOST_ROWS 240
#define PASSES 3

// A loop, and where its rows begin.
typedef struct Loop {
	knJointDef* def;
	int parent, child; // bodies
	bool fits;         // may be moved
	knFrame ends;      // the parent's joint frame in the world
	knFrame gap;       // the child's seen from it
	knTwist rows[6];   // in the parent's joint frame
	int first, count;
} Loop;

typedef struct Fit {
	knScene* scene;
	const knAllocator* allocator;
	int bodyCount; // slots, and the world: the last
	int* group;    // of a body, by union and find
	int* above;    // the slot of the joint by which a body hangs in the tree, -1: none
	KN_ARRAY(Loop) loops;
	double *matrix, *gaps, *column;
	double size; // largest arm of a row
} Fit;

// --- the mechanism ---------------------------------------------------------------------------------------

static int indexOf(const Fit* fit, knBodyId body) {
	return KN_ID_IS_NULL(body) ? fit->bodyCount - 1 : (int)body.index1 - 1;
}

static bool moves(const Fit* fit, int body) {
	const knBodyDef* def =
		body < fit->bodyCount - 1 ? knScene_GetBody(fit->scene, knScene_BodyAt(fit->scene, body)) : NULL;
	return def != NULL && def->kind == KN_BODY_DYNAMIC;
}

static knFrame poseOf(const Fit* fit, int body) {
	return body < fit->bodyCount - 1 ? knScene_GetBody(fit->scene, knScene_BodyAt(fit->scene, body))->frame
									 : knIdentityF();
}

static int rootOf(const Fit* fit, int body) {
	while (fit->group[body] != body) {
		body = fit->group[body] = fit->group[fit->group[body]];
	}
	return body;
}

static void gatherTree(Fit* fit) {
	for (int b = 0; b < fit->bodyCount; ++b) {
		fit->group[b] = b;
		fit->above[b] = -1;
	}
	for (int slot = 0; slot < knScene_JointSlots(fit->scene); ++slot) {
		const knJointDef* def = knScene_GetJoint(fit->scene, knScene_JointAt(fit->scene, slot));
		if (def == NULL || !def->enabled || def->kind == KN_JOINT_CUSTOM) {
			continue;
		}
		const int parent = indexOf(fit, def->parent), child = indexOf(fit, def->child);
		if (moves(fit, parent) && moves(fit, child)) {
			fit->group[rootOf(fit, parent)] = rootOf(fit, child);
		}
		if (!def->loop && moves(fit, child) && fit->above[child] < 0) {
			fit->above[child] = slot;
		}
	}
}

static bool gatherLoops(Fit* fit, const knJointId* joints, int count) {
	for (int slot = 0; slot < knScene_JointSlots(fit->scene); ++slot) {
		const knJointId id = knScene_JointAt(fit->scene, slot);
		knJointDef* def = knScene_EditJoint(fit->scene, id);
		if (def == NULL || !def->enabled || !def->loop || def->kind == KN_JOINT_CUSTOM) {
			continue;
		}
		Loop loop = { .def = def, .parent = indexOf(fit, def->parent), .child = indexOf(fit, def->child) };
		for (int i = 0; i < count; ++i) {
			loop.fits = loop.fits || KN_ID_EQUALS(joints[i], id);
		}
		if (!KN_ARRAY_PUSH(fit->allocator, &fit->loops, loop)) {
			return false;
		}
	}
	return true;
}

static int groupOf(const Fit* fit, const Loop* loop) {
	return rootOf(fit, moves(fit, loop->parent) ? loop->parent : loop->child);
}

// --- rows ------------------------------------------------------------------------------------------------

// Rows and gaps of the loops of a group; 0 if there are more rows than are looked at.
static int measure(Fit* fit, int group) {
	int rows = 0;
	for (int i = 0; i < fit->loops.count; ++i) {
		Loop* loop = &fit->loops.items[i];
		loop->count = 0;
		if (groupOf(fit, loop) != group) {
			continue;
		}
		const knJointOps* ops = knJointOps_Get(loop->def->kind);
		const knJoint joint = { .kind = loop->def->kind };
		loop->ends = knMulF(poseOf(fit, loop->parent), loop->def->frameParent);
		loop->gap = knInvMulF(loop->ends, knMulF(poseOf(fit, loop->child), loop->def->frameChild));
		loop->first = rows;
		loop->count = ops->lockedRows(&joint, loop->gap, loop->rows);
		const knTwist error = knJoint_ErrorTwist(loop->gap, ops->projectState(&joint, loop->gap));
		if (rows + loop->count > MOST_ROWS) {
			return 0;
		}
		for (int k = 0; k < loop->count; ++k) {
			fit->gaps[rows++] = knDot(loop->rows[k].ang, error.ang) + knDot(loop->rows[k].lin, error.lin);
		}
	}
	return rows;
}

// True if `body` hangs on `joint`, or, with joint -1, on `root`.
static bool hangsOn(const Fit* fit, int body, int joint, int root) {
	while (body != root) {
		const int above = moves(fit, body) ? fit->above[body] : -1;
		if (above < 0 || above == joint) {
			return above >= 0;
		}
		body = indexOf(fit, knScene_GetJoint(fit->scene, knScene_JointAt(fit->scene, above))->parent);
	}
	return joint < 0;
}

// Adds the rows' answers to a motion (world axes, about `at`) of what hangs on a joint, or on a free root.
static void addMotion(Fit* fit, int rows, int joint, int root, knVec3 at, knTwist motion) {
	for (int r = 0; r < rows; ++r) {
		fit->column[r] = 0.0;
	}
	for (int i = 0; i < fit->loops.count; ++i) {
		const Loop* loop = &fit->loops.items[i];
		if (loop->count == 0) {
			continue;
		}
		const int sign = (hangsOn(fit, loop->child, joint, root) ? 1 : 0) -
						 (hangsOn(fit, loop->parent, joint, root) ? 1 : 0);
		const knVec3 arm = knSub(knPoint(loop->ends, loop->gap.p), at);
		const knVec3 ang = knInvRotate(loop->ends.q, motion.ang);
		const knVec3 lin = knInvRotate(loop->ends.q, knAdd(motion.lin, knCross(motion.ang, arm)));
		fit->size = sign != 0 ? knMax(fit->size, knLength(arm)) : fit->size;
		for (int k = 0; k < loop->count && sign != 0; ++k) {
			fit->column[loop->first + k] =
				sign * (knDot(loop->rows[k].ang, ang) + knDot(loop->rows[k].lin, lin));
		}
	}
	for (int r = 0; r < rows; ++r) {
		for (int c = 0; c < rows && fit->column[r] != 0.0; ++c) {
			fit->matrix[r * rows + c] += fit->column[r] * fit->column[c];
		}
	}
}

static void addJoint(Fit* fit, int rows, int slot, int body) {
	const knJointDef* def = knScene_GetJoint(fit->scene, knScene_JointAt(fit->scene, slot));
	const knJointOps* ops = knJointOps_Get(def->kind);
	const knJoint joint = { .kind = def->kind, .nq = ops->nq, .nv = ops->nv };
	const knFrame parent = knMulF(poseOf(fit, indexOf(fit, def->parent)), def->frameParent);
	const knFrame child = knMulF(poseOf(fit, body), def->frameChild);
	double q[KN_JOINT_MAX_Q], neutral[KN_JOINT_MAX_Q];
	knTwist subspace[KN_JOINT_MAX_V];
	knJoint_NeutralCoordinates(&joint, neutral);
	ops->coordinates(&joint, knInvMulF(parent, child), neutral, q);
	ops->subspace(&joint, q, subspace);
	for (int a = 0; a < ops->nv; ++a) {
		const knTwist motion =
			knMakeTwist(knRotate(child.q, subspace[a].ang), knRotate(child.q, subspace[a].lin));
		addMotion(fit, rows, slot, -1, child.p, motion);
	}
}

static void addFree(Fit* fit, int rows, int body) {
	const knVec3 axes[3] = { { 1.0, 0.0, 0.0 }, { 0.0, 1.0, 0.0 }, { 0.0, 0.0, 1.0 } };
	const knVec3 at = poseOf(fit, body).p;
	for (int a = 0; a < 3; ++a) {
		addMotion(fit, rows, -1, body, at, knMakeTwist(knZero3(), axes[a]));
		addMotion(fit, rows, -1, body, at, knMakeTwist(axes[a], knZero3()));
	}
}

// --- the part that cannot be closed ----------------------------------------------------------------------

// Replaces the gaps by that part; false if there is none.
static bool project(Fit* fit, int group, int rows) {
	double largest = 0.0;
	fit->size = 0.0;
	for (int i = 0; i < rows * rows; ++i) {
		fit->matrix[i] = 0.0;
	}
	for (int b = 0; b < fit->bodyCount - 1; ++b) {
		if (!moves(fit, b) || rootOf(fit, b) != group) {
			continue;
		}
		if (fit->above[b] >= 0) {
			addJoint(fit, rows, fit->above[b], b);
		} else {
			addFree(fit, rows, b);
		}
	}
	for (int r = 0; r < rows; ++r) {
		largest = knMax(largest, fit->matrix[r * rows + r]);
	}
	const double softness = SOFTNESS * largest;
	for (int r = 0; r < rows; ++r) {
		fit->matrix[r * rows + r] += softness;
	}
	if (!(largest > 0.0) || !knDense_FactorLdl(fit->matrix, rows)) {
		return false;
	}
	knDense_SolveLdl(fit->matrix, rows, fit->gaps);
	for (int r = 0; r < rows; ++r) {
		fit->gaps[r] *= softness;
	}
	return true;
}

// Moves the child's ends; the largest move.
static double move(Fit* fit) {
	double largest = 0.0;
	for (int i = 0; i < fit->loops.count; ++i) {
		Loop* loop = &fit->loops.items[i];
		knTwist open = knZeroTwist();
		for (int k = 0; k < loop->count && loop->fits; ++k) {
			const double part = fit->gaps[loop->first + k];
			open.ang = knMulAdd(open.ang, part, loop->rows[k].ang);
			open.lin = knMulAdd(open.lin, part, loop->rows[k].lin);
		}
		const double angle = knLength(open.ang), length = knLength(open.lin);
		if ((angle <= ROUND_OFF && length <= ROUND_OFF) || angle > MOST_SHARE ||
			length > MOST_SHARE * fit->size) {
			continue;
		}
		const knQuat turn = angle > 0.0 ? knQuat_FromAxisAngle(open.ang, -angle) : knIdentityQ();
		const knFrame closed = { .p = knSub(loop->gap.p, open.lin),
								 .q = knNormalizeQ(knMulQ(turn, loop->gap.q)) };
		loop->def->frameChild = knInvMulF(poseOf(fit, loop->child), knMulF(loop->ends, closed));
		largest = knMax(largest, knMax(angle, length));
	}
	return largest;
}

static bool isFirstOfGroup(const Fit* fit, int index, int group) {
	bool fits = false;
	for (int i = 0; i < fit->loops.count; ++i) {
		if (groupOf(fit, &fit->loops.items[i]) == group) {
			fits = fits || fit->loops.items[i].fits;
			if (i < index) {
				return false;
			}
		}
	}
	return fits;
}

bool knLoopFit_Apply(knScene* scene, const knJointId* joints, int count, const knAllocator* allocator,
					 double* largest) {
	Fit fit = { .scene = scene, .allocator = allocator, .bodyCount = knScene_BodySlots(scene) + 1 };
	const size_t bodies = (size_t)fit.bodyCount;
	const size_t numbers = (size_t)MOST_ROWS * (MOST_ROWS + 2);
	fit.group = knAllocArray(allocator, bodies, 2 * sizeof(int));
	fit.matrix = knAllocArray(allocator, numbers, sizeof(double));
	bool ok = fit.group != NULL && fit.matrix != NULL;
	*largest = 0.0;
	if (ok) {
		fit.above = fit.group + bodies;
		fit.gaps = fit.matrix + MOST_ROWS * MOST_ROWS;
		fit.column = fit.gaps + MOST_ROWS;
		gatherTree(&fit);
		ok = gatherLoops(&fit, joints, count);
	}
	for (int i = 0; ok && i < fit.loops.count; ++i) {
		const int group = groupOf(&fit, &fit.loops.items[i]);
		for (int pass = 0; isFirstOfGroup(&fit, i, group) && pass < PASSES; ++pass) {
			const int rows = measure(&fit, group);
			if (rows > 0 && project(&fit, group, rows)) {
				*largest = knMax(*largest, move(&fit));
			}
		}
	}
	KN_ARRAY_FREE(allocator, &fit.loops);
	knFree(allocator, fit.matrix, numbers * sizeof(double));
	knFree(allocator, fit.group, bodies * 2 * sizeof(int));
	return ok;
}
