// What must not lose energy: pendulums, linkages, spinning arms and tops, springs, rolling disks.
#define FACTS_TWIN_QUICK true
#include "facts.h"

// --- pendulums ----------------------------------------------------------------------------------------------------

// Two rods on hinges from the horizontal, 60 s; shares of m g L.
static double doublePendulum(const Trial* trial) {
	knScene* scene = newScene(earth);
	RowDef row = { 2, 1.0, 1.0, 1.0, knZero3(), { 1.0, 0.0, 0.0 }, KN_JOINT_HINGE, { 0.0, 1.0, 0.0 } };
	newRow(scene, &row);
	knWorld* world = factWorld(trial, scene);
	return energyError(world, 60.0, trial->dt, weightTimesLength(knWorld_Model(world), row.anchor));
}

// Ten links on ball joints in a straight line, a rad from the vertical; the last is b times heavier.
static double loadedChain(const Trial* trial) {
	knScene* scene = newScene(earth);
	RowDef row = { 10,
				   0.2,
				   1.0,
				   trial->b,
				   knZero3(),
				   { knSin(trial->a), 0.0, -knCos(trial->a) },
				   KN_JOINT_BALL,
				   { 0.0, 1.0, 0.0 } };
	newRow(scene, &row);
	knWorld* world = factWorld(trial, scene);
	return energyError(world, 60.0, trial->dt, weightTimesLength(knWorld_Model(world), row.anchor));
}

// A rod on a ball joint goes round at a rad from the vertical: I W^2 cos a = m g l/2; 30 s. Shares of what it has above
// hanging at rest.
static double conicalPendulum(const Trial* trial) {
	knScene* scene = newScene(earth);
	double angle = trial->a;
	RowDef row = {
		1, 1.0, 1.0, 1.0, knZero3(), { knSin(angle), 0.0, -knCos(angle) }, KN_JOINT_BALL, { 0.0, 1.0, 0.0 }
	};
	knBodyId rod = newRow(scene, &row);
	double inertia = 1.0 / 3.0 + 0.02 * 0.02 / 4.0, rate = sqrt(0.5 * 9.81 / (inertia * knCos(angle)));
	// about the rod's own length it does not turn
	knVec3 spin = knScale(rate, knMulAdd(knV3(0.0, 0.0, 1.0), knCos(angle), row.direction));
	knScene_EditBody(scene, rod)->angularVelocity = spin;
	knScene_EditBody(scene, rod)->velocity = knCross(spin, knScale(0.5, row.direction));
	knWorld* world = factWorld(trial, scene);
	return energyError(world, 30.0, trial->dt, totalEnergy(world) + 0.5 * 9.81);
}

// --- linkages -----------------------------------------------------------------------------------------------------

// Shares of the largest kinetic energy of the run, 60 s.
static double linkage(const Trial* trial, const char* name) {
	Staged staged = STAGE_PLAIN(trial, name);
	EnergyRun result = runEnergy(staged.world, 60.0, trial->dt);
	knWorld_Destroy(staged.world);
	return result.finished ? knMax(result.gain, result.loss) / result.peakKinetic : DIVERGES;
}

static double fourBar(const Trial* trial) {
	return linkage(trial, "four-bar");
}

static double bricard(const Trial* trial) {
	return linkage(trial, "bricard");
}

// --- spin ---------------------------------------------------------------------------------------------------------

// A rod on a hinge at its end, without gravity, that turns by a rad in a step; 60 s.
static double spinningArm(const Trial* trial) {
	knScene* scene = newScene(noGravity);
	RowDef row = { 1, 1.0, 1.0, 1.0, knZero3(), { 1.0, 0.0, 0.0 }, KN_JOINT_HINGE, { 0.0, 0.0, 1.0 } };
	knBodyId rod = newRow(scene, &row);
	double spin = trial->a / trial->dt;
	knScene_EditBody(scene, rod)->angularVelocity = knV3(0.0, 0.0, spin);
	knScene_EditBody(scene, rod)->velocity = knV3(0.0, 0.5 * spin, 0.0);
	knWorld* world = factWorld(trial, scene);
	return energyError(world, 60.0, trial->dt, totalEnergy(world));
}

