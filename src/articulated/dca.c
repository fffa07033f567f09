// Forward dynamics by divide and conquer (Featherstone 1999): the symbols and equations are in dca.h.
//
//   from the root     poses, velocities and the links' forces, along the tree (as for articulated bodies)
//   from the leaves   coefficients of all nodes of the assembly tree
//   from its root     joint accelerations and forces between parts
//   refinement        inverse dynamics of the result tells the torques that are missing; the same factors with these
//
// Tasks: parts of up to 1/64 of the links are assembled each by one task, what is above them by the caller. A node reads
// its parts and writes itself, in the order of the assembly tree: nothing depends on the number of threads.
#include "articulated/dca.h"

#include <string.h>

#include "core/dense.h"

#define TASKS 64         // parts that may be worked on at once: enough to even out 16 threads
#define SMALLEST_TASK 16 // links; smaller ones cost more to hand out than to do

typedef struct Pass {
	knTreeDca* dca;
	const knTreeWork* work;
	const double* tau;
	double* qdd;
	bool factors; // coefficients too, not only biases
} Pass;

// --- small products ----------------------------------------------------------------------------------------

static double dot6(const double* a, const double* b) {
	return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5];
}

// written out: the compiler leaves a loop as it is, at half the speed
static inline void addScaled6(double* a, double s, const double* b) {
	double x = a[0] + s * b[0], y = a[1] + s * b[1], z = a[2] + s * b[2];
	double u = a[3] + s * b[3], v = a[4] + s * b[4], w = a[5] + s * b[5];
	a[0] = x;
	a[1] = y;
	a[2] = z;
	a[3] = u;
	a[4] = v;
	a[5] = w;
}

// out = A B for rows x 6 and 6 x 6.
static void multiplyRows(const double* A, const double* B, int rows, double* out) {
	for (int i = 0; i < rows; ++i) {
		double sum[6] = { 0.0 };
		for (int k = 0; k < 6; ++k) {
			addScaled6(sum, A[i * 6 + k], B + k * 6);
		}
		for (int j = 0; j < 6; ++j) {
			out[i * 6 + j] = sum[j];
		}
	}
}

// Rows of motions (ang; lin), each a column of six numbers: lin += ang x r.
static void shiftMotion(double* m, const double* r, int stride) {
	double x = m[0], y = m[stride], z = m[2 * stride];
	m[3 * stride] += y * r[2] - z * r[1];
	m[4 * stride] += z * r[0] - x * r[2];
	m[5 * stride] += x * r[1] - y * r[0];
}

// The moment of a force about a point from which it acts at r.
static void shiftForce(double* f, const double* r) {
	f[0] += r[1] * f[5] - r[2] * f[4];
	f[1] += r[2] * f[3] - r[0] * f[5];
	f[2] += r[0] * f[4] - r[1] * f[3];
}

static void shiftRows(double* phi, const double* r) {
	for (int j = 0; j < 6; ++j) {
		shiftMotion(phi + j, r, 6);
	}
}

static void shiftColumns(double* phi, const double* r) {
	for (int i = 0; i < 6; ++i) {
		shiftMotion(phi + i * 6, r, 1);
	}
}

// L L^T = K in place, the diagonal inverted. Only the lower triangle counts.
static void factorCholesky(double* K, int m) {
	for (int i = 0; i < m; ++i) {
		for (int j = 0; j <= i; ++j) {
			double sum = K[i * m + j];
			for (int k = 0; k < j; ++k) {
				sum -= K[i * m + k] * K[j * m + k];
			}
			K[i * m + j] = i == j ? 1.0 / sqrt(sum) : sum * K[j * m + j];
		}
	}
}

// X <- L^-1 X for rows of `width`.
static void solveLower(const double* L, int m, double* X, int width) {
	for (int i = 0; i < m; ++i) {
		double* row = X + i * width;
		for (int k = 0; k < i; ++k) {
			double l = L[i * m + k];
			for (int j = 0; j < width; ++j) {
				row[j] -= l * X[k * width + j];
			}
		}
		for (int j = 0; j < width; ++j) {
			row[j] *= L[i * m + i];
		}
	}
}

// The same for rows of six.
static void solveLower6(const double* L, int m, double* X) {
	for (int i = 0; i < m; ++i) {
		double* row = X + i * 6;
		for (int k = 0; k < i; ++k) {
			addScaled6(row, -L[i * m + k], X + k * 6);
		}
		for (int j = 0; j < 6; ++j) {
			row[j] *= L[i * m + i];
		}
	}
}

