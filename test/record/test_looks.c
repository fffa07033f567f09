// Materials as recordings take them: where a picture lies, what a pattern shows, how shiny a surface is.
#include "support/kn_test.h"

#include "knuckle/knuckle.h"
#include "record/knt.h"
#include "record/looks.h"

static knScene* newScene(void) {
	knSceneDef def = knSceneDef_Default();
	knScene* scene = knScene_Create(&def, NULL, NULL);
	assert_non_null(scene);
	return scene;
}

static knVec3 unitOf(int axis, double sign) {
	return knV3(axis == 0 ? sign : 0.0, axis == 1 ? sign : 0.0, axis == 2 ? sign : 0.0);
}

// Each side of a box takes the whole picture once, upright where it has an up, and not as in a mirror.
static void test_a_picture_lies_once_on_each_side_of_a_box(void** state) {
	(void)state;
	const knLook look = { .repeat = { 1.0, 1.0 }, .around = true };
	const knVec3 half = knV3(0.5, 2.0, 3.0);
	for (int side = 0; side < 6; ++side) {
		const int axis = side / 2;
		const knVec3 n = unitOf(axis, side % 2 == 0 ? 1.0 : -1.0);
		const knVec3 a = unitOf((axis + 1) % 3, 1.0), b = unitOf((axis + 2) % 3, 1.0);
		double at[2], along[2], across[2];
		knLook_Coordinates(&look, n, n, half, at);
		assert_near(at[0], 0.5, 1e-15);
		assert_near(at[1], 0.5, 1e-15);
		knLook_Coordinates(&look, knAdd(n, a), n, half, along);
		knLook_Coordinates(&look, knAdd(n, b), n, half, across);
		// from the middle to a side's edge is half the picture
		assert_near(knAbs(along[0] - at[0]) + knAbs(along[1] - at[1]), 0.5, 1e-15);
		assert_near(knAbs(across[0] - at[0]) + knAbs(across[1] - at[1]), 0.5, 1e-15);
		// a x b = n for the positive side: s and t turn the same way as seen from outside
		const double turn =
			(along[0] - at[0]) * (across[1] - at[1]) - (along[1] - at[1]) * (across[0] - at[0]);
		assert_true(turn * (side % 2 == 0 ? 1.0 : -1.0) > 0.0);
		if (axis < 2) {
			double up[2];
			knLook_Coordinates(&look, knAdd(n, unitOf(2, 1.0)), n, half, up);
			assert_near(up[1] - at[1], 0.5, 1e-15);
		}
	}
}

static void test_uniform_copies_are_counted_by_the_metre(void** state) {
	(void)state;
	const knLook look = { .repeat = { 2.0, 3.0 }, .uniform = true };
	const knVec3 up = knV3(0.0, 0.0, 1.0), half = knV3(0.25, 4.0, 1.0);
	double low[2], high[2];
	knLook_Coordinates(&look, knV3(-1.0, -1.0, 1.0), up, half, low);
	knLook_Coordinates(&look, knV3(1.0, 1.0, 1.0), up, half, high);
	assert_near(high[0] - low[0], 2.0 * 0.5, 1e-15);
	assert_near(high[1] - low[1], 3.0 * 8.0, 1e-15);
}

// Shinier is smoother, without highlights is matt, and a roughness that is told holds.
static void test_shininess_becomes_roughness(void** state) {
	(void)state;
	knScene* scene = newScene();
	knAllocator allocator = knAllocator_Default();
	knLookList looks;
	knLookList_Init(&looks, &allocator);
	double last = 1.0;
	for (int k = 0; k <= 4; ++k) {
		knMaterialDef def = knMaterialDef_Default();
		def.specular = 1.0;
		def.shininess = 0.25 * k;
		const int look = knLookList_Of(&looks, scene, knScene_AddMaterial(scene, &def, NULL));
		const double roughness = looks.items.items[look].roughness;
		assert_near(pow(roughness, 4.0) * (32.0 * k + 2.0), 2.0, 1e-12);
		assert_true(k == 0 || roughness < last);
		last = roughness;
		def.specular = 0.0;
		const int matt = knLookList_Of(&looks, scene, knScene_AddMaterial(scene, &def, NULL));
		assert_near(looks.items.items[matt].roughness, 1.0, 0.0);
		def.roughness = 0.3;
		def.metallic = 0.7;
		const int told = knLookList_Of(&looks, scene, knScene_AddMaterial(scene, &def, NULL));
		assert_near(looks.items.items[told].roughness, 0.3, 0.0);
		assert_near(looks.items.items[told].metallic, 0.7, 0.0);
	}
	// matt, and told, are one each
	assert_int_equal(looks.items.count, 5 + 1);
	knLookList_Free(&looks);
	knScene_Destroy(scene);
}

