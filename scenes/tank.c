// tank: hull, gun (a servo), lid (a hinge), six gears and two treads of 34 hinged links (77 bodies), driven as in Weinstein et
// al. 2006, section 6. x points ahead, y to the left.
//
//   gears     twelve flats, on which the links of length p lie: pins on a circle of radius R = p / (2 sin 15 deg), one slot every
//             30 degrees. The outer gears are 11 p apart, so that 6 + 11 + 6 + 11 links close around them exactly
//   drive     the outer gears turn against the hull at a given speed; the middle ones turn freely
//   holding   each step, a pin within NEAR of a slot of an outer gear, and two neighbours on either side likewise, is attached
//             to that slot by a hinge; every other attachment is released. So a link at both ends of a run is always free to
//             bend, and peels off as the tread leaves the gear. With one neighbour it is not: where flats of both gears lie
//             along a run, its pins lie in slots too, and links held there are just as long as the way between the gears.
//             Then nothing can give, gears included, and the errors of the joints are squares of what would close them
//
// Facts: turned, the hull's turn about the vertical, rad; travelled, m; link_offset, the farthest that a pin has come from the
// loop as built, in the hull's frame, over a link's length (until a flight has ended); attached, links held now. In free flight (drive=fall):
// where the gears go twice as fast, flight_turn, the hull's turn about y; flight_spin, the change of its spin about y,
// against that of the treads when negative; flight_drift, the change of angular momentum about the centre of mass over its
// value, all since the last contact with the ground.
#include <stdio.h>
#include <string.h>

#include "scene_tools.h"

#define LINKS 34
#define SLOTS 12
#define PITCH 0.2
#define STRAIGHT 11 // links from gear to gear
#define LINK_HALF_WIDTH 0.175
#define LINK_HALF_THICKNESS 0.04
#define LINK_GAP 0.005 // on each side of a pin
#define GEAR_HALF_WIDTH 0.06
#define GEAR_GAP 0.001 // between a flat and a link on it
#define TRACK 1.0      // |y| of gears and treads
#define NEAR 0.02
#define NEIGHBOURS 2 // on either side of a pin that is held
#define SPEED 3.0    // rad/s
#define RAMP 0.5     // s, to reach it
#define THROTTLE 2.0
#define TORQUE 2e4
#define CAPACITY 64
#define LEDGE_HEIGHT 12.0

enum { DRIVE_STRAIGHT, DRIVE_TURN, DRIVE_FALL };

// --- the loop of pins, in the plane y = 0 of the hull's frame, whose origin lies between the outer axles ------------------

static double pinRadius(void) {
	return 0.5 * PITCH / knSin(KN_PI / SLOTS);
}

static double axle(int gear) {
	return 0.5 * STRAIGHT * PITCH * (gear - 1); // 0 rear, 1 middle, 2 front
}

// Pin k of 34: around the front gear from below, back along the top, around the rear gear, ahead along the ground.
static knVec3 pinPlace(int k) {
	double r = pinRadius(), front = axle(2);
	k = (k + LINKS) % LINKS;
	if (k <= 6) {
		double angle = KN_PI * (k / 6.0 - 0.5);
		return knV3(front + r * knCos(angle), 0.0, r * knSin(angle));
	}
	if (k < 17) {
		return knV3(front - PITCH * (k - 6), 0.0, r);
	}
	if (k <= 23) {
		double angle = KN_PI * ((k - 17) / 6.0 + 0.5);
		return knV3(-front + r * knCos(angle), 0.0, r * knSin(angle));
	}
	return knV3(-front + PITCH * (k - 23), 0.0, -r);
}

static void partName(char* name, size_t capacity, const char* part, int side, int index) {
	snprintf(name, capacity, "%s_%s%d", part, side == 0 ? "left" : "right", index);
}

static double sideOf(int side) {
	return side == 0 ? TRACK : -TRACK;
}

// --- building --------------------------------------------------------------------------------------------------

static knJointId addHinge(knSceneBuilder* builder, const char* name, knBodyId parent, knBodyId child,
						  knVec3 anchor, bool loop) {
	knJointDef def = knJointDef_Default(KN_JOINT_HINGE);
	def.name = name;
	def.loop = loop;
	return knSceneBuilder_Joint(builder, &def, parent, child, anchor, knV3(0.0, 1.0, 0.0));
}

