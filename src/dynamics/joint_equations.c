// The locked rows of joints over a span of time, with their derivatives. joint_equations.h tells the method.

#include "dynamics/joint_equations_internal.h"

#include "model/control.h"
#include "model/joint_parts.h"

#define LEAST_LENGTH 1e-3 // m, of CROSS rows: two wheels on one axle have no arms

// --- the rows of each kind ---------------------------------------------------------------------------------

typedef enum Form { POINT, CROSS, ALONG } Form;

typedef struct Locked {
	Form form;
	int i, j; // axes of the parent and of the child
} Locked;

typedef struct Recipe {
	int count;
	Locked rows[6];   // POINT counts for three rows
	unsigned aligned; // axes (bits) that point the same way where CROSS rows vanish
} Recipe;

// Half the gaps of a kind; what turns about x (planar: z) carries that axis in the child, so that a wheel's own
// axis, which its spin leaves as it is, is read.
static const Recipe recipes[KN_JOINT_KIND_COUNT] = {
	[KN_JOINT_BALL] = { 1, { { POINT, 0, 0 } }, 0 },
	[KN_JOINT_HINGE] = { 3, { { POINT, 0, 0 }, { CROSS, 1, 0 }, { CROSS, 2, 0 } }, 1 },
	[KN_JOINT_SLIDER] = { 5,
						  { { ALONG, 1, 0 },
							{ ALONG, 2, 0 },
							{ CROSS, 0, 1 },
							{ CROSS, 1, 2 },
							{ CROSS, 2, 0 } },
						  7 },
	[KN_JOINT_SLIDER2] = { 4, { { ALONG, 2, 0 }, { CROSS, 0, 1 }, { CROSS, 1, 2 }, { CROSS, 2, 0 } }, 7 },
	[KN_JOINT_SLIDER3] = { 3, { { CROSS, 0, 1 }, { CROSS, 1, 2 }, { CROSS, 2, 0 } }, 7 },
	[KN_JOINT_UNIVERSAL] = { 2, { { POINT, 0, 0 }, { CROSS, 0, 2 } }, 0 },
	[KN_JOINT_CYLINDER] = { 4, { { ALONG, 1, 0 }, { ALONG, 2, 0 }, { CROSS, 1, 0 }, { CROSS, 2, 0 } }, 1 },
	[KN_JOINT_PLANAR] = { 3, { { ALONG, 2, 0 }, { CROSS, 0, 2 }, { CROSS, 1, 2 } }, 4 },
	[KN_JOINT_FIXED] = { 4, { { POINT, 0, 0 }, { CROSS, 0, 1 }, { CROSS, 1, 2 }, { CROSS, 2, 0 } }, 7 },
};

// Axes of a CROSS or ALONG row; flipped where the parent is the wheel: the same gap with the parent's axis.
static int axisOfParent(const knEquationJoint* joint, const Locked* locked) {
	return joint->flipped && locked->form == CROSS ? locked->j : locked->i;
}

static int axisOfChild(const knEquationJoint* joint, const Locked* locked) {
	return joint->flipped ? locked->i : locked->j;
}

static int countLocked(const knJoint* joint) {
	if (joint->kind == KN_JOINT_CUSTOM) {
		return 6; // as many as a user's joint may lock; what it leaves free has empty rows
	}
	const Recipe* recipe = &recipes[joint->kind];
	int count = 0;
	for (int i = 0; i < recipe->count; ++i) {
		count += recipe->rows[i].form == POINT ? 3 : 1;
	}
	return count;
}

static int countAxes(const knJoint* joint, const knJointState* state) {
	int count = 0;
	for (int i = 0; i < joint->nv; ++i) {
		count += knJointAxes_HasLaw(joint, state, i);
	}
	if (joint->kind == KN_JOINT_BALL) {
		count += joint->coneLimited || joint->reachCount > 0 ? 1 : 0;
		count += joint->twistLimited ? 2 : 0;
	}
	return count;
}

