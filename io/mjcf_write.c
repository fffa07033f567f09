// Writes a scene as MJCF, so that reading it again gives the same scene, and MuJoCo a model as near as it can.
//
// Where a joint is one that MuJoCo has, it nests its child's <body> in its parent's; ball and fixed joints that cannot
// be in the tree become <connect> and <weld>; all others are knuckle.joint lines. Bodies stand where the scene starts
// (a joint's `ref` is its coordinate there). Composing frames along the tree rounds, so wherever the reader would not
// get the very same number back, a knuckle.* line says it exactly; knuckle.order.* restores the order of adding.
//
// The text is made in memory, written to PATH.part, and renamed: there is never half a file.
#include "mjcf_write.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/text.h"
#include "knuckle/io.h"
#include "mjcf.h"
#include "model/joint.h"

// deeper than this, lines are not indented further: a chain of 100,000 bodies must not be mostly tabs
enum { DEEPEST_INDENT = 12 };

// --- text ------------------------------------------------------------------------------------------------

bool knMjcfWriter_Fail(knMjcfWriter* writer, knStatus status, const char* element, const char* format, ...) {
	if (!writer->failed) {
		char message[sizeof writer->error->message];
		va_list arguments;
		va_start(arguments, format);
		vsnprintf(message, sizeof message, format, arguments);
		va_end(arguments);
		knError_Set(writer->error, status, element, "%s", message);
		writer->failed = true;
	}
	return false;
}

static bool failMemory(knMjcfWriter* writer) {
	return knMjcfWriter_Fail(writer, KN_NO_MEMORY, "", "out of memory while writing");
}

static void putBytes(knMjcfWriter* writer, const char* bytes, size_t size) {
	if (writer->failed) {
		return;
	}
	if (size > INT32_MAX / 4 || writer->text.count > INT32_MAX / 2 ||
		!KN_ARRAY_RESERVE(&writer->allocator, &writer->text, writer->text.count + (int)size)) {
		failMemory(writer);
		return;
	}
	memcpy(writer->text.items + writer->text.count, bytes, size);
	writer->text.count += (int)size;
}

void knMjcfWriter_Put(knMjcfWriter* writer, const char* text) {
	putBytes(writer, text, strlen(text));
}

void knMjcfWriter_Line(knMjcfWriter* writer) {
	knMjcfWriter_Put(writer, "\n");
	for (int i = 0; i < writer->depth && i < DEEPEST_INDENT; ++i) {
		knMjcfWriter_Put(writer, "\t");
	}
}

void knMjcfWriter_PutEscaped(knMjcfWriter* writer, const char* text, bool quote) {
	for (; *text != '\0'; ++text) {
		switch (*text) {
		case '&':
			knMjcfWriter_Put(writer, "&amp;");
			break;
		case '<':
			knMjcfWriter_Put(writer, "&lt;");
			break;
		case '>':
			knMjcfWriter_Put(writer, "&gt;");
			break;
		case '"':
			knMjcfWriter_Put(writer, "&quot;");
			break;
		case '\t':
			knMjcfWriter_Put(writer, "&#9;");
			break;
		case '\n':
			knMjcfWriter_Put(writer, "&#10;");
			break;
		case '\r':
			knMjcfWriter_Put(writer, "&#13;");
			break;
		case '\'':
			knMjcfWriter_Put(writer, quote ? "''" : "'");
			break;
		default:
			putBytes(writer, text, 1);
		}
	}
}

void knMjcfWriter_PutNumber(knMjcfWriter* writer, double value) {
	char text[32];
	knMjcfWriter_Put(writer, knText_FormatDouble(value, text, sizeof text));
}

void knMjcfWriter_PutNumbers(knMjcfWriter* writer, const double* values, int count) {
	for (int i = 0; i < count; ++i) {
		knMjcfWriter_Put(writer, i > 0 ? " " : "");
		knMjcfWriter_PutNumber(writer, values[i]);
	}
}

void knMjcfWriter_PutFrame(knMjcfWriter* writer, knFrame frame) {
	const double numbers[7] = { frame.p.x, frame.p.y, frame.p.z, frame.q.w, frame.q.x, frame.q.y, frame.q.z };
	knMjcfWriter_PutNumbers(writer, numbers, 7);
}

