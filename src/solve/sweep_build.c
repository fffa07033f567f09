// Chunks into colours, colours into packs.
//
// Chunks are taken stage by stage in their given order; each gets the lowest colour that neither of its free
// blocks has yet in this stage (a bit set a block). Within a colour, chunks are ordered by their number of
// points, so that the four lanes of a pack have as much to do; all by counting, in linear time. In large colours this
// is done span by span of the given order, so that a thread that takes the same part of every colour meets the same
// blocks in each. A block with more than COLOUR_LIMIT neighbours leaves some chunks over: they are visited one after the
// other. Blocks that are alone need no colour; their lanes hold all their chunks, in the given order, with the free
// block as b.
//
// Where each block is free in one stage only, stages are packed in parallel, each in a part of the lists that has room
// for it, and then moved together.

#include "core/assert.h"
#include "core/sets.h"
#include "core/tasks.h"
#include "solve/sweep.h"

#define COLOUR_LIMIT 63 // colours that are proper; one more for what is left over
#define SPANS 8
#define SPAN_CHUNKS 256 // chunks of a batch that make it worth it
#define KEYS_PER_COLOUR (SPANS * KN_CHUNK_POINTS)
#define KEY_COUNT ((COLOUR_LIMIT + 1) * KEYS_PER_COLOUR)
#define PACK_GRAIN 32
#define FILL_PACKS 8
#define POINT_GRAIN 64  // points of packs
#define BATCH_CHUNKS 48 // a batch gets no more clusters when it has so many
#define ALONE_KEY UINT16_MAX
#define ALONE_COUNTS 64 // points of a lane, for sorting: more are all alike

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
	int32_t* sorted;     // chunks of each stage in order of keys
	uint8_t* social;     // [blocks] 1: is not alone; NULL: nobody is
	int32_t* head;       // [blocks] first and last chunk of a block that is alone, and its number of points
	int32_t* tail;
	int32_t* pointCount;
	int32_t* alone;     // blocks of each stage that are alone
	uint8_t* alonePack; // [packs]

	// of blocks that are not alone
	int32_t* parent;   // [blocks] clusters by union-find
	int32_t* size;     // [blocks], of a cluster's root: its chunks
	int32_t* batchOf;  // [blocks], of a cluster's root: its batch in the stage; -1: none yet
	int32_t* byBatch;  // chunks of each stage in order of batches
	int32_t* batchEnd; // [chunks + stages] into byBatch
	struct Stage* stages;
} Builder;

// A stage while it is packed: its parts of the lists.
typedef struct Stage {
	Builder* builder;
	int index;
	int base; // of its chunks in byStage, and of what follows in the lists of their length
	knPack* packs;
	knSweepColour* colours;
	knSweepBatch* batches;
	int packCount, pointCount, colourCount, batchCount;
	uint8_t* alonePack;
	int32_t *alone, *sorted, *byBatch, *batchEnd;
} Stage;

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

// --- blocks that are alone -------------------------------------------------------------------------------

// The free block of a chunk that has just one, and that is alone; -1: none.
static int aloneBlock(const Builder* builder, const knSweepChunk* chunk) {
	bool freeA = isFree(builder, chunk->a, chunk->stage), freeB = isFree(builder, chunk->b, chunk->stage);
	int block = freeA ? chunk->a : chunk->b;
	return builder->social != NULL && freeA != freeB && !builder->social[block] ? block : -1;
}

static void findSocial(Builder* builder) {
	for (int b = 0; b < builder->blocks->count; ++b) {
		builder->social[b] = builder->blocks->tied[b];
		builder->head[b] = builder->batchOf[b] = -1;
		builder->pointCount[b] = builder->size[b] = 0;
		builder->parent[b] = b;
	}
	for (int i = 0; i < builder->chunkCount; ++i) {
		const knSweepChunk* chunk = &builder->chunks[i];
		if (chunk->stage >= 0 && isFree(builder, chunk->a, chunk->stage) &&
			isFree(builder, chunk->b, chunk->stage)) {
			builder->social[chunk->a] = builder->social[chunk->b] = 1;
			knSets_Unite(builder->parent, chunk->a, chunk->b);
		}
	}
}

