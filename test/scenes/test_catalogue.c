// The catalogue against its sheet: counts, sizes, masses and places recomputed here from the sheet's numbers; every scene
// small and simulated for a few steps; the live twins; parameters and their ranges.
#include "scene_test.h"

// --- the sheet's figures -----------------------------------------------------------------------------------------

// Geometry that takes long to make is made coarse where only its number matters.
static Built buildWhole(const knSceneEntry* entry) {
	knSceneArgs args = knSceneArgs_Default(entry);
	return knSceneArgs_Has(&args, "triangles") ? BUILD(entry->name, "triangles", "200")
											   : build(entry->name, NULL);
}

static void test_counts(void** state) {
	(void)state;
	static const struct {
		const char* scene;
		int bodies, joints;
	} expected[] = {
		{ "box-stack", 25, 0 },
		{ "wall", 205, 0 },
		{ "tower", 800, 0 },
		{ "falling-roof", 640 + 20, 0 },
		{ "roof-tower", 800, 0 },
		{ "ball-grid", 125, 0 },
		{ "letters", 1000, 0 },
		{ "silo", 3000, 0 },
		{ "cow-pile", 250, 0 },
		{ "pyramid", 210, 0 },
		{ "magnets", 210 + 1, 210 }, // and the door
		{ "net", 736 + 9, 960 },
		{ "bridge", 103 + 2 * 81, 168 + 81 },
		{ "tank", 77, 76 },
		{ "rings", 2160, 2160 },
		{ "skeletons", 20 * 21, 20 * 19 },
		{ "ragdolls", 20 * 21, 20 * 20 },
		{ "heavy-chain", 50, 50 },
		{ "mass-ratio", 21, 21 },
		{ "four-bar", 3, 4 },
		{ "bricard", 5, 6 },
		{ "free-ring", 34, 34 },
		{ "short-loop", 2, 3 },
		{ "pendulum", 1, 1 },
		{ "arch", 7, 0 },
		{ "chain-pegs", 200, 200 },
		{ "sticks", 8, 0 },
		{ "pegs", 200, 200 },
		{ "threading", 1 + 300, 1 + 300 }, // needle and slide
		{ "snake", 500, 499 },
		{ "rope-pile", 1000, 999 },
		{ "two-ropes", 200, 200 },
		{ "humanoid", 17, 16 },
		{ "arm", 7 + 5, 7 },
		{ "gripper", 2 * 3 + 1, 2 * 4 },
		{ "door", 2, 2 },
		{ "two-contacts", 5, 4 },
	};
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); ++i) {
		const knSceneEntry* entry = knCatalogue_Find(expected[i].scene, NULL);
		assert_int_equal(entry->bodies, expected[i].bodies);
		assert_int_equal(entry->joints, expected[i].joints);
	}
	for (int i = 0; i < knCatalogue_Count(); ++i) {
		Built built = buildWhole(knCatalogue_At(i));
		assert_int_equal(knModel_BodyCount(built.model), knCatalogue_At(i)->bodies);
		assert_int_equal(knModel_JointCount(built.model), knCatalogue_At(i)->joints);
		destroy(&built);
	}
	Built paper = BUILD("tower", "layers", "16");
	assert_int_equal(knModel_BodyCount(paper.model), 320);
	destroy(&paper);
	Built large = BUILD("pyramid", "base", "100");
	assert_int_equal(knModel_BodyCount(large.model), 5050);
	destroy(&large);
}

static bool isOneOf(const char* name, const char* const* names) {
	for (; *names != NULL; ++names) {
		if (strcmp(name, *names) == 0) {
			return true;
		}
	}
	return false;
}

// Where the sheet itself says otherwise.
static const char* const ownFriction[] = { "cradle", "sled", "letters", "gas", "capstan", NULL };
static const char* const weightless[] = { "push-through", "free-ring", "gas", NULL };

