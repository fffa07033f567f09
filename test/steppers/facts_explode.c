// What must not gain energy: slender bodies, fast spin, elastic bounces, friction beyond Painleve's bound, stiff springs.
#include "facts.h"

// --- sticks -------------------------------------------------------------------------------------------------------

typedef struct Sticks {
	const char* count;
	const char* width;
	const char* shape;
} Sticks;

static const Sticks kinds[] = {
	{ "8", "0.02", "box" },     { "8", "0.01", "box" },  { "30", "0.02", "box" },
	{ "8", "0.02", "capsule" }, { "8", "0.02", "hull" }, { "8", "0.02", "mesh" },
};

static knWorld* sticks(const Trial* trial) {
	const Sticks* kind = &kinds[(int)trial->b];
	Staged staged =
		STAGE(trial, "sticks", trial->a, "n", kind->count, "width", kind->width, "shape", kind->shape);
	return staged.world;
}

// a: friction, b: kind. The energy never rises above the first.
static double sticksGain(const Trial* trial) {
	knWorld* world = sticks(trial);
	return energyGain(world, 6.0, trial->dt, totalEnergy(world));
}

// They lie still after 10 s.
static double sticksRest(const Trial* trial) {
	knWorld* world = sticks(trial);
	double worst = 0.0;
	for (int i = 0, count = stepsOf(10.0, trial->dt); i < count; ++i) {
		if (!factStep(world, trial->dt)) {
			worst = DIVERGES;
			break;
		}
		worst = i * trial->dt >= 9.0 ? knMax(worst, unrest(world)) : 0.0;
	}
	knWorld_Destroy(world);
	return worst;
}

// --- a bar spinning flat ----------------------------------------------------------------------------------------

static knWorld* flatBar(const Trial* trial) {
	knScene* scene = newScene(earth);
	newGround(scene, material(trial->b, 0.0));
	knBodyId bar = newBox(scene, knV3(0.0, 0.0, 0.01), knV3(0.5, 0.01, 0.01), material(trial->b, 0.0));
	knScene_EditBody(scene, bar)->angularVelocity = knV3(0.0, 0.0, trial->a);
	return factWorld(trial, scene);
}

// a: spin, rad/s. Without friction it spins on.
static double flatBarKeepsSpinning(const Trial* trial) {
	knWorld* world = flatBar(trial);
	return energyError(world, 5.0, trial->dt, knWorld_Measure(world).kinetic);
}

// With friction it stops where it is: at 3 mu g/L, after 5.7 s from 50 rad/s.
static double flatBarStops(const Trial* trial) {
	knWorld* world = flatBar(trial);
	EnergyRun result = runEnergy(world, 8.0, trial->dt);
	double figure =
		result.finished ? knMax(unrest(world), 1e3 * knWorld_Measure(world).displacement) : DIVERGES;
	knWorld_Destroy(world);
	return figure;
}

// --- a rod on one hinge -----------------------------------------------------------------------------------------

// The inertia about its length is 1/800 of that across; a: spin, rad/s.
static double rodOnHinge(const Trial* trial) {
	knScene* scene = newScene(noGravity);
	knBodyId rod = newRod(scene, knZero3(), knV3(1.0, 0.0, 0.0), 0.0144, 1.0);
	knJointDef hinge = jointAt(scene, KN_JOINT_HINGE, KN_WORLD_BODY, rod, knZero3(), knV3(0.0, 0.0, 1.0));
	newJoint(scene, &hinge);
	knScene_EditBody(scene, rod)->angularVelocity = knV3(0.0, 0.0, trial->a);
	knScene_EditBody(scene, rod)->velocity = knV3(0.0, 0.5 * trial->a, 0.0);
	knWorld* world = factWorld(trial, scene);
	return energyError(world, 60.0, trial->dt, totalEnergy(world));
}

// --- an elastic gas ---------------------------------------------------------------------------------------------

static double gas(const Trial* trial) {
	Staged staged = STAGE_PLAIN(trial, "gas");
	return energyError(staged.world, 20.0, trial->dt, totalEnergy(staged.world));
}

// --- Painleve's rod -----------------------------------------------------------------------------------------------

// A rod of 1 m slides on one end at 60 degrees with friction 2, beyond 4/3 where Coulomb's law and a rigid rod contradict
// each other. a: velocity, m/s. It gains nothing and does not sink: 1 is 1 mm, or 1e-6 of its energy.
static double painleve(const Trial* trial) {
	knError error = { 0 };
	knScene* scene = newScene(earth);
	knShapeDef surface = material(2.0, 0.0);
	newGround(scene, surface);
	knVec3 along = knV3(knCos(KN_PI / 3.0), 0.0, knSin(KN_PI / 3.0));
	knBodyDef def = knBodyDef_Default();
	def.frame.p = knV3(0.0, 0.0, 0.49 * along.z + 0.01);
	def.frame.q = knQuat_Between(knV3(0.0, 0.0, 1.0), along);
	def.velocity = knV3(trial->a, 0.0, 0.0);
	knBodyId rod = newBody(scene, &def);
	assert_false(KN_ID_IS_NULL(knScene_AddCapsule(scene, rod, 0.01, 0.49, &surface, &error)));
	knWorld* world = factWorld(trial, scene);
	double first = totalEnergy(world), worst = 0.0;
	for (int i = 0; i < stepsOf(0.3, trial->dt); ++i) {
		if (!factStep(world, trial->dt)) {
			worst = DIVERGES;
			break;
		}
		worst = knMax(worst, (totalEnergy(world) / first - 1.0) / 1e-6);
		worst = knMax(worst, deepest(world) / 1e-3);
	}
	knWorld_Destroy(world);
	return worst;
}