// Links the chunks of each block of the stage that is alone; returns how many blocks there are.
static int linkAlone(Stage* stage) {
	Builder* builder = stage->builder;
	int count = 0;
	for (int i = stage->base; i < builder->stageFirst[stage->index + 1]; ++i) {
		int c = builder->byStage[i], block = aloneBlock(builder, &builder->chunks[c]);
		if (block < 0) {
			continue;
		}
		if (builder->head[block] < 0) {
			builder->head[block] = c;
			stage->alone[count++] = block;
		} else {
			builder->set->next[builder->tail[block]] = c;
		}
		builder->tail[block] = c;
		builder->pointCount[block] += builder->chunks[c].count;
		builder->key[c] = ALONE_KEY;
	}
	return count;
}

// --- batches ---------------------------------------------------------------------------------------------

// The cluster of a chunk whose free blocks are not alone.
static int clusterOf(Builder* builder, int c) {
	const knSweepChunk* chunk = &builder->chunks[c];
	return knSets_Find(builder->parent, isFree(builder, chunk->a, chunk->stage) ? chunk->a : chunk->b);
}

// Lists the stage's chunks that are left in order of batches; returns the number of batches. Where blocks are not told
// apart, the stage is one batch.
static int sortByBatch(Stage* stage) {
	Builder* builder = stage->builder;
	int begin = stage->base, end = builder->stageFirst[stage->index + 1], left = 0;
	int32_t* batchEnd = stage->batchEnd;
	if (builder->social == NULL) {
		for (int i = begin; i < end; ++i) {
			stage->byBatch[left++] = builder->byStage[i];
		}
		batchEnd[0] = left;
		return left > 0;
	}
	for (int i = begin; i < end; ++i) {
		int c = builder->byStage[i];
		if (builder->key[c] != ALONE_KEY) {
			builder->size[clusterOf(builder, c)] += 1;
		}
	}
	// clusters in order of their first chunk, until a batch is full
	int batch = 0, filled = 0;
	for (int i = begin; i < end; ++i) {
		int c = builder->byStage[i], cluster = builder->key[c] != ALONE_KEY ? clusterOf(builder, c) : -1;
		if (cluster >= 0 && builder->batchOf[cluster] < 0) {
			batch += filled >= BATCH_CHUNKS;
			filled = filled >= BATCH_CHUNKS ? 0 : filled;
			batchEnd[batch] = filled == 0 ? left : batchEnd[batch];
			filled += builder->size[cluster];
			left += builder->size[cluster];
			builder->batchOf[cluster] = batch;
		}
	}
	// batchEnd runs from the begin to the end of each batch
	for (int i = begin; i < end; ++i) {
		int c = builder->byStage[i];
		if (builder->key[c] != ALONE_KEY) {
			stage->byBatch[batchEnd[builder->batchOf[clusterOf(builder, c)]]++] = c;
		}
	}
	return left > 0 ? batch + 1 : 0;
}

// --- colours ---------------------------------------------------------------------------------------------

// Colours the chunks of a batch; no other batch has its free blocks in this stage, so their bits are reset. Returns the
// number of colours.
static int colourBatch(Builder* builder, const int32_t* list, int count) {
	int colours = 0, spans = count >= SPAN_CHUNKS ? SPANS : 1;
	for (int i = 0; i < count; ++i) {
		const knSweepChunk* chunk = &builder->chunks[list[i]];
		if (isFree(builder, chunk->a, chunk->stage)) {
			builder->used[chunk->a] = 0;
		}
		if (isFree(builder, chunk->b, chunk->stage)) {
			builder->used[chunk->b] = 0;
		}
	}
	for (int i = 0; i < count; ++i) {
		const knSweepChunk* chunk = &builder->chunks[list[i]];
		bool freeA = isFree(builder, chunk->a, chunk->stage), freeB = isFree(builder, chunk->b, chunk->stage);
		uint64_t used = (freeA ? builder->used[chunk->a] : 0) | (freeB ? builder->used[chunk->b] : 0);
		int colour = lowestFree(used), span = (int)((int64_t)i * spans / count);
		uint64_t bit = colour < COLOUR_LIMIT ? (uint64_t)1 << colour : 0;
		if (freeA) {
			builder->used[chunk->a] |= bit;
		}
		if (freeB) {
			builder->used[chunk->b] |= bit;
		}
		builder->key[list[i]] =
			(uint16_t)(colour * KEYS_PER_COLOUR + span * KN_CHUNK_POINTS + (KN_CHUNK_POINTS - chunk->count));
		colours = colour >= colours ? colour + 1 : colours;
	}
	return colours;
}

