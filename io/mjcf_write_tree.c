// Bodies, geoms, joints and equalities as MuJoCo knows them.
//
// A joint's axes are written in the child's body frame as the scene starts. Those fixed in the parent (the first of a
// universal, the slides of a planar joint) are turned back by the joint's own rotation J there.
#include "mjcf_write.h"

#include <stdio.h>
#include <string.h>

#include "mjcf.h"
#include "model/joint.h"

// rounding that reads better may move a number by this much; exact numbers follow as knuckle.* values
#define ROUNDING 6e-16
#define FINE 1e15 // to 15 decimals
#define NEAR 1.0  // to 0 and 1

static void beginTag(knMjcfWriter* writer, const char* tag) {
	knMjcfWriter_Line(writer);
	knMjcfWriter_Put(writer, "<");
	knMjcfWriter_Put(writer, tag);
}

static bool sameFrame(knFrame a, knFrame b) {
	return memcmp(&a, &b, sizeof a) == 0;
}

// To the nearest multiple of 1 / scale, if that is within rounding: 0.30000000000000004 reads better as 0.3.
static double rounded(double value, double scale) {
	const double nearest = floor(value * scale + 0.5) / scale;
	return knAbs(nearest - value) <= ROUNDING && knAbs(value) < 4.0 ? nearest : value;
}

// --- geoms -----------------------------------------------------------------------------------------------

static void putSize(knMjcfWriter* writer, const knGeom* geom) {
	static const int counts[KN_GEOM_KIND_COUNT] = {
		[KN_GEOM_SPHERE] = 1, [KN_GEOM_CAPSULE] = 2,  [KN_GEOM_BOX] = 3,
		[KN_GEOM_PLANE] = 3,  [KN_GEOM_CYLINDER] = 2, [KN_GEOM_ELLIPSOID] = 3,
	};
	const knGeomKind kind = knGeom_Kind(geom);
	if (kind == KN_GEOM_HULL || kind == KN_GEOM_MESH) {
		char name[32];
		knMjcfWriter_Text(writer, "type", "mesh");
		knMjcfWriter_Text(writer, "mesh", knMjcfWriter_MeshName(writer, geom, name));
		return;
	}
	const knVec3 size = kind == KN_GEOM_PLANE ? knV3(0.0, 0.0, 1.0) : knGeom_Size(geom);
	const double numbers[3] = { size.x, size.y, size.z };
	knMjcfWriter_Text(writer, "type", knGeomKind_Name(kind));
	knMjcfWriter_Put(writer, " size=\"");
	knMjcfWriter_PutNumbers(writer, numbers, counts[kind]);
	knMjcfWriter_Put(writer, "\"");
}

static void putMaterial(knMjcfWriter* writer, const knShapeDef* def, bool part) {
	if (def->friction != writer->friction) {
		knMjcfWriter_Number(writer, "friction", def->friction);
	}
	if (def->density != writer->density) {
		knMjcfWriter_Number(writer, "density", def->density);
	}
	if (def->sensor || def->filter.mask == 0 || def->filter.category == 0) {
		knMjcfWriter_Put(writer, " contype=\"0\" conaffinity=\"0\"");
	}
	if (def->sensor && !part) {
		knMjcfWriter_Put(writer, " mass=\"0\"");
	}
	if (def->color != 0) {
		const double rgba[4] = { (def->color >> 16 & 255) / 255.0, (def->color >> 8 & 255) / 255.0,
								 (def->color & 255) / 255.0, 1.0 - (def->color >> 24) / 255.0 };
		knMjcfWriter_Put(writer, " rgba=\"");
		knMjcfWriter_PutNumbers(writer, rgba, 4);
		knMjcfWriter_Put(writer, "\"");
	}
}

static void writeGeom(knMjcfWriter* writer, const knMjcfOutShape* shape) {
	beginTag(writer, "geom");
	if (shape->name != NULL) {
		knMjcfWriter_Text(writer, "name", shape->name);
	}
	putSize(writer, shape->geom);
	knMjcfWriter_Frame(writer, shape->def->frame);
	putMaterial(writer, shape->def, false);
	knMjcfWriter_Put(writer, "/>");
}

// A compound's children are geoms of their own; knuckle.compound binds them together again.
static void writeCompound(knMjcfWriter* writer, const knMjcfOutShape* shape) {
	for (int i = 0; i < knGeom_ChildCount(shape->geom); ++i) {
		const knGeomChild child = knGeom_Child(shape->geom, i);
		char name[64];
		snprintf(name, sizeof name, "%s.%d", shape->base, i);
		beginTag(writer, "geom");
		knMjcfWriter_Text(writer, "name", name);
		putSize(writer, child.geom);
		knMjcfWriter_Frame(writer, knMulF(shape->def->frame, child.frame));
		putMaterial(writer, shape->def, true);
		knMjcfWriter_Put(writer, "/>");
	}
}

