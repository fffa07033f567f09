// Vectors, quaternions, frames and 3x3 matrices, and the conventions of the whole library.
//
// Conventions (stated here, once):
//   units           SI, radians
//   handedness      right-handed; z is up in the catalogue, but gravity is a vector and may point anywhere
//   quaternion      (w, x, y, z), unit; knRotate(q, v) turns v from the frame's axes to the parent's
//   frame           {p, q}: x_parent = p + q[x_local];  product {p1,q1}{p2,q2} = {p1 + q1[p2], q1 q2}
//   6-vector        angular before linear (knTwist); a wrench is (moment, force) in the same struct
//   axes            world unless a name ends in Local
//   matrices        three columns
//   hinge angle     counts turns, right-handed about the joint frame's x axis
// Sine, cosine and arc tangent are the library's own, so that results do not depend on the C library.
#pragma once

#include <math.h>

#include "knuckle/base.h"

KN_BEGIN_C

#define KN_PI 3.14159265358979323846

typedef struct knVec3 {
	double x, y, z;
} knVec3;

typedef struct knQuat {
	double w, x, y, z;
} knQuat;

typedef struct knFrame {
	knVec3 p;
	knQuat q;
} knFrame;

// Columns: M v = cx v.x + cy v.y + cz v.z.
typedef struct knMat33 {
	knVec3 cx, cy, cz;
} knMat33;

// Angular before linear: a relative velocity, a small motion, or (as a wrench) a moment and a force.
typedef struct knTwist {
	knVec3 ang, lin;
} knTwist;

typedef struct knAabb {
	knVec3 lower, upper;
} knAabb;

// Own trigonometry, error under 2 ulp everywhere; the same bits on every platform.
KN_API double knSin(double x);
KN_API double knCos(double x);
KN_API void knSinCos(double x, double* sine, double* cosine);
KN_API double knAtan2(double y, double x);
KN_API double knAsin(double x); // argument is clamped to [-1, 1]
KN_API double knAcos(double x); // argument is clamped to [-1, 1]

// --- scalars ---------------------------------------------------------------------------------------------

static inline double knMin(double a, double b) {
	return a < b ? a : b;
}

static inline double knMax(double a, double b) {
	return a > b ? a : b;
}

static inline double knClamp(double x, double lower, double upper) {
	return x < lower ? lower : (x > upper ? upper : x);
}

static inline double knAbs(double x) {
	return fabs(x);
}

static inline bool knIsFinite(double x) {
	return x - x == 0.0;
}

// --- vectors ---------------------------------------------------------------------------------------------

static inline knVec3 knV3(double x, double y, double z) {
	knVec3 v = { x, y, z };
	return v;
}

static inline knVec3 knZero3(void) {
	return knV3(0.0, 0.0, 0.0);
}

static inline knVec3 knAdd(knVec3 a, knVec3 b) {
	return knV3(a.x + b.x, a.y + b.y, a.z + b.z);
}

static inline knVec3 knSub(knVec3 a, knVec3 b) {
	return knV3(a.x - b.x, a.y - b.y, a.z - b.z);
}

static inline knVec3 knNeg(knVec3 a) {
	return knV3(-a.x, -a.y, -a.z);
}

static inline knVec3 knScale(double s, knVec3 a) {
	return knV3(s * a.x, s * a.y, s * a.z);
}

