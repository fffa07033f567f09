// The hybrid body: a forest of links of which only some joints move (Redon, Galoppo and Lin 2005; Gayle, Lin and
// Manocha 2006).
//
// An assembly tree halves each tree of links again and again at a joint. A node whose joint moves is *active*, and so are
// all nodes above it; the topmost nodes that are not, the passive front, are rigid: each is a *segment*, one body with
// one pose and one velocity, which are the truth. Where its links are follows from the places of its parts.
//
//            [ joint 4 ]                   node of the joint on which link b hangs:  b
//           /           \                  link b by itself:                         bodyCount + b
//     [ joint 2 ]     [ joint 6 ]          left part: holds the joint's parent link, right part: its child link
//      /     \          /     \            a node's frame is that of its root, the link nearest to the base
//
// A joint to a fixed body joins its tree to the ground (left -1): a node without mass, at the top. Joints to scripted
// bodies and floating roots always move. Two hinges in a row whose axes are not parallel move together (follows): one
// alone between long segments oscillates. Everything here is part of the state and relocatable.
//
// Frames of links and segments are those of their centres of mass; a segment's axes are its root's.
#pragma once

#include "articulated/forest.h"
#include "dynamics/contact_rows.h"
#include "dynamics/joint_rows.h"
#include "model/journal.h"
#include "steppers/reduced/reduced_memory.h"

#define KN_NODE_NONE (-1)
#define KN_NODE_GROUND (-2) // left of a joint to a fixed body

typedef struct knHybridNode {
	int32_t parent;      // node, KN_NODE_NONE: none
	int32_t left, right; // nodes; KN_NODE_NONE: a link
	int32_t root;        // body
	int32_t links;       // in it
	uint8_t active;      // its joint moves
	uint8_t follows;     // moves whenever the node above does
	uint8_t moves;       // may not be frozen
	uint8_t ground;      // joins to the ground
	int32_t piece;       // scratch of region updates: which piece it is, or begins. region.c
	int32_t first; // its links' numbers, left parts before right ones, go from here to first + links - 1

	// of rigid nodes. knHybridForest_Freeze
	knFrame place;   // of the right part's root, seen from the left part's
	double mass;     // 0: welded to the ground
	knVec3 center;   // centre of mass, seen from the root
	knMat33 inertia; // about it, the root's axes
	knVec3 middle;   // of a ball that holds all shapes, seen from the root
	double radius, thinness;
	double linearDamping, angularDamping;
	double score; // scratch of region updates: of all joints in it
} knHybridNode;

// A link in the forest. Written once.
typedef struct knHybridLink {
	int32_t joint;  // of the model that it hangs on, -1: a floating root
	int32_t parent; // body
	int32_t rank;   // parents before children; -1: not dynamic
	int32_t slot;   // of a segment's root and of other bodies: its body in the welded model
} knHybridLink;

// By root.
typedef struct knSegment {
	int32_t node;    // KN_NODE_NONE: no segment
	uint32_t serial; // of its making
	knFrame pose;
	knTwist velocity;

	// the link that its joint hangs on, as long as that link's segment is the one of this serial. knHybridForest_FindParent
	uint32_t parentSerial; // 0: not known
	int32_t parentRoot;
	knFrame parentLink; // seen from the centre of that segment
} knSegment;

// From a segment's root to a link: the nodes on the way whose right part holds it, nearest to the link first.
#define KN_LINK_PATH_MAX 96 // right parts halve
typedef struct knLinkPath {
	int count;
	int nodes[KN_LINK_PATH_MAX];
} knLinkPath;

typedef struct knHybridForestHeader {
	double dt; // of the last step; 0: nothing yet
	int32_t bodyCount, jointCount;
	int32_t frontCount, otherCount;
	int32_t contactCount, jointRowCount;
	int32_t enabledCount; // joints, when it was built
	int32_t edits;        // of the state's header, as last seen
	int32_t sinceUpdate;  // steps
	int32_t loaded;       // contacts that carried something in the last step
	int32_t jointTotal;   // joints that can move
	int32_t activeCount;  // that do
	int32_t budgetCount;  // what budget= allows at present; 0: not known yet
	int32_t stale;        // 1: the state's poses and velocities of links are older than the segments'
	uint32_t serial;      // of the last segment made
	int32_t reserved;
} knHybridForestHeader;