int knEquationJoint_RowCount(const knModel* model, const knState* state, int index) {
	const knJoint* joint = knState_Joint(state, model, index);
	return countLocked(joint) + countAxes(joint, &state->joint[index]);
}

static void addAxis(knEquationJoint* joint, int axis, int side) {
	KN_ASSERT(joint->axisCount < KN_EQUATIONS_MAX_AXES);
	joint->axes[joint->axisCount++] = (knEquationAxis){ .axis = axis, .side = side };
}

static void listAxes(knEquationJoint* joint) {
	const knJoint* j = joint->joint;
	if (j->kind == KN_JOINT_BALL && (j->coneLimited || j->reachCount > 0)) {
		addAxis(joint, -1, 0);
	}
	if (j->kind == KN_JOINT_BALL && j->twistLimited) {
		addAxis(joint, -2, -1);
		addAxis(joint, -2, 1);
	}
	for (int i = 0; i < j->nv; ++i) {
		if (knJointAxes_HasLaw(j, joint->state, i)) {
			addAxis(joint, i, 0);
		}
	}
}

static double bodySize(const knEquationBody* body) {
	const knMat33* D = &body->inertia;
	return body->mass > 0.0 ? sqrt((D->cx.x + D->cy.y + D->cz.z) / body->mass) : 0.0;
}

void knEquationJoint_Make(knEquationJoint* joint, const knModel* model, const knState* state, int index,
						  int parent, int child, const knEquationBody* bodies, knEquationRow* rows) {
	const knJoint* j = knState_Joint(state, model, index);
	*joint = (knEquationJoint){ .joint = j,
								.state = &state->joint[index],
								.index = index,
								.parent = parent,
								.child = child,
								.locked = countLocked(j),
								.anchorP = j->frameParent.p,
								.anchorC = j->frameChild.p,
								.rows = rows };
	const knMat33 axesP = knQuat_ToMat33(j->frameParent.q), axesC = knQuat_ToMat33(j->frameChild.q);
	joint->axesP[0] = axesP.cx, joint->axesP[1] = axesP.cy, joint->axesP[2] = axesP.cz;
	joint->axesC[0] = axesC.cx, joint->axesC[1] = axesC.cy, joint->axesC[2] = axesC.cz;
	for (int i = 0; i < j->nq; ++i) {
		joint->q[i] = joint->q1[i] = state->q[j->qOffset + i];
	}
	listAxes(joint);
	for (int i = 0; i < joint->axisCount; ++i) {
		knEquationAxis* axis = &joint->axes[i];
		axis->drive = axis->axis >= 0 ? knState_Drive(state, model, index, axis->axis) : NULL;
	}
	joint->count = joint->locked + joint->axisCount;
	const bool slides =
		j->kind == KN_JOINT_CUSTOM || recipes[j->kind].count == 0 || recipes[j->kind].rows[0].form != POINT;
	joint->point = !slides;
	const double armP = bodies[parent].mass > 0.0 ? knLength(joint->anchorP) : 0.0;
	const double armC = bodies[child].mass > 0.0 ? knLength(joint->anchorC) : 0.0;
	const double size = knMax(bodySize(&bodies[parent]), bodySize(&bodies[child]));
	joint->flipped = bodies[parent].byExp && bodies[parent].mass > 0.0 && !bodies[child].byExp &&
					 (j->kind == KN_JOINT_HINGE || j->kind == KN_JOINT_CYLINDER);
	joint->length = knMax(knMax(0.5 * knMax(armP, armC), 0.5 * size), LEAST_LENGTH);
	for (int i = 0; i < joint->count; ++i) {
		rows[i] = (knEquationRow){ .weight = 1.0 };
	}
}
void knEquationJoint_Begin(knEquationJoint* joint, const knEquationBody* bodies, const knSpan* span) {
	const knEquationBody *P = &bodies[joint->parent], *C = &bodies[joint->child];
	joint->rP = knMulMV(&P->R, joint->anchorP);
	joint->rC = knMulMV(&C->R, joint->anchorC);
	joint->sP = knSub(knAdd(C->x, joint->rC), P->x);
	if (joint->locked > 3 || !joint->point) {
		for (int i = 0; i < 3; ++i) {
			joint->dP[i] = knMulMV(&P->R, joint->axesP[i]);
			joint->dC[i] = knMulMV(&C->R, joint->axesC[i]);
		}
	}
	if (joint->axisCount > 0) {
		knJointAxes_Begin(joint, bodies, span);
	}
}

