// Building the field of sdf.h, tile by tile.
//
// A cell with centre c and half diagonal r, whose closest triangle is at distance d: the closest triangle to any
// of its points is within d + 2r of c. Those are its candidates; children choose from their parent's. A cell
// becomes
//
//   a list      of its candidates, if they are few
//   a tangent   if d > r (no surface inside) and phi = d + n.(x - c) holds at its corners
//   a tree      if it is much smaller than its candidates, so that cutting on only multiplies them
//   else it is cut into eight
//
// Tiles are independent: workers fill records of their own, which are strung together in the order of tiles. So
// the field is the same for any number of threads.
#include <stdatomic.h>
#include <string.h>

#include "core/array.h"
#include "core/tasks.h"
#include "geom/sdf.h"

#define LIST_MOST 24        // triangles in a list, if cutting can get there
#define GATHER_MOST 96      // candidates handed down to children
#define SMALL_CELL 0.015625 // of its candidates' mean length: cutting no longer separates them
#define DEPTH_MOST 14
#define BAND 0.02      // of the mesh's size: within it the tolerance holds
#define FAR_SHARE 0.25 // of the distance beyond: error that is good enough there
#define TILES_MOST 32  // along the longest side
#define TILES_PER_BATCH 64

typedef struct TileOut {
	KN_ARRAY(knSdfNode) nodes; // root first; `first` counts within the tile
	KN_ARRAY(int32_t) lists;
	KN_ARRAY(knSdfTangent) tangents;
	bool failed;
} TileOut;

// Allocators need not be safe for threads: one at a time.
typedef struct Locked {
	knAllocator source;
	atomic_flag busy;
} Locked;

static void* lockedAllocate(size_t size, void* context) {
	Locked* locked = context;
	while (atomic_flag_test_and_set_explicit(&locked->busy, memory_order_acquire)) {
	}
	void* memory = locked->source.allocate(size, locked->source.context);
	atomic_flag_clear_explicit(&locked->busy, memory_order_release);
	return memory;
}

static void lockedRelease(void* memory, size_t size, void* context) {
	Locked* locked = context;
	while (atomic_flag_test_and_set_explicit(&locked->busy, memory_order_acquire)) {
	}
	locked->source.release(memory, size, locked->source.context);
	atomic_flag_clear_explicit(&locked->busy, memory_order_release);
}

typedef struct BuildJob {
	const knMesh* mesh;
	const knSdf* field;
	knAllocator allocator; // safe for threads
	TileOut* tiles;        // of the batch
	int firstTile;
} BuildJob;

typedef struct Cell {
	knVec3 center;
	double half; // of its side
	double most; // distance of the surface from the centre, at most
	int depth;
} Cell;

// Candidates of a cell; more than GATHER_MOST count as none at all.
typedef struct Candidates {
	int count; // -1: too many
	int32_t triangles[GATHER_MOST];
	double distance[GATHER_MOST]; // from the centre
} Candidates;

static double squaredTo(const knMesh* mesh, int triangle, knVec3 point) {
	knMeshHit hit = knMeshHit_None(INFINITY);
	knMesh_Offer(mesh, triangle, point, &hit);
	return hit.squared;
}

// --- candidates ------------------------------------------------------------------------------------------

static knMeshHit closest(const knMesh* mesh, const Candidates* from, knVec3 point, double radius) {
	if (from == NULL || from->count < 0) {
		return knMesh_Closest(mesh, point, radius);
	}
	knMeshHit hit = knMeshHit_None(INFINITY);
	for (int i = 0; i < from->count; ++i) {
		knMesh_Offer(mesh, from->triangles[i], point, &hit);
	}
	return hit;
}

static void addCandidate(const knMesh* mesh, int triangle, knVec3 center, double reach, Candidates* out) {
	knMeshHit hit = knMeshHit_None(reach);
	knMesh_Offer(mesh, triangle, center, &hit);
	if (hit.triangle < 0) {
		return;
	}
	if (out->count == GATHER_MOST) {
		out->count = -1;
		return;
	}
	out->triangles[out->count] = triangle;
	out->distance[out->count++] = hit.distance;
}

static void gather(const knMesh* mesh, const Candidates* from, knVec3 center, double reach, Candidates* out) {
	out->count = 0;
	if (from != NULL && from->count >= 0) {
		for (int i = 0; i < from->count; ++i) {
			addCandidate(mesh, from->triangles[i], center, reach, out);
		}
		return;
	}
	knAabb box = knAabb_Grow((knAabb){ center, center }, reach);
	int cursor = 0;
	for (int t; out->count >= 0 && (t = knBvh_Next(&mesh->tree, &box, &cursor)) >= 0;) {
		addCandidate(mesh, t, center, reach, out);
	}
}

