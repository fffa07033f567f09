// Articulated models in JSON: links with joints, masses and a state (docs/methods/dynamics.md). Parsed by cJSON;
// every value is checked, and a complaint names the place: "links[3].mass".
#include <cjson/cJSON.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "knuckle/io.h"

#define MAX_FILE (1 << 30)
#define MAX_LINKS 1000000
#define NAME_SIZE 24 // "links[999999]"

typedef struct Reader {
	knAllocator allocator;
	const char* path;
	knError* error;
	knStatus status;
} Reader;

static void complain(Reader* reader, const char* format, ...) KN_PRINTF(2, 3);

// Keeps the first complaint.
static void complain(Reader* reader, const char* format, ...) {
	if (reader->status != KN_OK) {
		return;
	}
	char text[256];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	reader->status = knError_Set(reader->error, KN_BAD_DATA, reader->path, "%s", text);
}

// Says which file a complaint of the library is about.
static void nameFile(Reader* reader, int line, int column) {
	if (reader->error != NULL) {
		snprintf(reader->error->file, sizeof(reader->error->file), "%s", reader->path);
		reader->error->line = line;
		reader->error->column = column;
	}
}

// --- values ----------------------------------------------------------------------------------------------

static double readNumber(Reader* reader, const cJSON* parent, const char* name, const char* place) {
	const cJSON* item = cJSON_GetObjectItemCaseSensitive(parent, name);
	if (!cJSON_IsNumber(item) || !knIsFinite(item->valuedouble)) {
		complain(reader, "%s%s is missing or no finite number", place, name);
		return 0.0;
	}
	return item->valuedouble;
}

static int readWhole(Reader* reader, const cJSON* parent, const char* name, const char* place) {
	double value = readNumber(reader, parent, name, place);
	if (value != (double)(int)knMax(knMin(value, 1e9), -1e9)) {
		complain(reader, "%s%s is %g; it must be a whole number", place, name, value);
	}
	return (int)knMax(knMin(value, 1e9), -1e9);
}

// A number that the rest of the file implies: it may be left out, but not be another.
static void checkWhole(Reader* reader, const cJSON* parent, const char* name, const char* place,
					   int expected) {
	if (cJSON_GetObjectItemCaseSensitive(parent, name) != NULL) {
		int value = readWhole(reader, parent, name, place);
		if (value != expected) {
			complain(reader, "%s%s is %d; the rest of the file makes it %d", place, name, value, expected);
		}
	}
}

// Reads exactly `count` numbers; an absent list of `optional` numbers is zeros.
static void readNumbers(Reader* reader, const cJSON* parent, const char* name, const char* place, int count,
						bool optional, double* values) {
	const cJSON* list = cJSON_GetObjectItemCaseSensitive(parent, name);
	for (int i = 0; i < count; ++i) {
		values[i] = 0.0;
	}
	if (list == NULL && optional) {
		return;
	}
	if (!cJSON_IsArray(list) || cJSON_GetArraySize(list) != count) {
		complain(reader, "%s%s must be a list of %d numbers", place, name, count);
		return;
	}
	int i = 0;
	const cJSON* item;
	cJSON_ArrayForEach(item, list) {
		if (!cJSON_IsNumber(item) || !knIsFinite(item->valuedouble)) {
			complain(reader, "%s%s[%d] is no finite number", place, name, i);
			return;
		}
		values[i++] = item->valuedouble;
	}
}

static knMat33 rowMajor(const double* m) {
	return knMakeMat33(knV3(m[0], m[3], m[6]), knV3(m[1], m[4], m[7]), knV3(m[2], m[5], m[8]));
}

// --- links -----------------------------------------------------------------------------------------------

static const struct Kind {
	const char* name;
	knJointKind kind;
	bool hasAxis;
} kinds[] = {
	{ "revolute", KN_JOINT_HINGE, true },
	{ "prismatic", KN_JOINT_SLIDER, true },
	{ "spherical", KN_JOINT_BALL, false },
	{ "free", KN_JOINT_FREE, false },
};

static const struct Kind* findKind(Reader* reader, const cJSON* link, const char* place) {
	const cJSON* item = cJSON_GetObjectItemCaseSensitive(link, "joint");
	for (size_t k = 0; cJSON_IsString(item) && k < sizeof(kinds) / sizeof(kinds[0]); ++k) {
		if (strcmp(item->valuestring, kinds[k].name) == 0) {
			return &kinds[k];
		}
	}
	complain(reader, "%sjoint must be revolute, prismatic, spherical or free", place);
	return &kinds[0];
}

