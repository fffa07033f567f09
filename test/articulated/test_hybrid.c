// Hybrid bodies: a welded tree moves, responds and collides as the full tree with fixed joints in the place of those that
// do not move; joints that stop keep the momentum and take no energy from nowhere; work goes with what is active.
#include "articulated/hybrid.h"

#include "long_tree.h"

static const knVec3 gravity = { 0.3, -0.2, -9.81 };

typedef struct Body {
	LongTree t;
	knAssembly* assembly;
	knHybrid* hybrid;
	knWelded *now, *next;
	knRegion region;
	knAllocator allocator;
} Body;

static void openBody(Body* b, const LongTreeOptions* options, bool pairs) {
	makeLongTree(&b->t, options);
	b->allocator = knAllocator_Default();
	b->assembly = knAssembly_Create(b->t.tree, &(knAssemblyOptions){ .pairs = pairs }, NULL, NULL);
	b->hybrid = knHybrid_Create(b->assembly, NULL, NULL);
	b->now = knWelded_Create(b->hybrid, options->count, NULL, NULL);
	b->next = knWelded_Create(b->hybrid, options->count, NULL, NULL);
	assert_true(knRegion_Init(&b->region, b->assembly, options->count, &b->allocator));
}

static void closeBody(Body* b) {
	knRegion_Free(&b->region, b->assembly, &b->allocator);
	knWelded_Destroy(b->now);
	knWelded_Destroy(b->next);
	knHybrid_Destroy(b->hybrid);
	knAssembly_Destroy(b->assembly);
	freeLongTree(&b->t);
}

// Joints that do not move have no velocity.
static void stopRest(Body* b) {
	for (int i = 0; i < b->t.count; ++i) {
		int offset = knTree_VelocityOffset(b->t.tree, i);
		for (int k = 0; !b->region.active[i] && k < knTree_LinkVelocityCount(b->t.tree, i); ++k) {
			b->t.v[offset + k] = 0.0;
		}
	}
}

// Any region: joints with random scores.
static void chooseAny(Body* b, int count) {
	knRegion all;
	assert_true(knRegion_Init(&all, b->assembly, b->t.count, &b->allocator));
	knRegion_Fill(b->hybrid, b->t.count, 0, &all);
	double* score = calloc((size_t)b->t.count, sizeof(double));
	for (int i = 0; i < b->t.count; ++i) {
		score[i] = longUniform(0.0, 1.0);
	}
	knRegion_Select(b->hybrid, &all, score, &(knRegionOptions){ .count = count }, &b->region);
	knRegion_Free(&all, b->assembly, &b->allocator);
	free(score);
	stopRest(b);
}

static LongTreeOptions optionsOf(int trial) {
	return (LongTreeOptions){ .count = 1 + trial * trial / 9,
							  .branching = trial % 5,
							  .anyKind = trial % 2,
							  .floating = trial % 3 == 0,
							  .pose = ANY,
							  .speed = 1.0 };
}

// --- against fixed joints ----------------------------------------------------------------------------------

// The same tree with fixed joints in the place of those that are not active.
typedef struct Reference {
	knTree* tree;
	knTreeWork* work;
	double *q, *v, *x;
} Reference;

static void openReference(const Body* b, Reference* reference) {
	const LongTree* t = &b->t;
	knTreeLink* links = calloc((size_t)t->count, sizeof(knTreeLink));
	for (int i = 0; i < t->count; ++i) {
		links[i] = t->links[i];
		if (!b->region.active[i]) {
			knFrame J = knJointOps_Get(links[i].kind)
							->transform(&b->t.tree->joints[i], t->q + knTree_CoordinateOffset(t->tree, i));
			links[i].kind = KN_JOINT_FIXED;
			links[i].frameParent = knMulF(links[i].frameParent, J);
		}
	}
	reference->tree = knTree_Create(links, t->count, NULL, NULL);
	assert_non_null(reference->tree);
	reference->work = knTreeWork_Create(reference->tree, NULL, NULL);
	reference->q = calloc((size_t)t->nq, sizeof(double));
	reference->v = calloc((size_t)t->nv, sizeof(double));
	reference->x = calloc((size_t)t->nv, sizeof(double));
	for (int i = 0; i < t->count; ++i) {
		int q = knTree_CoordinateOffset(t->tree, i), v = knTree_VelocityOffset(t->tree, i);
		int toQ = knTree_CoordinateOffset(reference->tree, i),
			toV = knTree_VelocityOffset(reference->tree, i);
		for (int k = 0; k < knJointOps_Get(links[i].kind)->nq; ++k) {
			reference->q[toQ + k] = t->q[q + k];
		}
		for (int k = 0; k < knTree_LinkVelocityCount(reference->tree, i); ++k) {
			reference->v[toV + k] = t->v[v + k];
		}
	}
	free(links);
}

