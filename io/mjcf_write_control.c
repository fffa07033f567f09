// Meshes, sites, tendons, actuators, sensors and couplings of a written file.
//
// A hull is a mesh of its vertices; the reader makes the same hull of them. A mesh that collides as it is has its triangles too, and a
// knuckle.mesh value. Points of bodies that tendons, actuators and
// probes name become sites of their own. Every actuator is a <general>; what a keyframe would say of its control stands in
// knuckle.control, since a keyframe would also move bodies.
#include "mjcf_write.h"

#include <stdio.h>
#include <string.h>

#include "mjcf.h"

static void beginTag(knMjcfWriter* writer, const char* tag) {
	knMjcfWriter_Line(writer);
	knMjcfWriter_Put(writer, "<");
	knMjcfWriter_Put(writer, tag);
}

static void openSection(knMjcfWriter* writer, const char* tag) {
	beginTag(writer, tag);
	knMjcfWriter_Put(writer, ">");
	writer->depth += 1;
}

static void closeSection(knMjcfWriter* writer, const char* tag) {
	writer->depth -= 1;
	knMjcfWriter_Line(writer);
	knMjcfWriter_Put(writer, "</");
	knMjcfWriter_Put(writer, tag);
	knMjcfWriter_Put(writer, ">");
}

static void putNumbers(knMjcfWriter* writer, const char* name, const double* numbers, int count) {
	knMjcfWriter_Put(writer, " ");
	knMjcfWriter_Put(writer, name);
	knMjcfWriter_Put(writer, "=\"");
	knMjcfWriter_PutNumbers(writer, numbers, count);
	knMjcfWriter_Put(writer, "\"");
}

static void putLimited(knMjcfWriter* writer, const char* limited, const char* range, bool is,
					   const double numbers[2]) {
	if (is) {
		knMjcfWriter_Text(writer, limited, "true");
		putNumbers(writer, range, numbers, 2);
	}
}

// --- meshes ------------------------------------------------------------------------------------------------

// Adds a geometry, and a compound's children, to the list of those that are written as meshes.
static bool listMesh(knMjcfWriter* writer, const knGeom* geom) {
	for (int i = 0; i < knGeom_ChildCount(geom); ++i) {
		if (!listMesh(writer, knGeom_Child(geom, i).geom)) {
			return false;
		}
	}
	const knGeomKind kind = knGeom_Kind(geom);
	if ((kind != KN_GEOM_HULL && kind != KN_GEOM_MESH) || knMjcfWriter_MeshIndex(writer, geom) >= 0) {
		return true;
	}
	return KN_ARRAY_PUSH(&writer->allocator, &writer->meshes, geom) ||
		   knMjcfWriter_Fail(writer, KN_NO_MEMORY, "", "out of memory while writing");
}

int knMjcfWriter_MeshIndex(const knMjcfWriter* writer, const knGeom* geom) {
	for (int i = writer->meshes.count - 1; i >= 0; --i) {
		if (writer->meshes.items[i] == geom) {
			return i;
		}
	}
	return -1;
}

bool knMjcfWriter_PlanMeshes(knMjcfWriter* writer) {
	for (int i = 0; i < writer->shapeCount; ++i) {
		if (!listMesh(writer, writer->shapes[i].geom)) {
			return false;
		}
	}
	return true;
}

const char* knMjcfWriter_MeshName(const knMjcfWriter* writer, const knGeom* geom, char name[32]) {
	snprintf(name, 32, "%s%d", knGeom_Kind(geom) == KN_GEOM_MESH ? "mesh" : "hull",
			 knMjcfWriter_MeshIndex(writer, geom));
	return name;
}

static void writeFaces(knMjcfWriter* writer, const knGeom* geom) {
	int count;
	const knTriangle* triangles = knGeom_Triangles(geom, &count);
	knMjcfWriter_Put(writer, "\" face=\"");
	for (int k = 0; k < count; ++k) {
		char text[48];
		snprintf(text, sizeof text, "%s%d %d %d", k > 0 ? " " : "", triangles[k].a, triangles[k].b,
				 triangles[k].c);
		knMjcfWriter_Put(writer, text);
	}
}

