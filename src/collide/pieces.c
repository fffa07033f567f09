// Branch and bound over the convex pieces of two geometries.
#include "collide/pieces.h"

#include "collide/support.h"
#include "geom/mesh.h"

#define STACK 256          // pairs of nodes: one tree's depth and the other's
#define OFF_CURVED 0.06    // radians that the search for a line between curved cores may leave open
#define PROJECTIONS 30     // to and fro, at most
#define PLACED 1e-9        // sizes by which witness points may be farther apart than the distance
#define POLISH_WITHIN 16.0 // skins: nearer pairs get their exact normal

// One of the two geometries, no plane unless `tree` is NULL.
typedef struct Side {
	const knGeom* geom;
	knFrame frame;
	const knBvh* tree; // over children or triangles; NULL: one convex piece
} Side;

typedef struct Search {
	const knPairMotion* motion; // NULL: in space
	knVec3 velocity;            // of B relative to A
	double best;                // m or s
	knNearest* nearest;
	bool found;
	int childA, childB;
} Search;

// A convex piece; `core` may point to `corners`, so it stays where it is made.
typedef struct Piece {
	knCore core;
	knVec3 corners[3];
	knFrame frame;
	bool oneSided; // a triangle of a surface: holds what comes from its front
} Piece;

static bool isMesh(const knGeom* geom) {
	return geom->mesh != NULL;
}

static Side makeSide(const knGeom* geom, knFrame frame) {
	Side side = { geom, frame, NULL };
	if (geom->kind == KN_GEOM_COMPOUND) {
		side.tree = &geom->tree;
	} else if (isMesh(geom)) {
		side.tree = &geom->mesh->tree;
	}
	return side;
}

// --- bounds ------------------------------------------------------------------------------------------------

static knAabb boxOf(const Side* side, int node) {
	return side->tree != NULL ? side->tree->nodes[node].box : knGeom_Aabb(side->geom, knIdentityF());
}

static double distanceOfBoxes(const knAabb* a, const knAabb* b) {
	knVec3 gap = knMax3(knSub(a->lower, b->upper), knSub(b->lower, a->upper));
	if (gap.x <= 0.0 && gap.y <= 0.0 && gap.z <= 0.0) {
		return -INFINITY; // what is inside may overlap by any depth
	}
	return knLength(knMax3(gap, knZero3()));
}

// When box b, moving by v, may first meet box a; INFINITY: not before `limit`.
static double meetingOfBoxes(const knAabb* a, const knAabb* b, knVec3 v, double slack, double limit) {
	double enter = 0.0, leave = limit;
	for (int k = 0; k < 3; ++k) {
		double ahead = knComponent(a->lower, k) - knComponent(b->upper, k) - slack;
		double behind = knComponent(a->upper, k) - knComponent(b->lower, k) + slack;
		double speed = knComponent(v, k);
		if (speed == 0.0) {
			if (ahead > 0.0 || behind < 0.0) {
				return INFINITY;
			}
			continue;
		}
		double first = (speed > 0.0 ? ahead : behind) / speed, last = (speed > 0.0 ? behind : ahead) / speed;
		enter = knMax(enter, first);
		leave = knMin(leave, last);
	}
	return enter <= leave ? enter : (double)INFINITY;
}

// The plane's own frame: its surface is z = 0.
static double boundOverPlane(const Search* s, const Side* plane, const Side* other, int node, knVec3 v) {
	knAabb box = knAabb_Transform(boxOf(other, node), knInvMulF(plane->frame, other->frame));
	if (s->motion == NULL) {
		return box.lower.z;
	}
	double room = box.lower.z - s->motion->skin;
	double closing = knMax(0.0, -knInvRotate(plane->frame.q, v).z) + s->motion->turning;
	return room <= 0.0 ? 0.0 : (closing > 0.0 ? room / closing : (double)INFINITY);
}

