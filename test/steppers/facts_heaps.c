// Joints with contact, as the catalogue builds them: net, bridge, tank, rings, figures. One run gives several figures; the
// fact's is the largest of them in units of its bar, so that 1 is good enough, and all are printed. The runs are shorter and
// the heaps smaller than those of the results in the docs.
#define FACTS_TOO_SLOW "reduced"
#include "facts.h"

typedef struct HeapBars {
	double gap;     // m, worst joint of the run
	double angle;   // rad, likewise
	double depth;   // m, deepest pair of the last second
	double gain;    // share of the energy released; 0: something drives
	double spin;    // rad/s, fastest body at the end; 0: any
	const char* no; // a check that must be zero at the end; NULL: none
} HeapBars;

static const HeapBars loose = { 1e-6, 1e-6, 2e-3, 1e-3, 0.0, "outside" };

typedef struct HeapFigures {
	double gap, angle, depth, gain, lowest, spin, outside;
	bool finished;
} HeapFigures;

static double fastestSpin(const knWorld* world) {
	const knModel* model = knWorld_Model(world);
	double worst = 0.0;
	for (int i = 0; i < knModel_BodyCount(model); ++i) {
		worst = knMax(worst, knLength(knWorld_BodyAngularVelocity(world, knModel_BodyAt(model, i))));
	}
	return worst;
}

static double checkNamed(const knSceneChecks* checks, const char* name) {
	for (int i = 0; i < checks->count; ++i) {
		if (strcmp(checks->names[i], name) == 0) {
			return checks->values[i];
		}
	}
	return 0.0;
}

static HeapFigures runHeap(Staged* staged, double time, double dt, const char* check, knSceneChecks* checks) {
	knWorld* world = staged->world;
	double first = totalEnergy(world);
	HeapFigures figures = { .lowest = first, .finished = true };
	int steps = stepsOf(time, dt), look = stepsOf(0.1, dt);
	for (int i = 1; i <= steps && figures.finished; ++i) {
		figures.finished = stagedStep(staged, dt);
		knMeasures now = knWorld_Measure(world);
		figures.finished = figures.finished && knIsFinite(now.kinetic) && knIsFinite(now.potential);
		figures.gap = knMax(figures.gap, now.jointError);
		figures.angle = knMax(figures.angle, now.jointAngleError);
		figures.gain = knMax(figures.gain, now.kinetic + now.potential - first);
		figures.lowest = knMin(figures.lowest, now.kinetic + now.potential);
		if (figures.finished && i * dt > time - 1.0 && (i % look == 0 || i == steps)) {
			figures.depth = knMax(figures.depth, deepest(world));
		}
		if (figures.finished && staged->args.entry->observe != NULL) {
			staged->args.entry->observe(world, &staged->args, checks);
		}
	}
	figures.spin = fastestSpin(world);
	figures.gain /= knMax(first - figures.lowest, 1e-9);
	figures.outside = check != NULL ? checkNamed(checks, check) : 0.0;
	return figures;
}

// The figures against the bars: 1 or less is good.
static double judgeHeap(Staged* staged, double time, double dt, const HeapBars* bars) {
	knSceneChecks checks = { 0 };
	HeapFigures figures = runHeap(staged, time, dt, bars->no, &checks);
	knSceneChecks_Free(&checks);
	knWorld_Destroy(staged->world);
	print_message("  gap %.2g m, angle %.2g rad, depth %.2g m, gain %.2g, spin %.2g rad/s, outside %g\n",
				  figures.gap, figures.angle, figures.depth, figures.gain, figures.spin, figures.outside);
	double worst = knMax(figures.gap / bars->gap, figures.angle / bars->angle);
	worst = knMax(worst, figures.depth / bars->depth);
	worst = knMax(worst, bars->gain > 0.0 ? figures.gain / bars->gain : 0.0);
	worst = knMax(worst, bars->spin > 0.0 ? figures.spin / bars->spin : 0.0);
	worst = knMax(worst, 10.0 * figures.outside);
	return figures.finished ? worst : DIVERGES;
}

