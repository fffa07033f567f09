// A scene as bytes: it comes back and moves with the same bits, and nothing damaged or hostile gets through.
#include "catalogue.h"
#include "core/hash.h"
#include "knuckle/control.h"
#include "support/kn_test.h"

static uint64_t hashAfter(const knScene* scene, int steps) {
	knError error = { 0 };
	knModel* model = knModel_Create(scene, &error);
	assert_non_null(model);
	knWorldDef def = knWorldDef_Default();
	knWorld* world = knWorld_Create(model, &def, &error);
	assert_non_null(world);
	for (int i = 0; i < steps; ++i) {
		assert_int_equal(knWorld_Step(world, knScene_GetDef(scene)->dt, &error), KN_OK);
	}
	uint64_t hash = knWorld_Hash(world);
	knWorld_Destroy(world);
	knModel_Release(model);
	return hash;
}

static knScene* build(const char* name) {
	knError error = { 0 };
	knSceneArgs args = knSceneArgs_Default(knCatalogue_Find(name, &error));
	assert_int_equal(knSceneArgs_Set(&args, "small", "1", &error), KN_OK);
	knScene* scene = knSceneArgs_Build(&args, &error);
	assert_non_null(scene);
	return scene;
}

// Their meshes' fields take seconds to build; linked-tori has meshes too.
static bool isSlow(const char* name) {
	return strcmp(name, "cow-pile") == 0 || strcmp(name, "skeletons") == 0 || strcmp(name, "rings") == 0;
}

// Every scene without callbacks, those with meshes, hulls and compounds too.
static void test_every_scene_returns(void** state) {
	(void)state;
	for (int i = 0; i < knCatalogue_Count(); ++i) {
		knError error = { 0 };
		if (isSlow(knCatalogue_At(i)->name)) {
			continue;
		}
		knScene* scene = build(knCatalogue_At(i)->name);
		void *bytes, *again;
		size_t size, sizeAgain;
		knStatus status = knScene_ToBytes(scene, NULL, &bytes, &size, &error);
		if (status == KN_UNSUPPORTED) {
			knScene_Destroy(scene);
			continue;
		}
		assert_int_equal(status, KN_OK);
		knScene* copy = knScene_FromBytes(bytes, size, NULL, &error);
		if (copy == NULL) {
			fail_msg("%s: %s: %s", knCatalogue_At(i)->name, error.element, error.message);
		}
		// the copy is written as the original was
		assert_int_equal(knScene_ToBytes(copy, NULL, &again, &sizeAgain, &error), KN_OK);
		assert_int_equal(size, sizeAgain);
		assert_memory_equal(&knScene_GetDef(copy)->view, &knScene_GetDef(scene)->view, sizeof(knViewDef));
		knAllocator allocator = knAllocator_Default();
		allocator.release(bytes, size, allocator.context);
		allocator.release(again, sizeAgain, allocator.context);
		if (hashAfter(scene, 1) != hashAfter(copy, 1)) {
			fail_msg("%s moves otherwise after it came back", knCatalogue_At(i)->name);
		}
		knScene_Destroy(copy);
		knScene_Destroy(scene);
	}
}

