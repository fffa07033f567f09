// Sets from glTF: what is animated moves as the file says, the rest stands; y up becomes z up.
#include "mjcf_test.h"

#include <unistd.h>

// A tetrahedron with unit edges along the axes; keys at 0, 1 and 2 s: the node goes along x, then turns a quarter about y (which
// is up). Little-endian floats and 16-bit indices.
static void writeBuffer(const char* path) {
	const float points[] = { 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1 };
	const uint16_t corners[] = { 0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3 };
	const float half = 0.70710678f;
	const float times[] = { 0, 1, 2 };
	const float places[] = { 0, 2, 0, 3, 2, 0, 3, 2, 0 };
	const float turns[] = { 0, 0, 0, 1, 0, 0, 0, 1, 0, half, 0, half };
	FILE* file = fopen(path, "wb");
	assert_non_null(file);
	fwrite(points, 1, sizeof points, file);
	fwrite(corners, 1, sizeof corners, file);
	fwrite(times, 1, sizeof times, file);
	fwrite(places, 1, sizeof places, file);
	fwrite(turns, 1, sizeof turns, file);
	assert_int_equal(fclose(file), 0);
}

static const char text[] =
	"{\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[0,1]}],"
	"\"nodes\":[{\"name\":\"floor\",\"mesh\":0,\"scale\":[10,1,10]},"
	"{\"name\":\"mover\",\"translation\":[0,2,0],\"children\":[2]},"
	"{\"name\":\"hand\",\"mesh\":0,\"scale\":[2,2,2],\"translation\":[0,0,1]}],"
	"\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"indices\":1}]}],"
	"\"animations\":[{\"channels\":[{\"sampler\":0,\"target\":{\"node\":1,\"path\":\"translation\"}},"
	"{\"sampler\":1,\"target\":{\"node\":1,\"path\":\"rotation\"}}],"
	"\"samplers\":[{\"input\":2,\"output\":3},{\"input\":2,\"output\":4}]}],"
	"\"buffers\":[{\"uri\":\"set.bin\",\"byteLength\":168}],"
	"\"bufferViews\":[{\"buffer\":0,\"byteOffset\":0,\"byteLength\":48},{\"buffer\":0,\"byteOffset\":48,"
	"\"byteLength\":24},{\"buffer\":0,\"byteOffset\":72,\"byteLength\":12},{\"buffer\":0,\"byteOffset\":84,"
	"\"byteLength\":36},{\"buffer\":0,\"byteOffset\":120,\"byteLength\":48}],"
	"\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":4,\"type\":\"VEC3\",\"min\":[0,0,0],"
	"\"max\":[1,1,1]},{\"bufferView\":1,\"componentType\":5123,\"count\":12,\"type\":\"SCALAR\"},"
	"{\"bufferView\":2,\"componentType\":5126,\"count\":3,\"type\":\"SCALAR\",\"min\":[0],\"max\":[2]},"
	"{\"bufferView\":3,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"},"
	"{\"bufferView\":4,\"componentType\":5126,\"count\":3,\"type\":\"VEC4\"}]}";

static char folder[] = "/tmp/knuckle_set_XXXXXX";

static int enter(void** state) {
	(void)state;
	if (mkdtemp(folder) == NULL || chdir(folder) != 0) {
		return -1;
	}
	writeBuffer("set.bin");
	FILE* file = fopen("set.gltf", "wb");
	fputs(text, file);
	return fclose(file);
}

static int leave(void** state) {
	(void)state;
	unlink("set.bin");
	unlink("set.gltf");
	unlink("bad.glb");
	return chdir("/") != 0 || rmdir(folder) != 0 ? -1 : 0;
}

static knScene* loadSet(knSetMotion** motion) {
	knError error = { .status = KN_OK };
	knScene* scene = knSet_Load("set.gltf", NULL, motion, NULL, &error);
	if (scene == NULL && error.status == KN_UNSUPPORTED) {
		skip(); // built without assimp
	}
	assert_non_null(scene);
	return scene;
}

static void test_bodies(void** state) {
	(void)state;
	knSetMotion* motion;
	knScene* scene = loadSet(&motion);
	assert_int_equal(bodyNamed(scene, "floor")->kind, KN_BODY_FIXED);
	assert_int_equal(bodyNamed(scene, "mover")->kind, KN_BODY_KINEMATIC);
	// what hangs on an animated node is part of its body
	assert_true(KN_ID_IS_NULL(knScene_FindBody(scene, "hand")));
	assert_near3(bodyNamed(scene, "mover")->frame.p, knV3(0.0, 0.0, 2.0), 1e-6);
	assert_near(knSetMotion_Duration(motion), 2.0, 1e-6);
	knSetMotion_Free(motion);
	knScene_Destroy(scene);
}

// Half the way at half the time; after the last key it stands.
static void test_motion(void** state) {
	(void)state;
	static const char* const steppers[] = { "velocity", "impulse", "reduced" };
	for (int s = 0; s < 3; ++s) {
		knSetMotion* motion;
		knScene* scene = loadSet(&motion);
		const knBodyId mover = knScene_FindBody(scene, "mover");
		knModel* model = compile(scene);
		knWorldDef def = knWorldDef_Default();
		def.stepper = steppers[s];
		knWorld* world = knWorld_Create(model, &def, NULL);
		assert_non_null(world);
		for (int i = 1; i <= 250; ++i) {
			knSetMotion_Apply(motion, world, 0.01);
			assert_int_equal(knWorld_Step(world, 0.01, NULL), KN_OK);
			const double t = 0.01 * i;
			const knFrame frame = knWorld_BodyFrame(world, mover);
			assert_near3(frame.p, knV3(t < 1.0 ? 3.0 * t : 3.0, 0.0, 2.0), 1e-5);
			const double turn = t < 1.0 ? 0.0 : (t < 2.0 ? t - 1.0 : 1.0) * 0.5 * KN_PI;
			// the file's x axis seen in the scene
			assert_near3(knRotate(frame.q, knV3(1.0, 0.0, 0.0)), knV3(cos(turn), sin(turn), 0.0), 1e-5);
		}
		assert_near(knLength(knWorld_BodyVelocity(world, mover)), 0.0, 1e-6);
		knWorld_Destroy(world);
		knModel_Release(model);
		knSetMotion_Free(motion);
		knScene_Destroy(scene);
	}
}

static void test_mistakes(void** state) {
	(void)state;
	knSetMotion* motion;
	knError error = { .status = KN_OK };
	FILE* file = fopen("bad.glb", "wb");
	fputs("this is no set", file);
	fclose(file);
	assert_null(knSet_Load("bad.glb", NULL, &motion, NULL, &error));
	assert_null(motion);
	assert_true(error.status == KN_BAD_DATA || error.status == KN_UNSUPPORTED);
	assert_non_null(strstr(error.file[0] != '\0' ? error.file : error.message, "bad.glb"));
	assert_null(knSet_Load("gone.glb", NULL, &motion, NULL, &error));
	assert_null(motion);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bodies),
		cmocka_unit_test(test_motion),
		cmocka_unit_test(test_mistakes),
	};
	return cmocka_run_group_tests(tests, enter, leave);
}