static void solveUpper(const double* L, int m, double* x) {
	for (int i = m - 1; i >= 0; --i) {
		for (int k = i + 1; k < m; ++k) {
			x[i] -= L[k * m + i] * x[k];
		}
		x[i] *= L[i * m + i];
	}
}

// --- joints ------------------------------------------------------------------------------------------------

static void storeLanes(knLanes v, double* numbers) {
	numbers[0] = v[0];
	numbers[1] = v[1];
	numbers[2] = v[2];
}

// A hinge or slider: S is a unit vector, T the other axes of the joint and those of the world.
static void narrowDirections(const knTreeWork* work, int joint, knDcaNode* node) {
	const knLanes33* R = &work->pose[joint].R;
	int own = node->own;
	for (int i = 0; i < 36; ++i) {
		(i < 30 ? node->T : node->P)[i < 30 ? i : i - 30] = 0.0;
	}
	storeLanes(R->x, node->P + own);
	storeLanes(R->y, node->T + own);
	storeLanes(R->z, node->T + 6 + own);
	for (int k = 0; k < 3; ++k) {
		node->T[(2 + k) * 6 + 3 - own + k] = 1.0;
	}
}

// P = (S^T S)^-1 S^T, and an orthonormal basis of what is orthogonal to S.
static void wideDirections(const knTree* tree, const knTreeWork* work, int joint, knDcaNode* node) {
	int nv = node->nv;
	double S[36], gram[36], basis[36], columns[72];
	for (int k = 0; k < nv; ++k) {
		knTreeMotion column = knTree_Column(tree, work, joint, k);
		storeLanes(column.ang, S + k * 6);
		storeLanes(column.lin, S + k * 6 + 3);
	}
	for (int k = 0; k < nv; ++k) {
		for (int l = 0; l < nv; ++l) {
			gram[k * nv + l] = dot6(S + k * 6, S + l * 6);
		}
	}
	knDense_FactorLdl(gram, nv);
	for (int j = 0; j < 6; ++j) {
		double x[6];
		for (int k = 0; k < nv; ++k) {
			x[k] = S[k * 6 + j];
		}
		knDense_SolveLdl(gram, nv, x);
		for (int k = 0; k < nv; ++k) {
			node->P[k * 6 + j] = x[k];
		}
	}
	// 1 - S P has the range of T
	for (int j = 0; j < 6; ++j) {
		for (int i = 0; i < 6; ++i) {
			columns[j * 6 + i] = i == j;
		}
		for (int k = 0; k < nv; ++k) {
			addScaled6(columns + j * 6, -node->P[k * 6 + j], S + k * 6);
		}
	}
	int rank = node->m > 0 ? knDense_Range(columns, 6, 6, 1e-6, basis) : 0;
	for (int i = 0; i < node->m * 6; ++i) {
		node->T[i] = i < rank * 6 ? basis[i] : 0.0;
	}
	KN_ASSERT(rank == node->m);
}

// out = T M. Of hinges and sliders two rows of T have three numbers, three have one.
static void lockedRows(const knDcaNode* node, const double* M, double* out) {
	if (node->own < 0) {
		multiplyRows(node->T, M, node->m, out);
		return;
	}
	const double *y = node->T + node->own, *z = y + 6, *mixed = M + 6 * node->own,
				 *rest = M + 18 - 6 * node->own;
	for (int j = 0; j < 6; ++j) {
		out[j] = y[0] * mixed[j] + y[1] * mixed[6 + j] + y[2] * mixed[12 + j];
		out[6 + j] = z[0] * mixed[j] + z[1] * mixed[6 + j] + z[2] * mixed[12 + j];
	}
	for (int k = 0; k < 18; ++k) {
		out[12 + k] = rest[k];
	}
}

// --- leaves ------------------------------------------------------------------------------------------------