static knVec3 cornerOf(const Cell* cell, int k) {
	double h = cell->half;
	return knAdd(cell->center, knV3(k & 1 ? h : -h, k & 2 ? h : -h, k & 4 ? h : -h));
}

// Distance between a cell and the box of a triangle.
static double gapTo(const knMesh* mesh, int triangle, const Cell* cell) {
	const knAabb* box = &mesh->tree.nodes[mesh->tree.leaves[triangle]].box;
	knVec3 half = knV3(cell->half, cell->half, cell->half);
	knVec3 below = knSub(box->lower, knAdd(cell->center, half));
	knVec3 above = knSub(knSub(cell->center, half), box->upper);
	return knLength(knMax3(knMax3(below, above), knZero3()));
}

// Drops candidates that are farther from every point of the cell than the triangle closest to its centre: the
// distance to that one, a convex function, is largest at a corner.
static void tighten(const knMesh* mesh, const Cell* cell, double r, int nearest, Candidates* list) {
	double farthest = 0.0;
	for (int k = 0; k < 8; ++k) {
		farthest = knMax(farthest, squaredTo(mesh, nearest, cornerOf(cell, k)));
	}
	double most = sqrt(farthest) * (1.0 + 1e-9);
	int kept = 0;
	for (int i = 0; i < list->count; ++i) {
		double least = knMax(list->distance[i] - r, gapTo(mesh, list->triangles[i], cell));
		if (least <= most) {
			list->triangles[kept] = list->triangles[i];
			list->distance[kept++] = list->distance[i];
		}
	}
	list->count = kept;
}

static bool separable(const knMesh* mesh, const Cell* cell, const Candidates* list) {
	if (cell->depth >= DEPTH_MOST) {
		return false;
	}
	if (list->count <= 0) {
		return true;
	}
	double lengths = 0.0;
	for (int i = 0; i < list->count; ++i) {
		const knAabb* box = &mesh->tree.nodes[mesh->tree.leaves[list->triangles[i]]].box;
		lengths += knDistance(box->lower, box->upper);
	}
	return 2.0 * cell->half > SMALL_CELL * lengths / list->count;
}

// --- leaves ----------------------------------------------------------------------------------------------

static bool tangentHolds(const BuildJob* job, const Candidates* from, const Cell* cell, double distance,
						 knVec3 normal) {
	double r = sqrt(3.0) * cell->half;
	for (int k = 0; k < 8; ++k) {
		knVec3 corner = cornerOf(cell, k), ignored;
		knMeshHit hit = closest(job->mesh, from, corner, knAbs(distance) + 1.01 * r);
		double exact = knMesh_Signed(job->mesh, &hit, corner, &ignored);
		double guess = distance + knDot(normal, knSub(corner, cell->center));
		double beyond = knMax(0.0, knAbs(exact) - BAND * job->mesh->size);
		double allowed = 0.7 * job->field->tolerance + FAR_SHARE * beyond;
		if (knAbs(guess - exact) > allowed) {
			return false;
		}
	}
	return true;
}

// The closest to the centre first: it makes the others quick to pass over.
static void sortByDistance(Candidates* list) {
	for (int i = 1; i < list->count; ++i) {
		double distance = list->distance[i];
		int32_t triangle = list->triangles[i];
		int k = i;
		for (; k > 0 && list->distance[k - 1] > distance; --k) {
			list->distance[k] = list->distance[k - 1];
			list->triangles[k] = list->triangles[k - 1];
		}
		list->distance[k] = distance;
		list->triangles[k] = triangle;
	}
}

static knSdfNode listLeaf(const BuildJob* job, Candidates* list, TileOut* out) {
	sortByDistance(list);
	knSdfNode node = { out->lists.count, list->count };
	for (int i = 0; i < list->count; ++i) {
		out->failed = !KN_ARRAY_PUSH(&job->allocator, &out->lists, list->triangles[i]) || out->failed;
	}
	return node;
}

static knSdfNode tangentLeaf(const BuildJob* job, double distance, knVec3 normal, TileOut* out) {
	knSdfNode node = { out->tangents.count, KN_SDF_TANGENT };
	knSdfTangent tangent = { (float)distance, { (float)normal.x, (float)normal.y, (float)normal.z } };
	out->failed = !KN_ARRAY_PUSH(&job->allocator, &out->tangents, tangent) || out->failed;
	return node;
}

// --- cells -----------------------------------------------------------------------------------------------

static knSdfNode buildCell(const BuildJob* job, const Cell* cell, const Candidates* from, TileOut* out);

