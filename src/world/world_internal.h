// The world's inside. Caches here can be rebuilt without changing any result; what results depend on is in `state`.
#pragma once

#include "core/arena.h"
#include "core/array.h"
#include "knuckle/world.h"
#include "model/state.h"
#include "steppers/stepper_ops.h"

struct knWorld {
	// fixed at creation
	knAllocator allocator;
	const knStepperOps* ops;
	knSettings settings;
	knTasks tasks;
	knLog log;
	knClockFn* clock;
	void* clockContext;
	knForceFn* forceFn;
	void* forceContext;

	// replaced by edits of the topology
	const knModel* model; // retained
	knState state;
	knCollider* collider;

	// per step
	knArena arena;        // cleared by knWorld_Step
	knState backup;       // the state before the step, for a failed one
	knStepReport report;  // knWorld_Step

	// read-out of the last step, made by publish (events.c)
	KN_ARRAY(knContact) contacts;
	KN_ARRAY(knTouchEvent) beginEvents;
	KN_ARRAY(knTouchEvent) endEvents;
	KN_ARRAY(knJointEvent) jointEvents;
	KN_ARRAY(knContact) bodyContacts; // knWorld_CollideBody
};
