// Closed meshes from tapered rods (blob.h), in two steps.
//
//   surface   marching tetrahedra: each cube of a grid is cut into six tetrahedra around its long diagonal (Kuhn); a tetrahedron
//             with corners of both signs holds one triangle or two. Vertices lie on edges of the grid and are shared by all
//             tetrahedra around the edge, so the surface is closed, whatever the function does
//   thinning  edges are collapsed, short ones first, as long as the surface stays a manifold (the edge's ends have exactly two
//             common neighbours) and no triangle turns over; the new vertex is put back onto the surface
#include "blob.h"

#include <string.h>

#include "core/array.h"
#include "core/sort.h"

#define CELL_OVER_RADIUS 0.8 // a finer grid than the thinnest rod
#define RAW_OVER_TARGET 1.5
#define TRIANGLES_PER_CELL 5.5 // that marching tetrahedra leave on a square of the grid's size
#define CLAMP 0.12 // vertices keep away from the ends of their edges, so that no triangle is a sliver
#define FIELD_OVER_RADIUS 0.05 // tolerance of the distance field over the thinnest rod, and
#define FIELD_OVER_SIZE 1e-3   // over the whole, whichever is larger
#define LEAST_TURN 0.3         // cosine between a triangle's normals before and after a collapse

static double partValue(const knBlobPart* part, knVec3 point) {
	knVec3 along = knSub(part->b, part->a), from = knSub(point, part->a);
	double length = knLengthSquared(along);
	double t = length > 0.0 ? knClamp(knDot(from, along) / length, 0.0, 1.0) : 0.0;
	return knDistance(from, knScale(t, along)) - (part->ra + t * (part->rb - part->ra));
}

// A minimum that rounds off where two values are within `blend` of each other.
static double smoothMin(double a, double b, double blend) {
	double overlap = blend - knAbs(a - b);
	return knMin(a, b) - (overlap > 0.0 ? 0.25 * overlap * overlap / blend : 0.0);
}

double knBlob_Value(const knBlob* blob, knVec3 point) {
	double value = partValue(&blob->parts[0], point);
	for (int i = 1; i < blob->count; ++i) {
		value = smoothMin(value, partValue(&blob->parts[i], point), blob->blend);
	}
	return value;
}

// The radius of the part that a point is nearest to.
static double radiusAt(const knBlob* blob, knVec3 point) {
	double nearest = 1e9, radius = 1.0;
	for (int i = 0; i < blob->count; ++i) {
		double value = partValue(&blob->parts[i], point);
		if (value < nearest) {
			nearest = value;
			radius = knMin(blob->parts[i].ra, blob->parts[i].rb);
		}
	}
	return radius;
}

// --- the mesh under construction --------------------------------------------------------------------------------

void knBlobMesh_Free(knBlobMesh* mesh) {
	knAllocator allocator = knAllocator_Default();
	knFree(&allocator, mesh->vertices, sizeof(knVec3) * (size_t)mesh->vertexCapacity);
	knFree(&allocator, mesh->triangles, sizeof(knTriangle) * (size_t)mesh->triangleCapacity);
	memset(mesh, 0, sizeof(*mesh));
}

// --- surface ----------------------------------------------------------------------------------------------------

typedef struct Grid {
	const knBlob* blob;
	knVec3 origin;
	double cell;
	int n[3];
	double* values;  // at the grid's points
	int32_t* vertex; // on the 7 edges that leave a point in positive directions; -1: none yet
	knBlobMesh* mesh;
	bool failed;
} Grid;

// Offsets 0..7 are corners of a cube: bit 0 x, bit 1 y, bit 2 z.
static int pointIndex(const Grid* grid, const int at[3], int corner) {
	int x = at[0] + (corner & 1), y = at[1] + (corner >> 1 & 1), z = at[2] + (corner >> 2);
	return (z * grid->n[1] + y) * grid->n[0] + x;
}

