// Mesh files: the same tetrahedron in every format has the same volume; hostile files end with a place and a sentence.
#include "support/kn_test.h"

#include <unistd.h>

#include "knuckle/io.h"
#include "knuckle/knuckle.h"
#include "support/scratch.h"

static const knVec3 corners[4] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 2, 0 }, { 0, 0, 3 } };
static const int faces[4][3] = { { 0, 2, 1 }, { 0, 1, 3 }, { 0, 3, 2 }, { 1, 2, 3 } };
#define TETRAHEDRON_VOLUME 1.0 // m3, 1 * 2 * 3 / 6

// --- the formats -----------------------------------------------------------------------------------------

static size_t writeObj(char* text, size_t capacity) {
	size_t n = (size_t)snprintf(text, capacity, "# a tetrahedron\nmtllib none.mtl\no t\nusemtl red\n");
	for (int i = 0; i < 4; ++i) {
		n += (size_t)snprintf(text + n, capacity - n, "v %g %g \\\n %g\n", corners[i].x, corners[i].y,
							  corners[i].z);
	}
	n += (size_t)snprintf(text + n, capacity - n, "vn 0 0 1\nvt 0.5\ns off\n");
	for (int f = 0; f < 4; ++f) {
		// the last face counts backwards
		const int back = f == 3 ? -5 : 0;
		n += (size_t)snprintf(text + n, capacity - n, "f %d/1/1 %d/1/1 %d/1/1 # face\r\n",
							  faces[f][0] + 1 + back, faces[f][1] + 1 + back, faces[f][2] + 1 + back);
	}
	return n;
}

static size_t writeStlText(char* text, size_t capacity) {
	size_t n = (size_t)snprintf(text, capacity, "solid some name\n");
	for (int f = 0; f < 4; ++f) {
		n += (size_t)snprintf(text + n, capacity - n, "facet normal nan nan nan\nouter loop\n");
		for (int k = 0; k < 3; ++k) {
			const knVec3 v = corners[faces[f][k]];
			n += (size_t)snprintf(text + n, capacity - n, " vertex %g %ge0 %s%g\n", v.x, v.y,
								  v.z == 0.0 ? "-" : "", v.z);
		}
		n += (size_t)snprintf(text + n, capacity - n, "endloop\nendfacet\n");
	}
	return n + (size_t)snprintf(text + n, capacity - n, "endsolid some name\n");
}

static void putFloat(char* at, double value) {
	const float f = (float)value;
	memcpy(at, &f, 4);
}

static void putInt(char* at, int32_t value) {
	memcpy(at, &value, 4);
}

static size_t writeStlBinary(char* bytes) {
	memset(bytes, 0, 84 + 4 * 50);
	memcpy(bytes, "solid, or so it says", 20);
	putInt(bytes + 80, 4);
	for (int f = 0; f < 4; ++f) {
		for (int k = 0; k < 3; ++k) {
			char* at = bytes + 84 + 50 * f + 12 * (k + 1);
			const knVec3 v = corners[faces[f][k]];
			putFloat(at, v.x), putFloat(at + 4, v.y), putFloat(at + 8, v.z);
		}
	}
	return 84 + 4 * 50;
}

static size_t writeMsh(char* bytes, bool normals) {
	putInt(bytes, 4), putInt(bytes + 4, normals ? 4 : 0), putInt(bytes + 8, 0), putInt(bytes + 12, 4);
	size_t n = 16;
	for (int pass = 0; pass < (normals ? 2 : 1); ++pass) {
		for (int i = 0; i < 4; ++i, n += 12) {
			const knVec3 v = corners[i];
			putFloat(bytes + n, v.x), putFloat(bytes + n + 4, v.y), putFloat(bytes + n + 8, v.z);
		}
	}
	for (int f = 0; f < 4; ++f, n += 12) {
		for (int k = 0; k < 3; ++k) {
			putInt(bytes + n + 4 * (size_t)k, faces[f][k]);
		}
	}
	return n;
}

static knMeshFile loadMemory(const void* bytes, size_t size, const char* name) {
	knMeshFile file;
	knError error = { .status = KN_OK };
	if (knMeshFile_LoadMemory(bytes, size, name, NULL, &file, &error) != KN_OK) {
		char line[1024];
		fail_msg("%s", knError_Format(&error, line, sizeof line));
	}
	return file;
}

