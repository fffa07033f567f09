// Penetration: how deep solid shapes that may touch overlap, by a fresh exact query over all close pairs.
//
// A pair's depth is that of its deepest contact point; a pair counts when that is positive. The collider is
// made for this call alone, so no cache of the simulation can hide an overlap. Pairs of bodies that the scene
// excludes or that a joint holds (authored or attached, unless the joint says `collide`), disabled shapes and
// sensors do not count.
#include "core/sort.h"
#include "measure/measures.h"

// 1 for each enabled shape that is solid.
static uint8_t* solidShapes(const knModel* model, const knState* state, knArena* scratch) {
	uint8_t* solid = KN_SCRATCH(scratch, uint8_t, model->shapeCount);
	for (int s = 0; solid != NULL && s < model->shapeCount; ++s) {
		solid[s] = state->shapeEnabled[s] && !model->shapes[s].sensor;
	}
	return solid;
}

// Body pairs held apart by attached joints, sorted; authored ones are already in the collider.
static knFramePair* attachedPairs(const knModel* model, const knState* state, knArena* scratch, int* count) {
	knKeyed* keys = KN_SCRATCH(scratch, knKeyed, model->jointCapacity);
	knFramePair* pairs = KN_SCRATCH(scratch, knFramePair, model->jointCapacity);
	*count = 0;
	if (keys == NULL || pairs == NULL) {
		return NULL;
	}
	for (int k = 0; k < model->jointCapacity; ++k) {
		const knJoint* joint = knState_Joint(state, model, model->jointCount + k);
		if (joint != NULL && !joint->collide) {
			int a = joint->parent < joint->child ? joint->parent : joint->child;
			int b = joint->parent < joint->child ? joint->child : joint->parent;
			knKeyed keyed = { (uint64_t)a << 32 | (uint64_t)b, 0 };
			keys[(*count)++] = keyed;
		}
	}
	if (!knSort_Keys(keys, *count, scratch)) {
		return NULL;
	}
	for (int k = 0; k < *count; ++k) {
		pairs[k].a = (int)(keys[k].key >> 32);
		pairs[k].b = (int)(keys[k].key & UINT32_MAX);
	}
	return pairs;
}

// Depth of the deepest point, negative when apart.
static double pairDepth(const knContactSet* contacts, const knContactPair* pair) {
	double depth = -contacts->points[pair->first].separation;
	for (int k = 1; k < pair->count; ++k) {
		depth = knMax(depth, -contacts->points[pair->first + k].separation);
	}
	return depth;
}

static knPenetration summarize(const knModel* model, const knContactSet* contacts) {
	knPenetration result = { 0 };
	double sum = 0.0;
	for (int i = 0; i < contacts->pairCount; ++i) {
		const knContactPair* pair = &contacts->pairs[i];
		double depth = pairDepth(contacts, pair);
		if (depth > 0.0) {
			result.pairs += 1;
			sum += depth;
			if (depth > result.max) {
				result.max = depth;
				result.shapeA = knModel_ShapeId(model, pair->shapeA);
				result.shapeB = knModel_ShapeId(model, pair->shapeB);
			}
		}
	}
	result.mean = result.pairs > 0 ? sum / result.pairs : 0.0;
	return result;
}

static knStatus queryAll(const knModel* model, const knState* state, const knTasks* tasks, knArena* scratch,
						 knCollider* collider, knPenetration* penetration, knError* error) {
	knCollideInput input = { .frames = state->pose };
	input.shapeActive = solidShapes(model, state, scratch);
	input.excluded = attachedPairs(model, state, scratch, &input.excludedCount);
	if (input.shapeActive == NULL || input.excluded == NULL) {
		return knError_Set(error, KN_NO_MEMORY, "penetration", "out of memory");
	}
	if (tasks != NULL) {
		input.tasks = *tasks;
	}
	knContactSet contacts;
	knStatus status = knCollide(collider, &input, &contacts, error);
	if (status == KN_OK) {
		*penetration = summarize(model, &contacts);
	}
	return status;
}

knStatus knMeasure_Penetration(const knModel* model, const knState* state, const knAllocator* allocator,
							   const knTasks* tasks, knPenetration* penetration, knError* error) {
	knPenetration none = { 0 };
	*penetration = none;
	if (!knState_IsFinite(state, model)) {
		return knError_Set(error, KN_DIVERGED, "penetration", "the poses are not finite");
	}
	knError local;
	knError* why = error != NULL ? error : &local;
	knCollider* collider = knModel_CreateCollider(model, allocator, why);
	if (collider == NULL) {
		return why->status;
	}
	knArena scratch;
	knArena_Init(&scratch, allocator);
	knStatus status = queryAll(model, state, tasks, &scratch, collider, penetration, error);
	knArena_Free(&scratch);
	knCollider_Destroy(collider);
	return status;
}
