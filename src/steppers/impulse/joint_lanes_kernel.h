// The work of joint_lanes.h, compiled once for every machine and once for those with AVX.
#pragma once

#include "core/wide.h"
#include "steppers/impulse/joint_lanes.h"
#include "steppers/impulse/joint_newton.h"

#define KN_LOCKED_SOFTNESS                                                                                   \
	1e-7 // of a locked row beside its own resistance: a net drawn flat has no solution without it

// steadying couples, see joint_steady.c
#define KN_STEADY 0.25
#define KN_STEADY_CALM 0.1     // of a link of a loop,
#define KN_STEADY_CALM_PIN 0.2 // of what turns about a pin
#define KN_STEADY_RAMP 0.4

#define ROWS 6
#define TRIANGLE(n) ((n) * ((n) + 1) / 2)

_Static_assert(KN_JOINT_LANES == KN_LANES, "one joint a lane");

static void turnTensors(const knFrame* const pose[KN_LANES], const knMat33* const local[KN_LANES],
						knMat33* const world[KN_LANES]) {
	const double *turns[KN_LANES], *tensors[KN_LANES];
	double* to[KN_LANES];
	for (int l = 0; l < KN_LANES; ++l) {
		turns[l] = &pose[l]->q.w;
		tensors[l] = &local[l]->cx.x;
		to[l] = &world[l]->cx.x;
	}
	const knWide33 m = knWide33_Read(tensors, 0);
	const knWide33 turned = knWideQuat_RotateTensor(knWideQuat_Read(turns, 0), &m);
	knWide33_Write(to, 0, &turned);
}

// --- frames ----------------------------------------------------------------------------------------------

// A field of the blocks.
#define FIELD(lanes, field)                                                                                  \
	{                                                                                                        \
		(double*)&(lanes)->block[0]->field, (double*)&(lanes)->block[1]->field,                              \
			(double*)&(lanes)->block[2]->field, (double*)&(lanes)->block[3]->field                           \
	}

// Levers, axes and J stand behind one another.
_Static_assert(offsetof(knJointBlock, rC) - offsetof(knJointBlock, rP) == 3 * sizeof(double) &&
				   offsetof(knJointBlock, axes) - offsetof(knJointBlock, rP) == 6 * sizeof(double) &&
				   offsetof(knJointBlock, J) - offsetof(knJointBlock, rP) == 10 * sizeof(double),
			   "seventeen numbers");

static void takeFrames(const knJointLanes* lanes) {
	const knArticulationSolve* solve = lanes->solve;
	const double *poseP[KN_LANES], *poseC[KN_LANES], *frameP[KN_LANES], *frameC[KN_LANES];
	for (int l = 0; l < KN_LANES; ++l) {
		const knSolveJoint* entry = &solve->joints[lanes->entry[l]];
		poseP[l] = &solve->input.state->pose[entry->parent].p.x;
		poseC[l] = &solve->input.state->pose[entry->child].p.x;
		frameP[l] = &entry->joint->frameParent.p.x;
		frameC[l] = &entry->joint->frameChild.p.x;
	}
	const knWideFrame P = knWideFrame_Read(poseP, 0), C = knWideFrame_Read(poseC, 0);
	const knWideFrame onP = knWideFrame_Mul(P, knWideFrame_Read(frameP, 0));
	const knWideFrame onC = knWideFrame_Mul(C, knWideFrame_Read(frameC, 0));
	const knWide3 rP = knWide3_Sub(onC.p, P.p), rC = knWide3_Sub(onC.p, C.p);
	const knWideFrame J = knWideFrame_InvMul(onP, onC);
	double* const to[KN_LANES] = FIELD(lanes, rP);
	const knWide out[17] = { rP.x,    rP.y,  rP.z,  rC.x,  rC.y,  rC.z,  onP.q.w, onP.q.x, onP.q.y,
							 onP.q.z, J.p.x, J.p.y, J.p.z, J.q.w, J.q.x, J.q.y,   J.q.z };
	knWide_Write4(to, 0, out);
	knWide_Write4(to, 4, out + 4);
	knWide_Write4(to, 8, out + 8);
	knWide_Write4(to, 12, out + 12);
	knWide_Write4(to, 13, out + 13);
}

// --- rows and their resistance ---------------------------------------------------------------------------

// The two bodies of four joints: knJointPair.
typedef struct WidePair {
	knWide mass; // the sum of the inverse masses
	knWide33 invInertiaP, invInertiaC;
	knWide3 rP, rC;
} WidePair;

