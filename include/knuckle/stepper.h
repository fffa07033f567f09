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

// What users set with --set name=value. A stepper reads those that concern it and refuses what it cannot do.
// A value below zero means "the stepper's own choice".
typedef struct knSettings {
	knScheme scheme;
	knArticulation articulation; // impulse: all joints at once, or sweeps
	int sweeps;                  // solver sweeps per step; -1
	int shock;                   // shock propagation 0 | 1, 2: with joints (impulse, paper); -1
	int sleep;                   // sleeping of groups at rest 0 | 1; 0
	double rolling;              // rolling friction for every shape, m; -1: the shapes'
	int active;                  // adaptive: active joints; -1
	double threshold;            // adaptive: activity threshold; -1
	double budget;               // adaptive: ms per step; -1
	int update;                  // adaptive: steps between updates of the active region; -1
	int integrator;              // reduced: 0 euler, 1 rk4, 2 embedded, 3 implicit; -1
} knSettings;

KN_API knSettings knSettings_Default(void);
// Parses "name", "value". KN_BAD_ARGUMENT if there is no such setting, KN_BAD_DATA if the value does not fit.
KN_API knStatus knSettings_Set(knSettings* settings, const char* name, const char* value, knError* error);
// Names for --help and messages; NULL past the end.
KN_API const char* knSettings_Name(int index);
KN_API const char* knSettings_Help(int index);

// The steppers that this build has: name and one line of help; NULL past the end.
KN_API const char* knStepper_Name(int index);
KN_API const char* knStepper_Help(const char* name);

// What one step did. Timings are zero when the world has no clock.
typedef struct knStepReport {
	knStatus status;    // KN_OK, KN_DIVERGED, KN_LIMIT, KN_NO_MEMORY
	int contacts;       // contact points that the solver saw
	int rows;           // constraint rows
	int iterations;     // solver sweeps, all phases
	int queries;        // collision queries
	int sleeping;       // bodies asleep
	double theta;       // merit of the last solve, 0: solved; scaled rows
	double work;        // J, what motors, user forces and kinematic bodies put in during the step
	double collideTime; // s
	double solveTime;   // s
	double stepTime;    // s, the whole knWorld_Step
	size_t arenaBytes;  // high-water mark of the scratch arena
} knStepReport;

KN_END_C
