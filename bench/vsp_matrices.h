// The matrices of contact problems and what damping does to them: figures 3, 4 and 6 to 8 of Erleben 2007, part of
// knuckle bench vsp. Dense and slow, independent of the solvers that steppers use.
#pragma once

#include "bench.h"

// Writes matrix_A_*, eigenvalues_A, eigenvalues_T, theta_damping and lambda. An exit status.
int knVspMatrices_Run(const knBenchOptions* options);
