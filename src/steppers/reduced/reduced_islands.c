// Islands: trees that contacts and loop joints connect. Each is a step of its own, with its own rounds, sub-steps and
// last resort, so that what is hard in one place costs nothing elsewhere.
//
// The world's links, coordinates and rows are copied island by island; inside an island links, coordinates and rows count
// from 0. Arrays over bodies are the world's: an island writes those of its own bodies only.
#include "steppers/reduced/reduced_step.h"

#include <string.h>

// --- finding ---------------------------------------------------------------------------------------------

static int findRoot(int* parent, int i) {
	while (parent[i] != i) {
		parent[i] = parent[parent[i]];
		i = parent[i];
	}
	return i;
}

// The lower number leads, so that islands are in the order of links.
static void unite(int* parent, int a, int b) {
	if (a >= 0 && b >= 0) {
		a = findRoot(parent, a);
		b = findRoot(parent, b);
		parent[a > b ? a : b] = a > b ? b : a;
	}
}

// The island of every link, numbered from 0; returns how many.
static int numberLinks(const knReducedStep* world, int* islandOf, int* parent) {
	const knForest* forest = &world->forest;
	int count = 0;
	for (int i = 0; i < forest->count; ++i) {
		parent[i] = i;
	}
	for (int i = 0; i < forest->count; ++i) {
		unite(parent, i, forest->links[i].parent);
	}
	for (int k = 0; k < world->contactCount; ++k) {
		unite(parent, world->contacts[k].linkA, world->contacts[k].linkB);
	}
	for (int k = 0; k < world->pairCount; ++k) {
		unite(parent, world->pairs[k].linkP, world->pairs[k].linkC);
	}
	for (int i = 0; i < forest->count; ++i) {
		islandOf[i] = parent[i] == i ? count++ : islandOf[findRoot(parent, i)];
	}
	return count;
}

static int islandOfPair(const int* islandOf, int a, int b) {
	return a >= 0 ? islandOf[a] : b >= 0 ? islandOf[b] : -1;
}

// first[i] becomes where bin i starts, from the bins' counts in first[i + 1].
static void sumCounts(int* first, int count) {
	for (int i = 0; i < count; ++i) {
		first[i + 1] += first[i];
	}
}

static bool takeIslands(knReducedIslands* islands, const knReducedStep* world, int count, knArena* arena) {
	islands->count = count;
	islands->steps = KN_SCRATCH_ZERO(arena, knReducedStep, count);
	islands->linkFirst = KN_SCRATCH_ZERO(arena, int, count + 1);
	islands->contactFirst = KN_SCRATCH_ZERO(arena, int, count + 1);
	islands->axisFirst = KN_SCRATCH_ZERO(arena, int, count + 1);
	islands->pairFirst = KN_SCRATCH_ZERO(arena, int, count + 1);
	islands->links = KN_SCRATCH(arena, int, world->forest.count);
	islands->local = KN_SCRATCH(arena, int, world->forest.count);
	islands->contacts = KN_SCRATCH(arena, int, world->contactCount);
	islands->axes = KN_SCRATCH(arena, int, world->axisCount);
	islands->pairs = KN_SCRATCH(arena, int, world->pairCount);
	islands->localOf = KN_SCRATCH(arena, int, world->context->model->bodyCount);
	islands->group = KN_SCRATCH(arena, int32_t, world->context->model->bodyCount);
	return !arena->failed;
}

