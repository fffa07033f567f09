// Work on four joints at a time against the same work on one, and the kernels of different machines against each other.
#include "support/kn_test.h"

#include "core/dense.h"
#include "steppers/impulse/joint_lanes.h"
#include "steppers/impulse/joint_newton.h"

#define JOINTS 7
#define BODIES (JOINTS + 1)

static double next(uint32_t* seed) {
	*seed = 1664525u * *seed + 1013904223u;
	return (double)(*seed >> 8) / 8388608.0 - 1.0;
}

static knVec3 nextVector(uint32_t* seed) {
	double x = next(seed), y = next(seed);
	return knV3(x, y, next(seed));
}

static knFrame nextFrame(uint32_t* seed) {
	double w = 1.5 + next(seed), x = next(seed), y = next(seed);
	knQuat q = knNormalizeQ(knQ(w, x, y, next(seed)));
	return knMakeFrame(nextVector(seed), q);
}

// A chain of joints of all sorts; its first body does not move.
typedef struct Chain {
	knArticulationSolve solve;
	knState state;
	knFrame pose[BODIES];
	double invMass[BODIES];
	knMat33 local[BODIES], invInertia[BODIES];
	knTwist u[BODIES];
	uint8_t strung[BODIES];
	knJoint joints[JOINTS];
	knSolveJoint entries[JOINTS];
	knJointBlock blocks[JOINTS];
} Chain;

static void makeChain(Chain* chain, uint32_t seed) {
	static const knJointKind kinds[JOINTS] = { KN_JOINT_BALL,     KN_JOINT_HINGE,  KN_JOINT_FIXED,
											   KN_JOINT_SLIDER,   KN_JOINT_PLANAR, KN_JOINT_BALL,
											   KN_JOINT_UNIVERSAL };
	memset(chain, 0, sizeof(*chain));
	for (int b = 0; b < BODIES; ++b) {
		chain->pose[b] = nextFrame(&seed);
		chain->u[b] = knMakeTwist(knScale(b % 3 == 0 ? 9.0 : 0.01, nextVector(&seed)), nextVector(&seed));
		if (b > 0) {
			chain->invMass[b] = 1.5 + next(&seed);
			chain->local[b] = knDiagonal33(2.0 + next(&seed), 2.0 + next(&seed), 2.0 + next(&seed));
			chain->invInertia[b] = knRotateTensor(chain->pose[b].q, &chain->local[b]);
		}
	}
	for (int i = 0; i < JOINTS; ++i) {
		chain->joints[i] = (knJoint){ .kind = kinds[i], .parent = i, .child = i + 1 };
		chain->joints[i].frameParent = nextFrame(&seed);
		// a little open
		knFrame onP = knMulF(chain->pose[i], chain->joints[i].frameParent), small = nextFrame(&seed);
		small = knMakeFrame(knScale(0.01, small.p), knQuat_Exp(knScale(0.02, nextVector(&seed))));
		chain->joints[i].frameChild = knInvMulF(chain->pose[i + 1], knMulF(onP, small));
		chain->entries[i] = (knSolveJoint){ .joint = &chain->joints[i],
											.ops = knJointOps_Get(kinds[i]),
											.index = i,
											.parent = i,
											.child = i + 1 };
	}
	chain->state.pose = chain->pose;
	chain->solve.input.state = &chain->state;
	chain->solve.jointCount = JOINTS;
	chain->solve.joints = chain->entries;
	chain->solve.blocks = chain->blocks;
	chain->solve.invMass = chain->invMass;
	chain->solve.invInertia = chain->invInertia;
	chain->solve.u = chain->u;
	chain->solve.strung = chain->strung;
	chain->solve.input.h = 0.02;
}

// Blocks of all joints, `together` at a time.
static void makeBlocks(Chain* chain, const knJointKernel* kernel, int together, knJointBlock* blocks) {
	for (int begin = 0; begin < JOINTS; begin += together) {
		knJointBlock spare;
		knJointLanes lanes = { .solve = &chain->solve,
							   .count = begin + together < JOINTS ? together : JOINTS - begin };
		for (int l = 0; l < KN_JOINT_LANES; ++l) {
			lanes.entry[l] = begin + (l < lanes.count ? l : 0);
			lanes.block[l] = l < lanes.count ? &blocks[begin + l] : &spare;
		}
		kernel->takeFrames(&lanes);
		for (int l = 0; l < lanes.count; ++l) {
			const knSolveJoint* entry = &chain->entries[begin + l];
			knJointBlock* block = lanes.block[l];
			block->count = entry->ops->lockedRows(
				entry->joint, entry->ops->projectState(entry->joint, block->J), block->rows);
		}
		kernel->factorRows(&lanes);
	}
}

