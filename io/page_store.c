// Gathers what a page will show (page_store.h).
#include "page_store.h"

#include <string.h>

#include "core/hash.h"

enum { MAX_POINTS = 4096 }; // of a curve; even and a multiple of 4

// --- life --------------------------------------------------------------------------------------------------------

void knPageStore_Init(knPageStore* store, const knAllocator* allocator) {
	memset(store, 0, sizeof(*store));
	store->allocator = *allocator;
	store->castIndex = -1;
	knTable_Init(&store->geometryOf, allocator);
	knTable_Init(&store->actorOf, allocator);
}

static void freeLists(knPageStore* store) {
	const knAllocator* allocator = &store->allocator;
	for (int i = 0; i < store->actors.count; ++i) {
		knFreeString(allocator, store->actors.items[i].name);
	}
	for (int i = 0; i < store->geometries.count; ++i) {
		knMesh_Free(&store->geometries.items[i].mesh, allocator);
	}
	for (int i = 0; i < store->casts.count; ++i) {
		knFree(allocator, store->casts.items[i].actors,
			   sizeof(int) * (size_t)store->casts.items[i].bodyCount);
	}
	for (int i = 0; i < store->series.count; ++i) {
		knPageSeries* series = &store->series.items[i];
		knFreeString(allocator, series->plot);
		knFreeString(allocator, series->name);
		knFreeString(allocator, series->unit);
		KN_ARRAY_FREE(allocator, &series->points);
	}
	for (int i = 0; i < store->facts.count; ++i) {
		knFreeString(allocator, store->facts.items[i].label);
		knFreeString(allocator, store->facts.items[i].value);
	}
}

void knPageStore_Free(knPageStore* store) {
	const knAllocator* allocator = &store->allocator;
	freeLists(store);
	knFreeString(allocator, store->title);
	knFreeString(allocator, store->note);
	knFreeString(allocator, store->scene);
	knFreeString(allocator, store->stepper);
	KN_ARRAY_FREE(allocator, &store->actors);
	KN_ARRAY_FREE(allocator, &store->shapes);
	KN_ARRAY_FREE(allocator, &store->geometries);
	KN_ARRAY_FREE(allocator, &store->casts);
	KN_ARRAY_FREE(allocator, &store->frames);
	KN_ARRAY_FREE(allocator, &store->poses);
	KN_ARRAY_FREE(allocator, &store->series);
	KN_ARRAY_FREE(allocator, &store->facts);
	knTable_Free(&store->geometryOf);
	knTable_Free(&store->actorOf);
}

// --- shapes ------------------------------------------------------------------------------------------------------

static uint64_t hashVector(uint64_t hash, knVec3 v) {
	return knHash_Double(knHash_Double(knHash_Double(hash, v.x), v.y), v.z);
}

static uint64_t hashWord(uint64_t hash, uint64_t word) {
	return knHash_Bytes(hash, &word, sizeof(word));
}

static bool copyMesh(knTrajectoryMesh* copy, const knTrajectoryMesh* mesh, const knAllocator* allocator) {
	if (!knMesh_Create(copy, mesh->vertexCount, mesh->triangleCount, allocator)) {
		return false;
	}
	memcpy((void*)copy->vertices, mesh->vertices, sizeof(float) * 3 * (size_t)mesh->vertexCount);
	memcpy((void*)copy->triangles, mesh->triangles, sizeof(knTriangle) * (size_t)mesh->triangleCount);
	return true;
}

// The number of a shape's geometry, each stored once; -1 when out of memory. Meshes keep their numbers through a
// recording, so that number says which one it is.
static int findGeometry(knPageStore* store, const knSceneSnapshot* cast, const knTrajectoryShape* shape) {
	uint64_t key = hashVector(hashWord(KN_HASH_SEED, (uint64_t)shape->kind), shape->size);
	key = hashWord(key, (uint64_t)(shape->mesh + 1));
	int found = knTable_Get(&store->geometryOf, key);
	if (found >= 0) {
		return found;
	}
	knPageGeometry geometry = { .kind = shape->kind, .size = shape->size };
	if (shape->mesh >= 0 && !copyMesh(&geometry.mesh, &cast->meshes[shape->mesh], &store->allocator)) {
		return -1;
	}
	if (!KN_ARRAY_PUSH(&store->allocator, &store->geometries, geometry)) {
		knMesh_Free(&geometry.mesh, &store->allocator);
		return -1;
	}
	int number = store->geometries.count - 1;
	return knTable_Set(&store->geometryOf, key, number) ? number : -1;
}

static bool addShapes(knPageStore* store, const knSceneSnapshot* cast, int first, int count) {
	for (int s = first; s < first + count; ++s) {
		const knTrajectoryShape* shape = &cast->shapes[s];
		knPageShape added = { findGeometry(store, cast, shape), shape->color, shape->look, shape->frame };
		if (added.geometry < 0 || !KN_ARRAY_PUSH(&store->allocator, &store->shapes, added)) {
			return false;
		}
	}
	return true;
}

// --- actors ------------------------------------------------------------------------------------------------------

