// Branch and bound over the convex pieces of two geometries.
#include "collide/convex_pairs.h"

#include "collide/convex_support.h"
#include "collide/turning.h"
#include "geom/mesh.h"

#define STACK 256          // pairs of nodes: one tree's depth and the other's
#define SEEK 1024          // pairs of nodes that are kept open
#define SEEK_LOOKS 2000    // pairs of nodes that are opened to look far ahead
#define OFF_CURVED 0.06    // radians that the search for a line between curved cores may leave open
#define PROJECTIONS 30     // to and fro, at most
#define PLACED 1e-9        // sizes by which witness points may be farther apart than the distance
#define REACH_PARTS 64     // of a tree, whose corners are its reach
#define POLISH_WITHIN 16.0 // skins: nearer pairs get their exact normal

// One of the two geometries, no plane unless `tree` is NULL.
typedef struct Side {
	const knGeom* geom;
	knFrame frame;
	const knBvh* tree; // over children or triangles; NULL: one convex piece
	knAabb core;       // of the one piece, without the radius about it
	double radius;
	knSpin spin; // in the frame's axes
} Side;

// A convex piece; `core` may point to `corners`, so it stays where it is made.
typedef struct Piece {
	knCore core;
	knVec3 corners[3];
	knFrame frame;
	double reach;  // m, about the axis that it turns about
	bool oneSided; // a triangle of a surface: holds what comes from its front
} Piece;

// Where the bounds of two sides are compared: in the axes of one of them.
typedef struct View {
	int other;        // 1: B is seen from A, 0: A from B
	knFrame relative; // of the other
	knMat33 R;        // its axes
	knVec3 velocity;  // of B relative to A
} View;

typedef struct Search {
	const knPairMotion* motion; // NULL: in space
	knVec3 velocity;            // of B relative to A
	double best;                // m or s
	const View* views;          // [2] from A and from B
	knNearest* nearest;
	bool found;
	int childA, childB;
	int looks; // pairs of nodes
	const Side* sides[2];
	const Piece* pieces[2]; // that are looked at
} Search;

static bool isMesh(const knGeom* geom) {
	return geom->mesh != NULL;
}

static Side makeSide(const knGeom* geom, knFrame frame, knSpin spin) {
	Side side = { .geom = geom, .frame = frame, .spin = knSpin_In(&spin, frame) };
	if (geom->kind == KN_GEOM_COMPOUND) {
		side.tree = &geom->tree;
	} else if (isMesh(geom)) {
		side.tree = &geom->mesh->tree;
	} else if (geom->kind == KN_GEOM_PLANE) {
		side.spin = (knSpin){ 0 }; // where it is, however it turns
	} else {
		side.radius = knCore_Of(geom).radius;
		side.core = knAabb_Grow(knGeom_Aabb(geom, knIdentityF()), -side.radius);
	}
	return side;
}

static knSpin spinOf(const knPairMotion* motion, int side) {
	if (motion == NULL) {
		return (knSpin){ 0 };
	}
	return side == 0 ? knSpin_Make(motion->centerA, motion->velocityA.ang, motion->reachA)
					 : knSpin_Make(motion->centerB, motion->velocityB.ang, motion->reachB);
}

static View makeView(const Search* s, int other) {
	const Side *from = s->sides[1 - other], *its = s->sides[other];
	View view = { .other = other, .relative = knInvMulF(from->frame, its->frame) };
	view.R = knQuat_ToMat33(view.relative.q);
	view.velocity = knInvRotate(from->frame.q, s->velocity);
	return view;
}

// --- bounds ------------------------------------------------------------------------------------------------

// Of what turns: a ball does not leave its place.
static knAabb coreBoxOf(const Side* side, int node) {
	return side->tree != NULL ? side->tree->nodes[node].box : side->core;
}

