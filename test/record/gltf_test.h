// For the tests of .glb: a small reader of JSON and of glTF's accessors, written from the specification and without the
// library's writer, and a player that says where a node is at a time.
#pragma once

#include "record_test.h"

// --- JSON ------------------------------------------------------------------------------------------------

typedef enum jsonKind { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT } jsonKind;

typedef struct jsonValue {
	jsonKind kind;
	double number;
	char* text;
	int count;
	struct jsonValue* items; // of an array or object
	char** keys;             // of an object
} jsonValue;

static jsonValue jsonParse(const char** at);

static inline void jsonBlank(const char** at) {
	while (**at == ' ' || **at == '\n' || **at == '\t' || **at == '\r') {
		*at += 1;
	}
}

// Strings with \uXXXX below 128 only: all that the writer needs.
static inline char* jsonText(const char** at) {
	assert_int_equal(**at, '"');
	char* text = malloc(strlen(*at));
	int length = 0;
	for (*at += 1; **at != '"'; *at += 1) {
		assert_true((unsigned char)**at >= 0x20);
		if (**at != '\\') {
			text[length++] = **at;
			continue;
		}
		*at += 1;
		const char* plain = strchr("\"\"\\\\//b\bf\fn\nr\rt\t", **at);
		if (**at == 'u') {
			unsigned code;
			assert_int_equal(sscanf(*at + 1, "%4x", &code), 1);
			assert_true(code < 128);
			text[length++] = (char)code;
			*at += 4;
		} else {
			assert_non_null(plain);
			text[length++] = plain[1];
		}
	}
	*at += 1;
	text[length] = '\0';
	return text;
}

static inline jsonValue jsonGroup(const char** at, char end) {
	jsonValue group = { .kind = end == '}' ? JSON_OBJECT : JSON_ARRAY };
	int capacity = 0;
	*at += 1;
	jsonBlank(at);
	while (**at != end) {
		if (group.count == capacity) {
			capacity = 2 * capacity + 4;
			group.items = realloc(group.items, sizeof(jsonValue) * (size_t)capacity);
			group.keys = realloc(group.keys, sizeof(char*) * (size_t)capacity);
		}
		group.keys[group.count] = NULL;
		if (end == '}') {
			group.keys[group.count] = jsonText(at);
			jsonBlank(at);
			assert_int_equal(**at, ':');
			*at += 1;
		}
		group.items[group.count++] = jsonParse(at);
		jsonBlank(at);
		assert_true(**at == ',' || **at == end);
		if (**at == ',') {
			*at += 1;
			jsonBlank(at);
			assert_int_not_equal(**at, end);
		}
	}
	*at += 1;
	return group;
}

static inline jsonValue jsonParse(const char** at) {
	jsonBlank(at);
	jsonValue value = { .kind = JSON_NULL };
	if (**at == '{' || **at == '[') {
		return jsonGroup(at, **at == '{' ? '}' : ']');
	}
	if (**at == '"') {
		value.kind = JSON_STRING;
		value.text = jsonText(at);
	} else if (**at == 't' || **at == 'f') {
		value.kind = JSON_BOOL;
		value.number = **at == 't';
		*at += **at == 't' ? 4 : 5;
	} else {
		char* end;
		value.kind = JSON_NUMBER;
		value.number = strtod(*at, &end);
		assert_true(end > *at);
		*at = end;
	}
	return value;
}

static inline void jsonFree(jsonValue* value) {
	for (int k = 0; k < value->count; ++k) {
		jsonFree(&value->items[k]);
		free(value->keys[k]);
	}
	free(value->items);
	free(value->keys);
	free(value->text);
}

// NULL if absent.
static inline const jsonValue* jsonGet(const jsonValue* object, const char* key) {
	for (int k = 0; object != NULL && k < object->count; ++k) {
		if (object->keys[k] != NULL && strcmp(object->keys[k], key) == 0) {
			return &object->items[k];
		}
	}
	return NULL;
}

static inline int jsonCount(const jsonValue* array) {
	return array != NULL ? array->count : 0;
}

static inline int jsonInt(const jsonValue* object, const char* key, int otherwise) {
	const jsonValue* value = jsonGet(object, key);
	return value != NULL ? (int)value->number : otherwise;
}

