// The impulse stepper's part of the state.

#include "steppers/impulse/impulse_memory.h"

size_t knImpulseMemory_Size(int contactCount) {
	return sizeof(knImpulseMemory) + (size_t)contactCount * sizeof(knContactMemory);
}

knImpulseMemory knImpulseMemory_Get(const knState* state) {
	const knImpulseMemory* memory = state->stepperPart;
	uint64_t size = state->header->privateSize;
	bool sound = size >= sizeof(*memory) && size <= state->header->privateCapacity &&
				 memory->contactCount >= 0 && knImpulseMemory_Size(memory->contactCount) == size;
	return sound ? *memory : (knImpulseMemory){ 0 };
}

knContactMemory* knImpulseMemory_Contacts(const knState* state) {
	return (knContactMemory*)((char*)state->stepperPart + sizeof(knImpulseMemory));
}

bool knImpulseMemory_Resize(knState* state, const knModel* model, double dt, int contactCount,
							const knAllocator* allocator) {
	size_t size = knImpulseMemory_Size(contactCount);
	if (size > state->header->privateCapacity &&
		!knState_Grow(state, model, (size_t)state->header->touchCapacity, size, allocator)) {
		return false;
	}
	state->header->privateSize = size;
	*(knImpulseMemory*)state->stepperPart = (knImpulseMemory){ .dt = dt, .contactCount = contactCount };
	return true;
}

static bool isBefore(const knContactMemory* a, const knContactMemory* b) {
	if (a->shapeA != b->shapeA) {
		return a->shapeA < b->shapeA;
	}
	return a->shapeB != b->shapeB ? a->shapeB < b->shapeB : a->feature < b->feature;
}

bool knImpulseMemory_Migrate(knState* to, const knModel* toModel, const knState* from,
							 const knModel* fromModel, const knAllocator* allocator) {
	knImpulseMemory old = knImpulseMemory_Get(from);
	if (!knImpulseMemory_Resize(to, toModel, old.dt, old.contactCount, allocator)) {
		return false;
	}
	const knContactMemory* in = knImpulseMemory_Contacts(from);
	knContactMemory* out = knImpulseMemory_Contacts(to);
	int count = 0;
	for (int i = 0; i < old.contactCount; ++i) {
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
	// it only shrinks here
	return knImpulseMemory_Resize(to, toModel, old.dt, count, allocator);
}
