// What the phases of the reduced stepper hand on. Everything is made for one step and lives in its arena; each field
// names who writes it. step_reduced.c is the list of phases, docs/methods/reduced.md the mathematics.
#pragma once

#include "articulated/forest.h"
#include "dynamics/contact_rows.h"
#include "dynamics/row_input.h"
#include "dynamics/sleep.h"
#include "steppers/reduced/reduced_memory.h"
#include "steppers/stepper_ops.h"

#define KN_REDUCED_SOFTNESS 0.01 // of a row's own resistance
#define KN_REDUCED_FEW 64 // contacts of an island, up to which rows are solved to the end in every step

// What an interior point knows of a contact (reduced_interior.c).
typedef struct knReducedCone {
	double weight;    // kg, 1/K
	double slack[3];  // m/s
	double cross[3];  // what the predictor's changes make together
	double w[3], eta; // scaling point
	double steer[2];  // change of the normal row by the slip's
} knReducedCone;

// The same of a scalar row: above its lower bound, below its upper one.
typedef struct knReducedBound {
	double slack[2], cross[2];
} knReducedBound;

// A contact point. Impulses act on B; n points from A to B.
typedef struct knReducedContact {
	int32_t bodyA, bodyB, linkA, linkB; // link -1: does not answer
	int32_t point;                      // of the list
	bool lasting;                       // carried load in the step before
	knVec3 n, t1, t2;
	knVec3 coreA, coreB;   // m, from the centres at the start: what turns with the body
	knVec3 roundA, roundB; // and what does not: the radius of a round surface
	knVec3 axisA, axisB;   // of a rim that rolls: its radius stays across this axis; zero: none
	double mu, gap;        // m
	double e;              // 1/kg, softness
	double lambda[3];      // N s, multipliers: of the round before

	// of a problem
	double target;     // m/s, of the normal row
	double shift;      // m/s, what the cone law adds to the normal row: mu times the slip of the round before
	double offset[3];  // N s, already part of the start
	double disc;       // N s, bound of friction by itself; negative: the cone law
	bool off;          // takes no part
	double impact[3];  // N s, of the impact before the part
	double rebound;    // m/s, with which the contact leaves at the end of the part; 0: as it comes
	double sum[3];     // N s, of all parts of the step, impacts included
	double moved;      // m, that the gap grew by in the part
	knVec3 armA, armB; // where it measures and pushes
	knMat33 byTurnA, byTurnB; // what a turn of each body does to the point's motion
	double r[3], dr[3], l[3];
	double D[9];        // slope of the law, frame axes, 1/e included
	knReducedCone cone; // of an interior point
} knReducedContact;

typedef enum knReducedLaw {
	KN_LAW_SOFT,  // spring and damper
	KN_LAW_BOUND, // lo <= lambda <= hi, towards rate `target`
	KN_LAW_DRIVE, // actuators: push - r/e, cut to [lo, hi]
	KN_LAW_CARRY, // armature: keeps the rate `target`, by the inertia `carried`
} knReducedLaw;

// A scalar row on one joint of the forest: coef . y.
typedef struct knReducedAxisRow {
	int32_t link, joint, axis;
	int32_t part; // knJointPart
	double coef[6];
	knReducedLaw law;
	double lo, hi, target;               // N s, rate
	double room;                         // of limits: distance at the start; INFINITY: none
	double x, stiffness, damping, theta; // soft
	double after;   // kg, soft: what takes out the swing that the step cannot follow, of velocities
	double push;    // N s, drives: at rate 0
	double carried; // kg m2 or kg
	double e, lambda;
	double offset; // N s, already part of the start
	bool off;      // takes no part in the problem
	double r, dr, l, slope;
	knReducedBound bound; // of an interior point
	double moved;         // of the coordinate in the part
} knReducedAxisRow;

// A scalar row between two bodies, of a loop joint or a rolling contact.
typedef struct knReducedPairRow {
	int32_t bodyP, bodyC, linkP, linkC;
	int32_t joint, part;
	int32_t index;      // of the joint's locked rows
	knTwist alongStart; // the row in the parent joint frame's axes
	knTwist jP, jC;     // where it pushes, at the centres
	knTwist eP, eC;     // how it changes
	knReducedLaw law;
	double lo, hi, target, room;
	double x, stiffness, damping, theta, after;
	double error; // locked rows: at the end of the step (implicit step)
	double e, lambda, offset;
	double before; // N s, lambda of the round before
	bool off;      // takes no part in the problem
	double r, dr, l, slope;
	knReducedBound bound; // of an interior point
	double moved;         // of the coordinate in the part
	bool locked;
} knReducedPairRow;

