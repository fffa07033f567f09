// Attributes. Each kind of element has a table: name, how its value is written, where it goes. What is in no table is
// reported; what is marked silent changes nothing here (colours, groups of geoms, folders of assets).
#include "mjcf.h"

#include <stdio.h>
#include <string.h>

#include "core/text.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))
#define ELEMENT_TYPE(tag, fields)                                                                            \
	{ tag, fields, COUNT(fields) }

#define REALS(text, bit, type, member, least, most)                                                          \
	{ .name = text, KN_MJCF_FIELD_REALS, bit, offsetof(type, member), least, most, 0, NULL }
#define REAL(text, bit, type, member) REALS(text, bit, type, member, 1, 1)
#define COUNTED(text, bit, type, member, count, least, most)                                                 \
	{                                                                                                        \
		.name = text, KN_MJCF_FIELD_REALS, bit, offsetof(type, member), least, most, offsetof(type, count),  \
		NULL                                                                                                 \
	}
#define NUMBERS(text, bit, type, member)                                                                     \
	{ .name = text, KN_MJCF_FIELD_NUMBERS, bit, offsetof(type, member), 0, 0, 0, NULL }
#define INT(text, bit, type, member)                                                                         \
	{ .name = text, KN_MJCF_FIELD_INT, bit, offsetof(type, member), 0, 0, 0, NULL }
#define WORD(text, bit, type, member, list)                                                                  \
	{ .name = text, KN_MJCF_FIELD_WORD, bit, offsetof(type, member), 0, 0, 0, list }
#define TEXT(text, bit, type, member)                                                                        \
	{ .name = text, KN_MJCF_FIELD_TEXT, bit, offsetof(type, member), 0, 0, 0, NULL }
#define SILENT(text)                                                                                         \
	{ .name = text, KN_MJCF_FIELD_SILENT, 0, 0, 0, 0, 0, NULL }

#define NAME TEXT("name", KN_MJCF_NAME, knMjcfElement, name)
#define CLASS TEXT("class", KN_MJCF_CLASS, knMjcfElement, className)
#define POS REALS("pos", KN_MJCF_POS, knMjcfElement, pos, 3, 3)
#define ORIENTATION                                                                                          \
	REALS("quat", KN_MJCF_QUAT, knMjcfElement, orientation, 4, 4),                                           \
		REALS("axisangle", KN_MJCF_AXISANGLE, knMjcfElement, orientation, 4, 4),                             \
		REALS("euler", KN_MJCF_EULER, knMjcfElement, orientation, 3, 3),                                     \
		REALS("xyaxes", KN_MJCF_XYAXES, knMjcfElement, orientation, 6, 6),                                   \
		REALS("zaxis", KN_MJCF_ZAXIS, knMjcfElement, orientation, 3, 3)

static const char* const boolWords[] = { "false", "true", NULL };
static const char* const autoWords[] = { "false", "true", "auto", NULL };
static const char* const angleWords[] = { "degree", "radian", NULL };
static const char* const coordinateWords[] = { "local", "global", NULL };
const char* const knMjcfGeomWords[] = { "sphere",    "capsule", "box",    "plane", "cylinder",
										"ellipsoid", "mesh",    "hfield", "sdf",   NULL };
static const char* const jointWords[] = { "free", "ball", "slide", "hinge", NULL };

static const knMjcfField modelFields[] = { TEXT("model", KN_MJCF_OWN, knMjcfModel, model) };

static const knMjcfField compilerFields[] = {
	WORD("angle", KN_MJCF_OWN, knMjcfCompiler, angle, angleWords),
	WORD("coordinate", KN_MJCF_OWN, knMjcfCompiler, coordinate, coordinateWords),
	WORD("inertiafromgeom", KN_MJCF_OWN, knMjcfCompiler, inertiaFromGeom, autoWords),
	WORD("autolimits", KN_MJCF_OWN, knMjcfCompiler, autoLimits, boolWords),
	TEXT("eulerseq", KN_MJCF_OWN, knMjcfCompiler, eulerSequence),
	REALS("inertiagrouprange", KN_MJCF_OWN, knMjcfCompiler, inertiaGroups, 2, 2),
	SILENT("meshdir"),
	SILENT("texturedir"),
	SILENT("assetdir"),
	SILENT("strippath"),
	SILENT("usethread"),
	SILENT("saveinertial"),
	SILENT("exactmeshinertia"),
	SILENT("convexhull"),
	SILENT("fitaabb"),
	SILENT("discardvisual"),
	SILENT("fusestatic"),
};

