// A corpus of malformed inputs, made by rule from small good ones: every one must be refused with its place.
//
//   cut        a text or a binary that ends early, at every n-th byte
//   numbers    each number of a good file in turn becomes something that is none: nan, inf, 1e999, a word
//   values     numbers that are none of their kind: negative masses, zero axes, indices of vertices that are not there
//   whole      documents of another kind, entities, junk, references to what is not there (malformed_documents.h)
//
// test/io/corpus holds those that are better written by hand.
#pragma once

#include "support/kn_test.h"
#include "support/malformed_documents.h"

typedef struct Malformed {
	char name[40]; // of the file; its ending tells the format
	char* bytes;
	size_t size;
} Malformed;

typedef struct MalformedList {
	Malformed* items;
	int count, capacity;
} MalformedList;

static inline void malformedAdd(MalformedList* list, const char* ending, const void* bytes, size_t size) {
	if (list->count == list->capacity) {
		list->capacity = 2 * list->capacity + 64;
		list->items = realloc(list->items, sizeof(Malformed) * (size_t)list->capacity);
		assert_non_null(list->items);
	}
	Malformed* item = &list->items[list->count];
	snprintf(item->name, sizeof item->name, "bad%04d.%s", list->count, ending);
	item->bytes = malloc(size + 1);
	assert_non_null(item->bytes);
	memcpy(item->bytes, bytes, size);
	item->bytes[size] = '\0';
	item->size = size;
	list->count += 1;
}

static inline void malformedAddText(MalformedList* list, const char* ending, const char* text) {
	malformedAdd(list, ending, text, strlen(text));
}

static inline void malformedFree(MalformedList* list) {
	for (int i = 0; i < list->count; ++i) {
		free(list->items[i].bytes);
	}
	free(list->items);
}

// --- rules -----------------------------------------------------------------------------------------------

static inline void malformedCuts(MalformedList* list, const char* ending, const char* bytes, size_t size,
								 int count) {
	for (int i = 0; i < count; ++i) {
		malformedAdd(list, ending, bytes, (size - 1) * (size_t)i / (size_t)count);
	}
}

// The text with the `length` bytes at `at` replaced.
static inline void malformedReplace(MalformedList* list, const char* ending, const char* text, size_t at,
									size_t length, const char* with) {
	const size_t size = strlen(text), extra = strlen(with);
	char* made = malloc(size + extra + 1);
	assert_non_null(made);
	memcpy(made, text, at);
	memcpy(made + at, with, extra);
	strcpy(made + at + extra, text + at + length);
	malformedAdd(list, ending, made, size - length + extra);
	free(made);
}

// Every number that follows a quote, a blank or a line end, each time another nonsense.
static inline void malformedNumbers(MalformedList* list, const char* ending, const char* text) {
	static const char* const nonsense[] = { "nan", "inf", "-inf", "1e999", "x",
											"1,5", "--1", "0x10", "1e",    "1..2" };
	int turn = 0;
	for (size_t at = 1; text[at] != '\0'; ++at) {
		const bool starts = strchr("' \n", text[at - 1]) != NULL && text[at] != '\0' &&
							strchr("-.0123456789", text[at]) != NULL;
		if (starts) {
			const size_t length = strspn(text + at, "-.0123456789e");
			malformedReplace(list, ending, text, at, length, nonsense[turn++ % 10]);
			at += length - 1;
		}
	}
}

// Each pair: a piece of the good text, and what stands there instead.
static inline void malformedValues(MalformedList* list, const char* ending, const char* text,
								   const char* const (*pairs)[2], int count) {
	for (int i = 0; i < count; ++i) {
		const char* at = strstr(text, pairs[i][0]);
		if (at == NULL) {
			fail_msg("the good text has no '%s'", pairs[i][0]);
		}
		malformedReplace(list, ending, text, (size_t)(at - text), strlen(pairs[i][0]), pairs[i][1]);
	}
}

// --- XML -------------------------------------------------------------------------------------------------

