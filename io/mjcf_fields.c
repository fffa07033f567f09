// Attributes. Each kind of element has a table: name, how its value is written, where it goes. What is in no table is
// reported; what is marked silent changes nothing here (colours, groups of geoms, folders of assets). mjcf_values.c reads by them.
#include "mjcf.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))
#define ELEMENT_TYPE(tag, fields)                                                                            \
	{ tag, fields, COUNT(fields), false }
// only seen: an attribute that is not known is no reason to refuse a file
#define LOOKS_TYPE(tag, fields)                                                                              \
	{ tag, fields, COUNT(fields), true }

#define REALS(text, bit, type, member, least, most)                                                          \
	{ .name = text, KN_MJCF_FIELD_REALS, bit, offsetof(type, member), least, most, 0, NULL }
#define REAL(text, bit, type, member) REALS(text, bit, type, member, 1, 1)
#define COUNTED(text, bit, type, member, count, least, most)                                                 \
	{                                                                                                        \
		.name = text, KN_MJCF_FIELD_REALS, bit, offsetof(type, member), least, most, offsetof(type, count),  \
		NULL                                                                                                 \
	}
#define WHOLE(text, bit, type, member, count, least, most)                                                   \
	{                                                                                                        \
		.name = text, KN_MJCF_FIELD_REALS, bit, offsetof(type, member), least, most, offsetof(type, count),  \
		NULL, true                                                                                           \
	}
#define NUMBERS(text, bit, type, member)                                                                     \
	{ .name = text, KN_MJCF_FIELD_NUMBERS, bit, offsetof(type, member), 0, 0, 0, NULL }
#define INT(text, bit, type, member)                                                                         \
	{ .name = text, KN_MJCF_FIELD_INT, bit, offsetof(type, member), 0, 0, 0, NULL }
#define WORD(text, bit, type, member, list)                                                                  \
	{ .name = text, KN_MJCF_FIELD_WORD, bit, offsetof(type, member), 0, 0, 0, list }
#define TEXT(text, bit, type, member)                                                                        \
	{ .name = text, KN_MJCF_FIELD_TEXT, bit, offsetof(type, member), 0, 0, 0, NULL }
#define NAMED(text, bit, type, member)                                                                       \
	{ .name = text, KN_MJCF_FIELD_NAME, bit, offsetof(type, member), 0, 0, 0, NULL }
#define NOTED(text)                                                                                          \
	{ .name = text, KN_MJCF_FIELD_NOTED, 0, 0, 0, 0, 0, NULL }
#define SILENT(text)                                                                                         \
	{ .name = text, KN_MJCF_FIELD_SILENT, 0, 0, 0, 0, 0, NULL }
// not followed, but a mistake in them is one
#define SILENT_REALS(text, least, most)                                                                      \
	{ .name = text, KN_MJCF_FIELD_SILENT, 0, 0, least, most, 0, NULL }
#define SILENT_WORD(text, list)                                                                              \
	{ .name = text, KN_MJCF_FIELD_SILENT, 0, 0, 0, 0, 0, list }
#define NOTED_REALS(text, least, most)                                                                       \
	{ .name = text, KN_MJCF_FIELD_NOTED, 0, 0, least, most, 0, NULL }

#define NAME NAMED("name", KN_MJCF_NAME, knMjcfElement, name)
#define CLASS NAMED("class", KN_MJCF_CLASS, knMjcfElement, className)
#define POS REALS("pos", KN_MJCF_POS, knMjcfElement, pos, 3, 3)
#define ORIENTATION                                                                                          \
	REALS("quat", KN_MJCF_QUAT, knMjcfElement, orientation, 4, 4),                                           \
		REALS("axisangle", KN_MJCF_AXISANGLE, knMjcfElement, orientation, 4, 4),                             \
		REALS("euler", KN_MJCF_EULER, knMjcfElement, orientation, 3, 3),                                     \
		REALS("xyaxes", KN_MJCF_XYAXES, knMjcfElement, orientation, 6, 6),                                   \
		REALS("zaxis", KN_MJCF_ZAXIS, knMjcfElement, orientation, 3, 3)

static const char* const boolWords[] = { "false", "true", NULL };
static const char* const autoWords[] = { "false", "true", "auto", NULL };
static const char* const angleWords[] = { "degree", "radian", NULL };
static const char* const coordinateWords[] = { "local", "global", NULL };
const char* const knMjcfGeomWords[] = { "sphere",    "capsule", "box",    "plane", "cylinder",
										"ellipsoid", "mesh",    "hfield", "sdf",   NULL };
const char* const knMjcfConfigWords[] = { "kp", "ki", "kd", "imax", "slewmax", NULL };
static const char* const jointWords[] = { "free", "ball", "slide", "hinge", NULL };

static const knMjcfField modelFields[] = { TEXT("model", KN_MJCF_OWN, knMjcfModel, model) };

