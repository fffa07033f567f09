// The kernel for machines with AVX, in builds that must also run on others: this file alone is compiled for them
// (cmake/libraries.cmake), and only called where the machine has them.
#include "solve/body_matrix.h"

#if defined(KN_AVX_KERNEL)
#include "solve/body_matrix_kernel.h"

const knBodyKernel knBodyKernelAvx = KN_BODY_KERNEL("avx");
#endif
