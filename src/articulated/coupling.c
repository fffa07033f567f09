// Couplings of a forest's linear system (forest.h): which pairs of links there are, the order in which links are eliminated,
// and where each elimination writes. All of that follows from the pattern alone and is planned once for it; numbers are
// coupled_kernel.h's.
//
// Leaves go first, of those that may go the one coupled to the fewest others; of equals the last.
#include "articulated/forest.h"

#include <string.h>

#define NONE (-1)

bool knForestCouplings_Make(knForestCouplings* couplings, const knForest* forest, int pairCapacity,
							knArena* arena) {
	*couplings = (knForestCouplings){ .forest = forest, .arena = arena };
	couplings->pairCapacity = pairCapacity > 0 ? pairCapacity : 1;
	couplings->pairs = KN_SCRATCH(arena, knForestPair, couplings->pairCapacity);
	couplings->firstPair = KN_SCRATCH(arena, int, forest->count);
	couplings->order = KN_SCRATCH(arena, int, forest->count);
	couplings->withParent = KN_SCRATCH(arena, int, forest->count);
	couplings->firstEnd = KN_SCRATCH(arena, int, forest->count + 1);
	couplings->firstNumber = KN_SCRATCH(arena, int, forest->count + 1);
	couplings->firstJoin = KN_SCRATCH(arena, int, forest->count + 1);
	if (arena->failed) {
		return false;
	}
	knForestCouplings_Forget(couplings);
	return true;
}

void knForestCouplings_Forget(knForestCouplings* couplings) {
	couplings->pairCount = couplings->rowPairs = 0;
	couplings->planned = false;
	for (int i = 0; i < couplings->forest->count; ++i) {
		couplings->firstPair[i] = NONE;
	}
}

void knForestCouplings_Clear(knForestCouplings* couplings) {
	static const knForestBlock empty;
	for (int p = 0; p < couplings->pairCount; ++p) {
		couplings->pairs[p].block[0] = couplings->pairs[p].block[1] = empty;
	}
}

// --- pairs -----------------------------------------------------------------------------------------------

static int nextPair(const knForestCouplings* couplings, int pair, int i) {
	return couplings->pairs[pair].next[couplings->pairs[pair].link[0] == i ? 0 : 1];
}

static int otherLink(const knForestPair* pair, int i) {
	return pair->link[pair->link[0] == i ? 1 : 0];
}

static int addPair(knForestCouplings* couplings, int a, int b) {
	if (couplings->pairCount == couplings->pairCapacity) {
		knForestPair* more = KN_SCRATCH(couplings->arena, knForestPair, 2 * couplings->pairCapacity);
		if (more == NULL) {
			return NONE;
		}
		memcpy(more, couplings->pairs, (size_t)couplings->pairCount * sizeof(*more));
		couplings->pairs = more;
		couplings->pairCapacity *= 2;
	}
	static const knForestBlock empty;
	int index = couplings->pairCount++;
	knForestPair* pair = &couplings->pairs[index];
	pair->link[0] = a, pair->link[1] = b;
	pair->next[0] = couplings->firstPair[a], pair->next[1] = couplings->firstPair[b];
	pair->block[0] = pair->block[1] = empty;
	couplings->firstPair[a] = couplings->firstPair[b] = index;
	return index;
}

// Takes the pairs out that only a plan has made.
static void dropFill(knForestCouplings* couplings) {
	for (int p = couplings->pairCount - 1; p >= couplings->rowPairs; --p) {
		const knForestPair* pair = &couplings->pairs[p];
		couplings->firstPair[pair->link[0]] = pair->next[0];
		couplings->firstPair[pair->link[1]] = pair->next[1];
	}
	couplings->pairCount = couplings->rowPairs;
	couplings->planned = false;
}

