// .glb recordings: glTF 2.0 animations. All poses are gathered in memory, 20 bytes per body and frame, because what a
// .glb says first depends on all that comes after; the file is staged, written at the end, and never half there.
//
// A body keeps its node as long as each new cast has one of the same name, colour and shapes; otherwise the old node
// vanishes and a new one appears.
#include "core/hash.h"
#include "record/glb_scene.h"

#define LARGEST 1e30 // m; beyond, the 32-bit numbers of glTF end

typedef struct Glb {
	knAllocator allocator;
	knOutput output;
	knGlbScene scene;
	knTable trackOf; // identity of a body -> the last track that had it
	int castIndex;   // of the last cast followed; -1: none
	double start;    // s, of the first frame
	knStatus failed; // KN_OK until a frame could not be taken
} Glb;

static void freeGlb(Glb* glb) {
	knAllocator allocator = glb->allocator;
	knGlbScene_Free(&glb->scene);
	knTable_Free(&glb->trackOf);
	knFree(&allocator, glb, sizeof(Glb));
}

// --- names and colours -----------------------------------------------------------------------------------

// Length of the UTF-8 sequence at `text`; 0 if there is none.
static int sequenceLength(const unsigned char* text) {
	unsigned char c = text[0];
	int length =
		c < 0x80
			? 1
			: (c >= 0xc2 && c < 0xe0 ? 2 : (c >= 0xe0 && c < 0xf0 ? 3 : (c >= 0xf0 && c < 0xf5 ? 4 : 0)));
	for (int k = 1; k < length; ++k) {
		if ((text[k] & 0xc0) != 0x80) {
			return 0;
		}
	}
	// overlong forms, surrogates, and what lies beyond Unicode
	bool wrong = (c == 0xe0 && text[1] < 0xa0) || (c == 0xed && text[1] >= 0xa0) ||
				 (c == 0xf0 && text[1] < 0x90) || (c == 0xf4 && text[1] >= 0x90);
	return wrong ? 0 : length;
}

// A copy that JSON may hold: bytes that are no UTF-8 become question marks.
static char* copyName(const knAllocator* allocator, const char* name) {
	char* copy = knCopyString(allocator, name);
	for (unsigned char* at = (unsigned char*)copy; at != NULL && *at != '\0';) {
		int length = sequenceLength(at);
		if (length == 0) {
			*at = '?';
		}
		at += length > 0 ? length : 1;
	}
	return copy;
}

// For bodies and shapes that do not ask for a colour.
static const uint32_t PALETTE[] = { 0x4e79a7, 0xf28e2b, 0x59a14f, 0xe15759,
									0x76b7b2, 0xedc948, 0xb07aa1, 0x9c755f };
#define PALETTE_COUNT ((int)(sizeof(PALETTE) / sizeof(PALETTE[0])))
#define STILL_COLOR 0x9aa0a6u // of the world and of fixed bodies

static uint32_t colorOf(const knSceneSnapshot* cast, int body, const knTrajectoryShape* shape) {
	if (shape->color != 0 || body == KN_GLB_WORLD) {
		return shape->color != 0 ? shape->color : STILL_COLOR;
	}
	if (cast->bodies[body].color != 0) {
		return cast->bodies[body].color;
	}
	return cast->bodies[body].kind == KN_BODY_FIXED ? STILL_COLOR : PALETTE[body % PALETTE_COUNT];
}

// --- casts -----------------------------------------------------------------------------------------------

// Shapes of a body, or of the world.
static const knTrajectoryShape* shapesOf(const knSceneSnapshot* cast, int body, int* count) {
	if (body == KN_GLB_WORLD) {
		*count = cast->bodyCount > 0 ? cast->bodies[0].firstShape : cast->shapeCount;
		return cast->shapes;
	}
	*count = cast->bodies[body].shapeCount;
	return cast->shapes + cast->bodies[body].firstShape;
}

static uint64_t hashText(uint64_t seed, const char* text) {
	return knHash_Bytes(seed, text, strlen(text));
}

// What must stay the same for a body to be the same one.
static uint64_t identityOf(const knSceneSnapshot* cast, int body) {
	int count;
	const knTrajectoryShape* shapes = shapesOf(cast, body, &count);
	uint64_t hash = knHash_Word(body == KN_GLB_WORLD);
	if (body != KN_GLB_WORLD) {
		const uint32_t words[2] = { (uint32_t)cast->bodies[body].kind, cast->bodies[body].color };
		hash = hashText(knHash_Bytes(hash, words, sizeof(words)), cast->bodies[body].name);
	}
	for (int s = 0; s < count; ++s) {
		const knTrajectoryShape* shape = &shapes[s];
		const uint32_t words[] = { (uint32_t)shape->kind, (uint32_t)shape->mesh, shape->color,
								   (uint32_t)shape->look };
		hash = knHash_Bytes(hash, words, sizeof(words));
		hash = knHash_Bytes(hash, &shape->size, sizeof(shape->size));
		hash = hashText(knHash_Bytes(hash, &shape->frame, sizeof(shape->frame)), shape->name);
	}
	return hash;
}

