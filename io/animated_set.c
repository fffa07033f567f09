// A set from a glTF file: what stands still becomes fixed bodies, what the file's first animation moves kinematic ones.
//
// A node's transformation is the product of those on the way from the root, M x + p, with M = rotation times scale. A body is an
// animated node with all meshes below it, up to the next animated node: its frame is p and the rotation in M (Gram-Schmidt on
// M's columns), and what else there is in M, scale and shear, goes into the vertices as it is at the start. Meshes with no
// animated node above them are fixed bodies of their own. y points up in the file, z in the scene.
//
// A kinematic body moves by its velocity. Before each step it is given the one that takes it from where it is to where the
// animation has it at the step's end, so that errors of single steps do not add up.
#include "set_file.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "knuckle/world.h"
#include "mesh_file.h"

bool knSetReader_Fail(knSetReader* reader, knStatus status, const char* format, ...) {
	char message[400];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(message, sizeof message, format, arguments);
	va_end(arguments);
	knError_Set(&reader->error, status, NULL, "%s", message);
	snprintf(reader->error.file, sizeof reader->error.file, "%s", reader->name);
	return false;
}

bool knSetReader_NoMemory(knSetReader* reader) {
	return knSetReader_Fail(reader, KN_NO_MEMORY, "out of memory");
}

static bool note(knSetReader* reader, knLoadSeverity severity, const char* text) {
	return knImportReport_Add(&reader->report, severity, 0, 0, text) || knSetReader_NoMemory(reader);
}

// --- poses at a time -------------------------------------------------------------------------------------------

typedef struct Affine {
	knMat33 M;
	knVec3 p;
} Affine;

// The key before `time` and how far it is to the next one; -1: the track has no keys.
static int keyAt(const struct knSetMotion* motion, knSetTrack track, double time, double* share) {
	const knSetKey* keys = &motion->keys.items[track.first];
	int low = 0, high = track.count - 1;
	*share = 0.0;
	if (track.count == 0 || time <= keys[0].time) {
		return track.count == 0 ? -1 : 0;
	}
	while (high - low > 1) {
		const int middle = (low + high) / 2;
		*(keys[middle].time <= time ? &low : &high) = middle;
	}
	if (time >= keys[high].time) {
		return high;
	}
	*share = (time - keys[low].time) / (keys[high].time - keys[low].time);
	return low;
}

static knVec3 vectorAt(const struct knSetMotion* motion, knSetTrack track, double time, knVec3 usual) {
	double share;
	const int at = keyAt(motion, track, time, &share);
	if (at < 0) {
		return usual;
	}
	const double* a = motion->keys.items[track.first + at].value;
	const double* b = share > 0.0 ? motion->keys.items[track.first + at + 1].value : a;
	return knLerp(knV3(a[0], a[1], a[2]), knV3(b[0], b[1], b[2]), share);
}

static knQuat rotationAt(const struct knSetMotion* motion, knSetTrack track, double time, knQuat usual) {
	double share;
	const int at = keyAt(motion, track, time, &share);
	if (at < 0) {
		return usual;
	}
	const double* a = motion->keys.items[track.first + at].value;
	const knQuat q = knNormalizeQ(knQ(a[0], a[1], a[2], a[3]));
	if (share == 0.0) {
		return q;
	}
	const double* b = motion->keys.items[track.first + at + 1].value;
	const knQuat way = knMulQ(knConj(q), knNormalizeQ(knQ(b[0], b[1], b[2], b[3])));
	return knMulQ(q, knQuat_Exp(knScale(share, knQuat_Log(way))));
}

static Affine localAt(const struct knSetMotion* motion, const knSetNode* node, double time) {
	const knVec3 s = vectorAt(motion, node->scales, time, node->scale);
	const knMat33 R = knQuat_ToMat33(rotationAt(motion, node->rotations, time, node->rotation));
	return (Affine){ knMakeMat33(knScale(s.x, R.cx), knScale(s.y, R.cy), knScale(s.z, R.cz)),
					 vectorAt(motion, node->positions, time, node->position) };
}

// In the scene: from the node up to the root, then the file's y upwards.
static Affine placeAt(const struct knSetMotion* motion, int index, double time) {
	Affine place = localAt(motion, &motion->nodes.items[index], time);
	for (int i = motion->nodes.items[index].parent; i >= 0; i = motion->nodes.items[i].parent) {
		const Affine above = localAt(motion, &motion->nodes.items[i], time);
		place.p = knAdd(above.p, knMulMV(&above.M, place.p));
		place.M = knMulMM(&above.M, &place.M);
	}
	const knMat33 up = knMakeMat33(knV3(1.0, 0.0, 0.0), knV3(0.0, 0.0, 1.0), knV3(0.0, -1.0, 0.0));
	return (Affine){ knMulMM(&up, &place.M), knMulMV(&up, place.p) };
}

