// The bytes of .knt chunks, to and fro. Reading takes every length and count from the file as a claim to be
// checked against the bytes that are there; kinds, sizes and numbers must make sense, so that what passes can
// be drawn, converted and written again without further checks.
#include "core/hash.h"
#include "record/knt.h"

// A line end of each kind shows a file that went through text mode; the first byte, one that lost its eighth
// bits.
static const uint8_t MAGIC[8] = { 0x8b, 'K', 'N', 'T', '\r', '\n', 0x1a, '\n' };

#define CHECKED_HEAD 16 // bytes of a chunk's head that its checksum covers
#define MIN_BODY_BYTES 28
#define MIN_SHAPE_BYTES 92 // in version 1; later ones have MESH_BYTES more
#define MESH_BYTES 4
#define NO_MESH UINT32_MAX
#define NO_LOOK UINT32_MAX
#define LOOK_SIZE 48 // of its chunk
#define LOOK_UNIFORM 1u
#define LOOK_AROUND 2u

// --- writing ---------------------------------------------------------------------------------------------

static bool append32(knBytes* bytes, uint32_t value, const knAllocator* allocator) {
	uint8_t* at = knBytes_Extend(bytes, 4, allocator);
	if (at != NULL) {
		knPut32(at, value);
	}
	return at != NULL;
}

static bool appendDoubles(knBytes* bytes, const double* values, int count, const knAllocator* allocator) {
	uint8_t* at = knBytes_Extend(bytes, 8 * (size_t)count, allocator);
	for (int k = 0; at != NULL && k < count; ++k) {
		uint64_t bits;
		memcpy(&bits, &values[k], sizeof(bits));
		knPut64(at + 8 * k, bits);
	}
	return at != NULL;
}

static bool appendText(knBytes* bytes, const char* text, const knAllocator* allocator) {
	size_t length = strlen(text);
	if (length > INT_MAX || !append32(bytes, (uint32_t)length, allocator)) {
		return false;
	}
	uint8_t* at = knBytes_Extend(bytes, length, allocator);
	if (at != NULL && length > 0) {
		memcpy(at, text, length);
	}
	return at != NULL;
}

void knKnt_PutHeader(uint8_t header[KN_KNT_HEADER_SIZE]) {
	memcpy(header, MAGIC, sizeof(MAGIC));
	knPut32(header + 8, KN_KNT_VERSION);
	knPut32(header + 12, 0);
}

// The head is filled in by endChunk, when the payload is there.
static bool beginChunk(knBytes* bytes, int* start, const knAllocator* allocator) {
	*start = bytes->count;
	return knBytes_Extend(bytes, KN_KNT_CHUNK_SIZE, allocator) != NULL;
}

static void endChunk(knBytes* bytes, int start, uint32_t type) {
	uint8_t* head = bytes->items + start;
	size_t size = (size_t)(bytes->count - start - KN_KNT_CHUNK_SIZE);
	knPut32(head, type);
	knPut32(head + 4, 0);
	knPut64(head + 8, size);
	knPut64(head + 16, knKnt_Checksum(head, head + KN_KNT_CHUNK_SIZE, size));
}

static bool appendBody(knBytes* bytes, const knTrajectoryBody* body, const knAllocator* allocator) {
	return append32(bytes, (uint32_t)body->kind, allocator) && append32(bytes, body->color, allocator) &&
		   appendDoubles(bytes, &body->mass, 1, allocator) &&
		   append32(bytes, (uint32_t)body->firstShape, allocator) &&
		   append32(bytes, (uint32_t)body->shapeCount, allocator) && appendText(bytes, body->name, allocator);
}

static bool appendShape(knBytes* bytes, const knTrajectoryShape* shape, const knAllocator* allocator) {
	const knVec3 size = shape->size, p = shape->frame.p;
	const knQuat q = shape->frame.q;
	const double numbers[10] = { size.x, size.y, size.z, p.x, p.y, p.z, q.w, q.x, q.y, q.z };
	uint32_t mesh = shape->mesh >= 0 ? (uint32_t)shape->mesh : NO_MESH;
	return append32(bytes, (uint32_t)shape->kind, allocator) && append32(bytes, shape->color, allocator) &&
		   appendDoubles(bytes, numbers, 10, allocator) && append32(bytes, mesh, allocator) &&
		   appendText(bytes, shape->name, allocator);
}

