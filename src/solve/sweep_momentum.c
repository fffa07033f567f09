// Nonlinear conjugate gradients over sweeps. Packs and blocks are taken in parallel; the sums over a group are made
// by one thread, in the order of chunks, so results know nothing of threads.

#include "solve/sweep_momentum.h"

#include "core/tasks.h"

enum { BLOCK_GRAIN = 256 };
#define GROWTH_MOST 1.2 // of |g|^2 from sweep to sweep; beyond it the direction starts anew
#define BETA_MOST 0.95

struct knSweepMomentum {
	const knSweepSet* set;
	knMomentumPacks packs;
	int packCount;
	bool begun;  // there are directions
	bool wentOn; // velocities have gone on since the last sweep
	const uint8_t* excluded;

	// groups with packs, by number
	int32_t* number; // [blocks of the caller] of the group whose lowest block that is, -1: none
	int32_t* root;
	double *square, *last, *beta;
	double* mass;
	int32_t* lanes;      // of packs, 4 pack + lane, by groups and in the order of their chunks
	int32_t* groupFirst; // [groupCount + 1] into it
	int groupCount;

	// blocks that move
	int32_t* blocks;
	int32_t* blockGroup;
	knTwist *before, *direction;
	int blockCount;
};

// --- who takes part --------------------------------------------------------------------------------------

static int32_t numberOf(knSweepMomentum* m, int32_t group) {
	if (m->number[group] < 0) {
		m->number[group] = m->groupCount;
		m->root[m->groupCount] = group;
		m->last[m->groupCount] = m->beta[m->groupCount] = m->mass[m->groupCount] = 0.0;
		m->groupCount += 1;
	}
	return m->number[group];
}

static void addBlock(knSweepMomentum* m, int32_t block, double invMass, int32_t number, uint8_t* listed) {
	if (!listed[block]) {
		listed[block] = 1;
		m->mass[number] += 1.0 / invMass;
		m->blocks[m->blockCount] = block;
		m->blockGroup[m->blockCount] = number;
		m->direction[m->blockCount] = knZeroTwist();
		m->blockCount += 1;
	}
}

static void listPack(knSweepMomentum* m, int p, const int32_t* group, uint8_t* listed) {
	const knPack* pack = &m->set->packs[m->packs.firstPack + p];
	for (int lane = 0; lane < KN_LANES; ++lane) {
		m->packs.groupOf[p][lane] = -1;
		if (pack->chunk[lane] < 0) {
			continue;
		}
		int32_t a = pack->a[lane], b = pack->b[lane];
		int32_t number = numberOf(m, group[a] >= 0 ? group[a] : group[b]);
		m->packs.groupOf[p][lane] = number;
		if ((pack->freeA >> lane & 1u) != 0) {
			addBlock(m, a, pack->imA[lane], number, listed);
		}
		if ((pack->freeB >> lane & 1u) != 0) {
			addBlock(m, b, pack->imB[lane], number, listed);
		}
	}
}

// Blocks in their own order: a thread that takes the same part of every loop meets the same blocks as in its packs.
static void sortBlocks(knSweepMomentum* m, int blockCount, const int32_t* group, const uint8_t* listed) {
	int count = 0;
	for (int b = 0; b < blockCount; ++b) {
		if (listed[b]) {
			m->blocks[count] = b;
			m->blockGroup[count++] = m->number[group[b]];
		}
	}
}

