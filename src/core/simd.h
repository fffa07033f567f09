// Four doubles (or float32 boxes) at once, with the same bits on every machine: lanes never mix, nothing is fused or estimated,
// and the number of lanes does not follow the machine's vectors. What a machine has decides only how many
// instructions an operation takes: one with AVX, two with SSE2 or WebAssembly's vectors, four in plain C.
//
// KN_SIMD_SCALAR before the inclusion asks for plain C, the twin that tests compare with. Only this file
// knows intrinsics. A comparison gives a mask, all bits of a lane set or none.
#pragma once

#include "knuckle/vecmath.h"

#define KN_LANES 4

#if defined(KN_SIMD_SCALAR)
#elif defined(__AVX__)
#define KN_SIMD_AVX
#include <immintrin.h>
#elif defined(__SSE2__)
#define KN_SIMD_SSE2
#include <emmintrin.h>
#elif defined(__wasm_simd128__)
#define KN_SIMD_WASM
#include <wasm_simd128.h>
#else
#define KN_SIMD_SCALAR
#endif

// plain C is left to the compiler: forced into one another, its loops take it minutes under sanitizers
#if defined(KN_SIMD_SCALAR)
#define KN_WIDE static inline __attribute__((unused))
#else
#define KN_WIDE static inline __attribute__((always_inline))
#endif

#if defined(KN_SIMD_AVX)

typedef __m256d knWide;
#define KN_SIMD_NAME "avx"

KN_WIDE knWide knWide_Load(const double* p) {
	return _mm256_load_pd(p);
}
KN_WIDE void knWide_Store(double* p, knWide a) {
	_mm256_store_pd(p, a);
}
KN_WIDE knWide knWide_Splat(double x) {
	return _mm256_set1_pd(x);
}
KN_WIDE knWide knWide_Add(knWide a, knWide b) {
	return _mm256_add_pd(a, b);
}
KN_WIDE knWide knWide_Sub(knWide a, knWide b) {
	return _mm256_sub_pd(a, b);
}
KN_WIDE knWide knWide_Mul(knWide a, knWide b) {
	return _mm256_mul_pd(a, b);
}
KN_WIDE knWide knWide_Div(knWide a, knWide b) {
	return _mm256_div_pd(a, b);
}
KN_WIDE knWide knWide_Sqrt(knWide a) {
	return _mm256_sqrt_pd(a);
}
KN_WIDE knWide knWide_Max(knWide a, knWide b) {
	return _mm256_max_pd(a, b);
}
KN_WIDE knWide knWide_Min(knWide a, knWide b) {
	return _mm256_min_pd(a, b);
}
KN_WIDE knWide knWide_Greater(knWide a, knWide b) {
	return _mm256_cmp_pd(a, b, _CMP_GT_OQ);
}
KN_WIDE bool knWide_Any(knWide mask) {
	return _mm256_movemask_pd(mask) != 0;
}
KN_WIDE knWide knWide_Select(knWide mask, knWide yes, knWide no) {
	return _mm256_blendv_pd(no, yes, mask);
}

#elif defined(KN_SIMD_SSE2) || defined(KN_SIMD_WASM)