static void closeReference(Reference* reference) {
	knTreeWork_Destroy(reference->work);
	knTree_Destroy(reference->tree);
	free(reference->q);
	free(reference->v);
	free(reference->x);
}

// Numbers of the welded tree against those of the reference, joint by joint, relative to the largest.
static double compareJoints(const Body* b, const Reference* reference, const double* mine) {
	double worst = 0.0, size = 1e-30;
	for (int s = 0; s < b->now->tree.count; ++s) {
		int from = knTree_VelocityOffset(reference->tree, b->now->region.joints[s]);
		for (int k = 0; k < b->now->tree.nodes[s].nv; ++k) {
			double expected = reference->x[from + k];
			worst = fmax(worst, fabs(mine[b->now->tree.nodes[s].vOffset + k] - expected));
			size = fmax(size, fabs(expected));
		}
	}
	return worst / size;
}

static double compareK(const knMat33* a, const knMat33* b) {
	double size = fmax(knLength(b->cx) + knLength(b->cy) + knLength(b->cz), 1e-3);
	return (knLength(knSub(a->cx, b->cx)) + knLength(knSub(a->cy, b->cy)) + knLength(knSub(a->cz, b->cz))) /
		   size;
}

typedef struct Worst {
	double dynamics, frames, response, K, energy;
} Worst;

static void checkMotion(Body* b, Reference* reference, Worst* worst) {
	knWelded* body = b->now;
	double* qdd = calloc((size_t)b->t.nv, sizeof(double));
	double* none = calloc((size_t)b->t.nv, sizeof(double));
	knTree_ForwardDynamics(reference->tree, reference->work, reference->q, reference->v, none, NULL, gravity,
						   reference->x);
	knTree_ForwardDynamics(&body->tree, body->work, body->q, body->v, none, NULL, gravity, qdd);
	worst->dynamics = fmax(worst->dynamics, compareJoints(b, reference, qdd));
	knTree_Kinematics(reference->tree, reference->work, reference->q, reference->v);
	knTree_Kinematics(&body->tree, body->work, body->q, body->v);
	for (int i = 0; i < b->t.count; ++i) {
		knFrame mine = knHybrid_LinkFrame(b->hybrid, body, i),
				expected = knTree_LinkFrame(reference->tree, reference->work, i);
		knTwist move = knHybrid_LinkVelocity(b->hybrid, body, i),
				expectedMove = knTree_LinkVelocity(reference->tree, reference->work, i);
		double off = knLength(knSub(mine.p, expected.p)) + 1.0 - fabs(knDotQ(mine.q, expected.q)) +
					 knLength(knSub(move.ang, expectedMove.ang)) +
					 knLength(knSub(move.lin, expectedMove.lin));
		worst->frames = fmax(worst->frames, off / (1.0 + knLength(expected.p) + knLength(expectedMove.lin)));
	}
	// links welded to a base that moves have an energy that the welded tree does not count
	bool still = b->now->baseNode == knAssembly_LinkNode(b->assembly, -1) ||
				 knLength(knLanes_ToVec(reference->work->base->velocity.lin)) == 0.0;
	double energy = knTree_KineticEnergy(reference->tree, reference->work);
	double mine = knTree_KineticEnergy(&body->tree, body->work);
	worst->energy = fmax(worst->energy, still ? fabs(mine - energy) / (energy + 1e-9) : 0.0);
	free(qdd);
	free(none);
}