KN_WIDE WidePair readPair(const knJointLanes* lanes) {
	const knArticulationSolve* solve = lanes->solve;
	const double *inertiaP[KN_LANES], *inertiaC[KN_LANES];
	const double* const levers[KN_LANES] = FIELD(lanes, rP);
	_Alignas(32) double mass[KN_LANES];
	for (int l = 0; l < KN_LANES; ++l) {
		const knSolveJoint* entry = &solve->joints[lanes->entry[l]];
		inertiaP[l] = &solve->invInertia[entry->parent].cx.x;
		inertiaC[l] = &solve->invInertia[entry->child].cx.x;
		mass[l] = solve->invMass[entry->child] + solve->invMass[entry->parent];
	}
	const knWideTwist both = knWideTwist_Read(levers, 0);
	return (WidePair){ .mass = knWide_Load(mass),
					   .invInertiaP = knWide33_Read(inertiaP, 0),
					   .invInertiaC = knWide33_Read(inertiaC, 0),
					   .rP = both.ang,
					   .rC = both.lin };
}

// knJointPair_Response
KN_WIDE knWideTwist respond(const WidePair* pair, knWideTwist wrench) {
	const knWide3 torqueC = knWide3_Add(wrench.ang, knWide3_Cross(pair->rC, wrench.lin));
	const knWide3 torqueP = knWide3_Add(wrench.ang, knWide3_Cross(pair->rP, wrench.lin));
	const knWide3 spinC = knWide33_MulV(&pair->invInertiaC, torqueC);
	const knWide3 spinP = knWide33_MulV(&pair->invInertiaP, torqueP);
	const knWide3 turning = knWide3_Add(knWide3_Cross(spinC, pair->rC), knWide3_Cross(spinP, pair->rP));
	return (knWideTwist){ knWide3_Add(spinC, spinP),
						  knWide3_Add(knWide3_Scale(pair->mass, wrench.lin), turning) };
}

// knDense_FactorLdl of a lower triangle, row by row. A lane whose matrix is smaller has nothing of interest behind it, and one
// whose matrix is singular nothing at all.
KN_WIDE void factorLdl(knWide* A, int n) {
	for (int i = 0; i < n; ++i) {
		knWide* row = A + TRIANGLE(i);
		for (int j = 0; j < i; ++j) {
			const knWide* rowJ = A + TRIANGLE(j);
			for (int k = 0; k < j; ++k) {
				row[j] = knWide_MulSub(row[j], row[k], rowJ[k]);
			}
		}
		for (int j = 0; j < i; ++j) {
			const knWide scaled = knWide_Div(row[j], A[TRIANGLE(j) + j]);
			row[i] = knWide_MulSub(row[i], scaled, row[j]);
			row[j] = scaled;
		}
	}
}

// Lane l of a triangle as the lower half of a block's matrix; false: singular.
static bool storeFactors(double (*A)[KN_LANES], int l, int n, double* factor) {
	for (int i = 0, at = 0; i < n; ++i) {
		for (int k = 0; k <= i; ++k, ++at) {
			factor[n * i + k] = A[at][l];
		}
		const double pivot = factor[(n + 1) * i];
		if (pivot == 0.0 || !knIsFinite(pivot)) {
			return false;
		}
	}
	return true;
}

static void factorRows(const knJointLanes* lanes) {
	const WidePair pair = readPair(lanes);
	const double* const axes[KN_LANES] = FIELD(lanes, axes);
	const knWide33 turn = knWideQuat_ToMat33(knWideQuat_Read(axes, 0));
	double* const to[KN_LANES] = FIELD(lanes, rows);
	int most = 0;
	for (int l = 0; l < lanes->count; ++l) {
		most = lanes->block[l]->count > most ? lanes->block[l]->count : most;
	}
	knWideTwist rows[ROWS];
	knWide K[TRIANGLE(ROWS)];
	_Alignas(32) double A[TRIANGLE(ROWS)][KN_LANES], soft[ROWS][KN_LANES];
	for (int i = 0, at = 0; i < most; ++i) {
		const knWideTwist row = knWideTwist_Read((const double* const*)to, 6 * i);
		rows[i] = (knWideTwist){ knWide33_MulV(&turn, row.ang), knWide33_MulV(&turn, row.lin) };
		knWideTwist_Write(to, 6 * i, rows[i]);
		const knWideTwist response = respond(&pair, rows[i]);
		for (int k = 0; k <= i; ++k, ++at) {
			K[at] = knWideTwist_Dot(rows[k], response);
		}
		knWide_Store(soft[i], knWide_Mul(knWide_Splat(KN_LOCKED_SOFTNESS), K[at - 1]));
	}
	factorLdl(K, most);
	for (int i = 0; i < TRIANGLE(most); ++i) {
		knWide_Store(A[i], K[i]);
	}
	for (int l = 0; l < lanes->count; ++l) {
		knJointBlock* block = lanes->block[l];
		for (int i = 0; i < block->count; ++i) {
			block->softness[i] = soft[i][l];
		}
		if (!storeFactors(A, l, block->count, block->factor)) {
			block->count = 0;
		}
	}
}

