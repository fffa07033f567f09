// What each tag means where it stands: a table of places and tags, and a function for each that keeps the element.
//
// A tag that is only seen (cameras, skins) is taken silently, with all that is in it. One that would put other
// things into the scene, or make them move otherwise, and is not understood, is an omission (mjcf_report.c).
#include "mjcf.h"

#include <stdio.h>
#include <string.h>

typedef struct Row Row;

// An element being opened.
typedef struct Opening {
	knMjcf* reader;
	const knMjcfAttach* attach; // NULL: the file is not attached
	const Row* row;
	const char** attributes;
	knMjcfLevel* level; // comes in as the parent's and goes out as that of the children
} Opening;

typedef bool OpenFn(const Opening* open);

struct Row {
	knMjcfPlace place;
	const char* tag;
	OpenFn* open;
	knMjcfPlace inside;
};

// --- what is assumed ---------------------------------------------------------------------------------------

static const knMjcfGeom geomDefault = { .type = KN_MJCF_SPHERE,
										.density = 1000.0,
										.friction = { 1.0, 0.005, 0.0001 },
										.contype = 1,
										.conaffinity = 1,
										.condim = 3,
										.fitScale = 1.0 };
static const knMjcfJoint jointDefault = { .type = KN_MJCF_HINGE,
										  .axis = { 0.0, 0.0, 1.0 },
										  .limited = KN_MJCF_LIMITED_AUTO,
										  .forceLimited = KN_MJCF_LIMITED_AUTO,
										  .link = -1,
										  .sign = 1.0 };
static const knMjcfEquality equalityDefault = { .active = 1,
												.polynomial = { 0.0, 1.0 },
												.solref = { 0.02, 1.0 } };
static const knMjcfMesh meshDefault = { .scale = { 1.0, 1.0, 1.0 },
										.refQuat = { 1.0 },
										.inertia = KN_MJCF_MESH_LEGACY };
static const knMjcfActuator actuatorDefault = { .gear = { 1.0 },
												.ctrlLimited = KN_MJCF_LIMITED_AUTO,
												.forceLimited = KN_MJCF_LIMITED_AUTO,
												.actLimited = KN_MJCF_LIMITED_AUTO,
												.dynPrm = { 1.0 },
												.gainPrm = { 1.0 },
												.kp = 1.0,
												.kv = 0.0,
												.muscle = { -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0,
															-1.0 },
												.muscleBlend = -1.0,
												.index = -1 };
static const knMjcfTendon tendonDefault = { .springLength = { -1.0, -1.0 },
											.limited = KN_MJCF_LIMITED_AUTO,
											.index = -1 };
static const knMjcfPair pairDefault = { .condim = 3, .friction = { 1.0, 1.0, 0.005, 0.0001, 0.0001 } };

static const knMjcfMaterial materialDefault = {
	.repeat = { 1.0, 1.0 }, .specular = 0.5, .shininess = 0.5, .metallic = -1.0, .roughness = -1.0
};
static const knMjcfTexture textureDefault = {
	.type = KN_MJCF_TEXTURE_CUBE, .rgb1 = { 0.8, 0.8, 0.8 }, .rgb2 = { 0.5, 0.5, 0.5 }, .random = 0.01
};
static const knMjcfLight lightDefault = { .direction = { 0.0, 0.0, -1.0 },
										  .active = 1,
										  .castsShadow = 1,
										  .diffuse = { 0.7, 0.7, 0.7 },
										  .specular = { 0.3, 0.3, 0.3 },
										  .attenuation = { 1.0, 0.0, 0.0 },
										  .cutoff = 45.0,
										  .exponent = 10.0 };
static const knMjcfLight headlightDefault = {
	.active = 1, .ambient = { 0.1, 0.1, 0.1 }, .diffuse = { 0.4, 0.4, 0.4 }, .specular = { 0.5, 0.5, 0.5 }
};

static knMjcfClass classDefault(int parent) {
	return (knMjcfClass){ .parent = parent,
						  .material = materialDefault,
						  .light = lightDefault,
						  .geom = geomDefault,
						  .joint = jointDefault,
						  .equality = equalityDefault,
						  .mesh = meshDefault,
						  .actuator = actuatorDefault,
						  .tendon = tendonDefault,
						  .pair = pairDefault };
}

// Pushes a copy of the local `item`; an expression that is true if there was memory.
#define KEEP(reader, array, item)                                                                            \
	(KN_ARRAY_PUSH(&(reader)->allocator, &(reader)->array, item) || knMjcf_NoMemory(reader))

// Reads `item` and keeps it.
#define READ_AND_KEEP(open, type, array, item)                                                               \
	(knMjcf_ReadElement((open)->reader, type, (open)->attributes, &(item)) &&                                \
	 KEEP((open)->reader, array, item))

