// Recorders: show a running world's model and state to a format's writer, frame by frame; and the table of
// formats.
//
// The model of the last frame is retained, so a different pointer means an edited model and a new cast.
#include "record/recorder.h"

#include <string.h>

#include "record/output.h"
#include "record/writer.h"

typedef struct Recorder {
	knAllocator allocator;
	const knWriterOps* writer;
	void* self; // the writer's
	char* path;
	const knModel* model; // retained
	knMeshList meshes;
	knLookList looks;
	knSceneSnapshot cast;
	int castIndex;
	knBodyState* bodies; // [cast.bodyCount]
	uint8_t* active;     // [cast.bodyCount]
} Recorder;

// --- one recorder ----------------------------------------------------------------------------------------

static void freeBodies(Recorder* recorder) {
	knFree(&recorder->allocator, recorder->bodies, sizeof(knBodyState) * (size_t)recorder->cast.bodyCount);
	knFree(&recorder->allocator, recorder->active, (size_t)recorder->cast.bodyCount);
	recorder->bodies = NULL;
	recorder->active = NULL;
}

static void freeRecorder(Recorder* recorder) {
	knAllocator allocator = recorder->allocator;
	freeBodies(recorder);
	knSceneSnapshot_Free(&recorder->cast);
	knMeshList_Free(&recorder->meshes);
	knLookList_Free(&recorder->looks);
	if (recorder->model != NULL) {
		knModel_Release(recorder->model);
	}
	knFreeString(&allocator, recorder->path);
	knFree(&allocator, recorder, sizeof(Recorder));
}

// Takes over the view's model; false (and no change but perhaps more meshes) when out of memory.
static bool followModel(Recorder* recorder, const knRecordView* view) {
	knSceneSnapshot cast;
	bool made =
		knSceneSnapshot_FromModel(&cast, view, &recorder->meshes, &recorder->looks, &recorder->allocator);
	recorder->cast.meshes = recorder->meshes.items.items;
	if (!made) {
		return false;
	}
	knBodyState* bodies = knAllocArray(&recorder->allocator, (size_t)cast.bodyCount, sizeof(knBodyState));
	uint8_t* active = knAllocArray(&recorder->allocator, (size_t)cast.bodyCount, sizeof(uint8_t));
	if ((bodies == NULL || active == NULL) && cast.bodyCount > 0) {
		knFree(&recorder->allocator, bodies, sizeof(knBodyState) * (size_t)cast.bodyCount);
		knFree(&recorder->allocator, active, (size_t)cast.bodyCount);
		knSceneSnapshot_Free(&cast);
		return false;
	}
	freeBodies(recorder);
	knSceneSnapshot_Free(&recorder->cast);
	recorder->cast = cast;
	recorder->bodies = bodies;
	recorder->active = active;
	knModel_Retain(view->model);
	if (recorder->model != NULL) {
		knModel_Release(recorder->model);
		recorder->castIndex += 1;
	}
	recorder->model = view->model;
	return true;
}

void* knRecording_Open(const knWriterOps* writer, const char* path, const knRecordView* view,
					   const knAllocator* allocator, knError* error) {
	Recorder* recorder = knAllocZero(allocator, sizeof(Recorder));
	if (recorder == NULL) {
		knFileError(error, KN_NO_MEMORY, path, "out of memory");
		return NULL;
	}
	recorder->allocator = *allocator;
	recorder->writer = writer;
	knMeshList_Init(&recorder->meshes, allocator);
	knLookList_Init(&recorder->looks, allocator);
	recorder->path = knCopyString(allocator, path);
	if (recorder->path == NULL || !followModel(recorder, view)) {
		knFileError(error, KN_NO_MEMORY, path, "out of memory");
		freeRecorder(recorder);
		return NULL;
	}
	recorder->self = writer->open(path, writer->live, &recorder->cast, allocator, error);
	if (recorder->self == NULL) {
		freeRecorder(recorder);
		return NULL;
	}
	return recorder;
}

