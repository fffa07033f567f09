// Polishing a direction: from near the best one to it.
//
// h(n) = -s(n) is the support function of -C. It is smooth except across *kinks*: directions orthogonal to an
// edge of a core or to a cylinder's side (there it bends), and the normals of faces and caps (there several
// bends meet). The best direction is a kink's corner, or the best along a kink, or smooth:
//
//   corner    face normals, crosses of two edge directions: tried one by one
//   bend      n = u + x v across an edge e: the root in x of the slope h'(x), by regula falsi
//   smooth    Newton on the sphere: (T^T H T - h 1) d = -T^T g, where g = a - b is the gradient and H the
//             Hessian, the radii of curvature of the two surfaces there
//
// Any n gives a valid separation, so the best of all candidates is kept, whatever made them.
#include "collide/convex_support.h"

#define ASIDE 1e-6     // radians to either side of a kink
#define CONVERGED 1e-8 // radians: the error of s is of second order
#define GAIN 1e-10     // sizes that a round must gain for another to follow
#define MOST_KINKS 16
#define MOST_ROUNDS 8

// Kinks near a direction, in A's frame.
typedef struct Kinks {
	knVec3 edges[MOST_KINKS], normals[MOST_KINKS];
	int edgeCount, normalCount;
} Kinks;

static void addEdge(Kinks* k, knVec3 e) {
	if (k->edgeCount < MOST_KINKS) {
		k->edges[k->edgeCount++] = e;
	}
}

static void addNormal(Kinks* k, knVec3 n) {
	if (k->normalCount < MOST_KINKS) {
		k->normals[k->normalCount++] = n;
	}
}

static void boxKinks(knVec3 n, double near, Kinks* k) {
	for (int i = 0; i < 3; ++i) {
		knVec3 axis = knZero3();
		knSetComponent(&axis, i, 1.0);
		double along = knAbs(knComponent(n, i));
		if (along < near) {
			addEdge(k, axis);
		} else if (along * along > 1.0 - near * near) {
			addNormal(k, axis);
		}
	}
}

static void hullKinks(const knHull* hull, knVec3 n, double near, Kinks* k) {
	int v = knHull_Support(hull, n);
	for (int m = hull->firstNeighbor[v]; m < hull->firstNeighbor[v + 1]; ++m) {
		knVec3 edge = knNormalize(knSub(hull->vertices[hull->neighbors[m]], hull->vertices[v]));
		if (knAbs(knDot(edge, n)) < near) {
			addEdge(k, edge);
		}
		const knHullFace* face = &hull->faces[hull->leftFaces[m]];
		double sine2 = knLengthSquared(knCross(face->normal, n));
		if (sine2 < near * near && knDot(face->normal, n) > 0.0) {
			addNormal(k, face->normal);
		}
		// on a face's normal any of its corners may be the support, so that all its edges count
		for (int i = 0; i < face->count && sine2 < 1e-8; ++i) {
			knVec3 a = hull->vertices[hull->loops[face->first + i]];
			knVec3 b = hull->vertices[hull->loops[face->first + (i + 1 < face->count ? i + 1 : 0)]];
			addEdge(k, knNormalize(knSub(b, a)));
		}
	}
}

static void triangleKinks(const knVec3 corners[3], knVec3 n, double near, Kinks* k) {
	knVec3 normal = knNormalize(knCross(knSub(corners[1], corners[0]), knSub(corners[2], corners[0])));
	if (knLengthSquared(knCross(normal, n)) < near * near) {
		addNormal(k, normal);
	}
	for (int i = 0; i < 3; ++i) {
		knVec3 edge = knNormalize(knSub(corners[i < 2 ? i + 1 : 0], corners[i]));
		if (knAbs(knDot(edge, n)) < near) {
			addEdge(k, edge);
		}
	}
}

