// Time integration of rigid bodies.
//
// Centre of mass, semi-implicit Euler:  v' = v + h f/m (+ constraint impulses),  x1 = x + h v'.
//
// Rotation: angular momentum L is what moves on, so it is conserved to round-off whatever the step. The
// rotation of a step is exp(h w), the implicit midpoint in body axes (symmetric, second order):
//
//   Pi1 = exp(-h w) Pi0,   w = I^-1 (Pi0 + Pi1)/2          Pi = R^T L, I the body's own inertia
//
// It conserves the energy as well: the change is (Pi1 - Pi0) . w, and turning about w leaves Pi . w as it is.
// The rows see u = (w + I0^-1 h tau, v'); constraint impulses dL change u by I0^-1 dL, I0 at the start pose.
// At the end q1 = exp(h u.ang) q0, L1 = L0 + h tau + dL, and the state holds omega1 = I(q1)^-1 L1.

#include "dynamics/integrate.h"

#include "core/tasks.h"

#define BODY_GRAIN 64
#define NEWTON_ITERATIONS 16
#define SUBSTEP_TURN 1.0 // rad; beyond it Newton may miss the solution of the midpoint equation
#define SUBSTEP_LIMIT 64

// --- the mean angular velocity ---------------------------------------------------------------------------

static bool isIsotropic(const knMat33* m) {
	double off = knAbs(m->cx.y) + knAbs(m->cx.z) + knAbs(m->cy.z);
	double spread = knAbs(m->cx.x - m->cy.y) + knAbs(m->cx.x - m->cz.z);
	return off + spread <= 1e-14 * m->cx.x;
}

// d exp(a + e) = exp(Jl e) exp(a) to first order: the left Jacobian of the exponential map.
static knMat33 leftJacobian(knVec3 a) {
	double angle2 = knLengthSquared(a);
	double c1 = 0.5 - angle2 / 24.0, c2 = 1.0 / 6.0 - angle2 / 120.0;
	if (angle2 > 1e-6) {
		double angle = sqrt(angle2), sine, cosine;
		knSinCos(angle, &sine, &cosine);
		c1 = (1.0 - cosine) / angle2;
		c2 = (angle - sine) / (angle2 * angle);
	}
	knMat33 A = knSkew(a);
	knMat33 AA = knMulMM(&A, &A);
	knMat33 first = knScaleM(c1, &A), second = knScaleM(c2, &AA);
	knMat33 sum = knAddMM(&first, &second), one = knDiagonal33(1.0, 1.0, 1.0);
	return knAddMM(&one, &sum);
}

// Newton on F(w) = I w - (Pi0 + exp(-h w) Pi0)/2 from the velocity at the start; false if it gets nowhere.
static bool solveMidpoint(const knMat33* inertia, knVec3 momentum, double h, knVec3* w) {
	double scale = knLength(momentum), error = 0.0;
	for (int i = 0; i < NEWTON_ITERATIONS; ++i) {
		knVec3 turn = knScale(-h, *w);
		knVec3 after = knRotate(knQuat_Exp(turn), momentum);
		knVec3 F = knMulAdd(knMulMV(inertia, *w), -0.5, knAdd(momentum, after));
		error = knLength(F);
		if (error <= 4e-16 * scale) {
			return true;
		}
		knMat33 slope = leftJacobian(turn), skew = knSkew(after);
		skew = knMulMM(&skew, &slope);
		skew = knScaleM(-0.5 * h, &skew);
		knMat33 K = knAddMM(inertia, &skew), inverse = knInverse33(&K);
		*w = knSub(*w, knMulMV(&inverse, F));
	}
	// round-off of a badly conditioned inertia may keep it a little above the bar
	return error <= 1e-13 * scale;
}

// A fast spin is followed in substeps; the result is the velocity that makes the same rotation in one go,
// with as many full turns as the substeps made.
static knVec3 followSubsteps(const knMat33* inertia, const knMat33* invInertia, knVec3 momentum, double h,
							 int count) {
	knQuat R = knIdentityQ();
	knVec3 sum = knZero3();
	double part = h / count;
	for (int i = 0; i < count; ++i) {
		knVec3 start = knMulMV(invInertia, momentum), w = start;
		w = solveMidpoint(inertia, momentum, part, &w) ? w : start;
		knQuat turn = knQuat_Exp(knScale(part, w));
		R = knMulQ(R, turn);
		momentum = knInvRotate(turn, momentum);
		sum = knMulAdd(sum, part, w);
	}
	knVec3 turn = knQuat_Log(R);
	double angle = knLength(turn);
	knVec3 axis = knNormalize(angle > 1e-9 ? turn : sum);
	double turns = floor((knDot(axis, sum) - angle) / (2.0 * KN_PI) + 0.5);
	return knScale((angle + 2.0 * KN_PI * turns) / h, axis);
}

