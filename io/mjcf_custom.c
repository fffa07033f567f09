// knuckle.* values in <custom>: what a scene can say and MJCF cannot. One table row each: name, whether a target
// follows ("knuckle.restitution.BALL"), how many numbers, when it takes effect. An unknown name is an error, because
// a value that was meant and did nothing is worse than a file that does not load.
#include "mjcf.h"

#include <stdio.h>
#include <string.h>

#include "core/text.h"
#include "knuckle/stepper.h"

typedef enum Target {
	TARGET_NONE,  // "knuckle.stepper"
	TARGET_GEOM,  // "knuckle.sensor.GEOM"
	TARGET_GEOMS, // "knuckle.friction", all geoms, or "knuckle.friction.GEOM"
	TARGET_BODY,  // "knuckle.fast.BODY"
	TARGET_JOINT, // "knuckle.limit.JOINT"
	TARGET_MESH,  // "knuckle.mesh.MESH"
	TARGET_NAME,  // a new name: "knuckle.loop.NAME"
} Target;

typedef enum Form { FORM_NUMBERS, FORM_TEXT, FORM_EITHER } Form;

enum { MAX_NUMBERS = 7 };

// What a row's function gets.
typedef struct Value {
	const knMjcfCustom* custom;
	const char* tag;
	double numbers[MAX_NUMBERS];
	int count;
	int index; // of the geom, body or link
} Value;

typedef bool ApplyFn(knMjcf* reader, const Value* value);

typedef struct knMjcfCustomRow {
	const char* name;
	Target target;
	Form form;
	int least, most; // numbers
	knMjcfStage stage;
	ApplyFn* apply;
} knMjcfCustomRow;

static bool failValue(knMjcf* reader, const Value* value, const char* sentence) {
	return knMjcf_Fail(reader, &value->custom->element, value->tag, KN_BAD_DATA, "%s", sentence);
}

static knVec3 vectorAt(const Value* value, int i) {
	return knV3(value->numbers[i], value->numbers[i + 1], value->numbers[i + 2]);
}

// --- the scene -------------------------------------------------------------------------------------------

static bool applyStepper(knMjcf* reader, const Value* value) {
	const char* names[16];
	int count = 0;
	for (; count < 16 && knStepper_Name(count) != NULL; ++count) {
		names[count] = knStepper_Name(count);
		if (strcmp(names[count], value->custom->data) == 0) {
			reader->sceneDef.stepper = value->custom->data;
			return true;
		}
	}
	return knMjcf_Fail(reader, &value->custom->element, value->tag, KN_BAD_DATA,
					   "there is no stepper '%.40s'%s", value->custom->data,
					   knMjcf_Suggest(reader, value->custom->data, names, count));
}

// Chosen elsewhere (knMjcf_FindKeyframe), because a caller's choice comes first.
static bool applyNothing(knMjcf* reader, const Value* value) {
	(void)reader, (void)value;
	return true;
}

static bool applyTimeStep(knMjcf* reader, const Value* value) {
	reader->sceneDef.dt = value->numbers[0];
	return value->numbers[0] > 0.0 || failValue(reader, value, "the time step must be positive");
}

static bool applyCapacity(knMjcf* reader, const Value* value) {
	const double capacity = value->numbers[0];
	if (!(capacity >= 0.0 && capacity <= 1e9) || floor(capacity) != capacity) {
		return failValue(reader, value, "it must be a whole number, not negative");
	}
	reader->sceneDef.jointCapacity = (int)capacity;
	return true;
}

static bool readCombine(knMjcf* reader, const Value* value, knCombine* combine) {
	static const char* const words[] = { "min", "average", "geometric", "max", "multiply" };
	for (int i = 0; i < 5; ++i) {
		if (strcmp(value->custom->data, words[i]) == 0) {
			*combine = (knCombine)i;
			return true;
		}
	}
	return failValue(reader, value, "it must be one of min, average, geometric, max, multiply");
}

static bool applyFrictionCombine(knMjcf* reader, const Value* value) {
	return readCombine(reader, value, &reader->sceneDef.frictionCombine);
}

static bool applyRestitutionCombine(knMjcf* reader, const Value* value) {
	return readCombine(reader, value, &reader->sceneDef.restitutionCombine);
}

