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
#include "steppers/impulse/joint_contact.h"

#include <string.h>

#include "core/tasks.h"
#include "steppers/impulse/joint_direct.h"

#define SOFTNESS 1e-3      // of a point's rows beside their own resistance
#define PUSH_SOFTNESS 0.03 // likewise of a push
#define OVERDONE 1.5
#define FIRM 1e-5     // of limits and motors likewise
#define ITERATIONS 40 // of Newton's method in a round
#define PATIENCE 2    // iterations after which secants need not be settled: rounds go on with them
#define SEARCHES 12   // evaluations of a line search
#define FLAT 0.1      // of the first slope: a line search ends
#define SAME 0.2      // a secant that changes by less has not changed

// What a row's impulse may be.
typedef enum Law { LAW_FREE, LAW_RANGE, LAW_DISC } Law;

// How the pieces differ from those that the matrix was made for.
typedef enum Change { CHANGE_NONE, CHANGE_SECANT, CHANGE_PIECE } Change;

typedef struct Row {
	knBodyRow row;
	Law law;
	double soft;     // e
	double lambda;   // at the start of the round
	double lo, hi;   // LAW_RANGE
	double start;    // r at the start of the round
	double r;        // at the present v
	double along;    // its change along the direction
	double x;        // change of lambda by the law at r
	double balanced; // and as the last direction has it, which balances the bodies exactly
	double weight;   // -dx/dr of the piece that the matrix was made for
	int bound;       // of a joint
} Row;

// Rows of a joint or point are neighbours; a point has its normal, then a disc's two tangents.
typedef struct Entry {
	int first, count;
	int locked;    // rows of a joint's block; the others are its bounds
	double radius; // of the disc
	int index;     // entry of `whole`
} Entry;

struct knJointContacts {
	knImpulseStep* step;
	knArticulationSolve whole; // entries: joints, then points
	int jointCount, pointCount;
	int* points;         // [pointCount] index into step->points
	uint8_t* touched;    // [whole.islandCount] has points and is solved here
	double* islandWorst; // [whole.islandCount] m/s
	uint8_t* factored;   // [whole.islandCount] with the weights that the rows have
	knJointDirect direct;
	Entry* entries; // [whole.jointCount] in the order of islandJoint
	Row* rows;
	int* rowFirst;   // [whole.jointCount + 1] room of entries
	double* moved;   // [bodies][6] v - u
	double* forward; // [bodies][6] Newton's direction
};

typedef struct Island {
	knJointContacts* contacts;
	int index;
	Entry* entries;
	int count;
	knBodyMatrix* matrix;
	double *moved, *forward;
	bool refactor; // the rows are not those of the round before
	bool pushing;  // poses only
	knTwist* u;    // velocities of bodies, or pushes
} Island;

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
	contacts->islandWorst = KN_SCRATCH_ZERO(arena, double, total);
	contacts->factored = KN_SCRATCH_ZERO(arena, uint8_t, total);
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
	contacts->entries = KN_SCRATCH_ZERO(arena, Entry, whole->jointCount);
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
	contacts->rows = KN_SCRATCH(arena, Row, rows);
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

static Row* addRow(const Island* island, Entry* entry, knTwist wrench, double soft, double r) {
	Row* row = &island->contacts->rows[entry->first + entry->count++];
	const double weight = island->contacts->factored[island->index] != 0 ? row->weight : 0.0;
	*row = (Row){ .row = knBodyRow_Make(&island->contacts->whole, entry->index, wrench),
				  .soft = soft,
				  .start = r,
				  .r = r,
				  .weight = weight };
	return row;
}

// A push keeps joints as they are.
static void listPushedJoint(const Island* island, Entry* entry) {
	const knArticulationSolve* whole = &island->contacts->whole;
	const knJointBlock* block = &whole->blocks[entry->index];
	for (int k = 0; k < block->count; ++k) {
		addRow(island, entry, block->rows[k], block->softness[k], 0.0);
	}
	entry->locked = block->count;
}

