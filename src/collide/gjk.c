// GJK (Gilbert, Johnson & Keerthi 1988): the point v of C closest to the origin.
//
// Keeps a simplex of up to four points of C. Each round finds its point v closest to the origin, drops the
// corners that do not carry v, and adds the point of C farthest against v. v.w / |v| bounds the distance from
// below: it ends the search, or proves that the shapes are farther apart than anyone asked.
#include "collide/support.h"

#define MOST_ROUNDS 200
#define CURVED_GAP 1e-7 // sizes between the bounds at which curved cores go on to polishing
#define PLAIN_GAP 1e-14 // scales; polytopes end exactly anyway
#define TOUCHING 1e-10  // sizes: a shorter line has no direction
#define ROUNDING 4e-15  // and so for the larger core

typedef struct Simplex {
	knCorner corners[4];
	double weights[4];
	int count;
} Simplex;

// The subset `kept` of corners with weights that sum to 1.
static Simplex subset(const Simplex* s, const int* kept, const double* weights, int count) {
	Simplex result = { .count = count };
	double sum = 0.0;
	for (int i = 0; i < count; ++i) {
		sum += weights[i];
	}
	for (int i = 0; i < count; ++i) {
		result.corners[i] = s->corners[kept[i]];
		result.weights[i] = weights[i] / sum;
	}
	return result;
}

static knVec3 pointOf(const Simplex* s) {
	knVec3 v = knZero3();
	for (int i = 0; i < s->count; ++i) {
		v = knMulAdd(v, s->weights[i], s->corners[i].w);
	}
	return v;
}

static Simplex closestOnSegment(const Simplex* s, int i, int j) {
	knVec3 a = s->corners[i].w, d = knSub(s->corners[j].w, a);
	double along = -knDot(a, d), square = knLengthSquared(d);
	if (!(along > 0.0) || square == 0.0) {
		return subset(s, &i, &(double){ 1.0 }, 1);
	}
	if (along >= square) {
		return subset(s, &j, &(double){ 1.0 }, 1);
	}
	return subset(s, (int[]){ i, j }, (double[]){ square - along, along }, 2);
}

static Simplex shorter(const Simplex* x, const Simplex* y) {
	return knLengthSquared(pointOf(y)) < knLengthSquared(pointOf(x)) ? *y : *x;
}

// Inside the triangle if the origin's foot lies on the inner side of all three edges; else on an edge.
static Simplex closestOnTriangle(const Simplex* s, int i, int j, int k) {
	knVec3 a = s->corners[i].w, b = s->corners[j].w, c = s->corners[k].w;
	knVec3 n = knCross(knSub(b, a), knSub(c, a));
	double u = knDot(n, knCross(b, c)), v = knDot(n, knCross(c, a)), w = knDot(n, knCross(a, b));
	if (u > 0.0 && v > 0.0 && w > 0.0) {
		return subset(s, (int[]){ i, j, k }, (double[]){ u, v, w }, 3);
	}
	Simplex ab = closestOnSegment(s, i, j), bc = closestOnSegment(s, j, k), ca = closestOnSegment(s, k, i);
	Simplex best = shorter(&ab, &bc);
	return shorter(&best, &ca);
}

// The nearest of the faces that the origin lies beyond; all four corners stay if it lies inside.
static Simplex closestOnTetrahedron(const Simplex* s) {
	static const int faces[4][4] = { { 1, 2, 3, 0 }, { 0, 3, 2, 1 }, { 0, 1, 3, 2 }, { 0, 2, 1, 3 } };
	Simplex best = *s;
	bool found = false;
	for (int f = 0; f < 4; ++f) {
		knVec3 a = s->corners[faces[f][0]].w;
		knVec3 n = knCross(knSub(s->corners[faces[f][1]].w, a), knSub(s->corners[faces[f][2]].w, a));
		double inner = knDot(n, knSub(s->corners[faces[f][3]].w, a)), origin = -knDot(n, a);
		if (inner * origin > 0.0) {
			continue;
		}
		Simplex rival = closestOnTriangle(s, faces[f][0], faces[f][1], faces[f][2]);
		best = found ? shorter(&best, &rival) : rival;
		found = true;
	}
	return best;
}

static Simplex closestOnSimplex(const Simplex* s) {
	switch (s->count) {
	case 1:
		return subset(s, &(int){ 0 }, &(double){ 1.0 }, 1);
	case 2:
		return closestOnSegment(s, 0, 1);
	case 3:
		return closestOnTriangle(s, 0, 1, 2);
	default:
		return closestOnTetrahedron(s);
	}
}

static bool holds(const Simplex* s, knVec3 w) {
	for (int i = 0; i < s->count; ++i) {
		knVec3 own = s->corners[i].w;
		if (own.x == w.x && own.y == w.y && own.z == w.z) {
			return true;
		}
	}
	return false;
}

static void takeLine(const Simplex* s, knVec3 v, double length, knAxis* axis) {
	axis->n = knScale(1.0 / length, v);
	axis->a = axis->b = knZero3();
	for (int i = 0; i < s->count; ++i) {
		axis->a = knMulAdd(axis->a, s->weights[i], s->corners[i].a);
		axis->b = knMulAdd(axis->b, s->weights[i], s->corners[i].b);
	}
	axis->s = length;
}

knGjkResult knGjk_Distance(const knCorePair* p, knAxis* axis) {
	bool curved = p->a.curved || p->b.curved;
	double touching = TOUCHING * p->size + ROUNDING * p->scale;
	knVec3 v = knLengthSquared(p->between) > 0.0 ? p->between : knV3(1.0, 0.0, 0.0);
	Simplex s = { .corners = { knCorePair_Support(p, v) }, .weights = { 1.0 }, .count = 1 };
	v = s.corners[0].w;
	double length = knLength(v);
	for (int round = 0; round < MOST_ROUNDS; ++round) {
		if (!(length > touching)) {
			return KN_GJK_OVERLAP;
		}
		knCorner corner = knCorePair_Support(p, v);
		double bound = knDot(v, corner.w) / length;
		if (bound >= p->margin) {
			return KN_GJK_APART;
		}
		double gap = length - bound;
		if (gap <= (curved ? CURVED_GAP * p->size : 0.0) + PLAIN_GAP * p->scale || holds(&s, corner.w)) {
			break;
		}
		Simplex grown = s;
		grown.corners[grown.count++] = corner;
		grown = closestOnSimplex(&grown);
		if (grown.count == 4) {
			return KN_GJK_OVERLAP;
		}
		knVec3 next = pointOf(&grown);
		double nextLength = knLength(next);
		if (!(nextLength < length)) {
			break; // rounding: no way on
		}
		s = grown;
		v = next;
		length = nextLength;
	}
	takeLine(&s, v, length, axis);
	return KN_GJK_NEAR;
}
