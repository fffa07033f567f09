// The recording in a page as bytes: a head with sizes and checksum, a JSON part that names everything and says where the
// binary parts stand, then those. docs/formats.md has the layout; apps/web/src/recording.ts reads it.
//
// A body's positions are counts of 1/65534 of the longest side of the box it travels in, so that a body at rest is exact
// and one that flies far away costs the others nothing. A track holds a key only where it changes.
#include <string.h>

#include "core/json.h"
#include "page_store.h"

#define HEAD_SIZE 24
#define FORMAT_VERSION 2
#define COUNTS 65534.0
#define ABSENT 65535
#define MAX_BYTES (384 * 1024 * 1024) // base64 adds a third, and browsers end strings at 512 M

typedef struct Encoder {
	const knPageStore* store;
	knJson json;
	knPageBytes data;
	bool failed; // out of memory
	bool large;  // beyond MAX_BYTES
} Encoder;

// --- little-endian bytes -----------------------------------------------------------------------------------------

static void put(Encoder* encoder, const void* bytes, size_t size) {
	if (encoder->failed || encoder->large) {
		return;
	}
	if (size > (size_t)(MAX_BYTES - encoder->data.count)) {
		encoder->large = true;
		return;
	}
	if (!KN_ARRAY_RESERVE(&encoder->store->allocator, &encoder->data, encoder->data.count + (int)size)) {
		encoder->failed = true;
		return;
	}
	memcpy(encoder->data.items + encoder->data.count, bytes, size);
	encoder->data.count += (int)size;
}

static void storeWord(uint8_t* bytes, uint64_t word, int size) {
	for (int k = 0; k < size; ++k) {
		bytes[k] = (uint8_t)(word >> 8 * k);
	}
}

static void putWord(Encoder* encoder, uint64_t word, int size) {
	uint8_t bytes[8];
	storeWord(bytes, word, size);
	put(encoder, bytes, (size_t)size);
}

static void putFloat(Encoder* encoder, double value) {
	float narrow = (float)value;
	uint32_t word;
	memcpy(&word, &narrow, sizeof(word));
	putWord(encoder, word, 4);
}

static void putDouble(Encoder* encoder, double value) {
	uint64_t word;
	memcpy(&word, &value, sizeof(word));
	putWord(encoder, word, 8);
}

// Parts begin at multiples of 8, so that the page can read them in place. Returns where the next one begins.
static int beginPart(Encoder* encoder) {
	while (encoder->data.count % 8 != 0 && !encoder->failed && !encoder->large) {
		putWord(encoder, 0, 1);
	}
	return encoder->data.count;
}

// --- parts -------------------------------------------------------------------------------------------------------

static void writeFacts(Encoder* encoder) {
	const knPageStore* store = encoder->store;
	knJson_BeginArray(&encoder->json, "facts");
	for (int i = 0; i < store->facts.count; ++i) {
		knJson_BeginArray(&encoder->json, NULL);
		knJson_String(&encoder->json, NULL, store->facts.items[i].label);
		knJson_String(&encoder->json, NULL, store->facts.items[i].value);
		knJson_EndArray(&encoder->json);
	}
	knJson_EndArray(&encoder->json);
}

static void writeTimes(Encoder* encoder) {
	const knPageStore* store = encoder->store;
	knJson_Integer(&encoder->json, "frames", store->frames.count);
	knJson_Integer(&encoder->json, "timesAt", beginPart(encoder));
	for (int f = 0; f < store->frames.count; ++f) {
		putDouble(encoder, store->frames.items[f].time);
	}
}

static void writeMesh(Encoder* encoder, const knTrajectoryMesh* mesh) {
	knJson* json = &encoder->json;
	knJson_String(json, "kind", "mesh");
	knJson_Integer(json, "vertices", mesh->vertexCount);
	knJson_Integer(json, "at", beginPart(encoder));
	for (int i = 0; i < 3 * mesh->vertexCount; ++i) {
		putFloat(encoder, (double)mesh->vertices[i]);
	}
	knJson_Integer(json, "triangles", mesh->triangleCount);
	knJson_Integer(json, "trianglesAt", beginPart(encoder));
	for (int i = 0; i < mesh->triangleCount; ++i) {
		putWord(encoder, (uint32_t)mesh->triangles[i].a, 4);
		putWord(encoder, (uint32_t)mesh->triangles[i].b, 4);
		putWord(encoder, (uint32_t)mesh->triangles[i].c, 4);
	}
}