// False if the axes have no directions: something is scaled to nothing.
static bool frameOf(const Affine* place, knFrame* frame) {
	const knVec3 x = knNormalize(place->M.cx);
	const knVec3 across = knMulAdd(place->M.cy, -knDot(place->M.cy, x), x);
	const knVec3 y = knNormalize(across);
	if (!(knLength(x) > 0.5) || !(knLength(y) > 0.5) || !knIsFinite3(place->p)) {
		return false;
	}
	const knMat33 axes = knMakeMat33(x, y, knCross(x, y));
	*frame = knMakeFrame(place->p, knQuat_FromMat33(&axes));
	return true;
}

void knSetMotion_Apply(const knSetMotion* motion, knWorld* world, double h) {
	const double time = knWorld_Time(world) + h;
	for (int i = 0; i < motion->nodes.count; ++i) {
		const knSetNode* node = &motion->nodes.items[i];
		knFrame target;
		if (KN_ID_IS_NULL(node->body) || !(h > 0.0)) {
			continue;
		}
		const Affine place = placeAt(motion, i, time);
		if (!frameOf(&place, &target)) {
			continue;
		}
		const knFrame now = knWorld_BodyFrame(world, node->body);
		const knVec3 center = knWorld_BodyCenter(world, node->body);
		const knVec3 to = knPoint(target, knInvRotate(now.q, knSub(center, now.p)));
		const knVec3 turn = knQuat_Log(knMulQ(target.q, knConj(now.q)));
		(void)knWorld_SetBodyVelocity(world, node->body, knScale(1.0 / h, knSub(to, center)),
									  knScale(1.0 / h, turn));
	}
}

double knSetMotion_Duration(const knSetMotion* motion) {
	double last = 0.0;
	for (int i = 0; motion != NULL && i < motion->keys.count; ++i) {
		last = knMax(last, motion->keys.items[i].time);
	}
	return last;
}

void knSetMotion_Free(knSetMotion* motion) {
	if (motion == NULL) {
		return;
	}
	const knAllocator allocator = motion->allocator;
	for (int i = 0; i < motion->nodes.count; ++i) {
		knFreeString(&allocator, (char*)motion->nodes.items[i].name);
	}
	KN_ARRAY_FREE(&allocator, &motion->nodes);
	KN_ARRAY_FREE(&allocator, &motion->keys);
	knFree(&allocator, motion, sizeof *motion);
}

// --- the scene ---------------------------------------------------------------------------------------------------

#ifdef KN_HAVE_ASSIMP

static void findMovers(struct knSetMotion* motion) {
	for (int i = 0; i < motion->nodes.count; ++i) {
		knSetNode* node = &motion->nodes.items[i];
		node->mover = node->animated ? i : (node->parent >= 0 ? motion->nodes.items[node->parent].mover : -1);
	}
}

// A body for a mover, or for a mesh that stands still; null after an error.
static knBodyId addBody(knSetReader* reader, knScene* scene, int node, knFrame frame, bool moves) {
	knBodyDef def = knBodyDef_Default();
	const char* name = reader->motion->nodes.items[node].name;
	def.name = name[0] != '\0' && KN_ID_IS_NULL(knScene_FindBody(scene, name)) ? name : NULL;
	def.kind = moves ? KN_BODY_KINEMATIC : KN_BODY_FIXED;
	def.frame = frame;
	return knScene_AddBody(scene, &def, &reader->error);
}

static knGeom* geomOf(knSetReader* reader, knMeshFile* file, bool moves) {
	knGeom* geom;
	knError cause = { .status = KN_OK };
	bool open;
	geom = knMeshFile_Solid(file, KN_MESHES_EXACT, &reader->allocator, &open, &cause);
	if (geom != NULL && open && !moves) {
		// what stands still needs no inside
		knMeshDef def = knMeshFile_MeshDef(file);
		def.solid = false;
		knGeom* surface = knGeom_Mesh(&def, &reader->allocator, NULL);
		if (surface != NULL) {
			knGeom_Release(geom);
			return surface;
		}
	}
	if (geom != NULL && open) {
		note(reader, KN_LOAD_APPROXIMATE, "a mesh that moves is not closed; its convex hull collides");
	}
	if (geom == NULL && cause.status == KN_NO_MEMORY) {
		knSetReader_NoMemory(reader);
	}
	return geom;
}

