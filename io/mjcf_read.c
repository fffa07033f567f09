// From XML to elements: expat calls back for every tag; a table says what a tag means at the place where it stands,
// and an own stack remembers the place. So nesting costs a few bytes of memory and no C stack, a file is read in
// pieces, and an element that is not understood takes all that is in it with it.
//
// DOCTYPE is refused, and with it every entity: scene files need none, and they are how XML files attack.
// expat's own memory comes from malloc, because its hooks carry no context; everything else from the allocator.
#include "mjcf.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <expat.h>

enum { PIECE = 1 << 16 };

// Where a tag stands.
typedef enum Place {
	IN_DOCUMENT,
	IN_MUJOCO,
	IN_DEFAULT,
	IN_BODY,
	IN_EQUALITY,
	IN_CONTACT,
	IN_KEYFRAME,
	IN_CUSTOM,
	IN_LEAF,    // an element that has no children we know
	IN_IGNORED, // inside something that was reported
} Place;

typedef struct Level {
	Place place;
	int index; // the body or the class
} Level;

typedef struct Parse {
	knMjcf* reader;
	XML_Parser parser;
	KN_ARRAY(Level) stack;
} Parse;

typedef struct Row Row;

// Reads an element; `index` comes in as its parent's body or class and goes out as that of its children.
typedef bool OpenFn(Parse* parse, const Row* row, const char** attributes, int* index);

struct Row {
	Place place;
	const char* tag;
	OpenFn* open;
	Place inside;
};

// --- the elements ----------------------------------------------------------------------------------------

static const knMjcfGeom geomDefault = { .body = 0,
										.type = KN_MJCF_SPHERE,
										.density = 1000.0,
										.friction = { 1.0, 0.005, 0.0001 },
										.contype = 1,
										.conaffinity = 1,
										.condim = 3 };
static const knMjcfJoint jointDefault = { .type = KN_MJCF_HINGE,
										  .axis = { 0.0, 0.0, 1.0 },
										  .limited = KN_MJCF_LIMITED_AUTO };
static const knMjcfEquality equalityDefault = { .active = 1 };

// Pushes a copy of the local `item`; an expression that is true if there was memory.
#define KEEP(parse, array, item)                                                                             \
	(KN_ARRAY_PUSH(&(parse)->reader->allocator, &(parse)->reader->array, item) ||                            \
	 knMjcf_NoMemory((parse)->reader))

static bool openSection(Parse* parse, const Row* row, const char** attributes, int* index) {
	(void)index;
	for (int i = 0; attributes[i] != NULL; i += 2) {
		knMjcf_Note(parse->reader, NULL, "<%s> %.60s ignored", row->tag, attributes[i]);
	}
	return true;
}

static bool openModel(Parse* parse, const Row* row, const char** attributes, int* index) {
	(void)row, (void)index;
	return knMjcf_ReadElement(parse->reader, &knMjcfModelType, attributes, &parse->reader->model);
}

static bool openCompiler(Parse* parse, const Row* row, const char** attributes, int* index) {
	(void)row, (void)index;
	return knMjcf_ReadElement(parse->reader, &knMjcfCompilerType, attributes, &parse->reader->compiler);
}

static bool openOption(Parse* parse, const Row* row, const char** attributes, int* index) {
	(void)row, (void)index;
	return knMjcf_ReadElement(parse->reader, &knMjcfOptionType, attributes, &parse->reader->option);
}

// The outermost <default> is the root class, whatever it calls itself; the ones inside must have a name.
static bool openDefault(Parse* parse, const Row* row, const char** attributes, int* index) {
	knMjcf* reader = parse->reader;
	const bool root = row->place == IN_MUJOCO;
	knMjcfClass class = {
		.parent = *index, .geom = geomDefault, .joint = jointDefault, .equality = equalityDefault
	};
	if (!knMjcf_ReadElement(reader, &knMjcfDefaultType, attributes, &class)) {
		return false;
	}
	const char* name = class.element.className;
	if (name == NULL && !root) {
		return knMjcf_Fail(reader, NULL, "default", KN_BAD_DATA, "a nested <default> must name its class");
	}
	int known = name != NULL ? knNameTable_Get(&reader->classNames, name) : -1;
	if (known > 0 || (known == 0 && !root)) {
		return knMjcf_Fail(reader, NULL, "default", KN_BAD_DATA,
						   "class '%.60s' is defined twice, first in line %d", name,
						   reader->classes.items[known].element.line);
	}
	*index = root ? 0 : reader->classes.count;
	if (root) {
		reader->classes.items[0].element.line = reader->line;
	} else if (!KEEP(parse, classes, class)) {
		return false;
	}
	if (name != NULL && !knNameTable_Set(&reader->classNames, name, *index)) {
		return knMjcf_NoMemory(reader);
	}
	return true;
}

