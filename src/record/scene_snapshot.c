// The cast of a recording, gathered from a model: names, kinds, colours, masses, and the shapes as
// primitives, those made of triangles with a mesh of the recording's list.
//
// Shapes are sorted by body (a counting sort, stable), so that each body has a range of them; those of the
// world body come first.
#include "record/writer.h"

#include <string.h>

bool knSceneSnapshot_Create(knSceneSnapshot* cast, int bodyCount, int shapeCount, size_t textBytes,
							const knAllocator* allocator) {
	size_t bodyBytes = sizeof(knTrajectoryBody) * (size_t)bodyCount;
	size_t shapeBytes = sizeof(knTrajectoryShape) * (size_t)shapeCount;
	size_t size = bodyBytes + shapeBytes + textBytes;
	char* block = knAllocZero(allocator, size);
	if (block == NULL) {
		return false;
	}
	knSceneSnapshot made = {
		.bodyCount = bodyCount,
		.bodies = (knTrajectoryBody*)block,
		.shapeCount = shapeCount,
		.shapes = (knTrajectoryShape*)(block + bodyBytes),
		.allocator = *allocator,
		.block = block,
		.blockSize = size,
		.text = block + bodyBytes + shapeBytes,
	};
	for (int s = 0; s < shapeCount; ++s) {
		made.shapes[s].mesh = made.shapes[s].look = -1;
	}
	*cast = made;
	return true;
}

const char* knSceneSnapshot_AddText(knSceneSnapshot* cast, const void* bytes, size_t length) {
	char* text = cast->text;
	KN_ASSERT(text + length < (char*)cast->block + cast->blockSize);
	memcpy(text, bytes, length);
	text[length] = '\0';
	cast->text += length + 1;
	return text;
}

void knSceneSnapshot_Free(knSceneSnapshot* cast) {
	if (cast->block != NULL) {
		knFree(&cast->allocator, cast->block, cast->blockSize);
		cast->block = NULL;
	}
}

static const char* orEmpty(const char* text) {
	return text != NULL ? text : "";
}

static const char* addString(knSceneSnapshot* cast, const char* text) {
	return knSceneSnapshot_AddText(cast, orEmpty(text), strlen(orEmpty(text)));
}

static const char* shapeName(const knModel* model, int shape) {
	return orEmpty(knScene_GetShape(model->scene, knModel_ShapeId(model, shape))->name);
}

static bool hasTriangles(const knGeom* geom) {
	int count;
	return knGeom_Triangles(geom, &count) != NULL && count > 0;
}

// Primitives that a shape is drawn as.
static int primitiveCount(const knModelShape* shape) {
	if (shape->sensor || shape->hidden) {
		return 0;
	}
	return knGeom_Kind(shape->geom) == KN_GEOM_COMPOUND ? knGeom_ChildCount(shape->geom) : 1;
}

static void gatherBodies(knSceneSnapshot* cast, const knModel* model) {
	for (int b = 1; b < model->bodyCount; ++b) {
		const knBodyDef* def = knScene_GetBody(model->scene, knModel_BodyId(model, b));
		knTrajectoryBody* body = &cast->bodies[b - 1];
		body->name = addString(cast, knModel_BodyName(model, b));
		body->kind = model->bodyKind[b];
		body->color = def->color;
		body->mass = model->mass[b];
	}
}

// Fills the ranges of the bodies; `next[b]` becomes the first primitive of dense body b.
static void layOut(knSceneSnapshot* cast, const knModel* model, int* next) {
	memset(next, 0, sizeof(int) * (size_t)model->bodyCount);
	for (int s = 0; s < model->shapeCount; ++s) {
		next[model->shapes[s].body] += primitiveCount(&model->shapes[s]);
	}
	int first = 0;
	for (int b = 0; b < model->bodyCount; ++b) {
		int count = next[b];
		if (b > 0) {
			cast->bodies[b - 1].firstShape = first;
			cast->bodies[b - 1].shapeCount = count;
		}
		next[b] = first;
		first += count;
	}
}