// Lists of links and rows by island, each in the world's order.
static void listMembers(knReducedIslands* islands, const knReducedStep* world, const int* islandOf, int* at) {
	int count = islands->count;
	for (int i = 0; i < world->forest.count; ++i) {
		islands->linkFirst[islandOf[i] + 1] += 1;
	}
	for (int k = 0; k < world->contactCount; ++k) {
		const knReducedContact* contact = &world->contacts[k];
		islands->contactFirst[islandOfPair(islandOf, contact->linkA, contact->linkB) + 1] += 1;
	}
	for (int k = 0; k < world->axisCount; ++k) {
		islands->axisFirst[islandOf[world->axes[k].link] + 1] += 1;
	}
	for (int k = 0; k < world->pairCount; ++k) {
		islands->pairFirst[islandOfPair(islandOf, world->pairs[k].linkP, world->pairs[k].linkC) + 1] += 1;
	}
	sumCounts(islands->linkFirst, count);
	sumCounts(islands->contactFirst, count);
	sumCounts(islands->axisFirst, count);
	sumCounts(islands->pairFirst, count);
	memcpy(at, islands->linkFirst, (size_t)count * sizeof(int));
	for (int i = 0; i < world->forest.count; ++i) {
		islands->local[i] = at[islandOf[i]] - islands->linkFirst[islandOf[i]];
		islands->links[at[islandOf[i]]++] = i;
	}
	memcpy(at, islands->contactFirst, (size_t)count * sizeof(int));
	for (int k = 0; k < world->contactCount; ++k) {
		const knReducedContact* contact = &world->contacts[k];
		islands->contacts[at[islandOfPair(islandOf, contact->linkA, contact->linkB)]++] = k;
	}
	memcpy(at, islands->axisFirst, (size_t)count * sizeof(int));
	for (int k = 0; k < world->axisCount; ++k) {
		islands->axes[at[islandOf[world->axes[k].link]]++] = k;
	}
	memcpy(at, islands->pairFirst, (size_t)count * sizeof(int));
	for (int k = 0; k < world->pairCount; ++k) {
		islands->pairs[at[islandOfPair(islandOf, world->pairs[k].linkP, world->pairs[k].linkC)]++] = k;
	}
}

bool knReduced_FindIslands(knReducedIslands* islands, const knReducedStep* world) {
	knArena* arena = world->context->arena;
	int links = world->forest.count;
	int* islandOf = KN_SCRATCH(arena, int, links + 1);
	int* scratch = KN_SCRATCH(arena, int, links + 1);
	*islands = (knReducedIslands){ 0 };
	if (arena->failed) {
		return false;
	}
	int count = numberLinks(world, islandOf, scratch);
	if (!takeIslands(islands, world, count, arena)) {
		return false;
	}
	listMembers(islands, world, islandOf, scratch);
	for (int b = 0; b < world->context->model->bodyCount; ++b) {
		int link = world->forest.linkOf[b];
		islands->localOf[b] = link >= 0 ? islands->local[link] : -1;
		islands->group[b] = link >= 0 ? islandOf[link] : -1;
	}
	return true;
}

// --- an island as a step ---------------------------------------------------------------------------------

// Its part of the forest, with its own numbers.
static bool copyForest(knForest* out, const knForest* forest, const knReducedIslands* islands, int k,
					   knArena* arena) {
	int first = islands->linkFirst[k];
	*out = (knForest){ .model = forest->model,
					   .count = islands->linkFirst[k + 1] - first,
					   .linkOf = islands->localOf };
	out->links = KN_SCRATCH(arena, knForestLink, out->count);
	if (out->links == NULL) {
		return false;
	}
	for (int i = 0; i < out->count; ++i) {
		knForestLink* link = &out->links[i];
		*link = forest->links[islands->links[first + i]];
		link->parent = link->parent >= 0 ? islands->local[link->parent] : -1;
		link->qOffset = out->nq;
		link->vOffset = out->nv;
		link->bOffset = out->bCount;
		out->nq += link->nq;
		out->nv += link->nv;
		out->bCount += link->nv * link->nv;
	}
	return true;
}

static void copyCoordinates(knReducedStep* step, const knReducedStep* world, const int* links) {
	for (int i = 0; i < step->forest.count; ++i) {
		const knForestLink *to = &step->forest.links[i], *from = &world->forest.links[links[i]];
		memcpy(step->q0 + to->qOffset, world->q0 + from->qOffset, (size_t)to->nq * sizeof(double));
		memcpy(step->v0 + to->vOffset, world->v0 + from->vOffset, (size_t)to->nv * sizeof(double));
		memcpy(step->columns0 + to->vOffset, world->columns0 + from->vOffset,
			   (size_t)to->nv * sizeof(knTreeMotion));
		step->c0[i] = world->c0[links[i]];
		step->arm0[i] = world->arm0[links[i]];
	}
}

