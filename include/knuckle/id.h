// Ids: small structs by value. Zero is null. `index1` is the slot plus one, `generation` tells a slot's
// present owner from earlier ones. Ids made by a scene stay valid in every model and world compiled from it.
#pragma once

#include "knuckle/base.h"

KN_BEGIN_C

typedef struct knBodyId {
	uint32_t index1;
	uint32_t generation;
} knBodyId;

typedef struct knShapeId {
	uint32_t index1;
	uint32_t generation;
} knShapeId;

typedef struct knJointId {
	uint32_t index1;
	uint32_t generation;
} knJointId;

// The null body id stands for the world: the fixed body to which the ground belongs.
#define KN_WORLD_BODY ((knBodyId){ 0, 0 })

#define KN_ID_IS_NULL(id) ((id).index1 == 0)
#define KN_ID_EQUALS(id1, id2) ((id1).index1 == (id2).index1 && (id1).generation == (id2).generation)

KN_END_C
