// Linkages of a model: spanning trees that move as the scene's joints allow, loops, bases, and what is left out.
#include "model/joint.h"
#include "tree_test.h"

#define BODIES 12

typedef struct Rig {
	knScene* scene;
	knModel* model;
	knLinkageSet* set;
	const knLinkage* linkage; // the first
	knTreeWork* work;
	double q[7 * BODIES], v[6 * BODIES], qdd[6 * BODIES];
} Rig;

static knScene* newScene(void) {
	knSceneDef def = knSceneDef_Default();
	knScene* scene = knScene_Create(&def, NULL, NULL);
	assert_non_null(scene);
	return scene;
}

static knBodyId addBody(knScene* scene, knBodyKind kind, knFrame frame, knTwist velocity, knMassProps mass) {
	knBodyDef def = knBodyDef_Default();
	def.kind = kind;
	def.frame = frame;
	def.hasMass = true;
	def.mass = mass;
	def.angularVelocity = velocity.ang;
	def.velocity = knAdd(velocity.lin, knCross(velocity.ang, knRotate(frame.q, mass.center)));
	knError error = { 0 };
	knBodyId id = knScene_AddBody(scene, &def, &error);
	assert_false(KN_ID_IS_NULL(id));
	return id;
}

static knJointId addJoint(knScene* scene, knJointDef def) {
	knError error = { 0 };
	knJointId id = knScene_AddJoint(scene, &def, &error);
	if (KN_ID_IS_NULL(id)) {
		print_error("%s\n", error.message);
	}
	assert_false(KN_ID_IS_NULL(id));
	return id;
}

static void compile(Rig* rig) {
	knError error = { 0 };
	rig->model = knModel_Create(rig->scene, &error);
	if (rig->model == NULL) {
		print_error("%s\n", error.message);
	}
	assert_non_null(rig->model);
	rig->set = knLinkageSet_Create(rig->model, NULL, &error);
	assert_non_null(rig->set);
	rig->linkage = knLinkageSet_At(rig->set, 0);
	rig->work = knTreeWork_Create(rig->linkage->tree, NULL, NULL);
	assert_non_null(rig->work);
	knLinkage_InitialState(rig->linkage, rig->model, rig->work, rig->q, rig->v);
	knTree_Kinematics(rig->linkage->tree, rig->work, rig->q, rig->v);
}

static void freeRig(Rig* rig) {
	knTreeWork_Destroy(rig->work);
	knLinkageSet_Destroy(rig->set);
	knModel_Release(rig->model);
	knScene_Destroy(rig->scene);
}

// The acceleration of a body's frame by differences of its velocity along the motion.
static knTwist bodyAcceleration(const knTree* tree, knTreeWork* work, const double* q, const double* v,
								const double* qdd, int link) {
	knTwist ends[2];
	const double h = 1e-4;
	for (int side = 0; side < 2; ++side) {
		double moved[7 * MAX_LINKS], speed[MAX_V], mean[MAX_V], step = side == 0 ? -h : h;
		memcpy(moved, q, (size_t)knTree_CoordinateCount(tree) * sizeof(double));
		for (int i = 0; i < knTree_VelocityCount(tree); ++i) {
			speed[i] = v[i] + step * qdd[i];
			mean[i] = v[i] + 0.5 * step * qdd[i];
		}
		knTree_Integrate(tree, moved, mean, step);
		knTree_Kinematics(tree, work, moved, speed);
		ends[side] = knTree_LinkVelocity(tree, work, link);
	}
	return knScaleT(0.5 / h, knSubT(ends[1], ends[0]));
}

static double apart(knTwist a, knTwist b) {
	knTwist d = knSubT(a, b);
	return fmax(knLength(d.ang), knLength(d.lin));
}

static double size(knTwist a) {
	return fmax(knLength(a.ang), knLength(a.lin));
}

// --- the same motion -------------------------------------------------------------------------------------