static inline knVec3 jsonVec3(const jsonValue* object, const char* key, double otherwise) {
	const jsonValue* value = jsonGet(object, key);
	return value != NULL ? knV3(value->items[0].number, value->items[1].number, value->items[2].number)
						 : knV3(otherwise, otherwise, otherwise);
}

// --- glTF ------------------------------------------------------------------------------------------------

typedef struct Gltf {
	knTestFile file;
	char* text;
	jsonValue json;
	const uint8_t* bytes;
	size_t byteCount;
	const jsonValue *nodes, *meshes, *materials, *accessors, *views, *channels, *samplers;
} Gltf;

static inline uint32_t gltf32(const uint8_t* at) {
	uint32_t value;
	memcpy(&value, at, sizeof(value));
	return value;
}

static inline int gltfElementSize(const jsonValue* accessor, int* components) {
	const char* type = jsonGet(accessor, "type")->text;
	int component = jsonInt(accessor, "componentType", 0);
	*components = strcmp(type, "SCALAR") == 0 ? 1 : (strcmp(type, "VEC3") == 0 ? 3 : 4);
	return *components * (component == 5126 || component == 5125 ? 4 : 2);
}

static inline const uint8_t* gltfBytes(const Gltf* gltf, int index) {
	const jsonValue* accessor = &gltf->accessors->items[index];
	const jsonValue* view = &gltf->views->items[jsonInt(accessor, "bufferView", -1)];
	return gltf->bytes + jsonInt(view, "byteOffset", 0) + jsonInt(accessor, "byteOffset", 0);
}

// Component `k` of all, as a number.
static inline double gltfNumber(const Gltf* gltf, int index, int k) {
	const jsonValue* accessor = &gltf->accessors->items[index];
	const uint8_t* bytes = gltfBytes(gltf, index);
	float real;
	int16_t small;
	uint16_t index16;
	switch (jsonInt(accessor, "componentType", 0)) {
	case 5126:
		memcpy(&real, bytes + 4 * k, 4);
		return (double)real;
	case 5125:
		return (double)gltf32(bytes + 4 * k);
	case 5123:
		memcpy(&index16, bytes + 2 * k, 2);
		return (double)index16;
	default:
		memcpy(&small, bytes + 2 * k, 2);
		assert_true(jsonInt(accessor, "normalized", 0) == 1);
		return knMax((double)small / 32767.0, -1.0);
	}
}

static inline int gltfAccessorCount(const Gltf* gltf, int index) {
	return jsonInt(&gltf->accessors->items[index], "count", -1);
}

// What the specification demands of accessors: inside their views, aligned, with true bounds.
static inline void gltfCheckAccessors(const Gltf* gltf) {
	for (int v = 0; v < jsonCount(gltf->views); ++v) {
		const jsonValue* view = &gltf->views->items[v];
		size_t end = (size_t)jsonInt(view, "byteOffset", 0) + (size_t)jsonInt(view, "byteLength", 0);
		assert_true(jsonInt(view, "byteLength", 0) > 0 && end <= gltf->byteCount);
		assert_int_equal(jsonInt(view, "byteOffset", 0) % 4, 0);
	}
	for (int a = 0; a < jsonCount(gltf->accessors); ++a) {
		const jsonValue* accessor = &gltf->accessors->items[a];
		const jsonValue* view = &gltf->views->items[jsonInt(accessor, "bufferView", -1)];
		int components, size = gltfElementSize(accessor, &components), count = gltfAccessorCount(gltf, a);
		assert_true(count > 0);
		assert_int_equal(jsonInt(accessor, "byteOffset", 0) % 4, 0);
		assert_true(jsonInt(accessor, "byteOffset", 0) + size * count <= jsonInt(view, "byteLength", 0));
		const jsonValue *lower = jsonGet(accessor, "min"), *upper = jsonGet(accessor, "max");
		for (int c = 0; c < components && lower != NULL; ++c) {
			double least = INFINITY, most = -INFINITY;
			for (int k = 0; k < count; ++k) {
				least = knMin(least, gltfNumber(gltf, a, components * k + c));
				most = knMax(most, gltfNumber(gltf, a, components * k + c));
			}
			assert_true(least == lower->items[c].number && most == upper->items[c].number);
		}
	}
}