bool knMjcf_PushCompiler(knMjcf* reader) {
	const knMjcfCompiler compiler = { .element.compiler = reader->compilers.count,
									  .angle = KN_MJCF_DEGREE,
									  .inertiaFromGeom = KN_MJCF_INERTIA_AUTO,
									  .autoLimits = 1,
									  .eulerSequence = "xyz",
									  .inertiaGroups = { 0.0, 5.0 } };
	return KEEP(reader, compilers, compiler);
}

bool knMjcf_InitElements(knMjcf* reader) {
	reader->option = (knMjcfOption){ .timestep = 0.002, .gravity = { 0.0, 0.0, -9.81 } };
	reader->flag = (knMjcfFlag){ .gravity = 1,
								 .contact = 1,
								 .constraint = 1,
								 .equality = 1,
								 .frictionloss = 1,
								 .limit = 1,
								 .passive = 1,
								 .spring = 1,
								 .damper = 1,
								 .clampCtrl = 1,
								 .filterParent = 1,
								 .actuation = 1 };
	reader->headlight = headlightDefault;
	const knMjcfBody world = { .element = { .name = "world", .frame = -1 }, .parent = -1, .inertial = -1 };
	const knMjcfClass root = classDefault(-1);
	return knMjcf_PushCompiler(reader) && KEEP(reader, bodies, world) && KEEP(reader, classes, root) &&
		   (knNameTable_Set(&reader->classNames, "main", 0) || knMjcf_NoMemory(reader));
}

// --- sections ----------------------------------------------------------------------------------------------

static bool openSection(const Opening* open) {
	for (int i = 0; open->attributes[i] != NULL; i += 2) {
		knMjcf_Note(open->reader, NULL, "<%s> %.60s ignored", open->row->tag, open->attributes[i]);
	}
	return !open->reader->failed;
}

static bool openSilent(const Opening* open) {
	(void)open;
	return true;
}

// Not those of a model that is attached: it comes without its keyframes and options.
static bool openOwn(const Opening* open) {
	if (open->attach != NULL) {
		open->level->place = KN_MJCF_IN_IGNORED;
	}
	return true;
}

static bool openModel(const Opening* open) {
	knMjcfModel other;
	return knMjcf_ReadElement(open->reader, &knMjcfModelType, open->attributes,
							  open->attach != NULL ? &other : &open->reader->model);
}

static bool openCompiler(const Opening* open) {
	knMjcf* reader = open->reader;
	return knMjcf_ReadElement(reader, &knMjcfCompilerType, open->attributes,
							  &reader->compilers.items[reader->compilerIndex]);
}

static bool openOption(const Opening* open) {
	knMjcfOption other;
	return knMjcf_ReadElement(open->reader, &knMjcfOptionType, open->attributes,
							  open->attach != NULL ? &other : &open->reader->option);
}

static bool openFlag(const Opening* open) {
	knMjcfFlag other;
	return knMjcf_ReadElement(open->reader, &knMjcfFlagType, open->attributes,
							  open->attach != NULL ? &other : &open->reader->flag);
}

// What is not understood and cannot be done without.
static bool openOmitted(const Opening* open) {
	return knMjcf_Omit(open->reader, NULL, "<%s> left out", open->row->tag);
}

// --- defaults ----------------------------------------------------------------------------------------------

// The outermost <default> is the root class, whatever it calls itself; the ones inside must have a name. That of a model
// which is attached is a class of its own, below the root.
static bool openDefault(const Opening* open) {
	knMjcf* reader = open->reader;
	const bool outer = open->row->place == KN_MJCF_IN_MUJOCO;
	const bool root = outer && open->attach == NULL;
	knMjcfClass class = classDefault(open->level->index);
	if (!knMjcf_ReadElement(reader, &knMjcfDefaultType, open->attributes, &class)) {
		return false;
	}
	const char* name = class.element.className;
	if (outer && open->attach != NULL) {
		class.parent = 0;
		name = name != NULL ? name : open->attach->rootClass;
	}
	if (name == NULL && !root) {
		return knMjcf_Fail(reader, NULL, "default", KN_BAD_DATA, "a nested <default> must name its class");
	}
	int known = name != NULL ? knNameTable_Get(&reader->classNames, name) : -1;
	if (known > 0 || (known == 0 && !root)) {
		return knMjcf_Fail(reader, NULL, "default", KN_BAD_DATA,
						   "class '%.60s' is defined twice, first in line %d", name,
						   reader->classes.items[known].element.line);
	}
	open->level->index = root ? 0 : reader->classes.count;
	if (root) {
		reader->classes.items[0].element.line = reader->line;
	} else if (!KEEP(reader, classes, class)) {
		return false;
	}
	if (name != NULL && !knNameTable_Set(&reader->classNames, name, open->level->index)) {
		return knMjcf_NoMemory(reader);
	}
	return true;
}

static knMjcfClass* classAt(const Opening* open) {
	return &open->reader->classes.items[open->level->index];
}

