// Collisions of articulated bodies: impulses by both methods over the tree's own K, applied to the tree.
#include "knuckle/impact.h"
#include "tree_test.h"

static knVec3 pointVelocity(const Tree* t, int link, knVec3 point) {
	if (link < 0) {
		return knZero3();
	}
	knTwist velocity = knTree_LinkVelocity(t->tree, t->work, link);
	return knAdd(velocity.lin,
				 knCross(velocity.ang, knSub(point, knTree_LinkFrame(t->tree, t->work, link).p)));
}

static double energy(Tree* t, const double* v) {
	knTree_Kinematics(t->tree, t->work, t->q, v);
	return knTree_KineticEnergy(t->tree, t->work);
}

// Velocities after an impulse on link a and its opposite on link b.
static void respond(Tree* t, int a, int b, knVec3 point, knVec3 j, double* after) {
	knTreeImpulse hits[2] = { { a, point, j, knZero3() }, { b, point, knNeg(j), knZero3() } };
	knTree_PrepareImpulses(t->tree, t->work, t->q);
	knTree_Respond(t->tree, t->work, hits, b >= 0 ? 2 : 1, NULL, after);
	for (int i = 0; i < t->nv; ++i) {
		after[i] += t->v[i];
	}
}

// The energy of the tree itself, not of K, never grows; the point parts as K said it would.
static void collisions_of_trees_gain_nothing(void** state) {
	(void)state;
	int stuck = 0, slipped = 0;
	for (int trial = 0; trial < 3000; ++trial) {
		Tree t;
		makeTree(&t, 1 + trial % MAX_LINKS, trial % 3 == 0, trial % 2 == 0);
		int a = testInt(&dice, t.count), b = testInt(&dice, t.count + 1) - 1;
		knVec3 point = randomVector();
		double before = energy(&t, t.v), after[MAX_V];
		knImpact impact = { .n = testUnit3(&dice), .e = uniform(0.0, 1.0), .mu = uniform(0.0, 1.0) };
		impact.u = knSub(pointVelocity(&t, a, point), pointVelocity(&t, b, point));
		impact.n = knDot(impact.u, impact.n) > 0.0 ? knNeg(impact.n) : impact.n;
		knTree_PrepareImpulses(t.tree, t.work, t.q);
		impact.K = knTree_CollisionMatrix(t.tree, t.work, a, b, point);
		// two links that do not move against each other do not collide
		double size = impact.K.cx.x + impact.K.cy.y + impact.K.cz.z;
		bool mobile = size > 1e-9;
		for (int method = 0; method < 2 && mobile; ++method) {
			knImpactKind kind = KN_IMPACT_NONE;
			knVec3 j = method == 0 ? knImpact_Solve(&impact, &kind) : knImpact_Integrate(&impact, NULL);
			double push = knDot(j, impact.n), pull = knLength(knMulAdd(j, -push, impact.n));
			stuck += kind == KN_IMPACT_STICK ? 1 : 0;
			slipped += kind == KN_IMPACT_SLIP ? 1 : 0;
			assert_true(isfinite(push) && push >= 0.0);
			assert_true(pull <= impact.mu * push + 1e-9 * (1.0 + push));
			respond(&t, a, b, point, j, after);
			// a stiff direction takes large impulses, whose work is a small difference of large numbers
			double rounding = 1e-13 * size * knDot(j, j);
			assert_true(energy(&t, after) <= before + 1e-9 * (1.0 + before) + rounding);
			knVec3 u = knSub(pointVelocity(&t, a, point), pointVelocity(&t, b, point));
			knVec3 expected = knAdd(impact.u, knMulMV(&impact.K, j));
			assert_true(knDistance(u, expected) < 1e-9 * (1.0 + knLength(impact.u) + size * knLength(j)));
		}
		freeTree(&t);
	}
	print_message("%d stuck, %d slipped\n", stuck, slipped);
	assert_true(stuck > 300 && slipped > 300);
}

