// The table of joint kinds, and their names.
#include <string.h>

#include "model/joint_math.h"

static const knJointOps* const jointTable[KN_JOINT_KIND_COUNT] = {
	[KN_JOINT_BALL] = &knJointOps_Ball,         [KN_JOINT_HINGE] = &knJointOps_Hinge,
	[KN_JOINT_SLIDER] = &knJointOps_Slider,     [KN_JOINT_SLIDER2] = &knJointOps_Slider2,
	[KN_JOINT_SLIDER3] = &knJointOps_Slider3,   [KN_JOINT_UNIVERSAL] = &knJointOps_Universal,
	[KN_JOINT_CYLINDER] = &knJointOps_Cylinder, [KN_JOINT_PLANAR] = &knJointOps_Planar,
	[KN_JOINT_FREE] = &knJointOps_Free,         [KN_JOINT_FIXED] = &knJointOps_Fixed,
	[KN_JOINT_CUSTOM] = &knJointOps_Custom,
};

const knJointOps* knJointOps_Get(knJointKind kind) {
	KN_ASSERT((unsigned)kind < KN_JOINT_KIND_COUNT);
	return jointTable[kind];
}

const char* knJointKind_Name(knJointKind kind) {
	return (unsigned)kind < KN_JOINT_KIND_COUNT ? jointTable[kind]->name : "unknown";
}

// True if `word` is one of the words in `list`, which spaces separate.
static bool holdsWord(const char* list, const char* word) {
	size_t length = strlen(word);
	const char* at = list;
	while (length > 0 && *at != '\0') {
		size_t span = strcspn(at, " ");
		if (span == length && memcmp(at, word, length) == 0) {
			return true;
		}
		at += span;
		at += *at == ' ' ? 1 : 0;
	}
	return false;
}

knJointKind knJointKind_Find(const char* name) {
	for (int kind = 0; name != NULL && kind < KN_JOINT_KIND_COUNT; ++kind) {
		if (strcmp(jointTable[kind]->name, name) == 0 || holdsWord(jointTable[kind]->synonyms, name)) {
			return (knJointKind)kind;
		}
	}
	return KN_JOINT_KIND_COUNT;
}
