// Forward dynamics (articulated bodies), inverse dynamics (Newton and Euler, recursively) and the mass matrix (composite
// bodies) with its factorisation along the branches of the tree (Featherstone 2008, chapters 5 to 7).
#include "articulated/tree.h"

// --- forward and inverse dynamics --------------------------------------------------------------------------

void knTree_ForwardDynamics(const knTree* tree, knTreeWork* work, const double* q, const double* v,
							const double* tau, const knTwist* forces, knVec3 gravity, double* qdd) {
	tree->kernel->sweep(tree, work, q, v, NULL, gravity);
	for (int i = 0; forces != NULL && i < tree->count; ++i) {
		knTreeForce applied = knTree_UserForce(tree, work, i, forces);
		work->force[i].n -= applied.n;
		work->force[i].f -= applied.f;
	}
	tree->kernel->gather(tree, work, tau);
	tree->kernel->spread(tree, work, qdd);
}

void knTree_InverseDynamics(const knTree* tree, knTreeWork* work, const double* q, const double* v,
							const double* qdd, const knTwist* forces, knVec3 gravity, double* tau) {
	tree->kernel->sweep(tree, work, q, v, qdd, gravity);
	for (int i = 0; forces != NULL && i < tree->count; ++i) {
		knTreeForce applied = knTree_UserForce(tree, work, i, forces);
		work->force[i].n -= applied.n;
		work->force[i].f -= applied.f;
	}
	tree->kernel->project(tree, work, tau);
}

// --- mass matrix -----------------------------------------------------------------------------------------

void knTree_MassMatrix(const knTree* tree, knTreeWork* work, const double* q, double* H) {
	tree->kernel->mass(tree, work, q, H);
}

// --- factors along the branches ----------------------------------------------------------------------------

// The velocity coordinate before `row` on the way to the root, -1 at its end. `link` follows.
static int above(const knTree* tree, int* link, int row) {
	if (row > tree->nodes[*link].vOffset) {
		return row - 1;
	}
	do {
		*link = tree->nodes[*link].parent;
	} while (*link >= 0 && tree->nodes[*link].nv == 0);
	return *link >= 0 ? tree->nodes[*link].vOffset + tree->nodes[*link].nv - 1 : -1;
}

bool knTree_FactorMassMatrix(const knTree* tree, double* H) {
	int nv = tree->nv;
	for (int link = tree->count - 1; link >= 0; --link) {
		const knTreeNode* node = &tree->nodes[link];
		for (int k = node->vOffset + node->nv - 1; k >= node->vOffset; --k) {
			double pivot = H[k * nv + k];
			if (!(pivot > 0.0) || !knIsFinite(pivot)) {
				return false;
			}
			int at = link;
			for (int i = above(tree, &at, k); i >= 0; i = above(tree, &at, i)) {
				double factor = H[k * nv + i] / pivot;
				int from = at;
				for (int j = i; j >= 0; j = above(tree, &from, j)) {
					H[i * nv + j] -= factor * H[k * nv + j];
				}
				H[k * nv + i] = factor;
			}
		}
	}
	return true;
}

// X_to -= factor X_from, rows of X.
static void subtractRow(double* X, int columns, int to, double factor, int from) {
	double* target = X + (size_t)to * (size_t)columns;
	const double* source = X + (size_t)from * (size_t)columns;
	for (int c = 0; c < columns; ++c) {
		target[c] -= factor * source[c];
	}
}

void knTree_SolveMassMatrixRows(const knTree* tree, const double* H, double* X, int columns) {
	int nv = tree->nv;
	for (int link = tree->count - 1; link >= 0; --link) {
		const knTreeNode* node = &tree->nodes[link];
		for (int k = node->vOffset + node->nv - 1; k >= node->vOffset; --k) {
			int at = link;
			for (int i = above(tree, &at, k); i >= 0; i = above(tree, &at, i)) {
				subtractRow(X, columns, i, H[k * nv + i], k);
			}
		}
	}
	for (int link = 0; link < tree->count; ++link) {
		const knTreeNode* node = &tree->nodes[link];
		for (int k = node->vOffset; k < node->vOffset + node->nv; ++k) {
			double* row = X + (size_t)k * (size_t)columns;
			double inverse = 1.0 / H[k * nv + k];
			for (int c = 0; c < columns; ++c) {
				row[c] *= inverse;
			}
			int at = link;
			for (int i = above(tree, &at, k); i >= 0; i = above(tree, &at, i)) {
				subtractRow(X, columns, k, H[k * nv + i], i);
			}
		}
	}
}

void knTree_SolveMassMatrix(const knTree* tree, const double* H, double* x) {
	knTree_SolveMassMatrixRows(tree, H, x, 1);
}
