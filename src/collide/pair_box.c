// Box against box and plane.
//
// Box-box: the separating axis test over 15 directions, in the frame of box A (of the larger box, so that
// swapping the two gives the mirrored result).
//   penetrating   the axis of largest separation is the least translation; of equal ones a face comes before
//                 an edge and the first box's face before the second's
//   separate      a face contact, if its gap is the distance; else the shortest line between the boxes
//                 (box_distance.c), because the gap along an axis would be too small
// A face contact clips the facing (*incident*) face of one box by the side planes of the other's
// (*reference*) face. Where two edges or a line decide, but faces lie nearly flat on each other, the clipped
// corners are kept beside the exact point and measured along its normal: the depth is exact and the base
// stays wide. Contacts are named after the nearest corner of the smaller box, so that a name outlives a change
// of reference face and of what cuts what.
//
// Symbols: a, b half extents; R, t pose of B in A; s separation along an axis; m an edge cross; (u, v, w)
// coordinates in the reference face and above it.
#include "collide/box_pair.h"
#include "collide/manifold.h"
#include "collide/segment.h"

#define BIAS 2e-7              // sizes by which a rival axis must be better
#define SAME_AXES (1.0 - 5e-8) // cosine between axes that make no difference: 3e-4 radians
#define NEAR_AXES 0.99         // cosine between a normal and a face that lies nearly flat under it
#define CLIP_SLACK 1e-6        // sizes: a vertex this far outside a side plane is not cut off
#define TOUCHING 1e-9          // sizes: smaller gaps have no direction between closest points
#define ROUNDING 1e-13         // and so for the larger box
#define MAX_CLIPPED 20 // 8 corners; each cut could make 1.5 times as many if rounding made it cross back

#define MIDDLE 1e-3 // half extents beyond the middle that still count as the upper side of a box

typedef struct Axis {
	double s;
	int i;    // A's axis: of faces A and edges
	int j;    // B's axis: of faces B and edges
	knVec3 n; // unit, from A to B, in A's frame
} Axis;

typedef struct Axes {
	Axis faceA, faceB, edge;
} Axes;

static knBoxPair makePair(const knPairInput* in) {
	knFrame relative = knInvMulF(in->frameA, in->frameB);
	knMat33 R = knQuat_ToMat33(relative.q);
	knVec3 a = in->geomA->size, b = in->geomB->size, t = relative.p;
	double radiusA = knLength(a), radiusB = knLength(b), size = knMin(radiusA, radiusB);
	knBoxPair pair = {
		.a = { a.x, a.y, a.z },
		.b = { b.x, b.y, b.z },
		.R = { { R.cx.x, R.cy.x, R.cz.x }, { R.cx.y, R.cy.y, R.cz.y }, { R.cx.z, R.cy.z, R.cz.z } },
		.t = { t.x, t.y, t.z },
		.size = size,
		.touching = TOUCHING * size + ROUNDING * knMax(radiusA, radiusB),
		.margin = in->margin,
	};
	return pair;
}

// The same pair seen from B.
static knBoxPair turnPair(const knBoxPair* p) {
	knBoxPair turned = { .size = p->size, .touching = p->touching, .margin = p->margin };
	for (int j = 0; j < 3; ++j) {
		turned.a[j] = p->b[j];
		turned.b[j] = p->a[j];
		turned.t[j] = -(p->R[0][j] * p->t[0] + p->R[1][j] * p->t[1] + p->R[2][j] * p->t[2]);
		for (int i = 0; i < 3; ++i) {
			turned.R[j][i] = p->R[i][j];
		}
	}
	return turned;
}

// --- the 15 axes -----------------------------------------------------------------------------------------

// A's face axis with the largest separation; false if one separates by the margin.
static bool testFaces(const knBoxPair* p, Axis* best) {
	*best = (Axis){ .s = -INFINITY };
	for (int i = 0; i < 3; ++i) {
		double reach =
			p->a[i] + knAbs(p->R[i][0]) * p->b[0] + knAbs(p->R[i][1]) * p->b[1] + knAbs(p->R[i][2]) * p->b[2];
		double s = knAbs(p->t[i]) - reach;
		if (s >= p->margin) {
			return false;
		}
		if (s > best->s + BIAS * p->size) {
			best->s = s;
			best->i = i;
		}
	}
	best->n = knZero3();
	knSetComponent(&best->n, best->i, p->t[best->i] < 0.0 ? -1.0 : 1.0);
	return true;
}