static void checkTetrahedron(knMeshFile* file) {
	assert_int_equal(file->vertexCount, 4);
	assert_int_equal(file->triangleCount, 4);
	knError error = { .status = KN_OK };
	const knMeshDef def = knMeshFile_MeshDef(file);
	knGeom* mesh = knGeom_Mesh(&def, NULL, &error);
	knGeom* hull = knGeom_Hull(file->vertices, file->vertexCount, NULL, &error);
	assert_non_null(mesh);
	assert_non_null(hull);
	assert_near(knGeom_MassProps(mesh, 1.0).mass, TETRAHEDRON_VOLUME, 1e-6);
	assert_near(knGeom_MassProps(hull, 1.0).mass, TETRAHEDRON_VOLUME, 1e-6);
	knGeom_Release(mesh);
	knGeom_Release(hull);
	knMeshFile_Free(file);
	assert_null(file->vertices);
}

static void test_every_format_has_the_same_volume(void** state) {
	(void)state;
	char bytes[4096];
	knMeshFile file = loadMemory(bytes, writeObj(bytes, sizeof bytes), "t.OBJ");
	assert_int_equal(file.materialCount, 1);
	assert_string_equal(file.materials[0].name, "red");
	assert_int_equal(file.triangleMaterial[3], 0);
	assert_non_null(file.normals);
	assert_near(file.uvs[11].u, 0.5, 0.0);
	checkTetrahedron(&file);
	file = loadMemory(bytes, writeStlText(bytes, sizeof bytes), "t.stl");
	checkTetrahedron(&file);
	file = loadMemory(bytes, writeStlBinary(bytes), "folder.x/t.stl");
	checkTetrahedron(&file);
	file = loadMemory(bytes, writeMsh(bytes, false), "t.msh");
	assert_null(file.normals);
	checkTetrahedron(&file);
	file = loadMemory(bytes, writeMsh(bytes, true), "t.msh");
	assert_near(file.normals[11].z, 3.0, 0.0);
	checkTetrahedron(&file);
}

static void test_a_polygon_becomes_a_fan(void** state) {
	(void)state;
	const char* text = "v 0 0 0\nv 1 0 0 1.0\nv 1 1 0 0.5 0.5 0.5\nv 0 1 0\nv 0.5 0.5 1\n"
					   "f 4 3 2 1\nf 1 2 5\nf 2 3 5\nf 3 4 5\nf 4 1 5\n";
	knMeshFile file = loadMemory(text, strlen(text), "pyramid.obj");
	assert_int_equal(file.triangleCount, 6);
	assert_null(file.triangleMaterial);
	const knMeshDef def = knMeshFile_MeshDef(&file);
	knGeom* mesh = knGeom_Mesh(&def, NULL, NULL);
	assert_non_null(mesh);
	assert_near(knGeom_MassProps(mesh, 1.0).mass, 1.0 / 3.0, 1e-12);
	knGeom_Release(mesh);
	knMeshFile_Free(&file);
}

// Points without faces are a mesh of which a hull can be made.
static void test_points_alone(void** state) {
	(void)state;
	char bytes[256];
	size_t size = writeMsh(bytes, false) - 48;
	putInt(bytes + 12, 0);
	knMeshFile file = loadMemory(bytes, size, "points.msh");
	assert_int_equal(file.triangleCount, 0);
	assert_null(file.triangles);
	knMeshFile_Free(&file);
}

// A mirrored solid has the same volume, and is still the right way round.
static void test_mirrored(void** state) {
	(void)state;
	char bytes[4096];
	knMeshFile file = loadMemory(bytes, writeObj(bytes, sizeof bytes), "t.obj");
	const knFrame frame = knMakeFrame(knV3(1, 2, 3), knQuat_FromAxisAngle(knV3(0, 0, 1), 0.3));
	knMeshFile_Transform(&file, knV3(-2.0, 1.0, 1.0), frame);
	double volume = 0.0;
	for (int t = 0; t < file.triangleCount; ++t) {
		const knTriangle f = file.triangles[t];
		const knVec3 a = file.vertices[f.a], b = file.vertices[f.b], c = file.vertices[f.c];
		volume += knDot(a, knCross(b, c)) / 6.0;
	}
	assert_near(volume, 2.0 * TETRAHEDRON_VOLUME, 1e-12);
	assert_near(file.normals[0].z, 1.0, 1e-12);
	knMeshFile_Free(&file);
}

