// A surface point is p = c + o: c a place that moves with the shape's material, o an offset that follows the normal.
//
//   corner, face, edge       o = 0
//   ball, capsule            o = rho m               m the normal that points out of the shape
//   side and rim of a        o = r (m - (m.z) z)/s   z the axis, s = sqrt(1 - (m.z)^2); c on the axis
//   cylinder
//
// The normal turns with the shape whose face it belongs to: with a plane, or what does not move; with a box of which it
// is an axis, or a cylinder's cap. Between two round shapes it lies along the line of their places c; and where nothing is
// known it turns with both, by half.
//
// For a body that turns by phi against one that does not, the mean of a place is the arc (mean_rotation.h), and that of a rim's
// offset 2r/(s + s') (m - (m.zbar) arc(z)), zbar the mean of z: then phi x arm is the displacement along n exactly.

#include "dynamics/contact_geometry.h"

#include "dynamics/mean_rotation.h"

#define FLAT_RIM 0.02    // s: a cylinder that stands straighter touches by its cap
#define RIM_WIDTH 0.01   // of the radius: a point so near to where a rim touches lies there
#define FACE_COSINE 1e-6 // 1 - cosine: normals so near to an axis belong to a face

// A shape at a contact.
typedef struct Side {
	int body;
	double sign; // of the normal that points out of it
	knVec3 core; // c - x at the start, world axes
	knVec3 axis; // z at the start
	double radius;
	bool round, rim; // o = rho m; o along the rim
	bool face;       // the normal belongs to it
} Side;

static knVec3 offsetOf(const Side* side, knVec3 n, knVec3 axis) {
	knVec3 m = knScale(side->sign, n);
	if (side->rim) {
		knVec3 across = knMulAdd(m, -knDot(m, axis), axis);
		return knScale(side->radius / knLength(across), across);
	}
	return side->round ? knScale(side->radius, m) : knZero3();
}

static void setCylinder(Side* side, knVec3 n, knFrame shape, knVec3 size, knVec3 point) {
	side->axis = knRotate(shape.q, knV3(0.0, 0.0, 1.0));
	double cosine = knDot(n, side->axis);
	side->face = 1.0 - knAbs(cosine) < FACE_COSINE;
	if (1.0 - cosine * cosine < FLAT_RIM * FLAT_RIM) {
		return;
	}
	Side rim = *side;
	rim.radius = size.x;
	rim.rim = true;
	knVec3 along = knScale(knDot(knSub(point, shape.p), side->axis), side->axis);
	knVec3 center = knAdd(shape.p, along);
	knVec3 touches = knAdd(center, offsetOf(&rim, n, side->axis));
	if (knDistance(touches, point) < RIM_WIDTH * size.x) {
		rim.core = knAdd(side->core, knSub(center, point));
		*side = rim;
	}
}

static bool isAxis(knVec3 n) {
	double largest = knMax(knAbs(n.x), knMax(knAbs(n.y), knAbs(n.z)));
	return 1.0 - largest < FACE_COSINE;
}

static Side makeSide(const knModel* model, int shape, double sign, knVec3 point, knVec3 n, knFrame pose) {
	const knModelShape* s = &model->shapes[shape];
	knFrame frame = knMulF(pose, s->local);
	knVec3 size = knGeom_Size(s->geom);
	Side side = { .body = s->body, .sign = sign, .core = knSub(point, pose.p) };
	switch (knGeom_Kind(s->geom)) {
	case KN_GEOM_SPHERE:
	case KN_GEOM_CAPSULE:
		side.round = true;
		side.radius = size.x;
		side.core = knMulAdd(side.core, -sign * size.x, n);
		break;
	case KN_GEOM_CYLINDER:
		setCylinder(&side, n, frame, size, point);
		break;
	case KN_GEOM_BOX:
		side.face = isAxis(knInvRotate(frame.q, n));
		break;
	case KN_GEOM_PLANE:
		side.face = true;
		break;
	default:
		break;
	}
	return side;
}