typedef struct knReducedStep knReducedStep;

// A problem for Newton's method over the forest: links with forces that depend on their motion, and rows with laws.
typedef struct knReducedProblem {
	knReducedStep* step;
	knForestSystem system;
	bool displacements;   // motions are displacements of the step, else velocities
	bool timed;           // rows act for the time h; else springs only damp what the step could not follow
	double rate;          // of rows, per unit of motion: 1/h if motions are displacements, 1 if velocities
	knForestBlock* base;  // [count] the links' own blocks
	knTreeForce* own;     // [count] what links ask for without rows
	const double* baseB;  // [bCount] joints' own matrices; NULL: none
	const double* ownTau; // [nv] joints' own impulses; NULL: none
	const knTwist* rates; // [bodyCount] velocities that rows measure

	// written by the solver
	knTreeForce* push;    // [count]
	knTreeForce* total;   // [count] what each link asks of its joint
	double* B;            // [bCount]
	double* tau;          // [nv]
	double* y;            // [nv]
	knTreeMotion* motion; // [count]
	bool factored;
	double slopeOfMerit; // y times the residual
	double lawTolerance; // m/s, by which rows may be left wrong
	double rowTolerance; // m/s, the same of few rows. knReducedProblem_Make

	// of the kind of problem
	void (*refresh)(struct knReducedProblem* problem);               // at the present iterate
	void (*advance)(struct knReducedProblem* problem, double scale); // by y
	void (*arrange)(struct knReducedProblem* problem); // after the totals are known; NULL: nothing to do
	double tolerance;                                  // m or m/s, of the last change
	bool useContacts, useAxes, usePairs;
	int iterations;

	// knReducedInterior_Solve
	bool smooth;     // many rows go by interior points
	bool interior;   // rows' laws are those of the present interior point
	double centre;   // (m/s)^2, that its impulses times slacks over weights aim at
	bool steers;     // laws follow the slips' change
	bool closing;    // impulses of bounded rows are what they are
	int patternRows; // rows between links that the couplings' pattern was made for
} knReducedProblem;

struct knReducedStep {
	knStepContext* context;
	double h;    // s, of the part that is under way
	double time; // s, since the start of the step

	// knReduced_Begin
	knForest forest;
	knForestCouplings couplings;
	double *q0, *v0;        // [nq], [nv] at the start
	knFrame* start;         // [bodyCount] poses at the start
	knTwist* before;        // [bodyCount] velocities at the start
	knTwist *now, *wanted;  // [bodyCount] of a problem of velocities: as they are; links: as they should be
	knTreeMotion* columns0; // [nv] S at the start
	knLanes *c0, *arm0;     // [count] c and the arms from parent to child at the start
	double* mobility;       // [36 count] J H^-1 J^T of every link's centre; NULL: not needed
	double* kOwn;           // [nv] what a unit of joint impulse does there; 0: not known
	bool responded;         // kOwn is known

	// rows
	knContactRows list;
	knRowInput input;
	knStepBodies blocks; // masses and velocities as contact lists read them
	knReducedContact* contacts;
	int contactCount;
	knReducedAxisRow* axes;
	int axisCount;
	knReducedPairRow* pairs;
	int pairCount;
	int crossCount; // contacts and pair rows between two links

	// end of the step
	double *q, *v;                 // [nq], [nv]
	knFrame* pose;                 // [bodyCount]
	knTwist* mean;                 // [bodyCount] mean velocities (implicit step)
	knTwist* after;                // [bodyCount] velocities at the end, of bodies by themselves
	knTreeMotion* columns;         // [nv] S at the end
	knLanes *c, *armEnd, *armMean; // [count]
	knTreeForce* rows;             // [nv] R
	knLanes* turning;              // [nv] G
	knTwist* reaction;             // [count] impulse of each link's joint on it, at its centre
	int iterations;                // of all problems

