// Any two convex geometries that have no closed form: GJK when apart, EPA when overlapping, polishing, then
// the contacts along the normal that was found.
//
// The deepest contact is exact: its separation is the signed distance, along the normal of least translation.
// Faces and edges that lie nearly flat against each other add the other corners of their overlap, with the
// same normal; these are named after the nearest corner of the smaller shape's feature.
#include "collide/feature.h"
#include "collide/manifold.h"

#define OFF_CURVED 0.06 // radians that the search for a line may leave open
#define OFF_PLAIN 1e-3
#define CLOSE 1e-3   // scales: a line so short has lost digits of its direction
#define DEEPEST 1e-7 // sizes by which the exact point must be deeper than the overlap's to be added

typedef struct Found {
	knVec3 a, b; // on the surfaces, in A's frame
	double separation;
} Found;

typedef struct Contacts {
	const knCorePair* p;
	knVec3 n;
	double distance; // of the surfaces
	double margin;
	Found found[KN_OVERLAP_MAX + 1];
	int count;
	double deepest;
} Contacts;

// Where the ray from a capsule's core along the unit vector d leaves it: through the side, or through a cap.
static knVec3 leaveCapsule(const knCore* core, knVec3 point, knVec3 d) {
	double r = core->radius, rho = sqrt(d.x * d.x + d.y * d.y);
	double side = rho > 0.0 ? r / rho : INFINITY;
	if (knAbs(point.z + side * d.z) <= core->size.y) {
		return knMulAdd(point, side, d);
	}
	// |(point.z + x d.z - end, x rho)| = r
	double e = point.z - (d.z < 0.0 ? -core->size.y : core->size.y), b = e * d.z;
	return knMulAdd(point, sqrt(knMax(0.0, b * b - e * e + r * r)) - b, d);
}

// From a core's point to the surface along the unit vector d, in the core's frame.
static knVec3 surfaceOf(const knCore* core, knVec3 point, knVec3 d) {
	if (core->kind == KN_GEOM_CAPSULE) {
		return leaveCapsule(core, point, d);
	}
	return core->radius > 0.0 ? knMulAdd(point, core->radius, d) : point;
}

// Takes two core points as a contact if the surfaces are closer than the margin there.
static void add(Contacts* c, knVec3 onA, knVec3 onB) {
	const knCorePair* p = c->p;
	Found* f = &c->found[c->count];
	f->a = surfaceOf(&p->a, onA, c->n);
	f->b = onB;
	if (p->b.radius > 0.0) {
		knVec3 local = knTMulMV(&p->R, knSub(onB, p->t));
		f->b = knAdd(p->t, knMulMV(&p->R, surfaceOf(&p->b, local, knNeg(knTMulMV(&p->R, c->n)))));
	}
	f->separation = knDot(knSub(f->b, f->a), c->n);
	if (f->separation < c->margin) {
		c->deepest = knMin(c->deepest, f->separation);
		c->count += 1;
	}
}

// --- the exact point ---------------------------------------------------------------------------------------

typedef struct Line {
	knVec3 a, b;
	double miss; // how far b - a is from s n; along n it counts most
} Line;

static void offer(const knAxis* axis, knVec3 a, knVec3 b, Line* best) {
	knVec3 d = knSub(b, a);
	double along = knDot(d, axis->n), aside = knLength(knMulAdd(d, -along, axis->n));
	double miss = 1e4 * knAbs(along - axis->s) + aside;
	if (miss < best->miss) {
		*best = (Line){ a, b, miss };
	}
}

static knVec3 closestOnB(const knCorePair* p, knVec3 x) {
	return knAdd(p->t, knMulMV(&p->R, knCore_Closest(&p->b, knTMulMV(&p->R, knSub(x, p->t)))));
}

// Where two edges cross seen along n.
static void offerCrossing(const knAxis* axis, const knCoreFeature* a, const knCoreFeature* b, Line* best) {
	for (int i = 0; i < (a->count > 2 ? a->count : a->count - 1); ++i) {
		knVec3 pa = a->points[i], da = knSub(a->points[i + 1 < a->count ? i + 1 : 0], pa);
		for (int j = 0; j < (b->count > 2 ? b->count : b->count - 1); ++j) {
			knVec3 pb = b->points[j], db = knSub(b->points[j + 1 < b->count ? j + 1 : 0], pb);
			double across = knDot(axis->n, knCross(da, db));
			if (knAbs(across) < 1e-9 * knLength(da) * knLength(db)) {
				continue;
			}
			knVec3 d = knSub(pb, pa);
			double x = knDot(axis->n, knCross(d, db)) / across, y = knDot(axis->n, knCross(d, da)) / across;
			offer(axis, knMulAdd(pa, knClamp(x, 0.0, 1.0), da), knMulAdd(pb, knClamp(y, 0.0, 1.0), db), best);
		}
	}
}

// The point of an edge that a point lies above, seen along n.
static knVec3 footOn(const knCoreFeature* edge, knVec3 point, knVec3 n) {
	knVec3 d = knSub(edge->points[1], edge->points[0]), to = knSub(point, edge->points[0]);
	knVec3 flat = knMulAdd(d, -knDot(d, n), n);
	double square = knLengthSquared(flat);
	double t = square > 0.0 ? knClamp(knDot(to, flat) / square, 0.0, 1.0) : 0.0;
	return knMulAdd(edge->points[0], t, d);
}

