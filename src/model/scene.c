// The authored scene: add, remove, read, clone. What is allowed stands in scene_check.c.
//
// Every add works in the same order: choose the name, check, take all memory that can be missing, and only
// then change the scene; so a refused or failed call leaves it as it was.
//
// A user may edit defs in place, names included. A clone (and so every model) takes the edited names; the
// scene's own lookup by name keeps the old ones.
#include <stdio.h>
#include <string.h>

#include "model/scene_internal.h"

// --- defaults --------------------------------------------------------------------------------------------

knBodyDef knBodyDef_Default(void) {
	knBodyDef def = { .kind = KN_BODY_DYNAMIC, .frame = knIdentityF(), .gravityScale = 1.0 };
	return def;
}

knShapeDef knShapeDef_Default(void) {
	knShapeDef def = {
		.frame = knIdentityF(), .density = 1000.0, .friction = 0.6, .filter = knFilter_Default()
	};
	return def;
}

knJointDef knJointDef_Default(knJointKind kind) {
	knJointDef def = {
		.kind = kind,
		.frameParent = knIdentityF(),
		.frameChild = knIdentityF(),
		.coneY = 0.5 * KN_PI,
		.coneZ = 0.5 * KN_PI,
		.twistLower = -KN_PI,
		.twistUpper = KN_PI,
		.enabled = true,
	};
	return def;
}

knSceneDef knSceneDef_Default(void) {
	knSceneDef def = {
		.name = "scene",
		.gravity = knV3(0.0, 0.0, -9.81),
		.dt = 0.01,
		.stepper = "velocity",
		.settings = knSettings_Default(),
		.frictionCombine = KN_COMBINE_GEOMETRIC,
		.restitutionCombine = KN_COMBINE_MAX,
	};
	return def;
}

// --- ids -------------------------------------------------------------------------------------------------

int knScene_BodySlot(const knScene* scene, knBodyId body) {
	if (body.index1 == 0 || body.index1 > (uint32_t)scene->bodies.count) {
		return -1;
	}
	int slot = (int)(body.index1 - 1);
	const knBodySlot* item = &scene->bodies.items[slot];
	return item->used && item->generation == body.generation ? slot : -1;
}

int knScene_ShapeSlot(const knScene* scene, knShapeId shape) {
	if (shape.index1 == 0 || shape.index1 > (uint32_t)scene->shapes.count) {
		return -1;
	}
	int slot = (int)(shape.index1 - 1);
	const knShapeSlot* item = &scene->shapes.items[slot];
	return item->used && item->generation == shape.generation ? slot : -1;
}

int knScene_JointSlot(const knScene* scene, knJointId joint) {
	if (joint.index1 == 0 || joint.index1 > (uint32_t)scene->joints.count) {
		return -1;
	}
	int slot = (int)(joint.index1 - 1);
	const knJointSlot* item = &scene->joints.items[slot];
	return item->used && item->generation == joint.generation ? slot : -1;
}

// --- create, destroy, clone ------------------------------------------------------------------------------

static knStatus outOfMemory(knError* error) {
	return knError_Set(error, KN_NO_MEMORY, "scene", "out of memory");
}

static knScene* createEmpty(const knAllocator* allocator) {
	knAllocator memory = allocator != NULL ? *allocator : knAllocator_Default();
	knScene* scene = knAllocZero(&memory, sizeof(knScene));
	if (scene != NULL) {
		scene->allocator = memory;
		scene->freeBody = scene->freeShape = scene->freeJoint = -1;
		knNameTable_Init(&scene->bodyNames, &memory);
		knNameTable_Init(&scene->jointNames, &memory);
		knNameTable_Init(&scene->controlNames, &memory);
	}
	return scene;
}

// Takes over the def with copies of its strings.
static bool copyDef(knScene* scene, const knSceneDef* def) {
	scene->name = knCopyString(&scene->allocator, def->name != NULL ? def->name : "scene");
	scene->stepper = knCopyString(&scene->allocator, def->stepper != NULL ? def->stepper : "velocity");
	scene->def = *def;
	scene->def.name = scene->name;
	scene->def.stepper = scene->stepper;
	return scene->name != NULL && scene->stepper != NULL;
}

