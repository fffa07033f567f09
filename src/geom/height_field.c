// The height field: two triangles per cell of its grid, a surface with its front up and everything below it
// solid. It shares tree, closest points and samples with meshes.
#include "core/arena.h"
#include "geom/geom.h"
#include "geom/mesh.h"

static knStatus checkDef(const knHeightFieldDef* def, knError* error) {
	const char* name = "height field";
	if (def->columns < 2 || def->rows < 2 || def->heights == NULL) {
		return knError_Set(error, KN_BAD_DATA, name,
						   "the height field has %d columns and %d rows; it needs at least 2 of each",
						   def->columns, def->rows);
	}
	if ((int64_t)(def->columns - 1) * (def->rows - 1) > KN_MESH_MAX_TRIANGLES / 2) {
		return knError_Set(error, KN_LIMIT, name,
						   "the height field has %d x %d points; at most %d cells are possible", def->columns,
						   def->rows, KN_MESH_MAX_TRIANGLES / 2);
	}
	knStatus status = knGeom_CheckSize(KN_GEOM_HEIGHT_FIELD, "cell size x", def->cellX, error);
	if (status == KN_OK) {
		status = knGeom_CheckSize(KN_GEOM_HEIGHT_FIELD, "cell size y", def->cellY, error);
	}
	for (int i = 0; status == KN_OK && i < def->columns * def->rows; ++i) {
		if (!knIsFinite(def->heights[i])) {
			status = knError_Set(error, KN_BAD_DATA, name,
								 "height (%d, %d) of the height field is %g; it must be finite",
								 i % def->columns, i / def->columns, def->heights[i]);
		}
	}
	return status;
}

static void fill(const knHeightFieldDef* def, knVec3* vertices, knTriangle* triangles) {
	int columns = def->columns, rows = def->rows;
	for (int i = 0; i < columns * rows; ++i) {
		double x = (i % columns - 0.5 * (columns - 1)) * def->cellX;
		double y = (i / columns - 0.5 * (rows - 1)) * def->cellY;
		vertices[i] = knV3(x, y, def->heights[i]);
	}
	for (int row = 0, t = 0; row + 1 < rows; ++row) {
		for (int column = 0; column + 1 < columns; ++column, t += 2) {
			int corner = row * columns + column;
			triangles[t] = (knTriangle){ corner, corner + 1, corner + columns + 1 };
			triangles[t + 1] = (knTriangle){ corner, corner + columns + 1, corner + columns };
		}
	}
}

knGeom* knGeom_HeightField(const knHeightFieldDef* def, const knAllocator* allocator, knError* error) {
	KN_ASSERT(def != NULL);
	if (def == NULL) {
		knError_Set(error, KN_BAD_ARGUMENT, "height field", "the definition is missing");
		return NULL;
	}
	if (checkDef(def, error) != KN_OK) {
		return NULL;
	}
	knAllocator source = allocator != NULL ? *allocator : knAllocator_Default();
	knArena arena;
	knArena_Init(&arena, &source);
	knMeshDef mesh = { .vertexCount = def->columns * def->rows,
					   .triangleCount = 2 * (def->columns - 1) * (def->rows - 1) };
	knVec3* vertices = KN_SCRATCH(&arena, knVec3, mesh.vertexCount);
	knTriangle* triangles = KN_SCRATCH(&arena, knTriangle, mesh.triangleCount);
	knGeom* geom = NULL;
	if (vertices == NULL || triangles == NULL) {
		knError_Set(error, KN_NO_MEMORY, "height field", "out of memory for a height field");
	} else {
		fill(def, vertices, triangles);
		mesh.vertices = vertices;
		mesh.triangles = triangles;
		geom = knGeom_NewMesh(KN_GEOM_HEIGHT_FIELD, &mesh, &source, error);
	}
	knArena_Free(&arena);
	if (geom != NULL) {
		geom->mesh->unbounded = true;
	}
	return geom;
}