knStatus knRecording_Write(void* self, const knRecordView* view, knError* error) {
	Recorder* recorder = self;
	const knState* state = view->state;
	if (!knState_IsFinite(state, view->model)) {
		return knFileError(error, KN_DIVERGED, recorder->path, "a state that is not finite is not recorded");
	}
	if (view->model != recorder->model && !followModel(recorder, view)) {
		return knFileError(error, KN_NO_MEMORY, recorder->path, "out of memory");
	}
	for (int b = 0; b < recorder->cast.bodyCount; ++b) {
		knFrame pose = state->pose[b + 1];
		knTwist velocity = state->velocity[b + 1];
		knBodyState body = { pose.p, pose.q, velocity.lin, velocity.ang };
		recorder->bodies[b] = body;
		recorder->active[b] = view->active != NULL && view->active(view->model, state, b + 1);
	}
	knCastFrame frame = {
		.cast = &recorder->cast,
		.castIndex = recorder->castIndex,
		.time = state->header->time,
		.step = state->header->step,
		.bodies = recorder->bodies,
		.active = view->active != NULL ? recorder->active : NULL,
	};
	return recorder->writer->write(recorder->self, &frame, error);
}

knStatus knRecording_Close(void* self, knError* error) {
	Recorder* recorder = self;
	knStatus status = recorder->writer->close(recorder->self, error);
	freeRecorder(recorder);
	return status;
}

void knRecording_Abandon(void* self) {
	Recorder* recorder = self;
	recorder->writer->abandon(recorder->self);
	freeRecorder(recorder);
}

void* knRecording_Writer(void* self) {
	const Recorder* recorder = self;
	return recorder->self;
}

// --- the table of formats --------------------------------------------------------------------------------

static void* openCsv(const char* path, const knRecordView* view, const knAllocator* allocator,
					 knError* error) {
	return knRecording_Open(&knCsvWriter, path, view, allocator, error);
}

static void* openKnt(const char* path, const knRecordView* view, const knAllocator* allocator,
					 knError* error) {
	return knRecording_Open(&knKntWriter, path, view, allocator, error);
}

static void* openGlb(const char* path, const knRecordView* view, const knAllocator* allocator,
					 knError* error) {
	return knRecording_Open(&knGlbWriter, path, view, allocator, error);
}

const knRecorderOps knCsvRecorder = { ".csv", openCsv, knRecording_Write, knRecording_Close,
									  knRecording_Abandon };
const knRecorderOps knKntRecorder = { ".knt", openKnt, knRecording_Write, knRecording_Close,
									  knRecording_Abandon };
const knRecorderOps knGlbRecorder = { ".glb", openGlb, knRecording_Write, knRecording_Close,
									  knRecording_Abandon };

typedef struct Format {
	const knRecorderOps* recorder;
	const knWriterOps* writer;
} Format;

static const Format FORMATS[] = {
	{ &knCsvRecorder, &knCsvWriter },
	{ &knKntRecorder, &knKntWriter },
	{ &knGlbRecorder, &knGlbWriter },
};
#define FORMAT_COUNT ((int)(sizeof(FORMATS) / sizeof(FORMATS[0])))

static char lower(char c) {
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

// Extensions in the table are lower case.
static bool endsWith(const char* path, const char* extension) {
	size_t pathLength = strlen(path), length = strlen(extension);
	if (pathLength < length) {
		return false;
	}
	for (size_t k = 0; k < length; ++k) {
		if (lower(path[pathLength - length + k]) != extension[k]) {
			return false;
		}
	}
	return true;
}

static const Format* findFormat(const char* path, knError* error) {
	char known[128] = "";
	for (int k = 0; k < FORMAT_COUNT; ++k) {
		const char* extension = FORMATS[k].recorder->extension;
		if (endsWith(path, extension)) {
			return &FORMATS[k];
		}
		size_t used = strlen(known);
		snprintf(known + used, sizeof(known) - used, "%s%s", k > 0 ? ", " : "", extension);
	}
	knFileError(error, KN_UNSUPPORTED, path, "no recording format has this extension; known are %s", known);
	return NULL;
}

const knRecorderOps* knRecorderOps_ForPath(const char* path, knError* error) {
	const Format* format = findFormat(path, error);
	return format != NULL ? format->recorder : NULL;
}

const knWriterOps* knWriterOps_ForPath(const char* path, knError* error) {
	const Format* format = findFormat(path, error);
	return format != NULL ? format->writer : NULL;
}
