// Drawn surfaces of the primitives and of compounds; those of triangles are in surface_triangles.c.
//
// Everything round is turned on a lathe: rings of n vertices about z, from the lowest to the highest; a ring of
// radius zero is one vertex. Where the surface has an edge, two rings lie in one place with different normals
// and no band between them, so that the triangles stay watertight. Vertices lie on the true surface, and a
// chord that spans the angle 2a lies within r (1 - cos a) of it.
#include "geom/surface.h"

#include "geom/geom.h"

#define MIN_SEGMENTS 8
#define MAX_SEGMENTS 512
#define DEFAULT_TOLERANCE 0.005 // of the radius

knStatus knSurface_Create(knSurface* surface, int vertexCount, int triangleCount,
						  const knAllocator* allocator, knError* error) {
	knSurface made = {
		.vertexCount = vertexCount,
		.vertices = knAllocArray(allocator, (size_t)vertexCount, sizeof(knVec3)),
		.normals = knAllocArray(allocator, (size_t)vertexCount, sizeof(knVec3)),
		.triangleCount = triangleCount,
		.triangles = knAllocArray(allocator, (size_t)triangleCount, sizeof(knTriangle)),
		.allocator = *allocator,
	};
	*surface = made;
	bool ok = (vertexCount == 0 || (made.vertices != NULL && made.normals != NULL)) &&
			  (triangleCount == 0 || made.triangles != NULL);
	if (!ok) {
		knSurface_Free(surface);
		return knError_Set(error, KN_NO_MEMORY, "surface", "out of memory for a surface of %d triangles",
						   triangleCount);
	}
	return KN_OK;
}

void knSurface_Free(knSurface* surface) {
	knFree(&surface->allocator, surface->vertices, sizeof(knVec3) * (size_t)surface->vertexCount);
	knFree(&surface->allocator, surface->normals, sizeof(knVec3) * (size_t)surface->vertexCount);
	knFree(&surface->allocator, surface->triangles, sizeof(knTriangle) * (size_t)surface->triangleCount);
	*surface = (knSurface){ .allocator = surface->allocator };
}

// Where the next vertex and triangle of a surface go.
typedef struct Pen {
	knSurface* surface;
	int vertex, triangle;
} Pen;

static void putVertex(Pen* pen, knVec3 position, knVec3 normal) {
	pen->surface->vertices[pen->vertex] = position;
	pen->surface->normals[pen->vertex] = normal;
	pen->vertex += 1;
}

static void putTriangle(Pen* pen, int a, int b, int c) {
	pen->surface->triangles[pen->triangle++] = (knTriangle){ a, b, c };
}

// --- the lathe -------------------------------------------------------------------------------------------

typedef struct Ring {
	double radius, z;
	double out, up; // the normal, away from the axis and along it
	bool joined;    // a band of triangles leads to the next ring
} Ring;

#define MAX_RINGS (MAX_SEGMENTS / 2 + 4)

typedef struct Profile {
	int segments; // around the axis
	int ringCount;
	Ring rings[MAX_RINGS]; // from below
} Profile;

static void addRing(Profile* profile, double radius, double z, double out, double up, bool joined) {
	KN_ASSERT(profile->ringCount < MAX_RINGS);
	profile->rings[profile->ringCount++] = (Ring){ radius, z, out, up, joined };
}

// Rings of a sphere's part between the quarters `first` and `last`: 0 the south pole, 1 the equator, 2 the
// north pole.
static void addArc(Profile* profile, double radius, double z, int first, int last) {
	int perQuarter = profile->segments / 4;
	for (int k = first * perQuarter; k <= last * perQuarter; ++k) {
		bool pole = k == 0 || k == 2 * perQuarter;
		double out, up;
		knSinCos(KN_PI * k / (2 * perQuarter), &out, &up);
		out = pole ? 0.0 : out;
		addRing(profile, radius * out, z - radius * up, out, -up, k < last * perQuarter);
	}
}

// Segments around a circle of this radius within `tolerance`; a multiple of four.
static int segmentsFor(double radius, double tolerance) {
	double half = knAcos(1.0 - tolerance / radius);
	double count = half > 0.0 ? KN_PI / half : MAX_SEGMENTS;
	count = knClamp(-4.0 * floor(-0.25 * count), MIN_SEGMENTS, MAX_SEGMENTS);
	return (int)count;
}