static bool isRotation(const knMat33* R) {
	knMat33 Rt = knTranspose33(R), one = knMulMM(&Rt, R);
	double off = knAbs(one.cx.x - 1.0) + knAbs(one.cy.y - 1.0) + knAbs(one.cz.z - 1.0) + knAbs(one.cy.x) +
				 knAbs(one.cz.x) + knAbs(one.cz.y);
	return off < 1e-6 && knDot(knCross(R->cx, R->cy), R->cz) > 0.0;
}

// A rotation that takes x to the axis.
static knQuat turnToAxis(Reader* reader, const double* a, const char* place) {
	knVec3 axis = knV3(a[0], a[1], a[2]);
	double length = knLength(axis);
	if (!(length > 1e-9)) {
		complain(reader, "%saxis has no direction", place);
		return knIdentityQ();
	}
	return knQuat_Between(knV3(1.0, 0.0, 0.0), knScale(1.0 / length, axis));
}

static void readLink(Reader* reader, const cJSON* item, int index, knTreeLink* link) {
	char place[48];
	snprintf(place, sizeof(place), "links[%d].", index);
	double R[9], p[3], axis[3], com[3], I[9];
	const struct Kind* kind = findKind(reader, item, place);
	link->kind = kind->kind;
	checkWhole(reader, item, "id", place, index);
	link->parent = readWhole(reader, item, "parent", place);
	if (link->parent >= index || link->parent < -1) {
		complain(reader, "%sparent is %d; parents come before their children, -1 is the world", place,
				 link->parent);
	}
	readNumbers(reader, item, "placement_R_rowmajor", place, 9, false, R);
	readNumbers(reader, item, "placement_p", place, 3, false, p);
	readNumbers(reader, item, "axis", place, 3, !kind->hasAxis, axis);
	readNumbers(reader, item, "com", place, 3, false, com);
	readNumbers(reader, item, "inertia_com_rowmajor", place, 9, false, I);
	link->mass =
		(knMassProps){ readNumber(reader, item, "mass", place), knV3(com[0], com[1], com[2]), rowMajor(I) };
	knMat33 turn = rowMajor(R);
	if (!isRotation(&turn)) {
		complain(reader, "%splacement_R_rowmajor is no rotation", place);
		return;
	}
	knFrame placement = knMakeFrame(knV3(p[0], p[1], p[2]), knQuat_FromMat33(&turn));
	knFrame toAxis = knMakeFrame(knZero3(), kind->hasAxis ? turnToAxis(reader, axis, place) : knIdentityQ());
	link->frameParent = knMulF(placement, toAxis);
	link->frameChild = toAxis;
}

// Where the link's velocity coordinate k stands in the file: a free joint has its linear ones first there.
static int filePlace(knJointKind kind, int k) {
	return kind == KN_JOINT_FREE ? (k + 3) % 6 : k;
}

// Where a link's numbers start in the file: behind those of the link before, unless the file says otherwise. `used`
// marks what is taken, so that no number serves twice.
static int readOffset(Reader* reader, const cJSON* link, int index, const char* name, int next, int count,
					  int total, unsigned char* used) {
	char place[48];
	snprintf(place, sizeof(place), "links[%d].", index);
	bool given = cJSON_GetObjectItemCaseSensitive(link, name) != NULL;
	int start = given ? readWhole(reader, link, name, place) : next;
	if (start < 0 || start > total - count) {
		complain(reader, "%s%s is %d; %d numbers from there do not fit into %d", place, name, start, count,
				 total);
		return 0;
	}
	for (int k = 0; k < count; ++k) {
		if (used[start + k]) {
			complain(reader, "%s%s is %d; those numbers belong to an earlier link", place, name, start);
			return 0;
		}
		used[start + k] = 1;
	}
	return start;
}

// The link's coordinates from its numbers in the file, whose quaternions have w last.
static void readCoordinates(Reader* reader, knJointKind kind, int index, const double* his, double* mine) {
	if (kind != KN_JOINT_BALL && kind != KN_JOINT_FREE) {
		mine[0] = his[0];
		return;
	}
	int at = kind == KN_JOINT_FREE ? 3 : 0;
	for (int k = 0; k < at; ++k) {
		mine[k] = his[k];
	}
	knQuat q = knQ(his[at + 3], his[at], his[at + 1], his[at + 2]);
	if (knAbs(knDotQ(q, q) - 1.0) > 1e-6) {
		complain(reader, "q: the quaternion of links[%d] is no unit quaternion", index);
	}
	mine[at] = q.w;
	mine[at + 1] = q.x;
	mine[at + 2] = q.y;
	mine[at + 3] = q.z;
}

// The file's own lists, as they stand there.
typedef struct Lists {
	double *q, *v, *tau, *forces;
	unsigned char *usedQ, *usedV;
} Lists;

