// Facts about motion that every stepper must show: one table of facts a program, over the table of steppers.
//
// A fact builds its scene, steps it with default settings and returns one figure that must not exceed its bar; figures come
// from poses and velocities alone. What a stepper cannot express is refused by its own check, and the fact is skipped,
// visibly. A fact that a stepper does not show yet stands in the program's table of misses with its figure: the test fails
// once it holds (the row then goes away) and when it gets more than twice worse (unless the motion is chaotic).
//
// facts_*.c run the quick facts; long_facts_*.c include them and run the slow ones instead, with two threads (that results
// do not depend on the number of threads is compared elsewhere, bit by bit).
//
//   steppers_facts_lose                       judges all
//   steppers_facts_lose '*spring*'            judges some
//   steppers_facts_lose --figures '*spring*'  prints the figures and judges nothing
#pragma once

#include "catalogue.h"
#include "world/fixture.h"

#include <time.h>

// What a fact gets: the stepper, and the numbers of its row.
typedef struct Trial {
	const char* stepper;
	double dt;   // s
	double a, b; // the fact's own
	int threads;
	knTaskPool* pool; // with more than one thread
} Trial;

typedef struct Fact {
	const char* name; // unique in its program
	double (*measure)(const Trial* trial);
	double dt, a, b;
	double bar;
	bool slow; // in the long program (long_facts_*.c) instead
} Fact;

typedef struct Miss {
	const char* fact;
	const char* stepper;
	double figure;
	bool chaotic; // no bound on how bad it may get
} Miss;

// What a run that ended early is worth.
#define DIVERGES HUGE_VAL

// One row for each of the usual time steps, the finest slow; the bar is the same.
#define AT_USUAL_STEPS(name, measure, a, b, bar)                                                             \
	{ name ", dt 1/60", measure, 1.0 / 60.0, a, b, bar, false },                                             \
		{ name ", dt 0.01", measure, 0.01, a, b, bar, false }, {                                             \
		name ", dt 0.005", measure, 0.005, a, b, bar, true                                                   \
	}
// Likewise, of which only the coarsest is not.
#define AT_USUAL_STEPS_SLOW(name, measure, a, b, bar)                                                        \
	{ name ", dt 1/60", measure, 1.0 / 60.0, a, b, bar, false },                                             \
		{ name ", dt 0.01", measure, 0.01, a, b, bar, true }, {                                              \
		name ", dt 0.005", measure, 0.005, a, b, bar, true                                                   \
	}

// --- worlds -------------------------------------------------------------------------------------------------------

// A world of the scene, which is then gone, under the trial's stepper.
static inline knWorld* factWorld(const Trial* trial, knScene* scene) {
	knError error = { 0 };
	knModel* model = knModel_Create(scene, &error);
	if (model == NULL) {
		failWith(&error);
	}
	knScene_Destroy(scene);
	knWorldDef def = knWorldDef_Default();
	def.stepper = trial->stepper;
	if (trial->pool != NULL) {
		def.tasks = knTaskPool_Tasks(trial->pool);
	}
	knWorld* world = knWorld_Create(model, &def, &error);
	knModel_Release(model);
	if (world == NULL && error.status == KN_UNSUPPORTED) {
		print_message("  cannot be expressed: %s\n", error.message);
		skip();
	}
	if (world == NULL) {
		failWith(&error);
	}
	return world;
}

// A scene of the catalogue; `sets` is a list of name, value, ..., NULL. Friction below zero: the scene's.
typedef struct Staged {
	knSceneArgs args;
	knWorld* world;
} Staged;

static inline Staged stageWith(const Trial* trial, const char* name, const char* const* sets,
							   double friction) {
	Staged staged;
	knError error = { 0 };
	const knSceneEntry* entry = knCatalogue_Find(name, &error);
	assert_non_null(entry);
	staged.args = knSceneArgs_Default(entry);
	for (int i = 0; sets[i] != NULL; i += 2) {
		assert_ok(knSceneArgs_Set(&staged.args, sets[i], sets[i + 1], &error));
	}
	knScene* scene = knSceneArgs_Build(&staged.args, &error);
	if (scene == NULL) {
		failWith(&error);
	}
	knScene_Def(scene)->dt = trial->dt; // scripts are told the step by the scene
	for (int i = 0; i < knScene_ShapeSlots(scene) && friction >= 0.0; ++i) {
		knScene_EditShape(scene, knScene_ShapeAt(scene, i))->friction = friction;
	}
	staged.world = factWorld(trial, scene);
	return staged;
}

