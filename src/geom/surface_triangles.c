// Normals for triangles by crease angle: a corner's normal is the mean of the faces around its vertex that lean
// less than the crease away from the corner's own face, weighted by their angles there. Corners of a vertex
// with the same normal share one vertex of the surface; the others are split.
//
// Faces around a vertex are summed in the order of the triangles, so corners that see the same faces get the
// same bits.
#include <string.h>

#include "geom/geom.h"
#include "geom/surface.h"

// Around a vertex with more faces than this (the tip of a fine cone) each keeps its own normal: comparing all
// with all would cost their square.
#define MAX_SMOOTHED 256

typedef struct Smoother {
	const knTriangles* in;
	double cosine;      // of the crease
	knVec3* faces;      // [triangles] unit normals; zero: no area
	int* firstOfVertex; // [vertices + 1] range of `corners`
	int* corners;       // [3 triangles] corner 3t + k, by vertex
	int* outOfCorner;   // [3 triangles] the surface's vertex
	int* sourceOfOut;   // [3 triangles] and of that one, the corner it came from
	knVec3* normals;    // [3 triangles] of the surface's vertices
	int outCount;
	int triangleCount; // with an area
} Smoother;

static int vertexOf(const Smoother* smoother, int corner) {
	const knTriangle* t = &smoother->in->triangles[corner / 3];
	int k = corner % 3;
	return k == 0 ? t->a : (k == 1 ? t->b : t->c);
}

static knVec3 placeOf(const Smoother* smoother, int corner) {
	return smoother->in->vertices[vertexOf(smoother, corner)];
}

static void releaseSmoother(Smoother* smoother, const knAllocator* allocator) {
	size_t corners = 3 * (size_t)smoother->in->triangleCount;
	knFree(allocator, smoother->faces, sizeof(knVec3) * (size_t)smoother->in->triangleCount);
	knFree(allocator, smoother->firstOfVertex, sizeof(int) * ((size_t)smoother->in->vertexCount + 1));
	knFree(allocator, smoother->corners, sizeof(int) * corners);
	knFree(allocator, smoother->outOfCorner, sizeof(int) * corners);
	knFree(allocator, smoother->sourceOfOut, sizeof(int) * corners);
	knFree(allocator, smoother->normals, sizeof(knVec3) * corners);
}

static bool createSmoother(Smoother* smoother, const knTriangles* in, double crease,
						   const knAllocator* allocator) {
	size_t corners = 3 * (size_t)in->triangleCount;
	*smoother = (Smoother){
		.in = in,
		.cosine = knCos(crease),
		.faces = knAllocArray(allocator, (size_t)in->triangleCount, sizeof(knVec3)),
		.firstOfVertex = knAllocZero(allocator, sizeof(int) * ((size_t)in->vertexCount + 1)),
		.corners = knAllocArray(allocator, corners, sizeof(int)),
		.outOfCorner = knAllocArray(allocator, corners, sizeof(int)),
		.sourceOfOut = knAllocArray(allocator, corners, sizeof(int)),
		.normals = knAllocArray(allocator, corners, sizeof(knVec3)),
	};
	bool ok = smoother->faces != NULL && smoother->firstOfVertex != NULL && smoother->corners != NULL &&
			  smoother->outOfCorner != NULL && smoother->sourceOfOut != NULL && smoother->normals != NULL;
	if (!ok) {
		releaseSmoother(smoother, allocator);
	}
	return ok;
}

static void faceNormals(Smoother* smoother) {
	for (int t = 0; t < smoother->in->triangleCount; ++t) {
		knVec3 a = placeOf(smoother, 3 * t), b = placeOf(smoother, 3 * t + 1),
			   c = placeOf(smoother, 3 * t + 2);
		smoother->faces[t] = knNormalize(knCross(knSub(b, a), knSub(c, a)));
		smoother->triangleCount += knLengthSquared(smoother->faces[t]) > 0.0;
	}
}

// Corners by vertex: a counting sort, stable.
static void sortCorners(Smoother* smoother) {
	int cornerCount = 3 * smoother->in->triangleCount;
	int* first = smoother->firstOfVertex;
	for (int c = 0; c < cornerCount; ++c) {
		first[vertexOf(smoother, c) + 1] += 1;
	}
	for (int v = 0; v < smoother->in->vertexCount; ++v) {
		first[v + 1] += first[v];
	}
	for (int c = 0; c < cornerCount; ++c) {
		smoother->corners[first[vertexOf(smoother, c)]++] = c;
	}
	// each range now begins where the one before it should: back by one
	memmove(first + 1, first, sizeof(int) * (size_t)smoother->in->vertexCount);
	first[0] = 0;
}