// No pair of pieces below the two nodes is nearer than this.
static double boundOf(const Search* s, const Side* a, int nodeA, const Side* b, int nodeB) {
	if (a->geom->kind == KN_GEOM_PLANE) {
		return boundOverPlane(s, a, b, nodeB, s->velocity);
	}
	if (b->geom->kind == KN_GEOM_PLANE) {
		return boundOverPlane(s, b, a, nodeA, knNeg(s->velocity));
	}
	knAabb boxA = boxOf(a, nodeA), boxB = knAabb_Transform(boxOf(b, nodeB), knInvMulF(a->frame, b->frame));
	if (s->motion == NULL) {
		return distanceOfBoxes(&boxA, &boxB);
	}
	double slack = s->motion->turning * s->best + s->motion->skin;
	return meetingOfBoxes(&boxA, &boxB, knInvRotate(a->frame.q, s->velocity), slack, s->best);
}

// --- pairs of pieces ---------------------------------------------------------------------------------------

static knVec3 velocityAt(knTwist u, knVec3 center, knVec3 point) {
	return knAdd(u.lin, knCross(u.ang, knSub(point, center)));
}

// The time that a pair of pieces surely has.
static double timeOf(const Search* s, const knNearest* pair) {
	const knPairMotion* m = s->motion;
	double closing = knMax(0.0, -knDot(s->velocity, pair->normal)) + m->turning;
	if (pair->distance > m->skin) {
		return closing > 0.0 ? (pair->distance - 0.5 * m->skin) / closing : (double)INFINITY;
	}
	knVec3 vA = velocityAt(m->velocityA, m->centerA, pair->pointA);
	knVec3 vB = velocityAt(m->velocityB, m->centerB, pair->pointB);
	if (knDot(knSub(vB, vA), pair->normal) < -m->idle) {
		return 0.0;
	}
	return closing > 0.0 ? m->nudge / closing : (double)INFINITY;
}

static void offer(Search* s, const knNearest* pair) {
	double value = s->motion != NULL ? timeOf(s, pair) : pair->distance;
	// of several that touch, the deepest
	bool deeper = s->found && value == 0.0 && s->best == 0.0 && s->motion != NULL &&
				  pair->distance < s->nearest->distance;
	if (value < s->best || deeper) {
		s->best = value;
		s->found = true;
		*s->nearest = *pair;
		s->nearest->childA = s->childA;
		s->nearest->childB = s->childB;
	}
}

// A plane and a piece.
static void offerOverPlane(Search* s, const Side* plane, const Piece* piece, bool planeIsA) {
	knVec3 up = knRotate(plane->frame.q, knV3(0.0, 0.0, 1.0));
	knVec3 down = knInvRotate(piece->frame.q, knNeg(up));
	knVec3 low = knMulAdd(knCore_Support(&piece->core, down), piece->core.radius, down);
	knVec3 point = knPoint(piece->frame, low);
	double height = knDot(up, knSub(point, plane->frame.p));
	knVec3 foot = knMulAdd(point, -height, up);
	knNearest pair = { .pointA = planeIsA ? foot : point,
					   .pointB = planeIsA ? point : foot,
					   .normal = planeIsA ? up : knNeg(up),
					   .distance = height };
	offer(s, &pair);
}

// Two cores that overlap, one of them a triangle: along the triangle's normal, to the other's side.
static void acrossTriangle(const knCorePair* p, knAxis* axis) {
	const knVec3* c = p->a.corners != NULL ? p->a.corners : p->b.corners;
	knVec3 n = knNormalize(knCross(knSub(c[1], c[0]), knSub(c[2], c[0])));
	n = p->a.corners != NULL ? n : knMulMV(&p->R, n);
	axis->n = knDot(n, p->between) < 0.0 ? knNeg(n) : n;
	knCorner corner = knCorePair_Support(p, axis->n);
	axis->s = knDot(corner.w, axis->n);
	axis->a = p->a.corners != NULL ? corner.b : corner.a;
	axis->b = axis->a;
}

static knVec3 closestOnB(const knCorePair* p, knVec3 x) {
	knVec3 local = knTMulMV(&p->R, knSub(x, p->t));
	int feature;
	const knVec3* c = p->b.corners;
	knVec3 on =
		c != NULL ? knTriangle_Closest(c[0], c[1], c[2], local, &feature) : knCore_Closest(&p->b, local);
	return knAdd(p->t, knMulMV(&p->R, on));
}