#define OPEN_DEFAULT(function, type, member)                                                                 \
	static bool function(const Opening* open) {                                                              \
		return knMjcf_ReadElement(open->reader, &type, open->attributes, &classAt(open)->member);            \
	}

OPEN_DEFAULT(openDefaultGeom, knMjcfGeomType, geom)
OPEN_DEFAULT(openDefaultJoint, knMjcfJointType, joint)
OPEN_DEFAULT(openDefaultEquality, knMjcfEqualityType, equality)
OPEN_DEFAULT(openDefaultSite, knMjcfSiteType, site)
OPEN_DEFAULT(openDefaultMesh, knMjcfMeshType, mesh)
OPEN_DEFAULT(openDefaultMaterial, knMjcfMaterialType, material)
OPEN_DEFAULT(openDefaultLight, knMjcfLightType, light)
OPEN_DEFAULT(openDefaultActuator, knMjcfActuatorType, actuator)
OPEN_DEFAULT(openDefaultTendon, knMjcfTendonType, tendon)
OPEN_DEFAULT(openDefaultPair, knMjcfPairType, pair)

// Makes a muscle of every <general> of the class.
static bool openDefaultMuscle(const Opening* open) {
	knMjcfActuator* actuator = &classAt(open)->actuator;
	actuator->dynType = KN_MJCF_DYN_MUSCLE;
	actuator->gainType = KN_MJCF_GAIN_MUSCLE;
	actuator->biasType = KN_MJCF_BIAS_MUSCLE;
	actuator->element.given |=
		KN_MJCF_BIT(KN_MJCF_ACTUATOR_DYNTYPE) | KN_MJCF_BIT(KN_MJCF_ACTUATOR_GAINTYPE) |
		KN_MJCF_BIT(KN_MJCF_ACTUATOR_BIASTYPE) | KN_MJCF_BIT(KN_MJCF_ACTUATOR_ISMUSCLE);
	return openDefaultActuator(open);
}

// --- bodies ------------------------------------------------------------------------------------------------

static bool openWorldBody(const Opening* open) {
	knMjcfBody other = { .parent = -1 };
	if (open->attach != NULL) {
		*open->level = open->attach->level;
		open->level->place = KN_MJCF_IN_ATTACHED;
		return knMjcf_ReadElement(open->reader, &knMjcfWorldBodyType, open->attributes, &other);
	}
	open->level->index = 0;
	open->level->frame = -1;
	return knMjcf_ReadElement(open->reader, &knMjcfWorldBodyType, open->attributes,
							  &open->reader->bodies.items[0]);
}

static bool openBody(const Opening* open) {
	knMjcfBody body = { .element.frame = open->level->frame, .parent = open->level->index, .inertial = -1 };
	open->level->index = open->reader->bodies.count;
	open->level->frame = -1;
	return READ_AND_KEEP(open, &knMjcfBodyType, bodies, body);
}

// Of a model that is attached, one body is taken, or all; its own <attach> may have asked for a class.
static bool openAttachedBody(const Opening* open) {
	const char* wanted = open->attach->body;
	const char* name = NULL;
	for (int i = 0; open->attributes[i] != NULL; i += 2) {
		name = strcmp(open->attributes[i], "name") == 0 ? open->attributes[i + 1] : name;
	}
	if (wanted != NULL && (name == NULL || strcmp(name, wanted) != 0)) {
		open->level->place = KN_MJCF_IN_IGNORED;
		return true;
	}
	if (!openBody(open)) {
		return false;
	}
	// what names no class takes that of its own model
	knMjcfBody* body = &open->reader->bodies.items[open->level->index];
	if (body->childClass == NULL && knNameTable_Get(&open->reader->classNames, open->attach->rootClass) > 0) {
		body->childClass = open->attach->rootClass;
	}
	return true;
}

static bool openFrame(const Opening* open) {
	knMjcfFrame frame = { .element.frame = open->level->frame };
	open->level->frame = open->reader->frames.count;
	return READ_AND_KEEP(open, &knMjcfFrameType, frames, frame);
}