// All numbers of two blocks that anybody reads.
static void assertSameBlock(const knJointBlock* a, const knJointBlock* b) {
	assert_int_equal(a->count, b->count);
	assert_memory_equal(&a->rP, &b->rP, sizeof(double) * 17);
	assert_memory_equal(a->rows, b->rows, sizeof(knTwist) * (size_t)a->count);
	assert_memory_equal(a->softness, b->softness, sizeof(double) * (size_t)a->count);
	for (int i = 0; i < a->count; ++i) {
		assert_memory_equal(a->factor + a->count * i, b->factor + a->count * i,
							sizeof(double) * (size_t)(i + 1));
	}
}

// Whatever the kernel, and whatever the other lanes hold.
static void test_same_bits(void** state) {
	(void)state;
	static Chain chain;
	static knJointBlock one[JOINTS], other[JOINTS];
	const knJointKernel* kernels[2] = { &knJointKernelPlain, knJointKernel_Best() };
	for (uint32_t seed = 1; seed < 30; ++seed) {
		makeChain(&chain, seed);
		makeBlocks(&chain, &knJointKernelPlain, 1, one);
		for (int n = 0; n < 8; ++n) {
			makeBlocks(&chain, kernels[n % 2], 1 + n / 2, other);
			for (int i = 0; i < JOINTS; ++i) {
				assertSameBlock(&one[i], &other[i]);
			}
		}
	}
}

// The plain functions do the same operations: numbers are equal, not only near.
static void assertPlain(Chain* chain, int i, const knJointBlock* block) {
	const knSolveJoint* entry = &chain->entries[i];
	const knFrame J = knJoint_Frame(entry->joint, chain->pose[entry->parent], chain->pose[entry->child]);
	assert_true(J.p.x == block->J.p.x && J.p.y == block->J.p.y && J.p.z == block->J.p.z);
	assert_true(J.q.w == block->J.q.w && J.q.x == block->J.q.x && J.q.y == block->J.q.y &&
				J.q.z == block->J.q.z);
	knTwist rows[6];
	double K[36];
	const int n = entry->ops->lockedRows(entry->joint, entry->ops->projectState(entry->joint, J), rows);
	const knMat33 turn = knQuat_ToMat33(knMulQ(chain->pose[entry->parent].q, entry->joint->frameParent.q));
	const knJointPair pair = knJointPair_Make(&chain->solve, entry, block->rP, block->rC);
	assert_int_equal(n, block->count);
	for (int r = 0; r < n; ++r) {
		rows[r] = knMakeTwist(knMulMV(&turn, rows[r].ang), knMulMV(&turn, rows[r].lin));
		const knTwist response = knJointPair_Response(&pair, rows[r]);
		for (int c = 0; c <= r; ++c) {
			K[n * r + c] = knDotT(rows[c], response);
		}
		assert_true(block->softness[r] == 1e-7 * K[(n + 1) * r]);
	}
	assert_true(knDense_FactorLdl(K, n));
	for (int r = 0; r < n; ++r) {
		for (int c = 0; c <= r; ++c) {
			assert_true(K[n * r + c] == block->factor[n * r + c]);
		}
	}
}

static void test_as_one_by_one(void** state) {
	(void)state;
	static Chain chain;
	static knJointBlock blocks[JOINTS];
	for (uint32_t seed = 1; seed < 30; ++seed) {
		makeChain(&chain, seed);
		makeBlocks(&chain, knJointKernel_Best(), 4, blocks);
		for (int i = 0; i < JOINTS; ++i) {
			assertPlain(&chain, i, &blocks[i]);
		}
	}
}

