// linked-tori: a chain of tori that hangs from a fixed one, each through the next, turned by a right angle from one to the
// next; triangle meshes that share one geometry. linked: pairs of neighbours whose circles still thread each other.
#include <stdio.h>

#include "core/alloc.h"
#include "scene_tools.h"

#define RING 0.5 // m, of the tube's middle
#define TUBE 0.1
#define SLACK 0.001 // between neighbours at the start

static knGeom* torusGeom(int triangles, knError* error) {
	int across = (int)sqrt(triangles / (2.0 * RING / TUBE)) + 3, around = triangles / (2 * across);
	around = around < 3 ? 3 : around;
	size_t count = (size_t)(around * across);
	knAllocator allocator = knAllocator_Default();
	knVec3* vertices = knAllocArray(&allocator, count, sizeof(knVec3));
	knTriangle* faces = knAllocArray(&allocator, 2 * count, sizeof(knTriangle));
	knGeom* geom = NULL;
	if (vertices == NULL || faces == NULL) {
		knError_Set(error, KN_NO_MEMORY, NULL, "there is no memory for a torus of %d triangles", triangles);
	} else {
		for (int i = 0; i < around * across; ++i) {
			int u = i / across, v = i % across, nextU = (u + 1) % around, nextV = (v + 1) % across;
			double turn = 2.0 * KN_PI * u / around, roll = 2.0 * KN_PI * v / across;
			double r = RING + TUBE * knCos(roll);
			vertices[i] = knV3(r * knCos(turn), r * knSin(turn), TUBE * knSin(roll));
			int far = nextU * across + nextV;
			faces[2 * i] = (knTriangle){ i, nextU * across + v, far };
			faces[2 * i + 1] = (knTriangle){ i, far, u * across + nextV };
		}
		knMeshDef def = knMeshDef_Default();
		def.vertices = vertices;
		def.vertexCount = around * across;
		def.triangles = faces;
		def.triangleCount = 2 * around * across;
		geom = knGeom_Mesh(&def, NULL, error);
	}
	knFree(&allocator, vertices, count * sizeof(knVec3));
	knFree(&allocator, faces, 2 * count * sizeof(knTriangle));
	return geom;
}

static knScene* build(const knSceneArgs* args, knError* error) {
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	knGeom* torus = torusGeom((int)knSceneArgs_Get(args, "triangles"), error);
	knSceneBuilder_Require(&builder, torus != NULL);
	int tori = (int)knSceneArgs_Get(args, "tori");
	double step = 2.0 * (RING - TUBE) - SLACK;
	for (int i = 0; i < tori && builder.scene != NULL; ++i) {
		char name[32];
		snprintf(name, sizeof(name), "torus%d", i);
		// the tori's own axis, z, becomes x or y
		knVec3 about = i % 2 == 0 ? knV3(0.0, 1.0, 0.0) : knV3(1.0, 0.0, 0.0);
		knBodyDef def = knBodyDef_Default();
		def.name = name;
		def.kind = i == 0 ? KN_BODY_FIXED : KN_BODY_DYNAMIC;
		def.frame = knMakeFrame(knV3(0.0, 0.0, (tori - i) * step), knQuat_FromAxisAngle(about, 0.5 * KN_PI));
		def.color = knSceneBuilder_Shade(&builder, i % 2 == 0 ? KN_COLOR_BLUE : KN_COLOR_SAND);
		knSceneBuilder_Body(&builder, &def, torus);
	}
	knGeom_Release(torus);
	return knSceneBuilder_End(&builder);
}

// Two circles of radius RING about their frames' z are linked if the second passes the first's disc exactly once.
static bool areLinked(knFrame first, knFrame second) {
	knVec3 center = knInvPoint(first, second.p);
	knVec3 u = knInvRotate(first.q, knRotate(second.q, knV3(1.0, 0.0, 0.0)));
	knVec3 v = knInvRotate(first.q, knRotate(second.q, knV3(0.0, 1.0, 0.0)));
	// height over the first's plane: center.z + swing cos(t - phase)
	double swing = RING * sqrt(u.z * u.z + v.z * v.z), phase = knAtan2(v.z, u.z);
	if (knAbs(center.z) >= swing) {
		return false;
	}
	double cosine = -center.z / swing, turn = knAtan2(sqrt(1.0 - cosine * cosine), cosine);
	int inside = 0;
	for (int side = -1; side <= 1; side += 2) {
		double t = phase + side * turn;
		knVec3 at = knAdd(center, knAdd(knScale(RING * knCos(t), u), knScale(RING * knSin(t), v)));
		inside += at.x * at.x + at.y * at.y < RING * RING;
	}
	return inside == 1;
}

static void observe(knWorld* world, const knSceneArgs* args, knSceneChecks* checks) {
	const knModel* model = knWorld_Model(world);
	int tori = (int)knSceneArgs_Get(args, "tori"), linked = 0;
	for (int i = 1; i < tori; ++i) {
		linked += areLinked(knWorld_BodyFrame(world, knModel_BodyAt(model, i - 1)),
							knWorld_BodyFrame(world, knModel_BodyAt(model, i)));
	}
	knSceneChecks_Set(checks, "linked", linked);
	knRest_Observe(world, args, checks);
}

const knSceneEntry knLinkedToriEntry = {
	.name = "linked-tori",
	.bodies = 100,
	.summary = "a hanging chain of linked tori, each a mesh",
	.source = "own",
	.steppers = "velocity impulse",
	.dt = 0.01,
	.time = 10.0,
	.params = {
		{ .name = "tori", .value = 100, .lower = 2, .upper = 2000, .integer = true, .help = "tori", .small = 8 },
		{ .name = "triangles", .value = 2000, .lower = 100, .upper = 1000000, .integer = true,
		  .help = "of each, about", .small = 400 },
	},
	.build = build,
	.observe = observe,
};
