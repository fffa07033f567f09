// Questions to a world: rays, casts, overlaps, the nearest shape.
//
// Candidates come from a tree over the shapes' boxes, if knWorld_PrepareQueries made one since the world last changed,
// else from a look at every box. Both only leave out shapes that cannot answer, so answers are the same; ties go to
// the lower shape.

#include "world/world_internal.h"

#include "knuckle/query.h"

#define SWEEP_SLACK 1e-9 // of a way: rounding of the test of boxes

// What part of space is asked about: a box, moved along a way as far as `best` of it.
typedef struct Region {
	const knWorld* world;
	knQueryFilter filter;
	int except; // body
	knAabb box;
	knVec3 way;
	double best;
} Region;

typedef void VisitFn(int shape, void* context);

knQueryFilter knQueryFilter_Default(void) {
	return (knQueryFilter){ .filter = knFilter_Default() };
}

static Region makeRegion(const knWorld* world, const knQueryFilter* filter, knAabb box, knVec3 way) {
	Region region = { .world = world, .except = -1, .box = box, .way = way, .best = 1.0 };
	region.filter = filter != NULL ? *filter : knQueryFilter_Default();
	if (!KN_ID_IS_NULL(region.filter.except)) {
		region.except = knWorld_BodyIndex(world, region.filter.except);
	}
	return region;
}

static knFrame shapeFrame(const knWorld* world, int shape) {
	const knModelShape* s = &world->model->shapes[shape];
	return knMulF(knWorld_Pose(world, s->body), s->local);
}

static bool isPlane(const knWorld* world, int shape) {
	return knGeom_Kind(world->model->shapes[shape].geom) == KN_GEOM_PLANE;
}

static bool answers(const Region* region, int shape) {
	const knModelShape* s = &region->world->model->shapes[shape];
	return region->world->state.shapeEnabled[shape] && (!s->sensor || region->filter.sensors) &&
		   s->body != region->except && knFilter_Allows(region->filter.filter, s->filter);
}

static bool meetsBox(const Region* region, const knAabb* box) {
	double enter = 0.0, leave = region->best;
	for (int k = 0; k < 3; ++k) {
		double ahead = knComponent(box->lower, k) - knComponent(region->box.upper, k);
		double behind = knComponent(box->upper, k) - knComponent(region->box.lower, k);
		double speed = knComponent(region->way, k);
		if (speed == 0.0) {
			if (ahead > 0.0 || behind < 0.0) {
				return false;
			}
			continue;
		}
		enter = knMax(enter, (speed > 0.0 ? ahead : behind) / speed);
		leave = knMin(leave, (speed > 0.0 ? behind : ahead) / speed);
	}
	return enter <= leave + SWEEP_SLACK;
}

static void walk(const Region* region, VisitFn* visit, void* context) {
	const knWorld* world = region->world;
	const knQueryTree* queries = &world->queries;
	for (int i = 0; i < world->model->shapeCount; ++i) {
		bool plane = isPlane(world, i);
		if ((queries->ready && !plane) || !answers(region, i)) {
			continue;
		}
		knAabb box = plane ? region->box : knGeom_Aabb(world->model->shapes[i].geom, shapeFrame(world, i));
		if (plane || meetsBox(region, &box)) {
			visit(i, context);
		}
	}
	for (int node = 0; queries->ready && node < queries->tree.nodeCount;) {
		const knBvhNode* n = &queries->tree.nodes[node];
		if (!meetsBox(region, &n->box)) {
			node = n->skip;
			continue;
		}
		if (n->item >= 0 && answers(region, queries->shapes[n->item])) {
			visit(queries->shapes[n->item], context);
		}
		node += 1;
	}
}

static knWorldHit makeHit(const knWorld* world, int shape, const knGeomHit* found) {
	return (knWorldHit){ .shape = knModel_ShapeId(world->model, shape),
						 .body = knModel_BodyId(world->model, world->model->shapes[shape].body),
						 .fraction = found->fraction,
						 .point = found->point,
						 .normal = found->normal,
						 .child = found->child };
}

// --- the first ---------------------------------------------------------------------------------------------------

// A ray (no cast) or a moving geometry.
typedef struct First {
	Region region;
	knVec3 origin;
	const knShapeCast* cast;
	knWorldHit* hit;
	int shape; // -1: none yet
} First;