bool knKnt_PutMesh(knBytes* bytes, const knTrajectoryMesh* mesh, const knAllocator* allocator) {
	int start;
	size_t vertexBytes = 12 * (size_t)mesh->vertexCount, triangleBytes = 12 * (size_t)mesh->triangleCount;
	bool ok = beginChunk(bytes, &start, allocator) &&
			  append32(bytes, (uint32_t)mesh->vertexCount, allocator) &&
			  append32(bytes, (uint32_t)mesh->triangleCount, allocator);
	uint8_t* at = ok ? knBytes_Extend(bytes, vertexBytes + triangleBytes, allocator) : NULL;
	if (at == NULL) {
		return false;
	}
	for (size_t k = 0; k < 3 * (size_t)mesh->vertexCount; ++k) {
		knPutFloat(at + 4 * k, mesh->vertices[k]);
	}
	at += vertexBytes;
	for (int t = 0; t < mesh->triangleCount; ++t, at += 12) {
		knPut32(at, (uint32_t)mesh->triangles[t].a);
		knPut32(at + 4, (uint32_t)mesh->triangles[t].b);
		knPut32(at + 8, (uint32_t)mesh->triangles[t].c);
	}
	endChunk(bytes, start, KN_KNT_MESH);
	return true;
}

bool knKnt_PutPicture(knBytes* bytes, const knPicture* picture, const knAllocator* allocator) {
	int start;
	const size_t size = (size_t)picture->bytes.count;
	uint8_t* at = beginChunk(bytes, &start, allocator) ? knBytes_Extend(bytes, size, allocator) : NULL;
	if (at == NULL) {
		return false;
	}
	memcpy(at, picture->bytes.items, size);
	endChunk(bytes, start, KN_KNT_PICTURE);
	return true;
}

bool knKnt_PutLook(knBytes* bytes, const knLook* look, const knAllocator* allocator) {
	int start;
	const double numbers[5] = { look->roughness, look->metallic, look->emission, look->repeat[0],
								look->repeat[1] };
	const uint32_t flags = (look->uniform ? LOOK_UNIFORM : 0u) | (look->around ? LOOK_AROUND : 0u);
	bool ok = beginChunk(bytes, &start, allocator) && appendDoubles(bytes, numbers, 5, allocator) &&
			  append32(bytes, look->picture >= 0 ? (uint32_t)look->picture : NO_LOOK, allocator) &&
			  append32(bytes, flags, allocator);
	if (ok) {
		endChunk(bytes, start, KN_KNT_LOOK);
	}
	return ok;
}

// Those of all shapes, where one has any.
static bool appendLooks(knBytes* bytes, const knSceneSnapshot* cast, const knAllocator* allocator) {
	bool any = false, ok = true;
	for (int s = 0; s < cast->shapeCount; ++s) {
		any = any || cast->shapes[s].look >= 0;
	}
	for (int s = 0; s < cast->shapeCount && any && ok; ++s) {
		const int look = cast->shapes[s].look;
		ok = append32(bytes, look >= 0 ? (uint32_t)look : NO_LOOK, allocator);
	}
	return ok;
}

bool knKnt_PutCast(knBytes* bytes, const knSceneSnapshot* cast, const knAllocator* allocator) {
	int start;
	bool ok = beginChunk(bytes, &start, allocator) && append32(bytes, (uint32_t)cast->bodyCount, allocator) &&
			  append32(bytes, (uint32_t)cast->shapeCount, allocator) &&
			  appendText(bytes, cast->scene, allocator) && appendText(bytes, cast->stepper, allocator);
	for (int b = 0; b < cast->bodyCount && ok; ++b) {
		ok = appendBody(bytes, &cast->bodies[b], allocator);
	}
	for (int s = 0; s < cast->shapeCount && ok; ++s) {
		ok = appendShape(bytes, &cast->shapes[s], allocator);
	}
	ok = ok && appendLooks(bytes, cast, allocator);
	if (ok) {
		endChunk(bytes, start, KN_KNT_CAST);
	}
	return ok;
}

