// The kernels on the vectors that the compiler may use everywhere in this build.
#include "solve/sweep_kernel.h"

const knSweepKernel knSweepKernelWide = {
	KN_SIMD_NAME,    loadPoints,       preparePacks, applyImpulses,
	sweepVelocities, sweepCorrections, measureMerit, sweepInPass,
};
