// A world that another engine steps (peer_world.h). Keys of bodies are slots of the scene plus one; 0 is the world.
#include "peers/peer_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "peers/peer_engine.h"
#include "world/world_internal.h"

#ifdef KN_PEER_MODULES
#include <dlfcn.h>
#include <unistd.h>
#endif

#define OPEN_JOINT 1e-4 // m: wider gaps at the start are refused

static const struct {
	const char *name, *package;
} peers[] = { { "ode", "libode-dev" }, { "bullet", "libbullet-dev" } };

#define PEER_COUNT ((int)(sizeof(peers) / sizeof(peers[0])))

// What the engine was last told of a body, or told us.
typedef struct Seen {
	knFrame pose;
	knTwist velocity;
} Seen;

struct knPeerWorld {
	knWorld* world;
	knStepperOps ops; // in place of the world's own, so that it bears the peer's name
	const knStepperOps* before;
	char name[32];
	void* module;
	const knPeerOps* engineOps;
	knPeerEngine* engine;
	const knModel* model; // whose bodies the engine has; retained
	int keyCount;
	Seen* seen; // [keyCount]
	knVec3 gravity;
};

// --- the module ------------------------------------------------------------------------------------------------

static int findPeer(const char* name) {
	for (int i = 0; i < PEER_COUNT; ++i) {
		if (strcmp(peers[i].name, name) == 0) {
			return i;
		}
	}
	return -1;
}

bool knPeer_IsName(const char* name) {
	return findPeer(name) >= 0;
}

#ifdef KN_PEER_MODULES

// Modules lie beside the tool.
static void* openModule(const char* name) {
	char path[4096];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 64);
	if (length <= 0) {
		return NULL;
	}
	path[length] = '\0';
	char* slash = strrchr(path, '/');
	snprintf(slash + 1, 64, "peers/knuckle_peer_%s.so", name);
	return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static const knPeerOps* moduleOps(void* module) {
	const knPeerOps* ops = module != NULL ? dlsym(module, KN_PEER_SYMBOL) : NULL;
	return ops != NULL && ops->version == KN_PEER_VERSION ? ops : NULL;
}

static void closeModule(void* module) {
	if (module != NULL) {
		dlclose(module);
	}
}

#else

static void* openModule(const char* name) {
	(void)name;
	return NULL;
}

static const knPeerOps* moduleOps(void* module) {
	(void)module;
	return NULL;
}

static void closeModule(void* module) {
	(void)module;
}

#endif

static knStatus load(const char* name, void** module, const knPeerOps** ops, knError* error) {
	int index = findPeer(name);
	*module = index >= 0 ? openModule(name) : NULL;
	*ops = moduleOps(*module);
	if (*ops != NULL) {
		return KN_OK;
	}
	return knError_Set(error, KN_UNSUPPORTED, "peer",
					   "this build has no engine '%s' to compare with; install Debian's %s and g++, then "
					   "configure with -DKN_PEERS=ON and build again",
					   name, index >= 0 ? peers[index].package : "package");
}

knStatus knPeer_Check(const char* name, knError* error) {
	void* module;
	const knPeerOps* ops;
	knStatus status = load(name, &module, &ops, error);
	closeModule(module);
	return status;
}

// --- what peers can do -----------------------------------------------------------------------------------------

static knStatus refuse(knError* error, const char* kind, const char* name, const char* reason) {
	char element[128];
	snprintf(element, sizeof(element), "%s '%s'", kind, name != NULL ? name : "");
	return knError_Set(error, KN_UNSUPPORTED, element, "%s; other engines are not given that", reason);
}

static knStatus checkShape(const knModel* model, int index, knError* error) {
	const knModelShape* shape = &model->shapes[index];
	knGeomKind kind = knGeom_Kind(shape->geom);
	knFilter plain = knFilter_Default();
	const char* name = knModel_BodyName(model, shape->body);
	if (kind != KN_GEOM_SPHERE && kind != KN_GEOM_CAPSULE && kind != KN_GEOM_BOX && kind != KN_GEOM_PLANE) {
		return refuse(error, "body", name, "has a shape other than spheres, capsules, boxes and planes");
	}
	if (shape->rollingFriction != 0.0) {
		return refuse(error, "body", name, "has rolling friction");
	}
	if (shape->filter.category != plain.category || shape->filter.mask != plain.mask ||
		shape->filter.group != plain.group) {
		return refuse(error, "body", name, "has a collision filter");
	}
	for (int i = 0; i < index; ++i) {
		const knModelShape* other = &model->shapes[i];
		if (other->body == shape->body &&
			(other->friction != shape->friction || other->restitution != shape->restitution)) {
			return refuse(error, "body", name, "has shapes of different materials");
		}
	}
	return KN_OK;
}

