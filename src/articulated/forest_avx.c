// Elimination over the forest for machines with AVX2, in builds that must also run on others: this file alone is compiled
// for them (cmake/libraries.cmake), and only called where the machine has them.
#include "articulated/forest.h"

#if defined(KN_AVX_KERNEL)
#include "articulated/forest_kernel.h"

const knForestKernel knForestKernelAvx = { .factor = factorSystem, .solve = solveSystem };
#endif
