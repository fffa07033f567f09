// The force of a muscle and how it changes with length and speed.
#pragma once

#include "knuckle/control.h"

// A force law about the present state: f = force - stiffness l - damping l'.
typedef struct knForceLaw {
	double force, stiffness, damping;
} knForceLaw;

// Its force at length l and rate l' with activation u; negative: it pulls.
double knMuscle_Force(const knMuscle* muscle, double u, double length, double rate);
// The tangent of that force.
knForceLaw knMuscle_Law(const knMuscle* muscle, double u, double length, double rate);