static void writeGeoms(knMjcfWriter* writer, int first) {
	for (int i = first; i >= 0; i = writer->shapes[i].next) {
		writer->shapeOrder[writer->shapesWritten++] = i;
		if (knGeom_Kind(writer->shapes[i].geom) == KN_GEOM_COMPOUND) {
			writeCompound(writer, &writer->shapes[i]);
		} else {
			writeGeom(writer, &writer->shapes[i]);
		}
	}
}

// --- joints ----------------------------------------------------------------------------------------------

// How MuJoCo spells the axes of a kind, in the order of the kind's coordinates.
typedef struct AxisRow {
	const char* type;
	int component; // x, y or z
	bool inParent; // fixed in the parent's joint frame, else in the child's
} AxisRow;

static const AxisRow* axisRows(knJointKind kind, int* count) {
	static const AxisRow hinge[] = { { "hinge", 0, false } };
	static const AxisRow slider[] = { { "slide", 0, false }, { "slide", 1, false }, { "slide", 2, false } };
	static const AxisRow universal[] = { { "hinge", 0, true }, { "hinge", 2, false } };
	static const AxisRow cylinder[] = { { "slide", 0, false }, { "hinge", 0, false } };
	static const AxisRow planar[] = { { "slide", 0, true }, { "slide", 1, true }, { "hinge", 2, false } };
	*count = knJointOps_Get(kind)->nv;
	switch (kind) {
	case KN_JOINT_HINGE:
		return hinge;
	case KN_JOINT_UNIVERSAL:
		return universal;
	case KN_JOINT_CYLINDER:
		return cylinder;
	case KN_JOINT_PLANAR:
		return planar;
	default:
		return slider;
	}
}

static knFrame bodyFrame(const knMjcfWriter* writer, int body) {
	return body >= 0 ? writer->bodies[body].def->frame : knIdentityF();
}

static void putAxisParts(knMjcfWriter* writer, const knJointAxis* axis, double ref) {
	if (axis->limited) {
		const double range[2] = { axis->lower, axis->upper };
		knMjcfWriter_Put(writer, " range=\"");
		knMjcfWriter_PutNumbers(writer, range, 2);
		knMjcfWriter_Put(writer, "\"");
	}
	const struct {
		const char* name;
		double value;
	} parts[] = { { "ref", ref },
				  { "damping", axis->damping },
				  { "frictionloss", axis->friction },
				  { "stiffness", axis->stiffness },
				  { "springref", axis->rest },
				  { "armature", axis->armature } };
	for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
		if (parts[i].value != 0.0) {
			knMjcfWriter_Number(writer, parts[i].name, parts[i].value);
		}
	}
	if (axis->driveLimited) {
		const double range[2] = { axis->driveLower, axis->driveUpper };
		knMjcfWriter_Put(writer, " actuatorfrcrange=\"");
		knMjcfWriter_PutNumbers(writer, range, 2);
		knMjcfWriter_Put(writer, "\"");
	}
}

static void putPos(knMjcfWriter* writer, knVec3 pos) {
	if (knLengthSquared(pos) != 0.0) {
		knMjcfWriter_Vector(writer, "pos", pos);
	}
}

bool knMjcfWriter_UniformBall(const knJointDef* def) {
	for (int i = 0; i < 3; ++i) {
		const knJointAxis* axis = &def->axis[i];
		if (axis->rest != 0.0 || axis->driveLimited || axis->armature != def->axis[0].armature ||
			axis->damping != def->axis[0].damping || axis->friction != def->axis[0].friction ||
			axis->stiffness != def->axis[0].stiffness) {
			return false;
		}
	}
	return true;
}

static void writeBallJoint(knMjcfWriter* writer, knMjcfOutJoint* joint, knFrame local) {
	const knJointDef* def = joint->def;
	const double ref[6] = { 0.0 };
	const knFrame child = knMakeFrame(def->frameChild.p, knIdentityQ());
	beginTag(writer, "joint");
	knMjcfWriter_Text(writer, "name", def->name);
	knMjcfWriter_Put(writer, " type=\"ball\"");
	putPos(writer, child.p);
	if (knMjcfWriter_UniformBall(def)) {
		putAxisParts(writer, &def->axis[0], 0.0);
	}
	knMjcfWriter_Put(writer, "/>");
	joint->exactFrames = sameFrame(child, def->frameChild) &&
						 sameFrame(knMjcf_ParentFrame(local, child, def->kind, ref), def->frameParent);
}