// --- at the iterate --------------------------------------------------------------------------------------------

static knJointEnds findEnds(const knEquationJoint* joint, const knEquationBody* P, const knEquationBody* C,
							double arms) {
	knJointEnds e = { .rP = knMulMV(&P->R1, joint->anchorP), .rC = knMulMV(&C->R1, joint->anchorC) };
	e.sP = knSub(knAdd(C->x1, e.rC), P->x1);
	e.mP = knMix(joint->rP, e.rP, arms);
	e.mC = knMix(joint->rC, e.rC, arms);
	e.mS = knMix(joint->sP, e.sP, arms);
	return e;
}

static void evaluatePoint(knEquationRow* rows, const knJointEnds* e) {
	// child's anchor less parent's
	const knVec3 gap = knSub(e->sP, e->rP);
	rows[0].gap = gap.x;
	rows[1].gap = gap.y;
	rows[2].gap = gap.z;
	const knVec3 c = e->mC, p = e->mP;
	rows[0].meanC = knMakeTwist(knV3(0.0, c.z, -c.y), knV3(1.0, 0.0, 0.0));
	rows[1].meanC = knMakeTwist(knV3(-c.z, 0.0, c.x), knV3(0.0, 1.0, 0.0));
	rows[2].meanC = knMakeTwist(knV3(c.y, -c.x, 0.0), knV3(0.0, 0.0, 1.0));
	rows[0].meanP = knMakeTwist(knV3(0.0, -p.z, p.y), knV3(-1.0, 0.0, 0.0));
	rows[1].meanP = knMakeTwist(knV3(p.z, 0.0, -p.x), knV3(0.0, -1.0, 0.0));
	rows[2].meanP = knMakeTwist(knV3(-p.y, p.x, 0.0), knV3(0.0, 0.0, -1.0));
}

static void evaluateLocked(knEquationJoint* joint, const knEquationBody* P, const knEquationBody* C,
						   const knJointEnds* e, double arms) {
	const Recipe* recipe = &recipes[joint->joint->kind];
	knEquationRow* row = joint->rows;
	for (int k = 0; k < recipe->count; ++k) {
		const Locked* locked = &recipe->rows[k];
		if (locked->form == POINT) {
			evaluatePoint(row, e);
			row += 3;
			continue;
		}
		const knVec3 p = knMulMV(&P->R1, joint->axesP[axisOfParent(joint, locked)]);
		const knVec3 pMean = knMix(joint->dP[axisOfParent(joint, locked)], p, arms);
		if (locked->form == CROSS) {
			const knVec3 c = knMulMV(&C->R1, joint->axesC[axisOfChild(joint, locked)]);
			const knVec3 cMean = knMix(joint->dC[axisOfChild(joint, locked)], c, arms);
			row->gap = joint->length * knDot(p, c);
			row->meanC = knMakeTwist(knScale(joint->length, knCross(cMean, pMean)), knZero3());
			row->meanP = knScaleT(-1.0, row->meanC);
		} else {
			row->gap = knDot(p, knSub(e->sP, e->rP));
			knSetRow(knMakeTwist(knZero3(), pMean), e->mS, e->mC, &row->meanP, &row->meanC);
		}
		row += 1;
	}
}

