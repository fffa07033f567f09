// Rounds of the method of multipliers over velocities:
//
//   1/2 d.M.d + sum psi(J (v + d) - target)      then v += d, lambda += x
//
// A round's softness leaves a part e of each row's error; two or three rounds leave none. Discs of landing contacts take their
// radius from the normal impulse of the round before. What rounds have not made better, or only with more energy, is left
// as it was.

#include "dynamics/mixed_velocities.h"

#include <string.h>

#include "dynamics/joint_pose_rows.h"

#define ROUNDS 4
#define LOCKED_SOFTNESS 1e-8 // of a row's own response
#define POINT_SOFTNESS 1e-3  // likewise, in the first round
#define RATE_TOLERANCE 1e-9  // m/s, what may be left of a locked row
#define RATE_SHARE 1e-5      // of the worst rate at the start, likewise
#define BOUND_FACTOR 1e4     // rows with bounds may be left with so many times as much
#define ITERATION_LIMIT 40   // of Newton's method in a round
#define SETTLE_PASSES 4      // in each of which rows that pass their bounds are let go
#define SETTLE_ROUNDS 3      // on the factorisation of a pass
#define DISC_TOLERANCE 1e-3  // of its radius

// What a row of the problem belongs to.
typedef struct Owner {
	int point;      // -1: a joint's
	int direction;  // 0 n, 1 t1, 2 t2
	double target;  // m/s
	double carried; // N s, before the first round
} Owner;

typedef struct Solve {
	knMixedVelocities* in;
	knMixedIsland* island;
	Owner* owners; // [rows]
	int rowCount;
	knTwist* before;  // [island bodies]
	knMat33* inverse; // [bodyCount] of the island's bodies' inertias, world axes
} Solve;

static void setMasses(const Solve* solve) {
	const knModel* model = solve->in->model;
	double* H = solve->island->problem.H;
	for (int i = 0; i < solve->island->bodyCount; ++i) {
		const int b = solve->island->bodies[i];
		double* block = H + 36 * (ptrdiff_t)solve->in->islands->pivotOf[b];
		knMat33 I = knRotateTensor(solve->in->pose[b].q, &model->inertiaLocal[b]);
		I = solve->in->stiffness != NULL ? knAddMM(&I, &solve->in->stiffness[b]) : I;
		solve->inverse[b] = knInverse33(&I);
		for (int c = 0; c < 36; ++c) {
			block[c] = 0.0;
		}
		for (int c = 0; c < 3; ++c) {
			const knVec3 column = c == 0 ? I.cx : c == 1 ? I.cy : I.cz;
			block[c] = column.x;
			block[6 + c] = column.y;
			block[12 + c] = column.z;
			block[21 + 7 * c] = model->mass[b];
		}
	}
}

static knTwist twistOf(const double* six) {
	return knMakeTwist(knV3(six[0], six[1], six[2]), knV3(six[3], six[4], six[5]));
}

// m/s per N s: what a unit impulse of a row changes its own rate by.
static double responseOf(const Solve* solve, int body, const double* wrench) {
	const knModel* model = solve->in->model;
	if (model->invMass[body] <= 0.0) {
		return 0.0;
	}
	const knTwist w = twistOf(wrench);
	return model->invMass[body] * knLengthSquared(w.lin) +
		   knDot(w.ang, knMulMV(&solve->inverse[body], w.ang));
}

static void setSix(double* to, knTwist from) {
	to[0] = from.ang.x;
	to[1] = from.ang.y;
	to[2] = from.ang.z;
	to[3] = from.lin.x;
	to[4] = from.lin.y;
	to[5] = from.lin.z;
}

// The change of a body's velocity by an impulse.
static knTwist answerOf(const Solve* solve, int body, knTwist impulse) {
	return knMakeTwist(knMulMV(&solve->inverse[body], impulse.ang),
					   knScale(solve->in->model->invMass[body], impulse.lin));
}

static double rateOf(const Solve* solve, int a, int b, const knBodyRow* row) {
	const knTwist* v = solve->in->velocity;
	return knDotT(twistOf(row->a), v[a]) + knDotT(twistOf(row->b), v[b]);
}