static bool applySetting(knMjcf* reader, const Value* value) {
	knError cause = { .status = KN_OK };
	if (knSettings_Set(&reader->sceneDef.settings, value->custom->target, value->custom->data, &cause) ==
		KN_OK) {
		return true;
	}
	cause.status = KN_BAD_DATA; // a file's mistake, not the caller's
	return knMjcf_FailFrom(reader, &value->custom->element, &cause);
}

// --- geoms -----------------------------------------------------------------------------------------------

static bool applyRestitution(knMjcf* reader, const Value* value) {
	const double restitution = value->numbers[0];
	reader->shapes[value->index].def.restitution = restitution;
	return (restitution >= 0.0 && restitution <= 1.0) ||
		   failValue(reader, value, "restitution must lie between 0 and 1");
}

static bool applyFriction(knMjcf* reader, const Value* value) {
	reader->shapes[value->index].def.friction = value->numbers[0];
	return value->numbers[0] >= 0.0 || failValue(reader, value, "friction must not be negative");
}

static bool applyRolling(knMjcf* reader, const Value* value) {
	reader->shapes[value->index].def.rollingFriction = value->numbers[0];
	return value->numbers[0] >= 0.0 || failValue(reader, value, "friction must not be negative");
}

static bool applySensor(knMjcf* reader, const Value* value) {
	reader->shapes[value->index].def.sensor = value->numbers[0] != 0.0;
	return true;
}

// Reads 1 to 16 hexadecimal digits after "0x"; moves past them and the blanks behind.
static bool readHex(const char** text, uint64_t* number) {
	static const char digits[] = "0123456789abcdef";
	if (strncmp(*text, "0x", 2) != 0) {
		return false;
	}
	*text += 2;
	int count = 0;
	*number = 0;
	for (const char* digit; **text != '\0' && (digit = strchr(digits, **text)) != NULL; ++count, ++*text) {
		*number = *number << 4 | (uint64_t)(digit - digits);
	}
	*text += strspn(*text, " ");
	return count >= 1 && count <= 16;
}

static bool applyFilter(knMjcf* reader, const Value* value) {
	const char* text = value->custom->data;
	knFilter filter;
	int group;
	if (!readHex(&text, &filter.category) || !readHex(&text, &filter.mask) ||
		!knText_ParseInt(text, &group)) {
		return failValue(reader, value, "it must be category, mask and group: '0x1 0xffff 0'");
	}
	filter.group = group;
	reader->shapes[value->index].def.filter = filter;
	return true;
}

// --- bodies ----------------------------------------------------------------------------------------------

// A keyframe or the rest of the file decides where a kinematic body starts; the numbers are its velocity.
static bool applyKinematic(knMjcf* reader, const Value* value) {
	knMjcfNode* node = &reader->nodes[value->index];
	node->kinematic = true;
	node->def.velocity = vectorAt(value, 0);
	node->def.angularVelocity = vectorAt(value, 3);
	return true;
}

static bool applyVelocity(knMjcf* reader, const Value* value) {
	knMjcfNode* node = &reader->nodes[value->index];
	node->hasVelocity = true;
	node->def.velocity = vectorAt(value, 0);
	node->def.angularVelocity = vectorAt(value, 3);
	return true;
}

static bool applyFrame(knMjcf* reader, const Value* value) {
	knMjcfNode* node = &reader->nodes[value->index];
	node->hasFrame = true;
	node->def.frame.p = vectorAt(value, 0);
	return knMjcf_UnitQuat(value->numbers + 3, &node->def.frame.q) ||
		   failValue(reader, value, "its quaternion has no length");
}

static bool applyGravityScale(knMjcf* reader, const Value* value) {
	reader->nodes[value->index].def.gravityScale = value->numbers[0];
	return true;
}

static bool applyDamping(knMjcf* reader, const Value* value) {
	reader->nodes[value->index].def.linearDamping = value->numbers[0];
	reader->nodes[value->index].def.angularDamping = value->numbers[1];
	return true;
}

static bool applyFast(knMjcf* reader, const Value* value) {
	reader->nodes[value->index].def.fast = value->numbers[0] != 0.0;
	return true;
}

static bool applyColor(knMjcf* reader, const Value* value) {
	const char* text = value->custom->data;
	uint64_t color;
	if (!readHex(&text, &color) || *text != '\0' || color > 0xffffffff) {
		return failValue(reader, value, "it must be a colour: '0xrrggbb' or '0xttrrggbb'");
	}
	reader->nodes[value->index].def.color = (uint32_t)color;
	return true;
}