static knVec3 pointPlace(const Grid* grid, const int at[3], int corner) {
	return knMulAdd(grid->origin, grid->cell,
					knV3(at[0] + (corner & 1), at[1] + (corner >> 1 & 1), at[2] + (corner >> 2)));
}

// The vertex on the edge between two corners of a cube, where one's bits include the other's.
static int32_t edgeVertex(Grid* grid, const int at[3], int low, int high) {
	int direction = high ^ low;
	int32_t* slot = &grid->vertex[7 * pointIndex(grid, at, low) + direction - 1];
	if (*slot >= 0) {
		return *slot;
	}
	knBlobMesh* mesh = grid->mesh;
	knAllocator allocator = knAllocator_Default();
	if (!knArray_Reserve(&allocator, (void**)&mesh->vertices, &mesh->vertexCapacity, mesh->vertexCount,
						 mesh->vertexCount + 1, sizeof(knVec3))) {
		grid->failed = true;
		return 0;
	}
	double a = grid->values[pointIndex(grid, at, low)], b = grid->values[pointIndex(grid, at, high)];
	double t = knClamp(a / (a - b), CLAMP, 1.0 - CLAMP);
	mesh->vertices[mesh->vertexCount] = knLerp(pointPlace(grid, at, low), pointPlace(grid, at, high), t);
	*slot = mesh->vertexCount++;
	return *slot;
}

// Wound such that `inside` lies behind it.
static void addTriangle(Grid* grid, int32_t a, int32_t b, int32_t c, knVec3 inside) {
	knBlobMesh* mesh = grid->mesh;
	knAllocator allocator = knAllocator_Default();
	if (grid->failed || !knArray_Reserve(&allocator, (void**)&mesh->triangles, &mesh->triangleCapacity,
										 mesh->triangleCount, mesh->triangleCount + 1, sizeof(knTriangle))) {
		grid->failed = true;
		return;
	}
	const knVec3* v = mesh->vertices;
	knVec3 normal = knCross(knSub(v[b], v[a]), knSub(v[c], v[a]));
	bool outward = knDot(normal, knSub(inside, v[a])) < 0.0;
	mesh->triangles[mesh->triangleCount++] = outward ? (knTriangle){ a, b, c } : (knTriangle){ a, c, b };
}

static void cutTetrahedron(Grid* grid, const int at[3], const int corners[4]) {
	int in[4], out[4], inCount = 0, outCount = 0;
	for (int i = 0; i < 4; ++i) {
		if (grid->values[pointIndex(grid, at, corners[i])] < 0.0) {
			in[inCount++] = corners[i];
		} else {
			out[outCount++] = corners[i];
		}
	}
	if (inCount == 0 || outCount == 0) {
		return;
	}
	// corners of a tetrahedron lie on one path from 0 to 7, so the bits of the lower are among those of the higher
	int32_t crossing[2][3];
	int rows = inCount == 3 ? outCount : inCount, columns = 4 - rows;
	for (int i = 0; i < rows; ++i) {
		for (int k = 0; k < columns; ++k) {
			int p = inCount == 3 ? out[i] : in[i], q = inCount == 3 ? in[k] : out[k];
			crossing[i][k] = edgeVertex(grid, at, p < q ? p : q, p < q ? q : p);
		}
	}
	knVec3 inside = pointPlace(grid, at, in[0]);
	if (rows == 1) {
		addTriangle(grid, crossing[0][0], crossing[0][1], crossing[0][2], inside);
	} else {
		addTriangle(grid, crossing[0][0], crossing[0][1], crossing[1][1], inside);
		addTriangle(grid, crossing[0][0], crossing[1][1], crossing[1][0], inside);
	}
}

