// Samples against a solid: vertices and edges of one geometry in the distance of another (Guendelman et al. 2003).
//
// A *target* is anything with a signed distance: a mesh by its field, a convex geometry or a plane in closed form.
// A *sample* is a point of the other geometry with the direction that its surface looks into. It makes a contact
// where the target's surface looks against it; of two ways out of a solid, the one that the sample does not look
// against is no way out of the overlap. So a box that stands flush with the edge of another is carried by the
// face below it, not pushed off by the side that it happens to be closer to. All in the target's frame.
#pragma once

#include "collide/pair.h"
#include "collide/reduce.h"
#include "geom/mesh.h"

// What a sample touches.
typedef struct knTouch {
	knVec3 point;  // on the target
	knVec3 normal; // outward, unit
	double separation;
	int triangle; // of a mesh; -1: none
} knTouch;

// What a probe of a point said.
typedef struct knSeen {
	double distance; // signed
	knVec3 normal;
	double bound;  // of the distance, as `look` has it
	knMeshHit hit; // of a solid mesh; triangle -1: none, or the field was good enough
} knSeen;

typedef struct knSdfTarget knSdfTarget;
struct knSdfTarget {
	const knGeom* geom;
	const knMesh* mesh; // NULL: not one
	double margin;
	double reach;  // how deep a sample may lie behind a surface that is not solid
	double slack;  // how far beside a face a sample may lie that is held against it
	double detail; // length of the target's features: longer edges are cut into pieces
	bool flat;     // a plane: edges touch at their ends
	knVec3 middle; // of the sampled geometry; a convex one is never behind a face of a surface
	bool hasMiddle;
	// `nearby` is a triangle that may be close, or -1
	knSeen (*probe)(const knSdfTarget* target, knVec3 point, int nearby);
	// the contact of a sample that looks along `facing`; false: none within the margin. `seen` is what a probe of the
	// point found, or NULL
	bool (*touch)(const knSdfTarget* target, knVec3 point, knVec3 facing, const knSeen* seen, knTouch* touch);
	// what a ball beyond `exact` comes against on its way; only with a field
	bool (*touchBall)(const knSdfTarget* target, knVec3 center, double radius, double bound, knTouch* touch);
	// the signed distance at the point is at least this; NULL: not known. `boundAhead` takes its place ahead of a
	// motion: tighter, and as sure as the field's tolerance
	double (*bound)(const knSdfTarget* target, knVec3 point);
	double (*boundAhead)(const knSdfTarget* target, knVec3 point);
	// `bound`, and if that is good enough all that a probe would say; false: it is not. Ahead of a motion only, else NULL
	bool (*look)(const knSdfTarget* target, knVec3 point, knSeen* seen);
	bool (*lookAhead)(const knSdfTarget* target, knVec3 point, knSeen* seen);
	// false if nothing within `radius` of the point can be within the margin, or the way does not bring it near
	bool (*mayReach)(const knSdfTarget* target, knVec3 center, double radius);
	// samples that are not within `near` count only if a motion brings them there; no ways: all count. A sample x goes
	// to turn x + way
	double near;
	double exact; // a solid's field is good enough for what is not within this
	int wayCount;
	knVec3 ways[KN_PAIR_WAYS];
	double starts
		[KN_PAIR_WAYS]; // part of each way along which what is looked at does not come near; 1: all of it
	knMat33 turn;
	double grow; // of a ball, in radii: its points go different ways
};

// mayReach by `bound`.
bool knSdfTarget_MayReach(const knSdfTarget* target, knVec3 center, double radius);
// Follows a ball along a way until it comes near, in steps as long as the gap is: goes `gone` along `toward`. `bound` is that at
// its centre. False: it does not come near.
bool knSdfTarget_Follow(const knSdfTarget* target, int way, knVec3 center, double radius, double bound,
						knVec3* toward, double* gone);
// The ways of a pair's samples in the target, which is its A or its B.
void knSdfTarget_SetWays(knSdfTarget* target, const knPairInput* in, bool isA);

// sdf_target_mesh.c, sdf_target_convex.c
knSdfTarget knSdfTarget_Mesh(const knMesh* mesh, double margin, double otherSize);
knSdfTarget knSdfTarget_Convex(const knGeom* geom, double margin, double otherSize);

// Where contacts go: in the world, named from the point of view of A and B.
typedef struct knContactSink {
	knReducer* reducer;
	knFrame frame;       // of the target
	bool targetIsA;      // else B
	knGapCulling* stops; // what was found so far, in the target's frame; NULL: all gaps count
} knContactSink;

// Names of features: what touches, and which one.
enum { KN_FEATURE_VERTEX, KN_FEATURE_EDGE, KN_FEATURE_OTHER_VERTEX, KN_FEATURE_OTHER_EDGE };

static inline uint64_t knMeshFeature(int kind, int id, int end) {
	return (uint64_t)id << 3 | (uint64_t)end << 2 | (uint64_t)kind;
}

void knContactSink_Add(const knContactSink* sink, knVec3 sample, const knTouch* touch, uint64_t feature);

// The samples of a mesh that stands at `frame` in the target's frame; `kind` is that of its vertices, the next that of its
// edges.
typedef struct knSamples {
	const knMesh* mesh;
	knFrame frame;
	const knSdfTarget* target;
	int kind;
	const knContactSink* sink;
} knSamples;

// mesh_samples.c: all samples of one mesh, or of two against each other.
void knMeshSamples_Collide(const knSamples* samples, int count);
