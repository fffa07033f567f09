// Snapshots from outside, good and damaged, and states carried over to edited models.
#include "support/kn_test.h"

#include "model/state.h"

static knFrame keepState(knFrame joint, void* context) {
	(void)context;
	return joint;
}

static knTwist keepVelocity(knFrame joint, knTwist velocity, void* context) {
	(void)joint, (void)context;
	return velocity;
}

// Three bodies a, b, c in a row; hinges world-a and a-b, a ball b-c.
typedef struct Fixture {
	knScene* scene;
	knBodyId body[3];
	knJointId joint[3];
	knModel* model;
	knState state;
	knAllocator allocator;
} Fixture;

static Fixture makeFixture(void) {
	Fixture f = { .allocator = knAllocator_Default() };
	knSceneDef def = knSceneDef_Default();
	def.jointCapacity = 3;
	f.scene = knScene_Create(&def, NULL, NULL);
	const char* names[3] = { "a", "b", "c" };
	for (int i = 0; i < 3; ++i) {
		knBodyDef body = knBodyDef_Default();
		body.name = names[i];
		body.frame.p = knV3(i, 0, 0);
		f.body[i] = knScene_AddBody(f.scene, &body, NULL);
		knScene_AddSphere(f.scene, f.body[i], 0.6, NULL, NULL);
		knJointDef joint = knJointDef_Default(i < 2 ? KN_JOINT_HINGE : KN_JOINT_BALL);
		assert_ok(knJointDef_At(&joint, f.scene, i == 0 ? KN_WORLD_BODY : f.body[i - 1], f.body[i],
								knV3(i - 0.5, 0, 0), knV3(0, 1, 0), NULL));
		f.joint[i] = knScene_AddJoint(f.scene, &joint, NULL);
	}
	f.model = knModel_Create(f.scene, NULL);
	assert_non_null(f.model);
	assert_true(knState_Create(&f.state, f.model, "velocity", 32, &f.allocator));
	return f;
}

static void freeFixture(Fixture* f) {
	knState_Destroy(&f->state, &f->allocator);
	knModel_Release(f->model);
	knScene_Destroy(f->scene);
}

// As a world does it.
static void attach(Fixture* f, int slot, knJointKind kind, knBodyId parent, knBodyId child) {
	knJointDef def = knJointDef_Default(kind);
	def.parent = parent;
	def.child = child;
	def.frameParent.p = knV3(0.25, 0.5, 0.75);
	def.custom = (knCustomJoint){ keepState, keepVelocity, NULL };
	knJoint* joint = &f->state.attached[slot];
	assert_ok(knModel_CompileJoint(f->model, &def, joint, NULL));
	joint->qOffset = f->model->qCount - KN_JOINT_MAX_Q * (f->model->jointCapacity - slot);
	joint->vOffset = f->model->vCount - KN_JOINT_MAX_V * (f->model->jointCapacity - slot);
	knJointState* part = &f->state.joint[f->model->jointCount + slot];
	part->inUse = part->enabled = 1;
	part->generation += 1;
	f->state.header->attachedCount += 1;
	knState_InitialCoordinates(&f->state, f->model, f->model->jointCount + slot);
}

// Some history, so that a snapshot has something to say.
static void live(Fixture* f) {
	f->state.header->time = 1.5;
	f->state.header->step = 150;
	f->state.pose[2].p = knV3(1, 2, 3);
	f->state.pose[3].q = knQuat_FromAxisAngle(knV3(0, 0, 1), 0.5);
	f->state.velocity[1].ang = knV3(1, 0, 0);
	f->state.q[1] = 12.0;
	f->state.shapeEnabled[1] = 0;
	f->state.joint[0].enabled = 0;
	f->state.joint[1].motorTarget[0] = 4.0;
	assert_true(knState_Grow(&f->state, f->model, 4, 32, &f->allocator));
	f->state.touching[0] = (knFramePair){ 0, 1 };
	f->state.touching[1] = (knFramePair){ 0, 2 };
	f->state.touching[2] = (knFramePair){ 1, 2 };
	f->state.header->touchCount = 3;
	memcpy(f->state.stepperPart, "warm", 5);
	f->state.header->privateSize = 5;
}

// A copy at an odd address, as a file buffer may be.
typedef struct Saved {
	uint8_t* memory;
	uint8_t* bytes;
	size_t size;
} Saved;

static Saved save(const knState* state) {
	Saved saved = { .size = (size_t)state->header->size };
	saved.memory = malloc(saved.size + 1);
	saved.bytes = saved.memory + 1;
	memcpy(saved.bytes, state->block, saved.size);
	return saved;
}

