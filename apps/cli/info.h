// What 'knuckle info' finds out about a scene and shows as text or JSON (docs/cli.md describes the keys).
#pragma once

#include "core/array.h"
#include "core/json.h"
#include "scene_request.h"
#include "simulate.h"

typedef struct cliInfo {
	const char* source;
	const cliScene* scene;
	const knScene* authored; // the model's copy
	const knModel* model;
	knWorld* world;
	KN_ARRAY(knJointId) loops; // joints that close a loop of bodies
	KN_ARRAY(char*) warnings;
	bool failed; // out of memory
} cliInfo;

// Walks the scene. After it, call cliInfo_Free.
void cliInfo_Gather(cliInfo* info);
void cliInfo_Free(cliInfo* info);
void cliInfo_WriteJson(const cliInfo* info, knJson* json);
void cliInfo_Print(const cliInfo* info);

#define CLI_REFUSAL 512
// Whether a stepper, by its number, takes the model as it is; if not, why not.
bool cliInfo_Takes(const cliInfo* info, int stepper, char why[CLI_REFUSAL]);

// "world" for the null id.
const char* cliBodyName(const knScene* scene, knBodyId body);
const char* cliBodyKindName(knBodyKind kind);
// A frame of the body seen from its centre of mass, body axes; of the world as it is.
knFrame cliFromCenter(const knModel* model, knBodyId body, knFrame frame);
