// Edits of the topology: a changed copy of the scene is compiled into a new model (which shares the
// geometry), and the state is carried over by ids. The new parts are complete before the old ones go, so a
// refused edit changes nothing.

#include "world/world_internal.h"

#include <string.h>

#define JOINT_CAPACITY_STEP 8

static knStatus refuseInsideStep(const knWorld* world, knError* error) {
	return world->stepping ? knError_Set(error, KN_BAD_ARGUMENT, "world",
										 "a force function may not change the topology of its world")
						   : KN_OK;
}

// What another part said, as this call's own error.
static knStatus passOn(knError* error, const knError* reason) {
	return knError_Set(error, reason->status, reason->element, "%s", reason->message);
}

// --- the new model takes over ----------------------------------------------------------------------------

// State and collider of the new model, in place of the empty ones given.
static knStatus carryOver(knWorld* world, const knModel* model, knState* state, knCollider** collider,
						  knError* error) {
	const knAllocator* allocator = &world->allocator;
	knStatus status = world->ops->check != NULL ? world->ops->check(model, &world->settings, error) : KN_OK;
	if (status != KN_OK) {
		return status;
	}
	bool carried = knState_Migrate(state, model, &world->state, world->model, allocator);
	if (carried && world->ops->migrate != NULL) {
		carried = world->ops->migrate(state, model, &world->state, world->model, allocator);
	}
	if (!carried) {
		return knError_Set(error, KN_NO_MEMORY, "world", "there is no memory to carry the state over");
	}
	knError reason = { 0 };
	*collider = knModel_CreateCollider(model, allocator, &reason);
	return *collider != NULL ? knWorld_FirstQuery(world, model, state, *collider, error)
							 : passOn(error, &reason);
}

static knStatus adoptModel(knWorld* world, const knModel* model, knError* error) {
	knState state = { 0 };
	knCollider* collider = NULL;
	knWorld_SyncPoses(world);
	knStatus status = carryOver(world, model, &state, &collider, error);
	if (status != KN_OK) {
		knState_Destroy(&state, &world->allocator);
		knCollider_Destroy(collider);
		return status;
	}
	knState_Destroy(&world->state, &world->allocator);
	knState_Destroy(&world->backup, &world->allocator);
	knCollider_Destroy(world->collider);
	world->state = state;
	world->collider = collider;
	knModel_Retain(model);
	knModel_Release(world->model);
	world->model = model;
	knWorld_ClearReadout(world);
	return KN_OK;
}

static knStatus adoptScene(knWorld* world, const knScene* scene, knError* error) {
	knError reason = { 0 };
	knModel* model = knModel_Create(scene, &reason);
	if (model == NULL) {
		return passOn(error, &reason);
	}
	knStatus status = adoptModel(world, model, error);
	knModel_Release(model);
	return status;
}

// --- bodies ----------------------------------------------------------------------------------------------

static knBodyId addToScene(knScene* scene, const knBodyDef* def, const knPart* parts, int partCount,
						   knError* error) {
	const knBodyId none = { 0 };
	knBodyId body = knScene_AddBody(scene, def, error);
	for (int i = 0; i < partCount && !KN_ID_IS_NULL(body); ++i) {
		knShapeId shape = knScene_AddShape(scene, body, parts[i].geom, &parts[i].def, error);
		body = KN_ID_IS_NULL(shape) ? none : body;
	}
	return body;
}

knBodyId knWorld_AddBody(knWorld* world, const knBodyDef* def, const knPart* parts, int partCount,
						 knError* error) {
	const knBodyId none = { 0 };
	if (refuseInsideStep(world, error) != KN_OK) {
		return none;
	}
	knScene* scene = knScene_Clone(knModel_Scene(world->model), error);
	if (scene == NULL) {
		return none;
	}
	knBodyId body = addToScene(scene, def, parts, partCount, error);
	if (!KN_ID_IS_NULL(body) && adoptScene(world, scene, error) != KN_OK) {
		body = none;
	}
	knScene_Destroy(scene);
	return body;
}

knStatus knWorld_RemoveBody(knWorld* world, knBodyId body, knError* error) {
	knStatus status = refuseInsideStep(world, error);
	if (status != KN_OK) {
		return status;
	}
	bool present = knWorld_BodyIndex(world, body) > 0;
	KN_ASSERT(present);
	if (!present) {
		return knError_Set(error, KN_BAD_ARGUMENT, "body", "there is no such body in this world");
	}
	knError reason = { 0 };
	knScene* scene = knScene_Clone(knModel_Scene(world->model), &reason);
	if (scene == NULL) {
		return passOn(error, &reason);
	}
	status = knScene_RemoveBody(scene, body, error);
	if (status == KN_OK) {
		status = adoptScene(world, scene, error);
	}
	knScene_Destroy(scene);
	return status;
}

// --- joints ----------------------------------------------------------------------------------------------

