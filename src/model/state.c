// The state block: layout, creation, copies, growth, coordinates, hash.
//
// Sections lie in the order of knState, each 64-byte aligned, sizes from the model's counts; then the two
// growing parts. A new block is all zero, and nothing writes between sections, so equal states are equal byte
// by byte.
#include <string.h>

#include "core/hash.h"
#include "core/tasks.h"
#include "model/block_layout.h"
#include "model/control.h"
#include "model/joint_parts.h"
#include "model/state_internal.h"

#define COPY_PIECE 4096 // bytes
#define COPY_GRAIN 16   // pieces

// --- layout ----------------------------------------------------------------------------------------------

size_t knState_LayOut(knState* state, const knModel* model, void* block, uint64_t touchCapacity,
					  uint64_t privateCapacity) {
	const uint64_t bodies = (uint64_t)model->bodyCount;
	const uint64_t joints = (uint64_t)knState_JointCount(model);
	knBlockLayout carver = { .base = block };
	state->block = block;
	state->header = knBlockLayout_Take(&carver, 1, sizeof(knStateHeader));
	state->pose = knBlockLayout_Take(&carver, bodies, sizeof(knFrame));
	state->velocity = knBlockLayout_Take(&carver, bodies, sizeof(knTwist));
	state->force = knBlockLayout_Take(&carver, bodies, sizeof(knTwist));
	state->pushed = knBlockLayout_Take(&carver, bodies, sizeof(uint8_t));
	state->pushedBodies = knBlockLayout_Take(&carver, bodies, sizeof(int32_t));
	state->shapeEnabled = knBlockLayout_Take(&carver, (uint64_t)model->shapeCount, sizeof(uint8_t));
	state->joint = knBlockLayout_Take(&carver, joints, sizeof(knJointState));
	state->attached = knBlockLayout_Take(&carver, (uint64_t)model->jointCapacity, sizeof(knJoint));
	state->q = knBlockLayout_Take(&carver, (uint64_t)model->qCount, sizeof(double));
	state->v = knBlockLayout_Take(&carver, (uint64_t)model->vCount, sizeof(double));
	const uint64_t actuators = (uint64_t)model->control.actuatorCount;
	state->control = knBlockLayout_Take(&carver, actuators, sizeof(double));
	state->activation = knBlockLayout_Take(&carver, actuators, sizeof(double));
	state->drive = knBlockLayout_Take(&carver, (uint64_t)model->control.driveCapacity, sizeof(knAxisDrive));
	state->touching = knBlockLayout_Take(&carver, touchCapacity, sizeof(knFramePair));
	state->stepperPart = knBlockLayout_Take(&carver, privateCapacity, 1);
	return carver.overflow ? 0 : carver.offset;
}

uint64_t knState_StepperHash(const char* stepper) {
	return knHash_Bytes(KN_HASH_SEED, stepper, strlen(stepper));
}

// An all-zero block with sizes in its header.
static bool allocateBlock(knState* state, const knModel* model, uint64_t touchCapacity,
						  uint64_t privateCapacity, const knAllocator* allocator) {
	memset(state, 0, sizeof(*state));
	knState sized;
	size_t size = knState_LayOut(&sized, model, NULL, touchCapacity, privateCapacity);
	void* block = size > 0 ? knAllocZero(allocator, size) : NULL;
	if (block == NULL) {
		return false;
	}
	knState_LayOut(state, model, block, touchCapacity, privateCapacity);
	state->header->size = size;
	state->header->touchCapacity = touchCapacity;
	state->header->privateCapacity = privateCapacity;
	return true;
}

// --- create ----------------------------------------------------------------------------------------------

static void initialJoint(knState* state, const knModel* model, int index) {
	const knJoint* joint = &model->joints[index];
	knJointState* part = &state->joint[index];
	part->enabled = model->jointEnabled[index];
	for (int k = 0; k < joint->nv; ++k) {
		part->motorMode[k] = joint->axis[k].motorMode;
		part->motorTarget[k] = joint->axis[k].motorTarget;
		part->motorMaxForce[k] = joint->axis[k].motorMaxForce;
	}
	knState_InitialCoordinates(state, model, index);
}

