// Chunks into colours, colours into packs.
//
// Chunks are taken stage by stage in their given order; each gets the lowest colour that neither of its free
// blocks has yet in this stage (a bit set a block). Within a colour, chunks are ordered by their number of
// points, so that the four lanes of a pack have as much to do; all by counting, in linear time. In large colours this
// is done span by span of the given order, so that a thread that takes the same part of every colour meets the same
// blocks in each. A block with more than COLOUR_LIMIT neighbours leaves some chunks over: they are visited one after the
// other.

#include "core/assert.h"
#include "core/tasks.h"
#include "solve/sweep.h"

enum {
	COLOUR_LIMIT = 63, // colours that are proper; one more for what is left over
	SPANS = 8,
	SPAN_CHUNKS = 256, // chunks of a stage that make spans worth it
	KEYS_PER_COLOUR = SPANS * KN_CHUNK_POINTS,
	KEY_COUNT = (COLOUR_LIMIT + 1) * KEYS_PER_COLOUR,
	PACK_GRAIN = 32,
	FILL_PACKS = 8,
	POINT_GRAIN = 64, // points of packs
};

typedef struct Builder {
	knSweepSet* set;
	const knSweepChunk* chunks;
	int chunkCount, stageCount;
	const knSweepPoint* points;
	const knSweepBlocks* blocks;
	int firstPack;       // to fill
	int32_t* byStage;    // chunks in order of stages
	int32_t* stageFirst; // [stageCount + 1] into byStage
	uint64_t* used;      // colours that a block has in the stage at hand
	uint16_t* key;       // of each chunk: colour and, within it, most points first
	int32_t* sorted;     // chunks of a stage in order of keys
} Builder;

static bool isFree(const Builder* builder, int block, int stage) {
	const knSweepBlocks* blocks = builder->blocks;
	return blocks->invMass[block] > 0.0 && (blocks->freeStage == NULL || blocks->freeStage[block] == stage);
}

static void sortByStage(Builder* builder) {
	int32_t* first = builder->stageFirst;
	for (int s = 0; s <= builder->stageCount; ++s) {
		first[s] = 0;
	}
	for (int i = 0; i < builder->chunkCount; ++i) {
		first[builder->chunks[i].stage + 1] += 1; // stage -1 is counted in first[0]
	}
	int sum = 0, skipped = first[0];
	first[0] = 0;
	for (int s = 1; s <= builder->stageCount; ++s) {
		sum += first[s];
		first[s] = sum;
	}
	KN_ASSERT(sum + skipped == builder->chunkCount);
	(void)skipped;
	// place from the back of each stage's range, which leaves first[s + 1] at the stage's begin
	for (int i = builder->chunkCount - 1; i >= 0; --i) {
		int stage = builder->chunks[i].stage;
		if (stage >= 0) {
			builder->byStage[--first[stage + 1]] = i;
		}
	}
	for (int s = 0; s < builder->stageCount; ++s) {
		first[s] = first[s + 1];
	}
	first[builder->stageCount] = sum;
}

// The highest bit is never used.
static int lowestFree(uint64_t used) {
	return __builtin_ctzll(~used);
}

// --- colours ---------------------------------------------------------------------------------------------

// Colours the chunks of a stage; returns the number of colours.
static int colourStage(Builder* builder, const int32_t* list, int count) {
	int colours = 0, spans = count >= SPAN_CHUNKS ? SPANS : 1;
	for (int i = 0; i < count; ++i) {
		const knSweepChunk* chunk = &builder->chunks[list[i]];
		builder->used[chunk->a] = builder->used[chunk->b] = 0;
	}
	for (int i = 0; i < count; ++i) {
		const knSweepChunk* chunk = &builder->chunks[list[i]];
		bool freeA = isFree(builder, chunk->a, chunk->stage), freeB = isFree(builder, chunk->b, chunk->stage);
		uint64_t used = (freeA ? builder->used[chunk->a] : 0) | (freeB ? builder->used[chunk->b] : 0);
		int colour = lowestFree(used), span = (int)((int64_t)i * spans / count);
		uint64_t bit = colour < COLOUR_LIMIT ? (uint64_t)1 << colour : 0;
		builder->used[chunk->a] |= freeA ? bit : 0;
		builder->used[chunk->b] |= freeB ? bit : 0;
		builder->key[list[i]] =
			(uint16_t)(colour * KEYS_PER_COLOUR + span * KN_CHUNK_POINTS + (KN_CHUNK_POINTS - chunk->count));
		colours = colour >= colours ? colour + 1 : colours;
	}
	return colours;
}

