// wall: bricks in courses, each course bridging the joints of the one below. Even courses have n bricks at spacing 0.502 m;
// odd ones are moved by half a spacing, so n - 1 bricks and a half brick at each end, flush with the wall. 10 courses of 20
// make 205 bodies.
#include <stdio.h>

#include "scene_tools.h"

#define BRICK_LENGTH 0.5
#define BRICK_HEIGHT 0.25
#define BRICK_SPACING 0.502

typedef struct WallSize {
	int courses, perCourse;
} WallSize;

// Twice as many bricks in a course as courses, as in 10 x 20.
static WallSize wallSize(int bricks) {
	WallSize size;
	size.courses = (int)floor(sqrt(0.5 * bricks) + 0.5);
	size.courses = size.courses > 0 ? size.courses : 1;
	size.perCourse = bricks / size.courses > 0 ? bricks / size.courses : 1;
	return size;
}

static void addBrick(knSceneBuilder* builder, WallSize size, int course, int index, double x, double length) {
	char name[32];
	snprintf(name, sizeof(name), "brick%d_%02d", course, index);
	bool chosen = course == size.courses - 1 && index == size.perCourse / 2;
	knVec3 place = knV3(x, 0.0, (course + 0.5) * BRICK_HEIGHT);
	knVec3 shift = knV3(0.0, 0.15, 0.0); // the centre beyond the edge of a brick of 0.25 m
	place = knAdd(place, knTwin_Offset(builder->args, course, size.courses, shift, chosen));
	knVec3 half = knV3(0.5 * length, 0.5 * BRICK_HEIGHT, 0.5 * BRICK_HEIGHT);
	uint32_t color = knSceneBuilder_Shade(builder, KN_COLOR_CLAY);
	knSceneBuilder_Box(builder, name, knMakeFrame(place, knIdentityQ()), half, color);
}

static knScene* buildWall(const knSceneArgs* args, knError* error) {
	WallSize size = wallSize((int)knSceneArgs_Get(args, "bricks"));
	double left = -0.5 * BRICK_SPACING * (size.perCourse - 1); // centre of the first brick of an even course
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	knSceneBuilder_Ground(&builder, 50.0 - left);
	for (int course = 0; course < size.courses; ++course) {
		int whole = course % 2 == 0 ? size.perCourse : size.perCourse - 1;
		double first = course % 2 == 0 ? left : left + 0.5 * BRICK_SPACING;
		if (course % 2 != 0) {
			// half bricks end where the even courses end
			double end = -left + 0.25 * BRICK_LENGTH;
			addBrick(&builder, size, course, 0, -end, 0.5 * BRICK_LENGTH);
			addBrick(&builder, size, course, size.perCourse, end, 0.5 * BRICK_LENGTH);
		}
		for (int i = 0; i < whole; ++i) {
			addBrick(&builder, size, course, i + course % 2, first + i * BRICK_SPACING, BRICK_LENGTH);
		}
	}
	return knSceneBuilder_End(&builder);
}

static void observe(knWorld* world, const knSceneArgs* args, knSceneChecks* checks) {
	knLayerForces_Observe(world, args, BRICK_HEIGHT, checks);
}

const knSceneEntry knWallEntry = {
	.name = "wall",
	.bodies = 205,
	.joints = 0,
	.summary = "a wall in running bond, twice as many bricks in a course as courses",
	.source = "Erleben 2007, figure 10",
	.steppers = "velocity impulse",
	.dt = 0.01,
	.time = 10.0,
	.twins = true,
	.params = {
		{ .name = "bricks", .value = 200, .lower = 1, .upper = 200000, .integer = true,
		  .help = "bricks, a half brick at each end of odd courses counting as one together", .small = 32 },
	},
	.build = buildWall,
	.script = knTwin_Script,
	.observe = observe,
};
