// Letters on a door: every capital has strokes inside its cell; a lone letter falls freely in its plane.
#include "glyphs.h"
#include "scene_test.h"

static void test_glyphs(void** state) {
	(void)state;
	knStroke strokes[KN_GLYPH_MAX_STROKES];
	for (char letter = 'A'; letter <= 'Z'; ++letter) {
		int count = knGlyph_Strokes(letter, strokes);
		assert_true(count >= 2 && count <= KN_GLYPH_MAX_STROKES);
		double top = 0.0, right = 0.0;
		for (int i = 0; i < count; ++i) {
			assert_true(strokes[i].x0 != strokes[i].x1 || strokes[i].y0 != strokes[i].y1);
			double high = knMax(strokes[i].y0, strokes[i].y1), far = knMax(strokes[i].x0, strokes[i].x1);
			assert_true(knMin(strokes[i].x0, strokes[i].x1) >= 0.0 &&
						knMin(strokes[i].y0, strokes[i].y1) >= 0.0);
			top = knMax(top, high);
			right = knMax(right, far);
		}
		assert_near(top, KN_GLYPH_HEIGHT, 0.0);
		assert_true(right <= KN_GLYPH_WIDTH);
	}
	assert_int_equal(knGlyph_Strokes('a', strokes), 0);
	assert_int_equal(knGlyph_Strokes(' ', strokes), 0);
}

static void test_lone_letter_falls(void** state) {
	(void)state;
	Built magnet = BUILD("magnets", "letters", "1");
	knSceneChecks checks = { 0 };
	stepBuilt(&magnet, 30, &checks);
	double expected = 0.5 * 9.81 * 0.5 * 0.5;
	assert_near(checkOf(&checks, "travelled"), expected, 1e-9);
	assert_true(checkOf(&checks, "out_of_plane") < 1e-9);
	destroy(&magnet);
}

static void test_letters_start_apart(void** state) {
	(void)state;
	Built magnets = build("magnets", NULL);
	knPenetration penetration;
	assert_ok(knWorld_MeasurePenetration(magnets.world, &penetration, NULL));
	assert_int_equal(penetration.pairs, 0);
	for (int i = 0; i < knModel_JointCount(magnets.model); ++i) {
		const knJointDef* def = knScene_GetJoint(magnets.scene, knModel_JointAt(magnets.model, i));
		assert_int_equal(def->kind, KN_JOINT_PLANAR);
	}
	destroy(&magnets);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_glyphs),
		cmocka_unit_test(test_lone_letter_falls),
		cmocka_unit_test(test_letters_start_apart),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