// The edge cross with the largest separation above `floor`; false if one separates by the margin. Whether a cross
// can be better is seen before it is made a unit vector, which shortens it: most never are.
static bool testEdges(const knBoxPair* p, double floor, Axis* best) {
	*best = (Axis){ .s = floor };
	for (int i = 0; i < 3; ++i) {
		int i1 = i < 2 ? i + 1 : 0, i2 = i > 0 ? i - 1 : 2;
		for (int j = 0; j < 3; ++j) {
			// m = e_i x R_j = -R[i2][j] e_i1 + R[i1][j] e_i2; its products with B's axes are entries of row i
			double m1 = -p->R[i2][j], m2 = p->R[i1][j];
			int j1 = j < 2 ? j + 1 : 0, j2 = j > 0 ? j - 1 : 2;
			double reach = knAbs(m1) * p->a[i1] + knAbs(m2) * p->a[i2] + knAbs(p->R[i][j2]) * p->b[j1] +
						   knAbs(p->R[i][j1]) * p->b[j2];
			double along = p->t[i1] * m1 + p->t[i2] * m2, s = knAbs(along) - reach;
			double squared = m1 * m1 + m2 * m2;
			// parallel edges: the faces decide
			if (squared < 1e-12 ||
				(s <= 0.0 ? s <= best->s : best->s > 0.0 && s * s <= best->s * best->s * squared)) {
				continue;
			}
			double scale = 1.0 / sqrt(squared);
			s *= scale;
			if (s >= p->margin) {
				return false;
			}
			if (s > best->s) {
				scale = along < 0.0 ? -scale : scale;
				best->s = s;
				best->i = i;
				best->j = j;
				knSetComponent(&best->n, i, 0.0);
				knSetComponent(&best->n, i1, scale * m1);
				knSetComponent(&best->n, i2, scale * m2);
			}
		}
	}
	return true;
}

// B's faces are A's faces of the turned pair. Only an edge that beats both faces is looked for: else axes->edge.s is
// theirs and its n is zero.
static bool testAxes(const knBoxPair* p, const knBoxPair* turned, Axes* axes) {
	Axis b;
	if (!testFaces(p, &axes->faceA) || !testFaces(turned, &b)) {
		return false;
	}
	knVec3 normal = knBoxPair_AxisB(p, b.i);
	axes->faceB = (Axis){ .s = b.s, .j = b.i, .n = knComponent(b.n, b.i) > 0.0 ? knNeg(normal) : normal };
	return testEdges(p, knMax(axes->faceA.s, b.s), &axes->edge);
}

// Whether `rival` beats `favourite` by more than rounding and shaking.
static bool beats(const knBoxPair* p, const Axis* rival, const Axis* favourite) {
	return rival->s > favourite->s + BIAS * p->size;
}

// --- face contacts ---------------------------------------------------------------------------------------

typedef struct ClipVertex {
	double u, v, w;
} ClipVertex;

typedef struct Polygon {
	ClipVertex points[MAX_CLIPPED];
	int count;
	double deepest; // smallest w
} Polygon;

// The contact region on a face of the reference box: `p` is the pair seen from it.
typedef struct FaceContact {
	const knBoxPair* p;
	bool onB;    // the reference box is B
	int axis;    // of the reference face ...
	double sign; // ... and its side
	Polygon polygon;
} FaceContact;

static double coordinate(const ClipVertex* vertex, bool alongV) {
	return alongV ? vertex->v : vertex->u;
}

// Cuts off what lies beyond side * coordinate <= limit, and a little more. Returns `from` if nothing does, else `to`,
// which receives the rest.
static Polygon* clip(Polygon* from, bool alongV, double side, double limit, double slack, Polygon* to) {
	bool reaches = false;
	for (int k = 0; k < from->count; ++k) {
		reaches = reaches || side * coordinate(&from->points[k], alongV) - limit > slack;
	}
	if (!reaches) {
		return from;
	}
	int kept = 0;
	for (int k = 0; k < from->count; ++k) {
		const ClipVertex* here = &from->points[k];
		const ClipVertex* next = &from->points[k + 1 < from->count ? k + 1 : 0];
		double beyond = side * coordinate(here, alongV) - limit,
			   beyondNext = side * coordinate(next, alongV) - limit;
		bool keep = beyond <= slack, keepNext = beyondNext <= slack;
		if (keep) {
			to->points[kept++] = *here;
		}
		if (keep != keepNext) {
			double f = knClamp(beyond / (beyond - beyondNext), 0.0, 1.0);
			to->points[kept].u = here->u + f * (next->u - here->u);
			to->points[kept].v = here->v + f * (next->v - here->v);
			to->points[kept++].w = here->w + f * (next->w - here->w);
		}
	}
	to->count = kept;
	return to;
}

