// Parallel loops: every index exactly once, chunks no smaller than the grain, worker numbers exclusive,
// results the same for any number of threads, loops inside loops and loops from several threads. Meant to run
// under ThreadSanitizer too: the bodies write plain memory on purpose.
#include "support/kn_test.h"

#include "core/tasks.h"

#include <pthread.h>
#include <stdatomic.h>

enum { MOST_ITEMS = 20000, MOST_THREADS = 4 };

static knTaskPool* newPool(int threads) {
	knError error;
	knTaskPool* pool = knTaskPool_Create(threads, NULL, &error);
	if (pool == NULL) {
		fail_msg("%s", error.message);
	}
	return pool;
}

typedef struct Visits {
	int count, grain, workerCount;
	int visits[MOST_ITEMS];
	int itemsOfWorker[MOST_THREADS]; // plain: two threads with one number would race
	atomic_int faults;               // cmocka's checks work on the main thread only
} Visits;

static void visit(int begin, int end, int worker, void* argument) {
	Visits* v = argument;
	bool whole = begin == 0 && end == v->count;
	if (begin < 0 || end > v->count || begin >= end || worker < 0 || worker >= v->workerCount ||
		(end - begin < v->grain && !whole)) {
		atomic_fetch_add(&v->faults, 1);
		return;
	}
	for (int i = begin; i < end; ++i) {
		v->visits[i] += 1;
	}
	v->itemsOfWorker[worker] += end - begin;
}

static void checkVisits(const Visits* v) {
	int total = 0;
	assert_int_equal(v->faults, 0);
	for (int i = 0; i < MOST_ITEMS; ++i) {
		assert_int_equal(v->visits[i], i < v->count ? 1 : 0);
	}
	for (int w = 0; w < MOST_THREADS; ++w) {
		total += v->itemsOfWorker[w];
	}
	assert_int_equal(total, v->count);
}

static void every_index_once(void** state) {
	(void)state;
	static Visits v;
	const int counts[] = { 0, 1, 2, 3, 7, 63, 64, 65, 1000, MOST_ITEMS };
	const int grains[] = { 0, 1, 2, 10, 64, 5000, 100000 };
	for (int threads = 1; threads <= MOST_THREADS; ++threads) {
		knTaskPool* pool = newPool(threads);
		knTasks tasks = knTaskPool_Tasks(pool);
		assert_int_equal(knTasks_WorkerCount(&tasks), threads);
		for (int c = 0; c < 10; ++c) {
			for (int g = 0; g < 7; ++g) {
				memset(&v, 0, sizeof v);
				v.count = counts[c];
				v.grain = grains[g];
				v.workerCount = threads;
				knTasks_For(&tasks, v.count, v.grain, visit, &v);
				checkVisits(&v);
			}
		}
		knTaskPool_Destroy(pool);
	}
}

static void without_tasks(void** state) {
	(void)state;
	static Visits v;
	knTasks zeroed = { 0 };
	const knTasks* none[] = { NULL, &zeroed };
	for (int i = 0; i < 2; ++i) {
		memset(&v, 0, sizeof v);
		v.count = 1000;
		v.grain = 1000;
		v.workerCount = 1;
		assert_int_equal(knTasks_WorkerCount(none[i]), 1);
		knTasks_For(none[i], v.count, 1, visit, &v);
		checkVisits(&v);
	}
	knTaskPool_Destroy(NULL);
}

typedef struct Sums {
	double out[2000];
} Sums;

static void sumSeries(int begin, int end, int worker, void* argument) {
	(void)worker;
	Sums* sums = argument;
	for (int i = begin; i < end; ++i) {
		double sum = 0.0;
		for (int k = 1; k < 50; ++k) {
			sum += 1.0 / (i + k * 0.7);
		}
		sums->out[i] = sum;
	}
}

static void results_do_not_depend_on_threads(void** state) {
	(void)state;
	static Sums one, many;
	sumSeries(0, 2000, 0, &one);
	for (int threads = 1; threads <= MOST_THREADS; ++threads) {
		knTaskPool* pool = newPool(threads);
		knTasks tasks = knTaskPool_Tasks(pool);
		memset(&many, 0, sizeof many);
		knTasks_For(&tasks, 2000, 16, sumSeries, &many);
		assert_memory_equal(&one, &many, sizeof one);
		knTaskPool_Destroy(pool);
	}
}