static void beginAttribute(knMjcfWriter* writer, const char* name) {
	knMjcfWriter_Put(writer, " ");
	knMjcfWriter_Put(writer, name);
	knMjcfWriter_Put(writer, "=\"");
}

void knMjcfWriter_Text(knMjcfWriter* writer, const char* name, const char* value) {
	beginAttribute(writer, name);
	knMjcfWriter_PutEscaped(writer, value, false);
	knMjcfWriter_Put(writer, "\"");
}

void knMjcfWriter_Number(knMjcfWriter* writer, const char* name, double value) {
	beginAttribute(writer, name);
	knMjcfWriter_PutNumber(writer, value);
	knMjcfWriter_Put(writer, "\"");
}

void knMjcfWriter_Vector(knMjcfWriter* writer, const char* name, knVec3 value) {
	const double numbers[3] = { value.x, value.y, value.z };
	beginAttribute(writer, name);
	knMjcfWriter_PutNumbers(writer, numbers, 3);
	knMjcfWriter_Put(writer, "\"");
}

void knMjcfWriter_Frame(knMjcfWriter* writer, knFrame frame) {
	const knFrame none = knIdentityF();
	if (memcmp(&frame.p, &none.p, sizeof frame.p) != 0) {
		knMjcfWriter_Vector(writer, "pos", frame.p);
	}
	if (memcmp(&frame.q, &none.q, sizeof frame.q) != 0) {
		const double numbers[4] = { frame.q.w, frame.q.x, frame.q.y, frame.q.z };
		beginAttribute(writer, "quat");
		knMjcfWriter_PutNumbers(writer, numbers, 4);
		knMjcfWriter_Put(writer, "\"");
	}
}

// --- names -----------------------------------------------------------------------------------------------

// Bytes of the UTF-8 character at `text` if XML allows it, else 0.
static int xmlCharacter(const unsigned char* text) {
	const unsigned char c = text[0];
	if (c < 0x80) {
		return c >= 0x20 || c == '\t' || c == '\n' || c == '\r' ? 1 : 0;
	}
	const int size = c >= 0xF0 ? 4 : (c >= 0xE0 ? 3 : 2);
	uint32_t code = size == 4 ? c & 0x07 : (size == 3 ? c & 0x0F : c & 0x1F);
	if (c < 0xC2 || c > 0xF4) {
		return 0;
	}
	for (int i = 1; i < size; ++i) {
		if ((text[i] & 0xC0) != 0x80) {
			return 0;
		}
		code = code << 6 | (text[i] & 0x3F);
	}
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
	return code >= least[size] && code <= 0x10FFFF && !surrogate && (code & 0xFFFE) != 0xFFFE ? size : 0;
}

static bool checkText(knMjcfWriter* writer, const char* kind, const char* text) {
	for (const unsigned char* at = (const unsigned char*)text; at != NULL && *at != '\0';) {
		const int size = xmlCharacter(at);
		if (size == 0) {
			return knMjcfWriter_Fail(writer, KN_UNSUPPORTED, kind,
									 "a name holds a character that XML cannot carry");
		}
		at += size;
	}
	return true;
}

static bool isWritable(const knGeom* geom) {
	bool ok = knGeom_Kind(geom) == KN_GEOM_COMPOUND || knGeom_Kind(geom) == KN_GEOM_PLANE ||
			  knGeom_Kind(geom) == KN_GEOM_HULL || knGeom_Kind(geom) == KN_GEOM_MESH ||
			  knLengthSquared(knGeom_Size(geom)) > 0.0; // height fields have no size: they are made of points
	for (int i = 0; ok && i < knGeom_ChildCount(geom); ++i) {
		ok = isWritable(knGeom_Child(geom, i).geom);
	}
	return ok;
}

static bool checkKind(knMjcfWriter* writer, const knMjcfOutShape* shape) {
	if (isWritable(shape->geom)) {
		return true;
	}
	char element[96];
	snprintf(element, sizeof element, "shape '%.70s'",
			 shape->def->name != NULL ? shape->def->name : "unnamed");
	return knMjcfWriter_Fail(
		writer, KN_UNSUPPORTED, element,
		"a height field cannot be written: MJCF scales its heights, and would not give the same back");
}

