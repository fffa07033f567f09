// What the published contact needs beside the impulse at their point (knuckle/impact.h): turning.
#pragma once

#include "knuckle/impact.h"

// What changes the relative angular velocity of two bodies by dw and leaves the velocity at their point alone: an
// angular impulse g and an impulse j at the point, both on B. K12 = sum [r]^T I^-1, K22 = sum I^-1.
void knImpact_Turn(const knMat33* K, const knMat33* K12, const knMat33* K22, knVec3 dw, knVec3* j, knVec3* g);

// The relative angular velocity after rolling and spinning friction: its parts along n and across it are each
// reduced by `reduction` (rad/s), to zero at most.
knVec3 knImpact_ReduceTurning(knVec3 w, knVec3 n, double reduction);