// a + s b
static inline knVec3 knMulAdd(knVec3 a, double s, knVec3 b) {
	return knV3(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}

static inline knVec3 knMulComponents(knVec3 a, knVec3 b) {
	return knV3(a.x * b.x, a.y * b.y, a.z * b.z);
}

static inline double knDot(knVec3 a, knVec3 b) {
	return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline knVec3 knCross(knVec3 a, knVec3 b) {
	return knV3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

static inline double knLengthSquared(knVec3 a) {
	return knDot(a, a);
}

static inline double knLength(knVec3 a) {
	return sqrt(knDot(a, a));
}

static inline double knDistance(knVec3 a, knVec3 b) {
	return knLength(knSub(a, b));
}

// Unit vector, or zero for a zero vector.
static inline knVec3 knNormalize(knVec3 a) {
	double length = knLength(a);
	return length > 0.0 ? knScale(1.0 / length, a) : knZero3();
}

static inline knVec3 knAbs3(knVec3 a) {
	return knV3(fabs(a.x), fabs(a.y), fabs(a.z));
}

static inline knVec3 knMin3(knVec3 a, knVec3 b) {
	return knV3(knMin(a.x, b.x), knMin(a.y, b.y), knMin(a.z, b.z));
}

static inline knVec3 knMax3(knVec3 a, knVec3 b) {
	return knV3(knMax(a.x, b.x), knMax(a.y, b.y), knMax(a.z, b.z));
}

static inline knVec3 knLerp(knVec3 a, knVec3 b, double t) {
	return knMulAdd(a, t, knSub(b, a));
}

static inline bool knIsFinite3(knVec3 a) {
	return knIsFinite(a.x) && knIsFinite(a.y) && knIsFinite(a.z);
}

// Component by index 0..2.
static inline double knComponent(knVec3 a, int index) {
	return index == 0 ? a.x : (index == 1 ? a.y : a.z);
}

static inline void knSetComponent(knVec3* a, int index, double value) {
	*(index == 0 ? &a->x : (index == 1 ? &a->y : &a->z)) = value;
}

// Some unit vector orthogonal to the unit vector n; continuous except near one direction.
KN_API knVec3 knAnyOrthogonal(knVec3 n);

// --- quaternions -----------------------------------------------------------------------------------------

static inline knQuat knQ(double w, double x, double y, double z) {
	knQuat q = { w, x, y, z };
	return q;
}

static inline knQuat knIdentityQ(void) {
	return knQ(1.0, 0.0, 0.0, 0.0);
}

static inline knQuat knMulQ(knQuat a, knQuat b) {
	return knQ(a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
			   a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w);
}

static inline knQuat knConj(knQuat q) {
	return knQ(q.w, -q.x, -q.y, -q.z);
}

// conj(a) b
static inline knQuat knInvMulQ(knQuat a, knQuat b) {
	return knMulQ(knConj(a), b);
}

static inline double knDotQ(knQuat a, knQuat b) {
	return a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline knQuat knNegQ(knQuat q) {
	return knQ(-q.w, -q.x, -q.y, -q.z);
}

static inline knQuat knNormalizeQ(knQuat q) {
	double s = 1.0 / sqrt(knDotQ(q, q));
	return knQ(s * q.w, s * q.x, s * q.y, s * q.z);
}

static inline bool knIsFiniteQ(knQuat q) {
	return knIsFinite(q.w) && knIsFinite(q.x) && knIsFinite(q.y) && knIsFinite(q.z);
}

static inline knVec3 knVecPart(knQuat q) {
	return knV3(q.x, q.y, q.z);
}

// q[v]
static inline knVec3 knRotate(knQuat q, knVec3 v) {
	knVec3 u = knVecPart(q);
	knVec3 t = knScale(2.0, knCross(u, v));
	return knAdd(knMulAdd(v, q.w, t), knCross(u, t));
}

// q^-1[v]
static inline knVec3 knInvRotate(knQuat q, knVec3 v) {
	return knRotate(knConj(q), v);
}

// Rotation by `angle` about the unit vector `axis`.
KN_API knQuat knQuat_FromAxisAngle(knVec3 axis, double angle);

// The shortest rotation that turns unit vector `from` into unit vector `to`.
KN_API knQuat knQuat_Between(knVec3 from, knVec3 to);

// Exponential map: the rotation by |w| about w, also for w = 0.
KN_API knQuat knQuat_Exp(knVec3 w);

// Inverse of knQuat_Exp: the rotation vector of q (or of -q, whichever is shorter), |result| <= pi.
KN_API knVec3 knQuat_Log(knQuat q);

KN_API knMat33 knQuat_ToMat33(knQuat q);
KN_API knQuat knQuat_FromMat33(const knMat33* m);

// --- frames ----------------------------------------------------------------------------------------------

static inline knFrame knMakeFrame(knVec3 p, knQuat q) {
	knFrame f = { p, q };
	return f;
}

static inline knFrame knIdentityF(void) {
	return knMakeFrame(knZero3(), knIdentityQ());
}

static inline knFrame knMulF(knFrame a, knFrame b) {
	return knMakeFrame(knAdd(a.p, knRotate(a.q, b.p)), knMulQ(a.q, b.q));
}

static inline knFrame knInvF(knFrame a) {
	return knMakeFrame(knNeg(knInvRotate(a.q, a.p)), knConj(a.q));
}

// a^-1 b
static inline knFrame knInvMulF(knFrame a, knFrame b) {
	return knMakeFrame(knInvRotate(a.q, knSub(b.p, a.p)), knInvMulQ(a.q, b.q));
}

static inline knVec3 knPoint(knFrame f, knVec3 local) {
	return knAdd(f.p, knRotate(f.q, local));
}

static inline knVec3 knInvPoint(knFrame f, knVec3 point) {
	return knInvRotate(f.q, knSub(point, f.p));
}

static inline bool knIsFiniteF(knFrame f) {
	return knIsFinite3(f.p) && knIsFiniteQ(f.q);
}

// --- 3x3 matrices ----------------------------------------------------------------------------------------

static inline knMat33 knMakeMat33(knVec3 cx, knVec3 cy, knVec3 cz) {
	knMat33 m = { cx, cy, cz };
	return m;
}

static inline knMat33 knDiagonal33(double x, double y, double z) {
	return knMakeMat33(knV3(x, 0.0, 0.0), knV3(0.0, y, 0.0), knV3(0.0, 0.0, z));
}

static inline knVec3 knMulMV(const knMat33* m, knVec3 v) {
	return knV3(m->cx.x * v.x + m->cy.x * v.y + m->cz.x * v.z, m->cx.y * v.x + m->cy.y * v.y + m->cz.y * v.z,
				m->cx.z * v.x + m->cy.z * v.y + m->cz.z * v.z);
}

// transpose(m) v
static inline knVec3 knTMulMV(const knMat33* m, knVec3 v) {
	return knV3(knDot(m->cx, v), knDot(m->cy, v), knDot(m->cz, v));
}

static inline knMat33 knMulMM(const knMat33* a, const knMat33* b) {
	return knMakeMat33(knMulMV(a, b->cx), knMulMV(a, b->cy), knMulMV(a, b->cz));
}

static inline knMat33 knTranspose33(const knMat33* m) {
	return knMakeMat33(knV3(m->cx.x, m->cy.x, m->cz.x), knV3(m->cx.y, m->cy.y, m->cz.y),
					   knV3(m->cx.z, m->cy.z, m->cz.z));
}

static inline knMat33 knAddMM(const knMat33* a, const knMat33* b) {
	return knMakeMat33(knAdd(a->cx, b->cx), knAdd(a->cy, b->cy), knAdd(a->cz, b->cz));
}

static inline knMat33 knScaleM(double s, const knMat33* a) {
	return knMakeMat33(knScale(s, a->cx), knScale(s, a->cy), knScale(s, a->cz));
}

// [v]: knMulMV([v], a) = v x a
static inline knMat33 knSkew(knVec3 v) {
	return knMakeMat33(knV3(0.0, v.z, -v.y), knV3(-v.z, 0.0, v.x), knV3(v.y, -v.x, 0.0));
}

static inline double knDeterminant33(const knMat33* m) {
	return knDot(m->cx, knCross(m->cy, m->cz));
}

// Inverse by cofactors; the zero matrix if m is exactly singular.
KN_API knMat33 knInverse33(const knMat33* m);

// R M R^T for the rotation R of q: a body tensor to the parent's axes.
KN_API knMat33 knRotateTensor(knQuat q, const knMat33* m);

// Eigenvalues and eigenvectors of a symmetric matrix: m = V diag(values) V^T, V a rotation (returned as q), ascending.
KN_API knQuat knDiagonalize33(const knMat33* m, knVec3* values);

// --- twists and boxes ------------------------------------------------------------------------------------

static inline knTwist knMakeTwist(knVec3 ang, knVec3 lin) {
	knTwist t = { ang, lin };
	return t;
}

static inline knTwist knZeroTwist(void) {
	return knMakeTwist(knZero3(), knZero3());
}

static inline knTwist knAddT(knTwist a, knTwist b) {
	return knMakeTwist(knAdd(a.ang, b.ang), knAdd(a.lin, b.lin));
}

static inline knTwist knSubT(knTwist a, knTwist b) {
	return knMakeTwist(knSub(a.ang, b.ang), knSub(a.lin, b.lin));
}

static inline knTwist knScaleT(double s, knTwist a) {
	return knMakeTwist(knScale(s, a.ang), knScale(s, a.lin));
}

static inline knTwist knMulAddT(knTwist a, double s, knTwist b) {
	return knMakeTwist(knMulAdd(a.ang, s, b.ang), knMulAdd(a.lin, s, b.lin));
}

static inline double knDotT(knTwist a, knTwist b) {
	return knDot(a.ang, b.ang) + knDot(a.lin, b.lin);
}

// Both parts to other axes; the reference point stays.
static inline knTwist knRotateT(knQuat q, knTwist a) {
	return knMakeTwist(knRotate(q, a.ang), knRotate(q, a.lin));
}

static inline knTwist knInvRotateT(knQuat q, knTwist a) {
	return knRotateT(knConj(q), a);
}

static inline bool knAabb_Overlap(knAabb a, knAabb b) {
	return a.lower.x <= b.upper.x && b.lower.x <= a.upper.x && a.lower.y <= b.upper.y &&
		   b.lower.y <= a.upper.y && a.lower.z <= b.upper.z && b.lower.z <= a.upper.z;
}

static inline knAabb knAabb_Union(knAabb a, knAabb b) {
	knAabb u = { knMin3(a.lower, b.lower), knMax3(a.upper, b.upper) };
	return u;
}

static inline bool knAabb_Contains(knAabb outer, knAabb inner) {
	return outer.lower.x <= inner.lower.x && outer.lower.y <= inner.lower.y &&
		   outer.lower.z <= inner.lower.z && inner.upper.x <= outer.upper.x &&
		   inner.upper.y <= outer.upper.y && inner.upper.z <= outer.upper.z;
}

static inline knAabb knAabb_Grow(knAabb a, double margin) {
	knVec3 m = knV3(margin, margin, margin);
	knAabb g = { knSub(a.lower, m), knAdd(a.upper, m) };
	return g;
}

KN_END_C
