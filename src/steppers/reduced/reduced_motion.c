// The implicit step: end coordinates q' such that every joint's equation holds with mean arms.
//
//   u, w    mean velocity of a link's centre, mean angular velocity: x' = x + h u, R' = cay(h w) R
//   p_lin   m (v' - v) - h f,   v' = 2 u - v                    v, W at the start; W in body axes, I the body's inertia
//   p_ang   L' - L - h tau,     L' = R' I (2 R^T w - W)
//   joint   R . F = impulse of its springs, motors, ...            F: sum of p over its subtree, at mean arms
//
// R is the joint's mean column: the mean of start and end of its axis (and of the arm from the joint to the centre). Then
// the forces in joints do no work, whatever the step, and linear and angular momentum are kept: the change of an arm is
// h w x (mean arm), cay's key identity. Bodies without joints turn by exp(h w), arms are then the arc's mean; so a
// steady spin turns by h w exactly. Second order; a taut chain's stiffness is in the matrix, so no step is too long.
//
// Newton's matrix (forest.h): A of a link from
//   d p_lin = (2 m/h) dx',   d p_ang = ((2/h) R' I R^T T^-1 - [L']) turn       T^-1: of cay or exp
// G from the turning of R, `pull` from that of the mean arms between links.
#include "steppers/reduced/reduced_step.h"

#define TURN_LIMIT 3.0        // rad a step; a link that turns farther has no mean arm
#define MOTION_TOLERANCE 3e-8 // m, of Newton's last step: its square is what is left
#define FEW_LINKS 2         // up to so many links (heavy chains cannot be told apart below MOTION_TOLERANCE):
#define FEW_TOLERANCE 1e-10 // m, the same: invariants to round-off
#define MOTION_ROUNDS 24
#define MANY_ROUNDS 6   // of many contacts, before interior points take over
#define WORK_SHARE 1e-3 // of the energies of a part, that unfinished rows may put in; the guard takes it back

typedef struct Motion {
	knReducedProblem problem;
	double *baseB, *ownTau;
	knMat33* inertia; // [count] I in body axes
	knVec3* momentum; // [count] L at the start
	knVec3* spin;     // [count] W
} Motion;

// --- rotations -------------------------------------------------------------------------------------------

// The vector whose cay or exp is the rotation from one pose to the other; `guess` tells full turns.
static knVec3 turnBetween(knQuat from, knQuat to, bool exact, knVec3 guess) {
	knQuat turn = knMulQ(to, knConj(from));
	turn = turn.w < 0.0 ? knNegQ(turn) : turn;
	if (!exact) {
		return knScale(2.0 / knMax(turn.w, 1e-6), knVecPart(turn));
	}
	knVec3 phi = knQuat_Log(turn);
	double angle = knLength(phi), expected = knLength(guess);
	if (expected < 3.0 || angle < 1e-9) {
		return phi;
	}
	double sign = knDot(phi, guess) < 0.0 ? -1.0 : 1.0;
	double full = floor((expected - sign * angle) / (2.0 * KN_PI) + 0.5);
	return knScale((sign * angle + 2.0 * KN_PI * full) / (sign * angle), phi);
}

// T^-1: d phi = T^-1 turn.
static knMat33 inverseTangent(knVec3 phi, bool exact) {
	knMat33 S = knSkew(phi), half = knScaleM(-0.5, &S), sum = knDiagonal33(1.0, 1.0, 1.0);
	sum = knAddMM(&sum, &half);
	double angle2 = knLengthSquared(phi);
	if (exact) {
		double c = 1.0 / 12.0 + angle2 / 720.0;
		if (angle2 > 1e-4) {
			double angle = sqrt(angle2), sine, cosine;
			knSinCos(0.5 * angle, &sine, &cosine);
			c = (1.0 - 0.5 * angle * cosine / sine) / angle2;
		}
		knMat33 square = knMulMM(&S, &S);
		square = knScaleM(c, &square);
		return knAddMM(&sum, &square);
	}
	knMat33 outer =
		knMakeMat33(knScale(0.25 * phi.x, phi), knScale(0.25 * phi.y, phi), knScale(0.25 * phi.z, phi));
	return knAddMM(&sum, &outer);
}