static bool openAttach(const Opening* open) {
	knMjcf* reader = open->reader;
	knMjcfAttach attach = { .level = *open->level, .prefix = "" };
	const char* model = NULL;
	attach.level.place = KN_MJCF_IN_BODY;
	for (int i = 0; open->attributes[i] != NULL; i += 2) {
		const char* value = knMjcf_CopyText(reader, open->attributes[i + 1]);
		if (value == NULL) {
			return false;
		}
		if (strcmp(open->attributes[i], "model") == 0) {
			model = value;
		} else if (strcmp(open->attributes[i], "body") == 0) {
			attach.body = value;
		} else if (strcmp(open->attributes[i], "prefix") == 0) {
			attach.prefix = value;
		} else {
			knMjcf_Omit(reader, NULL, "<attach> %.60s is not understood", open->attributes[i]);
		}
	}
	const char* suffix = reader->suffix != NULL ? reader->suffix : "";
	const size_t size = strlen(attach.prefix) + strlen(suffix) + 1;
	char* rootClass = knArena_Take(&reader->arena, size);
	if (rootClass == NULL) {
		return knMjcf_NoMemory(reader);
	}
	snprintf(rootClass, size, "%s%s", attach.prefix, suffix);
	attach.rootClass = rootClass;
	for (int i = 0; model != NULL && i < reader->sources.count; ++i) {
		const knMjcfSource* source = &reader->sources.items[i];
		if (source->element.name != NULL && strcmp(source->element.name, model) == 0 &&
			source->file != NULL) {
			const int before = reader->bodies.count;
			return knMjcf_ReadFile(reader, source->file, NULL, &attach) &&
				   (reader->bodies.count > before ||
					knMjcf_Fail(reader, NULL, "attach", KN_BAD_DATA, "model '%.60s' has no body '%.60s'",
								model, attach.body != NULL ? attach.body : ""));
		}
	}
	return knMjcf_Fail(reader, NULL, "attach", KN_BAD_DATA,
					   "there is no <model> asset named '%.60s' before it", model != NULL ? model : "");
}

static bool openInertial(const Opening* open) {
	knMjcf* reader = open->reader;
	knMjcfInertial inertial = { .element.frame = open->level->frame };
	knMjcfBody* body = &reader->bodies.items[open->level->index];
	if (open->level->index == 0) {
		return knMjcf_Fail(reader, NULL, "inertial", KN_BAD_DATA, "the world takes no <inertial>");
	}
	if (body->inertial >= 0) {
		return knMjcf_Fail(reader, NULL, "inertial", KN_BAD_DATA, "its body has an <inertial> already");
	}
	body->inertial = reader->inertials.count;
	return READ_AND_KEEP(open, &knMjcfInertialType, inertials, inertial);
}

static bool openGeom(const Opening* open) {
	knMjcfGeom geom = geomDefault;
	geom.body = open->level->index;
	geom.element.frame = open->level->frame;
	return READ_AND_KEEP(open, &knMjcfGeomType, geoms, geom);
}

static bool openSite(const Opening* open) {
	knMjcfSite site = { .element.frame = open->level->frame, .body = open->level->index };
	return READ_AND_KEEP(open, &knMjcfSiteType, sites, site);
}

// One that stands in the world; of an attached model and in a <frame> none.
static bool openCamera(const Opening* open) {
	if (open->level->index == 0 && open->level->frame < 0 && open->attach == NULL) {
		knMjcf_ReadCamera(open->reader, open->attributes);
	}
	return true;
}

static bool openLight(const Opening* open) {
	knMjcfLight light = lightDefault;
	light.body = open->level->index;
	light.element.frame = open->level->frame;
	return READ_AND_KEEP(open, &knMjcfLightType, lights, light);
}

static bool openHeadlight(const Opening* open) {
	knMjcfLight other;
	open->reader->hasHeadlight = open->reader->hasHeadlight || open->attach == NULL;
	return knMjcf_ReadElement(open->reader, &knMjcfHeadlightType, open->attributes,
							  open->attach != NULL ? &other : &open->reader->headlight);
}

static bool openGlobal(const Opening* open) {
	if (open->attach == NULL) {
		knMjcf_ReadGlobal(open->reader, open->attributes);
	}
	return true;
}

static bool keepJoint(const Opening* open, const knMjcfElementType* type, knMjcfJoint joint) {
	joint.body = open->level->index;
	joint.element.frame = open->level->frame;
	if (joint.body == 0) {
		return knMjcf_Fail(open->reader, NULL, type->tag, KN_BAD_DATA, "the world takes no joints");
	}
	return READ_AND_KEEP(open, type, joints, joint);
}

static bool openJoint(const Opening* open) {
	return keepJoint(open, &knMjcfJointType, jointDefault);
}

// A free joint by its short name takes nothing from defaults: every bit that a default may give is set.
static bool openFreeJoint(const Opening* open) {
	knMjcfJoint joint = jointDefault;
	joint.type = KN_MJCF_FREE;
	joint.element.given =
		~(KN_MJCF_BIT(KN_MJCF_NAME) | KN_MJCF_BIT(KN_MJCF_CLASS) | KN_MJCF_BIT(KN_MJCF_JOINT_RANGE) |
		  KN_MJCF_BIT(KN_MJCF_JOINT_FORCERANGE) | KN_MJCF_BIT(KN_MJCF_JOINT_SPRINGDAMPER));
	memset(joint.element.counts, UINT8_MAX, sizeof joint.element.counts); // and all of its numbers
	joint.limited = joint.forceLimited = KN_MJCF_LIMITED_FALSE;
	return keepJoint(open, &knMjcfFreeJointType, joint);
}

// --- equalities, contact, keyframes, customs -----------------------------------------------------------------

