// Equations of bodies and joints of every kind: derivatives against central differences, mean rows as exact discrete
// gradients, momentum of a row, the energy of a free body.
#include "world/fixture.h"

#include "dynamics/joint_equations.h"
#include "support/sphere_joint.h"

#include <math.h>

#define H 0.02

typedef struct Rig {
	knModel* model;
	knState state;
	knAllocator allocator;
	knEquationBody bodies[2];
	knEquationJoint joint;
	knEquationRow rows[KN_EQUATIONS_MAX_ROWS];
	knSpan span;
} Rig;

// Two bodies at an allowed pose of the joint, with rows for all its coordinates, and an iterate off their velocities.
static void makeRig(Rig* rig, knJointKind kind, double theta, double spin, knTestRandom* random) {
	memset(rig, 0, sizeof(*rig));
	rig->allocator = knAllocator_Default();
	knScene* scene = newScene(knV3(0.0, 0.0, -9.81));
	knJointDef def = knJointDef_Default(kind);
	def.frameParent = testFrame(random, 0.5);
	def.frameChild = testFrame(random, 0.5);
	def.custom = testSphereJoint;
	for (int i = 0; i < 6; ++i) {
		def.axis[i].stiffness = kind == KN_JOINT_CUSTOM ? 0.0 : 3.0;
		def.axis[i].damping = 0.5;
	}
	const knJoint probe = { .kind = kind, .custom = testSphereJoint };
	const knFrame J = knJointOps_Get(kind)->projectState(&probe, testFrame(random, 0.7));
	knBodyDef body = knBodyDef_Default();
	body.hasMass = true;
	body.mass = (knMassProps){ .mass = 2.0, .inertia = knDiagonal33(0.5, 0.6, 0.7) };
	body.frame = testFrame(random, 1.0);
	body.velocity = testVec3(random, 1.0);
	body.angularVelocity = testVec3(random, spin);
	def.parent = newBody(scene, &body);
	body.mass = (knMassProps){ .mass = 3.0, .inertia = knDiagonal33(0.3, 0.5, 0.4) };
	body.frame = knMulF(knMulF(knMulF(body.frame, def.frameParent), J), knInvF(def.frameChild));
	body.velocity = testVec3(random, 1.0);
	body.angularVelocity = testVec3(random, spin);
	def.child = newBody(scene, &body);
	newJoint(scene, &def);
	knError error = { 0 };
	rig->model = knModel_Create(scene, &error);
	if (rig->model == NULL) {
		failWith(&error);
	}
	knScene_Destroy(scene);
	assert_true(knState_Create(&rig->state, rig->model, "test", 0, &rig->allocator));
	rig->span = (knSpan){ H, theta, theta, false };
	for (int b = 0; b < 2; ++b) {
		rig->bodies[b] = knEquationBody_Make(rig->model, &rig->state, b + 1);
		knEquationBody_Begin(&rig->bodies[b], H);
	}
	knEquationJoint_Make(&rig->joint, rig->model, &rig->state, 0, 0, 1, rig->bodies, rig->rows);
	knEquationJoint_Begin(&rig->joint, rig->bodies, &rig->span);
	for (int b = 0; b < 2; ++b) {
		rig->bodies[b].u = knAdd(rig->bodies[b].u, testVec3(random, 0.3));
		rig->bodies[b].w = knAdd(rig->bodies[b].w, testVec3(random, 0.3));
	}
	for (int r = 0; r < rig->joint.locked; ++r) {
		rig->rows[r].lambda = testUniform(random, -1.0, 1.0);
	}
}

static void freeRig(Rig* rig) {
	knState_Destroy(&rig->state, &rig->allocator);
	knModel_Release(rig->model);
}

static void evaluate(Rig* rig) {
	for (int b = 0; b < 2; ++b) {
		knEquationBody_Move(&rig->bodies[b], &rig->span);
		knEquationBody_Residual(&rig->bodies[b], &rig->span);
	}
	knEquationJoint_Evaluate(&rig->joint, rig->bodies, &rig->span);
}

static double* unknown(Rig* rig, int k) {
	knEquationBody* body = &rig->bodies[k / 6];
	double* vectors[2] = { &body->w.x, &body->u.x };
	return vectors[k % 6 / 3] + k % 3;
}

static double component(knTwist t, int i) {
	return i < 3 ? knComponent(t.ang, i) : knComponent(t.lin, i - 3);
}

static void end_rows_are_derivatives_of_the_gaps(void** state) {
	(void)state;
	knTestRandom random = { 5 };
	for (int kind = 0; kind < KN_JOINT_KIND_COUNT; ++kind) {
		for (int trial = 0; trial < 20; ++trial) {
			Rig rig;
			makeRig(&rig, (knJointKind)kind, trial % 2 == 0 ? 0.5 : 0.6, 1.0, &random);
			if (kind == KN_JOINT_CUSTOM || kind == KN_JOINT_FREE) {
				freeRig(&rig);
				continue; // found by probing at the mean pose; a free joint's turns are coordinates far from zero
			}
			for (int b = 0; b < 2; ++b) {
				rig.bodies[b].byExp = trial % 3 == 0;
			}
			evaluate(&rig);
			knEquationJoint_Derive(&rig.joint, rig.bodies, &rig.span);
			knEquationRow rows[KN_EQUATIONS_MAX_ROWS];
			memcpy(rows, rig.rows, sizeof(rows));
			for (int k = 0; k < 12; ++k) {
				const double eps = 1e-5, at = *unknown(&rig, k);
				double ahead[KN_EQUATIONS_MAX_ROWS];
				*unknown(&rig, k) = at + eps;
				evaluate(&rig);
				for (int r = 0; r < rig.joint.count; ++r) {
					ahead[r] = rig.rows[r].gap;
				}
				*unknown(&rig, k) = at - eps;
				evaluate(&rig);
				for (int r = 0; r < rig.joint.count; ++r) {
					const double slope = (ahead[r] - rig.rows[r].gap) / (2.0 * eps * H);
					const double row = component(k < 6 ? rows[r].endP : rows[r].endC, k % 6);
					// rows of coordinates are those of closed joints; the iterate is open by hundredths of a radian
					const bool exact = r < rig.joint.locked || kind == KN_JOINT_BALL;
					if (fabs(slope - row) > (exact ? 1e-7 : 0.1)) {
						fail_msg("%s, row %d, unknown %d: %g, differences %g",
								 knJointKind_Name((knJointKind)kind), r, k, row, slope);
					}
				}
				*unknown(&rig, k) = at;
			}
			freeRig(&rig);
		}
	}
}

