// The forest of a world: its linear systems answer as the articulated-body method does, and coordinates survive the way
// to poses and back.
#include "articulated/forest.h"

#include "tree_test.h"

#define BODIES 9

static const knJointKind spanning[] = { KN_JOINT_HINGE,     KN_JOINT_BALL,   KN_JOINT_SLIDER,
										KN_JOINT_UNIVERSAL, KN_JOINT_PLANAR, KN_JOINT_CYLINDER };

// A random tree of bodies; the first floats or hangs on the world.
static knModel* randomModel(bool floating) {
	knSceneDef sceneDef = knSceneDef_Default();
	knScene* scene = knScene_Create(&sceneDef, NULL, NULL);
	knBodyId bodies[BODIES];
	for (int i = 0; i < BODIES; ++i) {
		knBodyDef def = knBodyDef_Default();
		def.frame = randomFrame();
		def.hasMass = true;
		def.mass = randomMass();
		bodies[i] = knScene_AddBody(scene, &def, NULL);
	}
	for (int i = floating ? 1 : 0; i < BODIES; ++i) {
		int parent = (int)uniform(0.0, i - 1e-9);
		knJointDef def = knJointDef_Default(spanning[(int)uniform(0.0, 5.999)]);
		bool reversed = uniform(0.0, 1.0) < 0.4;
		knError error = { 0 };
		knBodyId outer = i > 0 ? bodies[parent] : KN_WORLD_BODY;
		assert_int_equal(knJointDef_At(&def, scene, reversed ? bodies[i] : outer,
									   reversed ? outer : bodies[i], randomVector(),
									   knNormalize(randomVector()), &error),
						 KN_OK);
		assert_false(KN_ID_IS_NULL(knScene_AddJoint(scene, &def, &error)));
	}
	knModel* model = knModel_Create(scene, NULL);
	assert_non_null(model);
	knScene_Destroy(scene);
	return model;
}

typedef struct Rig {
	knModel* model;
	knState state;
	knArena arena;
	knForest forest;
	double q[7 * BODIES];
	knFrame poses[BODIES + 1];
	knTreeMotion columns[6 * BODIES];
	knTreeForce rows[6 * BODIES];
	knLanes c[BODIES], arms[BODIES];
	knForestSystem system;
} Rig;

// Masses in the links' blocks: H.
static void fillBlocks(Rig* rig) {
	const knLanes none = knLanes_All(0.0);
	for (int i = 0; i < BODIES; ++i) {
		const knForestLink* link = &rig->forest.links[i];
		double m = rig->model->mass[link->body];
		knMat33 I = knRotateTensor(rig->poses[link->body].q, &rig->model->inertiaLocal[link->body]);
		rig->system.block[i] = (knForestBlock){ .aa = knLanes_FromMat(&I),
												.al = { none, none, none },
												.la = { none, none, none },
												.ll = { knLanes_Make(m, 0.0, 0.0), knLanes_Make(0.0, m, 0.0),
														knLanes_Make(0.0, 0.0, m) } };
	}
}

static void makeRig(Rig* rig, bool floating) {
	knAllocator allocator = knAllocator_Default();
	rig->model = randomModel(floating);
	assert_true(knState_Create(&rig->state, rig->model, "reduced", 0, &allocator));
	knArena_Init(&rig->arena, &allocator);
	assert_true(knForest_Build(&rig->forest, rig->model, &rig->state, NULL, &rig->arena));
	assert_int_equal(rig->forest.count, BODIES);
	memcpy(rig->poses, rig->state.pose, sizeof(rig->poses));
	for (int i = 0; i < BODIES; ++i) {
		knForest_NeutralLink(&rig->forest, i, rig->q);
		knForest_ReadLink(&rig->forest, i, rig->poses, rig->q);
	}
	assert_true(knForestSystem_Make(&rig->system, &rig->forest, &rig->arena));
	knForest_Columns(&rig->forest, rig->q, rig->poses, rig->columns, rig->c);
	for (int i = 0; i < BODIES; ++i) {
		const knForestLink* link = &rig->forest.links[i];
		rig->arms[i] = knLanes_FromVec(knSub(rig->poses[link->body].p, rig->poses[link->parentBody].p));
	}
	fillBlocks(rig);
	for (int k = 0; k < rig->forest.nv; ++k) {
		rig->rows[k] = (knTreeForce){ rig->columns[k].ang, rig->columns[k].lin };
	}
	rig->system.S = rig->columns;
	rig->system.R = rig->rows;
	rig->system.end = rig->system.mean = rig->arms;
	assert_true(knForestSystem_Factor(&rig->system));
}

