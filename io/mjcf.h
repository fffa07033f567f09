// The inside of the MJCF reader: what a file says (elements), and what becomes of it (the plan).
//
//   mjcf_read.c      expat -> elements, with an own stack: nesting costs memory, never the C stack
//   mjcf_fields.c    attributes -> members, one table row each
//   mjcf_build.c     elements -> plan -> knScene: defaults, names, the body tree, what is added in which order
//   mjcf_shapes.c    geoms: sizes, filters, materials, masses
//   mjcf_joints.c    joints of the tree, equalities
//   mjcf_pose.c      orientations, the reference pose, keyframes
//   mjcf_custom.c    knuckle.* values
//   mjcf_text.c      joints and compounds spelled in one line of text
//   mjcf_report.c    errors with a place, and what was not understood
//
// Elements are kept as written, because MJCF's sections may come in any order: defaults and angle units are applied
// when everything has been read. Every function that returns bool returns false after setting reader->error.
#pragma once

#include "core/arena.h"
#include "core/array.h"
#include "core/table.h"
#include "knuckle/io.h"

// Elements may nest this deep.
#define KN_MJCF_MAX_DEPTH 1000000

// --- elements, as written --------------------------------------------------------------------------------

// Bits of knMjcfElement.given that all elements share; each kind's own bits begin at KN_MJCF_OWN.
enum {
	KN_MJCF_NAME,
	KN_MJCF_CLASS,
	KN_MJCF_POS,
	KN_MJCF_QUAT,
	KN_MJCF_AXISANGLE,
	KN_MJCF_EULER,
	KN_MJCF_XYAXES,
	KN_MJCF_ZAXIS,
	KN_MJCF_OWN,
};
#define KN_MJCF_ORIENTATION_BITS                                                                             \
	(1u << KN_MJCF_QUAT | 1u << KN_MJCF_AXISANGLE | 1u << KN_MJCF_EULER | 1u << KN_MJCF_XYAXES |             \
	 1u << KN_MJCF_ZAXIS)

// The common part, first in every element.
typedef struct knMjcfElement {
	int line, column;
	uint32_t given; // which attributes were written (after knMjcf_Inherit: or inherited)
	const char* name;
	const char* className;
	knVec3 pos;
	double orientation[6]; // in the spelling that `given` names
} knMjcfElement;

static inline bool knMjcf_Given(const knMjcfElement* element, int bit) {
	return (element->given >> bit & 1u) != 0;
}

typedef struct knMjcfModel {
	knMjcfElement element;
	const char* model;
} knMjcfModel;

enum { KN_MJCF_DEGREE, KN_MJCF_RADIAN };
enum { KN_MJCF_INERTIA_FALSE, KN_MJCF_INERTIA_TRUE, KN_MJCF_INERTIA_AUTO };

typedef struct knMjcfCompiler {
	knMjcfElement element;
	int angle;
	int coordinate;
	int inertiaFromGeom;
	int autoLimits;
	const char* eulerSequence;
	double inertiaGroups[2];
} knMjcfCompiler;

typedef struct knMjcfOption {
	knMjcfElement element;
	double timestep;
	knVec3 gravity;
} knMjcfOption;

enum {
	KN_MJCF_GEOM_TYPE = KN_MJCF_OWN,
	KN_MJCF_GEOM_SIZE,
	KN_MJCF_GEOM_FROMTO,
	KN_MJCF_GEOM_MASS,
	KN_MJCF_GEOM_DENSITY,
	KN_MJCF_GEOM_FRICTION,
	KN_MJCF_GEOM_CONTYPE,
	KN_MJCF_GEOM_CONAFFINITY,
	KN_MJCF_GEOM_CONDIM,
	KN_MJCF_GEOM_GROUP,
	KN_MJCF_GEOM_RGBA,
};
// The first six are understood.
enum {
	KN_MJCF_SPHERE,
	KN_MJCF_CAPSULE,
	KN_MJCF_BOX,
	KN_MJCF_PLANE,
	KN_MJCF_CYLINDER,
	KN_MJCF_ELLIPSOID,
	KN_MJCF_FIRST_OTHER_GEOM,
};

typedef struct knMjcfGeom {
	knMjcfElement element;
	int body;
	int type;
	double size[3];
	int sizeCount;
	double fromto[6];
	double mass, density;
	double friction[3];
	int frictionCount;
	int contype, conaffinity, condim, group;
	double rgba[4];
} knMjcfGeom;

