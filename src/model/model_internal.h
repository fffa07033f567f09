// Between the files that make up the model.
#pragma once

#include "model/model.h"

// A hash of every number that results depend on (model_fingerprint.c).
uint64_t knModel_ComputeFingerprint(const knModel* model);