static void writeGeometries(Encoder* encoder) {
	const knPageStore* store = encoder->store;
	knJson* json = &encoder->json;
	knJson_BeginArray(json, "geometries");
	for (int i = 0; i < store->geometries.count; ++i) {
		const knPageGeometry* geometry = &store->geometries.items[i];
		knJson_BeginObject(json, NULL);
		if (geometry->mesh.vertices != NULL) {
			writeMesh(encoder, &geometry->mesh);
			knJson_Bool(json, "ground", geometry->kind == KN_GEOM_HEIGHT_FIELD);
		} else {
			knJson_String(json, "kind", knGeomKind_Name(geometry->kind));
			knJson_BeginArray(json, "size");
			knJson_Number(json, NULL, geometry->size.x);
			knJson_Number(json, NULL, geometry->size.y);
			knJson_Number(json, NULL, geometry->size.z);
			knJson_EndArray(json);
		}
		knJson_EndObject(json);
	}
	knJson_EndArray(json);
}

static void writeActors(Encoder* encoder) {
	static const char* const kinds[] = {
		[KN_BODY_DYNAMIC] = "dynamic", [KN_BODY_KINEMATIC] = "kinematic", [KN_BODY_FIXED] = "fixed"
	};
	const knPageStore* store = encoder->store;
	knJson* json = &encoder->json;
	knJson_BeginArray(json, "actors");
	for (int i = 0; i < store->actors.count; ++i) {
		const knPageActor* actor = &store->actors.items[i];
		knJson_BeginArray(json, NULL);
		knJson_String(json, NULL, actor->name);
		knJson_String(json, NULL, i == 0 ? "world" : kinds[actor->kind]);
		knJson_Integer(json, NULL, actor->color);
		knJson_Number(json, NULL, actor->mass);
		knJson_Integer(json, NULL, actor->firstShape);
		knJson_Integer(json, NULL, actor->shapeCount);
		knJson_EndArray(json);
	}
	knJson_EndArray(json);
}

static void writeShapes(Encoder* encoder) {
	const knPageStore* store = encoder->store;
	knJson_Integer(&encoder->json, "shapes", store->shapes.count);
	knJson_Integer(&encoder->json, "shapesAt", beginPart(encoder));
	for (int i = 0; i < store->shapes.count; ++i) {
		const knPageShape* shape = &store->shapes.items[i];
		putWord(encoder, (uint32_t)shape->geometry, 4);
		putWord(encoder, shape->color, 4);
		putWord(encoder, (uint32_t)(shape->look + 1), 4);
		putFloat(encoder, shape->frame.p.x);
		putFloat(encoder, shape->frame.p.y);
		putFloat(encoder, shape->frame.p.z);
		putFloat(encoder, shape->frame.q.w);
		putFloat(encoder, shape->frame.q.x);
		putFloat(encoder, shape->frame.q.y);
		putFloat(encoder, shape->frame.q.z);
	}
}

static void writePictures(Encoder* encoder, const knLookList* looks) {
	knJson* json = &encoder->json;
	knJson_BeginArray(json, "pictures");
	for (int i = 0; i < looks->pictures.count; ++i) {
		const knPicture* picture = &looks->pictures.items[i];
		knJson_BeginObject(json, NULL);
		knJson_String(json, "type", picture->png ? "image/png" : "image/jpeg");
		knJson_Integer(json, "size", picture->bytes.count);
		knJson_Integer(json, "at", beginPart(encoder));
		knJson_EndObject(json);
		put(encoder, picture->bytes.items, (size_t)picture->bytes.count);
	}
	knJson_EndArray(json);
}

static void writeLooks(Encoder* encoder) {
	const knLookList* looks = encoder->store->looks;
	knJson* json = &encoder->json;
	if (looks == NULL || looks->items.count == 0) {
		return;
	}
	knJson_BeginArray(json, "looks");
	for (int i = 0; i < looks->items.count; ++i) {
		const knLook* look = &looks->items.items[i];
		knJson_BeginObject(json, NULL);
		knJson_Number(json, "roughness", look->roughness);
		knJson_Number(json, "metallic", look->metallic);
		knJson_Number(json, "emission", look->emission);
		knJson_Integer(json, "picture", look->picture);
		knJson_BeginArray(json, "repeat");
		knJson_Number(json, NULL, look->repeat[0]);
		knJson_Number(json, NULL, look->repeat[1]);
		knJson_EndArray(json);
		knJson_Bool(json, "uniform", look->uniform);
		knJson_Bool(json, "around", look->around);
		knJson_EndObject(json);
	}
	knJson_EndArray(json);
	writePictures(encoder, looks);
}