// The incident face of B for A's face `axis` on side `sign`, in face coordinates.
static void incidentFace(const knBoxPair* p, int axis, double sign, Polygon* polygon) {
	const double* row = p->R[axis];
	int j = knAbs(row[1]) > knAbs(row[0]) + 1e-6 ? 1 : 0;
	j = knAbs(row[2]) > knAbs(row[j]) + 1e-6 ? 2 : j;
	double facing = sign * row[j] > 0.0 ? -p->b[j] : p->b[j]; // its outward normal is along R_j
	int k = j < 2 ? j + 1 : 0, l = j > 0 ? j - 1 : 2,
		rows[3] = { axis < 2 ? axis + 1 : 0, axis > 0 ? axis - 1 : 2, axis };
	double center[3], x[3], y[3]; // the face's middle and half sides
	for (int i = 0; i < 3; ++i) {
		const double* R = p->R[rows[i]];
		center[i] = p->t[rows[i]] + facing * R[j];
		x[i] = p->b[k] * R[k];
		y[i] = p->b[l] * R[l];
	}
	polygon->count = 4;
	for (int c = 0; c < 4; ++c) {
		double sx = c == 1 || c == 2 ? 1.0 : -1.0, sy = c >= 2 ? 1.0 : -1.0;
		double height = center[2] + sx * x[2] + sy * y[2];
		polygon->points[c] = (ClipVertex){ center[0] + sx * x[0] + sy * y[0],
										   center[1] + sx * x[1] + sy * y[1], sign * height - p->a[axis] };
	}
}

// The region on the reference face `axis`, of points within the margin.
static void makeFaceContact(const knBoxPair* p, int axis, bool onB, FaceContact* contact) {
	contact->p = p;
	contact->onB = onB;
	contact->axis = axis;
	contact->sign = p->t[axis] < 0.0 ? -1.0 : 1.0;
	double limitU = p->a[(axis + 1) % 3], limitV = p->a[(axis + 2) % 3], slack = CLIP_SLACK * p->size;
	Polygon buffers[2];
	Polygon* clipped = &buffers[0];
	incidentFace(p, axis, contact->sign, clipped);
	clipped = clip(clipped, false, 1.0, limitU, slack, &buffers[clipped == buffers]);
	clipped = clip(clipped, true, 1.0, limitV, slack, &buffers[clipped == buffers]);
	clipped = clip(clipped, false, -1.0, limitU, slack, &buffers[clipped == buffers]);
	clipped = clip(clipped, true, -1.0, limitV, slack, &buffers[clipped == buffers]);
	KN_ASSERT(clipped->count <= MAX_CLIPPED);

	Polygon* polygon = &contact->polygon;
	polygon->count = 0;
	polygon->deepest = INFINITY;
	for (int k = 0; k < clipped->count; ++k) {
		if (clipped->points[k].w < p->margin) {
			polygon->deepest = knMin(polygon->deepest, clipped->points[k].w);
			polygon->points[polygon->count++] = clipped->points[k];
		}
	}
}

// --- names -----------------------------------------------------------------------------------------------

// The corner of B nearest to a point of its frame, as three signs.
static int nearestCorner(const knBoxPair* p, knVec3 x) {
	return (x.x > -MIDDLE * p->b[0]) + 2 * (x.y > -MIDDLE * p->b[1]) + 4 * (x.z > -MIDDLE * p->b[2]);
}

// Names contacts after their nearest corners; those of one corner by their rank from B's middle outwards.
static void nameContacts(const knBoxPair* p, const knVec3* onB, int count, knContactPoint* points) {
	int corners[KN_PAIR_MAX_POINTS], seen = 0;
	bool twins = false;
	for (int k = 0; k < count; ++k) {
		corners[k] = nearestCorner(p, onB[k]);
		twins = twins || (seen >> corners[k] & 1);
		seen |= 1 << corners[k];
		points[k].feature = (uint64_t)corners[k];
	}
	for (int k = 0; k < count && twins; ++k) {
		int rank = 0;
		double reach = knLengthSquared(onB[k]);
		for (int m = 0; m < count; ++m) {
			double other = knLengthSquared(onB[m]), slack = MIDDLE * reach;
			bool before = m < k ? other < reach + slack : other < reach - slack;
			rank += m != k && corners[m] == corners[k] && before;
		}
		points[k].feature |= (uint64_t)rank << 3;
	}
}