#define STAGE(trial, name, friction, ...)                                                                    \
	stageWith((trial), (name), (const char* const[]){ __VA_ARGS__, NULL }, (friction))
#define STAGE_PLAIN(trial, name) stageWith((trial), (name), (const char* const[]){ NULL }, -1.0)

// False when the run has ended: the figure is then DIVERGES.
static inline bool factStep(knWorld* world, double dt) {
	knError error = { 0 };
	knStatus status = knWorld_Step(world, dt, &error);
	if (status != KN_OK && status != KN_DIVERGED) {
		failWith(&error);
	}
	return status == KN_OK;
}

// One step with the scene's script before it.
static inline bool stagedStep(Staged* staged, double dt) {
	if (staged->args.entry->script != NULL) {
		staged->args.entry->script(staged->world, &staged->args);
	}
	return factStep(staged->world, dt);
}

static inline int stepsOf(double time, double dt) {
	return (int)(time / dt + 0.5);
}

// --- figures ------------------------------------------------------------------------------------------------------

static inline double totalEnergy(knWorld* world) {
	knMeasures now = knWorld_Measure(world);
	return now.kinetic + now.potential;
}

// How far the fastest dynamic body is from "at rest", 1e-3 m/s and 1e-2 rad/s: 1 or less is rest.
static inline double unrest(const knWorld* world) {
	const knModel* model = knWorld_Model(world);
	double worst = 0.0;
	for (int i = 0; i < knModel_BodyCount(model); ++i) {
		knBodyId body = knModel_BodyAt(model, i);
		if (knScene_GetBody(knModel_Scene(model), body)->kind == KN_BODY_DYNAMIC) {
			worst = knMax(worst, knLength(knWorld_BodyVelocity(world, body)) / 1e-3);
			worst = knMax(worst, knLength(knWorld_BodyAngularVelocity(world, body)) / 1e-2);
		}
	}
	return worst;
}

static inline double deepest(knWorld* world) {
	knPenetration penetration;
	knError error = { 0 };
	if (knWorld_MeasurePenetration(world, &penetration, &error) != KN_OK) {
		failWith(&error);
	}
	return penetration.max;
}

// The energy of a run that nothing drives.
typedef struct EnergyRun {
	double first, last;
	double gain;        // J, the largest above the first
	double loss;        // J, the first less the last
	double peakKinetic; // J
	bool finished;
} EnergyRun;

static inline EnergyRun runEnergy(knWorld* world, double time, double dt) {
	EnergyRun result = { .first = totalEnergy(world), .finished = true };
	result.last = result.first;
	for (int i = 0; i < stepsOf(time, dt) && result.finished; ++i) {
		result.finished = factStep(world, dt);
		knMeasures now = knWorld_Measure(world);
		result.last = now.kinetic + now.potential;
		result.finished = result.finished && knIsFinite(result.last);
		result.gain = knMax(result.gain, result.last - result.first);
		result.peakKinetic = knMax(result.peakKinetic, now.kinetic);
	}
	result.loss = result.first - result.last;
	return result;
}

// The larger of what was gained on the way and what was lost in the end, as a share of `whole`; ends the world.
static inline double energyError(knWorld* world, double time, double dt, double whole) {
	EnergyRun result = runEnergy(world, time, dt);
	knWorld_Destroy(world);
	return result.finished ? knMax(result.gain, result.loss) / whole : DIVERGES;
}

// The largest gain as a share of `whole`; ends the world.
static inline double energyGain(knWorld* world, double time, double dt, double whole) {
	EnergyRun result = runEnergy(world, time, dt);
	knWorld_Destroy(world);
	return result.finished ? result.gain / whole : DIVERGES;
}