static void visitFirst(int shape, void* context) {
	First* first = context;
	const knWorld* world = first->region.world;
	const knGeom* geom = world->model->shapes[shape].geom;
	knGeomHit found;
	bool hit = first->cast != NULL
				   ? knGeom_Cast(first->cast, geom, shapeFrame(world, shape), &found)
				   : knGeom_RayCast(geom, shapeFrame(world, shape), first->origin, first->region.way, &found);
	bool nearer = first->shape < 0 || found.fraction < first->region.best ||
				  (found.fraction == first->region.best && shape < first->shape);
	if (hit && nearer) {
		first->region.best = found.fraction;
		first->shape = shape;
		*first->hit = makeHit(world, shape, &found);
	}
}

bool knWorld_RayCast(const knWorld* world, knVec3 origin, knVec3 translation, const knQueryFilter* filter,
					 knWorldHit* hit) {
	KN_ASSERT(world != NULL && hit != NULL);
	*hit = (knWorldHit){ .fraction = 1.0 };
	if (!knIsFinite3(origin) || !knIsFinite3(translation)) {
		return false;
	}
	knAabb box = { origin, origin };
	First first = {
		.region = makeRegion(world, filter, box, translation), .origin = origin, .hit = hit, .shape = -1
	};
	walk(&first.region, visitFirst, &first);
	return first.shape >= 0;
}

// Bounds of a geometry at the start of its way, whichever way it turns.
static knAabb castBox(const knShapeCast* cast) {
	knAabb box = knGeom_Aabb(cast->geom, cast->frame);
	if (knLengthSquared(cast->rotation) == 0.0) {
		return box;
	}
	knVec3 reach = knMax3(knAbs3(knSub(box.lower, cast->frame.p)), knAbs3(knSub(box.upper, cast->frame.p)));
	double radius = knLength(reach);
	knAabb point = { cast->frame.p, cast->frame.p };
	return knAabb_Grow(point, radius);
}

bool knWorld_Cast(const knWorld* world, const knShapeCast* cast, const knQueryFilter* filter,
				  knWorldHit* hit) {
	KN_ASSERT(world != NULL && cast != NULL && cast->geom != NULL && hit != NULL);
	*hit = (knWorldHit){ .fraction = 1.0 };
	if (knGeom_Kind(cast->geom) == KN_GEOM_PLANE || !knIsFiniteF(cast->frame) ||
		!knIsFinite3(cast->translation) || !knIsFinite3(cast->rotation)) {
		return false;
	}
	First first = { .region = makeRegion(world, filter, castBox(cast), cast->translation),
					.cast = cast,
					.hit = hit,
					.shape = -1 };
	walk(&first.region, visitFirst, &first);
	return first.shape >= 0;
}

// --- all ---------------------------------------------------------------------------------------------------------

typedef struct All {
	Region region;
	knVec3 origin;
	knWorldHit* hits;
	int count, capacity;
} All;

static bool hitBefore(const knWorldHit* a, const knWorldHit* b) {
	return a->fraction < b->fraction || (a->fraction == b->fraction && a->shape.index1 < b->shape.index1);
}

static void visitAll(int shape, void* context) {
	All* all = context;
	const knWorld* world = all->region.world;
	knGeomHit found;
	if (!knGeom_RayCast(world->model->shapes[shape].geom, shapeFrame(world, shape), all->origin,
						all->region.way, &found)) {
		return;
	}
	knWorldHit hit = makeHit(world, shape, &found);
	int k = all->count < all->capacity ? all->count : all->capacity;
	all->count += 1;
	if (k == all->capacity && (k == 0 || !hitBefore(&hit, &all->hits[k - 1]))) {
		return;
	}
	for (k = k < all->capacity ? k : k - 1; k > 0 && hitBefore(&hit, &all->hits[k - 1]); --k) {
		all->hits[k] = all->hits[k - 1];
	}
	all->hits[k] = hit;
}

int knWorld_RayCastAll(const knWorld* world, knVec3 origin, knVec3 translation, const knQueryFilter* filter,
					   knWorldHit* hits, int capacity) {
	KN_ASSERT(world != NULL && (hits != NULL || capacity <= 0));
	if (!knIsFinite3(origin) || !knIsFinite3(translation)) {
		return 0;
	}
	knAabb box = { origin, origin };
	All all = { .region = makeRegion(world, filter, box, translation),
				.origin = origin,
				.hits = hits,
				.capacity = hits != NULL && capacity > 0 ? capacity : 0 };
	walk(&all.region, visitAll, &all);
	return all.count;
}

