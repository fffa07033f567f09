// URDF elements: what a file says, checked number by number. docs/urdf.md lists them.
//
// Everything is found by asking for it; what nobody asked for stands in the report at the end, so that no element and no
// attribute is dropped silently.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/text.h"
#include "urdf.h"

// --- errors and notes ------------------------------------------------------------------------------------

static void setPlace(knUrdf* reader, int node) {
	snprintf(reader->error.file, sizeof reader->error.file, "%s", reader->file);
	if (node >= 0) {
		reader->error.line = reader->tree.nodes.items[node].line;
		reader->error.column = reader->tree.nodes.items[node].column;
	}
}

bool knUrdf_Fail(knUrdf* reader, int node, knStatus status, const char* format, ...) {
	if (reader->failed) {
		return false;
	}
	reader->failed = true;
	char message[sizeof reader->error.message];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(message, sizeof message, format, arguments);
	va_end(arguments);
	char element[sizeof reader->error.element] = "";
	if (node >= 0) {
		const char* name = knXml_Get(&reader->tree, node, "name");
		const char* tag = reader->tree.nodes.items[node].tag;
		if (name != NULL) {
			snprintf(element, sizeof element, "<%.20s name=\"%.50s\">", tag, name);
		} else {
			snprintf(element, sizeof element, "<%.80s>", tag);
		}
	}
	knError_Set(&reader->error, status, element, "%s", message);
	setPlace(reader, node);
	return false;
}

bool knUrdf_NoMemory(knUrdf* reader) {
	return knUrdf_Fail(reader, -1, KN_NO_MEMORY, "out of memory while reading");
}

bool knUrdf_FailFrom(knUrdf* reader, int node, const knError* cause) {
	if (!reader->failed) {
		reader->failed = true;
		reader->error = *cause;
		// a mesh file has a place of its own
		if (cause->file[0] == '\0') {
			setPlace(reader, node);
		}
	}
	return false;
}

void knUrdf_Note(knUrdf* reader, int node, knLoadSeverity severity, const char* format, ...) {
	char text[128];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	const knXmlNode* item = &reader->tree.nodes.items[node];
	if (!knImportReport_Add(&reader->report, severity, item->line, item->column, text)) {
		knUrdf_NoMemory(reader);
	}
}

// --- numbers ---------------------------------------------------------------------------------------------

static bool isBlank(char c) {
	return c == ' ' || (c >= '\t' && c <= '\r');
}

bool knUrdf_Numbers(knUrdf* reader, int node, const char* name, int count, bool needed, double* numbers) {
	const char* text = knXml_Get(&reader->tree, node, name);
	if (text == NULL) {
		return !needed || knUrdf_Fail(reader, node, KN_BAD_DATA, "it needs the attribute '%s'", name);
	}
	int found = 0;
	while (*text != '\0') {
		char word[64];
		size_t length = 0;
		while (isBlank(*text)) {
			++text;
		}
		while (*text != '\0' && !isBlank(*text)) {
			if (length < sizeof word - 1) {
				word[length++] = *text;
			}
			++text;
		}
		word[length] = '\0';
		double number;
		if (length == 0) {
			break;
		}
		if (!knText_ParseDouble(word, &number)) {
			return knUrdf_Fail(reader, node, KN_BAD_DATA, "%s: '%.40s' is not a finite number", name, word);
		}
		if (found < count) {
			numbers[found] = number;
		}
		found += 1;
	}
	return found == count ||
		   knUrdf_Fail(reader, node, KN_BAD_DATA, "%s has %d numbers; it takes %d", name, found, count);
}

static knFrame frameOf(const double xyz[3], const double rpy[3]) {
	const knQuat roll = knQuat_FromAxisAngle(knV3(1.0, 0.0, 0.0), rpy[0]);
	const knQuat pitch = knQuat_FromAxisAngle(knV3(0.0, 1.0, 0.0), rpy[1]);
	const knQuat yaw = knQuat_FromAxisAngle(knV3(0.0, 0.0, 1.0), rpy[2]);
	return knMakeFrame(knV3(xyz[0], xyz[1], xyz[2]), knMulQ(yaw, knMulQ(pitch, roll)));
}

