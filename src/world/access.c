// Reading a world between steps. Ids become dense indices here; a stale id is the caller's bug.
//
// Attached joints have ids of their own range, so that they can be told from authored ones whatever the
// topology does: index1 = ATTACHED_ID + slot + 1, generation = the slot's.

#include "world/world_internal.h"

#define ATTACHED_ID UINT32_C(0x40000000)

// --- ids -------------------------------------------------------------------------------------------------

int knWorld_BodyIndex(const knWorld* world, knBodyId body) {
	return knModel_BodyIndex(world->model, body);
}

int knWorld_ShapeIndex(const knWorld* world, knShapeId shape) {
	return knModel_ShapeIndex(world->model, shape);
}

int knWorld_JointIndex(const knWorld* world, knJointId joint) {
	const knModel* model = world->model;
	if (joint.index1 <= ATTACHED_ID) {
		return knModel_JointIndex(model, joint);
	}
	for (int i = 0; i < world->aliases.count; ++i) {
		if (KN_ID_EQUALS(world->aliases.items[i].attached, joint)) {
			return knModel_JointIndex(model, world->aliases.items[i].authored);
		}
	}
	uint32_t slot = joint.index1 - ATTACHED_ID - 1;
	if (slot >= (uint32_t)model->jointCapacity) {
		return -1;
	}
	const knJointState* state = &world->state.joint[model->jointCount + (int)slot];
	return state->inUse && state->generation == joint.generation ? model->jointCount + (int)slot : -1;
}

knJointId knWorld_JointIdAt(const knWorld* world, int index) {
	if (index < world->model->jointCount) {
		return knModel_JointId(world->model, index);
	}
	knJointId id = { ATTACHED_ID + (uint32_t)(index - world->model->jointCount) + 1,
					 world->state.joint[index].generation };
	return id;
}

bool knWorld_HasBody(const knWorld* world, knBodyId body) {
	return knWorld_BodyIndex(world, body) >= 0;
}

bool knWorld_HasJoint(const knWorld* world, knJointId joint) {
	return knWorld_JointIndex(world, joint) >= 0;
}

// --- the world -------------------------------------------------------------------------------------------

double knWorld_Time(const knWorld* world) {
	return world->state.header->time;
}

uint64_t knWorld_StepCount(const knWorld* world) {
	return world->state.header->step;
}

const knModel* knWorld_Model(const knWorld* world) {
	return world->model;
}

const char* knWorld_StepperName(const knWorld* world) {
	return world->ops->name;
}

const knSettings* knWorld_Settings(const knWorld* world) {
	return &world->settings;
}

knVec3 knWorld_Gravity(const knWorld* world) {
	return world->state.header->gravity;
}

void knWorld_SyncPoses(knWorld* world) {
	if (world->ops->sync != NULL) {
		world->ops->sync(world->model, &world->state);
	}
}

knFrame knWorld_Pose(const knWorld* world, int body) {
	knFrame pose;
	knTwist velocity;
	bool own =
		world->ops->motion != NULL && world->ops->motion(world->model, &world->state, body, &pose, &velocity);
	return own ? pose : world->state.pose[body];
}

knTwist knWorld_Velocity(const knWorld* world, int body) {
	knFrame pose;
	knTwist velocity;
	bool own =
		world->ops->motion != NULL && world->ops->motion(world->model, &world->state, body, &pose, &velocity);
	return own ? velocity : world->state.velocity[body];
}

// --- bodies ----------------------------------------------------------------------------------------------

knFrame knWorld_BodyFrame(const knWorld* world, knBodyId body) {
	int b = knWorld_BodyIndex(world, body);
	KN_ASSERT(b >= 0);
	if (b < 0) {
		return knIdentityF();
	}
	return knMulF(knWorld_Pose(world, b), knMakeFrame(knNeg(world->model->centerLocal[b]), knIdentityQ()));
}

knVec3 knWorld_BodyCenter(const knWorld* world, knBodyId body) {
	int b = knWorld_BodyIndex(world, body);
	KN_ASSERT(b >= 0);
	return b >= 0 ? knWorld_Pose(world, b).p : knZero3();
}

