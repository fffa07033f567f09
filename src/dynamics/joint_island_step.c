// The ladder of one step of an island. Full Newton steps converge in nearly all cases, also while tension builds up and
// the residual rises; what fails is tried with damping (theta = 0.6), then with a line search, then as two halves.
// Momenta at the end are those that the impulses give, so that linear momentum is exact whatever the tolerance.

#include "dynamics/joint_island_internal.h"

#include "dynamics/integrate.h"

#define NEWTON_ITERATIONS 10
#define DAMPED_ITERATIONS 20
#define SEARCH_ITERATIONS 25
#define DAMPED_THETA 0.6
#define MOST_ITERATIONS                                                                                      \
	500 // in a step, all attempts: beyond, parts of the step that fail are not halved again

// --- saving and restoring ------------------------------------------------------------------------------------------

static void save(knJointIsland* island, int depth) {
	knIslandSnapshot* saved = island->saved[depth];
	for (int b = 0; b < island->bodyCount; ++b) {
		const knEquationBody* body = &island->bodies[b];
		saved[b] = (knIslandSnapshot){ body->x, body->v, body->L, body->q };
	}
	double* numbers = island->savedNumbers[depth];
	for (int r = 0; r < island->rowCount; ++r) {
		*numbers++ = island->rows[r].lambda;
	}
	for (int j = 0; j < island->jointCount; ++j) {
		for (int i = 0; i < KN_JOINT_MAX_Q; ++i) {
			*numbers++ = island->joints[j].q[i];
		}
	}
}

static void restore(knJointIsland* island, int depth, double share) {
	const knIslandSnapshot* saved = island->saved[depth];
	for (int b = 0; b < island->bodyCount; ++b) {
		knEquationBody* body = &island->bodies[b];
		body->x = saved[b].x;
		body->v = saved[b].v;
		body->L = saved[b].L;
		body->q = saved[b].q;
	}
	const double* numbers = island->savedNumbers[depth];
	for (int r = 0; r < island->rowCount; ++r) {
		island->rows[r].lambda = share * *numbers++;
	}
	for (int j = 0; j < island->jointCount; ++j) {
		for (int i = 0; i < KN_JOINT_MAX_Q; ++i) {
			island->joints[j].q[i] = *numbers++;
		}
	}
}

// The start of a span, at the bodies' present state.
static void begin(knJointIsland* island, const knSpan* span) {
	for (int b = 0; b < island->bodyCount; ++b) {
		knEquationBody_Begin(&island->bodies[b], span->h);
	}
	for (int j = 0; j < island->jointCount; ++j) {
		knEquationJoint_Begin(&island->joints[j], island->bodies, span);
	}
}

static void startIterate(knJointIsland* island, int depth) {
	for (int b = 0; b < island->bodyCount; ++b) {
		knEquationBody* body = &island->bodies[b];
		if (body->mass > 0.0) {
			body->u = body->v;
			body->w = knMulMV(&body->R, body->W);
		}
	}
	for (int r = 0; r < island->rowCount; ++r) {
		island->rows[r].lambda = island->cold ? 0.0 : island->savedNumbers[depth][r];
	}
}

// --- the end of a span -----------------------------------------------------------------------------------------------

// J, of motors, users' forces and kinematic bodies.
static double findWork(const knJointIsland* island, const knSpan* span) {
	double work = 0.0;
	for (int b = 0; b < island->bodyCount; ++b) {
		const knEquationBody* body = &island->bodies[b];
		work += span->h * (knDot(body->force.lin, body->u) + knDot(body->force.ang, body->w));
	}
	for (int j = 0; j < island->jointCount; ++j) {
		work += knEquationJoint_Work(&island->joints[j], island->bodies, span->h);
	}
	return work;
}

static void addImpulses(knJointIsland* island, double wholeOverPart) {
	for (int j = 0; j < island->jointCount; ++j) {
		island->impulse[j] =
			knAddT(island->impulse[j], knEquationJoint_Impulse(&island->joints[j], island->bodies));
	}
	for (int r = 0; r < island->rowCount; ++r) {
		island->last[r] = wholeOverPart * island->rows[r].lambda;
	}
}

// The end becomes the state. Momenta are those that the impulses give: the residual is taken off.
static void commit(knJointIsland* island, const knSpan* span) {
	island->report.work += findWork(island, span);
	addImpulses(island, island->h / span->h);
	for (int b = 0; b < island->bodyCount; ++b) {
		knEquationBody* body = &island->bodies[b];
		body->x = body->x1;
		body->q = knNormalizeQ(body->q1);
		if (body->mass > 0.0) {
			const double share = 1.0 / (body->mass * (1.0 + body->keepLin));
			// the centre goes with the mean of the velocities
			body->x = knMulAdd(body->x, -span->theta * span->h * share, body->restLin);
			body->v = knMulAdd(body->v1, -share, body->restLin);
			body->L = knMulAdd(body->L1, -1.0 / (1.0 + body->keepAng), body->restAng);
		}
	}
	for (int j = 0; j < island->jointCount; ++j) {
		knEquationJoint_Balance(&island->joints[j], span->arms, island->bodies);
	}
	for (int j = 0; j < island->jointCount; ++j) {
		knEquationJoint* joint = &island->joints[j];
		knEquationJoint_Settle(joint, span->h);
		for (int i = 0; i < joint->joint->nq; ++i) {
			joint->q[i] = joint->q1[i];
		}
	}
	begin(island, span);
	knJointIsland_Project(island, span->h);
}

