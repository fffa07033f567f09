// Parallel loops: the hook to the user's task system, and the built-in pool.
//
// A loop is cut into chunks, and these into one share for each worker: the calling thread (0) and the pool's threads
// (1, 2, ...). A worker runs the chunks of its own share, then those that others have left over; so in loops over the
// same data it finds in its cache what it wrote before. A share's `ticket` holds the loop's number in its upper and the
// chunks left in its lower half. A thread reads the ticket, then the loop's fields, then claims a chunk by
// compare-and-swap. The fields change only while no chunk is left, and a ticket's number changes before it has chunks
// again, so a claim that succeeds saw the fields of its own loop; a thread that read others merely fails. The caller
// returns when `unfinished` is zero, so all writes of the loop's body are visible to it.
//
// Idle threads look for a new loop again and again for some microseconds, then go on looking but offer their core to
// others in between, then (after a fraction of a millisecond: the serial parts of a step are shorter, the time between
// steps is longer) sleep on a condition variable; `sleepers` is raised before the last look at `loop`, and `loop`
// written before the look at `sleepers`, so no wake-up is lost. Loops from several threads queue up; a loop inside a
// loop runs on the thread that asks, under its number. WebAssembly has no threads: there everything runs on the
// caller.
#include "core/tasks.h"

#include "core/alloc.h"

enum { MOST_THREADS = 256 };

static int clampedGrain(int grain) {
	return grain < 1 ? 1 : grain;
}

static void poolFor(int count, int grain, knTaskFn* fn, void* argument, void* context);
static int poolWorker(knTaskPool* pool);

int knTasks_WorkerCount(const knTasks* tasks) {
	return tasks != NULL && tasks->parallelFor != NULL && tasks->workerCount > 1 ? tasks->workerCount : 1;
}

void knTasks_For(const knTasks* tasks, int count, int grain, knTaskFn* fn, void* argument) {
	KN_ASSERT(fn != NULL && count >= 0);
	if (count <= 0) {
		return;
	}
	if (knTasks_WorkerCount(tasks) > 1 && count / 2 >= clampedGrain(grain)) {
		tasks->parallelFor(count, clampedGrain(grain), fn, argument, tasks->context);
		return;
	}
	// a short loop inside a loop keeps the worker's number, for bodies with a slot for each worker
	bool pool = tasks != NULL && tasks->parallelFor == poolFor;
	fn(0, count, pool ? poolWorker(tasks->context) : 0, argument);
}

static bool checkThreads(int threads, knError* error) {
	if (threads < 1 || threads > MOST_THREADS) {
		knError_Set(error, KN_BAD_ARGUMENT, "threads", "the number of threads is %d; it must be from 1 to %d",
					threads, MOST_THREADS);
		return false;
	}
	return true;
}

#if defined(__wasi__) || defined(__wasm__)

struct knTaskPool {
	knAllocator allocator;
};

static void poolFor(int count, int grain, knTaskFn* fn, void* argument, void* context) {
	(void)grain;
	(void)context;
	fn(0, count, 0, argument);
}

static int poolWorker(knTaskPool* pool) {
	(void)pool;
	return 0;
}

knTaskPool* knTaskPool_Create(int threads, const knAllocator* allocator, knError* error) {
	if (!checkThreads(threads, error)) {
		return NULL;
	}
	knAllocator memory = allocator != NULL ? *allocator : knAllocator_Default();
	knTaskPool* pool = knAllocZero(&memory, sizeof *pool);
	if (pool == NULL) {
		knError_Set(error, KN_NO_MEMORY, "threads", "out of memory for the task pool");
		return NULL;
	}
	pool->allocator = memory;
	return pool;
}

void knTaskPool_Destroy(knTaskPool* pool) {
	if (pool != NULL) {
		knAllocator memory = pool->allocator;
		knFree(&memory, pool, sizeof *pool);
	}
}

knTasks knTaskPool_Tasks(knTaskPool* pool) {
	knTasks tasks = { 1, poolFor, pool };
	return tasks;
}

