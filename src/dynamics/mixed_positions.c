// Newton's method on the errors at the present poses: displacements p with
//
//   least 1/2 p.(M + K).p     J p = -C (joints)     J p >= -room (limits)     J_n p >= -depth (points)
//
// which is the problem of velocities (mixed_velocities.h) with errors in place of speeds. Depths are measured between the places on
// the two bodies that touched when the contact was found. K is the stiffness of the loads that the joints have carried in the step:
// by masses alone a gap in a taut rope of light links under heavy loads is closed by links that turn aside, whose share in the gap is
// a square, and not by the loads.

#include "dynamics/mixed_positions.h"

#include "dynamics/integrate.h"
#include "dynamics/joint_pose_rows.h"

#define ROUND_LIMIT 40
#define SOFTNESS 1e-6     // of a row's own response, in the first round
#define FIRMEST 1e-9      // likewise, the least
#define FIRMER 0.01       // of the softness, after a round that does as its rows foretell
#define WARY 0.3          // likewise, once it had to grow
#define SOFTER 10.0       // likewise, after one that does not; twice as much after each further one
#define GOOD_SHARE 0.75   // of what is foretold
#define POOR_SHARE 0.25   // likewise
#define CURVED_SHARE 1e-2 // of the errors' squares, beyond what is foretold: rows bend
#define CURVED_MOST 0.75  // of a displacement: more than this by bending is not one of second order
#define SLOW_SHARE 0.8    // of the errors' squares: it hardly helped
#define SLOW_ROUNDS 10    // so many end it
#define FINE_GAP 1e-8     // m: less is not worth slow rounds
#define POINT_ROUNDS 2    // of the method of multipliers, with points
#define TURN_LIMIT 0.2    // rad a round: beyond it rows are no longer those of the pose
#define LIMIT_MARGIN 0.05 // m or rad: limits with less room are minded

// The errors at the island's poses, with the rows of the joints.
typedef struct Look {
	knVelocityRow* rows;
	int* first;
	double* depth;  // [island points] m, overlap is positive
	double gap;     // m, worst of the joints
	double deepest; // m
	double squares; // of all errors, each over its row's own response
} Look;

typedef struct Closing {
	knMixedPositions* in;
	knMixedIsland* island;
	knArena* arena;
	knPointTask* tasks;    // [contacts->pointCount]
	knTwist* displacement; // [bodyCount]
	knTwist* first;        // [island bodies] of a round, without bending
	knFrame* pose;         // [island bodies] the best
	Look at, trial;        // there, and after the round at hand
	double softness;       // of a locked row's own response
	double change;         // of it, the next time it must grow
	bool grown;            // it had to
} Closing;

static bool makeLook(const Closing* c, Look* look) {
	look->rows = KN_SCRATCH(c->arena, knVelocityRow, KN_POSE_ROWS * c->island->jointCount);
	look->first = KN_SCRATCH(c->arena, int, c->island->jointCount + 1);
	look->depth = KN_SCRATCH(c->arena, double, c->island->pointCount);
	return !c->arena->failed;
}

static knTwist twistOf(const double* six) {
	return knMakeTwist(knV3(six[0], six[1], six[2]), knV3(six[3], six[4], six[5]));
}

static double responseOf(const knMixedPositions* in, int body, knTwist w) {
	const knModel* model = in->model;
	const knVec3 local = knInvRotate(in->pose[body].q, w.ang);
	return model->invMass[body] > 0.0 ? model->invMass[body] * knLengthSquared(w.lin) +
											knDot(local, knMulMV(&model->invInertiaLocal[body], local))
									  : 0.0;
}

static double squareOf(double error, double response) {
	return response > 0.0 ? error * error / response : 0.0;
}

static double rowResponse(const knMixedPositions* in, const knJoint* joint, const knVelocityRow* row) {
	return responseOf(in, joint->parent, twistOf(row->row.a)) +
		   responseOf(in, joint->child, twistOf(row->row.b));
}

// What a row misses, of an error -wanted: limits only what is beyond.
static double missOf(const knVelocityRow* row, double wanted) {
	return row->bounded ? knMax(wanted, 0.0) : wanted;
}

static void lookAtJoints(const Closing* c, Look* look) {
	const knMixedPositions* in = c->in;
	int count = 0;
	look->gap = 0.0;
	for (int n = 0; n < c->island->jointCount; ++n) {
		const knJoint* joint = knState_Joint(in->state, in->model, c->island->joints[n]);
		knPoseRow found[KN_POSE_ROWS];
		const int number = knJointPoseRows_List(joint, in->pose[joint->parent], in->pose[joint->child],
												&in->state->q[joint->qOffset], LIMIT_MARGIN, found);
		look->first[n] = count;
		look->gap = knMax(look->gap, knJointPoseRows_Worst(found, number));
		for (int k = 0; k < number; ++k) {
			knVelocityRow* row = &look->rows[count++];
			*row = (knVelocityRow){ .row = found[k].row,
									.wanted = -found[k].error,
									.bounded = found[k].limit,
									.upper = (double)INFINITY };
			look->squares += squareOf(missOf(row, row->wanted), rowResponse(in, joint, row));
		}
	}
	look->first[c->island->jointCount] = count;
}

