// 'knuckle info --json': everything that an outside program needs to recompute joint gaps, penetration and energy from a
// recorded .csv. Frames are relative to the centre of mass, as the .csv's poses are.
#include <inttypes.h>
#include <stdio.h>

#include "info.h"
#include "knuckle/control.h"

static void writeVec(knJson* json, const char* key, knVec3 v) {
	knJson_BeginArray(json, key);
	knJson_Number(json, NULL, v.x);
	knJson_Number(json, NULL, v.y);
	knJson_Number(json, NULL, v.z);
	knJson_EndArray(json);
}

static void writeFrame(knJson* json, knFrame frame) {
	writeVec(json, "position", frame.p);
	knJson_BeginArray(json, "rotation");
	knJson_Number(json, NULL, frame.q.w);
	knJson_Number(json, NULL, frame.q.x);
	knJson_Number(json, NULL, frame.q.y);
	knJson_Number(json, NULL, frame.q.z);
	knJson_EndArray(json);
}

static void writeColor(knJson* json, uint32_t color) {
	char text[8];
	if (color != 0) {
		snprintf(text, sizeof(text), "#%06" PRIx32, color & 0xffffff);
		knJson_String(json, "color", text);
	}
}

static void writeMask(knJson* json, const char* key, uint64_t mask) {
	char text[20];
	snprintf(text, sizeof(text), "0x%" PRIx64, mask);
	knJson_String(json, key, text);
}

// --- bodies ----------------------------------------------------------------------------------------------------

static void writeBody(const cliInfo* info, knJson* json, knBodyId body) {
	const knBodyDef* def = knScene_GetBody(info->authored, body);
	knMassProps mass = knModel_BodyMass(info->model, body);
	knFrame pose = knWorld_BodyFrame(info->world, body);
	pose.p = knWorld_BodyCenter(info->world, body);
	knMat33 rows = knTranspose33(&mass.inertia);
	knJson_BeginObject(json, NULL);
	knJson_String(json, "name", def->name);
	knJson_String(json, "kind", cliBodyKindName(def->kind));
	knJson_Number(json, "mass", mass.mass);
	writeVec(json, "center", mass.center);
	knJson_BeginArray(json, "inertia");
	writeVec(json, NULL, rows.cx);
	writeVec(json, NULL, rows.cy);
	writeVec(json, NULL, rows.cz);
	knJson_EndArray(json);
	writeFrame(json, pose);
	writeVec(json, "velocity", knWorld_BodyVelocity(info->world, body));
	writeVec(json, "angular_velocity", knWorld_BodyAngularVelocity(info->world, body));
	knJson_Number(json, "gravity_scale", def->gravityScale);
	knJson_Number(json, "linear_damping", def->linearDamping);
	knJson_Number(json, "angular_damping", def->angularDamping);
	writeColor(json, def->color);
	knJson_EndObject(json);
}

// --- shapes ----------------------------------------------------------------------------------------------------

// Kind, size and place of a geometry on a body; a compound's children are placed on the body too.
static void writeGeom(const cliInfo* info, knJson* json, const knGeom* geom, knBodyId body, knFrame frame) {
	knVec3 size = knGeom_Size(geom);
	knGeomKind kind = knGeom_Kind(geom);
	knJson_String(json, "geom", knGeomKind_Name(kind));
	switch (kind) {
	case KN_GEOM_SPHERE:
		knJson_Number(json, "radius", size.x);
		break;
	case KN_GEOM_CAPSULE:
	case KN_GEOM_CYLINDER:
		knJson_Number(json, "radius", size.x);
		knJson_Number(json, "half_length", size.y);
		break;
	case KN_GEOM_BOX:
		writeVec(json, "half_extents", size);
		break;
	case KN_GEOM_ELLIPSOID:
		writeVec(json, "radii", size);
		break;
	default:
		break;
	}
	int vertices, triangles;
	knGeom_Vertices(geom, &vertices);
	knGeom_Triangles(geom, &triangles);
	if (vertices > 0) {
		knJson_Integer(json, "vertices", vertices);
		knJson_Integer(json, "triangles", triangles);
		knJson_Number(json, "volume", knGeom_MassProps(geom, 1.0).mass);
	}
	writeFrame(json, cliFromCenter(info->model, body, frame));
	if (kind == KN_GEOM_COMPOUND) {
		knJson_BeginArray(json, "children");
		for (int i = 0; i < knGeom_ChildCount(geom); ++i) {
			knGeomChild child = knGeom_Child(geom, i);
			knJson_BeginObject(json, NULL);
			writeGeom(info, json, child.geom, body, knMulF(frame, child.frame));
			knJson_EndObject(json);
		}
		knJson_EndArray(json);
	}
}

