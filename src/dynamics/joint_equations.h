// The equations of one step of bodies and joints, found at the END of the step with impulses at the MEAN arms.
//
//   body    x' = x + h u          v' = (u - (1 - theta) v)/theta
//           R' = turn(h w) R      W' = (R^T w - (1 - theta) W)/theta,   L' = R' D W'
//           m (v' - v) - h f - sum of mean rows^T lambda = 0,   L' - L - h tau - sum of mean rows^T lambda = 0
//   joint   locked rows: gap at the end of the step = 0
//           other rows: change of a coordinate and impulse obey a law (joint_law.h)
//
// Unknown are the mean velocities (u, w) of each body and the impulses lambda. turn is the Cayley map, for which
// R'l - Rl = h w x (R'l + Rl)/2 holds exactly: with theta = 1/2 and mean arms, locked rows then do no work and keep both
// momenta, whatever the step. A body that only turns about an axle through its centre turns by the exponential map,
// whose angle is exact; its arms do not move, so that nothing is lost.
//
// A gap is bilinear in vectors fixed in the two bodies (P parent, C child, s from the parent's to the child's anchor):
//
//   POINT      s                    three rows, world axes
//   CROSS      length p_i . c_j     p_i, c_j axes of the joint frames: i of the parent's, j of the child's
//   ALONG      p_i . s
//
// The mean of one factor times the difference of the other is the exact difference of such a product; hence the mean
// rows. Rows of coordinates and of cones have their mean row corrected along the relative motion so that it gives the
// exact change too. Row signs: positive moves the child.
#pragma once

#include "solve/joint_law.h"
#include "model/state.h"

#define KN_EQUATIONS_MAX_ROWS 12
#define KN_EQUATIONS_MAX_AXES 9

// The span of time and the weights of its end: theta of the velocities, arms of the lever arms.
typedef struct knSpan {
	double h;     // s
	double theta; // 1/2: energy and momentum are exact
	double arms;  // likewise
	bool frozen;  // rows with a law stay on their branch
} knSpan;

typedef struct knEquationBody {
	// knEquationBody_Make
	double mass;                   // kg; 0: does not yield, its end pose is prescribed
	knMat33 inertia, invInertia;   // body axes
	knVec3 center;                 // m/s2 of gravity and forces: acceleration of the centre
	knVec3 torque;                 // N m
	knTwist force;                 // of users, N m and N
	double dampingLin, dampingAng; // 1/s
	bool moves;                    // does not yield, but moves: kinematic
	bool byExp;                    // turns by the exponential map

	// start of the step: set by the owner, prepared by knEquationBody_Begin
	knVec3 x, v, L;
	knQuat q;
	knMat33 R;
	knVec3 W;                // angular velocity, body axes
	double keepLin, keepAng; // (1 - e)/(1 + e), e the decay over the step

	// iterate
	knVec3 u, w;

	// end of the step: knEquationBody_Move
	knVec3 x1, v1, L1;
	knQuat q1;
	knMat33 R1;
	knMat33 T; // d R' R'^T = [T h dw]

	// knEquationBody_Residual, then less what joints give: knEquationJoint_Push
	knVec3 restLin, restAng;
	knVec3 changeLin, changeAng; // of u and w in the last iteration
	knMat33 stiffness;  // of the joints' impulses as arms turn with the body: knEquationJoint_Stiffen
	knMat33 inverseAng; // knEquationBody_Respond: inverse of the derivative of restAng by w
	double inverseLin;
} knEquationBody;

typedef struct knEquationRow {
	knTwist meanP, meanC; // (moment, force) on parent and child of a unit impulse
	knTwist endP, endC;   // derivative of gap/h by the bodies' (w, u)
	knTwist responseP,
		responseC; // (w, u) of the bodies by which the row's rate answers a wrench: weight, end row, inverse mass
	double change;   // N s, last change of lambda
	double gap;      // m: of a locked row at the end; of another the change d of its coordinate
	double moved;    // m, displacement over the step that belongs to lambda; axes
	double lambda;   // N s
	double residual; // m/s (or N s where lambda is given): of the row's equation
	double weight;   // the row's equation is weight (end rows . dx) + compliance dlambda = -residual
	double compliance;
} knEquationRow;

