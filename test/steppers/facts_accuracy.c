// What must be accurate: closed forms of flight, sliding, rolling, bounces, spin; limits, long chains, ropes over a drum.
#include "facts.h"

// --- free flight and contact -------------------------------------------------------------------------------------

// The distance from the parabola after 2 s, m.
static double projectile(const Trial* trial) {
	knScene* scene = newScene(earth);
	knBodyId body = newMass(scene, knIdentityF(), 1.0, knV3(1.0, 2.0, 3.0));
	knScene_EditBody(scene, body)->velocity = knV3(3.0, -1.0, 10.0);
	knWorld* world = factWorld(trial, scene);
	double time = 0.0;
	for (int i = 0; i < stepsOf(2.0, trial->dt); ++i, time += trial->dt) {
		factStep(world, trial->dt);
	}
	knVec3 exact = knV3(3.0 * time, -time, 10.0 * time - 0.5 * 9.81 * time * time);
	double figure = knDistance(knWorld_BodyCenter(world, body), exact);
	knWorld_Destroy(world);
	return figure;
}

// A block given 6 m/s stops after v^2/(2 mu g); a: mu. The error in units of the second-order bound mu g h^2/8.
static double slidingBlock(const Trial* trial) {
	knScene* scene = newScene(earth);
	newGround(scene, material(trial->a, 0.0));
	knBodyId block = newBox(scene, knV3(0.0, 0.0, 0.1), knV3(0.5, 0.5, 0.1), material(trial->a, 0.0));
	knScene_EditBody(scene, block)->velocity = knV3(6.0, 0.0, 0.0);
	knWorld* world = factWorld(trial, scene);
	for (int i = 0; i < stepsOf(3.0, trial->dt); ++i) {
		factStep(world, trial->dt);
	}
	double off = fabs(knWorld_BodyCenter(world, block).x - 36.0 / (2.0 * trial->a * 9.81));
	double left = unrest(world);
	knWorld_Destroy(world);
	return knMax(off / (trial->a * 9.81 * trial->dt * trial->dt / 8.0 + 1e-9), left);
}

// A ball rolls down a plane of a degrees from rest: 5/14 g sin t^2. The error after 2 s in units of g h^2.
static double rollingBall(const Trial* trial) {
	knError error = { 0 };
	knScene* scene = newScene(earth);
	double angle = trial->a * KN_PI / 180.0;
	knShapeDef plane = material(0.6, 0.0);
	plane.frame.q = knQuat_FromAxisAngle(knV3(0.0, 1.0, 0.0), angle);
	knVec3 up = knRotate(plane.frame.q, knV3(0.0, 0.0, 1.0)),
		   down = knRotate(plane.frame.q, knV3(1.0, 0.0, 0.0));
	assert_false(KN_ID_IS_NULL(knScene_AddPlane(scene, KN_WORLD_BODY, &plane, &error)));
	knBodyId ball = newBall(scene, knScale(0.1, up), 0.1, knZero3(), material(0.6, 0.0));
	knWorld* world = factWorld(trial, scene);
	for (int i = 0; i < stepsOf(2.0, trial->dt); ++i) {
		factStep(world, trial->dt);
	}
	double gone = knDot(knWorld_BodyCenter(world, ball), down);
	knWorld_Destroy(world);
	return fabs(gone - 5.0 / 14.0 * 9.81 * sin(angle) * 4.0) / (9.81 * trial->dt * trial->dt);
}

// A ball slides (3 m/s, friction 0.2), then rolls from t = 2 v/(7 mu g) with 5/7 v. In units of g h^2, after 2 s.
static double slidesThenRolls(const Trial* trial) {
	knScene* scene = newScene(earth);
	newGround(scene, material(0.2, 0.0));
	knBodyId ball = newBall(scene, knV3(0.0, 0.0, 0.1), 0.1, knV3(3.0, 0.0, 0.0), material(0.2, 0.0));
	knWorld* world = factWorld(trial, scene);
	for (int i = 0; i < stepsOf(2.0, trial->dt); ++i) {
		factStep(world, trial->dt);
	}
	double t = 2.0 * 3.0 / (7.0 * 0.2 * 9.81);
	double exact = 3.0 * t - 0.5 * 0.2 * 9.81 * t * t + 5.0 / 7.0 * 3.0 * (2.0 - t);
	double figure = fabs(knWorld_BodyCenter(world, ball).x - exact) / (9.81 * trial->dt * trial->dt);
	knWorld_Destroy(world);
	return figure;
}

