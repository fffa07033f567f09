// The inner loops as the build's flags allow them, and the choice between them and those for AVX2.
#include "articulated/kernel_all.h"

const knTreeKernel knTreeKernelPlain = KN_TREE_KERNEL("plain");

const knTreeKernel* knTreeKernel_Best(void) {
#if defined(KN_AVX_KERNEL)
	if (__builtin_cpu_supports("avx2")) {
		return &knTreeKernelAvx;
	}
#endif
	return &knTreeKernelPlain;
}