// A row with a law: a coordinate, a cone, or one side of the twist.
typedef struct knEquationAxis {
	int axis;                 // velocity coordinate; -1 cone, -2 twist
	int side;                 // of a twist limit
	bool quasi;               // the coordinate is the row's own displacement: a ball's turn without a spring
	knTwist start;            // row at the start, world axes, at the child's anchor
	double value;             // coordinate at the start
	double rate;              // m/s, of the coordinate at the start
	const knAxisDrive* drive; // what actuators ask in this step; NULL: nothing
	double armature;          // kg, of motors and actuators
	double inverseMass;       // of the row, the two bodies alone, 1/kg
	double bearing;           // m or 1, friction by load
	double friction;          // N s, without the load
	knJointLaw law;
	knJointBranch branch;

	// knEquationJoint_Settle: what the projection of velocities after the step may do
	bool settles;
	bool isMotor;
	bool keepsRate;      // armature: the rate of before is wanted, softly
	double wanted;       // m/s, the rate
	double lower, upper; // N s, bounds of its impulse
	double softness;     // m/s per N s
} knEquationAxis;

typedef struct knEquationJoint {
	const knJoint* joint;
	const knJointState* state;
	int index;         // of the joint in the model
	int parent, child; // in the island
	int locked, count; // rows: locked ones first
	bool point;        // the first three are POINT and no other moves a body's centre
	bool flipped;      // CROSS rows read the parent's axis: the parent is a wheel
	double length;     // m, of CROSS rows and of angles in tolerances
	knVec3 anchorP, anchorC;
	knVec3 axesP[3], axesC[3]; // of the joint frames, body axes
	double q[KN_JOINT_MAX_Q];  // coordinates at the start; knEquationJoint_End at the end
	double q1[KN_JOINT_MAX_Q];
	knVec3 rP, rC, sP; // at the start, world: own arms, and from the parent's centre to the child's anchor
	knVec3 dP[3], dC[3];
	int axisCount;
	knEquationAxis axes[KN_EQUATIONS_MAX_AXES];
	knTwist custom[6];   // CUSTOM: locked rows at the last mean pose, parent joint frame's axes
	knEquationRow* rows; // [count]
} knEquationJoint;

// --- bodies ---

knEquationBody knEquationBody_Make(const knModel* model, const knState* state, int body);
// Prepares the start of a span; the iterate becomes the velocities at its start.
void knEquationBody_Begin(knEquationBody* body, double h);
// End pose and velocities of the iterate. A body that does not yield moves by u and w.
void knEquationBody_Move(knEquationBody* body, const knSpan* span);
// What the equations of motion leave without joints.
void knEquationBody_Residual(knEquationBody* body, const knSpan* span);
// Derivatives, once all joints have added their stiffness. False: singular.
bool knEquationBody_Respond(knEquationBody* body, const knSpan* span);

// --- joints ---

// Bodies by their index in the island; parts that act now (motors, springs) are read from the state. Row memory is the
// caller's; knEquationJoint_RowCount tells how much.
int knEquationJoint_RowCount(const knModel* model, const knState* state, int index);
void knEquationJoint_Make(knEquationJoint* joint, const knModel* model, const knState* state, int index,
						  int parent, int child, const knEquationBody* bodies, knEquationRow* rows);
// Prepares the start of a span: axes, laws. `bodies` have begun.
void knEquationJoint_Begin(knEquationJoint* joint, const knEquationBody* bodies, const knSpan* span);
// At the iterate: gaps, mean rows, branches and residuals of the rows; takes the impulses from the bodies' residuals.
void knEquationJoint_Evaluate(knEquationJoint* joint, knEquationBody* bodies, const knSpan* span);
// End rows, and the joint's share of the bodies' stiffness.
void knEquationJoint_Derive(knEquationJoint* joint, knEquationBody* bodies, const knSpan* span);
// m, the worst of what the joint's rows leave.
double knEquationJoint_Error(const knEquationJoint* joint, double h);
// J, that motors and kinematic bodies put in over the span; after the last evaluation.
double knEquationJoint_Work(const knEquationJoint* joint, const knEquationBody* bodies, double h);
// After the last evaluation: what velocities at the end of the span shall hold for rows with a law.
void knEquationJoint_Settle(knEquationJoint* joint, double h);
// Rows of rates at the start of the span (after knEquationJoint_Begin), without the turn map, into endP and endC.
void knEquationJoint_RateRows(knEquationJoint* joint, const knEquationBody* bodies);
// Whether axes that shall agree point the same way at the end: CROSS rows vanish at half a turn as well.
bool knEquationJoint_WasAligned(const knEquationJoint* joint);
bool knEquationJoint_IsAligned(const knEquationJoint* joint, const knEquationBody* bodies);
// Once L is that of the end: the impulses of a joint that is open by the tolerance act at the middle of the gap, so that they
// keep angular momentum to round-off.
void knEquationJoint_Balance(const knEquationJoint* joint, double arms, knEquationBody* bodies);
// The wrench on the child at its anchor, world axes, N s, of all rows.
knTwist knEquationJoint_Impulse(const knEquationJoint* joint, const knEquationBody* bodies);
