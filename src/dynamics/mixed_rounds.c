// Symmetric rounds over the equations of a step (joint_equations.h), with contacts.
//
//   [ H  -J^T ] [dv  ]   [ -r     ]     H = sym(derivative of r without stiffness) + positive part of sym(stiffness)
//   [ J    e  ] [dlam] = [ -rate  ]     J: mean rows, for impulses and rates alike
//
// A contact point is one row along n and a disc across it. Its rate is (change of the gap over the step + gap, if open)/h; n is
// that of the start. Between two bodies that move the impulse acts at one common point, the mean of the two surface points at
// both ends of the step, so that momenta stay exact.
//
// The friction test decides about energy: inside its disc a point may not slide, on the rim only against the impulse.

#include "dynamics/mixed_internal.h"

#include <string.h>

#include "core/sets.h"

#define JOINT_TOLERANCE 1e-7 // m, of joints' rows and of bodies' residuals as displacements
#define POINT_TOLERANCE 1e-9 // m, of normals and of sliding
#define POINT_FALL 1e-3      // of a step's fall, likewise: less is left to the steps to come
#define POINT_SHARE                                                                                          \
	1e-2 // of what points miss at the start velocities, likewise: the next step takes the rest
#define POINT_LOOSEST 1e-4 // m, the most of that
#define ROUGH_TOLERANCE                                                                                      \
	1e-4 // m, of both, after the last round: gaps are closed and gains taken after the step
// Where something arrives, the step is of first order in time, and takes energy:
#define ARRIVAL_SHARE 0.1      // of what joints and points miss at the start velocities: rounds end
#define ARRIVAL_LOOSEST 1e-3   // m, the most of that
#define ARRIVAL_TOLERANCE 1e-2 // m, in place of ROUGH_TOLERANCE
#define ARRIVAL_WORK 0.1       // of the energy taken: what is left open may work as much
#define ROUND_LIMIT 20
#define STALL_ROUNDS 3       // rounds
#define STALL_SHARE 0.3      // of the error of so many rounds before: more is too slow
#define FAST_ROUND_LIMIT 10  // while a body turns by more than FAST_TURN: halves converge sooner
#define FAST_TURN 0.6        // rad a step
#define DISC_ROUNDS 4        // in which discs follow the normal impulses; they do not contract for ever
#define LOCKED_SOFTNESS 1e-8 // of a row's own response: proximal, what rounds converge to has none
#define LOOP_SOFTNESS 1e-6  // likewise where a loop has redundant rows: what is left of them is divided by it
#define BOUND_SOFTNESS 1e-2 // likewise of rows with bounds: firmer ones change their branch more often
#define AXIS_SOFTNESS                                                                                        \
	1e-3 // likewise of servos, limits and friction in joints, behind which whole limbs stand
#define DISC_TOLERANCE 1e-3 // of a disc's radius, of impulses in a round
#define ROUGH_ROUNDS 2      // in which discs are taken by their secants: their radii are not known yet
#define ROUGH_PATIENCE 3    // iterations of such a round after which discs need not agree with their laws
#define REFINEMENTS 4       // of the parts of bodies' matrices that are not symmetric
#define NEAR_SHARE 0.03     // of the error: by so much a round's last iteration may still move a body
#define ITERATION_LIMIT 30  // of Newton's method in a round
#define LEAST_INERTIA 0.5   // of a body's smallest, where it turns fast: the matrix stays positive
#define STALL_POINT 0.3     // of a point's error in the round before: more is too slow
#define FIRMER 0.1          // a round, of the softness of such a point
#define FIRMEST 1e-5        // of a row's own response
#define LOAD_YIELD 1e-3     // m, by which a point's load may make it yield in a round
#define LOAD_FIRMEST                                                                                         \
	1e-4 // of a row's own response: loads alone make no point firmer; likewise where they are not known
#define START_PASSES                                                                                         \
	2 // of the step with start rows: the first finds the impulses whose stiffness the second has

// --- set-up ----------------------------------------------------------------------------------------------

static int localBody(knMixedRun* run, int body) {
	if (run->local[body] < 0) {
		run->local[body] = run->total;
		knEquationBody* to = &run->bodies[run->total++];
		*to = knEquationBody_Make(run->in->model, run->in->state, body);
		if (to->mass > 0.0) {
			const knFrame pose = run->in->pose[body];
			const knTwist velocity = run->in->velocity[body];
			to->x = pose.p;
			to->q = pose.q;
			to->v = velocity.lin;
			to->L = knRotate(pose.q, knMulMV(&to->inertia, knInvRotate(pose.q, velocity.ang)));
		}
	}
	return run->local[body];
}

