// From XML to elements: expat calls back for every tag, mjcf_elements.c says what it means at the place where it stands,
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

#include "plain_file.h"

enum {
	PIECE = 1 << 16,
	MAX_INCLUDE_DEPTH = 32, // files in files
	MAX_INCLUDES = 10000,   // in all
	MAX_REPLICATE_DEPTH = 16,
};

typedef struct Parse {
	knMjcf* reader;
	XML_Parser parser;
	KN_ARRAY(knMjcfLevel) stack;
	const struct Parse* outer;  // the file that includes or attaches this one; NULL: the model's
	const char* path;           // for finding cycles
	const knMjcfLevel* at;      // an included file: where its content stands
	const knMjcfAttach* attach; // NULL: not a model that is attached

	// a <replicate> that is being kept
	int recording; // how deep inside it, 0: there is none
	int replicas;  // <replicate>s that are being read again
	knMjcfReplicate replicate;
	knMjcfEvents events;
} Parse;

// --- expat's handlers ------------------------------------------------------------------------------------

static int toInt(XML_Size value) {
	return value < INT_MAX ? (int)value : INT_MAX;
}

static void notePlace(Parse* parse) {
	parse->reader->line = toInt(XML_GetCurrentLineNumber(parse->parser));
	parse->reader->column = toInt(XML_GetCurrentColumnNumber(parse->parser) + 1);
}

static bool include(knMjcf* reader, const char** attributes, const knMjcfLevel* level) {
	const char* file = NULL;
	for (int i = 0; attributes[i] != NULL; i += 2) {
		file = strcmp(attributes[i], "file") == 0 ? attributes[i + 1] : file;
	}
	if (file == NULL) {
		return knMjcf_Fail(reader, NULL, "include", KN_BAD_DATA, "it names no file");
	}
	return knMjcf_ReadFile(reader, file, level, NULL);
}

// Opens an element at the present level, which becomes that of its children. The root of an included file stands for
// the place where it is included.
static bool openElement(Parse* parse, const char* tag, const char** attributes, knMjcfLevel* level) {
	if (parse->stack.count == 0 && parse->at != NULL) {
		*level = *parse->at;
		return true;
	}
	if (strcmp(tag, "include") == 0 && level->place != KN_MJCF_IN_IGNORED) {
		const knMjcfLevel at = *level;
		level->place = KN_MJCF_IN_LEAF;
		return include(parse->reader, attributes, &at);
	}
	return knMjcf_Open(parse->reader, parse->attach, tag, attributes, level);
}

// Reads a tag, from the file or from what was kept.
static void startTag(Parse* parse, const char* tag, const char** attributes) {
	knMjcf* reader = parse->reader;
	knMjcfLevel level = { KN_MJCF_IN_DOCUMENT, 0, -1 };
	if (parse->stack.count > 0) {
		level = parse->stack.items[parse->stack.count - 1];
	}
	if (parse->recording > 0) {
		parse->recording += knMjcf_Record(reader, &parse->events, tag, attributes) ? 1 : 0;
		return;
	}
	if (level.place == KN_MJCF_IN_BODY && strcmp(tag, "replicate") == 0) {
		parse->recording = knMjcf_ReadReplicate(reader, attributes, &parse->replicate) ? 1 : 0;
		return;
	}
	if (parse->stack.count >= KN_MJCF_MAX_DEPTH) {
		knMjcf_Fail(reader, NULL, tag, KN_LIMIT, "elements are nested more than %d deep", KN_MJCF_MAX_DEPTH);
	} else if (openElement(parse, tag, attributes, &level) &&
			   !KN_ARRAY_PUSH(&reader->allocator, &parse->stack, level)) {
		knMjcf_NoMemory(reader);
	}
}

static void endTag(Parse* parse);

// Reads what a <replicate> holds, once for each copy.
static void replay(Parse* parse) {
	knMjcf* reader = parse->reader;
	const knMjcfLevel outer = parse->stack.items[parse->stack.count - 1];
	knMjcfReplicate replicate = parse->replicate;
	knMjcfEvents events = parse->events;
	parse->events = (knMjcfEvents){ 0 };
	replicate.outer = reader->suffix;
	if (++parse->replicas > MAX_REPLICATE_DEPTH) {
		knMjcf_Fail(reader, NULL, "replicate", KN_LIMIT, "there are more than %d in each other",
					MAX_REPLICATE_DEPTH);
	}
	// the outermost counts those in it, before any is read
	if (!reader->failed && parse->replicas == 1) {
		knMjcf_CountReplicas(reader, &replicate, &events);
	}
	for (int i = 0; i < replicate.count && !reader->failed; ++i) {
		knMjcfLevel level = outer;
		if (!knMjcf_BeginReplica(reader, &replicate, i, &level)) {
			break;
		}
		if (!KN_ARRAY_PUSH(&reader->allocator, &parse->stack, level)) {
			knMjcf_NoMemory(reader);
		}
		for (int k = 0; k < events.count && !reader->failed; ++k) {
			const knMjcfEvent* event = &events.items[k];
			reader->line = event->line;
			reader->column = event->column;
			if (event->tag != NULL) {
				startTag(parse, event->tag, event->attributes);
			} else {
				endTag(parse);
			}
		}
		parse->stack.count -= reader->failed ? 0 : 1;
	}
	reader->suffix = replicate.outer;
	parse->replicas -= 1;
	KN_ARRAY_FREE(&reader->allocator, &events);
}

