// The elements of an MJCF file, as they are written: one struct for each kind, with what was given and where.
//
// They are filled by mjcf_fields.c, from tables of attributes; what is not given is filled from the defaults of classes.
#pragma once

#include "core/arena.h"
#include "core/array.h"
#include "core/table.h"
#include "knuckle/control.h"
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
#define KN_MJCF_BIT(bit) (UINT64_C(1) << (bit))
#define KN_MJCF_ORIENTATION_BITS                                                                             \
	(KN_MJCF_BIT(KN_MJCF_QUAT) | KN_MJCF_BIT(KN_MJCF_AXISANGLE) | KN_MJCF_BIT(KN_MJCF_EULER) |               \
	 KN_MJCF_BIT(KN_MJCF_XYAXES) | KN_MJCF_BIT(KN_MJCF_ZAXIS))

typedef struct knMjcfNumbers {
	const double* items;
	int count;
} knMjcfNumbers;

// The common part, first in every element.
typedef struct knMjcfElement {
	int line, column;
	int file;       // index in reader->files
	int compiler;   // whose angles and folders hold: index in reader->compilers
	int frame;      // the <frame> it stands in, -1: none
	uint64_t given; // which attributes were written (after knMjcf_Inherit: or inherited)
	const char* name;
	const char* className;
	knVec3 pos;
	double orientation[6]; // in the spelling that `given` names
	uint8_t counts[64]; // by bit: of attributes that take fewer numbers than there are, how many were written
} knMjcfElement;

static inline bool knMjcf_Given(const knMjcfElement* element, int bit) {
	return (element->given & KN_MJCF_BIT(bit)) != 0;
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
	const char *meshFolder, *assetFolder, *textureFolder;
	int stripPath, balanceInertia, discardVisual, fitBox, exactInertia;
	double boundMass, boundInertia, totalMass; // at least; of all bodies together, 0 or less: as it is
} knMjcfCompiler;

// A <frame> in a body.
typedef struct knMjcfFrame {
	knMjcfElement element;
	const char* childClass;
} knMjcfFrame;

typedef struct knMjcfOption {
	knMjcfElement element;
	double timestep;
	knVec3 gravity;
	double density, viscosity;
	knVec3 wind;
	int collision;
} knMjcfOption;
enum { KN_MJCF_COLLISION_ALL, KN_MJCF_COLLISION_PREDEFINED, KN_MJCF_COLLISION_DYNAMIC };

// What <flag> may switch off; others are the solver's own business.
typedef struct knMjcfFlag {
	knMjcfElement element;
	int gravity, contact, constraint, equality, frictionloss, limit, passive, spring, damper, actuation,
		clampCtrl, filterParent;
} knMjcfFlag;

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
	KN_MJCF_GEOM_MESH,
	KN_MJCF_GEOM_MATERIAL,
	KN_MJCF_GEOM_FITSCALE,
	KN_MJCF_GEOM_SHELL,
	KN_MJCF_GEOM_HFIELD,
};
// All but the last are understood.
enum {
	KN_MJCF_SPHERE,
	KN_MJCF_CAPSULE,
	KN_MJCF_BOX,
	KN_MJCF_PLANE,
	KN_MJCF_CYLINDER,
	KN_MJCF_ELLIPSOID,
	KN_MJCF_MESH,
	KN_MJCF_HFIELD,
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
	int rgbaCount;
	const char *mesh, *material, *hfield;
	double fitScale;
	int shell;
	bool paired; // named by a <pair>
} knMjcfGeom;

typedef struct knMjcfSite {
	knMjcfElement element;
	int body;
} knMjcfSite;

enum {
	KN_MJCF_MESH_FILE = KN_MJCF_OWN,
	KN_MJCF_MESH_SCALE,
	KN_MJCF_MESH_VERTEX,
	KN_MJCF_MESH_FACE,
	KN_MJCF_MESH_REFPOS,
	KN_MJCF_MESH_REFQUAT,
	KN_MJCF_MESH_INERTIA,
};
enum { KN_MJCF_MESH_CONVEX, KN_MJCF_MESH_EXACT, KN_MJCF_MESH_LEGACY, KN_MJCF_MESH_SHELL };

