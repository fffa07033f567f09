// GJK (Gilbert, Johnson & Keerthi 1988): the point v of C closest to the origin.
//
// Keeps a simplex of up to four points of C. Each round finds its point v closest to the origin, drops the
// corners that do not carry v, and adds the point of C farthest against v. v.w / |v| bounds the distance from
// below: it ends the search, or proves that the shapes are farther apart than anyone asked.
#include "collide/convex_support.h"

#define MOST_ROUNDS 200
#define CURVED_GAP 1e-4 // sizes between the bounds at which curved cores go on to polishing
#define PLAIN_GAP 1e-14 // scales; polytopes end exactly anyway
#define TOUCHING 1e-10  // sizes: a shorter line has no direction
#define ROUNDING 4e-15  // and so for the larger core

typedef struct Simplex {
	knCorner corners[4];
	double weights[4];
	int count;
} Simplex;

// The point of a part of a simplex that is closest to the origin: corners, their weights, its squared distance.
typedef struct Part {
	int kept[3];
	double weights[3];
	int count;
	double square;
} Part;

static Part onCorner(const Simplex* s, int i) {
	return (Part){ { i }, { 1.0 }, 1, knLengthSquared(s->corners[i].w) };
}

static Part onSegment(const Simplex* s, int i, int j) {
	knVec3 a = s->corners[i].w, d = knSub(s->corners[j].w, a);
	double along = -knDot(a, d), square = knLengthSquared(d);
	if (!(along > 0.0) || square == 0.0) {
		return onCorner(s, i);
	}
	if (along >= square) {
		return onCorner(s, j);
	}
	double x = along / square;
	return (Part){ { i, j }, { 1.0 - x, x }, 2, knLengthSquared(knMulAdd(a, x, d)) };
}

static Part nearer(const Part* x, const Part* y) {
	return y->square < x->square ? *y : *x;
}

// Inside the triangle if the origin's foot lies on the inner side of all three edges; else on an edge.
static Part onTriangle(const Simplex* s, int i, int j, int k) {
	knVec3 a = s->corners[i].w, b = s->corners[j].w, c = s->corners[k].w;
	knVec3 n = knCross(knSub(b, a), knSub(c, a));
	double u = knDot(n, knCross(b, c)), v = knDot(n, knCross(c, a)), w = knDot(n, knCross(a, b));
	if (u > 0.0 && v > 0.0 && w > 0.0) {
		double scale = 1.0 / (u + v + w);
		Part part = { { i, j, k }, { scale * u, scale * v, scale * w }, 3, 0.0 };
		knVec3 point =
			knMulAdd(knMulAdd(knScale(part.weights[0], a), part.weights[1], b), part.weights[2], c);
		part.square = knLengthSquared(point);
		return part;
	}
	Part best = { .square = INFINITY }, rival;
	if (w <= 0.0 || u + v + w == 0.0) {
		best = onSegment(s, i, j);
	}
	if (u <= 0.0) {
		rival = onSegment(s, j, k);
		best = nearer(&best, &rival);
	}
	if (v <= 0.0) {
		rival = onSegment(s, k, i);
		best = nearer(&best, &rival);
	}
	return best;
}

// The nearest of the faces that the origin lies beyond; false if it lies inside.
static bool onTetrahedron(const Simplex* s, Part* best) {
	static const int faces[4][4] = { { 1, 2, 3, 0 }, { 0, 3, 2, 1 }, { 0, 1, 3, 2 }, { 0, 2, 1, 3 } };
	bool found = false;
	for (int f = 0; f < 4; ++f) {
		knVec3 a = s->corners[faces[f][0]].w;
		knVec3 n = knCross(knSub(s->corners[faces[f][1]].w, a), knSub(s->corners[faces[f][2]].w, a));
		double inner = knDot(n, knSub(s->corners[faces[f][3]].w, a)), origin = -knDot(n, a);
		if (inner * origin > 0.0) {
			continue;
		}
		Part rival = onTriangle(s, faces[f][0], faces[f][1], faces[f][2]);
		*best = found ? nearer(best, &rival) : rival;
		found = true;
	}
	return found;
}

// Keeps only the corners that carry the closest point; false if the origin lies inside.
static bool reduce(Simplex* s) {
	Part part;
	if (s->count == 4) {
		if (!onTetrahedron(s, &part)) {
			return false;
		}
	} else {
		part = s->count == 3 ? onTriangle(s, 0, 1, 2) : onSegment(s, 0, 1);
	}
	knCorner corners[3];
	for (int i = 0; i < part.count; ++i) {
		corners[i] = s->corners[part.kept[i]];
	}
	s->count = part.count;
	for (int i = 0; i < part.count; ++i) {
		s->corners[i] = corners[i];
		s->weights[i] = part.weights[i];
	}
	return true;
}

static knVec3 pointOf(const Simplex* s) {
	knVec3 v = knZero3();
	for (int i = 0; i < s->count; ++i) {
		v = knMulAdd(v, s->weights[i], s->corners[i].w);
	}
	return v;
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
		if (!reduce(&grown)) {
			if (bound > touching) {
				break; // a flat simplex only seems to hold the origin: the plane across v keeps it out
			}
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