// Orthonormal rows that span what `rows` span, each as near as can be to the row of the same place before: a user's joint
// may list its locked directions in any order and mixture.
static void keepBasis(const knTwist before[6], int count, knTwist rows[6]) {
	knTwist kept[6];
	int found = 0;
	for (int k = 0; k < 6 && found < count; ++k) {
		knTwist t = knZeroTwist();
		for (int i = 0; i < count; ++i) {
			t = knMulAddT(t, knDotT(rows[i], before[k]), rows[i]);
		}
		for (int i = 0; i < found; ++i) {
			t = knMulAddT(t, -knDotT(kept[i], t), kept[i]);
		}
		double square = knDotT(t, t);
		if (square > 0.25) {
			kept[found++] = knScaleT(1.0 / sqrt(square), t);
		}
	}
	for (int k = 0; k < count && found == count; ++k) {
		rows[k] = kept[k];
	}
}

// A user's joint: locked directions at the mean pose, error at the end.
static void evaluateCustom(knEquationJoint* joint, const knEquationBody* P, const knEquationBody* C,
						   const knJointEnds* e, double arms) {
	const knJoint* j = joint->joint;
	const knFrame meanP = knMakeFrame(
		knMix(P->x, P->x1, arms),
		knNormalizeQ(knQ(P->q.w + P->q1.w, P->q.x + P->q1.x, P->q.y + P->q1.y, P->q.z + P->q1.z)));
	const knFrame meanC = knMakeFrame(
		knMix(C->x, C->x1, arms),
		knNormalizeQ(knQ(C->q.w + C->q1.w, C->q.x + C->q1.x, C->q.y + C->q1.y, C->q.z + C->q1.z)));
	knTwist rows[6];
	int count = knJointOps_Get(j->kind)->lockedRows(j, knJoint_Frame(j, meanP, meanC), rows);
	keepBasis(joint->custom, count, rows);
	const knFrame J = knJoint_Frame(j, knMakeFrame(P->x1, P->q1), knMakeFrame(C->x1, C->q1));
	const knTwist error = knJoint_ErrorTwist(J, knJointOps_Get(j->kind)->projectState(j, J));
	const knQuat axes = knMulQ(meanP.q, j->frameParent.q);
	for (int k = 0; k < 6; ++k) {
		knEquationRow* row = &joint->rows[k];
		joint->custom[k] = k < count ? rows[k] : knZeroTwist();
		row->gap = knDotT(joint->custom[k], error);
		knSetRow(knRotateT(axes, joint->custom[k]), e->mS, e->mC, &row->meanP, &row->meanC);
		if (k >= count) {
			row->lambda = 0.0;
		}
	}
}
void knEquationJoint_Evaluate(knEquationJoint* joint, knEquationBody* bodies, const knSpan* span) {
	knEquationBody *P = &bodies[joint->parent], *C = &bodies[joint->child];
	const knJointEnds e = findEnds(joint, P, C, span->arms);
	if (joint->joint->kind == KN_JOINT_CUSTOM) {
		evaluateCustom(joint, P, C, &e, span->arms);
	} else {
		evaluateLocked(joint, P, C, &e, span->arms);
	}
	for (int i = 0; i < joint->locked; ++i) {
		knEquationRow* row = &joint->rows[i];
		row->residual = row->gap / span->h;
		// a direction that a user's joint leaves free carries nothing
		row->weight =
			joint->joint->kind == KN_JOINT_CUSTOM && knDotT(joint->custom[i], joint->custom[i]) == 0.0 ? 0.0
																									   : 1.0;
		row->compliance = row->weight > 0.0 ? 0.0 : 1.0;
	}
	if (joint->axisCount > 0) {
		knJointAxes_Evaluate(joint, bodies, &e, span);
	}
	for (int i = 0; i < joint->count; ++i) {
		const knEquationRow* row = &joint->rows[i];
		P->restAng = knMulAdd(P->restAng, -row->lambda, row->meanP.ang);
		P->restLin = knMulAdd(P->restLin, -row->lambda, row->meanP.lin);
		C->restAng = knMulAdd(C->restAng, -row->lambda, row->meanC.ang);
		C->restLin = knMulAdd(C->restLin, -row->lambda, row->meanC.lin);
	}
}

