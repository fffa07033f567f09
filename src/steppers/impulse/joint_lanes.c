// The kernel of joint_lanes.h as the build's flags allow it, and the choice between it and the one for AVX.
#include "steppers/impulse/joint_lanes_kernel.h"

const knJointKernel knJointKernelPlain = KN_JOINT_KERNEL("plain");

const knJointKernel* knJointKernel_Best(void) {
#if defined(KN_AVX_KERNEL)
	if (__builtin_cpu_supports("avx")) {
		return &knJointKernelAvx;
	}
#endif
	return &knJointKernelPlain;
}
