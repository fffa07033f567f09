// What the phases of one step of the impulse method hand on to each other; nothing outlives the step.
//
//   forces      blocks.u = velocities before forces, `force` what forces will add
//   contacts    `list`, `points`, `pairs`: one query with margins that cover the step's motion
//   collisions  blocks.u changes by impulses that bounce; then blocks.u += force
//   levels      `graph`, and the pairs sorted by level
//   contact     blocks.u changes by impulses that do not bounce, and `push` by ones that only move poses
#pragma once

#include "dynamics/bounce.h"
#include "dynamics/contact_correction.h"
#include "dynamics/contact_graph.h"
#include "dynamics/contact_groups.h"
#include "dynamics/contact_rows.h"
#include "dynamics/fast_bodies.h"
#include "dynamics/islands.h"
#include "dynamics/time_step.h"
#include "steppers/impulse/articulation.h"
#include "steppers/stepper_ops.h"

// A contact point of two bodies, impulses on B. Written by knImpulseContacts_Find. Every phase passes over the points, and
// those of a large pile do not stay in the cache: each is three lines of it, and what few steps need is elsewhere.
typedef struct knImpulsePoint {
	int32_t a, b;
	int32_t contact;     // index into list.contacts
	int32_t turn : 31;   // index into `turns`, -1: no rolling friction
	bool withJoints : 1; // the contact phase solves it together with joints: joint_contact.c
	knVec3 n, t1, t2;
	knVec3 rA, rB;     // from the centres of mass to the common point, at the start of the step
	double gap;        // m, at the start of the step
	double target;     // m/s, least speed of separation; contact phase
	double mu;         // friction
	double jn, j1, j2; // N s, carried in the contact phase
	double push;       // N s, of the push-out
} knImpulsePoint;

_Static_assert(sizeof(knImpulsePoint) == 192, "three lines of the cache");

// Rolling and spinning friction at a point.
typedef struct knImpulseTurn {
	double arm; // m
	knVec3 g;   // N m s, on B, carried in the contact phase
} knImpulseTurn;

// What a point did in the collision phase.
typedef struct knImpulseBounce {
	knVec3 impulse; // N s
	double held;    // N s, what holds this step's forces off what has bounced
} knImpulseBounce;

// The points of two shapes.
typedef struct knImpulsePair {
	int shapeA, shapeB;
	int a, b;         // bodies
	int first, count; // points
	int level;        // of the higher body; knContactLevels_*
	double e;         // restitution
} knImpulsePair;

// What is solved together in the default scheme, by group of bodies. The first two take the mean time step
// (dynamics/time_step.h), whose stages they are.
typedef enum knImpulsePart {
	KN_PART_SMALL, // few enough points to be solved to the end
	KN_PART_LARGE,
	KN_PART_END, // with joints, or with bodies that are followed along their way: velocities at the end of the step
	KN_PART_MEAN_COUNT = KN_PART_END,
} knImpulsePart;

typedef struct knImpulseStep {
	knStepContext* context;
	const knModel* model;
	knState* state;
	double h;

	knStepBodies blocks;
	double* weights;           // [bodyCount] of blocks; NULL: KN_WEIGHT_END. The scheme
	knFrame* start;            // [bodyCount] poses at which the contacts were found. knImpulseStep_Begin
	int32_t* partOf;           // [bodyCount] knImpulsePart, -1: does not move. knImpulseStep_Begin
	knTwist* force;            // [bodyCount] what forces add to blocks.u
	knTwist* push;             // [bodyCount] moves poses only
	bool pushes;               // points overlap. knContactPush_Run
	knBounceLanding* landings; // [bodyCount] where bounces happen; NULL: none did. knContactCollisions_Run

	knRowInput input;
	knContactRows list;
	knFastBodies fast; // knImpulseContacts_Find and the end of the step
	knImpulsePoint* points;
	int pointCount;
	knImpulseTurn* turns;
	int turnCount;
	knMat33*
		turnInverses; // [turnCount] of the sum of the inverse inertias, where points are solved with joints
	knImpulseBounce* bounces; // [pointCount]; NULL: nothing bounced. Collision phase, or knImpulsePaper_Step
	knImpulsePair* pairs;
	int pairCount;

	knContactGraph graph;
	int* order;      // [pairCount] pairs by level
	int* levelFirst; // [levelCount + 1] into order

	knTimeStep time;       // default scheme, of KN_PART_SMALL and KN_PART_LARGE. knContactSolve_Begin
	knSweepSet mean;       // their points, a stage a level, part after part. contact_solve.c
	bool meanBuilt;        // the same
	double* change;        // [bodyCount] by group, m2/s2, of the last sweep; NULL: not known. The same
	knSweepSet set;        // the points of KN_PART_END, a stage a level; knContactSweep_Begin
	knContactGroups known; // groups of bodies in contact, default scheme. knImpulseStep_BeginGroups

	int64_t pairTests; // knCollide_Pair calls

	knJointStep jointStep;       // islands with joints that are solved at once, default scheme
	knVec3* carried;             // [pointCount] N s along n, t1, t2: of points in these; NULL: none are
	knArticulationSolve* joints; // the others; NULL: none is active
	knIslands islands;           // bodies that touch or are joined; default scheme
	knGroupOrder groups;         // pairs by group, likewise
} knImpulseStep;

