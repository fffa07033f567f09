// Closest points of triangles and meshes, and the sign there.
//
// Triangle: the point's projection is classed by the Voronoi regions of the corners, the edges and the face.
// Mesh: branch and bound down the tree of mesh_tree.c, the nearest child first. Sign: by the pseudonormal of the
// closest feature, which for an edge is the sum of its triangles' normals and for a vertex their sum weighted
// by angle.
#include <float.h>

#include "core/simd.h"
#include "geom/mesh.h"

#define STACK 256       // three to a level, and the tree has at most 40 and those of halving: see bvh.c
#define LOWER 0.999998f // takes off more than roundings add
#define BEFORE 1e-9     // of the mesh's size: rounding
#define ON_SURFACE 1e-7 // of the mesh's size: so close, the direction to the surface is noise

// Inlined where it matters.
static inline knVec3 closestOnTriangle(knVec3 a, knVec3 b, knVec3 c, knVec3 point, int* feature) {
	knVec3 ab = knSub(b, a), ac = knSub(c, a), ap = knSub(point, a);
	double abAp = knDot(ab, ap), acAp = knDot(ac, ap);
	if (abAp <= 0.0 && acAp <= 0.0) {
		*feature = 0;
		return a;
	}
	double abAb = knDot(ab, ab), abAc = knDot(ab, ac), acAc = knDot(ac, ac);
	double abBp = abAp - abAb, acBp = acAp - abAc; // from b
	if (abBp >= 0.0 && acBp <= abBp) {
		*feature = 1;
		return b;
	}
	double abCp = abAp - abAc, acCp = acAp - acAc; // from c
	if (acCp >= 0.0 && abCp <= acCp) {
		*feature = 2;
		return c;
	}
	// areas of the projection's sub-triangles, opposite to c, b, a
	double areaC = abAp * acBp - abBp * acAp;
	if (areaC <= 0.0 && abAp >= 0.0 && abBp <= 0.0) {
		*feature = KN_TRIANGLE_EDGE;
		return knMulAdd(a, abAp / (abAp - abBp), ab);
	}
	double areaB = abCp * acAp - abAp * acCp;
	if (areaB <= 0.0 && acAp >= 0.0 && acCp <= 0.0) {
		*feature = KN_TRIANGLE_EDGE + 2;
		return knMulAdd(a, acAp / (acAp - acCp), ac);
	}
	double areaA = abBp * acCp - abCp * acBp;
	double fromB = acBp - abBp, fromC = abCp - acCp; // along b to c, from either end
	if (areaA <= 0.0 && fromB >= 0.0 && fromC >= 0.0) {
		*feature = KN_TRIANGLE_EDGE + 1;
		return knMulAdd(b, fromB / (fromB + fromC), knSub(c, b));
	}
	*feature = KN_TRIANGLE_FACE;
	double scale = 1.0 / (areaA + areaB + areaC);
	return knMulAdd(knMulAdd(a, areaB * scale, ab), areaC * scale, ac);
}

knVec3 knTriangle_Closest(knVec3 a, knVec3 b, knVec3 c, knVec3 point, int* feature) {
	return closestOnTriangle(a, b, c, point, feature);
}

void knMesh_Offer(const knMesh* mesh, int triangle, knVec3 point, knMeshHit* best) {
	const knMeshBall* ball = &mesh->balls[triangle];
	double reach = best->distance + ball->radius;
	if (knLengthSquared(knSub(point, ball->center)) >= reach * reach) {
		return;
	}
	knVec3 corners[3];
	knMesh_Corners(mesh, triangle, corners);
	int feature;
	knVec3 closest = closestOnTriangle(corners[0], corners[1], corners[2], point, &feature);
	double squared = knLengthSquared(knSub(point, closest));
	if (squared < best->squared) {
		*best = (knMeshHit){ triangle, feature, closest, sqrt(squared), squared };
	}
}

// A point under a triangle's face that looks against `facing`.
typedef struct Facing {
	bool wanted;
	knVec3 along;
} Facing;

static bool isLeft(const knMesh* mesh, const Facing* facing, int triangle, knVec3 point) {
	if (!facing->wanted) {
		return true;
	}
	knVec3 normal = mesh->faceNormals[triangle];
	knVec3 corner = mesh->vertices[mesh->triangles[triangle].a];
	return knDot(normal, facing->along) < 0.0 && knDot(normal, knSub(point, corner)) <= BEFORE * mesh->size;
}

// Boxes so far away do not matter any more.
static inline double enough(const knMeshHit* best, const knMeshRough* rough) {
	double least = best->distance - knMeshRough_Error(rough, best->distance);
	return least > 0.0 ? least * least : 0.0;
}

typedef struct Waiting {
	int32_t child; // of a node of the tree
	float squared;
} Waiting;

