// Contacts of the candidate pairs, in parallel.
//
// Candidates become items, pairs of parts, in order. Items are tested in blocks: each writes its own slot of
// as many points as its kinds may have, then the slots are strung together in item order. So the result does not depend on the number
// of threads, and the slots take no more memory than a block.
//
// A pair whose two frames kept their bits since the last knCollide gets its contacts of then: the same input, the
// same output, so the copy changes nothing but the time.
#include "collide/collider.h"
#include "core/tasks.h"

#define BLOCK_ITEMS 4096
#define BLOCK_POINTS (BLOCK_ITEMS * KN_PAIR_MAX_POINTS) // or one item's
#define ITEMS_PER_TASK 32
#define AHEAD 8 // items

typedef struct NarrowJob {
	knCollider* collider;
	const knMovedFrame* moved;
	int first; // item of slot 0
} NarrowJob;

static knFrame worldOf(const knCollider* c, const knMovedFrame* moved, int shape) {
	const knCollideShape* s = &c->shapes[shape];
	return s->frame == moved->frame ? knMulF(moved->at, s->local) : c->worlds[shape];
}

static knPairInput makeInput(const knCollider* c, const knMovedFrame* moved, knPairKey key) {
	int a = knPairKey_A(key), b = knPairKey_B(key);
	const knCollideShape *shapeA = &c->shapes[a], *shapeB = &c->shapes[b];
	return (knPairInput){ shapeA->geom, shapeB->geom, worldOf(c, moved, a), worldOf(c, moved, b),
						  c->margins[shapeA->frame] + c->margins[shapeB->frame] };
}

static bool hasParts(const knCollider* c, knPairKey key) {
	return c->kinds[knPairKey_A(key)] == KN_GEOM_COMPOUND || c->kinds[knPairKey_B(key)] == KN_GEOM_COMPOUND;
}

// Puts the contacts of the last knCollide aside before others are written in their place.
static void keepLast(knCollider* c) {
	if (c->outEpoch == 0) {
		return;
	}
	knContactPairs pairs = c->lastPairs;
	knContactPoints points = c->lastPoints;
	c->lastPairs = c->outPairs;
	c->lastPoints = c->outPoints;
	c->outPairs = pairs;
	c->outPoints = points;
	c->lastEpoch = c->outEpoch;
	c->outEpoch = 0;
}

// The pair's contacts of the last knCollide, if it had any and nothing moved since; else -1. `cursor` follows the
// candidates, which are in the same order.
static int findLast(const knCollider* c, knPairKey key, int* cursor) {
	while (*cursor < c->lastPairs.count &&
		   knPairKey_Make(c->lastPairs.items[*cursor].shapeA, c->lastPairs.items[*cursor].shapeB) < key) {
		*cursor += 1;
	}
	if (*cursor >= c->lastPairs.count) {
		return -1;
	}
	const knContactPair* pair = &c->lastPairs.items[*cursor];
	bool same = knPairKey_Make(pair->shapeA, pair->shapeB) == key;
	bool still = c->frameEpoch[pair->frameA] <= c->lastEpoch && c->frameEpoch[pair->frameB] <= c->lastEpoch;
	return same && still ? *cursor : -1;
}

static knStatus addItem(knCollider* c, knNarrowItem item) {
	if (c->narrowItems.count >= c->pairLimit) {
		return KN_LIMIT;
	}
	return KN_ARRAY_PUSH(&c->allocator, &c->narrowItems, item) ? KN_OK : KN_NO_MEMORY;
}

// Lists the items of all candidates. Parts count as pairs, or two compounds could ask for any amount of
// memory.
static knStatus listItems(knCollider* c, const knMovedFrame* moved) {
	c->narrowItems.count = 0;
	knStatus status = KN_OK;
	int cursor = 0;
	for (int k = 0; status == KN_OK && k < c->candidates.count; ++k) {
		knPairKey key = c->candidates.items[k];
		int last = moved->frame < 0 && c->lastEpoch > 0 ? findLast(c, key, &cursor) : -1;
		if (last >= 0) {
			status = addItem(c, (knNarrowItem){ k, KN_REUSED, last, 0 });
			continue;
		}
		if (!hasParts(c, key)) {
			status = addItem(c, (knNarrowItem){ k, 0, 0, 0 });
			continue;
		}
		knPairInput in = makeInput(c, moved, key);
		knPartWalk walk = knPartWalk_Start(&in);
		while (status == KN_OK && knPartWalk_Next(&walk)) {
			status = addItem(c, (knNarrowItem){ k, walk.childA, walk.childB, 0 });
		}
	}
	return status;
}

static knGeomKind kindOfPart(const knCollider* c, int shape, int child) {
	bool parts = c->kinds[shape] == KN_GEOM_COMPOUND;
	return parts ? c->shapes[shape].geom->children[child].geom->kind : (knGeomKind)c->kinds[shape];
}

// Points that an item may have.
static int roomOf(const knCollider* c, const knNarrowItem* item) {
	if (item->childA == KN_REUSED) {
		return 0;
	}
	knPairKey key = c->candidates.items[item->candidate];
	return knPair_MaxPoints(kindOfPart(c, knPairKey_A(key), item->childA),
							kindOfPart(c, knPairKey_B(key), item->childB));
}

// Shapes of pairs lie anywhere in memory: asks for those of an item that is due soon.
static void fetchAhead(const knCollider* c, int item) {
	if (item + AHEAD < c->narrowItems.count) {
		knPairKey key = c->candidates.items[c->narrowItems.items[item + AHEAD].candidate];
		int a = knPairKey_A(key), b = knPairKey_B(key);
		__builtin_prefetch(&c->worlds[a]);
		__builtin_prefetch(&c->worlds[b]);
		__builtin_prefetch(&c->shapes[a]);
		__builtin_prefetch(&c->shapes[b]);
	}
}

