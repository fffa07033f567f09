// Hybrid bodies: an articulated tree of which only some joints move (Redon, Galoppo and Lin 2005; Gayle, Lin and
// Manocha 2006).
//
// The active joints are a part of the assembly tree that holds its root (an active joint has all its ancestors active).
// What is cut off below it, the passive front, are parts in which nothing moves: each is welded into one *segment*. The
// segments with the active joints between them are a knTree again, `knWelded`: all functions of knTree_* and its
// knTreeWork apply to it (forward dynamics, impulses, K, momentum, energy) at the cost of its active joints.
//
//   full tree    o-o-o-o-o-o-o-o-o-o-o        q, v [of the tree]      every joint
//   welded       o=o=o-o=o=o=o=o-o=o=o        body.q, body.v          active joints; three segments here
//
// What a part is when it is rigid (inertia, where its right part and its handles are) is kept for every node of the
// assembly tree and made again only after a joint inside has moved: knHybrid_Store forgets it, knHybrid_Weld finds out
// what is missing. So a change of the region costs its joints, never the number of links (but for the first time).
//
// One step of a body that changes its region (all arrays are the caller's):
//
//   knHybrid_Store(hybrid, &now, q, v)            coordinates of active joints back into q and v
//   knRegion_LookAhead(hybrid, &now.region, ..., &wide)     also release the joints at the front
//   knHybrid_Weld(hybrid, &wide, q, v, &ahead)
//   knTree_ForwardDynamics(&ahead.tree, ahead.work, ahead.q, ahead.v, ..., qdd)
//   knRegion_Score / knRegion_Select(...)         the joints that matter
//   knHybrid_Weld(hybrid, &chosen, q, v, &next)
//   knHybrid_Project(hybrid, &ahead, &next)       joints that stop give their momentum to the others
#pragma once

#include "articulated/assembly.h"

// A part that is rigid, in its frame: the child joint frame of its top link (parts that hold the base: the base's).
typedef struct knPlacement {
	double turn[9]; // columns
	double shift[3];
} knPlacement;

typedef struct knRigidPart {
	double inertia[6];                       // about the frame's origin: xx, xy, xz, yy, yz, zz
	double momentArm[3];                     // mass times centre
	double mass;                             // without meaning where the base is inside
	knPlacement right;                       // frame of the right part
	knPlacement handle[KN_ASSEMBLY_HANDLES]; // child joint frames of the handles, in their order
} knRigidPart;

// --- regions ---------------------------------------------------------------------------------------------

// A set of active joints that holds all ancestors of its members.
typedef struct knRegion {
	int count;
	int* joints;  // [count] left parts before right parts: parents before children
	bool* active; // [tree->count]
	int capacity; // most joints
} knRegion;

// --- welded bodies ---------------------------------------------------------------------------------------

typedef struct knWelded {
	knTree tree;      // link s is segment s, which hangs on joint region.joints[s]; parents before children
	knTreeWork* work; // room for `capacity` segments; its base is the caller's business (knTreeWork_SetBase)
	knRegion region;  // written by knHybrid_Weld
	int* node;        // [count] the assembly node that is segment s
	int baseNode;     // the node welded to the base
	int* segmentOf;   // [nodeCount] of front nodes; ask knWelded_SegmentOfNode
	double *q, *v;    // [tree.nq], [tree.nv]
	knTreeImpulse* impulses; // [capacity] room of knHybrid_Project
	int* room;               // [capacity]
	knAllocator allocator;
	void* block;
	size_t blockSize;
} knWelded;

// Goes through the active part of an assembly tree: left part, joint, right part.
typedef enum knRegionStop {
	KN_REGION_FRONT, // a part of the front: a leaf, or a node whose joint is not active
	KN_REGION_JOINT, // an active joint, between its parts
	KN_REGION_DONE,  // an active joint, after both
	KN_REGION_END,
} knRegionStop;

typedef struct knRegionWalk {
	int node, from;
} knRegionWalk;

typedef struct knHybrid {
	knAllocator allocator;
	const knTree* tree;
	const knAssembly* assembly;
	knRigidPart* parts;                        // [count] of joints' nodes
	bool* known;                               // [count] parts[] is up to date
	int (*handleSegment)[KN_ASSEMBLY_HANDLES]; // [nodeCount] segments of a node's handles while it is welded
	double *key, *score; // [count] room of region.c: what a node, and a joint, counts in the queue
	int* heap;           // [count] room of region.c
	long long partsMade; // since creation: nodes whose parts were computed
} knHybrid;