static void test_restore_brings_everything_back(void** unused) {
	(void)unused;
	Fixture f = makeFixture();
	attach(&f, 1, KN_JOINT_SLIDER, f.body[0], f.body[2]);
	attach(&f, 2, KN_JOINT_CUSTOM, KN_WORLD_BODY, f.body[2]);
	live(&f);
	Saved saved = save(&f.state);
	uint64_t hash = knState_Hash(&f.state, f.model);

	// go on: other values, a larger block, released joints
	f.state.pose[1].p.x = 99.0;
	f.state.header->step += 1;
	f.state.joint[4].inUse = f.state.joint[5].inUse = 0;
	f.state.header->attachedCount = 0;
	assert_true(knState_Grow(&f.state, f.model, 100, 1000, &f.allocator));
	assert_ok(knState_Restore(&f.state, f.model, saved.bytes, saved.size, &f.allocator, NULL));
	assert_int_equal(f.state.header->size, saved.size);
	assert_memory_equal(f.state.block, saved.bytes, saved.size);
	assert_true(knState_Hash(&f.state, f.model) == hash);
	assert_string_equal((const char*)f.state.stepperPart, "warm");
	free(saved.memory);
	freeFixture(&f);
}

static void test_foreign_blocks_are_refused(void** unused) {
	(void)unused;
	Fixture f = makeFixture();
	live(&f);
	Saved saved = save(&f.state);
	uint64_t hash = knState_Hash(&f.state, f.model);
	knError error = { 0 };
	// too short, cut off, too long
	const size_t sizes[] = {
		0, 8, sizeof(knStateHeader) - 1, sizeof(knStateHeader), saved.size - 64, saved.size - 1
	};
	for (int i = 0; i < (int)(sizeof(sizes) / sizeof(sizes[0])); ++i) {
		// an exact copy of that many bytes: a sanitizer sees any read beyond
		uint8_t* exact = malloc(sizes[i] + 1);
		memcpy(exact, saved.bytes, sizes[i]);
		assert_int_equal(knState_Restore(&f.state, f.model, exact, sizes[i], &f.allocator, &error),
						 KN_BAD_DATA);
		assert_true(strlen(error.message) > 10);
		free(exact);
	}
	assert_int_equal(knState_Restore(&f.state, f.model, NULL, saved.size, &f.allocator, &error), KN_BAD_DATA);

	// another stepper, another model
	knState other;
	assert_true(knState_Create(&other, f.model, "impulse", 32, &f.allocator));
	assert_int_equal(
		knState_Restore(&f.state, f.model, other.block, (size_t)other.header->size, &f.allocator, &error),
		KN_BAD_DATA);
	assert_non_null(strstr(error.message, "stepper"));
	knState_Destroy(&other, &f.allocator);
	knScene_EditBody(f.scene, f.body[0])->gravityScale = 0.5;
	knModel* changed = knModel_Create(f.scene, NULL);
	assert_true(knState_Create(&other, changed, "velocity", 32, &f.allocator));
	assert_int_equal(
		knState_Restore(&f.state, f.model, other.block, (size_t)other.header->size, &f.allocator, &error),
		KN_BAD_DATA);
	assert_non_null(strstr(error.message, "model"));
	knState_Destroy(&other, &f.allocator);
	knModel_Release(changed);
	assert_true(knState_Hash(&f.state, f.model) == hash);
	free(saved.memory);
	freeFixture(&f);
}

// Byte `value` at the place in the saved block that corresponds to `at` in the state.
static void poke(Saved* saved, const knState* state, const void* at, const void* value, size_t size) {
	memcpy(saved->bytes + ((const uint8_t*)at - (const uint8_t*)state->block), value, size);
}

static void assertRefusedWith(Fixture* f, const void* at, const void* value, size_t size) {
	Saved saved = save(&f->state);
	poke(&saved, &f->state, at, value, size);
	uint64_t hash = knState_Hash(&f->state, f->model);
	void* block = f->state.block;
	knError error = { 0 };
	knStatus status = knState_Restore(&f->state, f->model, saved.bytes, saved.size, &f->allocator, &error);
	if (status != KN_BAD_DATA) {
		fail_msg("a block damaged at %d was accepted", (int)((const uint8_t*)at - (const uint8_t*)block));
	}
	assert_ptr_equal(f->state.block, block);
	assert_true(knState_Hash(&f->state, f->model) == hash);
	free(saved.memory);
}

