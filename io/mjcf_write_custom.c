// knuckle.* values of a written file: what MJCF cannot say, and exact numbers where MJCF's way of saying them rounds.
// docs/mjcf.md lists the names; mjcf_custom.c and mjcf_text.c read them.
#include "mjcf_write.h"

#include <stdio.h>
#include <string.h>

#include "core/text.h"
#include "geom/geom.h"
#include "geom/mesh.h"
#include "geom/sdf.h"
#include "model/joint.h"

// Opens <custom> before the first value.
static void beginValue(knMjcfWriter* writer, bool* any, const char* tag, const char* name,
					   const char* target) {
	if (!*any) {
		knMjcfWriter_Line(writer);
		knMjcfWriter_Put(writer,
						 "<!-- what MJCF cannot say, and exact numbers: they win over those above -->");
		knMjcfWriter_Line(writer);
		knMjcfWriter_Put(writer, "<custom>");
		writer->depth += 1;
		*any = true;
	}
	knMjcfWriter_Line(writer);
	knMjcfWriter_Put(writer, "<");
	knMjcfWriter_Put(writer, tag);
	knMjcfWriter_Put(writer, " name=\"knuckle.");
	knMjcfWriter_Put(writer, name);
	if (target != NULL) {
		knMjcfWriter_Put(writer, ".");
		knMjcfWriter_PutEscaped(writer, target, false);
	}
	knMjcfWriter_Put(writer, "\" data=\"");
}

static void endValue(knMjcfWriter* writer) {
	knMjcfWriter_Put(writer, "\"/>");
}

static void writeText(knMjcfWriter* writer, bool* any, const char* name, const char* target,
					  const char* text) {
	beginValue(writer, any, "text", name, target);
	knMjcfWriter_PutEscaped(writer, text, false);
	endValue(writer);
}

static void writeNumbers(knMjcfWriter* writer, bool* any, const char* name, const char* target,
						 const double* numbers, int count) {
	beginValue(writer, any, "numeric", name, target);
	knMjcfWriter_PutNumbers(writer, numbers, count);
	endValue(writer);
}

static void writeNumber(knMjcfWriter* writer, bool* any, const char* name, const char* target,
						double number) {
	writeNumbers(writer, any, name, target, &number, 1);
}

// --- the scene -------------------------------------------------------------------------------------------

static const char* const combineWords[] = { "min", "average", "geometric", "max", "multiply" };

// Settings that differ from the stepper's own choice.
static void writeSettings(knMjcfWriter* writer, bool* any, const knSettings* settings) {
	for (int i = 0; knSettings_Name(i) != NULL; ++i) {
		char value[32];
		double number;
		if (!knSettings_Get(settings, i, value, sizeof value)) {
			continue;
		}
		if (knText_ParseDouble(value, &number)) {
			writeNumber(writer, any, "set", knSettings_Name(i), number);
		} else {
			writeText(writer, any, "set", knSettings_Name(i), value);
		}
	}
}

static void writeScene(knMjcfWriter* writer, bool* any) {
	const knSceneDef* def = knScene_GetDef(writer->scene);
	if (def->stepper != NULL && def->stepper[0] != '\0') {
		writeText(writer, any, "stepper", NULL, def->stepper);
	}
	writeSettings(writer, any, &def->settings);
	if (def->frictionCombine != KN_COMBINE_MAX) {
		writeText(writer, any, "combine.friction", NULL, combineWords[def->frictionCombine]);
	}
	if (def->restitutionCombine != knSceneDef_Default().restitutionCombine) {
		writeText(writer, any, "combine.restitution", NULL, combineWords[def->restitutionCombine]);
	}
	if (def->jointCapacity != 0) {
		writeNumber(writer, any, "joint_capacity", NULL, def->jointCapacity);
	}
}

// --- geoms -----------------------------------------------------------------------------------------------

