// Steering a world through its actuators, and reading its probes (knuckle/control.h).
//
// A probe is read from the present state. The accelerometer takes the mean over the last step, from the velocities before
// it, which the copy of the state holds that every step begins with; before the first step it reads rest.
#include "model/control.h"

#include "knuckle/control.h"
#include "model/joint_parts.h"
#include "world/world_internal.h"

static bool isActuator(const knWorld* world, int actuator) {
	const bool exists = actuator >= 0 && actuator < world->model->control.actuatorCount;
	KN_ASSERT(exists);
	return exists;
}

// --- control ---------------------------------------------------------------------------------------------

knStatus knWorld_SetControl(knWorld* world, int actuator, double control) {
	if (!isActuator(world, actuator)) {
		return KN_BAD_ARGUMENT;
	}
	if (!knIsFinite(control)) {
		return KN_BAD_DATA;
	}
	world->state.control[actuator] = control;
	return KN_OK;
}

double knWorld_Control(const knWorld* world, int actuator) {
	return isActuator(world, actuator) ? world->state.control[actuator] : 0.0;
}

double knWorld_Activation(const knWorld* world, int actuator) {
	return isActuator(world, actuator) ? world->state.activation[actuator] : 0.0;
}

double knWorld_ActuatorForce(const knWorld* world, int actuator) {
	return isActuator(world, actuator) ? knControl_Force(world->model, &world->state, actuator) : 0.0;
}

double knWorld_TendonLength(const knWorld* world, int tendon, double* rate) {
	const bool exists = tendon >= 0 && tendon < world->model->control.tendonCount;
	KN_ASSERT(exists);
	if (!exists) {
		return 0.0;
	}
	return knControl_TendonLength(world->model, &world->state, tendon, rate);
}

// --- probes ----------------------------------------------------------------------------------------------

// The probe's frame in the world and how its origin moves.
typedef struct Place {
	int body;
	knFrame frame;
	knTwist velocity; // of the origin
} Place;

static knVec3 originVelocity(const knTwist* velocity, knVec3 arm) {
	return knAdd(velocity->lin, knCross(velocity->ang, arm));
}

static Place placeOf(const knWorld* world, const knProbeDef* probe) {
	Place place = { .body = knWorld_BodyIndex(world, probe->body) };
	knFrame local = probe->frame;
	local.p = knSub(local.p, world->model->centerLocal[place.body]);
	const knFrame pose = world->state.pose[place.body];
	place.frame = knMulF(pose, local);
	place.velocity = world->state.velocity[place.body];
	place.velocity.lin = originVelocity(&place.velocity, knSub(place.frame.p, pose.p));
	return place;
}

static knVec3 acceleration(const knWorld* world, const knProbeDef* probe, const Place* place) {
	const knState* before = &world->backup;
	knVec3 change = knZero3();
	if (before->block != NULL && world->state.header->step > before->header->step) {
		const double h = world->state.header->time - before->header->time;
		knVec3 local = knSub(probe->frame.p, world->model->centerLocal[place->body]);
		knVec3 last =
			originVelocity(&before->velocity[place->body], knRotate(before->pose[place->body].q, local));
		change = knScale(1.0 / h, knSub(place->velocity.lin, last));
	}
	return knSub(change, world->state.header->gravity);
}

// What the joint that holds the body passes to it: the reaction acts on the child at its joint origin.
static knTwist load(const knWorld* world, const knProbeDef* probe, const Place* place) {
	const int index = knWorld_JointIndex(world, probe->joint);
	if (index < 0) {
		return knZeroTwist();
	}
	const knJoint* joint = knState_Joint(&world->state, world->model, index);
	knTwist wrench = world->state.joint[index].reaction;
	knVec3 anchor = knPoint(world->state.pose[joint->child], joint->frameChild.p);
	wrench.ang = knAdd(wrench.ang, knCross(knSub(anchor, place->frame.p), wrench.lin));
	return joint->child == place->body ? wrench : knScaleT(-1.0, wrench);
}

static double touch(const knWorld* world, const knProbeDef* probe) {
	double sum = 0.0;
	const double h =
		world->state.header->time - (world->backup.block != NULL ? world->backup.header->time : 0.0);
	for (int i = 0; i < world->contacts.count && h > 0.0; ++i) {
		const knContact* contact = &world->contacts.items[i];
		if (KN_ID_EQUALS(contact->bodyA, probe->body) || KN_ID_EQUALS(contact->bodyB, probe->body)) {
			sum += knAbs(knDot(contact->impulse, contact->point.normal)) / h;
		}
	}
	return sum;
}

