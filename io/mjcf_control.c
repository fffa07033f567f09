// Tendons, couplings, actuators and sensors: from elements to the scene's own (knuckle/control.h).
//
// A joint's coordinate in the scene is x with MuJoCo's q = sign x + turns (mjcf_joints.c). An actuator with gear g and law
// f(g q, g q') drives x with gear g sign; the constant part of g q, g turns, goes into its constants.
#include "mjcf.h"

#include <string.h>

// --- what is named -------------------------------------------------------------------------------------------

bool knMjcf_FindJoint(knMjcf* reader, const knMjcfElement* element, const char* tag, const char* name,
					  knMjcfJoint** joint) {
	const int index = knNameTable_Get(&reader->jointNames, name);
	if (index < 0) {
		const char* suggestion = knMjcf_SuggestElement(reader, name, reader->joints.items,
													   reader->joints.count, sizeof(knMjcfJoint));
		return knMjcf_Fail(reader, element, tag, KN_BAD_DATA, "there is no joint named '%.60s'%s", name,
						   suggestion);
	}
	*joint = &reader->joints.items[index];
	return true;
}

bool knMjcf_FindSite(knMjcf* reader, const knMjcfElement* element, const char* tag, const char* name,
					 int* owner, knFrame* frame) {
	const int index = knNameTable_Get(&reader->siteNames, name);
	if (index < 0) {
		const char* suggestion =
			knMjcf_SuggestElement(reader, name, reader->sites.items, reader->sites.count, sizeof(knMjcfSite));
		return knMjcf_Fail(reader, element, tag, KN_BAD_DATA, "there is no site named '%.60s'%s", name,
						   suggestion);
	}
	const knMjcfSite* site = &reader->sites.items[index];
	const knMjcfNode* node = &reader->nodes[site->body];
	frame->p = site->element.pos;
	if (!knMjcf_Orientation(reader, &site->element, "site", &frame->q)) {
		return false;
	}
	*owner = node->owner;
	*frame = node->owner == site->body ? *frame : knMulF(node->weld, *frame);
	return true;
}

static bool isSimple(const knMjcfJoint* joint) {
	return (joint->type == KN_MJCF_HINGE || joint->type == KN_MJCF_SLIDE) && joint->link >= 0;
}

static bool limitedBy(int word, const knMjcfElement* element, int bit) {
	return word == KN_MJCF_LIMITED_TRUE || (word == KN_MJCF_LIMITED_AUTO && knMjcf_Given(element, bit));
}

static bool checkRange(knMjcf* reader, const knMjcfElement* element, const char* tag, const char* what,
					   const double range[2]) {
	return range[0] <= range[1] ||
		   knMjcf_Fail(reader, element, tag, KN_BAD_DATA, "the lower end of %s exceeds the upper", what);
}

static bool checkGiven(knMjcf* reader, const knMjcfElement* element, const char* tag, const char* what,
					   int bit) {
	return knMjcf_Given(element, bit) ||
		   knMjcf_Fail(reader, element, tag, KN_BAD_DATA, "it is limited but has no %s", what);
}

static bool passOn(knMjcf* reader, const knMjcfElement* element, int index, const knError* cause) {
	return index >= 0 || knMjcf_FailFrom(reader, element, cause);
}

// --- tendons -------------------------------------------------------------------------------------------------

static bool planPart(knMjcf* reader, const knMjcfTendon* tendon, const knMjcfTendonPart* from,
					 knTendonPart* to, bool* used) {
	const char* tag = tendon->spatial ? "spatial" : "fixed";
	*used = true;
	if (tendon->spatial == (from->kind == KN_MJCF_PART_JOINT)) {
		return knMjcf_Fail(reader, &from->element, tag, KN_BAD_DATA,
						   "fixed tendons take joints, spatial ones sites, geoms and pulleys");
	}
	if (from->kind == KN_MJCF_PART_PULLEY) {
		to->pulley = from->number;
		return from->number > 0.0 ||
			   knMjcf_Fail(reader, &from->element, "pulley", KN_BAD_DATA, "its divisor must be positive");
	}
	if (from->target == NULL) {
		return knMjcf_Fail(reader, &from->element, tag, KN_BAD_DATA, "a part of it names nothing");
	}
	if (from->kind == KN_MJCF_PART_GEOM) {
		*used = false;
		if (knNameTable_Get(&reader->geomNames, from->target) < 0) {
			return knMjcf_Fail(reader, &from->element, tag, KN_BAD_DATA, "there is no geom named '%.60s'",
							   from->target);
		}
		knMjcf_Approximate(reader, &from->element, "<spatial> does not wrap about geoms: it runs straight");
		return !reader->failed;
	}
	if (from->kind == KN_MJCF_PART_SITE) {
		int owner;
		knFrame frame;
		if (!knMjcf_FindSite(reader, &from->element, tag, from->target, &owner, &frame)) {
			return false;
		}
		to->body = reader->nodes[owner].id;
		to->point = frame.p;
		return true;
	}
	if (!knMjcf_Given(&from->element, KN_MJCF_OWN + 1)) {
		return knMjcf_Fail(reader, &from->element, tag, KN_BAD_DATA, "joint '%.60s' has no coef",
						   from->target);
	}
	knMjcfJoint* joint = NULL;
	if (!knMjcf_FindJoint(reader, &from->element, tag, from->target, &joint)) {
		return false;
	}
	if (!isSimple(joint)) {
		return knMjcf_Fail(reader, &from->element, tag, KN_BAD_DATA,
						   "a fixed tendon takes hinges and slides only");
	}
	to->joint = reader->links.items[joint->link].id;
	to->axis = joint->linkAxis;
	to->weight = from->number * joint->sign;
	return true;
}

