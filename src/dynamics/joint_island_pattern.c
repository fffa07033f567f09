// Elimination orders of islands, kept while the structure stays. Equal islands have patterns of their own, since each
// holds the numbers of its factorisation; which of them an island gets changes nothing.

#include "core/array.h"
#include "core/hash.h"
#include "dynamics/joint_island_internal.h"

#define HUB_JOINTS 8 // more joints than that, and a body is a block: eliminated it would couple all of them
#define UNUSED_STEPS 64 // after which a pattern is forgotten, while there are more than are in use

struct knJointIslands {
	knAllocator allocator;
	KN_ARRAY(knIslandPattern*) patterns;
	int step, used, next;
};

knJointIslands* knJointIslands_Create(const knAllocator* allocator) {
	knJointIslands* islands = knAllocZero(allocator, sizeof(knJointIslands));
	if (islands != NULL) {
		islands->allocator = *allocator;
	}
	return islands;
}

static void destroyPattern(knIslandPattern* p, const knAllocator* allocator) {
	if (p == NULL) {
		return;
	}
	knSparse_Destroy(p->sparse);
	knFree(allocator, p->key, sizeof(int) * (size_t)p->keyCount);
	knFree(allocator, p->first, sizeof(int) * ((size_t)p->bodyCount + 1));
	knFree(allocator, p->ends, sizeof(int) * (2 * (size_t)p->jointCount + 1));
	knFree(allocator, p->hub, sizeof(int) * ((size_t)p->bodyCount + 1));
	knFree(allocator, p->pairs, sizeof(double*) * ((size_t)p->pairCount + 1));
	knFree(allocator, p->hubs, sizeof(double*) * ((size_t)p->hubCount + 1));
	knFree(allocator, p, sizeof(*p));
}

void knJointIslands_Destroy(knJointIslands* islands) {
	if (islands == NULL) {
		return;
	}
	knAllocator allocator = islands->allocator;
	for (int i = 0; i < islands->patterns.count; ++i) {
		destroyPattern(islands->patterns.items[i], &allocator);
	}
	KN_ARRAY_FREE(&allocator, &islands->patterns);
	knFree(&allocator, islands, sizeof(*islands));
}

void knJointIslands_BeginStep(knJointIslands* islands) {
	int kept = 0;
	for (int i = 0; i < islands->patterns.count; ++i) {
		knIslandPattern* p = islands->patterns.items[i];
		if (p->lastUsed + UNUSED_STEPS < islands->step) {
			destroyPattern(p, &islands->allocator);
		} else {
			islands->patterns.items[kept++] = p;
		}
	}
	islands->patterns.count = kept;
	islands->step += 1;
	islands->next = 0;
}

// --- a new pattern -------------------------------------------------------------------------------------------

static bool isMoving(const knEquationBody* body) {
	return body->mass > 0.0;
}

static void listEnds(knIslandPattern* p, const knEquationBody* bodies, const knEquationJoint* joints) {
	for (int j = 0; j < p->jointCount; ++j) {
		p->first[joints[j].parent + 1] += isMoving(&bodies[joints[j].parent]);
		p->first[joints[j].child + 1] += isMoving(&bodies[joints[j].child]);
	}
	for (int b = 0; b < p->bodyCount; ++b) {
		p->first[b + 1] += p->first[b];
	}
	for (int j = 0; j < p->jointCount; ++j) {
		for (int side = 0; side < 2; ++side) {
			int b = side == 0 ? joints[j].parent : joints[j].child;
			if (isMoving(&bodies[b])) {
				p->ends[p->first[b]++] = 2 * j + side;
			}
		}
	}
	for (int b = p->bodyCount; b > 0; --b) {
		p->first[b] = p->first[b - 1];
	}
	p->first[0] = 0;
}

// Blocks of the matrix: joints, then hubs. Returns the number of hubs.
static int findHubs(knIslandPattern* p) {
	int count = 0;
	for (int b = 0; b < p->bodyCount; ++b) {
		int joints = p->first[b + 1] - p->first[b];
		p->hub[b] = joints > HUB_JOINTS ? p->jointCount + count++ : -1;
		p->pairCount += joints > HUB_JOINTS ? 0 : joints * joints;
		p->hubCount += joints > HUB_JOINTS ? 1 + 2 * joints : 0;
	}
	return count;
}

