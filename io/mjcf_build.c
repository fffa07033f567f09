// From elements to a scene: defaults and names are resolved, bodies sorted into moving ones, fixed ones and parts
// welded to others, shapes, masses, poses and joints planned, and all of it added to a knScene in the end.
//
//   body with joints                     a dynamic body, joined to what its parent belongs to
//   body without, under the world        a fixed body, with its name; so are such bodies inside it
//   body without, under a moving body    part of that body: its geoms and mass move over
//   mocap, or knuckle.kinematic          a kinematic body
#include "knuckle/world.h"
#include "mjcf.h"

#include <stdio.h>
#include <string.h>

// what runs a file with joints that names no stepper, and what does where that cannot; files of free bodies keep the library's
// choice
#define JOINT_STEPPER "reduced"
#define OTHER_STEPPER "velocity"

static const char* nameOf(const knMjcfElement* element) {
	return element->name != NULL ? element->name : "(unnamed)";
}

// --- defaults --------------------------------------------------------------------------------------------

static bool findClass(knMjcf* reader, const knMjcfElement* element, const char* tag, const char* name,
					  int* index) {
	*index = knNameTable_Get(&reader->classNames, name);
	return *index >= 0 ||
		   knMjcf_Fail(reader, element, tag, KN_BAD_DATA, "there is no default class '%.60s'", name);
}

// An element's own class, else that of the nearest <frame> or body around it.
static bool classOf(knMjcf* reader, const knMjcfElement* element, const char* tag, int bodyClass,
					int* index) {
	if (element->className != NULL) {
		return findClass(reader, element, tag, element->className, index);
	}
	return knMjcf_FrameClass(reader, element->frame, bodyClass, index);
}

// Each class takes what it does not say from its parent.
static void inheritClasses(knMjcf* reader) {
	for (int i = 1; i < reader->classes.count; ++i) {
		knMjcfClass* class = &reader->classes.items[i];
		const knMjcfClass* parent = &reader->classes.items[class->parent];
		knMjcf_Inherit(&knMjcfGeomType, &class->geom, &parent->geom);
		knMjcf_Inherit(&knMjcfJointType, &class->joint, &parent->joint);
		knMjcf_Inherit(&knMjcfEqualityType, &class->equality, &parent->equality);
		knMjcf_Inherit(&knMjcfSiteType, &class->site, &parent->site);
		knMjcf_Inherit(&knMjcfMeshType, &class->mesh, &parent->mesh);
		knMjcf_Inherit(&knMjcfMaterialType, &class->material, &parent->material);
		knMjcf_Inherit(&knMjcfLightType, &class->light, &parent->light);
		knMjcf_Inherit(&knMjcfActuatorType, &class->actuator, &parent->actuator);
		knMjcf_Inherit(&knMjcfTendonType, &class->tendon, &parent->tendon);
		knMjcf_Inherit(&knMjcfPairType, &class->pair, &parent->pair);
	}
}

// The class of elements that name none: the nearest childclass on the way to the world, else the root.
static bool findBodyClasses(knMjcf* reader, int* bodyClass) {
	for (int b = 0; b < reader->bodies.count; ++b) {
		const knMjcfBody* body = &reader->bodies.items[b];
		bodyClass[b] = b > 0 ? bodyClass[body->parent] : 0;
		if (b > 0 && !knMjcf_FrameClass(reader, body->element.frame, bodyClass[b], &bodyClass[b])) {
			return false;
		}
		if (body->childClass != NULL &&
			!findClass(reader, &body->element, "body", body->childClass, &bodyClass[b])) {
			return false;
		}
	}
	return true;
}

// Elements that stand in no body take the root class unless they name another.
#define INHERIT_ALL(array, type, member, tag)                                                                \
	for (int i = 0; i < reader->array.count; ++i) {                                                          \
		knMjcfElement* element = &reader->array.items[i].element;                                            \
		int class;                                                                                           \
		element->frame = -1;                                                                                 \
		if (!classOf(reader, element, tag, 0, &class)) {                                                     \
			return false;                                                                                    \
		}                                                                                                    \
		knMjcf_Inherit(&type, element, &reader->classes.items[class].member);                                \
	}

