// Lists of the islands that have joints, and the patterns of their matrices.

#include "dynamics/mixed_islands.h"

#include "dynamics/time_step.h"

// What belongs to which island, one after the other.
typedef struct Lists {
	int* bodies;
	int* joints;
	int* points;
	int *bodyFirst, *jointFirst, *pointFirst; // [islands + 1]
} Lists;

static int islandOfPair(const knMixedIslands* set, int a, int b) {
	return set->islandOf[a] >= 0 ? set->islandOf[a] : set->islandOf[b];
}

// Every island that has joints gets a number, in the order of its lowest body.
static bool numberIslands(knMixedIslands* set, const knMixedIslandsInput* input, knArena* arena) {
	const int bodyCount = input->model->bodyCount;
	set->islandOf = KN_SCRATCH(arena, int32_t, bodyCount);
	set->pivotOf = KN_SCRATCH(arena, int32_t, bodyCount);
	if (arena->failed) {
		return false;
	}
	set->count = 0;
	for (int b = 0; b < bodyCount; ++b) {
		const int32_t group = input->islands->group[b];
		set->pivotOf[b] = set->islandOf[b] = -1;
		if (group >= 0 && input->islands->jointed[group]) {
			set->islandOf[b] = group == b ? set->count++ : set->islandOf[group];
		}
	}
	return true;
}

// Counting sort of things by island: itemIsland [count], -1: in none.
static bool sortByIsland(const int* itemIsland, int count, int islandCount, int** first, int** items,
						 knArena* arena) {
	*first = KN_SCRATCH_ZERO(arena, int, islandCount + 2);
	*items = KN_SCRATCH(arena, int, count);
	if (arena->failed) {
		return false;
	}
	for (int i = 0; i < count; ++i) {
		if (itemIsland[i] >= 0) {
			(*first)[itemIsland[i] + 2] += 1;
		}
	}
	for (int k = 0; k < islandCount; ++k) {
		(*first)[k + 2] += (*first)[k + 1];
	}
	// first[k + 1] runs from the begin to the end of island k
	for (int i = 0; i < count; ++i) {
		if (itemIsland[i] >= 0) {
			(*items)[(*first)[itemIsland[i] + 1]++] = i;
		}
	}
	return true;
}

static bool sortAll(const knMixedIslands* set, const knMixedIslandsInput* input, Lists* lists,
					knArena* arena) {
	const knModel* model = input->model;
	const int jointCount = knState_JointCount(model);
	const int pointCount = input->contacts != NULL ? input->contacts->pointCount : 0;
	int* jointIsland = KN_SCRATCH(arena, int, jointCount);
	int* pointIsland = KN_SCRATCH(arena, int, pointCount);
	if (arena->failed) {
		return false;
	}
	for (int j = 0; j < jointCount; ++j) {
		jointIsland[j] = -1;
		if (knState_JointActive(input->state, model, j)) {
			const knJoint* joint = knState_Joint(input->state, model, j);
			jointIsland[j] = islandOfPair(set, joint->parent, joint->child);
		}
	}
	for (int k = 0; k < pointCount; ++k) {
		const knContactAnchor* anchor = &input->contacts->anchors[k];
		const bool alone =
			input->alone != NULL && (input->alone[anchor->bodyA] || input->alone[anchor->bodyB]);
		const bool near = input->contacts->points[k].bias < KN_ROW_OUT_OF_REACH && !alone;
		pointIsland[k] = near ? islandOfPair(set, anchor->bodyA, anchor->bodyB) : -1;
	}
	return sortByIsland(set->islandOf, model->bodyCount, set->count, &lists->bodyFirst, &lists->bodies,
						arena) &&
		   sortByIsland(jointIsland, jointCount, set->count, &lists->jointFirst, &lists->joints, arena) &&
		   sortByIsland(pointIsland, pointCount, set->count, &lists->pointFirst, &lists->points, arena);
}

static void bodiesOfEntry(const knMixedIsland* island, const knMixedIslandsInput* input, int entry, int* a,
						  int* b) {
	if (entry < island->jointCount) {
		const knJoint* joint = knState_Joint(input->state, input->model, island->joints[entry]);
		*a = joint->parent;
		*b = joint->child;
	} else {
		const knContactAnchor* anchor = &input->contacts->anchors[island->points[entry - island->jointCount]];
		*a = anchor->bodyA;
		*b = anchor->bodyB;
	}
}

// The pattern, and the entries with their pivots.
static bool buildProblem(knMixedIslands* set, const knMixedIslandsInput* input, knMixedIsland* island,
						 knArena* arena) {
	const int entryCount = island->jointCount + island->pointCount;
	knIslandProblem* problem = &island->problem;
	knBodyEdge* edges = KN_SCRATCH(arena, knBodyEdge, entryCount);
	problem->entries = KN_SCRATCH(arena, knIslandEntry, entryCount);
	problem->rows =
		KN_SCRATCH(arena, knIslandRow, input->rowsOfJoint * island->jointCount + 3 * island->pointCount);
	island->firstRow = KN_SCRATCH(arena, int, entryCount);
	if (arena->failed) {
		return false;
	}
	int edgeCount = 0;
	for (int n = 0; n < entryCount; ++n) {
		int a, b;
		bodiesOfEntry(island, input, n, &a, &b);
		if (set->islandOf[a] >= 0 && set->islandOf[b] >= 0) {
			edges[edgeCount++] = (knBodyEdge){ a, b };
		}
	}
	if (!knBodyMatrix_Build(&problem->matrix, island->bodies, island->bodyCount, edges, edgeCount,
							set->pivotOf, arena) ||
		!knIslandProblem_Reserve(problem, arena)) {
		return false;
	}
	int row = 0;
	for (int n = 0; n < entryCount; ++n) {
		int a, b;
		bodiesOfEntry(island, input, n, &a, &b);
		knIslandEntry* entry = &problem->entries[n];
		*entry = (knIslandEntry){ .a = set->pivotOf[a], .b = set->pivotOf[b], .first = row };
		entry->block = knBodyMatrix_BlockOf(&problem->matrix, entry->a, entry->b);
		island->firstRow[n] = row;
		row += n < island->jointCount ? input->rowsOfJoint : 3;
	}
	problem->entryCount = entryCount;
	return true;
}

bool knMixedIslands_Build(knMixedIslands* set, const knMixedIslandsInput* input, knArena* arena) {
	Lists lists;
	if (!numberIslands(set, input, arena) || !sortAll(set, input, &lists, arena)) {
		return false;
	}
	set->items = KN_SCRATCH_ZERO(arena, knMixedIsland, set->count);
	for (int k = 0; k < set->count && !arena->failed; ++k) {
		knMixedIsland* island = &set->items[k];
		island->bodies = lists.bodies + lists.bodyFirst[k];
		island->bodyCount = lists.bodyFirst[k + 1] - lists.bodyFirst[k];
		island->joints = lists.joints + lists.jointFirst[k];
		island->jointCount = lists.jointFirst[k + 1] - lists.jointFirst[k];
		island->points = lists.points + lists.pointFirst[k];
		island->pointCount = lists.pointFirst[k + 1] - lists.pointFirst[k];
		if (!buildProblem(set, input, island, arena)) {
			return false;
		}
	}
	return !arena->failed;
}
