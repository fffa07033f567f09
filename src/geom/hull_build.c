// From points to the tables of a hull: quickhull's triangles, merged into polygons.
//
//   merge      from the largest triangles on, neighbours within MERGE of a triangle's plane join its face
//   trim       vertices that fewer than three faces meet in (inside a face or an edge) are dropped
//   tables     loops of the faces, neighbours of the vertices, fans of triangles
//   integrals  volume, centre and inertia from the signed tetrahedra between a point inside and the fans:
//              exact for polyhedra
//
// Where rounding tangles the faces (a border that is no loop, an edge without its twin), less is merged, in the
// end nothing; where it tangles quickhull's horizon, all is done again with a larger epsilon, and after
// EPSILON_LAST the points are refused.
#include "geom/convex.h"
#include "geom/quickhull.h"

#define EPSILON_FIRST 1e-13 // of the size
#define EPSILON_LAST 1e-7
#define MERGE 1e-9
#define MOST_VERTICES (1 << 20) // bits of a contact's feature

typedef struct Build {
	const knAllocator* allocator;
	knVec3* points; // about the middle of their box
	int count;
	knVec3 middle;
	double size;
	knQuickhull q;
	double merge;  // slack of a face's plane; negative: triangles stay
	int* faceOf;   // [triangles] -1: not yet
	int* vertexOf; // [count] faces that meet in a point; then its number as a vertex, -1: none
	int faceCount;
	KN_ARRAY(int) loops;  // points, face by face
	KN_ARRAY(int) firsts; // [faceCount + 1] into loops
	KN_ARRAY(int) stack;
	knHull* hull;
} Build;

// --- merging -----------------------------------------------------------------------------------------------

static bool isOnPlane(const Build* b, const knHullTriangle* plane, const knHullTriangle* t) {
	if (b->merge < 0.0) {
		return false;
	}
	for (int i = 0; i < 3; ++i) {
		knVec3 p = b->points[t->v[i]];
		if (knAbs(knDot(plane->normal, p) - plane->offset) > b->merge) {
			return false;
		}
	}
	// a needle's normal is noise
	knVec3 p = b->points[t->v[0]], q = b->points[t->v[1]], r = b->points[t->v[2]];
	double longest = knMax(knDistance(p, q), knMax(knDistance(q, r), knDistance(r, p)));
	return t->area <= 4.0 * b->merge * longest || knDot(plane->normal, t->normal) > 0.0;
}

// All connected triangles in the plane of `seed` become face `face`.
static bool growFace(Build* b, int seed, int face) {
	b->stack.count = 0;
	b->faceOf[seed] = face;
	if (!KN_ARRAY_PUSH(b->allocator, &b->stack, seed)) {
		return false;
	}
	const knHullTriangle* triangles = b->q.triangles.items;
	while (b->stack.count > 0) {
		int at = b->stack.items[--b->stack.count];
		for (int i = 0; i < 3; ++i) {
			int beyond = triangles[at].adj[i];
			if (b->faceOf[beyond] >= 0 || !isOnPlane(b, &triangles[seed], &triangles[beyond])) {
				continue;
			}
			b->faceOf[beyond] = face;
			if (!KN_ARRAY_PUSH(b->allocator, &b->stack, beyond)) {
				return false;
			}
		}
	}
	return true;
}

// Seeds are taken by falling size, roughly, because large triangles have the better planes.
static bool mergeTriangles(Build* b) {
	const knHullTriangle* triangles = b->q.triangles.items;
	int count = b->q.triangles.count;
	b->faceOf = knAllocArray(b->allocator, (size_t)count, sizeof(int));
	if (b->faceOf == NULL) {
		return false;
	}
	double largest = 0.0;
	for (int t = 0; t < count; ++t) {
		b->faceOf[t] = -1;
		largest = triangles[t].dead ? largest : knMax(largest, triangles[t].area);
	}
	for (double least = 1e-1; least > 1e-14; least = least > 1e-12 ? 0.1 * least : 0.0) {
		for (int t = 0; t < count; ++t) {
			if (!triangles[t].dead && b->faceOf[t] < 0 && triangles[t].area >= least * largest &&
				!growFace(b, t, b->faceCount++)) {
				return false;
			}
		}
	}
	for (int t = 0; t < count; ++t) {
		if (!triangles[t].dead && b->faceOf[t] < 0 && !growFace(b, t, b->faceCount++)) {
			return false;
		}
	}
	return true;
}

