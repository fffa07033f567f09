// The least of a round's sum (joint_contact.c) by Newton's method,
//
//   1/2 (v - u).M.(v - u) + sum phi(r(v))      -phi' = x(r) = law(lambda - r/e) - lambda
//   H d = -(M (v - u) - sum J^T x),   H = M + sum J^T w J       w: -dx/dr of the piece of its law that a row lies on
//
// with an exact line search along d. When the whole of d was gone along and the pieces are the same, x is found.
#include <string.h>

#include "steppers/impulse/joint_contact_internal.h"

#define ITERATIONS 40 // of Newton's method in a round
#define PATIENCE 2    // iterations after which secants need not be settled: rounds go on with them
#define SEARCHES 12   // evaluations of a line search
#define FLAT 0.1      // of the first slope: a line search ends
#define SAME 0.2      // a secant that changes by less has not changed

// large groups
#define LARGE_FEW 0.02   // of the points: rows that may change their piece at the end of a round
#define PUSH_FEW 0.05    // likewise of a push
#define REMAKE 0.03      // of the points: when more rows change theirs, the matrix is made anew,
#define PUSH_REMAKE 0.15 // likewise of a push,
#define TOUGH 6          // and when a direction took so many iterations more than with a new one
#define WHOLE_STEPS 3    // iterations without a line search
#define POLISH 6         // iterations of the last round until a few rows may be left

// How the pieces differ from those that the matrix was made for.
typedef enum Change { CHANGE_NONE, CHANGE_SECANT, CHANGE_PIECE } Change;

// --- laws ------------------------------------------------------------------------------------------------

static double rangeChange(const knLawRow* row, double r) {
	return knClamp(row->lambda - r / row->soft, row->lo, row->hi) - row->lambda;
}

// Changes of the two tangents, and the share of what they wanted: 1 sticks.
static double discChange(const knLawRow* t, double radius, double r1, double r2, double* x1, double* x2) {
	double y1 = t[0].lambda - r1 / t[0].soft, y2 = t[1].lambda - r2 / t[1].soft;
	double length = sqrt(y1 * y1 + y2 * y2), share = length > radius ? radius / length : 1.0;
	*x1 = share * y1 - t[0].lambda;
	*x2 = share * y2 - t[1].lambda;
	return share;
}

// The piece of its law that a row lies on; true if it is another one than the matrix was made for. Where a law ends on
// both sides (a motor, a disc), its secant is taken instead of its slope, which is zero there and would send the row to and
// fro; it counts as the same while it changes little.
static Change choosePiece(knLawRow* row, double weight) {
	if (knAbs(weight - row->weight) <= SAME * weight) {
		return CHANGE_NONE;
	}
	Change change = row->weight > 0.0 && weight > 0.0 ? CHANGE_SECANT : CHANGE_PIECE;
	row->weight = weight;
	return change;
}

static Change chooseRange(knLawRow* row) {
	double y = row->lambda - row->r / row->soft, to = knClamp(y, row->lo, row->hi);
	row->x = to - row->lambda;
	return choosePiece(row, to == y ? 1.0 / row->soft : to / y / row->soft);
}

static Change chooseDisc(const knLawEntry* entry, knLawRow* t) {
	double share = discChange(t, entry->radius, t[0].r, t[1].r, &t[0].x, &t[1].x);
	Change change = choosePiece(&t[0], share / t[0].soft);
	t[1].weight = t[0].weight;
	return change;
}

static Change larger(Change a, Change b) {
	return a > b ? a : b;
}

// Returns whether the pieces changed, so that the matrix is another one, and counts the rows that are on another piece.
static Change choosePieces(knLawGroup* group, int* pieces) {
	Change changed = CHANGE_NONE;
	*pieces = 0;
	for (int n = 0; n < group->count; ++n) {
		knLawEntry* entry = &group->entries[n];
		knLawRow* rows = &group->contacts->rows[entry->first];
		for (int k = 0; k < entry->count; ++k) {
			knLawRow* row = &rows[k];
			Change change = CHANGE_NONE;
			if (row->law == KN_LAW_FREE) {
				row->x = -row->r / row->soft;
				change = choosePiece(row, 1.0 / row->soft);
			} else if (row->law == KN_LAW_RANGE) {
				change = chooseRange(row);
			} else if (k == 1) {
				change = chooseDisc(entry, row);
			}
			changed = larger(changed, change);
			*pieces += change == CHANGE_PIECE ? 1 : 0;
		}
	}
	return changed;
}

// --- Newton's method -------------------------------------------------------------------------------------

static double rateOf(const knLawEntry* entry, const knLawRow* row, const double* v) {
	return knLawRow_Rate(&row->row, entry->a, entry->b, v);
}

