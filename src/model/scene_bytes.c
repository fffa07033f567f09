// A scene as a block of bytes and back: how a compiled file travels to the viewer, whose engine has no XML reader.
//
// Little-endian; doubles as their bits, so that nothing is lost. A head (magic, version, size, hash of the rest), then the
// scene's def, textures, materials, its geometries (each once, parts of a compound before it), bodies, shapes, joints, excluded pairs, tendons,
// couplings, actuators, probes and lights. Bodies, joints and geometries are named by their number; body 0 is the world, joint 0 none. The reader trusts nothing: every count is checked
// against the bytes that are left, every kind and number against its range, and the scene's own checks follow.
//
// One list of fields serves both ways (the functions that begin with `io`): writing reads the fields, reading fills them.
#include <math.h>
#include <string.h>

#include "core/hash.h"
#include "geom/geom.h"
#include "geom/mesh.h"
#include "geom/sdf.h"
#include "model/byte_stream.h"
#include "model/scene_internal.h"

#define MAGIC "KNSCENE"
#define FORMAT_VERSION 4u
#define HEAD_SIZE 32
#define NO_BODY UINT32_MAX

// --- defs ----------------------------------------------------------------------------------------------------------

static void ioBody(Stream* stream, knBodyDef* def) {
	def->kind = (knBodyKind)ioIndex(stream, (int)def->kind, KN_BODY_FIXED + 1);
	ioFrame(stream, &def->frame);
	ioVec(stream, &def->velocity);
	ioVec(stream, &def->angularVelocity);
	ioBool(stream, &def->hasMass);
	ioDouble(stream, &def->mass.mass);
	ioVec(stream, &def->mass.center);
	ioVec(stream, &def->mass.inertia.cx);
	ioVec(stream, &def->mass.inertia.cy);
	ioVec(stream, &def->mass.inertia.cz);
	ioDouble(stream, &def->gravityScale);
	ioDouble(stream, &def->linearDamping);
	ioDouble(stream, &def->angularDamping);
	ioBool(stream, &def->fast);
	def->color = ioU32(stream, def->color);
	def->name = ioText(stream, def->name);
}

static void ioShape(Stream* stream, knShapeDef* def) {
	ioFrame(stream, &def->frame);
	ioDouble(stream, &def->density);
	ioDouble(stream, &def->friction);
	ioDouble(stream, &def->restitution);
	ioDouble(stream, &def->rollingFriction);
	ioU64(stream, &def->filter.category);
	ioU64(stream, &def->filter.mask);
	def->filter.group = (int32_t)ioU32(stream, (uint32_t)def->filter.group);
	ioBool(stream, &def->sensor);
	def->role = (knShapeRole)ioIndex(stream, (int)def->role, KN_SHAPE_HIDDEN + 1);
	def->material = (int)ioU32(stream, (uint32_t)def->material);
	def->color = ioU32(stream, def->color);
	def->name = ioText(stream, def->name);
}

static void ioAxis(Stream* stream, knJointAxis* axis) {
	ioBool(stream, &axis->limited);
	ioDouble(stream, &axis->lower);
	ioDouble(stream, &axis->upper);
	ioDouble(stream, &axis->friction);
	ioDouble(stream, &axis->bearing);
	ioDouble(stream, &axis->damping);
	axis->motorMode = (knMotorMode)ioIndex(stream, (int)axis->motorMode, KN_MOTOR_FORCE + 1);
	ioDouble(stream, &axis->motorTarget);
	ioDouble(stream, &axis->motorMaxForce);
	ioDouble(stream, &axis->stiffness);
	ioDouble(stream, &axis->rest);
	ioDouble(stream, &axis->armature);
	ioBool(stream, &axis->driveLimited);
	ioDouble(stream, &axis->driveLower);
	ioDouble(stream, &axis->driveUpper);
}

static void ioReach(Stream* stream, knJointDef* def) {
	def->reachCount = ioIndex(stream, def->reachCount, KN_REACH_MAX + 1);
	for (int i = 0; i < def->reachCount; ++i) {
		ioVec(stream, &def->reach[i]);
		ioBool(stream, &def->reachTwist[i].own);
		ioDouble(stream, &def->reachTwist[i].lower);
		ioDouble(stream, &def->reachTwist[i].upper);
	}
}

// Without the two bodies.
static void ioJoint(Stream* stream, knJointDef* def) {
	ioFrame(stream, &def->frameParent);
	ioFrame(stream, &def->frameChild);
	for (int a = 0; a < 6; ++a) {
		ioAxis(stream, &def->axis[a]);
	}
	ioBool(stream, &def->coneLimited);
	ioDouble(stream, &def->coneY);
	ioDouble(stream, &def->coneZ);
	ioBool(stream, &def->twistLimited);
	ioDouble(stream, &def->twistLower);
	ioDouble(stream, &def->twistUpper);
	ioReach(stream, def);
	ioBool(stream, &def->collide);
	ioBool(stream, &def->enabled);
	ioBool(stream, &def->loop);
	ioDouble(stream, &def->maxForce);
	def->name = ioText(stream, def->name);
}

