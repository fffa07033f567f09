// Joints and the contacts that press on them, solved together (default scheme; no part of the published method).
//
// A heavy box on a light net: a contact sees the mass of one link, the joints take back what it did to the link, and it
// takes hundreds of exchanges to stop the box. Here the impulses of both are found at once. With u the velocities at
// hand and lambda the impulses that brought them about, a round looks for the v that makes
//
//   1/2 (v - u).M.(v - u) + sum phi(r(v))      -phi' = law(lambda - r/e) - lambda      r: what is wrong with a row
//
// least. A row's law is the projection onto what its impulse may be: anything (locked directions), [lo, hi] (normals,
// limits, motors), a disc (friction; its radius follows the normal impulse). e is a softness of the changes of a round
// only (a proximal step, the method of multipliers): what rounds converge to has none. The sum is convex and
// piecewise quadratic: Newton's method with an exact line search, its matrix over bodies (joint_direct.h).
#include "core/tasks.h"
#include "steppers/impulse/joint_contact_internal.h"

#define SOFTNESS 1e-3      // of a point's rows beside their own resistance
#define PUSH_SOFTNESS 0.03 // likewise of a push
#define OVERDONE 1.5       // a push, see pushShare
#define FIRM 1e-5          // of limits and motors likewise
#define ENOUGH 1e-3        // of the worst rate of the first round
#define LEAST_ROUNDS 3     // friction follows the normal impulses of the round before, which follow friction

// --- entries ---------------------------------------------------------------------------------------------

static int groupOf(const knImpulseStep* step, int a, int b) {
	return step->islands.group[a] >= 0 ? step->islands.group[a] : step->islands.group[b];
}

// Groups in which joints hang together: a joint alone passes a load on well enough in the sweeps.
static void findChained(const knImpulseStep* step, uint8_t* chained) {
	const knArticulationSolve* solve = step->joints;
	for (int k = 0; k < solve->islandCount; ++k) {
		for (int n = solve->islandBegin[k]; n < solve->islandBegin[k + 1]; ++n) {
			const knSolveJoint* entry = &solve->joints[solve->islandJoint[n]];
			chained[groupOf(step, entry->parent, entry->child)] |=
				solve->islandBegin[k + 1] - solve->islandBegin[k] > 1;
		}
	}
}

static bool takesPart(const knImpulseStep* step, const uint8_t* chained, const knImpulsePoint* p) {
	return p->target > -(double)INFINITY && chained[groupOf(step, p->a, p->b)] != 0;
}

// The joints' entries and blocks move to larger arrays, with room for points behind them.
static bool addPoints(knJointContacts* contacts, knArticulationSolve* solve, knArena* arena) {
	knImpulseStep* step = contacts->step;
	const int total = solve->jointCount + contacts->pointCount;
	knSolveJoint* joints = KN_SCRATCH(arena, knSolveJoint, total);
	knJointBlock* blocks = KN_SCRATCH(arena, knJointBlock, total);
	if (arena->failed) {
		return false;
	}
	for (int i = 0; i < solve->jointCount; ++i) {
		joints[i] = solve->joints[i];
		blocks[i] = solve->blocks[i];
	}
	for (int m = 0; m < contacts->pointCount; ++m) {
		const knImpulsePoint* p = &step->points[contacts->points[m]];
		joints[solve->jointCount + m] = (knSolveJoint){ .parent = p->a, .child = p->b };
		knJointBlock* block = &blocks[solve->jointCount + m];
		block->ready = true;
		block->rP = p->rA;
		block->rC = p->rB;
		block->count = block->all = 0;
	}
	solve->joints = joints;
	solve->blocks = blocks;
	contacts->whole = *solve;
	contacts->whole.jointCount = total;
	return true;
}

