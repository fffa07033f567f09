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
#include "core/tasks.h"
#include "steppers/impulse/joint_lanes.h"
#include "steppers/impulse/joint_newton.h"

#define CLOSED 1e-13 // m or rad: below this a joint is left alone
#define FAR_OPEN 0.1 // m or rad: Newton's step is searched along, not taken blindly
#define SEARCH_WIDTH 1e-2
#define BATCH 16 // lone joints that are closed at a time

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

// Newton's step of lane l, if it is open: its impulse along the locked rows.
static double closeLane(knArticulationSolve* solve, const knNewtonLanes* lanes, int l, int count,
						double epsilon) {
	const int i = lanes->entry[l];
	const knTwist* rows = lanes->rows[l];
	double z[6], K[36], error = 0.0;
	int pivots[6];
	for (int k = 0; k < count; ++k) {
		z[k] = -lanes->F[k][l];
		error = knMax(error, knAbs(z[k]));
	}
	if (!(error > CLOSED)) {
		return error;
	}
	for (int r = 0; r < count; ++r) {
		for (int c = 0; c < count; ++c) {
			K[count * r + c] = lanes->K[r][c][l];
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
		knJointNewton newton;
		knJointNewton_Set(solve, i, lanes->target[l], &newton);
		Search search = { &newton, rows, count, wrench, lanes->kept[l] };
		wrench = knScaleT(knGoldenSection(errorAlong, &search, SEARCH_WIDTH), wrench);
	}
	knSolveJoint* entry = &solve->joints[i];
	knJointPair pair = knJointPair_Make(solve, entry, lanes->levers[l].ang, lanes->levers[l].lin);
	knSolveJoint_Push(solve, entry, &pair, wrench, lanes->offsets[l].lin, wrench);
	return error;
}

// What a joint locks where its bodies are predicted to be; returns how many rows.
static int aim(const knSolveJoint* entry, knNewtonLanes* lanes, int l) {
	lanes->target[l] = entry->ops->projectState(entry->joint, lanes->J[l]);
	return entry->ops->lockedRows(entry->joint, lanes->target[l], lanes->rows[l]);
}

// At most four joints that share no moving body.
static void closeAny(knArticulationSolve* solve, const int* entries, int count, double epsilon,
					 double* errors) {
	const knJointKernel* kernel = knJointKernel_Best();
	knNewtonLanes lanes;
	int rowCount[KN_JOINT_LANES];
	lanes.solve = solve;
	lanes.closed = CLOSED;
	lanes.most = 0;
	for (int l = 0; l < KN_JOINT_LANES; ++l) {
		lanes.entry[l] = entries[l < count ? l : 0];
	}
	kernel->predict(&lanes);
	for (int l = 0; l < count; ++l) {
		rowCount[l] = aim(&solve->joints[entries[l]], &lanes, l);
		lanes.most = rowCount[l] > lanes.most ? rowCount[l] : lanes.most;
	}
	for (int l = 0; l < KN_JOINT_LANES; ++l) {
		lanes.target[l] = lanes.target[l < count ? l : 0];
		for (int k = l < count ? rowCount[l] : 0; k < lanes.most; ++k) {
			lanes.rows[l][k] = knZeroTwist();
		}
	}
	kernel->derive(&lanes);
	for (int l = 0; l < count; ++l) {
		errors[l] = closeLane(solve, &lanes, l, rowCount[l], epsilon);
	}
}

// Joints that share no moving body; errors[n] of entries[n].
static void closeJoints(knArticulationSolve* solve, const int* entries, int count, double epsilon,
						double* errors) {
	int any[KN_JOINT_LANES], from[KN_JOINT_LANES], held = 0;
	for (int n = 0; n < count; ++n) {
		const int i = entries[n];
		if (knJointSteady_ByRates(solve, i)) {
			errors[n] = knJointSteady_Visit(solve, i, epsilon);
		} else if (solve->joints[i].joint->kind == KN_JOINT_BALL) {
			errors[n] = closeBall(solve, i, epsilon);
		} else {
			any[held] = i;
			from[held++] = n;
		}
		if (held == KN_JOINT_LANES || (held > 0 && n + 1 == count)) {
			double error[KN_JOINT_LANES];
			closeAny(solve, any, held, epsilon, error);
			for (int l = 0; l < held; ++l) {
				errors[from[l]] = error[l];
			}
			held = 0;
		}
	}
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

// A batch of joints that share no moving body. Bounds have their turn between two attempts to close the joint.
static void closeBatch(knArticulationSolve* solve, const int* entries, int count, double epsilon,
					   double* errors) {
	int open[BATCH] = { 0 }, bounded[BATCH] = { 0 }, opened = 0, boundedCount = 0;
	double found[BATCH], again[BATCH];
	for (int n = 0; n < count; ++n) {
		const knSolveJoint* entry = &solve->joints[entries[n]];
		if (!isStillClosed(solve, entry)) {
			open[opened++] = entries[n];
		}
	}
	knJointSteady_Rows(solve, open, opened);
	for (int n = 0; n < opened; ++n) {
		knSolveJoint* entry = &solve->joints[open[n]];
		knJointSteady_Release(solve, open[n]);
		entry->closedP = solve->u[entry->parent];
		entry->closedC = solve->u[entry->child];
	}
	closeJoints(solve, open, opened, epsilon, found);
	for (int n = 0; n < opened; ++n) {
		knSolveJoint* entry = &solve->joints[open[n]];
		entry->closed = entry->boundCount == 0 && found[n] <= CLOSED;
		if (entry->boundCount > 0) {
			knJointBounds_Pass(solve, open[n], true);
			bounded[boundedCount++] = open[n];
		}
	}
	closeJoints(solve, bounded, boundedCount, epsilon, again);
	for (int n = 0, at = 0; n < count; ++n) {
		const bool wasOpen = at < opened && open[at] == entries[n];
		errors[n] = wasOpen ? found[at] : 0.0;
		at += wasOpen ? 1 : 0;
	}
}

double knPreStabilize_Joint(knArticulationSolve* solve, int i, double epsilon) {
	KN_ASSERT(solve->phase == KN_ARTICULATION_DYNAMICS);
	if (solve->velocitiesOnly) {
		return 0.0;
	}
	if (solve->paper) {
		return knPreStabilize_PaperJoint(solve, i, epsilon);
	}
	double error;
	closeBatch(solve, &i, 1, epsilon, &error);
	return error;
}

typedef struct LoneTask {
	knArticulationSolve* solve;
	double epsilon;
} LoneTask;

static void closeLone(int begin, int end, int worker, void* argument) {
	(void)worker;
	const LoneTask* task = argument;
	knArticulationSolve* solve = task->solve;
	int entries[BATCH], islands[BATCH], count = 0;
	for (int k = begin; k < end; ++k) {
		if (knSettle_IsLone(solve, k)) {
			islands[count] = k;
			entries[count++] = solve->islandJoint[solve->islandBegin[k]];
		}
		if (count == BATCH || (count > 0 && k + 1 == end)) {
			double errors[BATCH];
			closeBatch(solve, entries, count, task->epsilon, errors);
			for (int n = 0; n < count; ++n) {
				solve->islandWorst[islands[n]] = errors[n] / solve->input.h;
			}
			count = 0;
		}
	}
}

double knPreStabilize_Lone(knArticulationSolve* solve, double epsilon) {
	LoneTask task = { solve, epsilon };
	knTasks_For(&solve->input.tasks, solve->islandCount, BATCH, closeLone, &task);
	double worst = 0.0;
	for (int k = 0; k < solve->islandCount; ++k) {
		worst = knSettle_IsLone(solve, k) ? knMax(worst, solve->islandWorst[k]) : worst;
	}
	return worst;
}

double knPreStabilize_Sweep(knArticulationSolve* solve, double epsilon) {
	solve->preSweeps += 1;
	if (!solve->paper && !solve->velocitiesOnly) {
		return solve->input.h * knArticulationSolve_SettleAgain(solve);
	}
	return knArticulationSolve_Sweep(solve, knPreStabilize_Joint, false, epsilon);
}