// out = M v of all bodies of the group
static void multiplyMasses(const knLawGroup* group, const double* v, double* out) {
	const knArticulationSolve* whole = &group->contacts->whole;
	for (int s = 0; s < group->matrix.count; ++s) {
		const int body = group->matrix.bodies[s];
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

static void addForce(const knLawEntry* entry, const knLawRow* row, double x, double* force) {
	knLawRow_Push(&row->row, entry->a, entry->b, x, force);
}

// forward = -(M moved - sum J^T x)
static void findForce(knLawGroup* group) {
	const knJointContacts* contacts = group->contacts;
	double* f = group->forward;
	multiplyMasses(group, group->moved, f);
	for (int c = 0; c < 6 * group->matrix.count; ++c) {
		f[c] = -f[c];
	}
	for (int n = 0; n < group->count; ++n) {
		const knLawEntry* entry = &group->entries[n];
		for (int k = 0; k < entry->count; ++k) {
			const knLawRow* row = &contacts->rows[entry->first + k];
			addForce(entry, row, row->x, f);
		}
	}
}

// Slope of the sum along the direction, at a share of it.
static double slopeAt(const knLawGroup* group, double share, double start, double curve) {
	double slope = start + share * curve;
	for (int n = 0; n < group->count; ++n) {
		const knLawEntry* entry = &group->entries[n];
		const knLawRow* rows = &group->contacts->rows[entry->first];
		for (int k = 0; k < entry->count; ++k) {
			const knLawRow* row = &rows[k];
			double r = row->r + share * row->along;
			if (row->law == KN_LAW_RANGE) {
				slope -= rangeChange(row, r) * row->along;
			} else if (row->law == KN_LAW_DISC && k == 1) {
				double x1, x2;
				discChange(row, entry->radius, r, row[1].r + share * row[1].along, &x1, &x2);
				slope -= x1 * row->along + x2 * row[1].along;
			}
		}
	}
	return slope;
}

// The rates of the direction, and the parts of the slope that are linear in the share.
static void readDirection(knLawGroup* group, double* start, double* curve) {
	const knJointContacts* contacts = group->contacts;
	double* work = group->work;
	multiplyMasses(group, group->forward, work);
	*start = *curve = 0.0;
	for (int c = 0; c < 6 * group->matrix.count; ++c) {
		*start += work[c] * group->moved[c];
		*curve += work[c] * group->forward[c];
	}
	for (int n = 0; n < group->count; ++n) {
		const knLawEntry* entry = &group->entries[n];
		for (int k = 0; k < entry->count; ++k) {
			knLawRow* row = &contacts->rows[entry->first + k];
			row->along = rateOf(entry, row, group->forward);
			if (row->law == KN_LAW_FREE) {
				*start += row->r / row->soft * row->along;
				*curve += row->along * row->along / row->soft;
			}
		}
	}
}

static double searchLine(const knLawGroup* group, double start, double curve) {
	double first = slopeAt(group, 0.0, start, curve), low = 0.0, high = 1.0;
	double lowSlope = first, highSlope = slopeAt(group, 1.0, start, curve);
	if (!(first < 0.0) || highSlope <= -FLAT * first) {
		return 1.0;
	}
	double share = 1.0;
	for (int k = 0; k < SEARCHES; ++k) {
		share = k % 3 == 2 ? 0.5 * (low + high) : low - lowSlope * (high - low) / (highSlope - lowSlope);
		double slope = slopeAt(group, share, start, curve);
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

static void moveAlong(knLawGroup* group, double share) {
	for (int c = 0; c < 6 * group->matrix.count; ++c) {
		group->moved[c] += share * group->forward[c];
	}
	for (int n = 0; n < group->count; ++n) {
		const knLawEntry* entry = &group->entries[n];
		for (int k = 0; k < entry->count; ++k) {
			knLawRow* row = &group->contacts->rows[entry->first + k];
			row->balanced = row->x - row->weight * row->along;
			row->r += share * row->along;
		}
	}
}

// The impulses that the last direction ends with, as far as their laws allow them.
static void cutBalanced(knLawGroup* group) {
	for (int n = 0; n < group->count; ++n) {
		const knLawEntry* entry = &group->entries[n];
		knLawRow* rows = &group->contacts->rows[entry->first];
		for (int k = 0; k < entry->count; ++k) {
			knLawRow* row = &rows[k];
			double to = row->lambda + row->balanced;
			row->x = row->law == KN_LAW_FREE ? 0.0 : knClamp(to, row->lo, row->hi) - row->lambda;
			if (row->law == KN_LAW_DISC && k == 1) {
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
static void isolateJoints(knLawGroup* group, double* joints, double* points) {
	const knJointContacts* contacts = group->contacts;
	memset(joints, 0, sizeof(double) * 6 * (size_t)group->matrix.count);
	memset(points, 0, sizeof(double) * 6 * (size_t)group->matrix.count);
	for (int n = 0; n < group->count; ++n) {
		const knLawEntry* entry = &group->entries[n];
		for (int k = 0; k < entry->count; ++k) {
			knLawRow* row = &contacts->rows[entry->first + k];
			if (row->law == KN_LAW_FREE) {
				addForce(entry, row, -row->start / row->soft, joints);
			} else {
				row->weight = 0.0;
				addForce(entry, row, row->x, points);
			}
		}
	}
}

// Where the least was not found: towards the impulses of the last direction, cut to what their laws allow, the joints
// answering, as far as that makes the sum smaller.
static bool settleForLess(knLawGroup* group) {
	knJointContacts* contacts = group->contacts;
	double *joints = group->moved, *points = group->forward;
	cutBalanced(group);
	isolateJoints(group, joints, points);
	if (!knLawGroup_Factor(group)) {
		return false;
	}
	group->factored = group->factored && !group->large; // with weights that are none of these
	knBodyMatrix_Solve(&group->matrix, joints);
	knBodyMatrix_Solve(&group->matrix, points);
	double slope = 0.0, curve = 0.0;
	for (int pass = 0; pass < 2; ++pass) {
		const double share = curve > 0.0 ? knClamp(-slope / curve, 0.0, 1.0) : 0.0;
		for (int n = 0; n < group->count; ++n) {
			const knLawEntry* entry = &group->entries[n];
			for (int k = 0; k < entry->count; ++k) {
				knLawRow* row = &contacts->rows[entry->first + k];
				if (pass == 0 && row->law != KN_LAW_FREE && row->x != 0.0) {
					slope += row->x * (row->start + rateOf(entry, row, joints));
					curve += row->x * rateOf(entry, row, points);
				} else if (pass == 1 && row->law == KN_LAW_FREE) {
					double rate = rateOf(entry, row, joints) + share * rateOf(entry, row, points);
					row->x = -(row->start + rate) / row->soft;
				} else if (pass == 1) {
					row->x *= share;
				}
			}
		}
	}
	return true;
}

static void takeBalanced(knLawGroup* group) {
	for (int n = 0; n < group->count; ++n) {
		const knLawEntry* entry = &group->entries[n];
		for (int k = 0; k < entry->count; ++k) {
			knLawRow* row = &group->contacts->rows[entry->first + k];
			row->x = row->balanced;
		}
	}
}

// The step to the least of a small group's sum is found to the end, its matrix made anew whenever a piece changes.
static bool descendExactly(knLawGroup* group) {
	double share = 0.0;
	for (int iteration = 0; iteration < ITERATIONS; ++iteration) {
		int pieces = 0;
		Change changed = choosePieces(group, &pieces);
		bool enough = changed == CHANGE_NONE || (changed == CHANGE_SECANT && iteration >= PATIENCE);
		if (enough && share == 1.0) {
			takeBalanced(group);
			return true;
		}
		findForce(group);
		if ((changed != CHANGE_NONE || (group->refactor && iteration == 0)) && !knLawGroup_Factor(group)) {
			return false;
		}
		knLawGroup_Solve(group);
		double start, curve;
		readDirection(group, &start, &curve);
		share = searchLine(group, start, curve);
		moveAlong(group, share);
	}
	return settleForLess(group);
}

// In a large group some row changes its piece in almost every iteration, and a line search lets that row hold up all others.
// So whole steps are tried first, and a few rows are left to the next round, except in the last one.
static bool descendRoughly(knLawGroup* group) {
	const double points = (double)group->pointCount,
				 remake = (group->pushing ? PUSH_REMAKE : REMAKE) * points;
	const int few = (int)((group->pushing ? PUSH_FEW : LARGE_FEW) * points);
	double share = 0.0;
	for (int iteration = 0; iteration < ITERATIONS; ++iteration) {
		int pieces = 0;
		choosePieces(group, &pieces);
		const bool left = group->last && iteration < POLISH ? pieces > 0 : pieces > few;
		if (!left && share == 1.0) {
			takeBalanced(group);
			return true;
		}
		findForce(group);
		const bool anew = !group->factored || pieces > remake;
		if (anew && !knLawGroup_Factor(group)) {
			return false;
		}
		const int took = knLawGroup_Solve(group);
		group->usual = anew ? took : group->usual;
		group->factored = took <= group->usual + TOUGH;
		double start, curve;
		readDirection(group, &start, &curve);
		share = iteration < WHOLE_STEPS ? 1.0 : searchLine(group, start, curve);
		moveAlong(group, share);
	}
	return settleForLess(group);
}

bool knLawGroup_Descend(knLawGroup* group) {
	memset(group->moved, 0, sizeof(double) * 6 * (size_t)group->matrix.count);
	return group->large ? descendRoughly(group) : descendExactly(group);
}