static knVec3 closestOnA(const knCorePair* p, knVec3 x) {
	int feature;
	const knVec3* c = p->a.corners;
	return c != NULL ? knTriangle_Closest(c[0], c[1], c[2], x, &feature) : knCore_Closest(&p->a, x);
}

// Witness points of a triangle and a curved core that are apart: projections to and fro close in on them.
static void placeCurved(const knCorePair* p, knAxis* axis) {
	for (int i = 0; i < PROJECTIONS; ++i) {
		axis->a = closestOnA(p, axis->b);
		axis->b = closestOnB(p, axis->a);
		if (knDistance(axis->a, axis->b) <= axis->s + PLACED * p->size) {
			return;
		}
	}
}

static bool isBehind(const Piece* triangle, const Piece* other) {
	const knVec3* c = triangle->corners;
	knVec3 n = knCross(knSub(c[1], c[0]), knSub(c[2], c[0]));
	knVec3 middle = knInvPoint(triangle->frame, knPoint(other->frame, other->core.middle));
	return knDot(n, knSub(middle, c[0])) < 0.0;
}

// What the pair grid finds nearer than `margin`; false: nothing.
static bool offerContacts(Search* s, const Side* a, const Side* b, double margin) {
	knPairInput in = knPairInput_Make(a->geom, a->frame, b->geom, b->frame, margin);
	knContactPoint points[KN_MESH_MAX_POINTS];
	int count = knPair_Convex(&in, points);
	for (int k = 0; k < count; ++k) {
		knNearest pair = { points[k].pointA, points[k].pointB, points[k].normal, points[k].separation, 0, 0 };
		offer(s, &pair);
	}
	return count > 0;
}

// Any two pieces, by their cores. Deep overlap of two solids is found by the pair grid.
static void offerPieces(Search* s, const Side* a, const Piece* pa, const Side* b, const Piece* pb) {
	bool behind = (pa->oneSided && isBehind(pa, pb)) || (pb->oneSided && isBehind(pb, pa));
	if (behind && s->motion != NULL) {
		return;
	}
	double reach = s->best;
	if (s->motion != NULL) {
		reach = s->best * (knLength(s->velocity) + s->motion->turning) + 2.0 * s->motion->skin;
	}
	knCorePair p = knCorePair_Of(&pa->core, &pb->core, knInvMulF(pa->frame, pb->frame), reach);
	bool curved = pa->core.curved || pb->core.curved;
	double radii = pa->core.radius + pb->core.radius;
	knAxis axis;
	knGjkResult result = knGjk_Distance(&p, &axis);
	if (result == KN_GJK_APART) {
		return;
	}
	if (result == KN_GJK_OVERLAP && pa->core.corners == NULL && pb->core.corners == NULL) {
		knPairInput in = knPairInput_Make(a->geom, a->frame, b->geom, b->frame, 0.0);
		knContactPoint points[KN_PAIR_MAX_POINTS];
		int count = knPair_Convex(&in, points);
		for (int k = 0; k < count; ++k) {
			knNearest pair = {
				points[k].pointA, points[k].pointB, points[k].normal, points[k].separation, 0, 0
			};
			offer(s, &pair);
		}
		return;
	}
	if (result == KN_GJK_OVERLAP) {
		acrossTriangle(&p, &axis);
	} else {
		axis.s = knDot(knCorePair_Support(&p, axis.n).w, axis.n); // what surely separates them
		if (s->motion == NULL && axis.s - radii >= s->best) {
			return;
		}
		if (curved && (s->motion == NULL || axis.s - radii < POLISH_WITHIN * s->motion->skin)) {
			knVec3 onA = axis.a, onB = axis.b;
			knAxis_Polish(&p, OFF_CURVED, &axis);
			axis.a = onA;
			axis.b = onB;
			placeCurved(&p, &axis);
		}
	}
	knNearest pair = { .pointA = knPoint(pa->frame, knMulAdd(axis.a, pa->core.radius, axis.n)),
					   .pointB = knPoint(pa->frame, knMulAdd(axis.b, -pb->core.radius, axis.n)),
					   .normal = knRotate(pa->frame.q, axis.n),
					   .distance = axis.s - radii };
	offer(s, &pair);
}

