// skeletons: figures of 21 bones, closed meshes, dropped on a pile. 19 joints (ball and hinge, with limits) hold 20 of them; the
// hyoid, as in life, is jointed to no other bone. The frame is that of figure.h; lengths are those of a person of 1.8 m.
#include <string.h>

#include "blob.h"
#include "figure.h"

#define SPACING 0.75
#define LOWEST 0.25
#define MAX_PARTS 24
#define BLEND 0.008

enum {
	PELVIS,
	LUMBAR,
	RIBS,
	NECK,
	SKULL,
	JAW,
	HYOID,
	SCAPULA,
	HUMERUS,
	FOREARM,
	HAND,
	FEMUR,
	SHIN,
	FOOT,
	BONES
};

static const knFigurePart bones[BONES] = {
	[PELVIS] = { "pelvis", false, KN_FIGURE_FREE, KN_JOINT_FREE, { 0 }, { 0 }, 0, 0, 0 },
	[LUMBAR] = { "lumbar", false, PELVIS, KN_JOINT_BALL, { 0.065, 0, -0.03 }, { 1, 0, 0 }, 0.5, -0.5, 0.5 },
	[RIBS] = { "ribs", false, LUMBAR, KN_JOINT_BALL, { 0.25, 0, -0.05 }, { 1, 0, 0 }, 0.5, -0.5, 0.5 },
	[NECK] = { "neck", false, RIBS, KN_JOINT_BALL, { 0.585, 0, -0.045 }, { 1, 0, 0 }, 0.6, -0.6, 0.6 },
	[SKULL] = { "skull", false, NECK, KN_JOINT_BALL, { 0.70, 0, -0.03 }, { 1, 0, 0 }, 0.6, -0.8, 0.8 },
	[JAW] = { "jaw", false, SKULL, KN_JOINT_HINGE, { 0.715, 0, 0.03 }, { 0, 1, 0 }, 0, -0.5, 0.1 },
	[HYOID] = { "hyoid", false, KN_FIGURE_FREE, KN_JOINT_FREE, { 0 }, { 0 }, 0, 0, 0 },
	[SCAPULA] = { "scapula", true, RIBS, KN_JOINT_BALL, { 0.56, 0.05, -0.10 }, { 0, 1, 0 }, 0.4, -0.4, 0.4 },
	[HUMERUS] = { "humerus",
				  true,
				  SCAPULA,
				  KN_JOINT_BALL,
				  { 0.56, 0.20, -0.06 },
				  { 0, 1, 0 },
				  1.4,
				  -1.2,
				  1.2 },
	[FOREARM] = { "forearm",
				  true,
				  HUMERUS,
				  KN_JOINT_HINGE,
				  { 0.56, 0.52, -0.06 },
				  { 1, 0, 0 },
				  0,
				  -0.1,
				  2.5 },
	[HAND] = { "hand", true, FOREARM, KN_JOINT_BALL, { 0.56, 0.785, -0.06 }, { 0, 1, 0 }, 0.9, -0.5, 0.5 },
	[FEMUR] = { "femur", true, PELVIS, KN_JOINT_BALL, { -0.06, 0.11, 0 }, { -1, 0, 0 }, 1.2, -0.7, 0.7 },
	[SHIN] = { "shin", true, FEMUR, KN_JOINT_HINGE, { -0.51, 0.11, 0 }, { 0, 1, 0 }, 0, -0.1, 2.4 },
	[FOOT] = { "foot", true, SHIN, KN_JOINT_HINGE, { -0.92, 0.11, 0 }, { 0, 1, 0 }, 0, -0.7, 0.7 },
};

// A bone's rods, as on the left side or in the middle; a middle bone's `mirrored` rods have a twin on the other side.
typedef struct Rods {
	knBlobPart parts[MAX_PARTS];
	int count;
} Rods;

static void add(Rods* rods, knVec3 a, knVec3 b, double ra, double rb) {
	if (rods->count < MAX_PARTS) {
		rods->parts[rods->count++] = (knBlobPart){ a, b, ra, rb };
	}
}

static void addBoth(Rods* rods, knVec3 a, knVec3 b, double ra, double rb) {
	add(rods, a, b, ra, rb);
	add(rods, knFigure_OnSide(a, -1.0), knFigure_OnSide(b, -1.0), ra, rb);
}

// A shaft with thicker ends.
static void addShaft(Rods* rods, knVec3 a, knVec3 b, double end, double shaft) {
	knVec3 first = knLerp(a, b, 0.12), last = knLerp(a, b, 0.88);
	add(rods, a, first, end, shaft);
	add(rods, first, last, shaft, shaft);
	add(rods, last, b, shaft, end);
}

