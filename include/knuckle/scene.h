// The authored scene: bodies, shapes, joints and settings, checked and named. Of steppers it
// knows a name and settings, which a world may override.
//
// Author a scene (by hand, a loader or a catalogue builder), compile it into a knModel, simulate it in any number
// of knWorlds (world.h). Defs are plain structs: begin with the _Default function, change what differs. Every add
// function copies what it is given (names too), checks it, and returns a null id and an error when it is refused.
#pragma once

#include "knuckle/collide.h"
#include "knuckle/id.h"
#include "knuckle/stepper.h"
#include "knuckle/vecmath.h"

KN_BEGIN_C

typedef struct knScene knScene;

// --- bodies ----------------------------------------------------------------------------------------------

typedef enum knBodyKind {
	KN_BODY_DYNAMIC,   // moved by forces, contacts and joints
	KN_BODY_KINEMATIC, // moved by its own velocity, which the user sets; pushes others, is not pushed
	KN_BODY_FIXED,     // does not move
} knBodyKind;

typedef struct knBodyDef {
	const char* name; // unique; NULL: "body7"
	knBodyKind kind;
	knFrame frame;   // the body frame in the world; shapes and joints are placed in it
	knVec3 velocity; // of the centre of mass
	knVec3 angularVelocity;
	bool hasMass;          // use `mass` instead of the shapes' density
	knMassProps mass;      // in the body frame, inertia about the centre
	double gravityScale;   // 1
	double linearDamping;  // 1/s, velocity decays as exp(-c t); 0
	double angularDamping; // 1/s; 0
	bool fast; // must not tunnel: followed along its way in every step (docs/collision.md). Bodies without
			   // joints that move farther than their size in a step are so even if this is false
	uint32_t color; // 0xTTRRGGBB, TT: how transparent, 0 solid, 255 not seen; 0: chosen by the viewer
	void* userData;
} knBodyDef;

KN_API knBodyDef knBodyDef_Default(void);

// --- shapes ----------------------------------------------------------------------------------------------

// How the materials of two shapes combine.
typedef enum knCombine {
	KN_COMBINE_MIN,
	KN_COMBINE_AVERAGE,
	KN_COMBINE_GEOMETRIC,
	KN_COMBINE_MAX,
	KN_COMBINE_MULTIPLY
} knCombine;

// What a shape is for.
typedef enum knShapeRole {
	KN_SHAPE_WHOLE,  // it touches, weighs and is drawn
	KN_SHAPE_LOOKS,  // it is only drawn: touches nothing, weighs nothing; any mesh may be on any body
	KN_SHAPE_HIDDEN, // it touches and weighs, and is not drawn
} knShapeRole;

typedef struct knShapeDef {
	const char* name;       // may be NULL
	knFrame frame;          // in the body frame
	double density;         // kg/m3, 1000
	double friction;        // 0.6
	double restitution;     // 0
	double rollingFriction; // m (arm of the rolling resistance), 0
	knFilter filter;
	bool sensor; // reports begin and end, is never solid, has no mass
	knShapeRole role;
	uint32_t color; // as of a body; 0: the material's, or the body's
	int material;   // how it looks: a number from knScene_AddMaterial (looks.h); 0: none
	void* userData;
} knShapeDef;

KN_API knShapeDef knShapeDef_Default(void);

// --- joints ----------------------------------------------------------------------------------------------

// One vocabulary; in brackets the papers' names. The joint frame's x axis is the distinguished one.
typedef enum knJointKind {
	KN_JOINT_BALL,      // (point, spherical) three turns
	KN_JOINT_HINGE,     // (twist, revolute) a turn about x
	KN_JOINT_SLIDER,    // (prismatic) a slide along x
	KN_JOINT_SLIDER2,   // slides along x and y
	KN_JOINT_SLIDER3,   // slides along x, y and z, no turn
	KN_JOINT_UNIVERSAL, // a turn about the parent's x, then about the child's z
	KN_JOINT_CYLINDER,  // a slide along x and a turn about x
	KN_JOINT_PLANAR,    // slides along x and y and a turn about z (the fridge magnet)
	KN_JOINT_FREE,      // six degrees of freedom: no constraint, but coordinates, springs and motors
	KN_JOINT_FIXED,     // (rigid) none
	KN_JOINT_CUSTOM,    // a user's black box
	KN_JOINT_KIND_COUNT,
} knJointKind;

