// Pairs with meshes and height fields.
//
//   mesh, mesh     samples of each against the other (Guendelman et al. 2003)
//   convex, mesh   the mesh's samples against the convex; against the mesh, a polytope's vertices, and of a
//                  curved shape what it has farthest against each triangle near it
//   plane, mesh    the mesh's vertices
//
// A convex shape touches a triangle with one of its vertices, one of its edges or its face; the first two are
// samples of the mesh, the third has the convex shape's farthest point over it.
#include "collide/convex_support.h"
#include "collide/sdf_target.h"
#include "geom/sdf.h"

#define BESIDE 1e-9        // of a triangle's size: so far outside is still on it
#define LINE_SAMPLES 8     // on either side of the middle
#define LEVEL_COSINE 0.999 // an axis so close to a normal, or to a plane, lies level

static double sizeOf(const knGeom* geom) {
	if (geom->kind == KN_GEOM_PLANE) {
		return INFINITY;
	}
	knAabb box = knGeom_Aabb(geom, knIdentityF());
	return knDistance(box.lower, box.upper);
}

// --- convex shapes over triangles ------------------------------------------------------------------------

typedef struct OverMesh {
	const knSdfTarget* target;
	const knContactSink* sink;
	knCore core;
	knFrame frame; // of the convex shape in the mesh's
} OverMesh;

static void collideVertices(const OverMesh* over, const knVec3* vertices, int count, knVec3 center) {
	knAabb box = knAabb_Grow(over->target->mesh->bounds, over->target->margin);
	for (int i = 0; i < count; ++i) {
		knVec3 point = knPoint(over->frame, vertices[i]);
		knAabb place = { point, point };
		if (!over->target->mesh->unbounded && !knAabb_Overlap(place, box)) {
			continue;
		}
		knVec3 facing = knRotate(over->frame.q, knNormalize(knSub(vertices[i], center)));
		knTouch touch;
		if (over->target->touch(over->target, point, facing, NULL, &touch)) {
			knContactSink_Add(over->sink, point, &touch, knMeshFeature(KN_FEATURE_OTHER_VERTEX, i, 0));
		}
	}
}

static void collideBox(const OverMesh* over, knVec3 half) {
	knVec3 corners[8];
	for (int i = 0; i < 8; ++i) {
		corners[i] = knV3(i & 1 ? half.x : -half.x, i & 2 ? half.y : -half.y, i & 4 ? half.z : -half.z);
	}
	collideVertices(over, corners, 8, knZero3());
}

// Points of a curved shape that lie farthest along d (its own frame), up to four where it lies flat; each with the
// middle of what is round about it.
typedef struct Farthest {
	int count;
	knVec3 points[4], middles[4];
} Farthest;

static void addFarthest(Farthest* out, knVec3 point, knVec3 middle) {
	out->points[out->count] = point;
	out->middles[out->count++] = middle;
}

static Farthest farthestOf(const knCore* core, knVec3 d) {
	Farthest out = { 0 };
	knVec3 size = core->size;
	bool level = knAbs(d.z) < 1.0 - LEVEL_COSINE;
	if (core->kind == KN_GEOM_CAPSULE) {
		for (int end = -1; end <= 1; end += 2) {
			knVec3 middle = knV3(0.0, 0.0, end * size.y);
			if (level || end * d.z > 0.0) {
				addFarthest(&out, knMulAdd(middle, size.x, d), middle);
			}
		}
	} else if (core->kind == KN_GEOM_CYLINDER && level) {
		double rho = sqrt(d.x * d.x + d.y * d.y);
		for (int end = -1; end <= 1; end += 2) {
			knVec3 middle = knV3(0.0, 0.0, end * size.y);
			addFarthest(&out, knAdd(middle, knV3(size.x * d.x / rho, size.x * d.y / rho, 0.0)), middle);
		}
	} else if (core->kind == KN_GEOM_CYLINDER && knAbs(d.z) > LEVEL_COSINE) {
		for (int k = 0; k < 4; ++k) {
			double z = d.z < 0.0 ? -size.y : size.y;
			knVec3 rim = knV3(k == 0 ? size.x : (k == 1 ? -size.x : 0.0),
							  k == 2 ? size.x : (k == 3 ? -size.x : 0.0), z);
			addFarthest(&out, rim, knZero3());
		}
	} else {
		addFarthest(&out, knMulAdd(knCore_Support(core, d), core->radius, d), knZero3());
	}
	return out;
}