static void cutCube(Grid* grid, const int at[3]) {
	static const int tetrahedra[6][4] = { { 0, 1, 3, 7 }, { 0, 1, 5, 7 }, { 0, 2, 3, 7 },
										  { 0, 2, 6, 7 }, { 0, 4, 5, 7 }, { 0, 4, 6, 7 } };
	int negative = 0;
	for (int corner = 0; corner < 8; ++corner) {
		negative += grid->values[pointIndex(grid, at, corner)] < 0.0;
	}
	for (int t = 0; t < 6 && negative > 0 && negative < 8; ++t) {
		cutTetrahedron(grid, at, tetrahedra[t]);
	}
}

static double thinnestRadius(const knBlob* blob) {
	double thinnest = knMin(blob->parts[0].ra, blob->parts[0].rb);
	for (int i = 1; i < blob->count; ++i) {
		thinnest = knMin(thinnest, knMin(blob->parts[i].ra, blob->parts[i].rb));
	}
	return thinnest;
}

// Corners and about the area of the parts.
static void measure(const knBlob* blob, knAabb* box, double* area) {
	*box = (knAabb){ { 1e9, 1e9, 1e9 }, { -1e9, -1e9, -1e9 } };
	*area = 0.0;
	for (int i = 0; i < blob->count; ++i) {
		const knBlobPart* part = &blob->parts[i];
		double large = knMax(part->ra, part->rb), mean = 0.5 * (part->ra + part->rb);
		knVec3 r = knV3(large, large, large);
		box->lower = knMin3(box->lower, knSub(knMin3(part->a, part->b), r));
		box->upper = knMax3(box->upper, knAdd(knMax3(part->a, part->b), r));
		*area += 2.0 * KN_PI * mean * knDistance(part->a, part->b) + 4.0 * KN_PI * mean * mean;
	}
}

static bool sample(Grid* grid, knAabb box) {
	knAllocator allocator = knAllocator_Default();
	double margin = grid->blob->blend + 2.0 * grid->cell;
	grid->origin = knSub(box.lower, knV3(margin, margin, margin));
	knVec3 size = knAdd(knSub(box.upper, box.lower), knScale(2.0, knV3(margin, margin, margin)));
	for (int i = 0; i < 3; ++i) {
		grid->n[i] = (int)(knComponent(size, i) / grid->cell) + 2;
	}
	size_t points = (size_t)grid->n[0] * (size_t)grid->n[1] * (size_t)grid->n[2];
	grid->values = knAllocArray(&allocator, points, sizeof(double));
	grid->vertex = knAllocArray(&allocator, 7 * points, sizeof(int32_t));
	if (grid->values == NULL || grid->vertex == NULL) {
		return false;
	}
	memset(grid->vertex, 0xff, 7 * points * sizeof(int32_t));
	for (int z = 0; z < grid->n[2]; ++z) {
		for (int y = 0; y < grid->n[1]; ++y) {
			for (int x = 0; x < grid->n[0]; ++x) {
				int at[3] = { x, y, z };
				grid->values[pointIndex(grid, at, 0)] = knBlob_Value(grid->blob, pointPlace(grid, at, 0));
			}
		}
	}
	return true;
}

static bool makeSurface(const knBlob* blob, int triangles, knBlobMesh* mesh) {
	knAabb box;
	double thinnest = thinnestRadius(blob), area;
	measure(blob, &box, &area);
	double fine = sqrt(TRIANGLES_PER_CELL * area / (RAW_OVER_TARGET * triangles));
	Grid grid = { .blob = blob, .cell = knMin(CELL_OVER_RADIUS * thinnest, fine), .mesh = mesh };
	grid.failed = !sample(&grid, box);
	for (int z = 0; z + 1 < grid.n[2] && !grid.failed; ++z) {
		for (int y = 0; y + 1 < grid.n[1] && !grid.failed; ++y) {
			for (int x = 0; x + 1 < grid.n[0] && !grid.failed; ++x) {
				cutCube(&grid, (const int[3]){ x, y, z });
			}
		}
	}
	knAllocator allocator = knAllocator_Default();
	size_t points = (size_t)grid.n[0] * (size_t)grid.n[1] * (size_t)grid.n[2];
	knFree(&allocator, grid.values, points * sizeof(double));
	knFree(&allocator, grid.vertex, 7 * points * sizeof(int32_t));
	return !grid.failed;
}

