// Analytic derivatives of inverse and forward dynamics, in spatial vectors about one point O, world axes (after
// Carpentier and Mansard 2018, with joints of several coordinates).
//
// J_k is column k of the Jacobian. Moving coordinate k moves all beyond it, so that every J_c beyond changes by J_k x
// J_c. With vb, ab the velocity and acceleration of what k hangs on, and sums (composites) over a subtree
//
//   W_k = vb x J_k,  Z_k = ab x J_k + vb x W_k,  Y_k = dJ_k/dt + W_k
//   row c beyond k:   dtau_c/dq_k = J_c.(I Z_k + B W_k)               sums over the subtree of c
//   row c before k:   dtau_c/dq_k = J_c.(I Z_k + B W_k + J_k x* F)    sums over the subtree of k
//   dtau_c/dv_k = J_c.(I Y_k + B J_k)                                 over the smaller of the two
//
// B x = I (x x v) + x x* I v + v x* I x of a rigid body sees the angular part of x only:
//   B x = 2 (w x (A - tr A/2) x + h x (x x u), x x p)      v = (w, u), I = (A, h, m), momentum p
//
// Forces of the user keep their direction: they add E x, the turning they lack, to B's place. Then H dqdd = -dtau.
#include "articulated/tree.h"
#include "core/spatial.h"

// --- spatial vectors -------------------------------------------------------------------------------------

static knTwist toTwist(const knLanes* ang, const knLanes* lin) {
	return (knTwist){ knLanes_ToVec(*ang), knLanes_ToVec(*lin) };
}

// A motion known at the point `from` (relative to O), seen at O.
static knTwist motionAtO(knTwist m, knVec3 from) {
	return (knTwist){ m.ang, knAdd(m.lin, knCross(from, m.ang)) };
}

static knTwist inertiaMul(const knTreeSums* s, knTwist m) {
	return (knTwist){ knAdd(knMulMV(&s->A, m.ang), knCross(s->h, m.lin)),
					  knAdd(knScale(s->mass, m.lin), knCross(m.ang, s->h)) };
}

// A 6 x 3 matrix: x -> (T x, x x t).
static knTwist turningMul(const knTreeTurning* m, knVec3 x) {
	return (knTwist){ knMulMV(&m->T, x), knCross(x, m->t) };
}

static knVec3 turningTMul(const knTreeTurning* m, knTwist y) {
	return knAdd(knTMulMV(&m->T, y.ang), knCross(m->t, y.lin));
}

static void addTurning(knTreeTurning* sum, const knTreeTurning* other) {
	sum->T = knAddMM(&sum->T, &other->T);
	sum->t = knAdd(sum->t, other->t);
}

// --- from the root: columns and links ----------------------------------------------------------------------

static knVec3 fromO(const knTreeWork* work, int link) {
	return knLanes_ToVec(work->origin[link] - work->origin[0]);
}

// The velocity of a link as a spatial vector, and its acceleration as one: less w x u.
static void linkMotion(const knTreeWork* work, int link, knVec3 gravity, knTwist* velocity,
					   knTwist* acceleration) {
	knTwist v, a;
	knVec3 at;
	if (link >= 0) {
		v = toTwist(&work->velocity[link].ang, &work->velocity[link].lin);
		a = toTwist(&work->motion[link].ang, &work->motion[link].lin);
		at = fromO(work, link);
	} else {
		v = toTwist(&work->base->velocity.ang, &work->base->velocity.lin);
		a = (knTwist){ knZero3(), knNeg(gravity) };
		at = knLanes_ToVec(work->base->pose.r - work->origin[0]);
	}
	a.lin = knSub(a.lin, knCross(v.ang, v.lin));
	*velocity = motionAtO(v, at);
	*acceleration = motionAtO(a, at);
}

// Every coordinate of the joint moves all of its columns; else only those that come after.
static bool isGroup(knJointKind kind) {
	return kind == KN_JOINT_BALL || kind == KN_JOINT_FREE;
}