// Impulses and K at links anywhere inside the segments.
static void checkImpulses(Body* b, Reference* reference, Worst* worst) {
	knWelded* body = b->now;
	knTree_PrepareImpulses(reference->tree, reference->work, reference->q);
	knTree_PrepareImpulses(&body->tree, body->work, body->q);
	for (int trial = 0; trial < 5; ++trial) {
		knPlacement in;
		int link = testInt(&longDice, b->t.count), other = testInt(&longDice, b->t.count);
		int segment = knHybrid_Locate(b->hybrid, body, link, &in);
		int otherSegment = knHybrid_Locate(b->hybrid, body, other, &in);
		if (segment < 0) {
			continue; // part of the base
		}
		knVec3 point = testVec3(&longDice, 1.0);
		knMat33 K = knTree_CollisionMatrix(&body->tree, body->work, segment, -1, point);
		knMat33 expected = knTree_CollisionMatrix(reference->tree, reference->work, link, -1, point);
		worst->K = fmax(worst->K, compareK(&K, &expected));
		K = knTree_CollisionMatrix(&body->tree, body->work, segment, otherSegment, point);
		expected = knTree_CollisionMatrix(reference->tree, reference->work, link, other, point);
		worst->K = fmax(worst->K, compareK(&K, &expected));
		knTreeImpulse hit = { link, point, testVec3(&longDice, 1.0), testVec3(&longDice, 0.1) };
		double* dv = calloc((size_t)b->t.nv + 1, sizeof(double));
		knTree_Respond(reference->tree, reference->work, &hit, 1, NULL, reference->x);
		hit.link = segment;
		knTree_Respond(&body->tree, body->work, &hit, 1, NULL, dv);
		worst->response = fmax(worst->response, compareJoints(b, reference, dv));
		free(dv);
	}
}

static void welded_trees_move_as_with_fixed_joints(void** state) {
	(void)state;
	Worst worst = { 0 };
	for (int trial = 0; trial < 60; ++trial) {
		Body b;
		LongTreeOptions options = optionsOf(trial);
		openBody(&b, &options, trial % 2);
		chooseAny(&b, 1 + options.count / (1 + trial % 4));
		knHybrid_Weld(b.hybrid, &b.region, b.t.q, b.t.v, b.now);
		Reference reference;
		openReference(&b, &reference);
		if (trial % 7 == 0) {
			knFrame frame = knMakeFrame(knV3(1.0, 2.0, 3.0), knQuat_Exp(knV3(0.4, 0.5, 0.6)));
			knTwist velocity = { knV3(1.0, -2.0, 0.5), knV3(3.0, 1.0, -1.0) };
			knTreeWork_SetBase(reference.work, frame, velocity);
			knTreeWork_SetBase(b.now->work, frame, velocity);
		}
		checkMotion(&b, &reference, &worst);
		checkImpulses(&b, &reference, &worst);
		closeReference(&reference);
		closeBody(&b);
	}
	print_message(
		"welded against fixed joints: accelerations %.1e, frames %.1e, energy %.1e, K %.1e, impulses %.1e\n",
		worst.dynamics, worst.frames, worst.energy, worst.K, worst.response);
	assert_true(worst.dynamics < 1e-9);
	assert_true(worst.frames < 1e-11);
	assert_true(worst.energy < 1e-11);
	assert_true(worst.K < 1e-10);
	assert_true(worst.response < 1e-10);
}

// --- parts that are kept -----------------------------------------------------------------------------------

