// Replay pages: a recording in base64 takes the place of the marker in the page's template. A running world is followed
// by a recorder over a writer of our own (record/writer.h), a file read back feeds the same writer.
#include <string.h>

#include "knuckle/io.h"
#include "page_store.h"
#include "page_template.h"
#include "world/record_view.h"

#define MARKER "@KNUCKLE-RECORDING@"

// What the writer holds.
typedef struct PageFile {
	knPageStore store;
	knOutput output;
} PageFile;

struct knPage {
	knAllocator allocator;
	void* recording;
	PageFile* file; // the recording's
};

// --- the writer --------------------------------------------------------------------------------------------------

static knStatus noMemory(knError* error, const PageFile* file) {
	return knFileError(error, KN_NO_MEMORY, file->output.path, "out of memory");
}

static void freeFile(PageFile* file) {
	knAllocator allocator = file->store.allocator;
	knPageStore_Free(&file->store);
	knFree(&allocator, file, sizeof(PageFile));
}

static void* openFile(const char* path, knOutputMode mode, const knSceneSnapshot* cast,
					  const knAllocator* allocator, knError* error) {
	(void)cast;
	if (!knPage_Available()) {
		knFileError(error, KN_UNSUPPORTED, path,
					"this build has no replay page; install nodejs and npm, then configure and build again");
		return NULL;
	}
	PageFile* file = knAllocZero(allocator, sizeof(PageFile));
	if (file == NULL) {
		knFileError(error, KN_NO_MEMORY, path, "out of memory");
		return NULL;
	}
	knPageStore_Init(&file->store, allocator);
	if (knOutput_Open(&file->output, path, mode, allocator, error) != KN_OK) {
		freeFile(file);
		return NULL;
	}
	return file;
}

static knStatus writeFile(void* self, const knCastFrame* frame, knError* error) {
	PageFile* file = self;
	return knPageStore_AddFrame(&file->store, frame) ? KN_OK : noMemory(error, file);
}

static void abandonFile(void* self) {
	PageFile* file = self;
	knOutput_Abandon(&file->output);
	freeFile(file);
}

static knStatus writeBase64(knOutput* output, const uint8_t* bytes, size_t size, knError* error) {
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char text[4096];
	size_t filled = 0;
	for (size_t i = 0; i < size; i += 3) {
		size_t left = size - i;
		uint32_t group = (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0u) |
						 (left > 2 ? (uint32_t)bytes[i + 2] : 0u);
		text[filled++] = letters[group >> 18];
		text[filled++] = letters[group >> 12 & 63];
		text[filled++] = left > 1 ? letters[group >> 6 & 63] : '=';
		text[filled++] = left > 2 ? letters[group & 63] : '=';
		if (filled == sizeof(text) || left <= 3) {
			knStatus status = knOutput_Write(output, text, filled, error);
			if (status != KN_OK) {
				return status;
			}
			filled = 0;
		}
	}
	return KN_OK;
}

// The template's marker is its last one: the script before it may well speak of it.
static const char* findMarker(void) {
	size_t length = strlen(MARKER);
	for (size_t at = knPageTemplateSize; at >= length; --at) {
		if (memcmp(knPageTemplate + at - length, MARKER, length) == 0) {
			return knPageTemplate + at - length;
		}
	}
	return NULL;
}

static knStatus writePage(PageFile* file, knError* error) {
	knPageBytes bytes = { 0 };
	const char* marker = findMarker();
	KN_ASSERT(marker != NULL);
	if (!knPageStore_EndSeries(&file->store)) {
		return noMemory(error, file);
	}
	knStatus status = knPageStore_Encode(&file->store, &bytes, error);
	if (status == KN_OK) {
		status = knOutput_Write(&file->output, knPageTemplate, (size_t)(marker - knPageTemplate), error);
	}
	if (status == KN_OK) {
		status = writeBase64(&file->output, bytes.items, (size_t)bytes.count, error);
	}
	if (status == KN_OK) {
		const char* rest = marker + strlen(MARKER);
		size_t size = knPageTemplateSize - (size_t)(rest - knPageTemplate);
		status = knOutput_Write(&file->output, rest, size, error);
	}
	KN_ARRAY_FREE(&file->store.allocator, &bytes);
	return status;
}

static knStatus closeFile(void* self, knError* error) {
	PageFile* file = self;
	knStatus status = writePage(file, error);
	if (status != KN_OK) {
		abandonFile(file);
		return status;
	}
	status = knOutput_Finish(&file->output, error);
	freeFile(file);
	return status;
}

