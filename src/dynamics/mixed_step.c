// The phases of a mixed step. A step whose rounds do not converge is taken with the rows of its start, which always can be.

#include "dynamics/mixed_internal.h"

#include <string.h>

#include "dynamics/mixed_positions.h"

#define TORN_GAP 1e-6     // m: wider gaps of joints are closed before the step
#define DEEP_OVERLAP 1e-4 // m: deeper ones are pushed out after it
#define ROUGH_GAP 1e-3    // m: wider gaps are closed together with that
#define CLOSED_GAP 1e-10  // m: and all others than these afterwards
#define TOUCHING_GAP 1e-9 // m: points so near take part in blows

// --- the end of a step -----------------------------------------------------------------------------------

// J, of motors, users' forces and kinematic bodies, which do theirs through joints here; through contacts the stepper counts it.
static double findWork(const knMixedRun* run) {
	const double h = run->span.h;
	double work = 0.0;
	for (int i = 0; i < run->total; ++i) {
		const knEquationBody* body = &run->bodies[i];
		work += h * (knDot(body->force.lin, body->u) + knDot(body->force.ang, body->w));
	}
	for (int j = 0; j < run->island->jointCount; ++j) {
		work += knEquationJoint_Work(&run->joints[j], run->bodies, h);
	}
	return work;
}

// The end of the step becomes the start of the next; momenta follow from the impulses.
static void commit(knMixedRun* run) {
	run->result->work += findWork(run);
	for (int i = 0; i < run->total; ++i) {
		knEquationBody* body = &run->bodies[i];
		if (i < run->island->bodyCount) {
			body->v = knMulAdd(body->v1, -1.0 / (body->mass * (1.0 + body->keepLin)), body->restLin);
			body->L = knMulAdd(body->L1, -1.0 / (1.0 + body->keepAng), body->restAng);
		}
		body->x = body->x1;
		body->q = knNormalizeQ(body->q1);
	}
	for (int k = 0; k < run->island->jointCount; ++k) {
		knEquationJoint* joint = &run->joints[k];
		knEquationJoint_Settle(joint, run->span.h);
		memcpy(joint->q, joint->q1, sizeof(joint->q));
		knTwist* reaction = &run->in->reactions[joint->index];
		*reaction = knAddT(*reaction, knEquationJoint_Impulse(joint, run->bodies));
	}
	for (int k = 0; k < run->island->pointCount; ++k) {
		const knMixedPoint* point = &run->points[k];
		double* sum = run->in->contacts->points[point->index].lambda;
		for (int d = 0; d < 3; ++d) {
			sum[d] += point->lambda[d];
		}
	}
}

// What the joints want of the velocities at the end of the step; the bodies have begun there. False: no memory.
static bool listSettling(knMixedRun* run, knMixedVelocities* problem) {
	const knMixedIsland* island = run->island;
	int count = 0;
	for (int k = 0; k < island->jointCount; ++k) {
		count += run->joints[k].count;
	}
	knVelocityRow* rows = KN_SCRATCH(run->arena, knVelocityRow, count);
	int* first = KN_SCRATCH(run->arena, int, island->jointCount + 1);
	if (run->arena->failed) {
		return false;
	}
	count = 0;
	for (int k = 0; k < island->jointCount; ++k) {
		knEquationJoint* joint = &run->joints[k];
		const knEquationBody *P = &run->bodies[joint->parent], *C = &run->bodies[joint->child];
		knEquationJoint_RateRows(joint, run->bodies);
		first[k] = count;
		for (int i = 0; i < joint->count; ++i) {
			const knEquationRow* from = &joint->rows[i];
			const knEquationAxis* axis = i >= joint->locked ? &joint->axes[i - joint->locked] : NULL;
			if (axis != NULL && !axis->settles) {
				continue;
			}
			knVelocityRow* row = &rows[count++];
			*row = (knVelocityRow){ .wanted = 0.0 };
			knMixed_SetSix(row->row.a, from->endP);
			knMixed_SetSix(row->row.b, from->endC);
			if (axis != NULL) {
				const double rate =
					knDotT(from->endP, knMakeTwist(P->w, P->u)) + knDotT(from->endC, knMakeTwist(C->w, C->u));
				row->wanted = axis->keepsRate ? rate : axis->wanted;
				row->softness = axis->softness;
				row->bounded = true;
				row->lower = axis->lower;
				row->upper = axis->upper;
			}
		}
	}
	first[island->jointCount] = count;
	problem->jointRows = rows;
	problem->jointFirst = first;
	return true;
}

