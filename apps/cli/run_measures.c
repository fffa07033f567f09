// Gathering what a run reports (run_measures.h).
#include "run_measures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/sort.h"

#define MAX_STEP_TIMES (1 << 20)
#define CROWD_PAIRS 1000  // overlapping pairs below which nobody is warned
#define CROWD_PER_BODY 10 // and pairs per body: a sphere has room for twelve neighbours, which makes six

void cliMeasures_Begin(cliMeasures* measures) {
	memset(measures, 0, sizeof(*measures));
	measures->finite = true;
	measures->stride = 1;
}

void cliMeasures_Free(cliMeasures* measures) {
	knAllocator allocator = knAllocator_Default();
	KN_ARRAY_FREE(&allocator, &measures->stepTimes);
	knSceneChecks_Free(&measures->checks);
}

// Squares of huge but finite velocities may not be.
static bool allFinite(const knMeasures* now) {
	return now->finite && knIsFinite(now->kinetic) && knIsFinite(now->potential) &&
		   knIsFinite3(now->momentum) && knIsFinite3(now->angularMomentum) && knIsFinite(now->displacement) &&
		   knIsFinite(now->jointError) && knIsFinite(now->jointErrorMean) &&
		   knIsFinite(now->jointAngleError) && knIsFinite(knLengthSquared(now->momentum)) &&
		   knIsFinite(knLengthSquared(now->angularMomentum));
}

void cliMeasures_AddState(cliMeasures* measures, knWorld* world) {
	knMeasures now = knWorld_Measure(world);
	if (!allFinite(&now)) {
		measures->finite = false;
		return;
	}
	measures->latest = now;
	double energy = now.kinetic + now.potential;
	if (measures->stateCount == 0) {
		measures->energyInitial = energy;
		measures->jointErrorInitial = now.jointError;
		measures->momentumInitial = now.momentum;
		measures->angularInitial = now.angularMomentum;
	}
	measures->jointErrorAfter =
		measures->stateCount > 0 ? knMax(measures->jointErrorAfter, now.jointError) : 0.0;
	measures->stateCount += 1;
	measures->jointErrorMax = knMax(measures->jointErrorMax, now.jointError);
	measures->jointErrorFinal = now.jointError;
	measures->jointErrorSum += now.jointErrorMean;
	measures->angleErrorMax = knMax(measures->angleErrorMax, now.jointAngleError);
	measures->angleErrorFinal = now.jointAngleError;
	measures->energyFinal = energy;
	measures->gainMax = knMax(measures->gainMax, energy - measures->energyInitial - measures->added);
	measures->kineticFinal = now.kinetic;
	measures->kineticMax = knMax(measures->kineticMax, now.kinetic);
	measures->linearDrift = knMax(measures->linearDrift, knDistance(now.momentum, measures->momentumInitial));
	measures->angularDrift =
		knMax(measures->angularDrift, knDistance(now.angularMomentum, measures->angularInitial));
	measures->displacementMax = knMax(measures->displacementMax, now.displacement);
}

double cliTotalEnergy(knWorld* world) {
	knMeasures now = knWorld_Measure(world);
	return now.kinetic + now.potential;
}

void cliMeasures_AddScript(cliMeasures* measures, knWorld* world, double energyBefore) {
	double difference = cliTotalEnergy(world) - energyBefore;
	measures->added += knIsFinite(difference) ? difference : 0.0;
}

// Of long runs every second time is dropped whenever the array is full.
static bool addStepTime(cliMeasures* measures, double time) {
	knAllocator allocator = knAllocator_Default();
	if ((measures->steps - 1) % measures->stride != 0) {
		return true;
	}
	if (measures->stepTimes.count == MAX_STEP_TIMES) {
		for (int i = 0; i < MAX_STEP_TIMES / 2; ++i) {
			measures->stepTimes.items[i] = measures->stepTimes.items[2 * i];
		}
		measures->stepTimes.count = MAX_STEP_TIMES / 2;
		measures->stride *= 2;
	}
	return KN_ARRAY_PUSH(&allocator, &measures->stepTimes, time);
}

// What guard, fall-backs and projections did.
static void addSolver(cliMeasures* measures, const knStepReport* report) {
	measures->guardedSteps += report->guarded != 0;
	measures->jointGapMax = knMax(measures->jointGapMax, report->jointGap);
	measures->jointSubSteps += report->jointSubSteps;
	measures->projectedSum += knIsFinite(report->projected) ? report->projected : 0.0;
	if (report->jointRung > measures->jointRungMax) {
		measures->jointRungMax = report->jointRung;
	}
	if (report->jointConflicts > measures->jointConflictsMax) {
		measures->jointConflictsMax = report->jointConflicts;
	}
}

