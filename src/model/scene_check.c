// What a scene refuses, and with which words. Called when something is added and again, for everything, when
// a model is compiled, because defs may be edited in place.
//
// A refusal names the element ("body 'crank'") and says in one sentence what is wrong and what is allowed.
// Data is refused with KN_BAD_DATA, counts beyond KN_SCENE_MAX with KN_LIMIT.
#include <stdio.h>

#include "geom/geom.h"
#include "model/joint.h"
#include "model/joint_reach.h"
#include "model/scene_internal.h"

// a quaternion this close to unit length is normalised, others are refused
#define UNIT_TOLERANCE 1e-6
// and one this close is left alone, so that checking again changes no bit
#define UNIT_EXACT 1e-15
// m, by which frames may be moved: the cube is still finite
#define LENGTH_MOST 1e100
// relative, for the triangle inequality and the symmetry of inertias
#define INERTIA_TOLERANCE 1e-9

const char* knScene_Element(const char* kind, const char* name, char* text) {
	snprintf(text, KN_ELEMENT_SIZE, "%s '%.70s'", kind, name);
	return text;
}

static knStatus checkFrame(knFrame* frame, const char* what, const char* element, knError* error) {
	if (!knIsFiniteF(*frame)) {
		return knError_Set(error, KN_BAD_DATA, element, "its %s is not finite", what);
	}
	if (knMax(knAbs(frame->p.x), knMax(knAbs(frame->p.y), knAbs(frame->p.z))) > LENGTH_MOST) {
		return knError_Set(error, KN_BAD_DATA, element,
						   "its %s is (%g, %g, %g) m away; no more than %g can be", what, frame->p.x,
						   frame->p.y, frame->p.z, LENGTH_MOST);
	}
	double length = sqrt(knDotQ(frame->q, frame->q));
	if (!(knAbs(length - 1.0) <= UNIT_TOLERANCE)) {
		return knError_Set(error, KN_BAD_DATA, element,
						   "the rotation of its %s is a quaternion of length %g; it must have length 1", what,
						   length);
	}
	if (knAbs(length - 1.0) > UNIT_EXACT) {
		frame->q = knNormalizeQ(frame->q);
	}
	return KN_OK;
}

static knStatus checkNotNegative(double value, const char* what, const char* element, knError* error) {
	if (!knIsFinite(value) || value < 0.0) {
		return knError_Set(error, KN_BAD_DATA, element, "%s is %g; it must be finite and not negative", what,
						   value);
	}
	return KN_OK;
}

static knStatus checkFinite(double value, const char* what, const char* element, knError* error) {
	if (!knIsFinite(value)) {
		return knError_Set(error, KN_BAD_DATA, element, "%s is %g; it must be finite", what, value);
	}
	return KN_OK;
}

static knStatus checkFinite3(knVec3 value, const char* what, const char* element, knError* error) {
	if (!knIsFinite3(value)) {
		return knError_Set(error, KN_BAD_DATA, element, "%s is (%g, %g, %g); it must be finite", what,
						   value.x, value.y, value.z);
	}
	return KN_OK;
}

// --- scene -----------------------------------------------------------------------------------------------

