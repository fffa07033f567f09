// The catalogue as JSON, for programs: `knuckle scenes --json` and the viewer.
#pragma once

#include "catalogue.h"
#include "core/json.h"

// An array with an object for each scene: name, summary, source, bodies, joints, steppers, dt, time, twins, parameters.
void knCatalogue_WriteJson(knJson* json);