static bool applySectionDefaults(knMjcf* reader) {
	INHERIT_ALL(equalities, knMjcfEqualityType, equality, "equality")
	INHERIT_ALL(meshes, knMjcfMeshType, mesh, "mesh")
	INHERIT_ALL(materials, knMjcfMaterialType, material, "material")
	INHERIT_ALL(actuators, knMjcfActuatorType, actuator, "actuator")
	INHERIT_ALL(tendons, knMjcfTendonType, tendon, "tendon")
	INHERIT_ALL(pairs, knMjcfPairType, pair, "pair")
	return true;
}

static bool applyDefaults(knMjcf* reader) {
	const knMjcfClass* classes = reader->classes.items;
	int* bodyClass = KN_SCRATCH(&reader->arena, int, reader->bodies.count);
	if (bodyClass == NULL) {
		return knMjcf_NoMemory(reader);
	}
	inheritClasses(reader);
	if (!findBodyClasses(reader, bodyClass)) {
		return false;
	}

	int class;
	for (int i = 0; i < reader->geoms.count; ++i) {
		knMjcfGeom* geom = &reader->geoms.items[i];
		if (!classOf(reader, &geom->element, "geom", bodyClass[geom->body], &class)) {
			return false;
		}
		knMjcf_Inherit(&knMjcfGeomType, geom, &classes[class].geom);
	}
	for (int i = 0; i < reader->joints.count; ++i) {
		knMjcfJoint* joint = &reader->joints.items[i];
		if (!classOf(reader, &joint->element, "joint", bodyClass[joint->body], &class)) {
			return false;
		}
		knMjcf_Inherit(&knMjcfJointType, joint, &classes[class].joint);
	}
	for (int i = 0; i < reader->sites.count; ++i) {
		knMjcfSite* site = &reader->sites.items[i];
		if (!classOf(reader, &site->element, "site", bodyClass[site->body], &class)) {
			return false;
		}
		knMjcf_Inherit(&knMjcfSiteType, site, &classes[class].site);
	}
	for (int i = 0; i < reader->lights.count; ++i) {
		knMjcfLight* light = &reader->lights.items[i];
		if (!classOf(reader, &light->element, "light", bodyClass[light->body], &class)) {
			return false;
		}
		knMjcf_Inherit(&knMjcfLightType, light, &classes[class].light);
	}
	return applySectionDefaults(reader);
}

// --- names -----------------------------------------------------------------------------------------------

// Fills `table` from the names of an array of elements; each may stand only once.
static bool collectNames(knMjcf* reader, knNameTable* table, const char* tag, const void* elements, int count,
						 size_t stride) {
	for (int i = 0; i < count; ++i) {
		const knMjcfElement* element = (const void*)((const char*)elements + (size_t)i * stride);
		if (element->name == NULL) {
			continue;
		}
		int known = knNameTable_Get(table, element->name);
		if (known >= 0) {
			const knMjcfElement* first = (const void*)((const char*)elements + (size_t)known * stride);
			if (first->line == 0) {
				return knMjcf_Fail(reader, element, tag, KN_BAD_DATA, "the name '%.60s' is taken",
								   element->name);
			}
			return knMjcf_Fail(reader, element, tag, KN_BAD_DATA,
							   "the name '%.60s' is taken, first in line %d", element->name, first->line);
		}
		if (!knNameTable_Set(table, element->name, i)) {
			return knMjcf_NoMemory(reader);
		}
	}
	return true;
}

static bool collectAllNames(knMjcf* reader) {
	// <worldbody> has a line, but the world's name was not written there
	reader->bodies.items[0].element.line = 0;
	return collectNames(reader, &reader->bodyNames, "body", reader->bodies.items, reader->bodies.count,
						sizeof(knMjcfBody)) &&
		   collectNames(reader, &reader->geomNames, "geom", reader->geoms.items, reader->geoms.count,
						sizeof(knMjcfGeom)) &&
		   collectNames(reader, &reader->jointNames, "joint", reader->joints.items, reader->joints.count,
						sizeof(knMjcfJoint)) &&
		   collectNames(reader, &reader->siteNames, "site", reader->sites.items, reader->sites.count,
						sizeof(knMjcfSite)) &&
		   collectNames(reader, &reader->meshNames, "mesh", reader->meshes.items, reader->meshes.count,
						sizeof(knMjcfMesh)) &&
		   collectNames(reader, &reader->materialNames, "material", reader->materials.items,
						reader->materials.count, sizeof(knMjcfMaterial)) &&
		   collectNames(reader, &reader->actuatorNames, "actuator", reader->actuators.items,
						reader->actuators.count, sizeof(knMjcfActuator)) &&
		   collectNames(reader, &reader->tendonNames, "tendon", reader->tendons.items, reader->tendons.count,
						sizeof(knMjcfTendon)) &&
		   collectNames(reader, &reader->hfieldNames, "hfield", reader->hfields.items, reader->hfields.count,
						sizeof(knMjcfHfield)) &&
		   collectNames(reader, &reader->instanceNames, "instance", reader->instances.items,
						reader->instances.count, sizeof(knMjcfInstance)) &&
		   collectNames(reader, &reader->keyNames, "key", reader->keys.items, reader->keys.count,
						sizeof(knMjcfKey));
}

