// Articulated models in JSON: links with joints, masses and a state (docs/methods/dynamics.md). Parsed by cJSON; every
// value is checked, and a complaint names the place: "links[3].mass".
#include <cjson/cJSON.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "knuckle/io.h"

#define MAX_FILE (1 << 30)
#define MAX_LINKS 1000000

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

static void readState(Reader* reader, const cJSON* root, const knTreeLink* links, knTreeFile* file) {
	size_t qSize = ((size_t)file->nq + 1) * sizeof(double);
	size_t size = (6 * (size_t)file->linkCount + 2 * (size_t)file->nv + 1) * sizeof(double);
	double* q = knAllocZero(&reader->allocator, qSize);
	double* numbers = knAllocZero(&reader->allocator, size);
	if (q == NULL || numbers == NULL) {
		complain(reader, "out of memory");
	} else {
		double *v = numbers, *tau = v + file->nv, *fext = tau + file->nv;
		readNumbers(reader, root, "q", "", file->nq, false, q);
		readNumbers(reader, root, "v", "", file->nv, false, v);
		readNumbers(reader, root, "tau", "", file->nv, true, tau);
		readNumbers(reader, root, "fext_link_frame", "", 6 * file->linkCount, true, fext);
		for (int i = 0; i < file->linkCount; ++i) {
			int qAt = knTree_CoordinateOffset(file->tree, i), vAt = knTree_VelocityOffset(file->tree, i);
			double* mine = file->q + qAt;
			const double* his = q + qAt;
			if (links[i].kind == KN_JOINT_BALL || links[i].kind == KN_JOINT_FREE) {
				int at = links[i].kind == KN_JOINT_FREE ? 3 : 0;
				for (int k = 0; k < at; ++k) {
					mine[k] = his[k];
				}
				double norm = his[at] * his[at] + his[at + 1] * his[at + 1] + his[at + 2] * his[at + 2] +
							  his[at + 3] * his[at + 3];
				if (knAbs(norm - 1.0) > 1e-6) {
					complain(reader, "q: the quaternion of links[%d] is no unit quaternion", i);
				}
				mine[at] = his[at + 3];
				for (int k = 0; k < 3; ++k) {
					mine[at + 1 + k] = his[at + k];
				}
			} else {
				mine[0] = his[0];
			}
			for (int k = 0; k < knTree_LinkVelocityCount(file->tree, i); ++k) {
				int place = vAt + filePlace(links[i].kind, k);
				file->fileVelocity[vAt + k] = place;
				file->v[vAt + k] = v[place];
				file->tau[vAt + k] = tau[place];
			}
			const double* f = fext + 6 * (size_t)i;
			file->forces[i] = (knTwist){ knV3(f[3], f[4], f[5]), knV3(f[0], f[1], f[2]) };
		}
	}
	knFree(&reader->allocator, q, qSize);
	knFree(&reader->allocator, numbers, size);
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
	if (reader->error != NULL) {
		snprintf(reader->error->file, sizeof(reader->error->file), "%s", reader->path);
		reader->error->line = line;
		reader->error->column = column;
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
	int index = 0;
	const cJSON* item;
	cJSON_ArrayForEach(item, list) {
		if (links != NULL && reader->status == KN_OK) {
			readLink(reader, item, index, &links[index]);
		}
		++index;
	}
	if (links == NULL) {
		complain(reader, "out of memory");
	}
	if (reader->status == KN_OK) {
		file->tree = knTree_Create(links, count, NULL, reader->error);
		if (file->tree == NULL || !takeMemory(file)) {
			reader->status =
				file->tree == NULL && reader->error != NULL ? reader->error->status : KN_BAD_DATA;
		} else {
			readState(reader, root, links, file);
		}
	}
	knFree(&reader->allocator, links, (size_t)count * sizeof(knTreeLink));
}

knStatus knTreeFile_Load(const char* path, knTreeFile* file, knError* error) {
	Reader reader = { .allocator = knAllocator_Default(), .path = path, .error = error };
	*file = (knTreeFile){ 0 };
	size_t size = 0, room = 0;
	char* text = readText(&reader, &size, &room);
	if (text == NULL) {
		return reader.status;
	}
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
