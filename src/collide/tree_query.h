// What a collider's trees know of a place, as of its last query: for following bodies and for queries.
#pragma once

#include "collide/collider.h"

// Adds the active shapes whose boxes (with their margins) overlap `box`, and planes that reach it. In no order.
// False: no memory, as far as `push` says so.
bool knCollider_Nearby(const knCollider* collider, const knAabb* box, bool (*push)(int shape, void* context),
					   void* context);
// Whether two shapes may touch in this call, wherever they are.
bool knCollider_MayTouch(const knCollider* collider, const knCollideInput* input, int shapeA, int shapeB);
