// Recorders for users: bring every pose up to date, then show the world's model and state to the format's
// recorder.
#include "knuckle/record.h"

#include "record/output.h"
#include "record/recorder.h"
#include "world/record_view.h"
#include "world/world_internal.h"

struct knRecorder {
	knAllocator allocator;
	const knRecorderOps* ops;
	void* self; // the format's
};

knRecordView knWorld_RecordView(knWorld* world) {
	knWorld_SyncPoses(world);
	knRecordView view = { world->model, &world->state, knWorld_StepperName(world), world->ops->active };
	return view;
}

knRecorder* knRecorder_Open(const char* path, knWorld* world, const knAllocator* allocator, knError* error) {
	KN_ASSERT(path != NULL && world != NULL);
	if (path == NULL || world == NULL) {
		knError_Set(error, KN_BAD_ARGUMENT, "knRecorder_Open", "needs a path and a world");
		return NULL;
	}
	const knRecorderOps* ops = knRecorderOps_ForPath(path, error);
	if (ops == NULL) {
		return NULL;
	}
	knAllocator memory = allocator != NULL ? *allocator : knAllocator_Default();
	knRecorder* recorder = knAllocZero(&memory, sizeof(knRecorder));
	if (recorder == NULL) {
		knFileError(error, KN_NO_MEMORY, path, "out of memory");
		return NULL;
	}
	knRecordView view = knWorld_RecordView(world);
	recorder->allocator = memory;
	recorder->ops = ops;
	recorder->self = ops->open(path, &view, &memory, error);
	if (recorder->self == NULL) {
		knFree(&memory, recorder, sizeof(knRecorder));
		return NULL;
	}
	return recorder;
}

knStatus knRecorder_Write(knRecorder* recorder, knWorld* world, knError* error) {
	KN_ASSERT(recorder != NULL && world != NULL);
	if (recorder == NULL || world == NULL) {
		return knError_Set(error, KN_BAD_ARGUMENT, "knRecorder_Write", "needs a recorder and a world");
	}
	knRecordView view = knWorld_RecordView(world);
	return recorder->ops->write(recorder->self, &view, error);
}

knStatus knRecorder_Close(knRecorder* recorder, knError* error) {
	KN_ASSERT(recorder != NULL);
	if (recorder == NULL) {
		return knError_Set(error, KN_BAD_ARGUMENT, "knRecorder_Close", "needs a recorder");
	}
	knAllocator allocator = recorder->allocator;
	knStatus status = recorder->ops->close(recorder->self, error);
	knFree(&allocator, recorder, sizeof(knRecorder));
	return status;
}

void knRecorder_Abandon(knRecorder* recorder) {
	if (recorder == NULL) {
		return;
	}
	knAllocator allocator = recorder->allocator;
	recorder->ops->abandon(recorder->self);
	knFree(&allocator, recorder, sizeof(knRecorder));
}
