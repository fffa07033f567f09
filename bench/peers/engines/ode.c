// ODE behind the table of peer_engine.h: dWorldQuickStep, a hash space, contacts with Approx1 friction (a pyramid
// whose bound is mu times the normal force; ODE's plain mu is a bound in newtons, which is no coefficient of friction).
#include "../peer_engine.h"

#include <ode/ode.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAIR_POINTS 8

typedef struct Body {
	dBodyID id; // NULL: fixed
	double friction, restitution;
	knTwist wrench; // for the next step
} Body;

struct knPeerEngine {
	knPeerSetup setup;
	dWorldID world;
	dSpaceID space;
	dJointGroupID touching;
	int substeps;
	double bounceSpeed; // slower approaches do not bounce

	Body* bodies;
	int bodyCount, bodyCapacity;
	dJointID* joints; // of contacts
	dJointFeedback* feedback;
	knPeerContact* contacts;
	int contactCount, contactCapacity;
	bool failed; // out of memory inside a callback
};

static bool grow(void** items, int capacity, size_t size) {
	void* more = realloc(*items, (size_t)capacity * size);
	*items = more != NULL ? more : *items;
	return more != NULL;
}

static knVec3 toVec3(const dReal* v) {
	return knV3(v[0], v[1], v[2]);
}

// --- making ----------------------------------------------------------------------------------------------------

static void destroy(knPeerEngine* engine) {
	if (engine == NULL) {
		return;
	}
	dJointGroupDestroy(engine->touching);
	dSpaceDestroy(engine->space);
	dWorldDestroy(engine->world);
	free(engine->bodies);
	free(engine->joints);
	free(engine->feedback);
	free(engine->contacts);
	free(engine);
	dCloseODE();
}

static knPeerEngine* create(const knPeerSetup* setup) {
	knPeerEngine* engine = calloc(1, sizeof(knPeerEngine));
	if (engine == NULL || !dInitODE2(0)) {
		free(engine);
		return NULL;
	}
	dRandSetSeed(0); // the solver shuffles its rows
	engine->setup = *setup;
	engine->world = dWorldCreate();
	engine->space = dHashSpaceCreate(NULL);
	engine->touching = dJointGroupCreate(0);
	engine->substeps = 1;
	// found by trial on the column of 25 and the tower: more parts or more sweeps alone gain less for their cost
	if (setup->best) {
		engine->substeps = 4;
		dWorldSetQuickStepNumIterations(engine->world, 50);
		dWorldSetERP(engine->world, 0.4);
	}
	dWorldSetGravity(engine->world, setup->gravity.x, setup->gravity.y, setup->gravity.z);
	return engine;
}

static dGeomID makeGeom(dSpaceID space, const knPeerShape* shape, knFrame place) {
	knVec3 size = shape->size;
	switch (shape->kind) {
	case KN_GEOM_SPHERE:
		return dCreateSphere(space, size.x);
	case KN_GEOM_CAPSULE:
		return dCreateCapsule(space, size.x, 2.0 * size.y);
	case KN_GEOM_BOX:
		return dCreateBox(space, 2.0 * size.x, 2.0 * size.y, 2.0 * size.z);
	default: {
		knVec3 normal = knRotate(place.q, knV3(0.0, 0.0, 1.0));
		return dCreatePlane(space, normal.x, normal.y, normal.z, knDot(normal, place.p));
	}
	}
}

static void addShape(knPeerEngine* engine, int key, const knPeerBody* body, const knPeerShape* shape) {
	knFrame place = knMulF(body->pose, shape->frame);
	dGeomID geom = makeGeom(engine->space, shape, place);
	dGeomSetData(geom, (void*)(intptr_t)key);
	dBodyID id = engine->bodies[key].id;
	dQuaternion q = { place.q.w, place.q.x, place.q.y, place.q.z };
	dQuaternion local = { shape->frame.q.w, shape->frame.q.x, shape->frame.q.y, shape->frame.q.z };
	if (id != NULL) {
		dGeomSetBody(geom, id);
		dGeomSetOffsetPosition(geom, shape->frame.p.x, shape->frame.p.y, shape->frame.p.z);
		dGeomSetOffsetQuaternion(geom, local);
	} else if (shape->kind != KN_GEOM_PLANE) {
		dGeomSetPosition(geom, place.p.x, place.p.y, place.p.z);
		dGeomSetQuaternion(geom, q);
	}
}

