// The inside of the MJCF writer.
//
//   mjcf_write.c         the plan (which joint nests which body), the file itself
//   mjcf_write_tree.c    bodies, geoms and joints as MuJoCo knows them
//   mjcf_write_control.c hulls, sites, tendons, actuators, sensors, couplings
//   mjcf_write_custom.c  knuckle.* values: what MJCF cannot say, and exact numbers where it rounds
#pragma once

#include "core/arena.h"
#include "core/array.h"
#include "core/table.h"
#include "knuckle/control.h"
#include "knuckle/scene.h"

// How a joint is written.
typedef enum knMjcfJointForm {
	KN_MJCF_AS_TREE,     // nests its child in its parent
	KN_MJCF_AS_EQUALITY, // connect or weld
	KN_MJCF_AS_TEXT,     // knuckle.joint or knuckle.loop
} knMjcfJointForm;

typedef struct knMjcfOutBody {
	knBodyId id;
	const knBodyDef* def;
	int joint;  // that nests it, -1: stands in <worldbody>
	int parent; // -1: the world
	int firstChild, nextSibling;
	int firstShape;  // of its shapes, linked by knMjcfOutShape.next
	knFrame local;   // as written
	knFrame rebuilt; // what the reader computes for its frame
} knMjcfOutBody;

typedef struct knMjcfOutShape {
	knShapeId id;
	const knShapeDef* def;
	const knGeom* geom;
	int next;         // of the same body, -1: last
	const char* name; // of its geom (of a compound's first), NULL: none
	const char* base; // compounds: its geoms are base.0, base.1, ...
} knMjcfOutShape;

typedef struct knMjcfOutJoint {
	knJointId id;
	const knJointDef* def;
	int parent, child; // bodies, -1: the world
	knMjcfJointForm form;
	double ref[6];    // coordinates as the scene starts
	bool exactFrames; // the reader computes the same frames
} knMjcfOutJoint;

typedef struct knMjcfOutSite {
	int body; // -1: the world
	knFrame frame;
} knMjcfOutSite;

typedef struct knMjcfWriter {
	knAllocator allocator;
	const knScene* scene;
	knError* error;
	bool failed;
	knArena arena; // everything below but the text
	KN_ARRAY(char) text;
	int depth; // of indentation

	knMjcfOutBody* bodies;
	knMjcfOutShape* shapes;
	knMjcfOutJoint* joints;
	int bodyCount, shapeCount, jointCount;
	int* slotToBody;
	int firstWorldShape;
	KN_ARRAY(const knGeom*) meshes; // hulls, each once
	KN_ARRAY(knMjcfOutSite) sites;
	int sitesNamed;

	// the order in which the reader will meet things
	int* bodyOrder;
	int* shapeOrder;
	int* jointOrder;
	int bodiesWritten, shapesWritten, jointsWritten;

	bool writeFilters;           // every geom's filter is spelled out
	double restitution, rolling; // of all shapes, or below zero
	double friction, density;    // as the root class gives them
} knMjcfWriter;

// --- mjcf_write.c ---

bool knMjcfWriter_Fail(knMjcfWriter* writer, knStatus status, const char* element, const char* format, ...)
	KN_PRINTF(4, 5);
// Raw text.
void knMjcfWriter_Put(knMjcfWriter* writer, const char* text);
// A line break and the indentation of the present depth.
void knMjcfWriter_Line(knMjcfWriter* writer);
// Text with XML's special characters escaped; `quote` also doubles single quotes.
void knMjcfWriter_PutEscaped(knMjcfWriter* writer, const char* text, bool quote);
void knMjcfWriter_PutNumber(knMjcfWriter* writer, double value);
void knMjcfWriter_PutNumbers(knMjcfWriter* writer, const double* values, int count);
void knMjcfWriter_PutFrame(knMjcfWriter* writer, knFrame frame);
// name="value" with a blank before it.
void knMjcfWriter_Text(knMjcfWriter* writer, const char* name, const char* value);
void knMjcfWriter_Number(knMjcfWriter* writer, const char* name, double value);
void knMjcfWriter_Vector(knMjcfWriter* writer, const char* name, knVec3 value);
// pos and quat, where they are not zero and one.
void knMjcfWriter_Frame(knMjcfWriter* writer, knFrame frame);

// --- mjcf_write_tree.c ---

void knMjcfWriter_WorldBody(knMjcfWriter* writer);
void knMjcfWriter_Equalities(knMjcfWriter* writer);
// True if one number each says what acts in the three axes of a ball joint, as MJCF has it.
bool knMjcfWriter_UniformBall(const knJointDef* def);

// --- mjcf_write_control.c ---

bool knMjcfWriter_PlanMeshes(knMjcfWriter* writer);
// The number of a hull's mesh, -1: none.
int knMjcfWriter_MeshIndex(const knMjcfWriter* writer, const knGeom* geom);
// What it is called in the file; returns `name`.
const char* knMjcfWriter_MeshName(const knMjcfWriter* writer, const knGeom* geom, char name[32]);
bool knMjcfWriter_PlanSites(knMjcfWriter* writer);
void knMjcfWriter_Assets(knMjcfWriter* writer);
void knMjcfWriter_Sites(knMjcfWriter* writer, int body);
void knMjcfWriter_Control(knMjcfWriter* writer);
void knMjcfWriter_Couplings(knMjcfWriter* writer);
// What the MJCF joint of an axis is called.
void knMjcfWriter_AxisName(const char* joint, int axis, char name[256]);

// --- mjcf_write_custom.c ---

void knMjcfWriter_Customs(knMjcfWriter* writer);