static void writeShape(const cliInfo* info, knJson* json, knShapeId shape) {
	static const char* const roles[] = { "whole", "looks", "hidden" };
	const knShapeDef* def = knScene_GetShape(info->authored, shape);
	knBodyId body = knScene_GetShapeBody(info->authored, shape);
	knJson_BeginObject(json, NULL);
	if (def->name != NULL) {
		knJson_String(json, "name", def->name);
	}
	knJson_String(json, "body", cliBodyName(info->authored, body));
	writeGeom(info, json, knScene_GetShapeGeom(info->authored, shape), body, def->frame);
	knJson_Number(json, "density", def->density);
	knJson_Number(json, "friction", def->friction);
	knJson_Number(json, "restitution", def->restitution);
	knJson_Number(json, "rolling_friction", def->rollingFriction);
	knJson_Bool(json, "sensor", def->sensor);
	knJson_String(json, "role", roles[def->role]);
	writeMask(json, "category", def->filter.category);
	writeMask(json, "mask", def->filter.mask);
	knJson_Integer(json, "group", def->filter.group);
	writeColor(json, def->color);
	knJson_EndObject(json);
}

// --- joints ----------------------------------------------------------------------------------------------------

static void writeAxis(knJson* json, const knJointAxis* axis) {
	static const char* const modes[] = { "off", "velocity", "position", "force" };
	knJson_BeginObject(json, NULL);
	knJson_Bool(json, "limited", axis->limited);
	if (axis->limited) {
		knJson_Number(json, "lower", axis->lower);
		knJson_Number(json, "upper", axis->upper);
	}
	knJson_Number(json, "friction", axis->friction);
	knJson_Number(json, "bearing", axis->bearing);
	knJson_Number(json, "damping", axis->damping);
	knJson_String(json, "motor", modes[axis->motorMode]);
	if (axis->motorMode != KN_MOTOR_OFF) {
		knJson_Number(json, "motor_target", axis->motorTarget);
		knJson_Number(json, "motor_max_force", axis->motorMaxForce);
	}
	knJson_Number(json, "stiffness", axis->stiffness);
	knJson_Number(json, "rest", axis->rest);
	knJson_EndObject(json);
}

// Twist limits of the corners, if any has its own; null: the joint's.
static void writeReachTwist(const knJointDef* def, knJson* json) {
	bool any = false;
	for (int i = 0; i < def->reachCount; ++i) {
		any = any || def->reachTwist[i].own;
	}
	if (!any) {
		return;
	}
	knJson_BeginArray(json, "reach_twist");
	for (int i = 0; i < def->reachCount; ++i) {
		if (!def->reachTwist[i].own) {
			knJson_Null(json, NULL);
			continue;
		}
		knJson_BeginArray(json, NULL);
		knJson_Number(json, NULL, def->reachTwist[i].lower);
		knJson_Number(json, NULL, def->reachTwist[i].upper);
		knJson_EndArray(json);
	}
	knJson_EndArray(json);
}

static void writeJointLimits(const knJointDef* def, knJson* json) {
	if (def->coneLimited) {
		knJson_BeginArray(json, "cone");
		knJson_Number(json, NULL, def->coneY);
		knJson_Number(json, NULL, def->coneZ);
		knJson_EndArray(json);
	}
	if (def->reachCount > 0) {
		knJson_BeginArray(json, "reach");
		for (int i = 0; i < def->reachCount; ++i) {
			knJson_BeginArray(json, NULL);
			knJson_Number(json, NULL, def->reach[i].x);
			knJson_Number(json, NULL, def->reach[i].y);
			knJson_Number(json, NULL, def->reach[i].z);
			knJson_EndArray(json);
		}
		knJson_EndArray(json);
	}
	if (def->twistLimited) {
		knJson_BeginArray(json, "twist");
		knJson_Number(json, NULL, def->twistLower);
		knJson_Number(json, NULL, def->twistUpper);
		knJson_EndArray(json);
	}
	writeReachTwist(def, json);
}