static void freeRig(Rig* rig) {
	knAllocator allocator = knAllocator_Default();
	knArena_Free(&rig->arena);
	knState_Destroy(&rig->state, &allocator);
	knModel_Release(rig->model);
}

// Impulses on random links: the forest's answer is knTree_Respond's, link by link.
static void test_system_answers_as_the_articulated_body_method(void** state) {
	(void)state;
	for (int trial = 0; trial < 40; ++trial) {
		Rig rig;
		makeRig(&rig, trial % 2 == 0);
		knLinkageSet* set = knLinkageSet_Create(rig.model, NULL, NULL);
		const knLinkage* linkage = knLinkageSet_At(set, 0);
		knTreeWork* work = knTreeWork_Create(linkage->tree, NULL, NULL);
		double q[7 * BODIES], v[6 * BODIES], dv[6 * BODIES], y[6 * BODIES];
		knLinkage_InitialState(linkage, rig.model, work, q, v);
		knTree_PrepareImpulses(linkage->tree, work, q);
		knTreeForce push[BODIES] = { 0 };
		knTreeMotion motions[BODIES];
		knTreeImpulse hits[2];
		for (int k = 0; k < 2; ++k) {
			int i = (int)uniform(0.0, BODIES - 1e-9);
			hits[k] = (knTreeImpulse){ .link = i, .impulse = randomVector(), .moment = randomVector() };
			hits[k].point = rig.poses[rig.forest.links[i].body].p;
			push[i].n += knLanes_FromVec(hits[k].moment);
			push[i].f += knLanes_FromVec(hits[k].impulse);
		}
		knTree_Respond(linkage->tree, work, hits, 2, NULL, dv);
		knForestSystem_Solve(&rig.system, push, NULL, y, motions);
		assert_int_equal(rig.forest.nv, knTree_VelocityCount(linkage->tree));
		// a floating root's own velocities are at its centre here, at its frame there
		for (int k = trial % 2 == 0 ? 6 : 0; k < rig.forest.nv; ++k) {
			assert_near(y[k], dv[k], 1e-8 * (1.0 + knAbs(dv[k])));
		}
		knTreeWork_Destroy(work);
		knLinkageSet_Destroy(set);
		freeRig(&rig);
	}
}

static knForestBlock randomBlock(double scale) {
	knForestBlock block;
	knLanes33* parts[4] = { &block.aa, &block.al, &block.la, &block.ll };
	for (int k = 0; k < 4; ++k) {
		parts[k]->x = knLanes_FromVec(knScale(scale, randomVector()));
		parts[k]->y = knLanes_FromVec(knScale(scale, randomVector()));
		parts[k]->z = knLanes_FromVec(knScale(scale, randomVector()));
	}
	return block;
}

static knTreeForce answer(const knForestBlock* A, const knTreeMotion* m) {
	return (knTreeForce){ knLanes_Mul(&A->aa, m->ang) + knLanes_Mul(&A->al, m->lin),
						  knLanes_Mul(&A->la, m->ang) + knLanes_Mul(&A->ll, m->lin) };
}

