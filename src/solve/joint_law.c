// The graph of a joint's law is walked from its lower to its upper end: at each jump the function d - rho lambda, which
// rises strictly, covers an interval; between jumps it is a straight line.

#include "solve/joint_law.h"

#include "knuckle/vecmath.h"

knJointLaw knJointLaw_Free(void) {
	return (knJointLaw){ .theta = 0.5, .lower = -(double)INFINITY, .upper = (double)INFINITY };
}

double knJointLaw_Drive(const knJointLaw* law, double d) {
	return knClamp(law->drive - law->driveSlope * d, law->driveLower, law->driveUpper);
}

double knJointLaw_Smooth(const knJointLaw* law, double d) {
	return law->constant + law->carried - law->stiffness * (law->offset + law->theta * d) -
		   (law->damping + law->inertia) * d + knJointLaw_Drive(law, d);
}

double knJointLaw_Beside(const knJointLaw* law, double d, int side) {
	double lambda = knJointLaw_Smooth(law, d);
	bool forward = d > 0.0 || (d == 0.0 && side > 0);
	lambda -= forward ? law->friction : -law->friction;
	if (law->motor) {
		bool beyond = d > law->motorTarget || (d == law->motorTarget && side > 0);
		lambda -= beyond ? law->motorBound : -law->motorBound;
	}
	return lambda;
}

// Jumps and bends within the limits, ascending; returns their number.
static int listBreaks(const knJointLaw* law, double breaks[6]) {
	double inner[4];
	int innerCount = 0, count = 0;
	if (law->friction > 0.0) {
		inner[innerCount++] = 0.0;
	}
	if (law->motor && law->motorBound > 0.0) {
		inner[innerCount++] = law->motorTarget;
	}
	if (law->driveSlope > 0.0) {
		inner[innerCount++] = (law->drive - law->driveUpper) / law->driveSlope;
		inner[innerCount++] = (law->drive - law->driveLower) / law->driveSlope;
	}
	for (int i = 1; i < innerCount; ++i) {
		const double value = inner[i];
		int k = i;
		for (; k > 0 && inner[k - 1] > value; --k) {
			inner[k] = inner[k - 1];
		}
		inner[k] = value;
	}
	if (knIsFinite(law->lower)) {
		breaks[count++] = law->lower;
	}
	for (int i = 0; i < innerCount; ++i) {
		if (inner[i] > law->lower && inner[i] < law->upper && knIsFinite(inner[i]) &&
			(i == 0 || inner[i] != inner[i - 1])) {
			breaks[count++] = inner[i];
		}
	}
	if (knIsFinite(law->upper) && law->upper > law->lower) {
		breaks[count++] = law->upper;
	}
	return count;
}

// The straight piece beside a break.
static knJointBranch sloped(const knJointLaw* law, double d, int side) {
	bool follows = false;
	if (law->driveSlope > 0.0) {
		// between its bounds, by the numbers of listBreaks: round-off at a bound must not tell otherwise
		const double first = (law->drive - law->driveUpper) / law->driveSlope;
		const double last = (law->drive - law->driveLower) / law->driveSlope;
		follows = side > 0 ? d >= first && d < last : d > first && d <= last;
	}
	return (knJointBranch){ .d = d,
							.lambda = knJointLaw_Beside(law, d, side),
							.slope = -(law->stiffness * law->theta + law->damping + law->inertia +
									   (follows ? law->driveSlope : 0.0)) };
}

knJointBranch knJointLaw_Branch(const knJointLaw* law, double z, double rho) {
	double breaks[6];
	const int count = listBreaks(law, breaks);
	for (int i = 0; i < count; ++i) {
		const double d = breaks[i];
		if (d > law->lower && z < d - rho * knJointLaw_Beside(law, d, -1)) {
			return sloped(law, d, -1);
		}
		if (d >= law->upper || z <= d - rho * knJointLaw_Beside(law, d, 1)) {
			return (knJointBranch){ .held = true, .d = d, .lambda = (d - z) / rho };
		}
	}
	return count > 0 ? sloped(law, breaks[count - 1], 1) : sloped(law, 0.0, 1);
}

double knJointLaw_MotorShare(const knJointLaw* law, double d, double lambda) {
	double share = law->constant + knJointLaw_Drive(law, d);
	if (law->motor) {
		double rest =
			lambda - knJointLaw_Smooth(law, d) + (d > 0.0 ? law->friction : (d < 0.0 ? -law->friction : 0.0));
		share += knClamp(rest, -law->motorBound, law->motorBound);
	}
	return share;
}
