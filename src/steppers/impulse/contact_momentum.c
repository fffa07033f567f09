// Sweeps over contacts in conjugate directions (solve/sweep_momentum.h). Groups with joints are left out, as joints change
// velocities between the sweeps.

#include "solve/sweep_momentum.h"
#include "steppers/impulse/impulse_step.h"

struct knContactMomentum {
	knSweepMomentum* sweeps;
	knTwist* u; // [bodyCount] before the sweep
};

knContactMomentum* knContactMomentum_Begin(knImpulseStep* step) {
	knArena* arena = step->context->arena;
	int bodyCount = step->model->bodyCount;
	knContactMomentum* m = KN_SCRATCH(arena, knContactMomentum, 1);
	if (m == NULL) {
		return NULL;
	}
	*m = (knContactMomentum){ .sweeps =
								  knSweepMomentum_Begin(&step->set, 0, step->set.stageCount, bodyCount,
														step->islands.group, step->islands.jointed, arena),
							  .u = KN_SCRATCH(arena, knTwist, bodyCount) };
	return arena->failed ? NULL : m;
}

void knContactMomentum_Before(knContactMomentum* m, const knImpulseStep* step) {
	knSweepMomentum_Start(m->sweeps, &step->context->tasks, step->blocks.u);
	for (int b = 0; b < step->model->bodyCount; ++b) {
		m->u[b] = step->blocks.u[b];
	}
}

double knContactMomentum_Change(const knContactMomentum* m, const knImpulseStep* step) {
	double largest = 0.0;
	for (int b = 0; b < step->model->bodyCount; ++b) {
		if (step->islands.group[b] >= 0) {
			knTwist change = knSubT(step->blocks.u[b], m->u[b]);
			double speed = knLength(change.lin) + step->model->radius[b] * knLength(change.ang);
			largest = knMax(largest, speed);
		}
	}
	return largest;
}

void knContactMomentum_After(knContactMomentum* m, knImpulseStep* step) {
	(void)knSweepMomentum_Look(m->sweeps, &step->context->tasks);
	knSweepMomentum_GoOn(m->sweeps, &step->context->tasks, step->blocks.u);
}

void knContactMomentum_End(knContactMomentum* m, const knImpulseStep* step) {
	(void)knSweepMomentum_Look(m->sweeps, &step->context->tasks);
}

double knContactMomentum_LastChange(const knContactMomentum* m, int group) {
	return knSweepMomentum_Change(m->sweeps, group);
}