// Phi of a free link about O: Jc^-1, [c] Jc^-1 and 1/m - [c] Jc^-1 [c].
static void leafInverse(const knDcaLink* link, const knLanes33* R, double* phi) {
	const double* I = link->inverse;
	double yColumn[3] = { I[1], I[3], I[4] }, zColumn[3] = { I[2], I[4], I[5] };
	knLanes33 turned = { knLanes_MulNumbers(R, I), knLanes_MulNumbers(R, yColumn),
						 knLanes_MulNumbers(R, zColumn) };
	knLanes33 Rt = knLanes_Transpose(R), J = knLanes_MulMat(&turned, &Rt);
	knLanes c = knLanes_MulNumbers(R, link->center);
	const knLanes columns[3] = { J.x, J.y, J.z };
	for (int j = 0; j < 3; ++j) {
		knLanes swung = knLanes_Cross(c, columns[j]);
		for (int i = 0; i < 3; ++i) {
			phi[i * 6 + j] = columns[j][i];
			phi[(3 + i) * 6 + j] = phi[j * 6 + 3 + i] = swung[i];
		}
	}
	// rows of [c] J: the lin-lin block is 1/m + [c] (([c] J)^T), by rows
	for (int i = 0; i < 3; ++i) {
		knLanes row = knLanes_Make(phi[(3 + i) * 6], phi[(3 + i) * 6 + 1], phi[(3 + i) * 6 + 2]);
		knLanes swung = knLanes_Cross(c, row);
		for (int j = 0; j < 3; ++j) {
			phi[(3 + i) * 6 + 3 + j] = swung[j] + (i == j ? link->inverseMass : 0.0);
		}
	}
}

// A part for joining: of a leaf, made in `room` (42 numbers). The base does not move.
static const knDcaNode* partOf(const Pass* pass, int id, knDcaNode* leaf, double* room) {
	const knTreeDca* dca = pass->dca;
	if (knAssembly_IsJoint(dca->assembly, id)) {
		return &dca->nodes[id];
	}
	int link = id - dca->tree->count;
	bool moves = link < dca->tree->count;
	*leaf = (knDcaNode){ .handles = 1, .phi = room, .b = room + 36 };
	for (int i = 0; i < 42; ++i) {
		room[i] = 0.0;
	}
	if (moves && pass->factors) {
		double f[6];
		leafInverse(&dca->links[link], &pass->work->pose[link].R, leaf->phi);
		storeLanes(-pass->work->force[link].n, f);
		storeLanes(-pass->work->force[link].f, f + 3);
		for (int i = 0; i < 6; ++i) {
			leaf->b[i] = dot6(leaf->phi + i * 6, f);
		}
	}
	return leaf;
}

// --- joining -----------------------------------------------------------------------------------------------

// Block (h, k) of a node, whichever triangle it is kept in.
static void readBlock(const knDcaNode* node, int h, int k, double* out) {
	if (h <= k) {
		memcpy(out, node->phi + 36 * knDca_Block(node->handles, h, k), 36 * sizeof(double));
		return;
	}
	const double* block = node->phi + 36 * knDca_Block(node->handles, k, h);
	for (int i = 0; i < 6; ++i) {
		for (int j = 0; j < 6; ++j) {
			out[i * 6 + j] = block[j * 6 + i];
		}
	}
}

// L, E, MP from M = X Phi_pp X^T + Phi_qq.
static void factorJoint(knDcaNode* node, const knDcaNode* A, const knDcaNode* B, const double* r) {
	double M[36], TM[36];
	readBlock(A, node->p, node->p, M);
	shiftRows(M, r);
	shiftColumns(M, r);
	const double* own = B->phi + 36 * knDca_Block(B->handles, node->q, node->q);
	for (int i = 0; i < 36; ++i) {
		M[i] += own[i];
	}
	lockedRows(node, M, TM);
	multiplyRows(node->P, M, node->nv, node->MP);
	for (int i = 0; i < node->m; ++i) {
		for (int j = 0; j <= i; ++j) {
			node->L[i * node->m + j] = dot6(TM + i * 6, node->T + j * 6);
		}
		for (int k = 0; k < node->nv; ++k) {
			node->E[i * node->nv + k] = dot6(node->T + i * 6, node->MP + k * 6);
		}
	}
	factorCholesky(node->L, node->m);
	solveLower(node->L, node->m, node->E, node->nv);
}