// Settings stand as the plain struct that they are (whole numbers and doubles): one version has one layout.
static void ioSceneDef(Stream* stream, knSceneDef* def) {
	ioVec(stream, &def->gravity);
	ioDouble(stream, &def->dt);
	def->frictionCombine = (knCombine)ioIndex(stream, (int)def->frictionCombine, KN_COMBINE_MULTIPLY + 1);
	def->restitutionCombine =
		(knCombine)ioIndex(stream, (int)def->restitutionCombine, KN_COMBINE_MULTIPLY + 1);
	def->jointCapacity = ioIndex(stream, def->jointCapacity, KN_SCENE_MAX);
	ioDouble(stream, &def->mediumDensity);
	ioDouble(stream, &def->mediumViscosity);
	ioDouble(stream, &def->view.azimuth);
	ioDouble(stream, &def->view.elevation);
	ioDouble(stream, &def->view.zoom);
	if (ioU32(stream, (uint32_t)sizeof(knSettings)) != sizeof(knSettings)) {
		stream->broken = true;
	}
	ioBytes(stream, &def->settings, sizeof(knSettings));
}

// --- control: a joint is the number `joints` gives, in both directions by the caller --------------------------------

static void ioRange(Stream* stream, bool* limited, double range[2]) {
	ioBool(stream, limited);
	ioDouble(stream, &range[0]);
	ioDouble(stream, &range[1]);
}

// Without its parts.
static void ioTendon(Stream* stream, knTendonDef* def) {
	ioBool(stream, &def->spatial);
	ioDouble(stream, &def->stiffness);
	ioDouble(stream, &def->damping);
	ioDouble(stream, &def->restLower);
	ioDouble(stream, &def->restUpper);
	ioBool(stream, &def->limited);
	ioDouble(stream, &def->lower);
	ioDouble(stream, &def->upper);
	def->name = ioText(stream, def->name);
}

// Of these four the references to bodies and joints are the caller's.
static void ioTendonPart(Stream* stream, knTendonPart* part) {
	part->axis = ioIndex(stream, part->axis, 6);
	ioDouble(stream, &part->weight);
	ioVec(stream, &part->point);
	ioDouble(stream, &part->pulley);
}

static void ioCoupling(Stream* stream, knCouplingDef* def) {
	def->axis1 = ioIndex(stream, def->axis1, 6);
	def->axis2 = ioIndex(stream, def->axis2, 6);
	ioDouble(stream, &def->ref1);
	ioDouble(stream, &def->ref2);
	for (int i = 0; i < 5; ++i) {
		ioDouble(stream, &def->coefficients[i]);
	}
	ioDouble(stream, &def->timeConstant);
	ioBool(stream, &def->enabled);
	def->name = ioText(stream, def->name);
}

static void ioMuscle(Stream* stream, knMuscle* muscle) {
	double* const numbers[] = { &muscle->shortest,   &muscle->longest, &muscle->rangeLeast,
								&muscle->rangeMost,  &muscle->force,   &muscle->lengthLeast,
								&muscle->lengthMost, &muscle->speed,   &muscle->passive,
								&muscle->lengthening };
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
		ioDouble(stream, numbers[i]);
	}
}

static void ioActuator(Stream* stream, knActuatorDef* def) {
	def->driven = (knDriven)ioIndex(stream, (int)def->driven, KN_DRIVEN_POINT + 1);
	def->axis = ioIndex(stream, def->axis, 6);
	def->tendon = (int)ioU32(stream, (uint32_t)def->tendon);
	ioFrame(stream, &def->frame);
	for (int i = 0; i < 6; ++i) {
		ioDouble(stream, &def->gear[i]);
	}
	for (int i = 0; i < 3; ++i) {
		ioDouble(stream, &def->gain[i]);
		ioDouble(stream, &def->bias[i]);
	}
	ioBool(stream, &def->isMuscle);
	ioMuscle(stream, &def->muscle);
	ioRange(stream, &def->controlLimited, def->controlRange);
	ioRange(stream, &def->forceLimited, def->forceRange);
	ioRange(stream, &def->activationLimited, def->activationRange);
	def->activation = (knActivation)ioIndex(stream, (int)def->activation, KN_ACTIVATION_MUSCLE + 1);
	ioDouble(stream, &def->timeConstant);
	ioDouble(stream, &def->fallConstant);
	ioDouble(stream, &def->blend);
	ioDouble(stream, &def->control);
	ioDouble(stream, &def->start);
	def->name = ioText(stream, def->name);
}

static void ioProbe(Stream* stream, knProbeDef* def) {
	def->axis = ioIndex(stream, def->axis, 6);
	def->index = (int)ioU32(stream, (uint32_t)def->index);
	ioFrame(stream, &def->frame);
	def->name = ioText(stream, def->name);
}

// --- looks ---------------------------------------------------------------------------------------------------------