static const knMjcfField compilerFields[] = {
	WORD("angle", KN_MJCF_OWN, knMjcfCompiler, angle, angleWords),
	WORD("coordinate", KN_MJCF_OWN, knMjcfCompiler, coordinate, coordinateWords),
	WORD("inertiafromgeom", KN_MJCF_OWN, knMjcfCompiler, inertiaFromGeom, autoWords),
	WORD("autolimits", KN_MJCF_OWN, knMjcfCompiler, autoLimits, boolWords),
	TEXT("eulerseq", KN_MJCF_OWN, knMjcfCompiler, eulerSequence),
	REALS("inertiagrouprange", KN_MJCF_OWN, knMjcfCompiler, inertiaGroups, 2, 2),
	TEXT("meshdir", KN_MJCF_OWN, knMjcfCompiler, meshFolder),
	TEXT("assetdir", KN_MJCF_OWN, knMjcfCompiler, assetFolder),
	TEXT("texturedir", KN_MJCF_OWN, knMjcfCompiler, textureFolder),
	WORD("strippath", KN_MJCF_OWN, knMjcfCompiler, stripPath, boolWords),
	REAL("boundmass", KN_MJCF_OWN, knMjcfCompiler, boundMass),
	REAL("boundinertia", KN_MJCF_OWN, knMjcfCompiler, boundInertia),
	REAL("settotalmass", KN_MJCF_OWN, knMjcfCompiler, totalMass),
	WORD("balanceinertia", KN_MJCF_OWN, knMjcfCompiler, balanceInertia, boolWords),
	WORD("discardvisual", KN_MJCF_OWN, knMjcfCompiler, discardVisual, boolWords),
	WORD("fitaabb", KN_MJCF_OWN, knMjcfCompiler, fitBox, boolWords),
	WORD("exactmeshinertia", KN_MJCF_OWN, knMjcfCompiler, exactInertia, boolWords),
	SILENT("usethread"),
	SILENT("saveinertial"),
	SILENT("convexhull"),
	SILENT("fusestatic"),
	SILENT("alignfree"),
	SILENT("conflict"),
};

static const char* const integratorWords[] = { "Euler", "RK4", "implicit", "implicitfast", NULL };
static const char* const coneWords[] = { "pyramidal", "elliptic", NULL };
static const char* const jacobianWords[] = { "dense", "sparse", "auto", NULL };
static const char* const solverWords[] = { "PGS", "CG", "Newton", NULL };
static const char* const collisionWords[] = { "all", "predefined", "dynamic", NULL };

static const knMjcfField optionFields[] = {
	REAL("timestep", KN_MJCF_OWN, knMjcfOption, timestep),
	REALS("gravity", KN_MJCF_OWN, knMjcfOption, gravity, 3, 3),
	REAL("density", KN_MJCF_OWN, knMjcfOption, density),
	REAL("viscosity", KN_MJCF_OWN, knMjcfOption, viscosity),
	REALS("wind", KN_MJCF_OWN, knMjcfOption, wind, 3, 3),
	SILENT_REALS("magnetic", 3, 3),
	SILENT_REALS("o_margin", 1, 1),
	SILENT_REALS("o_solref", 1, 2),
	SILENT_REALS("o_solimp", 1, 5),
	SILENT_REALS("o_friction", 1, 5),
	SILENT_REALS("apirate", 1, 1),
	SILENT_REALS("impratio", 1, 1),
	SILENT_WORD("integrator", integratorWords),
	SILENT_WORD("cone", coneWords),
	SILENT_WORD("jacobian", jacobianWords),
	SILENT_WORD("solver", solverWords),
	SILENT_REALS("iterations", 1, 1),
	SILENT_REALS("tolerance", 1, 1),
	SILENT_REALS("ls_iterations", 1, 1),
	SILENT_REALS("ls_tolerance", 1, 1),
	SILENT_REALS("noslip_iterations", 1, 1),
	SILENT_REALS("noslip_tolerance", 1, 1),
	SILENT_REALS("mpr_iterations", 1, 1),
	SILENT_REALS("mpr_tolerance", 1, 1),
	SILENT_REALS("ccd_iterations", 1, 1),
	SILENT_REALS("ccd_tolerance", 1, 1),
	SILENT_REALS("sdf_iterations", 1, 1),
	SILENT_REALS("sdf_initpoints", 1, 1),
	WORD("collision", KN_MJCF_OWN, knMjcfOption, collision, collisionWords),
	SILENT_REALS("sleep_tolerance", 1, 1),
};

static const char* const switchWords[] = { "disable", "enable", NULL };
#define SWITCH(text, member) WORD(text, KN_MJCF_OWN, knMjcfFlag, member, switchWords)