static bool makeBodies(knMixedRun* run) {
	const int bodyCount = run->in->model->bodyCount;
	const knMixedIsland* island = run->island;
	run->local = KN_SCRATCH(run->arena, int32_t, bodyCount);
	run->bodies =
		KN_SCRATCH(run->arena, knEquationBody, island->bodyCount + island->jointCount + island->pointCount);
	if (run->arena->failed) {
		return false;
	}
	for (int b = 0; b < bodyCount; ++b) {
		run->local[b] = -1;
	}
	for (int i = 0; i < island->bodyCount; ++i) {
		(void)localBody(run, island->bodies[i]);
	}
	return true;
}

static bool makeJoints(knMixedRun* run) {
	const knModel* model = run->in->model;
	const knState* state = run->in->state;
	const knMixedIsland* island = run->island;
	int rowCount = 0;
	for (int k = 0; k < island->jointCount; ++k) {
		rowCount += knEquationJoint_RowCount(model, state, island->joints[k]);
	}
	run->joints = KN_SCRATCH(run->arena, knEquationJoint, island->jointCount);
	knEquationRow* rows = KN_SCRATCH(run->arena, knEquationRow, rowCount);
	if (run->arena->failed) {
		return false;
	}
	for (int k = 0; k < island->jointCount; ++k) {
		const int index = island->joints[k];
		const knJoint* joint = knState_Joint(state, model, index);
		const int parent = localBody(run, joint->parent), child = localBody(run, joint->child);
		knEquationJoint_Make(&run->joints[k], model, state, index, parent, child, run->bodies, rows);
		for (int i = 0; i < run->joints[k].count; ++i) {
			rows[i].lambda = run->in->lambda[KN_MIXED_JOINT_ROWS * index + i];
		}
		rows += run->joints[k].count;
	}
	return true;
}

static bool makePoints(knMixedRun* run) {
	const knMixedIsland* island = run->island;
	run->points = KN_SCRATCH_ZERO(run->arena, knMixedPoint, island->pointCount);
	if (run->arena->failed) {
		return false;
	}
	for (int k = 0; k < island->pointCount; ++k) {
		knMixedPoint* point = &run->points[k];
		const int index = island->points[k];
		const knContactAnchor* anchor = &run->in->contacts->anchors[index];
		const knSweepPoint* row = &run->in->contacts->points[index];
		point->index = index;
		point->a = localBody(run, anchor->bodyA);
		point->b = localBody(run, anchor->bodyB);
		point->lA = knInvRotate(run->in->state->pose[anchor->bodyA].q, anchor->onA);
		point->lB = knInvRotate(run->in->state->pose[anchor->bodyB].q, anchor->onB);
		point->n = row->n;
		point->t1 = row->t1;
		point->t2 = row->t2;
		point->mu = row->mu;
		memcpy(point->lambda, row->lambda, sizeof(point->lambda));
	}
	return true;
}

// Joints whose assembly has a loop and locked turns: rows there may depend on each other. False: no memory.
static bool findRedundancy(knMixedRun* run) {
	const knMixedIsland* island = run->island;
	const int ground = run->total; // all that does not yield
	int32_t* sets = KN_SCRATCH(run->arena, int32_t, run->total + 1);
	uint8_t* loop = KN_SCRATCH_ZERO(run->arena, uint8_t, run->total + 1);
	uint8_t* turns = KN_SCRATCH_ZERO(run->arena, uint8_t, run->total + 1);
	run->redundant = KN_SCRATCH(run->arena, uint8_t, island->jointCount);
	if (run->arena->failed) {
		return false;
	}
	for (int i = 0; i <= run->total; ++i) {
		sets[i] = i;
	}
	for (int pass = 0; pass < 3; ++pass) {
		for (int k = 0; k < island->jointCount; ++k) {
			const knEquationJoint* joint = &run->joints[k];
			const int a = run->bodies[joint->parent].mass > 0.0 ? joint->parent : ground;
			const int b = run->bodies[joint->child].mass > 0.0 ? joint->child : ground;
			if (pass == 0) {
				run->redundant[k] = !knSets_Unite(sets, a, b); // closes a loop
				continue;
			}
			const int32_t set = knSets_Find(sets, a);
			if (pass == 1) {
				loop[set] |= run->redundant[k];
				turns[set] |= 1;
			} else {
				run->redundant[k] = loop[set] && turns[set];
			}
		}
	}
	return true;
}

