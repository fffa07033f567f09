// What the scene builders share: a builder that remembers its first failure (so that a scene reads as a list of things),
// seeded random numbers, the live twins of stacks, and the layer forces of a pile.
#pragma once

#include "catalogue.h"

// The rows of the catalogue, one file each (or one for a family).
extern const knSceneEntry knBoxStackEntry, knWallEntry, knTowerEntry, knBallGridEntry, knPyramidEntry;
extern const knSceneEntry knJointsEntry, knPendulumEntry, knHeavyChainEntry, knMassRatioEntry;
extern const knSceneEntry knDominoesEntry, knSlopeEntry, knCradleEntry;
extern const knSceneEntry knFallingRoofEntry, knRoofTowerEntry, knSiloEntry;
extern const knSceneEntry knPlateEntry, knSeeSawEntry, knCantileverEntry, knUnequalPillarsEntry;
extern const knSceneEntry knStruckStackEntry, knSledEntry, knCardHouseEntry;
extern const knSceneEntry knCowPileEntry, knSkeletonsEntry;
extern const knSceneEntry knLettersEntry, knRandomPileEntry, knSparseStackEntry, knDenseStackEntry,
	knArchEntry;
extern const knSceneEntry knTankEntry, knMagnetsEntry, knNetEntry, knBridgeEntry, knRingsEntry,
	knRagdollsEntry;
extern const knSceneEntry knPushThroughEntry, knFourBarEntry, knBricardEntry, knFreeRingEntry,
	knShortLoopEntry, knLinkedToriEntry;
extern const knSceneEntry knSticksEntry, knSpringEntry, knDiskEntry, knGasEntry, knCrankEntry;
extern const knSceneEntry knCapstanEntry, knChainPegsEntry;
extern const knSceneEntry knPegsEntry, knThreadingEntry, knSnakeEntry, knRopePileEntry, knTwoRopesEntry;
extern const knSceneEntry knHumanoidEntry, knArmEntry, knGripperEntry, knDoorEntry, knTwoContactsEntry;

// Colours of the catalogue.
#define KN_COLOR_GROUND 0x7b838c
#define KN_COLOR_CLAY 0xb5654a
#define KN_COLOR_SAND 0xd9b26f
#define KN_COLOR_BLUE 0x4f81bd
#define KN_COLOR_TEAL 0x3f9c8f
#define KN_COLOR_PLUM 0x8a5a9e
#define KN_COLOR_STEEL 0xa9b2bc
#define KN_COLOR_RED 0xc0443c

// --- building --------------------------------------------------------------------------------------------

// After a failure every call does nothing and returns a null id; knSceneBuilder_End then returns NULL.
typedef struct knSceneBuilder {
	const knSceneArgs* args;
	knScene* scene; // NULL after a failure
	knError* error;
	knBodyId ground; // the world, or the moving ground of twin 5
	uint64_t random; // state of the generator
} knSceneBuilder;

knSceneBuilder knSceneBuilder_Begin(const knSceneArgs* args, knError* error);
knScene* knSceneBuilder_End(knSceneBuilder* builder);
// Gives the scene up when `ok` is false; the error has been filled by the call that failed.
void knSceneBuilder_Require(knSceneBuilder* builder, bool ok);

// Level ground with its surface at z = 0: a plane of the world, or, in twin 5, a kinematic block of half width `reach`.
// Added before any other body, so that its shapes come first.
void knSceneBuilder_Ground(knSceneBuilder* builder, double reach);
// A box that belongs to the ground (and so moves with it in twin 5); also added before any body.
void knSceneBuilder_Fixture(knSceneBuilder* builder, const char* name, knFrame frame, knVec3 halfExtents);
// A round bar of the world about the middle `at`, along the unit vector `along`.
void knSceneBuilder_Bar(knSceneBuilder* builder, const char* name, knVec3 at, knVec3 along, double radius,
						double halfLength);