bool knMjcf_FindBody(knMjcf* reader, const knMjcfElement* element, const char* tag, const char* name,
					 int* body) {
	*body = knNameTable_Get(&reader->bodyNames, name);
	if (*body >= 0) {
		return true;
	}
	const char* suggestion =
		knMjcf_SuggestElement(reader, name, reader->bodies.items, reader->bodies.count, sizeof(knMjcfBody));
	return knMjcf_Fail(reader, element, tag, KN_BAD_DATA, "there is no body named '%.60s'%s", name,
					   suggestion);
}

// --- the tree --------------------------------------------------------------------------------------------

// Joints by body, in the order in which they are written, as MuJoCo numbers them.
static bool sortJoints(knMjcf* reader) {
	const int count = reader->joints.count;
	reader->jointOrder = KN_SCRATCH(&reader->arena, int, count);
	reader->jointStart = KN_SCRATCH(&reader->arena, int, count);
	if (reader->jointOrder == NULL || reader->jointStart == NULL) {
		return knMjcf_NoMemory(reader);
	}
	for (int i = 0; i < count; ++i) {
		reader->nodes[reader->joints.items[i].body].jointCount += 1;
	}
	int at = 0;
	for (int b = 0; b < reader->bodies.count; ++b) {
		reader->nodes[b].firstJoint = at;
		at += reader->nodes[b].jointCount;
		reader->nodes[b].jointCount = 0;
	}
	for (int i = 0; i < count; ++i) {
		knMjcfNode* node = &reader->nodes[reader->joints.items[i].body];
		reader->jointOrder[node->firstJoint + node->jointCount++] = i;
	}
	int start = 0;
	for (int i = 0; i < count; ++i) {
		reader->jointStart[reader->jointOrder[i]] = start;
		start += knMjcf_JointNq(&reader->joints.items[reader->jointOrder[i]]);
	}
	return true;
}

// A body with joints. A kinematic one may have a free joint, which only gives it a place in keyframes.
static bool planMovingBody(knMjcf* reader, int b) {
	knMjcfNode* node = &reader->nodes[b];
	const knMjcfBody* body = &reader->bodies.items[b];
	node->kind = node->kinematic ? KN_BODY_KINEMATIC : KN_BODY_DYNAMIC;
	for (int i = 0; i < node->jointCount; ++i) {
		const knMjcfJoint* joint = &reader->joints.items[reader->jointOrder[node->firstJoint + i]];
		if (joint->type != KN_MJCF_FREE) {
			if (node->kinematic) {
				return knMjcf_Fail(
					reader, &joint->element, "joint", KN_BAD_DATA,
					"body '%.60s' is kinematic; it moves by its own velocity and takes no joint",
					nameOf(&body->element));
			}
			continue;
		}
		if (body->parent != 0) {
			return knMjcf_Fail(reader, &joint->element, "joint", KN_BAD_DATA,
							   "a free joint must belong to a body that stands directly in <worldbody>");
		}
		if (node->jointCount > 1) {
			return knMjcf_Fail(reader, &joint->element, "joint", KN_BAD_DATA,
							   "a free joint must be the only joint of its body");
		}
	}
	return true;
}

