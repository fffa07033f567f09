// Recorders over a model and state (src/world wraps these for users). A format is a row in a table: its
// extension and four functions.
#pragma once

#include "knuckle/record.h"
#include "model/state.h"

// What a recorder is shown: everything it may write, nothing else.
typedef struct knRecordView {
	const knModel* model;
	const knState* state;
	const char* stepper;
	// whether a body moves by itself; NULL: the stepper freezes none
	bool (*active)(const knModel* model, const knState* state, int body);
} knRecordView;

typedef struct knRecorderOps {
	const char* extension; // ".csv"
	void* (*open)(const char* path, const knRecordView* view, const knAllocator* allocator, knError* error);
	knStatus (*write)(void* self, const knRecordView* view, knError* error);
	knStatus (*close)(void* self, knError* error);
	void (*abandon)(void* self);
} knRecorderOps;

// What the formats' recorders are made of, open to a writer (writer.h) outside of the table: follows the world's model
// and shows each frame to the writer.
typedef struct knWriterOps knWriterOps;
void* knRecording_Open(const knWriterOps* writer, const char* path, const knRecordView* view,
					   const knAllocator* allocator, knError* error);
knStatus knRecording_Write(void* self, const knRecordView* view, knError* error);
knStatus knRecording_Close(void* self, knError* error);
void knRecording_Abandon(void* self);
void* knRecording_Writer(void* self); // what the writer's `open` returned

extern const knRecorderOps knCsvRecorder;
extern const knRecorderOps knKntRecorder;
extern const knRecorderOps knGlbRecorder;

// By the path's extension (any case); NULL and KN_UNSUPPORTED listing the known ones.
const knRecorderOps* knRecorderOps_ForPath(const char* path, knError* error);
