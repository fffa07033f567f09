// Bullet behind the table of peer_engine.h: btDiscreteDynamicsWorld with the sequential-impulse solver and a tree of boxes as
// broad phase, without sleeping. Bullet wants a diagonal inertia, so bodies are given their principal axes.
#include "../peer_engine.h"

#include <btBulletDynamicsCommon.h>

#include <memory>
#include <new>
#include <vector>

namespace {

btVector3 toBullet(knVec3 v) {
	return btVector3(btScalar(v.x), btScalar(v.y), btScalar(v.z));
}

btQuaternion toBullet(knQuat q) {
	return btQuaternion(btScalar(q.x), btScalar(q.y), btScalar(q.z), btScalar(q.w));
}

btTransform toBullet(knFrame frame) {
	return btTransform(toBullet(frame.q), toBullet(frame.p));
}

knVec3 fromBullet(const btVector3& v) {
	return knV3(double(v.x()), double(v.y()), double(v.z()));
}

// A body's shapes live as long as it; `principal` turns from its axes to those of the inertia.
struct Body {
	bool fixed = true;
	double friction = 0.0, restitution = 0.0;
	btQuaternion principal = btQuaternion::getIdentity();
	std::vector<std::unique_ptr<btCollisionShape>> shapes;
	std::vector<std::unique_ptr<btRigidBody>> parts; // one; of a fixed body one for each shape
	btVector3 force = btVector3(0, 0, 0), torque = btVector3(0, 0, 0);
};

int keyOf(const btCollisionObject* object) {
	return object->getUserIndex();
}

} // namespace

struct knPeerEngine : btOverlapFilterCallback {
	knPeerSetup setup;
	int substeps = 1;
	btDefaultCollisionConfiguration configuration;
	btCollisionDispatcher dispatcher{ &configuration };
	btDbvtBroadphase broadPhase;
	btSequentialImpulseConstraintSolver solver;
	btDiscreteDynamicsWorld world{ &dispatcher, &broadPhase, &solver, &configuration };
	std::vector<std::unique_ptr<Body>> bodies;
	std::vector<std::unique_ptr<btTypedConstraint>> joints;
	std::vector<knPeerContact> contacts;

	bool needBroadphaseCollision(btBroadphaseProxy* a, btBroadphaseProxy* b) const override {
		int keyA = keyOf(static_cast<btCollisionObject*>(a->m_clientObject));
		int keyB = keyOf(static_cast<btCollisionObject*>(b->m_clientObject));
		return keyA != keyB && !(bodies[size_t(keyA)]->fixed && bodies[size_t(keyB)]->fixed) &&
			   setup.mayTouch(keyA, keyB, setup.context);
	}
};

