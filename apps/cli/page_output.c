// The replay page of a run (page_output.h).
#include "page_output.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#ifdef KN_HAVE_IO

enum {
	CURVE_KINETIC,
	CURVE_POTENTIAL,
	CURVE_TOTAL,
	CURVE_JOINT,
	CURVE_PENETRATION,
	CURVE_CONTACTS,
	CURVE_DISPLACEMENT,
	CURVE_COUNT
};

typedef struct Curve {
	const char *plot, *name, *unit;
} Curve;

static const Curve curves[CURVE_COUNT] = {
	[CURVE_KINETIC] = { "energy", "kinetic", "J" },
	[CURVE_POTENTIAL] = { "energy", "potential", "J" },
	[CURVE_TOTAL] = { "energy", "total", "J" },
	[CURVE_JOINT] = { "joint error", "worst", "m" },
	[CURVE_PENETRATION] = { "penetration", "deepest", "m" },
	[CURVE_CONTACTS] = { "contacts", "count", "" },
	[CURVE_DISPLACEMENT] = { "displacement", "largest", "m" },
};

struct cliPage {
	knAllocator allocator;
	knPage* page;
	int series[CURVE_COUNT]; // -1: not plotted
};

static bool isPlotted(int curve, knWorld* world) {
	return curve != CURVE_JOINT || knModel_JointCount(knWorld_Model(world)) > 0;
}

static bool addCurves(cliPage* page, knWorld* world, knError* error) {
	for (int k = 0; k < CURVE_COUNT; ++k) {
		const Curve* curve = &curves[k];
		page->series[k] = -1;
		if (!isPlotted(k, world)) {
			continue;
		}
		page->series[k] = knPage_AddSeries(page->page, curve->plot, curve->name, curve->unit, error);
		if (page->series[k] < 0) {
			return false;
		}
	}
	return true;
}

cliPage* cliPage_Open(const char* path, const cliScene* scene, knWorld* world, knError* error) {
	knAllocator allocator = knAllocator_Default();
	cliPage* page = knAllocZero(&allocator, sizeof(cliPage));
	if (page == NULL) {
		knError_Set(error, KN_NO_MEMORY, path, "out of memory");
		return NULL;
	}
	knPageDef def = knPageDef_Default();
	def.title = scene->entry != NULL ? scene->entry->name : NULL;
	page->allocator = allocator;
	page->page = knPage_Open(path, world, &def, error);
	if (page->page == NULL || !addCurves(page, world, error)) {
		cliPage_Abandon(page);
		return NULL;
	}
	return page;
}

knStatus cliPage_Write(cliPage* page, knWorld* world, knError* error) {
	return knPage_Write(page->page, world, error);
}

static knStatus sample(cliPage* page, int curve, double time, double value, knError* error) {
	return page->series[curve] < 0 ? KN_OK
								   : knPage_AddSample(page->page, page->series[curve], time, value, error);
}

knStatus cliPage_Plot(cliPage* page, knWorld* world, const cliMeasures* measures, unsigned what,
					  knError* error) {
	const knMeasures* now = &measures->latest;
	double time = knWorld_Time(world);
	bool state = (what & CLI_PLOT_STATE) != 0, stepped = state && measures->steps > 0;
	knStatus status = KN_OK;
	const struct {
		int curve;
		bool known;
		double value;
	} values[] = {
		{ CURVE_KINETIC, state, now->kinetic },
		{ CURVE_POTENTIAL, state, now->potential },
		{ CURVE_TOTAL, state, now->kinetic + now->potential },
		{ CURVE_JOINT, state, now->jointError },
		{ CURVE_DISPLACEMENT, state, now->displacement },
		{ CURVE_CONTACTS, stepped, (double)knWorld_Report(world)->contacts },
		{ CURVE_PENETRATION, (what & CLI_PLOT_PENETRATION) != 0, measures->penetrationFinal },
	};
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]) && status == KN_OK; ++i) {
		if (values[i].known) {
			status = sample(page, values[i].curve, time, values[i].value, error);
		}
	}
	return status;
}

KN_PRINTF(3, 4) static void fact(cliPage* page, const char* label, const char* format, ...) {
	char value[256];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(value, sizeof(value), format, arguments);
	va_end(arguments);
	// a panel with a line less is no reason to lose the page
	(void)knPage_AddFact(page->page, label, value, NULL);
}

static void addFacts(cliPage* page, const cliScene* scene, knWorld* world, const cliMeasures* measures) {
	const knModel* model = knWorld_Model(world);
	fact(page, "stepper", "%s", knWorld_StepperName(world));
	fact(page, "time step", "%g s", scene->dt);
	fact(page, "steps", "%lld", (long long)measures->steps);
	fact(page, "bodies", "%d", knModel_BodyCount(model));
	fact(page, "joints", "%d", knModel_JointCount(model));
	fact(page, "contacts, most", "%d", measures->contactsMax);
	if (knModel_JointCount(model) > 0) {
		fact(page, "joint error, worst", "%.3g m", measures->jointErrorMax);
	}
	fact(page, "penetration, deepest", "%.3g m", measures->penetrationMax);
	fact(page, "energy at the start", "%.6g J", measures->energyInitial);
	fact(page, "energy at the end", "%.6g J", measures->energyFinal);
	fact(page, "energy gained, most", "%.3g J", measures->gainMax);
	const knSceneParam* params = scene->entry != NULL ? scene->entry->params : NULL;
	for (int i = 0; params != NULL && i < KN_SCENE_MAX_PARAMS && params[i].name != NULL; ++i) {
		fact(page, params[i].name, "%g", knSceneArgs_Get(&scene->args, params[i].name));
	}
	for (int i = 0; i < measures->checks.count; ++i) {
		fact(page, measures->checks.names[i], "%g", measures->checks.values[i]);
	}
	fact(page, "state hash", "%016" PRIx64, measures->hash);
}

knStatus cliPage_Close(cliPage* page, const cliScene* scene, knWorld* world, const cliMeasures* measures,
					   knError* error) {
	knAllocator allocator = page->allocator;
	addFacts(page, scene, world, measures);
	knStatus status = knPage_Close(page->page, error);
	knFree(&allocator, page, sizeof(cliPage));
	return status;
}

void cliPage_Abandon(cliPage* page) {
	if (page != NULL) {
		knAllocator allocator = page->allocator;
		knPage_Abandon(page->page);
		knFree(&allocator, page, sizeof(cliPage));
	}
}

#else

cliPage* cliPage_Open(const char* path, const cliScene* scene, knWorld* world, knError* error) {
	(void)scene, (void)world;
	knError_Set(error, KN_UNSUPPORTED, path, "this build has no libknuckle_io, which writes replay pages");
	return NULL;
}

knStatus cliPage_Write(cliPage* page, knWorld* world, knError* error) {
	(void)page, (void)world, (void)error;
	return KN_UNSUPPORTED;
}

knStatus cliPage_Plot(cliPage* page, knWorld* world, const cliMeasures* measures, unsigned what,
					  knError* error) {
	(void)page, (void)world, (void)measures, (void)what, (void)error;
	return KN_UNSUPPORTED;
}

knStatus cliPage_Close(cliPage* page, const cliScene* scene, knWorld* world, const cliMeasures* measures,
					   knError* error) {
	(void)page, (void)scene, (void)world, (void)measures, (void)error;
	return KN_UNSUPPORTED;
}

void cliPage_Abandon(cliPage* page) {
	(void)page;
}

#endif
