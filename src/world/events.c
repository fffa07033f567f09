// What a step leaves for the user: its contacts, which pairs began and ended touching, which joints gave way.
//
// Two solid shapes touch when a point has no gap or carries an impulse (a contact seen coming closes its gap
// during the step), a sensor and another shape when they overlap. The pairs that touched are kept in the
// state, sorted; begin and end are the differences of two sorted lists.

#include "world/world_internal.h"

#include <string.h>

#include "core/log.h"
#include "core/tasks.h"

#define CONTACT_GRAIN 128

static bool isSensorPair(const knModel* model, int shapeA, int shapeB) {
	return model->shapes[shapeA].sensor || model->shapes[shapeB].sensor;
}

void knWorld_ClearReadout(knWorld* world) {
	world->contacts.count = 0;
	world->beginEvents.count = 0;
	world->endEvents.count = 0;
	world->jointEvents.count = 0;
	world->bodyContacts.count = 0;
	world->queries.ready = false;
}

knContact knWorld_MakeContact(const knWorld* world, const knStepContact* contact) {
	const knModel* model = world->model;
	knContact result = {
		.shapeA = knModel_ShapeId(model, contact->shapeA),
		.shapeB = knModel_ShapeId(model, contact->shapeB),
		.bodyA = knModel_BodyId(model, model->shapes[contact->shapeA].body),
		.bodyB = knModel_BodyId(model, model->shapes[contact->shapeB].body),
		.point = contact->point,
		.impulse = contact->impulse,
	};
	return result;
}

// --- contacts --------------------------------------------------------------------------------------------

typedef struct PublishTask {
	knWorld* world;
	const knStepContext* context;
} PublishTask;

static void publishRange(int begin, int end, int worker, void* argument) {
	(void)worker;
	const PublishTask* task = argument;
	const knStepContact* contacts = task->context->contacts;
	knContact* items = task->world->contacts.items;
	for (int i = begin; i < end; ++i) {
		// the points of a pair follow each other and have the same names
		bool same = i > begin && contacts[i].shapeA == contacts[i - 1].shapeA &&
					contacts[i].shapeB == contacts[i - 1].shapeB;
		if (!same) {
			items[i] = knWorld_MakeContact(task->world, &contacts[i]);
			continue;
		}
		items[i] = items[i - 1];
		items[i].point = contacts[i].point;
		items[i].impulse = contacts[i].impulse;
	}
}

// All, then those of sensors are taken out.
static bool publishContacts(knWorld* world, const knStepContext* context) {
	if (!KN_ARRAY_RESERVE(&world->allocator, &world->contacts, context->contactCount)) {
		return false;
	}
	PublishTask task = { world, context };
	knTasks_For(&context->tasks, context->contactCount, CONTACT_GRAIN, publishRange, &task);
	int kept = 0;
	for (int i = 0; i < context->contactCount; ++i) {
		const knStepContact* contact = &context->contacts[i];
		if (isSensorPair(world->model, contact->shapeA, contact->shapeB)) {
			continue;
		}
		if (kept < i) {
			world->contacts.items[kept] = world->contacts.items[i];
		}
		kept += 1;
	}
	world->contacts.count = kept;
	return true;
}

// --- touching --------------------------------------------------------------------------------------------

// The pairs that touched in this step, sorted like the contacts.
static knFramePair* listTouching(const knStepContext* context, int* count) {
	knFramePair* pairs = KN_SCRATCH(context->arena, knFramePair, context->contactCount);
	*count = 0;
	for (int i = 0; pairs != NULL && i < context->contactCount; ++i) {
		const knStepContact* contact = &context->contacts[i];
		bool touches = contact->point.separation <= 0.0 || knLengthSquared(contact->impulse) > 0.0;
		bool listed =
			*count > 0 && pairs[*count - 1].a == contact->shapeA && pairs[*count - 1].b == contact->shapeB;
		if (touches && !listed) {
			pairs[(*count)++] = (knFramePair){ contact->shapeA, contact->shapeB };
		}
	}
	return pairs;
}

static knTouchEvent makeTouch(const knModel* model, knFramePair pair) {
	knTouchEvent event = { knModel_ShapeId(model, pair.a), knModel_ShapeId(model, pair.b),
						   isSensorPair(model, pair.a, pair.b) };
	return event;
}

