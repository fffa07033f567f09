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

// Returns whether the pieces changed, so that the matrix is another one.
static Change choosePieces(knLawIsland* island) {
	Change changed = CHANGE_NONE;
	for (int n = 0; n < island->count; ++n) {
		knLawEntry* entry = &island->entries[n];
		knLawRow* rows = &island->contacts->rows[entry->first];
		for (int k = 0; k < entry->count; ++k) {
			knLawRow* row = &rows[k];
			if (row->law == KN_LAW_FREE) {
				row->x = -row->r / row->soft;
				changed = larger(changed, choosePiece(row, 1.0 / row->soft));
			} else if (row->law == KN_LAW_RANGE) {
				changed = larger(changed, chooseRange(row));
			} else if (k == 1) {
				changed = larger(changed, chooseDisc(entry, row));
			}
		}
	}
	return changed;
}

// --- Newton's method -------------------------------------------------------------------------------------

static const double* stepOf(const knLawIsland* island, const double* v, int body) {
	const int s = island->contacts->direct.stepOf[body];
	return s >= 0 ? v + 6 * s : NULL;
}

static double rateOf(const knLawIsland* island, const knLawRow* row, const knSolveJoint* joint,
					 const double* v) {
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
static void multiplyMasses(const knLawIsland* island, const double* v, double* out) {
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
static void addForce(const knLawIsland* island, const knLawRow* row, const knSolveJoint* joint, double x,
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
static void findForce(knLawIsland* island) {
	const knJointContacts* contacts = island->contacts;
	double* f = island->forward;
	multiplyMasses(island, island->moved, f);
	for (int c = 0; c < 6 * island->matrix->count; ++c) {
		f[c] = -f[c];
	}
	for (int n = 0; n < island->count; ++n) {
		const knLawEntry* entry = &island->entries[n];
		const knSolveJoint* joint = &contacts->whole.joints[entry->index];
		for (int k = 0; k < entry->count; ++k) {
			const knLawRow* row = &contacts->rows[entry->first + k];
			addForce(island, row, joint, row->x, f);
		}
	}
}

static bool factor(knLawIsland* island) {
	knJointContacts* contacts = island->contacts;
	knJointDirect_Begin(&contacts->direct, &contacts->whole, island->index);
	for (int n = 0; n < island->count; ++n) {
		const knLawEntry* entry = &island->entries[n];
		const knSolveJoint* joint = &contacts->whole.joints[entry->index];
		knBodyPlace place = knBodyPlace_Find(&contacts->direct, island->index, joint->parent, joint->child);
		for (int k = 0; k < entry->count; ++k) {
			const knLawRow* row = &contacts->rows[entry->first + k];
			if (row->weight > 0.0) {
				knBodyPlace_Add(&place, &row->row, row->weight);
			}
		}
	}
	contacts->factored[island->index] = knBodyMatrix_Factor(island->matrix);
	return contacts->factored[island->index] != 0;
}

// Slope of the sum along the direction, at a share of it.
static double slopeAt(const knLawIsland* island, double share, double start, double curve) {
	double slope = start + share * curve;
	for (int n = 0; n < island->count; ++n) {
		const knLawEntry* entry = &island->entries[n];
		const knLawRow* rows = &island->contacts->rows[entry->first];
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
static void readDirection(knLawIsland* island, double* work, double* start, double* curve) {
	const knJointContacts* contacts = island->contacts;
	multiplyMasses(island, island->forward, work);
	*start = *curve = 0.0;
	for (int c = 0; c < 6 * island->matrix->count; ++c) {
		*start += work[c] * island->moved[c];
		*curve += work[c] * island->forward[c];
	}
	for (int n = 0; n < island->count; ++n) {
		const knLawEntry* entry = &island->entries[n];
		const knSolveJoint* joint = &contacts->whole.joints[entry->index];
		for (int k = 0; k < entry->count; ++k) {
			knLawRow* row = &contacts->rows[entry->first + k];
			row->along = rateOf(island, row, joint, island->forward);
			if (row->law == KN_LAW_FREE) {
				*start += row->r / row->soft * row->along;
				*curve += row->along * row->along / row->soft;
			}
		}
	}
}

static double searchLine(const knLawIsland* island, double start, double curve) {
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

static void moveAlong(knLawIsland* island, double share) {
	for (int c = 0; c < 6 * island->matrix->count; ++c) {
		island->moved[c] += share * island->forward[c];
	}
	for (int n = 0; n < island->count; ++n) {
		const knLawEntry* entry = &island->entries[n];
		for (int k = 0; k < entry->count; ++k) {
			knLawRow* row = &island->contacts->rows[entry->first + k];
			row->balanced = row->x - row->weight * row->along;
			row->r += share * row->along;
		}
	}
}

// The impulses that the last direction ends with, as far as their laws allow them.
static void cutBalanced(knLawIsland* island) {
	for (int n = 0; n < island->count; ++n) {
		const knLawEntry* entry = &island->entries[n];
		knLawRow* rows = &island->contacts->rows[entry->first];
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
static void isolateJoints(knLawIsland* island, double* joints, double* points) {
	const knJointContacts* contacts = island->contacts;
	memset(joints, 0, sizeof(double) * 6 * (size_t)island->matrix->count);
	memset(points, 0, sizeof(double) * 6 * (size_t)island->matrix->count);
	for (int n = 0; n < island->count; ++n) {
		const knLawEntry* entry = &island->entries[n];
		const knSolveJoint* joint = &contacts->whole.joints[entry->index];
		for (int k = 0; k < entry->count; ++k) {
			knLawRow* row = &contacts->rows[entry->first + k];
			if (row->law == KN_LAW_FREE) {
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
static bool settleForLess(knLawIsland* island) {
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
			const knLawEntry* entry = &island->entries[n];
			const knSolveJoint* joint = &contacts->whole.joints[entry->index];
			for (int k = 0; k < entry->count; ++k) {
				knLawRow* row = &contacts->rows[entry->first + k];
				if (pass == 0 && row->law != KN_LAW_FREE && row->x != 0.0) {
					slope += row->x * (row->start + rateOf(island, row, joint, joints));
					curve += row->x * rateOf(island, row, joint, points);
				} else if (pass == 1 && row->law == KN_LAW_FREE) {
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

static void takeBalanced(knLawIsland* island) {
	for (int n = 0; n < island->count; ++n) {
		const knLawEntry* entry = &island->entries[n];
		for (int k = 0; k < entry->count; ++k) {
			knLawRow* row = &island->contacts->rows[entry->first + k];
			row->x = row->balanced;
		}
	}
}

bool knLawIsland_Descend(knLawIsland* island, double* work) {
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