#else

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { SPINS = 1000, YIELDS = 1000, CHUNKS_PER_WORKER = 4 };

#define CACHE_LINE 64

typedef struct Worker {
	knTaskPool* pool;
	pthread_t thread; // worker 0 is whoever calls, and has none
	int number;
	_Atomic uintptr_t mark; // written by the thread itself when it starts
	char apart1[CACHE_LINE];
	_Atomic uint64_t ticket; // of its share: loop number, chunks left
	char apart2[CACHE_LINE];
} Worker;

struct knTaskPool {
	knAllocator allocator;
	int workerCount;
	int started;     // threads to join
	Worker* workers; // [workerCount]

	// the loop; written by poolFor while no chunk is left
	_Atomic(knTaskFn*) fn;
	_Atomic(void*) argument;
	atomic_int count;
	atomic_int chunkCount;
	_Atomic uintptr_t owner; // mark of the thread whose loop runs, 0 if none
	char apart1[CACHE_LINE]; // what idle threads look at stands by itself, what all write too

	_Atomic uint64_t loop; // its number
	char apart2[CACHE_LINE];

	atomic_int unfinished; // chunks claimed or not, whose body has not returned
	char apart3[CACHE_LINE];

	pthread_mutex_t callers; // held during a loop
	pthread_mutex_t sleep;   // guards the two conditions
	pthread_cond_t work;     // there is a loop, or the pool ends
	pthread_cond_t done;     // unfinished is zero
	atomic_int sleepers;
	atomic_bool callerSleeps;
	atomic_bool ending;
};

// A number that no other living thread has: the address of a variable of its own. The variable is never
// written.
static uintptr_t threadMark(void) {
	static _Thread_local char mark;
	return (uintptr_t)&mark;
}