#if defined(KN_SIMD_SSE2)
typedef __m128d knHalf;
#define KN_SIMD_NAME "sse2"
#define KN_HALF_LOAD(p) _mm_load_pd(p)
#define KN_HALF_STORE(p, a) _mm_store_pd(p, a)
#define KN_HALF_SPLAT(x) _mm_set1_pd(x)
#define KN_HALF_ADD(a, b) _mm_add_pd(a, b)
#define KN_HALF_SUB(a, b) _mm_sub_pd(a, b)
#define KN_HALF_MUL(a, b) _mm_mul_pd(a, b)
#define KN_HALF_DIV(a, b) _mm_div_pd(a, b)
#define KN_HALF_SQRT(a) _mm_sqrt_pd(a)
#define KN_HALF_MAX(a, b) _mm_max_pd(a, b)
#define KN_HALF_MIN(a, b) _mm_min_pd(a, b)
#define KN_HALF_GREATER(a, b) _mm_cmpgt_pd(a, b)
#define KN_HALF_OR(a, b) _mm_or_pd(a, b)
#define KN_HALF_ANY(a) (_mm_movemask_pd(a) != 0)
#define KN_HALF_SELECT(m, a, b) _mm_or_pd(_mm_and_pd(m, a), _mm_andnot_pd(m, b))
// at any address; the first numbers of both, the second numbers of both
#define KN_HALF_LOADU(p) _mm_loadu_pd(p)
#define KN_HALF_STOREU(p, a) _mm_storeu_pd(p, a)
#define KN_HALF_LOW(a, b) _mm_unpacklo_pd(a, b)
#define KN_HALF_HIGH(a, b) _mm_unpackhi_pd(a, b)
#else
typedef v128_t knHalf;
#define KN_SIMD_NAME "wasm"
#define KN_HALF_LOAD(p) wasm_v128_load(p)
#define KN_HALF_STORE(p, a) wasm_v128_store(p, a)
#define KN_HALF_SPLAT(x) wasm_f64x2_splat(x)
#define KN_HALF_ADD(a, b) wasm_f64x2_add(a, b)
#define KN_HALF_SUB(a, b) wasm_f64x2_sub(a, b)
#define KN_HALF_MUL(a, b) wasm_f64x2_mul(a, b)
#define KN_HALF_DIV(a, b) wasm_f64x2_div(a, b)
#define KN_HALF_SQRT(a) wasm_f64x2_sqrt(a)
// pmax(b, a) is b < a ? a : b, as on the other machines
#define KN_HALF_MAX(a, b) wasm_f64x2_pmax(b, a)
#define KN_HALF_MIN(a, b) wasm_f64x2_pmin(b, a)
#define KN_HALF_GREATER(a, b) wasm_f64x2_gt(a, b)
#define KN_HALF_OR(a, b) wasm_v128_or(a, b)
#define KN_HALF_ANY(a) wasm_v128_any_true(a)
#define KN_HALF_SELECT(m, a, b) wasm_v128_bitselect(a, b, m)
#define KN_HALF_LOADU(p) wasm_v128_load(p)
#define KN_HALF_STOREU(p, a) wasm_v128_store(p, a)
#define KN_HALF_LOW(a, b) wasm_i64x2_shuffle(a, b, 0, 2)
#define KN_HALF_HIGH(a, b) wasm_i64x2_shuffle(a, b, 1, 3)
#endif

typedef struct knWide {
	knHalf lo, hi;
} knWide;

#define KN_BOTH(OP, a, b)                                                                                    \
	(knWide) {                                                                                               \
		.lo = OP((a).lo, (b).lo), .hi = OP((a).hi, (b).hi)                                                   \
	}

KN_WIDE knWide knWide_Load(const double* p) {
	return (knWide){ KN_HALF_LOAD(p), KN_HALF_LOAD(p + 2) };
}
KN_WIDE void knWide_Store(double* p, knWide a) {
	KN_HALF_STORE(p, a.lo);
	KN_HALF_STORE(p + 2, a.hi);
}
KN_WIDE knWide knWide_Splat(double x) {
	return (knWide){ KN_HALF_SPLAT(x), KN_HALF_SPLAT(x) };
}
KN_WIDE knWide knWide_Add(knWide a, knWide b) {
	return KN_BOTH(KN_HALF_ADD, a, b);
}
KN_WIDE knWide knWide_Sub(knWide a, knWide b) {
	return KN_BOTH(KN_HALF_SUB, a, b);
}
KN_WIDE knWide knWide_Mul(knWide a, knWide b) {
	return KN_BOTH(KN_HALF_MUL, a, b);
}
KN_WIDE knWide knWide_Div(knWide a, knWide b) {
	return KN_BOTH(KN_HALF_DIV, a, b);
}
KN_WIDE knWide knWide_Sqrt(knWide a) {
	return (knWide){ KN_HALF_SQRT(a.lo), KN_HALF_SQRT(a.hi) };
}
KN_WIDE knWide knWide_Max(knWide a, knWide b) {
	return KN_BOTH(KN_HALF_MAX, a, b);
}
KN_WIDE knWide knWide_Min(knWide a, knWide b) {
	return KN_BOTH(KN_HALF_MIN, a, b);
}
KN_WIDE knWide knWide_Greater(knWide a, knWide b) {
	return KN_BOTH(KN_HALF_GREATER, a, b);
}
KN_WIDE bool knWide_Any(knWide mask) {
	return KN_HALF_ANY(KN_HALF_OR(mask.lo, mask.hi));
}
KN_WIDE knWide knWide_Select(knWide mask, knWide yes, knWide no) {
	return (knWide){ KN_HALF_SELECT(mask.lo, yes.lo, no.lo), KN_HALF_SELECT(mask.hi, yes.hi, no.hi) };
}

#else