// --- loops -------------------------------------------------------------------------------------------------

// The next border edge of the same face after the end of edge i of triangle t: turn about that end.
static void nextBorder(const Build* b, int face, int* t, int* i) {
	const knHullTriangle* triangles = b->q.triangles.items;
	int edge = (*i + 1) % 3, at = *t;
	while (b->faceOf[triangles[at].adj[edge]] == face) {
		int beyond = triangles[at].adj[edge], start = triangles[at].v[edge];
		const knHullTriangle* other = &triangles[beyond];
		edge = other->v[0] == start ? 0 : (other->v[1] == start ? 1 : 2);
		at = beyond;
	}
	*t = at;
	*i = edge;
}

// One border edge (3 triangle + edge) of each face, in b->stack; returns how many border edges there are.
static int findBorders(Build* b) {
	const knHullTriangle* triangles = b->q.triangles.items;
	int borders = 0;
	b->stack.count = b->faceCount;
	for (int f = 0; f < b->faceCount; ++f) {
		b->stack.items[f] = -1;
	}
	for (int t = 0; t < b->q.triangles.count; ++t) {
		for (int i = 0; i < 3 && !triangles[t].dead; ++i) {
			if (b->faceOf[triangles[t].adj[i]] == b->faceOf[t]) {
				continue;
			}
			++borders;
			int* first = &b->stack.items[b->faceOf[t]];
			*first = *first < 0 ? 3 * t + i : *first;
		}
	}
	return borders;
}

// Borders of all faces. Tangled if a face has several.
static knHullResult traceLoops(Build* b) {
	if (!KN_ARRAY_RESERVE(b->allocator, &b->stack, b->faceCount) ||
		!KN_ARRAY_RESERVE(b->allocator, &b->firsts, b->faceCount + 1)) {
		return KN_HULL_NO_MEMORY;
	}
	int borders = findBorders(b);
	if (!KN_ARRAY_RESERVE(b->allocator, &b->loops, borders + 1)) {
		return KN_HULL_NO_MEMORY;
	}
	for (int face = 0; face < b->faceCount; ++face) {
		int first = b->stack.items[face];
		if (first < 0) {
			return KN_HULL_TANGLED;
		}
		b->firsts.items[b->firsts.count++] = b->loops.count;
		int at = first / 3, edge = first % 3;
		do {
			if (b->loops.count == borders) {
				return KN_HULL_TANGLED;
			}
			b->loops.items[b->loops.count++] = b->q.triangles.items[at].v[edge];
			nextBorder(b, face, &at, &edge);
		} while (3 * at + edge != first);
	}
	b->firsts.items[b->firsts.count++] = b->loops.count;
	return b->loops.count == borders ? KN_HULL_DONE : KN_HULL_TANGLED;
}

// Drops points where fewer than three faces meet and numbers the rest. Tangled if a face would lose its area.
static knHullResult numberVertices(Build* b, int* vertexCount) {
	for (int i = 0; i < b->count; ++i) {
		b->vertexOf[i] = 0;
	}
	for (int k = 0; k < b->loops.count; ++k) {
		b->vertexOf[b->loops.items[k]] += 1;
	}
	*vertexCount = 0;
	for (int i = 0; i < b->count; ++i) {
		b->vertexOf[i] = b->vertexOf[i] >= 3 ? (*vertexCount)++ : -1;
	}
	int kept = 0;
	for (int f = 0; f < b->faceCount; ++f) {
		int first = kept;
		for (int k = b->firsts.items[f]; k < b->firsts.items[f + 1]; ++k) {
			int vertex = b->vertexOf[b->loops.items[k]];
			if (vertex >= 0) {
				b->loops.items[kept++] = vertex;
			}
		}
		b->firsts.items[f] = first;
		if (kept - first < 3) {
			return KN_HULL_TANGLED;
		}
	}
	b->firsts.items[b->faceCount] = b->loops.count = kept;
	return KN_HULL_DONE;
}

// --- tables ------------------------------------------------------------------------------------------------

