// snake: a snake of many links travels over a bridge by its own joint drives.
//
// The bridge is a round beam along x. start=wrapped winds the snake around it, head towards +x; start=dropped stretches it
// above a flat deck, on which it falls. Its hinges, which turn it from the bridge, sideways and along itself in turn, are
// position servos whose zero is the first pose.
//
// Gait, as of a caterpillar: humps run from tail to head. Where there is none the snake lies still; a hump is longer than
// the way under it, so that each that has run through has carried the snake ahead by the difference. On the way H(u), the
// snake's first line (u: its length), with the normal n(u) of the bridge:
//
//   P(u) = H(u) + h/2 (1 - cos(2 pi u/B)) n(u),  0 <= u <= B          the line of the snake in a hump
//   R = (T, S, T x S)     T along P, S perpendicular to T and next to `across`, as the hinges' axes are in the first pose
//   Theta(s)              the turns of R along P up to body length s, about its own axes, less those of the first pose
//
// A hinge that stands for the stretch from s1 to s2 is told its component of Theta(s2) - Theta(s1). So the snake in a hump
// has the shape P, and lies again on the way H behind and ahead of it; only hinges in humps are driven.
//
// Facts: travelled, m, of the centre of mass ahead along the bridge; touching, links on the bridge; first_contact, s.
#include <stdio.h>
#include <string.h>

#include "rope.h"

#define LENGTH 0.1 // of a link
#define RADIUS 0.025
#define BEAM_RADIUS 1.0
#define BEAM_HEIGHT 4.0
#define CLEAR 1e-4       // m, between the snake and the bridge
#define TURN_ADVANCE 3.0 // m along the beam, of one turn of the snake
#define DROP 0.5         // m, in start=dropped
#define DECK_HALF_WIDTH 1.0
#define HUMP_HEIGHT 0.7
#define HUMP_WAY 2.4     // m, B
#define HUMP_SPACING 250 // links from hump to hump
#define HUMP_SPEED 2.5   // m/s along the body: its top is lifted with about 1 g
#define KINDS 3          // of hinges
#define STIFFNESS 8000.0 // N m/rad: a span of 4 m sags by some centimetres
#define DAMPING 100.0    // N m s/rad, about critical for a metre of snake
#define MARGIN 4         // hinges beside a hump that are told their zero again

enum { START_WRAPPED, START_DROPPED };

static bool isWrapped(const knSceneArgs* args) {
	return (int)knSceneArgs_Get(args, "start") == START_WRAPPED;
}

// --- the first pose ----------------------------------------------------------------------------------------------

// A helix about the x axis through (0, 0, BEAM_HEIGHT).
typedef struct Helix {
	double radius, turn, rise; // turn, rad, and rise, m, of a link
	double from;               // x of its first point
} Helix;

// The middles of the links are the nearest to the beam.
static Helix makeHelix(int links) {
	Helix helix = { .radius = BEAM_RADIUS + RADIUS };
	for (int i = 0; i < 20; ++i) {
		double lean = TURN_ADVANCE / (2.0 * KN_PI * helix.radius), around = LENGTH / sqrt(1.0 + lean * lean);
		double half = 0.5 * around / helix.radius; // asin(x) = x + x^3/6 + ...
		helix.turn = 2.0 * (half + half * half * half / 6.0);
		helix.rise = around * lean;
		helix.radius = (BEAM_RADIUS + RADIUS + CLEAR) / knCos(0.5 * helix.turn);
	}
	helix.from = -0.5 * links * helix.rise;
	return helix;
}

static knVec3 helixPoint(int index, const void* context) {
	const Helix* helix = context;
	double angle = index * helix->turn;
	return knV3(helix->from + index * helix->rise, helix->radius * knSin(angle),
				BEAM_HEIGHT + helix->radius * knCos(angle));
}

// Lies in the bridge's surface; turns about it lead away from the bridge.
static knVec3 across(bool wrapped) {
	return wrapped ? knV3(1.0, 0.0, 0.0) : knV3(0.0, -1.0, 0.0);
}

static void addServos(knSceneBuilder* builder) {
	for (int i = 0; builder->scene != NULL && i < knScene_JointSlots(builder->scene); ++i) {
		char name[32];
		snprintf(name, sizeof(name), "servo%d", i + 1);
		knActuatorDef servo = knActuatorDef_Default();
		servo.name = name;
		servo.joint = knScene_JointAt(builder->scene, i);
		servo.gain[0] = STIFFNESS;
		servo.bias[1] = -STIFFNESS;
		servo.bias[2] = -DAMPING;
		knSceneBuilder_Require(builder, knScene_AddActuator(builder->scene, &servo, builder->error) >= 0);
	}
}