static const knWriterOps pageWriter = {
	.extension = ".html",
	.live = KN_OUTPUT_STAGED,
	.open = openFile,
	.write = writeFile,
	.close = closeFile,
	.abandon = abandonFile,
};

// --- of a running world ------------------------------------------------------------------------------------------

knPageDef knPageDef_Default(void) {
	knPageDef def = { 0 };
	return def;
}

bool knPage_Available(void) {
	return knPageTemplateSize > 0;
}

static knStatus useDef(PageFile* file, const knPageDef* def, knError* error) {
	knPageStore* store = &file->store;
	store->title = knCopyString(&store->allocator, def->title);
	store->note = knCopyString(&store->allocator, def->note);
	bool lost = (def->title != NULL && store->title == NULL) || (def->note != NULL && store->note == NULL);
	return lost ? noMemory(error, file) : KN_OK;
}

knPage* knPage_Open(const char* path, knWorld* world, const knPageDef* def, knError* error) {
	KN_ASSERT(path != NULL && world != NULL);
	if (path == NULL || world == NULL) {
		knError_Set(error, KN_BAD_ARGUMENT, "knPage_Open", "needs a path and a world");
		return NULL;
	}
	knPageDef used = def != NULL ? *def : knPageDef_Default();
	knAllocator allocator = used.allocator != NULL ? *used.allocator : knAllocator_Default();
	knPage* page = knAllocZero(&allocator, sizeof(knPage));
	if (page == NULL) {
		knFileError(error, KN_NO_MEMORY, path, "out of memory");
		return NULL;
	}
	page->allocator = allocator;
	knRecordView view = knWorld_RecordView(world);
	page->recording = knRecording_Open(&pageWriter, path, &view, &allocator, error);
	if (page->recording == NULL) {
		knFree(&allocator, page, sizeof(knPage));
		return NULL;
	}
	page->file = knRecording_Writer(page->recording);
	if (useDef(page->file, &used, error) != KN_OK) {
		knPage_Abandon(page);
		return NULL;
	}
	return page;
}

knStatus knPage_Write(knPage* page, knWorld* world, knError* error) {
	KN_ASSERT(page != NULL && world != NULL);
	if (page == NULL || world == NULL) {
		return knError_Set(error, KN_BAD_ARGUMENT, "knPage_Write", "needs a page and a world");
	}
	knRecordView view = knWorld_RecordView(world);
	return knRecording_Write(page->recording, &view, error);
}

int knPage_AddSeries(knPage* page, const char* plot, const char* name, const char* unit, knError* error) {
	KN_ASSERT(page != NULL && plot != NULL && name != NULL && unit != NULL);
	if (page == NULL || plot == NULL || name == NULL || unit == NULL) {
		knError_Set(error, KN_BAD_ARGUMENT, "knPage_AddSeries", "needs a page, a plot, a name and a unit");
		return -1;
	}
	int series = knPageStore_AddSeries(&page->file->store, plot, name, unit);
	if (series < 0) {
		noMemory(error, page->file);
	}
	return series;
}

knStatus knPage_AddSample(knPage* page, int series, double time, double value, knError* error) {
	bool good = page != NULL && series >= 0 && series < page->file->store.series.count;
	KN_ASSERT(good);
	if (!good) {
		return knError_Set(error, KN_BAD_ARGUMENT, "knPage_AddSample", "needs a page and one of its series");
	}
	if (!knIsFinite(time) || !knIsFinite(value)) {
		return KN_OK; // a gap in the curve
	}
	knPagePoint point = { time, value };
	return knPageStore_AddSample(&page->file->store, series, point) ? KN_OK : noMemory(error, page->file);
}

knStatus knPage_AddFact(knPage* page, const char* label, const char* value, knError* error) {
	KN_ASSERT(page != NULL && label != NULL && value != NULL);
	if (page == NULL || label == NULL || value == NULL) {
		return knError_Set(error, KN_BAD_ARGUMENT, "knPage_AddFact", "needs a page, a label and a value");
	}
	return knPageStore_AddFact(&page->file->store, label, value) ? KN_OK : noMemory(error, page->file);
}

knStatus knPage_Close(knPage* page, knError* error) {
	KN_ASSERT(page != NULL);
	if (page == NULL) {
		return knError_Set(error, KN_BAD_ARGUMENT, "knPage_Close", "needs a page");
	}
	knAllocator allocator = page->allocator;
	knStatus status = knRecording_Close(page->recording, error);
	knFree(&allocator, page, sizeof(knPage));
	return status;
}

