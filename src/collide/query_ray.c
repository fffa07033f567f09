// Rays against geometries: closed forms for each kind, trees for meshes and compounds.
//
// A ray is o + x d, 0 <= x <= 1, in the geometry's own frame. Convex kinds are hit where the last of their
// boundaries is entered; a ray that starts inside has entered all of them before and hits at 0.
#include "collide/convex_support.h"
#include "geom/mesh.h"
#include "knuckle/query.h"

typedef struct Ray {
	knVec3 o, d;
	double best; // hits beyond are not wanted
	double x;
	knVec3 n; // zero: it starts inside
	int child;
} Ray;

static bool take(Ray* ray, double x, knVec3 n) {
	if (!(x <= ray->best)) {
		return false;
	}
	ray->best = ray->x = x;
	ray->n = n;
	return true;
}

static bool takeInside(Ray* ray) {
	return take(ray, 0.0, knZero3());
}

// The smaller root of a x^2 + 2 b x + c, a > 0, c > 0: where a ray from outside enters; false if it does not.
static bool enters(double a, double b, double c, double* x) {
	double discriminant = b * b - a * c;
	if (!(b < 0.0) || !(discriminant >= 0.0)) {
		return false;
	}
	*x = c / (sqrt(discriminant) - b); // the stable form: c / a over the larger root
	return true;
}

static bool castSphereAt(Ray* ray, knVec3 center, double radius) {
	knVec3 o = knSub(ray->o, center);
	double c = knLengthSquared(o) - radius * radius, x;
	if (c <= 0.0) {
		return takeInside(ray);
	}
	if (!enters(knLengthSquared(ray->d), knDot(o, ray->d), c, &x)) {
		return false;
	}
	return take(ray, x, knScale(1.0 / radius, knMulAdd(o, x, ray->d)));
}

static bool castSphere(const knGeom* geom, Ray* ray) {
	return castSphereAt(ray, knZero3(), geom->size.x);
}

// The side of a cylinder about z, without ends; false where the hit lies beyond them.
static bool castSide(Ray* ray, double radius, double half) {
	double c = ray->o.x * ray->o.x + ray->o.y * ray->o.y - radius * radius, x;
	double a = ray->d.x * ray->d.x + ray->d.y * ray->d.y, b = ray->o.x * ray->d.x + ray->o.y * ray->d.y;
	if (c <= 0.0 || a == 0.0 || !enters(a, b, c, &x)) {
		return false;
	}
	knVec3 p = knMulAdd(ray->o, x, ray->d);
	return knAbs(p.z) <= half && take(ray, x, knV3(p.x / radius, p.y / radius, 0.0));
}

static bool castCapsule(const knGeom* geom, Ray* ray) {
	double radius = geom->size.x, half = geom->size.y;
	knVec3 core = knV3(0.0, 0.0, knClamp(ray->o.z, -half, half));
	if (knDistance(core, ray->o) <= radius) {
		return takeInside(ray);
	}
	bool hit = castSide(ray, radius, half);
	hit = castSphereAt(ray, knV3(0.0, 0.0, half), radius) || hit;
	return castSphereAt(ray, knV3(0.0, 0.0, -half), radius) || hit;
}

static bool castCylinder(const knGeom* geom, Ray* ray) {
	double radius = geom->size.x, half = geom->size.y;
	double rho2 = ray->o.x * ray->o.x + ray->o.y * ray->o.y;
	if (knAbs(ray->o.z) <= half && rho2 <= radius * radius) {
		return takeInside(ray);
	}
	if (knAbs(ray->o.z) > half && ray->o.z * ray->d.z < 0.0) {
		double side = ray->o.z > 0.0 ? 1.0 : -1.0, x = (side * half - ray->o.z) / ray->d.z;
		knVec3 p = knMulAdd(ray->o, x, ray->d);
		if (p.x * p.x + p.y * p.y <= radius * radius) {
			return take(ray, x, knV3(0.0, 0.0, side));
		}
	}
	return castSide(ray, radius, half);
}