static bool hasControl(const knScene* scene) {
	return knScene_ActuatorCount(scene) + knScene_TendonCount(scene) + knScene_CouplingCount(scene) +
			   knScene_ProbeCount(scene) >
		   0;
}

static void writeTreeJoint(knMjcfWriter* writer, knMjcfOutJoint* joint, knFrame local) {
	const knJointDef* def = joint->def;
	if (def->kind == KN_JOINT_BALL) {
		writeBallJoint(writer, joint, local);
		return;
	}

	// coordinates as the scene starts; a joint that is open there is taken as if it were closed
	const knJoint stub = { .kind = def->kind };
	knFrame J = knInvMulF(knMulF(bodyFrame(writer, joint->parent), def->frameParent),
						  knMulF(bodyFrame(writer, joint->child), def->frameChild));
	J = knJointOps_Get(def->kind)->projectState(&stub, J);
	const double zero[KN_JOINT_MAX_Q] = { 0.0 };
	double q[KN_JOINT_MAX_Q];
	knJointOps_Get(def->kind)->coordinates(&stub, J, zero, q);

	int count;
	const AxisRow* rows = axisRows(def->kind, &count);
	for (int i = 0; i < count; ++i) {
		knVec3 unit = knZero3();
		knSetComponent(&unit, rows[i].component, 1.0);
		knVec3 axis = knRotate(def->frameChild.q, rows[i].inParent ? knInvRotate(J.q, unit) : unit);
		axis = knV3(rounded(axis.x, NEAR), rounded(axis.y, NEAR), rounded(axis.z, NEAR));
		axis = knMjcf_UnitAxis(axis);
		joint->ref[i] = q[i];
		beginTag(writer, "joint");
		char name[256];
		knMjcfWriter_AxisName(def->name, i, name);
		if (i == 0 || (hasControl(writer->scene) && KN_ID_IS_NULL(knScene_FindJoint(writer->scene, name)))) {
			knMjcfWriter_Text(writer, "name", name);
		}
		knMjcfWriter_Text(writer, "type", rows[i].type);
		putPos(writer, def->frameChild.p);
		knMjcfWriter_Vector(writer, "axis", axis);
		putAxisParts(writer, &def->axis[i], q[i]);
		knMjcfWriter_Put(writer, "/>");
		if (count == 1) {
			const knFrame child = knMjcf_AxisFrame(def->frameChild.p, axis);
			joint->exactFrames =
				sameFrame(child, def->frameChild) &&
				sameFrame(knMjcf_ParentFrame(local, child, def->kind, joint->ref), def->frameParent);
		}
	}
}

// --- bodies ----------------------------------------------------------------------------------------------

static void writeInertial(knMjcfWriter* writer, const knMassProps* mass) {
	const knMat33* I = &mass->inertia;
	const double full[6] = { I->cx.x,
							 I->cy.y,
							 I->cz.z,
							 0.5 * (I->cx.y + I->cy.x),
							 0.5 * (I->cx.z + I->cz.x),
							 0.5 * (I->cy.z + I->cz.y) };
	beginTag(writer, "inertial");
	knMjcfWriter_Vector(writer, "pos", mass->center);
	knMjcfWriter_Number(writer, "mass", mass->mass);
	knMjcfWriter_Put(writer, " fullinertia=\"");
	knMjcfWriter_PutNumbers(writer, full, 6);
	knMjcfWriter_Put(writer, "\"/>");
}

// The frame in the parent as it will be read, and the frame in the world that the reader makes of it. Of the rounded
// and the computed frame that one is written which gives the very same frame in the world.
static void placeBody(knMjcfWriter* writer, knMjcfOutBody* body) {
	body->local = body->rebuilt = body->def->frame;
	if (body->parent < 0) {
		return;
	}
	const knMjcfOutBody* parent = &writer->bodies[body->parent];
	const knFrame computed = knInvMulF(parent->def->frame, body->def->frame);
	const double q[4] = { rounded(computed.q.w, NEAR), rounded(computed.q.x, NEAR),
						  rounded(computed.q.y, NEAR), rounded(computed.q.z, NEAR) };
	body->local = knMakeFrame(
		knV3(rounded(computed.p.x, FINE), rounded(computed.p.y, FINE), rounded(computed.p.z, FINE)),
		computed.q);
	knMjcf_UnitQuat(q, &body->local.q);
	body->rebuilt = knMulF(parent->rebuilt, body->local);
	if (!sameFrame(body->rebuilt, body->def->frame)) {
		const knFrame exact = knMakeFrame(computed.p, body->local.q);
		const knFrame again = knMulF(parent->rebuilt, exact);
		if (sameFrame(again, body->def->frame)) {
			body->local = exact;
			body->rebuilt = again;
		}
	}
}