// A random tree written down as a scene, joints in another order and some the other way round, is found again: same
// poses, velocities, energy and accelerations.
static void trees_survive_as_scenes(void** state) {
	(void)state;
	for (int trial = 0; trial < 300; ++trial) {
		Tree t;
		double qdd[MAX_V];
		makeTree(&t, 1 + trial % BODIES, trial % 3 == 0, false);
		knTree_ForwardDynamics(t.tree, t.work, t.q, t.v, NULL, NULL, gravity, qdd);
		knTree_Kinematics(t.tree, t.work, t.q, t.v);
		double energy = knTree_KineticEnergy(t.tree, t.work);
		Rig rig = { .scene = newScene() };
		knBodyId ids[BODIES];
		for (int i = 0; i < t.count; ++i) {
			ids[i] = addBody(rig.scene, KN_BODY_DYNAMIC, knTree_LinkFrame(t.tree, t.work, i),
							 knTree_LinkVelocity(t.tree, t.work, i), t.links[i].mass);
		}
		for (int i = t.count - 1; i >= 0; --i) {
			const knTreeLink* link = &t.links[i];
			if (i == 0 && link->kind == KN_JOINT_FREE) {
				continue;
			}
			knJointDef def = knJointDef_Default(link->kind);
			bool swap = i > 0 && i % 2 == 0 && link->kind != KN_JOINT_UNIVERSAL;
			knBodyId parent = link->parent >= 0 ? ids[link->parent] : KN_WORLD_BODY;
			def.parent = swap ? ids[i] : parent;
			def.child = swap ? parent : ids[i];
			def.frameParent = swap ? link->frameChild : link->frameParent;
			def.frameChild = swap ? link->frameParent : link->frameChild;
			addJoint(rig.scene, def);
		}
		compile(&rig);
		assert_int_equal(knLinkageSet_Count(rig.set), 1);
		assert_int_equal(rig.linkage->linkCount, t.count);
		assert_int_equal(rig.linkage->loopCount, 0);
		assert_int_equal(knTree_VelocityCount(rig.linkage->tree), t.nv);
		assert_true(fabs(knTree_KineticEnergy(rig.linkage->tree, rig.work) - energy) <
					1e-11 * (1.0 + energy));
		knTree_ForwardDynamics(rig.linkage->tree, rig.work, rig.q, rig.v, NULL, NULL, gravity, rig.qdd);
		for (int i = 0; i < t.count; ++i) {
			int linkage, link;
			assert_true(knLinkageSet_Find(rig.set, ids[i], &linkage, &link));
			knTree_Kinematics(t.tree, t.work, t.q, t.v);
			knTree_Kinematics(rig.linkage->tree, rig.work, rig.q, rig.v);
			knFrame his = knTree_LinkFrame(t.tree, t.work, i),
					mine = knTree_LinkFrame(rig.linkage->tree, rig.work, link);
			assert_true(knDistance(his.p, mine.p) < 1e-11);
			assert_true(apart(knTree_LinkVelocity(t.tree, t.work, i),
							  knTree_LinkVelocity(rig.linkage->tree, rig.work, link)) < 1e-10);
			knTwist a = bodyAcceleration(t.tree, t.work, t.q, t.v, qdd, i);
			knTwist b = bodyAcceleration(rig.linkage->tree, rig.work, rig.q, rig.v, rig.qdd, link);
			assert_true(apart(a, b) < 1e-5 * (1.0 + size(a)));
		}
		freeRig(&rig);
		freeTree(&t);
	}
}

