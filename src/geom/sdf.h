// The signed distance field of a solid mesh: value and gradient at a point in a few dozen operations.
//
// A grid of cubic tiles covers the mesh. A tile holds 1 or 8 cells, or 64 blocks of 1, 8 or 64 cells each, so that
// three look-ups lead to the cell of any point. In a cell the distance is linear,
//
//   phi(x) = distance + slope.(x - centre)
//
// within the tolerance (or a share of the distance, far away). The sign of that is proven to be right wherever
// |phi| exceeds the cell's *doubt*; where it does not, and where no linear function will do, the mesh's tree of
// boxes gives the exact answer. Outside of the grid the tree is asked as well.
#pragma once

#include "geom/mesh.h"

// Where a tile's or a block's cells are: first << 2 | kind. Kinds 0, 1 and 2: 1, 8 or 64 cells in `cells`.
enum { KN_SDF_BLOCKS = 3 }; // a tile's 64 blocks in `entries`

#define KN_SDF_NEVER UINT16_MAX // a doubt or slack beyond any distance

typedef struct knSdfCell {
	float distance;   // at the centre, of the linear function
	int16_t slope[3]; // in units of KN_SDF_SLOPE
	uint16_t doubt;   // where |phi| is at most this, ask the tree; in units of `quantum`
	uint16_t slack;   // the true distance is nowhere lower than phi by more; in units of `quantum`
} knSdfCell;

#define KN_SDF_SLOPE (1.0 / 16384.0)

// A linear function is within the tolerance up to BAND from the surface, and within SHARE of the distance beyond.
#define KN_SDF_BAND 0.011 // of the mesh's size
#define KN_SDF_FAR_SHARE 0.25

struct knSdf {
	knAllocator allocator;
	double tolerance;
	double quantum;
	knVec3 lower; // corner of the grid
	double tile;  // side of a tile
	double perTile;
	int counts[3];
	int tileCount, entryCount, cellCount;
	uint32_t* entries; // of the tiles, then of blocks
	knSdfCell* cells;
};

// Gives a solid mesh its field: from the cache, or built (and put there).
knStatus knSdf_Make(knMesh* mesh, const knMeshDef* def, knError* error);
void knSdf_Destroy(knSdf* field);
// What follows from the tolerance and the grid's corner, tile and counts.
void knSdf_Derive(knSdf* field);

typedef struct knSdfSample {
	double distance; // signed
	knVec3 normal;   // unit, outward
	bool exact;
	knMeshHit hit; // where it is exact
} knSdfSample;

knSdfSample knSdf_Sample(const knMesh* mesh, knVec3 point);
// The mesh's signed distance is at least this at the point; cheap in the grid, a bound by its box outside.
double knSdf_LowerBound(const knMesh* mesh, knVec3 point);
// About the mesh's signed distance less the tolerance: most often much tighter than the bound, and as sure as the
// tolerance is (it was checked at many places of each cell, not between them).
double knSdf_Below(const knMesh* mesh, knVec3 point);
// The same, and what knSdf_Far says; false: that is more to find out, and left open.
bool knSdf_Look(const knMesh* mesh, knVec3 point, double* below, double* distance, knVec3* normal);
// The field's own words, good enough for a point that is known to be well outside; beyond the grid, where the way to the
// grid's nearest point goes on to. Exact only where the field has no direction.
knSdfSample knSdf_Far(const knMesh* mesh, knVec3 point);
// Always exact; the field tells how far the tree must be searched, a triangle nearby (or -1) where to begin.
knSdfSample knSdf_Exact(const knMesh* mesh, knVec3 point, int triangle);

// --- sdf_cell.c ---

static inline knVec3 knSdfCell_Slope(const knSdfCell* cell) {
	return knV3(KN_SDF_SLOPE * cell->slope[0], KN_SDF_SLOPE * cell->slope[1], KN_SDF_SLOPE * cell->slope[2]);
}

#define KN_SDF_SAMPLES 27

// Samples may be too far from zero by this much, their sign is right.
knMeshRough knSdf_Rough(const knSdf* field, const knMesh* mesh);

// Distances at 3 x 3 x 3 places of a cell, x fastest; without `whole` those in the middle of edges and of faces are
// missing.
typedef struct knSdfStencil {
	knVec3 center;
	double side;
	bool whole;
	double values[KN_SDF_SAMPLES];
} knSdfStencil;

// The cell's linear function. False if it is not good enough somewhere; the cell then asks the tree everywhere.
// `smallest`: it will not be cut further, so a larger doubt is better than none.
bool knSdfCell_Fit(const knSdf* field, const knMesh* mesh, const knSdfStencil* stencil, bool smallest,
				   knSdfCell* cell);

// --- sdf_build.c, sdf_cache.c ---

// `field` is zeroed but for the allocator and the tolerance; on failure destroy it.
knStatus knSdf_Build(knSdf* field, const knMesh* mesh, const knMeshDef* def, knError* error);
// What a field depends on.
uint64_t knSdf_Key(const knMesh* mesh, double tolerance);
// True if the field was found, whole and undamaged.
bool knSdf_Read(knSdf* field, const knMesh* mesh, const char* folder);
// Best effort: a field that cannot be kept is built again next time.
void knSdf_Write(const knSdf* field, const knMesh* mesh, const char* folder);