// Name and looks; `again` tells apart bodies of one cast that agree in all of it.
static uint64_t hashBody(const knSceneSnapshot* cast, const knTrajectoryBody* body, int again) {
	uint64_t hash = knHash_Bytes(KN_HASH_SEED, body->name, strlen(body->name));
	hash = hashWord(hash, (uint64_t)body->kind);
	hash = hashWord(hash, body->color);
	for (int s = body->firstShape; s < body->firstShape + body->shapeCount; ++s) {
		const knTrajectoryShape* shape = &cast->shapes[s];
		hash = hashWord(hash, (uint64_t)shape->kind << 32 | shape->color);
		hash = hashWord(hash, (uint64_t)(shape->mesh + 1) << 32 | (uint32_t)(shape->look + 1));
		hash = hashVector(hashVector(hash, shape->size), shape->frame.p);
		hash = hashVector(hash, knV3(shape->frame.q.x, shape->frame.q.y, shape->frame.q.z));
	}
	return hashWord(hash, (uint64_t)again);
}

static bool addActor(knPageStore* store, const knSceneSnapshot* cast, const knTrajectoryBody* body) {
	knPageActor actor = { .name = knCopyString(&store->allocator, body->name),
						  .kind = body->kind,
						  .color = body->color,
						  .mass = body->mass,
						  .firstShape = store->shapes.count,
						  .shapeCount = body->shapeCount,
						  .seen = -1 };
	if (actor.name == NULL || !KN_ARRAY_PUSH(&store->allocator, &store->actors, actor)) {
		knFreeString(&store->allocator, actor.name);
		return false;
	}
	return addShapes(store, cast, body->firstShape, body->shapeCount);
}

// The actor of a body in the cast with number `number`; -1 when out of memory.
static int findActor(knPageStore* store, const knSceneSnapshot* cast, int body, int number) {
	for (int again = 0;; ++again) {
		uint64_t key = hashBody(cast, &cast->bodies[body], again);
		int actor = knTable_Get(&store->actorOf, key);
		if (actor < 0) {
			actor = store->actors.count;
			if (!addActor(store, cast, &cast->bodies[body]) || !knTable_Set(&store->actorOf, key, actor)) {
				return -1;
			}
		}
		if (store->actors.items[actor].seen != number) {
			store->actors.items[actor].seen = number;
			return actor;
		}
	}
}

static bool addWorld(knPageStore* store, const knSceneSnapshot* cast) {
	knTrajectoryBody world = { .name = "world", .kind = KN_BODY_FIXED };
	world.shapeCount = cast->bodyCount > 0 ? cast->bodies[0].firstShape : cast->shapeCount;
	store->scene = knCopyString(&store->allocator, cast->scene);
	store->stepper = knCopyString(&store->allocator, cast->stepper);
	store->view = cast->view;
	store->looks = cast->looks;
	return store->scene != NULL && store->stepper != NULL && addActor(store, cast, &world);
}

static bool sameActors(const knPageCast* a, const knPageCast* b) {
	for (int i = 0; i < a->bodyCount && a->bodyCount == b->bodyCount; ++i) {
		if (a->actors[i] != b->actors[i]) {
			return false;
		}
	}
	return a->bodyCount == b->bodyCount;
}

static bool addCast(knPageStore* store, const knSceneSnapshot* cast) {
	if (store->actors.count == 0 && !addWorld(store, cast)) {
		return false;
	}
	knPageCast added = { cast->bodyCount,
						 knAllocArray(&store->allocator, (size_t)cast->bodyCount, sizeof(int)) };
	if ((added.actors == NULL && cast->bodyCount > 0) ||
		!KN_ARRAY_PUSH(&store->allocator, &store->casts, added)) {
		knFree(&store->allocator, added.actors, sizeof(int) * (size_t)cast->bodyCount);
		return false;
	}
	store->castsSeen += 1;
	for (int b = 0; b < cast->bodyCount; ++b) {
		added.actors[b] = findActor(store, cast, b, store->castsSeen);
		if (added.actors[b] < 0) {
			return false;
		}
	}
	// a new model with the bodies of the one before (a joint that came or went) is no other cast
	int last = store->casts.count - 2;
	if (last >= 0 && sameActors(&store->casts.items[last], &added)) {
		knFree(&store->allocator, added.actors, sizeof(int) * (size_t)cast->bodyCount);
		store->casts.count -= 1;
	}
	return true;
}

// --- frames ------------------------------------------------------------------------------------------------------

void knPage_PackRotation(knQuat rotation, uint16_t packed[3]) {
	double part[4] = { rotation.x, rotation.y, rotation.z, rotation.w };
	int dropped = 0;
	double length = 0.0;
	for (int k = 0; k < 4; ++k) {
		dropped = knAbs(part[k]) > knAbs(part[dropped]) ? k : dropped;
		length += part[k] * part[k];
	}
	// the dropped one is made positive, and the others lie within 1/sqrt(2)
	double scale = (part[dropped] < 0.0 ? -1.0 : 1.0) * sqrt(2.0) / (length > 0.0 ? sqrt(length) : 1.0);
	for (int k = 0, at = 0; k < 4; ++k) {
		if (k != dropped) {
			double code = floor((knClamp(part[k] * scale, -1.0, 1.0) + 1.0) * 16383.0 + 0.5);
			packed[at++] = (uint16_t)code;
		}
	}
	packed[0] = (uint16_t)(packed[0] | (dropped & 1) << 15);
	packed[1] = (uint16_t)(packed[1] | (dropped >> 1) << 15);
}