// A top, spin a rad/s about its axis, that goes round steadily with the slow root of I cos t W^2 - I3 w W + m g l = 0:
// the error of the angle that it has gone after 6 s.
static double heavyTop(const Trial* trial) {
	const double tilt = 0.6, arm = 0.2, thin = 0.005, axial = 0.01, across = thin + arm * arm;
	double a = across * knCos(tilt), b = axial * trial->a,
		   rate = (b - sqrt(b * b - 4.0 * a * 9.81 * arm)) / (2.0 * a);
	knScene* scene = newScene(earth);
	knQuat turn = knQuat_FromAxisAngle(knV3(0.0, 1.0, 0.0), tilt);
	knVec3 axis = knRotate(turn, knV3(0.0, 0.0, 1.0));
	knBodyId top = newMass(scene, knMakeFrame(knScale(arm, axis), turn), 1.0, knV3(thin, thin, axial));
	knJointDef ball = jointAt(scene, KN_JOINT_BALL, KN_WORLD_BODY, top, knZero3(), axis);
	newJoint(scene, &ball);
	knVec3 spin = knMulAdd(knV3(0.0, 0.0, rate), trial->a - rate * knCos(tilt), axis);
	knScene_EditBody(scene, top)->angularVelocity = spin;
	knScene_EditBody(scene, top)->velocity = knCross(spin, knScale(arm, axis));
	knWorld* world = factWorld(trial, scene);
	double gone = 0.0, last = 0.0, time = 6.0;
	for (int i = 0; i < stepsOf(time, trial->dt); ++i) {
		if (!factStep(world, trial->dt)) {
			knWorld_Destroy(world);
			return DIVERGES;
		}
		knVec3 at = knWorld_BodyCenter(world, top);
		double angle = atan2(at.y, at.x);
		gone += remainder(angle - last, 2.0 * KN_PI);
		last = angle;
	}
	knWorld_Destroy(world);
	return fabs(gone / (rate * time) - 1.0);
}

// --- springs ------------------------------------------------------------------------------------------------------

// What is gone of the amplitude, or has come to it, after 10 s; a: rad/s.
static double spring(const Trial* trial) {
	char rate[32];
	snprintf(rate, sizeof(rate), "%.17g", trial->a);
	Staged staged = STAGE(trial, "spring", -1.0, "rate", rate);
	knSceneChecks checks = { 0 };
	bool finished = true;
	for (int i = 0; i < stepsOf(10.0, trial->dt) && finished; ++i) {
		finished = factStep(staged.world, trial->dt);
	}
	staged.args.entry->observe(staged.world, &staged.args, &checks);
	knWorld_Destroy(staged.world);
	return finished ? fabs(1.0 - checks.values[0]) : DIVERGES;
}

// However stiff, a spring gains nothing.
static double springGain(const Trial* trial) {
	char rate[32];
	snprintf(rate, sizeof(rate), "%.17g", trial->a);
	Staged staged = STAGE(trial, "spring", -1.0, "rate", rate);
	return energyGain(staged.world, 10.0, trial->dt, 0.5 * trial->a * trial->a * 0.01);
}

// A damped spring against the closed form, the worst of 5 s as a share of the stretch; a: rad/s, b: share of critical.
static double dampedSpring(const Trial* trial) {
	char rate[32], damping[32];
	snprintf(rate, sizeof(rate), "%.17g", trial->a);
	snprintf(damping, sizeof(damping), "%.17g", trial->b);
	Staged staged = STAGE(trial, "spring", -1.0, "rate", rate, "damping", damping);
	double swing = sqrt(1.0 - trial->b * trial->b), worst = 0.0;
	for (int i = 1; i <= stepsOf(5.0, trial->dt); ++i) {
		factStep(staged.world, trial->dt);
		knSceneChecks checks = { 0 };
		staged.args.entry->observe(staged.world, &staged.args, &checks);
		double t = trial->a * i * trial->dt;
		double exact = exp(-trial->b * t) * (cos(swing * t) + trial->b / swing * sin(swing * t));
		worst = knMax(worst, fabs(checks.values[1] / 0.1 - exact));
	}
	knWorld_Destroy(staged.world);
	return worst;
}