// The mean arm of r over the turn phi: h w x mean = r' - r.
static knVec3 meanArm(knVec3 r, knVec3 end, knVec3 phi, bool exact) {
	if (!exact) {
		return knLerp(r, end, 0.5);
	}
	double angle2 = knLengthSquared(phi), c1 = 0.5 - angle2 / 24.0, c2 = 1.0 / 6.0 - angle2 / 120.0;
	if (angle2 > 1e-4) {
		double angle = sqrt(angle2), sine, cosine;
		knSinCos(angle, &sine, &cosine);
		c1 = (1.0 - cosine) / angle2;
		c2 = (angle - sine) / (angle2 * angle);
	}
	knVec3 first = knCross(phi, r);
	return knMulAdd(knMulAdd(r, c1, first), c2, knCross(phi, first));
}

// --- links -----------------------------------------------------------------------------------------------

static void setBlock(knForestBlock* block, const knMat33* ang, double lin) {
	const knLanes none = knLanes_All(0.0);
	block->aa = knLanes_FromMat(ang);
	block->al = block->la = (knLanes33){ none, none, none };
	block->ll =
		(knLanes33){ knLanes_Make(lin, 0.0, 0.0), knLanes_Make(0.0, lin, 0.0), knLanes_Make(0.0, 0.0, lin) };
}

// Mean velocities, end velocities, residual and block of a link.
static void measureLink(Motion* motion, int i) {
	knReducedStep* step = motion->problem.step;
	const knModel* model = step->context->model;
	const knState* state = step->context->state;
	const knForestLink* link = &step->forest.links[i];
	int b = link->body;
	double h = step->h, m = model->mass[b];
	knFrame from = step->start[b], to = step->pose[b];
	knVec3 phi = turnBetween(from.q, to.q, link->steady, knScale(h, step->mean[b].ang));
	knVec3 w = knScale(1.0 / h, phi), u = knScale(1.0 / h, knSub(to.p, from.p));
	step->mean[b] = knMakeTwist(w, u);
	knTwist v = step->before[b];

	// end velocities of the body by itself
	knVec3 spinEnd = knSub(knScale(2.0, knInvRotate(from.q, w)), motion->spin[i]);
	knVec3 L = knRotate(to.q, knMulMV(&motion->inertia[i], spinEnd));
	step->after[b] = knMakeTwist(knRotate(to.q, spinEnd), knSub(knScale(2.0, u), v.lin));

	// forces: gravity, users', damping by the mean velocity
	double drag = model->linearDamping[b], angularDrag = model->angularDamping[b];
	knVec3 force = knMulAdd(state->force[b].lin, m * model->gravityScale[b], state->header->gravity);
	force = knMulAdd(force, -m * drag, u);
	knVec3 torque = state->force[b].ang;
	if (angularDrag > 0.0) {
		knVec3 meanMomentum = knLerp(motion->momentum[i], L, 0.5);
		torque = knMulAdd(torque, -angularDrag, meanMomentum);
	}
	knVec3 lin = knMulAdd(knScale(2.0 * m, knSub(u, v.lin)), -h, force);
	knVec3 ang = knMulAdd(knSub(L, motion->momentum[i]), -h, torque);
	motion->problem.own[i] = (knTreeForce){ knLanes_FromVec(ang), knLanes_FromVec(lin) };

	// the block
	knMat33 tangent = inverseTangent(phi, link->steady), R = knQuat_ToMat33(to.q),
			R0 = knQuat_ToMat33(from.q);
	knMat33 R0t = knTranspose33(&R0), RI = knMulMM(&R, &motion->inertia[i]),
			product = knMulMM(&R0t, &tangent);
	product = knMulMM(&RI, &product);
	product = knScaleM((2.0 + h * angularDrag) / h, &product);
	knMat33 skew = knSkew(knNeg(L));
	product = knAddMM(&product, &skew);
	setBlock(&motion->problem.base[i], &product, (2.0 + h * drag) * m / h);
}

