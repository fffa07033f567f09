// A live session: one scene that runs, may be touched, and remembers where it was. The viewer's worker drives it through
// wasm_api.c; it knows nothing of browsers, so that tests drive it natively too.
//
// Going back restores the last snapshot before the wanted step and steps on from there: the same steps with the same
// drags give the same bits, so the state is exactly what it was. Whatever is done to a world in its past (a drag, a cut)
// forgets what came after.
#pragma once

#include "core/json.h"
#include "knuckle/knuckle.h"
#include "knuckle/measure.h"
#include "page_store.h"
#include "scene_request.h"

#define KN_SESSION_KEPT 30.0 // s of simulated time that can be gone back

typedef struct knSession knSession;

// Builds or loads what is asked for; NULL after a complaint (cliFail).
knSession* knSession_Open(const cliSceneRequest* request);
// A compiled scene (knScene_FromBytes); dt, stepper and settings of `request` apply, its source does not.
knSession* knSession_OpenBytes(const void* bytes, size_t size, const cliSceneRequest* request);
void knSession_Close(knSession* session);

knWorld* knSession_World(knSession* session);
double knSession_Dt(const knSession* session);
int64_t knSession_Step(const knSession* session);   // of the state that is shown
int64_t knSession_Oldest(const knSession* session); // the first step that can be gone back to
int64_t knSession_Latest(const knSession* session); // the last that was reached

// One step on. On an error the state is as before it.
knStatus knSession_Advance(knSession* session, knError* error);
// To a step between the oldest and the latest; nearest where it is not.
knStatus knSession_Seek(knSession* session, int64_t step, knError* error);

// --- touching it (touch.c) -----------------------------------------------------------------------------------------

// Pulls a point of a body towards a place as a critically damped spring would, until let go. Bodies count as
// knModel_BodyAt does; the point stands in the frame of the centre of mass, as the page draws it.
void knSession_Drag(knSession* session, int body, knVec3 local, knVec3 target);
void knSession_LetGo(knSession* session);
// The force of the drag in the present state, N.
knVec3 knSession_DragForce(const knSession* session, knVec3* point);

// A ball or a box of this half size and density, from a place with a velocity.
knStatus knSession_Throw(knSession* session, bool box, double size, double density, knVec3 from,
						 knVec3 velocity, knError* error);
knStatus knSession_Push(knSession* session, int body, knVec3 local, knVec3 impulse, knError* error);
knStatus knSession_SetGravity(knSession* session, knVec3 gravity, knError* error);
knStatus knSession_Cut(knSession* session, int joint, knError* error); // as knModel_JointAt counts
knStatus knSession_SetMotor(knSession* session, int joint, int axis, knMotorMode mode, double target,
							double maxForce, knError* error);
knStatus knSession_SetControl(knSession* session, int actuator, double control, knError* error);

// --- seeing it (look.c) --------------------------------------------------------------------------------------------

// The cast as a recording of one frame, as the page reads it; its bodies are the actors from 1 on.
knStatus knSession_Cast(knSession* session, knPageBytes* bytes, knError* error);
// Seven numbers a body: centre of mass, rotation x y z w.
void knSession_Poses(knSession* session, float* out);

#define KN_SESSION_CONTACT 11 // numbers a contact: point, normal, force (N), the two actors
int knSession_ContactCount(const knSession* session);
void knSession_Contacts(const knSession* session, float* out);

#define KN_SESSION_JOINT                                                                                     \
	16 // numbers a joint: both joint frames in the world (point, rotation x y z w), enabled, moves
void knSession_Joints(const knSession* session, float* out);

// Name, stepper, dt, gravity, joints with their axes, actuators with their controls.
void knSession_Describe(const knSession* session, knJson* json);

enum {
	KN_VALUE_TIME,
	KN_VALUE_KINETIC,
	KN_VALUE_POTENTIAL,
	KN_VALUE_MOMENTUM,
	KN_VALUE_ANGULAR_MOMENTUM,
	KN_VALUE_JOINT_GAP,
	KN_VALUE_JOINT_ANGLE,
	KN_VALUE_PENETRATION, // not a number unless asked for
	KN_VALUE_CONTACTS,
	KN_VALUE_COLLIDE_MS,
	KN_VALUE_SOLVE_MS,
	KN_VALUE_STEP_MS,
	KN_VALUE_MERIT,
	KN_VALUE_SWEEPS,
	KN_VALUE_ACTIVE,     // joints that move; not a number: the stepper freezes none
	KN_VALUE_COORDINATE, // first coordinate of the chosen joint; not a number: none is chosen
	KN_VALUE_COUNT
};
void knSession_Values(knSession* session, bool penetration, int joint, double out[KN_VALUE_COUNT]);

// What is remembered, as a file of the format of its extension.
knStatus knSession_Export(knSession* session, const char* path, knError* error);

// --- inside --------------------------------------------------------------------------------------------------------

typedef struct knSessionDrag {
	int64_t step; // that it acts in, counted from 0
	knBodyId body;
	knVec3 local, target;
} knSessionDrag;

typedef struct knSnapshot {
	int64_t step;
	bool pinned;          // taken after an edit: not to be dropped before it is too old
	const knModel* model; // retained
	void* bytes;
	size_t size;
} knSnapshot;

struct knSession {
	cliScene scene;
	knWorldDef def;
	knWorld* world;
	int64_t latest;
	int64_t every;                  // steps between snapshots
	size_t held;                    // bytes of all snapshots
	KN_ARRAY(knSnapshot) snapshots; // by step, the first is the start
	KN_ARRAY(knSessionDrag) drags;  // by step
	bool dragging;
	knSessionDrag drag;
	double worldMass; // of all dynamic bodies (knSession_Drag)
};

// After an edit between steps: what came later is forgotten, and the state kept as it is now.
knStatus knSession_Edited(knSession* session, knError* error);
// The pull of a drag in the world's present state, applied to its next step (touch.c).
void knSession_Pull(knSession* session, const knSessionDrag* drag);
