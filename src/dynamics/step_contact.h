// A contact that a step used, with what it carried. Written by the stepper, read by the world's events.
#pragma once

#include "knuckle/collide.h"

typedef struct knStepContact {
	int shapeA, shapeB;
	knContactPoint point; // as detected at the start of the step
	knVec3 impulse;       // N s, on B
} knStepContact;
