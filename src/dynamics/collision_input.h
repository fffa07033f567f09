// What the collider is asked in a step: poses, how far each body may come, and joints made at run time.
#pragma once

#include "core/arena.h"
#include "dynamics/integrate.h"
#include "model/state.h"

// m, the collision envelope eps_c of a body: within it, bodies count as near, and small overlaps as harmless.
double knCollisionEnvelope(const knModel* model, int body);

// Frames, active shapes and run-time exclusions of the state; `margins` [bodyCount] may be NULL. The lists
// live in the arena. An attached joint keeps its two bodies from touching as long as it exists, enabled or
// not, like an authored one. False when the arena has no memory.
bool knCollisionInput_Make(knCollideInput* input, const knModel* model, const knState* state,
						   const double* margins, const knTasks* tasks, knArena* arena);

// Margins for a step: half an envelope (resting bodies keep their contacts) plus, with `predict`, the way each
// body can go at its present velocity, so that what may touch during the step is seen before. Only the way towards
// each other matters, so all ways may be taken as seen by an observer who moves with `drift`: one who falls for the
// step sees bodies at rest go nowhere, whatever gravity has just added to their velocities. NULL: no memory in the
// arena.
double* knCollisionInput_Margins(const knModel* model, const knBlocks* blocks, bool predict, knVec3 drift,
								 knArena* arena);