enum {
	KN_MJCF_JOINT_TYPE = KN_MJCF_OWN,
	KN_MJCF_JOINT_AXIS,
	KN_MJCF_JOINT_RANGE,
	KN_MJCF_JOINT_LIMITED,
	KN_MJCF_JOINT_DAMPING,
	KN_MJCF_JOINT_STIFFNESS,
	KN_MJCF_JOINT_SPRINGREF,
	KN_MJCF_JOINT_FRICTIONLOSS,
	KN_MJCF_JOINT_REF,
};
enum { KN_MJCF_FREE, KN_MJCF_BALL, KN_MJCF_SLIDE, KN_MJCF_HINGE };
enum { KN_MJCF_LIMITED_FALSE, KN_MJCF_LIMITED_TRUE, KN_MJCF_LIMITED_AUTO };

typedef struct knMjcfJoint {
	knMjcfElement element;
	int body;
	int type;
	knVec3 axis;
	double range[2];
	int limited;
	double damping, stiffness, springref, frictionloss, ref;
} knMjcfJoint;

enum { KN_MJCF_INERTIAL_MASS = KN_MJCF_OWN, KN_MJCF_INERTIAL_DIAGONAL, KN_MJCF_INERTIAL_FULL };

typedef struct knMjcfInertial {
	knMjcfElement element;
	double mass;
	knVec3 diagonal;
	double full[6]; // xx yy zz xy xz yz
} knMjcfInertial;

typedef struct knMjcfBody {
	knMjcfElement element;
	int parent; // index, smaller than its own; -1 for the world
	const char* childClass;
	int mocap;
	double gravcomp;
	int inertial; // index, -1: none
} knMjcfBody;

enum {
	KN_MJCF_EQUALITY_BODY1 = KN_MJCF_OWN,
	KN_MJCF_EQUALITY_BODY2,
	KN_MJCF_EQUALITY_ANCHOR,
	KN_MJCF_EQUALITY_RELPOSE,
	KN_MJCF_EQUALITY_ACTIVE,
	KN_MJCF_EQUALITY_SITE,
};

typedef struct knMjcfEquality {
	knMjcfElement element;
	bool weld; // else connect
	const char* body1;
	const char* body2;
	const char* site;
	knVec3 anchor;
	double relpose[7];
	int active;
} knMjcfEquality;

typedef struct knMjcfExclude {
	knMjcfElement element;
	const char* body1;
	const char* body2;
} knMjcfExclude;

typedef struct knMjcfNumbers {
	const double* items;
	int count;
} knMjcfNumbers;

enum { KN_MJCF_KEY_TIME = KN_MJCF_OWN, KN_MJCF_KEY_QPOS, KN_MJCF_KEY_QVEL };

typedef struct knMjcfKey {
	knMjcfElement element;
	double time;
	knMjcfNumbers qpos, qvel;
} knMjcfKey;

typedef struct knMjcfCustom {
	knMjcfElement element;
	bool text; // else numeric
	const char* data;
	const struct knMjcfCustomRow* row; // which value it is
	const char* target;                // what follows the row's name and a dot; NULL: nothing
} knMjcfCustom;

// A <default> and what it says of each kind of element.
typedef struct knMjcfClass {
	knMjcfElement element;
	int parent; // index, -1 for the root
	knMjcfGeom geom;
	knMjcfJoint joint;
	knMjcfEquality equality;
} knMjcfClass;

// --- attributes (mjcf_fields.c) ---------------------------------------------------------------------------

typedef enum knMjcfFieldKind {
	KN_MJCF_FIELD_REALS,   // double[most]
	KN_MJCF_FIELD_NUMBERS, // knMjcfNumbers, any count
	KN_MJCF_FIELD_INT,
	KN_MJCF_FIELD_WORD,   // int: index into words
	KN_MJCF_FIELD_TEXT,   // const char*
	KN_MJCF_FIELD_SILENT, // understood to change nothing here: visual, or where files are
} knMjcfFieldKind;

typedef struct knMjcfField {
	const char* name;
	knMjcfFieldKind kind;
	int bit;
	size_t offset;
	int least, most;          // reals
	size_t countOffset;       // reals: where the count goes; 0: nowhere
	const char* const* words; // up to NULL
} knMjcfField;

typedef struct knMjcfElementType {
	const char* tag;
	const knMjcfField* fields;
	int fieldCount;
} knMjcfElementType;

// Names of the geom types, in the order of their numbers.
extern const char* const knMjcfGeomWords[];

extern const knMjcfElementType knMjcfModelType, knMjcfCompilerType, knMjcfOptionType, knMjcfDefaultType,
	knMjcfGeomType, knMjcfJointType, knMjcfFreeJointType, knMjcfInertialType, knMjcfBodyType,
	knMjcfWorldBodyType, knMjcfConnectType, knMjcfWeldType, knMjcfEqualityType, knMjcfExcludeType,
	knMjcfKeyType, knMjcfNumericType, knMjcfTextType;

typedef struct knMjcf knMjcf;