// In the core's own frame.
static Kinks kinksOf(const knCore* core, knVec3 n, double near) {
	Kinks k = { .edgeCount = 0 };
	switch (core->kind) {
	case KN_GEOM_BOX:
		boxKinks(n, near, &k);
		break;
	case KN_GEOM_HULL:
		hullKinks(core->hull, n, near, &k);
		break;
	case KN_GEOM_MESH:
		triangleKinks(core->corners, n, near, &k);
		break;
	case KN_GEOM_CYLINDER:
	case KN_GEOM_CAPSULE:
		if (core->kind == KN_GEOM_CYLINDER && n.x * n.x + n.y * n.y < near * near) {
			addNormal(&k, knV3(0.0, 0.0, 1.0));
		}
		if (knAbs(n.z) < near) {
			addEdge(&k, knV3(0.0, 0.0, 1.0));
		}
		break;
	default:
		break;
	}
	return k;
}

// --- candidates --------------------------------------------------------------------------------------------

// Keeps the unit direction n (or -n) if the separation along it is larger.
static bool offer(const knCorePair* p, knVec3 n, knAxis* best) {
	n = knDot(n, best->n) < 0.0 ? knNeg(n) : n;
	double s = knDot(knCorePair_Support(p, n).w, n);
	if (s > best->s) {
		best->s = s;
		best->n = n;
		return true;
	}
	return false;
}

static void tryCorners(const knCorePair* p, const Kinks* a, const Kinks* b, knAxis* best) {
	for (int i = 0; i < a->normalCount; ++i) {
		offer(p, a->normals[i], best);
	}
	for (int j = 0; j < b->normalCount; ++j) {
		offer(p, b->normals[j], best);
	}
	for (int i = 0; i < a->edgeCount; ++i) {
		for (int j = 0; j < b->edgeCount; ++j) {
			knVec3 cross = knCross(a->edges[i], b->edges[j]);
			double length = knLength(cross);
			if (length > 1e-7) {
				offer(p, knScale(1.0 / length, cross), best);
			}
		}
	}
}

// Slope of h along u + x v, up to a positive factor.
static double slopeAt(const knCorePair* p, knVec3 u, knVec3 v, double x) {
	knVec3 w = knCorePair_Support(p, knNormalize(knMulAdd(u, x, v))).w;
	return -knDot(w, knMulAdd(v, -x, u));
}

// The best direction across edge e near best->n.
static void tryBend(const knCorePair* p, knVec3 e, double off, knAxis* best) {
	knVec3 u = knNormalize(knMulAdd(best->n, -knDot(best->n, e), e)), v = knCross(e, u);
	if (slopeAt(p, u, v, -CONVERGED) < 0.0 && slopeAt(p, u, v, CONVERGED) > 0.0) {
		offer(p, u, best);
		return; // this is it
	}
	// from both sides, because the slope at the start may be that of either side of a kink
	double x0 = -0.1 * off, f0 = slopeAt(p, u, v, x0), x1 = 0.1 * off, f1 = slopeAt(p, u, v, x1);
	double step = f0 > 0.0 ? x0 : x1;
	while (f0 * f1 > 0.0) {
		step *= 2.0;
		double end = step < 0.0 ? x0 : x1, x = end + step;
		if (knAbs(x) > 1.0) {
			offer(p, knNormalize(knMulAdd(u, end, v)), best); // half way round; the next round goes on
			return;
		}
		if (step < 0.0) {
			x1 = x0;
			f1 = f0;
			x0 = x;
			f0 = slopeAt(p, u, v, x);
		} else {
			x0 = x1;
			f0 = f1;
			x1 = x;
			f1 = slopeAt(p, u, v, x);
		}
	}
	// Illinois: halve the stale end's value, so that both ends move
	int side = 0;
	for (int round = 0; round < 60 && knAbs(x1 - x0) > CONVERGED && f0 != f1; ++round) {
		double x = (x0 * f1 - x1 * f0) / (f1 - f0), f = slopeAt(p, u, v, x);
		if (f * f1 > 0.0) {
			x1 = x;
			f1 = f;
			f0 *= side == 1 ? 0.5 : 1.0;
			side = 1;
		} else {
			x0 = x;
			f0 = f;
			f1 *= side == -1 ? 0.5 : 1.0;
			side = -1;
		}
		if (f == 0.0) {
			break;
		}
	}
	offer(p, knNormalize(knMulAdd(u, x0, v)), best);
	offer(p, knNormalize(knMulAdd(u, x1, v)), best);
}

