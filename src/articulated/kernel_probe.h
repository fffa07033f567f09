// Collision matrices need only the first half of an impulse's recursion. With Y the impulses carried towards the
// root, one column for each probe,
//
//   u_i = S_i^T Y_i,   Y_parent = Y_i shifted - U_i D_i^-1 u_i,   J H^-1 J^T = sum of u_i^T D_i^-1 u_i
//
// because the recursion is a factorisation of H^-1. Only links between the struck ones and the root are visited.
#pragma once

#include "articulated/tree.h"
#include "core/dense.h"

// --- probes ------------------------------------------------------------------------------------------------

// Three impulses at once, one in each lane: components of moment and force.
typedef struct Probe {
	knLanes n[3], f[3];
} Probe;

// u of one velocity coordinate.
typedef knLanes Projection;

KN_LANES_INLINE Projection along(const knLanes* components, const knLanes* axis) {
	const double* a = (const double*)axis;
	return components[0] * knLanes_All(a[0]) + components[1] * knLanes_All(a[1]) +
		   components[2] * knLanes_All(a[2]);
}

KN_LANES_INLINE void takeAway(Probe* probe, const knTreeForce* V, Projection u) {
	const double *n = (const double*)&V->n, *f = (const double*)&V->f;
	for (int k = 0; k < 3; ++k) {
		probe->n[k] -= u * knLanes_All(n[k]);
		probe->f[k] -= u * knLanes_All(f[k]);
	}
}

KN_LANES_INLINE void shiftProbe(Probe* probe, const knLanes* by) {
	const double* r = (const double*)by;
	knLanes x = knLanes_All(r[0]), y = knLanes_All(r[1]), z = knLanes_All(r[2]);
	probe->n[0] += y * probe->f[2] - z * probe->f[1];
	probe->n[1] += z * probe->f[0] - x * probe->f[2];
	probe->n[2] += x * probe->f[1] - y * probe->f[0];
}

// Carries a probe over a wide joint; u is what its coordinates see, x = D^-1 u.
static void carryWide(const knTree* tree, const knTreeWork* work, int i, Probe* probe, Projection* u,
					  Projection* x) {
	const knTreeNode* node = &tree->nodes[i];
	const knTreeWideJoint* joint = &work->wide[i];
	for (int k = 0; k < node->nv; ++k) {
		const knTreeMotion* S = &work->S[node->vOffset + k];
		u[k] = along(probe->n, &S->ang) + along(probe->f, &S->lin);
	}
	for (int c = 0; c < 3; ++c) {
		double column[KN_JOINT_MAX_V];
		for (int k = 0; k < node->nv; ++k) {
			column[k] = u[k][c];
		}
		knDense_SolveLdl(joint->D, node->nv, column);
		for (int k = 0; k < node->nv; ++k) {
			x[k][c] = column[k];
		}
	}
	shiftProbe(probe, &work->pose[i].r);
	for (int k = 0; k < node->nv; ++k) {
		takeAway(probe, &joint->U[k], x[k]);
	}
}

// Carries a probe to the parent of link i.
KN_LANES_INLINE int carry(const knTree* tree, const knTreeWork* work, int i, Probe* probe, Projection* u,
						  Projection* x) {
	const knTreeNode* node = &tree->nodes[i];
	if (knTreeNode_IsWide(node)) {
		carryWide(tree, work, i, probe, u, x);
		return node->nv;
	}
	const knTreeJoint* joint = &work->joint[i];
	u[0] = along(knTreeNode_IsHinge(node) ? probe->n : probe->f, &work->pose[i].R.x);
	x[0] = u[0] * knLanes_All(joint->invD);
	shiftProbe(probe, &work->pose[i].r);
	takeAway(probe, &joint->V, u[0]);
	return 1;
}

// sum += u x^T
KN_LANES_INLINE void addProducts(knLanes33* sum, const Projection* u, const Projection* x, int count) {
	for (int k = 0; k < count; ++k) {
		sum->x += u[k] * knLanes_X(x[k]);
		sum->y += u[k] * knLanes_Y(x[k]);
		sum->z += u[k] * knLanes_Z(x[k]);
	}
}

// Unit impulses along the axes at a point, times `sign`, seen from O_link.
static Probe unitImpulses(const knTreeWork* work, int link, knVec3 point, double sign) {
	knLanes arm = (knLanes_FromVec(point) - work->origin[link]) * knLanes_All(sign);
	Probe probe = { .f = { knLanes_Make(sign, 0.0, 0.0), knLanes_Make(0.0, sign, 0.0),
						   knLanes_Make(0.0, 0.0, sign) } };
	// n = arm x f
	probe.n[0] = knLanes_Make(0.0, -arm[2], arm[1]);
	probe.n[1] = knLanes_Make(arm[2], 0.0, -arm[0]);
	probe.n[2] = knLanes_Make(-arm[1], arm[0], 0.0);
	return probe;
}

// --- collision matrices --------------------------------------------------------------------------------------

KN_LANES_INLINE knLanes33 noProducts(void) {
	return (knLanes33){ knLanes_All(0.0), knLanes_All(0.0), knLanes_All(0.0) };
}

