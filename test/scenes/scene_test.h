// What the tests of scenes share: a scene built, compiled and stepped as the tool does it.
#pragma once

#include "catalogue.h"
#include "support/kn_test.h"

typedef struct Built {
	knSceneArgs args;
	knScene* scene;
	knModel* model;
	knWorld* world;
} Built;

// `sets` is a list of name, value, ..., NULL.
static inline Built build(const char* name, const char* const* sets) {
	Built built;
	knError error = { 0 };
	const knSceneEntry* entry = knCatalogue_Find(name, &error);
	assert_non_null(entry);
	built.args = knSceneArgs_Default(entry);
	for (int i = 0; sets != NULL && sets[i] != NULL; i += 2) {
		assert_ok(knSceneArgs_Set(&built.args, sets[i], sets[i + 1], &error));
	}
	built.scene = knSceneArgs_Build(&built.args, &error);
	if (built.scene == NULL) {
		fail_msg("%s: %s", name, error.message);
	}
	built.model = knModel_Create(built.scene, &error);
	if (built.model == NULL) {
		fail_msg("%s: %s", name, error.message);
	}
	knWorldDef def = knWorldDef_Default();
	built.world = knWorld_Create(built.model, &def, &error);
	if (built.world == NULL) {
		fail_msg("%s: %s", name, error.message);
	}
	return built;
}

#define BUILD(name, ...) build((name), (const char* const[]){ __VA_ARGS__, NULL })

static inline void destroy(Built* built) {
	knWorld_Destroy(built->world);
	knModel_Release(built->model);
	knScene_Destroy(built->scene);
}

// Another world of the same model, under the impulse stepper; the first is gone.
static inline knWorld* impulseWorld(Built* built) {
	knError error = { 0 };
	knSettings settings = knSettings_Default();
	settings.sweeps = 9;
	knWorldDef def = knWorldDef_Default();
	def.stepper = "impulse";
	def.settings = &settings;
	knWorld_Destroy(built->world);
	knWorld* world = knWorld_Create(built->model, &def, &error);
	if (world == NULL) {
		fail_msg("%s", error.message);
	}
	return world;
}

static inline double penetrationOf(Built* built) {
	knPenetration penetration;
	knError error = { 0 };
	assert_ok(knWorld_MeasurePenetration(built->world, &penetration, &error));
	return penetration.max;
}

static inline knVec3 centerOf(const Built* built, const char* body) {
	knBodyId id = knScene_FindBody(built->scene, body);
	assert_false(KN_ID_IS_NULL(id));
	return knWorld_BodyCenter(built->world, id);
}

static inline double massOf(const Built* built, const char* body) {
	return knModel_BodyMass(built->model, knScene_FindBody(built->scene, body)).mass;
}

static inline void stepBuilt(Built* built, int steps, knSceneChecks* checks) {
	const knSceneEntry* entry = built->args.entry;
	knError error = { 0 };
	double dt = knScene_GetDef(built->scene)->dt;
	if (entry->observe != NULL && checks != NULL) {
		entry->observe(built->world, &built->args, checks);
	}
	for (int i = 0; i < steps; ++i) {
		if (entry->script != NULL) {
			entry->script(built->world, &built->args);
		}
		knStatus status = knWorld_Step(built->world, dt, &error);
		if (status != KN_OK) {
			fail_msg("%s, step %d: %s", entry->name, i, error.message);
		}
		if (entry->observe != NULL && checks != NULL) {
			entry->observe(built->world, &built->args, checks);
		}
	}
}

static inline double checkOf(const knSceneChecks* checks, const char* name) {
	for (int i = 0; i < checks->count; ++i) {
		if (strcmp(checks->names[i], name) == 0) {
			return checks->values[i];
		}
	}
	fail_msg("no check '%s'", name);
	return 0.0;
}

// Runs a scene of joints under a load: joints stay closed to `open` (m), nothing overlaps by more than `deepest` or leaves.
static inline void checkCarries(Built* built, int steps, double open, double deepest) {
	knSceneChecks checks = { 0 };
	for (int i = 0; i < steps; ++i) {
		stepBuilt(built, 1, &checks);
		assert_true(knWorld_Measure(built->world).jointError < open);
		assert_true(i % 5 != 0 || penetrationOf(built) < deepest);
	}
	assert_near(checkOf(&checks, "outside"), 0.0, 0.0);
	knSceneChecks_Free(&checks);
}