// Sorts a stage's chunks by key; colourEnd receives where each colour ends.
static void sortByKey(Builder* builder, const int32_t* list, int count, int colours,
					  int32_t colourEnd[COLOUR_LIMIT + 1]) {
	const uint16_t* key = builder->key;
	int32_t first[KEY_COUNT + 1];
	int keys = colours * KEYS_PER_COLOUR;
	for (int k = 0; k <= keys; ++k) {
		first[k] = 0;
	}
	for (int i = 0; i < count; ++i) {
		first[key[list[i]] + 1] += 1;
	}
	for (int k = 0; k < keys; ++k) {
		first[k + 1] += first[k];
	}
	for (int c = 0; c < colours; ++c) {
		colourEnd[c] = first[(c + 1) * KEYS_PER_COLOUR];
	}
	for (int i = 0; i < count; ++i) {
		builder->sorted[first[key[list[i]]]++] = list[i];
	}
}

static void addPack(const Builder* builder, const int32_t* lanes, int laneCount) {
	knSweepSet* set = builder->set;
	knPack* pack = &set->packs[set->packCount++];
	pack->first = set->pointCount;
	pack->count = 0;
	for (int i = 0; i < KN_LANES; ++i) {
		pack->chunk[i] = i < laneCount ? lanes[i] : -1;
		int count = i < laneCount ? builder->chunks[lanes[i]].count : 0;
		pack->count = count > pack->count ? count : pack->count;
	}
	set->pointCount += pack->count;
}

static void packStage(Builder* builder, int index) {
	knSweepSet* set = builder->set;
	const int32_t* list = builder->byStage + builder->stageFirst[index];
	int count = builder->stageFirst[index + 1] - builder->stageFirst[index];
	int32_t colourEnd[COLOUR_LIMIT + 1];
	int colours = colourStage(builder, list, count);
	sortByKey(builder, list, count, colours, colourEnd);
	set->stages[index].firstColour = set->colourCount;
	for (int c = 0; c < colours; ++c) {
		int begin = c > 0 ? colourEnd[c - 1] : 0, end = colourEnd[c];
		if (begin == end) {
			continue;
		}
		knSweepColour* colour = &set->colours[set->colourCount++];
		*colour = (knSweepColour){ .first = set->packCount, .serial = c == COLOUR_LIMIT };
		int width = colour->serial ? 1 : KN_LANES;
		for (int i = begin; i < end; i += width) {
			addPack(builder, &builder->sorted[i], end - i < width ? end - i : width);
		}
		colour->count = set->packCount - colour->first;
	}
	set->stages[index].colourCount = set->colourCount - set->stages[index].firstColour;
}

// --- filling ---------------------------------------------------------------------------------------------

static void setMass(const Builder* builder, int block, bool moves, int lane, double im[KN_LANES],
					double I[6][KN_LANES]) {
	const knMat33* m = &builder->blocks->invInertia[block];
	double entries[6] = { m->cx.x, m->cy.y, m->cz.z, m->cy.x, m->cz.x, m->cz.y };
	im[lane] = moves ? builder->blocks->invMass[block] : 0.0;
	for (int i = 0; i < 6; ++i) {
		I[i][lane] = moves ? entries[i] : 0.0;
	}
}

