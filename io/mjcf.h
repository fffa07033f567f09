// The inside of the MJCF reader: what a file says (elements), and what becomes of it (the plan).
//
//   mjcf_written.h   the elements
//   mjcf_read.c      expat -> elements, with an own stack: nesting costs memory, never the C stack; includes
//   mjcf_elements.c  what each tag means where it stands
//   mjcf_fields.c    attributes -> members, one table row each
//   mjcf_values.c    reads by those tables
//   mjcf_frames.c    <frame>: poses and classes of what stands in one
//   mjcf_replicate.c <replicate>: elements kept to be read several times
//   mjcf_assets.c    meshes: files, hulls, masses
//   mjcf_hfield.c    height fields: numbers in the file, MuJoCo's binary files, grey pictures
//   mjcf_build.c     elements -> plan -> knScene: defaults, names, the body tree, what is added in which order
//   mjcf_shapes.c    geoms: sizes, filters, materials, masses
//   mjcf_joints.c    joints of the tree
//   mjcf_joint_masses.c  inertias that joints move: springdamper, dampratio
//   mjcf_split.c     bodies with joints that are no one joint
//   mjcf_equality.c  equalities: loops and couplings
//   mjcf_loop_fit.c  what of a loop's gap cannot be closed
//   mjcf_control.c   actuators, tendons, sensors
//   mjcf_muscle.c    muscles
//   mjcf_looks.c     textures, materials, lights; from where a page looks
//   mjcf_options.c   compiler, option and flag
//   mjcf_pose.c      orientations, the reference pose, keyframes
//   mjcf_custom.c    knuckle.* values
//   mjcf_text.c      joints and compounds spelled in one line of text
//   mjcf_report.c    errors with a place, and what was not understood
//
// Elements are kept as written, because MJCF's sections may come in any order: defaults and angle units are applied
// when everything has been read. Every function that returns bool returns false after setting reader->error.
#pragma once

#include "mjcf_written.h"

// --- attributes (mjcf_fields.c) ---------------------------------------------------------------------------

typedef enum knMjcfFieldKind {
	KN_MJCF_FIELD_REALS,   // double[most]
	KN_MJCF_FIELD_NUMBERS, // knMjcfNumbers, any count
	KN_MJCF_FIELD_INT,
	KN_MJCF_FIELD_WORD,   // int: index into words
	KN_MJCF_FIELD_TEXT,   // const char*
	KN_MJCF_FIELD_NAME,   // const char*, a name in the model: takes the prefix of <attach>
	KN_MJCF_FIELD_SILENT, // understood to change nothing here: visual, or the solver's own
	KN_MJCF_FIELD_NOTED,  // not followed, which changes the motion little: contacts are hard here
} knMjcfFieldKind;

typedef struct knMjcfField {
	const char* name;
	knMjcfFieldKind kind;
	int bit;
	size_t offset;
	int least, most;          // reals
	size_t countOffset;       // reals: where the count goes; 0: nowhere
	const char* const* words; // up to NULL
	bool whole;               // counted reals: one that is written stands for all
} knMjcfField;

typedef struct knMjcfElementType {
	const char* tag;
	const knMjcfField* fields;
	int fieldCount;
	bool looks; // nothing of it moves
} knMjcfElementType;

// Names of the geom types, in the order of their numbers.
extern const char* const knMjcfGeomWords[];
// Keys of a plugin's <config>, up to NULL.
extern const char* const knMjcfConfigWords[];