// The assembly must outlive the hybrid body. Nothing is known of any part yet.
knHybrid* knHybrid_Create(const knAssembly* assembly, const knAllocator* allocator, knError* error);
void knHybrid_Destroy(knHybrid* hybrid);
// Somebody else changed coordinates: forget all parts.
void knHybrid_Forget(knHybrid* hybrid);
// Somebody else changed the coordinates of one joint: forget the parts that hold it.
void knHybrid_ForgetJoint(knHybrid* hybrid, int joint);

// Room for `capacity` active joints, at most those of the tree.
knWelded* knWelded_Create(const knHybrid* hybrid, int capacity, const knAllocator* allocator, knError* error);
void knWelded_Destroy(knWelded* body);

// The segments and joints of a region, at the coordinates q and velocities v of the full tree. Only entries of q of
// joints in parts not yet known are read, and of active joints.
void knHybrid_Weld(knHybrid* hybrid, const knRegion* region, const double* q, const double* v,
				   knWelded* body);
// Coordinates and velocities of the active joints into those of the full tree; their parts are forgotten.
void knHybrid_Store(knHybrid* hybrid, const knWelded* body, double* q, double* v);
// Velocities of `to`, whose active joints are among those of `from` in the same pose, after internal impulses have
// stopped the others: H_R v_R = (H v)_R. A free body keeps its momentum, and kinetic energy never rises. Both bodies'
// works hold the poses and articulated inertias (knTree_PrepareImpulses) afterwards; `to`'s base becomes that of `from`.
void knHybrid_Project(const knHybrid* hybrid, knWelded* from, knWelded* to);

// The segment that holds a link, -1: the base; where the link's child joint frame is in the segment's. Costs the depth
// of the assembly tree below the front.
int knHybrid_Locate(const knHybrid* hybrid, const knWelded* body, int link, knPlacement* placement);
// The link's frame in the world and the velocity of its origin, from the poses in body->work.
knFrame knHybrid_LinkFrame(const knHybrid* hybrid, const knWelded* body, int link);
knTwist knHybrid_LinkVelocity(const knHybrid* hybrid, const knWelded* body, int link);
// -1: not a front node.
int knWelded_SegmentOfNode(const knWelded* body, int node);

// --- choice of the region --------------------------------------------------------------------------------

#define KN_REGION_FIRST 1e300 // what a joint counts that must be active: more than any score

typedef struct knRegionOptions {
	int count;        // most active joints; 0: as many as there is room for
	double threshold; // stop when the scores of all joints that are left out sum up to no more than this
	int minLinks;     // a part of fewer links is not cut
} knRegionOptions;

// Begins with { assembly->root, -1 }; the node of the stop into `at`.
knRegionStop knRegionWalk_Next(knRegionWalk* walk, const knAssembly* assembly, const bool* active, int* at);

bool knRegion_Init(knRegion* region, const knAssembly* assembly, int capacity, const knAllocator* allocator);
void knRegion_Free(knRegion* region, const knAssembly* assembly, const knAllocator* allocator);
void knRegion_Clear(knRegion* region);
// As many joints as asked for (or fit), the largest part cut first: evenly spread.
void knRegion_Fill(knHybrid* hybrid, int count, int minLinks, knRegion* region);
void knRegion_Copy(const knRegion* from, knRegion* to);
// These joints, in any order; every ancestor of one must be among them.
void knRegion_Take(const knAssembly* assembly, const int* joints, int count, knRegion* region);
// `from` and the joints at the top of the parts of its front, `levels` times, as far as there is room.
void knRegion_LookAhead(knHybrid* hybrid, const knRegion* from, int levels, int minLinks, knRegion* to);
// Scores of a welded body's joints: sum over velocity coordinates of weight x^2 (weights [nv of the full tree], NULL: 1).
void knRegion_Score(const knHybrid* hybrid, const knWelded* body, const double* x, const double* weights,
					double* score);
// The joints of `candidates` with the largest scores [candidates->count], by priority queue: the part with the largest
// sum is cut first. Joints that only follow (pairs) and free joints are always taken with their ancestors. Returns the
// scores left out.
double knRegion_Select(knHybrid* hybrid, const knRegion* candidates, const double* score,
					   const knRegionOptions* options, knRegion* chosen);
