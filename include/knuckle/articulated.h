// Dynamics of articulated trees in joint coordinates, as pure functions: usable without a world, without a stepper.
//
// A tree is links numbered so that a parent comes before its children; each hangs on its parent (or on the base: the
// world, or a frame that moves) by one joint of the vocabulary. A free joint makes a floating base. q holds the
// joints' coordinates and v their velocities in the order of links; v is what knJointKind says: S(q) v is the child's
// velocity relative to the parent at the joint, in the child joint frame's axes. Torques tau are dual to v; qdd is
// the rate of v.
//
//   H(q) qdd + C(q, v) = tau + sum of J^T f        C holds gravity
//
//   knTree_ForwardDynamics   qdd (articulated-body method)         knTree_MassMatrix   H (composite bodies)
//   knTree_InverseDynamics   tau (Newton and Euler, recursively)   knTree_Respond      dv after impulses
//   knTree_CollisionMatrix   K of a contact between links or with the base
//   knTreeDca_ForwardDynamics  qdd by divide and conquer, in parallel
//   knTreeLagrange           a baseline that also takes loops      knLinkageSet        the trees of a model
//
// All scratch lives in a knTreeWork, so that no call allocates and any number of threads can share a tree. Results
// depend only on the tree, not on how its links are numbered (beyond rounding).
#pragma once

#include "knuckle/collide.h"
#include "knuckle/scene.h"

KN_BEGIN_C

typedef struct knTree knTree;
typedef struct knTreeWork knTreeWork;

typedef struct knTreeLink {
	const char* name;    // for messages; may be NULL
	int parent;          // an earlier link, -1: the base
	knJointKind kind;    // not CUSTOM
	knFrame frameParent; // the joint frame in the parent link's frame
	knFrame frameChild;  // the joint frame in this link's frame
	knMassProps mass;    // in this link's frame; inertia about the centre
} knTreeLink;

// KN_BAD_DATA, naming the link: parents that do not come first, masses that are not positive, inertias that no body
// can have, frames or numbers that are not finite.
KN_API knTree* knTree_Create(const knTreeLink* links, int count, const knAllocator* allocator,
							 knError* error);
KN_API void knTree_Destroy(knTree* tree);
KN_API int knTree_LinkCount(const knTree* tree);
KN_API int knTree_CoordinateCount(const knTree* tree); // of q
KN_API int knTree_VelocityCount(const knTree* tree);   // of v, tau and qdd
KN_API int knTree_CoordinateOffset(const knTree* tree, int link);
KN_API int knTree_VelocityOffset(const knTree* tree, int link);
KN_API int knTree_LinkVelocityCount(const knTree* tree, int link);
KN_API int knTree_Parent(const knTree* tree, int link);

KN_API knTreeWork* knTreeWork_Create(const knTree* tree, const knAllocator* allocator, knError* error);
KN_API void knTreeWork_Destroy(knTreeWork* work);
// Where the base is from now on, and how it moves (velocity of its origin, world axes, constant); at first the world.
KN_API void knTreeWork_SetBase(knTreeWork* work, knFrame frame, knTwist velocity);

// Inertia that every velocity coordinate has by itself [nv], added to the diagonal of H from now on: armature of motors,
// and h d + h^2 k of dampers and springs that an implicit step solves with. Read where it is, never copied; NULL: none.
// All of dynamics and impulses below feel it; kinetic energy and momentum are the links', and the baseline has none.
KN_API void knTreeWork_SetDiagonal(knTreeWork* work, const double* diagonal);

// Coordinates with all joints closed (identity joint frames).
KN_API void knTree_NeutralCoordinates(const knTree* tree, double* q);
// q moved by h v (quaternions exactly).
KN_API void knTree_Integrate(const knTree* tree, double* q, const double* v, double h);

// --- kinematics ------------------------------------------------------------------------------------------

// Poses and velocities of all links into the work. What follows in this section reads them.
KN_API void knTree_Kinematics(const knTree* tree, knTreeWork* work, const double* q, const double* v);
KN_API knFrame knTree_LinkFrame(const knTree* tree, const knTreeWork* work, int link); // in the world
// Velocity of the link's point at its frame's origin, and its angular velocity, world axes.
KN_API knTwist knTree_LinkVelocity(const knTree* tree, const knTreeWork* work, int link);
// The same of accelerations, after knTree_InverseDynamics at the qdd wanted: angular, and the classical acceleration of the
// link's point at its frame's origin, less the gravity of that call.
KN_API knTwist knTree_LinkAcceleration(const knTree* tree, const knTreeWork* work, int link);
// Rows of dv -> velocity (angular 3, linear 3, world axes) of the link's point `point` (world): 6 x nv, row-major.
KN_API void knTree_Jacobian(const knTree* tree, const knTreeWork* work, int link, knVec3 point, double* J);
KN_API double knTree_KineticEnergy(const knTree* tree, const knTreeWork* work);
KN_API double knTree_PotentialEnergy(const knTree* tree, const knTreeWork* work, knVec3 gravity);
// Linear momentum, and angular momentum about `point`.
KN_API knTwist knTree_Momentum(const knTree* tree, const knTreeWork* work, knVec3 point);

