// Stackings: counts, what rests on what, and the arch's wedges, face to face.
#include "scene_test.h"

static void test_counts(void** state) {
	(void)state;
	Built sparse = BUILD("sparse-stack", "n", "5"), dense = BUILD("dense-stack", "n", "4"),
		  pile = BUILD("random-pile", "n", "77");
	assert_int_equal(knModel_BodyCount(sparse.model), 25);
	assert_int_equal(knModel_BodyCount(dense.model), 16 + 9 + 16 + 9);
	assert_int_equal(knModel_BodyCount(pile.model), 77);
	destroy(&sparse);
	destroy(&dense);
	destroy(&pile);
}

static void test_dense_cube_rests_on_four(void** state) {
	(void)state;
	Built dense = BUILD("dense-stack", "n", "4");
	knVec3 sum = knAdd(knAdd(centerOf(&dense, "cube0_01_01"), centerOf(&dense, "cube0_01_02")),
					   knAdd(centerOf(&dense, "cube0_02_01"), centerOf(&dense, "cube0_02_02")));
	assert_near3(centerOf(&dense, "cube1_01_01"), knAdd(knScale(0.25, sum), knV3(0.0, 0.0, 1.0)), 1e-12);
	destroy(&dense);
}

// Of odd and even height it stands: the cubes at the edges of the wide layers are held down by the layer above.
static void test_dense_block_stands(void** state) {
	(void)state;
	const char* const sizes[] = { "3", "4", "5" };
	for (int i = 0; i < 3; ++i) {
		Built dense = BUILD("dense-stack", "n", sizes[i]);
		stepBuilt(&dense, 100, NULL);
		assert_true(knWorld_Measure(dense.world).displacement < 1e-4);
		destroy(&dense);
	}
}

// Twin 4 of the dense block: the shifted part's centre lies beyond the part below.
static void test_shifted_block_has_no_support(void** state) {
	(void)state;
	Built twin = BUILD("dense-stack", "twin", "4");
	double mass = 0.0, moment = 0.0, edge = 0.0;
	for (int i = 0; i < knModel_BodyCount(twin.model); ++i) {
		knVec3 center = knWorld_BodyCenter(twin.world, knModel_BodyAt(twin.model, i));
		if (center.z > 4.0) {
			mass += 1.0;
			moment += center.x;
		} else {
			edge = knMax(edge, center.x + 0.5);
		}
	}
	assert_true(moment / mass > edge);
	destroy(&twin);
}

// The wedges of a half circle: together they have the volume of a prism over a polygonal ring, and neighbours share faces.
static void test_arch_closes(void** state) {
	(void)state;
	Built arch = BUILD("arch", "blocks", "9");
	double mass = 0.0, angle = KN_PI / 9.0;
	for (int i = 0; i < 9; ++i) {
		mass += knModel_BodyMass(arch.model, knModel_BodyAt(arch.model, i)).mass;
	}
	double area = 9.0 * 0.5 * knSin(angle) * (2.25 * 2.25 - 1.75 * 1.75);
	assert_near(mass, 1000.0 * 0.6 * area, 1e-6 * mass);
	assert_true(penetrationOf(&arch) < 1e-9);
	// pressed together by a millimetre, every pair of neighbours overlaps
	for (int i = 0; i < 8; ++i) {
		knBodyId a = knModel_BodyAt(arch.model, i), b = knModel_BodyAt(arch.model, i + 1);
		knFrame from = knWorld_BodyFrame(arch.world, a), to = knWorld_BodyFrame(arch.world, b), moved = from;
		moved.p = knMulAdd(from.p, 1e-3, knNormalize(knSub(to.p, from.p)));
		assert_ok(knWorld_SetBodyFrame(arch.world, a, moved));
		assert_true(penetrationOf(&arch) > 5e-4);
		assert_ok(knWorld_SetBodyFrame(arch.world, a, from));
	}
	destroy(&arch);
}

static void test_arch_stands(void** state) {
	(void)state;
	Built arch = build("arch", NULL);
	stepBuilt(&arch, 100, NULL);
	assert_true(knWorld_Measure(arch.world).displacement < 0.01);
	destroy(&arch);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_dense_cube_rests_on_four),
		cmocka_unit_test(test_dense_block_stands),
		cmocka_unit_test(test_shifted_block_has_no_support),
		cmocka_unit_test(test_arch_closes),
		cmocka_unit_test(test_arch_stands),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