static knGeom* boxChildren(const knVec3* halves, const knFrame* frames, int count, knError* error) {
	knGeomChild children[8];
	knGeom* geom = NULL;
	int made = 0;
	for (; made < count; ++made) {
		children[made].frame = frames[made];
		children[made].geom = knGeom_Box(halves[made], NULL, error);
		if (children[made].geom == NULL) {
			break;
		}
	}
	if (made == count) {
		geom = knGeom_Compound(children, count, NULL, error);
	}
	for (int i = 0; i < made; ++i) {
		knGeom_Release(children[i].geom);
	}
	return geom;
}

// Six boxes, each with two opposite flats. The middle gear, whose turn is not that of the others, is smaller: its corners
// clear the links of a straight tread.
static knGeom* gearGeom(bool middle, knError* error) {
	double flat = pinRadius() * knCos(KN_PI / SLOTS) - LINK_HALF_THICKNESS - GEAR_GAP;
	double sine, cosine;
	knSinCos(KN_PI / SLOTS, &sine, &cosine);
	flat *= middle ? cosine : 1.0;
	knVec3 halves[SLOTS / 2];
	knFrame frames[SLOTS / 2];
	for (int i = 0; i < SLOTS / 2; ++i) {
		halves[i] = knV3(flat, GEAR_HALF_WIDTH, flat * sine / cosine);
		frames[i] =
			knMakeFrame(knZero3(), knQuat_FromAxisAngle(knV3(0.0, 1.0, 0.0), KN_PI * (2 * i + 1) / SLOTS));
	}
	return boxChildren(halves, frames, SLOTS / 2, error);
}

static knBodyId addHull(knSceneBuilder* builder, knVec3 origin) {
	knVec3 halves[] = { knV3(1.2, 0.6, 0.12), knV3(0.45, 0.4, 0.1) };
	knFrame frames[] = { knMakeFrame(knV3(0.0, 0.0, 0.2), knIdentityQ()),
						 knMakeFrame(knV3(-0.1, 0.0, 0.42), knIdentityQ()) };
	knGeom* geom = boxChildren(halves, frames, 2, builder->error);
	knSceneBuilder_Require(builder, geom != NULL);
	knBodyDef def = knBodyDef_Default();
	def.name = "hull";
	def.frame.p = origin;
	def.color = 0x6b7a4f;
	knBodyId hull = geom != NULL ? knSceneBuilder_Body(builder, &def, geom) : KN_WORLD_BODY;
	knGeom_Release(geom);
	return hull;
}

static void addGunAndLid(knSceneBuilder* builder, knBodyId hull, knVec3 origin) {
	knVec3 pivot = knAdd(origin, knV3(0.36, 0.0, 0.43));
	knBodyId gun = knSceneBuilder_Rod(builder, "gun", pivot, knAdd(pivot, knV3(1.5, 0.0, 0.0)), 0.06, 20.0,
									  KN_COLOR_STEEL);
	knJointDef servo = knJointDef_Default(KN_JOINT_HINGE);
	servo.name = "gun";
	servo.axis[0].motorMode = KN_MOTOR_POSITION;
	servo.axis[0].motorMaxForce = 5e3;
	knSceneBuilder_Joint(builder, &servo, hull, gun, pivot, knV3(0.0, 1.0, 0.0));

	knVec3 edge = knAdd(origin, knV3(-0.4, 0.0, 0.55));
	knFrame frame = knMakeFrame(knAdd(edge, knV3(0.25, 0.0, 0.0)), knIdentityQ());
	knBodyId lid = knSceneBuilder_Box(builder, "lid", frame, knV3(0.25, 0.25, 0.02), 0x7f8f60);
	knJointDef hinge = knJointDef_Default(KN_JOINT_HINGE);
	hinge.name = "lid";
	hinge.axis[0].limited = true;
	hinge.axis[0].lower = -1.9;
	hinge.axis[0].upper = 0.0;
	knSceneBuilder_Joint(builder, &hinge, hull, lid, edge, knV3(0.0, 1.0, 0.0));
}

static void addGears(knSceneBuilder* builder, knBodyId hull, knVec3 origin) {
	knGeom *outer = gearGeom(false, builder->error), *middle = gearGeom(true, builder->error);
	knSceneBuilder_Require(builder, outer != NULL && middle != NULL);
	for (int i = 0; i < 6 && builder->scene != NULL; ++i) {
		int side = i / 3, gear = i % 3;
		char name[32];
		partName(name, sizeof(name), "gear", side, gear);
		knBodyDef def = knBodyDef_Default();
		def.name = name;
		def.frame.p = knAdd(origin, knV3(axle(gear), sideOf(side), 0.0));
		def.color = gear == 1 ? KN_COLOR_STEEL : KN_COLOR_RED;
		knBodyId body = knSceneBuilder_Body(builder, &def, gear == 1 ? middle : outer);
		addHinge(builder, name, hull, body, def.frame.p, false);
	}
	knGeom_Release(outer);
	knGeom_Release(middle);
}