// --- overlaps ----------------------------------------------------------------------------------------------------

typedef struct Overlap {
	Region region;
	const knGeom* geom; // NULL: boxes
	knFrame frame;
	knShapeId* shapes;
	int count, capacity;
} Overlap;

static bool overlaps(const Overlap* o, int shape) {
	const knWorld* world = o->region.world;
	const knGeom* geom = world->model->shapes[shape].geom;
	knFrame frame = shapeFrame(world, shape);
	if (o->geom != NULL) {
		knClosestPoints closest;
		return knGeom_ClosestPoints(o->geom, o->frame, geom, frame, 0.0, &closest);
	}
	if (!isPlane(world, shape)) {
		return true; // the walk has compared the boxes
	}
	knVec3 up = knRotate(frame.q, knV3(0.0, 0.0, 1.0)), low = o->region.box.lower;
	for (int k = 0; k < 3; ++k) {
		if (knComponent(up, k) < 0.0) {
			knSetComponent(&low, k, knComponent(o->region.box.upper, k));
		}
	}
	return knDot(up, knSub(low, frame.p)) <= 0.0;
}

static void visitOverlap(int shape, void* context) {
	Overlap* o = context;
	if (!overlaps(o, shape)) {
		return;
	}
	knShapeId id = knModel_ShapeId(o->region.world->model, shape);
	int k = o->count < o->capacity ? o->count : o->capacity;
	o->count += 1;
	if (k == o->capacity && (k == 0 || o->shapes[k - 1].index1 < id.index1)) {
		return;
	}
	for (k = k < o->capacity ? k : k - 1; k > 0 && id.index1 < o->shapes[k - 1].index1; --k) {
		o->shapes[k] = o->shapes[k - 1];
	}
	o->shapes[k] = id;
}

int knWorld_Overlap(const knWorld* world, const knGeom* geom, knFrame frame, const knQueryFilter* filter,
					knShapeId* shapes, int capacity) {
	KN_ASSERT(world != NULL && geom != NULL && (shapes != NULL || capacity <= 0));
	if (!knIsFiniteF(frame)) {
		return 0;
	}
	Overlap o = { .geom = geom,
				  .frame = frame,
				  .shapes = shapes,
				  .capacity = shapes != NULL && capacity > 0 ? capacity : 0 };
	knAabb everywhere = { knV3(-INFINITY, -INFINITY, -INFINITY), knV3(INFINITY, INFINITY, INFINITY) };
	knAabb box = knGeom_Kind(geom) == KN_GEOM_PLANE ? everywhere : knGeom_Aabb(geom, frame);
	o.region = makeRegion(world, filter, box, knZero3());
	walk(&o.region, visitOverlap, &o);
	return o.count;
}

int knWorld_OverlapBox(const knWorld* world, knAabb box, const knQueryFilter* filter, knShapeId* shapes,
					   int capacity) {
	KN_ASSERT(world != NULL && (shapes != NULL || capacity <= 0));
	Overlap o = { .shapes = shapes, .capacity = shapes != NULL && capacity > 0 ? capacity : 0 };
	o.region = makeRegion(world, filter, box, knZero3());
	walk(&o.region, visitOverlap, &o);
	return o.count;
}

// --- the nearest -------------------------------------------------------------------------------------------------

typedef struct Near {
	Region region;
	const knGeom* geom;
	knFrame frame;
	knAabb bounds;
	double best; // m
	knWorldHit* hit;
	int shape; // -1: none yet
} Near;

static void visitNear(int shape, void* context) {
	Near* near = context;
	const knWorld* world = near->region.world;
	knClosestPoints closest;
	// a little farther than the best, so that ties are seen whatever the order
	double limit = near->best + 1e-12 * knAbs(near->best);
	if (!knGeom_ClosestPoints(near->geom, near->frame, world->model->shapes[shape].geom,
							  shapeFrame(world, shape), near->shape < 0 ? near->best : limit, &closest)) {
		return;
	}
	bool nearer = near->shape < 0 || closest.distance < near->best ||
				  (closest.distance == near->best && shape < near->shape);
	if (!nearer) {
		return;
	}
	knGeomHit found = { .point = closest.pointB, .normal = knNeg(closest.normal), .child = closest.childB };
	*near->hit = makeHit(world, shape, &found);
	near->hit->distance = near->best = closest.distance;
	near->shape = shape;
	near->region.box = knAabb_Grow(near->bounds, knMax(near->best, 0.0));
}

