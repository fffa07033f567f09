// rings: rings of six nonconvex links on ball joints fall over 25 poles, in layers 0.35 m apart. linked: rings that lie
// around a pole, below its top. outside: links that have left the ground's upper side.
#include <stdio.h>
#include <string.h>

#include "blob.h"
#include "ring.h"

#define LINK_RADIUS 0.05
#define CROSS_HALF 0.07 // half length of the crossing capsule's segment
#define LINK_TRIANGLES 1340
#define POLES 5 // in a row
#define POLE_SPACING 2.0
#define POLE_RADIUS 0.1
#define POLE_HEIGHT 3.0
#define LAYER 0.35

// --- one ring --------------------------------------------------------------------------------------------------

// The link's own frame: z from joint to joint, x away from the ring's middle.
static knGeom* capsuleLink(double along, knError* error) {
	knGeom* bar = knGeom_Capsule(LINK_RADIUS, along, NULL, error);
	knGeom* cross = knGeom_Capsule(LINK_RADIUS, CROSS_HALF, NULL, error);
	knGeom* link = NULL;
	if (bar != NULL && cross != NULL) {
		knQuat sideways = knQuat_FromAxisAngle(knV3(0.0, 1.0, 0.0), 0.5 * KN_PI);
		knGeomChild children[] = { { bar, knIdentityF() }, { cross, knMakeFrame(knZero3(), sideways) } };
		link = knGeom_Compound(children, 2, NULL, error);
	}
	knGeom_Release(bar);
	knGeom_Release(cross);
	return link;
}

knGeom* knRing_LinkGeom(bool mesh, knError* error) {
	double along = 0.5 * KN_RING_RADIUS - LINK_RADIUS; // the side of a hexagon is its radius
	if (!mesh) {
		return capsuleLink(along, error);
	}
	knBlobPart parts[] = {
		{ { 0.0, 0.0, -along }, { 0.0, 0.0, along }, LINK_RADIUS, LINK_RADIUS },
		{ { -CROSS_HALF, 0.0, 0.0 }, { CROSS_HALF, 0.0, 0.0 }, LINK_RADIUS, LINK_RADIUS }
	};
	knBlob blob = { parts, 2, 0.01 };
	return knBlob_Geom(&blob, LINK_TRIANGLES, error);
}

static knVec3 corner(knVec3 center, double angle, int i) {
	double turn = angle + 2.0 * KN_PI * i / KN_RING_LINKS;
	return knAdd(center, knV3(KN_RING_RADIUS * knCos(turn), KN_RING_RADIUS * knSin(turn), 0.0));
}

void knRing_Add(knSceneBuilder* builder, const char* name, knVec3 center, double angle, const knGeom* link) {
	uint32_t color = knSceneBuilder_Shade(builder, KN_COLOR_SAND);
	knBodyId first = KN_WORLD_BODY, previous = KN_WORLD_BODY;
	for (int i = 0; i < KN_RING_LINKS; ++i) {
		knVec3 from = corner(center, angle, i), to = corner(center, angle, i + 1);
		knVec3 z = knNormalize(knSub(to, from)), middle = knScale(0.5, knAdd(from, to));
		knVec3 x = knNormalize(knSub(middle, center));
		knMat33 axes = knMakeMat33(x, knCross(z, x), z);
		char part[48];
		snprintf(part, sizeof(part), "%s_%d", name, i);
		knBodyDef def = knBodyDef_Default();
		def.name = part;
		def.frame = knMakeFrame(middle, knQuat_FromMat33(&axes));
		def.color = color;
		knBodyId body = knSceneBuilder_Body(builder, &def, link);
		if (i > 0) {
			knJointDef joint = knJointDef_Default(KN_JOINT_BALL);
			knSceneBuilder_Joint(builder, &joint, previous, body, from, z);
		} else {
			first = body;
		}
		previous = body;
	}
	knJointDef joint = knJointDef_Default(KN_JOINT_BALL);
	joint.loop = true;
	knSceneBuilder_Joint(builder, &joint, previous, first, corner(center, angle, 0), knV3(0.0, 0.0, 1.0));
}

// --- the scene -------------------------------------------------------------------------------------------------

