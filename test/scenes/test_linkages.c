// Mechanisms: lengths, closure and mobility as geometry has them.
#include "scene_test.h"

static knVec3 anchorOf(const Built* built, const char* joint) {
	const knJointDef* def = knScene_GetJoint(built->scene, knScene_FindJoint(built->scene, joint));
	bool world = KN_ID_IS_NULL(def->child);
	return world ? def->frameChild.p
				 : knPoint(knWorld_BodyFrame(built->world, def->child), def->frameChild.p);
}

static knVec3 axisOf(const Built* built, const char* joint) {
	const knJointDef* def = knScene_GetJoint(built->scene, knScene_FindJoint(built->scene, joint));
	knFrame child = KN_ID_IS_NULL(def->child) ? knIdentityF() : knWorld_BodyFrame(built->world, def->child);
	return knRotate(knMulQ(child.q, def->frameChild.q), knV3(1.0, 0.0, 0.0));
}

static void test_four_bar_lengths(void** state) {
	(void)state;
	Built bar = build("four-bar", NULL);
	assert_near(knDistance(anchorOf(&bar, "a"), anchorOf(&bar, "b")), 1.0, 1e-12);
	assert_near(knDistance(anchorOf(&bar, "b"), anchorOf(&bar, "c")), 3.0, 1e-12);
	assert_near(knDistance(anchorOf(&bar, "c"), anchorOf(&bar, "d")), 2.5, 1e-12);
	assert_near(knDistance(anchorOf(&bar, "d"), anchorOf(&bar, "a")), 3.0, 1e-12);
	destroy(&bar);
}

// Six hinge twists (axis, moment) about the origin: 6 columns of a 6 x 6 matrix. Its rank is 5: one motion keeps the loop
// closed. The rank is the number of steps of Gram-Schmidt that leave something.
static void test_bricard_moves(void** state) {
	(void)state;
	Built loop = build("bricard", NULL);
	double columns[6][6];
	int rank = 0;
	for (int i = 0; i < 6; ++i) {
		char name[16];
		snprintf(name, sizeof(name), "hinge%d", i);
		knVec3 axis = axisOf(&loop, name), moment = knCross(anchorOf(&loop, name), axis);
		double* column = columns[rank];
		double values[6] = { axis.x, axis.y, axis.z, moment.x, moment.y, moment.z }, left = 0.0;
		memcpy(column, values, sizeof(values));
		for (int pass = 0; pass < 2; ++pass) {
			for (int k = 0; k < rank; ++k) {
				double dot = 0.0;
				for (int r = 0; r < 6; ++r) {
					dot += columns[k][r] * column[r];
				}
				for (int r = 0; r < 6; ++r) {
					column[r] -= dot * columns[k][r];
				}
			}
		}
		for (int r = 0; r < 6; ++r) {
			left += column[r] * column[r];
		}
		if (left > 1e-20) {
			for (int r = 0; r < 6; ++r) {
				column[r] /= sqrt(left);
			}
			rank += 1;
		}
	}
	assert_int_equal(rank, 5);
	for (int i = 0; i < 5; ++i) {
		assert_near(knModel_BodyMass(loop.model, knModel_BodyAt(loop.model, i)).mass, 1.0, 1e-12);
	}
	destroy(&loop);
}

// The ring starts with the motion of one rigid body, which every hinge allows.
static void test_free_ring_starts_rigid(void** state) {
	(void)state;
	Built ring = build("free-ring", NULL);
	for (int i = 0; i < knModel_JointCount(ring.model); ++i) {
		knJointId joint = knModel_JointAt(ring.model, i);
		const knJointDef* def = knScene_GetJoint(ring.scene, joint);
		knVec3 anchor = knPoint(knWorld_BodyFrame(ring.world, def->child), def->frameChild.p);
		assert_near3(knWorld_PointVelocity(ring.world, def->child, anchor),
					 knWorld_PointVelocity(ring.world, def->parent, anchor), 1e-12);
	}
	knMeasures before = knWorld_Measure(ring.world);
	assert_near3(before.momentum, knZero3(), 1e-9);
	assert_true(knLength(before.angularMomentum) > 1.0);
	destroy(&ring);
}

static void test_short_loop_is_a_centimetre_open(void** state) {
	(void)state;
	Built loop = build("short-loop", NULL);
	assert_near(knWorld_Measure(loop.world).jointError, 0.01, 1e-12);
	assert_near(knWorld_MeasureJoint(loop.world, knScene_FindJoint(loop.scene, "pin_left")).distance, 0.0,
				1e-12);
	assert_near(knWorld_MeasureJoint(loop.world, knScene_FindJoint(loop.scene, "pin_right")).distance, 0.0,
				1e-12);
	assert_near(knDistance(anchorOf(&loop, "pin_left"), anchorOf(&loop, "pin_right")), 0.41, 1e-12);
	destroy(&loop);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_four_bar_lengths),
		cmocka_unit_test(test_bricard_moves),
		cmocka_unit_test(test_free_ring_starts_rigid),
		cmocka_unit_test(test_short_loop_is_a_centimetre_open),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