// Two rows that are the same leave K singular, in one lane only.
static void test_singular_lane(void** state) {
	(void)state;
	static Chain chain;
	static knJointBlock blocks[4], spare;
	makeChain(&chain, 3);
	knJointLanes lanes = { .solve = &chain.solve, .count = 3, .entry = { 1, 2, 3, 1 } };
	for (int l = 0; l < KN_JOINT_LANES; ++l) {
		lanes.block[l] = l < 3 ? &blocks[l] : &spare;
	}
	knJointKernel_Best()->takeFrames(&lanes);
	for (int l = 0; l < 3; ++l) {
		blocks[l].count = 2;
		blocks[l].rows[0] = knMakeTwist(knZero3(), knV3(1.0, 0.0, 0.0));
		blocks[l].rows[1] = knMakeTwist(knZero3(), l == 1 ? knZero3() : knV3(0.0, 1.0, 0.0));
	}
	knJointKernel_Best()->factorRows(&lanes);
	assert_int_equal(blocks[0].count, 2);
	assert_int_equal(blocks[1].count, 0);
	assert_int_equal(blocks[2].count, 2);
}

static void test_tensors(void** state) {
	(void)state;
	static Chain chain;
	makeChain(&chain, 17);
	const knJointKernel* kernels[2] = { &knJointKernelPlain, knJointKernel_Best() };
	for (int n = 0; n < 2; ++n) {
		const knFrame* pose[4] = { &chain.pose[1], &chain.pose[4], &chain.pose[2], &chain.pose[7] };
		const knMat33* local[4] = { &chain.local[1], &chain.local[4], &chain.local[2], &chain.local[7] };
		knMat33 world[4];
		knMat33* const to[4] = { &world[0], &world[1], &world[2], &world[3] };
		kernels[n]->turnTensors(pose, local, to);
		for (int l = 0; l < 4; ++l) {
			const knMat33 plain = knRotateTensor(pose[l]->q, local[l]);
			assert_memory_equal(&plain, &world[l], sizeof(plain));
		}
	}
}

// Rows about the centres of both bodies.
static void test_spread_rows(void** state) {
	(void)state;
	static Chain chain;
	const knJointKernel* kernels[2] = { &knJointKernelPlain, knJointKernel_Best() };
	makeChain(&chain, 23);
	makeBlocks(&chain, &knJointKernelPlain, 4, chain.blocks);
	for (int n = 0; n < 2 * JOINTS; ++n) {
		knJointBlock* block = &chain.blocks[n / 2];
		knBodyRow rows[KN_BLOCK_ROWS];
		block->all = block->count;
		kernels[n % 2]->spreadRows(block, rows);
		for (int k = 0; k < block->all; ++k) {
			const knTwist row = block->rows[k];
			const knVec3 onP = knNeg(knAdd(row.ang, knCross(block->rP, row.lin)));
			const knVec3 onC = knAdd(row.ang, knCross(block->rC, row.lin));
			assert_true(rows[k].a[0] == onP.x && rows[k].a[1] == onP.y && rows[k].a[2] == onP.z);
			assert_true(rows[k].b[0] == onC.x && rows[k].b[1] == onC.y && rows[k].b[2] == onC.z);
			assert_true(rows[k].a[3] == -row.lin.x && rows[k].a[4] == -row.lin.y &&
						rows[k].a[5] == -row.lin.z);
			assert_true(rows[k].b[3] == row.lin.x && rows[k].b[4] == row.lin.y && rows[k].b[5] == row.lin.z);
		}
	}
}

// How soft the couple of one joint is, body by body (joint_steady.c).
static double plainStiffness(const Chain* chain, int i, bool child, knVec3 pull, double force) {
	const int body = child ? chain->entries[i].child : chain->entries[i].parent;
	const knJointBlock* block = &chain->blocks[i];
	const knVec3 arm = child ? block->rC : block->rP, along = knNormalize(arm),
				 first = knAnyOrthogonal(along);
	const knVec3 axes[2] = { first, knCross(along, first) };
	const knMat33* I = &chain->invInertia[body];
	const double h = chain->solve.input.h, k = force * knDot(pull, arm);
	double across = I->cx.x + I->cy.y + I->cz.z - knDot(arm, knMulMV(I, arm)) / knLengthSquared(arm),
		   calm = 0.1;
	if (!(h * h * k * across > calm)) {
		return 0.0;
	}
	if (chain->strung[body] == 0) {
		across = 0.0;
		calm = 0.2;
		for (int a = 0; a < 2; ++a) {
			double z[6];
			knVec3 spin = knMulMV(I, axes[a]), torque = axes[a];
			for (int r = 0; r < block->count; ++r) {
				z[r] = -knDotT(block->rows[r], knMakeTwist(spin, knCross(spin, arm)));
			}
			knDense_SolveLdl(block->factor, block->count, z);
			for (int r = 0; r < block->count; ++r) {
				torque = knMulAdd(torque, z[r], knAdd(block->rows[r].ang, knCross(arm, block->rows[r].lin)));
			}
			across += knDot(spin, torque);
		}
	}
	return k * knClamp((h * h * k * across - calm) / 0.4, 0.0, 1.0);
}