static void describeColumns(const knTree* tree, knTreeWork* work, int i, const double* v, const double* qdd,
							knVec3 gravity) {
	const knTreeNode* node = &tree->nodes[i];
	knTwist vb, ab, own, unused;
	linkMotion(work, node->parent, gravity, &vb, &ab);
	linkMotion(work, i, gravity, &own, &unused);
	bool group = isGroup(node->kind);
	for (int k = 0; k < node->nv; ++k) {
		int at = node->vOffset + k;
		knTreeMotion S = knTree_Column(tree, work, i, k);
		knTwist J = motionAtO(toTwist(&S.ang, &S.lin), fromO(work, i));
		knTwist W = knCrossMotion(vb, J), rate = group ? knCrossMotion(own, J) : W;
		knTreeColumn* column = &work->columns[at];
		column->J = J;
		column->W = W.ang;
		column->Z = knAddT(knCrossMotion(ab, J), knCrossMotion(vb, W));
		column->Y = knAddT(rate, W);
		if (!group) {
			ab = knMulAddT(knMulAddT(ab, qdd[at], J), v[at], W);
			vb = knMulAddT(vb, v[at], J);
		}
	}
}

// A rigid link about O: A - [h][o] - [o][h] - m [o][o], h + m o.
static void describeInertia(const knTreeWork* work, int i, double mass, knTreeSums* sums) {
	knVec3 at = fromO(work, i), arm = knLanes_ToVec(work->rigid[i].h);
	knMat33 o = knSkew(at), h = knSkew(arm), ho = knMulMM(&h, &o), oh = knMulMM(&o, &h), oo = knMulMM(&o, &o);
	knMat33 shift = knAddMM(&ho, &oh), square = knScaleM(mass, &oo), A = knLanes_ToMat(&work->rigid[i].A);
	shift = knAddMM(&shift, &square);
	shift = knScaleM(-1.0, &shift);
	sums->mass = mass;
	sums->h = knMulAdd(arm, mass, at);
	sums->A = knAddMM(&A, &shift);
}

// B: 2 ([w] (A - tr/2) - [h][u]), 2 p
static knTreeTurning velocityTurning(const knTreeSums* sums, knTwist v) {
	double half = 0.5 * (sums->A.cx.x + sums->A.cy.y + sums->A.cz.z);
	knMat33 less = knDiagonal33(-half, -half, -half), E = knAddMM(&sums->A, &less);
	knMat33 w = knSkew(v.ang), u = knSkew(v.lin), h = knSkew(sums->h);
	knMat33 wE = knMulMM(&w, &E), hu = knMulMM(&h, &u);
	hu = knScaleM(-1.0, &hu);
	knMat33 T = knAddMM(&wE, &hu);
	knVec3 p = knAdd(knScale(sums->mass, v.lin), knCross(v.ang, sums->h));
	return (knTreeTurning){ knScaleM(2.0, &T), knScale(2.0, p) };
}

// E: x x n + o x (x x f), x x f
static knTreeTurning forceTurning(knVec3 o, knTwist force) {
	knMat33 moment = knSkew(force.ang), across = knSkew(o), f = knSkew(force.lin);
	knMat33 turned = knMulMM(&across, &f), sum = knAddMM(&moment, &turned);
	return (knTreeTurning){ knScaleM(-1.0, &sum), force.lin };
}

// The link's own share of all sums.
static void describeLink(const knTree* tree, knTreeWork* work, int i, const knTwist* forces) {
	knTreeSums* sums = &work->sums[i];
	knVec3 at = fromO(work, i);
	knTwist asked = toTwist(&work->force[i].n, &work->force[i].f);
	describeInertia(work, i, tree->nodes[i].mass, sums);
	sums->F = (knTwist){ knAdd(asked.ang, knCross(at, asked.lin)), asked.lin };
	sums->B = velocityTurning(sums, motionAtO(toTwist(&work->velocity[i].ang, &work->velocity[i].lin), at));
	sums->E = (knTreeTurning){ knDiagonal33(0.0, 0.0, 0.0), knZero3() };
	if (forces != NULL) {
		knVec3 o = knSub(knTree_LinkFrame(tree, work, i).p, knLanes_ToVec(work->origin[0]));
		sums->E = forceTurning(o, forces[i]);
		sums->F =
			knSubT(sums->F, (knTwist){ knAdd(forces[i].ang, knCross(o, forces[i].lin)), forces[i].lin });
	}
}

static void addSums(knTreeSums* sum, const knTreeSums* other) {
	sum->mass += other->mass;
	sum->h = knAdd(sum->h, other->h);
	sum->A = knAddMM(&sum->A, &other->A);
	sum->F = knAddT(sum->F, other->F);
	addTurning(&sum->B, &other->B);
	addTurning(&sum->E, &other->E);
}

// --- to the root: matrix entries -----------------------------------------------------------------------------

typedef struct Output {
	int nv;
	double *byQ, *byV, *H; // H may be NULL
} Output;