// The mean of c over the step.
static knLanes meanLever(const knReducedStep* step, int i) {
	const knForestLink* link = &step->forest.links[i];
	if (!link->steady) {
		return 0.5 * (step->c0[i] + step->c[i]);
	}
	knVec3 phi = knScale(step->h, step->mean[link->body].ang);
	return knLanes_FromVec(meanArm(knLanes_ToVec(step->c0[i]), knLanes_ToVec(step->c[i]), phi, true));
}

// Mean columns of joints and arms between links.
static void placeJoints(knReducedStep* step) {
	const knForest* forest = &step->forest;
	for (int i = 0; i < forest->count; ++i) {
		const knForestLink* link = &forest->links[i];
		knVec3 arm = knSub(step->pose[link->body].p, step->pose[link->parentBody].p);
		step->armEnd[i] = knLanes_FromVec(arm);
		step->armMean[i] = 0.5 * (step->arm0[i] + step->armEnd[i]);
		knLanes meanC = meanLever(step, i);
		for (int k = link->vOffset; k < link->vOffset + link->nv; ++k) {
			const knTreeMotion *start = &step->columns0[k], *end = &step->columns[k];
			knLanes axis = 0.5 * (start->ang + end->ang);
			// the columns' own slides, at the joint
			knLanes slide = 0.5 * (start->lin - knLanes_Cross(start->ang, step->c0[i]) + end->lin -
								   knLanes_Cross(end->ang, step->c[i]));
			step->rows[k] = (knTreeForce){ axis, slide + knLanes_Cross(axis, meanC) };
		}
	}
}

// Joints' equations turn with the links: d(R . F) by the link's own turn.
static void turnJoints(knReducedProblem* problem) {
	knReducedStep* step = problem->step;
	const knForest* forest = &step->forest;
	knLanes* pull = (knLanes*)problem->system.pull;
	for (int i = 0; i < forest->count; ++i) {
		const knForestLink* link = &forest->links[i];
		const knTreeForce* F = &problem->total[i];
		knLanes meanC = meanLever(step, i);
		knLanes moment = F->n + knLanes_Cross(meanC, F->f);
		pull[i] = F->f;
		for (int k = link->vOffset; k < link->vOffset + link->nv; ++k) {
			const knTreeMotion* end = &step->columns[k];
			knLanes slide = end->lin - knLanes_Cross(end->ang, step->c[i]);
			step->turning[k] = 0.5 * (knLanes_Cross(end->ang, moment) + knLanes_Cross(slide, F->f) +
									  knLanes_Cross(step->c[i], knLanes_Cross(F->f, step->rows[k].n)));
		}
	}
}

// --- contacts --------------------------------------------------------------------------------------------

static knQuat turnOfBody(const knReducedStep* step, int body) {
	return knMulQ(step->pose[body].q, knConj(step->start[body].q));
}

static knVec3 endArm(const knReducedStep* step, int body, knVec3 core) {
	return knRotate(turnOfBody(step, body), core);
}

// The mean of the round part over the step.
static knVec3 meanRound(const knReducedStep* step, int body, knVec3 round, knVec3 axis, knVec3 outward) {
	return knLerp(round, knReduced_RoundAfter(round, axis, outward, turnOfBody(step, body)), 0.5);
}

// d(displacement of the point) by the body's turn: what turns with it moves by turn x end, a round surface by h dw x round.
static knMat33 turnOf(const knReducedStep* step, int body, knVec3 end, knVec3 round, bool exact) {
	knMat33 core = knSkew(knNeg(end)), surface = knSkew(knNeg(round));
	if (round.x != 0.0 || round.y != 0.0 || round.z != 0.0) {
		knMat33 tangent = inverseTangent(knScale(step->h, step->mean[body].ang), exact);
		surface = knMulMM(&surface, &tangent);
	}
	return knAddMM(&core, &surface);
}

