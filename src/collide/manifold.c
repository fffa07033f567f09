// Reduction of a contact polygon to four points (spread matters more than number: a solver needs a wide base,
// and each redundant point costs it iterations).
#include "collide/manifold.h"

#define DEPTH_SLACK 1e-7  // sizes: shallower by less counts as equally deep
#define SPREAD_SLACK 1e-6 // relative: a rival must be better by more
#define APART 1e-4        // sizes: closer points are one

// Twice the signed area of the triangle a b c.
static double area2(const knManifoldPoint* a, const knManifoldPoint* b, const knManifoldPoint* c) {
	return (b->u - a->u) * (c->v - a->v) - (b->v - a->v) * (c->u - a->u);
}

static double length(const knManifoldPoint* a, const knManifoldPoint* b) {
	double u = b->u - a->u, v = b->v - a->v;
	return sqrt(u * u + v * v);
}

static int deepest(const knManifoldPoint* points, int count, double size) {
	int best = 0;
	for (int i = 1; i < count; ++i) {
		if (points[i].separation < points[best].separation - DEPTH_SLACK * size) {
			best = i;
		}
	}
	return best;
}

// -1 if all are closer than APART.
static int farthest(const knManifoldPoint* points, int count, double size, int from) {
	int best = -1;
	double reach = APART * size;
	for (int i = 0; i < count; ++i) {
		double distance = length(&points[from], &points[i]);
		if (distance > reach * (1.0 + SPREAD_SLACK)) {
			reach = distance;
			best = i;
		}
	}
	return best;
}

// The point farthest from the line a b, on either side; -1 if all lie closer than APART.
static int widest(const knManifoldPoint* points, int count, double size, int a, int b) {
	int best = -1;
	double reach = APART * size * length(&points[a], &points[b]);
	for (int i = 0; i < count; ++i) {
		double area = knAbs(area2(&points[a], &points[b], &points[i]));
		if (area > reach * (1.0 + SPREAD_SLACK)) {
			reach = area;
			best = i;
		}
	}
	return best;
}

// The point that adds most area outside the triangle; -1 if none adds any.
static int fourth(const knManifoldPoint* points, int count, double size, const int triangle[3]) {
	const knManifoldPoint* corner[3] = { &points[triangle[0]], &points[triangle[1]], &points[triangle[2]] };
	double turn = area2(corner[0], corner[1], corner[2]) > 0.0 ? -1.0 : 1.0, least[3];
	int best = -1;
	double reach = 0.0;
	for (int k = 0; k < 3; ++k) {
		least[k] = APART * size * length(corner[k], corner[k < 2 ? k + 1 : 0]);
	}
	for (int i = 0; i < count; ++i) {
		for (int k = 0; k < 3; ++k) {
			double area = turn * area2(corner[k], corner[k < 2 ? k + 1 : 0], &points[i]);
			if (area > least[k] && area > reach * (1.0 + SPREAD_SLACK)) {
				reach = area;
				best = i;
			}
		}
	}
	return best;
}

static void insertAscending(int* chosen, int count, int index) {
	for (; count > 0 && chosen[count - 1] > index; --count) {
		chosen[count] = chosen[count - 1];
	}
	chosen[count] = index;
}

// Whether four points stand around a quadrilateral, each well beyond the line of its neighbours: then all stay.
static bool isQuadrilateral(const knManifoldPoint* points, double size) {
	double turn = area2(&points[0], &points[1], &points[2]);
	for (int k = 0; k < 4; ++k) {
		const knManifoldPoint *before = &points[(k + 3) & 3], *after = &points[(k + 1) & 3];
		double area = area2(before, &points[k], after), u = after->u - before->u, v = after->v - before->v;
		double least = APART * (1.0 + SPREAD_SLACK) * size;
		if (!(area * turn > 0.0) || !(area * area > least * least * (u * u + v * v))) {
			return false;
		}
	}
	return true;
}

int knManifold_Reduce(const knManifoldPoint* points, int count, double size, int chosen[KN_PAIR_MAX_POINTS]) {
	if (count == 0) {
		return 0;
	}
	if (count == 4 && isQuadrilateral(points, size)) {
		for (int i = 0; i < 4; ++i) {
			chosen[i] = i;
		}
		return 4;
	}
	int corners[KN_PAIR_MAX_POINTS];
	int kept = 0;
	corners[kept++] = deepest(points, count, size);
	corners[kept] = farthest(points, count, size, corners[0]);
	if (corners[kept] >= 0) {
		++kept;
		corners[kept] = widest(points, count, size, corners[0], corners[1]);
		if (corners[kept] >= 0) {
			++kept;
			corners[kept] = fourth(points, count, size, corners);
			kept += corners[kept] >= 0;
		}
	}
	for (int i = 0; i < kept; ++i) {
		insertAscending(chosen, i, corners[i]);
	}
	return kept;
}
