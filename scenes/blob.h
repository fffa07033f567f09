// Closed meshes for scenes: the surface of a few tapered rods, smoothly joined.
#pragma once

#include "knuckle/knuckle.h"

// A rod from a to b whose radius changes evenly; a ball if a = b.
typedef struct knBlobPart {
	knVec3 a, b;
	double ra, rb;
} knBlobPart;

typedef struct knBlob {
	const knBlobPart* parts;
	int count;
	double blend; // m, over which parts flow into each other; 0: sharp
} knBlob;

// Below zero inside; near the surface about a distance.
double knBlob_Value(const knBlob* blob, knVec3 point);

typedef struct knBlobMesh {
	knVec3* vertices;
	int vertexCount;
	knTriangle* triangles;
	int triangleCount;
	int vertexCapacity, triangleCapacity;
} knBlobMesh;

// A closed, oriented surface of about `triangles` triangles: at least as many, unless the parts are so thick that fewer show
// all of them, and seldom more than a few beyond. Release with knBlobMesh_Free; false when out of memory.
bool knBlob_Polygonise(const knBlob* blob, int triangles, knBlobMesh* mesh);
void knBlobMesh_Free(knBlobMesh* mesh);

// The same as geometry to collide with. NULL and an error on failure.
knGeom* knBlob_Geom(const knBlob* blob, int triangles, knError* error);
