// The kernel for machines with AVX, in builds that must also run on others: this file alone is compiled for them
// (cmake/libraries.cmake), and only called where the machine has them.
#include "steppers/impulse/joint_links.h"

#if defined(KN_AVX_KERNEL)
#include "steppers/impulse/joint_links_kernel.h"

const knLinkKernel knLinkKernelAvx = KN_LINK_KERNEL("avx");
#endif
