// A step of joints alone in the published form of the impulse stepper: forces, pre-stabilization, move, post-stabilization.
#pragma once

#include "world/fixture.h"

#include "dynamics/joint_rows.h"
#include "measure/measures.h"
#include "steppers/impulse/paper/articulation.h"

typedef struct JointWorld {
	knModel* model;
	knState state;
	knArena arena;
	knAllocator allocator;
	knSettings settings;
	knTasks tasks;
	int preSweeps, postSweeps;
	double work; // of motors and kinematic bodies, so far
} JointWorld;

// The scene is gone afterwards.
static inline JointWorld newJointWorld(knScene* scene) {
	knError error = { 0 };
	JointWorld w = {
		.allocator = knAllocator_Default(), .settings = knSettings_Default(), .preSweeps = 9, .postSweeps = 5
	};
	w.model = knModel_Create(scene, &error);
	if (w.model == NULL) {
		failWith(&error);
	}
	knScene_Destroy(scene);
	assert_true(knState_Create(&w.state, w.model, "impulse", 0, &w.allocator));
	knArena_Init(&w.arena, &w.allocator);
	return w;
}

static inline void freeJointWorld(JointWorld* w) {
	knArena_Free(&w->arena);
	knState_Destroy(&w->state, &w->allocator);
	knModel_Release(w->model);
}

static inline void preStabilize(knArticulationSolve* solve, double epsilon) {
	for (int i = 0; i < knArticulationSolve_JointCount(solve); ++i) {
		knPreStabilize_Joint(solve, i, epsilon);
	}
}

static inline void stepJoints(JointWorld* w, double h) {
	knArena_Clear(&w->arena);
	knStepBodies blocks;
	knArticulationInput input = {
		.model = w->model, .state = &w->state, .blocks = &blocks, .settings = &w->settings, .h = h
	};
	knArticulationSolve* solve = knArticulationSolve_Begin(&input, &w->arena);
	assert_non_null(solve);
	assert_true(knStepBodies_Begin(&blocks, w->model, &w->state, h, NULL, &w->tasks, &w->arena));
	knJointRows_ApplyForces(w->model, &blocks, &w->state);
	knArticulationSolve_Enter(solve, KN_ARTICULATION_DYNAMICS);
	for (int k = 1; k <= w->postSweeps; ++k) {
		knPostStabilize_Sweep(solve, (double)k / w->postSweeps);
	}
	for (int k = 1; k <= w->preSweeps; ++k) {
		preStabilize(solve, (double)k / w->preSweeps);
	}
	w->work += knStepBodies_DriveWork(&blocks, &w->state);
	knStepBodies_End(&blocks, w->model, &w->tasks, &w->state);
	knArticulationSolve_Enter(solve, KN_ARTICULATION_ARRIVAL);
	for (int k = 1; k <= w->postSweeps; ++k) {
		knPostStabilize_Sweep(solve, (double)k / w->postSweeps);
	}
	w->work += knArticulationSolve_Finish(solve);
	knState_UpdateCoordinates(&w->state, w->model);
	memset(w->state.force, 0, sizeof(*w->state.force) * (size_t)w->model->bodyCount);
	w->state.header->time += h;
}
