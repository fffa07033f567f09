// Jointed figures from a table (figure.h).
#include "figure.h"

#include <stdio.h>

knVec3 knFigure_OnSide(knVec3 point, double side) {
	return knV3(point.x, side * point.y, point.z);
}

static void setLimits(const knFigurePart* part, double side, knJointDef* def) {
	bool limited = part->lower < part->upper;
	if (part->joint == KN_JOINT_HINGE && limited) {
		def->axis[0].limited = true;
		def->axis[0].lower = part->lower;
		def->axis[0].upper = part->upper;
		return;
	}
	if (part->swing > 0.0) {
		def->coneLimited = true;
		def->coneY = part->swing;
		def->coneZ = part->swing;
	}
	if (limited) {
		// seen in a mirror a twist turns the other way
		def->twistLimited = true;
		def->twistLower = side > 0.0 ? part->lower : -part->upper;
		def->twistUpper = side > 0.0 ? part->upper : -part->lower;
	}
}

// A hinge's axis is no arrow but a turn: mirrored, it keeps its direction along x and z and loses the sign of y, such that
// equal angles are mirror images.
static knVec3 mirroredAxis(const knFigurePart* part, double side) {
	knVec3 axis = knFigure_OnSide(part->axis, side);
	return part->joint == KN_JOINT_HINGE && side < 0.0 ? knNeg(axis) : axis;
}

void knFigure_Add(knSceneBuilder* builder, int number, const knFigurePart* parts, int count, knFrame figure,
				  knFigureBodyFn* fn, void* context) {
	double friction = knSceneArgs_Get(builder->args, "joint_friction");
	knBodyId bodies[KN_FIGURE_MAX_PARTS][2];
	for (int i = 0; i < count && builder->scene != NULL; ++i) {
		for (int s = 0; s < (parts[i].paired ? 2 : 1); ++s) {
			double side = s == 0 ? 1.0 : -1.0;
			char name[48];
			snprintf(name, sizeof(name), "%d_%s%s", number, parts[i].name,
					 !parts[i].paired ? ""
					 : s == 0         ? "_left"
									  : "_right");
			bodies[i][s] = fn(builder, name, i, side, figure, context);
			int parent = parts[i].parent;
			if (parent == KN_FIGURE_FREE) {
				continue;
			}
			knJointDef def = knJointDef_Default(parts[i].joint);
			setLimits(&parts[i], side, &def);
			for (int k = 0; k < 3; ++k) {
				def.axis[k].friction = friction;
			}
			knVec3 anchor = knPoint(figure, knFigure_OnSide(parts[i].anchor, side));
			knVec3 axis = knRotate(figure.q, mirroredAxis(&parts[i], side));
			knSceneBuilder_Joint(builder, &def, bodies[parent][parts[parent].paired ? s : 0], bodies[i][s],
								 anchor, axis);
		}
	}
}
