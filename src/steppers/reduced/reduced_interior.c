// Rows of heaps by interior points: where many contacts bend their laws together, the method of multipliers (reduced_solve.c)
// meets new pieces of the cones in every iteration. Here impulses and slacks stay inside their cones, and laws are smooth.
//
//   contact  impulse l in its cone, slack y in the dual one,  y = r + m |r_t|  (Coulomb's law, de Saxce),  l o y = c w
//            w: weight of the row, 1/K;  c, (m/s)^2, the same for all rows: towards 0;  m: friction
//   scaled   l^ = (m l_n, l_t),  y^ = (y_n/m, y_t):  both cones are |x_t| <= x_0
//   Newton   dl = c w y^-1 - l - P (r - y + dr),  dy = r - y + dr     P y^ = l^: Nesterov and Todd's scaling point
//   bounds   lo <= l <= hi:  r = y_0 - y_1,  (l - lo) y_0 = c w,  (hi - l) y_1 = c w
//   step     as far as the cones allow, the same for l, y and the links' velocities: Mehrotra's predictor and corrector,
//            two solutions by one factorisation
//
// P is a row's slope and c w y^-1 - P (r - y) its impulse in the system over the forest, which is otherwise the same. The slip's
// change is part of the Newton step (the matrix is not symmetric then) as long as steps are not short.
#include "steppers/reduced/reduced_step.h"

#define MOST_ITERATIONS 24
#define SHARE 0.995 // of the way to the cones' boundaries
#define SHORT 0.2 // a step below it is tried again towards the middle, and the next without the slips' change
#define MOST_SHORT 4          // of them in a row: there is no way on
#define LAST_CHANGE 1e-6      // m, of displacements
#define RECENTRED 0.5         // c of that, of what is
#define SMOOTH 1e-6           // friction below it is none
#define RESTING 1e-12         // m/s, slips without a direction
#define INSIDE 1.000000000001 // times the boundary: round-off of a step may reach it
#define NEAR 0.03             // of what was wrong to begin with: good enough to end with, of velocities
#define UNLOADED 1e-3         // of the slack times the weight: impulses below it are none

typedef struct Bound {
	double lo, hi, e;
	double push, give; // of actuators: l gives way by `give` from `push`
	double *lambda, *l, *slope;
	const double *r, *dr;
	knReducedBound* own;
} Bound;

typedef struct Interior {
	knReducedProblem* problem;
	knReducedStep* step;
	Bound* bounds; // of axes and pairs that take part
	int boundCount;
	double gap;     // (m/s)^2, mean of impulses times slacks over weights
	double wrong;   // m/s, by which slacks are not the rates
	double slips;   // m/s, by which slips changed last
	double change;  // m or m/s, of the last step
	int shortSteps; // in a row
} Interior;

// --- contacts --------------------------------------------------------------------------------------------

static bool isScalar(const knReducedContact* contact) {
	return contact->disc >= 0.0 || contact->mu < SMOOTH;
}

static double slipOf(const knReducedContact* contact) {
	return isScalar(contact) ? 0.0 : sqrt(contact->r[1] * contact->r[1] + contact->r[2] * contact->r[2]);
}

static double determinant(const double x[3]) {
	double s = sqrt(x[1] * x[1] + x[2] * x[2]);
	return (x[0] - s) * (x[0] + s);
}

