// From a user's triangles to a mesh that can be trusted: copied, welded, checked, oriented.
//
//   weld      vertices with equal coordinates become one; those of no triangle go
//   drop      triangles that name a vertex twice; those of three vertices in line stay for the topology only
//   close     a solid's edges belong to an even number of triangles each, or it is refused
//   orient    a solid's triangles that run the wrong way round are turned: where neighbours disagree, each
//             connected part is made consistent and its volume positive; else all are turned if the total
//             volume is negative (so that a consistent mesh may have cavities)
//
// An edge of four or more triangles is fine as long as half of them run each way: parts that touch there.
#include <stdio.h>
#include <string.h>

#include "core/sort.h"
#include "geom/geom.h"
#include "geom/mesh.h"

#define FLAT_TRIANGLE 1e-12 // height over longest side, below which a triangle has no area
#define NO_VOLUME 1e-12     // of the size cubed

static knStatus noMemory(knError* error) {
	return knError_Set(error, KN_NO_MEMORY, "mesh", "out of memory for a mesh");
}

// --- raw data --------------------------------------------------------------------------------------------

static knStatus checkDef(const knMeshDef* def, knError* error) {
	if (def->vertexCount < 3 || def->vertices == NULL || def->triangleCount < 1 || def->triangles == NULL) {
		return knError_Set(error, KN_BAD_DATA, "mesh",
						   "the mesh has %d vertices and %d triangles; it needs at least 3 and 1",
						   def->vertexCount, def->triangleCount);
	}
	if (def->triangleCount > KN_MESH_MAX_TRIANGLES) {
		return knError_Set(error, KN_LIMIT, "mesh", "the mesh has %d triangles; at most %d are possible",
						   def->triangleCount, KN_MESH_MAX_TRIANGLES);
	}
	if (!(def->tolerance >= 0.0) || !knIsFinite(def->tolerance)) {
		return knError_Set(error, KN_BAD_DATA, "mesh",
						   "the mesh has tolerance %g; it must be zero or positive", def->tolerance);
	}
	for (int i = 0; i < def->vertexCount; ++i) {
		knVec3 v = def->vertices[i];
		if (!knIsFinite3(v) || knMax(knAbs(v.x), knMax(knAbs(v.y), knAbs(v.z))) > KN_GEOM_MAX_SIZE) {
			return knError_Set(error, KN_BAD_DATA, "mesh",
							   "vertex %d of the mesh lies at (%g, %g, %g); it must be finite and within %g",
							   i, v.x, v.y, v.z, KN_GEOM_MAX_SIZE);
		}
	}
	for (int t = 0; t < def->triangleCount; ++t) {
		for (int k = 0; k < 3; ++k) {
			int v = knTriangle_Corner(&def->triangles[t], k);
			if (v < 0 || v >= def->vertexCount) {
				return knError_Set(error, KN_BAD_DATA, "mesh",
								   "triangle %d of the mesh names vertex %d of %d", t, v, def->vertexCount);
			}
		}
	}
	return KN_OK;
}

// --- welding ---------------------------------------------------------------------------------------------

static bool before(const void* a, const void* b, void* context) {
	const knVec3* vertices = context;
	int i = *(const int*)a, j = *(const int*)b;
	knVec3 p = vertices[i], q = vertices[j];
	return p.x != q.x ? p.x < q.x : (p.y != q.y ? p.y < q.y : (p.z != q.z ? p.z < q.z : i < j));
}