// --- net ----------------------------------------------------------------------------------------------------------

// a: boxes, b: lift
static double net(const Trial* trial) {
	char boxes[16], lift[16];
	snprintf(boxes, sizeof(boxes), "%g", trial->a);
	snprintf(lift, sizeof(lift), "%g", trial->b);
	HeapBars bars = loose;
	bars.depth = 3e-3;
	bars.gap = trial->a == 0.0 ? 1e-9 : 1e-6;
	bars.gain = trial->b == 0.0 ? 1e-3 : 0.0;
	Staged staged = STAGE(trial, "net", -1.0, "boxes", boxes, "lift", lift);
	return judgeHeap(&staged, trial->b == 0.0 ? 2.0 : 3.0, trial->dt, &bars);
}

// --- bridge -------------------------------------------------------------------------------------------------------

static double bridge(const Trial* trial) {
	Staged staged = STAGE(trial, "bridge", -1.0, "load", trial->a == 0.0 ? "blocks" : "rings");
	return judgeHeap(&staged, trial->b, trial->dt, &loose);
}

// --- tank ---------------------------------------------------------------------------------------------------------

static double tank(const Trial* trial) {
	static const char* const drives[] = { "straight", "turn", "fall" };
	HeapBars bars = { 1e-6, 1e-6, 1e-2, 0.0, 0.0, NULL };
	Staged staged = STAGE(trial, "tank", -1.0, "drive", drives[(int)trial->a]);
	return judgeHeap(&staged, 6.0, trial->dt, &bars);
}

// In 6 s on the spot: how far the hull has come from its place, m.
static double tankTurns(const Trial* trial) {
	Staged staged = STAGE(trial, "tank", -1.0, "drive", "turn");
	knSceneChecks checks = { 0 };
	HeapFigures figures = runHeap(&staged, 6.0, trial->dt, "travelled", &checks);
	print_message("  turned %.3g rad\n", checkNamed(&checks, "turned"));
	knSceneChecks_Free(&checks);
	knWorld_Destroy(staged.world);
	return figures.finished ? figures.outside : DIVERGES;
}

// Off an edge: the change of angular momentum in flight over its value.
static double tankFlies(const Trial* trial) {
	Staged staged = STAGE(trial, "tank", -1.0, "drive", "fall");
	knSceneChecks checks = { 0 };
	HeapFigures figures = runHeap(&staged, 4.0, trial->dt, "flight_drift", &checks);
	knSceneChecks_Free(&checks);
	knWorld_Destroy(staged.world);
	return figures.finished && figures.outside > 0.0 ? figures.outside : DIVERGES;
}

// --- figures and rings --------------------------------------------------------------------------------------------

// a: how many, b: s
static double ragdolls(const Trial* trial) {
	char count[16];
	snprintf(count, sizeof(count), "%g", trial->a);
	HeapBars bars = loose;
	bars.no = NULL;
	Staged staged = STAGE(trial, "ragdolls", -1.0, "count", count);
	return judgeHeap(&staged, trial->b, trial->dt, &bars);
}

static double skeletons(const Trial* trial) {
	char count[16];
	snprintf(count, sizeof(count), "%g", trial->a);
	HeapBars bars = loose;
	bars.spin = trial->b >= 3.0 ? 50.0 : 0.0;
	Staged staged = STAGE(trial, "skeletons", -1.0, "count", count, "triangles", "200");
	return judgeHeap(&staged, trial->b, trial->dt, &bars);
}

static double rings(const Trial* trial) {
	char count[16];
	snprintf(count, sizeof(count), "%g", trial->a);
	Staged staged = STAGE(trial, "rings", -1.0, "rings", count, "mesh", "0");
	return judgeHeap(&staged, trial->b, trial->dt, &loose);
}

// --- chain over pegs ----------------------------------------------------------------------------------------------

static double chainPegs(const Trial* trial) {
	char links[16];
	snprintf(links, sizeof(links), "%g", trial->a);
	HeapBars bars = loose;
	bars.no = NULL;
	Staged staged = STAGE(trial, "chain-pegs", -1.0, "links", links);
	return judgeHeap(&staged, trial->b, trial->dt, &bars);
}