static void addBridge(knSceneBuilder* builder, double halfSpan) {
	double height = BEAM_HEIGHT - BEAM_RADIUS, half = halfSpan + 4.0;
	knSceneBuilder_Ground(builder, 2.0 * half);
	for (int i = 0; i < 2; ++i) {
		knFrame pier = knMakeFrame(knV3(i == 0 ? -half : half, 0.0, 0.5 * height), knIdentityQ());
		knSceneBuilder_Fixture(builder, i == 0 ? "pier0" : "pier1", pier, knV3(0.5, 0.8, 0.5 * height));
	}
	if (isWrapped(builder->args)) {
		knSceneBuilder_Bar(builder, "beam", knV3(0.0, 0.0, BEAM_HEIGHT), knV3(1.0, 0.0, 0.0), BEAM_RADIUS,
						   half);
	} else {
		knFrame deck = knMakeFrame(knV3(0.0, 0.0, height + 0.2), knIdentityQ());
		knSceneBuilder_Fixture(builder, "deck", deck, knV3(half, DECK_HALF_WIDTH, 0.2));
	}
}

static knScene* build(const knSceneArgs* args, knError* error) {
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	int links = (int)knSceneArgs_Get(args, "dofs");
	Helix helix = makeHelix(links);
	knRopeLine line = { knV3(-0.5 * links * LENGTH, 0.0, BEAM_HEIGHT - BEAM_RADIUS + 0.4 + RADIUS + DROP),
						knV3(LENGTH, 0.0, 0.0) };
	addBridge(&builder, isWrapped(args) ? 0.5 * links * helix.rise : 0.5 * links * LENGTH);
	knRopeDef rope = knRopeDef_Default();
	rope.links = links;
	rope.radius = RADIUS;
	rope.path = isWrapped(args) ? helixPoint : knRope_Straight;
	rope.context = isWrapped(args) ? (const void*)&helix : (const void*)&line;
	rope.across = across(isWrapped(args));
	rope.kinds = KINDS;
	rope.colors[0] = KN_COLOR_TEAL;
	knRope_Add(&builder, &rope);
	if (knSceneArgs_Get(args, "drive") > 0.0) {
		addServos(&builder);
	}
	knRope_SetActive(&builder, 70);
	return knSceneBuilder_End(&builder);
}

// --- the gait ------------------------------------------------------------------------------------------------------

#define SAMPLES 600

typedef struct Hump {
	double s[SAMPLES + 1];           // body length, from the hump's rear
	double turn[SAMPLES + 1][KINDS]; // Theta about S, T x S, T: in the order of the hinges
} Hump;

// A point of the way or, lifted, of the hump.
static knVec3 humpPoint(bool wrapped, const Helix* helix, double u, bool lifted) {
	double y = lifted ? 0.5 * HUMP_HEIGHT * (1.0 - knCos(2.0 * KN_PI * u / HUMP_WAY)) : 0.0;
	if (!wrapped) {
		return knV3(u, 0.0, y);
	}
	double around = helix->radius * helix->turn, link = sqrt(around * around + helix->rise * helix->rise);
	double angle = u / link * helix->turn, r = helix->radius + y;
	return knV3(u / link * helix->rise, r * knSin(angle), r * knCos(angle));
}

// The snake's axes at u: along, S, and across both.
static void humpAxes(bool wrapped, const Helix* helix, double u, bool lifted, knVec3 axes[3]) {
	const double d = 1e-4;
	knVec3 behind = humpPoint(wrapped, helix, u - d, lifted),
		   ahead = humpPoint(wrapped, helix, u + d, lifted);
	knVec3 side = across(wrapped);
	axes[2] = knNormalize(knSub(ahead, behind));
	axes[0] = knNormalize(knMulAdd(side, -knDot(side, axes[2]), axes[2]));
	axes[1] = knCross(axes[2], axes[0]);
}

// Turns about its own axes that lead from the first axes to the second; they are near each other.
static void turnsBetween(const knVec3 from[3], const knVec3 to[3], double turns[KINDS]) {
	for (int k = 0; k < KINDS; ++k) {
		int b = (k + 1) % 3, c = (k + 2) % 3;
		turns[k] = 0.5 * (knDot(from[c], to[b]) - knDot(from[b], to[c]));
	}
}

// The first pose turns evenly along the snake, so its turns of one step, over its length, are those of all.
static Hump makeHump(bool wrapped) {
	Hump hump = { { 0.0 }, { { 0.0 } } };
	Helix helix = makeHelix(1);
	double step = HUMP_WAY / SAMPLES;
	knVec3 flat[2][3], axes[2][3];
	double rest[KINDS];
	humpAxes(wrapped, &helix, 0.0, false, flat[0]);
	humpAxes(wrapped, &helix, step, false, flat[1]);
	turnsBetween(flat[0], flat[1], rest);
	humpAxes(wrapped, &helix, 0.0, true, axes[0]);
	for (int i = 0; i < SAMPLES; ++i) {
		double turns[KINDS];
		humpAxes(wrapped, &helix, (i + 1) * step, true, axes[(i + 1) % 2]);
		turnsBetween(axes[i % 2], axes[(i + 1) % 2], turns);
		double ds = knDistance(humpPoint(wrapped, &helix, i * step, true),
							   humpPoint(wrapped, &helix, (i + 1) * step, true));
		hump.s[i + 1] = hump.s[i] + ds;
		for (int k = 0; k < KINDS; ++k) {
			hump.turn[i + 1][k] = hump.turn[i][k] + turns[k] - rest[k] * ds / step;
		}
	}
	return hump;
}