// --- joints ----------------------------------------------------------------------------------------------

static bool applyLimit(knMjcf* reader, const Value* value) {
	knJointDef* def = &reader->links.items[value->index].def;
	if (def->kind != KN_JOINT_BALL) {
		return failValue(reader, value, "cone limits are for ball joints");
	}
	def->coneLimited = true;
	def->coneY = value->numbers[0];
	def->coneZ = value->numbers[1];
	def->twistLimited = value->count == 4;
	if (value->count == 4) {
		def->twistLower = value->numbers[2];
		def->twistUpper = value->numbers[3];
	}
	return value->count != 3 || failValue(reader, value, "it takes 2 or 4 numbers");
}

static bool applyJoint(knMjcf* reader, const Value* value) {
	return knMjcf_ReadJointText(reader, value->custom, false);
}

static bool applyLoop(knMjcf* reader, const Value* value) {
	return knMjcf_ReadJointText(reader, value->custom, true);
}

static bool applyCompound(knMjcf* reader, const Value* value) {
	return knMjcf_ReadCompoundText(reader, value->custom);
}

// --- control ---------------------------------------------------------------------------------------------

static bool applyControl(knMjcf* reader, const Value* value) {
	const int index = knNameTable_Get(&reader->actuatorNames, value->custom->target);
	if (index < 0) {
		return failValue(reader, value, "there is no actuator of that name");
	}
	reader->actuators.items[index].control = value->numbers[0];
	reader->actuators.items[index].start = value->count > 1 ? value->numbers[1] : 0.0;
	return true;
}

// The numbers of a coupling of the scene, in its own coordinates.
static bool applyCoupling(knMjcf* reader, const Value* value) {
	for (int i = 0; i < reader->couplings.count; ++i) {
		knCouplingDef* def = &reader->couplings.items[i];
		if (def->name != NULL && strcmp(def->name, value->custom->target) == 0) {
			def->ref1 = value->numbers[0];
			def->ref2 = value->numbers[1];
			memcpy(def->coefficients, value->numbers + 2, sizeof def->coefficients);
			return true;
		}
	}
	return failValue(reader, value, "there is no joint equality of that name");
}

// --- the order of adding ---------------------------------------------------------------------------------

// A permutation of 0 .. count - 1: the i-th number says which of the file's things is added i-th.
static bool readOrder(knMjcf* reader, const Value* value, int count, const int** order) {
	char bad[32];
	double* numbers = KN_SCRATCH(&reader->arena, double, count);
	int* result = KN_SCRATCH(&reader->arena, int, count);
	bool* seen = KN_SCRATCH_ZERO(&reader->arena, bool, count);
	if (numbers == NULL || result == NULL || seen == NULL) {
		return knMjcf_NoMemory(reader);
	}
	bool ok = knMjcf_ParseNumbers(value->custom->data, numbers, count, bad) == count;
	for (int i = 0; ok && i < count; ++i) {
		ok = numbers[i] >= 0.0 && numbers[i] < count && floor(numbers[i]) == numbers[i] &&
			 !seen[(int)numbers[i]];
		if (ok) {
			result[i] = (int)numbers[i];
			seen[result[i]] = true;
		}
	}
	*order = result;
	return ok || knMjcf_Fail(reader, &value->custom->element, value->tag, KN_BAD_DATA,
							 "it must hold each of the numbers 0 to %d once", count - 1);
}

static bool applyBodyOrder(knMjcf* reader, const Value* value) {
	int count = 0;
	for (int b = 1; b < reader->bodies.count; ++b) {
		count += reader->nodes[b].owner == b ? 1 : 0;
	}
	return readOrder(reader, value, count, &reader->bodyOrder);
}

static bool applyShapeOrder(knMjcf* reader, const Value* value) {
	int count = 0;
	for (int i = 0; i < reader->geoms.count; ++i) {
		count += reader->shapes[i].geom != NULL && !reader->shapes[i].weightOnly ? 1 : 0;
	}
	return readOrder(reader, value, count, &reader->shapeOrder);
}

static bool applyJointOrder(knMjcf* reader, const Value* value) {
	return readOrder(reader, value, reader->links.count, &reader->linkOrder);
}

// --- meshes ----------------------------------------------------------------------------------------------

