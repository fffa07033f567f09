// Newton's method on the errors at the present poses: displacements p with
//
//   least 1/2 p.M.p     J p = -C (joints)     J p >= -room (limits)     J_n p >= -depth (points)
//
// which is the problem of velocities (mixed_velocities.h) with errors in place of speeds. Depths are measured between the places on
// the two bodies that touched when the contact was found.

#include "dynamics/mixed_positions.h"

#include "dynamics/integrate.h"
#include "dynamics/joint_pose_rows.h"

#define ROUND_LIMIT 20
#define SOFTNESS 1e-6     // of a row's own response, in the first round
#define FIRMEST 1e-9      // likewise, the least
#define SOFTER 10.0       // a round, where the errors grew
#define FAST_SHARE 0.1    // of the errors' squares left by a round: the next may be firmer
#define SLOW_SHARE 0.8    // likewise: it hardly helped
#define SLOW_ROUNDS 5     // so many end it
#define POINT_ROUNDS 2    // of the method of multipliers, with points
#define TURN_LIMIT 0.2    // rad a round: beyond it rows are no longer those of the pose
#define LIMIT_MARGIN 0.05 // m or rad: limits with less room are minded

static double depthOf(const knMixedPositions* in, int k, knVec3* rA, knVec3* rB) {
	const knContactAnchor* anchor = &in->contacts->anchors[k];
	const knFrame *startA = &in->start[anchor->bodyA], *startB = &in->start[anchor->bodyB];
	const knFrame *nowA = &in->pose[anchor->bodyA], *nowB = &in->pose[anchor->bodyB];
	*rA = knRotate(nowA->q, knInvRotate(startA->q, anchor->onA));
	*rB = knRotate(nowB->q, knInvRotate(startB->q, anchor->onB));
	return knDot(in->contacts->points[k].n, knSub(knAdd(nowB->p, *rB), knAdd(nowA->p, *rA)));
}

// Rows of the joints with their errors; m, the worst. False: no memory.
static bool listJoints(knMixedPositions* in, const knMixedIsland* island, knMixedVelocities* problem,
					   knArena* arena) {
	knVelocityRow* rows = KN_SCRATCH(arena, knVelocityRow, KN_POSE_ROWS * island->jointCount);
	int* first = KN_SCRATCH(arena, int, island->jointCount + 1);
	if (arena->failed) {
		return false;
	}
	int count = 0;
	in->gap = 0.0;
	for (int n = 0; n < island->jointCount; ++n) {
		const knJoint* joint = knState_Joint(in->state, in->model, island->joints[n]);
		knPoseRow found[KN_POSE_ROWS];
		const int number = knJointPoseRows_List(joint, in->pose[joint->parent], in->pose[joint->child],
												&in->state->q[joint->qOffset], LIMIT_MARGIN, found);
		first[n] = count;
		in->gap = knMax(in->gap, knJointPoseRows_Worst(found, number));
		for (int k = 0; k < number; ++k) {
			rows[count++] = (knVelocityRow){ .row = found[k].row,
											 .wanted = -found[k].error,
											 .bounded = found[k].limit,
											 .upper = (double)INFINITY };
		}
	}
	first[island->jointCount] = count;
	problem->jointRows = rows;
	problem->jointFirst = first;
	return true;
}

// m, the deepest overlap.
static double listPoints(const knMixedPositions* in, const knMixedIsland* island, knPointTask* tasks) {
	double deepest = 0.0;
	for (int i = 0; i < island->pointCount; ++i) {
		const int k = island->points[i];
		knSweepPoint* point = &in->contacts->points[k];
		const double depth = depthOf(in, k, &point->rA, &point->rB);
		tasks[k] = (knPointTask){ .takesPart = true, .target = -depth, .radius = 0.0 };
		deepest = knMax(deepest, -depth);
	}
	return deepest;
}

typedef struct Errors {
	double deepest; // m, overlap
	double squares; // of all errors, each over its row's own response
} Errors;

static double responseOf(const knMixedPositions* in, int body, knTwist w) {
	const knModel* model = in->model;
	const knVec3 local = knInvRotate(in->pose[body].q, w.ang);
	return model->invMass[body] > 0.0 ? model->invMass[body] * knLengthSquared(w.lin) +
											knDot(local, knMulMV(&model->invInertiaLocal[body], local))
									  : 0.0;
}

static knTwist twistOf(const double* six) {
	return knMakeTwist(knV3(six[0], six[1], six[2]), knV3(six[3], six[4], six[5]));
}

static void addSquare(Errors* errors, double error, double response) {
	errors->squares += response > 0.0 ? error * error / response : 0.0;
}

