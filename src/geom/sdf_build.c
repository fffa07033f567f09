// Building the field of sdf.h, tile by tile.
//
// A tile is tried as one cell, then as 8. Where that is not good enough it gets 64 blocks, each tried as 1, 8 and 64
// cells; of the last, those that are still not good enough ask the tree. Samples stand on one lattice for the tile,
// whose places are only looked at when they are needed, and each starts its search at the triangle that the one before
// found. Where a tile or a block is free of surface, its centre says on which side it lies, and the others need not
// find the very closest triangle.
//
// Tiles are independent: workers fill records of their own, which are strung together in the order of tiles. So
// the field is the same for any number of threads.
#include <stdatomic.h>
#include <string.h>

#include "core/array.h"
#include "core/tasks.h"
#include "geom/sdf.h"

#define TILES_PER_BATCH 64
#define LEVELS 2          // a block has up to 8^2 cells
#define LATTICE 33        // places along a tile's side: two to a smallest cell, and the ends
#define BLOCK 8           // steps of the lattice along a block's side
#define FINEST 1.15       // tolerances along the side of the smallest cell: half its diagonal is one
#define CELLS_PER_TILE 16 // along a side
#define CELLS_LEAST 32    // smallest cells along the mesh's longest side
#define CELLS_MOST 512
#define CELLS_PER_TRIANGLE 3.5 // along a side, if triangles were squares: few are as quickly asked as cells