static void makeSides(const knContactRows* list, const knModel* model, const knFrame* start, int point,
					  Side sides[2]) {
	const knContactAnchor* anchor = &list->anchors[point];
	const knStepContact* contact = &list->contacts[anchor->contact];
	knVec3 n = contact->point.normal;
	knFrame a = start[anchor->bodyA], b = start[anchor->bodyB];
	sides[0] = makeSide(model, contact->shapeA, 1.0, knAdd(a.p, anchor->onA), n, a);
	sides[1] = makeSide(model, contact->shapeB, -1.0, knAdd(b.p, anchor->onB), n, b);
	// what does not move owns the normal, unless it is round
	for (int k = 0; k < 2; ++k) {
		bool fixed = model->invMass[sides[k].body] == 0.0;
		if (fixed && !sides[k].round && !sides[k].rim) {
			sides[k].face = true;
			sides[1 - k].face = false;
		}
	}
}

// --- at other poses --------------------------------------------------------------------------------------------

// One side after its body has turned by q and gone to `center`.
typedef struct PlacedSide {
	knQuat turn;
	knVec3 core, axis;
} PlacedSide;

static PlacedSide placeSide(const Side* side, const knFrame* start, const knFrame* now) {
	PlacedSide placed = { .turn = knMulQ(now[side->body].q, knConj(start[side->body].q)) };
	placed.core = knAdd(now[side->body].p, knRotate(placed.turn, side->core));
	placed.axis = side->rim ? knRotate(placed.turn, side->axis) : side->axis;
	return placed;
}

static knVec3 turnNormal(knVec3 n, const Side sides[2], const PlacedSide placed[2]) {
	if (sides[0].round && sides[1].round) {
		return knNormalize(knSub(placed[1].core, placed[0].core));
	}
	bool first = sides[0].face || sides[1].round || sides[1].rim;
	bool second = sides[1].face || sides[0].round || sides[0].rim;
	if (first != second) {
		return knRotate(placed[first ? 0 : 1].turn, n);
	}
	return knNormalize(knAdd(knRotate(placed[0].turn, n), knRotate(placed[1].turn, n)));
}

static knPlacedContact placeContact(const Side sides[2], knVec3 n, const knFrame* start, const knFrame* now) {
	PlacedSide placed[2] = { placeSide(&sides[0], start, now), placeSide(&sides[1], start, now) };
	knPlacedContact out = { .n = turnNormal(n, sides, placed) };
	out.onA = knAdd(placed[0].core, offsetOf(&sides[0], out.n, placed[0].axis));
	out.onB = knAdd(placed[1].core, offsetOf(&sides[1], out.n, placed[1].axis));
	out.gap = knDot(out.n, knSub(out.onB, out.onA));
	return out;
}

static knVec3 startNormal(const knContactRows* list, int point) {
	return list->contacts[list->anchors[point].contact].point.normal;
}

knPlacedContact knContactGeometry_At(const knContactRows* list, const knModel* model, const knFrame* start,
									 const knFrame* now, int point) {
	Side sides[2];
	makeSides(list, model, start, point, sides);
	return placeContact(sides, startNormal(list, point), start, now);
}

// --- rows --------------------------------------------------------------------------------------------------------

// New directions; the friction that the point carries keeps its own.
static void setDirections(knSweepPoint* point, knVec3 n) {
	knVec3 friction = knMulAdd(knScale(point->lambda[1], point->t1), point->lambda[2], point->t2);
	point->n = n;
	point->t1 = knAnyOrthogonal(n);
	point->t2 = knCross(n, point->t1);
	point->lambda[1] = knDot(friction, point->t1);
	point->lambda[2] = knDot(friction, point->t2);
}

