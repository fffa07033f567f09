// Parts of a joint's free axes: limits, friction, springs and motors, each an impulse lambda along a row d that may
// not leave [lo, hi] over the whole step.
//
//   wanted      d . V + bias + gamma lambda = 0       lambda clamped
//   limit       d . V + room/h >= 0                   lambda >= 0
//
// A push along d would tear the joint's locked directions, so it comes with the answer of those (Schur complement):
// d' = d + B z, K z = -B^T W d, and D = d . W d' is what the two jointed bodies resist with. With one bound the joint
// is then solved exactly; several take turns.
#include "steppers/impulse/paper/articulation_internal.h"

#include "model/control.h"

#define ERROR_GAIN 0.2     // share of the way that a servo plans for one step
#define BRAKING_SHARE 0.25 // of its greatest deceleration that a servo plans with
#define AT_LIMIT 1e-6      // m or rad: velocities are checked against limits with no more room than this

// --- the list --------------------------------------------------------------------------------------------

static bool hasMotor(const knJointState* state, int axis) {
	return state->motorMode[axis] == KN_MOTOR_VELOCITY || state->motorMode[axis] == KN_MOTOR_POSITION;
}

static int add(knJointBound* bounds, int count, knBoundPart part, int axis, int side) {
	if (bounds != NULL) {
		bounds[count] = (knJointBound){ .part = part, .axis = axis, .side = side, .turns = true };
		bounds[count].hi = bounds[count].room = (double)INFINITY;
	}
	return count + 1;
}

static int list(const knJoint* joint, const knJointState* state, knJointBound* bounds) {
	int count = 0;
	const bool ball = joint->kind == KN_JOINT_BALL;
	for (int i = 0; i < joint->nv; ++i) {
		const knJointAxis* axis = &joint->axis[i];
		if (knJointAxis_HasFriction(axis)) {
			count = add(bounds, count, KN_BOUND_FRICTION, i, 0);
		}
		if (knAxisRow_HasSpring(joint, state, i)) {
			count = add(bounds, count, KN_BOUND_SPRING, i, 0);
		}
		if (knAxisRow_HasDrive(state, i)) {
			count = add(bounds, count, KN_BOUND_DRIVE, i, 0);
		}
		if (hasMotor(state, i)) {
			count = add(bounds, count, KN_BOUND_MOTOR, i, 0);
		}
		if (axis->limited && !ball) {
			count = add(bounds, count, KN_BOUND_LIMIT, i, -1);
			count = add(bounds, count, KN_BOUND_LIMIT, i, 1);
		}
	}
	if (ball && (joint->coneLimited || joint->reachCount > 0)) {
		count = add(bounds, count, KN_BOUND_LIMIT, -1, 0);
	}
	if (ball && joint->twistLimited) {
		count = add(bounds, count, KN_BOUND_LIMIT, -2, -1);
		count = add(bounds, count, KN_BOUND_LIMIT, -2, 1);
	}
	return count;
}

int knJointBounds_Count(const knJoint* joint, const knJointState* state) {
	return list(joint, state, NULL);
}

void knJointBounds_List(const knJoint* joint, const knJointState* state, knJointBound* bounds) {
	int count = list(joint, state, bounds);
	double q[KN_JOINT_MAX_Q];
	knTwist S[6];
	knJoint_NeutralCoordinates(joint, q);
	knJointOps_Get(joint->kind)->subspace(joint, q, S);
	for (int k = 0; k < count; ++k) {
		bounds[k].turns = bounds[k].axis < 0 || knLengthSquared(S[bounds[k].axis].ang) > 0.5;
	}
}

// Room and row of every limit of the joint at J; far ones keep an infinite room.
static void lookAtLimits(const knArticulationSolve* solve, const knSolveJoint* entry, knFrame J,
						 double margin) {
	double q[KN_JOINT_MAX_Q];
	entry->ops->coordinates(entry->joint, J, &solve->input.state->q[entry->joint->qOffset], q);
	knJointBound* bounds = &solve->bounds[entry->boundBegin];
	for (int k = 0; k < entry->boundCount; ++k) {
		if (bounds[k].part == KN_BOUND_LIMIT) {
			bounds[k].room = (double)INFINITY;
			margin = bounds[k].lambda > 0.0 ? (double)INFINITY : margin;
		}
	}
	knJointLimit limits[KN_JOINT_MAX_LIMITS];
	int count = knJoint_Limits(entry->joint, J, q, margin, limits);
	for (int m = 0; m < count; ++m) {
		for (int k = 0; k < entry->boundCount; ++k) {
			bool same = bounds[k].axis == limits[m].axis && bounds[k].side == limits[m].side;
			if (bounds[k].part == KN_BOUND_LIMIT && same) {
				bounds[k].row = limits[m].row;
				bounds[k].room = limits[m].distance;
			}
		}
	}
}