static void factorAll(const knJointLanes* lanes) {
	const WidePair pair = readPair(lanes);
	const double* const from[KN_LANES] = FIELD(lanes, rows);
	knWideTwist rows[KN_BLOCK_ROWS];
	knWide K[TRIANGLE(KN_BLOCK_ROWS)];
	_Alignas(32) double A[TRIANGLE(KN_BLOCK_ROWS)][KN_LANES], soft[KN_LANES];
	int most = 0;
	for (int l = 0; l < lanes->count; ++l) {
		most = lanes->block[l]->all > most ? lanes->block[l]->all : most;
	}
	for (int i = 0, at = 0; i < most; ++i) {
		rows[i] = knWideTwist_Read(from, 6 * i);
		const knWideTwist response = respond(&pair, rows[i]);
		for (int k = 0; k <= i; ++k, ++at) {
			K[at] = knWideTwist_Dot(rows[k], response);
		}
		for (int l = 0; l < KN_LANES; ++l) {
			soft[l] = i >= lanes->block[l]->count ? lanes->block[l]->softness[i] : 0.0;
		}
		K[at - 1] = knWide_Add(K[at - 1], knWide_Load(soft));
	}
	factorLdl(K, most);
	for (int i = 0; i < TRIANGLE(most); ++i) {
		knWide_Store(A[i], K[i]);
	}
	for (int l = 0; l < lanes->count; ++l) {
		knJointBlock* block = lanes->block[l];
		if (!storeFactors(A, l, block->all, block->whole)) {
			block->all = block->count;
		}
	}
}

KN_WIDE knWide3 splat3(knVec3 v) {
	return (knWide3){ knWide_Splat(v.x), knWide_Splat(v.y), knWide_Splat(v.z) };
}

static void spreadRows(const knJointBlock* block, knBodyRow rows[KN_BLOCK_ROWS]) {
	const knWide3 rP = splat3(block->rP), rC = splat3(block->rC);
	for (int k = 0; k < block->all; k += KN_LANES) {
		const double* from[KN_LANES];
		double *toP[KN_LANES], *toC[KN_LANES];
		for (int l = 0; l < KN_LANES; ++l) {
			const int at = k + l < block->all ? k + l : block->all - 1;
			from[l] = &block->rows[at].ang.x;
			toP[l] = rows[at].a;
			toC[l] = rows[at].b;
		}
		const knWideTwist row = knWideTwist_Read(from, 0);
		const knWide3 momentP = knWide3_Add(row.ang, knWide3_Cross(rP, row.lin));
		const knWide3 momentC = knWide3_Add(row.ang, knWide3_Cross(rC, row.lin));
		knWideTwist_Write(toP, 0, (knWideTwist){ knWide3_Neg(momentP), knWide3_Neg(row.lin) });
		knWideTwist_Write(toC, 0, (knWideTwist){ momentC, row.lin });
	}
}

// --- steadying couples: the operations of joint_steady.c -------------------------------------------------

// Locked rows and their factors of lanes that have the same number of them.
typedef struct WideBlock {
	int count;
	knWideTwist rows[ROWS];
	knWide factor[ROWS * ROWS];
} WideBlock;

KN_WIDE void readBlock(const knJointLanes* lanes, int count, WideBlock* block) {
	const double *const rows[KN_LANES] = FIELD(lanes, rows), *const factor[KN_LANES] = FIELD(lanes, factor);
	block->count = count;
	for (int r = 0; r < count; ++r) {
		block->rows[r] = knWideTwist_Read(rows, 6 * r);
		for (int c = 0; c <= r; ++c) {
			block->factor[count * r + c] = knWide_Read1(factor, count * r + c);
		}
	}
}

