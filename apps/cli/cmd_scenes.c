// knuckle scenes: lists the catalogue, as a table or as JSON.
#include <stdio.h>
#include <string.h>

#include "catalogue_json.h"
#include "core/text.h"
#include "options.h"

enum { OPTION_JSON };

static const cliOption options[] = {
	{ "--json", NULL, "as JSON" },
	{ NULL, NULL, NULL },
};

static void printScene(const knSceneEntry* entry) {
	printf("%-16s %6d %7d  %-17s %s\n", entry->name, entry->bodies, entry->joints, entry->steppers,
		   entry->summary);
	printf("%-16s %6s %7s  %-17s from: %s; set:", "", "", "", "", entry->source);
	for (int i = 0; i < KN_SCENE_MAX_PARAMS && entry->params[i].name != NULL; ++i) {
		char value[32];
		const knSceneParam* param = &entry->params[i];
		const char* text = knSceneParam_Word(param, param->value, value, sizeof(value));
		printf(" %s=%s", param->name,
			   text != NULL ? text : knText_FormatDouble(param->value, value, sizeof(value)));
	}
	printf(" small=0%s\n", entry->twins ? " twin=0" : "");
}

static int listScenes(bool asJson, knJson* json) {
	if (!asJson) {
		printf("%-16s %6s %7s  %-17s\n", "scene", "bodies", "joints", "steppers");
	}
	if (asJson) {
		knCatalogue_WriteJson(json);
	}
	for (int i = 0; i < knCatalogue_Count() && !asJson; ++i) {
		printScene(knCatalogue_At(i));
	}
	if (!asJson) {
		puts("\nEvery scene also takes --set gravity=x,y,z, friction=M, restitution=E, seed=N and the "
			 "stepper settings.");
	} else if (json->failed) {
		return cliFail(CLI_FAILED, "out of memory");
	} else {
		fputs(json->text, stdout);
	}
	return CLI_DONE;
}

static int scenesCommand(const cliCommand* command, int argc, char** argv) {
	cliReader reader = cliReader_Begin(command, argc, argv);
	const char* value;
	bool asJson = false;
	int option;
	while ((option = cliReader_Next(&reader, &value)) != CLI_END) {
		if (option == CLI_HELPED) {
			return CLI_DONE;
		}
		if (option == CLI_OPERAND) {
			return cliFail(CLI_USAGE, "'scenes' takes no operand; 'knuckle info %s' tells what is in a scene",
						   value);
		}
		if (option == CLI_REFUSED) {
			return CLI_USAGE;
		}
		asJson = option == OPTION_JSON || asJson;
	}
	knAllocator allocator = knAllocator_Default();
	knJson json;
	knJson_Init(&json, &allocator);
	int status = listScenes(asJson, &json);
	knJson_Free(&json);
	return status;
}

const cliCommand cliScenesCommand = {
	.name = "scenes",
	.operands = "",
	.summary = "list the catalogue of scenes",
	.options = options,
	.run = scenesCommand,
};