// The body's turn about `axis` in one step, from -pi to pi, given its frame of before.
static inline double turnedBy(knQuat before, knQuat after, knVec3 axis) {
	knQuat turn = knMulQ(after, knConj(before));
	double sine = knDot(knV3(turn.x, turn.y, turn.z), axis);
	double angle = 2.0 * atan2(sine, turn.w);
	return remainder(angle, 2.0 * KN_PI);
}

// --- jointed rods -------------------------------------------------------------------------------------------------

// A rod from one point to another: no shape, the inertia of a round bar.
static inline knBodyId newRod(knScene* scene, knVec3 from, knVec3 to, double radius, double mass) {
	knVec3 along = knSub(to, from);
	double length = knLength(along), thin = 0.5 * mass * radius * radius;
	double across = mass * (length * length / 12.0 + radius * radius / 4.0);
	knQuat turn = knQuat_Between(knV3(1.0, 0.0, 0.0), knScale(1.0 / length, along));
	knFrame frame = knMakeFrame(knScale(0.5, knAdd(from, to)), turn);
	return newMass(scene, frame, mass, knV3(thin, across, across));
}

// Rods of equal length in a row from `anchor`, the first held by the world; returns the last.
typedef struct RowDef {
	int count;
	double length, mass, lastMass;
	knVec3 anchor, direction;
	knJointKind kind;
	knVec3 axis;
} RowDef;

static inline knBodyId newRow(knScene* scene, const RowDef* def) {
	knBodyId previous = KN_WORLD_BODY;
	for (int i = 0; i < def->count; ++i) {
		knVec3 from = knMulAdd(def->anchor, i * def->length, def->direction);
		knVec3 to = knMulAdd(def->anchor, (i + 1) * def->length, def->direction);
		double mass = i == def->count - 1 ? def->lastMass : def->mass;
		knBodyId rod = newRod(scene, from, to, 0.02, mass);
		knJointDef joint = jointAt(scene, def->kind, previous, rod, from, def->axis);
		newJoint(scene, &joint);
		previous = rod;
	}
	return previous;
}

// The sum of mass x g x distance of the centre from the anchor.
static inline double weightTimesLength(const knModel* model, knVec3 anchor) {
	double sum = 0.0;
	for (int i = 0; i < knModel_BodyCount(model); ++i) {
		knBodyId body = knModel_BodyAt(model, i);
		const knBodyDef* def = knScene_GetBody(knModel_Scene(model), body);
		knMassProps mass = knModel_BodyMass(model, body);
		sum += mass.mass * 9.81 * knDistance(knPoint(def->frame, mass.center), anchor);
	}
	return sum;
}

// --- judging ------------------------------------------------------------------------------------------------------

// One fact under one stepper: the state of a cmocka test.
typedef struct FactCase {
	const Fact* fact;
	const Miss* miss; // NULL: it is shown
	Trial trial;
} FactCase;

// A program may name a stepper whose slow facts would take minutes each; they are skipped, visibly.
#ifndef FACTS_TOO_SLOW
#define FACTS_TOO_SLOW ""
#endif

// The adaptive stepper with all its joints moving, as by default, takes the reduced stepper's steps: its facts are the
// same and its misses the same rows, of which it may hold some. Programs that say so leave the repetition to the long ones.
#ifndef FACTS_TWIN_QUICK
#define FACTS_TWIN_QUICK false
#endif

static inline bool isTwin(const char* stepper) {
	return strcmp(stepper, "adaptive") == 0;
}

static inline void judge(void** state) {
	const FactCase* c = *state;
	const char* like = isTwin(c->trial.stepper) ? "reduced" : c->trial.stepper;
	if (c->fact->slow && strcmp(like, FACTS_TOO_SLOW) == 0) {
		print_message("  %s, %s: left out, it would take minutes\n", c->fact->name, c->trial.stepper);
		skip();
	}
	double figure = c->fact->measure(&c->trial), bar = c->fact->bar;
	bool holds = figure <= bar;
	print_message("  %s, %s: %.3g, bar %.3g%s\n", c->fact->name, c->trial.stepper, figure, bar,
				  holds             ? ""
				  : c->miss != NULL ? ", a known miss"
									: "");
	if (c->miss == NULL && !holds) {
		fail_msg("%.6g, bar %.3g", figure, bar);
	}
	if (c->miss != NULL && holds && !isTwin(c->trial.stepper)) {
		fail_msg("holds now (%.3g, bar %.3g): take it out of the table of misses", figure, bar);
	}
	if (c->miss != NULL && !c->miss->chaotic && !(figure <= 2.0 * c->miss->figure)) {
		fail_msg("%.6g is worse than the known %.3g", figure, c->miss->figure);
	}
}