static bool applyMesh(knMjcf* reader, const Value* value) {
	knMjcfMesh* mesh = &reader->meshes.items[value->index];
	if ((value->numbers[0] != 0.0 && value->numbers[0] != 1.0) ||
		(value->count > 1 && value->numbers[1] < 0.0)) {
		return failValue(reader, value,
						 "it must be 0 for a surface or 1 for a solid, and a tolerance that is not negative");
	}
	mesh->collides = value->numbers[0] == 1.0 ? KN_MJCF_MESH_SOLID : KN_MJCF_MESH_SURFACE;
	mesh->tolerance = value->count > 1 ? value->numbers[1] : 0.0;
	return true;
}

// --- the table -------------------------------------------------------------------------------------------

static const knMjcfCustomRow rows[] = {
	{ "stepper", TARGET_NONE, FORM_TEXT, 0, 0, KN_MJCF_STAGE_SCENE, applyStepper },
	{ "keyframe", TARGET_NONE, FORM_TEXT, 0, 0, KN_MJCF_STAGE_SCENE, applyNothing },
	{ "dt", TARGET_NONE, FORM_NUMBERS, 1, 1, KN_MJCF_STAGE_SCENE, applyTimeStep },
	{ "joint_capacity", TARGET_NONE, FORM_NUMBERS, 1, 1, KN_MJCF_STAGE_SCENE, applyCapacity },
	{ "combine.friction", TARGET_NONE, FORM_TEXT, 0, 0, KN_MJCF_STAGE_SCENE, applyFrictionCombine },
	{ "combine.restitution", TARGET_NONE, FORM_TEXT, 0, 0, KN_MJCF_STAGE_SCENE, applyRestitutionCombine },
	{ "set", TARGET_NAME, FORM_EITHER, 0, 0, KN_MJCF_STAGE_SCENE, applySetting },
	{ "mesh", TARGET_MESH, FORM_NUMBERS, 1, 2, KN_MJCF_STAGE_TREE, applyMesh },
	{ "restitution", TARGET_GEOMS, FORM_NUMBERS, 1, 1, KN_MJCF_STAGE_PART, applyRestitution },
	{ "friction", TARGET_GEOMS, FORM_NUMBERS, 1, 1, KN_MJCF_STAGE_PART, applyFriction },
	{ "rolling", TARGET_GEOMS, FORM_NUMBERS, 1, 1, KN_MJCF_STAGE_PART, applyRolling },
	{ "sensor", TARGET_GEOM, FORM_NUMBERS, 1, 1, KN_MJCF_STAGE_PART, applySensor },
	{ "filter", TARGET_GEOM, FORM_TEXT, 0, 0, KN_MJCF_STAGE_PART, applyFilter },
	{ "compound", TARGET_NAME, FORM_TEXT, 0, 0, KN_MJCF_STAGE_COMPOUND, applyCompound },
	{ "kinematic", TARGET_BODY, FORM_NUMBERS, 6, 6, KN_MJCF_STAGE_TREE, applyKinematic },
	{ "velocity", TARGET_BODY, FORM_NUMBERS, 6, 6, KN_MJCF_STAGE_PART, applyVelocity },
	{ "frame", TARGET_BODY, FORM_NUMBERS, 7, 7, KN_MJCF_STAGE_PART, applyFrame },
	{ "gravity_scale", TARGET_BODY, FORM_NUMBERS, 1, 1, KN_MJCF_STAGE_PART, applyGravityScale },
	{ "damping", TARGET_BODY, FORM_NUMBERS, 2, 2, KN_MJCF_STAGE_PART, applyDamping },
	{ "fast", TARGET_BODY, FORM_NUMBERS, 1, 1, KN_MJCF_STAGE_PART, applyFast },
	{ "color", TARGET_BODY, FORM_TEXT, 0, 0, KN_MJCF_STAGE_PART, applyColor },
	{ "joint", TARGET_NAME, FORM_TEXT, 0, 0, KN_MJCF_STAGE_JOINT, applyJoint },
	{ "loop", TARGET_NAME, FORM_TEXT, 0, 0, KN_MJCF_STAGE_JOINT, applyLoop },
	{ "limit", TARGET_JOINT, FORM_NUMBERS, 2, 4, KN_MJCF_STAGE_LIMIT, applyLimit },
	{ "control", TARGET_NAME, FORM_NUMBERS, 1, 2, KN_MJCF_STAGE_PART, applyControl },
	{ "coupling", TARGET_NAME, FORM_NUMBERS, 7, 7, KN_MJCF_STAGE_LIMIT, applyCoupling },
	{ "order.bodies", TARGET_NONE, FORM_TEXT, 0, 0, KN_MJCF_STAGE_ORDER, applyBodyOrder },
	{ "order.geoms", TARGET_NONE, FORM_TEXT, 0, 0, KN_MJCF_STAGE_ORDER, applyShapeOrder },
	{ "order.joints", TARGET_NONE, FORM_TEXT, 0, 0, KN_MJCF_STAGE_ORDER, applyJointOrder },
};
enum { ROW_COUNT = sizeof rows / sizeof *rows };

