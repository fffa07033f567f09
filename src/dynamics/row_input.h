// Everything that building rows reads.
#pragma once

#include "dynamics/integrate.h"

typedef struct knRowInput {
	const knModel* model;
	const knState* state; // at the start of the step
	const knStepBodies* blocks;
	knTasks tasks;
	double impulseScale; // dt over the last one: remembered impulses grow with the step
	double rolling;      // m, for every contact; negative: what the shapes say
	const knVec3*
		struck; // [bodyCount] the velocity that a blow in this step may give a body, else its own; NULL: none
	const uint8_t* solved; // [joints] 1: solved elsewhere (joint_step.h), has no rows; NULL: none
	bool bounceRows;       // contacts that bounce ask for their speed in their normal rows
	bool alignTangents;    // friction tangents follow the sliding
} knRowInput;