// Link k reaches from pin k - 1 to pin k; its own pin, by which gears hold it, is pin k.
static void addTread(knSceneBuilder* builder, knVec3 origin, int side) {
	knBodyId first = KN_WORLD_BODY, previous = KN_WORLD_BODY;
	knVec3 shift = knAdd(origin, knV3(0.0, sideOf(side), 0.0));
	for (int k = 0; k < LINKS; ++k) {
		char name[32];
		partName(name, sizeof(name), "link", side, k);
		knVec3 from = pinPlace(k - 1), to = pinPlace(k), along = knSub(to, from);
		knQuat turn = knQuat_FromAxisAngle(knV3(0.0, 1.0, 0.0), -knAtan2(along.z, along.x));
		knFrame frame = knMakeFrame(knAdd(shift, knScale(0.5, knAdd(from, to))), turn);
		knVec3 half = knV3(0.5 * PITCH - LINK_GAP, LINK_HALF_WIDTH, LINK_HALF_THICKNESS);
		uint32_t color = k % 2 == 0 ? 0x44484c : 0x585d62;
		knBodyId link = knSceneBuilder_Box(builder, name, frame, half, color);
		if (k > 0) {
			addHinge(builder, name, previous, link, knAdd(shift, from), false);
		} else {
			first = link;
		}
		previous = link;
	}
	char name[32];
	partName(name, sizeof(name), "link", side, 0);
	addHinge(builder, name, previous, first, knAdd(shift, pinPlace(LINKS - 1)), true);
}

static knScene* build(const knSceneArgs* args, knError* error) {
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	if (builder.scene != NULL) {
		knScene_Def(builder.scene)->jointCapacity = CAPACITY;
	}
	knSceneBuilder_Ground(&builder, 50.0);
	knVec3 origin = knV3(0.0, 0.0, pinRadius() + LINK_HALF_THICKNESS);
	if (knSceneArgs_Get(args, "drive") == DRIVE_FALL) {
		knFrame frame = knMakeFrame(knV3(-4.0, 0.0, 0.5 * LEDGE_HEIGHT), knIdentityQ());
		knSceneBuilder_Fixture(&builder, "ledge", frame, knV3(4.0, 3.0, 0.5 * LEDGE_HEIGHT));
		origin = knAdd(origin, knV3(-2.2, 0.0, LEDGE_HEIGHT));
	}
	knBodyId hull = addHull(&builder, origin);
	addGunAndLid(&builder, hull, origin);
	addGears(&builder, hull, origin);
	addTread(&builder, origin, 0);
	addTread(&builder, origin, 1);
	return knSceneBuilder_End(&builder);
}

// --- holding the treads ----------------------------------------------------------------------------------------

typedef struct Tread {
	knBodyId link[LINKS];
	knJointId held[LINKS]; // null: by no gear
} Tread;

static Tread findTread(const knWorld* world, int side) {
	Tread tread;
	memset(&tread, 0, sizeof(tread));
	for (int k = 0; k < LINKS; ++k) {
		char name[32];
		partName(name, sizeof(name), "link", side, k);
		tread.link[k] = knScript_Find(world, name);
	}
	for (int slot = 0; slot < knWorld_AttachedSlots(world); ++slot) {
		knJointId joint = knWorld_AttachedAt(world, slot);
		knBodyId gear, link;
		knWorld_JointBodies(world, joint, &gear, &link);
		for (int k = 0; k < LINKS && !KN_ID_IS_NULL(joint); ++k) {
			if (KN_ID_EQUALS(tread.link[k], link)) {
				tread.held[k] = joint;
			}
		}
	}
	return tread;
}

static knVec3 pinLocal(void) {
	return knV3(0.5 * PITCH, 0.0, 0.0);
}

// The nearest slot in the gear's frame.
static knVec3 nearestSlot(knVec3 pin) {
	double step = 2.0 * KN_PI / SLOTS, r = pinRadius();
	double angle = step * floor(knAtan2(pin.z, pin.x) / step + 0.5);
	return knV3(r * knCos(angle), 0.0, r * knSin(angle));
}