static void fillLane(const Builder* builder, knPack* pack, int lane) {
	const knSweepSet* set = builder->set;
	int index = pack->chunk[lane];
	const knSweepChunk* chunk = index >= 0 ? &builder->chunks[index] : NULL;
	pack->a[lane] = chunk != NULL ? chunk->a : 0;
	pack->b[lane] = chunk != NULL ? chunk->b : 0;
	bool freeA = chunk != NULL && isFree(builder, chunk->a, chunk->stage);
	bool freeB = chunk != NULL && isFree(builder, chunk->b, chunk->stage);
	pack->freeA |= (uint32_t)freeA << lane;
	pack->freeB |= (uint32_t)freeB << lane;
	setMass(builder, pack->a[lane], freeA, lane, pack->imA, pack->IA);
	setMass(builder, pack->b[lane], freeB, lane, pack->imB, pack->IB);
	for (int k = 0; k < pack->count; ++k) {
		bool there = chunk != NULL && k < chunk->count;
		set->source[pack->first + k][lane] = there ? chunk->first + k : -1;
	}
}

static void fillPacks(const Builder* builder, const knSweepKernel* kernel, int begin, int end) {
	for (int p = begin; p < end; ++p) {
		knPack* pack = &builder->set->packs[p];
		pack->freeA = pack->freeB = 0;
		for (int lane = 0; lane < KN_LANES; ++lane) {
			fillLane(builder, pack, lane);
		}
	}
	kernel->load(builder->set, builder->points, begin, end);
	kernel->prepare(builder->set, begin, end);
}

// A few packs at a time: what one pass has written or read, the next finds in the cache.
static void fillRange(int begin, int end, int worker, void* argument) {
	(void)worker;
	const Builder* builder = argument;
	const knSweepKernel* kernel = knSweepKernel_Best();
	begin += builder->firstPack;
	end += builder->firstPack;
	for (int p = begin; p < end; p += FILL_PACKS) {
		fillPacks(builder, kernel, p, end - p < FILL_PACKS ? end : p + FILL_PACKS);
	}
}

static bool reserve(Builder* builder, bool rolling, knArena* arena) {
	knSweepSet* set = builder->set;
	int n = builder->chunkCount, pointBound = 0;
	builder->byStage = KN_SCRATCH(arena, int32_t, n);
	builder->stageFirst = KN_SCRATCH(arena, int32_t, builder->stageCount + 2);
	builder->used = KN_SCRATCH(arena, uint64_t, builder->blocks->count);
	builder->key = KN_SCRATCH(arena, uint16_t, n);
	builder->sorted = KN_SCRATCH(arena, int32_t, n);
	for (int i = 0; i < n; ++i) {
		pointBound += builder->chunks[i].count;
	}
	set->packs = KN_SCRATCH(arena, knPack, n);
	set->points = KN_SCRATCH(arena, knPackPoint, pointBound);
	set->source = (int32_t(*)[KN_LANES])KN_SCRATCH(arena, int32_t, KN_LANES * pointBound);
	set->rolling = rolling ? KN_SCRATCH(arena, knPackRolling, pointBound) : NULL;
	set->colours = KN_SCRATCH(arena, knSweepColour, n);
	set->stages = KN_SCRATCH_ZERO(arena, knSweepStage, builder->stageCount);
	set->theta = KN_SCRATCH(arena, double, n);
	return !arena->failed;
}

static bool anyRolls(const Builder* builder) {
	for (int i = 0; i < builder->chunkCount; ++i) {
		if (builder->points[builder->chunks[i].first].arm > 0.0) {
			return true;
		}
	}
	return false;
}

bool knSweepSet_Build(knSweepSet* set, const knSweepChunk* chunks, int chunkCount, int stageCount,
					  const knSweepPoint* points, const knSweepBlocks* blocks, knSweepFriction friction,
					  const knTasks* tasks, knArena* arena) {
	*set = (knSweepSet){ .friction = friction, .chunks = chunks, .stageCount = stageCount };
	Builder builder = { .set = set,
						.chunks = chunks,
						.chunkCount = chunkCount,
						.stageCount = stageCount,
						.points = points,
						.blocks = blocks };
	if (!reserve(&builder, anyRolls(&builder), arena)) {
		return false;
	}
	sortByStage(&builder);
	for (int s = 0; s < stageCount; ++s) {
		packStage(&builder, s);
	}
	knTasks_For(tasks, set->packCount, PACK_GRAIN, fillRange, &builder);
	return true;
}