static const knMjcfField flagFields[] = {
	SWITCH("gravity", gravity),
	SWITCH("contact", contact),
	SWITCH("constraint", constraint),
	SWITCH("equality", equality),
	SWITCH("frictionloss", frictionloss),
	SWITCH("limit", limit),
	SWITCH("passive", passive),
	SWITCH("actuation", actuation),
	SWITCH("spring", spring),
	SWITCH("damper", damper),
	SWITCH("clampctrl", clampCtrl),
	SWITCH("filterparent", filterParent),
	SILENT_WORD("warmstart", switchWords),
	SILENT_WORD("refsafe", switchWords),
	SILENT_WORD("sensor", switchWords),
	SILENT_WORD("midphase", switchWords),
	SILENT_WORD("eulerdamp", switchWords),
	SILENT_WORD("autoreset", switchWords),
	SILENT_WORD("nativeccd", switchWords),
	SILENT_WORD("override", switchWords),
	SILENT_WORD("energy", switchWords),
	SILENT_WORD("fwdinv", switchWords),
	SILENT_WORD("invdiscrete", switchWords),
	SILENT_WORD("sensornoise", switchWords),
	SILENT_WORD("multiccd", switchWords),
	SILENT_WORD("island", switchWords),
	SILENT_WORD("sleep", switchWords),
};

static const knMjcfField frameFields[] = {
	NAME,
	POS,
	ORIENTATION,
	NAMED("childclass", KN_MJCF_OWN, knMjcfFrame, childClass),
};

static const knMjcfField defaultFields[] = { CLASS };

static const knMjcfField geomFields[] = {
	NAME,
	CLASS,
	POS,
	ORIENTATION,
	WORD("type", KN_MJCF_GEOM_TYPE, knMjcfGeom, type, knMjcfGeomWords),
	COUNTED("size", KN_MJCF_GEOM_SIZE, knMjcfGeom, size, sizeCount, 1, 3),
	REALS("fromto", KN_MJCF_GEOM_FROMTO, knMjcfGeom, fromto, 6, 6),
	REAL("mass", KN_MJCF_GEOM_MASS, knMjcfGeom, mass),
	REAL("density", KN_MJCF_GEOM_DENSITY, knMjcfGeom, density),
	COUNTED("friction", KN_MJCF_GEOM_FRICTION, knMjcfGeom, friction, frictionCount, 1, 3),
	INT("contype", KN_MJCF_GEOM_CONTYPE, knMjcfGeom, contype),
	INT("conaffinity", KN_MJCF_GEOM_CONAFFINITY, knMjcfGeom, conaffinity),
	INT("condim", KN_MJCF_GEOM_CONDIM, knMjcfGeom, condim),
	INT("group", KN_MJCF_GEOM_GROUP, knMjcfGeom, group),
	COUNTED("rgba", KN_MJCF_GEOM_RGBA, knMjcfGeom, rgba, rgbaCount, 0, 4),
	NAMED("material", KN_MJCF_GEOM_MATERIAL, knMjcfGeom, material),
	NAMED("mesh", KN_MJCF_GEOM_MESH, knMjcfGeom, mesh),
	REAL("fitscale", KN_MJCF_GEOM_FITSCALE, knMjcfGeom, fitScale),
	WORD("shellinertia", KN_MJCF_GEOM_SHELL, knMjcfGeom, shell, boolWords),
	NOTED_REALS("solref", 1, 2),
	NOTED_REALS("solimp", 1, 5),
	NOTED_REALS("solmix", 1, 1),
	NOTED_REALS("margin", 1, 1),
	NOTED_REALS("gap", 1, 1),
	NOTED_REALS("priority", 1, 1),
	SILENT("fluidshape"),
	SILENT_REALS("fluidcoef", 1, 5),
	NAMED("hfield", KN_MJCF_GEOM_HFIELD, knMjcfGeom, hfield),
	SILENT("user"),
};

static const knMjcfField siteFields[] = {
	NAME,
	CLASS,
	POS,
	ORIENTATION,
	SILENT("type"),
	SILENT("size"),
	SILENT("rgba"),
	SILENT_REALS("group", 1, 1),
	SILENT("material"),
	SILENT("fromto"),
	SILENT("user"),
};

static const char* const meshInertiaWords[] = { "convex", "exact", "legacy", "shell", NULL };

static const knMjcfField meshFields[] = {
	NAME,
	CLASS,
	TEXT("file", KN_MJCF_MESH_FILE, knMjcfMesh, file),
	REALS("scale", KN_MJCF_MESH_SCALE, knMjcfMesh, scale, 3, 3),
	NUMBERS("vertex", KN_MJCF_MESH_VERTEX, knMjcfMesh, vertex),
	NUMBERS("face", KN_MJCF_MESH_FACE, knMjcfMesh, face),
	REALS("refpos", KN_MJCF_MESH_REFPOS, knMjcfMesh, refPos, 3, 3),
	REALS("refquat", KN_MJCF_MESH_REFQUAT, knMjcfMesh, refQuat, 4, 4),
	WORD("inertia", KN_MJCF_MESH_INERTIA, knMjcfMesh, inertia, meshInertiaWords),
	SILENT("content_type"),
	SILENT("normal"),
	SILENT("texcoord"),
	SILENT("smoothnormal"),
	SILENT("maxhullvert"),
	SILENT("material"),
	SILENT("octree_maxdepth"),
	SILENT("needsdf"),
};