static bool castEllipsoid(const knGeom* geom, Ray* ray) {
	knVec3 e = geom->size, o = knV3(ray->o.x / e.x, ray->o.y / e.y, ray->o.z / e.z);
	knVec3 d = knV3(ray->d.x / e.x, ray->d.y / e.y, ray->d.z / e.z);
	double c = knLengthSquared(o) - 1.0, x;
	if (c <= 0.0) {
		return takeInside(ray);
	}
	if (!enters(knLengthSquared(d), knDot(o, d), c, &x)) {
		return false;
	}
	knVec3 p = knMulAdd(o, x, d);
	return take(ray, x, knNormalize(knV3(p.x / e.x, p.y / e.y, p.z / e.z)));
}

// Half-spaces n.x <= offset, one after the other: `enter` and `leave` close in on the part inside all of them.
typedef struct Clip {
	double enter, leave;
	knVec3 n;
} Clip;

static bool clip(Clip* part, const Ray* ray, knVec3 n, double offset) {
	double above = knDot(n, ray->o) - offset, rate = knDot(n, ray->d);
	if (rate == 0.0) {
		return above <= 0.0;
	}
	double x = -above / rate;
	if (rate < 0.0 && x > part->enter) {
		part->enter = x;
		part->n = n;
	} else if (rate > 0.0) {
		part->leave = knMin(part->leave, x);
	}
	return part->enter <= part->leave;
}

static bool castBox(const knGeom* geom, Ray* ray) {
	Clip part = { 0.0, ray->best, knZero3() };
	for (int k = 0; k < 6; ++k) {
		knVec3 n = knZero3();
		knSetComponent(&n, k / 2, k % 2 == 0 ? 1.0 : -1.0);
		if (!clip(&part, ray, n, knComponent(geom->size, k / 2))) {
			return false;
		}
	}
	return take(ray, part.enter, part.n);
}

static bool castHull(const knGeom* geom, Ray* ray) {
	Clip part = { 0.0, ray->best, knZero3() };
	for (int k = 0; k < geom->hull->faceCount; ++k) {
		if (!clip(&part, ray, geom->hull->faces[k].normal, geom->hull->faces[k].offset)) {
			return false;
		}
	}
	return take(ray, part.enter, part.n);
}

static bool castPlane(const knGeom* geom, Ray* ray) {
	(void)geom;
	if (ray->o.z <= 0.0) {
		return takeInside(ray);
	}
	return ray->d.z < 0.0 && take(ray, -ray->o.z / ray->d.z, knV3(0.0, 0.0, 1.0));
}

// --- trees -------------------------------------------------------------------------------------------------------

static bool meetsBox(const Ray* ray, const knAabb* box) {
	double enter = 0.0, leave = ray->best;
	for (int k = 0; k < 3; ++k) {
		double o = knComponent(ray->o, k), d = knComponent(ray->d, k);
		double lower = knComponent(box->lower, k), upper = knComponent(box->upper, k);
		if (d == 0.0) {
			if (o < lower || o > upper) {
				return false;
			}
			continue;
		}
		double first = (lower - o) / d, last = (upper - o) / d;
		enter = knMax(enter, knMin(first, last));
		leave = knMin(leave, knMax(first, last));
	}
	return enter <= leave * (1.0 + 1e-12) + 1e-300; // rounding must not lose a flat box
}

// Inside the triangle by the signs of the volumes that the ray spans with its edges: neighbours agree on their
// common edge, so nothing slips between them.
static bool castTriangle(Ray* ray, const knVec3 corners[3]) {
	knVec3 a = knSub(corners[0], ray->o), b = knSub(corners[1], ray->o), c = knSub(corners[2], ray->o);
	double u = knDot(ray->d, knCross(c, b)), v = knDot(ray->d, knCross(a, c)),
		   w = knDot(ray->d, knCross(b, a));
	if ((u < 0.0 || v < 0.0 || w < 0.0) && (u > 0.0 || v > 0.0 || w > 0.0)) {
		return false;
	}
	knVec3 n = knCross(knSub(corners[1], corners[0]), knSub(corners[2], corners[0]));
	double rate = knDot(n, ray->d);
	if (rate == 0.0) {
		return false;
	}
	double x = knDot(n, a) / rate;
	return x >= 0.0 && x < ray->best && take(ray, x, knNormalize(rate > 0.0 ? knNeg(n) : n));
}

