// The record behind knCollider, and the stages of a call:
//
//   knPoses_Update         frames -> shapes' world frames, boxes, fat boxes; what left its fat box is dirty
//   knBroadPhase_Refresh   the trees over fat boxes follow
//   knBroadPhase_Pairs     the list of pairs of overlapping fat boxes follows, for dirty shapes only
//   candidates             pairs whose exact boxes overlap (collide.c), or of one frame (collide_body.c)
//   knNarrow_Run           contacts of the candidates
//
// Fat boxes and with them the trees and the pair list depend on the past; candidates and contacts do not,
// because every pair passes the exact box test of the present call before it counts.
#pragma once

#include "collide/pair.h"
#include "core/array.h"
#include "geom/bvh.h"

// Two shapes, a < b: sorts by a, then b.
typedef uint64_t knPairKey;

static inline knPairKey knPairKey_Make(int a, int b) {
	return a < b ? (uint64_t)(uint32_t)a << 32 | (uint32_t)b : (uint64_t)(uint32_t)b << 32 | (uint32_t)a;
}

static inline int knPairKey_A(knPairKey key) {
	return (int)(key >> 32);
}

static inline int knPairKey_B(knPairKey key) {
	return (int)(key & UINT32_MAX);
}

typedef KN_ARRAY(knPairKey) knPairKeys;
typedef KN_ARRAY(knContactPair) knContactPairs;
typedef KN_ARRAY(knContactPoint) knContactPoints;

// A candidate, and a digest of what was asked about it.
typedef struct knTestedPair {
	knPairKey key;
	uint64_t question;
} knTestedPair;

typedef KN_ARRAY(knTestedPair) knTestedPairs;

#define KN_REUSED (-1)

// Pairs of parts to test: parts of candidate `candidate`; or the whole of a pair whose frames have not moved.
typedef struct knNarrowItem {
	int candidate;
	int childA, childB; // KN_REUSED and its pair in knCollider.lastPairs
	int slot;           // its first point in knCollider.slots
} knNarrowItem;

enum { KN_TREE_FIXED, KN_TREE_MOVING, KN_TREE_COUNT };

struct knCollider {
	// from the def, written by knCollider_Create
	knAllocator allocator;
	int frameCount, shapeCount, excludedCount, pairLimit;
	uint8_t* frameMoves;    // [frameCount]
	knCollideShape* shapes; // [shapeCount], geometries retained
	int* frameOf;   // [shapeCount] the same frames, kinds and whether filters allow all, close together in
	uint8_t* kinds; // [shapeCount] memory: pairs ask for them in any order
	uint8_t* unfiltered; // [shapeCount]
	uint8_t* meshes;     // [shapeCount] is one or has one as a part
	bool anyMesh;
	knAabb* bounds;      // [shapeCount] in the frame's axes; not of planes
	double* radii;       // [shapeCount] about the frame's origin; not of planes
	int* firstShape;     // [frameCount + 1] into shapesOfFrame
	int* shapesOfFrame;  // [shapeCount]
	knPairKey* excluded; // [excludedCount] frame pairs, sorted

	// as of the last call, written by knPoses_Update
	bool posed;             // what follows is valid
	knFrame* frames;        // [frameCount]
	bool looksAhead;        // motions are given
	double* margins;        // [frameCount]
	knFrameMotion* motions; // [frameCount]
	uint8_t* frameChanged;  // [frameCount] since the call before
	int* changedFrames;     // [frameCount]
	int changedCount;
	uint8_t* active; // [shapeCount]
	knFrame* worlds; // [shapeCount]
	double* spins;   // [shapeCount] how far the frame's turn moves its points at most
	knAabb* boxes;   // [shapeCount] exact bounds and the frame's margin; empty if inactive
	knAabb* fat;     // [shapeCount] contains boxes
	uint8_t* left;   // [shapeCount] got a new fat box in this call

	// trees of fat boxes, written by knBroadPhase_Refresh
	bool treesBuilt;
	knBvh trees[KN_TREE_COUNT];
	int* treeShapes[KN_TREE_COUNT]; // [tree's items] shape of each item
	int* items;                     // [shapeCount] item of each shape; -1: a plane
	int movesSinceBuild[KN_TREE_COUNT];
	knAabb* buildBoxes;   // [most items] scratch
	knVec3* buildCenters; // [most items] scratch
	int mostItems;
	int planeCount;
	int* planes; // [planeCount] infinite shapes