// The other way round: coordinates and velocities from the links' frames in the world and the velocities of their
// origins (as knTree_LinkFrame, knTree_LinkVelocity). q holds earlier coordinates, from which turns are counted on
// (knTree_NeutralCoordinates to begin with). What the joints do not allow is left out. Only the base is read from
// `work`.
KN_API void knTree_ReadLinks(const knTree* tree, const knTreeWork* work, const knFrame* frames,
							 const knTwist* velocities, double* q, double* v);

// --- dynamics --------------------------------------------------------------------------------------------

// Forces on a link: moment about the link frame's origin and force, world axes. One per link, NULL: none.
KN_API void knTree_ForwardDynamics(const knTree* tree, knTreeWork* work, const double* q, const double* v,
								   const double* tau, const knTwist* forces, knVec3 gravity, double* qdd);
KN_API void knTree_InverseDynamics(const knTree* tree, knTreeWork* work, const double* q, const double* v,
								   const double* qdd, const knTwist* forces, knVec3 gravity, double* tau);
// H, nv x nv, row-major, both triangles.
KN_API void knTree_MassMatrix(const knTree* tree, knTreeWork* work, const double* q, double* H);
// H = L^T D L in place (strict lower triangle and diagonal), without fill: only entries of rows on a path to the
// root. False if H is not definite.
KN_API bool knTree_FactorMassMatrix(const knTree* tree, double* H);
// x <- H^-1 x with those factors.
KN_API void knTree_SolveMassMatrix(const knTree* tree, const double* H, double* x);

// --- divide and conquer ------------------------------------------------------------------------------------

// Forward dynamics by a balanced tree of sub-assemblies (Featherstone 1999): several times the work of
// knTree_ForwardDynamics, but in parallel; chains of n joints in log n rounds. Results do not depend on the threads.
typedef struct knTreeDca knTreeDca;

KN_API knTreeDca* knTreeDca_Create(const knTree* tree, const knAllocator* allocator, knError* error);
KN_API void knTreeDca_Destroy(knTreeDca* dca);
// Rounds from the leaves of the assembly tree to its root.
KN_API int knTreeDca_Depth(const knTreeDca* dca);
// As knTree_ForwardDynamics; tau may be NULL. Each refinement takes the torques that inverse dynamics finds missing for
// a correction: one brings chains of a thousand joints to rounding. `tasks` NULL: on the calling thread.
KN_API void knTreeDca_ForwardDynamics(knTreeDca* dca, knTreeWork* work, const double* q, const double* v,
									  const double* tau, const knTwist* forces, knVec3 gravity,
									  int refinements, const knTasks* tasks, double* qdd);

// --- derivatives -----------------------------------------------------------------------------------------

// Derivatives by q are by a step of knTree_Integrate, one velocity coordinate at a time: for quaternions, tangents.
// Forces on links keep their direction and stay at their links' origins. All matrices are nv x nv, row-major.
KN_API void knTree_InverseDynamicsDerivatives(const knTree* tree, knTreeWork* work, const double* q,
											  const double* v, const double* qdd, const knTwist* forces,
											  knVec3 gravity, double* byQ, double* byV);

typedef struct knTreeDerivatives {
	double* qdd;               // [nv] as knTree_ForwardDynamics
	double *byQ, *byV, *byTau; // of qdd; byTau is H^-1
	double* factors;           // knTree_FactorMassMatrix
} knTreeDerivatives;

// All arrays are the caller's. False if the mass matrix is not definite.
KN_API bool knTree_ForwardDynamicsDerivatives(const knTree* tree, knTreeWork* work, const double* q,
											  const double* v, const double* tau, const knTwist* forces,
											  knVec3 gravity, const knTreeDerivatives* out);

// --- impulses --------------------------------------------------------------------------------------------

// Articulated inertias at q: what the functions of this section need. knTree_ForwardDynamics does it too.
KN_API void knTree_PrepareImpulses(const knTree* tree, knTreeWork* work, const double* q);

// An impulse at a point of a link, world axes.
typedef struct knTreeImpulse {
	int link;
	knVec3 point;
	knVec3 impulse; // N s
	knVec3 moment;  // N m s, beside it
} knTreeImpulse;

// Change of v by impulses on links and (may be NULL) joint impulses [nv].
KN_API void knTree_Respond(const knTree* tree, knTreeWork* work, const knTreeImpulse* impulses, int count,
						   const double* jointImpulses, double* dv);
// K: the change of the velocity of linkA's point relative to linkB's, per impulse on A (and its opposite on B) at the
// point. linkB -1: the base. Costs the depth of the links only. For two trees, or a tree and a rigid body, K is the
// sum of both parties' K against the base.
KN_API knMat33 knTree_CollisionMatrix(const knTree* tree, const knTreeWork* work, int linkA, int linkB,
									  knVec3 point);

