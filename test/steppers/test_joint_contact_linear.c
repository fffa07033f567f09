// The direction of a group that is cut and whose matrix is out of date, against that of the whole, new matrix.
#include "support/kn_test.h"

#include "model/model.h"
#include "model/state.h"
#include "steppers/impulse/joint_contact_internal.h"

#define BODIES 12
#define ENTRIES (BODIES + 2)
#define ROWS (3 * ENTRIES)

typedef struct Problem {
	knArena arena;
	knModel model;
	knState state;
	double mass[BODIES];
	knMat33 inertia[BODIES];
	knFrame pose[BODIES];
	knJointContacts contacts;
	knLawEntry entries[ENTRIES];
	knLawRow rows[ROWS];
	knLawDelta deltas[ROWS];
	int stepOf[BODIES];
	double vectors[(2 + KN_LAW_VECTORS) * 6 * BODIES];
	knLawGroup group;
} Problem;

static double next(uint32_t* seed) {
	*seed = 1664525u * *seed + 1013904223u;
	return (double)(*seed >> 8) / 8388608.0 - 1.0;
}

// A row of bodies: every second pair is joined by stiff rows, the others touch, and so do two pairs farther apart. The pair in the
// middle may be cut.
static void makeProblem(Problem* p, bool large) {
	uint32_t seed = 7;
	*p = (Problem){ 0 };
	knAllocator allocator = knAllocator_Default();
	knArena_Init(&p->arena, &allocator);
	knBodyEdge edges[ENTRIES];
	int bodies[BODIES], edgeCount = 0;
	for (int b = 0; b < BODIES; ++b) {
		bodies[b] = b;
		p->mass[b] = 2.0 + next(&seed);
		p->inertia[b] = knDiagonal33(0.1 * p->mass[b], 0.2 * p->mass[b], 0.15 * p->mass[b]);
		p->pose[b] = knIdentityF();
	}
	for (int n = 0; n < ENTRIES; ++n) {
		const int a = n < BODIES - 1 ? n : n - BODIES + 2, b = n < BODIES - 1 ? n + 1 : a + 4;
		const bool joint = n < BODIES - 1 && n % 2 == 0;
		p->entries[n] = (knLawEntry){ .index = joint ? 0 : 1,
									  .first = 3 * n,
									  .count = 3,
									  .locked = joint ? 3 : 0,
									  .cut = large && n == 5 };
		for (int k = 0; k < 3; ++k) {
			knLawRow* row = &p->rows[3 * n + k];
			row->law = joint ? KN_LAW_FREE : KN_LAW_RANGE;
			row->weight = joint ? 1e7 : 60.0;
			for (int c = 0; c < 6; ++c) {
				row->row.a[c] = next(&seed);
				row->row.b[c] = next(&seed);
			}
		}
		if (!p->entries[n].cut) {
			edges[edgeCount++] = (knBodyEdge){ a, b };
		}
		p->entries[n].a = a;
		p->entries[n].b = b;
	}
	p->model.bodyCount = BODIES;
	p->model.mass = p->mass;
	p->model.inertiaLocal = p->inertia;
	p->state.pose = p->pose;
	p->contacts.jointCount = 1;
	p->contacts.rows = p->rows;
	p->contacts.whole.input.model = &p->model;
	p->contacts.whole.input.state = &p->state;
	p->contacts.whole.inertia = p->inertia; // nothing is turned
	p->group = (knLawGroup){ .contacts = &p->contacts,
							 .count = ENTRIES,
							 .entries = p->entries,
							 .moved = p->vectors,
							 .forward = p->vectors + 6 * BODIES,
							 .work = p->vectors + 12 * BODIES,
							 .large = large,
							 .deltas = p->deltas };
	assert_true(knBodyMatrix_Build(&p->group.matrix, bodies, BODIES, edges, edgeCount, p->stepOf, &p->arena));
	for (int n = 0; n < ENTRIES; ++n) {
		p->entries[n].a = p->stepOf[p->entries[n].a];
		p->entries[n].b = p->stepOf[p->entries[n].b];
	}
}

// Rows that leave their contact, come to it, or slide.
static void changeWeights(Problem* p) {
	p->rows[3].weight = 0.0;
	p->rows[10].weight = 20.0;
	p->rows[15].weight = 90.0; // cut
	p->rows[22].weight = 0.0;
}

static void setForce(Problem* p) {
	uint32_t seed = 99;
	for (int b = 0; b < BODIES; ++b) {
		for (int c = 0; c < 6; ++c) {
			p->group.forward[6 * p->stepOf[b] + c] = next(&seed);
		}
	}
}

// How far the direction of one is from that of the other, by kinetic energy.
static double distance(const Problem* one, const Problem* other) {
	double size = 0.0, apart = 0.0;
	for (int b = 0; b < BODIES; ++b) {
		for (int c = 0; c < 6; ++c) {
			const double right = other->group.forward[6 * other->stepOf[b] + c];
			const double error = one->group.forward[6 * one->stepOf[b] + c] - right;
			size += one->mass[b] * right * right;
			apart += one->mass[b] * error * error;
		}
	}
	return sqrt(apart / size);
}

static void test_cut_and_kept_matrix(void** state) {
	(void)state;
	static Problem rough, whole;
	makeProblem(&rough, true);
	makeProblem(&whole, false);
	assert_true(knLawGroup_Factor(&rough.group));
	changeWeights(&rough);
	changeWeights(&whole);
	assert_true(knLawGroup_Factor(&whole.group));
	setForce(&rough);
	setForce(&whole);
	assert_true(knLawGroup_Solve(&rough.group) > 1);
	assert_int_equal(knLawGroup_Solve(&whole.group), 0);
	assert_true(distance(&rough, &whole) < 0.05);
	// the matrix as it was would not do
	setForce(&rough);
	knBodyMatrix_Solve(&rough.group.matrix, rough.group.forward);
	assert_true(distance(&rough, &whole) > 0.2);
	knArena_Free(&rough.arena);
	knArena_Free(&whole.arena);
}

int main(void) {
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_cut_and_kept_matrix) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