knStatus knWorld_GrowJoints(knWorld* world, knError* error) {
	knStatus status = refuseInsideStep(world, error);
	if (status != KN_OK) {
		return status;
	}
	knError reason = { 0 };
	knScene* scene = knScene_Clone(knModel_Scene(world->model), &reason);
	if (scene == NULL) {
		return passOn(error, &reason);
	}
	knScene_Def(scene)->jointCapacity = 2 * world->model->jointCapacity + JOINT_CAPACITY_STEP;
	status = adoptScene(world, scene, error);
	knScene_Destroy(scene);
	return status;
}

static knFrame fromBodyFrame(const knModel* model, int body, knFrame frame) {
	frame.p = knAdd(frame.p, model->centerLocal[body]);
	return frame;
}

// The def that would compile to this attached joint, motors as they are now.
static knJointDef decompile(const knWorld* world, int index) {
	const knModel* model = world->model;
	const knJoint* joint = knState_Joint(&world->state, model, index);
	const knJointState* state = &world->state.joint[index];
	knJointDef def = knJointDef_Default(joint->kind);
	def.parent = knModel_BodyId(model, joint->parent);
	def.child = knModel_BodyId(model, joint->child);
	def.frameParent = fromBodyFrame(model, joint->parent, joint->frameParent);
	def.frameChild = fromBodyFrame(model, joint->child, joint->frameChild);
	memcpy(def.axis, joint->axis, sizeof(def.axis));
	for (int i = 0; i < joint->nv; ++i) {
		def.axis[i].motorMode = state->motorMode[i];
		def.axis[i].motorTarget = state->motorTarget[i];
		def.axis[i].motorMaxForce = state->motorMaxForce[i];
	}
	def.coneLimited = joint->coneLimited;
	def.coneY = joint->coneY;
	def.coneZ = joint->coneZ;
	def.reachCount = joint->reachCount;
	memcpy(def.reach, joint->reach, sizeof(def.reach));
	def.twistLimited = joint->twistLimited;
	def.twistLower = joint->twistLower;
	def.twistUpper = joint->twistUpper;
	for (int i = 0; joint->reachTwisted && i < joint->reachCount; ++i) {
		def.reachTwist[i] = (knReachTwist){ true, joint->reachLower[i], joint->reachUpper[i] };
	}
	def.collide = joint->collide;
	def.enabled = state->enabled;
	def.maxForce = joint->maxForce;
	def.custom = joint->custom;
	return def;
}

// Adds every attached joint to the scene; their new names for old ids go to `aliases`, which has room.
static knStatus authorAttached(const knWorld* world, knScene* scene, knJointAlias* aliases, knError* error) {
	int count = 0;
	for (int k = 0; k < world->model->jointCapacity; ++k) {
		int index = world->model->jointCount + k;
		if (!world->state.joint[index].inUse) {
			continue;
		}
		knError reason = { 0 };
		knJointDef def = decompile(world, index);
		knJointId id = knScene_AddJoint(scene, &def, &reason);
		if (KN_ID_IS_NULL(id)) {
			return passOn(error, &reason);
		}
		aliases[count++] = (knJointAlias){ knWorld_JointIdAt(world, index), id };
	}
	return KN_OK;
}

// The authored twin goes on where the attached joint was (turns, last reaction); the slot becomes free.
static void moveToTwin(knWorld* world, const knJointAlias* alias) {
	knState* state = &world->state;
	int slot = knWorld_JointIndex(world, alias->attached);
	int twin = knModel_JointIndex(world->model, alias->authored);
	const knJoint* from = knState_Joint(state, world->model, slot);
	const knJoint* to = knState_Joint(state, world->model, twin);
	memcpy(&state->q[to->qOffset], &state->q[from->qOffset], sizeof(double) * (size_t)to->nq);
	memcpy(&state->v[to->vOffset], &state->v[from->vOffset], sizeof(double) * (size_t)to->nv);
	state->joint[twin].reaction = state->joint[slot].reaction;
	knWorld_FreeJointSlot(world, slot);
}

knStatus knWorld_Rebuild(knWorld* world, knError* error) {
	knStatus status = refuseInsideStep(world, error);
	int attached = world->state.header->attachedCount;
	if (status != KN_OK || attached == 0) {
		return status;
	}
	int known = world->aliases.count;
	if (!KN_ARRAY_RESERVE(&world->allocator, &world->aliases, known + attached)) {
		return knError_Set(error, KN_NO_MEMORY, "world", "there is no memory to rebuild the joints");
	}
	knError reason = { 0 };
	knScene* scene = knScene_Clone(knModel_Scene(world->model), &reason);
	if (scene == NULL) {
		return passOn(error, &reason);
	}
	status = authorAttached(world, scene, &world->aliases.items[known], error);
	if (status == KN_OK) {
		status = adoptScene(world, scene, error);
	}
	knScene_Destroy(scene);
	for (int i = 0; status == KN_OK && i < attached; ++i) {
		moveToTwin(world, &world->aliases.items[known + i]);
	}
	world->aliases.count += status == KN_OK ? attached : 0;
	return status;
}
