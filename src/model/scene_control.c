// Tendons, couplings, actuators and probes of a scene: kept in the order of adding, named, checked, cloned.
//
// They have no slots: indices are the order of adding. What refers to a body or joint that is removed goes with it, and
// actuators and probes of a tendon with the tendon; the indices of the rest close up.
#include <stdio.h>
#include <string.h>

#include "model/joint.h"
#include "model/scene_internal.h"

#define TIME_CONSTANT 0.02 // s, of a coupling

// --- defaults --------------------------------------------------------------------------------------------

knTendonDef knTendonDef_Default(void) {
	return (knTendonDef){ .parts = NULL };
}

knCouplingDef knCouplingDef_Default(void) {
	return (knCouplingDef){ .coefficients = { 0.0, 1.0 }, .timeConstant = TIME_CONSTANT, .enabled = true };
}

knActuatorDef knActuatorDef_Default(void) {
	return (knActuatorDef){ .frame = knIdentityF(),
							.gear = { 1.0 },
							.gain = { 1.0 },
							.muscle = { .rangeLeast = 0.75,
										.rangeMost = 1.05,
										.lengthLeast = 0.5,
										.lengthMost = 1.6,
										.speed = 1.5,
										.passive = 1.3,
										.lengthening = 1.2 } };
}

knProbeDef knProbeDef_Default(knProbeKind kind) {
	return (knProbeDef){ .kind = kind, .frame = knIdentityF() };
}

static const struct {
	const char* name;
	int size;
} probeKinds[KN_PROBE_KIND_COUNT] = {
	{ "joint position", 1 },
	{ "joint velocity", 1 },
	{ "joint force", 1 },
	{ "tendon position", 1 },
	{ "tendon velocity", 1 },
	{ "actuator position", 1 },
	{ "actuator velocity", 1 },
	{ "actuator force", 1 },
	{ "frame position", 3 },
	{ "frame rotation", 4 },
	{ "frame x", 3 },
	{ "frame y", 3 },
	{ "frame z", 3 },
	{ "frame velocity", 3 },
	{ "frame angular velocity", 3 },
	{ "gyro", 3 },
	{ "velocimeter", 3 },
	{ "accelerometer", 3 },
	{ "force", 3 },
	{ "torque", 3 },
	{ "touch", 1 },
	{ "clock", 1 },
};

const char* knProbeKind_Name(knProbeKind kind) {
	return (unsigned)kind < KN_PROBE_KIND_COUNT ? probeKinds[kind].name : "unknown";
}

int knProbeKind_Size(knProbeKind kind) {
	return (unsigned)kind < KN_PROBE_KIND_COUNT ? probeKinds[kind].size : 0;
}

// --- checks ----------------------------------------------------------------------------------------------

static knStatus refuse(knError* error, const char* kind, const char* name, const char* sentence) {
	char element[KN_ELEMENT_SIZE];
	return knError_Set(error, KN_BAD_DATA, knScene_Element(kind, name != NULL ? name : "unnamed", element),
					   "%s", sentence);
}

static bool allFinite(const double* numbers, int count) {
	for (int i = 0; i < count; ++i) {
		if (!knIsFinite(numbers[i])) {
			return false;
		}
	}
	return true;
}

static bool isRange(bool limited, const double range[2]) {
	return !limited || (allFinite(range, 2) && range[0] <= range[1]);
}

// A joint of the scene with such an axis, one coordinate for each velocity.
static bool isAxis(const knScene* scene, knJointId joint, int axis) {
	const int slot = knScene_JointSlot(scene, joint);
	if (slot < 0) {
		return false;
	}
	const knJointOps* ops = knJointOps_Get(scene->joints.items[slot].def.kind);
	return axis >= 0 && axis < ops->nv;
}

static bool isBody(const knScene* scene, knBodyId body) {
	return KN_ID_IS_NULL(body) || knScene_BodySlot(scene, body) >= 0;
}