static inline Gltf gltfOpen(const char* path) {
	Gltf gltf = { .file = testRead(path) };
	const uint8_t* bytes = gltf.file.bytes;
	assert_memory_equal(bytes, "glTF\x02\0\0\0", 8);
	assert_int_equal(gltf32(bytes + 8), gltf.file.size);
	uint32_t textSize = gltf32(bytes + 12);
	assert_memory_equal(bytes + 16, "JSON", 4);
	assert_int_equal(textSize % 4, 0);
	gltf.text = calloc(1, textSize + 1);
	memcpy(gltf.text, bytes + 20, textSize);
	const char* at = gltf.text;
	gltf.json = jsonParse(&at);
	jsonBlank(&at);
	assert_int_equal(*at, '\0');
	assert_string_equal(jsonGet(jsonGet(&gltf.json, "asset"), "version")->text, "2.0");
	if (20 + textSize < gltf.file.size) {
		const uint8_t* chunk = bytes + 20 + textSize;
		gltf.byteCount = gltf32(chunk);
		assert_memory_equal(chunk + 4, "BIN\0", 4);
		assert_int_equal(gltf.byteCount % 4, 0);
		assert_int_equal(28 + textSize + gltf.byteCount, gltf.file.size);
		gltf.bytes = chunk + 8;
		const jsonValue* buffers = jsonGet(&gltf.json, "buffers");
		assert_int_equal(jsonInt(&buffers->items[0], "byteLength", 0), gltf.byteCount);
	}
	gltf.nodes = jsonGet(&gltf.json, "nodes");
	gltf.meshes = jsonGet(&gltf.json, "meshes");
	gltf.materials = jsonGet(&gltf.json, "materials");
	gltf.accessors = jsonGet(&gltf.json, "accessors");
	gltf.views = jsonGet(&gltf.json, "bufferViews");
	const jsonValue* animations = jsonGet(&gltf.json, "animations");
	gltf.channels = animations != NULL ? jsonGet(&animations->items[0], "channels") : NULL;
	gltf.samplers = animations != NULL ? jsonGet(&animations->items[0], "samplers") : NULL;
	gltfCheckAccessors(&gltf);
	return gltf;
}

static inline void gltfClose(Gltf* gltf) {
	jsonFree(&gltf->json);
	free(gltf->text);
	free(gltf->file.bytes);
}

// The k-th node of this name; -1 if there is none.
static inline int gltfNode(const Gltf* gltf, const char* name, int k) {
	for (int n = 0; n < jsonCount(gltf->nodes); ++n) {
		const jsonValue* found = jsonGet(&gltf->nodes->items[n], "name");
		if (found != NULL && strcmp(found->text, name) == 0 && k-- == 0) {
			return n;
		}
	}
	return -1;
}

// The channel's sampler; NULL if that property of the node does not move.
static inline const jsonValue* gltfSampler(const Gltf* gltf, int node, const char* path) {
	for (int c = 0; c < jsonCount(gltf->channels); ++c) {
		const jsonValue* channel = &gltf->channels->items[c];
		const jsonValue* target = jsonGet(channel, "target");
		if (jsonInt(target, "node", -1) == node && strcmp(jsonGet(target, "path")->text, path) == 0) {
			return &gltf->samplers->items[jsonInt(channel, "sampler", -1)];
		}
	}
	return NULL;
}

static inline int gltfKeyCount(const Gltf* gltf, int node, const char* path) {
	const jsonValue* sampler = gltfSampler(gltf, node, path);
	return sampler != NULL ? gltfAccessorCount(gltf, jsonInt(sampler, "input", -1)) : 0;
}

// Where in the keys `time` is: between keys *key and *key + 1, or at *key with fraction 0.
static inline double gltfFind(const Gltf* gltf, int input, double time, int* key) {
	int count = gltfAccessorCount(gltf, input);
	*key = 0;
	while (*key + 1 < count && gltfNumber(gltf, input, *key + 1) <= time) {
		assert_true(gltfNumber(gltf, input, *key + 1) > gltfNumber(gltf, input, *key));
		*key += 1;
	}
	double start = gltfNumber(gltf, input, *key);
	if (*key + 1 == count || time <= start) {
		return 0.0;
	}
	return (time - start) / (gltfNumber(gltf, input, *key + 1) - start);
}

