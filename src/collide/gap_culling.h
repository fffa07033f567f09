// Gaps that say nothing: those that stay open as long as a contact beside them does not close any further.
//
//   gap_i - gap_j > tilt |p_i - p_j| + slide |n_i - n_j|
//
// Turning by `tilt` about contact j closes a gap i by the way between the two times that; sliding, by as much as their normals
// differ. The contacts of a pair are known as they are found, so most such gaps need not be looked at: whole branches of a
// mesh's tree are passed over because something deeper lies beside them.
#pragma once

#include "knuckle/vecmath.h"

#define KN_CULLING_CONTACTS 8

typedef struct knCullingRule {
	double tilt;  // rad, how far the two may turn before they are looked at again; INFINITY: all gaps count
	double slide; // m, how far they may go past each other
	double reach; // m, farther away a contact stops nothing
} knCullingRule;

// For two that turn and slide so far, the smaller of them of this size.
knCullingRule knCullingRule_Make(double tilt, double slide, double size);
// Whether a gap that is larger by `deeper` than one beside it says nothing; `bend` is the difference of their normals.
bool knCullingRule_Holds(const knCullingRule* rule, double deeper, double between, double bend);

// A contact as seen from a target: the sample, and the way out.
typedef struct knCullingContact {
	knVec3 point, normal;
	double separation;
} knCullingContact;

// A few of the contacts of a pair, apart from each other, each the deepest around.
typedef struct knGapCulling {
	knCullingRule rule;
	int count;
	knCullingContact items[KN_CULLING_CONTACTS];
} knGapCulling;

// What may be shut: all that lies in a ball, with about one normal.
typedef struct knGap {
	knVec3 center, normal;
	double radius;
	double bend;       // m/m, by which normals may differ from that one
	double separation; // at least
} knGap;

static inline knGapCulling knGapCulling_Make(knCullingRule rule) {
	knGapCulling stops;
	stops.rule = rule;
	stops.count = 0;
	return stops;
}

void knGapCulling_Add(knGapCulling* stops, knVec3 point, knVec3 normal, double separation);
bool knGapCulling_Covers(const knGapCulling* stops, const knGap* gap);
// As seen from the other of the two; `frame` is that of the present target in the other's.
void knGapCulling_Turn(knGapCulling* stops, knFrame frame);