static const char malformedGoodMjcf[] =
	"<mujoco model='m'>\n<compiler angle='radian'/>\n<option timestep='0.01' gravity='0 0 -9'/>\n"
	"<default><geom friction='0.5 0.1 0.1'/><default class='c'><joint "
	"damping='1'/></default></default>\n<worldbody>\n"
	"<geom type='plane' size='1 1 1'/>\n<body name='a' pos='0 0 1'>\n<freejoint/>\n"
	"<geom name='g' type='box' size='0.1 0.2 0.3' pos='0 0 0' density='500'/>\n"
	"<body name='b' pos='0 0 1' quat='1 0 0 0'>\n<joint name='h' class='c' axis='0 1 0' range='-1 1' "
	"stiffness='2'/>\n<geom type='capsule' fromto='0 0 0 0 0 1' size='0.1' mass='2'/></body></body>\n"
	"<body name='u' euler='0 0 1'>\n<joint name='s' type='slide' axis='1 0 0'/>\n"
	"<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/></body></worldbody>\n"
	"<contact><exclude body1='a' body2='u'/></contact>\n"
	"<equality><connect body1='a' body2='u' anchor='0 0 0'/></equality>\n"
	"<keyframe><key name='k' qpos='0 0 1 1 0 0 0 0 0'/></keyframe>\n"
	"<custom><text name='knuckle.keyframe' data='k'/></custom>\n</mujoco>";

static inline void malformedMjcf(MalformedList* list) {
	static const char* const values[][2] = {
		{ "timestep='0.01'", "timestep='-1'" },
		{ "timestep='0.01'", "timestep='0'" },
		{ "gravity='0 0 -9'", "gravity='0 -9'" },
		{ "angle='radian'", "angle='gradian'" },
		{ "friction='0.5 0.1 0.1'", "friction='-1 0 0'" },
		{ "damping='1'", "damping='-1'" },
		{ "stiffness='2'", "stiffness='-2'" },
		{ "density='500'", "density='-1'" },
		{ "size='0.1 0.2 0.3'", "size='0.1 0.2'" },
		{ "size='0.1 0.2 0.3'", "size='0.1 -0.2 0.3'" },
		{ "size='0.1 0.2 0.3'", "size='0 0.2 0.3'" },
		{ "mass='2'", "mass='-2'" },
		{ "fromto='0 0 0 0 0 1'", "fromto='0 0 0 0 0 0'" },
		{ "fromto='0 0 0 0 0 1'", "fromto='0 0 0 0 0'" },
		{ "axis='0 1 0'", "axis='0 0 0'" },
		{ "range='-1 1'", "range='1 -1'" },
		{ "quat='1 0 0 0'", "quat='0 0 0 0'" },
		{ "quat='1 0 0 0'", "quat='1 0 0'" },
		{ "mass='1' diaginertia", "mass='0' diaginertia" },
		{ "mass='1' diaginertia", "mass='-1' diaginertia" },
		{ "diaginertia='1 1 1'", "diaginertia='1 1 3'" },
		{ "diaginertia='1 1 1'", "diaginertia='1 -1 1'" },
		{ "diaginertia='1 1 1'", "" },
		{ "type='slide'", "type='slip'" },
		{ "type='box'", "type='bocks'" },
		{ "class='c' axis", "class='nowhere' axis" },
		{ "body1='a' body2='u'/></contact>", "body1='a' body2='nobody'/></contact>" },
		{ "body1='a' body2='u' anchor", "body1='a' body2='a' anchor" },
		{ "body1='a' body2='u' anchor", "body1='zz' body2='u' anchor" },
		{ "name='b'", "name='a'" },
		{ "name='s'", "name='h'" },
		{ "qpos='0 0 1 1 0 0 0 0 0'", "qpos='0 0 1 1 0 0 0 0'" },
		// what is never used is no better
		{ "<keyframe>", "<keyframe><key qpos='0 0 1'/>" },
		{ "<keyframe>", "<keyframe><key ctrl='1'/>" },
		{ "angle='radian'", "eulerseq='xyq'" },
		{ "<worldbody>", "<asset><hfield name='f' nrow='-3' ncol='4' size='1 1 1 1'/></asset><worldbody>" },
		{ "<equality>", "<equality><joint joint1='h' joint2='h'/>" },
		{ "<equality>", "<connect body1='a' body2='u' anchor='0 0 0'/></equality><actuator><position "
						"joint='h' timeconst='-1'/></actuator><equality>" },
		{ "name='knuckle.keyframe' data='k'", "name='knuckle.stepper' data='warp'" },
		{ "</worldbody>", "</body>" },
		{ "<mujoco model='m'>", "<mojoco model='m'>" },
		{ "<mujoco model='m'>", "<!DOCTYPE m><mujoco model='m'>" },
		{ "<mujoco model='m'>", "<mujoco model='m' model='n'>" },
		{ "pos='0 0 1'>", "pos='&lol;'>" },
		{ "name='a'", "name=a" },
		{ "</mujoco>", "</mujoco><mujoco/>" },
		{ "</mujoco>", "\xff\xfe</mujoco>" },
		{ "</mujoco>", "\x01</mujoco>" },
	};
	malformedCuts(list, "xml", malformedGoodMjcf, strlen(malformedGoodMjcf), 80);
	malformedNumbers(list, "xml", malformedGoodMjcf);
	malformedValues(list, "xml", malformedGoodMjcf, values, (int)(sizeof values / sizeof *values));
}

