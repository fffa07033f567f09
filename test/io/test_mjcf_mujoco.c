// MuJoCo itself as the oracle, where it is installed: masses, centres and inertias of bodies, lengths and forces of actuators
// and tendons, and the accelerations that follow agree. Without it the test is skipped.
#include "mjcf_test.h"
#include "model/muscle.h"

#ifdef KN_HAVE_MUJOCO

#include <mujoco/mujoco.h>
#include <unistd.h>

// A robot with one of everything that both know (exactmeshinertia: without it, old versions of MuJoCo weigh a mesh as the box of its
// inertia, 1.39 times a tetrahedron's mass); joints at the top of the tree are held by the world.
static const char* const robot =
	"<mujoco><compiler angle='radian' boundmass='0.01' boundinertia='0.0001' "
	"exactmeshinertia='true'/><option timestep='1e-6'/>"
	"<default><geom density='700' contype='0' conaffinity='0'/><joint armature='0.02' damping='0.1'/>"
	"<default class='light'><geom density='200'/></default></default>"
	"<asset><mesh name='wedge' scale='0.1 0.2 0.3' vertex='0 0 0 1 0 0 0 1 0 0 0 1'/></asset>"
	"<worldbody><body name='base' pos='0 0 1' euler='0.1 0.2 0.3'><joint name='j0' axis='0 1 0' pos='0 0 "
	"0.1'/>"
	"<geom type='box' size='0.1 0.05 0.2' pos='0 0 -0.1' euler='0.3 0 0.1'/><geom type='sphere' size='0.07' "
	"mass='1.5'/>"
	"<body name='welded' pos='0.1 0 0' quat='1 0.5 0 0'><geom type='capsule' size='0.03' fromto='0 0 0 0.1 "
	"0.2 0.3'/></body>"
	"<body name='arm' pos='0 0 -0.3' quat='1 0 0.2 0'><joint name='j1' axis='1 1 0' stiffness='2' "
	"springref='0.3'/>"
	"<geom type='cylinder' size='0.04 0.1' pos='0 0 -0.1'/><geom type='ellipsoid' size='0.04 0.05 0.1' "
	"class='light'/>"
	"<site name='s' pos='0.05 0 -0.1'/>"
	"<body name='slide' pos='0 0 -0.2'><joint name='j2' type='slide' axis='0 0 1' ref='0.05'/>"
	"<geom type='mesh' mesh='wedge'/>"
	"<body name='tip' pos='0.05 0 -0.2'><joint name='j3' type='ball' pos='0 0.01 0'/><inertial pos='0.01 "
	"0.02 -0.03' mass='0.4' "
	"fullinertia='0.003 0.004 0.005 0.0001 -0.0002 0.0003'/><site name='t' pos='0 0 "
	"-0.1'/></body></body></body></body>"
	"</worldbody>"
	"<tendon><fixed name='f'><joint joint='j0' coef='0.7'/><joint joint='j1' coef='-0.4'/></fixed>"
	"<spatial name='l' stiffness='20' damping='1' springlength='0.1'><site site='s'/><site "
	"site='t'/></spatial></tendon>"
	"<actuator><motor name='m' joint='j0' gear='3'/><position name='p' joint='j1' kp='20'/>"
	"<velocity name='v' joint='j2' kv='4'/><general name='g' tendon='f' gear='2' gainprm='3' "
	"biastype='affine' biasprm='1 -2 -0.5'/>"
	"<general name='c' joint='j1' gainprm='50' forcelimited='true' forcerange='-2 1.5'/>"
	"<muscle name='u' tendon='l' lengthrange='0.1 0.4' force='30'/>"
	"<muscle name='w' joint='j1' gear='-2' lengthrange='-2 1.5' force='4' range='0.6 1.3' lmin='0.4' "
	"lmax='1.8' "
	"vmax='2' fpmax='1.1' fvmax='1.4'/></actuator>"
	"<keyframe><key name='k' qpos='0.3 -0.5 0.08 0.9 0.1 -0.2 0.3' qvel='0.4 0.3 -0.2 0.5 0.6 -0.7' "
	"ctrl='0.3 0.2 -0.4 0.5 1 0.9 0.1' act='0.6 0.3'/></keyframe>"
	"</mujoco>";

