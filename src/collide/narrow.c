// Contacts of the candidate pairs, in parallel.
//
// Candidates become items, pairs of parts, in order. Items are tested in blocks: each writes its own slot of
// as many points as its kinds may have, then the slots are strung together in item order. So the result does not depend on the number
// of threads, and the slots take no more memory than a block.
//
// A pair whose two frames kept their bits since the last knCollide gets its contacts of then, or none if it had none:
// the same input, the same output, so the copy changes nothing but the time.
#include <string.h>

#include "collide/collider.h"
#include "core/tasks.h"

#define BLOCK_ITEMS 4096
#define BLOCK_POINTS (BLOCK_ITEMS * KN_PAIR_MAX_POINTS) // or one item's
#define ITEMS_PER_TASK 32
#define AHEAD 8         // items
#define SAME_WAY 0.1    // of what is around
#define SLIDE_SHARE 0.1 // of what is around: ways that nothing told of
#define TILT_LEAST 0.05 // rad, the same for turns
#define STRAY_LIMIT 0.1 // radii of both: what turns faster is past predicting

typedef struct NarrowJob {
	knCollider* collider;
	const knMovedFrame* moved;
	int first; // item of slot 0
} NarrowJob;

static knFrame worldOf(const knCollider* c, const knMovedFrame* moved, int shape) {
	const knCollideShape* s = &c->shapes[shape];
	return s->frame == moved->frame ? knMulF(moved->at, s->local) : c->worlds[shape];
}

// Whether a box that moves along a way meets another.
static bool boxesMeet(knAabb box, knVec3 way, knAabb other) {
	double enter = 0.0, leave = 1.0;
	for (int k = 0; k < 3; ++k) {
		double ahead = knComponent(other.lower, k) - knComponent(box.upper, k);
		double behind = knComponent(other.upper, k) - knComponent(box.lower, k), go = knComponent(way, k);
		if (go == 0.0) {
			leave = ahead > 0.0 || behind < 0.0 ? -1.0 : leave;
			continue;
		}
		enter = knMax(enter, (go > 0.0 ? ahead : behind) / go);
		leave = knMin(leave, (go > 0.0 ? behind : ahead) / go);
	}
	return enter <= leave;
}

typedef struct Moves {
	const knCollider* c;
	int shapeA, shapeB;
	double around, spin;       // of both
	double turnA, turnB, bend; // bend: of what only turns
} Moves;

static Moves startMoves(const knCollider* c, int shapeA, int shapeB) {
	const knFrameMotion *a = &c->motions[c->frameOf[shapeA]], *b = &c->motions[c->frameOf[shapeB]];
	double spinA = c->spins[shapeA], spinB = c->spins[shapeB];
	double turnA = knLength(a->turn), turnB = knLength(b->turn);
	return (Moves){
		c, shapeA, shapeB, a->around + b->around, spinA + spinB, turnA, turnB, turnA * spinA + turnB * spinB
	};
}

// How far points of B, as seen from A, stray from straight ways: an eighth of the change of their velocity.
static double strayOf(const Moves* moves, double length) {
	double bend = moves->bend + 2.0 * (moves->turnA + moves->turnB) * (length + moves->spin);
	double radii = moves->c->radii[moves->shapeA] + moves->c->radii[moves->shapeB];
	return knMin(0.125 * bend, STRAY_LIMIT * radii);
}

// Whether a way brings the shapes' boxes together, with all that they turn.
static bool wayMeets(const Moves* moves, knVec3 way, double stray) {
	const knCollider* c = moves->c;
	int a = moves->shapeA, b = moves->shapeB;
	if (c->items[a] < 0 || c->items[b] < 0) {
		return true; // a plane
	}
	double around = moves->around * (1.0 + SAME_WAY) + moves->spin + stray;
	knAabb boxA = knAabb_Grow(c->boxes[a], around - c->margins[c->frameOf[a]]);
	knAabb boxB = knAabb_Grow(c->boxes[b], -c->margins[c->frameOf[b]]);
	return boxesMeet(boxB, way, boxA);
}