extern const knMjcfElementType knMjcfModelType, knMjcfCompilerType, knMjcfOptionType, knMjcfDefaultType,
	knMjcfGeomType, knMjcfJointType, knMjcfFreeJointType, knMjcfInertialType, knMjcfBodyType,
	knMjcfWorldBodyType, knMjcfConnectType, knMjcfWeldType, knMjcfEqualityType, knMjcfExcludeType,
	knMjcfKeyType, knMjcfNumericType, knMjcfTextType, knMjcfFrameType, knMjcfFlagType, knMjcfSiteType,
	knMjcfMeshType, knMjcfMaterialType, knMjcfSourceType, knMjcfActuatorType, knMjcfTendonType,
	knMjcfTendonJointType, knMjcfTendonSiteType, knMjcfTendonGeomType, knMjcfTendonPulleyType,
	knMjcfSensorType, knMjcfCoupleType, knMjcfPairType, knMjcfHfieldType, knMjcfInstanceType,
	knMjcfTextureType, knMjcfLayerType, knMjcfLightType, knMjcfHeadlightType;

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
	knGeom* geom;            // retained; NULL: ignored or part of a compound
	int node;                // the owner
	int source;              // the geom
	double mass;             // below zero: density times volume
	bool taken;              // named as part of a compound
	int material;            // -1: none
	bool weightOnly;         // a mesh that weighs and touches nothing: not added to the scene
	const knMassProps* unit; // a mesh's own, at density 1, in the geom's frame; NULL: the geometry's
} knMjcfShape;

typedef struct knMjcfLink {
	knJointDef def;
	int parent, child; // nodes (owners)
	const knMjcfElement* element;
	bool bothEnds; // sites give both ends: they may miss each other
	knJointId id;  // when it is added
} knMjcfLink;

// --- the reader ------------------------------------------------------------------------------------------

typedef struct knMjcfNote {
	knLoadSeverity severity;
	int file, line, column;
	int count;
	const char* text;
} knMjcfNote;

struct knMjcf {
	knAllocator allocator;
	knArena arena;      // texts and lists of numbers; lives as long as the reader
	const char* file;   // the model's
	const char* folder; // that it lies in, with a slash at the end, or ""
	bool lenient;       // what changes the motion may be left out
	bool looks;         // what only shows is wanted
	bool exactMeshes;   // meshes collide as they are
	knError error;
	bool failed;
	int line, column;            // of the element that is being read
	int fileIndex;               // and its file
	int compilerIndex;           // and compiler
	const char* prefix;          // of names in a model that is attached; NULL: none
	const char* suffix;          // of names in a <replicate>; NULL: none
	const char* attachSuffix;    // of what a model that is attached in one refers to; NULL: none
	int replicated;              // elements that <replicate> has repeated so far
	int includes;                // files opened so far
	const void* parse;           // the file that is being read. mjcf_read.c
	KN_ARRAY(const char*) files; // 0 is the model's

	// what was not understood
	KN_ARRAY(knMjcfNote) notes;
	knNameTable noteTable;

	// what the file says
	knMjcfModel model;
	KN_ARRAY(knMjcfCompiler) compilers; // 0 is the model's, the others those of models that are attached
	knMjcfOption option;
	knMjcfFlag flag;
	knViewDef view; // from viewFrom
	enum { KN_MJCF_VIEW_NONE, KN_MJCF_VIEW_CAMERA, KN_MJCF_VIEW_GLOBAL } viewFrom;
	KN_ARRAY(knMjcfFrame) frames;
	KN_ARRAY(knMjcfSite) sites;
	KN_ARRAY(knMjcfMesh) meshes;
	KN_ARRAY(knMjcfMaterial) materials;
	KN_ARRAY(knMjcfTexture) textures;
	KN_ARRAY(knMjcfLight) lights;
	knMjcfLight headlight;
	bool hasHeadlight;
	KN_ARRAY(knMjcfHfield) hfields;
	KN_ARRAY(knMjcfInstance) instances;
	KN_ARRAY(knMjcfSource) sources;
	KN_ARRAY(knMjcfPair) pairs;
	KN_ARRAY(knMjcfActuator) actuators;
	KN_ARRAY(knMjcfTendon) tendons;
	KN_ARRAY(knMjcfTendonPart) tendonParts;
	KN_ARRAY(knMjcfSensor) sensors;
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
	knNameTable siteNames, meshNames, materialNames, actuatorNames, tendonNames, hfieldNames, instanceNames,
		textureNames;