static bool checkNames(knMjcfWriter* writer) {
	const knSceneDef* def = knScene_GetDef(writer->scene);
	bool ok = checkText(writer, "scene", def->name) && checkText(writer, "scene", def->stepper);
	for (int i = 0; ok && i < writer->bodyCount; ++i) {
		const char* name = writer->bodies[i].def->name;
		ok = checkText(writer, "body", name);
		if (ok && strcmp(name, "world") == 0) {
			ok = knMjcfWriter_Fail(writer, KN_UNSUPPORTED, "body 'world'",
								   "MJCF keeps this name for the world itself");
		}
	}
	for (int i = 0; ok && i < writer->jointCount; ++i) {
		const knJointDef* joint = writer->joints[i].def;
		ok = checkText(writer, "joint", joint->name);
		if (ok && joint->kind == KN_JOINT_CUSTOM) {
			char element[96];
			snprintf(element, sizeof element, "joint '%.70s'", joint->name);
			ok = knMjcfWriter_Fail(writer, KN_UNSUPPORTED, element,
								   "a custom joint is made of functions; it cannot be written to a file");
		}
	}
	for (int i = 0; ok && i < writer->shapeCount; ++i) {
		ok = checkText(writer, "shape", writer->shapes[i].def->name) && checkKind(writer, &writer->shapes[i]);
	}
	return ok;
}

// --- collecting ------------------------------------------------------------------------------------------

#define TAKE(writer, type, count) KN_SCRATCH_ZERO(&(writer)->arena, type, count)

static int bodyIndex(const knMjcfWriter* writer, knBodyId id) {
	return KN_ID_IS_NULL(id) ? -1 : writer->slotToBody[id.index1 - 1];
}

static bool allocate(knMjcfWriter* writer) {
	const int bodies = knScene_BodySlots(writer->scene), shapes = knScene_ShapeSlots(writer->scene);
	const int joints = knScene_JointSlots(writer->scene);
	writer->bodies = TAKE(writer, knMjcfOutBody, bodies);
	writer->shapes = TAKE(writer, knMjcfOutShape, shapes);
	writer->joints = TAKE(writer, knMjcfOutJoint, joints);
	writer->slotToBody = TAKE(writer, int, bodies);
	writer->bodyOrder = TAKE(writer, int, bodies);
	writer->shapeOrder = TAKE(writer, int, shapes);
	writer->jointOrder = TAKE(writer, int, joints);
	return !writer->arena.failed || failMemory(writer);
}

static void collectShapes(knMjcfWriter* writer) {
	const knScene* scene = writer->scene;
	for (int slot = 0; slot < knScene_ShapeSlots(scene); ++slot) {
		const knShapeId id = knScene_ShapeAt(scene, slot);
		// what only shows stays in its own files
		if (!KN_ID_IS_NULL(id) && knScene_GetShape(scene, id)->role != KN_SHAPE_LOOKS) {
			writer->shapes[writer->shapeCount++] = (knMjcfOutShape){
				.id = id, .def = knScene_GetShape(scene, id), .geom = knScene_GetShapeGeom(scene, id)
			};
		}
	}
	// lists by body, in order: pushing to the front from the back
	writer->firstWorldShape = -1;
	for (int i = writer->shapeCount - 1; i >= 0; --i) {
		const int body = bodyIndex(writer, knScene_GetShapeBody(scene, writer->shapes[i].id));
		int* first = body < 0 ? &writer->firstWorldShape : &writer->bodies[body].firstShape;
		writer->shapes[i].next = *first;
		*first = i;
	}
}

static bool collect(knMjcfWriter* writer) {
	const knScene* scene = writer->scene;
	if (!allocate(writer)) {
		return false;
	}
	for (int slot = 0; slot < knScene_BodySlots(scene); ++slot) {
		const knBodyId id = knScene_BodyAt(scene, slot);
		if (!KN_ID_IS_NULL(id)) {
			writer->slotToBody[slot] = writer->bodyCount;
			writer->bodies[writer->bodyCount++] = (knMjcfOutBody){ .id = id,
																   .def = knScene_GetBody(scene, id),
																   .joint = -1,
																   .parent = -1,
																   .firstChild = -1,
																   .nextSibling = -1,
																   .firstShape = -1 };
		}
	}
	collectShapes(writer);
	for (int slot = 0; slot < knScene_JointSlots(scene); ++slot) {
		const knJointId id = knScene_JointAt(scene, slot);
		if (!KN_ID_IS_NULL(id)) {
			const knJointDef* def = knScene_GetJoint(scene, id);
			writer->joints[writer->jointCount++] = (knMjcfOutJoint){ .id = id,
																	 .def = def,
																	 .parent = bodyIndex(writer, def->parent),
																	 .child = bodyIndex(writer, def->child),
																	 .form = KN_MJCF_AS_TEXT };
		}
	}
	return true;
}