static void countLathe(const Profile* profile, int* vertexCount, int* triangleCount) {
	*vertexCount = *triangleCount = 0;
	for (int r = 0; r < profile->ringCount; ++r) {
		const Ring* ring = &profile->rings[r];
		*vertexCount += ring->radius > 0.0 ? profile->segments : 1;
		if (ring->joined) {
			bool pole = ring->radius == 0.0 || ring[1].radius == 0.0;
			*triangleCount += pole ? profile->segments : 2 * profile->segments;
		}
	}
}

// The band between a ring, which begins at vertex `low`, and the next, which begins at `high`.
static void putBand(Pen* pen, const Ring* ring, int segments, int low, int high) {
	for (int k = 0; k < segments; ++k) {
		int next = (k + 1) % segments;
		if (ring[1].radius == 0.0) {
			putTriangle(pen, low + k, low + next, high);
		} else if (ring->radius == 0.0) {
			putTriangle(pen, low, high + next, high + k);
		} else {
			putTriangle(pen, low + k, low + next, high + next);
			putTriangle(pen, low + k, high + next, high + k);
		}
	}
}

static knStatus turn(const Profile* profile, const knAllocator* allocator, knSurface* surface,
					 knError* error) {
	int vertexCount, triangleCount;
	countLathe(profile, &vertexCount, &triangleCount);
	knStatus status = knSurface_Create(surface, vertexCount, triangleCount, allocator, error);
	if (status != KN_OK) {
		return status;
	}
	Pen pen = { surface, 0, 0 };
	int segments = profile->segments;
	for (int r = 0; r < profile->ringCount; ++r) {
		const Ring* ring = &profile->rings[r];
		int low = pen.vertex, count = ring->radius > 0.0 ? segments : 1;
		for (int k = 0; k < count; ++k) {
			double sine, cosine;
			knSinCos(2.0 * KN_PI * k / segments, &sine, &cosine);
			putVertex(&pen, knV3(ring->radius * cosine, ring->radius * sine, ring->z),
					  knV3(ring->out * cosine, ring->out * sine, ring->up));
		}
		if (ring->joined) {
			putBand(&pen, ring, segments, low, pen.vertex);
		}
	}
	KN_ASSERT(pen.vertex == vertexCount && pen.triangle == triangleCount);
	return KN_OK;
}

// --- one function a kind ---------------------------------------------------------------------------------

typedef struct Request {
	knVec3 size;
	double tolerance; // 0: by size
	const knAllocator* allocator;
	knError* error;
} Request;

static double toleranceFor(const Request* request, double radius) {
	return request->tolerance > 0.0 ? request->tolerance : DEFAULT_TOLERANCE * radius;
}

// Of an ellipsoid, also the sphere: a unit sphere, stretched. A face of a sphere deviates along and around, so
// each way gets half of the tolerance.
static knStatus ellipsoidOf(const Request* request, knVec3 radii, knSurface* surface) {
	double largest = knMax(radii.x, knMax(radii.y, radii.z));
	Profile profile = { .segments = segmentsFor(largest, 0.5 * toleranceFor(request, largest)) };
	addArc(&profile, 1.0, 0.0, 0, 2);
	knStatus status = turn(&profile, request->allocator, surface, request->error);
	for (int v = 0; v < surface->vertexCount; ++v) {
		knVec3 n = surface->normals[v];
		surface->vertices[v] = knMulComponents(radii, surface->vertices[v]);
		// the gradient of sum (x_i / r_i)^2; by the largest radius, so that nothing overflows
		surface->normals[v] = knNormalize(
			knV3(n.x * (largest / radii.x), n.y * (largest / radii.y), n.z * (largest / radii.z)));
	}
	return status;
}

static knStatus sphereSurface(const Request* request, knSurface* surface) {
	double r = request->size.x;
	return ellipsoidOf(request, knV3(r, r, r), surface);
}

static knStatus ellipsoidSurface(const Request* request, knSurface* surface) {
	return ellipsoidOf(request, request->size, surface);
}

