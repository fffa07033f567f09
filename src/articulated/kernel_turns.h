// Sine and cosine of many angles, four at a time, by the reduction and the polynomials of core/trig.c without its
// branches: to the nearest multiple n of pi/2 by adding and removing a large number, whose last bits then hold n.
// Arguments beyond the reach of that reduction take the function itself.
#pragma once

#include <string.h>

#include "articulated/tree.h"

typedef uint64_t Bits __attribute__((vector_size(32)));

#define TWO_OVER_PI 0x1.45f306dc9c883p-1
#define ROUNDER 0x1.8p+52
#define REACH 1e6 // up to here n times a part of pi/2 is exact

typedef struct Pair {
	knLanes high, low;
} Pair; // an unevaluated sum

KN_LANES_INLINE Pair exactSum(knLanes a, knLanes b) {
	knLanes sum = a + b, bPart = sum - a;
	return (Pair){ sum, (a - (sum - bPart)) + (b - bPart) };
}

KN_LANES_INLINE Pair reduce(knLanes x, knLanes n) {
	Pair first = exactSum(x - n * 0x1.921fb544p+0, -(n * 0x1.0b4611a6p-34));
	Pair second = exactSum(first.high, -(n * 0x1.3198a2ep-69));
	knLanes low = (first.low + second.low) - n * 0x1.b839a252049c1p-104;
	knLanes high = second.high + low;
	return (Pair){ high, (second.high - high) + low };
}

KN_LANES_INLINE knLanes sineNearZero(Pair r, knLanes z) {
	knLanes p = knLanes_All(1.0 / 355687428096000.0);
	p = p * z - 1.0 / 1307674368000.0;
	p = p * z + 1.0 / 6227020800.0;
	p = p * z - 1.0 / 39916800.0;
	p = p * z + 1.0 / 362880.0;
	p = p * z - 1.0 / 5040.0;
	p = p * z + 1.0 / 120.0;
	p = p * z - 1.0 / 6.0;
	return r.high + (r.high * z * p + r.low * (1.0 - 0.5 * z));
}

KN_LANES_INLINE knLanes cosineNearZero(Pair r, knLanes z) {
	knLanes p = knLanes_All(1.0 / 20922789888000.0);
	p = p * z - 1.0 / 87178291200.0;
	p = p * z + 1.0 / 479001600.0;
	p = p * z - 1.0 / 3628800.0;
	p = p * z + 1.0 / 40320.0;
	p = p * z - 1.0 / 720.0;
	p = p * z + 1.0 / 24.0;
	knLanes half = 0.5 * z, top = 1.0 - half;
	return top + (((1.0 - top) - half) + (z * z * p - r.high * r.low));
}

KN_LANES_INLINE knLanes select(Bits mask, knLanes yes, knLanes no) {
	return (knLanes)(((Bits)yes & mask) | ((Bits)no & ~mask));
}

KN_LANES_INLINE void turnFour(const double* x, double* sine, double* cosine) {
	knLanes angle;
	memcpy(&angle, x, sizeof(angle));
	knLanes rounded = angle * TWO_OVER_PI + ROUNDER;
	Pair r = reduce(angle, rounded - ROUNDER);
	knLanes z = r.high * r.high, s = sineNearZero(r, z), c = cosineNearZero(r, z);
	Bits quadrant = (Bits)rounded, odd = -(quadrant & 1);
	knLanes sines = select(odd, c, s), cosines = select(odd, s, c);
	sines = (knLanes)((Bits)sines ^ ((quadrant & 2) << 62));
	cosines = (knLanes)((Bits)cosines ^ (((quadrant + 1) & 2) << 62));
	memcpy(sine, &sines, sizeof(sines));
	memcpy(cosine, &cosines, sizeof(cosines));
}

static void takeTurns(const double* x, int count, double* sine, double* cosine) {
	int whole = count & ~3;
	for (int i = 0; i < whole; i += 4) {
		turnFour(x + i, sine + i, cosine + i);
	}
	if (whole < count) {
		double last[4] = { 0.0 };
		memcpy(last, x + whole, (size_t)(count - whole) * sizeof(double));
		turnFour(last, sine + whole, cosine + whole);
	}
	for (int i = 0; i < count; ++i) {
		if (!(knAbs(x[i]) <= REACH)) {
			knSinCos(x[i], &sine[i], &cosine[i]);
		}
	}
}