static bool planTree(knMjcf* reader) {
	reader->nodes[0].kind = KN_BODY_FIXED;
	for (int b = 1; b < reader->bodies.count; ++b) {
		const knMjcfBody* body = &reader->bodies.items[b];
		knMjcfNode* node = &reader->nodes[b];
		const knMjcfNode* parent = &reader->nodes[body->parent];
		const knMjcfNode* owner = &reader->nodes[parent->owner];
		node->local.p = body->element.pos;
		if (!knMjcf_Orientation(reader, &body->element, "body", &node->local.q)) {
			return false;
		}
		node->owner = b;
		if (node->kinematic && owner->kind != KN_BODY_FIXED) {
			return knMjcf_Fail(reader, &body->element, "body", KN_BAD_DATA,
							   "a kinematic body cannot be part of one that moves");
		}
		if (node->jointCount > 0) {
			if (!planMovingBody(reader, b)) {
				return false;
			}
		} else if (owner->kind == KN_BODY_FIXED) {
			node->kind = node->kinematic ? KN_BODY_KINEMATIC : KN_BODY_FIXED;
		} else {
			node->kind = owner->kind;
			node->owner = parent->owner;
			node->weld = parent->owner == body->parent ? node->local : knMulF(parent->weld, node->local);
			knMjcf_Note(reader, &body->element, "<body> '%.40s' has no joint: part of body '%.40s'",
						nameOf(&body->element), nameOf(&reader->bodies.items[node->owner].element));
		}
	}
	return !reader->failed;
}

static bool makeNodes(knMjcf* reader) {
	reader->nodes = KN_SCRATCH_ZERO(&reader->arena, knMjcfNode, reader->bodies.count);
	if (reader->nodes == NULL) {
		return knMjcf_NoMemory(reader);
	}
	for (int b = 0; b < reader->bodies.count; ++b) {
		const knMjcfBody* body = &reader->bodies.items[b];
		knMjcfNode* node = &reader->nodes[b];
		node->weld = node->local = node->reference = node->frame = knIdentityF();
		node->def = knBodyDef_Default();
		node->def.name = body->element.name;
		node->def.gravityScale = 1.0 - body->gravcomp;
		node->kinematic = body->mocap != 0;
	}
	return true;
}

// --- the scene -------------------------------------------------------------------------------------------

// The file's own name for the model, else the file name without folder and ending.
static bool planScene(knMjcf* reader) {
	knSceneDef* def = &reader->sceneDef;
	*def = knSceneDef_Default();
	def->view = reader->view;
	def->gravity = reader->option.gravity;
	def->dt = reader->option.timestep;
	def->frictionCombine = KN_COMBINE_MAX;
	for (int i = 0; i < reader->joints.count; ++i) {
		if (reader->joints.items[i].type != KN_MJCF_FREE) {
			def->stepper = JOINT_STEPPER;
		}
	}
	def->mediumDensity = reader->option.density;
	def->mediumViscosity = reader->option.viscosity;
	def->name = reader->model.model;
	if (def->name == NULL) {
		const char* slash = strrchr(reader->file, '/');
		char stem[64];
		snprintf(stem, sizeof stem, "%.63s", slash != NULL ? slash + 1 : reader->file);
		stem[strcspn(stem, ".")] = '\0';
		def->name = knMjcf_CopyText(reader, stem);
	}
	return def->name != NULL;
}

// i-th to be added, of `count`.
static int ordered(const int* order, int i) {
	return order != NULL ? order[i] : i;
}

// A body takes its velocity at the centre of mass; the keyframe's is that of the origin.
static void placeBody(knMjcf* reader, knMjcfNode* node) {
	const bool exact = reader->key == NULL;
	if (!(node->hasFrame && exact)) {
		node->def.frame = node->frame;
	}
	if (!(node->hasVelocity && exact) && !node->kinematic) {
		knVec3 arm = knRotate(node->frame.q, node->mass.center);
		node->def.angularVelocity = node->velocity.ang;
		node->def.velocity = knAdd(node->velocity.lin, knCross(node->velocity.ang, arm));
	}
	node->def.kind = node->kind;
	node->def.hasMass = node->massGiven;
	node->def.mass = node->mass;
}

const char* knMjcf_FreshName(knMjcf* reader, knNameTable* table, const char* kind, int index) {
	char text[64];
	snprintf(text, sizeof text, "%s%d", kind, index);
	for (int k = 2; knNameTable_Get(table, text) >= 0; ++k) {
		snprintf(text, sizeof text, "%s%d_%d", kind, index, k);
	}
	if (!knNameTable_Set(table, text, index)) {
		knMjcf_NoMemory(reader);
		return NULL;
	}
	return knMjcf_CopyText(reader, text);
}

