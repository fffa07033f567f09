// Pushing and driving a world between steps (and from the force function at the start of one): forces,
// impulses, poses, gravity, motors, joints made and released. Nothing here allocates, except attaching a
// joint beyond the scene's capacity. Values that are not finite are refused, a stale id is the caller's bug.
//
// A joint keeps its two bodies from touching (unless it says `collide`) as long as it exists: disabling one
// does not bring its bodies' contacts back, releasing an attached one does.

#include "world/world_internal.h"

#include <string.h>

// The dense index of a body, or -1: the caller's bug.
static int findBody(const knWorld* world, knBodyId body) {
	int b = knWorld_BodyIndex(world, body);
	KN_ASSERT(b >= 0);
	return b;
}

static int findJoint(const knWorld* world, knJointId joint) {
	int j = knWorld_JointIndex(world, joint);
	KN_ASSERT(j >= 0);
	return j;
}

// --- forces ----------------------------------------------------------------------------------------------

static knStatus addWrench(knWorld* world, knBodyId body, knVec3 torque, knVec3 force) {
	int b = findBody(world, body);
	if (b < 0) {
		return KN_BAD_ARGUMENT;
	}
	if (!knIsFinite3(torque) || !knIsFinite3(force)) {
		return KN_BAD_DATA;
	}
	knState* state = &world->state;
	knJournal* journal = world->stepping ? &world->journal : NULL;
	knJournal_Keep(journal, state, &state->force[b], sizeof(knTwist));
	knJournal_Keep(journal, state, &state->pushed[b], sizeof(uint8_t));
	if (!state->pushed[b]) {
		knJournal_Keep(journal, state, &state->pushedBodies[state->header->pushedCount], sizeof(int32_t));
	}
	knState_AddForce(state, b, knMakeTwist(torque, force));
	return KN_OK;
}

knStatus knWorld_AddForce(knWorld* world, knBodyId body, knVec3 force) {
	return addWrench(world, body, knZero3(), force);
}

knStatus knWorld_AddForceAt(knWorld* world, knBodyId body, knVec3 force, knVec3 point) {
	int b = findBody(world, body);
	if (b < 0) {
		return KN_BAD_ARGUMENT;
	}
	return addWrench(world, body, knCross(knSub(point, knWorld_Pose(world, b).p), force), force);
}

knStatus knWorld_AddTorque(knWorld* world, knBodyId body, knVec3 torque) {
	return addWrench(world, body, torque, knZero3());
}

// --- poses, velocities and impulses ----------------------------------------------------------------------

// Brings a joint's coordinates in line with the poses, counting turns from the present ones.
static void updateJoint(knWorld* world, int index) {
	knState* state = &world->state;
	const knJoint* joint = knState_Joint(state, world->model, index);
	knFrame poseP = state->pose[joint->parent], poseC = state->pose[joint->child];
	knFrame J = knJoint_Frame(joint, poseP, poseC);
	double previous[KN_JOINT_MAX_Q] = { 0 };
	double* q = &state->q[joint->qOffset];
	memcpy(previous, q, sizeof(double) * (size_t)joint->nq);
	knJointOps_Get(joint->kind)->coordinates(joint, J, previous, q);
	knTwist V = knJoint_RelativeTwist(joint, poseP, state->velocity[joint->parent], poseC,
									  state->velocity[joint->child]);
	knJoint_Velocities(joint, J, q, V, &state->v[joint->vOffset]);
}

// After a body was moved by hand, the coordinates and velocities of its joints are read anew.
static void updateJointsOf(knWorld* world, int body) {
	for (int j = 0; j < knState_JointCount(world->model); ++j) {
		const knJoint* joint = knState_Joint(&world->state, world->model, j);
		if (joint != NULL && (joint->parent == body || joint->child == body)) {
			updateJoint(world, j);
		}
	}
}

// Before a body or joint is changed: all that a step has not brought up to date, and from inside a step what it was.
static bool beginEdit(knWorld* world) {
	bool kept = knWorld_TakeCopy(world);
	if (kept) {
		knWorld_SyncPoses(world);
	}
	return kept;
}

// Steppers that do not look at every body are told that some have changed.
static void noteEdit(knWorld* world, int b) {
	world->state.header->edits += world->model->bodyKind[b] == KN_BODY_DYNAMIC;
}

