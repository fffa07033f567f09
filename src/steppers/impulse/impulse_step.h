// What the phases of one step of the impulse method hand on to each other; nothing outlives the step.
//
//   forces      m.blocks.u = velocities with this step's forces
//   contacts    m.contacts, m.pairs: one query with margins that cover the step's motion
//   levels      m.graph
//   contact     m.blocks.u and the points change by impulses
#pragma once

#include "steppers/maximal/maximal_step.h"

// What is solved together in the default scheme, by group of bodies. The first two take the mean time step
// (dynamics/time_step.h), whose stages they are.
typedef enum knImpulsePart {
	KN_PART_SMALL, // few enough points to be solved to the end
	KN_PART_LARGE,
	KN_PART_END, // with joints, or with bodies that are followed along their way: velocities at the end of the step
	KN_PART_MEAN_COUNT = KN_PART_END,
} knImpulsePart;

typedef struct knImpulseStep {
	knMaximalStep m;   // its stages are knImpulsePart. knImpulseStep_Prepare
	int32_t* endStage; // [bodyCount] the stage of KN_PART_END for its bodies, else -1. knContactSolve_Build
	knSweepSet set;    // all points: a stage a level of the parts, part after part, then one of KN_PART_END
	bool built;        // the set is
} knImpulseStep;

// Sweeps over contacts in this step.
int knImpulseStep_Sweeps(const knImpulseStep* step);
// All that the default scheme knows before it collides: contacts, joints, groups.
knStatus knImpulseStep_Prepare(knImpulseStep* step);
// The velocity of a body before forces.
static inline knTwist knImpulseStep_OldVelocity(const knImpulseStep* step, int body) {
	return knSubT(step->m.blocks.u[body], knMaximal_Force(&step->m, body));
}

// contact_solve.c: sweeps over all points, and the solver of the mean time step.
// Begins the time step, once contacts are listed and before their memories go. False when out of memory, also below.
bool knContactSolve_Begin(knImpulseStep* step);
// KN_PART_END: sweeps over points and rows of joints.
bool knContactSolve_RunEnd(knImpulseStep* step);
// The others: sweeps over the levels, while bodies turn with new arms.
bool knContactSolve_Run(knImpulseStep* step);
// After the move: overlaps, joints that are apart.
bool knContactSolve_Correct(knImpulseStep* step);