// Bounds in the view's axes of a box of the other side's.
static knAabb seenBox(const View* view, knAabb box, double radius) {
	knVec3 half = knScale(0.5, knSub(box.upper, box.lower));
	knVec3 center = knPoint(view->relative, knAabb_Center(box));
	const knMat33* R = &view->R;
	knVec3 reach = knAdd(knAdd(knScale(half.x, knAbs3(R->cx)), knScale(half.y, knAbs3(R->cy))),
						 knScale(half.z, knAbs3(R->cz)));
	return knAabb_Grow((knAabb){ knSub(center, reach), knAdd(center, reach) }, radius);
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

// How long the room between two boxes lasts along a direction of the view, from A to B.
static double timeAlong(const Search* s, const View* view, const knAabb boxes[2], const double reaches[2],
						double gap, knVec3 n) {
	knExcursion turns[2];
	for (int side = 0; side < 2; ++side) {
		knVec3 out = side == 0 ? n : knNeg(n);
		out = side == view->other ? knTMulMV(&view->R, out) : out;
		turns[side] = knExcursion_OfBox(&s->sides[side]->spin, &boxes[side], reaches[side], out);
	}
	double room = gap - s->motion->skin;
	return room <= 0.0 ? 0.0 : knExcursion_Time(room, -knDot(view->velocity, n), &turns[0], &turns[1]);
}

// Over a plane, whose surface is z = 0.
static double boundOverPlane(const Search* s, const View* view, const knAabb boxes[2],
							 const double reaches[2]) {
	double height = seenBox(view, boxes[view->other], s->sides[view->other]->radius).lower.z;
	if (s->motion == NULL) {
		return height;
	}
	return timeAlong(s, view, boxes, reaches, height, knV3(0.0, 0.0, view->other == 1 ? 1.0 : -1.0));
}

// m, by how much turning moves any point until the search's best time.
static double slackOf(const Search* s, const double reaches[2]) {
	double slack = 0.0;
	for (int side = 0; side < 2; ++side) {
		slack += reaches[side] * knMin(s->sides[side]->spin.speed * s->best, 2.0);
	}
	return slack;
}

// In one view: when the boxes, grown by what turning may do, meet; and whatever keeps them apart along one axis does.
static double boundInView(const Search* s, const View* view, const knAabb boxes[2], const double reaches[2]) {
	knAabb seen[2];
	for (int side = 0; side < 2; ++side) {
		double radius = s->sides[side]->radius;
		seen[side] =
			side == view->other ? seenBox(view, boxes[side], radius) : knAabb_Grow(boxes[side], radius);
	}
	if (s->motion == NULL) {
		return distanceOfBoxes(&seen[0], &seen[1]);
	}
	double slack = slackOf(s, reaches) + s->motion->skin;
	double time = meetingOfBoxes(&seen[0], &seen[1], view->velocity, slack, s->best);
	for (int k = 0; k < 3 && time < s->best; ++k) {
		double ahead = knComponent(seen[1].lower, k) - knComponent(seen[0].upper, k);
		double behind = knComponent(seen[0].lower, k) - knComponent(seen[1].upper, k);
		if (knMax(ahead, behind) > s->motion->skin) {
			knVec3 n = knZero3();
			knSetComponent(&n, k, ahead > behind ? 1.0 : -1.0);
			time = knMax(time, timeAlong(s, view, boxes, reaches, knMax(ahead, behind), n));
		}
	}
	return time;
}

// No pair of pieces below the two nodes is nearer than this.
static double boundOf(const Search* s, int nodeA, int nodeB) {
	knAabb boxes[2] = { coreBoxOf(s->sides[0], nodeA), coreBoxOf(s->sides[1], nodeB) };
	double reaches[2] = { 0.0, 0.0 };
	for (int side = 0; side < 2; ++side) {
		const knSpin* spin = &s->sides[side]->spin;
		reaches[side] = spin->speed > 0.0 ? knSpin_Reach(spin, &boxes[side]) : 0.0;
	}
	for (int side = 0; side < 2; ++side) {
		if (s->sides[side]->geom->kind == KN_GEOM_PLANE) {
			return boundOverPlane(s, &s->views[side], boxes, reaches);
		}
	}
	double bound = boundInView(s, &s->views[0], boxes, reaches);
	if (s->motion != NULL && bound < s->best) {
		bound = knMax(bound, boundInView(s, &s->views[1], boxes, reaches));
	}
	return bound;
}

// --- pairs of pieces ---------------------------------------------------------------------------------------

static knVec3 velocityAt(knTwist u, knVec3 center, knVec3 point) {
	return knAdd(u.lin, knCross(u.ang, knSub(point, center)));
}

static knExcursion excursionOf(const Search* s, int side, knVec3 n) {
	const Side* its = s->sides[side];
	const Piece* piece = s->pieces[side];
	knVec3 local = knInvRotate(its->frame.q, n);
	return piece->core.corners != NULL ? knExcursion_OfPoints(&its->spin, piece->corners, 3, local)
									   : knExcursion_OfBox(&its->spin, &its->core, piece->reach, local);
}

// The time in which a pair of pieces surely does not use up some room.
static double timeFor(const Search* s, const knNearest* pair, double room) {
	knExcursion a = excursionOf(s, 0, pair->normal), b = excursionOf(s, 1, knNeg(pair->normal));
	return knExcursion_Time(room, -knDot(s->velocity, pair->normal), &a, &b);
}

static double timeOf(const Search* s, const knNearest* pair) {
	const knPairMotion* m = s->motion;
	if (pair->distance > m->skin) {
		return timeFor(s, pair, pair->distance - 0.5 * m->skin);
	}
	// at one point: what is deep in the other and goes along with it does not approach it
	knVec3 point = knLerp(pair->pointA, pair->pointB, 0.5);
	knVec3 vA = velocityAt(m->velocityA, m->centerA, point), vB = velocityAt(m->velocityB, m->centerB, point);
	return knDot(knSub(vB, vA), pair->normal) < -m->idle ? 0.0 : timeFor(s, pair, m->nudge);
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
		double reaches[2] = { pa->reach, pb->reach };
		reach = s->best * knLength(s->velocity) + slackOf(s, reaches) + 2.0 * s->motion->skin;
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

static double reachOf(const Side* side, const Piece* piece) {
	if (piece->core.corners == NULL) {
		return knSpin_Reach(&side->spin, &side->core);
	}
	const knVec3* c = piece->corners;
	knAabb box = { knMin3(c[0], knMin3(c[1], c[2])), knMax3(c[0], knMax3(c[1], c[2])) };
	return knSpin_Reach(&side->spin, &box);
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
	piece->reach = side->spin.speed > 0.0 ? reachOf(side, piece) : 0.0;
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

// A child of a compound, or another geometry as a whole.
static Side makePart(const Search* s, const Side* side, int index, int item, int* childIndex) {
	if (side->geom->kind != KN_GEOM_COMPOUND) {
		return makeSide(side->geom, side->frame, spinOf(s->motion, index));
	}
	const knGeomChild* child = &side->geom->children[item];
	*childIndex = item;
	return makeSide(child->geom, knMulF(side->frame, child->frame), spinOf(s->motion, index));
}

// Beside a compound a mesh is one thing: it is gone through with each child.
static void closeTree(Side* side) {
	if (side->geom->kind != KN_GEOM_COMPOUND && side->tree != NULL) {
		side->core = side->tree->nodes[0].box;
		side->tree = NULL;
	}
}

// A pair of leaves: children are geometries of their own, all else is pieces.
static void visit(Search* s, const Side* a, int itemA, const Side* b, int itemB) {
	if (a->geom->kind == KN_GEOM_COMPOUND || b->geom->kind == KN_GEOM_COMPOUND) {
		const View* views = s->views;
		Side partA = makePart(s, a, 0, itemA, &s->childA), partB = makePart(s, b, 1, itemB, &s->childB);
		searchSides(s, &partA, &partB);
		s->sides[0] = a;
		s->sides[1] = b;
		s->views = views;
		return;
	}
	Piece pieceA, pieceB;
	makePiece(a, itemA, &pieceA);
	makePiece(b, itemB, &pieceB);
	s->pieces[0] = &pieceA;
	s->pieces[1] = &pieceB;
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

static NodePair makePair(const Search* s, int nodeA, int nodeB) {
	return (NodePair){ nodeA, nodeB, boundOf(s, nodeA, nodeB) };
}

// Looks at a pair of leaves, or splits the larger subtree: the nearer half stands first. False: it was a pair of leaves.
static bool openPair(Search* s, NodePair pair, NodePair halves[2]) {
	const Side *a = s->sides[0], *b = s->sides[1];
	int itemA = itemOf(a, pair.a), itemB = itemOf(b, pair.b);
	s->looks += 1;
	if (itemA >= 0 && itemB >= 0) {
		visit(s, a, itemA, b, itemB);
		return false;
	}
	int sizeA = itemA >= 0 ? 0 : a->tree->nodes[pair.a].skip - pair.a;
	int sizeB = itemB >= 0 ? 0 : b->tree->nodes[pair.b].skip - pair.b;
	if (sizeA >= sizeB) {
		int first = pair.a + 1;
		halves[0] = makePair(s, first, pair.b);
		halves[1] = makePair(s, a->tree->nodes[first].skip, pair.b);
	} else {
		int first = pair.b + 1;
		halves[0] = makePair(s, pair.a, first);
		halves[1] = makePair(s, pair.a, b->tree->nodes[first].skip);
	}
	if (halves[1].bound < halves[0].bound) {
		NodePair nearer = halves[1];
		halves[1] = halves[0];
		halves[0] = nearer;
	}
	return true;
}

// All that is below a pair of nodes, the nearest first.
static void descend(Search* s, NodePair root) {
	NodePair stack[STACK], halves[2];
	int depth = 0;
	stack[depth++] = root;
	while (depth > 0) {
		NodePair top = stack[--depth];
		if (top.bound < s->best && openPair(s, top, halves)) {
			KN_ASSERT(depth + 2 <= STACK);
			stack[depth++] = halves[1];
			stack[depth++] = halves[0];
		}
	}
}

// Of pairs with one bound, as of all whose boxes overlap, the one that is farther down: it is soon at its leaves.
static bool isSooner(const NodePair* p, const NodePair* q) {
	return p->bound < q->bound || (p->bound == q->bound && p->a + p->b > q->a + q->b);
}

static void pushPair(NodePair* heap, int count, NodePair pair) {
	int at = count;
	for (int up; at > 0 && isSooner(&pair, &heap[up = (at - 1) / 2]); at = up) {
		heap[at] = heap[up];
	}
	heap[at] = pair;
}

static NodePair popPair(NodePair* heap, int count) {
	NodePair top = heap[0], last = heap[count - 1];
	int at = 0, rest = count - 1;
	for (int child; (child = 2 * at + 1) < rest; at = child) {
		child += child + 1 < rest && isSooner(&heap[child + 1], &heap[child]);
		if (!isSooner(&heap[child], &last)) {
			break;
		}
		heap[at] = heap[child];
	}
	heap[at] = last;
	return top;
}

// s, in which nothing gets deeper into the other than by a nudge.
static double nudgeTime(const Search* s) {
	double speed = knLength(s->velocity);
	for (int side = 0; side < 2; ++side) {
		knAabb box = coreBoxOf(s->sides[side], 0);
		speed += s->sides[side]->spin.speed * knSpin_Reach(&s->sides[side]->spin, &box);
	}
	return speed > 0.0 ? s->motion->nudge / speed : (double)INFINITY;
}

// Keeps the sooner half of a heap: then nobody looks farther ahead than to the first of the others, if that is
// farther than `least`; else all are kept.
static int dropLater(Search* s, NodePair* heap, int count, double least) {
	NodePair kept[SEEK / 2];
	int half = count / 2, left = count;
	for (int i = 0; i < half; ++i) {
		kept[i] = popPair(heap, left--);
	}
	if (heap[0].bound >= least) {
		s->best = knMin(s->best, heap[0].bound);
		left = 0;
	}
	for (int i = 0; i < half; ++i) {
		pushPair(heap, left++, kept[i]);
	}
	return left;
}

// In time: the soonest of all is opened next, so that what is left does not meet before it. When that takes too many,
// this time is the answer; and if it is next to none, only what may meet at once is looked for.
static void seek(Search* s, NodePair root) {
	NodePair heap[SEEK], halves[2];
	double least = nudgeTime(s);
	int count = 0, most = s->looks + SEEK_LOOKS;
	pushPair(heap, count++, root);
	while (count > 0 && heap[0].bound < s->best && s->looks < most) {
		if (count + 2 > SEEK) {
			count = dropLater(s, heap, count, least);
			if (count + 2 > SEEK) {
				break;
			}
		}
		if (openPair(s, popPair(heap, count--), halves)) {
			pushPair(heap, count++, halves[0]);
			pushPair(heap, count++, halves[1]);
		}
	}
	if (count > 0 && heap[0].bound < s->best) {
		s->best = knMin(s->best, knMax(heap[0].bound, least));
	}
	for (int i = 0; i < count; ++i) {
		descend(s, heap[i]);
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
	Side sides[2] = { *a, *b };
	if (parts) {
		closeTree(&sides[0]);
		closeTree(&sides[1]);
	}
	s->sides[0] = &sides[0];
	s->sides[1] = &sides[1];
	View views[2] = { makeView(s, 1), makeView(s, 0) };
	s->views = views;
	NodePair root = makePair(s, 0, 0);
	if (s->motion != NULL) {
		seek(s, root);
	} else {
		descend(s, root);
	}
}

// --- entries -------------------------------------------------------------------------------------------------

static bool isUsable(const knPairInput* in) {
	return knIsFiniteF(in->frameA) && knIsFiniteF(in->frameB);
}

bool knConvexPairs_Nearest(const knPairInput* in, knNearest* nearest) {
	Search s = { .best = in->margin, .nearest = nearest };
	*nearest = (knNearest){ .distance = INFINITY };
	if (isUsable(in)) {
		Side a = makeSide(in->geomA, in->frameA, spinOf(s.motion, 0));
		Side b = makeSide(in->geomB, in->frameB, spinOf(s.motion, 1));
		searchSides(&s, &a, &b);
	}
	return s.found;
}

// Whether the balls about the two centres do not meet before `best`, however fast they turn.
static bool ballsPass(const Search* s, const Side* a, const Side* b) {
	const knPairMotion* m = s->motion;
	if (a->geom->kind == KN_GEOM_PLANE || b->geom->kind == KN_GEOM_PLANE) {
		return false;
	}
	double reach = m->reachA + a->radius + m->reachB + b->radius + m->skin;
	return knBalls_Time(knSub(m->centerB, m->centerA), s->velocity, reach) >= s->best;
}

double knConvexPairs_Soonest(const knPairInput* in, const knPairMotion* motion, double limit,
							 knNearest* nearest, int* looks) {
	Search s = { .motion = motion, .best = limit, .nearest = nearest };
	s.velocity = knSub(motion->velocityB.lin, motion->velocityA.lin);
	*nearest = (knNearest){ .distance = INFINITY };
	if (isUsable(in)) {
		Side a = makeSide(in->geomA, in->frameA, spinOf(s.motion, 0));
		Side b = makeSide(in->geomB, in->frameB, spinOf(s.motion, 1));
		if (!ballsPass(&s, &a, &b)) {
			searchSides(&s, &a, &b);
		}
	}
	*looks += s.looks;
	return s.best;
}

// --- sizes ---------------------------------------------------------------------------------------------------

static double reachOfBox(knAabb box, knVec3 from) {
	return knLength(knMax3(knAbs3(knSub(box.lower, from)), knAbs3(knSub(box.upper, from))));
}

// By boxes small enough that their corners are hardly farther than what is in them.
static double reachOfTree(const knBvh* tree, knVec3 from) {
	double reach = 0.0;
	for (int node = 0; node < tree->nodeCount;) {
		const knBvhNode* its = &tree->nodes[node];
		double farthest = reachOfBox(its->box, from);
		bool whole = its->skip - node <= tree->nodeCount / REACH_PARTS || its->item >= 0;
		reach = whole ? knMax(reach, farthest) : reach;
		node = whole || farthest <= reach ? its->skip : node + 1;
	}
	return reach;
}

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
			double core = knGeom_TurningReach(child->geom, knMulF(frame, child->frame), center);
			bool round = child->geom->kind == KN_GEOM_SPHERE || child->geom->kind == KN_GEOM_CAPSULE;
			reach = knMax(reach, core + (round ? child->geom->size.x : 0.0));
		}
		return reach;
	}
	return isMesh(geom) ? reachOfTree(&geom->mesh->tree, from)
						: reachOfBox(knGeom_Aabb(geom, knIdentityF()), from);
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