double knEquationJoint_Error(const knEquationJoint* joint, double h) {
	double worst = 0.0, point = 0.0;
	for (int i = 0; i < joint->locked; ++i) {
		point += joint->rows[i].gap * joint->rows[i].gap;
	}
	worst = sqrt(point);
	for (int i = 0; i < joint->axisCount; ++i) {
		const knEquationRow* row = &joint->rows[joint->locked + i];
		const knEquationAxis* axis = &joint->axes[i];
		// as a length: rates times h, impulses by the row's own inverse mass
		double error =
			row->weight == 1.0 ? h * knAbs(row->residual) : h * axis->inverseMass * knAbs(row->residual);
		const bool turns = knLengthSquared(row->meanC.lin) == 0.0;
		worst = knMax(worst, turns ? joint->length * error : error);
	}
	return worst;
}

double knEquationJoint_Work(const knEquationJoint* joint, const knEquationBody* bodies, double h) {
	const knEquationBody *P = &bodies[joint->parent], *C = &bodies[joint->child];
	double work = 0.0;
	for (int i = 0; i < joint->axisCount; ++i) {
		const knEquationRow* row = &joint->rows[joint->locked + i];
		work += knJointLaw_MotorShare(&joint->axes[i].law, row->gap, row->lambda) * row->moved / h;
	}
	// a body that does not yield puts in what the other one gets beyond the change of coordinates
	const bool drivenP = P->mass <= 0.0 && P->moves, drivenC = C->mass <= 0.0 && C->moves;
	for (int r = 0; (drivenP || drivenC) && r < joint->count; ++r) {
		const knEquationRow* row = &joint->rows[r];
		const double got = drivenP ? knDot(row->meanC.ang, C->w) + knDot(row->meanC.lin, C->u)
								   : knDot(row->meanP.ang, P->w) + knDot(row->meanP.lin, P->u);
		work += row->lambda * (got - (r >= joint->locked ? row->moved / h : 0.0));
	}
	return work;
}

// --- derivatives -------------------------------------------------------------------------------------------------

// sum += scale [a][b] = scale (b a^T - (a . b) 1)
static void addSkewProduct(knMat33* sum, double scale, knVec3 a, knVec3 b) {
	const double dot = scale * knDot(a, b);
	const knVec3 sb = knScale(scale, b);
	sum->cx = knMulAdd(sum->cx, a.x, sb);
	sum->cy = knMulAdd(sum->cy, a.y, sb);
	sum->cz = knMulAdd(sum->cz, a.z, sb);
	sum->cx.x -= dot;
	sum->cy.y -= dot;
	sum->cz.z -= dot;
}

static void addSkew(knMat33* sum, double scale, knVec3 a) {
	const knMat33 skew = knSkew(knScale(scale, a));
	*sum = knAddMM(sum, &skew);
}

static void derivePoint(knEquationRow* rows, const knJointEnds* e, knEquationBody* P, knEquationBody* C) {
	const knVec3 c = e->rC, p = e->rP;
	rows[0].endC = knMakeTwist(knV3(0.0, c.z, -c.y), knV3(1.0, 0.0, 0.0));
	rows[1].endC = knMakeTwist(knV3(-c.z, 0.0, c.x), knV3(0.0, 1.0, 0.0));
	rows[2].endC = knMakeTwist(knV3(c.y, -c.x, 0.0), knV3(0.0, 0.0, 1.0));
	rows[0].endP = knMakeTwist(knV3(0.0, -p.z, p.y), knV3(-1.0, 0.0, 0.0));
	rows[1].endP = knMakeTwist(knV3(p.z, 0.0, -p.x), knV3(0.0, -1.0, 0.0));
	rows[2].endP = knMakeTwist(knV3(-p.y, p.x, 0.0), knV3(0.0, 0.0, -1.0));
	const knVec3 f = knV3(rows[0].lambda, rows[1].lambda, rows[2].lambda);
	addSkewProduct(&C->stiffness, 1.0, f, c);
	addSkewProduct(&P->stiffness, -1.0, f, p);
}

