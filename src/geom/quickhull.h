// Quickhull: the triangles of a convex hull (Barber et al. 1996, on triangles).
#pragma once

#include "core/array.h"
#include "knuckle/vecmath.h"

typedef struct knHullTriangle {
	int v[3];   // counter-clockwise seen from outside
	int adj[3]; // triangle beyond the edge v[i] v[i + 1]
	knVec3 normal;
	double offset;
	double area; // twice
	int outside; // first of the points above it, linked by knQuickhull.next; -1: none
	int farthest;
	double reach; // of the farthest above it
	int mark;     // visited by the search of this number
	bool dead;
} knHullTriangle;

typedef struct knQuickhull {
	const knAllocator* allocator;
	const knVec3* points;
	int count;
	double size;    // largest extent of the points
	double epsilon; // a point higher than this above a plane is above it
	int* next;      // [count] links of the lists of points
	int* edgeFrom;  // [count] horizon edge that starts at a point; -1: none
	KN_ARRAY(knHullTriangle) triangles;
	KN_ARRAY(int) pending; // triangles that may have points above
	KN_ARRAY(int) visible;
	KN_ARRAY(int) horizon; // pairs: invisible triangle, its edge
	KN_ARRAY(int) fresh;
	int searches;
} knQuickhull;

typedef enum knHullResult { KN_HULL_DONE, KN_HULL_NO_MEMORY, KN_HULL_TANGLED, KN_HULL_FLAT } knHullResult;

// Triangles of the hull of points whose coordinates are about the size of their extent. Tangled: rounding made
// a horizon that is no loop; the caller tries again with a larger epsilon.
knHullResult knQuickhull_Run(knQuickhull* q, const knVec3* points, int count, double size, double epsilon,
							 const knAllocator* allocator);
void knQuickhull_Free(knQuickhull* q);
