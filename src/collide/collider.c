// Creating and destroying colliders.
#include <stdio.h>
#include <string.h>

#include "collide/collider.h"
#include "core/arena.h"
#include "core/sort.h"

// Every array of fixed length, with its length; created zeroed and released from this one list.
#define FIXED_ARRAYS(X)                                                                                      \
	X(frameMoves, c->frameCount)                                                                             \
	X(shapes, c->shapeCount)                                                                                 \
	X(frameOf, c->shapeCount)                                                                                \
	X(kinds, c->shapeCount)                                                                                  \
	X(spins, c->shapeCount)                                                                                  \
	X(bounds, c->shapeCount)                                                                                 \
	X(radii, c->shapeCount)                                                                                  \
	X(meshes, c->shapeCount)                                                                                 \
	X(unfiltered, c->shapeCount)                                                                             \
	X(firstShape, c->frameCount + 1)                                                                         \
	X(shapesOfFrame, c->shapeCount)                                                                          \
	X(excluded, c->excludedCount)                                                                            \
	X(frames, c->frameCount)                                                                                 \
	X(motions, c->frameCount)                                                                                \
	X(margins, c->frameCount)                                                                                \
	X(frameChanged, c->frameCount)                                                                           \
	X(changedFrames, c->frameCount)                                                                          \
	X(frameEpoch, c->frameCount)                                                                             \
	X(active, c->shapeCount)                                                                                 \
	X(worlds, c->shapeCount)                                                                                 \
	X(boxes, c->shapeCount)                                                                                  \
	X(fat, c->shapeCount)                                                                                    \
	X(left, c->shapeCount)                                                                                   \
	X(items, c->shapeCount)                                                                                  \
	X(planes, c->planeCount)                                                                                 \
	X(treeShapes[KN_TREE_FIXED], c->trees[KN_TREE_FIXED].itemCount)                                          \
	X(treeShapes[KN_TREE_MOVING], c->trees[KN_TREE_MOVING].itemCount)                                        \
	X(buildBoxes, c->mostItems)                                                                              \
	X(buildCenters, c->mostItems)                                                                            \
	X(dirty, c->shapeCount)                                                                                  \
	X(dirtyList, c->shapeCount)                                                                              \
	X(dirtyNodes[KN_TREE_FIXED], c->trees[KN_TREE_FIXED].nodeCount)                                          \
	X(dirtyNodes[KN_TREE_MOVING], c->trees[KN_TREE_MOVING].nodeCount)                                        \
	X(counters, c->shapeCount + 1)

// --- checks ----------------------------------------------------------------------------------------------

static knStatus checkShape(const knColliderDef* def, int index, knError* error) {
	char element[64];
	snprintf(element, sizeof(element), "shape %d", index);
	const knCollideShape* shape = &def->shapes[index];
	if (shape->geom == NULL) {
		return knError_Set(error, KN_BAD_ARGUMENT, element, "%s has no geometry", element);
	}
	if (shape->frame < 0 || shape->frame >= def->frameCount) {
		return knError_Set(error, KN_BAD_ARGUMENT, element, "%s names frame %d of %d", element, shape->frame,
						   def->frameCount);
	}
	return knGeom_CheckFrame(shape->local, element, error);
}

static knStatus checkDef(const knColliderDef* def, knError* error) {
	if (def == NULL || def->frameCount < 0 || def->shapeCount < 0 || def->excludedCount < 0 ||
		def->pairLimit < 0 || (def->shapeCount > 0 && def->shapes == NULL) ||
		(def->excludedCount > 0 && def->excluded == NULL)) {
		return knError_Set(error, KN_BAD_ARGUMENT, "collider",
						   "the definition is missing or has negative counts");
	}
	for (int i = 0; i < def->shapeCount; ++i) {
		knStatus status = checkShape(def, i, error);
		if (status != KN_OK) {
			return status;
		}
	}
	for (int i = 0; i < def->excludedCount; ++i) {
		knFramePair pair = def->excluded[i];
		if (pair.a < 0 || pair.a >= def->frameCount || pair.b < 0 || pair.b >= def->frameCount) {
			return knError_Set(error, KN_BAD_ARGUMENT, "collider",
							   "excluded pair %d names frames %d and %d of %d", i, pair.a, pair.b,
							   def->frameCount);
		}
	}
	return KN_OK;
}