static const knMjcfField hfieldFields[] = {
	NAME,
	TEXT("file", KN_MJCF_OWN, knMjcfHfield, file),
	INT("nrow", KN_MJCF_OWN, knMjcfHfield, rows),
	INT("ncol", KN_MJCF_OWN, knMjcfHfield, columns),
	REALS("size", KN_MJCF_OWN, knMjcfHfield, size, 4, 4),
	NUMBERS("elevation", KN_MJCF_OWN, knMjcfHfield, elevation),
	SILENT("content_type"),
};

static const knMjcfField instanceFields[] = { NAME };

static const knMjcfField materialFields[] = {
	NAME,
	CLASS,
	COUNTED("rgba", KN_MJCF_MATERIAL_RGBA, knMjcfMaterial, rgba, rgbaCount, 0, 4),
	NAMED("texture", KN_MJCF_MATERIAL_TEXTURE, knMjcfMaterial, texture),
	REALS("texrepeat", KN_MJCF_MATERIAL_REPEAT, knMjcfMaterial, repeat, 2, 2),
	WORD("texuniform", KN_MJCF_MATERIAL_UNIFORM, knMjcfMaterial, uniform, boolWords),
	REAL("emission", KN_MJCF_MATERIAL_EMISSION, knMjcfMaterial, emission),
	REAL("specular", KN_MJCF_MATERIAL_SPECULAR, knMjcfMaterial, specular),
	REAL("shininess", KN_MJCF_MATERIAL_SHININESS, knMjcfMaterial, shininess),
	REAL("reflectance", KN_MJCF_MATERIAL_REFLECTANCE, knMjcfMaterial, reflectance),
	REAL("metallic", KN_MJCF_MATERIAL_METALLIC, knMjcfMaterial, metallic),
	REAL("roughness", KN_MJCF_MATERIAL_ROUGHNESS, knMjcfMaterial, roughness),
};

static const knMjcfField layerFields[] = {
	NAMED("texture", KN_MJCF_OWN, knMjcfLayer, texture),
	TEXT("role", KN_MJCF_OWN, knMjcfLayer, role),
};

static const char* const textureWords[] = { "2d", "cube", "skybox", NULL };
static const char* const builtinWords[] = { "none", "flat", "gradient", "checker", NULL };
static const char* const markWords[] = { "none", "edge", "cross", "random", NULL };

static const knMjcfField textureFields[] = {
	NAME,
	WORD("type", KN_MJCF_OWN, knMjcfTexture, type, textureWords),
	TEXT("file", KN_MJCF_OWN, knMjcfTexture, file),
	WORD("builtin", KN_MJCF_OWN, knMjcfTexture, builtin, builtinWords),
	WORD("mark", KN_MJCF_OWN, knMjcfTexture, mark, markWords),
	REALS("rgb1", KN_MJCF_OWN, knMjcfTexture, rgb1, 3, 3),
	REALS("rgb2", KN_MJCF_OWN, knMjcfTexture, rgb2, 3, 3),
	REALS("markrgb", KN_MJCF_OWN, knMjcfTexture, markRgb, 3, 3),
	REAL("random", KN_MJCF_OWN, knMjcfTexture, random),
	INT("width", KN_MJCF_OWN, knMjcfTexture, width),
	INT("height", KN_MJCF_OWN, knMjcfTexture, height),
	SILENT("content_type"),
	SILENT("colorspace"),
	SILENT("gridsize"),
	SILENT("gridlayout"),
	SILENT("fileright"),
	SILENT("fileleft"),
	SILENT("fileup"),
	SILENT("filedown"),
	SILENT("filefront"),
	SILENT("fileback"),
	SILENT("hflip"),
	SILENT("vflip"),
	SILENT("nchannel"),
};

static const char* const lightWords[] = { "spot", "directional", "point", "image", NULL };

#define LIGHT_COLORS                                                                                         \
	REALS("ambient", KN_MJCF_LIGHT_AMBIENT, knMjcfLight, ambient, 3, 3),                                     \
		REALS("diffuse", KN_MJCF_LIGHT_DIFFUSE, knMjcfLight, diffuse, 3, 3),                                 \
		REALS("specular", KN_MJCF_LIGHT_SPECULAR, knMjcfLight, specular, 3, 3)

static const knMjcfField lightFields[] = {
	NAME,
	CLASS,
	POS,
	LIGHT_COLORS,
	REALS("dir", KN_MJCF_LIGHT_DIRECTION, knMjcfLight, direction, 3, 3),
	WORD("directional", KN_MJCF_LIGHT_DIRECTIONAL, knMjcfLight, directional, boolWords),
	WORD("type", KN_MJCF_LIGHT_TYPE, knMjcfLight, type, lightWords),
	WORD("active", KN_MJCF_LIGHT_ACTIVE, knMjcfLight, active, boolWords),
	WORD("castshadow", KN_MJCF_LIGHT_SHADOW, knMjcfLight, castsShadow, boolWords),
	REALS("attenuation", KN_MJCF_LIGHT_ATTENUATION, knMjcfLight, attenuation, 3, 3),
	REAL("cutoff", KN_MJCF_LIGHT_CUTOFF, knMjcfLight, cutoff),
	REAL("exponent", KN_MJCF_LIGHT_EXPONENT, knMjcfLight, exponent),
	SILENT("mode"),
	SILENT("target"),
	SILENT("bulbradius"),
	SILENT("intensity"),
	SILENT("range"),
	SILENT("texture"),
};