// Y, Z and G of handle h.
static void coupleHandle(knDcaNode* node, const knDcaNode* A, const knDcaNode* B, const double* r, int h) {
	double R[36];
	if (node->from[h].right) {
		readBlock(B, node->q, node->from[h].index, R);
		for (int i = 0; i < 36; ++i) {
			R[i] = -R[i];
		}
	} else {
		readBlock(A, node->p, node->from[h].index, R);
		shiftRows(R, r);
	}
	double *Y = node->Y + h * node->m * 6, *Z = node->Z + h * node->nv * 6, *G = node->G + h * node->nv * 6;
	lockedRows(node, R, Y);
	solveLower6(node->L, node->m, Y);
	multiplyRows(node->P, R, node->nv, Z);
	for (int k = 0; k < node->nv; ++k) {
		for (int j = 0; j < 6; ++j) {
			G[k * 6 + j] = -Z[k * 6 + j];
		}
		for (int i = 0; i < node->m; ++i) {
			addScaled6(G + k * 6, node->E[i * node->nv + k], Y + i * 6);
		}
	}
}

static void joinBlocks(knDcaNode* node, const knDcaNode* A, const knDcaNode* B) {
	for (int h = 0; h < node->handles; ++h) {
		for (int k = h; k < node->handles; ++k) {
			double* out = node->phi + 36 * knDca_Block(node->handles, h, k);
			const knDcaHandle *a = &node->from[h], *b = &node->from[k];
			if (a->right == b->right) {
				readBlock(a->right ? B : A, a->index, b->index, out);
			} else {
				for (int i = 0; i < 36; ++i) {
					out[i] = 0.0;
				}
			}
			const double *Yh = node->Y + h * node->m * 6, *Yk = node->Y + k * node->m * 6;
			for (int l = 0; l < node->m; ++l) {
				for (int i = 0; i < 6; ++i) {
					addScaled6(out + i * 6, -Yh[l * 6 + i], Yk + l * 6);
				}
			}
		}
	}
}

static void joinBias(knDcaNode* node, const knDcaNode* A, const knDcaNode* B, const double* r,
					 const double* tau) {
	double beta[6];
	for (int i = 0; i < 6; ++i) {
		beta[i] = A->b[node->p * 6 + i];
	}
	shiftMotion(beta, r, 1);
	for (int i = 0; i < 6; ++i) {
		beta[i] -= B->b[node->q * 6 + i];
	}
	for (int k = 0; k < node->nv; ++k) {
		addScaled6(beta, -tau[k], node->MP + k * 6);
	}
	for (int i = 0; i < node->m; ++i) {
		node->y[i] = dot6(node->T + i * 6, beta);
	}
	solveLower(node->L, node->m, node->y, 1);
	for (int k = 0; k < node->nv; ++k) {
		node->g[k] = -dot6(node->P + k * 6, beta);
		for (int i = 0; i < node->m; ++i) {
			node->g[k] += node->E[i * node->nv + k] * node->y[i];
		}
	}
	for (int h = 0; h < node->handles; ++h) {
		const double* from = (node->from[h].right ? B : A)->b + 6 * node->from[h].index;
		double* b = node->b + 6 * h;
		for (int j = 0; j < 6; ++j) {
			b[j] = from[j];
		}
		for (int i = 0; i < node->m; ++i) {
			addScaled6(b, -node->y[i], node->Y + (h * node->m + i) * 6);
		}
		for (int k = 0; k < node->nv; ++k) {
			addScaled6(b, -tau[k], node->Z + (h * node->nv + k) * 6);
		}
	}
}

void knTreeDca_Arm(const knTreeDca* dca, const knTreeWork* work, int joint, double* r) {
	bool base = dca->tree->nodes[joint].parent < 0; // it does not move, so its origin does not matter
	storeLanes(base ? knLanes_All(0.0) : work->pose[joint].r, r);
}

static void assembleJoint(const Pass* pass, int joint) {
	knTreeDca* dca = pass->dca;
	const knAssemblyNode* parts = &dca->assembly->nodes[joint];
	knDcaNode *node = &dca->nodes[joint], leaves[2];
	double room[2][42];
	const knDcaNode* A = partOf(pass, parts->left, &leaves[0], room[0]);
	const knDcaNode* B = partOf(pass, parts->right, &leaves[1], room[1]);
	double r[3];
	knTreeDca_Arm(dca, pass->work, joint, r);
	if (pass->factors) {
		if (node->own < 0) {
			wideDirections(dca->tree, pass->work, joint, node);
		} else {
			narrowDirections(pass->work, joint, node);
		}
		factorJoint(node, A, B, r);
		for (int h = 0; h < node->handles; ++h) {
			coupleHandle(node, A, B, r, h);
		}
		joinBlocks(node, A, B);
	}
	joinBias(node, A, B, r, pass->tau + node->vOffset);
}