// --- creation --------------------------------------------------------------------------------------------

static bool frameMoves(const knColliderDef* def, int frame) {
	return def->frameMoves == NULL || def->frameMoves[frame];
}

static bool isInfinite(const knGeom* geom) {
	return knGeomOps_Get(geom->kind)->infinite;
}

static bool takeMemory(knCollider* c, const knColliderDef* def) {
	int counts[KN_TREE_COUNT] = { 0 };
	for (int i = 0; i < def->shapeCount; ++i) {
		if (isInfinite(def->shapes[i].geom)) {
			c->planeCount += 1;
		} else {
			counts[frameMoves(def, def->shapes[i].frame) ? KN_TREE_MOVING : KN_TREE_FIXED] += 1;
		}
	}
	c->mostItems = counts[0] > counts[1] ? counts[0] : counts[1];
	bool ok = true;
	for (int t = 0; t < KN_TREE_COUNT; ++t) {
		ok = knBvh_Create(&c->trees[t], counts[t], &c->allocator) && ok;
	}
	if (!ok) {
		return false; // the lengths below are gone with the trees
	}
#define TAKE(field, count)                                                                                   \
	c->field = knAllocArray(&c->allocator, (size_t)(count), sizeof(*c->field));                              \
	if (c->field != NULL) {                                                                                  \
		memset(c->field, 0, (size_t)(count) * sizeof(*c->field));                                            \
	} else if ((count) > 0) {                                                                                \
		return false;                                                                                        \
	}
	FIXED_ARRAYS(TAKE)
#undef TAKE
	return true;
}

static bool isDefault(knFilter filter) {
	knFilter plain = knFilter_Default();
	return filter.category == plain.category && filter.mask == plain.mask && filter.group == plain.group;
}

static bool hasMesh(const knGeom* geom) {
	for (int i = 0; geom->kind == KN_GEOM_COMPOUND && i < geom->childCount; ++i) {
		if (geom->children[i].geom->mesh != NULL) {
			return true;
		}
	}
	return geom->mesh != NULL;
}

static void placeShapes(knCollider* c, const knColliderDef* def) {
	int counts[KN_TREE_COUNT] = { 0 }, planes = 0;
	for (int f = 0; f < c->frameCount; ++f) {
		c->frameMoves[f] = frameMoves(def, f);
	}
	for (int i = 0; i < c->shapeCount; ++i) {
		c->shapes[i] = def->shapes[i];
		knGeom_Retain(c->shapes[i].geom);
		c->frameOf[i] = c->shapes[i].frame;
		c->kinds[i] = (uint8_t)c->shapes[i].geom->kind;
		c->unfiltered[i] = isDefault(c->shapes[i].filter);
		c->meshes[i] = hasMesh(c->shapes[i].geom);
		c->anyMesh = c->anyMesh || c->meshes[i];
		if (!isInfinite(c->shapes[i].geom)) {
			c->bounds[i] = knGeom_Aabb(c->shapes[i].geom, c->shapes[i].local);
			c->radii[i] = knLength(knMax3(knAbs3(c->bounds[i].lower), knAbs3(c->bounds[i].upper)));
		}
		c->firstShape[c->shapes[i].frame + 1] += 1;
		if (isInfinite(c->shapes[i].geom)) {
			c->items[i] = -1;
			c->planes[planes++] = i;
		} else {
			int t = c->frameMoves[c->shapes[i].frame] ? KN_TREE_MOVING : KN_TREE_FIXED;
			c->items[i] = counts[t];
			c->treeShapes[t][counts[t]++] = i;
		}
	}
	// shapes of each frame, ascending: counts become ends, filling from behind turns ends into starts
	for (int f = 0; f < c->frameCount; ++f) {
		c->firstShape[f + 1] += c->firstShape[f];
	}
	for (int i = c->shapeCount - 1; i >= 0; --i) {
		int frame = c->shapes[i].frame;
		c->shapesOfFrame[--c->firstShape[frame + 1]] = i;
	}
	for (int f = 0; f < c->frameCount; ++f) {
		c->firstShape[f] = c->firstShape[f + 1];
	}
	c->firstShape[c->frameCount] = c->shapeCount;
}