	// of a part: knReduced_Move, knReduced_Drift
	bool lands;      // something arrives in this part and does not bounce. knReduced_Impact
	bool drifts;     // the part was that of knReduced_Drift
	double approach; // m/s, of the fastest arrival; 0: nothing arrived. knReduced_Impact
	double known;    // J, that kinetic energy may grow by: gravity, users, motors, springs, kinematic bodies
	double put;      // J, of that by users, motors and kinematic bodies

	// of an island, over its parts: knReduced_StepIsland
	knTwist* reactionSum; // [count]
	double work;          // J, sum of `put`
	int subSteps, rung, guarded, failures;
	bool conflict; // loops that no motion closes: the island rests
	int conflicts; // loop joints of such islands (of the world's step)

	knSleep sleep; // of the world's step. knReduced_FindSleepers
};

// Islands of a world's step, each a step of its own.
typedef struct knReducedIslands {
	int count;
	knReducedStep* steps;
	int *linkFirst, *contactFirst, *axisFirst, *pairFirst; // [count + 1] into these, the world's numbers:
	int *links, *contacts, *axes, *pairs;
	int* local;     // [world's links] number in its island
	int* localOf;   // [bodyCount] the same of bodies; -1: no link
	int32_t* group; // [bodyCount] the island of its link; -1: no link
} knReducedIslands;

knStatus knReduced_OutOfMemory(const knReducedStep* step);

// --- reduced_begin.c -------------------------------------------------------------------------------------

// The forest, its coordinates, and what users changed since the last step.
knStatus knReduced_Begin(knReducedStep* step);
// Room over links and coordinates of step->forest. False: no memory.
bool knReduced_TakeLinks(knReducedStep* step);
// Start and end of kinematic bodies for a part of the step, s.
void knReduced_PlaceKinematics(knReducedStep* step, double from, double length);
// Writes coordinates, poses and velocities back.
knStatus knReduced_End(knReducedStep* step);

// The round part of a contact's arm after a turn of its body. `outward`: to the other body.
static inline knVec3 knReduced_RoundAfter(knVec3 round, knVec3 axis, knVec3 outward, knQuat turn) {
	if (axis.x == 0.0 && axis.y == 0.0 && axis.z == 0.0) {
		return round;
	}
	knVec3 a = knRotate(turn, axis);
	knVec3 radial = knMulAdd(outward, -knDot(outward, a), a);
	return knScale(knLength(round) / knMax(knLength(radial), 1e-6), radial);
}

// --- reduced_rows.c --------------------------------------------------------------------------------------

knStatus knReduced_FindContacts(knReducedStep* step);
knStatus knReduced_BuildAxes(knReducedStep* step);
// The speed at which a servo approaches its target: a share of the way per step, and no faster than it can brake. K: what a
// unit of its impulse does to the joint's two bodies.
double knReduced_ServoSpeed(double way, double maxForce, double K, double h);
knStatus knReduced_Collect(knReducedStep* step);

// --- reduced_pairs.c -------------------------------------------------------------------------------------

// Rows of loop joints.
knStatus knReduced_BuildPairs(knReducedStep* step);
// The pair rows at poses: `mean` where they push, `end` how they change; start and end may be the same.
void knReduced_PlacePairs(knReducedStep* step, const knFrame* start, const knFrame* end);

// --- reduced_islands.c -----------------------------------------------------------------------------------

// False: no memory.
bool knReduced_FindIslands(knReducedIslands* islands, const knReducedStep* world);
bool knReduced_OpenIsland(const knReducedIslands* islands, const knReducedStep* world, int k,
						  knReducedStep* step);
// Writes an island's results into the world's step.
void knReduced_CloseIsland(const knReducedIslands* islands, const knReducedStep* step, int k,
						   knReducedStep* world);

// --- reduced_sleep.c -------------------------------------------------------------------------------------

// Which islands sleep through this step (dynamics/sleep.h). False: no memory.
bool knReduced_FindSleepers(knReducedStep* world, const knReducedIslands* islands);
bool knReduced_IsAsleep(const knReducedStep* world, int body);
// The island that is number k stays as it is: coordinates, and what its rows carry.
void knReduced_KeepIsland(const knReducedIslands* islands, int k, knReducedStep* world);
// After knReduced_End: how long bodies have been at rest; islands that have been long enough stop.
void knReduced_RecordRest(knReducedStep* world, const knReducedIslands* islands);

