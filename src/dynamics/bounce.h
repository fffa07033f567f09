// Bounces: impacts that pass through a row of bodies one after the other, as in Newton's cradle (bounce.c).
#pragma once

#include "dynamics/contact_rows.h"
#include "dynamics/integrate.h"
#include "dynamics/islands.h"

// A contact point that may bounce. Impulses act on b.
typedef struct knBouncePoint {
	// in
	int32_t source; // the caller's
	int32_t a, b;   // bodies
	knVec3 n, t1, t2;
	knVec3 rA, rB;   // from the bodies' centres
	double mu, e;    // friction, restitution
	double gap;      // m
	double touching; // m, a gap below it is none
	bool jointed;    // a body of it hangs on joints that answer
	bool passing;    // with the velocities of the start its bodies fly past each other

	// out
	knVec3 impulse; // N s, of all rounds
	bool bounced;   // in any round
	double held;    // N s along n, for the velocities with the forces

	// a round's
	double D[3];           // what a unit impulse along n, t1, t2 does there
	double tangential;     // 1 / a bound of the tangential block's eigenvalues
	knVec3 before;         // m/s, of b relative to a when the round began
	double target;         // m/s
	double lambda[3];      // N s
	bool takesPart, known; // in this round; D is known
} knBouncePoint;

// Changes velocities to what joints allow, where bodies a and b were pushed; a < 0: anywhere.
typedef void knBounceAnswer(knTwist* change, int a, int b, void* context);

typedef struct knBounceInput {
	const knStepBodies* blocks; // masses
	const knTwist* start;       // [bodyCount] velocities before the forces
	const knTwist* forced;      // [bodyCount] and with them
	double h;
	double gravity; // m/s2

	// what may change: the bodies of the points and those joined to them. NULL: all
	const int* bodies;
	int bodyCount;
	knTwist* change; // [bodyCount] zero at first; of the velocities, by all impulses and the joints' answers
	knTwist* saved;  // [bodyCount] room
	knTwist* unit;   // [bodyCount] zero, and again afterwards

	knBounceAnswer* answer; // NULL: no point is jointed
	void* context;
	bool exact;  // joints answer at every visit, not once a round
	bool yields; // forces act on what has bounced as on everything
} knBounceInput;

// Returns the number of rounds; 0: nothing bounced.
int knBounce_Run(const knBounceInput* input, knBouncePoint* points, int count);
// An impulse on b, the opposite on a; immovable bodies are not written to.
void knBounce_Push(const knBounceInput* input, const knBouncePoint* point, knVec3 impulse,
				   knTwist* velocities);
// Does a point bounce at once, before anything else has?
bool knBounce_Begins(const knBounceInput* input, const knBouncePoint* point);
// Where a body that has bounced ends.
typedef struct knBounceLanding {
	knVec3 way; // m, to be added to where its velocity brings it

	// of the assembly that it leads
	knVec3 nearest; // m, of its points
	double change;  // m/s, of the velocity of that point
	knVec3 impulse; // N s, of all its points
	double mass;
} knBounceLanding;

// By how much bodies that bounced off one that does not move end lower than their velocities say, so that their heights
// follow from the surface and not from where the step found them. Landings [bodyCount], zero at first.
void knBounce_Land(const knBounceInput* input, const knIslands* islands, const knBouncePoint* points,
				   int count, knBounceLanding* landings);