void knMjcfWriter_Assets(knMjcfWriter* writer) {
	if (writer->meshes.count == 0) {
		return;
	}
	openSection(writer, "asset");
	for (int i = 0; i < writer->meshes.count; ++i) {
		const knGeom* geom = writer->meshes.items[i];
		const bool exact = knGeom_Kind(geom) == KN_GEOM_MESH;
		char name[32];
		int count;
		const knVec3* vertices = knGeom_Vertices(geom, &count);
		beginTag(writer, "mesh");
		knMjcfWriter_Text(writer, "name", knMjcfWriter_MeshName(writer, geom, name));
		knMjcfWriter_Put(writer, exact ? " inertia=\"exact\" vertex=\"" : " inertia=\"convex\" vertex=\"");
		for (int k = 0; k < count; ++k) {
			const double v[3] = { vertices[k].x, vertices[k].y, vertices[k].z };
			knMjcfWriter_Put(writer, k > 0 ? " " : "");
			knMjcfWriter_PutNumbers(writer, v, 3);
		}
		if (exact) {
			writeFaces(writer, geom);
		}
		knMjcfWriter_Put(writer, "\"/>");
	}
	closeSection(writer, "asset");
}

// --- sites -------------------------------------------------------------------------------------------------

static int bodyIndex(const knMjcfWriter* writer, knBodyId body) {
	return KN_ID_IS_NULL(body) ? -1 : writer->slotToBody[body.index1 - 1];
}

static bool addSite(knMjcfWriter* writer, knBodyId body, knFrame frame, int* index) {
	const knMjcfOutSite site = { bodyIndex(writer, body), frame };
	*index = writer->sites.count;
	return KN_ARRAY_PUSH(&writer->allocator, &writer->sites, site) ||
		   knMjcfWriter_Fail(writer, KN_NO_MEMORY, "", "out of memory while writing");
}

static bool readsFrame(const knProbeDef* probe) {
	return probe->kind >= KN_PROBE_FRAME_POSITION && probe->kind != KN_PROBE_CLOCK;
}

// In the order in which they are named: parts of tendons, actuators, probes.
bool knMjcfWriter_PlanSites(knMjcfWriter* writer) {
	const knScene* scene = writer->scene;
	int index;
	bool ok = true;
	for (int i = 0; ok && i < knScene_TendonCount(scene); ++i) {
		const knTendonDef* tendon = knScene_GetTendon(scene, i);
		for (int k = 0; ok && k < tendon->partCount && tendon->spatial; ++k) {
			const knTendonPart* part = &tendon->parts[k];
			ok = part->pulley > 0.0 ||
				 addSite(writer, part->body, knMakeFrame(part->point, knIdentityQ()), &index);
		}
	}
	for (int i = 0; ok && i < knScene_ActuatorCount(scene); ++i) {
		const knActuatorDef* def = knScene_GetActuator(scene, i);
		ok = def->driven != KN_DRIVEN_POINT || addSite(writer, def->body, def->frame, &index);
	}
	for (int i = 0; ok && i < knScene_ProbeCount(scene); ++i) {
		const knProbeDef* def = knScene_GetProbe(scene, i);
		ok = !readsFrame(def) || addSite(writer, def->body, def->frame, &index);
	}
	return ok;
}

void knMjcfWriter_Sites(knMjcfWriter* writer, int body) {
	for (int i = 0; i < writer->sites.count; ++i) {
		if (writer->sites.items[i].body == body) {
			char name[32];
			snprintf(name, sizeof name, "site%d", i);
			beginTag(writer, "site");
			knMjcfWriter_Text(writer, "name", name);
			knMjcfWriter_Frame(writer, writer->sites.items[i].frame);
			knMjcfWriter_Put(writer, "/>");
		}
	}
}

// The next site in the order of planning.
static void putSite(knMjcfWriter* writer, const char* attribute) {
	char name[32];
	snprintf(name, sizeof name, "site%d", writer->sitesNamed++);
	knMjcfWriter_Text(writer, attribute, name);
}

// --- joints ------------------------------------------------------------------------------------------------

