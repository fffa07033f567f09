// Bounces of the velocity stepper.
#define BOUNCE_STEPPER "velocity"
#include "bounce_facts.h"

int main(void) {
	const struct CMUnitTest tests[] = { BOUNCE_FACTS };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
