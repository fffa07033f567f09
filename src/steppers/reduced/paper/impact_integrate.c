// Collision integration over the normal impulse s, in a frame with z along the normal:
//
//   du/ds = K xi,  dp/ds = xi,  dW/ds = u_z        xi = (friction direction, 1)
//   sliding    xi_t = -mu u_t/|u_t|                 Runge-Kutta; the step shrinks with |u_t|, so that its zero is met, and
//              once the direction has settled all is linear in s
//   sticking   xi = K^-1 e_z/(e_z.K^-1 e_z), as long as |xi_t| <= mu: u_t stays 0, all is linear in s
//   slipping   out of stick: the direction in which K xi drives away the sliding that xi opposes; straight
//   ends       compression at u_z = 0, where W = W_c; restitution at W = (1 - e^2) W_c
//
// s grows throughout, so jamming (u_z falling while s grows) needs no special case. Where K has no inverse a contact
// may come to rest and be wedged: no impulse that friction allows moves it any more, restitution has nothing to work
// on, the hit ends.

#include "knuckle/impact.h"

#define RESOLUTION 100 // sliding steps over a frictionless compression
#define SLOWDOWN 0.2   // of |u_t| at most in one step, and of a right angle that it may turn by
#define STEADY 1e-11   // the drive across the sliding, over what it can be: sliding goes straight on
#define STOPPED 1e-7   // |u_t| over the largest speed of the hit that counts as zero
#define PATIENCE 400   // steps after which they are made longer
#define STEP_LIMIT 20000
#define DIRECTIONS 90 // tried when sliding starts out of stick
#define BISECTIONS 60
#define SOFTENING 1e-10 // of the trace of a K that cannot be inverted
#define WEDGED 1e-9     // of the trace: a rate of u_z that is none

typedef struct Course {
	knMat33 K;       // contact frame
	knMat33 inverse; // of K
	double mu;
	knVec3 u, p;
	double W;
	double end; // W at which restitution ends, once compression is over
	bool restoring;
	bool wedged;
	double fast;   // the largest speed so far
	double stride; // longest step in s
	int steps;
} Course;

typedef struct Change {
	knVec3 u, p;
	double W;
} Change;

static double slidingSpeed(knVec3 u) {
	return sqrt(u.x * u.x + u.y * u.y);
}

// --- directions ------------------------------------------------------------------------------------------

static knVec3 slidingDirection(const Course* c, knVec3 u) {
	double speed = slidingSpeed(u);
	double scale = speed > 0.0 ? -c->mu / speed : 0.0;
	return knV3(scale * u.x, scale * u.y, 1.0);
}

// The direction that keeps u_t at rest; true if friction can provide it.
static bool stickingDirection(const Course* c, knVec3* xi) {
	knVec3 column = c->inverse.cz;
	if (!(column.z > 0.0)) {
		return false;
	}
	*xi = knScale(1.0 / column.z, column);
	return xi->x * xi->x + xi->y * xi->y <= c->mu * c->mu;
}

// How far the sliding that starts along the angle leaves that ray, and whether it goes outwards.
static double deviation(const Course* c, double angle, bool* outwards) {
	double sine, cosine;
	knSinCos(angle, &sine, &cosine);
	knVec3 drive = knMulMV(&c->K, knV3(-c->mu * cosine, -c->mu * sine, 1.0));
	*outwards = drive.x * cosine + drive.y * sine > 0.0;
	return cosine * drive.y - sine * drive.x;
}

static bool searchDirections(const Course* c, int directions, knVec3* xi) {
	double step = 2.0 * KN_PI / directions;
	for (int i = 0; i < directions; ++i) {
		double low = i * step, high = low + step;
		bool outLow, outHigh;
		double left = deviation(c, low, &outLow), right = deviation(c, high, &outHigh);
		// a ray that attracts: deviations point towards it from both sides
		if (!(left >= 0.0 && right <= 0.0) || (!outLow && !outHigh)) {
			continue;
		}
		for (int k = 0; k < BISECTIONS; ++k) {
			double middle = 0.5 * (low + high);
			bool out;
			if (deviation(c, middle, &out) >= 0.0) {
				low = middle;
			} else {
				high = middle;
			}
		}
		bool out;
		deviation(c, low, &out);
		if (out) {
			double sine, cosine;
			knSinCos(low, &sine, &cosine);
			*xi = knV3(-c->mu * cosine, -c->mu * sine, 1.0);
			return true;
		}
	}
	return false;
}