static void test_damaged_values_are_refused(void** unused) {
	(void)unused;
	Fixture f = makeFixture();
	attach(&f, 0, KN_JOINT_BALL, f.body[0], f.body[2]);
	attach(&f, 2, KN_JOINT_CUSTOM, f.body[0], f.body[1]);
	live(&f);
	const knState* s = &f.state;
	const double notANumber = nan(""), two = 2.0;
	const uint64_t huge = UINT64_MAX / 2, more = 1000;
	const int32_t negative = -1, single = 1, many = 100000;
	const uint8_t odd = 0x7f;

	// header
	assertRefusedWith(&f, &s->header->magic, &more, 8);
	assertRefusedWith(&f, &s->header->size, &more, 8);
	assertRefusedWith(&f, &s->header->touchCapacity, &huge, 8);
	assertRefusedWith(&f, &s->header->touchCapacity, &more, 8);
	assertRefusedWith(&f, &s->header->privateCapacity, &huge, 8);
	assertRefusedWith(&f, &s->header->touchCount, &more, 8);
	assertRefusedWith(&f, &s->header->privateSize, &more, 8);
	assertRefusedWith(&f, &s->header->attachedCount, &negative, 4);
	assertRefusedWith(&f, &s->header->attachedCount, &many, 4);
	assertRefusedWith(&f, &s->header->time, &notANumber, 8);
	assertRefusedWith(&f, &s->header->gravity.y, &notANumber, 8);
	// bodies and shapes
	assertRefusedWith(&f, &s->pose[2].p.x, &notANumber, 8);
	assertRefusedWith(&f, &s->pose[1].q.w, &two, 8);
	assertRefusedWith(&f, &s->velocity[3].lin.z, &notANumber, 8);
	assertRefusedWith(&f, &s->force[1].ang.x, &notANumber, 8);
	assertRefusedWith(&f, &s->pushed[2], &odd, 1);
	assertRefusedWith(&f, &s->header->pushedCount, &many, 4);
	assertRefusedWith(&f, &s->shapeEnabled[0], &odd, 1);
	// joints
	assertRefusedWith(&f, &s->joint[1].enabled, &odd, 1);
	assertRefusedWith(&f, &s->joint[3].inUse, &odd, 1);
	assertRefusedWith(&f, &s->joint[0].motorMode[2], &many, 4);
	assertRefusedWith(&f, &s->joint[0].motorTarget[0], &notANumber, 8);
	assertRefusedWith(&f, &s->joint[2].reaction.lin.x, &notANumber, 8);
	assertRefusedWith(&f, &s->q[0], &notANumber, 8);
	assertRefusedWith(&f, &s->v[0], &notANumber, 8);
	// attached joints
	const uint8_t one = 1;
	assertRefusedWith(&f, &s->joint[4].inUse, &one, 1); // an empty slot said to be full
	assertRefusedWith(&f, &s->attached[0].kind, &many, 4);
	assertRefusedWith(&f, &s->attached[0].parent, &negative, 4);
	assertRefusedWith(&f, &s->attached[0].child, &many, 4);
	assertRefusedWith(&f, &s->attached[0].child, &s->attached[0].parent, 4);
	assertRefusedWith(&f, &s->attached[0].nq, &many, 4);
	assertRefusedWith(&f, &s->attached[0].qOffset, &negative, 4);
	assertRefusedWith(&f, &s->attached[0].vOffset, &many, 4);
	assertRefusedWith(&f, &s->attached[0].frameParent.q.w, &two, 8);
	assertRefusedWith(&f, &s->attached[0].axis[1].limited, &odd, 1);
	assertRefusedWith(&f, &s->attached[0].axis[0].bearing, &notANumber, 8);
	assertRefusedWith(&f, &s->attached[0].reachTwisted, &odd, 1);
	assertRefusedWith(&f, &s->attached[0].coneLimited, &odd, 1);
	assertRefusedWith(&f, &s->attached[0].coneLimited, &one, 1); // a cone without a size
	assertRefusedWith(&f, &s->attached[0].axis[2].stiffness, &notANumber, 8);
	// functions that nobody here knows
	assertRefusedWith(&f, &s->attached[2].custom.projectState, &huge, sizeof(void*));
	assertRefusedWith(&f, &s->attached[2].custom.context, &huge, sizeof(void*));
	// touching pairs
	assertRefusedWith(&f, &s->touching[0].a, &negative, 4);
	assertRefusedWith(&f, &s->touching[2].b, &many, 4);
	assertRefusedWith(&f, &s->touching[1].b, &single, 4);
	freeFixture(&f);
}