static const knMjcfField optionFields[] = {
	REAL("timestep", KN_MJCF_OWN, knMjcfOption, timestep),
	REALS("gravity", KN_MJCF_OWN, knMjcfOption, gravity, 3, 3),
};

static const knMjcfField defaultFields[] = { CLASS };

static const knMjcfField geomFields[] = {
	NAME,
	CLASS,
	POS,
	ORIENTATION,
	WORD("type", KN_MJCF_GEOM_TYPE, knMjcfGeom, type, knMjcfGeomWords),
	COUNTED("size", KN_MJCF_GEOM_SIZE, knMjcfGeom, size, sizeCount, 1, 3),
	REALS("fromto", KN_MJCF_GEOM_FROMTO, knMjcfGeom, fromto, 6, 6),
	REAL("mass", KN_MJCF_GEOM_MASS, knMjcfGeom, mass),
	REAL("density", KN_MJCF_GEOM_DENSITY, knMjcfGeom, density),
	COUNTED("friction", KN_MJCF_GEOM_FRICTION, knMjcfGeom, friction, frictionCount, 1, 3),
	INT("contype", KN_MJCF_GEOM_CONTYPE, knMjcfGeom, contype),
	INT("conaffinity", KN_MJCF_GEOM_CONAFFINITY, knMjcfGeom, conaffinity),
	INT("condim", KN_MJCF_GEOM_CONDIM, knMjcfGeom, condim),
	INT("group", KN_MJCF_GEOM_GROUP, knMjcfGeom, group),
	REALS("rgba", KN_MJCF_GEOM_RGBA, knMjcfGeom, rgba, 3, 4),
	SILENT("material"),
	SILENT("mesh"),
	SILENT("hfield"),
	SILENT("user"),
};

static const knMjcfField jointFields[] = {
	NAME,
	CLASS,
	POS,
	WORD("type", KN_MJCF_JOINT_TYPE, knMjcfJoint, type, jointWords),
	REALS("axis", KN_MJCF_JOINT_AXIS, knMjcfJoint, axis, 3, 3),
	REALS("range", KN_MJCF_JOINT_RANGE, knMjcfJoint, range, 2, 2),
	WORD("limited", KN_MJCF_JOINT_LIMITED, knMjcfJoint, limited, autoWords),
	REAL("damping", KN_MJCF_JOINT_DAMPING, knMjcfJoint, damping),
	REAL("stiffness", KN_MJCF_JOINT_STIFFNESS, knMjcfJoint, stiffness),
	REAL("springref", KN_MJCF_JOINT_SPRINGREF, knMjcfJoint, springref),
	REAL("frictionloss", KN_MJCF_JOINT_FRICTIONLOSS, knMjcfJoint, frictionloss),
	REAL("ref", KN_MJCF_JOINT_REF, knMjcfJoint, ref),
	SILENT("group"),
	SILENT("user"),
};

static const knMjcfField freeJointFields[] = { NAME, SILENT("group") };

static const knMjcfField inertialFields[] = {
	POS,
	ORIENTATION,
	REAL("mass", KN_MJCF_INERTIAL_MASS, knMjcfInertial, mass),
	REALS("diaginertia", KN_MJCF_INERTIAL_DIAGONAL, knMjcfInertial, diagonal, 3, 3),
	REALS("fullinertia", KN_MJCF_INERTIAL_FULL, knMjcfInertial, full, 6, 6),
};

