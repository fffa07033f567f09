// The angular momentum of an island that touches nothing but itself. A step on the velocities of its end, and places that are
// closed without velocities, keep it to the order of the step; what is missing is given back as one turn of the whole island about
// its centre of mass, which no joint notices.

#include "dynamics/mixed_internal.h"

typedef struct Sum {
	double mass;
	knVec3 center, momentum; // sums of m x, m v
	knVec3 angular;          // about the origin
	knMat33 inertia;         // likewise
} Sum;

static void addBody(Sum* sum, double mass, knVec3 x, knVec3 v, knVec3 spin, const knMat33* inertia) {
	const double xx = knLengthSquared(x);
	knMat33 far = knDiagonal33(mass * xx, mass * xx, mass * xx);
	const knMat33 outer =
		knMakeMat33(knScale(-mass * x.x, x), knScale(-mass * x.y, x), knScale(-mass * x.z, x));
	far = knAddMM(&far, &outer);
	far = knAddMM(&far, inertia);
	sum->inertia = knAddMM(&sum->inertia, &far);
	sum->mass += mass;
	sum->center = knMulAdd(sum->center, mass, x);
	sum->momentum = knMulAdd(sum->momentum, mass, v);
	sum->angular = knAdd(knMulAdd(sum->angular, mass, knCross(x, v)), spin);
}

static knVec3 angularAboutCenter(const Sum* sum) {
	return knSub(sum->angular, knScale(1.0 / sum->mass, knCross(sum->center, sum->momentum)));
}

// Of poses and velocities, about `origin`, which keeps the digits of islands that are far away.
static Sum gather(const knMixedRun* run, const knFrame* pose, const knTwist* velocity, knVec3 origin) {
	const knModel* model = run->in->model;
	Sum sum = { 0 };
	for (int i = 0; i < run->island->bodyCount; ++i) {
		const int b = run->island->bodies[i];
		const knMat33 inertia = knRotateTensor(pose[b].q, &model->inertiaLocal[b]);
		addBody(&sum, model->mass[b], knSub(pose[b].p, origin), velocity[b].lin,
				knMulMV(&inertia, velocity[b].ang), &inertia);
	}
	return sum;
}

// Points that are near but carry nothing tie an island to nothing.
static bool isFree(const knMixedRun* run) {
	bool free = true;
	for (int k = 0; k < run->island->jointCount; ++k) {
		const knEquationJoint* joint = &run->joints[k];
		free = free && run->bodies[joint->parent].mass > 0.0 && run->bodies[joint->child].mass > 0.0;
	}
	for (int k = 0; k < run->island->pointCount; ++k) {
		const knMixedPoint* point = &run->points[k];
		const bool yields = run->bodies[point->a].mass > 0.0 && run->bodies[point->b].mass > 0.0;
		free = free && (yields || run->in->contacts->points[point->index].lambda[0] == 0.0);
	}
	for (int i = 0; i < run->island->bodyCount; ++i) {
		const knEquationBody* body = &run->bodies[i];
		free = free && body->keepLin == 0.0 && body->keepAng == 0.0;
	}
	return free;
}

// What forces give about the centre of mass in the step, gravity nothing.
static knVec3 givenByForces(const knMixedRun* run, const knFrame* start, knVec3 origin, const Sum* before,
							const Sum* after) {
	const knVec3 center = knScale(0.5 / before->mass, knAdd(before->center, after->center));
	knVec3 given = knZero3();
	for (int i = 0; i < run->island->bodyCount; ++i) {
		const knEquationBody* body = &run->bodies[i];
		const int b = run->island->bodies[i];
		const knVec3 middle = knSub(knScale(0.5, knAdd(start[b].p, run->in->pose[b].p)), origin);
		given = knMulAdd(given, body->mass, knCross(knSub(middle, center), body->center));
		given = knAdd(given, body->torque);
	}
	return knScale(run->in->h, given);
}

void knMixedRun_RestoreSpin(knMixedRun* run) {
	if (!isFree(run) || run->island->bodyCount == 0) {
		return;
	}
	const knState* state = run->in->state;
	knTwist* velocity = run->in->velocity;
	const knVec3 origin = state->pose[run->island->bodies[0]].p;
	const Sum before = gather(run, state->pose, state->velocity, origin);
	const Sum after = gather(run, run->in->pose, velocity, origin);
	knVec3 missing = knSub(angularAboutCenter(&before), angularAboutCenter(&after));
	missing = knAdd(missing, givenByForces(run, state->pose, origin, &before, &after));
	// about the centre of mass
	const knVec3 c = knScale(1.0 / after.mass, after.center);
	Sum shift = { 0 };
	const knMat33 none = knDiagonal33(0.0, 0.0, 0.0);
	addBody(&shift, -after.mass, c, knZero3(), knZero3(), &none);
	const knMat33 inertia = knAddMM(&after.inertia, &shift.inertia), inverse = knInverse33(&inertia);
	const knVec3 turn = knMulMV(&inverse, missing);
	for (int i = 0; i < run->island->bodyCount; ++i) {
		knTwist* v = &velocity[run->island->bodies[i]];
		const knVec3 at = knSub(knSub(run->in->pose[run->island->bodies[i]].p, origin), c);
		v->lin = knAdd(v->lin, knCross(turn, at));
		v->ang = knAdd(v->ang, turn);
	}
}
