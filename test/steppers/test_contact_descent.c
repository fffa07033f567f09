// How much of a change of contact impulses is taken: the share with the least E = u.M.u/2 - sum j_n target, for each group of
// bodies by itself.
#include "contact_step.h"

#define H 0.01
#define G 9.81

static double energyOf(const knImpulseStep* step) {
	double sum = kineticFrom(step, knZero3());
	for (int k = 0; k < step->m.contacts.pointCount; ++k) {
		sum += step->m.contacts.points[k].lambda[0] * step->m.contacts.points[k].bias;
	}
	return sum;
}

static void pushBody(const knImpulseStep* step, int b, double sign, knVec3 r, knVec3 j) {
	const knStepBodies* blocks = &step->m.blocks;
	knTwist* u = &blocks->u[b];
	u->lin = knMulAdd(u->lin, sign * blocks->invMass[b], j);
	u->ang = knAdd(u->ang, knMulMV(&blocks->invInertia[b], knCross(r, knScale(sign, j))));
}

static knVec3 carriedBy(const knSweepPoint* p) {
	return knMulAdd(knMulAdd(knScale(p->lambda[0], p->n), p->lambda[1], p->t1), p->lambda[2], p->t2);
}

static void push(const knImpulseStep* step, int k, double jn, double j1, double j2) {
	knSweepPoint* p = &step->m.contacts.points[k];
	const knContactAnchor* anchor = &step->m.contacts.anchors[k];
	const knVec3 before = carriedBy(p);
	p->lambda[0] = jn;
	p->lambda[1] = j1;
	p->lambda[2] = j2;
	const knVec3 change = knSub(carriedBy(p), before);
	pushBody(step, anchor->bodyA, -1.0, p->rA, change);
	pushBody(step, anchor->bodyB, 1.0, p->rB, change);
}

// Three balls on the ground, far from each other: one is pushed just enough, one three times too much, one, with a second
// ball on a joint, as well. The first stays to the bit, the second is cut to what stops it, the third is not cut: what its joint
// will do is not known yet.
static void test_groups_by_themselves(void** state) {
	(void)state;
	knScene* scene = newScene(earth);
	newGround(scene, material(0.5, 0.0));
	knBodyId balls[3];
	for (int i = 0; i < 3; ++i) {
		balls[i] = newBall(scene, knV3(5.0 * i, 0.0, 0.5), 0.5, knZero3(), material(0.5, 0.0));
	}
	knBodyId hung = newBall(scene, knV3(10.0, 0.0, 3.0), 0.5, knZero3(), material(0.5, 0.0));
	knJointDef joint =
		jointAt(scene, KN_JOINT_BALL, balls[2], hung, knV3(10.0, 0.0, 1.75), knV3(0.0, 0.0, 1.0));
	newJoint(scene, &joint);
	ContactStep c;
	openContactStep(&c, scene, H);
	assert_int_equal(c.step.m.contacts.pointCount, 3);
	const double weight = c.step.m.model->mass[bodyOf(&c, balls[0])] * G * H;
	knContactDescent* descent = knContactDescent_Begin(&c.step.m.known);
	assert_non_null(descent);
	const double pushes[3] = { weight, 3.0 * weight, 3.0 * weight };
	const knSweepPoint* of[3] = { NULL };
	for (int k = 0; k < 3; ++k) {
		for (int i = 0; i < 3; ++i) {
			const int ball = bodyOf(&c, balls[k]);
			const knContactAnchor* anchor = &c.step.m.contacts.anchors[i];
			if (anchor->bodyA == ball || anchor->bodyB == ball) {
				of[k] = &c.step.m.contacts.points[i];
				push(&c.step, i, pushes[k], 0.0, 0.0);
			}
		}
		assert_non_null(of[k]);
	}
	knContactDescent_Take(&c.step.m.known, descent);
	assert_true(of[0]->lambda[0] == weight);
	assert_near(of[1]->lambda[0], weight, 1e-12 * weight);
	assert_true(of[2]->lambda[0] == 3.0 * weight);
	assert_near(c.step.m.blocks.u[bodyOf(&c, balls[1])].lin.z, 0.0, 1e-15);
	assert_near(c.step.m.blocks.u[bodyOf(&c, balls[2])].lin.z, 2.0 * G * H, 1e-12);
	closeContactStep(&c);
}

// Random pushes, friction included, on a leaning stack: no share between nothing and all would have been better, and
// velocities remain those that the impulses make.
static void test_least_of_all_shares(void** state) {
	(void)state;
	uint64_t series = 7;
	int cut = 0;
	for (int trial = 0; trial < 20; ++trial) {
		knScene* scene = newScene(earth);
		newGround(scene, material(0.5, 0.0));
		for (int i = 0; i < 3; ++i) {
			newBox(scene, knV3(0.1 * i, 0.0, 0.5 + i), knV3(0.5, 0.4, 0.5), material(0.5, 0.0));
		}
		ContactStep c;
		openContactStep(&c, scene, H);
		knImpulseStep* step = &c.step;
		disturb(step, &series, 0.1);
		knTwist start[8], pushed[8];
		double j[64][3];
		const int bodies = step->m.model->bodyCount, points = step->m.contacts.pointCount;
		assert_true(bodies <= 8 && points <= 64);
		memcpy(start, step->m.blocks.u, sizeof(knTwist) * (size_t)bodies);
		knContactDescent* descent = knContactDescent_Begin(&step->m.known);
		assert_non_null(descent);
		const double size = step->m.model->mass[1] * (trial % 2 == 0 ? 0.05 : 0.5);
		for (int i = 0; i < points; ++i) {
			j[i][0] = size * (1.0 + nextOf(&series));
			j[i][1] = 0.3 * size * nextOf(&series);
			j[i][2] = 0.3 * size * nextOf(&series);
			push(step, i, j[i][0], j[i][1], j[i][2]);
		}
		memcpy(pushed, step->m.blocks.u, sizeof(knTwist) * (size_t)bodies);
		knContactDescent_Take(&step->m.known, descent);
		const double taken = energyOf(step), share = step->m.contacts.points[0].lambda[0] / j[0][0];
		cut += share < 1.0;
		for (int b = 0; b < bodies; ++b) {
			knTwist mixed = knMulAddT(start[b], share, knSubT(pushed[b], start[b]));
			assert_near3(step->m.blocks.u[b].lin, mixed.lin, 1e-12);
			assert_near3(step->m.blocks.u[b].ang, mixed.ang, 1e-12);
		}
		for (int s = 0; s <= 20; ++s) {
			for (int b = 0; b < bodies; ++b) {
				step->m.blocks.u[b] = knMulAddT(start[b], 0.05 * s, knSubT(pushed[b], start[b]));
			}
			for (int i = 0; i < points; ++i) {
				step->m.contacts.points[i].lambda[0] = 0.05 * s * j[i][0];
			}
			assert_true(taken <= energyOf(step) + 1e-9 * knAbs(taken));
		}
		closeContactStep(&c);
	}
	assert_true(cut > 5); // the pushes were too much often enough for this to say something
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_groups_by_themselves),
		cmocka_unit_test(test_least_of_all_shares),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