// Writes the attributes (name, value, ..., NULL) into `element`; those without a row are reported.
bool knMjcf_ReadElement(knMjcf* reader, const knMjcfElementType* type, const char** attributes,
						void* element);
// Members of `defaults` that `element` does not give itself; name, class and place stay.
void knMjcf_Inherit(const knMjcfElementType* type, void* element, const void* defaults);
// Numbers separated by blanks. -1: `bad` (of 32 bytes) is not a finite number; else how many there are, of which at
// most `capacity` are written.
int knMjcf_ParseNumbers(const char* text, double* numbers, int capacity, char* bad);

// --- the plan: what is added to the scene ------------------------------------------------------------------

// A body of the file.
typedef struct knMjcfNode {
	knBodyKind kind;
	int owner;         // the node whose scene body it is part of: itself unless it is welded to a moving one
	knFrame weld;      // in the owner's frame
	knFrame local;     // in the parent's frame
	knFrame reference; // in the world, in the reference pose
	knFrame frame;     // in the world, at the start
	knTwist velocity;  // at the start, of the frame's origin
	int firstJoint;    // in reader->jointOrder
	int jointCount;

	// owners only
	knBodyDef def;
	knMassProps mass; // of all that is welded to it
	bool massGiven;   // not all of it is density times volume
	bool kinematic;   // mocap, or knuckle.kinematic: def has the velocity of the centre of mass
	bool hasFrame;    // knuckle.frame: def has the frame
	bool hasVelocity; // knuckle.velocity: def has the velocity of the centre of mass
	knBodyId id;
} knMjcfNode;

// A geom of the file; also its shape in the scene unless it became part of a compound.
typedef struct knMjcfShape {
	knShapeDef def;
	knGeom* geom; // retained; NULL: ignored or part of a compound
	int node;     // the owner
	int source;   // the geom
	double mass;  // below zero: density times volume
	bool taken;   // named as part of a compound
} knMjcfShape;

typedef struct knMjcfLink {
	knJointDef def;
	int parent, child; // nodes (owners)
	const knMjcfElement* element;
} knMjcfLink;

// --- the reader ------------------------------------------------------------------------------------------

typedef struct knMjcfNote {
	int line, column;
	int count;
	const char* text;
} knMjcfNote;

struct knMjcf {
	knAllocator allocator;
	knArena arena; // texts and lists of numbers; lives as long as the reader
	const char* file;
	knError error;
	bool failed;
	int line, column; // of the element that is being read

	// what was not understood
	KN_ARRAY(knMjcfNote) notes;
	knNameTable noteTable;

	// what the file says
	knMjcfModel model;
	knMjcfCompiler compiler;
	knMjcfOption option;
	KN_ARRAY(knMjcfClass) classes; // 0 is the root
	KN_ARRAY(knMjcfBody) bodies;   // 0 is the world
	KN_ARRAY(knMjcfInertial) inertials;
	KN_ARRAY(knMjcfGeom) geoms;
	KN_ARRAY(knMjcfJoint) joints;
	KN_ARRAY(knMjcfEquality) equalities;
	KN_ARRAY(knMjcfExclude) excludes;
	KN_ARRAY(knMjcfKey) keys;
	KN_ARRAY(knMjcfCustom) customs;

	// names -> indices; links also answer to the joints' names
	knNameTable classNames, bodyNames, geomNames, jointNames, linkNames, keyNames;

	// what becomes of it
	int* jointOrder;     // joints sorted by body
	int* jointStart;     // [joint] its first number in qpos
	knMjcfNode* nodes;   // one per body
	knMjcfShape* shapes; // one per geom
	KN_ARRAY(knMjcfLink) links;
	const int* bodyOrder; // knuckle.order.*: the order of adding, NULL: as they come
	const int* shapeOrder;
	const int* linkOrder;
	const knMjcfKey* key; // the start, NULL: the reference pose
	knSceneDef sceneDef;
	knScene* scene;
};

// --- mjcf_report.c ---

// Sets the error of `reader` at `element` (NULL: the one that is being read) and returns false. The first error stays.
bool knMjcf_Fail(knMjcf* reader, const knMjcfElement* element, const char* tag, knStatus status,
				 const char* format, ...) KN_PRINTF(5, 6);
bool knMjcf_NoMemory(knMjcf* reader);
// Passes on an error of the scene's, with the place in the file.
bool knMjcf_FailFrom(knMjcf* reader, const knMjcfElement* element, const knError* cause);
// "; did you mean 'x'?" with the closest of the names, else "".
const char* knMjcf_Suggest(knMjcf* reader, const char* name, const char* const* names, int count);
// The same over an array of elements, each `stride` bytes and beginning with its knMjcfElement.
const char* knMjcf_SuggestElement(knMjcf* reader, const char* name, const void* elements, int count,
								  size_t stride);
