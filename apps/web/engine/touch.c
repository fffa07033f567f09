// Touching a session: dragging, throwing, pushing, gravity, cutting, motors (session.h).
//
// A drag is a spring and a damper between a point of the body and the hand. It must lift what hangs on the body, so its
// stiffness k follows the mass of everything that could; and it acts as a force held for a step h, so it stays below the
// stiffness at which that would overshoot for the body alone, of mass m:
//
//   k = min(M w^2, m / (4 h^2)),   c = 2 sqrt(k m),   w = 8 rad/s
#include "session.h"

#include "knuckle/control.h"

#define DRAG_RATE 8.0     // rad/s
#define DRAG_LARGEST 40.0 // times the weight of everything: what a hand may pull with

static double massOf(const knWorld* world, knBodyId body) {
	return knModel_BodyMass(knWorld_Model(world), body).mass;
}

static bool isDynamic(const knWorld* world, knBodyId body) {
	const knBodyDef* def = knScene_GetBody(knModel_Scene(knWorld_Model(world)), body);
	return def != NULL && def->kind == KN_BODY_DYNAMIC;
}

static double massOfAll(const knWorld* world) {
	const knModel* model = knWorld_Model(world);
	double mass = 0.0;
	for (int i = 0; i < knModel_BodyCount(model); ++i) {
		knBodyId body = knModel_BodyAt(model, i);
		mass += isDynamic(world, body) ? massOf(world, body) : 0.0;
	}
	return mass;
}

static bool isBody(const knSession* session, int body) {
	return body >= 0 && body < knModel_BodyCount(knWorld_Model(session->world));
}

static knVec3 pointOf(const knWorld* world, knBodyId body, knVec3 local) {
	return knAdd(knWorld_BodyCenter(world, body), knRotate(knWorld_BodyFrame(world, body).q, local));
}

void knSession_Drag(knSession* session, int body, knVec3 local, knVec3 target) {
	bool good = isBody(session, body) && knIsFinite3(local) && knIsFinite3(target);
	knBodyId id = good ? knModel_BodyAt(knWorld_Model(session->world), body) : KN_WORLD_BODY;
	session->dragging = good && isDynamic(session->world, id);
	session->drag = (knSessionDrag){ .body = id, .local = local, .target = target };
	session->worldMass = session->dragging ? massOfAll(session->world) : 0.0;
}

void knSession_LetGo(knSession* session) {
	session->dragging = false;
}

static knVec3 pullOf(const knSession* session, const knSessionDrag* drag, knVec3* point) {
	const knWorld* world = session->world;
	double mass = massOf(world, drag->body), h = session->scene.dt;
	double all = session->worldMass > 0.0 ? session->worldMass : massOfAll(world);
	double k = knMin(all * DRAG_RATE * DRAG_RATE, 0.25 * mass / (h * h));
	double c = 2.0 * sqrt(k * mass);
	*point = pointOf(world, drag->body, drag->local);
	knVec3 force = knSub(knScale(k, knSub(drag->target, *point)),
						 knScale(c, knWorld_PointVelocity(world, drag->body, *point)));
	double size = knLength(force), largest = DRAG_LARGEST * 9.81 * all;
	return size > largest ? knScale(largest / size, force) : force;
}

void knSession_Pull(knSession* session, const knSessionDrag* drag) {
	knVec3 point;
	if (!knWorld_HasBody(session->world, drag->body)) {
		return;
	}
	knVec3 force = pullOf(session, drag, &point);
	(void)knWorld_AddForceAt(session->world, drag->body, force, point);
}

knVec3 knSession_DragForce(const knSession* session, knVec3* point) {
	*point = knZero3();
	bool held = session->dragging && knWorld_HasBody(session->world, session->drag.body);
	return held ? pullOf(session, &session->drag, point) : knZero3();
}

// --- edits ---------------------------------------------------------------------------------------------------------

static knStatus edited(knSession* session, knStatus status, const char* what, knError* error) {
	if (status != KN_OK) {
		return knError_Set(error, status, what, "the world refused it");
	}
	session->worldMass = 0.0;
	return knSession_Edited(session, error);
}

knStatus knSession_Throw(knSession* session, bool box, double size, double density, knVec3 from,
						 knVec3 velocity, knError* error) {
	knBodyDef def = knBodyDef_Default();
	def.frame.p = from;
	def.velocity = velocity;
	def.fast = true; // thrown things must not pass through thin ones
	knPart part = { .def = knShapeDef_Default() };
	part.def.density = density;
	part.geom = box ? knGeom_Box(knV3(size, size, size), NULL, error) : knGeom_Sphere(size, NULL, error);
	if (part.geom == NULL) {
		return error->status;
	}
	knBodyId body = knWorld_AddBody(session->world, &def, &part, 1, error);
	knGeom_Release(part.geom);
	return KN_ID_IS_NULL(body) ? error->status : edited(session, KN_OK, "throw", error);
}

knStatus knSession_Push(knSession* session, int body, knVec3 local, knVec3 impulse, knError* error) {
	if (!isBody(session, body)) {
		return knError_Set(error, KN_BAD_ARGUMENT, "push", "there is no such body");
	}
	knBodyId id = knModel_BodyAt(knWorld_Model(session->world), body);
	knStatus status = knWorld_ApplyImpulse(session->world, id, impulse, pointOf(session->world, id, local));
	return edited(session, status, "push", error);
}

knStatus knSession_SetGravity(knSession* session, knVec3 gravity, knError* error) {
	return edited(session, knWorld_SetGravity(session->world, gravity), "gravity", error);
}

static knJointId jointAt(const knSession* session, int joint) {
	const knModel* model = knWorld_Model(session->world);
	bool good = joint >= 0 && joint < knModel_JointCount(model);
	return good ? knModel_JointAt(model, joint) : (knJointId){ 0, 0 };
}

knStatus knSession_Cut(knSession* session, int joint, knError* error) {
	knJointId id = jointAt(session, joint);
	if (KN_ID_IS_NULL(id)) {
		return knError_Set(error, KN_BAD_ARGUMENT, "cut", "there is no such joint");
	}
	return edited(session, knWorld_SetJointEnabled(session->world, id, false), "cut", error);
}

knStatus knSession_SetMotor(knSession* session, int joint, int axis, knMotorMode mode, double target,
							double maxForce, knError* error) {
	knJointId id = jointAt(session, joint);
	double rates[6];
	bool good = !KN_ID_IS_NULL(id) && axis >= 0 && axis < knWorld_JointVelocities(session->world, id, rates);
	if (!good) {
		return knError_Set(error, KN_BAD_ARGUMENT, "motor", "there is no such joint or axis");
	}
	return edited(session, knWorld_SetMotor(session->world, id, axis, mode, target, maxForce), "motor",
				  error);
}

knStatus knSession_SetControl(knSession* session, int actuator, double control, knError* error) {
	const knScene* scene = knModel_Scene(knWorld_Model(session->world));
	if (actuator < 0 || actuator >= knScene_ActuatorCount(scene)) {
		return knError_Set(error, KN_BAD_ARGUMENT, "control", "there is no such actuator");
	}
	return edited(session, knWorld_SetControl(session->world, actuator, control), "control", error);
}