// knDense_SolveLdl
KN_WIDE void solveLdl(const WideBlock* block, knWide b[ROWS]) {
	const int n = block->count;
	for (int i = 0; i < n; ++i) {
		for (int k = 0; k < i; ++k) {
			b[i] = knWide_MulSub(b[i], block->factor[i * n + k], b[k]);
		}
	}
	for (int i = 0; i < n; ++i) {
		b[i] = knWide_Div(b[i], block->factor[i * n + i]);
	}
	for (int i = n - 1; i >= 0; --i) {
		for (int k = i + 1; k < n; ++k) {
			b[i] = knWide_MulSub(b[i], block->factor[k * n + i], b[k]);
		}
	}
}

// What a unit couple about an axis does to the spin about it, the joint holding.
KN_WIDE knWide responseAbout(const WideBlock* block, const knWide33* invInertia, knWide3 arm, knWide3 axis) {
	const knWide3 spin = knWide33_MulV(invInertia, axis);
	const knWideTwist change = { spin, knWide3_Cross(spin, arm) };
	knWide3 torque = axis;
	knWide z[ROWS];
	for (int r = 0; r < block->count; ++r) {
		z[r] = knWide_Neg(knWideTwist_Dot(block->rows[r], change));
	}
	solveLdl(block, z);
	for (int r = 0; r < block->count; ++r) {
		const knWideTwist row = block->rows[r];
		torque = knWide3_MulAdd(torque, z[r], knWide3_Add(row.ang, knWide3_Cross(arm, row.lin)));
	}
	return knWide3_Dot(spin, torque);
}

// About axes across an arm: the sum over both. (About the arm itself the force has no spring; a thin rod would be far too light
// there.) Lanes whose blocks have as many rows are done together.
static knWide responseAcross(const knJointLanes* lanes, const knWide33* invInertia, knWide3 arm) {
	const knWide3 along = knWide3_Normalize(arm), first = knWide3_AnyOrthogonal(along);
	const knWide3 second = knWide3_Cross(along, first);
	const knWide zero = knWide_Splat(0.0);
	knWide sum = zero;
	for (int count = 0; count <= ROWS; ++count) {
		_Alignas(32) double mine[KN_LANES];
		for (int l = 0; l < KN_LANES; ++l) {
			mine[l] = lanes->block[l]->count == count ? 1.0 : 0.0;
		}
		const knWide mask = knWide_Greater(knWide_Load(mine), zero);
		if (knWide_Any(mask)) {
			WideBlock block;
			readBlock(lanes, count, &block);
			const knWide one = responseAbout(&block, invInertia, arm, first);
			const knWide other = responseAbout(&block, invInertia, arm, second);
			sum = knWide_Select(mask, knWide_Add(knWide_Add(zero, one), other), sum);
		}
	}
	return sum;
}

// s k of one body that a force pulls at its arm. Most joints are not taut, and known so at once: the joint can only make the
// answer smaller.
KN_WIDE knWide stiffness(const knJointLanes* lanes, bool child, const knWide33* invInertia, knWide3 arm,
						 knWide3 pull, knWide force) {
	const double h = lanes->solve->input.h;
	const knWide zero = knWide_Splat(0.0), one = knWide_Splat(1.0), hh = knWide_Splat(h * h);
	const knWide k = knWide_Mul(force, knWide3_Dot(pull, arm)), size = knWide3_Dot(arm, arm);
	const knWide trace = knWide_Add(knWide_Add(invInertia->cx.x, invInertia->cy.y), invInertia->cz.z);
	knWide across = knWide_Sub(trace, knWide_Div(knWide3_Dot(arm, knWide33_MulV(invInertia, arm)), size));
	knWide calm = knWide_Splat(KN_STEADY_CALM);
	const knWide taut = knWide_Select(knWide_Greater(size, zero),
									  knWide_Greater(knWide_Mul(knWide_Mul(hh, k), across), calm), zero);
	if (!knWide_Any(taut)) {
		return zero;
	}
	_Alignas(32) double pins[KN_LANES];
	for (int l = 0; l < KN_LANES; ++l) {
		const knSolveJoint* entry = &lanes->solve->joints[lanes->entry[l]];
		pins[l] = lanes->solve->strung[child ? entry->child : entry->parent] != 0 ? 0.0 : 1.0;
	}
	const knWide pinned = knWide_Greater(knWide_Load(pins), zero);
	if (knWide_Any(knWide_Select(taut, pinned, zero))) {
		across = knWide_Select(pinned, responseAcross(lanes, invInertia, arm), across);
		calm = knWide_Select(pinned, knWide_Splat(KN_STEADY_CALM_PIN), calm);
	}
	const knWide over = knWide_Sub(knWide_Mul(knWide_Mul(hh, k), across), calm);
	knWide share = knWide_Div(over, knWide_Splat(KN_STEADY_RAMP));
	share = knWide_Select(knWide_Greater(share, one), one, share);
	share = knWide_Select(knWide_Greater(zero, share), zero, share);
	return knWide_Select(taut, knWide_Mul(k, share), zero);
}