// A fixed body stays where the model put it: the collider sorts it with what never moves.
knStatus knWorld_SetBodyFrame(knWorld* world, knBodyId body, knFrame frame) {
	int b = findBody(world, body);
	if (b < 0) {
		return KN_BAD_ARGUMENT;
	}
	double norm = knDotQ(frame.q, frame.q);
	if (!knIsFiniteF(frame) || !(norm > 0.0) || !knIsFinite(norm)) {
		return KN_BAD_DATA;
	}
	if (world->model->bodyKind[b] == KN_BODY_FIXED) {
		return KN_UNSUPPORTED;
	}
	if (!beginEdit(world)) {
		return KN_NO_MEMORY;
	}
	frame.q = knNormalizeQ(frame.q);
	world->state.pose[b] = knMulF(frame, knMakeFrame(world->model->centerLocal[b], knIdentityQ()));
	world->queries.ready = false;
	noteEdit(world, b);
	updateJointsOf(world, b);
	return KN_OK;
}

knStatus knWorld_SetBodyVelocity(knWorld* world, knBodyId body, knVec3 velocity, knVec3 angularVelocity) {
	int b = findBody(world, body);
	if (b < 0) {
		return KN_BAD_ARGUMENT;
	}
	if (!knIsFinite3(velocity) || !knIsFinite3(angularVelocity)) {
		return KN_BAD_DATA;
	}
	if (world->model->bodyKind[b] == KN_BODY_FIXED) {
		return KN_UNSUPPORTED;
	}
	if (!beginEdit(world)) {
		return KN_NO_MEMORY;
	}
	world->state.velocity[b] = knMakeTwist(angularVelocity, velocity);
	noteEdit(world, b);
	updateJointsOf(world, b);
	return KN_OK;
}

static knStatus applyImpulse(knWorld* world, int b, knTwist impulse) {
	if (!knIsFinite3(impulse.ang) || !knIsFinite3(impulse.lin)) {
		return KN_BAD_DATA;
	}
	if (!beginEdit(world)) {
		return KN_NO_MEMORY;
	}
	knMat33 invInertia = knRotateTensor(world->state.pose[b].q, &world->model->invInertiaLocal[b]);
	knTwist change =
		knMakeTwist(knMulMV(&invInertia, impulse.ang), knScale(world->model->invMass[b], impulse.lin));
	world->state.velocity[b] = knAddT(world->state.velocity[b], change);
	noteEdit(world, b);
	updateJointsOf(world, b);
	return KN_OK;
}

knStatus knWorld_ApplyImpulse(knWorld* world, knBodyId body, knVec3 impulse, knVec3 point) {
	int b = findBody(world, body);
	if (b < 0) {
		return KN_BAD_ARGUMENT;
	}
	knVec3 arm = knSub(point, knWorld_Pose(world, b).p);
	return applyImpulse(world, b, knMakeTwist(knCross(arm, impulse), impulse));
}

knStatus knWorld_ApplyAngularImpulse(knWorld* world, knBodyId body, knVec3 impulse) {
	int b = findBody(world, body);
	return b < 0 ? KN_BAD_ARGUMENT : applyImpulse(world, b, knMakeTwist(impulse, knZero3()));
}

knStatus knWorld_SetGravity(knWorld* world, knVec3 gravity) {
	if (!knIsFinite3(gravity)) {
		return KN_BAD_DATA;
	}
	world->state.header->gravity = gravity;
	return KN_OK;
}

knStatus knWorld_SetShapeEnabled(knWorld* world, knShapeId shape, bool enabled) {
	int s = knWorld_ShapeIndex(world, shape);
	KN_ASSERT(s >= 0);
	if (s < 0) {
		return KN_BAD_ARGUMENT;
	}
	knJournal_Keep(world->stepping ? &world->journal : NULL, &world->state, &world->state.shapeEnabled[s],
				   sizeof(uint8_t));
	world->state.shapeEnabled[s] = enabled && !world->model->shapes[s].looks;
	return KN_OK;
}

// --- joints ----------------------------------------------------------------------------------------------

