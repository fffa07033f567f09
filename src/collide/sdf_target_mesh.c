// A mesh as a target. A solid's field rules out most of what is asked, and its tree gives the exact answer for the
// rest; a surface has no inside, so its tree is asked for what is near, and a sample behind it counts as inside up to a
// reach.
#include "collide/sdf_target.h"

#include "geom/sdf.h"

#define AGAINST 0.3       // cosine up to which a surface still looks against a sample
#define ON_EDGE 1e-6      // sizes of the mesh
#define SLACK 1e-3        // sizes of the smaller
#define SURFACE_REACH 0.1 // sizes of the smaller

// Whether a sample beyond the border of a surface only seems to be behind it.
static bool isBorder(const knMesh* mesh, const knMeshHit* hit) {
	if (mesh->solid || hit->feature == KN_TRIANGLE_FACE) {
		return false;
	}
	const int* edges = mesh->triangleEdges[hit->triangle];
	if (hit->feature >= KN_TRIANGLE_EDGE) {
		return mesh->edges[edges[hit->feature - KN_TRIANGLE_EDGE]].right < 0;
	}
	int k = hit->feature; // the edges from and to the corner
	return mesh->edges[edges[k]].right < 0 || mesh->edges[edges[(k + 2) % 3]].right < 0;
}

static double signedAt(const knMesh* mesh, const knMeshHit* hit, knVec3 point, knVec3* normal) {
	double distance = knMesh_Signed(mesh, hit, point, normal);
	if (isBorder(mesh, hit) && hit->distance > 0.0) {
		*normal = knScale(1.0 / hit->distance, knSub(point, hit->point));
		return hit->distance;
	}
	return distance;
}

// Beyond `exact` the field is good enough.
static bool look(const knSdfTarget* target, knVec3 point, knSeen* seen) {
	seen->hit.triangle = -1;
	return knSdf_Look(target->mesh, point, &seen->bound, &seen->distance, &seen->normal) &&
		   seen->bound >= target->exact;
}

// The same, also where the field has no direction.
static bool seeByField(const knSdfTarget* target, knVec3 point, knSeen* seen) {
	if (look(target, point, seen)) {
		return true;
	}
	if (seen->bound >= target->exact) {
		knSdfSample sample = knSdf_Far(target->mesh, point);
		seen->distance = sample.distance;
		seen->normal = sample.normal;
		return true;
	}
	return false;
}

static knSeen probe(const knSdfTarget* target, knVec3 point, int nearby) {
	knSeen seen;
	if (target->mesh->field != NULL) {
		if (target->exact < INFINITY && seeByField(target, point, &seen)) {
			return seen;
		}
		knSdfSample sample = knSdf_Exact(target->mesh, point, nearby);
		return (knSeen){ sample.distance, sample.normal, sample.distance, sample.hit };
	}
	// a surface's contacts are looked for within a reach
	knMeshHit closest = knMesh_Closest(target->mesh, point, INFINITY);
	seen.hit = knMeshHit_None(0.0);
	seen.distance = signedAt(target->mesh, &closest, point, &seen.normal);
	return seen;
}

// The closest point, or none when the margin is out of the question.
static knMeshHit closestTo(const knSdfTarget* target, knVec3 point) {
	const knMesh* mesh = target->mesh;
	if (mesh->field == NULL) {
		double radius = mesh->unbounded ? INFINITY : knMax(target->margin, target->reach);
		return knMesh_Closest(mesh, point, radius);
	}
	if (knSdf_LowerBound(mesh, point) >= target->margin) {
		return knMeshHit_None(0.0);
	}
	return knSdf_Exact(mesh, point, -1).hit;
}

// A surface holds only what comes from its front.
static bool isBehind(const knSdfTarget* target, int triangle) {
	const knMesh* mesh = target->mesh;
	knVec3 corner = mesh->vertices[mesh->triangles[triangle].a];
	return target->hasMiddle && !mesh->solid && !mesh->unbounded &&
		   knDot(mesh->faceNormals[triangle], knSub(target->middle, corner)) < 0.0;
}

// The face by which a sample that does not look against its closest one would leave.
static bool touchFacing(const knSdfTarget* target, knVec3 point, knVec3 facing, bool inside, double radius,
						knTouch* touch) {
	knMeshHit hit = knMesh_ClosestFacing(target->mesh, point, facing, radius);
	if (hit.triangle < 0) {
		return false;
	}
	knVec3 normal = target->mesh->faceNormals[hit.triangle];
	double depth = knDot(normal, knSub(point, hit.point));
	double beside = hit.squared - depth * depth;
	if (!inside && beside > target->slack * target->slack) {
		return false;
	}
	*touch = (knTouch){ hit.point, normal, depth, hit.triangle };
	return !isBehind(target, hit.triangle);
}

static bool touchFar(const knSdfTarget* target, knVec3 point, knVec3 facing, const knSeen* seen,
					 knTouch* out) {
	*out = (knTouch){ knMulAdd(point, -seen->distance, seen->normal), seen->normal, seen->distance, -1 };
	return seen->distance < target->margin && knDot(seen->normal, facing) < AGAINST;
}