// --- friction --------------------------------------------------------------------------------------------

// Most that a friction may push over the step. Its bearing's load is what the joint's locked directions have carried so far:
// the bound follows that from visit to visit, and in the end both belong together.
static double frictionLimit(const knArticulationSolve* solve, int i, const knJointBound* bound) {
	const knSolveJoint* entry = &solve->joints[i];
	const knJointBlock* block = &solve->blocks[i];
	const knJointAxis* axis = &entry->joint->axis[bound->axis];
	const double plain = solve->input.h * axis->friction;
	if (axis->bearing == 0.0) {
		return plain;
	}
	knVec3 carried = knZero3();
	for (int k = 0; k < block->count; ++k) {
		carried = knMulAdd(carried, knDotT(block->rows[k], entry->total), block->rows[k].lin);
	}
	knVec3 load = knJoint_BearingLoad(entry->joint, bound->row, knInvRotate(block->axes, carried));
	return plain + axis->bearing * knLength(load);
}

// --- one push --------------------------------------------------------------------------------------------

// d' and D of a row in world axes; D = 0 if the locked directions leave nothing of it.
static knTwist withAnswer(const knJointBlock* block, const knJointPair* pair, knTwist d, double* D) {
	knTwist response = knJointPair_Response(pair, d), along = d;
	double z[6];
	knJointBlock_Answer(block, response, z);
	for (int i = 0; i < block->count; ++i) {
		along = knMulAddT(along, z[i], block->rows[i]);
	}
	double alone = knDotT(d, response);
	*D = knDotT(d, knJointPair_Response(pair, along));
	*D = *D > 1e-12 * alone ? *D : 0.0;
	return along;
}

// residual: rate + bias, or what stands for it
static void solveBound(knArticulationSolve* solve, int i, const knJointPair* pair, knJointBound* bound,
					   knTwist d, double residual) {
	const knJointBlock* block = &solve->blocks[i];
	double D;
	knTwist along = withAnswer(block, pair, d, &D);
	if (D == 0.0) {
		return;
	}
	double lambda = bound->lambda - (residual + bound->gamma * bound->lambda) / (D + bound->gamma);
	double change = knClamp(lambda, bound->lo, bound->hi) - bound->lambda;
	if (change == 0.0) {
		return;
	}
	bound->lambda += change;
	knSolveJoint_Push(solve, &solve->joints[i], pair, knScaleT(change, along), knZero3());
	if (bound->part == KN_BOUND_MOTOR && solve->phase == KN_ARTICULATION_ARRIVAL) {
		solve->joints[i].work += change * (residual - bound->bias + 0.5 * D * change);
	}
}

// --- the start of the step -------------------------------------------------------------------------------

static void beginMotor(const knArticulationSolve* solve, int i, const knJointPair* pair,
					   knJointBound* bound) {
	const knSolveJoint* entry = &solve->joints[i];
	const knJointState* state = &solve->input.state->joint[entry->index];
	const double h = solve->input.h;
	double speed = state->motorTarget[bound->axis], force = state->motorMaxForce[bound->axis];
	if (state->motorMode[bound->axis] == KN_MOTOR_POSITION) {
		// a share of the way per step, and no faster than it can brake with a part of its force
		const double* q = &solve->input.state->q[entry->joint->qOffset];
		double rest = entry->joint->axis[bound->axis].rest, D;
		double way = speed - knJoint_AxisPosition(entry->joint, q, bound->axis) - rest;
		withAnswer(&solve->blocks[i], pair, knRotateT(solve->blocks[i].axes, bound->row), &D);
		speed = knMin(ERROR_GAIN * knAbs(way) / h, sqrt(2.0 * BRAKING_SHARE * force * D * knAbs(way)));
		speed = way < 0.0 ? -speed : (way > 0.0 ? speed : 0.0);
	}
	bound->bias = -speed;
	bound->hi = h * force;
	bound->lo = -bound->hi;
}

// What gives way: springs, armature, actuators.
static void beginSoft(knJointBound* bound, knAxisRow row) {
	bound->gamma = row.gamma;
	bound->bias = row.bias;
	bound->hi = row.hi;
	bound->lo = row.lo;
}