static knStatus capsuleSurface(const Request* request, knSurface* surface) {
	double radius = request->size.x, half = request->size.y;
	Profile profile = { .segments = segmentsFor(radius, 0.5 * toleranceFor(request, radius)) };
	addArc(&profile, radius, -half, 0, 1);
	// the straight part, unless there is none
	profile.rings[profile.ringCount - 1].joined = half > 0.0;
	addArc(&profile, radius, half, 1, 2);
	return turn(&profile, request->allocator, surface, request->error);
}

static knStatus cylinderSurface(const Request* request, knSurface* surface) {
	double radius = request->size.x, half = request->size.y;
	Profile profile = { .segments = segmentsFor(radius, toleranceFor(request, radius)) };
	addRing(&profile, 0.0, -half, 0.0, -1.0, true);
	addRing(&profile, radius, -half, 0.0, -1.0, false);
	addRing(&profile, radius, -half, 1.0, 0.0, true);
	addRing(&profile, radius, half, 1.0, 0.0, false);
	addRing(&profile, radius, half, 0.0, 1.0, true);
	addRing(&profile, 0.0, half, 0.0, 1.0, false);
	return turn(&profile, request->allocator, surface, request->error);
}

// A rectangle about `center`, spanned by u and v; its normal is u x v.
static void putRectangle(Pen* pen, knVec3 center, knVec3 u, knVec3 v, knVec3 normal) {
	int first = pen->vertex;
	putVertex(pen, knSub(knSub(center, u), v), normal);
	putVertex(pen, knSub(knAdd(center, u), v), normal);
	putVertex(pen, knAdd(knAdd(center, u), v), normal);
	putVertex(pen, knAdd(knSub(center, u), v), normal);
	putTriangle(pen, first, first + 1, first + 2);
	putTriangle(pen, first, first + 2, first + 3);
}

static knStatus boxSurface(const Request* request, knSurface* surface) {
	knStatus status = knSurface_Create(surface, 24, 12, request->allocator, request->error);
	if (status != KN_OK) {
		return status;
	}
	Pen pen = { surface, 0, 0 };
	for (int axis = 0; axis < 3; ++axis) {
		int next = (axis + 1) % 3, last = (axis + 2) % 3;
		knVec3 normal = knZero3(), u = knZero3(), v = knZero3();
		knSetComponent(&normal, axis, 1.0);
		knSetComponent(&u, next, knComponent(request->size, next));
		knSetComponent(&v, last, knComponent(request->size, last));
		knVec3 center = knMulComponents(normal, request->size);
		putRectangle(&pen, center, u, v, normal);
		putRectangle(&pen, knNeg(center), v, u, knNeg(normal));
	}
	return KN_OK;
}

static knStatus planeSurface(const Request* request, knSurface* surface) {
	knStatus status = knSurface_Create(surface, 4, 2, request->allocator, request->error);
	if (status == KN_OK) {
		Pen pen = { surface, 0, 0 };
		double half = 0.5 * KN_PLANE_DRAWN;
		putRectangle(&pen, knZero3(), knV3(half, 0.0, 0.0), knV3(0.0, half, 0.0), knV3(0.0, 0.0, 1.0));
	}
	return status;
}

typedef knStatus PrimitiveFn(const Request* request, knSurface* surface);

static PrimitiveFn* const primitives[KN_GEOM_KIND_COUNT] = {
	[KN_GEOM_SPHERE] = sphereSurface,     [KN_GEOM_CAPSULE] = capsuleSurface,
	[KN_GEOM_BOX] = boxSurface,           [KN_GEOM_PLANE] = planeSurface,
	[KN_GEOM_CYLINDER] = cylinderSurface, [KN_GEOM_ELLIPSOID] = ellipsoidSurface,
};

knStatus knSurface_OfPrimitive(knGeomKind kind, knVec3 size, double tolerance, const knAllocator* allocator,
							   knSurface* surface, knError* error) {
	KN_ASSERT((unsigned)kind < KN_GEOM_KIND_COUNT && primitives[kind] != NULL);
	*surface = (knSurface){ .allocator = *allocator };
	Request request = { size, tolerance, allocator, error };
	return primitives[kind](&request, surface);
}