// A way of B as seen from A, unless it leads nowhere or is known already.
static void addWay(knPairInput* in, const Moves* moves, knVec3 way, double* longest) {
	double length = knLength(way), stray = strayOf(moves, length);
	for (int i = 0; i < in->wayCount; ++i) {
		if (knDistance(in->ways[i], way) <= SAME_WAY * moves->around) {
			return;
		}
	}
	if (wayMeets(moves, way, stray)) {
		in->ways[in->wayCount++] = way;
		in->near = knMax(in->near, moves->around * (1.0 + SAME_WAY) + stray);
		*longest = knMax(*longest, moves->spin + length);
	}
}

// The motions of B as seen from A. Short ones only widen what is near.
static void setMotions(const knCollider* c, knPairInput* in, int shapeA, int shapeB) {
	int frameA = c->frameOf[shapeA], frameB = c->frameOf[shapeB];
	const knFrameMotion *a = &c->motions[frameA], *b = &c->motions[frameB];
	Moves moves = startMoves(c, shapeA, shapeB);
	double longest = 0.0;
	in->looksAhead = true;
	in->near = 0.0;
	for (int k = 0; k < KN_PAIR_WAYS; ++k) {
		addWay(in, &moves, knSub(b->ways[k / 2], a->ways[k % 2]), &longest);
	}
	in->apart = in->wayCount == 0;
	in->slide = SLIDE_SHARE * moves.around + longest;
	in->tilt = TILT_LEAST + moves.turnA + moves.turnB;
	in->margin = knMin(in->margin, moves.around + longest);
	if (longest > moves.around) {
		in->turns[0] = a->turn;
		in->turns[1] = b->turn;
		in->centers[0] = c->frames[frameA].p;
		in->centers[1] = c->frames[frameB].p;
	} else {
		in->near = moves.around + longest;
		in->wayCount = 0;
	}
	in->near = knMin(in->margin, in->near);
}

static void setInput(const knCollider* c, const knMovedFrame* moved, knPairKey key, knPairInput* in) {
	int a = knPairKey_A(key), b = knPairKey_B(key);
	const knCollideShape *shapeA = &c->shapes[a], *shapeB = &c->shapes[b];
	knPairInput_Set(in, shapeA->geom, worldOf(c, moved, a), shapeB->geom, worldOf(c, moved, b),
					c->margins[shapeA->frame] + c->margins[shapeB->frame]);
	if (c->looksAhead && (c->meshes[a] || c->meshes[b])) {
		setMotions(c, in, a, b);
	}
}

static bool hasParts(const knCollider* c, knPairKey key) {
	return c->kinds[knPairKey_A(key)] == KN_GEOM_COMPOUND || c->kinds[knPairKey_B(key)] == KN_GEOM_COMPOUND;
}

// What is asked about a pair, but for the places of its frames, in a few digits.
static uint64_t mix(uint64_t digits, double x) {
	uint64_t bits;
	memcpy(&bits, &x, sizeof(bits));
	digits = (digits ^ bits) * UINT64_C(0x9e3779b97f4a7c15);
	return digits ^ digits >> 29;
}

static uint64_t mix3(uint64_t digits, knVec3 v) {
	return mix(mix(mix(digits, v.x), v.y), v.z);
}

static uint64_t questionOf(const knCollider* c, const knMovedFrame* moved, knPairKey key) {
	int a = knPairKey_A(key), b = knPairKey_B(key);
	if (!c->looksAhead || !(c->meshes[a] || c->meshes[b])) {
		return mix(0, c->margins[c->frameOf[a]] + c->margins[c->frameOf[b]]);
	}
	knPairInput in;
	setInput(c, moved, key, &in);
	uint64_t digits = mix(mix(1 + (uint64_t)in.apart, in.margin), in.near);
	for (int i = 0; i < in.wayCount; ++i) {
		digits = mix3(digits, in.ways[i]);
	}
	return in.wayCount == 0 ? digits : mix3(mix3(digits, in.turns[0]), in.turns[1]);
}