static void makePiece(const Side* side, int item, Piece* piece) {
	piece->frame = side->frame;
	piece->oneSided = false;
	if (isMesh(side->geom)) {
		knMesh_Corners(side->geom->mesh, item, piece->corners);
		piece->core = knCore_Triangle(piece->corners);
		piece->oneSided = !side->geom->mesh->solid;
	} else {
		piece->core = knCore_Of(side->geom);
	}
}

// Two convex geometries in space: the grid has closed forms and exact witness points.
static void offerConvex(Search* s, const Side* a, const Side* b) {
	knAabb boxA = knGeom_Aabb(a->geom, a->frame), boxB = knGeom_Aabb(b->geom, b->frame);
	knAabb both = knAabb_Union(boxA, boxB);
	double farthest = a->geom->kind == KN_GEOM_PLANE || b->geom->kind == KN_GEOM_PLANE
						  ? KN_GEOM_MAX_SIZE
						  : 1.001 * knDistance(both.lower, both.upper);
	offerContacts(s, a, b, knMin(s->best, farthest));
}

// --- descent -------------------------------------------------------------------------------------------------

static void searchSides(Search* s, const Side* a, const Side* b);

static int itemOf(const Side* side, int node) {
	return side->tree != NULL ? side->tree->nodes[node].item : 0;
}

// A pair of leaves: children are geometries of their own, all else is pieces.
static void visit(Search* s, const Side* a, int itemA, const Side* b, int itemB) {
	bool partsA = a->geom->kind == KN_GEOM_COMPOUND, partsB = b->geom->kind == KN_GEOM_COMPOUND;
	if (partsA || partsB) {
		Side childA = *a, childB = *b;
		if (partsA) {
			const knGeomChild* child = &a->geom->children[itemA];
			childA = makeSide(child->geom, knMulF(a->frame, child->frame));
			s->childA = itemA;
		}
		if (partsB) {
			const knGeomChild* child = &b->geom->children[itemB];
			childB = makeSide(child->geom, knMulF(b->frame, child->frame));
			s->childB = itemB;
		}
		searchSides(s, &childA, &childB);
		return;
	}
	Piece pieceA, pieceB;
	makePiece(a, itemA, &pieceA);
	makePiece(b, itemB, &pieceB);
	if (a->geom->kind == KN_GEOM_PLANE) {
		offerOverPlane(s, a, &pieceB, true);
	} else if (b->geom->kind == KN_GEOM_PLANE) {
		offerOverPlane(s, b, &pieceA, false);
	} else {
		offerPieces(s, a, &pieceA, b, &pieceB);
	}
}

typedef struct NodePair {
	int a, b;
	double bound;
} NodePair;

static void descend(Search* s, const Side* a, const Side* b) {
	NodePair stack[STACK];
	int depth = 0;
	stack[depth++] = (NodePair){ 0, 0, boundOf(s, a, 0, b, 0) };
	while (depth > 0) {
		NodePair top = stack[--depth];
		if (!(top.bound < s->best)) {
			continue;
		}
		int itemA = itemOf(a, top.a), itemB = itemOf(b, top.b);
		if (itemA >= 0 && itemB >= 0) {
			visit(s, a, itemA, b, itemB);
			continue;
		}
		// the larger subtree is split
		int leavesA = itemA >= 0 ? 0 : a->tree->nodes[top.a].skip - top.a;
		int leavesB = itemB >= 0 ? 0 : b->tree->nodes[top.b].skip - top.b;
		NodePair first = top, second = top;
		if (leavesA >= leavesB) {
			first.a = top.a + 1;
			second.a = a->tree->nodes[first.a].skip;
		} else {
			first.b = top.b + 1;
			second.b = b->tree->nodes[first.b].skip;
		}
		first.bound = boundOf(s, a, first.a, b, first.b);
		second.bound = boundOf(s, a, second.a, b, second.b);
		bool firstNearer = first.bound <= second.bound;
		KN_ASSERT(depth + 2 <= STACK);
		stack[depth++] = firstNearer ? second : first;
		stack[depth++] = firstNearer ? first : second;
	}
}