// Puts a node's children that matter on the stack, the nearest on top.
static inline int pushChildren(const knMeshTreeNode* node, const float p[3], double limit, Waiting* stack,
							   int depth) {
	float squared[KN_MESH_TREE_WIDTH];
	knBoxes_Squared(node->lower, node->upper, p, squared);
	int bottom = depth;
	for (int k = 0; k < KN_MESH_TREE_WIDTH; ++k) {
		// rounded down, and never so large that it would rule out everything
		float least = squared[k] < FLT_MAX ? LOWER * squared[k] : FLT_MAX;
		if ((double)least >= limit || node->children[k] == KN_MESH_TREE_NONE) {
			continue;
		}
		int place = depth++;
		for (; place > bottom && stack[place - 1].squared < least; --place) {
			stack[place] = stack[place - 1];
		}
		stack[place] = (Waiting){ node->children[k], least };
	}
	return depth;
}

static knMeshHit search(const knMesh* mesh, knVec3 point, const Facing* facing, const knMeshRough* rough,
						knMeshHit best) {
	const knMeshTree* tree = &mesh->closest;
	knVec3 from = knSub(point, tree->middle);
	const float p[3] = { (float)from.x, (float)from.y, (float)from.z };
	double limit = rough != NULL ? enough(&best, rough) : best.squared;
	Waiting stack[STACK];
	int depth = tree->count > 0 ? pushChildren(&tree->nodes[0], p, limit, stack, 0) : 0;
	while (depth > 0) {
		Waiting next = stack[--depth];
		if ((double)next.squared >= limit) {
			continue;
		}
		if (next.child >= 0) {
			KN_ASSERT(depth + KN_MESH_TREE_WIDTH <= STACK);
			depth = pushChildren(&tree->nodes[next.child], p, limit, stack, depth);
		} else if (isLeft(mesh, facing, ~next.child, point)) {
			knMesh_Offer(mesh, ~next.child, point, &best);
			limit = rough != NULL ? enough(&best, rough) : best.squared;
		}
	}
	return best;
}

knMeshHit knMesh_Closest(const knMesh* mesh, knVec3 point, double radius) {
	Facing any = { .wanted = false };
	return search(mesh, point, &any, NULL, knMeshHit_None(radius));
}

knMeshHit knMesh_ClosestFrom(const knMesh* mesh, knVec3 point, double radius, int triangle,
							 const knMeshRough* rough) {
	Facing any = { .wanted = false };
	knMeshHit best = knMeshHit_None(radius);
	if (triangle >= 0) {
		knMesh_Offer(mesh, triangle, point, &best);
	}
	return search(mesh, point, &any, rough, best);
}

knMeshHit knMesh_ClosestFacing(const knMesh* mesh, knVec3 point, knVec3 facing, double radius) {
	Facing looking = { true, facing };
	return search(mesh, point, &looking, NULL, knMeshHit_None(radius));
}

knVec3 knMesh_PseudoNormal(const knMesh* mesh, const knMeshHit* hit) {
	if (hit->feature == KN_TRIANGLE_FACE) {
		return mesh->faceNormals[hit->triangle];
	}
	if (hit->feature < KN_TRIANGLE_EDGE) {
		return mesh->vertexNormals[knTriangle_Corner(&mesh->triangles[hit->triangle], hit->feature)];
	}
	// all records of the edge: several where more than two triangles meet
	int edge = mesh->triangleEdges[hit->triangle][hit->feature - KN_TRIANGLE_EDGE];
	int a = mesh->edges[edge].a, b = mesh->edges[edge].b;
	while (edge > 0 && mesh->edges[edge - 1].a == a && mesh->edges[edge - 1].b == b) {
		--edge;
	}
	knVec3 sum = knZero3();
	for (; edge < mesh->edgeCount && mesh->edges[edge].a == a && mesh->edges[edge].b == b; ++edge) {
		sum = knAdd(sum, mesh->faceNormals[mesh->edges[edge].left]);
		if (mesh->edges[edge].right >= 0) {
			sum = knAdd(sum, mesh->faceNormals[mesh->edges[edge].right]);
		}
	}
	return sum;
}

double knMesh_Signed(const knMesh* mesh, const knMeshHit* hit, knVec3 point, knVec3* normal) {
	knVec3 away = knSub(point, hit->point), pseudo = knMesh_PseudoNormal(mesh, hit);
	double distance = hit->distance, side = knDot(away, pseudo);
	bool inside = side < 0.0;
	if (hit->feature == KN_TRIANGLE_FACE) {
		*normal = pseudo;
	} else if (distance <= ON_SURFACE * mesh->size) {
		*normal = knNormalize(pseudo);
	} else {
		*normal = knScale((inside ? -1.0 : 1.0) / distance, away);
	}
	return inside ? -distance : distance;
}