static void writeFile(const char* path, const void* bytes, size_t size) {
	FILE* file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	fclose(file);
}

static void test_colours_come_from_the_file_beside(void** state) {
	(void)state;
	const char* obj = "mtllib c.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl green\nf 1 2 3\n";
	const char* mtl = "newmtl black\nKd 0 0 0\nnewmtl green\nNs 3\nKd 0 1 0\n";
	writeFile("c.obj", obj, strlen(obj));
	writeFile("c.mtl", mtl, strlen(mtl));
	knMeshFile file;
	knError error;
	assert_int_equal(knMeshFile_Load("c.obj", NULL, &file, &error), KN_OK);
	assert_string_equal(file.materials[file.triangleMaterial[0]].name, "green");
	assert_int_equal(file.materials[file.triangleMaterial[0]].color, 0x00ff00);
	knMeshFile_Free(&file);
}

// --- what is refused -------------------------------------------------------------------------------------

static void checkRefusedBytes(const void* bytes, size_t size, const char* name, int line, const char* words) {
	knMeshFile file;
	knError error = { .status = KN_OK };
	const knStatus status = knMeshFile_LoadMemory(bytes, size, name, NULL, &file, &error);
	assert_int_not_equal(status, KN_OK);
	assert_int_equal(status, error.status);
	assert_string_equal(error.file, name);
	assert_int_equal(error.line, line);
	if (strstr(error.message, words) == NULL) {
		fail_msg("'%s' does not say '%s'", error.message, words);
	}
	assert_null(file.vertices);
}

static void checkRefused(const char* text, const char* name, int line, const char* words) {
	checkRefusedBytes(text, strlen(text), name, line, words);
}

static void test_bad_obj(void** state) {
	(void)state;
	checkRefused("", "a.obj", 0, "no vertices");
	checkRefused("v 0 0\n", "a.obj", 1, "has 2 numbers");
	checkRefused("\nv 0 0 nan\n", "a.obj", 2, "'nan' is not a finite number");
	checkRefused("v 0 0 1e999\n", "a.obj", 1, "finite");
	checkRefused("v 0 0 0\nv 1 0 0\nf 1 2 3\n", "a.obj", 3, "names vertex 3; there are 2");
	checkRefused("v 0 0 0\nf 1 1 0\n", "a.obj", 2, "names vertex 0");
	checkRefused("v 0 0 0\nf 1 1 -2\n", "a.obj", 2, "names vertex -2");
	checkRefused("v 0 0 0\nf 1 1\n", "a.obj", 2, "has 2 corners");
	checkRefused("v 0 0 0\nf 1/1 1/1 1/1\n", "a.obj", 2, "names texture coordinate 1; there are 0");
	checkRefused("v 0 0 0\nf 1//9 1//9 1//9\n", "a.obj", 2, "names normal 9");
	checkRefused("v 0 0 0\nf 99999999999 1 1\n", "a.obj", 2, "not the number of a vertex");
	checkRefused("v 0 0 0\nf /1 1 1\n", "a.obj", 2, "names no vertex");
	checkRefused("ply\nformat ascii 1.0\n", "a.obj", 1, "'ply' is not a word of OBJ");
	checkRefusedBytes("v 0 0 0\n\0\0", 10, "a.obj", 2, "zero byte");
}

static void test_bad_stl(void** state) {
	(void)state;
	char bytes[1024];
	checkRefused("", "a.stl", 0, "0 bytes");
	checkRefused("junk", "a.stl", 0, "does not begin with 'solid'");
	checkRefused("solid x\n", "a.stl", 2, "ends where 'facet' or 'endsolid'");
	checkRefused("solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 inf\n", "a.stl", 4, "'inf' is not");
	checkRefused("solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nendloop", "a.stl", 5,
				 "'endloop' stands where 'vertex' is due");
	checkRefused("solid x\nendsolid\nsolid", "a.stl", 3, "ends where");
	size_t size = writeStlBinary(bytes);
	memcpy(bytes, "binary", 6);
	checkRefusedBytes(bytes, size - 1, "a.stl", 0, "asks for 4 facets, 284 bytes; the file has 283");
	putInt(bytes + 80, -1);
	checkRefusedBytes(bytes, size, "a.stl", 0, "asks for 4294967295 facets");
	putInt(bytes + 80, 4);
	putFloat(bytes + 84 + 12, NAN);
	checkRefusedBytes(bytes, size, "a.stl", 0, "corner at byte 96 is not finite");
}