// A joint that the tree meets from its child's side allows what it allows from the other.
static void reversed_joints_allow_the_same(void** state) {
	(void)state;
	for (int trial = 0; trial < 20 * 10; ++trial) {
		knJointKind kind = kinds[trial % 10];
		const knJointOps* ops = knJointOps_Get(kind);
		knJoint joint = { .kind = kind, .nq = ops->nq, .nv = ops->nv };
		double q[7], v[6];
		knJoint_NeutralCoordinates(&joint, q);
		for (int k = 0; k < 6; ++k) {
			v[k] = uniform(-1.0, 1.0);
		}
		ops->integrate(&joint, q, v, 1.0);
		Rig rig = { .scene = newScene() };
		knFrame near = randomFrame(), frameParent = randomFrame(), frameChild = randomFrame();
		// near * frameChild = far * frameParent * J(q)
		knFrame far =
			knMulF(knMulF(near, frameChild), knInvF(knMulF(frameParent, ops->transform(&joint, q))));
		knBodyId child = addBody(rig.scene, KN_BODY_DYNAMIC, near, knZeroTwist(), randomMass());
		knBodyId parent = addBody(rig.scene, KN_BODY_DYNAMIC, far, knZeroTwist(), randomMass());
		knJointDef hinge = knJointDef_Default(KN_JOINT_HINGE);
		hinge.child = child;
		hinge.frameParent = knMulF(near, randomFrame());
		hinge.frameChild = knInvMulF(near, hinge.frameParent);
		addJoint(rig.scene, hinge);
		knJointDef def = knJointDef_Default(kind);
		def.parent = parent;
		def.child = child;
		def.frameParent = frameParent;
		def.frameChild = frameChild;
		addJoint(rig.scene, def);
		compile(&rig);
		assert_int_equal(rig.linkage->linkCount, 2);
		assert_true(rig.linkage->reversed[1] && !rig.linkage->reversed[0]);
		assert_true(knDistance(knTree_LinkFrame(rig.linkage->tree, rig.work, 1).p, far.p) < 1e-12);
		for (int k = 0; k < knTree_VelocityCount(rig.linkage->tree); ++k) {
			rig.v[k] = uniform(-1.0, 1.0);
		}
		knTree_Integrate(rig.linkage->tree, rig.q, rig.v, 1.0);
		knTree_Kinematics(rig.linkage->tree, rig.work, rig.q, rig.v);
		knFrame J = knInvMulF(knMulF(knTree_LinkFrame(rig.linkage->tree, rig.work, 1), frameParent),
							  knMulF(knTree_LinkFrame(rig.linkage->tree, rig.work, 0), frameChild));
		knTwist off = knJoint_ErrorTwist(J, ops->projectState(&joint, J));
		assert_true(size(off) < 1e-12);
		freeRig(&rig);
	}
}

// --- loops -----------------------------------------------------------------------------------------------

// A closed chain: bodies on ball joints and hinges, both ends held. `cut` is marked as the loop joint.
static void closedChain(Rig* rig, int count, int cut, uint64_t chainSeed, bool spinning) {
	dice.state = chainSeed;
	rig->scene = newScene();
	static Tree t;
	t.count = count;
	for (int i = 0; i < count; ++i) {
		t.links[i] = (knTreeLink){ .parent = i - 1,
								   .kind = i % 3 == 1 ? KN_JOINT_HINGE : KN_JOINT_BALL,
								   .frameParent = randomFrame(),
								   .frameChild = randomFrame(),
								   .mass = randomMass() };
	}
	t.tree = knTree_Create(t.links, count, NULL, NULL);
	t.work = knTreeWork_Create(t.tree, NULL, NULL);
	t.nv = knTree_VelocityCount(t.tree);
	randomState(&t);
	knTree_Kinematics(t.tree, t.work, t.q, t.v);
	// the end is held at a point by a ball joint: velocities that move it are taken out
	knFrame last = knTree_LinkFrame(t.tree, t.work, count - 1), closing = randomFrame();
	knVec3 point = knPoint(last, closing.p);
	static double J[6 * MAX_V];
	knTree_Jacobian(t.tree, t.work, count - 1, point, J);
	for (int pass = 0; pass < 200; ++pass) {
		for (int row = 3; row < 6; ++row) {
			double speed = 0.0, norm = 0.0;
			for (int i = 0; i < t.nv; ++i) {
				speed += J[row * t.nv + i] * t.v[i];
				norm += J[row * t.nv + i] * J[row * t.nv + i];
			}
			for (int i = 0; i < t.nv; ++i) {
				t.v[i] -= speed / norm * J[row * t.nv + i];
			}
		}
	}
	for (int i = 0; i < t.nv && !spinning; ++i) {
		t.v[i] = 0.0;
	}
	knTree_Kinematics(t.tree, t.work, t.q, t.v);
	knBodyId ids[BODIES];
	for (int i = 0; i < count; ++i) {
		ids[i] = addBody(rig->scene, KN_BODY_DYNAMIC, knTree_LinkFrame(t.tree, t.work, i),
						 knTree_LinkVelocity(t.tree, t.work, i), t.links[i].mass);
		knJointDef def = knJointDef_Default(t.links[i].kind);
		def.parent = i > 0 ? ids[i - 1] : KN_WORLD_BODY;
		def.child = ids[i];
		def.frameParent = t.links[i].frameParent;
		def.frameChild = t.links[i].frameChild;
		def.loop = i == cut;
		addJoint(rig->scene, def);
	}
	knJointDef def = knJointDef_Default(KN_JOINT_BALL);
	def.child = ids[count - 1];
	def.frameParent = knMulF(last, closing);
	def.frameChild = closing;
	def.loop = cut == count;
	addJoint(rig->scene, def);
	freeTree(&t);
	compile(rig);
}