knScene* knScene_Create(const knSceneDef* def, const knAllocator* allocator, knError* error) {
	knSceneDef use = def != NULL ? *def : knSceneDef_Default();
	if (knSceneCheck_Def(&use, error) != KN_OK) {
		return NULL;
	}
	knScene* scene = createEmpty(allocator);
	if (scene == NULL || !copyDef(scene, &use)) {
		knScene_Destroy(scene);
		outOfMemory(error);
		return NULL;
	}
	return scene;
}

void knScene_Destroy(knScene* scene) {
	if (scene == NULL) {
		return;
	}
	knAllocator allocator = scene->allocator;
	for (int i = 0; i < scene->bodies.count; ++i) {
		knFreeString(&allocator, scene->bodies.items[i].name);
	}
	for (int i = 0; i < scene->shapes.count; ++i) {
		knFreeString(&allocator, scene->shapes.items[i].name);
		if (scene->shapes.items[i].geom != NULL) {
			knGeom_Release(scene->shapes.items[i].geom);
		}
	}
	for (int i = 0; i < scene->joints.count; ++i) {
		knFreeString(&allocator, scene->joints.items[i].name);
	}
	KN_ARRAY_FREE(&allocator, &scene->bodies);
	KN_ARRAY_FREE(&allocator, &scene->shapes);
	KN_ARRAY_FREE(&allocator, &scene->joints);
	KN_ARRAY_FREE(&allocator, &scene->excluded);
	knSceneControl_Free(scene);
	knSceneLooks_Free(scene);
	knNameTable_Free(&scene->bodyNames);
	knNameTable_Free(&scene->jointNames);
	knNameTable_Free(&scene->controlNames);
	knFreeString(&allocator, scene->name);
	knFreeString(&allocator, scene->stepper);
	knFree(&allocator, scene, sizeof(knScene));
}

// The name that a new element gets: the wanted one, or prefix and slot, made unique.
static knStatus chooseName(const knNameTable* table, const char* kind, const char* wanted, int slot,
						   char text[64], const char** name, knError* error) {
	if (wanted != NULL && wanted[0] != '\0') {
		*name = wanted;
		if (knNameTable_Get(table, wanted) >= 0) {
			char element[KN_ELEMENT_SIZE];
			return knError_Set(error, KN_BAD_DATA, knScene_Element(kind, wanted, element),
							   "there is already a %s of this name", kind);
		}
		return KN_OK;
	}
	*name = text;
	snprintf(text, 64, "%s%d", kind, slot);
	for (int k = 2; knNameTable_Get(table, text) >= 0; ++k) {
		snprintf(text, 64, "%s%d_%d", kind, slot, k);
	}
	return KN_OK;
}

// A copy of the name, entered in the table; NULL when out of memory.
static char* enterName(knScene* scene, knNameTable* table, const char* name, int slot) {
	char* copy = knCopyString(&scene->allocator, name);
	if (copy != NULL && !knNameTable_Set(table, name, slot)) {
		knFreeString(&scene->allocator, copy);
		copy = NULL;
	}
	return copy;
}

// Appends copies of all slots, so that knScene_Destroy can undo a half-made clone at any point.
static knStatus cloneBodies(knScene* to, const knScene* from, knError* error) {
	if (!KN_ARRAY_RESERVE(&to->allocator, &to->bodies, from->bodies.count)) {
		return outOfMemory(error);
	}
	for (int i = 0; i < from->bodies.count; ++i) {
		knBodySlot* slot = &to->bodies.items[to->bodies.count++];
		*slot = from->bodies.items[i];
		slot->name = NULL;
		if (!slot->used) {
			continue;
		}
		char text[64];
		const char* name;
		knStatus status = chooseName(&to->bodyNames, "body", slot->def.name, i, text, &name, error);
		if (status != KN_OK) {
			return status;
		}
		slot->name = enterName(to, &to->bodyNames, name, i);
		slot->def.name = slot->name;
		if (slot->name == NULL) {
			return outOfMemory(error);
		}
	}
	return KN_OK;
}

static knStatus cloneShapes(knScene* to, const knScene* from, knError* error) {
	if (!KN_ARRAY_RESERVE(&to->allocator, &to->shapes, from->shapes.count)) {
		return outOfMemory(error);
	}
	for (int i = 0; i < from->shapes.count; ++i) {
		knShapeSlot* slot = &to->shapes.items[to->shapes.count++];
		*slot = from->shapes.items[i];
		slot->name = NULL;
		if (slot->geom != NULL) {
			knGeom_Retain(slot->geom);
		}
		if (slot->used && slot->def.name != NULL) {
			slot->name = knCopyString(&to->allocator, slot->def.name);
			slot->def.name = slot->name;
			if (slot->name == NULL) {
				return outOfMemory(error);
			}
		}
	}
	return KN_OK;
}

