// Ropes of rods and hinges along a path (rope.h).
#include "rope.h"

#include <stdio.h>
#include <string.h>

#define WATER 1000.0 // kg/m3

knRopeDef knRopeDef_Default(void) {
	knRopeDef def = {
		.name = "link", .across = { 0.0, 1.0, 0.0 }, .kinds = 2, .colors = { KN_COLOR_BLUE, KN_COLOR_SAND }
	};
	return def;
}

knVec3 knRope_Straight(int index, const void* context) {
	const knRopeLine* line = context;
	return knMulAdd(line->from, index, line->step);
}

// Of hinge `index`, which bends the rope where it goes along `along`.
static knVec3 hingeAxis(const knRopeDef* def, int index, knVec3 along) {
	knVec3 side = knNormalize(knMulAdd(def->across, -knDot(def->across, along), along));
	int kind = index % def->kinds;
	return kind == 0 ? side : kind == 1 ? knCross(along, side) : along;
}

knBodyId knRope_Add(knSceneBuilder* builder, const knRopeDef* def) {
	knBodyId first = KN_WORLD_BODY, previous = def->parent;
	knVec3 from = def->path(0, def->context), alongBefore = knZero3();
	for (int i = 0; i < def->links; ++i) {
		char name[48];
		knVec3 to = def->path(i + 1, def->context), along = knNormalize(knSub(to, from));
		double r = def->radius, length = knDistance(from, to);
		double mass = WATER * KN_PI * r * r * (length - 2.0 * r + 4.0 / 3.0 * r);
		snprintf(name, sizeof(name), "%s%d", def->name, i);
		knBodyId link = knSceneBuilder_Rod(builder, name, from, to, r, mass, def->colors[i % 2]);
		if (i > 0 || def->anchored) {
			knJointDef joint = knJointDef_Default(KN_JOINT_HINGE);
			snprintf(name, sizeof(name), "%s_hinge%d", def->name, i);
			joint.name = name;
			joint.axis[0].damping = def->damping;
			knVec3 mean = i > 0 ? knNormalize(knAdd(alongBefore, along)) : along;
			knSceneBuilder_Joint(builder, &joint, previous, link, from, hingeAxis(def, i, mean));
		}
		first = i == 0 ? link : first;
		previous = link;
		alongBefore = along;
		from = to;
	}
	return first;
}

void knRope_SetActive(knSceneBuilder* builder, int active) {
	if (builder->scene != NULL && strcmp(knScene_GetDef(builder->scene)->stepper, "adaptive") == 0) {
		knScene_Def(builder->scene)->settings.adaptive.active = active;
	}
}