// A point that moves with a link; where it is now, in the world.
typedef struct knTreePoint {
	int link;
	knVec3 point;
} knTreePoint;

// The inverse of the inertia that `count` points show (operational space): J H^-1 J^T, 6 count x 6 count, row-major,
// J the points' knTree_Jacobian stacked.
KN_API void knTree_OperationalInverse(const knTree* tree, const knTreeWork* work, const knTreePoint* points,
									  int count, double* inverse);

// --- loops, and the baseline in maximal coordinates ----------------------------------------------------------

// A joint beside the tree's own, between any two links or a link and the base.
typedef struct knTreeLoop {
	const char* name;     // for messages; may be NULL
	int parent, child;    // links, -1: the base
	knJointKind kind;     // any; CUSTOM needs `custom`
	knFrame frameParent;  // the joint frame in the parent link's frame
	knFrame frameChild;   // and in the child's
	knCustomJoint custom; // KN_JOINT_CUSTOM only
} knTreeLoop;

// Newton's and Euler's equations of every link with a multiplier for every locked direction of every joint, factored
// as one block-sparse matrix: time and memory are linear on trees, and joints may close loops. It shares no recursion
// with the functions above.
typedef struct knTreeLagrange knTreeLagrange;

KN_API knTreeLagrange* knTreeLagrange_Create(const knTree* tree, const knTreeLoop* loops, int loopCount,
											 const knAllocator* allocator, knError* error);
KN_API void knTreeLagrange_Destroy(knTreeLagrange* lagrange);
// Blocks of the factor that the matrix does not have: 0 without loops.
KN_API int knTreeLagrange_FillBlocks(const knTreeLagrange* lagrange);
// qdd as knTree_ForwardDynamics, under the loops. Only the base is read from `work`. Loops that contradict
// each other or repeat what the tree says leave their superfluous multipliers at zero; false if q or v is not finite.
KN_API bool knTreeLagrange_ForwardDynamics(knTreeLagrange* lagrange, const knTreeWork* work, const double* q,
										   const double* v, const double* tau, const knTwist* forces,
										   knVec3 gravity, double* qdd);
// The force of loop `loop` after that call: on its child, at the child's joint origin, world axes.
KN_API knTwist knTreeLagrange_LoopForce(const knTreeLagrange* lagrange, int loop);

// --- linkages of a model ------------------------------------------------------------------------------------

// What a tree of a model hangs on.
typedef enum knBaseKind {
	KN_BASE_FLOATING,  // nothing: its roots have free joints
	KN_BASE_FIXED,     // the world and all fixed bodies
	KN_BASE_KINEMATIC, // one kinematic body: give its frame and velocity to knTreeWork_SetBase
} knBaseKind;

// A joint beside the spanning tree.
typedef struct knLinkageLoop {
	knJointId joint;
	knTreeLoop loop;
	bool outside;         // its end -1 is no part of the base but this body, and the frame is relative to it:
	knBodyId outsideBody; // a kinematic body beside a fixed base, or the world (null) beside a kinematic one
} knLinkageLoop;

// Bodies of a model that joints connect, as a tree. Links are bodies: their frames are the body frames.
typedef struct knLinkage {
	knTree* tree;
	int linkCount;
	knBodyId* bodies; // [linkCount]
	knJointId*
		joints;     // [linkCount] the joint that the link hangs on; null: the free joint of a floating root
	bool* reversed; // [linkCount] the link is that joint's parent: its coordinates run the other way
	knBaseKind base;
	knBodyId baseBody; // KN_BASE_KINEMATIC
	int loopCount;
	knLinkageLoop* loops;
} knLinkage;

typedef struct knLinkageSet knLinkageSet;

// Every dynamic body belongs to exactly one linkage, alone if no joint holds it. The spanning tree is found breadth
// first from the base (fixed before kinematic), or from the first body that is nobody's child; joints are taken in
// their order, free ones last. Disabled joints do not count. Joints marked `loop` and custom joints, which have no
// coordinates, are loop joints always; bodies that only those hold together are several roots of one linkage.
KN_API knLinkageSet* knLinkageSet_Create(const knModel* model, const knAllocator* allocator, knError* error);
KN_API void knLinkageSet_Destroy(knLinkageSet* set);
KN_API int knLinkageSet_Count(const knLinkageSet* set);
KN_API const knLinkage* knLinkageSet_At(const knLinkageSet* set, int index);
// Where a body is; false if it is not dynamic.
KN_API bool knLinkageSet_Find(const knLinkageSet* set, knBodyId body, int* linkage, int* link);
// The model's initial state in joint coordinates: sets the base of `work`, writes q and v.
KN_API void knLinkage_InitialState(const knLinkage* linkage, const knModel* model, knTreeWork* work,
								   double* q, double* v);

KN_END_C
