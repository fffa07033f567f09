// Chunks into colours, colours into packs.
//
// Chunks are taken stage by stage in their given order; each gets the lowest colour that neither of its free
// blocks has yet in this stage (a bit set a block). Within a colour, chunks are ordered by their number of
// points, so that the four lanes of a pack have as much to do; all by counting, in linear time. A block with
// more than COLOUR_LIMIT neighbours leaves some chunks over: they are visited one after the other.

#include "core/assert.h"
#include "core/tasks.h"
#include "solve/sweep.h"

#define COLOUR_LIMIT 63 // colours that are proper; one more for what is left over
#define KEYS_PER_COLOUR KN_CHUNK_POINTS
#define KEY_COUNT ((COLOUR_LIMIT + 1) * KEYS_PER_COLOUR)
#define PACK_GRAIN 32

typedef struct Builder {
	knSweepSet* set;
	const knSweepChunk* chunks;
	int chunkCount, stageCount;
	const knSweepPoint* points;
	const knSweepBlocks* blocks;
	int32_t* byStage;    // chunks in order of stages
	int32_t* stageFirst; // [stageCount + 1] into byStage
	uint64_t* used;      // colours that a block has in the stage at hand
	uint16_t* key;       // of each chunk: colour and, within it, most points first
	int32_t* sorted;     // chunks of the stage at hand in order of keys
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

static int lowestFree(uint64_t used) {
	for (int c = 0; c < COLOUR_LIMIT; ++c) {
		if ((used >> c & 1u) == 0) {
			return c;
		}
	}
	return COLOUR_LIMIT;
}

// Colours the chunks of a stage; a block is free in one stage only or in all, so its bits are reset.
static void colourStage(Builder* builder, int stage) {
	int begin = builder->stageFirst[stage], end = builder->stageFirst[stage + 1];
	for (int i = begin; i < end; ++i) {
		const knSweepChunk* chunk = &builder->chunks[builder->byStage[i]];
		builder->used[chunk->a] = builder->used[chunk->b] = 0;
	}
	for (int i = begin; i < end; ++i) {
		const knSweepChunk* chunk = &builder->chunks[builder->byStage[i]];
		bool freeA = isFree(builder, chunk->a, stage), freeB = isFree(builder, chunk->b, stage);
		uint64_t used = (freeA ? builder->used[chunk->a] : 0) | (freeB ? builder->used[chunk->b] : 0);
		int colour = lowestFree(used);
		uint64_t bit = (uint64_t)1 << colour;
		builder->used[chunk->a] |= freeA ? bit : 0;
		builder->used[chunk->b] |= freeB ? bit : 0;
		builder->key[builder->byStage[i]] =
			(uint16_t)(colour * KEYS_PER_COLOUR + (KN_CHUNK_POINTS - chunk->count));
	}
}

// Sorts a stage's chunks by key; returns where each key begins.
static void sortByKey(Builder* builder, int stage, int32_t keyFirst[KEY_COUNT + 1]) {
	int begin = builder->stageFirst[stage], end = builder->stageFirst[stage + 1];
	int32_t next[KEY_COUNT];
	for (int k = 0; k <= KEY_COUNT; ++k) {
		keyFirst[k] = 0;
	}
	for (int i = begin; i < end; ++i) {
		keyFirst[builder->key[builder->byStage[i]] + 1] += 1;
	}
	for (int k = 0; k < KEY_COUNT; ++k) {
		next[k] = keyFirst[k];
		keyFirst[k + 1] += keyFirst[k];
	}
	for (int k = 0; k < KEY_COUNT; ++k) {
		next[k] = keyFirst[k];
	}
	for (int i = begin; i < end; ++i) {
		builder->sorted[next[builder->key[builder->byStage[i]]]++] = builder->byStage[i];
	}
}

static void addPack(Builder* builder, const int32_t* lanes, int laneCount) {
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

static void packStage(Builder* builder, int stage) {
	knSweepSet* set = builder->set;
	int32_t keyFirst[KEY_COUNT + 1];
	colourStage(builder, stage);
	sortByKey(builder, stage, keyFirst);
	set->stages[stage] = (knSweepStage){ .firstColour = set->colourCount };
	for (int c = 0; c <= COLOUR_LIMIT; ++c) {
		int begin = keyFirst[c * KEYS_PER_COLOUR], end = keyFirst[(c + 1) * KEYS_PER_COLOUR];
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
		set->stages[stage].colourCount += 1;
	}
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

static void setVector(double out[3][KN_LANES], int lane, knVec3 v) {
	out[0][lane] = v.x;
	out[1][lane] = v.y;
	out[2][lane] = v.z;
}

static void setPoint(knPackPoint* out, int lane, const knSweepPoint* point) {
	setVector(out->n, lane, point->n);
	setVector(out->rA, lane, point->rA);
	setVector(out->rB, lane, point->rB);
	setVector(out->t1, lane, point->t1);
	setVector(out->t2, lane, point->t2);
	out->bias[lane] = point->bias;
	out->mu[lane] = point->mu;
	out->depth[lane] = point->depth;
	out->push[lane] = 0.0;
	for (int i = 0; i < 3; ++i) {
		out->lambda[i][lane] = point->lambda[i];
	}
}

static const knSweepPoint noPoint;

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
		const knSweepPoint* point = there ? &builder->points[chunk->first + k] : &noPoint;
		setPoint(&set->points[pack->first + k], lane, point);
		if (set->rolling != NULL) {
			knPackRolling* rolling = &set->rolling[pack->first + k];
			rolling->arm[lane] = point->arm;
			setVector(rolling->lambda, lane, point->rolling);
		}
	}
}

static void fillRange(int begin, int end, int worker, void* argument) {
	(void)worker;
	const Builder* builder = argument;
	for (int p = begin; p < end; ++p) {
		knPack* pack = &builder->set->packs[p];
		pack->freeA = pack->freeB = 0;
		for (int lane = 0; lane < KN_LANES; ++lane) {
			fillLane(builder, pack, lane);
		}
	}
	knSweepKernel_Best()->prepare(builder->set, begin, end);
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
	int colourBound = builder->stageCount * (COLOUR_LIMIT + 1);
	set->packs = KN_SCRATCH(arena, knPack, n);
	set->points = KN_SCRATCH(arena, knPackPoint, pointBound);
	set->rolling = rolling ? KN_SCRATCH(arena, knPackRolling, pointBound) : NULL;
	set->colours = KN_SCRATCH(arena, knSweepColour, colourBound < n ? colourBound : n);
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
	const knSweepPoint* from;
	knSweepPoint* to;
} Exchange;

static void storeRange(int begin, int end, int worker, void* argument) {
	(void)worker;
	const Exchange* task = argument;
	const knSweepSet* set = task->set;
	for (int p = begin; p < end; ++p) {
		const knPack* pack = &set->packs[p];
		for (int lane = 0; lane < KN_LANES && pack->chunk[lane] >= 0; ++lane) {
			const knSweepChunk* chunk = &set->chunks[pack->chunk[lane]];
			for (int k = 0; k < chunk->count; ++k) {
				const knPackPoint* in = &set->points[pack->first + k];
				knSweepPoint* out = &task->to[chunk->first + k];
				for (int i = 0; i < 3; ++i) {
					out->lambda[i] = in->lambda[i][lane];
				}
				if (set->rolling != NULL) {
					const knPackRolling* rolling = &set->rolling[pack->first + k];
					out->rolling =
						knV3(rolling->lambda[0][lane], rolling->lambda[1][lane], rolling->lambda[2][lane]);
				}
			}
		}
	}
}

void knSweepSet_Store(const knSweepSet* set, const knTasks* tasks, knSweepPoint* points) {
	Exchange task = { .set = set, .to = points };
	knTasks_For(tasks, set->packCount, PACK_GRAIN, storeRange, &task);
}

static void depthRange(int begin, int end, int worker, void* argument) {
	(void)worker;
	const Exchange* task = argument;
	const knSweepSet* set = task->set;
	for (int p = begin; p < end; ++p) {
		const knPack* pack = &set->packs[p];
		for (int lane = 0; lane < KN_LANES && pack->chunk[lane] >= 0; ++lane) {
			const knSweepChunk* chunk = &set->chunks[pack->chunk[lane]];
			for (int k = 0; k < chunk->count; ++k) {
				set->points[pack->first + k].depth[lane] = task->from[chunk->first + k].depth;
			}
		}
	}
}

void knSweepSet_LoadDepths(knSweepSet* set, const knTasks* tasks, const knSweepPoint* points) {
	Exchange task = { .set = set, .from = points };
	knTasks_For(tasks, set->packCount, PACK_GRAIN, depthRange, &task);
}

static void loadRange(int begin, int end, int worker, void* argument) {
	(void)worker;
	const Exchange* task = argument;
	const knSweepSet* set = task->set;
	for (int p = begin; p < end; ++p) {
		const knPack* pack = &set->packs[p];
		for (int lane = 0; lane < KN_LANES && pack->chunk[lane] >= 0; ++lane) {
			const knSweepChunk* chunk = &set->chunks[pack->chunk[lane]];
			for (int k = 0; k < chunk->count; ++k) {
				const knSweepPoint* in = &task->from[chunk->first + k];
				for (int i = 0; i < 3; ++i) {
					set->points[pack->first + k].lambda[i][lane] = in->lambda[i];
				}
				if (set->rolling != NULL) {
					setVector(set->rolling[pack->first + k].lambda, lane, in->rolling);
				}
			}
		}
	}
}

void knSweepSet_Load(knSweepSet* set, const knTasks* tasks, const knSweepPoint* points) {
	Exchange task = { .set = set, .from = points };
	knTasks_For(tasks, set->packCount, PACK_GRAIN, loadRange, &task);
}