static inline const Miss* findMiss(const Miss* misses, int count, const Fact* fact, const char* stepper) {
	for (int i = 0; i < count; ++i) {
		if (strcmp(misses[i].fact, fact->name) == 0 && strcmp(misses[i].stepper, stepper) == 0) {
			return &misses[i];
		}
	}
	return NULL;
}

// A row of the table of misses for every fact that is not shown, and the others as comments.
static inline void printFigure(void** state) {
	const FactCase* c = *state;
	clock_t start = clock();
	double figure = c->fact->measure(&c->trial);
	bool holds = figure <= c->fact->bar;
	char number[32];
	snprintf(number, sizeof(number), "%.2g", figure);
	print_message("%s{ \"%s\", \"%s\", %s, false }, // bar %.3g, %.2f s\n", holds ? "// holds: " : "",
				  c->fact->name, c->trial.stepper, isinf(figure) ? "DIVERGES" : number, c->fact->bar,
				  (double)(clock() - start) / CLOCKS_PER_SEC);
}

#define FACT_CASES_MAX 512

#ifndef FACTS_LONG
#define FACTS_LONG 0
#endif

static FactCase factCases[FACT_CASES_MAX];
static struct CMUnitTest factTests[FACT_CASES_MAX];
static char factNames[FACT_CASES_MAX][96];

// Every fact under every stepper that this build has; `misses` ends with an empty row.
static inline int runFacts(const Fact* facts, int factCount, const Miss* misses, int argc, char** argv) {
	const int threads = FACTS_LONG ? 2 : 1;
	bool figures = argc > 1 && strcmp(argv[1], "--figures") == 0;
	const char* pattern = argc > 1 + figures ? argv[1 + figures] : NULL;
	int missCount = 0, count = 0, used = 0;
	knError error = { 0 };
	knTaskPool* pool = threads > 1 ? knTaskPool_Create(threads, NULL, &error) : NULL;
	while (misses[missCount].fact != NULL) {
		missCount += 1;
	}
	for (int s = 0; knStepper_Name(s) != NULL; ++s) {
		for (int i = 0; i < factCount && count < FACT_CASES_MAX; ++i) {
			const Fact* fact = &facts[i];
			const char* stepper = knStepper_Name(s);
			const Miss* miss = findMiss(misses, missCount, fact, isTwin(stepper) ? "reduced" : stepper);
			used += miss != NULL && !isTwin(stepper);
			if (isTwin(stepper) && !FACTS_LONG && !FACTS_TWIN_QUICK) {
				continue;
			}
			if (fact->slow != (bool)FACTS_LONG) {
				continue;
			}
			factCases[count] = (FactCase){
				fact,
				miss,
				{ stepper, fact->dt, fact->a, fact->b, threads, pool },
			};
			snprintf(factNames[count], sizeof(factNames[count]), "%s, %s", fact->name, stepper);
			factTests[count] = (struct CMUnitTest){ .name = factNames[count],
													.test_func = figures ? printFigure : judge,
													.initial_state = &factCases[count] };
			count += 1;
		}
	}
	if (count == FACT_CASES_MAX || used != missCount || (threads > 1 && pool == NULL)) {
		fprintf(stderr, "%d cases; %d rows of misses name no fact\n", count, missCount - used);
		return 1;
	}
	cmocka_set_test_filter(pattern);
	int failed = _cmocka_run_group_tests("facts", factTests, (size_t)count, NULL, NULL);
	if (pool != NULL) {
		knTaskPool_Destroy(pool);
	}
	return failed;
}

#define RUN_FACTS(facts, misses)                                                                             \
	runFacts((facts), (int)(sizeof(facts) / sizeof((facts)[0])), (misses), argc, argv)