// Without the picture.
static void ioTexture(Stream* stream, knTextureDef* def) {
	def->kind = (knTextureKind)ioIndex(stream, (int)def->kind, KN_TEXTURE_KIND_COUNT);
	def->pattern = (knTexturePattern)ioIndex(stream, (int)def->pattern, KN_PATTERN_COUNT);
	def->mark = (knTextureMark)ioIndex(stream, (int)def->mark, KN_MARK_COUNT);
	def->color1 = ioU32(stream, def->color1);
	def->color2 = ioU32(stream, def->color2);
	def->markColor = ioU32(stream, def->markColor);
	ioDouble(stream, &def->random);
	def->width = (int)ioU32(stream, (uint32_t)def->width);
	def->height = (int)ioU32(stream, (uint32_t)def->height);
	def->name = ioText(stream, def->name);
}

static void ioMaterial(Stream* stream, knMaterialDef* def) {
	double* const numbers[] = { &def->repeat[0], &def->repeat[1],   &def->emission, &def->specular,
								&def->shininess, &def->reflectance, &def->metallic, &def->roughness };
	def->color = ioU32(stream, def->color);
	def->texture = (int)ioU32(stream, (uint32_t)def->texture);
	ioBool(stream, &def->uniform);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
		ioDouble(stream, numbers[i]);
	}
	def->name = ioText(stream, def->name);
}

// Without the body.
static void ioLight(Stream* stream, knLightDef* def) {
	def->kind = (knLightKind)ioIndex(stream, (int)def->kind, KN_LIGHT_KIND_COUNT);
	ioVec(stream, &def->position);
	ioVec(stream, &def->direction);
	ioBool(stream, &def->active);
	ioBool(stream, &def->castsShadow);
	for (int i = 0; i < 3; ++i) {
		ioDouble(stream, &def->diffuse[i]);
		ioDouble(stream, &def->ambient[i]);
		ioDouble(stream, &def->specular[i]);
		ioDouble(stream, &def->attenuation[i]);
	}
	ioDouble(stream, &def->cutoff);
	ioDouble(stream, &def->exponent);
	def->name = ioText(stream, def->name);
}

// --- geometries ----------------------------------------------------------------------------------------------------

typedef KN_ARRAY(const knGeom*) GeomList;

static int geomIndex(const GeomList* list, const knGeom* geom) {
	for (int i = list->count - 1; i >= 0; --i) {
		if (list->items[i] == geom) {
			return i;
		}
	}
	return -1;
}

// Shapes that share a geometry mostly follow each other, so the search above ends soon.
static void gatherGeom(Stream* stream, GeomList* list, const knGeom* geom) {
	if (geomIndex(list, geom) >= 0) {
		return;
	}
	for (int i = 0; i < knGeom_ChildCount(geom); ++i) {
		gatherGeom(stream, list, knGeom_Child(geom, i).geom);
	}
	stream->noMemory = stream->noMemory || !KN_ARRAY_PUSH(&stream->allocator, list, geom);
}

static void writeGeom(Stream* stream, const GeomList* list, const knGeom* geom) {
	knVec3 size = knGeom_Size(geom);
	ioU32(stream, (uint32_t)knGeom_Kind(geom));
	ioVec(stream, &size);
	ioU32(stream, (uint32_t)knGeom_ChildCount(geom));
	for (int i = 0; i < knGeom_ChildCount(geom); ++i) {
		knGeomChild child = knGeom_Child(geom, i);
		ioU32(stream, (uint32_t)geomIndex(list, child.geom));
		ioFrame(stream, &child.frame);
	}
	int vertexCount, triangleCount;
	const knVec3* vertices = knGeom_Vertices(geom, &vertexCount);
	const knTriangle* triangles = knGeom_Triangles(geom, &triangleCount);
	ioU32(stream, (uint32_t)vertexCount);
	for (int i = 0; i < vertexCount; ++i) {
		knVec3 vertex = vertices[i];
		ioVec(stream, &vertex);
	}
	ioU32(stream, (uint32_t)triangleCount);
	for (int i = 0; i < triangleCount; ++i) {
		ioU32(stream, (uint32_t)triangles[i].a);
		ioU32(stream, (uint32_t)triangles[i].b);
		ioU32(stream, (uint32_t)triangles[i].c);
	}
	bool solid = geom->mesh != NULL && geom->mesh->solid;
	double tolerance = solid && geom->mesh->field != NULL ? geom->mesh->field->tolerance : 0.0;
	ioBool(stream, &solid);
	ioDouble(stream, &tolerance);
}

// What a geometry's bytes say, in scratch memory.
typedef struct GeomParts {
	knGeomKind kind;
	knVec3 size;
	KN_ARRAY(knGeomChild) children;
	KN_ARRAY(knVec3) vertices;
	KN_ARRAY(knTriangle) triangles;
	bool solid;
	double tolerance;
} GeomParts;