// --- the tree --------------------------------------------------------------------------------------------

static bool isDynamic(const knMjcfWriter* writer, int body) {
	return body >= 0 && writer->bodies[body].def->kind == KN_BODY_DYNAMIC;
}

// True if MuJoCo has the joint and may have it in its tree.
static bool mayNest(const knMjcfWriter* writer, const knMjcfOutJoint* joint) {
	const knJointKind kind = joint->def->kind;
	return kind != KN_JOINT_FREE && kind != KN_JOINT_FIXED && joint->def->enabled && !joint->def->loop &&
		   isDynamic(writer, joint->child) && writer->bodies[joint->child].joint < 0;
}

static void nest(knMjcfWriter* writer, int body, int joint) {
	writer->bodies[body].joint = joint;
	writer->bodies[body].parent = writer->joints[joint].parent;
	writer->joints[joint].form = KN_MJCF_AS_TREE;
}

static void unnest(knMjcfWriter* writer, int body) {
	writer->joints[writer->bodies[body].joint].form = KN_MJCF_AS_TEXT;
	writer->bodies[body].joint = -1;
	writer->bodies[body].parent = -1;
}

// A ring of parents has no outermost body: it is cut at one of its bodies.
static bool cutRings(knMjcfWriter* writer) {
	int* visit = TAKE(writer, int, writer->bodyCount);
	if (visit == NULL) {
		return failMemory(writer);
	}
	for (int start = 0; start < writer->bodyCount; ++start) {
		int body = start;
		while (body >= 0 && visit[body] == 0) {
			visit[body] = start + 1;
			body = writer->bodies[body].parent;
		}
		if (body >= 0 && visit[body] == start + 1 && writer->bodies[body].parent >= 0) {
			unnest(writer, body);
		}
	}
	return true;
}

static bool planTree(knMjcfWriter* writer) {
	for (int i = 0; i < writer->jointCount; ++i) {
		if (mayNest(writer, &writer->joints[i])) {
			nest(writer, writer->joints[i].child, i);
		}
	}
	if (!cutRings(writer)) {
		return false;
	}
	for (int i = 0; i < writer->jointCount; ++i) {
		knMjcfOutJoint* joint = &writer->joints[i];
		const bool equality = joint->def->kind == KN_JOINT_BALL || joint->def->kind == KN_JOINT_FIXED;
		if (joint->form == KN_MJCF_AS_TEXT && equality &&
			(isDynamic(writer, joint->parent) || isDynamic(writer, joint->child))) {
			joint->form = KN_MJCF_AS_EQUALITY;
		}
	}
	for (int b = writer->bodyCount - 1; b >= 0; --b) {
		knMjcfOutBody* body = &writer->bodies[b];
		if (body->parent >= 0) {
			body->nextSibling = writer->bodies[body->parent].firstChild;
			writer->bodies[body->parent].firstChild = b;
		}
	}
	return true;
}

// --- materials and names of geoms ------------------------------------------------------------------------

static bool touchesNothing(const knShapeDef* def) {
	return def->sensor || def->filter.mask == 0 || def->filter.category == 0;
}