// --- writing ---------------------------------------------------------------------------------------------

// Contacts of a region along its own face's normal.
static int writeFace(const FaceContact* contact, const knBoxPair* pair, const knPairInput* in,
					 knContactPoint* points) {
	const knBoxPair* p = contact->p;
	const Polygon* polygon = &contact->polygon;
	knManifoldPoint flat[MAX_CLIPPED];
	for (int k = 0; k < polygon->count; ++k) {
		const ClipVertex* vertex = &polygon->points[k];
		flat[k] = (knManifoldPoint){ vertex->u, vertex->v, vertex->w };
	}
	int chosen[KN_PAIR_MAX_POINTS];
	int count = knManifold_Reduce(flat, polygon->count, p->size, chosen);

	knFrame frame = contact->onB ? in->frameB : in->frameA;
	knMat33 axes = knQuat_ToMat33(frame.q);
	const knVec3* columns[3] = { &axes.cx, &axes.cy, &axes.cz };
	int iu = (contact->axis + 1) % 3, iv = (contact->axis + 2) % 3;
	knVec3 outward = knScale(contact->sign, *columns[contact->axis]);
	knVec3 center = knMulAdd(frame.p, p->a[contact->axis], outward); // of the reference face
	knVec3 onB[KN_PAIR_MAX_POINTS];
	for (int k = 0; k < count; ++k) {
		const ClipVertex* vertex = &polygon->points[chosen[k]];
		double u = knClamp(vertex->u, -p->a[iu], p->a[iu]), v = knClamp(vertex->v, -p->a[iv], p->a[iv]);
		knVec3 reference = knMulAdd(knMulAdd(center, u, *columns[iu]), v, *columns[iv]);
		knVec3 incident = knMulAdd(knMulAdd(center, vertex->u, *columns[iu]), vertex->v, *columns[iv]);
		incident = knMulAdd(incident, vertex->w, outward);
		points[k].pointA = contact->onB ? incident : reference;
		points[k].pointB = contact->onB ? reference : incident;
		points[k].normal = contact->onB ? knNeg(outward) : outward;
		points[k].separation = vertex->w;
		// in B's frame
		knVec3 own;
		knSetComponent(&own, iu, contact->onB ? u : vertex->u);
		knSetComponent(&own, iv, contact->onB ? v : vertex->v);
		knSetComponent(&own, contact->axis,
					   contact->sign * (p->a[contact->axis] + (contact->onB ? 0.0 : vertex->w)));
		onB[k] =
			contact->onB ? own : knBoxPair_ToB(pair, knSub(own, knV3(pair->t[0], pair->t[1], pair->t[2])));
	}
	nameContacts(pair, onB, count, points);
	return count;
}

// Two points of the surfaces in A's frame.
typedef struct Line {
	knVec3 onA, onB;
} Line;

// A point of a region as a line in A's frame.
static Line lineOf(const FaceContact* contact, const knBoxPair* pair, const ClipVertex* vertex) {
	const knBoxPair* p = contact->p;
	int iu = (contact->axis + 1) % 3, iv = (contact->axis + 2) % 3;
	knVec3 reference, incident;
	knSetComponent(&reference, iu, knClamp(vertex->u, -p->a[iu], p->a[iu]));
	knSetComponent(&reference, iv, knClamp(vertex->v, -p->a[iv], p->a[iv]));
	knSetComponent(&reference, contact->axis, contact->sign * p->a[contact->axis]);
	knSetComponent(&incident, iu, vertex->u);
	knSetComponent(&incident, iv, vertex->v);
	knSetComponent(&incident, contact->axis, contact->sign * (p->a[contact->axis] + vertex->w));
	if (!contact->onB) {
		return (Line){ reference, incident };
	}
	return (Line){ knBoxPair_FromB(pair, incident), knBoxPair_FromB(pair, reference) };
}