// Many short loops in a row, each reading what the one before wrote: the end of a loop is a barrier.
static void addOne(int begin, int end, int worker, void* argument) {
	(void)worker;
	int* numbers = argument;
	for (int i = begin; i < end; ++i) {
		numbers[i] += 1;
	}
}

// From the second half back to the first, so that chunks read what other threads wrote.
static void mirror(int begin, int end, int worker, void* argument) {
	(void)worker;
	int* numbers = argument;
	for (int i = begin; i < end; ++i) {
		numbers[i] = numbers[255 - i];
	}
}

static void many_short_loops(void** state) {
	(void)state;
	knTaskPool* pool = newPool(3);
	knTasks tasks = knTaskPool_Tasks(pool);
	int numbers[256] = { 0 };
	const int rounds = 3000;
	for (int round = 0; round < rounds; ++round) {
		knTasks_For(&tasks, 256, 8, addOne, numbers);
		knTasks_For(&tasks, 128, 8, mirror, numbers);
	}
	for (int i = 0; i < 256; ++i) {
		assert_int_equal(numbers[i], rounds);
	}
	knTaskPool_Destroy(pool);
}

typedef struct Nested {
	const knTasks* tasks;
	int out[64][100];
	int ofWorker[MOST_THREADS];
	atomic_int faults;
} Nested;

typedef struct InnerLoop {
	Nested* nested;
	int row, worker, covered;
} InnerLoop;

static void innerBody(int begin, int end, int worker, void* argument) {
	InnerLoop* inner = argument;
	atomic_fetch_add(&inner->nested->faults, worker != inner->worker ? 1 : 0);
	for (int i = begin; i < end; ++i) {
		inner->nested->out[inner->row][i] += 1;
	}
	inner->covered += end - begin;
	inner->nested->ofWorker[worker] += 1;
}

static void outerBody(int begin, int end, int worker, void* argument) {
	Nested* nested = argument;
	for (int row = begin; row < end; ++row) {
		InnerLoop inner = { nested, row, worker, 0 };
		knTasks_For(nested->tasks, 90, 1, innerBody, &inner); // long enough to be cut
		inner.covered = 0;
		knTasks_For(nested->tasks, 100, 100, innerBody, &inner); // too short
		atomic_fetch_add(&nested->faults, inner.covered != 100 ? 1 : 0);
	}
}

static void loops_inside_loops(void** state) {
	(void)state;
	for (int threads = 1; threads <= MOST_THREADS; ++threads) {
		static Nested nested;
		memset(&nested, 0, sizeof nested);
		knTaskPool* pool = newPool(threads);
		knTasks tasks = knTaskPool_Tasks(pool);
		nested.tasks = &tasks;
		knTasks_For(&tasks, 64, 1, outerBody, &nested);
		assert_int_equal(nested.faults, 0);
		for (int row = 0; row < 64; ++row) {
			for (int i = 0; i < 100; ++i) {
				assert_int_equal(nested.out[row][i], i < 90 ? 2 : 1);
			}
		}
		knTaskPool_Destroy(pool);
	}
}

typedef struct Caller {
	const knTasks* tasks;
	int numbers[500];
} Caller;

static void* callLoops(void* argument) {
	Caller* caller = argument;
	for (int round = 0; round < 300; ++round) {
		knTasks_For(caller->tasks, 500, 10, addOne, caller->numbers);
	}
	return NULL;
}

static void loops_from_several_threads(void** state) {
	(void)state;
	knTaskPool* pool = newPool(2);
	knTasks tasks = knTaskPool_Tasks(pool);
	static Caller callers[3];
	pthread_t threads[3];
	for (int i = 0; i < 3; ++i) {
		memset(&callers[i], 0, sizeof callers[i]);
		callers[i].tasks = &tasks;
		assert_int_equal(pthread_create(&threads[i], NULL, callLoops, &callers[i]), 0);
	}
	for (int i = 0; i < 3; ++i) {
		pthread_join(threads[i], NULL);
		for (int k = 0; k < 500; ++k) {
			assert_int_equal(callers[i].numbers[k], 300);
		}
	}
	knTaskPool_Destroy(pool);
}

