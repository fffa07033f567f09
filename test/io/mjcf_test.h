// What the MJCF tests share: loading from a string, and finding things by name.
#pragma once

#include "support/kn_test.h"

#include "knuckle/io.h"
#include "knuckle/knuckle.h"

// Loads `text`, or fails the test with the reader's own words.
static inline knScene* loadKey(const char* text, const char* keyframe, knLoadReport* report) {
	knError error = { .status = KN_OK };
	const knMjcfOptions options = { .keyframe = keyframe, .allocator = NULL };
	knScene* scene = knMjcf_LoadMemory(text, strlen(text), "test.xml", &options, report, &error);
	if (scene == NULL) {
		char line[1024];
		fail_msg("%s", knError_Format(&error, line, sizeof line));
	}
	return scene;
}

static inline knScene* load(const char* text) {
	return loadKey(text, NULL, NULL);
}

static inline knModel* compile(const knScene* scene) {
	knError error = { .status = KN_OK };
	knModel* model = knModel_Create(scene, &error);
	if (model == NULL) {
		char line[1024];
		fail_msg("%s", knError_Format(&error, line, sizeof line));
	}
	return model;
}

static inline const knBodyDef* bodyNamed(const knScene* scene, const char* name) {
	const knBodyDef* def = knScene_GetBody(scene, knScene_FindBody(scene, name));
	if (def == NULL) {
		fail_msg("there is no body '%s'", name);
	}
	return def;
}

static inline const knJointDef* jointNamed(const knScene* scene, const char* name) {
	const knJointDef* def = knScene_GetJoint(scene, knScene_FindJoint(scene, name));
	if (def == NULL) {
		fail_msg("there is no joint '%s'", name);
	}
	return def;
}

static inline knShapeId shapeNamed(const knScene* scene, const char* name) {
	for (int i = 0; i < knScene_ShapeSlots(scene); ++i) {
		const knShapeId id = knScene_ShapeAt(scene, i);
		const knShapeDef* def = knScene_GetShape(scene, id);
		if (def != NULL && def->name != NULL && strcmp(def->name, name) == 0) {
			return id;
		}
	}
	fail_msg("there is no shape '%s'", name);
	return (knShapeId){ 0, 0 };
}

static inline const knShapeDef* shapeDef(const knScene* scene, const char* name) {
	return knScene_GetShape(scene, shapeNamed(scene, name));
}

static inline knMassProps massOf(const knScene* scene, const char* body) {
	knModel* model = compile(scene);
	knMassProps mass = knModel_BodyMass(model, knScene_FindBody(scene, body));
	knModel_Release(model);
	return mass;
}

// The joint's frame as the scene starts: the child's joint frame seen from the parent's.
static inline knFrame jointFrame(const knScene* scene, const knJointDef* joint) {
	const knBodyDef* parent = knScene_GetBody(scene, joint->parent);
	const knBodyDef* child = knScene_GetBody(scene, joint->child);
	const knFrame a = parent != NULL ? knMulF(parent->frame, joint->frameParent) : joint->frameParent;
	const knFrame b = child != NULL ? knMulF(child->frame, joint->frameChild) : joint->frameChild;
	return knInvMulF(a, b);
}

// The same rotation, whatever the sign.
#define assert_same_rotation(actual, expected, tolerance)                                                    \
	assert_near(knAbs(knDotQ((actual), (expected))), 1.0, (tolerance))

// True if a line of the report holds `text`.
static inline bool reported(const knLoadReport* report, const char* text) {
	for (int i = 0; i < report->count; ++i) {
		if (strstr(report->lines[i], text) != NULL) {
			return true;
		}
	}
	return false;
}

// The path of a file under the repository's root.
static inline const char* repositoryPath(const char* below, char* path, size_t size) {
	const char* root = getenv("KN_SOURCE_DIR");
	const char* end = strstr(__FILE__, "/test/io/");
	if (root != NULL) {
		snprintf(path, size, "%s/%s", root, below);
	} else {
		snprintf(path, size, "%.*s/%s", end != NULL ? (int)(end - __FILE__) : 1, end != NULL ? __FILE__ : ".",
				 below);
	}
	return path;
}