static bool isInRange(knVec3 v) {
	knVec3 size = knAbs3(v);
	return size.x < LARGEST && size.y < LARGEST && size.z < LARGEST;
}

static knStatus makePart(Glb* glb, const knSceneSnapshot* cast, int body, const knTrajectoryShape* shape,
						 knGlbPart* part) {
	if (!isInRange(shape->size) || !isInRange(shape->frame.p)) {
		return KN_UNSUPPORTED;
	}
	part->frame = shape->frame;
	part->name =
		copyName(&glb->allocator, shape->name[0] != '\0' ? shape->name : knGeomKind_Name(shape->kind));
	if (part->name == NULL) {
		return KN_NO_MEMORY;
	}
	return knGlbLibrary_Draw(&glb->scene.library, &glb->scene.data, cast, shape, colorOf(cast, body, shape),
							 &part->drawn);
}

static knStatus fillTrack(Glb* glb, const knSceneSnapshot* cast, int body, knGlbTrack* track) {
	const char* name = body == KN_GLB_WORLD ? "world" : cast->bodies[body].name;
	int count;
	const knTrajectoryShape* shapes = shapesOf(cast, body, &count);
	track->name = copyName(&glb->allocator, name);
	track->parts = knAllocZero(&glb->allocator, sizeof(knGlbPart) * (size_t)count);
	if (track->name == NULL || (track->parts == NULL && count > 0)) {
		return KN_NO_MEMORY;
	}
	track->partCount = count;
	knStatus status = KN_OK;
	for (int s = 0; s < count && status == KN_OK; ++s) {
		knGlbPart* part = &track->parts[s];
		status = makePart(glb, cast, body, &shapes[s], part);
		if (knIsFinite(part->drawn.radius)) {
			track->radius = knMax(track->radius, knLength(part->frame.p) + part->drawn.radius);
		}
	}
	return status;
}

static knStatus addTrack(Glb* glb, const knSceneSnapshot* cast, int body) {
	knGlbTrack track = { .body = body, .firstFrame = glb->scene.times.count };
	knStatus status = fillTrack(glb, cast, body, &track);
	if (status == KN_OK && !KN_ARRAY_PUSH(&glb->allocator, &glb->scene.tracks, track)) {
		status = KN_NO_MEMORY;
	}
	if (status != KN_OK) {
		knGlbTrack_Free(&track, &glb->allocator);
	}
	return status;
}

// Gives a body its track: the one it had, or a new one. Bodies that cannot be told apart keep their order:
// `copies` counts them.
static knStatus followBody(Glb* glb, const knSceneSnapshot* cast, int body, knTable* copies) {
	uint64_t identity = identityOf(cast, body);
	int copy = knTable_Get(copies, identity) + 1;
	if (!knTable_Set(copies, identity, copy)) {
		return KN_NO_MEMORY;
	}
	identity = knHash_Bytes(identity, &copy, sizeof(copy));
	int index = knTable_Get(&glb->trackOf, identity);
	if (index >= 0) {
		knGlbTrack* track = &glb->scene.tracks.items[index];
		if (track->firstFrame + track->frameCount == glb->scene.times.count) {
			track->body = body;
			return KN_OK;
		}
	}
	index = glb->scene.tracks.count;
	knStatus status = addTrack(glb, cast, body);
	return status == KN_OK && !knTable_Set(&glb->trackOf, identity, index) ? KN_NO_MEMORY : status;
}

static knStatus followCast(Glb* glb, const knSceneSnapshot* cast) {
	for (int t = 0; t < glb->scene.tracks.count; ++t) {
		glb->scene.tracks.items[t].body = KN_GLB_GONE;
	}
	knTable copies;
	knTable_Init(&copies, &glb->allocator);
	int worldShapes;
	shapesOf(cast, KN_GLB_WORLD, &worldShapes);
	knStatus status = KN_OK;
	for (int body = worldShapes > 0 ? KN_GLB_WORLD : 0; body < cast->bodyCount && status == KN_OK; ++body) {
		status = followBody(glb, cast, body, &copies);
	}
	knTable_Free(&copies);
	return status;
}