static void collideOver(const OverMesh* over, int triangle) {
	const knMesh* mesh = over->target->mesh;
	knVec3 corners[3], normal = mesh->faceNormals[triangle];
	knMesh_Corners(mesh, triangle, corners);
	Farthest far = farthestOf(&over->core, knInvRotate(over->frame.q, knNeg(normal)));
	for (int k = 0; k < far.count; ++k) {
		knVec3 point = knPoint(over->frame, far.points[k]), middle = knPoint(over->frame, far.middles[k]);
		double height = knDot(normal, knSub(point, corners[0]));
		if (!(height < over->target->margin) || knDot(normal, knSub(middle, corners[0])) <= 0.0) {
			continue;
		}
		int feature;
		knVec3 foot = knMulAdd(point, -height, normal);
		knVec3 on = knTriangle_Closest(corners[0], corners[1], corners[2], foot, &feature);
		if (feature != KN_TRIANGLE_FACE && knDistance(on, foot) > BESIDE * mesh->balls[triangle].radius) {
			continue;
		}
		knTouch touch = { foot, normal, height, triangle };
		uint64_t name = (uint64_t)triangle << 4 | (uint64_t)k << 2 | KN_FEATURE_OTHER_EDGE;
		knContactSink_Add(over->sink, point, &touch, name);
	}
}

// Whether a triangle is too far from a sphere or a capsule. (A point of these that lies over a triangle has the whole way
// from it to the inmost line within them; not so of other shapes.)
static bool isBeyond(const OverMesh* over, const knGeom* geom, int triangle) {
	const knMeshBall* ball = &over->target->mesh->balls[triangle];
	knVec3 center = knInvRotate(over->frame.q, knSub(ball->center, over->frame.p));
	return (geom->kind == KN_GEOM_SPHERE || geom->kind == KN_GEOM_CAPSULE) &&
		   knGeom_Distance(geom, center) > over->target->margin + ball->radius * (1.0 + BESIDE);
}

static void collideCurved(const OverMesh* over, const knGeom* geom) {
	knAabb box = knAabb_Grow(knGeom_Aabb(geom, over->frame), over->target->margin);
	int cursor = 0;
	for (int t; (t = knBvh_Next(&over->target->mesh->tree, &box, &cursor)) >= 0;) {
		if (!isBeyond(over, geom, t)) {
			collideOver(over, t);
		}
	}
}

// --- deep overlap ----------------------------------------------------------------------------------------

// The half of the line through a shape's middle along which it is longest, and that lies inside it.
static knVec3 lineOf(const knCore* core, const knGeom* geom) {
	if (core->kind == KN_GEOM_CAPSULE || core->kind == KN_GEOM_CYLINDER) {
		return knV3(0.0, 0.0, core->size.y);
	}
	knAabb box = knGeom_Aabb(geom, knIdentityF());
	knVec3 half = knMin3(knSub(box.upper, core->middle), knSub(core->middle, box.lower));
	int axis = half.x >= half.y ? (half.x >= half.z ? 0 : 2) : (half.y >= half.z ? 1 : 2);
	knVec3 line = knZero3();
	knSetComponent(&line, axis, knComponent(half, axis) * (geom->kind == KN_GEOM_HULL ? 0.5 : 1.0));
	return line;
}

// A shape whose inmost line runs through the mesh is pushed out from where that is deepest: what pierces a mesh
// may have no vertex or edge in it.
static bool collideLine(const OverMesh* over, const knGeom* geom) {
	const knSdfTarget* target = over->target;
	knVec3 line = knRotate(over->frame.q, lineOf(&over->core, geom));
	knVec3 middle = knPoint(over->frame, over->core.middle), deepest = middle, normal = knZero3();
	double depth = 0.0;
	int nearby = -1;
	for (int i = -LINE_SAMPLES; i <= LINE_SAMPLES; ++i) {
		knVec3 point = knMulAdd(middle, (double)i / LINE_SAMPLES, line);
		if (target->bound != NULL && target->bound(target, point) >= 0.0) {
			continue;
		}
		knSeen seen = target->probe(target, point, nearby);
		nearby = seen.hit.triangle;
		if (seen.distance < depth) {
			depth = seen.distance;
			deepest = point;
			normal = seen.normal;
		}
	}
	if (!(depth < 0.0)) {
		return false;
	}
	knVec3 d = knInvRotate(over->frame.q, knNeg(normal));
	knVec3 point = knPoint(over->frame, knMulAdd(knCore_Support(&over->core, d), over->core.radius, d));
	knVec3 on = knMulAdd(deepest, -depth, normal);
	// what lies as deep as this: the shape's far side, but no farther along the normal than about this place
	double beyond = knMin(0.0, knDot(normal, knSub(point, deepest)));
	knTouch touch = { on, normal, depth + beyond, -1 };
	uint64_t feature = knMeshFeature(KN_FEATURE_OTHER_VERTEX, 0, 1);
	knContactSink_Add(over->sink, knMulAdd(deepest, beyond, normal), &touch, feature);
	return true;
}