static double dot(const double a[3], const double b[3]) {
	return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void scaleUp(const knReducedContact* contact, double l[3], double y[3]) {
	l[0] = contact->mu * contact->lambda[0];
	y[0] = contact->cone.slack[0] / contact->mu;
	for (int i = 1; i < 3; ++i) {
		l[i] = contact->lambda[i];
		y[i] = contact->cone.slack[i];
	}
}

// The scaling point.
static void findScaling(knReducedCone* cone, const double l[3], const double y[3]) {
	double rootL = sqrt(determinant(l)), rootY = sqrt(determinant(y));
	double half = 0.5 / sqrt(0.5 * (1.0 + dot(l, y) / (rootL * rootY)));
	cone->w[0] = half * (l[0] / rootL + y[0] / rootY);
	cone->w[1] = half * (l[1] / rootL - y[1] / rootY);
	cone->w[2] = half * (l[2] / rootL - y[2] / rootY);
	cone->eta = sqrt(rootL / rootY);
}

static void frictionLaw(const knReducedProblem* problem, knReducedContact* contact) {
	knReducedCone* cone = &contact->cone;
	double l[3], y[3], *D = contact->D, centre = problem->centre * cone->weight;
	scaleUp(contact, l, y);
	findScaling(cone, l, y);
	double unit[3] = { 1.0 / contact->mu, 1.0, 1.0 }, sign[3] = { 1.0, -1.0, -1.0 };
	double stretch = cone->eta * cone->eta, inverse = centre / determinant(y);
	double off[3] = { contact->r[0] + contact->shift - cone->slack[0], contact->r[1] - cone->slack[1],
					  contact->r[2] - cone->slack[2] };
	for (int i = 0; i < 3; ++i) {
		for (int j = 0; j < 3; ++j) {
			double diagonal = i == j ? sign[i] : 0.0;
			D[3 * i + j] = unit[i] * unit[j] * stretch * (2.0 * cone->w[i] * cone->w[j] - diagonal);
		}
		contact->l[i] = unit[i] * (sign[i] * inverse * y[i] - cone->cross[i]) - dot(&D[3 * i], off);
	}
	double slip = slipOf(contact);
	cone->steer[0] = cone->steer[1] = 0.0;
	for (int k = 0; k < 2 && problem->steers && slip > RESTING; ++k) {
		cone->steer[k] = contact->mu * contact->r[1 + k] / slip;
		for (int i = 0; i < 3; ++i) {
			D[3 * i + 1 + k] += D[3 * i] * cone->steer[k];
		}
	}
}

void knReducedInterior_Contact(const knReducedProblem* problem, knReducedContact* contact) {
	knReducedCone* cone = &contact->cone;
	for (int i = 0; i < 9; ++i) {
		contact->D[i] = 0.0;
	}
	if (problem->closing) {
		for (int i = 0; i < 3; ++i) {
			contact->l[i] = contact->lambda[i];
		}
	} else if (isScalar(contact)) {
		double y = cone->slack[0];
		cone->steer[0] = cone->steer[1] = 0.0;
		contact->D[0] = contact->lambda[0] / y;
		contact->l[0] =
			(problem->centre * cone->weight - cone->cross[0]) / y - contact->D[0] * (contact->r[0] - y);
		contact->l[1] = contact->l[2] = 0.0;
	} else {
		frictionLaw(problem, contact);
	}
}

// Changes of impulse and slack by the solution.
static void findChanges(const knReducedContact* contact, double dl[3], double dy[3]) {
	for (int i = 0; i < 3; ++i) {
		dl[i] = contact->l[i] - contact->lambda[i] - dot(&contact->D[3 * i], contact->dr);
		dy[i] = contact->r[i] + contact->dr[i] - contact->cone.slack[i];
	}
	if (isScalar(contact)) {
		dy[1] = dy[2] = 0.0;
		return;
	}
	dy[0] +=
		contact->shift + contact->cone.steer[0] * contact->dr[1] + contact->cone.steer[1] * contact->dr[2];
}

// The largest t, up to 1/SHARE, with x + t d in the cone.
static double farthest(const double x[3], const double d[3]) {
	double a = d[0] * d[0] - d[1] * d[1] - d[2] * d[2], b = x[0] * d[0] - x[1] * d[1] - x[2] * d[2];
	double c = determinant(x), t = 1.0 / SHARE, root = b * b - a * c;
	if (root >= 0.0) {
		// c + 2 b t + a t^2 = 0, without cancellation
		double q = b > 0.0 ? -(b + sqrt(root)) : -b + sqrt(root);
		double t1 = q != 0.0 ? c / q : (double)INFINITY, t2 = a != 0.0 ? q / a : (double)INFINITY;
		t = t1 > 0.0 ? knMin(t, t1) : t;
		t = t2 > 0.0 ? knMin(t, t2) : t;
	}
	return d[0] < 0.0 ? knMin(t, -x[0] / d[0]) : t;
}

static double positive(double x, double d) {
	return d < 0.0 ? -x / d : 1.0 / SHARE;
}

static double contactReach(const knReducedContact* contact) {
	double dl[3], dy[3], l[3], y[3];
	findChanges(contact, dl, dy);
	if (isScalar(contact)) {
		return knMin(positive(contact->lambda[0], dl[0]), positive(contact->cone.slack[0], dy[0]));
	}
	scaleUp(contact, l, y);
	dl[0] *= contact->mu;
	dy[0] /= contact->mu;
	return knMin(farthest(l, dl), farthest(y, dy));
}

// W x, or W^-1 x, of the scaling point: W W = P.
static void applyScaling(const knReducedCone* cone, bool inverse, const double x[3], double out[3]) {
	const double* w = cone->w;
	double along = w[1] * x[1] + w[2] * x[2], factor = inverse ? 1.0 / cone->eta : cone->eta;
	double sign = inverse ? -1.0 : 1.0, share = sign * x[0] + along / (1.0 + w[0]);
	out[0] = factor * (w[0] * x[0] + sign * along);
	out[1] = factor * (x[1] + share * w[1]);
	out[2] = factor * (x[2] + share * w[2]);
}

// What the predictor's two changes make together: the corrector leaves room for it.
static void foreseeContact(knReducedContact* contact) {
	knReducedCone* cone = &contact->cone;
	double dl[3], dy[3], l[3], y[3], s[3], a[3], b[3];
	findChanges(contact, dl, dy);
	if (isScalar(contact)) {
		cone->cross[0] = dl[0] * dy[0];
		return;
	}
	scaleUp(contact, l, y);
	dl[0] *= contact->mu;
	dy[0] /= contact->mu;
	applyScaling(cone, false, y, s);
	applyScaling(cone, true, dl, a);
	applyScaling(cone, false, dy, b);
	double x[3] = { dot(a, b), a[0] * b[1] + b[0] * a[1], a[0] * b[2] + b[0] * a[2] };
	double u = (s[0] * x[0] - s[1] * x[1] - s[2] * x[2]) / determinant(s);
	double quotient[3] = { u, (x[1] - u * s[1]) / s[0], (x[2] - u * s[2]) / s[0] };
	applyScaling(cone, false, quotient, cone->cross);
}

// Impulse and slack inside their cones. `speed`, m/s: what there is at least.
static void startContact(knReducedContact* contact, double speed) {
	knReducedCone* cone = &contact->cone;
	double *l = contact->lambda, *y = cone->slack, m = contact->mu, slip = slipOf(contact);
	cone->weight = KN_REDUCED_SOFTNESS / contact->e;
	contact->shift = m * slip;
	if (isScalar(contact)) {
		contact->shift = l[1] = l[2] = 0.0;
	}
	double along = sqrt(l[1] * l[1] + l[2] * l[2]);
	l[0] = knMax(l[0], along > 0.0 ? along / m : 0.0) + speed * cone->weight;
	y[0] = knMax(contact->r[0] + contact->shift, contact->shift) + speed;
	y[1] = isScalar(contact) ? 0.0 : contact->r[1];
	y[2] = isScalar(contact) ? 0.0 : contact->r[2];
}

// --- scalar rows -----------------------------------------------------------------------------------------

static Bound ofAxis(knReducedAxisRow* row) {
	Bound bound = { .lo = row->lo,
					.hi = row->hi,
					.e = row->e,
					.lambda = &row->lambda,
					.l = &row->l,
					.slope = &row->slope,
					.r = &row->r,
					.dr = &row->dr,
					.own = &row->bound };
	if (row->law == KN_LAW_DRIVE) {
		bound.push = row->push;
		bound.give = row->e;
	}
	return bound;
}

static Bound ofPair(knReducedPairRow* row) {
	return (Bound){ .lo = row->lo,
					.hi = row->hi,
					.e = row->e,
					.lambda = &row->lambda,
					.l = &row->l,
					.slope = &row->slope,
					.r = &row->r,
					.dr = &row->dr,
					.own = &row->bound };
}

static bool isLower(const Bound* row) {
	return row->lo > -(double)INFINITY;
}

static bool isUpper(const Bound* row) {
	return row->hi < (double)INFINITY;
}

static bool isFree(const Bound* row) {
	return !isLower(row) && !isUpper(row);
}

// Nothing to choose.
static bool isFixed(const Bound* row) {
	return !(row->lo < row->hi);
}

static void boundLaw(const knReducedProblem* problem, const Bound* row) {
	double centre = problem->centre * KN_REDUCED_SOFTNESS / row->e, lambda = *row->lambda;
	const knReducedBound* own = row->own;
	if (isFixed(row) || (problem->closing && !isFree(row))) {
		*row->l = isFixed(row) ? row->lo : lambda;
		*row->slope = 0.0;
		return;
	}
	if (isFree(row)) {
		double z = row->give > 0.0 ? row->push : lambda;
		*row->l = z - *row->r / row->e;
		*row->slope = 1.0 / row->e;
		return;
	}
	double rest = -*row->r - row->give * (lambda - row->push), resistance = row->give;
	if (isLower(row)) {
		rest += (centre - own->cross[0]) / (lambda - row->lo);
		resistance += own->slack[0] / (lambda - row->lo);
	}
	if (isUpper(row)) {
		rest -= (centre - own->cross[1]) / (row->hi - lambda);
		resistance += own->slack[1] / (row->hi - lambda);
	}
	*row->slope = 1.0 / resistance;
	*row->l = lambda + rest / resistance;
}

void knReducedInterior_Axis(const knReducedProblem* problem, knReducedAxisRow* row) {
	Bound bound = ofAxis(row);
	boundLaw(problem, &bound);
}

void knReducedInterior_Pair(const knReducedProblem* problem, knReducedPairRow* row) {
	Bound bound = ofPair(row);
	boundLaw(problem, &bound);
}

// The impulse's change by the solution, and the slacks'.
static double boundChanges(const Bound* row, double centre, double dy[2]) {
	const knReducedBound* own = row->own;
	double dl = *row->l - *row->lambda - *row->slope * *row->dr,
		   product = centre * KN_REDUCED_SOFTNESS / row->e;
	dy[0] = dy[1] = 0.0;
	if (isLower(row) && !isFixed(row)) {
		dy[0] = (product - own->cross[0] - own->slack[0] * dl) / (*row->lambda - row->lo) - own->slack[0];
	}
	if (isUpper(row) && !isFixed(row)) {
		dy[1] = (product - own->cross[1] + own->slack[1] * dl) / (row->hi - *row->lambda) - own->slack[1];
	}
	return dl;
}

static double boundReach(const Bound* row, double centre) {
	double dy[2], dl = boundChanges(row, centre, dy), t = 1.0 / SHARE;
	if (isFixed(row)) {
		return t;
	}
	if (isLower(row)) {
		t = knMin(t, knMin(positive(*row->lambda - row->lo, dl), positive(row->own->slack[0], dy[0])));
	}
	if (isUpper(row)) {
		t = knMin(t, knMin(positive(row->hi - *row->lambda, -dl), positive(row->own->slack[1], dy[1])));
	}
	return t;
}

static void foreseeBound(const Bound* row) {
	double dy[2], dl = boundChanges(row, 0.0, dy);
	row->own->cross[0] = dl * dy[0];
	row->own->cross[1] = -dl * dy[1];
}

// On the central path of `speed`, as far as bounds leave room.
static void startBound(const Bound* row, double speed) {
	double least = speed * KN_REDUCED_SOFTNESS / row->e;
	row->own->slack[0] = row->own->slack[1] = row->own->cross[0] = row->own->cross[1] = 0.0;
	if (isFixed(row) || isFree(row)) {
		*row->lambda = isFixed(row) ? row->lo : *row->lambda;
		return;
	}
	double room = knMin(least, 0.25 * (row->hi - row->lo));
	*row->lambda = knMin(knMax(*row->lambda, row->lo + room), row->hi - room);
	row->own->slack[0] = isLower(row) ? speed * least / (*row->lambda - row->lo) : 0.0;
	row->own->slack[1] = isUpper(row) ? speed * least / (row->hi - *row->lambda) : 0.0;
}

// --- all rows --------------------------------------------------------------------------------------------

static bool listBounds(Interior* in) {
	knReducedStep* step = in->step;
	const knReducedProblem* problem = in->problem;
	in->bounds = KN_SCRATCH(step->context->arena, Bound, step->axisCount + step->pairCount);
	for (int k = 0; k < step->axisCount && in->bounds != NULL && problem->useAxes; ++k) {
		knReducedAxisRow* row = &step->axes[k];
		if (!row->off && (row->law == KN_LAW_BOUND || (row->law == KN_LAW_DRIVE && problem->timed))) {
			in->bounds[in->boundCount++] = ofAxis(row);
		}
	}
	for (int k = 0; k < step->pairCount && in->bounds != NULL && problem->usePairs; ++k) {
		if (!step->pairs[k].off && step->pairs[k].law == KN_LAW_BOUND) {
			in->bounds[in->boundCount++] = ofPair(&step->pairs[k]);
		}
	}
	return in->bounds != NULL;
}

// The mean of impulses times slacks over weights after a step of t along the changes; t = 0: as they are.
static double meanGap(const Interior* in, double t) {
	double sum = 0.0, dl[3] = { 0.0 }, dy[3] = { 0.0 };
	int count = 0;
	for (int k = 0; k < in->step->contactCount; ++k) {
		const knReducedContact* contact = &in->step->contacts[k];
		if (contact->off) {
			continue;
		}
		if (t > 0.0) {
			findChanges(contact, dl, dy);
		}
		for (int i = 0; i < 3; ++i) {
			sum += (contact->lambda[i] + t * dl[i]) * (contact->cone.slack[i] + t * dy[i]) /
				   contact->cone.weight;
		}
		count += 1;
	}
	for (int k = 0; k < in->boundCount; ++k) {
		const Bound* row = &in->bounds[k];
		double change[2] = { 0.0 }, d = t > 0.0 ? boundChanges(row, 0.0, change) : 0.0;
		double l = *row->lambda + t * d, weight = KN_REDUCED_SOFTNESS / row->e;
		if (isFixed(row)) {
			continue;
		}
		sum += isLower(row) ? (l - row->lo) * (row->own->slack[0] + t * change[0]) / weight : 0.0;
		sum += isUpper(row) ? (row->hi - l) * (row->own->slack[1] + t * change[1]) / weight : 0.0;
		count += isLower(row) + isUpper(row);
	}
	return count > 0 ? sum / count : 0.0;
}

static double findReach(const Interior* in) {
	double reach = 1.0 / SHARE;
	for (int k = 0; k < in->step->contactCount; ++k) {
		const knReducedContact* contact = &in->step->contacts[k];
		reach = contact->off ? reach : knMin(reach, contactReach(contact));
	}
	for (int k = 0; k < in->boundCount; ++k) {
		reach = knMin(reach, boundReach(&in->bounds[k], in->problem->centre));
	}
	return knMin(1.0, SHARE * reach);
}

static void foresee(Interior* in, bool clear) {
	for (int k = 0; k < in->step->contactCount; ++k) {
		knReducedContact* contact = &in->step->contacts[k];
		if (clear) {
			contact->cone.cross[0] = contact->cone.cross[1] = contact->cone.cross[2] = 0.0;
		} else if (!contact->off) {
			foreseeContact(contact);
		}
	}
	for (int k = 0; k < in->boundCount; ++k) {
		if (clear) {
			in->bounds[k].own->cross[0] = in->bounds[k].own->cross[1] = 0.0;
		} else {
			foreseeBound(&in->bounds[k]);
		}
	}
}

// Round-off must not carry a point out of its cone.
static void keepInside(knReducedContact* contact) {
	double *l = contact->lambda, *y = contact->cone.slack, m = contact->mu;
	if (!isScalar(contact)) {
		l[0] = knMax(l[0], INSIDE * sqrt(l[1] * l[1] + l[2] * l[2]) / m);
		y[0] = knMax(y[0], INSIDE * sqrt(y[1] * y[1] + y[2] * y[2]) * m);
	}
}

static void move(Interior* in, double t) {
	for (int k = 0; k < in->step->contactCount; ++k) {
		knReducedContact* contact = &in->step->contacts[k];
		double dl[3], dy[3];
		findChanges(contact, dl, dy);
		for (int i = 0; i < 3 && !contact->off; ++i) {
			contact->lambda[i] += t * dl[i];
			contact->cone.slack[i] += t * dy[i];
		}
		keepInside(contact);
	}
	for (int k = 0; k < in->boundCount; ++k) {
		const Bound* row = &in->bounds[k];
		double dy[2];
		*row->lambda += t * boundChanges(row, in->problem->centre, dy);
		row->own->slack[0] += t * dy[0];
		row->own->slack[1] += t * dy[1];
	}
}

// What the present velocities leave wrong; slips become those of them.
static void judge(Interior* in) {
	in->wrong = in->slips = 0.0;
	for (int k = 0; k < in->step->contactCount; ++k) {
		knReducedContact* contact = &in->step->contacts[k];
		double shift = contact->mu * slipOf(contact);
		if (contact->off) {
			continue;
		}
		in->slips = knMax(in->slips, knAbs(shift - contact->shift));
		contact->shift = shift;
		in->wrong = knMax(in->wrong, knAbs(contact->r[0] + shift - contact->cone.slack[0]));
		for (int i = 1; i < 3 && !isScalar(contact); ++i) {
			in->wrong = knMax(in->wrong, knAbs(contact->r[i] - contact->cone.slack[i]));
		}
	}
	for (int k = 0; k < in->boundCount; ++k) {
		const Bound* row = &in->bounds[k];
		double given = *row->r + row->give * (*row->lambda - row->push);
		double off = isFixed(row) ? 0.0 : given - row->own->slack[0] + row->own->slack[1];
		in->wrong = knMax(in->wrong, knAbs(off));
	}
	in->gap = meanGap(in, 0.0);
}

// m/s, by which rows are broken to begin with.
static double violation(const Interior* in) {
	double worst = 0.0;
	for (int k = 0; k < in->step->contactCount; ++k) {
		const knReducedContact* contact = &in->step->contacts[k];
		if (!contact->off) {
			worst = knMax(worst, knMax(-contact->r[0], contact->mu * slipOf(contact)));
		}
	}
	for (int k = 0; k < in->boundCount; ++k) {
		const Bound* row = &in->bounds[k];
		worst = isLower(row) && !isUpper(row) ? knMax(worst, -*row->r) : worst;
	}
	return worst;
}

// All products of impulses and slacks become at least their mean, m/s of which is returned: what was carried before may be far
// from what will be.
static double widen(Interior* in, double speed) {
	double wide = sqrt(meanGap(in, 0.0)), more = wide - speed;
	if (!(more > 0.0)) {
		return speed;
	}
	for (int k = 0; k < in->step->contactCount; ++k) {
		knReducedContact* contact = &in->step->contacts[k];
		if (!contact->off) {
			contact->lambda[0] += more * contact->cone.weight;
			contact->cone.slack[0] += more;
		}
	}
	for (int k = 0; k < in->boundCount; ++k) {
		startBound(&in->bounds[k], wide);
	}
	return wide;
}

// --- solution --------------------------------------------------------------------------------------------

// Changes towards the centre `centre` with the matrix there is; returns how far they may go.
static double aim(Interior* in, double centre) {
	in->problem->centre = centre;
	knReducedProblem_Measure(in->problem);
	knReducedProblem_FindDirection(in->problem, false);
	return findReach(in);
}

static bool iterate(Interior* in) {
	knReducedProblem* problem = in->problem;
	foresee(in, true);
	problem->centre = 0.0;
	problem->closing = true;
	knReducedProblem_Measure(problem);
	knReducedProblem_Arrange(problem);
	problem->closing = false;
	knReducedProblem_Measure(problem);
	if (!knReducedProblem_FindDirection(problem, true)) {
		return false;
	}
	double left = meanGap(in, findReach(in)) / in->gap;
	foresee(in, false);
	double reach = aim(in, left * left * left * in->gap);
	if (reach < SHORT) {
		foresee(in, true);
		reach = aim(in, RECENTRED * in->gap);
	}
	problem->steers = reach >= SHORT;
	in->shortSteps = reach < SHORT ? in->shortSteps + 1 : 0;
	in->change = knReducedProblem_LargestChange(problem);
	move(in, reach);
	problem->advance(problem, reach);
	problem->refresh(problem);
	knReducedProblem_Measure(problem);
	problem->iterations += 1;
	in->step->iterations += 1;
	judge(in);
	return true;
}

// The velocities that the impulses give, so that momentum is kept, with what carries nothing left out.
static bool finish(Interior* in) {
	knReducedProblem* problem = in->problem;
	for (int k = 0; k < in->step->contactCount; ++k) {
		knReducedContact* contact = &in->step->contacts[k];
		bool unloaded = contact->lambda[0] <= UNLOADED * contact->cone.weight * contact->cone.slack[0];
		for (int i = 0; i < 3 && !contact->off && unloaded; ++i) {
			contact->lambda[i] = 0.0;
		}
	}
	for (int k = 0; k < in->boundCount; ++k) {
		const Bound* row = &in->bounds[k];
		double weight = KN_REDUCED_SOFTNESS / row->e, least = UNLOADED * weight * row->own->slack[0];
		bool one = isLower(row) && !isUpper(row);
		*row->lambda = one && *row->lambda - row->lo <= least ? row->lo : *row->lambda;
	}
	problem->closing = true;
	knReducedProblem_Measure(problem);
	bool found = knReducedProblem_FindDirection(problem, true);
	if (found) {
		problem->advance(problem, 1.0);
		problem->refresh(problem);
		knReducedProblem_Measure(problem);
	}
	for (int k = 0; k < in->boundCount; ++k) {
		*in->bounds[k].lambda = *in->bounds[k].l;
	}
	problem->closing = problem->interior = false;
	return found;
}

bool knReducedInterior_Solve(knReducedProblem* problem, double tolerance) {
	knReducedStep* step = problem->step;
	Interior in = { .problem = problem, .step = step };
	if (!listBounds(&in)) {
		return false;
	}
	knReducedProblem_Measure(problem);
	double speed = knMax(step->h * knLength(step->context->state->header->gravity), violation(&in));
	speed = knMax(speed, tolerance);
	for (int k = 0; k < step->contactCount; ++k) {
		if (!step->contacts[k].off) {
			startContact(&step->contacts[k], speed);
		}
	}
	for (int k = 0; k < in.boundCount; ++k) {
		startBound(&in.bounds[k], speed);
	}
	speed = widen(&in, speed);
	judge(&in);
	problem->interior = problem->steers = true;
	bool sound = true, settled = false;
	for (int i = 0; i < MOST_ITERATIONS && sound && !settled && in.shortSteps < MOST_SHORT; ++i) {
		sound = iterate(&in);
		settled = knMax(in.wrong, in.slips) <= tolerance && in.gap <= tolerance * speed &&
				  (!problem->displacements || in.change <= LAST_CHANGE);
	}
	bool near =
		!problem->displacements && in.shortSteps < MOST_SHORT && knMax(in.wrong, in.slips) <= NEAR * speed;
	return finish(&in) && sound && (settled || near);
}