	// pairs of overlapping fat boxes that may touch, written by knBroadPhase_Pairs
	bool paired;    // the list is valid but for dirty shapes
	uint8_t* dirty; // [shapeCount] fat box changed since its pairs were listed
	int* dirtyList; // [shapeCount]
	int dirtyCount;
	uint8_t* dirtyNodes[KN_TREE_COUNT]; // [tree's nodes] scratch: has dirty shapes below
	knPairKeys pairs;                   // sorted
	knPairKeys fresh;                   // scratch
	knPairKeys sorted;                  // scratch
	knPairKeys found;                   // scratch of parallel walks
	int* counters;                      // [shapeCount + 1] scratch

	// one call's work
	KN_ARRAY(uint8_t) near; // of each listed pair: its exact boxes overlap
	knPairKeys candidates;
	KN_ARRAY(knNarrowItem) narrowItems;
	KN_ARRAY(uint8_t) slotCounts; // points of each item of a block
	KN_ARRAY(int) slotPlaces;     // their first place in outPoints
	knContactPoints slots;
	knContactPairs outPairs;
	knContactPoints outPoints;

	// contacts of the last knCollide: pairs whose frames kept their bits since then are copied, not tested again
	uint64_t epoch;       // calls of knPoses_Update
	uint64_t* frameEpoch; // [frameCount] in which the frame last moved, written by knPoses_Update
	uint64_t outEpoch;    // of outPairs, if they are all pairs of a knCollide; else 0
	uint64_t lastEpoch;   // of lastPairs; 0: none
	knContactPairs lastPairs;
	knContactPoints lastPoints;
	knTestedPairs outTested, lastTested; // the candidates of the two
};

// The frame that knCollide_Body places elsewhere.
typedef struct knMovedFrame {
	int frame; // -1: none
	knFrame at;
} knMovedFrame;

// The surface of a plane, with its margin, in the world: up.x <= offset.
typedef struct knHalfSpace {
	knVec3 up;
	double offset;
} knHalfSpace;

// --- poses.c ---

// Refuses calls with missing pointers or a disordered list of excluded pairs.
knStatus knPoses_CheckInput(const knCollider* collider, const knCollideInput* input,
							const knContactSet* contacts, knError* error);
// Takes over frames, margins and activity. On an error nothing of the past is kept.
knStatus knPoses_Update(knCollider* collider, const knCollideInput* input, knError* error);
// The same for some frames, each named once; the others stay as the collider knows them. It has been asked about all before.
knStatus knPoses_UpdateListed(knCollider* collider, const knCollideInput* input, const int* frames, int count,
							  knError* error);
bool knPoses_IsFiniteBox(knAabb box);

// --- broad_phase.c ---

void knBroadPhase_Refresh(knCollider* collider);
knStatus knBroadPhase_Pairs(knCollider* collider, const knTasks* tasks, knError* error);
// Whether two shapes may ever touch, wherever they are.
bool knBroadPhase_MayTouch(const knCollider* collider, int shapeA, int shapeB);
knHalfSpace knHalfSpace_Make(knFrame plane, double margin);
bool knHalfSpace_Meets(const knHalfSpace* space, const knAabb* box);
// Sorts keys of shapes; false when out of memory.
bool knBroadPhase_SortKeys(knCollider* collider, knPairKeys* keys);
knStatus knBroadPhase_TooMany(const knCollider* collider, knError* error);

static inline bool knPairKey_Find(const knPairKey* keys, int count, knPairKey key) {
	int lower = 0, upper = count;
	while (lower < upper) {
		int middle = lower + (upper - lower) / 2;
		if (keys[middle] < key) {
			lower = middle + 1;
		} else {
			upper = middle;
		}
	}
	return lower < count && keys[lower] == key;
}

// Whether this call excludes the frames of two shapes.
bool knCollideInput_Excludes(const knCollideInput* input, int frameA, int frameB);

// --- narrow.c ---

// Tests collider->candidates and fills `contacts`.
knStatus knNarrow_Run(knCollider* collider, const knCollideInput* input, const knMovedFrame* moved,
					  knContactSet* contacts, knError* error);
