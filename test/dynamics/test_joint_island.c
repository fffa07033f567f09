// The joint solver on mechanisms with known answers: chains that carry far more than they weigh, loops, momenta, order.
#include "dynamics/island_rig.h"

#include <math.h>

// kg m^2/s^2 of a chain with all of it hanging down: what it can release.
static double chainWeight(int links, double length, double lastMass) {
	double sum = 0.0;
	for (int i = 0; i < links; ++i) {
		sum += (i == links - 1 ? lastMass : 1.0) * 9.81 * (i + 0.5) * length;
	}
	return sum;
}

static void heavy_chains_swing_and_never_gain_energy(void** state) {
	(void)state;
	const double ratios[] = { 1.0, 100.0, 1000.0, 10000.0 };
	for (int k = 0; k < 4; ++k) {
		IslandRig rig;
		rigMake(&rig, newChain(50, 0.2, ratios[k], false));
		const double start = rigEnergy(&rig), scale = chainWeight(50, 0.2, ratios[k]);
		double gain = 0.0, gap = 0.0, crossing = 0.0, speed = 0.0;
		for (int i = 0; i < 600; ++i) {
			const double before = rig.state.pose[50].p.x;
			rigStep(&rig, 1.0 / 60.0);
			const double after = rig.state.pose[50].p.x;
			if (crossing == 0.0 && before > 0.0 && after <= 0.0) {
				crossing = (i + before / (before - after)) / 60.0;
				speed = knLength(rig.state.velocity[50].lin);
			}
			gain = knMax(gain, (rigEnergy(&rig) - start) / scale);
			gap = knMax(gap, rigGap(&rig, NULL));
		}
		assert_true(gap <= 1e-9);
		assert_true(gain <= 1e-6);
		if (ratios[k] >= 1000.0) {
			assert_true(fabs(crossing / 1.86 - 1.0) < 0.01);
			assert_true(fabs(speed / 13.95 - 1.0) < 0.01);
			assert_true(start - rigEnergy(&rig) < 0.01 * scale);
		}
		rigFree(&rig);
	}
}

// --- mechanisms ------------------------------------------------------------------------------------------------

// Crank 1 m, coupler 3 m, rocker 2.5 m on a ground of 3 m, axes along y.
static knScene* newFourBar(void) {
	knScene* scene = newScene(knV3(0.0, 0.0, -9.81));
	const knVec3 O = knZero3(), Q = knV3(3.0, 0.0, 0.0), A = knV3(cos(2.2), 0.0, sin(2.2)),
				 y = knV3(0.0, 1.0, 0.0);
	const double dx = Q.x - A.x, dz = Q.z - A.z, d = sqrt(dx * dx + dz * dz);
	const double a = (9.0 - 6.25 + d * d) / (2.0 * d), r = sqrt(9.0 - a * a);
	const knVec3 B = knV3(A.x + a * dx / d - r * dz / d, 0.0, A.z + a * dz / d + r * dx / d);
	knBodyId crank = newRod(scene, O, A, 1.0, 0.03), coupler = newRod(scene, A, B, 3.0, 0.03),
			 rocker = newRod(scene, B, Q, 2.5, 0.03);
	knJointDef joints[] = { jointAt(scene, KN_JOINT_HINGE, KN_WORLD_BODY, crank, O, y),
							jointAt(scene, KN_JOINT_HINGE, crank, coupler, A, y),
							jointAt(scene, KN_JOINT_HINGE, coupler, rocker, B, y),
							jointAt(scene, KN_JOINT_HINGE, rocker, KN_WORLD_BODY, Q, y) };
	for (int i = 0; i < 4; ++i) {
		newJoint(scene, &joints[i]);
	}
	return scene;
}

// Six rods along the edges of a cube, hinges across each other, one rod fixed: one degree of freedom.
static knScene* newBricard(void) {
	knScene* scene = newScene(knV3(0.0, 0.0, -9.81));
	const knVec3 P[7] = { { 0, 0, 0 }, { 1, 0, 0 }, { 1, 1, 0 }, { 1, 1, 1 },
						  { 0, 1, 1 }, { 0, 0, 1 }, { 0, 0, 0 } };
	const knVec3 U[6] = { { 0, 1, 0 }, { 0, 0, 1 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 }, { 1, 0, 0 } };
	knBodyId rods[7] = { KN_WORLD_BODY, KN_WORLD_BODY, KN_WORLD_BODY, KN_WORLD_BODY,
						 KN_WORLD_BODY, KN_WORLD_BODY, KN_WORLD_BODY };
	for (int k = 0; k < 5; ++k) {
		rods[k + 1] = newRod(scene, P[k], P[k + 1], 1.0, 0.05);
	}
	for (int k = 0; k < 6; ++k) {
		knJointDef def = jointAt(scene, KN_JOINT_HINGE, rods[k], rods[k + 1], P[k], U[k]);
		newJoint(scene, &def);
	}
	return scene;
}

