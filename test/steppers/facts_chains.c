// Chains that carry a heavy load, closed rings, and a loop that cannot close, as the catalogue builds them.
#include "facts.h"

// --- heavy-chain --------------------------------------------------------------------------------------------------

static Staged heavyChain(const Trial* trial) {
	char ratio[32];
	snprintf(ratio, sizeof(ratio), "%.17g", trial->a);
	return STAGE(trial, "heavy-chain", -1.0, "ratio", ratio);
}

// The sum of mass x g x distance from the anchor of the scene's chain, J.
static double chainWeight(const Staged* staged) {
	return weightTimesLength(knWorld_Model(staged->world), knV3(0.0, 0.0, 11.0));
}

// a: ratio, b: s. The worst joint, m.
static double chainGap(const Trial* trial) {
	Staged staged = heavyChain(trial);
	double worst = 0.0;
	for (int i = 0; i < stepsOf(trial->b, trial->dt); ++i) {
		if (!factStep(staged.world, trial->dt)) {
			worst = DIVERGES;
			break;
		}
		worst = knMax(worst, knWorld_Measure(staged.world).jointError);
	}
	knWorld_Destroy(staged.world);
	return worst;
}

// Shares of m g L.
static double chainGain(const Trial* trial) {
	Staged staged = heavyChain(trial);
	return energyGain(staged.world, trial->b, trial->dt, chainWeight(&staged));
}

static double chainLoss(const Trial* trial) {
	Staged staged = heavyChain(trial);
	return energyError(staged.world, trial->b, trial->dt, chainWeight(&staged));
}

// When a body's centre passes x = 0, between two steps, in the given time.
typedef struct Crossing {
	double time, speed;
} Crossing;

static int findCrossings(Staged* staged, const char* body, double from, double to, double dt,
						 Crossing* crossings, int limit) {
	knBodyId id = knScene_FindBody(knModel_Scene(knWorld_Model(staged->world)), body);
	double lastX = knWorld_BodyCenter(staged->world, id).x,
		   lastSpeed = knLength(knWorld_BodyVelocity(staged->world, id));
	int count = 0;
	for (int i = 0; i < stepsOf(to, dt) && count < limit && stagedStep(staged, dt); ++i) {
		double x = knWorld_BodyCenter(staged->world, id).x,
			   speed = knLength(knWorld_BodyVelocity(staged->world, id));
		if (x * lastX < 0.0 && i * dt >= from) {
			double share = lastX / (lastX - x);
			crossings[count++] = (Crossing){ (i + share) * dt, lastSpeed + share * (speed - lastSpeed) };
		}
		lastX = x;
		lastSpeed = speed;
	}
	return count;
}

// The first passage: 1.86 s, 13.95 m/s; the larger relative error.
static double firstPassage(const Trial* trial) {
	Staged staged = heavyChain(trial);
	Crossing first;
	int count = findCrossings(&staged, "link49", 0.0, 3.0, trial->dt, &first, 1);
	knWorld_Destroy(staged.world);
	return count == 1 ? knMax(fabs(first.time / 1.86 - 1.0), fabs(first.speed / 13.95 - 1.0)) : DIVERGES;
}

// The later ones, relative.
static double laterPassages(const Trial* trial) {
	const double exact[4] = { 5.586, 9.309, 13.03, 16.75 };
	Staged staged = heavyChain(trial);
	Crossing crossings[5];
	int count = findCrossings(&staged, "link49", 0.0, 20.0, trial->dt, crossings, 5);
	double worst = count == 5 ? 0.0 : DIVERGES;
	for (int k = 1; k < count; ++k) {
		worst = knMax(worst, fabs(crossings[k].time / exact[k - 1] - 1.0));
	}
	knWorld_Destroy(staged.world);
	return worst;
}

// --- mass-ratio ---------------------------------------------------------------------------------------------------

static double massRatioGap(const Trial* trial) {
	Staged staged = STAGE_PLAIN(trial, "mass-ratio");
	double worst = 0.0;
	for (int i = 0; i < stepsOf(20.0, trial->dt); ++i) {
		if (!stagedStep(&staged, trial->dt)) {
			worst = DIVERGES;
			break;
		}
		worst = knMax(worst, knWorld_Measure(staged.world).jointError);
	}
	knWorld_Destroy(staged.world);
	return worst;
}