static void addRibs(Rods* rods) {
	add(rods, knV3(0.285, 0, -0.08), knV3(0.55, 0, -0.08), 0.024, 0.022);
	add(rods, knV3(0.34, 0, 0.10), knV3(0.54, 0, 0.07), 0.018, 0.018);
	for (int i = 0; i < 4; ++i) {
		double x = 0.31 + 0.075 * i, wide = 0.145 - 0.018 * i;
		knVec3 back = knV3(x, 0, -0.08), side = knV3(x - 0.02, wide, 0.0),
			   front = knV3(x + 0.03, 0, 0.10 - 0.008 * i);
		addBoth(rods, back, side, 0.013, 0.013);
		addBoth(rods, side, front, 0.013, 0.013);
	}
}

static void addHand(Rods* rods) {
	add(rods, knV3(0.56, 0.81, -0.06), knV3(0.56, 0.86, -0.06), 0.022, 0.026);
	for (int i = 0; i < 4; ++i) {
		double spread = i - 1.5;
		add(rods, knV3(0.56 + 0.013 * spread, 0.86, -0.06), knV3(0.56 + 0.022 * spread, 0.95, -0.06), 0.009,
			0.008);
	}
}

static void addFoot(Rods* rods) {
	add(rods, knV3(-0.955, 0.11, -0.04), knV3(-0.955, 0.11, 0.03), 0.026, 0.024);
	for (int i = 0; i < 3; ++i) {
		double spread = 0.02 * (i - 1);
		add(rods, knV3(-0.955, 0.11 + 0.5 * spread, 0.03), knV3(-0.962, 0.11 + spread, 0.14), 0.015, 0.010);
	}
}

static Rods rodsOf(int bone) {
	Rods rods = { .count = 0 };
	switch (bone) {
	case PELVIS:
		add(&rods, knV3(0.0, 0.0, -0.04), knV3(0.035, 0.0, -0.04), 0.03, 0.025);
		addBoth(&rods, knV3(0.02, 0.02, -0.04), knV3(0.06, 0.12, -0.02), 0.022, 0.022);
		addBoth(&rods, knV3(0.06, 0.12, -0.02), knV3(-0.03, 0.10, 0.0), 0.022, 0.026);
		addBoth(&rods, knV3(-0.03, 0.10, 0.0), knV3(-0.05, 0.0, 0.05), 0.022, 0.018);
		break;
	case LUMBAR:
		addShaft(&rods, knV3(0.095, 0, -0.035), knV3(0.225, 0, -0.05), 0.026, 0.02);
		break;
	case RIBS:
		addRibs(&rods);
		break;
	case NECK:
		addShaft(&rods, knV3(0.612, 0, -0.045), knV3(0.665, 0, -0.035), 0.022, 0.018);
		break;
	case SKULL:
		add(&rods, knV3(0.79, 0, -0.03), knV3(0.80, 0, 0.02), 0.080, 0.072);
		add(&rods, knV3(0.755, 0, 0.06), knV3(0.745, 0, 0.065), 0.034, 0.030);
		break;
	case JAW:
		addBoth(&rods, knV3(0.695, 0.045, 0.03), knV3(0.675, 0.03, 0.09), 0.013, 0.013);
		addBoth(&rods, knV3(0.675, 0.03, 0.09), knV3(0.672, 0.0, 0.105), 0.013, 0.014);
		break;
	case HYOID:
		addBoth(&rods, knV3(0.632, 0.020, 0.01), knV3(0.628, 0.014, 0.040), 0.007, 0.007);
		addBoth(&rods, knV3(0.628, 0.014, 0.040), knV3(0.628, 0.0, 0.045), 0.007, 0.008);
		break;
	case SCAPULA:
		add(&rods, knV3(0.56, 0.07, -0.125), knV3(0.56, 0.165, -0.075), 0.016, 0.020);
		add(&rods, knV3(0.56, 0.07, -0.125), knV3(0.44, 0.09, -0.135), 0.014, 0.012);
		add(&rods, knV3(0.44, 0.09, -0.135), knV3(0.56, 0.165, -0.075), 0.012, 0.014);
		break;
	case HUMERUS:
		addShaft(&rods, knV3(0.56, 0.232, -0.06), knV3(0.56, 0.49, -0.06), 0.028, 0.017);
		break;
	case FOREARM:
		addShaft(&rods, knV3(0.573, 0.545, -0.06), knV3(0.573, 0.76, -0.06), 0.016, 0.010);
		addShaft(&rods, knV3(0.547, 0.545, -0.06), knV3(0.547, 0.76, -0.06), 0.016, 0.010);
		break;
	case HAND:
		addHand(&rods);
		break;
	case FEMUR:
		add(&rods, knV3(-0.09, 0.11, 0.0), knV3(-0.11, 0.135, 0.0), 0.026, 0.022);
		addShaft(&rods, knV3(-0.11, 0.135, 0.0), knV3(-0.475, 0.11, 0.0), 0.030, 0.019);
		break;
	case SHIN:
		addShaft(&rods, knV3(-0.545, 0.105, 0.0), knV3(-0.885, 0.108, 0.0), 0.028, 0.016);
		addShaft(&rods, knV3(-0.56, 0.145, -0.012), knV3(-0.875, 0.138, -0.008), 0.012, 0.009);
		break;
	default:
		addFoot(&rods);
		break;
	}
	return rods;
}