static void steady(const knJointLanes* lanes, knSteadyLanes* out) {
	const knArticulationSolve* solve = lanes->solve;
	const double *locked[KN_LANES], *recalled[KN_LANES], *late[KN_LANES];
	for (int l = 0; l < KN_LANES; ++l) {
		const knSolveJoint* entry = &solve->joints[lanes->entry[l]];
		locked[l] = &entry->locked.ang.x;
		recalled[l] = &entry->recalled.x;
		late[l] = &entry->late.x;
	}
	const double h = solve->input.h;
	const knWide zero = knWide_Splat(0.0), one = knWide_Splat(1.0);
	knWide more[4], last[4];
	knWide_Read4(recalled, 0, more);
	knWide_Read4(late, 0, last);
	const knWide3 sum = knWide3_Add(knWideTwist_Read(locked, 0).lin, (knWide3){ more[0], more[1], more[2] });
	const knWide3 impulse = knWide3_Add(sum, (knWide3){ last[0], last[1], last[2] });
	const knWide force = knWide_Div(knWide_Sqrt(knWide3_Dot(impulse, impulse)), knWide_Splat(h));
	const knWide pulled = knWide_Greater(force, zero);
	for (int l = 0; l < KN_LANES; ++l) {
		out->softness[l] = 0.0;
	}
	if (!knWide_Any(pulled)) {
		return;
	}
	const knWide3 pull = knWide3_Scale(knWide_Div(one, knWide_Mul(knWide_Splat(h), force)), impulse);
	const WidePair pair = readPair(lanes);
	const knWide k =
		knWide_Add(stiffness(lanes, true, &pair.invInertiaC, pair.rC, pull, force),
				   stiffness(lanes, false, &pair.invInertiaP, pair.rP, knWide3_Neg(pull), force));
	const knWide taut = knWide_Select(pulled, knWide_Greater(k, zero), zero);
	if (!knWide_Any(taut)) {
		return;
	}
	// the line along which the two bodies are strung
	const knWide3 none = { zero, zero, zero };
	const knWide3 line = knWide3_Normalize(
		knWide3_Sub(knWide3_Select(knWide_Greater(pair.invInertiaP.cx.x, zero), pair.rP, none),
					knWide3_Select(knWide_Greater(pair.invInertiaC.cx.x, zero), pair.rC, none)));
	const knWide softness =
		knWide_Select(taut, knWide_Div(knWide_Splat(KN_STEADY), knWide_Mul(knWide_Splat(h * h), k)), zero);
	_Alignas(32) double lane[4][KN_LANES];
	knWide_Store(lane[0], line.x);
	knWide_Store(lane[1], line.y);
	knWide_Store(lane[2], line.z);
	knWide_Store(lane[3], softness);
	for (int l = 0; l < KN_LANES; ++l) {
		out->line[l] = knV3(lane[0][l], lane[1][l], lane[2][l]);
		out->softness[l] = lane[3][l];
	}
}

// --- Newton's equations: the operations of joint_newton.c ------------------------------------------------

// knNewtonMotion
typedef struct WideMotion {
	knWide3 center, phi;
	knWideQuat turn;
	knWide c1, c2;
} WideMotion;

// Most bodies turn little in a step.
KN_WIDE void turnOf(knWide angle2, knWide* c1, knWide* c2, knWide* sinHalf, knWide* cosHalf) {
	const knWide one = knWide_Splat(1.0), half = knWide_Splat(0.5);
	if (!knWide_Any(knWide_Greater(angle2, knWide_Splat(KN_NEWTON_SMALL)))) {
		*c1 = knWide_Sub(half, knWide_Div(angle2, knWide_Splat(24.0)));
		*c2 = knWide_Sub(knWide_Splat(1.0 / 6.0), knWide_Div(angle2, knWide_Splat(120.0)));
		*sinHalf = knWide_MulSub(half, knWide_Div(angle2, knWide_Splat(48.0)),
								 knWide_Sub(one, knWide_Div(angle2, knWide_Splat(80.0))));
		*cosHalf = knWide_MulSub(one, knWide_Div(angle2, knWide_Splat(8.0)),
								 knWide_Sub(one, knWide_Div(angle2, knWide_Splat(48.0))));
		return;
	}
	_Alignas(32) double angle[KN_LANES], out[4][KN_LANES];
	knWide_Store(angle, angle2);
	for (int l = 0; l < KN_LANES; ++l) {
		knNewtonMotion_Turn(angle[l], &out[0][l], &out[1][l], &out[2][l], &out[3][l]);
	}
	*c1 = knWide_Load(out[0]);
	*c2 = knWide_Load(out[1]);
	*sinHalf = knWide_Load(out[2]);
	*cosHalf = knWide_Load(out[3]);
}

