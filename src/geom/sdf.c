// Asking the field of sdf.h.
#include "geom/sdf.h"

#include "core/alloc.h"

#define DEFAULT_TOLERANCE 1e-3 // of the mesh's size
#define QUANTA 1024            // to the tolerance: doubts and slacks go up to 64 tolerances
#define GRID_INSET 1e-6        // tiles: still in the grid, whatever rounding does
#define BELOW_SHARE                                                                                          \
	2.0 // of the errors that are good enough far away: they are of the distance, and of samples
#define LEAST_SLOPE 0.2 // a flatter function is a ridge, where no direction is the way out

void knSdf_Destroy(knSdf* field) {
	if (field == NULL) {
		return;
	}
	knAllocator allocator = field->allocator;
	knFree(&allocator, field->entries, (size_t)field->entryCount * sizeof(uint32_t));
	knFree(&allocator, field->cells, (size_t)field->cellCount * sizeof(knSdfCell));
	knFree(&allocator, field, sizeof(knSdf));
}

void knSdf_Derive(knSdf* field) {
	field->quantum = field->tolerance / QUANTA;
	field->perTile = 1.0 / field->tile;
	field->tileCount = field->counts[0] * field->counts[1] * field->counts[2];
}

knStatus knSdf_Make(knMesh* mesh, const knMeshDef* def, knError* error) {
	mesh->field = knAllocZero(&mesh->allocator, sizeof(knSdf));
	if (mesh->field == NULL) {
		return knError_Set(error, KN_NO_MEMORY, "mesh", "out of memory for the mesh's field");
	}
	mesh->field->allocator = mesh->allocator;
	mesh->field->tolerance = def->tolerance > 0.0 ? def->tolerance : DEFAULT_TOLERANCE * mesh->size;
	if (def->cachePath != NULL && knSdf_Read(mesh->field, mesh, def->cachePath)) {
		return KN_OK;
	}
	knStatus status = knSdf_Build(mesh->field, mesh, def, error);
	if (status == KN_OK && def->cachePath != NULL) {
		knSdf_Write(mesh->field, mesh, def->cachePath);
	}
	return status;
}

// A point's cell and what its linear function says.
typedef struct Place {
	const knSdfCell* cell;
	knVec3 slope;
	double distance;
} Place;

// Cuts the unit cube at `at` into n^3 parts: which one, and the place in it.
static inline int partOf(int n, knVec3* at) {
	*at = knScale((double)n, *at);
	int x = (int)at->x, y = (int)at->y, z = (int)at->z;
	*at = knSub(*at, knV3((double)x, (double)y, (double)z));
	return (z * n + y) * n + x;
}

static inline bool findPlace(const knSdf* field, knVec3 point, Place* place) {
	knVec3 at = knScale(field->perTile, knSub(point, field->lower));
	const int* counts = field->counts;
	if (!(at.x >= 0.0 && at.x < counts[0] && at.y >= 0.0 && at.y < counts[1] && at.z >= 0.0 &&
		  at.z < counts[2])) {
		return false;
	}
	int x = (int)at.x, y = (int)at.y, z = (int)at.z;
	at = knSub(at, knV3((double)x, (double)y, (double)z));
	uint32_t entry = field->entries[(z * counts[1] + y) * counts[0] + x];
	double side = field->tile;
	if ((entry & 3) == KN_SDF_BLOCKS) {
		entry = field->entries[(entry >> 2) + (uint32_t)partOf(4, &at)];
		side *= 0.25;
	}
	int n = 1 << (entry & 3);
	const knSdfCell* cell = &field->cells[(entry >> 2) + (uint32_t)partOf(n, &at)];
	side /= n;
	knVec3 slope = knSdfCell_Slope(cell), from = knScale(side, knSub(at, knV3(0.5, 0.5, 0.5)));
	*place = (Place){ cell, slope, (double)cell->distance + knDot(slope, from) };
	return true;
}

static knSdfSample exactSample(const knMesh* mesh, knVec3 point, double radius, int triangle) {
	knMeshHit hit = knMesh_ClosestFrom(mesh, point, radius, triangle, NULL);
	if (hit.triangle < 0) {
		hit = knMesh_Closest(mesh, point, INFINITY);
	}
	knSdfSample sample = { .exact = true, .hit = hit };
	sample.distance = knMesh_Signed(mesh, &hit, point, &sample.normal);
	return sample;
}

// A radius within which the surface most likely is.
static double radiusAt(const knSdf* field, const Place* place) {
	return knAbs(place->distance) + 0.5 * field->tolerance;
}

