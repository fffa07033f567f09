// <compiler>, <option> and <flag>: what they forbid is refused, what they switch off is taken out of the elements.
#include <string.h>

#include "mjcf.h"

#define SHORTEST_STEP 1e-9 // s: a second takes more steps than a run may have

static bool checkOption(knMjcf* reader) {
	const knMjcfOption* option = &reader->option;
	if (!(option->timestep >= SHORTEST_STEP)) {
		return knMjcf_Fail(reader, &option->element, "option", KN_BAD_DATA,
						   "timestep is %g s; it must be positive, and %g at least", option->timestep,
						   SHORTEST_STEP);
	}
	if (option->density < 0.0 || option->viscosity < 0.0) {
		return knMjcf_Fail(reader, &option->element, "option", KN_BAD_DATA,
						   "density and viscosity must not be negative");
	}
	if ((option->density > 0.0 || option->viscosity > 0.0) && knLength(option->wind) > 0.0) {
		return knMjcf_Omit(reader, &option->element, "<option> wind left out");
	}
	return true;
}

bool knMjcf_CheckCompiler(knMjcf* reader) {
	for (int i = 0; i < reader->compilers.count; ++i) {
		const knMjcfCompiler* compiler = &reader->compilers.items[i];
		if (compiler->coordinate != 0) {
			return knMjcf_Fail(reader, &compiler->element, "compiler", KN_UNSUPPORTED,
							   "only local coordinates are understood");
		}
		const char* sequence = compiler->eulerSequence;
		if (strlen(sequence) != 3 || strspn(sequence, "xyzXYZ") != 3) {
			return knMjcf_Fail(reader, &compiler->element, "compiler", KN_BAD_DATA,
							   "eulerseq is '%.40s'; it must be three of the letters x y z X Y Z", sequence);
		}
		if (compiler->boundMass < 0.0 || compiler->boundInertia < 0.0) {
			return knMjcf_Fail(reader, &compiler->element, "compiler", KN_BAD_DATA,
							   "boundmass and boundinertia must not be negative");
		}
	}
	return checkOption(reader);
}

// --- what is switched off --------------------------------------------------------------------------------------

static void dropContacts(knMjcf* reader) {
	for (int i = 0; i < reader->geoms.count; ++i) {
		reader->geoms.items[i].contype = reader->geoms.items[i].conaffinity = 0;
	}
}

static void dropLimits(knMjcf* reader) {
	for (int i = 0; i < reader->joints.count; ++i) {
		reader->joints.items[i].limited = KN_MJCF_LIMITED_FALSE;
	}
	for (int i = 0; i < reader->tendons.count; ++i) {
		reader->tendons.items[i].limited = KN_MJCF_LIMITED_FALSE;
	}
}

static void dropFriction(knMjcf* reader) {
	for (int i = 0; i < reader->joints.count; ++i) {
		reader->joints.items[i].frictionloss = 0.0;
	}
	for (int i = 0; i < reader->tendons.count; ++i) {
		reader->tendons.items[i].frictionloss = 0.0;
	}
}

static void dropPassive(knMjcf* reader, bool springs, bool dampers) {
	for (int i = 0; i < reader->joints.count; ++i) {
		knMjcfJoint* joint = &reader->joints.items[i];
		joint->stiffness = springs ? 0.0 : joint->stiffness;
		joint->damping = dampers ? 0.0 : joint->damping;
		if (springs || dampers) {
			joint->springDamper[0] = joint->springDamper[1] = 0.0;
		}
	}
	for (int i = 0; i < reader->tendons.count; ++i) {
		knMjcfTendon* tendon = &reader->tendons.items[i];
		tendon->stiffness = springs ? 0.0 : tendon->stiffness;
		tendon->damping = dampers ? 0.0 : tendon->damping;
	}
}

static void dropOther(knMjcf* reader) {
	const knMjcfFlag* flag = &reader->flag;
	for (int i = 0; i < reader->equalities.count && !(flag->equality && flag->constraint); ++i) {
		reader->equalities.items[i].active = 0;
	}
	for (int i = 0; i < reader->actuators.count && !flag->clampCtrl; ++i) {
		reader->actuators.items[i].ctrlLimited = KN_MJCF_LIMITED_FALSE;
	}
	for (int i = 0; i < reader->bodies.count && !flag->passive; ++i) {
		reader->bodies.items[i].gravcomp = 0.0;
	}
	if (!flag->passive) {
		reader->option.density = reader->option.viscosity = 0.0;
	}
}

bool knMjcf_ApplyOptions(knMjcf* reader) {
	const knMjcfFlag* flag = &reader->flag;
	const bool touching = flag->contact && flag->constraint;
	if (!touching || reader->option.collision == KN_MJCF_COLLISION_PREDEFINED) {
		dropContacts(reader);
	}
	if (!touching || reader->option.collision == KN_MJCF_COLLISION_DYNAMIC) {
		reader->pairs.count = 0;
	}
	if (!flag->limit || !flag->constraint) {
		dropLimits(reader);
	}
	if (!flag->frictionloss || !flag->constraint) {
		dropFriction(reader);
	}
	dropPassive(reader, !flag->spring || !flag->passive, !flag->damper || !flag->passive);
	dropOther(reader);
	reader->option.gravity = flag->gravity ? reader->option.gravity : knZero3();
	if (!flag->filterParent && touching) {
		return knMjcf_Omit(reader, &flag->element,
						   "<flag> filterparent left out: parents do not touch children");
	}
	return true;
}
