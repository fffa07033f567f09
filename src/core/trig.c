// Sine, cosine and arc tangent from additions, multiplications, divisions and floor alone, so that every
// platform gives the same bits. Error under 2 ulp for every finite argument.
//
// Sine and cosine: x = n pi/2 + r, |r| <= pi/4, with r as an unevaluated sum of two doubles. Up to 1e6 by
// Cody and Waite's reduction: pi/2 in three parts of 33 bits, whose products with n are exact, and a rest.
// Beyond, by Payne and Hanek's: only those bits of 2/pi that matter modulo 4 are multiplied, in integers.
// Then Taylor polynomials.
//
// Arc tangent: with t = smaller / larger of |x|, |y|, and c = k/16 the closest to t,
//   atan(t) = atan(c) + atan(u),  u = (t - c) / (1 + t c),  |u| <= 3/32
// where u comes from x and y directly, without a rounded t.
#include "knuckle/vecmath.h"

#include <float.h>
#include <string.h>

#if FLT_EVAL_METHOD != 0
#error "doubles must be computed as doubles"
#endif

#define TWO_OVER_PI 0x1.45f306dc9c883p-1
#define HALF_PI_HIGH 0x1.921fb54442d18p+0
#define HALF_PI_LOW 0x1.1a62633145c07p-54
#define PI_LOW 0x1.1a62633145c07p-53

// An unevaluated sum, |low| at most half an ulp of high.
typedef struct DoubleSum {
	double high, low;
} DoubleSum;

// a + b without error, for any order of magnitude (Knuth).
static DoubleSum exactSum(double a, double b) {
	double sum = a + b;
	double bPart = sum - a;
	DoubleSum s = { sum, (a - (sum - bPart)) + (b - bPart) };
	return s;
}

// a b without error (Dekker); no overflow for the small numbers here.
static DoubleSum exactProduct(double a, double b) {
	double aBig = a * 0x1.0000002p+27, bBig = b * 0x1.0000002p+27;
	double aHigh = aBig - (aBig - a), bHigh = bBig - (bBig - b);
	double aLow = a - aHigh, bLow = b - bHigh;
	double product = a * b;
	DoubleSum p = { product, ((aHigh * bHigh - product) + aHigh * bLow + aLow * bHigh) + aLow * bLow };
	return p;
}

// --- reduction to |r| <= pi/4 ----------------------------------------------------------------------------

// For |x| <= 1e6: n has at most 20 bits, so that n times a 33-bit part is exact. Returns n modulo 4.
static int reduceMedium(double x, DoubleSum* r) {
	double n = floor(x * TWO_OVER_PI + 0.5);
	DoubleSum first = exactSum(x - n * 0x1.921fb544p+0, -(n * 0x1.0b4611a6p-34));
	DoubleSum second = exactSum(first.high, -(n * 0x1.3198a2ep-69));
	double low = (first.low + second.low) - n * 0x1.b839a252049c1p-104;
	r->high = second.high + low;
	r->low = (second.high - r->high) + low;
	return (int)n & 3;
}

// The binary digits of 2/pi, 32 in a word.
static const uint32_t twoOverPi[] = {
	0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561,
	0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484,
	0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,
	0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b,
	0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab,
};

enum { WINDOW = 7, PRODUCT = WINDOW + 2 };

// x 2/pi modulo 4 as a fixed-point number: two bits before the point, 190 behind it. For finite x > 1e6.
static void multiplyModulo4(double x, uint64_t out[3]) {
	uint64_t bits;
	memcpy(&bits, &x, sizeof bits);
	uint64_t mantissa = (bits & UINT64_C(0xfffffffffffff)) | UINT64_C(0x10000000000000);
	int exponent = (int)(bits >> 52) - 1075; // x = mantissa 2^exponent

	// words before the first make multiples of 4; words after the window less than 2^-138
	int first = exponent < 2 ? 0 : (exponent - 2) / 32;

	// product = mantissa times the window, lowest word first
	uint32_t product[PRODUCT] = { 0 };
	uint32_t factor[2] = { (uint32_t)mantissa, (uint32_t)(mantissa >> 32) };
	for (int f = 0; f < 2; ++f) {
		uint64_t carry = 0;
		for (int w = 0; w < WINDOW; ++w) {
			carry += (uint64_t)factor[f] * twoOverPi[first + WINDOW - 1 - w] + product[f + w];
			product[f + w] = (uint32_t)carry;
			carry >>= 32;
		}
		product[f + WINDOW] = (uint32_t)carry;
	}

	// move the two bits before the point to the top; what is above them drops out
	int behindPoint = 32 * (first + WINDOW) - exponent;
	int shift = 32 * PRODUCT - 2 - behindPoint;
	for (int i = 0; i < 3; ++i) {
		uint64_t part = 0;
		for (int half = 0; half < 2; ++half) {
			int word = PRODUCT - 1 - 2 * i - half - shift / 32;
			uint64_t pair = (uint64_t)product[word] << 32 | product[word - 1];
			part = part << 32 | (uint32_t)(pair >> (32 - shift % 32));
		}
		out[i] = part;
	}
}

