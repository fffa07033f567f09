// letters: balls of 0.1 to 0.3 m radius fall on a plane of 30 x 16 m, inclined by 20 degrees, with side walls and letters
// engraved in it: they fill, the rest flows over, and a level floor with a rim below takes it. rolling=R gives every shape a
// rolling resistance of that arm, which lets them come to rest. outside: balls that have left plane and floor; caught: balls
// that lie in a letter.
//
// The plane is a height field: CELL wide at the walls of a groove, DEPTH deep within half a STROKE of a letter's line.
//
// The plane's own frame: s down the slope, y across, n along the normal; s = 0 is its middle, where it meets z = 0 at the lower
// edge s = 15.
#include <stdio.h>

#include "core/alloc.h"
#include "glyphs.h"
#include "scene_tools.h"

#define SLOPE (20.0 * KN_PI / 180.0)
#define HALF_LENGTH 15.0
#define HALF_WIDTH 8.0
#define CELL 0.25  // m
#define DEPTH 0.4  // m, of the letters: the largest ball's centre lies below the plane
#define STROKE 0.7 // m, their width: the largest ball reaches the ground
#define LETTER 6.6 // m, their height
#define COLUMNS ((int)(2.0 * HALF_LENGTH / CELL) + 1)
#define ROWS ((int)(2.0 * HALF_WIDTH / CELL) + 1)
#define WALL_HEIGHT 2.5
#define FLOOR_LENGTH 14.0
#define RIM_HEIGHT 2.0
#define FRICTION 0.5
#define SPACING 0.65 // 2 x 0.3, and a little

static const char text[] = "KNUCKLE";

// The frame of the plane's upper side.
static knFrame planeFrame(void) {
	knVec3 middle = knV3(-HALF_LENGTH * knCos(SLOPE), 0.0, HALF_LENGTH * knSin(SLOPE));
	return knMakeFrame(middle, knQuat_FromAxisAngle(knV3(0.0, 1.0, 0.0), SLOPE));
}

// A box given in the plane's frame.
static void addOnPlane(knSceneBuilder* builder, const char* name, knVec3 center, double angle, knVec3 half,
					   uint32_t color) {
	knQuat turn = knQuat_FromAxisAngle(knV3(0.0, 0.0, 1.0), angle);
	knSceneBuilder_Fixture(builder, name, knMulF(planeFrame(), knMakeFrame(center, turn)), half);
	if (builder->scene != NULL) {
		knSceneBuilder_LastShape(builder)->color = color;
	}
}

static void addWalls(knSceneBuilder* builder) {
	knVec3 wall = knV3(HALF_LENGTH, 0.5, 0.5 * WALL_HEIGHT);
	for (int side = -1; side <= 1; side += 2) {
		knVec3 center = knV3(0.0, side * (HALF_WIDTH + 0.5), 0.5 * WALL_HEIGHT);
		addOnPlane(builder, side < 0 ? "wall_right" : "wall_left", center, 0.0, wall, KN_COLOR_GROUND);
	}
	knVec3 back = knV3(0.5, HALF_WIDTH + 1.0, 0.5 * WALL_HEIGHT);
	addOnPlane(builder, "wall_back", knV3(-HALF_LENGTH - 0.5, 0.0, 0.5 * WALL_HEIGHT), 0.0, back,
			   KN_COLOR_GROUND);
}

// Lowers the points of the field that are within half a stroke of the line from a to b (in the plane's frame).
static void engraveLine(double* heights, knVec3 a, knVec3 b) {
	knVec3 along = knSub(b, a);
	double square = knLengthSquared(along);
	for (int j = 0; j < ROWS; ++j) {
		for (int i = 0; i < COLUMNS; ++i) {
			knVec3 point = knV3(CELL * i - HALF_LENGTH, CELL * j - HALF_WIDTH, 0.0);
			double t = knClamp(knDot(knSub(point, a), along) / square, 0.0, 1.0);
			if (knDistance(point, knMulAdd(a, t, along)) < 0.5 * STROKE) {
				heights[j * COLUMNS + i] = -DEPTH;
			}
		}
	}
}

// One row of letters in the middle, read from below.
static void engraveText(double* heights) {
	int count = (int)sizeof(text) - 1;
	double unit = LETTER / KN_GLYPH_HEIGHT, advance = 2.0 * (HALF_WIDTH - 0.2) / count,
		   scaleY = (advance - STROKE - 0.25) / KN_GLYPH_WIDTH;
	for (int i = 0; i < count; ++i) {
		knStroke strokes[KN_GLYPH_MAX_STROKES];
		int strokeCount = knGlyph_Strokes(text[i], strokes);
		double middle = advance * (i - 0.5 * (count - 1));
		for (int k = 0; k < strokeCount; ++k) {
			// x of the glyph runs across, y up the slope
			knVec3 a = knV3(-unit * (strokes[k].y0 - 0.5 * KN_GLYPH_HEIGHT),
							middle + scaleY * (strokes[k].x0 - 0.5 * KN_GLYPH_WIDTH), 0.0);
			knVec3 b = knV3(-unit * (strokes[k].y1 - 0.5 * KN_GLYPH_HEIGHT),
							middle + scaleY * (strokes[k].x1 - 0.5 * KN_GLYPH_WIDTH), 0.0);
			engraveLine(heights, a, b);
		}
	}
}

