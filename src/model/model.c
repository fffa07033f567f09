// Compiles a scene into the dense arrays of model.h. All arrays but `excluded` lie in one block behind the
// model itself.
//
// Dense order is slot order. Body frames move to the centre of mass: shapes and joint frames become relative
// to it. Mass comes from the shapes' densities (sensors weigh nothing) unless the def gives it; bodies that
// are not dynamic keep their centre but have no mass.
#include <string.h>

#include "collide/convex_pairs.h"
#include "core/sort.h"
#include "model/block_layout.h"
#include "model/model_internal.h"
#include "model/scene_internal.h"

static knStatus outOfMemory(knError* error) {
	return knError_Set(error, KN_NO_MEMORY, "model", "out of memory");
}

// --- memory ----------------------------------------------------------------------------------------------

// Sets all array pointers of the model (which may be NULL in `carver->base`: then only the size is found).
static void layOut(knModel* m, knBlockLayout* carver) {
	const uint64_t bodies = (uint64_t)m->bodyCount;
	knBlockLayout_Take(carver, 1, sizeof(knModel));
	m->bodyKind = knBlockLayout_Take(carver, bodies, sizeof(knBodyKind));
	m->mass = knBlockLayout_Take(carver, bodies, sizeof(double));
	m->invMass = knBlockLayout_Take(carver, bodies, sizeof(double));
	m->inertiaLocal = knBlockLayout_Take(carver, bodies, sizeof(knMat33));
	m->invInertiaLocal = knBlockLayout_Take(carver, bodies, sizeof(knMat33));
	m->centerLocal = knBlockLayout_Take(carver, bodies, sizeof(knVec3));
	m->gravityScale = knBlockLayout_Take(carver, bodies, sizeof(double));
	m->linearDamping = knBlockLayout_Take(carver, bodies, sizeof(double));
	m->angularDamping = knBlockLayout_Take(carver, bodies, sizeof(double));
	m->radius = knBlockLayout_Take(carver, bodies, sizeof(double));
	m->thinness = knBlockLayout_Take(carver, bodies, sizeof(double));
	m->bodyFast = knBlockLayout_Take(carver, bodies, sizeof(bool));
	m->initialPose = knBlockLayout_Take(carver, bodies, sizeof(knFrame));
	m->initialVelocity = knBlockLayout_Take(carver, bodies, sizeof(knTwist));
	m->shapes = knBlockLayout_Take(carver, (uint64_t)m->shapeCount, sizeof(knModelShape));
	m->joints = knBlockLayout_Take(carver, (uint64_t)m->jointCount, sizeof(knJoint));
	m->jointEnabled = knBlockLayout_Take(carver, (uint64_t)m->jointCount, sizeof(bool));
	m->slotToBody = knBlockLayout_Take(carver, (uint64_t)m->bodySlots, sizeof(int));
	m->slotToShape = knBlockLayout_Take(carver, (uint64_t)m->shapeSlots, sizeof(int));
	m->slotToJoint = knBlockLayout_Take(carver, (uint64_t)m->jointSlots, sizeof(int));
	m->bodyToSlot = knBlockLayout_Take(carver, bodies, sizeof(int));
	m->shapeToSlot = knBlockLayout_Take(carver, (uint64_t)m->shapeCount, sizeof(int));
	m->jointToSlot = knBlockLayout_Take(carver, (uint64_t)m->jointCount, sizeof(int));
	knModelControl_LayOut(&m->control, carver, m->jointCount);
}

static size_t modelSize(const knModel* counts) {
	knModel copy = *counts;
	knBlockLayout carver = { .base = NULL };
	layOut(&copy, &carver);
	return carver.overflow ? 0 : carver.offset;
}

