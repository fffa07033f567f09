// All inner loops, and the table of them under the name that the including file chooses.
#pragma once

#include "articulated/kernel_articulated.h"
#include "articulated/kernel_forces.h"
#include "articulated/kernel_probe.h"
#include "articulated/kernel_sweep.h"
#include "articulated/kernel_turns.h"

#define KN_TREE_KERNEL(title)                                                                                \
	{                                                                                                        \
		.name = (title), .turns = takeTurns, .sweep = sweepLinks, .stiffen = stiffenLinks,                   \
		.gather = gatherInertias, .spread = spreadMotions, .project = projectForces, .mass = fillMassMatrix, \
		.solve = solveRows, .respond = respondLinks, .collide = collideLinks, .operate = invertOperational,  \
	}