static bool addBodies(knMjcf* reader) {
	// those that become bodies of the scene
	int* owners = KN_SCRATCH(&reader->arena, int, reader->bodies.count);
	if (owners == NULL) {
		return knMjcf_NoMemory(reader);
	}
	int count = 0;
	for (int b = 1; b < reader->bodies.count; ++b) {
		if (reader->nodes[b].owner == b) {
			owners[count++] = b;
		}
	}
	for (int i = 0; i < count; ++i) {
		const int b = owners[ordered(reader->bodyOrder, i)];
		knMjcfNode* node = &reader->nodes[b];
		placeBody(reader, node);
		if (node->def.name == NULL || node->def.name[0] == '\0') {
			node->def.name = knMjcf_FreshName(reader, &reader->bodyNames, "body", i);
			if (node->def.name == NULL) {
				return false;
			}
		}
		knError cause = { .status = KN_OK };
		node->id = knScene_AddBody(reader->scene, &node->def, &cause);
		if (KN_ID_IS_NULL(node->id)) {
			return knMjcf_FailFrom(reader, &reader->bodies.items[b].element, &cause);
		}
	}
	return true;
}

static bool addShapes(knMjcf* reader) {
	int* present = KN_SCRATCH(&reader->arena, int, reader->geoms.count);
	if (present == NULL) {
		return knMjcf_NoMemory(reader);
	}
	int count = 0;
	for (int i = 0; i < reader->geoms.count; ++i) {
		if (reader->shapes[i].geom != NULL && !reader->shapes[i].weightOnly) {
			present[count++] = i;
		}
	}
	for (int i = 0; i < count; ++i) {
		knMjcfShape* shape = &reader->shapes[present[ordered(reader->shapeOrder, i)]];
		knError cause = { .status = KN_OK };
		shape->def.material = shape->material >= 0 ? reader->materials.items[shape->material].number : 0;
		knShapeId id =
			knScene_AddShape(reader->scene, reader->nodes[shape->node].id, shape->geom, &shape->def, &cause);
		if (KN_ID_IS_NULL(id)) {
			return knMjcf_FailFrom(reader, &reader->geoms.items[shape->source].element, &cause);
		}
	}
	return true;
}

static bool addJoints(knMjcf* reader) {
	for (int i = 0; i < reader->links.count; ++i) {
		knMjcfLink* link = &reader->links.items[ordered(reader->linkOrder, i)];
		if (link->def.name == NULL || link->def.name[0] == '\0') {
			link->def.name = knMjcf_FreshName(reader, &reader->linkNames, "joint", i);
			if (link->def.name == NULL) {
				return false;
			}
		}
		link->def.parent = reader->nodes[link->parent].id;
		link->def.child = reader->nodes[link->child].id;
		knError cause = { .status = KN_OK };
		link->id = knScene_AddJoint(reader->scene, &link->def, &cause);
		if (KN_ID_IS_NULL(link->id)) {
			return knMjcf_FailFrom(reader, link->element, &cause);
		}
	}
	return true;
}

static bool addExclusions(knMjcf* reader) {
	for (int i = 0; i < reader->excludes.count; ++i) {
		const knMjcfExclude* exclude = &reader->excludes.items[i];
		if (exclude->body1 == NULL || exclude->body2 == NULL) {
			return knMjcf_Fail(reader, &exclude->element, "exclude", KN_BAD_DATA, "it needs body1 and body2");
		}
		int a, b;
		if (!knMjcf_FindBody(reader, &exclude->element, "exclude", exclude->body1, &a) ||
			!knMjcf_FindBody(reader, &exclude->element, "exclude", exclude->body2, &b)) {
			return false;
		}
		a = reader->nodes[a].owner;
		b = reader->nodes[b].owner;
		knError cause = { .status = KN_OK };
		if (a != b &&
			knScene_ExcludePair(reader->scene, reader->nodes[a].id, reader->nodes[b].id, &cause) != KN_OK) {
			return knMjcf_FailFrom(reader, &exclude->element, &cause);
		}
	}
	return true;
}

static bool createScene(knMjcf* reader) {
	knError cause = { .status = KN_OK };
	reader->scene = knScene_Create(&reader->sceneDef, &reader->allocator, &cause);
	return reader->scene != NULL || knMjcf_FailFrom(reader, &reader->option.element, &cause);
}

static bool chooseStart(knMjcf* reader, const char* keyframe) {
	const knMjcfCustom* custom = knMjcf_FindKeyframe(reader);
	if (!knMjcf_CheckKeys(reader)) {
		return false;
	}
	if (keyframe != NULL ? !knMjcf_ChooseKey(reader, keyframe, NULL)
						 : custom != NULL && !knMjcf_ChooseKey(reader, custom->data, &custom->element)) {
		return false;
	}
	knMjcf_Pose(reader);
	return true;
}