static double plainSoftness(const Chain* chain, int i) {
	const double h = chain->solve.input.h;
	const knVec3 impulse =
		knAdd(knAdd(chain->entries[i].locked.lin, chain->entries[i].recalled), chain->entries[i].late);
	const double force = knLength(impulse) / h;
	if (!(force > 0.0)) {
		return 0.0;
	}
	const knVec3 pull = knScale(1.0 / (h * force), impulse);
	const double k =
		plainStiffness(chain, i, true, pull, force) + plainStiffness(chain, i, false, knNeg(pull), force);
	return k > 0.0 ? 0.25 / (h * h * k) : 0.0;
}

// The factors of all rows of a block.
static void assertWhole(const Chain* chain, int i, const knJointBlock* block) {
	const knJointPair pair = knJointPair_Make(&chain->solve, &chain->entries[i], block->rP, block->rC);
	const int n = block->all;
	double K[KN_BLOCK_ROWS * KN_BLOCK_ROWS];
	for (int r = 0; r < n; ++r) {
		const knTwist response = knJointPair_Response(&pair, block->rows[r]);
		for (int c = 0; c <= r; ++c) {
			K[n * r + c] = knDotT(block->rows[c], response);
		}
		K[(n + 1) * r] += r >= block->count ? block->softness[r] : 0.0;
	}
	assert_true(knDense_FactorLdl(K, n));
	for (int r = 0; r < n; ++r) {
		for (int c = 0; c <= r; ++c) {
			assert_true(K[n * r + c] == block->whole[n * r + c]);
		}
	}
}

// Slack joints, taut ones and links of loops side by side; some have a couple.
static void test_steady(void** state) {
	(void)state;
	static Chain chain;
	const knJointKernel* kernels[2] = { &knJointKernelPlain, knJointKernel_Best() };
	const int entries[JOINTS] = { 0, 1, 2, 3, 4, 5, 6 };
	int taut = 0, slack = 0;
	for (uint32_t seed = 1; seed < 60; ++seed) {
		makeChain(&chain, seed);
		makeBlocks(&chain, &knJointKernelPlain, 4, chain.blocks);
		uint32_t more = seed + 1000;
		for (int i = 0; i < JOINTS; ++i) {
			knJointBlock* block = &chain.blocks[i];
			const bool couple = next(&more) > 0.0;
			chain.strung[i + 1] = next(&more) > 0.3;
			chain.entries[i].locked.lin = knScale(next(&more) > -0.5 ? 10.0 : 0.0, nextVector(&more));
			chain.entries[i].late = knScale(i == 2 ? 1.0 : 0.0, nextVector(&more));
			block->all = block->count + (couple ? 3 : 0);
			for (int k = 0; couple && k < 3; ++k) {
				block->rows[block->count + k] = knMakeTwist(knV3(k == 0, k == 1, k == 2), knZero3());
				block->softness[block->count + k] = 0.1 + 0.1 * k;
			}
		}
		for (int n = 0; n < 8; ++n) {
			for (int begin = 0, together = 1 + n / 2; begin < JOINTS; begin += together) {
				const int count = begin + together < JOINTS ? together : JOINTS - begin;
				const knJointLanes lanes = knJointLanes_Make(&chain.solve, entries + begin, count);
				knSteadyLanes steady;
				kernels[n % 2]->steady(&lanes, &steady);
				kernels[n % 2]->factorAll(&lanes);
				for (int l = 0; l < count; ++l) {
					const double softness = plainSoftness(&chain, begin + l);
					assert_true(softness == steady.softness[l]);
					taut += softness > 0.0;
					slack += softness == 0.0;
					assertWhole(&chain, begin + l, lanes.block[l]);
				}
			}
		}
	}
	assert_true(taut > 500 && slack > 500);
}

