// Groups by union-find; each is named by its lowest body.

#include "dynamics/islands.h"

#include "core/sets.h"

static void flatten(int32_t* parent, const double* invMass, int count) {
	for (int i = 0; i < count; ++i) {
		// roots are lower than what they name, so parent[i] is final already
		parent[i] = parent[parent[i]];
	}
	for (int i = 0; i < count; ++i) {
		parent[i] = invMass[i] > 0.0 ? parent[i] : -1;
	}
}

bool knIslands_Build(knIslands* islands, int bodyCount, const double* invMass, const knSweepChunk* chunks,
					 int chunkCount, const knJointEdge* joints, int jointCount, knArena* arena) {
	int32_t* group = islands->group = KN_SCRATCH(arena, int32_t, bodyCount);
	int32_t* assembly = islands->assembly = KN_SCRATCH(arena, int32_t, bodyCount);
	islands->anchored = KN_SCRATCH_ZERO(arena, uint8_t, bodyCount);
	islands->jointed = KN_SCRATCH_ZERO(arena, uint8_t, bodyCount);
	islands->hung = KN_SCRATCH_ZERO(arena, uint8_t, bodyCount);
	islands->linked = KN_SCRATCH_ZERO(arena, uint8_t, bodyCount);
	if (arena->failed) {
		return false;
	}
	for (int i = 0; i < bodyCount; ++i) {
		group[i] = assembly[i] = i;
	}
	for (int i = 0; i < jointCount; ++i) {
		if (invMass[joints[i].a] > 0.0 && invMass[joints[i].b] > 0.0) {
			knSets_Unite(assembly, joints[i].a, joints[i].b);
			knSets_Unite(group, joints[i].a, joints[i].b);
		}
	}
	for (int i = 0; i < chunkCount; ++i) {
		if (invMass[chunks[i].a] > 0.0 && invMass[chunks[i].b] > 0.0) {
			knSets_Unite(group, chunks[i].a, chunks[i].b);
		}
	}
	flatten(group, invMass, bodyCount);
	flatten(assembly, invMass, bodyCount);

	for (int i = 0; i < jointCount; ++i) {
		int32_t a = group[joints[i].a], b = group[joints[i].b];
		islands->jointed[a >= 0 ? a : b] = islands->linked[a >= 0 ? a : b] = 1;
		islands->anchored[a >= 0 ? a : b] |= a < 0 || b < 0;
		islands->hung[assembly[a >= 0 ? joints[i].a : joints[i].b]] |= a < 0 || b < 0;
	}
	for (int i = 0; i < chunkCount; ++i) {
		int32_t a = group[chunks[i].a], b = group[chunks[i].b];
		islands->linked[a >= 0 ? a : b] = 1;
		islands->anchored[a >= 0 ? a : b] |= a < 0 || b < 0;
	}
	return true;
}

bool knGroupOrder_Build(knGroupOrder* order, const int32_t* groupOf, int count, int bodyCount,
						knArena* arena) {
	int* index = KN_SCRATCH_ZERO(arena, int, bodyCount); // of each group, from 1
	*order = (knGroupOrder){ .first = KN_SCRATCH_ZERO(arena, int, count + 2),
							 .items = KN_SCRATCH(arena, int, count) };
	if (arena->failed) {
		return false;
	}
	for (int i = 0; i < count; ++i) {
		if (index[groupOf[i]] == 0) {
			index[groupOf[i]] = ++order->count;
		}
		order->first[index[groupOf[i]] + 1] += 1;
	}
	for (int g = 0; g < order->count; ++g) {
		order->first[g + 2] += order->first[g + 1];
	}
	// first[g + 1] runs from the begin to the end of group g
	for (int i = 0; i < count; ++i) {
		order->items[order->first[index[groupOf[i]]]++] = i;
	}
	return true;
}