static void writeCompound(knMjcfWriter* writer, bool* any, const knMjcfOutShape* shape) {
	const char* name = shape->def->name;
	const int count = knGeom_ChildCount(shape->geom);
	beginValue(writer, any, "text", "compound", name != NULL && name[0] != '\0' ? name : shape->base);
	knMjcfWriter_Put(writer, "parts='");
	for (int i = 0; i < count; ++i) {
		char part[64];
		snprintf(part, sizeof part, "%s%s.%d", i > 0 ? " " : "", shape->base, i);
		knMjcfWriter_Put(writer, part);
	}
	knMjcfWriter_Put(writer, "' frame='");
	knMjcfWriter_PutFrame(writer, shape->def->frame);
	knMjcfWriter_Put(writer, "' frames='");
	for (int i = 0; i < count; ++i) {
		knMjcfWriter_Put(writer, i > 0 ? " " : "");
		knMjcfWriter_PutFrame(writer, knGeom_Child(shape->geom, i).frame);
	}
	knMjcfWriter_Put(writer, "'");
	endValue(writer);
}

static void writeShape(knMjcfWriter* writer, bool* any, const knMjcfOutShape* shape) {
	const knShapeDef* def = shape->def;
	if (writer->restitution < 0.0 && def->restitution != 0.0) {
		writeNumber(writer, any, "restitution", shape->name, def->restitution);
	}
	if (writer->rolling < 0.0 && def->rollingFriction != 0.0) {
		writeNumber(writer, any, "rolling", shape->name, def->rollingFriction);
	}
	if (def->sensor) {
		writeNumber(writer, any, "sensor", shape->name, 1.0);
	}
	if (writer->writeFilters) {
		char text[64];
		snprintf(text, sizeof text, "0x%llx 0x%llx %d", (unsigned long long)def->filter.category,
				 (unsigned long long)def->filter.mask, (int)def->filter.group);
		writeText(writer, any, "filter", shape->name, text);
	}
	if (knGeom_Kind(shape->geom) == KN_GEOM_COMPOUND) {
		writeCompound(writer, any, shape);
	}
}

static void writeShapes(knMjcfWriter* writer, bool* any) {
	if (writer->restitution > 0.0) {
		writeNumber(writer, any, "restitution", NULL, writer->restitution);
	}
	if (writer->rolling > 0.0) {
		writeNumber(writer, any, "rolling", NULL, writer->rolling);
	}
	for (int i = 0; i < writer->shapeCount; ++i) {
		writeShape(writer, any, &writer->shapes[i]);
	}
}

// --- bodies ----------------------------------------------------------------------------------------------

static void writeBody(knMjcfWriter* writer, bool* any, const knMjcfOutBody* body) {
	const knBodyDef* def = body->def;
	const double velocity[6] = { def->velocity.x,        def->velocity.y,        def->velocity.z,
								 def->angularVelocity.x, def->angularVelocity.y, def->angularVelocity.z };
	const bool moves = knLengthSquared(def->velocity) != 0.0 || knLengthSquared(def->angularVelocity) != 0.0;
	if (memcmp(&body->rebuilt, &def->frame, sizeof(knFrame)) != 0) {
		beginValue(writer, any, "numeric", "frame", def->name);
		knMjcfWriter_PutFrame(writer, def->frame);
		endValue(writer);
	}
	if (def->kind == KN_BODY_KINEMATIC && moves) {
		writeNumbers(writer, any, "kinematic", def->name, velocity, 6);
	}
	if (def->kind == KN_BODY_DYNAMIC && moves) {
		writeNumbers(writer, any, "velocity", def->name, velocity, 6);
	}
	// gravcomp is one less the scale, which rounds
	if (1.0 - (1.0 - def->gravityScale) != def->gravityScale) {
		writeNumber(writer, any, "gravity_scale", def->name, def->gravityScale);
	}
	if (def->linearDamping != 0.0 || def->angularDamping != 0.0) {
		const double damping[2] = { def->linearDamping, def->angularDamping };
		writeNumbers(writer, any, "damping", def->name, damping, 2);
	}
	if (def->fast) {
		writeNumber(writer, any, "fast", def->name, 1.0);
	}
	if (def->color != 0) {
		char text[16];
		snprintf(text, sizeof text, "0x%06x", (unsigned)def->color);
		writeText(writer, any, "color", def->name, text);
	}
}