enum {
	KN_MJCF_MATERIAL_RGBA = KN_MJCF_OWN,
	KN_MJCF_MATERIAL_TEXTURE,
	KN_MJCF_MATERIAL_REPEAT,
	KN_MJCF_MATERIAL_UNIFORM,
	KN_MJCF_MATERIAL_EMISSION,
	KN_MJCF_MATERIAL_SPECULAR,
	KN_MJCF_MATERIAL_SHININESS,
	KN_MJCF_MATERIAL_REFLECTANCE,
	KN_MJCF_MATERIAL_METALLIC,
	KN_MJCF_MATERIAL_ROUGHNESS,
};

typedef struct knMjcfMaterial {
	knMjcfElement element;
	double rgba[4];
	int rgbaCount;
	const char* texture;
	double repeat[2];
	int uniform;
	double emission, specular, shininess, reflectance, metallic, roughness;
	int number; // in the scene. mjcf_looks.c
} knMjcfMaterial;

// A <layer> of a material that has several textures.
typedef struct knMjcfLayer {
	knMjcfElement element;
	const char *texture, *role;
} knMjcfLayer;

enum { KN_MJCF_TEXTURE_FLAT, KN_MJCF_TEXTURE_CUBE, KN_MJCF_TEXTURE_SKYBOX };

typedef struct knMjcfTexture {
	knMjcfElement element;
	const char* file;
	int type, builtin, mark;
	double rgb1[3], rgb2[3], markRgb[3], random;
	int width, height;
	int number; // in the scene
} knMjcfTexture;

enum {
	KN_MJCF_LIGHT_DIRECTION = KN_MJCF_OWN,
	KN_MJCF_LIGHT_DIRECTIONAL,
	KN_MJCF_LIGHT_TYPE,
	KN_MJCF_LIGHT_ACTIVE,
	KN_MJCF_LIGHT_SHADOW,
	KN_MJCF_LIGHT_AMBIENT,
	KN_MJCF_LIGHT_DIFFUSE,
	KN_MJCF_LIGHT_SPECULAR,
	KN_MJCF_LIGHT_ATTENUATION,
	KN_MJCF_LIGHT_CUTOFF,
	KN_MJCF_LIGHT_EXPONENT,
};
enum { KN_MJCF_LIGHT_IS_SPOT, KN_MJCF_LIGHT_IS_DIRECTIONAL, KN_MJCF_LIGHT_IS_POINT, KN_MJCF_LIGHT_IS_IMAGE };

typedef struct knMjcfLight {
	knMjcfElement element;
	int body;
	knVec3 direction;
	int directional, type, active, castsShadow;
	double ambient[3], diffuse[3], specular[3], attenuation[3], cutoff, exponent;
} knMjcfLight;

typedef struct knMjcfHfield {
	knMjcfElement element;
	const char* file;
	int rows, columns;
	double size[4]; // half extents along x and y, height of the highest point, depth of the base
	knMjcfNumbers elevation;
	knGeom* geom; // retained; NULL: not needed so far. mjcf_hfield.c
} knMjcfHfield;

// A model that <attach> takes bodies from.
typedef struct knMjcfSource {
	knMjcfElement element;
	const char* file;
} knMjcfSource;

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
	KN_MJCF_JOINT_ARMATURE,
	KN_MJCF_JOINT_FORCERANGE,
	KN_MJCF_JOINT_FORCELIMITED,
	KN_MJCF_JOINT_SPRINGDAMPER,
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
	double damping, stiffness, springref, frictionloss, ref, armature;
	double forceRange[2];
	int forceLimited;
	double springDamper[2];
	int link, linkAxis; // what became of it: link -1: none (a free body). knMjcf_PlanJoints
	double sign;        // of the link's axis against the joint's
	double turns;       // its coordinate is MuJoCo's plus this
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
	int carries;  // put between the joints of this body; -1: written by the file. knMjcf_SplitBodies
} knMjcfBody;

enum {
	KN_MJCF_EQUALITY_BODY1 = KN_MJCF_OWN,
	KN_MJCF_EQUALITY_BODY2,
	KN_MJCF_EQUALITY_ANCHOR,
	KN_MJCF_EQUALITY_RELPOSE,
	KN_MJCF_EQUALITY_ACTIVE,
	KN_MJCF_EQUALITY_SITE1,
	KN_MJCF_EQUALITY_SITE2,
	KN_MJCF_EQUALITY_JOINT1,
	KN_MJCF_EQUALITY_JOINT2,
	KN_MJCF_EQUALITY_POLYCOEF,
	KN_MJCF_EQUALITY_SOLREF,
};

