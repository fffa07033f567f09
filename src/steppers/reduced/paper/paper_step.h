// The published step in joint coordinates (seed slides after Featherstone, Mirtich and Kokkevis), and the explicit integrators.
//
// Coordinates and velocities of the whole forest are integrated under a set C of constraints: what touches, limits that are
// reached, loops, motors and friction of joints. Each constraint is a row: where a unit force acts and what is measured there.
// step_paper.c is the loop; docs/methods/reduced.md the mathematics.
//
//   trees   the forest as knTrees, one for each run of links with a common base: accelerations without constraints
//   masses  the forest as one linear system: what test forces and impulses do to all links
//   from    contacts and rows of joints at the start of a part of the step; to: at its end
//   delta   [nv] way from the start of a part: q = start moved by delta (knForest_Advance)
#pragma once

#include "knuckle/articulated.h"
#include "knuckle/lcp.h"
#include "steppers/reduced/reduced_step.h"

typedef enum knPaperIntegrator {
	KN_PAPER_EULER,    // semi-implicit; springs and dampers of joints implicitly
	KN_PAPER_RK4,      // classical Runge and Kutta
	KN_PAPER_EMBEDDED, // Dormand and Prince 5(4), error controlled
	KN_PAPER_IMPLICIT, // not here: the default step
} knPaperIntegrator;

typedef enum knPaperLcp { KN_PAPER_DANTZIG, KN_PAPER_LEMKE, KN_PAPER_ITERATIVE } knPaperLcp;
typedef enum knPaperImpact { KN_PAPER_ALGEBRAIC, KN_PAPER_INTEGRATED } knPaperImpact;

// Settings with the stepper's own choices in place of -1.
typedef struct knPaperChoices {
	knPaperIntegrator integrator;
	double tolerance; // of a part's error: rad, m and relative to 1 + |v| (embedded)
	knPaperLcp lcp;
	knPaperImpact impact;
	bool penalty;       // contacts are springs
	double stiffness;   // N/m, of them; 0: what the step can follow
	double gap;         // m, below which bodies touch
	double speed;       // m/s, approach below which a contact rests
	double bounceSpeed; // m/s, approach beyond which it bounces
} knPaperChoices;

typedef struct knPaperTree {
	knTree* tree;
	knTreeWork* work;
	knTreeDca* dca; // NULL: articulated bodies
	int firstLink, linkCount, qOffset, vOffset;
	int baseBody; // kinematic; 0: the world and all fixed bodies
} knPaperTree;

// Poses and velocities of the forest at one state. knPaper_Place
typedef struct knPaperPlace {
	knFrame* pose;         // [bodyCount]
	knTwist* velocity;     // [bodyCount]
	knTreeMotion* columns; // [nv] S
	knLanes* c;            // [count]
} knPaperPlace;

typedef enum knPaperSource { KN_PAPER_CONTACT, KN_PAPER_AXIS, KN_PAPER_PAIR } knPaperSource;

// A constraint of C. Forces act along it, on two bodies or on the coordinates of one joint.
typedef struct knPaperRow {
	knPaperSource source;
	int index;        // of from's contacts, axes or pairs
	int side;         // of a contact: 0 normal, 1 and 2 friction
	int normal;       // friction: the row of its normal force; else -1
	double mu;        // friction: share of the normal force
	double lo, hi;    // N or N m
	double target;    // m/s or rad/s, of friction and motors
	bool driven;      // has a target rate: friction, motors
	bool locked;      // always holds
	bool solved;      // locked: x is a function of the others'. knPaper_EliminateLocked
	knTwist jA, jB;   // at the centres. knPaper_PlaceRows
	int bodyA, bodyB; // 0: nothing that moves
	double rate;      // knPaper_PlaceRows
	double force;     // of the last solution
	double impulse;   // N s, over the part
} knPaperRow;

typedef struct knPaperRows {
	knPaperRow* rows;
	int count, capacity, matrixCapacity;
	double* A;       // [count count] what a unit force on row j does to row i
	double* columns; // [count nv] and to the coordinates
	double *b, *x;   // x: forces, impulses or shifts of all rows
} knPaperRows;

// What a contact carried.
typedef struct knPaperCarried {
	int32_t shapeA, shapeB;
	uint64_t feature;
	knVec3 impulse; // N s, on B
} knPaperCarried;