static knStatus cloneJoints(knScene* to, const knScene* from, knError* error) {
	if (!KN_ARRAY_RESERVE(&to->allocator, &to->joints, from->joints.count)) {
		return outOfMemory(error);
	}
	for (int i = 0; i < from->joints.count; ++i) {
		knJointSlot* slot = &to->joints.items[to->joints.count++];
		*slot = from->joints.items[i];
		slot->name = NULL;
		if (!slot->used) {
			continue;
		}
		char text[64];
		const char* name;
		knStatus status = chooseName(&to->jointNames, "joint", slot->def.name, i, text, &name, error);
		if (status != KN_OK) {
			return status;
		}
		slot->name = enterName(to, &to->jointNames, name, i);
		slot->def.name = slot->name;
		if (slot->name == NULL) {
			return outOfMemory(error);
		}
	}
	return KN_OK;
}

knScene* knScene_Clone(const knScene* scene, knError* error) {
	KN_ASSERT(scene != NULL);
	if (scene == NULL) {
		knError_Set(error, KN_BAD_ARGUMENT, "scene", "there is no scene to clone");
		return NULL;
	}
	knScene* clone = createEmpty(&scene->allocator);
	knStatus status = clone != NULL && copyDef(clone, &scene->def) ? KN_OK : outOfMemory(error);
	if (status == KN_OK) {
		status = cloneBodies(clone, scene, error);
	}
	if (status == KN_OK) {
		status = cloneShapes(clone, scene, error);
	}
	if (status == KN_OK) {
		status = cloneJoints(clone, scene, error);
	}
	if (status == KN_OK && (!KN_ARRAY_RESERVE(&clone->allocator, &clone->excluded, scene->excluded.count) ||
							!knSceneControl_Clone(clone, scene) || !knSceneLooks_Clone(clone, scene))) {
		status = outOfMemory(error);
	}
	if (status != KN_OK) {
		knScene_Destroy(clone);
		return NULL;
	}
	for (int i = 0; i < scene->excluded.count; ++i) {
		clone->excluded.items[i] = scene->excluded.items[i];
	}
	clone->excluded.count = scene->excluded.count;
	clone->freeBody = scene->freeBody;
	clone->freeShape = scene->freeShape;
	clone->freeJoint = scene->freeJoint;
	return clone;
}

knSceneDef* knScene_Def(knScene* scene) {
	return &scene->def;
}

const knSceneDef* knScene_GetDef(const knScene* scene) {
	return &scene->def;
}

static knStatus replaceString(knScene* scene, char** owned, const char** shown, const char* text,
							  knError* error) {
	char* copy = knCopyString(&scene->allocator, text);
	if (copy == NULL) {
		return outOfMemory(error);
	}
	knFreeString(&scene->allocator, *owned);
	*owned = copy;
	*shown = copy;
	return KN_OK;
}

knStatus knScene_SetName(knScene* scene, const char* name, knError* error) {
	KN_ASSERT(scene != NULL && name != NULL);
	if (scene == NULL || name == NULL) {
		return knError_Set(error, KN_BAD_ARGUMENT, "scene", "a scene and a name are needed");
	}
	return replaceString(scene, &scene->name, &scene->def.name, name, error);
}

knStatus knScene_SetStepper(knScene* scene, const char* stepper, knError* error) {
	KN_ASSERT(scene != NULL && stepper != NULL);
	if (scene == NULL || stepper == NULL) {
		return knError_Set(error, KN_BAD_ARGUMENT, "scene", "a scene and a stepper's name are needed");
	}
	return replaceString(scene, &scene->stepper, &scene->def.stepper, stepper, error);
}

// --- adding ----------------------------------------------------------------------------------------------

static knStatus tooMany(const char* what, knError* error) {
	return knError_Set(error, KN_LIMIT, "scene", "there are too many %s; the limit is %d", what,
					   KN_SCENE_MAX);
}