// Whether pin k lies in a slot of one of the two outer gears; that gear and slot.
static bool isNear(const knWorld* world, const knBodyId gears[2], knBodyId link, knBodyId* gear,
				   knVec3* slot) {
	knVec3 pin = knPoint(knWorld_BodyFrame(world, link), pinLocal());
	for (int g = 0; g < 2; ++g) {
		knVec3 local = knInvPoint(knWorld_BodyFrame(world, gears[g]), pin);
		knVec3 nearest = nearestSlot(local);
		if (knDistance(local, nearest) < NEAR) {
			*gear = gears[g];
			*slot = nearest;
			return true;
		}
	}
	return false;
}

static void attach(knWorld* world, knBodyId gear, knBodyId link, knVec3 slot) {
	// both frames with x along the gear's axle
	knQuat axle = knQuat_FromAxisAngle(knV3(0.0, 0.0, 1.0), 0.5 * KN_PI);
	knJointDef def = knJointDef_Default(KN_JOINT_HINGE);
	def.parent = gear;
	def.child = link;
	def.frameParent = knMakeFrame(slot, axle);
	def.frameChild = knMakeFrame(pinLocal(), axle);
	(void)knWorld_Attach(world, &def, NULL);
}

static void holdTread(knWorld* world, int side) {
	Tread tread = findTread(world, side);
	bool near[LINKS];
	knBodyId gear[LINKS], gears[2];
	knVec3 slot[LINKS];
	char name[32];
	for (int g = 0; g < 2; ++g) {
		partName(name, sizeof(name), "gear", side, 2 * g);
		gears[g] = knScript_Find(world, name);
	}
	for (int k = 0; k < LINKS; ++k) {
		near[k] = isNear(world, gears, tread.link[k], &gear[k], &slot[k]);
	}
	for (int k = 0; k < LINKS; ++k) {
		bool inside = true;
		for (int i = -NEIGHBOURS; i <= NEIGHBOURS; ++i) {
			inside = inside && near[(k + i + LINKS) % LINKS];
		}
		bool held = !KN_ID_IS_NULL(tread.held[k]);
		if (held && !inside) {
			(void)knWorld_Release(world, tread.held[k]);
		} else if (inside && !held) {
			attach(world, gear[k], tread.link[k], slot[k]);
		}
	}
}

static void script(knWorld* world, const knSceneArgs* args) {
	const knScene* scene = knModel_Scene(knWorld_Model(world));
	int drive = (int)knSceneArgs_Get(args, "drive");
	double time = knWorld_Time(world), speed = SPEED * knClamp(time / RAMP, 0.0, 1.0);
	// in the air, full throttle
	if (drive == DRIVE_FALL &&
		knWorld_BodyCenter(world, knScript_Find(world, "hull")).z < LEDGE_HEIGHT - 0.5) {
		speed = THROTTLE * SPEED;
	}
	for (int side = 0; side < 2; ++side) {
		holdTread(world, side);
		for (int gear = 0; gear < 3; gear += 2) {
			char name[32];
			partName(name, sizeof(name), "gear", side, gear);
			double target = drive == DRIVE_TURN && side == 0 ? -speed : speed;
			(void)knWorld_SetMotor(world, knScene_FindJoint(scene, name), 0, KN_MOTOR_VELOCITY, target,
								   TORQUE);
		}
	}
	// the gun nods
	double aim = 0.15 * (knCos(time) - 1.0);
	(void)knWorld_SetMotor(world, knScene_FindJoint(scene, "gun"), 0, KN_MOTOR_POSITION, aim, 5e3);
}

// --- facts -----------------------------------------------------------------------------------------------------

// Distance from the loop as built, in the plane of the tread.
static double offsetFromLoop(knVec3 pin) {
	double nearest = 1e9;
	pin.y = 0.0;
	for (int k = 0; k < LINKS; ++k) {
		knVec3 a = pinPlace(k - 1), along = knSub(pinPlace(k), a);
		double t = knClamp(knDot(knSub(pin, a), along) / knLengthSquared(along), 0.0, 1.0);
		nearest = knMin(nearest, knDistance(pin, knMulAdd(a, t, along)));
	}
	return nearest;
}

