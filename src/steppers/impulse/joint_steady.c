// Steadying couples: what keeps taut joints from fluttering at large steps (no part of the published method).
//
// A force f that pulls at the arm r of a body turns it back like a spring of stiffness k = f . r. The impulses of a
// step act at the arms of its start, which treats this spring explicitly: beyond h^2 k/I = 4 the body flutters and the
// energy of a taut chain or net grows without bound, the sooner the better the joints are solved. The cure is that
// of an implicit step, a couple -c w with c = h k/2 or more, written here between the two jointed bodies:
//
//   kappa = -C P (w_c - w_p),   C = h^2/2 (s_c k_c + s_p k_p),   P = 1 - f f^T/|f|^2
//
// so that it conserves momentum, only ever takes energy, leaves a turn of the whole and a twist about f alone, and
// vanishes with h. s ramps from 0 to 1 where h^2 k/I is between CALM and STIFF: joints that are not taut for the
// step have none. f is that of the step before. The joint's locked directions answer the couple (joint_bounds.c).
#include "steppers/impulse/articulation_internal.h"

#define CALM 0.1
#define STIFF 0.5

// s k of one body that a force pulls at an arm.
static double stiffness(const knMat33* invInertia, knVec3 pull, double force, knVec3 arm, double h) {
	double k = force * knDot(pull, arm);
	if (!(k > 0.0)) {
		return 0.0;
	}
	// the inverse inertias about the two axes across the force, together
	double across = invInertia->cx.x + invInertia->cy.y + invInertia->cz.z;
	across -= knDot(pull, knMulMV(invInertia, pull));
	return k * knClamp((h * h * k * across - CALM) / (STIFF - CALM), 0.0, 1.0);
}

// The couple with the locked directions' answer.
static knTwist withAnswer(const knJointBlock* block, const knJointPair* pair, knVec3 couple) {
	knTwist wrench = knMakeTwist(couple, knZero3());
	double z[6];
	knJointBlock_Answer(block, knJointPair_Response(pair, wrench), z);
	for (int k = 0; k < block->count; ++k) {
		wrench = knMulAddT(wrench, z[k], block->rows[k]);
	}
	return wrench;
}

void knJointSteady_Begin(knArticulationSolve* solve, int i) {
	solve->joints[i].steadied = false;
	solve->joints[i].couple = knZero3();
}

// What the two bodies give way to couples, with the locked directions' answer: found when first needed.
static const knMat33* give(knSolveJoint* entry, const knJointBlock* block, const knJointPair* pair) {
	if (!entry->steadied) {
		knVec3 columns[3];
		for (int a = 0; a < 3; ++a) {
			knTwist wrench = withAnswer(block, pair, knV3(a == 0, a == 1, a == 2));
			columns[a] = knJointPair_Response(pair, wrench).ang;
		}
		entry->give = knMakeMat33(columns[0], columns[1], columns[2]);
		entry->steadied = true;
	}
	return &entry->give;
}

void knJointSteady_Visit(knArticulationSolve* solve, int i) {
	knSolveJoint* entry = &solve->joints[i];
	const double h = solve->input.h;
	double force = knLength(entry->locked.lin) / h;
	if (!(force > 0.0)) {
		return;
	}
	const knJointBlock* block = knJointBlock_Get(solve, i);
	knJointPair pair = knJointPair_Make(solve, entry, block->rP, block->rC);
	knVec3 pull = knScale(1.0 / (h * force), entry->locked.lin);
	double k = stiffness(pair.invInertiaC, pull, force, block->rC, h) +
			   stiffness(pair.invInertiaP, knNeg(pull), force, block->rP, h);
	knVec3 change = knNeg(entry->couple);
	if (k > 0.0) {
		const knMat33* K = give(entry, block, &pair);
		double softness = 2.0 / (h * h * k);
		knMat33 soft = knDiagonal33(softness, softness, softness), sum = knAddMM(K, &soft);
		knMat33 inverse = knInverse33(&sum);
		knVec3 lacking = knMulAdd(knJointPair_Rate(&pair).ang, softness, entry->couple);
		lacking = knMulAdd(lacking, -knDot(pull, lacking), pull);
		change = knNeg(knMulMV(&inverse, lacking));
	}
	if (knLengthSquared(change) > 0.0) {
		entry->couple = knAdd(entry->couple, change);
		knTwist wrench = withAnswer(block, &pair, change);
		knSolveJoint_Push(solve, entry, &pair, wrench, knZero3(), knZeroTwist());
	}
}