// --- joints ----------------------------------------------------------------------------------------------

// One joint's line. It is begun with the first item, so that a joint which MJCF says completely has none.
typedef struct JointLine {
	knMjcfWriter* writer;
	bool* any;
	const knMjcfOutJoint* joint;
	bool begun;
} JointLine;

static void beginItem(JointLine* line, const char* key) {
	if (!line->begun) {
		const bool loop = line->joint->form == KN_MJCF_AS_TEXT && line->joint->def->loop;
		beginValue(line->writer, line->any, "text", loop ? "loop" : "joint", line->joint->def->name);
		line->begun = true;
	} else {
		knMjcfWriter_Put(line->writer, " ");
	}
	knMjcfWriter_Put(line->writer, key);
}

static void putItem(JointLine* line, const char* key, const double* numbers, int count) {
	beginItem(line, key);
	knMjcfWriter_Put(line->writer, "='");
	knMjcfWriter_PutNumbers(line->writer, numbers, count);
	knMjcfWriter_Put(line->writer, "'");
}

static void putFrameItem(JointLine* line, const char* key, knFrame frame) {
	beginItem(line, key);
	knMjcfWriter_Put(line->writer, "='");
	knMjcfWriter_PutFrame(line->writer, frame);
	knMjcfWriter_Put(line->writer, "'");
}

static void putBodyItem(JointLine* line, const char* key, int body) {
	if (body >= 0) {
		beginItem(line, key);
		knMjcfWriter_Put(line->writer, "='");
		knMjcfWriter_PutEscaped(line->writer, line->writer->bodies[body].def->name, true);
		knMjcfWriter_Put(line->writer, "'");
	}
}

// The first axis has no number: "limit", "limit1", "limit2".
static void putAxisItem(JointLine* line, const char* key, int axis, double first, double second, int count) {
	if (first == 0.0 && (count == 1 || second == 0.0)) {
		return;
	}
	char text[16];
	const double numbers[2] = { first, second };
	snprintf(text, sizeof text, axis > 0 ? "%s%d" : "%s", key, axis);
	putItem(line, text, numbers, count);
}

static void putMotor(JointLine* line, int index, const knJointAxis* axis) {
	static const char* const modes[] = { "off", "velocity", "position", "force" };
	if (axis->motorMode == KN_MOTOR_OFF && axis->motorTarget == 0.0 && axis->motorMaxForce == 0.0) {
		return;
	}
	const double numbers[2] = { axis->motorTarget, axis->motorMaxForce };
	char key[16];
	snprintf(key, sizeof key, index > 0 ? "motor%d" : "motor", index);
	beginItem(line, key);
	knMjcfWriter_Put(line->writer, "='");
	knMjcfWriter_Put(line->writer, modes[axis->motorMode]);
	knMjcfWriter_Put(line->writer, " ");
	knMjcfWriter_PutNumbers(line->writer, numbers, 2);
	knMjcfWriter_Put(line->writer, "'");
}