// With blocks between random pairs of links (parents included) the solution is that of the trees alone under the pushes
// that the couplings make of it.
static void test_couplings(void** state) {
	(void)state;
	for (int trial = 0; trial < 40; ++trial) {
		Rig rig, plain;
		dice = (knTestRandom){ (uint64_t)trial + 7 };
		makeRig(&rig, trial % 2 == 0);
		dice = (knTestRandom){ (uint64_t)trial + 7 };
		makeRig(&plain, trial % 2 == 0);
		// the factor took the place of the blocks: once more as they were
		int count = 1 + trial % 12;
		knForestPair kept[12];
		knForestSystem* system = &rig.system;
		fillBlocks(&rig);
		knForestCouplings couplings;
		assert_true(knForestCouplings_Make(&couplings, &rig.forest, 1, &rig.arena));
		system->couplings = &couplings;
		int made = 0;
		for (int k = 0; k < count; ++k) {
			int a = (int)uniform(0.0, BODIES - 1e-9), b = (int)uniform(0.0, BODIES - 1e-9);
			if (a == b) {
				continue;
			}
			knForestPair* pair = knForestCouplings_Couple(&couplings, a, b);
			assert_non_null(pair);
			bool again = pair->block[0].ll.x[0] != 0.0;
			pair->block[0] = again ? pair->block[0] : randomBlock(0.3);
			pair->block[1] = again ? pair->block[1] : randomBlock(0.3);
			kept[made] = *pair;
			made += !again;
		}
		if (trial % 3 == 0 && made > 1) {
			// a pattern that grows after it was planned, and numbers written anew
			assert_true(knForestSystem_Factor(system));
			fillBlocks(&rig);
			knForestCouplings_Clear(&couplings);
			for (int k = 0; k < made; ++k) {
				knForestPair* pair = knForestCouplings_Couple(&couplings, kept[k].link[0], kept[k].link[1]);
				pair->block[0] = kept[k].block[pair->link[0] != kept[k].link[0]];
				pair->block[1] = kept[k].block[pair->link[0] == kept[k].link[0]];
			}
			int a = kept[0].link[0], b = (kept[0].link[0] + 1) % BODIES;
			assert_non_null(knForestCouplings_Couple(&couplings, a, b));
		}
		assert_true(knForestSystem_Factor(system));
		knTreeForce push[BODIES];
		knTreeMotion motions[BODIES], check[BODIES];
		double y[6 * BODIES], again[6 * BODIES], tau[6 * BODIES];
		for (int i = 0; i < BODIES; ++i) {
			push[i] = (knTreeForce){ knLanes_FromVec(randomVector()), knLanes_FromVec(randomVector()) };
		}
		for (int k = 0; k < rig.forest.nv; ++k) {
			tau[k] = uniform(-1.0, 1.0);
		}
		knForestSystem_Solve(system, push, tau, y, motions);
		for (int k = 0; k < made; ++k) {
			const knForestPair* pair = &kept[k];
			for (int side = 0; side < 2; ++side) {
				knTreeForce F = answer(&pair->block[side], &motions[pair->link[!side]]);
				push[pair->link[side]].n -= F.n;
				push[pair->link[side]].f -= F.f;
			}
		}
		knForestSystem_Solve(&plain.system, push, tau, again, check);
		for (int k = 0; k < rig.forest.nv; ++k) {
			assert_near(y[k], again[k], 1e-7 * (1.0 + knAbs(again[k])));
		}
		freeRig(&rig);
		freeRig(&plain);
	}
}

// Poses follow from coordinates, and coordinates from poses.
static void test_coordinates_and_poses(void** state) {
	(void)state;
	for (int trial = 0; trial < 20; ++trial) {
		Rig rig;
		makeRig(&rig, trial % 2 == 0);
		double y[6 * BODIES], again[7 * BODIES];
		for (int k = 0; k < rig.forest.nv; ++k) {
			y[k] = uniform(-0.5, 0.5);
		}
		knForest_Advance(&rig.forest, rig.q, y, 1.0);
		knForest_Place(&rig.forest, rig.q, rig.poses);
		memcpy(again, rig.q, sizeof(again));
		for (int i = 0; i < BODIES; ++i) {
			knForest_ReadLink(&rig.forest, i, rig.poses, again);
		}
		knFrame poses[BODIES + 1];
		memcpy(poses, rig.poses, sizeof(poses));
		knForest_Place(&rig.forest, again, poses);
		for (int b = 1; b <= BODIES; ++b) {
			assert_near3(poses[b].p, rig.poses[b].p, 1e-12);
			assert_near(knAbs(knDotQ(poses[b].q, rig.poses[b].q)), 1.0, 1e-12);
		}
		freeRig(&rig);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_system_answers_as_the_articulated_body_method),
		cmocka_unit_test(test_couplings),
		cmocka_unit_test(test_coordinates_and_poses),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
