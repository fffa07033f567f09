// SimulationStep of the slides: the published step in joint coordinates, also for the explicit integrators.
//
//   while there is time left
//     constraints C: what touches, limits, loops, motors                          paper_rows.c
//     integrate under their forces                                               paper_integrate.c, paper_motion.c, paper_solve.c
//     contacts and limits at the end; too deep: back to the contact time          paper_begin.c
//     loops close, what is too deep comes out                                      paper_impact.c
//     what approaches bounces or stops                                             paper_impact.c
//
// Bodies that touch, or overlap, at the start of a part may be that deep at its end: only what is new sends time back.
#include "steppers/reduced/paper/step_paper.h"

#define SHORTEST (1.0 / 1024.0) // of a step: a shorter part is taken whatever it meets
#define MAX_EVENTS 50           // of a step: then it is taken to its end

// Of a part, at which a gap that went from `before` to `after` was closed: by a straight line; what touched already and drifted
// away from what its row holds does so with the square of time.
static double shareOfPart(double before, double after, double touching) {
	if (before > touching) {
		return before < (double)INFINITY ? before / (before - after) : 0.5;
	}
	return sqrt(touching / (knMin(before, 0.0) - after));
}

// m, by which the deepest pair of shapes is deeper than it may be; `share` of the part at which it would just touch.
static double findDepth(const knPaperStep* step, double* share) {
	const knReducedStep *from = step->from, *to = step->to;
	double worst = 0.0;
	int next = 0;
	*share = 0.5;
	for (int k = 0; k < to->contactCount && !step->choices.penalty; ++k) {
		const knStepContact* contact = &to->list.contacts[to->list.anchors[k].contact];
		// the least gap of the pair before; both lists are in the order of pairs
		double before = (double)INFINITY;
		while (next < from->contactCount && knPaper_PairOrder(from, next, contact) < 0) {
			++next;
		}
		for (int j = next; j < from->contactCount && knPaper_PairOrder(from, j, contact) == 0; ++j) {
			before = knMin(before, from->contacts[j].gap);
		}
		double gap = to->contacts[k].gap, deep = knMin(before, 0.0) - step->choices.gap - gap;
		if (deep > worst) {
			worst = deep;
			*share = shareOfPart(before, gap, step->choices.gap);
		}
	}
	return worst;
}

// The same of limits.
static double findLimits(const knPaperStep* step, double* share) {
	double worst = 0.0;
	for (int k = 0; k < step->to->axisCount; ++k) {
		const knReducedAxisRow* row = &step->to->axes[k];
		double before = (double)INFINITY;
		for (int j = 0; j < step->from->axisCount && row->room < -step->choices.gap; ++j) {
			const knReducedAxisRow* other = &step->from->axes[j];
			before = other->joint == row->joint && other->part == row->part ? other->room : before;
		}
		double deep = knMin(before, 0.0) - step->choices.gap - row->room;
		if (row->room < 0.0 && deep > worst) {
			worst = deep;
			*share = shareOfPart(before, row->room, step->choices.gap);
		}
	}
	return worst;
}

static knStatus failed(const knPaperStep* step) {
	return step->context->arena->failed
			   ? knReduced_OutOfMemory(step->from)
			   : knError_Set(step->context->error, KN_DIVERGED, "step",
							 "the constraints of this moment have no solution, or the error cannot be kept");
}

// One part of the step: as far as nothing new is met, at most `left`.
static knStatus advance(knPaperStep* step, double left, bool last, double* taken) {
	double h = left;
	for (;;) {
		if (!knPaper_Gather(step, false) || !knPaper_Integrate(step, h)) {
			return failed(step);
		}
		knStatus status = knPaper_Look(step, step->qn, step->vn, step->time + h);
		if (status != KN_OK) {
			return status;
		}
		double share = 0.5, limitShare = 0.5, deep = findDepth(step, &share),
			   beyond = findLimits(step, &limitShare);
		share = beyond > deep ? limitShare : share;
		if (last || (deep == 0.0 && beyond == 0.0) || h <= SHORTEST * step->h) {
			break;
		}
		h = knMax(h * knClamp(share, 0.05, 0.95), SHORTEST * step->h);
	}
	knPaper_KeepImpulses(step, h);
	knPaper_Accept(step);
	step->time += h;
	*taken = h;
	return KN_OK;
}

// What the end of a part asks for: closed loops, nothing too deep, nothing that approaches.
static knStatus settle(knPaperStep* step) {
	return knPaper_Project(step, step->q, step->v) && knPaper_Impacts(step, step->q, step->v) ? KN_OK
																							  : failed(step);
}

knStatus knPaper_Step(knStepContext* context, double h, bool divided) {
	knPaperStep step = { .context = context, .h = h, .divided = divided };
	knStatus status = knPaper_Begin(&step);
	status = status == KN_OK ? knPaper_Look(&step, step.q, step.v, 0.0) : status;
	if (status != KN_OK) {
		return status;
	}
	knPaper_Swap(&step);
	status = settle(&step);
	double left = h, taken = 0.0;
	for (int events = 0; left > 0.0 && status == KN_OK; ++events) {
		status = advance(&step, left, events >= MAX_EVENTS, &taken);
		left = taken < left ? left - taken : 0.0;
		status = status == KN_OK ? settle(&step) : status;
	}
	return status == KN_OK ? knPaper_End(&step) : status;
}

bool knPaper_IsChosen(const knSettings* settings) {
	int integrator = settings->reduced.integrator;
	return settings->scheme == KN_SCHEME_PAPER || (integrator >= 0 && integrator != KN_PAPER_IMPLICIT);
}

knStatus knPaper_Check(const knSettings* settings, knError* error) {
	if (settings->scheme == KN_SCHEME_PAPER && settings->reduced.integrator == KN_PAPER_IMPLICIT) {
		return knError_Set(
			error, KN_UNSUPPORTED, "integrator",
			"reduced with scheme=paper has the integrators euler, rk4 and embedded; implicit is "
			"that of scheme=default");
	}
	return KN_OK;
}