// Where something that is not near yet will be when it is: the plane that it then comes against.
static bool touchAhead(const knSdfTarget* target, knVec3 center, double radius, double bound,
					   const knVec3* facing, knTouch* out) {
	bool any = false;
	for (int i = 0; i < target->wayCount; ++i) {
		knVec3 toward;
		double gone;
		if (!knSdfTarget_Follow(target, i, center, radius, bound, &toward, &gone)) {
			continue;
		}
		knVec3 there = knMulAdd(center, gone, toward);
		knSdfSample sample = target->near + radius < target->exact ? knSdf_Sample(target->mesh, there)
																   : knSdf_Far(target->mesh, there);
		double approach = -knDot(sample.normal, toward);
		double separation = sample.distance + gone * approach - radius;
		bool against = facing == NULL || knDot(sample.normal, *facing) < AGAINST;
		if (approach > 0.0 && against && separation < target->margin &&
			(!any || separation < out->separation)) {
			knVec3 foot = knMulAdd(center, -(separation + radius), sample.normal);
			*out = (knTouch){ foot, sample.normal, separation, -1 };
			any = true;
		}
	}
	return any;
}

static bool touchBall(const knSdfTarget* target, knVec3 center, double radius, double bound, knTouch* out) {
	return touchAhead(target, center, radius, bound, NULL, out);
}

// A sample for which the field is good enough.
static bool touchByField(const knSdfTarget* target, knVec3 point, knVec3 facing, const knSeen* seen,
						 knTouch* out) {
	return seen->bound >= target->near ? touchAhead(target, point, 0.0, seen->bound, &facing, out)
									   : touchFar(target, point, facing, seen, out);
}

static bool touch(const knSdfTarget* target, knVec3 point, knVec3 facing, const knSeen* seen, knTouch* out) {
	bool known = seen != NULL && seen->hit.triangle >= 0;
	if (target->exact < INFINITY && !known) {
		if (seen != NULL && target->wayCount == 0) {
			return touchFar(target, point, facing, seen, out);
		}
		knSeen found;
		if (seen != NULL || seeByField(target, point, &found)) {
			return touchByField(target, point, facing, seen != NULL ? seen : &found, out);
		}
	}
	knMeshHit hit = known ? seen->hit : closestTo(target, point);
	if (hit.triangle < 0) {
		return false;
	}
	knVec3 normal;
	double distance = signedAt(target->mesh, &hit, point, &normal);
	if (distance >= target->margin) {
		return false;
	}
	// on an edge itself the direction is anybody's guess, but not which of its faces looks against the sample
	bool inside = distance < 0.0;
	if (hit.feature != KN_TRIANGLE_FACE && hit.distance <= ON_EDGE * target->mesh->size &&
		touchFacing(target, point, facing, inside, hit.distance + target->slack, out)) {
		return true;
	}
	if (knDot(normal, facing) < AGAINST) {
		*out = (knTouch){ hit.point, normal, distance, hit.triangle };
		return distance > 0.0 || !isBehind(target, hit.triangle);
	}
	if (touchFacing(target, point, facing, inside, hit.distance + target->reach, out)) {
		return true;
	}
	*out = (knTouch){ hit.point, normal, distance, hit.triangle };
	return inside && target->mesh->solid;
}

static double bound(const knSdfTarget* target, knVec3 point) {
	return knSdf_LowerBound(target->mesh, point);
}

static double boundAhead(const knSdfTarget* target, knVec3 point) {
	return knSdf_Below(target->mesh, point);
}

static bool mayReachSurface(const knSdfTarget* target, knVec3 center, double radius) {
	const knMesh* mesh = target->mesh;
	double around = mesh->unbounded ? target->margin : knMax(target->margin, target->reach);
	knAabb box = knAabb_Grow((knAabb){ center, center }, radius + around);
	if (mesh->unbounded) {
		box.upper.z = INFINITY; // all that is below
	}
	int cursor = 0;
	return knBvh_Next(&mesh->tree, &box, &cursor) >= 0;
}

knSdfTarget knSdfTarget_Mesh(const knMesh* mesh, double margin, double otherSize) {
	double smaller = knMin(mesh->size, otherSize);
	return (knSdfTarget){
		.mesh = mesh,
		.margin = margin,
		.near = margin,
		.exact = INFINITY,
		.reach = mesh->unbounded ? INFINITY : SURFACE_REACH * smaller,
		.slack = SLACK * smaller,
		.detail = 2.0 * mesh->meanEdge,
		.probe = probe,
		.touch = touch,
		.touchBall = touchBall,
		.bound = mesh->field != NULL ? bound : NULL,
		.boundAhead = boundAhead,
		.lookAhead = look,
		.mayReach = mesh->field != NULL ? knSdfTarget_MayReach : mayReachSurface,
	};
}