typedef struct knMjcfEquality {
	knMjcfElement element;
	enum { KN_MJCF_CONNECT, KN_MJCF_WELD, KN_MJCF_COUPLE } kind;
	const char *body1, *body2;
	const char *site1, *site2;
	const char *joint1, *joint2;
	double polynomial[5];
	double solref[2];
	int solrefCount;
	knVec3 anchor;
	double relpose[7];
	int active;
} knMjcfEquality;

typedef struct knMjcfExclude {
	knMjcfElement element;
	const char* body1;
	const char* body2;
} knMjcfExclude;

typedef struct knMjcfPair {
	knMjcfElement element;
	const char *geom1, *geom2;
	double friction[5];
	int frictionCount, condim;
	int first, second; // geoms. knMjcf_PlanShapes
} knMjcfPair;

enum {
	KN_MJCF_KEY_TIME = KN_MJCF_OWN,
	KN_MJCF_KEY_QPOS,
	KN_MJCF_KEY_QVEL,
	KN_MJCF_KEY_CTRL,
	KN_MJCF_KEY_ACT,
	KN_MJCF_KEY_MPOS,
	KN_MJCF_KEY_MQUAT
};

typedef struct knMjcfKey {
	knMjcfElement element;
	double time;
	knMjcfNumbers qpos, qvel, ctrl, act, mpos, mquat;
} knMjcfKey;

typedef struct knMjcfMesh {
	knMjcfElement element;
	const char* file;
	knVec3 scale, refPos;
	double refQuat[4];
	knMjcfNumbers vertex, face;
	int inertia;
	enum { KN_MJCF_MESH_HULL, KN_MJCF_MESH_SURFACE, KN_MJCF_MESH_SOLID } collides; // knuckle.mesh
	double tolerance;                                                              // of a solid's field
	struct knMjcfMeshData* data; // read when a geom needs it. mjcf_assets.c
} knMjcfMesh;

enum {
	KN_MJCF_ACTUATOR_JOINT = KN_MJCF_OWN,
	KN_MJCF_ACTUATOR_JOINTINPARENT,
	KN_MJCF_ACTUATOR_TENDON,
	KN_MJCF_ACTUATOR_SITE,
	KN_MJCF_ACTUATOR_REFSITE,
	KN_MJCF_ACTUATOR_OTHER, // body, crank and slider: not understood
	KN_MJCF_ACTUATOR_GEAR,
	KN_MJCF_ACTUATOR_CTRLRANGE,
	KN_MJCF_ACTUATOR_FORCERANGE,
	KN_MJCF_ACTUATOR_ACTRANGE,
	KN_MJCF_ACTUATOR_CTRLLIMITED,
	KN_MJCF_ACTUATOR_FORCELIMITED,
	KN_MJCF_ACTUATOR_ACTLIMITED,
	KN_MJCF_ACTUATOR_DYNTYPE,
	KN_MJCF_ACTUATOR_GAINTYPE,
	KN_MJCF_ACTUATOR_BIASTYPE,
	KN_MJCF_ACTUATOR_DYNPRM,
	KN_MJCF_ACTUATOR_GAINPRM,
	KN_MJCF_ACTUATOR_BIASPRM,
	KN_MJCF_ACTUATOR_KP,
	KN_MJCF_ACTUATOR_KV,
	KN_MJCF_ACTUATOR_DAMPRATIO,
	KN_MJCF_ACTUATOR_TIMECONST,
	KN_MJCF_ACTUATOR_INHERITRANGE,
	KN_MJCF_ACTUATOR_GAIN,
	KN_MJCF_ACTUATOR_PLUGIN,
	KN_MJCF_ACTUATOR_INSTANCE,
	KN_MJCF_ACTUATOR_LENGTHRANGE,
	KN_MJCF_ACTUATOR_ISMUSCLE, // of a class with a <muscle>
	KN_MJCF_ACTUATOR_TAUSMOOTH,
	KN_MJCF_ACTUATOR_MUSCLE, // the numbers of <muscle>, in the order of KN_MJCF_MUSCLE_RANGE...
	KN_MJCF_ACTUATOR_MUSCLE_END = KN_MJCF_ACTUATOR_MUSCLE + 9,
};
enum {
	KN_MJCF_DYN_NONE,
	KN_MJCF_DYN_INTEGRATOR,
	KN_MJCF_DYN_FILTER,
	KN_MJCF_DYN_EXACT,
	KN_MJCF_DYN_MUSCLE,
	KN_MJCF_DYN_OTHER
};
enum { KN_MJCF_GAIN_FIXED, KN_MJCF_GAIN_AFFINE, KN_MJCF_GAIN_MUSCLE, KN_MJCF_GAIN_OTHER };
enum { KN_MJCF_BIAS_NONE, KN_MJCF_BIAS_AFFINE, KN_MJCF_BIAS_MUSCLE, KN_MJCF_BIAS_OTHER };
// The first nine of gainprm and biasprm of a muscle.
enum {
	KN_MJCF_MUSCLE_RANGE,
	KN_MJCF_MUSCLE_FORCE = 2,
	KN_MJCF_MUSCLE_SCALE,
	KN_MJCF_MUSCLE_LMIN,
	KN_MJCF_MUSCLE_LMAX,
	KN_MJCF_MUSCLE_VMAX,
	KN_MJCF_MUSCLE_FPMAX,
	KN_MJCF_MUSCLE_FVMAX,
	KN_MJCF_MUSCLE_COUNT
};
typedef enum knMjcfActuatorKind {
	KN_MJCF_GENERAL,
	KN_MJCF_MOTOR,
	KN_MJCF_POSITION,
	KN_MJCF_VELOCITY,
	KN_MJCF_INTVELOCITY,
	KN_MJCF_DAMPER,
	KN_MJCF_ADHESION,
	KN_MJCF_PLUGIN,
	KN_MJCF_MUSCLE,
} knMjcfActuatorKind;