// Sorts a batch's chunks by key; keyEnd receives where each colour ends.
static void sortByKey(Stage* stage, const int32_t* list, int count, int colours,
					  int32_t colourEnd[COLOUR_LIMIT + 1]) {
	const uint16_t* key = stage->builder->key;
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
		stage->sorted[first[key[list[i]]]++] = list[i];
	}
}

// Lanes are chunks, or blocks that are alone.
static void addPack(Stage* stage, const int32_t* lanes, int laneCount, bool alone) {
	const Builder* builder = stage->builder;
	knPack* pack = &stage->packs[stage->packCount];
	stage->alonePack[stage->packCount++] = alone;
	pack->first = stage->pointCount;
	pack->count = 0;
	for (int i = 0; i < KN_LANES; ++i) {
		pack->chunk[i] = -1;
		if (i < laneCount) {
			pack->chunk[i] = alone ? builder->head[lanes[i]] : lanes[i];
			int count = alone ? builder->pointCount[lanes[i]] : builder->chunks[lanes[i]].count;
			pack->count = count > pack->count ? count : pack->count;
		}
	}
	stage->pointCount += pack->count;
}

// Sorts by the number of points, most first, and packs.
static void packAlone(Stage* stage, int count) {
	const Builder* builder = stage->builder;
	int32_t first[ALONE_COUNTS + 1] = { 0 };
	for (int i = 0; i < count; ++i) {
		int points = builder->pointCount[stage->alone[i]];
		first[ALONE_COUNTS - (points < ALONE_COUNTS ? points : ALONE_COUNTS - 1)] += 1;
	}
	for (int k = 1; k <= ALONE_COUNTS; ++k) {
		first[k] += first[k - 1];
	}
	// from the back, so that first[k] ends at the begin of its range and the order is kept
	for (int i = count - 1; i >= 0; --i) {
		int points = builder->pointCount[stage->alone[i]];
		int key = ALONE_COUNTS - (points < ALONE_COUNTS ? points : ALONE_COUNTS - 1);
		stage->sorted[--first[key]] = stage->alone[i];
	}
	knSweepColour* colour = &stage->colours[stage->colourCount++];
	*colour = (knSweepColour){ .first = stage->packCount, .alone = true };
	for (int i = 0; i < count; i += KN_LANES) {
		addPack(stage, &stage->sorted[i], count - i < KN_LANES ? count - i : KN_LANES, true);
	}
	colour->count = stage->packCount - colour->first;
}

static void packBatch(Stage* stage, const int32_t* list, int count) {
	knSweepBatch* batch = &stage->batches[stage->batchCount++];
	int32_t colourEnd[COLOUR_LIMIT + 1];
	int colours = colourBatch(stage->builder, list, count);
	sortByKey(stage, list, count, colours, colourEnd);
	batch->firstColour = stage->colourCount;
	for (int c = 0; c < colours; ++c) {
		int begin = c > 0 ? colourEnd[c - 1] : 0, end = colourEnd[c];
		if (begin == end) {
			continue;
		}
		knSweepColour* colour = &stage->colours[stage->colourCount++];
		*colour = (knSweepColour){ .first = stage->packCount, .serial = c == COLOUR_LIMIT };
		int width = colour->serial ? 1 : KN_LANES;
		for (int i = begin; i < end; i += width) {
			addPack(stage, &stage->sorted[i], end - i < width ? end - i : width, false);
		}
		colour->count = stage->packCount - colour->first;
	}
	batch->colourCount = stage->colourCount - batch->firstColour;
}