// A spinning ball strikes the ground aslant and grips: its spin afterwards is w + 5/7 slip/r, wherever in a step it lands.
// The worst of ten drops, rad/s of about 16.
static double obliqueBounce(const Trial* trial) {
	double worst = 0.0;
	for (int k = 0; k < 10; ++k) {
		knScene* scene = newScene(earth);
		newGround(scene, material(0.5, 0.0));
		knBodyId ball =
			newBall(scene, knV3(0.0, 0.0, 0.4 + 0.0137 * k), 0.1, knV3(2.0, 0.0, -3.0), material(0.5, 0.8));
		knScene_EditBody(scene, ball)->angularVelocity = knV3(0.0, 5.0, 0.0);
		knWorld* world = factWorld(trial, scene);
		for (int i = 0; i < stepsOf(0.3, trial->dt); ++i) {
			factStep(world, trial->dt);
		}
		double exact = 5.0 + 2.0 / 7.0 * (2.0 - 5.0 * 0.1) / 0.4 / 0.1;
		worst = knMax(worst, fabs(knWorld_BodyAngularVelocity(world, ball).y - exact));
		knWorld_Destroy(world);
	}
	return worst;
}

// --- spin ---------------------------------------------------------------------------------------------------------

// A free body (a = 0), or a wheel on a hinge through its centre, turns by b rad in a step: its angle after 100 steps.
static double steadySpin(const Trial* trial) {
	knScene* scene = newScene(noGravity);
	knBodyId body = newMass(scene, knIdentityF(), 1.0, knV3(1.0, 2.0, 3.0));
	knVec3 axis = knV3(0.0, 0.0, 1.0);
	knScene_EditBody(scene, body)->angularVelocity = knScale(trial->b / trial->dt, axis);
	if (trial->a != 0.0) {
		knJointDef hinge = jointAt(scene, KN_JOINT_HINGE, KN_WORLD_BODY, body, knZero3(), axis);
		newJoint(scene, &hinge);
	}
	knWorld* world = factWorld(trial, scene);
	double turned = 0.0;
	for (int i = 0; i < 100; ++i) {
		knQuat before = knWorld_BodyFrame(world, body).q;
		factStep(world, trial->dt);
		turned += turnedBy(before, knWorld_BodyFrame(world, body).q, axis);
	}
	knWorld_Destroy(world);
	return fabs(turned - 100.0 * trial->b);
}

// --- mechanisms ---------------------------------------------------------------------------------------------------

// The crank's angle against speed x time after 60 turns, rad.
static double crank(const Trial* trial) {
	Staged staged = STAGE_PLAIN(trial, "crank");
	knBodyId body = knScene_FindBody(knModel_Scene(knWorld_Model(staged.world)), "crank");
	double turned = 0.0;
	for (int i = 0; i < stepsOf(60.0, trial->dt); ++i) {
		knQuat before = knWorld_BodyFrame(staged.world, body).q;
		if (!factStep(staged.world, trial->dt)) {
			knWorld_Destroy(staged.world);
			return DIVERGES;
		}
		turned += turnedBy(before, knWorld_BodyFrame(staged.world, body).q, knV3(0.0, -1.0, 0.0));
	}
	knWorld_Destroy(staged.world);
	return fabs(turned - 2.0 * KN_PI * 60.0);
}

// A rod falls on its hinge onto a limit at a rad below the horizontal: how far beyond it, rad.
static double hingeLimit(const Trial* trial) {
	knScene* scene = newScene(earth);
	knBodyId rod = newRod(scene, knZero3(), knV3(1.0, 0.0, 0.0), 0.02, 1.0);
	knJointDef hinge = jointAt(scene, KN_JOINT_HINGE, KN_WORLD_BODY, rod, knZero3(), knV3(0.0, 1.0, 0.0));
	hinge.axis[0].limited = true;
	hinge.axis[0].lower = -10.0;
	hinge.axis[0].upper = trial->a;
	newJoint(scene, &hinge);
	knWorld* world = factWorld(trial, scene);
	double angle = 0.0, beyond = 0.0;
	for (int i = 0; i < stepsOf(2.0, trial->dt); ++i) {
		knQuat before = knWorld_BodyFrame(world, rod).q;
		factStep(world, trial->dt);
		angle += turnedBy(before, knWorld_BodyFrame(world, rod).q, knV3(0.0, 1.0, 0.0));
		beyond = knMax(beyond, angle - trial->a);
	}
	// it lies on its limit
	double left = fabs(angle - trial->a);
	knWorld_Destroy(world);
	return knMax(beyond, left);
}

// A chain of a links falls from the horizontal: its worst joint, m.
static double longChain(const Trial* trial) {
	knScene* scene = newScene(earth);
	RowDef row = { (int)trial->a,    0.1, 1.0, 1.0, knZero3(), { 1.0, 0.0, 0.0 }, KN_JOINT_BALL,
				   { 0.0, 1.0, 0.0 } };
	newRow(scene, &row);
	knWorld* world = factWorld(trial, scene);
	double worst = 0.0;
	for (int i = 0; i < stepsOf(2.0, trial->dt); ++i) {
		if (!factStep(world, trial->dt)) {
			worst = DIVERGES;
			break;
		}
		worst = knMax(worst, knWorld_Measure(world).jointError);
	}
	knWorld_Destroy(world);
	return worst;
}