static void setState(knPeerEngine* engine, int key, knFrame pose, knTwist velocity) {
	dBodyID id = engine->bodies[key].id;
	if (id != NULL) {
		dQuaternion q = { pose.q.w, pose.q.x, pose.q.y, pose.q.z };
		dBodySetPosition(id, pose.p.x, pose.p.y, pose.p.z);
		dBodySetQuaternion(id, q);
		dBodySetLinearVel(id, velocity.lin.x, velocity.lin.y, velocity.lin.z);
		dBodySetAngularVel(id, velocity.ang.x, velocity.ang.y, velocity.ang.z);
	}
}

static bool addBody(knPeerEngine* engine, int key, const knPeerBody* body) {
	if (key >= engine->bodyCapacity) {
		int capacity = 2 * key + 64;
		if (!grow((void**)&engine->bodies, capacity, sizeof(Body))) {
			return false;
		}
		engine->bodyCapacity = capacity;
	}
	engine->bodyCount = key + 1;
	Body* own = &engine->bodies[key];
	*own = (Body){ .friction = body->friction, .restitution = body->restitution };
	if (!body->fixed) {
		own->id = dBodyCreate(engine->world);
		const knMat33* I = &body->inertia;
		dMass mass;
		dMassSetParameters(&mass, body->mass, 0.0, 0.0, 0.0, I->cx.x, I->cy.y, I->cz.z, I->cx.y, I->cx.z,
						   I->cy.z);
		dBodySetMass(own->id, &mass);
		setState(engine, key, body->pose, body->velocity);
	}
	for (int i = 0; i < body->shapeCount; ++i) {
		addShape(engine, key, body, &body->shapes[i]);
	}
	return true;
}

static bool addJoint(knPeerEngine* engine, const knPeerJoint* joint) {
	dBodyID a = engine->bodies[joint->a].id, b = engine->bodies[joint->b].id;
	if (a == NULL && b == NULL) {
		return true; // of two that do not move
	}
	knVec3 at = joint->anchor;
	dJointID id;
	switch (joint->kind) {
	case KN_PEER_BALL:
		id = dJointCreateBall(engine->world, NULL);
		dJointAttach(id, a, b);
		dJointSetBallAnchor(id, at.x, at.y, at.z);
		break;
	case KN_PEER_HINGE:
		id = dJointCreateHinge(engine->world, NULL);
		dJointAttach(id, a, b);
		dJointSetHingeAnchor(id, at.x, at.y, at.z);
		dJointSetHingeAxis(id, joint->axis.x, joint->axis.y, joint->axis.z);
		break;
	default:
		id = dJointCreateFixed(engine->world, NULL);
		dJointAttach(id, a, b);
		dJointSetFixed(id);
		break;
	}
	return true;
}

static void setGravity(knPeerEngine* engine, knVec3 gravity) {
	engine->setup.gravity = gravity;
	dWorldSetGravity(engine->world, gravity.x, gravity.y, gravity.z);
}

static void getState(const knPeerEngine* engine, int key, knFrame* pose, knTwist* velocity) {
	dBodyID id = engine->bodies[key].id;
	if (id != NULL) {
		const dReal* q = dBodyGetQuaternion(id);
		knQuat turn = { q[0], q[1], q[2], q[3] };
		*pose = knMakeFrame(toVec3(dBodyGetPosition(id)), turn);
		*velocity = knMakeTwist(toVec3(dBodyGetAngularVel(id)), toVec3(dBodyGetLinearVel(id)));
	}
}

static void addForce(knPeerEngine* engine, int key, knTwist wrench) {
	engine->bodies[key].wrench = knAddT(engine->bodies[key].wrench, wrench);
}

// --- stepping --------------------------------------------------------------------------------------------------

static bool reserveContacts(knPeerEngine* engine, int count) {
	if (count <= engine->contactCapacity) {
		return true;
	}
	int capacity = 2 * count + 256;
	bool grown = grow((void**)&engine->joints, capacity, sizeof(dJointID)) &&
				 grow((void**)&engine->feedback, capacity, sizeof(dJointFeedback)) &&
				 grow((void**)&engine->contacts, capacity, sizeof(knPeerContact));
	engine->contactCapacity = grown ? capacity : engine->contactCapacity;
	return grown;
}

// ODE's normal points into the first geom, away from the second.
static void addContact(knPeerEngine* engine, int a, int b, const dContact* contact) {
	dJointID joint = dJointCreateContact(engine->world, engine->touching, contact);
	dJointAttach(joint, engine->bodies[a].id, engine->bodies[b].id);
	engine->joints[engine->contactCount] = joint;
	engine->contacts[engine->contactCount++] = (knPeerContact){ .a = a,
																.b = b,
																.point = toVec3(contact->geom.pos),
																.normal = knNeg(toVec3(contact->geom.normal)),
																.separation = -contact->geom.depth };
}