// Sliding out of stick goes along the one ray that it does not leave. False if there is none (friction holds). Where
// K is nearly singular the ray may lie close to one that repels, and is looked for again more closely.
static bool slippingDirection(const Course* c, knVec3* xi) {
	return searchDirections(c, DIRECTIONS, xi) || searchDirections(c, 50 * DIRECTIONS, xi);
}

// --- sliding ---------------------------------------------------------------------------------------------

// One Runge-Kutta step of fourth order over ds.
static Change slide(const Course* c, double ds) {
	knVec3 x1 = slidingDirection(c, c->u), k1 = knMulMV(&c->K, x1);
	knVec3 u2 = knMulAdd(c->u, 0.5 * ds, k1), x2 = slidingDirection(c, u2), k2 = knMulMV(&c->K, x2);
	knVec3 u3 = knMulAdd(c->u, 0.5 * ds, k2), x3 = slidingDirection(c, u3), k3 = knMulMV(&c->K, x3);
	knVec3 u4 = knMulAdd(c->u, ds, k3), x4 = slidingDirection(c, u4), k4 = knMulMV(&c->K, x4);
	knVec3 inner = knScale(2.0, knAdd(k2, k3)), xiInner = knScale(2.0, knAdd(x2, x3));
	Change change;
	change.u = knScale(ds / 6.0, knAdd(knAdd(k1, inner), k4));
	change.p = knScale(ds / 6.0, knAdd(knAdd(x1, xiInner), x4));
	change.W = ds / 6.0 * (c->u.z + 2.0 * (u2.z + u3.z) + u4.z);
	return change;
}

// Along a constant direction all is exact.
static Change goStraight(const Course* c, knVec3 xi, double ds) {
	knVec3 drive = knMulMV(&c->K, xi);
	return (Change){ knScale(ds, drive), knScale(ds, xi), ds * (c->u.z + 0.5 * ds * drive.z) };
}

static Change advance(const Course* c, const knVec3* straight, double ds) {
	return straight != NULL ? goStraight(c, *straight, ds) : slide(c, ds);
}

// True if this phase of the hit would be over after the change.
static bool endsPhase(const Course* c, const Change* change) {
	return c->restoring ? c->W + change->W >= c->end : c->u.z + change->u.z >= 0.0;
}

// Moves on by ds or, if the phase ends before, to its end. True if it ended.
static bool moveOn(Course* c, const knVec3* straight, double ds) {
	Change change = advance(c, straight, ds);
	bool ended = endsPhase(c, &change);
	if (ended) {
		double low = 0.0, high = ds;
		for (int k = 0; k < BISECTIONS; ++k) {
			double middle = 0.5 * (low + high);
			Change trial = advance(c, straight, middle);
			if (endsPhase(c, &trial)) {
				high = middle;
			} else {
				low = middle;
			}
		}
		change = advance(c, straight, high);
	}
	c->u = knAdd(c->u, change.u);
	c->p = knAdd(c->p, change.p);
	c->W += change.W;
	c->fast = knMax(c->fast, knLength(c->u));
	c->steps += 1;
	return ended;
}

// A length of s within which a straight phase ends, so that one step does.
static double straightLength(const Course* c, knVec3 xi) {
	double rate = knDot(knMulMV(&c->K, xi), knV3(0.0, 0.0, 1.0));
	if (!(rate > 0.0)) {
		return c->stride;
	}
	double deficit = c->restoring ? knMax(c->end - c->W, 0.0) : 0.0;
	double speed = sqrt(c->u.z * c->u.z + 2.0 * rate * deficit) - (c->restoring ? c->u.z : 0.0);
	return 1.001 * (c->restoring ? speed : -c->u.z) / rate + 1e-12 * c->stride;
}