knVec3 knMeanAngularVelocity(const knMat33* inertia, const knMat33* invInertia, knVec3 momentum, double h) {
	knVec3 start = knMulMV(invInertia, momentum);
	double turn = h * knLength(start);
	if (isIsotropic(inertia) || turn == 0.0) {
		return start;
	}
	knVec3 w = start;
	if (turn < SUBSTEP_TURN && solveMidpoint(inertia, momentum, h, &w)) {
		return w;
	}
	// what spins even faster turns about its present axis; its momentum is exact all the same
	int count = turn < SUBSTEP_TURN * (SUBSTEP_LIMIT - 2) ? 2 + (int)(turn / SUBSTEP_TURN) : 0;
	return count > 0 ? followSubsteps(inertia, invInertia, momentum, h, count) : start;
}

// --- begin -----------------------------------------------------------------------------------------------

typedef struct BodyTask {
	const knBlocks* blocks;
	const knModel* model;
	const knState* state;
} BodyTask;

// exp(-x) for x >= 0 to third order, positive for any x.
static double decay(double x) {
	return 1.0 / (1.0 + x * (1.0 + x * (0.5 + x / 6.0)));
}

static void beginDynamic(const BodyTask* task, int b) {
	// in
	const knBlocks* blocks = task->blocks;
	const knModel* model = task->model;
	const knTwist velocity = task->state->velocity[b], force = task->state->force[b];
	const knQuat q = task->state->pose[b].q;
	const double h = blocks->h;

	blocks->invMass[b] = model->invMass[b];
	blocks->invInertia[b] = knRotateTensor(q, &model->invInertiaLocal[b]);
	blocks->drive[b] = knScaleT(h, force);

	// linear: damping, gravity, user force
	knVec3 v = knScale(decay(h * model->linearDamping[b]), velocity.lin);
	v = knMulAdd(v, h * model->gravityScale[b], task->state->header->gravity);
	blocks->u[b].lin = knMulAdd(v, h * model->invMass[b], force.lin);

	// angular: the momentum and its mean angular velocity, then the torque as an impulse
	knVec3 Pi = knMulMV(&model->inertiaLocal[b], knInvRotate(q, velocity.ang));
	Pi = knScale(decay(h * model->angularDamping[b]), Pi);
	knVec3 mean = knMeanAngularVelocity(&model->inertiaLocal[b], &model->invInertiaLocal[b], Pi, h);
	knVec3 twist = knScale(h, force.ang);
	blocks->momentum[b] = knAdd(knRotate(q, Pi), twist);
	blocks->u[b].ang = knAdd(knRotate(q, mean), knMulMV(&blocks->invInertia[b], twist));
	blocks->free[b] = blocks->u[b];
}

static void beginRange(int begin, int end, int worker, void* argument) {
	(void)worker;
	const BodyTask* task = argument;
	for (int b = begin; b < end; ++b) {
		if (task->model->bodyKind[b] == KN_BODY_DYNAMIC) {
			beginDynamic(task, b);
		} else if (task->model->bodyKind[b] == KN_BODY_KINEMATIC) {
			task->blocks->u[b] = task->blocks->free[b] = task->state->velocity[b];
		}
	}
}

bool knBlocks_Begin(knBlocks* blocks, const knModel* model, const knState* state, double h,
					const knTasks* tasks, knArena* arena) {
	int count = model->bodyCount;
	blocks->count = count;
	blocks->h = h;
	blocks->push = NULL;
	blocks->invMass = KN_SCRATCH_ZERO(arena, double, count);
	blocks->invInertia = KN_SCRATCH_ZERO(arena, knMat33, count);
	blocks->u = KN_SCRATCH_ZERO(arena, knTwist, count);
	blocks->free = KN_SCRATCH_ZERO(arena, knTwist, count);
	blocks->momentum = KN_SCRATCH_ZERO(arena, knVec3, count);
	blocks->drive = KN_SCRATCH_ZERO(arena, knTwist, count);
	blocks->steadied = KN_SCRATCH_ZERO(arena, uint8_t, count);
	if (arena->failed) {
		return false;
	}
	BodyTask task = { blocks, model, state };
	knTasks_For(tasks, count, BODY_GRAIN, beginRange, &task);
	return true;
}

