// The impulse stepper as published (scheme=paper): what its files hand to each other.
#pragma once

#include "steppers/impulse/impulse_step.h"

// A step but for what every scheme ends with.
knStatus knImpulsePaper_Step(knImpulseStep* step);

// --- contact_paper.c ---

#define KN_SHOCK_JOINTS 2 // setting shock: joints take part in shock propagation

// Whether anything bounced; velocities in blocks.u.
bool knContactPaper_Collisions(knImpulseStep* step);
// Contact and joints, level by level; shock propagation; joints alone.
knStatus knContactPaper_Contact(knImpulseStep* step);
