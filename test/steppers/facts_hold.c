// What holds and must go on holding: periods, momentum, friction at its limit, loaded stacks, bounces, equal bits.
#include "facts.h"

// --- periods ------------------------------------------------------------------------------------------------------

// A rod released at a rad: its period by the arithmetic-geometric mean, T = 2 pi/(w agm(1, cos(a/2))). The relative error
// after ten periods in units of (h w)^2.
static double pendulumPeriod(const Trial* trial) {
	knScene* scene = newScene(earth);
	RowDef row = { 1,
				   1.0,
				   1.0,
				   1.0,
				   knZero3(),
				   { knSin(trial->a), 0.0, -knCos(trial->a) },
				   KN_JOINT_HINGE,
				   { 0.0, 1.0, 0.0 } };
	knBodyId rod = newRow(scene, &row);
	double inertia = 1.0 / 3.0 + 0.02 * 0.02 / 4.0, w = sqrt(0.5 * 9.81 / inertia), x = 1.0,
		   y = cos(0.5 * trial->a);
	for (int k = 0; k < 20; ++k) {
		double mean = 0.5 * (x + y);
		y = sqrt(x * y);
		x = mean;
	}
	double period = 2.0 * KN_PI / (w * x), last = 0.0, time = 0.0;
	knWorld* world = factWorld(trial, scene);
	int passed = 0;
	for (int i = 0; i < 100000 && passed < 20; ++i) {
		double before = knWorld_BodyCenter(world, rod).x;
		factStep(world, trial->dt);
		double now = knWorld_BodyCenter(world, rod).x;
		if (before * now < 0.0) {
			passed += 1;
			last = time + trial->dt * before / (before - now);
		}
		time += trial->dt;
	}
	knWorld_Destroy(world);
	// the twentieth passage comes after a quarter and nineteen halves
	return fabs(last / (period * 9.75) - 1.0) / (trial->dt * trial->dt * w * w);
}

// Euler's equations by the classical Runge-Kutta method: the rate of w in body axes.
static knVec3 eulerRate(knVec3 w, knVec3 I) {
	return knV3((I.y - I.z) * w.y * w.z / I.x, (I.z - I.x) * w.z * w.x / I.y, (I.x - I.y) * w.x * w.y / I.z);
}

static double firstFlip(knVec3 I, knVec3 w, double dt) {
	for (int i = 0;; ++i) {
		double before = w.y;
		knVec3 k1 = eulerRate(w, I), k2 = eulerRate(knMulAdd(w, 0.5 * dt, k1), I);
		knVec3 k3 = eulerRate(knMulAdd(w, 0.5 * dt, k2), I), k4 = eulerRate(knMulAdd(w, dt, k3), I);
		knVec3 sum = knAdd(knAdd(k1, k4), knScale(2.0, knAdd(k2, k3)));
		w = knMulAdd(w, dt / 6.0, sum);
		if (before > 0.0 && w.y <= 0.0) {
			return (i + before / (before - w.y)) * dt;
		}
	}
}

// A free body spinning about its middle axis turns over (Dzhanibekov): the time of the first flip, error in units of (h w)^2 s.
static double flipTime(const Trial* trial) {
	knVec3 I = knV3(1.0, 2.0, 3.0), w = knV3(0.01, 5.0, 0.01);
	knScene* scene = newScene(noGravity);
	knBodyId body = newMass(scene, knIdentityF(), 1.0, I);
	knScene_EditBody(scene, body)->angularVelocity = w;
	knWorld* world = factWorld(trial, scene);
	double time = 0.0, before, now = w.y;
	do {
		before = now;
		factStep(world, trial->dt);
		now = knInvRotate(knWorld_BodyFrame(world, body).q, knWorld_BodyAngularVelocity(world, body)).y;
		time += trial->dt;
	} while (now > 0.0 && time < 20.0);
	double flip = time - trial->dt * now / (now - before);
	knWorld_Destroy(world);
	return fabs(flip - firstFlip(I, w, 1e-4)) / (25.0 * trial->dt * trial->dt);
}

// Its energy, and a pendulum's, over 20 s.
static double flipEnergy(const Trial* trial) {
	knScene* scene = newScene(noGravity);
	knBodyId body = newMass(scene, knIdentityF(), 1.0, knV3(1.0, 2.0, 3.0));
	knScene_EditBody(scene, body)->angularVelocity = knV3(0.01, 5.0, 0.01);
	knWorld* world = factWorld(trial, scene);
	return energyError(world, 20.0, trial->dt, totalEnergy(world));
}

