// What the reduced stepper sees of the published step.
#pragma once

#include "steppers/reduced/paper/paper_step.h"

// Settings that ask for it: scheme=paper, or an explicit integrator.
bool knPaper_IsChosen(const knSettings* settings);
knStatus knPaper_Check(const knSettings* settings, knError* error);
knStatus knPaper_Step(knStepContext* context, double h);