static void deriveLocked(knEquationJoint* joint, knEquationBody* P, knEquationBody* C, const knJointEnds* e,
						 double arms) {
	const Recipe* recipe = &recipes[joint->joint->kind];
	knEquationRow* row = joint->rows;
	for (int k = 0; k < recipe->count; ++k) {
		const Locked* locked = &recipe->rows[k];
		if (locked->form == POINT) {
			derivePoint(row, e, P, C);
			row += 3;
			continue;
		}
		const knVec3 p = knMulMV(&P->R1, joint->axesP[axisOfParent(joint, locked)]);
		const knVec3 pMean = knMix(joint->dP[axisOfParent(joint, locked)], p, arms);
		if (locked->form == CROSS) {
			const knVec3 c = knMulMV(&C->R1, joint->axesC[axisOfChild(joint, locked)]);
			const knVec3 cMean = knMix(joint->dC[axisOfChild(joint, locked)], c, arms);
			row->endC = knMakeTwist(knScale(joint->length, knCross(c, p)), knZero3());
			row->endP = knScaleT(-1.0, row->endC);
			addSkewProduct(&P->stiffness, joint->length * row->lambda, cMean, p);
			addSkewProduct(&C->stiffness, joint->length * row->lambda, pMean, c);
		} else {
			knSetRow(knMakeTwist(knZero3(), p), e->sP, e->rC, &row->endP, &row->endC);
			addSkewProduct(&P->stiffness, row->lambda, e->mS, p);
			addSkewProduct(&C->stiffness, row->lambda, pMean, e->rC);
		}
		row += 1;
	}
}

static void deriveCustom(knEquationJoint* joint, knEquationBody* P, knEquationBody* C, const knJointEnds* e) {
	const knQuat axes = knMulQ(P->q1, joint->joint->frameParent.q);
	for (int k = 0; k < 6; ++k) {
		knEquationRow* row = &joint->rows[k];
		const knTwist along = knRotateT(axes, joint->custom[k]);
		knSetRow(along, e->sP, e->rC, &row->endP, &row->endC);
		addSkew(&P->stiffness, row->lambda, along.ang);
		addSkewProduct(&P->stiffness, row->lambda, e->mS, along.lin);
		addSkewProduct(&C->stiffness, row->lambda, row->meanC.lin, e->rC);
	}
}

// Rows of coordinates turn with the parent's axes.
static void deriveAxes(knEquationJoint* joint, knEquationBody* P, knEquationBody* C, const knJointEnds* e) {
	for (int i = 0; i < joint->axisCount; ++i) {
		const knEquationRow* row = &joint->rows[joint->locked + i];
		const knVec3 moment = knSub(row->endC.ang, knCross(e->rC, row->endC.lin));
		addSkew(&P->stiffness, row->lambda, moment);
		addSkewProduct(&P->stiffness, row->lambda, e->mS, row->endC.lin);
		addSkewProduct(&C->stiffness, row->lambda, row->meanC.lin, e->rC);
	}
}

void knEquationJoint_Derive(knEquationJoint* joint, knEquationBody* bodies, const knSpan* span) {
	knEquationBody *P = &bodies[joint->parent], *C = &bodies[joint->child];
	const knJointEnds e = findEnds(joint, P, C, span->arms);
	if (joint->joint->kind == KN_JOINT_CUSTOM) {
		deriveCustom(joint, P, C, &e);
	} else {
		deriveLocked(joint, P, C, &e, span->arms);
	}
	deriveAxes(joint, P, C, &e);
	for (int i = 0; i < joint->count; ++i) {
		knEquationRow* row = &joint->rows[i];
		row->endP.ang = knTMulMV(&P->T, row->endP.ang);
		row->endC.ang = knTMulMV(&C->T, row->endC.ang);
	}
}
// --- what others need ----------------------------------------------------------------------------------------

