// Quaternions, frames and matrices of four things at once, one a lane (core/simd.h): the operations of vecmath.h in the same
// order, so that each lane has the bits of the plain function of the same name. What is read and written stands as vecmath.h
// has it, one pointer a lane.
#pragma once

#include "core/simd.h"

typedef struct knWideQuat {
	knWide w, x, y, z;
} knWideQuat;

typedef struct knWideFrame {
	knWide3 p;
	knWideQuat q;
} knWideFrame;

// By columns.
typedef struct knWide33 {
	knWide3 cx, cy, cz;
} knWide33;

// --- reading and writing ---------------------------------------------------------------------------------

// Numbers at .. at + 3 of each lane.
KN_WIDE void knWide_Read4(const double* const from[KN_LANES], int at, knWide out[4]) {
	knWide_Transpose(from[0] + at, from[1] + at, from[2] + at, from[3] + at, out);
}

KN_WIDE void knWide_Write4(double* const to[KN_LANES], int at, const knWide in[4]) {
	knWide_TransposeTo(in, to[0] + at, to[1] + at, to[2] + at, to[3] + at);
}

KN_WIDE knWide knWide_Read1(const double* const from[KN_LANES], int at) {
	_Alignas(32) const double lane[KN_LANES] = { from[0][at], from[1][at], from[2][at], from[3][at] };
	return knWide_Load(lane);
}

KN_WIDE knWideTwist knWideTwist_Read(const double* const from[KN_LANES], int at) {
	knWide a[4], b[4];
	knWide_Read4(from, at, a);
	knWide_Read4(from, at + 2, b);
	return (knWideTwist){ { a[0], a[1], a[2] }, { a[3], b[2], b[3] } };
}

KN_WIDE void knWideTwist_Write(double* const to[KN_LANES], int at, knWideTwist t) {
	const knWide a[4] = { t.ang.x, t.ang.y, t.ang.z, t.lin.x }, b[4] = { t.ang.z, t.lin.x, t.lin.y, t.lin.z };
	knWide_Write4(to, at, a);
	knWide_Write4(to, at + 2, b);
}

KN_WIDE knWideFrame knWideFrame_Read(const double* const from[KN_LANES], int at) {
	knWide a[4], b[4];
	knWide_Read4(from, at, a);
	knWide_Read4(from, at + 3, b);
	return (knWideFrame){ { a[0], a[1], a[2] }, { b[0], b[1], b[2], b[3] } };
}

KN_WIDE knWideQuat knWideQuat_Read(const double* const from[KN_LANES], int at) {
	knWide a[4];
	knWide_Read4(from, at, a);
	return (knWideQuat){ a[0], a[1], a[2], a[3] };
}

KN_WIDE knWide33 knWide33_Read(const double* const from[KN_LANES], int at) {
	knWide a[4], b[4];
	knWide_Read4(from, at, a);
	knWide_Read4(from, at + 4, b);
	return (
		knWide33){ { a[0], a[1], a[2] }, { a[3], b[0], b[1] }, { b[2], b[3], knWide_Read1(from, at + 8) } };
}

KN_WIDE void knWide33_Write(double* const to[KN_LANES], int at, const knWide33* m) {
	const knWide a[4] = { m->cx.x, m->cx.y, m->cx.z, m->cy.x }, b[4] = { m->cy.y, m->cy.z, m->cz.x, m->cz.y };
	const knWide c[4] = { m->cy.z, m->cz.x, m->cz.y, m->cz.z };
	knWide_Write4(to, at, a);
	knWide_Write4(to, at + 4, b);
	knWide_Write4(to, at + 5, c);
}

// --- vectors and matrices --------------------------------------------------------------------------------

KN_WIDE knWide knWide_Neg(knWide a) {
	return knWide_Sub(knWide_Splat(-0.0), a);
}

KN_WIDE knWide3 knWide3_Neg(knWide3 a) {
	return (knWide3){ knWide_Neg(a.x), knWide_Neg(a.y), knWide_Neg(a.z) };
}

KN_WIDE knWide3 knWide3_Select(knWide mask, knWide3 yes, knWide3 no) {
	return (knWide3){ knWide_Select(mask, yes.x, no.x), knWide_Select(mask, yes.y, no.y),
					  knWide_Select(mask, yes.z, no.z) };
}

KN_WIDE knWide3 knWide3_Normalize(knWide3 a) {
	const knWide zero = knWide_Splat(0.0), length = knWide_Sqrt(knWide3_Dot(a, a));
	const knWide3 unit = knWide3_Scale(knWide_Div(knWide_Splat(1.0), length), a);
	return knWide3_Select(knWide_Greater(length, zero), unit, (knWide3){ zero, zero, zero });
}

KN_WIDE knWide3 knWide3_AnyOrthogonal(knWide3 n) {
	const knWide one = knWide_Splat(1.0), less = knWide_Splat(-1.0);
	const knWide s = knWide_Select(knWide_Greater(knWide_Splat(-0.9), n.z), less, one);
	const knWide a = knWide_Div(one, knWide_Add(s, n.z)), sx = knWide_Mul(s, n.x);
	const knWide back = knWide_Mul(knWide_Neg(s), n.x);
	const knWide3 t = { knWide_Sub(one, knWide_Mul(knWide_Mul(sx, n.x), a)),
						knWide_Mul(knWide_Mul(back, n.y), a), back };
	return knWide3_Normalize(knWide3_MulAdd(t, knWide_Neg(knWide3_Dot(n, t)), n));
}