bool cliMeasures_AddStep(cliMeasures* measures, const knStepReport* report) {
	measures->steps += 1;
	measures->contactsMax =
		report->contacts > measures->contactsMax ? report->contacts : measures->contactsMax;
	measures->contactsSum += report->contacts;
	measures->queriesSum += report->queries;
	measures->iterationsSum += report->iterations;
	measures->sleeping = report->sleeping;
	measures->stepTimeSum += report->stepTime;
	measures->collideTimeSum += report->collideTime;
	measures->solveTimeSum += report->solveTime;
	measures->jointTimeSum += report->jointTime;
	measures->added += knIsFinite(report->work) ? report->work : 0.0;
	addSolver(measures, report);
	return addStepTime(measures, report->stepTime);
}

bool cliDescribeCrowd(knWorld* world, const knPenetration* now, char* text, size_t capacity) {
	const knModel* model = knWorld_Model(world);
	const knScene* scene = knModel_Scene(model);
	const int bodies = knModel_BodyCount(model);
	if (now->pairs < CROWD_PAIRS || now->pairs < CROWD_PER_BODY * bodies) {
		return false;
	}
	const knBodyDef* a = knScene_GetBody(scene, knScene_GetShapeBody(scene, now->shapeA));
	const knBodyDef* b = knScene_GetBody(scene, knScene_GetShapeBody(scene, now->shapeB));
	snprintf(text, capacity,
			 "%d pairs of shapes overlap at the start, %d for each body ('%.40s' and '%.40s' by %.3g m): "
			 "steps will be slow",
			 now->pairs, 2 * now->pairs / bodies, a != NULL ? a->name : "world",
			 b != NULL ? b->name : "world", now->max);
	return true;
}

// At the start, things that lie in each other are worth a word: nobody means to simulate a thousand contacts a body.
static void warnOfCrowd(knWorld* world, const knPenetration* now) {
	char text[256];
	if (cliDescribeCrowd(world, now, text, sizeof(text))) {
		fprintf(stderr, "knuckle: warning: %s\n", text);
	}
}

knStatus cliMeasures_AddPenetration(cliMeasures* measures, knWorld* world, knError* error) {
	knPenetration now;
	knStatus status = knWorld_MeasurePenetration(world, &now, error);
	if (status == KN_OK && measures->penetrationCount == 0) {
		warnOfCrowd(world, &now);
	}
	if (status != KN_OK) {
		return status;
	}
	if (!knIsFinite(now.max) || !knIsFinite(now.mean)) {
		measures->finite = false;
		return KN_OK;
	}
	measures->penetrationCount += 1;
	measures->penetrationMax = knMax(measures->penetrationMax, now.max);
	measures->penetrationFinal = now.max;
	measures->penetrationSum += now.mean;
	return KN_OK;
}

void cliMeasures_Finish(cliMeasures* measures, knWorld* world) {
	measures->hash = knWorld_Hash(world);
	measures->hashed = true;
}

// The bits of doubles that are not negative sort as the numbers do.
static uint64_t sortKey(double value) {
	uint64_t key;
	memcpy(&key, &value, sizeof(key));
	return key;
}

double cliMeasures_StepTime(const cliMeasures* measures, double share) {
	int count = measures->stepTimes.count;
	knAllocator allocator = knAllocator_Default();
	knKeyed* keys = knAllocArray(&allocator, (size_t)count, sizeof(knKeyed));
	knArena arena;
	knArena_Init(&arena, &allocator);
	double result = 0.0;
	if (keys != NULL) {
		for (int i = 0; i < count; ++i) {
			keys[i] = (knKeyed){ sortKey(knMax(0.0, measures->stepTimes.items[i])), (uint32_t)i };
		}
		if (knSort_Keys(keys, count, &arena)) {
			int rank = (int)ceil(share * count) - 1;
			rank = rank < 0 ? 0 : rank >= count ? count - 1 : rank;
			result = measures->stepTimes.items[keys[rank].value];
		}
	}
	knArena_Free(&arena);
	knFree(&allocator, keys, (size_t)count * sizeof(knKeyed));
	return result;
}