// What a fixed tendon's length lacks because coordinates were moved by whole turns.
static double tendonOffset(knMjcf* reader, const knMjcfTendon* tendon) {
	double offset = 0.0;
	for (int i = 0; i < tendon->count && !tendon->spatial; ++i) {
		const knMjcfTendonPart* part = &reader->tendonParts.items[tendon->first + i];
		const int index = knNameTable_Get(&reader->jointNames, part->target);
		offset += index >= 0 ? part->number * reader->joints.items[index].turns : 0.0;
	}
	return offset;
}

// Its length in the reference pose, where a springlength of -1 puts its rest.
static double referenceLength(knMjcf* reader, const knMjcfTendon* tendon) {
	double length = 0.0, divisor = 1.0;
	knVec3 last = knZero3();
	bool running = false;
	for (int i = 0; i < tendon->count; ++i) {
		const knMjcfTendonPart* part = &reader->tendonParts.items[tendon->first + i];
		int owner;
		knFrame frame;
		if (part->kind == KN_MJCF_PART_JOINT) {
			const knMjcfJoint* joint =
				&reader->joints.items[knNameTable_Get(&reader->jointNames, part->target)];
			length += part->number * knMjcf_JointRef(reader, joint);
		} else if (part->kind == KN_MJCF_PART_PULLEY) {
			divisor = part->number;
			running = false;
		} else if (part->kind == KN_MJCF_PART_SITE &&
				   knMjcf_FindSite(reader, &part->element, "spatial", part->target, &owner, &frame)) {
			const knVec3 point = knPoint(reader->nodes[owner].reference, frame.p);
			length += running ? knDistance(point, last) / divisor : 0.0;
			last = point;
			running = true;
		}
	}
	return length;
}

// Each branch of a spatial tendon begins and ends at a site, and has two.
static bool checkPath(knMjcf* reader, const knMjcfTendon* tendon) {
	const knMjcfTendonPart* parts = &reader->tendonParts.items[tendon->first];
	int sites = 0;
	for (int i = 0; i <= tendon->count && tendon->spatial; ++i) {
		const bool ends = i == tendon->count || parts[i].kind == KN_MJCF_PART_PULLEY;
		if (!ends) {
			sites += parts[i].kind == KN_MJCF_PART_SITE ? 1 : 0;
			if (sites == 0 && parts[i].kind == KN_MJCF_PART_GEOM) {
				break;
			}
			continue;
		}
		const bool empty = i > 0 && i < tendon->count && parts[i - 1].kind == KN_MJCF_PART_PULLEY;
		if (i > 0 && !empty && (sites < 2 || parts[i - 1].kind != KN_MJCF_PART_SITE)) {
			break;
		}
		if (i == tendon->count) {
			return true;
		}
		sites = 0;
	}
	return !tendon->spatial ||
		   knMjcf_Fail(reader, &tendon->element, "spatial", KN_BAD_DATA,
					   "each branch of it must begin and end at a site, and have two of them");
}

// The name of an element, or one that no other has; NULL when out of memory.
static const char* nameOf(knMjcf* reader, knNameTable* table, const char* kind, const knMjcfElement* element,
						  int index) {
	return element->name != NULL && element->name[0] != '\0' ? element->name
															 : knMjcf_FreshName(reader, table, kind, index);
}

