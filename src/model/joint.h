// A joint, described once, from two sides.
//
//   (a) projection side, for maximal coordinates: the closest allowed joint frame, and the locked directions
//   (b) motion-subspace side, for reduced coordinates: q -> frame, S(q), and back
//
// J = {x, q} is the child's joint frame seen from the parent's. The relative twist V = (ang, lin) is that of the
// child relative to the parent, taken at the child's joint origin; sides (a) and (b) differ only in axes:
//   V_P in the parent joint frame's axes   (locked rows, CUSTOM's projection)
//   V_C in the child joint frame's axes    (S: V_C = S(q) qd)        V_P = q[V_C]
//
// Locked rows are orthonormal 6-vectors r with r . V_P = 0 for every allowed velocity. Limits, friction, motors and
// springs are parts that any joint takes (joint_parts.h); the ops below know nothing of them.
//
// Adding a joint: one file joint_*.c, one enum line in scene.h, one line in joint_table.c, one test.
#pragma once

#include "core/alloc.h"
#include "knuckle/scene.h"

#define KN_JOINT_MAX_Q 7
#define KN_JOINT_MAX_V 6

// The compiled joint. Bodies are dense indices (0 is the world), frames are relative to the centre of mass, body axes.
// Written by knModel_Create (authored) or knWorld_Attach (run time); plain data, so it may live in the state block.
typedef struct knJoint {
	knJointKind kind;
	int parent, child;
	knFrame frameParent, frameChild;
	int nq, nv;
	int qOffset, vOffset; // into knState's joint coordinates
	knJointAxis axis[6];
	bool coneLimited, twistLimited;
	double coneY, coneZ, twistLower, twistUpper;
	int reachCount;             // instead of a cone; 0: none
	knVec3 reach[KN_REACH_MAX]; // unit
	bool reachTwisted;          // twist limits of the corners differ from the joint's
	double reachLower[KN_REACH_MAX], reachUpper[KN_REACH_MAX];
	bool collide, loop;
	double maxForce;
	knCustomJoint custom;
} knJoint;

typedef struct knJointOps {
	const char* name;
	const char* synonyms; // the papers' names, space separated
	int nq, nv;

	// (a) The closest allowed joint frame (limits apart).
	knFrame (*projectState)(const knJoint* joint, knFrame J);
	// (a) Orthonormal locked rows in the parent joint frame's axes at J; returns their number.
	int (*lockedRows)(const knJoint* joint, knFrame J, knTwist rows[6]);

	// (b) Coordinates of the closest allowed frame; angles take the turn nearest to `previous`.
	void (*coordinates)(const knJoint* joint, knFrame J, const double* previous, double* q);
	// (b) The joint frame at q.
	knFrame (*transform)(const knJoint* joint, const double* q);
	// (b) Columns of S in the child's axes, at the child's joint origin.
	void (*subspace)(const knJoint* joint, const double* q, knTwist* S);
	// (b) dS/dt qd: zero for all joints whose S is constant in the child's axes.
	knTwist (*subspaceRate)(const knJoint* joint, const double* q, const double* qd);
	// (b) q <- q moved by h qd (exact for quaternions: right multiplication by exp).
	void (*integrate)(const knJoint* joint, double* q, const double* qd, double h);
} knJointOps;

// The table of all kinds (joint_table.c).
const knJointOps* knJointOps_Get(knJointKind kind);

// --- built on the table, for every kind ------------------------------------------------------------------

// The joint frame from the two bodies' centre-of-mass poses.
knFrame knJoint_Frame(const knJoint* joint, knFrame poseParent, knFrame poseChild);
// Relative twist V_P from the bodies' velocities (centre of mass, world axes).
knTwist knJoint_RelativeTwist(const knJoint* joint, knFrame poseParent, knTwist velParent, knFrame poseChild,
							  knTwist velChild);
// The closest allowed velocity: locked components removed (CUSTOM: the user's function).
knTwist knJoint_ProjectVelocity(const knJoint* joint, knFrame J, knTwist V);
// The small motion from the allowed frame to J, in the parent joint frame's axes: (rotation vector, displacement).
knTwist knJoint_ErrorTwist(knFrame J, knFrame allowed);
// Velocity coordinates of V_P: the least-squares qd of S qd = V_C.
void knJoint_Velocities(const knJoint* joint, knFrame J, const double* q, knTwist V, double* qd);
// Rows w (parent joint frame's axes) with qd_i = w_i . V_P for allowed velocities: the transposed pseudo-inverse of S.
void knJoint_CoordinateRows(const knJoint* joint, knFrame J, const double* q, knTwist rows[6]);
// Coordinates at J = identity, where counting of turns begins.
void knJoint_NeutralCoordinates(const knJoint* joint, double* q);

// CUSTOM: locked rows found by probing projectVelocity with six unit motions.
int knJoint_ProbeLockedRows(const knCustomJoint* custom, knFrame J, knTwist rows[6]);