static bool touchesGround(const knWorld* world) {
	int count;
	const knContact* contacts = knWorld_Contacts(world, &count);
	for (int i = 0; i < count; ++i) {
		bool ground = KN_ID_IS_NULL(contacts[i].bodyA) || KN_ID_IS_NULL(contacts[i].bodyB);
		if (ground && knLengthSquared(contacts[i].impulse) > 0.0) {
			return true;
		}
	}
	return false;
}

// memory[2..4]: angular momentum when the last contact ended; [5]: the hull's turn about y since; [6]: 1 in flight, 2 when a
// flight of more than half a second is over; [7]: when it began; [8]: the hull's spin about y then
static void observeFlight(knWorld* world, knFrame hull, knSceneChecks* checks) {
	double* memory = checks->memory;
	double dt = knScene_GetDef(knModel_Scene(knWorld_Model(world)))->dt;
	if (memory[6] == 2.0) {
		return;
	}
	knVec3 now = knWorld_Measure(world).angularMomentum, axle = knRotate(hull.q, knV3(0.0, 1.0, 0.0));
	double spin = knDot(axle, knWorld_BodyAngularVelocity(world, knScript_Find(world, "hull")));
	if (touchesGround(world)) {
		memory[6] = memory[6] == 1.0 && knWorld_Time(world) - memory[7] > 0.5 ? 2.0 : 0.0;
		return;
	}
	if (memory[6] == 0.0) {
		memory[2] = now.x;
		memory[3] = now.y;
		memory[4] = now.z;
		memory[5] = 0.0;
		memory[6] = 1.0;
		memory[7] = knWorld_Time(world);
		memory[8] = spin;
	}
	knVec3 start = knV3(memory[2], memory[3], memory[4]);
	memory[5] += dt * spin;
	if (knWorld_Time(world) - memory[7] > 0.5) {
		knSceneChecks_Set(checks, "flight_turn", memory[5]);
		knSceneChecks_Set(checks, "flight_spin", spin - memory[8]);
		knSceneChecks_Set(checks, "flight_drift", knDistance(now, start) / knMax(knLength(start), 1e-9));
	}
}

// memory[0]: heading at the last look, [1]: turned
static void observe(knWorld* world, const knSceneArgs* args, knSceneChecks* checks) {
	knBodyId hullId = knScript_Find(world, "hull");
	knFrame hull = knWorld_BodyFrame(world, hullId);
	knVec3 ahead = knRotate(hull.q, knV3(1.0, 0.0, 0.0));
	double heading = knAtan2(ahead.y, ahead.x), change = heading - checks->memory[0];
	change -= 2.0 * KN_PI * floor(change / (2.0 * KN_PI) + 0.5);
	checks->memory[0] = heading;
	checks->memory[1] += change;

	double offset = 0.0;
	int held = 0;
	for (int side = 0; side < 2; ++side) {
		Tread tread = findTread(world, side);
		for (int k = 0; k < LINKS; ++k) {
			knVec3 pin = knPoint(knWorld_BodyFrame(world, tread.link[k]), pinLocal());
			offset = knMax(offset, offsetFromLoop(knInvPoint(hull, pin)) / PITCH);
			held += !KN_ID_IS_NULL(tread.held[k]);
		}
	}
	knVec3 moved = knSub(hull.p, knScene_GetBody(knModel_Scene(knWorld_Model(world)), hullId)->frame.p);
	knSceneChecks_Set(checks, "turned", checks->memory[1]);
	knSceneChecks_Set(checks, "travelled", sqrt(moved.x * moved.x + moved.y * moved.y));
	if (checks->memory[6] != 2.0) {
		knSceneChecks_Max(checks, "link_offset", offset);
	}
	knSceneChecks_Set(checks, "attached", held);
	if (knSceneArgs_Get(args, "drive") == DRIVE_FALL) {
		observeFlight(world, hull, checks);
	}
}

const knSceneEntry knTankEntry = {
	.name = "tank",
	.view = { -50, 22, 1 },
	.bodies = 77,
	.joints = 76,
	.summary = "gears drive two treads of 34 links, held by joints that come and go",
	.source = "Weinstein et al. 2006, figures 4 and 7",
	.steppers = "impulse velocity",
	.dt = 1.0 / 60.0,
	.time = 10.0,
	.params = {
		{ .name = "drive", .value = DRIVE_STRAIGHT, .lower = 0, .upper = 2, .integer = true,
		  .choices = "straight turn fall", .help = "ahead, treads opposed, or off an edge" },
	},
	.build = build,
	.script = script,
	.observe = observe,
};