// For each vertex the first one at the same place; NULL when out of memory.
static int* findTwins(const knMeshDef* def, knArena* arena) {
	int* order = KN_SCRATCH(arena, int, def->vertexCount);
	int* first = KN_SCRATCH(arena, int, def->vertexCount);
	if (order == NULL || first == NULL) {
		return NULL;
	}
	for (int i = 0; i < def->vertexCount; ++i) {
		order[i] = i;
	}
	if (!knSort_Merge(order, def->vertexCount, sizeof(int), before, (void*)def->vertices, arena)) {
		return NULL;
	}
	for (int i = 0; i < def->vertexCount; ++i) {
		knVec3 v = def->vertices[order[i]], u = i > 0 ? def->vertices[order[i - 1]] : v;
		bool same = i > 0 && v.x == u.x && v.y == u.y && v.z == u.z;
		first[order[i]] = same ? first[order[i - 1]] : order[i];
	}
	return first;
}

static bool hasArea(const knVec3* vertices, knTriangle t) {
	knVec3 ab = knSub(vertices[t.b], vertices[t.a]), ac = knSub(vertices[t.c], vertices[t.a]);
	double longest = knMax(knLengthSquared(ab), knMax(knLengthSquared(ac), knLengthSquared(knSub(ac, ab))));
	return knLength(knCross(ab, ac)) > FLAT_TRIANGLE * longest;
}

// Numbers the vertices that are used in the order of the user's list, and fills `mesh`.
static bool copyWelded(knMesh* mesh, const knMeshDef* def, const int* first, knArena* arena) {
	int* number = KN_SCRATCH(arena, int, def->vertexCount);
	if (number == NULL) {
		return false;
	}
	memset(number, 0xff, (size_t)def->vertexCount * sizeof(int));
	int triangles = 0;
	for (int t = 0; t < def->triangleCount; ++t) {
		int a = first[def->triangles[t].a], b = first[def->triangles[t].b], c = first[def->triangles[t].c];
		if (a != b && b != c && c != a) {
			number[a] = number[b] = number[c] = 0;
			triangles += 1;
		}
	}
	for (int i = 0; i < def->vertexCount; ++i) {
		mesh->vertexCount += number[i] == 0;
	}
	mesh->triangleCount = triangles;
	mesh->vertices = knAllocArray(&mesh->allocator, (size_t)mesh->vertexCount, sizeof(knVec3));
	mesh->triangles = knAllocArray(&mesh->allocator, (size_t)triangles, sizeof(knTriangle));
	if (triangles > 0 && (mesh->vertices == NULL || mesh->triangles == NULL)) {
		return false;
	}
	int count = 0;
	for (int i = 0; i < def->vertexCount; ++i) {
		if (number[i] == 0) {
			number[i] = count;
			mesh->vertices[count++] = def->vertices[i];
		}
	}
	// two passes: triangles with an area first
	int out = 0;
	for (int pass = 0; pass < 2; ++pass) {
		for (int t = 0; t < def->triangleCount; ++t) {
			int a = first[def->triangles[t].a], b = first[def->triangles[t].b];
			int c = first[def->triangles[t].c];
			if (a == b || b == c || c == a) {
				continue;
			}
			knTriangle triangle = { number[a], number[b], number[c] };
			if (hasArea(mesh->vertices, triangle) == (pass == 0)) {
				mesh->triangles[out++] = triangle;
			}
		}
		mesh->faceCount = pass == 0 ? out : mesh->faceCount;
	}
	return true;
}

static knStatus measure(knMesh* mesh, knError* error) {
	if (mesh->faceCount == 0) {
		return knError_Set(error, KN_BAD_DATA, "mesh", "none of the mesh's triangles has an area");
	}
	mesh->bounds = knAabb_Empty();
	for (int i = 0; i < mesh->vertexCount; ++i) {
		mesh->bounds.lower = knMin3(mesh->bounds.lower, mesh->vertices[i]);
		mesh->bounds.upper = knMax3(mesh->bounds.upper, mesh->vertices[i]);
	}
	mesh->size = knDistance(mesh->bounds.lower, mesh->bounds.upper);
	if (mesh->size < KN_GEOM_MIN_SIZE) {
		return knError_Set(error, KN_BAD_DATA, "mesh", "the mesh is %g across; it must be at least %g",
						   mesh->size, KN_GEOM_MIN_SIZE);
	}
	return KN_OK;
}