static void searchSides(Search* s, const Side* a, const Side* b) {
	bool planes = a->geom->kind == KN_GEOM_PLANE && b->geom->kind == KN_GEOM_PLANE;
	bool empty = (a->tree != NULL && a->tree->nodeCount == 0) || (b->tree != NULL && b->tree->nodeCount == 0);
	if (planes || empty) {
		return;
	}
	bool parts = a->geom->kind == KN_GEOM_COMPOUND || b->geom->kind == KN_GEOM_COMPOUND;
	if (s->motion == NULL && !parts) {
		if (!isMesh(a->geom) && !isMesh(b->geom)) {
			offerConvex(s, a, b);
			return;
		}
		if (offerContacts(s, a, b, 0.0)) {
			return; // a mesh and what overlaps it
		}
	}
	descend(s, a, b);
}

// --- entries -------------------------------------------------------------------------------------------------

static bool isUsable(const knPairInput* in) {
	return knIsFiniteF(in->frameA) && knIsFiniteF(in->frameB);
}

bool knPieces_Nearest(const knPairInput* in, knNearest* nearest) {
	Search s = { .best = in->margin, .nearest = nearest };
	*nearest = (knNearest){ .distance = INFINITY };
	if (isUsable(in)) {
		Side a = makeSide(in->geomA, in->frameA), b = makeSide(in->geomB, in->frameB);
		searchSides(&s, &a, &b);
	}
	return s.found;
}

double knPieces_Soonest(const knPairInput* in, const knPairMotion* motion, double limit, knNearest* nearest) {
	Search s = { .motion = motion, .best = limit, .nearest = nearest };
	s.velocity = knSub(motion->velocityB.lin, motion->velocityA.lin);
	*nearest = (knNearest){ .distance = INFINITY };
	if (isUsable(in)) {
		Side a = makeSide(in->geomA, in->frameA), b = makeSide(in->geomB, in->frameB);
		searchSides(&s, &a, &b);
	}
	return s.best;
}

// --- sizes ---------------------------------------------------------------------------------------------------

double knGeom_TurningReach(const knGeom* geom, knFrame frame, knVec3 center) {
	knVec3 from = knInvPoint(frame, center);
	double reach = 0.0;
	if (geom->kind == KN_GEOM_PLANE) {
		return 0.0;
	}
	if (geom->kind == KN_GEOM_SPHERE) {
		return knLength(from);
	}
	if (geom->kind == KN_GEOM_CAPSULE) {
		knVec3 end = knV3(0.0, 0.0, geom->size.y);
		return knMax(knDistance(from, end), knDistance(from, knNeg(end)));
	}
	if (geom->kind == KN_GEOM_COMPOUND) {
		for (int i = 0; i < geom->childCount; ++i) {
			const knGeomChild* child = &geom->children[i];
			reach = knMax(reach, knGeom_TurningReach(child->geom, knMulF(frame, child->frame), center));
		}
		return reach;
	}
	knAabb box = knGeom_Aabb(geom, knIdentityF());
	knVec3 farthest = knMax3(knAbs3(knSub(box.lower, from)), knAbs3(knSub(box.upper, from)));
	return knLength(farthest);
}

double knGeom_Thinness(const knGeom* geom) {
	double least = INFINITY;
	if (geom->kind == KN_GEOM_PLANE) {
		return least;
	}
	for (int i = 0; geom->kind == KN_GEOM_COMPOUND && i < geom->childCount; ++i) {
		least = knMin(least, knGeom_Thinness(geom->children[i].geom));
	}
	if (geom->kind != KN_GEOM_COMPOUND) {
		knAabb box = knGeom_Aabb(geom, knIdentityF());
		knVec3 half = knScale(0.5, knSub(box.upper, box.lower));
		least = knMin(half.x, knMin(half.y, half.z));
	}
	return least;
}