// Impulses fade along a chain. What is left of one has no effect long before its numbers get so small that machines
// become slow with them.
static bool hasFaded(const Probe* probe) {
	knLanes sum = knLanes_All(0.0);
	for (int k = 0; k < 3; ++k) {
		sum += probe->n[k] * probe->n[k] + probe->f[k] * probe->f[k];
	}
	return sum[0] + sum[1] + sum[2] < KN_TREE_FADED * KN_TREE_FADED;
}

// From link i with its probe up to the root.
static void carryToRoot(const knTree* tree, const knTreeWork* work, int i, Probe probe, knLanes33* K) {
	Projection u[KN_JOINT_MAX_V], x[KN_JOINT_MAX_V];
	knLanes33 sum = *K;
	for (int steps = 1; i >= 0; ++steps) {
		int count = carry(tree, work, i, &probe, u, x);
		addProducts(&sum, u, x, count);
		i = steps % 16 == 0 && hasFaded(&probe) ? -1 : tree->nodes[i].parent;
	}
	*K = sum;
}

static void collideLinks(const knTree* tree, const knTreeWork* work, int linkA, int linkB, knVec3 point,
						 knMat33* out) {
	knLanes33 K = noProducts();
	if (linkA >= 0 && linkB >= 0) {
		// both ways to the root until they meet, then on together
		Probe a = unitImpulses(work, linkA, point, 1.0), b = unitImpulses(work, linkB, point, -1.0);
		Projection u[KN_JOINT_MAX_V], x[KN_JOINT_MAX_V];
		while (linkA != linkB) {
			int* further = linkA > linkB ? &linkA : &linkB;
			int count = carry(tree, work, *further, linkA > linkB ? &a : &b, u, x);
			addProducts(&K, u, x, count);
			*further = tree->nodes[*further].parent;
		}
		for (int k = 0; k < 3; ++k) {
			a.n[k] += b.n[k];
			a.f[k] += b.f[k];
		}
		carryToRoot(tree, work, linkA, a, &K);
	} else if (linkA >= 0 || linkB >= 0) {
		int link = linkA >= 0 ? linkA : linkB;
		carryToRoot(tree, work, link, unitImpulses(work, link, point, 1.0), &K);
	}
	*out = knLanes_ToMat(&K);
}

// --- operational space ---------------------------------------------------------------------------------------

static Probe unitMoments(void) {
	return (Probe){ .n = { knLanes_Make(1.0, 0.0, 0.0), knLanes_Make(0.0, 1.0, 0.0),
						   knLanes_Make(0.0, 0.0, 1.0) } };
}

// The six probes of a point.
typedef struct Wrench {
	Probe moments, forces;
} Wrench;

static Wrench unitWrench(const knTreeWork* work, const knTreePoint* point) {
	return (Wrench){ unitMoments(), unitImpulses(work, point->link, point->point, 1.0) };
}

// Rows 3 r.. and columns 3 c.. of the matrix and, mirrored, of its transpose.
static void storeBlock(const knLanes33* block, int r, int c, int size, double* matrix) {
	const knLanes* columns[3] = { &block->x, &block->y, &block->z };
	for (int j = 0; j < 3; ++j) {
		for (int i = 0; i < 3; ++i) {
			double value = (*columns[j])[i];
			matrix[(3 * r + i) * size + 3 * c + j] = matrix[(3 * c + j) * size + 3 * r + i] = value;
		}
	}
}

// J_a H^-1 J_b^T, 6 x 6: only what both have on their ways to the root counts.
static void pairInverse(const knTree* tree, const knTreeWork* work, const knTreePoint* points, int a, int b,
						int count, double* inverse) {
	Wrench A = unitWrench(work, &points[a]), B = unitWrench(work, &points[b]);
	knLanes33 blocks[2][2] = { { noProducts(), noProducts() }, { noProducts(), noProducts() } };
	int i = points[a].link, j = points[b].link;
	Projection u[2][KN_JOINT_MAX_V], x[2][KN_JOINT_MAX_V], spare[KN_JOINT_MAX_V];
	while (i >= 0 && j >= 0) {
		bool both = i == j;
		int link = i > j ? i : j, n = 0;
		if (link == i) {
			n = carry(tree, work, link, &A.moments, u[0], spare);
			carry(tree, work, link, &A.forces, u[1], spare);
			i = tree->nodes[link].parent;
		}
		if (link == j) {
			n = carry(tree, work, link, &B.moments, spare, x[0]);
			carry(tree, work, link, &B.forces, spare, x[1]);
			j = tree->nodes[link].parent;
		}
		for (int k = 0; both && k < 4; ++k) {
			addProducts(&blocks[k / 2][k % 2], u[k / 2], x[k % 2], n);
		}
	}
	for (int k = 0; k < 4; ++k) {
		storeBlock(&blocks[k / 2][k % 2], 2 * a + k / 2, 2 * b + k % 2, 6 * count, inverse);
	}
}

static void invertOperational(const knTree* tree, const knTreeWork* work, const knTreePoint* points,
							  int count, double* inverse) {
	for (int a = 0; a < count; ++a) {
		for (int b = 0; b <= a; ++b) {
			pairInverse(tree, work, points, a, b, count, inverse);
		}
	}
}