// Islands of joints and points: the groups of bodies that touch or are joined, in the order of their first entries.
static bool buildIslands(knJointContacts* contacts, knArena* arena) {
	knArticulationSolve* whole = &contacts->whole;
	const int bodyCount = whole->input.model->bodyCount, total = whole->jointCount;
	int* island = KN_SCRATCH(arena, int, bodyCount);
	whole->islandBegin = KN_SCRATCH_ZERO(arena, int, total + 2);
	whole->islandJoint = KN_SCRATCH(arena, int, total);
	contacts->touched = KN_SCRATCH_ZERO(arena, uint8_t, total);
	contacts->factored = KN_SCRATCH_ZERO(arena, uint8_t, total);
	contacts->solved = KN_SCRATCH_ZERO(arena, uint8_t, total);
	contacts->first = KN_SCRATCH_ZERO(arena, double, total);
	if (arena->failed) {
		return false;
	}
	for (int b = 0; b < bodyCount; ++b) {
		island[b] = -1;
	}
	whole->islandCount = 0;
	int* begin = whole->islandBegin;
	for (int i = 0; i < total; ++i) {
		int group = groupOf(contacts->step, whole->joints[i].parent, whole->joints[i].child);
		if (island[group] < 0) {
			island[group] = whole->islandCount++;
		}
		begin[island[group] + 2] += 1;
		contacts->touched[island[group]] |= i >= contacts->jointCount;
	}
	for (int k = 0; k < whole->islandCount; ++k) {
		begin[k + 2] += begin[k + 1];
	}
	for (int i = 0; i < total; ++i) {
		int group = groupOf(contacts->step, whole->joints[i].parent, whole->joints[i].child);
		whole->islandJoint[begin[island[group] + 1]++] = i;
	}
	return true;
}

// Room for rows: those of the blocks and the bounds, three a point.
static bool reserveRows(knJointContacts* contacts, knArena* arena) {
	const knArticulationSolve* whole = &contacts->whole;
	const int bodyCount = whole->input.model->bodyCount;
	contacts->entries = KN_SCRATCH_ZERO(arena, knLawEntry, whole->jointCount);
	contacts->rowFirst = KN_SCRATCH(arena, int, whole->jointCount + 1);
	if (arena->failed) {
		return false;
	}
	int rows = 0;
	for (int n = 0; n < whole->jointCount; ++n) {
		const int i = whole->islandJoint[n];
		contacts->rowFirst[n] = rows;
		rows += i < contacts->jointCount ? KN_BLOCK_ROWS + whole->joints[i].boundCount : 3;
	}
	contacts->rowFirst[whole->jointCount] = rows;
	contacts->rows =
		KN_SCRATCH_ZERO(arena, knLawRow, rows); // rows come and go between rounds: their weights begin at 0
	contacts->moved = KN_SCRATCH(arena, double, 6 * bodyCount);
	contacts->forward = KN_SCRATCH(arena, double, 6 * bodyCount);
	return !arena->failed;
}

// Joints and points of the islands that are solved here are left alone elsewhere.
static void mark(knJointContacts* contacts, knArticulationSolve* solve) {
	const knArticulationSolve* whole = &contacts->whole;
	knImpulseStep* step = contacts->step;
	for (int k = 0; k < whole->islandCount; ++k) {
		contacts->touched[k] = contacts->touched[k] != 0 && knJointDirect_Has(&contacts->direct, k);
		for (int n = whole->islandBegin[k]; contacts->touched[k] != 0 && n < whole->islandBegin[k + 1]; ++n) {
			const int i = whole->islandJoint[n];
			if (i < contacts->jointCount) {
				solve->pressed[knSolveJoint_Island(solve, &solve->joints[i])] = 1;
			}
		}
	}
	for (int i = 0; i < step->pointCount; ++i) {
		knImpulsePoint* p = &step->points[i];
		p->withJoints = contacts->direct.stepOf[p->a] >= 0 || contacts->direct.stepOf[p->b] >= 0;
	}
}

