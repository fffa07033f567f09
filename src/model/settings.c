// Stepper settings by name: one table drives parsing, --help and messages.
#include <stdio.h>
#include <string.h>

#include "core/text.h"
#include "knuckle/stepper.h"

typedef enum knSettingKind { SETTING_CHOICE, SETTING_INTEGER, SETTING_NUMBER } knSettingKind;

typedef struct knSetting {
	const char* name;
	const char* help;
	knSettingKind kind;
	size_t offset;          // in knSettings
	const char* choices[5]; // the value is the index; NULL ends the list
	double lower, upper;    // integers and numbers
} knSetting;

#define FIELD(member) offsetof(knSettings, member)
#define LARGE 1e300

static const knSetting settingTable[] = {
	{ "scheme",
	  "default | paper: what serves users best, or the published form",
	  SETTING_CHOICE,
	  FIELD(scheme),
	  { "default", "paper" },
	  0.0,
	  0.0 },
	{ "shock",
	  "0 | 1: shock propagation; 2: joints take part in it (impulse, scheme=paper)",
	  SETTING_CHOICE,
	  FIELD(shock),
	  { "0", "1", "2" },
	  0.0,
	  0.0 },
	{ "sweeps", "N: solver sweeps per step", SETTING_INTEGER, FIELD(sweeps), { NULL }, 1.0, 100000.0 },
	{ "articulation",
	  "direct | sweep: impulse, all joints at once or in sweeps",
	  SETTING_CHOICE,
	  FIELD(articulation),
	  { "direct", "sweep" },
	  0.0,
	  0.0 },
	{ "prestabilize",
	  "0 | 1: impulse, joints kept closed before bodies move, or their velocities corrected only",
	  SETTING_CHOICE,
	  FIELD(prestabilize),
	  { "0", "1" },
	  0.0,
	  0.0 },
	{ "newton",
	  "golden | damped: impulse scheme=paper, Newton's step searched along, or shortened by the share",
	  SETTING_CHOICE,
	  FIELD(newton),
	  { "golden", "damped" },
	  0.0,
	  0.0 },
	{ "angular",
	  "normal | square: impulse scheme=paper, orientation by 4 x 3 normal equations, or 3 x 3",
	  SETTING_CHOICE,
	  FIELD(angular),
	  { "normal", "square" },
	  0.0,
	  0.0 },
	{ "ramp",
	  "0 | 1: impulse scheme=paper, sweeps take all of a joint's error, or a growing share",
	  SETTING_CHOICE,
	  FIELD(ramp),
	  { "0", "1" },
	  0.0,
	  0.0 },
	{ "joint_sweeps",
	  "N: impulse scheme=paper, sweeps over joints alone after shock propagation",
	  SETTING_INTEGER,
	  FIELD(jointSweeps),
	  { NULL },
	  0.0,
	  100000.0 },
	{ "restore",
	  "0 | 1: impulse scheme=paper, the velocities of before those sweeps come back after the move",
	  SETTING_CHOICE,
	  FIELD(restore),
	  { "0", "1" },
	  0.0,
	  0.0 },
	{ "rolling",
	  "R: rolling friction of every shape, m",
	  SETTING_NUMBER,
	  FIELD(rolling),
	  { NULL },
	  0.0,
	  LARGE },
	{ "integrator",
	  "euler | rk4 | embedded | implicit: reduced",
	  SETTING_CHOICE,
	  FIELD(integrator),
	  { "euler", "rk4", "embedded", "implicit" },
	  0.0,
	  0.0 },
	{ "active", "N: adaptive, active joints", SETTING_INTEGER, FIELD(active), { NULL }, 0.0, 16777216.0 },
	{ "threshold",
	  "X: adaptive, activity below which a joint is frozen",
	  SETTING_NUMBER,
	  FIELD(threshold),
	  { NULL },
	  0.0,
	  LARGE },
	{ "budget", "MS: adaptive, milliseconds per step", SETTING_NUMBER, FIELD(budget), { NULL }, 0.0, LARGE },
	{ "update",
	  "K: adaptive, steps between updates of the active region",
	  SETTING_INTEGER,
	  FIELD(update),
	  { NULL },
	  1.0,
	  1000000.0 },
	{ "friction_model",
	  "cone | aligned | box: velocity, how friction is bounded",
	  SETTING_CHOICE,
	  FIELD(frictionModel),
	  { "cone", "aligned", "box" },
	  0.0,
	  0.0 },
	{ "solver",
	  "pgs | jacobi | conjugate: velocity, rows one after the other, all at once, or in conjugate directions",
	  SETTING_CHOICE,
	  FIELD(solver),
	  { "pgs", "jacobi", "conjugate" },
	  0.0,
	  0.0 },
	{ "relaxation",
	  "W: velocity, factor of every change of an impulse; 1 is plain",
	  SETTING_NUMBER,
	  FIELD(relaxation),
	  { NULL },
	  0.01,
	  2.0 },
	{ "mixing",
	  "G: velocity, constraint force mixing at the first sweep, falling to 0",
	  SETTING_NUMBER,
	  FIELD(mixing),
	  { NULL },
	  0.0,
	  LARGE },
	{ "warm_start",
	  "0 | 1: velocity, start from the impulses of the step before",
	  SETTING_CHOICE,
	  FIELD(warmStart),
	  { "0", "1" },
	  0.0,
	  0.0 },
	{ "queries",
	  "1 | 2: velocity, collision queries a step",
	  SETTING_INTEGER,
	  FIELD(queries),
	  { NULL },
	  1.0,
	  2.0 },
	{ "layer_sweeps",
	  "N: velocity, sweeps a layer of shock propagation",
	  SETTING_INTEGER,
	  FIELD(layerSweeps),
	  { NULL },
	  1.0,
	  100000.0 },
	{ "correction_sweeps",
	  "N: velocity, sweeps of each correction of overlaps and joint errors",
	  SETTING_INTEGER,
	  FIELD(correctionSweeps),
	  { NULL },
	  0.0,
	  100000.0 },
	{ "weighting",
	  "A: velocity scheme=paper, share of the step that the global dynamics takes",
	  SETTING_NUMBER,
	  FIELD(weighting),
	  { NULL },
	  0.0,
	  1.0 },
	{ "scaling",
	  "0 | 1: velocity, theta of plain or of scaled rows",
	  SETTING_CHOICE,
	  FIELD(scaling),
	  { "0", "1" },
	  0.0,
	  0.0 },
	{ "stop_theta",
	  "T: velocity, global sweeps end when theta is below",
	  SETTING_NUMBER,
	  FIELD(stopTheta),
	  { NULL },
	  0.0,
	  LARGE },
	{ "stop_stall",
	  "S: velocity, global sweeps end when theta fell by less than this share over five",
	  SETTING_NUMBER,
	  FIELD(stopStall),
	  { NULL },
	  0.0,
	  1.0 },
	{ "sleep",
	  "0 | 1: groups of bodies at rest sleep",
	  SETTING_CHOICE,
	  FIELD(sleep),
	  { "0", "1" },
	  0.0,
	  0.0 },
};