static double listJoint(const Island* island, Entry* entry) {
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
			Row* row = addRow(island, entry, bound.wrench, bound.gamma > 0.0 ? bound.gamma : FIRM * own,
							  bound.residual);
			row->law = LAW_RANGE;
			row->bound = k;
			row->lambda = bound.lambda;
			row->lo = bound.lo;
			row->hi = bound.hi;
		}
	}
	return worst;
}

static double listPoint(const Island* island, Entry* entry) {
	const knJointContacts* contacts = island->contacts;
	const knImpulsePoint* p = &contacts->step->points[contacts->points[entry->index - contacts->jointCount]];
	knVec3 u = knImpulsePoint_Velocity(p, island->u);
	const double softness = island->pushing ? PUSH_SOFTNESS : SOFTNESS, wrong = knDot(p->n, u) - p->target;
	Row* normal = addRow(island, entry, knMakeTwist(knZero3(), p->n),
						 softness * knImpulsePoint_Response(contacts->step, p, p->n), wrong);
	normal->law = LAW_RANGE;
	normal->hi = (double)INFINITY;
	if (island->pushing) {
		return p->target;
	}
	normal->lambda = p->jn;
	entry->radius = p->mu * p->jn;
	if (p->mu > 0.0) {
		double soft = SOFTNESS * knMax(knImpulsePoint_Response(contacts->step, p, p->t1),
									   knImpulsePoint_Response(contacts->step, p, p->t2));
		Row* t1 = addRow(island, entry, knMakeTwist(knZero3(), p->t1), soft, knDot(p->t1, u));
		Row* t2 = addRow(island, entry, knMakeTwist(knZero3(), p->t2), soft, knDot(p->t2, u));
		t1->law = t2->law = LAW_DISC;
		t1->lambda = p->j1;
		t2->lambda = p->j2;
	}
	return p->jn > 0.0 || wrong < 0.0 ? knAbs(wrong) : 0.0;
}