// One bit a body, the lowest first.
static bool appendMarks(knBytes* bytes, const uint8_t* active, int count, const knAllocator* allocator) {
	size_t size = (size_t)knKnt_MarksSize(count);
	uint8_t* at = knBytes_Extend(bytes, size, allocator);
	if (at == NULL) {
		return false;
	}
	memset(at, 0, size);
	for (int b = 0; b < count; ++b) {
		at[b / 8] = (uint8_t)(at[b / 8] | (active[b] != 0) << b % 8);
	}
	return true;
}

bool knKnt_PutFrame(knBytes* bytes, const knCastFrame* frame, const knAllocator* allocator) {
	int start;
	bool ok = beginChunk(bytes, &start, allocator) && appendDoubles(bytes, &frame->time, 1, allocator);
	uint8_t* step = ok ? knBytes_Extend(bytes, 8, allocator) : NULL;
	if (step == NULL) {
		return false;
	}
	knPut64(step, frame->step);
	for (int b = 0; b < frame->cast->bodyCount && ok; ++b) {
		const knBodyState* s = &frame->bodies[b];
		const double numbers[13] = {
			s->position.x,        s->position.y,        s->position.z,        s->rotation.w, s->rotation.x,
			s->rotation.y,        s->rotation.z,        s->velocity.x,        s->velocity.y, s->velocity.z,
			s->angularVelocity.x, s->angularVelocity.y, s->angularVelocity.z,
		};
		ok = appendDoubles(bytes, numbers, 13, allocator);
	}
	if (ok && frame->active != NULL) {
		ok = appendMarks(bytes, frame->active, frame->cast->bodyCount, allocator);
	}
	if (ok) {
		endChunk(bytes, start, KN_KNT_FRAME);
	}
	return ok;
}

bool knKnt_PutEnd(knBytes* bytes, uint64_t frameCount, const knAllocator* allocator) {
	int start;
	uint8_t* count = beginChunk(bytes, &start, allocator) ? knBytes_Extend(bytes, 8, allocator) : NULL;
	if (count == NULL) {
		return false;
	}
	knPut64(count, frameCount);
	endChunk(bytes, start, KN_KNT_END);
	return true;
}

// --- reading ---------------------------------------------------------------------------------------------