static knHull* newHull(const Build* b, int vertexCount) {
	const knAllocator* allocator = b->allocator;
	knHull* h = knAllocZero(allocator, sizeof(knHull));
	if (h == NULL) {
		return NULL;
	}
	h->vertexCount = vertexCount;
	h->faceCount = b->faceCount;
	h->loopCount = b->loops.count;
	h->triangleCount = b->loops.count - 2 * b->faceCount;
	size_t loops = (size_t)h->loopCount;
	h->vertices = knAllocArray(allocator, (size_t)vertexCount, sizeof(knVec3));
	h->faces = knAllocArray(allocator, (size_t)h->faceCount, sizeof(knHullFace));
	h->loops = knAllocArray(allocator, loops, sizeof(int));
	h->firstNeighbor = knAllocArray(allocator, (size_t)vertexCount + 1, sizeof(int));
	h->neighbors = knAllocArray(allocator, loops, sizeof(int));
	h->leftFaces = knAllocArray(allocator, loops, sizeof(int));
	h->triangles = knAllocArray(allocator, (size_t)h->triangleCount, sizeof(knTriangle));
	if (h->vertices == NULL || h->faces == NULL || h->loops == NULL || h->firstNeighbor == NULL ||
		h->neighbors == NULL || h->leftFaces == NULL || h->triangles == NULL) {
		knHull_Destroy(h, allocator);
		return NULL;
	}
	return h;
}

void knHull_Destroy(knHull* hull, const knAllocator* allocator) {
	if (hull == NULL) {
		return;
	}
	size_t loops = (size_t)hull->loopCount, vertices = (size_t)hull->vertexCount;
	knFree(allocator, hull->vertices, vertices * sizeof(knVec3));
	knFree(allocator, hull->faces, (size_t)hull->faceCount * sizeof(knHullFace));
	knFree(allocator, hull->loops, loops * sizeof(int));
	knFree(allocator, hull->firstNeighbor, (vertices + 1) * sizeof(int));
	knFree(allocator, hull->neighbors, loops * sizeof(int));
	knFree(allocator, hull->leftFaces, loops * sizeof(int));
	knFree(allocator, hull->triangles, (size_t)hull->triangleCount * sizeof(knTriangle));
	knFree(allocator, hull, sizeof(knHull));
}

// Planes by Newell's sums, and fans.
static void fillFaces(const Build* b, knHull* h) {
	int triangle = 0;
	for (int f = 0; f < h->faceCount; ++f) {
		knHullFace* face = &h->faces[f];
		face->first = b->firsts.items[f];
		face->count = b->firsts.items[f + 1] - face->first;
		const int* loop = &h->loops[face->first];
		knVec3 origin = h->vertices[loop[0]], sum = knZero3();
		for (int k = 1; k + 1 < face->count; ++k) {
			knVec3 p = knSub(h->vertices[loop[k]], origin), q = knSub(h->vertices[loop[k + 1]], origin);
			sum = knAdd(sum, knCross(p, q));
			h->triangles[triangle++] = (knTriangle){ loop[0], loop[k], loop[k + 1] };
		}
		face->normal = knNormalize(sum);
		face->offset = -INFINITY;
		for (int k = 0; k < face->count; ++k) {
			face->offset = knMax(face->offset, knDot(face->normal, h->vertices[loop[k]]));
		}
	}
}

// Neighbours of each vertex; false if an edge has no twin.
static bool fillNeighbors(knHull* h) {
	int* first = h->firstNeighbor;
	for (int v = 0; v <= h->vertexCount; ++v) {
		first[v] = 0;
	}
	for (int k = 0; k < h->loopCount; ++k) {
		first[h->loops[k] + 1] += 1;
	}
	for (int v = 0; v < h->vertexCount; ++v) {
		first[v + 1] += first[v];
	}
	for (int f = 0; f < h->faceCount; ++f) {
		const knHullFace* face = &h->faces[f];
		for (int k = 0; k < face->count; ++k) {
			int place = first[h->loops[face->first + k]]++;
			h->neighbors[place] = h->loops[face->first + (k + 1 < face->count ? k + 1 : 0)];
			h->leftFaces[place] = f;
		}
	}
	for (int v = h->vertexCount; v > 0; --v) {
		first[v] = first[v - 1];
	}
	first[0] = 0;
	bool closed = true;
	for (int v = 0; v < h->vertexCount; ++v) {
		for (int k = first[v]; k < first[v + 1]; ++k) {
			int other = h->neighbors[k], twins = 0;
			for (int m = first[other]; m < first[other + 1]; ++m) {
				twins += h->neighbors[m] == v;
			}
			closed = closed && twins == 1;
		}
	}
	return closed;
}