// --- thinning ---------------------------------------------------------------------------------------------------

// Triangles around each vertex, made anew for each pass, and what the pass has touched.
typedef struct Fans {
	knArena arena;
	int32_t* first; // [vertexCount + 1]
	int32_t* item;  // triangles
	uint8_t* locked;
	int32_t* mark; // [vertexCount]
} Fans;

static bool makeFans(Fans* fans, const knBlobMesh* mesh) {
	knArena_Clear(&fans->arena);
	int n = mesh->vertexCount;
	fans->first = KN_SCRATCH_ZERO(&fans->arena, int32_t, n + 2);
	fans->item = KN_SCRATCH(&fans->arena, int32_t, 3 * mesh->triangleCount);
	fans->locked = KN_SCRATCH_ZERO(&fans->arena, uint8_t, n);
	fans->mark = KN_SCRATCH_ZERO(&fans->arena, int32_t, n);
	if (fans->arena.failed) {
		return false;
	}
	for (int t = 0; t < mesh->triangleCount; ++t) {
		const int32_t v[3] = { mesh->triangles[t].a, mesh->triangles[t].b, mesh->triangles[t].c };
		for (int k = 0; k < 3; ++k) {
			fans->first[v[k] + 2] += 1;
		}
	}
	for (int i = 2; i <= n + 1; ++i) {
		fans->first[i] += fans->first[i - 1];
	}
	for (int t = 0; t < mesh->triangleCount; ++t) {
		const int32_t v[3] = { mesh->triangles[t].a, mesh->triangles[t].b, mesh->triangles[t].c };
		for (int k = 0; k < 3; ++k) {
			fans->item[fans->first[v[k] + 1]++] = t;
		}
	}
	return true;
}

// Visits the neighbours of v: how many carry `mark`, and sets theirs to `set`. Each is seen from two triangles and counted once.
static int markNeighbours(Fans* fans, const knBlobMesh* mesh, int32_t v, int32_t mark, int32_t set) {
	int found = 0;
	for (int i = fans->first[v]; i < fans->first[v + 1]; ++i) {
		const knTriangle* t = &mesh->triangles[fans->item[i]];
		const int32_t around[3] = { t->a, t->b, t->c };
		for (int k = 0; k < 3; ++k) {
			if (around[k] != v) {
				found += fans->mark[around[k]] == mark;
				fans->mark[around[k]] = set;
			}
		}
	}
	return found;
}

static knVec3 triangleNormal(const knBlobMesh* mesh, const knTriangle* t, int32_t moved, knVec3 place) {
	knVec3 a = t->a == moved ? place : mesh->vertices[t->a], b = t->b == moved ? place : mesh->vertices[t->b];
	knVec3 c = t->c == moved ? place : mesh->vertices[t->c];
	return knCross(knSub(b, a), knSub(c, a));
}

static bool has(const knTriangle* t, int32_t v) {
	return t->a == v || t->b == v || t->c == v;
}

// No triangle around v, but for those that go, may turn over or lose its area when v moves to `place`.
static bool keepsShape(const Fans* fans, const knBlobMesh* mesh, int32_t v, int32_t other, knVec3 place) {
	for (int i = fans->first[v]; i < fans->first[v + 1]; ++i) {
		const knTriangle* t = &mesh->triangles[fans->item[i]];
		if (has(t, other)) {
			continue;
		}
		knVec3 before = triangleNormal(mesh, t, -1, place), after = triangleNormal(mesh, t, v, place);
		double both = knLength(before) * knLength(after);
		if (!(knDot(before, after) > LEAST_TURN * both) || !(knLength(after) > 0.02 * knLength(before))) {
			return false;
		}
	}
	return true;
}