static knStatus checkTendon(const knScene* scene, const knTendonDef* def, knError* error) {
	const double numbers[] = { def->stiffness, def->damping, def->restLower, def->restUpper };
	const double range[2] = { def->lower, def->upper };
	if (def->partCount < 1 || def->parts == NULL) {
		return refuse(error, "tendon", def->name, "it has no parts");
	}
	if (!allFinite(numbers, 4) || def->stiffness < 0.0 || def->damping < 0.0) {
		return refuse(error, "tendon", def->name,
					  "its stiffness and damping must be finite and not negative");
	}
	if (def->restLower > def->restUpper || !isRange(def->limited, range)) {
		return refuse(error, "tendon", def->name, "a lower bound must not exceed its upper one");
	}
	for (int i = 0; i < def->partCount; ++i) {
		const knTendonPart* part = &def->parts[i];
		if (!def->spatial && (!isAxis(scene, part->joint, part->axis) || !knIsFinite(part->weight))) {
			return refuse(error, "tendon", def->name, "a part of it is no axis of a joint of this scene");
		}
		if (def->spatial && (!isBody(scene, part->body) || !knIsFinite3(part->point) ||
							 !knIsFinite(part->pulley) || part->pulley < 0.0)) {
			return refuse(error, "tendon", def->name, "a part of it is no point of a body of this scene");
		}
	}
	return KN_OK;
}

static knStatus checkCoupling(const knScene* scene, const knCouplingDef* def, knError* error) {
	const double numbers[] = { def->ref1, def->ref2, def->timeConstant };
	if (!isAxis(scene, def->joint1, def->axis1) ||
		(!KN_ID_IS_NULL(def->joint2) && !isAxis(scene, def->joint2, def->axis2))) {
		return refuse(error, "coupling", def->name, "it names no axis of a joint of this scene");
	}
	if (!allFinite(numbers, 3) || !allFinite(def->coefficients, 5) || !(def->timeConstant > 0.0)) {
		return refuse(error, "coupling", def->name,
					  "its numbers must be finite, and its time constant positive");
	}
	return KN_OK;
}

static knStatus checkMuscle(const knActuatorDef* def, knError* error) {
	const knMuscle* m = &def->muscle;
	const double numbers[] = { m->shortest,    m->longest,    m->rangeLeast, m->rangeMost, m->force,
							   m->lengthLeast, m->lengthMost, m->speed,      m->passive,   m->lengthening };
	if (!def->isMuscle) {
		return KN_OK;
	}
	if (!allFinite(numbers, 10) || m->shortest >= m->longest || m->rangeLeast >= m->rangeMost) {
		return refuse(error, "actuator", def->name, "a muscle's shortest length must be below its longest");
	}
	if (m->force < 0.0 || m->passive < 0.0 || !(m->speed > 0.0) || m->lengthening < 1.0) {
		return refuse(error, "actuator", def->name,
					  "a muscle's forces must not be negative, its speed positive, and the force while it is "
					  "lengthened at least that at rest");
	}
	if (m->lengthLeast >= 1.0 || m->lengthMost <= 1.0) {
		return refuse(error, "actuator", def->name,
					  "a muscle's optimal length, 1, must lie between the lengths where its force ends");
	}
	return def->driven == KN_DRIVEN_POINT
			   ? refuse(error, "actuator", def->name, "a muscle drives a joint or a tendon")
			   : KN_OK;
}

static knStatus checkActuator(const knScene* scene, const knActuatorDef* def, knError* error) {
	const double numbers[] = { def->control, def->start, def->timeConstant, def->fallConstant, def->blend };
	if ((unsigned)def->driven > KN_DRIVEN_POINT || (unsigned)def->activation > KN_ACTIVATION_MUSCLE) {
		return refuse(error, "actuator", def->name, "what it drives or its activation is unknown");
	}
	if (def->driven == KN_DRIVEN_JOINT && !isAxis(scene, def->joint, def->axis)) {
		return refuse(error, "actuator", def->name, "it drives no axis of a joint of this scene");
	}
	if (def->driven == KN_DRIVEN_TENDON && (def->tendon < 0 || def->tendon >= scene->tendons.count)) {
		return refuse(error, "actuator", def->name, "it drives no tendon of this scene");
	}
	if (def->driven == KN_DRIVEN_POINT && (!isBody(scene, def->body) || !knIsFiniteF(def->frame))) {
		return refuse(error, "actuator", def->name, "it drives no point of a body of this scene");
	}
	if (!allFinite(def->gear, 6) || !allFinite(def->gain, 3) || !allFinite(def->bias, 3) ||
		!allFinite(numbers, 5)) {
		return refuse(error, "actuator", def->name, "its gear, gain, bias and control must be finite");
	}
	if (!isRange(def->controlLimited, def->controlRange) || !isRange(def->forceLimited, def->forceRange) ||
		!isRange(def->activationLimited, def->activationRange)) {
		return refuse(error, "actuator", def->name,
					  "the lower bound of a range must not exceed the upper one");
	}
	if (def->activation >= KN_ACTIVATION_FILTER && !(def->timeConstant > 0.0)) {
		return refuse(error, "actuator", def->name, "its filter needs a positive time constant");
	}
	if (def->activation == KN_ACTIVATION_MUSCLE && (!(def->fallConstant > 0.0) || def->blend < 0.0)) {
		return refuse(
			error, "actuator", def->name,
			"its activation needs positive time constants, and a width of blending that is not negative");
	}
	return checkMuscle(def, error);
}