static bool addTendon(knMjcf* reader, knMjcfTendon* from) {
	const char* tag = from->spatial ? "spatial" : "fixed";
	knTendonPart* parts = KN_SCRATCH_ZERO(&reader->arena, knTendonPart, from->count);
	knTendonDef def = knTendonDef_Default();
	if (parts == NULL) {
		return knMjcf_NoMemory(reader);
	}
	for (int i = 0; i < from->count; ++i) {
		bool used;
		if (!planPart(reader, from, &reader->tendonParts.items[from->first + i], &parts[def.partCount],
					  &used)) {
			return false;
		}
		def.partCount += used ? 1 : 0;
	}
	if (!checkPath(reader, from)) {
		return false;
	}
	if (from->frictionloss > 0.0) {
		knMjcf_Omit(reader, &from->element, "<%s> frictionloss left out", tag);
	}
	if (from->armature > 0.0) {
		knMjcf_Omit(reader, &from->element, "<%s> armature left out", tag);
	}
	const double offset = tendonOffset(reader, from);
	def.name =
		nameOf(reader, &reader->tendonNames, "tendon", &from->element, (int)(from - reader->tendons.items));
	if (def.name == NULL) {
		return false;
	}
	def.spatial = from->spatial;
	def.parts = parts;
	def.stiffness = from->stiffness;
	def.damping = from->damping;
	def.limited = limitedBy(from->limited, &from->element, KN_MJCF_TENDON_RANGE);
	def.lower = from->range[0] - offset;
	def.upper = from->range[1] - offset;
	const double rest = from->springLength[0] < 0.0 ? referenceLength(reader, from) : from->springLength[0];
	def.restLower = rest - offset;
	def.restUpper = (from->springCount == 2 ? from->springLength[1] : rest) - offset;
	if (def.limited && (!checkGiven(reader, &from->element, tag, "range", KN_MJCF_TENDON_RANGE) ||
						!checkRange(reader, &from->element, tag, "its range", from->range))) {
		return false;
	}
	knError cause = { .status = KN_OK };
	from->index = knScene_AddTendon(reader->scene, &def, &cause);
	return passOn(reader, &from->element, from->index, &cause);
}

// --- actuators -----------------------------------------------------------------------------------------------

static const char* actuatorTag(const knMjcfActuator* a) {
	static const char* const tags[] = { "general", "motor",    "position", "velocity", "intvelocity",
										"damper",  "adhesion", "plugin",   "muscle" };
	return tags[a->kind];
}

// What the shortcuts mean, as gain and bias.
static bool planLaw(knMjcf* reader, const knMjcfActuator* a, double mass, knActuatorDef* def, bool* known) {
	const bool general = a->kind == KN_MJCF_GENERAL;
	const bool servo = a->kind == KN_MJCF_POSITION || a->kind == KN_MJCF_INTVELOCITY;
	*known = !general || (a->gainType < KN_MJCF_GAIN_MUSCLE && a->biasType < KN_MJCF_BIAS_MUSCLE &&
						  a->dynType < KN_MJCF_DYN_OTHER);
	if (!*known) {
		return knMjcf_Omit(reader, &a->element, "<general> with user laws left out");
	}
	if (a->kp < 0.0 || a->kv < 0.0 || a->dampRatio < 0.0 || a->timeConst[0] < 0.0 || a->timeConst[1] < 0.0) {
		return knMjcf_Fail(reader, &a->element, actuatorTag(a), KN_BAD_DATA,
						   "kp, kv, dampratio and timeconst must not be negative");
	}
	// shortcuts take what a default of another kind says of their gain, as in MuJoCo
	const bool kpGiven = knMjcf_Given(&a->element, KN_MJCF_ACTUATOR_KP);
	const double kp = kpGiven ? a->kp : a->gainPrm[0];
	const bool kvGiven = knMjcf_Given(&a->element, KN_MJCF_ACTUATOR_KV);
	memset(def->gain, 0, sizeof def->gain);
	if (general) {
		const int terms = a->gainType == KN_MJCF_GAIN_AFFINE ? 3 : 1;
		memcpy(def->gain, a->gainPrm, (size_t)terms * sizeof(double));
		memcpy(def->bias, a->biasPrm, a->biasType == KN_MJCF_BIAS_AFFINE ? sizeof def->bias : 0);
	} else if (servo) {
		double kv = kvGiven ? a->kv : -knMin(a->biasPrm[2], 0.0);
		if (knMjcf_Given(&a->element, KN_MJCF_ACTUATOR_DAMPRATIO)) {
			kv = 2.0 * a->dampRatio * sqrt(kp * mass);
		}
		def->gain[0] = kp;
		def->bias[1] = -kp;
		def->bias[2] = -kv;
	} else if (a->kind == KN_MJCF_VELOCITY) {
		const double kv = kvGiven ? a->kv : 1.0;
		def->gain[0] = kv;
		def->bias[2] = -kv;
	} else if (a->kind == KN_MJCF_DAMPER) {
		def->gain[2] = -(kvGiven ? a->kv : 1.0);
	} else {
		def->gain[0] = 1.0;
	}
	return true;
}

