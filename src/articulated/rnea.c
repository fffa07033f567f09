// Inverse dynamics (Newton and Euler, recursively) and the mass matrix by composite bodies, with its factorisation
// along the branches of the tree (Featherstone 2008, chapters 5 and 6).
#include "articulated/tree.h"

// --- inverse dynamics ------------------------------------------------------------------------------------

static void projectForces(const knTree* tree, knTreeWork* work, double* tau) {
	for (int i = tree->count - 1; i >= 0; --i) {
		const knTreeNode* node = &tree->nodes[i];
		const knTreeForce* force = &work->force[i];
		if (knTreeNode_IsWide(node)) {
			for (int k = 0; k < node->nv; ++k) {
				tau[node->vOffset + k] = knTree_Power(&work->S[node->vOffset + k], force);
			}
		} else {
			tau[node->vOffset] =
				knLanes_Dot(work->pose[i].R.x, knTreeNode_IsHinge(node) ? force->n : force->f);
		}
		if (node->parent >= 0) {
			knTreeForce_AddShifted(&work->force[node->parent], force, work->pose[i].r);
		}
	}
}

void knTree_InverseDynamics(const knTree* tree, knTreeWork* work, const double* q, const double* v,
							const double* qdd, const knTwist* forces, knVec3 gravity, double* tau) {
	knTree_Sweep(tree, work, q, v, qdd, gravity);
	for (int i = 0; forces != NULL && i < tree->count; ++i) {
		knTreeForce applied = knTree_UserForce(tree, work, i, forces);
		work->force[i].n -= applied.n;
		work->force[i].f -= applied.f;
	}
	projectForces(tree, work, tau);
}

// --- mass matrix -----------------------------------------------------------------------------------------

// One column of S at link i, carried as a force towards the root.
static void fillColumn(const knTree* tree, const knTreeWork* work, int i, int k, double* H) {
	int nv = tree->nv, row = tree->nodes[i].vOffset + k;
	knTreeMotion S = knTree_Column(tree, work, i, k);
	knTreeForce F = knTreeInertia_Mul(&work->composite[i], &S);
	for (int j = i; j >= 0; j = tree->nodes[j].parent) {
		const knTreeNode* node = &tree->nodes[j];
		for (int l = 0; l < node->nv; ++l) {
			knTreeMotion other = knTree_Column(tree, work, j, l);
			double value = knTree_Power(&other, &F);
			H[row * nv + node->vOffset + l] = H[(node->vOffset + l) * nv + row] = value;
		}
		F.n += knLanes_Cross(work->pose[j].r, F.f);
	}
}

void knTree_MassMatrix(const knTree* tree, knTreeWork* work, const double* q, double* H) {
	knTree_Place(tree, work, q);
	for (int i = 0; i < tree->nv * tree->nv; ++i) {
		H[i] = 0.0;
	}
	for (int i = 0; i < tree->count; ++i) {
		knTreeRigid rigid = knTreeNode_Rigid(&tree->nodes[i], &work->pose[i].R);
		work->composite[i] = knTreeRigid_Full(&rigid, tree->nodes[i].mass);
	}
	for (int i = tree->count - 1; i >= 0; --i) {
		const knTreeNode* node = &tree->nodes[i];
		for (int k = 0; k < node->nv; ++k) {
			fillColumn(tree, work, i, k, H);
		}
		if (node->parent >= 0) {
			knTreeInertia shifted = knTreeInertia_Shift(&work->composite[i], work->pose[i].r);
			knTreeInertia_Add(&work->composite[node->parent], &shifted);
		}
	}
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