knForestPair* knForestCouplings_Couple(knForestCouplings* couplings, int a, int b) {
	KN_ASSERT(a != b);
	int pair = couplings->firstPair[a];
	while (pair != NONE && otherLink(&couplings->pairs[pair], a) != b) {
		pair = nextPair(couplings, pair, a);
	}
	if (pair == NONE || pair >= couplings->rowPairs) {
		// a pattern of its own; a pair that was fill is one of rows now
		dropFill(couplings);
		pair = addPair(couplings, a, b);
		couplings->rowPairs = couplings->pairCount;
	}
	return pair != NONE ? &couplings->pairs[pair] : NULL;
}

// --- plan ------------------------------------------------------------------------------------------------

typedef struct Plan {
	knForestCouplings* couplings;
	int *degree, *children, *leaves,
		*found; // [count] degree -1: gone; found: pair with the link marked, NONE
	int leafCount;
	int endCount, endCapacity, joinCount, joinCapacity, numberCount;
} Plan;

static bool isGone(const Plan* plan, int i) {
	return plan->degree[i] < 0;
}

// The pairs of link j by the other link, in `found`; those with links that are gone are passed by.
static void markPairs(Plan* plan, int j, bool on) {
	const knForestCouplings* couplings = plan->couplings;
	for (int p = couplings->firstPair[j]; p != NONE; p = nextPair(couplings, p, j)) {
		plan->found[otherLink(&couplings->pairs[p], j)] = on ? p : NONE;
	}
}

static int32_t placeOf(const knForestCouplings* couplings, int pair, int i) {
	return 2 * pair + (couplings->pairs[pair].link[0] == i ? 0 : 1);
}

// The place of j's block over k's motion; pairs of j are marked. NONE: no memory.
static int32_t placeBetween(Plan* plan, int j, int k) {
	if (plan->found[k] == NONE) {
		int pair = addPair(plan->couplings, j, k);
		if (pair == NONE) {
			return NONE;
		}
		plan->found[k] = pair;
		plan->degree[j] += 1;
		plan->degree[k] += 1;
	}
	return placeOf(plan->couplings, plan->found[k], j);
}

static int* grown(int* old, int count, int* capacity, int need, knArena* arena) {
	if (count + need <= *capacity) {
		return old;
	}
	*capacity = 2 * (count + need);
	int* more = KN_SCRATCH(arena, int, *capacity);
	if (more != NULL && count > 0) {
		memcpy(more, old, (size_t)count * sizeof(int));
	}
	return more;
}

static bool takeRoom(Plan* plan, int ends) {
	knForestCouplings* couplings = plan->couplings;
	int capacity = plan->endCapacity, same = capacity, again = capacity;
	couplings->endLink = grown(couplings->endLink, plan->endCount, &capacity, ends, couplings->arena);
	couplings->endPlace = grown(couplings->endPlace, plan->endCount, &same, ends, couplings->arena);
	couplings->parentPlace = grown(couplings->parentPlace, plan->endCount, &again, ends, couplings->arena);
	plan->endCapacity = capacity;
	couplings->joinPlace =
		grown(couplings->joinPlace, plan->joinCount, &plan->joinCapacity, ends * ends, couplings->arena);
	return !couplings->arena->failed;
}

// Couplings of link i at its elimination.
static bool listEnds(Plan* plan, int i, int step) {
	knForestCouplings* couplings = plan->couplings;
	int parent = couplings->forest->links[i].parent;
	couplings->withParent[step] = NONE;
	if (!takeRoom(plan, plan->degree[i])) {
		return false;
	}
	for (int p = couplings->firstPair[i]; p != NONE; p = nextPair(couplings, p, i)) {
		int j = otherLink(&couplings->pairs[p], i);
		if (isGone(plan, j)) {
			continue;
		}
		if (j == parent) {
			couplings->withParent[step] = p;
			continue;
		}
		couplings->endLink[plan->endCount] = j;
		couplings->endPlace[plan->endCount++] = placeOf(couplings, p, i);
	}
	return true;
}

