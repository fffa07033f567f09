// Reading .knt trajectories back. The file is read chunk by chunk; the first chunk that is not sound ends the
// reading, and what came before stands. Memory grows with the bytes that are really there, never with a size
// that a chunk merely claims.
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "record/knt.h"
#include "record/output.h"

#define READ_BLOCK (1 << 20)

typedef struct Frame {
	double time;
	uint64_t step;
	int cast;            // index
	knBodyState* bodies; // [of its cast]
	uint8_t* active;     // [of its cast] NULL: no marks
} Frame;

struct knTrajectory {
	knAllocator allocator;
	knMeshList meshes;
	knLookList looks;
	KN_ARRAY(knSceneSnapshot*) casts; // at least one
	KN_ARRAY(Frame) frames;
	bool damaged;
	knError damage;
};

typedef struct Reader {
	knTrajectory* trajectory;
	const char* path;
	FILE* file;
	uint32_t version;   // of the file
	uint64_t offset;    // of the next byte
	knBytes payload;    // of the present chunk
	bool ended;         // by an end mark
	knStatus status;    // of the machine: KN_OK, KN_NO_MEMORY or KN_IO
	int reason;         // errno of KN_IO
	const char* damage; // what is wrong with the data, a clause after "the file"; NULL: nothing
} Reader;

// --- bytes -----------------------------------------------------------------------------------------------

// Up to `size` bytes; fewer only at the end of the file or on an error.
static size_t readBytes(Reader* reader, void* bytes, size_t size) {
	errno = 0;
	size_t got = fread(bytes, 1, size, reader->file);
	reader->offset += got;
	if (got < size && ferror(reader->file)) {
		reader->status = KN_IO;
		reader->reason = errno != 0 ? errno : EIO;
	}
	return got;
}

// Reads the payload block by block, so that a false size costs no more memory than the file has bytes.
static bool readPayload(Reader* reader, uint64_t size) {
	knBytes* payload = &reader->payload;
	payload->count = 0;
	while ((uint64_t)payload->count < size) {
		uint64_t left = size - (uint64_t)payload->count;
		int block = left < READ_BLOCK ? (int)left : READ_BLOCK;
		if (payload->count > INT_MAX - block ||
			!KN_ARRAY_RESERVE(&reader->trajectory->allocator, payload, payload->count + block)) {
			reader->status = KN_NO_MEMORY;
			return false;
		}
		size_t got = readBytes(reader, payload->items + payload->count, (size_t)block);
		payload->count += (int)got;
		if (got < (size_t)block) {
			reader->damage = "is cut short";
			return false;
		}
	}
	return true;
}

// --- chunks ----------------------------------------------------------------------------------------------

static knKntPayload payloadOf(const Reader* reader) {
	const knTrajectory* trajectory = reader->trajectory;
	knKntPayload payload = {
		.bytes = reader->payload.items,
		.size = (size_t)reader->payload.count,
		.version = reader->version,
		.meshCount = trajectory->meshes.items.count,
		.pictureCount = trajectory->looks.pictures.count,
		.lookCount = trajectory->looks.items.count,
	};
	return payload;
}

static bool addMesh(Reader* reader) {
	knTrajectory* trajectory = reader->trajectory;
	knTrajectoryMesh mesh;
	bool noMemory = false;
	knKntPayload payload = payloadOf(reader);
	reader->damage = knKnt_GetMesh(&mesh, &payload, &trajectory->allocator, &noMemory);
	if (reader->damage == NULL && !knMeshList_Append(&trajectory->meshes, &mesh)) {
		knMesh_Free(&mesh, &trajectory->allocator);
		noMemory = true;
	}
	reader->status = noMemory ? KN_NO_MEMORY : reader->status;
	return reader->damage == NULL && !noMemory;
}

static bool addPicture(Reader* reader) {
	const knKntPayload payload = payloadOf(reader);
	if (payload.size == 0) {
		reader->damage = "has an empty picture";
	} else if (!knLookList_AddPicture(&reader->trajectory->looks, payload.bytes, payload.size)) {
		reader->status = KN_NO_MEMORY;
	}
	return reader->damage == NULL && reader->status == KN_OK;
}

