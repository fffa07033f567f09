// What the page draws and plots of a session (session.h).
#include "session.h"

#include <math.h>
#include <string.h>

#include "core/json.h"
#include "knuckle/control.h"
#include "world/record_view.h"
#include "world/world_internal.h"

// --- the cast: a recording of one frame, written into memory ---------------------------------------------------------

static void* openStore(const char* path, knOutputMode mode, const knSceneSnapshot* cast,
					   const knAllocator* allocator, knError* error) {
	(void)path, (void)mode, (void)cast;
	knPageStore* store = knAllocZero(allocator, sizeof(knPageStore));
	if (store == NULL) {
		knError_Set(error, KN_NO_MEMORY, "cast", "out of memory");
		return NULL;
	}
	knPageStore_Init(store, allocator);
	return store;
}

static knStatus writeStore(void* self, const knCastFrame* frame, knError* error) {
	return knPageStore_AddFrame(self, frame) ? KN_OK
											 : knError_Set(error, KN_NO_MEMORY, "cast", "out of memory");
}

static void freeStore(void* self) {
	knPageStore* store = self;
	knAllocator allocator = store->allocator;
	knPageStore_Free(store);
	knFree(&allocator, store, sizeof(knPageStore));
}

static knStatus closeStore(void* self, knError* error) {
	(void)error;
	freeStore(self);
	return KN_OK;
}

static const knWriterOps memoryWriter = {
	.extension = "", .open = openStore, .write = writeStore, .close = closeStore, .abandon = freeStore
};

knStatus knSession_Cast(knSession* session, knPageBytes* bytes, knError* error) {
	knAllocator allocator = knAllocator_Default();
	knRecordView view = knWorld_RecordView(session->world);
	void* recording = knRecording_Open(&memoryWriter, "cast", &view, &allocator, error);
	if (recording == NULL) {
		return error->status;
	}
	knStatus status = knRecording_Write(recording, &view, error);
	if (status == KN_OK) {
		status = knPageStore_Encode(knRecording_Writer(recording), bytes, error);
	}
	knRecording_Abandon(recording);
	return status;
}

// --- poses, contacts, joints -----------------------------------------------------------------------------------------

static float* put3(float* out, knVec3 v) {
	out[0] = (float)v.x, out[1] = (float)v.y, out[2] = (float)v.z;
	return out + 3;
}

static float* putFrame(float* out, knFrame frame) {
	out = put3(out, frame.p);
	out[0] = (float)frame.q.x, out[1] = (float)frame.q.y, out[2] = (float)frame.q.z,
	out[3] = (float)frame.q.w;
	return out + 4;
}

void knSession_Poses(knSession* session, float* out) {
	knRecordView view = knWorld_RecordView(session->world);
	for (int b = 0; b < knModel_BodyCount(view.model); ++b) {
		out = putFrame(out, view.state->pose[b + 1]);
	}
}

int knSession_ContactCount(const knSession* session) {
	int count;
	(void)knWorld_Contacts(session->world, &count);
	return count;
}

void knSession_Contacts(const knSession* session, float* out) {
	int count;
	const knContact* contacts = knWorld_Contacts(session->world, &count);
	for (int i = 0; i < count; ++i) {
		const knContact* contact = &contacts[i];
		out = put3(out, knScale(0.5, knAdd(contact->point.pointA, contact->point.pointB)));
		out = put3(out, contact->point.normal);
		out = put3(out, knScale(1.0 / session->scene.dt, contact->impulse));
		*out++ = (float)knWorld_BodyIndex(session->world, contact->bodyA);
		*out++ = (float)knWorld_BodyIndex(session->world, contact->bodyB);
	}
}

static knFrame bodyFrame(const knWorld* world, knBodyId body) {
	return KN_ID_IS_NULL(body) ? knIdentityF() : knWorld_BodyFrame(world, body);
}

// Joints that the last step let move; -1: all, or there was no step yet.
static int countActive(const knSession* session) {
	return knSession_Step(session) > 0 ? knWorld_Report(session->world)->active : -1;
}

// A stepper that freezes joints leaves them no velocity at all.
static bool isMoving(const knSession* session, knJointId id) {
	double rates[6];
	int count = knWorld_JointVelocities(session->world, id, rates);
	for (int a = 0; a < count; ++a) {
		if (rates[a] != 0.0) {
			return true;
		}
	}
	return countActive(session) < 0;
}

void knSession_Joints(const knSession* session, float* out) {
	const knWorld* world = session->world;
	const knModel* model = knWorld_Model(world);
	for (int j = 0; j < knModel_JointCount(model); ++j) {
		knJointId id = knModel_JointAt(model, j);
		const knJointDef* def = knScene_GetJoint(knModel_Scene(model), id);
		out = putFrame(out, knMulF(bodyFrame(world, def->parent), def->frameParent));
		out = putFrame(out, knMulF(bodyFrame(world, def->child), def->frameChild));
		*out++ = knWorld_JointEnabled(world, id) ? 1.0f : 0.0f;
		*out++ = isMoving(session, id) ? 1.0f : 0.0f;
	}
}

// --- words -----------------------------------------------------------------------------------------------------------

static void describeAxes(const knSession* session, knJointId id, const knJointDef* def, knJson* json) {
	double rates[6];
	int count = knWorld_JointVelocities(session->world, id, rates);
	knJson_BeginArray(json, "axes");
	for (int a = 0; a < count; ++a) {
		const knJointAxis* axis = &def->axis[a];
		knJson_BeginObject(json, NULL);
		knJson_Integer(json, "mode", axis->motorMode);
		knJson_Number(json, "target", axis->motorTarget);
		knJson_Number(json, "maxForce", axis->motorMaxForce);
		knJson_Bool(json, "limited", axis->limited);
		knJson_Number(json, "lower", axis->lower);
		knJson_Number(json, "upper", axis->upper);
		knJson_EndObject(json);
	}
	knJson_EndArray(json);
}

