// Ten thousand random trees, each with every check: independent methods give one answer, however the links are
// numbered.
#include "tree_test.h"

#define TREES 10000

typedef struct Worst {
	double massMatrix, lagrange, torques, collision, operational, derivatives, numbering;
	int trees, kinds[KN_JOINT_KIND_COUNT];
} Worst;

static Worst worst;
static double H[MAX_V * MAX_V];

static void keep(double* most, double value) {
	assert_true(isfinite(value));
	*most = fmax(*most, value);
}

// --- one tree --------------------------------------------------------------------------------------------

// qdd = H^-1 (tau + forces - bias), H left factored.
static void checkMassMatrix(Tree* t, const double* qdd) {
	double x[MAX_V];
	knTree_InverseDynamics(t->tree, t->work, t->q, t->v, NULL, t->forces, gravity, x);
	for (int i = 0; i < t->nv; ++i) {
		x[i] = t->tau[i] - x[i];
	}
	knTree_MassMatrix(t->tree, t->work, t->q, H);
	assert_true(knTree_FactorMassMatrix(t->tree, H));
	knTree_SolveMassMatrix(t->tree, H, x);
	keep(&worst.massMatrix, difference(x, qdd, t->nv) / largest(qdd, t->nv));
}

static void checkLagrange(Tree* t, const double* qdd) {
	double x[MAX_V];
	knTreeLagrange* lagrange = knTreeLagrange_Create(t->tree, NULL, 0, NULL, NULL);
	assert_non_null(lagrange);
	assert_int_equal(knTreeLagrange_FillBlocks(lagrange), 0);
	assert_true(knTreeLagrange_ForwardDynamics(lagrange, t->work, t->q, t->v, t->tau, t->forces, gravity, x));
	keep(&worst.lagrange, difference(x, qdd, t->nv) / largest(qdd, t->nv));
	knTreeLagrange_Destroy(lagrange);
}

static void checkTorques(Tree* t, const double* qdd) {
	double tau[MAX_V];
	knTree_InverseDynamics(t->tree, t->work, t->q, t->v, qdd, t->forces, gravity, tau);
	keep(&worst.torques, difference(tau, t->tau, t->nv) / largest(t->tau, t->nv));
}

// Rows of J of link a's point less that of link b's, b may be the base.
static void relativeJacobian(Tree* t, int a, int b, knVec3 point, double* J) {
	static double other[6 * MAX_V];
	knTree_Jacobian(t->tree, t->work, a, point, J);
	if (b >= 0) {
		knTree_Jacobian(t->tree, t->work, b, point, other);
		for (int i = 0; i < 6 * t->nv; ++i) {
			J[i] -= other[i];
		}
	}
}

// J H^-1 J^T of `rows` rows, with H factored.
static void projectInverse(const Tree* t, const double* J, int rows, double* K) {
	for (int c = 0; c < rows; ++c) {
		double x[MAX_V];
		memcpy(x, J + c * t->nv, (size_t)t->nv * sizeof(double));
		knTree_SolveMassMatrix(t->tree, H, x);
		for (int r = 0; r < rows; ++r) {
			K[r * rows + c] = 0.0;
			for (int i = 0; i < t->nv; ++i) {
				K[r * rows + c] += J[r * t->nv + i] * x[i];
			}
		}
	}
}

// K of a contact with the world or between two links, where the cross terms matter.
static void checkCollision(Tree* t) {
	static double J[6 * MAX_V];
	int a = testInt(&dice, t->count), b = testInt(&dice, t->count + 1) - 1;
	knVec3 point = randomVector();
	knTree_Kinematics(t->tree, t->work, t->q, t->v);
	relativeJacobian(t, a, b, point, J);
	double expected[36], K[9];
	projectInverse(t, J + 3 * t->nv, 3, expected);
	knTree_PrepareImpulses(t->tree, t->work, t->q);
	knMat33 mine = knTree_CollisionMatrix(t->tree, t->work, a, b, point);
	for (int r = 0; r < 3; ++r) {
		K[r * 3] = knComponent(mine.cx, r);
		K[r * 3 + 1] = knComponent(mine.cy, r);
		K[r * 3 + 2] = knComponent(mine.cz, r);
	}
	// two links that do not move against each other have no K to speak of
	keep(&worst.collision, difference(K, expected, 9) / fmax(largest(expected, 9), 1e-3));
}