// Adds a line to the report; a line that was there already is counted instead.
void knMjcf_Note(knMjcf* reader, const knMjcfElement* element, const char* format, ...) KN_PRINTF(3, 4);
// Hands the notes over; false when out of memory.
bool knMjcf_TakeReport(knMjcf* reader, knLoadReport* report);
// A copy in the reader's arena; NULL (and the reader has failed) when out of memory.
const char* knMjcf_CopyText(knMjcf* reader, const char* text);

// --- mjcf_build.c ---

bool knMjcf_Build(knMjcf* reader, const char* keyframe);
// Index of a body by name ("world" is 0); fails with a suggestion.
bool knMjcf_FindBody(knMjcf* reader, const knMjcfElement* element, const char* tag, const char* name,
					 int* body);

// --- mjcf_pose.c ---

// The rotation an element gives, in whichever spelling.
bool knMjcf_Orientation(knMjcf* reader, const knMjcfElement* element, const char* tag, knQuat* rotation);
// A unit quaternion from four numbers; exact if they are one already.
bool knMjcf_UnitQuat(const double* wxyz, knQuat* q);
// A rotation with the given x axis (unit) and the z axis nearest to `z`.
knQuat knMjcf_QuatFromXZ(knVec3 x, knVec3 z);
double knMjcf_Angle(const knMjcf* reader, double value); // degrees or radians -> radians
int knMjcf_JointNq(const knMjcfJoint* joint);
int knMjcf_JointNv(const knMjcfJoint* joint);
double knMjcf_JointRef(const knMjcf* reader, const knMjcfJoint* joint);
// Chooses the keyframe (by name, else what knuckle.keyframe says) and checks its length.
bool knMjcf_ChooseKey(knMjcf* reader, const char* name, const knMjcfElement* element);
// Writes reference, frame and velocity of every node.
void knMjcf_Pose(knMjcf* reader);
// Position of a hinge or slide at the start.
double knMjcf_JointStart(const knMjcf* reader, int jointIndex);

// --- mjcf_shapes.c ---

bool knMjcf_PlanShapes(knMjcf* reader);
// Masses of all nodes; after materials are final.
bool knMjcf_PlanMasses(knMjcf* reader);

// --- mjcf_joints.c ---

// Checks the joints' numbers and makes their axes unit; before poses are computed.
bool knMjcf_CheckJoints(knMjcf* reader);
bool knMjcf_PlanJoints(knMjcf* reader);
bool knMjcf_PlanEqualities(knMjcf* reader);
// The child's joint frame of a single axis, and the parent's joint frame in the frame that `local` is relative to; `ref`
// holds three coordinates at the reference pose. The writer uses them too, to know which numbers come back exactly.
knFrame knMjcf_AxisFrame(knVec3 pos, knVec3 axis);
knFrame knMjcf_ParentFrame(knFrame local, knFrame frameChild, knJointKind kind, const double* ref);
knVec3 knMjcf_UnitAxis(knVec3 axis);
// Adds a link between two nodes (owners) under `name` (may be NULL); NULL when out of memory.
knMjcfLink* knMjcf_AddLink(knMjcf* reader, const knMjcfLink* link, const char* name);

// --- mjcf_custom.c ---

// When a value takes effect.
typedef enum knMjcfStage {
	KN_MJCF_STAGE_TREE,     // before the tree: kinematic bodies
	KN_MJCF_STAGE_SCENE,    // of all geoms, and of the scene
	KN_MJCF_STAGE_PART,     // of one geom or body
	KN_MJCF_STAGE_COMPOUND, // when geoms have their materials
	KN_MJCF_STAGE_JOINT,    // when the file's joints are planned
	KN_MJCF_STAGE_LIMIT,    // when all joints are
	KN_MJCF_STAGE_ORDER,    // when everything is
} knMjcfStage;

// Finds the row of every knuckle.* value; refuses unknown and repeated names.
bool knMjcf_ReadCustoms(knMjcf* reader);
bool knMjcf_ApplyCustoms(knMjcf* reader, knMjcfStage stage);
// The name that knuckle.keyframe gives, NULL if the file has none.
const knMjcfCustom* knMjcf_FindKeyframe(const knMjcf* reader);

// --- mjcf_text.c ---

// Reads "hinge parent='a' child='b' ..." as a new joint, or, without a kind, changes the joint of that name
// (docs/mjcf.md, "Joints in one line").
bool knMjcf_ReadJointText(knMjcf* reader, const knMjcfCustom* custom, bool loop);
// Reads "parts='a b c' ..." and makes these geoms one shape.
bool knMjcf_ReadCompoundText(knMjcf* reader, const knMjcfCustom* custom);
