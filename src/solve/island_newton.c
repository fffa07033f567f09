// Newton's method for the convex problem of island_newton.h:
//
//   (H + sum J^T w J) f = -(g + H d - sum J^T x),    d += s f
//
// w is the slope -dx/dr of the branch of its law that a row lies on: 1/e where the wish y = lambda - r/e is allowed, 0 on a
// bound. On the rim of a disc it is share/e across the wish and 0 along it: the slope. Discs whose impulse the slope has foreseen
// badly are taken by their secant, share/e both ways, which does not overshoot: else a few of them, which differ from step to
// step, make s small for all. s is the exact minimum along f. When the whole of f was gone along and no row is on another branch,
// the problem is solved.

#include "solve/island_newton.h"

#include "core/assert.h"

#include <string.h>

#define DISC_TRUST 0.3       // of a disc's radius: by so much a whole step may miss what its slope foresees
#define SLOPE_TOLERANCE 1e-3 // of 1/e: slopes that differ by less are the same
#define SEARCH_EVALUATIONS 16
#define SEARCH_TOLERANCE 0.05     // of the first slope: a line search ends
#define PANEL 48                  // rows of an entry that are added at once
#define REFINEMENT_TOLERANCE 1e-1 // of the gradient: a smaller change is left to the next round

// --- rows ------------------------------------------------------------------------------------------------

double knIslandRow_Rate(const knIslandEntry* entry, const knBodyRow* row, const double* v) {
	double sum = 0.0;
	for (int c = 0; entry->a >= 0 && c < 6; ++c) {
		sum += row->a[c] * v[6 * (ptrdiff_t)entry->a + c];
	}
	for (int c = 0; entry->b >= 0 && c < 6; ++c) {
		sum += row->b[c] * v[6 * (ptrdiff_t)entry->b + c];
	}
	return sum;
}

void knIslandRow_Push(const knIslandEntry* entry, const knBodyRow* row, double x, double* impulse) {
	if (entry->a >= 0) {
		knBodyRow_AddTo(impulse + 6 * (ptrdiff_t)entry->a, x, row->a);
	}
	if (entry->b >= 0) {
		knBodyRow_AddTo(impulse + 6 * (ptrdiff_t)entry->b, x, row->b);
	}
}

static double wishOf(const knIslandRow* row, double r) {
	return row->lambda - r / row->soft;
}

// Changes of the impulses of a disc's two rows at the rates r1, r2; returns the share of the wish.
static double discChange(const knIslandRow* t, double r1, double r2, double* x1, double* x2) {
	double y1 = wishOf(&t[0], r1), y2 = wishOf(&t[1], r2);
	double share = knRowLaw_Disc(t[0].hi, &y1, &y2);
	*x1 = y1 - t[0].lambda;
	*x2 = y2 - t[1].lambda;
	return share;
}

// The impulse of a graph at the rate r, and the slope -dlambda/dr there. It is the resolvent: with d = span r, the point
// (d', lambda') of the graph with d' - d = span e (lambda' - lambda).
static double graphImpulse(const knIslandRow* row, double r, double* weight) {
	const double rho = row->span * row->soft, z = row->span * r - rho * row->lambda;
	const knJointBranch branch = knJointLaw_Branch(row->graph, z, rho);
	if (branch.held) {
		*weight = 1.0 / row->soft;
		return branch.lambda;
	}
	const double scale = 1.0 / (1.0 - branch.slope * rho);
	*weight = -row->span * branch.slope * scale;
	return (branch.lambda + branch.slope * (z - branch.d)) * scale;
}

// --- branches --------------------------------------------------------------------------------------------

// The change by the law, and the slope of its branch; true: another branch than before.
static bool chooseRange(knIslandRow* row) {
	double wish = wishOf(row, row->r), to = knRowLaw_Range(wish, row->lo, row->hi);
	double weight = to == wish ? 1.0 / row->soft : 0.0;
	bool changed = weight != row->weight;
	row->change = to - row->lambda;
	row->weight = weight;
	return changed;
}

