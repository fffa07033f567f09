// What a scene holds beyond its lists: joints that close loops, and things worth a warning.
//
// Loops: bodies are nodes, all that do not move by forces being one (the world); joints are edges. With a union-find over
// the enabled joints in authored order, a joint whose two ends are already connected closes a loop; joints authored as
// loop joints come last.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "info.h"

#define PENETRATION_WARNING 1e-3 // m
#define OPEN_DISTANCE 1e-6       // m
#define OPEN_ANGLE 1e-6          // rad
#define RATIO_WARNING 1000.0
#define MAX_WARNINGS 50

static void warn(cliInfo* info, const char* format, ...) KN_PRINTF(2, 3);

static void warn(cliInfo* info, const char* format, ...) {
	knAllocator allocator = knAllocator_Default();
	char text[512];
	if (info->warnings.count == MAX_WARNINGS) {
		return;
	}
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	char* copy = knCopyString(&allocator, info->warnings.count == MAX_WARNINGS - 1 ? "and more" : text);
	if (copy == NULL || !KN_ARRAY_PUSH(&allocator, &info->warnings, copy)) {
		knFreeString(&allocator, copy);
		info->failed = true;
	}
}

const char* cliBodyName(const knScene* scene, knBodyId body) {
	return KN_ID_IS_NULL(body) ? "world" : knScene_GetBody(scene, body)->name;
}

const char* cliBodyKindName(knBodyKind kind) {
	static const char* const names[] = { "dynamic", "kinematic", "fixed" };
	return names[kind];
}

knFrame cliFromCenter(const knModel* model, knBodyId body, knFrame frame) {
	if (!KN_ID_IS_NULL(body)) {
		frame.p = knSub(frame.p, knModel_BodyMass(model, body).center);
	}
	return frame;
}

// --- loops ---------------------------------------------------------------------------------------------------

static int rootOf(int* above, int node) {
	while (above[node] != node) {
		above[node] = above[above[node]];
		node = above[node];
	}
	return node;
}

// Node 0 is the world and all bodies that forces do not move.
static int nodeOf(const knScene* scene, knBodyId body) {
	bool moves = !KN_ID_IS_NULL(body) && knScene_GetBody(scene, body)->kind == KN_BODY_DYNAMIC;
	return moves ? (int)body.index1 : 0;
}

static void findLoops(cliInfo* info) {
	knAllocator allocator = knAllocator_Default();
	const knScene* scene = info->authored;
	size_t nodes = (size_t)knScene_BodySlots(scene) + 1;
	int* above = knAllocArray(&allocator, nodes, sizeof(int));
	if (above == NULL) {
		info->failed = true;
		return;
	}
	for (size_t i = 0; i < nodes; ++i) {
		above[i] = (int)i;
	}
	for (int pass = 0; pass < 2; ++pass) {
		for (int i = 0; i < knModel_JointCount(info->model); ++i) {
			knJointId id = knModel_JointAt(info->model, i);
			const knJointDef* def = knScene_GetJoint(scene, id);
			if (!def->enabled || def->kind == KN_JOINT_FREE || def->loop != (pass == 1)) {
				continue;
			}
			int a = rootOf(above, nodeOf(scene, def->parent)), b = rootOf(above, nodeOf(scene, def->child));
			if (a == b) {
				info->failed = !KN_ARRAY_PUSH(&allocator, &info->loops, id) || info->failed;
			}
			above[a] = b;
		}
	}
	knFree(&allocator, above, nodes * sizeof(int));
}

// --- warnings --------------------------------------------------------------------------------------------------

static const char* shapeName(const knScene* scene, knShapeId shape) {
	const char* name = knScene_GetShape(scene, shape)->name;
	return name != NULL ? name : knGeomKind_Name(knGeom_Kind(knScene_GetShapeGeom(scene, shape)));
}

static void checkPenetration(cliInfo* info) {
	knPenetration now;
	knError error = { 0 };
	const knScene* scene = info->authored;
	if (knWorld_MeasurePenetration(info->world, &now, &error) != KN_OK) {
		warn(info, "penetration cannot be measured: %s", error.message);
	} else if (now.max > PENETRATION_WARNING) {
		warn(info, "%d pairs overlap at the start, '%s' of '%s' and '%s' of '%s' by %.3g m", now.pairs,
			 shapeName(scene, now.shapeA), cliBodyName(scene, knScene_GetShapeBody(scene, now.shapeA)),
			 shapeName(scene, now.shapeB), cliBodyName(scene, knScene_GetShapeBody(scene, now.shapeB)),
			 now.max);
		char text[256];
		if (cliDescribeCrowd(info->world, &now, text, sizeof(text))) {
			warn(info, "%s", text);
		}
	}
}

// Bodies that forces do not move count as infinitely heavy, so they make no ratio.
static double massOf(const cliInfo* info, knBodyId body) {
	bool moves = nodeOf(info->authored, body) != 0;
	return moves ? knModel_BodyMass(info->model, body).mass : 0.0;
}

static void checkJoints(cliInfo* info) {
	for (int i = 0; i < knModel_JointCount(info->model); ++i) {
		knJointId id = knModel_JointAt(info->model, i);
		const knJointDef* def = knScene_GetJoint(info->authored, id);
		knJointError open = knWorld_MeasureJoint(info->world, id);
		if (def->enabled && (open.distance > OPEN_DISTANCE || open.angle > OPEN_ANGLE)) {
			warn(info, "joint '%s' is open at the start by %.3g m and %.3g rad", def->name, open.distance,
				 open.angle);
		}
		double a = massOf(info, def->parent), b = massOf(info, def->child);
		if (a > 0.0 && b > 0.0 && knMax(a, b) >= RATIO_WARNING * knMin(a, b)) {
			warn(info, "joint '%s' holds masses of %.4g and %.4g kg, a ratio of %.3g", def->name, a, b,
				 knMax(a, b) / knMin(a, b));
		}
	}
}

// What the scene sets and its stepper does not read.
static void checkSettings(cliInfo* info) {
	const knSettings* settings = &knScene_GetDef(info->authored)->settings;
	for (int i = 0; knSettings_Name(i) != NULL; ++i) {
		char value[32];
		knError error = { 0 };
		if (knSettings_Get(settings, i, value, sizeof(value)) &&
			knSettings_CheckRead(knSettings_Name(i), knWorld_StepperName(info->world), settings->scheme,
								 &error) != KN_OK) {
			warn(info, "%s=%s has no effect: %s", knSettings_Name(i), value, error.message);
		}
	}
}

void cliInfo_Gather(cliInfo* info) {
	checkSettings(info);
	findLoops(info);
	checkPenetration(info);
	checkJoints(info);
}

void cliInfo_Free(cliInfo* info) {
	knAllocator allocator = knAllocator_Default();
	for (int i = 0; i < info->warnings.count; ++i) {
		knFreeString(&allocator, info->warnings.items[i]);
	}
	KN_ARRAY_FREE(&allocator, &info->warnings);
	KN_ARRAY_FREE(&allocator, &info->loops);
}

bool cliInfo_Takes(const cliInfo* info, int stepper, char why[CLI_REFUSAL]) {
	knWorldDef def = knWorldDef_Default();
	def.stepper = knStepper_Name(stepper);
	knError error = { .status = KN_OK };
	knWorld* world = knWorld_Create(info->model, &def, &error);
	snprintf(why, CLI_REFUSAL, "%s", world != NULL ? "" : error.message);
	knWorld_Destroy(world);
	return world != NULL;
}