// Near a cylinder's cap h is a cone about the cap's normal, where Newton's method gets nowhere. If the other
// core's support lies beyond the rim, the best direction leans towards it.
static void tryRim(const knCorePair* p, knVec3 normal, bool onB, double off, knAxis* best) {
	knCorner corner = knCorePair_Support(p, best->n);
	knVec3 q = onB ? knSub(corner.a, p->t) : corner.b;
	knVec3 edge = knCross(normal, q);
	double length = knLength(edge);
	if (length > 1e-9 * p->size) {
		tryBend(p, knScale(1.0 / length, edge), off, best);
	}
}

// --- Newton ------------------------------------------------------------------------------------------------

// t1^T H t1, t1^T H t2 and t2^T H t2 of a core's support function at n, all in its own frame.
static void addHessian(const knCore* core, knVec3 n, knVec3 t1, knVec3 t2, double H[3]) {
	if (core->kind == KN_GEOM_ELLIPSOID) {
		knVec3 e = core->size, en = knMulComponents(e, n);
		double h = knLength(en);
		knVec3 d = knScale(1.0 / h, knMulComponents(e, en)), e1 = knMulComponents(e, t1);
		knVec3 e2 = knMulComponents(e, t2);
		double d1 = knDot(d, t1), d2 = knDot(d, t2);
		H[0] += (knDot(e1, e1) - d1 * d1) / h;
		H[1] += (knDot(e1, e2) - d1 * d2) / h;
		H[2] += (knDot(e2, e2) - d2 * d2) / h;
	} else if (core->kind == KN_GEOM_CYLINDER) {
		double rho = sqrt(n.x * n.x + n.y * n.y);
		if (rho > 0.0) {
			knVec3 around = knV3(-n.y / rho, n.x / rho, 0.0);
			double a1 = knDot(around, t1), a2 = knDot(around, t2), radius = core->size.x / rho;
			H[0] += radius * a1 * a1;
			H[1] += radius * a1 * a2;
			H[2] += radius * a2 * a2;
		}
	}
}

// Newton's step in the tangent plane at n, where w is C's support.
static knVec3 newtonStep(const knCorePair* p, knVec3 n, knVec3 w) {
	knVec3 t1 = knAnyOrthogonal(n), t2 = knCross(n, t1);
	double H[3] = { 0.0, 0.0, 0.0 }, h = -knDot(w, n);
	addHessian(&p->a, n, t1, t2, H);
	knVec3 nb = knTMulMV(&p->R, knNeg(n));
	addHessian(&p->b, nb, knTMulMV(&p->R, t1), knTMulMV(&p->R, t2), H);
	double m11 = H[0] - h, m12 = H[1], m22 = H[2] - h, g1 = -knDot(w, t1), g2 = -knDot(w, t2);
	// in its eigenvectors (c, s), (-s, c), with positive eigenvalues: downhill whatever the curvature
	double middle = 0.5 * (m11 + m22), half = 0.5 * (m11 - m22), spread = sqrt(half * half + m12 * m12);
	double c = half >= 0.0 ? half + spread : m12, s = half >= 0.0 ? m12 : spread - half;
	double length = sqrt(c * c + s * s);
	c = length > 0.0 ? c / length : 1.0;
	s = length > 0.0 ? s / length : 0.0;
	double least = 1e-9 * (knAbs(middle) + spread) + 1e-300;
	double x1 = -(c * g1 + s * g2) / knMax(knAbs(middle + spread), least);
	double x2 = -(c * g2 - s * g1) / knMax(knAbs(middle - spread), least);
	double x = c * x1 - s * x2, y = s * x1 + c * x2;
	knVec3 step = knMulAdd(knScale(x, t1), y, t2);
	double reach = knLength(step);
	return reach > 0.3 ? knScale(0.3 / reach, step) : step;
}