// For finite |x| > 1e6. Returns n modulo 4.
static int reduceLarge(double x, DoubleSum* r) {
	uint64_t turns[3];
	multiplyModulo4(fabs(x), turns);

	// n to the nearest integer; the fraction left, in [-1/2, 1/2), as sign and magnitude
	int n = (int)(turns[0] >> 62);
	uint64_t a = turns[0] << 2 | turns[1] >> 62;
	uint64_t b = turns[1] << 2 | turns[2] >> 62;
	double sign = 1.0;
	if (a >> 63 != 0) {
		n += 1;
		sign = -1.0;
		a = ~a;
		b = ~b;
	}

	// 53 leading bits, then 53 more; no double comes closer to a multiple of pi/2 than about 2^-62
	double scale = 1.0;
	while (a >> 63 == 0 && scale > 0x1p-70) {
		a = a << 1 | b >> 63;
		b <<= 1;
		scale *= 0.5;
	}
	double high = (double)(a >> 11) * 0x1p-53 * scale;
	double low = (double)((a << 53 | b >> 11) >> 11) * 0x1p-106 * scale;

	// times pi/2
	DoubleSum product = exactProduct(high, HALF_PI_HIGH);
	double rest = product.low + (high * HALF_PI_LOW + low * HALF_PI_HIGH);
	r->high = product.high + rest;
	r->low = (product.high - r->high) + rest;

	if (x < 0.0) {
		n = -n;
		sign = -sign;
	}
	r->high *= sign;
	r->low *= sign;
	return n & 3;
}

static int reduce(double x, DoubleSum* r) {
	if (fabs(x) <= 0x1.921fb54442d18p-1) {
		r->high = x;
		r->low = 0.0;
		return 0;
	}
	return fabs(x) <= 1e6 ? reduceMedium(x, r) : reduceLarge(x, r);
}

// --- sine and cosine on |r| <= pi/4 ----------------------------------------------------------------------

// Taylor to r^17; the first term left out is below 2^-62 of the result.
static double sineNearZero(DoubleSum r) {
	double z = r.high * r.high;
	double p = 1.0 / 355687428096000.0;
	p = p * z - 1.0 / 1307674368000.0;
	p = p * z + 1.0 / 6227020800.0;
	p = p * z - 1.0 / 39916800.0;
	p = p * z + 1.0 / 362880.0;
	p = p * z - 1.0 / 5040.0;
	p = p * z + 1.0 / 120.0;
	p = p * z - 1.0 / 6.0;
	// sin(high + low) = sin(high) + low cos(high)
	return r.high + (r.high * z * p + r.low * (1.0 - 0.5 * z));
}

// Taylor to r^16.
static double cosineNearZero(DoubleSum r) {
	double z = r.high * r.high;
	double p = 1.0 / 20922789888000.0;
	p = p * z - 1.0 / 87178291200.0;
	p = p * z + 1.0 / 479001600.0;
	p = p * z - 1.0 / 3628800.0;
	p = p * z + 1.0 / 40320.0;
	p = p * z - 1.0 / 720.0;
	p = p * z + 1.0 / 24.0;
	// 1 - z/2 is rounded; what it lost is added back
	double half = 0.5 * z;
	double top = 1.0 - half;
	return top + (((1.0 - top) - half) + (z * z * p - r.high * r.low));
}

void knSinCos(double x, double* sine, double* cosine) {
	if (!knIsFinite(x)) {
		*sine = *cosine = x - x;
		return;
	}
	if (fabs(x) < 0x1p-27) {
		*sine = x; // keeps the sign of zero
		*cosine = 1.0;
		return;
	}
	DoubleSum r;
	int quadrant = reduce(x, &r);
	double s = sineNearZero(r), c = cosineNearZero(r);
	double sineOrCosine = quadrant & 1 ? c : s;
	double cosineOrSine = quadrant & 1 ? s : c;
	*sine = quadrant & 2 ? -sineOrCosine : sineOrCosine;
	*cosine = quadrant == 1 || quadrant == 2 ? -cosineOrSine : cosineOrSine;
}

double knSin(double x) {
	double sine, cosine;
	knSinCos(x, &sine, &cosine);
	return sine;
}

double knCos(double x) {
	double sine, cosine;
	knSinCos(x, &sine, &cosine);
	return cosine;
}

// --- arc tangent -----------------------------------------------------------------------------------------