// --- stiff springs ------------------------------------------------------------------------------------------------

// Six rods on hinges with springs that want them bent by 0.2 rad; a: N m/rad, b: N m s. They gain nothing.
static double stiffJoints(const Trial* trial) {
	knScene* scene = newScene(earth);
	knBodyId previous = KN_WORLD_BODY;
	for (int i = 0; i < 6; ++i) {
		knBodyId rod = newRod(scene, knV3(i, 0.0, 0.0), knV3(i + 1.0, 0.0, 0.0), 0.02, 1.0);
		knJointDef hinge =
			jointAt(scene, KN_JOINT_HINGE, previous, rod, knV3(i, 0.0, 0.0), knV3(0.0, i % 2, (i + 1) % 2));
		hinge.axis[0].stiffness = trial->a;
		hinge.axis[0].damping = trial->b;
		hinge.axis[0].rest = 0.2;
		newJoint(scene, &hinge);
		previous = rod;
	}
	knWorld* world = factWorld(trial, scene);
	return energyGain(world, 3.0, trial->dt, 6.0 * 0.5 * trial->a * 0.2 * 0.2);
}

// --- tables -------------------------------------------------------------------------------------------------------

static const Fact facts[] = {
	AT_USUAL_STEPS("eight sticks gain nothing, no friction", sticksGain, 0.0, 0, 1e-6),
	AT_USUAL_STEPS("eight sticks gain nothing, friction 0.3", sticksGain, 0.3, 0, 1e-6),
	AT_USUAL_STEPS("eight sticks gain nothing, friction 0.6", sticksGain, 0.6, 0, 1e-6),
	AT_USUAL_STEPS("eight sticks of 1 cm gain nothing", sticksGain, 0.3, 1, 1e-6),
	AT_USUAL_STEPS_SLOW("thirty sticks gain nothing", sticksGain, 0.3, 2, 1e-6),
	AT_USUAL_STEPS("eight capsules gain nothing", sticksGain, 0.3, 3, 1e-6),
	{ "eight sticks as hulls gain nothing, dt 1/60", sticksGain, 1.0 / 60.0, 0.6, 4, 1e-6, false },
	{ "eight sticks as meshes gain nothing, dt 1/60", sticksGain, 1.0 / 60.0, 0.6, 5, 1e-6, false },
	AT_USUAL_STEPS("eight sticks lie still, friction 0.3", sticksRest, 0.3, 0, 1.0),
	AT_USUAL_STEPS("eight sticks lie still, friction 0.6", sticksRest, 0.6, 0, 1.0),
	AT_USUAL_STEPS("eight sticks of 1 cm lie still", sticksRest, 0.6, 1, 1.0),
	AT_USUAL_STEPS("flat bar spins on, 10 rad/s", flatBarKeepsSpinning, 10.0, 0.0, 0.01),
	AT_USUAL_STEPS("flat bar spins on, 50 rad/s", flatBarKeepsSpinning, 50.0, 0.0, 0.01),
	AT_USUAL_STEPS("flat bar stops, 10 rad/s", flatBarStops, 10.0, 0.3, 1.0),
	AT_USUAL_STEPS("flat bar stops, 50 rad/s", flatBarStops, 50.0, 0.3, 1.0),
	AT_USUAL_STEPS("slender rod on a hinge, 10 rad/s", rodOnHinge, 10.0, 0.0, 1e-6),
	AT_USUAL_STEPS("elastic gas", gas, 0.0, 0.0, 1e-9),
	AT_USUAL_STEPS("Painleve's rod, 3 m/s", painleve, 3.0, 0.0, 1.0),
	AT_USUAL_STEPS("Painleve's rod, -3 m/s", painleve, -3.0, 0.0, 1.0),
	{ "Painleve's rod, -3 m/s, dt 0.001", painleve, 0.001, -3.0, 0.0, 1.0, false },
	AT_USUAL_STEPS("stiff springs in joints", stiffJoints, 2e3, 0.0, 1e-6),
	AT_USUAL_STEPS("stiff spring-dampers in joints", stiffJoints, 2e3, 20.0, 1e-6),
	AT_USUAL_STEPS("very stiff spring-dampers in joints", stiffJoints, 2e6, 2e3, 1e-6),
};

static const Miss misses[] = {
	// a stick that has come to lie across another rocks on the two edges of it, which takes out 0.2 % of its speed each time
	{ "eight sticks lie still, friction 0.6, dt 0.005", "velocity", 7.2, true },
	{ "eight sticks lie still, friction 0.6, dt 0.005", "impulse", 8, true },
	{ "eight sticks of 1 cm lie still, dt 0.005", "reduced", 8.1, false },
	{ 0 },
};

int main(int argc, char** argv) {
	return RUN_FACTS(facts, misses);
}