void knSweepSet_Reload(knSweepSet* set, int stage, const knSweepPoint* points, const knSweepBlocks* blocks,
					   const knTasks* tasks) {
	Builder builder = { .set = set, .chunks = set->chunks, .points = points, .blocks = blocks };
	const knSweepStage* s = &set->stages[stage];
	if (s->colourCount == 0) {
		return;
	}
	const knSweepColour *first = &set->colours[s->firstColour], *last = first + s->colourCount - 1;
	builder.firstPack = first->first;
	knTasks_For(tasks, last->first + last->count - first->first, PACK_GRAIN, fillRange, &builder);
}

static int sweptStage(const knSweepRows* result, int i, const int32_t* stageOf) {
	const knRow* row = &result->rows->items[i];
	if (result->direct != NULL && result->direct->isDirect[i]) {
		return -1;
	}
	return stageOf[row->a] >= 0 ? stageOf[row->a] : stageOf[row->b];
}

bool knSweepRows_Build(knSweepRows* result, knRows* rows, const int32_t* stageOf, int stageCount,
					   knDirectRows* direct, int directStage, knArena* arena) {
	*result = (knSweepRows){ .rows = rows,
							 .order = KN_SCRATCH(arena, int32_t, rows->count),
							 .first = KN_SCRATCH_ZERO(arena, int32_t, stageCount + 2),
							 .direct = direct,
							 .directStage = directStage };
	if (arena->failed) {
		return false;
	}
	for (int i = 0; i < rows->count; ++i) {
		int stage = sweptStage(result, i, stageOf);
		result->first[stage + 2] += stage >= 0;
	}
	for (int s = 1; s < stageCount + 2; ++s) {
		result->first[s] += result->first[s - 1];
	}
	// first[s + 1] runs from the begin to the end of stage s
	for (int i = 0; i < rows->count; ++i) {
		int stage = sweptStage(result, i, stageOf);
		if (stage >= 0) {
			result->order[result->first[stage + 1]++] = i;
		}
	}
	return true;
}

// --- exchange with the points ----------------------------------------------------------------------------

typedef struct Exchange {
	const knSweepSet* set;
	const double* depths; // of point k: [stride k]
	int stride;
	knSweepPoint* to;
} Exchange;

static void storeRange(int begin, int end, int worker, void* argument) {
	(void)worker;
	const Exchange* task = argument;
	const knSweepSet* set = task->set;
	for (int at = begin; at < end; ++at) {
		for (int lane = 0; lane < KN_LANES; ++lane) {
			if (set->source[at][lane] < 0) {
				continue;
			}
			knSweepPoint* out = &task->to[set->source[at][lane]];
			for (int i = 0; i < 3; ++i) {
				out->lambda[i] = set->points[at].lambda[i][lane];
			}
			if (set->rolling != NULL) {
				double(*rolling)[KN_LANES] = set->rolling[at].lambda;
				out->rolling = knV3(rolling[0][lane], rolling[1][lane], rolling[2][lane]);
			}
		}
	}
}

static void loadDepthRange(int begin, int end, int worker, void* argument) {
	(void)worker;
	const Exchange* task = argument;
	const knSweepSet* set = task->set;
	for (int at = begin; at < end; ++at) {
		for (int lane = 0; lane < KN_LANES; ++lane) {
			if (set->source[at][lane] >= 0) {
				set->points[at].depth[lane] = task->depths[(ptrdiff_t)task->stride * (set->source[at][lane])];
			}
		}
	}
}

void knSweepSet_Store(const knSweepSet* set, const knTasks* tasks, knSweepPoint* points) {
	Exchange task = { .set = set, .to = points };
	knTasks_For(tasks, set->pointCount, POINT_GRAIN, storeRange, &task);
}

void knSweepSet_LoadDepths(knSweepSet* set, const knTasks* tasks, const knSweepPoint* points) {
	Exchange task = { .set = set, .depths = &points->depth, .stride = sizeof(knSweepPoint) / sizeof(double) };
	knTasks_For(tasks, set->pointCount, POINT_GRAIN, loadDepthRange, &task);
}