static bool addLook(Reader* reader) {
	const knKntPayload payload = payloadOf(reader);
	knLook look;
	reader->damage = knKnt_GetLook(&look, &payload);
	if (reader->damage == NULL && !knLookList_AddLook(&reader->trajectory->looks, &look)) {
		reader->status = KN_NO_MEMORY;
	}
	return reader->damage == NULL && reader->status == KN_OK;
}

static bool addCast(Reader* reader) {
	knTrajectory* trajectory = reader->trajectory;
	knSceneSnapshot* cast = knAlloc(&trajectory->allocator, sizeof(knSceneSnapshot));
	if (cast == NULL) {
		reader->status = KN_NO_MEMORY;
		return false;
	}
	bool noMemory = false;
	knKntPayload payload = payloadOf(reader);
	reader->damage = knKnt_GetCast(cast, &payload, &trajectory->allocator, &noMemory);
	if (reader->damage != NULL) {
		reader->status = noMemory ? KN_NO_MEMORY : reader->status;
		knFree(&trajectory->allocator, cast, sizeof(knSceneSnapshot));
		return false;
	}
	if (!KN_ARRAY_PUSH(&trajectory->allocator, &trajectory->casts, cast)) {
		reader->status = KN_NO_MEMORY;
		knSceneSnapshot_Free(cast);
		knFree(&trajectory->allocator, cast, sizeof(knSceneSnapshot));
		return false;
	}
	return true;
}

static const knSceneSnapshot* lastCast(const knTrajectory* trajectory) {
	return trajectory->casts.count > 0 ? trajectory->casts.items[trajectory->casts.count - 1] : NULL;
}

static void freeFrame(const knTrajectory* trajectory, const Frame* frame) {
	size_t bodyCount = (size_t)trajectory->casts.items[frame->cast]->bodyCount;
	knFree(&trajectory->allocator, frame->bodies, sizeof(knBodyState) * bodyCount);
	knFree(&trajectory->allocator, frame->active, bodyCount);
}

static bool addFrame(Reader* reader) {
	knTrajectory* trajectory = reader->trajectory;
	const knAllocator* allocator = &trajectory->allocator;
	int bodyCount = lastCast(trajectory)->bodyCount;
	size_t size = sizeof(knBodyState) * (size_t)bodyCount;
	bool marked = (uint64_t)reader->payload.count > knKnt_FrameSize(bodyCount);
	Frame frame = { .cast = trajectory->casts.count - 1, .bodies = knAlloc(allocator, size) };
	frame.active = marked ? knAlloc(allocator, (size_t)bodyCount) : NULL;
	if ((frame.bodies == NULL && bodyCount > 0) || (frame.active == NULL && marked) ||
		!KN_ARRAY_RESERVE(allocator, &trajectory->frames, trajectory->frames.count + 1)) {
		reader->status = KN_NO_MEMORY;
		freeFrame(trajectory, &frame);
		return false;
	}
	reader->damage = knKnt_GetFrame(reader->payload.items, bodyCount, &frame.time, &frame.step, frame.bodies,
									frame.active);
	if (reader->damage != NULL) {
		freeFrame(trajectory, &frame);
		return false;
	}
	trajectory->frames.items[trajectory->frames.count++] = frame;
	return true;
}

static bool endFrames(Reader* reader) {
	uint8_t extra;
	reader->ended = true;
	if (knKnt_GetEnd(reader->payload.items) != (uint64_t)reader->trajectory->frames.count) {
		reader->damage = "has another number of frames than its end mark says";
	} else if (readBytes(reader, &extra, 1) > 0) {
		reader->damage = "has bytes after its end mark";
	}
	return reader->damage == NULL && reader->status == KN_OK;
}