static void addPlane(knSceneBuilder* builder) {
	knAllocator allocator = knAllocator_Default();
	size_t count = (size_t)COLUMNS * ROWS;
	double* heights = knAllocZero(&allocator, count * sizeof(double));
	knGeom* geom = NULL;
	if (heights != NULL) {
		engraveText(heights);
		knHeightFieldDef field = { COLUMNS, ROWS, CELL, CELL, heights };
		geom = knGeom_HeightField(&field, NULL, builder->error);
		knFree(&allocator, heights, count * sizeof(double));
	} else {
		knError_Set(builder->error, KN_NO_MEMORY, "letters", "there is no memory for the plane");
	}
	knSceneBuilder_Require(builder, geom != NULL);
	if (builder->scene != NULL) {
		knShapeDef shape = knShapeDef_Default();
		shape.name = "plane";
		shape.color = KN_COLOR_SAND;
		shape.frame = planeFrame();
		knShapeId id = knScene_AddShape(builder->scene, KN_WORLD_BODY, geom, &shape, builder->error);
		knSceneBuilder_Require(builder, !KN_ID_IS_NULL(id));
	}
	if (geom != NULL) {
		knGeom_Release(geom);
	}
}

// Level floor below the plane's lower edge, with a rim on three sides.
static void addFloor(knSceneBuilder* builder) {
	double start = planeFrame().p.x + HALF_LENGTH * knCos(SLOPE);
	knVec3 middle = knV3(start + 0.5 * FLOOR_LENGTH, 0.0, 0.5 * RIM_HEIGHT);
	for (int side = -1; side <= 1; side += 2) {
		knFrame frame = knMakeFrame(knAdd(middle, knV3(0.0, side * (HALF_WIDTH + 0.5), 0.0)), knIdentityQ());
		knVec3 half = knV3(0.5 * FLOOR_LENGTH + 1.0, 0.5, 0.5 * RIM_HEIGHT);
		knSceneBuilder_Fixture(builder, side < 0 ? "rim_right" : "rim_left", frame, half);
	}
	knFrame front = knMakeFrame(knAdd(middle, knV3(0.5 * FLOOR_LENGTH + 0.5, 0.0, 0.0)), knIdentityQ());
	knSceneBuilder_Fixture(builder, "rim_front", front, knV3(0.5, HALF_WIDTH, 0.5 * RIM_HEIGHT));
}

// In a block of 10 x 10 in each layer, above the upper part of the plane.
static void addBalls(knSceneBuilder* builder, int balls) {
	for (int i = 0; i < balls; ++i) {
		char name[32];
		snprintf(name, sizeof(name), "ball%d", i);
		knVec3 place = knV3(-HALF_LENGTH + 2.0 + SPACING * (i % 10), SPACING * (i / 10 % 10 - 4.5),
							1.0 + SPACING * (i / 100));
		double jitter = 0.5 * (SPACING - 0.6);
		place.x += knSceneBuilder_Uniform(builder, -jitter, jitter);
		place.y += knSceneBuilder_Uniform(builder, -jitter, jitter);
		double radius = knSceneBuilder_Uniform(builder, 0.1, 0.3);
		uint32_t color = knSceneBuilder_Shade(builder, i % 2 == 0 ? KN_COLOR_BLUE : KN_COLOR_TEAL);
		knSceneBuilder_Ball(builder, name, knPoint(planeFrame(), place), radius, 1000.0, color);
	}
}

static knScene* build(const knSceneArgs* args, knError* error) {
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	knSceneBuilder_Ground(&builder, 50.0);
	addPlane(&builder);
	addWalls(&builder);
	addFloor(&builder);
	double rolling = knSceneArgs_Get(args, "rolling");
	addBalls(&builder, (int)knSceneArgs_Get(args, "balls"));
	for (int i = 0; builder.scene != NULL && i < knScene_ShapeSlots(builder.scene); ++i) {
		knShapeDef* shape = knScene_EditShape(builder.scene, knScene_ShapeAt(builder.scene, i));
		shape->friction = FRICTION;
		shape->rollingFriction = rolling;
	}
	return knSceneBuilder_End(&builder);
}

static void observe(knWorld* world, const knSceneArgs* args, knSceneChecks* checks) {
	const knModel* model = knWorld_Model(world);
	int outside = 0, caught = 0;
	for (int i = 0; i < knModel_BodyCount(model); ++i) {
		knVec3 center = knWorld_BodyCenter(world, knModel_BodyAt(model, i));
		double above = knInvPoint(planeFrame(), center).z;
		bool out = center.z < 0.0 || knAbs(center.y) > HALF_WIDTH || center.x > FLOOR_LENGTH ||
				   (center.x < 0.0 && above < -DEPTH);
		outside += out;
		caught += !out && center.x < 0.0 && above < 0.0;
	}
	knSceneChecks_Set(checks, "outside", outside);
	knSceneChecks_Set(checks, "caught", caught);
	knRest_Observe(world, args, checks);
}

const knSceneEntry knLettersEntry = {
	.name = "letters",
	.view = { -40, 30, 1 },
	.bodies = 1000,
	.joints = 0,
	.summary = "balls roll down an inclined plane with engraved letters",
	.source = "Erleben 2007, figure 17",
	.steppers = "velocity impulse",
	.dt = 0.01,
	.time = 10.0,
	.params = {
		{ .name = "balls", .value = 1000, .lower = 1, .upper = 100000, .integer = true, .help = "balls", .small = 40 },
		{ .name = "rolling", .value = 0, .lower = 0, .upper = 1, .help = "arm of the rolling friction, m" },
	},
	.build = build,
	.observe = observe,
};