static knSdfSample placeSample(const Place* place) {
	return (knSdfSample){
		.distance = place->distance,
		.normal = knScale(1.0 / knLength(place->slope), place->slope),
		.hit = { .triangle = -1 },
	};
}

static bool isSteep(const Place* place) {
	return knLengthSquared(place->slope) >= LEAST_SLOPE * LEAST_SLOPE;
}

knSdfSample knSdf_Sample(const knMesh* mesh, knVec3 point) {
	const knSdf* field = mesh->field;
	Place place;
	if (field == NULL || !findPlace(field, point, &place)) {
		return exactSample(mesh, point, INFINITY, -1);
	}
	double doubt = field->quantum * place.cell->doubt;
	if (knAbs(place.distance) <= doubt || !isSteep(&place) || place.cell->doubt == KN_SDF_NEVER) {
		return exactSample(mesh, point, radiusAt(field, &place), -1);
	}
	return placeSample(&place);
}

knSdfSample knSdf_Far(const knMesh* mesh, knVec3 point) {
	const knSdf* field = mesh->field;
	Place place;
	if (findPlace(field, point, &place)) {
		return isSteep(&place) ? placeSample(&place) : exactSample(mesh, point, radiusAt(field, &place), -1);
	}
	double inset = GRID_INSET * field->tile;
	knVec3 span = knScale(field->tile, knV3(field->counts[0], field->counts[1], field->counts[2]));
	knVec3 border = knV3(inset, inset, inset), upper = knSub(knAdd(field->lower, span), border);
	knVec3 inside = knMin3(knMax3(point, knAdd(field->lower, border)), upper);
	if (!findPlace(field, inside, &place) || !isSteep(&place)) {
		return exactSample(mesh, point, INFINITY, -1);
	}
	knSdfSample sample = placeSample(&place);
	knVec3 away = knSub(point, knMulAdd(inside, -sample.distance, sample.normal));
	sample.distance = knLength(away);
	sample.normal = knScale(1.0 / sample.distance, away);
	return sample;
}

knSdfSample knSdf_Exact(const knMesh* mesh, knVec3 point, int triangle) {
	Place place;
	bool inside = mesh->field != NULL && findPlace(mesh->field, point, &place);
	return exactSample(mesh, point, inside ? radiusAt(mesh->field, &place) : INFINITY, triangle);
}

// Distance of a point from the mesh's box; 0 inside.
static double distanceToBounds(const knMesh* mesh, knVec3 point) {
	knVec3 below = knSub(mesh->bounds.lower, point), above = knSub(point, mesh->bounds.upper);
	return knLength(knMax3(knMax3(below, above), knZero3()));
}

static double boundBeyond(const knMesh* mesh, knVec3 point) {
	double bound = distanceToBounds(mesh, point);
	return bound > 0.0 ? bound : -INFINITY;
}

static double boundOf(const knSdf* field, const Place* place) {
	return place->cell->slack == KN_SDF_NEVER ? -INFINITY
											  : place->distance - field->quantum * place->cell->slack;
}

double knSdf_LowerBound(const knMesh* mesh, knVec3 point) {
	Place place;
	bool inside = mesh->field != NULL && findPlace(mesh->field, point, &place);
	return inside ? boundOf(mesh->field, &place) : boundBeyond(mesh, point);
}

static inline double belowAt(const knMesh* mesh, const Place* place) {
	double bound = boundOf(mesh->field, place);
	if (place->cell->doubt == KN_SDF_NEVER) {
		return bound;
	}
	double beyond = knMax(0.0, knAbs(place->distance) - KN_SDF_BAND * mesh->size);
	double below = place->distance - mesh->field->tolerance - BELOW_SHARE * KN_SDF_FAR_SHARE * beyond;
	return knMax(bound, below);
}

double knSdf_Below(const knMesh* mesh, knVec3 point) {
	Place place;
	bool inside = mesh->field != NULL && findPlace(mesh->field, point, &place);
	return inside ? belowAt(mesh, &place) : boundBeyond(mesh, point);
}

bool knSdf_Look(const knMesh* mesh, knVec3 point, double* below, double* distance, knVec3* normal) {
	Place place;
	if (!findPlace(mesh->field, point, &place)) {
		*below = boundBeyond(mesh, point);
		return false;
	}
	*below = belowAt(mesh, &place);
	*distance = place.distance;
	*normal = knScale(1.0 / knLength(place.slope), place.slope);
	return isSteep(&place);
}