// The exact line and, if `flat` is a region nearly square to it, the corners of that, all along n.
static int writeLine(const knPairInput* in, const knBoxPair* pair, knVec3 n, Line exact,
					 const FaceContact* flat, knContactPoint* points) {
	Line lines[MAX_CLIPPED + 1] = { exact };
	knManifoldPoint spread[MAX_CLIPPED + 1];
	int count = 1, chosen[KN_PAIR_MAX_POINTS] = { 0 }, kept = 1;
	double separation = knDot(knSub(exact.onB, exact.onA), n);
	if (!(separation < in->margin)) {
		return 0;
	}
	if (flat != NULL) {
		knVec3 e1 = knAnyOrthogonal(n), e2 = knCross(n, e1);
		spread[0] = (knManifoldPoint){ knDot(exact.onB, e1), knDot(exact.onB, e2), separation };
		for (int k = 0; k < flat->polygon.count; ++k) {
			Line line = lineOf(flat, pair, &flat->polygon.points[k]);
			separation = knDot(knSub(line.onB, line.onA), n);
			if (separation < in->margin) {
				spread[count] = (knManifoldPoint){ knDot(line.onB, e1), knDot(line.onB, e2), separation };
				lines[count++] = line;
			}
		}
		kept = knManifold_Reduce(spread, count, pair->size, chosen);
	}
	knVec3 onB[KN_PAIR_MAX_POINTS], normal = knRotate(in->frameA.q, n);
	for (int k = 0; k < kept; ++k) {
		const Line* line = &lines[chosen[k]];
		points[k].pointA = knPoint(in->frameA, line->onA);
		points[k].pointB = knPoint(in->frameA, line->onB);
		points[k].normal = normal;
		points[k].separation = knDot(knSub(line->onB, line->onA), n);
		onB[k] = knBoxPair_ToB(pair, knSub(line->onB, knV3(pair->t[0], pair->t[1], pair->t[2])));
	}
	nameContacts(pair, onB, kept, points);
	return kept;
}

// --- edges -----------------------------------------------------------------------------------------------

// The edge of a box along `axis` farthest in `direction`, in the box's frame.
static knSegment supportEdge(const double* half, int axis, knVec3 direction) {
	knSegment edge = { knZero3(), knZero3() };
	knSetComponent(&edge.half, axis, half[axis]);
	for (int k = 1; k < 3; ++k) {
		int other = (axis + k) % 3;
		knSetComponent(&edge.center, other, knComponent(direction, other) > 0.0 ? half[other] : -half[other]);
	}
	return edge;
}

static Line edgeLine(const knBoxPair* p, const Axis* axis) {
	knSegment edgeA = supportEdge(p->a, axis->i, axis->n);
	knSegment local = supportEdge(p->b, axis->j, knNeg(knBoxPair_ToB(p, axis->n)));
	knSegment edgeB = { knBoxPair_FromB(p, local.center),
						knScale(p->b[axis->j], knBoxPair_AxisB(p, axis->j)) };
	double s, t;
	knSegment_Closest(&edgeA, &edgeB, &s, &t);
	return (Line){ knSegment_At(&edgeA, s), knSegment_At(&edgeB, t) };
}

// --- putting it together ---------------------------------------------------------------------------------

typedef struct BoxBox {
	const knPairInput* in;
	knBoxPair pair, turned;
	Axes axes;
} BoxBox;

// The region on the best face of A, or of B.
static void contactOnFace(const BoxBox* b, bool onB, FaceContact* contact) {
	makeFaceContact(onB ? &b->turned : &b->pair, onB ? b->axes.faceB.j : b->axes.faceA.i, onB, contact);
}

// A line and what lies flat beside it.
static int lineContacts(const BoxBox* b, knVec3 n, Line line, knContactPoint* points) {
	double flatA = knDot(n, b->axes.faceA.n), flatB = knDot(n, b->axes.faceB.n);
	if (flatA < NEAR_AXES && flatB < NEAR_AXES) {
		return writeLine(b->in, &b->pair, n, line, NULL, points);
	}
	FaceContact flat;
	contactOnFace(b, flatB > flatA, &flat);
	return writeLine(b->in, &b->pair, n, line, &flat, points);
}

// Contacts on a face that shows the best axis: its own separation is that axis' (or its normal all but the same),
// and something of the other box lies above it at that height. 0 if there is no such face; of two the favourite is
// A's.
static int faceContacts(const BoxBox* b, const Axis* best, knContactPoint* points) {
	double slack = BIAS * b->pair.size;
	bool onB = beats(&b->pair, &b->axes.faceB, &b->axes.faceA);
	for (int attempt = 0; attempt < 2; ++attempt, onB = !onB) {
		const Axis* face = onB ? &b->axes.faceB : &b->axes.faceA;
		if (face->s < best->s - slack && knDot(face->n, best->n) < SAME_AXES) {
			continue;
		}
		FaceContact contact;
		contactOnFace(b, onB, &contact);
		if (knAbs(contact.polygon.deepest - best->s) <= slack) {
			return writeFace(&contact, &b->pair, b->in, points);
		}
	}
	return 0;
}