KN_API const char* knJointKind_Name(knJointKind kind);
// Also takes the papers' names; KN_JOINT_KIND_COUNT if unknown.
KN_API knJointKind knJointKind_Find(const char* name);

typedef enum knMotorMode {
	KN_MOTOR_OFF,
	KN_MOTOR_VELOCITY, // hold `motorTarget` (rad/s, m/s)
	KN_MOTOR_POSITION, // servo: reach `motorTarget` (rad, m) and hold it
	KN_MOTOR_FORCE,    // apply `motorTarget` (N m, N)
} knMotorMode;

// The parts of one degree of freedom, in the order of the joint's velocity coordinates. A ball joint's three axes
// are x, y, z of the child joint frame and take friction, damping, motor and spring; its limits are `cone` and `twist`.
typedef struct knJointAxis {
	bool limited;
	double lower, upper; // rad or m; lower <= upper, equal locks the axis
	double friction;     // N m or N, dry, opposes motion
	// Dry friction that grows with the load: it opposes motion by up to friction + bearing * load. A turn's is the
	// coefficient times the bearing's radius, m; a slide's is the coefficient alone. The load is the force, N, of the
	// joint's locked directions: of hinges, universal joints and cylinders the part across the axis, else the whole.
	double bearing;
	double damping; // N m s or N s/m, viscous
	knMotorMode motorMode;
	double motorTarget;
	double motorMaxForce;          // N m or N
	double stiffness;              // N m/rad or N/m, a spring towards `rest`
	double rest;                   // rad or m
	double armature;               // kg m2 or kg: inertia of a motor that turns or slides with the axis alone
	bool driveLimited;             // the actuators of the axis (control.h) push together no more than
	double driveLower, driveUpper; // N m or N; lower <= 0 <= upper
} knJointAxis;

// A user's joint: two pure functions, callable from any thread. `joint` is the child's joint frame seen from the
// parent's. `velocity` is that of the child relative to the parent, taken at the child's joint origin, in the
// axes of the parent's joint frame. Both return the closest allowed value.
typedef struct knCustomJoint {
	knFrame (*projectState)(knFrame joint, void* context);
	knTwist (*projectVelocity)(knFrame joint, knTwist velocity, void* context);
	void* context;
} knCustomJoint;

#define KN_REACH_MAX 16

// The twist that a ball joint allows where its x axis points at a corner of its reach cone.
typedef struct knReachTwist {
	bool own;            // false: the joint's
	double lower, upper; // rad
} knReachTwist;

typedef struct knJointDef {
	const char* name; // unique; NULL: "joint7"
	knJointKind kind;
	knBodyId parent;     // null: the world
	knBodyId child;      // null: the world (not both)
	knFrame frameParent; // the joint frame in the parent's body frame
	knFrame frameChild;  // and in the child's
	knJointAxis axis[6]; // the first nv are used
	bool coneLimited;    // ball: the child's x axis stays in an elliptic cone about the parent's
	double coneY, coneZ; // rad, largest swing about y and about z
	// ball, instead of a cone: corners of a reach cone, directions of the child's x axis in the parent's joint frame, once
	// around its x axis, anticlockwise seen from its tip, every side seen from there; need not be convex
	int reachCount; // 3 or more; 0: none
	knVec3 reach[KN_REACH_MAX];
	bool twistLimited; // ball: turn about x
	double twistLower, twistUpper;
	// with a reach cone, twist limits that depend on the direction: between the parent's x axis, where they are those
	// above, and the two corners whose triangle the direction is in, they are interpolated, on the boundary along the side
	knReachTwist reachTwist[KN_REACH_MAX];
	bool collide;         // the two bodies may touch; false
	bool enabled;         // true
	bool loop;            // never part of the spanning tree: closes a loop; false
	double maxForce;      // N, linear reaction above which the joint releases; 0: never
	knCustomJoint custom; // KN_JOINT_CUSTOM only
	void* userData;
} knJointDef;

