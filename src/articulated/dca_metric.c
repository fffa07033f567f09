// Metrics of accelerations by recursion over an assembly tree (Redon, Galoppo and Lin 2005).
//
// With the forces F on the handles of C = A + B known, those on the handles of its parts and the joint's acceleration are
//
//   f = K F + gamma,   K_h = T^T L^-T Y_h,  gamma = T^T L^-T y + P^T tau
//   F_A = LA F + lA,   F_B = LB F + lB      kept handles, and -f (about O_p) at p, f at q
//   qdd = G F + g
//
// so that with weights w
//
//   Psi = LA^T Psi_A LA + LB^T Psi_B LB + G^T w G
//   p   = LA^T (2 Psi_A lA + p_A) + LB^T (...) + 2 G^T w g
//   eta = lA^T Psi_A lA + lA^T p_A + eta_A + (...) + g^T w g          leaves: nothing
#include "articulated/dca.h"
#include "articulated/part_queue.h"

#define MAX_FORCES (6 * KN_ASSEMBLY_HANDLES)

// F of a part in terms of F of the whole: rows of `whole` numbers, and constants.
typedef struct Map {
	int rows, whole;
	double L[MAX_FORCES * MAX_FORCES], l[MAX_FORCES];
} Map;

// The force on the right part at the joint: K (6 x whole) and gamma.
static void jointForce(const knDcaNode* node, const double* tau, double* K, double* gamma) {
	int whole = 6 * node->handles, m = node->m;
	for (int c = 0; c <= whole; ++c) {
		double x[6];
		for (int i = 0; i < m; ++i) {
			x[i] = c < whole ? node->Y[(c / 6 * m + i) * 6 + c % 6] : node->y[i];
		}
		for (int i = m - 1; i >= 0; --i) {
			for (int k = i + 1; k < m; ++k) {
				x[i] -= node->L[k * m + i] * x[k];
			}
			x[i] *= node->L[i * m + i];
		}
		for (int j = 0; j < 6; ++j) {
			double sum = 0.0;
			for (int i = 0; i < m; ++i) {
				sum += x[i] * node->T[i * 6 + j];
			}
			*(c < whole ? &K[j * whole + c] : &gamma[j]) = sum;
		}
	}
	for (int k = 0; k < node->nv; ++k) {
		for (int j = 0; j < 6; ++j) {
			gamma[j] += tau[node->vOffset + k] * node->P[k * 6 + j];
		}
	}
}

static void mapForces(const knDcaNode* node, const knDcaNode* part, bool right, const double* K,
					  const double* gamma, Map* map) {
	map->rows = 6 * part->handles;
	map->whole = 6 * node->handles;
	for (int i = 0; i < map->rows * map->whole; ++i) {
		map->L[i] = 0.0;
	}
	for (int i = 0; i < map->rows; ++i) {
		map->l[i] = 0.0;
	}
	for (int h = 0; h < node->handles; ++h) {
		for (int i = 0; node->from[h].right == right && i < 6; ++i) {
			map->L[(6 * node->from[h].index + i) * map->whole + 6 * h + i] = 1.0;
		}
	}
	int at = 6 * (right ? node->q : node->p);
	for (int i = 0; i < 6; ++i) {
		for (int c = 0; c < map->whole; ++c) {
			map->L[(at + i) * map->whole + c] += K[i * map->whole + c];
		}
		map->l[at + i] += gamma[i];
	}
}

// -f about the origin of p, for K and gamma.
static void turnForce(const double* r, int whole, double* K, double* gamma) {
	for (int c = 0; c <= whole; ++c) {
		double* f = c < whole ? K + c : gamma;
		int s = c < whole ? whole : 1;
		f[0] += r[1] * f[5 * s] - r[2] * f[4 * s];
		f[s] += r[2] * f[3 * s] - r[0] * f[5 * s];
		f[2 * s] += r[0] * f[4 * s] - r[1] * f[3 * s];
		for (int i = 0; i < 6; ++i) {
			f[i * s] = -f[i * s];
		}
	}
}

// Psi (n x n), then p (n), then eta.
static double* linearOf(double* psi, int n) {
	return psi + n * n;
}

static void addPart(const Map* map, double* own, double* sum) {
	int n = map->rows, whole = map->whole;
	double product[MAX_FORCES * MAX_FORCES], slope[MAX_FORCES];
	const double *p = linearOf(own, n), eta = p[n];
	double* sumP = linearOf(sum, whole);
	for (int i = 0; i < n; ++i) {
		slope[i] = 0.0;
		for (int c = 0; c < whole; ++c) {
			product[i * whole + c] = 0.0;
		}
		for (int k = 0; k < n; ++k) {
			slope[i] += own[i * n + k] * map->l[k];
			for (int c = 0; c < whole; ++c) {
				product[i * whole + c] += own[i * n + k] * map->L[k * whole + c];
			}
		}
	}
	for (int i = 0; i < n; ++i) {
		for (int a = 0; a < whole; ++a) {
			double factor = map->L[i * whole + a];
			for (int c = 0; c < whole; ++c) {
				sum[a * whole + c] += factor * product[i * whole + c];
			}
			sumP[a] += factor * (2.0 * slope[i] + p[i]);
		}
		sumP[whole] += map->l[i] * (slope[i] + p[i]);
	}
	sumP[whole] += eta;
}

