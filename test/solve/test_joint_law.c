// The law of a joint's coordinate: the branch that is taken is on the graph.
#include "support/kn_test.h"

#include "solve/joint_law.h"

// Where a line through (z, 0) of slope 1/rho meets the graph, the branch says the impulse that the law gives there: a servo that has
// just reached the bound of its force must not be taken for one that has left it.
static void test_branch_is_on_the_graph(void** state) {
	(void)state;
	knTestRandom random = { 5 };
	for (int n = 0; n < 20000; ++n) {
		knJointLaw law = knJointLaw_Free();
		law.driveSlope = n % 3 == 0 ? 0.0 : testUniform(&random, 0.1, 1000.0);
		law.drive = testUniform(&random, -2.0, 2.0) * (n % 2 == 0 ? 1e-14 : 1.0);
		law.driveUpper = testUniform(&random, 0.5, 6.0);
		law.driveLower = -law.driveUpper;
		const double rho = testUniform(&random, 0.1, 20.0);
		const double z = 1.1 * rho * law.driveUpper * testUniform(&random, -1.0, 1.0);
		const knJointBranch branch = knJointLaw_Branch(&law, z, rho);
		assert_false(branch.held);
		const double d = (z + rho * (branch.lambda - branch.slope * branch.d)) / (1.0 - rho * branch.slope);
		const double lambda = branch.lambda + branch.slope * (d - branch.d);
		const double expected = knClamp(law.drive - law.driveSlope * d, law.driveLower, law.driveUpper);
		assert_near(lambda, expected, 1e-9 * law.driveUpper);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_branch_is_on_the_graph) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