// --- tables -------------------------------------------------------------------------------------------------------

#define SIXTIETH (1.0 / 60.0)

static const Fact facts[] = {
	{ "net without boxes", net, 0.01, 0, 0, 1.0, true },
	{ "net with nine boxes", net, 0.01, 9, 0, 1.0, true },
	{ "net lifts boxes", net, 0.01, 9, 1, 1.0, true },
	{ "bridge under blocks, dt 0.01", bridge, 0.01, 0, 3.0, 1.0, true },
	{ "bridge under blocks, dt 0.0025", bridge, 0.0025, 0, 1.5, 1.0, true },
	{ "bridge under rings, dt 0.01", bridge, 0.01, 1, 1.0, 1.0, true },
	{ "bridge under blocks, dt 1/30", bridge, 1.0 / 30.0, 0, 3.0, 1.0, true },
	{ "tank drives straight", tank, SIXTIETH, 0, 0, 1.0, true },
	{ "tank turns", tank, SIXTIETH, 1, 0, 1.0, true },
	{ "tank falls", tank, SIXTIETH, 2, 0, 1.0, true },
	{ "tank turns on the spot", tankTurns, SIXTIETH, 0, 0, 0.1, true },
	{ "tank in flight keeps its angular momentum", tankFlies, SIXTIETH, 0, 0, 1e-8, true },
	{ "two ragdolls, dt 0.01", ragdolls, 0.01, 2, 3.0, 1.0, false },
	{ "five ragdolls, dt 0.01", ragdolls, 0.01, 5, 3.0, 1.0, true },
	{ "five ragdolls, dt 1/60", ragdolls, SIXTIETH, 5, 3.0, 1.0, true },
	{ "twenty ragdolls, dt 0.01", ragdolls, 0.01, 20, 4.0, 1.0, true },
	{ "a skeleton, dt 0.01", skeletons, 0.01, 1, 1.0, 1.0, false },
	{ "five skeletons, dt 0.01", skeletons, 0.01, 5, 3.0, 1.0, true },
	{ "five skeletons, dt 1/60", skeletons, SIXTIETH, 5, 3.0, 1.0, true },
	{ "ten skeletons, dt 0.01", skeletons, 0.01, 10, 3.0, 1.0, true },
	{ "fifty rings, dt 0.01", rings, 0.01, 50, 2.0, 1.0, true },
	{ "chain of 50 links falls on pegs, dt 0.01", chainPegs, 0.01, 50, 3.0, 1.0, false },
	{ "chain of 200 links falls on pegs, dt 0.01", chainPegs, 0.01, 200, 4.0, 1.0, true },
	{ "chain of 50 links falls on pegs, dt 1/60", chainPegs, SIXTIETH, 50, 3.0, 1.0, true },
};

static const Miss misses[] = {
	{ "a skeleton, dt 0.01", "reduced", 2.1e+04, true },
	{ "net with nine boxes", "velocity", 11, true },
	{ "net lifts boxes", "velocity", 6.4, true },
	{ "bridge under rings, dt 0.01", "velocity", 8.5, true },
	{ "tank turns on the spot", "velocity", 0.2, true },
	{ "five skeletons, dt 0.01", "velocity", 75, true },
	{ "ten skeletons, dt 0.01", "velocity", 17, true },
	{ "chain of 50 links falls on pegs, dt 1/60", "velocity", 3.7, true },
	{ "net with nine boxes", "impulse", 11, true },
	{ "net lifts boxes", "impulse", 6.4, true },
	{ "bridge under rings, dt 0.01", "impulse", 8.5, true },
	{ "tank turns on the spot", "impulse", 0.2, true },
	{ "five skeletons, dt 0.01", "impulse", 24, true },
	{ "ten skeletons, dt 0.01", "impulse", 27, true },
	{ "chain of 50 links falls on pegs, dt 1/60", "impulse", 3.7, true },
	{ 0 },
};

int main(int argc, char** argv) {
	return RUN_FACTS(facts, misses);
}