KN_WIDE WideMotion motionOf(knWide3 x, knWideTwist u, knWide h) {
	WideMotion motion = { .center = knWide3_MulAdd(x, h, u.lin), .phi = knWide3_Scale(h, u.ang) };
	knWide sinHalf, cosHalf;
	turnOf(knWide3_Dot(motion.phi, motion.phi), &motion.c1, &motion.c2, &sinHalf, &cosHalf);
	motion.turn = (knWideQuat){ cosHalf, knWide_Mul(sinHalf, motion.phi.x), knWide_Mul(sinHalf, motion.phi.y),
								knWide_Mul(sinHalf, motion.phi.z) };
	return motion;
}

KN_WIDE void storeMotion(double to[12][KN_LANES], const WideMotion* motion) {
	knWide3_Store(to, motion->center);
	knWide3_Store(to + 3, motion->phi);
	knWide_Store(to[6], motion->turn.w);
	knWide_Store(to[7], motion->turn.x);
	knWide_Store(to[8], motion->turn.y);
	knWide_Store(to[9], motion->turn.z);
	knWide_Store(to[10], motion->c1);
	knWide_Store(to[11], motion->c2);
}

KN_WIDE WideMotion loadMotion(const double from[12][KN_LANES]) {
	return (WideMotion){ .center = knWide3_Load(from),
						 .phi = knWide3_Load(from + 3),
						 .turn = { knWide_Load(from[6]), knWide_Load(from[7]), knWide_Load(from[8]),
								   knWide_Load(from[9]) },
						 .c1 = knWide_Load(from[10]),
						 .c2 = knWide_Load(from[11]) };
}

// Where the numbers of the two bodies and frames of each lane's joint are.
typedef struct Places {
	const double *poseP[KN_LANES], *poseC[KN_LANES], *frameP[KN_LANES], *frameC[KN_LANES];
	const double *uP[KN_LANES], *uC[KN_LANES], *inertiaP[KN_LANES], *inertiaC[KN_LANES], *error[KN_LANES];
	_Alignas(32) double massP[KN_LANES];
	_Alignas(32) double massC[KN_LANES];
} Places;

static Places findPlaces(const knNewtonLanes* lanes) {
	const knArticulationSolve* solve = lanes->solve;
	Places at;
	for (int l = 0; l < KN_LANES; ++l) {
		const knSolveJoint* entry = &solve->joints[lanes->entry[l]];
		const int p = entry->parent, c = entry->child;
		at.poseP[l] = &solve->input.state->pose[p].p.x;
		at.poseC[l] = &solve->input.state->pose[c].p.x;
		at.frameP[l] = &entry->joint->frameParent.p.x;
		at.frameC[l] = &entry->joint->frameChild.p.x;
		at.uP[l] = &solve->u[p].ang.x;
		at.uC[l] = &solve->u[c].ang.x;
		at.inertiaP[l] = &solve->invInertia[p].cx.x;
		at.inertiaC[l] = &solve->invInertia[c].cx.x;
		at.error[l] = &entry->error.ang.x;
		at.massP[l] = solve->invMass[p];
		at.massC[l] = solve->invMass[c];
	}
	return at;
}

static void predict(knNewtonLanes* lanes) {
	const Places at = findPlaces(lanes);
	const knWide h = knWide_Splat(lanes->solve->input.h);
	const knWideFrame P = knWideFrame_Read(at.poseP, 0), C = knWideFrame_Read(at.poseC, 0);
	const WideMotion mp = motionOf(P.p, knWideTwist_Read(at.uP, 0), h);
	const WideMotion mc = motionOf(C.p, knWideTwist_Read(at.uC, 0), h);
	const knWideFrame endP = { mp.center, knWideQuat_Mul(mp.turn, P.q) };
	const knWideFrame endC = { mc.center, knWideQuat_Mul(mc.turn, C.q) };
	const knWideFrame onP = knWideFrame_Mul(endP, knWideFrame_Read(at.frameP, 0));
	const knWideFrame onC = knWideFrame_Mul(endC, knWideFrame_Read(at.frameC, 0));
	const knWideFrame J = knWideFrame_InvMul(onP, onC);
	const knWide out[7] = { J.p.x, J.p.y, J.p.z, J.q.w, J.q.x, J.q.y, J.q.z };
	double* const to[KN_LANES] = { &lanes->J[0].p.x, &lanes->J[1].p.x, &lanes->J[2].p.x, &lanes->J[3].p.x };
	storeMotion(lanes->parent, &mp);
	storeMotion(lanes->child, &mc);
	knWide_Write4(to, 0, out);
	knWide_Write4(to, 3, out + 3);
}