// --- a rolling disk -----------------------------------------------------------------------------------------------

// It goes round for a second and keeps its energy.
static double disk(const Trial* trial) {
	Staged staged = STAGE_PLAIN(trial, "disk");
	return energyError(staged.world, 1.0, trial->dt, totalEnergy(staged.world));
}

// --- tables -------------------------------------------------------------------------------------------------------

static const Fact facts[] = {
	{ "double pendulum, dt 1/60", doublePendulum, 1.0 / 60.0, 0, 0, 0.06, false },
	{ "double pendulum, dt 0.01", doublePendulum, 0.01, 0, 0, 0.02, false },
	{ "double pendulum, dt 0.005", doublePendulum, 0.005, 0, 0, 0.02, true },
	AT_USUAL_STEPS_SLOW("ten links and a load 100:1", loadedChain, 1.0, 100.0, 0.05),
	AT_USUAL_STEPS_SLOW("ten links and a load 10000:1", loadedChain, 1.0, 10000.0, 0.05),
	{ "four-bar linkage, dt 1/60", fourBar, 1.0 / 60.0, 0, 0, 0.015, false },
	{ "four-bar linkage, dt 1/240", fourBar, 1.0 / 240.0, 0, 0, 0.001, true },
	{ "Bricard's loop, dt 0.01", bricard, 0.01, 0, 0, 0.005, false },
	{ "Bricard's loop, dt 1/240", bricard, 1.0 / 240.0, 0, 0, 0.001, true },
	AT_USUAL_STEPS("conical pendulum", conicalPendulum, 0.7, 0, 1e-3),
	{ "arm, 0.25 rad a step, dt 0.01", spinningArm, 0.01, 0.25, 0, 1e-6, false },
	{ "arm, 0.5 rad a step, dt 0.01", spinningArm, 0.01, 0.5, 0, 1e-6, false },
	{ "arm, 1 rad a step, dt 0.01", spinningArm, 0.01, 1.0, 0, 1e-6, false },
	{ "arm, 1 rad a step, dt 1/60", spinningArm, 1.0 / 60.0, 1.0, 0, 1e-6, false },
	{ "arm, 2.5 rad a step, dt 0.01", spinningArm, 0.01, 2.5, 0, 0.01, false },
	{ "heavy top, 200 rad/s, dt 0.005", heavyTop, 0.005, 200.0, 0, 2e-3, false },
	{ "heavy top, 100 rad/s, dt 0.005", heavyTop, 0.005, 100.0, 0, 2e-3, false },
	AT_USUAL_STEPS("undamped spring, 10 rad/s", spring, 10.0, 0, 0.01),
	{ "undamped spring, 3 rad/s, dt 0.01", spring, 0.01, 3.0, 0, 0.01, false },
	{ "stiff spring gains nothing, 1 rad a step", springGain, 0.01, 100.0, 0, 1e-9, false },
	{ "stiff spring gains nothing, 10 rad a step", springGain, 0.01, 1000.0, 0, 1e-9, false },
	{ "stiff spring gains nothing, 1000 rad a step", springGain, 0.01, 1e5, 0, 1e-9, false },
	{ "damped spring, dt 1/60", dampedSpring, 1.0 / 60.0, 10.0, 0.1, 0.02, false },
	{ "damped spring, dt 0.01", dampedSpring, 0.01, 10.0, 0.1, 0.01, false },
	{ "damped spring, dt 0.005", dampedSpring, 0.005, 10.0, 0.1, 0.003, false },
	{ "disk rolls on, dt 0.001", disk, 0.001, 0, 0, 0.01, false },
	{ "disk rolls on, dt 0.0025", disk, 0.0025, 0, 0, 0.01, false },
};

static const Miss misses[] = {
	{ "stiff spring gains nothing, 1 rad a step", "velocity", 1.6e-08, false },
	{ "stiff spring gains nothing, 1 rad a step", "impulse", 1.6e-08, false },
	{ 0 },
};

int main(int argc, char** argv) {
	return RUN_FACTS(facts, misses);
}
