// magnets: letters on a vertical door, each held by a planar joint (two slides in the door's plane and a turn about its
// normal). They slide down, meet each other and the ledge below. The door is a body of its own, so that letters, which do not
// collide with what they are jointed to, collide with the ledge.
//
// A letter is a compound of boxes, one per stroke, in the plane y = 0. out_of_plane: the farthest that any letter has come
// from it; tilt: the largest angle out of it, rad; travelled: the farthest that any has slid down; outside: letters below the
// ledge.
#include <stdio.h>

#include "glyphs.h"
#include "scene_tools.h"

#define UNIT 0.03 // of the glyphs' cell
#define STROKE_HALF 0.013
#define HALF_THICKNESS 0.03
#define COLUMN 0.19
#define ROW 0.26
#define PER_ROW 15
#define LEAST_ROWS 14  // of the door: a lone letter has a way to fall
#define DOOR_GAP 0.001 // behind the letters
#define LEDGE_HALF 0.1

static const char text[] = "KNUCKLEJOINTSDONOTDRIFTSTACKSSTANDSTILL";

static knGeom* letterGeom(char letter, knError* error) {
	knStroke strokes[KN_GLYPH_MAX_STROKES];
	knGeomChild children[KN_GLYPH_MAX_STROKES];
	int count = knGlyph_Strokes(letter, strokes), made = 0;
	for (; made < count; ++made) {
		const knStroke* s = &strokes[made];
		knVec3 from =
			knV3(UNIT * (s->x0 - 0.5 * KN_GLYPH_WIDTH), 0.0, UNIT * (s->y0 - 0.5 * KN_GLYPH_HEIGHT));
		knVec3 to = knV3(UNIT * (s->x1 - 0.5 * KN_GLYPH_WIDTH), 0.0, UNIT * (s->y1 - 0.5 * KN_GLYPH_HEIGHT));
		// strokes reach past their ends, so that corners are closed
		knVec3 half = knV3(STROKE_HALF, HALF_THICKNESS, 0.5 * knDistance(from, to) + STROKE_HALF);
		knVec3 along = knNormalize(knSub(to, from));
		double angle = knAtan2(along.x, along.z);
		children[made].frame =
			knMakeFrame(knScale(0.5, knAdd(from, to)), knQuat_FromAxisAngle(knV3(0.0, 1.0, 0.0), angle));
		children[made].geom = knGeom_Box(half, NULL, error);
		if (children[made].geom == NULL) {
			break;
		}
	}
	knGeom* geom = made == count ? knGeom_Compound(children, count, NULL, error) : NULL;
	for (int i = 0; i < made; ++i) {
		knGeom_Release(children[i].geom);
	}
	return geom;
}

// Rows of the door; letters fill it from the top.
static int doorRows(int count) {
	int rows = (count + PER_ROW - 1) / PER_ROW;
	return rows > LEAST_ROWS ? rows : LEAST_ROWS;
}

static knBodyId addDoor(knSceneBuilder* builder, int rows) {
	double width = 0.5 * COLUMN * (PER_ROW + 1), height = ROW * (rows + 1);
	// the frame around: a ledge below, a rim on both sides
	knVec3 ledge = knV3(width + 2.0 * LEDGE_HALF, LEDGE_HALF, LEDGE_HALF);
	knSceneBuilder_Fixture(builder, "ledge", knMakeFrame(knV3(0.0, 0.0, -LEDGE_HALF), knIdentityQ()), ledge);
	knVec3 rim = knV3(LEDGE_HALF, LEDGE_HALF, 0.5 * height);
	for (int side = -1; side <= 1; side += 2) {
		knFrame frame = knMakeFrame(knV3(side * (width + LEDGE_HALF), 0.0, 0.5 * height), knIdentityQ());
		knSceneBuilder_Fixture(builder, side < 0 ? "rim_left" : "rim_right", frame, rim);
	}
	knFrame frame = knMakeFrame(knV3(0.0, HALF_THICKNESS + DOOR_GAP + 0.02, 0.5 * height), knIdentityQ());
	knBodyId door = knSceneBuilder_Box(builder, "door", frame, knV3(width, 0.02, 0.5 * height), 0xe8e8e4);
	if (builder->scene != NULL) {
		knScene_EditBody(builder->scene, door)->kind = KN_BODY_FIXED;
	}
	return door;
}