knBodyId knScene_AddBody(knScene* scene, const knBodyDef* def, knError* error) {
	const knBodyId none = { 0, 0 };
	KN_ASSERT(scene != NULL && def != NULL);
	if (scene == NULL || def == NULL) {
		knError_Set(error, KN_BAD_ARGUMENT, "body", "a scene and a def are needed");
		return none;
	}
	int slot = scene->freeBody >= 0 ? scene->freeBody : scene->bodies.count;
	if (slot >= KN_SCENE_MAX) {
		tooMany("bodies", error);
		return none;
	}

	// name and check
	char text[64];
	const char* name;
	knBodyDef copy = *def;
	if (chooseName(&scene->bodyNames, "body", def->name, slot, text, &name, error) != KN_OK ||
		knSceneCheck_Body(&copy, name, error) != KN_OK) {
		return none;
	}

	// memory
	char* owned = NULL;
	if (!KN_ARRAY_RESERVE(&scene->allocator, &scene->bodies, slot + 1) ||
		(owned = enterName(scene, &scene->bodyNames, name, slot)) == NULL) {
		outOfMemory(error);
		return none;
	}

	// from here on nothing can fail
	knBodySlot* item = &scene->bodies.items[slot];
	uint32_t generation = 1;
	if (slot == scene->bodies.count) {
		scene->bodies.count += 1;
	} else {
		scene->freeBody = item->nextFree;
		generation = item->generation + 1;
	}
	*item =
		(knBodySlot){ .def = copy, .name = owned, .generation = generation, .nextFree = -1, .used = true };
	item->def.name = owned;
	return (knBodyId){ (uint32_t)slot + 1, generation };
}

knShapeId knScene_AddShape(knScene* scene, knBodyId body, const knGeom* geom, const knShapeDef* def,
						   knError* error) {
	const knShapeId none = { 0, 0 };
	KN_ASSERT(scene != NULL && geom != NULL);
	if (scene == NULL || geom == NULL) {
		knError_Set(error, KN_BAD_ARGUMENT, "shape", "a scene and a geometry are needed");
		return none;
	}
	if (!KN_ID_IS_NULL(body) && knScene_BodySlot(scene, body) < 0) {
		knError_Set(error, KN_BAD_ARGUMENT, "shape", "the body to carry it is not in this scene");
		return none;
	}
	int slot = scene->freeShape >= 0 ? scene->freeShape : scene->shapes.count;
	if (slot >= KN_SCENE_MAX) {
		tooMany("shapes", error);
		return none;
	}
	knShapeDef copy = def != NULL ? *def : knShapeDef_Default();
	if (knSceneCheck_Shape(scene, body, geom, &copy, slot, error) != KN_OK) {
		return none;
	}

	// memory
	char* owned = knCopyString(&scene->allocator, copy.name);
	if ((copy.name != NULL && owned == NULL) ||
		!KN_ARRAY_RESERVE(&scene->allocator, &scene->shapes, slot + 1)) {
		knFreeString(&scene->allocator, owned);
		outOfMemory(error);
		return none;
	}

	// from here on nothing can fail
	knShapeSlot* item = &scene->shapes.items[slot];
	uint32_t generation = 1;
	if (slot == scene->shapes.count) {
		scene->shapes.count += 1;
	} else {
		scene->freeShape = item->nextFree;
		generation = item->generation + 1;
	}
	knGeom_Retain(geom);
	*item = (knShapeSlot){ .def = copy,
						   .name = owned,
						   .geom = geom,
						   .body = body,
						   .generation = generation,
						   .nextFree = -1,
						   .used = true };
	item->def.name = owned;
	return (knShapeId){ (uint32_t)slot + 1, generation };
}

knJointId knScene_AddJoint(knScene* scene, const knJointDef* def, knError* error) {
	const knJointId none = { 0, 0 };
	KN_ASSERT(scene != NULL && def != NULL);
	if (scene == NULL || def == NULL) {
		knError_Set(error, KN_BAD_ARGUMENT, "joint", "a scene and a def are needed");
		return none;
	}
	int slot = scene->freeJoint >= 0 ? scene->freeJoint : scene->joints.count;
	if (slot >= KN_SCENE_MAX) {
		tooMany("joints", error);
		return none;
	}

	// name and check
	char text[64];
	const char* name;
	knJointDef copy = *def;
	if (chooseName(&scene->jointNames, "joint", def->name, slot, text, &name, error) != KN_OK ||
		knSceneCheck_Joint(scene, &copy, name, error) != KN_OK) {
		return none;
	}

	// memory
	char* owned = NULL;
	if (!KN_ARRAY_RESERVE(&scene->allocator, &scene->joints, slot + 1) ||
		(owned = enterName(scene, &scene->jointNames, name, slot)) == NULL) {
		outOfMemory(error);
		return none;
	}

	// from here on nothing can fail
	knJointSlot* item = &scene->joints.items[slot];
	uint32_t generation = 1;
	if (slot == scene->joints.count) {
		scene->joints.count += 1;
	} else {
		scene->freeJoint = item->nextFree;
		generation = item->generation + 1;
	}
	*item =
		(knJointSlot){ .def = copy, .name = owned, .generation = generation, .nextFree = -1, .used = true };
	item->def.name = owned;
	return (knJointId){ (uint32_t)slot + 1, generation };
}

