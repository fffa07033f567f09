// The triangle mesh as a geometry: a solid with a field, or a surface that does not move.
#include <string.h>

#include "geom/geom.h"
#include "geom/mesh.h"
#include "geom/sdf.h"

#define ROUNDING 1e-12

knMeshDef knMeshDef_Default(void) {
	return (knMeshDef){ .solid = true };
}

void knMesh_Destroy(knMesh* mesh) {
	if (mesh == NULL) {
		return;
	}
	knAllocator allocator = mesh->allocator;
	size_t vertices = (size_t)mesh->vertexCount, triangles = (size_t)mesh->triangleCount;
	knFree(&allocator, mesh->vertices, vertices * sizeof(knVec3));
	knFree(&allocator, mesh->triangles, triangles * sizeof(knTriangle));
	knFree(&allocator, mesh->edges, 3 * triangles * sizeof(knMeshEdge));
	knFree(&allocator, mesh->triangleEdges, 3 * triangles * sizeof(int));
	knFree(&allocator, mesh->faceNormals, triangles * sizeof(knVec3));
	knFree(&allocator, mesh->vertexNormals, vertices * sizeof(knVec3));
	knFree(&allocator, mesh->balls, triangles * sizeof(knMeshBall));
	knFree(&allocator, mesh->samples, triangles);
	knFree(&allocator, mesh->edgeConvex, (size_t)mesh->edgeCount);
	knFree(&allocator, mesh->nodeRadii, (size_t)mesh->tree.nodeCount * sizeof(double));
	knBvh_Destroy(&mesh->tree, &allocator);
	knMeshTree_Destroy(mesh);
	knSdf_Destroy(mesh->field);
	knFree(&allocator, mesh, sizeof(knMesh));
}

// Balls about the boxes of the tree: smaller than those about the boxes' corners.
static bool findRadii(knMesh* mesh) {
	const knBvh* tree = &mesh->tree;
	mesh->nodeRadii = knAllocArray(&mesh->allocator, (size_t)tree->nodeCount, sizeof(double));
	if (mesh->nodeRadii == NULL && tree->nodeCount > 0) {
		return false;
	}
	for (int i = 0; i < tree->nodeCount; ++i) {
		knVec3 center = knAabb_Center(tree->nodes[i].box);
		double farthest = 0.0;
		for (int k = i; k < tree->nodes[i].skip; ++k) {
			knVec3 corners[3];
			if (tree->nodes[k].item >= 0) {
				knMesh_Corners(mesh, tree->nodes[k].item, corners);
				for (int c = 0; c < 3; ++c) {
					farthest = knMax(farthest, knLengthSquared(knSub(corners[c], center)));
				}
			}
		}
		mesh->nodeRadii[i] = sqrt(farthest) * (1.0 + ROUNDING);
	}
	return true;
}

bool knMesh_BuildTree(knMesh* mesh) {
	size_t count = (size_t)mesh->faceCount;
	knAabb* boxes = knAllocArray(&mesh->allocator, count, sizeof(knAabb));
	knVec3* centers = knAllocArray(&mesh->allocator, count, sizeof(knVec3));
	bool ok = boxes != NULL && centers != NULL &&
			  knBvh_Create(&mesh->tree, mesh->faceCount, &mesh->allocator) && knMeshTree_Create(mesh);
	for (int t = 0; ok && t < mesh->faceCount; ++t) {
		knVec3 p[3];
		knMesh_Corners(mesh, t, p);
		boxes[t].lower = knMin3(p[0], knMin3(p[1], p[2]));
		boxes[t].upper = knMax3(p[0], knMax3(p[1], p[2]));
		centers[t] = knAabb_Center(boxes[t]);
	}
	if (ok) {
		knBvh_Build(&mesh->tree, boxes, centers);
		knMeshTree_Build(mesh);
		ok = findRadii(mesh);
	}
	knFree(&mesh->allocator, boxes, count * sizeof(knAabb));
	knFree(&mesh->allocator, centers, count * sizeof(knVec3));
	return ok;
}

