// Quickhull. Each triangle keeps the list of points above it. A step takes the farthest point (*eye*) of one
// list, finds the connected triangles that it sees, replaces them by a fan from the eye to their border (the
// *horizon*), and deals the points of the dead triangles out to the new ones. Every point is handed down a
// chain of shrinking triangles, so the expected cost is n log n.
//
// Rounding: a triangle is seen only from more than epsilon above its plane, and points closer than that count
// as on it. The search spreads over edges from one seen triangle, so the seen part is connected; if its
// border is not one simple loop all the same, the result is TANGLED.
#include "geom/quickhull.h"

#define FLAT 1e-6 // of the size: thinner point sets are refused

static double above(const knHullTriangle* t, knVec3 p) {
	return knDot(t->normal, p) - t->offset;
}

// Appends a triangle; false when out of memory. A needle gets area 0 and no usable plane.
static bool addTriangle(knQuickhull* q, int a, int b, int c, int* index) {
	knHullTriangle t = { .v = { a, b, c }, .adj = { -1, -1, -1 }, .outside = -1, .farthest = -1 };
	knVec3 pa = q->points[a], pb = q->points[b], pc = q->points[c];
	knVec3 normal = knCross(knSub(pb, pa), knSub(pc, pa));
	t.area = knLength(normal);
	t.normal = t.area > 0.0 ? knScale(1.0 / t.area, normal) : knZero3();
	t.offset = knDot(t.normal, knScale(1.0 / 3.0, knAdd(pa, knAdd(pb, pc))));
	*index = q->triangles.count;
	return KN_ARRAY_PUSH(q->allocator, &q->triangles, t);
}

// Puts a point on the list of the triangle, of `count` in `candidates`, that it is highest above, if any.
static void deal(knQuickhull* q, int point, const int* candidates, int count) {
	int best = -1;
	double reach = q->epsilon;
	for (int i = 0; i < count; ++i) {
		double height = above(&q->triangles.items[candidates[i]], q->points[point]);
		if (height > reach) {
			reach = height;
			best = candidates[i];
		}
	}
	if (best < 0) {
		return; // inside
	}
	knHullTriangle* t = &q->triangles.items[best];
	q->next[point] = t->outside;
	t->outside = point;
	if (reach > t->reach) {
		t->reach = reach;
		t->farthest = point;
	}
}

// --- the first tetrahedron ---------------------------------------------------------------------------------

static int farthestFrom(const knQuickhull* q, knVec3 origin, knVec3 axis, knVec3 across, double* reach) {
	int best = 0;
	*reach = -1.0;
	for (int i = 0; i < q->count; ++i) {
		knVec3 d = knSub(q->points[i], origin);
		// along `across` if given, else off the line along `axis` (off the point if that is zero)
		double height = knLengthSquared(across) > 0.0 ? knAbs(knDot(d, across))
													  : knLength(knMulAdd(d, -knDot(d, axis), axis));
		if (height > *reach) {
			*reach = height;
			best = i;
		}
	}
	return best;
}

// Four points that span a solid; false if the points are flat.
static bool firstFour(const knQuickhull* q, int four[4]) {
	double reach;
	four[0] = farthestFrom(q, q->points[0], knZero3(), knZero3(), &reach);
	knVec3 a = q->points[four[0]];
	four[1] = farthestFrom(q, a, knZero3(), knZero3(), &reach);
	knVec3 axis = knNormalize(knSub(q->points[four[1]], a));
	four[2] = farthestFrom(q, a, axis, knZero3(), &reach);
	if (!(reach > FLAT * q->size)) {
		return false;
	}
	knVec3 across = knNormalize(knCross(axis, knSub(q->points[four[2]], a)));
	four[3] = farthestFrom(q, a, axis, across, &reach);
	if (!(reach > FLAT * q->size)) {
		return false;
	}
	if (knDot(across, knSub(q->points[four[3]], a)) > 0.0) {
		int swap = four[1];
		four[1] = four[2];
		four[2] = swap;
	}
	return true;
}

