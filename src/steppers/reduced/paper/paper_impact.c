// Impacts: impulses at fixed poses, through whole trees at once (Mirtich 1996; Kokkevis 2004).
//
//   colliding   a contact that approaches faster than `bounceSpeed` and has restitution: the impulse from its collision matrix K,
//               one contact after the other, the fastest first, until none approaches so. K is the contact's block of the
//               matrix of all rows, loops taken out: what one impulse does to every other contact is in it too.
//   resting     what still approaches stops: one problem for all contacts and limits, velocities in place of accelerations
//
// The same problem with places for rates closes loops and brings bodies out of each other: dq = columns x.
#include "knuckle/impact.h"
#include "steppers/reduced/paper/paper_step.h"

#define MAX_COLLISIONS 1000 // of one moment; what is left is resolved at once
#define MAX_CORRECTIONS 8   // Newton steps towards closed loops
#define CLOSED 1e-12        // m or rad

// --- what contacts carried -----------------------------------------------------------------------------------

static void keepImpulse(knPaperStep* step, int index, knVec3 impulse) {
	const knReducedStep* from = step->from;
	const knStepContact* contact = &from->list.contacts[from->list.anchors[index].contact];
	if (step->carriedCount == step->carriedCapacity) {
		int capacity = 2 * step->carriedCapacity + from->contactCount + 16;
		knPaperCarried* more = KN_SCRATCH(step->context->arena, knPaperCarried, capacity);
		for (int k = 0; more != NULL && k < step->carriedCount; ++k) {
			more[k] = step->carried[k];
		}
		if (more == NULL) {
			return;
		}
		step->carried = more;
		step->carriedCapacity = capacity;
	}
	for (int k = 0; k < step->carriedCount; ++k) {
		knPaperCarried* item = &step->carried[k];
		if (item->shapeA == contact->shapeA && item->shapeB == contact->shapeB &&
			item->feature == contact->point.feature) {
			item->impulse = knAdd(item->impulse, impulse);
			return;
		}
	}
	step->carried[step->carriedCount++] = (knPaperCarried){ .shapeA = contact->shapeA,
															.shapeB = contact->shapeB,
															.feature = contact->point.feature,
															.impulse = impulse };
}

static void keepRows(knPaperStep* step, double h) {
	for (int i = 0; i < step->C.count; ++i) {
		const knPaperRow* row = &step->C.rows[i];
		if (row->source == KN_PAPER_CONTACT) {
			keepImpulse(step, row->index, knScale(h * row->force, row->jB.lin));
		} else if (row->driven) {
			bool axis = row->source == KN_PAPER_AXIS;
			int part = axis ? step->from->axes[row->index].part : step->from->pairs[row->index].part;
			step->motorWork += part >= KN_PART_MOTOR ? h * row->force * row->rate : 0.0;
		}
	}
}

void knPaper_KeepImpulses(knPaperStep* step, double h) {
	keepRows(step, h);
}

void knPaper_ShareImpulses(knPaperStep* step) {
	knReducedStep* from = step->from;
	for (int k = 0; k < from->contactCount; ++k) {
		knSweepPoint* point = &from->list.points[k];
		point->lambda[0] = point->lambda[1] = point->lambda[2] = 0.0;
		point->rolling = knZero3();
	}
	for (int c = 0; c < step->carriedCount; ++c) {
		const knPaperCarried* item = &step->carried[c];
		int found = -1;
		for (int k = 0; k < from->contactCount; ++k) {
			const knStepContact* contact = &from->list.contacts[from->list.anchors[k].contact];
			bool pair = contact->shapeA == item->shapeA && contact->shapeB == item->shapeB;
			if (pair && (found < 0 || contact->point.feature == item->feature)) {
				found = k;
			}
		}
		if (found >= 0) {
			knSweepPoint* point = &from->list.points[found];
			point->lambda[0] += knDot(item->impulse, point->n);
			point->lambda[1] += knDot(item->impulse, point->t1);
			point->lambda[2] += knDot(item->impulse, point->t2);
		}
	}
}