// --- energy balance -----------------------------------------------------------------------------------------------

// What the energy changed by less the work that the steps report, as a share of the work done and undone; ends the world.
static double imbalance(knWorld* world, double time, double dt) {
	double first = totalEnergy(world), sum = 0.0, moved = 0.0;
	for (int i = 0; i < stepsOf(time, dt); ++i) {
		if (!factStep(world, dt)) {
			knWorld_Destroy(world);
			return DIVERGES;
		}
		sum += knWorld_Report(world)->work;
		moved += fabs(knWorld_Report(world)->work);
	}
	double change = totalEnergy(world) - first;
	knWorld_Destroy(world);
	return fabs(change - sum) / knMax(moved, 1e-9);
}

// A rod on a hinge, driven: a is the mode, b its target.
static double drivenPendulum(const Trial* trial) {
	knScene* scene = newScene(earth);
	knBodyId rod = newRod(scene, knZero3(), knV3(0.0, 0.0, -1.0), 0.02, 1.0);
	knJointDef hinge = jointAt(scene, KN_JOINT_HINGE, KN_WORLD_BODY, rod, knZero3(), knV3(0.0, 1.0, 0.0));
	hinge.axis[0].motorMode = (knMotorMode)trial->a;
	hinge.axis[0].motorTarget = trial->b;
	hinge.axis[0].motorMaxForce = 20.0;
	newJoint(scene, &hinge);
	return imbalance(factWorld(trial, scene), 5.0, trial->dt);
}

// A kinematic platform at 1 m/s lifts a box, or (a = 1) a rod that hangs from it and swings.
static double kinematicLift(const Trial* trial) {
	knError error = { 0 };
	knScene* scene = newScene(earth);
	knBodyDef def = knBodyDef_Default();
	def.kind = KN_BODY_KINEMATIC;
	def.velocity = knV3(0.0, 0.0, 1.0);
	knBodyId platform = newBody(scene, &def), load;
	knShapeDef surface = material(0.6, 0.0);
	assert_false(KN_ID_IS_NULL(knScene_AddBox(scene, platform, knV3(1.0, 1.0, 0.1), &surface, &error)));
	if (trial->a == 0.0) {
		load = newBox(scene, knV3(0.1, 0.2, 0.4), knV3(0.3, 0.3, 0.3), surface);
	} else {
		load = newRod(scene, knV3(0.0, 0.0, -0.5), knV3(0.5, 0.0, -1.0), 0.02, 1.0);
		knJointDef joint =
			jointAt(scene, KN_JOINT_BALL, platform, load, knV3(0.0, 0.0, -0.5), knV3(0.0, 1.0, 0.0));
		newJoint(scene, &joint);
	}
	knScene_EditBody(scene, load)->velocity = def.velocity;
	return imbalance(factWorld(trial, scene), 3.0, trial->dt);
}

// --- capstan ------------------------------------------------------------------------------------------------------

// m, how far the heavy load sinks in 2 s; `gap`: m, how far joints have opened.
static double runCapstan(const Trial* trial, double* gap) {
	char share[32];
	snprintf(share, sizeof(share), "%.17g", trial->a);
	Staged staged = STAGE(trial, "capstan", -1.0, "share", share);
	knSceneChecks checks = { 0 };
	bool finished = true;
	for (int i = 0; i < stepsOf(2.0, trial->dt) && finished; ++i) {
		finished = factStep(staged.world, trial->dt);
		*gap = knMax(*gap, knWorld_Measure(staged.world).jointError);
	}
	staged.args.entry->observe(staged.world, &staged.args, &checks);
	knWorld_Destroy(staged.world);
	return finished ? checks.values[0] : DIVERGES;
}

static double capstanSlides(const Trial* trial) {
	double gap = 0.0;
	return runCapstan(trial, &gap);
}

// Links of 10 g between loads of 100 kg, over the drum in jerks: how far their joints open, m.
static double capstanOpens(const Trial* trial) {
	double gap = 0.0;
	return knIsFinite(runCapstan(trial, &gap)) ? gap : DIVERGES;
}

// a: share of the limit. Below it nothing moves: m.
static double capstanHolds(const Trial* trial) {
	return fabs(capstanSlides(trial));
}

// Beyond it the load sinks with g (s - 1)/(s + 1): what is missing of it, as a share, or too much.
static double capstanSlips(const Trial* trial) {
	double exact = 0.5 * 9.81 * (trial->a - 1.0) / (trial->a + 1.0) * 4.0, slid = capstanSlides(trial);
	return fabs(slid / exact - 1.0);
}

