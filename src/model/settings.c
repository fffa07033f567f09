// Stepper settings by name: one table drives defaults, parsing, printing, --help, messages, and who reads what. A new
// setting is a field in knSettings and a row here.
#include <stdio.h>
#include <string.h>

#include "core/assert.h"
#include "core/text.h"
#include "knuckle/stepper.h"

typedef enum knSettingKind { SETTING_CHOICE, SETTING_INTEGER, SETTING_NUMBER } knSettingKind;

typedef struct knSetting {
	const char* name;
	const char*
		readers; // "stepper stepper:scheme ...", a stepper alone: under each scheme; NULL: every stepper
	const char* help;
	knSettingKind kind;
	size_t offset;          // in knSettings
	const char* choices[5]; // the value is the index; NULL ends the list
	double lower, upper;    // integers and numbers
	bool firstChoice;       // the default is choices[0], not the stepper's own choice
} knSetting;

#define LARGE 1e300
#define ROW(label, by, member, what, text)                                                                   \
	.name = (label), .readers = (by), .help = (text), .kind = (what), .offset = offsetof(knSettings, member)
#define CHOICE(label, by, member, text, ...)                                                                 \
	{                                                                                                        \
		ROW(label, by, member, SETTING_CHOICE, text), .choices = { __VA_ARGS__ }                             \
	}
#define FIRST(label, by, member, text, ...)                                                                  \
	{ ROW(label, by, member, SETTING_CHOICE, text), .choices = { __VA_ARGS__ }, .firstChoice = true }
#define WHOLE(label, by, member, least, most, text)                                                          \
	{ ROW(label, by, member, SETTING_INTEGER, text), .lower = (least), .upper = (most) }
#define NUMBER(label, by, member, least, most, text)                                                         \
	{ ROW(label, by, member, SETTING_NUMBER, text), .lower = (least), .upper = (most) }