// A free ring of rods and parallel hinges that spins, tumbles and deforms.
static knScene* newRing(int links) {
	knScene* scene = newScene(knZero3());
	const double radius = 0.2 * links / (2.0 * KN_PI);
	knBodyId rods[64];
	knVec3 P[64];
	for (int k = 0; k < links; ++k) {
		const double a = 2.0 * KN_PI * k / links;
		P[k] = knV3(radius * cos(a), 0.0, radius * sin(a));
	}
	for (int k = 0; k < links; ++k) {
		rods[k] = newRod(scene, P[k], P[(k + 1) % links], 1.0, 0.02);
		knBodyDef* def = knScene_EditBody(scene, rods[k]);
		const knVec3 c = def->frame.p, w = knV3(0.1, 2.0, 0.0);
		// a turn of the whole, and a stretch along x, which the joints project
		def->angularVelocity = w;
		def->velocity = knAdd(knCross(w, c), knV3(0.6 * c.x, 0.0, -0.6 * c.z));
	}
	for (int k = 0; k < links; ++k) {
		knJointDef def =
			jointAt(scene, KN_JOINT_HINGE, rods[k], rods[(k + 1) % links], P[(k + 1) % links], knV3(0, 1, 0));
		newJoint(scene, &def);
	}
	return scene;
}

typedef struct Course {
	double gap, angle, gain, lost, peak; // m, rad, J
} Course;

static Course follow(IslandRig* rig, double h, double time) {
	Course course = { 0 };
	const double start = rigEnergy(rig);
	const int steps = (int)(time / h + 0.5);
	for (int i = 0; i < steps; ++i) {
		rigStep(rig, h);
		double angle;
		course.gap = knMax(course.gap, rigGap(rig, &angle));
		course.angle = knMax(course.angle, angle);
		course.gain = knMax(course.gain, rigEnergy(rig) - start);
		course.peak = knMax(course.peak, rigKinetic(rig));
	}
	course.lost = start - rigEnergy(rig);
	return course;
}

static void loops_with_redundant_rows_keep_their_energy(void** state) {
	(void)state;
	const struct {
		knScene* (*build)(void);
		double h, share;
	} cases[] = {
		{ newFourBar, 1.0 / 60.0, 0.015 },  { newFourBar, 1.0 / 240.0, 0.001 },
		{ newBricard, 1.0 / 60.0, 0.005 },  { newBricard, 0.01, 0.005 },
		{ newBricard, 1.0 / 240.0, 0.001 },
	};
	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); ++k) {
		IslandRig rig;
		rigMake(&rig, cases[k].build());
		Course c = follow(&rig, cases[k].h, 60.0);
		assert_true(c.gap < 1e-9 && c.angle < 1e-6);
		assert_true(c.gain < 1e-6 * c.peak);
		assert_true(c.lost < cases[k].share * c.peak);
		rigFree(&rig);
	}
}

static void a_free_ring_keeps_its_momenta(void** state) {
	(void)state;
	const double steps[] = { 1.0 / 60.0, 1.0 / 240.0 };
	for (int k = 0; k < 2; ++k) {
		IslandRig rig;
		rigMake(&rig, newRing(34));
		rigStep(&rig, 1e-6); // projects the velocities
		const knTwist start = rigMomentum(&rig);
		Course c = follow(&rig, steps[k], 10.0);
		const knTwist change = knSubT(rigMomentum(&rig), start);
		assert_true(c.gap < 1e-9 && c.gain <= 1e-9 * c.peak);
		assert_true(knLength(change.lin) < 1e-11);
		assert_true(knLength(change.ang) < 1e-10 * knLength(start.ang));
		rigFree(&rig);
	}
}

// m, where the second rod of a double pendulum is after a second.
static knVec3 doublePendulum(double h) {
	IslandRig rig;
	rigMake(&rig, newChain(2, 1.0, 1.0, false));
	for (int i = 0; i < (int)(1.0 / h + 0.5); ++i) {
		rigStep(&rig, h);
	}
	const knVec3 at = rig.state.pose[2].p;
	rigFree(&rig);
	return at;
}

static void the_step_is_of_second_order(void** state) {
	(void)state;
	const knVec3 best = doublePendulum(1.0 / 3840.0);
	double last = 0.0;
	for (int k = 0; k < 3; ++k) {
		const double error = knLength(knSub(doublePendulum(1.0 / (60 << k)), best));
		assert_true(k == 0 || (last / error > 3.5 && last / error < 4.5));
		last = error;
	}
}

static void long_chains_of_hinges_close(void** state) {
	(void)state;
	const int links[] = { 10, 50, 200 };
	for (int k = 0; k < 6; ++k) {
		IslandRig rig;
		rigMake(&rig, newChain(links[k / 2], 0.2, 1.0, k % 2 != 0));
		Course c = follow(&rig, 1.0 / 60.0, 3.0);
		assert_true(c.gap < 1e-9 && c.gain < 1e-6);
		rigFree(&rig);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(heavy_chains_swing_and_never_gain_energy),
		cmocka_unit_test(loops_with_redundant_rows_keep_their_energy),
		cmocka_unit_test(a_free_ring_keeps_its_momenta),
		cmocka_unit_test(the_step_is_of_second_order),
		cmocka_unit_test(long_chains_of_hinges_close),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
