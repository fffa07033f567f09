// What the capsule's pair functions share.
#pragma once

#include "collide/segment.h"

// The point of a capsule's surface seen from core parameter t towards the unit vector `direction`: on the cap
// if t is an end and the direction leads outward, else on the side, across the axis.
knVec3 knCapsule_Surface(const knSegment* core, double radius, double t, knVec3 direction);