// MuJoCo's own PID servo, without its integral and its bound on how fast the target moves.
static bool planPid(knMjcf* reader, const knMjcfActuator* a, knActuatorDef* def) {
	const double* config = a->config;
	if (a->instance != NULL) {
		const int index = knNameTable_Get(&reader->instanceNames, a->instance);
		if (index < 0) {
			return knMjcf_Fail(reader, &a->element, "plugin", KN_BAD_DATA,
							   "there is no plugin instance named '%.60s'", a->instance);
		}
		config = reader->instances.items[index].config;
	}
	const double kp = config[KN_MJCF_PID_KP], kd = config[KN_MJCF_PID_KD];
	if (kp < 0.0 || kd < 0.0) {
		return knMjcf_Fail(reader, &a->element, "plugin", KN_BAD_DATA, "kp and kd must not be negative");
	}
	if (config[KN_MJCF_PID_KI] != 0.0 || config[KN_MJCF_PID_SLEWMAX] != 0.0) {
		knMjcf_Approximate(reader, &a->element,
						   "<plugin> mujoco.pid: a servo of kp and kd, without the integral and slewmax");
	}
	memset(def->gain, 0, sizeof def->gain);
	def->gain[0] = kp;
	def->bias[1] = -kp;
	def->bias[2] = -kd;
	return !reader->failed;
}

static void planActivation(const knMjcfActuator* a, knActuatorDef* def) {
	const bool general = a->kind == KN_MJCF_GENERAL || a->kind == KN_MJCF_MUSCLE;
	int type = general ? a->dynType : KN_MJCF_DYN_NONE;
	def->timeConstant = a->dynPrm[0];
	def->fallConstant = type == KN_MJCF_DYN_MUSCLE ? a->dynPrm[1] : 0.0;
	def->blend = type == KN_MJCF_DYN_MUSCLE ? a->dynPrm[2] : 0.0;
	if (a->kind == KN_MJCF_INTVELOCITY) {
		type = KN_MJCF_DYN_INTEGRATOR;
	} else if (a->kind == KN_MJCF_POSITION && a->timeConst[0] > 0.0) {
		type = KN_MJCF_DYN_EXACT;
		def->timeConstant = a->timeConst[0];
	}
	static const knActivation kinds[] = { KN_ACTIVATION_NONE, KN_ACTIVATION_INTEGRATOR, KN_ACTIVATION_FILTER,
										  KN_ACTIVATION_EXACT, KN_ACTIVATION_MUSCLE };
	def->activation = kinds[type];
	def->activationLimited = def->activation != KN_ACTIVATION_NONE &&
							 limitedBy(a->actLimited, &a->element, KN_MJCF_ACTUATOR_ACTRANGE);
	memcpy(def->activationRange, a->actRange, sizeof def->activationRange);
}

// A position servo may take its range from what it drives.
static void inheritRange(const knMjcfActuator* a, const double range[2], knActuatorDef* def) {
	if (a->inheritRange > 0.0) {
		const double middle = 0.5 * (range[0] + range[1]),
					 half = 0.5 * a->inheritRange * (range[1] - range[0]);
		double* to = a->kind == KN_MJCF_INTVELOCITY ? def->activationRange : def->controlRange;
		*(a->kind == KN_MJCF_INTVELOCITY ? &def->activationLimited : &def->controlLimited) = true;
		to[0] = middle - half;
		to[1] = middle + half;
	}
}