static double pendulumEnergy(const Trial* trial) {
	knScene* scene = newScene(earth);
	RowDef row = { 1,
				   1.0,
				   1.0,
				   1.0,
				   knZero3(),
				   { knSin(trial->a), 0.0, -knCos(trial->a) },
				   KN_JOINT_HINGE,
				   { 0.0, 1.0, 0.0 } };
	newRow(scene, &row);
	return energyError(factWorld(trial, scene), 20.0, trial->dt, 0.5 * 9.81);
}

// --- momentum -----------------------------------------------------------------------------------------------------

// Three jointed free bodies, tumbling: linear and angular momentum after 1e4 steps, relative.
static double momentum(const Trial* trial) {
	knScene* scene = newScene(noGravity);
	knBodyId bodies[3];
	for (int i = 0; i < 3; ++i) {
		bodies[i] = newRod(scene, knV3(i, 0.0, 0.0), knV3(i + 1.0, 0.0, 0.0), 0.1, 1.0 + i);
	}
	knJointDef ball =
		jointAt(scene, KN_JOINT_BALL, bodies[0], bodies[1], knV3(1.0, 0.0, 0.0), knV3(1.0, 0.0, 0.0));
	newJoint(scene, &ball);
	knJointDef hinge =
		jointAt(scene, KN_JOINT_HINGE, bodies[1], bodies[2], knV3(2.0, 0.0, 0.0), knV3(0.0, 1.0, 0.0));
	newJoint(scene, &hinge);
	knScene_EditBody(scene, bodies[0])->velocity = knV3(0.3, 1.0, -0.2);
	knScene_EditBody(scene, bodies[2])->angularVelocity = knV3(1.0, -2.0, 0.5);
	knWorld* world = factWorld(trial, scene);
	knMeasures first = knWorld_Measure(world);
	for (int i = 0; i < 10000; ++i) {
		factStep(world, trial->dt);
	}
	knMeasures last = knWorld_Measure(world);
	knWorld_Destroy(world);
	return knMax(knDistance(last.momentum, first.momentum) / knLength(first.momentum),
				 knDistance(last.angularMomentum, first.angularMomentum) / knLength(first.angularMomentum));
}

// --- friction at its limit ----------------------------------------------------------------------------------------

static knBodyId newSlopedBox(knScene* scene, double angle, knVec3 half, double friction) {
	knError error = { 0 };
	knShapeDef plane = material(friction, 0.0);
	plane.frame.q = knQuat_FromAxisAngle(knV3(0.0, 1.0, 0.0), angle);
	assert_false(KN_ID_IS_NULL(knScene_AddPlane(scene, KN_WORLD_BODY, &plane, &error)));
	knBodyId box =
		newBox(scene, knRotate(plane.frame.q, knV3(0.0, 0.0, half.z)), half, material(friction, 0.0));
	knScene_EditBody(scene, box)->frame.q = plane.frame.q;
	return box;
}

// A box on a slope at a of the critical friction: how far it creeps in a minute, m.
static double creep(const Trial* trial) {
	knScene* scene = newScene(earth);
	newSlopedBox(scene, 0.3, knV3(0.4, 0.3, 0.2), tan(0.3) / trial->a);
	knWorld* world = factWorld(trial, scene);
	for (int i = 0; i < stepsOf(60.0, trial->dt); ++i) {
		factStep(world, trial->dt);
	}
	double figure = knWorld_Measure(world).displacement;
	knWorld_Destroy(world);
	return figure;
}

// Beyond it, it slides with g (sin - mu cos): the relative error of its way after 2 s, order 2 in dt: in units of h.
static double slides(const Trial* trial) {
	knScene* scene = newScene(earth);
	double mu = tan(0.3) / trial->a;
	knBodyId box = newSlopedBox(scene, 0.3, knV3(0.4, 0.3, 0.2), mu);
	knWorld* world = factWorld(trial, scene);
	knVec3 start = knWorld_BodyCenter(world, box);
	for (int i = 0; i < stepsOf(2.0, trial->dt); ++i) {
		factStep(world, trial->dt);
	}
	double gone = knDistance(knWorld_BodyCenter(world, box), start);
	knWorld_Destroy(world);
	return fabs(gone / (0.5 * 9.81 * (sin(0.3) - mu * cos(0.3)) * 4.0) - 1.0);
}

// A tall box on a slope that it grips tips at tan = width/height; a: share of that. 0 when it does as it must.
static double tips(const Trial* trial) {
	double width = 0.2, height = 0.8;
	knScene* scene = newScene(earth);
	knBodyId box =
		newSlopedBox(scene, atan(trial->a * width / height), knV3(0.5 * width, 0.2, 0.5 * height), 1.0);
	knWorld* world = factWorld(trial, scene);
	knVec3 up = knRotate(knWorld_BodyFrame(world, box).q, knV3(0.0, 0.0, 1.0));
	for (int i = 0; i < stepsOf(8.0, trial->dt); ++i) {
		factStep(world, trial->dt);
	}
	double cosine = knDot(up, knRotate(knWorld_BodyFrame(world, box).q, knV3(0.0, 0.0, 1.0)));
	knWorld_Destroy(world);
	bool fell = cosine < 0.7;
	return fell == (trial->a > 1.0) ? 0.0 : 1.0;
}