// --- sides of triangles ----------------------------------------------------------------------------------

// Sides sorted by the two vertices that they join; `value` is 3 triangle + corner.
typedef struct Sides {
	knKeyed* items;
	int count;
} Sides;

static int startOf(const knMesh* mesh, uint32_t side) {
	return knTriangle_Corner(&mesh->triangles[side / 3], (int)(side % 3));
}

static int endOf(const knMesh* mesh, uint32_t side) {
	return knTriangle_Corner(&mesh->triangles[side / 3], (int)(side % 3 + 1) % 3);
}

static bool makeSides(const knMesh* mesh, Sides* sides, knArena* arena) {
	sides->count = 3 * mesh->triangleCount;
	sides->items = KN_SCRATCH(arena, knKeyed, sides->count);
	if (sides->items == NULL) {
		return false;
	}
	for (int i = 0; i < sides->count; ++i) {
		int a = startOf(mesh, (uint32_t)i), b = endOf(mesh, (uint32_t)i);
		uint64_t lower = (uint64_t)(a < b ? a : b), upper = (uint64_t)(a < b ? b : a);
		sides->items[i] = (knKeyed){ lower << 32 | upper, (uint32_t)i };
	}
	return knSort_Keys(sides->items, sides->count, arena);
}

static int groupEnd(const Sides* sides, int first) {
	int end = first + 1;
	while (end < sides->count && sides->items[end].key == sides->items[first].key) {
		++end;
	}
	return end;
}

// Sides that run one way less those that run the other way.
static int excess(const knMesh* mesh, const Sides* sides, int first, int end) {
	int sum = 0;
	for (int i = first; i < end; ++i) {
		uint32_t side = sides->items[i].value;
		sum += startOf(mesh, side) < endOf(mesh, side) ? 1 : -1;
	}
	return sum;
}

// Edges with a fault: how many, and the first.
typedef struct Faults {
	int count;
	knVec3 from, to;
} Faults;

static void addFault(const knMesh* mesh, const Sides* sides, int first, Faults* faults) {
	if (faults->count++ == 0) {
		faults->from = mesh->vertices[startOf(mesh, sides->items[first].value)];
		faults->to = mesh->vertices[endOf(mesh, sides->items[first].value)];
	}
}

static Faults findFaults(const knMesh* mesh, const Sides* sides, bool open) {
	Faults faults = { 0 };
	for (int first = 0, end; first < sides->count; first = end) {
		end = groupEnd(sides, first);
		if (open ? (end - first) % 2 != 0 : excess(mesh, sides, first, end) != 0) {
			addFault(mesh, sides, first, &faults);
		}
	}
	return faults;
}

// --- orientation -----------------------------------------------------------------------------------------

static void turn(knMesh* mesh, int triangle) {
	knTriangle* t = &mesh->triangles[triangle];
	int b = t->b;
	t->b = t->c;
	t->c = b;
}

// Neighbours across edges of exactly two triangles, [3 triangle + corner]: triangle and whether they disagree.
typedef struct Neighbours {
	int* triangle; // -1: none
	uint8_t* disagrees;
} Neighbours;

static bool findNeighbours(const knMesh* mesh, const Sides* sides, Neighbours* out, knArena* arena) {
	out->triangle = KN_SCRATCH(arena, int, sides->count);
	out->disagrees = KN_SCRATCH_ZERO(arena, uint8_t, sides->count);
	if (out->triangle == NULL || out->disagrees == NULL) {
		return false;
	}
	memset(out->triangle, 0xff, (size_t)sides->count * sizeof(int));
	for (int first = 0, end; first < sides->count; first = end) {
		end = groupEnd(sides, first);
		if (end - first == 2) {
			uint32_t s = sides->items[first].value, r = sides->items[first + 1].value;
			out->triangle[s] = (int)(r / 3);
			out->triangle[r] = (int)(s / 3);
			out->disagrees[s] = out->disagrees[r] = startOf(mesh, s) == startOf(mesh, r);
		}
	}
	return true;
}