typedef struct knPaperStep {
	knStepContext* context;
	knPaperChoices choices;
	double h;     // of the whole step
	bool divided; // accelerations by divide and conquer

	// knPaper_Begin
	knReducedStep first, second; // from and to point at these
	knReducedStep *from, *to;
	const knForest* forest;
	knPaperTree* trees;
	int treeCount;
	knFrame* origin;             // [bodyCount] poses at the start of the step
	knVec3* firstSpin;           // [count]
	double *armature, *diagonal; // [nv] of coordinates alone; with what an implicit step adds
	knTwist* forces;             // [count] beside gravity
	bool dragged, pushed;        // some link has damping; some has other forces than gravity
	double* tau;                 // [nv]
	knForestSystem system;       // masses
	knArena scratch;             // of one solution; its memory is the step's arena's
	double* B;                   // [bCount] of coordinates alone. knPaper_Respond
	knTreeForce* R;              // [nv]
	knLanes* arms;               // [count]
	knTreeForce* push;           // [count]
	knTreeMotion* motions;       // [count]
	knPaperPlace at, other;      // where rows are; beside it

	// the state
	double time;               // s, since the start of the step
	double *q, *v;             // [nq], [nv] at the start of a part
	double *qn, *vn;           // at its end
	double* delta;             // [nv] of the present evaluation
	double* before;            // [nv] delta of what is done of the part (embedded)
	double guess;              // s, part of a step that the error allows (embedded)
	double* stages;            // knPaper_Integrate
	double *qBeside, *vBeside; // knPaper_Constrain
	knPaperRows C;             // knPaper_Gather
	double softStep;           // s, that springs and dampers are taken ahead (Euler); 0: not
	double motorWork;          // J
	int evaluations;
	// N s, of pairs of shapes over the step. paper_impact.c
	knPaperCarried* carried;
	int carriedCount, carriedCapacity;
} knPaperStep;

// --- paper_begin.c ---------------------------------------------------------------------------------------

knStatus knPaper_Begin(knPaperStep* step);
// Contacts and rows of joints at q, v into step->to; the state's poses follow.
knStatus knPaper_Look(knPaperStep* step, const double* q, const double* v, double time);
// from and to change places; Accept: q, v become qn, vn as well.
void knPaper_Swap(knPaperStep* step);
void knPaper_Accept(knPaperStep* step);
// Order of a contact of `from` against one of a later list, by pairs of shapes: negative, 0, positive.
int knPaper_PairOrder(const knReducedStep* from, int index, const knStepContact* other);
knStatus knPaper_End(knPaperStep* step);

// --- paper_motion.c --------------------------------------------------------------------------------------

// Poses, columns and velocities at a state.
void knPaper_Place(knPaperStep* step, double time, const double* q, const double* v, knPaperPlace* place);
// Accelerations under all forces and the constraints of C.
bool knPaper_Accelerate(knPaperStep* step, double time, const double* q, const double* v, double* qdd);

// --- paper_integrate.c -----------------------------------------------------------------------------------

// qn, vn: h after q, v. False: no memory, or the constraints have no solution.
bool knPaper_Integrate(knPaperStep* step, double h);

// --- paper_rows.c ----------------------------------------------------------------------------------------

// The constraints that hold at the state of step->from. `timeless`: those that can carry impulses.
bool knPaper_Gather(knPaperStep* step, bool timeless);
// Rows and their rates at a place.
void knPaper_PlaceRows(knPaperStep* step, const knPaperPlace* place, const double* v);

// A contact of step->from elsewhere: its normal turns with the body whose face it is.
typedef struct knPaperContactAt {
	knVec3 n, t1, t2, armA, armB;
	double gap;
} knPaperContactAt;

knPaperContactAt knPaper_ContactAt(const knPaperStep* step, const knReducedContact* contact,
								   const knPaperPlace* place);

// --- paper_solve.c ---------------------------------------------------------------------------------------

// Masses at step->at and the responses of all rows to test forces.
bool knPaper_Respond(knPaperStep* step, const double* diagonal);
// Takes the locked rows out: A, b become those of the rest under them. x of locked rows: knPaper_FinishLocked.
void knPaper_EliminateLocked(knPaperStep* step);
void knPaper_FinishLocked(knPaperStep* step);
// Forces of all rows: qdd becomes what they make of it.
bool knPaper_Constrain(knPaperStep* step, double time, const double* q, const double* v, double* qdd);
// x between its bounds with A x + b complementary, by the solver of choice.
bool knPaper_SolveLcp(knPaperStep* step);

// --- paper_impact.c --------------------------------------------------------------------------------------

// What approaches at step->from bounces or stops; loops' rates vanish. v is changed.
bool knPaper_Impacts(knPaperStep* step, const double* q, double* v);
// What the rows of C carried over a part, for read-out; and the sum on the contacts of step->from at the end.
void knPaper_KeepImpulses(knPaperStep* step, double h);
void knPaper_ShareImpulses(knPaperStep* step);
// Loops close, and what is deeper than it may be comes out. q and, where it did, v are changed.
bool knPaper_Project(knPaperStep* step, double* q, double* v);