bool knJointContacts_Begin(knImpulseStep* step, knJointContacts** result) {
	knArena* arena = step->context->arena;
	knArticulationSolve* solve = step->joints;
	*result = NULL;
	uint8_t* chained = KN_SCRATCH_ZERO(arena, uint8_t, step->model->bodyCount);
	if (chained == NULL) {
		return false;
	}
	findChained(step, chained);
	int count = 0;
	for (int i = 0; i < step->pointCount; ++i) {
		count += takesPart(step, chained, &step->points[i]);
	}
	if (count == 0) {
		return true;
	}
	knJointContacts* contacts = KN_SCRATCH_ZERO(arena, knJointContacts, 1);
	int* points = KN_SCRATCH(arena, int, count);
	if (arena->failed) {
		return false;
	}
	contacts->step = step;
	contacts->jointCount = solve->jointCount;
	contacts->points = points;
	for (int i = 0; i < step->pointCount; ++i) {
		if (takesPart(step, chained, &step->points[i])) {
			points[contacts->pointCount++] = i;
		}
	}
	if (!addPoints(contacts, solve, arena) || !buildIslands(contacts, arena) ||
		!knJointDirect_Build(&contacts->direct, &contacts->whole, contacts->touched, arena) ||
		!reserveRows(contacts, arena)) {
		return false;
	}
	mark(contacts, solve);
	*result = contacts;
	return true;
}

// --- rows of a round -------------------------------------------------------------------------------------

static knLawRow* addRow(const knLawIsland* island, knLawEntry* entry, knTwist wrench, double soft, double r) {
	knLawRow* row = &island->contacts->rows[entry->first + entry->count++];
	const double weight = island->contacts->factored[island->index] != 0 ? row->weight : 0.0;
	*row = (knLawRow){ .row = knBodyRow_Make(&island->contacts->whole, entry->index, wrench),
					   .soft = soft,
					   .start = r,
					   .r = r,
					   .weight = weight };
	return row;
}

// A push keeps joints as they are.
static void listPushedJoint(const knLawIsland* island, knLawEntry* entry) {
	const knArticulationSolve* whole = &island->contacts->whole;
	const knJointBlock* block = &whole->blocks[entry->index];
	for (int k = 0; k < block->count; ++k) {
		addRow(island, entry, block->rows[k], block->softness[k], 0.0);
	}
	entry->locked = block->count;
}

static double listJoint(const knLawIsland* island, knLawEntry* entry) {
	knArticulationSolve* whole = &island->contacts->whole;
	const int i = entry->index;
	double worst = 0.0;
	knSettle_FindAgain(whole, i);
	const knJointBlock* block = &whole->blocks[i];
	for (int k = 0; k < block->all; ++k) {
		worst = k < block->count ? knMax(worst, knAbs(whole->settle[1][i].v[k])) : worst;
		addRow(island, entry, block->rows[k], block->softness[k], -whole->settle[1][i].v[k]);
	}
	entry->locked = block->all;
	if (whole->joints[i].boundCount > 0) {
		knJointBounds_Look(whole, i);
	}
	for (int k = 0; k < whole->joints[i].boundCount; ++k) {
		knBoundRow bound;
		if (knJointBounds_Row(whole, i, k, &bound)) {
			knJointPair pair = knSettle_PairOn(whole, i, whole->u);
			double own = knDotT(bound.wrench, knJointPair_Response(&pair, bound.wrench));
			knLawRow* row = addRow(island, entry, bound.wrench, bound.gamma > 0.0 ? bound.gamma : FIRM * own,
								   bound.residual);
			row->law = KN_LAW_RANGE;
			row->bound = k;
			row->lambda = bound.lambda;
			row->lo = bound.lo;
			row->hi = bound.hi;
		}
	}
	return worst;
}

// How much a unit impulse at the point changes the rate along it.
static double ownRate(const knLawIsland* island, const knLawEntry* entry, knVec3 direction) {
	knArticulationSolve* whole = &island->contacts->whole;
	knTwist wrench = knMakeTwist(knZero3(), direction);
	knJointPair pair = knSettle_PairOn(whole, entry->index, whole->u);
	return knDotT(wrench, knJointPair_Response(&pair, wrench));
}