static knModel* allocateModel(const knScene* scene) {
	knModel counts = { .allocator = scene->allocator,
					   .references = 1,
					   .bodyCount = 1,
					   .bodySlots = scene->bodies.count,
					   .shapeSlots = scene->shapes.count,
					   .jointSlots = scene->joints.count };
	for (int i = 0; i < scene->bodies.count; ++i) {
		counts.bodyCount += scene->bodies.items[i].used ? 1 : 0;
	}
	for (int i = 0; i < scene->shapes.count; ++i) {
		counts.shapeCount += scene->shapes.items[i].used ? 1 : 0;
	}
	for (int i = 0; i < scene->joints.count; ++i) {
		counts.jointCount += scene->joints.items[i].used ? 1 : 0;
	}
	knModelControl_Count(&counts.control, scene);
	knModelControl_CountDrag(&counts.control, scene, counts.bodyCount);
	size_t size = modelSize(&counts);
	knModel* model = size > 0 ? knAllocZero(&scene->allocator, size) : NULL;
	if (model != NULL) {
		*model = counts;
		knBlockLayout carver = { .base = (char*)model };
		layOut(model, &carver);
	}
	return model;
}

void knModel_Retain(const knModel* model) {
	// relaxed: whoever retains already holds a reference
	__atomic_fetch_add(&((knModel*)model)->references, 1, __ATOMIC_RELAXED);
}

void knModel_Release(const knModel* constModel) {
	knModel* model = (knModel*)constModel;
	if (model == NULL || __atomic_sub_fetch(&model->references, 1, __ATOMIC_ACQ_REL) > 0) {
		return;
	}
	knAllocator allocator = model->allocator;
	for (int i = 0; i < model->shapeCount; ++i) {
		if (model->shapes[i].geom != NULL) {
			knGeom_Release(model->shapes[i].geom);
		}
	}
	knScene_Destroy(model->scene);
	knFree(&allocator, model->excluded, (size_t)model->excludedCount * sizeof(knFramePair));
	knFree(&allocator, model, modelSize(model));
}

// --- bodies ----------------------------------------------------------------------------------------------

// Dense indices in slot order.
static void indexSlots(knModel* model, const knScene* scene) {
	int next = 1;
	model->bodyToSlot[0] = -1;
	for (int i = 0; i < model->bodySlots; ++i) {
		model->slotToBody[i] = scene->bodies.items[i].used ? next++ : -1;
		if (model->slotToBody[i] >= 0) {
			model->bodyToSlot[model->slotToBody[i]] = i;
		}
	}
	next = 0;
	for (int i = 0; i < model->shapeSlots; ++i) {
		model->slotToShape[i] = scene->shapes.items[i].used ? next++ : -1;
		if (model->slotToShape[i] >= 0) {
			model->shapeToSlot[model->slotToShape[i]] = i;
		}
	}
	next = 0;
	for (int i = 0; i < model->jointSlots; ++i) {
		model->slotToJoint[i] = scene->joints.items[i].used ? next++ : -1;
		if (model->slotToJoint[i] >= 0) {
			model->jointToSlot[model->slotToJoint[i]] = i;
		}
	}
}

// Sums the solid shapes of each body into mass, centerLocal and inertiaLocal.
static void sumShapes(knModel* model, const knScene* scene) {
	for (int i = 0; i < model->shapeSlots; ++i) {
		const knShapeSlot* slot = &scene->shapes.items[i];
		int body = slot->used ? knModel_BodyIndex(model, slot->body) : -1;
		if (body <= 0 || slot->def.sensor || slot->def.role == KN_SHAPE_LOOKS ||
			scene->bodies.items[model->bodyToSlot[body]].def.hasMass) {
			continue;
		}
		knMassProps own = knGeom_MassProps(slot->geom, slot->def.density);
		if (own.mass == 0.0) {
			continue; // planes
		}
		knMassProps sum = knMassProps_Transform(&own, slot->def.frame);
		if (model->mass[body] > 0.0) {
			knMassProps before = { model->mass[body], model->centerLocal[body], model->inertiaLocal[body] };
			sum = knMassProps_Add(&before, &sum);
		}
		model->mass[body] = sum.mass;
		model->centerLocal[body] = sum.center;
		model->inertiaLocal[body] = sum.inertia;
	}
}