static bool openDefaultGeom(Parse* parse, const Row* row, const char** attributes, int* index) {
	(void)row;
	return knMjcf_ReadElement(parse->reader, &knMjcfGeomType, attributes,
							  &parse->reader->classes.items[*index].geom);
}

static bool openDefaultJoint(Parse* parse, const Row* row, const char** attributes, int* index) {
	(void)row;
	return knMjcf_ReadElement(parse->reader, &knMjcfJointType, attributes,
							  &parse->reader->classes.items[*index].joint);
}

static bool openDefaultEquality(Parse* parse, const Row* row, const char** attributes, int* index) {
	(void)row;
	return knMjcf_ReadElement(parse->reader, &knMjcfEqualityType, attributes,
							  &parse->reader->classes.items[*index].equality);
}

static bool openWorldBody(Parse* parse, const Row* row, const char** attributes, int* index) {
	(void)row;
	*index = 0;
	return knMjcf_ReadElement(parse->reader, &knMjcfWorldBodyType, attributes,
							  &parse->reader->bodies.items[0]);
}

static bool openBody(Parse* parse, const Row* row, const char** attributes, int* index) {
	(void)row;
	knMjcfBody body = { .parent = *index, .inertial = -1 };
	*index = parse->reader->bodies.count;
	return knMjcf_ReadElement(parse->reader, &knMjcfBodyType, attributes, &body) && KEEP(parse, bodies, body);
}

static bool openInertial(Parse* parse, const Row* row, const char** attributes, int* index) {
	(void)row;
	knMjcf* reader = parse->reader;
	knMjcfInertial inertial = { .mass = 0.0 };
	if (*index == 0) {
		return knMjcf_Fail(reader, NULL, "inertial", KN_BAD_DATA, "the world takes no <inertial>");
	}
	if (reader->bodies.items[*index].inertial >= 0) {
		return knMjcf_Fail(reader, NULL, "inertial", KN_BAD_DATA, "its body has an <inertial> already");
	}
	reader->bodies.items[*index].inertial = reader->inertials.count;
	return knMjcf_ReadElement(reader, &knMjcfInertialType, attributes, &inertial) &&
		   KEEP(parse, inertials, inertial);
}

static bool openGeom(Parse* parse, const Row* row, const char** attributes, int* index) {
	(void)row;
	knMjcfGeom geom = geomDefault;
	geom.body = *index;
	return knMjcf_ReadElement(parse->reader, &knMjcfGeomType, attributes, &geom) && KEEP(parse, geoms, geom);
}

static bool keepJoint(Parse* parse, const knMjcfElementType* type, const char** attributes, int body,
					  knMjcfJoint joint) {
	joint.body = body;
	if (body == 0) {
		return knMjcf_Fail(parse->reader, NULL, type->tag, KN_BAD_DATA, "the world takes no joints");
	}
	return knMjcf_ReadElement(parse->reader, type, attributes, &joint) && KEEP(parse, joints, joint);
}

static bool openJoint(Parse* parse, const Row* row, const char** attributes, int* index) {
	(void)row;
	return keepJoint(parse, &knMjcfJointType, attributes, *index, jointDefault);
}

// A free joint by its short name takes nothing from defaults: every bit that a default may give is set.
static bool openFreeJoint(Parse* parse, const Row* row, const char** attributes, int* index) {
	(void)row;
	knMjcfJoint joint = jointDefault;
	joint.type = KN_MJCF_FREE;
	joint.element.given = ~(1u << KN_MJCF_NAME | 1u << KN_MJCF_CLASS | 1u << KN_MJCF_JOINT_RANGE);
	joint.limited = KN_MJCF_LIMITED_FALSE;
	return keepJoint(parse, &knMjcfFreeJointType, attributes, *index, joint);
}