static const knMjcfField headlightFields[] = {
	LIGHT_COLORS,
	INT("active", KN_MJCF_LIGHT_ACTIVE, knMjcfLight, active),
};

static const knMjcfField sourceFields[] = {
	NAME,
	TEXT("file", KN_MJCF_OWN, knMjcfSource, file),
	SILENT("content_type"),
};

static const knMjcfField jointFields[] = {
	NAME,
	CLASS,
	POS,
	WORD("type", KN_MJCF_JOINT_TYPE, knMjcfJoint, type, jointWords),
	REALS("axis", KN_MJCF_JOINT_AXIS, knMjcfJoint, axis, 3, 3),
	REALS("range", KN_MJCF_JOINT_RANGE, knMjcfJoint, range, 2, 2),
	WORD("limited", KN_MJCF_JOINT_LIMITED, knMjcfJoint, limited, autoWords),
	REAL("damping", KN_MJCF_JOINT_DAMPING, knMjcfJoint, damping),
	REAL("stiffness", KN_MJCF_JOINT_STIFFNESS, knMjcfJoint, stiffness),
	REAL("springref", KN_MJCF_JOINT_SPRINGREF, knMjcfJoint, springref),
	REAL("frictionloss", KN_MJCF_JOINT_FRICTIONLOSS, knMjcfJoint, frictionloss),
	REAL("ref", KN_MJCF_JOINT_REF, knMjcfJoint, ref),
	REAL("armature", KN_MJCF_JOINT_ARMATURE, knMjcfJoint, armature),
	REALS("actuatorfrcrange", KN_MJCF_JOINT_FORCERANGE, knMjcfJoint, forceRange, 2, 2),
	WORD("actuatorfrclimited", KN_MJCF_JOINT_FORCELIMITED, knMjcfJoint, forceLimited, autoWords),
	REALS("springdamper", KN_MJCF_JOINT_SPRINGDAMPER, knMjcfJoint, springDamper, 2, 2),
	NOTED("actuatorgravcomp"),
	NOTED_REALS("solreflimit", 1, 2),
	NOTED_REALS("solimplimit", 1, 5),
	NOTED_REALS("solreffriction", 1, 2),
	NOTED_REALS("solimpfriction", 1, 5),
	NOTED_REALS("margin", 1, 1),
	SILENT_REALS("group", 1, 1),
	SILENT("user"),
};

static const knMjcfField freeJointFields[] = { NAME, SILENT("group"), SILENT("align") };

static const knMjcfField inertialFields[] = {
	POS,
	ORIENTATION,
	REAL("mass", KN_MJCF_INERTIAL_MASS, knMjcfInertial, mass),
	REALS("diaginertia", KN_MJCF_INERTIAL_DIAGONAL, knMjcfInertial, diagonal, 3, 3),
	REALS("fullinertia", KN_MJCF_INERTIAL_FULL, knMjcfInertial, full, 6, 6),
};

static const knMjcfField bodyFields[] = {
	NAME,
	POS,
	ORIENTATION,
	NAMED("childclass", KN_MJCF_OWN, knMjcfBody, childClass),
	WORD("mocap", KN_MJCF_OWN, knMjcfBody, mocap, boolWords),
	REAL("gravcomp", KN_MJCF_OWN, knMjcfBody, gravcomp),
	SILENT("sleep"),
	SILENT("user"),
};

static const knMjcfField worldBodyFields[] = { NAMED("childclass", KN_MJCF_OWN, knMjcfBody, childClass) };

#define EQUALITY_COMMON                                                                                      \
	NAME, CLASS, NAMED("body1", KN_MJCF_EQUALITY_BODY1, knMjcfEquality, body1),                              \
		NAMED("body2", KN_MJCF_EQUALITY_BODY2, knMjcfEquality, body2),                                       \
		NAMED("site1", KN_MJCF_EQUALITY_SITE1, knMjcfEquality, site1),                                       \
		NAMED("site2", KN_MJCF_EQUALITY_SITE2, knMjcfEquality, site2),                                       \
		COUNTED("solref", KN_MJCF_EQUALITY_SOLREF, knMjcfEquality, solref, solrefCount, 1, 2),               \
		SILENT_REALS("solimp", 1, 5),                                                                        \
		REALS("anchor", KN_MJCF_EQUALITY_ANCHOR, knMjcfEquality, anchor, 3, 3),                              \
		WORD("active", KN_MJCF_EQUALITY_ACTIVE, knMjcfEquality, active, boolWords)

