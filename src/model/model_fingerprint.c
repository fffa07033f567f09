// The fingerprint of a model: a hash of every compiled number, field by field, so that padding and addresses
// do not matter. Two models with equal fingerprints accept each other's snapshots. Names, colours, user data
// and the functions of custom joints are not part of it.
#include "core/hash.h"
#include "model/model_internal.h"

static uint64_t hashInteger(uint64_t h, int64_t value) {
	return knHash_Bytes(h, &value, sizeof(value));
}

static uint64_t hashVec(uint64_t h, knVec3 v) {
	h = knHash_Double(h, v.x);
	h = knHash_Double(h, v.y);
	return knHash_Double(h, v.z);
}

static uint64_t hashFrame(uint64_t h, knFrame f) {
	h = hashVec(h, f.p);
	h = knHash_Double(h, f.q.w);
	return hashVec(h, knVecPart(f.q));
}

static uint64_t hashTensor(uint64_t h, const knMat33* m) {
	h = hashVec(h, m->cx);
	h = hashVec(h, m->cy);
	return hashVec(h, m->cz);
}

static uint64_t hashBody(uint64_t h, const knModel* m, int i) {
	h = hashInteger(h, m->bodyKind[i]);
	h = hashInteger(h, m->bodyToSlot[i]);
	h = hashInteger(h, m->bodyFast[i]);
	h = knHash_Double(h, m->mass[i]);
	h = hashTensor(h, &m->inertiaLocal[i]);
	h = hashVec(h, m->centerLocal[i]);
	h = knHash_Double(h, m->gravityScale[i]);
	h = knHash_Double(h, m->linearDamping[i]);
	h = knHash_Double(h, m->angularDamping[i]);
	h = hashFrame(h, m->initialPose[i]);
	h = hashVec(h, m->initialVelocity[i].ang);
	return hashVec(h, m->initialVelocity[i].lin);
}

static uint64_t hashGeom(uint64_t h, const knGeom* geom) {
	h = hashInteger(h, knGeom_Kind(geom));
	h = hashVec(h, knGeom_Size(geom));
	int children = knGeom_ChildCount(geom);
	h = hashInteger(h, children);
	for (int i = 0; i < children; ++i) {
		knGeomChild child = knGeom_Child(geom, i);
		h = hashFrame(hashGeom(h, child.geom), child.frame);
	}
	int vertices, triangles;
	const knVec3* vertex = knGeom_Vertices(geom, &vertices);
	const knTriangle* triangle = knGeom_Triangles(geom, &triangles);
	if (vertices > 0) {
		h = knHash_Bytes(h, vertex, (size_t)vertices * sizeof(knVec3));
		h = knHash_Bytes(h, triangle, (size_t)triangles * sizeof(knTriangle));
	}
	return h;
}

static uint64_t hashShape(uint64_t h, const knModel* m, int i) {
	const knModelShape* shape = &m->shapes[i];
	h = hashGeom(h, shape->geom);
	h = hashInteger(h, shape->body);
	h = hashInteger(h, m->shapeToSlot[i]);
	h = hashFrame(h, shape->local);
	h = knHash_Double(h, shape->friction);
	h = knHash_Double(h, shape->restitution);
	h = knHash_Double(h, shape->rollingFriction);
	h = hashInteger(h, (int64_t)shape->filter.category);
	h = hashInteger(h, (int64_t)shape->filter.mask);
	h = hashInteger(h, shape->filter.group);
	h = hashInteger(h, shape->sensor);
	// scenes without looks keep the hash that they had
	return shape->looks ? hashInteger(h, 2) : h;
}

static uint64_t hashAxis(uint64_t h, const knJointAxis* axis) {
	const double numbers[] = { axis->lower,         axis->upper,     axis->friction,
							   axis->bearing,       axis->damping,   axis->motorTarget,
							   axis->motorMaxForce, axis->stiffness, axis->rest };
	h = hashInteger(h, axis->limited);
	h = hashInteger(h, axis->motorMode);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); ++i) {
		h = knHash_Double(h, numbers[i]);
	}
	if (axis->armature > 0.0 || axis->driveLimited) {
		h = knHash_Double(knHash_Double(h, axis->armature), axis->driveLimited ? axis->driveLower : 0.0);
		h = knHash_Double(h, axis->driveLimited ? axis->driveUpper : 0.0);
	}
	return h;
}

static uint64_t hashJoint(uint64_t h, const knModel* m, int i) {
	const knJoint* joint = &m->joints[i];
	const int integers[] = { (int)joint->kind,   joint->parent,       joint->child,
							 joint->coneLimited, joint->twistLimited, joint->collide,
							 joint->loop,        m->jointEnabled[i],  m->jointToSlot[i] };
	for (size_t k = 0; k < sizeof(integers) / sizeof(integers[0]); ++k) {
		h = hashInteger(h, integers[k]);
	}
	h = hashFrame(h, joint->frameParent);
	h = hashFrame(h, joint->frameChild);
	for (int k = 0; k < joint->nv; ++k) {
		h = hashAxis(h, &joint->axis[k]);
	}
	h = knHash_Double(h, joint->coneY);
	h = knHash_Double(h, joint->coneZ);
	for (int k = 0; k < joint->reachCount; ++k) {
		h = knHash_Double(h, joint->reach[k].x);
		h = knHash_Double(h, joint->reach[k].y);
		h = knHash_Double(h, joint->reach[k].z);
	}
	h = hashInteger(h, joint->reachTwisted);
	for (int k = 0; joint->reachTwisted && k < joint->reachCount; ++k) {
		h = knHash_Double(h, joint->reachLower[k]);
		h = knHash_Double(h, joint->reachUpper[k]);
	}
	h = knHash_Double(h, joint->twistLower);
	h = knHash_Double(h, joint->twistUpper);
	return knHash_Double(h, joint->maxForce);
}

uint64_t knModel_ComputeFingerprint(const knModel* model) {
	uint64_t h = KN_HASH_SEED;
	h = hashInteger(h, model->bodyCount);
	h = hashInteger(h, model->shapeCount);
	h = hashInteger(h, model->jointCount);
	h = hashInteger(h, model->jointCapacity);
	h = hashInteger(h, model->frictionCombine);
	h = hashInteger(h, model->restitutionCombine);
	h = hashVec(h, model->gravity);
	for (int i = 0; i < model->bodyCount; ++i) {
		h = hashBody(h, model, i);
	}
	for (int i = 0; i < model->shapeCount; ++i) {
		h = hashShape(h, model, i);
	}
	for (int i = 0; i < model->jointCount; ++i) {
		h = hashJoint(h, model, i);
	}
	for (int i = 0; i < model->excludedCount; ++i) {
		h = hashInteger(h, model->excluded[i].a);
		h = hashInteger(h, model->excluded[i].b);
	}
	return knModelControl_Hash(h, &model->control);
}
