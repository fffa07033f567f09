// The engine as the viewer's worker calls it (apps/web/src/engine.ts): sessions behind pointers, numbers in memory that
// both see, texts as UTF-8 with a zero. What goes wrong is a sentence: a call then returns 0 (or a status) and
// kn_message tells it. Requests are lines "option value" with the options of `knuckle run` (stepper, dt, seed, set) and
// "source NAME".
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "catalogue_json.h"
#include "session.h"

// called from outside alone, so nothing declares them
#pragma clang diagnostic ignored "-Wmissing-prototypes"
#define EXPORT(name) __attribute__((export_name(#name), used)) name

static char message[512];
static knJson answer;      // the last text
static knPageBytes block;  // the last cast or file
static float* numbers;     // poses, contacts or joints
static size_t numbersSize; // bytes
static double values[KN_VALUE_COUNT];

// --- complaints, as the tool's sources make them (apps/cli/cli.h) ------------------------------------------------------

int cliFail(int status, const char* format, ...) {
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	return status;
}

int cliFailWith(int status, const knError* error) {
	knError_Format(error, message, sizeof(message));
	return status;
}

int cliStatusOf(const knError* error) {
	return error->status == KN_BAD_ARGUMENT ? CLI_USAGE : CLI_BAD_INPUT;
}

bool cliHasExtension(const char* path, const char* extension) {
	size_t length = strlen(path), tail = strlen(extension);
	return length >= tail && strcmp(path + length - tail, extension) == 0;
}