KN_API knJointDef knJointDef_Default(knJointKind kind);

// Places both frames so that the joint is closed at the bodies' present poses: world anchor point and axis (the
// joint's x; z for planar). The bodies must be in the scene.
KN_API knStatus knJointDef_At(knJointDef* def, const knScene* scene, knBodyId parent, knBodyId child,
							  knVec3 anchor, knVec3 axis, knError* error);

// --- scene -----------------------------------------------------------------------------------------------

// From where a page first looks at a scene: the direction of the eye from the middle of the action, degrees about z from x
// and above the horizon. The distance is such that the action fills the picture, divided by `zoom`; 0: the page's choice.
typedef struct knViewDef {
	double azimuth, elevation;
	double zoom;
} knViewDef;

typedef struct knSceneDef {
	const char* name;
	knVec3 gravity;               // (0, 0, -9.81)
	double dt;                    // the suggested time step, 0.01
	const char* stepper;          // the suggested stepper, "velocity"
	knSettings settings;          // stepper settings
	knCombine frictionCombine;    // geometric mean
	knCombine restitutionCombine; // larger of the two
	int jointCapacity;            // joints that worlds may attach at run time without allocating
	double mediumDensity;         // kg/m3, what bodies move in; 0: nothing
	double mediumViscosity;       // Pa s; 0
	knViewDef view;               // for pictures; none
} knSceneDef;

KN_API knSceneDef knSceneDef_Default(void);

KN_API knScene* knScene_Create(const knSceneDef* def, const knAllocator* allocator, knError* error);
KN_API void knScene_Destroy(knScene* scene);
// A deep copy that shares geometry.
KN_API knScene* knScene_Clone(const knScene* scene, knError* error);
// The scene's own def, to read or to change (gravity, dt, settings); strings are the scene's copies: use
// knScene_SetName and knScene_SetStepper for those.
KN_API knSceneDef* knScene_Def(knScene* scene);
KN_API const knSceneDef* knScene_GetDef(const knScene* scene);
KN_API knStatus knScene_SetName(knScene* scene, const char* name, knError* error);
KN_API knStatus knScene_SetStepper(knScene* scene, const char* stepper, knError* error);

KN_API knBodyId knScene_AddBody(knScene* scene, const knBodyDef* def, knError* error);
KN_API knShapeId knScene_AddShape(knScene* scene, knBodyId body, const knGeom* geom, const knShapeDef* def,
								  knError* error);
KN_API knJointId knScene_AddJoint(knScene* scene, const knJointDef* def, knError* error);
// The two bodies never touch.
KN_API knStatus knScene_ExcludePair(knScene* scene, knBodyId a, knBodyId b, knError* error);

// Removing a body removes its shapes and joints.
KN_API knStatus knScene_RemoveBody(knScene* scene, knBodyId body, knError* error);
KN_API knStatus knScene_RemoveJoint(knScene* scene, knJointId joint, knError* error);

// Shorthand: geometry and shape in one call.
KN_API knShapeId knScene_AddSphere(knScene* scene, knBodyId body, double radius, const knShapeDef* def,
								   knError* error);
KN_API knShapeId knScene_AddBox(knScene* scene, knBodyId body, knVec3 halfExtents, const knShapeDef* def,
								knError* error);
KN_API knShapeId knScene_AddCapsule(knScene* scene, knBodyId body, double radius, double halfLength,
									const knShapeDef* def, knError* error);
KN_API knShapeId knScene_AddPlane(knScene* scene, knBodyId body, const knShapeDef* def, knError* error);
KN_API knShapeId knScene_AddCylinder(knScene* scene, knBodyId body, double radius, double halfLength,
									 const knShapeDef* def, knError* error);