static const knSetting settingTable[] = {
	// several steppers
	FIRST("scheme", "velocity impulse reduced adaptive", scheme,
		  "default | paper: what serves users best, or the published form", "default", "paper"),
	CHOICE("shock", "velocity impulse", shock,
		   "0 | 1: shock propagation; 2: joints take part in it (impulse, scheme=paper)", "0", "1", "2"),
	WHOLE("sweeps", "velocity impulse", sweeps, 1.0, 100000.0, "N: solver sweeps per step"),
	CHOICE("articulation", "velocity:default impulse:default", articulation,
		   "direct | sweep: all joints at once, at the end of the step, or in sweeps", "direct", "sweep"),
	NUMBER("rolling", "velocity impulse", rolling, 0.0, LARGE, "R: rolling friction of every shape, m"),
	FIRST("sleep", NULL, sleep, "0 | 1: groups of bodies at rest sleep", "0", "1"),

	// impulse
	CHOICE(
		"prestabilize", "impulse:paper", impulse.prestabilize,
		"0 | 1: impulse scheme=paper, joints' velocities corrected only, or joints closed before bodies move",
		"0", "1"),
	CHOICE("newton", "impulse:paper", impulse.newton,
		   "golden | damped: impulse scheme=paper, Newton's step searched along, or shortened by the share",
		   "golden", "damped"),
	CHOICE("angular", "impulse:paper", impulse.angular,
		   "normal | square: impulse scheme=paper, orientation by 4 x 3 normal equations, or 3 x 3", "normal",
		   "square"),
	CHOICE("ramp", "impulse:paper", impulse.ramp,
		   "0 | 1: impulse scheme=paper, sweeps take all of a joint's error, or a growing share", "0", "1"),
	WHOLE("joint_sweeps", "impulse:paper", impulse.jointSweeps, 0.0, 100000.0,
		  "N: impulse scheme=paper, sweeps over joints alone after shock propagation"),
	CHOICE("restore", "impulse:paper", impulse.restore,
		   "0 | 1: impulse scheme=paper, the velocities of before those sweeps come back after the move", "0",
		   "1"),

	// velocity
	CHOICE("friction_model", "velocity", velocity.frictionModel,
		   "cone | aligned | box: velocity, how friction is bounded", "cone", "aligned", "box"),
	CHOICE("warm_start", "velocity", velocity.warmStart,
		   "0 | 1: velocity, start from the impulses of the step before", "0", "1"),
	WHOLE("queries", "velocity", velocity.queries, 1.0, 2.0, "1 | 2: velocity, collision queries a step"),
	WHOLE("layer_sweeps", "velocity", velocity.layerSweeps, 1.0, 100000.0,
		  "N: velocity, sweeps a layer of shock propagation"),
	WHOLE("correction_sweeps", "velocity", velocity.correctionSweeps, 0.0, 100000.0,
		  "N: velocity, sweeps of each correction of overlaps and joint errors"),
	NUMBER("weighting", "velocity:paper", velocity.weighting, 0.0, 1.0,
		   "A: velocity scheme=paper, share of the step that the global dynamics takes"),

	// studies of convergence
	CHOICE("solver", "velocity", study.solver,
		   "pgs | jacobi | conjugate: velocity, rows one after the other, all at once, or in conjugate "
		   "directions",
		   "pgs", "jacobi", "conjugate"),
	NUMBER("relaxation", "velocity", study.relaxation, 0.01, 2.0,
		   "W: velocity, factor of every change of an impulse; 1 is plain"),
	NUMBER("mixing", "velocity", study.mixing, 0.0, LARGE,
		   "G: velocity, constraint force mixing at the first sweep, falling to 0"),
	CHOICE("scaling", "velocity", study.scaling, "0 | 1: velocity, theta of plain or of scaled rows", "0",
		   "1"),
	NUMBER("stop_theta", "velocity", study.stopTheta, 0.0, LARGE,
		   "T: velocity, global sweeps end when theta is below"),
	NUMBER("stop_stall", "velocity", study.stopStall, 0.0, 1.0,
		   "S: velocity, global sweeps end when theta fell by less than this share over five"),

	// reduced
	CHOICE("integrator", "reduced adaptive:paper", reduced.integrator,
		   "euler | rk4 | embedded | implicit: reduced, adaptive scheme=paper; that scheme has no implicit",
		   "euler", "rk4", "embedded", "implicit"),
	NUMBER("tolerance", "reduced adaptive:paper", reduced.tolerance, 1e-14, 1.0,
		   "T: reduced, adaptive integrator=embedded, error of a part of the step, rad and m"),
	CHOICE("lcp", "reduced:paper adaptive:paper", reduced.lcp,
		   "dantzig | lemke | iterative: reduced, adaptive scheme=paper, forces of contacts and limits",
		   "dantzig", "lemke", "iterative"),
	CHOICE("impact", "reduced:paper adaptive:paper", reduced.impact,
		   "algebraic | integrated: reduced, adaptive scheme=paper, sticks or slips, or followed through the "
		   "hit",
		   "algebraic", "integrated"),
	CHOICE("contact", "reduced:paper adaptive:paper", reduced.contact,
		   "constraint | penalty: reduced, adaptive scheme=paper, contacts hold, or are springs",
		   "constraint", "penalty"),
	NUMBER("stiffness", "reduced:paper adaptive:paper", reduced.stiffness, 0.0, LARGE,
		   "K: reduced, adaptive scheme=paper contact=penalty, N/m; 0: what the step can follow"),
	NUMBER("contact_gap", "reduced:paper adaptive:paper", reduced.contactGap, 1e-9, LARGE,
		   "G: reduced, adaptive scheme=paper, m, gap below which bodies touch"),
	NUMBER("contact_speed", "reduced:paper adaptive:paper", reduced.contactSpeed, 0.0, LARGE,
		   "V: reduced, adaptive scheme=paper, m/s, approach below which a contact rests"),
	NUMBER("bounce_speed", "reduced:paper adaptive:paper", reduced.bounceSpeed, 0.0, LARGE,
		   "V: reduced, adaptive scheme=paper, m/s, approach beyond which it bounces"),

	// adaptive
	WHOLE("active", "adaptive", adaptive.active, 0.0, 16777216.0, "N: adaptive, active joints"),
	NUMBER("threshold", "adaptive", adaptive.threshold, 0.0, LARGE,
		   "X: adaptive, activity below which a joint is frozen"),
	NUMBER("budget", "adaptive", adaptive.budget, 0.0, LARGE, "MS: adaptive, milliseconds per step"),
	WHOLE("update", "adaptive", adaptive.update, 1.0, 1000000.0,
		  "K: adaptive, steps between updates of the active region"),
};

#define SETTING_COUNT ((int)(sizeof(settingTable) / sizeof(settingTable[0])))

// choices are stored through an int, also where the field is an enum
_Static_assert(sizeof(knScheme) == sizeof(int) && sizeof(knArticulation) == sizeof(int), "enums are ints");

// --- values ------------------------------------------------------------------------------------------------------

knSettings knSettings_Default(void) {
	knSettings settings;
	memset(&settings, 0, sizeof(settings)); // padding too: settings are compared as bytes
	for (int i = 0; i < SETTING_COUNT; ++i) {
		const knSetting* setting = &settingTable[i];
		const int own = setting->firstChoice ? 0 : -1;
		const double ownNumber = -1.0;
		const bool number = setting->kind == SETTING_NUMBER;
		memcpy((char*)&settings + setting->offset, number ? (const void*)&ownNumber : (const void*)&own,
			   number ? sizeof(ownNumber) : sizeof(own));
	}
	return settings;
}