double cliClock(void* context) {
	(void)context;
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int report(knStatus status, const knError* error) {
	if (status != KN_OK) {
		knError_Format(error, message, sizeof(message));
	}
	return (int)status;
}

// --- memory and texts --------------------------------------------------------------------------------------------------

void* EXPORT(kn_alloc)(size_t size) {
	return malloc(size);
}

void EXPORT(kn_free)(void* memory) {
	free(memory);
}

const char* EXPORT(kn_message)(void) {
	return message;
}

static knJson* newAnswer(void) {
	knAllocator allocator = knAllocator_Default();
	knJson_Free(&answer);
	knJson_Init(&answer, &allocator);
	return &answer;
}

static float* room(int count) {
	size_t size = sizeof(float) * (size_t)(count > 0 ? count : 1);
	if (size > numbersSize) {
		free(numbers);
		numbers = malloc(size);
		numbersSize = numbers != NULL ? size : 0;
	}
	return numbers;
}

const char* EXPORT(kn_catalogue)(void) {
	knJson* json = newAnswer();
	knCatalogue_WriteJson(json);
	return json->text;
}

// Steppers and settings of this build.
const char* EXPORT(kn_methods)(void) {
	knJson* json = newAnswer();
	knJson_BeginObject(json, NULL);
	knJson_String(json, "version", KN_VERSION_STRING);
	knJson_BeginObject(json, "steppers");
	for (int i = 0; knStepper_Name(i) != NULL; ++i) {
		knJson_String(json, knStepper_Name(i), knStepper_Help(knStepper_Name(i)));
	}
	knJson_EndObject(json);
	knJson_BeginObject(json, "settings");
	for (int i = 0; knSettings_Name(i) != NULL; ++i) {
		knJson_String(json, knSettings_Name(i), knSettings_Help(i));
	}
	knJson_EndObject(json);
	knJson_EndObject(json);
	return json->text;
}

// --- sessions ----------------------------------------------------------------------------------------------------------

// Lines become options; the text is cut up and must outlive the request.
static bool readRequest(char* text, cliSceneRequest* request) {
	*request = cliSceneRequest_Default();
	for (char* line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
		char name[64];
		char* value = strchr(line, ' ');
		if (value == NULL) {
			cliFail(CLI_USAGE, "the option '%s' has no value", line);
			return false;
		}
		*value++ = '\0';
		snprintf(name, sizeof(name), "--%s", line);
		if (strcmp(line, "source") == 0) {
			request->source = value;
		} else if (!cliSceneRequest_SetOption(request, name, value)) {
			return false;
		}
	}
	return true;
}

knSession* EXPORT(kn_open)(char* text) {
	cliSceneRequest request;
	return readRequest(text, &request) ? knSession_Open(&request) : NULL;
}

knSession* EXPORT(kn_open_bytes)(const void* bytes, size_t size, char* text) {
	cliSceneRequest request;
	return readRequest(text, &request) ? knSession_OpenBytes(bytes, size, &request) : NULL;
}

void EXPORT(kn_close)(knSession* session) {
	knSession_Close(session);
}

int EXPORT(kn_advance)(knSession* session) {
	knError error = { 0 };
	return report(knSession_Advance(session, &error), &error);
}

int EXPORT(kn_seek)(knSession* session, double step) {
	knError error = { 0 };
	return report(knSession_Seek(session, (int64_t)step, &error), &error);
}

double EXPORT(kn_step)(const knSession* session) {
	return (double)knSession_Step(session);
}

double EXPORT(kn_oldest)(const knSession* session) {
	return (double)knSession_Oldest(session);
}

double EXPORT(kn_latest)(const knSession* session) {
	return (double)knSession_Latest(session);
}

const char* EXPORT(kn_hash)(knSession* session) {
	static char text[17];
	snprintf(text, sizeof(text), "%016llx", (unsigned long long)knWorld_Hash(knSession_World(session)));
	return text;
}

// --- seeing --------------------------------------------------------------------------------------------------------------

// Changes whenever the cast does.
const void* EXPORT(kn_model)(knSession* session) {
	return knWorld_Model(knSession_World(session));
}

int EXPORT(kn_cast)(knSession* session) {
	knAllocator allocator = knAllocator_Default();
	knError error = { 0 };
	KN_ARRAY_FREE(&allocator, &block);
	return report(knSession_Cast(session, &block, &error), &error);
}

const void* EXPORT(kn_block)(void) {
	return block.items;
}

int EXPORT(kn_block_size)(void) {
	return block.count;
}

const char* EXPORT(kn_describe)(const knSession* session) {
	knJson* json = newAnswer();
	knSession_Describe(session, json);
	return json->text;
}

int EXPORT(kn_bodies)(knSession* session) {
	return knModel_BodyCount(knWorld_Model(knSession_World(session)));
}

const float* EXPORT(kn_poses)(knSession* session) {
	float* out = room(7 * knModel_BodyCount(knWorld_Model(knSession_World(session))));
	if (out != NULL) {
		knSession_Poses(session, out);
	}
	return out;
}

int EXPORT(kn_contact_count)(const knSession* session) {
	return knSession_ContactCount(session);
}

const float* EXPORT(kn_contacts)(const knSession* session) {
	float* out = room(KN_SESSION_CONTACT * knSession_ContactCount(session));
	if (out != NULL) {
		knSession_Contacts(session, out);
	}
	return out;
}

const float* EXPORT(kn_joints)(knSession* session) {
	float* out = room(KN_SESSION_JOINT * knModel_JointCount(knWorld_Model(knSession_World(session))));
	if (out != NULL) {
		knSession_Joints(session, out);
	}
	return out;
}

const double* EXPORT(kn_values)(knSession* session, int penetration, int joint) {
	knSession_Values(session, penetration != 0, joint, values);
	return values;
}

// --- touching --------------------------------------------------------------------------------------------------------------

void EXPORT(kn_drag)(knSession* session, int body, double x, double y, double z, double tx, double ty,
					 double tz) {
	knSession_Drag(session, body, knV3(x, y, z), knV3(tx, ty, tz));
}

void EXPORT(kn_let_go)(knSession* session) {
	knSession_LetGo(session);
}

int EXPORT(kn_throw)(knSession* session, int box, double size, double density, double x, double y, double z,
					 double vx, double vy, double vz) {
	knError error = { 0 };
	return report(knSession_Throw(session, box != 0, size, density, knV3(x, y, z), knV3(vx, vy, vz), &error),
				  &error);
}

int EXPORT(kn_push)(knSession* session, int body, double x, double y, double z, double ix, double iy,
					double iz) {
	knError error = { 0 };
	return report(knSession_Push(session, body, knV3(x, y, z), knV3(ix, iy, iz), &error), &error);
}

int EXPORT(kn_gravity)(knSession* session, double x, double y, double z) {
	knError error = { 0 };
	return report(knSession_SetGravity(session, knV3(x, y, z), &error), &error);
}

int EXPORT(kn_cut)(knSession* session, int joint) {
	knError error = { 0 };
	return report(knSession_Cut(session, joint, &error), &error);
}

int EXPORT(kn_motor)(knSession* session, int joint, int axis, int mode, double target, double maxForce) {
	knError error = { 0 };
	bool known = mode >= KN_MOTOR_OFF && mode <= KN_MOTOR_FORCE;
	return report(knSession_SetMotor(session, joint, axis, known ? (knMotorMode)mode : KN_MOTOR_OFF, target,
									 maxForce, &error),
				  &error);
}

int EXPORT(kn_control)(knSession* session, int actuator, double control) {
	knError error = { 0 };
	return report(knSession_SetControl(session, actuator, control, &error), &error);
}

// --- files -------------------------------------------------------------------------------------------------------------------

int EXPORT(kn_export)(knSession* session, const char* path) {
	knError error = { 0 };
	return report(knSession_Export(session, path, &error), &error);
}

static knStatus fillStore(const knTrajectory* trajectory, knPageStore* store, knError* error) {
	for (int f = 0; f < knTrajectory_FrameCount(trajectory); ++f) {
		knCastFrame frame = knTrajectory_CastFrame(trajectory, f);
		if (!knPageStore_AddFrame(store, &frame)) {
			return knError_Set(error, KN_NO_MEMORY, "recording", "out of memory");
		}
	}
	return KN_OK;
}

// A .knt that stands in the engine's files becomes the block, as the page reads it.
int EXPORT(kn_recording)(const char* path) {
	knAllocator allocator = knAllocator_Default();
	knError error = { 0 };
	KN_ARRAY_FREE(&allocator, &block);
	knTrajectory* trajectory = knTrajectory_Open(path, NULL, &error);
	if (trajectory == NULL) {
		return report(error.status, &error);
	}
	knPageStore store;
	knPageStore_Init(&store, &allocator);
	knStatus status = fillStore(trajectory, &store, &error);
	if (knTrajectory_Damaged(trajectory, NULL)) {
		store.note = knCopyString(&allocator, "what is whole of a damaged file");
	}
	if (status == KN_OK) {
		status = knPageStore_Encode(&store, &block, &error);
	}
	knPageStore_Free(&store);
	knTrajectory_Close(trajectory);
	return report(status, &error);
}
