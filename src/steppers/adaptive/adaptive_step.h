// What the phases of the adaptive stepper hand on. step_adaptive.c is the list of phases, docs/methods/adaptive.md the
// mathematics.
#pragma once

#include "steppers/adaptive/hybrid_forest.h"
#include "steppers/reduced/reduced_step.h"
#include "steppers/stepper_ops.h"

// The hybrid body as a model of its own, in the step's arena: a body a segment, the joints that move, shapes as contacts
// ask for them. It is what the reduced stepper steps; shapes keep their indices.
typedef struct knWeldedWorld {
	knModel model;
	knState state;
	knAllocator allocator; // of the arena
	int* bodyOf;           // [model.bodyCount] root of the segment, or the body itself
	int* jointOf;          // [model.jointCount] of the full model
	int* driveOf;          // [model.control.driveCount] the same
} knWeldedWorld;

// A point of a flat patch: its place on the row, and whether it goes to the solver. weld_patches.c
typedef struct knPatchPoint {
	int index, pair; // of the set
	double along, across, up, gap;
	bool kept;
} knPatchPoint;

typedef struct knWeldPatch {
	int first, count; // of points
	double size;      // m, of a link
} knWeldPatch;

typedef struct knWeldPatches {
	knContactSet set; // all that was found
	knPatchPoint* points;
	knWeldPatch* items;
	int count;
	int dropped; // points that do not go to the solver
} knWeldPatches;

typedef struct knAdaptiveStep {
	knStepContext* context;
	double h;
	knHybridForest hybrid;
	bool changed; // users changed something since the last step. knAdaptive_Begin
	bool lazy;    // poses of links are left stale. knAdaptive_Begin

	knWeldedWorld world; // knAdaptive_Weld
	knStepContext inner; // the reduced stepper's. knAdaptive_Weld

	// contact search: all links, by the poses of the welded world. weld_contacts.c
	knFrame* linkPoses;      // [bodyCount]
	knTwist* linkVelocities; // [bodyCount]
	int* pressed; // [pressedCount] links of segments welded to the ground that scripted bodies run into
	int pressedCount;
	knWeldPatches patches; // weld_patches.c
} knAdaptiveStep;

knStatus knAdaptive_OutOfMemory(const knAdaptiveStep* step);

static inline bool knAdaptive_IsPaper(const knAdaptiveStep* step) {
	return step->context->settings->scheme == KN_SCHEME_PAPER;
}

// --- adaptive_begin.c ----------------------------------------------------------------------------------------------

// The hybrid body, with what users changed.
knStatus knAdaptive_Begin(knAdaptiveStep* step);
// Coordinates of the joints that moved in the step; those of the others stay.
void knAdaptive_WriteCoordinates(knAdaptiveStep* step);
// Poses and velocities of all links; or, where these may stay stale, of a link of each segment, for the world to check.
void knAdaptive_WriteLinks(knAdaptiveStep* step);
// What a step may write of a joint.
void knAdaptive_KeepJoint(const knAdaptiveStep* step, int joint);

// --- adaptive_read.c ------------------------------------------------------------------------------------------------

// Of knStepperOps.
bool knAdaptive_Journals(const knModel* model, const knState* state);
void knAdaptive_Sync(const knModel* model, knState* state);
bool knAdaptive_Motion(const knModel* model, const knState* state, int body, knFrame* pose,
					   knTwist* velocity);
bool knAdaptive_IsActive(const knModel* model, const knState* state, int body);
bool knAdaptive_Energy(const knModel* model, const knState* state, double* energy);

// --- weld.c --------------------------------------------------------------------------------------------------------

// The welded world of the present segments.
knStatus knAdaptive_Weld(knAdaptiveStep* step);
// What the reduced stepper made of it: segments, coordinates, memories.
knStatus knAdaptive_Unweld(knAdaptiveStep* step);
// Velocities of segments that do not fit their joints become those nearest that do.
knStatus knAdaptive_Project(knAdaptiveStep* step);
// A link's frame seen from the centre of its segment.
knFrame knAdaptive_InSegment(const knAdaptiveStep* step, int body, int* root);

// --- weld_contacts.c -----------------------------------------------------------------------------------------------

knFindContactsFn knAdaptive_FindContacts;

// --- weld_patches.c ------------------------------------------------------------------------------------------------

// Leaves points out of the set that others hold. False: no memory.
bool knWeldPatches_Reduce(knAdaptiveStep* step, knContactSet* set);
// The step's contacts with those points, and their shares of the load. False: no memory.
bool knWeldPatches_Spread(knAdaptiveStep* step);

// --- region.c ------------------------------------------------------------------------------------------------------

// Which joints move from now on, by what they would do if all that are near the front did.
knStatus knAdaptive_UpdateRegion(knAdaptiveStep* step);
// Cuts segments that are welded to the ground around the pressed links: neither they nor what runs into them answers, so
// no impulse would tell the next update.
knStatus knAdaptive_WakePressed(knAdaptiveStep* step);
