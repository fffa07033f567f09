// A run's result as JSON and as text (run_report.h).
#include "run_report.h"

#include <inttypes.h>
#include <stdio.h>

static double perStep(const cliMeasures* measures, double sum) {
	return measures->steps > 0 ? sum / (double)measures->steps : 0.0;
}

static double mean(double sum, int64_t count) {
	return count > 0 ? sum / (double)count : 0.0;
}

static const char* schemeName(const knWorld* world) {
	return knWorld_Settings(world)->scheme == KN_SCHEME_PAPER ? "paper" : "default";
}

// --- JSON ----------------------------------------------------------------------------------------------------

typedef struct NamedNumber {
	const char* key;
	double value;
} NamedNumber;

static void writeNumbers(knJson* json, const char* key, const NamedNumber* numbers, int count) {
	knJson_BeginObject(json, key);
	for (int i = 0; i < count; ++i) {
		knJson_Number(json, numbers[i].key, numbers[i].value);
	}
	knJson_EndObject(json);
}

#define WRITE_NUMBERS(json, key, ...)                                                                        \
	writeNumbers((json), (key), (const NamedNumber[]){ __VA_ARGS__ },                                        \
				 (int)(sizeof((const NamedNumber[]){ __VA_ARGS__ }) / sizeof(NamedNumber)))

static void writeHead(const cliResult* result, knJson* json) {
	const knModel* model = knWorld_Model(result->world);
	knJson_Integer(json, "format", 1);
	knJson_String(json, "version", KN_VERSION_STRING);
	knJson_String(json, "scene", result->source);
	knJson_String(json, "stepper", knWorld_StepperName(result->world));
	knJson_String(json, "scheme", schemeName(result->world));
	knJson_Number(json, "dt", result->scene->dt);
	knJson_Integer(json, "steps", result->measures->steps);
	knJson_Number(json, "time", knWorld_Time(result->world));
	knJson_Integer(json, "threads", result->threads);
	knJson_String(json, "build", KN_BUILD_INFO);
	knJson_Integer(json, "bodies", knModel_BodyCount(model));
	knJson_Integer(json, "joints", knModel_JointCount(model));
	knJson_Integer(json, "dofs", knModel_DofCount(model));
}

static void writeWork(const cliMeasures* m, knJson* json) {
	WRITE_NUMBERS(json, "contacts", { "max", m->contactsMax }, { "mean", perStep(m, m->contactsSum) });
	knJson_Number(json, "queries_per_step", perStep(m, m->queriesSum));
	knJson_Number(json, "iterations", perStep(m, m->iterationsSum));
	knJson_Integer(json, "sleeping", m->sleeping);
	knJson_Integer(json, "guarded", m->guardedSteps);
	WRITE_NUMBERS(json, "joint_solver", { "gap", m->jointGapMax }, { "rung", m->jointRungMax },
				  { "substeps", (double)m->jointSubSteps }, { "conflicts", m->jointConflictsMax },
				  { "projected", m->projectedSum });
	WRITE_NUMBERS(
		json, "ms_per_step", { "mean", 1e3 * perStep(m, m->stepTimeSum) },
		{ "median", 1e3 * cliMeasures_StepTime(m, 0.5) }, { "p99", 1e3 * cliMeasures_StepTime(m, 0.99) },
		{ "collide", 1e3 * perStep(m, m->collideTimeSum) }, { "solve", 1e3 * perStep(m, m->solveTimeSum) },
		{ "joints", 1e3 * perStep(m, m->jointTimeSum) });
}