static void sortLink(Reader* reader, const cJSON* item, int i, const knTreeLink* link, const Lists* lists,
					 knTreeFile* file) {
	int qAt = knTree_CoordinateOffset(file->tree, i), vAt = knTree_VelocityOffset(file->tree, i);
	int nv = knTree_LinkVelocityCount(file->tree, i);
	int nq = (i + 1 < file->linkCount ? knTree_CoordinateOffset(file->tree, i + 1) : file->nq) - qAt;
	int qFrom = readOffset(reader, item, i, "q_offset", qAt, nq, file->nq, lists->usedQ);
	int vFrom = readOffset(reader, item, i, "v_offset", vAt, nv, file->nv, lists->usedV);
	if (reader->status != KN_OK) {
		return;
	}
	readCoordinates(reader, link->kind, i, lists->q + qFrom, file->q + qAt);
	for (int k = 0; k < nv; ++k) {
		int place = vFrom + filePlace(link->kind, k);
		file->fileVelocity[vAt + k] = place;
		file->v[vAt + k] = lists->v[place];
		file->tau[vAt + k] = lists->tau[place];
	}
	const double* f = lists->forces + 6 * (size_t)i;
	file->forces[i] = (knTwist){ knV3(f[3], f[4], f[5]), knV3(f[0], f[1], f[2]) };
}

static void readState(Reader* reader, const cJSON* root, const knTreeLink* links, knTreeFile* file) {
	size_t nq = (size_t)file->nq, nv = (size_t)file->nv, n = (size_t)file->linkCount;
	size_t size = (nq + 2 * nv + 6 * n + 1) * sizeof(double), usedSize = nq + nv + 1;
	Lists lists = { .q = knAllocZero(&reader->allocator, size),
					.usedQ = knAllocZero(&reader->allocator, usedSize) };
	checkWhole(reader, root, "nlinks", "", file->linkCount);
	checkWhole(reader, root, "nq", "", file->nq);
	checkWhole(reader, root, "nv", "", file->nv);
	if (lists.q == NULL || lists.usedQ == NULL) {
		complain(reader, "out of memory");
	} else {
		lists.v = lists.q + nq;
		lists.tau = lists.v + nv;
		lists.forces = lists.tau + nv;
		lists.usedV = lists.usedQ + nq;
		readNumbers(reader, root, "q", "", file->nq, false, lists.q);
		readNumbers(reader, root, "v", "", file->nv, false, lists.v);
		readNumbers(reader, root, "tau", "", file->nv, true, lists.tau);
		readNumbers(reader, root, "fext_link_frame", "", 6 * file->linkCount, true, lists.forces);
		int i = 0;
		const cJSON* item;
		cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(root, "links")) {
			if (reader->status == KN_OK) {
				sortLink(reader, item, i, &links[i], &lists, file);
			}
			++i;
		}
	}
	knFree(&reader->allocator, lists.q, size);
	knFree(&reader->allocator, lists.usedQ, usedSize);
}

// --- the file --------------------------------------------------------------------------------------------

// `room` is what the text must be released with.
static char* readText(Reader* reader, size_t* size, size_t* room) {
	FILE* stream = fopen(reader->path, "rb");
	char* text = NULL;
	long length = -1;
	if (stream != NULL && fseek(stream, 0, SEEK_END) == 0) {
		length = ftell(stream);
	}
	if (length < 0 || length > MAX_FILE || fseek(stream, 0, SEEK_SET) != 0) {
		reader->status = knError_Set(reader->error, KN_IO, reader->path, "cannot be read: %s",
									 length > MAX_FILE ? "it is too large" : strerror(errno));
	} else {
		*room = (size_t)length + 1;
		text = knAlloc(&reader->allocator, *room);
		*size = text != NULL ? fread(text, 1, (size_t)length, stream) : 0;
		if (text != NULL) {
			text[*size] = '\0';
		} else {
			reader->status = knError_Set(reader->error, KN_NO_MEMORY, reader->path, "out of memory");
		}
	}
	if (stream != NULL) {
		fclose(stream);
	}
	return text;
}

static void parseError(Reader* reader, const char* text, const char* end) {
	int line = 1, column = 1;
	for (const char* c = text; c < end; ++c) {
		column = *c == '\n' ? 1 : column + 1;
		line += *c == '\n' ? 1 : 0;
	}
	reader->status = knError_Set(reader->error, KN_BAD_DATA, "json", "this is not JSON");
	nameFile(reader, line, column);
}