// What is equal for all shapes is said once.
static void planMaterials(knMjcfWriter* writer) {
	const knFilter plain = knFilter_Default();
	writer->restitution = writer->rolling = -1.0;
	writer->friction = 1.0;
	writer->density = 1000.0;
	for (int i = 0; i < writer->shapeCount; ++i) {
		const knShapeDef* def = writer->shapes[i].def;
		const knShapeDef* first = writer->shapes[0].def;
		if (i == 0) {
			writer->restitution = def->restitution;
			writer->rolling = def->rollingFriction;
			writer->friction = def->friction;
			writer->density = def->density;
		}
		writer->restitution = def->restitution == first->restitution ? writer->restitution : -1.0;
		writer->rolling = def->rollingFriction == first->rollingFriction ? writer->rolling : -1.0;
		writer->writeFilters = writer->writeFilters || touchesNothing(def) ||
							   def->filter.category != plain.category || def->filter.mask != plain.mask ||
							   def->filter.group != plain.group;
	}
}

static bool needsName(const knMjcfWriter* writer, const knShapeDef* def) {
	return writer->writeFilters || def->sensor || (writer->restitution < 0.0 && def->restitution != 0.0) ||
		   (writer->rolling < 0.0 && def->rollingFriction != 0.0);
}

static const char* copyText(knMjcfWriter* writer, const char* text) {
	char* copy = knArena_Take(&writer->arena, strlen(text) + 1);
	if (copy == NULL) {
		failMemory(writer);
		return NULL;
	}
	return strcpy(copy, text);
}

// A made-up name that no shape has: "shape7", and for a compound a base whose "shape7.0" etc. are free.
static bool makeName(knMjcfWriter* writer, knNameTable* names, int index) {
	knMjcfOutShape* shape = &writer->shapes[index];
	const bool compound = knGeom_Kind(shape->geom) == KN_GEOM_COMPOUND;
	const int count = compound ? knGeom_ChildCount(shape->geom) : 1;
	char base[48], name[64];
	bool taken = true;
	for (int attempt = 1; taken; ++attempt) {
		snprintf(base, sizeof base, attempt == 1 ? "shape%d" : "shape%d_%d", index, attempt);
		taken = false;
		for (int i = 0; i < count && !taken; ++i) {
			snprintf(name, sizeof name, compound ? "%s.%d" : "%s", base, i);
			taken = knNameTable_Get(names, name) >= 0;
		}
	}
	if (!knNameTable_Set(names, base, index)) {
		return failMemory(writer);
	}
	snprintf(name, sizeof name, compound ? "%s.0" : "%s", base);
	shape->name = copyText(writer, name);
	shape->base = copyText(writer, base);
	return !writer->failed;
}

static bool planNames(knMjcfWriter* writer, knNameTable* names) {
	// own names first, each once
	for (int i = 0; i < writer->shapeCount; ++i) {
		knMjcfOutShape* shape = &writer->shapes[i];
		const char* name = shape->def->name;
		if (name == NULL || name[0] == '\0' || knNameTable_Get(names, name) >= 0) {
			continue;
		}
		if (!knNameTable_Set(names, name, i)) {
			return failMemory(writer);
		}
		shape->name = name;
	}
	for (int i = 0; i < writer->shapeCount; ++i) {
		knMjcfOutShape* shape = &writer->shapes[i];
		const bool compound = knGeom_Kind(shape->geom) == KN_GEOM_COMPOUND;
		if ((compound || (shape->name == NULL && needsName(writer, shape->def))) &&
			!makeName(writer, names, i)) {
			return false;
		}
	}
	return true;
}

// --- the file --------------------------------------------------------------------------------------------

static void writeHead(knMjcfWriter* writer) {
	const knSceneDef* def = knScene_GetDef(writer->scene);
	knMjcfWriter_Put(writer, "<mujoco");
	if (def->name != NULL && def->name[0] != '\0') {
		knMjcfWriter_Text(writer, "model", def->name);
	}
	knMjcfWriter_Put(writer, ">");
	writer->depth = 1;
	knMjcfWriter_Line(writer);
	knMjcfWriter_Put(writer, "<compiler angle=\"radian\"/>");
	knMjcfWriter_Line(writer);
	knMjcfWriter_Put(writer, "<option");
	knMjcfWriter_Number(writer, "timestep", def->dt);
	knMjcfWriter_Vector(writer, "gravity", def->gravity);
	if (def->mediumDensity != 0.0 || def->mediumViscosity != 0.0) {
		knMjcfWriter_Number(writer, "density", def->mediumDensity);
		knMjcfWriter_Number(writer, "viscosity", def->mediumViscosity);
	}
	knMjcfWriter_Put(writer, "/>");
	knMjcfWriter_Line(writer);
	knMjcfWriter_Put(writer, "<default><geom");
	knMjcfWriter_Number(writer, "friction", writer->friction);
	knMjcfWriter_Number(writer, "density", writer->density);
	knMjcfWriter_Put(writer, "/></default>");
}

