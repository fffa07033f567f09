// Blocks from outside, and states carried over to an edited model.
//
// A saved block may come from a file: nothing in it is believed. It is copied to aligned memory of our own,
// its sizes are found anew from the model and compared, every index, count, flag, enum and quaternion is
// checked, and only then does it replace the present block. The one thing that cannot be checked by value are
// the functions of a custom joint made at run time: they must equal those of a joint that the model or the
// present state already holds.
#include <string.h>

#include "model/joint_reach.h"
#include "model/state_internal.h"

#define SEEN 2 // of a flag: found in a list

// --- checking a block ------------------------------------------------------------------------------------

static knStatus refuse(knError* error, const char* reason) {
	return knError_Set(error, KN_BAD_DATA, "state block", "%s", reason);
}

static knStatus checkHeader(const knStateHeader* header, const knState* present, const knModel* model,
							size_t size, knError* error) {
	if (header->magic != KN_STATE_MAGIC) {
		return refuse(error, "it is not a state block");
	}
	if (header->size != size) {
		return refuse(error, "its size is not what it says: it was cut off or damaged");
	}
	if (header->fingerprint != model->fingerprint) {
		return refuse(error, "it belongs to another model");
	}
	if (header->stepper != present->header->stepper) {
		return refuse(error, "it belongs to another stepper");
	}
	knState view;
	if (knState_LayOut(&view, model, NULL, header->touchCapacity, header->privateCapacity) != size) {
		return refuse(error, "its parts do not add up to its size");
	}
	if (header->touchCount > header->touchCapacity || header->privateSize > header->privateCapacity ||
		header->attachedCount < 0 || header->attachedCount > model->jointCapacity) {
		return refuse(error, "a count exceeds its capacity");
	}
	if (!knIsFinite(header->time) || !knIsFinite3(header->gravity)) {
		return refuse(error, "its time or gravity is not finite");
	}
	return KN_OK;
}

static bool isUnitFrame(knFrame f) {
	return knIsFiniteF(f) && knAbs(knDotQ(f.q, f.q) - 1.0) < 1e-3;
}

static bool isFiniteTwist(knTwist t) {
	return knIsFinite3(t.ang) && knIsFinite3(t.lin);
}

// Flags are read as bytes: a bool with any other value must not be read as a bool.
static bool isFlag(const void* byte) {
	return *(const uint8_t*)byte <= 1;
}

// Each body with a force once in the list.
static bool pushedIsSound(const knState* s, const knModel* model) {
	int listed = 0;
	for (int i = 0; i < model->bodyCount; ++i) {
		bool none = knLengthSquared(s->force[i].ang) == 0.0 && knLengthSquared(s->force[i].lin) == 0.0;
		listed += s->pushed[i];
		if (!s->pushed[i] && !none) {
			return false;
		}
	}
	bool sound = listed == s->header->pushedCount;
	// each is marked once
	for (int k = 0; sound && k < listed; ++k) {
		int32_t body = s->pushedBodies[k];
		sound = body >= 0 && body < model->bodyCount && s->pushed[body] == 1;
		if (sound) {
			s->pushed[body] = SEEN;
		}
	}
	for (int i = 0; i < model->bodyCount; ++i) {
		s->pushed[i] = s->pushed[i] != 0;
	}
	return sound;
}

static bool bodiesAreSound(const knState* s, const knModel* model) {
	for (int i = 0; i < model->bodyCount; ++i) {
		if (!isUnitFrame(s->pose[i]) || !isFiniteTwist(s->velocity[i]) || !isFiniteTwist(s->force[i]) ||
			!isFlag(&s->pushed[i])) {
			return false;
		}
	}
	if (!pushedIsSound(s, model)) {
		return false;
	}
	for (int i = 0; i < model->shapeCount; ++i) {
		if (!isFlag(&s->shapeEnabled[i])) {
			return false;
		}
	}
	return true;
}