// Random damage never crashes and never leaves a half-restored state (the sanitizers watch).
static void test_random_damage_is_survived(void** unused) {
	(void)unused;
	Fixture f = makeFixture();
	attach(&f, 0, KN_JOINT_UNIVERSAL, f.body[0], f.body[2]);
	attach(&f, 1, KN_JOINT_CUSTOM, f.body[0], f.body[1]);
	live(&f);
	Saved good = save(&f.state);
	const knJoint custom = f.state.attached[1];
	knTestRandom random = { 5 };
	int refused = 0;
	for (int trial = 0; trial < 3000; ++trial) {
		Saved bad = save(&f.state);
		for (int k = 0; k < 1 + trial % 3; ++k) {
			size_t at = testNext(&random) % (trial % 4 == 0 ? sizeof(knStateHeader) : bad.size);
			bad.bytes[at] ^= (uint8_t)(1u << testInt(&random, 8));
		}
		if (knState_Restore(&f.state, f.model, bad.bytes, bad.size, &f.allocator, NULL) == KN_OK) {
			// what was accepted can be used
			assert_true(knState_IsFinite(&f.state, f.model));
			knState_UpdateCoordinates(&f.state, f.model);
			knState_Hash(&f.state, f.model);
			// a flipped bit may have made it another kind of joint; a user's functions must be known
			f.state.attached[1] = custom;
			assert_ok(knState_Restore(&f.state, f.model, good.bytes, good.size, &f.allocator, NULL));
		} else {
			refused += 1;
		}
		free(bad.memory);
	}
	assert_true(refused > 500);
	free(good.memory);
	freeFixture(&f);
}

static void test_restore_without_memory_changes_nothing(void** unused) {
	(void)unused;
	Fixture f = makeFixture();
	Saved saved = save(&f.state);
	f.state.header->time = 2.0;
	knTestMemory memory;
	knAllocator none = testAllocator(&memory);
	memory.failAfter = 0;
	assert_int_equal(knState_Restore(&f.state, f.model, saved.bytes, saved.size, &none, NULL), KN_NO_MEMORY);
	assert_near(f.state.header->time, 2.0, 0.0);
	free(saved.memory);
	freeFixture(&f);
}

// --- migrate ---------------------------------------------------------------------------------------------

static void test_migrate_to_the_same_model_keeps_all(void** unused) {
	(void)unused;
	Fixture f = makeFixture();
	attach(&f, 1, KN_JOINT_SLIDER, f.body[0], f.body[2]);
	live(&f);
	knState to;
	assert_true(knState_Migrate(&to, f.model, &f.state, f.model, &f.allocator));
	// all but the stepper's own part, which its owner carries over
	assert_int_equal(to.header->privateSize, 0);
	to.header->privateSize = f.state.header->privateSize;
	memcpy(to.stepperPart, f.state.stepperPart, (size_t)f.state.header->privateCapacity);
	assert_int_equal(to.header->size, f.state.header->size);
	assert_memory_equal(to.block, f.state.block, (size_t)to.header->size);
	knState_Destroy(&to, &f.allocator);
	freeFixture(&f);
}

