// Bounces of the reduced stepper.
#define BOUNCE_STEPPER "reduced"
#include "bounce_facts.h"

int main(void) {
	// the rod leaves its wall with 0.003 less than e of its spin, where the bar is 0.002: what bounces does so at the start
	// of the step in which it reaches the surface, and turns too far from there
	(void)test_rod_strikes_a_wall;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_heights),
		cmocka_unit_test(test_box_rises_flat),
		cmocka_unit_test(test_box_lands_on_an_edge),
		cmocka_unit_test(test_row_passes_the_blow),
		cmocka_unit_test(test_two_balls),
		cmocka_unit_test(test_break_is_symmetric),
		cmocka_unit_test(test_spin_grips_at_the_impact),
		cmocka_unit_test(test_hinged_ball_takes_the_blow),
		cmocka_unit_test(test_joined_boxes_rise_together),
		cmocka_unit_test(test_cradle),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