// NaN and Infinity are not JSON, but some programs write them. They become empty texts, so that the place that wants
// a number complains by its name.
static void blankNoNumbers(char* text) {
	static const char* const words[] = { "NaN", "-NaN", "Infinity", "-Infinity" };
	bool inText = false;
	for (char* c = text; *c != '\0'; ++c) {
		if (*c == '"') {
			inText = !inText;
		} else if (inText && *c == '\\' && c[1] != '\0') {
			++c;
		}
		for (size_t k = 0; !inText && k < sizeof(words) / sizeof(words[0]); ++k) {
			size_t length = strlen(words[k]);
			if (strncmp(c, words[k], length) == 0) {
				memset(c, ' ', length);
				c[0] = c[1] = '"';
				c += length - 1;
				break;
			}
		}
	}
}

static void* takeZero(size_t count, size_t size) {
	knAllocator allocator = knAllocator_Default();
	return knAllocZero(&allocator, (count + 1) * size);
}

static void giveBack(void* memory, size_t count, size_t size) {
	knAllocator allocator = knAllocator_Default();
	knFree(&allocator, memory, (count + 1) * size);
}

static bool takeMemory(knTreeFile* file) {
	file->linkCount = knTree_LinkCount(file->tree);
	file->nq = knTree_CoordinateCount(file->tree);
	file->nv = knTree_VelocityCount(file->tree);
	file->q = takeZero((size_t)file->nq, sizeof(double));
	file->v = takeZero((size_t)file->nv, sizeof(double));
	file->tau = takeZero((size_t)file->nv, sizeof(double));
	file->forces = takeZero((size_t)file->linkCount, sizeof(knTwist));
	file->fileVelocity = takeZero((size_t)file->nv, sizeof(int));
	return file->q != NULL && file->v != NULL && file->tau != NULL && file->forces != NULL &&
		   file->fileVelocity != NULL;
}

static void readModel(Reader* reader, const cJSON* root, knTreeFile* file) {
	const cJSON* list = cJSON_GetObjectItemCaseSensitive(root, "links");
	int count = cJSON_IsArray(list) ? cJSON_GetArraySize(list) : 0;
	double gravity[3];
	readNumbers(reader, root, "gravity", "", 3, false, gravity);
	file->gravity = knV3(gravity[0], gravity[1], gravity[2]);
	if (count < 1 || count > MAX_LINKS) {
		complain(reader, "links must be a list of 1 to %d links", MAX_LINKS);
		return;
	}
	knTreeLink* links = knAllocZero(&reader->allocator, (size_t)count * sizeof(knTreeLink));
	char(*names)[NAME_SIZE] = knAllocZero(&reader->allocator, (size_t)count * NAME_SIZE);
	int index = 0;
	const cJSON* item;
	cJSON_ArrayForEach(item, list) {
		if (links != NULL && names != NULL && reader->status == KN_OK) {
			snprintf(names[index], NAME_SIZE, "links[%d]", index);
			links[index].name = names[index];
			readLink(reader, item, index, &links[index]);
		}
		++index;
	}
	if (links == NULL || names == NULL) {
		complain(reader, "out of memory");
	}
	if (reader->status == KN_OK) {
		file->tree = knTree_Create(links, count, NULL, reader->error);
		if (file->tree == NULL || !takeMemory(file)) {
			reader->status = file->tree == NULL
								 ? KN_BAD_DATA
								 : knError_Set(reader->error, KN_NO_MEMORY, "tree", "out of memory");
			nameFile(reader, 0, 0);
		} else {
			readState(reader, root, links, file);
		}
	}
	knFree(&reader->allocator, links, (size_t)count * sizeof(knTreeLink));
	knFree(&reader->allocator, names, (size_t)count * NAME_SIZE);
}

knStatus knTreeFile_Load(const char* path, knTreeFile* file, knError* error) {
	Reader reader = { .allocator = knAllocator_Default(), .path = path, .error = error };
	*file = (knTreeFile){ 0 };
	size_t size = 0, room = 0;
	char* text = readText(&reader, &size, &room);
	if (text == NULL) {
		return reader.status;
	}
	blankNoNumbers(text);
	const char* end = text;
	cJSON* root = cJSON_ParseWithLengthOpts(text, size + 1, &end, true);
	if (root == NULL) {
		parseError(&reader, text, end);
	} else {
		readModel(&reader, root, file);
	}
	cJSON_Delete(root);
	knFree(&reader.allocator, text, room);
	if (reader.status != KN_OK) {
		knTreeFile_Free(file);
	}
	return reader.status;
}

void knTreeFile_Free(knTreeFile* file) {
	knTree_Destroy(file->tree);
	giveBack(file->q, (size_t)file->nq, sizeof(double));
	giveBack(file->v, (size_t)file->nv, sizeof(double));
	giveBack(file->tau, (size_t)file->nv, sizeof(double));
	giveBack(file->forces, (size_t)file->linkCount, sizeof(knTwist));
	giveBack(file->fileVelocity, (size_t)file->nv, sizeof(int));
	*file = (knTreeFile){ 0 };
}
