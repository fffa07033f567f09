// The tree that closest points of a mesh are searched in: four children to a node, their boxes side by side in float32, so
// that one look at two cache lines rules out three of them. It is the tree of boxes of bvh.h with every other level left out.
//
// Boxes are about the mesh's middle and a little larger than exact ones; distances to them are rounded down. So rounding
// makes the search look at more, never at less.
#include "core/alloc.h"
#include "geom/mesh.h"

#define GROW 1e-6 // of the mesh's size: many roundings

bool knMeshTree_Create(knMesh* mesh) {
	knMeshTree* tree = &mesh->closest;
	tree->middle = knAabb_Center(mesh->bounds);
	tree->capacity = mesh->faceCount;
	tree->nodes = knAllocArray(&mesh->allocator, (size_t)tree->capacity, sizeof(knMeshTreeNode));
	return tree->nodes != NULL || mesh->faceCount == 0;
}

void knMeshTree_Destroy(knMesh* mesh) {
	knFree(&mesh->allocator, mesh->closest.nodes, (size_t)mesh->closest.capacity * sizeof(knMeshTreeNode));
	mesh->closest = (knMeshTree){ 0 };
}

// The children of a node of the tree of boxes, the larger ones replaced by theirs until there are four.
static int chooseChildren(const knBvh* boxes, int node, int chosen[KN_MESH_TREE_WIDTH]) {
	int count = 1;
	chosen[0] = node;
	while (count < KN_MESH_TREE_WIDTH) {
		int largest = -1, most = 1;
		for (int i = 0; i < count; ++i) {
			int length = boxes->nodes[chosen[i]].skip - chosen[i];
			if (length > most) {
				most = length;
				largest = i;
			}
		}
		if (largest < 0) {
			break;
		}
		int left = chosen[largest] + 1;
		chosen[largest] = left;
		chosen[count++] = boxes->nodes[left].skip;
	}
	return count;
}

static void setChild(const knMesh* mesh, knMeshTreeNode* node, int k, const knBvhNode* from) {
	knAabb box = knAabb_Grow(from->box, GROW * mesh->size);
	for (int axis = 0; axis < 3; ++axis) {
		double middle = knComponent(mesh->closest.middle, axis);
		node->lower[axis][k] = (float)(knComponent(box.lower, axis) - middle);
		node->upper[axis][k] = (float)(knComponent(box.upper, axis) - middle);
	}
}

static void clearChild(knMeshTreeNode* node, int k) {
	for (int axis = 0; axis < 3; ++axis) {
		node->lower[axis][k] = node->upper[axis][k] = 0.0f;
	}
	node->children[k] = KN_MESH_TREE_NONE;
}

// Fills node after node; the children of a node lie side by side, and what is below one of them before what is below the
// next: a search that has come down stays in a few pages.
void knMeshTree_Build(knMesh* mesh) {
	const knBvh* boxes = &mesh->tree;
	knMeshTree* tree = &mesh->closest;
	tree->count = 0;
	if (boxes->nodeCount == 0) {
		return;
	}
	// until a node is filled, its place among the boxes stands in its first child, the node that waits below it in the second
	tree->nodes[tree->count++].children[0] = 0;
	tree->nodes[0].children[1] = -1;
	for (int top = 0; top >= 0;) {
		knMeshTreeNode* node = &tree->nodes[top];
		int chosen[KN_MESH_TREE_WIDTH], count = chooseChildren(boxes, node->children[0], chosen);
		top = node->children[1];
		for (int k = 0; k < KN_MESH_TREE_WIDTH; ++k) {
			if (k >= count) {
				clearChild(node, k);
				continue;
			}
			const knBvhNode* from = &boxes->nodes[chosen[k]];
			setChild(mesh, node, k, from);
			if (from->item >= 0) {
				node->children[k] = ~from->item;
			} else {
				node->children[k] = tree->count++;
				tree->nodes[node->children[k]].children[0] = chosen[k];
				tree->nodes[node->children[k]].children[1] = top;
				top = node->children[k];
			}
		}
	}
	KN_ASSERT(tree->count <= tree->capacity);
}