static knHullResult makeFirst(knQuickhull* q) {
	int f[4];
	if (!firstFour(q, f)) {
		return KN_HULL_FLAT;
	}
	const int corners[4][3] = { { 0, 1, 2 }, { 0, 3, 1 }, { 1, 3, 2 }, { 2, 3, 0 } };
	const int adjacent[4][3] = { { 1, 2, 3 }, { 3, 2, 0 }, { 1, 3, 0 }, { 2, 1, 0 } };
	int all[4];
	for (int k = 0; k < 4; ++k) {
		if (!addTriangle(q, f[corners[k][0]], f[corners[k][1]], f[corners[k][2]], &all[k])) {
			return KN_HULL_NO_MEMORY;
		}
		for (int i = 0; i < 3; ++i) {
			q->triangles.items[k].adj[i] = adjacent[k][i];
		}
	}
	for (int i = 0; i < q->count; ++i) {
		deal(q, i, all, 4);
	}
	for (int k = 0; k < 4; ++k) {
		if (!KN_ARRAY_PUSH(q->allocator, &q->pending, k)) {
			return KN_HULL_NO_MEMORY;
		}
	}
	return KN_HULL_DONE;
}

// --- one step ----------------------------------------------------------------------------------------------

// The triangles seen from the eye, from `first` on, and their border.
static bool findVisible(knQuickhull* q, int first, knVec3 eye) {
	q->visible.count = q->horizon.count = 0;
	int search = ++q->searches;
	q->triangles.items[first].mark = search;
	if (!KN_ARRAY_PUSH(q->allocator, &q->visible, first)) {
		return false;
	}
	for (int k = 0; k < q->visible.count; ++k) {
		for (int i = 0; i < 3; ++i) {
			int beyond = q->triangles.items[q->visible.items[k]].adj[i];
			knHullTriangle* t = &q->triangles.items[beyond];
			if (t->mark == search) {
				continue;
			}
			if (above(t, eye) > q->epsilon) {
				t->mark = search;
				if (!KN_ARRAY_PUSH(q->allocator, &q->visible, beyond)) {
					return false;
				}
			}
		}
	}
	for (int k = 0; k < q->visible.count; ++k) {
		int inner = q->visible.items[k];
		for (int i = 0; i < 3; ++i) {
			int beyond = q->triangles.items[inner].adj[i];
			const knHullTriangle* t = &q->triangles.items[beyond];
			int edge = t->adj[0] == inner ? 0 : (t->adj[1] == inner ? 1 : 2);
			if (t->mark != search && (!KN_ARRAY_PUSH(q->allocator, &q->horizon, beyond) ||
									  !KN_ARRAY_PUSH(q->allocator, &q->horizon, edge))) {
				return false;
			}
		}
	}
	return true;
}

// Start of horizon edge k, seen from the side of the dead triangles.
static int edgeStart(const knQuickhull* q, int k) {
	const knHullTriangle* t = &q->triangles.items[q->horizon.items[2 * k]];
	return t->v[(q->horizon.items[2 * k + 1] + 1) % 3];
}

static int edgeEnd(const knQuickhull* q, int k) {
	return q->triangles.items[q->horizon.items[2 * k]].v[q->horizon.items[2 * k + 1]];
}

// Whether the horizon is one simple loop; leaves q->edgeFrom set if so.
static bool isLoop(knQuickhull* q) {
	int count = q->horizon.count / 2;
	bool simple = count >= 3;
	for (int k = 0; k < count; ++k) {
		int* from = &q->edgeFrom[edgeStart(q, k)];
		simple = simple && *from < 0;
		*from = k;
	}
	int length = 0;
	for (int k = 0; simple && length < count; ++length) {
		int following = q->edgeFrom[edgeEnd(q, k)];
		simple = following >= 0 && (following != 0 || length == count - 1);
		k = following;
	}
	if (!simple) {
		for (int k = 0; k < count; ++k) {
			q->edgeFrom[edgeStart(q, k)] = -1;
		}
	}
	return simple;
}