static bool readFrame(knUrdf* reader, int node, knFrame* frame) {
	double xyz[3] = { 0.0 }, rpy[3] = { 0.0 };
	if (!knUrdf_Numbers(reader, node, "xyz", 3, false, xyz) ||
		!knUrdf_Numbers(reader, node, "rpy", 3, false, rpy)) {
		return false;
	}
	for (int i = 0; i < 3; ++i) {
		if (knAbs(rpy[i]) > 1e4) {
			return knUrdf_Fail(reader, node, KN_BAD_DATA, "rpy has an angle of %g rad", rpy[i]);
		}
	}
	*frame = frameOf(xyz, rpy);
	return true;
}

bool knUrdf_Origin(knUrdf* reader, int node, knFrame* frame) {
	*frame = knIdentityF();
	const int origin = knXml_Child(&reader->tree, node, "origin");
	return origin < 0 || readFrame(reader, origin, frame);
}

bool knUrdf_Color(knUrdf* reader, int material, uint32_t* color) {
	*color = 0;
	const int node = knXml_Child(&reader->tree, material, "color");
	double rgba[4] = { 0.0 };
	if (node < 0) {
		return true;
	}
	if (!knUrdf_Numbers(reader, node, "rgba", 4, true, rgba)) {
		return false;
	}
	for (int i = 0; i < 3; ++i) {
		*color = *color << 8 | (uint32_t)(255.0 * knClamp(rgba[i], 0.0, 1.0) + 0.5);
	}
	*color = *color != 0 ? *color : 0x010101; // 0 means none
	*color |= (uint32_t)(255.0 * (1.0 - knClamp(rgba[3], 0.0, 1.0)) + 0.5) << 24;
	return true;
}

// --- links -----------------------------------------------------------------------------------------------

static bool readInertial(knUrdf* reader, int node, knUrdfLink* link) {
	static const char* const names[6] = { "ixx", "iyy", "izz", "ixy", "ixz", "iyz" };
	const int inertial = knXml_Child(&reader->tree, node, "inertial");
	if (inertial < 0) {
		return true;
	}
	knFrame frame;
	double mass = 0.0, i[6] = { 0.0 };
	const int massNode = knXml_Child(&reader->tree, inertial, "mass");
	const int inertia = knXml_Child(&reader->tree, inertial, "inertia");
	if (massNode < 0 || !knUrdf_Origin(reader, inertial, &frame) ||
		!knUrdf_Numbers(reader, massNode, "value", 1, true, &mass)) {
		return knUrdf_Fail(reader, inertial, KN_BAD_DATA, "it needs a <mass value=\"...\"/>");
	}
	for (int k = 0; inertia >= 0 && k < 6; ++k) {
		if (!knUrdf_Numbers(reader, inertia, names[k], 1, k < 3, &i[k])) {
			return false;
		}
	}
	if (mass < 0.0) {
		return knUrdf_Fail(reader, massNode, KN_BAD_DATA, "the mass is %g; it must not be negative", mass);
	}
	const knMat33 own = knMakeMat33(knV3(i[0], i[3], i[4]), knV3(i[3], i[1], i[5]), knV3(i[4], i[5], i[2]));
	link->hasInertial = mass > 0.0;
	link->mass = (knMassProps){ mass, frame.p, knRotateTensor(frame.q, &own) };
	return true;
}

static bool enterName(knUrdf* reader, knNameTable* table, int node, int index, const char** name) {
	*name = knXml_Get(&reader->tree, node, "name");
	if (*name == NULL || **name == '\0') {
		return knUrdf_Fail(reader, node, KN_BAD_DATA, "it has no name");
	}
	if (knNameTable_Get(table, *name) >= 0) {
		return knUrdf_Fail(reader, node, KN_BAD_DATA, "there is another of that name");
	}
	return knNameTable_Set(table, *name, index) || knUrdf_NoMemory(reader);
}

static bool readLink(knUrdf* reader, int node) {
	knUrdfLink link = { .node = node, .parentJoint = -1 };
	return enterName(reader, &reader->linkNames, node, reader->links.count, &link.name) &&
		   readInertial(reader, node, &link) &&
		   (KN_ARRAY_PUSH(&reader->allocator, &reader->links, link) || knUrdf_NoMemory(reader));
}

// --- joints ----------------------------------------------------------------------------------------------

static bool findLink(knUrdf* reader, int node, const char* tag, int* link) {
	const int child = knXml_Child(&reader->tree, node, tag);
	const char* name = child >= 0 ? knXml_Get(&reader->tree, child, "link") : NULL;
	if (name == NULL) {
		return knUrdf_Fail(reader, node, KN_BAD_DATA, "it needs a <%s link=\"...\"/>", tag);
	}
	*link = knNameTable_Get(&reader->linkNames, name);
	return *link >= 0 || knUrdf_Fail(reader, child, KN_BAD_DATA, "there is no link '%.60s'", name);
}

