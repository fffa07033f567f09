// EPA (van den Bergen 2001): the boundary point of C closest to the origin inside.
//
// A polytope inside C, started from any four of its points, grows where its plane is lowest seen from the
// origin (or where the origin still lies outside, which makes touching an ordinary case): the point of C
// farthest along that plane's normal joins. A plane that cannot grow is one of C's own, and the lowest.
//
// Curved cores have no last plane. Their best direction is polished (axis.c), and the search goes on only to
// prove that no plane can become lower. Where C is nearly round about the origin that takes too many planes:
// then every plane that could still hide a lower place is polished too, as far as that is reasonable.
//
// Outward normals of C point against the contact normal: m = -n, offset = -s.
#include "collide/convex_support.h"

#define MOST_CORNERS 256
#define MOST_FACES 512
#define CURVED_CORNERS 128 // of curved cores
#define COARSE_GAIN                                                                                          \
	1e-2 // sizes that a plane may promise when the best direction is polished for the first time
#define CURVED_GAIN 4e-7 // and when the search ends
#define PLAIN_GAIN 1e-13 // polytopes end exactly
#define ROUNDING 4e-15   // scales
#define SETTLED 1e-7     // sizes that another direction must promise to be tried
#define OFF_CURVED 0.12  // radians that the search may leave open
#define OFF_PLAIN 1e-3
#define MOST_STARTS 32  // directions to polish after an unfinished search
#define SAME_START 0.98 // cosine
#define NEARLY 1.05     // times as deep as the best: worth polishing

typedef struct Face {
	int v[3];   // counter-clockwise seen from outside
	int adj[3]; // face beyond the edge v[i] v[i + 1]
	knVec3 m;
	double offset;
	int mark;
	bool dead;
} Face;

typedef struct Edge {
	int face, edge; // of the face that stays
} Edge;

typedef struct Polytope {
	const knCorePair* pair;
	int cornerCount, faceCount;
	double slack; // a point is above a plane if higher
	int searches;
	knCorner corners[MOST_CORNERS];
	Face faces[MOST_FACES];
	Edge horizon[MOST_CORNERS];
	int horizonCount;
	int edgeFrom[MOST_CORNERS]; // horizon edge from a corner; -1: none
	int stack[MOST_FACES];
} Polytope;

// --- building ----------------------------------------------------------------------------------------------

// A face in a free place; -1 if there is none.
static int addFace(Polytope* t, int a, int b, int c) {
	int index = -1;
	if (t->faceCount < MOST_FACES) {
		index = t->faceCount++;
	}
	for (int f = 0; index < 0 && f < t->faceCount; ++f) {
		index = t->faces[f].dead ? f : -1;
	}
	if (index < 0) {
		return -1;
	}
	knVec3 pa = t->corners[a].w, pb = t->corners[b].w, pc = t->corners[c].w;
	Face face = { .v = { a, b, c } };
	face.m = knNormalize(knCross(knSub(pb, pa), knSub(pc, pa)));
	face.offset = knMax(knDot(face.m, pa), knMax(knDot(face.m, pb), knDot(face.m, pc)));
	t->faces[index] = face;
	return index;
}

static void addCorner(Polytope* t, knVec3 m) {
	t->corners[t->cornerCount++] = knCorePair_Support(t->pair, knNeg(m));
}

// Makes the support along +-m the next corner, whichever is farther from corner 0 along m.
static void addFarther(Polytope* t, knVec3 m) {
	knCorner up = knCorePair_Support(t->pair, knNeg(m)), down = knCorePair_Support(t->pair, m);
	double rise = knDot(m, knSub(up.w, t->corners[0].w)), fall = knDot(m, knSub(t->corners[0].w, down.w));
	t->corners[t->cornerCount++] = rise >= fall ? up : down;
}

// Four corners that span a solid, and their faces.
static void makeFirst(Polytope* t) {
	knVec3 first = knLength(t->pair->between) > 0.0 ? knNormalize(t->pair->between) : knV3(0.0, 0.0, 1.0);
	addCorner(t, first);
	addCorner(t, knNeg(first));
	knVec3 line = knNormalize(knSub(t->corners[1].w, t->corners[0].w));
	line = knLengthSquared(line) > 0.0 ? line : first;
	// of two directions across the line the one that reaches farther
	knVec3 across[2];
	across[0] = knAnyOrthogonal(line);
	across[1] = knCross(line, across[0]);
	double reach[2];
	for (int k = 0; k < 2; ++k) {
		t->cornerCount = 2;
		addFarther(t, across[k]);
		knVec3 d = knSub(t->corners[2].w, t->corners[0].w);
		reach[k] = knLength(knMulAdd(d, -knDot(d, line), line));
	}
	if (reach[0] > reach[1]) {
		t->cornerCount = 2;
		addFarther(t, across[0]);
	}
	knVec3 d = knSub(t->corners[2].w, t->corners[0].w);
	knVec3 normal = knNormalize(knCross(line, d));
	addFarther(t, normal);
	if (knDot(normal, knSub(t->corners[3].w, t->corners[0].w)) > 0.0) {
		knCorner swap = t->corners[1];
		t->corners[1] = t->corners[2];
		t->corners[2] = swap;
	}
	static const int corners[4][3] = { { 0, 1, 2 }, { 0, 3, 1 }, { 1, 3, 2 }, { 2, 3, 0 } };
	static const int adjacent[4][3] = { { 1, 2, 3 }, { 3, 2, 0 }, { 1, 3, 0 }, { 2, 1, 0 } };
	for (int k = 0; k < 4; ++k) {
		addFace(t, corners[k][0], corners[k][1], corners[k][2]);
		for (int i = 0; i < 3; ++i) {
			t->faces[k].adj[i] = adjacent[k][i];
		}
	}
}