static void pauseBriefly(void) {
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

static uint32_t chunksLeft(uint64_t ticket) {
	return (uint32_t)ticket;
}

// Where a worker's share of a loop's chunks begins.
static int64_t shareBegin(const knTaskPool* pool, int64_t chunkCount, int number) {
	return chunkCount * number / pool->workerCount;
}

// Claims and runs chunks of one share until none is left; returns how many.
static int runShare(knTaskPool* pool, int share, int worker) {
	_Atomic uint64_t* place = &pool->workers[share].ticket;
	uint64_t ticket = atomic_load(place);
	int done = 0;
	while (chunksLeft(ticket) > 0) {
		knTaskFn* fn = atomic_load_explicit(&pool->fn, memory_order_relaxed);
		void* argument = atomic_load_explicit(&pool->argument, memory_order_relaxed);
		int64_t count = atomic_load_explicit(&pool->count, memory_order_relaxed);
		int64_t chunkCount = atomic_load_explicit(&pool->chunkCount, memory_order_relaxed);
		if (!atomic_compare_exchange_weak(place, &ticket, ticket - 1)) {
			continue;
		}
		int64_t chunk = shareBegin(pool, chunkCount, share + 1) - chunksLeft(ticket);
		fn((int)(count * chunk / chunkCount), (int)(count * (chunk + 1) / chunkCount), worker, argument);
		done += 1;
		ticket = atomic_load(place);
	}
	return done;
}

// A worker's own share first. What was claimed is counted at the end: until then the loop cannot end.
static void runChunks(knTaskPool* pool, int worker) {
	int done = 0;
	for (int i = 0; i < pool->workerCount; ++i) {
		int share = worker + i;
		done += runShare(pool, share < pool->workerCount ? share : share - pool->workerCount, worker);
	}
	// the last one wakes the caller, if it has given up spinning
	if (done > 0 && atomic_fetch_sub(&pool->unfinished, done) == done && atomic_load(&pool->callerSleeps)) {
		pthread_mutex_lock(&pool->sleep);
		pthread_cond_broadcast(&pool->done);
		pthread_mutex_unlock(&pool->sleep);
	}
}

// Whether there has been a new loop since number `seen`.
static bool hasWork(knTaskPool* pool, uint64_t seen) {
	return atomic_load(&pool->loop) != seen || atomic_load(&pool->ending);
}

// Waits before the `turn`th look; false when there have been enough.
static bool waitAwake(int turn) {
	if (turn < SPINS) {
		pauseBriefly();
	} else {
		sched_yield();
	}
	return turn < SPINS + YIELDS;
}

static void awaitWork(knTaskPool* pool, uint64_t seen) {
	for (int turn = 0; waitAwake(turn); ++turn) {
		if (hasWork(pool, seen)) {
			return;
		}
	}
	pthread_mutex_lock(&pool->sleep);
	atomic_fetch_add(&pool->sleepers, 1);
	while (!hasWork(pool, seen)) {
		pthread_cond_wait(&pool->work, &pool->sleep);
	}
	atomic_fetch_sub(&pool->sleepers, 1);
	pthread_mutex_unlock(&pool->sleep);
}

static void* threadMain(void* argument) {
	Worker* worker = argument;
	knTaskPool* pool = worker->pool;
	atomic_store(&worker->mark, threadMark());
	uint64_t seen = 0;
	for (;;) {
		awaitWork(pool, seen);
		if (atomic_load(&pool->ending)) {
			return NULL;
		}
		seen = atomic_load(&pool->loop);
		runChunks(pool, worker->number);
	}
}

static void wakeThreads(knTaskPool* pool) {
	if (atomic_load(&pool->sleepers) > 0) {
		pthread_mutex_lock(&pool->sleep);
		pthread_cond_broadcast(&pool->work);
		pthread_mutex_unlock(&pool->sleep);
	}
}

static void awaitDone(knTaskPool* pool) {
	for (int turn = 0; waitAwake(turn); ++turn) {
		if (atomic_load(&pool->unfinished) == 0) {
			return;
		}
	}
	pthread_mutex_lock(&pool->sleep);
	atomic_store(&pool->callerSleeps, true);
	while (atomic_load(&pool->unfinished) != 0) {
		pthread_cond_wait(&pool->done, &pool->sleep);
	}
	atomic_store(&pool->callerSleeps, false);
	pthread_mutex_unlock(&pool->sleep);
}

// The number of the calling thread if it is inside a loop of this pool, else -1.
static int workerInLoop(knTaskPool* pool) {
	uintptr_t mark = threadMark();
	if (atomic_load(&pool->owner) == mark) {
		return 0;
	}
	for (int i = 1; i < pool->workerCount; ++i) {
		if (atomic_load(&pool->workers[i].mark) == mark) {
			return i;
		}
	}
	return -1;
}

static int poolWorker(knTaskPool* pool) {
	int worker = workerInLoop(pool);
	return worker < 0 ? 0 : worker;
}

static void poolFor(int count, int grain, knTaskFn* fn, void* argument, void* context) {
	knTaskPool* pool = context;
	int worker = workerInLoop(pool);
	int chunkCount = count / clampedGrain(grain);
	int most = pool->workerCount * CHUNKS_PER_WORKER;
	chunkCount = chunkCount > most ? most : chunkCount;
	if (worker >= 0 || chunkCount < 2 || pool->workerCount == 1) {
		if (count > 0) {
			fn(0, count, worker < 0 ? 0 : worker, argument);
		}
		return;
	}

	pthread_mutex_lock(&pool->callers);
	atomic_store(&pool->owner, threadMark());
	atomic_store_explicit(&pool->fn, fn, memory_order_relaxed);
	atomic_store_explicit(&pool->argument, argument, memory_order_relaxed);
	atomic_store_explicit(&pool->count, count, memory_order_relaxed);
	atomic_store_explicit(&pool->chunkCount, chunkCount, memory_order_relaxed);
	atomic_store(&pool->unfinished, chunkCount);
	uint64_t loop = atomic_load(&pool->loop) + 1;
	for (int i = 0; i < pool->workerCount; ++i) {
		int64_t chunks = shareBegin(pool, chunkCount, i + 1) - shareBegin(pool, chunkCount, i);
		atomic_store_explicit(&pool->workers[i].ticket, loop << 32 | (uint32_t)chunks, memory_order_release);
	}
	atomic_store(&pool->loop, loop);

	wakeThreads(pool);
	runChunks(pool, 0);
	awaitDone(pool);
	atomic_store(&pool->owner, 0);
	pthread_mutex_unlock(&pool->callers);
}

// Ends what has been started, in any state of completion after initPool.
static void endPool(knTaskPool* pool) {
	atomic_store(&pool->ending, true);
	pthread_mutex_lock(&pool->sleep);
	pthread_cond_broadcast(&pool->work);
	pthread_mutex_unlock(&pool->sleep);
	for (int i = 0; i < pool->started; ++i) {
		pthread_join(pool->workers[i + 1].thread, NULL);
	}
	pthread_cond_destroy(&pool->done);
	pthread_cond_destroy(&pool->work);
	pthread_mutex_destroy(&pool->sleep);
	pthread_mutex_destroy(&pool->callers);
	knAllocator memory = pool->allocator;
	knFree(&memory, pool->workers, (size_t)pool->workerCount * sizeof *pool->workers);
	knFree(&memory, pool, sizeof *pool);
}

static void initPool(knTaskPool* pool, int threads, const knAllocator* memory) {
	pool->allocator = *memory;
	pool->workerCount = threads;
	atomic_init(&pool->fn, NULL);
	atomic_init(&pool->argument, NULL);
	atomic_init(&pool->count, 0);
	atomic_init(&pool->chunkCount, 0);
	atomic_init(&pool->loop, 0);
	atomic_init(&pool->unfinished, 0);
	atomic_init(&pool->owner, 0);
	atomic_init(&pool->sleepers, 0);
	atomic_init(&pool->callerSleeps, false);
	atomic_init(&pool->ending, false);
	pthread_mutex_init(&pool->callers, NULL);
	pthread_mutex_init(&pool->sleep, NULL);
	pthread_cond_init(&pool->work, NULL);
	pthread_cond_init(&pool->done, NULL);
}

static bool startThreads(knTaskPool* pool) {
	for (int i = 0; i < pool->workerCount; ++i) {
		Worker* worker = &pool->workers[i];
		worker->pool = pool;
		worker->number = i;
		atomic_init(&worker->mark, 0);
		atomic_init(&worker->ticket, 0);
	}
	for (int i = 1; i < pool->workerCount; ++i) {
		if (pthread_create(&pool->workers[i].thread, NULL, threadMain, &pool->workers[i]) != 0) {
			return false;
		}
		pool->started += 1;
	}
	return true;
}

knTaskPool* knTaskPool_Create(int threads, const knAllocator* allocator, knError* error) {
	if (!checkThreads(threads, error)) {
		return NULL;
	}
	knAllocator memory = allocator != NULL ? *allocator : knAllocator_Default();
	knTaskPool* pool = knAllocZero(&memory, sizeof *pool);
	size_t size = (size_t)threads * sizeof *pool->workers;
	Worker* workers = knAllocZero(&memory, size);
	if (pool == NULL || workers == NULL) {
		knFree(&memory, pool, sizeof *pool);
		knFree(&memory, workers, size);
		knError_Set(error, KN_NO_MEMORY, "threads", "out of memory for a pool of %d threads", threads);
		return NULL;
	}
	initPool(pool, threads, &memory);
	pool->workers = workers;
	if (!startThreads(pool)) {
		knError_Set(error, KN_LIMIT, "threads", "the system refused to start %d threads", threads);
		endPool(pool);
		return NULL;
	}
	return pool;
}

void knTaskPool_Destroy(knTaskPool* pool) {
	if (pool != NULL) {
		endPool(pool);
	}
}

knTasks knTaskPool_Tasks(knTaskPool* pool) {
	KN_ASSERT(pool != NULL);
	knTasks tasks = { pool != NULL ? pool->workerCount : 1, pool != NULL ? poolFor : NULL, pool };
	return tasks;
}

#endif