// Of rows whose other factor does not turn with the same body the stiffness is complete: all of a ball joint.
static void a_ball_joint_has_the_whole_derivative(void** state) {
	(void)state;
	knTestRandom random = { 7 };
	for (int trial = 0; trial < 50; ++trial) {
		Rig rig;
		makeRig(&rig, KN_JOINT_BALL, trial % 2 == 0 ? 0.5 : 0.6, 10.0, &random);
		rig.joint.axisCount = 0;
		rig.joint.count = 3;
		evaluate(&rig);
		for (int b = 0; b < 2; ++b) {
			rig.bodies[b].stiffness = knDiagonal33(0.0, 0.0, 0.0);
		}
		knEquationJoint_Derive(&rig.joint, rig.bodies, &rig.span);
		for (int b = 0; b < 2; ++b) {
			assert_true(knEquationBody_Respond(&rig.bodies[b], &rig.span));
			const knMat33 A = knInverse33(&rig.bodies[b].inverseAng);
			const knVec3 columns[3] = { A.cx, A.cy, A.cz };
			for (int k = 0; k < 3; ++k) {
				const double eps = 1e-5, at = *unknown(&rig, 6 * b + k);
				*unknown(&rig, 6 * b + k) = at + eps;
				evaluate(&rig);
				const knVec3 ahead = rig.bodies[b].restAng;
				*unknown(&rig, 6 * b + k) = at - eps;
				evaluate(&rig);
				const knVec3 slope = knScale(0.5 / eps, knSub(ahead, rig.bodies[b].restAng));
				*unknown(&rig, 6 * b + k) = at;
				assert_true(knLength(knSub(slope, columns[k])) < 1e-7);
			}
		}
		freeRig(&rig);
	}
}

// lambda . mean rows . displacement = lambda . change of the gap, whatever the displacement, and a row moves nothing as a whole.
static void mean_rows_are_exact_discrete_gradients(void** state) {
	(void)state;
	knTestRandom random = { 11 };
	for (int kind = 0; kind < KN_JOINT_KIND_COUNT; ++kind) {
		for (int trial = 0; trial < 20 && kind != KN_JOINT_CUSTOM; ++trial) {
			Rig rig;
			makeRig(&rig, (knJointKind)kind, 0.5, 20.0, &random);
			evaluate(&rig);
			for (int r = 0; r < rig.joint.count; ++r) {
				const knEquationRow* row = &rig.rows[r];
				const knEquationBody *P = &rig.bodies[0], *C = &rig.bodies[1];
				const double by = H * (knDot(row->meanP.ang, P->w) + knDot(row->meanP.lin, P->u) +
									   knDot(row->meanC.ang, C->w) + knDot(row->meanC.lin, C->u));
				assert_true(fabs(by - row->gap) < 1e-12);
				assert_true(knLength(knAdd(row->meanP.lin, row->meanC.lin)) < 1e-15);
			}
			freeRig(&rig);
		}
	}
}

// Closed at both ends, the impulses of a joint have no moment about the mean centres.
static void rows_of_closed_joints_have_no_moment(void** state) {
	(void)state;
	knTestRandom random = { 13 };
	for (int kind = 0; kind < KN_JOINT_KIND_COUNT; ++kind) {
		Rig rig;
		makeRig(&rig, (knJointKind)kind, 0.5, 3.0, &random);
		// the pair turns and moves as one
		const knVec3 w = knV3(3.0, -4.0, 5.0);
		knEquationBody *P = &rig.bodies[0], *C = &rig.bodies[1];
		const double s = 1.0 / sqrt(1.0 + 0.25 * H * H * knLengthSquared(w));
		const knQuat turn = knQ(s, 0.5 * s * H * w.x, 0.5 * s * H * w.y, 0.5 * s * H * w.z);
		P->w = C->w = w;
		const knVec3 between = knSub(C->x, P->x);
		C->u = knAdd(P->u, knScale(1.0 / H, knSub(knRotate(turn, between), between)));
		evaluate(&rig);
		for (int r = 0; r < rig.joint.count; ++r) {
			const knEquationRow* row = &rig.rows[r];
			assert_true(r >= rig.joint.locked || fabs(row->gap) < 1e-12);
			knVec3 moment = knAdd(row->meanP.ang, row->meanC.ang);
			moment = knAdd(moment, knCross(knScale(0.5, knAdd(P->x, P->x1)), row->meanP.lin));
			moment = knAdd(moment, knCross(knScale(0.5, knAdd(C->x, C->x1)), row->meanC.lin));
			assert_true(knLength(moment) < 1e-12);
		}
		freeRig(&rig);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(end_rows_are_derivatives_of_the_gaps),
		cmocka_unit_test(a_ball_joint_has_the_whole_derivative),
		cmocka_unit_test(mean_rows_are_exact_discrete_gradients),
		cmocka_unit_test(rows_of_closed_joints_have_no_moment),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