static const knMjcfField connectFields[] = { EQUALITY_COMMON };
static const knMjcfField weldFields[] = {
	EQUALITY_COMMON,
	REALS("relpose", KN_MJCF_EQUALITY_RELPOSE, knMjcfEquality, relpose, 7, 7),
	SILENT_REALS("torquescale", 1, 1),
};
static const knMjcfField coupleFields[] = {
	NAME,
	CLASS,
	NAMED("joint1", KN_MJCF_EQUALITY_JOINT1, knMjcfEquality, joint1),
	NAMED("joint2", KN_MJCF_EQUALITY_JOINT2, knMjcfEquality, joint2),
	REALS("polycoef", KN_MJCF_EQUALITY_POLYCOEF, knMjcfEquality, polynomial, 1, 5),
	COUNTED("solref", KN_MJCF_EQUALITY_SOLREF, knMjcfEquality, solref, solrefCount, 1, 2),
	SILENT_REALS("solimp", 1, 5),
	WORD("active", KN_MJCF_EQUALITY_ACTIVE, knMjcfEquality, active, boolWords),
};
static const knMjcfField equalityFields[] = {
	WORD("active", KN_MJCF_EQUALITY_ACTIVE, knMjcfEquality, active, boolWords),
	COUNTED("solref", KN_MJCF_EQUALITY_SOLREF, knMjcfEquality, solref, solrefCount, 1, 2),
	SILENT_REALS("solimp", 1, 5),
};

static const knMjcfField pairFields[] = {
	NAME,
	CLASS,
	NAMED("geom1", KN_MJCF_OWN, knMjcfPair, geom1),
	NAMED("geom2", KN_MJCF_OWN + 1, knMjcfPair, geom2),
	COUNTED("friction", KN_MJCF_OWN + 2, knMjcfPair, friction, frictionCount, 1, 5),
	INT("condim", KN_MJCF_OWN + 3, knMjcfPair, condim),
	NOTED_REALS("solref", 1, 2),
	NOTED_REALS("solreffriction", 1, 2),
	NOTED_REALS("solimp", 1, 5),
	NOTED_REALS("margin", 1, 1),
	NOTED_REALS("gap", 1, 1),
};

static const char* const dynWords[] = { "none",   "integrator", "filter", "filterexact",
										"muscle", "user",       "plugin", NULL };