// The ball swings with 6.65 s: relative error.
static double massRatioPeriod(const Trial* trial) {
	Staged staged = STAGE_PLAIN(trial, "mass-ratio");
	Crossing crossings[5];
	int count = findCrossings(&staged, "ball", 4.0, 20.0, trial->dt, crossings, 5);
	knWorld_Destroy(staged.world);
	if (count < 3) {
		return DIVERGES;
	}
	double period = 2.0 * (crossings[count - 1].time - crossings[0].time) / (count - 1);
	return fabs(period / 6.65 - 1.0);
}

// --- rings --------------------------------------------------------------------------------------------------------

// Linear and angular momentum of a free ring, relative to m v and L; b: s.
static double ringMomentum(const Trial* trial) {
	Staged staged = STAGE_PLAIN(trial, "free-ring");
	knMeasures first = knWorld_Measure(staged.world);
	double whole = sqrt(2.0 * first.kinetic * 34.0), spin = knLength(first.angularMomentum), worst = 0.0;
	for (int i = 0; i < stepsOf(trial->b, trial->dt); ++i) {
		if (!factStep(staged.world, trial->dt)) {
			worst = DIVERGES;
			break;
		}
		knMeasures now = knWorld_Measure(staged.world);
		worst = knMax(worst, knDistance(now.momentum, first.momentum) / whole);
		worst = knMax(worst, knDistance(now.angularMomentum, first.angularMomentum) / spin);
	}
	knWorld_Destroy(staged.world);
	return worst;
}

static double ringGain(const Trial* trial) {
	Staged staged = STAGE_PLAIN(trial, "free-ring");
	return energyGain(staged.world, trial->b, trial->dt, totalEnergy(staged.world));
}

static double ringGap(const Trial* trial) {
	Staged staged = STAGE_PLAIN(trial, "free-ring");
	double worst = 0.0;
	for (int i = 0; i < stepsOf(trial->b, trial->dt); ++i) {
		factStep(staged.world, trial->dt);
		worst = knMax(worst, knWorld_Measure(staged.world).jointError);
	}
	knWorld_Destroy(staged.world);
	return worst;
}

// Two links of 0.2 m between pins 0.41 m apart: the missing centimetre is spread over the three hinges (m, the worst), and
// the links lie still.
static double shortLoop(const Trial* trial) {
	Staged staged = STAGE_PLAIN(trial, "short-loop");
	bool finished = true;
	double worst = 0.0;
	for (int i = 0; i < stepsOf(5.0, trial->dt) && finished; ++i) {
		finished = factStep(staged.world, trial->dt);
		worst = i * trial->dt > 4.0 ? knMax(worst, unrest(staged.world)) : 0.0;
	}
	double gap = knWorld_Measure(staged.world).jointError;
	knWorld_Destroy(staged.world);
	return !finished ? DIVERGES : worst > 1.0 ? worst : gap;
}

// The report counts the hinges that cannot close: none missing is 0.
static double shortLoopIsNamed(const Trial* trial) {
	Staged staged = STAGE_PLAIN(trial, "short-loop");
	int steps = stepsOf(0.5, trial->dt), missing = 0;
	for (int i = 0; i < steps; ++i) {
		factStep(staged.world, trial->dt);
		missing += knWorld_Report(staged.world)->jointConflicts == 0;
	}
	knWorld_Destroy(staged.world);
	return (double)missing / steps;
}

// --- tables -------------------------------------------------------------------------------------------------------

#define SIXTIETH (1.0 / 60.0)