static bool openEqualityOf(const Opening* open, const knMjcfElementType* type, int kind) {
	knMjcfEquality equality = equalityDefault;
	equality.kind = kind;
	return READ_AND_KEEP(open, type, equalities, equality);
}

static bool openConnect(const Opening* open) {
	return openEqualityOf(open, &knMjcfConnectType, KN_MJCF_CONNECT);
}

static bool openWeld(const Opening* open) {
	return openEqualityOf(open, &knMjcfWeldType, KN_MJCF_WELD);
}

static bool openCouple(const Opening* open) {
	return openEqualityOf(open, &knMjcfCoupleType, KN_MJCF_COUPLE);
}

static bool openExclude(const Opening* open) {
	knMjcfExclude exclude = { .body1 = NULL };
	return READ_AND_KEEP(open, &knMjcfExcludeType, excludes, exclude);
}

static bool openPair(const Opening* open) {
	knMjcfPair pair = pairDefault;
	return READ_AND_KEEP(open, &knMjcfPairType, pairs, pair);
}

static bool openKey(const Opening* open) {
	knMjcfKey key = { .time = 0.0 };
	return READ_AND_KEEP(open, &knMjcfKeyType, keys, key);
}

static bool openCustom(const Opening* open) {
	knMjcf* reader = open->reader;
	knMjcfCustom custom = { .text = strcmp(open->row->tag, "text") == 0 };
	if (!knMjcf_ReadElement(reader, custom.text ? &knMjcfTextType : &knMjcfNumericType, open->attributes,
							&custom)) {
		return false;
	}
	if (custom.element.name == NULL || strncmp(custom.element.name, "knuckle.", 8) != 0) {
		knMjcf_Note(reader, NULL, "<%s> '%.60s' ignored", open->row->tag,
					custom.element.name != NULL ? custom.element.name : "");
		return !reader->failed;
	}
	if (custom.data == NULL) {
		return knMjcf_Fail(reader, &custom.element, open->row->tag, KN_BAD_DATA, "it has no data");
	}
	return KEEP(reader, customs, custom);
}

// --- assets ------------------------------------------------------------------------------------------------

// What has no name is called as its file is, without folder and ending.
static bool nameByFile(knMjcf* reader, knMjcfElement* element, const char* file) {
	if (element->name != NULL || file == NULL) {
		return true;
	}
	const char* slash = strrchr(file, '/');
	const char* base = slash != NULL ? slash + 1 : file;
	const char* dot = strrchr(base, '.');
	const char* prefix = reader->prefix != NULL ? reader->prefix : "";
	const char* suffix = reader->attachSuffix != NULL ? reader->attachSuffix : "";
	const int length = dot != NULL ? (int)(dot - base) : (int)strlen(base);
	const size_t size = strlen(prefix) + (size_t)length + strlen(suffix) + 1;
	char* name = knArena_Take(&reader->arena, size);
	if (name == NULL) {
		return knMjcf_NoMemory(reader);
	}
	snprintf(name, size, "%s%.*s%s", prefix, length, base, suffix);
	element->name = name;
	return true;
}

static bool openMesh(const Opening* open) {
	knMjcfMesh mesh = meshDefault;
	return knMjcf_ReadElement(open->reader, &knMjcfMeshType, open->attributes, &mesh) &&
		   nameByFile(open->reader, &mesh.element, mesh.file) && KEEP(open->reader, meshes, mesh);
}

static bool openTexture(const Opening* open) {
	knMjcfTexture texture = textureDefault;
	return knMjcf_ReadElement(open->reader, &knMjcfTextureType, open->attributes, &texture) &&
		   nameByFile(open->reader, &texture.element, texture.file) && KEEP(open->reader, textures, texture);
}

static bool openMaterial(const Opening* open) {
	knMjcfMaterial material = materialDefault;
	open->level->index = open->reader->materials.count;
	return READ_AND_KEEP(open, &knMjcfMaterialType, materials, material);
}

// Of several textures the one that colours.
static bool openLayer(const Opening* open) {
	knMjcfLayer layer = { .texture = NULL };
	knMjcfMaterial* material = open->row->place == KN_MJCF_IN_MATERIAL
								   ? &open->reader->materials.items[open->level->index]
								   : &classAt(open)->material;
	if (!knMjcf_ReadElement(open->reader, &knMjcfLayerType, open->attributes, &layer)) {
		return false;
	}
	if (layer.texture != NULL && (layer.role == NULL || strncmp(layer.role, "rgb", 3) == 0)) {
		material->texture = layer.texture;
		material->element.given |= KN_MJCF_BIT(KN_MJCF_MATERIAL_TEXTURE);
	}
	return true;
}

static bool openHfield(const Opening* open) {
	knMjcfHfield field = { .file = NULL };
	return knMjcf_ReadElement(open->reader, &knMjcfHfieldType, open->attributes, &field) &&
		   nameByFile(open->reader, &field.element, field.file) && KEEP(open->reader, hfields, field);
}

