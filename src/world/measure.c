// The measures for users: brings every pose up to date, then measures the world's model and state.
#include "knuckle/measure.h"

#include "measure/measures.h"
#include "world/world_internal.h"

knMeasures knWorld_Measure(knWorld* world) {
	KN_ASSERT(world != NULL);
	if (world == NULL) {
		return (knMeasures){ 0 };
	}
	knWorld_SyncPoses(world);
	return knMeasure_All(world->model, &world->state, NULL);
}

knJointError knWorld_MeasureJoint(knWorld* world, knJointId joint) {
	int index = world != NULL ? knWorld_JointIndex(world, joint) : -1;
	KN_ASSERT(index >= 0);
	if (index < 0) {
		return (knJointError){ 0.0, 0.0 };
	}
	knWorld_SyncPoses(world);
	return knMeasure_Joint(world->model, &world->state, index);
}

knStatus knWorld_MeasurePenetration(knWorld* world, knPenetration* penetration, knError* error) {
	KN_ASSERT(world != NULL && penetration != NULL);
	if (world == NULL || penetration == NULL) {
		return knError_Set(error, KN_BAD_ARGUMENT, "knWorld_MeasurePenetration",
						   "needs a world and a place for the result");
	}
	knWorld_SyncPoses(world);
	return knMeasure_Penetration(world->model, &world->state, &world->allocator, &world->tasks, penetration,
								 error);
}
