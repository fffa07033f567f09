// Random trees for tests: every kind of joint, random branching, fixed or floating base, and a state with torques and
// forces.
#pragma once

#include "knuckle/articulated.h"

#include "support/kn_test.h"

#define MAX_LINKS 20
#define MAX_V (6 * MAX_LINKS)

static const knVec3 gravity = { 0.3, -0.2, -9.81 };

static knTestRandom dice = { 11 };

static inline double uniform(double lower, double upper) {
	return testUniform(&dice, lower, upper);
}

static inline knVec3 randomVector(void) {
	return testVec3(&dice, 1.0);
}

static inline knFrame randomFrame(void) {
	knVec3 p = knScale(0.5, randomVector());
	return knMakeFrame(p, knQuat_Exp(knScale(2.0, randomVector())));
}

// Mass properties of a random box.
static inline knMassProps randomMass(void) {
	double m = uniform(0.2, 3.0), a = uniform(0.05, 0.4), b = uniform(0.05, 0.4), c = uniform(0.05, 0.4);
	knMassProps props = { .mass = m, .center = knScale(0.3, randomVector()) };
	props.inertia =
		knDiagonal33(m / 3.0 * (b * b + c * c), m / 3.0 * (a * a + c * c), m / 3.0 * (a * a + b * b));
	props.inertia = knRotateTensor(randomFrame().q, &props.inertia);
	return props;
}

typedef struct Tree {
	int count, nq, nv;
	knTreeLink links[MAX_LINKS];
	knTree* tree;
	knTreeWork* work;
	double q[7 * MAX_LINKS], v[MAX_V], tau[MAX_V];
	knTwist forces[MAX_LINKS];
} Tree;

static const knJointKind kinds[] = { KN_JOINT_HINGE,    KN_JOINT_SLIDER, KN_JOINT_BALL,    KN_JOINT_UNIVERSAL,
									 KN_JOINT_CYLINDER, KN_JOINT_PLANAR, KN_JOINT_SLIDER2, KN_JOINT_SLIDER3,
									 KN_JOINT_FIXED,    KN_JOINT_FREE };

static inline void randomState(Tree* t) {
	knTree_NeutralCoordinates(t->tree, t->q);
	for (int i = 0; i < t->nv; ++i) {
		t->v[i] = uniform(-1.5, 1.5);
	}
	knTree_Integrate(t->tree, t->q, t->v, 1.0);
	for (int i = 0; i < t->nv; ++i) {
		t->v[i] = uniform(-1.0, 1.0);
		t->tau[i] = uniform(-1.0, 1.0);
	}
	for (int i = 0; i < t->count; ++i) {
		t->forces[i] = (knTwist){ randomVector(), randomVector() };
	}
}

static inline void makeTree(Tree* t, int count, bool floating, bool hinges) {
	t->count = count;
	// bushes, chains and what is between
	double reach = uniform(0.0, 1.0) < 0.3 ? 1.0 : (double)count;
	for (int i = 0; i < count; ++i) {
		knJointKind kind = hinges ? KN_JOINT_HINGE : kinds[testInt(&dice, 10)];
		t->links[i] = (knTreeLink){ .parent = i == 0 ? -1 : i - 1 - (int)uniform(0.0, fmin(reach, (double)i)),
									.kind = i == 0 && floating ? KN_JOINT_FREE : kind,
									.frameParent = randomFrame(),
									.frameChild = randomFrame(),
									.mass = randomMass() };
	}
	knError error = { 0 };
	t->tree = knTree_Create(t->links, count, NULL, &error);
	assert_non_null(t->tree);
	t->work = knTreeWork_Create(t->tree, NULL, &error);
	assert_non_null(t->work);
	t->nq = knTree_CoordinateCount(t->tree);
	t->nv = knTree_VelocityCount(t->tree);
	randomState(t);
}

static inline void freeTree(Tree* t) {
	knTreeWork_Destroy(t->work);
	knTree_Destroy(t->tree);
}

static inline double largest(const double* v, int n) {
	double result = 1e-30;
	for (int i = 0; i < n; ++i) {
		result = fmax(result, fabs(v[i]));
	}
	return result;
}

static inline double difference(const double* a, const double* b, int n) {
	double result = 0.0;
	for (int i = 0; i < n; ++i) {
		result = fmax(result, fabs(a[i] - b[i]));
	}
	return result;
}