static void writeJoint(const cliInfo* info, knJson* json, knJointId joint) {
	const knJointDef* def = knScene_GetJoint(info->authored, joint);
	double q[7], v[6];
	int nq = knWorld_JointCoordinates(info->world, joint, q),
		nv = knWorld_JointVelocities(info->world, joint, v);
	knJson_BeginObject(json, NULL);
	knJson_String(json, "name", def->name);
	knJson_String(json, "kind", knJointKind_Name(def->kind));
	knJson_String(json, "parent", cliBodyName(info->authored, def->parent));
	knJson_String(json, "child", cliBodyName(info->authored, def->child));
	knJson_BeginObject(json, "frame_parent");
	writeFrame(json, cliFromCenter(info->model, def->parent, def->frameParent));
	knJson_EndObject(json);
	knJson_BeginObject(json, "frame_child");
	writeFrame(json, cliFromCenter(info->model, def->child, def->frameChild));
	knJson_EndObject(json);
	knJson_BeginArray(json, "axes");
	for (int i = 0; i < nv; ++i) {
		writeAxis(json, &def->axis[i]);
	}
	knJson_EndArray(json);
	writeJointLimits(def, json);
	knJson_BeginArray(json, "coordinates");
	for (int i = 0; i < nq; ++i) {
		knJson_Number(json, NULL, q[i]);
	}
	knJson_EndArray(json);
	knJson_Bool(json, "enabled", def->enabled);
	knJson_Bool(json, "collide", def->collide);
	knJson_Bool(json, "loop", def->loop);
	knJson_Number(json, "max_force", def->maxForce);
	knJson_EndObject(json);
}

// --- all -------------------------------------------------------------------------------------------------------

static void writeHead(const cliInfo* info, knJson* json) {
	static const char* const combines[] = { "min", "average", "geometric", "max", "multiply" };
	const knSceneDef* def = knScene_GetDef(info->authored);
	knJson_Integer(json, "format", 1);
	knJson_String(json, "version", KN_VERSION_STRING);
	knJson_String(json, "scene", info->source);
	knJson_String(json, "stepper", knWorld_StepperName(info->world));
	knJson_Number(json, "dt", def->dt);
	writeVec(json, "gravity", def->gravity);
	knJson_String(json, "friction_combine", combines[def->frictionCombine]);
	knJson_String(json, "restitution_combine", combines[def->restitutionCombine]);
	knJson_Integer(json, "dofs", knModel_DofCount(info->model));
}

static void writeNumbers(knJson* json, const char* key, const double* numbers, int count) {
	knJson_BeginArray(json, key);
	for (int i = 0; i < count; ++i) {
		knJson_Number(json, NULL, numbers[i]);
	}
	knJson_EndArray(json);
}

static void writeActuator(const cliInfo* info, knJson* json, const knActuatorDef* def) {
	const knScene* scene = info->authored;
	knJson_BeginObject(json, NULL);
	knJson_String(json, "name", def->name);
	if (def->driven == KN_DRIVEN_JOINT) {
		knJson_String(json, "joint", knScene_GetJoint(scene, def->joint)->name);
		knJson_Integer(json, "axis", def->axis);
	} else if (def->driven == KN_DRIVEN_TENDON) {
		knJson_String(json, "tendon", knScene_GetTendon(scene, def->tendon)->name);
	} else {
		knJson_String(json, "body", cliBodyName(scene, def->body));
	}
	writeNumbers(json, "gear", def->gear, def->driven == KN_DRIVEN_POINT ? 6 : 1);
	if (def->isMuscle) {
		const double lengths[2] = { def->muscle.shortest, def->muscle.longest };
		knJson_Number(json, "muscle_force", def->muscle.force);
		writeNumbers(json, "muscle_lengths", lengths, 2);
	} else {
		writeNumbers(json, "gain", def->gain, 3);
		writeNumbers(json, "bias", def->bias, 3);
	}
	if (def->controlLimited) {
		writeNumbers(json, "control_range", def->controlRange, 2);
	}
	if (def->forceLimited) {
		writeNumbers(json, "force_range", def->forceRange, 2);
	}
	knJson_Number(json, "control", def->control);
	knJson_EndObject(json);
}