static void writeSeries(Encoder* encoder) {
	const knPageStore* store = encoder->store;
	knJson* json = &encoder->json;
	knJson_BeginArray(json, "series");
	for (int i = 0; i < store->series.count; ++i) {
		const knPageSeries* series = &store->series.items[i];
		knJson_BeginObject(json, NULL);
		knJson_String(json, "plot", series->plot);
		knJson_String(json, "name", series->name);
		knJson_String(json, "unit", series->unit);
		knJson_Integer(json, "count", series->points.count);
		knJson_Integer(json, "at", beginPart(encoder));
		knJson_EndObject(json);
		for (int k = 0; k < series->points.count; ++k) {
			putDouble(encoder, series->points.items[k].time);
		}
		for (int k = 0; k < series->points.count; ++k) {
			putDouble(encoder, series->points.items[k].value);
		}
	}
	knJson_EndArray(json);
}

// --- tracks ------------------------------------------------------------------------------------------------------

// Where an actor is in a frame, NULL: nowhere. `slots[cast * actorCount + actor]` is its body in that cast, or -1.
static const knPagePose* poseOf(const knPageStore* store, const int* slots, int frame, int actor) {
	const knPageFrame* at = &store->frames.items[frame];
	int body = slots[(size_t)at->cast * (size_t)store->actors.count + (size_t)actor];
	return body < 0 ? NULL : &store->poses.items[at->first + body];
}

static void travel(const knPageStore* store, const int* slots, int actor, float low[3], double* side) {
	float high[3] = { 0.0f, 0.0f, 0.0f };
	bool any = false;
	low[0] = low[1] = low[2] = 0.0f;
	for (int f = 0; f < store->frames.count; ++f) {
		const knPagePose* pose = poseOf(store, slots, f, actor);
		for (int k = 0; pose != NULL && k < 3; ++k) {
			low[k] = !any || pose->position[k] < low[k] ? pose->position[k] : low[k];
			high[k] = !any || pose->position[k] > high[k] ? pose->position[k] : high[k];
		}
		any = any || pose != NULL;
	}
	*side = 0.0;
	for (int k = 0; k < 3; ++k) {
		*side = knMax(*side, (double)high[k] - (double)low[k]);
	}
}

static void makeKey(const knPagePose* pose, const float low[3], double step, uint16_t key[6]) {
	memset(key, 0, 6 * sizeof(key[0]));
	if (pose == NULL) {
		key[0] = ABSENT;
		return;
	}
	for (int k = 0; k < 3; ++k) {
		double count = step > 0.0 ? ((double)pose->position[k] - (double)low[k]) / step : 0.0;
		key[k] = (uint16_t)floor(knClamp(count, 0.0, COUNTS) + 0.5);
		key[3 + k] = pose->rotation[k];
	}
}

static void writeTrack(Encoder* encoder, const int* slots, int actor) {
	const knPageStore* store = encoder->store;
	float low[3];
	double side;
	travel(store, slots, actor, low, &side);
	float step = (float)(side / COUNTS);
	for (int k = 0; k < 3; ++k) {
		putFloat(encoder, (double)low[k]);
	}
	putFloat(encoder, (double)step);
	// one bit a frame, filled in as the keys follow
	int bitmap = encoder->data.count;
	for (int f = 0; f < store->frames.count; f += 8) {
		putWord(encoder, 0, 1);
	}
	uint16_t last[6] = { ABSENT, 0, 0, 0, 0, 0 };
	for (int f = 0; f < store->frames.count && !encoder->failed && !encoder->large; ++f) {
		uint16_t key[6];
		makeKey(poseOf(store, slots, f, actor), low, (double)step, key);
		if (memcmp(key, last, sizeof(key)) == 0) {
			continue;
		}
		memcpy(last, key, sizeof(key));
		encoder->data.items[bitmap + f / 8] |= (uint8_t)(1 << f % 8);
		for (int k = 0; k < 6; ++k) {
			putWord(encoder, key[k], 2);
		}
	}
}

// Frame by frame one bit an actor, the lowest first: it moves by itself.
static void writeMarks(Encoder* encoder, const int* slots) {
	const knPageStore* store = encoder->store;
	knJson_Integer(&encoder->json, "activeAt", beginPart(encoder));
	for (int f = 0; f < store->frames.count && !encoder->failed && !encoder->large; ++f) {
		for (int first = 0; first < store->actors.count; first += 8) {
			unsigned bits = 0;
			for (int a = first; a < first + 8 && a < store->actors.count; ++a) {
				const knPagePose* pose = poseOf(store, slots, f, a);
				bits |= (pose != NULL && pose->active ? 1u : 0u) << (a - first);
			}
			putWord(encoder, bits, 1);
		}
	}
}

