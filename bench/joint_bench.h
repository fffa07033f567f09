// What the parts of `knuckle bench articulation` share: which scenes are asked for, where plots and numbers go.
#pragma once

#include "bench.h"
#include "output_file.h"
#include "plot.h"
#include "progress.h"
#include "scene_run.h"

typedef struct knJointBench {
	const knBenchOptions* options;
	const char* folder;  // of plots; NULL: none
	cliOutputFile table; // part,scene,setting,quantity,value; its stream is NULL: none
} knJointBench;

// Whether a scene belongs to those that the user named, if any.
bool knJointBench_Wants(const knJointBench* bench, const char* scene);
// Not more than the user allows.
int knJointBench_Steps(const knJointBench* bench, int steps);
void knJointBench_Record(const knJointBench* bench, const char* part, const char* scene, const char* setting,
						 const char* quantity, double value);
// An exit status.
int knJointBench_Plot(const knJointBench* bench, const knPlot* plot, const char* name);

// The parts; exit statuses.
int knJointErrors_Run(const knJointBench* bench); // the same everywhere
int knJointCosts_Run(const knJointBench* bench);  // depend on the machine
