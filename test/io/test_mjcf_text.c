// Joints and compounds in one line of text.
#include "mjcf_test.h"

#define MODEL(custom)                                                                                        \
	"<mujoco><worldbody>"                                                                                    \
	"<body name='a' pos='1 0 0' euler='0 0 90'><freejoint/><geom name='g1' size='0.1'/>"                     \
	" <geom name='g2' type='box' size='0.1 0.2 0.3' pos='1 0 0' friction='0.4'/>"                            \
	" <body name='part' pos='0 0 2'><geom name='g3' size='0.1'/></body></body>"                              \
	"<body name=\"it's\" pos='0 5 0'><joint name='swing'/><geom size='0.1'/></body>"                         \
	"</worldbody><custom>" custom "</custom></mujoco>"

static void test_all_keys(void** state) {
	(void)state;
	knScene* scene = load(
		MODEL("<text name='knuckle.loop.x' data=\"universal parent='a' child='it''s'\n"
			  " frame_parent='1 2 3 0 1 0 0' frame_child='4 5 6 0 0 1 0' limit='-1 1' limit1='-2 2'"
			  " friction=0.1 friction1=0.2 bearing1=0.01 damping='0.3' damping1='0.4' motor='velocity 5 6'"
			  " motor1='position -7 8' spring='9 10' spring1='11 12' collide=1 enabled=0"
			  " max_force='100'\"/>"));
	const knJointDef* joint = jointNamed(scene, "x");
	assert_int_equal(joint->kind, KN_JOINT_UNIVERSAL);
	assert_true(KN_ID_EQUALS(joint->parent, knScene_FindBody(scene, "a")));
	assert_true(KN_ID_EQUALS(joint->child, knScene_FindBody(scene, "it's")));
	assert_near3(joint->frameParent.p, knV3(1.0, 2.0, 3.0), 0.0);
	assert_true(joint->frameParent.q.x == 1.0 && joint->frameChild.q.y == 1.0);
	assert_near3(joint->frameChild.p, knV3(4.0, 5.0, 6.0), 0.0);
	const knJointAxis* x = &joint->axis[0];
	const knJointAxis* z = &joint->axis[1];
	assert_true(x->limited && x->lower == -1.0 && x->upper == 1.0 && z->limited && z->lower == -2.0);
	assert_true(x->friction == 0.1 && z->friction == 0.2 && x->damping == 0.3 && z->damping == 0.4);
	assert_true(x->bearing == 0.0 && z->bearing == 0.01);
	assert_true(x->motorMode == KN_MOTOR_VELOCITY && x->motorTarget == 5.0 && x->motorMaxForce == 6.0);
	assert_true(z->motorMode == KN_MOTOR_POSITION && z->motorTarget == -7.0 && z->motorMaxForce == 8.0);
	assert_true(x->stiffness == 9.0 && x->rest == 10.0 && z->stiffness == 11.0 && z->rest == 12.0);
	assert_true(joint->collide && !joint->enabled && joint->loop && joint->maxForce == 100.0);
	knScene_Destroy(scene);
}

// Every kind of the vocabulary but custom can be written, as a loop or as a joint that may be in the tree; the papers'
// names do too.
static void test_all_kinds(void** state) {
	(void)state;
	for (int kind = 0; kind < KN_JOINT_KIND_COUNT; ++kind) {
		if (kind == KN_JOINT_CUSTOM) {
			continue;
		}
		char text[1024];
		snprintf(text, sizeof text,
				 MODEL("<text name='knuckle.joint.x' data='%s child=a'/><text name='knuckle.loop.y' data='%s "
					   "parent=a'/>"),
				 knJointKind_Name((knJointKind)kind), knJointKind_Name((knJointKind)kind));
		knScene* scene = load(text);
		assert_int_equal(jointNamed(scene, "x")->kind, kind);
		assert_false(jointNamed(scene, "x")->loop);
		assert_true(KN_ID_IS_NULL(jointNamed(scene, "x")->parent));
		assert_true(jointNamed(scene, "y")->loop);
		assert_true(KN_ID_IS_NULL(jointNamed(scene, "y")->child));
		knScene_Destroy(scene);
	}
	knScene* scene = load(MODEL("<text name='knuckle.loop.x' data='revolute child=a'/>"));
	assert_int_equal(jointNamed(scene, "x")->kind, KN_JOINT_HINGE);
	knScene_Destroy(scene);
}

