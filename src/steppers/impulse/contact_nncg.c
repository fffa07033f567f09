// Sweeps over contacts in conjugate directions, non-smooth non-linear conjugate gradients (NNCG, solve/sweep_momentum.h).
// Groups with joints are left out, as joints change velocities between the sweeps. Points go on when the pass upwards
// visits them, and what the sweep has changed is squared when the pass downwards does: large piles do not stay in the
// cache for passes of their own.

#include "solve/sweep_momentum.h"
#include "steppers/impulse/impulse_step.h"

struct knContactNncg {
	const knSweepSet* set;
	int first, end; // stages
	const knImpulseStep* step;
	knSweepMomentum* sweeps;
	const knMomentumPacks* packs;
	int part;        // whose bodies these stages move
	knTwist* before; // [bodyCount] velocities before the sweep
};

knContactNncg* knContactNncg_Begin(knImpulseStep* step, const knSweepSet* set, int part, int first, int end) {
	knArena* arena = step->context->arena;
	int bodyCount = step->model->bodyCount;
	knContactNncg* m = KN_SCRATCH(arena, knContactNncg, 1);
	if (m == NULL) {
		return NULL;
	}
	*m = (knContactNncg){ .set = set,
						  .first = first,
						  .end = end,
						  .step = step,
						  .part = part,
						  .sweeps = knSweepMomentum_Begin(set, first, end, bodyCount, step->islands.group,
														  step->islands.jointed, arena),
						  .before = KN_SCRATCH(arena, knTwist, bodyCount) };
	if (arena->failed) {
		return NULL;
	}
	m->packs = knSweepMomentum_InSweeps(m->sweeps);
	return m;
}

// m/s, the largest change of a body's speed since the sweep began.
static double largestChange(const knContactNncg* m, const knTwist* u) {
	double largest = 0.0;
	for (int b = 0; b < m->step->model->bodyCount; ++b) {
		if (m->step->partOf[b] == m->part) {
			knTwist change = knSubT(u[b], m->before[b]);
			double speed = knLength(change.lin) + m->step->model->radius[b] * knLength(change.ang);
			largest = knMax(largest, speed);
		}
	}
	return largest;
}

double knContactNncg_Sweep(knContactNncg* m, knSweepTurnsFn* between, knTwist* u) {
	const knTasks* tasks = &m->step->context->tasks;
	for (int b = 0; b < m->step->model->bodyCount; ++b) {
		m->before[b] = u[b];
	}
	const knMomentumPass upwards = knSweepMomentum_FirstPass(m->sweeps, tasks, u);
	for (int stage = m->first; stage < m->end; ++stage) {
		knSweep_Pass(m->set, stage, m->packs, upwards, tasks, u);
	}
	if (between != NULL) {
		between(m->step);
	}
	for (int stage = m->end - 1; stage >= m->first; --stage) {
		knSweep_Pass(m->set, stage, m->packs, KN_MOMENTUM_SQUARE, tasks, u);
	}
	if (between != NULL) {
		between(m->step);
	}
	return largestChange(m, u);
}

void knContactNncg_After(knContactNncg* m, knTwist* u) {
	(void)knSweepMomentum_Look(m->sweeps, &m->step->context->tasks);
	knSweepMomentum_GoOn(m->sweeps, &m->step->context->tasks, u);
}

void knContactNncg_End(knContactNncg* m) {
	(void)knSweepMomentum_Look(m->sweeps, &m->step->context->tasks);
}

double knContactNncg_LastChange(const knContactNncg* m, int group) {
	return knSweepMomentum_Change(m->sweeps, group);
}
