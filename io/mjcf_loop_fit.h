// Loops whose two ends a file gives as numbers: what of their gap no motion of the joints can close.
#pragma once

#include "knuckle/scene.h"

// Moves the child's end of `joints` (loops of the scene) by the part of their gaps, as the scene stands, that the joints of
// the tree cannot close, where it is small: then the rest can be closed. `largest` becomes the largest move, m or rad.
// False when out of memory.
bool knLoopFit_Apply(knScene* scene, const knJointId* joints, int count, const knAllocator* allocator,
					 double* largest);
