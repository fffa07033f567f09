// Muscles: <muscle>, and what it makes of the defaults of a class.
//
// Their numbers are the first nine of gainprm and biasprm (range, force, scale, lmin, lmax, vmax, fpmax, fvmax) and the first
// three of dynprm (rise, fall, width of blending). lengthrange is read, or taken from the limits of the joint it drives; MuJoCo
// would look for it, and for a peak force that is not given, with simulations of its own.
#include <string.h>

#include "mjcf.h"

// A number of `dynprm`, `gainprm` or `biasprm`: of a <muscle> what the attribute says, else what the parameters say, of a
// <general> the other way round; else MuJoCo's usual.
static double chosen(const knMjcfActuator* a, int bit, const double* numbers, int i, double attribute,
					 double usual) {
	const bool written = i < a->element.counts[bit];
	if (attribute >= 0.0 && !(written && a->kind == KN_MJCF_GENERAL)) {
		return attribute;
	}
	return written ? numbers[i] : usual;
}

void knMjcf_MakeMuscle(knMjcfActuator* a) {
	static const double usual[KN_MJCF_MUSCLE_COUNT] = { 0.75, 1.05, -1.0, 200.0, 0.5, 1.6, 1.5, 1.3, 1.2 };
	static const double usualRates[3] = { 0.01, 0.04, 0.0 };
	const double rates[3] = { a->timeConst[0] > 0.0 ? a->timeConst[0] : -1.0,
							  a->timeConst[1] > 0.0 ? a->timeConst[1] : -1.0, a->muscleBlend };
	for (int i = 0; i < KN_MJCF_MUSCLE_COUNT; ++i) {
		a->gainPrm[i] = chosen(a, KN_MJCF_ACTUATOR_GAINPRM, a->gainPrm, i, a->muscle[i], usual[i]);
		a->biasPrm[i] = a->kind == KN_MJCF_MUSCLE
							? a->gainPrm[i]
							: chosen(a, KN_MJCF_ACTUATOR_BIASPRM, a->biasPrm, i, a->muscle[i], usual[i]);
	}
	for (int i = 0; i < 3; ++i) {
		a->dynPrm[i] = chosen(a, KN_MJCF_ACTUATOR_DYNPRM, a->dynPrm, i, rates[i], usualRates[i]);
	}
	if (a->kind == KN_MJCF_MUSCLE) {
		a->dynType = KN_MJCF_DYN_MUSCLE;
		a->gainType = KN_MJCF_GAIN_MUSCLE;
		a->biasType = KN_MJCF_BIAS_MUSCLE;
	}
}

// Of one that drives a limited hinge or slide without saying its lengths: those at the limits.
static bool findLengths(knMjcf* reader, const knMjcfActuator* a, double lengths[2]) {
	lengths[0] = a->lengthRange[0];
	lengths[1] = a->lengthRange[1];
	const char* name = a->joint != NULL ? a->joint : a->jointInParent;
	if (lengths[0] != lengths[1] || name == NULL) {
		return true;
	}
	knMjcfJoint* joint = NULL;
	if (!knMjcf_FindJoint(reader, &a->element, "muscle", name, &joint)) {
		return false;
	}
	if (knMjcf_IsLimited(joint) && joint->type != KN_MJCF_BALL && joint->type != KN_MJCF_FREE) {
		const bool hinge = joint->type == KN_MJCF_HINGE;
		for (int i = 0; i < 2; ++i) {
			const double end = joint->range[a->gear[0] < 0.0 ? 1 - i : i];
			lengths[i] = a->gear[0] * (hinge ? knMjcf_Angle(reader, &joint->element, end) : end);
		}
		knMjcf_Approximate(reader, &a->element,
						   "<muscle> without lengthrange: its lengths are those at the joint's limits");
	}
	return !reader->failed;
}

bool knMjcf_PlanMuscle(knMjcf* reader, const knMjcfActuator* a, double shift, knActuatorDef* def,
					   bool* known) {
	const double* p = a->gainPrm;
	const bool passive = a->biasType == KN_MJCF_BIAS_MUSCLE;
	double lengths[2];
	*known = (passive || a->biasType == KN_MJCF_BIAS_NONE) && a->dynType < KN_MJCF_DYN_OTHER &&
			 (!passive || memcmp(p, a->biasPrm, KN_MJCF_MUSCLE_COUNT * sizeof *p) == 0);
	if (!*known) {
		return knMjcf_Omit(reader, &a->element,
						   "a muscle whose gain and bias are not of one muscle left out");
	}
	if (!findLengths(reader, a, lengths)) {
		return false;
	}
	*known = lengths[0] != lengths[1] && p[KN_MJCF_MUSCLE_FORCE] >= 0.0;
	if (!*known) {
		return knMjcf_Omit(reader, &a->element, "<muscle> without %s left out",
						   lengths[0] == lengths[1] ? "lengthrange" : "force");
	}
	def->isMuscle = true;
	def->muscle = (knMuscle){ .shortest = lengths[0] - shift,
							  .longest = lengths[1] - shift,
							  .rangeLeast = p[KN_MJCF_MUSCLE_RANGE],
							  .rangeMost = p[KN_MJCF_MUSCLE_RANGE + 1],
							  .force = p[KN_MJCF_MUSCLE_FORCE],
							  .lengthLeast = p[KN_MJCF_MUSCLE_LMIN],
							  .lengthMost = p[KN_MJCF_MUSCLE_LMAX],
							  .speed = p[KN_MJCF_MUSCLE_VMAX],
							  .passive = passive ? p[KN_MJCF_MUSCLE_FPMAX] : 0.0,
							  .lengthening = p[KN_MJCF_MUSCLE_FVMAX] };
	return true;
}
