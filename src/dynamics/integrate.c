// Time integration of rigid bodies.
//
// Mean velocities (KN_WEIGHT_MEAN), P and T the impulses of the constraints and their moments:
//
//   x' = x + h u,         u = v + h f/(2m) + P/(2m),    v' = v + h f/m + P/m
//   R' = exp(h w) R,      w from L and h tau + T (mean_rotation.h),    L' = L + h tau + T
//
// Then the energy changes by f . (x' - x) + tau . h w + P . u + T . w exactly: rows that are posed on (u, w) and push where they
// measure never do positive work. To first order in T the answer of w is B T with
//
//   B = R_m D^-1 R_m^T / 2,   R_m = exp(h w/2) R
//
// symmetric; what it neglects does no work to first order. Momenta come from the sums of the impulses, so that what is
// equal and opposite stays so to the last bit.
//
// Velocities at the end (KN_WEIGHT_END), semi-implicit Euler:  v' = v + h f/m + P/m,  x' = x + h v'. The rows see
// u = (w + I0^-1 h tau, v'), w the mean of the free rotation; impulses dL change u by I0^-1 dL, I0 at the start pose. At the
// end q1 = exp(h u.ang) q0, L1 = L0 + h tau + dL.
//
// In both the state holds omega = I(q1)^-1 L1: angular momentum is what moves on, so it is conserved to round-off.

#include "dynamics/integrate.h"

#include "core/tasks.h"
#include "dynamics/mean_rotation.h"

enum { BODY_GRAIN = 64 };
#define SLOW_TURN 0.01 // rad a step: what turns less has the energy of the linear answer to round-off

// --- begin -----------------------------------------------------------------------------------------------

typedef struct BodyTask {
	const knStepBodies* blocks;
	const knModel* model;
	const knState* state;
} BodyTask;

// exp(-x) for x >= 0 to third order, positive for any x.
static double decay(double x) {
	return 1.0 / (1.0 + x * (1.0 + x * (0.5 + x / 6.0)));
}

// What damping leaves: all of it acts at the start, or half of it, and half at the end.
static double linearDecay(const knModel* model, const knStepBodies* blocks, int b) {
	return decay(blocks->h * model->linearDamping[b] * blocks->weight[b]);
}

static double angularDecay(const knModel* model, const knStepBodies* blocks, int b) {
	return decay(blocks->h * model->angularDamping[b] * blocks->weight[b]);
}

// The angular momentum at the start, body axes.
static knVec3 startMomentum(const knStepBodies* blocks, const knModel* model, const knState* state, int b) {
	knVec3 Pi = knMulMV(&model->inertiaLocal[b], knInvRotate(state->pose[b].q, state->velocity[b].ang));
	return knScale(angularDecay(model, blocks, b), Pi);
}

static knVec3 meanSpin(const knStepBodies* blocks, const knModel* model, int b, knVec3 Pi, knVec3 twist) {
	const knMat33 *inertia = &model->inertiaLocal[b], *inverse = &model->invInertiaLocal[b];
	knVec3 mean = knMeanAngularVelocity(inertia, inverse, Pi, blocks->h);
	if (knLengthSquared(twist) == 0.0) {
		return mean;
	}
	knMeanTurn turn = knMeanTurn_Find(inertia, inverse, Pi, twist, blocks->h, mean);
	blocks->cayley[b] = turn.cayley && knIsFinite3(turn.w);
	return knIsFinite3(turn.w) ? turn.w : knMulAdd(mean, 0.5, knMulMV(inverse, twist));
}