bool knMixedRun_Make(knMixedRun* run) {
	if (!makeBodies(run) || !makeJoints(run) || !makePoints(run)) {
		return false;
	}
	return findRedundancy(run);
}

// --- at the iterate --------------------------------------------------------------------------------------

static void evaluatePoint(knMixedRun* run, knMixedPoint* point) {
	const knEquationBody *A = &run->bodies[point->a], *B = &run->bodies[point->b];
	const knVec3 startA = knMulMV(&A->R, point->lA), startB = knMulMV(&B->R, point->lB);
	point->endA = knMulMV(&A->R1, point->lA);
	point->endB = knMulMV(&B->R1, point->lB);
	if (A->mass > 0.0 && B->mass > 0.0) {
		knVec3 place = knScale(0.25, knAdd(knAdd(knAdd(A->x, startA), knAdd(B->x, startB)),
										   knAdd(knAdd(A->x1, point->endA), knAdd(B->x1, point->endB))));
		point->rA = knSub(place, knScale(0.5, knAdd(A->x, A->x1)));
		point->rB = knSub(place, knScale(0.5, knAdd(B->x, B->x1)));
	} else {
		point->rA = knScale(0.5, knAdd(startA, point->endA));
		point->rB = knScale(0.5, knAdd(startB, point->endB));
	}
	const knVec3 v = knSub(knAdd(B->u, knCross(B->w, point->rB)), knAdd(A->u, knCross(A->w, point->rA)));
	point->rate[0] = knDot(point->n, v) + knMax(point->gap, 0.0) / run->span.h;
	point->rate[1] = knDot(point->t1, v);
	point->rate[2] = knDot(point->t2, v);
}

static knVec3 impulseOf(const knMixedPoint* point) {
	knVec3 f = knScale(point->lambda[0], point->n);
	return knMulAdd(knMulAdd(f, point->lambda[1], point->t1), point->lambda[2], point->t2);
}

static void pushPoint(knMixedRun* run, const knMixedPoint* point) {
	knEquationBody *A = &run->bodies[point->a], *B = &run->bodies[point->b];
	const knVec3 f = impulseOf(point);
	A->restLin = knAdd(A->restLin, f);
	A->restAng = knAdd(A->restAng, knCross(point->rA, f));
	B->restLin = knSub(B->restLin, f);
	B->restAng = knSub(B->restAng, knCross(point->rB, f));
}

// m, by how much a point misses its laws.
static double pointError(const knMixedRun* run, const knMixedPoint* point) {
	const double h = run->span.h, *lambda = point->lambda, *rate = point->rate;
	double error = h * (lambda[0] > 0.0 ? knAbs(rate[0]) : knMax(0.0, -rate[0]));
	if (point->mu <= 0.0 || lambda[0] <= 0.0) {
		return error;
	}
	const double length = sqrt(lambda[1] * lambda[1] + lambda[2] * lambda[2]);
	if (length < (1.0 - KN_RIM_TOLERANCE) * point->radius) {
		return knMax(error, h * sqrt(rate[1] * rate[1] + rate[2] * rate[2]));
	}
	if (length <= 0.0) {
		return error;
	}
	const double along = (lambda[1] * rate[1] + lambda[2] * rate[2]) / length;
	const double across = (lambda[1] * rate[2] - lambda[2] * rate[1]) / length;
	return knMax(error, h * (knMax(0.0, along) + knAbs(across)));
}

typedef struct Errors {
	double joints; // m, of joints' rows and bodies' residuals
	double points; // m
	double turn;   // rad, of the fastest body in the step
	double work;   // J, that impulses do at most along what is left open
	double taken;  // J, by velocities that are those of the end of the step
} Errors;

static double bodyError(const knEquationBody* body, double h) {
	const knMat33* D = &body->inertia;
	const double trace = D->cx.x + D->cy.y + D->cz.z, size = sqrt(trace / body->mass);
	return h * (knLength(body->restLin) / body->mass + 3.0 * size * knLength(body->restAng) / trace);
}