// --- growing -----------------------------------------------------------------------------------------------

// Kills the faces that see `eye`, from `first` on, and collects their border; false if that is too long.
static bool findHorizon(Polytope* t, int first, knVec3 eye) {
	int count = 0, search = ++t->searches;
	t->horizonCount = 0;
	t->stack[count++] = first;
	t->faces[first].mark = search;
	for (int k = 0; k < count; ++k) {
		const Face* face = &t->faces[t->stack[k]];
		for (int i = 0; i < 3; ++i) {
			Face* beyond = &t->faces[face->adj[i]];
			if (beyond->mark != search && knDot(beyond->m, eye) - beyond->offset > t->slack) {
				beyond->mark = search;
				t->stack[count++] = face->adj[i];
			}
		}
	}
	for (int k = 0; k < count; ++k) {
		int inner = t->stack[k];
		for (int i = 0; i < 3; ++i) {
			int outer = t->faces[inner].adj[i];
			const Face* beyond = &t->faces[outer];
			if (beyond->mark == search) {
				continue;
			}
			if (t->horizonCount == MOST_CORNERS) {
				return false;
			}
			int edge = beyond->adj[0] == inner ? 0 : (beyond->adj[1] == inner ? 1 : 2);
			t->horizon[t->horizonCount++] = (Edge){ outer, edge };
		}
	}
	for (int k = 0; k < count; ++k) {
		t->faces[t->stack[k]].dead = true;
	}
	return true;
}

static int edgeStart(const Polytope* t, int k) {
	return t->faces[t->horizon[k].face].v[(t->horizon[k].edge + 1) % 3];
}

static int edgeEnd(const Polytope* t, int k) {
	return t->faces[t->horizon[k].face].v[t->horizon[k].edge];
}

// Joins corner `eye` to the horizon; false if that is no loop or there is no room.
static bool makeFan(Polytope* t, int eye) {
	for (int i = 0; i < t->cornerCount; ++i) {
		t->edgeFrom[i] = -1;
	}
	for (int k = 0; k < t->horizonCount; ++k) {
		int* from = &t->edgeFrom[edgeStart(t, k)];
		if (*from >= 0) {
			return false;
		}
		*from = k;
	}
	int length = 0;
	for (int k = 0; length < t->horizonCount; ++length) {
		k = t->edgeFrom[edgeEnd(t, k)];
		if (k < 0 || (k == 0 && length + 1 < t->horizonCount)) {
			return false;
		}
	}
	int fan[MOST_CORNERS];
	for (int k = 0; k < t->horizonCount; ++k) {
		fan[k] = addFace(t, edgeStart(t, k), edgeEnd(t, k), eye);
		if (fan[k] < 0) {
			return false;
		}
	}
	for (int k = 0; k < t->horizonCount; ++k) {
		int following = fan[t->edgeFrom[edgeEnd(t, k)]];
		t->faces[fan[k]].adj[0] = t->horizon[k].face;
		t->faces[t->horizon[k].face].adj[t->horizon[k].edge] = fan[k];
		t->faces[fan[k]].adj[1] = following;
		t->faces[following].adj[2] = fan[k];
	}
	return true;
}

// The face of lowest offset; needles have none.
static int lowestFace(const Polytope* t) {
	int lowest = -1;
	double offset = INFINITY;
	for (int f = 0; f < t->faceCount; ++f) {
		const Face* face = &t->faces[f];
		if (!face->dead && face->offset < offset && knLengthSquared(face->m) > 0.0) {
			offset = face->offset;
			lowest = f;
		}
	}
	return lowest;
}

// Points of the cores under the origin's foot on a face.
static void takeWitness(const Polytope* t, const Face* face, knAxis* axis) {
	const knCorner* c[3] = { &t->corners[face->v[0]], &t->corners[face->v[1]], &t->corners[face->v[2]] };
	double weights[3], sum = 0.0;
	for (int i = 0; i < 3; ++i) {
		weights[i] = knMax(0.0, knDot(face->m, knCross(c[(i + 1) % 3]->w, c[(i + 2) % 3]->w)));
		sum += weights[i];
	}
	axis->a = axis->b = knZero3();
	for (int i = 0; i < 3; ++i) {
		double weight = sum > 0.0 ? weights[i] / sum : 1.0 / 3.0;
		axis->a = knMulAdd(axis->a, weight, c[i]->a);
		axis->b = knMulAdd(axis->b, weight, c[i]->b);
	}
}