// Bodies get new indices, so their names are collected anew.
static bool splitBodies(knMjcf* reader) {
	const int before = reader->bodies.count;
	if (!knMjcf_SplitBodies(reader) || reader->bodies.count == before) {
		return !reader->failed;
	}
	for (int b = 0; b < reader->bodies.count; ++b) {
		const char* name = reader->bodies.items[b].element.name;
		if (name != NULL && !knNameTable_Set(&reader->bodyNames, name, b)) {
			return knMjcf_NoMemory(reader);
		}
	}
	return true;
}

static bool namesStepper(const knMjcf* reader) {
	for (int i = 0; i < reader->customs.count; ++i) {
		if (strcmp(reader->customs.items[i].element.name, "knuckle.stepper") == 0) {
			return true;
		}
	}
	return false;
}

static bool hasLoops(const knMjcf* reader) {
	for (int i = 0; i < reader->links.count; ++i) {
		if (reader->links.items[i].def.loop) {
			return true;
		}
	}
	return false;
}

// Not every loop is one for 'reduced': it is asked, and where it refuses, and the file names no stepper, another one runs the file.
static bool chooseStepper(knMjcf* reader) {
	if (strcmp(knScene_GetDef(reader->scene)->stepper, JOINT_STEPPER) != 0 || namesStepper(reader) ||
		!hasLoops(reader)) {
		return true;
	}
	knError cause = { .status = KN_OK };
	knModel* model = knModel_Create(reader->scene, &cause);
	if (model == NULL) {
		// what is wrong is told where the scene is used
		return cause.status != KN_NO_MEMORY || knMjcf_NoMemory(reader);
	}
	knWorldDef def = knWorldDef_Default();
	def.stepper = JOINT_STEPPER;
	knWorld* world = knWorld_Create(model, &def, &cause);
	knModel_Release(model);
	if (world != NULL || cause.status == KN_NO_MEMORY) {
		knWorld_Destroy(world);
		return world != NULL || knMjcf_NoMemory(reader);
	}
	knMjcf_Note(reader, &reader->model.element, "runs with %s: %.100s", OTHER_STEPPER, cause.message);
	return !reader->failed &&
		   (knScene_SetStepper(reader->scene, OTHER_STEPPER, NULL) == KN_OK || knMjcf_NoMemory(reader));
}

bool knMjcf_Build(knMjcf* reader, const char* keyframe) {
	return knMjcf_CheckCompiler(reader) && knMjcf_CheckHfields(reader) && applyDefaults(reader) &&
		   knMjcf_ApplyOptions(reader) && collectAllNames(reader) && knMjcf_ResolveFrames(reader) &&
		   planScene(reader) && knMjcf_CheckJoints(reader) && splitBodies(reader) &&
		   // bodies
		   makeNodes(reader) && sortJoints(reader) && knMjcf_ReadCustoms(reader) &&
		   knMjcf_ApplyCustoms(reader, KN_MJCF_STAGE_TREE) && planTree(reader) &&
		   // shapes and masses
		   knMjcf_PlanShapes(reader) && knMjcf_ApplyCustoms(reader, KN_MJCF_STAGE_SCENE) &&
		   knMjcf_ApplyCustoms(reader, KN_MJCF_STAGE_PART) &&
		   knMjcf_ApplyCustoms(reader, KN_MJCF_STAGE_COMPOUND) && knMjcf_PlanMasses(reader) &&
		   // poses and joints
		   chooseStart(reader, keyframe) && knMjcf_ApplySpringDampers(reader) && knMjcf_PlanJoints(reader) &&
		   knMjcf_PlanEqualities(reader) && knMjcf_ApplyCustoms(reader, KN_MJCF_STAGE_JOINT) &&
		   knMjcf_ApplyCustoms(reader, KN_MJCF_STAGE_LIMIT) &&
		   knMjcf_ApplyCustoms(reader, KN_MJCF_STAGE_ORDER) &&
		   // the scene
		   createScene(reader) && addBodies(reader) && knMjcf_AddLooks(reader) && addShapes(reader) &&
		   addJoints(reader) && knMjcf_FitLoops(reader) && addExclusions(reader) &&
		   knMjcf_ExcludeSplit(reader) && knMjcf_AddControl(reader) && chooseStepper(reader);
}
