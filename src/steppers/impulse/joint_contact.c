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
#define ENOUGH 1e-3        // of the worst rate of the first round is as good as right
#define LEAST_ROUNDS 3     // friction follows the normal impulses of the round before, which follow friction

// Of large groups, where the slowest of hundreds of points would keep all waiting.
#define LARGE_SOFTNESS 0.03 // as above
#define CUT_SOFTNESS 0.1    // likewise between parts
#define LARGE_GOOD 10.0     // times what is good for others
#define LARGE_ENOUGH 1e-2   // as above
#define LARGE_FEW 0.01      // of the entries may be worse,
#define LARGE_BAD 5.0       // but none by more than this factor
#define LARGE_LEAST_ROUNDS 2
#define LARGE_MOST_ROUNDS 4 // when more than a few are worse, but none is bad

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

// Joints and points of the islands that are solved here are left alone elsewhere.
static bool mark(knJointContacts* contacts, knArticulationSolve* solve, knArena* arena) {
	const knArticulationSolve* whole = &contacts->whole;
	knImpulseStep* step = contacts->step;
	uint8_t* here = KN_SCRATCH_ZERO(arena, uint8_t, step->model->bodyCount);
	if (here == NULL) {
		return false;
	}
	for (int d = 0; d < contacts->groupCount; ++d) {
		const knBodyMatrix* matrix = &contacts->groups[d].matrix;
		for (int s = 0; s < matrix->count; ++s) {
			here[matrix->bodies[s]] = 1;
		}
	}
	for (int i = 0; i < contacts->jointCount; ++i) {
		const knSolveJoint* joint = &whole->joints[i];
		if (here[joint->parent] != 0 || here[joint->child] != 0) {
			solve->pressed[knSolveJoint_Island(solve, joint)] = 1;
		}
	}
	for (int i = 0; i < step->pointCount; ++i) {
		knImpulsePoint* p = &step->points[i];
		p->withJoints = here[p->a] != 0 || here[p->b] != 0;
	}
	return true;
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
		!knJointContacts_Group(contacts, arena) || !mark(contacts, solve, arena)) {
		return false;
	}
	*result = contacts;
	return true;
}

// --- rows of a round -------------------------------------------------------------------------------------

static knLawRow* addRow(const knLawGroup* group, knLawEntry* entry, knTwist wrench, double soft, double r) {
	knLawRow* row = &group->contacts->rows[entry->first + entry->count++];
	const double weight = group->factored ? row->weight : 0.0, made = group->factored ? row->made : 0.0;
	*row = (knLawRow){ .row = knBodyRow_Make(&group->contacts->whole, entry->index, wrench),
					   .soft = soft,
					   .start = r,
					   .r = r,
					   .weight = weight,
					   .made = made };
	return row;
}

// A push keeps joints as they are.
static void listPushedJoint(const knLawGroup* group, knLawEntry* entry) {
	const knArticulationSolve* whole = &group->contacts->whole;
	const knJointBlock* block = &whole->blocks[entry->index];
	for (int k = 0; k < block->count; ++k) {
		addRow(group, entry, block->rows[k], block->softness[k], 0.0);
	}
	entry->locked = block->count;
}

