// A world without a stepper for tests of the joint solver: all joints are one island in every step.
#pragma once

#include "world/fixture.h"

#include "dynamics/joint_island.h"
#include "model/joint_parts.h"

#include <stdlib.h>

typedef struct IslandRig {
	knModel* model;
	knState state;
	knAllocator allocator;
	knArena arena;
	knJointIslands* islands;
	int* local;
	int* joints;
	int jointCount;
	double* lambda; // [jointCount][KN_EQUATIONS_MAX_ROWS]
	double lastStep;
	knJointIslandReport report; // of the last step
	// over all steps
	double worstGap, work, taken;
	int iterations, steps, worstRung, subSteps, mostIterations;
} IslandRig;

// Takes the scene.
static inline void rigMake(IslandRig* rig, knScene* scene) {
	memset(rig, 0, sizeof(*rig));
	rig->allocator = knAllocator_Default();
	knError error = { 0 };
	rig->model = knModel_Create(scene, &error);
	if (rig->model == NULL) {
		failWith(&error);
	}
	knScene_Destroy(scene);
	assert_true(knState_Create(&rig->state, rig->model, "test", 0, &rig->allocator));
	knArena_Init(&rig->arena, &rig->allocator);
	rig->islands = knJointIslands_Create(&rig->allocator);
	assert_non_null(rig->islands);
	rig->jointCount = rig->model->jointCount;
	rig->local = malloc(sizeof(int) * (size_t)rig->model->bodyCount);
	rig->joints = malloc(sizeof(int) * (size_t)rig->jointCount);
	rig->lambda = calloc((size_t)rig->jointCount * KN_EQUATIONS_MAX_ROWS, sizeof(double));
	for (int b = 0; b < rig->model->bodyCount; ++b) {
		rig->local[b] = -1;
	}
	for (int j = 0; j < rig->jointCount; ++j) {
		rig->joints[j] = j;
	}
}

static inline void rigFree(IslandRig* rig) {
	knJointIslands_Destroy(rig->islands);
	knState_Destroy(&rig->state, &rig->allocator);
	knArena_Free(&rig->arena);
	knModel_Release(rig->model);
	free(rig->local);
	free(rig->joints);
	free(rig->lambda);
}

static inline void rigStep(IslandRig* rig, double h) {
	knArena_Clear(&rig->arena);
	knJointIslands_BeginStep(rig->islands);
	knJointIslandInput input = { .model = rig->model,
								 .state = &rig->state,
								 .h = h,
								 .joints = rig->joints,
								 .jointCount = rig->jointCount,
								 .local = rig->local };
	knJointIsland* island = knJointIsland_Make(rig->islands, &input, &rig->arena);
	assert_non_null(island);
	for (int k = 0; k < rig->jointCount; ++k) {
		knJointIsland_Guess(island, k, rig->lambda + k * KN_EQUATIONS_MAX_ROWS,
							rig->lastStep > 0.0 ? h / rig->lastStep : 0.0);
		rig->state.joint[k].reaction = knZeroTwist();
	}
	rig->report = *knJointIsland_Solve(island);
	for (int k = 0; k < rig->jointCount; ++k) {
		knJointIsland_Impulses(island, k, rig->lambda + k * KN_EQUATIONS_MAX_ROWS);
	}
	knJointIsland_Store(island, &rig->state);
	for (int b = 0; b < rig->model->bodyCount; ++b) {
		if (rig->model->bodyKind[b] == KN_BODY_KINEMATIC) {
			knFrame* pose = &rig->state.pose[b];
			pose->p = knMulAdd(pose->p, h, rig->state.velocity[b].lin);
			pose->q = knNormalizeQ(knMulQ(knQuat_Exp(knScale(h, rig->state.velocity[b].ang)), pose->q));
		}
	}
	knState_UpdateCoordinates(&rig->state, rig->model);
	rig->lastStep = h;
	rig->steps += 1;
	rig->iterations += rig->report.iterations;
	rig->mostIterations =
		rig->report.iterations > rig->mostIterations ? rig->report.iterations : rig->mostIterations;
	rig->subSteps += rig->report.subSteps;
	rig->worstRung = (int)rig->report.rung > rig->worstRung ? (int)rig->report.rung : rig->worstRung;
	rig->worstGap = knMax(rig->worstGap, rig->report.gap);
	rig->work += rig->report.work;
	rig->taken += rig->report.taken;
}