static bool readType(knUrdf* reader, int node, knUrdfJoint* joint) {
	static const char* const types[KN_URDF_JOINT_TYPES] = { "revolute", "continuous", "prismatic", "fixed",
															"floating", "planar",     "ball" };
	const char* text = knXml_Get(&reader->tree, node, "type");
	for (int t = 0; text != NULL && t < KN_URDF_JOINT_TYPES; ++t) {
		if (strcmp(text, types[t]) == 0 && (t != KN_URDF_BALL || joint->loop)) {
			joint->type = (knUrdfJointType)t;
			return true;
		}
	}
	return knUrdf_Fail(
		reader, node, KN_BAD_DATA,
		"its type is '%.30s'; it must be revolute, continuous, prismatic, fixed, floating or planar",
		text != NULL ? text : "");
}

static bool readAxis(knUrdf* reader, int node, knUrdfJoint* joint) {
	double xyz[3] = { 1.0, 0.0, 0.0 };
	const int axis = knXml_Child(&reader->tree, node, "axis");
	if (axis >= 0 && !knUrdf_Numbers(reader, axis, "xyz", 3, true, xyz)) {
		return false;
	}
	const knVec3 v = knV3(xyz[0], xyz[1], xyz[2]);
	const double length = knLength(v);
	const bool uses =
		joint->type != KN_URDF_FIXED && joint->type != KN_URDF_FLOATING && joint->type != KN_URDF_BALL;
	if (!(length > 1e-9) || !knIsFinite(length)) {
		joint->axis = knV3(1.0, 0.0, 0.0);
		return !uses || knUrdf_Fail(reader, axis, KN_BAD_DATA, "the axis is zero");
	}
	joint->axis = knScale(1.0 / length, v);
	return true;
}

static bool readLimits(knUrdf* reader, int node, knUrdfJoint* joint) {
	const int limit = knXml_Child(&reader->tree, node, "limit");
	const bool bounded = joint->type == KN_URDF_REVOLUTE || joint->type == KN_URDF_PRISMATIC;
	double velocity = 0.0;
	if (limit < 0) {
		return !bounded || joint->loop ||
			   knUrdf_Fail(reader, node, KN_BAD_DATA, "a %s joint needs a <limit>",
						   joint->type == KN_URDF_REVOLUTE ? "revolute" : "prismatic");
	}
	if (!knUrdf_Numbers(reader, limit, "lower", 1, false, &joint->lower) ||
		!knUrdf_Numbers(reader, limit, "upper", 1, false, &joint->upper) ||
		!knUrdf_Numbers(reader, limit, "effort", 1, false, &joint->effort) ||
		!knUrdf_Numbers(reader, limit, "velocity", 1, false, &velocity)) {
		return false;
	}
	if (joint->effort < 0.0 || velocity < 0.0) {
		return knUrdf_Fail(reader, limit, KN_BAD_DATA,
						   "effort is %g and velocity %g; they must not be negative", joint->effort,
						   velocity);
	}
	joint->limited = bounded;
	if (bounded && joint->lower > joint->upper) {
		return knUrdf_Fail(reader, limit, KN_BAD_DATA, "lower is %g and upper %g", joint->lower,
						   joint->upper);
	}
	if (velocity > 0.0) {
		knUrdf_Note(reader, limit, KN_LOAD_NOTE, "<limit> velocity is not enforced");
	}
	return !reader->failed;
}

static bool readDynamics(knUrdf* reader, int node, knUrdfJoint* joint) {
	const int dynamics = knXml_Child(&reader->tree, node, "dynamics");
	if (dynamics < 0) {
		return true;
	}
	if (!knUrdf_Numbers(reader, dynamics, "damping", 1, false, &joint->damping) ||
		!knUrdf_Numbers(reader, dynamics, "friction", 1, false, &joint->friction)) {
		return false;
	}
	if (joint->damping < 0.0 || joint->friction < 0.0) {
		return knUrdf_Fail(reader, dynamics, KN_BAD_DATA,
						   "damping is %g and friction %g; they must not be negative", joint->damping,
						   joint->friction);
	}
	return true;
}