static knIslandRow* addRow(Solve* solve, knIslandEntry* entry, int a, int b, const knBodyRow* row,
						   double softness, Owner owner) {
	const int at = entry->first + entry->count++;
	knIslandRow* to = &solve->island->problem.rows[at];
	*to = (knIslandRow){ .row = *row, .rate = rateOf(solve, a, b, row) - owner.target };
	to->soft = softness * (responseOf(solve, a, row->a) + responseOf(solve, b, row->b));
	solve->owners[at] = owner;
	if (!(to->soft > 0.0)) {
		entry->count -= 1; // nothing can move along it
		return NULL;
	}
	return to;
}

bool knMixedVelocities_ListJoints(knMixedVelocities* in, const knMixedIsland* island, double h,
								  knArena* arena) {
	knVelocityRow* rows = KN_SCRATCH(arena, knVelocityRow, KN_POSE_ROWS * island->jointCount);
	int* first = KN_SCRATCH(arena, int, island->jointCount + 1);
	if (arena->failed) {
		return false;
	}
	int count = 0;
	for (int n = 0; n < island->jointCount; ++n) {
		const knJoint* joint = knState_Joint(in->state, in->model, island->joints[n]);
		const int a = joint->parent, b = joint->child;
		knTwist V = knJoint_RelativeTwist(joint, in->pose[a], in->velocity[a], in->pose[b], in->velocity[b]);
		const double margin = 2.0 * h * (knLength(V.ang) + knLength(V.lin));
		knPoseRow found[KN_POSE_ROWS];
		const int number = knJointPoseRows_List(joint, in->pose[a], in->pose[b],
												&in->state->q[joint->qOffset], margin, found);
		first[n] = count;
		for (int k = 0; k < number; ++k) {
			const double room = found[k].limit ? knMax(found[k].error, 0.0) : 0.0;
			rows[count++] = (knVelocityRow){
				.row = found[k].row, .wanted = -room / h, .bounded = found[k].limit, .upper = (double)INFINITY
			};
		}
	}
	first[island->jointCount] = count;
	in->jointRows = rows;
	in->jointFirst = first;
	return true;
}

static void addJoint(Solve* solve, knIslandEntry* entry, int n) {
	const knMixedVelocities* in = solve->in;
	const knJoint* joint = knState_Joint(in->state, in->model, solve->island->joints[n]);
	for (int k = in->jointFirst[n]; k < in->jointFirst[n + 1]; ++k) {
		const knVelocityRow* from = &in->jointRows[k];
		knIslandRow* row = addRow(solve, entry, joint->parent, joint->child, &from->row,
								  in->softness > 0.0 ? in->softness : LOCKED_SOFTNESS,
								  (Owner){ .point = -1, .target = from->wanted });
		if (row == NULL) {
			continue;
		}
		row->soft = knMax(row->soft, from->softness);
		if (from->bounded) {
			row->soft =
				knMax(from->softness,
					  POINT_SOFTNESS / (in->softness > 0.0 ? in->softness : LOCKED_SOFTNESS) * row->soft);
			row->law = KN_LAW_RANGE;
			row->lo = from->lower;
			row->hi = from->upper;
		}
	}
}

static void setPointRow(knBodyRow* row, const knSweepPoint* point, knVec3 along) {
	knVec3 a = knCross(point->rA, along), b = knCross(point->rB, along);
	const double onA[6] = { -a.x, -a.y, -a.z, -along.x, -along.y, -along.z };
	const double onB[6] = { b.x, b.y, b.z, along.x, along.y, along.z };
	for (int c = 0; c < 6; ++c) {
		row->a[c] = onA[c];
		row->b[c] = onB[c];
	}
}

static void addPoint(Solve* solve, knIslandEntry* entry, int k) {
	const knContactAnchor* anchor = &solve->in->contacts->anchors[k];
	const knSweepPoint* point = &solve->in->contacts->points[k];
	const knPointTask* task = &solve->in->tasks[k];
	const knVec3 along[3] = { point->n, point->t1, point->t2 };
	knIslandRow* rows[3];
	const bool rubs = point->mu > 0.0 && task->radius != 0.0;
	for (int d = 0; d < (rubs ? 3 : 1); ++d) {
		knBodyRow row;
		setPointRow(&row, point, along[d]);
		rows[d] = addRow(solve, entry, anchor->bodyA, anchor->bodyB, &row, POINT_SOFTNESS,
						 (Owner){ .point = k, .direction = d, .target = d == 0 ? task->target : 0.0 });
		if (rows[d] == NULL) {
			return;
		}
		rows[d]->law = d == 0 ? KN_LAW_RANGE : KN_LAW_DISC;
	}
	rows[0]->lo = task->least;
	rows[0]->hi = (double)INFINITY;
	if (rubs) {
		rows[1]->soft = rows[2]->soft = knMin(rows[1]->soft, rows[2]->soft);
		rows[1]->lambda = task->carried[0];
		rows[2]->lambda = task->carried[1];
		solve->owners[rows[1] - solve->island->problem.rows].carried = task->carried[0];
		solve->owners[rows[2] - solve->island->problem.rows].carried = task->carried[1];
		rows[1]->hi = knMax(task->radius, 0.0);
	}
}