static void testItems(int begin, int end, int worker, void* argument) {
	(void)worker;
	const NarrowJob* job = argument;
	knCollider* c = job->collider;
	for (int slot = begin; slot < end; ++slot) {
		const knNarrowItem* item = &c->narrowItems.items[job->first + slot];
		fetchAhead(c, job->first + slot);
		if (item->childA == KN_REUSED) {
			continue;
		}
		knPairInput in = makeInput(c, job->moved, c->candidates.items[item->candidate]);
		knContactPoint* points = &c->slots.items[item->slot];
		c->slotCounts.items[slot] = (uint8_t)knPair_Parts(&in, item->childA, item->childB, points);
	}
}

static void beginPair(knCollider* c, int candidate, int firstPoint) {
	knPairKey key = c->candidates.items[candidate];
	int a = knPairKey_A(key), b = knPairKey_B(key);
	c->outPairs.items[c->outPairs.count++] = (knContactPair){
		.shapeA = a,
		.shapeB = b,
		.frameA = c->shapes[a].frame,
		.frameB = c->shapes[b].frame,
		.first = firstPoint,
	};
}

// What an item of a block found.
static const knContactPoint* pointsOf(const knCollider* c, const knNarrowItem* item, int slot, int* count) {
	if (item->childA == KN_REUSED) {
		const knContactPair* pair = &c->lastPairs.items[item->childB];
		*count = pair->count;
		return &c->lastPoints.items[pair->first];
	}
	*count = c->slotCounts.items[slot];
	return &c->slots.items[item->slot];
}

// Makes the pairs of a block and gives its items places among the points; *candidate is the one that the last pair was
// made for.
static bool placePoints(knCollider* c, int first, int count, int* candidate) {
	if (!KN_ARRAY_RESERVE(&c->allocator, &c->outPairs, c->outPairs.count + count)) {
		return false;
	}
	int place = c->outPoints.count;
	for (int slot = 0; slot < count; ++slot) {
		const knNarrowItem* item = &c->narrowItems.items[first + slot];
		int pointCount;
		pointsOf(c, item, slot, &pointCount);
		c->slotPlaces.items[slot] = place;
		if (pointCount == 0) {
			continue;
		}
		if (item->candidate != *candidate) {
			*candidate = item->candidate;
			beginPair(c, *candidate, place);
		}
		place += pointCount;
		c->outPairs.items[c->outPairs.count - 1].count += pointCount;
	}
	if (!KN_ARRAY_RESERVE(&c->allocator, &c->outPoints, place)) {
		return false;
	}
	c->outPoints.count = place;
	return true;
}

static void copyPoints(int begin, int end, int worker, void* argument) {
	(void)worker;
	const NarrowJob* job = argument;
	knCollider* c = job->collider;
	for (int slot = begin; slot < end; ++slot) {
		int count;
		const knContactPoint* points = pointsOf(c, &c->narrowItems.items[job->first + slot], slot, &count);
		knContactPoint* out = &c->outPoints.items[c->slotPlaces.items[slot]];
		for (int i = 0; i < count; ++i) {
			out[i] = points[i];
		}
	}
}

// Gives slots to the items of the block that begins at `first`; returns its length.
static int cutBlock(knCollider* c, int first, int* points) {
	int total = c->narrowItems.count, count = 0;
	*points = 0;
	while (first + count < total && count < BLOCK_ITEMS) {
		knNarrowItem* item = &c->narrowItems.items[first + count];
		int room = roomOf(c, item);
		if (count > 0 && *points + room > BLOCK_POINTS) {
			break;
		}
		item->slot = *points;
		*points += room;
		count += 1;
	}
	return count;
}

static knStatus testBlocks(knCollider* c, const knCollideInput* input, const knMovedFrame* moved) {
	int candidate = -1;
	for (int first = 0, count; first < c->narrowItems.count; first += count) {
		int points;
		count = cutBlock(c, first, &points);
		if (!KN_ARRAY_RESERVE(&c->allocator, &c->slots, points) ||
			!KN_ARRAY_RESERVE(&c->allocator, &c->slotCounts, count) ||
			!KN_ARRAY_RESERVE(&c->allocator, &c->slotPlaces, count)) {
			return KN_NO_MEMORY;
		}
		NarrowJob job = { c, moved, first };
		knTasks_For(&input->tasks, count, ITEMS_PER_TASK, testItems, &job);
		if (!placePoints(c, first, count, &candidate)) {
			return KN_NO_MEMORY;
		}
		knTasks_For(&input->tasks, count, ITEMS_PER_TASK, copyPoints, &job);
	}
	return KN_OK;
}

knStatus knNarrow_Run(knCollider* c, const knCollideInput* input, const knMovedFrame* moved,
					  knContactSet* contacts, knError* error) {
	keepLast(c);
	c->outPairs.count = c->outPoints.count = 0;
	knStatus status = listItems(c, moved);
	if (status == KN_OK) {
		status = testBlocks(c, input, moved);
	}
	if (status == KN_LIMIT) {
		return knBroadPhase_TooMany(c, error);
	}
	if (status != KN_OK) {
		return knError_Set(error, status, "collider", "out of memory for contacts");
	}
	c->outEpoch = moved->frame < 0 ? c->epoch : 0;
	*contacts = (knContactSet){
		.pairCount = c->outPairs.count,
		.pairs = c->outPairs.items,
		.pointCount = c->outPoints.count,
		.points = c->outPoints.items,
		.candidateCount = c->candidates.count,
	};
	return KN_OK;
}