// --- names -----------------------------------------------------------------------------------------------

static const char* tagOf(const knMjcfCustom* custom) {
	return custom->text ? "text" : "numeric";
}

static bool failUnknown(knMjcf* reader, const knMjcfCustom* custom, const char* name) {
	// compare what stands before a target
	char word[64];
	const char* names[ROW_COUNT];
	for (int i = 0; i < ROW_COUNT; ++i) {
		names[i] = rows[i].name;
	}
	snprintf(word, sizeof word, "%.63s", name);
	const char* suggestion = knMjcf_Suggest(reader, word, names, ROW_COUNT);
	if (suggestion[0] == '\0') {
		word[strcspn(word, ".")] = '\0';
		suggestion = knMjcf_Suggest(reader, word, names, ROW_COUNT);
	}
	return knMjcf_Fail(reader, &custom->element, tagOf(custom), KN_BAD_DATA,
					   "there is no value 'knuckle.%.60s'%s", name, suggestion);
}

static bool findRow(knMjcf* reader, knMjcfCustom* custom) {
	const char* name = custom->element.name + strlen("knuckle.");
	for (int i = 0; i < ROW_COUNT; ++i) {
		const size_t length = strlen(rows[i].name);
		if (strncmp(name, rows[i].name, length) != 0 || (name[length] != '\0' && name[length] != '.')) {
			continue;
		}
		custom->row = &rows[i];
		custom->target = name[length] == '.' ? name + length + 1 : NULL;
		break;
	}
	if (custom->row == NULL) {
		return failUnknown(reader, custom, name);
	}
	const knMjcfCustomRow* row = custom->row;
	if (row->target == TARGET_NONE && custom->target != NULL) {
		return knMjcf_Fail(reader, &custom->element, tagOf(custom), KN_BAD_DATA,
						   "'knuckle.%s' takes nothing after its name", row->name);
	}
	if (row->target != TARGET_NONE && row->target != TARGET_GEOMS && custom->target == NULL) {
		return knMjcf_Fail(reader, &custom->element, tagOf(custom), KN_BAD_DATA,
						   "'knuckle.%s' must be followed by a dot and a name", row->name);
	}
	if (row->form != FORM_EITHER && custom->text != (row->form == FORM_TEXT)) {
		return knMjcf_Fail(reader, &custom->element, tagOf(custom), KN_BAD_DATA,
						   "'knuckle.%s' must be a <%s>", row->name,
						   row->form == FORM_TEXT ? "text" : "numeric");
	}
	return true;
}

bool knMjcf_ReadCustoms(knMjcf* reader) {
	knNameTable names;
	knNameTable_Init(&names, &reader->allocator);
	bool ok = true;
	for (int i = 0; ok && i < reader->customs.count; ++i) {
		knMjcfCustom* custom = &reader->customs.items[i];
		ok = findRow(reader, custom);
		if (ok && knNameTable_Get(&names, custom->element.name) >= 0) {
			ok = knMjcf_Fail(reader, &custom->element, tagOf(custom), KN_BAD_DATA,
							 "the name '%.70s' is taken", custom->element.name);
		}
		ok = ok && (knNameTable_Set(&names, custom->element.name, i) || knMjcf_NoMemory(reader));
	}
	knNameTable_Free(&names);
	return ok;
}

const knMjcfCustom* knMjcf_FindKeyframe(const knMjcf* reader) {
	for (int i = 0; i < reader->customs.count; ++i) {
		if (strcmp(reader->customs.items[i].row->name, "keyframe") == 0) {
			return &reader->customs.items[i];
		}
	}
	return NULL;
}

// --- applying --------------------------------------------------------------------------------------------

