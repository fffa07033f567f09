// The velocity stepper as published (scheme=paper).
#pragma once

#include "steppers/velocity/velocity_step.h"

// A step but for what every scheme ends with.
knStatus knVelocityPaper_Step(knVelocityStep* step);
