// Sweeps over contacts in conjugate directions, non-smooth non-linear conjugate gradients (NNCG, solve/sweep_momentum.h). Groups with joints are left out, as joints change
// velocities between the sweeps. Points go on when the pass upwards visits them, and what the sweep has changed is squared
// when the pass downwards does: large piles do not stay in the cache for passes of their own.

#include "solve/sweep_momentum.h"
#include "steppers/impulse/impulse_step.h"

struct knContactNncg {
	knSweepMomentum* sweeps;
	const knMomentumPacks* packs;
	knTwist* u; // [bodyCount] before the sweep
};

knContactNncg* knContactNncg_Begin(knImpulseStep* step) {
	knArena* arena = step->context->arena;
	int bodyCount = step->model->bodyCount;
	knContactNncg* m = KN_SCRATCH(arena, knContactNncg, 1);
	if (m == NULL) {
		return NULL;
	}
	*m = (knContactNncg){ .sweeps = knSweepMomentum_Begin(&step->set, 0, step->set.stageCount, bodyCount,
														  step->islands.group, step->islands.jointed, arena),
						  .u = KN_SCRATCH(arena, knTwist, bodyCount) };
	if (arena->failed) {
		return NULL;
	}
	m->packs = knSweepMomentum_InSweeps(m->sweeps);
	return m;
}

knMomentumPass knContactNncg_Before(knContactNncg* m, const knImpulseStep* step) {
	for (int b = 0; b < step->model->bodyCount; ++b) {
		m->u[b] = step->blocks.u[b];
	}
	return knSweepMomentum_FirstPass(m->sweeps, &step->context->tasks, step->blocks.u);
}

const knMomentumPacks* knContactNncg_Packs(const knContactNncg* m) {
	return m->packs;
}

double knContactNncg_Change(const knContactNncg* m, const knImpulseStep* step) {
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

void knContactNncg_After(knContactNncg* m, knImpulseStep* step) {
	(void)knSweepMomentum_Look(m->sweeps, &step->context->tasks);
	knSweepMomentum_GoOn(m->sweeps, &step->context->tasks, step->blocks.u);
}

void knContactNncg_End(knContactNncg* m, const knImpulseStep* step) {
	(void)knSweepMomentum_Look(m->sweeps, &step->context->tasks);
}

double knContactNncg_LastChange(const knContactNncg* m, int group) {
	return knSweepMomentum_Change(m->sweeps, group);
}
