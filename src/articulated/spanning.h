// Which bodies joints hold together, and a spanning tree of each such group: the forest whose trees have joint
// coordinates. Joints that are not part of a tree close loops.
#pragma once

#include "core/arena.h"
#include "knuckle/articulated.h"
#include "model/model.h"

typedef struct knSpanning {
	const knModel* model;
	int groupCount;
	int* group;       // [bodyCount] -1: not dynamic
	int* bodyFirst;   // [groupCount + 1] into bodies
	int* bodies;      // dynamic bodies, group by group, in the order of links: parents first
	int* via;         // [bodyCount] the joint a body hangs on, -1: a floating root
	int* from;        // [bodyCount] and the body at its other end, -1: the base
	int* jointFirst;  // [groupCount + 1] into joints
	int* joints;      // usable joints, group by group, ascending
	bool* isTree;     // [jointCount] part of the forest
	knBaseKind* base; // [groupCount]
	int* baseBody;    // [groupCount] KN_BASE_KINEMATIC
} knSpanning;

// `usable` [jointCount]: joints that count at all; `loop` [jointCount]: may not be part of a tree, beside those of the
// model that never are (marked loop, custom). NULL: none. All arrays live in the arena; false: it has no memory.
bool knSpanning_Find(knSpanning* spanning, const knModel* model, const bool* usable, const bool* loop,
					 knArena* arena);
// Is the body what the group's tree hangs on?
bool knSpanning_IsBase(const knSpanning* spanning, int group, int body);

// A universal joint seen from its child is one whose axes have changed places: by half a turn about their middle.
knFrame knSpanning_SwapAxes(knFrame frame);