// a mask lane is 1 or 0
typedef struct knWide {
	double v[KN_LANES];
} knWide;
#define KN_SIMD_NAME "scalar"

#define KN_EACH_LANE(expression)                                                                             \
	knWide result;                                                                                           \
	for (int i = 0; i < KN_LANES; ++i) {                                                                     \
		result.v[i] = (expression);                                                                          \
	}                                                                                                        \
	return result

KN_WIDE knWide knWide_Load(const double* p) {
	KN_EACH_LANE(p[i]);
}
KN_WIDE void knWide_Store(double* p, knWide a) {
	for (int i = 0; i < KN_LANES; ++i) {
		p[i] = a.v[i];
	}
}
KN_WIDE knWide knWide_Splat(double x) {
	KN_EACH_LANE(x);
}
KN_WIDE knWide knWide_Add(knWide a, knWide b) {
	KN_EACH_LANE(a.v[i] + b.v[i]);
}
KN_WIDE knWide knWide_Sub(knWide a, knWide b) {
	KN_EACH_LANE(a.v[i] - b.v[i]);
}
KN_WIDE knWide knWide_Mul(knWide a, knWide b) {
	KN_EACH_LANE(a.v[i] * b.v[i]);
}
KN_WIDE knWide knWide_Div(knWide a, knWide b) {
	KN_EACH_LANE(a.v[i] / b.v[i]);
}
KN_WIDE knWide knWide_Sqrt(knWide a) {
	KN_EACH_LANE(sqrt(a.v[i]));
}
KN_WIDE knWide knWide_Max(knWide a, knWide b) {
	KN_EACH_LANE(a.v[i] > b.v[i] ? a.v[i] : b.v[i]);
}
KN_WIDE knWide knWide_Min(knWide a, knWide b) {
	KN_EACH_LANE(a.v[i] < b.v[i] ? a.v[i] : b.v[i]);
}
KN_WIDE knWide knWide_Greater(knWide a, knWide b) {
	KN_EACH_LANE(a.v[i] > b.v[i] ? 1.0 : 0.0);
}
KN_WIDE bool knWide_Any(knWide mask) {
	return mask.v[0] + mask.v[1] + mask.v[2] + mask.v[3] > 0.0;
}
KN_WIDE knWide knWide_Select(knWide mask, knWide yes, knWide no) {
	KN_EACH_LANE(mask.v[i] > 0.0 ? yes.v[i] : no.v[i]);
}

#endif

// --- vectors of three, four at once ----------------------------------------------------------------------

typedef struct knWide3 {
	knWide x, y, z;
} knWide3;

// a + b c and a - b c: two roundings, never fused
KN_WIDE knWide knWide_MulAdd(knWide a, knWide b, knWide c) {
	return knWide_Add(a, knWide_Mul(b, c));
}
KN_WIDE knWide knWide_MulSub(knWide a, knWide b, knWide c) {
	return knWide_Sub(a, knWide_Mul(b, c));
}
KN_WIDE knWide3 knWide3_Load(const double p[3][KN_LANES]) {
	return (knWide3){ knWide_Load(p[0]), knWide_Load(p[1]), knWide_Load(p[2]) };
}
KN_WIDE void knWide3_Store(double p[3][KN_LANES], knWide3 a) {
	knWide_Store(p[0], a.x);
	knWide_Store(p[1], a.y);
	knWide_Store(p[2], a.z);
}
KN_WIDE knWide3 knWide3_Add(knWide3 a, knWide3 b) {
	return (knWide3){ knWide_Add(a.x, b.x), knWide_Add(a.y, b.y), knWide_Add(a.z, b.z) };
}
KN_WIDE knWide3 knWide3_Sub(knWide3 a, knWide3 b) {
	return (knWide3){ knWide_Sub(a.x, b.x), knWide_Sub(a.y, b.y), knWide_Sub(a.z, b.z) };
}
KN_WIDE knWide3 knWide3_Scale(knWide s, knWide3 a) {
	return (knWide3){ knWide_Mul(s, a.x), knWide_Mul(s, a.y), knWide_Mul(s, a.z) };
}
KN_WIDE knWide3 knWide3_MulAdd(knWide3 a, knWide s, knWide3 b) {
	return (knWide3){ knWide_MulAdd(a.x, s, b.x), knWide_MulAdd(a.y, s, b.y), knWide_MulAdd(a.z, s, b.z) };
}
KN_WIDE knWide3 knWide3_MulSub(knWide3 a, knWide s, knWide3 b) {
	return (knWide3){ knWide_MulSub(a.x, s, b.x), knWide_MulSub(a.y, s, b.y), knWide_MulSub(a.z, s, b.z) };
}
KN_WIDE knWide knWide3_Dot(knWide3 a, knWide3 b) {
	return knWide_MulAdd(knWide_MulAdd(knWide_Mul(a.x, b.x), a.y, b.y), a.z, b.z);
}
KN_WIDE knWide3 knWide3_Cross(knWide3 a, knWide3 b) {
	return (knWide3){ knWide_MulSub(knWide_Mul(a.y, b.z), a.z, b.y),
					  knWide_MulSub(knWide_Mul(a.z, b.x), a.x, b.z),
					  knWide_MulSub(knWide_Mul(a.x, b.y), a.y, b.x) };
}
// A symmetric matrix, xx yy zz xy xz yz, times a vector.
KN_WIDE knWide3 knWide3_Symmetric(const double m[6][KN_LANES], knWide3 a) {
	knWide xy = knWide_Load(m[3]), xz = knWide_Load(m[4]), yz = knWide_Load(m[5]);
	return (knWide3){
		knWide_MulAdd(knWide_MulAdd(knWide_Mul(knWide_Load(m[0]), a.x), xy, a.y), xz, a.z),
		knWide_MulAdd(knWide_MulAdd(knWide_Mul(xy, a.x), knWide_Load(m[1]), a.y), yz, a.z),
		knWide_MulAdd(knWide_MulAdd(knWide_Mul(xz, a.x), yz, a.y), knWide_Load(m[2]), a.z),
	};
}