// Puts the contacts of the last knCollide aside before others are written in their place.
static void keepLast(knCollider* c) {
	if (c->outEpoch == 0) {
		return;
	}
	knContactPairs pairs = c->lastPairs;
	knContactPoints points = c->lastPoints;
	knTestedPairs tested = c->lastTested;
	c->lastPairs = c->outPairs;
	c->lastPoints = c->outPoints;
	c->lastTested = c->outTested;
	c->outPairs = pairs;
	c->outPoints = points;
	c->outTested = tested;
	c->lastEpoch = c->outEpoch;
	c->outEpoch = 0;
}

// Where to look in what the last knCollide found: it has the same order as the candidates.
typedef struct LastCursor {
	int pair, tested;
} LastCursor;

enum { NO_CONTACTS = -1, NOT_KNOWN = -2 };

// The pair's contacts of the last knCollide, if it was asked the same and nothing moved since.
static int findLast(const knCollider* c, knTestedPair pair, LastCursor* cursor) {
	const knTestedPairs* tested = &c->lastTested;
	knPairKey key = pair.key;
	while (cursor->tested < tested->count && tested->items[cursor->tested].key < key) {
		cursor->tested += 1;
	}
	bool known = cursor->tested < tested->count && tested->items[cursor->tested].key == key &&
				 tested->items[cursor->tested].question == pair.question;
	int frameA = c->frameOf[knPairKey_A(key)], frameB = c->frameOf[knPairKey_B(key)];
	if (!known || c->frameEpoch[frameA] > c->lastEpoch || c->frameEpoch[frameB] > c->lastEpoch) {
		return NOT_KNOWN;
	}
	const knContactPairs* pairs = &c->lastPairs;
	while (cursor->pair < pairs->count &&
		   knPairKey_Make(pairs->items[cursor->pair].shapeA, pairs->items[cursor->pair].shapeB) < key) {
		cursor->pair += 1;
	}
	const knContactPair* last = &pairs->items[cursor->pair];
	bool found = cursor->pair < pairs->count && knPairKey_Make(last->shapeA, last->shapeB) == key;
	return found ? cursor->pair : NO_CONTACTS;
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
	c->narrowItems.count = c->outTested.count = 0;
	if (!KN_ARRAY_RESERVE(&c->allocator, &c->outTested, c->candidates.count)) {
		return KN_NO_MEMORY;
	}
	knStatus status = KN_OK;
	LastCursor cursor = { 0, 0 };
	for (int k = 0; status == KN_OK && k < c->candidates.count; ++k) {
		knPairKey key = c->candidates.items[k];
		int last = NOT_KNOWN;
		if (moved->frame < 0) {
			knTestedPair pair = { key, questionOf(c, moved, key) };
			c->outTested.items[c->outTested.count++] = pair;
			last = c->lastEpoch > 0 ? findLast(c, pair, &cursor) : NOT_KNOWN;
		}
		if (last != NOT_KNOWN) {
			status = last == NO_CONTACTS ? KN_OK : addItem(c, (knNarrowItem){ k, KN_REUSED, last, 0 });
			continue;
		}
		if (!hasParts(c, key)) {
			status = addItem(c, (knNarrowItem){ k, 0, 0, 0 });
			continue;
		}
		knPairInput in;
		setInput(c, moved, key, &in);
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
		knPairInput in;
		setInput(c, job->moved, c->candidates.items[item->candidate], &in);
		knContactPoint* points = &c->slots.items[item->slot];
		int count = in.apart ? 0 : knPair_Parts(&in, item->childA, item->childB, points);
		c->slotCounts.items[slot] = (uint8_t)count;
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
		// without a point there may be no array either
		for (int i = 0; i < count; ++i) {
			c->outPoints.items[c->slotPlaces.items[slot] + i] = points[i];
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
