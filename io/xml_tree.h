// An XML file as a tree of elements with their places, for formats whose elements refer to each other by name.
//
// Read with expat and an own stack, so that nesting costs no C stack. DOCTYPE is refused, and with it every entity. Text
// between elements is not kept.
#pragma once

#include <stdio.h>

#include "core/arena.h"
#include "core/array.h"
#include "knuckle/io.h"

// A document has at most this many elements and attributes together, and nests so deep.
#define KN_XML_MAX_NODES 4000000
#define KN_XML_MAX_DEPTH 10000

typedef struct knXmlAttribute {
	const char* name;
	const char* value;
	bool asked; // knXml_Get has found it
} knXmlAttribute;

typedef struct knXmlNode {
	const char* tag;
	int line, column;
	int parent, firstChild, lastChild, next; // indices, -1: none
	int firstAttribute, attributeCount;
	bool asked; // knXml_Child has found it, or its reader says so
} knXmlNode;

typedef struct knXmlTree {
	knAllocator allocator;
	knArena arena;             // of the texts
	KN_ARRAY(knXmlNode) nodes; // 0 is the root element
	KN_ARRAY(knXmlAttribute) attributes;
} knXmlTree;

// Reads the file, or `text` where `file` is NULL. On an error the tree is empty.
knStatus knXmlTree_Read(knXmlTree* tree, FILE* file, const char* text, size_t size, const char* name,
						const knAllocator* allocator, knError* error);
void knXmlTree_Free(knXmlTree* tree);

// The value of an attribute, NULL if it is not there.
const char* knXml_Get(knXmlTree* tree, int node, const char* name);
// The first child of that tag, -1 if there is none; and the next one like it.
int knXml_Child(knXmlTree* tree, int node, const char* tag);
int knXml_Next(knXmlTree* tree, int node);