static void test_defaults(void** state) {
	(void)state;
	for (int i = 0; i < knCatalogue_Count(); ++i) {
		const knSceneEntry* entry = knCatalogue_At(i);
		Built built = BUILD(entry->name, "small", "1");
		const knSceneDef* def = knScene_GetDef(built.scene);
		assert_near3(def->gravity, isOneOf(entry->name, weightless) ? knZero3() : knV3(0.0, 0.0, -9.81), 0.0);
		assert_near(def->dt, entry->dt, 0.0);
		assert_int_equal(def->settings.sleep, 0);
		assert_string_equal(def->name, entry->name);
		for (int j = 0; j < knScene_BodySlots(built.scene); ++j) {
			const knBodyDef* body = knScene_GetBody(built.scene, knScene_BodyAt(built.scene, j));
			assert_near(body->linearDamping + body->angularDamping, 0.0, 0.0);
		}
		for (int j = 0; j < knScene_ShapeSlots(built.scene) && !isOneOf(entry->name, ownFriction); ++j) {
			const knShapeDef* shape = knScene_GetShape(built.scene, knScene_ShapeAt(built.scene, j));
			assert_near(shape->friction, 0.6, 0.0);
			assert_near(shape->restitution, 0.0, 0.0);
		}
		for (int j = 0; j < knScene_JointSlots(built.scene); ++j) {
			assert_false(knScene_GetJoint(built.scene, knScene_JointAt(built.scene, j))->collide);
		}
		destroy(&built);
	}
}

static void test_starts_closed_and_clear(void** state) {
	(void)state;
	for (int i = 0; i < knCatalogue_Count(); ++i) {
		const char* name = knCatalogue_At(i)->name;
		Built built = buildWhole(knCatalogue_At(i));
		knMeasures measures = knWorld_Measure(built.world);
		if (strcmp(name, "short-loop") != 0 &&
			!(measures.jointError < 1e-9 && measures.jointAngleError < 1e-9)) {
			fail_msg("%s starts open: %g m, %g rad", name, measures.jointError, measures.jointAngleError);
		}
		if (strcmp(name, "ball-grid") != 0 && !(penetrationOf(&built) < 1e-9)) {
			fail_msg("%s starts %g m deep", name, penetrationOf(&built));
		}
		destroy(&built);
	}
}

static void test_stacks_touch_exactly(void** state) {
	(void)state;
	Built stack = build("box-stack", NULL);
	for (int i = 0; i < 25; ++i) {
		char name[16];
		snprintf(name, sizeof(name), "box%d", i);
		assert_near3(centerOf(&stack, name), knV3(0.0, 0.0, i + 0.5), 0.0);
		assert_near(massOf(&stack, name), 1000.0, 1e-9);
	}
	destroy(&stack);

	Built grid = BUILD("ball-grid", "pitch", "1", "walls", "1");
	assert_near(penetrationOf(&grid), 0.0, 1e-12);
	// the fixed walls touch: a ball moved outwards by 1 mm is 1 mm deep in one
	knBodyId corner = knScene_FindBody(grid.scene, "ball0_2_2");
	knFrame moved = knWorld_BodyFrame(grid.world, corner);
	moved.p.x -= 1e-3;
	assert_ok(knWorld_SetBodyFrame(grid.world, corner, moved));
	assert_near(penetrationOf(&grid), 1e-3, 1e-9);
	destroy(&grid);
}

static void test_overlap_of_ball_grid(void** state) {
	(void)state;
	Built grid = build("ball-grid", NULL);
	assert_near(penetrationOf(&grid), 0.2, 1e-9); // 1 m balls, 0.8 m apart
	destroy(&grid);
}

static void test_wall_bond(void** state) {
	(void)state;
	Built wall = build("wall", NULL);
	// the ends of all courses are flush: 19 spacings and one brick
	double end = 0.5 * (19 * 0.502 + 0.5);
	assert_near(centerOf(&wall, "brick0_19").x + 0.25, end, 1e-12);
	assert_near(centerOf(&wall, "brick1_20").x + 0.125, end, 1e-12);
	assert_near(centerOf(&wall, "brick1_00").x - 0.125, -end, 1e-12);
	// odd courses sit over the joints
	double joint = 0.5 * (centerOf(&wall, "brick0_03").x + centerOf(&wall, "brick0_04").x);
	assert_near(centerOf(&wall, "brick1_04").x, joint, 1e-12);
	assert_near(centerOf(&wall, "brick9_05").z, 9.5 * 0.25, 1e-12);
	assert_near(massOf(&wall, "brick0_00"), 1000.0 * 0.5 * 0.25 * 0.25, 1e-9);
	assert_near(massOf(&wall, "brick1_00"), 500.0 * 0.5 * 0.25 * 0.25, 1e-9);
	destroy(&wall);
}