// Regions change at random while active joints move: what was kept gives the same body as what is made anew, and the
// work goes with the joints that moved.
static void kept_parts_are_up_to_date(void** state) {
	(void)state;
	Body b;
	openBody(&b,
			 &(LongTreeOptions){ .count = 500, .branching = 2, .anyKind = true, .pose = ANY, .speed = 1.0 },
			 false);
	knHybrid* fresh = knHybrid_Create(b.assembly, NULL, NULL);
	chooseAny(&b, 40);
	knHybrid_Weld(b.hybrid, &b.region, b.t.q, b.t.v, b.now);
	assert_int_equal(b.hybrid->partsMade, 500 - 40);
	for (int round = 0; round < 30; ++round) {
		knTree_Integrate(&b.now->tree, b.now->q, b.now->v, 0.1);
		int moved = b.now->tree.count;
		knHybrid_Store(b.hybrid, b.now, b.t.q, b.t.v);
		long long before = b.hybrid->partsMade;
		chooseAny(&b, 10 + round * 3);
		knHybrid_Weld(b.hybrid, &b.region, b.t.q, b.t.v, b.now);
		assert_true(b.hybrid->partsMade - before <= moved);
		before = b.hybrid->partsMade;
		knHybrid_Weld(b.hybrid, &b.region, b.t.q, b.t.v, b.now);
		assert_int_equal(b.hybrid->partsMade, before);
		knHybrid_Forget(fresh);
		knHybrid_Weld(fresh, &b.region, b.t.q, b.t.v, b.next);
		assert_int_equal(b.next->tree.count, b.now->tree.count);
		assert_memory_equal(b.next->tree.nodes, b.now->tree.nodes,
							(size_t)b.now->tree.count * sizeof(knTreeNode));
		assert_memory_equal(b.next->q, b.now->q, (size_t)b.now->tree.nq * sizeof(double));
		for (int s = 0; s < b.now->tree.nv; ++s) {
			b.now->v[s] = longUniform(-1.0, 1.0);
		}
	}
	knHybrid_Destroy(fresh);
	closeBody(&b);
}

// --- joints that stop --------------------------------------------------------------------------------------

static void stopped_joints_keep_the_momentum(void** state) {
	(void)state;
	double worst = 0.0, idle = 0.0;
	for (int trial = 0; trial < 60; ++trial) {
		Body b;
		LongTreeOptions options = optionsOf(trial);
		options.floating = true;
		openBody(&b, &options, trial % 2);
		chooseAny(&b, options.count);
		knHybrid_Weld(b.hybrid, &b.region, b.t.q, b.t.v, b.now);
		chooseAny(&b, 1 + options.count / 3);
		knHybrid_Weld(b.hybrid, &b.region, b.t.q, b.t.v, b.next);
		knHybrid_Project(b.hybrid, b.now, b.next);
		knTree_Kinematics(&b.next->tree, b.next->work, b.next->q, b.next->v);
		knTwist before = knTree_Momentum(&b.now->tree, b.now->work, knZero3());
		knTwist after = knTree_Momentum(&b.next->tree, b.next->work, knZero3());
		double size = 0.0;
		for (int s = 0; s < b.now->tree.count; ++s) {
			size += knLength(knLanes_ToVec(knTree_LinkMomentum(&b.now->tree, b.now->work, s).f));
		}
		double reach = 1.0 + 0.1 * options.count;
		worst = fmax(worst, knLength(knSub(after.lin, before.lin)) / size);
		worst = fmax(worst, knLength(knSub(after.ang, before.ang)) / (size * reach));
		double energy = knTree_KineticEnergy(&b.now->tree, b.now->work);
		assert_true(knTree_KineticEnergy(&b.next->tree, b.next->work) <= energy * (1.0 + 1e-12));
		// nothing stops: nothing changes
		memcpy(b.t.qdd, b.next->v, (size_t)b.next->tree.nv * sizeof(double));
		knHybrid_Weld(b.hybrid, &b.region, b.t.q, b.t.v, b.now);
		memcpy(b.now->v, b.t.qdd, (size_t)b.next->tree.nv * sizeof(double));
		knHybrid_Project(b.hybrid, b.now, b.next);
		idle =
			fmax(idle, distanceOf(b.next->v, b.t.qdd, b.next->tree.nv) / largestOf(b.t.qdd, b.next->tree.nv));
		closeBody(&b);
	}
	print_message("momentum changes by %.1e of its parts; nothing stopped: velocities by %.1e\n", worst,
				  idle);
	assert_true(worst < 1e-12);
	assert_true(idle < 1e-9);
}