knStatus knScene_ExcludePair(knScene* scene, knBodyId a, knBodyId b, knError* error) {
	KN_ASSERT(scene != NULL);
	if (scene == NULL || (!KN_ID_IS_NULL(a) && knScene_BodySlot(scene, a) < 0) ||
		(!KN_ID_IS_NULL(b) && knScene_BodySlot(scene, b) < 0)) {
		return knError_Set(error, KN_BAD_ARGUMENT, "excluded pair", "one of the bodies is not in this scene");
	}
	if (KN_ID_EQUALS(a, b)) {
		return knError_Set(error, KN_BAD_DATA, "excluded pair", "a body cannot be excluded from itself");
	}
	knBodyPair pair = { a, b };
	return KN_ARRAY_PUSH(&scene->allocator, &scene->excluded, pair) ? KN_OK : outOfMemory(error);
}

// The scene's allocator, for geometry made on its behalf.
static const knAllocator* memoryOf(const knScene* scene) {
	return scene != NULL ? &scene->allocator : NULL;
}

// Adds a geometry that was made for this one shape.
static knShapeId addOwnGeom(knScene* scene, knBodyId body, knGeom* geom, const knShapeDef* def,
							knError* error) {
	if (geom == NULL) {
		return (knShapeId){ 0, 0 };
	}
	knShapeId shape = knScene_AddShape(scene, body, geom, def, error);
	knGeom_Release(geom);
	return shape;
}

knShapeId knScene_AddSphere(knScene* scene, knBodyId body, double radius, const knShapeDef* def,
							knError* error) {
	return addOwnGeom(scene, body, knGeom_Sphere(radius, memoryOf(scene), error), def, error);
}

knShapeId knScene_AddBox(knScene* scene, knBodyId body, knVec3 halfExtents, const knShapeDef* def,
						 knError* error) {
	return addOwnGeom(scene, body, knGeom_Box(halfExtents, memoryOf(scene), error), def, error);
}

knShapeId knScene_AddCapsule(knScene* scene, knBodyId body, double radius, double halfLength,
							 const knShapeDef* def, knError* error) {
	return addOwnGeom(scene, body, knGeom_Capsule(radius, halfLength, memoryOf(scene), error), def, error);
}

knShapeId knScene_AddPlane(knScene* scene, knBodyId body, const knShapeDef* def, knError* error) {
	return addOwnGeom(scene, body, knGeom_Plane(memoryOf(scene), error), def, error);
}

knShapeId knScene_AddCylinder(knScene* scene, knBodyId body, double radius, double halfLength,
							  const knShapeDef* def, knError* error) {
	return addOwnGeom(scene, body, knGeom_Cylinder(radius, halfLength, memoryOf(scene), error), def, error);
}

knShapeId knScene_AddEllipsoid(knScene* scene, knBodyId body, knVec3 radii, const knShapeDef* def,
							   knError* error) {
	return addOwnGeom(scene, body, knGeom_Ellipsoid(radii, memoryOf(scene), error), def, error);
}

knShapeId knScene_AddHull(knScene* scene, knBodyId body, const knVec3* points, int count,
						  const knShapeDef* def, knError* error) {
	return addOwnGeom(scene, body, knGeom_Hull(points, count, memoryOf(scene), error), def, error);
}

knShapeId knScene_AddMesh(knScene* scene, knBodyId body, const knMeshDef* mesh, const knShapeDef* def,
						  knError* error) {
	return addOwnGeom(scene, body, knGeom_Mesh(mesh, memoryOf(scene), error), def, error);
}

