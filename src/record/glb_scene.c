// Nodes and animation of a .glb.
//
//   root     turns z up into y up; its children are the tracks
//   track    a node with the body's pose; drawn itself if it is one shape in the body's own frame, else through a
//            child for each shape
//
// A track that does not move has no channels. One that appears late or vanishes is scaled to nothing outside its time,
// stepwise. Key times are shared: accessors of times with the same bytes are one.
#include "record/glb_scene.h"

#include "core/hash.h"

#define ROTATION_TOLERANCE 1e-4 // rad
#define SCENE_TOLERANCE 1e-5    // of the scene's size
#define BODY_TOLERANCE 1e-3     // of the body's own radius; whichever is less

typedef enum Path { PATH_TRANSLATION, PATH_ROTATION, PATH_SCALE } Path;

static const struct PathInfo {
	const char* name;
	knGlbView view;
	knGlbType type;
	int size; // bytes of a value
} paths[] = {
	[PATH_TRANSLATION] = { "translation", KN_GLB_TRANSLATIONS, KN_GLB_VECTOR, 12 },
	[PATH_ROTATION] = { "rotation", KN_GLB_ROTATIONS, KN_GLB_QUATERNION16, 8 },
	[PATH_SCALE] = { "scale", KN_GLB_SCALES, KN_GLB_VECTOR, 12 },
};

// A channel and its sampler: they have the same index.
typedef struct Channel {
	int node;
	Path path;
	int input, output; // accessors
} Channel;

typedef struct Animation {
	KN_ARRAY(Channel) channels;
	knTable times; // hash of key times -> accessor
	int* keys;     // [frames] scratch
	float* chosen; // [frames] scratch: times of the keys
} Animation;

void knGlbScene_Init(knGlbScene* scene, const knAllocator* allocator) {
	*scene = (knGlbScene){ .allocator = *allocator };
	scene->data.allocator = *allocator;
	scene->bounds.lower = knV3(INFINITY, INFINITY, INFINITY);
	scene->bounds.upper = knNeg(scene->bounds.lower);
	knGlbLibrary_Init(&scene->library, allocator);
}

void knGlbTrack_Free(knGlbTrack* track, const knAllocator* allocator) {
	for (int p = 0; p < track->partCount; ++p) {
		knFreeString(allocator, track->parts[p].name);
	}
	knFree(allocator, track->parts, sizeof(knGlbPart) * (size_t)track->partCount);
	knFreeString(allocator, track->name);
	KN_ARRAY_FREE(allocator, &track->poses);
}

void knGlbScene_Free(knGlbScene* scene) {
	for (int t = 0; t < scene->tracks.count; ++t) {
		knGlbTrack_Free(&scene->tracks.items[t], &scene->allocator);
	}
	KN_ARRAY_FREE(&scene->allocator, &scene->tracks);
	KN_ARRAY_FREE(&scene->allocator, &scene->times);
	knFreeString(&scene->allocator, scene->name);
	knGlbData_Free(&scene->data);
	knGlbLibrary_Free(&scene->library);
}

// --- nodes -----------------------------------------------------------------------------------------------

static bool isIdentity(knFrame frame) {
	return knLengthSquared(frame.p) == 0.0 && knLengthSquared(knVecPart(frame.q)) == 0.0;
}

// Drawn by the track's own node.
static bool isDirect(const knGlbTrack* track) {
	return track->partCount == 1 && isIdentity(track->parts[0].frame);
}

static int nodeCountOf(const knGlbTrack* track) {
	return 1 + (isDirect(track) ? 0 : track->partCount);
}

static knVec3 scaleOf(const knGlbTrack* track) {
	return isDirect(track) ? track->parts[0].drawn.scale : knV3(1.0, 1.0, 1.0);
}

static void writeVec3(knJson* json, const char* key, knVec3 v, double unless) {
	if (v.x == unless && v.y == unless && v.z == unless) {
		return;
	}
	knJson_BeginArray(json, key);
	knJson_Number(json, NULL, v.x);
	knJson_Number(json, NULL, v.y);
	knJson_Number(json, NULL, v.z);
	knJson_EndArray(json);
}