static void listRows(Solve* solve) {
	knMixedIsland* island = solve->island;
	for (int n = 0; n < island->jointCount + island->pointCount; ++n) {
		knIslandEntry* entry = &island->problem.entries[n];
		entry->first = island->firstRow[n];
		entry->count = 0;
		if (n < island->jointCount) {
			addJoint(solve, entry, n);
		} else if (solve->in->tasks != NULL &&
				   solve->in->tasks[island->points[n - island->jointCount]].takesPart) {
			addPoint(solve, entry, island->points[n - island->jointCount]);
		}
	}
}

// m/s, the worst that is left of a locked row; of others a share.
static double worstRate(const Solve* solve) {
	const knIslandProblem* problem = &solve->island->problem;
	double worst = 0.0;
	for (int n = 0; n < problem->entryCount; ++n) {
		const knIslandEntry* entry = &problem->entries[n];
		for (int k = entry->first; k < entry->first + entry->count; ++k) {
			const knIslandRow* row = &problem->rows[k];
			if (row->law == KN_LAW_RANGE) {
				worst = knMax(worst, (row->lambda > row->lo ? knAbs(row->rate) : -row->rate) / BOUND_FACTOR);
			} else if (row->law == KN_LAW_FREE) {
				worst = knMax(worst, knAbs(row->rate));
			} else {
				double l = sqrt(row->lambda * row->lambda + row[1].lambda * row[1].lambda);
				double slip = sqrt(row->rate * row->rate + row[1].rate * row[1].rate);
				worst = knMax(worst, l < (1.0 - 1e-6) * row->hi ? slip / BOUND_FACTOR : 0.0);
				++k;
			}
		}
	}
	return worst;
}

// Takes a round's result into velocities and impulses, and reads the rates anew. Velocities follow from the impulses, so that
// momenta are those of the impulses to round-off.
static void takeRound(Solve* solve) {
	knMixedVelocities* in = solve->in;
	knIslandProblem* problem = &solve->island->problem;
	double* d = problem->d;
	memset(d, 0, sizeof(double) * 6 * (size_t)problem->matrix.count);
	for (int n = 0; n < problem->entryCount; ++n) {
		const knIslandEntry* entry = &problem->entries[n];
		for (int k = entry->first; k < entry->first + entry->count; ++k) {
			knIslandRow_Push(entry, &problem->rows[k].row, problem->rows[k].change, d);
		}
	}
	for (int i = 0; i < solve->island->bodyCount; ++i) {
		const int b = solve->island->bodies[i];
		double* six = knMixedIslands_At(in->islands, d, b);
		const knTwist change = answerOf(solve, b, twistOf(six));
		in->velocity[b] = knAddT(in->velocity[b], change);
		setSix(six, change);
	}
	for (int n = 0; n < problem->entryCount; ++n) {
		const knIslandEntry* entry = &problem->entries[n];
		for (int k = entry->first; k < entry->first + entry->count; ++k) {
			knIslandRow* row = &problem->rows[k];
			const Owner* owner = &solve->owners[k];
			row->lambda += row->change;
			row->rate += knIslandRow_Rate(entry, &row->row, d);
			if (owner->point >= 0) {
				in->tasks[owner->point].impulse[owner->direction] += row->change;
				if (owner->direction == 1 && in->tasks[owner->point].radius < 0.0) {
					const double mu = in->contacts->points[owner->point].mu;
					row->hi = mu * knMax(problem->rows[k - 1].lambda, 0.0);
				}
			}
		}
	}
}

// J, of the island's bodies.
static double kineticEnergy(const Solve* solve) {
	const knModel* model = solve->in->model;
	double sum = 0.0;
	for (int i = 0; i < solve->island->bodyCount; ++i) {
		const int b = solve->island->bodies[i];
		const knTwist v = solve->in->velocity[b];
		knVec3 w = knInvRotate(solve->in->pose[b].q, v.ang);
		sum +=
			0.5 * (model->mass[b] * knLengthSquared(v.lin) + knDot(w, knMulMV(&model->inertiaLocal[b], w)));
	}
	return sum;
}

