// The table of steppers.
#include "support/kn_test.h"

#include "steppers/stepper_ops.h"

static void test_table(void** state) {
	(void)state;
	int count = 0;
	while (knStepper_Name(count) != NULL) {
		const char* name = knStepper_Name(count);
		const knStepperOps* ops = knStepperOps_Find(name);
		assert_non_null(ops);
		assert_ptr_equal(ops, knStepperOps_At(count));
		assert_ptr_equal(knStepper_Help(name), ops->help);
		assert_true(strlen(ops->help) > 0);
		assert_true(ops->privateSize != NULL && ops->step != NULL);
		// names are unique: each finds itself, none another
		for (int k = 0; k < count; ++k) {
			assert_string_not_equal(knStepper_Name(k), name);
		}
		count += 1;
	}
	assert_true(count >= 1);
	assert_ptr_equal(knStepperOps_Find("velocity"), &knVelocityStepper);
	assert_null(knStepperOps_Find("Velocity"));
	assert_null(knStepperOps_Find(NULL));
	assert_null(knStepper_Help("nonsense"));
	assert_null(knStepperOps_At(-1));
	assert_null(knStepperOps_At(count));
}

int main(void) {
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_table) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