// False: no memory.
static bool listErrors(knMixedPositions* in, const knMixedIsland* island, knMixedVelocities* problem,
					   Errors* errors, knArena* arena) {
	*errors = (Errors){ 0 };
	if (!listJoints(in, island, problem, arena)) {
		return false;
	}
	errors->deepest = listPoints(in, island, problem->tasks);
	for (int n = 0; n < island->jointCount; ++n) {
		const knJoint* joint = knState_Joint(in->state, in->model, island->joints[n]);
		for (int k = problem->jointFirst[n]; k < problem->jointFirst[n + 1]; ++k) {
			const knVelocityRow* row = &problem->jointRows[k];
			addSquare(errors, row->bounded ? knMax(row->wanted, 0.0) : row->wanted,
					  responseOf(in, joint->parent, twistOf(row->row.a)) +
						  responseOf(in, joint->child, twistOf(row->row.b)));
		}
	}
	for (int i = 0; i < island->pointCount; ++i) {
		const knContactAnchor* anchor = &in->contacts->anchors[island->points[i]];
		const knSweepPoint* point = &in->contacts->points[island->points[i]];
		const knTwist a = knMakeTwist(knCross(point->rA, point->n), point->n);
		const knTwist b = knMakeTwist(knCross(point->rB, point->n), point->n);
		addSquare(errors, knMax(problem->tasks[island->points[i]].target, 0.0),
				  responseOf(in, anchor->bodyA, a) + responseOf(in, anchor->bodyB, b));
	}
	return true;
}

static void move(const knMixedPositions* in, const knMixedIsland* island, const knTwist* displacement) {
	for (int i = 0; i < island->bodyCount; ++i) {
		const int b = island->bodies[i];
		knTwist p = displacement[b];
		const double angle = knLength(p.ang);
		p.ang = angle > TURN_LIMIT ? knScale(TURN_LIMIT / angle, p.ang) : p.ang;
		in->pose[b] = knMovePose(in->pose[b], p, 1.0);
	}
}

// Levenberg's and Marquardt's method on the sum of squares: rows become softer where a round has made it larger, as it does where
// the derivative of the gaps nearly loses its rank (taut loops), and firmer where it has become much smaller.
typedef struct Trust {
	double softness; // of a locked row's own response
	double best;     // of the sum at the best poses
	double gap;      // m, there
	knFrame* pose;   // [island bodies] these
	int slow;        // rounds that hardly helped, one after the other
} Trust;

static void copyPoses(const knMixedPositions* in, const knMixedIsland* island, knFrame* store, bool back) {
	for (int i = 0; i < island->bodyCount; ++i) {
		knFrame* pose = &in->pose[island->bodies[i]];
		*(back ? pose : &store[i]) = *(back ? &store[i] : pose);
	}
}

static void judge(const knMixedPositions* in, const knMixedIsland* island, Trust* trust, double squares) {
	if (!(squares < trust->best)) {
		copyPoses(in, island, trust->pose, true);
		trust->softness *= SOFTER;
		trust->slow += 1;
		return;
	}
	const double share = squares / trust->best;
	trust->slow = share > SLOW_SHARE ? trust->slow + 1 : 0;
	trust->softness = share < FAST_SHARE ? knMax(trust->softness / SOFTER, FIRMEST) : trust->softness;
	trust->best = squares;
	trust->gap = in->gap;
	copyPoses(in, island, trust->pose, false);
}

bool knMixedPositions_Close(knMixedPositions* in, knMixedIsland* island, knArena* arena) {
	const int pointCount = in->contacts != NULL ? in->contacts->pointCount : 0;
	knTwist* displacement = KN_SCRATCH(arena, knTwist, in->model->bodyCount);
	knPointTask* tasks = KN_SCRATCH_ZERO(arena, knPointTask, pointCount);
	Trust trust = { .softness = SOFTNESS,
					.best = (double)INFINITY,
					.pose = KN_SCRATCH(arena, knFrame, island->bodyCount) };
	if (arena->failed) {
		return false;
	}
	for (in->rounds = 0;; ++in->rounds) {
		Errors errors;
		knMixedVelocities problem = { .islands = in->islands,
									  .model = in->model,
									  .state = in->state,
									  .pose = in->pose,
									  .contacts = in->contacts,
									  .tasks = island->pointCount > 0 ? tasks : NULL,
									  .velocity = displacement,
									  .places = true,
									  .rounds = island->pointCount > 0 ? POINT_ROUNDS : 1 };
		if (!listErrors(in, island, &problem, &errors, arena)) {
			return false;
		}
		const bool closed = in->gap <= in->gapTolerance && errors.deepest <= in->depthTolerance;
		const bool better = errors.squares < trust.best;
		judge(in, island, &trust, errors.squares);
		if (closed || in->rounds == ROUND_LIMIT || trust.slow == SLOW_ROUNDS) {
			in->gap = trust.gap;
			return true;
		}
		if (!better && !listErrors(in, island, &problem, &errors, arena)) {
			return false;
		}
		for (int b = 0; b < in->model->bodyCount; ++b) {
			displacement[b] = knZeroTwist();
		}
		problem.softness = trust.softness;
		if (!knMixedVelocities_Solve(&problem, island, arena)) {
			return !arena->failed;
		}
		move(in, island, displacement);
	}
}