static void readParts(Stream* stream, const GeomList* list, GeomParts* parts) {
	parts->kind = (knGeomKind)ioIndex(stream, 0, KN_GEOM_KIND_COUNT);
	ioVec(stream, &parts->size);
	int childCount = ioCount(stream, 0, 60);
	for (int i = 0; i < childCount && !stream->broken && !stream->noMemory; ++i) {
		knGeomChild child = { .geom = NULL };
		int index = ioIndex(stream, 0, list->count > 0 ? list->count : 1);
		child.geom = index < list->count ? list->items[index] : NULL;
		ioFrame(stream, &child.frame);
		stream->broken = stream->broken || child.geom == NULL;
		stream->noMemory = !KN_ARRAY_PUSH(&stream->allocator, &parts->children, child);
	}
	int vertexCount = ioCount(stream, 0, 24);
	for (int i = 0; i < vertexCount && !stream->noMemory; ++i) {
		knVec3 vertex = knZero3();
		ioVec(stream, &vertex);
		stream->noMemory = !KN_ARRAY_PUSH(&stream->allocator, &parts->vertices, vertex);
	}
	int triangleCount = ioCount(stream, 0, 12);
	for (int i = 0; i < triangleCount && !stream->noMemory; ++i) {
		knTriangle triangle = { (int32_t)ioU32(stream, 0), (int32_t)ioU32(stream, 0),
								(int32_t)ioU32(stream, 0) };
		stream->noMemory = !KN_ARRAY_PUSH(&stream->allocator, &parts->triangles, triangle);
	}
	ioBool(stream, &parts->solid);
	ioDouble(stream, &parts->tolerance);
}

static knGeom* makeMesh(const GeomParts* parts, const knAllocator* allocator, knError* error) {
	knMeshDef def = knMeshDef_Default();
	def.vertices = parts->vertices.items;
	def.vertexCount = parts->vertices.count;
	def.triangles = parts->triangles.items;
	def.triangleCount = parts->triangles.count;
	def.solid = parts->solid;
	def.tolerance = parts->tolerance;
	return parts->kind == KN_GEOM_MESH ? knGeom_Mesh(&def, allocator, error)
									   : knGeom_NewMesh(parts->kind, &def, allocator, error);
}

static knGeom* makeGeom(const GeomParts* parts, const knAllocator* allocator, knError* error) {
	switch (parts->kind) {
	case KN_GEOM_SPHERE:
		return knGeom_Sphere(parts->size.x, allocator, error);
	case KN_GEOM_CAPSULE:
		return knGeom_Capsule(parts->size.x, parts->size.y, allocator, error);
	case KN_GEOM_BOX:
		return knGeom_Box(parts->size, allocator, error);
	case KN_GEOM_PLANE:
		return knGeom_Plane(allocator, error);
	case KN_GEOM_CYLINDER:
		return knGeom_Cylinder(parts->size.x, parts->size.y, allocator, error);
	case KN_GEOM_ELLIPSOID:
		return knGeom_Ellipsoid(parts->size, allocator, error);
	case KN_GEOM_COMPOUND:
		return knGeom_Compound(parts->children.items, parts->children.count, allocator, error);
	case KN_GEOM_HULL:
		return knGeom_Hull(parts->vertices.items, parts->vertices.count, allocator, error);
	default:
		return makeMesh(parts, allocator, error);
	}
}

// False after an error, which may also be the stream's.
static bool readGeom(Stream* stream, GeomList* list, knError* error) {
	GeomParts parts = { .kind = KN_GEOM_SPHERE };
	readParts(stream, list, &parts);
	knGeom* geom = NULL;
	if (!stream->broken && !stream->noMemory) {
		geom = makeGeom(&parts, &stream->allocator, error);
		stream->noMemory = geom != NULL && !KN_ARRAY_PUSH(&stream->allocator, list, geom);
		if (stream->noMemory) {
			knGeom_Release(geom);
			geom = NULL;
		}
	}
	KN_ARRAY_FREE(&stream->allocator, &parts.children);
	KN_ARRAY_FREE(&stream->allocator, &parts.vertices);
	KN_ARRAY_FREE(&stream->allocator, &parts.triangles);
	return geom != NULL;
}

// --- writing -------------------------------------------------------------------------------------------------------

// Numbers of the bodies by slot.
static uint32_t* numberBodies(Stream* stream, const knScene* scene) {
	int slots = scene->bodies.count;
	uint32_t* numbers = knAllocArray(&stream->allocator, (size_t)slots + 1, sizeof(uint32_t));
	uint32_t next = 1;
	for (int i = 0; i < slots && numbers != NULL; ++i) {
		numbers[i] = scene->bodies.items[i].used ? next++ : NO_BODY;
	}
	stream->noMemory = stream->noMemory || numbers == NULL;
	return numbers;
}

static uint32_t numberOf(const knScene* scene, const uint32_t* numbers, knBodyId body) {
	int slot = knScene_BodySlot(scene, body);
	return slot < 0 ? 0 : numbers[slot];
}

