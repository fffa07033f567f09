// The inner loops over a tree, built once for every machine and once for those with AVX2 (kernel_avx.c). Both give
// the same bits.
//
//   kernel_turns.h        sines and cosines
//   kernel_sweep.h        poses, velocities, accelerations from the root
//   kernel_forces.h       forces and composite bodies from the leaves
//   kernel_articulated.h  articulated bodies, responses to impulses
//   kernel_probe.h        collision matrices
#pragma once

#include "knuckle/articulated.h"

typedef struct knTreeKernel {
	const char* name;
	// Sine and cosine of all numbers of x: the bits of knSinCos, but that zero has no sign. There is room for four
	// more.
	void (*turns)(const double* x, int count, double* sine, double* cosine);
	// Poses, velocities, accelerations (at qdd; NULL: 0) of all links, and the forces their inertias ask for at
	// these.
	void (*sweep)(const knTree* tree, knTreeWork* work, const double* q, const double* v, const double* qdd,
				  knVec3 gravity);
	// Poses and inertias, no forces.
	void (*stiffen)(const knTree* tree, knTreeWork* work, const double* q);
	// Articulated inertias; forces from work->force, so that joints hold U, D and u. tau may be NULL.
	void (*gather)(const knTree* tree, knTreeWork* work, const double* tau);
	// Joint motions from the joints' u, root to leaves.
	void (*spread)(const knTree* tree, knTreeWork* work, double* qdd);
	// Torques from work->force.
	void (*project)(const knTree* tree, knTreeWork* work, double* tau);
	// H from q.
	void (*mass)(const knTree* tree, knTreeWork* work, const double* q, double* H);
	// X <- H^-1 X with the factors of knTree_FactorMassMatrix, X nv x columns, row-major.
	void (*solve)(const knTree* tree, const double* H, double* X, int columns);
	// Velocity changes by impulses; work->force holds minus those on links.
	void (*respond)(const knTree* tree, knTreeWork* work, const double* jointImpulses, double* dv);
	void (*collide)(const knTree* tree, const knTreeWork* work, int linkA, int linkB, knVec3 point,
					knMat33* K);
	// J H^-1 J^T of points.
	void (*operate)(const knTree* tree, const knTreeWork* work, const knTreePoint* points, int count,
					double* inverse);
} knTreeKernel;

extern const knTreeKernel knTreeKernelPlain;
#if defined(KN_AVX_KERNEL)
extern const knTreeKernel knTreeKernelAvx;
#endif

// The fastest that this machine can run.
const knTreeKernel* knTreeKernel_Best(void);