knStatus knSceneCheck_Def(const knSceneDef* def, knError* error) {
	char element[KN_ELEMENT_SIZE];
	knScene_Element("scene", def->name != NULL ? def->name : "", element);

	knStatus status = checkFinite3(def->gravity, "gravity", element, error);
	if (status != KN_OK) {
		return status;
	}
	if (!knIsFinite(def->dt) || def->dt <= 0.0) {
		return knError_Set(error, KN_BAD_DATA, element, "the time step is %g; it must be positive", def->dt);
	}
	if ((unsigned)def->frictionCombine > KN_COMBINE_MULTIPLY ||
		(unsigned)def->restitutionCombine > KN_COMBINE_MULTIPLY) {
		return knError_Set(error, KN_BAD_DATA, element, "the rule that combines two materials is unknown");
	}
	if (!knIsFinite(def->mediumDensity) || def->mediumDensity < 0.0 || !knIsFinite(def->mediumViscosity) ||
		def->mediumViscosity < 0.0) {
		return knError_Set(error, KN_BAD_DATA, element,
						   "the medium's density is %g and its viscosity %g; neither may be negative",
						   def->mediumDensity, def->mediumViscosity);
	}
	if (!knIsFinite(def->view.azimuth) || !knIsFinite(def->view.elevation) || !knIsFinite(def->view.zoom) ||
		def->view.zoom < 0.0) {
		return knError_Set(error, KN_BAD_DATA, element,
						   "the view is not made of numbers with a zoom of 0 or more");
	}
	if (def->jointCapacity < 0) {
		return knError_Set(error, KN_BAD_DATA, element, "the joint capacity is %d; it must not be negative",
						   def->jointCapacity);
	}
	if (def->jointCapacity > KN_SCENE_MAX) {
		return knError_Set(error, KN_LIMIT, element, "the joint capacity is %d; the limit is %d",
						   def->jointCapacity, KN_SCENE_MAX);
	}
	return KN_OK;
}

// --- bodies ----------------------------------------------------------------------------------------------

static knStatus checkMassFinite(const knMassProps* mass, const char* element, knError* error) {
	if (!knIsFinite(mass->mass) || !knIsFinite3(mass->center) || !knIsFinite3(mass->inertia.cx) ||
		!knIsFinite3(mass->inertia.cy) || !knIsFinite3(mass->inertia.cz)) {
		return knError_Set(error, KN_BAD_DATA, element, "its mass, centre or inertia is not finite");
	}
	return KN_OK;
}

knStatus knSceneCheck_Mass(const knMassProps* mass, const char* element, knError* error) {
	knStatus status = checkMassFinite(mass, element, error);
	if (status != KN_OK) {
		return status;
	}
	if (mass->mass <= 0.0) {
		return knError_Set(error, KN_BAD_DATA, element, "its mass is %g; it must be positive", mass->mass);
	}

	const knMat33* I = &mass->inertia;
	double size = knMax(knAbs(I->cx.x), knMax(knAbs(I->cy.y), knAbs(I->cz.z)));
	double skew = knMax(knAbs(I->cx.y - I->cy.x), knMax(knAbs(I->cx.z - I->cz.x), knAbs(I->cy.z - I->cz.y)));
	if (skew > INERTIA_TOLERANCE * size) {
		return knError_Set(error, KN_BAD_DATA, element, "its inertia is not symmetric");
	}

	knVec3 moments;
	knDiagonalize33(I, &moments);
	if (!(moments.x > 0.0)) {
		return knError_Set(error, KN_BAD_DATA, element,
						   "its inertia is not positive definite: the principal moments are %g, %g, %g",
						   moments.x, moments.y, moments.z);
	}
	if (moments.x + moments.y < moments.z * (1.0 - INERTIA_TOLERANCE)) {
		return knError_Set(
			error, KN_BAD_DATA, element,
			"no body has the principal moments of inertia %g, %g, %g: none may exceed the sum of "
			"the other two",
			moments.x, moments.y, moments.z);
	}
	const knMat33 inverse = knInverse33(I);
	if (!knIsFinite(1.0 / mass->mass) || !knIsFinite3(inverse.cx) || !knIsFinite3(inverse.cy) ||
		!knIsFinite3(inverse.cz) || knLengthSquared(inverse.cx) == 0.0) {
		return knError_Set(error, KN_BAD_DATA, element, "its mass %g or inertia is too small or too large",
						   mass->mass);
	}
	return KN_OK;
}