static void writeGeoms(Stream* stream, const knScene* scene, GeomList* list) {
	for (int i = 0; i < scene->shapes.count; ++i) {
		if (scene->shapes.items[i].used) {
			gatherGeom(stream, list, scene->shapes.items[i].geom);
		}
	}
	ioU32(stream, (uint32_t)list->count);
	for (int i = 0; i < list->count; ++i) {
		writeGeom(stream, list, list->items[i]);
	}
}

static void writeBodies(Stream* stream, const knScene* scene) {
	int count = 0;
	for (int i = 0; i < scene->bodies.count; ++i) {
		count += scene->bodies.items[i].used;
	}
	ioU32(stream, (uint32_t)count);
	for (int i = 0; i < scene->bodies.count; ++i) {
		knBodyDef def = scene->bodies.items[i].def;
		if (scene->bodies.items[i].used) {
			ioBody(stream, &def);
		}
	}
}

static void writeShapes(Stream* stream, const knScene* scene, const GeomList* list, const uint32_t* numbers) {
	int count = 0;
	for (int i = 0; i < scene->shapes.count; ++i) {
		count += scene->shapes.items[i].used;
	}
	ioU32(stream, (uint32_t)count);
	for (int i = 0; i < scene->shapes.count; ++i) {
		const knShapeSlot* slot = &scene->shapes.items[i];
		knShapeDef def = slot->def;
		if (slot->used) {
			ioU32(stream, numberOf(scene, numbers, slot->body));
			ioU32(stream, (uint32_t)geomIndex(list, slot->geom));
			ioShape(stream, &def);
		}
	}
}

static knStatus writeJoints(Stream* stream, const knScene* scene, const uint32_t* numbers, knError* error) {
	int count = 0;
	for (int i = 0; i < scene->joints.count; ++i) {
		count += scene->joints.items[i].used;
	}
	ioU32(stream, (uint32_t)count);
	for (int i = 0; i < scene->joints.count; ++i) {
		knJointDef def = scene->joints.items[i].def;
		if (!scene->joints.items[i].used) {
			continue;
		}
		if (def.kind == KN_JOINT_CUSTOM) {
			return knError_Set(error, KN_UNSUPPORTED, def.name,
							   "a custom joint is made of functions, which cannot be saved");
		}
		ioU32(stream, (uint32_t)def.kind);
		ioU32(stream, numberOf(scene, numbers, def.parent));
		ioU32(stream, numberOf(scene, numbers, def.child));
		ioJoint(stream, &def);
	}
	return KN_OK;
}

// Joints count as they were written.
static uint32_t jointNumberOf(const knScene* scene, knJointId joint) {
	int slot = knScene_JointSlot(scene, joint);
	uint32_t number = 0;
	for (int i = 0; i <= slot; ++i) {
		number += scene->joints.items[i].used;
	}
	return number;
}

static void writeTendons(Stream* stream, const knScene* scene, const uint32_t* numbers) {
	ioU32(stream, (uint32_t)scene->tendons.count);
	for (int i = 0; i < scene->tendons.count; ++i) {
		knTendonDef def = scene->tendons.items[i];
		ioTendon(stream, &def);
		ioU32(stream, (uint32_t)def.partCount);
		for (int k = 0; k < def.partCount; ++k) {
			knTendonPart part = def.parts[k];
			ioU32(stream, jointNumberOf(scene, part.joint));
			ioU32(stream, numberOf(scene, numbers, part.body));
			ioTendonPart(stream, &part);
		}
	}
}

static void writeControl(Stream* stream, const knScene* scene, const uint32_t* numbers) {
	writeTendons(stream, scene, numbers);
	ioU32(stream, (uint32_t)scene->couplings.count);
	for (int i = 0; i < scene->couplings.count; ++i) {
		knCouplingDef def = scene->couplings.items[i];
		ioU32(stream, jointNumberOf(scene, def.joint1));
		ioU32(stream, jointNumberOf(scene, def.joint2));
		ioCoupling(stream, &def);
	}
	ioU32(stream, (uint32_t)scene->actuators.count);
	for (int i = 0; i < scene->actuators.count; ++i) {
		knActuatorDef def = scene->actuators.items[i];
		ioU32(stream, jointNumberOf(scene, def.joint));
		ioU32(stream, numberOf(scene, numbers, def.body));
		ioActuator(stream, &def);
	}
	ioU32(stream, (uint32_t)scene->probes.count);
	for (int i = 0; i < scene->probes.count; ++i) {
		knProbeDef def = scene->probes.items[i];
		ioU32(stream, (uint32_t)def.kind);
		ioU32(stream, jointNumberOf(scene, def.joint));
		ioU32(stream, numberOf(scene, numbers, def.body));
		ioProbe(stream, &def);
	}
}