static void addLetter(knSceneBuilder* builder, knBodyId door, int index, int count, const knGeom* geom) {
	static const uint32_t colors[] = { KN_COLOR_RED, KN_COLOR_BLUE, KN_COLOR_SAND, KN_COLOR_TEAL,
									   KN_COLOR_PLUM };
	int row = index / PER_ROW, inRow = count - row * PER_ROW < PER_ROW ? count - row * PER_ROW : PER_ROW;
	knBodyDef def = knBodyDef_Default();
	char name[32];
	snprintf(name, sizeof(name), "letter%d_%c", index, text[index % ((int)sizeof(text) - 1)]);
	def.name = name;
	def.frame.p = knV3(COLUMN * (index % PER_ROW - 0.5 * (inRow - 1)), 0.0, ROW * (doorRows(count) - row));
	// a little askew, as one would put them
	double askew = count == 1 ? 0.0 : knSceneBuilder_Uniform(builder, -0.05, 0.05);
	def.frame.q = knQuat_FromAxisAngle(knV3(0.0, 1.0, 0.0), askew);
	def.color = colors[index % 5];
	knBodyId letter = knSceneBuilder_Body(builder, &def, geom);
	knJointDef joint = knJointDef_Default(KN_JOINT_PLANAR);
	knSceneBuilder_Joint(builder, &joint, door, letter, def.frame.p, knV3(0.0, -1.0, 0.0));
}

static knScene* build(const knSceneArgs* args, knError* error) {
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	int count = (int)knSceneArgs_Get(args, "letters");
	knBodyId door = addDoor(&builder, doorRows(count));
	knGeom* geoms[26] = { NULL };
	for (int i = 0; i < count && builder.scene != NULL; ++i) {
		int letter = text[i % ((int)sizeof(text) - 1)] - 'A';
		if (geoms[letter] == NULL) {
			geoms[letter] = letterGeom((char)('A' + letter), error);
			knSceneBuilder_Require(&builder, geoms[letter] != NULL);
		}
		addLetter(&builder, door, i, count, geoms[letter]);
	}
	for (int i = 0; i < 26; ++i) {
		knGeom_Release(geoms[i]);
	}
	return knSceneBuilder_End(&builder);
}

static void observe(knWorld* world, const knSceneArgs* args, knSceneChecks* checks) {
	(void)args;
	const knModel* model = knWorld_Model(world);
	double away = 0.0, tilt = 0.0, travelled = 0.0;
	int outside = 0;
	for (int i = 1; i < knModel_BodyCount(model); ++i) { // the door comes first
		knBodyId letter = knModel_BodyAt(model, i);
		knFrame now = knWorld_BodyFrame(world, letter),
				start = knScene_GetBody(knModel_Scene(model), letter)->frame;
		away = knMax(away, knAbs(now.p.y));
		tilt = knMax(tilt, knAcos(knRotate(now.q, knV3(0.0, 1.0, 0.0)).y));
		travelled = knMax(travelled, start.p.z - now.p.z);
		outside += now.p.z < 0.0;
	}
	knSceneChecks_Max(checks, "out_of_plane", away);
	knSceneChecks_Max(checks, "tilt", tilt);
	knSceneChecks_Set(checks, "travelled", travelled);
	knSceneChecks_Set(checks, "outside", outside);
}

const knSceneEntry knMagnetsEntry = {
	.name = "magnets",
	.view = { -70, 10, 1.8 },
	.bodies = 211,
	.joints = 210,
	.summary = "letters on planar joints slide down a door",
	.source = "Weinstein et al. 2006, figure 1",
	.steppers = "impulse velocity",
	.dt = 1.0 / 60.0,
	.time = 10.0,
	.params = {
		{ .name = "letters", .value = 210, .lower = 1, .upper = 10000, .integer = true, .help = "letters", .small = 15 },
	},
	.build = build,
	.observe = observe,
};