static knStatus checkBody(const knModel* model, int index, knError* error) {
	const char* name = knModel_BodyName(model, index);
	if (model->bodyKind[index] == KN_BODY_KINEMATIC) {
		return refuse(error, "body", name, "is moved by its own velocity");
	}
	if (model->gravityScale[index] != 1.0 || model->linearDamping[index] != 0.0 ||
		model->angularDamping[index] != 0.0) {
		return refuse(error, "body", name, "has damping or a gravity of its own");
	}
	return KN_OK;
}

static bool isPlainAxis(const knJointAxis* axis) {
	return !axis->limited && axis->friction == 0.0 && axis->bearing == 0.0 && axis->damping == 0.0 &&
		   axis->motorMode == KN_MOTOR_OFF && axis->stiffness == 0.0;
}

static knStatus checkJoint(const knModel* model, int index, knError* error) {
	const knJoint* joint = &model->joints[index];
	const knScene* scene = model->scene;
	const char* name = knScene_GetJoint(scene, knModel_JointId(model, index))->name;
	if (joint->kind != KN_JOINT_BALL && joint->kind != KN_JOINT_HINGE && joint->kind != KN_JOINT_FIXED) {
		return refuse(error, "joint", name, "is neither ball nor hinge nor fixed");
	}
	bool plain =
		!joint->coneLimited && joint->reachCount == 0 && !joint->twistLimited && joint->maxForce == 0.0;
	for (int i = 0; i < joint->nv; ++i) {
		plain = plain && isPlainAxis(&joint->axis[i]);
	}
	if (!plain || !model->jointEnabled[index]) {
		return refuse(error, "joint", name, "has limits, a motor, a spring, friction, or is off");
	}
	return KN_OK;
}

static knStatus checkModel(const knModel* model, const knSettings* settings, knError* error) {
	knStatus status = KN_OK;
	for (int i = 0; i < model->shapeCount && status == KN_OK; ++i) {
		status = checkShape(model, i, error);
	}
	for (int i = 1; i < model->bodyCount && status == KN_OK; ++i) {
		status = checkBody(model, i, error);
	}
	for (int i = 0; i < model->jointCount && status == KN_OK; ++i) {
		status = checkJoint(model, i, error);
	}
	if (status == KN_OK && settings->rolling > 0.0) {
		status = refuse(error, "setting", "rolling", "asks for rolling friction");
	}
	return status;
}

// --- bringing in -----------------------------------------------------------------------------------------------

static int denseOf(const knModel* model, int key) {
	return key == 0 ? 0 : model->slotToBody[key - 1];
}

static int keyOf(const knModel* model, int dense) {
	return model->bodyToSlot[dense] + 1;
}

static double combineFriction(double a, double b, void* context) {
	const knPeerWorld* peer = context;
	return knCombine_Apply(peer->model->frictionCombine, a, b);
}

static double combineRestitution(double a, double b, void* context) {
	const knPeerWorld* peer = context;
	return knCombine_Apply(peer->model->restitutionCombine, a, b);
}