static void solveLoops(Rig* rig) {
	knTreeLoop loops[2 * BODIES];
	for (int k = 0; k < rig->linkage->loopCount; ++k) {
		loops[k] = rig->linkage->loops[k].loop;
	}
	knTreeLagrange* lagrange =
		knTreeLagrange_Create(rig->linkage->tree, loops, rig->linkage->loopCount, NULL, NULL);
	assert_non_null(lagrange);
	assert_true(
		knTreeLagrange_ForwardDynamics(lagrange, rig->work, rig->q, rig->v, NULL, NULL, gravity, rig->qdd));
	knTreeLagrange_Destroy(lagrange);
}

// Where a loop is cut is a choice of words: bodies accelerate as before.
static void a_loop_moves_alike_wherever_it_is_cut(void** state) {
	(void)state;
	for (int trial = 0; trial < 60; ++trial) {
		int count = 3 + trial % 6;
		knTwist first[BODIES];
		for (int cut = 0; cut <= count; ++cut) {
			Rig rig = { 0 };
			closedChain(&rig, count, cut, 100 + (uint64_t)trial, true);
			assert_int_equal(rig.linkage->loopCount, 1);
			assert_int_equal(rig.linkage->linkCount, count);
			solveLoops(&rig);
			for (int b = 0; b < count; ++b) {
				int linkage, link;
				assert_true(knLinkageSet_Find(rig.set, knModel_BodyAt(rig.model, b), &linkage, &link));
				knTwist a = bodyAcceleration(rig.linkage->tree, rig.work, rig.q, rig.v, rig.qdd, link);
				if (cut == 0) {
					first[b] = a;
				}
				assert_true(apart(a, first[b]) < 1e-4 * (1.0 + size(first[b])));
			}
			freeRig(&rig);
		}
	}
}

// A ball joint given by a user's functions holds as the built-in one does.
static knFrame ballState(knFrame J, void* context) {
	(void)context;
	return knMakeFrame(knZero3(), J.q);
}

static knTwist ballVelocity(knFrame J, knTwist V, void* context) {
	(void)J, (void)context;
	return knMakeTwist(V.ang, knZero3());
}

