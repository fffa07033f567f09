// The work of joint_lanes.h, compiled once for every machine and once for those with AVX.
#pragma once

#include "core/wide.h"
#include "steppers/impulse/joint_lanes.h"

#define KN_LOCKED_SOFTNESS                                                                                   \
	1e-7 // of a locked row beside its own resistance: a net drawn flat has no solution without it
#define ROWS 6
#define TRIANGLE (ROWS * (ROWS + 1) / 2)

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
KN_WIDE void factorLdl(knWide A[TRIANGLE], int n) {
	for (int i = 0; i < n; ++i) {
		knWide* row = A + i * (i + 1) / 2;
		for (int j = 0; j < i; ++j) {
			const knWide* rowJ = A + j * (j + 1) / 2;
			for (int k = 0; k < j; ++k) {
				row[j] = knWide_MulSub(row[j], row[k], rowJ[k]);
			}
		}
		for (int j = 0; j < i; ++j) {
			const knWide scaled = knWide_Div(row[j], A[j * (j + 1) / 2 + j]);
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
	knWide K[TRIANGLE];
	_Alignas(32) double A[TRIANGLE][KN_LANES], soft[ROWS][KN_LANES];
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
	for (int i = 0; i < most * (most + 1) / 2; ++i) {
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

#define KN_JOINT_KERNEL(name)                                                                                \
	{ name, turnTensors, takeFrames, factorRows }