// m, worst distance of a joint from its closest allowed frame; rad into *angle if not NULL.
static inline double rigGap(const IslandRig* rig, double* angle) {
	double worst = 0.0, worstAngle = 0.0;
	for (int j = 0; j < rig->jointCount; ++j) {
		const knJoint* joint = knState_Joint(&rig->state, rig->model, j);
		knFrame J = knJoint_Frame(joint, rig->state.pose[joint->parent], rig->state.pose[joint->child]);
		knTwist error = knJoint_ErrorTwist(J, knJoint_ProjectLimits(joint, J, rig->state.q + joint->qOffset));
		worst = knMax(worst, knLength(error.lin));
		worstAngle = knMax(worstAngle, knLength(error.ang));
	}
	if (angle != NULL) {
		*angle = worstAngle;
	}
	return worst;
}

static inline double rigKinetic(const IslandRig* rig) {
	double energy = 0.0;
	for (int b = 1; b < rig->model->bodyCount; ++b) {
		knTwist v = rig->state.velocity[b];
		knVec3 w = knInvRotate(rig->state.pose[b].q, v.ang);
		energy += 0.5 * (rig->model->mass[b] * knLengthSquared(v.lin) +
						 knDot(w, knMulMV(&rig->model->inertiaLocal[b], w)));
	}
	return energy;
}

static inline double rigEnergy(const IslandRig* rig) {
	double energy = rigKinetic(rig);
	for (int b = 1; b < rig->model->bodyCount; ++b) {
		energy -= rig->model->mass[b] * rig->model->gravityScale[b] *
				  knDot(rig->state.header->gravity, rig->state.pose[b].p);
	}
	for (int j = 0; j < rig->jointCount; ++j) {
		const knJoint* joint = knState_Joint(&rig->state, rig->model, j);
		energy += knJoint_SpringEnergy(joint, rig->state.q + joint->qOffset);
	}
	return energy;
}

// Linear momentum, and angular momentum about the origin.
static inline knTwist rigMomentum(const IslandRig* rig) {
	knTwist sum = knZeroTwist();
	for (int b = 1; b < rig->model->bodyCount; ++b) {
		knTwist v = rig->state.velocity[b];
		knQuat q = rig->state.pose[b].q;
		knVec3 p = knScale(rig->model->mass[b], v.lin);
		knVec3 L = knRotate(q, knMulMV(&rig->model->inertiaLocal[b], knInvRotate(q, v.ang)));
		sum.lin = knAdd(sum.lin, p);
		sum.ang = knAdd(sum.ang, knAdd(L, knCross(rig->state.pose[b].p, p)));
	}
	return sum;
}

// A thin rod from p to q along its own x axis.
static inline knBodyId newRod(knScene* scene, knVec3 p, knVec3 q, double mass, double radius) {
	const knVec3 d = knSub(q, p);
	const double length = knLength(d);
	const double across = mass * (length * length / 12.0 + 0.25 * radius * radius);
	const knFrame frame =
		knMakeFrame(knScale(0.5, knAdd(p, q)), knQuat_Between(knV3(1.0, 0.0, 0.0), knScale(1.0 / length, d)));
	return newMass(scene, frame, mass, knV3(0.5 * mass * radius * radius, across, across));
}

// Rods in a row from the origin along x; hinges turn about y and z by turns.
static inline knScene* newChain(int links, double length, double lastMass, bool hinges) {
	knScene* scene = newScene(knV3(0.0, 0.0, -9.81));
	knBodyId before = KN_WORLD_BODY;
	for (int i = 0; i < links; ++i) {
		const knVec3 p = knV3(i * length, 0.0, 0.0), q = knV3((i + 1) * length, 0.0, 0.0);
		knBodyId rod = newRod(scene, p, q, i == links - 1 ? lastMass : 1.0, 0.1 * length);
		knJointDef def =
			jointAt(scene, hinges ? KN_JOINT_HINGE : KN_JOINT_BALL, before, rod, p,
					hinges ? (i % 2 ? knV3(0.0, 0.0, 1.0) : knV3(0.0, 1.0, 0.0)) : knV3(1.0, 0.0, 0.0));
		newJoint(scene, &def);
		before = rod;
	}
	return scene;
}