// Loaded points: what flips its sign goes, and sliding where they stuck.
static void setPointTask(knMixedRun* run, const knMixedPoint* point) {
	knSweepPoint* row = &run->in->contacts->points[point->index];
	const double length = sqrt(point->lambda[1] * point->lambda[1] + point->lambda[2] * point->lambda[2]);
	const bool sticks = length < (1.0 - KN_RIM_TOLERANCE) * point->radius;
	run->tasks[point->index] = (knPointTask){ .takesPart = point->lambda[0] > 0.0,
											  .least = -point->lambda[0],
											  .radius = sticks ? point->radius : 0.0,
											  .carried = { point->lambda[1], point->lambda[2] } };
	row->rA = point->endA;
	row->rB = point->endB;
}

// Velocities at the end of a step, without what the mean rule leaves there.
static bool settle(knMixedRun* run) {
	const knMixedIsland* island = run->island;
	knMixedVelocities problem = { .islands = run->in->islands,
								  .model = run->in->model,
								  .state = run->in->state,
								  .pose = run->in->pose,
								  .contacts = run->in->contacts,
								  .tasks = run->tasks,
								  .velocity = run->in->velocity };
	for (int i = 0; i < run->total; ++i) {
		knEquationBody_Begin(&run->bodies[i], run->span.h);
	}
	for (int i = 0; i < island->bodyCount; ++i) {
		const knEquationBody* body = &run->bodies[i];
		run->in->pose[island->bodies[i]] = knMakeFrame(body->x, body->q);
		run->in->velocity[island->bodies[i]] = knMakeTwist(body->w, body->u);
	}
	for (int k = 0; k < island->jointCount; ++k) {
		knEquationJoint_Begin(&run->joints[k], run->bodies, &run->span);
	}
	for (int k = 0; k < island->pointCount; ++k) {
		setPointTask(run, &run->points[k]);
	}
	if (!listSettling(run, &problem)) {
		return false;
	}
	if (!knMixedVelocities_Settle(&problem, run->island, run->arena)) {
		return false;
	}
	run->result->factorizations += problem.factorizations;
	run->result->taken += problem.taken + problem.work;
	run->result->work += problem.work;
	for (int i = 0; i < island->bodyCount; ++i) {
		knEquationBody* body = &run->bodies[i];
		const knTwist v = run->in->velocity[island->bodies[i]];
		body->v = v.lin;
		body->L = knRotate(body->q, knMulMV(&body->inertia, knInvRotate(body->q, v.ang)));
	}
	return true;
}

// J, of the island's bodies at the start of a step.
static double kineticEnergy(const knMixedRun* run) {
	double sum = 0.0;
	for (int i = 0; i < run->island->bodyCount; ++i) {
		const knEquationBody* body = &run->bodies[i];
		const knVec3 L = knInvRotate(body->q, body->L);
		sum += 0.5 * (body->mass * knLengthSquared(body->v) + knDot(L, knMulMV(&body->invInertia, L)));
	}
	return sum;
}

// J, all that acts on the island from without in the step, and the axes of its joints.
static double findInput(const knMixedRun* run) {
	const double h = run->span.h;
	double sum = 0.0;
	for (int i = 0; i < run->total; ++i) {
		const knEquationBody* body = &run->bodies[i];
		if (i < run->island->bodyCount) {
			sum += h * (body->mass * knDot(body->center, body->u) + knDot(body->torque, body->w));
		} else {
			sum += knDot(body->restLin, body->u) + knDot(body->restAng, body->w);
		}
	}
	for (int j = 0; j < run->island->jointCount; ++j) {
		const knEquationJoint* joint = &run->joints[j];
		for (int i = joint->locked; i < joint->count; ++i) {
			sum += knMax(joint->rows[i].lambda * joint->rows[i].moved / h, 0.0);
		}
	}
	return sum;
}