// Two hinges that a coupling, a tendon and a servo act on, and a probe.
static void test_control_returns(void** state) {
	(void)state;
	knError error = { 0 };
	knScene* scene = build("pendulum");
	knBodyId body = knScene_BodyAt(scene, 0);
	knJointDef hinge = knJointDef_Default(KN_JOINT_HINGE);
	knBodyDef def = knBodyDef_Default();
	knShapeDef material = knShapeDef_Default();
	def.frame.p = knV3(5.0, 0.0, 3.0);
	body = knScene_AddBody(scene, &def, &error);
	knScene_AddBox(scene, body, knV3(0.2, 0.1, 0.1), &material, &error);
	knJointDef_At(&hinge, scene, KN_WORLD_BODY, body, knV3(4.8, 0.0, 3.0), knV3(0.0, 1.0, 0.0), &error);
	knJointId joint = knScene_AddJoint(scene, &hinge, &error);
	knTendonPart part = { .joint = joint, .weight = 0.5 };
	knTendonDef tendon = knTendonDef_Default();
	tendon.parts = &part;
	tendon.partCount = 1;
	tendon.stiffness = 3.0;
	assert_int_equal(knScene_AddTendon(scene, &tendon, &error), 0);
	knCouplingDef coupling = knCouplingDef_Default();
	coupling.joint1 = joint;
	coupling.coefficients[0] = 0.2;
	assert_int_equal(knScene_AddCoupling(scene, &coupling, &error), 0);
	knActuatorDef servo = knActuatorDef_Default();
	servo.joint = joint;
	servo.gain[0] = 20.0;
	servo.bias[1] = -20.0;
	servo.control = 0.3;
	assert_int_equal(knScene_AddActuator(scene, &servo, &error), 0);
	knProbeDef probe = knProbeDef_Default(KN_PROBE_JOINT_POSITION);
	probe.joint = joint;
	assert_int_equal(knScene_AddProbe(scene, &probe, &error), 0);

	void* bytes;
	size_t size;
	assert_int_equal(knScene_ToBytes(scene, NULL, &bytes, &size, &error), KN_OK);
	knScene* copy = knScene_FromBytes(bytes, size, NULL, &error);
	assert_non_null(copy);
	assert_int_equal(knScene_TendonCount(copy), 1);
	assert_int_equal(knScene_CouplingCount(copy), 1);
	assert_int_equal(knScene_ActuatorCount(copy), 1);
	assert_int_equal(knScene_ProbeCount(copy), 1);
	assert_true(knScene_GetActuator(copy, 0)->control == 0.3);
	assert_int_equal(hashAfter(scene, 20), hashAfter(copy, 20));
	knAllocator allocator = knAllocator_Default();
	allocator.release(bytes, size, allocator.context);
	knScene_Destroy(copy);
	knScene_Destroy(scene);
}

static void refuse(uint8_t* bytes, size_t size, const char* says) {
	knError error = { 0 };
	assert_null(knScene_FromBytes(bytes, size, NULL, &error));
	assert_int_equal(error.status, KN_BAD_DATA);
	assert_non_null(strstr(error.message, says));
}

static void test_damage_is_noticed(void** state) {
	(void)state;
	knError error = { 0 };
	knScene* scene = build("joints");
	void* block;
	size_t size;
	assert_int_equal(knScene_ToBytes(scene, NULL, &block, &size, &error), KN_OK);
	uint8_t* bytes = block;
	refuse(bytes, 0, "not a compiled scene");
	refuse(bytes, 31, "not a compiled scene");
	refuse(bytes, size - 1, "damaged");
	for (size_t at = 32; at < size; at += 97) {
		bytes[at] ^= 4;
		refuse(bytes, size, "damaged");
		bytes[at] ^= 4;
	}
	bytes[8] += 1;
	refuse(bytes, size, "version");
	knAllocator allocator = knAllocator_Default();
	allocator.release(block, size, allocator.context);
	knScene_Destroy(scene);
}

// With a hash that fits, only the reader itself stands between the bytes and the scene.
static void test_hostile_bytes(void** state) {
	(void)state;
	knError error = { 0 };
	knScene* scene = build("magnets");
	void* block;
	size_t size;
	assert_int_equal(knScene_ToBytes(scene, NULL, &block, &size, &error), KN_OK);
	uint8_t* bytes = block;
	uint64_t random = 1;
	for (int trial = 0; trial < 1500; ++trial) {
		uint8_t kept[4];
		random = random * 6364136223846793005u + 1442695040888963407u;
		size_t at = 32 + (size_t)(random >> 33) % (size - 36);
		memcpy(kept, bytes + at, 4);
		for (int k = 0; k < 4; ++k) {
			bytes[at + (size_t)k] = (uint8_t)(trial % 3 == 0 ? 0xff : random >> (8 * k));
		}
		uint64_t hash = knHash_Bytes(0, bytes + 32, size - 32);
		for (int k = 0; k < 8; ++k) {
			bytes[24 + k] = (uint8_t)(hash >> 8 * k);
		}
		knScene* read = knScene_FromBytes(bytes, size, NULL, &error);
		if (read != NULL) {
			knScene_Destroy(read);
		}
		memcpy(bytes + at, kept, 4);
	}
	knAllocator allocator = knAllocator_Default();
	allocator.release(block, size, allocator.context);
	knScene_Destroy(scene);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_scene_returns),
		cmocka_unit_test(test_control_returns),
		cmocka_unit_test(test_damage_is_noticed),
		cmocka_unit_test(test_hostile_bytes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
