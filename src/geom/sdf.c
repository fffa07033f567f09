// Asking the field of sdf.h.
#include "geom/sdf.h"

#include "core/alloc.h"

#define DEFAULT_TOLERANCE 1e-3 // of the mesh's size

void knSdf_Destroy(knSdf* field) {
	if (field == NULL) {
		return;
	}
	knAllocator allocator = field->allocator;
	knFree(&allocator, field->nodes, (size_t)field->nodeCount * sizeof(knSdfNode));
	knFree(&allocator, field->lists, (size_t)field->listCount * sizeof(int32_t));
	knFree(&allocator, field->tangents, (size_t)field->tangentCount * sizeof(knSdfTangent));
	knFree(&allocator, field, sizeof(knSdf));
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

typedef struct Leaf {
	knSdfNode node;
	knVec3 center;
} Leaf;

// Which tile a coordinate falls into, and the place in it.
static bool locate(double x, double tile, int count, int* index) {
	double at = x / tile;
	if (!(at >= 0.0 && at < (double)count)) {
		return false;
	}
	*index = (int)at;
	return true;
}

static bool findLeaf(const knSdf* field, knVec3 point, Leaf* leaf) {
	knVec3 from = knSub(point, field->lower);
	int x, y, z;
	if (!locate(from.x, field->tile, field->counts[0], &x) ||
		!locate(from.y, field->tile, field->counts[1], &y) ||
		!locate(from.z, field->tile, field->counts[2], &z)) {
		return false;
	}
	knSdfNode node = field->nodes[(z * field->counts[1] + y) * field->counts[0] + x];
	double half = 0.5 * field->tile;
	knVec3 center =
		knAdd(field->lower, knV3((x + 0.5) * field->tile, (y + 0.5) * field->tile, (z + 0.5) * field->tile));
	while (node.count == KN_SDF_INNER) {
		half *= 0.5;
		int right = point.x >= center.x, up = point.y >= center.y, far = point.z >= center.z;
		center.x += right ? half : -half;
		center.y += up ? half : -half;
		center.z += far ? half : -half;
		node = field->nodes[node.first + right + 2 * up + 4 * far];
	}
	*leaf = (Leaf){ node, center };
	return true;
}

static knSdfSample exactSample(const knMesh* mesh, knMeshHit hit, knVec3 point) {
	knSdfSample sample = { .exact = true, .hit = hit };
	sample.distance = knMesh_Signed(mesh, &hit, point, &sample.normal);
	return sample;
}

static knMeshHit closestOfList(const knMesh* mesh, knSdfNode node, knVec3 point) {
	knMeshHit hit = knMeshHit_None(INFINITY);
	for (int i = 0; i < node.count; ++i) {
		knMesh_Offer(mesh, mesh->field->lists[node.first + i], point, &hit);
	}
	return hit;
}

static double tangentAt(const knSdf* field, const Leaf* leaf, knVec3 point, knVec3* normal) {
	const knSdfTangent* tangent = &field->tangents[leaf->node.first];
	*normal = knV3((double)tangent->normal[0], (double)tangent->normal[1], (double)tangent->normal[2]);
	return (double)tangent->distance + knDot(*normal, knSub(point, leaf->center));
}

knSdfSample knSdf_Sample(const knMesh* mesh, knVec3 point) {
	Leaf leaf;
	if (mesh->field == NULL || !findLeaf(mesh->field, point, &leaf) || leaf.node.count == KN_SDF_TREE) {
		return exactSample(mesh, knMesh_Closest(mesh, point, INFINITY), point);
	}
	if (leaf.node.count != KN_SDF_TANGENT) {
		return exactSample(mesh, closestOfList(mesh, leaf.node, point), point);
	}
	knSdfSample sample = { .exact = false, .hit = { .triangle = -1 } };
	sample.distance = tangentAt(mesh->field, &leaf, point, &sample.normal);
	return sample;
}

// Distance of a point from the mesh's box; 0 inside.
static double distanceToBounds(const knMesh* mesh, knVec3 point) {
	knVec3 below = knSub(mesh->bounds.lower, point), above = knSub(point, mesh->bounds.upper);
	return knLength(knMax3(knMax3(below, above), knZero3()));
}

double knSdf_LowerBound(const knMesh* mesh, knVec3 point) {
	Leaf leaf;
	if (mesh->field == NULL || !findLeaf(mesh->field, point, &leaf)) {
		double bound = distanceToBounds(mesh, point);
		return bound > 0.0 ? bound : -INFINITY;
	}
	if (leaf.node.count == KN_SDF_TANGENT) {
		// distances change no faster than places; float32 keeps 24 bits
		double distance = (double)mesh->field->tangents[leaf.node.first].distance;
		return distance - knDistance(point, leaf.center) - 1e-6 * knAbs(distance);
	}
	return knSdf_Sample(mesh, point).distance;
}