static void near(void* context, dGeomID first, dGeomID second) {
	knPeerEngine* engine = context;
	int a = (int)(intptr_t)dGeomGetData(first), b = (int)(intptr_t)dGeomGetData(second);
	const knPeerSetup* setup = &engine->setup;
	const Body *bodyA = &engine->bodies[a], *bodyB = &engine->bodies[b];
	if ((bodyA->id == NULL && bodyB->id == NULL) || a == b || !setup->mayTouch(a, b, setup->context)) {
		return;
	}
	dContact contacts[PAIR_POINTS];
	int count = dCollide(first, second, PAIR_POINTS, &contacts[0].geom, sizeof(dContact));
	if (!reserveContacts(engine, engine->contactCount + count)) {
		engine->failed = true;
		return;
	}
	double bounce = setup->restitution(bodyA->restitution, bodyB->restitution, setup->context);
	for (int i = 0; i < count; ++i) {
		dSurfaceParameters* surface = &contacts[i].surface;
		memset(surface, 0, sizeof(*surface));
		surface->mode = dContactApprox1 | (bounce > 0.0 ? dContactBounce : 0);
		surface->mu = setup->friction(bodyA->friction, bodyB->friction, setup->context);
		surface->bounce = bounce;
		surface->bounce_vel = engine->bounceSpeed;
		addContact(engine, a, b, &contacts[i]);
	}
}

// Of the contacts from `first` on, which acted for h. A joint to something fixed has one body, its first.
static void readImpulses(knPeerEngine* engine, int first, double h) {
	for (int i = first; i < engine->contactCount; ++i) {
		knPeerContact* contact = &engine->contacts[i];
		knVec3 one = toVec3(engine->feedback[i].f1);
		if (engine->bodies[contact->b].id == NULL) {
			contact->impulse = knScale(-h, one);
		} else if (engine->bodies[contact->a].id == NULL) {
			contact->impulse = knScale(h, one);
		} else {
			contact->impulse = knScale(h, toVec3(engine->feedback[i].f2));
		}
	}
}

// ODE forgets forces after each of its steps.
static void applyForces(knPeerEngine* engine) {
	for (int i = 0; i < engine->bodyCount; ++i) {
		dBodyID id = engine->bodies[i].id;
		if (id != NULL) {
			knTwist wrench = engine->bodies[i].wrench;
			dBodyAddForce(id, wrench.lin.x, wrench.lin.y, wrench.lin.z);
			dBodyAddTorque(id, wrench.ang.x, wrench.ang.y, wrench.ang.z);
		}
	}
}

static void forgetForces(knPeerEngine* engine) {
	for (int i = 0; i < engine->bodyCount; ++i) {
		engine->bodies[i].wrench = knMakeTwist(knZero3(), knZero3());
	}
}

static bool step(knPeerEngine* engine, double dt, knPeerReport* report) {
	double h = dt / engine->substeps;
	engine->bounceSpeed = 2.0 * knLength(engine->setup.gravity) * h;
	engine->failed = false;
	engine->contactCount = 0;
	for (int k = 0; k < engine->substeps && !engine->failed; ++k) {
		int first = engine->contactCount;
		dSpaceCollide(engine->space, engine, near);
		for (int i = first; i < engine->contactCount; ++i) {
			dJointSetFeedback(engine->joints[i], &engine->feedback[i]);
		}
		applyForces(engine);
		engine->failed = engine->failed || !dWorldQuickStep(engine->world, h);
		readImpulses(engine, first, h);
		dJointGroupEmpty(engine->touching);
	}
	forgetForces(engine);
	report->iterations = engine->substeps * dWorldGetQuickStepNumIterations(engine->world);
	report->queries = engine->substeps;
	report->contacts = engine->contacts;
	report->contactCount = engine->contactCount;
	return !engine->failed;
}

const knPeerOps knPeerEngineOps = {
	.version = KN_PEER_VERSION,
	.title = "ODE " KN_PEER_ODE_VERSION,
	.create = create,
	.destroy = destroy,
	.addBody = addBody,
	.addJoint = addJoint,
	.setGravity = setGravity,
	.setState = setState,
	.getState = getState,
	.addForce = addForce,
	.step = step,
};
