// The kernel for machines with AVX, in builds that must also run on others: this file alone is compiled for them
// (cmake/libraries.cmake), and only called where the machine has them.
#include "steppers/impulse/joint_lanes.h"

#if defined(KN_AVX_KERNEL)
#include "steppers/impulse/joint_lanes_kernel.h"

const knJointKernel knJointKernelAvx = KN_JOINT_KERNEL("avx");
#endif