static double jointForce(const knWorld* world, const knProbeDef* probe) {
	const knModel* model = world->model;
	const int index = knWorld_JointIndex(world, probe->joint);
	double sum = 0.0;
	for (int i = 0; i < model->control.actuatorCount; ++i) {
		const knModelActuator* a = &model->control.actuators[i];
		const knModelDrive* drive = a->drive >= 0 ? &model->control.drives[a->drive] : NULL;
		if (drive != NULL && drive->joint == index && drive->axis == probe->axis) {
			sum += a->gear[0] * knControl_Force(model, &world->state, i);
		}
	}
	const knJointAxis* axis = &knState_Joint(&world->state, model, index)->axis[probe->axis];
	return axis->driveLimited ? knClamp(sum, axis->driveLower, axis->driveUpper) : sum;
}

static double readScalar(const knWorld* world, const knProbeDef* probe) {
	const knState* state = &world->state;
	const int index = probe->kind <= KN_PROBE_JOINT_FORCE ? knWorld_JointIndex(world, probe->joint) : 0;
	const knJoint* joint =
		probe->kind <= KN_PROBE_JOINT_FORCE ? knState_Joint(state, world->model, index) : NULL;
	double rate = 0.0, length = 0.0;
	switch (probe->kind) {
	case KN_PROBE_JOINT_POSITION:
		return knJoint_AxisPosition(joint, &state->q[joint->qOffset], probe->axis) +
			   joint->axis[probe->axis].rest;
	case KN_PROBE_JOINT_VELOCITY:
		return state->v[joint->vOffset + probe->axis];
	case KN_PROBE_JOINT_FORCE:
		return jointForce(world, probe);
	case KN_PROBE_TENDON_POSITION:
	case KN_PROBE_TENDON_VELOCITY:
		length = knControl_TendonLength(world->model, state, probe->index, &rate);
		return probe->kind == KN_PROBE_TENDON_POSITION ? length : rate;
	case KN_PROBE_ACTUATOR_POSITION:
	case KN_PROBE_ACTUATOR_VELOCITY:
		length = knControl_Length(world->model, state, probe->index, &rate);
		return probe->kind == KN_PROBE_ACTUATOR_POSITION ? length : rate;
	case KN_PROBE_ACTUATOR_FORCE:
		return knControl_Force(world->model, state, probe->index);
	case KN_PROBE_TOUCH:
		return touch(world, probe);
	default:
		return state->header->time;
	}
}

static knVec3 readVector(const knWorld* world, const knProbeDef* probe, const Place* place) {
	const knQuat q = place->frame.q;
	switch (probe->kind) {
	case KN_PROBE_FRAME_POSITION:
		return place->frame.p;
	case KN_PROBE_FRAME_X:
		return knRotate(q, knV3(1.0, 0.0, 0.0));
	case KN_PROBE_FRAME_Y:
		return knRotate(q, knV3(0.0, 1.0, 0.0));
	case KN_PROBE_FRAME_Z:
		return knRotate(q, knV3(0.0, 0.0, 1.0));
	case KN_PROBE_FRAME_VELOCITY:
		return place->velocity.lin;
	case KN_PROBE_FRAME_ANGULAR_VELOCITY:
		return place->velocity.ang;
	case KN_PROBE_GYRO:
		return knInvRotate(q, place->velocity.ang);
	case KN_PROBE_VELOCIMETER:
		return knInvRotate(q, place->velocity.lin);
	case KN_PROBE_ACCELEROMETER:
		return knInvRotate(q, acceleration(world, probe, place));
	case KN_PROBE_FORCE:
		return knInvRotate(q, load(world, probe, place).lin);
	default:
		return knInvRotate(q, load(world, probe, place).ang);
	}
}

int knWorld_ReadProbe(knWorld* world, int index, double values[4]) {
	const knProbeDef* probe = knScene_GetProbe(world->model->scene, index);
	KN_ASSERT(probe != NULL);
	if (probe == NULL) {
		return 0;
	}
	knWorld_SyncPoses(world);
	const int size = knProbeKind_Size(probe->kind);
	if (size == 1) {
		values[0] = readScalar(world, probe);
		return 1;
	}
	const Place place = placeOf(world, probe);
	if (size == 4) {
		values[0] = place.frame.q.w;
		values[1] = place.frame.q.x;
		values[2] = place.frame.q.y;
		values[3] = place.frame.q.z;
		return 4;
	}
	const knVec3 vector = readVector(world, probe, &place);
	values[0] = vector.x;
	values[1] = vector.y;
	values[2] = vector.z;
	return 3;
}
