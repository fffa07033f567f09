// What a run reports: gathered step by step from the world's measures and step reports.
//
// Energy: `added` is what entered from outside, the work of drives, user forces and kinematic bodies (knStepReport.work)
// and what a script changed between steps. max_gain is the largest of E - E0 - added, at least 0 (its value at the start).
#pragma once

#include "catalogue.h"
#include "cli.h"
#include "core/array.h"

typedef struct cliMeasures {
	int64_t steps; // done
	bool finite;

	// of knStepReport (AddStep)
	int contactsMax, sleeping;
	double contactsSum, queriesSum, iterationsSum;
	double stepTimeSum, collideTimeSum, solveTimeSum, jointTimeSum; // s
	int64_t guardedSteps;
	double jointGapMax, projectedSum; // m, J
	int jointRungMax, jointConflictsMax;
	int64_t jointSubSteps;
	KN_ARRAY(double) stepTimes; // every `stride`-th
	int64_t stride;

	// of poses (AddState)
	knMeasures latest;
	int64_t stateCount;
	double jointErrorInitial, jointErrorMax, jointErrorFinal, jointErrorSum;
	double jointErrorAfter; // the largest after the first step
	double angleErrorMax, angleErrorFinal;
	double energyInitial, energyFinal, added, gainMax;
	double kineticFinal, kineticMax;
	knVec3 momentumInitial, angularInitial;
	double linearDrift, angularDrift;
	double displacementMax;

	// of the fresh query (AddPenetration)
	int64_t penetrationCount;
	double penetrationMax, penetrationFinal, penetrationSum;

	uint64_t hash; // of the last state (Finish)
	bool hashed;   // false: the run ended inside a step (Finish)
	knSceneChecks checks;
} cliMeasures;

void cliMeasures_Begin(cliMeasures* measures);
void cliMeasures_Free(cliMeasures* measures);
// The state at the start or after a step. Marks the run as not finite when it is so, and then leaves all else alone.
void cliMeasures_AddState(cliMeasures* measures, knWorld* world);
// Energy that appeared while a script ran, from the total before it.
void cliMeasures_AddScript(cliMeasures* measures, knWorld* world, double energyBefore);
bool cliMeasures_AddStep(cliMeasures* measures, const knStepReport* report); // false: out of memory
knStatus cliMeasures_AddPenetration(cliMeasures* measures, knWorld* world, knError* error);
// A sentence about far too many overlaps; false: there are not.
bool cliDescribeCrowd(knWorld* world, const knPenetration* now, char* text, size_t capacity);
void cliMeasures_Finish(cliMeasures* measures, knWorld* world);

// Kinetic plus potential.
double cliTotalEnergy(knWorld* world);
// The time, in s, that the given share of the steps did not exceed; 0 without steps or memory.
double cliMeasures_StepTime(const cliMeasures* measures, double share);