typedef struct Oracle {
	mjModel* model;
	mjData* data;
} Oracle;

static Oracle openOracle(const char* text) {
	char path[] = "/tmp/knuckle_mujoco_XXXXXX.xml", why[1000] = "";
	const int handle = mkstemps(path, 4);
	assert_true(handle >= 0);
	assert_int_equal(write(handle, text, strlen(text)), (ssize_t)strlen(text));
	close(handle);
	Oracle oracle = { .model = mj_loadXML(path, NULL, why, sizeof why) };
	unlink(path);
	if (oracle.model == NULL) {
		fail_msg("MuJoCo refuses the model: %s", why);
	}
	oracle.data = mj_makeData(oracle.model);
	mj_resetDataKeyframe(oracle.model, oracle.data, 0);
	mj_forward(oracle.model, oracle.data);
	return oracle;
}

static void closeOracle(Oracle* oracle) {
	mj_deleteData(oracle->data);
	mj_deleteModel(oracle->model);
}

static knQuat quatOf(const mjtNum* q) {
	return knQ(q[0], q[1], q[2], q[3]);
}

// A body of MuJoCo's and all that is welded to it, in world axes.
static knMassProps weldedMass(const Oracle* oracle, int root) {
	knMassProps sum = { 0 };
	for (int b = 1; b < oracle->model->nbody; ++b) {
		if (oracle->model->body_weldid[b] != root) {
			continue;
		}
		const mjtNum* I = &oracle->model->body_inertia[3 * b];
		const mjtNum* R = &oracle->data->ximat[9 * b];
		const knMat33 axes =
			knMakeMat33(knV3(R[0], R[3], R[6]), knV3(R[1], R[4], R[7]), knV3(R[2], R[5], R[8]));
		const knMat33 diagonal = knDiagonal33(I[0], I[1], I[2]);
		const mjtNum* c = &oracle->data->xipos[3 * b];
		const knMassProps own = { oracle->model->body_mass[b], knV3(c[0], c[1], c[2]),
								  knRotateTensor(knQuat_FromMat33(&axes), &diagonal) };
		sum = sum.mass > 0.0 ? knMassProps_Add(&sum, &own) : own;
	}
	return sum;
}

#define assert_close(actual, expected, scale) assert_near(actual, expected, 1e-6 * (scale))

static void test_masses(void** state) {
	(void)state;
	Oracle oracle = openOracle(robot);
	knScene* scene = loadKey(robot, "k", NULL);
	knModel* model = compile(scene);
	int compared = 0;
	for (int b = 1; b < oracle.model->nbody; ++b) {
		const char* name = mj_id2name(oracle.model, mjOBJ_BODY, b);
		const knBodyId id = knScene_FindBody(scene, name);
		if (KN_ID_IS_NULL(id)) {
			continue; // welded
		}
		const knFrame frame = knScene_GetBody(scene, id)->frame;
		const mjtNum* p = &oracle.data->xpos[3 * b];
		assert_near3(frame.p, knV3(p[0], p[1], p[2]), 1e-9);
		assert_same_rotation(frame.q, quatOf(&oracle.data->xquat[4 * b]), 1e-12);
		const knMassProps own = knModel_BodyMass(model, id), theirs = weldedMass(&oracle, b);
		assert_close(own.mass, theirs.mass, theirs.mass);
		assert_near3(knPoint(frame, own.center), theirs.center, 1e-6);
		const knMat33 I = knRotateTensor(frame.q, &own.inertia);
		const double size = theirs.inertia.cx.x + theirs.inertia.cy.y + theirs.inertia.cz.z;
		assert_near3(I.cx, theirs.inertia.cx, 1e-6 * size);
		assert_near3(I.cy, theirs.inertia.cy, 1e-6 * size);
		assert_near3(I.cz, theirs.inertia.cz, 1e-6 * size);
		++compared;
	}
	assert_int_equal(compared, 4);
	knModel_Release(model);
	knScene_Destroy(scene);
	closeOracle(&oracle);
}