static knSdfNode cut(const BuildJob* job, const Cell* cell, double distance, const Candidates* list,
					 TileOut* out) {
	int first = out->nodes.count;
	for (int k = 0; k < 8; ++k) {
		knSdfNode empty = { 0, 0 };
		out->failed = !KN_ARRAY_PUSH(&job->allocator, &out->nodes, empty) || out->failed;
	}
	double half = 0.5 * cell->half;
	double most = (knAbs(distance) + sqrt(3.0) * half) * (1.0 + 1e-9);
	for (int k = 0; k < 8 && !out->failed; ++k) {
		knVec3 shift = knV3(k & 1 ? half : -half, k & 2 ? half : -half, k & 4 ? half : -half);
		Cell child = { knAdd(cell->center, shift), half, most, cell->depth + 1 };
		knSdfNode node = buildCell(job, &child, list, out);
		if (!out->failed) {
			out->nodes.items[first + k] = node;
		}
	}
	return (knSdfNode){ first, KN_SDF_INNER };
}

static knSdfNode buildCell(const BuildJob* job, const Cell* cell, const Candidates* from, TileOut* out) {
	const knMesh* mesh = job->mesh;
	double r = sqrt(3.0) * cell->half * (1.0 + 1e-9);
	knMeshHit hit = closest(mesh, from, cell->center, cell->most);
	knVec3 normal;
	double distance = knMesh_Signed(mesh, &hit, cell->center, &normal);
	bool free = knAbs(distance) > r * (1.0 + 1e-5);

	bool apart = knAbs(distance) > 2.0 * r && (from == NULL || from->count < 0);
	if (apart && tangentHolds(job, from, cell, distance, normal)) {
		return tangentLeaf(job, distance, normal, out);
	}
	Candidates list;
	gather(mesh, from, cell->center, (knAbs(distance) + 2.0 * r) * (1.0 + 1e-9), &list);
	if (list.count > LIST_MOST) {
		tighten(mesh, cell, r, hit.triangle, &list);
	}
	if (list.count >= 0 && list.count <= LIST_MOST) {
		return listLeaf(job, &list, out);
	}
	if (free && !apart && tangentHolds(job, &list, cell, distance, normal)) {
		return tangentLeaf(job, distance, normal, out);
	}
	if (!separable(mesh, cell, &list)) {
		return (knSdfNode){ 0, KN_SDF_TREE };
	}
	return cut(job, cell, distance, &list, out);
}

static void buildTiles(int begin, int end, int worker, void* argument) {
	(void)worker;
	const BuildJob* job = argument;
	const knSdf* field = job->field;
	for (int i = begin; i < end; ++i) {
		TileOut* out = &job->tiles[i];
		int tile = job->firstTile + i;
		int x = tile % field->counts[0], y = tile / field->counts[0] % field->counts[1];
		int z = tile / (field->counts[0] * field->counts[1]);
		knVec3 at = knV3((x + 0.5) * field->tile, (y + 0.5) * field->tile, (z + 0.5) * field->tile);
		Cell cell = { knAdd(field->lower, at), 0.5 * field->tile, INFINITY, 0 };
		knSdfNode root = { 0, 0 };
		out->failed = !KN_ARRAY_PUSH(&job->allocator, &out->nodes, root);
		if (!out->failed) {
			root = buildCell(job, &cell, NULL, out);
		}
		if (!out->failed) {
			out->nodes.items[0] = root;
		}
	}
}

// --- putting tiles together ------------------------------------------------------------------------------

typedef struct Whole {
	KN_ARRAY(knSdfNode) nodes;
	KN_ARRAY(int32_t) lists;
	KN_ARRAY(knSdfTangent) tangents;
} Whole;

// Places in a tile become places in the whole; children move up by one because the root moves out.
static knSdfNode rebase(knSdfNode node, const Whole* whole) {
	if (node.count == KN_SDF_INNER) {
		node.first += whole->nodes.count - 1;
	} else if (node.count == KN_SDF_TANGENT) {
		node.first += whole->tangents.count;
	} else if (node.count >= 0) {
		node.first += whole->lists.count;
	}
	return node;
}

static bool append(const knAllocator* allocator, const TileOut* tile, int index, Whole* whole) {
	int nodes = whole->nodes.count + tile->nodes.count - 1;
	int lists = whole->lists.count + tile->lists.count;
	int tangents = whole->tangents.count + tile->tangents.count;
	if (!KN_ARRAY_RESERVE(allocator, &whole->nodes, nodes) ||
		!KN_ARRAY_RESERVE(allocator, &whole->lists, lists) ||
		!KN_ARRAY_RESERVE(allocator, &whole->tangents, tangents)) {
		return false;
	}
	for (int i = 0; i < tile->nodes.count; ++i) {
		int place = i == 0 ? index : whole->nodes.count + i - 1;
		whole->nodes.items[place] = rebase(tile->nodes.items[i], whole);
	}
	if (tile->lists.count > 0) {
		memcpy(whole->lists.items + whole->lists.count, tile->lists.items,
			   (size_t)tile->lists.count * sizeof(int32_t));
	}
	if (tile->tangents.count > 0) {
		memcpy(whole->tangents.items + whole->tangents.count, tile->tangents.items,
			   (size_t)tile->tangents.count * sizeof(knSdfTangent));
	}
	whole->nodes.count = nodes;
	whole->lists.count = lists;
	whole->tangents.count = tangents;
	return true;
}