static void writePlace(knJson* json, knFrame frame, knVec3 scale) {
	writeVec3(json, "translation", frame.p, 0.0);
	if (knLengthSquared(knVecPart(frame.q)) > 0.0) {
		knQuat q = knNormalizeQ(frame.q);
		knJson_BeginArray(json, "rotation");
		knJson_Number(json, NULL, q.x);
		knJson_Number(json, NULL, q.y);
		knJson_Number(json, NULL, q.z);
		knJson_Number(json, NULL, q.w);
		knJson_EndArray(json);
	}
	writeVec3(json, "scale", scale, 1.0);
}

static void writeMeshOf(knJson* json, const knGlbPart* part) {
	if (part->drawn.mesh >= 0) {
		knJson_Integer(json, "mesh", part->drawn.mesh);
	}
}

static knFrame firstPose(const knGlbTrack* track) {
	if (track->poses.count == 0) {
		return knIdentityF();
	}
	const knGlbPose* pose = &track->poses.items[0];
	return knMakeFrame(knV3((double)pose->position[0], (double)pose->position[1], (double)pose->position[2]),
					   knGlbPose_Rotation(pose));
}

// The track's node has this index, its children the next ones.
static void writeTrackNodes(knJson* json, const knGlbTrack* track, int index) {
	bool direct = isDirect(track);
	knJson_BeginObject(json, NULL);
	knJson_String(json, "name", track->name);
	writePlace(json, firstPose(track), track->firstFrame > 0 ? knZero3() : scaleOf(track));
	if (direct) {
		writeMeshOf(json, &track->parts[0]);
	} else if (track->partCount > 0) {
		knJson_BeginArray(json, "children");
		for (int p = 0; p < track->partCount; ++p) {
			knJson_Integer(json, NULL, index + 1 + p);
		}
		knJson_EndArray(json);
	}
	knJson_EndObject(json);
	for (int p = 0; p < track->partCount && !direct; ++p) {
		const knGlbPart* part = &track->parts[p];
		knJson_BeginObject(json, NULL);
		knJson_String(json, "name", part->name);
		writePlace(json, part->frame, part->drawn.scale);
		writeMeshOf(json, part);
		knJson_EndObject(json);
	}
}

static void writeNodes(const knGlbScene* scene, knJson* json) {
	knJson_BeginArray(json, "nodes");
	// z up becomes y up: a quarter turn about x
	knFrame upright = { knZero3(), knQ(sqrt(0.5), -sqrt(0.5), 0.0, 0.0) };
	knJson_BeginObject(json, NULL);
	knJson_String(json, "name", scene->name);
	writePlace(json, upright, knV3(1.0, 1.0, 1.0));
	int next = 1;
	for (int t = 0; t < scene->tracks.count; ++t) {
		if (t == 0) {
			knJson_BeginArray(json, "children");
		}
		knJson_Integer(json, NULL, next);
		next += nodeCountOf(&scene->tracks.items[t]);
	}
	if (scene->tracks.count > 0) {
		knJson_EndArray(json);
	}
	knJson_EndObject(json);
	next = 1;
	for (int t = 0; t < scene->tracks.count; ++t) {
		writeTrackNodes(json, &scene->tracks.items[t], next);
		next += nodeCountOf(&scene->tracks.items[t]);
	}
	knJson_EndArray(json);
}

// --- channels --------------------------------------------------------------------------------------------

// An accessor of the first `count` chosen times; -1 when out of memory.
static int timesAccessor(knGlbScene* scene, Animation* animation, int count) {
	size_t size = sizeof(float) * (size_t)count;
	uint64_t hash = knHash_Bytes(KN_HASH_SEED, animation->chosen, size);
	int index = knTable_Get(&animation->times, hash);
	if (index >= 0 && scene->data.accessors.items[index].count == count) {
		return index;
	}
	uint8_t* at;
	index = knGlbData_Add(&scene->data, KN_GLB_TIMES, KN_GLB_FLOAT, count, &at);
	if (index < 0 || !knTable_Set(&animation->times, hash, index)) {
		return -1;
	}
	for (int k = 0; k < count; ++k) {
		knPutFloat(at + 4 * (size_t)k, animation->chosen[k]);
	}
	knGlbData_Bound(&scene->data, index);
	return index;
}