static const knSetting* findSetting(const char* name) {
	for (int i = 0; i < SETTING_COUNT; ++i) {
		if (strcmp(settingTable[i].name, name) == 0) {
			return &settingTable[i];
		}
	}
	return NULL;
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
	const knSetting* setting = findSetting(name);
	if (setting == NULL) {
		return unknownSetting(name, error);
	}
	void* field = (char*)settings + setting->offset;
	return setting->kind == SETTING_CHOICE ? setChoice(setting, field, value, error)
										   : setNumber(setting, field, value, error);
}

bool knSettings_Get(const knSettings* settings, int index, char* text, size_t capacity) {
	KN_ASSERT(index >= 0 && index < SETTING_COUNT);
	const knSetting* setting = &settingTable[index];
	const knSettings standard = knSettings_Default();
	const char* field = (const char*)settings + setting->offset;
	const size_t size = setting->kind == SETTING_NUMBER ? sizeof(double) : sizeof(int);
	char value[32] = "";
	bool isSet = memcmp(field, (const char*)&standard + setting->offset, size) != 0;
	if (isSet && setting->kind == SETTING_NUMBER) {
		double number;
		memcpy(&number, field, sizeof(number));
		knText_FormatDouble(number, value, sizeof(value));
	} else if (isSet) {
		int whole, choices = 0;
		memcpy(&whole, field, sizeof(whole));
		while (setting->choices[choices] != NULL) {
			choices += 1;
		}
		if (whole >= 0 && whole < choices) {
			snprintf(value, sizeof(value), "%s", setting->choices[whole]);
		} else {
			snprintf(value, sizeof(value), "%d", whole);
		}
	}
	snprintf(text, capacity, "%s", value);
	return isSet;
}

// --- who reads it ------------------------------------------------------------------------------------------------

static const char* const schemeNames[] = { "default", "paper" };

// One word of a list of readers.
typedef struct Reader {
	char stepper[32];
	const char* scheme; // into the list, NULL: any
	int schemeLength;
} Reader;

// Takes the next word off the list; false at its end.
static bool nextReader(const char** list, Reader* reader) {
	const char* word = *list + strspn(*list, " ");
	const int length = (int)strcspn(word, " "), name = (int)strcspn(word, ": ");
	*list = word + length;
	snprintf(reader->stepper, sizeof(reader->stepper), "%.*s", name, word);
	reader->scheme = name < length ? word + name + 1 : NULL;
	reader->schemeLength = length - name - 1;
	return length > 0;
}

static bool fits(const Reader* reader, const char* stepper, knScheme scheme) {
	const char* name = schemeNames[scheme];
	return strcmp(reader->stepper, stepper) == 0 &&
		   (reader->scheme == NULL ||
			((int)strlen(name) == reader->schemeLength && strncmp(reader->scheme, name, strlen(name)) == 0));
}

// "velocity with scheme=default and impulse"
static void listReaders(const char* list, char* text, size_t capacity) {
	Reader reader;
	size_t used = 0;
	text[0] = '\0';
	while (nextReader(&list, &reader) && used < capacity) {
		used +=
			(size_t)snprintf(text + used, capacity - used, "%s%s", used > 0 ? " and " : "", reader.stepper);
		if (reader.scheme != NULL && used < capacity) {
			used += (size_t)snprintf(text + used, capacity - used, " with scheme=%.*s", reader.schemeLength,
									 reader.scheme);
		}
	}
}

knStatus knSettings_CheckRead(const char* name, const char* stepper, knScheme scheme, knError* error) {
	const knSetting* setting = findSetting(name);
	if (setting == NULL) {
		return unknownSetting(name, error);
	}
	if (setting->readers == NULL) {
		return KN_OK;
	}
	bool otherScheme = false;
	Reader reader;
	for (const char* list = setting->readers; nextReader(&list, &reader);) {
		if (fits(&reader, stepper, scheme)) {
			return KN_OK;
		}
		otherScheme = otherScheme || strcmp(reader.stepper, stepper) == 0;
	}
	char who[160];
	listReaders(setting->readers, who, sizeof(who));
	return knError_Set(error, KN_UNSUPPORTED, name, "%s%s%s does not read it; it is a setting of %s", stepper,
					   otherScheme ? " with scheme=" : "", otherScheme ? schemeNames[scheme] : "", who);
}

// --- names -------------------------------------------------------------------------------------------------------

const char* knSettings_Name(int index) {
	return index >= 0 && index < SETTING_COUNT ? settingTable[index].name : NULL;
}

const char* knSettings_Help(int index) {
	return index >= 0 && index < SETTING_COUNT ? settingTable[index].help : NULL;
}
