// Base of the public interface: version, visibility, status and errors, memory, log and task hooks.
//
// Errors (docs/guide.md, "Errors"): a function that can fail returns a status, a null id or a null
// pointer, and fills the knError that it is given (which may be NULL). The library never exits, never
// prints, and never leaves a half-made object. There is no process-wide state: allocator, log, clock and
// tasks are handed in by value where an object is created.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KN_VERSION_MAJOR 0
#define KN_VERSION_MINOR 1
#define KN_VERSION_PATCH 0
#define KN_VERSION_STRING "0.1.0"

#if defined(KN_BUILD_SHARED) && defined(__GNUC__)
#define KN_API __attribute__((visibility("default")))
#else
#define KN_API
#endif

#ifdef __cplusplus
#define KN_BEGIN_C extern "C" {
#define KN_END_C }
#else
#define KN_BEGIN_C
#define KN_END_C
#endif

#if defined(__GNUC__)
#define KN_PRINTF(formatIndex, firstIndex) __attribute__((format(printf, formatIndex, firstIndex)))
#else
#define KN_PRINTF(formatIndex, firstIndex)
#endif

KN_BEGIN_C

// What became of a call.
typedef enum knStatus {
	KN_OK = 0,
	KN_BAD_ARGUMENT, // the caller's bug: null pointer, stale id, dt <= 0; asserts in debug builds
	KN_BAD_DATA,     // the data's fault: negative mass, NaN, malformed file
	KN_LIMIT,        // a documented limit was exceeded (pairs, counts)
	KN_NO_MEMORY,    // the allocator returned NULL
	KN_IO,           // a file could not be read or written
	KN_UNSUPPORTED,  // well-formed, but this stepper, build or format cannot express it
	KN_DIVERGED,     // the simulation is no longer finite, or has grown or gone beyond all bounds
	KN_CANCELLED,    // a progress callback asked to give up
} knStatus;

// A short lower-case word for a status ("ok", "bad data", ...).
KN_API const char* knStatus_Name(knStatus status);

// Where and why. Fields that do not apply are zero or empty.
typedef struct knError {
	knStatus status;
	int line;          // 1-based, 0 if not from a file
	int column;        // 1-based, 0 if not from a file
	char file[256];    // file name as the caller gave it
	char element[96];  // the named thing: "body 'crank'", "<geom>", "--dt"
	char message[416]; // one sentence
} knError;

// Fills `error` (may be NULL) and returns `status`, so that `return knError_Set(...)` reads well.
KN_API knStatus knError_Set(knError* error, knStatus status, const char* element, const char* format, ...)
	KN_PRINTF(4, 5);

// Writes "file:line:column: element: message" without the parts that are empty. Returns `text`.
KN_API const char* knError_Format(const knError* error, char* text, size_t capacity);

// Memory. `allocate` returns `size` bytes aligned to 64, or NULL; `release` gets the same size back.
typedef struct knAllocator {
	void* (*allocate)(size_t size, void* context);
	void (*release)(void* memory, size_t size, void* context);
	void* context;
} knAllocator;

// malloc and free.
KN_API knAllocator knAllocator_Default(void);

typedef enum knLogLevel { KN_LOG_DEBUG, KN_LOG_INFO, KN_LOG_WARNING, KN_LOG_ERROR } knLogLevel;
typedef void knLogFn(knLogLevel level, const char* message, void* context);

// Where log lines go; a zeroed struct is silent.
typedef struct knLog {
	knLogFn* fn;
	void* context;
	knLogLevel threshold; // lines below are not formatted
} knLog;

// Seconds from any fixed origin. Used only for the timings in knStepReport, never for results.
typedef double knClockFn(void* context);

// A parallel loop body: handles items [begin, end) on worker 0 <= worker < workerCount.
typedef void knTaskFn(int begin, int end, int worker, void* argument);

// Runs fn over [0, count) in ranges of at least `grain` items and returns when all are done.
typedef void knParallelForFn(int count, int grain, knTaskFn* fn, void* argument, void* context);

// A user's task system, or the built-in pool. Zeroed: everything runs on the calling thread.
typedef struct knTasks {
	int workerCount; // workers that may run at once; 0 means 1
	knParallelForFn* parallelFor;
	void* context;
} knTasks;

// The built-in pool of threads. `threads` counts the calling thread; 1 makes no thread at all.
typedef struct knTaskPool knTaskPool;
KN_API knTaskPool* knTaskPool_Create(int threads, const knAllocator* allocator, knError* error);
KN_API void knTaskPool_Destroy(knTaskPool* pool);
KN_API knTasks knTaskPool_Tasks(knTaskPool* pool);

KN_END_C
