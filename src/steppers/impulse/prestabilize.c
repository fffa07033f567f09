// Articulation pre-stabilization (Weinstein et al. 2006, section IV): an impulse at the start of the step such that the
// joint is closed when the bodies have moved. Default form: force and couple at once, in the constrained subspace.
//
//   J'  joint frame after the move         J* = the closest one the joint allows
//   B   locked rows at J*, world axes      B^T dF B z = -B^T F,  wrench B z on the child
//
// Only locked directions are ever pushed: aiming at the whole of J*, as published, puts impulses along free axes too,
// and a force found before the couple is spoilt by it. One Newton step a visit is enough, since the sweeps
// come round again; J* and B are taken anew each time. The error that a joint had at the start is kept: to close a gap
// within the step takes a speed of gap/h, which must neither become a velocity nor be remembered as a force; the
// correction after the move closes it. A joint torn far open takes the best part of the step instead.
#include "core/dense.h"
#include "steppers/impulse/articulation_internal.h"
#include "steppers/impulse/joint_newton.h"

#define CLOSED 1e-13 // m or rad: below this a joint is left alone
#define FAR_OPEN 0.1 // m or rad: Newton's step is searched along, not taken blindly
#define SEARCH_WIDTH 1e-2

// One joint at the start of the step, as Newton's equations want it.
static void setBody(const knArticulationSolve* solve, int body, knVec3 arm, knQuat Q, knNewtonBody* out) {
	out->x = solve->input.state->pose[body].p;
	out->u = solve->u[body];
	out->invMass = solve->invMass[body];
	out->invInertia = solve->invInertia[body];
	out->arm = arm;
	out->Q = Q;
}

void knJointNewton_Set(const knArticulationSolve* solve, int i, knFrame target, knJointNewton* newton) {
	const knSolveJoint* entry = &solve->joints[i];
	const knFrame* pose = solve->input.state->pose;
	const knFrame frameP = entry->joint->frameParent, frameC = entry->joint->frameChild;
	const knFrame poseP = pose[entry->parent], poseC = pose[entry->child];
	newton->h = solve->input.h;
	knFrame place = knMulF(frameP, target);
	setBody(solve, entry->parent, knRotate(poseP.q, place.p), knMulQ(poseP.q, place.q), &newton->parent);
	setBody(solve, entry->child, knRotate(poseC.q, frameC.p), knMulQ(poseC.q, frameC.q), &newton->child);
	knJointNewton_SameCover(newton);

	// the application point lies midway between the two articulation points
	knVec3 gap = knSub(knAdd(poseC.p, newton->child.arm), knAdd(poseP.p, newton->parent.arm));
	newton->parent.lever = knMulAdd(newton->parent.arm, 0.5, gap);
	newton->child.lever = knMulAdd(newton->child.arm, -0.5, gap);
}

void knPreStabilize_Push(knArticulationSolve* solve, int i, const knJointNewton* newton, knTwist wrench) {
	knSolveJoint* entry = &solve->joints[i];
	knJointPair pair = knJointPair_Make(solve, entry, newton->parent.lever, newton->child.lever);
	knVec3 offset = knSub(newton->child.lever, newton->child.arm);
	knSolveJoint_Push(solve, entry, &pair, wrench, offset, wrench);
}

// --- the step along Newton's direction -------------------------------------------------------------------

typedef struct Search {
	const knJointNewton* newton;
	const knTwist* rows;
	int count;
	knTwist wrench, kept;
} Search;

static double errorAlong(double s, const void* context) {
	const Search* search = context;
	knTwist F = knJointNewton_Coupled(search->newton, knScaleT(s, search->wrench), NULL, 0, NULL);
	F = knSubT(F, search->kept);
	double sum = 0.0;
	for (int i = 0; i < search->count; ++i) {
		double f = knDotT(search->rows[i], F);
		sum += f * f;
	}
	return sum;
}

// --- closing one joint -----------------------------------------------------------------------------------

// A ball joint's equations are the linear ones alone.
static double closeBall(knArticulationSolve* solve, int i, double epsilon) {
	knJointNewton newton;
	knJointNewton_Set(solve, i, knIdentityF(), &newton);
	knMat33 slope;
	knVec3 f = knJointNewton_Linear(&newton, knZero3(), &slope);
	knTwist kept = knRotateT(solve->joints[i].axes, solve->joints[i].error);
	f = knSub(f, kept.lin);
	double error = knLength(f);
	if (error > CLOSED) {
		knMat33 inverse = knInverse33(&slope);
		knTwist wrench = knMakeTwist(knZero3(), knScale(-epsilon, knMulMV(&inverse, f)));
		if (error > FAR_OPEN) {
			const knTwist rows[3] = { { .lin = { 1, 0, 0 } },
									  { .lin = { 0, 1, 0 } },
									  { .lin = { 0, 0, 1 } } };
			Search search = { &newton, rows, 3, wrench, kept };
			wrench = knScaleT(knGoldenSection(errorAlong, &search, SEARCH_WIDTH), wrench);
		}
		if (knIsFinite3(wrench.lin)) {
			knPreStabilize_Push(solve, i, &newton, wrench);
		}
	}
	return error;
}