// --- collisions ----------------------------------------------------------------------------------------------

// The contact that approaches fastest of those that bounce; -1: none.
static int fastest(const knPaperStep* step, const double* u) {
	const knPaperRows* C = &step->C;
	int found = -1;
	double most = -step->choices.bounceSpeed;
	for (int i = 0; i < C->count; ++i) {
		const knPaperRow* row = &C->rows[i];
		if (row->source == KN_PAPER_CONTACT && row->side == 0 && u[i] < most) {
			int point = step->from->contacts[row->index].point;
			if (knContactRows_Restitution(&step->from->list, &step->from->input, point) > 0.0) {
				found = i;
				most = u[i];
			}
		}
	}
	return found;
}

// One contact collides: x and the rates u of all rows follow.
static bool collide(knPaperStep* step, int i, double* u) {
	knPaperRows* C = &step->C;
	int n = C->count;
	const knReducedContact* contact = &step->from->contacts[C->rows[i].index];
	int sides = i + 2 < n && C->rows[i + 2].side == 2 && C->rows[i + 2].index == C->rows[i].index ? 3 : 1;
	double K[3][3] = { { 0.0 } };
	for (int r = 0; r < sides; ++r) {
		for (int c = 0; c < sides; ++c) {
			K[r][c] = C->A[(i + r) * n + i + c];
		}
	}
	// in the contact's own axes: normal first
	knImpact impact = {
		.K = knMakeMat33(knV3(K[0][0], K[1][0], K[2][0]), knV3(K[0][1], K[1][1], K[2][1]),
						 knV3(K[0][2], K[1][2], K[2][2])),
		.u = knV3(u[i], sides > 1 ? u[i + 1] : 0.0, sides > 1 ? u[i + 2] : 0.0),
		.n = knV3(1.0, 0.0, 0.0),
		.e = knContactRows_Restitution(&step->from->list, &step->from->input, contact->point),
		.mu = sides > 1 ? contact->mu : 0.0,
	};
	knImpactKind kind = KN_IMPACT_NONE;
	knVec3 j = step->choices.impact == KN_PAPER_INTEGRATED ? knImpact_Integrate(&impact, NULL)
														   : knImpact_Solve(&impact, &kind);
	double impulse[3] = { j.x, j.y, j.z };
	for (int c = 0; c < sides; ++c) {
		C->x[i + c] += impulse[c];
		for (int r = 0; r < n; ++r) {
			u[r] += C->rows[r].locked ? 0.0 : C->A[r * n + i + c] * impulse[c];
		}
	}
	return j.x > 0.0;
}

// --- all at once -----------------------------------------------------------------------------------------------

// Adds x times the columns to `to`.
static void apply(const knPaperStep* step, const double* x, double* to) {
	for (int i = 0; i < step->C.count; ++i) {
		const double* column = step->C.columns + (size_t)i * (size_t)step->forest->nv;
		for (int k = 0; k < step->forest->nv; ++k) {
			to[k] += x[i] * column[k];
		}
	}
}

// What each row asks for: whether any approaches, or a loop's rate has drifted.
static bool anythingToDo(const knPaperStep* step) {
	for (int i = 0; i < step->C.count; ++i) {
		const knPaperRow* row = &step->C.rows[i];
		bool unilateral = !row->locked && row->normal < 0;
		if (unilateral ? row->rate < -step->choices.speed : row->locked && knAbs(row->rate) > CLOSED) {
			return true;
		}
	}
	return false;
}