static void writeControl(const cliInfo* info, knJson* json) {
	const knScene* scene = info->authored;
	knJson_BeginArray(json, "actuators");
	for (int i = 0; i < knScene_ActuatorCount(scene); ++i) {
		writeActuator(info, json, knScene_GetActuator(scene, i));
	}
	knJson_EndArray(json);
	knJson_BeginArray(json, "tendons");
	for (int i = 0; i < knScene_TendonCount(scene); ++i) {
		knJson_BeginObject(json, NULL);
		knJson_String(json, "name", knScene_GetTendon(scene, i)->name);
		knJson_Number(json, "length", knWorld_TendonLength(info->world, i, NULL));
		knJson_EndObject(json);
	}
	knJson_EndArray(json);
	knJson_BeginArray(json, "sensors");
	for (int i = 0; i < knScene_ProbeCount(scene); ++i) {
		double values[4];
		const int count = knWorld_ReadProbe(info->world, i, values);
		knJson_BeginObject(json, NULL);
		knJson_String(json, "name", knScene_GetProbe(scene, i)->name);
		knJson_String(json, "kind", knProbeKind_Name(knScene_GetProbe(scene, i)->kind));
		writeNumbers(json, "values", values, count);
		knJson_EndObject(json);
	}
	knJson_EndArray(json);
	knJson_BeginArray(json, "report");
	for (int i = 0; i < info->scene->report.count; ++i) {
		static const char* const severities[] = { "note", "roughly", "left out" };
		knJson_BeginObject(json, NULL);
		knJson_String(json, "severity", severities[info->scene->report.severities[i]]);
		knJson_String(json, "line", info->scene->report.lines[i]);
		knJson_EndObject(json);
	}
	knJson_EndArray(json);
}

static void writeTail(const cliInfo* info, knJson* json) {
	knJson_BeginArray(json, "excluded_pairs");
	for (int i = 0; i < knScene_ExcludedCount(info->authored); ++i) {
		knBodyId a, b;
		knScene_GetExcluded(info->authored, i, &a, &b);
		knJson_BeginArray(json, NULL);
		knJson_String(json, NULL, cliBodyName(info->authored, a));
		knJson_String(json, NULL, cliBodyName(info->authored, b));
		knJson_EndArray(json);
	}
	knJson_EndArray(json);
	knJson_BeginArray(json, "loops");
	for (int i = 0; i < info->loops.count; ++i) {
		knJson_String(json, NULL, knScene_GetJoint(info->authored, info->loops.items[i])->name);
	}
	knJson_EndArray(json);
	writeControl(info, json);
	knJson_BeginArray(json, "warnings");
	for (int i = 0; i < info->warnings.count; ++i) {
		knJson_String(json, NULL, info->warnings.items[i]);
	}
	knJson_EndArray(json);
}

static void writeSteppers(const cliInfo* info, knJson* json) {
	knJson_BeginArray(json, "steppers");
	for (int i = 0; knStepper_Name(i) != NULL; ++i) {
		char why[CLI_REFUSAL];
		const bool takes = cliInfo_Takes(info, i, why);
		knJson_BeginObject(json, NULL);
		knJson_String(json, "name", knStepper_Name(i));
		knJson_Bool(json, "runs", takes);
		if (!takes) {
			knJson_String(json, "why", why);
		}
		knJson_EndObject(json);
	}
	knJson_EndArray(json);
}

void cliInfo_WriteJson(const cliInfo* info, knJson* json) {
	knJson_BeginObject(json, NULL);
	writeHead(info, json);
	knJson_BeginArray(json, "bodies");
	for (int i = 0; i < knModel_BodyCount(info->model); ++i) {
		writeBody(info, json, knModel_BodyAt(info->model, i));
	}
	knJson_EndArray(json);
	knJson_BeginArray(json, "shapes");
	for (int i = 0; i < knScene_ShapeSlots(info->authored); ++i) {
		knShapeId shape = knScene_ShapeAt(info->authored, i);
		if (!KN_ID_IS_NULL(shape)) {
			writeShape(info, json, shape);
		}
	}
	knJson_EndArray(json);
	knJson_BeginArray(json, "joints");
	for (int i = 0; i < knModel_JointCount(info->model); ++i) {
		writeJoint(info, json, knModel_JointAt(info->model, i));
	}
	knJson_EndArray(json);
	writeSteppers(info, json);
	writeTail(info, json);
	knJson_EndObject(json);
}