// The same for a graph, whose slope is at least the mean one that the last direction has met where it was cut.
static bool chooseGraph(knIslandRow* row) {
	const double before = row->weight;
	row->change = graphImpulse(row, row->r, &row->weight) - row->lambda;
	const bool cut = row->foreseen > row->weight + SLOPE_TOLERANCE / row->soft;
	row->weight = cut ? row->foreseen : row->weight;
	return cut || row->weight != before;
}

// Mean slope of a graph along the whole of a direction, of which only a share is gone; 0: all of it is.
static double meanSlope(const knIslandRow* row, double share) {
	double weight;
	if (share == 1.0 || row->along == 0.0) {
		return 0.0;
	}
	return (graphImpulse(row, row->r, &weight) - graphImpulse(row, row->r + row->along, &weight)) /
		   row->along;
}

// The same for a disc. On its rim the impulse that the last direction foresaw must agree with the law. What was foreseen is off by
// the square of the share `gone` of that direction; for a small share it says nothing about a whole step.
static bool chooseDisc(knIslandRow* t, bool secant, double tolerance, double gone) {
	double y1 = wishOf(&t[0], t[0].r), y2 = wishOf(&t[1], t[1].r), length = sqrt(y1 * y1 + y2 * y2);
	double share = discChange(t, t[0].r, t[1].r, &t[0].change, &t[1].change);
	bool stuck = t[0].weight > 0.0 && t[0].axis == 0.0 && t[1].axis == 0.0;
	bool changed = (share == 1.0) != stuck;
	if (share < 1.0) {
		double off1 = t[0].change - t[0].foreseen, off2 = t[1].change - t[1].foreseen;
		const double off = off1 * off1 + off2 * off2, square = t[0].hi * t[0].hi,
					 trust = DISC_TRUST * gone * gone;
		changed = changed || off > tolerance * tolerance * square;
		secant = secant || off > trust * trust * square;
	}
	t[0].axis = share < 1.0 && length > 0.0 ? y1 / length : 0.0;
	t[1].axis = share < 1.0 && length > 0.0 ? y2 / length : 0.0;
	t[0].weight = share / t[0].soft;
	t[1].weight = share < 1.0 && !secant ? 0.0 : t[0].weight;
	return changed;
}

// Returns whether any row is on another branch; of discs only if they are minded.
static bool chooseBranches(knIslandProblem* problem, bool secant, bool minded, double gone) {
	bool changed = false;
	for (int n = 0; n < problem->entryCount; ++n) {
		const knIslandEntry* entry = &problem->entries[n];
		for (int k = entry->first; k < entry->first + entry->count; ++k) {
			knIslandRow* row = &problem->rows[k];
			if (row->law == KN_LAW_FREE) {
				row->change = -row->r / row->soft;
				row->weight = 1.0 / row->soft;
			} else if (row->law == KN_LAW_RANGE) {
				changed = chooseRange(row) || changed;
			} else if (row->law == KN_LAW_GRAPH) {
				changed = chooseGraph(row) || changed;
			} else {
				changed = (chooseDisc(row, secant, problem->discTolerance, gone) && minded) || changed;
				++k;
			}
		}
	}
	return changed;
}

// --- the direction ---------------------------------------------------------------------------------------

typedef struct Panel {
	knBodyRow turned[PANEL]; // rows of discs, across and along the sliding
	const knBodyRow* rows[PANEL];
	double weights[PANEL];
	int count;
} Panel;

static void addToPanel(Panel* panel, const knBodyRow* row, double weight) {
	if (weight > 0.0) {
		panel->rows[panel->count] = row;
		panel->weights[panel->count++] = weight;
	}
}

// x row1 + y row2
static const knBodyRow* turnRow(Panel* panel, const knIslandRow* t, double x, double y) {
	knBodyRow* to = &panel->turned[panel->count];
	for (int c = 0; c < 6; ++c) {
		to->a[c] = x * t[0].row.a[c] + y * t[1].row.a[c];
		to->b[c] = x * t[0].row.b[c] + y * t[1].row.b[c];
	}
	return to;
}

