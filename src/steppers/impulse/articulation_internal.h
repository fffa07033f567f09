// What the parts of the articulation solve share: one entry a joint, its two bodies under the present phase, and the
// parts of its free axes that may push only so much (bounds).
//
// Signs as everywhere else: a joint's wrench acts on the child, the parent gets the opposite at the same point; rates
// are those of the child relative to the parent.
#pragma once

#include "model/joint_parts.h"
#include "steppers/impulse/articulation.h"

typedef struct knJointDirect knJointDirect;

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
	double startRoom; // limits: at the start of the step, at most 0. knJointBounds_Begin
	double bias;      // wanted: rate + bias + gamma lambda = 0. knJointBounds_Begin
	double gamma;     // softness of springs. knJointBounds_Begin
	double lo, hi;    // knJointBounds_Begin; friction: at every visit
	double lambda;    // of this step so far
	double startRate; // motors: rate before the step
	bool held;        // limits: broken in this correction, and kept from then on
} knJointBound;

// One active joint.
typedef struct knSolveJoint {
	const knJoint* joint;
	const knJointOps* ops;
	int index;         // of the joint
	int parent, child; // bodies
	int boundBegin, boundCount;
	knTwist locked; // dynamics phase: impulse of locked directions at the child's start origin, world axes
	knTwist
		error; // at the start of the step, parent joint frame's axes: the dynamics phase leaves it as it is
	bool byRates;             // dynamics: predicted by rates and `curve` to the end of the step
	knTwist curve;            // what rates at the start miss of the error's growth, as a rate; world axes
	knVec3 shift;             // of the correction phase, kg m, on the child
	knVec3 lastShift;         // before the last round
	knTwist total;            // all impulses of the step likewise (each at the child's origin of its time)
	knQuat axes;              // parent joint frame at the start of the step
	knTwist closedP, closedC; // velocities with which it was found closed; knPreStabilize_Joint
	bool closed;
	double work; // J, of motors

	// steadying couple (joint_steady.c)
	knVec3 recalled; // force impulse of the last step, where this one begins without it
	knVec3 late;     // force impulse of the last step's arrival, world axes; then of this one's
	knVec3 couple;   // impulse so far
} knSolveJoint;

#define KN_BLOCK_ROWS 9

// Locked directions of a joint at the poses of the phase and, in the dynamics phase, the axes of its steadying couple,
// and K = B^T W B + softness, factored. Made at the first visit.
typedef struct knJointBlock {
	bool ready;
	int count;      // locked rows; 0: nothing locked, or K is singular
	int free;       // the first of them that belongs to a limit: in the correction, limits that are held
	double room[6]; // of those: way left
	int all;        // and the couple's, which follow
	bool slack;     // has a couple to be given back. knJointSteady_Rows
	knTwist rows[KN_BLOCK_ROWS]; // world axes
	knVec3 rP, rC;               // levers to the child's joint origin
	knQuat axes;                 // parent joint frame
	knFrame J;
	knTwist error;                               // of J, parent joint frame's axes
	double softness[KN_BLOCK_ROWS];              // of the couple's rows, and a trace of it for locked ones
	double factor[36];                           // LDL^T of K, locked rows alone
	double whole[KN_BLOCK_ROWS * KN_BLOCK_ROWS]; // and of all rows, if there is a couple
} knJointBlock;

struct knArticulationSolve {
	knArticulationInput input;
	knArticulationPhase phase;
	bool paper;
	bool velocitiesOnly;       // prestabilize=0: what joints would do without pre-stabilization
	bool settled;              // in this dynamics phase
	int preSweeps, postSweeps; // so far, the latter of this phase: they decide the direction

	// joints in the order of indices
	int jointCount;
	knSolveJoint* joints;
	knJointBlock* blocks;
	int boundCount;
	knJointBound* bounds;

	// islands: joints that are connected through moving bodies
	int islandCount;
	int* islandBegin;    // [islandCount + 1]
	int* islandJoint;    // entries, ascending within an island
	double* islandWorst; // [islandCount] error of a sweep
	uint8_t* looped;     // [islandCount] has closed loops, over immovable bodies as well
	uint8_t* stale;      // [islandCount] poses or rows changed since they were factored (joint_settle.c)
	uint8_t*
		exact; // [islandCount] settling is all it needs: solved directly, without bounds (joint_settle.c)
	uint8_t* shifted;                // [islandCount] by the last round of the correction
	uint8_t* pressed;                // [islandCount] contacts press on it: solved with them (joint_contact.c)
	int* bodyIsland;                 // [bodyCount] -1: no joint, or immovable
	struct knIslandBalance* balance; // [islandCount] (joint_correction.c)