static void test_tower_is_round(void** state) {
	(void)state;
	Built tower = build("tower", NULL);
	for (int i = 0; i < knModel_BodyCount(tower.model); ++i) {
		knVec3 center = knWorld_BodyCenter(tower.world, knModel_BodyAt(tower.model, i));
		assert_near(sqrt(center.x * center.x + center.y * center.y), 1.72, 1e-12);
		assert_near(center.z, (i / 20 + 0.5) * 0.25, 1e-12);
	}
	// odd layers are turned by half a brick, 9 degrees
	knVec3 below = centerOf(&tower, "brick0_00"), above = centerOf(&tower, "brick1_00");
	assert_near(knAtan2(above.y, above.x) - knAtan2(below.y, below.x), KN_PI / 20.0, 1e-12);
	assert_near(massOf(&tower, "brick5_07"), 1000.0 * 0.25 * 0.5 * 0.25, 1e-9);
	destroy(&tower);
	// other numbers of bricks keep clear of each other
	Built narrow = BUILD("tower", "per_layer", "8", "layers", "3");
	assert_true(penetrationOf(&narrow) < 1e-9);
	destroy(&narrow);
}

static void test_pyramid_rests_on_two(void** state) {
	(void)state;
	Built pyramid = build("pyramid", NULL);
	assert_near(centerOf(&pyramid, "box0_01").x - centerOf(&pyramid, "box0_00").x, 1.1, 1e-12);
	knVec3 left = centerOf(&pyramid, "box3_04"), right = centerOf(&pyramid, "box3_05");
	assert_near3(centerOf(&pyramid, "box4_04"), knAdd(knScale(0.5, knAdd(left, right)), knV3(0.0, 0.0, 1.0)),
				 1e-12);
	assert_near3(centerOf(&pyramid, "box19_00"), knV3(0.0, 0.0, 19.5), 1e-12);
	destroy(&pyramid);
}

static void test_heavy_chain(void** state) {
	(void)state;
	Built chain = build("heavy-chain", NULL);
	assert_near(massOf(&chain, "link0"), 1.0, 1e-12);
	assert_near(massOf(&chain, "link48"), 1.0, 1e-12);
	assert_near(massOf(&chain, "link49"), 1000.0, 1e-9);
	// 10 m in all: half a link from each end to the nearest centre
	knVec3 first = centerOf(&chain, "link0"), last = centerOf(&chain, "link49");
	assert_near(knDistance(first, last) + 0.2, 10.0, 1e-12);
	assert_near(first.z, last.z, 1e-12);
	// ball joints 0.2 m apart, the first at the end of the first link
	knVec3 previous = knMulAdd(first, -0.1, knV3(1.0, 0.0, 0.0));
	for (int i = 0; i < 50; ++i) {
		const knJointDef* joint = knScene_GetJoint(chain.scene, knModel_JointAt(chain.model, i));
		assert_int_equal(joint->kind, KN_JOINT_BALL);
		knVec3 anchor = knPoint(knWorld_BodyFrame(chain.world, joint->child), joint->frameChild.p);
		assert_near(knDistance(previous, anchor), i == 0 ? 0.0 : 0.2, 1e-12);
		previous = anchor;
	}
	assert_near(knWorld_Measure(chain.world).kinetic, 0.0, 0.0);
	destroy(&chain);
}