// With marks of active bodies, which came with version 3, or without.
static bool isFrameSize(const Reader* reader, uint64_t size, int bodyCount) {
	uint64_t plain = knKnt_FrameSize(bodyCount);
	return size == plain || (reader->version > 2 && size == plain + knKnt_MarksSize(bodyCount));
}

// What is wrong with a chunk's head, seen where it stands; NULL if nothing.
static const char* checkHead(const Reader* reader, const knKntChunk* chunk) {
	const knSceneSnapshot* cast = lastCast(reader->trajectory);
	if (chunk->reserved != 0) {
		return "has a damaged chunk";
	}
	switch (chunk->type) {
	case KN_KNT_CAST:
		return NULL;
	case KN_KNT_MESH:
		return reader->version > 1 ? NULL : "has a chunk of an unknown type";
	case KN_KNT_PICTURE:
	case KN_KNT_LOOK:
		return reader->version > 2 ? NULL : "has a chunk of an unknown type";
	case KN_KNT_FRAME:
		if (cast == NULL) {
			return "does not begin with its bodies";
		}
		return isFrameSize(reader, chunk->size, cast->bodyCount) ? NULL : "has a frame of a wrong size";
	case KN_KNT_END:
		return chunk->size == 8 && cast != NULL ? NULL : "has a damaged end mark";
	default:
		return "has a chunk of an unknown type";
	}
}

// Reads one chunk. False at the end, and at the first thing that is wrong.
static bool readChunk(Reader* reader) {
	uint8_t head[KN_KNT_CHUNK_SIZE];
	size_t got = readBytes(reader, head, sizeof(head));
	if (got < sizeof(head)) {
		reader->damage = got == 0 ? "has no end mark" : "is cut short";
		return false;
	}
	knKntChunk chunk = knKnt_GetChunk(head);
	reader->damage = checkHead(reader, &chunk);
	if (reader->damage != NULL || !readPayload(reader, chunk.size)) {
		return false;
	}
	size_t size = (size_t)reader->payload.count;
	if (knKnt_Checksum(head, reader->payload.items, size) != chunk.checksum) {
		reader->damage = "has a chunk whose checksum is wrong";
		return false;
	}
	switch (chunk.type) {
	case KN_KNT_CAST:
		return addCast(reader);
	case KN_KNT_MESH:
		return addMesh(reader);
	case KN_KNT_PICTURE:
		return addPicture(reader);
	case KN_KNT_LOOK:
		return addLook(reader);
	case KN_KNT_FRAME:
		return addFrame(reader);
	default:
		return endFrames(reader);
	}
}

// --- the file --------------------------------------------------------------------------------------------

static knStatus machineError(const Reader* reader, knError* error) {
	if (reader->status == KN_NO_MEMORY) {
		return knFileError(error, KN_NO_MEMORY, reader->path, "out of memory");
	}
	return knFileError(error, KN_IO, reader->path, "cannot read the file: %s", strerror(reader->reason));
}

static knStatus readHeader(Reader* reader, knError* error) {
	uint8_t header[KN_KNT_HEADER_SIZE];
	size_t got = readBytes(reader, header, sizeof(header));
	if (reader->status != KN_OK) {
		return machineError(reader, error);
	}
	const char* wrong = got < sizeof(header) ? "is not a .knt trajectory" : NULL;
	if (wrong == NULL) {
		wrong = knKnt_CheckHeader(header, &reader->version);
	}
	if (wrong != NULL) {
		return knFileError(error, KN_BAD_DATA, reader->path, "the file %s", wrong);
	}
	if (reader->version > KN_KNT_VERSION) {
		return knFileError(error, KN_UNSUPPORTED, reader->path,
						   "the file has version %" PRIu32
						   " of the format; only versions up to %d can be read",
						   reader->version, KN_KNT_VERSION);
	}
	return KN_OK;
}

