// The kernels for machines with AVX, in builds that must also run on others: this file alone is compiled for them
// (cmake/libraries.cmake), and only called where the machine has them.
#include "solve/sweep.h"

#if defined(KN_AVX_KERNEL)
#include "solve/sweep_kernel.h"

const knSweepKernel knSweepKernelAvx = {
	KN_SIMD_NAME,    loadPoints,       preparePacks, applyImpulses,
	sweepVelocities, sweepCorrections, measureMerit, sweepInPass,
};
#endif