static void test_mass_ratio(void** state) {
	(void)state;
	Built chain = build("mass-ratio", NULL);
	assert_near(massOf(&chain, "link7"), 1.0, 1e-12);
	assert_near(massOf(&chain, "ball"), 10000.0, 1e-8);
	knVec3 ball = centerOf(&chain, "ball"), last = centerOf(&chain, "link19"),
		   first = centerOf(&chain, "link0");
	assert_near(first.z - last.z, 19 * 0.5, 1e-12);
	assert_near(last.z - 0.25 - ball.z, 0.67, 1e-12);
	const knJointDef* hook = knScene_GetJoint(chain.scene, knScene_FindJoint(chain.scene, "hook"));
	assert_near3(knPoint(knWorld_BodyFrame(chain.world, hook->child), hook->frameChild.p),
				 knAdd(ball, knV3(0.0, 0.0, 0.67)), 1e-12);
	destroy(&chain);
}

// The push comes once, at 3 s, also at another time step.
static void test_mass_ratio_push(void** state) {
	(void)state;
	Built chain = BUILD("mass-ratio", "small", "1", "ratio", "1");
	knBodyId ball = knScene_FindBody(chain.scene, "ball");
	for (int i = 0; i < 302; ++i) {
		double before = knWorld_BodyVelocity(chain.world, ball).x;
		chain.args.entry->script(chain.world, &chain.args);
		double change = knWorld_BodyVelocity(chain.world, ball).x - before;
		if (i == 300) {
			assert_near(before + change, 5.0, 1e-12);
		} else {
			assert_near(change, 0.0, 0.0);
		}
		assert_ok(knWorld_Step(chain.world, 0.01, NULL));
	}
	destroy(&chain);
}

static void test_pendulum_starts_horizontal(void** state) {
	(void)state;
	Built pendulum = build("pendulum", NULL);
	const knJointDef* hinge = knScene_GetJoint(pendulum.scene, knModel_JointAt(pendulum.model, 0));
	assert_int_equal(hinge->kind, KN_JOINT_HINGE);
	knVec3 arm = knSub(centerOf(&pendulum, "link0"), hinge->frameParent.p);
	assert_near(knLength(arm), 0.5, 1e-12);
	assert_near(arm.z, 0.0, 1e-12);
	destroy(&pendulum);
}

// Its rods pass each other, so that nothing but the integrator changes the energy.
static void test_pendulum_touches_nothing(void** state) {
	(void)state;
	Built pendulum = BUILD("pendulum", "links", "5");
	for (int i = 0; i < 600; ++i) {
		assert_ok(knWorld_Step(pendulum.world, 0.01, NULL));
		int count;
		knWorld_Contacts(pendulum.world, &count);
		assert_int_equal(count, 0);
	}
	destroy(&pendulum);
}

static void test_joints_has_every_kind(void** state) {
	(void)state;
	Built joints = BUILD("joints", "ratio", "50", "custom", "1");
	assert_int_equal(knModel_JointCount(joints.model), KN_JOINT_KIND_COUNT);
	assert_int_equal(knModel_BodyCount(joints.model), 2 * KN_JOINT_KIND_COUNT);
	bool seen[KN_JOINT_KIND_COUNT] = { false };
	for (int i = 0; i < KN_JOINT_KIND_COUNT; ++i) {
		const knJointDef* joint = knScene_GetJoint(joints.scene, knModel_JointAt(joints.model, i));
		seen[joint->kind] = true;
		assert_near(knModel_BodyMass(joints.model, joint->child).mass,
					50.0 * knModel_BodyMass(joints.model, joint->parent).mass, 1e-9);
	}
	for (int i = 0; i < KN_JOINT_KIND_COUNT; ++i) {
		assert_true(seen[i]);
	}
	assert_true(knWorld_Measure(joints.world).jointError < 1e-12);
	destroy(&joints);
}

static void test_cradle_hangs_and_touches(void** state) {
	(void)state;
	Built cradle = build("cradle", NULL);
	double volume = 4.0 / 3.0 * KN_PI * 1e-3;
	assert_near(massOf(&cradle, "ball2"), 7800.0 * volume, 1e-9);
	for (int i = 1; i < 4; ++i) {
		char left[16], right[16];
		snprintf(left, sizeof(left), "ball%d", i);
		snprintf(right, sizeof(right), "ball%d", i + 1);
		assert_near3(knSub(centerOf(&cradle, right), centerOf(&cradle, left)), knV3(0.2, 0.0, 0.0), 1e-12);
	}
	// lifted by 30 degrees on a radius of 1 m
	assert_near(centerOf(&cradle, "ball0").z - centerOf(&cradle, "ball1").z, 1.0 - knCos(KN_PI / 6.0), 1e-12);
	destroy(&cradle);
}