static void symmetrize(knMat33* m) {
	m->cx.y = m->cy.x = 0.5 * (m->cx.y + m->cy.x);
	m->cx.z = m->cz.x = 0.5 * (m->cx.z + m->cz.x);
	m->cy.z = m->cz.y = 0.5 * (m->cy.z + m->cz.y);
}

static knStatus compileMass(knModel* model, int body, const knBodyDef* def, knError* error) {
	if (def->hasMass) {
		model->mass[body] = def->mass.mass;
		model->centerLocal[body] = def->mass.center;
		model->inertiaLocal[body] = def->mass.inertia;
	}
	if (def->kind != KN_BODY_DYNAMIC) {
		model->mass[body] = 0.0;
		model->inertiaLocal[body] = knDiagonal33(0.0, 0.0, 0.0);
		return KN_OK;
	}

	char element[KN_ELEMENT_SIZE];
	knScene_Element("body", def->name, element);
	if (!def->hasMass && model->mass[body] == 0.0) {
		return knError_Set(error, KN_BAD_DATA, element,
						   "a dynamic body needs a mass: give it a solid shape or a mass of its own");
	}
	symmetrize(&model->inertiaLocal[body]);
	knMassProps props = { model->mass[body], model->centerLocal[body], model->inertiaLocal[body] };
	knStatus status = knSceneCheck_Mass(&props, element, error);
	if (status != KN_OK) {
		return status;
	}
	model->invMass[body] = 1.0 / props.mass;
	model->invInertiaLocal[body] = knInverse33(&props.inertia);
	return KN_OK;
}

static knStatus compileBodies(knModel* model, const knScene* scene, knError* error) {
	model->bodyKind[0] = KN_BODY_FIXED;
	model->initialPose[0] = knIdentityF();
	sumShapes(model, scene);
	for (int body = 1; body < model->bodyCount; ++body) {
		const knBodyDef* def = &scene->bodies.items[model->bodyToSlot[body]].def;
		knStatus status = compileMass(model, body, def, error);
		if (status != KN_OK) {
			return status;
		}
		model->bodyKind[body] = def->kind;
		model->kinematicCount += def->kind == KN_BODY_KINEMATIC;
		model->gravityScale[body] = def->gravityScale;
		model->linearDamping[body] = def->linearDamping;
		model->angularDamping[body] = def->angularDamping;
		model->bodyFast[body] = def->fast;
		model->initialPose[body] = knMakeFrame(knPoint(def->frame, model->centerLocal[body]), def->frame.q);
		if (def->kind != KN_BODY_FIXED) {
			model->initialVelocity[body] = knMakeTwist(def->angularVelocity, def->velocity);
		}
	}
	return KN_OK;
}

// --- shapes ----------------------------------------------------------------------------------------------