	// bodies under the present phase
	const double* invMass;
	knMat33 *inertia, *invInertia; // world axes, of moving bodies. knArticulationSolve_TakeBodies
	knTwist* u;
	knTwist* shift; // [bodyCount] the way that the correction moves bodies by: u of that phase
	struct knPreconditioner* precondition; // joint_precondition.c
	struct knJointDirect* direct;          // joint_direct.c: islands with loops
	double* kinetic;                       // [bodyCount] J (joint_settle.c)
	int* jointsOfBody;                     // [bodyCount] how many
	uint8_t* pinned;                       // [bodyCount] by a joint to something immovable
	uint8_t* strung;   // [bodyCount] a link of a loop, as of a tread or net, that is not pinned
	knFrame* lastPose; // [bodyCount] before the last round of the correction
	knVec3* spin;      // [bodyCount] angular velocity before the correction, body axes
	knQuat* startTurn; // [bodyCount] and orientation
	struct knSettleVector* settle[5]; // [jointCount] each (joint_settle.c)
	knTwist* change;                  // [bodyCount] likewise; zero for immovable bodies
};

// The island of an active joint.
static inline int knSolveJoint_Island(const knArticulationSolve* solve, const knSolveJoint* joint) {
	const int child = solve->bodyIsland[joint->child];
	return child >= 0 ? child : solve->bodyIsland[joint->parent];
}

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

// Pushes, and counts the impulse, which acts at `offset` from the child's joint origin: as the joint's reaction, or in
// the correction phase as a shift. `locked` is the part of it along locked directions that a next step may begin with.
void knSolveJoint_Push(knArticulationSolve* solve, knSolveJoint* entry, const knJointPair* pair,
					   knTwist wrench, knVec3 offset, knTwist locked);

// Runs `joint` over all entries, islands in parallel; returns the worst of its answers.
typedef double knJointVisit(knArticulationSolve* solve, int i, double epsilon);
double knArticulationSolve_Sweep(knArticulationSolve* solve, knJointVisit* visit, bool backwards,
								 double epsilon);

// The blocks of all entries at the poses of the phase (joint_block.c), where they are not made yet; that of entry i.
void knJointBlocks_Make(knArticulationSolve* solve);
knJointBlock* knJointBlock_Get(knArticulationSolve* solve, int i);
// The impulses along the locked rows that answer a change of rates `change`: K z = -B^T change.
void knJointBlock_Answer(const knJointBlock* block, knTwist change, double z[6]);

// Does an arm of the joint turn so far in the step that a prediction along its arc says nothing about a push?
bool knJointBlock_TurnsFast(knArticulationSolve* solve, int i, const knTwist* velocities);
// What is wrong with the velocity V (world axes) of a joint at J: its locked part is to vanish.
knTwist knJoint_WrongRate(const knJoint* joint, knFrame J, knQuat axes, knTwist V);
// Correction phase (joint_correction.c): its beginning; moves the bodies of islands that were shifted, whose shifts are then
// zero; its end.
bool knJointCorrection_Reserve(knArticulationSolve* solve, knArena* arena);
void knJointCorrection_Begin(knArticulationSolve* solve);
void knJointCorrection_Shift(knArticulationSolve* solve);
// Did the last round help an island whose squared errors are now these? If not, it is taken back. Judge asks for all that it
// shifted, after the last round.
bool knJointCorrection_Helped(knArticulationSolve* solve, int island, double square);
void knJointCorrection_Judge(knArticulationSolve* solve);
double knJointCorrection_Soften(const knArticulationSolve* solve, int island);
void knJointCorrection_End(knArticulationSolve* solve);
// Blocks and inertias for the present poses of the state.
void knArticulationSolve_TakePoses(knArticulationSolve* solve);
// The same in parts: the inertias of bodies begin .. end - 1, of islands that are set or (NULL) of all that move; the blocks of
// an island.
void knArticulationSolve_TakeBodies(knArticulationSolve* solve, int begin, int end, const uint8_t* which);
void knArticulationSolve_ForgetBlocks(knArticulationSolve* solve, int island);
// What is wrong with row k of a block whose joint has the error `wrong` (world axes).
static inline double knJointBlock_Wrong(const knJointBlock* block, int k, knTwist wrong) {
	return k < block->free || k >= block->count ? knDotT(block->rows[k], wrong) : block->room[k];
}
// Error of a joint at given poses, parent joint frame's axes.
knTwist knSolveJoint_ErrorAt(const knSolveJoint* entry, knFrame poseP, knFrame poseC);
// Impulses and rates along the rows of one joint.
struct knSettleVector {
	double v[KN_BLOCK_ROWS];
};
// Preconditioner of the settling (joint_precondition.c): pattern; numbers of an island, which is the range [begin,
// end) of islandBegin; z <- M^-1 z.
bool knPreconditioner_Reserve(knArticulationSolve* solve, knArena* arena);
void knPreconditioner_Factor(knArticulationSolve* solve, int begin, int end);
void knPreconditioner_Solve(const knArticulationSolve* solve, int begin, int end, struct knSettleVector* z);
// Is it the inverse itself?
bool knPreconditioner_IsExact(const knArticulationSolve* solve, int island);
// An island of the settling and its linear problem (joint_linear.c): settle[1] holds the right-hand side and is used up,
// settle[0] the start and then the answer; at most `reach` iterations, or until the residual is `good` of the first.
typedef struct knSettleIsland {
	knArticulationSolve* solve;
	const int* entries;
	int begin, count; // range of islandBegin
	int index;
} knSettleIsland;
void knSettle_SolveLinear(const knSettleIsland* island, int reach, double good);
double knSettle_Dot(const knSettleIsland* island, const struct knSettleVector* a,
					const struct knSettleVector* b);