void knMjcfWriter_AxisName(const char* joint, int axis, char name[256]) {
	if (axis == 0) {
		snprintf(name, 256, "%.250s", joint);
	} else {
		snprintf(name, 256, "%.245s.%d", joint, axis);
	}
}

// An axis of a joint that stands in the tree, by the name of its MJCF joint.
static bool putAxis(knMjcfWriter* writer, const char* attribute, knJointId joint, int axis) {
	for (int i = 0; i < writer->jointCount; ++i) {
		const knMjcfOutJoint* at = &writer->joints[i];
		if (!KN_ID_EQUALS(at->id, joint)) {
			continue;
		}
		if (at->form != KN_MJCF_AS_TREE || at->def->kind == KN_JOINT_BALL) {
			return knMjcfWriter_Fail(writer, KN_UNSUPPORTED, at->def->name,
									 "something drives or reads joint '%.60s', which MJCF cannot name",
									 at->def->name);
		}
		char name[256];
		knMjcfWriter_AxisName(at->def->name, axis, name);
		knMjcfWriter_Text(writer, attribute, name);
		return true;
	}
	return false;
}

// --- tendons, couplings, actuators, sensors ------------------------------------------------------------------

static void writeTendon(knMjcfWriter* writer, const knTendonDef* def) {
	const char* tag = def->spatial ? "spatial" : "fixed";
	const double range[2] = { def->lower, def->upper }, rest[2] = { def->restLower, def->restUpper };
	beginTag(writer, tag);
	knMjcfWriter_Text(writer, "name", def->name);
	putLimited(writer, "limited", "range", def->limited, range);
	if (def->stiffness != 0.0) {
		if (def->restLower < 0.0) {
			knMjcfWriter_Fail(writer, KN_UNSUPPORTED, def->name,
							  "the rest length of tendon '%.60s' is negative", def->name);
		}
		knMjcfWriter_Number(writer, "stiffness", def->stiffness);
		putNumbers(writer, "springlength", rest, 2);
	}
	if (def->damping != 0.0) {
		knMjcfWriter_Number(writer, "damping", def->damping);
	}
	knMjcfWriter_Put(writer, ">");
	writer->depth += 1;
	for (int i = 0; i < def->partCount; ++i) {
		const knTendonPart* part = &def->parts[i];
		if (!def->spatial) {
			beginTag(writer, "joint");
			putAxis(writer, "joint", part->joint, part->axis);
			knMjcfWriter_Number(writer, "coef", part->weight);
		} else if (part->pulley > 0.0) {
			beginTag(writer, "pulley");
			knMjcfWriter_Number(writer, "divisor", part->pulley);
		} else {
			beginTag(writer, "site");
			putSite(writer, "site");
		}
		knMjcfWriter_Put(writer, "/>");
	}
	closeSection(writer, tag);
}

static void writeLaw(knMjcfWriter* writer, const knActuatorDef* def) {
	if (def->isMuscle) {
		const knMuscle* m = &def->muscle;
		const double lengths[2] = { m->shortest, m->longest };
		const double numbers[9] = { m->rangeLeast, m->rangeMost, m->force,   0.0,           m->lengthLeast,
									m->lengthMost, m->speed,     m->passive, m->lengthening };
		putNumbers(writer, "lengthrange", lengths, 2);
		knMjcfWriter_Put(writer, " gaintype=\"muscle\"");
		putNumbers(writer, "gainprm", numbers, 9);
		knMjcfWriter_Put(writer, " biastype=\"muscle\"");
		putNumbers(writer, "biasprm", numbers, 9);
		return;
	}
	knMjcfWriter_Put(writer, " gaintype=\"affine\"");
	putNumbers(writer, "gainprm", def->gain, 3);
	knMjcfWriter_Put(writer, " biastype=\"affine\"");
	putNumbers(writer, "biasprm", def->bias, 3);
}