static void putAxes(JointLine* line) {
	const knJointDef* def = line->joint->def;
	const bool inTree = line->joint->form == KN_MJCF_AS_TREE;
	const bool said = inTree && (def->kind != KN_JOINT_BALL || knMjcfWriter_UniformBall(def));
	for (int i = 0; i < knJointOps_Get(def->kind)->nv; ++i) {
		const knJointAxis* axis = &def->axis[i];
		putMotor(line, i, axis);
		putAxisItem(line, "bearing", i, axis->bearing, 0.0, 1);
		if (said) {
			continue;
		}
		if (axis->limited) {
			char key[16];
			const double range[2] = { axis->lower, axis->upper };
			snprintf(key, sizeof key, i > 0 ? "limit%d" : "limit", i);
			putItem(line, key, range, 2);
		}
		putAxisItem(line, "friction", i, axis->friction, 0.0, 1);
		putAxisItem(line, "damping", i, axis->damping, 0.0, 1);
		putAxisItem(line, "spring", i, axis->stiffness, axis->rest, 2);
		putAxisItem(line, "armature", i, axis->armature, 0.0, 1);
		if (axis->driveLimited) {
			char key[16];
			const double range[2] = { axis->driveLower, axis->driveUpper };
			snprintf(key, sizeof key, i > 0 ? "drive%d" : "drive", i);
			putItem(line, key, range, 2);
		}
	}
}

static bool standsStill(const knMjcfWriter* writer, int body) {
	return body < 0 || writer->bodies[body].def->kind != KN_BODY_DYNAMIC;
}

// What differs from what the reader assumes for the form.
static void putFlags(JointLine* line) {
	const knMjcfOutJoint* joint = line->joint;
	const knJointDef* def = joint->def;
	const bool collides = joint->form == KN_MJCF_AS_EQUALITY ||
						  (joint->form == KN_MJCF_AS_TREE && standsStill(line->writer, joint->parent));
	const double zero = 0.0, collide = def->collide ? 1.0 : 0.0;
	if (def->collide != collides) {
		putItem(line, "collide", &collide, 1);
	}
	if (!def->enabled && joint->form == KN_MJCF_AS_TEXT) {
		putItem(line, "enabled", &zero, 1);
	}
	if (!def->loop && joint->form == KN_MJCF_AS_EQUALITY) {
		putItem(line, "loop", &zero, 1);
	}
	if (def->maxForce != 0.0) {
		putItem(line, "max_force", &def->maxForce, 1);
	}
}

static void putReach(JointLine* line, const knJointDef* def) {
	double corners[3 * KN_REACH_MAX], twists[3 * KN_REACH_MAX];
	int own = 0;
	for (int i = 0; i < def->reachCount; ++i) {
		corners[3 * i] = def->reach[i].x;
		corners[3 * i + 1] = def->reach[i].y;
		corners[3 * i + 2] = def->reach[i].z;
		if (def->reachTwist[i].own) {
			twists[3 * own] = i;
			twists[3 * own + 1] = def->reachTwist[i].lower;
			twists[3 * own + 2] = def->reachTwist[i].upper;
			own += 1;
		}
	}
	if (def->reachCount > 0) {
		putItem(line, "reach", corners, 3 * def->reachCount);
	}
	if (own > 0) {
		putItem(line, "reach_twist", twists, 3 * own);
	}
}

static void writeJoint(knMjcfWriter* writer, bool* any, const knMjcfOutJoint* joint) {
	const knJointDef* def = joint->def;
	JointLine line = { .writer = writer, .any = any, .joint = joint };
	if (joint->form == KN_MJCF_AS_TEXT) {
		beginItem(&line, knJointKind_Name(def->kind));
		putBodyItem(&line, "parent", joint->parent);
		putBodyItem(&line, "child", joint->child);
	}
	if (!joint->exactFrames) {
		putFrameItem(&line, "frame_parent", def->frameParent);
		putFrameItem(&line, "frame_child", def->frameChild);
	}
	putAxes(&line);
	if (def->coneLimited) {
		const double cone[2] = { def->coneY, def->coneZ };
		putItem(&line, "cone", cone, 2);
	}
	putReach(&line, def);
	if (def->twistLimited) {
		const double twist[2] = { def->twistLower, def->twistUpper };
		putItem(&line, "twist", twist, 2);
	}
	putFlags(&line);
	if (line.begun) {
		endValue(writer);
	}
}

