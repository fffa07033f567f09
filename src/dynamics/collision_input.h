// What the collider is asked in a step: poses, how far each body may come, and joints made at run time.
#pragma once

#include "core/arena.h"
#include "dynamics/integrate.h"
#include "model/state.h"

// m, the collision envelope eps_c of a body: within it, bodies count as near, and small overlaps as harmless.
double knCollisionEnvelope(const knModel* model, int body);
double knCollisionEnvelope_OfRadius(double radius); // never less for a larger one

// Frames, active shapes and run-time exclusions of the state; `margins` [bodyCount] may be NULL. The lists
// live in the arena. An attached joint keeps its two bodies from touching as long as it exists, enabled or
// not, like an authored one. False when the arena has no memory.
bool knCollisionInput_Make(knCollideInput* input, const knModel* model, const knState* state,
						   const double* margins, const knTasks* tasks, knArena* arena);