// Makes each connected part consistent with its first triangle, and its volume positive. A part is a stretch
// of `queue`.
static bool orientParts(knMesh* mesh, const Sides* sides, knArena* arena) {
	Neighbours neighbours;
	int* queue = KN_SCRATCH(arena, int, mesh->triangleCount);
	int8_t* turned = KN_SCRATCH(arena, int8_t, mesh->triangleCount);
	knTriangle* part = KN_SCRATCH(arena, knTriangle, mesh->triangleCount);
	if (queue == NULL || turned == NULL || part == NULL || !findNeighbours(mesh, sides, &neighbours, arena)) {
		return false;
	}
	memset(turned, 0xff, (size_t)mesh->triangleCount);
	int queued = 0;
	for (int seed = 0; seed < mesh->triangleCount; ++seed) {
		if (turned[seed] >= 0) {
			continue;
		}
		int begin = queued;
		turned[seed] = 0;
		queue[queued++] = seed;
		for (int head = begin; head < queued; ++head) {
			for (int k = 0; k < 3; ++k) {
				int side = 3 * queue[head] + k, other = neighbours.triangle[side];
				if (other >= 0 && turned[other] < 0) {
					turned[other] = (int8_t)(turned[queue[head]] ^ neighbours.disagrees[side]);
					queue[queued++] = other;
				}
			}
		}
		for (int i = begin; i < queued; ++i) {
			if (turned[queue[i]] == 1) {
				turn(mesh, queue[i]);
			}
			part[i - begin] = mesh->triangles[queue[i]];
		}
		if (knMesh_Volume(mesh->vertices, part, queued - begin) < 0.0) {
			for (int i = begin; i < queued; ++i) {
				turn(mesh, queue[i]);
			}
		}
	}
	return true;
}

static knStatus closeAndOrient(knMesh* mesh, knArena* arena, knError* error) {
	Sides sides;
	if (!makeSides(mesh, &sides, arena)) {
		return noMemory(error);
	}
	Faults open = findFaults(mesh, &sides, true);
	if (open.count > 0) {
		return knError_Set(
			error, KN_BAD_DATA, "mesh",
			"the mesh is open: %d of its edges belong to an odd number of triangles, the first "
			"from (%g, %g, %g) to (%g, %g, %g); close it, or make it a surface (solid = false)",
			open.count, open.from.x, open.from.y, open.from.z, open.to.x, open.to.y, open.to.z);
	}
	Faults wrong = findFaults(mesh, &sides, false);
	if (wrong.count > 0) {
		// turning a triangle renames its sides
		if (!orientParts(mesh, &sides, arena) || !makeSides(mesh, &sides, arena)) {
			return noMemory(error);
		}
		wrong = findFaults(mesh, &sides, false);
	}
	if (wrong.count > 0) {
		return knError_Set(error, KN_BAD_DATA, "mesh",
						   "the mesh has no inside: across %d of its edges triangles cannot agree which way "
						   "round they run, the first from (%g, %g, %g) to (%g, %g, %g)",
						   wrong.count, wrong.from.x, wrong.from.y, wrong.from.z, wrong.to.x, wrong.to.y,
						   wrong.to.z);
	}
	double volume = knMesh_Volume(mesh->vertices, mesh->triangles, mesh->triangleCount);
	if (knAbs(volume) <= NO_VOLUME * mesh->size * mesh->size * mesh->size) {
		return knError_Set(error, KN_BAD_DATA, "mesh", "the mesh encloses no volume (%g)", volume);
	}
	for (int t = 0; volume < 0.0 && t < mesh->triangleCount; ++t) {
		turn(mesh, t);
	}
	return KN_OK;
}