// Takes over exactly what is used.
static void* shrink(const knAllocator* allocator, void* items, int count, int capacity, size_t size,
					bool* failed) {
	void* exact = knAllocArray(allocator, (size_t)count, size);
	if (exact != NULL) {
		memcpy(exact, items, (size_t)count * size);
	}
	*failed = *failed || (exact == NULL && count > 0);
	knFree(allocator, items, (size_t)capacity * size);
	return exact;
}

static bool takeOver(knSdf* field, Whole* whole) {
	bool failed = false;
	const knAllocator* allocator = &field->allocator;
	field->nodes = shrink(allocator, whole->nodes.items, whole->nodes.count, whole->nodes.capacity,
						  sizeof(knSdfNode), &failed);
	field->lists = shrink(allocator, whole->lists.items, whole->lists.count, whole->lists.capacity,
						  sizeof(int32_t), &failed);
	field->tangents = shrink(allocator, whole->tangents.items, whole->tangents.count,
							 whole->tangents.capacity, sizeof(knSdfTangent), &failed);
	field->nodeCount = whole->nodes.count;
	field->listCount = whole->lists.count;
	field->tangentCount = whole->tangents.count;
	return !failed;
}

// The grid: its longest side has more tiles for more triangles, and it stands out around the mesh by a tile.
static void layOut(knSdf* field, const knMesh* mesh) {
	knVec3 extent = knSub(mesh->bounds.upper, mesh->bounds.lower);
	double longest = knMax(extent.x, knMax(extent.y, extent.z));
	double wanted = sqrt((double)mesh->faceCount) / 16.0;
	int along = wanted < 4.0 ? 4 : (wanted > TILES_MOST ? TILES_MOST : (int)wanted);
	field->tile = longest / along;
	field->lower = knSub(mesh->bounds.lower, knV3(field->tile, field->tile, field->tile));
	field->tileCount = 1;
	for (int k = 0; k < 3; ++k) {
		field->counts[k] = (int)(knComponent(extent, k) / field->tile) + 3;
		field->tileCount *= field->counts[k];
	}
}

static knStatus buildBatch(BuildJob* job, const knTasks* tasks, int count, Whole* whole, knError* error) {
	memset(job->tiles, 0, (size_t)count * sizeof(TileOut));
	knTasks_For(tasks, count, 1, buildTiles, job);
	bool ok = true;
	for (int i = 0; i < count; ++i) {
		TileOut* tile = &job->tiles[i];
		ok = ok && !tile->failed && append(&job->allocator, tile, job->firstTile + i, whole);
		KN_ARRAY_FREE(&job->allocator, &tile->nodes);
		KN_ARRAY_FREE(&job->allocator, &tile->lists);
		KN_ARRAY_FREE(&job->allocator, &tile->tangents);
	}
	return ok ? KN_OK : knError_Set(error, KN_NO_MEMORY, "mesh", "out of memory for the mesh's field");
}

knStatus knSdf_Build(knSdf* field, const knMesh* mesh, const knMeshDef* def, knError* error) {
	layOut(field, mesh);
	Locked locked = { .source = field->allocator, .busy = ATOMIC_FLAG_INIT };
	TileOut tiles[TILES_PER_BATCH];
	BuildJob job = { mesh, field, { lockedAllocate, lockedRelease, &locked }, tiles, 0 };
	Whole whole = { 0 };
	knStatus status = KN_OK;
	if (!KN_ARRAY_RESERVE(&field->allocator, &whole.nodes, field->tileCount)) {
		status = knError_Set(error, KN_NO_MEMORY, "mesh", "out of memory for the mesh's field");
	}
	whole.nodes.count = status == KN_OK ? field->tileCount : 0;
	for (; status == KN_OK && job.firstTile < field->tileCount; job.firstTile += TILES_PER_BATCH) {
		int left = field->tileCount - job.firstTile;
		if (def->progress != NULL &&
			!def->progress((double)job.firstTile / field->tileCount, def->progressContext)) {
			status = knError_Set(error, KN_CANCELLED, "mesh", "building the mesh's field was cancelled");
			break;
		}
		status =
			buildBatch(&job, &def->tasks, left < TILES_PER_BATCH ? left : TILES_PER_BATCH, &whole, error);
	}
	if (!takeOver(field, &whole) && status == KN_OK) {
		status = knError_Set(error, KN_NO_MEMORY, "mesh", "out of memory for the mesh's field");
	}
	if (status == KN_OK && def->progress != NULL) {
		def->progress(1.0, def->progressContext);
	}
	return status;
}