// The mesh in the frame of its body.
static bool addMesh(knSetReader* reader, knScene* scene, const knSetMesh* mesh) {
	struct knSetMotion* motion = reader->motion;
	const int mover = motion->nodes.items[mesh->node].mover, node = mover >= 0 ? mover : mesh->node;
	const Affine place = placeAt(motion, mesh->node, 0.0), bodyPlace = placeAt(motion, node, 0.0);
	knFrame frame;
	if (!frameOf(&bodyPlace, &frame) || mesh->triangleCount == 0) {
		return note(reader, KN_LOAD_NOTE,
					mesh->triangleCount == 0 ? "points and lines ignored"
											 : "what has no size at the start ignored");
	}
	knVec3* vertices = &reader->vertices.items[mesh->firstVertex];
	for (int i = 0; i < mesh->vertexCount; ++i) {
		const knVec3 at = knAdd(place.p, knMulMV(&place.M, vertices[i]));
		vertices[i] = knInvRotate(frame.q, knSub(at, frame.p));
	}
	knTriangle* triangles = &reader->triangles.items[mesh->firstTriangle];
	for (int i = 0; i < mesh->triangleCount && knDeterminant33(&place.M) < 0.0; ++i) {
		const int b = triangles[i].b;
		triangles[i].b = triangles[i].c;
		triangles[i].c = b;
	}
	knMeshFile file = { .vertexCount = mesh->vertexCount,
						.vertices = vertices,
						.triangleCount = mesh->triangleCount,
						.triangles = triangles,
						.allocator = reader->allocator };
	knGeom* geom = geomOf(reader, &file, mover >= 0);
	if (geom == NULL) {
		return reader->error.status == KN_OK &&
			   note(reader, KN_LOAD_APPROXIMATE, "a mesh that spans no space left out");
	}
	knBodyId body = mover >= 0 ? motion->nodes.items[mover].body : (knBodyId){ 0, 0 };
	if (KN_ID_IS_NULL(body)) {
		body = addBody(reader, scene, node, frame, mover >= 0);
	}
	if (mover >= 0) {
		motion->nodes.items[mover].body = body;
	}
	knShapeDef def = knShapeDef_Default();
	def.color = mesh->color != 0 ? mesh->color : def.color;
	const bool ok =
		!KN_ID_IS_NULL(body) && !KN_ID_IS_NULL(knScene_AddShape(scene, body, geom, &def, &reader->error));
	knGeom_Release(geom);
	return ok && reader->error.status == KN_OK;
}

static knScene* makeScene(knSetReader* reader) {
	knSceneDef def = knSceneDef_Default();
	const char* slash = strrchr(reader->name, '/');
	char title[64];
	snprintf(title, sizeof title, "%s", slash != NULL ? slash + 1 : reader->name);
	def.name = title;
	knScene* scene = knScene_Create(&def, &reader->allocator, &reader->error);
	if (scene == NULL) {
		return NULL;
	}
	findMovers(reader->motion);
	for (int i = 0; i < reader->meshes.count; ++i) {
		if (!addMesh(reader, scene, &reader->meshes.items[i])) {
			knScene_Destroy(scene);
			return NULL;
		}
	}
	return scene;
}

static knScene* readSet(knSetReader* reader, knLoadReport* report) {
	knScene* scene = NULL;
	reader->motion = knAlloc(&reader->allocator, sizeof *reader->motion);
	if (reader->motion == NULL) {
		knSetReader_NoMemory(reader);
		return NULL;
	}
	*reader->motion = (struct knSetMotion){ .allocator = reader->allocator };
	knImportReport_Init(&reader->report, &reader->allocator);
	if (knSetAssimp_Read(reader)) {
		scene = makeScene(reader);
	}
	if (scene != NULL && !knImportReport_Take(&reader->report, report)) {
		knSetReader_NoMemory(reader);
		knScene_Destroy(scene);
		scene = NULL;
	}
	knImportReport_Free(&reader->report);
	KN_ARRAY_FREE(&reader->allocator, &reader->meshes);
	KN_ARRAY_FREE(&reader->allocator, &reader->vertices);
	KN_ARRAY_FREE(&reader->allocator, &reader->triangles);
	return scene;
}

#endif

knScene* knSet_Load(const char* path, const knAllocator* allocator, knSetMotion** motion,
					knLoadReport* report, knError* error) {
	if (report != NULL) {
		*report = (knLoadReport){ .count = 0 };
	}
	*motion = NULL;
#ifdef KN_HAVE_ASSIMP
	knSetReader reader = { .allocator = allocator != NULL ? *allocator : knAllocator_Default(),
						   .name = path };
	knScene* scene = readSet(&reader, report);
	if (scene == NULL) {
		knSetMotion_Free(reader.motion);
		if (reader.error.file[0] == '\0') {
			snprintf(reader.error.file, sizeof reader.error.file, "%s", path);
		}
		if (error != NULL) {
			*error = reader.error;
		}
		return NULL;
	}
	*motion = reader.motion;
	return scene;
#else
	(void)allocator;
	knError_Set(error, KN_UNSUPPORTED, NULL,
				"'%.200s': this build reads no .glb; install libassimp-dev, then configure and build again",
				path);
	return NULL;
#endif
}