// --- every scene lives -------------------------------------------------------------------------------------------

static void test_every_small_scene_steps(void** state) {
	(void)state;
	for (int i = 0; i < knCatalogue_Count(); ++i) {
		Built built = BUILD(knCatalogue_At(i)->name, "small", "1");
		knSceneChecks checks = { 0 };
		stepBuilt(&built, 20, &checks);
		assert_true(knWorld_Measure(built.world).finite);
		for (int j = 0; j < checks.count; ++j) {
			assert_true(knIsFinite(checks.values[j]));
		}
		knSceneChecks_Free(&checks);
		destroy(&built);
	}
}

static void test_small_is_smaller(void** state) {
	(void)state;
	static const char* const names[] = { "box-stack",    "wall",        "tower",      "ball-grid",
										 "pyramid",      "heavy-chain", "mass-ratio", "dominoes",
										 "silo",         "net",         "bridge",     "rings",
										 "ragdolls",     "free-ring",   "magnets",    "card-house",
										 "falling-roof", "roof-tower",  "pegs",       "threading",
										 "snake",        "rope-pile",   "two-ropes" };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
		Built whole = build(names[i], NULL), small = BUILD(names[i], "small", "1");
		assert_true(knModel_BodyCount(small.model) < knModel_BodyCount(whole.model));
		destroy(&whole);
		destroy(&small);
	}
	// what is set stays, in either order
	Built first = BUILD("box-stack", "boxes", "25", "small", "1"),
		  last = BUILD("box-stack", "small", "1", "boxes", "7");
	assert_int_equal(knModel_BodyCount(first.model), 25);
	assert_int_equal(knModel_BodyCount(last.model), 7);
	destroy(&first);
	destroy(&last);
}

static void test_unique_names(void** state) {
	(void)state;
	for (int i = 0; i < knCatalogue_Count(); ++i) {
		Built built = BUILD(knCatalogue_At(i)->name, "small", "1");
		for (int j = 0; j < knScene_BodySlots(built.scene); ++j) {
			knBodyId body = knScene_BodyAt(built.scene, j);
			knBodyId found = knScene_FindBody(built.scene, knScene_GetBody(built.scene, body)->name);
			assert_true(KN_ID_EQUALS(body, found));
		}
		destroy(&built);
	}
}

static void test_same_seed_same_scene(void** state) {
	(void)state;
	Built a = BUILD("wall", "seed", "5", "small", "1"), b = BUILD("wall", "seed", "5", "small", "1");
	Built c = BUILD("wall", "seed", "6", "small", "1");
	int differences = 0;
	for (int i = 0; i < knScene_BodySlots(a.scene); ++i) {
		uint32_t colorA = knScene_GetBody(a.scene, knScene_BodyAt(a.scene, i))->color;
		assert_int_equal(colorA, knScene_GetBody(b.scene, knScene_BodyAt(b.scene, i))->color);
		differences += colorA != knScene_GetBody(c.scene, knScene_BodyAt(c.scene, i))->color;
	}
	assert_true(differences > 0);
	destroy(&a);
	destroy(&b);
	destroy(&c);
}

// --- live twins ----------------------------------------------------------------------------------------------------

static void test_twin2_bodies_fall_free(void** state) {
	(void)state;
	for (int i = 0; i < knCatalogue_Count(); ++i) {
		const knSceneEntry* entry = knCatalogue_At(i);
		if (!entry->twins || strcmp(entry->name, "ball-grid") == 0) {
			continue;
		}
		Built built = BUILD(entry->name, "small", "1", "twin", "2");
		stepBuilt(&built, 100, NULL);
		knMeasures before = knWorld_Measure(built.world);
		stepBuilt(&built, 50, NULL);
		knMeasures after = knWorld_Measure(built.world);
		// the common centre has no support left
		double mass = 0.0;
		for (int j = 0; j < knModel_BodyCount(built.model); ++j) {
			mass += knModel_BodyMass(built.model, knModel_BodyAt(built.model, j)).mass;
		}
		double fall = before.center.z + before.momentum.z / mass * 0.5 - after.center.z;
		assert_near(fall, 9.81 * 0.5 * 0.5 / 2.0, 1e-6);
		destroy(&built);
	}
}