static bool openSource(const Opening* open) {
	knMjcfSource source = { .file = NULL };
	return READ_AND_KEEP(open, &knMjcfSourceType, sources, source);
}

// --- actuators, tendons, sensors -----------------------------------------------------------------------------

static bool keepActuator(const Opening* open, knMjcfActuatorKind kind) {
	knMjcfActuator actuator = actuatorDefault;
	actuator.kind = kind;
	return READ_AND_KEEP(open, &knMjcfActuatorType, actuators, actuator);
}

static bool openGeneral(const Opening* open) {
	return keepActuator(open, KN_MJCF_GENERAL);
}

static bool openMotor(const Opening* open) {
	return keepActuator(open, KN_MJCF_MOTOR);
}

static bool openPosition(const Opening* open) {
	return keepActuator(open, KN_MJCF_POSITION);
}

static bool openVelocity(const Opening* open) {
	return keepActuator(open, KN_MJCF_VELOCITY);
}

static bool openIntVelocity(const Opening* open) {
	return keepActuator(open, KN_MJCF_INTVELOCITY);
}

static bool openDamper(const Opening* open) {
	return keepActuator(open, KN_MJCF_DAMPER);
}

static bool openAdhesion(const Opening* open) {
	return keepActuator(open, KN_MJCF_ADHESION);
}

static bool openMuscle(const Opening* open) {
	return keepActuator(open, KN_MJCF_MUSCLE);
}

static bool openPlugin(const Opening* open) {
	open->level->index = open->reader->actuators.count;
	return keepActuator(open, KN_MJCF_PLUGIN);
}

// <plugin> of an <extension>: only says which there are; what uses one decides.
static bool openExtensionPlugin(const Opening* open) {
	(void)open;
	return true;
}

static bool openInstance(const Opening* open) {
	knMjcfInstance instance = { .config = { 0.0 } };
	open->level->index = open->reader->instances.count;
	return READ_AND_KEEP(open, &knMjcfInstanceType, instances, instance);
}

// A key and its value, of an instance or of an actuator by itself.
static bool openConfig(const Opening* open) {
	knMjcf* reader = open->reader;
	const char *key = NULL, *value = NULL;
	for (int i = 0; open->attributes[i] != NULL; i += 2) {
		key = strcmp(open->attributes[i], "key") == 0 ? open->attributes[i + 1] : key;
		value = strcmp(open->attributes[i], "value") == 0 ? open->attributes[i + 1] : value;
	}
	if (key == NULL || value == NULL) {
		return knMjcf_Fail(reader, NULL, "config", KN_BAD_DATA, "it needs a key and a value");
	}
	double* config = open->row->place == KN_MJCF_IN_INSTANCE
						 ? reader->instances.items[open->level->index].config
						 : reader->actuators.items[open->level->index].config;
	for (int i = 0; knMjcfConfigWords[i] != NULL; ++i) {
		char bad[32];
		if (strcmp(knMjcfConfigWords[i], key) == 0) {
			return knMjcf_ParseNumbers(value, &config[i], 1, bad) == 1 ||
				   knMjcf_Fail(reader, NULL, "config", KN_BAD_DATA, "the value of %s is '%.40s'", key, value);
		}
	}
	knMjcf_Note(reader, NULL, "<config> %.60s ignored", key);
	return !reader->failed;
}

static bool openTendon(const Opening* open) {
	knMjcfTendon tendon = tendonDefault;
	tendon.spatial = strcmp(open->row->tag, "spatial") == 0;
	tendon.first = open->reader->tendonParts.count;
	open->level->index = open->reader->tendons.count;
	return READ_AND_KEEP(open, &knMjcfTendonType, tendons, tendon);
}

static bool keepPart(const Opening* open, const knMjcfElementType* type, knMjcfTendonPartKind kind) {
	knMjcfTendonPart part = { .kind = kind, .number = 1.0 };
	open->reader->tendons.items[open->level->index].count += 1;
	return READ_AND_KEEP(open, type, tendonParts, part);
}

static bool openPartJoint(const Opening* open) {
	return keepPart(open, &knMjcfTendonJointType, KN_MJCF_PART_JOINT);
}

static bool openPartSite(const Opening* open) {
	return keepPart(open, &knMjcfTendonSiteType, KN_MJCF_PART_SITE);
}

static bool openPartGeom(const Opening* open) {
	return keepPart(open, &knMjcfTendonGeomType, KN_MJCF_PART_GEOM);
}

static bool openPartPulley(const Opening* open) {
	return keepPart(open, &knMjcfTendonPulleyType, KN_MJCF_PART_PULLEY);
}

static bool openSensor(const Opening* open, const char* tag) {
	knMjcf* reader = open->reader;
	knMjcfSensor sensor = { .row = knMjcf_FindSensor(tag) };
	open->level->place = KN_MJCF_IN_IGNORED;
	if (sensor.row == NULL) {
		knMjcf_Note(reader, NULL, "<%.60s> (sensor) ignored", tag);
		return !reader->failed;
	}
	return READ_AND_KEEP(open, &knMjcfSensorType, sensors, sensor);
}

