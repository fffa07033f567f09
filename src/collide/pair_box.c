// Box against box and plane.
//
// Box-box: the separating axis test over 15 directions, in the frame of box A (of the larger box, so that
// swapping the two gives the mirrored result).
//   penetrating   the axis of largest separation is the least translation; a face is preferred to an edge,
//                 and the first box's face to the second's, unless clearly worse, so that resting contacts
//                 keep their names
//   separate      faces flat above each other, or a vertex above a face: a face contact, whose gap is the
//                 distance; else the shortest line between the boxes (box_distance.c), because the gap along
//                 an axis would be too small
// A face contact clips the facing (*incident*) face of one box by the side planes of the other's
// (*reference*) face.
//
// Symbols: a, b half extents; R, t pose of B in A; s separation along an axis; m an edge cross; (u, v, w)
// coordinates in the reference face and above it.
#include "collide/box_pair.h"
#include "collide/manifold.h"
#include "collide/segment.h"

#define FACE_BIAS 1e-3    // sizes by which a nearly parallel rival axis must be better
#define PLAIN_BIAS 1e-6   // sizes by which any other rival axis must be better
#define NEAR_AXES 0.99    // cosine between nearly parallel axes
#define NEAR_FACES 0.9999 // cosine between faces that lie flat on each other
#define CLIP_SLACK 1e-6   // sizes: a vertex this far outside a side plane is not cut off
#define TOUCHING 1e-9     // sizes: smaller gaps have no direction between closest points
#define ROUNDING 1e-13    // and so for the larger box
#define MAX_CLIPPED 20    // 8 corners; each cut could make 1.5 times as many if rounding made it cross back

// Features: 2 bits for the type, below them what touches.
enum { FEATURE_FACE_A = 0 << 20, FEATURE_FACE_B = 1 << 20, FEATURE_EDGES = 2 << 20, FEATURE_LINE = 3 << 20 };

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
		if (s > best->s + PLAIN_BIAS * p->size) {
			best->s = s;
			best->i = i;
		}
	}
	best->n = knZero3();
	knSetComponent(&best->n, best->i, p->t[best->i] < 0.0 ? -1.0 : 1.0);
	return true;
}