static void openBody(knMjcfWriter* writer, int index) {
	knMjcfOutBody* body = &writer->bodies[index];
	writer->bodyOrder[writer->bodiesWritten++] = index;
	placeBody(writer, body);
	beginTag(writer, "body");
	knMjcfWriter_Text(writer, "name", body->def->name);
	knMjcfWriter_Frame(writer, body->local);
	if (body->def->kind == KN_BODY_KINEMATIC) {
		knMjcfWriter_Put(writer, " mocap=\"true\"");
	}
	if (body->def->gravityScale != 1.0) {
		knMjcfWriter_Number(writer, "gravcomp", 1.0 - body->def->gravityScale);
	}
	knMjcfWriter_Put(writer, ">");
	writer->depth += 1;
	if (body->joint >= 0) {
		writer->jointOrder[writer->jointsWritten++] = body->joint;
		writeTreeJoint(writer, &writer->joints[body->joint], body->local);
	} else if (body->def->kind == KN_BODY_DYNAMIC) {
		beginTag(writer, "freejoint/>");
	}
	if (body->def->hasMass) {
		writeInertial(writer, &body->def->mass);
	}
	writeGeoms(writer, body->firstShape);
	knMjcfWriter_Sites(writer, index);
}

static void closeTag(knMjcfWriter* writer, const char* tag) {
	writer->depth -= 1;
	knMjcfWriter_Line(writer);
	knMjcfWriter_Put(writer, "</");
	knMjcfWriter_Put(writer, tag);
	knMjcfWriter_Put(writer, ">");
}

// A body and all that hangs on it, without recursion: chains may be very long.
static void writeSubtree(knMjcfWriter* writer, int root) {
	int body = root;
	for (;;) {
		openBody(writer, body);
		if (writer->bodies[body].firstChild >= 0) {
			body = writer->bodies[body].firstChild;
			continue;
		}
		closeTag(writer, "body");
		while (body != root && writer->bodies[body].nextSibling < 0) {
			body = writer->bodies[body].parent;
			closeTag(writer, "body");
		}
		if (body == root) {
			return;
		}
		body = writer->bodies[body].nextSibling;
	}
}

void knMjcfWriter_WorldBody(knMjcfWriter* writer) {
	beginTag(writer, "worldbody>");
	writer->depth += 1;
	writeGeoms(writer, writer->firstWorldShape);
	knMjcfWriter_Sites(writer, -1);
	for (int b = 0; b < writer->bodyCount && !writer->failed; ++b) {
		if (writer->bodies[b].parent < 0) {
			writeSubtree(writer, b);
		}
	}
	closeTag(writer, "worldbody");
}

// --- equalities ------------------------------------------------------------------------------------------

static const char* nameOf(const knMjcfWriter* writer, int body) {
	return body >= 0 ? writer->bodies[body].def->name : "world";
}

static void writeEquality(knMjcfWriter* writer, const knMjcfOutJoint* joint) {
	const knJointDef* def = joint->def;
	const bool weld = def->kind == KN_JOINT_FIXED;
	beginTag(writer, weld ? "weld" : "connect");
	knMjcfWriter_Text(writer, "name", def->name);
	knMjcfWriter_Text(writer, "body1", nameOf(writer, joint->parent));
	knMjcfWriter_Text(writer, "body2", nameOf(writer, joint->child));
	if (weld) {
		knMjcfWriter_Put(writer, " relpose=\"");
		knMjcfWriter_PutFrame(writer, knMulF(def->frameParent, knInvF(def->frameChild)));
		knMjcfWriter_Put(writer, "\"");
	} else {
		knMjcfWriter_Vector(writer, "anchor", def->frameParent.p);
	}
	if (!def->enabled) {
		knMjcfWriter_Put(writer, " active=\"false\"");
	}
	knMjcfWriter_Put(writer, "/>");
}

void knMjcfWriter_Equalities(knMjcfWriter* writer) {
	bool any = knScene_CouplingCount(writer->scene) > 0;
	if (any) {
		beginTag(writer, "equality>");
		writer->depth += 1;
	}
	for (int i = 0; i < writer->jointCount; ++i) {
		if (writer->joints[i].form != KN_MJCF_AS_EQUALITY) {
			continue;
		}
		if (!any) {
			beginTag(writer, "equality>");
			writer->depth += 1;
			any = true;
		}
		writer->jointOrder[writer->jointsWritten++] = i;
		writeEquality(writer, &writer->joints[i]);
	}
	knMjcfWriter_Couplings(writer);
	if (any) {
		closeTag(writer, "equality");
	}
}