static bool axisIsSound(const knJointAxis* axis) {
	return isFlag(&axis->limited) && knIsFinite(axis->lower) && knIsFinite(axis->upper) &&
		   axis->lower <= axis->upper && knIsFinite(axis->friction) && knIsFinite(axis->bearing) &&
		   knIsFinite(axis->damping) && (unsigned)axis->motorMode <= KN_MOTOR_FORCE &&
		   knIsFinite(axis->motorTarget) && knIsFinite(axis->motorMaxForce) && knIsFinite(axis->stiffness) &&
		   knIsFinite(axis->rest) && axis->armature >= 0.0 && knIsFinite(axis->armature) &&
		   isFlag(&axis->driveLimited) && knIsFinite(axis->driveLower) && knIsFinite(axis->driveUpper);
}

static bool sameFunctions(const knJoint* a, const knJoint* b) {
	return a->kind == KN_JOINT_CUSTOM && b->kind == KN_JOINT_CUSTOM &&
		   a->custom.projectState == b->custom.projectState &&
		   a->custom.projectVelocity == b->custom.projectVelocity && a->custom.context == b->custom.context;
}

// Slots that were released keep their joint, so that a block saved before the release still fits.
static bool functionsAreKnown(const knJoint* joint, const knState* present, const knModel* model) {
	bool known = joint->kind != KN_JOINT_CUSTOM;
	for (int i = 0; i < model->jointCount && !known; ++i) {
		known = sameFunctions(joint, &model->joints[i]);
	}
	for (int i = 0; i < model->jointCapacity && !known; ++i) {
		known = sameFunctions(joint, &present->attached[i]);
	}
	return known;
}

static bool reachIsSound(const knJoint* joint) {
	bool sound = isFlag(&joint->reachTwisted) &&
				 (joint->reachCount == 0 || knReachCone_IsSound(joint->reach, joint->reachCount));
	for (int i = 0; sound && joint->reachTwisted && i < joint->reachCount; ++i) {
		sound = knIsFinite(joint->reachLower[i]) && knIsFinite(joint->reachUpper[i]) &&
				joint->reachLower[i] <= joint->reachUpper[i];
	}
	return sound;
}

static bool attachedIsSound(const knJoint* joint, const knModel* model, int slot) {
	const int firstQ = model->qCount - KN_JOINT_MAX_Q * model->jointCapacity;
	const int firstV = model->vCount - KN_JOINT_MAX_V * model->jointCapacity;
	if ((unsigned)joint->kind >= KN_JOINT_KIND_COUNT || joint->parent < 0 || joint->child < 0 ||
		joint->parent >= model->bodyCount || joint->child >= model->bodyCount ||
		joint->parent == joint->child) {
		return false;
	}
	const knJointOps* ops = knJointOps_Get(joint->kind);
	bool sound =
		joint->nq == ops->nq && joint->nv == ops->nv && joint->qOffset == firstQ + KN_JOINT_MAX_Q * slot &&
		joint->vOffset == firstV + KN_JOINT_MAX_V * slot && isUnitFrame(joint->frameParent) &&
		isUnitFrame(joint->frameChild) && isFlag(&joint->coneLimited) && isFlag(&joint->twistLimited) &&
		isFlag(&joint->collide) && isFlag(&joint->loop) && knIsFinite(joint->maxForce) &&
		knIsFinite(joint->twistLower) && knIsFinite(joint->twistUpper);
	if (sound && joint->coneLimited) {
		sound = joint->coneY > 0.0 && joint->coneY <= KN_PI && joint->coneZ > 0.0 && joint->coneZ <= KN_PI;
	}
	sound = sound && reachIsSound(joint);
	for (int i = 0; i < 6; ++i) {
		sound = sound && axisIsSound(&joint->axis[i]);
	}
	return sound;
}

static bool jointsAreSound(const knState* s, const knState* present, const knModel* model) {
	int inUse = 0;
	for (int i = 0; i < knState_JointCount(model); ++i) {
		const knJointState* part = &s->joint[i];
		bool sound = isFlag(&part->enabled) && isFlag(&part->inUse) && isFiniteTwist(part->reaction);
		for (int k = 0; k < 6; ++k) {
			sound = sound && (unsigned)part->motorMode[k] <= KN_MOTOR_FORCE &&
					knIsFinite(part->motorTarget[k]) && knIsFinite(part->motorMaxForce[k]);
		}
		int slot = i - model->jointCount;
		if (sound && slot >= 0 && part->inUse) {
			inUse += 1;
			sound = attachedIsSound(&s->attached[slot], model, slot) &&
					functionsAreKnown(&s->attached[slot], present, model);
		}
		if (!sound) {
			return false;
		}
	}
	for (int i = 0; i < model->qCount; ++i) {
		if (!knIsFinite(s->q[i])) {
			return false;
		}
	}
	for (int i = 0; i < model->vCount; ++i) {
		if (!knIsFinite(s->v[i])) {
			return false;
		}
	}
	for (int i = 0; i < model->control.actuatorCount; ++i) {
		if (!knIsFinite(s->control[i]) || !knIsFinite(s->activation[i])) {
			return false;
		}
	}
	return inUse <= s->header->attachedCount;
}