static bool readMimic(knUrdf* reader, int node, knUrdfJoint* joint) {
	joint->multiplier = 1.0;
	const int mimic = knXml_Child(&reader->tree, node, "mimic");
	if (mimic < 0) {
		return true;
	}
	joint->mimics = knXml_Get(&reader->tree, mimic, "joint");
	if (joint->mimics == NULL) {
		return knUrdf_Fail(reader, mimic, KN_BAD_DATA, "it needs the attribute 'joint'");
	}
	return knUrdf_Numbers(reader, mimic, "multiplier", 1, false, &joint->multiplier) &&
		   knUrdf_Numbers(reader, mimic, "offset", 1, false, &joint->offset);
}

static bool readJoint(knUrdf* reader, int node) {
	knUrdfJoint joint = { .node = node };
	const int index = reader->joints.count;
	if (!enterName(reader, &reader->jointNames, node, index, &joint.name) ||
		!readType(reader, node, &joint) || !findLink(reader, node, "parent", &joint.parent) ||
		!findLink(reader, node, "child", &joint.child) || !knUrdf_Origin(reader, node, &joint.origin) ||
		!readAxis(reader, node, &joint) || !readLimits(reader, node, &joint) ||
		!readDynamics(reader, node, &joint) || !readMimic(reader, node, &joint)) {
		return false;
	}
	knUrdfLink* child = &reader->links.items[joint.child];
	if (child->parentJoint >= 0) {
		return knUrdf_Fail(reader, node, KN_BAD_DATA,
						   "link '%.40s' has a parent already; a loop is closed by <loop_joint>",
						   child->name);
	}
	child->parentJoint = index;
	return KN_ARRAY_PUSH(&reader->allocator, &reader->joints, joint) || knUrdf_NoMemory(reader);
}

// Knuckle's extension: <loop_joint name type> <link1 link xyz rpy/> <link2 link xyz rpy/> <axis xyz/> </loop_joint>
static bool readLoop(knUrdf* reader, int node) {
	knUrdfJoint joint = { .node = node, .loop = true, .multiplier = 1.0 };
	if (!enterName(reader, &reader->jointNames, node, reader->joints.count, &joint.name) ||
		!readType(reader, node, &joint) || !findLink(reader, node, "link1", &joint.parent) ||
		!findLink(reader, node, "link2", &joint.child) || !readAxis(reader, node, &joint) ||
		!readLimits(reader, node, &joint) || !readDynamics(reader, node, &joint) ||
		!readFrame(reader, knXml_Child(&reader->tree, node, "link1"), &joint.origin) ||
		!readFrame(reader, knXml_Child(&reader->tree, node, "link2"), &joint.origin2)) {
		return false;
	}
	return KN_ARRAY_PUSH(&reader->allocator, &reader->joints, joint) || knUrdf_NoMemory(reader);
}

// --- the file --------------------------------------------------------------------------------------------

static bool readMaterial(knUrdf* reader, int node) {
	const char* name = knXml_Get(&reader->tree, node, "name");
	uint32_t color;
	if (!knUrdf_Color(reader, node, &color)) {
		return false;
	}
	if (name == NULL || color == 0) {
		return true;
	}
	return knNameTable_Set(&reader->materials, name, (int)color) || knUrdf_NoMemory(reader);
}

static bool readAll(knUrdf* reader, const char* tag, bool (*read)(knUrdf* reader, int node)) {
	for (int node = knXml_Child(&reader->tree, 0, tag); node >= 0; node = knXml_Next(&reader->tree, node)) {
		if (!read(reader, node)) {
			return false;
		}
	}
	return true;
}

bool knUrdf_ReadElements(knUrdf* reader) {
	const char* root = reader->tree.nodes.items[0].tag;
	if (strcmp(root, "robot") != 0) {
		return knUrdf_Fail(reader, 0, KN_BAD_DATA,
						   "the file begins with <%.40s>; a URDF file begins with <robot>", root);
	}
	for (int i = 0; i < reader->tree.nodes.count; ++i) {
		if (strncmp(reader->tree.nodes.items[i].tag, "xacro:", 6) == 0) {
			return knUrdf_Fail(reader, i, KN_UNSUPPORTED,
							   "the file is a xacro; 'xacro FILE > robot.urdf' makes a URDF file of it");
		}
	}
	if (!readAll(reader, "material", readMaterial) || !readAll(reader, "link", readLink) ||
		!readAll(reader, "joint", readJoint) || !readAll(reader, "loop_joint", readLoop)) {
		return false;
	}
	return reader->links.count > 0 || knUrdf_Fail(reader, 0, KN_BAD_DATA, "the robot has no link");
}
