// Plane against cylinder, ellipsoid and hull.
//
// The face, edge or vertex that looks down at the plane touches it with all its corners; the support point
// joins them if it is deeper, which it is on the rim of a tilted cylinder.
#include "collide/feature.h"
#include "collide/manifold.h"

#define DEEPEST 1e-7 // sizes by which the support point must be deeper than the corners to be added

typedef struct Standing {
	int count;
	knVec3 corners[KN_FEATURE_MAX + 1]; // in the frame of B
	double heights[KN_FEATURE_MAX + 1];
	int names[KN_FEATURE_MAX + 1];
	double lowest;
} Standing;

static void add(Standing* s, knVec3 corner, int name, double height, double margin) {
	if (height < margin) {
		s->corners[s->count] = corner;
		s->heights[s->count] = height;
		s->names[s->count++] = name;
		s->lowest = knMin(s->lowest, height);
	}
}

static Standing standOn(const knCore* core, knVec3 up, double middle, double margin) {
	Standing s = { .lowest = INFINITY };
	knCoreFeature feature = knCore_Feature(core, knNeg(up), KN_FEATURE_FACE);
	for (int k = 0; k < feature.count; ++k) {
		double height = middle + knDot(up, feature.points[k]);
		add(&s, feature.points[k], feature.names[k], height, margin);
	}
	knVec3 support = knCore_Support(core, knNeg(up));
	double height = middle + knDot(up, support);
	if (height < s.lowest - DEEPEST * core->reach) {
		add(&s, support, 0xffff, height, margin);
	}
	return s;
}

int knPair_PlaneConvex(const knPairInput* in, knContactPoint* points) {
	knCore core = knCore_Of(in->geomB);
	knVec3 up = knRotate(in->frameA.q, knV3(0.0, 0.0, 1.0)), upLocal = knInvRotate(in->frameB.q, up);
	double middle = knDot(up, knSub(in->frameB.p, in->frameA.p));
	Standing s = standOn(&core, upLocal, middle, in->margin);

	knManifoldPoint flat[KN_FEATURE_MAX + 1];
	knVec3 e1 = knAnyOrthogonal(upLocal), e2 = knCross(upLocal, e1);
	for (int k = 0; k < s.count; ++k) {
		flat[k] = (knManifoldPoint){ knDot(s.corners[k], e1), knDot(s.corners[k], e2), s.heights[k] };
	}
	int chosen[KN_PAIR_MAX_POINTS];
	int count = knManifold_Reduce(flat, s.count, core.reach, chosen);
	for (int k = 0; k < count; ++k) {
		knVec3 onB = knPoint(in->frameB, s.corners[chosen[k]]);
		double height = s.heights[chosen[k]];
		points[k] =
			(knContactPoint){ knMulAdd(onB, -height, up), onB, up, height, (uint64_t)s.names[chosen[k]] };
	}
	return count;
}