// --- stacks -------------------------------------------------------------------------------------------------------

// Ten cubes of 1 kg, the top one a kg: the largest movement in 5 s, m.
static double loadedStack(const Trial* trial) {
	knScene* scene = newScene(earth);
	newGround(scene, material(0.5, 0.0));
	for (int i = 0; i < 10; ++i) {
		knShapeDef shape = material(0.5, 0.0);
		shape.density = i == 9 ? trial->a : 1.0;
		newBox(scene, knV3(0.0, 0.0, 0.5 + i), knV3(0.5, 0.5, 0.5), shape);
	}
	knWorld* world = factWorld(trial, scene);
	double worst = 0.0;
	for (int i = 0; i < stepsOf(5.0, trial->dt); ++i) {
		factStep(world, trial->dt);
		worst = knMax(worst, knWorld_Measure(world).displacement);
	}
	knWorld_Destroy(world);
	return worst;
}

// The forces on the ground against the weight, relative.
static double stackReaction(const Trial* trial) {
	knScene* scene = newScene(earth);
	newGround(scene, material(0.5, 0.0));
	for (int i = 0; i < 10; ++i) {
		knShapeDef shape = material(0.5, 0.0);
		shape.density = i == 9 ? trial->a : 1.0;
		newBox(scene, knV3(0.0, 0.0, 0.5 + i), knV3(0.5, 0.5, 0.5), shape);
	}
	knWorld* world = factWorld(trial, scene);
	for (int i = 0; i < stepsOf(2.0, trial->dt); ++i) {
		factStep(world, trial->dt);
	}
	int count;
	const knContact* contacts = knWorld_Contacts(world, &count);
	double force = 0.0;
	for (int i = 0; i < count; ++i) {
		double up = contacts[i].impulse.z / trial->dt;
		force += KN_ID_IS_NULL(contacts[i].bodyA) ? up : KN_ID_IS_NULL(contacts[i].bodyB) ? -up : 0.0;
	}
	knWorld_Destroy(world);
	return fabs(force / (9.81 * (9.0 + trial->a)) - 1.0);
}

// --- bounces ------------------------------------------------------------------------------------------------------

// A ball of restitution a falls from 1 m: after each of three bounces it has a^2 of the energy; the worst relative error.
static double bounces(const Trial* trial) {
	knScene* scene = newScene(earth);
	newGround(scene, material(0.3, 0.0));
	knBodyId ball = newBall(scene, knV3(0.0, 0.0, 1.1037), 0.1, knZero3(), material(0.3, trial->a));
	knWorld* world = factWorld(trial, scene);
	double mass = knModel_BodyMass(knWorld_Model(world), ball).mass, rest = mass * 9.81 * 0.1;
	double expected = totalEnergy(world) - rest, worst = 0.0;
	for (int i = 0, bounced = 0; i < stepsOf(4.0, trial->dt) && bounced < 3; ++i) {
		double before = knWorld_BodyVelocity(world, ball).z;
		factStep(world, trial->dt);
		if (before < 0.0 && knWorld_BodyVelocity(world, ball).z > 0.0) {
			bounced += 1;
			expected *= trial->a * trial->a;
			worst = knMax(worst, fabs((totalEnergy(world) - rest) / expected - 1.0));
		}
	}
	knWorld_Destroy(world);
	return worst;
}

// A kinematic block at a m/s, 1 m thick, strikes a ball at rest with restitution 1: the ball leaves with twice its speed.
static double kinematicBlow(const Trial* trial) {
	knError error = { 0 };
	knScene* scene = newScene(noGravity);
	knBodyDef racket = knBodyDef_Default();
	racket.kind = KN_BODY_KINEMATIC;
	racket.frame.p = knV3(-2.0, 0.0, 0.0);
	racket.velocity = knV3(trial->a, 0.0, 0.0);
	racket.fast = true;
	knShapeDef surface = material(0.0, 1.0);
	knBodyId id = newBody(scene, &racket);
	assert_false(KN_ID_IS_NULL(knScene_AddBox(scene, id, knV3(0.5, 1.0, 1.0), &surface, &error)));
	knBodyId ball = newBall(scene, knZero3(), 0.2, knZero3(), surface);
	knWorld* world = factWorld(trial, scene);
	bool finished = true;
	for (int i = 0; i < stepsOf(4.0 / trial->a, trial->dt) + 2 && finished; ++i) {
		finished = factStep(world, trial->dt);
	}
	double figure = fabs(knWorld_BodyVelocity(world, ball).x / (2.0 * trial->a) - 1.0);
	knWorld_Destroy(world);
	return finished ? figure : DIVERGES;
}