// CROSS rows vanish at half a turn as well; such a root is refused unless the joint was so turned before.
static bool isRightRoot(const knJointIsland* island) {
	for (int j = 0; j < island->jointCount; ++j) {
		const knEquationJoint* joint = &island->joints[j];
		if (knEquationJoint_WasAligned(joint) && !knEquationJoint_IsAligned(joint, island->bodies)) {
			return false;
		}
	}
	return true;
}

static knNewtonResult attempt(knJointIsland* island, double h, int depth, double theta, int iterations,
							  bool search) {
	const knNewtonAttempt a = { .span = { h, theta, theta, false },
								.iterations = iterations,
								.lineSearch = search };
	startIterate(island, depth);
	knNewtonResult result = knJointIsland_Newton(island, &a);
	return result == KN_NEWTON_DONE && !isRightRoot(island) ? KN_NEWTON_FAILED : result;
}

static void noteRung(knJointIsland* island, knJointRung rung) {
	island->report.rung = rung > island->report.rung ? rung : island->report.rung;
}

// --- conflicts -----------------------------------------------------------------------------------------------------

// Joints that cannot all be closed: the iterate's pose has the gaps spread, and motion is what led there. It may not
// have more energy than there was, and impulses that grew without bound are forgotten.
static void acceptConflict(knJointIsland* island, double h) {
	const double before = knJointIsland_KineticEnergy(island);
	double fall = 0.0;
	for (int j = 0; j < island->jointCount; ++j) {
		const double gap = knEquationJoint_Error(&island->joints[j], h);
		if (gap > island->tolerance) {
			island->report.conflicts += 1;
			if (gap > island->report.gap || island->report.worstJoint < 0) {
				island->report.worstJoint = island->joints[j].index;
			}
		}
		island->report.gap = knMax(island->report.gap, gap);
	}
	for (int b = 0; b < island->bodyCount; ++b) {
		knEquationBody* body = &island->bodies[b];
		body->x = body->x1;
		body->q = knNormalizeQ(body->q1);
		if (body->mass > 0.0) {
			fall += body->mass * h * knDot(body->center, body->u);
			body->v = body->u;
			body->L = knMulMV(&body->R1, knMulMV(&body->inertia, knTMulMV(&body->R, body->w)));
		}
	}
	for (int r = 0; r < island->rowCount; ++r) {
		island->rows[r].lambda = island->last[r] = 0.0;
	}
	for (int j = 0; j < island->jointCount; ++j) {
		knEquationJoint* joint = &island->joints[j];
		knEquationJoint_Settle(joint, h);
		for (int i = 0; i < joint->joint->nq; ++i) {
			joint->q[i] = joint->q1[i];
		}
	}
	begin(island, &(knSpan){ h, 0.5, 0.5, false });
	const double after = knJointIsland_KineticEnergy(island), most = knMax(before + knMin(fall, 0.0), 0.0);
	const double share = after > most ? sqrt(most / after) : 1.0;
	for (int b = 0; b < island->bodyCount; ++b) {
		island->bodies[b].v = knScale(share, island->bodies[b].v);
		island->bodies[b].L = knScale(share, island->bodies[b].L);
	}
	knJointIsland_Project(island, h);
}

// --- the ladder ----------------------------------------------------------------------------------------------------

static void stepSpan(knJointIsland* island, double h, int depth) {
	const knSpan mean = { h, 0.5, 0.5, false };
	save(island, depth);
	begin(island, &mean);

	// 1 full steps
	knNewtonResult result = attempt(island, h, depth, 0.5, NEWTON_ITERATIONS, false);
	if (result == KN_NEWTON_DONE) {
		commit(island, &mean);
		return;
	}
	if (result == KN_NEWTON_CONFLICT) {
		noteRung(island, KN_RUNG_CONFLICT);
		acceptConflict(island, h);
		return;
	}
	// 2 damped
	const knSpan damped = { h, DAMPED_THETA, DAMPED_THETA, false };
	noteRung(island, KN_RUNG_DAMPED);
	if (attempt(island, h, depth, DAMPED_THETA, DAMPED_ITERATIONS, false) == KN_NEWTON_DONE) {
		commit(island, &damped);
		return;
	}
	// 3 line search
	noteRung(island, KN_RUNG_LINE_SEARCH);
	if (attempt(island, h, depth, 0.5, SEARCH_ITERATIONS, true) == KN_NEWTON_DONE) {
		commit(island, &mean);
		return;
	}
	// 4 two halves
	if (depth + 1 < KN_ISLAND_DEPTH && island->report.iterations < MOST_ITERATIONS) {
		noteRung(island, KN_RUNG_HALVED);
		restore(island, depth, 0.5);
		island->report.subSteps += 1;
		stepSpan(island, 0.5 * h, depth + 1);
		stepSpan(island, 0.5 * h, depth + 1);
		for (int r = 0; r < island->rowCount; ++r) {
			island->rows[r].lambda *= 2.0;
		}
		return;
	}
	// 5 never an unconverged step: this part of the step is left out, velocities are those that the joints allow
	noteRung(island, KN_RUNG_HELD);
	restore(island, depth, 0.0);
	begin(island, &mean);
	knJointIsland_Project(island, h);
}

const knJointIslandReport* knJointIsland_Solve(knJointIsland* island) {
	island->report = (knJointIslandReport){ .subSteps = 1, .worstJoint = -1 };
	for (int j = 0; j < island->jointCount; ++j) {
		island->impulse[j] = knZeroTwist();
	}
	stepSpan(island, island->h, 0);
	return &island->report;
}
