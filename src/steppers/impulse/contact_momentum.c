// Sweeps over contacts in conjugate directions (solve/sweep_momentum.h). Rolling and spinning impulses, which are not
// among the packs, go along with their group. Groups with joints are left out, as joints change velocities between the
// sweeps.

#include "solve/sweep_momentum.h"
#include "steppers/impulse/impulse_step.h"

struct knContactMomentum {
	knSweepMomentum* sweeps;
	knTwist* u;                   // [bodyCount] before the sweep
	knVec3 *turn, *turnDirection; // [turnCount]
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
							  .u = KN_SCRATCH(arena, knTwist, bodyCount),
							  .turn = KN_SCRATCH(arena, knVec3, step->turnCount),
							  .turnDirection = KN_SCRATCH_ZERO(arena, knVec3, step->turnCount) };
	return arena->failed ? NULL : m;
}

void knContactMomentum_Before(knContactMomentum* m, const knImpulseStep* step) {
	knSweepMomentum_Start(m->sweeps, &step->context->tasks, step->blocks.u);
	for (int b = 0; b < step->model->bodyCount; ++b) {
		m->u[b] = step->blocks.u[b];
	}
	for (int i = 0; i < step->turnCount; ++i) {
		m->turn[i] = step->turns[i].g;
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
	for (int i = 0; i < step->pointCount && step->turnCount > 0; ++i) {
		const knImpulsePoint* p = &step->points[i];
		if (p->turn >= 0) {
			double beta = knSweepMomentum_Beta(m->sweeps, knImpulseStep_GroupOf(step, p));
			knVec3 next = knMulAdd(step->turns[p->turn].g, beta, m->turnDirection[p->turn]);
			m->turnDirection[p->turn] = knSub(next, m->turn[p->turn]);
			step->turns[p->turn].g = next;
		}
	}
}

bool knContactMomentum_End(knContactMomentum* m, knImpulseStep* step) {
	(void)knSweepMomentum_Look(m->sweeps, &step->context->tasks);
	step->change = KN_SCRATCH(step->context->arena, double, step->model->bodyCount);
	for (int b = 0; step->change != NULL && b < step->model->bodyCount; ++b) {
		bool isGroup = step->islands.group[b] == b;
		step->change[b] = isGroup ? knSweepMomentum_Change(m->sweeps, b) : (double)INFINITY;
	}
	return step->change != NULL;
}