static void custom_joints_are_loops(void** state) {
	(void)state;
	knTwist accelerations[2][4];
	for (int custom = 0; custom < 2; ++custom) {
		Rig rig = { 0 };
		closedChain(&rig, 4, 4, 77, true);
		knTreeLoop loop = rig.linkage->loops[0].loop;
		if (custom) {
			loop.kind = KN_JOINT_CUSTOM;
			loop.custom = (knCustomJoint){ ballState, ballVelocity, NULL };
		}
		knTreeLagrange* lagrange = knTreeLagrange_Create(rig.linkage->tree, &loop, 1, NULL, NULL);
		assert_true(
			knTreeLagrange_ForwardDynamics(lagrange, rig.work, rig.q, rig.v, NULL, NULL, gravity, rig.qdd));
		knTreeLagrange_Destroy(lagrange);
		for (int i = 0; i < 4; ++i) {
			accelerations[custom][i] =
				bodyAcceleration(rig.linkage->tree, rig.work, rig.q, rig.v, rig.qdd, i);
		}
		freeRig(&rig);
	}
	for (int i = 0; i < 4; ++i) {
		assert_true(apart(accelerations[0][i], accelerations[1][i]) <
					1e-6 * (1.0 + size(accelerations[0][i])));
	}
	// and in a scene they never span
	Rig rig = { .scene = newScene() };
	knBodyId a = addBody(rig.scene, KN_BODY_DYNAMIC, knIdentityF(), knZeroTwist(), randomMass());
	knBodyId b = addBody(rig.scene, KN_BODY_DYNAMIC, knIdentityF(), knZeroTwist(), randomMass());
	knJointDef def = knJointDef_Default(KN_JOINT_CUSTOM);
	def.parent = a;
	def.child = b;
	def.custom = (knCustomJoint){ ballState, ballVelocity, NULL };
	addJoint(rig.scene, def);
	compile(&rig);
	assert_int_equal(knLinkageSet_Count(rig.set), 1);
	assert_int_equal(rig.linkage->linkCount, 2);
	assert_int_equal(rig.linkage->loopCount, 1);
	assert_int_equal(knTree_Parent(rig.linkage->tree, 1), -1);
	freeRig(&rig);
}

// --- bases -----------------------------------------------------------------------------------------------

// A slider on a turning kinematic body, at rest on it: centrifugal acceleration along the slider, w^2 r.
static void a_kinematic_base_carries_its_tree(void** state) {
	(void)state;
	Rig rig = { .scene = newScene() };
	knTwist spin = { knV3(0.0, 0.0, 3.0), knZero3() };
	knMassProps mass = { 1.0, knZero3(), knDiagonal33(0.1, 0.1, 0.1) };
	knBodyId table = addBody(rig.scene, KN_BODY_KINEMATIC, knIdentityF(), spin, mass);
	knFrame at = knMakeFrame(knV3(0.5, 0.0, 0.0), knIdentityQ());
	knTwist carried = { spin.ang, knCross(spin.ang, at.p) };
	knBodyId bead = addBody(rig.scene, KN_BODY_DYNAMIC, at, carried, mass);
	knJointDef def = knJointDef_Default(KN_JOINT_SLIDER);
	def.parent = table;
	def.child = bead;
	def.frameParent = at;
	addJoint(rig.scene, def);
	compile(&rig);
	assert_int_equal(rig.linkage->base, KN_BASE_KINEMATIC);
	assert_true(KN_ID_EQUALS(rig.linkage->baseBody, table));
	assert_true(fabs(rig.v[0]) < 1e-14);
	knTree_ForwardDynamics(rig.linkage->tree, rig.work, rig.q, rig.v, NULL, NULL, knZero3(), rig.qdd);
	assert_true(fabs(rig.qdd[0] - 9.0 * 0.5) < 1e-12);
	freeRig(&rig);
}

static void joints_find_their_base(void** state) {
	(void)state;
	Rig rig = { .scene = newScene() };
	knMassProps mass = { 1.0, knZero3(), knDiagonal33(0.1, 0.1, 0.1) };
	knFrame at[4];
	knBodyId ids[4];
	const knBodyKind bodyKinds[4] = { KN_BODY_DYNAMIC, KN_BODY_FIXED, KN_BODY_KINEMATIC, KN_BODY_DYNAMIC };
	for (int i = 0; i < 4; ++i) {
		at[i] = randomFrame();
		ids[i] = addBody(rig.scene, bodyKinds[i], at[i], knZeroTwist(), mass);
	}
	// to the kinematic body first, to the fixed one second, a disabled one, and a lone body
	for (int k = 0; k < 3; ++k) {
		knJointDef def = knJointDef_Default(KN_JOINT_BALL);
		def.parent = ids[k == 0 ? 2 : k == 1 ? 1 : 3];
		def.child = ids[0];
		def.frameParent = knInvMulF(at[k == 0 ? 2 : k == 1 ? 1 : 3], at[0]);
		def.enabled = k < 2;
		addJoint(rig.scene, def);
	}
	compile(&rig);
	assert_int_equal(knLinkageSet_Count(rig.set), 2);
	assert_int_equal(rig.linkage->base, KN_BASE_FIXED);
	assert_int_equal(rig.linkage->loopCount, 1);
	assert_true(rig.linkage->loops[0].outside);
	assert_true(KN_ID_EQUALS(rig.linkage->loops[0].outsideBody, ids[2]));
	assert_int_equal(rig.linkage->loops[0].loop.parent, -1);
	const knLinkage* lone = knLinkageSet_At(rig.set, 1);
	assert_int_equal(lone->base, KN_BASE_FLOATING);
	assert_int_equal(knTree_VelocityCount(lone->tree), 6);
	assert_true(KN_ID_IS_NULL(lone->joints[0]));
	int linkage, link;
	assert_false(knLinkageSet_Find(rig.set, ids[1], &linkage, &link));
	// the ball joint's frame stands in the world, wherever the fixed body is
	assert_true(knDistance(knTree_LinkFrame(rig.linkage->tree, rig.work, 0).p, at[0].p) < 1e-14);
	freeRig(&rig);
}