static void writeActuator(knMjcfWriter* writer, const knActuatorDef* def) {
	static const char* const dynamics[] = { "none", "integrator", "filter", "filterexact", "muscle" };
	const double rates[3] = { def->timeConstant, def->fallConstant, def->blend };
	beginTag(writer, "general");
	knMjcfWriter_Text(writer, "name", def->name);
	if (def->driven == KN_DRIVEN_JOINT) {
		putAxis(writer, "joint", def->joint, def->axis);
	} else if (def->driven == KN_DRIVEN_TENDON) {
		knMjcfWriter_Text(writer, "tendon", knScene_GetTendon(writer->scene, def->tendon)->name);
	} else {
		putSite(writer, "site");
	}
	putNumbers(writer, "gear", def->gear, def->driven == KN_DRIVEN_POINT ? 6 : 1);
	writeLaw(writer, def);
	putLimited(writer, "ctrllimited", "ctrlrange", def->controlLimited, def->controlRange);
	putLimited(writer, "forcelimited", "forcerange", def->forceLimited, def->forceRange);
	if (def->activation != KN_ACTIVATION_NONE) {
		knMjcfWriter_Text(writer, "dyntype", dynamics[def->activation]);
		putNumbers(writer, "dynprm", rates, def->activation == KN_ACTIVATION_MUSCLE ? 3 : 1);
		putLimited(writer, "actlimited", "actrange", def->activationLimited, def->activationRange);
	}
	knMjcfWriter_Put(writer, "/>");
}

static void writeSensor(knMjcfWriter* writer, const knProbeDef* def) {
	const char* tag = knMjcf_SensorTag(def->kind);
	beginTag(writer, tag);
	knMjcfWriter_Text(writer, "name", def->name);
	if (def->kind <= KN_PROBE_JOINT_FORCE) {
		putAxis(writer, "joint", def->joint, def->axis);
	} else if (def->kind <= KN_PROBE_TENDON_VELOCITY) {
		knMjcfWriter_Text(writer, "tendon", knScene_GetTendon(writer->scene, def->index)->name);
	} else if (def->kind <= KN_PROBE_ACTUATOR_FORCE) {
		knMjcfWriter_Text(writer, "actuator", knScene_GetActuator(writer->scene, def->index)->name);
	} else if (def->kind <= KN_PROBE_FRAME_ANGULAR_VELOCITY) {
		knMjcfWriter_Text(writer, "objtype", "site");
		putSite(writer, "objname");
	} else if (readsFrame(def)) {
		putSite(writer, "site");
	}
	knMjcfWriter_Put(writer, "/>");
}

void knMjcfWriter_Control(knMjcfWriter* writer) {
	const knScene* scene = writer->scene;
	if (knScene_TendonCount(scene) > 0) {
		openSection(writer, "tendon");
		for (int i = 0; i < knScene_TendonCount(scene); ++i) {
			writeTendon(writer, knScene_GetTendon(scene, i));
		}
		closeSection(writer, "tendon");
	}
	if (knScene_ActuatorCount(scene) > 0) {
		openSection(writer, "actuator");
		for (int i = 0; i < knScene_ActuatorCount(scene); ++i) {
			writeActuator(writer, knScene_GetActuator(scene, i));
		}
		closeSection(writer, "actuator");
	}
	if (knScene_ProbeCount(scene) > 0) {
		openSection(writer, "sensor");
		for (int i = 0; i < knScene_ProbeCount(scene); ++i) {
			writeSensor(writer, knScene_GetProbe(scene, i));
		}
		closeSection(writer, "sensor");
	}
}

// The polynomial is about the joints' ref, which is where the scene starts; knuckle.coupling gives the exact numbers.
void knMjcfWriter_Couplings(knMjcfWriter* writer) {
	for (int i = 0; i < knScene_CouplingCount(writer->scene); ++i) {
		const knCouplingDef* def = knScene_GetCoupling(writer->scene, i);
		const double solref[2] = { def->timeConstant, 1.0 };
		beginTag(writer, "joint");
		knMjcfWriter_Text(writer, "name", def->name);
		putAxis(writer, "joint1", def->joint1, def->axis1);
		if (!KN_ID_IS_NULL(def->joint2)) {
			putAxis(writer, "joint2", def->joint2, def->axis2);
		}
		putNumbers(writer, "polycoef", def->coefficients, 5);
		putNumbers(writer, "solref", solref, 2);
		if (!def->enabled) {
			knMjcfWriter_Put(writer, " active=\"false\"");
		}
		knMjcfWriter_Put(writer, "/>");
	}
}