// Newton's equations of the entries from `begin` on, at most four, for their own targets.
static void makeNewton(Chain* chain, const knJointKernel* kernel, int begin, int count,
					   knNewtonLanes* lanes) {
	int rowCount[KN_JOINT_LANES] = { 0 };
	*lanes = (knNewtonLanes){ .solve = &chain->solve };
	for (int l = 0; l < KN_JOINT_LANES; ++l) {
		lanes->entry[l] = begin + (l < count ? l : 0);
	}
	kernel->predict(lanes);
	for (int l = 0; l < count; ++l) {
		const knSolveJoint* entry = &chain->entries[begin + l];
		lanes->target[l] = entry->ops->projectState(entry->joint, lanes->J[l]);
		rowCount[l] = entry->ops->lockedRows(entry->joint, lanes->target[l], lanes->rows[l]);
		lanes->most = rowCount[l] > lanes->most ? rowCount[l] : lanes->most;
		for (int k = rowCount[l]; k < 6; ++k) {
			lanes->rows[l][k] = knZeroTwist();
		}
	}
	kernel->derive(lanes);
}

// Lane l against the equations of one joint (joint_newton.h).
static void assertNewton(Chain* chain, const knNewtonLanes* lanes, int l) {
	const int i = lanes->entry[l];
	const knSolveJoint* entry = &chain->entries[i];
	const double h = chain->solve.input.h;
	const knFrame poseP = chain->pose[entry->parent], poseC = chain->pose[entry->child];
	knNewtonMotion mp = knNewtonMotion_Make(poseP.p, chain->u[entry->parent], h);
	knNewtonMotion mc = knNewtonMotion_Make(poseC.p, chain->u[entry->child], h);
	const knFrame endP = knMakeFrame(mp.center, knMulQ(mp.turn, poseP.q));
	const knFrame endC = knMakeFrame(mc.center, knMulQ(mc.turn, poseC.q));
	const knFrame target = entry->ops->projectState(entry->joint, knJoint_Frame(entry->joint, endP, endC));
	const knQuat axes = knMulQ(endP.q, entry->joint->frameParent.q);
	knJointNewton newton;
	knJointNewton_Set(&chain->solve, i, target, &newton);
	knTwist rows[6], changes[6];
	const int n = entry->ops->lockedRows(entry->joint, target, rows);
	for (int k = 0; k < n; ++k) {
		rows[k] = knRotateT(axes, rows[k]);
	}
	knTwist F = knSubT(knJointNewton_Residual(&newton, &mp, &mc), knRotateT(axes, entry->error));
	knJointNewton_Changes(&newton, &mp, &mc, rows, n, changes);
	for (int r = 0; r < n; ++r) {
		assert_true(knDotT(rows[r], F) == lanes->F[r][l]);
		for (int c = 0; c < n; ++c) {
			assert_true(knDotT(rows[r], changes[c]) == lanes->K[r][c][l]);
		}
	}
	const knVec3 offset = knSub(newton.child.lever, newton.child.arm);
	assert_true(lanes->levers[l].ang.x == newton.parent.lever.x &&
				lanes->levers[l].lin.z == newton.child.lever.z);
	assert_true(lanes->offsets[l].lin.x == offset.x && lanes->offsets[l].lin.y == offset.y);
}

// Bodies that turn much and little in one group, on both sides of the double cover, and joints that were open before.
static void test_newton(void** state) {
	(void)state;
	static Chain chain;
	static knNewtonLanes lanes;
	const knJointKernel* kernels[2] = { &knJointKernelPlain, knJointKernel_Best() };
	for (uint32_t seed = 1; seed < 30; ++seed) {
		makeChain(&chain, seed);
		for (int i = 0; i < JOINTS; ++i) {
			chain.entries[i].error = knMakeTwist(knV3(0.01, -0.02, 0.001 * i), knV3(0.0, 0.003, 0.01));
			chain.joints[i].frameChild.q =
				i % 2 == 0 ? knNegQ(chain.joints[i].frameChild.q) : chain.joints[i].frameChild.q;
		}
		for (int n = 0; n < 8; ++n) {
			const int together = 1 + n / 2;
			for (int begin = 0; begin < JOINTS; begin += together) {
				const int count = begin + together < JOINTS ? together : JOINTS - begin;
				makeNewton(&chain, kernels[n % 2], begin, count, &lanes);
				for (int l = 0; l < count; ++l) {
					assertNewton(&chain, &lanes, l);
				}
			}
		}
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_bits),     cmocka_unit_test(test_as_one_by_one),
		cmocka_unit_test(test_singular_lane), cmocka_unit_test(test_tensors),
		cmocka_unit_test(test_spread_rows),   cmocka_unit_test(test_steady),
		cmocka_unit_test(test_newton),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