static bool planJointTarget(knMjcf* reader, const knMjcfActuator* a, const double* masses, double* mass,
							knActuatorDef* def, bool* known) {
	knMjcfJoint* joint = NULL;
	const char* name = a->joint != NULL ? a->joint : a->jointInParent;
	if (!knMjcf_FindJoint(reader, &a->element, actuatorTag(a), name, &joint)) {
		return false;
	}
	*known = isSimple(joint);
	if (!*known) {
		return knMjcf_Omit(reader, &a->element, "<%s> on a ball or free joint left out", actuatorTag(a));
	}
	const bool hinge = joint->type == KN_MJCF_HINGE;
	const double range[2] = {
		hinge ? knMjcf_Angle(reader, &joint->element, joint->range[0]) : joint->range[0],
		hinge ? knMjcf_Angle(reader, &joint->element, joint->range[1]) : joint->range[1]
	};
	def->driven = KN_DRIVEN_JOINT;
	def->joint = reader->links.items[joint->link].id;
	def->axis = joint->linkAxis;
	def->gear[0] = a->gear[0] * joint->sign;
	*mass = masses[joint - reader->joints.items] / (a->gear[0] * a->gear[0]);
	inheritRange(a, range, def);
	// g q = g sign x + g turns
	const double shift = a->gear[0] * joint->turns;
	def->bias[0] += shift; // completed by addActuator, when the law is known
	return true;
}

static bool planTendonTarget(knMjcf* reader, const knMjcfActuator* a, const double* masses, double* mass,
							 knActuatorDef* def) {
	const int index = knNameTable_Get(&reader->tendonNames, a->tendon);
	if (index < 0) {
		return knMjcf_Fail(reader, &a->element, actuatorTag(a), KN_BAD_DATA,
						   "there is no tendon named '%.60s'", a->tendon);
	}
	const knMjcfTendon* tendon = &reader->tendons.items[index];
	def->driven = KN_DRIVEN_TENDON;
	def->tendon = tendon->index;
	def->gear[0] = a->gear[0];
	*mass = 0.0;
	for (int i = 0; i < tendon->count && !tendon->spatial; ++i) {
		const knMjcfTendonPart* part = &reader->tendonParts.items[tendon->first + i];
		const int joint = knNameTable_Get(&reader->jointNames, part->target);
		const double moment = part->number * a->gear[0];
		*mass += moment != 0.0 ? masses[joint] / (moment * moment) : 0.0;
	}
	inheritRange(a, tendon->range, def);
	def->bias[0] += a->gear[0] * tendonOffset(reader, tendon);
	return true;
}

static bool planTarget(knMjcf* reader, const knMjcfActuator* a, const double* masses, double* mass,
					   knActuatorDef* def, bool* known) {
	const char* const targets[] = { a->joint, a->jointInParent, a->tendon, a->site, a->other };
	int count = 0;
	for (int i = 0; i < 5; ++i) {
		count += targets[i] != NULL ? 1 : 0;
	}
	if (count > 1) {
		return knMjcf_Fail(reader, &a->element, actuatorTag(a), KN_BAD_DATA,
						   "it drives several things; give it one joint, tendon or site");
	}
	*known = true;
	if (a->joint != NULL || a->jointInParent != NULL) {
		return planJointTarget(reader, a, masses, mass, def, known);
	}
	if (a->tendon != NULL) {
		return planTendonTarget(reader, a, masses, mass, def);
	}
	if (a->site != NULL && a->refSite == NULL) {
		int owner;
		if (!knMjcf_FindSite(reader, &a->element, actuatorTag(a), a->site, &owner, &def->frame)) {
			return false;
		}
		def->driven = KN_DRIVEN_POINT;
		def->body = reader->nodes[owner].id;
		memcpy(def->gear, a->gear, sizeof def->gear);
		return true;
	}
	*known = false;
	if (a->site == NULL && a->other == NULL) {
		return knMjcf_Fail(reader, &a->element, actuatorTag(a), KN_BAD_DATA,
						   "it drives nothing: give it a joint, tendon or site");
	}
	return knMjcf_Omit(reader, &a->element, "<%s> on a body, a crank or between two sites left out",
					   actuatorTag(a));
}

static double startControl(const knMjcf* reader, const knMjcfActuator* a, int index) {
	return reader->key != NULL && index < reader->key->ctrl.count ? reader->key->ctrl.items[index]
																  : a->control;
}

bool knMjcf_HasActivation(const knMjcfActuator* a) {
	return a->kind == KN_MJCF_MUSCLE || a->kind == KN_MJCF_INTVELOCITY ||
		   (a->kind == KN_MJCF_GENERAL && a->dynType != KN_MJCF_DYN_NONE) ||
		   (a->kind == KN_MJCF_POSITION && a->timeConst[0] > 0.0);
}

// A keyframe's act counts the actuators that have one.
static double startActivation(const knMjcf* reader, const knMjcfActuator* a) {
	if (reader->key == NULL || !knMjcf_HasActivation(a)) {
		return a->start;
	}
	int before = 0;
	for (const knMjcfActuator* b = reader->actuators.items; b < a; ++b) {
		before += knMjcf_HasActivation(b) ? 1 : 0;
	}
	return before < reader->key->act.count ? reader->key->act.items[before] : a->start;
}