// A shape's own colour, else its material's; a picture without either is shown as it is.
static uint32_t colorOf(const knScene* scene, const knShapeDef* def) {
	const knMaterialDef* material = knScene_GetMaterial(scene, def->material);
	if (def->color != 0 || material == NULL) {
		return def->color;
	}
	return material->color != 0 || material->texture == 0 ? material->color : 0xffffff;
}

// False when out of memory.
static bool lookOf(const knScene* scene, const knShapeDef* def, knLookList* looks, int* look) {
	*look = def->material > 0 ? knLookList_Of(looks, scene, def->material) : -1;
	return def->material <= 0 || *look >= 0;
}

static bool gatherShapes(knSceneSnapshot* cast, const knModel* model, int* next, knMeshList* meshes,
						 knLookList* looks) {
	for (int s = 0; s < model->shapeCount; ++s) {
		const knModelShape* shape = &model->shapes[s];
		const knShapeDef* def = knScene_GetShape(model->scene, knModel_ShapeId(model, s));
		int count = primitiveCount(shape);
		const char* name = count > 0 ? addString(cast, def->name) : "";
		bool compound = knGeom_Kind(shape->geom) == KN_GEOM_COMPOUND;
		int look;
		if (!lookOf(model->scene, def, looks, &look)) {
			return false;
		}
		for (int k = 0; k < count; ++k) {
			knGeomChild part = { shape->geom, knIdentityF() };
			if (compound) {
				part = knGeom_Child(shape->geom, k);
			}
			knTrajectoryShape* primitive = &cast->shapes[next[shape->body]++];
			primitive->kind = knGeom_Kind(part.geom);
			primitive->size = knGeom_Size(part.geom);
			primitive->frame = compound ? knMulF(shape->local, part.frame) : shape->local;
			primitive->color = colorOf(model->scene, def);
			primitive->look = look;
			primitive->name = name;
			if (hasTriangles(part.geom)) {
				primitive->mesh = knMeshList_OfGeom(meshes, part.geom);
				if (primitive->mesh < 0) {
					return false;
				}
			}
		}
	}
	cast->meshCount = meshes->items.count;
	cast->meshes = meshes->items.items;
	cast->looks = looks;
	return true;
}

// Bytes of all names, with their zeros.
static size_t textSize(const knRecordView* view) {
	const knModel* model = view->model;
	size_t size = strlen(orEmpty(knScene_GetDef(model->scene)->name)) + strlen(orEmpty(view->stepper)) + 2;
	for (int b = 1; b < model->bodyCount; ++b) {
		size += strlen(orEmpty(knModel_BodyName(model, b))) + 1;
	}
	for (int s = 0; s < model->shapeCount; ++s) {
		size += strlen(shapeName(model, s)) + 1;
	}
	return size;
}

bool knSceneSnapshot_FromModel(knSceneSnapshot* cast, const knRecordView* view, knMeshList* meshes,
							   knLookList* looks, const knAllocator* allocator) {
	const knModel* model = view->model;
	int shapeCount = 0;
	for (int s = 0; s < model->shapeCount; ++s) {
		shapeCount += primitiveCount(&model->shapes[s]);
	}
	int* next = knAllocArray(allocator, (size_t)model->bodyCount, sizeof(int));
	bool made = next != NULL &&
				knSceneSnapshot_Create(cast, model->bodyCount - 1, shapeCount, textSize(view), allocator);
	if (made) {
		cast->scene = addString(cast, knScene_GetDef(model->scene)->name);
		cast->stepper = addString(cast, view->stepper);
		cast->view = knScene_GetDef(model->scene)->view;
		gatherBodies(cast, model);
		layOut(cast, model, next);
		made = gatherShapes(cast, model, next, meshes, looks);
		if (!made) {
			knSceneSnapshot_Free(cast);
		}
	}
	knFree(allocator, next, sizeof(int) * (size_t)model->bodyCount);
	return made;
}