// --- bits ---------------------------------------------------------------------------------------------------------

// A clone, and a world restored from a snapshot, go on with equal bits: 0.
static double equalBits(const Trial* trial) {
	knError error = { 0 };
	Staged staged = STAGE(trial, "ragdolls", -1.0, "count", "2");
	knWorld* world = staged.world;
	for (int i = 0; i < 40; ++i) {
		factStep(world, trial->dt);
	}
	knWorld* clone = knWorld_Clone(world, &error);
	assert_non_null(clone);
	size_t size = knWorld_StateSize(world);
	void* memory = malloc(size);
	assert_non_null(memory);
	assert_ok(knWorld_Save(world, memory, size));
	for (int i = 0; i < 20; ++i) {
		factStep(world, trial->dt);
		factStep(clone, trial->dt);
	}
	uint64_t first = knWorld_Hash(world), second = knWorld_Hash(clone);
	assert_ok(knWorld_Restore(world, memory, size, &error));
	for (int i = 0; i < 20; ++i) {
		factStep(world, trial->dt);
	}
	uint64_t third = knWorld_Hash(world);
	free(memory);
	knWorld_Destroy(clone);
	knWorld_Destroy(world);
	return first == second && first == third ? 0.0 : 1.0;
}

// --- tables -------------------------------------------------------------------------------------------------------

static const Fact facts[] = {
	AT_USUAL_STEPS("period of a pendulum, 1 rad", pendulumPeriod, 1.0, 0, 1.0),
	AT_USUAL_STEPS("period of a pendulum, 2.5 rad", pendulumPeriod, 2.5, 0, 1.0),
	AT_USUAL_STEPS("energy of a pendulum", pendulumEnergy, 1.0, 0, 1e-10),
	AT_USUAL_STEPS("time of a flip", flipTime, 0, 0, 1.0),
	AT_USUAL_STEPS("energy of a tumbling body", flipEnergy, 0, 0, 1e-11),
	AT_USUAL_STEPS("momentum of jointed bodies, 1e4 steps", momentum, 0, 0, 1e-11),
	AT_USUAL_STEPS("creep at 0.99 of the critical friction", creep, 0.99, 0, 1e-10),
	AT_USUAL_STEPS("slides at 1.05 of the critical friction", slides, 1.05, 0, 0.01),
	AT_USUAL_STEPS("tall box stands at 0.995 of its balance", tips, 0.995, 0, 0.0),
	AT_USUAL_STEPS("tall box tips at 1.005 of its balance", tips, 1.005, 0, 0.0),
	AT_USUAL_STEPS("stack under a load 1000:1", loadedStack, 1000.0, 0, 4e-6),
	AT_USUAL_STEPS("stack under a load 10000:1", loadedStack, 10000.0, 0, 4e-6),
	AT_USUAL_STEPS("reaction under a load 1000:1", stackReaction, 1000.0, 0, 1e-6),
	AT_USUAL_STEPS("bounces of restitution 1", bounces, 1.0, 0, 1e-9),
	AT_USUAL_STEPS("bounces of restitution 0.5", bounces, 0.5, 0, 1e-9),
	AT_USUAL_STEPS("blow of a kinematic block, 30 m/s", kinematicBlow, 30.0, 0, 1e-6),
	AT_USUAL_STEPS("blow of a kinematic block, 300 m/s", kinematicBlow, 300.0, 0, 1e-6),
	{ "equal bits of clone and restore", equalBits, 0.01, 0, 0, 0.0, false },
};

static const Miss misses[] = {
	{ "momentum of jointed bodies, 1e4 steps, dt 1/60", "reduced", 2.7e-09, false },
	{ "momentum of jointed bodies, 1e4 steps, dt 0.01", "reduced", 1.5e-08, false },
	{ "stack under a load 10000:1, dt 1/60", "reduced", 2.3e-05, false },
	{ "stack under a load 10000:1, dt 0.01", "reduced", 8.3e-06, false },
	{ "energy of a pendulum, dt 1/60", "velocity", 0.014, false },
	{ "energy of a pendulum, dt 0.01", "velocity", 0.0084, false },
	{ "energy of a pendulum, dt 0.005", "velocity", 0.0042, false },
	{ "energy of a pendulum, dt 1/60", "impulse", 0.014, false },
	{ "energy of a pendulum, dt 0.01", "impulse", 0.0084, false },
	{ "energy of a pendulum, dt 0.005", "impulse", 0.0042, false },
	{ "momentum of jointed bodies, 1e4 steps, dt 0.005", "reduced", 1.2e-09, false },
	{ 0 },
};

int main(int argc, char** argv) {
	return RUN_FACTS(facts, misses);
}