static double angleAt(const Smoother* smoother, int corner) {
	int t = corner / 3, k = corner % 3;
	knVec3 at = placeOf(smoother, corner);
	knVec3 u = knNormalize(knSub(placeOf(smoother, 3 * t + (k + 1) % 3), at));
	knVec3 v = knNormalize(knSub(placeOf(smoother, 3 * t + (k + 2) % 3), at));
	return knAcos(knDot(u, v));
}

// Of a corner whose vertex has the corners [first, end).
static knVec3 cornerNormal(const Smoother* smoother, int corner, int first, int end) {
	knVec3 own = smoother->faces[corner / 3], sum = knZero3();
	if (end - first > MAX_SMOOTHED) {
		return own;
	}
	for (int k = first; k < end; ++k) {
		int other = smoother->corners[k];
		knVec3 face = smoother->faces[other / 3];
		if (other / 3 == corner / 3 || knDot(own, face) > smoother->cosine) {
			sum = knMulAdd(sum, angleAt(smoother, other), face);
		}
	}
	knVec3 mean = knNormalize(sum);
	return knLengthSquared(mean) > 0.0 ? mean : own;
}

// The surface's vertex for this corner: one of those that its vertex already has, from `firstOut` on, or a new
// one.
static int outVertex(Smoother* smoother, int corner, knVec3 normal, int firstOut) {
	int searched =
		smoother->outCount - firstOut > MAX_SMOOTHED ? MAX_SMOOTHED : smoother->outCount - firstOut;
	for (int k = smoother->outCount - searched; k < smoother->outCount; ++k) {
		if (knDot(smoother->normals[k], normal) > 1.0 - 1e-12) {
			return k;
		}
	}
	smoother->normals[smoother->outCount] = normal;
	smoother->sourceOfOut[smoother->outCount] = corner;
	return smoother->outCount++;
}

static void splitVertices(Smoother* smoother) {
	for (int v = 0; v < smoother->in->vertexCount; ++v) {
		int first = smoother->firstOfVertex[v], end = smoother->firstOfVertex[v + 1];
		int firstOut = smoother->outCount;
		for (int k = first; k < end; ++k) {
			int corner = smoother->corners[k];
			if (knLengthSquared(smoother->faces[corner / 3]) > 0.0) {
				knVec3 normal = cornerNormal(smoother, corner, first, end);
				smoother->outOfCorner[corner] = outVertex(smoother, corner, normal, firstOut);
			}
		}
	}
}

static void fillSurface(const Smoother* smoother, knSurface* surface) {
	for (int v = 0; v < surface->vertexCount; ++v) {
		surface->vertices[v] = placeOf(smoother, smoother->sourceOfOut[v]);
		surface->normals[v] = smoother->normals[v];
	}
	int next = 0;
	for (int t = 0; t < smoother->in->triangleCount; ++t) {
		if (knLengthSquared(smoother->faces[t]) > 0.0) {
			const int* out = &smoother->outOfCorner[3 * t];
			surface->triangles[next++] = (knTriangle){ out[0], out[1], out[2] };
		}
	}
}

knStatus knSurface_OfTriangles(const knTriangles* triangles, double crease, const knAllocator* allocator,
							   knSurface* surface, knError* error) {
	*surface = (knSurface){ .allocator = *allocator };
	if (triangles->triangleCount == 0) {
		return KN_OK;
	}
	Smoother smoother;
	if (triangles->triangleCount > INT32_MAX / 3 ||
		!createSmoother(&smoother, triangles, crease, allocator)) {
		return knError_Set(error, KN_NO_MEMORY, "surface", "out of memory for a surface of %d triangles",
						   triangles->triangleCount);
	}
	faceNormals(&smoother);
	sortCorners(&smoother);
	splitVertices(&smoother);
	knStatus status = knSurface_Create(surface, smoother.outCount, smoother.triangleCount, allocator, error);
	if (status == KN_OK) {
		fillSurface(&smoother, surface);
	}
	releaseSmoother(&smoother, allocator);
	return status;
}
