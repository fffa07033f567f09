// box-stack: cubes of 1 m in one column, faces touching, on a fixed ground. pull=F ramps a horizontal force on the bottom
// cube from 0 to F, so that the friction which holds it can be read off: pull_start is the force at which the cube began
// to move for good (faster than 1 mm/s). Absent if it never does. A free column would follow as a whole once the friction
// of the ground is overcome; so with a pull a frictionless stop holds the second cube, and the bottom one has to be drawn
// out from between: friction x (force on its top + force on its bottom).
#include <stdio.h>

#include "scene_tools.h"

#define CLEARANCE 0.02 // m, of the stop above the bottom cube

// A low bar of the ground that touches the second cube near its lower edge, on the side to which the pull goes.
static void addStop(knSceneBuilder* builder, double pull) {
	knVec3 half = knV3(0.25, 0.5, 0.05);
	double x = (0.5 + half.x) * (pull > 0.0 ? 1.0 : -1.0);
	knVec3 place = knV3(x, 0.0, 1.0 + CLEARANCE + half.z);
	knSceneBuilder_Fixture(builder, "stop", knMakeFrame(place, knIdentityQ()), half);
	knShapeDef* shape = knSceneBuilder_LastShape(builder);
	if (shape != NULL) {
		shape->friction = 0.0;
	}
}

static knScene* build(const knSceneArgs* args, knError* error) {
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	knSceneBuilder_Ground(&builder, 50.0);
	int boxes = (int)knSceneArgs_Get(args, "boxes");
	double pull = knSceneArgs_Get(args, "pull");
	if (pull != 0.0 && boxes > 1) {
		addStop(&builder, pull);
	}
	for (int i = 0; i < boxes; ++i) {
		char name[32];
		snprintf(name, sizeof(name), "box%d", i);
		knVec3 offset = knTwin_Offset(args, i, boxes, knV3(0.6, 0.0, 0.0), i == boxes - 1);
		knFrame frame = knMakeFrame(knAdd(knV3(0.0, 0.0, i + 0.5), offset), knIdentityQ());
		uint32_t color = knSceneBuilder_Shade(&builder, i % 2 == 0 ? KN_COLOR_BLUE : KN_COLOR_SAND);
		knSceneBuilder_Box(&builder, name, frame, knV3(0.5, 0.5, 0.5), color);
	}
	return knSceneBuilder_End(&builder);
}

static double pullAt(const knSceneArgs* args, double time) {
	double duration = knSceneArgs_Get(args, "pull_time");
	if (duration == 0.0) {
		duration = args->time;
	}
	double share = duration > 0.0 ? knClamp(time / duration, 0.0, 1.0) : 1.0;
	return share * knSceneArgs_Get(args, "pull");
}

static void script(knWorld* world, const knSceneArgs* args) {
	knTwin_Script(world, args);
	double force = pullAt(args, knWorld_Time(world));
	if (force != 0.0) {
		knBodyId bottom = knScene_FindBody(knModel_Scene(knWorld_Model(world)), "box0");
		knWorld_AddForce(world, bottom, knV3(force, 0.0, 0.0));
	}
}

// memory[2]: the bottom cube moves; memory[3]: the force when it began to
static void observe(knWorld* world, const knSceneArgs* args, knSceneChecks* checks) {
	knLayerForces_Observe(world, args, 1.0, checks);
	if (knSceneArgs_Get(args, "pull") == 0.0) {
		return;
	}
	const knScene* scene = knModel_Scene(knWorld_Model(world));
	knBodyId bottom = knScene_FindBody(scene, "box0");
	bool moves = knAbs(knWorld_BodyVelocity(world, bottom).x) > 1e-3;
	if (moves && checks->memory[2] == 0.0) {
		// the step that just ended was driven by the force at its start
		checks->memory[3] = pullAt(args, knWorld_Time(world) - knScene_GetDef(scene)->dt);
	}
	checks->memory[2] = moves ? 1.0 : 0.0;
	if (moves) {
		knSceneChecks_Set(checks, "pull_start", checks->memory[3]);
	}
}

const knSceneEntry knBoxStackEntry = {
	.name = "box-stack",
	.view = { -62, 12, 1 },
	.bodies = 25,
	.joints = 0,
	.summary = "1 m cubes in one column, faces touching",
	.source = "Erleben 2007, figure 9",
	.steppers = "velocity impulse",
	.dt = 0.01,
	.time = 10.0,
	.twins = true,
	.params = {
		{ .name = "boxes", .value = 25, .lower = 1, .upper = 10000, .integer = true, .help = "cubes", .small = 5 },
		{ .name = "pull", .value = 0, .lower = -1e12, .upper = 1e12,
		  .help = "horizontal force on the bottom cube, ramped from 0 to this, N; a frictionless stop holds the second cube" },
		{ .name = "pull_time", .value = 0, .lower = 0, .upper = 1e6,
		  .help = "length of that ramp, s; 0: the whole run" },
	},
	.build = build,
	.script = script,
	.observe = observe,
};
