// Closed loops of rods: mechanisms whose motion is known on paper, and loops that try a joint solver.
//
//   four-bar    crank 1 m, coupler 3 m, rocker 2.5 m on a base of 3 m, released with the crank upright
//   bricard     six hinges on the six edges of a unit cube that miss two opposite corners; five edges are rods, the sixth is
//               the ground. Each hinge is orthogonal to both its edges. One degree of freedom, although counting says none
//   free-ring   34 hinged links of 0.2 m in a ring, tumbling without gravity
//   short-loop  two links of 0.2 m between pins 0.41 m apart: the hinge in the middle stays open
//
// The rods of mechanisms pass through each other. `turned`: the angle of the first hinge from its start.
#include <stdio.h>

#include "scene_tools.h"

#define ROD_RADIUS 0.04

static knBodyId addRod(knSceneBuilder* builder, const char* name, knVec3 from, knVec3 to, uint32_t color) {
	knBodyId rod = knSceneBuilder_Rod(builder, name, from, to, ROD_RADIUS, knDistance(from, to), color);
	if (builder->scene != NULL) {
		knShapeDef* shape = knSceneBuilder_LastShape(builder);
		shape->filter.category = 0;
		shape->filter.mask = 0;
	}
	return rod;
}

static void addHinge(knSceneBuilder* builder, const char* name, knBodyId parent, knBodyId child,
					 knVec3 anchor, knVec3 axis, bool loop) {
	knJointDef def = knJointDef_Default(KN_JOINT_HINGE);
	def.name = name;
	def.loop = loop;
	knSceneBuilder_Joint(builder, &def, parent, child, anchor, axis);
}

static void observeTurn(knWorld* world, const knSceneArgs* args, knSceneChecks* checks) {
	(void)args;
	double q[7];
	knWorld_JointCoordinates(world, knModel_JointAt(knWorld_Model(world), 0), q);
	knSceneChecks_Set(checks, "turned", q[0]);
}

// --- four-bar --------------------------------------------------------------------------------------------------

#define CRANK 1.0
#define COUPLER 3.0
#define ROCKER 2.5
#define BASE 3.0

static knScene* buildFourBar(const knSceneArgs* args, knError* error) {
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	knVec3 axis = knV3(0.0, 1.0, 0.0);
	knVec3 a = knV3(0.0, 0.0, 4.0), d = knV3(BASE, 0.0, 4.0), b = knAdd(a, knV3(0.0, 0.0, CRANK));
	// the coupler's far end: on the circles about b and d, the upper of the two places
	double across = knDistance(b, d);
	double along = (COUPLER * COUPLER - ROCKER * ROCKER + across * across) / (2.0 * across);
	knVec3 ahead = knScale(1.0 / across, knSub(d, b)), up = knCross(ahead, axis);
	knVec3 c = knMulAdd(knMulAdd(b, along, ahead), sqrt(COUPLER * COUPLER - along * along), up);

	knBodyId crank = addRod(&builder, "crank", a, b, KN_COLOR_RED);
	knBodyId coupler = addRod(&builder, "coupler", b, c, KN_COLOR_SAND);
	knBodyId rocker = addRod(&builder, "rocker", c, d, KN_COLOR_BLUE);
	addHinge(&builder, "a", KN_WORLD_BODY, crank, a, axis, false);
	addHinge(&builder, "b", crank, coupler, b, axis, false);
	addHinge(&builder, "c", coupler, rocker, c, axis, false);
	addHinge(&builder, "d", rocker, KN_WORLD_BODY, d, axis, true);
	return knSceneBuilder_End(&builder);
}

const knSceneEntry knFourBarEntry = {
	.name = "four-bar",
	.bodies = 3,
	.joints = 4,
	.summary = "crank, coupler and rocker on a base, released with the crank upright",
	.source = "common benchmark",
	.steppers = "velocity impulse",
	.dt = 0.01,
	.time = 10.0,
	.build = buildFourBar,
	.observe = observeTurn,
};

// --- bricard ---------------------------------------------------------------------------------------------------

static knScene* buildBricard(const knSceneArgs* args, knError* error) {
	static const knVec3 corners[6] = { { 1, 0, 0 }, { 1, 1, 0 }, { 0, 1, 0 },
									   { 0, 1, 1 }, { 0, 0, 1 }, { 1, 0, 1 } };
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	knVec3 lift = knV3(0.0, 0.0, 2.0);
	knBodyId previous = KN_WORLD_BODY;
	for (int i = 0; i < 6; ++i) {
		knVec3 here = knAdd(corners[i], lift);
		knVec3 before = knSub(corners[i], corners[(i + 5) % 6]),
			   after = knSub(corners[(i + 1) % 6], corners[i]);
		knBodyId next = KN_WORLD_BODY;
		if (i < 5) {
			char name[16];
			snprintf(name, sizeof(name), "rod%d", i);
			next =
				addRod(&builder, name, here, knAdd(here, after), i % 2 == 0 ? KN_COLOR_BLUE : KN_COLOR_SAND);
		}
		char name[16];
		snprintf(name, sizeof(name), "hinge%d", i);
		addHinge(&builder, name, previous, next, here, knCross(before, after), i == 5);
		previous = next;
	}
	return knSceneBuilder_End(&builder);
}

