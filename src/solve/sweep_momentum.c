// Nonlinear conjugate gradients over sweeps. Packs and blocks are taken in parallel; the sums over a group are made
// by one thread, in the order of packs, so results know nothing of threads.

#include "solve/sweep_momentum.h"

#include "core/tasks.h"

#define PACK_GRAIN 64
#define BLOCK_GRAIN 256

struct knSweepMomentum {
	const knSweepSet* set;
	knMomentumPacks packs;
	int packCount;
	bool inSweeps; // packs go on in the course of sweeps
	const uint8_t* excluded;

	// groups with packs, by number
	int32_t* number; // [blocks of the caller] of the group whose lowest block that is, -1: none
	int32_t* root;
	double *square, *last, *beta;
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
		m->last[m->groupCount] = m->beta[m->groupCount] = 0.0;
		m->groupCount += 1;
	}
	return m->number[group];
}

static void addBlock(knSweepMomentum* m, int32_t block, int32_t number, uint8_t* listed) {
	if (!listed[block]) {
		listed[block] = 1;
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
			addBlock(m, a, number, listed);
		}
		if ((pack->freeB >> lane & 1u) != 0) {
			addBlock(m, b, number, listed);
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
				   .points = KN_SCRATCH_ZERO(arena, knPackMomentum, points),
				   .rolling = set->rolling != NULL ? KN_SCRATCH_ZERO(arena, knPackMomentum, points) : NULL,
				   .square = (double(*)[KN_LANES])KN_SCRATCH(arena, double, KN_LANES* packs),
				   .beta = (double(*)[KN_LANES])KN_SCRATCH(arena, double, KN_LANES* packs),
				   .groupOf = (int32_t(*)[KN_LANES])KN_SCRATCH(arena, int32_t, KN_LANES * packs) },
		.packCount = packs,
		.excluded = excluded,
		.number = KN_SCRATCH(arena, int32_t, blockCount),
		.root = KN_SCRATCH(arena, int32_t, most),
		.square = KN_SCRATCH(arena, double, most),
		.last = KN_SCRATCH(arena, double, most),
		.beta = KN_SCRATCH(arena, double, most),
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
	return m;
}

// --- sweeps ----------------------------------------------------------------------------------------------

typedef struct Task {
	knSweepMomentum* momentum;
	const knSweepKernel* kernel;
	knTwist* u;
	const knTwist* from;
} Task;

static void keepRows(knPackMomentum* momentum, const double lambda[3][KN_LANES]) {
	for (int i = 0; i < 3; ++i) {
		for (int lane = 0; lane < KN_LANES; ++lane) {
			momentum->before[i][lane] = lambda[i][lane];
		}
	}
}

static void keepPacks(int begin, int end, int worker, void* argument) {
	(void)worker;
	const knSweepMomentum* m = ((const Task*)argument)->momentum;
	const knSweepSet* set = m->set;
	const knMomentumPacks* packs = &m->packs;
	for (int p = packs->firstPack + begin; p < packs->firstPack + end; ++p) {
		for (int k = set->packs[p].first; k < set->packs[p].first + set->packs[p].count; ++k) {
			keepRows(&packs->points[k - packs->firstPoint], set->points[k].lambda);
			if (packs->rolling != NULL) {
				keepRows(&packs->rolling[k - packs->firstPoint], set->rolling[k].lambda);
			}
		}
	}
}

static void keepBlocks(int begin, int end, int worker, void* argument) {
	(void)worker;
	const Task* task = argument;
	const knSweepMomentum* m = task->momentum;
	for (int i = begin; i < end; ++i) {
		m->before[i] = task->from[m->blocks[i]];
	}
}

void knSweepMomentum_Start(knSweepMomentum* m, const knTasks* tasks, const knTwist* u) {
	Task task = { .momentum = m, .from = u };
	knTasks_For(tasks, m->packCount, PACK_GRAIN, keepPacks, &task);
	knTasks_For(tasks, m->blockCount, BLOCK_GRAIN, keepBlocks, &task);
}

static void squareRange(int begin, int end, int worker, void* argument) {
	(void)worker;
	const Task* task = argument;
	const knSweepMomentum* m = task->momentum;
	int first = m->packs.firstPack;
	task->kernel->square(m->set, first + begin, first + end, &m->packs);
}

// One group, which is common, needs no look at who is who: empty lanes are zero.
static void sumSquares(knSweepMomentum* m) {
	double sum[KN_LANES] = { 0.0 };
	for (int g = 0; g < m->groupCount; ++g) {
		m->square[g] = 0.0;
	}
	for (int p = 0; p < m->packCount && m->groupCount == 1; ++p) {
		for (int lane = 0; lane < KN_LANES; ++lane) {
			sum[lane] += m->packs.square[p][lane];
		}
	}
	if (m->groupCount == 1) {
		m->square[0] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
		return;
	}
	for (int p = 0; p < m->packCount; ++p) {
		for (int lane = 0; lane < KN_LANES && m->packs.groupOf[p][lane] >= 0; ++lane) {
			m->square[m->packs.groupOf[p][lane]] += m->packs.square[p][lane];
		}
	}
}

static void findBetas(knSweepMomentum* m) {
	sumSquares(m);
	for (int g = 0; g < m->groupCount; ++g) {
		bool excluded = m->excluded != NULL && m->excluded[m->root[g]] != 0;
		bool goesOn = m->last[g] > 0.0 && m->square[g] <= m->last[g] && !excluded;
		m->beta[g] = goesOn ? m->square[g] / m->last[g] : 0.0;
		m->last[g] = m->square[g];
	}
}

static void goOnPackRange(int begin, int end, int worker, void* argument) {
	(void)worker;
	const Task* task = argument;
	const knSweepMomentum* m = task->momentum;
	int first = m->packs.firstPack;
	for (int p = begin; p < end; ++p) {
		for (int lane = 0; lane < KN_LANES; ++lane) {
			int32_t group = m->packs.groupOf[p][lane];
			m->packs.beta[p][lane] = group >= 0 ? m->beta[group] : 0.0;
		}
	}
	task->kernel->goOn(m->set, first + begin, first + end, &m->packs);
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
	Task task = { .momentum = m, .kernel = knSweepKernel_Best(), .u = u };
	if (!m->inSweeps) {
		knTasks_For(tasks, m->packCount, PACK_GRAIN, squareRange, &task);
	}
	findBetas(m);
	if (!m->inSweeps) {
		knTasks_For(tasks, m->packCount, PACK_GRAIN, goOnPackRange, &task);
	}
	knTasks_For(tasks, m->blockCount, BLOCK_GRAIN, goOnBlockRange, &task);
}

const knMomentumPacks* knSweepMomentum_InSweeps(knSweepMomentum* m) {
	m->inSweeps = true;
	return &m->packs;
}

double knSweepMomentum_Beta(const knSweepMomentum* m, int32_t group) {
	return m->number[group] >= 0 ? m->beta[m->number[group]] : 0.0;
}