static void test_twin3_starts_a_millimetre_high(void** state) {
	(void)state;
	static const char* const tops[][2] = {
		{ "box-stack", "box4" },           { "wall", "brick3_04" },        { "tower", "brick3_00" },
		{ "pyramid", "box4_00" },          { "ball-grid", "ball1_1_2" },   { "plate", "block" },
		{ "cantilever", "counterweight" }, { "unequal-pillars", "plank" }, { "card-house", "card1_0a" },
	};
	for (size_t i = 0; i < sizeof(tops) / sizeof(tops[0]); ++i) {
		Built plain = BUILD(tops[i][0], "small", "1"), twin = BUILD(tops[i][0], "small", "1", "twin", "3");
		int raised = 0;
		for (int j = 0; j < knModel_BodyCount(plain.model); ++j) {
			knVec3 a = knWorld_BodyCenter(plain.world, knModel_BodyAt(plain.model, j));
			knVec3 b = knWorld_BodyCenter(twin.world, knModel_BodyAt(twin.model, j));
			raised += knDistance(a, b) > 0.0;
		}
		assert_int_equal(raised, 1);
		assert_near(centerOf(&twin, tops[i][1]).z - centerOf(&plain, tops[i][1]).z, 1e-3, 1e-12);
		destroy(&plain);
		destroy(&twin);
	}
}

static void test_twin4_shifts_the_top_third_beyond_balance(void** state) {
	(void)state;
	Built plain = BUILD("box-stack", "boxes", "24"), twin = BUILD("box-stack", "boxes", "24", "twin", "4");
	for (int i = 0; i < 24; ++i) {
		char name[16];
		snprintf(name, sizeof(name), "box%d", i);
		double shift = knDistance(centerOf(&twin, name), centerOf(&plain, name));
		// the centre of the upper part must lie outside the lower cube, half a metre away
		assert_true(i < 16 ? shift == 0.0 : shift > 0.5);
	}
	assert_true(penetrationOf(&twin) < 1e-9);
	stepBuilt(&twin, 150, NULL);
	assert_true(knWorld_Measure(twin.world).displacement > 0.3); // it topples
	destroy(&plain);
	destroy(&twin);
	static const char* const others[] = { "wall",       "tower",        "pyramid",
										  "plate",      "cantilever",   "unequal-pillars",
										  "card-house", "sparse-stack", "dense-stack",
										  "arch" };
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); ++i) {
		Built other = BUILD(others[i], "twin", "4");
		assert_true(penetrationOf(&other) < 1e-9);
		destroy(&other);
	}
	Built balls = BUILD("ball-grid", "twin", "4", "pitch", "1", "walls", "1");
	assert_true(penetrationOf(&balls) < 1e-9);
	destroy(&balls);
}

static void test_twin5_ground_accelerates(void** state) {
	(void)state;
	for (int i = 0; i < knCatalogue_Count(); ++i) {
		if (!knCatalogue_At(i)->twins) {
			continue;
		}
		Built twin = BUILD(knCatalogue_At(i)->name, "small", "1", "twin", "5");
		knVec3 before = centerOf(&twin, "ground");
		stepBuilt(&twin, 50, NULL);
		// semi-implicit: a t (t + dt) / 2
		assert_near(centerOf(&twin, "ground").z - before.z, 2.0 * 0.5 * 0.51 / 2.0, 1e-12);
		destroy(&twin);
	}
}