// The inertia that two points show, with the cross terms between them.
static void checkOperational(Tree* t) {
	static double J[12 * MAX_V];
	knTreePoint points[2] = { { testInt(&dice, t->count), randomVector() },
							  { testInt(&dice, t->count), randomVector() } };
	double expected[144], inverse[144];
	for (int k = 0; k < 2; ++k) {
		knTree_Jacobian(t->tree, t->work, points[k].link, points[k].point, J + k * 6 * t->nv);
	}
	projectInverse(t, J, 12, expected);
	knTree_OperationalInverse(t->tree, t->work, points, 2, inverse);
	keep(&worst.operational, difference(inverse, expected, 144) / fmax(largest(expected, 144), 1e-3));
}

// The analytic derivatives along one random direction in q and v, against differences of fourth order.
static void checkDerivatives(Tree* t) {
	static double byQ[MAX_V * MAX_V], byV[MAX_V * MAX_V], byTau[MAX_V * MAX_V], factors[MAX_V * MAX_V];
	const double steps[4] = { -1e-3, -5e-4, 5e-4, 1e-3 };
	double qdd[MAX_V], dq[MAX_V], dv[MAX_V], ends[4][MAX_V], expected[MAX_V], mine[MAX_V];
	knTreeDerivatives out = { qdd, byQ, byV, byTau, factors };
	assert_true(
		knTree_ForwardDynamicsDerivatives(t->tree, t->work, t->q, t->v, t->tau, t->forces, gravity, &out));
	for (int i = 0; i < t->nv; ++i) {
		dq[i] = uniform(-1.0, 1.0);
		dv[i] = uniform(-1.0, 1.0);
	}
	for (int s = 0; s < 4; ++s) {
		double q[7 * MAX_LINKS], v[MAX_V];
		memcpy(q, t->q, sizeof(q));
		knTree_Integrate(t->tree, q, dq, steps[s]);
		for (int i = 0; i < t->nv; ++i) {
			v[i] = t->v[i] + steps[s] * dv[i];
		}
		knTree_ForwardDynamics(t->tree, t->work, q, v, t->tau, t->forces, gravity, ends[s]);
	}
	for (int i = 0; i < t->nv; ++i) {
		double wide = (ends[3][i] - ends[0][i]) / 2e-3, narrow = (ends[2][i] - ends[1][i]) / 1e-3;
		expected[i] = (4.0 * narrow - wide) / 3.0;
		mine[i] = 0.0;
		for (int k = 0; k < t->nv; ++k) {
			mine[i] += byQ[i * t->nv + k] * dq[k] + byV[i * t->nv + k] * dv[k];
		}
	}
	double size = fmax(largest(expected, t->nv), largest(qdd, t->nv));
	keep(&worst.derivatives, difference(mine, expected, t->nv) / size);
}

// A legal renumbering: by depth, within a depth from the last to the first.
static void renumber(const Tree* t, int* order, int* place) {
	int depth[MAX_LINKS], count = 0;
	for (int i = 0; i < t->count; ++i) {
		depth[i] = t->links[i].parent < 0 ? 0 : depth[t->links[i].parent] + 1;
	}
	for (int d = 0; d < t->count; ++d) {
		for (int i = t->count - 1; i >= 0; --i) {
			if (depth[i] == d) {
				place[i] = count;
				order[count++] = i;
			}
		}
	}
}