KN_API knShapeId knScene_AddEllipsoid(knScene* scene, knBodyId body, knVec3 radii, const knShapeDef* def,
									  knError* error);
KN_API knShapeId knScene_AddHull(knScene* scene, knBodyId body, const knVec3* points, int count,
								 const knShapeDef* def, knError* error);
KN_API knShapeId knScene_AddMesh(knScene* scene, knBodyId body, const knMeshDef* mesh, const knShapeDef* def,
								 knError* error);
KN_API knShapeId knScene_AddHeightField(knScene* scene, knBodyId body, const knHeightFieldDef* field,
										const knShapeDef* def, knError* error);

// Reading. Indices run over slots 0 <= i < count, some of which may be removed (null id). A const def pointer stays
// valid until the scene's next change; one that is not const may be edited in place before the model is compiled
// (the compile checks it again).
KN_API int knScene_BodySlots(const knScene* scene);
KN_API int knScene_ShapeSlots(const knScene* scene);
KN_API int knScene_JointSlots(const knScene* scene);
KN_API knBodyId knScene_BodyAt(const knScene* scene, int slot);
KN_API knShapeId knScene_ShapeAt(const knScene* scene, int slot);
KN_API knJointId knScene_JointAt(const knScene* scene, int slot);
KN_API const knBodyDef* knScene_GetBody(const knScene* scene, knBodyId body);
KN_API const knShapeDef* knScene_GetShape(const knScene* scene, knShapeId shape);
KN_API const knGeom* knScene_GetShapeGeom(const knScene* scene, knShapeId shape);
KN_API knBodyId knScene_GetShapeBody(const knScene* scene, knShapeId shape);
KN_API const knJointDef* knScene_GetJoint(const knScene* scene, knJointId joint);
KN_API knBodyDef* knScene_EditBody(knScene* scene, knBodyId body);
KN_API knShapeDef* knScene_EditShape(knScene* scene, knShapeId shape);
KN_API knJointDef* knScene_EditJoint(knScene* scene, knJointId joint);
KN_API knBodyId knScene_FindBody(const knScene* scene, const char* name);
KN_API knJointId knScene_FindJoint(const knScene* scene, const char* name);
KN_API int knScene_ExcludedCount(const knScene* scene);
KN_API void knScene_GetExcluded(const knScene* scene, int index, knBodyId* a, knBodyId* b);

// The scene as a block of bytes, and back with the same bits: to send it elsewhere, such as the viewer's engine. For the
// same version of the library only. A custom joint is KN_UNSUPPORTED. Free the block by its size with the allocator.
KN_API knStatus knScene_ToBytes(const knScene* scene, const knAllocator* allocator, void** bytes,
								size_t* size, knError* error);
// Checks everything: bytes that are damaged or make no sense are KN_BAD_DATA.
KN_API knScene* knScene_FromBytes(const void* bytes, size_t size, const knAllocator* allocator,
								  knError* error);

// --- model -----------------------------------------------------------------------------------------------

// Compiled from a scene: immutable, reference counted, shared by any number of worlds and threads.
typedef struct knModel knModel;

// Checks the whole scene (masses, frames, joint ends, limits) and compiles it.
KN_API knModel* knModel_Create(const knScene* scene, knError* error);
KN_API void knModel_Retain(const knModel* model);
KN_API void knModel_Release(const knModel* model);
// The scene it was compiled from (the model's own copy).
KN_API const knScene* knModel_Scene(const knModel* model);
// Counts without the world body; degrees of freedom of all bodies less what enabled joints lock (at least 0).
KN_API int knModel_BodyCount(const knModel* model);
KN_API int knModel_JointCount(const knModel* model);
KN_API int knModel_DofCount(const knModel* model);
// Mass, centre and inertia of a body, in its body frame, as compiled.
KN_API knMassProps knModel_BodyMass(const knModel* model, knBodyId body);
// The i-th body (0 <= i < knModel_BodyCount) in the order of recordings.
KN_API knBodyId knModel_BodyAt(const knModel* model, int index);
KN_API knJointId knModel_JointAt(const knModel* model, int index);

KN_END_C