// What pulls in proportion to its control, and is not understood, changes nothing while the control is 0.
static bool skipIdle(knMjcf* reader, const knMjcfActuator* a, int index) {
	const char* tag = actuatorTag(a);
	if (startControl(reader, a, index) != 0.0) {
		return knMjcf_Omit(reader, &a->element, "<%s> left out", tag);
	}
	knMjcf_Approximate(reader, &a->element, "<%s> not followed: here its control is 0, and it pulls nothing",
					   tag);
	return !reader->failed;
}

static bool planLawOf(knMjcf* reader, const knMjcfActuator* a, double mass, double shift, knActuatorDef* def,
					  bool* known) {
	if (a->kind == KN_MJCF_PLUGIN) {
		return planPid(reader, a, def);
	}
	if (a->kind == KN_MJCF_MUSCLE || (a->kind == KN_MJCF_GENERAL && a->gainType == KN_MJCF_GAIN_MUSCLE)) {
		return knMjcf_PlanMuscle(reader, a, shift, def, known);
	}
	return planLaw(reader, a, mass, def, known);
}

static bool checkRanges(knMjcf* reader, const knMjcfActuator* a, const knActuatorDef* def) {
	const char* tag = actuatorTag(a);
	// a servo may have taken its range from what it drives
	const bool ranged = a->inheritRange > 0.0;
	const struct {
		bool limited;
		const char* name;
		const double* range;
		int bit;
	} ranges[] = { { def->controlLimited, "ctrlrange", def->controlRange, KN_MJCF_ACTUATOR_CTRLRANGE },
				   { def->forceLimited, "forcerange", def->forceRange, KN_MJCF_ACTUATOR_FORCERANGE },
				   { def->activationLimited, "actrange", def->activationRange, KN_MJCF_ACTUATOR_ACTRANGE } };
	for (int i = 0; i < 3; ++i) {
		if (ranges[i].limited &&
			!((ranged || checkGiven(reader, &a->element, tag, ranges[i].name, ranges[i].bit)) &&
			  checkRange(reader, &a->element, tag, ranges[i].name, ranges[i].range))) {
			return false;
		}
	}
	return true;
}

static bool addActuator(knMjcf* reader, knMjcfActuator* a, int index, const double* masses) {
	knActuatorDef def = knActuatorDef_Default();
	double mass = 0.0;
	bool known;
	if (a->kind == KN_MJCF_ADHESION) {
		return skipIdle(reader, a, index);
	}
	if (a->kind == KN_MJCF_PLUGIN && (a->plugin == NULL || strcmp(a->plugin, "mujoco.pid") != 0)) {
		return knMjcf_Omit(reader, &a->element, "<plugin> '%.60s' left out",
						   a->plugin != NULL ? a->plugin : "");
	}
	if (a->kind == KN_MJCF_MUSCLE ||
		(a->kind == KN_MJCF_GENERAL && knMjcf_Given(&a->element, KN_MJCF_ACTUATOR_ISMUSCLE))) {
		knMjcf_MakeMuscle(a);
	}
	def.name = nameOf(reader, &reader->actuatorNames, "actuator", &a->element, index);
	if (def.name == NULL) {
		return false;
	}
	def.controlLimited = limitedBy(a->ctrlLimited, &a->element, KN_MJCF_ACTUATOR_CTRLRANGE);
	memcpy(def.controlRange, a->ctrlRange, sizeof def.controlRange);
	if (!planTarget(reader, a, masses, &mass, &def, &known)) {
		return false;
	}
	const double shift = def.bias[0];
	def.bias[0] = 0.0;
	if (!known || !planLawOf(reader, a, mass, shift, &def, &known) || !known) {
		return !reader->failed;
	}
	// a moved coordinate moves the law's constants
	def.bias[0] += def.bias[1] * shift;
	def.gain[0] += def.gain[1] * shift;
	planActivation(a, &def);
	def.forceLimited = limitedBy(a->forceLimited, &a->element, KN_MJCF_ACTUATOR_FORCERANGE);
	memcpy(def.forceRange, a->forceRange, sizeof def.forceRange);
	if (!checkRanges(reader, a, &def)) {
		return false;
	}
	def.control = startControl(reader, a, index);
	def.start = startActivation(reader, a);
	knError cause = { .status = KN_OK };
	a->index = knScene_AddActuator(reader->scene, &def, &cause);
	return passOn(reader, &a->element, a->index, &cause);
}

// --- sensors -------------------------------------------------------------------------------------------------