void knJointBounds_Begin(knArticulationSolve* solve, int i) {
	knSolveJoint* entry = &solve->joints[i];
	const knJointBlock* block = knJointBlock_Get(solve, i);
	const double* q = &solve->input.state->q[entry->joint->qOffset];
	knJointPair pair = knJointPair_Make(solve, entry, block->rP, block->rC);
	knJointPair before = pair;
	before.uP = &solve->input.state->velocity[entry->parent];
	before.uC = &solve->input.state->velocity[entry->child];
	knTwist along[6], rate = knInvRotateT(block->axes, knJointPair_Rate(&before));
	knJoint_CoordinateRows(entry->joint, block->J, q, along);
	for (int k = 0; k < entry->boundCount; ++k) {
		knJointBound* bound = &solve->bounds[entry->boundBegin + k];
		bound->lambda = 0.0;
		if (bound->part == KN_BOUND_LIMIT) {
			continue;
		}
		bound->row = along[bound->axis];
		bound->startRate = knDotT(bound->row, rate);
		const knAxisDrive* drive =
			knState_Drive(solve->input.state, solve->input.model, entry->index, bound->axis);
		if (bound->part == KN_BOUND_FRICTION) {
			bound->hi = frictionLimit(solve, i, bound);
			bound->lo = -bound->hi;
		} else if (bound->part == KN_BOUND_DRIVE) {
			beginSoft(bound, knAxisRow_Drive(entry->joint, drive, q, bound->axis, solve->input.h));
		} else if (bound->part == KN_BOUND_SPRING) {
			beginSoft(bound, knAxisRow_Spring(entry->joint, drive, q, bound->startRate, bound->axis,
											  solve->input.h));
		} else {
			beginMotor(solve, i, &pair, bound);
		}
	}
}

void knJointBounds_AddWork(knArticulationSolve* solve, int i) {
	knSolveJoint* entry = &solve->joints[i];
	for (int k = 0; k < entry->boundCount; ++k) {
		const knJointBound* bound = &solve->bounds[entry->boundBegin + k];
		if (bound->part == KN_BOUND_MOTOR || bound->part == KN_BOUND_DRIVE) {
			const knJointBlock* block = knJointBlock_Get(solve, i);
			knJointPair pair = knJointPair_Make(solve, entry, block->rP, block->rC);
			knTwist rate = knInvRotateT(block->axes, knJointPair_Rate(&pair));
			entry->work += 0.5 * bound->lambda * (bound->startRate + knDotT(bound->row, rate));
		}
	}
}

// --- a pass ----------------------------------------------------------------------------------------------

static bool hasLimits(const knArticulationSolve* solve, const knSolveJoint* entry) {
	for (int k = 0; k < entry->boundCount; ++k) {
		if (solve->bounds[entry->boundBegin + k].part == KN_BOUND_LIMIT) {
			return true;
		}
	}
	return false;
}

// What a limit's rate lacks; positive: nothing.
static double limitResidual(const knArticulationSolve* solve, const knJointBound* bound, double rate) {
	if (solve->phase == KN_ARTICULATION_DYNAMICS) {
		return rate + knMax(bound->room, 0.0) / solve->input.h;
	}
	return bound->room <= AT_LIMIT ? rate : (double)INFINITY;
}

static bool takesPart(const knArticulationSolve* solve, const knJointBound* bound, bool predicted) {
	if (bound->part == KN_BOUND_LIMIT) {
		// the target of pre-stabilization has the limits in it
		return bound->room < (double)INFINITY && !predicted;
	}
	return solve->phase == KN_ARTICULATION_DYNAMICS ||
		   (solve->phase == KN_ARTICULATION_ARRIVAL && bound->part != KN_BOUND_SPRING &&
			bound->part != KN_BOUND_DRIVE);
}

void knJointBounds_Pass(knArticulationSolve* solve, int i, bool predicted) {
	const knSolveJoint* entry = &solve->joints[i];
	const knJointBlock* block = knJointBlock_Get(solve, i);
	knJointPair pair = knJointPair_Make(solve, entry, block->rP, block->rC);
	if (!predicted && hasLimits(solve, entry)) {
		knTwist V = knJointPair_Rate(&pair);
		lookAtLimits(solve, entry, block->J, AT_LIMIT + solve->input.h * (knLength(V.ang) + knLength(V.lin)));
	}
	for (int k = 0; k < entry->boundCount; ++k) {
		knJointBound* bound = &solve->bounds[entry->boundBegin + k];
		if (!takesPart(solve, bound, predicted)) {
			continue;
		}
		if (bound->part == KN_BOUND_FRICTION) {
			bound->hi = frictionLimit(solve, i, bound);
			bound->lo = -bound->hi;
		}
		knTwist d = knRotateT(block->axes, bound->row);
		double rate = knDotT(d, knJointPair_Rate(&pair));
		double residual =
			bound->part == KN_BOUND_LIMIT ? limitResidual(solve, bound, rate) : rate + bound->bias;
		if (residual < (double)INFINITY) {
			solveBound(solve, i, &pair, bound, d, residual);
		}
	}
}