static knVec3 poleFoot(int index) {
	double middle = 0.5 * (POLES - 1);
	return knV3(POLE_SPACING * (index % POLES - middle), POLE_SPACING * (index / POLES - middle), 0.0);
}

static void addPoles(knSceneBuilder* builder) {
	for (int i = 0; i < POLES * POLES && builder->scene != NULL; ++i) {
		char name[16];
		snprintf(name, sizeof(name), "pole%d", i);
		knShapeDef shape = knShapeDef_Default();
		shape.name = name;
		shape.color = KN_COLOR_STEEL;
		shape.frame.p = knAdd(poleFoot(i), knV3(0.0, 0.0, 0.5 * POLE_HEIGHT));
		knShapeId id = knScene_AddCapsule(builder->scene, builder->ground, POLE_RADIUS,
										  0.5 * POLE_HEIGHT - POLE_RADIUS, &shape, builder->error);
		knSceneBuilder_Require(builder, !KN_ID_IS_NULL(id));
	}
}

static knScene* build(const knSceneArgs* args, knError* error) {
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	knSceneBuilder_Ground(&builder, 50.0);
	addPoles(&builder);
	knGeom* link = knRing_LinkGeom(knSceneArgs_Get(args, "mesh") != 0.0, error);
	knSceneBuilder_Require(&builder, link != NULL);
	int rings = (int)knSceneArgs_Get(args, "rings");
	for (int i = 0; i < rings && builder.scene != NULL; ++i) {
		char name[32];
		snprintf(name, sizeof(name), "ring%d", i);
		knVec3 center = poleFoot(i % (POLES * POLES));
		center.x += knSceneBuilder_Uniform(&builder, -0.1, 0.1);
		center.y += knSceneBuilder_Uniform(&builder, -0.1, 0.1);
		center.z = POLE_HEIGHT + LAYER * (1 + i / (POLES * POLES));
		knRing_Add(&builder, name, center, knSceneBuilder_Uniform(&builder, 0.0, KN_PI), link);
	}
	knGeom_Release(link);
	return knSceneBuilder_End(&builder);
}

// Around the vertical through `foot`: the angles between successive link centres, seen from there, sum to a full turn.
static bool isAround(const knVec3 centers[KN_RING_LINKS], knVec3 foot) {
	double sum = 0.0;
	for (int i = 0; i < KN_RING_LINKS; ++i) {
		knVec3 a = knSub(centers[i], foot), b = knSub(centers[(i + 1) % KN_RING_LINKS], foot);
		sum += knAtan2(a.x * b.y - a.y * b.x, a.x * b.x + a.y * b.y);
	}
	return knAbs(sum) > KN_PI;
}

static void observe(knWorld* world, const knSceneArgs* args, knSceneChecks* checks) {
	const knModel* model = knWorld_Model(world);
	int rings = (int)knSceneArgs_Get(args, "rings"), linked = 0, outside = 0;
	for (int r = 0; r < rings; ++r) {
		knVec3 centers[KN_RING_LINKS];
		double height = 0.0;
		for (int i = 0; i < KN_RING_LINKS; ++i) {
			centers[i] = knWorld_BodyCenter(world, knModel_BodyAt(model, KN_RING_LINKS * r + i));
			height += centers[i].z / KN_RING_LINKS;
			outside += centers[i].z < 0.0;
		}
		for (int p = 0; p < POLES * POLES && height < POLE_HEIGHT; ++p) {
			linked += isAround(centers, poleFoot(p));
		}
	}
	knSceneChecks_Set(checks, "linked", linked);
	knSceneChecks_Set(checks, "outside", outside);
	knRest_Observe(world, args, checks);
}

const knSceneEntry knRingsEntry = {
	.name = "rings",
	.bodies = 2160,
	.joints = 2160,
	.summary = "rings of six nonconvex links fall over 25 poles",
	.source = "Weinstein et al. 2006, figure 6",
	.steppers = "impulse velocity",
	.dt = 0.01,
	.time = 10.0,
	.params = {
		{ .name = "rings", .value = 360, .lower = 1, .upper = 20000, .integer = true, .help = "rings", .small = 5 },
		{ .name = "mesh", .value = 1, .lower = 0, .upper = 1, .integer = true,
		  .help = "links are meshes of 1,340 triangles; 0: crossed capsules" },
	},
	.build = build,
	.observe = observe,
};