static const char* const gainWords[] = { "fixed", "affine", "muscle", "user", NULL };
static const char* const biasWords[] = { "none", "affine", "muscle", "user", NULL };
#define ACTUATOR_PART(text, bit, member) NAMED(text, KN_MJCF_ACTUATOR_##bit, knMjcfActuator, member)
#define ACTUATOR_REALS(text, bit, member, least, most)                                                       \
	REALS(text, KN_MJCF_ACTUATOR_##bit, knMjcfActuator, member, least, most)

#define MUSCLE_REALS(text, number, least, most)                                                              \
	REALS(text, KN_MJCF_ACTUATOR_MUSCLE + KN_MJCF_MUSCLE_##number, knMjcfActuator,                           \
		  muscle[KN_MJCF_MUSCLE_##number], least, most)

static const knMjcfField actuatorFields[] = {
	NAME,
	CLASS,
	ACTUATOR_PART("joint", JOINT, joint),
	ACTUATOR_PART("jointinparent", JOINTINPARENT, jointInParent),
	ACTUATOR_PART("tendon", TENDON, tendon),
	ACTUATOR_PART("site", SITE, site),
	ACTUATOR_PART("refsite", REFSITE, refSite),
	ACTUATOR_PART("body", OTHER, other),
	ACTUATOR_PART("cranksite", OTHER, other),
	ACTUATOR_PART("slidersite", OTHER, other),
	ACTUATOR_REALS("gear", GEAR, gear, 1, 6),
	ACTUATOR_REALS("ctrlrange", CTRLRANGE, ctrlRange, 2, 2),
	ACTUATOR_REALS("forcerange", FORCERANGE, forceRange, 2, 2),
	ACTUATOR_REALS("actrange", ACTRANGE, actRange, 2, 2),
	WORD("ctrllimited", KN_MJCF_ACTUATOR_CTRLLIMITED, knMjcfActuator, ctrlLimited, autoWords),
	WORD("forcelimited", KN_MJCF_ACTUATOR_FORCELIMITED, knMjcfActuator, forceLimited, autoWords),
	WORD("actlimited", KN_MJCF_ACTUATOR_ACTLIMITED, knMjcfActuator, actLimited, autoWords),
	WORD("dyntype", KN_MJCF_ACTUATOR_DYNTYPE, knMjcfActuator, dynType, dynWords),
	WORD("gaintype", KN_MJCF_ACTUATOR_GAINTYPE, knMjcfActuator, gainType, gainWords),
	WORD("biastype", KN_MJCF_ACTUATOR_BIASTYPE, knMjcfActuator, biasType, biasWords),
	ACTUATOR_REALS("dynprm", DYNPRM, dynPrm, 1, 10),
	ACTUATOR_REALS("gainprm", GAINPRM, gainPrm, 1, 10),
	ACTUATOR_REALS("biasprm", BIASPRM, biasPrm, 1, 10),
	ACTUATOR_REALS("kp", KP, kp, 1, 1),
	ACTUATOR_REALS("kv", KV, kv, 1, 1),
	ACTUATOR_REALS("dampratio", DAMPRATIO, dampRatio, 1, 1),
	ACTUATOR_REALS("timeconst", TIMECONST, timeConst, 1, 2),
	ACTUATOR_REALS("tausmooth", TAUSMOOTH, muscleBlend, 1, 1),
	MUSCLE_REALS("range", RANGE, 2, 2),
	MUSCLE_REALS("force", FORCE, 1, 1),
	MUSCLE_REALS("scale", SCALE, 1, 1),
	MUSCLE_REALS("lmin", LMIN, 1, 1),
	MUSCLE_REALS("lmax", LMAX, 1, 1),
	MUSCLE_REALS("vmax", VMAX, 1, 1),
	MUSCLE_REALS("fpmax", FPMAX, 1, 1),
	MUSCLE_REALS("fvmax", FVMAX, 1, 1),
	ACTUATOR_REALS("inheritrange", INHERITRANGE, inheritRange, 1, 1),
	ACTUATOR_REALS("gain", GAIN, adhesion, 1, 1),
	TEXT("plugin", KN_MJCF_ACTUATOR_PLUGIN, knMjcfActuator, plugin),
	ACTUATOR_PART("instance", INSTANCE, instance),
	ACTUATOR_REALS("lengthrange", LENGTHRANGE, lengthRange, 2, 2),
	SILENT("cranklength"),
	SILENT("actdim"),
	SILENT("actearly"),
	SILENT_REALS("group", 1, 1),
	SILENT("user"),
};

static const knMjcfField tendonFields[] = {
	NAME,
	CLASS,
	REAL("stiffness", KN_MJCF_TENDON_STIFFNESS, knMjcfTendon, stiffness),
	REAL("damping", KN_MJCF_TENDON_DAMPING, knMjcfTendon, damping),
	REAL("frictionloss", KN_MJCF_TENDON_FRICTIONLOSS, knMjcfTendon, frictionloss),
	REAL("armature", KN_MJCF_TENDON_ARMATURE, knMjcfTendon, armature),
	// one number is both
	WHOLE("springlength", KN_MJCF_TENDON_SPRINGLENGTH, knMjcfTendon, springLength, springCount, 1, 2),
	REALS("range", KN_MJCF_TENDON_RANGE, knMjcfTendon, range, 2, 2),
	WORD("limited", KN_MJCF_TENDON_LIMITED, knMjcfTendon, limited, autoWords),
	NOTED("actuatorfrcrange"),
	NOTED("actuatorfrclimited"),
	NOTED_REALS("solreflimit", 1, 2),
	NOTED_REALS("solimplimit", 1, 5),
	NOTED_REALS("solreffriction", 1, 2),
	NOTED_REALS("solimpfriction", 1, 5),
	NOTED_REALS("margin", 1, 1),
	SILENT_REALS("width", 1, 1),
	SILENT("material"),
	SILENT("rgba"),
	SILENT_REALS("group", 1, 1),
	SILENT("user"),
};

#define PART_TARGET(text) NAMED(text, KN_MJCF_OWN, knMjcfTendonPart, target)
static const knMjcfField tendonJointFields[] = {
	PART_TARGET("joint"),
	REAL("coef", KN_MJCF_OWN + 1, knMjcfTendonPart, number),
};
static const knMjcfField tendonSiteFields[] = { PART_TARGET("site") };
static const knMjcfField tendonGeomFields[] = {
	PART_TARGET("geom"),
	NAMED("sidesite", KN_MJCF_OWN + 1, knMjcfTendonPart, side),
};
static const knMjcfField tendonPulleyFields[] = {
	REAL("divisor", KN_MJCF_OWN + 1, knMjcfTendonPart, number),
};

#define SENSOR_PART(text, member) NAMED(text, KN_MJCF_OWN, knMjcfSensor, member)
static const knMjcfField sensorFields[] = {
	NAME,
	SENSOR_PART("site", site),
	SENSOR_PART("joint", joint),
	SENSOR_PART("tendon", tendon),
	SENSOR_PART("actuator", actuator),
	SENSOR_PART("body", body),
	SENSOR_PART("geom", geom),
	SENSOR_PART("objname", object),
	SENSOR_PART("refname", reference),
	TEXT("objtype", KN_MJCF_OWN, knMjcfSensor, objectType),
	SILENT("reftype"),
	SILENT_REALS("cutoff", 1, 1),
	SILENT_REALS("noise", 1, 1),
	SILENT("nsample"),
	SILENT("interp"),
	SILENT("delay"),
	SILENT("interval"),
	SILENT("user"),
};

static const knMjcfField excludeFields[] = {
	NAME,
	NAMED("body1", KN_MJCF_OWN, knMjcfExclude, body1),
	NAMED("body2", KN_MJCF_OWN, knMjcfExclude, body2),
};

static const knMjcfField keyFields[] = {
	NAME,
	REAL("time", KN_MJCF_KEY_TIME, knMjcfKey, time),
	NUMBERS("qpos", KN_MJCF_KEY_QPOS, knMjcfKey, qpos),
	NUMBERS("qvel", KN_MJCF_KEY_QVEL, knMjcfKey, qvel),
	NUMBERS("ctrl", KN_MJCF_KEY_CTRL, knMjcfKey, ctrl),
	NUMBERS("act", KN_MJCF_KEY_ACT, knMjcfKey, act),
	NUMBERS("mpos", KN_MJCF_KEY_MPOS, knMjcfKey, mpos),
	NUMBERS("mquat", KN_MJCF_KEY_MQUAT, knMjcfKey, mquat),
};

static const knMjcfField customFields[] = {
	NAME,
	TEXT("data", KN_MJCF_OWN, knMjcfCustom, data),
	SILENT("size"),
};

const knMjcfElementType knMjcfModelType = ELEMENT_TYPE("mujoco", modelFields);
const knMjcfElementType knMjcfCompilerType = ELEMENT_TYPE("compiler", compilerFields);
const knMjcfElementType knMjcfOptionType = ELEMENT_TYPE("option", optionFields);
const knMjcfElementType knMjcfDefaultType = ELEMENT_TYPE("default", defaultFields);
const knMjcfElementType knMjcfGeomType = ELEMENT_TYPE("geom", geomFields);
const knMjcfElementType knMjcfJointType = ELEMENT_TYPE("joint", jointFields);
const knMjcfElementType knMjcfFreeJointType = ELEMENT_TYPE("freejoint", freeJointFields);
const knMjcfElementType knMjcfInertialType = ELEMENT_TYPE("inertial", inertialFields);
const knMjcfElementType knMjcfBodyType = ELEMENT_TYPE("body", bodyFields);
const knMjcfElementType knMjcfWorldBodyType = ELEMENT_TYPE("worldbody", worldBodyFields);
const knMjcfElementType knMjcfConnectType = ELEMENT_TYPE("connect", connectFields);
const knMjcfElementType knMjcfWeldType = ELEMENT_TYPE("weld", weldFields);
const knMjcfElementType knMjcfEqualityType = ELEMENT_TYPE("equality", equalityFields);
const knMjcfElementType knMjcfExcludeType = ELEMENT_TYPE("exclude", excludeFields);
const knMjcfElementType knMjcfKeyType = ELEMENT_TYPE("key", keyFields);
const knMjcfElementType knMjcfNumericType = ELEMENT_TYPE("numeric", customFields);
const knMjcfElementType knMjcfTextType = ELEMENT_TYPE("text", customFields);
const knMjcfElementType knMjcfFrameType = ELEMENT_TYPE("frame", frameFields);
const knMjcfElementType knMjcfFlagType = ELEMENT_TYPE("flag", flagFields);
const knMjcfElementType knMjcfSiteType = ELEMENT_TYPE("site", siteFields);
const knMjcfElementType knMjcfMeshType = ELEMENT_TYPE("mesh", meshFields);
const knMjcfElementType knMjcfMaterialType = LOOKS_TYPE("material", materialFields);
const knMjcfElementType knMjcfLayerType = LOOKS_TYPE("layer", layerFields);
const knMjcfElementType knMjcfTextureType = LOOKS_TYPE("texture", textureFields);
const knMjcfElementType knMjcfLightType = LOOKS_TYPE("light", lightFields);
const knMjcfElementType knMjcfHeadlightType = LOOKS_TYPE("headlight", headlightFields);
const knMjcfElementType knMjcfSourceType = ELEMENT_TYPE("model", sourceFields);
const knMjcfElementType knMjcfActuatorType = ELEMENT_TYPE("actuator", actuatorFields);
const knMjcfElementType knMjcfTendonType = ELEMENT_TYPE("tendon", tendonFields);
const knMjcfElementType knMjcfTendonJointType = ELEMENT_TYPE("joint", tendonJointFields);
const knMjcfElementType knMjcfTendonSiteType = ELEMENT_TYPE("site", tendonSiteFields);
const knMjcfElementType knMjcfTendonGeomType = ELEMENT_TYPE("geom", tendonGeomFields);
const knMjcfElementType knMjcfTendonPulleyType = ELEMENT_TYPE("pulley", tendonPulleyFields);
const knMjcfElementType knMjcfSensorType = ELEMENT_TYPE("sensor", sensorFields);
const knMjcfElementType knMjcfCoupleType = ELEMENT_TYPE("joint", coupleFields);
const knMjcfElementType knMjcfPairType = ELEMENT_TYPE("pair", pairFields);
const knMjcfElementType knMjcfHfieldType = ELEMENT_TYPE("hfield", hfieldFields);
const knMjcfElementType knMjcfInstanceType = ELEMENT_TYPE("instance", instanceFields);
