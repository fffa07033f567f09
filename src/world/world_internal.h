// The world's inside. What results depend on is in `state`; the caches can be rebuilt without changing any.
#pragma once

#include "core/arena.h"
#include "core/array.h"
#include "geom/bvh.h"
#include "knuckle/world.h"
#include "model/state.h"
#include "steppers/stepper_ops.h"

// An attached joint that knWorld_Rebuild made an authored one: its old id goes on working.
typedef struct knJointAlias {
	knJointId attached, authored;
} knJointAlias;

// A tree over the shapes' boxes for questions (query_world.c); not ready: the world has changed since.
typedef struct knQueryTree {
	bool ready;
	knBvh tree;
	int* shapes; // [tree.itemCount] shape of each item
} knQueryTree;

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
	knConvergenceFn* convergenceFn;
	void* convergenceContext;

	// replaced by edits of the topology (edit.c)
	const knModel* model; // retained
	knState state;
	knCollider* collider;
	KN_ARRAY(knJointAlias) aliases;

	knJointIslands* islands; // cache of the joint solver

	// per step
	knArena arena;       // cleared by knWorld_Step
	knState backup;      // the state before the step, for a failed one; while the journal is on it is older
	knJournal journal;   // or this, of steps that touch little. knWorld_Step
	knStepReport report; // knWorld_Step
	bool stepping;       // inside knWorld_Step: the user's force function may not edit or step the world

	// read-out of the last step, made by publish (events.c)
	KN_ARRAY(knContact) contacts;
	KN_ARRAY(knTouchEvent) beginEvents;
	KN_ARRAY(knTouchEvent) endEvents;
	KN_ARRAY(knJointEvent) jointEvents;
	KN_ARRAY(knContact) bodyContacts; // knWorld_CollideBody
	knQueryTree queries;              // knWorld_PrepareQueries
};

// --- create.c ---

// A world without state and collider; retains the model. Destroyed by knWorld_Destroy in any stage.
knWorld* knWorld_MakeShell(const knModel* model, const knWorldDef* def, const knStepperOps* ops,
						   knError* error);
// A collision query whose only purpose is to refuse a scene beyond the limits (KN_LIMIT) before any step.
knStatus knWorld_FirstQuery(knWorld* world, const knModel* model, const knState* state, knCollider* collider,
							knError* error);

// --- access.c: dense indices of ids, -1 if stale ---

int knWorld_BodyIndex(const knWorld* world, knBodyId body); // 0 for the world
int knWorld_ShapeIndex(const knWorld* world, knShapeId shape);
int knWorld_JointIndex(const knWorld* world, knJointId joint); // authored, then attached ones in use
knJointId knWorld_JointIdAt(const knWorld* world, int index);

// A body's motion, whether the state has it or not.
knFrame knWorld_Pose(const knWorld* world, int body);
knTwist knWorld_Velocity(const knWorld* world, int body);

// --- divergence.c ---

// Before the step: what users and scripts changed since the last one is no growth.
void knWorld_WatchStep(knWorld* world);
// After it: KN_DIVERGED with a sentence when it went beyond all bounds. Reads the report's work, the list of bodies
// that were written, and the backup.
knStatus knWorld_CheckDivergence(knWorld* world, const knStepContext* context, knError* error);

// --- drive.c ---

// Empties an attached slot.
void knWorld_FreeJointSlot(knWorld* world, int index);

// --- step.c ---

// Before something else than forces and motors is written from inside a step: the copy that the journal was instead of.
// False: no memory.
bool knWorld_TakeCopy(knWorld* world);

// --- edit.c ---

// Room for more attached joints: a new model with a larger capacity.
knStatus knWorld_GrowJoints(knWorld* world, knError* error);

// --- events.c ---

// Contacts, begin, end and joint events of a step that went well; releases joints that carried too much.
knStatus knWorld_Publish(knWorld* world, const knStepContext* context);
void knWorld_ClearReadout(knWorld* world);
knContact knWorld_MakeContact(const knWorld* world, const knStepContact* contact);

// --- query_world.c ---

void knWorld_FreeQueries(knWorld* world);