// One cube: the ground carries its weight, and (g + 2) / g of it when it accelerates.
static void test_layer_forces(void** state) {
	(void)state;
	for (int twin = 0; twin <= 5; twin += 5) {
		Built one = BUILD("box-stack", "boxes", "1", "twin", twin == 0 ? "0" : "5");
		one.args.time = 1.5;
		knSceneChecks checks = { 0 };
		stepBuilt(&one, 150, &checks);
		double expected = twin == 0 ? 1.0 : (9.81 + 2.0) / 9.81;
		assert_near(checkOf(&checks, "layer_force_min"), expected, 0.01);
		assert_near(checkOf(&checks, "layer_force_max"), expected, 0.01);
		knSceneChecks_Free(&checks);
		destroy(&one);
	}
}

// --- facts ---------------------------------------------------------------------------------------------------------

static void test_pull_starts_at_friction_times_weight(void** state) {
	(void)state;
	Built one = BUILD("box-stack", "boxes", "1", "pull", "10000", "pull_time", "2");
	knSceneChecks checks = { 0 };
	stepBuilt(&one, 200, &checks);
	double limit = 0.6 * 1000.0 * 9.81;
	assert_near(checkOf(&checks, "pull_start"), limit, 0.03 * limit);
	knSceneChecks_Free(&checks);
	destroy(&one);
}

// The bottom cube of five is held from above and below: by 4 and 5 weights.
static void test_bottom_cube_is_held_on_both_faces(void** state) {
	(void)state;
	Built one = BUILD("box-stack", "boxes", "5", "pull", "-60000", "pull_time", "3");
	knSceneChecks checks = { 0 };
	stepBuilt(&one, 300, &checks);
	double limit = -0.6 * 9.0 * 1000.0 * 9.81;
	assert_near(checkOf(&checks, "pull_start"), limit, -0.05 * limit);
	knSceneChecks_Free(&checks);
	destroy(&one);
}

static void test_slope_holds_and_slides(void** state) {
	(void)state;
	Built holds = build("slope", NULL);
	knSceneChecks checks = { 0 };
	stepBuilt(&holds, 100, &checks);
	assert_near(checkOf(&checks, "slid"), 0.0, 1e-3); // tan 20 < 0.6
	destroy(&holds);

	Built slides = BUILD("slope", "angle", "40");
	stepBuilt(&slides, 100, &checks);
	double angle = 40.0 * KN_PI / 180.0;
	double expected = 0.5 * 9.81 * (knSin(angle) - 0.6 * knCos(angle)) * 1.0 * 1.01;
	assert_near(checkOf(&checks, "slid"), expected, 0.02 * expected);
	destroy(&slides);
}

static void test_dominoes_fall(void** state) {
	(void)state;
	Built dominoes = BUILD("dominoes", "small", "1");
	knSceneChecks checks = { 0 };
	dominoes.args.entry->observe(dominoes.world, &dominoes.args, &checks);
	assert_near(checkOf(&checks, "fallen"), 0.0, 0.0);
	stepBuilt(&dominoes, 300, &checks);
	assert_near(checkOf(&checks, "fallen"), 6.0, 0.0);
	assert_near(checkOf(&checks, "travelled"), 1.0, 1e-12);
	destroy(&dominoes);
}

// --- parameters ------------------------------------------------------------------------------------------------------

static void test_bad_parameters(void** state) {
	(void)state;
	knSceneArgs args = knSceneArgs_Default(knCatalogue_Find("box-stack", NULL));
	knError error = { 0 };
	static const char* const bad[][2] = {
		{ "boxes", "0" },    { "boxes", "-3" },  { "boxes", "2.5" }, { "boxes", "1e9" },
		{ "boxes", "many" }, { "boxes", "nan" }, { "boxes", "" },    { "twin", "1" },
		{ "twin", "6" },     { "small", "2" },   { "seed", "-1" },
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); ++i) {
		memset(&error, 0, sizeof(error));
		assert_int_equal(knSceneArgs_Set(&args, bad[i][0], bad[i][1], &error), KN_BAD_DATA);
		assert_true(strlen(error.message) > 10);
	}
	assert_int_equal(knSceneArgs_Set(&args, "bricks", "5", &error), KN_BAD_ARGUMENT);
	assert_false(knSceneArgs_Has(&args, "bricks"));
	assert_true(knSceneArgs_Has(&args, "twin"));
	memset(&error, 0, sizeof(error));
	args = knSceneArgs_Default(knCatalogue_Find("slope", NULL));
	assert_false(knSceneArgs_Has(&args, "twin"));
	assert_int_equal(knSceneArgs_Set(&args, "twin", "2", &error), KN_BAD_ARGUMENT);
}

