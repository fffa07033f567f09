// The impulse stepper as published (scheme=paper): what its files hand to each other.
#pragma once

#include "steppers/impulse/impulse_step.h"
#include "steppers/impulse/paper/articulation.h"

typedef struct knPaperStep {
	knImpulseStep* step;
	knArticulationSolve* joints; // NULL: none is active
	knVec3* impulses;            // [list.pointCount] N s on B, of the whole step
	knTwist* push;               // [bodyCount] moves poses only
	int* order;                  // [pairCount] pairs by level
	int* levelFirst;             // [levelCount + 1] into order
} knPaperStep;

// A step but for what every scheme ends with.
knStatus knImpulsePaper_Step(knImpulseStep* step);

// The contacts of a pair of shapes with their bodies at given poses; at most KN_PAPER_PAIR_POINTS. Counted.
#define KN_PAPER_PAIR_POINTS 64
int knPaperStep_TestPair(const knPaperStep* paper, const knShapePair* pair, knFrame poseA, knFrame poseB,
						 double margin, knContactPoint* points);

// --- contact_paper.c ---

#define KN_SHOCK_JOINTS 2 // setting shock: joints take part in shock propagation

// Whether anything bounced; velocities in blocks.u.
bool knContactPaper_Collisions(knPaperStep* paper);
// Contact and joints, level by level; shock propagation; joints alone.
knStatus knContactPaper_Contact(knPaperStep* paper);