// Not authored as excluded, nor neighbours by a joint.
static bool mayTouch(int keyA, int keyB, void* context) {
	const knModel* model = ((const knPeerWorld*)context)->model;
	int a = denseOf(model, keyA < keyB ? keyA : keyB), b = denseOf(model, keyA < keyB ? keyB : keyA);
	int low = 0, high = model->excludedCount;
	while (low < high) {
		int middle = low + (high - low) / 2;
		knFramePair pair = model->excluded[middle];
		if (pair.a == a && pair.b == b) {
			return false;
		}
		if (pair.a < a || (pair.a == a && pair.b < b)) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return true;
}

// `shapes` has room for all of the model's.
static bool addBody(knPeerWorld* peer, int key, const knModel* model, knPeerShape* shapes) {
	const knState* state = &peer->world->state;
	int dense = denseOf(model, key);
	knPeerBody body = { .fixed = model->bodyKind[dense] != KN_BODY_DYNAMIC || dense == 0,
						.mass = model->mass[dense],
						.inertia = model->inertiaLocal[dense],
						.pose = state->pose[dense],
						.velocity = state->velocity[dense],
						.shapes = shapes };
	for (int i = 0; i < model->shapeCount; ++i) {
		const knModelShape* shape = &model->shapes[i];
		if (shape->body == dense && !shape->sensor) {
			body.friction = shape->friction;
			body.restitution = shape->restitution;
			shapes[body.shapeCount++] =
				(knPeerShape){ knGeom_Kind(shape->geom), knGeom_Size(shape->geom), shape->local };
		}
	}
	peer->seen[key] = (Seen){ body.pose, body.velocity };
	return peer->engineOps->addBody(peer->engine, key, &body);
}

static knStatus addJoint(knPeerWorld* peer, const knModel* model, int index, knError* error) {
	const knJoint* joint = &model->joints[index];
	const knFrame* pose = peer->world->state.pose;
	knFrame atParent = knMulF(pose[joint->parent], joint->frameParent);
	knFrame atChild = knMulF(pose[joint->child], joint->frameChild);
	if (knDistance(atParent.p, atChild.p) > OPEN_JOINT) {
		return refuse(error, "joint", knScene_GetJoint(model->scene, knModel_JointId(model, index))->name,
					  "is open at the start");
	}
	knPeerJoint made = { .kind = joint->kind == KN_JOINT_BALL    ? KN_PEER_BALL
								 : joint->kind == KN_JOINT_HINGE ? KN_PEER_HINGE
																 : KN_PEER_FIXED,
						 .a = keyOf(model, joint->child),
						 .b = keyOf(model, joint->parent),
						 .anchor = atParent.p,
						 .axis = knRotate(atParent.q, knV3(1.0, 0.0, 0.0)) };
	return peer->engineOps->addJoint(peer->engine, &made)
			   ? KN_OK
			   : knError_Set(error, KN_NO_MEMORY, "peer", "there is no memory for a joint");
}

// The bodies that the engine does not have yet. Scripts add bodies; what they take away the engine could not follow.
static knStatus adoptModel(knPeerWorld* peer, const knModel* model, knError* error) {
	knStatus status = checkModel(model, &peer->world->settings, error);
	if (status != KN_OK) {
		return status;
	}
	const knModel* old = peer->model;
	if (old != NULL && (old->jointCount != model->jointCount || model->bodyCount != model->bodySlots + 1)) {
		return knError_Set(error, KN_UNSUPPORTED, "scene",
						   "its script changes joints or removes bodies; other engines are not given that");
	}
	int count = model->bodySlots + 1;
	Seen* seen = realloc(peer->seen, (size_t)count * sizeof(Seen));
	knPeerShape* shapes = malloc((size_t)(model->shapeCount + 1) * sizeof(knPeerShape));
	peer->seen = seen != NULL ? seen : peer->seen;
	bool added = seen != NULL && shapes != NULL;
	knModel_Retain(model);
	peer->model = model; // engines ask for pairs of the new bodies at once
	for (int key = peer->keyCount; added && key < count; ++key) {
		added = addBody(peer, key, model, shapes);
	}
	free(shapes);
	peer->keyCount = count;
	if (!added) {
		status = knError_Set(error, KN_NO_MEMORY, "peer", "there is no memory for the bodies");
	}
	for (int j = 0; old == NULL && j < model->jointCount && status == KN_OK; ++j) {
		status = addJoint(peer, model, j, error);
	}
	if (old != NULL) {
		knModel_Release(old);
	}
	return status;
}

// Poses and velocities that somebody else wrote, forces and gravity.
static knStatus bringIn(knPeerWorld* peer, knError* error) {
	const knState* state = &peer->world->state;
	if (peer->world->model != peer->model) {
		knStatus status = adoptModel(peer, peer->world->model, error);
		if (status != KN_OK) {
			return status;
		}
	}
	const knModel* model = peer->model;
	for (int i = 0; i < model->shapeCount; ++i) {
		if (state->shapeEnabled[i] == 0) {
			return knError_Set(error, KN_UNSUPPORTED, "scene",
							   "its script takes shapes away; other engines are not given that");
		}
	}
	if (knDistance(peer->gravity, state->header->gravity) > 0.0) {
		peer->gravity = state->header->gravity;
		peer->engineOps->setGravity(peer->engine, peer->gravity);
	}
	for (int key = 1; key < peer->keyCount; ++key) {
		int dense = denseOf(model, key);
		Seen now = { state->pose[dense], state->velocity[dense] };
		if (memcmp(&now, &peer->seen[key], sizeof(now)) != 0) {
			peer->engineOps->setState(peer->engine, key, now.pose, now.velocity);
		}
		peer->engineOps->addForce(peer->engine, key, state->force[dense]);
	}
	return KN_OK;
}

// --- bringing back ---------------------------------------------------------------------------------------------

static knStatus bringBack(knPeerWorld* peer, double dt, knError* error) {
	const knModel* model = peer->model;
	for (int key = 1; key < peer->keyCount; ++key) {
		Seen* seen = &peer->seen[key];
		peer->engineOps->getState(peer->engine, key, &seen->pose, &seen->velocity);
		if (!knIsFiniteF(seen->pose) || !knIsFinite3(seen->velocity.ang) ||
			!knIsFinite3(seen->velocity.lin)) {
			return knError_Set(error, KN_DIVERGED, knModel_BodyName(model, denseOf(model, key)),
							   "its motion is no longer finite");
		}
		seen->pose.q = knNormalizeQ(seen->pose.q);
	}
	knState* state = &peer->world->state;
	double work = 0.0;
	for (int key = 1; key < peer->keyCount; ++key) {
		int dense = denseOf(model, key);
		state->pose[dense] = peer->seen[key].pose;
		state->velocity[dense] = peer->seen[key].velocity;
		work += dt * (knDot(state->force[dense].lin, state->velocity[dense].lin) +
					  knDot(state->force[dense].ang, state->velocity[dense].ang));
	}
	peer->world->report.work = work;
	knState_UpdateCoordinates(state, model);
	state->header->time += dt;
	state->header->step += 1;
	memset(state->force, 0, sizeof(*state->force) * (size_t)model->bodyCount);
	return KN_OK;
}

static bool publishContacts(knPeerWorld* peer, const knPeerReport* report) {
	knWorld* world = peer->world;
	if (!KN_ARRAY_RESERVE(&world->allocator, &world->contacts, report->contactCount)) {
		return false;
	}
	for (int i = 0; i < report->contactCount; ++i) {
		const knPeerContact* contact = &report->contacts[i];
		world->contacts.items[world->contacts.count++] =
			(knContact){ .bodyA = knModel_BodyId(peer->model, denseOf(peer->model, contact->a)),
						 .bodyB = knModel_BodyId(peer->model, denseOf(peer->model, contact->b)),
						 .point = { .pointA = contact->point,
									.pointB = contact->point,
									.normal = contact->normal,
									.separation = contact->separation },
						 .impulse = contact->impulse };
	}
	return true;
}

knStatus knPeerWorld_Step(knPeerWorld* peer, double dt, knError* error) {
	knWorld* world = peer->world;
	world->report = (knStepReport){ 0 };
	knWorld_ClearReadout(world);
	knStatus status = bringIn(peer, error);
	knPeerReport report = { 0 };
	double start = world->clock != NULL ? world->clock(world->clockContext) : 0.0;
	if (status == KN_OK && !peer->engineOps->step(peer->engine, dt, &report)) {
		status = knError_Set(error, KN_NO_MEMORY, "peer", "the engine gave up a step");
	}
	double end = world->clock != NULL ? world->clock(world->clockContext) : 0.0;
	if (status == KN_OK) {
		status = bringBack(peer, dt, error);
	}
	if (status == KN_OK && !publishContacts(peer, &report)) {
		status = knError_Set(error, KN_NO_MEMORY, "peer", "there is no memory for contacts");
	}
	world->report.status = status;
	world->report.contacts = report.queries > 0 ? report.contactCount / report.queries : 0;
	world->report.iterations = report.iterations;
	world->report.queries = report.queries;
	world->report.stepTime = end - start;
	return status;
}

// --- opening ---------------------------------------------------------------------------------------------------

static knStatus refuseStep(knStepContext* context, double dt) {
	(void)dt;
	return knError_Set(context->error, KN_UNSUPPORTED, "world", "another engine steps this world");
}

static knStatus startEngine(knPeerWorld* peer, bool best, knError* error) {
	peer->gravity = peer->world->state.header->gravity;
	knPeerSetup setup = { .best = best,
						  .gravity = peer->gravity,
						  .friction = combineFriction,
						  .restitution = combineRestitution,
						  .mayTouch = mayTouch,
						  .context = peer };
	peer->engine = peer->engineOps->create(&setup);
	return peer->engine != NULL ? adoptModel(peer, peer->world->model, error)
								: knError_Set(error, KN_NO_MEMORY, "peer", "the engine does not start");
}

knPeerWorld* knPeerWorld_Open(const char* name, bool best, knWorld* world, knError* error) {
	knPeerWorld* peer = calloc(1, sizeof(knPeerWorld));
	if (peer == NULL) {
		knError_Set(error, KN_NO_MEMORY, "peer", "there is no memory for a peer");
		return NULL;
	}
	snprintf(peer->name, sizeof(peer->name), "%s", name);
	peer->world = world;
	peer->before = world->ops;
	peer->ops = *world->ops;
	peer->ops.name = peer->name;
	peer->ops.step = refuseStep;
	world->ops = &peer->ops;
	if (load(name, &peer->module, &peer->engineOps, error) != KN_OK ||
		startEngine(peer, best, error) != KN_OK) {
		knPeerWorld_Close(peer);
		return NULL;
	}
	return peer;
}

void knPeerWorld_Close(knPeerWorld* peer) {
	if (peer == NULL) {
		return;
	}
	peer->world->ops = peer->before;
	if (peer->engine != NULL) {
		peer->engineOps->destroy(peer->engine);
	}
	closeModule(peer->module);
	if (peer->model != NULL) {
		knModel_Release(peer->model);
	}
	free(peer->seen);
	free(peer);
}

const char* knPeerWorld_Title(const knPeerWorld* peer) {
	return peer->engineOps->title;
}
