// Linear systems over the forest (forest.h): room, the choice of inner loops, mobilities.
#include "articulated/forest_kernel.h"

static const knForestKernel plain = { .factor = factorSystem, .solve = solveSystem };

static const knForestKernel* bestKernel(void) {
#if defined(KN_AVX_KERNEL)
	if (__builtin_cpu_supports("avx2")) {
		return &knForestKernelAvx;
	}
#endif
	return &plain;
}

bool knForestSystem_Make(knForestSystem* system, const knForest* forest, knArena* arena) {
	*system = (knForestSystem){ .forest = forest };
	system->block = KN_SCRATCH(arena, knForestBlock, forest->count);
	system->U = KN_SCRATCH(arena, knTreeForce, forest->nv);
	system->W = KN_SCRATCH(arena, knTreeMotion, forest->nv);
	system->D = KN_SCRATCH(arena, double, forest->bCount);
	system->gathered = KN_SCRATCH(arena, knTreeForce, forest->count);
	return !arena->failed;
}

bool knForestSystem_Factor(knForestSystem* system) {
	knForestCouplings* couplings = system->couplings;
	if (couplings != NULL && couplings->rowPairs > 0 && !knForestCouplings_Plan(couplings)) {
		return false;
	}
	return bestKernel()->factor(system);
}

void knForestSystem_Solve(const knForestSystem* system, const knTreeForce* push, const double* tau, double* y,
						  knTreeMotion* motions) {
	bestKernel()->solve(system, push, tau, y, motions);
}

// --- mobilities ------------------------------------------------------------------------------------------

// The link's own motion after its parent's: (1 - S D^-1 W) shift.
static knTreeMotion follow(const knForestSystem* system, int i, const knTreeMotion* parent) {
	const knForestLink* link = &system->forest->links[i];
	double change[KN_JOINT_MAX_V];
	for (int k = 0; k < link->nv; ++k) {
		change[k] = power(&system->W[link->vOffset + k], parent);
	}
	solveJoint(system, link, change);
	knTreeMotion motion = knTreeMotion_Shift(parent, system->end[i]);
	for (int k = 0; k < link->nv; ++k) {
		motion.ang -= system->S[link->vOffset + k].ang * change[k];
		motion.lin -= system->S[link->vOffset + k].lin * change[k];
	}
	return motion;
}

static void toNumbers(const knTreeMotion* motion, double* numbers) {
	for (int k = 0; k < 3; ++k) {
		numbers[k] = motion->ang[k];
		numbers[3 + k] = motion->lin[k];
	}
}

// M_i = Y M_p Y^T + S D^-1 S^T, Y the 6 x 6 of `follow`.
void knForestSystem_Mobilities(const knForestSystem* system, const bool* wanted, double* mobilities) {
	for (int i = 0; i < system->forest->count; ++i) {
		if (wanted != NULL && !wanted[i]) {
			continue;
		}
		const knForestLink* link = &system->forest->links[i];
		double* M = mobilities + 36 * i;
		for (int k = 0; k < 36; ++k) {
			M[k] = 0.0;
		}
		if (link->parent >= 0) {
			const double* P = mobilities + 36 * link->parent;
			double half[36]; // rows: Y times the columns of P
			for (int c = 0; c < 6; ++c) {
				knTreeMotion column = { knLanes_Make(P[c], P[6 + c], P[12 + c]),
										knLanes_Make(P[18 + c], P[24 + c], P[30 + c]) };
				column = follow(system, i, &column);
				toNumbers(&column, half + 6 * c);
			}
			for (int r = 0; r < 6; ++r) {
				// P is symmetric: half holds (Y P)^T, and Y (Y P)^T is wanted
				knTreeMotion column = { knLanes_Make(half[r], half[6 + r], half[12 + r]),
										knLanes_Make(half[18 + r], half[24 + r], half[30 + r]) };
				column = follow(system, i, &column);
				toNumbers(&column, M + 6 * r);
			}
		}
		for (int l = 0; l < link->nv; ++l) {
			double unit[KN_JOINT_MAX_V] = { 0.0 }, S[6], sum[6] = { 0.0 };
			unit[l] = 1.0;
			solveJoint(system, link, unit);
			for (int k = 0; k < link->nv; ++k) {
				double column[6];
				toNumbers(&system->S[link->vOffset + k], column);
				for (int r = 0; r < 6; ++r) {
					sum[r] += unit[k] * column[r];
				}
			}
			toNumbers(&system->S[link->vOffset + l], S);
			for (int r = 0; r < 6; ++r) {
				for (int c = 0; c < 6; ++c) {
					M[6 * r + c] += sum[r] * S[c];
				}
			}
		}
	}
}