static void writeMaterials(Stream* stream, const knScene* scene) {
	ioU32(stream, (uint32_t)scene->textures.count);
	for (int i = 0; i < scene->textures.count; ++i) {
		knTextureDef def = scene->textures.items[i];
		ioTexture(stream, &def);
		ioU32(stream, (uint32_t)def.pictureSize);
		ioBytes(stream, (void*)(uintptr_t)def.picture, def.pictureSize);
	}
	ioU32(stream, (uint32_t)scene->materials.count);
	for (int i = 0; i < scene->materials.count; ++i) {
		knMaterialDef def = scene->materials.items[i];
		ioMaterial(stream, &def);
	}
}

static void writeLights(Stream* stream, const knScene* scene, const uint32_t* numbers) {
	ioU32(stream, (uint32_t)scene->lights.count);
	for (int i = 0; i < scene->lights.count; ++i) {
		knLightDef def = scene->lights.items[i];
		ioU32(stream, numberOf(scene, numbers, def.body));
		ioLight(stream, &def);
	}
}

static knStatus writeScene(Stream* stream, const knScene* scene, GeomList* list, const uint32_t* numbers,
						   knError* error) {
	knSceneDef def = scene->def;
	ioSceneDef(stream, &def);
	ioText(stream, scene->name);
	ioText(stream, scene->stepper);
	writeMaterials(stream, scene);
	writeGeoms(stream, scene, list);
	writeBodies(stream, scene);
	writeShapes(stream, scene, list, numbers);
	knStatus status = writeJoints(stream, scene, numbers, error);
	ioU32(stream, (uint32_t)scene->excluded.count);
	for (int i = 0; i < scene->excluded.count; ++i) {
		ioU32(stream, numberOf(scene, numbers, scene->excluded.items[i].a));
		ioU32(stream, numberOf(scene, numbers, scene->excluded.items[i].b));
	}
	writeControl(stream, scene, numbers);
	writeLights(stream, scene, numbers);
	return status;
}

// Over the place that was kept for it.
static void fillHead(Bytes* bytes) {
	uint64_t words[4] = { 0, FORMAT_VERSION, (uint64_t)bytes->count,
						  knHash_Bytes(0, bytes->items + HEAD_SIZE, (size_t)bytes->count - HEAD_SIZE) };
	memcpy(bytes->items, MAGIC, sizeof(MAGIC));
	for (int i = 1; i < 4; ++i) {
		for (int k = 0; k < 8; ++k) {
			bytes->items[8 * i + k] = (uint8_t)(words[i] >> 8 * k);
		}
	}
}

knStatus knScene_ToBytes(const knScene* scene, const knAllocator* allocator, void** bytes, size_t* size,
						 knError* error) {
	KN_ASSERT(scene != NULL && bytes != NULL && size != NULL);
	Stream stream = { .allocator = allocator != NULL ? *allocator : knAllocator_Default() };
	GeomList list = { 0 };
	uint8_t head[HEAD_SIZE] = { 0 };
	*bytes = NULL;
	*size = 0;
	ioBytes(&stream, head, sizeof(head));
	uint32_t* numbers = numberBodies(&stream, scene);
	knStatus status = KN_OK;
	if (!stream.noMemory) {
		status = writeScene(&stream, scene, &list, numbers, error);
	}
	if (stream.noMemory) {
		status = knError_Set(error, KN_NO_MEMORY, "scene", "out of memory");
	}
	// the block's size is what it was allocated with, so that it can be freed by it
	void* block = status == KN_OK ? knAlloc(&stream.allocator, (size_t)stream.out.count) : NULL;
	if (status == KN_OK && block == NULL) {
		status = knError_Set(error, KN_NO_MEMORY, "scene", "out of memory");
	} else if (status == KN_OK) {
		fillHead(&stream.out);
		memcpy(block, stream.out.items, (size_t)stream.out.count);
		*bytes = block;
		*size = (size_t)stream.out.count;
	}
	knFree(&stream.allocator, numbers, ((size_t)scene->bodies.count + 1) * sizeof(uint32_t));
	KN_ARRAY_FREE(&stream.allocator, &list);
	KN_ARRAY_FREE(&stream.allocator, &stream.out);
	return status;
}

// --- reading -------------------------------------------------------------------------------------------------------

typedef struct Reader {
	Stream stream;
	knScene* scene;
	GeomList geoms;             // owned
	KN_ARRAY(knBodyId) bodies;  // by number; the first is the world
	KN_ARRAY(knJointId) joints; // by number; the first is none
	knError* error;
} Reader;

static knBodyId readBodyNumber(Reader* reader) {
	return reader->bodies.items[ioIndex(&reader->stream, 0, reader->bodies.count)];
}

static knJointId readJointNumber(Reader* reader) {
	return reader->joints.items[ioIndex(&reader->stream, 0, reader->joints.count)];
}

static bool readGeoms(Reader* reader) {
	int count = ioCount(&reader->stream, 0, 40);
	for (int i = 0; i < count; ++i) {
		if (!readGeom(&reader->stream, &reader->geoms, reader->error)) {
			return false;
		}
	}
	return true;
}