// A channel with `count` values at the chosen times; where the values go, or NULL when out of memory.
static uint8_t* addChannel(knGlbScene* scene, Animation* animation, int node, Path path, int count) {
	uint8_t* values = NULL;
	Channel channel = { .node = node, .path = path };
	channel.input = timesAccessor(scene, animation, count);
	if (channel.input < 0) {
		return NULL;
	}
	channel.output = knGlbData_Add(&scene->data, paths[path].view, paths[path].type, count, &values);
	if (channel.output < 0 || !KN_ARRAY_PUSH(&scene->allocator, &animation->channels, channel)) {
		return NULL;
	}
	return values;
}

static void putVec3(uint8_t* at, knVec3 v) {
	knPutFloat(at, (float)v.x);
	knPutFloat(at + 4, (float)v.y);
	knPutFloat(at + 8, (float)v.z);
}

static void putPose(uint8_t* at, const knGlbPose* pose, Path path) {
	if (path == PATH_TRANSLATION) {
		for (int c = 0; c < 3; ++c) {
			knPutFloat(at + 4 * c, pose->position[c]);
		}
	} else {
		for (int c = 0; c < 4; ++c) {
			knPut16(at + 2 * c, (uint16_t)pose->rotation[c]);
		}
	}
}

// Positions or rotations of a track, if it moves. Few keys need times of their own; where that does not pay, all
// poses are kept, at times that other tracks have, too.
static bool animatePoses(knGlbScene* scene, Animation* animation, const knGlbTrack* track, int node,
						 Path path, double tolerance) {
	const float* times = scene->times.items + track->firstFrame;
	knGlbCurve curve = { track->poses.count, track->poses.items, times };
	int count = path == PATH_TRANSLATION ? knGlbCurve_PositionKeys(&curve, tolerance, animation->keys)
										 : knGlbCurve_RotationKeys(&curve, tolerance, animation->keys);
	if (count == 0) {
		return true;
	}
	int64_t size = paths[path].size;
	bool all = count * (size + (int64_t)sizeof(float)) >= curve.count * size;
	count = all ? curve.count : count;
	for (int k = 0; k < count; ++k) {
		animation->keys[k] = all ? k : animation->keys[k];
		animation->chosen[k] = times[animation->keys[k]];
	}
	uint8_t* values = addChannel(scene, animation, node, path, count);
	for (int k = 0; k < count && values != NULL; ++k) {
		putPose(values + k * size, &track->poses.items[animation->keys[k]], path);
	}
	return values != NULL;
}

// Of a track that is not there all the time.
static bool animatePresence(knGlbScene* scene, Animation* animation, const knGlbTrack* track, int node) {
	int end = track->firstFrame + track->frameCount;
	int frames[3] = { 0 }, count = 0;
	bool there[3] = { false };
	if (track->firstFrame > 0) {
		count = 1;
	}
	frames[count] = track->firstFrame;
	there[count++] = true;
	if (end < scene->times.count) {
		frames[count++] = end;
	}
	if (count == 1) {
		return true;
	}
	for (int k = 0; k < count; ++k) {
		animation->chosen[k] = scene->times.items[frames[k]];
	}
	uint8_t* at = addChannel(scene, animation, node, PATH_SCALE, count);
	for (int k = 0; k < count && at != NULL; ++k) {
		putVec3(at + 12 * (size_t)k, there[k] ? scaleOf(track) : knZero3());
	}
	return at != NULL;
}

// How far its bodies are apart, or the largest of them.
static double sizeOf(const knGlbScene* scene) {
	double size = 0.0;
	for (int t = 0; t < scene->tracks.count; ++t) {
		size = knMax(size, scene->tracks.items[t].radius);
	}
	bool empty = scene->bounds.lower.x > scene->bounds.upper.x;
	return empty ? size : knMax(size, knDistance(scene->bounds.upper, scene->bounds.lower));
}

static bool animateTracks(knGlbScene* scene, Animation* animation) {
	double tolerance = SCENE_TOLERANCE * sizeOf(scene);
	int node = 1;
	bool ok = true;
	for (int t = 0; t < scene->tracks.count && ok; ++t) {
		knGlbTrack* track = &scene->tracks.items[t];
		if (track->poses.count > 0) {
			double own = track->radius > 0.0 ? BODY_TOLERANCE * track->radius : tolerance;
			ok = animatePoses(scene, animation, track, node, PATH_TRANSLATION, knMin(own, tolerance)) &&
				 animatePoses(scene, animation, track, node, PATH_ROTATION, ROTATION_TOLERANCE);
			// the first pose is still needed
			knGlbPose first = track->poses.items[0];
			KN_ARRAY_FREE(&scene->allocator, &track->poses);
			ok = KN_ARRAY_PUSH(&scene->allocator, &track->poses, first) && ok;
		}
		ok = ok && animatePresence(scene, animation, track, node);
		node += nodeCountOf(track);
	}
	return ok;
}

