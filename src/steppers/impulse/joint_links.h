// Blocks between the rows of joints, for the elimination of joint_precondition.c: vectors run along the rows of the later joint,
// so that all of them are worked on at once (joint_links.c). Lanes never mix: the bits are those of core/dense.h.
//
// A block stands transposed, [rows of the earlier joint][KN_LINK_STRIDE]; numbers behind the rows of the later one have no
// meaning. A joint's own block likewise, with what is right of the diagonal only.
#pragma once

#include "steppers/impulse/articulation_internal.h"

#define KN_LINK_STRIDE 12
#define KN_LINK_SIZE (KN_BLOCK_ROWS * KN_LINK_STRIDE)

typedef struct knLinkKernel {
	const char* name;
	// K = L D L^T from the factors of knDense_FactorLdl, n x n.
	void (*multiply)(const double* factors, int n, double* K);
	// L D L^T of an own block in place: D on the diagonal; a pivot that is not positive is no concern.
	void (*factor)(double* own, int n);
	// Adds K_ji over a body that both joints move.
	void (*couple)(const knArticulationSolve* solve, int i, int j, int body, double* block);
	// L = K D^-1 of `rows` rows, by the factors of an own block.
	void (*divide)(const double* own, int n, const double* K, int rows, double* L);
	// A_cr -= sum over n of a_r b_c, r < rows, c < columns: a product of two blocks of one column.
	void (*subtract)(double* A, const double* a, int rows, const double* b, int columns, int n);
	// z = (L D L^T)^-1 z; later -= L z.
	void (*solve)(const double* own, int n, double* z);
	void (*carry)(const double* L, int n, int rows, const double* z, double* later);
} knLinkKernel;

extern const knLinkKernel knLinkKernelPlain;
#if defined(KN_AVX_KERNEL)
extern const knLinkKernel knLinkKernelAvx;
#endif

// The fastest that this machine can run.
const knLinkKernel* knLinkKernel_Best(void);