static bool readBodies(Reader* reader) {
	Stream* stream = &reader->stream;
	int count = ioCount(stream, 0, 200);
	stream->noMemory = !KN_ARRAY_PUSH(&stream->allocator, &reader->bodies, KN_WORLD_BODY);
	for (int i = 0; i < count && !stream->noMemory; ++i) {
		knBodyDef def = knBodyDef_Default();
		ioBody(stream, &def);
		knBodyId body = stream->broken ? KN_WORLD_BODY : knScene_AddBody(reader->scene, &def, reader->error);
		if (KN_ID_IS_NULL(body)) {
			return false;
		}
		stream->noMemory = !KN_ARRAY_PUSH(&stream->allocator, &reader->bodies, body);
	}
	return !stream->noMemory;
}

static bool readShapes(Reader* reader) {
	Stream* stream = &reader->stream;
	int count = ioCount(stream, 0, 100);
	for (int i = 0; i < count; ++i) {
		knShapeDef def = knShapeDef_Default();
		knBodyId body = readBodyNumber(reader);
		int geom = ioIndex(stream, 0, reader->geoms.count > 0 ? reader->geoms.count : 1);
		ioShape(stream, &def);
		if (stream->broken || geom >= reader->geoms.count ||
			KN_ID_IS_NULL(
				knScene_AddShape(reader->scene, body, reader->geoms.items[geom], &def, reader->error))) {
			stream->broken = stream->broken || geom >= reader->geoms.count;
			return false;
		}
	}
	return true;
}

static bool readJoints(Reader* reader) {
	Stream* stream = &reader->stream;
	int count = ioCount(stream, 0, 200);
	stream->noMemory = !KN_ARRAY_PUSH(&stream->allocator, &reader->joints, ((knJointId){ 0, 0 }));
	for (int i = 0; i < count && !stream->noMemory; ++i) {
		knJointDef def = knJointDef_Default((knJointKind)ioIndex(stream, 0, KN_JOINT_CUSTOM));
		def.parent = readBodyNumber(reader);
		def.child = readBodyNumber(reader);
		ioJoint(stream, &def);
		knJointId joint =
			stream->broken ? (knJointId){ 0, 0 } : knScene_AddJoint(reader->scene, &def, reader->error);
		if (KN_ID_IS_NULL(joint)) {
			return false;
		}
		stream->noMemory = !KN_ARRAY_PUSH(&stream->allocator, &reader->joints, joint);
	}
	return !stream->noMemory;
}

static bool readTendon(Reader* reader) {
	Stream* stream = &reader->stream;
	knTendonDef def = knTendonDef_Default();
	KN_ARRAY(knTendonPart) parts = { 0 };
	char name[MAX_TEXT];
	ioTendon(stream, &def);
	if (def.name != NULL) {
		memcpy(name, def.name, strlen(def.name) + 1); // all texts share one place
		def.name = name;
	}
	int count = ioCount(stream, 0, 52);
	for (int i = 0; i < count && !stream->noMemory; ++i) {
		knTendonPart part = { .joint = readJointNumber(reader), .body = readBodyNumber(reader) };
		ioTendonPart(stream, &part);
		stream->noMemory = !KN_ARRAY_PUSH(&stream->allocator, &parts, part);
	}
	def.parts = parts.items;
	def.partCount = parts.count;
	bool added =
		!stream->broken && !stream->noMemory && knScene_AddTendon(reader->scene, &def, reader->error) >= 0;
	KN_ARRAY_FREE(&stream->allocator, &parts);
	return added;
}

static bool readCoupling(Reader* reader) {
	knCouplingDef def = knCouplingDef_Default();
	def.joint1 = readJointNumber(reader);
	def.joint2 = readJointNumber(reader);
	ioCoupling(&reader->stream, &def);
	return !reader->stream.broken && knScene_AddCoupling(reader->scene, &def, reader->error) >= 0;
}

static bool readActuator(Reader* reader) {
	knActuatorDef def = knActuatorDef_Default();
	def.joint = readJointNumber(reader);
	def.body = readBodyNumber(reader);
	ioActuator(&reader->stream, &def);
	return !reader->stream.broken && knScene_AddActuator(reader->scene, &def, reader->error) >= 0;
}

static bool readProbe(Reader* reader) {
	knProbeDef def = knProbeDef_Default((knProbeKind)ioIndex(&reader->stream, 0, KN_PROBE_KIND_COUNT));
	def.joint = readJointNumber(reader);
	def.body = readBodyNumber(reader);
	ioProbe(&reader->stream, &def);
	return !reader->stream.broken && knScene_AddProbe(reader->scene, &def, reader->error) >= 0;
}

static bool readTexture(Reader* reader) {
	Stream* stream = &reader->stream;
	knTextureDef def = knTextureDef_Default();
	ioTexture(stream, &def);
	def.pictureSize = (size_t)ioCount(stream, 0, 1);
	def.picture = def.pictureSize > 0 ? stream->in : NULL;
	if (stream->broken || knScene_AddTexture(reader->scene, &def, reader->error) == 0) {
		return false;
	}
	stream->in += def.pictureSize;
	stream->left -= def.pictureSize;
	return true;
}