static double bodyWork(const knEquationBody* body) {
	return knAbs(knDot(body->restLin, body->u)) + knAbs(knDot(body->restAng, body->w));
}

// J, theta = 1: half the square of the change of velocity.
static double bodyTaken(const knEquationBody* body) {
	const knVec3 W1 = knMulMV(&body->invInertia, knTMulMV(&body->R1, body->L1)), dW = knSub(W1, body->W);
	return 0.5 *
		   (body->mass * knLengthSquared(knSub(body->v1, body->v)) + knDot(dW, knMulMV(&body->inertia, dW)));
}

static double jointWork(const knEquationJoint* joint, double h) {
	double work = 0.0;
	for (int i = 0; i < joint->locked; ++i) {
		work += knAbs(joint->rows[i].lambda * joint->rows[i].gap) / h;
	}
	return work;
}

static Errors evaluate(knMixedRun* run) {
	Errors errors = { 0 };
	const double h = run->span.h;
	for (int i = 0; i < run->total; ++i) {
		knEquationBody* body = &run->bodies[i];
		knEquationBody_Move(body, &run->span);
		if (i < run->island->bodyCount) {
			knEquationBody_Residual(body, &run->span);
		} else {
			body->restLin = body->restAng = knZero3(); // becomes what it gives to the others
		}
	}
	for (int k = 0; k < run->island->jointCount; ++k) {
		knEquationJoint_Evaluate(&run->joints[k], run->bodies, &run->span);
		errors.joints = knMax(errors.joints, knEquationJoint_Error(&run->joints[k], h));
		errors.work += jointWork(&run->joints[k], h);
	}
	for (int k = 0; k < run->island->pointCount; ++k) {
		evaluatePoint(run, &run->points[k]);
		pushPoint(run, &run->points[k]);
		run->points[k].error = pointError(run, &run->points[k]);
		errors.points = knMax(errors.points, run->points[k].error);
		errors.work += knAbs(run->points[k].lambda[0]) * run->points[k].error / h;
	}
	for (int i = 0; i < run->island->bodyCount; ++i) {
		errors.joints = knMax(errors.joints, bodyError(&run->bodies[i], h));
		errors.turn = knMax(errors.turn, h * knLength(run->bodies[i].w));
		errors.work += bodyWork(&run->bodies[i]);
		errors.taken += bodyTaken(&run->bodies[i]);
	}
	return errors;
}

static double worseOf(Errors errors) {
	return knMax(errors.joints, errors.points);
}

// --- a round ---------------------------------------------------------------------------------------------

static void addSkewProduct(knMat33* sum, double scale, knVec3 a, knVec3 b) {
	knMat33 left = knSkew(a), right = knSkew(b);
	left = knMulMM(&left, &right);
	left = knScaleM(scale, &left);
	*sum = knAddMM(sum, &left);
}

static knMat33 symmetricPart(const knMat33* m) {
	knMat33 other = knTranspose33(m), sum = knAddMM(m, &other);
	return knScaleM(0.5, &sum);
}

// The same matrix with eigenvalues of at least `least`.
static knMat33 raiseEigenvalues(const knMat33* m, double least) {
	knVec3 values;
	knQuat axes = knDiagonalize33(m, &values);
	knMat33 diagonal = knDiagonal33(knMax(values.x, least), knMax(values.y, least), knMax(values.z, least));
	return knRotateTensor(axes, &diagonal);
}

static double smallestInertia(const knEquationBody* body) {
	const knMat33* D = &body->invInertia;
	return 1.0 / (D->cx.x + D->cy.y + D->cz.z);
}

// Stiffness of impulses whose arms turn with the bodies.
static void gatherStiffness(knMixedRun* run) {
	for (int i = 0; i < run->total; ++i) {
		run->bodies[i].stiffness = knDiagonal33(0.0, 0.0, 0.0);
	}
	for (int k = 0; k < run->island->jointCount; ++k) {
		knEquationJoint_Derive(&run->joints[k], run->bodies, &run->span);
	}
	for (int k = 0; k < run->island->pointCount; ++k) {
		const knMixedPoint* point = &run->points[k];
		const knVec3 f = impulseOf(point);
		addSkewProduct(&run->bodies[point->b].stiffness, 1.0, f, point->endB);
		addSkewProduct(&run->bodies[point->a].stiffness, -1.0, f, point->endA);
	}
}

