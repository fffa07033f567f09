// A scene of the catalogue as benches run it (scene_run.h).
#include "scene_run.h"

#include "processor_clock.h"
#include "world/world_internal.h"

static double processorClock(void* context) {
	(void)context;
	return processorSeconds();
}

int knSceneRun_Open(knSceneRun* run, const char* scene, const char* const* sets, const char* stepper,
					double dt, int threads) {
	cliSceneRequest request = cliSceneRequest_Default();
	request.source = scene;
	request.stepper = stepper;
	request.dt = dt;
	for (int i = 0; sets != NULL && sets[i] != NULL; ++i) {
		if (!cliSceneRequest_AddSet(&request, sets[i])) {
			return CLI_USAGE;
		}
	}
	int status = cliScene_Open(&run->scene, &request);
	if (status != CLI_DONE) {
		return status;
	}
	status = cliWorld_Open(&run->world, run->scene.scene, stepper, threads);
	if (status != CLI_DONE) {
		cliScene_Close(&run->scene);
	} else if (threads == 1) {
		run->world.world->clock = processorClock;
	}
	return status;
}

void knSceneRun_Close(knSceneRun* run) {
	cliWorld_Close(&run->world);
	cliScene_Close(&run->scene);
}

bool knSceneRun_Step(knSceneRun* run) {
	const knSceneEntry* entry = run->scene.entry;
	knError error = { 0 };
	if (entry->script != NULL) {
		entry->script(run->world.world, &run->scene.args);
	}
	if (knWorld_Step(run->world.world, run->scene.dt, &error) != KN_OK) {
		cliFailWith(CLI_FAILED, &error);
		return false;
	}
	return true;
}