// knNewtonBody
typedef struct WideBody {
	knWide mass; // h times the inverse
	knWide33 invInertia;
	knWide3 arm, lever, turned; // the last: the arm at the end
	knWideQuat Q;
} WideBody;

KN_WIDE knWide3 timesJacobian(const WideMotion* motion, knWide3 d) {
	const knWide3 once = knWide3_Cross(motion->phi, d), twice = knWide3_Cross(motion->phi, once);
	return knWide3_MulAdd(knWide3_MulAdd(d, motion->c1, once), motion->c2, twice);
}

KN_WIDE knWideTwist answer(const WideBody* body, const WideMotion* motion, knWide h, knWideTwist impulse) {
	const knWide3 torque = knWide3_Add(impulse.ang, knWide3_Cross(body->lever, impulse.lin));
	const knWide3 spin = knWide3_Scale(h, knWide33_MulV(&body->invInertia, torque));
	return (knWideTwist){ timesJacobian(motion, spin), knWide3_Scale(body->mass, impulse.lin) };
}

KN_WIDE knWideTwist subtractTwist(knWideTwist a, knWideTwist b) {
	return (knWideTwist){ knWide3_Sub(a.ang, b.ang), knWide3_Sub(a.lin, b.lin) };
}

// knJointNewton_Set
KN_WIDE void setBodies(const Places* at, const knNewtonLanes* lanes, WideBody* p, WideBody* c) {
	const double* const targets[KN_LANES] = { &lanes->target[0].p.x, &lanes->target[1].p.x,
											  &lanes->target[2].p.x, &lanes->target[3].p.x };
	const knWide h = knWide_Splat(lanes->solve->input.h), zero = knWide_Splat(0.0);
	const knWideFrame P = knWideFrame_Read(at->poseP, 0), C = knWideFrame_Read(at->poseC, 0);
	const knWideFrame place = knWideFrame_Mul(knWideFrame_Read(at->frameP, 0), knWideFrame_Read(targets, 0));
	const knWideFrame frameC = knWideFrame_Read(at->frameC, 0);
	p->arm = knWideQuat_Rotate(P.q, place.p);
	c->arm = knWideQuat_Rotate(C.q, frameC.p);
	p->Q = knWideQuat_Mul(P.q, place.q);
	c->Q = knWideQuat_Mul(C.q, frameC.q);
	// knJointNewton_SameCover
	knWide cover = knWide_MulAdd(knWide_Mul(p->Q.w, c->Q.w), p->Q.x, c->Q.x);
	cover = knWide_MulAdd(knWide_MulAdd(cover, p->Q.y, c->Q.y), p->Q.z, c->Q.z);
	const knWide apart = knWide_Greater(zero, cover);
	p->Q = (knWideQuat){ knWide_Select(apart, knWide_Neg(p->Q.w), p->Q.w),
						 knWide_Select(apart, knWide_Neg(p->Q.x), p->Q.x),
						 knWide_Select(apart, knWide_Neg(p->Q.y), p->Q.y),
						 knWide_Select(apart, knWide_Neg(p->Q.z), p->Q.z) };
	const knWide3 gap = knWide3_Sub(knWide3_Add(C.p, c->arm), knWide3_Add(P.p, p->arm));
	p->lever = knWide3_MulAdd(p->arm, knWide_Splat(0.5), gap);
	c->lever = knWide3_MulAdd(c->arm, knWide_Splat(-0.5), gap);
	p->invInertia = knWide33_Read(at->inertiaP, 0);
	c->invInertia = knWide33_Read(at->inertiaC, 0);
	p->mass = knWide_Mul(h, knWide_Load(at->massP));
	c->mass = knWide_Mul(h, knWide_Load(at->massC));
}

