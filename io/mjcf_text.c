// Joints and compounds in one line of text, as knuckle.joint.NAME, knuckle.loop.NAME and knuckle.compound.NAME carry
// them (docs/mjcf.md lists the keys; mjcf_write.c writes them):
//
//   hinge parent='crank' child='rod' frame_parent='0 0 1 1 0 0 0' frame_child='...' limit='-1 1' damping='0.1'
//
// A value stands in single quotes, in which a quote is doubled; one without blanks may stand bare.
#include "mjcf.h"

#include <stdio.h>
#include <string.h>

#include "model/joint.h"

// --- words and key=value ---------------------------------------------------------------------------------

typedef struct Text {
	knMjcf* reader;
	const knMjcfCustom* custom;
	char* at;
	char* key;   // of the present item
	char* value; // NULL for a bare word
} Text;

static bool failText(const Text* text, const char* sentence, const char* word) {
	return knMjcf_Fail(text->reader, &text->custom->element, "text", KN_BAD_DATA, sentence, word);
}

static bool isBlank(char c) {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool beginText(Text* text, knMjcf* reader, const knMjcfCustom* custom) {
	*text = (Text){ .reader = reader, .custom = custom };
	text->at = (char*)knMjcf_CopyText(reader, custom->data);
	return text->at != NULL;
}

// Undoubles the quotes of a quoted value in place and moves past it; false if it does not end.
static bool takeQuoted(Text* text) {
	char* to = text->at;
	const char* from = text->at + 1;
	text->value = to;
	while (*from != '\0' && (*from != '\'' || from[1] == '\'')) {
		from += *from == '\'' ? 1 : 0;
		*to++ = *from++;
	}
	const bool closed = *from == '\'';
	text->at = (char*)from + (closed ? 1 : 0);
	*to = '\0';
	return closed;
}

// The next item; false at the end of the text or after an error.
static bool nextItem(Text* text) {
	while (isBlank(*text->at)) {
		++text->at;
	}
	if (*text->at == '\0') {
		return false;
	}
	text->key = text->at;
	text->value = NULL;
	while (*text->at != '\0' && *text->at != '=' && !isBlank(*text->at)) {
		++text->at;
	}
	if (*text->at != '=') {
		text->at += *text->at != '\0' ? (*text->at = '\0', 1) : 0;
		return true;
	}
	*text->at++ = '\0';
	if (*text->at == '\'') {
		return takeQuoted(text) || failText(text, "the value of '%.40s' has no closing quote", text->key);
	}
	text->value = text->at;
	while (*text->at != '\0' && !isBlank(*text->at)) {
		++text->at;
	}
	text->at += *text->at != '\0' ? (*text->at = '\0', 1) : 0;
	return true;
}

// Exactly `count` numbers.
static bool takeNumbers(const Text* text, const char* value, double* numbers, int count) {
	char bad[32];
	const int found = knMjcf_ParseNumbers(value, numbers, count, bad);
	if (found < 0) {
		return failText(text, "'%s' is not a finite number", bad);
	}
	return found == count ||
		   knMjcf_Fail(text->reader, &text->custom->element, "text", KN_BAD_DATA,
					   "%.40s has %d number%s; it takes %d", text->key, found, found == 1 ? "" : "s", count);
}

static bool takeFrame(const Text* text, const double* numbers, knFrame* frame) {
	frame->p = knV3(numbers[0], numbers[1], numbers[2]);
	return knMjcf_UnitQuat(numbers + 3, &frame->q) ||
		   failText(text, "the quaternion of %.40s has no length", text->key);
}

// --- joints ----------------------------------------------------------------------------------------------

// A joint while it is read.
typedef struct Reading {
	Text text;
	knMjcfLink link;
	bool isNew;
	int ends[2]; // the bodies named, before welding
	bool placed; // anchor was given
	knVec3 anchor, axis;
} Reading;

enum { MAX_NUMBERS = 7 };

typedef bool SetFn(Reading* reading, int axis, const double* n);

static bool setFrameParent(Reading* reading, int axis, const double* n) {
	(void)axis;
	return takeFrame(&reading->text, n, &reading->link.def.frameParent);
}

static bool setFrameChild(Reading* reading, int axis, const double* n) {
	(void)axis;
	return takeFrame(&reading->text, n, &reading->link.def.frameChild);
}

static bool setAnchor(Reading* reading, int axis, const double* n) {
	(void)axis;
	reading->placed = true;
	reading->anchor = knV3(n[0], n[1], n[2]);
	return true;
}

static bool setAxis(Reading* reading, int axis, const double* n) {
	(void)axis;
	reading->axis = knNormalize(knV3(n[0], n[1], n[2]));
	return knLength(reading->axis) > 0.5 || failText(&reading->text, "%s has no direction", "axis");
}

static bool setLimit(Reading* reading, int axis, const double* n) {
	knJointAxis* to = &reading->link.def.axis[axis];
	to->limited = true;
	to->lower = n[0];
	to->upper = n[1];
	return true;
}

static bool setFriction(Reading* reading, int axis, const double* n) {
	reading->link.def.axis[axis].friction = n[0];
	return true;
}

static bool setBearing(Reading* reading, int axis, const double* n) {
	reading->link.def.axis[axis].bearing = n[0];
	return true;
}

static bool setDamping(Reading* reading, int axis, const double* n) {
	reading->link.def.axis[axis].damping = n[0];
	return true;
}

static bool setSpring(Reading* reading, int axis, const double* n) {
	reading->link.def.axis[axis].stiffness = n[0];
	reading->link.def.axis[axis].rest = n[1];
	return true;
}

static bool setArmature(Reading* reading, int axis, const double* n) {
	reading->link.def.axis[axis].armature = n[0];
	return true;
}

static bool setDrive(Reading* reading, int axis, const double* n) {
	reading->link.def.axis[axis].driveLimited = true;
	reading->link.def.axis[axis].driveLower = n[0];
	reading->link.def.axis[axis].driveUpper = n[1];
	return true;
}

// Cone and twist are a ball joint's.
static bool checkBall(const Reading* reading) {
	return reading->link.def.kind == KN_JOINT_BALL ||
		   failText(&reading->text, "%s is for ball joints", reading->text.key);
}

static bool setCone(Reading* reading, int axis, const double* n) {
	(void)axis;
	reading->link.def.coneLimited = true;
	reading->link.def.coneY = n[0];
	reading->link.def.coneZ = n[1];
	return checkBall(reading);
}

// "x y z x y z x y z ..."
static bool readReach(Reading* reading) {
	double n[3 * KN_REACH_MAX];
	char bad[32];
	knJointDef* def = &reading->link.def;
	const int found = knMjcf_ParseNumbers(reading->text.value, n, 3 * KN_REACH_MAX, bad);
	if (found < 0) {
		return failText(&reading->text, "'%s' is not a finite number", bad);
	}
	if (found % 3 != 0 || found > 3 * KN_REACH_MAX) {
		return failText(&reading->text, "%s takes the x, y and z of up to 16 corners", reading->text.key);
	}
	def->reachCount = found / 3;
	for (int i = 0; i < def->reachCount; ++i) {
		def->reach[i] = knV3(n[3 * i], n[3 * i + 1], n[3 * i + 2]);
	}
	return checkBall(reading);
}

// "corner lower upper corner lower upper ..."
static bool readReachTwist(Reading* reading) {
	double n[3 * KN_REACH_MAX];
	char bad[32];
	const int found = knMjcf_ParseNumbers(reading->text.value, n, 3 * KN_REACH_MAX, bad);
	if (found < 0) {
		return failText(&reading->text, "'%s' is not a finite number", bad);
	}
	if (found % 3 != 0 || found > 3 * KN_REACH_MAX) {
		return failText(&reading->text, "%s takes corner, lower and upper of up to 16 corners",
						reading->text.key);
	}
	for (int i = 0; i < found; i += 3) {
		if (!(n[i] >= 0.0 && n[i] < KN_REACH_MAX && n[i] == floor(n[i]))) {
			return failText(&reading->text, "%s names a corner that is none of 0 to 15", reading->text.key);
		}
		reading->link.def.reachTwist[(int)n[i]] = (knReachTwist){ true, n[i + 1], n[i + 2] };
	}
	return checkBall(reading);
}

static bool setTwist(Reading* reading, int axis, const double* n) {
	(void)axis;
	reading->link.def.twistLimited = true;
	reading->link.def.twistLower = n[0];
	reading->link.def.twistUpper = n[1];
	return checkBall(reading);
}

static bool setCollide(Reading* reading, int axis, const double* n) {
	(void)axis;
	reading->link.def.collide = n[0] != 0.0;
	return true;
}

static bool setEnabled(Reading* reading, int axis, const double* n) {
	(void)axis;
	reading->link.def.enabled = n[0] != 0.0;
	return true;
}

static bool setLoop(Reading* reading, int axis, const double* n) {
	(void)axis;
	reading->link.def.loop = n[0] != 0.0;
	return true;
}

static bool setMaxForce(Reading* reading, int axis, const double* n) {
	(void)axis;
	reading->link.def.maxForce = n[0];
	return true;
}

typedef struct Key {
	const char* name;
	bool perAxis; // may end in the axis: "limit1"; without a digit it is axis 0
	int count;    // numbers
	SetFn* set;
} Key;

static const Key keys[] = {
	{ "frame_parent", false, 7, setFrameParent },
	{ "frame_child", false, 7, setFrameChild },
	{ "anchor", false, 3, setAnchor },
	{ "axis", false, 3, setAxis },
	{ "limit", true, 2, setLimit },
	{ "friction", true, 1, setFriction },
	{ "bearing", true, 1, setBearing },
	{ "damping", true, 1, setDamping },
	{ "spring", true, 2, setSpring },
	{ "armature", true, 1, setArmature },
	{ "drive", true, 2, setDrive },
	{ "cone", false, 2, setCone },
	{ "twist", false, 2, setTwist },
	{ "collide", false, 1, setCollide },
	{ "enabled", false, 1, setEnabled },
	{ "loop", false, 1, setLoop },
	{ "max_force", false, 1, setMaxForce },
};
enum { KEY_COUNT = sizeof keys / sizeof *keys };

// Splits "limit1" into its name and axis; -1 if the joint has no such axis.
static int takeAxisDigit(const Reading* reading, char* key) {
	const size_t length = strlen(key);
	if (length == 0 || key[length - 1] < '0' || key[length - 1] > '9') {
		return 0;
	}
	const int axis = key[length - 1] - '0';
	key[length - 1] = '\0';
	return axis < knJointOps_Get(reading->link.def.kind)->nv ? axis : -1;
}

// "velocity TARGET MAXFORCE"
static bool readMotor(Reading* reading, int axis) {
	static const char* const modes[] = { "off", "velocity", "position", "force" };
	knJointAxis* to = &reading->link.def.axis[axis];
	char* value = reading->text.value;
	const size_t word = strcspn(value, " \t\n\r");
	for (int i = 0; i < 4; ++i) {
		double n[2];
		if (strlen(modes[i]) == word && strncmp(modes[i], value, word) == 0) {
			if (!takeNumbers(&reading->text, value + word, n, 2)) {
				return false;
			}
			to->motorMode = (knMotorMode)i;
			to->motorTarget = n[0];
			to->motorMaxForce = n[1];
			return true;
		}
	}
	return failText(&reading->text,
					"'%.40s' is no motor; write off, velocity, position or force, target, largest force",
					value);
}

static bool readEnd(Reading* reading, int end) {
	if (!reading->isNew) {
		return failText(&reading->text, "%s cannot be changed: the joint exists already", reading->text.key);
	}
	return knMjcf_FindBody(reading->text.reader, &reading->text.custom->element, "text", reading->text.value,
						   &reading->ends[end]);
}

static bool failKey(const Reading* reading) {
	enum { OTHERS = 5 };
	const char* names[KEY_COUNT + OTHERS] = { "parent", "child", "motor", "reach", "reach_twist" };
	for (int i = 0; i < KEY_COUNT; ++i) {
		names[i + OTHERS] = keys[i].name;
	}
	const char* suggestion =
		knMjcf_Suggest(reading->text.reader, reading->text.key, names, KEY_COUNT + OTHERS);
	return knMjcf_Fail(reading->text.reader, &reading->text.custom->element, "text", KN_BAD_DATA,
					   "a joint has no '%.40s'%s", reading->text.key, suggestion);
}

static bool readItem(Reading* reading) {
	Text* text = &reading->text;
	if (text->value == NULL) {
		return failText(text, "'%.40s' is no key='value'", text->key);
	}
	if (strcmp(text->key, "parent") == 0 || strcmp(text->key, "child") == 0) {
		return readEnd(reading, text->key[0] == 'p' ? 0 : 1);
	}
	if (strcmp(text->key, "reach") == 0) {
		return readReach(reading);
	}
	if (strcmp(text->key, "reach_twist") == 0) {
		return readReachTwist(reading);
	}
	const int axis = takeAxisDigit(reading, text->key);
	if (strcmp(text->key, "motor") == 0 && axis >= 0) {
		return readMotor(reading, axis);
	}
	for (int i = 0; i < KEY_COUNT; ++i) {
		if (strcmp(keys[i].name, text->key) == 0 && axis >= 0 && (keys[i].perAxis || axis == 0)) {
			double numbers[MAX_NUMBERS];
			return takeNumbers(text, text->value, numbers, keys[i].count) &&
				   keys[i].set(reading, axis, numbers);
		}
	}
	return axis < 0 ? failText(text, "the joint has not that many axes: %.40s", text->key) : failKey(reading);
}

// The kind of a new joint, or the joint that is to be changed.
static bool beginJoint(Reading* reading, bool loop, int known) {
	Text* text = &reading->text;
	const knMjcfCustom* custom = text->custom;
	if (!nextItem(text)) {
		return failText(text, "%s", "it is empty");
	}
	const bool hasKind = text->value == NULL;
	reading->isNew = known < 0;
	if (hasKind != reading->isNew) {
		return reading->isNew
				   ? failText(text,
							  "there is no joint named '%.60s', so it must begin with the kind of a new one",
							  custom->target)
				   : failText(text, "there is a joint named '%.60s' already", custom->target);
	}
	if (!reading->isNew) {
		reading->link = text->reader->links.items[known];
		reading->link.def.loop = reading->link.def.loop || loop;
		return readItem(reading);
	}
	const knJointKind kind = knJointKind_Find(text->key);
	if (kind == KN_JOINT_KIND_COUNT || kind == KN_JOINT_CUSTOM) {
		return failText(text, "'%.40s' is no kind of joint", text->key);
	}
	reading->link = (knMjcfLink){ .def = knJointDef_Default(kind), .element = &custom->element };
	reading->link.def.loop = loop;
	return true;
}

// Anchor and axis are in the world, in the reference pose: both frames follow.
static void placeJoint(Reading* reading) {
	const knMjcf* reader = reading->text.reader;
	knVec3 z = knAnyOrthogonal(reading->axis);
	knQuat q = reading->link.def.kind == KN_JOINT_PLANAR ? knMjcf_QuatFromXZ(z, reading->axis)
														 : knMjcf_QuatFromXZ(reading->axis, z);
	knFrame world = knMakeFrame(reading->anchor, q);
	reading->link.def.frameParent = knInvMulF(reader->nodes[reading->link.parent].reference, world);
	reading->link.def.frameChild = knInvMulF(reader->nodes[reading->link.child].reference, world);
}

// Frames are given in the bodies named; a part of another body passes them on.
static void resolveEnds(Reading* reading) {
	const knMjcfNode* nodes = reading->text.reader->nodes;
	knMjcfLink* link = &reading->link;
	const knMjcfNode* parent = &nodes[reading->ends[0]];
	const knMjcfNode* child = &nodes[reading->ends[1]];
	link->parent = parent->owner;
	link->child = child->owner;
	if (parent->owner != reading->ends[0]) {
		link->def.frameParent = knMulF(parent->weld, link->def.frameParent);
	}
	if (child->owner != reading->ends[1]) {
		link->def.frameChild = knMulF(child->weld, link->def.frameChild);
	}
}

bool knMjcf_ReadJointText(knMjcf* reader, const knMjcfCustom* custom, bool loop) {
	Reading reading = { .axis = { 1.0, 0.0, 0.0 } };
	const int known = knNameTable_Get(&reader->linkNames, custom->target);
	if (!beginText(&reading.text, reader, custom) || !beginJoint(&reading, loop, known)) {
		return false;
	}
	while (nextItem(&reading.text)) {
		if (!readItem(&reading)) {
			return false;
		}
	}
	if (reader->failed) {
		return false;
	}
	if (reading.isNew) {
		resolveEnds(&reading);
	}
	if (reading.placed) {
		placeJoint(&reading);
	}
	if (reading.isNew) {
		return knMjcf_AddLink(reader, &reading.link, custom->target) != NULL;
	}
	reader->links.items[known] = reading.link;
	return true;
}

// --- compounds -------------------------------------------------------------------------------------------

typedef struct Compound {
	Text text;
	int count;
	int* parts; // geoms
	bool hasFrame;
	knFrame frame;
	double* frames; // seven numbers for each part, NULL: from the geoms
} Compound;

// A geom that may become part of the compound: solid, bounded, of the same body and density as the first.
static bool addPart(Compound* compound, const char* name) {
	const Text* text = &compound->text;
	knMjcf* reader = text->reader;
	const int index = knNameTable_Get(&reader->geomNames, name);
	if (index < 0) {
		const char* suggestion =
			knMjcf_SuggestElement(reader, name, reader->geoms.items, reader->geoms.count, sizeof(knMjcfGeom));
		return knMjcf_Fail(reader, &text->custom->element, "text", KN_BAD_DATA,
						   "there is no geom named '%.60s'%s", name, suggestion);
	}
	knMjcfShape* shape = &reader->shapes[index];
	const knMjcfShape* first = &reader->shapes[compound->count > 0 ? compound->parts[0] : index];
	if (shape->geom == NULL || shape->taken || knGeom_Kind(shape->geom) == KN_GEOM_PLANE) {
		return failText(text, "geom '%.60s' is a plane, is ignored, or is part of a compound already", name);
	}
	if (shape->node != first->node || shape->mass >= 0.0 || shape->def.density != first->def.density) {
		return failText(text, "geom '%.60s' is of another body or density than the first, or has a mass",
						name);
	}
	shape->taken = true;
	compound->parts[compound->count++] = index;
	return true;
}

static bool readParts(Compound* compound) {
	char* at = compound->text.value;
	compound->parts = KN_SCRATCH(&compound->text.reader->arena, int, strlen(at));
	if (compound->parts == NULL) {
		return knMjcf_NoMemory(compound->text.reader);
	}
	for (;;) {
		at += strspn(at, " \t\n\r");
		if (*at == '\0') {
			return compound->count > 0 || failText(&compound->text, "%s is empty", "parts");
		}
		char* end = at + strcspn(at, " \t\n\r");
		const bool last = *end == '\0';
		*end = '\0';
		if (!addPart(compound, at)) {
			return false;
		}
		at = last ? end : end + 1;
	}
}

static bool readCompoundItem(Compound* compound) {
	Text* text = &compound->text;
	double numbers[7];
	if (text->value == NULL) {
		return failText(text, "'%.40s' is no key='value'", text->key);
	}
	if (strcmp(text->key, "parts") == 0 && compound->count == 0) {
		return readParts(compound);
	}
	if (strcmp(text->key, "frame") == 0) {
		compound->hasFrame = true;
		return takeNumbers(text, text->value, numbers, 7) && takeFrame(text, numbers, &compound->frame);
	}
	if (strcmp(text->key, "frames") == 0 && compound->count > 0) {
		compound->frames = KN_SCRATCH(&text->reader->arena, double, 7 * compound->count);
		return compound->frames != NULL
				   ? takeNumbers(text, text->value, compound->frames, 7 * compound->count)
				   : knMjcf_NoMemory(text->reader);
	}
	return failText(text, "'%.40s' is not expected here; a compound has parts, then frame and frames",
					text->key);
}

static bool makeCompound(Compound* compound) {
	Text* text = &compound->text;
	knMjcf* reader = text->reader;
	knGeomChild* children = KN_SCRATCH(&reader->arena, knGeomChild, compound->count);
	if (children == NULL) {
		return knMjcf_NoMemory(reader);
	}
	for (int i = 0; i < compound->count; ++i) {
		const knMjcfShape* part = &reader->shapes[compound->parts[i]];
		children[i] = (knGeomChild){ part->geom, part->def.frame };
		if (compound->frames != NULL && !takeFrame(text, compound->frames + 7 * i, &children[i].frame)) {
			return false;
		}
		if (compound->frames == NULL && compound->hasFrame) {
			children[i].frame = knInvMulF(compound->frame, part->def.frame);
		}
	}
	knError cause = { .status = KN_OK };
	knGeom* geom = knGeom_Compound(children, compound->count, &reader->allocator, &cause);
	if (geom == NULL) {
		return knMjcf_FailFrom(reader, &text->custom->element, &cause);
	}
	for (int i = 0; i < compound->count; ++i) {
		knGeom_Release(reader->shapes[compound->parts[i]].geom);
		reader->shapes[compound->parts[i]].geom = NULL;
	}
	knMjcfShape* first = &reader->shapes[compound->parts[0]];
	first->geom = geom;
	first->def.frame = compound->hasFrame ? compound->frame : knIdentityF();
	first->def.name = text->custom->target;
	return true;
}

bool knMjcf_ReadCompoundText(knMjcf* reader, const knMjcfCustom* custom) {
	Compound compound = { .frame = knIdentityF() };
	if (!beginText(&compound.text, reader, custom)) {
		return false;
	}
	while (nextItem(&compound.text)) {
		if (!readCompoundItem(&compound)) {
			return false;
		}
	}
	if (reader->failed) {
		return false;
	}
	if (compound.count == 0) {
		return failText(&compound.text, "%s", "it names no parts");
	}
	return makeCompound(&compound);
}