// Takes what a step that did not converge has gained.
static void takeGain(knMixedRun* run, double allowed) {
	const double energy = kineticEnergy(run);
	if (!(energy > allowed)) {
		return;
	}
	const double scale = sqrt(knMax(allowed, 0.0) / energy);
	for (int i = 0; i < run->island->bodyCount; ++i) {
		knEquationBody* body = &run->bodies[i];
		body->v = knScale(scale, body->v);
		body->L = knScale(scale, body->L);
		knTwist* v = &run->in->velocity[run->island->bodies[i]];
		*v = knScaleT(scale, *v);
	}
	run->result->guarded = true;
	run->result->taken += energy - knMax(allowed, 0.0);
}

static bool takeStep(knMixedRun* run, bool guarded) {
	const double allowed = guarded ? kineticEnergy(run) + findInput(run) : 0.0;
	commit(run);
	run->failed = !settle(run);
	if (guarded && !run->failed) {
		takeGain(run, allowed);
	}
	return !run->failed;
}

// Nothing helped, which only round-off can bring about: the island stands still.
static void hold(knMixedRun* run) {
	for (int i = 0; i < run->island->bodyCount; ++i) {
		run->in->velocity[run->island->bodies[i]] = knZeroTwist();
	}
}

// Whether points have carried something before: rounds know how firm they must be.
static bool knowsLoads(const knMixedRun* run) {
	bool knows = false;
	for (int k = 0; k < run->island->pointCount; ++k) {
		knows = knows || run->points[k].lambda[0] > 0.0;
	}
	return knows;
}

// Rounds; where they do not converge on mean velocities once more on those of the end, and where nothing was known of loads with
// firm points. False: they do not converge.
static bool converge(knMixedRun* run, double h, double* store) {
	knMixedRun_Copy(run, store, false);
	const bool known = knowsLoads(run);
	for (run->firm = false;;) {
		knMixedRun_Begin(run, h, run->arrives ? 1.0 : 0.5);
		if (knMixedRun_Converge(run)) {
			return true;
		}
		if (run->failed) {
			return false;
		}
		knMixedRun_Copy(run, store, true);
		if (run->arrives && (known || run->firm)) {
			return false;
		}
		run->arrives = true;
		run->firm = !known;
	}
}

// False: no memory.
static bool advance(knMixedRun* run, double h) {
	knMixedStepResult* result = run->result;
	double* store = KN_SCRATCH(run->arena, double, knMixedRun_StoreSize(run));
	if (run->arena->failed) {
		run->failed = true;
		return false;
	}
	if (converge(run, h, store)) {
		return takeStep(run, run->left > KN_LOOSE_TOLERANCE);
	}
	if (run->failed) {
		return false;
	}
	run->firm = false;
	if (!knMixedRun_TakeStartRows(run, h)) {
		result->rung = KN_RUNG_HELD;
		hold(run);
		return true;
	}
	result->rung = KN_RUNG_START_ROWS;
	return takeStep(run, true);
}

// --- before and after ----------------------------------------------------------------------------------------

// Joints that are torn, or newly attached, without velocities; then, with points, what overlaps. False: no memory.
static bool closeUp(knMixedRun* run, bool points, double gap, const knMat33* stiffness) {
	knMixedIsland* island = run->island;
	knMixedIsland alone = *island;
	alone.pointCount = points ? island->pointCount : 0;
	alone.problem.entryCount = alone.jointCount + alone.pointCount;
	knMixedPositions problem = { .islands = run->in->islands,
								 .model = run->in->model,
								 .state = run->in->state,
								 .contacts = points ? run->in->contacts : NULL,
								 .start = run->in->state->pose,
								 .pose = run->in->pose,
								 .stiffness = stiffness,
								 .gapTolerance = gap,
								 .depthTolerance = DEEP_OVERLAP };
	const bool done = knMixedPositions_Close(&problem, &alone, run->arena);
	run->result->gap = problem.gap; // what the last closing leaves
	return done;
}