static void endTag(Parse* parse) {
	if (parse->recording == 1) {
		parse->recording = 0;
		replay(parse);
	} else if (parse->recording > 1) {
		parse->recording -= 1;
		knMjcf_Record(parse->reader, &parse->events, NULL, NULL);
	} else {
		parse->stack.count -= 1;
	}
}

static void XMLCALL onStart(void* context, const XML_Char* tag, const XML_Char** attributes) {
	Parse* parse = context;
	if (!parse->reader->failed) {
		notePlace(parse);
		startTag(parse, tag, attributes);
	}
	if (parse->reader->failed) {
		XML_StopParser(parse->parser, XML_FALSE);
	}
}

static void XMLCALL onEnd(void* context, const XML_Char* tag) {
	(void)tag;
	Parse* parse = context;
	if (!parse->reader->failed) {
		endTag(parse);
	}
	if (parse->reader->failed) {
		XML_StopParser(parse->parser, XML_FALSE);
	}
}

static void XMLCALL onText(void* context, const XML_Char* text, int length) {
	Parse* parse = context;
	bool blank = true;
	for (int i = 0; i < length; ++i) {
		blank = blank && (text[i] == ' ' || text[i] == '\t' || text[i] == '\n' || text[i] == '\r');
	}
	if (!blank && !parse->reader->failed &&
		parse->stack.items[parse->stack.count - 1].place != KN_MJCF_IN_IGNORED) {
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

static bool parseInput(Parse* parse, FILE* file, const char* text, size_t size) {
	knMjcf* reader = parse->reader;
	parse->parser = XML_ParserCreate(NULL);
	if (parse->parser == NULL) {
		return knMjcf_NoMemory(reader);
	}
	const void* outer = reader->parse;
	reader->parse = parse;
	XML_SetUserData(parse->parser, parse);
	XML_SetElementHandler(parse->parser, onStart, onEnd);
	XML_SetCharacterDataHandler(parse->parser, onText);
	XML_SetStartDoctypeDeclHandler(parse->parser, onDoctype);
	bool ok = file != NULL ? parseFile(parse, file) : parseMemory(parse, text, size);
	XML_ParserFree(parse->parser);
	KN_ARRAY_FREE(&reader->allocator, &parse->stack);
	KN_ARRAY_FREE(&reader->allocator, &parse->events);
	reader->parse = outer;
	return ok;
}

// --- files in files ----------------------------------------------------------------------------------------

// True if a relative path stays in the folder that it starts from.
static bool staysInside(const char* path) {
	int depth = 0;
	if (path[0] == '/' || path[0] == '\\' || (path[0] != '\0' && path[1] == ':')) {
		return false;
	}
	while (*path != '\0') {
		const size_t length = strcspn(path, "/\\");
		const bool up = length == 2 && path[0] == '.' && path[1] == '.';
		const bool here = length == 0 || (length == 1 && path[0] == '.');
		depth += up ? -1 : (here ? 0 : 1);
		if (depth < 0) {
			return false;
		}
		path += length + (path[length] != '\0' ? 1 : 0);
	}
	return true;
}

// The folder of a path, with its slash; "" if it names none.
static const char* folderOf(knMjcf* reader, const char* path) {
	const char* slash = strrchr(path, '/');
	const size_t length = slash != NULL ? (size_t)(slash - path) + 1 : 0;
	char* folder = knArena_Take(&reader->arena, length + 1);
	if (folder == NULL) {
		knMjcf_NoMemory(reader);
		return "";
	}
	memcpy(folder, path, length);
	folder[length] = '\0';
	return folder;
}

// The folder of the file that an element stands in, seen from the model's; "" if it is that.
static const char* folderInside(knMjcf* reader, const knMjcfElement* element) {
	const char* path = reader->files.items[element != NULL ? element->file : reader->fileIndex];
	const size_t base = strlen(reader->folder);
	return strncmp(path, reader->folder, base) == 0 ? folderOf(reader, path + base) : "";
}

const char* knMjcf_Path(knMjcf* reader, const knMjcfElement* element, const char* tag, const char* folder,
						const char* name) {
	// what leads out of the model's folder may be meant from the file that says so, and then stay inside
	folder = folder == NULL && !staysInside(name) ? folderInside(reader, element) : folder;
	// a folder that the model names may lie elsewhere; what it holds stays in it
	char whole[1024];
	snprintf(whole, sizeof whole, "%s/%s", folder != NULL ? folder : ".", name);
	const bool inside = staysInside(name) || (folder != NULL && staysInside(folder) && staysInside(whole));
	if (!inside || strlen(name) >= sizeof whole / 2) {
		knMjcf_Fail(reader, element, tag, KN_BAD_DATA, "'%.100s' leads out of the model's folder", name);
		return NULL;
	}
	const char* within = folder != NULL ? folder : "";
	const bool absolute = within[0] == '/';
	const char* slash = within[0] != '\0' && within[strlen(within) - 1] != '/' ? "/" : "";
	const size_t size = strlen(reader->folder) + strlen(within) + strlen(name) + 2;
	char* path = knArena_Take(&reader->arena, size);
	if (path == NULL) {
		knMjcf_NoMemory(reader);
		return NULL;
	}
	snprintf(path, size, "%s%s%s%s", absolute ? "" : reader->folder, within, slash, name);
	if (!knPlainFile_Is(path)) {
		knMjcf_Fail(reader, element, tag, KN_IO, "'%.100s' is no regular file", path);
		return NULL;
	}
	return path;
}

unsigned char* knMjcf_FileBytes(knMjcf* reader, const knMjcfElement* element, const char* tag,
								const char* path, size_t most, size_t* size) {
	FILE* file = fopen(path, "rb");
	if (file == NULL) {
		knMjcf_Fail(reader, element, tag, KN_IO, "cannot open '%.100s'", path);
		return NULL;
	}
	fseek(file, 0, SEEK_END);
	const long length = ftell(file);
	rewind(file);
	unsigned char* bytes = NULL;
	if (length > 0 && (size_t)length <= most) {
		bytes = knArena_Take(&reader->arena, (size_t)length);
	}
	const bool whole = bytes != NULL && fread(bytes, 1, (size_t)length, file) == (size_t)length;
	fclose(file);
	if (!whole) {
		knMjcf_Fail(reader, element, tag, KN_BAD_DATA, "its file is empty, too large, or cannot be read");
		return NULL;
	}
	*size = (size_t)length;
	return bytes;
}

// Cycles are found by the path as it is written; the depth bounds what that does not find.
static bool checkNesting(knMjcf* reader, const char* path, const char* tag) {
	int depth = 0;
	for (const Parse* outer = reader->parse; outer != NULL; outer = outer->outer, ++depth) {
		if (strcmp(outer->path, path) == 0) {
			return knMjcf_Fail(reader, NULL, tag, KN_BAD_DATA, "'%.100s' includes itself", path);
		}
	}
	reader->includes += 1;
	if (depth > MAX_INCLUDE_DEPTH || reader->includes > MAX_INCLUDES) {
		return knMjcf_Fail(reader, NULL, tag, KN_LIMIT, "there are more than %d files in files, or %d in all",
						   MAX_INCLUDE_DEPTH, MAX_INCLUDES);
	}
	return true;
}

static bool addFile(knMjcf* reader, const char* path) {
	reader->fileIndex = reader->files.count;
	return KN_ARRAY_PUSH(&reader->allocator, &reader->files, path) || knMjcf_NoMemory(reader);
}

// The file that names this one lies inside the model's folder, and so does what is beside or below it.
static const char* besidePath(knMjcf* reader, const char* name) {
	const char* outer = reader->files.items[reader->fileIndex];
	const char* slash = strrchr(outer, '/');
	const size_t length = slash != NULL ? (size_t)(slash - outer) + 1 : 0, size = length + strlen(name) + 1;
	char* path = knArena_Take(&reader->arena, size);
	if (path == NULL) {
		knMjcf_NoMemory(reader);
		return NULL;
	}
	memcpy(path, outer, length);
	memcpy(path + length, name, size - length);
	return path;
}

bool knMjcf_ReadFile(knMjcf* reader, const char* name, const knMjcfLevel* level, const knMjcfAttach* attach) {
	const char* tag = attach != NULL ? "attach" : "include";
	const char* path = knMjcf_Path(reader, NULL, tag, NULL, name);
	if (path == NULL || !checkNesting(reader, path, tag)) {
		return false;
	}
	FILE* file = fopen(path, "rb");
	if (file == NULL && errno == ENOENT) {
		// not in the model's folder: beside the file that names it
		const char* beside = besidePath(reader, name);
		if (beside == NULL || !checkNesting(reader, beside, tag)) {
			return false;
		}
		if (!knPlainFile_Is(beside)) {
			return knMjcf_Fail(reader, NULL, tag, KN_IO, "'%.100s' is no regular file", beside);
		}
		file = fopen(beside, "rb");
		path = file != NULL ? beside : path;
	}
	if (file == NULL) {
		return knMjcf_Fail(reader, NULL, tag, KN_IO, "cannot open '%.100s': %s", path, strerror(errno));
	}
	// what the outer file goes on with
	const int line = reader->line, column = reader->column, index = reader->fileIndex;
	const int compiler = reader->compilerIndex;
	const char *prefix = reader->prefix, *attachSuffix = reader->attachSuffix;
	Parse parse = { .reader = reader, .outer = reader->parse, .path = path, .at = level, .attach = attach };
	if (attach == NULL && parse.outer != NULL) {
		parse.attach = parse.outer->attach;
	}
	bool ok = addFile(reader, path);
	if (ok && attach != NULL) {
		reader->prefix = attach->prefix;
		reader->attachSuffix = reader->suffix;
		reader->compilerIndex = reader->compilers.count;
		ok = knMjcf_PushCompiler(reader);
	}
	ok = ok && parseInput(&parse, file, NULL, 0);
	fclose(file);
	reader->line = line;
	reader->column = column;
	reader->fileIndex = index;
	reader->compilerIndex = compiler;
	reader->prefix = prefix;
	reader->attachSuffix = attachSuffix;
	return ok;
}

// --- the reader's life -----------------------------------------------------------------------------------

enum { TABLES = 15 };

static knNameTable* nameTable(knMjcf* reader, int index) {
	knNameTable* const tables[TABLES] = {
		&reader->noteTable,   &reader->classNames,    &reader->bodyNames,     &reader->geomNames,
		&reader->jointNames,  &reader->linkNames,     &reader->keyNames,      &reader->siteNames,
		&reader->meshNames,   &reader->materialNames, &reader->actuatorNames, &reader->tendonNames,
		&reader->hfieldNames, &reader->instanceNames, &reader->textureNames
	};
	return tables[index];
}

static bool initReader(knMjcf* reader, const knAllocator* allocator, const char* name,
					   const knMjcfOptions* options) {
	*reader = (knMjcf){ .allocator = *allocator,
						.file = name,
						.lenient = options != NULL && options->lenient,
						.looks = options != NULL && options->looks,
						.exactMeshes = options != NULL && options->meshes == KN_MESHES_EXACT };
	knArena_Init(&reader->arena, allocator);
	for (int i = 0; i < TABLES; ++i) {
		knNameTable_Init(nameTable(reader, i), allocator);
	}
	reader->folder = folderOf(reader, name);
	return !reader->failed && addFile(reader, name) && knMjcf_InitElements(reader);
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
	knMjcf_FreeMeshes(reader);
	knMjcf_FreeHfields(reader);
	KN_ARRAY_FREE(allocator, &reader->hfields);
	KN_ARRAY_FREE(allocator, &reader->instances);
	KN_ARRAY_FREE(allocator, &reader->files);
	KN_ARRAY_FREE(allocator, &reader->compilers);
	KN_ARRAY_FREE(allocator, &reader->frames);
	KN_ARRAY_FREE(allocator, &reader->sites);
	KN_ARRAY_FREE(allocator, &reader->meshes);
	KN_ARRAY_FREE(allocator, &reader->materials);
	KN_ARRAY_FREE(allocator, &reader->textures);
	KN_ARRAY_FREE(allocator, &reader->lights);
	KN_ARRAY_FREE(allocator, &reader->sources);
	KN_ARRAY_FREE(allocator, &reader->pairs);
	KN_ARRAY_FREE(allocator, &reader->actuators);
	KN_ARRAY_FREE(allocator, &reader->tendons);
	KN_ARRAY_FREE(allocator, &reader->tendonParts);
	KN_ARRAY_FREE(allocator, &reader->sensors);
	KN_ARRAY_FREE(allocator, &reader->couplings);
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
	Parse parse = { .reader = &reader, .path = name };
	bool ok = initReader(&reader, own ? options->allocator : &standard, name, options) &&
			  parseInput(&parse, file, text, size) &&
			  knMjcf_Build(&reader, options != NULL ? options->keyframe : NULL) &&
			  knMjcf_CheckOmissions(&reader) && knMjcf_TakeReport(&reader, report);
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
		*report = (knLoadReport){ 0 };
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
		*report = (knLoadReport){ 0 };
	}
	if (text == NULL) {
		knError_Set(error, KN_BAD_ARGUMENT, "knMjcf_LoadMemory", "no text was given");
		return NULL;
	}
	return load(NULL, text, size, name != NULL ? name : "memory", options, report, error);
}