// --- patterns --------------------------------------------------------------------------------------------

static uint32_t big32(const uint8_t* at) {
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

// A PNG taken apart as its standard says: colours by number, pixels in stored blocks.
typedef struct Picture {
	int width, height;
	const uint8_t* colors;
	uint8_t pixels[128 * 129];
} Picture;

static void takePixels(Picture* picture, const uint8_t* data) {
	size_t filled = 0;
	bool last = false;
	for (data += 2; !last;) {
		const size_t length = (size_t)data[1] | (size_t)data[2] << 8;
		assert_int_equal((data[1] ^ data[3]) & (data[2] ^ data[4]), 0xff);
		last = data[0] == 1;
		assert_true(filled + length <= sizeof(picture->pixels));
		memcpy(picture->pixels + filled, data + 5, length);
		filled += length;
		data += 5 + length;
	}
	assert_int_equal(filled, (picture->width + 1) * picture->height);
}

static void takeApart(const knBytes* file, Picture* picture) {
	for (const uint8_t* at = file->items + 8; at < file->items + file->count; at += big32(at) + 12) {
		if (memcmp(at + 4, "IHDR", 4) == 0) {
			picture->width = (int)big32(at + 8);
			picture->height = (int)big32(at + 12);
		} else if (memcmp(at + 4, "PLTE", 4) == 0) {
			picture->colors = at + 8;
		} else if (memcmp(at + 4, "IDAT", 4) == 0) {
			takePixels(picture, at + 8);
		}
	}
}

static uint32_t colorAt(const Picture* picture, int x, int y) {
	const uint8_t* color = picture->colors + 3 * picture->pixels[y * (picture->width + 1) + 1 + x];
	return (uint32_t)color[0] << 16 | (uint32_t)color[1] << 8 | color[2];
}

static void draw(const knTextureDef* texture, knBytes* file, Picture* picture) {
	knAllocator allocator = knAllocator_Default();
	*file = (knBytes){ 0 };
	assert_true(knPattern_Png(texture, &allocator, file));
	takeApart(file, picture);
}

static void test_a_checker_has_two_by_two_fields_and_a_marked_edge(void** state) {
	(void)state;
	knAllocator allocator = knAllocator_Default();
	knTextureDef texture = knTextureDef_Default();
	texture.pattern = KN_PATTERN_CHECKER;
	texture.mark = KN_MARK_EDGE;
	texture.color1 = 0x102030;
	texture.color2 = 0xf0e0d0;
	texture.markColor = 0x00ff00;
	texture.width = 40, texture.height = 20;
	knBytes file;
	static Picture picture;
	draw(&texture, &file, &picture);
	assert_int_equal(picture.width, 40);
	assert_int_equal(picture.height, 20);
	for (int y = 0; y < 20; ++y) {
		for (int x = 0; x < 40; ++x) {
			const bool edge = x == 0 || y == 0 || x == 39 || y == 19;
			assert_int_equal(colorAt(&picture, x, y), edge                   ? 0x00ff00
													  : (x < 20) == (y < 10) ? 0x102030
																			 : 0xf0e0d0);
		}
	}
	KN_ARRAY_FREE(&allocator, &file);
}

static void test_a_gradient_goes_from_its_middle_to_its_edge(void** state) {
	(void)state;
	knAllocator allocator = knAllocator_Default();
	knTextureDef texture = knTextureDef_Default();
	texture.pattern = KN_PATTERN_GRADIENT;
	texture.color1 = 0xff0000;
	texture.color2 = 0x000000;
	knBytes file;
	static Picture picture;
	draw(&texture, &file, &picture);
	const int middle = picture.height / 2;
	for (int x = middle; x < picture.width - 1; ++x) {
		assert_true(colorAt(&picture, x + 1, middle) <= colorAt(&picture, x, middle));
	}
	assert_true(colorAt(&picture, middle, middle) >= 0xfb0000);
	assert_int_equal(colorAt(&picture, 0, 0), 0);
	KN_ARRAY_FREE(&allocator, &file);
}

// Many materials with one texture hold one picture.
static void test_pictures_are_kept_once(void** state) {
	(void)state;
	knScene* scene = newScene();
	knAllocator allocator = knAllocator_Default();
	knLookList looks;
	knLookList_Init(&looks, &allocator);
	knTextureDef texture = knTextureDef_Default();
	const int number = knScene_AddTexture(scene, &texture, NULL);
	for (int k = 1; k <= 5; ++k) {
		knMaterialDef def = knMaterialDef_Default();
		def.texture = number;
		def.repeat[0] = k;
		const int material = knScene_AddMaterial(scene, &def, NULL);
		assert_int_equal(knLookList_Of(&looks, scene, material), k - 1);
		assert_int_equal(knLookList_Of(&looks, scene, material), k - 1);
	}
	assert_int_equal(looks.pictures.count, 1);
	knLookList_Free(&looks);
	knScene_Destroy(scene);
}

// What a file says of a look comes back, and nothing that cannot be drawn.
static void test_looks_are_read_as_they_were_written(void** state) {
	(void)state;
	knAllocator allocator = knAllocator_Default();
	const knLook look = { .roughness = 0.25,
						  .metallic = 1.0,
						  .emission = 0.5,
						  .picture = 2,
						  .repeat = { 3.0, -4.0 },
						  .uniform = true };
	knBytes bytes = { 0 };
	assert_true(knKnt_PutLook(&bytes, &look, &allocator));
	uint8_t* payload = bytes.items + KN_KNT_CHUNK_SIZE;
	knKntPayload read = { .bytes = payload,
						  .size = (size_t)bytes.count - KN_KNT_CHUNK_SIZE,
						  .pictureCount = 3 };
	knLook back;
	assert_null(knKnt_GetLook(&back, &read));
	assert_true(back.roughness == 0.25 && back.metallic == 1.0 && back.emission == 0.5 && back.picture == 2);
	assert_true(back.repeat[0] == 3.0 && back.repeat[1] == -4.0 && back.uniform && !back.around);
	read.pictureCount = 2;
	assert_non_null(knKnt_GetLook(&back, &read));
	read.pictureCount = 3, read.size -= 1;
	assert_non_null(knKnt_GetLook(&back, &read));
	read.size += 1;
	for (int k = 0; k < 5; ++k) {
		// all ones in the exponent: no number
		uint8_t kept[2] = { payload[8 * k + 6], payload[8 * k + 7] };
		payload[8 * k + 6] = 0xf8, payload[8 * k + 7] = 0x7f;
		assert_non_null(knKnt_GetLook(&back, &read));
		payload[8 * k + 6] = kept[0], payload[8 * k + 7] = kept[1];
	}
	KN_ARRAY_FREE(&allocator, &bytes);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_picture_lies_once_on_each_side_of_a_box),
		cmocka_unit_test(test_uniform_copies_are_counted_by_the_metre),
		cmocka_unit_test(test_shininess_becomes_roughness),
		cmocka_unit_test(test_a_checker_has_two_by_two_fields_and_a_marked_edge),
		cmocka_unit_test(test_a_gradient_goes_from_its_middle_to_its_edge),
		cmocka_unit_test(test_pictures_are_kept_once),
		cmocka_unit_test(test_looks_are_read_as_they_were_written),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