bool knWorld_Nearest(const knWorld* world, const knGeom* geom, knFrame frame, double maxDistance,
					 const knQueryFilter* filter, knWorldHit* hit) {
	KN_ASSERT(world != NULL && geom != NULL && hit != NULL);
	*hit = (knWorldHit){ .distance = INFINITY };
	if (!knIsFiniteF(frame) || !(maxDistance > -(double)INFINITY) || knGeom_Kind(geom) == KN_GEOM_PLANE) {
		return false;
	}
	Near near = { .geom = geom,
				  .frame = frame,
				  .bounds = knGeom_Aabb(geom, frame),
				  .best = maxDistance,
				  .hit = hit,
				  .shape = -1 };
	near.region = makeRegion(world, filter, knAabb_Grow(near.bounds, knMax(maxDistance, 0.0)), knZero3());
	walk(&near.region, visitNear, &near);
	return near.shape >= 0;
}

bool knWorld_ClosestPoints(const knWorld* world, knShapeId shapeA, knShapeId shapeB, double maxDistance,
						   knClosestPoints* result) {
	KN_ASSERT(world != NULL && result != NULL);
	int a = knWorld_ShapeIndex(world, shapeA), b = knWorld_ShapeIndex(world, shapeB);
	*result = (knClosestPoints){ .distance = INFINITY };
	if (a < 0 || b < 0) {
		return false;
	}
	return knGeom_ClosestPoints(world->model->shapes[a].geom, shapeFrame(world, a),
								world->model->shapes[b].geom, shapeFrame(world, b), maxDistance, result);
}

// --- the tree ----------------------------------------------------------------------------------------------------

void knWorld_FreeQueries(knWorld* world) {
	knQueryTree* queries = &world->queries;
	size_t count = (size_t)queries->tree.itemCount;
	knFree(&world->allocator, queries->shapes, count * sizeof(int));
	knBvh_Destroy(&queries->tree, &world->allocator);
	*queries = (knQueryTree){ 0 };
}

static int countBounded(const knWorld* world) {
	int count = 0;
	for (int i = 0; i < world->model->shapeCount; ++i) {
		count += !isPlane(world, i);
	}
	return count;
}

knStatus knWorld_PrepareQueries(knWorld* world, knError* error) {
	KN_ASSERT(world != NULL);
	if (world->stepping) {
		return knError_Set(error, KN_BAD_ARGUMENT, "world", "a force function may not prepare queries");
	}
	knQueryTree* queries = &world->queries;
	int count = countBounded(world), item = 0;
	if (queries->ready || count == 0) {
		return KN_OK;
	}
	if (queries->tree.itemCount != count) {
		knWorld_FreeQueries(world);
		queries->shapes = knAlloc(&world->allocator, (size_t)count * sizeof(int));
		if (queries->shapes == NULL || !knBvh_Create(&queries->tree, count, &world->allocator)) {
			knFree(&world->allocator, queries->shapes, (size_t)count * sizeof(int));
			*queries = (knQueryTree){ 0 };
			return knError_Set(error, KN_NO_MEMORY, "world", "there is no memory for a tree of %d shapes",
							   count);
		}
	}
	knArena_Clear(&world->arena);
	knAabb* boxes = KN_SCRATCH(&world->arena, knAabb, count);
	knVec3* centers = KN_SCRATCH(&world->arena, knVec3, count);
	if (world->arena.failed) {
		return knError_Set(error, KN_NO_MEMORY, "world", "there is no memory for a tree of %d shapes", count);
	}
	for (int i = 0; i < world->model->shapeCount; ++i) {
		if (!isPlane(world, i)) {
			boxes[item] = knGeom_Aabb(world->model->shapes[i].geom, shapeFrame(world, i));
			centers[item] = knAabb_Center(boxes[item]);
			queries->shapes[item++] = i;
		}
	}
	knBvh_Build(&queries->tree, boxes, centers);
	queries->ready = true;
	return KN_OK;
}