static void writeJoints(knMjcfWriter* writer, bool* any) {
	for (int i = 0; i < writer->jointCount; ++i) {
		if (writer->joints[i].form == KN_MJCF_AS_TEXT) {
			writer->jointOrder[writer->jointsWritten++] = i;
		}
		writeJoint(writer, any, &writer->joints[i]);
	}
}

// --- control ---------------------------------------------------------------------------------------------

static void writeControl(knMjcfWriter* writer, bool* any) {
	for (int i = 0; i < knScene_ActuatorCount(writer->scene); ++i) {
		const knActuatorDef* def = knScene_GetActuator(writer->scene, i);
		const double numbers[2] = { def->control, def->start };
		if (def->control != 0.0 || def->start != 0.0) {
			writeNumbers(writer, any, "control", def->name, numbers, 2);
		}
	}
	for (int i = 0; i < knScene_CouplingCount(writer->scene); ++i) {
		const knCouplingDef* def = knScene_GetCoupling(writer->scene, i);
		const double numbers[7] = { def->ref1,
									def->ref2,
									def->coefficients[0],
									def->coefficients[1],
									def->coefficients[2],
									def->coefficients[3],
									def->coefficients[4] };
		writeNumbers(writer, any, "coupling", def->name, numbers, 7);
	}
}

// --- order -----------------------------------------------------------------------------------------------

// The reader meets order[0], order[1], ...; says where each is met, unless that is the order already.
static void writeOrder(knMjcfWriter* writer, bool* any, const char* name, const int* order, int count) {
	bool same = true;
	for (int i = 0; i < count; ++i) {
		same = same && order[i] == i;
	}
	int* met = same ? NULL : KN_SCRATCH(&writer->arena, int, count);
	if (same) {
		return;
	}
	if (met == NULL) {
		knMjcfWriter_Fail(writer, KN_NO_MEMORY, "", "out of memory while writing");
		return;
	}
	for (int i = 0; i < count; ++i) {
		met[order[i]] = i;
	}
	beginValue(writer, any, "text", name, NULL);
	for (int i = 0; i < count; ++i) {
		char number[16];
		snprintf(number, sizeof number, "%s%d", i > 0 ? " " : "", met[i]);
		knMjcfWriter_Put(writer, number);
	}
	endValue(writer);
}

// Which meshes collide as they are.
static void writeMeshes(knMjcfWriter* writer, bool* any) {
	for (int i = 0; i < writer->meshes.count; ++i) {
		const knGeom* geom = writer->meshes.items[i];
		char name[32];
		if (knGeom_Kind(geom) == KN_GEOM_MESH) {
			const bool solid = !knGeom_IsSurface(geom);
			const double numbers[2] = { solid ? 1.0 : 0.0, solid && geom->mesh->field != NULL
															   ? geom->mesh->field->tolerance
															   : 0.0 };
			writeNumbers(writer, any, "mesh", knMjcfWriter_MeshName(writer, geom, name), numbers, 2);
		}
	}
}

void knMjcfWriter_Customs(knMjcfWriter* writer) {
	bool any = false;
	writeScene(writer, &any);
	writeMeshes(writer, &any);
	writeShapes(writer, &any);
	for (int i = 0; i < writer->bodyCount; ++i) {
		writeBody(writer, &any, &writer->bodies[i]);
	}
	writeJoints(writer, &any);
	writeControl(writer, &any);
	writeOrder(writer, &any, "order.bodies", writer->bodyOrder, writer->bodyCount);
	writeOrder(writer, &any, "order.geoms", writer->shapeOrder, writer->shapeCount);
	writeOrder(writer, &any, "order.joints", writer->jointOrder, writer->jointCount);
	if (any) {
		writer->depth -= 1;
		knMjcfWriter_Line(writer);
		knMjcfWriter_Put(writer, "</custom>");
	}
}
