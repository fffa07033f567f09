// Time of impact of two moving geometries by conservative advancement (Mirtich 1996), translation and rotation.
//
// From the moment at hand, knConvexPairs_Soonest says how long nothing can meet; the geometries are moved on by that,
// and looked at again, until they touch and approach, or the time is over. Each such *round* may be asked for by
// itself, so that of many pairs only those are followed on that are next. Each geometry turns about its centre:
//
//   c(t) = c + t v,   q(t) = exp(t w) q
//
// What touches is no reason for a meeting by itself: only touching *and* approaching is one. What touches and does not
// approach, or hugs the other for many rounds, is moved on by small nudges: it may get into the other by that much.
// What takes too many rounds all the same is given up at a time before which nothing meets: the caller has to stop
// it there, or slow its turning down.
#pragma once

#include "collide/convex_pairs.h"

typedef struct knMoving {
	const knGeom* geom;
	knFrame frame;  // at time 0
	knVec3 center;  // at time 0, about which it turns
	knTwist motion; // of the centre
} knMoving;

typedef struct knTimeOfImpactInput {
	knMoving a, b;
	double from, to; // s; `from` for knTimeOfImpact_Find
	double skin;     // m, so close counts as touching
	double idle;     // m/s, see knPairMotion
	double nudge;    // m, the same
} knTimeOfImpactInput;

// Open: to be followed on. Stalled: given up.
typedef enum knTimeOfImpactState {
	KN_MEETING_OPEN,
	KN_MEETING_NONE,
	KN_MEETING_HIT,
	KN_MEETING_STALLED
} knTimeOfImpactState;

typedef struct knTimeOfImpact {
	knTimeOfImpactState state;
	double time;     // before which nothing meets; INFINITY: nothing does at all
	knNearest touch; // as of the last round; of a hit, at its time
	int rounds;
	int looks; // pairs of boxes looked at, see knConvexPairs_Soonest
} knTimeOfImpact;

// The geometry's frame at a time.
knFrame knMoving_At(const knMoving* moving, double time);
knTimeOfImpact knTimeOfImpact_Begin(double from);
// Goes on for so many rounds at most. Nothing happens to a meeting that is not open.
void knTimeOfImpact_Follow(const knTimeOfImpactInput* in, int rounds, knTimeOfImpact* meeting);
// To the end. False: nothing meets; true: a hit, or stalled.
bool knTimeOfImpact_Find(const knTimeOfImpactInput* in, knTimeOfImpact* hit);

// A link of a chain or tree for knChain_SpeedBounds: links stand after their parents.
typedef struct knChainLink {
	int parent;   // -1: the base
	double reach; // m, the farthest point of the link from its joint's axis point (the joint's origin)
	double arm;   // m, from the parent's joint origin to this joint's origin, at most
	double turn;  // rad/s, at most, of the joint; all its axes together
	double slide; // m/s, at most, of the joint
} knChainLink;

// For each link, bounds in the base's frame of the angular speed and of the speed of any of its points:
//
//   turn_k = turn_p + |turn|,   origin_k = origin_p + turn_p arm_k + |slide|,   point_k = origin_k + turn_k reach_k
void knChain_SpeedBounds(const knChainLink* links, int count, double* turns, double* origins, double* points);