static const knMjcfField bodyFields[] = {
	NAME,
	POS,
	ORIENTATION,
	TEXT("childclass", KN_MJCF_OWN, knMjcfBody, childClass),
	WORD("mocap", KN_MJCF_OWN, knMjcfBody, mocap, boolWords),
	REAL("gravcomp", KN_MJCF_OWN, knMjcfBody, gravcomp),
	SILENT("user"),
};

static const knMjcfField worldBodyFields[] = { TEXT("childclass", KN_MJCF_OWN, knMjcfBody, childClass) };

#define EQUALITY_COMMON                                                                                      \
	NAME, CLASS, TEXT("body1", KN_MJCF_EQUALITY_BODY1, knMjcfEquality, body1),                               \
		TEXT("body2", KN_MJCF_EQUALITY_BODY2, knMjcfEquality, body2),                                        \
		TEXT("site1", KN_MJCF_EQUALITY_SITE, knMjcfEquality, site),                                          \
		TEXT("site2", KN_MJCF_EQUALITY_SITE, knMjcfEquality, site),                                          \
		REALS("anchor", KN_MJCF_EQUALITY_ANCHOR, knMjcfEquality, anchor, 3, 3),                              \
		WORD("active", KN_MJCF_EQUALITY_ACTIVE, knMjcfEquality, active, boolWords)

static const knMjcfField connectFields[] = { EQUALITY_COMMON };
static const knMjcfField weldFields[] = {
	EQUALITY_COMMON,
	REALS("relpose", KN_MJCF_EQUALITY_RELPOSE, knMjcfEquality, relpose, 7, 7),
};
static const knMjcfField equalityFields[] = {
	WORD("active", KN_MJCF_EQUALITY_ACTIVE, knMjcfEquality, active, boolWords),
};

static const knMjcfField excludeFields[] = {
	NAME,
	TEXT("body1", KN_MJCF_OWN, knMjcfExclude, body1),
	TEXT("body2", KN_MJCF_OWN, knMjcfExclude, body2),
};

static const knMjcfField keyFields[] = {
	NAME,
	REAL("time", KN_MJCF_KEY_TIME, knMjcfKey, time),
	NUMBERS("qpos", KN_MJCF_KEY_QPOS, knMjcfKey, qpos),
	NUMBERS("qvel", KN_MJCF_KEY_QVEL, knMjcfKey, qvel),
};

static const knMjcfField customFields[] = {
	NAME,
	TEXT("data", KN_MJCF_OWN, knMjcfCustom, data),
	SILENT("size"),
};

const knMjcfElementType knMjcfModelType = ELEMENT_TYPE("mujoco", modelFields);
const knMjcfElementType knMjcfCompilerType = ELEMENT_TYPE("compiler", compilerFields);
const knMjcfElementType knMjcfOptionType = ELEMENT_TYPE("option", optionFields);
const knMjcfElementType knMjcfDefaultType = ELEMENT_TYPE("default", defaultFields);
const knMjcfElementType knMjcfGeomType = ELEMENT_TYPE("geom", geomFields);
const knMjcfElementType knMjcfJointType = ELEMENT_TYPE("joint", jointFields);
const knMjcfElementType knMjcfFreeJointType = ELEMENT_TYPE("freejoint", freeJointFields);
const knMjcfElementType knMjcfInertialType = ELEMENT_TYPE("inertial", inertialFields);
const knMjcfElementType knMjcfBodyType = ELEMENT_TYPE("body", bodyFields);
const knMjcfElementType knMjcfWorldBodyType = ELEMENT_TYPE("worldbody", worldBodyFields);
const knMjcfElementType knMjcfConnectType = ELEMENT_TYPE("connect", connectFields);
const knMjcfElementType knMjcfWeldType = ELEMENT_TYPE("weld", weldFields);
const knMjcfElementType knMjcfEqualityType = ELEMENT_TYPE("equality", equalityFields);
const knMjcfElementType knMjcfExcludeType = ELEMENT_TYPE("exclude", excludeFields);
const knMjcfElementType knMjcfKeyType = ELEMENT_TYPE("key", keyFields);
const knMjcfElementType knMjcfNumericType = ELEMENT_TYPE("numeric", customFields);
const knMjcfElementType knMjcfTextType = ELEMENT_TYPE("text", customFields);