// The best axis is the least translation; if no face shows it, two edges do.
static int penetrating(const BoxBox* b, const Axis* best, knContactPoint* points) {
	int count = faceContacts(b, best, points);
	if (count > 0) {
		return count;
	}
	Axis edge = b->axes.edge;
	double slack = BIAS * b->pair.size;
	if (knLengthSquared(edge.n) == 0.0) {
		testEdges(&b->pair, -INFINITY, &edge); // no better than a face, but rounding left nothing above that
		if (best->s > -slack && edge.s < best->s - slack) {
			return 0; // a face that just touches: rounding has put all of its points beyond the margin
		}
	}
	return lineContacts(b, edge.n, edgeLine(&b->pair, &edge), points);
}

// A face shows the distance if its gap is that of the best axis, because points of the boxes are at least as far
// apart as the boxes, and the separation along any axis is at most that.
static int separate(const BoxBox* b, const Axis* best, knContactPoint* points) {
	int count = faceContacts(b, best, points);
	if (count > 0) {
		return count;
	}
	knBoxLine line = knBoxPair_Closest(&b->pair, best->n, best->s);
	if (!(line.distance < b->pair.margin)) {
		return 0;
	}
	knVec3 normal = knScale(1.0 / line.distance, knSub(line.onB, line.onA));
	return lineContacts(b, normal, (Line){ line.onA, line.onB }, points);
}

// Contacts of boxes of which A is not the smaller.
static int collideBoxes(const knPairInput* in, knContactPoint* points) {
	BoxBox b = { .in = in, .pair = makePair(in) };
	b.turned = turnPair(&b.pair);
	if (!testAxes(&b.pair, &b.turned, &b.axes)) {
		return 0;
	}
	const Axis* best = b.axes.faceB.s > b.axes.faceA.s ? &b.axes.faceB : &b.axes.faceA;
	best = b.axes.edge.s > best->s ? &b.axes.edge : best;
	return best->s > b.pair.touching ? separate(&b, best, points) : penetrating(&b, best, points);
}

// A total order of sizes: by diagonal, then by components.
static bool isSmaller(knVec3 a, knVec3 b) {
	double diagonalA = knLengthSquared(a), diagonalB = knLengthSquared(b);
	if (diagonalA != diagonalB) {
		return diagonalA < diagonalB;
	}
	return a.x != b.x ? a.x < b.x : (a.y != b.y ? a.y < b.y : a.z < b.z);
}

int knPair_BoxBox(const knPairInput* in, knContactPoint* points) {
	if (!isSmaller(in->geomA->size, in->geomB->size)) {
		return collideBoxes(in, points);
	}
	knPairInput swapped = knPairInput_Swap(in);
	int count = collideBoxes(&swapped, points);
	knContact_Swap(points, count);
	return count;
}

// --- box and plane ---------------------------------------------------------------------------------------

int knPair_BoxPlane(const knPairInput* in, knContactPoint* points) {
	knVec3 half = in->geomA->size;
	knVec3 up = knRotate(in->frameB.q, knV3(0.0, 0.0, 1.0));
	knVec3 upLocal = knInvRotate(in->frameA.q, up); // in the box's frame
	knVec3 steep = knAbs3(upLocal);
	int axis = steep.y > steep.x + 1e-6 ? 1 : 0;
	axis = steep.z > knComponent(steep, axis) + 1e-6 ? 2 : axis;

	// the four corners of the face that looks down; the lowest corner of all is among them
	int lowered = knComponent(upLocal, axis) > 0.0 ? 0 : 1;
	int count = 0;
	for (int bits = 0; bits < 8; ++bits) {
		if ((bits >> axis & 1) != lowered) {
			continue;
		}
		knVec3 corner =
			knV3(bits & 1 ? half.x : -half.x, bits & 2 ? half.y : -half.y, bits & 4 ? half.z : -half.z);
		knContactPoint* point = &points[count];
		point->pointA = knPoint(in->frameA, corner);
		point->separation = knDot(knSub(point->pointA, in->frameB.p), up);
		point->pointB = knMulAdd(point->pointA, -point->separation, up);
		point->normal = knNeg(up);
		point->feature = (uint64_t)bits;
		count += point->separation < in->margin;
	}
	return count;
}