const knSceneEntry knBricardEntry = {
	.name = "bricard",
	.bodies = 5,
	.joints = 6,
	.summary = "Bricard's loop of six hinges: one degree of freedom, over-constrained",
	.source = "common benchmark",
	.steppers = "velocity impulse",
	.dt = 0.01,
	.time = 10.0,
	.build = buildBricard,
	.observe = observeTurn,
};

// --- free-ring -------------------------------------------------------------------------------------------------

#define LINK_LENGTH 0.2

static knScene* buildFreeRing(const knSceneArgs* args, knError* error) {
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	if (builder.scene != NULL) {
		knScene_Def(builder.scene)->gravity = knZero3();
	}
	int links = (int)knSceneArgs_Get(args, "links");
	double radius = 0.5 * LINK_LENGTH / knSin(KN_PI / links);
	knVec3 middle = knV3(0.0, 0.0, 3.0), axis = knV3(0.0, 0.0, 1.0), spin = knV3(0.7, 0.3, 2.0);
	knBodyId first = KN_WORLD_BODY, previous = KN_WORLD_BODY;
	knVec3 from = knZero3();
	for (int i = 0; i <= links; ++i) {
		double angle = 2.0 * KN_PI * (i % links) / links;
		knVec3 to = knAdd(middle, knV3(radius * knCos(angle), radius * knSin(angle), 0.0));
		if (i > 0) {
			char name[16];
			snprintf(name, sizeof(name), "link%d", i - 1);
			uint32_t color = i % 2 == 0 ? KN_COLOR_TEAL : KN_COLOR_SAND;
			knBodyId link = knSceneBuilder_Rod(&builder, name, from, to, 0.03, 1.0, color);
			if (builder.scene != NULL) {
				knBodyDef* def = knScene_EditBody(builder.scene, link);
				def->angularVelocity = spin;
				def->velocity = knCross(spin, knSub(def->frame.p, middle));
			}
			if (i > 1) {
				addHinge(&builder, NULL, previous, link, from, axis, false);
			}
			first = i == 1 ? link : first;
			previous = link;
		}
		from = to;
	}
	addHinge(&builder, NULL, previous, first, from, axis, true);
	return knSceneBuilder_End(&builder);
}

const knSceneEntry knFreeRingEntry = {
	.name = "free-ring",
	.bodies = 34,
	.joints = 34,
	.summary = "hinged links in a closed ring, tumbling without gravity",
	.source = "own",
	.steppers = "velocity impulse",
	.dt = 0.01,
	.time = 10.0,
	.params = {
		{ .name = "links", .value = 34, .lower = 3, .upper = 10000, .integer = true, .help = "links of 0.2 m",
		  .small = 8 },
	},
	.build = buildFreeRing,
};

// --- short-loop ------------------------------------------------------------------------------------------------

static knScene* buildShortLoop(const knSceneArgs* args, knError* error) {
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	knVec3 axis = knV3(0.0, 1.0, 0.0), left = knV3(0.0, 0.0, 1.0), right = knV3(0.41, 0.0, 1.0);
	knVec3 leftEnd = knAdd(left, knV3(LINK_LENGTH, 0.0, 0.0)),
		   rightEnd = knSub(right, knV3(LINK_LENGTH, 0.0, 0.0));
	knBodyId a = knSceneBuilder_Rod(&builder, "left", left, leftEnd, 0.02, 1.0, KN_COLOR_BLUE);
	knBodyId b = knSceneBuilder_Rod(&builder, "right", rightEnd, right, 0.02, 1.0, KN_COLOR_SAND);
	addHinge(&builder, "pin_left", KN_WORLD_BODY, a, left, axis, false);
	addHinge(&builder, "middle", a, b, leftEnd, axis, false);
	addHinge(&builder, "pin_right", b, KN_WORLD_BODY, right, axis, true);
	if (builder.scene != NULL) {
		// each side at its own link's end, 1 cm apart
		knJointDef* middle = knScene_EditJoint(builder.scene, knScene_FindJoint(builder.scene, "middle"));
		middle->frameChild.p = knInvPoint(knScene_GetBody(builder.scene, b)->frame, rightEnd);
	}
	return knSceneBuilder_End(&builder);
}

const knSceneEntry knShortLoopEntry = {
	.name = "short-loop",
	.bodies = 2,
	.joints = 3,
	.summary = "two links between pins that are too far apart: the loop cannot close",
	.source = "own",
	.steppers = "velocity impulse",
	.dt = 0.01,
	.time = 5.0,
	.build = buildShortLoop,
};
