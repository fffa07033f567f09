// Energy that the projection of the end velocities takes from trees that nothing touches.
//
// The implicit step keeps energy with the bodies' own end velocities, which fit the joints to second order only. What the
// projection onto the joints takes is given back to how the tree's links move relative to each other: its motion as one
// body (of the root's joint, all others locked) keeps what it has, and with it the momentum that the root leaves free.
//
//   v = v_root + w,  v_root' M w = 0:   w becomes s w with  1/2 v_root' M v_root + s^2 1/2 w' M w = energy before
#include "core/dense.h"
#include "steppers/reduced/reduced_step.h"

#define RESOLVED                                                                                             \
	0.3 // rad that a link turns in a step: if more, what is lost is no error of second order, and stays lost
#define SMOOTH 0.01 // share of the energy, likewise
#define TRACE 1e-9  // share of the energy of w, below which there is no motion to give it to

typedef struct Whole {
	double H[36], momentum[6], y[6]; // of the root's coordinates
} Whole;

static bool isQuiet(const knReducedStep* step) {
	bool quiet = step->pairCount == 0;
	for (int k = 0; k < step->contactCount && quiet; ++k) {
		quiet = step->contacts[k].off || step->contacts[k].l[0] == 0.0;
	}
	for (int k = 0; k < step->axisCount && quiet; ++k) {
		const knReducedAxisRow* row = &step->axes[k];
		quiet = row->off || row->lo == row->hi || (row->law == KN_LAW_SOFT && row->after == 0.0);
	}
	return quiet;
}

// Momentum of link i by its velocity, and its inertia, taken to the root's coordinates.
static void addLink(const knReducedStep* step, Whole* whole, const knForestLink* root, int i, knTwist v) {
	const knModel* model = step->context->model;
	int b = step->forest.links[i].body, n = root->nv;
	knVec3 arm = knSub(step->pose[b].p, step->pose[root->body].p);
	knMat33 inertia = knRotateTensor(step->pose[b].q, &model->inertiaLocal[b]);
	knVec3 L = knMulMV(&inertia, v.ang), p = knScale(model->mass[b], v.lin);
	knTwist own[KN_JOINT_MAX_V];
	for (int k = 0; k < n; ++k) {
		const knTreeMotion* column = &step->columns[root->vOffset + k];
		knVec3 ang = knLanes_ToVec(column->ang);
		own[k] = knMakeTwist(ang, knAdd(knLanes_ToVec(column->lin), knCross(ang, arm)));
		whole->momentum[k] += knDot(own[k].ang, L) + knDot(own[k].lin, p);
		for (int l = 0; l <= k; ++l) {
			double h = knDot(own[k].ang, knMulMV(&inertia, own[l].ang)) +
					   model->mass[b] * knDot(own[k].lin, own[l].lin);
			whole->H[6 * k + l] += h;
			whole->H[6 * l + k] += k != l ? h : 0.0;
		}
	}
}

// Rates of the root's coordinates with which the whole tree has its momentum; J, the energy of that motion. Negative: none.
static double moveAsOne(Whole* whole, int n) {
	double H[36], energy = 0.0;
	int pivots[6];
	for (int k = 0; k < n; ++k) {
		whole->y[k] = whole->momentum[k];
		for (int l = 0; l < n; ++l) {
			H[n * k + l] = whole->H[6 * k + l];
		}
	}
	if (n > 0 && !knDense_FactorLu(H, n, pivots)) {
		return -1.0;
	}
	if (n > 0) {
		knDense_SolveLu(H, n, pivots, whole->y);
	}
	for (int k = 0; k < n; ++k) {
		energy += 0.5 * whole->y[k] * whole->momentum[k];
	}
	return energy;
}

// The tree of links first to last; `before`: velocities whose energy it is to have.
static void returnToTree(knReducedStep* step, int first, int last, const knTwist* before,
						 const knTwist* now) {
	const knForestLink* root = &step->forest.links[first];
	const knModel* model = step->context->model;
	Whole whole = { 0 };
	double wanted = 0.0, present = 0.0, turn = 0.0;
	for (int i = first; i <= last; ++i) {
		int b = step->forest.links[i].body;
		knVec3 was = knInvRotate(step->pose[b].q, before[b].ang),
			   is = knInvRotate(step->pose[b].q, now[b].ang);
		wanted += 0.5 * model->mass[b] * knLengthSquared(before[b].lin) +
				  0.5 * knDot(was, knMulMV(&model->inertiaLocal[b], was));
		present += 0.5 * model->mass[b] * knLengthSquared(now[b].lin) +
				   0.5 * knDot(is, knMulMV(&model->inertiaLocal[b], is));
		addLink(step, &whole, root, i, now[b]);
		turn = knMax(turn, step->h * knLength(now[b].ang));
	}
	if (turn > RESOLVED) {
		return;
	}
	double one = moveAsOne(&whole, root->nv), rest = present - one, lost = wanted - present;
	if (one < 0.0 || !(lost > 0.0) || lost > SMOOTH * wanted) {
		return;
	}
	// nothing moves but the root's joint: what hangs on something gets it back there
	bool single = rest < TRACE * present;
	double s = single ? sqrt(wanted / present) : sqrt((rest + lost) / rest);
	if (s > 1.0 + SMOOTH || (single && root->joint < 0)) {
		return;
	}
	for (int i = first; i <= last; ++i) {
		const knForestLink* link = &step->forest.links[i];
		for (int k = 0; k < link->nv; ++k) {
			double own = i == first && !single ? whole.y[k] : 0.0;
			step->v[link->vOffset + k] = own + s * (step->v[link->vOffset + k] - own);
		}
	}
}

static bool mayReturn(const knReducedStep* step, const knForestLink* root) {
	bool carried = false;
	for (int k = 0; k < step->axisCount; ++k) {
		carried = carried || step->axes[k].law == KN_LAW_CARRY;
	}
	bool scripted = step->context->model->bodyKind[root->parentBody] == KN_BODY_KINEMATIC;
	return !carried && !(root->joint >= 0 && scripted);
}

void knReduced_ReturnEnergy(knReducedStep* step) {
	const knForest* forest = &step->forest;
	if (!isQuiet(step)) {
		return;
	}
	// trees are one after the other, roots first
	for (int first = 0, last = 0; first < forest->count; first = last + 1) {
		last = first;
		while (last + 1 < forest->count && forest->links[last + 1].parent >= 0) {
			++last;
		}
		const knForestLink* root = &forest->links[first];
		if (!root->alone && mayReturn(step, root)) {
			returnToTree(step, first, last, step->after, step->now);
		}
	}
}