static knStatus readFile(Reader* reader, knError* error) {
	knStatus status = readHeader(reader, error);
	if (status != KN_OK) {
		return status;
	}
	uint64_t sound = reader->offset;
	while (!reader->ended && readChunk(reader)) {
		sound = reader->offset;
	}
	if (reader->status != KN_OK) {
		return machineError(reader, error);
	}
	knTrajectory* trajectory = reader->trajectory;
	if (trajectory->casts.count == 0) {
		return knFileError(error, KN_BAD_DATA, reader->path, "the file %s before its bodies are known",
						   reader->damage);
	}
	for (int c = 0; c < trajectory->casts.count; ++c) {
		trajectory->casts.items[c]->meshes = trajectory->meshes.items.items;
		trajectory->casts.items[c]->looks = &trajectory->looks;
	}
	if (reader->damage != NULL) {
		trajectory->damaged = true;
		knFileError(&trajectory->damage, KN_BAD_DATA, reader->path,
					"the file %s; it is read up to byte %" PRIu64 ", %d frames", reader->damage, sound,
					trajectory->frames.count);
	}
	return KN_OK;
}

knTrajectory* knTrajectory_Open(const char* path, const knAllocator* allocator, knError* error) {
	KN_ASSERT(path != NULL);
	if (path == NULL) {
		knError_Set(error, KN_BAD_ARGUMENT, "knTrajectory_Open", "needs a path");
		return NULL;
	}
	knAllocator memory = allocator != NULL ? *allocator : knAllocator_Default();
	knTrajectory* trajectory = knAllocZero(&memory, sizeof(knTrajectory));
	if (trajectory == NULL) {
		knFileError(error, KN_NO_MEMORY, path, "out of memory");
		return NULL;
	}
	trajectory->allocator = memory;
	knMeshList_Init(&trajectory->meshes, &memory);
	knLookList_Init(&trajectory->looks, &memory);
	Reader reader = { .trajectory = trajectory, .path = path, .file = fopen(path, "rb") };
	if (reader.file == NULL) {
		knFileError(error, KN_IO, path, "cannot open the file: %s", strerror(errno));
		knTrajectory_Close(trajectory);
		return NULL;
	}
	knStatus status = readFile(&reader, error);
	fclose(reader.file);
	KN_ARRAY_FREE(&memory, &reader.payload);
	if (status != KN_OK) {
		knTrajectory_Close(trajectory);
		return NULL;
	}
	return trajectory;
}

void knTrajectory_Close(knTrajectory* trajectory) {
	if (trajectory == NULL) {
		return;
	}
	knAllocator allocator = trajectory->allocator;
	for (int f = 0; f < trajectory->frames.count; ++f) {
		freeFrame(trajectory, &trajectory->frames.items[f]);
	}
	for (int c = 0; c < trajectory->casts.count; ++c) {
		knSceneSnapshot_Free(trajectory->casts.items[c]);
		knFree(&allocator, trajectory->casts.items[c], sizeof(knSceneSnapshot));
	}
	KN_ARRAY_FREE(&allocator, &trajectory->frames);
	KN_ARRAY_FREE(&allocator, &trajectory->casts);
	knMeshList_Free(&trajectory->meshes);
	knLookList_Free(&trajectory->looks);
	knFree(&allocator, trajectory, sizeof(knTrajectory));
}

// --- what is in it ---------------------------------------------------------------------------------------

const char* knTrajectory_SceneName(const knTrajectory* trajectory) {
	return trajectory->casts.items[0]->scene;
}

const char* knTrajectory_StepperName(const knTrajectory* trajectory) {
	return trajectory->casts.items[0]->stepper;
}

int knTrajectory_FrameCount(const knTrajectory* trajectory) {
	return trajectory->frames.count;
}

// NULL for a frame that is not there: the caller's bug.
static const Frame* frameAt(const knTrajectory* trajectory, int frame) {
	bool inside = frame >= 0 && frame < trajectory->frames.count;
	KN_ASSERT(inside);
	return inside ? &trajectory->frames.items[frame] : NULL;
}

static const knSceneSnapshot* castAt(const knTrajectory* trajectory, int frame) {
	const Frame* found = frameAt(trajectory, frame);
	return found != NULL ? trajectory->casts.items[found->cast] : NULL;
}

