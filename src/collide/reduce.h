// Choosing at most KN_MESH_MAX_POINTS of the many contacts of two nonconvex geometries, as they are found.
//
// Contacts with about the same normal and not too far apart form a cluster; of each the deepest is kept and the
// farthest in eight directions along the surface, which is the support polygon as far as eight points can tell
// it. A gap counts against a point, so that what touches goes before what only comes close. Of all of them together
// the deepest are kept as well: what is round touches inside of that polygon, and a contact that comes and goes makes
// a body at rest tremble. No allocation; the outcome depends on the order of contacts, which callers keep fixed.
#pragma once

#include "collide/pair.h"
#include "collide/gap_culling.h"

#define KN_REDUCE_CLUSTERS 24
#define KN_REDUCE_DIRECTIONS 8
#define KN_REDUCE_DEEPEST 16

typedef struct knCluster {
	knVec3 normal, seed, u, v;
	knContactPoint deepest;
	knContactPoint extreme[KN_REDUCE_DIRECTIONS];
	double score[KN_REDUCE_DIRECTIONS];
} knCluster;

typedef struct knReducer {
	double size;        // of the smaller geometry
	knCullingRule rule; // for gaps that say nothing
	bool calm;
	bool anyWillDo; // nobody asks for more than one contact
	int count;
	knCluster clusters[KN_REDUCE_CLUSTERS];
	int deepestCount, deepestMost;
	knContactPoint deepest[KN_REDUCE_DEEPEST]; // of all, sorted
} knReducer;

void knReducer_Init(knReducer* reducer, double size);
void knReducer_Add(knReducer* reducer, const knContactPoint* point);
// Ahead of a motion: bodies may go past each other by `slide` and turn by `tilt` before they are looked at again. A gap
// that cannot close by that before a contact beside it does says nothing: it is left out. If they are also `calm`, what is
// left lies about at one height, and its outline is enough.
void knReducer_SetMotion(knReducer* reducer, double slide, double tilt, bool calm);
// Whether no further contact is asked for.
static inline bool knReducer_IsDone(const knReducer* reducer) {
	return reducer->anyWillDo && reducer->count > 0;
}
// Writes what is kept, clusters in the order of their first contact, then the deepest of all; returns how many.
int knReducer_Finish(const knReducer* reducer, knContactPoint points[KN_MESH_MAX_POINTS]);
