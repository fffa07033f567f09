// Closest points of two geometries, and the cast of one against another.
#include "collide/time_of_impact.h"
#include "knuckle/query.h"

#define CAST_SKIN 1e-7  // of the moving geometry's size: so close is touching
#define CAST_NUDGE 0.01 // of the thinner geometry's thickness

bool knGeom_ClosestPoints(const knGeom* geomA, knFrame frameA, const knGeom* geomB, knFrame frameB,
						  double maxDistance, knClosestPoints* result) {
	KN_ASSERT(geomA != NULL && geomB != NULL && result != NULL);
	*result = (knClosestPoints){ .distance = INFINITY };
	knPairInput in = knPairInput_Make(geomA, frameA, geomB, frameB, maxDistance);
	knNearest nearest;
	if (!(maxDistance > -(double)INFINITY) || !knConvexPairs_Nearest(&in, &nearest)) {
		return false;
	}
	*result = (knClosestPoints){ .pointA = nearest.pointA,
								 .pointB = nearest.pointB,
								 .normal = nearest.normal,
								 .distance = nearest.distance,
								 .childA = nearest.childA,
								 .childB = nearest.childB };
	return true;
}

static knGeomHit hitOf(const knNearest* touch, double fraction) {
	return (knGeomHit){
		.fraction = fraction, .point = touch->pointB, .normal = knNeg(touch->normal), .child = touch->childB
	};
}

static double sizeOf(const knGeom* geom) {
	knAabb box = knGeom_Aabb(geom, knIdentityF());
	return knDistance(box.lower, box.upper);
}

bool knGeom_Cast(const knShapeCast* cast, const knGeom* geom, knFrame frame, knGeomHit* hit) {
	KN_ASSERT(cast != NULL && cast->geom != NULL && geom != NULL && hit != NULL);
	*hit = (knGeomHit){ .fraction = 1.0 };
	if (cast->geom->kind == KN_GEOM_PLANE || !knIsFiniteF(cast->frame) || !knIsFiniteF(frame) ||
		!knIsFinite3(cast->translation) || !knIsFinite3(cast->rotation)) {
		return false;
	}
	knPairInput start = knPairInput_Make(cast->geom, cast->frame, geom, frame, 0.0);
	knNearest touch;
	if (knConvexPairs_Nearest(&start, &touch)) {
		*hit = hitOf(&touch, 0.0);
		return true;
	}
	double thinA = knGeom_Thinness(cast->geom), thinB = knGeom_Thinness(geom);
	double thin = thinA > 0.0 && thinB > 0.0 ? knMin(thinA, thinB) : knMax(thinA, thinB);
	knTimeOfImpactInput in = {
		.a = { cast->geom, cast->frame, cast->frame.p, knMakeTwist(cast->rotation, cast->translation) },
		.b = { geom, frame, frame.p, knZeroTwist() },
		.to = 1.0,
		.skin = CAST_SKIN * sizeOf(cast->geom),
		.nudge = CAST_NUDGE * (knIsFinite(thin) ? thin : sizeOf(cast->geom)),
	};
	knTimeOfImpact meeting;
	if (!knTimeOfImpact_Find(&in, &meeting)) {
		return false;
	}
	*hit = hitOf(&meeting.touch, meeting.time);
	return true;
}
