// Jointed figures (ragdolls, skeletons) from a table. A figure's frame has x up the body from the pelvis, y to its left and z
// ahead. A paired part stands for two: the one on the left as written, and its mirror image on the right.
#pragma once

#include "scene_tools.h"

#define KN_FIGURE_MAX_PARTS 24
#define KN_FIGURE_FREE (-1) // held by no joint

typedef struct knFigurePart {
	const char* name;
	bool paired;
	int parent; // row of the table, above this one; of a paired part the one on the same side; or KN_FIGURE_FREE
	knJointKind joint;
	knVec3 anchor, axis; // in the figure's frame
	double swing;        // rad: a ball's cone, both ways; 0: none
	double lower, upper; // rad: a hinge's limits, or a ball's twist; equal: none
} knFigurePart;

// Makes the body of row `part`; `side` is 1 on the left and in the middle, -1 on the right.
typedef knBodyId knFigureBodyFn(knSceneBuilder* builder, const char* name, int part, double side,
								knFrame figure, void* context);

// Bodies are called NUMBER_NAME, NUMBER_NAME_left and NUMBER_NAME_right.
void knFigure_Add(knSceneBuilder* builder, int number, const knFigurePart* parts, int count, knFrame figure,
				  knFigureBodyFn* fn, void* context);
knVec3 knFigure_OnSide(knVec3 point, double side);