// All entries of column and row k that belong to link i, against the links on the way to the root.
static void fillEntries(const knTree* tree, const knTreeWork* work, int i, int k, const Output* out) {
	const knTreeNode* node = &tree->nodes[i];
	const knTreeSums* sums = &work->sums[i];
	int nv = out->nv, at = node->vOffset + k;
	const knTreeColumn* mine = &work->columns[at];
	// as column: what moving k changes in the forces of this subtree
	knTwist moved = knAddT(inertiaMul(sums, mine->Z), turningMul(&sums->B, mine->W));
	moved = knAddT(moved, turningMul(&sums->E, mine->J.ang));
	knTwist carried = knAddT(moved, knCrossForce(mine->J, sums->F));
	knTwist driven = knAddT(inertiaMul(sums, mine->Y), turningMul(&sums->B, mine->J.ang));
	// as row
	knTwist IJ = inertiaMul(sums, mine->J);
	knVec3 BJ = turningTMul(&sums->B, mine->J), EJ = turningTMul(&sums->E, mine->J);
	for (int j = i; j >= 0; j = tree->nodes[j].parent) {
		const knTreeNode* other = &tree->nodes[j];
		for (int c = other->vOffset; c < other->vOffset + other->nv; ++c) {
			const knTreeColumn* his = &work->columns[c];
			if (out->H != NULL) {
				out->H[at * nv + c] = out->H[c * nv + at] = knDotT(his->J, IJ);
			}
			out->byV[c * nv + at] = knDotT(his->J, driven);
			if (j == i) {
				bool beyond = c >= at || isGroup(node->kind);
				out->byQ[c * nv + at] = knDotT(his->J, beyond ? moved : carried);
				continue;
			}
			out->byQ[c * nv + at] = knDotT(his->J, carried);
			out->byQ[at * nv + c] = knDotT(IJ, his->Z) + knDot(BJ, his->W) + knDot(EJ, his->J.ang);
			out->byV[at * nv + c] = knDotT(IJ, his->Y) + knDot(BJ, his->J.ang);
		}
	}
}

static void derive(const knTree* tree, knTreeWork* work, const double* q, const double* v, const double* qdd,
				   const knTwist* forces, knVec3 gravity, const Output* out) {
	tree->kernel->sweep(tree, work, q, v, qdd, gravity);
	for (int k = 0; k < out->nv * out->nv; ++k) {
		out->byQ[k] = out->byV[k] = 0.0;
	}
	for (int i = 0; i < tree->count; ++i) {
		describeColumns(tree, work, i, v, qdd, gravity);
		describeLink(tree, work, i, forces);
	}
	for (int i = tree->count - 1; i >= 0; --i) {
		const knTreeNode* node = &tree->nodes[i];
		for (int k = 0; k < node->nv; ++k) {
			fillEntries(tree, work, i, k, out);
		}
		if (node->parent >= 0) {
			addSums(&work->sums[node->parent], &work->sums[i]);
		}
	}
}

void knTree_InverseDynamicsDerivatives(const knTree* tree, knTreeWork* work, const double* q, const double* v,
									   const double* qdd, const knTwist* forces, knVec3 gravity, double* byQ,
									   double* byV) {
	Output out = { tree->nv, byQ, byV, NULL };
	derive(tree, work, q, v, qdd, forces, gravity, &out);
}

bool knTree_ForwardDynamicsDerivatives(const knTree* tree, knTreeWork* work, const double* q, const double* v,
									   const double* tau, const knTwist* forces, knVec3 gravity,
									   const knTreeDerivatives* out) {
	int nv = tree->nv;
	knTree_ForwardDynamics(tree, work, q, v, tau, forces, gravity, out->qdd);
	for (int k = 0; k < nv * nv; ++k) {
		out->factors[k] = out->byTau[k] = 0.0;
	}
	Output output = { nv, out->byQ, out->byV, out->factors };
	derive(tree, work, q, v, out->qdd, forces, gravity, &output);
	for (int k = 0; k < nv && work->diagonal != NULL; ++k) {
		out->factors[k * nv + k] += work->diagonal[k];
	}
	if (!knTree_FactorMassMatrix(tree, out->factors)) {
		return false;
	}
	for (int k = 0; k < nv; ++k) {
		out->byTau[k * nv + k] = 1.0;
	}
	for (int k = 0; k < nv * nv; ++k) {
		out->byQ[k] = -out->byQ[k];
		out->byV[k] = -out->byV[k];
	}
	tree->kernel->solve(tree, out->factors, out->byQ, nv);
	tree->kernel->solve(tree, out->factors, out->byV, nv);
	tree->kernel->solve(tree, out->factors, out->byTau, nv);
	return true;
}