// Radius of a sphere about the origin that holds the geometry at `frame`; 0 for a plane, which no sphere
// holds.
static double geomRadius(const knGeom* geom, knFrame frame) {
	knGeomKind kind = knGeom_Kind(geom);
	double radius = 0.0;
	if (kind == KN_GEOM_CYLINDER) {
		// the farther rim: half length along the axis, radius away from it
		knVec3 size = knGeom_Size(geom), axis = knRotate(frame.q, knV3(0.0, 0.0, 1.0));
		double along = knDot(frame.p, axis), across = knLength(knMulAdd(frame.p, -along, axis)) + size.x;
		radius = sqrt((knAbs(along) + size.y) * (knAbs(along) + size.y) + across * across);
	} else if (kind == KN_GEOM_ELLIPSOID) {
		knVec3 size = knGeom_Size(geom);
		radius = knLength(frame.p) + knMax(size.x, knMax(size.y, size.z));
	} else if (kind == KN_GEOM_HULL) {
		int count;
		const knVec3* vertices = knGeom_Vertices(geom, &count);
		for (int i = 0; i < count; ++i) {
			radius = knMax(radius, knLength(knPoint(frame, vertices[i])));
		}
	} else if (kind == KN_GEOM_SPHERE || kind == KN_GEOM_CAPSULE) {
		// a sphere is a capsule of length 0
		knVec3 size = knGeom_Size(geom);
		knVec3 half = knRotate(frame.q, knV3(0.0, 0.0, size.y));
		radius = knMax(knLength(knAdd(frame.p, half)), knLength(knSub(frame.p, half))) + size.x;
	} else if (kind == KN_GEOM_COMPOUND) {
		for (int i = 0; i < knGeom_ChildCount(geom); ++i) {
			knGeomChild child = knGeom_Child(geom, i);
			radius = knMax(radius, geomRadius(child.geom, knMulF(frame, child.frame)));
		}
	} else if (kind != KN_GEOM_PLANE) {
		knAabb box = knGeom_Aabb(geom, knIdentityF());
		for (int i = 0; i < 8; ++i) {
			knVec3 corner = knV3(i & 1 ? box.upper.x : box.lower.x, i & 2 ? box.upper.y : box.lower.y,
								 i & 4 ? box.upper.z : box.lower.z);
			radius = knMax(radius, knLength(knPoint(frame, corner)));
		}
	}
	return radius;
}

static void compileShapes(knModel* model, const knScene* scene) {
	for (int i = 0; i < model->shapeCount; ++i) {
		const knShapeSlot* slot = &scene->shapes.items[model->shapeToSlot[i]];
		knModelShape* shape = &model->shapes[i];
		shape->body = knModel_BodyIndex(model, slot->body);
		shape->local = slot->def.frame;
		shape->local.p = knSub(shape->local.p, model->centerLocal[shape->body]);
		shape->friction = slot->def.friction;
		shape->restitution = slot->def.restitution;
		shape->rollingFriction = slot->def.rollingFriction;
		shape->filter = slot->def.filter;
		shape->sensor = slot->def.sensor;
		shape->hidden = slot->def.role == KN_SHAPE_HIDDEN;
		shape->looks = slot->def.role == KN_SHAPE_LOOKS;
		shape->geom = slot->geom;
		knGeom_Retain(shape->geom);
		if (shape->looks) {
			shape->filter = (knFilter){ 0 };
			continue;
		}
		model->radius[shape->body] = knMax(model->radius[shape->body], geomRadius(shape->geom, shape->local));
		double thin = knGeom_Thinness(shape->geom), *thinnest = &model->thinness[shape->body];
		if (knIsFinite(thin)) {
			*thinnest = *thinnest > 0.0 ? knMin(*thinnest, thin) : thin;
		}
	}
}

// --- joints ----------------------------------------------------------------------------------------------

// Field by field, so that the padding of a compiled joint stays zero: state blocks are compared byte by byte.
static void copyAxis(knJointAxis* to, const knJointAxis* from) {
	to->limited = from->limited;
	to->lower = from->limited ? from->lower : 0.0;
	to->upper = from->limited ? from->upper : 0.0;
	to->friction = from->friction;
	to->bearing = from->bearing;
	to->damping = from->damping;
	to->motorMode = from->motorMode;
	to->motorTarget = from->motorTarget;
	to->motorMaxForce = from->motorMaxForce;
	to->stiffness = from->stiffness;
	to->rest = from->rest;
	to->armature = from->armature;
	to->driveLimited = from->driveLimited;
	to->driveLower = from->driveLimited ? from->driveLower : 0.0;
	to->driveUpper = from->driveLimited ? from->driveUpper : 0.0;
}