static void restore(const Solve* solve) {
	for (int i = 0; i < solve->island->bodyCount; ++i) {
		solve->in->velocity[solve->island->bodies[i]] = solve->before[i];
	}
	for (int i = 0; i < solve->island->pointCount && solve->in->tasks != NULL; ++i) {
		knPointTask* task = &solve->in->tasks[solve->island->points[i]];
		task->impulse[0] = task->impulse[1] = task->impulse[2] = 0.0;
	}
}

// J, that kinematic bodies put in by the impulses of the rows.
static double kinematicWork(const Solve* solve) {
	const knMixedVelocities* in = solve->in;
	const knModel* model = in->model;
	double work = 0.0;
	for (int n = 0; n < solve->island->jointCount + solve->island->pointCount; ++n) {
		const knIslandEntry* entry = &solve->island->problem.entries[n];
		int a, b;
		if (n < solve->island->jointCount) {
			const knJoint* joint = knState_Joint(in->state, model, solve->island->joints[n]);
			a = joint->parent;
			b = joint->child;
		} else {
			const knContactAnchor* anchor =
				&in->contacts->anchors[solve->island->points[n - solve->island->jointCount]];
			a = anchor->bodyA;
			b = anchor->bodyB;
		}
		for (int k = entry->first; k < entry->first + entry->count; ++k) {
			const knIslandRow* row = &solve->island->problem.rows[k];
			const double given = row->lambda - solve->owners[k].carried;
			work -= model->bodyKind[a] == KN_BODY_KINEMATIC
						? given * knDotT(twistOf(row->row.a), in->velocity[a])
						: 0.0;
			work -= model->bodyKind[b] == KN_BODY_KINEMATIC
						? given * knDotT(twistOf(row->row.b), in->velocity[b])
						: 0.0;
		}
	}
	return work;
}

// False: no memory.
static bool begin(Solve* solve, knArena* arena) {
	const knMixedIsland* island = solve->island;
	knIslandProblem* problem = &solve->island->problem;
	const int entries = island->jointCount + island->pointCount;
	solve->rowCount = entries > 0 ? island->firstRow[entries - 1] + KN_POSE_ROWS : 0;
	solve->owners = KN_SCRATCH(arena, Owner, solve->rowCount);
	solve->before = KN_SCRATCH(arena, knTwist, island->bodyCount);
	solve->inverse = KN_SCRATCH(arena, knMat33, solve->in->model->bodyCount);
	if (arena->failed) {
		return false;
	}
	for (int i = 0; i < island->bodyCount; ++i) {
		solve->before[i] = solve->in->velocity[island->bodies[i]];
	}
	setMasses(solve);
	problem->iterationLimit = ITERATION_LIMIT;
	problem->discTolerance = DISC_TOLERANCE;
	problem->nearEnough = 0.0;
	problem->discPatience = ITERATION_LIMIT;
	problem->secantIterations = 2;
	problem->refinements = 0;
	problem->kept = false;
	memset(problem->gradient, 0, sizeof(double) * 6 * (size_t)problem->matrix.count);
	return true;
}

bool knMixedVelocities_Solve(knMixedVelocities* in, knMixedIsland* island, knArena* arena) {
	knIslandProblem* problem = &island->problem;
	Solve solve = { .in = in, .island = island };
	if (!begin(&solve, arena)) {
		return false;
	}
	listRows(&solve);
	const double energy = kineticEnergy(&solve), first = worstRate(&solve);
	const double tolerance = knMax(RATE_TOLERANCE, RATE_SHARE * first);
	bool solved = !in->places && first <= RATE_TOLERANCE;
	const int most = in->rounds > 0 ? in->rounds : ROUNDS;
	for (int round = 0; round < most && !solved; ++round) {
		problem->kept = round > 0;
		if (knIslandProblem_Solve(problem) == KN_ISLAND_SINGULAR) {
			restore(&solve);
			return false;
		}
		takeRound(&solve);
		in->factorizations += problem->factorizations;
		solved = worstRate(&solve) <= tolerance;
		problem->secantIterations = 0;
	}
	const double after = kineticEnergy(&solve);
	if (!solved && !in->places && !(worstRate(&solve) < first && after <= energy)) {
		restore(&solve);
		return true;
	}
	in->taken += energy - after;
	in->work += kinematicWork(&solve);
	return true;
}

