// Volume, centre and inertia of a closed mesh, exactly.
//
// The solid is the sum of signed tetrahedra from a reference point o to each triangle (a, b, c), with edges
// a, b, c measured from o (what Mirtich 1996 gets by the divergence theorem, face by face):
//
//   v = a.(b x c)/6     integral of x = v s/4     integral of x x^T = v (a a^T + b b^T + c c^T + s s^T)/20
//   s = a + b + c
//
// o is the middle of the mesh, so that a mesh far from its origin loses no digits.
#include "geom/mesh.h"

static knVec3 middle(const knVec3* vertices, const knTriangle* triangles, int count) {
	knAabb box = knAabb_Empty();
	for (int t = 0; t < count; ++t) {
		for (int k = 0; k < 3; ++k) {
			knVec3 v = vertices[knTriangle_Corner(&triangles[t], k)];
			box.lower = knMin3(box.lower, v);
			box.upper = knMax3(box.upper, v);
		}
	}
	return count > 0 ? knAabb_Center(box) : knZero3();
}

double knMesh_Volume(const knVec3* vertices, const knTriangle* triangles, int count) {
	knVec3 o = middle(vertices, triangles, count);
	double volume = 0.0;
	for (int t = 0; t < count; ++t) {
		knVec3 a = knSub(vertices[triangles[t].a], o), b = knSub(vertices[triangles[t].b], o);
		knVec3 c = knSub(vertices[triangles[t].c], o);
		volume += knDot(a, knCross(b, c)) / 6.0;
	}
	return volume;
}

// m + s v v^T
static knMat33 addSquare(const knMat33* m, double s, knVec3 v) {
	return knMakeMat33(knMulAdd(m->cx, s * v.x, v), knMulAdd(m->cy, s * v.y, v), knMulAdd(m->cz, s * v.z, v));
}

knMassProps knMesh_Mass(const knVec3* vertices, const knTriangle* triangles, int count) {
	knVec3 o = middle(vertices, triangles, count);
	double volume = 0.0;
	knVec3 first = knZero3();
	knMat33 second = knDiagonal33(0.0, 0.0, 0.0);
	for (int t = 0; t < count; ++t) {
		knVec3 a = knSub(vertices[triangles[t].a], o), b = knSub(vertices[triangles[t].b], o);
		knVec3 c = knSub(vertices[triangles[t].c], o), s = knAdd(a, knAdd(b, c));
		double v = knDot(a, knCross(b, c)) / 6.0;
		volume += v;
		first = knMulAdd(first, v / 4.0, s);
		second = addSquare(&second, v / 20.0, a);
		second = addSquare(&second, v / 20.0, b);
		second = addSquare(&second, v / 20.0, c);
		second = addSquare(&second, v / 20.0, s);
	}
	if (!(volume > 0.0)) {
		return (knMassProps){ 0.0, o, knDiagonal33(0.0, 0.0, 0.0) };
	}
	// to the centre, then from second moments to inertia: I = trace(S) 1 - S
	knVec3 center = knScale(1.0 / volume, first);
	second = addSquare(&second, -volume, center);
	double trace = second.cx.x + second.cy.y + second.cz.z;
	knMat33 inertia = knScaleM(-1.0, &second);
	inertia.cx.x += trace;
	inertia.cy.y += trace;
	inertia.cz.z += trace;
	return (knMassProps){ volume, knAdd(o, center), inertia };
}