#define SETTING_COUNT ((int)(sizeof(settingTable) / sizeof(settingTable[0])))

// choices are stored through an int, also where the field is an enum
_Static_assert(sizeof(knScheme) == sizeof(int) && sizeof(knArticulation) == sizeof(int), "enums are ints");

knSettings knSettings_Default(void) {
	knSettings settings = {
		.scheme = KN_SCHEME_DEFAULT,
		.articulation = KN_ARTICULATION_AUTO,
		.sweeps = -1,
		.prestabilize = -1,
		.shock = -1,
		.newton = -1,
		.angular = -1,
		.ramp = -1,
		.jointSweeps = -1,
		.restore = -1,
		.sleep = 0,
		.rolling = -1.0,
		.active = -1,
		.threshold = -1.0,
		.budget = -1.0,
		.update = -1,
		.integrator = -1,
		.frictionModel = -1,
		.solver = -1,
		.warmStart = -1,
		.queries = -1,
		.layerSweeps = -1,
		.correctionSweeps = -1,
		.scaling = -1,
		.weighting = -1.0,
		.mixing = -1.0,
		.relaxation = -1.0,
		.stopTheta = -1.0,
		.stopStall = -1.0,
	};
	return settings;
}

static knStatus unknownSetting(const char* name, knError* error) {
	const char* names[SETTING_COUNT];
	for (int i = 0; i < SETTING_COUNT; ++i) {
		names[i] = settingTable[i].name;
	}
	const char* closest = knText_Closest(name, names, SETTING_COUNT);
	if (closest != NULL) {
		return knError_Set(error, KN_BAD_ARGUMENT, name, "there is no such setting; did you mean '%s'?",
						   closest);
	}
	return knError_Set(error, KN_BAD_ARGUMENT, name, "there is no such setting");
}

static knStatus setChoice(const knSetting* setting, void* field, const char* value, knError* error) {
	char list[96] = "";
	size_t used = 0;
	for (int i = 0; setting->choices[i] != NULL; ++i) {
		if (strcmp(setting->choices[i], value) == 0) {
			memcpy(field, &i, sizeof(int));
			return KN_OK;
		}
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i > 0 ? ", " : "",
								 setting->choices[i]);
	}
	return knError_Set(error, KN_BAD_DATA, setting->name, "'%.60s' is not one of: %s", value, list);
}

static knStatus setNumber(const knSetting* setting, void* field, const char* value, knError* error) {
	double number = 0.0;
	int integer = 0;
	bool whole = setting->kind == SETTING_INTEGER;
	bool parsed = whole ? knText_ParseInt(value, &integer) : knText_ParseDouble(value, &number);
	if (!parsed) {
		return knError_Set(error, KN_BAD_DATA, setting->name, "'%.60s' is not a%s number", value,
						   whole ? " whole" : "");
	}
	number = whole ? integer : number;
	if (number < setting->lower || number > setting->upper) {
		return setting->upper < LARGE
				   ? knError_Set(error, KN_BAD_DATA, setting->name, "%g is not between %.10g and %.10g",
								 number, setting->lower, setting->upper)
				   : knError_Set(error, KN_BAD_DATA, setting->name, "%g is too small; the least is %g",
								 number, setting->lower);
	}
	if (whole) {
		memcpy(field, &integer, sizeof(int));
	} else {
		memcpy(field, &number, sizeof(double));
	}
	return KN_OK;
}

knStatus knSettings_Set(knSettings* settings, const char* name, const char* value, knError* error) {
	if (settings == NULL || name == NULL || value == NULL) {
		return knError_Set(error, KN_BAD_ARGUMENT, "settings", "a name and a value are needed");
	}
	for (int i = 0; i < SETTING_COUNT; ++i) {
		const knSetting* setting = &settingTable[i];
		if (strcmp(setting->name, name) == 0) {
			void* field = (char*)settings + setting->offset;
			return setting->kind == SETTING_CHOICE ? setChoice(setting, field, value, error)
												   : setNumber(setting, field, value, error);
		}
	}
	return unknownSetting(name, error);
}

const char* knSettings_Name(int index) {
	return index >= 0 && index < SETTING_COUNT ? settingTable[index].name : NULL;
}

const char* knSettings_Help(int index) {
	return index >= 0 && index < SETTING_COUNT ? settingTable[index].help : NULL;
}