knStatus knModel_CompileJoint(const knModel* model, const knJointDef* def, knJoint* joint, knError* error) {
	knJointDef checked = *def;
	knStatus status =
		knSceneCheck_Joint(model->scene, &checked, def->name != NULL ? def->name : "unnamed", error);
	if (status != KN_OK) {
		return status;
	}
	const knJointOps* ops = knJointOps_Get(def->kind);
	memset(joint, 0, sizeof(*joint));
	joint->kind = def->kind;
	joint->parent = knModel_BodyIndex(model, def->parent);
	joint->child = knModel_BodyIndex(model, def->child);
	joint->frameParent = checked.frameParent;
	joint->frameChild = checked.frameChild;
	joint->frameParent.p = knSub(joint->frameParent.p, model->centerLocal[joint->parent]);
	joint->frameChild.p = knSub(joint->frameChild.p, model->centerLocal[joint->child]);
	joint->nq = ops->nq;
	joint->nv = ops->nv;
	for (int i = 0; i < ops->nv; ++i) {
		copyAxis(&joint->axis[i], &def->axis[i]);
	}
	if (def->kind == KN_JOINT_BALL && def->coneLimited) {
		joint->coneLimited = true;
		joint->coneY = def->coneY;
		joint->coneZ = def->coneZ;
	}
	for (int i = 0; def->kind == KN_JOINT_BALL && i < def->reachCount; ++i) {
		joint->reach[i] = knNormalize(def->reach[i]);
		joint->reachCount = i + 1;
	}
	if (def->kind == KN_JOINT_BALL && def->twistLimited) {
		joint->twistLimited = true;
		joint->twistLower = def->twistLower;
		joint->twistUpper = def->twistUpper;
	}
	for (int i = 0; joint->twistLimited && i < joint->reachCount; ++i) {
		joint->reachTwisted = joint->reachTwisted || def->reachTwist[i].own;
	}
	for (int i = 0; joint->reachTwisted && i < joint->reachCount; ++i) {
		const knReachTwist* twist = &def->reachTwist[i];
		joint->reachLower[i] = twist->own ? twist->lower : def->twistLower;
		joint->reachUpper[i] = twist->own ? twist->upper : def->twistUpper;
	}
	joint->collide = def->collide;
	joint->loop = def->loop;
	joint->maxForce = def->maxForce;
	if (def->kind == KN_JOINT_CUSTOM) {
		joint->custom = def->custom;
	}
	return KN_OK;
}

static knStatus compileJoints(knModel* model, const knScene* scene, knError* error) {
	int q = 0, v = 0;
	for (int i = 0; i < model->jointCount; ++i) {
		const knJointDef* def = &scene->joints.items[model->jointToSlot[i]].def;
		knJoint* joint = &model->joints[i];
		knStatus status = knModel_CompileJoint(model, def, joint, error);
		if (status != KN_OK) {
			return status;
		}
		joint->qOffset = q;
		joint->vOffset = v;
		q += joint->nq;
		v += joint->nv;
		model->jointEnabled[i] = def->enabled;
		model->breakableCount += joint->maxForce > 0.0;
	}
	model->jointCapacity = scene->def.jointCapacity;
	model->qCount = q + KN_JOINT_MAX_Q * model->jointCapacity;
	model->vCount = v + KN_JOINT_MAX_V * model->jointCapacity;
	return KN_OK;
}

// Six for each dynamic body, less what enabled joints lock (axes with equal limits too), at least 0.
static int countDofs(const knModel* model) {
	int64_t dofs = 0;
	for (int body = 1; body < model->bodyCount; ++body) {
		dofs += model->bodyKind[body] == KN_BODY_DYNAMIC ? 6 : 0;
	}
	for (int i = 0; i < model->jointCount; ++i) {
		const knJoint* joint = &model->joints[i];
		bool moves = model->bodyKind[joint->parent] == KN_BODY_DYNAMIC ||
					 model->bodyKind[joint->child] == KN_BODY_DYNAMIC;
		if (!model->jointEnabled[i] || !moves) {
			continue;
		}
		knFrame J = knJoint_Frame(joint, model->initialPose[joint->parent], model->initialPose[joint->child]);
		knTwist rows[6];
		dofs -= knJointOps_Get(joint->kind)->lockedRows(joint, J, rows);
		for (int k = 0; k < joint->nv; ++k) {
			dofs -= joint->axis[k].limited && joint->axis[k].lower == joint->axis[k].upper ? 1 : 0;
		}
	}
	return dofs > 0 ? (int)dofs : 0;
}