// Crossing edges, and support points above edges.
static void offerEdges(const knCorePair* p, const knAxis* axis, const knCorner* corner, Line* best) {
	knCoreFeature a = knCore_Feature(&p->a, axis->n, KN_FEATURE_EDGE);
	knCoreFeature b = knCorePair_FeatureB(p, knNeg(axis->n), KN_FEATURE_EDGE);
	offerCrossing(axis, &a, &b, best);
	if (a.count == 2) {
		offer(axis, footOn(&a, corner->b, axis->n), corner->b, best);
	}
	if (b.count == 2) {
		offer(axis, corner->a, footOn(&b, corner->a, axis->n), best);
	}
}

// The pair of core points whose difference is s n: one is a support point, or they lie on crossing edges, or
// the search knew them.
static Line exactLine(const knCorePair* p, const knAxis* axis, const knCoreFeature* fa,
					  const knCoreFeature* fb) {
	knVec3 offset = knScale(axis->s, axis->n);
	knCorner corner = knCorePair_Support(p, axis->n);
	Line best = { .miss = INFINITY };
	offer(axis, knCore_Closest(&p->a, knSub(corner.b, offset)), corner.b, &best);
	offer(axis, corner.a, closestOnB(p, knAdd(corner.a, offset)), &best);
	if (best.miss > 1e-9 * p->size) {
		offerCrossing(axis, fa, fb, &best);
		offerEdges(p, axis, &corner, &best);
	}
	if (best.miss > 1e-9 * p->size) {
		knVec3 a = knCore_Closest(&p->a, axis->a);
		offer(axis, a, closestOnB(p, knAdd(a, offset)), &best);
	}
	return best;
}

// --- names and choice --------------------------------------------------------------------------------------

static uint64_t nameOf(const knCoreFeature* f, knVec3 point, knVec3 n) {
	int best = 0;
	double least = INFINITY;
	for (int k = 0; k < f->count; ++k) {
		knVec3 d = knSub(point, f->points[k]);
		double along = knDot(d, n), square = knLengthSquared(d) - along * along;
		if (square < least) {
			least = square;
			best = f->names[k];
		}
	}
	return (uint64_t)best;
}

// Writes the chosen contacts to the world, named apart.
static int writeContacts(const Contacts* c, const knCoreFeature* naming, bool nameA, const knPairInput* in,
						 knContactPoint* points) {
	knManifoldPoint flat[KN_OVERLAP_MAX + 1];
	knVec3 e1 = knAnyOrthogonal(c->n), e2 = knCross(c->n, e1);
	for (int k = 0; k < c->count; ++k) {
		knVec3 at = nameA ? c->found[k].a : c->found[k].b;
		flat[k] = (knManifoldPoint){ knDot(at, e1), knDot(at, e2), c->found[k].separation };
	}
	int chosen[KN_PAIR_MAX_POINTS];
	int count = knManifold_Reduce(flat, c->count, c->p->size, chosen);
	knVec3 normal = knRotate(in->frameA.q, c->n);
	for (int k = 0; k < count; ++k) {
		const Found* f = &c->found[chosen[k]];
		points[k] = (knContactPoint){ knPoint(in->frameA, f->a), knPoint(in->frameA, f->b), normal,
									  f->separation, nameOf(naming, nameA ? f->a : f->b, c->n) };
		uint64_t twin = 0; // of points near the same corner
		for (int m = 0; m < k; ++m) {
			twin += (points[m].feature & 0xfffff) == points[k].feature;
		}
		points[k].feature |= twin << 20;
	}
	return count;
}

static int contactsAlong(const knPairInput* in, const knCorePair* p, const knAxis* axis,
						 knContactPoint* points) {
	Contacts c = { .p = p, .n = axis->n, .margin = in->margin, .deepest = INFINITY };
	c.distance = axis->s - (p->a.radius + p->b.radius);
	knCoreFeature fa = knCore_Feature(&p->a, axis->n, KN_FEATURE_FACE);
	knCoreFeature fb = knCorePair_FeatureB(p, knNeg(axis->n), KN_FEATURE_FACE);
	knOverlap overlap;
	knOverlap_Find(&fa, &fb, axis->n, p->size, &overlap);
	for (int k = 0; k < overlap.count; ++k) {
		add(&c, overlap.a[k], overlap.b[k]);
	}
	if (c.deepest > c.distance + DEEPEST * p->size) {
		Line line = exactLine(p, axis, &fa, &fb);
		add(&c, line.a, line.b);
	}
	bool nameA = p->a.reach < p->b.reach;
	return writeContacts(&c, nameA ? &fa : &fb, nameA, in, points);
}

int knPair_ConvexConvex(const knPairInput* in, knContactPoint* points) {
	knCorePair p = knCorePair_Make(in);
	knAxis axis;
	knGjkResult result = knGjk_Distance(&p, &axis);
	if (result == KN_GJK_APART) {
		return 0;
	}
	if (result == KN_GJK_OVERLAP) {
		knEpa_Depth(&p, &axis);
	} else if (p.a.curved || p.b.curved || axis.s < CLOSE * p.scale) {
		axis.s = knDot(knCorePair_Support(&p, axis.n).w, axis.n);
		knAxis_Polish(&p, p.a.curved || p.b.curved ? OFF_CURVED : OFF_PLAIN, &axis);
	}
	if (!(axis.s < p.margin)) {
		return 0;
	}
	return contactsAlong(in, &p, &axis, points);
}