static bool touchingIsSound(const knState* s, const knModel* model) {
	for (uint64_t i = 0; i < s->header->touchCount; ++i) {
		knFramePair pair = s->touching[i];
		bool ordered = i == 0 || s->touching[i - 1].a < pair.a ||
					   (s->touching[i - 1].a == pair.a && s->touching[i - 1].b < pair.b);
		if (pair.a < 0 || pair.a >= pair.b || pair.b >= model->shapeCount || !ordered) {
			return false;
		}
	}
	return true;
}

knStatus knState_Restore(knState* state, const knModel* model, const void* block, size_t size,
						 const knAllocator* allocator, knError* error) {
	knStateHeader header;
	if (block == NULL || size < sizeof(header)) {
		return refuse(error, "it is too short to be a state block");
	}
	memcpy(&header, block, sizeof(header));
	knStatus status = checkHeader(&header, state, model, size, error);
	if (status != KN_OK) {
		return status;
	}
	void* copy = knAlloc(allocator, size);
	if (copy == NULL) {
		return knError_Set(error, KN_NO_MEMORY, "state block", "out of memory");
	}
	memcpy(copy, block, size);
	knState view;
	knState_LayOut(&view, model, copy, header.touchCapacity, header.privateCapacity);
	if (!bodiesAreSound(&view, model) || !jointsAreSound(&view, state, model) ||
		!touchingIsSound(&view, model)) {
		knFree(allocator, copy, size);
		return refuse(error, "it holds values that no world writes: it is damaged");
	}
	knState_Destroy(state, allocator);
	*state = view;
	return KN_OK;
}

// --- migrating -------------------------------------------------------------------------------------------

// Index in `to` of what is `index` in `from`, -1 if it is gone; a reused slot holds something else.
static int mapBody(const knModel* to, const knModel* from, int index) {
	return index == 0 ? 0 : knModel_BodyIndex(to, knModel_BodyId(from, index));
}

// The body frame stays where it was; the centre of mass may have moved within it.
static void migrateBody(knState* to, const knModel* toModel, int b, const knState* from,
						const knModel* fromModel, int a) {
	knFrame pose = from->pose[a];
	knTwist velocity = from->velocity[a];
	knVec3 shift = knSub(toModel->centerLocal[b], fromModel->centerLocal[a]);
	if (knLengthSquared(shift) > 0.0) {
		knVec3 arm = knRotate(pose.q, shift);
		pose.p = knAdd(pose.p, arm);
		velocity.lin = knAdd(velocity.lin, knCross(velocity.ang, arm));
	}
	to->pose[b] = pose;
	to->velocity[b] = velocity;
	if (from->pushed[a]) {
		knState_AddForce(to, b, from->force[a]);
	}
}

static void copyCoordinates(knState* to, const knJoint* b, const knState* from, const knJoint* a) {
	memcpy(to->q + b->qOffset, from->q + a->qOffset, (size_t)a->nq * sizeof(double));
	memcpy(to->v + b->vOffset, from->v + a->vOffset, (size_t)a->nv * sizeof(double));
}

static void migrateJoints(knState* to, const knModel* toModel, const knState* from,
						  const knModel* fromModel) {
	for (int b = 0; b < toModel->jointCount; ++b) {
		int a = knModel_JointIndex(fromModel, knModel_JointId(toModel, b));
		const knJoint* joint = &toModel->joints[b];
		if (a >= 0 && fromModel->joints[a].kind == joint->kind) {
			to->joint[b] = from->joint[a];
			copyCoordinates(to, joint, from, &fromModel->joints[a]);
		} else {
			knState_InitialCoordinates(to, toModel, b);
		}
	}
}

