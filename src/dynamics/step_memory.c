// An empty part, or one whose counts do not fit its size (a damaged
// snapshot), reads as no memories.

#include "dynamics/step_memory.h"

static const knStepMemory nothing = { 0 };

size_t knStepMemory_Size(int contactCount, int jointCount, int bodyCount) {
	return sizeof(knStepMemory) + (size_t)contactCount * sizeof(knContactMemory) +
		   (size_t)jointCount * sizeof(knJointMemory) + (size_t)bodyCount * sizeof(knRestMemory);
}

const knStepMemory* knStepMemory_Get(const knState* state) {
	const knStepMemory* memory = state->stepperPart;
	uint64_t size = state->header->privateSize;
	bool sound = size >= sizeof(*memory) && size <= state->header->privateCapacity &&
				 memory->contactCount >= 0 && memory->jointCount >= 0 && memory->bodyCount >= 0 &&
				 knStepMemory_Size(memory->contactCount, memory->jointCount, memory->bodyCount) == size;
	return sound ? memory : &nothing;
}

knContactMemory* knStepMemory_Contacts(const knState* state) {
	return (knContactMemory*)((char*)state->stepperPart + sizeof(knStepMemory));
}

knJointMemory* knStepMemory_Joints(const knState* state) {
	return (knJointMemory*)(knStepMemory_Contacts(state) + knStepMemory_Get(state)->contactCount);
}

knRestMemory* knStepMemory_Bodies(const knState* state) {
	return (knRestMemory*)(knStepMemory_Joints(state) + knStepMemory_Get(state)->jointCount);
}

bool knStepMemory_Resize(knState* state, const knModel* model, double dt, int contactCount, int jointCount,
						 int bodyCount, const knAllocator* allocator) {
	size_t size = knStepMemory_Size(contactCount, jointCount, bodyCount);
	if (size > state->header->privateCapacity &&
		!knState_Grow(state, model, (size_t)state->header->touchCapacity, size, allocator)) {
		return false;
	}
	state->header->privateSize = size;
	knStepMemory* memory = state->stepperPart;
	*memory = (knStepMemory){
		.dt = dt, .contactCount = contactCount, .jointCount = jointCount, .bodyCount = bodyCount
	};
	return true;
}

// --- edits of the topology -------------------------------------------------------------------------------

static bool contactBefore(const knContactMemory* a, const knContactMemory* b) {
	if (a->shapeA != b->shapeA) {
		return a->shapeA < b->shapeA;
	}
	return a->shapeB != b->shapeB ? a->shapeB < b->shapeB : a->feature < b->feature;
}

// A pair whose two shapes change places is forgotten: its features would be named from the other side.
static int migrateContacts(knContactMemory* out, const knState* from, const knModel* fromModel,
						   const knModel* toModel) {
	const knContactMemory* in = knStepMemory_Contacts(from);
	int count = 0;
	for (int i = 0; i < knStepMemory_Get(from)->contactCount; ++i) {
		knContactMemory item = in[i];
		item.shapeA = knModel_ShapeIndex(toModel, knModel_ShapeId(fromModel, in[i].shapeA));
		item.shapeB = knModel_ShapeIndex(toModel, knModel_ShapeId(fromModel, in[i].shapeB));
		if (item.shapeA < 0 || item.shapeB < 0 || item.shapeA > item.shapeB) {
			continue;
		}
		// shapes keep their order in practice, so this insertion hardly ever moves anything
		int k = count++;
		for (; k > 0 && contactBefore(&item, &out[k - 1]); --k) {
			out[k] = out[k - 1];
		}
		out[k] = item;
	}
	return count;
}

static int migrateJoint(int joint, const knModel* fromModel, const knModel* toModel) {
	if (joint < fromModel->jointCount) {
		return knModel_JointIndex(toModel, knModel_JointId(fromModel, joint));
	}
	int slot = joint - fromModel->jointCount;
	return slot < toModel->jointCapacity ? toModel->jointCount + slot : -1;
}

static int migrateJoints(knJointMemory* out, const knState* from, const knModel* fromModel,
						 const knModel* toModel) {
	const knJointMemory* in = knStepMemory_Joints(from);
	int count = 0;
	for (int i = 0; i < knStepMemory_Get(from)->jointCount; ++i) {
		knJointMemory item = in[i];
		item.joint = migrateJoint(in[i].joint, fromModel, toModel);
		if (item.joint < 0) {
			continue;
		}
		int k = count++;
		for (; k > 0 && item.joint < out[k - 1].joint; --k) {
			out[k] = out[k - 1];
		}
		out[k] = item;
	}
	return count;
}

bool knStepMemory_Migrate(knState* to, const knModel* toModel, const knState* from, const knModel* fromModel,
						  const knAllocator* allocator) {
	knStepMemory old = *knStepMemory_Get(from);
	if (!knStepMemory_Resize(to, toModel, old.dt, old.contactCount, old.jointCount, 0, allocator)) {
		return false;
	}
	// from here on it only shrinks; contacts first, as the joints' place follows from their number
	int contactCount = migrateContacts(knStepMemory_Contacts(to), from, fromModel, toModel);
	knStepMemory_Resize(to, toModel, old.dt, contactCount, old.jointCount, 0, allocator);
	int jointCount = migrateJoints(knStepMemory_Joints(to), from, fromModel, toModel);
	return knStepMemory_Resize(to, toModel, old.dt, contactCount, jointCount, 0, allocator);
}