static void addDisc(Panel* panel, const knIslandRow* t) {
	if (t[0].weight == t[1].weight) {
		addToPanel(panel, &t[0].row, t[0].weight);
		addToPanel(panel, &t[1].row, t[1].weight);
	} else {
		addToPanel(panel, turnRow(panel, t, -t[1].axis, t[0].axis), t[0].weight);
	}
}

static bool factor(knIslandProblem* problem) {
	knBodyMatrix* matrix = &problem->matrix;
	Panel panel;
	problem->factorizations += 1;
	knBodyMatrix_Clear(matrix);
	memcpy(matrix->diagonal, problem->H, sizeof(double) * 36 * (size_t)matrix->count);
	for (int n = 0; n < problem->entryCount; ++n) {
		const knIslandEntry* entry = &problem->entries[n];
		const knBodyPlace place = knBodyPlace_At(matrix, entry->a, entry->b, entry->block);
		panel.count = 0;
		for (int k = entry->first; k < entry->first + entry->count; ++k) {
			const knIslandRow* row = &problem->rows[k];
			if (row->law == KN_LAW_DISC) {
				addDisc(&panel, row);
				++k;
			} else {
				addToPanel(&panel, &row->row, row->weight);
			}
			if (panel.count >= PANEL - 2 || k + 1 >= entry->first + entry->count) {
				knBodyPlace_AddRows(&place, panel.rows, panel.weights, panel.count);
				panel.count = 0;
			}
		}
	}
	return knBodyMatrix_Factor(matrix);
}

// out = H v; of H only the upper halves of its blocks are good
static void multiplyH(const knIslandProblem* problem, const double* v, double* out) {
	for (int s = 0; s < problem->matrix.count; ++s) {
		const double *H = problem->H + 36 * (ptrdiff_t)s, *in = v + 6 * (ptrdiff_t)s;
		double* to = out + 6 * (ptrdiff_t)s;
		for (int r = 0; r < 6; ++r) {
			to[r] = 0.0;
			for (int c = 0; c < 6; ++c) {
				to[r] += (c >= r ? H[6 * r + c] : H[6 * c + r]) * in[c];
			}
		}
	}
}

// forward = -(g + H d - sum J^T x)
static void findForce(knIslandProblem* problem) {
	double* f = problem->forward;
	multiplyH(problem, problem->d, f);
	for (int c = 0; c < 6 * problem->matrix.count; ++c) {
		f[c] = -(f[c] + problem->gradient[c] + problem->lagged[c]);
	}
	for (int n = 0; n < problem->entryCount; ++n) {
		const knIslandEntry* entry = &problem->entries[n];
		for (int k = entry->first; k < entry->first + entry->count; ++k) {
			knIslandRow_Push(entry, &problem->rows[k].row, problem->rows[k].change, f);
		}
	}
}

// --- line search -----------------------------------------------------------------------------------------

// Slope of the sum along the direction, `start` and `curve` being what is linear in the share.
static double slopeAt(const knIslandProblem* problem, double share, double start, double curve) {
	double slope = start + share * curve;
	for (int n = 0; n < problem->entryCount; ++n) {
		const knIslandEntry* entry = &problem->entries[n];
		for (int k = entry->first; k < entry->first + entry->count; ++k) {
			const knIslandRow* row = &problem->rows[k];
			double r = row->r + share * row->along;
			if (row->law == KN_LAW_RANGE) {
				slope -= (knRowLaw_Range(wishOf(row, r), row->lo, row->hi) - row->lambda) * row->along;
			} else if (row->law == KN_LAW_GRAPH) {
				double weight;
				slope -= (graphImpulse(row, r, &weight) - row->lambda) * row->along;
			} else if (row->law == KN_LAW_DISC) {
				double x1, x2;
				discChange(row, r, row[1].r + share * row[1].along, &x1, &x2);
				slope -= x1 * row->along + x2 * row[1].along;
				++k;
			}
		}
	}
	return slope;
}

// m2/s2, the largest of f.H.f over a node's mass.
static double fastest(const knIslandProblem* problem) {
	double most = 0.0;
	for (int s = 0; s < problem->matrix.count; ++s) {
		const double *f = problem->forward + 6 * (ptrdiff_t)s, *Hf = problem->work + 6 * (ptrdiff_t)s;
		const double sum =
			(f[0] * Hf[0] + f[1] * Hf[1] + f[2] * Hf[2]) + (f[3] * Hf[3] + f[4] * Hf[4] + f[5] * Hf[5]);
		most = knMax(most, sum / problem->H[36 * (ptrdiff_t)s + 35]);
	}
	return most;
}