bool knPaper_Impacts(knPaperStep* step, const double* q, double* v) {
	knPaperRows* C = &step->C;
	if (!knPaper_Gather(step, true)) {
		return false;
	}
	knPaper_Place(step, step->time, q, v, &step->at);
	knPaper_PlaceRows(step, &step->at, v);
	if (C->count == 0 || !anythingToDo(step)) {
		return true;
	}
	if (!knPaper_Respond(step, step->armature)) {
		return false;
	}
	double* carried = KN_SCRATCH_ZERO(step->context->arena, double, C->count);
	if (carried == NULL) {
		return false;
	}
	for (int i = 0; i < C->count; ++i) {
		C->b[i] = C->rows[i].rate;
		C->x[i] = 0.0;
	}
	// b is the rates of all rows from here on; of locked ones, what their impulse is of the others'
	knPaper_EliminateLocked(step);
	bool moves = true;
	for (int k = 0; k < MAX_COLLISIONS && moves; ++k) {
		int i = fastest(step, C->b);
		moves = i >= 0 && collide(step, i, C->b);
	}
	for (int i = 0; i < C->count; ++i) {
		carried[i] = C->rows[i].locked ? 0.0 : C->x[i];
	}
	if (!knPaper_SolveLcp(step)) {
		return false;
	}
	for (int i = 0; i < C->count; ++i) {
		C->x[i] = C->rows[i].locked ? 0.0 : C->x[i] + carried[i];
	}
	knPaper_FinishLocked(step);
	apply(step, C->x, v);
	for (int i = 0; i < C->count; ++i) {
		C->rows[i].force = C->x[i];
	}
	keepRows(step, 1.0);
	return true;
}

// --- places --------------------------------------------------------------------------------------------------

// How far each row is from where it may be, in C->b; true if any is too far.
static bool measurePlaces(knPaperStep* step) {
	knPaperRows* C = &step->C;
	bool any = false;
	for (int i = 0; i < C->count; ++i) {
		const knPaperRow* row = &C->rows[i];
		double deep = 0.0;
		if (row->locked) {
			C->b[i] = step->from->pairs[row->index].error;
			any = any || knAbs(C->b[i]) > CLOSED;
			continue;
		}
		if (row->source == KN_PAPER_CONTACT) {
			// to the middle of the gap that counts as touching, so that it stays a contact
			const knReducedContact* contact = &step->from->contacts[row->index];
			deep = row->side == 0 ? knPaper_ContactAt(step, contact, &step->at).gap : 0.0;
		} else {
			deep = row->source == KN_PAPER_AXIS ? step->from->axes[row->index].room
												: step->from->pairs[row->index].room;
		}
		C->b[i] = deep + 0.5 * step->choices.gap;
		any = any || (row->normal < 0 && deep < -step->choices.gap);
	}
	return any;
}

bool knPaper_Project(knPaperStep* step, double* q, double* v) {
	knPaperRows* C = &step->C;
	if (!knPaper_Gather(step, true)) {
		return false;
	}
	for (int k = 0; k < MAX_CORRECTIONS && C->count > 0; ++k) {
		knPaper_Place(step, step->time, q, v, &step->at);
		knPaper_PlaceRows(step, &step->at, v);
		if (!measurePlaces(step)) {
			return true;
		}
		if (!knPaper_Respond(step, step->armature)) {
			return false;
		}
		for (int i = 0; i < C->count; ++i) {
			// friction does not hold back what comes out
			C->rows[i].mu = 0.0;
			C->x[i] = 0.0;
		}
		knPaper_EliminateLocked(step);
		if (!knPaper_SolveLcp(step)) {
			return false;
		}
		knPaper_FinishLocked(step);
		for (int j = 0; j < step->forest->nv; ++j) {
			step->delta[j] = 0.0;
		}
		apply(step, C->x, step->delta);
		knForest_Advance(step->forest, q, step->delta, 1.0);
		for (int i = 0; i < step->from->axisCount; ++i) {
			// rooms of limits follow
			knReducedAxisRow* axis = &step->from->axes[i];
			const knForestLink* link = &step->forest->links[axis->link];
			for (int j = 0; j < link->nv && axis->room < (double)INFINITY; ++j) {
				axis->room += axis->coef[j] * step->delta[link->vOffset + j];
			}
		}
	}
	return true;
}
