// Shock propagation after the sweeps (Guendelman et al. 2003, 8.3; Erleben 2007): levels from the ground up, each swept
// while everything below counts as infinitely heavy, so that what few sweeps left over does not let a pile creep.
#pragma once

#include "dynamics/contact_groups.h"

typedef struct knShockPropagation {
	// in
	const knContactGroups* groups; // with their facts; u changes
	knSweepFriction friction;
	int chosenSweeps; // a level; negative: its own choice

	// out
	int sweeps; // that a level got; 0: nothing took part
} knShockPropagation;

// False: no memory.
bool knShockPropagation_Run(knShockPropagation* shock);