// --- order -----------------------------------------------------------------------------------------------

// The bits of 0 <= x < 2^21, two zeros between them.
static uint64_t spread(uint64_t x) {
	x = (x | x << 32) & 0x1f00000000ffffu;
	x = (x | x << 16) & 0x1f0000ff0000ffu;
	x = (x | x << 8) & 0x100f00f00f00f00fu;
	x = (x | x << 4) & 0x10c30c30c30c30c3u;
	return (x | x << 2) & 0x1249249249249249u;
}

static uint64_t placeOnCurve(const knMesh* mesh, int triangle) {
	knVec3 p[3];
	knMesh_Corners(mesh, triangle, p);
	knVec3 sum = knSub(knAdd(p[0], knAdd(p[1], p[2])), knScale(3.0, mesh->bounds.lower));
	double scale = 2097151.0 / (3.0 * mesh->size); // 2^21 - 1
	uint64_t key = 0;
	for (int axis = 0; axis < 3; ++axis) {
		double at = knClamp(scale * knComponent(sum, axis), 0.0, 2097151.0);
		key |= spread((uint64_t)at) << axis;
	}
	return key;
}

// Vertices get the order in which the triangles name them; those that none names come last.
static bool orderVertices(knMesh* mesh, knArena* arena) {
	int* placeOf = KN_SCRATCH(arena, int, mesh->vertexCount);
	knVec3* old = KN_SCRATCH(arena, knVec3, mesh->vertexCount);
	if (arena->failed) {
		return false;
	}
	for (int v = 0; v < mesh->vertexCount; ++v) {
		placeOf[v] = -1;
		old[v] = mesh->vertices[v];
	}
	int count = 0;
	for (int t = 0; t < mesh->triangleCount; ++t) {
		int* corners[3] = { &mesh->triangles[t].a, &mesh->triangles[t].b, &mesh->triangles[t].c };
		for (int k = 0; k < 3; ++k) {
			int* place = &placeOf[*corners[k]];
			*place = *place >= 0 ? *place : count++;
			*corners[k] = *place;
		}
	}
	for (int v = 0; v < mesh->vertexCount; ++v) {
		mesh->vertices[placeOf[v] >= 0 ? placeOf[v] : count++] = old[v];
	}
	return true;
}

// Along a space-filling curve, so that what is close in space is close in memory.
static bool orderFaces(knMesh* mesh, knArena* arena) {
	knKeyed* keys = KN_SCRATCH(arena, knKeyed, mesh->faceCount);
	knTriangle* old = KN_SCRATCH(arena, knTriangle, mesh->faceCount);
	if (arena->failed) {
		return false;
	}
	for (int t = 0; t < mesh->faceCount; ++t) {
		keys[t] = (knKeyed){ placeOnCurve(mesh, t), (uint32_t)t };
		old[t] = mesh->triangles[t];
	}
	if (!knSort_Keys(keys, mesh->faceCount, arena)) {
		return false;
	}
	for (int t = 0; t < mesh->faceCount; ++t) {
		mesh->triangles[t] = old[keys[t].value];
	}
	return orderVertices(mesh, arena);
}

knStatus knMesh_Load(knMesh* mesh, const knMeshDef* def, knError* error) {
	knStatus status = checkDef(def, error);
	if (status != KN_OK) {
		return status;
	}
	mesh->solid = def->solid;
	knArena arena;
	knArena_Init(&arena, &mesh->allocator);
	const int* first = findTwins(def, &arena);
	status = first != NULL && copyWelded(mesh, def, first, &arena) ? measure(mesh, error) : noMemory(error);
	if (status == KN_OK && mesh->solid) {
		status = closeAndOrient(mesh, &arena, error);
	}
	if (status == KN_OK && !orderFaces(mesh, &arena)) {
		status = noMemory(error);
	}
	knArena_Free(&arena);
	return status;
}