void knBlocks_Drive(knBlocks* blocks, int body, knTwist impulse) {
	if (blocks->invMass[body] > 0.0) {
		knTwist change = knMakeTwist(knMulMV(&blocks->invInertia[body], impulse.ang),
									 knScale(blocks->invMass[body], impulse.lin));
		blocks->u[body] = knAddT(blocks->u[body], change);
		blocks->free[body] = blocks->u[body];
		blocks->momentum[body] = knAdd(blocks->momentum[body], impulse.ang);
		blocks->drive[body] = knAddT(blocks->drive[body], impulse);
	}
}

// --- end -------------------------------------------------------------------------------------------------

typedef struct EndTask {
	const knBlocks* blocks;
	const knModel* model;
	knState* state;
} EndTask;

knFrame knMovePose(knFrame pose, knTwist u, double h) {
	return knMakeFrame(knMulAdd(pose.p, h, u.lin),
					   knNormalizeQ(knMulQ(knQuat_Exp(knScale(h, u.ang)), pose.q)));
}

static knVec3 timesTensor(knQuat q, const knMat33* local, knVec3 v) {
	return knRotate(q, knMulMV(local, knInvRotate(q, v)));
}

static void endDynamic(const EndTask* task, int b) {
	// in
	const knBlocks* blocks = task->blocks;
	const knMat33* inertia = &task->model->inertiaLocal[b];
	const knMat33* invInertia = &task->model->invInertiaLocal[b];
	knFrame* pose = &task->state->pose[b];

	// constraint impulses, read off the change of u at the start pose
	knVec3 change = knSub(blocks->u[b].ang, blocks->free[b].ang);
	knVec3 L = knAdd(blocks->momentum[b], timesTensor(pose->q, inertia, change));

	// a quaternion's length is 1 only to round-off, and always off to the same side: without the second line,
	// which takes out what the next step would not find again, the momentum would grow with every step
	knTwist move = blocks->push != NULL ? knAddT(blocks->u[b], blocks->push[b]) : blocks->u[b];
	*pose = knMovePose(*pose, move, blocks->h);
	knVec3 omega = timesTensor(pose->q, invInertia, L);
	knVec3 lost = knSub(L, timesTensor(pose->q, inertia, omega));
	omega = knAdd(omega, timesTensor(pose->q, invInertia, lost));
	task->state->velocity[b] = knMakeTwist(omega, blocks->u[b].lin);
}

static void endRange(int begin, int end, int worker, void* argument) {
	(void)worker;
	const EndTask* task = argument;
	for (int b = begin; b < end; ++b) {
		if (task->model->bodyKind[b] == KN_BODY_DYNAMIC) {
			endDynamic(task, b);
		} else if (task->model->bodyKind[b] == KN_BODY_KINEMATIC) {
			task->state->pose[b] = knMovePose(task->state->pose[b], task->blocks->u[b], task->blocks->h);
		}
	}
}

void knBlocks_End(const knBlocks* blocks, const knModel* model, const knTasks* tasks, knState* state) {
	EndTask task = { blocks, model, state };
	knTasks_For(tasks, blocks->count, BODY_GRAIN, endRange, &task);
}

// --- work and rows ---------------------------------------------------------------------------------------

double knBlocks_DriveWork(const knBlocks* blocks, const knState* state) {
	double work = 0.0;
	for (int b = 0; b < blocks->count; ++b) {
		work += 0.5 * knDotT(blocks->drive[b], knAddT(state->velocity[b], blocks->u[b]));
	}
	return work;
}

double knBlocks_KinematicWork(const knBlocks* blocks, const knModel* model, const knRows* rows) {
	double work = 0.0;
	for (int i = 0; i < rows->count; ++i) {
		const knRow* row = &rows->items[i];
		// the row pushes the kinematic body with J^T lambda; the body answers with as much
		if (model->bodyKind[row->a] == KN_BODY_KINEMATIC) {
			work -= row->lambda * knDotT(row->Ja, blocks->u[row->a]);
		}
		if (model->bodyKind[row->b] == KN_BODY_KINEMATIC) {
			work -= row->lambda * knDotT(row->Jb, blocks->u[row->b]);
		}
	}
	return work;
}

static knTwist timesInverseMass(const knBlocks* blocks, int block, knTwist J) {
	return knMakeTwist(knMulMV(&blocks->invInertia[block], J.ang), knScale(blocks->invMass[block], J.lin));
}

void knBlocks_FinishRow(const knBlocks* blocks, knRow* row) {
	row->Ta = timesInverseMass(blocks, row->a, row->Ja);
	row->Tb = timesInverseMass(blocks, row->b, row->Jb);
	row->D = knDotT(row->Ja, row->Ta) + knDotT(row->Jb, row->Tb) + row->gamma;
}