static double closeAny(knArticulationSolve* solve, int i, double epsilon) {
	// in
	const knSolveJoint* entry = &solve->joints[i];
	const knJoint* joint = entry->joint;
	const knFrame* pose = solve->input.state->pose;
	const double h = solve->input.h;

	// predicted joint frame and its target
	knNewtonMotion mp = knNewtonMotion_Make(pose[entry->parent].p, solve->u[entry->parent], h);
	knNewtonMotion mc = knNewtonMotion_Make(pose[entry->child].p, solve->u[entry->child], h);
	knFrame endP = knMakeFrame(mp.center, knMulQ(mp.turn, pose[entry->parent].q));
	knFrame endC = knMakeFrame(mc.center, knMulQ(mc.turn, pose[entry->child].q));
	knFrame target = entry->ops->projectState(joint, knJoint_Frame(joint, endP, endC));
	knJointNewton newton;
	knJointNewton_Set(solve, i, target, &newton);

	// the error along the locked rows
	knTwist rows[6], changes[6];
	int count = entry->ops->lockedRows(joint, target, rows);
	knQuat axes = knMulQ(endP.q, joint->frameParent.q);
	knTwist kept = knRotateT(axes, entry->error);
	knTwist F = knSubT(knJointNewton_Residual(&newton, &mp, &mc), kept);
	double z[6], error = 0.0;
	for (int k = 0; k < count; ++k) {
		rows[k] = knRotateT(axes, rows[k]);
		z[k] = -knDotT(rows[k], F);
		error = knMax(error, knAbs(z[k]));
	}
	if (!(error > CLOSED)) {
		return error;
	}

	// Newton's step
	knJointNewton_Changes(&newton, &mp, &mc, rows, count, changes);
	double K[36];
	int pivots[6];
	for (int r = 0; r < count; ++r) {
		for (int c = 0; c < count; ++c) {
			K[count * r + c] = knDotT(rows[r], changes[c]);
		}
	}
	if (!knDense_FactorLu(K, count, pivots)) {
		return error;
	}
	knDense_SolveLu(K, count, pivots, z);
	knTwist wrench = knZeroTwist();
	for (int k = 0; k < count; ++k) {
		wrench = knMulAddT(wrench, epsilon * z[k], rows[k]);
	}
	if (error > FAR_OPEN) {
		Search search = { &newton, rows, count, wrench, kept };
		wrench = knScaleT(knGoldenSection(errorAlong, &search, SEARCH_WIDTH), wrench);
	}
	knPreStabilize_Push(solve, i, &newton, wrench);
	return error;
}

static double closeJoint(knArticulationSolve* solve, int i, double epsilon) {
	if (knJointSteady_ByRates(solve, i)) {
		return knJointSteady_Visit(solve, i, epsilon);
	}
	return solve->joints[i].joint->kind == KN_JOINT_BALL ? closeBall(solve, i, epsilon)
														 : closeAny(solve, i, epsilon);
}

static bool sameTwist(knTwist a, knTwist b) {
	return a.lin.x == b.lin.x && a.lin.y == b.lin.y && a.lin.z == b.lin.z && a.ang.x == b.ang.x &&
		   a.ang.y == b.ang.y && a.ang.z == b.ang.z;
}

// Nothing has changed since the joint was found closed.
static bool isStillClosed(const knArticulationSolve* solve, const knSolveJoint* entry) {
	return entry->closed && sameTwist(entry->closedP, solve->u[entry->parent]) &&
		   sameTwist(entry->closedC, solve->u[entry->child]);
}

double knPreStabilize_Joint(knArticulationSolve* solve, int i, double epsilon) {
	KN_ASSERT(solve->phase == KN_ARTICULATION_DYNAMICS);
	if (solve->velocitiesOnly) {
		return 0.0;
	}
	if (solve->paper) {
		return knPreStabilize_PaperJoint(solve, i, epsilon);
	}
	knSolveJoint* entry = &solve->joints[i];
	if (isStillClosed(solve, entry)) {
		return 0.0;
	}
	knJointSteady_Rows(solve, i);
	entry->closedP = solve->u[entry->parent];
	entry->closedC = solve->u[entry->child];
	double error = closeJoint(solve, i, epsilon);
	if (entry->boundCount > 0) {
		knJointBounds_Pass(solve, i, true);
		closeJoint(solve, i, epsilon);
	}
	entry->closed = entry->boundCount == 0 && error <= CLOSED;
	return error;
}

double knPreStabilize_Sweep(knArticulationSolve* solve, double epsilon) {
	solve->preSweeps += 1;
	if (!solve->paper && !solve->velocitiesOnly) {
		return solve->input.h * knArticulationSolve_SettleAgain(solve);
	}
	return knArticulationSolve_Sweep(solve, knPreStabilize_Joint, false, epsilon);
}