static knTwist velocityOf(const knWorld* world, knBodyId body) {
	int b = knWorld_BodyIndex(world, body);
	KN_ASSERT(b >= 0);
	return b >= 0 ? knWorld_Velocity(world, b) : knZeroTwist();
}

knVec3 knWorld_BodyVelocity(const knWorld* world, knBodyId body) {
	return velocityOf(world, body).lin;
}

knVec3 knWorld_BodyAngularVelocity(const knWorld* world, knBodyId body) {
	return velocityOf(world, body).ang;
}

bool knWorld_BodyActive(const knWorld* world, knBodyId body) {
	int b = knWorld_BodyIndex(world, body);
	KN_ASSERT(b >= 0);
	if (b < 0) {
		return false;
	}
	return world->ops->active != NULL ? world->ops->active(world->model, &world->state, b)
									  : world->model->bodyKind[b] == KN_BODY_DYNAMIC;
}

knVec3 knWorld_PointVelocity(const knWorld* world, knBodyId body, knVec3 point) {
	knTwist velocity = velocityOf(world, body);
	knVec3 arm = knSub(point, knWorld_BodyCenter(world, body));
	return knAdd(velocity.lin, knCross(velocity.ang, arm));
}

// --- joints ----------------------------------------------------------------------------------------------

// NULL for a stale id.
static const knJoint* findJoint(const knWorld* world, knJointId id, int* index) {
	*index = knWorld_JointIndex(world, id);
	KN_ASSERT(*index >= 0);
	return *index >= 0 ? knState_Joint(&world->state, world->model, *index) : NULL;
}

int knWorld_JointCoordinates(const knWorld* world, knJointId id, double q[7]) {
	int index;
	const knJoint* joint = findJoint(world, id, &index);
	for (int i = 0; joint != NULL && i < joint->nq; ++i) {
		q[i] = world->state.q[joint->qOffset + i];
	}
	return joint != NULL ? joint->nq : 0;
}

int knWorld_JointVelocities(const knWorld* world, knJointId id, double v[6]) {
	int index;
	const knJoint* joint = findJoint(world, id, &index);
	for (int i = 0; joint != NULL && i < joint->nv; ++i) {
		v[i] = world->state.v[joint->vOffset + i];
	}
	return joint != NULL ? joint->nv : 0;
}

knFrame knWorld_JointFrame(const knWorld* world, knJointId id) {
	int index;
	const knJoint* joint = findJoint(world, id, &index);
	return joint != NULL
			   ? knJoint_Frame(joint, knWorld_Pose(world, joint->parent), knWorld_Pose(world, joint->child))
			   : knIdentityF();
}

knTwist knWorld_JointReaction(const knWorld* world, knJointId id) {
	int index;
	return findJoint(world, id, &index) != NULL ? world->state.joint[index].reaction : knZeroTwist();
}

bool knWorld_JointEnabled(const knWorld* world, knJointId id) {
	int index;
	return findJoint(world, id, &index) != NULL && knState_JointActive(&world->state, world->model, index);
}

void knWorld_JointBodies(const knWorld* world, knJointId joint, knBodyId* parent, knBodyId* child) {
	int index = knWorld_JointIndex(world, joint);
	*parent = *child = KN_WORLD_BODY;
	if (index >= 0) {
		const knJoint* found = knState_Joint(&world->state, world->model, index);
		*parent = knModel_BodyId(world->model, found->parent);
		*child = knModel_BodyId(world->model, found->child);
	}
}

int knWorld_AttachedSlots(const knWorld* world) {
	return world->model->jointCapacity;
}

knJointId knWorld_AttachedAt(const knWorld* world, int slot) {
	int index = world->model->jointCount + slot;
	if (slot < 0 || slot >= world->model->jointCapacity || !world->state.joint[index].inUse) {
		return (knJointId){ 0, 0 };
	}
	return knWorld_JointIdAt(world, index);
}