static bool openEqualityOf(Parse* parse, const knMjcfElementType* type, const char** attributes, bool weld) {
	knMjcfEquality equality = equalityDefault;
	equality.weld = weld;
	return knMjcf_ReadElement(parse->reader, type, attributes, &equality) &&
		   KEEP(parse, equalities, equality);
}

static bool openConnect(Parse* parse, const Row* row, const char** attributes, int* index) {
	(void)row, (void)index;
	return openEqualityOf(parse, &knMjcfConnectType, attributes, false);
}

static bool openWeld(Parse* parse, const Row* row, const char** attributes, int* index) {
	(void)row, (void)index;
	return openEqualityOf(parse, &knMjcfWeldType, attributes, true);
}

static bool openExclude(Parse* parse, const Row* row, const char** attributes, int* index) {
	(void)row, (void)index;
	knMjcfExclude exclude = { .body1 = NULL };
	return knMjcf_ReadElement(parse->reader, &knMjcfExcludeType, attributes, &exclude) &&
		   KEEP(parse, excludes, exclude);
}

static bool openKey(Parse* parse, const Row* row, const char** attributes, int* index) {
	(void)row, (void)index;
	knMjcfKey key = { .time = 0.0 };
	return knMjcf_ReadElement(parse->reader, &knMjcfKeyType, attributes, &key) && KEEP(parse, keys, key);
}

static bool openCustom(Parse* parse, const Row* row, const char** attributes, int* index) {
	(void)index;
	knMjcf* reader = parse->reader;
	knMjcfCustom custom = { .text = strcmp(row->tag, "text") == 0 };
	if (!knMjcf_ReadElement(reader, custom.text ? &knMjcfTextType : &knMjcfNumericType, attributes,
							&custom)) {
		return false;
	}
	if (custom.element.name == NULL || strncmp(custom.element.name, "knuckle.", 8) != 0) {
		knMjcf_Note(reader, NULL, "<%s> '%.60s' ignored", row->tag,
					custom.element.name != NULL ? custom.element.name : "");
		return !reader->failed;
	}
	if (custom.data == NULL) {
		return knMjcf_Fail(reader, &custom.element, row->tag, KN_BAD_DATA, "it has no data");
	}
	return KEEP(parse, customs, custom);
}

// What would put other bodies or geoms into the scene than the file shows: ignoring it would be wrong.
static bool openRefused(Parse* parse, const Row* row, const char** attributes, int* index) {
	(void)attributes, (void)index;
	return knMjcf_Fail(parse->reader, NULL, row->tag, KN_UNSUPPORTED,
					   "<%s> is not understood, and the scene would not be the same without it", row->tag);
}

