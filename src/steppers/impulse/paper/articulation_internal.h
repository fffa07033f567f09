// What the parts of the articulation solve share: one entry a joint, its two bodies under the present phase, and the
// parts of its free axes that may push only so much (bounds).
//
// Signs as everywhere else: a joint's wrench acts on the child, the parent gets the opposite at the same point; rates
// are those of the child relative to the parent.
#pragma once

#include "model/joint_parts.h"
#include "steppers/impulse/paper/articulation.h"
#include "steppers/impulse/paper/joint_newton.h"

typedef enum knBoundPart {
	KN_BOUND_LIMIT,
	KN_BOUND_FRICTION,
	KN_BOUND_SPRING,
	KN_BOUND_MOTOR,
	KN_BOUND_DRIVE
} knBoundPart;

// A row whose impulse over the step stays within [lo, hi].
typedef struct knJointBound {
	knBoundPart part;
	int axis, side;   // as in knJointLimit
	bool turns;       // limits: of an angle
	knTwist row;      // parent joint frame's axes. knJointBounds_Begin; limits: at every visit
	double room;      // limits: way left, at every visit
	double bias;      // wanted: rate + bias + gamma lambda = 0. knJointBounds_Begin
	double gamma;     // softness of springs. knJointBounds_Begin
	double lo, hi;    // knJointBounds_Begin; friction: at every visit
	double lambda;    // of this step so far
	double startRate; // motors: rate before the step
} knJointBound;

// One active joint.
typedef struct knSolveJoint {
	const knJoint* joint;
	const knJointOps* ops;
	int index;         // of the joint
	int parent, child; // bodies
	int boundBegin, boundCount;
	knTwist total; // all impulses of the step, on the child at its joint origin of their time, world axes
	double work;   // J, of motors
} knSolveJoint;

// Locked directions of a joint at the poses of the phase and K = B^T W B, factored. Made at the first visit.
typedef struct knJointBlock {
	bool ready;
	int count;       // locked rows; 0: nothing locked, or K is singular
	knTwist rows[6]; // world axes
	knVec3 rP, rC;   // levers to the child's joint origin
	knQuat axes;     // parent joint frame
	knFrame J;
	double factor[36]; // LDL^T of K
} knJointBlock;

struct knArticulationSolve {
	knArticulationInput input;
	knArticulationPhase phase;

	// joints in the order of indices
	int jointCount;
	knSolveJoint* joints;
	knJointBlock* blocks;
	int boundCount;
	knJointBound* bounds;

	// bodies under the present phase
	const double* invMass;
	knMat33* invInertia; // world axes, of moving bodies
	knTwist* u;
};

// The two bodies of a joint, with levers to a common point.
typedef struct knJointPair {
	knTwist *uP, *uC;
	double invMassP, invMassC;
	const knMat33 *invInertiaP, *invInertiaC;
	knVec3 rP, rC;
} knJointPair;

static inline knJointPair knJointPair_Make(const knArticulationSolve* solve, const knSolveJoint* joint,
										   knVec3 rP, knVec3 rC) {
	return (knJointPair){ .uP = &solve->u[joint->parent],
						  .uC = &solve->u[joint->child],
						  .invMassP = solve->invMass[joint->parent],
						  .invMassC = solve->invMass[joint->child],
						  .invInertiaP = &solve->invInertia[joint->parent],
						  .invInertiaC = &solve->invInertia[joint->child],
						  .rP = rP,
						  .rC = rC };
}

// Velocity of the child relative to the parent at the common point.
static inline knTwist knJointPair_Rate(const knJointPair* pair) {
	knVec3 lin = knAdd(pair->uC->lin, knCross(pair->uC->ang, pair->rC));
	lin = knSub(lin, knAdd(pair->uP->lin, knCross(pair->uP->ang, pair->rP)));
	return knMakeTwist(knSub(pair->uC->ang, pair->uP->ang), lin);
}

static inline bool knIsZero3(knVec3 v) {
	return v.x == 0.0 && v.y == 0.0 && v.z == 0.0;
}

// Its change under a wrench at the common point.
static inline knTwist knJointPair_Response(const knJointPair* pair, knTwist wrench) {
	if (knIsZero3(wrench.lin)) {
		knVec3 spinC = knMulMV(pair->invInertiaC, wrench.ang), spinP = knMulMV(pair->invInertiaP, wrench.ang);
		return knMakeTwist(knAdd(spinC, spinP), knAdd(knCross(spinC, pair->rC), knCross(spinP, pair->rP)));
	}
	knVec3 spinC = knMulMV(pair->invInertiaC, knAdd(wrench.ang, knCross(pair->rC, wrench.lin)));
	knVec3 spinP = knMulMV(pair->invInertiaP, knAdd(wrench.ang, knCross(pair->rP, wrench.lin)));
	knVec3 lin = knScale(pair->invMassC + pair->invMassP, wrench.lin);
	lin = knAdd(lin, knAdd(knCross(spinC, pair->rC), knCross(spinP, pair->rP)));
	return knMakeTwist(knAdd(spinC, spinP), lin);
}

// Immovable bodies are not written to: islands that hang on the same one are solved at the same time.
static inline void knJointPair_Push(const knJointPair* pair, knTwist wrench) {
	if (pair->invMassC > 0.0) {
		knVec3 torque = knAdd(wrench.ang, knCross(pair->rC, wrench.lin));
		pair->uC->lin = knMulAdd(pair->uC->lin, pair->invMassC, wrench.lin);
		pair->uC->ang = knAdd(pair->uC->ang, knMulMV(pair->invInertiaC, torque));
	}
	if (pair->invMassP > 0.0) {
		knVec3 torque = knAdd(wrench.ang, knCross(pair->rP, wrench.lin));
		pair->uP->lin = knMulAdd(pair->uP->lin, -pair->invMassP, wrench.lin);
		pair->uP->ang = knSub(pair->uP->ang, knMulMV(pair->invInertiaP, torque));
	}
}

// Pushes, and counts the impulse, which acts at `offset` from the child's joint origin, as the joint's reaction.
void knSolveJoint_Push(const knArticulationSolve* solve, knSolveJoint* entry, const knJointPair* pair,
					   knTwist wrench, knVec3 offset);

// joint_block.c: that of entry i at the poses of the phase.
knJointBlock* knJointBlock_Get(knArticulationSolve* solve, int i);
// The impulses along the locked rows that answer a change of rates `change`: K z = -B^T change.
void knJointBlock_Answer(const knJointBlock* block, knTwist change, double z[6]);

// Bounds of a joint (joint_bounds.c): how many; their rows at the start of the dynamics phase; one pass over them.
int knJointBounds_Count(const knJoint* joint, const knJointState* state);
void knJointBounds_List(const knJoint* joint, const knJointState* state, knJointBound* bounds);
void knJointBounds_Begin(knArticulationSolve* solve, int i);
void knJointBounds_Pass(knArticulationSolve* solve, int i, bool predicted);
// Work of the dynamics phase, before u changes again.
void knJointBounds_AddWork(knArticulationSolve* solve, int i);