static void placeContacts(knReducedStep* step) {
	for (int k = 0; k < step->contactCount; ++k) {
		knReducedContact* contact = &step->contacts[k];
		int a = contact->bodyA, b = contact->bodyB;
		knVec3 endA = endArm(step, a, contact->coreA), endB = endArm(step, b, contact->coreB);
		bool exactA = contact->linkA < 0 || step->forest.links[contact->linkA].steady;
		bool exactB = contact->linkB < 0 || step->forest.links[contact->linkB].steady;
		knVec3 roundA = meanRound(step, a, contact->roundA, contact->axisA, contact->n);
		knVec3 roundB = meanRound(step, b, contact->roundB, contact->axisB, knNeg(contact->n));
		contact->armA =
			knAdd(meanArm(contact->coreA, endA, knScale(step->h, step->mean[a].ang), exactA), roundA);
		contact->armB =
			knAdd(meanArm(contact->coreB, endB, knScale(step->h, step->mean[b].ang), exactB), roundB);
		contact->byTurnA = turnOf(step, a, endA, roundA, exactA);
		contact->byTurnB = turnOf(step, b, endB, roundB, exactB);
		if (contact->linkA >= 0 && contact->linkB >= 0) {
			// one common point, so that momentum is kept
			knVec3 xA = knLerp(step->start[a].p, step->pose[a].p, 0.5);
			knVec3 xB = knLerp(step->start[b].p, step->pose[b].p, 0.5);
			knVec3 apart = knScale(0.5, knSub(knAdd(xB, contact->armB), knAdd(xA, contact->armA)));
			contact->armA = knAdd(contact->armA, apart);
			contact->armB = knSub(contact->armB, apart);
		}
	}
}

// --- the problem -----------------------------------------------------------------------------------------

static void refresh(knReducedProblem* problem) {
	Motion* motion = (Motion*)problem;
	knReducedStep* step = problem->step;
	knForest_Place(&step->forest, step->q, step->pose);
	knForest_Columns(&step->forest, step->q, step->pose, step->columns, step->c);
	for (int i = 0; i < step->forest.count; ++i) {
		measureLink(motion, i);
	}
	placeJoints(step);
	placeContacts(step);
	if (step->pairCount > 0) {
		knReduced_PlacePairs(step, step->start, step->pose);
	}
}

static void advance(knReducedProblem* problem, double scale) {
	knForest_Advance(&problem->step->forest, problem->step->q, problem->y, scale);
}

static bool makeMotion(Motion* motion, knReducedStep* step) {
	knArena* arena = step->context->arena;
	const knForest* forest = &step->forest;
	if (!knReducedProblem_Make(&motion->problem, step, 1.0 / step->h)) {
		return false;
	}
	motion->inertia = KN_SCRATCH(arena, knMat33, forest->count);
	motion->momentum = KN_SCRATCH(arena, knVec3, forest->count);
	motion->spin = KN_SCRATCH(arena, knVec3, forest->count);
	knLanes* pull = KN_SCRATCH(arena, knLanes, forest->count);
	if (arena->failed) {
		return false;
	}
	for (int i = 0; i < forest->count; ++i) {
		int b = forest->links[i].body;
		motion->inertia[i] = step->context->model->inertiaLocal[b];
		motion->spin[i] = knInvRotate(step->start[b].q, step->before[b].ang);
		motion->momentum[i] = knRotate(step->start[b].q, knMulMV(&motion->inertia[i], motion->spin[i]));
		step->mean[b] = step->before[b];
	}
	knForestSystem* system = &motion->problem.system;
	system->S = step->columns;
	system->R = step->rows;
	system->G = step->turning;
	system->end = step->armEnd;
	system->mean = step->armMean;
	system->pull = pull;
	motion->problem.rates = step->mean;
	motion->problem.displacements = motion->problem.timed = true;
	motion->problem.refresh = refresh;
	motion->problem.advance = advance;
	motion->problem.arrange = turnJoints;
	motion->problem.tolerance = forest->count <= FEW_LINKS ? FEW_TOLERANCE : MOTION_TOLERANCE;
	motion->problem.useContacts = motion->problem.useAxes = motion->problem.usePairs = true;
	return true;
}