typedef enum SensorOf { OF_JOINT, OF_TENDON, OF_ACTUATOR, OF_SITE, OF_OBJECT, OF_NOTHING } SensorOf;

struct knMjcfSensorRow {
	const char* tag;
	SensorOf of;
	knProbeKind kind;
};

static const struct knMjcfSensorRow sensorRows[] = {
	{ "jointpos", OF_JOINT, KN_PROBE_JOINT_POSITION },
	{ "jointvel", OF_JOINT, KN_PROBE_JOINT_VELOCITY },
	{ "jointactuatorfrc", OF_JOINT, KN_PROBE_JOINT_FORCE },
	{ "tendonpos", OF_TENDON, KN_PROBE_TENDON_POSITION },
	{ "tendonvel", OF_TENDON, KN_PROBE_TENDON_VELOCITY },
	{ "actuatorpos", OF_ACTUATOR, KN_PROBE_ACTUATOR_POSITION },
	{ "actuatorvel", OF_ACTUATOR, KN_PROBE_ACTUATOR_VELOCITY },
	{ "actuatorfrc", OF_ACTUATOR, KN_PROBE_ACTUATOR_FORCE },
	{ "framepos", OF_OBJECT, KN_PROBE_FRAME_POSITION },
	{ "framequat", OF_OBJECT, KN_PROBE_FRAME_ROTATION },
	{ "framexaxis", OF_OBJECT, KN_PROBE_FRAME_X },
	{ "frameyaxis", OF_OBJECT, KN_PROBE_FRAME_Y },
	{ "framezaxis", OF_OBJECT, KN_PROBE_FRAME_Z },
	{ "framelinvel", OF_OBJECT, KN_PROBE_FRAME_VELOCITY },
	{ "frameangvel", OF_OBJECT, KN_PROBE_FRAME_ANGULAR_VELOCITY },
	{ "gyro", OF_SITE, KN_PROBE_GYRO },
	{ "velocimeter", OF_SITE, KN_PROBE_VELOCIMETER },
	{ "accelerometer", OF_SITE, KN_PROBE_ACCELEROMETER },
	{ "force", OF_SITE, KN_PROBE_FORCE },
	{ "torque", OF_SITE, KN_PROBE_TORQUE },
	{ "touch", OF_SITE, KN_PROBE_TOUCH },
	{ "clock", OF_NOTHING, KN_PROBE_CLOCK },
};

const struct knMjcfSensorRow* knMjcf_FindSensor(const char* tag) {
	for (size_t i = 0; i < sizeof sensorRows / sizeof *sensorRows; ++i) {
		if (strcmp(sensorRows[i].tag, tag) == 0) {
			return &sensorRows[i];
		}
	}
	return NULL;
}

const char* knMjcf_SensorTag(knProbeKind kind) {
	for (size_t i = 0; i < sizeof sensorRows / sizeof *sensorRows; ++i) {
		if (sensorRows[i].kind == kind) {
			return sensorRows[i].tag;
		}
	}
	return "clock";
}

// A frame by the type and name of an object. Bodies have two: MuJoCo's "body" is the inertial frame, "xbody" its own.
static bool planObject(knMjcf* reader, const knMjcfSensor* sensor, knProbeDef* def, bool* known) {
	const char* type = sensor->objectType != NULL ? sensor->objectType : "";
	const char* tag = sensor->row->tag;
	int owner = 0;
	*known = sensor->reference == NULL && sensor->object != NULL;
	if (*known && strcmp(type, "site") == 0) {
		if (!knMjcf_FindSite(reader, &sensor->element, tag, sensor->object, &owner, &def->frame)) {
			return false;
		}
	} else if (*known && (strcmp(type, "body") == 0 || strcmp(type, "xbody") == 0)) {
		int body;
		if (!knMjcf_FindBody(reader, &sensor->element, tag, sensor->object, &body)) {
			return false;
		}
		const knMjcfNode* node = &reader->nodes[body];
		owner = node->owner;
		def->frame = owner == body ? knIdentityF() : node->weld;
		if (strcmp(type, "body") == 0 && owner == body) {
			def->frame.p = node->mass.center;
		}
	} else {
		*known = false;
	}
	def->body = reader->nodes[owner].id;
	return true;
}

// The joint that holds a body: of the tree, its child.
static knJointId holdingJoint(const knMjcf* reader, int owner) {
	for (int i = 0; i < reader->links.count; ++i) {
		if (reader->links.items[i].child == owner && !reader->links.items[i].def.loop) {
			return reader->links.items[i].id;
		}
	}
	return (knJointId){ 0, 0 };
}