static double listPoint(const knLawIsland* island, knLawEntry* entry) {
	const knJointContacts* contacts = island->contacts;
	const knImpulsePoint* p = &contacts->step->points[contacts->points[entry->index - contacts->jointCount]];
	knVec3 u = knImpulsePoint_Velocity(p, island->u);
	const double softness = island->pushing ? PUSH_SOFTNESS : SOFTNESS, wrong = knDot(p->n, u) - p->target;
	knLawRow* normal =
		addRow(island, entry, knMakeTwist(knZero3(), p->n), softness * ownRate(island, entry, p->n), wrong);
	normal->law = KN_LAW_RANGE;
	normal->hi = (double)INFINITY;
	if (island->pushing) {
		return p->target;
	}
	normal->lambda = p->jn;
	entry->radius = p->mu * p->jn;
	if (p->mu > 0.0) {
		double soft = SOFTNESS * knMax(ownRate(island, entry, p->t1), ownRate(island, entry, p->t2));
		knLawRow* t1 = addRow(island, entry, knMakeTwist(knZero3(), p->t1), soft, knDot(p->t1, u));
		knLawRow* t2 = addRow(island, entry, knMakeTwist(knZero3(), p->t2), soft, knDot(p->t2, u));
		t1->law = t2->law = KN_LAW_DISC;
		t1->lambda = p->j1;
		t2->lambda = p->j2;
	}
	return p->jn > 0.0 || wrong < 0.0 ? knAbs(wrong) : 0.0;
}

// Returns the worst rate, or how fast the points must be pushed.
static double listRows(knLawIsland* island) {
	knJointContacts* contacts = island->contacts;
	const int begin = contacts->whole.islandBegin[island->index];
	double worst = 0.0;
	for (int n = 0; n < island->count; ++n) {
		knLawEntry* entry = &island->entries[n];
		*entry = (knLawEntry){ .first = contacts->rowFirst[begin + n],
							   .index = contacts->whole.islandJoint[begin + n] };
		const bool joint = entry->index < contacts->jointCount;
		if (joint && island->pushing) {
			listPushedJoint(island, entry);
			continue;
		}
		worst = knMax(worst, joint ? listJoint(island, entry) : listPoint(island, entry));
		// limits come and go from round to round, and their rows turn
		island->refactor = island->refactor || (joint && entry->count > entry->locked);
	}
	return worst;
}

// --- a round ---------------------------------------------------------------------------------------------

static void takeRows(knLawIsland* island) {
	knJointContacts* contacts = island->contacts;
	knArticulationSolve* whole = &contacts->whole;
	for (int n = 0; n < island->count; ++n) {
		const knLawEntry* entry = &island->entries[n];
		const knLawRow* rows = &contacts->rows[entry->first];
		const int i = entry->index;
		if (i < contacts->jointCount) {
			for (int k = 0; k < entry->locked; ++k) {
				whole->settle[0][i].v[k] = rows[k].x;
			}
			knSettle_Push(whole, i, 1.0);
			for (int k = entry->locked; k < entry->count; ++k) {
				knJointBounds_Take(whole, i, rows[k].bound, rows[k].x);
			}
			continue;
		}
		knImpulsePoint* p = &contacts->step->points[contacts->points[i - contacts->jointCount]];
		knVec3 j = knScale(rows[0].x, p->n);
		p->jn += rows[0].x;
		if (entry->count == 3) {
			j = knMulAdd(knMulAdd(j, rows[1].x, p->t1), rows[2].x, p->t2);
			p->j1 += rows[1].x;
			p->j2 += rows[2].x;
		}
		knJointPair pair = knSettle_PairOn(whole, i, whole->u);
		knJointPair_Push(&pair, knMakeTwist(knZero3(), j));
	}
}

// What cannot be pushed apart, because joints hold it, must not fling others away: bodies go no faster than OVERDONE times
// what the points want.
static double pushShare(const knLawIsland* island, double wanted) {
	const knModel* model = island->contacts->whole.input.model;
	double fastest = 0.0;
	for (int s = 0; s < island->matrix->count; ++s) {
		const double *v = island->moved + 6 * s, radius = model->radius[island->matrix->bodies[s]];
		double turning = knLength(knV3(v[0], v[1], v[2])), going = knLength(knV3(v[3], v[4], v[5]));
		fastest = knMax(fastest, going + radius * turning);
	}
	return fastest > OVERDONE * wanted ? OVERDONE * wanted / fastest : 1.0;
}