// Changes of the joints' velocities over one step, divided by it.
static void rates(const knScene* scene, const knModel* model, int integrator, double h, double rate[3]) {
	static const char* const joints[] = { "j0", "j1", "j2" };
	knWorldDef def = knWorldDef_Default();
	def.stepper = "reduced";
	knSettings settings = knSettings_Default();
	settings.reduced.integrator = integrator;
	def.settings = &settings;
	knWorld* world = knWorld_Create(model, &def, NULL);
	assert_non_null(world);
	double before[3][6], after[3][6];
	for (int i = 0; i < 3; ++i) {
		knWorld_JointVelocities(world, knScene_FindJoint(scene, joints[i]), before[i]);
	}
	assert_int_equal(knWorld_Step(world, h, NULL), KN_OK);
	for (int i = 0; i < 3; ++i) {
		knWorld_JointVelocities(world, knScene_FindJoint(scene, joints[i]), after[i]);
		rate[i] = (after[i][0] - before[i][0]) / h;
	}
	knWorld_Destroy(world);
}

// The same in the limit of short steps: from three, without their first and second order.
static void limitRates(const knScene* scene, const knModel* model, int integrator, double h, double rate[3]) {
	double coarse[3], middle[3], fine[3];
	rates(scene, model, integrator, h, coarse);
	rates(scene, model, integrator, 0.5 * h, middle);
	rates(scene, model, integrator, 0.25 * h, fine);
	for (int i = 0; i < 3; ++i) {
		rate[i] = (8.0 * fine[i] - 6.0 * middle[i] + coarse[i]) / 3.0;
	}
}

// In joint coordinates: accelerations with armature, springs, actuators and tendons.
static void test_reduced_accelerations(void** state) {
	(void)state;
	Oracle oracle = openOracle(robot);
	knScene* scene = loadKey(robot, "k", NULL);
	knModel* model = compile(scene);
	double rate[3];
	limitRates(scene, model, -1, 4e-4, rate);
	for (int i = 0; i < 3; ++i) {
		const double expected = oracle.data->qacc[i];
		assert_close(rate[i], expected, 1.0 + fabs(expected));
	}
	knModel_Release(model);
	knScene_Destroy(scene);
	closeOracle(&oracle);
}

// The text between two marks goes, and `instead` stands there.
static void cut(char* text, const char* from, const char* to, const char* instead) {
	char* begin = strstr(text, from);
	assert_non_null(begin);
	char* rest = strdup(strstr(begin, to));
	assert_non_null(rest);
	strcpy(begin, instead);
	strcat(begin, rest);
	free(rest);
}

// The same robot with nothing that drives it, and without a mesh, whose points MuJoCo rounds to single precision.
static void test_passive_accelerations(void** state) {
	(void)state;
	char text[8192];
	snprintf(text, sizeof text, "%s", robot);
	cut(text, "<tendon>", "<keyframe>", "");
	cut(text, "ctrl='", "/></keyframe>", "");
	cut(text, "<geom type='mesh'", "<body name='tip'", "<geom type='box' size='0.1 0.2 0.05'/>");
	Oracle oracle = openOracle(text);
	knScene* scene = loadKey(text, "k", NULL);
	knModel* model = compile(scene);
	double rate[3];
	limitRates(scene, model, 1, 1e-4, rate);
	for (int i = 0; i < 3; ++i) {
		const double expected = oracle.data->qacc[i];
		assert_near(rate[i], expected, 1e-8 * (1.0 + fabs(expected)));
	}
	knModel_Release(model);
	knScene_Destroy(scene);
	closeOracle(&oracle);
}