// --- any geometry ----------------------------------------------------------------------------------------

double knSurface_Crease(knGeomKind kind) {
	return kind == KN_GEOM_HULL ? KN_CREASE_HULL : KN_CREASE_MESH;
}

// A geometry that is no compound.
static knStatus partSurface(const knGeom* geom, double tolerance, const knAllocator* allocator,
							knSurface* surface, knError* error) {
	if (primitives[geom->kind] != NULL) {
		return knSurface_OfPrimitive(geom->kind, geom->size, tolerance, allocator, surface, error);
	}
	knTriangles triangles;
	triangles.vertices = knGeom_Vertices(geom, &triangles.vertexCount);
	triangles.triangles = knGeom_Triangles(geom, &triangles.triangleCount);
	return knSurface_OfTriangles(&triangles, knSurface_Crease(geom->kind), allocator, surface, error);
}

static void putPart(Pen* pen, const knSurface* part, knFrame frame) {
	int first = pen->vertex;
	for (int v = 0; v < part->vertexCount; ++v) {
		putVertex(pen, knPoint(frame, part->vertices[v]), knRotate(frame.q, part->normals[v]));
	}
	for (int t = 0; t < part->triangleCount; ++t) {
		knTriangle corner = part->triangles[t];
		putTriangle(pen, first + corner.a, first + corner.b, first + corner.c);
	}
}

// Surfaces of all children, into `parts`; those made so far when it fails.
static knStatus childSurfaces(const knGeom* geom, double tolerance, const knAllocator* allocator,
							  knSurface* parts, knError* error) {
	int64_t vertices = 0, triangles = 0;
	for (int i = 0; i < geom->childCount; ++i) {
		knStatus status = partSurface(geom->children[i].geom, tolerance, allocator, &parts[i], error);
		if (status != KN_OK) {
			return status;
		}
		vertices += parts[i].vertexCount;
		triangles += parts[i].triangleCount;
		if (vertices > INT32_MAX || triangles > INT32_MAX) {
			return knError_Set(error, KN_LIMIT, "compound", "the compound's surface has too many triangles");
		}
	}
	return KN_OK;
}

static knStatus compoundSurface(const knGeom* geom, double tolerance, const knAllocator* allocator,
								knSurface* surface, knError* error) {
	size_t size = sizeof(knSurface) * (size_t)geom->childCount;
	knSurface* parts = knAllocZero(allocator, size);
	if (parts == NULL) {
		return knError_Set(error, KN_NO_MEMORY, "compound", "out of memory for the surface of a compound");
	}
	knStatus status = childSurfaces(geom, tolerance, allocator, parts, error);
	int vertexCount = 0, triangleCount = 0;
	for (int i = 0; i < geom->childCount && status == KN_OK; ++i) {
		vertexCount += parts[i].vertexCount;
		triangleCount += parts[i].triangleCount;
	}
	if (status == KN_OK) {
		status = knSurface_Create(surface, vertexCount, triangleCount, allocator, error);
	}
	Pen pen = { surface, 0, 0 };
	for (int i = 0; i < geom->childCount; ++i) {
		if (status == KN_OK) {
			putPart(&pen, &parts[i], geom->children[i].frame);
		}
		knSurface_Free(&parts[i]);
	}
	knFree(allocator, parts, size);
	return status;
}

knStatus knGeom_Surface(const knGeom* geom, double tolerance, const knAllocator* allocator,
						knSurface* surface, knError* error) {
	KN_ASSERT(geom != NULL && surface != NULL);
	if (geom == NULL || surface == NULL) {
		return knError_Set(error, KN_BAD_ARGUMENT, "knGeom_Surface", "needs a geometry and a surface");
	}
	knAllocator source = allocator != NULL ? *allocator : knAllocator_Default();
	*surface = (knSurface){ .allocator = source };
	if (!(tolerance >= 0.0)) {
		return knError_Set(error, KN_BAD_ARGUMENT, "knGeom_Surface",
						   "the tolerance is %g; it must not be negative", tolerance);
	}
	return geom->kind == KN_GEOM_COMPOUND ? compoundSurface(geom, tolerance, &source, surface, error)
										  : partSurface(geom, tolerance, &source, surface, error);
}