// --- settling --------------------------------------------------------------------------------------------

// What a row does in a pass.
typedef struct Hold {
	bool given;    // its impulse stays `at`; else its rate is held
	double at;     // N s
	knRowLaw law;  // that it has
	double lo, hi; // N s, its bounds
} Hold;

static void holdRows(const Solve* solve, Hold* holds) {
	const knIslandProblem* problem = &solve->island->problem;
	for (int n = 0; n < problem->entryCount; ++n) {
		const knIslandEntry* entry = &problem->entries[n];
		for (int k = entry->first; k < entry->first + entry->count; ++k) {
			knIslandRow* row = &problem->rows[k];
			holds[k].law = row->law;
			holds[k].lo = row->lo;
			holds[k].hi = row->hi;
			row->law = KN_LAW_FREE;
			if (holds[k].given) {
				row->law = KN_LAW_RANGE;
				row->lo = row->hi = holds[k].at;
			}
		}
	}
}

// A row beyond its bounds stays there from now on; one that is at a bound and moves against it is held again. Returns
// whether there was any.
static bool reconsider(Hold* hold, const knIslandRow* row) {
	if (hold->given) {
		const bool held = hold->at <= hold->lo ? row->rate < -RATE_TOLERANCE : row->rate > RATE_TOLERANCE;
		hold->given = !held;
		return held;
	}
	hold->at = knRowLaw_Range(row->lambda, hold->lo, hold->hi);
	hold->given = hold->at != row->lambda;
	return hold->given;
}

static bool reconsiderDisc(Hold* holds, const knIslandRow* t) {
	if (holds->given) {
		// pushes along its way
		const bool held = t[0].lambda * t[0].rate + t[1].lambda * t[1].rate > RATE_TOLERANCE * holds->hi;
		holds[0].given = holds[1].given = !held;
		return held;
	}
	holds[0].at = t[0].lambda;
	holds[1].at = t[1].lambda;
	holds[0].given = holds[1].given = knRowLaw_Disc(holds->hi, &holds[0].at, &holds[1].at) < 1.0;
	return holds->given;
}

static bool reconsiderAll(const Solve* solve, Hold* holds) {
	const knIslandProblem* problem = &solve->island->problem;
	bool any = false;
	for (int n = 0; n < problem->entryCount; ++n) {
		const knIslandEntry* entry = &problem->entries[n];
		for (int k = entry->first; k < entry->first + entry->count; ++k) {
			if (holds[k].law == KN_LAW_RANGE) {
				any = reconsider(&holds[k], &problem->rows[k]) || any;
			} else if (holds[k].law == KN_LAW_DISC) {
				any = reconsiderDisc(&holds[k], &problem->rows[k]) || any;
				++k;
			}
		}
	}
	return any;
}

bool knMixedVelocities_Settle(knMixedVelocities* in, knMixedIsland* island, knArena* arena) {
	knIslandProblem* problem = &island->problem;
	Solve solve = { .in = in, .island = island };
	if (!begin(&solve, arena)) {
		return false;
	}
	Hold* holds = KN_SCRATCH_ZERO(arena, Hold, solve.rowCount);
	if (arena->failed) {
		return false;
	}
	const double energy = kineticEnergy(&solve);
	for (int pass = 0; pass < SETTLE_PASSES; ++pass) {
		listRows(&solve);
		const double tolerance = knMax(RATE_TOLERANCE, RATE_SHARE * worstRate(&solve));
		holdRows(&solve, holds);
		for (int round = 0; round < SETTLE_ROUNDS; ++round) {
			problem->kept = round > 0;
			if (knIslandProblem_Solve(problem) == KN_ISLAND_SINGULAR) {
				restore(&solve);
				return true;
			}
			takeRound(&solve);
			in->factorizations += problem->factorizations;
			if (worstRate(&solve) <= tolerance) {
				break;
			}
		}
		if (!reconsiderAll(&solve, holds) || pass == SETTLE_PASSES - 1) {
			break;
		}
		restore(&solve);
	}
	if (!(kineticEnergy(&solve) <= energy)) {
		restore(&solve);
		return true;
	}
	in->work += kinematicWork(&solve);
	in->taken += energy - kineticEnergy(&solve);
	return true;
}