static const Row rows[] = {
	{ IN_BODY, "geom", openGeom, IN_LEAF },
	{ IN_BODY, "joint", openJoint, IN_LEAF },
	{ IN_BODY, "freejoint", openFreeJoint, IN_LEAF },
	{ IN_BODY, "inertial", openInertial, IN_LEAF },
	{ IN_BODY, "body", openBody, IN_BODY },
	{ IN_BODY, "frame", openRefused, IN_IGNORED },
	{ IN_BODY, "replicate", openRefused, IN_IGNORED },
	{ IN_BODY, "attach", openRefused, IN_IGNORED },
	{ IN_BODY, "composite", openRefused, IN_IGNORED },
	{ IN_BODY, "flexcomp", openRefused, IN_IGNORED },
	{ IN_BODY, "include", openRefused, IN_IGNORED },
	{ IN_DOCUMENT, "mujoco", openModel, IN_MUJOCO },
	{ IN_MUJOCO, "compiler", openCompiler, IN_LEAF },
	{ IN_MUJOCO, "option", openOption, IN_LEAF },
	{ IN_MUJOCO, "default", openDefault, IN_DEFAULT },
	{ IN_MUJOCO, "worldbody", openWorldBody, IN_BODY },
	{ IN_MUJOCO, "equality", openSection, IN_EQUALITY },
	{ IN_MUJOCO, "contact", openSection, IN_CONTACT },
	{ IN_MUJOCO, "keyframe", openSection, IN_KEYFRAME },
	{ IN_MUJOCO, "custom", openSection, IN_CUSTOM },
	{ IN_MUJOCO, "include", openRefused, IN_IGNORED },
	{ IN_MUJOCO, "deformable", openRefused, IN_IGNORED },
	{ IN_DEFAULT, "default", openDefault, IN_DEFAULT },
	{ IN_DEFAULT, "geom", openDefaultGeom, IN_LEAF },
	{ IN_DEFAULT, "joint", openDefaultJoint, IN_LEAF },
	{ IN_DEFAULT, "equality", openDefaultEquality, IN_LEAF },
	{ IN_EQUALITY, "connect", openConnect, IN_LEAF },
	{ IN_EQUALITY, "weld", openWeld, IN_LEAF },
	{ IN_CONTACT, "exclude", openExclude, IN_LEAF },
	{ IN_KEYFRAME, "key", openKey, IN_LEAF },
	{ IN_CUSTOM, "numeric", openCustom, IN_LEAF },
	{ IN_CUSTOM, "text", openCustom, IN_LEAF },
};

static const Row* findRow(Place place, const char* tag) {
	for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
		if (rows[i].place == place && strcmp(rows[i].tag, tag) == 0) {
			return &rows[i];
		}
	}
	return NULL;
}

// --- expat's handlers ------------------------------------------------------------------------------------

static int toInt(XML_Size value) {
	return value < INT_MAX ? (int)value : INT_MAX;
}

static void notePlace(Parse* parse) {
	parse->reader->line = toInt(XML_GetCurrentLineNumber(parse->parser));
	parse->reader->column = toInt(XML_GetCurrentColumnNumber(parse->parser) + 1);
}

// Opens an element at the present place and says where its children stand.
static bool openElement(Parse* parse, const char* tag, const char** attributes, Level* level) {
	knMjcf* reader = parse->reader;
	const Place place = level->place;
	if (place == IN_IGNORED) {
		return true;
	}
	const Row* row = findRow(place, tag);
	if (row != NULL) {
		level->place = row->inside;
		return row->open(parse, row, attributes, &level->index);
	}
	if (place == IN_DOCUMENT) {
		return knMjcf_Fail(reader, NULL, tag, KN_BAD_DATA,
						   "the root element is <%.40s>; an MJCF file begins with <mujoco>", tag);
	}
	knMjcf_Note(reader, NULL, "<%.60s> ignored", tag);
	level->place = IN_IGNORED;
	return !reader->failed;
}

static void XMLCALL onStart(void* context, const XML_Char* tag, const XML_Char** attributes) {
	Parse* parse = context;
	knMjcf* reader = parse->reader;
	if (reader->failed) {
		return;
	}
	notePlace(parse);
	Level level = { IN_DOCUMENT, 0 };
	if (parse->stack.count > 0) {
		level = parse->stack.items[parse->stack.count - 1];
	}
	if (parse->stack.count >= KN_MJCF_MAX_DEPTH) {
		knMjcf_Fail(reader, NULL, tag, KN_LIMIT, "elements are nested more than %d deep", KN_MJCF_MAX_DEPTH);
	} else if (openElement(parse, tag, attributes, &level) &&
			   !KN_ARRAY_PUSH(&reader->allocator, &parse->stack, level)) {
		knMjcf_NoMemory(reader);
	}
	if (reader->failed) {
		XML_StopParser(parse->parser, XML_FALSE);
	}
}

static void XMLCALL onEnd(void* context, const XML_Char* tag) {
	(void)tag;
	Parse* parse = context;
	if (!parse->reader->failed) {
		parse->stack.count -= 1;
	}
}