static inline knVec3 gltfVec3(const Gltf* gltf, int accessor, int k) {
	return knV3(gltfNumber(gltf, accessor, 3 * k), gltfNumber(gltf, accessor, 3 * k + 1),
				gltfNumber(gltf, accessor, 3 * k + 2));
}

static inline knVec3 gltfPosition(const Gltf* gltf, int node, double time) {
	const jsonValue* sampler = gltfSampler(gltf, node, "translation");
	if (sampler == NULL) {
		return jsonVec3(&gltf->nodes->items[node], "translation", 0.0);
	}
	int key, output = jsonInt(sampler, "output", -1);
	double s = gltfFind(gltf, jsonInt(sampler, "input", -1), time, &key);
	knVec3 a = gltfVec3(gltf, output, key);
	return s > 0.0 ? knLerp(a, gltfVec3(gltf, output, key + 1), s) : a;
}

static inline knQuat gltfQuat(const Gltf* gltf, int accessor, int k) {
	return knNormalizeQ(knQ(gltfNumber(gltf, accessor, 4 * k + 3), gltfNumber(gltf, accessor, 4 * k),
							gltfNumber(gltf, accessor, 4 * k + 1), gltfNumber(gltf, accessor, 4 * k + 2)));
}

static inline knQuat gltfRotation(const Gltf* gltf, int node, double time) {
	const jsonValue* sampler = gltfSampler(gltf, node, "rotation");
	const jsonValue* still = jsonGet(&gltf->nodes->items[node], "rotation");
	if (sampler == NULL) {
		return still == NULL ? knIdentityQ()
							 : knQ(still->items[3].number, still->items[0].number, still->items[1].number,
								   still->items[2].number);
	}
	int key, output = jsonInt(sampler, "output", -1);
	double s = gltfFind(gltf, jsonInt(sampler, "input", -1), time, &key);
	knQuat a = gltfQuat(gltf, output, key);
	if (s == 0.0) {
		return a;
	}
	// slerp: the part s of the shorter turn
	knVec3 turn = knQuat_Log(knInvMulQ(a, gltfQuat(gltf, output, key + 1)));
	return knMulQ(a, knQuat_Exp(knScale(s, turn)));
}

static inline knVec3 gltfScale(const Gltf* gltf, int node, double time) {
	const jsonValue* sampler = gltfSampler(gltf, node, "scale");
	if (sampler == NULL) {
		return jsonVec3(&gltf->nodes->items[node], "scale", 1.0);
	}
	assert_string_equal(jsonGet(sampler, "interpolation")->text, "STEP");
	int key;
	gltfFind(gltf, jsonInt(sampler, "input", -1), time, &key);
	return gltfVec3(gltf, jsonInt(sampler, "output", -1), key);
}

// Volume of a node's mesh, with its own scale.
static inline double gltfVolume(const Gltf* gltf, int node) {
	int mesh = jsonInt(&gltf->nodes->items[node], "mesh", -1);
	assert_true(mesh >= 0);
	const jsonValue* primitive = &jsonGet(&gltf->meshes->items[mesh], "primitives")->items[0];
	int positions = jsonInt(jsonGet(primitive, "attributes"), "POSITION", -1);
	int normals = jsonInt(jsonGet(primitive, "attributes"), "NORMAL", -1);
	int indices = jsonInt(primitive, "indices", -1);
	assert_non_null(jsonGet(&gltf->accessors->items[positions], "min"));
	double sum = 0.0;
	for (int t = 0; t < gltfAccessorCount(gltf, indices) / 3; ++t) {
		knVec3 p[3];
		for (int k = 0; k < 3; ++k) {
			int vertex = (int)gltfNumber(gltf, indices, 3 * t + k);
			assert_true(vertex < gltfAccessorCount(gltf, positions));
			p[k] = gltfVec3(gltf, positions, vertex);
			assert_near(knLength(gltfVec3(gltf, normals, vertex)), 1.0, 1e-6);
		}
		sum += knDot(p[0], knCross(p[1], p[2]));
	}
	knVec3 scale = jsonVec3(&gltf->nodes->items[node], "scale", 1.0);
	return sum / 6.0 * scale.x * scale.y * scale.z;
}