// Four doubles at each of four places, turned: out[i] holds number i of each.
KN_WIDE void knWide_Transpose(const double* p0, const double* p1, const double* p2, const double* p3,
							  knWide out[4]) {
#if defined(KN_SIMD_AVX)
	__m256d a = _mm256_loadu_pd(p0), b = _mm256_loadu_pd(p1), c = _mm256_loadu_pd(p2),
			d = _mm256_loadu_pd(p3);
	__m256d ab0 = _mm256_unpacklo_pd(a, b), ab1 = _mm256_unpackhi_pd(a, b);
	__m256d cd0 = _mm256_unpacklo_pd(c, d), cd1 = _mm256_unpackhi_pd(c, d);
	out[0] = _mm256_permute2f128_pd(ab0, cd0, 0x20);
	out[1] = _mm256_permute2f128_pd(ab1, cd1, 0x20);
	out[2] = _mm256_permute2f128_pd(ab0, cd0, 0x31);
	out[3] = _mm256_permute2f128_pd(ab1, cd1, 0x31);
#elif defined(KN_SIMD_SSE2) || defined(KN_SIMD_WASM)
	for (int i = 0; i < 4; i += 2) {
		knHalf a = KN_HALF_LOADU(p0 + i), b = KN_HALF_LOADU(p1 + i);
		knHalf c = KN_HALF_LOADU(p2 + i), d = KN_HALF_LOADU(p3 + i);
		out[i] = (knWide){ KN_HALF_LOW(a, b), KN_HALF_LOW(c, d) };
		out[i + 1] = (knWide){ KN_HALF_HIGH(a, b), KN_HALF_HIGH(c, d) };
	}
#else
	for (int i = 0; i < 4; ++i) {
		_Alignas(32) const double lane[KN_LANES] = { p0[i], p1[i], p2[i], p3[i] };
		out[i] = knWide_Load(lane);
	}
#endif
}

// The way back: number i of in[k] is written to the k-th number at place i.
KN_WIDE void knWide_TransposeTo(const knWide in[4], double* p0, double* p1, double* p2, double* p3) {
#if defined(KN_SIMD_AVX)
	__m256d ab0 = _mm256_unpacklo_pd(in[0], in[1]), ab1 = _mm256_unpackhi_pd(in[0], in[1]);
	__m256d cd0 = _mm256_unpacklo_pd(in[2], in[3]), cd1 = _mm256_unpackhi_pd(in[2], in[3]);
	_mm256_storeu_pd(p0, _mm256_permute2f128_pd(ab0, cd0, 0x20));
	_mm256_storeu_pd(p1, _mm256_permute2f128_pd(ab1, cd1, 0x20));
	_mm256_storeu_pd(p2, _mm256_permute2f128_pd(ab0, cd0, 0x31));
	_mm256_storeu_pd(p3, _mm256_permute2f128_pd(ab1, cd1, 0x31));
#elif defined(KN_SIMD_SSE2) || defined(KN_SIMD_WASM)
	for (int i = 0; i < 4; i += 2) {
		KN_HALF_STOREU(p0 + i, KN_HALF_LOW(in[i].lo, in[i + 1].lo));
		KN_HALF_STOREU(p1 + i, KN_HALF_HIGH(in[i].lo, in[i + 1].lo));
		KN_HALF_STOREU(p2 + i, KN_HALF_LOW(in[i].hi, in[i + 1].hi));
		KN_HALF_STOREU(p3 + i, KN_HALF_HIGH(in[i].hi, in[i + 1].hi));
	}
#else
	for (int i = 0; i < 4; ++i) {
		_Alignas(32) double lane[KN_LANES];
		knWide_Store(lane, in[i]);
		p0[i] = lane[0];
		p1[i] = lane[1];
		p2[i] = lane[2];
		p3[i] = lane[3];
	}
#endif
}