static double approachOf(const knMixedStepInput* in, int k) {
	const knContactAnchor* anchor = &in->contacts->anchors[k];
	const knSweepPoint* point = &in->contacts->points[k];
	const knTwist a = in->velocity[anchor->bodyA], b = in->velocity[anchor->bodyB];
	return knDot(point->n,
				 knSub(knAdd(b.lin, knCross(b.ang, point->rB)), knAdd(a.lin, knCross(a.ang, point->rA))));
}

// What arrives in this step, with the velocities of its start: all that meets is stopped, or bounces. False: no memory.
static bool land(knMixedRun* run) {
	const knMixedStepInput* in = run->in;
	const double fall = KN_BOUNCE_STEPS * in->h * knLength(in->state->header->gravity);
	bool arrives = false, bounces = false;
	for (int i = 0; i < run->island->pointCount; ++i) {
		const int k = run->island->points[i];
		const double speed = approachOf(in, k), gap = knMax(in->contacts->points[k].depth, 0.0);
		const double e = in->restitution != NULL && speed < -fall ? in->restitution[k] : 0.0;
		const bool meets = gap + in->h * speed < 0.0 || gap < TOUCHING_GAP;
		run->tasks[k] = (knPointTask){ .takesPart = meets,
									   .target = meets && e > 0.0 ? -e * speed : -gap / in->h,
									   .radius = -1.0 };
		arrives = arrives || speed < -gap / in->h - fall;
		bounces = bounces || (meets && e > 0.0);
	}
	run->arrives = arrives && !bounces; // what bounces has landed
	if (!bounces) {
		return true;
	}
	knMixedVelocities problem = { .islands = in->islands,
								  .model = in->model,
								  .state = in->state,
								  .pose = in->pose,
								  .contacts = in->contacts,
								  .tasks = run->tasks,
								  .velocity = in->velocity };
	if (!knMixedVelocities_ListJoints(&problem, run->island, in->h, run->arena)) {
		return false;
	}
	(void)knMixedVelocities_Solve(&problem, run->island, run->arena);
	run->result->factorizations += problem.factorizations;
	run->result->taken += problem.taken + problem.work;
	run->result->work += problem.work;
	return !run->arena->failed;
}

// --- the step --------------------------------------------------------------------------------------------

static void keepImpulses(const knMixedRun* run) {
	for (int k = 0; k < run->island->jointCount; ++k) {
		const knEquationJoint* joint = &run->joints[k];
		for (int i = 0; i < joint->count; ++i) {
			run->in->lambda[KN_MIXED_JOINT_ROWS * joint->index + i] = joint->rows[i].lambda;
		}
	}
}

bool knMixedStep_Run(const knMixedStepInput* input, knMixedIsland* island, knMixedStepResult* result,
					 knArena* arena) {
	knMixedRun run = { .in = input, .island = island, .result = result, .arena = arena };
	const int pointCount = island->pointCount;
	*result = (knMixedStepResult){ .rung = KN_RUNG_NEWTON };
	run.tasks = KN_SCRATCH_ZERO(arena, knPointTask, input->contacts->pointCount);
	knMat33* stiffness = KN_SCRATCH(arena, knMat33, input->model->bodyCount);
	if (arena->failed) {
		return false;
	}
	for (int i = 0; i < island->bodyCount; ++i) {
		const int b = island->bodies[i];
		input->pose[b] = input->state->pose[b];
		input->velocity[b] = input->state->velocity[b];
	}
	for (int i = 0; i < island->jointCount; ++i) {
		input->reactions[island->joints[i]] = knZeroTwist();
	}
	if (!closeUp(&run, false, TORN_GAP, NULL) || !land(&run) || !knMixedRun_Make(&run)) {
		return false;
	}
	for (int i = 0; i < pointCount; ++i) {
		memset(input->contacts->points[island->points[i]].lambda, 0, sizeof(double) * 3);
	}
	if (!advance(&run, input->h)) {
		return false;
	}
	knMixedRun_Stiffen(&run, stiffness);
	if (!closeUp(&run, true, ROUGH_GAP, stiffness) || !closeUp(&run, false, CLOSED_GAP, stiffness)) {
		return false;
	}
	knMixedRun_RestoreSpin(&run);
	keepImpulses(&run);
	return true;
}
