// The inside of the URDF reader.
//
//   urdf_read.c     elements -> links, joints, loops: numbers checked, nothing built yet
//   urdf_build.c    the tree, bodies (links joined by fixed joints are one), joints, couplings, actuators
//   urdf_shapes.c   visuals and collisions, mesh files by package:// and the like
//   xml_tree.c      the file as a tree of elements
//
// Every function that returns bool returns false after setting reader->error.
#pragma once

#include "core/table.h"
#include "import_report.h"
#include "knuckle/control.h"
#include "xml_tree.h"

typedef struct knUrdfLink {
	int node;
	const char* name;
	bool hasInertial;
	knMassProps mass; // in the link's frame
	int parentJoint;  // index, -1: it is the root

	// written by urdf_build.c
	int owner;    // the link whose scene body it is part of: itself, or the one it is fixed to; -1: the world
	knFrame weld; // in the owner's frame
	knFrame world;   // in the world, all joints at zero
	knBodyId body;   // owners only
	knMassProps sum; // owners only: all links that are fixed to it
} knUrdfLink;

typedef enum knUrdfJointType {
	KN_URDF_REVOLUTE,
	KN_URDF_CONTINUOUS,
	KN_URDF_PRISMATIC,
	KN_URDF_FIXED,
	KN_URDF_FLOATING,
	KN_URDF_PLANAR,
	KN_URDF_BALL, // loops only
	KN_URDF_JOINT_TYPES,
} knUrdfJointType;

typedef struct knUrdfJoint {
	int node;
	const char* name;
	knUrdfJointType type;
	bool loop;         // of <loop_joint>: closes a loop
	int parent, child; // links
	knFrame origin;    // in the parent's frame; of a loop: in its first link's
	knFrame origin2;   // of a loop: in its second link's
	knVec3 axis;       // unit, in the joint's frame
	bool limited;
	double lower, upper, effort; // effort 0: none
	double damping, friction;
	const char* mimics; // the joint that it follows, NULL: none
	double multiplier, offset;
	knJointId id; // null until it is built, and for fixed ones
} knUrdfJoint;

typedef struct knUrdfMesh {
	knGeom* geom; // retained
} knUrdfMesh;

typedef struct knUrdf {
	knAllocator allocator;
	const knUrdfOptions* options;
	const char* file; // name, for errors
	bool fromMemory;
	knXmlTree tree;
	knImportReport report;
	knError error;
	bool failed;

	KN_ARRAY(knUrdfLink) links;
	KN_ARRAY(knUrdfJoint) joints;
	knNameTable linkNames, jointNames;
	knNameTable materials; // global: name -> color
	knNameTable meshNames; // path, scale and use -> index
	KN_ARRAY(knUrdfMesh) meshes;
	int* order; // links, parents before children
	knScene* scene;
} knUrdf;

// --- urdf_read.c ---

bool knUrdf_Fail(knUrdf* reader, int node, knStatus status, const char* format, ...) KN_PRINTF(4, 5);
bool knUrdf_NoMemory(knUrdf* reader);
bool knUrdf_FailFrom(knUrdf* reader, int node, const knError* cause);
void knUrdf_Note(knUrdf* reader, int node, knLoadSeverity severity, const char* format, ...) KN_PRINTF(4, 5);
// `count` finite numbers of an attribute; `numbers` stays as it is where there is none, unless it is needed.
bool knUrdf_Numbers(knUrdf* reader, int node, const char* name, int count, bool needed, double* numbers);
// The <origin> of an element (xyz, and rpy: turns about the fixed axes x, y, z in this order); identity without one.
bool knUrdf_Origin(knUrdf* reader, int node, knFrame* frame);
// 0xRRGGBB of a <color>; 0 without one.
bool knUrdf_Color(knUrdf* reader, int material, uint32_t* color);
bool knUrdf_ReadElements(knUrdf* reader);

// --- urdf_build.c ---

bool knUrdf_Build(knUrdf* reader);

// --- urdf_shapes.c ---

// Adds visuals and collisions of all links to their bodies. Collisions weigh only where `weighed`, by body slot of links.
bool knUrdf_AddShapes(knUrdf* reader);
// The geometry of a <geometry> element. For `looks` any mesh will do; else it must have an inside.
knGeom* knUrdf_Geometry(knUrdf* reader, int node, bool looks);
