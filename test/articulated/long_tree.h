// Long chains and large trees for tests: links of 0.1 m and about 0.1 kg, hinges with alternating axes or joints of any
// kind, stretched straight, curled up or in any pose.
#pragma once

#include "knuckle/articulated.h"

#include "support/kn_test.h"

typedef struct LongTree {
	int count, nq, nv;
	knTreeLink* links;
	knTree* tree;
	knTreeWork* work;
	double *q, *v, *tau, *qdd, *check;
	knTwist* forces;
} LongTree;

typedef enum Pose { STRAIGHT, CURLED, ANY } Pose;

typedef struct LongTreeOptions {
	int count;
	int branching; // 0: a chain; else parents are among the last `branching` links
	bool anyKind;  // joints of all kinds but free and fixed ones
	bool floating;
	Pose pose;
	double speed;
} LongTreeOptions;

static knTestRandom longDice = { 5 };

static inline double longUniform(double lower, double upper) {
	return testUniform(&longDice, lower, upper);
}

static inline knMassProps rodMass(void) {
	double m = longUniform(0.08, 0.12);
	double along = 0.5 * m * 0.02 * 0.02, across = m * (0.1 * 0.1 + 3.0 * 0.02 * 0.02) / 12.0;
	return (knMassProps){ m, knV3(0.0, 0.05, 0.0), knDiagonal33(across, along, across) };
}

static inline knTreeLink rodLink(const LongTreeOptions* options, int i) {
	static const knJointKind kinds[] = { KN_JOINT_HINGE,     KN_JOINT_SLIDER, KN_JOINT_BALL,
										 KN_JOINT_UNIVERSAL, KN_JOINT_HINGE,  KN_JOINT_CYLINDER };
	knQuat turn = i % 2 == 0 ? knIdentityQ() : knQuat_Exp(knV3(0.0, 1.5707963267948966, 0.0));
	knTreeLink link = { .parent = i - 1, .kind = KN_JOINT_HINGE, .mass = rodMass() };
	if (options->branching > 0 && i > 0) {
		int most = options->branching < i ? options->branching : i;
		link.parent = i - 1 - testInt(&longDice, most);
		turn = knQuat_Exp(testVec3(&longDice, 1.0));
	}
	if (options->anyKind) {
		link.kind = kinds[testInt(&longDice, 6)];
	}
	if (i == 0 && options->floating) {
		link.kind = KN_JOINT_FREE;
	}
	link.frameParent = knMakeFrame(knV3(0.0, i > 0 ? 0.1 : 0.0, 0.0), turn);
	link.frameChild = knMakeFrame(knZero3(), turn);
	return link;
}

static inline void poseLongTree(LongTree* t, const LongTreeOptions* options) {
	knTree_NeutralCoordinates(t->tree, t->q);
	for (int i = 0; i < t->nv; ++i) {
		t->v[i] = options->pose == ANY ? longUniform(-1.0, 1.0) : options->pose == CURLED ? 0.3 : 0.0;
	}
	knTree_Integrate(t->tree, t->q, t->v, 1.0);
	for (int i = 0; i < t->nv; ++i) {
		t->v[i] = longUniform(-options->speed, options->speed);
		t->tau[i] = longUniform(-1.0, 1.0);
	}
	for (int i = 0; i < t->count; ++i) {
		t->forces[i] = (knTwist){ testVec3(&longDice, 0.1), testVec3(&longDice, 0.1) };
	}
}

static inline void makeLongTree(LongTree* t, const LongTreeOptions* options) {
	*t = (LongTree){ .count = options->count };
	size_t n = (size_t)options->count;
	t->links = calloc(n, sizeof(knTreeLink));
	for (int i = 0; i < options->count; ++i) {
		t->links[i] = rodLink(options, i);
	}
	knError error = { 0 };
	t->tree = knTree_Create(t->links, options->count, NULL, &error);
	assert_non_null(t->tree);
	t->work = knTreeWork_Create(t->tree, NULL, &error);
	assert_non_null(t->work);
	t->nq = knTree_CoordinateCount(t->tree);
	t->nv = knTree_VelocityCount(t->tree);
	t->q = calloc((size_t)t->nq, sizeof(double));
	double** vectors[] = { &t->v, &t->tau, &t->qdd, &t->check };
	for (int i = 0; i < 4; ++i) {
		*vectors[i] = calloc((size_t)t->nv, sizeof(double));
	}
	t->forces = calloc(n, sizeof(knTwist));
	poseLongTree(t, options);
}

static inline void freeLongTree(LongTree* t) {
	knTreeWork_Destroy(t->work);
	knTree_Destroy(t->tree);
	void* all[] = { t->links, t->q, t->v, t->tau, t->qdd, t->check, t->forces };
	for (int i = 0; i < 7; ++i) {
		free(all[i]);
	}
}

static inline double largestOf(const double* x, int n) {
	double most = 0.0;
	for (int i = 0; i < n; ++i) {
		most = fmax(most, fabs(x[i]));
	}
	return most;
}

static inline double distanceOf(const double* a, const double* b, int n) {
	double most = 0.0;
	for (int i = 0; i < n; ++i) {
		most = fmax(most, isfinite(a[i] - b[i]) ? fabs(a[i] - b[i]) : INFINITY);
	}
	return most;
}