// The fan from the eye to the horizon.
static knHullResult makeFan(knQuickhull* q, int eye) {
	int count = q->horizon.count / 2;
	q->fresh.count = 0;
	for (int k = 0; k < count; ++k) {
		int a = edgeStart(q, k), b = edgeEnd(q, k), outer = q->horizon.items[2 * k];
		int edge = q->horizon.items[2 * k + 1], index;
		if (!addTriangle(q, a, b, eye, &index) || !KN_ARRAY_PUSH(q->allocator, &q->fresh, index) ||
			!KN_ARRAY_PUSH(q->allocator, &q->pending, index)) {
			return KN_HULL_NO_MEMORY;
		}
		q->triangles.items[index].adj[0] = outer;
		q->triangles.items[outer].adj[edge] = index;
	}
	knHullResult result = KN_HULL_DONE;
	for (int k = 0; k < count; ++k) {
		int following = q->fresh.items[q->edgeFrom[edgeEnd(q, k)]];
		q->triangles.items[q->fresh.items[k]].adj[1] = following;
		q->triangles.items[following].adj[2] = q->fresh.items[k];
		result =
			q->triangles.items[q->fresh.items[k]].area > 1e-15 * q->size * q->size ? result : KN_HULL_TANGLED;
	}
	for (int k = 0; k < count; ++k) {
		q->edgeFrom[edgeStart(q, k)] = -1;
	}
	return result;
}

static knHullResult step(knQuickhull* q, int seen) {
	int eye = q->triangles.items[seen].farthest;
	if (!findVisible(q, seen, q->points[eye])) {
		return KN_HULL_NO_MEMORY;
	}
	if (!isLoop(q)) {
		return KN_HULL_TANGLED;
	}
	knHullResult result = makeFan(q, eye);
	if (result != KN_HULL_DONE) {
		return result;
	}
	for (int k = 0; k < q->visible.count; ++k) {
		knHullTriangle* t = &q->triangles.items[q->visible.items[k]];
		t->dead = true;
		for (int point = t->outside, following; point >= 0; point = following) {
			following = q->next[point];
			if (point != eye) {
				deal(q, point, q->fresh.items, q->fresh.count);
			}
		}
		t->outside = -1;
	}
	return KN_HULL_DONE;
}

knHullResult knQuickhull_Run(knQuickhull* q, const knVec3* points, int count, double size, double epsilon,
							 const knAllocator* allocator) {
	*q = (knQuickhull){ .allocator = allocator, .points = points, .count = count, .size = size };
	q->epsilon = epsilon;
	q->next = knAllocArray(allocator, (size_t)count, sizeof(int));
	q->edgeFrom = knAllocArray(allocator, (size_t)count, sizeof(int));
	if (q->next == NULL || q->edgeFrom == NULL) {
		return KN_HULL_NO_MEMORY;
	}
	for (int i = 0; i < count; ++i) {
		q->edgeFrom[i] = -1;
	}
	knHullResult result = makeFirst(q);
	while (result == KN_HULL_DONE && q->pending.count > 0) {
		int t = q->pending.items[--q->pending.count];
		if (!q->triangles.items[t].dead && q->triangles.items[t].outside >= 0) {
			result = step(q, t);
		}
	}
	return result;
}

void knQuickhull_Free(knQuickhull* q) {
	knFree(q->allocator, q->next, (size_t)q->count * sizeof(int));
	knFree(q->allocator, q->edgeFrom, (size_t)q->count * sizeof(int));
	KN_ARRAY_FREE(q->allocator, &q->triangles);
	KN_ARRAY_FREE(q->allocator, &q->pending);
	KN_ARRAY_FREE(q->allocator, &q->visible);
	KN_ARRAY_FREE(q->allocator, &q->horizon);
	KN_ARRAY_FREE(q->allocator, &q->fresh);
}