KN_WIDE knWide knWideTwist_Dot(knWideTwist a, knWideTwist b) {
	return knWide_Add(knWide3_Dot(a.ang, b.ang), knWide3_Dot(a.lin, b.lin));
}

KN_WIDE knWide3 knWide33_MulV(const knWide33* m, knWide3 v) {
	knWide3 sum = knWide3_Scale(v.x, m->cx);
	return knWide3_MulAdd(knWide3_MulAdd(sum, v.y, m->cy), v.z, m->cz);
}

KN_WIDE knWide33 knWide33_Mul(const knWide33* a, const knWide33* b) {
	return (knWide33){ knWide33_MulV(a, b->cx), knWide33_MulV(a, b->cy), knWide33_MulV(a, b->cz) };
}

KN_WIDE knWide33 knWide33_Transpose(const knWide33* m) {
	return (knWide33){ { m->cx.x, m->cy.x, m->cz.x },
					   { m->cx.y, m->cy.y, m->cz.y },
					   { m->cx.z, m->cy.z, m->cz.z } };
}

// --- turns -----------------------------------------------------------------------------------------------

KN_WIDE knWideQuat knWideQuat_Conj(knWideQuat q) {
	return (knWideQuat){ q.w, knWide_Neg(q.x), knWide_Neg(q.y), knWide_Neg(q.z) };
}

KN_WIDE knWideQuat knWideQuat_Mul(knWideQuat a, knWideQuat b) {
	knWide w = knWide_Mul(a.w, b.w), x = knWide_Mul(a.w, b.x);
	knWide y = knWide_Mul(a.w, b.y), z = knWide_Mul(a.w, b.z);
	w = knWide_MulSub(knWide_MulSub(knWide_MulSub(w, a.x, b.x), a.y, b.y), a.z, b.z);
	x = knWide_MulSub(knWide_MulAdd(knWide_MulAdd(x, a.x, b.w), a.y, b.z), a.z, b.y);
	y = knWide_MulAdd(knWide_MulAdd(knWide_MulSub(y, a.x, b.z), a.y, b.w), a.z, b.x);
	z = knWide_MulAdd(knWide_MulSub(knWide_MulAdd(z, a.x, b.y), a.y, b.x), a.z, b.w);
	return (knWideQuat){ w, x, y, z };
}

KN_WIDE knWide3 knWideQuat_Rotate(knWideQuat q, knWide3 v) {
	const knWide3 u = { q.x, q.y, q.z }, t = knWide3_Scale(knWide_Splat(2.0), knWide3_Cross(u, v));
	return knWide3_Add(knWide3_MulAdd(v, q.w, t), knWide3_Cross(u, t));
}

KN_WIDE knWideTwist knWideQuat_RotateT(knWideQuat q, knWideTwist t) {
	return (knWideTwist){ knWideQuat_Rotate(q, t.ang), knWideQuat_Rotate(q, t.lin) };
}

KN_WIDE knWide33 knWideQuat_ToMat33(knWideQuat q) {
	const knWide one = knWide_Splat(1.0), two = knWide_Splat(2.0);
	const knWide xx = knWide_Mul(q.x, q.x), yy = knWide_Mul(q.y, q.y), zz = knWide_Mul(q.z, q.z);
	const knWide xy = knWide_Mul(q.x, q.y), xz = knWide_Mul(q.x, q.z), yz = knWide_Mul(q.y, q.z);
	const knWide wx = knWide_Mul(q.w, q.x), wy = knWide_Mul(q.w, q.y), wz = knWide_Mul(q.w, q.z);
	return (knWide33){
		{ knWide_MulSub(one, two, knWide_Add(yy, zz)), knWide_Mul(two, knWide_Add(xy, wz)),
		  knWide_Mul(two, knWide_Sub(xz, wy)) },
		{ knWide_Mul(two, knWide_Sub(xy, wz)), knWide_MulSub(one, two, knWide_Add(xx, zz)),
		  knWide_Mul(two, knWide_Add(yz, wx)) },
		{ knWide_Mul(two, knWide_Add(xz, wy)), knWide_Mul(two, knWide_Sub(yz, wx)),
		  knWide_MulSub(one, two, knWide_Add(xx, yy)) },
	};
}

// R m R^T
KN_WIDE knWide33 knWideQuat_RotateTensor(knWideQuat q, const knWide33* m) {
	const knWide33 R = knWideQuat_ToMat33(q), RT = knWide33_Transpose(&R), RM = knWide33_Mul(&R, m);
	return knWide33_Mul(&RM, &RT);
}

// --- frames ----------------------------------------------------------------------------------------------

KN_WIDE knWideFrame knWideFrame_Mul(knWideFrame a, knWideFrame b) {
	return (knWideFrame){ knWide3_Add(a.p, knWideQuat_Rotate(a.q, b.p)), knWideQuat_Mul(a.q, b.q) };
}

// a^-1 b
KN_WIDE knWideFrame knWideFrame_InvMul(knWideFrame a, knWideFrame b) {
	const knWideQuat conj = knWideQuat_Conj(a.q);
	return (knWideFrame){ knWideQuat_Rotate(conj, knWide3_Sub(b.p, a.p)), knWideQuat_Mul(conj, b.q) };
}
