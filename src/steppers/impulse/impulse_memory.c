// The impulse stepper's part of the state.

#include "steppers/impulse/impulse_memory.h"

#include <string.h>

size_t knImpulseMemory_Size(int jointCount, int contactCount) {
	return sizeof(knImpulseMemory) + (size_t)jointCount * sizeof(knArticulationMemory) +
		   (size_t)contactCount * sizeof(knContactMemory);
}

knImpulseMemory knImpulseMemory_Get(const knState* state) {
	const knImpulseMemory* memory = state->stepperPart;
	uint64_t size = state->header->privateSize;
	bool sound = size >= sizeof(*memory) && size <= state->header->privateCapacity &&
				 memory->jointCount >= 0 && memory->contactCount >= 0 &&
				 knImpulseMemory_Size(memory->jointCount, memory->contactCount) == size;
	return sound ? *memory : (knImpulseMemory){ 0 };
}

knArticulationMemory* knImpulseMemory_Joints(const knState* state) {
	return (knArticulationMemory*)((char*)state->stepperPart + sizeof(knImpulseMemory));
}

knContactMemory* knImpulseMemory_Contacts(const knState* state) {
	return (knContactMemory*)(knImpulseMemory_Joints(state) + knImpulseMemory_Get(state).jointCount);
}

bool knImpulseMemory_Resize(knState* state, const knModel* model, double dt, int contactCount,
							const knAllocator* allocator) {
	int jointCount = knArticulationMemory_Count(model);
	bool fresh = knImpulseMemory_Get(state).jointCount != jointCount;
	size_t size = knImpulseMemory_Size(jointCount, contactCount);
	if (size > state->header->privateCapacity &&
		!knState_Grow(state, model, (size_t)state->header->touchCapacity, size, allocator)) {
		return false;
	}
	state->header->privateSize = size;
	*(knImpulseMemory*)state->stepperPart =
		(knImpulseMemory){ .dt = dt, .jointCount = jointCount, .contactCount = contactCount };
	if (fresh && jointCount > 0) {
		memset(knImpulseMemory_Joints(state), 0, sizeof(knArticulationMemory) * (size_t)jointCount);
	}
	return true;
}

// --- edits of the topology ---------------------------------------------------------------------------------

static bool isBefore(const knContactMemory* a, const knContactMemory* b) {
	if (a->shapeA != b->shapeA) {
		return a->shapeA < b->shapeA;
	}
	return a->shapeB != b->shapeB ? a->shapeB < b->shapeB : a->feature < b->feature;
}

static int migrateContacts(knContactMemory* out, const knState* from, const knModel* fromModel,
						   const knModel* toModel) {
	const knContactMemory* in = knImpulseMemory_Contacts(from);
	int count = 0;
	for (int i = 0; i < knImpulseMemory_Get(from).contactCount; ++i) {
		knContactMemory item = in[i];
		item.shapeA = knModel_ShapeIndex(toModel, knModel_ShapeId(fromModel, in[i].shapeA));
		item.shapeB = knModel_ShapeIndex(toModel, knModel_ShapeId(fromModel, in[i].shapeB));
		// two shapes that change places would name their features from the other side
		if (item.shapeA < 0 || item.shapeB < 0 || item.shapeA > item.shapeB) {
			continue;
		}
		int place = count++;
		for (; place > 0 && isBefore(&item, &out[place - 1]); --place) {
			out[place] = out[place - 1];
		}
		out[place] = item;
	}
	return count;
}

static void migrateJoints(knArticulationMemory* out, int outCount, const knState* from,
						  const knModel* fromModel, const knModel* toModel) {
	const knArticulationMemory* in = knImpulseMemory_Joints(from);
	for (int j = 0; j < knImpulseMemory_Get(from).jointCount; ++j) {
		int slot = j - fromModel->jointCount; // of an attached joint
		int place = slot >= 0 ? toModel->jointCount + slot
							  : knModel_JointIndex(toModel, knModel_JointId(fromModel, j));
		if (place >= 0 && place < outCount) {
			out[place] = in[j];
		}
	}
}

bool knImpulseMemory_Migrate(knState* to, const knModel* toModel, const knState* from,
							 const knModel* fromModel, const knAllocator* allocator) {
	knImpulseMemory old = knImpulseMemory_Get(from);
	to->header->privateSize = 0;
	if (!knImpulseMemory_Resize(to, toModel, old.dt, old.contactCount, allocator)) {
		return false;
	}
	migrateJoints(knImpulseMemory_Joints(to), knArticulationMemory_Count(toModel), from, fromModel, toModel);
	int count = migrateContacts(knImpulseMemory_Contacts(to), from, fromModel, toModel);
	// it only shrinks here
	return knImpulseMemory_Resize(to, toModel, old.dt, count, allocator);
}