static void describeJoints(const knSession* session, knJson* json) {
	const knModel* model = knWorld_Model(session->world);
	knJson_BeginArray(json, "joints");
	for (int j = 0; j < knModel_JointCount(model); ++j) {
		knJointId id = knModel_JointAt(model, j);
		const knJointDef* def = knScene_GetJoint(knModel_Scene(model), id);
		knJson_BeginObject(json, NULL);
		knJson_String(json, "name", def->name);
		knJson_String(json, "kind", knJointKind_Name(def->kind));
		knJson_Integer(json, "parent", knWorld_BodyIndex(session->world, def->parent));
		knJson_Integer(json, "child", knWorld_BodyIndex(session->world, def->child));
		describeAxes(session, id, def, json);
		knJson_EndObject(json);
	}
	knJson_EndArray(json);
}

static void describeActuators(const knSession* session, knJson* json) {
	const knScene* scene = knModel_Scene(knWorld_Model(session->world));
	knJson_BeginArray(json, "actuators");
	for (int i = 0; i < knScene_ActuatorCount(scene); ++i) {
		const knActuatorDef* def = knScene_GetActuator(scene, i);
		knJson_BeginObject(json, NULL);
		knJson_String(json, "name", def->name != NULL ? def->name : "");
		knJson_Number(json, "control", knWorld_Control(session->world, i));
		knJson_Number(json, "lower", def->controlLimited ? def->controlRange[0] : -1.0);
		knJson_Number(json, "upper", def->controlLimited ? def->controlRange[1] : 1.0);
		knJson_EndObject(json);
	}
	knJson_EndArray(json);
}

void knSession_Describe(const knSession* session, knJson* json) {
	knVec3 g = knWorld_Gravity(session->world);
	const char* name = knScene_GetDef(knModel_Scene(knWorld_Model(session->world)))->name;
	knJson_BeginObject(json, NULL);
	knJson_String(json, "scene", name != NULL ? name : "");
	knJson_String(json, "stepper", knWorld_StepperName(session->world));
	knJson_Number(json, "dt", session->scene.dt);
	knJson_Integer(json, "bodies", knModel_BodyCount(knWorld_Model(session->world)));
	knJson_BeginArray(json, "gravity");
	knJson_Number(json, NULL, g.x);
	knJson_Number(json, NULL, g.y);
	knJson_Number(json, NULL, g.z);
	knJson_EndArray(json);
	describeJoints(session, json);
	describeActuators(session, json);
	knJson_EndObject(json);
}

// --- numbers ---------------------------------------------------------------------------------------------------------

void knSession_Values(knSession* session, bool penetration, int joint, double out[KN_VALUE_COUNT]) {
	knWorld* world = session->world;
	const knModel* model = knWorld_Model(world);
	const knStepReport* report = knWorld_Report(world);
	knMeasures now = knWorld_Measure(world);
	knPenetration deep = { .max = NAN };
	if (penetration && knWorld_MeasurePenetration(world, &deep, NULL) != KN_OK) {
		deep.max = NAN;
	}
	double q[7] = { NAN };
	if (joint >= 0 && joint < knModel_JointCount(model) &&
		knWorld_JointCoordinates(world, knModel_JointAt(model, joint), q) == 0) {
		q[0] = NAN;
	}
	out[KN_VALUE_TIME] = knWorld_Time(world);
	out[KN_VALUE_KINETIC] = now.kinetic;
	out[KN_VALUE_POTENTIAL] = now.potential;
	out[KN_VALUE_MOMENTUM] = knLength(now.momentum);
	out[KN_VALUE_ANGULAR_MOMENTUM] = knLength(now.angularMomentum);
	out[KN_VALUE_JOINT_GAP] = now.jointError;
	out[KN_VALUE_JOINT_ANGLE] = now.jointAngleError;
	out[KN_VALUE_PENETRATION] = deep.max;
	out[KN_VALUE_CONTACTS] = report->contacts;
	out[KN_VALUE_COLLIDE_MS] = 1e3 * report->collideTime;
	out[KN_VALUE_SOLVE_MS] = 1e3 * report->solveTime;
	out[KN_VALUE_STEP_MS] = 1e3 * report->stepTime;
	out[KN_VALUE_MERIT] = report->theta;
	out[KN_VALUE_SWEEPS] = report->iterations;
	out[KN_VALUE_ACTIVE] = countActive(session) >= 0 ? countActive(session) : NAN;
	out[KN_VALUE_COORDINATE] = q[0];
}

// --- files -----------------------------------------------------------------------------------------------------------

knStatus knSession_Export(knSession* session, const char* path, knError* error) {
	int64_t shown = knSession_Step(session);
	knStatus status = knSession_Seek(session, knSession_Oldest(session), error);
	knRecorder* recorder = status == KN_OK ? knRecorder_Open(path, session->world, NULL, error) : NULL;
	if (recorder == NULL) {
		return status != KN_OK ? status : error->status;
	}
	status = knRecorder_Write(recorder, session->world, error);
	while (status == KN_OK && knSession_Step(session) < session->latest) {
		status = knSession_Advance(session, error);
		if (status == KN_OK) {
			status = knRecorder_Write(recorder, session->world, error);
		}
	}
	if (status == KN_OK) {
		status = knRecorder_Close(recorder, error);
	} else {
		knRecorder_Abandon(recorder);
	}
	knError ignored = { 0 };
	knStatus back = knSession_Seek(session, shown, status == KN_OK ? error : &ignored);
	return status == KN_OK ? back : status;
}