// Towards the surface along the gradient.
static knVec3 ontoSurface(const knBlob* blob, knVec3 point, double step) {
	for (int i = 0; i < 2; ++i) {
		double value = knBlob_Value(blob, point), e = 1e-4 * step;
		knVec3 gradient;
		gradient.x = knBlob_Value(blob, knAdd(point, knV3(e, 0.0, 0.0))) - value;
		gradient.y = knBlob_Value(blob, knAdd(point, knV3(0.0, e, 0.0))) - value;
		gradient.z = knBlob_Value(blob, knAdd(point, knV3(0.0, 0.0, e))) - value;
		gradient = knScale(1.0 / e, gradient);
		double square = knMax(knLengthSquared(gradient), 0.1);
		point = knMulAdd(point, -value / square, gradient);
	}
	return point;
}

static void lockAround(Fans* fans, const knBlobMesh* mesh, int32_t v) {
	for (int i = fans->first[v]; i < fans->first[v + 1]; ++i) {
		const knTriangle* t = &mesh->triangles[fans->item[i]];
		fans->locked[t->a] = fans->locked[t->b] = fans->locked[t->c] = 1;
	}
}

// Puts b onto a; the two triangles between them lose their area and are dropped by compact.
static bool collapse(Fans* fans, const knBlob* blob, knBlobMesh* mesh, int32_t a, int32_t b, int32_t stamp) {
	if (fans->locked[a] || fans->locked[b]) {
		return false;
	}
	markNeighbours(fans, mesh, a, -1, stamp);
	int common = markNeighbours(fans, mesh, b, stamp, stamp + 1);
	knVec3 middle = knScale(0.5, knAdd(mesh->vertices[a], mesh->vertices[b]));
	middle = ontoSurface(blob, middle, knDistance(mesh->vertices[a], mesh->vertices[b]));
	if (common != 2 || !keepsShape(fans, mesh, a, b, middle) || !keepsShape(fans, mesh, b, a, middle)) {
		return false;
	}
	lockAround(fans, mesh, a);
	lockAround(fans, mesh, b);
	mesh->vertices[a] = middle;
	for (int i = fans->first[b]; i < fans->first[b + 1]; ++i) {
		knTriangle* t = &mesh->triangles[fans->item[i]];
		t->a = t->a == b ? a : t->a;
		t->b = t->b == b ? a : t->b;
		t->c = t->c == b ? a : t->c;
	}
	return true;
}

static void compact(knBlobMesh* mesh, int32_t* renamed) {
	int triangles = 0, vertices = 0;
	memset(renamed, 0xff, sizeof(int32_t) * (size_t)mesh->vertexCount);
	for (int t = 0; t < mesh->triangleCount; ++t) {
		knTriangle old = mesh->triangles[t];
		if (old.a != old.b && old.b != old.c && old.c != old.a) {
			mesh->triangles[triangles++] = old;
			renamed[old.a] = renamed[old.b] = renamed[old.c] = 0;
		}
	}
	for (int v = 0; v < mesh->vertexCount; ++v) {
		if (renamed[v] == 0) {
			renamed[v] = vertices;
			mesh->vertices[vertices++] = mesh->vertices[v];
		}
	}
	for (int t = 0; t < triangles; ++t) {
		knTriangle* triangle = &mesh->triangles[t];
		*triangle = (knTriangle){ renamed[triangle->a], renamed[triangle->b], renamed[triangle->c] };
	}
	mesh->triangleCount = triangles;
	mesh->vertexCount = vertices;
}

