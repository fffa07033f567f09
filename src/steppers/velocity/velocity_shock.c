// The levels of piles, and what they are for: what the global solve begins with, and shock propagation after it.

#include "steppers/velocity/velocity_step.h"

knStatus knVelocity_BeginLoads(knVelocityStep* step) {
	knMaximalStep* m = &step->m;
	bool begun =
		knMaximal_BeginGroups(m) && knTimeStep_Land(&m->time) && knMaximal_BeginLoads(m, step->options.shock);
	for (int stage = 0; begun && stage < KN_STAGE_COUNT; ++stage) {
		knVelocity_LoadStage(step, stage);
	}
	return begun ? KN_OK : knMaximal_OutOfMemory(m);
}

knStatus knVelocity_SolveColumns(knVelocityStep* step) {
	knMaximalStep* m = &step->m;
	bool chosen = m->context->settings->sweeps >= 0; // as many sweeps as the user says, and no more
	bool solved = knContactGroups_Find(&m->known) && (chosen || knContactColumns_Run(&m->known));
	return solved ? KN_OK : knMaximal_OutOfMemory(m);
}

knStatus knVelocity_ContinueLayers(knVelocityStep* step) {
	int sweeps;
	if (!knMaximal_PropagateShock(&step->m, step->options.friction, step->options.layerSweeps, &sweeps)) {
		return knMaximal_OutOfMemory(&step->m);
	}
	step->m.context->report->iterations += sweeps;
	return KN_OK;
}
