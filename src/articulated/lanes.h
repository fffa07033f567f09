// A 3-vector in four lanes of doubles, for the inner loops of tree dynamics: x, y, z and a lane that holds nothing of
// interest. Lanes never mix in arithmetic, so every machine gives the same bits.
#pragma once

#include "knuckle/vecmath.h"

// all callers are built with the same flags, so the convention for passing vectors does not matter
#pragma GCC diagnostic ignored "-Wpsabi"

typedef double knLanes __attribute__((vector_size(32)));

#define KN_LANES_INLINE static inline __attribute__((always_inline))

// A 3 x 3 matrix by columns.
typedef struct knLanes33 {
	knLanes x, y, z;
} knLanes33;

KN_LANES_INLINE knLanes knLanes_Make(double x, double y, double z) {
	return (knLanes){ x, y, z, 0.0 };
}

KN_LANES_INLINE knLanes knLanes_FromVec(knVec3 v) {
	return knLanes_Make(v.x, v.y, v.z);
}

KN_LANES_INLINE knVec3 knLanes_ToVec(knLanes v) {
	return knV3(v[0], v[1], v[2]);
}

KN_LANES_INLINE knLanes knLanes_All(double s) {
	return (knLanes){ s, s, s, s };
}

KN_LANES_INLINE knLanes knLanes_X(knLanes v) {
	return __builtin_shufflevector(v, v, 0, 0, 0, 0);
}

KN_LANES_INLINE knLanes knLanes_Y(knLanes v) {
	return __builtin_shufflevector(v, v, 1, 1, 1, 1);
}

KN_LANES_INLINE knLanes knLanes_Z(knLanes v) {
	return __builtin_shufflevector(v, v, 2, 2, 2, 2);
}

KN_LANES_INLINE knLanes knLanes_Turn(knLanes v) {
	return __builtin_shufflevector(v, v, 1, 2, 0, 3); // y z x
}

// a x b = turn(a turn(b) - turn(a) b)
KN_LANES_INLINE knLanes knLanes_Cross(knLanes a, knLanes b) {
	return knLanes_Turn(a * knLanes_Turn(b) - knLanes_Turn(a) * b);
}

KN_LANES_INLINE double knLanes_Dot(knLanes a, knLanes b) {
	knLanes p = a * b;
	return p[0] + p[1] + p[2];
}

KN_LANES_INLINE knLanes knLanes_Mul(const knLanes33* m, knLanes v) {
	return m->x * knLanes_X(v) + m->y * knLanes_Y(v) + m->z * knLanes_Z(v);
}

// x + y + z in every lane.
KN_LANES_INLINE knLanes knLanes_SumAll(knLanes p) {
	return knLanes_X(p) + knLanes_Y(p) + knLanes_Z(p);
}

// m v for a v in memory: its numbers are spread as they are read.
KN_LANES_INLINE knLanes knLanes_MulNumbers(const knLanes33* m, const double* v) {
	return m->x * knLanes_All(v[0]) + m->y * knLanes_All(v[1]) + m->z * knLanes_All(v[2]);
}

KN_LANES_INLINE knLanes33 knLanes_Transpose(const knLanes33* m) {
	knLanes33 t;
	knLanes low = __builtin_shufflevector(m->x, m->y, 0, 4, 1, 5);  // x0 y0 x1 y1
	knLanes high = __builtin_shufflevector(m->x, m->y, 2, 6, 3, 7); // x2 y2 . .
	t.x = __builtin_shufflevector(low, m->z, 0, 1, 4, 7);
	t.y = __builtin_shufflevector(low, m->z, 2, 3, 5, 7);
	t.z = __builtin_shufflevector(high, m->z, 0, 1, 6, 7);
	return t;
}

KN_LANES_INLINE knLanes33 knLanes_FromMat(const knMat33* m) {
	return (knLanes33){ knLanes_FromVec(m->cx), knLanes_FromVec(m->cy), knLanes_FromVec(m->cz) };
}

KN_LANES_INLINE knMat33 knLanes_ToMat(const knLanes33* m) {
	return knMakeMat33(knLanes_ToVec(m->x), knLanes_ToVec(m->y), knLanes_ToVec(m->z));
}

KN_LANES_INLINE knLanes33 knLanes_MulMat(const knLanes33* a, const knLanes33* b) {
	return (knLanes33){ knLanes_Mul(a, b->x), knLanes_Mul(a, b->y), knLanes_Mul(a, b->z) };
}

KN_LANES_INLINE void knLanes_AddMat(knLanes33* a, const knLanes33* b) {
	a->x += b->x;
	a->y += b->y;
	a->z += b->z;
}