static bool castMesh(const knGeom* geom, Ray* ray) {
	const knMesh* mesh = geom->mesh;
	knAabb here = { ray->o, ray->o };
	bool solid = mesh->unbounded || (mesh->solid && knAabb_Overlap(here, mesh->bounds));
	if (solid && knGeom_Distance(geom, ray->o) <= 0.0) {
		return takeInside(ray);
	}
	bool hit = false;
	for (int node = 0; node < mesh->tree.nodeCount;) {
		const knBvhNode* n = &mesh->tree.nodes[node];
		if (!meetsBox(ray, &n->box)) {
			node = n->skip;
			continue;
		}
		if (n->item >= 0) {
			knVec3 corners[3];
			knMesh_Corners(mesh, n->item, corners);
			hit = castTriangle(ray, corners) || hit;
		}
		node += 1;
	}
	return hit;
}

static bool castInto(const knGeom* geom, Ray* ray);

static bool castCompound(const knGeom* geom, Ray* ray) {
	bool hit = false;
	for (int node = 0; node < geom->tree.nodeCount;) {
		const knBvhNode* n = &geom->tree.nodes[node];
		if (!meetsBox(ray, &n->box)) {
			node = n->skip;
			continue;
		}
		if (n->item >= 0) {
			const knGeomChild* child = &geom->children[n->item];
			Ray inner = { .o = knInvPoint(child->frame, ray->o),
						  .d = knInvRotate(child->frame.q, ray->d),
						  .best = ray->best };
			bool found = castInto(child->geom, &inner);
			bool first = inner.x < ray->best || !hit || n->item < ray->child;
			if (found && first && take(ray, inner.x, knRotate(child->frame.q, inner.n))) {
				ray->child = n->item;
				hit = true;
			}
		}
		node += 1;
	}
	return hit;
}

static bool castInto(const knGeom* geom, Ray* ray) {
	static bool (*const table[KN_GEOM_KIND_COUNT])(const knGeom*, Ray*) = {
		[KN_GEOM_SPHERE] = castSphere,
		[KN_GEOM_CAPSULE] = castCapsule,
		[KN_GEOM_BOX] = castBox,
		[KN_GEOM_PLANE] = castPlane,
		[KN_GEOM_COMPOUND] = castCompound,
		[KN_GEOM_CYLINDER] = castCylinder,
		[KN_GEOM_ELLIPSOID] = castEllipsoid,
		[KN_GEOM_HULL] = castHull,
		[KN_GEOM_MESH] = castMesh,
		[KN_GEOM_HEIGHT_FIELD] = castMesh,
	};
	return table[geom->kind](geom, ray);
}

bool knGeom_RayCast(const knGeom* geom, knFrame frame, knVec3 origin, knVec3 translation, knGeomHit* hit) {
	KN_ASSERT(geom != NULL && hit != NULL);
	*hit = (knGeomHit){ .fraction = 1.0 };
	if (!knIsFiniteF(frame) || !knIsFinite3(origin) || !knIsFinite3(translation)) {
		return false;
	}
	Ray ray = { .o = knInvPoint(frame, origin), .d = knInvRotate(frame.q, translation), .best = 1.0 };
	if (!castInto(geom, &ray)) {
		return false;
	}
	bool inside = knLengthSquared(ray.n) == 0.0;
	hit->fraction = ray.x;
	hit->point = knMulAdd(origin, ray.x, translation);
	hit->normal = inside ? knNormalize(knNeg(translation)) : knRotate(frame.q, ray.n);
	hit->child = ray.child;
	return true;
}
