// The response of a tree to impulses (Mirtich 1996): the articulated recursion once more with known inertias, p minus
// the impulse, and no velocity terms.
//
// Collision matrices need its first half only. With Y the impulses carried towards the root, one column for each probe,
//
//   u_i = S_i^T Y_i,   Y_parent = Y_i shifted - U_i D_i^-1 u_i,   J H^-1 J^T = sum of u_i^T D_i^-1 u_i
//
// because the recursion is a factorisation of H^-1. Only links between the struck ones and the root are visited.
#include "articulated/tree.h"

#include "core/dense.h"

void knTree_PrepareImpulses(const knTree* tree, knTreeWork* work, const double* q) {
	knTree_Place(tree, work, q);
	for (int i = 0; i < tree->count; ++i) {
		work->rigid[i] = knTreeNode_Rigid(&tree->nodes[i], &work->pose[i].R);
		work->force[i] = (knTreeForce){ knLanes_All(0.0), knLanes_All(0.0) };
	}
	knTree_Gather(tree, work, NULL);
}

// --- impulses --------------------------------------------------------------------------------------------

// What a joint passes on of the impulse Y: Y shifted + U D^-1 u.
static knTreeForce passOn(const knTree* tree, const knTreeWork* work, int i, knTreeForce Y, const double* u) {
	const knTreeNode* node = &tree->nodes[i];
	Y.n += knLanes_Cross(work->pose[i].r, Y.f);
	if (!knTreeNode_IsWide(node)) {
		const knTreeJoint* joint = &work->joint[i];
		Y.n += joint->V.n * knLanes_All(u[0]);
		Y.f += joint->V.f * knLanes_All(u[0]);
		return Y;
	}
	double x[KN_JOINT_MAX_V];
	for (int k = 0; k < node->nv; ++k) {
		x[k] = u[k];
	}
	knDense_SolveLdl(work->wide[i].D, node->nv, x);
	for (int k = 0; k < node->nv; ++k) {
		Y.n += work->wide[i].U[k].n * knLanes_All(x[k]);
		Y.f += work->wide[i].U[k].f * knLanes_All(x[k]);
	}
	return Y;
}

static void takeImpulses(const knTree* tree, knTreeWork* work, const knTreeImpulse* impulses, int count) {
	for (int i = 0; i < tree->count; ++i) {
		work->force[i] = (knTreeForce){ knLanes_All(0.0), knLanes_All(0.0) };
	}
	for (int k = 0; k < count; ++k) {
		const knTreeImpulse* hit = &impulses[k];
		knLanes arm = knLanes_FromVec(hit->point) - work->origin[hit->link];
		knLanes impulse = knLanes_FromVec(hit->impulse);
		work->force[hit->link].n -= knLanes_FromVec(hit->moment) + knLanes_Cross(arm, impulse);
		work->force[hit->link].f -= impulse;
	}
}

void knTree_Respond(const knTree* tree, knTreeWork* work, const knTreeImpulse* impulses, int count,
					const double* jointImpulses, double* dv) {
	takeImpulses(tree, work, impulses, count);
	for (int i = tree->count - 1; i >= 0; --i) {
		const knTreeNode* node = &tree->nodes[i];
		double* u = dv + node->vOffset;
		for (int k = 0; k < node->nv; ++k) {
			knTreeMotion S = knTree_Column(tree, work, i, k);
			u[k] = (jointImpulses != NULL ? jointImpulses[node->vOffset + k] : 0.0) -
				   knTree_Power(&S, &work->force[i]);
		}
		if (node->parent >= 0) {
			knTreeForce passed = passOn(tree, work, i, work->force[i], u);
			work->force[node->parent].n += passed.n;
			work->force[node->parent].f += passed.f;
		}
	}
	const knTreeMotion still = { knLanes_All(0.0), knLanes_All(0.0) };
	for (int i = 0; i < tree->count; ++i) {
		const knTreeNode* node = &tree->nodes[i];
		const knTreeMotion* parent = node->parent >= 0 ? &work->motion[node->parent] : &still;
		double u[KN_JOINT_MAX_V], *own = dv + node->vOffset;
		for (int k = 0; k < node->nv; ++k) {
			u[k] = own[k];
		}
		if (knTreeNode_IsWide(node)) {
			knTree_FollowWide(tree, work, i, u, parent, &work->motion[i], own);
		} else {
			work->motion[i] = knTree_FollowNarrow(tree, work, i, work->joint[i].invD * u[0], parent, own);
		}
	}
}

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

static Probe unitMoments(void) {
	return (Probe){ .n = { knLanes_Make(1.0, 0.0, 0.0), knLanes_Make(0.0, 1.0, 0.0),
						   knLanes_Make(0.0, 0.0, 1.0) } };
}

// --- collision matrices --------------------------------------------------------------------------------------

KN_LANES_INLINE knLanes33 noProducts(void) {
	return (knLanes33){ knLanes_All(0.0), knLanes_All(0.0), knLanes_All(0.0) };
}

// From link i with its probe up to the root.
static void carryToRoot(const knTree* tree, const knTreeWork* work, int i, Probe probe, knLanes33* K) {
	Projection u[KN_JOINT_MAX_V], x[KN_JOINT_MAX_V];
	knLanes33 sum = *K;
	while (i >= 0) {
		int count = carry(tree, work, i, &probe, u, x);
		addProducts(&sum, u, x, count);
		i = tree->nodes[i].parent;
	}
	*K = sum;
}

knMat33 knTree_CollisionMatrix(const knTree* tree, const knTreeWork* work, int linkA, int linkB,
							   knVec3 point) {
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
	return knLanes_ToMat(&K);
}

// --- operational space ---------------------------------------------------------------------------------------

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

void knTree_OperationalInverse(const knTree* tree, const knTreeWork* work, const knTreePoint* points,
							   int count, double* inverse) {
	for (int a = 0; a < count; ++a) {
		for (int b = 0; b <= a; ++b) {
			pairInverse(tree, work, points, a, b, count, inverse);
		}
	}
}