static void test_bad_msh(void** state) {
	(void)state;
	char bytes[1024];
	size_t size = writeMsh(bytes, false);
	checkRefusedBytes(bytes, 15, "a.msh", 0, "15 bytes");
	checkRefusedBytes(bytes, size - 4, "a.msh", 0, "ask for 112 bytes; the file has 108");
	checkRefusedBytes(bytes, size + 4, "a.msh", 0, "ask for 112 bytes; the file has 116");
	putInt(bytes + size - 4, 4);
	checkRefusedBytes(bytes, size, "a.msh", 0, "at byte 108 names vertex 4 of 4");
	putInt(bytes + size - 4, -1);
	checkRefusedBytes(bytes, size, "a.msh", 0, "names vertex -1 of 4");
	putInt(bytes, -4);
	checkRefusedBytes(bytes, size, "a.msh", 0, "number of vertices at byte 0 is -4");
	putInt(bytes, 0x7fffffff);
	checkRefusedBytes(bytes, size, "a.msh", 0, "number of vertices at byte 0 is 2147483647");
	size = writeMsh(bytes, false);
	putFloat(bytes + 16, INFINITY);
	checkRefusedBytes(bytes, size, "a.msh", 0, "vertex at byte 16 is not finite");
}

static void test_bad_files(void** state) {
	(void)state;
	knMeshFile file;
	knError error = { .status = KN_OK };
	assert_int_equal(knMeshFile_Load("nowhere/a.obj", NULL, &file, &error), KN_IO);
	assert_string_equal(error.file, "nowhere/a.obj");
	assert_int_equal(knMeshFile_Load(".", NULL, &file, &error), KN_IO);
	checkRefused("what", "a.nonsense", 0, "'.nonsense' is not understood");
	checkRefused("what", "a", 0, "not understood");
}

// --- PLY -------------------------------------------------------------------------------------------------

static const char plyText[] =
	"ply\nformat ascii 1.0\ncomment made by hand\nelement vertex 4\nproperty uchar red\nproperty float x\n"
	"property float y\nproperty float z\nelement edge 1\nproperty int v\n"
	"element face 4\nproperty list uchar int vertex_indices\nend_header\n"
	"9 0 0 0\n9 1 0 0\n9 0 2 0\n9 0 0 3\n7\n3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n";

static size_t putBytes(char* bytes, size_t at, const void* value, size_t size, bool big) {
	for (size_t k = 0; k < size; ++k) {
		bytes[at + k] = ((const char*)value)[big ? size - 1 - k : k];
	}
	return at + size;
}

// The same tetrahedron in either order of bytes; its machine is taken to be little-endian.
static size_t writePly(char* bytes, bool big) {
	static const double places[4][3] = { { 0 }, { 1, 0, 0 }, { 0, 2, 0 }, { 0, 0, 3 } };
	static const int16_t sides[4][3] = { { 0, 2, 1 }, { 0, 1, 3 }, { 0, 3, 2 }, { 1, 2, 3 } };
	size_t size = (size_t)sprintf(bytes,
								  "ply\nformat binary_%s_endian 1.0\nelement vertex 4\nproperty double x\n"
								  "property double y\nproperty float z\nelement face 4\n"
								  "property list uchar short vertex_index\nproperty float area\nend_header\n",
								  big ? "big" : "little");
	for (int i = 0; i < 4; ++i) {
		const float z = (float)places[i][2];
		size = putBytes(bytes, size, &places[i][0], 8, big);
		size = putBytes(bytes, size, &places[i][1], 8, big);
		size = putBytes(bytes, size, &z, 4, big);
	}
	for (int i = 0; i < 4; ++i) {
		const float area = 1.0f;
		bytes[size++] = 3;
		for (int k = 0; k < 3; ++k) {
			size = putBytes(bytes, size, &sides[i][k], 2, big);
		}
		size = putBytes(bytes, size, &area, 4, big);
	}
	return size;
}