// The motion nearest in kinetic energy: H_R v_R = (H v)_R, by the dense matrix. The base moves or not: it is the same.
static void stopped_joints_solve_the_projection(void** state) {
	(void)state;
	double worst = 0.0;
	for (int trial = 0; trial < 30; ++trial) {
		Body b;
		LongTreeOptions options = optionsOf(trial);
		options.count = 1 + trial;
		openBody(&b, &options, false);
		chooseAny(&b, options.count);
		knHybrid_Weld(b.hybrid, &b.region, b.t.q, b.t.v, b.now);
		knTreeWork_SetBase(b.now->work, knMakeFrame(knV3(1.0, 2.0, 3.0), knQuat_Exp(knV3(0.4, 0.5, 0.6))),
						   (knTwist){ knV3(1.0, -2.0, 0.5), knV3(3.0, 1.0, -1.0) });
		int nv = b.t.nv, count = 0;
		double* H = calloc((size_t)nv * (size_t)nv, sizeof(double));
		double* v = calloc((size_t)nv, sizeof(double));
		memcpy(v, b.t.v, (size_t)nv * sizeof(double));
		knTree_MassMatrix(b.t.tree, b.t.work, b.t.q, H);
		chooseAny(&b, 1 + options.count / 2);
		knHybrid_Weld(b.hybrid, &b.region, b.t.q, b.t.v, b.next);
		knHybrid_Project(b.hybrid, b.now, b.next);
		// H (v_R - v) has no part in the coordinates of R
		for (int s = 0; s < b.next->tree.count; ++s) {
			int offset = knTree_VelocityOffset(b.t.tree, b.next->region.joints[s]);
			for (int k = 0; k < b.next->tree.nodes[s].nv; ++k, ++count) {
				b.t.v[offset + k] = b.next->v[count];
			}
		}
		double size = 1e-30, off = 0.0;
		for (int s = 0; s < b.next->tree.count; ++s) {
			int offset = knTree_VelocityOffset(b.t.tree, b.next->region.joints[s]);
			for (int k = offset; k < offset + b.next->tree.nodes[s].nv; ++k) {
				double lost = 0.0;
				for (int j = 0; j < nv; ++j) {
					lost += H[k * nv + j] * (b.t.v[j] - v[j]);
					size = fmax(size, fabs(H[k * nv + j] * v[j]));
				}
				off = fmax(off, fabs(lost));
			}
		}
		worst = fmax(worst, off / size);
		free(H);
		free(v);
		closeBody(&b);
	}
	print_message("projection against the mass matrix: %.1e\n", worst);
	assert_true(worst < 1e-12);
}

// --- regions -----------------------------------------------------------------------------------------------

static void checkClosed(const Body* b, const knRegion* region) {
	for (int k = 0; k < region->count; ++k) {
		int parent = b->assembly->nodes[region->joints[k]].parent;
		assert_true(region->active[region->joints[k]]);
		assert_true(parent < 0 || region->active[parent]);
		// pairs move together
		int right = b->assembly->nodes[region->joints[k]].right;
		assert_true(!knAssembly_IsJoint(b->assembly, right) || !b->assembly->nodes[right].follows ||
					region->active[right]);
	}
}

static void regions_take_what_matters_most(void** state) {
	(void)state;
	Body b;
	openBody(&b, &(LongTreeOptions){ .count = 400, .pose = ANY, .floating = true }, false);
	knRegion all;
	assert_true(knRegion_Init(&all, b.assembly, 400, &b.allocator));
	knRegion_Fill(b.hybrid, 400, 0, &all);
	assert_int_equal(all.count, 400);
	double score[400], total = 0.0;
	for (int k = 0; k < 400; ++k) {
		score[k] = longUniform(0.0, 1.0);
		total += score[k];
	}
	for (int count = 1; count <= 400; count += 19) {
		double left = knRegion_Select(b.hybrid, &all, score, &(knRegionOptions){ .count = count }, &b.region);
		assert_int_equal(b.region.count, count);
		checkClosed(&b, &b.region);
		double rest = total;
		for (int k = 0; k < 400; ++k) {
			rest -= b.region.active[all.joints[k]] ? score[k] : 0.0;
		}
		assert_true(fabs(left - rest) < 1e-9);
		assert_true(b.region.active[0]); // the free joint
	}
	double left =
		knRegion_Select(b.hybrid, &all, score, &(knRegionOptions){ .threshold = 0.25 * total }, &b.region);
	assert_true(left <= 0.25 * total && left > 0.2 * total);
	// nothing matters: only the free joint
	left = knRegion_Select(b.hybrid, &all, score, &(knRegionOptions){ .threshold = 2.0 * total }, &b.region);
	assert_int_equal(b.region.count, 1);
	knRegion_Free(&all, b.assembly, &b.allocator);
	closeBody(&b);
}