bool knState_CreateSized(knState* state, const knModel* model, uint64_t stepper, uint64_t touchCapacity,
						 uint64_t privateCapacity, const knAllocator* allocator) {
	if (!allocateBlock(state, model, touchCapacity, privateCapacity, allocator)) {
		return false;
	}
	state->header->magic = KN_STATE_MAGIC;
	state->header->fingerprint = model->fingerprint;
	state->header->stepper = stepper;
	state->header->gravity = model->gravity;
	for (int i = 0; i < model->bodyCount; ++i) {
		state->pose[i] = model->initialPose[i];
		state->velocity[i] = model->initialVelocity[i];
	}
	for (int i = 0; i < model->shapeCount; ++i) {
		state->shapeEnabled[i] = !model->shapes[i].looks;
	}
	for (int i = 0; i < model->jointCount; ++i) {
		initialJoint(state, model, i);
	}
	for (int i = 0; i < model->control.actuatorCount; ++i) {
		state->control[i] = model->control.actuators[i].control;
		state->activation[i] = model->control.actuators[i].start;
	}
	return true;
}

bool knState_Create(knState* state, const knModel* model, const char* stepper, size_t privateCapacity,
					const knAllocator* allocator) {
	return knState_CreateSized(state, model, knState_StepperHash(stepper), 0, privateCapacity, allocator);
}

void knState_Destroy(knState* state, const knAllocator* allocator) {
	if (state->block != NULL) {
		knFree(allocator, state->block, (size_t)state->header->size);
	}
	memset(state, 0, sizeof(*state));
}

// --- copy and grow ---------------------------------------------------------------------------------------

bool knState_Copy(knState* to, const knState* from, const knModel* model, const knAllocator* allocator) {
	memset(to, 0, sizeof(*to));
	return knState_Assign(to, from, model, NULL, allocator);
}

typedef struct CopyTask {
	char* to;
	const char* from;
	size_t size;
} CopyTask;

static void copyRange(int begin, int end, int worker, void* argument) {
	(void)worker;
	const CopyTask* task = argument;
	size_t first = (size_t)begin * COPY_PIECE, last = (size_t)end * COPY_PIECE;
	last = last < task->size ? last : task->size;
	memcpy(task->to + first, task->from + first, last - first);
}

bool knState_Assign(knState* to, const knState* from, const knModel* model, const knTasks* tasks,
					const knAllocator* allocator) {
	const knStateHeader* header = from->header;
	void* block = to->block;
	if (block == NULL || to->header->size != header->size) {
		block = knAlloc(allocator, (size_t)header->size);
		if (block == NULL) {
			return false;
		}
		knState_Destroy(to, allocator);
	}
	CopyTask task = { block, from->block, (size_t)header->size };
	knTasks_For(tasks, (int)((task.size + COPY_PIECE - 1) / COPY_PIECE), COPY_GRAIN, copyRange, &task);
	knState_LayOut(to, model, block, header->touchCapacity, header->privateCapacity);
	return true;
}

static uint64_t grownCapacity(uint64_t present, uint64_t need) {
	return need <= present ? present : (need < 2 * present ? 2 * present : need);
}

bool knState_Grow(knState* state, const knModel* model, size_t touchCapacity, size_t privateCapacity,
				  const knAllocator* allocator) {
	const knStateHeader* header = state->header;
	uint64_t touch = grownCapacity(header->touchCapacity, touchCapacity);
	uint64_t part = grownCapacity(header->privateCapacity, privateCapacity);
	if (touch == header->touchCapacity && part == header->privateCapacity) {
		return true;
	}
	knState grown;
	if (!allocateBlock(&grown, model, touch, part, allocator)) {
		return false;
	}
	// the fixed sections keep their offsets, header included
	uint64_t size = grown.header->size;
	memcpy(grown.block, state->block, (size_t)((char*)state->touching - (char*)state->block));
	grown.header->size = size;
	grown.header->touchCapacity = touch;
	grown.header->privateCapacity = part;
	memcpy(grown.touching, state->touching, (size_t)header->touchCapacity * sizeof(knFramePair));
	memcpy(grown.stepperPart, state->stepperPart, (size_t)header->privateCapacity);
	knState_Destroy(state, allocator);
	*state = grown;
	return true;
}

// --- forces ----------------------------------------------------------------------------------------------