static const char malformedGoodUrdf[] =
	"<robot name='r'>\n<material name='red'><color rgba='1 0 0 1'/></material>\n<link name='base'>\n"
	"<visual><geometry><box size='1 2 3'/></geometry><material name='red'/></visual></link>\n"
	"<link name='a'>\n<inertial><origin xyz='0 0 1' rpy='0 0 0'/><mass value='2'/>\n"
	"<inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial>\n"
	"<collision><origin xyz='0 0 1'/><geometry><cylinder radius='1' "
	"length='2'/></geometry></collision></link>\n"
	"<link name='b'>\n<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial>\n"
	"<collision><geometry><sphere radius='1'/></geometry></collision></link>\n"
	"<joint name='j' type='revolute'>\n<parent link='base'/><child link='a'/><origin xyz='0 0 1' rpy='0 0 "
	"0'/>\n"
	"<axis xyz='0 1 0'/><limit lower='-1' upper='1' effort='5' velocity='1'/><dynamics damping='1' "
	"friction='0'/></joint>\n"
	"<joint name='k' type='continuous'>\n<parent link='a'/><child link='b'/><mimic joint='j' multiplier='2' "
	"offset='0'/></joint>\n"
	"<loop_joint name='l' type='ball'><link1 link='base' xyz='0 0 1'/><link2 link='b' xyz='0 0 "
	"0'/></loop_joint>\n"
	"<transmission name='t'><joint name='j'/></transmission>\n</robot>";