static int listEntries(const knIslandPattern* p, knSparseEntry* entries) {
	int count = 0;
	for (int b = 0; b < p->bodyCount; ++b) {
		for (int x = p->first[b]; x < p->first[b + 1]; ++x) {
			if (p->hub[b] >= 0) {
				entries[count++] = (knSparseEntry){ p->ends[x] / 2, p->hub[b] };
			}
			for (int y = p->first[b]; p->hub[b] < 0 && y < x; ++y) {
				entries[count++] = (knSparseEntry){ p->ends[x] / 2, p->ends[y] / 2 };
			}
		}
	}
	return count;
}

// A joint between hubs, or of a hub alone, has nothing on its diagonal before the hub is eliminated.
static unsigned char isLate(const knIslandPattern* p, const knEquationBody* bodies,
							const knEquationJoint* joint) {
	const bool parent = isMoving(&bodies[joint->parent]) && p->hub[joint->parent] < 0;
	const bool child = isMoving(&bodies[joint->child]) && p->hub[joint->child] < 0;
	return parent || child ? 0 : KN_SPARSE_LATE;
}

static void findBlocks(knIslandPattern* p) {
	bool transposed;
	int pair = 0, hub = 0;
	for (int b = 0; b < p->bodyCount; ++b) {
		if (p->hub[b] >= 0) {
			p->hubs[hub++] = knSparse_Block(p->sparse, p->hub[b], p->hub[b], &transposed);
		}
		for (int x = p->first[b]; x < p->first[b + 1]; ++x) {
			int i = p->ends[x] / 2;
			if (p->hub[b] >= 0) {
				p->hubs[hub++] = knSparse_Block(p->sparse, i, p->hub[b], &transposed);
				p->hubs[hub++] = knSparse_Block(p->sparse, p->hub[b], i, &transposed);
				continue;
			}
			for (int y = p->first[b]; y < p->first[b + 1]; ++y) {
				p->pairs[pair++] = knSparse_Block(p->sparse, i, p->ends[y] / 2, &transposed);
			}
		}
	}
	KN_ASSERT(pair == p->pairCount && hub == p->hubCount);
}

static bool makeSparse(knIslandPattern* p, const knEquationBody* bodies, const knEquationJoint* joints,
					   int hubs, const knAllocator* allocator) {
	const size_t blocks = (size_t)(p->jointCount + hubs), room = (size_t)(p->pairCount + p->hubCount) + 1;
	int* sizes = knAllocArray(allocator, blocks + 1, sizeof(int));
	unsigned char* late = knAllocZero(allocator, blocks + 1);
	knSparseEntry* entries = knAllocArray(allocator, room, sizeof(knSparseEntry));
	if (sizes != NULL && late != NULL && entries != NULL) {
		bool anyLate = false;
		for (int j = 0; j < p->jointCount; ++j) {
			sizes[j] = joints[j].count;
			late[j] = isLate(p, bodies, &joints[j]);
			anyLate = anyLate || late[j] != 0;
		}
		for (int k = 0; k < hubs; ++k) {
			sizes[p->jointCount + k] = 6;
		}
		p->sparse = knSparse_Create(&(knSparseDef){ .blockCount = (int)blocks,
													.sizes = sizes,
													.late = anyLate ? late : NULL,
													.entryCount = listEntries(p, entries),
													.entries = entries,
													.inPlace = true,
													.allocator = allocator });
	}
	knFree(allocator, sizes, sizeof(int) * (blocks + 1));
	knFree(allocator, late, blocks + 1);
	knFree(allocator, entries, sizeof(knSparseEntry) * room);
	return p->sparse != NULL;
}

