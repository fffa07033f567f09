// What the files of the flight of fast bodies share: fliers, their pairs, and the queue of what is next.
//
//   fast_pairs.c   ways, which pairs may meet, and the pairs in the order of the times before which they do not meet
//   fast_motion.c  fliers, impacts, and the step from event to event
#pragma once

#include "collide/time_of_impact.h"
#include "dynamics/fast_bodies.h"

#define KN_FLIGHT_NONE (-1) // no flier, no pair
#define KN_FLIGHT_IDLE 1e-9 // of the speeds: a slower approach is none

// What a flier still does in this step: all, no turning, nothing. One that rests is not looked after.
typedef enum knPace { KN_PACE_FLIES, KN_PACE_GLIDES, KN_PACE_WAITS, KN_PACE_RESTS } knPace;

typedef struct knFlier {
	int body;
	bool keepsPath; // held by contacts or joints: ends the step where the solve put it
	knPace pace;
	int hits;
	int looks;       // that following it has taken
	int firstPair;   // of its pairs, KN_FLIGHT_NONE at the end
	double time;     // of the pose
	knFrame pose;    // of the centre of mass
	knTwist path;    // along which it moves from then on
	knVec3 velocity; // at the end of the step
	knVec3 momentum; // angular
	double energy;   // J, what that is worth, as of the last impact
	knVec3 force;    // m/s, what forces add in the step
	knAabb swept;    // its way to the end of the step
} knFlier;

typedef struct knFlightPair {
	int shape[2], body[2]; // shape[0] < shape[1]
	int next[2];           // of the flier's pairs
	int place;             // in the queue
	double thin;
	knTimeOfImpact meeting;
} knFlightPair;

typedef struct knFlight {
	const knFastMoveInput* in;
	knFastBodies* fast;
	knCollideInput input;
	double h, now;
	double slowReach; // m, the farthest way of a body that is not followed, unless the trees know it
	int* slot;        // [bodyCount] its flier, KN_FLIGHT_NONE
	uint8_t* held;    // [bodyCount] by contacts or joints
	knFlier* fliers;  // [bodyCount]
	int flierCount;
	knFlightPair* pairs;
	int* queue; // [pairCapacity] a heap of the pairs: the earliest time first
	int pairCount, pairCapacity;
	int hitCapacity;
	int* nearby; // [shapeCount] scratch of listPairs
	int nearbyCount;
} knFlight;

// --- ways

// The velocity along which the solve has a body move, and the box of a flier's way from now to the end.
knTwist knFlight_PlannedPath(const knFlight* f, int body);
knAabb knFlight_SweptBox(const knFlight* f, const knFlier* flier);

// --- pairs

// Pairs of a flier with what lies along its way from now on; with other fliers; of all fliers. False: no memory.
bool knFlight_ListPairs(knFlight* f, int flierIndex);
bool knFlight_PairWithFliers(knFlight* f, int flierIndex);
bool knFlight_PairAllFliers(knFlight* f);
// Makes a pair one of the flier's of its body on that side.
void knFlight_LinkPair(knFlight* f, int index, int side);

// --- queue

// Follows all pairs by some rounds, in parallel.
void knFlight_FollowAll(knFlight* f);
// Follows a pair by one round. What it took, in looks.
int knFlight_FollowPair(knFlight* f, int index);
// A flier's pairs from now on, as if they had never been looked at.
void knFlight_RestartPairs(knFlight* f, const knFlier* flier);
// Whether a body's pairs are looked at for its own sake.
bool knFlight_IsFollowed(const knFlight* f, int body);