static void beginDynamic(const BodyTask* task, int b) {
	// in
	const knStepBodies* blocks = task->blocks;
	const knModel* model = task->model;
	const knTwist velocity = task->state->velocity[b], force = task->state->force[b];
	const knQuat q = task->state->pose[b].q;
	const double h = blocks->h, weight = blocks->weight[b];
	const bool mean = weight < KN_WEIGHT_END;

	knMat33 inverse = knRotateTensor(q, &model->invInertiaLocal[b]);
	blocks->invMass[b] = weight * model->invMass[b];
	blocks->invInertia[b] = mean ? knScaleM(weight, &inverse) : inverse;
	blocks->drive[b] = knScaleT(h, force);

	// linear: damping, gravity, user force
	knVec3 v = knScale(linearDecay(model, blocks, b), velocity.lin);
	v = knMulAdd(v, weight * h * model->gravityScale[b], task->state->header->gravity);
	blocks->u[b].lin = knMulAdd(v, h * blocks->invMass[b], force.lin);

	// angular: the momentum and its mean angular velocity; of an end velocity the torque is an impulse at the start pose
	knVec3 Pi = startMomentum(blocks, model, task->state, b);
	knVec3 twist = knScale(h, force.ang);
	blocks->cayley[b] = 0;
	blocks->momentum[b] = knAdd(knRotate(q, Pi), twist);
	knVec3 w = meanSpin(blocks, model, b, Pi, mean ? knInvRotate(q, twist) : knZero3());
	blocks->u[b].ang = knRotate(q, w);
	if (!mean) {
		blocks->u[b].ang = knAdd(blocks->u[b].ang, knMulMV(&blocks->invInertia[b], twist));
	}
	blocks->free[b] = blocks->u[b];
	blocks->impulse[b] = knZeroTwist();
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

bool knStepBodies_Begin(knStepBodies* blocks, const knModel* model, const knState* state, double h,
						const double* weights, const knTasks* tasks, knArena* arena) {
	int count = model->bodyCount;
	blocks->count = count;
	blocks->h = h;
	blocks->push = NULL;
	blocks->weight = KN_SCRATCH(arena, double, count);
	blocks->impulse = KN_SCRATCH_ZERO(arena, knTwist, count);
	blocks->cayley = KN_SCRATCH_ZERO(arena, uint8_t, count);
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
	for (int b = 0; b < count; ++b) {
		blocks->weight[b] = weights != NULL ? weights[b] : KN_WEIGHT_END;
	}
	BodyTask task = { blocks, model, state };
	knTasks_For(tasks, count, BODY_GRAIN, beginRange, &task);
	return true;
}

void knStepBodies_Restart(knStepBodies* blocks, const knModel* model, const knState* state, int body,
						  double weight) {
	blocks->weight[body] = weight;
	BodyTask task = { blocks, model, state };
	beginRange(body, body + 1, 0, &task);
}

void knStepBodies_Drive(knStepBodies* blocks, int body, knTwist impulse) {
	if (blocks->invMass[body] > 0.0) {
		knTwist change = knMakeTwist(knMulMV(&blocks->invInertia[body], impulse.ang),
									 knScale(blocks->invMass[body], impulse.lin));
		blocks->u[body] = knAddT(blocks->u[body], change);
		blocks->free[body] = blocks->u[body];
		blocks->momentum[body] = knAdd(blocks->momentum[body], impulse.ang);
		blocks->drive[body] = knAddT(blocks->drive[body], impulse);
	}
}

// --- mean velocities by impulses -------------------------------------------------------------------------

double knStepBodies_Turn(const knStepBodies* blocks, int body) {
	knVec3 answer = knMulMV(&blocks->invInertia[body], blocks->impulse[body].ang);
	return blocks->h * (knLength(blocks->free[body].ang) + 0.5 * knLength(answer));
}

bool knStepBodies_Aim(knStepBodies* blocks, const knModel* model, const knState* state, int body) {
	const knMat33 *inertia = &model->inertiaLocal[body], *inverse = &model->invInertiaLocal[body];
	const knTwist impulse = blocks->impulse[body];
	const knQuat q = state->pose[body].q;
	blocks->u[body].lin = knMulAdd(blocks->free[body].lin, blocks->invMass[body], impulse.lin);
	if (knLengthSquared(impulse.ang) == 0.0) {
		blocks->cayley[body] = 0;
		blocks->u[body].ang = blocks->free[body].ang;
		return true;
	}
	if (knStepBodies_Turn(blocks, body) < SLOW_TURN || knIsIsotropic(inertia)) {
		knVec3 answer = knMulMV(&blocks->invInertia[body], impulse.ang);
		blocks->u[body].ang = knAdd(blocks->free[body].ang, answer);
		return true;
	}
	knVec3 Pi = startMomentum(blocks, model, state, body);
	knVec3 tau = knInvRotate(q, knAdd(blocks->drive[body].ang, impulse.ang));
	knMeanTurn turn =
		knMeanTurn_Find(inertia, inverse, Pi, tau, blocks->h, knInvRotate(q, blocks->u[body].ang));
	blocks->cayley[body] = turn.cayley;
	if (!knIsFinite3(turn.w)) {
		knVec3 answer = knMulMV(&blocks->invInertia[body], impulse.ang);
		blocks->cayley[body] = KN_TURN_UNSOLVED;
		blocks->u[body].ang = knAdd(blocks->free[body].ang, answer);
		return false;
	}
	blocks->u[body].ang = knRotate(q, turn.w);
	knQuat middle = knMulQ(knMeanTurn_Quat(blocks->u[body].ang, 0.5 * blocks->h, false), q);
	knMat33 full = knRotateTensor(middle, inverse);
	blocks->invInertia[body] = knScaleM(blocks->weight[body], &full);
	return true;
}

// --- end -------------------------------------------------------------------------------------------------

typedef struct EndTask {
	const knStepBodies* blocks;
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

knFrame knStepBodies_EndPose(const knStepBodies* blocks, const knState* state, int body) {
	knTwist move = blocks->u[body];
	if (blocks->push != NULL) {
		move = knAddT(move, blocks->push[body]);
	}
	if (blocks->cayley[body] == KN_TURN_CAYLEY) {
		knQuat turn = knMeanTurn_Quat(move.ang, blocks->h, true);
		return knMakeFrame(knMulAdd(state->pose[body].p, blocks->h, move.lin),
						   knNormalizeQ(knMulQ(turn, state->pose[body].q)));
	}
	return knMovePose(state->pose[body], move, blocks->h);
}

knVec3 knStepBodies_EndVelocity(const knStepBodies* blocks, const knModel* model, const knState* state,
								int body) {
	if (blocks->weight[body] == KN_WEIGHT_END || model->bodyKind[body] != KN_BODY_DYNAMIC) {
		return blocks->u[body].lin;
	}
	double left = linearDecay(model, blocks, body);
	knVec3 v = knScale(left, state->velocity[body].lin);
	v = knMulAdd(v, blocks->h * model->gravityScale[body], state->header->gravity);
	knVec3 impulse = knAdd(blocks->drive[body].lin, blocks->impulse[body].lin);
	return knScale(left, knMulAdd(v, model->invMass[body], impulse));
}

knVec3 knStepBodies_EndMomentum(const knStepBodies* blocks, const knModel* model, const knState* state,
								int body) {
	if (blocks->weight[body] == KN_WEIGHT_END) {
		// constraint impulses, read off the change of u at the start pose
		knVec3 change = knSub(blocks->u[body].ang, blocks->free[body].ang);
		return knAdd(blocks->momentum[body],
					 timesTensor(state->pose[body].q, &model->inertiaLocal[body], change));
	}
	return knScale(angularDecay(model, blocks, body),
				   knAdd(blocks->momentum[body], blocks->impulse[body].ang));
}

static void endDynamic(const EndTask* task, int b) {
	// in
	const knStepBodies* blocks = task->blocks;
	const knMat33* inertia = &task->model->inertiaLocal[b];
	const knMat33* invInertia = &task->model->invInertiaLocal[b];
	knFrame* pose = &task->state->pose[b];

	knVec3 v = knStepBodies_EndVelocity(blocks, task->model, task->state, b);
	knVec3 L = knStepBodies_EndMomentum(blocks, task->model, task->state, b);

	// a quaternion's length is 1 only to round-off, and always off to the same side: without the second line,
	// which takes out what the next step would not find again, the momentum would grow with every step
	*pose = knStepBodies_EndPose(blocks, task->state, b);
	knVec3 omega = timesTensor(pose->q, invInertia, L);
	knVec3 lost = knSub(L, timesTensor(pose->q, inertia, omega));
	omega = knAdd(omega, timesTensor(pose->q, invInertia, lost));
	task->state->velocity[b] = knMakeTwist(omega, v);
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

void knStepBodies_End(const knStepBodies* blocks, const knModel* model, const knTasks* tasks,
					  knState* state) {
	EndTask task = { blocks, model, state };
	knTasks_For(tasks, blocks->count, BODY_GRAIN, endRange, &task);
}

// --- work and rows ---------------------------------------------------------------------------------------

double knStepBodies_DriveWork(const knStepBodies* blocks, const knState* state) {
	double work = 0.0;
	for (int b = 0; b < blocks->count; ++b) {
		bool mean = blocks->weight[b] < KN_WEIGHT_END;
		knTwist u = mean ? blocks->u[b] : knScaleT(0.5, knAddT(state->velocity[b], blocks->u[b]));
		work += knDotT(blocks->drive[b], u);
	}
	return work;
}

double knStepBodies_KinematicWork(const knStepBodies* blocks, const knModel* model, const knRows* rows) {
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

static knTwist timesInverseMass(const knStepBodies* blocks, int block, knTwist J) {
	return knMakeTwist(knMulMV(&blocks->invInertia[block], J.ang), knScale(blocks->invMass[block], J.lin));
}

void knStepBodies_FinishRow(const knStepBodies* blocks, knRow* row) {
	row->Ta = timesInverseMass(blocks, row->a, row->Ja);
	row->Tb = timesInverseMass(blocks, row->b, row->Jb);
	row->D = knDotT(row->Ja, row->Ta) + knDotT(row->Jb, row->Tb) + row->gamma;
}
