// expat's calls become nodes; the open element is a chain of parents, so no stack of its own is needed.
#include "xml_tree.h"

#include <errno.h>
#include <string.h>

#include <expat.h>

enum { PIECE = 1 << 16 };

typedef struct Parse {
	knXmlTree* tree;
	XML_Parser parser;
	const char* name;
	int open; // the innermost element, -1: none
	int depth;
	knError* error;
	bool failed;
} Parse;

static void fail(Parse* parse, knStatus status, const char* sentence) {
	if (parse->failed) {
		return;
	}
	parse->failed = true;
	knError_Set(parse->error, status, "", "%s", sentence);
	if (parse->error != NULL) {
		snprintf(parse->error->file, sizeof parse->error->file, "%s", parse->name);
		parse->error->line = (int)XML_GetCurrentLineNumber(parse->parser);
		parse->error->column = (int)XML_GetCurrentColumnNumber(parse->parser) + 1;
	}
	XML_StopParser(parse->parser, XML_FALSE);
}

static const char* copyText(Parse* parse, const char* text) {
	const size_t size = strlen(text) + 1;
	char* copy = knArena_Take(&parse->tree->arena, size);
	if (copy == NULL) {
		fail(parse, KN_NO_MEMORY, "out of memory while reading");
		return "";
	}
	memcpy(copy, text, size);
	return copy;
}

static bool addAttributes(Parse* parse, const char** attributes) {
	knXmlTree* tree = parse->tree;
	for (int i = 0; attributes[i] != NULL && !parse->failed; i += 2) {
		const knXmlAttribute attribute = { copyText(parse, attributes[i]), copyText(parse, attributes[i + 1]),
										   false };
		if (!KN_ARRAY_PUSH(&tree->allocator, &tree->attributes, attribute)) {
			fail(parse, KN_NO_MEMORY, "out of memory while reading");
		}
	}
	return !parse->failed;
}

static void link(knXmlTree* tree, int node) {
	const int parent = tree->nodes.items[node].parent;
	if (parent < 0) {
		return;
	}
	knXmlNode* above = &tree->nodes.items[parent];
	if (above->lastChild >= 0) {
		tree->nodes.items[above->lastChild].next = node;
	} else {
		above->firstChild = node;
	}
	above->lastChild = node;
}

static void XMLCALL onStart(void* context, const XML_Char* tag, const XML_Char** attributes) {
	Parse* parse = context;
	knXmlTree* tree = parse->tree;
	if (parse->failed) {
		return;
	}
	if (++parse->depth > KN_XML_MAX_DEPTH) {
		fail(parse, KN_LIMIT, "elements are nested too deep");
		return;
	}
	if (tree->nodes.count + tree->attributes.count > KN_XML_MAX_NODES) {
		fail(parse, KN_LIMIT, "the file has too many elements");
		return;
	}
	knXmlNode node = { .line = (int)XML_GetCurrentLineNumber(parse->parser),
					   .column = (int)XML_GetCurrentColumnNumber(parse->parser) + 1,
					   .parent = parse->open,
					   .firstChild = -1,
					   .lastChild = -1,
					   .next = -1,
					   .firstAttribute = tree->attributes.count };
	node.tag = copyText(parse, tag);
	if (!addAttributes(parse, attributes)) {
		return;
	}
	node.attributeCount = tree->attributes.count - node.firstAttribute;
	if (!KN_ARRAY_PUSH(&tree->allocator, &tree->nodes, node)) {
		fail(parse, KN_NO_MEMORY, "out of memory while reading");
		return;
	}
	parse->open = tree->nodes.count - 1;
	link(tree, parse->open);
}

static void XMLCALL onEnd(void* context, const XML_Char* tag) {
	(void)tag;
	Parse* parse = context;
	if (!parse->failed) {
		parse->open = parse->tree->nodes.items[parse->open].parent;
		parse->depth -= 1;
	}
}