static bool findGeom(knMjcf* reader, Value* value) {
	value->index = knNameTable_Get(&reader->geomNames, value->custom->target);
	if (value->index >= 0) {
		return true;
	}
	const char* suggestion = knMjcf_SuggestElement(reader, value->custom->target, reader->geoms.items,
												   reader->geoms.count, sizeof(knMjcfGeom));
	return knMjcf_Fail(reader, &value->custom->element, value->tag, KN_BAD_DATA,
					   "there is no geom named '%.60s'%s", value->custom->target, suggestion);
}

static bool findBody(knMjcf* reader, Value* value) {
	const char* name = value->custom->target;
	if (!knMjcf_FindBody(reader, &value->custom->element, value->tag, name, &value->index)) {
		return false;
	}
	if (value->index == 0) {
		return failValue(reader, value, "the world takes no such value");
	}
	return reader->nodes[value->index].owner == value->index ||
		   value->custom->row->stage == KN_MJCF_STAGE_TREE ||
		   knMjcf_Fail(reader, &value->custom->element, value->tag, KN_BAD_DATA,
					   "body '%.60s' has no joint and is part of another; name that one", name);
}

static bool findMesh(knMjcf* reader, Value* value) {
	value->index = knNameTable_Get(&reader->meshNames, value->custom->target);
	if (value->index >= 0) {
		return true;
	}
	const char* suggestion = knMjcf_SuggestElement(reader, value->custom->target, reader->meshes.items,
												   reader->meshes.count, sizeof(knMjcfMesh));
	return knMjcf_Fail(reader, &value->custom->element, value->tag, KN_BAD_DATA,
					   "there is no mesh named '%.60s'%s", value->custom->target, suggestion);
}

static bool findJoint(knMjcf* reader, Value* value) {
	value->index = knNameTable_Get(&reader->linkNames, value->custom->target);
	if (value->index >= 0) {
		return true;
	}
	const char* suggestion = knMjcf_SuggestElement(reader, value->custom->target, reader->joints.items,
												   reader->joints.count, sizeof(knMjcfJoint));
	return knMjcf_Fail(reader, &value->custom->element, value->tag, KN_BAD_DATA,
					   "there is no joint named '%.60s'%s", value->custom->target, suggestion);
}

static bool readNumbers(knMjcf* reader, Value* value) {
	const knMjcfCustomRow* row = value->custom->row;
	char bad[32];
	value->count = knMjcf_ParseNumbers(value->custom->data, value->numbers, MAX_NUMBERS, bad);
	if (value->count < 0) {
		return knMjcf_Fail(reader, &value->custom->element, value->tag, KN_BAD_DATA,
						   "data: '%s' is not a finite number", bad);
	}
	return (value->count >= row->least && value->count <= row->most) ||
		   knMjcf_Fail(reader, &value->custom->element, value->tag, KN_BAD_DATA,
					   "data has %d number%s; it takes %d", value->count, value->count == 1 ? "" : "s",
					   row->most);
}

static bool applyToAll(knMjcf* reader, Value* value) {
	for (value->index = 0; value->index < reader->geoms.count; ++value->index) {
		if (!value->custom->row->apply(reader, value)) {
			return false;
		}
	}
	return true;
}

static bool applyCustom(knMjcf* reader, const knMjcfCustom* custom) {
	const knMjcfCustomRow* row = custom->row;
	Value value = { .custom = custom, .tag = tagOf(custom), .index = -1 };
	if (row->form == FORM_NUMBERS && !readNumbers(reader, &value)) {
		return false;
	}
	if (row->target == TARGET_GEOMS && custom->target == NULL) {
		return applyToAll(reader, &value);
	}
	bool found = true;
	if (row->target == TARGET_GEOM || row->target == TARGET_GEOMS) {
		found = findGeom(reader, &value);
	} else if (row->target == TARGET_BODY) {
		found = findBody(reader, &value);
	} else if (row->target == TARGET_MESH) {
		found = findMesh(reader, &value);
	} else if (row->target == TARGET_JOINT) {
		found = findJoint(reader, &value);
	}
	return found && row->apply(reader, &value);
}

// What is said of all geoms comes before what is said of one.
bool knMjcf_ApplyCustoms(knMjcf* reader, knMjcfStage stage) {
	for (int i = 0; i < reader->customs.count; ++i) {
		const knMjcfCustom* custom = &reader->customs.items[i];
		const bool all = custom->row->target == TARGET_GEOMS && custom->target == NULL;
		if ((all ? KN_MJCF_STAGE_SCENE : custom->row->stage) == stage && !applyCustom(reader, custom)) {
			return false;
		}
	}
	return true;
}
