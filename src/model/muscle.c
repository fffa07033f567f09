// Muscles after Hill, in the dimensionless form that MuJoCo documents: with the optimal length L0 and the peak force F,
//
//   f = -F (FL(L) FV(V) u + FP(L))        L = l / L0,  V = l' / (L0 speed)
//
// FL rises from 0 at lengthLeast to 1 at the optimal length and falls to 0 at lengthMost, by two parabolas on either side.
// FV is 0 at the fastest shortening, 1 at rest and `lengthening` at the most. FP, the passive pull, is 0 up to the optimal
// length, a parabola up to half the way to lengthMost, and straight beyond. All three have continuous slopes, so steppers
// take the tangent of f; a negative stiffness (beyond the optimum, FL falls) is not solved implicitly.
#include "model/muscle.h"

typedef struct Curve {
	double value, slope;
} Curve;

static Curve activeByLength(const knMuscle* muscle, double L) {
	const double a = 0.5 * (muscle->lengthLeast + 1.0), b = 0.5 * (1.0 + muscle->lengthMost);
	if (L <= muscle->lengthLeast || L >= muscle->lengthMost) {
		return (Curve){ 0.0, 0.0 };
	}
	if (L <= a) {
		const double width = a - muscle->lengthLeast, x = (L - muscle->lengthLeast) / width;
		return (Curve){ 0.5 * x * x, x / width };
	}
	if (L <= 1.0) {
		const double width = 1.0 - a, x = (1.0 - L) / width;
		return (Curve){ 1.0 - 0.5 * x * x, x / width };
	}
	if (L <= b) {
		const double width = b - 1.0, x = (L - 1.0) / width;
		return (Curve){ 1.0 - 0.5 * x * x, -x / width };
	}
	const double width = muscle->lengthMost - b, x = (muscle->lengthMost - L) / width;
	return (Curve){ 0.5 * x * x, -x / width };
}

static Curve activeBySpeed(const knMuscle* muscle, double V) {
	const double y = muscle->lengthening - 1.0;
	if (V <= -1.0) {
		return (Curve){ 0.0, 0.0 };
	}
	if (V <= 0.0) {
		return (Curve){ (V + 1.0) * (V + 1.0), 2.0 * (V + 1.0) };
	}
	if (V < y) {
		return (Curve){ muscle->lengthening - (y - V) * (y - V) / y, 2.0 * (y - V) / y };
	}
	return (Curve){ muscle->lengthening, 0.0 };
}

static Curve passive(const knMuscle* muscle, double L) {
	const double b = 0.5 * (1.0 + muscle->lengthMost), width = b - 1.0;
	if (L <= 1.0) {
		return (Curve){ 0.0, 0.0 };
	}
	if (L <= b) {
		const double x = (L - 1.0) / width;
		return (Curve){ 0.5 * muscle->passive * x * x, muscle->passive * x / width };
	}
	return (Curve){ muscle->passive * (0.5 + (L - b) / width), muscle->passive / width };
}

knForceLaw knMuscle_Law(const knMuscle* muscle, double u, double length, double rate) {
	const double unit = (muscle->longest - muscle->shortest) / (muscle->rangeMost - muscle->rangeLeast);
	const double L = muscle->rangeLeast + (length - muscle->shortest) / unit;
	const Curve byLength = activeByLength(muscle, L), rest = passive(muscle, L);
	const Curve bySpeed = activeBySpeed(muscle, rate / (unit * muscle->speed));
	const double F = muscle->force;
	knForceLaw law = { .stiffness = F * (byLength.slope * bySpeed.value * u + rest.slope) / unit,
					   .damping = F * byLength.value * bySpeed.slope * u / (unit * muscle->speed) };
	law.force =
		-F * (byLength.value * bySpeed.value * u + rest.value) + law.stiffness * length + law.damping * rate;
	return law;
}

double knMuscle_Force(const knMuscle* muscle, double u, double length, double rate) {
	const knForceLaw law = knMuscle_Law(muscle, u, length, rate);
	return law.force - law.stiffness * length - law.damping * rate;
}