// --- numbers ---------------------------------------------------------------------------------------------

static bool isBlank(char c) {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

int knMjcf_ParseNumbers(const char* text, double* numbers, int capacity, char* bad) {
	int count = 0;
	for (;;) {
		while (isBlank(*text)) {
			++text;
		}
		if (*text == '\0') {
			return count;
		}
		size_t length = 0;
		while (text[length] != '\0' && !isBlank(text[length])) {
			++length;
		}
		char token[400];
		double value = 0.0;
		bool fits = length < sizeof token;
		if (fits) {
			memcpy(token, text, length);
			token[length] = '\0';
		}
		if (!fits || !knText_ParseDouble(token, &value)) {
			snprintf(bad, 32, "%.*s", (int)(length < 31 ? length : 31), text);
			return -1;
		}
		if (count < capacity) {
			numbers[count] = value;
		}
		count += count < INT32_MAX ? 1 : 0;
		text += length;
	}
}

static bool failNumber(knMjcf* reader, const char* tag, const char* attribute, const char* bad) {
	return knMjcf_Fail(reader, NULL, tag, KN_BAD_DATA, "%s: '%s' is not a finite number", attribute, bad);
}

static bool readReals(knMjcf* reader, const char* tag, const knMjcfField* field, const char* text,
					  char* element) {
	double numbers[7];
	char bad[32];
	int count = knMjcf_ParseNumbers(text, numbers, 7, bad);
	if (count < 0) {
		return failNumber(reader, tag, field->name, bad);
	}
	if (count < field->least || count > field->most) {
		if (field->least == field->most) {
			return knMjcf_Fail(reader, NULL, tag, KN_BAD_DATA, "%s has %d number%s; it takes %d", field->name,
							   count, count == 1 ? "" : "s", field->most);
		}
		return knMjcf_Fail(reader, NULL, tag, KN_BAD_DATA, "%s has %d number%s; it takes %d to %d",
						   field->name, count, count == 1 ? "" : "s", field->least, field->most);
	}
	memcpy(element + field->offset, numbers, (size_t)count * sizeof(double));
	if (field->countOffset != 0) {
		memcpy(element + field->countOffset, &count, sizeof count);
	}
	return true;
}

static bool readNumbers(knMjcf* reader, const char* tag, const knMjcfField* field, const char* text,
						char* element) {
	char bad[32];
	int count = knMjcf_ParseNumbers(text, NULL, 0, bad);
	if (count < 0) {
		return failNumber(reader, tag, field->name, bad);
	}
	double* numbers = KN_SCRATCH(&reader->arena, double, count);
	if (numbers == NULL) {
		return knMjcf_NoMemory(reader);
	}
	knMjcf_ParseNumbers(text, numbers, count, bad);
	knMjcfNumbers list = { numbers, count };
	memcpy(element + field->offset, &list, sizeof list);
	return true;
}

static bool readWord(knMjcf* reader, const char* tag, const knMjcfField* field, const char* text,
					 char* element) {
	char allowed[128] = "";
	size_t length = 0;
	for (int i = 0; field->words[i] != NULL; ++i) {
		if (strcmp(field->words[i], text) == 0) {
			memcpy(element + field->offset, &i, sizeof i);
			return true;
		}
		length += (size_t)snprintf(allowed + length, sizeof allowed - length, "%s%s", i > 0 ? ", " : "",
								   field->words[i]);
	}
	return knMjcf_Fail(reader, NULL, tag, KN_BAD_DATA, "%s is '%.40s'; it must be one of %s", field->name,
					   text, allowed);
}

static bool readField(knMjcf* reader, const char* tag, const knMjcfField* field, const char* text,
					  char* element) {
	switch (field->kind) {
	case KN_MJCF_FIELD_REALS:
		return readReals(reader, tag, field, text, element);
	case KN_MJCF_FIELD_NUMBERS:
		return readNumbers(reader, tag, field, text, element);
	case KN_MJCF_FIELD_WORD:
		return readWord(reader, tag, field, text, element);
	case KN_MJCF_FIELD_INT: {
		int value;
		if (!knText_ParseInt(text, &value)) {
			return knMjcf_Fail(reader, NULL, tag, KN_BAD_DATA, "%s: '%.40s' is not an integer", field->name,
							   text);
		}
		memcpy(element + field->offset, &value, sizeof value);
		return true;
	}
	case KN_MJCF_FIELD_TEXT: {
		const char* copy = knMjcf_CopyText(reader, text);
		memcpy(element + field->offset, &copy, sizeof copy);
		return copy != NULL;
	}
	case KN_MJCF_FIELD_SILENT:
		break;
	}
	return true;
}

// --- elements --------------------------------------------------------------------------------------------

static const knMjcfField* findField(const knMjcfElementType* type, const char* name) {
	for (int i = 0; i < type->fieldCount; ++i) {
		if (strcmp(type->fields[i].name, name) == 0) {
			return &type->fields[i];
		}
	}
	return NULL;
}

bool knMjcf_ReadElement(knMjcf* reader, const knMjcfElementType* type, const char** attributes,
						void* element) {
	knMjcfElement* head = element;
	head->line = reader->line;
	head->column = reader->column;
	uint32_t orientations = 0;
	for (int i = 0; attributes[i] != NULL; i += 2) {
		const knMjcfField* field = findField(type, attributes[i]);
		if (field == NULL) {
			knMjcf_Note(reader, NULL, "<%s> %.60s ignored", type->tag, attributes[i]);
			continue;
		}
		if (!readField(reader, type->tag, field, attributes[i + 1], element)) {
			return false;
		}
		if (field->kind == KN_MJCF_FIELD_SILENT) {
			continue;
		}
		uint32_t bit = 1u << field->bit;
		if ((bit & KN_MJCF_ORIENTATION_BITS) != 0 && orientations != 0) {
			return knMjcf_Fail(reader, NULL, type->tag, KN_BAD_DATA,
							   "it has two orientations; give one of quat, axisangle, euler, xyaxes, zaxis");
		}
		orientations |= bit & KN_MJCF_ORIENTATION_BITS;
		// in a <default> that speaks twice, the later orientation replaces the earlier
		head->given =
			(orientations != 0 ? head->given & ~KN_MJCF_ORIENTATION_BITS : head->given) | orientations | bit;
	}
	return !reader->failed;
}

// Bytes of a field's value.
static size_t fieldSize(const knMjcfField* field) {
	switch (field->kind) {
	case KN_MJCF_FIELD_REALS:
		return (size_t)field->most * sizeof(double);
	case KN_MJCF_FIELD_NUMBERS:
		return sizeof(knMjcfNumbers);
	case KN_MJCF_FIELD_INT:
	case KN_MJCF_FIELD_WORD:
		return sizeof(int);
	case KN_MJCF_FIELD_TEXT:
		return sizeof(const char*);
	case KN_MJCF_FIELD_SILENT:
		break;
	}
	return 0;
}

void knMjcf_Inherit(const knMjcfElementType* type, void* element, const void* defaults) {
	knMjcfElement* head = element;
	const knMjcfElement* from = defaults;
	const uint32_t kept = (head->given & KN_MJCF_ORIENTATION_BITS) != 0 ? KN_MJCF_ORIENTATION_BITS : 0;
	const uint32_t never = 1u << KN_MJCF_NAME | 1u << KN_MJCF_CLASS;
	const uint32_t wanted = from->given & ~(head->given | kept | never);
	for (int i = 0; i < type->fieldCount; ++i) {
		const knMjcfField* field = &type->fields[i];
		if (field->kind == KN_MJCF_FIELD_SILENT || (wanted >> field->bit & 1u) == 0) {
			continue;
		}
		memcpy((char*)element + field->offset, (const char*)defaults + field->offset, fieldSize(field));
		if (field->countOffset != 0) {
			memcpy((char*)element + field->countOffset, (const char*)defaults + field->countOffset,
				   sizeof(int));
		}
	}
	head->given |= wanted;
}