// A choice is set by its word or by its number, and refused by naming the words.
static void test_choices(void** state) {
	(void)state;
	knSceneArgs args = knSceneArgs_Default(knCatalogue_Find("bridge", NULL));
	knError error = { 0 };
	char word[32];
	assert_near(knSceneArgs_Get(&args, "load"), 0.0, 0.0);
	assert_ok(knSceneArgs_Set(&args, "load", "rings", &error));
	assert_near(knSceneArgs_Get(&args, "load"), 1.0, 0.0);
	assert_ok(knSceneArgs_Set(&args, "load", "0", &error));
	assert_string_equal(knSceneParam_Word(&args.entry->params[0], 0.0, word, sizeof(word)), "blocks");
	static const char* const bad[] = { "ring", "blocks rings", "2", "-1", "0.5", "" };
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); ++i) {
		assert_int_equal(knSceneArgs_Set(&args, "load", bad[i], &error), KN_BAD_DATA);
		assert_non_null(strstr(error.message, "blocks rings"));
	}
	assert_near(knSceneArgs_Get(&args, "load"), 0.0, 0.0);
	for (int i = 0; i < knCatalogue_Count(); ++i) {
		const knSceneEntry* entry = knCatalogue_At(i);
		for (int j = 0; j < KN_SCENE_MAX_PARAMS && entry->params[j].name != NULL; ++j) {
			const knSceneParam* param = &entry->params[j];
			assert_true(param->lower <= param->value && param->value <= param->upper);
			// as many words as values
			assert_true(param->choices == NULL ||
						knSceneParam_Word(param, param->upper, word, sizeof(word)) != NULL);
			assert_null(knSceneParam_Word(param, param->upper + 1.0, word, sizeof(word)));
		}
	}
}

static void test_unknown_scene_is_suggested(void** state) {
	(void)state;
	knError error = { 0 };
	assert_null(knCatalogue_Find("towr", &error));
	assert_non_null(strstr(error.message, "'towr'"));
	assert_non_null(strstr(error.message, "'tower'"));
	assert_null(knCatalogue_Find("zzzzzzzzzz", &error));
	assert_null(strstr(error.message, "did you mean"));
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_starts_closed_and_clear),
		cmocka_unit_test(test_stacks_touch_exactly),
		cmocka_unit_test(test_overlap_of_ball_grid),
		cmocka_unit_test(test_wall_bond),
		cmocka_unit_test(test_tower_is_round),
		cmocka_unit_test(test_pyramid_rests_on_two),
		cmocka_unit_test(test_heavy_chain),
		cmocka_unit_test(test_mass_ratio),
		cmocka_unit_test(test_mass_ratio_push),
		cmocka_unit_test(test_pendulum_starts_horizontal),
		cmocka_unit_test(test_pendulum_touches_nothing),
		cmocka_unit_test(test_joints_has_every_kind),
		cmocka_unit_test(test_cradle_hangs_and_touches),
		cmocka_unit_test(test_every_small_scene_steps),
		cmocka_unit_test(test_small_is_smaller),
		cmocka_unit_test(test_unique_names),
		cmocka_unit_test(test_same_seed_same_scene),
		cmocka_unit_test(test_twin2_bodies_fall_free),
		cmocka_unit_test(test_twin3_starts_a_millimetre_high),
		cmocka_unit_test(test_twin4_shifts_the_top_third_beyond_balance),
		cmocka_unit_test(test_twin5_ground_accelerates),
		cmocka_unit_test(test_layer_forces),
		cmocka_unit_test(test_pull_starts_at_friction_times_weight),
		cmocka_unit_test(test_bottom_cube_is_held_on_both_faces),
		cmocka_unit_test(test_slope_holds_and_slides),
		cmocka_unit_test(test_dominoes_fall),
		cmocka_unit_test(test_bad_parameters),
		cmocka_unit_test(test_choices),
		cmocka_unit_test(test_unknown_scene_is_suggested),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
