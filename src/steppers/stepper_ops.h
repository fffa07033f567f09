// The table of steppers and what a step gets to see. A stepper reads the model, advances the state, and
// leaves contacts with their impulses for events and read-out. It never sees the world.
#pragma once

#include "core/arena.h"
#include "core/log.h"
#include "dynamics/joint_island.h"
#include "dynamics/step_contact.h"
#include "knuckle/stepper.h"
#include "knuckle/world.h"
#include "model/journal.h"

// Runs the next phase of a step unless one has failed.
#define KN_THEN(status, phase)                                                                               \
	do {                                                                                                     \
		if ((status) == KN_OK) {                                                                             \
			(status) = (phase);                                                                              \
		}                                                                                                    \
	} while (0)

typedef struct knStepContext knStepContext;

// Contacts of the context's bodies, at the state's poses and for motions by velocities u during h; like knCollide.
typedef knStatus knFindContactsFn(knStepContext* context, const knTwist* u, double h, knContactSet* set);

// Made fresh by knWorld_Step; nothing here outlives the step.
struct knStepContext {
	const knModel* model;
	const knSettings* settings;
	knState* state;
	knCollider* collider;
	knJointIslands* islands; // cache of the joint solver
	knArena* arena;          // cleared at the start of the step
	knTasks tasks;
	const knLog* log;
	const knAllocator* allocator; // for growing the stepper's part of the state; not in a warm step
	knClockFn* clock;             // may be NULL
	void* clockContext;
	knConvergenceFn* convergenceFn; // may be NULL
	void* convergenceContext;
	knFindContactsFn* findContacts; // of a step within a step whose bodies are not the collider's; else NULL
	void* findData;

	knJournal* journal; // of what is written of the state; NULL or off: nothing to keep

	// out
	const int* written;      // bodies whose motion the step wrote; NULL: all. Of ops that journal
	const knVec3* writtenAt; // where their centres were
	int writtenCount;
	knStepReport* report;
	knStepContact* contacts; // in the arena, sorted by (shapeA, shapeB, feature)
	int contactCount;
	knError* error;
};

typedef struct knStepperOps {
	const char* name;
	const char* help;
	bool sleeps; // has sleeping of groups at rest; else sleep=1 is taken, and a warning says so
	// KN_UNSUPPORTED with a sentence that says why, and which stepper can; NULL: it takes every model.
	knStatus (*check)(const knModel* model, const knSettings* settings, knError* error);
	// Bytes of private state at the start.
	size_t (*privateSize)(const knModel* model, const knSettings* settings);
	// One step; on failure the caller restores the state from before.
	knStatus (*step)(knStepContext* context, double dt);
	// Whether the next step keeps in the journal what it overwrites and lists the bodies that it moves, so that the world
	// need not look at the others; NULL: never.
	bool (*journals)(const knModel* model, const knState* state);
	// Brings stale poses up to date; NULL if this stepper leaves none.
	void (*sync)(const knModel* model, knState* state);
	// The motion of a body whose pose is stale, the same that sync writes; false: it is as the state says. With sync.
	bool (*motion)(const knModel* model, const knState* state, int body, knFrame* pose, knTwist* velocity);
	// Whether a body moves by itself: not frozen to the one that it hangs on; NULL: this stepper freezes none.
	bool (*active)(const knModel* model, const knState* state, int body);
	// Kinetic energy and that of gravity without a look at every body; false: not known. With journals.
	bool (*energy)(const knModel* model, const knState* state, double* energy);
	// Carries the stepper's part over to an edited model (after knState_Migrate); NULL: it starts empty.
	// False when out of memory.
	bool (*migrate)(knState* to, const knModel* toModel, const knState* from, const knModel* fromModel,
					const knAllocator* allocator);
} knStepperOps;

// NULL if unknown. NULL past the end for the index form.
const knStepperOps* knStepperOps_Find(const char* name);
const knStepperOps* knStepperOps_At(int index);

extern const knStepperOps knVelocityStepper;
extern const knStepperOps knImpulseStepper;
extern const knStepperOps knReducedStepper;
extern const knStepperOps knAdaptiveStepper;

// Seconds, or 0 without a clock.
static inline double knStepContext_Now(const knStepContext* context) {
	return context->clock != NULL ? context->clock(context->clockContext) : 0.0;
}