void knPage_Abandon(knPage* page) {
	if (page == NULL) {
		return;
	}
	knAllocator allocator = page->allocator;
	knRecording_Abandon(page->recording);
	knFree(&allocator, page, sizeof(knPage));
}

// --- of a recorded run -------------------------------------------------------------------------------------------

enum { CURVE_DISPLACEMENT, CURVE_SPEED, CURVE_KINETIC, CURVE_COUNT };

static bool addCurves(knPageStore* store) {
	return knPageStore_AddSeries(store, "displacement", "largest", "m") == CURVE_DISPLACEMENT &&
		   knPageStore_AddSeries(store, "speed", "fastest", "m/s") == CURVE_SPEED &&
		   knPageStore_AddSeries(store, "energy of travel", "all", "J") == CURVE_KINETIC;
}

// What a frame tells without inertias and joints. Displacement counts from the first frame, for as long as the cast is
// the first one.
static bool addMeasures(knPageStore* store, const knCastFrame* first, const knCastFrame* frame) {
	double values[CURVE_COUNT] = { 0.0 };
	for (int b = 0; b < frame->cast->bodyCount; ++b) {
		const knBodyState* body = &frame->bodies[b];
		double speed = knLength(body->velocity);
		values[CURVE_SPEED] = knMax(values[CURVE_SPEED], speed);
		if (frame->castIndex == first->castIndex) {
			double moved = knDistance(body->position, first->bodies[b].position);
			values[CURVE_DISPLACEMENT] = knMax(values[CURVE_DISPLACEMENT], moved);
		}
		if (frame->cast->bodies[b].kind == KN_BODY_DYNAMIC) {
			values[CURVE_KINETIC] += 0.5 * frame->cast->bodies[b].mass * speed * speed;
		}
	}
	for (int k = 0; k < CURVE_COUNT; ++k) {
		knPagePoint point = { frame->time, values[k] };
		bool known = k != CURVE_DISPLACEMENT || frame->castIndex == first->castIndex;
		if (known && knIsFinite(values[k]) && !knPageStore_AddSample(store, k, point)) {
			return false;
		}
	}
	return true;
}

// With `fps`, one frame for each of its ticks: the one nearest to it.
static bool isWanted(const knTrajectory* trajectory, int frame, double fps) {
	double before = frame > 0 ? knTrajectory_Time(trajectory, frame - 1) : 0.0;
	double time = knTrajectory_Time(trajectory, frame), start = knTrajectory_Time(trajectory, 0);
	if (fps <= 0.0 || frame == 0) {
		return true;
	}
	return floor((time - start) * fps + 0.5 + 1e-9) > floor((before - start) * fps + 0.5 + 1e-9);
}

static knStatus fillPage(const knTrajectory* trajectory, PageFile* file, double fps, knError* error) {
	knPageStore* store = &file->store;
	if (!addCurves(store)) {
		return noMemory(error, file);
	}
	for (int f = 0; f < knTrajectory_FrameCount(trajectory); ++f) {
		knCastFrame first = knTrajectory_CastFrame(trajectory, 0);
		knCastFrame frame = knTrajectory_CastFrame(trajectory, f);
		bool wanted = isWanted(trajectory, f, fps);
		if (!addMeasures(store, &first, &frame) || (wanted && !knPageStore_AddFrame(store, &frame))) {
			return noMemory(error, file);
		}
	}
	return KN_OK;
}

knStatus knPage_FromTrajectory(const knTrajectory* trajectory, const char* path, const knPageDef* def,
							   knError* error) {
	KN_ASSERT(trajectory != NULL && path != NULL);
	if (trajectory == NULL || path == NULL) {
		return knError_Set(error, KN_BAD_ARGUMENT, "knPage_FromTrajectory", "needs a trajectory and a path");
	}
	knError local = { 0 };
	knError* why = error != NULL ? error : &local;
	knPageDef used = def != NULL ? *def : knPageDef_Default();
	knAllocator allocator = used.allocator != NULL ? *used.allocator : knAllocator_Default();
	if (knTrajectory_FrameCount(trajectory) == 0) {
		return knFileError(why, KN_BAD_DATA, path, "the recording has no frame to show");
	}
	PageFile* file = openFile(path, KN_OUTPUT_STAGED, NULL, &allocator, why);
	if (file == NULL) {
		return why->status;
	}
	knStatus status = useDef(file, &used, why);
	if (status == KN_OK) {
		status = fillPage(trajectory, file, used.fps, why);
	}
	if (status != KN_OK) {
		abandonFile(file);
		return status;
	}
	return closeFile(file, why);
}