static void fillStarts(knHull* h) {
	for (int s = 0; s < KN_HULL_STARTS; ++s) {
		int code = s < 13 ? s : s + 1;
		knVec3 direction = knV3(code % 3 - 1, code / 3 % 3 - 1, code / 9 - 1);
		double reach = -INFINITY;
		for (int v = 0; v < h->vertexCount; ++v) {
			double along = knDot(h->vertices[v], direction);
			if (along > reach) {
				reach = along;
				h->starts[s] = v;
			}
		}
	}
}

// --- integrals ---------------------------------------------------------------------------------------------

// Of a tetrahedron from the origin over (a, b, c): volume V = a.(b x c) / 6, first moments V (a + b + c) / 4,
// second moments V / 20 (s s^T + a a^T + b b^T + c c^T), s = a + b + c.
static void fillProps(const Build* b, knHull* h) {
	double V = 0.0, xx = 0.0, yy = 0.0, zz = 0.0, xy = 0.0, yz = 0.0, zx = 0.0;
	knVec3 first = knZero3();
	for (int t = 0; t < h->triangleCount; ++t) {
		const knTriangle* triangle = &h->triangles[t];
		knVec3 p[4] = { h->vertices[triangle->a], h->vertices[triangle->b], h->vertices[triangle->c] };
		double volume = knDot(p[0], knCross(p[1], p[2])) / 6.0;
		p[3] = knAdd(p[0], knAdd(p[1], p[2]));
		V += volume;
		first = knMulAdd(first, 0.25 * volume, p[3]);
		for (int k = 0; k < 4; ++k) {
			double weight = volume / 20.0;
			xx += weight * p[k].x * p[k].x;
			yy += weight * p[k].y * p[k].y;
			zz += weight * p[k].z * p[k].z;
			xy += weight * p[k].x * p[k].y;
			yz += weight * p[k].y * p[k].z;
			zx += weight * p[k].z * p[k].x;
		}
	}
	knVec3 c = knScale(1.0 / V, first);
	xx -= V * c.x * c.x;
	yy -= V * c.y * c.y;
	zz -= V * c.z * c.z;
	xy -= V * c.x * c.y;
	yz -= V * c.y * c.z;
	zx -= V * c.z * c.x;
	h->props.mass = V;
	h->props.inertia = knMakeMat33(knV3(yy + zz, -xy, -zx), knV3(-xy, zz + xx, -yz), knV3(-zx, -yz, xx + yy));
	h->props.center = h->center = knAdd(c, b->middle);
	for (int v = 0; v < h->vertexCount; ++v) {
		h->radius = knMax(h->radius, knDistance(h->vertices[v], c));
	}
}

// --- putting it together -----------------------------------------------------------------------------------

static knHullResult makeTables(Build* b, const knVec3* original, int vertexCount) {
	knHull* h = b->hull = newHull(b, vertexCount);
	if (h == NULL) {
		return KN_HULL_NO_MEMORY;
	}
	for (int i = 0; i < b->count; ++i) {
		if (b->vertexOf[i] >= 0) {
			h->vertices[b->vertexOf[i]] = b->points[i];
		}
	}
	for (int k = 0; k < h->loopCount; ++k) {
		h->loops[k] = b->loops.items[k];
	}
	fillFaces(b, h);
	if (!fillNeighbors(h) || h->vertexCount + h->faceCount - h->loopCount / 2 != 2) {
		return KN_HULL_TANGLED;
	}
	fillProps(b, h);
	// to the user's own coordinates
	for (int i = 0; i < b->count; ++i) {
		if (b->vertexOf[i] >= 0) {
			h->vertices[b->vertexOf[i]] = original[i];
		}
	}
	for (int f = 0; f < h->faceCount; ++f) {
		h->faces[f].offset += knDot(h->faces[f].normal, b->middle);
	}
	fillStarts(h);
	return KN_HULL_DONE;
}

// Faces and tables from quickhull's triangles.
static knHullResult makeFaces(Build* b, const knVec3* original) {
	int vertexCount;
	b->faceCount = 0;
	b->loops.count = b->firsts.count = 0;
	knHullResult result = mergeTriangles(b) ? traceLoops(b) : KN_HULL_NO_MEMORY;
	if (result == KN_HULL_DONE) {
		result = numberVertices(b, &vertexCount);
	}
	if (result == KN_HULL_DONE) {
		result = makeTables(b, original, vertexCount);
	}
	if (result != KN_HULL_DONE) {
		knHull_Destroy(b->hull, b->allocator);
		b->hull = NULL;
	}
	knFree(b->allocator, b->faceOf, (size_t)b->q.triangles.count * sizeof(int));
	b->faceOf = NULL;
	return result;
}

