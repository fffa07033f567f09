// Ropes: rods in a row along a path, joined by hinges whose axes alternate, for the scenes of long articulated bodies.
#pragma once

#include "scene_tools.h"

// Of the scenes that are made for the adaptive stepper, the default first.
#define KN_ROPE_STEPPERS "adaptive reduced velocity impulse"

// Where the rope has its joint `index`, 0 .. links (the last: its free end).
typedef knVec3 knRopePathFn(int index, const void* context);

// Hinges turn in turn about `across`, made perpendicular to the rope, about what is perpendicular to both and, with three
// kinds, about the rope itself. Each is at zero in the rope's first pose, however it is bent there.
typedef struct knRopeDef {
	const char* name; // bodies are called NAME0, NAME1, ...; hinges NAME_hinge0, ...
	int links;
	double radius;
	knRopePathFn* path;
	const void* context;
	knVec3 across;
	int kinds;       // of hinges, 2 or 3
	bool anchored;   // hinge 0 holds it to `parent`; else it is free
	knBodyId parent; // null: the world
	double damping;  // N m s, of every hinge
	uint32_t colors[2];
} knRopeDef;

knRopeDef knRopeDef_Default(void);
// Returns the first link. Rods reach from joint to joint and have the density of water.
knBodyId knRope_Add(knSceneBuilder* builder, const knRopeDef* def);
// Straight on from `from`, `step` a link.
typedef struct knRopeLine {
	knVec3 from, step;
} knRopeLine;
knVec3 knRope_Straight(int index, const void* line);

// The scene's own number of active joints, where it runs under the adaptive stepper; --set active=N changes it.
void knRope_SetActive(knSceneBuilder* builder, int active);
