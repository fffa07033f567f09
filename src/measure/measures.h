// Measures over a model and poses (world.h is above this layer; src/world wraps these for users).
#pragma once

#include "core/arena.h"
#include "knuckle/measure.h"
#include "model/state.h"

knJointError knMeasure_Joint(const knModel* model, const knState* state, int joint);
// Everything but penetration. `initial` are the centre positions that displacement counts from.
knMeasures knMeasure_All(const knModel* model, const knState* state, const knVec3* initial);
// A fresh collider, no caches. Excluded pairs, disabled shapes and sensors do not count.
knStatus knMeasure_Penetration(const knModel* model, const knState* state, const knAllocator* allocator,
							   const knTasks* tasks, knPenetration* penetration, knError* error);