static void setBody(const knMixedRun* run, const knEquationBody* body, double* H, double* gradient,
					double* extra) {
	const double h = run->span.h, keep = 1.0 + body->keepAng;
	const knMat33 back = knTranspose33(&body->R);
	knMat33 A = knMulMM(&body->inertia, &back);
	A = knMulMM(&body->R1, &A);
	A = knScaleM(keep / run->span.theta, &A);
	knMat33 turned = knSkew(knScale(-h * keep, body->L1));
	turned = knMulMM(&turned, &body->T);
	A = knAddMM(&A, &turned);
	knMat33 whole = A;
	A = symmetricPart(&A);
	if (h * knLength(body->w) > FAST_TURN) {
		A = raiseEigenvalues(&A, LEAST_INERTIA * smallestInertia(body));
	}
	knMat33 K = knMulMM(&body->stiffness, &body->T);
	K = knScaleM(-h * run->span.arms, &K);
	whole = knAddMM(&whole, &K);
	K = symmetricPart(&K);
	K = raiseEigenvalues(&K, 0.0);
	A = knAddMM(&A, &K);
	const double* columns[3] = { &A.cx.x, &A.cy.x, &A.cz.x };
	const double* wholes[3] = { &whole.cx.x, &whole.cy.x, &whole.cz.x };
	for (int r = 0; r < 3; ++r) {
		for (int c = 0; c < 3; ++c) {
			extra[3 * r + c] = wholes[c][r] - columns[c][r];
		}
	}
	memset(H, 0, sizeof(double) * 36);
	for (int r = 0; r < 3; ++r) {
		for (int c = r; c < 3; ++c) {
			H[6 * r + c] = columns[c][r];
		}
		H[21 + 7 * r] = (1.0 + body->keepLin) * body->mass / run->span.theta;
	}
	const double g[6] = { body->restAng.x, body->restAng.y, body->restAng.z,
						  body->restLin.x, body->restLin.y, body->restLin.z };
	memcpy(gradient, g, sizeof(g));
}

// m/s per N s: what a unit impulse changes the mean rate of its own row by, masses alone.
static double responseOf(const knEquationBody* body, knTwist row) {
	if (body->mass <= 0.0) {
		return 0.0;
	}
	knVec3 local = knTMulMV(&body->R1, row.ang);
	return 0.5 * (knLengthSquared(row.lin) / body->mass + knDot(local, knMulMV(&body->invInertia, local)));
}

static knIslandRow* addRow(knMixedRun* run, knIslandEntry* entry, const knEquationBody* A,
						   const knEquationBody* B, knTwist onA, knTwist onB, double softness) {
	knIslandRow* row = &run->island->problem.rows[entry->first + entry->count++];
	memset(row, 0, sizeof(*row));
	knMixed_SetSix(row->row.a, onA);
	knMixed_SetSix(row->row.b, onB);
	row->soft = softness * (responseOf(A, onA) + responseOf(B, onB));
	return row;
}

void knMixedRun_Stiffen(const knMixedRun* run, knMat33* stiffness) {
	for (int i = 0; i < run->island->bodyCount; ++i) {
		knMat33 K = knScaleM(-run->span.h * run->span.arms, &run->bodies[i].stiffness);
		K = symmetricPart(&K);
		stiffness[run->island->bodies[i]] = raiseEigenvalues(&K, 0.0);
	}
}

static void listJoint(knMixedRun* run, knIslandEntry* entry, int n) {
	const knEquationJoint* joint = &run->joints[n];
	const knEquationBody *P = &run->bodies[joint->parent], *C = &run->bodies[joint->child];
	for (int i = 0; i < joint->count; ++i) {
		const knEquationRow* from = &joint->rows[i];
		const bool locked = i < joint->locked;
		knIslandRow* row = addRow(run, entry, P, C, from->meanP, from->meanC,
								  !locked             ? AXIS_SOFTNESS
								  : run->redundant[n] ? LOOP_SOFTNESS
													  : LOCKED_SOFTNESS);
		row->lambda = from->lambda;
		row->rate = from->gap / run->span.h;
		if (!(row->soft > 0.0)) {
			// nothing moves along it: it stays as it is
			row->soft = 1.0;
			row->law = KN_LAW_RANGE;
			row->lo = row->hi = row->lambda;
		} else if (!locked) {
			row->law = KN_LAW_GRAPH;
			row->graph = &joint->axes[i - joint->locked].law;
			row->span = run->span.h;
		}
	}
}