static knHullResult attempt(Build* b, const knVec3* original, double epsilon) {
	knHullResult result = knQuickhull_Run(&b->q, b->points, b->count, b->size, epsilon, b->allocator);
	if (result == KN_HULL_DONE) {
		const double slacks[] = { MERGE * b->size + 2.0 * epsilon, 2.0 * epsilon, -1.0 };
		result = KN_HULL_TANGLED;
		for (int k = 0; k < 3 && result == KN_HULL_TANGLED; ++k) {
			b->merge = slacks[k];
			result = makeFaces(b, original);
		}
	}
	knQuickhull_Free(&b->q);
	return result;
}

// Shifts the points to the middle of their box. KN_OK, or why they cannot be a hull.
static knStatus takePoints(Build* b, const knVec3* points, knError* error) {
	knAabb box = knAabb_Empty();
	for (int i = 0; i < b->count; ++i) {
		if (!knIsFinite3(points[i])) {
			return knError_Set(error, KN_BAD_DATA, "hull", "point %d of the hull is not finite", i);
		}
		box.lower = knMin3(box.lower, points[i]);
		box.upper = knMax3(box.upper, points[i]);
	}
	knVec3 extent = knSub(box.upper, box.lower);
	b->size = knMax(extent.x, knMax(extent.y, extent.z));
	b->middle = knAabb_Center(box);
	double reach = b->size + knLength(b->middle);
	if (!(b->size >= KN_GEOM_MIN_SIZE) || !(reach <= KN_GEOM_MAX_SIZE)) {
		return knError_Set(error, KN_BAD_DATA, "hull",
						   "the hull's points span %g m; they must span between %g and %g", b->size,
						   KN_GEOM_MIN_SIZE, KN_GEOM_MAX_SIZE);
	}
	for (int i = 0; i < b->count; ++i) {
		b->points[i] = knSub(points[i], b->middle);
	}
	return KN_OK;
}

static void buildHull(Build* b, const knVec3* points, knError* error) {
	if (takePoints(b, points, error) != KN_OK) {
		return;
	}
	knHullResult result = KN_HULL_TANGLED;
	for (double epsilon = EPSILON_FIRST; result == KN_HULL_TANGLED && epsilon < EPSILON_LAST;
		 epsilon *= 10.0) {
		result = attempt(b, points, epsilon * b->size);
	}
	if (result == KN_HULL_FLAT) {
		knError_Set(error, KN_BAD_DATA, "hull",
					"the hull's points lie in one plane, line or place; they must span a solid");
	} else if (result == KN_HULL_TANGLED) {
		knError_Set(error, KN_BAD_DATA, "hull",
					"the hull's points are too close to each other to be told apart");
	} else if (result == KN_HULL_NO_MEMORY) {
		knError_Set(error, KN_NO_MEMORY, "hull", "out of memory for a hull of %d points", b->count);
	} else if (b->hull->vertexCount > MOST_VERTICES) {
		knError_Set(error, KN_LIMIT, "hull", "the hull has %d vertices; at most %d are possible",
					b->hull->vertexCount, MOST_VERTICES);
		knHull_Destroy(b->hull, b->allocator);
		b->hull = NULL;
	}
}

knHull* knHull_Build(const knVec3* points, int count, const knAllocator* allocator, knError* error) {
	if (points == NULL || count < 4) {
		knError_Set(error, KN_BAD_DATA, "hull", "the hull has %d points; at least 4 are needed",
					points != NULL ? count : 0);
		return NULL;
	}
	Build b = { .allocator = allocator, .count = count };
	size_t n = (size_t)count;
	b.points = knAllocArray(allocator, n, sizeof(knVec3));
	b.vertexOf = knAllocArray(allocator, n, sizeof(int));
	if (b.points != NULL && b.vertexOf != NULL) {
		buildHull(&b, points, error);
	} else {
		knError_Set(error, KN_NO_MEMORY, "hull", "out of memory for a hull of %d points", count);
	}
	knFree(allocator, b.points, n * sizeof(knVec3));
	knFree(allocator, b.vertexOf, n * sizeof(int));
	KN_ARRAY_FREE(allocator, &b.loops);
	KN_ARRAY_FREE(allocator, &b.firsts);
	KN_ARRAY_FREE(allocator, &b.stack);
	return b.hull;
}