knStatus knWorld_SetJointEnabled(knWorld* world, knJointId joint, bool enabled) {
	int j = findJoint(world, joint);
	if (j < 0) {
		return KN_BAD_ARGUMENT;
	}
	if (!beginEdit(world)) {
		return KN_NO_MEMORY;
	}
	world->state.header->edits += (world->state.joint[j].enabled != 0) != enabled;
	world->state.joint[j].enabled = enabled;
	return KN_OK;
}

knStatus knWorld_SetMotor(knWorld* world, knJointId joint, int axis, knMotorMode mode, double target,
						  double maxForce) {
	int j = findJoint(world, joint);
	if (j < 0) {
		return KN_BAD_ARGUMENT;
	}
	bool known = mode >= KN_MOTOR_OFF && mode <= KN_MOTOR_FORCE;
	bool onJoint = axis >= 0 && axis < knState_Joint(&world->state, world->model, j)->nv;
	KN_ASSERT(known && onJoint);
	if (!known || !onJoint) {
		return KN_BAD_ARGUMENT;
	}
	if (!knIsFinite(target) || !(maxForce >= 0.0)) {
		return KN_BAD_DATA;
	}
	knJointState* state = &world->state.joint[j];
	knJournal_Keep(world->stepping ? &world->journal : NULL, &world->state, state, sizeof(*state));
	state->motorMode[axis] = mode;
	state->motorTarget[axis] = target;
	state->motorMaxForce[axis] = maxForce;
	return KN_OK;
}

static int freeSlot(const knWorld* world) {
	const knModel* model = world->model;
	for (int k = 0; k < model->jointCapacity; ++k) {
		if (!world->state.joint[model->jointCount + k].inUse) {
			return k;
		}
	}
	return -1;
}

// A slot's generation outlives its owners, so that an old id never names a new joint.
static void fillSlot(knWorld* world, int slot, const knJoint* compiled, bool enabled) {
	const knModel* model = world->model;
	knState* state = &world->state;
	int index = model->jointCount + slot;
	knJoint* joint = &state->attached[slot];
	*joint = *compiled;
	joint->qOffset = model->qCount - KN_JOINT_MAX_Q * (model->jointCapacity - slot);
	joint->vOffset = model->vCount - KN_JOINT_MAX_V * (model->jointCapacity - slot);
	joint->loop = true;
	knJointState* dynamic = &state->joint[index];
	uint32_t generation = dynamic->generation + 1;
	memset(dynamic, 0, sizeof(*dynamic));
	dynamic->generation = generation;
	dynamic->inUse = 1;
	dynamic->enabled = enabled;
	for (int i = 0; i < joint->nv; ++i) {
		dynamic->motorMode[i] = joint->axis[i].motorMode;
		dynamic->motorTarget[i] = joint->axis[i].motorTarget;
		dynamic->motorMaxForce[i] = joint->axis[i].motorMaxForce;
	}
	state->header->attachedCount += 1;
	knState_InitialCoordinates(state, model, index);
}

void knWorld_FreeJointSlot(knWorld* world, int index) {
	knState* state = &world->state;
	state->joint[index].enabled = 0;
	state->joint[index].inUse = 0;
	state->header->attachedCount -= 1;
}

knJointId knWorld_Attach(knWorld* world, const knJointDef* def, knError* error) {
	const knJointId none = { 0 };
	knJoint joint;
	if (knModel_CompileJoint(world->model, def, &joint, error) != KN_OK) {
		return none;
	}
	if (!beginEdit(world)) {
		knError_Set(error, KN_NO_MEMORY, "joint", "there is no memory for a copy of the state");
		return none;
	}
	int slot = freeSlot(world);
	if (slot < 0) {
		if (knWorld_GrowJoints(world, error) != KN_OK) {
			return none;
		}
		slot = freeSlot(world);
	}
	fillSlot(world, slot, &joint, def->enabled);
	return knWorld_JointIdAt(world, world->model->jointCount + slot);
}

knStatus knWorld_Release(knWorld* world, knJointId joint) {
	int j = findJoint(world, joint);
	if (j < 0) {
		return KN_BAD_ARGUMENT;
	}
	if (!beginEdit(world)) {
		return KN_NO_MEMORY;
	}
	if (j < world->model->jointCount) {
		world->state.header->edits += world->state.joint[j].enabled != 0;
		world->state.joint[j].enabled = 0;
	} else {
		knWorld_FreeJointSlot(world, j);
	}
	return KN_OK;
}