// --- velocities of four blocks ---------------------------------------------------------------------------

typedef struct knWideTwist {
	knWide3 ang, lin;
} knWideTwist;

// Twists t[index[0]] ... t[index[3]], one a lane.
KN_WIDE knWideTwist knWideTwist_Gather(const knTwist* t, const int32_t index[KN_LANES]) {
	const double *p0 = &t[index[0]].ang.x, *p1 = &t[index[1]].ang.x;
	const double *p2 = &t[index[2]].ang.x, *p3 = &t[index[3]].ang.x;
#if defined(KN_SIMD_AVX)
	__m256d a = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(p0)), _mm_loadu_pd(p2), 1);
	__m256d b = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(p1)), _mm_loadu_pd(p3), 1);
	__m256d c = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(p0 + 2)), _mm_loadu_pd(p2 + 2), 1);
	__m256d d = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(p1 + 2)), _mm_loadu_pd(p3 + 2), 1);
	__m256d e = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(p0 + 4)), _mm_loadu_pd(p2 + 4), 1);
	__m256d f = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(p1 + 4)), _mm_loadu_pd(p3 + 4), 1);
	return (knWideTwist){
		{ _mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b), _mm256_unpacklo_pd(c, d) },
		{ _mm256_unpackhi_pd(c, d), _mm256_unpacklo_pd(e, f), _mm256_unpackhi_pd(e, f) },
	};
#elif defined(KN_SIMD_SSE2) || defined(KN_SIMD_WASM)
	knWide part[6];
	for (int i = 0; i < 3; ++i) {
		knHalf a = KN_HALF_LOADU(p0 + 2 * i), b = KN_HALF_LOADU(p1 + 2 * i);
		knHalf c = KN_HALF_LOADU(p2 + 2 * i), d = KN_HALF_LOADU(p3 + 2 * i);
		part[2 * i] = (knWide){ KN_HALF_LOW(a, b), KN_HALF_LOW(c, d) };
		part[2 * i + 1] = (knWide){ KN_HALF_HIGH(a, b), KN_HALF_HIGH(c, d) };
	}
	return (knWideTwist){ { part[0], part[1], part[2] }, { part[3], part[4], part[5] } };
#else
	_Alignas(32) double part[6][KN_LANES];
	for (int i = 0; i < 6; ++i) {
		part[i][0] = p0[i];
		part[i][1] = p1[i];
		part[i][2] = p2[i];
		part[i][3] = p3[i];
	}
	return (knWideTwist){ knWide3_Load((const double(*)[KN_LANES])part),
						  knWide3_Load((const double(*)[KN_LANES])(part + 3)) };
#endif
}

#if defined(KN_SIMD_AVX)
#define KN_UPPER_HALF(a) _mm256_extractf128_pd(a, 1)
#define KN_STORE_TWIST(t, half, a, b, c)                                                                     \
	do {                                                                                                     \
		double* out = &(t)->ang.x;                                                                           \
		_mm_storeu_pd(out, half(a));                                                                         \
		_mm_storeu_pd(out + 2, half(b));                                                                     \
		_mm_storeu_pd(out + 4, half(c));                                                                     \
	} while (0)
#endif

