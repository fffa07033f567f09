// The inner loops for machines with AVX2, in builds that must also run on others: this file alone is compiled for
// them (cmake/libraries.cmake), and only called where the machine has them.
#include "articulated/kernel.h"

#if defined(KN_AVX_KERNEL)
#include "articulated/kernel_all.h"

const knTreeKernel knTreeKernelAvx = KN_TREE_KERNEL("avx2");
#endif