static const Fact facts[] = {
	{ "heavy-chain 1:1 stays closed, dt 1/60", chainGap, SIXTIETH, 1.0, 10.0, 1e-9, false },
	{ "heavy-chain 100:1 stays closed, dt 1/60", chainGap, SIXTIETH, 100.0, 10.0, 1e-9, false },
	{ "heavy-chain 1000:1 stays closed, dt 1/60", chainGap, SIXTIETH, 1000.0, 10.0, 1e-9, true },
	{ "heavy-chain 10000:1 stays closed, dt 1/60", chainGap, SIXTIETH, 10000.0, 10.0, 1e-9, false },
	{ "heavy-chain 1:1 gains nothing, dt 1/60", chainGain, SIXTIETH, 1.0, 10.0, 1e-6, true },
	{ "heavy-chain 100:1 gains nothing, dt 1/60", chainGain, SIXTIETH, 100.0, 10.0, 1e-6, true },
	{ "heavy-chain 1000:1 keeps its energy, dt 1/60", chainLoss, SIXTIETH, 1000.0, 10.0, 0.01, false },
	{ "heavy-chain 10000:1 keeps its energy, dt 1/60", chainLoss, SIXTIETH, 10000.0, 10.0, 0.01, false },
	{ "heavy-chain 1000:1 gains nothing, dt 1/60", chainGain, SIXTIETH, 1000.0, 10.0, 1e-6, true },
	{ "heavy-chain 10000:1 gains nothing, dt 1/60", chainGain, SIXTIETH, 10000.0, 10.0, 1e-6, true },
	{ "heavy-chain 1000:1 passes below, dt 1/60", firstPassage, SIXTIETH, 1000.0, 0, 0.01, false },
	{ "heavy-chain 10000:1 passes below, dt 1/60", firstPassage, SIXTIETH, 10000.0, 0, 0.01, false },
	{ "heavy-chain 10000:1 passes below, dt 0.005", firstPassage, 0.005, 10000.0, 0, 0.01, true },
	{ "heavy-chain 10000:1 swings for 20 s, dt 1/60", laterPassages, SIXTIETH, 10000.0, 0, 0.01, true },
	{ "mass-ratio 10000:1 stays closed, dt 1/60", massRatioGap, SIXTIETH, 0, 0, 1e-9, false },
	{ "mass-ratio 10000:1 stays closed, dt 0.01", massRatioGap, 0.01, 0, 0, 1e-9, true },
	{ "mass-ratio 10000:1 swings, dt 1/60", massRatioPeriod, SIXTIETH, 0, 0, 0.01, false },
	{ "mass-ratio 10000:1 swings, dt 0.01", massRatioPeriod, 0.01, 0, 0, 0.01, true },
	{ "free ring keeps its momentum, 5 s", ringMomentum, SIXTIETH, 0, 5.0, 1e-10, false },
	{ "free ring keeps its momentum, 60 s", ringMomentum, SIXTIETH, 0, 60.0, 1e-10, true },
	{ "free ring gains nothing, 60 s", ringGain, SIXTIETH, 0, 60.0, 1e-9, true },
	{ "free ring stays closed, 5 s", ringGap, SIXTIETH, 0, 5.0, 1e-9, false },
	{ "free ring stays closed, dt 0.005", ringGap, 0.005, 0, 5.0, 1e-9, true },
	AT_USUAL_STEPS("short loop lies still, its gap spread", shortLoop, 0, 0, 0.004),
	AT_USUAL_STEPS("short loop is named in the report", shortLoopIsNamed, 0, 0, 0.0),
};

static const Miss misses[] = {
	{ "heavy-chain 1000:1 keeps its energy, dt 1/60", "reduced", 0.028, false },
	{ "free ring keeps its momentum, 5 s", "reduced", 6.3e-08, false },
	{ "heavy-chain 1000:1 keeps its energy, dt 1/60", "velocity", 0.11, false },
	{ "short loop lies still, its gap spread, dt 1/60", "velocity", 0.005, true },
	{ "short loop lies still, its gap spread, dt 0.01", "velocity", 0.014, true },
	{ "short loop lies still, its gap spread, dt 0.005", "velocity", 0.011, true },
	{ "heavy-chain 1000:1 keeps its energy, dt 1/60", "impulse", 0.059, false },
	{ "short loop lies still, its gap spread, dt 1/60", "impulse", 10, true },
	{ "short loop lies still, its gap spread, dt 0.01", "impulse", 17, true },
	{ "short loop lies still, its gap spread, dt 0.005", "impulse", 27, true },
	{ "free ring keeps its momentum, 60 s", "reduced", 9.3e-07, false },
	{ "free ring gains nothing, 60 s", "reduced", 2.3e-08, false },
	{ 0 },
};

int main(int argc, char** argv) {
	return RUN_FACTS(facts, misses);
}