static void XMLCALL onDoctype(void* context, const XML_Char* name, const XML_Char* system,
							  const XML_Char* public, int internal) {
	(void)name, (void)system, (void)public, (void)internal;
	fail(context, KN_BAD_DATA, "a scene file may not have a DOCTYPE or entities");
}

static bool feed(Parse* parse, const char* bytes, size_t size, bool last) {
	if (XML_Parse(parse->parser, bytes, (int)size, last) == XML_STATUS_OK || parse->failed) {
		return !parse->failed;
	}
	char sentence[128];
	const enum XML_Error code = XML_GetErrorCode(parse->parser);
	snprintf(sentence, sizeof sentence, "malformed XML: %s", XML_ErrorString(code));
	fail(parse, code == XML_ERROR_NO_MEMORY ? KN_NO_MEMORY : KN_BAD_DATA, sentence);
	return false;
}

static bool feedFile(Parse* parse, FILE* file) {
	char piece[PIECE];
	for (;;) {
		const size_t size = fread(piece, 1, sizeof piece, file);
		if (ferror(file)) {
			char sentence[128];
			snprintf(sentence, sizeof sentence, "cannot read: %.80s", strerror(errno));
			fail(parse, KN_IO, sentence);
			return false;
		}
		if (!feed(parse, piece, size, size < sizeof piece)) {
			return false;
		}
		if (size < sizeof piece) {
			return true;
		}
	}
}

static bool feedMemory(Parse* parse, const char* text, size_t size) {
	do {
		const size_t piece = size < PIECE ? size : PIECE;
		if (!feed(parse, text, piece, piece == size)) {
			return false;
		}
		text += piece;
		size -= piece;
	} while (size > 0);
	return true;
}

knStatus knXmlTree_Read(knXmlTree* tree, FILE* file, const char* text, size_t size, const char* name,
						const knAllocator* allocator, knError* error) {
	*tree = (knXmlTree){ .allocator = *allocator };
	knArena_Init(&tree->arena, allocator);
	knError own = { .status = KN_OK };
	Parse parse = { .tree = tree, .name = name, .open = -1, .error = &own, .parser = XML_ParserCreate(NULL) };
	if (parse.parser == NULL) {
		return knError_Set(error, KN_NO_MEMORY, "", "out of memory while reading");
	}
	XML_SetUserData(parse.parser, &parse);
	XML_SetElementHandler(parse.parser, onStart, onEnd);
	XML_SetStartDoctypeDeclHandler(parse.parser, onDoctype);
	const bool ok = file != NULL ? feedFile(&parse, file) : feedMemory(&parse, text, size);
	XML_ParserFree(parse.parser);
	if (!ok) {
		knXmlTree_Free(tree);
		if (error != NULL) {
			*error = own;
		}
	}
	return ok ? KN_OK : own.status;
}

void knXmlTree_Free(knXmlTree* tree) {
	KN_ARRAY_FREE(&tree->allocator, &tree->nodes);
	KN_ARRAY_FREE(&tree->allocator, &tree->attributes);
	knArena_Free(&tree->arena);
}

const char* knXml_Get(knXmlTree* tree, int node, const char* name) {
	const knXmlNode* item = &tree->nodes.items[node];
	for (int i = 0; i < item->attributeCount; ++i) {
		knXmlAttribute* attribute = &tree->attributes.items[item->firstAttribute + i];
		if (strcmp(attribute->name, name) == 0) {
			attribute->asked = true;
			return attribute->value;
		}
	}
	return NULL;
}

static int findFrom(knXmlTree* tree, int node, const char* tag) {
	while (node >= 0 && strcmp(tree->nodes.items[node].tag, tag) != 0) {
		node = tree->nodes.items[node].next;
	}
	if (node >= 0) {
		tree->nodes.items[node].asked = true;
	}
	return node;
}

int knXml_Child(knXmlTree* tree, int node, const char* tag) {
	return node >= 0 ? findFrom(tree, tree->nodes.items[node].firstChild, tag) : -1;
}

int knXml_Next(knXmlTree* tree, int node) {
	return findFrom(tree, tree->nodes.items[node].next, tree->nodes.items[node].tag);
}