static knIslandPattern* createPattern(const knEquationBody* bodies, int bodyCount,
									  const knEquationJoint* joints, int jointCount,
									  const knAllocator* allocator) {
	knIslandPattern* p = knAllocZero(allocator, sizeof(*p));
	if (p == NULL) {
		return NULL;
	}
	p->bodyCount = bodyCount;
	p->jointCount = jointCount;
	p->first = knAllocZero(allocator, sizeof(int) * ((size_t)bodyCount + 1));
	p->ends = knAllocArray(allocator, 2 * (size_t)jointCount + 1, sizeof(int));
	p->hub = knAllocArray(allocator, (size_t)bodyCount + 1, sizeof(int));
	if (p->first == NULL || p->ends == NULL || p->hub == NULL) {
		destroyPattern(p, allocator);
		return NULL;
	}
	listEnds(p, bodies, joints);
	const int hubs = findHubs(p);
	bool grounded = false;
	int moving = 0, constraining = 0;
	for (int b = 0; b < bodyCount; ++b) {
		moving += isMoving(&bodies[b]);
		grounded = grounded || !isMoving(&bodies[b]);
	}
	for (int j = 0; j < jointCount; ++j) {
		constraining += joints[j].count > 0;
	}
	p->loop = constraining > moving - (grounded ? 0 : 1);
	p->pairs = knAllocArray(allocator, (size_t)p->pairCount + 1, sizeof(double*));
	p->hubs = knAllocArray(allocator, (size_t)p->hubCount + 1, sizeof(double*));
	if (p->pairs == NULL || p->hubs == NULL || !makeSparse(p, bodies, joints, hubs, allocator)) {
		destroyPattern(p, allocator);
		return NULL;
	}
	findBlocks(p);
	return p;
}

// --- the cache -------------------------------------------------------------------------------------------------

static int keyAt(const knEquationBody* bodies, int bodyCount, const knEquationJoint* joints, int jointCount,
				 int i) {
	if (i < 2) {
		return i == 0 ? bodyCount : jointCount;
	}
	const knEquationJoint* joint = &joints[(i - 2) / 3];
	switch ((i - 2) % 3) {
	case 0:
		return isMoving(&bodies[joint->parent]) ? joint->parent : -1 - joint->parent;
	case 1:
		return isMoving(&bodies[joint->child]) ? joint->child : -1 - joint->child;
	default:
		return joint->count;
	}
}

static bool isKey(const knIslandPattern* p, const knEquationBody* bodies, int bodyCount,
				  const knEquationJoint* joints, int jointCount) {
	for (int i = 0; i < p->keyCount; ++i) {
		if (p->key[i] != keyAt(bodies, bodyCount, joints, jointCount, i)) {
			return false;
		}
	}
	return true;
}

static uint64_t hashKey(const knEquationBody* bodies, int bodyCount, const knEquationJoint* joints,
						int jointCount) {
	uint64_t hash = 1469598103934665603u;
	for (int i = 0; i < 2 + 3 * jointCount; ++i) {
		hash = (hash ^ (uint32_t)keyAt(bodies, bodyCount, joints, jointCount, i)) * 1099511628211u;
	}
	return hash;
}

knIslandPattern* knIslandPattern_Find(knJointIslands* islands, const knEquationBody* bodies, int bodyCount,
									  const knEquationJoint* joints, int jointCount) {
	const knAllocator* allocator = &islands->allocator;
	const uint64_t hash = hashKey(bodies, bodyCount, joints, jointCount);
	const int count = islands->patterns.count, keyCount = 2 + 3 * jointCount;
	// islands come in the same order in every step, so the search mostly ends where it begins
	for (int i = 0; i < count; ++i) {
		knIslandPattern* p = islands->patterns.items[(islands->next + i) % count];
		if (p->lastUsed != islands->step && p->hash == hash && p->keyCount == keyCount &&
			isKey(p, bodies, bodyCount, joints, jointCount)) {
			islands->next = (islands->next + i + 1) % count;
			p->lastUsed = islands->step;
			return p;
		}
	}
	knIslandPattern* p = createPattern(bodies, bodyCount, joints, jointCount, allocator);
	int* key = p != NULL ? knAllocArray(allocator, (size_t)keyCount, sizeof(int)) : NULL;
	if (key == NULL || !KN_ARRAY_PUSH(allocator, &islands->patterns, p)) {
		knFree(allocator, key, sizeof(int) * (size_t)keyCount);
		destroyPattern(p, allocator);
		return NULL;
	}
	for (int i = 0; i < keyCount; ++i) {
		key[i] = keyAt(bodies, bodyCount, joints, jointCount, i);
	}
	p->key = key;
	p->keyCount = keyCount;
	p->hash = hash;
	p->lastUsed = islands->step;
	return p;
}
