// A ring of six nonconvex links on ball joints, for the scenes that drop many of them (rings, bridge).
#pragma once

#include "scene_tools.h"

#define KN_RING_LINKS 6
#define KN_RING_RADIUS 0.5 // to the joints

// Two crossed capsules, or a mesh of the same outline; shared by all links. NULL and an error on failure.
knGeom* knRing_LinkGeom(bool mesh, knError* error);
// A level ring about `center`, turned by `angle`; bodies NAME_0 .. NAME_5.
void knRing_Add(knSceneBuilder* builder, const char* name, knVec3 center, double angle, const knGeom* link);