typedef enum StepResult { STEP_WORSE, STEP_BETTER, STEP_DONE } StepResult;

// Steps from the best direction by Newton's method, as if C's support there were w. Done: there is nowhere to go.
static StepResult stepFrom(const knCorePair* p, knVec3 w, knAxis* best) {
	knVec3 step = newtonStep(p, best->n, w);
	if (knLengthSquared(step) < CONVERGED * CONVERGED) {
		return STEP_DONE;
	}
	for (int half = 0; half < 6; ++half) {
		if (offer(p, knNormalize(knAdd(best->n, step)), best)) {
			return STEP_BETTER;
		}
		step = knScale(0.25, step);
	}
	return STEP_WORSE;
}

// The support on the side of kink `edge` where h falls, if there is such a side.
static bool fallingSide(const knCorePair* p, knVec3 n, knVec3 edge, knVec3* w) {
	*w = knCorePair_Support(p, knMulAdd(n, ASIDE, edge)).w;
	if (knDot(*w, edge) > 0.0) {
		return true;
	}
	*w = knCorePair_Support(p, knMulAdd(n, -ASIDE, edge)).w;
	return knDot(*w, edge) < 0.0;
}

// On a kink the support may be that of the side where h rises; then the other is tried.
static void tryNewton(const knCorePair* p, const Kinks* a, const Kinks* b, knAxis* best) {
	for (int round = 0; round < 20; ++round) {
		StepResult result = stepFrom(p, knCorePair_Support(p, best->n).w, best);
		for (int k = 0; k < a->edgeCount + b->edgeCount && result == STEP_WORSE; ++k) {
			knVec3 edge = k < a->edgeCount ? a->edges[k] : b->edges[k - a->edgeCount], w;
			if (knAbs(knDot(edge, best->n)) < ASIDE && fallingSide(p, best->n, edge, &w)) {
				result = stepFrom(p, w, best);
			}
		}
		if (result != STEP_BETTER) {
			return;
		}
	}
}

void knAxis_Polish(const knCorePair* p, double off, knAxis* axis) {
	bool curved = p->a.curved || p->b.curved;
	for (int round = 0; round < MOST_ROUNDS; ++round) {
		double before = axis->s;
		Kinks a = kinksOf(&p->a, axis->n, off);
		Kinks b = kinksOf(&p->b, knNeg(knTMulMV(&p->R, axis->n)), off);
		for (int k = 0; k < b.edgeCount; ++k) {
			b.edges[k] = knMulMV(&p->R, b.edges[k]);
		}
		for (int k = 0; k < b.normalCount; ++k) {
			b.normals[k] = knMulMV(&p->R, b.normals[k]);
		}
		tryCorners(p, &a, &b, axis);
		if (!curved) {
			return;
		}
		for (int k = 0; k < a.edgeCount; ++k) {
			tryBend(p, a.edges[k], off, axis);
		}
		for (int k = 0; k < b.edgeCount; ++k) {
			tryBend(p, b.edges[k], off, axis);
		}
		if (p->a.kind == KN_GEOM_CYLINDER && a.normalCount > 0) {
			tryRim(p, a.normals[0], false, off, axis);
		}
		if (p->b.kind == KN_GEOM_CYLINDER && b.normalCount > 0) {
			tryRim(p, b.normals[0], true, off, axis);
		}
		tryNewton(p, &a, &b, axis);
		if (axis->s <= before + GAIN * p->size) {
			return;
		}
	}
}