// q = K p; leaves W B p in solve->change.
void knSettle_Multiply(const knSettleIsland* island, const struct knSettleVector* p,
					   struct knSettleVector* q);
knJointPair knSettle_PairOn(const knArticulationSolve* solve, int i, knTwist* velocities);
knTwist knSettle_WrenchOf(const knJointBlock* block, const double* x);
// The right-hand side of joint i between contacts, into settle[1]. A share of its answer.
void knSettle_FindAgain(knArticulationSolve* solve, int i);
void knSettle_Push(knArticulationSolve* solve, int i, double share);
// One round of settling, in the dynamics phase, of an island alone, with the rows of before; worst rate before (m/s).
double knSettle_Island(knArticulationSolve* solve, int index);
// One more round of settling, in the dynamics phase, for what contacts have changed; worst rate before (m/s).
double knArticulationSolve_SettleAgain(knArticulationSolve* solve);
// Memory for joint_settle.c.
bool knArticulationSolve_ReserveSettle(knArticulationSolve* solve, knArena* arena);

// Bounds of a joint (joint_bounds.c): how many; their rows at the start of the dynamics phase, with the impulses of the last
// step times `scale` (NULL: none); one pass over them.
int knJointBounds_Count(const knJoint* joint, const knJointState* state);
void knJointBounds_List(const knJoint* joint, const knJointState* state, knJointBound* bounds);
void knJointBounds_Begin(knArticulationSolve* solve, int i, const knArticulationMemory* last, double scale);
void knJointBounds_Pass(knArticulationSolve* solve, int i, bool predicted);
// The same, all at once with contacts (joint_contact.c), in the dynamics phase: limits at the start poses; bound k
// of the joint as a row, false: it has no part; a change of its impulse.
typedef struct knBoundRow {
	knTwist wrench; // world axes
	double residual, gamma, lambda, lo, hi;
} knBoundRow;
void knJointBounds_Look(knArticulationSolve* solve, int i);
bool knJointBounds_Row(const knArticulationSolve* solve, int i, int k, knBoundRow* row);
void knJointBounds_Take(knArticulationSolve* solve, int i, int k, double change);
// Correction: holds the limits that are broken at J; rows (parent joint frame's axes) and rooms of those that are held, at
// most `most`; returns how many.
int knJointBounds_Hold(const knArticulationSolve* solve, const knSolveJoint* entry, knFrame J, int most,
					   knTwist* rows, double* rooms);
// Work of the dynamics phase, before u changes again.
void knJointBounds_AddWork(knArticulationSolve* solve, int i);

// Couples that keep taut joints from fluttering (joint_steady.c): the rows for the forces at hand; a joint that went slack gives
// its couple back; one visit.
void knJointSteady_Rows(knArticulationSolve* solve, const int* entries, int count);
void knJointSteady_Release(knArticulationSolve* solve, int i);
double knJointSteady_Visit(knArticulationSolve* solve, int i, double epsilon);
// Is the joint to be taken by its rates, because it is taut or an arm turns fast? Rows must be up to date.
bool knJointSteady_ByRates(knArticulationSolve* solve, int i);

// An island of one joint, which no contact presses on: it is closed by itself.
static inline bool knSettle_IsLone(const knArticulationSolve* solve, int island) {
	return solve->islandBegin[island + 1] - solve->islandBegin[island] == 1 && solve->pressed[island] == 0;
}
// knPreStabilize_Joint of all such islands, four at a time (default scheme, dynamics phase); islandWorst gets errors over h.
// Returns the worst of these.
double knPreStabilize_Lone(knArticulationSolve* solve, double epsilon);
// The published form of one joint's pre-stabilization (prestabilize_paper.c).
double knPreStabilize_PaperJoint(knArticulationSolve* solve, int i, double epsilon);
// The equations of entry i for a target joint frame, and an impulse on its child at their application point.
struct knJointNewton;
void knJointNewton_Set(const knArticulationSolve* solve, int i, knFrame target, struct knJointNewton* newton);
void knPreStabilize_Push(knArticulationSolve* solve, int i, const struct knJointNewton* newton,
						 knTwist wrench);