static void XMLCALL onText(void* context, const XML_Char* text, int length) {
	Parse* parse = context;
	bool blank = true;
	for (int i = 0; i < length; ++i) {
		blank = blank && (text[i] == ' ' || text[i] == '\t' || text[i] == '\n' || text[i] == '\r');
	}
	if (!blank && !parse->reader->failed && parse->stack.items[parse->stack.count - 1].place != IN_IGNORED) {
		notePlace(parse);
		knMjcf_Note(parse->reader, NULL, "text between elements ignored");
		if (parse->reader->failed) {
			XML_StopParser(parse->parser, XML_FALSE);
		}
	}
}

static void XMLCALL onDoctype(void* context, const XML_Char* name, const XML_Char* system,
							  const XML_Char* public, int internal) {
	(void)name, (void)system, (void)public, (void)internal;
	Parse* parse = context;
	notePlace(parse);
	knMjcf_Fail(parse->reader, NULL, "!DOCTYPE", KN_BAD_DATA,
				"a scene file may not have a DOCTYPE or entities");
	XML_StopParser(parse->parser, XML_FALSE);
}

// --- input -----------------------------------------------------------------------------------------------

static bool checkParsed(Parse* parse, enum XML_Status status) {
	if (status == XML_STATUS_OK || parse->reader->failed) {
		return !parse->reader->failed;
	}
	enum XML_Error code = XML_GetErrorCode(parse->parser);
	if (code == XML_ERROR_NO_MEMORY) {
		return knMjcf_NoMemory(parse->reader);
	}
	notePlace(parse);
	return knMjcf_Fail(parse->reader, NULL, NULL, KN_BAD_DATA, "malformed XML: %s", XML_ErrorString(code));
}

static bool parseFile(Parse* parse, FILE* file) {
	for (;;) {
		void* buffer = XML_GetBuffer(parse->parser, PIECE);
		if (buffer == NULL) {
			return knMjcf_NoMemory(parse->reader);
		}
		size_t size = fread(buffer, 1, PIECE, file);
		if (ferror(file)) {
			knMjcf_Fail(parse->reader, NULL, NULL, KN_IO, "cannot read: %s", strerror(errno));
			parse->reader->error.line = parse->reader->error.column = 0;
			return false;
		}
		const bool last = size < PIECE;
		if (!checkParsed(parse, XML_ParseBuffer(parse->parser, (int)size, last))) {
			return false;
		}
		if (last) {
			return true;
		}
	}
}

static bool parseMemory(Parse* parse, const char* text, size_t size) {
	do {
		size_t piece = size < PIECE ? size : PIECE;
		if (!checkParsed(parse, XML_Parse(parse->parser, text, (int)piece, piece == size))) {
			return false;
		}
		text += piece;
		size -= piece;
	} while (size > 0);
	return true;
}

static bool parseInput(knMjcf* reader, FILE* file, const char* text, size_t size) {
	Parse parse = { .reader = reader, .parser = XML_ParserCreate(NULL) };
	if (parse.parser == NULL) {
		return knMjcf_NoMemory(reader);
	}
	XML_SetUserData(parse.parser, &parse);
	XML_SetElementHandler(parse.parser, onStart, onEnd);
	XML_SetCharacterDataHandler(parse.parser, onText);
	XML_SetStartDoctypeDeclHandler(parse.parser, onDoctype);
	bool ok = file != NULL ? parseFile(&parse, file) : parseMemory(&parse, text, size);
	XML_ParserFree(parse.parser);
	KN_ARRAY_FREE(&reader->allocator, &parse.stack);
	return ok;
}

// --- the reader's life -----------------------------------------------------------------------------------

enum { TABLES = 7 };

static knNameTable* nameTable(knMjcf* reader, int index) {
	knNameTable* const tables[TABLES] = { &reader->noteTable, &reader->classNames, &reader->bodyNames,
										  &reader->geomNames, &reader->jointNames, &reader->linkNames,
										  &reader->keyNames };
	return tables[index];
}