// Polishes a direction if it is nearly as good as the best, and keeps it if it gets better.
static void tryStart(const knCorePair* p, knVec3 n, double least, knAxis* best) {
	knAxis rival = { .n = n, .s = knDot(knCorePair_Support(p, n).w, n), .a = best->a, .b = best->b };
	if (rival.s < least) {
		return;
	}
	knAxis_Polish(p, OFF_CURVED, &rival);
	*best = rival.s > best->s ? rival : *best;
}

// The flat sides of boxes and cylinders, which an unfinished search may not have come across.
static void tryFlats(const knCorePair* p, knAxis* best) {
	const knCore* cores[2] = { &p->a, &p->b };
	const knVec3 own[3] = { { 1.0, 0.0, 0.0 }, { 0.0, 1.0, 0.0 }, { 0.0, 0.0, 1.0 } };
	for (int k = 0; k < 2; ++k) {
		int first = cores[k]->kind == KN_GEOM_BOX ? 0 : (cores[k]->kind == KN_GEOM_CYLINDER ? 2 : 3);
		for (int i = first; i < 3; ++i) {
			knVec3 n = k == 0 ? own[i] : knMulMV(&p->R, own[i]);
			tryStart(p, n, NEARLY * best->s, best);
			tryStart(p, knNeg(n), NEARLY * best->s, best);
		}
	}
}

// Polishes the best direction, then those of other planes that could hide a better one.
static void polishStarts(const Polytope* t, knAxis* best) {
	const knCorePair* p = t->pair;
	knVec3 tried[MOST_STARTS];
	int count = 0;
	tried[count++] = best->n;
	knAxis_Polish(p, OFF_CURVED, best);
	tryFlats(p, best);
	while (count < MOST_STARTS) {
		int lowest = -1;
		double offset = -best->s - SETTLED * p->size;
		for (int f = 0; f < t->faceCount; ++f) {
			const Face* face = &t->faces[f];
			bool fresh = !face->dead && face->offset < offset && knLengthSquared(face->m) > 0.0;
			for (int k = 0; k < count && fresh; ++k) {
				fresh = -knDot(face->m, tried[k]) < SAME_START;
			}
			fresh = fresh && -knDot(face->m, best->n) < SAME_START;
			if (fresh) {
				offset = face->offset;
				lowest = f;
			}
		}
		if (lowest < 0) {
			return;
		}
		knVec3 n = knNeg(t->faces[lowest].m);
		tried[count++] = n;
		tryStart(p, n, -INFINITY, best);
	}
}

// Grows the polytope until no plane promises more than `least` beyond the best direction; false if there is no room
// left or rounding tangles it.
static bool search(Polytope* t, double least, int mostCorners, knAxis* best) {
	while (t->cornerCount < mostCorners) {
		int lowest = lowestFace(t);
		if (lowest < 0) {
			return false;
		}
		const Face* face = &t->faces[lowest];
		knCorner corner = knCorePair_Support(t->pair, knNeg(face->m));
		double reach = knDot(corner.w, face->m);
		if (-reach > best->s) {
			best->s = -reach;
			best->n = knNeg(face->m);
			takeWitness(t, face, best);
		}
		if (-face->offset <= best->s + least) {
			return true;
		}
		t->corners[t->cornerCount] = corner;
		if (!findHorizon(t, lowest, corner.w)) {
			return false;
		}
		++t->cornerCount;
		if (!makeFan(t, t->cornerCount - 1)) {
			return false;
		}
	}
	return false;
}

void knEpa_Depth(const knCorePair* p, knAxis* axis) {
	Polytope t;
	t.pair = p;
	t.cornerCount = t.faceCount = t.searches = 0;
	t.slack = ROUNDING * p->scale;
	makeFirst(&t);
	*axis = (knAxis){ .n = knV3(0.0, 0.0, 1.0), .s = -INFINITY };
	double rounding = ROUNDING * p->scale;
	if (!p->a.curved && !p->b.curved) {
		search(&t, PLAIN_GAIN * p->size + rounding, MOST_CORNERS, axis);
		knAxis_Polish(p, OFF_PLAIN, axis);
		return;
	}
	// a polished direction leaves little to prove about the others
	bool going = search(&t, COARSE_GAIN * p->size, CURVED_CORNERS, axis);
	knAxis_Polish(p, OFF_CURVED, axis);
	if (going && search(&t, CURVED_GAIN * p->size + rounding, CURVED_CORNERS, axis)) {
		knAxis_Polish(p, OFF_CURVED, axis);
	} else {
		polishStarts(&t, axis);
	}
}