// --- frames ----------------------------------------------------------------------------------------------

// All or nothing: first room for every track, then the poses.
static knStatus addFrame(Glb* glb, const knCastFrame* frame) {
	knGlbScene* scene = &glb->scene;
	bool room = KN_ARRAY_RESERVE(&glb->allocator, &scene->times, scene->times.count + 1);
	for (int t = 0; t < scene->tracks.count && room; ++t) {
		knGlbTrack* track = &scene->tracks.items[t];
		if (track->body >= 0) {
			room = KN_ARRAY_RESERVE(&glb->allocator, &track->poses, track->poses.count + 1);
			if (!isInRange(frame->bodies[track->body].position)) {
				return KN_UNSUPPORTED;
			}
		}
	}
	if (!room) {
		return KN_NO_MEMORY;
	}
	for (int t = 0; t < scene->tracks.count; ++t) {
		knGlbTrack* track = &scene->tracks.items[t];
		track->frameCount += track->body != KN_GLB_GONE;
		if (track->body >= 0) {
			const knBodyState* state = &frame->bodies[track->body];
			int count = track->poses.count;
			const knGlbPose* before = count > 0 ? &track->poses.items[count - 1] : NULL;
			track->poses.items[track->poses.count++] =
				knGlbPose_Make(state->position, state->rotation, before);
			scene->bounds.lower = knMin3(scene->bounds.lower, state->position);
			scene->bounds.upper = knMax3(scene->bounds.upper, state->position);
		}
	}
	scene->times.items[scene->times.count++] = (float)(frame->time - glb->start);
	return KN_OK;
}

static knStatus sayWhy(const Glb* glb, knStatus status, knError* error) {
	return status == KN_UNSUPPORTED
			   ? knFileError(error, status, glb->output.path,
							 "something is larger or farther away than a .glb can say (%g m)", LARGEST)
			   : knFileError(error, status, glb->output.path, "out of memory");
}

// A frame that is not later than the last one, as 32-bit times tell, is left out: times must increase.
static knStatus glbWrite(void* self, const knCastFrame* frame, knError* error) {
	Glb* glb = self;
	const knGlbScene* scene = &glb->scene;
	bool first = scene->times.count == 0;
	glb->start = first ? frame->time : glb->start;
	float time = (float)(frame->time - glb->start);
	if (glb->failed != KN_OK) {
		return sayWhy(glb, glb->failed, error);
	}
	if (!first && !(time > scene->times.items[scene->times.count - 1])) {
		return KN_OK;
	}
	if (frame->castIndex != glb->castIndex) {
		glb->failed = followCast(glb, frame->cast);
		glb->castIndex = frame->castIndex;
	}
	if (glb->failed == KN_OK) {
		glb->failed = addFrame(glb, frame);
	}
	return glb->failed == KN_OK ? KN_OK : sayWhy(glb, glb->failed, error);
}

// --- life ------------------------------------------------------------------------------------------------

static void* glbOpen(const char* path, knOutputMode mode, const knSceneSnapshot* cast,
					 const knAllocator* allocator, knError* error) {
	Glb* glb = knAllocZero(allocator, sizeof(Glb));
	if (glb == NULL) {
		knFileError(error, KN_NO_MEMORY, path, "out of memory");
		return NULL;
	}
	glb->allocator = *allocator;
	glb->castIndex = -1;
	knGlbScene_Init(&glb->scene, allocator);
	knTable_Init(&glb->trackOf, allocator);
	glb->scene.name = copyName(allocator, cast->scene[0] != '\0' ? cast->scene : "scene");
	if (glb->scene.name == NULL) {
		knFileError(error, KN_NO_MEMORY, path, "out of memory");
		freeGlb(glb);
		return NULL;
	}
	if (knOutput_Open(&glb->output, path, mode, allocator, error) != KN_OK) {
		freeGlb(glb);
		return NULL;
	}
	return glb;
}

static knStatus glbClose(void* self, knError* error) {
	Glb* glb = self;
	knStatus status = glb->failed != KN_OK ? sayWhy(glb, glb->failed, error)
										   : knGlbScene_Write(&glb->scene, &glb->output, error);
	if (status == KN_OK) {
		status = knOutput_Finish(&glb->output, error);
	} else {
		knOutput_Abandon(&glb->output);
	}
	freeGlb(glb);
	return status;
}

static void glbAbandon(void* self) {
	Glb* glb = self;
	knOutput_Abandon(&glb->output);
	freeGlb(glb);
}

const knWriterOps knGlbWriter = { ".glb", KN_OUTPUT_STAGED, glbOpen, glbWrite, glbClose, glbAbandon };