static knStatus checkProbe(const knScene* scene, const knProbeDef* def, knError* error) {
	const knProbeKind kind = def->kind;
	bool good = (unsigned)kind < KN_PROBE_KIND_COUNT;
	if (kind <= KN_PROBE_JOINT_FORCE) {
		good = good && isAxis(scene, def->joint, def->axis);
	} else if (kind <= KN_PROBE_TENDON_VELOCITY) {
		good = def->index >= 0 && def->index < scene->tendons.count;
	} else if (kind <= KN_PROBE_ACTUATOR_FORCE) {
		good = def->index >= 0 && def->index < scene->actuators.count;
	} else {
		good = good && isBody(scene, def->body) && knIsFiniteF(def->frame);
	}
	return good ? KN_OK : refuse(error, "probe", def->name, "what it reads is not in this scene");
}

knStatus knSceneCheck_Control(const knScene* scene, knError* error) {
	knStatus status = KN_OK;
	for (int i = 0; i < scene->tendons.count && status == KN_OK; ++i) {
		status = checkTendon(scene, &scene->tendons.items[i], error);
	}
	for (int i = 0; i < scene->couplings.count && status == KN_OK; ++i) {
		status = checkCoupling(scene, &scene->couplings.items[i], error);
	}
	for (int i = 0; i < scene->actuators.count && status == KN_OK; ++i) {
		status = checkActuator(scene, &scene->actuators.items[i], error);
	}
	for (int i = 0; i < scene->probes.count && status == KN_OK; ++i) {
		status = checkProbe(scene, &scene->probes.items[i], error);
	}
	return status;
}

// --- names -----------------------------------------------------------------------------------------------

// "a/NAME": one table for four kinds of names.
static const char* keyOf(char kind, const char* name, char text[256]) {
	snprintf(text, 256, "%c/%.250s", kind, name);
	return text;
}

// A copy of the wanted name, or of one made up; NULL after an error. The table has it then.
static char* takeName(knScene* scene, const char* kind, const char* wanted, int index, knError* error) {
	char text[64], key[256];
	if (wanted == NULL || wanted[0] == '\0') {
		snprintf(text, sizeof text, "%s%d", kind, index);
		for (int k = 2; knNameTable_Get(&scene->controlNames, keyOf(kind[0], text, key)) >= 0; ++k) {
			snprintf(text, sizeof text, "%s%d_%d", kind, index, k);
		}
		wanted = text;
	}
	if (knNameTable_Get(&scene->controlNames, keyOf(kind[0], wanted, key)) >= 0) {
		refuse(error, kind, wanted, "the name is taken");
		return NULL;
	}
	char* copy = knCopyString(&scene->allocator, wanted);
	if (copy == NULL || !knNameTable_Set(&scene->controlNames, key, index)) {
		knFreeString(&scene->allocator, copy);
		knError_Set(error, KN_NO_MEMORY, "scene", "out of memory");
		return NULL;
	}
	return copy;
}

static void dropName(knScene* scene, char kind, const char* name) {
	char key[256];
	knNameTable_Remove(&scene->controlNames, keyOf(kind, name, key));
	knFreeString(&scene->allocator, (char*)name);
}

static int findName(const knScene* scene, char kind, const char* name) {
	char key[256];
	return name != NULL ? knNameTable_Get(&scene->controlNames, keyOf(kind, name, key)) : -1;
}

// --- adding ----------------------------------------------------------------------------------------------

// Reserves room and takes a name; then `item` (a copy with that name) is pushed, which cannot fail.
#define ADD(scene, array, kind, def, item, error)                                                            \
	do {                                                                                                     \
		if (!KN_ARRAY_RESERVE(&(scene)->allocator, &(scene)->array, (scene)->array.count + 1)) {             \
			knError_Set(error, KN_NO_MEMORY, "scene", "out of memory");                                      \
			return -1;                                                                                       \
		}                                                                                                    \
		(item) = *(def);                                                                                     \
		(item).name = takeName(scene, kind, (def)->name, (scene)->array.count, error);                       \
		if ((item).name == NULL) {                                                                           \
			return -1;                                                                                       \
		}                                                                                                    \
		(scene)->array.items[(scene)->array.count++] = (item);                                               \
	} while (0)