// --- excluded pairs --------------------------------------------------------------------------------------

static knKeyed pairKey(int a, int b) {
	uint64_t low = (uint64_t)(a < b ? a : b), high = (uint64_t)(a < b ? b : a);
	return (knKeyed){ .key = low << 32 | high, .value = 0 };
}

static knStatus compileExcluded(knModel* model, const knScene* scene, knArena* scratch, knError* error) {
	knKeyed* pairs = KN_SCRATCH(scratch, knKeyed, scene->excluded.count + model->jointCount);
	if (pairs == NULL) {
		return outOfMemory(error);
	}
	int count = 0;
	for (int i = 0; i < scene->excluded.count; ++i) {
		pairs[count++] = pairKey(knModel_BodyIndex(model, scene->excluded.items[i].a),
								 knModel_BodyIndex(model, scene->excluded.items[i].b));
	}
	for (int i = 0; i < model->jointCount; ++i) {
		if (!model->joints[i].collide) {
			pairs[count++] = pairKey(model->joints[i].parent, model->joints[i].child);
		}
	}
	if (!knSort_Keys(pairs, count, scratch)) {
		return outOfMemory(error);
	}
	int unique = 0;
	for (int i = 0; i < count; ++i) {
		if (i == 0 || pairs[i].key != pairs[i - 1].key) {
			pairs[unique++].key = pairs[i].key;
		}
	}

	model->excluded = knAllocArray(&model->allocator, (size_t)unique, sizeof(knFramePair));
	if (unique > 0 && model->excluded == NULL) {
		return outOfMemory(error);
	}
	model->excludedCount = unique;
	for (int i = 0; i < unique; ++i) {
		model->excluded[i].a = (int)(pairs[i].key >> 32);
		model->excluded[i].b = (int)(pairs[i].key & UINT32_MAX);
	}
	return KN_OK;
}

// --- create ----------------------------------------------------------------------------------------------

static knStatus compile(knModel* model, const knScene* scene, knError* error) {
	indexSlots(model, scene);
	model->gravity = scene->def.gravity;
	model->frictionCombine = scene->def.frictionCombine;
	model->restitutionCombine = scene->def.restitutionCombine;
	knStatus status = compileBodies(model, scene, error);
	if (status != KN_OK) {
		return status;
	}
	compileShapes(model, scene);
	status = compileJoints(model, scene, error);
	if (status != KN_OK) {
		return status;
	}
	if (!knModelControl_Compile(model, scene)) {
		return outOfMemory(error);
	}
	knArena scratch;
	knArena_Init(&scratch, &model->allocator);
	status = compileExcluded(model, scene, &scratch, error);
	knArena_Free(&scratch);
	return status;
}

knModel* knModel_Create(const knScene* scene, knError* error) {
	KN_ASSERT(scene != NULL);
	if (scene == NULL) {
		knError_Set(error, KN_BAD_ARGUMENT, "model", "there is no scene to compile");
		return NULL;
	}
	knScene* own = knScene_Clone(scene, error);
	if (own == NULL || knSceneCheck_All(own, error) != KN_OK) {
		knScene_Destroy(own);
		return NULL;
	}
	knModel* model = allocateModel(own);
	if (model == NULL) {
		knScene_Destroy(own);
		outOfMemory(error);
		return NULL;
	}
	model->scene = own;
	if (compile(model, own, error) != KN_OK) {
		knModel_Release(model);
		return NULL;
	}
	model->dofCount = countDofs(model);
	model->fingerprint = knModel_ComputeFingerprint(model);
	return model;
}
