// The kernel of joint_links.h as the build's flags allow it, and the choice between it and the one for AVX.
#include "steppers/impulse/joint_links_kernel.h"

const knLinkKernel knLinkKernelPlain = KN_LINK_KERNEL("plain");

const knLinkKernel* knLinkKernel_Best(void) {
#if defined(KN_AVX_KERNEL)
	if (__builtin_cpu_supports("avx")) {
		return &knLinkKernelAvx;
	}
#endif
	return &knLinkKernelPlain;
}