// Excluded frame pairs as sorted keys; false when out of memory.
static bool sortExcluded(knCollider* c, const knColliderDef* def) {
	knArena arena;
	knArena_Init(&arena, &c->allocator);
	knKeyed* keyed = KN_SCRATCH(&arena, knKeyed, c->excludedCount);
	bool ok = keyed != NULL;
	for (int i = 0; ok && i < c->excludedCount; ++i) {
		keyed[i] = (knKeyed){ knPairKey_Make(def->excluded[i].a, def->excluded[i].b), 0 };
	}
	ok = ok && knSort_Keys(keyed, c->excludedCount, &arena);
	for (int i = 0; ok && i < c->excludedCount; ++i) {
		c->excluded[i] = keyed[i].key;
	}
	knArena_Free(&arena);
	return ok;
}

knCollider* knCollider_Create(const knColliderDef* def, knError* error) {
	if (checkDef(def, error) != KN_OK) {
		return NULL;
	}
	knAllocator allocator = def->allocator != NULL ? *def->allocator : knAllocator_Default();
	knCollider* c = knAllocZero(&allocator, sizeof(knCollider));
	if (c != NULL) {
		c->allocator = allocator;
		c->frameCount = def->frameCount;
		c->shapeCount = def->shapeCount;
		c->excludedCount = def->excludedCount;
		c->pairLimit = def->pairLimit > 0 ? def->pairLimit : KN_PAIR_LIMIT;
		if (takeMemory(c, def)) {
			placeShapes(c, def);
			if (sortExcluded(c, def)) {
				return c;
			}
		}
	}
	knCollider_Destroy(c);
	knError_Set(error, KN_NO_MEMORY, "collider", "out of memory for a collider of %d shapes",
				def->shapeCount);
	return NULL;
}

void knCollider_Destroy(knCollider* c) {
	if (c == NULL) {
		return;
	}
	for (int i = 0; c->shapes != NULL && i < c->shapeCount; ++i) {
		knGeom_Release(c->shapes[i].geom);
	}
#define RELEASE(field, count) knFree(&c->allocator, c->field, (size_t)(count) * sizeof(*c->field));
	FIXED_ARRAYS(RELEASE)
#undef RELEASE
	for (int t = 0; t < KN_TREE_COUNT; ++t) {
		knBvh_Destroy(&c->trees[t], &c->allocator);
	}
	KN_ARRAY_FREE(&c->allocator, &c->pairs);
	KN_ARRAY_FREE(&c->allocator, &c->fresh);
	KN_ARRAY_FREE(&c->allocator, &c->sorted);
	KN_ARRAY_FREE(&c->allocator, &c->found);
	KN_ARRAY_FREE(&c->allocator, &c->near);
	KN_ARRAY_FREE(&c->allocator, &c->candidates);
	KN_ARRAY_FREE(&c->allocator, &c->narrowItems);
	KN_ARRAY_FREE(&c->allocator, &c->slotCounts);
	KN_ARRAY_FREE(&c->allocator, &c->slotPlaces);
	KN_ARRAY_FREE(&c->allocator, &c->slots);
	KN_ARRAY_FREE(&c->allocator, &c->outPairs);
	KN_ARRAY_FREE(&c->allocator, &c->outPoints);
	KN_ARRAY_FREE(&c->allocator, &c->lastPairs);
	KN_ARRAY_FREE(&c->allocator, &c->lastPoints);
	KN_ARRAY_FREE(&c->allocator, &c->outTested);
	KN_ARRAY_FREE(&c->allocator, &c->lastTested);
	knAllocator allocator = c->allocator;
	knFree(&allocator, c, sizeof(knCollider));
}