static inline void malformedUrdf(MalformedList* list) {
	static const char* const values[][2] = {
		{ "<robot name='r'>", "<robo name='r'>" },
		{ "<robot name='r'>", "<!DOCTYPE robot SYSTEM 'x'><robot name='r'>" },
		{ "<robot name='r'>", "<robot name='r'><xacro:include/>" },
		{ "name='base'", "" },
		{ "name='base'", "name=''" },
		{ "name='b'", "name='a'" },
		{ "name='k'", "name='j'" },
		{ "mass value='2'", "mass value='-2'" },
		{ "mass value='2'", "mass" },
		{ "ixx='1' ixy", "ixx='-1' ixy" },
		{ "ixx='1' ixy='0'", "ixx='1' ixy='2'" },
		{ "ixx='1' ixy", "ixx='9' ixy" },
		{ "ixx='1' ixy", "ixy" },
		{ "box size='1 2 3'", "box size='1 2'" },
		{ "box size='1 2 3'", "box size='1 -2 3'" },
		{ "cylinder radius='1'", "cylinder" },
		{ "cylinder radius='1'", "cylinder radius='-1'" },
		{ "<sphere radius='1'/>", "<sphere radius='0'/>" },
		{ "<sphere radius='1'/>", "<mesh filename='gone.stl'/>" },
		{ "<sphere radius='1'/>", "<mesh filename='/etc/passwd'/>" },
		{ "<sphere radius='1'/>", "<mesh filename='../../../../etc/passwd'/>" },
		{ "<sphere radius='1'/>", "<mesh/>" },
		{ "<sphere radius='1'/>", "" },
		{ "<geometry><sphere radius='1'/></geometry>", "" },
		{ "type='revolute'", "type='bendy'" },
		{ "type='revolute'", "" },
		{ "parent link='base'", "parent link='gone'" },
		{ "<parent link='base'/>", "" },
		{ "child link='a'", "child link='base'" },
		{ "child link='b'", "child link='a'" },
		{ "axis xyz='0 1 0'", "axis xyz='0 0 0'" },
		{ "axis xyz='0 1 0'", "axis xyz='0 1'" },
		{ "<limit lower='-1' upper='1' effort='5' velocity='1'/>", "" },
		{ "lower='-1'", "lower='2'" },
		{ "effort='5'", "effort='-5'" },
		{ "velocity='1'", "velocity='-1'" },
		{ "damping='1'", "damping='-1'" },
		{ "friction='0'", "friction='-1'" },
		{ "mimic joint='j'", "mimic joint='gone'" },
		{ "mimic joint='j'", "mimic joint='k'" },
		{ "mimic joint='j'", "mimic" },
		{ "link1 link='base'", "link1 link='gone'" },
		{ "type='ball'", "type='bowl'" },
		{ "<joint name='j'/>", "<joint name='gone'/>" },
		{ "rgba='1 0 0 1'", "rgba='1 0 0'" },
		{ "</robot>", "</robot>junk" },
		{ "</robot>", "\xff</robot>" },
		{ "</robot>", "&bomb;</robot>" },
	};
	malformedCuts(list, "urdf", malformedGoodUrdf, strlen(malformedGoodUrdf), 80);
	malformedNumbers(list, "urdf", malformedGoodUrdf);
	malformedValues(list, "urdf", malformedGoodUrdf, values, (int)(sizeof values / sizeof *values));
}

// --- meshes ----------------------------------------------------------------------------------------------

static inline void malformedObj(MalformedList* list) {
	static const char good[] =
		"v 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\nvt 0 0\nvn 0 0 1\nf 1 3 2\nf 1/1 2/1 4/1\nf "
		"1//1 4//1 3//1\nf 2/1/1 3/1/1 4/1/1\n";
	static const char* const values[][2] = {
		{ "f 1 3 2", "f 0 3 2" },
		{ "f 1 3 2", "f 5 3 2" },
		{ "f 1 3 2", "f -5 3 2" },
		{ "f 1 3 2", "f 1.5 3 2" },
		{ "f 1 3 2", "f 1 3" },
		{ "f 1 3 2", "f" },
		{ "1/1 2/1 4/1", "1/2 2/1 4/1" },
		{ "1//1 4//1", "1//2 4//1" },
		{ "2/1/1", "/1/1" },
		{ "v 0 0 0", "v 0 0" },
		{ "v 0 0 0", "w 0 0 0" },
		{ "vt 0 0", "vt" },
		{ "vn 0 0 1", "vn 0 0" },
		{ "f 1 3 2", "f 99999999999999999999 3 2" },
		{ "f 1 3 2", "f a b c" },
		{ "v 1 0 0", "v\t1" },
	};
	malformedNumbers(list, "obj", good);
	malformedValues(list, "obj", good, values, (int)(sizeof values / sizeof *values));
	malformedAdd(list, "obj", "v 0 0 0\n\0\0\0\0", 12);
	malformedAdd(list, "obj",
				 "\x7f"
				 "ELF\1\1\1\0\0\0\n",
				 11);
	malformedAddText(list, "obj", "solid x\nendsolid x\n");
	malformedAddText(list, "obj", "<mujoco/>");
}

static inline void malformedPutFloat(char* at, float value) {
	memcpy(at, &value, 4);
}