// atan(k/16)
static const DoubleSum atanTable[17] = {
	{ 0.0, 0.0 },
	{ 0x1.ff55bb72cfdeap-5, -0x1.c934d86d23f1dp-60 },
	{ 0x1.fd5ba9aac2f6ep-4, -0x1.cd37686760c17p-59 },
	{ 0x1.7b97b4bce5b02p-3, 0x1.347b0b4f881cap-58 },
	{ 0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57 },
	{ 0x1.362773707ebccp-2, -0x1.963a544b672d8p-57 },
	{ 0x1.6f61941e4def1p-2, -0x1.c63aae6f6e918p-56 },
	{ 0x1.a64eec3cc23fdp-2, -0x1.24dec1b50b7ffp-56 },
	{ 0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56 },
	{ 0x1.0657e94db30dp-1, -0x1.d5b495f6349e6p-56 },
	{ 0x1.1e00babdefeb4p-1, -0x1.928df287a668fp-58 },
	{ 0x1.345f01cce37bbp-1, 0x1.1021137c71102p-55 },
	{ 0x1.4978fa3269ee1p-1, 0x1.2419a87f2a458p-56 },
	{ 0x1.5d58987169b18p-1, 0x1.0028e4bc5e7cap-57 },
	{ 0x1.700a7c5784634p-1, -0x1.8c34d25aadef6p-56 },
	{ 0x1.819d0b7158a4dp-1, -0x1.bf76229d3b917p-56 },
	{ 0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55 },
};

// The 48 leading bits of x: times k they are exact.
static double leadingBits(double x) {
	uint64_t bits;
	memcpy(&bits, &x, sizeof bits);
	bits &= ~UINT64_C(31);
	memcpy(&x, &bits, sizeof x);
	return x;
}

// atan(u) for |u| <= 3/32: the series to u^15.
static double atanNearZero(double u) {
	double z = u * u;
	double p = -1.0 / 15.0;
	p = p * z + 1.0 / 13.0;
	p = p * z - 1.0 / 11.0;
	p = p * z + 1.0 / 9.0;
	p = p * z - 1.0 / 7.0;
	p = p * z + 1.0 / 5.0;
	p = p * z - 1.0 / 3.0;
	return u + u * z * p;
}

// base + sign atan(small / large), for 0 <= small <= large, 0 < large, neither near overflow nor underflow.
static double atanOfRatio(double small, double large, DoubleSum base, double sign) {
	double t = small / large;
	int k = t < 3.0 / 32.0 ? 0 : (int)(16.0 * t + 0.5);
	double u = t;
	if (k > 0) {
		// small - c large: the first difference is exact since the two are within a factor of two
		double c = k / 16.0;
		double lead = leadingBits(large);
		u = ((small - c * lead) - c * (large - lead)) / (large + c * small);
	}
	DoubleSum sum = exactSum(base.high, sign * atanTable[k].high);
	double rest = sum.low + (base.low + sign * atanTable[k].low);
	// rest first: a lone tiny angle must keep all its bits
	return sum.high + (rest + sign * atanNearZero(u));
}

double knAtan2(double y, double x) {
	if (x != x || y != y) {
		return x + y;
	}
	bool xNegative = signbit(x), yNegative = signbit(y);
	x = fabs(x);
	y = fabs(y);

	// infinities by the same directions with finite length
	if (!knIsFinite(x) || !knIsFinite(y)) {
		double newX = knIsFinite(x) ? 0.0 : 1.0;
		y = knIsFinite(y) ? 0.0 : 1.0;
		x = newX;
	}
	// two zeros lie on the x axis
	if (x == 0.0 && y == 0.0) {
		x = 1.0;
	}

	// away from overflow and underflow; where the smaller one loses bits, the ratio is zero anyway
	double larger = knMax(x, y);
	double scale = larger > 0x1p+1000 ? 0x1p-100 : (larger < 0x1p-900 ? 0x1p+150 : 1.0);
	x *= scale;
	y *= scale;

	double angle;
	if (y <= x) {
		DoubleSum base = { xNegative ? KN_PI : 0.0, xNegative ? PI_LOW : 0.0 };
		angle = atanOfRatio(y, x, base, xNegative ? -1.0 : 1.0);
	} else {
		DoubleSum base = { HALF_PI_HIGH, HALF_PI_LOW };
		angle = atanOfRatio(x, y, base, xNegative ? 1.0 : -1.0);
	}
	return yNegative ? -angle : angle;
}

double knAsin(double x) {
	x = knClamp(x, -1.0, 1.0);
	return knAtan2(x, sqrt((1.0 - x) * (1.0 + x)));
}

double knAcos(double x) {
	x = knClamp(x, -1.0, 1.0);
	return knAtan2(sqrt((1.0 - x) * (1.0 + x)), x);
}