// --- the table ---------------------------------------------------------------------------------------------

#define IN(place) KN_MJCF_IN_##place

static const Row rows[] = {
	{ IN(BODY), "geom", openGeom, IN(LEAF) },
	{ IN(BODY), "joint", openJoint, IN(LEAF) },
	{ IN(BODY), "site", openSite, IN(LEAF) },
	{ IN(BODY), "freejoint", openFreeJoint, IN(LEAF) },
	{ IN(BODY), "inertial", openInertial, IN(LEAF) },
	{ IN(BODY), "body", openBody, IN(BODY) },
	{ IN(BODY), "frame", openFrame, IN(BODY) },
	{ IN(BODY), "attach", openAttach, IN(LEAF) },
	{ IN(BODY), "camera", openCamera, IN(IGNORED) },
	{ IN(BODY), "light", openLight, IN(LEAF) },
	{ IN(BODY), "composite", openOmitted, IN(IGNORED) },
	{ IN(BODY), "flexcomp", openOmitted, IN(IGNORED) },
	{ IN(BODY), "plugin", openOmitted, IN(IGNORED) },
	{ IN(ATTACHED), "body", openAttachedBody, IN(BODY) },
	{ IN(DOCUMENT), "mujoco", openModel, IN(MUJOCO) },
	{ IN(MUJOCO), "compiler", openCompiler, IN(IGNORED) },
	{ IN(MUJOCO), "option", openOption, IN(OPTION) },
	{ IN(MUJOCO), "default", openDefault, IN(DEFAULT) },
	{ IN(MUJOCO), "worldbody", openWorldBody, IN(BODY) },
	{ IN(MUJOCO), "equality", openSection, IN(EQUALITY) },
	{ IN(MUJOCO), "contact", openSection, IN(CONTACT) },
	{ IN(MUJOCO), "keyframe", openOwn, IN(KEYFRAME) },
	{ IN(MUJOCO), "custom", openOwn, IN(CUSTOM) },
	{ IN(MUJOCO), "asset", openSection, IN(ASSET) },
	{ IN(MUJOCO), "actuator", openSection, IN(ACTUATOR) },
	{ IN(MUJOCO), "tendon", openSection, IN(TENDON) },
	{ IN(MUJOCO), "sensor", openSection, IN(SENSOR) },
	{ IN(MUJOCO), "size", openSilent, IN(IGNORED) },
	{ IN(MUJOCO), "visual", openSilent, IN(VISUAL) },
	{ IN(VISUAL), "global", openGlobal, IN(IGNORED) },
	{ IN(VISUAL), "headlight", openHeadlight, IN(LEAF) },
	{ IN(MUJOCO), "statistic", openSilent, IN(IGNORED) },
	{ IN(MUJOCO), "deformable", openOmitted, IN(IGNORED) },
	{ IN(MUJOCO), "extension", openSection, IN(EXTENSION) },
	{ IN(EXTENSION), "plugin", openExtensionPlugin, IN(PLUGIN) },
	{ IN(PLUGIN), "instance", openInstance, IN(INSTANCE) },
	{ IN(INSTANCE), "config", openConfig, IN(LEAF) },
	{ IN(OPTION), "flag", openFlag, IN(LEAF) },
	{ IN(DEFAULT), "default", openDefault, IN(DEFAULT) },
	{ IN(DEFAULT), "geom", openDefaultGeom, IN(LEAF) },
	{ IN(DEFAULT), "joint", openDefaultJoint, IN(LEAF) },
	{ IN(DEFAULT), "equality", openDefaultEquality, IN(LEAF) },
	{ IN(DEFAULT), "site", openDefaultSite, IN(LEAF) },
	{ IN(DEFAULT), "mesh", openDefaultMesh, IN(LEAF) },
	{ IN(DEFAULT), "material", openDefaultMaterial, IN(DEFAULT_MATERIAL) },
	{ IN(DEFAULT_MATERIAL), "layer", openLayer, IN(LEAF) },
	{ IN(DEFAULT), "general", openDefaultActuator, IN(LEAF) },
	{ IN(DEFAULT), "motor", openDefaultActuator, IN(LEAF) },
	{ IN(DEFAULT), "position", openDefaultActuator, IN(LEAF) },
	{ IN(DEFAULT), "velocity", openDefaultActuator, IN(LEAF) },
	{ IN(DEFAULT), "intvelocity", openDefaultActuator, IN(LEAF) },
	{ IN(DEFAULT), "damper", openDefaultActuator, IN(LEAF) },
	{ IN(DEFAULT), "adhesion", openDefaultActuator, IN(LEAF) },
	{ IN(DEFAULT), "muscle", openDefaultMuscle, IN(LEAF) },
	{ IN(DEFAULT), "plugin", openDefaultActuator, IN(IGNORED) },
	{ IN(DEFAULT), "tendon", openDefaultTendon, IN(LEAF) },
	{ IN(DEFAULT), "pair", openDefaultPair, IN(LEAF) },
	{ IN(DEFAULT), "camera", openSilent, IN(IGNORED) },
	{ IN(DEFAULT), "light", openDefaultLight, IN(LEAF) },
	// of actuators that are left out where they stand
	{ IN(DEFAULT), "cylinder", openSilent, IN(IGNORED) },
	{ IN(EQUALITY), "connect", openConnect, IN(LEAF) },
	{ IN(EQUALITY), "weld", openWeld, IN(LEAF) },
	{ IN(EQUALITY), "joint", openCouple, IN(LEAF) },
	{ IN(CONTACT), "exclude", openExclude, IN(LEAF) },
	{ IN(CONTACT), "pair", openPair, IN(LEAF) },
	{ IN(KEYFRAME), "key", openKey, IN(LEAF) },
	{ IN(CUSTOM), "numeric", openCustom, IN(LEAF) },
	{ IN(CUSTOM), "text", openCustom, IN(LEAF) },
	{ IN(CUSTOM), "tuple", openSilent, IN(IGNORED) },
	{ IN(ASSET), "mesh", openMesh, IN(IGNORED) },
	{ IN(ASSET), "material", openMaterial, IN(MATERIAL) },
	{ IN(MATERIAL), "layer", openLayer, IN(LEAF) },
	{ IN(ASSET), "model", openSource, IN(LEAF) },
	{ IN(ASSET), "texture", openTexture, IN(IGNORED) },
	{ IN(ASSET), "hfield", openHfield, IN(IGNORED) },
	{ IN(ASSET), "skin", openSilent, IN(IGNORED) },
	{ IN(ACTUATOR), "general", openGeneral, IN(LEAF) },
	{ IN(ACTUATOR), "motor", openMotor, IN(LEAF) },
	{ IN(ACTUATOR), "position", openPosition, IN(LEAF) },
	{ IN(ACTUATOR), "velocity", openVelocity, IN(LEAF) },
	{ IN(ACTUATOR), "intvelocity", openIntVelocity, IN(LEAF) },
	{ IN(ACTUATOR), "damper", openDamper, IN(LEAF) },
	{ IN(ACTUATOR), "adhesion", openAdhesion, IN(LEAF) },
	{ IN(ACTUATOR), "muscle", openMuscle, IN(LEAF) },
	{ IN(ACTUATOR), "plugin", openPlugin, IN(ACTUATOR_PLUGIN) },
	{ IN(ACTUATOR_PLUGIN), "config", openConfig, IN(LEAF) },
	{ IN(TENDON), "fixed", openTendon, IN(TENDON_PATH) },
	{ IN(TENDON), "spatial", openTendon, IN(TENDON_PATH) },
	{ IN(TENDON_PATH), "joint", openPartJoint, IN(LEAF) },
	{ IN(TENDON_PATH), "site", openPartSite, IN(LEAF) },
	{ IN(TENDON_PATH), "geom", openPartGeom, IN(LEAF) },
	{ IN(TENDON_PATH), "pulley", openPartPulley, IN(LEAF) },
};