// A chain held at both ends has as many loops as it has joints too many.
static void nets_are_spanned(void** state) {
	(void)state;
	enum { SIDE = 6 };
	Rig rig = { .scene = newScene() };
	knMassProps mass = { 1.0, knZero3(), knDiagonal33(0.1, 0.1, 0.1) };
	knBodyId ids[SIDE][SIDE];
	for (int i = 0; i < SIDE; ++i) {
		for (int j = 0; j < SIDE; ++j) {
			knFrame at = knMakeFrame(knV3(i, j, 0.0), knIdentityQ());
			ids[i][j] = addBody(rig.scene, KN_BODY_DYNAMIC, at, knZeroTwist(), mass);
			for (int side = 0; side < 2; ++side) {
				if (side == 0 ? i == 0 : j == 0) {
					continue;
				}
				knJointDef def = knJointDef_Default(KN_JOINT_BALL);
				def.parent = side == 0 ? ids[i - 1][j] : ids[i][j - 1];
				def.child = ids[i][j];
				def.frameChild.p = side == 0 ? knV3(-1.0, 0.0, 0.0) : knV3(0.0, -1.0, 0.0);
				addJoint(rig.scene, def);
			}
		}
	}
	knError error = { 0 };
	rig.model = knModel_Create(rig.scene, &error);
	rig.set = knLinkageSet_Create(rig.model, NULL, &error);
	rig.linkage = knLinkageSet_At(rig.set, 0);
	assert_int_equal(knLinkageSet_Count(rig.set), 1);
	assert_int_equal(rig.linkage->linkCount, SIDE * SIDE);
	assert_int_equal(rig.linkage->loopCount, 2 * SIDE * (SIDE - 1) - (SIDE * SIDE - 1));
	assert_int_equal(knTree_VelocityCount(rig.linkage->tree), 6 + 3 * (SIDE * SIDE - 1));
	assert_true(KN_ID_EQUALS(rig.linkage->bodies[0], ids[0][0]));
	freeRig(&rig);
}

static void memory_runs_out_cleanly(void** state) {
	(void)state;
	Rig rig = { 0 };
	closedChain(&rig, 5, 2, 3, false);
	bool done = false;
	for (int limit = 0; !done; ++limit) {
		knTestMemory memory;
		knAllocator allocator = testAllocator(&memory);
		memory.failAfter = limit;
		knError error = { 0 };
		knLinkageSet* set = knLinkageSet_Create(rig.model, &allocator, &error);
		done = set != NULL;
		assert_true(done || error.status == KN_NO_MEMORY);
		knLinkageSet_Destroy(set);
		assert_int_equal(memory.live, 0);
	}
	freeRig(&rig);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trees_survive_as_scenes),
		cmocka_unit_test(reversed_joints_allow_the_same),
		cmocka_unit_test(a_loop_moves_alike_wherever_it_is_cut),
		cmocka_unit_test(custom_joints_are_loops),
		cmocka_unit_test(a_kinematic_base_carries_its_tree),
		cmocka_unit_test(joints_find_their_base),
		cmocka_unit_test(nets_are_spanned),
		cmocka_unit_test(memory_runs_out_cleanly),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