static void checkNumbering(const Tree* t, const double* qdd) {
	int order[MAX_LINKS], place[MAX_LINKS];
	renumber(t, order, place);
	static Tree other;
	other.count = t->count;
	for (int i = 0; i < t->count; ++i) {
		other.links[i] = t->links[order[i]];
		other.links[i].parent = other.links[i].parent < 0 ? -1 : place[other.links[i].parent];
		other.forces[i] = t->forces[order[i]];
	}
	other.tree = knTree_Create(other.links, other.count, NULL, NULL);
	other.work = knTreeWork_Create(other.tree, NULL, NULL);
	for (int i = 0; i < t->count; ++i) {
		int q = knTree_CoordinateOffset(t->tree, order[i]), v = knTree_VelocityOffset(t->tree, order[i]);
		int toQ = knTree_CoordinateOffset(other.tree, i), toV = knTree_VelocityOffset(other.tree, i);
		for (int k = 0; k < 7 && toQ + k < t->nq && q + k < t->nq; ++k) {
			other.q[toQ + k] = t->q[q + k];
		}
		for (int k = 0; k < knTree_LinkVelocityCount(other.tree, i); ++k) {
			other.v[toV + k] = t->v[v + k];
			other.tau[toV + k] = t->tau[v + k];
		}
	}
	double x[MAX_V];
	knTree_ForwardDynamics(other.tree, other.work, other.q, other.v, other.tau, other.forces, gravity, x);
	for (int i = 0; i < t->count; ++i) {
		int v = knTree_VelocityOffset(t->tree, order[i]), toV = knTree_VelocityOffset(other.tree, i);
		int n = knTree_LinkVelocityCount(other.tree, i);
		keep(&worst.numbering, difference(x + toV, qdd + v, n) / largest(qdd, t->nv));
	}
	freeTree(&other);
}

// With inertia of the coordinates' own: the links feel what it leaves of the torques, and all methods agree on it.
static void checkDiagonal(Tree* t) {
	double own[MAX_V], qdd[MAX_V], felt[MAX_V], left[MAX_V];
	for (int i = 0; i < t->nv; ++i) {
		own[i] = uniform(0.0, 1.0);
	}
	knTreeWork_SetDiagonal(t->work, own);
	knTree_ForwardDynamics(t->tree, t->work, t->q, t->v, t->tau, t->forces, gravity, qdd);
	checkMassMatrix(t, qdd);
	checkTorques(t, qdd);
	checkCollision(t);
	checkOperational(t);
	checkDerivatives(t);
	knTreeWork_SetDiagonal(t->work, NULL);
	knTree_InverseDynamics(t->tree, t->work, t->q, t->v, qdd, t->forces, gravity, felt);
	for (int i = 0; i < t->nv; ++i) {
		left[i] = t->tau[i] - own[i] * qdd[i];
	}
	keep(&worst.torques, difference(felt, left, t->nv) / largest(t->tau, t->nv));
}

// --- all trees -------------------------------------------------------------------------------------------

static void ten_thousand_trees_agree(void** state) {
	(void)state;
	for (int trial = 0; trial < TREES; ++trial) {
		Tree t;
		double qdd[MAX_V];
		makeTree(&t, 1 + trial % MAX_LINKS, trial % 3 == 0, trial % 4 == 0);
		if (trial % 5 != 0) {
			knTree_ForwardDynamics(t.tree, t.work, t.q, t.v, t.tau, t.forces, gravity, qdd);
			checkNumbering(&t, qdd);
		} else {
			knTreeWork_SetBase(t.work, randomFrame(), (knTwist){ randomVector(), randomVector() });
			knTree_ForwardDynamics(t.tree, t.work, t.q, t.v, t.tau, t.forces, gravity, qdd);
		}
		checkMassMatrix(&t, qdd);
		checkLagrange(&t, qdd);
		checkTorques(&t, qdd);
		checkCollision(&t);
		checkOperational(&t);
		checkDerivatives(&t);
		if (trial % 4 == 1) {
			checkDiagonal(&t);
		}
		for (int i = 0; i < t.count; ++i) {
			++worst.kinds[t.links[i].kind];
		}
		++worst.trees;
		freeTree(&t);
	}
	print_message("%d trees; worst: mass matrix %.2g, multipliers %.2g, torques %.2g, K %.2g, points %.2g, "
				  "derivatives %.2g, numbering %.2g\n",
				  worst.trees, worst.massMatrix, worst.lagrange, worst.torques, worst.collision,
				  worst.operational, worst.derivatives, worst.numbering);
	assert_int_equal(worst.trees, TREES);
	for (int kind = 0; kind < KN_JOINT_KIND_COUNT; ++kind) {
		assert_true(kind == KN_JOINT_CUSTOM || worst.kinds[kind] > TREES / 10);
	}
	assert_true(worst.massMatrix < 1e-9);
	assert_true(worst.lagrange < 1e-9);
	assert_true(worst.torques < 1e-9);
	assert_true(worst.collision < 1e-10);
	assert_true(worst.operational < 1e-9);
	assert_true(worst.derivatives < 1e-6);
	assert_true(worst.numbering < 1e-9);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ten_thousand_trees_agree),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
