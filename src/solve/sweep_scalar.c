// The kernels in plain C: the twin that every other one must equal bit by bit.
#define KN_SIMD_SCALAR

#include "solve/sweep_kernel.h"

const knSweepKernel knSweepKernelScalar = {
	KN_SIMD_NAME,    loadPoints,       preparePacks, applyImpulses,
	sweepVelocities, sweepCorrections, measureMerit, sweepInPass,
};
