// The work of joint_lanes.h, compiled once for every machine and once for those with AVX.
#pragma once

#include "core/wide.h"
#include "steppers/impulse/joint_lanes.h"
#include "steppers/impulse/joint_newton.h"

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
	{ name, turnTensors, takeFrames, factorRows, predict, derive }