knStatus knSceneCheck_Body(knBodyDef* def, const char* name, knError* error) {
	char element[KN_ELEMENT_SIZE];
	knScene_Element("body", name, element);

	if ((unsigned)def->kind > KN_BODY_FIXED) {
		return knError_Set(error, KN_BAD_DATA, element, "its kind %d is unknown", (int)def->kind);
	}
	knStatus status = checkFrame(&def->frame, "frame", element, error);
	if (status == KN_OK) {
		status = checkFinite3(def->velocity, "its velocity", element, error);
	}
	if (status == KN_OK) {
		status = checkFinite3(def->angularVelocity, "its angular velocity", element, error);
	}
	if (status == KN_OK) {
		status = checkFinite(def->gravityScale, "its gravity scale", element, error);
	}
	if (status == KN_OK) {
		status = checkNotNegative(def->linearDamping, "its linear damping", element, error);
	}
	if (status == KN_OK) {
		status = checkNotNegative(def->angularDamping, "its angular damping", element, error);
	}
	if (status == KN_OK && def->hasMass) {
		status = def->kind == KN_BODY_DYNAMIC ? knSceneCheck_Mass(&def->mass, element, error)
											  : checkMassFinite(&def->mass, element, error);
	}
	return status;
}

// --- shapes ----------------------------------------------------------------------------------------------

knStatus knSceneCheck_Shape(const knScene* scene, knBodyId body, const knGeom* geom, knShapeDef* def,
							int slot, knError* error) {
	int bodySlot = knScene_BodySlot(scene, body);
	const knBodySlot* owner = bodySlot >= 0 ? &scene->bodies.items[bodySlot] : NULL;
	const char* ownerName = owner != NULL ? owner->def.name : "world";
	char element[KN_ELEMENT_SIZE];
	if (def->name != NULL) {
		snprintf(element, sizeof(element), "shape '%.30s' of body '%.40s'", def->name, ownerName);
	} else {
		snprintf(element, sizeof(element), "shape %d of body '%.40s'", slot, ownerName);
	}

	knStatus status = checkFrame(&def->frame, "frame", element, error);
	if (status != KN_OK) {
		return status;
	}
	if (knGeom_Kind(geom) == KN_GEOM_PLANE && owner != NULL && owner->def.kind == KN_BODY_DYNAMIC) {
		return knError_Set(error, KN_BAD_DATA, element,
						   "a plane is infinite; it cannot belong to a dynamic body");
	}
	if (knGeom_IsSurface(geom) && def->role != KN_SHAPE_LOOKS && owner != NULL &&
		owner->def.kind == KN_BODY_DYNAMIC) {
		return knError_Set(error, KN_BAD_DATA, element,
						   "a %s that is not solid has no inside; it cannot belong to a dynamic body",
						   knGeomKind_Name(knGeom_Kind(geom)));
	}
	if (!knIsFinite(def->density) || def->density <= 0.0) {
		return knError_Set(error, KN_BAD_DATA, element, "its density is %g; it must be positive",
						   def->density);
	}
	if (!knIsFinite(def->restitution) || def->restitution < 0.0 || def->restitution > 1.0) {
		return knError_Set(error, KN_BAD_DATA, element, "its restitution is %g; it must lie between 0 and 1",
						   def->restitution);
	}
	if ((unsigned)def->role > KN_SHAPE_HIDDEN || def->material < 0 ||
		def->material > scene->materials.count) {
		return knError_Set(error, KN_BAD_DATA, element, "its role or its material is not in this scene");
	}
	status = checkNotNegative(def->friction, "its friction", element, error);
	if (status == KN_OK) {
		status = checkNotNegative(def->rollingFriction, "its rolling friction", element, error);
	}
	return status;
}

// --- joints ----------------------------------------------------------------------------------------------

