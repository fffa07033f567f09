// Stepping, snapshots and going back (session.h).
#include "session.h"

#include <string.h>

#include "core/alloc.h"

// Memory for snapshots; a browser gives a page some gigabytes, phones less.
#define SNAPSHOT_BYTES ((size_t)192 << 20)

// --- snapshots -----------------------------------------------------------------------------------------------------

static knStatus noMemory(knError* error) {
	return knError_Set(error, KN_NO_MEMORY, "session", "out of memory");
}

static void freeSnapshot(knSession* session, knSnapshot* snapshot) {
	knAllocator allocator = knAllocator_Default();
	knFree(&allocator, snapshot->bytes, snapshot->size);
	knModel_Release(snapshot->model);
	session->held -= snapshot->size;
}

// Keeps the snapshots that `wanted` says; the first stays always.
static void keepSnapshots(knSession* session, bool (*wanted)(const knSession*, const knSnapshot*)) {
	int kept = 0;
	for (int i = 0; i < session->snapshots.count; ++i) {
		knSnapshot* snapshot = &session->snapshots.items[i];
		if (i == 0 || wanted(session, snapshot)) {
			session->snapshots.items[kept++] = *snapshot;
		} else {
			freeSnapshot(session, snapshot);
		}
	}
	session->snapshots.count = kept;
}

static bool isRecent(const knSession* session, const knSnapshot* snapshot) {
	return (double)(session->latest - snapshot->step) * session->scene.dt <= KN_SESSION_KEPT;
}

static bool isRegular(const knSession* session, const knSnapshot* snapshot) {
	return snapshot->pinned || snapshot->step % session->every == 0;
}

static bool isPast(const knSession* session, const knSnapshot* snapshot) {
	return snapshot->step < knSession_Step(session);
}

static knStatus takeSnapshot(knSession* session, bool pinned, knError* error) {
	knAllocator allocator = knAllocator_Default();
	knSnapshot snapshot = { .step = knSession_Step(session),
							.pinned = pinned,
							.model = knWorld_Model(session->world),
							.size = knWorld_StateSize(session->world) };
	snapshot.bytes = knAlloc(&allocator, snapshot.size);
	if (snapshot.bytes == NULL || knWorld_Save(session->world, snapshot.bytes, snapshot.size) != KN_OK ||
		!KN_ARRAY_PUSH(&allocator, &session->snapshots, snapshot)) {
		knFree(&allocator, snapshot.bytes, snapshot.size);
		return noMemory(error);
	}
	knModel_Retain(snapshot.model);
	session->held += snapshot.size;
	keepSnapshots(session, isRecent);
	while (session->held > SNAPSHOT_BYTES && session->every < (int64_t)1 << 40) {
		session->every *= 2;
		keepSnapshots(session, isRegular);
	}
	return KN_OK;
}

// Of an edited model a world has to be made anew.
static knStatus restore(knSession* session, const knSnapshot* snapshot, knError* error) {
	if (snapshot->model != knWorld_Model(session->world)) {
		knWorld* world = knWorld_Create(snapshot->model, &session->def, error);
		if (world == NULL) {
			return error->status;
		}
		knWorld_Destroy(session->world);
		session->world = world;
	}
	return knWorld_Restore(session->world, snapshot->bytes, snapshot->size, error);
}

static void forgetDrags(knSession* session, int64_t from) {
	while (session->drags.count > 0 && session->drags.items[session->drags.count - 1].step >= from) {
		session->drags.count -= 1;
	}
}

knStatus knSession_Edited(knSession* session, knError* error) {
	session->latest = knSession_Step(session);
	forgetDrags(session, session->latest);
	if (session->latest > 0) {
		keepSnapshots(session, isPast);
		return takeSnapshot(session, true, error);
	}
	// the start itself was changed
	while (session->snapshots.count > 0) {
		freeSnapshot(session, &session->snapshots.items[--session->snapshots.count]);
	}
	return takeSnapshot(session, true, error);
}

// --- opening -------------------------------------------------------------------------------------------------------

static bool start(knSession* session) {
	knError error = { 0 };
	const knModel* model = knModel_Create(session->scene.scene, &error);
	if (model == NULL) {
		cliFailWith(CLI_BAD_INPUT, &error);
		return false;
	}
	session->world = knWorld_Create(model, &session->def, &error);
	knModel_Release(model);
	if (session->world == NULL || takeSnapshot(session, true, &error) != KN_OK) {
		cliFailWith(CLI_BAD_INPUT, &error);
		return false;
	}
	return true;
}

static knSession* opened(knSession* session, const cliSceneRequest* request) {
	session->every = 1;
	session->def = knWorldDef_Default();
	session->def.stepper = request->stepper;
	session->def.clock = cliClock;
	if (!start(session)) {
		knSession_Close(session);
		return NULL;
	}
	return session;
}

static knSession* newSession(void) {
	knAllocator allocator = knAllocator_Default();
	knSession* session = knAllocZero(&allocator, sizeof(knSession));
	if (session == NULL) {
		cliFail(CLI_FAILED, "out of memory");
	}
	return session;
}