static void writeQuality(const cliMeasures* m, knJson* json) {
	WRITE_NUMBERS(json, "joint_error", { "max", m->jointErrorMax }, { "initial", m->jointErrorInitial },
				  { "after", m->jointErrorAfter }, { "final", m->jointErrorFinal },
				  { "mean", mean(m->jointErrorSum, m->stateCount) });
	WRITE_NUMBERS(json, "joint_angle_error", { "max", m->angleErrorMax }, { "final", m->angleErrorFinal });
	WRITE_NUMBERS(json, "penetration", { "max", m->penetrationMax }, { "final", m->penetrationFinal },
				  { "mean", mean(m->penetrationSum, m->penetrationCount) });
	WRITE_NUMBERS(json, "energy", { "initial", m->energyInitial }, { "final", m->energyFinal },
				  { "max_gain", m->gainMax }, { "added", m->added });
	WRITE_NUMBERS(json, "kinetic", { "final", m->kineticFinal }, { "max", m->kineticMax });
	WRITE_NUMBERS(json, "momentum", { "linear_drift", m->linearDrift }, { "angular_drift", m->angularDrift });
	WRITE_NUMBERS(json, "displacement", { "max", m->displacementMax });
	knJson_BeginObject(json, "checks");
	for (int i = 0; i < m->checks.count; ++i) {
		knJson_Number(json, m->checks.names[i], m->checks.values[i]);
	}
	knJson_EndObject(json);
}

void cliResult_WriteJson(const cliResult* result, knJson* json) {
	char hash[17];
	snprintf(hash, sizeof(hash), "%016" PRIx64, result->measures->hash);
	knJson_BeginObject(json, NULL);
	writeHead(result, json);
	writeWork(result->measures, json);
	writeQuality(result->measures, json);
	knJson_Bool(json, "finite", result->measures->finite);
	if (result->failure != NULL) {
		knJson_String(json, "error", result->failure);
	}
	if (result->measures->hashed) {
		knJson_String(json, "hash", hash);
	}
	knJson_EndObject(json);
}

// --- text ----------------------------------------------------------------------------------------------------

void cliResult_Print(const cliResult* result) {
	const cliMeasures* m = result->measures;
	const knModel* model = knWorld_Model(result->world);
	printf("%s: %lld steps of %g s (%g s) with stepper %s, scheme %s, %d thread%s\n", result->source,
		   (long long)m->steps, result->scene->dt, knWorld_Time(result->world),
		   knWorld_StepperName(result->world), schemeName(result->world), result->threads,
		   result->threads == 1 ? "" : "s");
	int bodies = knModel_BodyCount(model), joints = knModel_JointCount(model), dofs = knModel_DofCount(model);
	printf("  scene            %d %s, %d joint%s, %d degree%s of freedom\n", bodies,
		   bodies == 1 ? "body" : "bodies", joints, joints == 1 ? "" : "s", dofs, dofs == 1 ? "" : "s");
	printf("  step             %.4g ms mean, %.4g median, %.4g p99 (collide %.4g, solve %.4g)\n",
		   1e3 * perStep(m, m->stepTimeSum), 1e3 * cliMeasures_StepTime(m, 0.5),
		   1e3 * cliMeasures_StepTime(m, 0.99), 1e3 * perStep(m, m->collideTimeSum),
		   1e3 * perStep(m, m->solveTimeSum));
	printf("  contacts         %d at most, %.4g on average; %.4g iterations a step\n", m->contactsMax,
		   perStep(m, m->contactsSum), perStep(m, m->iterationsSum));
	printf("  joint error      %.3g m at most (%.3g at the start, %.3g after), %.3g m at the end; angle %.3g "
		   "rad at most\n",
		   m->jointErrorMax, m->jointErrorInitial, m->jointErrorAfter, m->jointErrorFinal, m->angleErrorMax);
	printf("  penetration      %.3g m at most, %.3g m at the end\n", m->penetrationMax, m->penetrationFinal);
	printf("  energy           %.6g J to %.6g J, largest gain %.3g J; kinetic %.3g J at the end\n",
		   m->energyInitial, m->energyFinal, m->gainMax, m->kineticFinal);
	printf("  displacement     %.3g m at most\n", m->displacementMax);
	for (int i = 0; i < m->checks.count; ++i) {
		printf("  %-16s %.6g\n", m->checks.names[i], m->checks.values[i]);
	}
	printf("  hash             %016" PRIx64 "\n", m->hash);
}
