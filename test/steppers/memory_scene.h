// Three balls, two joints and an attached slot, and an edit that removes the first ball: for the steppers' parts of the state.
#pragma once

#include "world/fixture.h"

#include "model/state.h"

typedef struct MemoryScene {
	knAllocator allocator;
	knScene* scene;
	knBodyId bodies[3];
	knModel *before, *after; // after: of the edit
	knState from, to;
} MemoryScene;

static inline void openMemoryScene(MemoryScene* m, const char* stepper) {
	*m = (MemoryScene){ .allocator = knAllocator_Default(), .scene = newScene(noGravity) };
	knScene_Def(m->scene)->jointCapacity = 1;
	for (int i = 0; i < 3; ++i) {
		m->bodies[i] = newBall(m->scene, knV3(2.0 * i, 0.0, 0.0), 0.5, knZero3(), material(0.5, 0.0));
	}
	for (int i = 0; i < 2; ++i) {
		knJointDef def = jointAt(m->scene, KN_JOINT_BALL, m->bodies[i], m->bodies[i + 1],
								 knV3(2.0 * i + 1.0, 0.0, 0.0), knV3(1.0, 0.0, 0.0));
		newJoint(m->scene, &def);
	}
	m->before = knModel_Create(m->scene, NULL);
	assert_non_null(m->before);
	assert_true(knState_Create(&m->from, m->before, stepper, 0, &m->allocator));
}

// Contacts of all pairs of balls, with impulses 10, 11, 12.
static inline void fillContacts(knContactMemory* contacts) {
	const int32_t pairs[3][2] = { { 0, 1 }, { 0, 2 }, { 1, 2 } };
	for (int i = 0; i < 3; ++i) {
		contacts[i] = (knContactMemory){
			.shapeA = pairs[i][0], .shapeB = pairs[i][1], .feature = (uint64_t)i, .normal = 10.0 + i
		};
	}
}

// The first ball is removed; the stepper's own part is the test's to carry over.
static inline void editMemoryScene(MemoryScene* m) {
	assert_ok(knScene_RemoveBody(m->scene, m->bodies[0], NULL));
	m->after = knModel_Create(m->scene, NULL);
	assert_non_null(m->after);
	assert_true(knState_Migrate(&m->to, m->after, &m->from, m->before, &m->allocator));
}

// Of three contacts the one between the other two balls is left.
static inline void checkContactsLeft(const knContactMemory* contacts, int count) {
	assert_int_equal(count, 1);
	assert_near(contacts[0].normal, 12.0, 0.0);
	assert_int_equal(contacts[0].shapeA, 0);
	assert_int_equal(contacts[0].shapeB, 1);
}

static inline void closeMemoryScene(MemoryScene* m) {
	knState_Destroy(&m->from, &m->allocator);
	knModel_Release(m->before);
	if (m->after != NULL) {
		knState_Destroy(&m->to, &m->allocator);
		knModel_Release(m->after);
	}
	knScene_Destroy(m->scene);
}