static void takePush(knLawIsland* island, double wanted) {
	knJointContacts* contacts = island->contacts;
	const double share = pushShare(island, wanted);
	knArticulationSolve* whole = &contacts->whole;
	for (int n = 0; n < island->count; ++n) {
		const knLawEntry* entry = &island->entries[n];
		const knLawRow* rows = &contacts->rows[entry->first];
		const int i = entry->index;
		knTwist push = knZeroTwist();
		if (i < contacts->jointCount) {
			for (int k = 0; k < entry->locked; ++k) {
				push = knMulAddT(push, share * rows[k].x, whole->blocks[i].rows[k]);
			}
			// the correction gives back what angular momentum comes with it
			whole->joints[i].shift = knMulAdd(whole->joints[i].shift, whole->input.h, push.lin);
		} else {
			knImpulsePoint* p = &contacts->step->points[contacts->points[i - contacts->jointCount]];
			push.lin = knScale(share * rows[0].x, p->n);
			p->push += share * rows[0].x;
		}
		knJointPair pair = knSettle_PairOn(whole, i, island->u);
		knJointPair_Push(&pair, push);
	}
}

typedef struct RoundTask {
	knJointContacts* contacts;
	bool pushing;
	double good; // m/s
} RoundTask;

// Is this round, of an island whose worst rate before it is this, the last one? An island is judged by itself: nothing outside
// of it changes it.
static bool isLast(const RoundTask* task, int island, double worst) {
	knJointContacts* contacts = task->contacts;
	contacts->first[island] = contacts->rounds == 0 ? worst : contacts->first[island];
	return worst <= knMax(task->good, ENOUGH * contacts->first[island]) &&
		   contacts->rounds + 1 >= LEAST_ROUNDS;
}

static void solveIslands(int first, int last, int worker, void* argument) {
	(void)worker;
	const RoundTask* task = argument;
	knJointContacts* contacts = task->contacts;
	const knArticulationSolve* whole = &contacts->whole;
	for (int k = first; k < last; ++k) {
		if (contacts->touched[k] == 0 || (contacts->solved[k] != 0 && !task->pushing)) {
			continue;
		}
		const int begin = whole->islandBegin[k], at = contacts->direct.firstOf[k];
		contacts->factored[k] = contacts->factored[k] != 0 && !task->pushing;
		knLawIsland island = { .contacts = contacts,
							   .index = k,
							   .entries = contacts->entries + begin,
							   .count = whole->islandBegin[k + 1] - begin,
							   .matrix = &contacts->direct.matrices[k],
							   .moved = contacts->moved + at,
							   .forward = contacts->forward + at,
							   .refactor = contacts->factored[k] == 0,
							   .pushing = task->pushing,
							   .u = task->pushing ? contacts->step->push : whole->u };
		const double worst = listRows(&island);
		contacts->solved[k] = !task->pushing && isLast(task, k, worst);
		if ((!task->pushing || worst > 0.0) && knLawIsland_Descend(&island, contacts->direct.x + at)) {
			if (task->pushing) {
				takePush(&island, worst);
			} else {
				takeRows(&island);
			}
		}
	}
}

bool knJointContacts_Round(knJointContacts* contacts, double good) {
	RoundTask task = { contacts, false, good };
	knTasks_For(&contacts->whole.input.tasks, contacts->whole.islandCount, 1, solveIslands, &task);
	contacts->rounds += 1;
	bool open = false;
	for (int k = 0; k < contacts->whole.islandCount; ++k) {
		open = open || (contacts->touched[k] != 0 && contacts->solved[k] == 0);
	}
	return open;
}

void knJointContacts_Push(knJointContacts* contacts) {
	RoundTask task = { .contacts = contacts, .pushing = true };
	knTasks_For(&contacts->whole.input.tasks, contacts->whole.islandCount, 1, solveIslands, &task);
}