// The edge cross with the largest separation; false if one separates by the margin.
static bool testEdges(const knBoxPair* p, Axis* best) {
	*best = (Axis){ .s = -INFINITY };
	for (int i = 0; i < 3; ++i) {
		int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
		for (int j = 0; j < 3; ++j) {
			// m = e_i x R_j = -R[i2][j] e_i1 + R[i1][j] e_i2; its products with B's axes are entries of row i
			double m1 = -p->R[i2][j], m2 = p->R[i1][j];
			double squared = m1 * m1 + m2 * m2;
			if (squared < 1e-12) {
				continue; // parallel edges: the faces decide
			}
			int j1 = (j + 1) % 3, j2 = (j + 2) % 3;
			double reach = knAbs(m1) * p->a[i1] + knAbs(m2) * p->a[i2] + knAbs(p->R[i][j2]) * p->b[j1] +
						   knAbs(p->R[i][j1]) * p->b[j2];
			double along = p->t[i1] * m1 + p->t[i2] * m2;
			double scale = 1.0 / sqrt(squared);
			double s = (knAbs(along) - reach) * scale;
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

// B's faces are A's faces of the turned pair.
static bool testAxes(const knBoxPair* p, const knBoxPair* turned, Axes* axes) {
	Axis b;
	if (!testFaces(p, &axes->faceA) || !testFaces(turned, &b) || !testEdges(p, &axes->edge)) {
		return false;
	}
	knVec3 normal = knBoxPair_AxisB(p, b.i);
	axes->faceB = (Axis){ .s = b.s, .j = b.i, .n = knComponent(b.n, b.i) > 0.0 ? knNeg(normal) : normal };
	return true;
}

static bool nearAxes(const Axis* first, const Axis* second) {
	return knAbs(knDot(first->n, second->n)) > NEAR_AXES;
}

// Whether `rival` beats `favourite` by more than the bias.
static bool beats(const knBoxPair* p, const Axis* rival, const Axis* favourite) {
	return rival->s > favourite->s + (nearAxes(rival, favourite) ? FACE_BIAS : PLAIN_BIAS) * p->size;
}

// --- face contacts ---------------------------------------------------------------------------------------

typedef struct ClipVertex {
	double u, v, w;
	int in, out; // the edges that meet here: 0-3 of the incident face, 4-7 side planes
} ClipVertex;

typedef struct SidePlane {
	int label;    // 4-7
	bool alongV;  // cuts v, else u
	double side;  // keeps side * coordinate <= limit ...
	double limit; // ... and a little beyond:
	double slack;
} SidePlane;

// Cuts a polygon and returns its new count.
static int clip(const ClipVertex* polygon, int count, const SidePlane* plane, ClipVertex* result) {
	int kept = 0;
	for (int k = 0; k < count; ++k) {
		const ClipVertex* from = &polygon[k];
		const ClipVertex* to = &polygon[k + 1 < count ? k + 1 : 0];
		double beyondFrom = plane->side * (plane->alongV ? from->v : from->u) - plane->limit;
		double beyondTo = plane->side * (plane->alongV ? to->v : to->u) - plane->limit;
		bool keepFrom = beyondFrom <= plane->slack, keepTo = beyondTo <= plane->slack;
		if (keepFrom) {
			result[kept++] = *from;
		}
		if (keepFrom != keepTo) {
			double f = knClamp(beyondFrom / (beyondFrom - beyondTo), 0.0, 1.0);
			result[kept].u = from->u + f * (to->u - from->u);
			result[kept].v = from->v + f * (to->v - from->v);
			result[kept].w = from->w + f * (to->w - from->w);
			result[kept].in = keepFrom ? from->out : plane->label;
			result[kept].out = keepFrom ? plane->label : from->out;
			++kept;
		}
	}
	return kept;
}

// The incident face of B for A's face `axis` on side `sign`, in face coordinates; returns its number (0-5).
static int incidentFace(const knBoxPair* p, int axis, double sign, double* cosine, ClipVertex polygon[4]) {
	int j = 0;
	for (int k = 1; k < 3; ++k) {
		j = knAbs(p->R[axis][k]) > knAbs(p->R[axis][j]) + 1e-6 ? k : j;
	}
	*cosine = knAbs(p->R[axis][j]);
	double facing = sign * p->R[axis][j] > 0.0 ? -1.0 : 1.0; // its outward normal is facing * R_j
	int k = (j + 1) % 3, l = (j + 2) % 3, iu = (axis + 1) % 3, iv = (axis + 2) % 3;
	for (int c = 0; c < 4; ++c) {
		double x = c == 1 || c == 2 ? p->b[k] : -p->b[k], y = c >= 2 ? p->b[l] : -p->b[l];
		double z = facing * p->b[j];
		polygon[c].u = p->t[iu] + z * p->R[iu][j] + x * p->R[iu][k] + y * p->R[iu][l];
		polygon[c].v = p->t[iv] + z * p->R[iv][j] + x * p->R[iv][k] + y * p->R[iv][l];
		double height = p->t[axis] + z * p->R[axis][j] + x * p->R[axis][k] + y * p->R[axis][l];
		polygon[c].w = sign * height - p->a[axis];
		polygon[c].in = (c + 3) % 4;
		polygon[c].out = c;
	}
	return 2 * j + (facing > 0.0);
}

typedef struct FaceContact {
	bool onB;    // the reference face is B's
	int axis;    // of the reference box ...
	double sign; // ... and side
	int count;
	ClipVertex points[KN_PAIR_MAX_POINTS];
	double deepest; // smallest w
	double cosine;  // between the two faces
	int feature;    // reference and incident face
} FaceContact;

// The contact on A's face `axis`, side `sign`.
static FaceContact faceContact(const knBoxPair* p, int axis, double sign) {
	FaceContact contact = { .axis = axis, .sign = sign, .deepest = INFINITY };
	ClipVertex first[MAX_CLIPPED], second[MAX_CLIPPED];
	int incident = incidentFace(p, axis, sign, &contact.cosine, first);
	double limitU = p->a[(axis + 1) % 3], limitV = p->a[(axis + 2) % 3], slack = CLIP_SLACK * p->size;
	contact.feature = (2 * axis + (sign > 0.0)) << 9 | incident << 6;

	int count = clip(first, 4, &(SidePlane){ 4, false, 1.0, limitU, slack }, second);
	count = clip(second, count, &(SidePlane){ 5, true, 1.0, limitV, slack }, first);
	count = clip(first, count, &(SidePlane){ 6, false, -1.0, limitU, slack }, second);
	count = clip(second, count, &(SidePlane){ 7, true, -1.0, limitV, slack }, first);
	KN_ASSERT(count <= MAX_CLIPPED);

	// only points within the margin compete
	knManifoldPoint points[MAX_CLIPPED];
	int kept = 0;
	for (int k = 0; k < count; ++k) {
		if (first[k].w < p->margin) {
			points[kept] = (knManifoldPoint){ first[k].u, first[k].v, first[k].w };
			first[kept++] = first[k];
			contact.deepest = knMin(contact.deepest, first[k].w);
		}
	}
	int chosen[KN_PAIR_MAX_POINTS];
	contact.count = knManifold_Reduce(points, kept, p->size, chosen);
	for (int k = 0; k < contact.count; ++k) {
		contact.points[k] = first[chosen[k]];
	}
	return contact;
}

// World contacts; `p` is the pair seen from the reference box.
static int writeFace(const FaceContact* contact, const knBoxPair* p, const knPairInput* in,
					 knContactPoint* points) {
	knFrame frame = contact->onB ? in->frameB : in->frameA;
	knMat33 axes = knQuat_ToMat33(frame.q);
	const knVec3* columns[3] = { &axes.cx, &axes.cy, &axes.cz };
	int iu = (contact->axis + 1) % 3, iv = (contact->axis + 2) % 3;
	knVec3 outward = knScale(contact->sign, *columns[contact->axis]);
	knVec3 center = knMulAdd(frame.p, p->a[contact->axis], outward); // of the reference face
	for (int k = 0; k < contact->count; ++k) {
		const ClipVertex* vertex = &contact->points[k];
		double u = knClamp(vertex->u, -p->a[iu], p->a[iu]), v = knClamp(vertex->v, -p->a[iv], p->a[iv]);
		knVec3 reference = knMulAdd(knMulAdd(center, u, *columns[iu]), v, *columns[iv]);
		knVec3 incident = knMulAdd(knMulAdd(center, vertex->u, *columns[iu]), vertex->v, *columns[iv]);
		incident = knMulAdd(incident, vertex->w, outward);
		int feature = contact->feature | vertex->in << 3 | vertex->out;
		points[k].pointA = contact->onB ? incident : reference;
		points[k].pointB = contact->onB ? reference : incident;
		points[k].normal = contact->onB ? knNeg(outward) : outward;
		points[k].separation = vertex->w;
		points[k].feature = (uint64_t)(feature | (contact->onB ? FEATURE_FACE_B : FEATURE_FACE_A));
	}
	return contact->count;
}

// --- single contacts -------------------------------------------------------------------------------------

static int writePoint(const knPairInput* in, knVec3 onA, knVec3 onB, knVec3 normal, int feature,
					  knContactPoint* point) {
	point->pointA = knPoint(in->frameA, onA);
	point->pointB = knPoint(in->frameA, onB);
	point->normal = knRotate(in->frameA.q, normal);
	point->separation = knDot(knSub(onB, onA), normal);
	point->feature = (uint64_t)feature;
	return point->separation < in->margin;
}

// The edge of a box along `axis` farthest in `direction`, in the box's frame; *name is which of the 12.
static knSegment supportEdge(const double* half, int axis, knVec3 direction, int* name) {
	knSegment edge = { knZero3(), knZero3() };
	knSetComponent(&edge.half, axis, half[axis]);
	*name = axis;
	for (int k = 1; k < 3; ++k) {
		int other = (axis + k) % 3;
		bool positive = knComponent(direction, other) > 0.0;
		knSetComponent(&edge.center, other, positive ? half[other] : -half[other]);
		*name = 2 * *name + positive;
	}
	return edge;
}

static int edgeContact(const knPairInput* in, const knBoxPair* p, const Axis* axis, knContactPoint* points) {
	int nameA, nameB;
	knVec3 n = axis->n;
	knSegment edgeA = supportEdge(p->a, axis->i, n, &nameA);
	knSegment local = supportEdge(p->b, axis->j, knNeg(knBoxPair_ToB(p, n)), &nameB);
	knSegment edgeB = { knBoxPair_FromB(p, local.center),
						knScale(p->b[axis->j], knBoxPair_AxisB(p, axis->j)) };

	double s, t;
	knSegment_Closest(&edgeA, &edgeB, &s, &t);
	return writePoint(in, knSegment_At(&edgeA, s), knSegment_At(&edgeB, t), n,
					  FEATURE_EDGES | nameA << 4 | nameB, points);
}

// --- putting it together ---------------------------------------------------------------------------------

typedef struct BoxBox {
	const knPairInput* in;
	knBoxPair pair, turned;
	Axes axes;
} BoxBox;

// The contact on the best face of A, or of B.
static FaceContact contactOnFace(const BoxBox* b, bool onB) {
	const knBoxPair* p = onB ? &b->turned : &b->pair;
	int axis = onB ? b->axes.faceB.j : b->axes.faceA.i;
	FaceContact contact = faceContact(p, axis, p->t[axis] < 0.0 ? -1.0 : 1.0);
	contact.onB = onB;
	return contact;
}

static int writeOnFace(const BoxBox* b, const FaceContact* contact, knContactPoint* points) {
	return writeFace(contact, contact->onB ? &b->turned : &b->pair, b->in, points);
}

static int penetrating(const BoxBox* b, knContactPoint* points) {
	const Axes* axes = &b->axes;
	bool onB = beats(&b->pair, &axes->faceB, &axes->faceA);
	const Axis* face = onB ? &axes->faceB : &axes->faceA;
	const Axis* other = onB ? &axes->faceA : &axes->faceB;
	if (!beats(&b->pair, &axes->edge, face)) {
		FaceContact contact = contactOnFace(b, onB);
		if (contact.count > 0) {
			return writeOnFace(b, &contact, points);
		}
		// preferred, but nothing of the other box lies above it: the next best axis is the true one
		if (other->s >= axes->edge.s) {
			contact = contactOnFace(b, !onB);
			return writeOnFace(b, &contact, points);
		}
	}
	return edgeContact(b->in, &b->pair, &axes->edge, points);
}

// Whether a face contact of separate boxes tells their distance. Its points are at least that far apart, and
// the separation along the best axis is at most that; so they agree if the two are equal. For faces that lie
// flat on each other the face's gap is larger than the distance by a part in 1e4 at most, whatever the best
// axis says.
static bool isDistance(const FaceContact* contact, const knBoxPair* p, double best) {
	double slack = contact->cosine > NEAR_FACES ? FACE_BIAS * p->size : p->touching;
	return contact->count > 0 && contact->deepest > 0.0 && contact->deepest <= best + slack;
}

static int separate(const BoxBox* b, const Axis* best, knContactPoint* points) {
	bool onB = beats(&b->pair, &b->axes.faceB, &b->axes.faceA);
	for (int attempt = 0; attempt < 2; ++attempt, onB = !onB) {
		FaceContact contact = contactOnFace(b, onB);
		if (isDistance(&contact, &b->pair, best->s)) {
			return writeOnFace(b, &contact, points);
		}
	}
	knBoxLine line = knBoxPair_Closest(&b->pair, best->n, best->s);
	knVec3 normal = knScale(1.0 / line.distance, knSub(line.onB, line.onA));
	return writePoint(b->in, line.onA, line.onB, normal, FEATURE_LINE | line.feature, points);
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
	return best->s > b.pair.touching ? separate(&b, best, points) : penetrating(&b, points);
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