// Geometry of every bone, on both sides, in the frame of the bone: at the middle of its first rod, turned as the figure.
typedef struct Bones {
	knGeom* geom[BONES][2];
	knVec3 origin[BONES];
	uint32_t color;
} Bones;

static knGeom* boneGeom(const Rods* left, knVec3 origin, double side, int triangles, knError* error) {
	Rods rods = *left;
	for (int i = 0; i < rods.count; ++i) {
		rods.parts[i].a = knFigure_OnSide(knSub(rods.parts[i].a, origin), side);
		rods.parts[i].b = knFigure_OnSide(knSub(rods.parts[i].b, origin), side);
	}
	knBlob blob = { rods.parts, rods.count, BLEND };
	return knBlob_Geom(&blob, triangles, error);
}

static bool makeBones(Bones* result, int triangles, knError* error) {
	memset(result, 0, sizeof(*result));
	for (int bone = 0; bone < BONES; ++bone) {
		Rods rods = rodsOf(bone);
		result->origin[bone] = knScale(0.5, knAdd(rods.parts[0].a, rods.parts[0].b));
		for (int s = 0; s < (bones[bone].paired ? 2 : 1); ++s) {
			double side = s == 0 ? 1.0 : -1.0;
			result->geom[bone][s] = boneGeom(&rods, result->origin[bone], side, triangles, error);
			if (result->geom[bone][s] == NULL) {
				return false;
			}
		}
	}
	return true;
}

static knBodyId addBone(knSceneBuilder* builder, const char* name, int part, double side, knFrame figure,
						void* context) {
	const Bones* shared = context;
	knBodyDef def = knBodyDef_Default();
	def.name = name;
	def.color = shared->color;
	def.frame = knMakeFrame(knPoint(figure, knFigure_OnSide(shared->origin[part], side)), figure.q);
	return knSceneBuilder_Body(builder, &def, shared->geom[part][side > 0.0 ? 0 : 1]);
}

static knScene* build(const knSceneArgs* args, knError* error) {
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	knSceneBuilder_Ground(&builder, 50.0);
	Bones shared;
	knSceneBuilder_Require(&builder, makeBones(&shared, (int)knSceneArgs_Get(args, "triangles"), error));
	int count = (int)knSceneArgs_Get(args, "count");
	for (int i = 0; i < count && builder.scene != NULL; ++i) {
		shared.color = knSceneBuilder_Shade(&builder, 0xe2dcc8);
		double turn = knSceneBuilder_Uniform(&builder, -KN_PI, KN_PI);
		// one after another: the order of arguments is the compiler's
		double x = knSceneBuilder_Uniform(&builder, -0.3, 0.3),
			   y = knSceneBuilder_Uniform(&builder, -0.3, 0.3);
		knVec3 place = knV3(x, y, LOWEST + SPACING * i);
		knFrame figure = knMakeFrame(place, knQuat_FromAxisAngle(knV3(0.0, 0.0, 1.0), turn));
		knFigure_Add(&builder, i, bones, BONES, figure, addBone, &shared);
	}
	for (int i = 0; i < 2 * BONES; ++i) {
		knGeom_Release(shared.geom[i / 2][i % 2]);
	}
	return knSceneBuilder_End(&builder);
}

const knSceneEntry knSkeletonsEntry = {
	.name = "skeletons",
	.bodies = 420,
	.joints = 380,
	.summary = "skeletons of 21 bones fall on a pile",
	.source = "Weinstein et al. 2006, figure 8",
	.steppers = "impulse velocity",
	.dt = 0.01,
	.time = 10.0,
	.params = {
		{ .name = "count", .value = 20, .lower = 1, .upper = 1000, .integer = true, .help = "skeletons", .small = 1 },
		{ .name = "triangles", .value = 2000, .lower = 200, .upper = 200000, .integer = true, .help = "of each bone",
		  .small = 200 },
		{ .name = "joint_friction", .value = 0, .lower = 0, .upper = 1e6, .help = "dry friction of every joint, N m" },
	},
	.build = build,
	.observe = knPile_Observe,
};