static double turnAt(const Hump* hump, double s, int kind) {
	int low = 0, high = SAMPLES;
	if (s <= 0.0 || s >= hump->s[SAMPLES]) {
		return hump->turn[s <= 0.0 ? 0 : SAMPLES][kind];
	}
	while (high - low > 1) {
		int middle = (low + high) / 2;
		low = hump->s[middle] <= s ? middle : low;
		high = hump->s[middle] <= s ? high : middle;
	}
	double part = (s - hump->s[low]) / (hump->s[high] - hump->s[low]);
	return hump->turn[low][kind] + part * (hump->turn[high][kind] - hump->turn[low][kind]);
}

// Tells the hinges of one hump, whose rear is at body length `rear` from the tail.
static void driveHump(knWorld* world, const Hump* hump, double rear, int links) {
	int first = (int)floor(rear / LENGTH) - MARGIN;
	int last = (int)floor((rear + hump->s[SAMPLES]) / LENGTH) + MARGIN;
	for (int hinge = first < 1 ? 1 : first; hinge <= last && hinge < links; ++hinge) {
		// the stretch half way to the next hinges of its kind
		double s = hinge * LENGTH - rear, half = 0.5 * KINDS * LENGTH;
		int kind = hinge % KINDS;
		knWorld_SetControl(world, hinge - 1, turnAt(hump, s + half, kind) - turnAt(hump, s - half, kind));
	}
}

static void drive(knWorld* world, const knSceneArgs* args) {
	if (knSceneArgs_Get(args, "drive") == 0.0) {
		return;
	}
	const knScene* scene = knModel_Scene(knWorld_Model(world));
	int links = (int)knSceneArgs_Get(args, "dofs");
	double time = knWorld_Time(world) + knScene_GetDef(scene)->dt - (isWrapped(args) ? 0.0 : 1.0);
	Hump hump = makeHump(isWrapped(args));
	// humps follow each other in at the tail
	double spacing = HUMP_SPACING * LENGTH, front = HUMP_SPEED * time, end = links * LENGTH + hump.s[SAMPLES];
	for (; front > 0.0; front -= spacing) {
		if (front < end + MARGIN * LENGTH) {
			driveHump(world, &hump, front - hump.s[SAMPLES], links);
		}
	}
}

static void observe(knWorld* world, const knSceneArgs* args, knSceneChecks* checks) {
	const knModel* model = knWorld_Model(world);
	const knScene* scene = knModel_Scene(model);
	double ahead = 0.0;
	int bodies = knModel_BodyCount(model), count = 0, touching = 0;
	for (int i = 0; i < bodies; ++i) {
		knBodyId body = knModel_BodyAt(model, i);
		ahead += (knWorld_BodyCenter(world, body).x - knScene_GetBody(scene, body)->frame.p.x) / bodies;
	}
	const knContact* contacts = knWorld_Contacts(world, &count);
	for (int i = 0; i < count; ++i) {
		bool first = i == 0 || !KN_ID_EQUALS(contacts[i].bodyB, contacts[i - 1].bodyB) ||
					 !KN_ID_EQUALS(contacts[i].bodyA, contacts[i - 1].bodyA);
		touching += first && knLength(contacts[i].impulse) > 0.0;
	}
	knSceneChecks_Set(checks, "travelled", ahead);
	knSceneChecks_Set(checks, "touching", touching);
	knFirstContact_Observe(world, args, checks);
}

const knSceneEntry knSnakeEntry = {
	.name = "snake",
	.bodies = 500,
	.joints = 499,
	.summary = "a snake of many links, wound around a bridge, travels over it by its joint drives",
	.source = "Gayle, Lin & Manocha 2006, figure 6",
	.steppers = KN_ROPE_STEPPERS,
	.dt = 0.01,
	.time = 20.0,
	.view = { -70, 14, 0.8 },
	.params = {
		{ .name = "dofs", .value = 500, .lower = 2, .upper = 1e6, .integer = true, .help = "links of 0.1 m", .small = 40 },
		{ .name = "start", .value = START_WRAPPED, .lower = 0, .upper = 1, .integer = true, .help = "around the beam, or stretched above a flat deck", .choices = "wrapped dropped" },
		{ .name = "drive", .value = 1, .lower = 0, .upper = 1, .integer = true, .help = "0: its joints are free" },
	},
	.build = build,
	.script = drive,
	.observe = observe,
};