// --- back substitution -------------------------------------------------------------------------------------

// The part's handles bear what is outside the node; NULL: a leaf, whose forces nobody asks for.
static double* partForces(const knTreeDca* dca, int part) {
	if (!knAssembly_IsJoint(dca->assembly, part)) {
		return NULL;
	}
	const knDcaNode* node = &dca->nodes[part];
	for (int i = 0; i < 6 * node->handles; ++i) {
		node->force[i] = 0.0;
	}
	return node->force;
}

void knTreeDca_Substitute(knTreeDca* dca, const knTreeWork* work, int joint, const double* tau, double* qdd) {
	const knAssemblyNode* parts = &dca->assembly->nodes[joint];
	const knDcaNode* node = &dca->nodes[joint];
	double *inA = partForces(dca, parts->left), *inB = partForces(dca, parts->right);
	double lambda[6], f[6] = { 0.0 }, r[3];
	for (int i = 0; i < node->m; ++i) {
		lambda[i] = node->y[i];
	}
	for (int k = 0; k < node->nv; ++k) {
		qdd[k] = node->g[k];
	}
	for (int h = 0; h < node->handles; ++h) {
		const double* F = node->force + 6 * h;
		for (int i = 0; i < node->m; ++i) {
			lambda[i] += dot6(node->Y + (h * node->m + i) * 6, F);
		}
		for (int k = 0; k < node->nv; ++k) {
			qdd[k] += dot6(node->G + (h * node->nv + k) * 6, F);
		}
		double* in = node->from[h].right ? inB : inA;
		if (in != NULL) {
			addScaled6(in + 6 * node->from[h].index, 1.0, F);
		}
	}
	if (inA == NULL && inB == NULL) {
		return;
	}
	solveUpper(node->L, node->m, lambda);
	for (int i = 0; i < node->m; ++i) {
		addScaled6(f, lambda[i], node->T + i * 6);
	}
	for (int k = 0; k < node->nv; ++k) {
		addScaled6(f, tau[node->vOffset + k], node->P + k * 6);
	}
	if (inB != NULL) {
		addScaled6(inB + 6 * node->q, 1.0, f);
	}
	if (inA != NULL) {
		knTreeDca_Arm(dca, work, joint, r);
		shiftForce(f, r);
		addScaled6(inA + 6 * node->p, -1.0, f);
	}
}

// --- passes ------------------------------------------------------------------------------------------------

static void assembleTask(int begin, int end, int worker, void* argument) {
	(void)worker;
	const Pass* pass = argument;
	const knAssembly* assembly = pass->dca->assembly;
	for (int t = begin; t < end; ++t) {
		int node = pass->dca->taskNodes[t], first = assembly->first[node];
		for (int k = first; k < first + assembly->nodes[node].joints; ++k) {
			assembleJoint(pass, assembly->order[k]);
		}
	}
}

static void substituteJoint(const Pass* pass, int joint) {
	double* qdd = pass->qdd + pass->dca->nodes[joint].vOffset;
	knTreeDca_Substitute(pass->dca, pass->work, joint, pass->tau, qdd);
}

static void substituteTask(int begin, int end, int worker, void* argument) {
	(void)worker;
	const Pass* pass = argument;
	const knAssembly* assembly = pass->dca->assembly;
	for (int t = begin; t < end; ++t) {
		int node = pass->dca->taskNodes[t], first = assembly->first[node];
		for (int k = first + assembly->nodes[node].joints - 1; k >= first; --k) {
			substituteJoint(pass, assembly->order[k]);
		}
	}
}

static void assembleAll(Pass* pass, const knTasks* tasks) {
	const knTreeDca* dca = pass->dca;
	knTasks_For(tasks, dca->taskCount, 1, assembleTask, pass);
	for (int k = 0; k < dca->topCount; ++k) {
		assembleJoint(pass, dca->topNodes[k]);
	}
}

static void substituteAll(Pass* pass, const knTasks* tasks) {
	const knTreeDca* dca = pass->dca;
	for (int k = dca->topCount - 1; k >= 0; --k) {
		substituteJoint(pass, dca->topNodes[k]);
	}
	knTasks_For(tasks, dca->taskCount, 1, substituteTask, pass);
}