void knEquationJoint_RateRows(knEquationJoint* joint, const knEquationBody* bodies) {
	const knEquationBody* P = &bodies[joint->parent];
	const Recipe* recipe = &recipes[joint->joint->kind];
	knEquationRow* row = joint->rows;
	if (joint->joint->kind == KN_JOINT_CUSTOM) {
		const knQuat axes = knMulQ(P->q, joint->joint->frameParent.q);
		for (int k = 0; k < 6; ++k, ++row) {
			knSetRow(knRotateT(axes, joint->custom[k]), joint->sP, joint->rC, &row->endP, &row->endC);
		}
	}
	for (int k = 0; k < recipe->count; ++k) {
		const Locked* locked = &recipe->rows[k];
		if (locked->form == POINT) {
			// at one common point, so that angular momentum is kept to round-off
			const knVec3 half = knScale(0.5, knSub(joint->sP, joint->rP));
			for (int i = 0; i < 3; ++i, ++row) {
				knTwist along = knZeroTwist();
				knSetComponent(&along.lin, i, 1.0);
				knSetRow(along, knAdd(joint->rP, half), knSub(joint->rC, half), &row->endP, &row->endC);
			}
			continue;
		}
		knTwist along = knMakeTwist(knZero3(), joint->dP[axisOfParent(joint, locked)]);
		if (locked->form == CROSS) {
			along = knMakeTwist(knScale(joint->length, knCross(joint->dC[axisOfChild(joint, locked)],
															   joint->dP[axisOfParent(joint, locked)])),
								knZero3());
		}
		knSetRow(along, joint->sP, joint->rC, &row->endP, &row->endC);
		row += 1;
	}
	for (int i = 0; i < joint->axisCount; ++i, ++row) {
		knSetRow(joint->axes[i].start, joint->sP, joint->rC, &row->endP, &row->endC);
	}
}

bool knEquationJoint_WasAligned(const knEquationJoint* joint) {
	const unsigned aligned = recipes[joint->joint->kind].aligned;
	for (int i = 0; i < 3; ++i) {
		if ((aligned >> i & 1u) != 0 && knDot(joint->dP[i], joint->dC[i]) < 0.0) {
			return false;
		}
	}
	return true;
}

bool knEquationJoint_IsAligned(const knEquationJoint* joint, const knEquationBody* bodies) {
	const knEquationBody *P = &bodies[joint->parent], *C = &bodies[joint->child];
	const unsigned aligned = recipes[joint->joint->kind].aligned;
	for (int i = 0; i < 3; ++i) {
		if ((aligned >> i & 1u) != 0 &&
			knDot(knMulMV(&P->R1, joint->axesP[i]), knMulMV(&C->R1, joint->axesC[i])) < 0.0) {
			return false;
		}
	}
	return true;
}

knTwist knEquationJoint_Impulse(const knEquationJoint* joint, const knEquationBody* bodies) {
	const knEquationBody* C = &bodies[joint->child];
	const knVec3 arm = knScale(0.5, knAdd(joint->rC, knMulMV(&C->R1, joint->anchorC)));
	knTwist sum = knZeroTwist();
	for (int i = 0; i < joint->count; ++i) {
		sum = knMulAddT(sum, joint->rows[i].lambda, joint->rows[i].meanC);
	}
	sum.ang = knSub(sum.ang, knCross(arm, sum.lin));
	return sum;
}

void knEquationJoint_Balance(const knEquationJoint* joint, double arms, knEquationBody* bodies) {
	if (!joint->point) {
		return; // acts at one point anyhow
	}
	const knEquationRow* r = joint->rows;
	const knVec3 force = knV3(r[0].lambda, r[1].lambda, r[2].lambda);
	const knVec3 gap = knMix(knSub(joint->sP, joint->rP), knV3(r[0].gap, r[1].gap, r[2].gap), arms);
	const knVec3 moment = knScale(-0.5, knCross(gap, force));
	bodies[joint->parent].L = knAdd(bodies[joint->parent].L, moment);
	bodies[joint->child].L = knAdd(bodies[joint->child].L, moment);
}
