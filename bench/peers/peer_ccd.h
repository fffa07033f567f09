// libccd 2 as a peer of the convex pairs: GJK for yes or no, GJK and EPA for depths. Its header is found when the
// tool is built, the library itself when the bench runs, so that the tool does not depend on it.
#pragma once

#include "knuckle/collide.h"

typedef struct knCcdPeer knCcdPeer;

// NULL and the reason if the library cannot be used.
knCcdPeer* knCcdPeer_Open(const char** reason);
void knCcdPeer_Close(knCcdPeer* peer);

// A convex geometry in place; no planes.
typedef struct knCcdShape {
	const knGeom* geom;
	knFrame frame;
} knCcdShape;

bool knCcdPeer_Intersect(const knCcdPeer* peer, const knCcdShape* a, const knCcdShape* b);
// Its penetration depth, or a negative number if it finds none.
double knCcdPeer_Depth(const knCcdPeer* peer, const knCcdShape* a, const knCcdShape* b);