// Writes lane i to t[index[i]] where bit i of `lanes` is set.
KN_WIDE void knWideTwist_Scatter(knTwist* t, const int32_t index[KN_LANES], unsigned lanes, knWideTwist a) {
#if defined(KN_SIMD_AVX)
	// two numbers at a time, as they will be gathered: a load gets what a store of its size has just written at once
	__m256d ang0 = _mm256_unpacklo_pd(a.ang.x, a.ang.y), ang1 = _mm256_unpackhi_pd(a.ang.x, a.ang.y);
	__m256d mix0 = _mm256_unpacklo_pd(a.ang.z, a.lin.x), mix1 = _mm256_unpackhi_pd(a.ang.z, a.lin.x);
	__m256d lin0 = _mm256_unpacklo_pd(a.lin.y, a.lin.z), lin1 = _mm256_unpackhi_pd(a.lin.y, a.lin.z);
	if ((lanes & 1u) != 0) {
		KN_STORE_TWIST(&t[index[0]], _mm256_castpd256_pd128, ang0, mix0, lin0);
	}
	if ((lanes & 2u) != 0) {
		KN_STORE_TWIST(&t[index[1]], _mm256_castpd256_pd128, ang1, mix1, lin1);
	}
	if ((lanes & 4u) != 0) {
		KN_STORE_TWIST(&t[index[2]], KN_UPPER_HALF, ang0, mix0, lin0);
	}
	if ((lanes & 8u) != 0) {
		KN_STORE_TWIST(&t[index[3]], KN_UPPER_HALF, ang1, mix1, lin1);
	}
#elif defined(KN_SIMD_SSE2) || defined(KN_SIMD_WASM)
	const knWide part[6] = { a.ang.x, a.ang.y, a.ang.z, a.lin.x, a.lin.y, a.lin.z };
	for (int i = 0; i < KN_LANES; ++i) {
		double* out = &t[index[i]].ang.x;
		for (int k = 0; (lanes >> i & 1u) != 0 && k < 6; k += 2) {
			knHalf p = i < 2 ? part[k].lo : part[k].hi, q = i < 2 ? part[k + 1].lo : part[k + 1].hi;
			KN_HALF_STOREU(out + k, i % 2 == 0 ? KN_HALF_LOW(p, q) : KN_HALF_HIGH(p, q));
		}
	}
#else
	_Alignas(32) double part[6][KN_LANES];
	knWide3_Store(part, a.ang);
	knWide3_Store(part + 3, a.lin);
	for (int i = 0; i < KN_LANES; ++i) {
		if ((lanes >> i & 1u) != 0) {
			t[index[i]] =
				(knTwist){ { part[0][i], part[1][i], part[2][i] }, { part[3][i], part[4][i], part[5][i] } };
		}
	}
#endif
}

// --- four boxes in float32 -------------------------------------------------------------------------------

// Squared distances of a point from four boxes; 0 inside. Bounds stand axis by axis.
KN_WIDE void knBoxes_Squared(const float lower[3][4], const float upper[3][4], const float p[3],
							 float squared[4]) {
#if defined(KN_SIMD_AVX) || defined(KN_SIMD_SSE2)
	__m128 sum = _mm_setzero_ps();
	for (int axis = 0; axis < 3; ++axis) {
		__m128 at = _mm_set1_ps(p[axis]);
		__m128 below = _mm_sub_ps(_mm_loadu_ps(lower[axis]), at);
		__m128 above = _mm_sub_ps(at, _mm_loadu_ps(upper[axis]));
		__m128 out = _mm_max_ps(_mm_max_ps(below, above), _mm_setzero_ps());
		sum = _mm_add_ps(sum, _mm_mul_ps(out, out));
	}
	_mm_storeu_ps(squared, sum);
#elif defined(KN_SIMD_WASM)
	v128_t sum = wasm_f32x4_splat(0.0f), zero = sum;
	for (int axis = 0; axis < 3; ++axis) {
		v128_t at = wasm_f32x4_splat(p[axis]);
		v128_t below = wasm_f32x4_sub(wasm_v128_load(lower[axis]), at);
		v128_t above = wasm_f32x4_sub(at, wasm_v128_load(upper[axis]));
		v128_t out = wasm_f32x4_pmax(zero, wasm_f32x4_pmax(above, below));
		sum = wasm_f32x4_add(sum, wasm_f32x4_mul(out, out));
	}
	wasm_v128_store(squared, sum);
#else
	for (int k = 0; k < 4; ++k) {
		squared[k] = 0.0f;
	}
	for (int axis = 0; axis < 3; ++axis) {
		for (int k = 0; k < 4; ++k) {
			float below = lower[axis][k] - p[axis], above = p[axis] - upper[axis][k];
			float out = below > above ? below : above;
			out = out > 0.0f ? out : 0.0f;
			squared[k] += out * out;
		}
	}
#endif
}