// Points that rounds hardly bring nearer to their laws carry more than their own bodies: they become firmer.
static void firmPoints(knMixedRun* run, const double* before, double tolerance) {
	for (int k = 0; k < run->island->pointCount; ++k) {
		knMixedPoint* point = &run->points[k];
		if (point->error > tolerance && point->error > STALL_POINT * before[k]) {
			point->softness = knMax(FIRMER * point->softness, FIRMEST);
		}
	}
}

// Of a row's own response, so that what the point carries makes it yield by no more than LOAD_YIELD: light bodies under heavy loads
// answer far less than their own mass lets them.
static double softnessAt(const knMixedRun* run, const knMixedPoint* point, double response) {
	const double *l = point->lambda, load = sqrt(l[0] * l[0] + l[1] * l[1] + l[2] * l[2]);
	const double yields = run->span.h * load * response;
	return yields * point->softness > LOAD_YIELD
			   ? knMin(knMax(LOAD_YIELD / yields, LOAD_FIRMEST), point->softness)
			   : point->softness;
}

static void listPoint(knMixedRun* run, knIslandEntry* entry, const knMixedPoint* point) {
	const knEquationBody *A = &run->bodies[point->a], *B = &run->bodies[point->b];
	const knVec3 along[3] = { point->n, point->t1, point->t2 };
	knIslandRow* rows[3] = { NULL, NULL, NULL };
	for (int d = 0; d < (point->mu > 0.0 ? 3 : 1); ++d) {
		knTwist onA = knMakeTwist(knNeg(knCross(point->rA, along[d])), knNeg(along[d]));
		knTwist onB = knMakeTwist(knCross(point->rB, along[d]), along[d]);
		rows[d] = addRow(run, entry, A, B, onA, onB, 1.0);
		rows[d]->soft *= softnessAt(run, point, rows[d]->soft);
		rows[d]->law = d == 0 ? KN_LAW_RANGE : KN_LAW_DISC;
		rows[d]->rate = point->rate[d];
		rows[d]->lambda = point->lambda[d];
	}
	rows[0]->hi = (double)INFINITY;
	if (point->mu > 0.0) {
		rows[1]->hi = point->radius;
		rows[1]->soft = rows[2]->soft = knMin(rows[1]->soft, rows[2]->soft);
	}
}

static void listRows(knMixedRun* run) {
	knMixedIsland* island = run->island;
	for (int n = 0; n < island->jointCount + island->pointCount; ++n) {
		knIslandEntry* entry = &island->problem.entries[n];
		entry->first = island->firstRow[n];
		entry->count = 0;
		if (n < island->jointCount) {
			listJoint(run, entry, n);
		} else {
			listPoint(run, entry, &run->points[n - island->jointCount]);
		}
	}
}

static void takeRound(knMixedRun* run) {
	const knMixedIsland* island = run->island;
	const knIslandProblem* problem = &island->problem;
	for (int i = 0; i < island->bodyCount; ++i) {
		const double* d = problem->d + 6 * (ptrdiff_t)run->in->islands->pivotOf[island->bodies[i]];
		knEquationBody* body = &run->bodies[i];
		body->w = knAdd(body->w, knV3(d[0], d[1], d[2]));
		body->u = knAdd(body->u, knV3(d[3], d[4], d[5]));
	}
	for (int n = 0; n < island->jointCount + island->pointCount; ++n) {
		const knIslandEntry* entry = &problem->entries[n];
		for (int k = 0; k < entry->count; ++k) {
			double* lambda = n < island->jointCount ? &run->joints[n].rows[k].lambda
													: &run->points[n - island->jointCount].lambda[k];
			*lambda += problem->rows[entry->first + k].change;
		}
	}
}