static uint32_t get32(const uint8_t* at) {
	return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static uint64_t get64(const uint8_t* at) {
	return (uint64_t)get32(at) | (uint64_t)get32(at + 4) << 32;
}

static double getDouble(const uint8_t* at) {
	uint64_t bits = get64(at);
	double value;
	memcpy(&value, &bits, sizeof(value));
	return value;
}

static knVec3 getVec3(const uint8_t* at) {
	return knV3(getDouble(at), getDouble(at + 8), getDouble(at + 16));
}

static knQuat getQuat(const uint8_t* at) {
	return knQ(getDouble(at), getDouble(at + 8), getDouble(at + 16), getDouble(at + 24));
}

// Finite, and near enough to a unit quaternion to be normalized.
static bool isRotation(knQuat q) {
	double n = knDotQ(q, q);
	return n > 0.5 && n < 2.0;
}

// What is left of a payload. Once it has run out, it gives nothing more.
typedef struct Cursor {
	const uint8_t* at;
	size_t left;
	bool ranOut;
} Cursor;

static const uint8_t* take(Cursor* cursor, size_t size) {
	if (cursor->ranOut || size > cursor->left) {
		cursor->ranOut = true;
		return NULL;
	}
	const uint8_t* at = cursor->at;
	cursor->at += size;
	cursor->left -= size;
	return at;
}

// A count of things that take at least `least` bytes each: more than could be there are too many.
static int takeCount(Cursor* cursor, size_t least) {
	const uint8_t* at = take(cursor, 4);
	uint32_t count = at != NULL ? get32(at) : 0;
	if (count > cursor->left / least || count > INT_MAX) {
		cursor->ranOut = true;
		return 0;
	}
	return (int)count;
}

// A string, copied into the cast; NULL when it runs out or holds a zero.
static const char* takeText(Cursor* cursor, knSceneSnapshot* cast) {
	const uint8_t* at = take(cursor, 4);
	uint32_t length = at != NULL ? get32(at) : 0;
	const uint8_t* bytes = take(cursor, length);
	if (bytes == NULL || (length > 0 && memchr(bytes, 0, length) != NULL)) {
		return NULL;
	}
	return knSceneSnapshot_AddText(cast, bytes, length);
}

const char* knKnt_CheckHeader(const uint8_t header[KN_KNT_HEADER_SIZE], uint32_t* version) {
	*version = get32(header + 8);
	if (memcmp(header, MAGIC, sizeof(MAGIC)) != 0) {
		return "is not a .knt trajectory";
	}
	return *version == 0 || get32(header + 12) != 0 ? "has a damaged header" : NULL;
}

knKntChunk knKnt_GetChunk(const uint8_t bytes[KN_KNT_CHUNK_SIZE]) {
	knKntChunk chunk = { get32(bytes), get32(bytes + 4), get64(bytes + 8), get64(bytes + 16) };
	return chunk;
}

uint64_t knKnt_Checksum(const uint8_t chunk[KN_KNT_CHUNK_SIZE], const uint8_t* payload, size_t size) {
	return knHash_Bytes(knHash_Bytes(KN_HASH_SEED, chunk, CHECKED_HEAD), payload, size);
}

uint64_t knKnt_FrameSize(int bodyCount) {
	return 16 + (uint64_t)KN_KNT_BODY_SIZE * (uint64_t)bodyCount;
}

uint64_t knKnt_MarksSize(int bodyCount) {
	return ((uint64_t)bodyCount + 7) / 8;
}

uint64_t knKnt_GetEnd(const uint8_t payload[8]) {
	return get64(payload);
}

// Shapes stand in the order of their bodies, the world's before all others.
static const char* takeBody(Cursor* cursor, knSceneSnapshot* cast, int index) {
	knTrajectoryBody* body = &cast->bodies[index];
	const uint8_t* at = take(cursor, MIN_BODY_BYTES - 4);
	if (at == NULL) {
		return "has a list of bodies that is cut short";
	}
	uint32_t kind = get32(at), firstShape = get32(at + 16), shapeCount = get32(at + 20);
	body->mass = getDouble(at + 8);
	if (kind > KN_BODY_FIXED || !knIsFinite(body->mass) || body->mass < 0.0) {
		return "has a body of no known kind or without a sound mass";
	}
	uint32_t expected = firstShape;
	if (index > 0) {
		expected =
			(uint32_t)cast->bodies[index - 1].firstShape + (uint32_t)cast->bodies[index - 1].shapeCount;
	}
	uint32_t total = (uint32_t)cast->shapeCount;
	if (firstShape != expected || firstShape > total || shapeCount > total - firstShape) {
		return "has a body whose shapes are not in the file";
	}
	body->kind = (knBodyKind)kind;
	body->color = get32(at + 4);
	body->firstShape = (int)firstShape;
	body->shapeCount = (int)shapeCount;
	body->name = takeText(cursor, cast);
	return body->name != NULL ? NULL : "has a body without a sound name";
}

// `mesh` is the shape's, NO_MESH or one that the file has.
static bool isDrawable(uint32_t kind, knVec3 size, uint32_t mesh) {
	bool hasMesh = mesh != NO_MESH;
	switch (kind) {
	case KN_GEOM_HULL:
	case KN_GEOM_MESH:
	case KN_GEOM_HEIGHT_FIELD:
		return hasMesh;
	case KN_GEOM_SPHERE:
		return !hasMesh && size.x > 0.0;
	case KN_GEOM_CAPSULE:
		return !hasMesh && size.x > 0.0 && size.y >= 0.0;
	case KN_GEOM_CYLINDER:
		return !hasMesh && size.x > 0.0 && size.y > 0.0;
	case KN_GEOM_BOX:
	case KN_GEOM_ELLIPSOID:
		return !hasMesh && size.x > 0.0 && size.y > 0.0 && size.z > 0.0;
	case KN_GEOM_PLANE:
		return !hasMesh;
	default:
		return false;
	}
}

static size_t shapeBytes(uint32_t version) {
	return version == 1 ? MIN_SHAPE_BYTES : MIN_SHAPE_BYTES + MESH_BYTES;
}

static const char* takeShape(Cursor* cursor, knSceneSnapshot* cast, int index, uint32_t version) {
	knTrajectoryShape* shape = &cast->shapes[index];
	const uint8_t* at = take(cursor, shapeBytes(version) - 4);
	if (at == NULL) {
		return "has a list of shapes that is cut short";
	}
	uint32_t kind = get32(at);
	uint32_t mesh = version == 1 ? NO_MESH : get32(at + 88);
	if (mesh != NO_MESH && mesh >= (uint32_t)cast->meshCount) {
		return "has a shape whose mesh is not in the file";
	}
	shape->color = get32(at + 4);
	shape->size = getVec3(at + 8);
	shape->frame.p = getVec3(at + 32);
	shape->frame.q = getQuat(at + 56);
	if (!knIsFinite3(shape->size) || !isDrawable(kind, shape->size, mesh)) {
		return "has a shape of no known kind or size";
	}
	if (!knIsFinite3(shape->frame.p) || !isRotation(shape->frame.q)) {
		return "has a shape without a sound place";
	}
	shape->kind = (knGeomKind)kind;
	shape->mesh = mesh != NO_MESH ? (int)mesh : -1;
	shape->name = takeText(cursor, cast);
	return shape->name != NULL ? NULL : "has a shape without a sound name";
}

// Of all shapes, where one has any.
static const char* takeLooks(Cursor* cursor, knSceneSnapshot* cast, int lookCount) {
	const uint8_t* at = take(cursor, 4 * (size_t)cast->shapeCount);
	for (int s = 0; s < cast->shapeCount && at != NULL; ++s) {
		const uint32_t look = get32(at + 4 * (size_t)s);
		if (look != NO_LOOK && look >= (uint32_t)lookCount) {
			return "has a shape whose look is not in the file";
		}
		cast->shapes[s].look = look != NO_LOOK ? (int)look : -1;
	}
	return at != NULL ? NULL : "has a list of looks that is cut short";
}

static const char* takeCast(Cursor* cursor, knSceneSnapshot* cast, const knKntPayload* payload) {
	cast->scene = takeText(cursor, cast);
	cast->stepper = cast->scene != NULL ? takeText(cursor, cast) : NULL;
	if (cast->stepper == NULL) {
		return "has no sound scene and stepper name";
	}
	const char* wrong = NULL;
	for (int b = 0; b < cast->bodyCount && wrong == NULL; ++b) {
		wrong = takeBody(cursor, cast, b);
	}
	if (wrong == NULL && cast->bodyCount > 0) {
		const knTrajectoryBody* last = &cast->bodies[cast->bodyCount - 1];
		wrong = last->firstShape + last->shapeCount == cast->shapeCount ? NULL : "has shapes of no body";
	}
	for (int s = 0; s < cast->shapeCount && wrong == NULL; ++s) {
		wrong = takeShape(cursor, cast, s, payload->version);
	}
	if (wrong == NULL && cursor->left > 0 && payload->version > 2) {
		wrong = takeLooks(cursor, cast, payload->lookCount);
	}
	return wrong == NULL && cursor->left > 0 ? "has more bytes than its bodies and shapes take" : wrong;
}

const char* knKnt_GetCast(knSceneSnapshot* cast, const knKntPayload* payload, const knAllocator* allocator,
						  bool* noMemory) {
	Cursor cursor = { payload->bytes, payload->size, false };
	*noMemory = false;
	int bodyCount = takeCount(&cursor, MIN_BODY_BYTES);
	int shapeCount = takeCount(&cursor, shapeBytes(payload->version));
	if (cursor.ranOut) {
		return "claims more bodies and shapes than it holds";
	}
	// each text takes no more room in memory, with its zero, than in the file, with its length
	if (!knSceneSnapshot_Create(cast, bodyCount, shapeCount, payload->size, allocator)) {
		*noMemory = true;
		return "is too large";
	}
	cast->meshCount = payload->meshCount;
	const char* wrong = takeCast(&cursor, cast, payload);
	if (wrong != NULL) {
		knSceneSnapshot_Free(cast);
	}
	return wrong;
}

// Corners must be vertices of the mesh.
static bool takeTriangles(Cursor* cursor, const knTrajectoryMesh* mesh, knTriangle* triangles) {
	uint32_t count = (uint32_t)mesh->vertexCount;
	for (int t = 0; t < mesh->triangleCount; ++t) {
		const uint8_t* at = take(cursor, 12);
		uint32_t a = get32(at), b = get32(at + 4), c = get32(at + 8);
		if (a >= count || b >= count || c >= count) {
			return false;
		}
		triangles[t] = (knTriangle){ (int32_t)a, (int32_t)b, (int32_t)c };
	}
	return true;
}

static bool takeVertices(Cursor* cursor, const knTrajectoryMesh* mesh, float* vertices) {
	for (size_t k = 0; k < 3 * (size_t)mesh->vertexCount; ++k) {
		uint32_t bits = get32(take(cursor, 4));
		memcpy(&vertices[k], &bits, sizeof(bits));
		if (!knIsFinite((double)vertices[k])) {
			return false;
		}
	}
	return true;
}

const char* knKnt_GetMesh(knTrajectoryMesh* mesh, const knKntPayload* payload, const knAllocator* allocator,
						  bool* noMemory) {
	Cursor cursor = { payload->bytes, payload->size, false };
	*noMemory = false;
	int vertexCount = takeCount(&cursor, 12);
	int triangleCount = takeCount(&cursor, 12);
	size_t need = 12 * ((size_t)vertexCount + (size_t)triangleCount);
	if (cursor.ranOut || vertexCount == 0 || triangleCount == 0 || cursor.left != need) {
		return "has a mesh of another size than it claims";
	}
	if (!knMesh_Create(mesh, vertexCount, triangleCount, allocator)) {
		*noMemory = true;
		return "is too large";
	}
	if (!takeVertices(&cursor, mesh, (float*)mesh->vertices) ||
		!takeTriangles(&cursor, mesh, (knTriangle*)mesh->triangles)) {
		knMesh_Free(mesh, allocator);
		return "has a mesh whose triangles are not sound";
	}
	return NULL;
}

static bool isShare(double value) {
	return value >= 0.0 && value <= 1.0;
}

const char* knKnt_GetLook(knLook* look, const knKntPayload* payload) {
	const uint8_t* at = payload->bytes;
	if (payload->size != LOOK_SIZE) {
		return "has a look of a wrong size";
	}
	const uint32_t picture = get32(at + 40), flags = get32(at + 44);
	*look = (knLook){ .roughness = getDouble(at),
					  .metallic = getDouble(at + 8),
					  .emission = getDouble(at + 16),
					  .picture = picture != NO_LOOK ? (int)picture : -1,
					  .repeat = { getDouble(at + 24), getDouble(at + 32) },
					  .uniform = (flags & LOOK_UNIFORM) != 0,
					  .around = (flags & LOOK_AROUND) != 0 };
	if (picture != NO_LOOK && picture >= (uint32_t)payload->pictureCount) {
		return "has a look whose picture is not in the file";
	}
	bool sound = isShare(look->roughness) && isShare(look->metallic) && isShare(look->emission) &&
				 knIsFinite(look->repeat[0]) && knIsFinite(look->repeat[1]) && flags <= 3;
	return sound ? NULL : "has a look without sound numbers";
}

const char* knKnt_GetFrame(const uint8_t* payload, int bodyCount, double* time, uint64_t* step,
						   knBodyState* bodies, uint8_t* active) {
	*time = getDouble(payload);
	*step = get64(payload + 8);
	if (!knIsFinite(*time)) {
		return "has a time that is not finite";
	}
	const uint8_t* at = payload + 16;
	for (int b = 0; b < bodyCount; ++b, at += KN_KNT_BODY_SIZE) {
		knBodyState state = { getVec3(at), getQuat(at + 24), getVec3(at + 56), getVec3(at + 80) };
		if (!knIsFinite3(state.position) || !knIsFinite3(state.velocity) ||
			!knIsFinite3(state.angularVelocity) || !isRotation(state.rotation)) {
			return "has a body without a sound pose and velocity";
		}
		bodies[b] = state;
	}
	for (int b = 0; b < bodyCount && active != NULL; ++b) {
		active[b] = at[b / 8] >> b % 8 & 1;
	}
	return NULL;
}