// knJointNewton_Changes along one row
KN_WIDE knWideTwist changeAlong(const WideBody* p, const WideBody* c, const WideMotion* mp,
								const WideMotion* mc, knWide h, knWideQuat E, knWide side,
								knWideTwist along) {
	const knWideTwist dp = answer(p, mp, h, along), dc = answer(c, mc, h, along);
	const knWide3 lin = knWide3_Add(knWide3_Add(dc.lin, knWide3_Cross(dc.ang, c->turned)),
									knWide3_Add(dp.lin, knWide3_Cross(dp.ang, p->turned)));
	const knWide3 back = knWide3_Neg(dp.ang), e = { E.x, E.y, E.z };
	const knWide3 change =
		knWide3_MulAdd(knWide3_Cross(knWide3_Add(dc.ang, back), e), E.w, knWide3_Sub(dc.ang, back));
	return (knWideTwist){ knWide3_Scale(side, change), lin };
}

static void derive(knNewtonLanes* lanes) {
	const Places at = findPlaces(lanes);
	const knWide h = knWide_Splat(lanes->solve->input.h), one = knWide_Splat(1.0), zero = knWide_Splat(0.0);
	const WideMotion mp = loadMotion((const double(*)[KN_LANES])lanes->parent);
	const WideMotion mc = loadMotion((const double(*)[KN_LANES])lanes->child);
	WideBody p, c;
	setBodies(&at, lanes, &p, &c);
	p.turned = knWideQuat_Rotate(mp.turn, p.arm);
	c.turned = knWideQuat_Rotate(mc.turn, c.arm);

	// knJointNewton_Residual, without what the joint was open by at the start
	const knWideQuat E =
		knWideQuat_Mul(knWideQuat_Mul(mc.turn, c.Q), knWideQuat_Conj(knWideQuat_Mul(mp.turn, p.Q)));
	const knWide side = knWide_Select(knWide_Greater(zero, E.w), knWide_Splat(-1.0), one);
	const knWideQuat frameP = knWideQuat_Read(at.frameP, 3), poseP = knWideQuat_Read(at.poseP, 3);
	const knWideQuat axes = knWideQuat_Mul(knWideQuat_Mul(mp.turn, poseP), frameP);
	const knWideTwist kept = knWideQuat_RotateT(axes, knWideTwist_Read(at.error, 0));
	knWideTwist F = { knWide3_Scale(knWide_Mul(knWide_Splat(2.0), side), (knWide3){ E.x, E.y, E.z }),
					  knWide3_Sub(knWide3_Add(mc.center, c.turned), knWide3_Add(mp.center, p.turned)) };
	F = subtractTwist(F, kept);

	// along the rows
	double* const to[KN_LANES] = { &lanes->rows[0][0].ang.x, &lanes->rows[1][0].ang.x,
								   &lanes->rows[2][0].ang.x, &lanes->rows[3][0].ang.x };
	knWideTwist rows[ROWS];
	knWide worst = zero;
	for (int k = 0; k < lanes->most; ++k) {
		rows[k] = knWideQuat_RotateT(axes, knWideTwist_Read((const double* const*)to, 6 * k));
		const knWide f = knWideTwist_Dot(rows[k], F);
		knWideTwist_Write(to, 6 * k, rows[k]);
		knWide_Store(lanes->F[k], f);
		worst = knWide_Max(worst, knWide_Max(f, knWide_Neg(f)));
	}
	if (!knWide_Any(knWide_Greater(worst, knWide_Splat(lanes->closed)))) {
		return;
	}
	for (int k = 0; k < lanes->most; ++k) {
		const knWideTwist change = changeAlong(&p, &c, &mp, &mc, h, E, side, rows[k]);
		for (int r = 0; r < lanes->most; ++r) {
			knWide_Store(lanes->K[r][k], knWideTwist_Dot(rows[r], change));
		}
	}
	double* const keep[KN_LANES] = { &lanes->kept[0].ang.x, &lanes->kept[1].ang.x, &lanes->kept[2].ang.x,
									 &lanes->kept[3].ang.x };
	double* const levers[KN_LANES] = { &lanes->levers[0].ang.x, &lanes->levers[1].ang.x,
									   &lanes->levers[2].ang.x, &lanes->levers[3].ang.x };
	double* const offsets[KN_LANES] = { &lanes->offsets[0].ang.x, &lanes->offsets[1].ang.x,
										&lanes->offsets[2].ang.x, &lanes->offsets[3].ang.x };
	knWideTwist_Write(keep, 0, kept);
	knWideTwist_Write(levers, 0, (knWideTwist){ p.lever, c.lever });
	knWideTwist_Write(offsets, 0, (knWideTwist){ c.arm, knWide3_Sub(c.lever, c.arm) });
}

#define KN_JOINT_KERNEL(name)                                                                                \
	{ name, turnTensors, takeFrames, factorRows, spreadRows, steady, factorAll, predict, derive }
