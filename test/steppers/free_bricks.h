// Free bricks that tumble into each other: what every stepper must conserve.
#pragma once

#include "world/fixture.h"

#define FREE_BRICKS 6
#define FREE_BRICK_MOMENTUM 1500.0 // kg m/s, of single bricks

static inline void momenta(const knWorld* world, const knBodyId* bodies, int count, knVec3* linear,
						   knVec3* angular) {
	*linear = *angular = knZero3();
	for (int i = 0; i < count; ++i) {
		knMassProps props = knModel_BodyMass(knWorld_Model(world), bodies[i]);
		knMat33 I = knRotateTensor(knWorld_BodyFrame(world, bodies[i]).q, &props.inertia);
		knVec3 p = knScale(props.mass, knWorld_BodyVelocity(world, bodies[i]));
		knVec3 spin = knMulMV(&I, knWorld_BodyAngularVelocity(world, bodies[i]));
		*linear = knAdd(*linear, p);
		*angular = knAdd(*angular, knAdd(spin, knCross(knWorld_BodyCenter(world, bodies[i]), p)));
	}
}

static inline knScene* newFreeBricks(knBodyId bodies[FREE_BRICKS]) {
	knTestRandom random = { 5 };
	knScene* scene = newScene(noGravity);
	for (int i = 0; i < FREE_BRICKS; ++i) {
		knVec3 at = knScale(2.0, testUnit3(&random));
		bodies[i] = newBox(scene, at, knV3(0.5, 0.3, 0.2 + 0.1 * i), material(0.5, 0.3));
		knBodyDef* def = knScene_EditBody(scene, bodies[i]);
		def->frame.q = testQuat(&random);
		def->velocity = knScale(-1.5, at);
		def->angularVelocity = testVec3(&random, 3.0);
	}
	return scene;
}

// They meet off centre with friction and bounce: linear and angular momentum of the whole stay. The world is gone afterwards.
static inline void checkFreeBricks(knWorld* world, const knBodyId bodies[FREE_BRICKS], double dt) {
	knVec3 p0, L0, p, L;
	momenta(world, bodies, FREE_BRICKS, &p0, &L0);
	int touched = 0;
	for (int i = 0; i < 200; ++i) {
		run(world, 1, dt);
		int count;
		knWorld_Contacts(world, &count);
		touched += count > 0;
	}
	momenta(world, bodies, FREE_BRICKS, &p, &L);
	assert_true(touched > 10);
	assert_near3(p, p0, 1e-12 * FREE_BRICK_MOMENTUM);
	assert_near3(L, L0, 1e-12 * FREE_BRICK_MOMENTUM * 10.0);
	knWorld_Destroy(world);
}
