// Newton's method on the errors at the present poses: displacements p with
//
//   least 1/2 p.M.p     J p = -C (joints)     J p >= -room (limits)     J_n p >= -depth (points)
//
// which is the problem of velocities (mixed_velocities.h) with errors in place of speeds. Depths are measured between the places on
// the two bodies that touched when the contact was found.

#include "dynamics/mixed_positions.h"

#include "dynamics/integrate.h"
#include "dynamics/joint_pose_rows.h"

#define ROUND_LIMIT 8
#define SOFTNESS                                                                                             \
	1e-6 // of a row's own response: directions in which joints yield less (taut loops) are not chased
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

static void move(const knMixedPositions* in, const knMixedIsland* island, const knTwist* displacement) {
	for (int i = 0; i < island->bodyCount; ++i) {
		const int b = island->bodies[i];
		knTwist p = displacement[b];
		const double angle = knLength(p.ang);
		p.ang = angle > TURN_LIMIT ? knScale(TURN_LIMIT / angle, p.ang) : p.ang;
		in->pose[b] = knMovePose(in->pose[b], p, 1.0);
	}
}

bool knMixedPositions_Close(knMixedPositions* in, knMixedIsland* island, knArena* arena) {
	const int pointCount = in->contacts != NULL ? in->contacts->pointCount : 0;
	knTwist* displacement = KN_SCRATCH(arena, knTwist, in->model->bodyCount);
	knPointTask* tasks = KN_SCRATCH_ZERO(arena, knPointTask, pointCount);
	if (arena->failed) {
		return false;
	}
	for (in->rounds = 0;; ++in->rounds) {
		knMixedVelocities problem = { .islands = in->islands,
									  .model = in->model,
									  .state = in->state,
									  .pose = in->pose,
									  .contacts = in->contacts,
									  .tasks = island->pointCount > 0 ? tasks : NULL,
									  .velocity = displacement,
									  .places = true,
									  .softness = SOFTNESS,
									  .rounds = island->pointCount > 0 ? POINT_ROUNDS : 1 };
		if (!listJoints(in, island, &problem, arena)) {
			return false;
		}
		const double deepest = listPoints(in, island, tasks);
		if ((in->gap <= in->gapTolerance && deepest <= in->depthTolerance) || in->rounds == ROUND_LIMIT) {
			return true;
		}
		for (int b = 0; b < in->model->bodyCount; ++b) {
			displacement[b] = knZeroTwist();
		}
		if (!knMixedVelocities_Solve(&problem, island, arena)) {
			return !arena->failed;
		}
		move(in, island, displacement);
	}
}