// Sweeps over contacts in this step.
int knImpulseStep_Sweeps(const knImpulseStep* step);
// Room, and velocities with this step's forces.
knStatus knImpulseStep_Begin(knImpulseStep* step);
knStatus knImpulseStep_ApplyForces(knImpulseStep* step);
// All that the default scheme knows before it collides: contacts, joints, groups.
knStatus knImpulseStep_Prepare(knImpulseStep* step);
// Joints that are not solved at once: step->joints.
knStatus knImpulseStep_BeginJoints(knImpulseStep* step);
// Reports what the step did, moves bodies to its end.
knStatus knImpulseStep_Move(knImpulseStep* step);
// The velocity of a body before forces.
static inline knTwist knImpulseStep_OldVelocity(const knImpulseStep* step, int body) {
	return knSubT(step->blocks.u[body], step->force[body]);
}
// Reports the time since `start` as the joints'.
static inline void knImpulseStep_CountJointTime(knImpulseStep* step, double start) {
	step->context->report->jointTime += knStepContext_Now(step->context) - start;
}
knStatus knImpulseStep_OutOfMemory(const knImpulseStep* step);
// Where a body is at the end of the step with velocity u.
knFrame knImpulseStep_Predict(const knImpulseStep* step, int body, knTwist u);
// u . M . v of one body.
double knImpulseStep_Product(const knImpulseStep* step, int body, knTwist u, knTwist v);
// The group of bodies in contact to which a point, or a pair, of two bodies belongs.
static inline int knImpulseStep_GroupOfBodies(const knImpulseStep* step, int a, int b) {
	int group = step->islands.group[a];
	return group >= 0 ? group : step->islands.group[b];
}
static inline int knImpulseStep_GroupOf(const knImpulseStep* step, const knImpulsePoint* p) {
	return knImpulseStep_GroupOfBodies(step, p->a, p->b);
}
// m, the collision envelope of a pair: of the smaller body that moves.
double knImpulseStep_Envelope(const knImpulseStep* step, int a, int b);
// The contacts of a pair of shapes with their bodies at given poses; at most KN_IMPULSE_PAIR_POINTS. Counted.
#define KN_IMPULSE_PAIR_POINTS 64
int knImpulseStep_TestPair(knImpulseStep* step, const knImpulsePair* pair, knFrame poseA, knFrame poseB,
						   double margin, knContactPoint* points);

// --- contacts (impulse_contacts.c) ---

// Asks the collider once, lists contacts and points, recalls what they carried.
knStatus knImpulseContacts_Find(knImpulseStep* step);
// Leaves out pairs that fly past each other. False when out of memory.
bool knImpulseContacts_DropPassing(knImpulseStep* step);
// secondary_impacts.c: who is struck hard in this step, into input.struck. False when out of memory.
bool knSecondaryImpacts_Find(knImpulseStep* step, const knContactSet* set);
// Takes the points anew from the list.
void knImpulseContacts_Take(knImpulseStep* step);
// The velocity of B relative to A at a point.
static inline knVec3 knImpulsePoint_Velocity(const knImpulsePoint* p, const knTwist* u) {
	knVec3 vA = knAdd(u[p->a].lin, knCross(u[p->a].ang, p->rA));
	knVec3 vB = knAdd(u[p->b].lin, knCross(u[p->b].ang, p->rB));
	return knSub(vB, vA);
}
// Room for this step's memories, once those of the last step are recalled: afterwards the state does not move.
knStatus knImpulseContacts_Reserve(knImpulseStep* step);
// Impulses into the contacts and into the memory; returns the work of kinematic bodies (J).
double knImpulseContacts_Collect(knImpulseStep* step);

// --- levels (contact_levels.c) ---