void knState_AddForce(knState* state, int body, knTwist wrench) {
	state->force[body] = knAddT(state->force[body], wrench);
	if (!state->pushed[body]) {
		state->pushed[body] = 1;
		state->pushedBodies[state->header->pushedCount++] = body;
	}
}

void knState_ClearForces(knState* state) {
	for (int k = 0; k < state->header->pushedCount; ++k) {
		int body = state->pushedBodies[k];
		state->force[body] = knZeroTwist();
		state->pushed[body] = 0;
		state->pushedBodies[k] = 0;
	}
	state->header->pushedCount = 0;
}

// --- joints ----------------------------------------------------------------------------------------------

int knState_JointCount(const knModel* model) {
	return model->jointCount + model->jointCapacity;
}

const knJoint* knState_Joint(const knState* state, const knModel* model, int index) {
	KN_ASSERT(index >= 0 && index < knState_JointCount(model));
	if (index < model->jointCount) {
		return &model->joints[index];
	}
	return state->joint[index].inUse ? &state->attached[index - model->jointCount] : NULL;
}

bool knState_JointActive(const knState* state, const knModel* model, int index) {
	return knState_Joint(state, model, index) != NULL && state->joint[index].enabled;
}

static void updateVelocities(knState* state, const knJoint* joint, knFrame J) {
	knTwist V = knJoint_RelativeTwist(joint, state->pose[joint->parent], state->velocity[joint->parent],
									  state->pose[joint->child], state->velocity[joint->child]);
	knJoint_Velocities(joint, J, state->q + joint->qOffset, V, state->v + joint->vOffset);
}

void knState_UpdateCoordinates(knState* state, const knModel* model) {
	for (int i = 0; i < knState_JointCount(model); ++i) {
		const knJoint* joint = knState_Joint(state, model, i);
		if (joint != NULL) {
			knFrame J = knJoint_Frame(joint, state->pose[joint->parent], state->pose[joint->child]);
			double* q = state->q + joint->qOffset;
			knJointOps_Get(joint->kind)->coordinates(joint, J, q, q);
			updateVelocities(state, joint, J);
		}
	}
}

void knState_InitialCoordinates(knState* state, const knModel* model, int index) {
	const knJoint* joint = knState_Joint(state, model, index);
	KN_ASSERT(joint != NULL);
	knFrame J = knJoint_Frame(joint, state->pose[joint->parent], state->pose[joint->child]);
	knJoint_InitialCoordinates(joint, J, state->q + joint->qOffset);
	updateVelocities(state, joint, J);
}

// --- hash and sanity -------------------------------------------------------------------------------------

static uint64_t hashVec(uint64_t h, knVec3 v) {
	h = knHash_Double(h, v.x);
	h = knHash_Double(h, v.y);
	return knHash_Double(h, v.z);
}

uint64_t knState_Hash(const knState* state, const knModel* model) {
	uint64_t h = knHash_Double(KN_HASH_SEED, state->header->time);
	h = knHash_Bytes(h, &state->header->step, sizeof(state->header->step));
	for (int i = 0; i < model->bodyCount; ++i) {
		h = hashVec(h, state->pose[i].p);
		h = knHash_Double(h, state->pose[i].q.w);
		h = hashVec(h, knVecPart(state->pose[i].q));
		h = hashVec(h, state->velocity[i].ang);
		h = hashVec(h, state->velocity[i].lin);
	}
	for (int i = 0; i < knState_JointCount(model); ++i) {
		if (knState_JointActive(state, model, i)) {
			const knJoint* joint = knState_Joint(state, model, i);
			for (int k = 0; k < joint->nq; ++k) {
				h = knHash_Double(h, state->q[joint->qOffset + k]);
			}
		}
	}
	return h;
}

bool knState_IsFinite(const knState* state, const knModel* model) {
	for (int i = 0; i < model->bodyCount; ++i) {
		if (!knIsFiniteF(state->pose[i]) || !knIsFinite3(state->velocity[i].ang) ||
			!knIsFinite3(state->velocity[i].lin)) {
			return false;
		}
	}
	for (int i = 0; i < knState_JointCount(model); ++i) {
		const knJoint* joint = knState_Joint(state, model, i);
		for (int k = 0; joint != NULL && k < joint->nq; ++k) {
			if (!knIsFinite(state->q[joint->qOffset + k])) {
				return false;
			}
		}
	}
	return true;
}
