// Accessors, buffer views and the file's frame (glTF 2.0, section "GLB File Format"): a head of 12 bytes, a chunk of
// JSON padded with blanks, a chunk of bytes padded with zeros. Every view and accessor begins at a multiple of 4.
#include "record/glb_data.h"

#include "knuckle/vecmath.h"

typedef struct Type {
	int componentType; // as in OpenGL
	const char* name;
	int size; // bytes of an element
	int components;
	bool normalized;
} Type;

static const Type types[] = {
	[KN_GLB_FLOAT] = { 5126, "SCALAR", 4, 1, false },     [KN_GLB_VECTOR] = { 5126, "VEC3", 12, 3, false },
	[KN_GLB_INDEX16] = { 5123, "SCALAR", 2, 1, false },   [KN_GLB_INDEX32] = { 5125, "SCALAR", 4, 1, false },
	[KN_GLB_QUATERNION16] = { 5122, "VEC4", 8, 4, true }, [KN_GLB_PAIR] = { 5126, "VEC2", 8, 2, false },
};

typedef struct View {
	int stride; // 0: tightly packed
	int target; // OpenGL's ARRAY_BUFFER, ELEMENT_ARRAY_BUFFER; 0: neither
} View;

static const View views[KN_GLB_VIEW_COUNT] = {
	[KN_GLB_VERTICES] = { 12, 34962 },
	[KN_GLB_INDICES] = { 0, 34963 },
	[KN_GLB_COORDINATES] = { 8, 34962 },
};

#define HEAD_SIZE 12
#define CHUNK_SIZE 8
static const uint8_t MAGIC[4] = { 'g', 'l', 'T', 'F' }, JSON_CHUNK[4] = { 'J', 'S', 'O', 'N' },
					 BYTES_CHUNK[4] = { 'B', 'I', 'N', 0 };

static uint64_t padded(uint64_t size) {
	return (size + 3) & ~UINT64_C(3);
}

void knGlbData_Free(knGlbData* data) {
	for (int v = 0; v < KN_GLB_VIEW_COUNT; ++v) {
		KN_ARRAY_FREE(&data->allocator, &data->views[v]);
	}
	KN_ARRAY_FREE(&data->allocator, &data->accessors);
	KN_ARRAY_FREE(&data->allocator, &data->pictures);
}

int knGlbData_Add(knGlbData* data, knGlbView view, knGlbType type, int count, uint8_t** bytes) {
	knBytes* buffer = &data->views[view];
	knGlbAccessor accessor = { .view = view, .type = type, .offset = buffer->count, .count = count };
	size_t size = (size_t)types[type].size * (size_t)count, room = (size_t)padded(size);
	uint8_t* at = knBytes_Extend(buffer, room, &data->allocator);
	if (at == NULL || !KN_ARRAY_PUSH(&data->allocator, &data->accessors, accessor)) {
		return -1;
	}
	memset(at + size, 0, room - size);
	*bytes = at;
	return data->accessors.count - 1;
}

int knGlbData_AddPicture(knGlbData* data, const uint8_t* bytes, int size) {
	const size_t room = (size_t)padded((uint64_t)size);
	uint8_t* at = knBytes_Extend(&data->views[KN_GLB_PICTURES], room, &data->allocator);
	if (at == NULL || !KN_ARRAY_PUSH(&data->allocator, &data->pictures, size)) {
		return -1;
	}
	memset(at, 0, room);
	memcpy(at, bytes, (size_t)size);
	return data->pictures.count - 1;
}