static const char* bodyName(const knMjcfWriter* writer, knBodyId id) {
	return KN_ID_IS_NULL(id) ? "world" : knScene_GetBody(writer->scene, id)->name;
}

static void writeExclusions(knMjcfWriter* writer) {
	const int count = knScene_ExcludedCount(writer->scene);
	if (count == 0) {
		return;
	}
	knMjcfWriter_Line(writer);
	knMjcfWriter_Put(writer, "<contact>");
	writer->depth += 1;
	for (int i = 0; i < count; ++i) {
		knBodyId a, b;
		knScene_GetExcluded(writer->scene, i, &a, &b);
		knMjcfWriter_Line(writer);
		knMjcfWriter_Put(writer, "<exclude");
		knMjcfWriter_Text(writer, "body1", bodyName(writer, a));
		knMjcfWriter_Text(writer, "body2", bodyName(writer, b));
		knMjcfWriter_Put(writer, "/>");
	}
	writer->depth -= 1;
	knMjcfWriter_Line(writer);
	knMjcfWriter_Put(writer, "</contact>");
}

static void writeAll(knMjcfWriter* writer) {
	writeHead(writer);
	knMjcfWriter_Assets(writer);
	knMjcfWriter_WorldBody(writer);
	writeExclusions(writer);
	knMjcfWriter_Equalities(writer);
	knMjcfWriter_Control(writer);
	knMjcfWriter_Customs(writer);
	knMjcfWriter_Put(writer, "\n</mujoco>\n");
}

static bool failFile(knMjcfWriter* writer, const char* path, const char* what) {
	const int code = errno;
	knMjcfWriter_Fail(writer, KN_IO, "", "%s: %s", what, strerror(code));
	if (writer->error != NULL) {
		snprintf(writer->error->file, sizeof writer->error->file, "%s", path);
	}
	return false;
}

static bool saveText(knMjcfWriter* writer, const char* path) {
	const size_t size = strlen(path) + sizeof ".part";
	char* part = knArena_Take(&writer->arena, size);
	if (part == NULL) {
		return failMemory(writer);
	}
	snprintf(part, size, "%s.part", path);
	FILE* file = fopen(part, "wb");
	if (file == NULL) {
		return failFile(writer, path, "cannot create the file");
	}
	bool ok = fwrite(writer->text.items, 1, (size_t)writer->text.count, file) == (size_t)writer->text.count;
	ok = fclose(file) == 0 && ok;
	ok = ok && rename(part, path) == 0;
	if (!ok) {
		failFile(writer, path, "cannot write the file");
		remove(part);
	}
	return ok;
}

knStatus knMjcf_Save(const knScene* scene, const char* path, knError* error) {
	if (scene == NULL || path == NULL) {
		return knError_Set(error, KN_BAD_ARGUMENT, "knMjcf_Save", "it needs a scene and a path");
	}
	knError own = { .status = KN_OK };
	knMjcfWriter writer = { .allocator = knAllocator_Default(), .scene = scene, .error = &own };
	knNameTable names;
	knArena_Init(&writer.arena, &writer.allocator);
	knNameTable_Init(&names, &writer.allocator);
	if (collect(&writer) && checkNames(&writer) && planTree(&writer) && knMjcfWriter_PlanMeshes(&writer) &&
		knMjcfWriter_PlanSites(&writer)) {
		planMaterials(&writer);
		if (planNames(&writer, &names)) {
			writeAll(&writer);
		}
		if (!writer.failed) {
			saveText(&writer, path);
		}
	}
	knNameTable_Free(&names);
	knArena_Free(&writer.arena);
	KN_ARRAY_FREE(&writer.allocator, &writer.text);
	KN_ARRAY_FREE(&writer.allocator, &writer.meshes);
	KN_ARRAY_FREE(&writer.allocator, &writer.sites);
	if (writer.failed && error != NULL) {
		*error = own;
	}
	return writer.failed ? own.status : KN_OK;
}
