// Towards the root: forces of inverse dynamics, and the mass matrix by composite bodies.
#pragma once

#include "articulated/kernel_sweep.h"

// The forces of all links, each with those of its children, as torques of its joint.
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

static void fillMassMatrix(const knTree* tree, knTreeWork* work, const double* q, double* H) {
	placeLinks(tree, work, q);
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
			int own = node->vOffset + k;
			H[own * tree->nv + own] += work->diagonal != NULL ? work->diagonal[own] : 0.0;
		}
		if (node->parent >= 0) {
			knTreeInertia shifted = knTreeInertia_Shift(&work->composite[i], work->pose[i].r);
			knTreeInertia_Add(&work->composite[node->parent], &shifted);
		}
	}
}

// --- many right sides --------------------------------------------------------------------------------------

KN_LANES_INLINE void subtractRow(double* target, double factor, const double* source, int columns) {
	int c = 0;
	for (; c + 4 <= columns; c += 4) {
		knLanes t, s;
		memcpy(&t, target + c, sizeof(t));
		memcpy(&s, source + c, sizeof(s));
		t -= knLanes_All(factor) * s;
		memcpy(target + c, &t, sizeof(t));
	}
	for (; c < columns; ++c) {
		target[c] -= factor * source[c];
	}
}

// X <- H^-1 X with the factors of knTree_FactorMassMatrix.
static void solveRows(const knTree* tree, const double* H, double* X, int columns) {
	size_t nv = (size_t)tree->nv, width = (size_t)columns;
	for (int k = tree->nv - 1; k >= 0; --k) {
		for (int i = tree->above[k]; i >= 0; i = tree->above[i]) {
			subtractRow(X + (size_t)i * width, H[(size_t)k * nv + (size_t)i], X + (size_t)k * width, columns);
		}
	}
	for (int k = 0; k < tree->nv; ++k) {
		double *row = X + (size_t)k * width, inverse = 1.0 / H[(size_t)k * nv + (size_t)k];
		for (int c = 0; c < columns; ++c) {
			row[c] *= inverse;
		}
		for (int i = tree->above[k]; i >= 0; i = tree->above[i]) {
			subtractRow(row, H[(size_t)k * nv + (size_t)i], X + (size_t)i * width, columns);
		}
	}
}