// Everything that follows from the user's triangles.
static knStatus make(knMesh* mesh, const knMeshDef* def, knError* error) {
	knStatus status = knMesh_Load(mesh, def, error);
	if (status != KN_OK) {
		return status;
	}
	if (!knMesh_FindEdges(mesh) || !knMesh_FindNormals(mesh) || !knMesh_FindSamples(mesh) ||
		!knMesh_BuildTree(mesh)) {
		return knError_Set(error, KN_NO_MEMORY, "mesh", "out of memory for a mesh of %d triangles",
						   mesh->triangleCount);
	}
	if (!mesh->solid) {
		return KN_OK;
	}
	mesh->unit = knMesh_Mass(mesh->vertices, mesh->triangles, mesh->triangleCount);
	return knSdf_Make(mesh, def, error);
}

knGeom* knGeom_NewMesh(knGeomKind kind, const knMeshDef* def, const knAllocator* allocator, knError* error) {
	knGeom* geom = knGeom_New(kind, knZero3(), allocator, error);
	if (geom == NULL) {
		return NULL;
	}
	geom->mesh = knAllocZero(&geom->allocator, sizeof(knMesh));
	knStatus status = KN_NO_MEMORY;
	if (geom->mesh == NULL) {
		knError_Set(error, status, knGeomKind_Name(kind), "out of memory");
	} else {
		geom->mesh->allocator = geom->allocator;
		status = make(geom->mesh, def, error);
	}
	if (status != KN_OK) {
		knGeom_Release(geom);
		return NULL;
	}
	return geom;
}

knGeom* knGeom_Mesh(const knMeshDef* def, const knAllocator* allocator, knError* error) {
	KN_ASSERT(def != NULL);
	if (def == NULL) {
		knError_Set(error, KN_BAD_ARGUMENT, "mesh", "the definition is missing");
		return NULL;
	}
	return knGeom_NewMesh(KN_GEOM_MESH, def, allocator, error);
}

bool knGeom_IsSurface(const knGeom* geom) {
	for (int i = 0; i < geom->childCount; ++i) {
		if (knGeom_IsSurface(geom->children[i].geom)) {
			return true;
		}
	}
	return geom->mesh != NULL && !geom->mesh->solid;
}

static void destroy(knGeom* geom) {
	knMesh_Destroy(geom->mesh);
}

static knMassProps massProps(const knGeom* geom, double density) {
	knMassProps props = geom->mesh->unit;
	props.mass *= density;
	props.inertia = knScaleM(density, &props.inertia);
	return props;
}

static knAabb aabb(const knGeom* geom, knFrame frame) {
	return knAabb_Transform(geom->mesh->bounds, frame);
}

static double distance(const knGeom* geom, knVec3 pointLocal) {
	knVec3 normal;
	knMeshHit hit = knMesh_Closest(geom->mesh, pointLocal, INFINITY);
	return knMesh_Signed(geom->mesh, &hit, pointLocal, &normal);
}

static const knVec3* vertices(const knGeom* geom, int* count) {
	*count = geom->mesh->vertexCount;
	return geom->mesh->vertices;
}

static const knTriangle* triangles(const knGeom* geom, int* count) {
	*count = geom->mesh->triangleCount;
	return geom->mesh->triangles;
}

const knGeomOps knGeomOps_Mesh = {
	.name = "mesh",
	.destroy = destroy,
	.massProps = massProps,
	.aabb = aabb,
	.distance = distance,
	.vertices = vertices,
	.triangles = triangles,
};

const knGeomOps knGeomOps_HeightField = {
	.name = "height field",
	.destroy = destroy,
	.massProps = massProps,
	.aabb = aabb,
	.distance = distance,
	.vertices = vertices,
	.triangles = triangles,
};