// --- work ------------------------------------------------------------------------------------------------

double knReduced_Kinetic(const knReducedStep* step, const knFrame* poses, const knTwist* velocities) {
	const knModel* model = step->context->model;
	double sum = 0.0;
	for (int i = 0; i < step->forest.count; ++i) {
		int b = step->forest.links[i].body;
		knVec3 spin = knInvRotate(poses[b].q, velocities[b].ang);
		sum += 0.5 * model->mass[b] * knLengthSquared(velocities[b].lin) +
			   0.5 * knDot(spin, knMulMV(&model->inertiaLocal[b], spin));
	}
	return sum;
}

// J, by a row with impulse l at the rate r of its coordinate: what motors put in, what springs give or take.
static void addRowWork(knReducedStep* step, int part, knReducedLaw law, double l, double r) {
	bool motor = part >= KN_PART_MOTOR && law != KN_LAW_CARRY;
	step->put += motor ? l * r : 0.0;
	step->known += motor || law == KN_LAW_SOFT ? l * r : 0.0;
}

static bool isKinematic(const knReducedStep* step, int body) {
	return step->context->model->bodyKind[body] == KN_BODY_KINEMATIC;
}

static knVec3 pointVelocity(knTwist motion, knVec3 arm) {
	return knAdd(motion.lin, knCross(motion.ang, arm));
}

// J, that kinematic bodies put in through contacts, joints and loops.
static double kinematicWork(const knReducedStep* step) {
	double work = 0.0;
	for (int k = 0; k < step->contactCount; ++k) {
		const knReducedContact* contact = &step->contacts[k];
		double l[3];
		for (int i = 0; i < 3; ++i) {
			l[i] = contact->lambda[i] + contact->impact[i];
		}
		knVec3 impulse = knMulAdd(knMulAdd(knScale(l[0], contact->n), l[1], contact->t1), l[2], contact->t2);
		if (isKinematic(step, contact->bodyA)) {
			work += knDot(impulse, pointVelocity(step->mean[contact->bodyA], contact->armA));
		}
		if (isKinematic(step, contact->bodyB)) {
			work -= knDot(impulse, pointVelocity(step->mean[contact->bodyB], contact->armB));
		}
	}
	for (int i = 0; i < step->forest.count; ++i) {
		int parent = step->forest.links[i].parentBody;
		if (isKinematic(step, parent)) {
			knTwist F = step->reaction[i];
			work += knDot(F.ang, step->mean[parent].ang) +
					knDot(F.lin, pointVelocity(step->mean[parent], knLanes_ToVec(step->arm0[i])));
		}
	}
	for (int k = 0; k < step->pairCount; ++k) {
		const knReducedPairRow* row = &step->pairs[k];
		work -= isKinematic(step, row->bodyP) ? row->lambda * knDotT(row->jP, step->mean[row->bodyP]) : 0.0;
		work -= isKinematic(step, row->bodyC) ? row->lambda * knDotT(row->jC, step->mean[row->bodyC]) : 0.0;
	}
	return work;
}

void knReduced_SumWork(knReducedStep* step) {
	const knModel* model = step->context->model;
	const knState* state = step->context->state;
	double gravity = 0.0;
	step->known = step->put = 0.0;
	for (int i = 0; i < step->forest.count; ++i) {
		int b = step->forest.links[i].body;
		knVec3 way = knSub(step->pose[b].p, step->start[b].p);
		gravity += model->mass[b] * model->gravityScale[b] * knDot(state->header->gravity, way);
		step->put +=
			knDot(state->force[b].lin, way) + step->h * knDot(state->force[b].ang, step->mean[b].ang);
	}
	step->put += kinematicWork(step);
	step->known = gravity + step->put;
	for (int k = 0; k < step->contactCount; ++k) {
		step->contacts[k].moved = step->h * (step->contacts[k].r[0] + step->contacts[k].target);
	}
	for (int k = 0; k < step->axisCount; ++k) {
		knReducedAxisRow* row = &step->axes[k];
		double rate = row->r + (row->law == KN_LAW_BOUND ? row->target : 0.0);
		row->moved = step->h * rate;
		addRowWork(step, row->part, row->law, row->l, rate);
	}
	for (int k = 0; k < step->pairCount; ++k) {
		knReducedPairRow* row = &step->pairs[k];
		double rate = row->r + (row->law == KN_LAW_BOUND ? row->target : 0.0);
		row->moved = row->locked ? 0.0 : step->h * rate;
		addRowWork(step, row->part, row->law, row->l, rate);
	}
}