// A user's task system gets the range and the grain, and runs it as it likes.
typedef struct UserSystem {
	int calls, count, grain;
} UserSystem;

static void runBackwards(int count, int grain, knTaskFn* fn, void* argument, void* context) {
	UserSystem* system = context;
	system->calls += 1;
	system->count = count;
	system->grain = grain;
	for (int end = count; end > 0;) {
		int begin = end < 2 * grain ? 0 : end - grain;
		fn(begin, end, end % 2, argument);
		end = begin;
	}
}

static void a_users_task_system(void** state) {
	(void)state;
	UserSystem system = { 0 };
	knTasks tasks = { 2, runBackwards, &system };
	static Visits v;
	memset(&v, 0, sizeof v);
	v.count = 1000;
	v.grain = 30;
	v.workerCount = 2;
	knTasks_For(&tasks, v.count, v.grain, visit, &v);
	checkVisits(&v);
	assert_true(system.calls == 1 && system.count == 1000 && system.grain == 30);
	// short ranges stay on the calling thread
	memset(&v.visits, 0, sizeof v.visits);
	memset(&v.itemsOfWorker, 0, sizeof v.itemsOfWorker);
	v.count = 59;
	knTasks_For(&tasks, v.count, v.grain, visit, &v);
	checkVisits(&v);
	assert_int_equal(system.calls, 1);
}

static void creation_and_memory(void** state) {
	(void)state;
	knError error = { 0 };
	const int bad[] = { 0, -1, 100000 };
	for (int i = 0; i < 3; ++i) {
		assert_null(knTaskPool_Create(bad[i], NULL, &error));
		assert_int_equal(error.status, KN_BAD_ARGUMENT);
		assert_true(strlen(error.message) > 10);
	}
	// each allocation may fail; later loops take none
	knTestMemory memory;
	knAllocator allocator = testAllocator(&memory);
	for (int failAfter = 0; failAfter < 2; ++failAfter) {
		memory.failAfter = memory.calls + failAfter;
		assert_null(knTaskPool_Create(3, &allocator, &error));
		assert_int_equal(error.status, KN_NO_MEMORY);
		assert_int_equal(memory.live, 0);
	}
	memory.failAfter = -1;
	knTaskPool* pool = knTaskPool_Create(3, &allocator, &error);
	assert_non_null(pool);
	knTasks tasks = knTaskPool_Tasks(pool);
	int numbers[256] = { 0 };
	int calls = memory.calls;
	for (int i = 0; i < 10; ++i) {
		knTasks_For(&tasks, 256, 8, addOne, numbers);
	}
	assert_int_equal(memory.calls, calls);
	knTaskPool_Destroy(pool);
	assert_int_equal(memory.live, 0);
}

// Pools that end at once, before their threads have started to wait or after they fell asleep.
static void pools_come_and_go(void** state) {
	(void)state;
	int numbers[256] = { 0 };
	for (int round = 0; round < 40; ++round) {
		knTaskPool* pool = newPool(1 + round % MOST_THREADS);
		knTasks tasks = knTaskPool_Tasks(pool);
		for (int i = 0; i < round % 3; ++i) {
			knTasks_For(&tasks, 256, 8, addOne, numbers);
		}
		knTaskPool_Destroy(pool);
	}
	for (int i = 0; i < 256; ++i) {
		assert_int_equal(numbers[i], 13 + 2 * 13);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_index_once),
		cmocka_unit_test(without_tasks),
		cmocka_unit_test(results_do_not_depend_on_threads),
		cmocka_unit_test(many_short_loops),
		cmocka_unit_test(loops_inside_loops),
		cmocka_unit_test(loops_from_several_threads),
		cmocka_unit_test(a_users_task_system),
		cmocka_unit_test(creation_and_memory),
		cmocka_unit_test(pools_come_and_go),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