static int comparePairs(knFramePair p, knFramePair q) {
	if (p.a != q.a) {
		return p.a < q.a ? -1 : 1;
	}
	return p.b < q.b ? -1 : p.b > q.b;
}

// Merges two sorted lists: what is only in the new one began, what is only in the old one ended.
static bool publishTouches(knWorld* world, const knFramePair* now, int nowCount) {
	const knFramePair* old = world->state.touching;
	int oldCount = (int)world->state.header->touchCount;
	for (int i = 0, k = 0; i < nowCount || k < oldCount;) {
		int order = i == nowCount ? 1 : (k == oldCount ? -1 : comparePairs(now[i], old[k]));
		if (order < 0 &&
			!KN_ARRAY_PUSH(&world->allocator, &world->beginEvents, makeTouch(world->model, now[i]))) {
			return false;
		}
		if (order > 0 &&
			!KN_ARRAY_PUSH(&world->allocator, &world->endEvents, makeTouch(world->model, old[k]))) {
			return false;
		}
		i += order <= 0;
		k += order >= 0;
	}
	return true;
}

static bool keepTouching(knWorld* world, const knFramePair* pairs, int count) {
	knState* state = &world->state;
	if ((uint64_t)count > state->header->touchCapacity &&
		!knState_Grow(state, world->model, (size_t)count, (size_t)state->header->privateCapacity,
					  &world->allocator)) {
		return false;
	}
	knJournal_Keep(&world->journal, state, state->touching,
				   sizeof(*pairs) * (size_t)state->header->touchCount);
	if (count > 0) {
		memcpy(state->touching, pairs, sizeof(*pairs) * (size_t)count);
	}
	state->header->touchCount = (uint64_t)count;
	return true;
}

// --- joints that give way --------------------------------------------------------------------------------

static const char* jointName(const knModel* model, int index) {
	return index < model->jointCount ? knScene_GetJoint(model->scene, knModel_JointId(model, index))->name
									 : "attached";
}

static bool releaseOverloaded(knWorld* world) {
	knState* state = &world->state;
	if (world->model->breakableCount == 0 && state->header->attachedCount == 0) {
		return true;
	}
	for (int j = 0; j < knState_JointCount(world->model); ++j) {
		if (!knState_JointActive(state, world->model, j)) {
			continue;
		}
		double limit = knState_Joint(state, world->model, j)->maxForce;
		double force = knLength(state->joint[j].reaction.lin);
		if (limit <= 0.0 || force <= limit) {
			continue;
		}
		knJointEvent event = { knWorld_JointIdAt(world, j), force };
		if (!KN_ARRAY_PUSH(&world->allocator, &world->jointEvents, event)) {
			return false;
		}
		knLog_Write(&world->log, KN_LOG_INFO, "joint '%s' gave way at %g N; it holds %g N",
					jointName(world->model, j), force, limit);
		knJournal_Keep(&world->journal, state, &state->joint[j], sizeof(state->joint[j]));
		knWorld_SyncPoses(world);
		state->joint[j].enabled = 0;
		state->header->edits += 1;
		if (j >= world->model->jointCount) {
			knWorld_FreeJointSlot(world, j);
		}
	}
	return true;
}

knStatus knWorld_Publish(knWorld* world, const knStepContext* context) {
	int touchCount;
	knFramePair* touching = listTouching(context, &touchCount);
	bool done = touching != NULL && publishContacts(world, context) &&
				publishTouches(world, touching, touchCount) && keepTouching(world, touching, touchCount) &&
				releaseOverloaded(world);
	return done ? KN_OK
				: knError_Set(context->error, KN_NO_MEMORY, "step", "there is no memory for the events");
}

// --- reading ---------------------------------------------------------------------------------------------

const knContact* knWorld_Contacts(const knWorld* world, int* count) {
	*count = world->contacts.count;
	return world->contacts.items;
}

const knTouchEvent* knWorld_BeginEvents(const knWorld* world, int* count) {
	*count = world->beginEvents.count;
	return world->beginEvents.items;
}

const knTouchEvent* knWorld_EndEvents(const knWorld* world, int* count) {
	*count = world->endEvents.count;
	return world->endEvents.items;
}

const knJointEvent* knWorld_JointEvents(const knWorld* world, int* count) {
	*count = world->jointEvents.count;
	return world->jointEvents.items;
}