void knTreeDca_Assemble(knTreeDca* dca, knTreeWork* work, const double* q, const double* v, const double* tau,
						const knTwist* forces, knVec3 gravity, const knTasks* tasks) {
	dca->tree->kernel->sweep(dca->tree, work, q, v, NULL, gravity);
	knTree_TakeForces(dca->tree, work, forces);
	Pass pass = { .dca = dca, .work = work, .tau = tau, .factors = true };
	assembleAll(&pass, tasks);
}

void knTreeDca_ForwardDynamics(knTreeDca* dca, knTreeWork* work, const double* q, const double* v,
							   const double* tau, const knTwist* forces, knVec3 gravity, int refinements,
							   const knTasks* tasks, double* qdd) {
	int nv = dca->tree->nv;
	for (int i = 0; tau == NULL && i < nv; ++i) {
		dca->zero[i] = 0.0;
	}
	const double* applied = tau != NULL ? tau : dca->zero;
	knTreeDca_Assemble(dca, work, q, v, applied, forces, gravity, tasks);
	Pass pass = { .dca = dca, .work = work, .tau = applied, .qdd = qdd };
	substituteAll(&pass, tasks);
	for (int round = 0; round < refinements; ++round) {
		knTree_InverseDynamics(dca->tree, work, q, v, qdd, forces, gravity, dca->residual);
		for (int i = 0; i < nv; ++i) {
			dca->residual[i] = applied[i] - dca->residual[i];
		}
		Pass fix = { .dca = dca, .work = work, .tau = dca->residual, .qdd = dca->correction };
		assembleAll(&fix, tasks);
		substituteAll(&fix, tasks);
		for (int i = 0; i < nv; ++i) {
			qdd[i] += dca->correction[i];
		}
	}
}

int knTreeDca_Depth(const knTreeDca* dca) {
	return dca->assembly->depth;
}

// --- creation ----------------------------------------------------------------------------------------------

// Where the handle of a node stands among those of its part; -1: not there.
static int findHandle(const knAssemblyNode* part, int link) {
	for (int i = 0; i < part->handleCount; ++i) {
		if (part->handle[i] == link) {
			return i;
		}
	}
	return -1;
}

static void connectNode(knTreeDca* dca, int joint) {
	const knAssemblyNode* own = &dca->assembly->nodes[joint];
	const knAssemblyNode *A = &dca->assembly->nodes[own->left], *B = &dca->assembly->nodes[own->right];
	const knTreeNode* link = &dca->tree->nodes[joint];
	knDcaNode* node = &dca->nodes[joint];
	node->nv = link->nv;
	node->m = 6 - link->nv;
	node->vOffset = link->vOffset;
	node->own = knTreeNode_IsWide(link) ? -1 : knTreeNode_IsHinge(link) ? 0 : 3;
	node->p = findHandle(A, link->parent);
	node->q = findHandle(B, joint);
	KN_ASSERT(node->p >= 0 && node->q >= 0);
	for (int h = 0; h < own->handleCount; ++h) {
		int index = findHandle(A, own->handle[h]);
		bool right = index < 0;
		node->from[h] = (knDcaHandle){ right, right ? findHandle(B, own->handle[h]) : index };
	}
}

static double* take(double* numbers, size_t* at, int count) {
	double* part = numbers != NULL ? numbers + *at : NULL;
	*at += (size_t)count;
	return part;
}

static void layOutNode(knTreeDca* dca, int joint, double* numbers, size_t* at) {
	knDcaNode* node = &dca->nodes[joint];
	int m = node->m, nv = node->nv, h = node->handles = dca->assembly->nodes[joint].handleCount;
	node->phi = take(numbers, at, 18 * h * (h + 1));
	node->b = take(numbers, at, 6 * h);
	node->force = take(numbers, at, 6 * h);
	node->T = take(numbers, at, 6 * m);
	node->P = take(numbers, at, 6 * nv);
	node->L = take(numbers, at, m * m);
	node->Y = take(numbers, at, 6 * m * h);
	node->Z = take(numbers, at, 6 * nv * h);
	node->G = take(numbers, at, 6 * nv * h);
	node->E = take(numbers, at, m * nv);
	node->MP = take(numbers, at, 6 * nv);
	node->y = take(numbers, at, m);
	node->g = take(numbers, at, nv);
}

