// Reading a compiled model: ids and indices, counts, materials, and the collider over its shapes.
#include "model/model.h"
#include "model/scene_internal.h"

int knModel_BodyIndex(const knModel* model, knBodyId body) {
	if (KN_ID_IS_NULL(body)) {
		return 0;
	}
	int slot = knScene_BodySlot(model->scene, body);
	return slot >= 0 ? model->slotToBody[slot] : -1;
}

int knModel_ShapeIndex(const knModel* model, knShapeId shape) {
	int slot = knScene_ShapeSlot(model->scene, shape);
	return slot >= 0 ? model->slotToShape[slot] : -1;
}

int knModel_JointIndex(const knModel* model, knJointId joint) {
	int slot = knScene_JointSlot(model->scene, joint);
	return slot >= 0 ? model->slotToJoint[slot] : -1;
}

knBodyId knModel_BodyId(const knModel* model, int index) {
	KN_ASSERT(index >= 0 && index < model->bodyCount);
	return knScene_BodyAt(model->scene, model->bodyToSlot[index]);
}

knShapeId knModel_ShapeId(const knModel* model, int index) {
	KN_ASSERT(index >= 0 && index < model->shapeCount);
	return knScene_ShapeAt(model->scene, model->shapeToSlot[index]);
}

knJointId knModel_JointId(const knModel* model, int index) {
	KN_ASSERT(index >= 0 && index < model->jointCount);
	return knScene_JointAt(model->scene, model->jointToSlot[index]);
}

const char* knModel_BodyName(const knModel* model, int index) {
	KN_ASSERT(index >= 0 && index < model->bodyCount);
	return index == 0 ? "world" : model->scene->bodies.items[model->bodyToSlot[index]].name;
}

const knScene* knModel_Scene(const knModel* model) {
	return model->scene;
}

int knModel_BodyCount(const knModel* model) {
	return model->bodyCount - 1;
}

int knModel_JointCount(const knModel* model) {
	return model->jointCount;
}

int knModel_DofCount(const knModel* model) {
	return model->dofCount;
}

knMassProps knModel_BodyMass(const knModel* model, knBodyId body) {
	int index = knModel_BodyIndex(model, body);
	knMassProps mass = { 0 };
	if (index >= 0) {
		mass.mass = model->mass[index];
		mass.center = model->centerLocal[index];
		mass.inertia = model->inertiaLocal[index];
	}
	return mass;
}

knBodyId knModel_BodyAt(const knModel* model, int index) {
	bool exists = index >= 0 && index < model->bodyCount - 1;
	return exists ? knModel_BodyId(model, index + 1) : (knBodyId){ 0, 0 };
}

knJointId knModel_JointAt(const knModel* model, int index) {
	bool exists = index >= 0 && index < model->jointCount;
	return exists ? knModel_JointId(model, index) : (knJointId){ 0, 0 };
}

double knCombine_Apply(knCombine rule, double a, double b) {
	// a mean of two equal materials is that value, to the last bit
	if (a == b && rule != KN_COMBINE_MULTIPLY) {
		return a;
	}
	switch (rule) {
	case KN_COMBINE_MIN:
		return knMin(a, b);
	case KN_COMBINE_AVERAGE:
		return 0.5 * (a + b);
	case KN_COMBINE_GEOMETRIC:
		return sqrt(a * b);
	case KN_COMBINE_MAX:
		return knMax(a, b);
	case KN_COMBINE_MULTIPLY:
		return a * b;
	}
	return a;
}

knCollider* knModel_CreateCollider(const knModel* model, const knAllocator* allocator, knError* error) {
	knAllocator memory = allocator != NULL ? *allocator : model->allocator;
	const size_t shapeBytes = (size_t)model->shapeCount * sizeof(knCollideShape);
	const size_t moveBytes = (size_t)model->bodyCount * sizeof(bool);
	knCollideShape* shapes = knAllocZero(&memory, shapeBytes);
	bool* moves = knAllocZero(&memory, moveBytes);
	knCollider* collider = NULL;
	if ((shapes == NULL && shapeBytes > 0) || moves == NULL) {
		knError_Set(error, KN_NO_MEMORY, "collider", "out of memory");
	} else {
		for (int i = 0; i < model->shapeCount; ++i) {
			const knModelShape* shape = &model->shapes[i];
			shapes[i].geom = shape->geom;
			shapes[i].frame = shape->body;
			shapes[i].local = shape->local;
			shapes[i].filter = shape->filter;
		}
		for (int i = 0; i < model->bodyCount; ++i) {
			moves[i] = model->bodyKind[i] != KN_BODY_FIXED;
		}
		knColliderDef def = {
			.allocator = &memory,
			.frameCount = model->bodyCount,
			.frameMoves = moves,
			.shapeCount = model->shapeCount,
			.shapes = shapes,
			.excludedCount = model->excludedCount,
			.excluded = model->excluded,
		};
		collider = knCollider_Create(&def, error);
	}
	knFree(&memory, shapes, shapeBytes);
	knFree(&memory, moves, moveBytes);
	return collider;
}