static int localLink(const knReducedIslands* islands, int link) {
	return link >= 0 ? islands->local[link] : -1;
}

static void copyRows(knReducedStep* step, const knReducedStep* world, const knReducedIslands* islands,
					 int k) {
	step->crossCount = 0;
	for (int i = 0; i < step->contactCount; ++i) {
		knReducedContact* contact = &step->contacts[i];
		*contact = world->contacts[islands->contacts[islands->contactFirst[k] + i]];
		contact->linkA = localLink(islands, contact->linkA);
		contact->linkB = localLink(islands, contact->linkB);
		step->crossCount += contact->linkA >= 0 && contact->linkB >= 0;
	}
	for (int i = 0; i < step->axisCount; ++i) {
		step->axes[i] = world->axes[islands->axes[islands->axisFirst[k] + i]];
		step->axes[i].link = islands->local[step->axes[i].link];
	}
	for (int i = 0; i < step->pairCount; ++i) {
		knReducedPairRow* row = &step->pairs[i];
		*row = world->pairs[islands->pairs[islands->pairFirst[k] + i]];
		row->linkP = localLink(islands, row->linkP);
		row->linkC = localLink(islands, row->linkC);
		step->crossCount += row->linkP >= 0 && row->linkC >= 0;
	}
}

bool knReduced_OpenIsland(const knReducedIslands* islands, const knReducedStep* world, int k,
						  knReducedStep* step) {
	knArena* arena = world->context->arena;
	*step = *world;
	step->iterations = step->subSteps = step->rung = step->guarded = step->failures = 0;
	step->work = 0.0;
	step->conflict = false;
	step->contactCount = islands->contactFirst[k + 1] - islands->contactFirst[k];
	step->axisCount = islands->axisFirst[k + 1] - islands->axisFirst[k];
	step->pairCount = islands->pairFirst[k + 1] - islands->pairFirst[k];
	step->contacts = KN_SCRATCH(arena, knReducedContact, step->contactCount);
	step->axes = KN_SCRATCH(arena, knReducedAxisRow, step->axisCount);
	step->pairs = KN_SCRATCH(arena, knReducedPairRow, step->pairCount);
	if (!copyForest(&step->forest, &world->forest, islands, k, arena) || !knReduced_TakeLinks(step)) {
		return false;
	}
	copyCoordinates(step, world, islands->links + islands->linkFirst[k]);
	copyRows(step, world, islands, k);
	return true;
}

void knReduced_CloseIsland(const knReducedIslands* islands, const knReducedStep* step, int k,
						   knReducedStep* world) {
	const int* links = islands->links + islands->linkFirst[k];
	for (int i = 0; i < step->forest.count; ++i) {
		const knForestLink *from = &step->forest.links[i], *to = &world->forest.links[links[i]];
		memcpy(world->q + to->qOffset, step->q + from->qOffset, (size_t)to->nq * sizeof(double));
		memcpy(world->v + to->vOffset, step->v + from->vOffset, (size_t)to->nv * sizeof(double));
		world->reaction[links[i]] = step->reaction[i];
	}
	for (int i = 0; i < step->contactCount; ++i) {
		world->contacts[islands->contacts[islands->contactFirst[k] + i]] = step->contacts[i];
	}
	for (int i = 0; i < step->axisCount; ++i) {
		world->axes[islands->axes[islands->axisFirst[k] + i]] = step->axes[i];
	}
	for (int i = 0; i < step->pairCount; ++i) {
		world->pairs[islands->pairs[islands->pairFirst[k] + i]] = step->pairs[i];
	}
	world->work += step->work;
	world->iterations += step->iterations;
	world->subSteps += step->subSteps > 1 ? step->subSteps : 0;
	world->rung = step->rung > world->rung ? step->rung : world->rung;
	world->guarded += step->guarded;
	for (int i = 0; i < step->pairCount && step->conflict; ++i) {
		world->conflicts += step->pairs[i].locked && step->pairs[i].index == 0;
	}
}