// Each edge once; keys sort by its length over the square root of the radius there, so that thin parts stay round.
static int listEdges(const knBlob* blob, const knBlobMesh* mesh, knKeyed* keys, knTriangle* edges) {
	int count = 0;
	for (int t = 0; t < mesh->triangleCount; ++t) {
		const int32_t v[4] = { mesh->triangles[t].a, mesh->triangles[t].b, mesh->triangles[t].c,
							   mesh->triangles[t].a };
		for (int k = 0; k < 3; ++k) {
			if (v[k] < v[k + 1]) {
				knVec3 a = mesh->vertices[v[k]], b = mesh->vertices[v[k + 1]];
				double length = knLengthSquared(knSub(a, b)) / radiusAt(blob, knScale(0.5, knAdd(a, b)));
				uint64_t bits;
				memcpy(&bits, &length, sizeof(bits)); // of numbers that are not negative, in their order
				edges[count] = (knTriangle){ v[k], v[k + 1], 0 };
				keys[count] = (knKeyed){ bits, (uint32_t)count };
				++count;
			}
		}
	}
	return count;
}

// Returns how many edges were collapsed, or -1 without memory. The shorter half of the edges is tried in each pass.
static int thinOnce(Fans* fans, const knBlob* blob, knBlobMesh* mesh, int target) {
	if (!makeFans(fans, mesh)) {
		return -1;
	}
	knKeyed* keys = KN_SCRATCH(&fans->arena, knKeyed, 3 * mesh->triangleCount);
	knTriangle* edges = KN_SCRATCH(&fans->arena, knTriangle, 3 * mesh->triangleCount);
	int32_t* renamed = KN_SCRATCH(&fans->arena, int32_t, mesh->vertexCount);
	if (fans->arena.failed) {
		return -1;
	}
	int count = listEdges(blob, mesh, keys, edges), done = 0, spare = (mesh->triangleCount - target) / 2;
	if (!knSort_Keys(keys, count, &fans->arena)) {
		return -1;
	}
	for (int i = 0; i < count && done < spare && (i < count / 2 || done == 0); ++i) {
		const knTriangle* edge = &edges[keys[i].value];
		done += collapse(fans, blob, mesh, edge->a, edge->b, 2 * i + 1);
	}
	compact(mesh, renamed);
	return done;
}

bool knBlob_Polygonise(const knBlob* blob, int triangles, knBlobMesh* mesh) {
	memset(mesh, 0, sizeof(*mesh));
	knAllocator allocator = knAllocator_Default();
	Fans fans = { 0 };
	knArena_Init(&fans.arena, &allocator);
	bool ok = makeSurface(blob, triangles, mesh);
	int done = ok ? 1 : -1;
	while (done > 0 && mesh->triangleCount > triangles + 1) {
		done = thinOnce(&fans, blob, mesh, triangles);
	}
	knArena_Free(&fans.arena);
	// those that no collapse has moved still lie where the grid's edges put them
	double step = thinnestRadius(blob);
	for (int i = 0; done >= 0 && i < mesh->vertexCount; ++i) {
		mesh->vertices[i] = ontoSurface(blob, mesh->vertices[i], step);
	}
	if (done < 0) {
		knBlobMesh_Free(mesh);
	}
	return done >= 0;
}

static double sizeOf(const knBlob* blob) {
	knAabb box;
	double area;
	measure(blob, &box, &area);
	return knDistance(box.lower, box.upper);
}

knGeom* knBlob_Geom(const knBlob* blob, int triangles, knError* error) {
	knBlobMesh mesh;
	if (!knBlob_Polygonise(blob, triangles, &mesh)) {
		knError_Set(error, KN_NO_MEMORY, NULL, "there is no memory for a mesh of %d triangles", triangles);
		return NULL;
	}
	knMeshDef def = knMeshDef_Default();
	def.vertices = mesh.vertices;
	def.vertexCount = mesh.vertexCount;
	def.triangles = mesh.triangles;
	def.triangleCount = mesh.triangleCount;
	def.tolerance = knMax(FIELD_OVER_RADIUS * thinnestRadius(blob), FIELD_OVER_SIZE * sizeOf(blob));
	knGeom* geom = knGeom_Mesh(&def, NULL, error);
	knBlobMesh_Free(&mesh);
	return geom;
}
