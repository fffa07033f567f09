// The same for machines with AVX-512: vectors stay as wide as the packs, but there are twice as many registers, which
// the two packs that take turns fill.
#include "solve/sweep.h"

#if defined(KN_AVX_KERNEL)
#include "solve/sweep_kernel.h"

const knSweepKernel knSweepKernelAvx512 = {
	"avx512",        loadPoints,       preparePacks, applyImpulses,
	sweepVelocities, sweepCorrections, measureMerit, sweepInPass,
};
#endif
