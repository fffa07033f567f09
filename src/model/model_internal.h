// Between the files that make up the model.
#pragma once

#include "core/hash.h"
#include "model/block_layout.h"
#include "model/model.h"

// A hash of every number that results depend on (model_fingerprint.c).
uint64_t knModel_ComputeFingerprint(const knModel* model);

// --- model_control.c ---

void knModelControl_Count(knModelControl* control, const knScene* scene);
void knModelControl_CountDrag(knModelControl* control, const knScene* scene, int bodyCount);
void knModelControl_LayOut(knModelControl* control, knBlockLayout* carver, int jointCount);
// After bodies and joints; false when out of memory.
bool knModelControl_Compile(knModel* model, const knScene* scene);
uint64_t knModelControl_Hash(uint64_t h, const knModelControl* control);