static knStatus checkAxis(const knJointDef* def, int index, const char* element, knError* error) {
	const knJointAxis* axis = &def->axis[index];
	// coordinates that are not simple angles or lengths have no interval to stay in
	if (axis->limited && def->kind == KN_JOINT_BALL) {
		return knError_Set(error, KN_BAD_DATA, element,
						   "axis %d is limited; the limits of a ball joint are its cone and twist", index);
	}
	if (axis->limited && (def->kind == KN_JOINT_FREE || def->kind == KN_JOINT_CUSTOM)) {
		return knError_Set(error, KN_BAD_DATA, element, "axis %d is limited; a %s joint takes no limits",
						   index, knJointKind_Name(def->kind));
	}
	if (axis->limited &&
		(!knIsFinite(axis->lower) || !knIsFinite(axis->upper) || axis->lower > axis->upper)) {
		return knError_Set(error, KN_BAD_DATA, element,
						   "the limits of axis %d are %g and %g; the lower must not exceed the upper", index,
						   axis->lower, axis->upper);
	}
	if ((unsigned)axis->motorMode > KN_MOTOR_FORCE) {
		return knError_Set(error, KN_BAD_DATA, element, "the motor mode %d of axis %d is unknown",
						   (int)axis->motorMode, index);
	}

	knStatus status = checkNotNegative(axis->friction, "its friction", element, error);
	if (status == KN_OK) {
		status = checkNotNegative(axis->bearing, "its bearing friction", element, error);
	}
	if (status == KN_OK) {
		status = checkNotNegative(axis->damping, "its damping", element, error);
	}
	if (status == KN_OK) {
		status = checkNotNegative(axis->stiffness, "its stiffness", element, error);
	}
	if (status == KN_OK) {
		status = checkNotNegative(axis->motorMaxForce, "its largest motor force", element, error);
	}
	if (status == KN_OK) {
		status = checkFinite(axis->motorTarget, "its motor target", element, error);
	}
	if (status == KN_OK) {
		status = checkFinite(axis->rest, "its spring's rest", element, error);
	}
	if (status == KN_OK) {
		status = checkNotNegative(axis->armature, "its armature", element, error);
	}
	if (status == KN_OK && axis->driveLimited &&
		!(axis->driveLower <= 0.0 && axis->driveUpper >= 0.0 && knIsFinite(axis->driveLower) &&
		  knIsFinite(axis->driveUpper))) {
		status = knError_Set(error, KN_BAD_DATA, element,
							 "the actuators of axis %d may push from %g to %g; 0 must lie between them",
							 index, axis->driveLower, axis->driveUpper);
	}
	return status;
}

static knStatus checkReachTwist(const knJointDef* def, const char* element, knError* error) {
	for (int i = 0; i < def->reachCount; ++i) {
		const knReachTwist* twist = &def->reachTwist[i];
		if (!twist->own) {
			continue;
		}
		if (!def->twistLimited) {
			return knError_Set(error, KN_BAD_DATA, element,
							   "corner %d of its reach cone has twist limits; the joint must have some too",
							   i);
		}
		if (!knIsFinite(twist->lower) || !knIsFinite(twist->upper) || twist->lower > twist->upper) {
			return knError_Set(
				error, KN_BAD_DATA, element,
				"the twist limits at corner %d of its reach cone are %g and %g; the lower must "
				"not exceed the upper",
				i, twist->lower, twist->upper);
		}
	}
	return KN_OK;
}

static knStatus checkBallLimits(const knJointDef* def, const char* element, knError* error) {
	if (def->coneLimited &&
		(!(def->coneY > 0.0 && def->coneY <= KN_PI) || !(def->coneZ > 0.0 && def->coneZ <= KN_PI))) {
		return knError_Set(error, KN_BAD_DATA, element,
						   "its cone is %g by %g rad; both must be positive and at most pi", def->coneY,
						   def->coneZ);
	}
	if (def->reachCount != 0) {
		knVec3 corners[KN_REACH_MAX];
		for (int i = 0; i < KN_REACH_MAX; ++i) {
			corners[i] = knNormalize(def->reach[i]);
		}
		if (def->coneLimited) {
			return knError_Set(error, KN_BAD_DATA, element, "it has both a cone and a reach cone");
		}
		if (!knReachCone_IsSound(corners, def->reachCount)) {
			return knError_Set(
				error, KN_BAD_DATA, element,
				"its reach cone has %d corners; there must be 3 to %d, which go once around x, "
				"anticlockwise, each side seen from x",
				def->reachCount, KN_REACH_MAX);
		}
	}
	if (def->twistLimited &&
		(!knIsFinite(def->twistLower) || !knIsFinite(def->twistUpper) || def->twistLower > def->twistUpper)) {
		return knError_Set(error, KN_BAD_DATA, element,
						   "its twist limits are %g and %g; the lower must not exceed the upper",
						   def->twistLower, def->twistUpper);
	}
	return checkReachTwist(def, element, error);
}

