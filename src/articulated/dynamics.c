// Forward dynamics (articulated bodies), inverse dynamics (Newton and Euler, recursively) and the mass matrix
// (composite bodies) with its factorisation along the branches of the tree (Featherstone 2008, chapters 5 to 7).
#include "articulated/tree.h"

// --- forward and inverse dynamics --------------------------------------------------------------------------

void knTree_ForwardDynamics(const knTree* tree, knTreeWork* work, const double* q, const double* v,
							const double* tau, const knTwist* forces, knVec3 gravity, double* qdd) {
	tree->kernel->sweep(tree, work, q, v, NULL, gravity);
	knTree_TakeForces(tree, work, forces);
	tree->kernel->gather(tree, work, tau);
	tree->kernel->spread(tree, work, qdd);
}

void knTree_InverseDynamics(const knTree* tree, knTreeWork* work, const double* q, const double* v,
							const double* qdd, const knTwist* forces, knVec3 gravity, double* tau) {
	tree->kernel->sweep(tree, work, q, v, qdd, gravity);
	knTree_TakeForces(tree, work, forces);
	tree->kernel->project(tree, work, tau);
	for (int k = 0; k < tree->nv && work->diagonal != NULL && qdd != NULL; ++k) {
		tau[k] += work->diagonal[k] * qdd[k];
	}
}

// --- mass matrix -----------------------------------------------------------------------------------------

void knTree_MassMatrix(const knTree* tree, knTreeWork* work, const double* q, double* H) {
	tree->kernel->mass(tree, work, q, H);
}

// --- factors along the branches ----------------------------------------------------------------------------

// target[j] -= factor source[j] for all j from `last` to the root, run by run.
static void subtractWay(const knTree* tree, int last, double factor, const double* source, double* target) {
	for (int j = last; j >= 0;) {
		int start = tree->runStart[j];
		for (int k = start; k <= j; ++k) {
			target[k] -= factor * source[k];
		}
		j = tree->above[start];
	}
}

bool knTree_FactorMassMatrix(const knTree* tree, double* H) {
	size_t nv = (size_t)tree->nv;
	for (int k = tree->nv - 1; k >= 0; --k) {
		double* row = H + (size_t)k * nv;
		double pivot = row[k];
		if (!(pivot > 0.0) || !knIsFinite(pivot)) {
			return false;
		}
		for (int i = tree->above[k]; i >= 0; i = tree->above[i]) {
			double factor = row[i] / pivot;
			subtractWay(tree, i, factor, row, H + (size_t)i * nv);
			row[i] = factor;
		}
	}
	return true;
}

void knTree_SolveMassMatrix(const knTree* tree, const double* H, double* x) {
	size_t nv = (size_t)tree->nv;
	for (int k = tree->nv - 1; k >= 0; --k) {
		subtractWay(tree, tree->above[k], x[k], H + (size_t)k * nv, x);
	}
	for (int k = 0; k < tree->nv; ++k) {
		const double* row = H + (size_t)k * nv;
		x[k] /= row[k];
		for (int i = tree->above[k]; i >= 0; i = tree->above[i]) {
			x[k] -= row[i] * x[i];
		}
	}
}