static const Row* findRow(knMjcfPlace place, const char* tag) {
	for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
		if (rows[i].place == place && strcmp(rows[i].tag, tag) == 0) {
			return &rows[i];
		}
	}
	return NULL;
}

bool knMjcf_Open(knMjcf* reader, const knMjcfAttach* attach, const char* tag, const char** attributes,
				 knMjcfLevel* level) {
	const knMjcfPlace place = level->place;
	if (place == KN_MJCF_IN_IGNORED) {
		return true;
	}
	Opening open = { reader, attach, findRow(place, tag), attributes, level };
	if (place == KN_MJCF_IN_SENSOR) {
		return openSensor(&open, tag);
	}
	if (open.row != NULL) {
		level->place = open.row->inside;
		return open.row->open(&open);
	}
	if (place == KN_MJCF_IN_DOCUMENT) {
		return knMjcf_Fail(reader, NULL, tag, KN_BAD_DATA,
						   "the root element is <%.40s>; an MJCF file begins with <mujoco>", tag);
	}
	level->place = KN_MJCF_IN_IGNORED;
	if (place == KN_MJCF_IN_VISUAL || place == KN_MJCF_IN_MATERIAL || place == KN_MJCF_IN_DEFAULT_MATERIAL) {
		return true;
	}
	if (place == KN_MJCF_IN_ATTACHED) {
		knMjcf_Note(reader, NULL, "<%.60s> of the world of an attached model ignored", tag);
		return !reader->failed;
	}
	return knMjcf_Omit(reader, NULL, "<%.60s> left out", tag);
}