// Joints in the order in which they are assembled.
static size_t layOut(knTreeDca* dca, double* numbers) {
	size_t at = 0;
	for (int k = 0; k < dca->tree->count; ++k) {
		layOutNode(dca, dca->assembly->order[k], numbers, &at);
	}
	return at;
}

static void cutTasks(knTreeDca* dca) {
	const knAssembly* assembly = dca->assembly;
	int most = (assembly->count + TASKS - 1) / TASKS;
	most = most > SMALLEST_TASK ? most : SMALLEST_TASK;
	for (int k = 0; k < assembly->count; ++k) {
		int joint = assembly->order[k], parent = assembly->nodes[joint].parent;
		if (assembly->nodes[joint].joints > most) {
			dca->topNodes[dca->topCount++] = joint;
		} else if (parent < 0 || assembly->nodes[parent].joints > most) {
			dca->taskNodes[dca->taskCount++] = joint;
		}
	}
}

static void compileLink(const knTree* tree, int i, knDcaLink* link) {
	const knMassProps* mass = &tree->mass[i];
	knMat33 inverse = knInverse33(&mass->inertia);
	*link =
		(knDcaLink){ { inverse.cx.x, inverse.cx.y, inverse.cx.z, inverse.cy.y, inverse.cy.z, inverse.cz.z },
					 { mass->center.x, mass->center.y, mass->center.z },
					 1.0 / mass->mass };
}

static bool prepare(knTreeDca* dca) {
	const knTree* tree = dca->tree;
	size_t n = (size_t)tree->count, nv = (size_t)tree->nv;
	dca->links = knAllocArray(&dca->allocator, n, sizeof(knDcaLink));
	dca->nodes = knAllocZero(&dca->allocator, n * sizeof(knDcaNode));
	dca->taskNodes = knAllocArray(&dca->allocator, n, sizeof(int));
	dca->topNodes = knAllocArray(&dca->allocator, n, sizeof(int));
	dca->vectors = knAllocZero(&dca->allocator, 3 * nv * sizeof(double));
	if ((n > 0 &&
		 (dca->nodes == NULL || dca->links == NULL || dca->taskNodes == NULL || dca->topNodes == NULL)) ||
		(nv > 0 && dca->vectors == NULL)) {
		return false;
	}
	dca->residual = dca->vectors;
	dca->correction = dca->vectors != NULL ? dca->vectors + nv : NULL;
	dca->zero = dca->vectors != NULL ? dca->vectors + 2 * nv : NULL;
	for (int i = 0; i < tree->count; ++i) {
		compileLink(tree, i, &dca->links[i]);
		connectNode(dca, i);
	}
	cutTasks(dca);
	dca->numberCount = layOut(dca, NULL);
	dca->numbers = knAllocZero(&dca->allocator, dca->numberCount * sizeof(double));
	if (dca->numbers == NULL && dca->numberCount > 0) {
		return false;
	}
	layOut(dca, dca->numbers);
	return true;
}

knTreeDca* knTreeDca_Create(const knTree* tree, const knAllocator* allocator, knError* error) {
	knAllocator source = allocator != NULL ? *allocator : knAllocator_Default();
	knTreeDca* dca = knAllocZero(&source, sizeof(knTreeDca));
	if (dca != NULL) {
		dca->allocator = source;
		dca->tree = tree;
		dca->assembly = knAssembly_Create(tree, NULL, &source, NULL);
	}
	if (dca == NULL || dca->assembly == NULL || !prepare(dca)) {
		knTreeDca_Destroy(dca);
		knError_Set(error, KN_NO_MEMORY, "divide and conquer", "out of memory");
		return NULL;
	}
	return dca;
}

void knTreeDca_Destroy(knTreeDca* dca) {
	if (dca == NULL) {
		return;
	}
	knAllocator allocator = dca->allocator;
	size_t n = (size_t)dca->tree->count;
	knAssembly_Destroy(dca->assembly);
	knFree(&allocator, dca->links, n * sizeof(knDcaLink));
	knFree(&allocator, dca->nodes, n * sizeof(knDcaNode));
	knFree(&allocator, dca->taskNodes, n * sizeof(int));
	knFree(&allocator, dca->topNodes, n * sizeof(int));
	knFree(&allocator, dca->vectors, 3 * (size_t)dca->tree->nv * sizeof(double));
	knFree(&allocator, dca->numbers, dca->numberCount * sizeof(double));
	knFree(&allocator, dca, sizeof(knTreeDca));
}
