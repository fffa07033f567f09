// Parallel loops over the user's task system or the calling thread. A loop body writes only its own slots, so
// results never depend on how the range was cut.
#pragma once

#include "knuckle/base.h"

// Workers that may run at once, at least 1.
int knTasks_WorkerCount(const knTasks* tasks);
// Runs fn over [0, count); on the calling thread when tasks are absent or the range is below two grains.
void knTasks_For(const knTasks* tasks, int count, int grain, knTaskFn* fn, void* argument);