// Two trees that meet: K is the sum of both. One tree with two roots says the same.
static void two_trees_add_their_matrices(void** state) {
	(void)state;
	for (int trial = 0; trial < 300; ++trial) {
		Tree first, second, both;
		makeTree(&first, 1 + trial % 9, trial % 3 == 0, false);
		makeTree(&second, 1 + trial % 7, trial % 2 == 0, false);
		both.count = first.count + second.count;
		memcpy(both.links, first.links, sizeof(knTreeLink) * (size_t)first.count);
		for (int i = 0; i < second.count; ++i) {
			both.links[first.count + i] = second.links[i];
			both.links[first.count + i].parent += second.links[i].parent >= 0 ? first.count : 0;
		}
		both.tree = knTree_Create(both.links, both.count, NULL, NULL);
		both.work = knTreeWork_Create(both.tree, NULL, NULL);
		memcpy(both.q, first.q, sizeof(double) * (size_t)first.nq);
		memcpy(both.q + first.nq, second.q, sizeof(double) * (size_t)second.nq);
		int a = testInt(&dice, first.count), b = testInt(&dice, second.count);
		knVec3 point = randomVector();
		knTree_PrepareImpulses(first.tree, first.work, first.q);
		knTree_PrepareImpulses(second.tree, second.work, second.q);
		knTree_PrepareImpulses(both.tree, both.work, both.q);
		knMat33 Ka = knTree_CollisionMatrix(first.tree, first.work, a, -1, point);
		knMat33 Kb = knTree_CollisionMatrix(second.tree, second.work, -1, b, point);
		knMat33 sum = knAddMM(&Ka, &Kb);
		knMat33 K = knTree_CollisionMatrix(both.tree, both.work, a, first.count + b, point);
		double size = 1.0 + K.cx.x + K.cy.y + K.cz.z;
		assert_true(knDistance(sum.cx, K.cx) < 1e-12 * size && knDistance(sum.cy, K.cy) < 1e-12 * size &&
					knDistance(sum.cz, K.cz) < 1e-12 * size);
		freeTree(&first);
		freeTree(&second);
		freeTree(&both);
	}
}

// A two-link arm, struck at its tip: the closed form dv = H^-1 J^T p in numbers worked out by hand.
static void an_arm_struck_at_its_tip(void** state) {
	(void)state;
	// thin rods of length 1 and mass 1, turning about z (the joint frame's x), straight along x
	knQuat toZ = knQuat_Between(knV3(1.0, 0.0, 0.0), knV3(0.0, 0.0, 1.0));
	knTreeLink links[2];
	for (int i = 0; i < 2; ++i) {
		links[i] =
			(knTreeLink){ .parent = i - 1,
						  .kind = KN_JOINT_HINGE,
						  .frameParent = knMakeFrame(knV3((double)i, 0.0, 0.0), toZ),
						  .frameChild = knMakeFrame(knZero3(), toZ),
						  .mass = { 1.0, knV3(0.5, 0.0, 0.0), knDiagonal33(1e-3, 1.0 / 12.0, 1.0 / 12.0) } };
	}
	knTree* tree = knTree_Create(links, 2, NULL, NULL);
	knTreeWork* work = knTreeWork_Create(tree, NULL, NULL);
	double q[2] = { 0.0, 0.0 }, dv[2];
	knTree_PrepareImpulses(tree, work, q);
	knTreeImpulse hit = { 1, knV3(2.0, 0.0, 0.0), knV3(0.0, 1.0, 0.0), knZero3() };
	knTree_Respond(tree, work, &hit, 1, NULL, dv);
	// H = (8/3, 5/6; 5/6, 1/3), J^T p = (2, 1): dv = (-6/7, 36/7)
	assert_true(fabs(dv[0] + 6.0 / 7.0) < 1e-12 && fabs(dv[1] - 36.0 / 7.0) < 1e-12);
	knMat33 K = knTree_CollisionMatrix(tree, work, 1, -1, hit.point);
	assert_true(fabs(K.cy.y - (2.0 * dv[0] + dv[1])) < 1e-12 && fabs(K.cx.x) < 1e-12);
	knTreeWork_Destroy(work);
	knTree_Destroy(tree);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(collisions_of_trees_gain_nothing),
		cmocka_unit_test(two_trees_add_their_matrices),
		cmocka_unit_test(an_arm_struck_at_its_tip),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