static inline void malformedPutInt(char* at, int32_t value) {
	memcpy(at, &value, 4);
}

static inline void malformedStl(MalformedList* list) {
	static const char text[] =
		"solid t\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n"
		"endloop\nendfacet\nendsolid t\n";
	static const char* const values[][2] = {
		{ "facet normal", "facet" },
		{ "outer loop", "outer" },
		{ "outer loop", "inner loop" },
		{ "vertex 1 0 0", "vertex 1 0" },
		{ "vertex 1 0 0", "point 1 0 0" },
		{ "endloop\n", "" },
		{ "endfacet\n", "" },
		{ "endsolid t", "endless t" },
		{ "vertex 0 1 0", "vertex 0 1 nan" },
		{ "vertex 0 1 0", "vertex 0 1 1e999" },
		{ "vertex 0 1 0", "vertex 0 1 x" },
		{ "solid t", "solid t\nsolid t" },
	};
	malformedCuts(list, "stl", text, strlen(text) - 11, 30);
	malformedValues(list, "stl", text, values, (int)(sizeof values / sizeof *values));

	char bytes[84 + 2 * 50] = { 0 };
	malformedPutInt(bytes + 80, 2);
	malformedPutFloat(bytes + 84 + 24, 1.0f);
	malformedPutFloat(bytes + 84 + 40, 1.0f);
	malformedCuts(list, "stl", bytes, sizeof bytes, 20);
	for (int i = 0; i < 9; ++i) {
		char copy[sizeof bytes];
		memcpy(copy, bytes, sizeof bytes);
		malformedPutFloat(copy + 84 + 12 + 4 * i, i % 2 == 0 ? NAN : INFINITY);
		malformedAdd(list, "stl", copy, sizeof copy);
	}
	static const int32_t counts[] = { 3, 1000000, -1, -2147483647 - 1 };
	for (int i = 0; i < 4; ++i) {
		malformedPutInt(bytes + 80, counts[i]);
		malformedAdd(list, "stl", bytes, sizeof bytes);
	}
}

static inline void malformedMsh(MalformedList* list) {
	char bytes[16 + 4 * 12 + 2 * 12] = { 0 };
	malformedPutInt(bytes, 4);
	malformedPutInt(bytes + 12, 2);
	for (int i = 0; i < 12; ++i) {
		malformedPutFloat(bytes + 16 + 4 * i, (float)(i % 5));
	}
	for (int i = 0; i < 6; ++i) {
		malformedPutInt(bytes + 64 + 4 * i, i % 4);
	}
	malformedCuts(list, "msh", bytes, sizeof bytes, 30);
	static const struct {
		int at;
		int32_t value;
	} changes[] = { { 0, -1 },         { 0, 5 },  { 0, 0 },   { 0, 2147483647 }, { 4, 3 },
					{ 4, -4 },         { 8, 1 },  { 8, -1 },  { 12, 3 },         { 12, -2 },
					{ 12, 100000000 }, { 64, 4 }, { 64, -1 }, { 68, 99 },        { 84, 2147483647 } };
	for (size_t i = 0; i < sizeof changes / sizeof *changes; ++i) {
		char copy[sizeof bytes];
		memcpy(copy, bytes, sizeof bytes);
		malformedPutInt(copy + changes[i].at, changes[i].value);
		malformedAdd(list, "msh", copy, sizeof copy);
	}
	for (int i = 0; i < 12; ++i) {
		char copy[sizeof bytes];
		memcpy(copy, bytes, sizeof bytes);
		malformedPutFloat(copy + 16 + 4 * i, i % 2 == 0 ? NAN : -INFINITY);
		malformedAdd(list, "msh", copy, sizeof copy);
	}
}