static double listJoint(const knLawGroup* group, knLawEntry* entry) {
	knArticulationSolve* whole = &group->contacts->whole;
	const int i = entry->index;
	double worst = 0.0;
	knSettle_FindAgain(whole, i);
	const knJointBlock* block = &whole->blocks[i];
	for (int k = 0; k < block->all; ++k) {
		worst = k < block->count ? knMax(worst, knAbs(whole->settle[1][i].v[k])) : worst;
		addRow(group, entry, block->rows[k], block->softness[k], -whole->settle[1][i].v[k]);
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
			knLawRow* row = addRow(group, entry, bound.wrench, bound.gamma > 0.0 ? bound.gamma : FIRM * own,
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
static double ownRate(const knLawGroup* group, const knLawEntry* entry, knVec3 direction) {
	knArticulationSolve* whole = &group->contacts->whole;
	knTwist wrench = knMakeTwist(knZero3(), direction);
	knJointPair pair = knSettle_PairOn(whole, entry->index, whole->u);
	return knDotT(wrench, knJointPair_Response(&pair, wrench));
}

static double listPoint(const knLawGroup* group, knLawEntry* entry) {
	const knJointContacts* contacts = group->contacts;
	const knImpulsePoint* p = &contacts->step->points[contacts->points[entry->index - contacts->jointCount]];
	knVec3 u = knImpulsePoint_Velocity(p, group->u);
	const double firm = entry->cut ? CUT_SOFTNESS : group->large ? LARGE_SOFTNESS : SOFTNESS;
	const double softness = group->pushing && !entry->cut ? PUSH_SOFTNESS : firm;
	const double wrong = knDot(p->n, u) - p->target;
	knLawRow* normal =
		addRow(group, entry, knMakeTwist(knZero3(), p->n), softness * ownRate(group, entry, p->n), wrong);
	normal->law = KN_LAW_RANGE;
	normal->hi = (double)INFINITY;
	if (group->pushing) {
		return p->target;
	}
	normal->lambda = p->jn;
	entry->radius = p->mu * knMax(p->jn, 0.0);
	if (p->mu > 0.0) {
		double soft = firm * knMax(ownRate(group, entry, p->t1), ownRate(group, entry, p->t2));
		knLawRow* t1 = addRow(group, entry, knMakeTwist(knZero3(), p->t1), soft, knDot(p->t1, u));
		knLawRow* t2 = addRow(group, entry, knMakeTwist(knZero3(), p->t2), soft, knDot(p->t2, u));
		t1->law = t2->law = KN_LAW_DISC;
		t1->lambda = p->j1;
		t2->lambda = p->j2;
	}
	// a rough round that left a few rows alone may have pulled
	return p->jn != 0.0 || wrong < 0.0 ? knAbs(wrong) : 0.0;
}

// Returns the worst rate, or how fast the points must be pushed.
static double listRows(knLawGroup* group) {
	const knJointContacts* contacts = group->contacts;
	double worst = 0.0;
	group->over = 0;
	for (int n = 0; n < group->count; ++n) {
		knLawEntry* entry = &group->entries[n];
		entry->count = entry->locked = 0;
		entry->radius = 0.0;
		const bool joint = entry->index < contacts->jointCount;
		if (joint && group->pushing) {
			listPushedJoint(group, entry);
			continue;
		}
		const double rate = joint ? listJoint(group, entry) : listPoint(group, entry);
		worst = knMax(worst, rate);
		group->over += rate > group->enough ? 1 : 0;
		// limits come and go from round to round, and their rows turn
		group->refactor = group->refactor || (joint && entry->count > entry->locked);
	}
	return worst;
}

// --- a round ---------------------------------------------------------------------------------------------

static void takeRows(knLawGroup* group) {
	knJointContacts* contacts = group->contacts;
	knArticulationSolve* whole = &contacts->whole;
	for (int n = 0; n < group->count; ++n) {
		const knLawEntry* entry = &group->entries[n];
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

// The joints' answer to what the rough solution of a large group left of them.
static void settleJoints(const knLawGroup* group) {
	for (int k = 0; k < group->islandCount; ++k) {
		(void)knSettle_Island(group->contacts->step->joints, group->islands[k]);
	}
}

// What cannot be pushed apart, because joints hold it, must not fling others away: bodies go no faster than OVERDONE times
// what the points want.
static double pushShare(const knLawGroup* group, double wanted) {
	const knModel* model = group->contacts->whole.input.model;
	double fastest = 0.0;
	for (int s = 0; s < group->matrix.count; ++s) {
		const double *v = group->moved + 6 * s, radius = model->radius[group->matrix.bodies[s]];
		double turning = knLength(knV3(v[0], v[1], v[2])), going = knLength(knV3(v[3], v[4], v[5]));
		fastest = knMax(fastest, going + radius * turning);
	}
	return fastest > OVERDONE * wanted ? OVERDONE * wanted / fastest : 1.0;
}

static void takePush(knLawGroup* group, double wanted) {
	knJointContacts* contacts = group->contacts;
	const double share = pushShare(group, wanted);
	knArticulationSolve* whole = &contacts->whole;
	for (int n = 0; n < group->count; ++n) {
		const knLawEntry* entry = &group->entries[n];
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
		knJointPair pair = knSettle_PairOn(whole, i, group->u);
		knJointPair_Push(&pair, push);
	}
}

typedef struct RoundTask {
	knJointContacts* contacts;
	bool pushing;
	double good; // m/s
} RoundTask;

// Is this round, of a group whose worst rate before it is this, the last one? A group is judged by itself: nothing outside
// of it changes it.
static bool isLast(const knLawGroup* group, double worst) {
	const int round = group->contacts->rounds + 1;
	if (!group->large) {
		return worst <= group->enough && round >= LEAST_ROUNDS;
	}
	const bool few = group->over <= (int)(LARGE_FEW * group->count);
	return round >= (few ? LARGE_LEAST_ROUNDS : LARGE_MOST_ROUNDS) && worst <= LARGE_BAD * group->enough;
}

static double findEnough(const RoundTask* task, const knLawGroup* group) {
	return group->large ? knMax(LARGE_GOOD * task->good, LARGE_ENOUGH * group->worst)
						: knMax(task->good, ENOUGH * group->worst);
}

static void solveGroup(const RoundTask* task, knLawGroup* group) {
	knJointContacts* contacts = task->contacts;
	group->factored = group->factored && !task->pushing;
	group->refactor = !group->factored;
	group->pushing = task->pushing;
	group->u = task->pushing ? contacts->step->push : contacts->whole.u;
	group->enough = findEnough(task, group);
	const double worst = listRows(group);
	if (!task->pushing) {
		if (contacts->rounds == 0) {
			group->worst = worst;
			group->enough = findEnough(task, group);
		}
		group->solved = isLast(group, worst);
	}
	const bool latest = contacts->rounds + 1 == knImpulseStep_Sweeps(contacts->step);
	group->last = !task->pushing && (group->solved || latest);
	// a heap at rest need not be pushed apart by micrometres
	if (task->pushing && worst <= (group->heap ? task->good : 0.0)) {
		return;
	}
	if (knLawGroup_Descend(group)) {
		if (task->pushing) {
			takePush(group, worst);
		} else {
			takeRows(group);
			settleJoints(group);
		}
	}
}

static void solveGroups(int first, int last, int worker, void* argument) {
	(void)worker;
	const RoundTask* task = argument;
	for (int k = first; k < last; ++k) {
		knLawGroup* group = &task->contacts->groups[k];
		if (task->pushing || !group->solved) {
			solveGroup(task, group);
		}
	}
}

bool knJointContacts_Round(knJointContacts* contacts, double good) {
	RoundTask task = { contacts, false, good };
	knTasks_For(&contacts->whole.input.tasks, contacts->groupCount, 1, solveGroups, &task);
	contacts->rounds += 1;
	bool open = false;
	for (int k = 0; k < contacts->groupCount; ++k) {
		open = open || !contacts->groups[k].solved;
	}
	return open;
}

void knJointContacts_Push(knJointContacts* contacts, double good) {
	RoundTask task = { contacts, true, good };
	knTasks_For(&contacts->whole.input.tasks, contacts->groupCount, 1, solveGroups, &task);
}