static knStatus checkEnds(const knScene* scene, const knJointDef* def, const char* element, knError* error) {
	const knBodyId ends[2] = { def->parent, def->child };
	for (int i = 0; i < 2; ++i) {
		if (!KN_ID_IS_NULL(ends[i]) && knScene_BodySlot(scene, ends[i]) < 0) {
			return knError_Set(error, KN_BAD_DATA, element, "its %s is not a body of this scene",
							   i == 0 ? "parent" : "child");
		}
	}
	if (KN_ID_IS_NULL(def->parent) && KN_ID_IS_NULL(def->child)) {
		return knError_Set(error, KN_BAD_DATA, element,
						   "it joins the world to itself; one end must be a body");
	}
	if (KN_ID_EQUALS(def->parent, def->child)) {
		return knError_Set(error, KN_BAD_DATA, element, "it joins body '%.60s' to itself",
						   scene->bodies.items[knScene_BodySlot(scene, def->child)].def.name);
	}
	return KN_OK;
}

knStatus knSceneCheck_Joint(const knScene* scene, knJointDef* def, const char* name, knError* error) {
	char element[KN_ELEMENT_SIZE];
	knScene_Element("joint", name, element);

	if ((unsigned)def->kind >= KN_JOINT_KIND_COUNT) {
		return knError_Set(error, KN_BAD_DATA, element, "its kind %d is unknown", (int)def->kind);
	}
	knStatus status = checkEnds(scene, def, element, error);
	if (status == KN_OK) {
		status = checkFrame(&def->frameParent, "frame in the parent", element, error);
	}
	if (status == KN_OK) {
		status = checkFrame(&def->frameChild, "frame in the child", element, error);
	}
	int axisCount = knJointOps_Get(def->kind)->nv;
	for (int i = 0; i < axisCount && status == KN_OK; ++i) {
		status = checkAxis(def, i, element, error);
	}
	if (status == KN_OK) {
		status = checkBallLimits(def, element, error);
	}
	if (status == KN_OK) {
		status = checkNotNegative(def->maxForce, "its largest force", element, error);
	}
	if (status == KN_OK && def->kind == KN_JOINT_CUSTOM &&
		(def->custom.projectState == NULL || def->custom.projectVelocity == NULL)) {
		status = knError_Set(error, KN_BAD_DATA, element,
							 "a custom joint needs both functions, projectState and projectVelocity");
	}
	return status;
}

// --- everything ------------------------------------------------------------------------------------------

knStatus knSceneCheck_All(knScene* scene, knError* error) {
	knStatus status = knSceneCheck_Def(&scene->def, error);
	for (int i = 0; i < scene->bodies.count && status == KN_OK; ++i) {
		knBodySlot* slot = &scene->bodies.items[i];
		if (slot->used) {
			status = knSceneCheck_Body(&slot->def, slot->name, error);
		}
	}
	for (int i = 0; i < scene->shapes.count && status == KN_OK; ++i) {
		knShapeSlot* slot = &scene->shapes.items[i];
		if (slot->used) {
			status = knSceneCheck_Shape(scene, slot->body, slot->geom, &slot->def, i, error);
		}
	}
	for (int i = 0; i < scene->joints.count && status == KN_OK; ++i) {
		knJointSlot* slot = &scene->joints.items[i];
		if (slot->used) {
			status = knSceneCheck_Joint(scene, &slot->def, slot->name, error);
		}
	}
	return status == KN_OK ? knSceneCheck_Control(scene, error) : status;
}