knSession* knSession_Open(const cliSceneRequest* request) {
	knSession* session = newSession();
	if (session != NULL && cliScene_Open(&session->scene, request) != CLI_DONE) {
		knSession_Close(session);
		return NULL;
	}
	return session != NULL ? opened(session, request) : NULL;
}

knSession* knSession_OpenBytes(const void* bytes, size_t size, const cliSceneRequest* request) {
	knError error = { 0 };
	knSession* session = newSession();
	knScene* scene = session != NULL ? knScene_FromBytes(bytes, size, NULL, &error) : NULL;
	if (session != NULL && scene == NULL) {
		cliFailWith(CLI_BAD_INPUT, &error);
	}
	if (scene == NULL || cliScene_Adopt(&session->scene, scene, request) != CLI_DONE) {
		knSession_Close(session);
		return NULL;
	}
	return opened(session, request);
}

void knSession_Close(knSession* session) {
	if (session == NULL) {
		return;
	}
	knAllocator allocator = knAllocator_Default();
	while (session->snapshots.count > 0) {
		freeSnapshot(session, &session->snapshots.items[--session->snapshots.count]);
	}
	KN_ARRAY_FREE(&allocator, &session->snapshots);
	KN_ARRAY_FREE(&allocator, &session->drags);
	if (session->world != NULL) {
		knWorld_Destroy(session->world);
	}
	cliScene_Close(&session->scene);
	knFree(&allocator, session, sizeof(knSession));
}

knWorld* knSession_World(knSession* session) {
	return session->world;
}

double knSession_Dt(const knSession* session) {
	return session->scene.dt;
}

int64_t knSession_Step(const knSession* session) {
	return (int64_t)knWorld_StepCount(session->world);
}

int64_t knSession_Oldest(const knSession* session) {
	return session->snapshots
		.items[session->snapshots.count > 1 && !isRecent(session, &session->snapshots.items[0]) ? 1 : 0]
		.step;
}

int64_t knSession_Latest(const knSession* session) {
	return session->latest;
}

// --- stepping ------------------------------------------------------------------------------------------------------

static knStatus stepWorld(knSession* session, const knSessionDrag* drag, knError* error) {
	const knSceneEntry* entry = session->scene.entry;
	if (entry != NULL && entry->script != NULL) {
		entry->script(session->world, &session->scene.args);
	}
	if (drag != NULL) {
		knSession_Pull(session, drag);
	}
	return knWorld_Step(session->world, session->scene.dt, error);
}

static const knSessionDrag* dragAt(const knSession* session, int64_t step) {
	int low = 0, high = session->drags.count;
	while (low < high) {
		int middle = (low + high) / 2;
		if (session->drags.items[middle].step < step) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	bool found = low < session->drags.count && session->drags.items[low].step == step;
	return found ? &session->drags.items[low] : NULL;
}

// The state that an edit made at this step, NULL: none was made.
static const knSnapshot* editAt(const knSession* session, int64_t step) {
	for (int i = session->snapshots.count - 1; i >= 0 && session->snapshots.items[i].step >= step; --i) {
		if (session->snapshots.items[i].step == step && session->snapshots.items[i].pinned) {
			return &session->snapshots.items[i];
		}
	}
	return NULL;
}

// In the past, the edits that were made there are made again.
static knStatus advance(knSession* session, knError* error) {
	int64_t next = knSession_Step(session) + 1;
	knStatus status = stepWorld(session, dragAt(session, next - 1), error);
	if (status != KN_OK) {
		return status;
	}
	const knSnapshot* edit = next <= session->latest ? editAt(session, next) : NULL;
	if (edit != NULL) {
		return restore(session, edit, error);
	}
	if (next > session->latest) {
		session->latest = next;
		status = next % session->every == 0 ? takeSnapshot(session, false, error) : KN_OK;
	}
	return status;
}

knStatus knSession_Advance(knSession* session, knError* error) {
	int64_t step = knSession_Step(session);
	if (session->dragging) {
		knAllocator allocator = knAllocator_Default();
		if (step < session->latest) {
			knStatus status = knSession_Edited(session, error);
			if (status != KN_OK) {
				return status;
			}
		}
		session->drag.step = step;
		if (!KN_ARRAY_PUSH(&allocator, &session->drags, session->drag)) {
			return noMemory(error);
		}
	}
	knStatus status = advance(session, error);
	if (status != KN_OK) {
		forgetDrags(session, step);
	}
	return status;
}

knStatus knSession_Seek(knSession* session, int64_t step, knError* error) {
	int64_t oldest = knSession_Oldest(session);
	step = step < oldest ? oldest : step > session->latest ? session->latest : step;
	const knSnapshot* edit = editAt(session, step);
	if (edit != NULL) {
		return restore(session, edit, error);
	}
	// from before it, so that the last step's contacts and report are there too
	int from = 0;
	for (int i = 1; i < session->snapshots.count && session->snapshots.items[i].step < step; ++i) {
		from = i;
	}
	knStatus status = restore(session, &session->snapshots.items[from], error);
	while (status == KN_OK && knSession_Step(session) < step) {
		status = advance(session, error);
	}
	return status;
}