// Four walls around the rectangle |x| <= insideX, |y| <= insideY, standing on z = 0.
void knSceneBuilder_Walls(knSceneBuilder* builder, double insideX, double insideY, double height);
knBodyId knSceneBuilder_Box(knSceneBuilder* builder, const char* name, knFrame frame, knVec3 halfExtents,
							uint32_t color);
knBodyId knSceneBuilder_Ball(knSceneBuilder* builder, const char* name, knVec3 center, double radius,
							 double density, uint32_t color);
// A capsule that reaches from one point to the other, with the given mass.
knBodyId knSceneBuilder_Rod(knSceneBuilder* builder, const char* name, knVec3 from, knVec3 to, double radius,
							double mass, uint32_t color);
// A body of one shape.
knBodyId knSceneBuilder_Body(knSceneBuilder* builder, const knBodyDef* def, const knGeom* geom);
// The shape that was added last, to be changed; NULL after a failure.
knShapeDef* knSceneBuilder_LastShape(knSceneBuilder* builder);
// Closes the joint at the bodies' present poses.
knJointId knSceneBuilder_Joint(knSceneBuilder* builder, knJointDef* def, knBodyId parent, knBodyId child,
							   knVec3 anchor, knVec3 axis);

// Uniform in [lower, upper), the same on every machine.
double knSceneBuilder_Uniform(knSceneBuilder* builder, double lower, double upper);
// A colour a little lighter or darker than `color`.
uint32_t knSceneBuilder_Shade(knSceneBuilder* builder, uint32_t color);

// --- live twins of a stack ---------------------------------------------------------------------------------

// How far from its place a body of the given layer starts: twin 3 raises the chosen one by 1 mm, twin 4 shifts the
// top third (at least one layer).
knVec3 knTwin_Offset(const knSceneArgs* args, int layer, int layerCount, knVec3 shift, bool chosen);
int knTwin_ShiftedLayers(int layerCount);
// Twin 2 removes the ground (every shape added before the first body) at 1 s; twin 5 accelerates it upwards by 2 m/s2.
void knTwin_Script(knWorld* world, const knSceneArgs* args);

// --- scripts -----------------------------------------------------------------------------------------------

// True before the one step that starts nearest to `time`.
bool knScript_Due(const knWorld* world, double time);
// True once `time` has come and the world has no body of that name yet.
bool knScript_Appears(const knWorld* world, const char* name, double time);
// Adds a body of one shape; friction and restitution are those of the scene's first shape, which --set may have changed.
// A failure leaves the world as it is.
void knScript_AddBody(knWorld* world, const knBodyDef* def, knGeom* geom, double density);
knBodyId knScript_Find(const knWorld* world, const char* name);

// --- facts -------------------------------------------------------------------------------------------------

// layer_force_min and layer_force_max: for each horizontal cut between layers of height `layerHeight` (as authored), the
// contact forces that cross it, over the weight above it; mean over the last second of the run.
void knLayerForces_Observe(knWorld* world, const knSceneArgs* args, double layerHeight,
						   knSceneChecks* checks);
// rest_speed and rest_spin: the largest speed and angular speed of any dynamic body during the last second of the run.
void knRest_Observe(knWorld* world, const knSceneArgs* args, knSceneChecks* checks);
// The same, and outside: the bodies whose centre is below the ground.
void knPile_Observe(knWorld* world, const knSceneArgs* args, knSceneChecks* checks);
// support: the upward contact force on all dynamic bodies over their weight, mean over the last second of the run. Keeps its
// sums in the last two numbers of checks->memory.
void knSupport_Observe(knWorld* world, const knSceneArgs* args, knSceneChecks* checks);
// True during the last second of the run.
bool knObserve_LastSecond(const knWorld* world, const knSceneArgs* args);
// first_contact: s, the end of the step in which the first two shapes touched.
void knFirstContact_Observe(knWorld* world, const knSceneArgs* args, knSceneChecks* checks);
// A fact that keeps its first value.
void knSceneChecks_Once(knSceneChecks* checks, const char* name, double value);
// A fact that keeps its largest value.
void knSceneChecks_Max(knSceneChecks* checks, const char* name, double value);
