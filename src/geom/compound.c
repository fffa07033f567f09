// The compound: several geometries held rigidly together, under a tree of boxes in the compound's frame.
//
// Many children stay cheap: bounds are taken over a *cover*, the first few nodes from the top of the tree
// that together hold every child (a node that is one child counts with that child's own bounds), and
// distances skip subtrees whose box is farther than the best so far.
#include <stdio.h>
#include <string.h>

#include "geom/geom.h"
#include "geom/mesh.h"

static knStatus checkChildren(const knGeomChild* children, int count, knError* error) {
	if (children == NULL || count < 1) {
		return knError_Set(error, KN_BAD_DATA, "compound", "the compound has no children");
	}
	if (count > KN_GEOM_MAX_CHILDREN) {
		return knError_Set(error, KN_LIMIT, "compound",
						   "the compound has %d children; at most %d are possible", count,
						   KN_GEOM_MAX_CHILDREN);
	}
	for (int i = 0; i < count; ++i) {
		char element[64];
		snprintf(element, sizeof(element), "child %d of the compound", i);
		const knGeom* geom = children[i].geom;
		if (geom == NULL) {
			return knError_Set(error, KN_BAD_DATA, element, "%s has no geometry", element);
		}
		if (geom->kind == KN_GEOM_COMPOUND || knGeomOps_Get(geom->kind)->infinite) {
			return knError_Set(error, KN_BAD_DATA, element, "%s is a %s, which a compound cannot hold",
							   element, knGeomKind_Name(geom->kind));
		}
		if (geom->mesh != NULL && geom->mesh->triangleCount > KN_MESH_MAX_PART) {
			return knError_Set(error, KN_LIMIT, element,
							   "%s is a mesh of %d triangles; in a compound at most %d are possible", element,
							   geom->mesh->triangleCount, KN_MESH_MAX_PART);
		}
		if (knGeom_CheckFrame(children[i].frame, element, error) != KN_OK) {
			return error != NULL ? error->status : KN_BAD_DATA;
		}
	}
	return KN_OK;
}

// Builds the tree; its scratch (a box and a centre per child) is released again. False when out of memory.
static bool buildTree(knGeom* geom) {
	size_t count = (size_t)geom->childCount;
	knAabb* boxes = knAllocArray(&geom->allocator, count, sizeof(knAabb));
	knVec3* centers = knAllocArray(&geom->allocator, count, sizeof(knVec3));
	bool ok =
		boxes != NULL && centers != NULL && knBvh_Create(&geom->tree, geom->childCount, &geom->allocator);
	if (ok) {
		for (int i = 0; i < geom->childCount; ++i) {
			boxes[i] = knGeom_Aabb(geom->children[i].geom, geom->children[i].frame);
			centers[i] = knAabb_Center(boxes[i]);
		}
		knBvh_Build(&geom->tree, boxes, centers);
	}
	knFree(&geom->allocator, boxes, count * sizeof(knAabb));
	knFree(&geom->allocator, centers, count * sizeof(knVec3));
	return ok;
}

// Opens nodes from the top, breadth first, while there is room.
static void chooseCover(knGeom* geom) {
	geom->coverCount = 1;
	geom->cover[0] = 0;
	for (int i = 0; i < geom->coverCount && geom->coverCount < KN_GEOM_COVER;) {
		const knBvhNode* node = &geom->tree.nodes[geom->cover[i]];
		if (node->item >= 0) {
			++i;
			continue;
		}
		int left = geom->cover[i] + 1;
		memmove(&geom->cover[i], &geom->cover[i + 1], (size_t)(geom->coverCount - i - 1) * sizeof(int));
		geom->cover[geom->coverCount - 1] = left;
		geom->cover[geom->coverCount++] = geom->tree.nodes[left].skip;
	}
}

knGeom* knGeom_Compound(const knGeomChild* children, int count, const knAllocator* allocator,
						knError* error) {
	if (checkChildren(children, count, error) != KN_OK) {
		return NULL;
	}
	knGeom* geom = knGeom_New(KN_GEOM_COMPOUND, knZero3(), allocator, error);
	if (geom == NULL) {
		return NULL;
	}
	geom->children = knAllocArray(&geom->allocator, (size_t)count, sizeof(knGeomChild));
	if (geom->children != NULL) {
		geom->childCount = count;
		for (int i = 0; i < count; ++i) {
			geom->children[i] = children[i];
			knGeom_Retain(children[i].geom);
		}
	}
	if (geom->children == NULL || !buildTree(geom)) {
		knGeom_Release(geom);
		knError_Set(error, KN_NO_MEMORY, "compound", "out of memory for a compound of %d children", count);
		return NULL;
	}
	chooseCover(geom);
	return geom;
}

static knMassProps massProps(const knGeom* geom, double density) {
	knMassProps sum = { 0.0, knZero3(), knDiagonal33(0.0, 0.0, 0.0) };
	for (int i = 0; i < geom->childCount; ++i) {
		knMassProps own = knGeom_MassProps(geom->children[i].geom, density);
		knMassProps placed = knMassProps_Transform(&own, geom->children[i].frame);
		sum = knMassProps_Add(&sum, &placed);
	}
	return sum;
}

static knAabb aabb(const knGeom* geom, knFrame frame) {
	knAabb bounds = knAabb_Empty();
	for (int i = 0; i < geom->coverCount; ++i) {
		const knBvhNode* node = &geom->tree.nodes[geom->cover[i]];
		if (node->item >= 0) {
			const knGeomChild* child = &geom->children[node->item];
			bounds = knAabb_Union(bounds, knGeom_Aabb(child->geom, knMulF(frame, child->frame)));
		} else {
			bounds = knAabb_Union(bounds, knAabb_Transform(node->box, frame));
		}
	}
	return bounds;
}

// Distance of a point outside a box; 0 inside.
static double distanceToBox(const knAabb* box, knVec3 point) {
	knVec3 below = knSub(box->lower, point), above = knSub(point, box->upper);
	return knLength(knMax3(knMax3(below, above), knZero3()));
}

static double distance(const knGeom* geom, knVec3 pointLocal) {
	double best = INFINITY;
	for (int i = 0; i < geom->tree.nodeCount;) {
		const knBvhNode* node = &geom->tree.nodes[i];
		double bound = distanceToBox(&node->box, pointLocal);
		if (bound > 0.0 && bound >= best) {
			i = node->skip;
			continue;
		}
		if (node->item >= 0) {
			const knGeomChild* child = &geom->children[node->item];
			best = knMin(best, knGeom_Distance(child->geom, knInvPoint(child->frame, pointLocal)));
		}
		i += 1;
	}
	return best;
}

const knGeomOps knGeomOps_Compound = {
	.name = "compound",
	.massProps = massProps,
	.aabb = aabb,
	.distance = distance,
};