// A step of whatever the contact does now. True if the phase of the hit ended.
static bool step(Course* c) {
	double speed = slidingSpeed(c->u);
	knVec3 xi;
	if (speed <= STOPPED * c->fast) {
		c->u.x = c->u.y = 0.0;
		bool moves = stickingDirection(c, &xi) || slippingDirection(c, &xi);
		double rate = moves ? knMulMV(&c->K, xi).z : 0.0, size = c->K.cx.x + c->K.cy.y + c->K.cz.z;
		// sliding that has stopped within its tolerance leaves as much again of u_z, at the steepness that friction
		// holds
		if (!(rate > WEDGED * size) && knAbs(c->u.z) <= 2.0 * (1.0 + c->mu) * STOPPED * c->fast) {
			c->wedged = true;
			return true;
		}
		if (moves) {
			return moveOn(c, &xi, straightLength(c, xi));
		}
		xi = knV3(0.0, 0.0, 1.0);
		return moveOn(c, &xi, c->stride);
	}
	xi = slidingDirection(c, c->u);
	knVec3 drive = knMulMV(&c->K, xi);
	double along = (drive.x * c->u.x + drive.y * c->u.y) / speed;
	double across = (drive.y * c->u.x - drive.x * c->u.y) / speed;
	// how fast the drive changes as the sliding turns
	double turning = c->mu * (knAbs(c->K.cx.x) + knAbs(c->K.cy.x) + knAbs(c->K.cy.y));
	if (knAbs(across) <= STEADY * (turning + knAbs(along))) {
		return moveOn(c, &xi, along < 0.0 ? -speed / along : straightLength(c, xi));
	}
	double rate = knMax(slidingSpeed(drive), turning), ds = c->stride;
	if (rate * ds > SLOWDOWN * speed) {
		ds = SLOWDOWN * speed / rate;
	}
	return moveOn(c, NULL, ds);
}

// --- the whole -------------------------------------------------------------------------------------------

// Axes with z along the normal, as columns.
static knMat33 contactAxes(knVec3 n) {
	knVec3 other = knAbs(n.x) < 0.7 ? knV3(1.0, 0.0, 0.0) : knV3(0.0, 1.0, 0.0);
	knMat33 axes;
	axes.cx = knNormalize(knCross(other, n));
	axes.cy = knCross(n, axes.cx);
	axes.cz = n;
	return axes;
}

static knMat33 softened(knMat33 K) {
	double more = SOFTENING * (K.cx.x + K.cy.y + K.cz.z);
	knMat33 diagonal = knDiagonal33(more, more, more);
	return knAddMM(&K, &diagonal);
}

static Course begin(const knImpact* impact, const knMat33* axes) {
	Course c = { .mu = impact->mu };
	knMat33 KR = knMulMM(&impact->K, axes), Rt = knTranspose33(axes);
	c.K = knMulMM(&Rt, &KR);
	knMat33 invertible = softened(c.K);
	c.inverse = knInverse33(&invertible);
	c.u = knMulMV(&Rt, impact->u);
	c.fast = knLength(c.u);
	c.stride = -c.u.z / (c.K.cz.z * RESOLUTION);
	return c;
}

// What the integration's rounding may have gained is taken back.
static knVec3 withoutGain(const knImpact* impact, knVec3 j) {
	double a = knDot(j, knMulMV(&impact->K, j)), b = knDot(j, impact->u);
	return b + 0.5 * a > 0.0 && a > 0.0 ? knScale(knMax(-2.0 * b / a, 0.0), j) : j;
}

knVec3 knImpact_Integrate(const knImpact* impact, knImpactCourse* course) {
	knImpactCourse own;
	course = course != NULL ? course : &own;
	*course = (knImpactCourse){ .complete = true };
	double stiffness = knDot(impact->n, knMulMV(&impact->K, impact->n));
	if (!(knDot(impact->u, impact->n) < 0.0) || !(stiffness > 0.0)) {
		return knZero3();
	}
	knMat33 axes = contactAxes(impact->n);
	Course c = begin(impact, &axes);
	bool done = false;
	while (!done && c.steps < STEP_LIMIT) {
		// a jam takes far more impulse than the compression of a free body: look further ahead with time
		if (c.steps % PATIENCE == PATIENCE - 1) {
			c.stride *= 2.0;
		}
		if (!step(&c)) {
			continue;
		}
		done = c.restoring || c.wedged || impact->e <= 0.0;
		c.restoring = true;
		c.end = (1.0 - impact->e * impact->e) * c.W;
	}
	course->complete = done;
	course->steps = c.steps;
	course->stuck = slidingSpeed(c.u) <= STOPPED * c.fast;
	course->normalWork = c.W;
	return withoutGain(impact, knMulMV(&axes, c.p));
}