// An anchor and an axis in the world: the joint is closed there, its axis in both bodies.
static void test_anchor(void** state) {
	(void)state;
	knScene* scene = load(MODEL(
		"<text name='knuckle.loop.x' data=\"hinge parent='a' child='it''s' anchor='1 2 3' axis='0 0 4'\"/>"
		"<text name='knuckle.loop.p' data=\"planar child='a' anchor='1 2 3' axis='0 2 0'\"/>"));
	const knJointDef* joint = jointNamed(scene, "x");
	const knFrame inA = knMulF(bodyNamed(scene, "a")->frame, joint->frameParent);
	const knFrame inB = knMulF(bodyNamed(scene, "it's")->frame, joint->frameChild);
	assert_near3(inA.p, knV3(1.0, 2.0, 3.0), 1e-15);
	assert_near3(inB.p, knV3(1.0, 2.0, 3.0), 1e-15);
	assert_near3(knRotate(inA.q, knV3(1.0, 0.0, 0.0)), knV3(0.0, 0.0, 1.0), 1e-15);
	assert_same_rotation(inA.q, inB.q, 1e-15);
	// a planar joint's axis is its normal, z
	assert_near3(knRotate(jointNamed(scene, "p")->frameParent.q, knV3(0.0, 0.0, 1.0)), knV3(0.0, 1.0, 0.0),
				 1e-15);
	knScene_Destroy(scene);
}

// Frames given in a part of another body are passed on to it.
static void test_ends_in_parts(void** state) {
	(void)state;
	knScene* scene =
		load(MODEL("<text name='knuckle.loop.x' data=\"ball parent='part' frame_parent='0 0 1 1 0 0 0'\"/>"));
	const knJointDef* joint = jointNamed(scene, "x");
	assert_true(KN_ID_EQUALS(joint->parent, knScene_FindBody(scene, "a")));
	assert_near3(joint->frameParent.p, knV3(0.0, 0.0, 3.0), 1e-15);
	knScene_Destroy(scene);
}

// Without a kind, the line changes the joint of that name and leaves the rest of it alone.
static void test_changes_an_existing_joint(void** state) {
	(void)state;
	knScene* scene = load(MODEL("<text name='knuckle.joint.swing' data=\"motor='force 2 3' collide='0'\"/>"));
	const knJointDef* joint = jointNamed(scene, "swing");
	assert_int_equal(joint->kind, KN_JOINT_HINGE);
	assert_true(joint->axis[0].motorMode == KN_MOTOR_FORCE && joint->axis[0].motorTarget == 2.0);
	assert_false(joint->collide);
	assert_true(joint->enabled && !joint->loop);
	assert_near3(jointFrame(scene, joint).p, knZero3(), 1e-15);
	assert_int_equal(knScene_JointSlots(scene), 1);
	knScene_Destroy(scene);
}

// A compound is one shape of several geoms, at the same places, with the same mass.
static void test_compound(void** state) {
	(void)state;
	knScene* apart = load(MODEL(""));
	knScene* scene = load(MODEL("<text name='knuckle.compound.both' data=\"parts='g2 g1'\"/>"));
	assert_int_equal(knScene_ShapeSlots(scene), knScene_ShapeSlots(apart) - 1);
	const knGeom* geom = knScene_GetShapeGeom(scene, shapeNamed(scene, "both"));
	assert_int_equal(knGeom_Kind(geom), KN_GEOM_COMPOUND);
	assert_int_equal(knGeom_ChildCount(geom), 2);
	assert_int_equal(knGeom_Kind(knGeom_Child(geom, 0).geom), KN_GEOM_BOX);
	assert_near3(knGeom_Child(geom, 0).frame.p, knV3(1.0, 0.0, 0.0), 0.0);
	assert_true(shapeDef(scene, "both")->friction == 0.4); // the first part's
	const knMassProps one = massOf(apart, "a"), other = massOf(scene, "a");
	assert_near(one.mass, other.mass, 1e-12);
	assert_near3(one.center, other.center, 1e-14);
	assert_near3(one.inertia.cy, other.inertia.cy, 1e-12);
	knScene_Destroy(scene);

	// in a frame of its own the parts stay where they are
	scene = load(MODEL("<text name='knuckle.compound.both' data=\"parts='g1 g2' frame='0 0 1 0 1 0 0'\"/>"));
	const knShapeDef* def = shapeDef(scene, "both");
	const knGeomChild box = knGeom_Child(knScene_GetShapeGeom(scene, shapeNamed(scene, "both")), 1);
	assert_near3(knPoint(def->frame, box.frame.p), knV3(1.0, 0.0, 0.0), 1e-15);
	knScene_Destroy(scene);
	knScene_Destroy(apart);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_keys),
		cmocka_unit_test(test_all_kinds),
		cmocka_unit_test(test_anchor),
		cmocka_unit_test(test_ends_in_parts),
		cmocka_unit_test(test_changes_an_existing_joint),
		cmocka_unit_test(test_compound),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