static void writeTracks(Encoder* encoder) {
	const knPageStore* store = encoder->store;
	const knAllocator* allocator = &store->allocator;
	size_t actorCount = (size_t)store->actors.count, count = (size_t)store->casts.count * actorCount;
	int* slots = knAllocArray(allocator, count, sizeof(int));
	encoder->failed = encoder->failed || (slots == NULL && count > 0);
	knJson_Integer(&encoder->json, "tracksAt", beginPart(encoder));
	for (size_t i = 0; i < count && slots != NULL; ++i) {
		slots[i] = -1;
	}
	for (int c = 0; c < store->casts.count && slots != NULL; ++c) {
		for (int b = 0; b < store->casts.items[c].bodyCount; ++b) {
			slots[(size_t)c * actorCount + (size_t)store->casts.items[c].actors[b]] = b;
		}
	}
	for (int a = 1; a < store->actors.count && !encoder->failed && !encoder->large; ++a) {
		writeTrack(encoder, slots, a);
	}
	if (store->marked && slots != NULL) {
		writeMarks(encoder, slots);
	}
	knFree(allocator, slots, count * sizeof(int));
}

// --- the whole ---------------------------------------------------------------------------------------------------

static const char* orEmpty(const char* text) {
	return text != NULL ? text : "";
}

static void writeAll(Encoder* encoder) {
	const knPageStore* store = encoder->store;
	knJson* json = &encoder->json;
	knJson_BeginObject(json, NULL);
	knJson_String(json, "scene", orEmpty(store->title != NULL ? store->title : store->scene));
	knJson_String(json, "stepper", orEmpty(store->stepper));
	knJson_String(json, "version", KN_VERSION_STRING);
	knJson_String(json, "note", orEmpty(store->note));
	if (store->view.zoom > 0.0) {
		knJson_BeginArray(json, "view");
		knJson_Number(json, NULL, store->view.azimuth);
		knJson_Number(json, NULL, store->view.elevation);
		knJson_Number(json, NULL, store->view.zoom);
		knJson_EndArray(json);
	}
	writeFacts(encoder);
	writeTimes(encoder);
	writeGeometries(encoder);
	writeActors(encoder);
	writeShapes(encoder);
	writeLooks(encoder);
	writeSeries(encoder);
	writeTracks(encoder);
	knJson_EndObject(json);
}

// 32-bit FNV-1a: enough to notice a page that was cut or changed on its way.
static uint32_t checksum(const uint8_t* bytes, size_t size) {
	uint32_t hash = 0x811c9dc5u;
	for (size_t i = 0; i < size; ++i) {
		hash = (hash ^ bytes[i]) * 0x01000193u;
	}
	return hash;
}

static bool assemble(const Encoder* encoder, knPageBytes* bytes) {
	const knJson* json = &encoder->json;
	size_t jsonSize = (json->length + 7) / 8 * 8;
	size_t size = HEAD_SIZE + jsonSize + (size_t)encoder->data.count;
	if (size > INT32_MAX || !KN_ARRAY_RESERVE(&encoder->store->allocator, bytes, (int)size)) {
		return false;
	}
	bytes->count = (int)size;
	uint8_t* at = bytes->items + HEAD_SIZE;
	memcpy(at, json->text, json->length);
	memset(at + json->length, ' ', jsonSize - json->length);
	if (encoder->data.count > 0) {
		memcpy(at + jsonSize, encoder->data.items, (size_t)encoder->data.count);
	}
	memcpy(bytes->items, "KNREPLAY", 8);
	storeWord(bytes->items + 8, FORMAT_VERSION, 4);
	storeWord(bytes->items + 12, jsonSize, 4);
	storeWord(bytes->items + 16, size, 4);
	storeWord(bytes->items + 20, checksum(at, size - HEAD_SIZE), 4);
	return true;
}

knStatus knPageStore_Encode(const knPageStore* store, knPageBytes* bytes, knError* error) {
	Encoder encoder = { .store = store };
	knJson_Init(&encoder.json, &store->allocator);
	writeAll(&encoder);
	knStatus status = KN_OK;
	if (encoder.large) {
		status = knError_Set(error, KN_LIMIT, "page",
							 "the recording is too large for a browser; record fewer frames a second");
	} else if (encoder.failed || encoder.json.failed || !assemble(&encoder, bytes)) {
		status = knError_Set(error, KN_NO_MEMORY, "page", "out of memory");
	}
	KN_ARRAY_FREE(&store->allocator, &encoder.data);
	knJson_Free(&encoder.json);
	return status;
}