// Views of the stepper's part of the state.
typedef struct knHybridForest {
	knHybridForestHeader* header;
	knHybridNode* nodes;  // [2 bodyCount]
	knHybridLink* links;  // [bodyCount]
	knSegment* segments;  // [bodyCount]
	knLinkMemory* memory; // [bodyCount] coordinates of links whose joints move, and when frozen, as they were
	int32_t* fronts;      // [frontCount] roots of segments, by rank
	int32_t* others;      // [otherCount] bodies that are no links, ascending
	knContactMemory* contacts; // [contactCount]
	knJointMemory* joints;     // [jointRowCount] by the model's joints

	// of steps: what is overwritten is kept; NULL: nowhere
	knJournal* journal;
	const knState* state;
} knHybridForest;

static inline bool knHybridForest_IsLeaf(const knHybridNode* node) {
	return node->left == KN_NODE_NONE;
}

// Before these bytes are written in a step.
static inline void knHybridForest_Keep(const knHybridForest* hybrid, const void* bytes, size_t size) {
	if (hybrid->journal != NULL) {
		knJournal_Keep(hybrid->journal, hybrid->state, bytes, size);
	}
}

// --- hybrid_forest.c ------------------------------------------------------------------------------------------------------

size_t knHybridForest_Size(int bodyCount, int contactCount, int jointRowCount);
// The views; false: nothing there yet, or it does not fit the model (a damaged snapshot).
bool knHybridForest_Open(knHybridForest* hybrid, const knState* state, const knModel* model);
// Room for so many contacts and joint rows, whose content is to be written anew; false: no memory.
bool knHybridForest_Resize(knHybridForest* hybrid, knState* state, const knModel* model, int contactCount,
						   int jointRowCount, const knAllocator* allocator);
// The segment that holds a link (its root), and where the link is, seen from the root.
int knHybridForest_Locate(const knHybridForest* hybrid, int body, knFrame* inRoot);
// The same in two parts, for poses and velocities of segments that are not those of the list.
int knHybridForest_FindLink(const knHybridForest* hybrid, int body, knLinkPath* path);
void knHybridForest_PlaceLink(const knHybridForest* hybrid, int root, const knLinkPath* path, knFrame pose,
							  knTwist velocity, knFrame* linkPose, knTwist* linkVelocity);
knFrame knHybridForest_RootPose(const knHybridForest* hybrid, int root);
// Of the segment's centre of mass, seen from its root.
knVec3 knHybridForest_Center(const knHybridForest* hybrid, int root);
// Whether the segment is welded to the ground.
bool knHybridForest_IsGrounded(const knHybridForest* hybrid, int root);
// The segment on which another one hangs by its joint (its root), and the link that it hangs on, seen from that segment's
// centre. Kept as long as that segment is the same, so that a step walks no trees.
int knHybridForest_FindParent(knHybridForest* hybrid, int root, knFrame* link);
// Motion of a link by its segment's.
void knHybridForest_LinkMotion(const knHybridForest* hybrid, int body, knFrame* pose, knTwist* velocity);
// Poses and velocities of all links of a segment, into arrays by body; pose and velocity are the segment's.
void knHybridForest_PlaceLinks(const knHybridForest* hybrid, int root, knFrame pose, knTwist velocity,
							   knFrame* poses, knTwist* velocities);
// Cuts the segment that is the node in two: its joint moves.
void knHybridForest_Split(knHybridForest* hybrid, int node);
// Welds the two segments that are the node's parts: its joint stops. Momentum is kept.
void knHybridForest_Freeze(knHybridForest* hybrid, int node);
// The list of segments after such changes: first of those that weld, then of those that cut.
bool knHybridForest_ListFronts(knHybridForest* hybrid, knArena* arena);

// --- hybrid_assembly.c ----------------------------------------------------------------------------------------------------

// Everything anew from the state's poses and velocities, all joints moving. False: no memory.
bool knHybridForest_Build(knHybridForest* hybrid, knState* state, const knModel* model,
						  const knAllocator* allocator, knArena* arena);
