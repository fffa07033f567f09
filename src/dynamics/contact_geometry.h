// Where a contact of the start of a step is at other poses of its bodies, and the arms by which it is a row on mean
// velocities. Points are carried along with their shapes without asking the collider again: corners as material points, points
// on balls, capsules and rims of cylinders by the curvature there.
#pragma once

#include "dynamics/contact_rows.h"

// A contact at given poses.
typedef struct knPlacedContact {
	knVec3 onA, onB; // the surfaces' points
	knVec3 n;        // from A to B, unit
	double gap;      // m, along n
} knPlacedContact;

// A point of the list with its bodies moved from the poses `start`, at which it was found, to `now`.
knPlacedContact knContactGeometry_At(const knContactRows* list, const knModel* model, const knFrame* start,
									 const knFrame* now, int point);
// Normal, tangents and arms of a point of the list for the mean velocities of a motion from the poses `begin` to `end`:
//
//   one body moves   its arm is the mean over the motion, h J u the change of the gap
//   both move        one common point, the mean of the surfaces' points at begin and end: momenta stay exact
//
// What the point carries keeps its direction. `turn` [bodyCount] rad: rotation vectors of the motion.
void knContactGeometry_Mean(const knContactRows* list, const knModel* model, const knFrame* start,
							const knFrame* begin, const knFrame* end, const knVec3* turn, int point);
// Normal, tangents, arms and depth at the poses `now`.
void knContactGeometry_Place(const knContactRows* list, const knModel* model, const knFrame* start,
							 const knFrame* now, int point);