// The arms at the present poses, world axes.
static double depthOf(const knMixedPositions* in, int k, knVec3* rA, knVec3* rB) {
	const knContactAnchor* anchor = &in->contacts->anchors[k];
	const knFrame *startA = &in->start[anchor->bodyA], *startB = &in->start[anchor->bodyB];
	const knFrame *nowA = &in->pose[anchor->bodyA], *nowB = &in->pose[anchor->bodyB];
	*rA = knRotate(nowA->q, knInvRotate(startA->q, anchor->onA));
	*rB = knRotate(nowB->q, knInvRotate(startB->q, anchor->onB));
	return -knDot(in->contacts->points[k].n, knSub(knAdd(nowB->p, *rB), knAdd(nowA->p, *rA)));
}

static double pointResponse(const knMixedPositions* in, int k, knVec3 rA, knVec3 rB) {
	const knContactAnchor* anchor = &in->contacts->anchors[k];
	const knVec3 n = in->contacts->points[k].n;
	return responseOf(in, anchor->bodyA, knMakeTwist(knCross(rA, n), n)) +
		   responseOf(in, anchor->bodyB, knMakeTwist(knCross(rB, n), n));
}

static void look(const Closing* c, Look* to) {
	to->squares = to->deepest = 0.0;
	lookAtJoints(c, to);
	for (int i = 0; i < c->island->pointCount; ++i) {
		const int k = c->island->points[i];
		knVec3 rA, rB;
		to->depth[i] = depthOf(c->in, k, &rA, &rB);
		to->deepest = knMax(to->deepest, to->depth[i]);
		to->squares += squareOf(knMax(to->depth[i], 0.0), pointResponse(c->in, k, rA, rB));
	}
}

// --- a round ---------------------------------------------------------------------------------------------

// Least displacements for the rows at c->at; their errors and depths may be others than those there. False: not solved.
static bool solve(Closing* c) {
	knMixedPositions* in = c->in;
	const int pointCount = c->island->pointCount;
	for (int i = 0; i < pointCount; ++i) {
		const int k = c->island->points[i];
		knSweepPoint* point = &in->contacts->points[k];
		(void)depthOf(in, k, &point->rA, &point->rB);
		c->tasks[k] = (knPointTask){ .takesPart = true, .target = c->at.depth[i] };
	}
	for (int b = 0; b < in->model->bodyCount; ++b) {
		c->displacement[b] = knZeroTwist();
	}
	knMixedVelocities problem = { .islands = in->islands,
								  .model = in->model,
								  .state = in->state,
								  .pose = in->pose,
								  .jointRows = c->at.rows,
								  .jointFirst = c->at.first,
								  .contacts = in->contacts,
								  .tasks = pointCount > 0 ? c->tasks : NULL,
								  .velocity = c->displacement,
								  .softness = c->softness,
								  .stiffness = in->stiffness,
								  .places = true,
								  .rounds = pointCount > 0 ? POINT_ROUNDS : 1 };
	return knMixedVelocities_Solve(&problem, c->island, c->arena);
}

// Moves by the displacements, all of them less if one turns by too much.
static void move(const Closing* c) {
	double angle = 0.0;
	for (int i = 0; i < c->island->bodyCount; ++i) {
		angle = knMax(angle, knLength(c->displacement[c->island->bodies[i]].ang));
	}
	const double share = angle > TURN_LIMIT ? TURN_LIMIT / angle : 1.0;
	for (int i = 0; i < c->island->bodyCount; ++i) {
		const int b = c->island->bodies[i];
		c->in->pose[b] = knMovePose(c->pose[i], c->displacement[b], share);
	}
}

static void goBack(const Closing* c) {
	for (int i = 0; i < c->island->bodyCount; ++i) {
		c->in->pose[c->island->bodies[i]] = c->pose[i];
	}
}

static void keep(Closing* c) {
	const Look best = c->trial;
	c->trial = c->at;
	c->at = best;
	for (int i = 0; i < c->island->bodyCount; ++i) {
		c->pose[i] = c->in->pose[c->island->bodies[i]];
	}
}

static double changeOf(const Closing* c, const knJoint* joint, const knVelocityRow* row) {
	return knDotT(twistOf(row->row.a), c->displacement[joint->parent]) +
		   knDotT(twistOf(row->row.b), c->displacement[joint->child]);
}

