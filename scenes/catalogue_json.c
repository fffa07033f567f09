// Writing the catalogue as JSON (catalogue_json.h).
#include "catalogue_json.h"

#include <stdio.h>
#include <string.h>

// The words of a choice; a number needs none.
static void writeChoices(knJson* json, const knSceneParam* param) {
	char word[32];
	if (param->choices == NULL) {
		return;
	}
	knJson_BeginArray(json, "choices");
	for (int i = 0; knSceneParam_Word(param, i, word, sizeof(word)) != NULL; ++i) {
		knJson_String(json, NULL, word);
	}
	knJson_EndArray(json);
}

static void writeParams(knJson* json, const knSceneEntry* entry) {
	knJson_BeginArray(json, "parameters");
	for (int i = 0; i < KN_SCENE_MAX_PARAMS && entry->params[i].name != NULL; ++i) {
		const knSceneParam* param = &entry->params[i];
		knJson_BeginObject(json, NULL);
		knJson_String(json, "name", param->name);
		knJson_Number(json, "default", param->value);
		knJson_Number(json, "lower", param->lower);
		knJson_Number(json, "upper", param->upper);
		knJson_Bool(json, "integer", param->integer);
		writeChoices(json, param);
		knJson_String(json, "help", param->help);
		knJson_EndObject(json);
	}
	knJson_EndArray(json);
}

static void writeScene(knJson* json, const knSceneEntry* entry) {
	knJson_BeginObject(json, NULL);
	knJson_String(json, "name", entry->name);
	knJson_String(json, "summary", entry->summary);
	knJson_String(json, "source", entry->source);
	knJson_Integer(json, "bodies", entry->bodies);
	knJson_Integer(json, "joints", entry->joints);
	knJson_BeginArray(json, "steppers");
	for (const char* word = entry->steppers; *word != '\0';) {
		char name[32];
		size_t length = strcspn(word, " ");
		snprintf(name, sizeof(name), "%.*s", (int)length, word);
		knJson_String(json, NULL, name);
		word += length + strspn(word + length, " ");
	}
	knJson_EndArray(json);
	knJson_Number(json, "dt", entry->dt);
	knJson_Number(json, "time", entry->time);
	knJson_Bool(json, "twins", entry->twins);
	writeParams(json, entry);
	knJson_EndObject(json);
}

void knCatalogue_WriteJson(knJson* json) {
	knJson_BeginArray(json, NULL);
	for (int i = 0; i < knCatalogue_Count(); ++i) {
		writeScene(json, knCatalogue_At(i));
	}
	knJson_EndArray(json);
}