// Slot k stays slot k. A joint whose body is gone leaves its slot empty.
static void migrateAttached(knState* to, const knModel* toModel, const knState* from,
							const knModel* fromModel) {
	const int firstQ = toModel->qCount - KN_JOINT_MAX_Q * toModel->jointCapacity;
	const int firstV = toModel->vCount - KN_JOINT_MAX_V * toModel->jointCapacity;
	for (int k = 0; k < toModel->jointCapacity && k < fromModel->jointCapacity; ++k) {
		const knJoint* old = &from->attached[k];
		knJointState* part = &to->joint[toModel->jointCount + k];
		*part = from->joint[fromModel->jointCount + k];
		if (!part->inUse) {
			continue;
		}
		int parent = mapBody(toModel, fromModel, old->parent);
		int child = mapBody(toModel, fromModel, old->child);
		if (parent < 0 || child < 0) {
			uint32_t generation = part->generation;
			memset(part, 0, sizeof(*part));
			part->generation = generation;
			continue;
		}
		knJoint* joint = &to->attached[k];
		memcpy(joint, old, sizeof(*joint));
		joint->parent = parent;
		joint->child = child;
		joint->frameParent.p = knAdd(
			old->frameParent.p, knSub(fromModel->centerLocal[old->parent], toModel->centerLocal[parent]));
		joint->frameChild.p =
			knAdd(old->frameChild.p, knSub(fromModel->centerLocal[old->child], toModel->centerLocal[child]));
		joint->qOffset = firstQ + KN_JOINT_MAX_Q * k;
		joint->vOffset = firstV + KN_JOINT_MAX_V * k;
		copyCoordinates(to, joint, from, old);
		to->header->attachedCount += 1;
	}
}

// Dense order is slot order in both models, so the pairs stay sorted.
static void migrateTouching(knState* to, const knModel* toModel, const knState* from,
							const knModel* fromModel) {
	for (uint64_t i = 0; i < from->header->touchCount; ++i) {
		int a = knModel_ShapeIndex(toModel, knModel_ShapeId(fromModel, from->touching[i].a));
		int b = knModel_ShapeIndex(toModel, knModel_ShapeId(fromModel, from->touching[i].b));
		if (a >= 0 && b >= 0) {
			to->touching[to->header->touchCount++] = (knFramePair){ a, b };
		}
	}
}

// Actuators are matched by name: they have no ids.
static void migrateControl(knState* to, const knModel* toModel, const knState* from,
						   const knModel* fromModel) {
	for (int b = 0; b < toModel->control.actuatorCount; ++b) {
		const char* name = knScene_GetActuator(toModel->scene, b)->name;
		const int a = knScene_FindActuator(fromModel->scene, name);
		if (a >= 0) {
			to->control[b] = from->control[a];
			to->activation[b] = from->activation[a];
		}
	}
}

bool knState_Migrate(knState* to, const knModel* toModel, const knState* from, const knModel* fromModel,
					 const knAllocator* allocator) {
	const knStateHeader* header = from->header;
	if (!knState_CreateSized(to, toModel, header->stepper, header->touchCapacity, header->privateCapacity,
							 allocator)) {
		return false;
	}
	to->header->step = header->step;
	to->header->time = header->time;
	to->header->gravity = header->gravity;
	to->header->watch = header->watch;
	for (int a = 1; a < fromModel->bodyCount; ++a) {
		int b = mapBody(toModel, fromModel, a);
		if (b >= 0) {
			migrateBody(to, toModel, b, from, fromModel, a);
		}
	}
	for (int a = 0; a < fromModel->shapeCount; ++a) {
		int b = knModel_ShapeIndex(toModel, knModel_ShapeId(fromModel, a));
		if (b >= 0) {
			to->shapeEnabled[b] = from->shapeEnabled[a];
		}
	}
	migrateJoints(to, toModel, from, fromModel);
	migrateAttached(to, toModel, from, fromModel);
	migrateControl(to, toModel, from, fromModel);
	migrateTouching(to, toModel, from, fromModel);
	return true;
}