namespace {

// Bullet asks for pairs of materials through functions without a context; runs come one after the other.
knPeerEngine* current = nullptr;

btScalar combineFriction(const btCollisionObject* a, const btCollisionObject* b) {
	const knPeerSetup& setup = current->setup;
	return btScalar(setup.friction(current->bodies[size_t(keyOf(a))]->friction,
								   current->bodies[size_t(keyOf(b))]->friction, setup.context));
}

btScalar combineRestitution(const btCollisionObject* a, const btCollisionObject* b) {
	const knPeerSetup& setup = current->setup;
	return btScalar(setup.restitution(current->bodies[size_t(keyOf(a))]->restitution,
									  current->bodies[size_t(keyOf(b))]->restitution, setup.context));
}

// --- making ----------------------------------------------------------------------------------------------------

void destroy(knPeerEngine* engine) {
	if (engine == nullptr) {
		return;
	}
	for (auto& joint : engine->joints) {
		engine->world.removeConstraint(joint.get());
	}
	for (auto& body : engine->bodies) {
		for (auto& part : body->parts) {
			engine->world.removeRigidBody(part.get());
		}
	}
	delete engine;
	current = nullptr;
}

knPeerEngine* create(const knPeerSetup* setup) {
	knPeerEngine* engine = new (std::nothrow) knPeerEngine;
	if (engine == nullptr) {
		return nullptr;
	}
	engine->setup = *setup;
	engine->world.getPairCache()->setOverlapFilterCallback(engine);
	engine->world.setGravity(toBullet(setup->gravity));
	// found by trial on the column of 25 and the tower; a second friction direction makes both worse
	if (setup->best) {
		engine->substeps = 8;
		engine->world.getSolverInfo().m_numIterations = 20;
		engine->world.getSolverInfo().m_solverMode |= SOLVER_RANDMIZE_ORDER;
	}
	current = engine;
	gCalculateCombinedFrictionCallback = combineFriction;
	gCalculateCombinedRestitutionCallback = combineRestitution;
	return engine;
}

std::unique_ptr<btCollisionShape> makeShape(const knPeerShape& shape) {
	switch (shape.kind) {
	case KN_GEOM_SPHERE:
		return std::make_unique<btSphereShape>(btScalar(shape.size.x));
	case KN_GEOM_CAPSULE:
		return std::make_unique<btCapsuleShapeZ>(btScalar(shape.size.x), btScalar(2.0 * shape.size.y));
	case KN_GEOM_BOX:
		return std::make_unique<btBoxShape>(toBullet(shape.size));
	default:
		return std::make_unique<btStaticPlaneShape>(btVector3(0, 0, 1), btScalar(0));
	}
}

void addPart(knPeerEngine* engine, int key, Body& own, btCollisionShape* shape, btScalar mass,
			 const btVector3& inertia, const btTransform& place) {
	btRigidBody::btRigidBodyConstructionInfo info(mass, nullptr, shape, inertia);
	info.m_startWorldTransform = place;
	auto part = std::make_unique<btRigidBody>(info);
	part->setUserIndex(key);
	part->setActivationState(DISABLE_DEACTIVATION);
	own.parts.push_back(std::move(part));
	engine->world.addRigidBody(own.parts.back().get());
}

void addFixed(knPeerEngine* engine, int key, Body& own, const knPeerBody& body) {
	for (int i = 0; i < body.shapeCount; ++i) {
		own.shapes.push_back(makeShape(body.shapes[i]));
		addPart(engine, key, own, own.shapes.back().get(), 0, btVector3(0, 0, 0),
				toBullet(body.pose) * toBullet(body.shapes[i].frame));
	}
}

void setState(knPeerEngine* engine, int key, knFrame pose, knTwist velocity) {
	Body& own = *engine->bodies[size_t(key)];
	if (own.fixed) {
		return;
	}
	btRigidBody& part = *own.parts[0];
	btTransform place(toBullet(pose.q) * own.principal, toBullet(pose.p));
	part.setWorldTransform(place);
	part.setInterpolationWorldTransform(place);
	part.setLinearVelocity(toBullet(velocity.lin));
	part.setAngularVelocity(toBullet(velocity.ang));
	part.updateInertiaTensor();
}

void addMoving(knPeerEngine* engine, int key, Body& own, const knPeerBody& body) {
	const knMat33& I = body.inertia;
	btMatrix3x3 inertia(btScalar(I.cx.x), btScalar(I.cy.x), btScalar(I.cz.x), btScalar(I.cx.y),
						btScalar(I.cy.y), btScalar(I.cz.y), btScalar(I.cx.z), btScalar(I.cy.z),
						btScalar(I.cz.z));
	btMatrix3x3 axes;
	inertia.diagonalize(axes, btScalar(1e-6), 50);
	axes.getRotation(own.principal);
	auto all = std::make_unique<btCompoundShape>();
	btTransform turn(own.principal.inverse());
	for (int i = 0; i < body.shapeCount; ++i) {
		own.shapes.push_back(makeShape(body.shapes[i]));
		all->addChildShape(turn * toBullet(body.shapes[i].frame), own.shapes.back().get());
	}
	// a shape in the middle needs no compound around it, and Bullet has better contacts for it
	btCollisionShape* shape = all.get();
	bool lone = body.shapeCount == 1 && own.principal.getAngleShortestPath() < btScalar(1e-6) &&
				knLength(body.shapes[0].frame.p) == 0.0 && knAbs(body.shapes[0].frame.q.w) == 1.0;
	if (lone) {
		shape = own.shapes[0].get();
	} else {
		own.shapes.push_back(std::move(all));
	}
	addPart(engine, key, own, shape, btScalar(body.mass),
			btVector3(inertia[0][0], inertia[1][1], inertia[2][2]), btTransform::getIdentity());
	setState(engine, key, body.pose, body.velocity);
	engine->world.updateSingleAabb(own.parts[0].get());
}

bool addBody(knPeerEngine* engine, int key, const knPeerBody* body) {
	try {
		engine->bodies.resize(size_t(key) + 1);
		engine->bodies[size_t(key)] = std::make_unique<Body>();
		Body& own = *engine->bodies[size_t(key)];
		own.fixed = body->fixed;
		own.friction = body->friction;
		own.restitution = body->restitution;
		if (own.fixed) {
			addFixed(engine, key, own, *body);
		} else {
			addMoving(engine, key, own, *body);
		}
		return true;
	} catch (const std::bad_alloc&) {
		return false;
	}
}

// The body that a joint holds: Bullet's own immovable one, at the origin, for whatever is fixed.
btRigidBody& jointBody(knPeerEngine* engine, int key) {
	Body& own = *engine->bodies[size_t(key)];
	return own.fixed ? btTypedConstraint::getFixedBody() : *own.parts[0];
}

// A frame at the anchor whose z axis is the joint's.
btTransform jointFrame(const knPeerJoint& joint) {
	btVector3 axis = toBullet(joint.axis).normalized(), side, other;
	btPlaneSpace1(axis, side, other);
	btMatrix3x3 basis(side.x(), other.x(), axis.x(), side.y(), other.y(), axis.y(), side.z(), other.z(),
					  axis.z());
	return btTransform(basis, toBullet(joint.anchor));
}

bool addJoint(knPeerEngine* engine, const knPeerJoint* joint) {
	if (engine->bodies[size_t(joint->a)]->fixed && engine->bodies[size_t(joint->b)]->fixed) {
		return true;
	}
	try {
		btRigidBody &a = jointBody(engine, joint->a), &b = jointBody(engine, joint->b);
		btTransform frame = jointFrame(*joint);
		btTransform inA = a.getWorldTransform().inverse() * frame;
		btTransform inB = b.getWorldTransform().inverse() * frame;
		std::unique_ptr<btTypedConstraint> made;
		if (joint->kind == KN_PEER_BALL) {
			made = std::make_unique<btPoint2PointConstraint>(a, b, inA.getOrigin(), inB.getOrigin());
		} else if (joint->kind == KN_PEER_HINGE) {
			made = std::make_unique<btHingeConstraint>(a, b, inA, inB);
		} else {
			made = std::make_unique<btFixedConstraint>(a, b, inA, inB);
		}
		engine->joints.push_back(std::move(made));
		engine->world.addConstraint(engine->joints.back().get());
		return true;
	} catch (const std::bad_alloc&) {
		return false;
	}
}

void setGravity(knPeerEngine* engine, knVec3 gravity) {
	engine->world.setGravity(toBullet(gravity));
}

void getState(const knPeerEngine* engine, int key, knFrame* pose, knTwist* velocity) {
	const Body& own = *engine->bodies[size_t(key)];
	if (own.fixed) {
		return;
	}
	const btRigidBody& part = *own.parts[0];
	const btTransform& place = part.getWorldTransform();
	btQuaternion q = place.getRotation() * own.principal.inverse();
	knQuat turn = { double(q.w()), double(q.x()), double(q.y()), double(q.z()) };
	*pose = knMakeFrame(fromBullet(place.getOrigin()), turn);
	*velocity = knMakeTwist(fromBullet(part.getAngularVelocity()), fromBullet(part.getLinearVelocity()));
}

void addForce(knPeerEngine* engine, int key, knTwist wrench) {
	engine->bodies[size_t(key)]->force += toBullet(wrench.lin);
	engine->bodies[size_t(key)]->torque += toBullet(wrench.ang);
}

// --- stepping --------------------------------------------------------------------------------------------------

// Bullet forgets forces after each of its steps.
void applyForces(knPeerEngine* engine) {
	for (auto& body : engine->bodies) {
		if (!body->fixed) {
			body->parts[0]->applyCentralForce(body->force);
			body->parts[0]->applyTorque(body->torque);
		}
	}
}

void forgetForces(knPeerEngine* engine) {
	for (auto& body : engine->bodies) {
		body->force.setZero();
		body->torque.setZero();
	}
}

// Adds the contacts of a part of the step. Bullet's normal points into the first body.
void readContacts(knPeerEngine* engine) {
	for (int i = 0; i < engine->dispatcher.getNumManifolds(); ++i) {
		const btPersistentManifold* manifold = engine->dispatcher.getManifoldByIndexInternal(i);
		for (int k = 0; k < manifold->getNumContacts(); ++k) {
			const btManifoldPoint& point = manifold->getContactPoint(k);
			btVector3 onA = point.m_normalWorldOnB * point.m_appliedImpulse +
							point.m_lateralFrictionDir1 * point.m_appliedImpulseLateral1 +
							point.m_lateralFrictionDir2 * point.m_appliedImpulseLateral2;
			knPeerContact contact = { keyOf(manifold->getBody0()),
									  keyOf(manifold->getBody1()),
									  fromBullet(point.getPositionWorldOnB()),
									  knNeg(fromBullet(point.m_normalWorldOnB)),
									  double(point.getDistance()),
									  knNeg(fromBullet(onA)) };
			engine->contacts.push_back(contact);
		}
	}
}

bool step(knPeerEngine* engine, double dt, knPeerReport* report) {
	try {
		engine->contacts.clear();
		for (int k = 0; k < engine->substeps; ++k) {
			applyForces(engine);
			engine->world.stepSimulation(btScalar(dt / engine->substeps), 0);
			readContacts(engine);
		}
		forgetForces(engine);
	} catch (const std::bad_alloc&) {
		return false;
	}
	report->iterations = engine->substeps * engine->world.getSolverInfo().m_numIterations;
	report->queries = engine->substeps;
	report->contacts = engine->contacts.data();
	report->contactCount = int(engine->contacts.size());
	return true;
}

} // namespace

const knPeerOps knPeerEngineOps = {
	KN_PEER_VERSION,
	"Bullet " KN_PEER_BULLET_VERSION,
	create,
	destroy,
	addBody,
	addJoint,
	setGravity,
	setState,
	getState,
	addForce,
	step,
};