static void writeAnimation(const knGlbScene* scene, const Animation* animation, knJson* json) {
	if (animation->channels.count == 0) {
		return;
	}
	knJson_BeginArray(json, "animations");
	knJson_BeginObject(json, NULL);
	knJson_String(json, "name", scene->name);
	knJson_BeginArray(json, "channels");
	for (int c = 0; c < animation->channels.count; ++c) {
		const Channel* channel = &animation->channels.items[c];
		knJson_BeginObject(json, NULL);
		knJson_Integer(json, "sampler", c);
		knJson_BeginObject(json, "target");
		knJson_Integer(json, "node", channel->node);
		knJson_String(json, "path", paths[channel->path].name);
		knJson_EndObject(json);
		knJson_EndObject(json);
	}
	knJson_EndArray(json);
	knJson_BeginArray(json, "samplers");
	for (int c = 0; c < animation->channels.count; ++c) {
		const Channel* channel = &animation->channels.items[c];
		knJson_BeginObject(json, NULL);
		knJson_Integer(json, "input", channel->input);
		knJson_Integer(json, "output", channel->output);
		if (channel->path == PATH_SCALE) {
			knJson_String(json, "interpolation", "STEP");
		}
		knJson_EndObject(json);
	}
	knJson_EndArray(json);
	knJson_EndObject(json);
	knJson_EndArray(json);
}

// --- the whole -------------------------------------------------------------------------------------------

static void writeHead(knJson* json) {
	knJson_BeginObject(json, "asset");
	knJson_String(json, "version", "2.0");
	knJson_String(json, "generator", "Knuckle " KN_VERSION_STRING);
	knJson_EndObject(json);
	knJson_Integer(json, "scene", 0);
	knJson_BeginArray(json, "scenes");
	knJson_BeginObject(json, NULL);
	knJson_BeginArray(json, "nodes");
	knJson_Integer(json, NULL, 0);
	knJson_EndArray(json);
	knJson_EndObject(json);
	knJson_EndArray(json);
}

static knStatus writeFile(const knGlbScene* scene, const Animation* animation, knOutput* output,
						  knError* error) {
	knJson json;
	knJson_Init(&json, &scene->allocator);
	knJson_BeginObject(&json, NULL);
	writeHead(&json);
	writeNodes(scene, &json);
	knGlbLibrary_WriteJson(&scene->library, &scene->data, &json);
	writeAnimation(scene, animation, &json);
	knGlbData_WriteJson(&scene->data, &json);
	knJson_EndObject(&json);
	knStatus status = json.failed ? knFileError(error, KN_NO_MEMORY, output->path, "out of memory")
								  : knGlbData_WriteFile(&scene->data, &json, output, error);
	knJson_Free(&json);
	return status;
}

knStatus knGlbScene_Write(knGlbScene* scene, knOutput* output, knError* error) {
	// three keys of a presence are possible with two frames
	size_t room = (size_t)scene->times.count + 3;
	Animation animation = {
		.keys = knAllocArray(&scene->allocator, room, sizeof(int)),
		.chosen = knAllocArray(&scene->allocator, room, sizeof(float)),
	};
	knTable_Init(&animation.times, &scene->allocator);
	bool made = animation.keys != NULL && animation.chosen != NULL && animateTracks(scene, &animation) &&
				knGlbLibrary_AddPictures(&scene->library, &scene->data) == KN_OK;
	knStatus status = made ? writeFile(scene, &animation, output, error)
						   : knFileError(error, KN_NO_MEMORY, output->path, "out of memory");
	KN_ARRAY_FREE(&scene->allocator, &animation.channels);
	knTable_Free(&animation.times);
	knFree(&scene->allocator, animation.keys, room * sizeof(int));
	knFree(&scene->allocator, animation.chosen, room * sizeof(float));
	return status;
}