static void pairs_and_short_parts_stay_together(void** state) {
	(void)state;
	Body b;
	openBody(&b, &(LongTreeOptions){ .count = 200, .pose = STRAIGHT }, true);
	int followers = 0;
	for (int i = 0; i < 200; ++i) {
		followers += b.assembly->nodes[i].follows;
	}
	assert_int_equal(followers, 100); // hinges with alternating axes: all are paired
	for (int count = 2; count <= 100; count += 14) {
		knRegion_Fill(b.hybrid, count, 2 * 200 / count, &b.region);
		assert_true(b.region.count >= count / 2 && b.region.count <= count);
		checkClosed(&b, &b.region);
		knHybrid_Weld(b.hybrid, &b.region, b.t.q, b.t.v, b.now);
		int longest = 0;
		for (int s = 0; s < b.now->tree.count; ++s) {
			int links = b.assembly->nodes[b.now->node[s]].links;
			longest = links > longest ? links : longest;
		}
		assert_true(longest <= 4 * 200 / b.region.count + 2); // evenly spread
	}
	closeBody(&b);
}

static void look_ahead_stays_near_the_front(void** state) {
	(void)state;
	Body b;
	openBody(&b, &(LongTreeOptions){ .count = 1000, .pose = ANY }, false);
	knRegion ahead;
	assert_true(knRegion_Init(&ahead, b.assembly, 1000, &b.allocator));
	knRegion_Fill(b.hybrid, 30, 0, &b.region);
	knRegion_LookAhead(b.hybrid, &b.region, 1, 0, &ahead);
	assert_int_equal(ahead.count, 2 * 30 + 1);
	checkClosed(&b, &ahead);
	knRegion_LookAhead(b.hybrid, &b.region, 2, 0, &ahead);
	assert_int_equal(ahead.count, 4 * 30 + 3);
	checkClosed(&b, &ahead);
	// a push at one end wakes the joints there
	knHybrid_Weld(b.hybrid, &ahead, b.t.q, b.t.v, b.now);
	knTwist* forces = calloc((size_t)ahead.count, sizeof(knTwist));
	forces[ahead.count - 1].lin = knV3(100.0, 0.0, 0.0);
	for (int i = 0; i < b.now->tree.nv; ++i) {
		b.now->v[i] = b.t.tau[i] = 0.0;
	}
	knTree_ForwardDynamics(&b.now->tree, b.now->work, b.now->q, b.now->v, b.t.tau, forces, knZero3(),
						   b.t.qdd);
	double score[200];
	knRegion_Score(b.hybrid, b.now, b.t.qdd, NULL, score);
	knRegion_Select(b.hybrid, &ahead, score, &(knRegionOptions){ .count = 30 }, &b.region);
	int near = 0;
	for (int k = 0; k < b.region.count; ++k) {
		near += b.region.joints[k] >= 800;
	}
	assert_true(near > 15);
	free(forces);
	knRegion_Free(&ahead, b.assembly, &b.allocator);
	closeBody(&b);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(welded_trees_move_as_with_fixed_joints),
		cmocka_unit_test(kept_parts_are_up_to_date),
		cmocka_unit_test(stopped_joints_keep_the_momentum),
		cmocka_unit_test(stopped_joints_solve_the_projection),
		cmocka_unit_test(regions_take_what_matters_most),
		cmocka_unit_test(pairs_and_short_parts_stay_together),
		cmocka_unit_test(look_ahead_stays_near_the_front),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