static void test_forces_and_accelerations(void** state) {
	(void)state;
	Oracle oracle = openOracle(robot);
	knScene* scene = loadKey(robot, "k", NULL);
	knModel* model = compile(scene);
	{
		knWorldDef def = knWorldDef_Default();
		def.stepper = "velocity";
		knWorld* world = knWorld_Create(model, &def, NULL);
		assert_non_null(world);
		for (int i = 0; i < oracle.model->nu; ++i) {
			const char* name = mj_id2name(oracle.model, mjOBJ_ACTUATOR, i);
			const int own = knScene_FindActuator(scene, name);
			assert_close(knWorld_ActuatorForce(world, own), oracle.data->actuator_force[i], 1.0);
		}
		double rate;
		assert_close(knWorld_TendonLength(world, 0, &rate), oracle.data->ten_length[0], 1.0);
		assert_close(rate, oracle.data->ten_velocity[0], 1.0);
		assert_close(knWorld_TendonLength(world, 1, &rate), oracle.data->ten_length[1], 1.0);
		assert_close(rate, oracle.data->ten_velocity[1], 1.0);

		// over a very short step, changes of velocity are accelerations, to first order in it
		static const char* const joints[] = { "j0", "j1", "j2" };
		const double h = 1e-6;
		double before[3][6], after[3][6];
		for (int i = 0; i < 3; ++i) {
			knWorld_JointVelocities(world, knScene_FindJoint(scene, joints[i]), before[i]);
		}
		assert_int_equal(knWorld_Step(world, h, NULL), KN_OK);
		for (int i = 0; i < 3; ++i) {
			knWorld_JointVelocities(world, knScene_FindJoint(scene, joints[i]), after[i]);
			const double expected = oracle.data->qacc[i];
			assert_near((after[i][0] - before[i][0]) / h, expected, 0.01 * (1.0 + fabs(expected)));
		}
		knWorld_Destroy(world);
	}
	knModel_Release(model);
	knScene_Destroy(scene);
	closeOracle(&oracle);
}

// The law of a muscle over lengths and speeds, and how its activation follows the control.
static void test_muscles(void** state) {
	(void)state;
	const knMuscle m = { .shortest = 0.2,
						 .longest = 0.5,
						 .rangeLeast = 0.7,
						 .rangeMost = 1.2,
						 .force = 50.0,
						 .lengthLeast = 0.45,
						 .lengthMost = 1.7,
						 .speed = 1.4,
						 .passive = 1.2,
						 .lengthening = 1.3 };
	const mjtNum prm[9] = { 0.7, 1.2, 50.0, 200.0, 0.45, 1.7, 1.4, 1.2, 1.3 }, lengths[2] = { 0.2, 0.5 };
	// from lengthLeast on: below, old versions of MuJoCo let the muscle push
	for (double l = 0.0501; l < 1.2; l += 0.0123) {
		for (double v = -2.0; v < 2.0; v += 0.0571) {
			const double expected =
				0.7 * mju_muscleGain(l, v, lengths, 1.0, prm) + mju_muscleBias(l, lengths, 1.0, prm);
			assert_near(knMuscle_Force(&m, 0.7, l, v), expected, 1e-10 * (1.0 + fabs(expected)));
		}
	}
}

#else

static void test_passive_accelerations(void** state) {
	(void)state;
	skip();
}

static void test_muscles(void** state) {
	(void)state;
	skip();
}

static void test_reduced_accelerations(void** state) {
	(void)state;
	skip();
}

static void test_masses(void** state) {
	(void)state;
	skip();
}

static void test_forces_and_accelerations(void** state) {
	(void)state;
	skip();
}

#endif

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_masses),
		cmocka_unit_test(test_muscles),
		cmocka_unit_test(test_reduced_accelerations),
		cmocka_unit_test(test_passive_accelerations),
		cmocka_unit_test(test_forces_and_accelerations),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