knShapeId knScene_AddHeightField(knScene* scene, knBodyId body, const knHeightFieldDef* field,
								 const knShapeDef* def, knError* error) {
	return addOwnGeom(scene, body, knGeom_HeightField(field, memoryOf(scene), error), def, error);
}

// --- removing --------------------------------------------------------------------------------------------

static void removeShapeSlot(knScene* scene, int slot) {
	knShapeSlot* item = &scene->shapes.items[slot];
	knGeom_Release(item->geom);
	knFreeString(&scene->allocator, item->name);
	*item = (knShapeSlot){ .generation = item->generation, .nextFree = scene->freeShape };
	scene->freeShape = slot;
}

static void removeJointSlot(knScene* scene, int slot) {
	knJointSlot* item = &scene->joints.items[slot];
	knNameTable_Remove(&scene->jointNames, item->name);
	knFreeString(&scene->allocator, item->name);
	*item = (knJointSlot){ .generation = item->generation, .nextFree = scene->freeJoint };
	scene->freeJoint = slot;
}

knStatus knScene_RemoveBody(knScene* scene, knBodyId body, knError* error) {
	KN_ASSERT(scene != NULL);
	int slot = scene != NULL ? knScene_BodySlot(scene, body) : -1;
	if (slot < 0) {
		return knError_Set(error, KN_BAD_ARGUMENT, "body", "the body to remove is not in this scene");
	}

	// what hangs on it; ends may have been edited in place, so no list per body is kept
	for (int i = 0; i < scene->shapes.count; ++i) {
		if (scene->shapes.items[i].used && KN_ID_EQUALS(scene->shapes.items[i].body, body)) {
			removeShapeSlot(scene, i);
		}
	}
	for (int i = 0; i < scene->joints.count; ++i) {
		const knJointSlot* item = &scene->joints.items[i];
		if (item->used && (KN_ID_EQUALS(item->def.parent, body) || KN_ID_EQUALS(item->def.child, body))) {
			removeJointSlot(scene, i);
		}
	}
	int kept = 0;
	for (int i = 0; i < scene->excluded.count; ++i) {
		knBodyPair pair = scene->excluded.items[i];
		if (!KN_ID_EQUALS(pair.a, body) && !KN_ID_EQUALS(pair.b, body)) {
			scene->excluded.items[kept++] = pair;
		}
	}
	scene->excluded.count = kept;

	knBodySlot* item = &scene->bodies.items[slot];
	knNameTable_Remove(&scene->bodyNames, item->name);
	knFreeString(&scene->allocator, item->name);
	*item = (knBodySlot){ .generation = item->generation, .nextFree = scene->freeBody };
	scene->freeBody = slot;
	knSceneControl_Drop(scene);
	knSceneLooks_Drop(scene);
	return KN_OK;
}

knStatus knScene_RemoveJoint(knScene* scene, knJointId joint, knError* error) {
	KN_ASSERT(scene != NULL);
	int slot = scene != NULL ? knScene_JointSlot(scene, joint) : -1;
	if (slot < 0) {
		return knError_Set(error, KN_BAD_ARGUMENT, "joint", "the joint to remove is not in this scene");
	}
	removeJointSlot(scene, slot);
	knSceneControl_Drop(scene);
	return KN_OK;
}

// --- reading ---------------------------------------------------------------------------------------------

int knScene_BodySlots(const knScene* scene) {
	return scene->bodies.count;
}

int knScene_ShapeSlots(const knScene* scene) {
	return scene->shapes.count;
}

int knScene_JointSlots(const knScene* scene) {
	return scene->joints.count;
}

knBodyId knScene_BodyAt(const knScene* scene, int slot) {
	bool used = slot >= 0 && slot < scene->bodies.count && scene->bodies.items[slot].used;
	return used ? (knBodyId){ (uint32_t)slot + 1, scene->bodies.items[slot].generation } : (knBodyId){ 0, 0 };
}

knShapeId knScene_ShapeAt(const knScene* scene, int slot) {
	bool used = slot >= 0 && slot < scene->shapes.count && scene->shapes.items[slot].used;
	return used ? (knShapeId){ (uint32_t)slot + 1, scene->shapes.items[slot].generation }
				: (knShapeId){ 0, 0 };
}

knJointId knScene_JointAt(const knScene* scene, int slot) {
	bool used = slot >= 0 && slot < scene->joints.count && scene->joints.items[slot].used;
	return used ? (knJointId){ (uint32_t)slot + 1, scene->joints.items[slot].generation }
				: (knJointId){ 0, 0 };
}