// One round; false: its problem has no solution.
static bool solveRound(knMixedRun* run, int round, int refinements, double near) {
	knMixedIsland* island = run->island;
	knIslandProblem* problem = &island->problem;
	if (round < DISC_ROUNDS) {
		for (int k = 0; k < island->pointCount; ++k) {
			run->points[k].radius = run->points[k].mu * knMax(run->points[k].lambda[0], 0.0);
		}
	}
	gatherStiffness(run);
	for (int i = 0; i < island->bodyCount; ++i) {
		const ptrdiff_t pivot = run->in->islands->pivotOf[island->bodies[i]];
		setBody(run, &run->bodies[i], problem->H + 36 * pivot, problem->gradient + 6 * pivot,
				problem->extra + 9 * pivot);
	}
	listRows(run);
	problem->kept = false;
	problem->iterationLimit = ITERATION_LIMIT;
	problem->discTolerance = DISC_TOLERANCE;
	problem->nearEnough = near / run->span.h;
	problem->discPatience = round < ROUGH_ROUNDS ? ROUGH_PATIENCE : ITERATION_LIMIT;
	problem->secantIterations = round < ROUGH_ROUNDS ? ITERATION_LIMIT : 0;
	problem->refinements = refinements;
	run->status = knIslandProblem_Solve(problem);
	if (run->status == KN_ISLAND_SINGULAR) {
		return false;
	}
	takeRound(run);
	run->result->rounds += 1;
	run->result->factorizations += problem->factorizations;
	return true;
}

// --- a step ------------------------------------------------------------------------------------------

void knMixedRun_Begin(knMixedRun* run, double h, double theta) {
	run->span = (knSpan){ .h = h, .theta = theta, .arms = 0.5 };
	for (int i = 0; i < run->total; ++i) {
		knEquationBody_Begin(&run->bodies[i], h);
	}
	for (int k = 0; k < run->island->jointCount; ++k) {
		knEquationJoint_Begin(&run->joints[k], run->bodies, &run->span);
	}
	for (int k = 0; k < run->island->pointCount; ++k) {
		knMixedPoint* point = &run->points[k];
		const knEquationBody *A = &run->bodies[point->a], *B = &run->bodies[point->b];
		knVec3 onA = knAdd(A->x, knMulMV(&A->R, point->lA)), onB = knAdd(B->x, knMulMV(&B->R, point->lB));
		point->gap = knDot(point->n, knSub(onB, onA));
		point->radius = point->mu * knMax(point->lambda[0], 0.0);
		point->softness = run->firm ? LOAD_FIRMEST : BOUND_SOFTNESS;
	}
}

static void stop(knMixedRun* run) {
	for (int i = 0; i < run->island->bodyCount; ++i) {
		run->bodies[i].u = run->bodies[i].w = knZero3();
	}
}

bool knMixedRun_TakeStartRows(knMixedRun* run, double h) {
	knMixedRun_Begin(run, h, 1.0);
	for (int pass = 0; pass < START_PASSES; ++pass) {
		stop(run);
		const Errors errors = evaluate(run);
		if (!solveRound(run, pass, 0, NEAR_SHARE * worseOf(errors))) {
			return false;
		}
	}
	Errors errors = evaluate(run);
	for (int i = 0; i < run->island->bodyCount; ++i) {
		run->bodies[i].restLin = run->bodies[i].restAng = knZero3();
	}
	run->left = knMax(errors.joints, errors.points);
	return true;
}

int knMixedRun_StoreSize(const knMixedRun* run) {
	int count = 6 * run->island->bodyCount + 3 * run->island->pointCount;
	for (int k = 0; k < run->island->jointCount; ++k) {
		count += run->joints[k].count;
	}
	return count;
}

static void copyNumber(double* number, double** store, bool back) {
	*(back ? number : *store) = *(back ? *store : number);
	*store += 1;
}

static void copyVector(knVec3* v, double** store, bool back) {
	copyNumber(&v->x, store, back);
	copyNumber(&v->y, store, back);
	copyNumber(&v->z, store, back);
}

void knMixedRun_Copy(knMixedRun* run, double* store, bool back) {
	for (int i = 0; i < run->island->bodyCount; ++i) {
		copyVector(&run->bodies[i].w, &store, back);
		copyVector(&run->bodies[i].u, &store, back);
	}
	for (int k = 0; k < run->island->jointCount; ++k) {
		for (int i = 0; i < run->joints[k].count; ++i) {
			copyNumber(&run->joints[k].rows[i].lambda, &store, back);
		}
	}
	for (int k = 0; k < run->island->pointCount; ++k) {
		for (int d = 0; d < 3; ++d) {
			copyNumber(&run->points[k].lambda[d], &store, back);
		}
	}
}