// --- tables -------------------------------------------------------------------------------------------------------

static const Fact facts[] = {
	AT_USUAL_STEPS("projectile", projectile, 0, 0, 1e-9),
	AT_USUAL_STEPS("sliding block stops, friction 0.5", slidingBlock, 0.5, 0, 1.0),
	AT_USUAL_STEPS("sliding block stops, friction 0.8", slidingBlock, 0.8, 0, 1.0),
	AT_USUAL_STEPS("ball rolls down 20 degrees", rollingBall, 20.0, 0, 1.0),
	AT_USUAL_STEPS("ball slides, then rolls", slidesThenRolls, 0, 0, 1.0),
	AT_USUAL_STEPS("oblique bounce of a ball", obliqueBounce, 0, 0, 0.05),
	{ "free body, 1 rad a step", steadySpin, 0.01, 0, 1.0, 1e-6, false },
	{ "free body, 3 rad a step", steadySpin, 0.01, 0, 3.0, 1e-6, false },
	{ "wheel on a hinge, 0.1 rad a step", steadySpin, 0.01, 1, 0.1, 1e-6, false },
	{ "wheel on a hinge, 1 rad a step", steadySpin, 0.01, 1, 1.0, 1e-6, false },
	AT_USUAL_STEPS_SLOW("slider-crank, 60 turns", crank, 0, 0, 0.01),
	AT_USUAL_STEPS("hinge limit struck at speed", hingeLimit, 1.2, 0, 1e-6),
	AT_USUAL_STEPS("chain of 50 links stays closed", longChain, 50, 0, 1e-9),
	AT_USUAL_STEPS("chain of 100 links stays closed", longChain, 100, 0, 1e-9),
	AT_USUAL_STEPS("balance of a torque motor", drivenPendulum, KN_MOTOR_FORCE, 3.0, 1e-6),
	AT_USUAL_STEPS("balance of a speed motor", drivenPendulum, KN_MOTOR_VELOCITY, 2.0, 1e-6),
	AT_USUAL_STEPS("balance of a kinematic lift", kinematicLift, 0, 0, 1e-6),
	AT_USUAL_STEPS("balance of a kinematic crane", kinematicLift, 1, 0, 1e-6),
	AT_USUAL_STEPS_SLOW("rope on a drum holds at 0.92 of the limit", capstanHolds, 0.92, 0, 1e-3),
	AT_USUAL_STEPS_SLOW("rope on a drum slips at 1.07 of the limit", capstanSlips, 1.07, 0, 0.5),
	AT_USUAL_STEPS_SLOW("rope that slips on a drum stays whole", capstanOpens, 1.07, 0, 1e-6),
};

static const Miss misses[] = {
	{ "balance of a torque motor, dt 1/60", "reduced", 3.5e-05, false },
	{ "balance of a torque motor, dt 0.01", "reduced", 1.3e-05, false },
	{ "balance of a speed motor, dt 1/60", "reduced", 0.0025, false },
	{ "balance of a speed motor, dt 0.01", "reduced", 0.006, false },
	{ "balance of a kinematic crane, dt 1/60", "reduced", 0.00075, false },
	{ "balance of a kinematic crane, dt 0.01", "reduced", 0.00046, false },
	{ "balance of a torque motor, dt 1/60", "velocity", 1.4e-06, false },
	{ "balance of a kinematic crane, dt 1/60", "velocity", 2.6e-06, false },
	{ "balance of a torque motor, dt 1/60", "impulse", 1.4e-06, false },
	{ "balance of a kinematic crane, dt 1/60", "impulse", 2.6e-06, false },
	{ "balance of a torque motor, dt 0.005", "reduced", 3.1e-06, false },
	{ "balance of a speed motor, dt 0.005", "reduced", 0.0028, false },
	{ "balance of a kinematic crane, dt 0.005", "reduced", 0.00023, false },
	// jerks of the taut rope, whose steps start rows finish
	{ "rope on a drum slips at 1.07 of the limit, dt 0.01", "velocity", 0.67, true },
	{ "rope on a drum slips at 1.07 of the limit, dt 0.01", "impulse", 0.67, true },
	{ "rope on a drum slips at 1.07 of the limit, dt 1/60", "reduced", 1, true },
	{ "rope that slips on a drum stays whole, dt 1/60", "reduced", DIVERGES, true },
	{ "rope that slips on a drum stays whole, dt 0.01", "reduced", DIVERGES, true },
	{ "rope that slips on a drum stays whole, dt 0.005", "reduced", DIVERGES, true },
	{ "rope on a drum slips at 1.07 of the limit, dt 0.01", "reduced", 9, true },
	{ "rope on a drum slips at 1.07 of the limit, dt 0.005", "reduced", 9.9, true },
	{ 0 },
};

int main(int argc, char** argv) {
	return RUN_FACTS(facts, misses);
}