bool knPageStore_AddFrame(knPageStore* store, const knCastFrame* frame) {
	if (frame->castIndex != store->castIndex) {
		if (!addCast(store, frame->cast)) {
			return false;
		}
		store->castIndex = frame->castIndex;
	}
	knPageFrame added = { frame->time, store->casts.count - 1, store->poses.count };
	int bodyCount = frame->cast->bodyCount;
	if (store->poses.count > INT32_MAX - bodyCount ||
		!KN_ARRAY_RESERVE(&store->allocator, &store->poses, store->poses.count + bodyCount) ||
		!KN_ARRAY_PUSH(&store->allocator, &store->frames, added)) {
		return false;
	}
	store->marked = store->marked || frame->active != NULL;
	for (int b = 0; b < bodyCount; ++b) {
		const knBodyState* body = &frame->bodies[b];
		knPagePose* pose = &store->poses.items[store->poses.count++];
		pose->position[0] = (float)body->position.x;
		pose->position[1] = (float)body->position.y;
		pose->position[2] = (float)body->position.z;
		pose->active = frame->active == NULL || frame->active[b] != 0;
		knPage_PackRotation(body->rotation, pose->rotation);
	}
	return true;
}

// --- curves and facts --------------------------------------------------------------------------------------------

bool knPageStore_AddFact(knPageStore* store, const char* label, const char* value) {
	knPageFact fact = { knCopyString(&store->allocator, label), knCopyString(&store->allocator, value) };
	if (fact.label != NULL && fact.value != NULL && KN_ARRAY_PUSH(&store->allocator, &store->facts, fact)) {
		return true;
	}
	knFreeString(&store->allocator, fact.label);
	knFreeString(&store->allocator, fact.value);
	return false;
}

int knPageStore_AddSeries(knPageStore* store, const char* plot, const char* name, const char* unit) {
	knPageSeries series = { .plot = knCopyString(&store->allocator, plot),
							.name = knCopyString(&store->allocator, name),
							.unit = knCopyString(&store->allocator, unit),
							.stride = 1 };
	if (series.plot != NULL && series.name != NULL && series.unit != NULL &&
		KN_ARRAY_PUSH(&store->allocator, &store->series, series)) {
		return store->series.count - 1;
	}
	knFreeString(&store->allocator, series.plot);
	knFreeString(&store->allocator, series.name);
	knFreeString(&store->allocator, series.unit);
	return -1;
}

// The lowest and the highest of some points, in order of time.
static void extremes(const knPagePoint* points, int count, knPagePoint out[2]) {
	int low = 0, high = 0;
	for (int i = 1; i < count; ++i) {
		low = points[i].value < points[low].value ? i : low;
		high = points[i].value > points[high].value ? i : high;
	}
	out[0] = points[low < high ? low : high];
	out[1] = points[low < high ? high : low];
}

// Of every four points two stay.
static void thin(knPageSeries* series) {
	int kept = 0;
	for (int i = 0; i + 4 <= series->points.count; i += 4) {
		knPagePoint pair[2];
		extremes(&series->points.items[i], 4, pair);
		series->points.items[kept++] = pair[0];
		series->points.items[kept++] = pair[1];
	}
	series->points.count = kept;
	series->stride = series->stride == 1 ? 4 : 2 * series->stride;
}

static bool endGroup(const knAllocator* allocator, knPageSeries* series) {
	if (series->held == 0) {
		return true;
	}
	knPagePoint pair[2];
	knPagePoint both[2] = { series->low, series->high };
	pair[0] = both[series->low.time <= series->high.time ? 0 : 1];
	pair[1] = both[series->low.time <= series->high.time ? 1 : 0];
	series->held = 0;
	return KN_ARRAY_PUSH(allocator, &series->points, pair[0]) &&
		   (series->stride == 1 || KN_ARRAY_PUSH(allocator, &series->points, pair[1]));
}

bool knPageStore_AddSample(knPageStore* store, int number, knPagePoint point) {
	knPageSeries* series = &store->series.items[number];
	if (series->held == 0 || point.value < series->low.value) {
		series->low = point;
	}
	if (series->held == 0 || point.value > series->high.value) {
		series->high = point;
	}
	series->held += 1;
	if (series->held < series->stride) {
		return true;
	}
	bool added = endGroup(&store->allocator, series);
	if (series->points.count >= MAX_POINTS) {
		thin(series);
	}
	return added;
}

bool knPageStore_EndSeries(knPageStore* store) {
	for (int i = 0; i < store->series.count; ++i) {
		if (!endGroup(&store->allocator, &store->series.items[i])) {
			return false;
		}
	}
	return true;
}