// Returns the worst rate, or how fast the points must be pushed.
static double listRows(Island* island) {
	knJointContacts* contacts = island->contacts;
	const int begin = contacts->whole.islandBegin[island->index];
	double worst = 0.0;
	for (int n = 0; n < island->count; ++n) {
		Entry* entry = &island->entries[n];
		*entry = (Entry){ .first = contacts->rowFirst[begin + n],
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

// --- laws ------------------------------------------------------------------------------------------------

static double rangeChange(const Row* row, double r) {
	return knClamp(row->lambda - r / row->soft, row->lo, row->hi) - row->lambda;
}

// Changes of the two tangents, and the share of what they wanted: 1 sticks.
static double discChange(const Row* t, double radius, double r1, double r2, double* x1, double* x2) {
	double y1 = t[0].lambda - r1 / t[0].soft, y2 = t[1].lambda - r2 / t[1].soft;
	double length = sqrt(y1 * y1 + y2 * y2), share = length > radius ? radius / length : 1.0;
	*x1 = share * y1 - t[0].lambda;
	*x2 = share * y2 - t[1].lambda;
	return share;
}

// The piece of its law that a row lies on; true if it is another one than the matrix was made for. Where a law ends on
// both sides (a motor, a disc), its secant is taken instead of its slope, which is zero there and would send the row to and
// fro; it counts as the same while it changes little.
static Change choosePiece(Row* row, double weight) {
	if (knAbs(weight - row->weight) <= SAME * weight) {
		return CHANGE_NONE;
	}
	Change change = row->weight > 0.0 && weight > 0.0 ? CHANGE_SECANT : CHANGE_PIECE;
	row->weight = weight;
	return change;
}

static Change chooseRange(Row* row) {
	double y = row->lambda - row->r / row->soft, to = knClamp(y, row->lo, row->hi);
	row->x = to - row->lambda;
	return choosePiece(row, to == y ? 1.0 / row->soft : to / y / row->soft);
}

static Change chooseDisc(const Entry* entry, Row* t) {
	double share = discChange(t, entry->radius, t[0].r, t[1].r, &t[0].x, &t[1].x);
	Change change = choosePiece(&t[0], share / t[0].soft);
	t[1].weight = t[0].weight;
	return change;
}

static Change larger(Change a, Change b) {
	return a > b ? a : b;
}

// Returns whether the pieces changed, so that the matrix is another one.
static Change choosePieces(Island* island) {
	Change changed = CHANGE_NONE;
	for (int n = 0; n < island->count; ++n) {
		Entry* entry = &island->entries[n];
		Row* rows = &island->contacts->rows[entry->first];
		for (int k = 0; k < entry->count; ++k) {
			Row* row = &rows[k];
			if (row->law == LAW_FREE) {
				row->x = -row->r / row->soft;
				changed = larger(changed, choosePiece(row, 1.0 / row->soft));
			} else if (row->law == LAW_RANGE) {
				changed = larger(changed, chooseRange(row));
			} else if (k == 1) {
				changed = larger(changed, chooseDisc(entry, row));
			}
		}
	}
	return changed;
}

// --- Newton's method -------------------------------------------------------------------------------------

static const double* stepOf(const Island* island, const double* v, int body) {
	const int s = island->contacts->direct.stepOf[body];
	return s >= 0 ? v + 6 * s : NULL;
}

static double rateOf(const Island* island, const Row* row, const knSolveJoint* joint, const double* v) {
	const double *a = stepOf(island, v, joint->parent), *b = stepOf(island, v, joint->child);
	double sum = 0.0;
	for (int c = 0; a != NULL && c < 6; ++c) {
		sum += row->row.a[c] * a[c];
	}
	for (int c = 0; b != NULL && c < 6; ++c) {
		sum += row->row.b[c] * b[c];
	}
	return sum;
}

// out = M v of all bodies of the island
static void multiplyMasses(const Island* island, const double* v, double* out) {
	const knArticulationSolve* whole = &island->contacts->whole;
	for (int s = 0; s < island->matrix->count; ++s) {
		const int body = island->matrix->bodies[s];
		knQuat q = whole->input.state->pose[body].q;
		const double *in = v + 6 * s, m = whole->input.model->mass[body];
		knVec3 L = knRotate(
			q, knMulMV(&whole->input.model->inertiaLocal[body], knInvRotate(q, knV3(in[0], in[1], in[2]))));
		double* to = out + 6 * s;
		to[0] = L.x;
		to[1] = L.y;
		to[2] = L.z;
		for (int c = 3; c < 6; ++c) {
			to[c] = m * in[c];
		}
	}
}

// Adds a row times x to the forces on its bodies.
static void addForce(const Island* island, const Row* row, const knSolveJoint* joint, double x,
					 double* force) {
	const int* stepOf = island->contacts->direct.stepOf;
	const int a = stepOf[joint->parent], b = stepOf[joint->child];
	for (int c = 0; a >= 0 && c < 6; ++c) {
		force[6 * a + c] += x * row->row.a[c];
	}
	for (int c = 0; b >= 0 && c < 6; ++c) {
		force[6 * b + c] += x * row->row.b[c];
	}
}

// forward = -(M moved - sum J^T x)
static void findForce(Island* island) {
	const knJointContacts* contacts = island->contacts;
	double* f = island->forward;
	multiplyMasses(island, island->moved, f);
	for (int c = 0; c < 6 * island->matrix->count; ++c) {
		f[c] = -f[c];
	}
	for (int n = 0; n < island->count; ++n) {
		const Entry* entry = &island->entries[n];
		const knSolveJoint* joint = &contacts->whole.joints[entry->index];
		for (int k = 0; k < entry->count; ++k) {
			const Row* row = &contacts->rows[entry->first + k];
			addForce(island, row, joint, row->x, f);
		}
	}
}

static bool factor(Island* island) {
	knJointContacts* contacts = island->contacts;
	knJointDirect_Begin(&contacts->direct, &contacts->whole, island->index);
	for (int n = 0; n < island->count; ++n) {
		const Entry* entry = &island->entries[n];
		const knSolveJoint* joint = &contacts->whole.joints[entry->index];
		knBodyPlace place = knBodyPlace_Find(&contacts->direct, island->index, joint->parent, joint->child);
		for (int k = 0; k < entry->count; ++k) {
			const Row* row = &contacts->rows[entry->first + k];
			if (row->weight > 0.0) {
				knBodyPlace_Add(&place, &row->row, row->weight);
			}
		}
	}
	contacts->factored[island->index] = knBodyMatrix_Factor(island->matrix);
	return contacts->factored[island->index] != 0;
}

// Slope of the sum along the direction, at a share of it.
static double slopeAt(const Island* island, double share, double start, double curve) {
	double slope = start + share * curve;
	for (int n = 0; n < island->count; ++n) {
		const Entry* entry = &island->entries[n];
		const Row* rows = &island->contacts->rows[entry->first];
		for (int k = 0; k < entry->count; ++k) {
			const Row* row = &rows[k];
			double r = row->r + share * row->along;
			if (row->law == LAW_RANGE) {
				slope -= rangeChange(row, r) * row->along;
			} else if (row->law == LAW_DISC && k == 1) {
				double x1, x2;
				discChange(row, entry->radius, r, row[1].r + share * row[1].along, &x1, &x2);
				slope -= x1 * row->along + x2 * row[1].along;
			}
		}
	}
	return slope;
}

// The rates of the direction, and the parts of the slope that are linear in the share.
static void readDirection(Island* island, double* work, double* start, double* curve) {
	const knJointContacts* contacts = island->contacts;
	multiplyMasses(island, island->forward, work);
	*start = *curve = 0.0;
	for (int c = 0; c < 6 * island->matrix->count; ++c) {
		*start += work[c] * island->moved[c];
		*curve += work[c] * island->forward[c];
	}
	for (int n = 0; n < island->count; ++n) {
		const Entry* entry = &island->entries[n];
		const knSolveJoint* joint = &contacts->whole.joints[entry->index];
		for (int k = 0; k < entry->count; ++k) {
			Row* row = &contacts->rows[entry->first + k];
			row->along = rateOf(island, row, joint, island->forward);
			if (row->law == LAW_FREE) {
				*start += row->r / row->soft * row->along;
				*curve += row->along * row->along / row->soft;
			}
		}
	}
}

static double searchLine(const Island* island, double start, double curve) {
	double first = slopeAt(island, 0.0, start, curve), low = 0.0, high = 1.0;
	double lowSlope = first, highSlope = slopeAt(island, 1.0, start, curve);
	if (!(first < 0.0) || highSlope <= -FLAT * first) {
		return 1.0;
	}
	double share = 1.0;
	for (int k = 0; k < SEARCHES; ++k) {
		share = k % 3 == 2 ? 0.5 * (low + high) : low - lowSlope * (high - low) / (highSlope - lowSlope);
		double slope = slopeAt(island, share, start, curve);
		if (knAbs(slope) <= -FLAT * first) {
			break;
		}
		if (slope < 0.0) {
			low = share;
			lowSlope = slope;
		} else {
			high = share;
			highSlope = slope;
		}
	}
	return share;
}

static void moveAlong(Island* island, double share) {
	for (int c = 0; c < 6 * island->matrix->count; ++c) {
		island->moved[c] += share * island->forward[c];
	}
	for (int n = 0; n < island->count; ++n) {
		const Entry* entry = &island->entries[n];
		for (int k = 0; k < entry->count; ++k) {
			Row* row = &island->contacts->rows[entry->first + k];
			row->balanced = row->x - row->weight * row->along;
			row->r += share * row->along;
		}
	}
}

// The impulses that the last direction ends with, as far as their laws allow them.
static void cutBalanced(Island* island) {
	for (int n = 0; n < island->count; ++n) {
		const Entry* entry = &island->entries[n];
		Row* rows = &island->contacts->rows[entry->first];
		for (int k = 0; k < entry->count; ++k) {
			Row* row = &rows[k];
			double to = row->lambda + row->balanced;
			row->x = row->law == LAW_FREE ? 0.0 : knClamp(to, row->lo, row->hi) - row->lambda;
			if (row->law == LAW_DISC && k == 1) {
				double other = row[1].lambda + row[1].balanced;
				knClampDisc(&to, &other, entry->radius);
				row->x = to - row->lambda;
				row[1].x = other - row[1].lambda;
				break;
			}
		}
	}
}

// Forces of the joints' answers to what was wrong at the start, and those of all other rows; the matrix is made for the
// joints alone.
static void isolateJoints(Island* island, double* joints, double* points) {
	const knJointContacts* contacts = island->contacts;
	memset(joints, 0, sizeof(double) * 6 * (size_t)island->matrix->count);
	memset(points, 0, sizeof(double) * 6 * (size_t)island->matrix->count);
	for (int n = 0; n < island->count; ++n) {
		const Entry* entry = &island->entries[n];
		const knSolveJoint* joint = &contacts->whole.joints[entry->index];
		for (int k = 0; k < entry->count; ++k) {
			Row* row = &contacts->rows[entry->first + k];
			if (row->law == LAW_FREE) {
				addForce(island, row, joint, -row->start / row->soft, joints);
			} else {
				row->weight = 0.0;
				addForce(island, row, joint, row->x, points);
			}
		}
	}
}

// Where the least was not found: towards the impulses of the last direction, cut to what their laws allow, the joints
// answering, as far as that makes the sum smaller.
static bool settleForLess(Island* island) {
	knJointContacts* contacts = island->contacts;
	double *joints = island->moved, *points = island->forward;
	cutBalanced(island);
	isolateJoints(island, joints, points);
	if (!factor(island)) {
		return false;
	}
	knBodyMatrix_Solve(island->matrix, joints);
	knBodyMatrix_Solve(island->matrix, points);
	double slope = 0.0, curve = 0.0;
	for (int pass = 0; pass < 2; ++pass) {
		const double share = curve > 0.0 ? knClamp(-slope / curve, 0.0, 1.0) : 0.0;
		for (int n = 0; n < island->count; ++n) {
			const Entry* entry = &island->entries[n];
			const knSolveJoint* joint = &contacts->whole.joints[entry->index];
			for (int k = 0; k < entry->count; ++k) {
				Row* row = &contacts->rows[entry->first + k];
				if (pass == 0 && row->law != LAW_FREE && row->x != 0.0) {
					slope += row->x * (row->start + rateOf(island, row, joint, joints));
					curve += row->x * rateOf(island, row, joint, points);
				} else if (pass == 1 && row->law == LAW_FREE) {
					double rate =
						rateOf(island, row, joint, joints) + share * rateOf(island, row, joint, points);
					row->x = -(row->start + rate) / row->soft;
				} else if (pass == 1) {
					row->x *= share;
				}
			}
		}
	}
	return true;
}

static void takeBalanced(Island* island) {
	for (int n = 0; n < island->count; ++n) {
		const Entry* entry = &island->entries[n];
		for (int k = 0; k < entry->count; ++k) {
			Row* row = &island->contacts->rows[entry->first + k];
			row->x = row->balanced;
		}
	}
}

// False if a matrix could not be factored.
static bool descend(Island* island, double* work) {
	memset(island->moved, 0, sizeof(double) * 6 * (size_t)island->matrix->count);
	double share = 0.0;
	for (int iteration = 0; iteration < ITERATIONS; ++iteration) {
		Change changed = choosePieces(island);
		bool enough = changed == CHANGE_NONE || (changed == CHANGE_SECANT && iteration >= PATIENCE);
		if (enough && share == 1.0) {
			takeBalanced(island);
			return true;
		}
		findForce(island);
		if ((changed != CHANGE_NONE || (island->refactor && iteration == 0)) && !factor(island)) {
			return false;
		}
		knBodyMatrix_Solve(island->matrix, island->forward);
		double start, curve;
		readDirection(island, work, &start, &curve);
		share = searchLine(island, start, curve);
		moveAlong(island, share);
	}
	return settleForLess(island);
}

// --- a round ---------------------------------------------------------------------------------------------

static void takeRows(Island* island) {
	knJointContacts* contacts = island->contacts;
	knArticulationSolve* whole = &contacts->whole;
	for (int n = 0; n < island->count; ++n) {
		const Entry* entry = &island->entries[n];
		const Row* rows = &contacts->rows[entry->first];
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
static double pushShare(const Island* island, double wanted) {
	const knModel* model = island->contacts->whole.input.model;
	double fastest = 0.0;
	for (int s = 0; s < island->matrix->count; ++s) {
		const double *v = island->moved + 6 * s, radius = model->radius[island->matrix->bodies[s]];
		double turning = knLength(knV3(v[0], v[1], v[2])), going = knLength(knV3(v[3], v[4], v[5]));
		fastest = knMax(fastest, going + radius * turning);
	}
	return fastest > OVERDONE * wanted ? OVERDONE * wanted / fastest : 1.0;
}

static void takePush(Island* island, double wanted) {
	knJointContacts* contacts = island->contacts;
	const double share = pushShare(island, wanted);
	knArticulationSolve* whole = &contacts->whole;
	for (int n = 0; n < island->count; ++n) {
		const Entry* entry = &island->entries[n];
		const Row* rows = &contacts->rows[entry->first];
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
} RoundTask;

static void solveIslands(int first, int last, int worker, void* argument) {
	(void)worker;
	const RoundTask* task = argument;
	knJointContacts* contacts = task->contacts;
	const knArticulationSolve* whole = &contacts->whole;
	for (int k = first; k < last; ++k) {
		contacts->islandWorst[k] = 0.0;
		if (contacts->touched[k] == 0) {
			continue;
		}
		const int begin = whole->islandBegin[k], at = contacts->direct.firstOf[k];
		contacts->factored[k] = contacts->factored[k] != 0 && !task->pushing;
		Island island = { .contacts = contacts,
						  .index = k,
						  .entries = contacts->entries + begin,
						  .count = whole->islandBegin[k + 1] - begin,
						  .matrix = &contacts->direct.matrices[k],
						  .moved = contacts->moved + at,
						  .forward = contacts->forward + at,
						  .refactor = contacts->factored[k] == 0,
						  .pushing = task->pushing,
						  .u = task->pushing ? contacts->step->push : whole->u };
		double worst = contacts->islandWorst[k] = listRows(&island);
		if ((!task->pushing || worst > 0.0) && descend(&island, contacts->direct.x + at)) {
			if (task->pushing) {
				takePush(&island, worst);
			} else {
				takeRows(&island);
			}
		}
	}
}

static double solve(knJointContacts* contacts, bool pushing) {
	RoundTask task = { contacts, pushing };
	knTasks_For(&contacts->whole.input.tasks, contacts->whole.islandCount, 1, solveIslands, &task);
	double worst = 0.0;
	for (int k = 0; k < contacts->whole.islandCount; ++k) {
		worst = knMax(worst, contacts->islandWorst[k]);
	}
	return worst;
}

double knJointContacts_Round(knJointContacts* contacts) {
	return solve(contacts, false);
}

void knJointContacts_Push(knJointContacts* contacts) {
	(void)solve(contacts, true);
}