static void addJoint(const knDcaNode* node, const double* weights, double* sum) {
	int whole = 6 * node->handles;
	double* p = linearOf(sum, whole);
	for (int k = 0; k < node->nv; ++k) {
		double w = weights != NULL ? weights[node->vOffset + k] : 1.0, row[MAX_FORCES];
		for (int c = 0; c < whole; ++c) {
			row[c] = node->G[(c / 6 * node->nv + k) * 6 + c % 6];
		}
		for (int a = 0; a < whole; ++a) {
			for (int c = 0; c < whole; ++c) {
				sum[a * whole + c] += w * row[a] * row[c];
			}
			p[a] += 2.0 * w * row[a] * node->g[k];
		}
		p[whole] += w * node->g[k] * node->g[k];
	}
}

void knDcaMetric_Assemble(knDcaMetric* metric, const knTreeWork* work, const double* tau,
						  const double* weights) {
	const knTreeDca* dca = metric->dca;
	for (int i = 0; i < dca->tree->count; ++i) {
		int joint = dca->assembly->order[i];
		const knAssemblyNode* parts = &dca->assembly->nodes[joint];
		const knDcaNode* node = &dca->nodes[joint];
		int whole = 6 * node->handles;
		double K[6 * MAX_FORCES], gamma[6], r[3], *sum = metric->psi[joint];
		Map map;
		for (int k = 0; k < whole * whole + whole + 1; ++k) {
			sum[k] = 0.0;
		}
		addJoint(node, weights, sum);
		jointForce(node, tau, K, gamma);
		if (knAssembly_IsJoint(dca->assembly, parts->right)) {
			mapForces(node, &dca->nodes[parts->right], true, K, gamma, &map);
			addPart(&map, metric->psi[parts->right], sum);
		}
		if (knAssembly_IsJoint(dca->assembly, parts->left)) {
			knTreeDca_Arm(dca, work, joint, r);
			turnForce(r, whole, K, gamma);
			mapForces(node, &dca->nodes[parts->left], false, K, gamma, &map);
			addPart(&map, metric->psi[parts->left], sum);
		}
	}
}

double knDcaMetric_Value(const knDcaMetric* metric, int node, const double* force) {
	int n = 6 * metric->dca->nodes[node].handles;
	double* psi = metric->psi[node];
	const double* p = linearOf(psi, n);
	double value = p[n];
	for (int i = 0; i < n; ++i) {
		double slope = p[i];
		for (int k = 0; k < n; ++k) {
			slope += psi[i * n + k] * force[k];
		}
		value += slope * force[i];
	}
	return value > 0.0 ? value : 0.0; // rounding may take it below
}

int knDcaMetric_Select(knDcaMetric* metric, const knTreeWork* work, const double* tau, const double* weights,
					   int most, double threshold, int* joints, double* qdd, double* left) {
	knTreeDca* dca = metric->dca;
	knPartQueue queue = { metric->value, metric->heap, 0 };
	int count = 0;
	*left = 0.0;
	if (dca->tree->count > 0) {
		int root = dca->assembly->root;
		*left = metric->value[root] = knDcaMetric_Value(metric, root, NULL);
		knPartQueue_Push(&queue, root);
	}
	while (queue.count > 0 && count<most&& * left> threshold) {
		int joint = knPartQueue_Pop(&queue);
		const knDcaNode* node = &dca->nodes[joint];
		knTreeDca_Substitute(dca, work, joint, tau, qdd + node->vOffset);
		for (int k = 0; k < node->nv; ++k) {
			double x = qdd[node->vOffset + k];
			*left -= (weights != NULL ? weights[node->vOffset + k] : 1.0) * x * x;
		}
		joints[count++] = joint;
		const int parts[2] = { dca->assembly->nodes[joint].left, dca->assembly->nodes[joint].right };
		for (int i = 0; i < 2; ++i) {
			if (knAssembly_IsJoint(dca->assembly, parts[i])) {
				metric->value[parts[i]] = knDcaMetric_Value(metric, parts[i], dca->nodes[parts[i]].force);
				knPartQueue_Push(&queue, parts[i]);
			}
		}
	}
	*left = *left > 0.0 ? *left : 0.0;
	return count;
}

// --- creation ----------------------------------------------------------------------------------------------

bool knDcaMetric_Init(knDcaMetric* metric, knTreeDca* dca, const knAllocator* allocator) {
	size_t n = (size_t)dca->tree->count, at = 0;
	*metric =
		(knDcaMetric){ .allocator = allocator != NULL ? *allocator : knAllocator_Default(), .dca = dca };
	for (size_t i = 0; i < n; ++i) {
		size_t h = 6 * (size_t)dca->nodes[i].handles;
		metric->numberCount += h * h + h + 1;
	}
	metric->psi = knAllocZero(&metric->allocator, n * sizeof(double*));
	metric->numbers = knAllocZero(&metric->allocator, metric->numberCount * sizeof(double));
	metric->value = knAllocZero(&metric->allocator, n * sizeof(double));
	metric->heap = knAllocZero(&metric->allocator, n * sizeof(int));
	if (n > 0 &&
		(metric->psi == NULL || metric->numbers == NULL || metric->value == NULL || metric->heap == NULL)) {
		knDcaMetric_Free(metric);
		return false;
	}
	for (size_t i = 0; i < n; ++i) {
		size_t h = 6 * (size_t)dca->nodes[i].handles;
		metric->psi[i] = metric->numbers + at;
		at += h * h + h + 1;
	}
	return true;
}

void knDcaMetric_Free(knDcaMetric* metric) {
	size_t n = (size_t)metric->dca->tree->count;
	knFree(&metric->allocator, metric->psi, n * sizeof(double*));
	knFree(&metric->allocator, metric->numbers, metric->numberCount * sizeof(double));
	knFree(&metric->allocator, metric->value, n * sizeof(double));
	knFree(&metric->allocator, metric->heap, n * sizeof(int));
	*metric = (knDcaMetric){ .dca = metric->dca };
}
