// The features of convex cores that touch: vertices, edges and faces near a direction, and how two of them
// overlap.
#pragma once

#include "collide/convex_support.h"

#define KN_FEATURE_MAX 16                   // corners of a face that take part
#define KN_OVERLAP_MAX (3 * KN_FEATURE_MAX) // points of an overlap: each cut adds one, rounding a few more

typedef struct knCoreFeature {
	int count;                     // 1: vertex or curved, 2: edge or side, more: face
	knVec3 normal;                 // of a face, outward
	knVec3 center;                 // of a cylinder's cap ...
	double radius;                 // ... 0: no cap
	knVec3 points[KN_FEATURE_MAX]; // counter-clockwise seen from outside
	int names[KN_FEATURE_MAX];
} knCoreFeature;

// Core points of A and B that lie above each other, up to a little for edges.
typedef struct knOverlap {
	int count;
	knVec3 a[KN_OVERLAP_MAX], b[KN_OVERLAP_MAX];
} knOverlap;

// The largest feature, up to an edge or a face, whose own directions are within some degrees of the unit vector
// d, in the core's frame.
typedef enum knFeatureLimit { KN_FEATURE_EDGE, KN_FEATURE_FACE } knFeatureLimit;
knCoreFeature knCore_Feature(const knCore* core, knVec3 d, knFeatureLimit limit);
// The same for B, in A's frame; d too.
knCoreFeature knCorePair_FeatureB(const knCorePair* p, knVec3 d, knFeatureLimit limit);
// Where two features lie above each other along n (from A to B). Vertices overlap with nothing.
void knOverlap_Find(const knCoreFeature* a, const knCoreFeature* b, knVec3 n, double size,
					knOverlap* overlap);