typedef struct TileOut {
	uint32_t root;
	KN_ARRAY(uint32_t) blocks; // none, or 64; places count within the tile
	KN_ARRAY(knSdfCell) cells;
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

// Distances over a tile, looked at when asked for.
typedef struct Lattice {
	bool known[LATTICE * LATTICE * LATTICE];
	double values[LATTICE * LATTICE * LATTICE];
} Lattice;

typedef struct BuildJob {
	const knMesh* mesh;
	const knSdf* field;
	knAllocator allocator; // safe for threads
	TileOut* tiles;        // of the batch
	Lattice* lattices;     // of each worker
	int firstTile;
} BuildJob;

// --- samples ---------------------------------------------------------------------------------------------

// A cube of the lattice that becomes cells.
typedef struct Region {
	int x, y, z, steps; // begins there, so many steps along its side
	int side;           // of the surface: -1, 1, or 0 if it may pass through
} Region;

typedef struct Work {
	const BuildJob* job;
	TileOut* out;
	Lattice* lattice;
	knVec3 lower;
	double step; // of the lattice
	knMeshRough rough;
	int seed; // triangle that the last search found
} Work;

static double valueAt(Work* work, const Region* region, int x, int y, int z) {
	Lattice* lattice = work->lattice;
	int place = (z * LATTICE + y) * LATTICE + x;
	if (!lattice->known[place]) {
		const knMesh* mesh = work->job->mesh;
		knVec3 point = knMulAdd(work->lower, work->step, knV3(x, y, z)), normal;
		knMeshHit hit =
			knMesh_ClosestFrom(mesh, point, INFINITY, work->seed, region->side != 0 ? &work->rough : NULL);
		work->seed = hit.triangle;
		lattice->values[place] =
			region->side != 0 ? region->side * hit.distance : knMesh_Signed(mesh, &hit, point, &normal);
		lattice->known[place] = true;
	}
	return lattice->values[place];
}

static Region startRegion(Work* work, int x, int y, int z, int steps) {
	Region region = { x, y, z, steps, 0 };
	double middle = valueAt(work, &region, x + steps / 2, y + steps / 2, z + steps / 2);
	double clear = knAbs(middle) - knMeshRough_Error(&work->rough, knAbs(middle));
	if (clear > 0.8661 * steps * work->step) {
		region.side = middle < 0.0 ? -1 : 1;
	}
	return region;
}

// Samples of the cell that begins at (x, y, z) of the lattice and is two strides long; the smallest do with their
// corners and the centre.
static knSdfStencil stencilAt(Work* work, const Region* region, int stride, int x, int y, int z) {
	knVec3 middle = knV3(x + stride, y + stride, z + stride);
	knSdfStencil stencil = {
		.center = knMulAdd(work->lower, work->step, middle),
		.side = 2.0 * stride * work->step,
		.whole = stride > 1,
	};
	for (int i = 0; i < KN_SDF_SAMPLES; ++i) {
		int a = i % 3, b = i / 3 % 3, c = i / 9;
		bool needed = stencil.whole || i == KN_SDF_SAMPLES / 2 || (a != 1 && b != 1 && c != 1);
		if (needed) {
			stencil.values[i] = valueAt(work, region, x + a * stride, y + b * stride, z + c * stride);
		}
	}
	return stencil;
}

// --- cells -----------------------------------------------------------------------------------------------

// The region as 8^level cells, at the end of the tile's. False if one is not good enough and could be smaller; nothing
// is kept then.
static bool makeCells(Work* work, const Region* region, int level) {
	TileOut* out = work->out;
	int begin = out->cells.count, n = 1 << level, stride = region->steps / (2 * n);
	for (int i = 0; i < n * n * n && !out->failed; ++i) {
		int x = region->x + 2 * stride * (i % n), y = region->y + 2 * stride * (i / n % n);
		int z = region->z + 2 * stride * (i / (n * n));
		knSdfStencil stencil = stencilAt(work, region, stride, x, y, z);
		knSdfCell cell;
		bool smallest = stride == 1;
		if (!knSdfCell_Fit(work->job->field, work->job->mesh, &stencil, smallest, &cell) && !smallest) {
			out->cells.count = begin;
			return false;
		}
		out->failed = !KN_ARRAY_PUSH(&work->job->allocator, &out->cells, cell);
	}
	return true;
}

static uint32_t makeBlock(Work* work, int x, int y, int z) {
	uint32_t first = (uint32_t)work->out->cells.count, level = 0;
	Region region = startRegion(work, x, y, z, BLOCK);
	while (!makeCells(work, &region, (int)level)) {
		level += 1;
	}
	return first << 2 | level;
}

static void makeTile(Work* work) {
	TileOut* out = work->out;
	memset(work->lattice->known, 0, sizeof(work->lattice->known));
	Region whole = startRegion(work, 0, 0, 0, LATTICE - 1);
	for (uint32_t level = 0; level < LEVELS; ++level) {
		if (makeCells(work, &whole, (int)level)) {
			out->root = level;
			return;
		}
	}
	out->root = KN_SDF_BLOCKS;
	for (int i = 0; i < 64 && !out->failed; ++i) {
		uint32_t block = makeBlock(work, i % 4 * BLOCK, i / 4 % 4 * BLOCK, i / 16 * BLOCK);
		out->failed = !KN_ARRAY_PUSH(&work->job->allocator, &out->blocks, block) || out->failed;
	}
}

static void buildTiles(int begin, int end, int worker, void* argument) {
	const BuildJob* job = argument;
	const knSdf* field = job->field;
	for (int i = begin; i < end; ++i) {
		int tile = job->firstTile + i;
		int x = tile % field->counts[0], y = tile / field->counts[0] % field->counts[1];
		int z = tile / (field->counts[0] * field->counts[1]);
		Work work = {
			.job = job,
			.out = &job->tiles[i],
			.lattice = &job->lattices[worker],
			.lower = knMulAdd(field->lower, field->tile, knV3(x, y, z)),
			.step = field->tile / (LATTICE - 1),
			.rough = knSdf_Rough(field, job->mesh),
			.seed = -1,
		};
		makeTile(&work);
	}
}

// --- putting tiles together ------------------------------------------------------------------------------

typedef struct Whole {
	KN_ARRAY(uint32_t) entries;
	KN_ARRAY(knSdfCell) cells;
} Whole;

static bool append(const knAllocator* allocator, const TileOut* tile, int index, Whole* whole) {
	int entries = whole->entries.count, cells = whole->cells.count;
	if (!KN_ARRAY_RESERVE(allocator, &whole->entries, entries + tile->blocks.count) ||
		!KN_ARRAY_RESERVE(allocator, &whole->cells, cells + tile->cells.count)) {
		return false;
	}
	// places in a tile become places in the whole
	uint32_t from = (uint32_t)cells << 2;
	whole->entries.items[index] =
		tile->root == KN_SDF_BLOCKS ? (uint32_t)entries << 2 | KN_SDF_BLOCKS : tile->root + from;
	for (int i = 0; i < tile->blocks.count; ++i) {
		whole->entries.items[entries + i] = tile->blocks.items[i] + from;
	}
	if (tile->cells.count > 0) {
		memcpy(whole->cells.items + cells, tile->cells.items, (size_t)tile->cells.count * sizeof(knSdfCell));
	}
	whole->entries.count = entries + tile->blocks.count;
	whole->cells.count = cells + tile->cells.count;
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
	field->entries = shrink(allocator, whole->entries.items, whole->entries.count, whole->entries.capacity,
							sizeof(uint32_t), &failed);
	field->cells = shrink(allocator, whole->cells.items, whole->cells.count, whole->cells.capacity,
						  sizeof(knSdfCell), &failed);
	field->entryCount = whole->entries.count;
	field->cellCount = whole->cells.count;
	return !failed;
}

// The grid: its smallest cells suit the tolerance, and it stands out around the mesh by a tile.
static void layOut(knSdf* field, const knMesh* mesh) {
	knVec3 extent = knSub(mesh->bounds.upper, mesh->bounds.lower);
	double longest = knMax(extent.x, knMax(extent.y, extent.z));
	double wanted = CELLS_PER_TRIANGLE * sqrt((double)mesh->faceCount);
	double most = knMax(CELLS_LEAST, knMin(CELLS_MOST, wanted));
	double cell = knMax(FINEST * field->tolerance, longest / most);
	field->tile = knMin(CELLS_PER_TILE * cell, longest);
	field->lower = knSub(mesh->bounds.lower, knV3(field->tile, field->tile, field->tile));
	for (int k = 0; k < 3; ++k) {
		field->counts[k] = (int)(knComponent(extent, k) / field->tile) + 3;
	}
	knSdf_Derive(field);
}

static knStatus buildBatch(BuildJob* job, const knTasks* tasks, int count, Whole* whole, knError* error) {
	memset(job->tiles, 0, (size_t)count * sizeof(TileOut));
	knTasks_For(tasks, count, 1, buildTiles, job);
	bool ok = true;
	for (int i = 0; i < count; ++i) {
		TileOut* tile = &job->tiles[i];
		ok = ok && !tile->failed && append(&job->allocator, tile, job->firstTile + i, whole);
		KN_ARRAY_FREE(&job->allocator, &tile->blocks);
		KN_ARRAY_FREE(&job->allocator, &tile->cells);
	}
	return ok ? KN_OK : knError_Set(error, KN_NO_MEMORY, "mesh", "out of memory for the mesh's field");
}

knStatus knSdf_Build(knSdf* field, const knMesh* mesh, const knMeshDef* def, knError* error) {
	layOut(field, mesh);
	Locked locked = { .source = field->allocator, .busy = ATOMIC_FLAG_INIT };
	TileOut tiles[TILES_PER_BATCH];
	size_t workers = (size_t)knTasks_WorkerCount(&def->tasks);
	Lattice* lattices = knAllocArray(&field->allocator, workers, sizeof(Lattice));
	BuildJob job = { mesh, field, { lockedAllocate, lockedRelease, &locked }, tiles, lattices, 0 };
	Whole whole = { 0 };
	knStatus status = KN_OK;
	if (lattices == NULL || !KN_ARRAY_RESERVE(&field->allocator, &whole.entries, field->tileCount)) {
		status = knError_Set(error, KN_NO_MEMORY, "mesh", "out of memory for the mesh's field");
	}
	whole.entries.count = status == KN_OK ? field->tileCount : 0;
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
	knFree(&field->allocator, lattices, workers * sizeof(Lattice));
	if (!takeOver(field, &whole) && status == KN_OK) {
		status = knError_Set(error, KN_NO_MEMORY, "mesh", "out of memory for the mesh's field");
	}
	if (status == KN_OK && def->progress != NULL) {
		def->progress(1.0, def->progressContext);
	}
	return status;
}