int knTrajectory_BodyCount(const knTrajectory* trajectory, int frame) {
	const knSceneSnapshot* cast = castAt(trajectory, frame);
	return cast != NULL ? cast->bodyCount : 0;
}

double knTrajectory_Time(const knTrajectory* trajectory, int frame) {
	const Frame* found = frameAt(trajectory, frame);
	return found != NULL ? found->time : 0.0;
}

const knBodyState* knTrajectory_Bodies(const knTrajectory* trajectory, int frame) {
	const Frame* found = frameAt(trajectory, frame);
	return found != NULL ? found->bodies : NULL;
}

const uint8_t* knTrajectory_Active(const knTrajectory* trajectory, int frame) {
	const Frame* found = frameAt(trajectory, frame);
	return found != NULL ? found->active : NULL;
}

knTrajectoryBody knTrajectory_Body(const knTrajectory* trajectory, int frame, int body) {
	const knSceneSnapshot* cast = castAt(trajectory, frame);
	bool inside = cast != NULL && body >= 0 && body < cast->bodyCount;
	KN_ASSERT(inside);
	knTrajectoryBody none = { .name = "" };
	return inside ? cast->bodies[body] : none;
}

knTrajectoryShape knTrajectory_Shape(const knTrajectory* trajectory, int frame, int shape) {
	const knSceneSnapshot* cast = castAt(trajectory, frame);
	bool inside = cast != NULL && shape >= 0 && shape < cast->shapeCount;
	KN_ASSERT(inside);
	knTrajectoryShape none = { .name = "", .frame = knIdentityF(), .mesh = -1, .look = -1 };
	return inside ? cast->shapes[shape] : none;
}

int knTrajectory_MeshCount(const knTrajectory* trajectory) {
	return trajectory->meshes.items.count;
}

knTrajectoryMesh knTrajectory_Mesh(const knTrajectory* trajectory, int mesh) {
	bool inside = mesh >= 0 && mesh < trajectory->meshes.items.count;
	KN_ASSERT(inside);
	knTrajectoryMesh none = { 0 };
	return inside ? trajectory->meshes.items.items[mesh] : none;
}

bool knTrajectory_Damaged(const knTrajectory* trajectory, knError* why) {
	if (trajectory->damaged && why != NULL) {
		*why = trajectory->damage;
	}
	return trajectory->damaged;
}

knCastFrame knTrajectory_CastFrame(const knTrajectory* trajectory, int frame) {
	KN_ASSERT(frame >= 0 && frame < trajectory->frames.count);
	const Frame* at = &trajectory->frames.items[frame];
	knCastFrame shown = {
		.cast = trajectory->casts.items[at->cast],
		.castIndex = at->cast,
		.time = at->time,
		.step = at->step,
		.bodies = at->bodies,
		.active = at->active,
	};
	return shown;
}

knStatus knTrajectory_Write(const knTrajectory* trajectory, const char* path, knError* error) {
	KN_ASSERT(trajectory != NULL && path != NULL);
	if (trajectory == NULL || path == NULL) {
		return knError_Set(error, KN_BAD_ARGUMENT, "knTrajectory_Write", "needs a trajectory and a path");
	}
	knError local;
	knError* why = error != NULL ? error : &local;
	const knWriterOps* ops = knWriterOps_ForPath(path, why);
	if (ops == NULL) {
		return why->status;
	}
	void* writer = ops->open(path, KN_OUTPUT_STAGED, trajectory->casts.items[0], &trajectory->allocator, why);
	if (writer == NULL) {
		return why->status;
	}
	for (int f = 0; f < trajectory->frames.count; ++f) {
		knCastFrame shown = knTrajectory_CastFrame(trajectory, f);
		knStatus status = ops->write(writer, &shown, why);
		if (status != KN_OK) {
			ops->abandon(writer);
			return status;
		}
	}
	return ops->close(writer, why);
}