	// what becomes of it
	int* jointOrder;     // joints sorted by body
	int* jointStart;     // [joint] its first number in qpos
	knMjcfNode* nodes;   // one per body
	knMjcfShape* shapes; // one per geom
	KN_ARRAY(knMjcfLink) links;
	KN_ARRAY(knCouplingDef) couplings; // joint1 and joint2 hold indices of links until they are added
	const int* bodyOrder;              // knuckle.order.*: the order of adding, NULL: as they come
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
// Adds a line to the report; a line that was there already is counted instead. A note changes nothing that moves, an
// approximation a little, an omission much: it is an error in the end, unless the reader is lenient.
void knMjcf_Note(knMjcf* reader, const knMjcfElement* element, const char* format, ...) KN_PRINTF(3, 4);
void knMjcf_Approximate(knMjcf* reader, const knMjcfElement* element, const char* format, ...)
	KN_PRINTF(3, 4);
bool knMjcf_Omit(knMjcf* reader, const knMjcfElement* element, const char* format, ...) KN_PRINTF(3, 4);
// Refuses a file with omissions, unless the reader is lenient.
bool knMjcf_CheckOmissions(knMjcf* reader);
// Hands the notes over; false when out of memory.
bool knMjcf_TakeReport(knMjcf* reader, knLoadReport* report);
// A copy in the reader's arena; NULL (and the reader has failed) when out of memory.
const char* knMjcf_CopyText(knMjcf* reader, const char* text);

// --- mjcf_elements.c ---

// Where a tag stands.
typedef enum knMjcfPlace {
	KN_MJCF_IN_DOCUMENT,
	KN_MJCF_IN_MUJOCO,
	KN_MJCF_IN_DEFAULT,
	KN_MJCF_IN_BODY,
	KN_MJCF_IN_ATTACHED, // the <worldbody> of a model that is attached
	KN_MJCF_IN_EQUALITY,
	KN_MJCF_IN_CONTACT,
	KN_MJCF_IN_KEYFRAME,
	KN_MJCF_IN_CUSTOM,
	KN_MJCF_IN_ASSET,
	KN_MJCF_IN_ACTUATOR,
	KN_MJCF_IN_ACTUATOR_PLUGIN,
	KN_MJCF_IN_EXTENSION,
	KN_MJCF_IN_PLUGIN,
	KN_MJCF_IN_INSTANCE,
	KN_MJCF_IN_TENDON,
	KN_MJCF_IN_TENDON_PATH,
	KN_MJCF_IN_SENSOR,
	KN_MJCF_IN_OPTION,
	KN_MJCF_IN_LEAF, // an element that has no children we know
	KN_MJCF_IN_VISUAL,
	KN_MJCF_IN_MATERIAL,
	KN_MJCF_IN_DEFAULT_MATERIAL,
	KN_MJCF_IN_IGNORED, // inside something that was reported, or is only seen
} knMjcfPlace;

typedef struct knMjcfLevel {
	knMjcfPlace place;
	int index; // the body, class, tendon, actuator or instance
	int frame; // the <frame>, -1: none
} knMjcfLevel;

// A model that is being attached.
typedef struct knMjcfAttach {
	knMjcfLevel level;     // where <attach> stands
	const char* body;      // which body is taken, as its file calls it; NULL: all
	const char* prefix;    // of all names
	const char* rootClass; // what its outermost <default> is called
} knMjcfAttach;

// Reads an element that stands at `level`, and makes that the level of its children.
bool knMjcf_Open(knMjcf* reader, const knMjcfAttach* attach, const char* tag, const char** attributes,
				 knMjcfLevel* level);
// The world, the root class, and what MJCF assumes when a file does not say.
bool knMjcf_InitElements(knMjcf* reader);
bool knMjcf_PushCompiler(knMjcf* reader);

// --- mjcf_read.c ---

// Reads a file as if its content stood at `level`, or a model to attach.
bool knMjcf_ReadFile(knMjcf* reader, const char* name, const knMjcfLevel* level, const knMjcfAttach* attach);
// The path of `name` in `folder` (of the model's, NULL: that itself): refused if it leads out of the folder.
const char* knMjcf_Path(knMjcf* reader, const knMjcfElement* element, const char* tag, const char* folder,
						const char* name);

// What a file holds, in the reader's arena; NULL after an error.
unsigned char* knMjcf_FileBytes(knMjcf* reader, const knMjcfElement* element, const char* tag,
								const char* path, size_t most, size_t* size);

// --- mjcf_frames.c ---

// The class of a <frame>'s children, `bodyClass` if it says nothing.
bool knMjcf_FrameClass(knMjcf* reader, int frame, int bodyClass, int* index);
// Moves what stands in a <frame> to the frame of its body.
bool knMjcf_ResolveFrames(knMjcf* reader);

// --- mjcf_replicate.c ---

// A tag with its attributes, or (tag NULL) the end of one.
typedef struct knMjcfEvent {
	const char* tag;
	const char** attributes;
	int line, column;
} knMjcfEvent;

typedef KN_ARRAY(knMjcfEvent) knMjcfEvents;

typedef struct knMjcfReplicate {
	int count;
	knVec3 offset;
	double euler[3];
	const char *separator, *childClass;
	const char* outer; // the suffix around it, NULL: none
	knVec3 at;         // of the next copy. knMjcf_BeginReplica
} knMjcfReplicate;

bool knMjcf_ReadReplicate(knMjcf* reader, const char** attributes, knMjcfReplicate* replicate);
bool knMjcf_Record(knMjcf* reader, knMjcfEvents* events, const char* tag, const char** attributes);
// Refuses to repeat too much, with what the <replicate>s in it repeat.
bool knMjcf_CountReplicas(knMjcf* reader, const knMjcfReplicate* replicate, const knMjcfEvents* events);
// The frame and the suffix of copy i.
bool knMjcf_BeginReplica(knMjcf* reader, knMjcfReplicate* replicate, int i, knMjcfLevel* level);

// --- mjcf_build.c ---

// A name that no other of the table has, for what the file leaves unnamed: the scene's own choice could be taken by a name
// that comes later. NULL when out of memory.
const char* knMjcf_FreshName(knMjcf* reader, knNameTable* table, const char* kind, int index);

// --- mjcf_assets.c ---

// What follows the last slash.
const char* knMjcf_BaseName(const char* path);

typedef struct knMjcfMeshData {
	knVec3* vertices; // scaled and moved
	int vertexCount;
	knTriangle* triangles;
	int triangleCount;
	knGeom* hull;     // retained; NULL: not needed so far
	knGeom* surface;  // to look at, likewise
	knGeom* solid;    // to collide as it is, likewise
	bool open;        // it has no inside
	knMassProps unit; // at density 1
	bool weighed;
} knMjcfMeshData;

// What knuckle.mesh says of it, retained; NULL after an error.
knGeom* knMjcf_MeshAsItIs(knMjcf* reader, const knMjcfElement* element, knMjcfMesh* mesh);
// The mesh of that name, read; NULL after an error.
knMjcfMesh* knMjcf_FindMesh(knMjcf* reader, const knMjcfElement* element, const char* name);
// Its convex hull, retained by the caller; its mass at density 1, as MuJoCo counts it.
knGeom* knMjcf_MeshHull(knMjcf* reader, const knMjcfElement* element, knMjcfMesh* mesh);
// The mesh as it is where the caller asked for it and it is closed, else its hull; retained by the caller.
knGeom* knMjcf_MeshSolid(knMjcf* reader, const knMjcfElement* element, knMjcfMesh* mesh);
const knMassProps* knMjcf_MeshMass(knMjcf* reader, const knMjcfElement* element, knMjcfMesh* mesh);
// A surface to look at, retained by the caller; NULL: it cannot be had, which is noted, or the reader has failed.
knGeom* knMjcf_MeshSurface(knMjcf* reader, const knMjcfGeom* geom);
// A primitive fitted to the mesh: its sizes, and its frame in the mesh's.
bool knMjcf_FitMesh(knMjcf* reader, const knMjcfGeom* geom, knMjcfMesh* mesh, double size[3], knFrame* frame);
void knMjcf_FreeMeshes(knMjcf* reader);

// --- mjcf_hfield.c ---

// The height field of that name, retained by the caller; NULL after an error.
knGeom* knMjcf_Hfield(knMjcf* reader, const knMjcfGeom* geom);
// That those without a file say how many points they have.
bool knMjcf_CheckHfields(knMjcf* reader);
void knMjcf_FreeHfields(knMjcf* reader);

// --- mjcf_control.c ---

// A sensor's tag and the probe it becomes.
const struct knMjcfSensorRow* knMjcf_FindSensor(const char* tag);
const char* knMjcf_SensorTag(knProbeKind kind);
// The site of that name: its node's owner, and its frame there.
bool knMjcf_FindSite(knMjcf* reader, const knMjcfElement* element, const char* tag, const char* name,
					 int* owner, knFrame* frame);
bool knMjcf_FindJoint(knMjcf* reader, const knMjcfElement* element, const char* tag, const char* name,
					  knMjcfJoint** joint);
// Adds tendons, couplings, actuators and sensors to the scene.
bool knMjcf_AddControl(knMjcf* reader);
// Whether it has a state of its own, which keyframes count.
bool knMjcf_HasActivation(const knMjcfActuator* actuator);

// --- mjcf_muscle.c ---

// Completes the numbers of a <muscle>, or of a <general> whose class has a <muscle>.
void knMjcf_MakeMuscle(knMjcfActuator* actuator);
// The law of a muscle; `shift` is what the scene's length lacks of MuJoCo's.
bool knMjcf_PlanMuscle(knMjcf* reader, const knMjcfActuator* a, double shift, knActuatorDef* def,
					   bool* known);

// --- mjcf_looks.c ---

// Textures, materials and lights, when the bodies are in the scene.
bool knMjcf_AddLooks(knMjcf* reader);
// Red, green, blue and, where it is given, opacity, as of a shape.
uint32_t knMjcf_Color(const double rgba[4], int count);
void knMjcf_ReadGlobal(knMjcf* reader, const char** attributes);
void knMjcf_ReadCamera(knMjcf* reader, const char** attributes);

// --- mjcf_options.c ---

// Mistakes in <compiler> and <option>.
bool knMjcf_CheckCompiler(knMjcf* reader);
// Takes out of the elements what <flag> and <option> switch off.
bool knMjcf_ApplyOptions(knMjcf* reader);

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
const knMjcfCompiler* knMjcf_Compiler(const knMjcf* reader, const knMjcfElement* element);
// Degrees or radians, as the element's compiler says, to radians.
double knMjcf_Angle(const knMjcf* reader, const knMjcfElement* element, double value);
int knMjcf_JointNq(const knMjcfJoint* joint);
int knMjcf_JointNv(const knMjcfJoint* joint);
double knMjcf_JointRef(const knMjcf* reader, const knMjcfJoint* joint);
// Chooses the keyframe (by name, else what knuckle.keyframe says) and checks its length.
// That all keyframes have as many numbers as the model takes.
bool knMjcf_CheckKeys(knMjcf* reader);
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
bool knMjcf_IsLimited(const knMjcfJoint* joint);
// True if several joints of a body are together one joint of the vocabulary.
bool knMjcf_IsOneJoint(const knMjcfJoint* const* joints, int count);

// --- mjcf_split.c ---

// Puts bodies between joints that are together none of the vocabulary; after knMjcf_CheckJoints, before nodes.
bool knMjcf_SplitBodies(knMjcf* reader);
// Their masses, and that what they join does not touch.
void knMjcf_WeighSplit(knMjcf* reader);
bool knMjcf_ExcludeSplit(knMjcf* reader);

// --- mjcf_joint_masses.c ---

// The inertia that a hinge or slide moves in the reference pose, armature included.
bool knMjcf_JointMasses(knMjcf* reader, double* masses);
// Stiffness and damping of joints with a springdamper; when masses and reference poses are known.
bool knMjcf_ApplySpringDampers(knMjcf* reader);

// --- mjcf_equality.c ---

bool knMjcf_PlanEqualities(knMjcf* reader);
// When the joints are in the scene.
bool knMjcf_FitLoops(knMjcf* reader);
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