int knScene_AddTendon(knScene* scene, const knTendonDef* def, knError* error) {
	knTendonDef item;
	if (checkTendon(scene, def, error) != KN_OK) {
		return -1;
	}
	const size_t size = (size_t)def->partCount * sizeof(knTendonPart);
	knTendonPart* parts = knAlloc(&scene->allocator, size);
	if (parts == NULL) {
		knError_Set(error, KN_NO_MEMORY, "scene", "out of memory");
		return -1;
	}
	memcpy(parts, def->parts, size);
	knTendonDef own = *def;
	own.parts = NULL;
	const int before = scene->tendons.count;
	if (!KN_ARRAY_RESERVE(&scene->allocator, &scene->tendons, before + 1) ||
		(item = own, (item.name = takeName(scene, "tendon", def->name, before, error)) == NULL)) {
		knFree(&scene->allocator, parts, size);
		return -1;
	}
	item.parts = parts;
	scene->tendons.items[scene->tendons.count++] = item;
	return before;
}

int knScene_AddCoupling(knScene* scene, const knCouplingDef* def, knError* error) {
	knCouplingDef item;
	if (checkCoupling(scene, def, error) != KN_OK) {
		return -1;
	}
	ADD(scene, couplings, "coupling", def, item, error);
	return scene->couplings.count - 1;
}

int knScene_AddActuator(knScene* scene, const knActuatorDef* def, knError* error) {
	knActuatorDef item;
	if (checkActuator(scene, def, error) != KN_OK) {
		return -1;
	}
	ADD(scene, actuators, "actuator", def, item, error);
	return scene->actuators.count - 1;
}

int knScene_AddProbe(knScene* scene, const knProbeDef* def, knError* error) {
	knProbeDef item;
	if (checkProbe(scene, def, error) != KN_OK) {
		return -1;
	}
	ADD(scene, probes, "probe", def, item, error);
	return scene->probes.count - 1;
}

// --- clone, free -----------------------------------------------------------------------------------------

bool knSceneControl_Clone(knScene* to, const knScene* from) {
	bool ok = true;
	for (int i = 0; ok && i < from->tendons.count; ++i) {
		ok = knScene_AddTendon(to, &from->tendons.items[i], NULL) >= 0;
	}
	for (int i = 0; ok && i < from->couplings.count; ++i) {
		ok = knScene_AddCoupling(to, &from->couplings.items[i], NULL) >= 0;
	}
	for (int i = 0; ok && i < from->actuators.count; ++i) {
		ok = knScene_AddActuator(to, &from->actuators.items[i], NULL) >= 0;
	}
	for (int i = 0; ok && i < from->probes.count; ++i) {
		ok = knScene_AddProbe(to, &from->probes.items[i], NULL) >= 0;
	}
	return ok;
}

static void freeTendon(knScene* scene, knTendonDef* tendon) {
	knFree(&scene->allocator, (void*)tendon->parts, (size_t)tendon->partCount * sizeof(knTendonPart));
	dropName(scene, 't', tendon->name);
}

void knSceneControl_Free(knScene* scene) {
	for (int i = 0; i < scene->tendons.count; ++i) {
		freeTendon(scene, &scene->tendons.items[i]);
	}
	for (int i = 0; i < scene->couplings.count; ++i) {
		dropName(scene, 'c', scene->couplings.items[i].name);
	}
	for (int i = 0; i < scene->actuators.count; ++i) {
		dropName(scene, 'a', scene->actuators.items[i].name);
	}
	for (int i = 0; i < scene->probes.count; ++i) {
		dropName(scene, 'p', scene->probes.items[i].name);
	}
	KN_ARRAY_FREE(&scene->allocator, &scene->tendons);
	KN_ARRAY_FREE(&scene->allocator, &scene->couplings);
	KN_ARRAY_FREE(&scene->allocator, &scene->actuators);
	KN_ARRAY_FREE(&scene->allocator, &scene->probes);
}

// --- dropping --------------------------------------------------------------------------------------------

// The name's new index; it exists, so this takes no memory.
static void renumber(knScene* scene, char kind, const char* name, int index) {
	char key[256];
	(void)knNameTable_Set(&scene->controlNames, keyOf(kind, name, key), index);
}

// What tendon or actuator `gone` leaves behind: references to it become -1 (which no check accepts), later ones close up.
static void closeUp(int* reference, int gone) {
	*reference = *reference == gone ? -1 : (*reference > gone ? *reference - 1 : *reference);
}

