// Sweeps that go on in the direction of those before: nonlinear conjugate gradients over projected Gauss-Seidel
// (Silcowitz-Hansen et al. 2010). What a sweep changes is taken as a gradient,
//
//   g = lambda_k - lambda_k-1,   beta = |g_k|^2 / |g_k-1|^2,   lambda += beta p,   p = g + beta p
//
// so that a load that creeps through a pile in the same direction, sweep after sweep, arrives early. Where |g|^2 grows by
// more than a fifth the direction starts anew; smaller growth, which is common, is answered by a bound on beta alone
// (started anew at any growth, as published, tall piles lose their momentum at every second sweep). Velocities are linear
// in the impulses and go along; in |g|^2, an energy, every impulse counts by what it would do alone. Each group of blocks that touch has its own beta, so groups know nothing of each other.
// The next sweep takes impulses that went too far back to their bounds: a solution is one with and without momentum.
#pragma once

#include "solve/sweep.h"

// For the packs of stages [firstStage, endStage) of the set, in the arena. `group` [blockCount]: the lowest block of
// the group of each, -1 for blocks that do not move; `excluded` [blockCount], by group: 1 for groups whose velocities
// something else changes between sweeps, NULL: none. Groups must not reach into other stages. NULL: no memory.
knSweepMomentum* knSweepMomentum_Begin(const knSweepSet* set, int firstStage, int endStage, int blockCount,
									   const int32_t* group, const uint8_t* excluded, knArena* arena);
// What the first pass over the packs in a sweep has to do; the last, or only one squares as well.
knMomentumPass knSweepMomentum_FirstPass(knSweepMomentum* momentum, const knTasks* tasks, const knTwist* u);
// After a sweep: finds the betas. m2/s2, the largest |g|^2 of a group over its mass.
double knSweepMomentum_Look(knSweepMomentum* momentum);
// After that, if another sweep follows.
void knSweepMomentum_GoOn(knSweepMomentum* momentum, const knTasks* tasks, knTwist* u);
// m2/s2, |g|^2 of a group over its mass when that was last looked at; infinite for one without packs.
double knSweepMomentum_Change(const knSweepMomentum* momentum, int32_t group);
// For the passes.
const knMomentumPacks* knSweepMomentum_Packs(const knSweepMomentum* momentum);
// The beta with which a group, named as above, last went on; 0 for one without packs.
double knSweepMomentum_Beta(const knSweepMomentum* momentum, int32_t group);