// The world, the root class, and what MJCF assumes when a file does not say.
static bool initReader(knMjcf* reader, const knAllocator* allocator, const char* name) {
	*reader = (knMjcf){ .allocator = *allocator, .file = name };
	knArena_Init(&reader->arena, allocator);
	for (int i = 0; i < TABLES; ++i) {
		knNameTable_Init(nameTable(reader, i), allocator);
	}
	reader->compiler = (knMjcfCompiler){ .angle = KN_MJCF_DEGREE,
										 .inertiaFromGeom = KN_MJCF_INERTIA_AUTO,
										 .autoLimits = 1,
										 .eulerSequence = "xyz",
										 .inertiaGroups = { 0.0, 5.0 } };
	reader->option = (knMjcfOption){ .timestep = 0.002, .gravity = { 0.0, 0.0, -9.81 } };

	Parse parse = { .reader = reader };
	const knMjcfBody world = { .element.name = "world", .parent = -1, .inertial = -1 };
	const knMjcfClass root = {
		.parent = -1, .geom = geomDefault, .joint = jointDefault, .equality = equalityDefault
	};
	return KEEP(&parse, bodies, world) && KEEP(&parse, classes, root) &&
		   (knNameTable_Set(&reader->classNames, "main", 0) || knMjcf_NoMemory(reader));
}

static void freeReader(knMjcf* reader) {
	const knAllocator* allocator = &reader->allocator;
	for (int i = 0; reader->shapes != NULL && i < reader->geoms.count; ++i) {
		if (reader->shapes[i].geom != NULL) {
			knGeom_Release(reader->shapes[i].geom);
		}
	}
	KN_ARRAY_FREE(allocator, &reader->notes);
	KN_ARRAY_FREE(allocator, &reader->classes);
	KN_ARRAY_FREE(allocator, &reader->bodies);
	KN_ARRAY_FREE(allocator, &reader->inertials);
	KN_ARRAY_FREE(allocator, &reader->geoms);
	KN_ARRAY_FREE(allocator, &reader->joints);
	KN_ARRAY_FREE(allocator, &reader->equalities);
	KN_ARRAY_FREE(allocator, &reader->excludes);
	KN_ARRAY_FREE(allocator, &reader->keys);
	KN_ARRAY_FREE(allocator, &reader->customs);
	KN_ARRAY_FREE(allocator, &reader->links);
	for (int i = 0; i < TABLES; ++i) {
		knNameTable_Free(nameTable(reader, i));
	}
	knArena_Free(&reader->arena);
}

static knScene* load(FILE* file, const char* text, size_t size, const char* name,
					 const knMjcfOptions* options, knLoadReport* report, knError* error) {
	const knAllocator standard = knAllocator_Default();
	const bool own = options != NULL && options->allocator != NULL;
	knMjcf reader;
	bool ok = initReader(&reader, own ? options->allocator : &standard, name) &&
			  parseInput(&reader, file, text, size) &&
			  knMjcf_Build(&reader, options != NULL ? options->keyframe : NULL) &&
			  knMjcf_TakeReport(&reader, report);
	knScene* scene = reader.scene;
	if (!ok) {
		knScene_Destroy(scene);
		scene = NULL;
		if (error != NULL) {
			*error = reader.error;
		}
	}
	freeReader(&reader);
	return scene;
}

knScene* knMjcf_Load(const char* path, const knMjcfOptions* options, knLoadReport* report, knError* error) {
	if (report != NULL) {
		*report = (knLoadReport){ 0, NULL };
	}
	if (path == NULL) {
		knError_Set(error, KN_BAD_ARGUMENT, "knMjcf_Load", "no path was given");
		return NULL;
	}
	FILE* file = fopen(path, "rb");
	if (file == NULL) {
		const char* why = strerror(errno);
		knError_Set(error, KN_IO, "", "cannot open the file: %s", why);
		if (error != NULL) {
			snprintf(error->file, sizeof error->file, "%s", path);
		}
		return NULL;
	}
	knScene* scene = load(file, NULL, 0, path, options, report, error);
	fclose(file);
	return scene;
}

knScene* knMjcf_LoadMemory(const char* text, size_t size, const char* name, const knMjcfOptions* options,
						   knLoadReport* report, knError* error) {
	if (report != NULL) {
		*report = (knLoadReport){ 0, NULL };
	}
	if (text == NULL) {
		knError_Set(error, KN_BAD_ARGUMENT, "knMjcf_LoadMemory", "no text was given");
		return NULL;
	}
	return load(NULL, text, size, name != NULL ? name : "memory", options, report, error);
}