// The rates of the direction, and the parts of the slope that are linear in the share. Returns the square of its speed.
static double readDirection(knIslandProblem* problem, double* start, double* curve) {
	double* work = problem->work;
	multiplyH(problem, problem->forward, work);
	*start = *curve = 0.0;
	for (int c = 0; c < 6 * problem->matrix.count; ++c) {
		*start += work[c] * problem->d[c] + (problem->gradient[c] + problem->lagged[c]) * problem->forward[c];
		*curve += work[c] * problem->forward[c];
	}
	const double square = fastest(problem);
	for (int n = 0; n < problem->entryCount; ++n) {
		const knIslandEntry* entry = &problem->entries[n];
		for (int k = entry->first; k < entry->first + entry->count; ++k) {
			knIslandRow* row = &problem->rows[k];
			row->along = knIslandRow_Rate(entry, &row->row, problem->forward);
			if (row->law == KN_LAW_FREE) {
				*start += row->r / row->soft * row->along;
				*curve += row->along * row->along / row->soft;
			}
		}
	}
	return square;
}

static double searchLine(const knIslandProblem* problem, double first, double start, double curve) {
	double low = 0.0, high = 1.0;
	double lowSlope = first, highSlope = slopeAt(problem, 1.0, start, curve);
	if (!(first < 0.0) || highSlope <= -SEARCH_TOLERANCE * first) {
		return 1.0;
	}
	double share = 1.0;
	for (int k = 0; k < SEARCH_EVALUATIONS; ++k) {
		share = k % 3 == 2 ? 0.5 * (low + high) : low - lowSlope * (high - low) / (highSlope - lowSlope);
		double slope = slopeAt(problem, share, start, curve);
		if (knAbs(slope) <= -SEARCH_TOLERANCE * first) {
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

// Goes along, and foresees the impulses of rims by the slopes of their branches.
static void goAlong(knIslandProblem* problem, double share) {
	for (int c = 0; c < 6 * problem->matrix.count; ++c) {
		problem->d[c] += share * problem->forward[c];
	}
	for (int n = 0; n < problem->entryCount; ++n) {
		const knIslandEntry* entry = &problem->entries[n];
		for (int k = entry->first; k < entry->first + entry->count; ++k) {
			knIslandRow* row = &problem->rows[k];
			if (row->law == KN_LAW_GRAPH) {
				row->foreseen = meanSlope(row, share);
			}
			row->r += share * row->along;
			if (row->law == KN_LAW_DISC) {
				row[1].r += share * row[1].along;
				double along = row->axis * row->along + row[1].axis * row[1].along;
				double rim = row->weight != row[1].weight ? along : 0.0;
				row->foreseen = row->change - share * row->weight * (row->along - rim * row->axis);
				row[1].foreseen = row[1].change - share * row->weight * (row[1].along - rim * row[1].axis);
				++k;
			}
		}
	}
}

// --- the method ------------------------------------------------------------------------------------------

bool knIslandProblem_Reserve(knIslandProblem* problem, knArena* arena) {
	const int numbers = 6 * problem->matrix.count;
	problem->H = KN_SCRATCH_ZERO(arena, double, 6 * numbers);
	problem->gradient = KN_SCRATCH_ZERO(arena, double, numbers);
	problem->d = KN_SCRATCH_ZERO(arena, double, numbers);
	problem->forward = KN_SCRATCH(arena, double, numbers);
	problem->work = KN_SCRATCH(arena, double, numbers);
	problem->lagged = KN_SCRATCH_ZERO(arena, double, numbers);
	problem->extra = KN_SCRATCH_ZERO(arena, double, 9 * problem->matrix.count);
	return !arena->failed;
}

static void begin(knIslandProblem* problem) {
	memset(problem->d, 0, sizeof(double) * 6 * (size_t)problem->matrix.count);
	memset(problem->lagged, 0, sizeof(double) * 6 * (size_t)problem->matrix.count);
	problem->iterations = problem->factorizations = 0;
	for (int n = 0; n < problem->entryCount; ++n) {
		const knIslandEntry* entry = &problem->entries[n];
		for (int k = entry->first; k < entry->first + entry->count; ++k) {
			knIslandRow* row = &problem->rows[k];
			KN_ASSERT(row->soft > 0.0);
			row->r = row->rate;
			row->change = row->foreseen = 0.0;
			row->weight = problem->kept ? row->weight : 0.0;
			row->axis = problem->kept ? row->axis : 0.0;
		}
	}
}

// What the last direction foresaw balances the nodes exactly; on rims the law says the same within the tolerance.
static void takeForeseen(knIslandProblem* problem) {
	for (int n = 0; n < problem->entryCount; ++n) {
		const knIslandEntry* entry = &problem->entries[n];
		for (int k = entry->first; k < entry->first + entry->count; ++k) {
			knIslandRow* row = &problem->rows[k];
			row->change = row->law == KN_LAW_DISC ? row->foreseen : row->change;
		}
	}
}

// No impulse changes.
static void forgetChanges(knIslandProblem* problem) {
	for (int n = 0; n < problem->entryCount; ++n) {
		const knIslandEntry* entry = &problem->entries[n];
		for (int k = entry->first; k < entry->first + entry->count; ++k) {
			problem->rows[k].change = 0.0;
		}
	}
}

// Takes extra d at the present d. Returns how much that changed, as a share of the gradient's size.
static double refine(knIslandProblem* problem) {
	double change = 0.0, size = 0.0;
	for (int s = 0; s < problem->matrix.count; ++s) {
		const double *E = problem->extra + 9 * (ptrdiff_t)s, *d = problem->d + 6 * (ptrdiff_t)s;
		double* lagged = problem->lagged + 6 * (ptrdiff_t)s;
		for (int r = 0; r < 3; ++r) {
			const double now = E[3 * r] * d[0] + E[3 * r + 1] * d[1] + E[3 * r + 2] * d[2];
			const double g = problem->gradient[6 * s + r];
			change += (now - lagged[r]) * (now - lagged[r]);
			size += g * g;
			lagged[r] = now;
		}
	}
	return size > 0.0 ? sqrt(change / size) : 0.0;
}

// Takes what is not symmetric; true: that changed little.
static bool settle(knIslandProblem* problem, int* refined) {
	return (*refined)++ >= problem->refinements || refine(problem) <= REFINEMENT_TOLERANCE;
}

knIslandStatus knIslandProblem_Solve(knIslandProblem* problem) {
	double share = 0.0;
	int refined = 0;
	begin(problem);
	for (int i = 0; i <= problem->iterationLimit; ++i) {
		// after the last iteration it is the changes of impulses alone that count
		bool changed =
			chooseBranches(problem, i < problem->secantIterations, i < problem->discPatience, share);
		if (!changed && share == 1.0) {
			takeForeseen(problem);
			if (settle(problem, &refined)) {
				return KN_ISLAND_SOLVED;
			}
		}
		if (i == problem->iterationLimit) {
			break;
		}
		findForce(problem);
		if ((changed || (i == 0 && !problem->kept)) && !factor(problem)) {
			memset(problem->d, 0, sizeof(double) * 6 * (size_t)problem->matrix.count);
			forgetChanges(problem);
			return KN_ISLAND_SINGULAR;
		}
		knBodyMatrix_Solve(&problem->matrix, problem->forward);
		double start, curve;
		const double square = readDirection(problem, &start, &curve);
		const double first = slopeAt(problem, 0.0, start, curve);
		share = i == 0 ? 1.0 : searchLine(problem, first, start, curve);
		goAlong(problem, share);
		problem->iterations += 1;
		if (i > 0 && share == 1.0 && square < problem->nearEnough * problem->nearEnough) {
			(void)chooseBranches(problem, false, true, 1.0);
			if (settle(problem, &refined)) {
				return KN_ISLAND_SOLVED;
			}
		}
	}
	return KN_ISLAND_UNFINISHED;
}
