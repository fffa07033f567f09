// A hundred thousand random pairs of convex shapes against an independent method; `knuckle bench collide --full` is
// the same for a million.
#include "collide/convex_grid.h"

#if defined(__SANITIZE_ADDRESS__)
enum { PAIRS_PER_CELL = 300 };
#else
enum { PAIRS_PER_CELL = 4000 };
#endif

static void test_all_cells_agree_with_the_search(void** state) {
	(void)state;
	assertGridAgrees(PAIRS_PER_CELL, 77);
}

int main(void) {
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_all_cells_agree_with_the_search) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