typedef struct knMjcfActuator {
	knMjcfElement element;
	knMjcfActuatorKind kind;
	const char *joint, *jointInParent, *tendon, *site, *refSite, *other;
	double gear[6];
	double ctrlRange[2], forceRange[2], actRange[2];
	int ctrlLimited, forceLimited, actLimited;
	int dynType, gainType, biasType;
	double dynPrm[10], gainPrm[10], biasPrm[10];
	double kp, kv, dampRatio, timeConst[2], inheritRange;
	double lengthRange[2];
	double muscle[KN_MJCF_MUSCLE_COUNT], muscleBlend; // of <muscle>; negative: not given
	double adhesion;                                  // N a unit of control
	const char *plugin, *instance;
	double config[5];      // of a plugin: in the order of knMjcfConfigWords
	double control, start; // knuckle.control
	int index;             // in the scene, -1: not added
} knMjcfActuator;

// The configuration of a plugin under a name of its own; actuators refer to it.
typedef struct knMjcfInstance {
	knMjcfElement element;
	double config[5];
} knMjcfInstance;

// What mujoco.pid is configured by.
enum { KN_MJCF_PID_KP, KN_MJCF_PID_KI, KN_MJCF_PID_KD, KN_MJCF_PID_IMAX, KN_MJCF_PID_SLEWMAX };

enum {
	KN_MJCF_TENDON_STIFFNESS = KN_MJCF_OWN,
	KN_MJCF_TENDON_DAMPING,
	KN_MJCF_TENDON_FRICTIONLOSS,
	KN_MJCF_TENDON_SPRINGLENGTH,
	KN_MJCF_TENDON_RANGE,
	KN_MJCF_TENDON_LIMITED,
	KN_MJCF_TENDON_ARMATURE,
	KN_MJCF_TENDON_OTHER,
};

typedef struct knMjcfTendon {
	knMjcfElement element;
	bool spatial;
	int first, count; // parts
	double stiffness, damping, frictionloss, armature;
	double springLength[2], range[2];
	int springCount, limited;
	int index; // in the scene, -1: not added
} knMjcfTendon;

typedef enum knMjcfTendonPartKind {
	KN_MJCF_PART_JOINT,
	KN_MJCF_PART_SITE,
	KN_MJCF_PART_GEOM,
	KN_MJCF_PART_PULLEY,
} knMjcfTendonPartKind;

typedef struct knMjcfTendonPart {
	knMjcfElement element;
	knMjcfTendonPartKind kind;
	const char* target;
	const char* side;
	double number; // coef or divisor
} knMjcfTendonPart;

typedef struct knMjcfSensor {
	knMjcfElement element;
	const struct knMjcfSensorRow* row;
	const char *site, *joint, *tendon, *actuator, *body, *geom;
	const char *objectType, *object, *reference;
} knMjcfSensor;

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
	knMjcfSite site;
	knMjcfMesh mesh;
	knMjcfMaterial material;
	knMjcfLight light;
	knMjcfActuator actuator;
	knMjcfTendon tendon;
	knMjcfPair pair;
} knMjcfClass;