static void packStages(int begin, int end, int worker, void* argument) {
	(void)worker;
	Builder* builder = argument;
	for (int s = begin; s < end; ++s) {
		int base = builder->stageFirst[s];
		Stage* stage = &builder->stages[s];
		*stage = (Stage){ .builder = builder,
						  .index = s,
						  .base = base,
						  .packs = builder->set->packs + base,
						  .colours = builder->set->colours + base,
						  .batches = builder->set->batches + base,
						  .alonePack = builder->alonePack + base,
						  .alone = builder->alone != NULL ? builder->alone + base : NULL,
						  .sorted = builder->sorted + base,
						  .byBatch = builder->byBatch + base,
						  .batchEnd = builder->batchEnd + base + s };
		int alone = builder->social != NULL ? linkAlone(stage) : 0;
		if (alone > 0) {
			packAlone(stage, alone);
		}
		int batches = sortByBatch(stage);
		for (int i = 0; i < batches; ++i) {
			int first = i > 0 ? stage->batchEnd[i - 1] : 0;
			packBatch(stage, &stage->byBatch[first], stage->batchEnd[i] - first);
		}
	}
}

// Moves what a stage has made behind that of the stages before it.
static void joinStage(Builder* builder, const Stage* stage) {
	knSweepSet* set = builder->set;
	for (int i = 0; i < stage->packCount; ++i) {
		knPack *to = &set->packs[set->packCount + i], *from = &stage->packs[i];
		builder->alonePack[set->packCount + i] = stage->alonePack[i];
		for (int lane = 0; lane < KN_LANES; ++lane) {
			to->chunk[lane] = from->chunk[lane];
		}
		to->first = set->pointCount + from->first;
		to->count = from->count;
	}
	for (int i = 0; i < stage->colourCount; ++i) {
		knSweepColour colour = stage->colours[i];
		colour.first += set->packCount;
		set->colours[set->colourCount + i] = colour;
	}
	for (int i = 0; i < stage->batchCount; ++i) {
		knSweepBatch batch = stage->batches[i];
		batch.firstColour += set->colourCount;
		set->batches[set->batchCount + i] = batch;
	}
	set->stages[stage->index] = (knSweepStage){ .firstColour = set->colourCount,
												.colourCount = stage->colourCount,
												.firstBatch = set->batchCount,
												.batchCount = stage->batchCount };
	set->packCount += stage->packCount;
	set->pointCount += stage->pointCount;
	set->colourCount += stage->colourCount;
	set->batchCount += stage->batchCount;
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

static void fillAlone(const Builder* builder, knPack* pack, int lane) {
	const knSweepSet* set = builder->set;
	int index = pack->chunk[lane], at = pack->first;
	int block = index >= 0 ? aloneBlock(builder, &builder->chunks[index]) : 0;
	pack->a[lane] = 0;
	pack->b[lane] = block;
	pack->freeB |= (uint32_t)(index >= 0) << lane;
	setMass(builder, 0, false, lane, pack->imA, pack->IA);
	setMass(builder, block, index >= 0, lane, pack->imB, pack->IB);
	for (; index >= 0; index = set->next[index]) {
		const knSweepChunk* chunk = &builder->chunks[index];
		bool turned = chunk->a == block;
		for (int k = chunk->first; k < chunk->first + chunk->count; ++k, ++at) {
			set->source[at][lane] = 2 * k + turned;
			set->frozen[at].block[lane] = turned ? chunk->b : chunk->a;
		}
	}
	for (; at < pack->first + pack->count; ++at) {
		set->source[at][lane] = -1;
		set->frozen[at].block[lane] = 0;
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
		set->source[pack->first + k][lane] = there ? 2 * (chunk->first + k) : -1;
	}
}

static void fillPacks(const Builder* builder, const knSweepKernel* kernel, int begin, int end) {
	for (int p = begin; p < end; ++p) {
		knPack* pack = &builder->set->packs[p];
		pack->freeA = pack->freeB = 0;
		for (int lane = 0; lane < KN_LANES; ++lane) {
			if (builder->alonePack != NULL && builder->alonePack[p]) {
				fillAlone(builder, pack, lane);
			} else {
				fillLane(builder, pack, lane);
			}
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
	builder->alonePack = KN_SCRATCH(arena, uint8_t, n);
	builder->byBatch = KN_SCRATCH(arena, int32_t, n);
	builder->batchEnd = KN_SCRATCH(arena, int32_t, n + builder->stageCount);
	builder->stages = KN_SCRATCH(arena, Stage, builder->stageCount);
	set->next = KN_SCRATCH(arena, int32_t, n);
	for (int i = 0; i < n; ++i) {
		pointBound += builder->chunks[i].count;
	}
	set->packs = KN_SCRATCH(arena, knPack, n);
	set->points = KN_SCRATCH(arena, knPackPoint, pointBound);
	set->source = (int32_t(*)[KN_LANES])KN_SCRATCH(arena, int32_t, KN_LANES * pointBound);
	set->rolling = rolling ? KN_SCRATCH(arena, knPackRolling, pointBound) : NULL;
	set->colours = KN_SCRATCH(arena, knSweepColour, n);
	set->batches = KN_SCRATCH(arena, knSweepBatch, n);
	set->stages = KN_SCRATCH_ZERO(arena, knSweepStage, builder->stageCount);
	set->theta = KN_SCRATCH(arena, double, n);
	if (builder->blocks->tied != NULL && set->friction == KN_SWEEP_CONE) {
		builder->social = KN_SCRATCH(arena, uint8_t, builder->blocks->count);
		builder->head = KN_SCRATCH(arena, int32_t, builder->blocks->count);
		builder->tail = KN_SCRATCH(arena, int32_t, builder->blocks->count);
		builder->pointCount = KN_SCRATCH(arena, int32_t, builder->blocks->count);
		builder->alone = KN_SCRATCH(arena, int32_t, n);
		builder->parent = KN_SCRATCH(arena, int32_t, builder->blocks->count);
		builder->size = KN_SCRATCH(arena, int32_t, builder->blocks->count);
		builder->batchOf = KN_SCRATCH(arena, int32_t, builder->blocks->count);
		set->frozen = KN_SCRATCH(arena, knPackFrozen, pointBound);
	}
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
	for (int i = 0; i < chunkCount; ++i) {
		set->next[i] = -1;
		builder.key[i] = 0;
	}
	if (builder.social != NULL) {
		findSocial(&builder);
	}
	sortByStage(&builder);
	knTasks_For(blocks->freeStage != NULL ? tasks : NULL, stageCount, 1, packStages, &builder);
	for (int s = 0; s < stageCount; ++s) {
		joinStage(&builder, &builder.stages[s]);
	}
	knTasks_For(tasks, set->packCount, PACK_GRAIN, fillRange, &builder);
	return true;
}

void knSweepSet_Reload(knSweepSet* set, int stage, const knSweepPoint* points, const knSweepBlocks* blocks,
					   const knTasks* tasks) {
	KN_ASSERT(set->frozen == NULL);
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
			knSweepPoint* out = &task->to[set->source[at][lane] >> 1];
			for (int i = 0; i < 3; ++i) {
				out->lambda[i] = set->points[at].lambda[i][lane];
			}
			if (set->rolling != NULL) {
				double(*rolling)[KN_LANES] = set->rolling[at].lambda;
				double sign = (set->source[at][lane] & 1) != 0 ? -1.0 : 1.0;
				out->rolling =
					knV3(sign * rolling[0][lane], sign * rolling[1][lane], sign * rolling[2][lane]);
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
				set->points[at].depth[lane] =
					task->depths[(ptrdiff_t)task->stride * (set->source[at][lane] >> 1)];
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