const knBodyDef* knScene_GetBody(const knScene* scene, knBodyId body) {
	int slot = knScene_BodySlot(scene, body);
	return slot >= 0 ? &scene->bodies.items[slot].def : NULL;
}

const knShapeDef* knScene_GetShape(const knScene* scene, knShapeId shape) {
	int slot = knScene_ShapeSlot(scene, shape);
	return slot >= 0 ? &scene->shapes.items[slot].def : NULL;
}

const knGeom* knScene_GetShapeGeom(const knScene* scene, knShapeId shape) {
	int slot = knScene_ShapeSlot(scene, shape);
	return slot >= 0 ? scene->shapes.items[slot].geom : NULL;
}

knBodyId knScene_GetShapeBody(const knScene* scene, knShapeId shape) {
	int slot = knScene_ShapeSlot(scene, shape);
	return slot >= 0 ? scene->shapes.items[slot].body : (knBodyId){ 0, 0 };
}

const knJointDef* knScene_GetJoint(const knScene* scene, knJointId joint) {
	int slot = knScene_JointSlot(scene, joint);
	return slot >= 0 ? &scene->joints.items[slot].def : NULL;
}

knBodyDef* knScene_EditBody(knScene* scene, knBodyId body) {
	int slot = knScene_BodySlot(scene, body);
	return slot >= 0 ? &scene->bodies.items[slot].def : NULL;
}

knShapeDef* knScene_EditShape(knScene* scene, knShapeId shape) {
	int slot = knScene_ShapeSlot(scene, shape);
	return slot >= 0 ? &scene->shapes.items[slot].def : NULL;
}

knJointDef* knScene_EditJoint(knScene* scene, knJointId joint) {
	int slot = knScene_JointSlot(scene, joint);
	return slot >= 0 ? &scene->joints.items[slot].def : NULL;
}

knBodyId knScene_FindBody(const knScene* scene, const char* name) {
	return name != NULL ? knScene_BodyAt(scene, knNameTable_Get(&scene->bodyNames, name))
						: (knBodyId){ 0, 0 };
}

knJointId knScene_FindJoint(const knScene* scene, const char* name) {
	return name != NULL ? knScene_JointAt(scene, knNameTable_Get(&scene->jointNames, name))
						: (knJointId){ 0, 0 };
}

int knScene_ExcludedCount(const knScene* scene) {
	return scene->excluded.count;
}

void knScene_GetExcluded(const knScene* scene, int index, knBodyId* a, knBodyId* b) {
	KN_ASSERT(index >= 0 && index < scene->excluded.count);
	*a = scene->excluded.items[index].a;
	*b = scene->excluded.items[index].b;
}

// --- placing joints --------------------------------------------------------------------------------------

static bool bodyFrame(const knScene* scene, knBodyId body, knFrame* frame) {
	int slot = knScene_BodySlot(scene, body);
	*frame = slot >= 0 ? scene->bodies.items[slot].def.frame : knIdentityF();
	return slot >= 0 || KN_ID_IS_NULL(body);
}

knStatus knJointDef_At(knJointDef* def, const knScene* scene, knBodyId parent, knBodyId child, knVec3 anchor,
					   knVec3 axis, knError* error) {
	KN_ASSERT(def != NULL && scene != NULL);
	knFrame frameParent, frameChild;
	if (def == NULL || scene == NULL || !bodyFrame(scene, parent, &frameParent) ||
		!bodyFrame(scene, child, &frameChild)) {
		return knError_Set(error, KN_BAD_ARGUMENT, "joint", "an end of the joint is not in this scene");
	}
	double length = knLength(axis);
	if (!knIsFinite3(anchor) || !knIsFinite(length) || length <= 0.0) {
		return knError_Set(error, KN_BAD_DATA, "joint",
						   "its anchor must be finite and its axis must have a direction");
	}
	knVec3 distinguished = def->kind == KN_JOINT_PLANAR ? knV3(0.0, 0.0, 1.0) : knV3(1.0, 0.0, 0.0);
	knFrame joint = knMakeFrame(anchor, knQuat_Between(distinguished, knScale(1.0 / length, axis)));
	def->parent = parent;
	def->child = child;
	def->frameParent = knInvMulF(frameParent, joint);
	def->frameChild = knInvMulF(frameChild, joint);
	return KN_OK;
}
