// Islands with joints that are not solved at once (joint_step.h), and islands with bodies that are followed along their way: rows
// that see velocities at the end of the step (KN_WEIGHT_END), swept with the contacts. What joints lock is solved directly
// within every sweep, or row by row. A stepper brings the set of contacts, of which these are one stage:
//
//   knJointSweeps_Begin     rows of joints, with what they carried
//   knJointSweeps_Bounce    impacts of what bounces, one after the other along rows of bodies
//   knJointSweeps_AddRows   rows into the set, for sweeps over velocities
//   (sweeps; bodies move)
//   knJointSweeps_Land      what bounced ends where a bounce on the surface leads
//   knJointSweeps_Correct   overlap and joints that are apart
#pragma once

#include "dynamics/bounce.h"
#include "dynamics/contact_correction.h"
#include "dynamics/joint_rows.h"

typedef struct knJointSweeps {
	// in
	const knRowInput* input;
	knContactRows* contacts;
	const knIslands* islands;
	const knJointMemory* memory; // of the step before
	int memoryCount;             // 0: from nothing
	bool direct;                 // locked rows at once
	knState* state;
	knArena* arena;

	knJointRows joints; // knJointSweeps_Begin
	knRows rows;
	knJointRows errorList; // of corrections
	knRows errorRows;
	knSweepRows errors;
	knDirectRows locked;       // none: row by row
	knVec3* bounces;           // [pointCount] N s on B, of impacts; NULL: none. knJointSweeps_Bounce
	knBounceLanding* landings; // [bodyCount] of what bounced; NULL: none. The same
} knJointSweeps;

// False: no memory, also below. Room for rows, which need not be filled before the bodies' islands are known.
bool knJointSweeps_Reserve(knJointSweeps* sweeps);
bool knJointSweeps_Begin(knJointSweeps* sweeps);
// blocks.u changes. *rounds: how many.
bool knJointSweeps_Bounce(knJointSweeps* sweeps, int* rounds);
bool knJointSweeps_AddRows(knJointSweeps* sweeps, knSweepSet* set, const int32_t* stageOf, int stage);
void knJointSweeps_Land(const knJointSweeps* sweeps);
// Adds the impulses of the impacts to those of the contacts.
void knJointSweeps_ReportBounces(const knJointSweeps* sweeps);
// Sweeps over errors of positions in all stages of a set, of which `stage` is the last; joints that turned far are closed by
// more than one linear correction, over it alone.
bool knJointSweeps_Correct(knJointSweeps* sweeps, knContactCorrection* correction, knSweepSet* set,
						   const int32_t* stageOf, int stage, int count);