// Where what link i leaves goes.
static bool listTargets(Plan* plan, int i, int from) {
	knForestCouplings* couplings = plan->couplings;
	int parent = couplings->forest->links[i].parent;
	if (parent >= 0) {
		markPairs(plan, parent, true);
		for (int a = from; a < plan->endCount; ++a) {
			couplings->parentPlace[a] = placeBetween(plan, parent, couplings->endLink[a]);
		}
		markPairs(plan, parent, false);
	}
	for (int a = from; a < plan->endCount && couplings->forest->links[i].nv > 0; ++a) {
		markPairs(plan, couplings->endLink[a], true);
		for (int b = from; b < plan->endCount; ++b) {
			if (b != a) {
				couplings->joinPlace[plan->joinCount++] =
					placeBetween(plan, couplings->endLink[a], couplings->endLink[b]);
			}
		}
		markPairs(plan, couplings->endLink[a], false);
	}
	return !couplings->arena->failed;
}

static bool planLink(Plan* plan, int i, int step) {
	knForestCouplings* couplings = plan->couplings;
	int from = couplings->firstEnd[step];
	couplings->order[step] = i;
	couplings->firstNumber[step] = plan->numberCount;
	couplings->firstJoin[step] = plan->joinCount;
	if (!listEnds(plan, i, step) || !listTargets(plan, i, from)) {
		return false;
	}
	couplings->firstEnd[step + 1] = plan->endCount;
	plan->numberCount += (plan->endCount - from) * couplings->forest->links[i].nv;
	for (int p = couplings->firstPair[i]; p != NONE; p = nextPair(couplings, p, i)) {
		int j = otherLink(&couplings->pairs[p], i);
		plan->degree[j] -= !isGone(plan, j);
	}
	plan->degree[i] = -1;
	return true;
}

static bool beginPlan(Plan* plan, knForestCouplings* couplings) {
	const knForest* forest = couplings->forest;
	knArena* arena = couplings->arena;
	*plan = (Plan){ .couplings = couplings };
	plan->degree = KN_SCRATCH_ZERO(arena, int, forest->count);
	plan->children = KN_SCRATCH_ZERO(arena, int, forest->count);
	plan->leaves = KN_SCRATCH(arena, int, forest->count);
	plan->found = KN_SCRATCH(arena, int, forest->count);
	if (arena->failed) {
		return false;
	}
	for (int p = 0; p < couplings->pairCount; ++p) {
		plan->degree[couplings->pairs[p].link[0]] += 1;
		plan->degree[couplings->pairs[p].link[1]] += 1;
	}
	for (int i = 0; i < forest->count; ++i) {
		plan->found[i] = NONE;
		if (forest->links[i].parent >= 0) {
			plan->children[forest->links[i].parent] += 1;
		}
	}
	for (int i = 0; i < forest->count; ++i) {
		if (plan->children[i] == 0) {
			plan->leaves[plan->leafCount++] = i;
		}
	}
	return true;
}

bool knForestCouplings_Plan(knForestCouplings* couplings) {
	Plan plan;
	if (couplings->planned) {
		return true;
	}
	if (!beginPlan(&plan, couplings)) {
		return false;
	}
	int *leaves = plan.leaves, count = couplings->forest->count;
	couplings->firstEnd[0] = 0;
	for (int step = 0; step < count; ++step) {
		int best = 0;
		for (int k = 1; k < plan.leafCount; ++k) {
			int a = leaves[k], b = leaves[best];
			bool better = plan.degree[a] != plan.degree[b] ? plan.degree[a] < plan.degree[b] : a > b;
			best = better ? k : best;
		}
		int i = leaves[best], parent = couplings->forest->links[i].parent;
		leaves[best] = leaves[--plan.leafCount];
		if (!planLink(&plan, i, step)) {
			return false;
		}
		if (parent >= 0 && --plan.children[parent] == 0) {
			leaves[plan.leafCount++] = parent;
		}
	}
	couplings->ends = KN_SCRATCH(couplings->arena, knForestEnd, plan.numberCount);
	couplings->planned = !couplings->arena->failed;
	return couplings->planned;
}