static bool planSensor(knMjcf* reader, const knMjcfSensor* sensor, knProbeDef* def, bool* known) {
	const char* tag = sensor->row->tag;
	const SensorOf of = sensor->row->of;
	const char* target = of == OF_JOINT      ? sensor->joint
						 : of == OF_TENDON   ? sensor->tendon
						 : of == OF_ACTUATOR ? sensor->actuator
											 : sensor->site;
	*known = true;
	if (of == OF_NOTHING) {
		return true;
	}
	if (of == OF_OBJECT) {
		return planObject(reader, sensor, def, known);
	}
	if (target == NULL) {
		return knMjcf_Fail(reader, &sensor->element, tag, KN_BAD_DATA, "it names nothing to read");
	}
	if (of == OF_SITE) {
		int owner;
		if (!knMjcf_FindSite(reader, &sensor->element, tag, target, &owner, &def->frame)) {
			return false;
		}
		def->body = reader->nodes[owner].id;
		def->joint = holdingJoint(reader, owner);
		return true;
	}
	if (of == OF_JOINT) {
		knMjcfJoint* joint = NULL;
		if (!knMjcf_FindJoint(reader, &sensor->element, tag, target, &joint)) {
			return false;
		}
		*known = isSimple(joint) && joint->sign > 0.0 && joint->turns == 0.0;
		def->joint = *known ? reader->links.items[joint->link].id : def->joint;
		def->axis = joint->linkAxis;
		return true;
	}
	const int index =
		knNameTable_Get(of == OF_TENDON ? &reader->tendonNames : &reader->actuatorNames, target);
	if (index < 0) {
		return knMjcf_Fail(reader, &sensor->element, tag, KN_BAD_DATA, "there is no '%.60s' to read", target);
	}
	def->index = of == OF_TENDON ? reader->tendons.items[index].index : reader->actuators.items[index].index;
	*known = def->index >= 0;
	return true;
}

static bool addSensor(knMjcf* reader, const knMjcfSensor* sensor) {
	knProbeDef def = knProbeDef_Default(sensor->row->kind);
	bool known;
	def.name = sensor->element.name;
	if (!planSensor(reader, sensor, &def, &known)) {
		return false;
	}
	if (!known) {
		knMjcf_Note(reader, &sensor->element, "<%s> (sensor) of this kind of object ignored",
					sensor->row->tag);
		return !reader->failed;
	}
	if (sensor->row->kind == KN_PROBE_TOUCH) {
		knMjcf_Note(reader, &sensor->element, "<touch> reads its whole body, not only what is in the site");
	}
	if (def.name != NULL && knScene_FindProbe(reader->scene, def.name) >= 0) {
		return knMjcf_Fail(reader, &sensor->element, sensor->row->tag, KN_BAD_DATA,
						   "the name '%.60s' is taken", def.name);
	}
	knError cause = { .status = KN_OK };
	return passOn(reader, &sensor->element, knScene_AddProbe(reader->scene, &def, &cause), &cause);
}

// --- all -----------------------------------------------------------------------------------------------------

static bool addCouplings(knMjcf* reader) {
	for (int i = 0; i < reader->couplings.count; ++i) {
		knCouplingDef def = reader->couplings.items[i];
		def.joint1 = reader->links.items[def.joint1.index1 - 1].id;
		def.joint2 = def.joint2.index1 > 0 ? reader->links.items[def.joint2.index1 - 1].id : def.joint2;
		knError cause = { .status = KN_OK };
		if (!passOn(reader, NULL, knScene_AddCoupling(reader->scene, &def, &cause), &cause)) {
			return false;
		}
	}
	return true;
}

bool knMjcf_AddControl(knMjcf* reader) {
	double* masses = KN_SCRATCH(&reader->arena, double, reader->joints.count);
	if (masses == NULL) {
		return knMjcf_NoMemory(reader);
	}
	if (reader->actuators.count > 0 && !knMjcf_JointMasses(reader, masses)) {
		return false;
	}
	for (int i = 0; i < reader->tendons.count; ++i) {
		if (!addTendon(reader, &reader->tendons.items[i])) {
			return false;
		}
	}
	if (!addCouplings(reader)) {
		return false;
	}
	for (int i = 0; i < reader->actuators.count && reader->flag.actuation; ++i) {
		if (!addActuator(reader, &reader->actuators.items[i], i, masses)) {
			return false;
		}
	}
	for (int i = 0; i < reader->sensors.count; ++i) {
		if (!addSensor(reader, &reader->sensors.items[i])) {
			return false;
		}
	}
	return !reader->failed;
}