static inline void malformedPly(MalformedList* list) {
	static const char good[] =
		"ply\nformat ascii 1.0\ncomment x\nelement vertex 4\nproperty float x\nproperty float y\n"
		"property float z\nproperty uchar red\nelement face 4\nproperty list uchar int vertex_indices\n"
		"end_header\n0 0 0 9\n1 0 0 9\n0 2 0 9\n0 0 3 9\n3 0 2 1\n3 0 1 3\n3 1 2 3\n3 0 3 2\n";
	static const char* const values[][2] = {
		{ "ply\n", "plie\n" },
		{ "ascii", "askey" },
		{ "end_header", "end_hedder" },
		{ "float x", "floet x" },
		{ "vertex 4", "vertex -4" },
		{ "vertex 4", "vertex 1000000000" },
		{ "vertex 4", "vertex 99999999999999999999" },
		{ "vertex 4", "vertex four" },
		{ "face 4", "face 5" },
		{ "list uchar int", "list float int" },
		{ "3 0 2 1", "3 0 2 4" },
		{ "3 0 2 1", "3 0 2 -1" },
		{ "3 0 2 1", "3 0 2 1.5" },
		{ "3 0 2 1", "9999999 0 2 1" },
		{ "3 0 2 1", "-3 0 2 1" },
		{ "element vertex 4\n", "" },
		{ "0 2 0 9", "0 nan 0 9" },
		{ "0 2 0 9", "0 1e999 0 9" },
		{ "0 2 0 9", "0 x 0 9" },
	};
	malformedCuts(list, "ply", good, strlen(good) - 1, 40);
	malformedValues(list, "ply", good, values, (int)(sizeof values / sizeof *values));
	// a list that is longer than what is left of a binary
	static const char head[] =
		"ply\nformat binary_little_endian 1.0\nelement vertex 3\nproperty float x\nproperty float y\n"
		"property float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n";
	char bytes[sizeof head + 36 + 9] = { 0 };
	memcpy(bytes, head, sizeof head - 1);
	memset(bytes + sizeof head - 1 + 36, 0xff, 9);
	malformedAdd(list, "ply", bytes, sizeof head - 1 + 36 + 9);
	malformedCuts(list, "ply", bytes, sizeof head - 1 + 36, 20);
}

static inline void malformedDocumentsAdd(MalformedList* list) {
	for (size_t i = 0; i < sizeof malformedDocuments / sizeof *malformedDocuments; ++i) {
		malformedAddText(list, malformedDocuments[i].ending, malformedDocuments[i].text);
	}
}

// --- the rest --------------------------------------------------------------------------------------------

static inline void malformedJson(MalformedList* list) {
	static const char good[] =
		"{\"links\": [{\"joint\": \"hinge\", \"parent\": -1,\n \"mass\": 1.0}],\n \"q\": [0.5]}";
	malformedCuts(list, "json", good, strlen(good), 30);
}

// Deeper, longer and more than any reader takes.
static inline void malformedLarge(MalformedList* list) {
	enum { SIZE = 1 << 18 };
	char* text = malloc(SIZE);
	assert_non_null(text);
	static const struct {
		const char *ending, *head, *again;
		int count;
	} rows[] = {
		{ "urdf", "<robot name='r'>", "<link>", 12000 }, { "xml", "<mujoco><worldbody>", "<body>", 12000 },
		{ "obj", "v 0 0 0\nf ", "1 ", 40000 },           { "obj", "v 0 0 0\nf ", "1 ", 5000 },
		{ "json", "{\"links\": ", "[", 3000 },           { "stl", "solid ", "x", 100000 },
		{ "stl", "solid x\n", "facet", 20000 },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
		size_t size = (size_t)snprintf(text, SIZE, "%s", rows[i].head);
		for (int k = 0; k < rows[i].count; ++k) {
			size += (size_t)snprintf(text + size, SIZE - size, "%s", rows[i].again);
		}
		malformedAdd(list, rows[i].ending, text, size);
	}
	free(text);
}

static inline MalformedList malformedMake(void) {
	MalformedList list = { 0 };
	malformedLarge(&list);
	malformedMjcf(&list);
	malformedUrdf(&list);
	malformedObj(&list);
	malformedStl(&list);
	malformedMsh(&list);
	malformedPly(&list);
	malformedDocumentsAdd(&list);
	malformedJson(&list);
	return list;
}