// Lists the lanes of each group in the order of their chunks.
static bool sortLanes(knSweepMomentum* m, knArena* arena) {
	int last = -1, count = KN_LANES * m->packCount;
	for (int i = 0; i < count; ++i) {
		int32_t chunk = m->set->packs[m->packs.firstPack + i / KN_LANES].chunk[i % KN_LANES];
		last = chunk > last ? chunk : last;
	}
	int32_t* laneOf = KN_SCRATCH(arena, int32_t, last + 1);
	m->lanes = KN_SCRATCH(arena, int32_t, count);
	m->groupFirst = KN_SCRATCH_ZERO(arena, int32_t, m->groupCount + 2);
	if (arena->failed) {
		return false;
	}
	for (int c = 0; c <= last; ++c) {
		laneOf[c] = -1;
	}
	for (int i = 0; i < count; ++i) {
		int32_t group = m->packs.groupOf[i / KN_LANES][i % KN_LANES];
		if (group >= 0) {
			laneOf[m->set->packs[m->packs.firstPack + i / KN_LANES].chunk[i % KN_LANES]] = i;
			m->groupFirst[group + 2] += 1;
		}
	}
	for (int g = 2; g < m->groupCount + 2; ++g) {
		m->groupFirst[g] += m->groupFirst[g - 1];
	}
	// groupFirst[g + 1] runs from the begin to the end of group g
	for (int c = 0; c <= last; ++c) {
		if (laneOf[c] >= 0) {
			int32_t group = m->packs.groupOf[laneOf[c] / KN_LANES][laneOf[c] % KN_LANES];
			m->lanes[m->groupFirst[group + 1]++] = laneOf[c];
		}
	}
	return true;
}

// Packs and points of stages follow each other.
static void findRange(const knSweepSet* set, int firstStage, int endStage, int* begin, int* end) {
	*begin = set->packCount;
	*end = 0;
	for (int s = firstStage; s < endStage; ++s) {
		const knSweepStage* stage = &set->stages[s];
		for (int c = stage->firstColour; c < stage->firstColour + stage->colourCount; ++c) {
			const knSweepColour* colour = &set->colours[c];
			*begin = colour->first < *begin ? colour->first : *begin;
			*end = colour->first + colour->count > *end ? colour->first + colour->count : *end;
		}
	}
	*begin = *begin < *end ? *begin : *end;
}

knSweepMomentum* knSweepMomentum_Begin(const knSweepSet* set, int firstStage, int endStage, int blockCount,
									   const int32_t* group, const uint8_t* excluded, knArena* arena) {
	int begin, end;
	findRange(set, firstStage, endStage, &begin, &end);
	int packs = end - begin, firstPoint = packs > 0 ? set->packs[begin].first : 0;
	int points = packs > 0 ? set->packs[end - 1].first + set->packs[end - 1].count - firstPoint : 0;
	// every lane brings two blocks and one group at most
	int most = 2 * KN_LANES * packs < blockCount ? 2 * KN_LANES * packs : blockCount;
	knSweepMomentum* m = KN_SCRATCH(arena, knSweepMomentum, 1);
	uint8_t* listed = KN_SCRATCH_ZERO(arena, uint8_t, blockCount);
	if (arena->failed) {
		return NULL;
	}
	*m = (knSweepMomentum){
		.set = set,
		.packs = { .firstPack = begin,
				   .firstPoint = firstPoint,
				   .points = KN_SCRATCH(arena, knPackMomentum, points),
				   .rolling = set->rolling != NULL ? KN_SCRATCH(arena, knPackMomentum, points) : NULL,
				   .square = (double(*)[KN_LANES])KN_SCRATCH(arena, double, KN_LANES* packs),
				   .groupOf = (int32_t(*)[KN_LANES])KN_SCRATCH(arena, int32_t, KN_LANES * packs) },
		.packCount = packs,
		.excluded = excluded,
		.number = KN_SCRATCH(arena, int32_t, blockCount),
		.root = KN_SCRATCH(arena, int32_t, most),
		.square = KN_SCRATCH(arena, double, most),
		.last = KN_SCRATCH(arena, double, most),
		.beta = KN_SCRATCH(arena, double, most),
		.mass = KN_SCRATCH(arena, double, most),
		.blocks = KN_SCRATCH(arena, int32_t, most),
		.blockGroup = KN_SCRATCH(arena, int32_t, most),
		.before = KN_SCRATCH(arena, knTwist, most),
		.direction = KN_SCRATCH(arena, knTwist, most),
	};
	if (arena->failed) {
		return NULL;
	}
	m->packs.groupBeta = m->beta;
	for (int b = 0; b < blockCount; ++b) {
		m->number[b] = -1;
	}
	for (int p = 0; p < packs; ++p) {
		listPack(m, p, group, listed);
	}
	sortBlocks(m, blockCount, group, listed);
	return sortLanes(m, arena) ? m : NULL;
}