static void dropTendon(knScene* scene, int gone) {
	freeTendon(scene, &scene->tendons.items[gone]);
	scene->tendons.count -= 1;
	for (int i = gone; i < scene->tendons.count; ++i) {
		scene->tendons.items[i] = scene->tendons.items[i + 1];
		renumber(scene, 't', scene->tendons.items[i].name, i);
	}
	for (int i = 0; i < scene->actuators.count; ++i) {
		if (scene->actuators.items[i].driven == KN_DRIVEN_TENDON) {
			closeUp(&scene->actuators.items[i].tendon, gone);
		}
	}
	for (int i = 0; i < scene->probes.count; ++i) {
		const knProbeKind kind = scene->probes.items[i].kind;
		if (kind == KN_PROBE_TENDON_POSITION || kind == KN_PROBE_TENDON_VELOCITY) {
			closeUp(&scene->probes.items[i].index, gone);
		}
	}
}

static void dropActuator(knScene* scene, int gone) {
	dropName(scene, 'a', scene->actuators.items[gone].name);
	scene->actuators.count -= 1;
	for (int i = gone; i < scene->actuators.count; ++i) {
		scene->actuators.items[i] = scene->actuators.items[i + 1];
		renumber(scene, 'a', scene->actuators.items[i].name, i);
	}
	for (int i = 0; i < scene->probes.count; ++i) {
		const knProbeKind kind = scene->probes.items[i].kind;
		if (kind >= KN_PROBE_ACTUATOR_POSITION && kind <= KN_PROBE_ACTUATOR_FORCE) {
			closeUp(&scene->probes.items[i].index, gone);
		}
	}
}

void knSceneControl_Drop(knScene* scene) {
	for (int i = scene->tendons.count - 1; i >= 0; --i) {
		if (checkTendon(scene, &scene->tendons.items[i], NULL) != KN_OK) {
			dropTendon(scene, i);
		}
	}
	for (int i = scene->actuators.count - 1; i >= 0; --i) {
		if (checkActuator(scene, &scene->actuators.items[i], NULL) != KN_OK) {
			dropActuator(scene, i);
		}
	}
	int kept = 0;
	for (int i = 0; i < scene->couplings.count; ++i) {
		const knCouplingDef coupling = scene->couplings.items[i];
		if (checkCoupling(scene, &coupling, NULL) == KN_OK) {
			renumber(scene, 'c', coupling.name, kept);
			scene->couplings.items[kept++] = coupling;
		} else {
			dropName(scene, 'c', coupling.name);
		}
	}
	scene->couplings.count = kept;
	kept = 0;
	for (int i = 0; i < scene->probes.count; ++i) {
		const knProbeDef probe = scene->probes.items[i];
		if (checkProbe(scene, &probe, NULL) == KN_OK) {
			renumber(scene, 'p', probe.name, kept);
			scene->probes.items[kept++] = probe;
		} else {
			dropName(scene, 'p', probe.name);
		}
	}
	scene->probes.count = kept;
}

// --- reading ---------------------------------------------------------------------------------------------

int knScene_TendonCount(const knScene* scene) {
	return scene->tendons.count;
}

int knScene_CouplingCount(const knScene* scene) {
	return scene->couplings.count;
}

int knScene_ActuatorCount(const knScene* scene) {
	return scene->actuators.count;
}

int knScene_ProbeCount(const knScene* scene) {
	return scene->probes.count;
}

const knTendonDef* knScene_GetTendon(const knScene* scene, int index) {
	return index >= 0 && index < scene->tendons.count ? &scene->tendons.items[index] : NULL;
}

const knCouplingDef* knScene_GetCoupling(const knScene* scene, int index) {
	return index >= 0 && index < scene->couplings.count ? &scene->couplings.items[index] : NULL;
}

const knActuatorDef* knScene_GetActuator(const knScene* scene, int index) {
	return index >= 0 && index < scene->actuators.count ? &scene->actuators.items[index] : NULL;
}

const knProbeDef* knScene_GetProbe(const knScene* scene, int index) {
	return index >= 0 && index < scene->probes.count ? &scene->probes.items[index] : NULL;
}

int knScene_FindTendon(const knScene* scene, const char* name) {
	return findName(scene, 't', name);
}

int knScene_FindCoupling(const knScene* scene, const char* name) {
	return findName(scene, 'c', name);
}

int knScene_FindActuator(const knScene* scene, const char* name) {
	return findName(scene, 'a', name);
}

int knScene_FindProbe(const knScene* scene, const char* name) {
	return findName(scene, 'p', name);
}