// --- reduced_parts.c -------------------------------------------------------------------------------------

// One island by the whole step. False: no memory.
bool knReduced_StepIsland(knReducedStep* step);

// --- reduced_solve.c -------------------------------------------------------------------------------------

bool knReducedProblem_Make(knReducedProblem* problem, knReducedStep* step, double rate);
// Method of multipliers: rounds of Newton's method. False: not converged, or no memory in the arena.
bool knReducedProblem_Solve(knReducedProblem* problem, int rounds);

// Newton's method outside: rows at the present iterate; the direction y and the links' motions, with a matrix made anew or
// that of before. False: singular, or no memory.
void knReducedProblem_Measure(knReducedProblem* problem);
// What depends on the rows' impulses beside the laws, by the present ones.
void knReducedProblem_Arrange(knReducedProblem* problem);
// m or m/s, of any point of a link by the direction.
double knReducedProblem_LargestChange(const knReducedProblem* problem);
bool knReducedProblem_FindDirection(knReducedProblem* problem, bool anew);

// --- reduced_interior.c ----------------------------------------------------------------------------------

// Slope and impulse of rows at an interior point.
void knReducedInterior_Contact(const knReducedProblem* problem, knReducedContact* contact);
void knReducedInterior_Axis(const knReducedProblem* problem, knReducedAxisRow* row);
void knReducedInterior_Pair(const knReducedProblem* problem, knReducedPairRow* row);
// A problem of many rows; m/s by which they may be wrong. False: not converged, or no memory.
bool knReducedInterior_Solve(knReducedProblem* problem, double tolerance);

// --- reduced_motion.c ------------------------------------------------------------------------------------

// The implicit step: end coordinates, reactions; `smooth`: by interior points. False: it did not converge, or energy would
// rise.
bool knReduced_Move(knReducedStep* step, bool smooth);
// J, by velocities [bodyCount] of the links.
double knReduced_Kinetic(const knReducedStep* step, const knFrame* poses, const knTwist* velocities);
// J, of armature at joint rates v.
double knReduced_CarriedEnergy(const knReducedStep* step, const double* v);
// Writes `known`, `put` and how far rows moved, from the rows' impulses and the mean velocities.
void knReduced_SumWork(knReducedStep* step);
// The last resort: everything stays where it is for the step, and stops.
void knReduced_Rest(knReducedStep* step);

// --- reduced_velocity.c ----------------------------------------------------------------------------------

// Impulses at a pose: velocities v become those nearest to `wanted` (in the metric of the masses) that rows allow.
// Coordinates of velocities [bodyCount] that need not fit the joints.
bool knReduced_ReadVelocities(knReducedStep* step, const knTwist* wanted, double* v);
// kOwn: the rate that a unit impulse gives each joint coordinate, all others free.
bool knReduced_JointResponses(knReducedStep* step);
// mobility of the links that something touches, at the start.
bool knReduced_LinkMobilities(knReducedStep* step);
// Poses at which nothing overlaps, velocities as they are; `moved`: something did. False: no memory.
bool knReduced_PushOut(knReducedStep* step, bool* moved);
// What arrives stops, or bounces, before the step. `landing`: what does not bounce lands too, else step->lands says whether
// something would.
bool knReduced_Impact(knReducedStep* step, bool landing);
// The step that always has a solution: velocities with forces, as joints and rows at the start poses allow them, carried to
// the end by the coordinates. False: no memory.
bool knReduced_Drift(knReducedStep* step);
// Poses at the start, moved towards closed loops. False: no memory.
bool knReduced_CloseLoops(knReducedStep* step);
// Velocities at the end: joints and loaded contacts.
bool knReduced_After(knReducedStep* step);

// --- reduced_energy.c ------------------------------------------------------------------------------------

// After knReduced_After: what it took from a tree that nothing touches is given back.
void knReduced_ReturnEnergy(knReducedStep* step);

// --- reduced_closing.c -----------------------------------------------------------------------------------

// In the first step of a world: loops that are open close, by a motion of poses alone. After knReduced_Begin.
knStatus knReduced_Assemble(knReducedStep* step);
// KN_UNSUPPORTED, with the joint's name, if loops of the model's initial pose cannot close.
knStatus knReduced_CheckLoops(const knModel* model, const knSettings* settings, knError* error);
