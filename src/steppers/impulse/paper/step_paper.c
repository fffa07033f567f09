// The impulse stepper as published: collision and contact after Guendelman et al. 2003, joints after Weinstein et al.
// 2006, whose section III numbers the phases.
//
//   1  collisions, with velocities from before the forces; joints' velocities
//   2  forces; joints' velocities
//   3  contact graph; contact and pre-stabilization, level by level
//   4  shock propagation
//   5  pre-stabilization alone
//   6  bodies move
//   7  joints' velocities

#include "steppers/impulse/paper/step_paper.h"

#define VELOCITY_SWEEPS 5 // of post-stabilization, each taking out a larger share

static void postStabilize(knImpulseStep* step) {
	double start = knStepContext_Now(step->context);
	for (int k = 1; step->joints != NULL && k <= VELOCITY_SWEEPS; ++k) {
		knPostStabilize_Sweep(step->joints, (double)k / VELOCITY_SWEEPS);
	}
	knImpulseStep_CountJointTime(step, start);
}

static void enter(knImpulseStep* step, knArticulationPhase phase) {
	if (step->joints != NULL) {
		knArticulationSolve_Enter(step->joints, phase);
		postStabilize(step);
	}
}

static knStatus begin(knImpulseStep* step) {
	knStatus status = knImpulseStep_Begin(step);
	KN_THEN(status, knImpulseContacts_Find(step));
	KN_THEN(status, knImpulseContacts_Reserve(step));
	KN_THEN(status, knImpulseStep_BeginJoints(step));
	step->bounces = KN_SCRATCH_ZERO(step->context->arena, knImpulseBounce, step->pointCount);
	return status == KN_OK && step->context->arena->failed ? knImpulseStep_OutOfMemory(step) : status;
}

static knStatus collide(knImpulseStep* step) {
	for (int b = 0; b < step->model->bodyCount; ++b) {
		step->blocks.u[b] = step->state->velocity[b];
	}
	if (knContactPaper_Collisions(step)) {
		for (int b = 0; b < step->model->bodyCount; ++b) {
			step->state->velocity[b] = step->blocks.u[b];
		}
	}
	postStabilize(step);
	return knImpulseStep_ApplyForces(step);
}

// Who rests on whom: i on j, if i, moved alone with its new velocity while j goes on with its old one, runs into j.
static void addEdges(knImpulseStep* step, const knImpulsePair* pair, knSupportEdges* edges) {
	knContactPoint found[KN_IMPULSE_PAIR_POINTS];
	for (int side = 0; side < 2; ++side) {
		int mover = side == 0 ? pair->a : pair->b, other = side == 0 ? pair->b : pair->a;
		if (step->blocks.invMass[mover] == 0.0) {
			continue;
		}
		knFrame moved = knImpulseStep_Predict(step, mover, step->blocks.u[mover]);
		knFrame stays = knImpulseStep_Predict(step, other, knImpulseStep_OldVelocity(step, other));
		if (knImpulseStep_TestPair(step, pair, side == 0 ? moved : stays, side == 0 ? stays : moved, 0.0,
								   found) > 0) {
			knSupportEdges_Add(edges, other, mover);
		}
	}
}

static knStatus findLevels(knImpulseStep* step) {
	knSupportEdges edges = { .items = KN_SCRATCH(step->context->arena, knSupport, 2 * step->pairCount) };
	if (step->context->arena->failed) {
		return knImpulseStep_OutOfMemory(step);
	}
	for (int i = 0; i < step->pairCount; ++i) {
		addEdges(step, &step->pairs[i], &edges);
	}
	return knContactLevels_BuildFrom(step, &edges);
}

knStatus knImpulsePaper_Step(knImpulseStep* step) {
	knStatus status = begin(step);

	// 1, 2
	KN_THEN(status, collide(step));
	if (status == KN_OK) {
		enter(step, KN_ARTICULATION_DYNAMICS);
	}

	// 3 to 5
	KN_THEN(status, findLevels(step));
	KN_THEN(status, knContactPaper_Contact(step));

	// 6, 7
	KN_THEN(status, knImpulseStep_Move(step));
	if (status == KN_OK && step->joints != NULL) {
		enter(step, KN_ARTICULATION_ARRIVAL);
		step->context->report->work += knArticulationSolve_Finish(step->joints);
	}
	return status;
}
