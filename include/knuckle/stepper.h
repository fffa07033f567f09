// Steppers: the methods that advance a world. Each is a row in a table; all read the same settings and report alike.
#pragma once

#include "knuckle/base.h"

KN_BEGIN_C

typedef enum knScheme {
	KN_SCHEME_DEFAULT, // what serves users best
	KN_SCHEME_PAPER,   // the published form
} knScheme;

typedef enum knArticulation {
	KN_ARTICULATION_AUTO = -1, // what the stepper has
	KN_ARTICULATION_DIRECT,
	KN_ARTICULATION_SWEEP,
} knArticulation;

typedef enum knFrictionModel {
	KN_FRICTION_CONE,    // |friction| <= mu N
	KN_FRICTION_ALIGNED, // a pyramid whose first side follows the sliding, where it is exact
	KN_FRICTION_BOX,     // a pyramid with fixed sides, as published
} knFrictionModel;

typedef enum knRelaxationKind {
	KN_RELAXATION_GAUSS_SEIDEL,
	KN_RELAXATION_JACOBI,
	KN_RELAXATION_CONJUGATE, // Gauss-Seidel sweeps that go on in the direction of those before
} knRelaxationKind;

// What users set with --set name=value. A value below zero means "the stepper's own choice". What several steppers read
// stands on top, what one method reads in the group of its name; src/model/settings.c says who reads what.
typedef struct knSettings {
	knScheme scheme;
	knArticulation articulation; // joints: all at once, or sweeps
	int sweeps;                  // solver sweeps per step; -1
	int shock;                   // shock propagation 0 | 1, 2: with joints (impulse, paper); -1
	int sleep;                   // sleeping of groups at rest 0 | 1; 0
	double rolling;              // rolling friction for every shape, m; -1: the shapes'

	struct {
		int prestabilize; // joints kept closed before bodies move 0 | 1; -1
		// published scheme: variants that the paper names
		int newton;      // 0: golden-section search along Newton's direction, 1: damped by epsilon; -1
		int angular;     // 0: 4 x 3 by normal equations, 1: 3 x 3; -1
		int ramp;        // 0 | 1: sweeps take a growing share of a joint's error, or all of it; -1
		int jointSweeps; // over joints alone, after shock propagation; -1
		int restore;     // 0 | 1: velocities of before those sweeps come back after the move; -1
	} impulse;

	struct {
		int frictionModel;    // knFrictionModel; -1
		int warmStart;        // 0 | 1: impulses of the step before are the start of the next; -1
		int queries;          // collision queries a step, 1 | 2; -1
		int layerSweeps;      // sweeps a layer; -1
		int correctionSweeps; // sweeps of each correction; -1
		double weighting;     // published scheme: share of the step that the global dynamics takes; -1
	} velocity;

	// Studies of the convergence of sweeps.
	struct {
		int solver;        // knRelaxationKind; -1
		int scaling;       // 0 | 1: the merit theta in plain or in scaled rows; -1
		double mixing;     // constraint force mixing gamma at the first sweep, falling to 0; -1
		double relaxation; // factor of every change, 1: plain; -1
		double stopTheta;  // sweeps end when the merit is below; -1
		double stopStall;  // sweeps end when the merit fell by less than this share over five; -1
	} study;

	struct {
		int integrator;   // 0 euler, 1 rk4, 2 embedded, 3 implicit; -1
		double tolerance; // embedded: error of a part, rad, m; -1
		// published scheme
		int lcp;             // 0 dantzig, 1 lemke, 2 iterative; -1
		int impact;          // 0 algebraic, 1 integrated; -1
		int contact;         // 0 constraint, 1 penalty; -1
		double stiffness;    // N/m, of penalty contacts; -1
		double contactGap;   // m, below which bodies touch; -1
		double contactSpeed; // m/s, approach below which a contact rests; -1
		double bounceSpeed;  // m/s, approach beyond which it bounces; -1
	} reduced;

	struct {
		int active;       // active joints; -1
		double threshold; // activity threshold; -1
		double budget;    // ms per step; -1
		int update;       // steps between updates of the active region; -1
	} adaptive;
} knSettings;

KN_API knSettings knSettings_Default(void);
// Parses "name", "value". KN_BAD_ARGUMENT if there is no such setting, KN_BAD_DATA if the value does not fit.
KN_API knStatus knSettings_Set(knSettings* settings, const char* name, const char* value, knError* error);
// The value as knSettings_Set takes it (at most 31 characters); false, and "", when it is that of knSettings_Default.
KN_API bool knSettings_Get(const knSettings* settings, int index, char* text, size_t capacity);
// KN_OK if the stepper reads the setting under the scheme; else KN_UNSUPPORTED with a sentence that names who does, or
// KN_BAD_ARGUMENT if there is no such setting.
KN_API knStatus knSettings_CheckRead(const char* name, const char* stepper, knScheme scheme, knError* error);
// Names for --help and messages; NULL past the end.
KN_API const char* knSettings_Name(int index);
KN_API const char* knSettings_Help(int index);

// The steppers that this build has: name and one line of help; NULL past the end.
KN_API const char* knStepper_Name(int index);
KN_API const char* knStepper_Help(const char* name);

// What one step did. Timings are zero when the world has no clock.
typedef struct knStepReport {
	knStatus status; // KN_OK, KN_DIVERGED, KN_LIMIT, KN_NO_MEMORY
	int contacts;    // contact points that the solver saw
	int rows;        // constraint rows
	int iterations;  // solver sweeps, all phases
	int queries;     // collision queries
	int sleeping;    // bodies asleep
	int active;      // joints that moved; -1: all (the stepper freezes none)
	double theta;    // merit of the global solve, 0: solved; scaled rows unless scaling=0
	double work;     // J, what motors, user forces and kinematic bodies put in during the step
	int guarded;     // 1: the energy guard scaled impulses in this step
	double jointGap; // m, worst gap that the joint solver left open
	int jointRung; // highest rung of the joint solver's ladder of fall-backs that was used, 0: the plain solve
	int jointSubSteps;  // steps of islands that were taken in parts: the parts, summed over islands
	int jointConflicts; // joints that no pose of their bodies closes; the log names them
	double projected;   // J, kinetic energy taken by projections of velocities onto joints and contacts
	double collideTime; // s
	double solveTime;   // s
	double jointTime;   // s, of that for joints and contacts solved together with them; 0: not told apart
	double stepTime;    // s, the whole knWorld_Step
	size_t arenaBytes;  // high-water mark of the scratch arena
} knStepReport;

// Convergence while it happens: called after every sweep of a step's global solves (`solve` counts them: groups of
// different kinds are solved one after the other) with the merit theta; set in knWorldDef. Measuring it costs about as
// much as a sweep.
typedef void knConvergenceFn(int solve, int sweep, double theta, void* context);

KN_END_C