static bool isAligned(const knMixedRun* run) {
	bool aligned = true;
	for (int k = 0; k < run->island->jointCount; ++k) {
		aligned = aligned && knEquationJoint_IsAligned(&run->joints[k], run->bodies);
	}
	return aligned;
}

// Whether rounds no longer help: errors fall too slowly. `past` are those of the last rounds.
static bool stalls(double* past, double error) {
	const bool slow = error > STALL_SHARE * past[STALL_ROUNDS - 1];
	memmove(past + 1, past, sizeof(double) * (STALL_ROUNDS - 1));
	past[0] = error;
	return slow;
}

// m, of what rounds may leave.
typedef struct Tolerances {
	double joints, points;
	double arrivalJoints, arrivalPoints; // where that works less than the step takes
} Tolerances;

static Tolerances findTolerances(const knMixedRun* run, Errors first) {
	const double fall = run->span.h * run->span.h * knLength(run->in->state->header->gravity);
	const double least = knMin(knMax(POINT_FALL * fall, POINT_TOLERANCE), POINT_LOOSEST);
	return (Tolerances){
		.joints = JOINT_TOLERANCE,
		.points = knClamp(POINT_SHARE * first.points, least, POINT_LOOSEST),
		.arrivalJoints = knClamp(ARRIVAL_SHARE * first.joints, JOINT_TOLERANCE, ARRIVAL_LOOSEST),
		.arrivalPoints = knClamp(ARRIVAL_SHARE * first.points, least, ARRIVAL_LOOSEST),
	};
}

// Whether what is left open cannot give more than a share of what the step takes.
static bool takesMore(const knMixedRun* run, Errors errors, double share) {
	return run->arrives && errors.work < share * errors.taken;
}

static bool areNear(const knMixedRun* run, Errors errors, Tolerances within) {
	return (errors.joints <= within.joints && errors.points <= within.points) ||
		   (takesMore(run, errors, ARRIVAL_WORK) && errors.joints <= within.arrivalJoints &&
			errors.points <= within.arrivalPoints);
}

// m, how exactly a round is solved: not while its rows, arms and discs are far from those of the end.
static double nearOf(const knMixedRun* run, int round, Errors errors) {
	return round < ROUGH_ROUNDS || takesMore(run, errors, 1.0) ? NEAR_SHARE * worseOf(errors) : 0.0;
}

// The best iterate so far.
typedef struct Best {
	double error; // m
	double* store;
} Best;

static void keepBest(knMixedRun* run, Best* best, double error) {
	if (error < best->error) {
		best->error = error;
		knMixedRun_Copy(run, best->store, false);
	}
}

static Errors takeBest(knMixedRun* run, const Best* best, Errors errors) {
	if (worseOf(errors) <= best->error || !(best->error < (double)INFINITY)) {
		return errors;
	}
	knMixedRun_Copy(run, best->store, true);
	return evaluate(run);
}

bool knMixedRun_Converge(knMixedRun* run) {
	Errors errors = evaluate(run);
	const Tolerances within = findTolerances(run, errors);
	double past[STALL_ROUNDS];
	Best best = { (double)INFINITY, KN_SCRATCH(run->arena, double, knMixedRun_StoreSize(run)) };
	double* before = KN_SCRATCH(run->arena, double, run->island->pointCount);
	if (run->arena->failed) {
		run->failed = true;
		return false;
	}
	for (int i = 0; i < STALL_ROUNDS; ++i) {
		past[i] = (double)INFINITY;
	}
	for (int round = 0; round < (errors.turn > FAST_TURN ? FAST_ROUND_LIMIT : ROUND_LIMIT); ++round) {
		if (areNear(run, errors, within)) {
			break;
		}
		for (int k = 0; k < run->island->pointCount; ++k) {
			before[k] = run->points[k].error;
		}
		if (!solveRound(run, round, REFINEMENTS, nearOf(run, round, errors))) {
			break;
		}
		errors = evaluate(run);
		if (round > 0) {
			firmPoints(run, before, within.points);
		}
		keepBest(run, &best, worseOf(errors));
		if (!knIsFinite(worseOf(errors)) || (stalls(past, worseOf(errors)) && round >= DISC_ROUNDS)) {
			break;
		}
	}
	errors = takeBest(run, &best, errors);
	run->left = worseOf(errors);
	return isAligned(run) && run->left <= (takesMore(run, errors, 1.0) ? ARRIVAL_TOLERANCE : ROUGH_TOLERANCE);
}
