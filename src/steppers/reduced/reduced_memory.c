// The reduced stepper's part of the state. An empty part, or one whose counts do not fit (a damaged snapshot), reads as
// nothing: coordinates are then read off the poses.
#include "steppers/reduced/reduced_memory.h"

#include <string.h>

static const knReducedMemory nothing = { 0 };

static size_t barredSize(int jointCount) {
	return ((size_t)jointCount + 7) & ~(size_t)7;
}

size_t knReducedMemory_Size(int bodyCount, int jointCount, int contactCount, int jointRowCount) {
	return sizeof(knReducedMemory) + (size_t)bodyCount * (sizeof(knLinkMemory) + sizeof(knRestMemory)) +
		   barredSize(jointCount) + (size_t)contactCount * sizeof(knContactMemory) +
		   (size_t)jointRowCount * sizeof(knJointMemory);
}

const knReducedMemory* knReducedMemory_Get(const knState* state, const knModel* model) {
	const knReducedMemory* memory = state->stepperPart;
	uint64_t size = state->header->privateSize;
	bool sound = size >= sizeof(*memory) && size <= state->header->privateCapacity &&
				 memory->bodyCount == model->bodyCount && memory->jointCount == model->jointCount &&
				 memory->contactCount >= 0 && memory->jointRowCount >= 0 &&
				 knReducedMemory_Size(memory->bodyCount, memory->jointCount, memory->contactCount,
									  memory->jointRowCount) == size;
	return sound ? memory : &nothing;
}

knLinkMemory* knReducedMemory_Links(const knState* state) {
	return (knLinkMemory*)((char*)state->stepperPart + sizeof(knReducedMemory));
}

knRestMemory* knReducedMemory_Rest(const knState* state) {
	return (knRestMemory*)(knReducedMemory_Links(state) +
						   ((const knReducedMemory*)state->stepperPart)->bodyCount);
}

uint8_t* knReducedMemory_Barred(const knState* state) {
	return (uint8_t*)(knReducedMemory_Rest(state) + ((const knReducedMemory*)state->stepperPart)->bodyCount);
}

knContactMemory* knReducedMemory_Contacts(const knState* state) {
	const knReducedMemory* memory = state->stepperPart;
	return (knContactMemory*)(knReducedMemory_Barred(state) + barredSize(memory->jointCount));
}

knJointMemory* knReducedMemory_Joints(const knState* state) {
	const knReducedMemory* memory = state->stepperPart;
	return (knJointMemory*)(knReducedMemory_Contacts(state) + memory->contactCount);
}

bool knReducedMemory_Resize(knState* state, const knModel* model, double dt, int contactCount,
							int jointRowCount, const knAllocator* allocator) {
	size_t size = knReducedMemory_Size(model->bodyCount, model->jointCount, contactCount, jointRowCount);
	if (size > state->header->privateCapacity &&
		!knState_Grow(state, model, (size_t)state->header->touchCapacity, size, allocator)) {
		return false;
	}
	knReducedMemory* memory = state->stepperPart;
	bool fresh = knReducedMemory_Get(state, model) == &nothing;
	uint64_t signature = fresh ? 0 : memory->signature;
	*memory = (knReducedMemory){ .dt = dt,
								 .bodyCount = model->bodyCount,
								 .jointCount = model->jointCount,
								 .contactCount = contactCount,
								 .jointRowCount = jointRowCount,
								 .signature = signature };
	state->header->privateSize = size;
	if (fresh) {
		memset(memory + 1, 0, size - sizeof(*memory));
		for (int b = 0; b < model->bodyCount; ++b) {
			knReducedMemory_Links(state)[b].via = -2;
		}
	}
	return true;
}

bool knReducedMemory_Migrate(knState* to, const knModel* toModel, const knState* from,
							 const knModel* fromModel, const knAllocator* allocator) {
	const knReducedMemory* old = knReducedMemory_Get(from, fromModel);
	if (old->dt == 0.0) {
		return true;
	}
	to->header->privateSize = 0;
	if (!knReducedMemory_Resize(to, toModel, old->dt, old->contactCount, 0, allocator)) {
		return false;
	}
	for (int b = 1; b < fromModel->bodyCount; ++b) {
		int index = knModel_BodyIndex(toModel, knModel_BodyId(fromModel, b));
		if (index > 0) {
			knLinkMemory item = knReducedMemory_Links(from)[b];
			int via = item.via >= 0 && item.via < fromModel->jointCount
						  ? knModel_JointIndex(toModel, knModel_JointId(fromModel, item.via))
						  : item.via;
			item.via = item.via >= 0 && via < 0 ? -2 : via;
			knReducedMemory_Links(to)[index] = item;
		}
	}
	for (int j = 0; j < fromModel->jointCount; ++j) {
		int index = knModel_JointIndex(toModel, knModel_JointId(fromModel, j));
		if (index >= 0) {
			knReducedMemory_Barred(to)[index] = knReducedMemory_Barred(from)[j];
		}
	}
	int count = 0;
	for (int i = 0; i < old->contactCount; ++i) {
		knContactMemory item = knReducedMemory_Contacts(from)[i];
		item.shapeA = knModel_ShapeIndex(toModel, knModel_ShapeId(fromModel, item.shapeA));
		item.shapeB = knModel_ShapeIndex(toModel, knModel_ShapeId(fromModel, item.shapeB));
		bool before = count == 0;
		if (count > 0) {
			const knContactMemory* last = &knReducedMemory_Contacts(to)[count - 1];
			before =
				last->shapeA < item.shapeA || (last->shapeA == item.shapeA && last->shapeB <= item.shapeB);
		}
		// what changes places starts cold
		if (item.shapeA >= 0 && item.shapeB >= item.shapeA && before) {
			knReducedMemory_Contacts(to)[count++] = item;
		}
	}
	return knReducedMemory_Resize(to, toModel, old->dt, count, 0, allocator);
}