static void test_ply(void** state) {
	(void)state;
	char bytes[1024];
	knMeshFile file = loadMemory(plyText, strlen(plyText), "t.ply");
	checkTetrahedron(&file);
	for (int big = 0; big < 2; ++big) {
		file = loadMemory(bytes, writePly(bytes, big != 0), "t.ply");
		checkTetrahedron(&file);
	}
	// four corners make two triangles
	static const char quad[] = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\n"
							   "property float z\nelement face 1\nproperty list uchar int vertex_indices\n"
							   "end_header\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n";
	file = loadMemory(quad, strlen(quad), "t.ply");
	assert_int_equal(file.triangleCount, 2);
	assert_int_equal(file.triangles[1].a, 0);
	assert_int_equal(file.triangles[1].b, 2);
	assert_int_equal(file.triangles[1].c, 3);
	knMeshFile_Free(&file);
}

static void test_bad_ply(void** state) {
	(void)state;
	checkRefused("ply\nformat ascii 1.0\nelement vertex 4\n", "t.ply", 4, "no end_header");
	checkRefused("ply\nformat ascii 1.0\nelement vertex 1e12\nend_header\n", "t.ply", 3, "16777216 of one");
	checkRefused("ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nend_header\n1\n", "t.ply", 7,
				 "ends at byte");
	checkRefused("ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nelement face 1\n"
				 "property list int int vertex_indices\nend_header\n0\n3 0 0 1\n",
				 "t.ply", 9, "names vertex 1 of 1");
	char bytes[1024];
	const size_t size = writePly(bytes, false);
	checkRefusedBytes(bytes, size - 1, "t.ply", 0, "within its elements");
	bytes[size - 11] = (char)0xff; // corners of the last face
	checkRefusedBytes(bytes, size, "t.ply", 0, "255 entries");
}

// Whatever bytes are changed or cut, a reader ends with a mesh or with an error, and gives all memory back.
static void test_random_damage(void** state) {
	(void)state;
	knTestRandom random = { 7 };
	static const char* const names[] = { "a.obj", "a.stl", "b.stl", "a.msh", "a.ply", "b.ply" };
	for (int i = 0; i < 6000; ++i) {
		char bytes[4096];
		size_t size = i % 6 == 0   ? writeObj(bytes, sizeof bytes)
					  : i % 6 == 1 ? writeStlText(bytes, sizeof bytes)
					  : i % 6 == 2 ? writeStlBinary(bytes)
					  : i % 6 == 3 ? writeMsh(bytes, true)
					  : i % 6 == 4 ? writePly(bytes, i % 12 == 4)
								   : (size_t)sprintf(bytes, "%s", plyText);
		for (int k = testInt(&random, 6); k >= 0; --k) {
			bytes[testInt(&random, (int)size)] = (char)testInt(&random, 256);
		}
		size -= (size_t)(testInt(&random, 2) * testInt(&random, (int)size));
		knMeshFile file;
		knError error = { .status = KN_OK };
		if (knMeshFile_LoadMemory(bytes, size, names[i % 6], NULL, &file, &error) == KN_OK) {
			assert_true(file.vertexCount > 0);
			knMeshFile_Free(&file);
		} else {
			assert_true(error.message[0] != '\0');
		}
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_format_has_the_same_volume),
		cmocka_unit_test(test_a_polygon_becomes_a_fan),
		cmocka_unit_test(test_points_alone),
		cmocka_unit_test(test_mirrored),
		cmocka_unit_test(test_colours_come_from_the_file_beside),
		cmocka_unit_test(test_bad_obj),
		cmocka_unit_test(test_bad_stl),
		cmocka_unit_test(test_bad_msh),
		cmocka_unit_test(test_bad_files),
		cmocka_unit_test(test_random_damage),
		cmocka_unit_test(test_ply),
		cmocka_unit_test(test_bad_ply),
	};
	return cmocka_run_group_tests(tests, enterScratch, leaveScratch);
}