// The errors' squares that the rows foretell after the displacements. Points count as met.
static double foretell(const Closing* c) {
	double squares = 0.0;
	for (int n = 0; n < c->island->jointCount; ++n) {
		const knJoint* joint = knState_Joint(c->in->state, c->in->model, c->island->joints[n]);
		for (int k = c->at.first[n]; k < c->at.first[n + 1]; ++k) {
			const knVelocityRow* row = &c->at.rows[k];
			const double left = missOf(row, row->wanted - changeOf(c, joint, row));
			squares += squareOf(left, rowResponse(c->in, joint, row));
		}
	}
	return squares;
}

static double sizeOf(const Closing* c) {
	double sum = 0.0;
	for (int i = 0; i < c->island->bodyCount; ++i) {
		const int b = c->island->bodies[i];
		const knTwist p = c->displacement[b];
		const knVec3 w = knInvRotate(c->pose[i].q, p.ang);
		sum += c->in->model->mass[b] * knLengthSquared(p.lin) +
			   knDot(w, knMulMV(&c->in->model->inertiaLocal[b], w));
	}
	return sum;
}

// Second order: what the errors after the first displacements differ by from what the rows foretold is closed as well, by the same
// rows. Goes back to where the round has begun. False: nothing of use.
static bool bend(Closing* c) {
	const double size = sizeOf(c);
	for (int n = 0; n < c->island->jointCount; ++n) {
		const knJoint* joint = knState_Joint(c->in->state, c->in->model, c->island->joints[n]);
		const int number = c->at.first[n + 1] - c->at.first[n];
		if (number != c->trial.first[n + 1] - c->trial.first[n]) {
			goBack(c);
			return false; // a limit has come or gone
		}
		for (int i = 0; i < number; ++i) {
			knVelocityRow* row = &c->at.rows[c->at.first[n] + i];
			const double wanted = c->trial.rows[c->trial.first[n] + i].wanted;
			row->wanted = row->bounded ? wanted : wanted - (row->wanted - changeOf(c, joint, row));
		}
	}
	for (int i = 0; i < c->island->pointCount; ++i) {
		c->at.depth[i] = c->trial.depth[i];
	}
	for (int i = 0; i < c->island->bodyCount; ++i) {
		c->first[i] = c->displacement[c->island->bodies[i]];
	}
	goBack(c);
	const bool helps = solve(c) && sizeOf(c) <= CURVED_MOST * CURVED_MOST * size;
	for (int i = 0; i < c->island->bodyCount; ++i) {
		knTwist* p = &c->displacement[c->island->bodies[i]];
		*p = helps ? knAddT(*p, c->first[i]) : c->first[i];
	}
	return helps;
}

// Levenberg's and Marquardt's method on the sum of squares: rows become softer where a round does not do what they foretell, as
// where the derivative of the gaps nearly loses its rank (taut loops), and firmer where it does. False: not solved.
static bool doRound(Closing* c) {
	const double before = c->at.squares;
	if (!solve(c)) {
		return false;
	}
	const double left = foretell(c), foretold = before - left;
	move(c);
	look(c, &c->trial);
	if (c->trial.squares > left + CURVED_SHARE * before) {
		(void)bend(c);
		move(c);
		look(c, &c->trial);
	}
	const double done = before - c->trial.squares;
	if (!(done > 0.0)) {
		goBack(c);
		look(c, &c->at);
	} else {
		keep(c);
	}
	if (done > GOOD_SHARE * foretold) {
		c->softness = knMax((c->grown ? WARY : FIRMER) * c->softness, FIRMEST);
		c->change = SOFTER;
	} else if (!(done > POOR_SHARE * foretold)) {
		c->softness *= c->change;
		c->grown = true;
		c->change *= 2.0;
	}
	return true;
}

bool knMixedPositions_Close(knMixedPositions* in, knMixedIsland* island, knArena* arena) {
	Closing c = { .in = in, .island = island, .arena = arena, .softness = SOFTNESS, .change = SOFTER };
	c.displacement = KN_SCRATCH(arena, knTwist, in->model->bodyCount);
	c.tasks = KN_SCRATCH_ZERO(arena, knPointTask, in->contacts != NULL ? in->contacts->pointCount : 0);
	c.first = KN_SCRATCH(arena, knTwist, island->bodyCount);
	c.pose = KN_SCRATCH(arena, knFrame, island->bodyCount);
	if (!makeLook(&c, &c.at) || !makeLook(&c, &c.trial)) {
		return false;
	}
	look(&c, &c.trial);
	keep(&c);
	int slow = 0;
	for (in->rounds = 0; in->rounds < ROUND_LIMIT && slow < SLOW_ROUNDS; ++in->rounds) {
		const double before = c.at.squares;
		in->gap = c.at.gap;
		if (c.at.gap <= in->gapTolerance && c.at.deepest <= in->depthTolerance) {
			break;
		}
		if (!doRound(&c)) {
			break;
		}
		slow = c.at.squares > SLOW_SHARE * before ? slow + 1 : 0;
		slow = slow > 0 && c.at.gap <= FINE_GAP ? SLOW_ROUNDS : slow;
	}
	in->gap = c.at.gap;
	return !arena->failed;
}