// Who rests on whom.
typedef struct knSupportEdges {
	knSupport* items; // room for two a pair
	int count;
} knSupportEdges;
static inline void knSupportEdges_Add(knSupportEdges* edges, int lower, int upper) {
	edges->items[edges->count++] = (knSupport){ lower, upper };
}
// Levels and the pairs by level, of the contact points' edges or of others.
knStatus knContactLevels_Build(knImpulseStep* step);
knStatus knContactLevels_BuildFrom(knImpulseStep* step, const knSupportEdges* edges);

// --- default scheme ---

// contact_collisions.c: points that approach bounce, before forces act; the velocities of the state change. False when out of
// memory.
bool knContactCollisions_Run(knImpulseStep* step, bool* bounced);
// Once the forces act: what has bounced keeps its speed.
void knContactCollisions_Hold(knImpulseStep* step);
// Bodies that have bounced end where they would have if they had done so at the surface: a part of the push.
void knContactCollisions_Land(knImpulseStep* step);

// contact_sweep.c: impulses accumulated over sweeps.

void knImpulsePoint_Apply(const knImpulseStep* step, const knImpulsePoint* point, knVec3 impulse);
// What the point carries, N s on B.
knVec3 knImpulsePoint_Carried(const knImpulsePoint* point);
// Shortens (x, y) to at most `length`.
static inline void knClampDisc(double* x, double* y, double length) {
	double square = *x * *x + *y * *y;
	if (square > length * length) {
		double scale = length / sqrt(square);
		*x *= scale;
		*y *= scale;
	}
}

// A set of the points of some parts, a stage a level, part after part; false when out of memory.
bool knContactSweep_BuildSet(knImpulseStep* step, knSweepSet* set, const int* parts, int partCount);
// The set of KN_PART_END, with what its points carry; false when out of memory.
bool knContactSweep_Begin(knImpulseStep* step);
// One sweep over it, up and down. m/s, the largest change of a body's speed.
typedef struct knContactNncg knContactNncg;
double knContactSweep_Run(knImpulseStep* step, knContactNncg* momentum);
// Impulses of a set back into the points.
void knContactSweep_Store(knImpulseStep* step, const knSweepSet* set);
// Impulses of the points into step->list.points, for who goes on from there; and back again.
void knContactSweep_HandOver(knImpulseStep* step);
void knContactSweep_TakeOver(knImpulseStep* step);

// contact_nncg.c: sweeps over the levels [first, end) of a part in a set, which go on in the direction of those before.
// NULL when out of memory.
knContactNncg* knContactNncg_Begin(knImpulseStep* step, const knSweepSet* set, int part, int first, int end);
// Upwards and down again; `between`, if not NULL, after each. m/s, the largest change of a body's speed.
typedef void knSweepTurnsFn(const knImpulseStep* step);
double knContactNncg_Sweep(knContactNncg* momentum, knSweepTurnsFn* between, knTwist* u);
// If another sweep follows.
void knContactNncg_After(knContactNncg* momentum, knTwist* u);
// After the last sweep: what it changed in a group, m2/s2 of its mass.
void knContactNncg_End(knContactNncg* momentum);
double knContactNncg_LastChange(const knContactNncg* momentum, int group);

// contact_solve.c: the solver of the mean time step.
// Begins the time step, once contacts are listed and before their memories go. False when out of memory.
bool knContactSolve_Begin(knImpulseStep* step);
// What bounces. The same.
bool knContactSolve_Bounce(knImpulseStep* step);
// Sweeps over the levels, while bodies turn with new arms. The same.
bool knContactSolve_Run(knImpulseStep* step);
// Impulses of bodies from those of the points.
void knContactSolve_Sum(knImpulseStep* step);
// The guard of the energy, once no more impulses come; points take over what is left of theirs.
bool knContactSolve_Finish(knImpulseStep* step);
// After the move: velocities of what is loaded, and overlaps. False when out of memory.
bool knContactSolve_Settle(knImpulseStep* step);

// Groups of bodies in contact, with the levels of the graph; then what is known of them after the sweeps, once the list's points
// have what they carry. False when out of memory.
bool knImpulseStep_BeginGroups(knImpulseStep* step);

// Levels from the ground up, what is below frozen, after the sweeps. False when out of memory.
bool knImpulseStep_PropagateShock(knImpulseStep* step);

// contact_push.c: takes out overlap of KN_PART_END without touching velocities. False when out of memory.
bool knContactPush_Run(knImpulseStep* step);
// Angular momentum that the pushes would bring in, once all are found.
void knContactPush_ReturnSpin(knImpulseStep* step);