// --- sweeps ----------------------------------------------------------------------------------------------

typedef struct Task {
	knSweepMomentum* momentum;
	knTwist* u;
	const knTwist* from;
} Task;

static void keepBlocks(int begin, int end, int worker, void* argument) {
	(void)worker;
	const Task* task = argument;
	const knSweepMomentum* m = task->momentum;
	for (int i = begin; i < end; ++i) {
		m->before[i] = task->from[m->blocks[i]];
	}
}

knMomentumPass knSweepMomentum_FirstPass(knSweepMomentum* m, const knTasks* tasks, const knTwist* u) {
	knMomentumPass pass = m->wentOn ? KN_MOMENTUM_GO_ON : m->begun ? KN_MOMENTUM_KEEP : KN_MOMENTUM_BEGIN;
	if (!m->wentOn) {
		Task task = { .momentum = m, .from = u };
		knTasks_For(tasks, m->blockCount, BLOCK_GRAIN, keepBlocks, &task);
	}
	m->begun = true;
	m->wentOn = false;
	return pass;
}

// By groups and, in each, in the order of chunks, which knows nothing of other groups and of how lanes were packed. Four
// sums at a time do not wait for each other.
static void sumSquares(knSweepMomentum* m) {
	const double* squares = &m->packs.square[0][0];
	for (int g = 0; g < m->groupCount; ++g) {
		const int32_t* lanes = &m->lanes[m->groupFirst[g]];
		int count = m->groupFirst[g + 1] - m->groupFirst[g];
		double sum[4] = { 0.0 };
		for (int i = 0; i < count; ++i) {
			sum[i & 3] += squares[lanes[i]];
		}
		m->square[g] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
	}
}

double knSweepMomentum_Look(knSweepMomentum* m) {
	sumSquares(m);
	double largest = 0.0;
	for (int g = 0; g < m->groupCount; ++g) {
		bool excluded = m->excluded != NULL && m->excluded[m->root[g]] != 0;
		bool goesOn = m->last[g] > 0.0 && m->square[g] <= GROWTH_MOST * m->last[g] && !excluded;
		m->beta[g] = goesOn ? knMin(m->square[g] / m->last[g], BETA_MOST) : 0.0;
		m->last[g] = m->square[g];
		largest = excluded ? largest : knMax(largest, m->square[g] / m->mass[g]);
	}
	return largest;
}

static void goOnBlockRange(int begin, int end, int worker, void* argument) {
	(void)worker;
	const Task* task = argument;
	const knSweepMomentum* m = task->momentum;
	for (int i = begin; i < end; ++i) {
		knTwist* u = &task->u[m->blocks[i]];
		knTwist next = knMulAddT(*u, m->beta[m->blockGroup[i]], m->direction[i]);
		m->direction[i] = knSubT(next, m->before[i]);
		m->before[i] = next;
		*u = next;
	}
}

void knSweepMomentum_GoOn(knSweepMomentum* m, const knTasks* tasks, knTwist* u) {
	Task task = { .momentum = m, .u = u };
	knTasks_For(tasks, m->blockCount, BLOCK_GRAIN, goOnBlockRange, &task);
	m->wentOn = true;
}

double knSweepMomentum_Change(const knSweepMomentum* m, int32_t group) {
	int32_t number = m->number[group];
	return number >= 0 ? m->last[number] / m->mass[number] : (double)INFINITY;
}

const knMomentumPacks* knSweepMomentum_Packs(const knSweepMomentum* m) {
	return &m->packs;
}

double knSweepMomentum_Beta(const knSweepMomentum* m, int32_t group) {
	return m->number[group] >= 0 ? m->beta[m->number[group]] : 0.0;
}