// --- pairs -----------------------------------------------------------------------------------------------

// A is convex or a plane, B a mesh.
static void collideConvex(const knPairInput* in, knReducer* reducer) {
	const knGeom* convex = in->geomA;
	const knMesh* mesh = in->geomB->mesh;
	knSdfTarget target = knSdfTarget_Convex(convex, in->margin, mesh->size);
	knGapCulling stops = knGapCulling_Make(reducer->rule);
	knContactSink sink = { reducer, in->frameA, true, &stops };
	knSdfTarget_SetWays(&target, in, true);
	knSamples samples = { mesh, knInvMulF(in->frameA, in->frameB), &target, KN_FEATURE_VERTEX, &sink };
	knMeshSamples_Collide(&samples, 1);
	if (target.flat || knReducer_IsDone(reducer)) {
		return;
	}
	knSdfTarget back = knSdfTarget_Mesh(mesh, in->margin, sizeOf(convex));
	knSdfTarget_SetWays(&back, in, false);
	knContactSink backSink = { reducer, in->frameB, false, NULL };
	OverMesh over = { &back, &backSink, knCore_Of(convex), knInvMulF(in->frameB, in->frameA) };
	back.hasMiddle = true;
	back.middle = over.frame.p;
	bool deep = (mesh->solid || mesh->unbounded) && collideLine(&over, convex);
	if (convex->kind == KN_GEOM_BOX) {
		collideBox(&over, convex->size);
	} else if (convex->kind == KN_GEOM_HULL) {
		int count;
		const knVec3* vertices = knGeom_Vertices(convex, &count);
		back.middle = knPoint(over.frame, over.core.middle);
		collideVertices(&over, vertices, count, over.core.middle);
	} else if (!deep) {
		collideCurved(&over, convex);
	}
}

static void collideMeshes(const knPairInput* in, knReducer* reducer) {
	const knMesh *a = in->geomA->mesh, *b = in->geomB->mesh;
	knSdfTarget targetB = knSdfTarget_Mesh(b, in->margin, a->size),
				targetA = knSdfTarget_Mesh(a, in->margin, b->size);
	knGapCulling stops = knGapCulling_Make(reducer->rule);
	knContactSink sinkB = { reducer, in->frameB, false, &stops },
				  sinkA = { reducer, in->frameA, true, &stops };
	knFrame ofA = knInvMulF(in->frameB, in->frameA), ofB = knInvMulF(in->frameA, in->frameB);
	knSdfTarget_SetWays(&targetB, in, false);
	knSdfTarget_SetWays(&targetA, in, true);
	knSamples samples[] = { { a, ofA, &targetB, KN_FEATURE_VERTEX, &sinkB },
							{ b, ofB, &targetA, KN_FEATURE_OTHER_VERTEX, &sinkA } };
	knMeshSamples_Collide(samples, 2);
}

int knPair_Mesh(const knPairInput* in, knContactPoint* points) {
	const knMesh *a = in->geomA->mesh, *b = in->geomB->mesh;
	bool both = a != NULL && b != NULL;
	if ((both && !a->solid && !b->solid) || (in->geomA->kind == KN_GEOM_PLANE && !b->solid)) {
		return 0; // neither has an inside that moves
	}
	if (!knIsFiniteF(in->frameA) || !knIsFiniteF(in->frameB)) {
		return 0; // nothing could be passed over
	}
	knReducer reducer;
	knReducer_Init(&reducer, knMin(sizeOf(in->geomA), sizeOf(in->geomB)));
	reducer.anyWillDo = in->anyWillDo;
	if (in->looksAhead) {
		knReducer_SetMotion(&reducer, in->slide, in->tilt, in->wayCount == 0);
	}
	if (both) {
		collideMeshes(in, &reducer);
	} else {
		collideConvex(in, &reducer);
	}
	return knReducer_Finish(&reducer, points);
}