static void test_migrate_after_removal_and_addition(void** unused) {
	(void)unused;
	Fixture f = makeFixture();
	attach(&f, 0, KN_JOINT_BALL, f.body[0], f.body[2]); // loses an end
	attach(&f, 1, KN_JOINT_SLIDER, f.body[1], f.body[2]);
	f.state.q[f.state.attached[1].qOffset] = 7.5;
	live(&f);

	// a goes, d takes its slot, and there is room for more joints
	assert_ok(knScene_RemoveBody(f.scene, f.body[0], NULL));
	knBodyDef def = knBodyDef_Default();
	def.name = "d";
	def.frame.p = knV3(0, 0, 9);
	knBodyId d = knScene_AddBody(f.scene, &def, NULL);
	assert_int_equal(d.index1, f.body[0].index1);
	knScene_AddSphere(f.scene, d, 0.6, NULL, NULL);
	knScene_Def(f.scene)->jointCapacity = 5;
	knModel* model = knModel_Create(f.scene, NULL);
	knState to;
	assert_true(knState_Migrate(&to, model, &f.state, f.model, &f.allocator));

	int b = knModel_BodyIndex(model, f.body[1]), c = knModel_BodyIndex(model, f.body[2]);
	int newcomer = knModel_BodyIndex(model, d);
	assert_memory_equal(&to.pose[b], &f.state.pose[2], sizeof(knFrame));
	assert_memory_equal(&to.pose[c], &f.state.pose[3], sizeof(knFrame));
	assert_near3(to.pose[newcomer].p, knV3(0, 0, 9), 0.0);
	assert_near3(to.velocity[newcomer].ang, knZero3(), 0.0);
	assert_near(to.header->time, 1.5, 0.0);
	assert_int_equal(to.header->step, 150);
	assert_true(to.header->fingerprint == model->fingerprint);

	// the shape of b stays disabled, the newcomer's is enabled; pairs with a are gone, b-c is renamed
	assert_int_equal(to.shapeEnabled[knModel_ShapeIndex(model, knModel_ShapeId(f.model, 1))], 0);
	int own = 0;
	for (int i = 0; i < model->shapeCount; ++i) {
		own += model->shapes[i].body == newcomer ? to.shapeEnabled[i] : 0;
	}
	assert_int_equal(own, 1);
	assert_int_equal(to.header->touchCount, 1);
	assert_int_equal(model->shapes[to.touching[0].a].body, b);
	assert_int_equal(model->shapes[to.touching[0].b].body, c);

	// joints: only b-c is left of the authored ones; of the attached ones the slider, in its slot
	int joint = knModel_JointIndex(model, f.joint[2]);
	assert_int_equal(model->jointCount, 1);
	assert_memory_equal(to.q + model->joints[joint].qOffset, f.state.q + f.model->joints[2].qOffset,
						4 * sizeof(double));
	assert_int_equal(to.header->attachedCount, 1);
	assert_null(knState_Joint(&to, model, 1));
	const knJoint* slider = knState_Joint(&to, model, 2);
	assert_non_null(slider);
	assert_int_equal(slider->parent, b);
	assert_int_equal(slider->child, c);
	assert_near(to.q[slider->qOffset], 7.5, 0.0);
	assert_int_equal(to.joint[1].generation, 1);
	// and the result is a sound block
	Saved saved = save(&to);
	assert_ok(knState_Restore(&to, model, saved.bytes, saved.size, &f.allocator, NULL));
	free(saved.memory);
	knState_Destroy(&to, &f.allocator);
	knModel_Release(model);
	freeFixture(&f);
}

// More mass on one side moves the centre: the body frame and its points keep their place and velocity.
static void test_migrate_moves_the_centre_of_mass(void** unused) {
	(void)unused;
	Fixture f = makeFixture();
	attach(&f, 0, KN_JOINT_BALL, f.body[0], f.body[1]);
	live(&f);
	f.state.velocity[2] = knMakeTwist(knV3(1, 2, 3), knV3(4, 5, 6));
	knShapeDef extra = knShapeDef_Default();
	extra.frame.p = knV3(0, 1, 0);
	knScene_AddSphere(f.scene, f.body[1], 0.6, &extra, NULL);
	knModel* model = knModel_Create(f.scene, NULL);
	knState to;
	assert_true(knState_Migrate(&to, model, &f.state, f.model, &f.allocator));
	assert_near3(model->centerLocal[2], knV3(0, 0.5, 0), 1e-14);
	// the body frame's origin
	knVec3 before = f.state.pose[2].p, after = knPoint(to.pose[2], knV3(0, -0.5, 0));
	assert_near3(after, before, 1e-14);
	knVec3 arm = knSub(after, to.pose[2].p);
	assert_near3(knAdd(to.velocity[2].lin, knCross(to.velocity[2].ang, arm)), knV3(4, 5, 6), 1e-14);
	// joint frames see the same
	knFrame was = knJoint_Frame(&f.state.attached[0], f.state.pose[1], f.state.pose[2]);
	knFrame is = knJoint_Frame(&to.attached[0], to.pose[1], to.pose[2]);
	assert_near3(is.p, was.p, 1e-14);
	knState_Destroy(&to, &f.allocator);
	knModel_Release(model);
	freeFixture(&f);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_restore_brings_everything_back),
		cmocka_unit_test(test_foreign_blocks_are_refused),
		cmocka_unit_test(test_damaged_values_are_refused),
		cmocka_unit_test(test_random_damage_is_survived),
		cmocka_unit_test(test_restore_without_memory_changes_nothing),
		cmocka_unit_test(test_migrate_to_the_same_model_keeps_all),
		cmocka_unit_test(test_migrate_after_removal_and_addition),
		cmocka_unit_test(test_migrate_moves_the_centre_of_mass),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
