// What the reduced and the adaptive stepper see of the published step.
#pragma once

#include "steppers/reduced/paper/paper_step.h"

// Settings that ask for it: scheme=paper, or an explicit integrator.
bool knPaper_IsChosen(const knSettings* settings);
knStatus knPaper_Check(const knSettings* settings, knError* error);
// `divided`: accelerations by divide and conquer, else by articulated bodies.
knStatus knPaper_Step(knStepContext* context, double h, bool divided);