// Sides as they are after their bodies have gone to `begin`, where the normal is n.
static void moveSides(Side sides[2], const knFrame* start, const knFrame* begin, knVec3* n) {
	PlacedSide placed[2] = { placeSide(&sides[0], start, begin), placeSide(&sides[1], start, begin) };
	*n = turnNormal(*n, sides, placed);
	for (int k = 0; k < 2; ++k) {
		sides[k].core = knSub(placed[k].core, begin[sides[k].body].p);
		sides[k].axis = placed[k].axis;
	}
}

static bool samePose(knFrame a, knFrame b) {
	return knDistance(a.p, b.p) == 0.0 && a.q.w == b.q.w && a.q.x == b.q.x && a.q.y == b.q.y &&
		   a.q.z == b.q.z;
}

// The arm of the only body that moves.
static knVec3 meanArm(const Side* side, knVec3 n, const knFrame* begin, const knFrame* end, knVec3 turn) {
	knVec3 arm = knArcMean(side->core, turn), m = knScale(side->sign, n);
	if (!side->rim) {
		return knAdd(arm, offsetOf(side, n, side->axis));
	}
	PlacedSide placed = placeSide(side, begin, end);
	knVec3 z = side->axis, mean = knLerp(z, placed.axis, 0.5);
	double c0 = knDot(m, z), c1 = knDot(m, placed.axis);
	double s = sqrt(knMax(1.0 - c0 * c0, 0.0)) + sqrt(knMax(1.0 - c1 * c1, 0.0));
	return knMulAdd(arm, 2.0 * side->radius / s, knMulAdd(m, -knDot(m, mean), knArcMean(z, turn)));
}

void knContactGeometry_Mean(const knContactRows* list, const knModel* model, const knFrame* start,
							const knFrame* begin, const knFrame* end, const knVec3* turn, int point) {
	Side sides[2];
	knVec3 n = startNormal(list, point);
	makeSides(list, model, start, point, sides);
	const int a = sides[0].body, b = sides[1].body;
	if (!samePose(start[a], begin[a]) || !samePose(start[b], begin[b])) {
		moveSides(sides, start, begin, &n);
	}
	knPlacedContact before = placeContact(sides, n, begin, begin), after = placeContact(sides, n, begin, end);
	knSweepPoint* p = &list->points[point];
	setDirections(p, knNormalize(knAdd(before.n, after.n)));

	knVec3 middleA = knLerp(begin[a].p, end[a].p, 0.5), middleB = knLerp(begin[b].p, end[b].p, 0.5);
	knVec3 onA = knLerp(before.onA, after.onA, 0.5), onB = knLerp(before.onB, after.onB, 0.5);
	bool movesA = model->invMass[a] > 0.0, movesB = model->invMass[b] > 0.0;
	if (movesA && movesB) {
		knVec3 common = knLerp(onA, onB, 0.5);
		p->rA = knSub(common, middleA);
		p->rB = knSub(common, middleB);
		return;
	}
	p->rA = movesA ? meanArm(&sides[0], p->n, begin, end, turn[a]) : knSub(onA, middleA);
	p->rB = movesB ? meanArm(&sides[1], p->n, begin, end, turn[b]) : knSub(onB, middleB);
}

void knContactGeometry_Place(const knContactRows* list, const knModel* model, const knFrame* start,
							 const knFrame* now, int point) {
	knPlacedContact placed = knContactGeometry_At(list, model, start, now, point);
	const knContactAnchor* anchor = &list->anchors[point];
	knSweepPoint* p = &list->points[point];
	setDirections(p, placed.n);
	bool both = model->invMass[anchor->bodyA] > 0.0 && model->invMass[anchor->bodyB] > 0.0;
	knVec3 common = knLerp(placed.onA, placed.onB, 0.5);
	p->rA = knSub(both ? common : placed.onA, now[anchor->bodyA].p);
	p->rB = knSub(both ? common : placed.onB, now[anchor->bodyB].p);
	p->depth = placed.gap;
}