// J, of all links after a fall of one step: what energies of a part are measured by.
static double fallEnergy(const knReducedStep* step) {
	double mass = 0.0, fall = step->h * knLength(step->context->state->header->gravity);
	for (int i = 0; i < step->forest.count; ++i) {
		mass += step->context->model->mass[step->forest.links[i].body];
	}
	return 0.5 * mass * fall * fall;
}

// J, that armature gives to the links in the implicit step.
static double carriedWork(const knReducedStep* step) {
	double work = 0.0;
	for (int k = 0; k < step->axisCount; ++k) {
		work += step->axes[k].law == KN_LAW_CARRY ? step->axes[k].l * step->axes[k].r : 0.0;
	}
	return work;
}

double knReduced_CarriedEnergy(const knReducedStep* step, const double* v) {
	double sum = 0.0;
	for (int k = 0; k < step->axisCount; ++k) {
		const knReducedAxisRow* row = &step->axes[k];
		const knForestLink* link = &step->forest.links[row->link];
		double rate = 0.0;
		for (int i = 0; i < link->nv; ++i) {
			rate += row->coef[i] * v[link->vOffset + i];
		}
		sum += row->law == KN_LAW_CARRY ? 0.5 * row->carried * rate * rate : 0.0;
	}
	return sum;
}

bool knReduced_Move(knReducedStep* step, bool smooth) {
	Motion motion = { 0 };
	if (!makeMotion(&motion, step)) {
		return false;
	}
	double kinetic = knReduced_Kinetic(step, step->start, step->before);
	for (int k = 0; k < step->forest.nq; ++k) {
		step->q[k] = step->q0[k];
	}
	knForest_Advance(&step->forest, step->q, step->v0, step->h);
	bool many = step->contactCount > KN_REDUCED_FEW;
	motion.problem.smooth = smooth;
	bool settled = knReducedProblem_Solve(&motion.problem, many ? MANY_ROUNDS : MOTION_ROUNDS);
	for (int i = 0; i < step->forest.count; ++i) {
		const knTreeForce* F = &motion.problem.total[i];
		step->reaction[i] = knMakeTwist(knLanes_ToVec(F->n), knLanes_ToVec(F->f));
		double turn = step->h * knLength(step->mean[step->forest.links[i].body].ang);
		settled = settled && (step->forest.links[i].alone || turn < 4.0 * TURN_LIMIT);
	}
	knReduced_SumWork(step);
	// unfinished rows must not put energy in
	double gain =
		knReduced_Kinetic(step, step->pose, step->after) - kinetic - step->known - carriedWork(step);
	return settled && gain <= WORK_SHARE * (kinetic + knAbs(step->known) + fallEnergy(step));
}

void knReduced_Rest(knReducedStep* step) {
	for (int k = 0; k < step->forest.nq; ++k) {
		step->q[k] = step->q0[k];
	}
	knForest_Place(&step->forest, step->q, step->pose);
	knForest_Columns(&step->forest, step->q, step->pose, step->columns, step->c);
	for (int i = 0; i < step->forest.count; ++i) {
		int b = step->forest.links[i].body;
		step->mean[b] = step->after[b] = knZeroTwist();
		step->armEnd[i] = step->arm0[i];
		step->reaction[i] = knZeroTwist();
	}
	for (int k = 0; k < step->axisCount; ++k) {
		knReducedAxisRow* row = &step->axes[k];
		row->r = 0.0;
		row->target = row->law == KN_LAW_CARRY ? 0.0 : row->target;
	}
	step->known = step->put = 0.0;
}