static bool readMaterial(Reader* reader) {
	knMaterialDef def = knMaterialDef_Default();
	ioMaterial(&reader->stream, &def);
	return !reader->stream.broken && knScene_AddMaterial(reader->scene, &def, reader->error) > 0;
}

static bool readLight(Reader* reader) {
	knLightDef def = { .body = readBodyNumber(reader) };
	ioLight(&reader->stream, &def);
	return !reader->stream.broken && knScene_AddLight(reader->scene, &def, reader->error) > 0;
}

static bool readAll(Reader* reader, bool (*read)(Reader*)) {
	int count = ioCount(&reader->stream, 0, 8);
	for (int i = 0; i < count; ++i) {
		if (!read(reader)) {
			return false;
		}
	}
	return true;
}

static bool readControl(Reader* reader) {
	return readAll(reader, readTendon) && readAll(reader, readCoupling) && readAll(reader, readActuator) &&
		   readAll(reader, readProbe);
}

static bool readExcluded(Reader* reader) {
	Stream* stream = &reader->stream;
	int count = ioCount(stream, 0, 8);
	for (int i = 0; i < count; ++i) {
		knBodyId a = readBodyNumber(reader), b = readBodyNumber(reader);
		if (stream->broken || knScene_ExcludePair(reader->scene, a, b, reader->error) != KN_OK) {
			return false;
		}
	}
	return true;
}

static bool readScene(Reader* reader) {
	Stream* stream = &reader->stream;
	knSceneDef def = knSceneDef_Default();
	ioSceneDef(stream, &def);
	if (stream->broken) {
		return false;
	}
	def.name = NULL;
	reader->scene = knScene_Create(&def, &stream->allocator, reader->error);
	if (reader->scene == NULL) {
		return false;
	}
	const char* name = ioText(stream, NULL);
	if (name != NULL && knScene_SetName(reader->scene, name, reader->error) != KN_OK) {
		return false;
	}
	const char* stepper = ioText(stream, NULL);
	if (stepper != NULL && knScene_SetStepper(reader->scene, stepper, reader->error) != KN_OK) {
		return false;
	}
	return readAll(reader, readTexture) && readAll(reader, readMaterial) && readGeoms(reader) &&
		   readBodies(reader) && readShapes(reader) && readJoints(reader) && readExcluded(reader) &&
		   readControl(reader) && readAll(reader, readLight) && !stream->broken;
}

static knStatus checkHead(const uint8_t* bytes, size_t size, knError* error) {
	uint64_t words[4] = { 0 };
	if (size < HEAD_SIZE || memcmp(bytes, MAGIC, sizeof(MAGIC)) != 0) {
		return knError_Set(error, KN_BAD_DATA, "scene", "this is not a compiled scene");
	}
	for (int i = 1; i < 4; ++i) {
		for (int k = 0; k < 8; ++k) {
			words[i] |= (uint64_t)bytes[8 * i + k] << 8 * k;
		}
	}
	if (words[1] != FORMAT_VERSION) {
		return knError_Set(error, KN_BAD_DATA, "scene",
						   "the compiled scene has version %u; this library reads %u", (unsigned)words[1],
						   FORMAT_VERSION);
	}
	if (words[2] != size || words[3] != knHash_Bytes(0, bytes + HEAD_SIZE, size - HEAD_SIZE)) {
		return knError_Set(error, KN_BAD_DATA, "scene", "the compiled scene is damaged or cut short");
	}
	return KN_OK;
}

knScene* knScene_FromBytes(const void* bytes, size_t size, const knAllocator* allocator, knError* error) {
	KN_ASSERT(bytes != NULL || size == 0);
	knError local = { 0 };
	Reader reader = { .error = error != NULL ? error : &local };
	if (checkHead(bytes, size, reader.error) != KN_OK) {
		return NULL;
	}
	Stream* stream = &reader.stream;
	stream->allocator = allocator != NULL ? *allocator : knAllocator_Default();
	stream->reading = true;
	stream->in = (const uint8_t*)bytes + HEAD_SIZE;
	stream->left = size - HEAD_SIZE;
	if (!readScene(&reader)) {
		if (stream->noMemory) {
			knError_Set(reader.error, KN_NO_MEMORY, "scene", "out of memory");
		} else if (stream->broken) {
			knError_Set(reader.error, KN_BAD_DATA, "scene",
						"the compiled scene has a number out of its range");
		}
		if (reader.scene != NULL) {
			knScene_Destroy(reader.scene);
			reader.scene = NULL;
		}
	}
	for (int i = 0; i < reader.geoms.count; ++i) {
		knGeom_Release(reader.geoms.items[i]);
	}
	KN_ARRAY_FREE(&stream->allocator, &reader.geoms);
	KN_ARRAY_FREE(&stream->allocator, &reader.bodies);
	KN_ARRAY_FREE(&stream->allocator, &reader.joints);
	return reader.scene;
}