static float getFloat(const uint8_t* at) {
	uint32_t bits = (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
	float value;
	memcpy(&value, &bits, sizeof(value));
	return value;
}

void knGlbData_Bound(knGlbData* data, int index) {
	knGlbAccessor* accessor = &data->accessors.items[index];
	KN_ASSERT(accessor->type == KN_GLB_FLOAT || accessor->type == KN_GLB_VECTOR);
	int components = types[accessor->type].components;
	const uint8_t* bytes = data->views[accessor->view].items + accessor->offset;
	accessor->bounded = accessor->count > 0;
	for (int k = 0; k < components * accessor->count; ++k) {
		float value = getFloat(bytes + 4 * (size_t)k);
		int c = k % components;
		accessor->lower[c] = k < components || value < accessor->lower[c] ? value : accessor->lower[c];
		accessor->upper[c] = k < components || value > accessor->upper[c] ? value : accessor->upper[c];
	}
}

// --- JSON ------------------------------------------------------------------------------------------------

static void writeBounds(knJson* json, const char* key, const float* values, int count) {
	knJson_BeginArray(json, key);
	for (int k = 0; k < count; ++k) {
		knJson_Number(json, NULL, (double)values[k]);
	}
	knJson_EndArray(json);
}

// Index in the file of each view: those without bytes are not there.
static int viewIndices(const knGlbData* data, int indices[KN_GLB_VIEW_COUNT]) {
	int count = 0;
	for (int v = 0; v < KN_GLB_VIEW_COUNT; ++v) {
		indices[v] = count;
		count += data->views[v].count > 0;
	}
	return count;
}

int knGlbData_PictureView(const knGlbData* data, int picture) {
	int indices[KN_GLB_VIEW_COUNT];
	(void)viewIndices(data, indices);
	return indices[KN_GLB_PICTURES] + picture;
}

static void writeAccessors(const knGlbData* data, knJson* json, const int viewIndex[KN_GLB_VIEW_COUNT]) {
	knJson_BeginArray(json, "accessors");
	for (int a = 0; a < data->accessors.count; ++a) {
		const knGlbAccessor* accessor = &data->accessors.items[a];
		const Type* type = &types[accessor->type];
		knJson_BeginObject(json, NULL);
		knJson_Integer(json, "bufferView", viewIndex[accessor->view]);
		knJson_Integer(json, "byteOffset", accessor->offset);
		knJson_Integer(json, "componentType", type->componentType);
		if (type->normalized) {
			knJson_Bool(json, "normalized", true);
		}
		knJson_Integer(json, "count", accessor->count);
		knJson_String(json, "type", type->name);
		if (accessor->bounded) {
			writeBounds(json, "min", accessor->lower, type->components);
			writeBounds(json, "max", accessor->upper, type->components);
		}
		knJson_EndObject(json);
	}
	knJson_EndArray(json);
}

// Each in a view of its own; returns where they end.
static int64_t writePictureViews(const knGlbData* data, knJson* json, int64_t offset) {
	for (int p = 0; p < data->pictures.count; ++p) {
		knJson_BeginObject(json, NULL);
		knJson_Integer(json, "buffer", 0);
		knJson_Integer(json, "byteOffset", offset);
		knJson_Integer(json, "byteLength", data->pictures.items[p]);
		knJson_EndObject(json);
		offset += (int64_t)padded((uint64_t)data->pictures.items[p]);
	}
	return offset;
}

// Returns the bytes in all.
static int64_t writeViews(const knGlbData* data, knJson* json) {
	int64_t offset = 0;
	knJson_BeginArray(json, "bufferViews");
	for (int v = 0; v < KN_GLB_PICTURES; ++v) {
		if (data->views[v].count == 0) {
			continue;
		}
		knJson_BeginObject(json, NULL);
		knJson_Integer(json, "buffer", 0);
		knJson_Integer(json, "byteOffset", offset);
		knJson_Integer(json, "byteLength", data->views[v].count);
		if (views[v].stride > 0) {
			knJson_Integer(json, "byteStride", views[v].stride);
		}
		if (views[v].target > 0) {
			knJson_Integer(json, "target", views[v].target);
		}
		knJson_EndObject(json);
		offset += data->views[v].count;
	}
	offset = writePictureViews(data, json, offset);
	knJson_EndArray(json);
	return offset;
}

void knGlbData_WriteJson(const knGlbData* data, knJson* json) {
	int viewIndex[KN_GLB_VIEW_COUNT];
	if (viewIndices(data, viewIndex) == 0) {
		return;
	}
	writeAccessors(data, json, viewIndex);
	int64_t size = writeViews(data, json);
	knJson_BeginArray(json, "buffers");
	knJson_BeginObject(json, NULL);
	knJson_Integer(json, "byteLength", size);
	knJson_EndObject(json);
	knJson_EndArray(json);
}

// --- the file --------------------------------------------------------------------------------------------

static knStatus writeChunkHead(knOutput* output, uint64_t size, const uint8_t type[4], knError* error) {
	uint8_t head[CHUNK_SIZE];
	knPut32(head, (uint32_t)size);
	memcpy(head + 4, type, 4);
	return knOutput_Write(output, head, sizeof(head), error);
}

static knStatus writeText(const knJson* json, knOutput* output, knError* error) {
	static const char BLANKS[4] = { ' ', ' ', ' ', ' ' };
	knStatus status = writeChunkHead(output, padded(json->length), JSON_CHUNK, error);
	if (status == KN_OK) {
		status = knOutput_Write(output, json->text, json->length, error);
	}
	size_t blanks = (size_t)(padded(json->length) - json->length);
	return status == KN_OK ? knOutput_Write(output, BLANKS, blanks, error) : status;
}

knStatus knGlbData_WriteFile(const knGlbData* data, const knJson* json, knOutput* output, knError* error) {
	uint64_t bytes = 0;
	for (int v = 0; v < KN_GLB_VIEW_COUNT; ++v) {
		bytes += (uint64_t)data->views[v].count;
	}
	uint64_t size = HEAD_SIZE + CHUNK_SIZE + padded(json->length) + (bytes > 0 ? CHUNK_SIZE + bytes : 0);
	if (size > UINT32_MAX) {
		return knFileError(error, KN_LIMIT, output->path,
						   "the animation is larger than a .glb can be (4 GB); record fewer frames");
	}
	uint8_t head[HEAD_SIZE];
	memcpy(head, MAGIC, 4);
	knPut32(head + 4, 2);
	knPut32(head + 8, (uint32_t)size);
	knStatus status = knOutput_Write(output, head, sizeof(head), error);
	if (status == KN_OK) {
		status = writeText(json, output, error);
	}
	if (status == KN_OK && bytes > 0) {
		status = writeChunkHead(output, bytes, BYTES_CHUNK, error);
	}
	for (int v = 0; v < KN_GLB_VIEW_COUNT && status == KN_OK; ++v) {
		status = knOutput_Write(output, data->views[v].items, (size_t)data->views[v].count, error);
	}
	return status;
}
