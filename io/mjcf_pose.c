// Orientations and poses: the reference pose (MuJoCo's qpos0), and the start from a keyframe by forward kinematics.
//
// A body's joints act in the order in which they are written, each in the frame that the earlier ones have moved:
//   F = F_parent  local  T_1(q_1 - ref_1)  T_2(q_2 - ref_2) ...
// Velocities follow along: after T_j, with o' the new origin, a the axis in the world and p the anchor,
//   v' = v + w x (o' - o) + a qd x (o' - p)        (hinge)            w' = w + a qd
//   v' = v + w x (o' - o) + a qd                   (slide)
// Keyframes are in radians whatever the compiler says; a free joint's linear velocity is that of the body's origin in
// world axes, angular velocities of free and ball joints are in the body's axes.
#include "mjcf.h"

#include <string.h>

// a quaternion this close to unit length is taken as it is, so that numbers written by knMjcf_Save come back exactly
#define UNIT_EXACT 1e-15

const knMjcfCompiler* knMjcf_Compiler(const knMjcf* reader, const knMjcfElement* element) {
	return &reader->compilers.items[element->compiler];
}

double knMjcf_Angle(const knMjcf* reader, const knMjcfElement* element, double value) {
	return knMjcf_Compiler(reader, element)->angle == KN_MJCF_DEGREE ? value * (KN_PI / 180.0) : value;
}

bool knMjcf_UnitQuat(const double* wxyz, knQuat* q) {
	*q = knQ(wxyz[0], wxyz[1], wxyz[2], wxyz[3]);
	double length = sqrt(knDotQ(*q, *q));
	if (!(length > 1e-12) || !knIsFinite(length)) {
		return false;
	}
	if (knAbs(length - 1.0) > UNIT_EXACT) {
		*q = knNormalizeQ(*q);
	}
	return true;
}

// MuJoCo takes a quaternion of no length in a keyframe as no rotation; public models have such.
static knQuat keyQuat(const double* wxyz) {
	knQuat q;
	return knMjcf_UnitQuat(wxyz, &q) ? q : knIdentityQ();
}

knQuat knMjcf_QuatFromXZ(knVec3 x, knVec3 z) {
	knVec3 y = knNormalize(knCross(z, x));
	knMat33 axes = knMakeMat33(x, y, knCross(x, y));
	return knQuat_FromMat33(&axes);
}

// --- orientations ----------------------------------------------------------------------------------------

// Lower case letters turn about the axes that have moved, capitals about those of the parent.
static bool eulerRotation(knMjcf* reader, const knMjcfElement* element, const double* angles,
						  knQuat* rotation) {
	const knMjcfCompiler* compiler = knMjcf_Compiler(reader, element);
	const char* sequence = compiler->eulerSequence;
	*rotation = knIdentityQ();
	for (int i = 0; i < 3; ++i) {
		knVec3 axis = knZero3();
		const char letter = sequence[i];
		const bool fixed = letter >= 'X' && letter <= 'Z';
		knSetComponent(&axis, fixed ? letter - 'X' : letter - 'x', 1.0);
		knQuat turn = knQuat_FromAxisAngle(axis, knMjcf_Angle(reader, element, angles[i]));
		*rotation = fixed ? knMulQ(turn, *rotation) : knMulQ(*rotation, turn);
	}
	return true;
}

static bool axesRotation(const double* xy, knQuat* rotation) {
	knVec3 x = knNormalize(knV3(xy[0], xy[1], xy[2]));
	knVec3 z = knCross(x, knNormalize(knV3(xy[3], xy[4], xy[5])));
	if (!(knLength(x) > 0.5) || !(knLength(z) > 1e-9)) {
		return false;
	}
	*rotation = knMjcf_QuatFromXZ(x, knNormalize(z));
	return true;
}

bool knMjcf_Orientation(knMjcf* reader, const knMjcfElement* element, const char* tag, knQuat* rotation) {
	const double* o = element->orientation;
	*rotation = knIdentityQ();
	if ((element->given & KN_MJCF_ORIENTATION_BITS) == 0) {
		return true;
	}
	if (knMjcf_Given(element, KN_MJCF_QUAT)) {
		return knMjcf_UnitQuat(o, rotation) ||
			   knMjcf_Fail(reader, element, tag, KN_BAD_DATA, "its quat has no length");
	}
	if (knMjcf_Given(element, KN_MJCF_EULER)) {
		return eulerRotation(reader, element, o, rotation);
	}
	if (knMjcf_Given(element, KN_MJCF_XYAXES)) {
		return axesRotation(o, rotation) ||
			   knMjcf_Fail(reader, element, tag, KN_BAD_DATA, "its xyaxes are zero or parallel");
	}
	knVec3 axis = knNormalize(knV3(o[0], o[1], o[2]));
	if (!(knLength(axis) > 0.5)) {
		return knMjcf_Fail(reader, element, tag, KN_BAD_DATA, "its %s has no direction",
						   knMjcf_Given(element, KN_MJCF_ZAXIS) ? "zaxis" : "axisangle");
	}
	*rotation = knMjcf_Given(element, KN_MJCF_ZAXIS)
					? knQuat_Between(knV3(0.0, 0.0, 1.0), axis)
					: knQuat_FromAxisAngle(axis, knMjcf_Angle(reader, element, o[3]));
	return true;
}

// --- joints ----------------------------------------------------------------------------------------------

int knMjcf_JointNq(const knMjcfJoint* joint) {
	return joint->type == KN_MJCF_FREE ? 7 : (joint->type == KN_MJCF_BALL ? 4 : 1);
}

int knMjcf_JointNv(const knMjcfJoint* joint) {
	return joint->type == KN_MJCF_FREE ? 6 : (joint->type == KN_MJCF_BALL ? 3 : 1);
}

double knMjcf_JointRef(const knMjcf* reader, const knMjcfJoint* joint) {
	return joint->type == KN_MJCF_HINGE ? knMjcf_Angle(reader, &joint->element, joint->ref) : joint->ref;
}

// A turn about a point of the body: {p - q[p], q}.
static knFrame turnAbout(knVec3 point, knQuat q) {
	return knMakeFrame(knSub(point, knRotate(q, point)), q);
}

typedef struct Motion {
	knFrame frame;
	knTwist velocity; // of the frame's origin
} Motion;

// The frame seen from one that moves rigidly with `motion`.
static knVec3 carried(const Motion* motion, knVec3 point) {
	return knAdd(motion->velocity.lin, knCross(motion->velocity.ang, knSub(point, motion->frame.p)));
}

// Moves `motion` by one joint at `q` (nq numbers, finite) with velocity `v`.
static void applyJoint(const knMjcf* reader, const knMjcfJoint* joint, const double* q, const double* v,
					   Motion* motion) {
	const knVec3 anchor = joint->element.pos;
	const Motion before = *motion;
	knFrame T = knIdentityF();
	if (joint->type == KN_MJCF_BALL) {
		knQuat rotation = knIdentityQ();
		rotation = keyQuat(q);
		T = turnAbout(anchor, rotation);
	} else {
		const double moved = q[0] - knMjcf_JointRef(reader, joint);
		T = joint->type == KN_MJCF_HINGE ? turnAbout(anchor, knQuat_FromAxisAngle(joint->axis, moved))
										 : knMakeFrame(knScale(moved, joint->axis), knIdentityQ());
	}
	motion->frame = knMulF(before.frame, T);
	motion->velocity.lin = carried(&before, motion->frame.p);
	if (v == NULL) {
		return;
	}

	if (joint->type == KN_MJCF_SLIDE) {
		motion->velocity.lin = knMulAdd(motion->velocity.lin, v[0], knRotate(before.frame.q, joint->axis));
		return;
	}
	knVec3 w = joint->type == KN_MJCF_BALL ? knRotate(motion->frame.q, knV3(v[0], v[1], v[2]))
										   : knScale(v[0], knRotate(before.frame.q, joint->axis));
	knVec3 arm = knSub(motion->frame.p, knPoint(before.frame, anchor));
	motion->velocity.ang = knAdd(motion->velocity.ang, w);
	motion->velocity.lin = knAdd(motion->velocity.lin, knCross(w, arm));
}

static void applyFree(const double* q, const double* v, Motion* motion) {
	if (q != NULL) {
		motion->frame.p = knV3(q[0], q[1], q[2]);
		motion->frame.q = keyQuat(q + 3);
	}
	if (v != NULL) {
		motion->velocity.lin = knV3(v[0], v[1], v[2]);
		motion->velocity.ang = knRotate(motion->frame.q, knV3(v[3], v[4], v[5]));
	}
}

// --- keyframes -------------------------------------------------------------------------------------------

static bool checkLength(knMjcf* reader, const knMjcfKey* key, const char* what, int count, int expected) {
	return count == expected ||
		   knMjcf_Fail(reader, &key->element, "key", KN_BAD_DATA, "%s has %d numbers; the model's %s take %d",
					   what, count, what[0] == 'm' ? "mocap bodies" : "joints", expected);
}

// Says which keyframes have quaternions of no length.
static void noteQuats(knMjcf* reader, const knMjcfKey* key) {
	int at = 0;
	for (int i = 0; i < reader->joints.count; ++i) {
		const knMjcfJoint* joint = &reader->joints.items[reader->jointOrder[i]];
		const int start = joint->type == KN_MJCF_FREE ? at + 3 : at;
		knQuat q;
		if ((joint->type == KN_MJCF_FREE || joint->type == KN_MJCF_BALL) &&
			!knMjcf_UnitQuat(key->qpos.items + start, &q)) {
			knMjcf_Note(reader, &key->element,
						"<key> a quaternion of no length in qpos is taken as no rotation");
		}
		at += knMjcf_JointNq(joint);
	}
}

static bool checkControls(knMjcf* reader, const knMjcfKey* key) {
	int states = 0;
	for (int i = 0; i < reader->actuators.count; ++i) {
		states += knMjcf_HasActivation(&reader->actuators.items[i]) ? 1 : 0;
	}
	if (key->act.count != 0 && key->act.count != states) {
		return knMjcf_Fail(reader, &key->element, "key", KN_BAD_DATA,
						   "act has %d numbers; %d of the model's actuators have one", key->act.count,
						   states);
	}
	const int controls = key->ctrl.count;
	return controls == 0 || controls == reader->actuators.count ||
		   knMjcf_Fail(reader, &key->element, "key", KN_BAD_DATA,
					   "ctrl has %d numbers; the model's actuators take %d", controls,
					   reader->actuators.count);
}

static bool checkKey(knMjcf* reader, const knMjcfKey* key) {
	int nq = 0, nv = 0;
	for (int i = 0; i < reader->joints.count; ++i) {
		nq += knMjcf_JointNq(&reader->joints.items[i]);
		nv += knMjcf_JointNv(&reader->joints.items[i]);
	}
	if (knMjcf_Given(&key->element, KN_MJCF_KEY_QPOS) &&
		!checkLength(reader, key, "qpos", key->qpos.count, nq)) {
		return false;
	}
	if (knMjcf_Given(&key->element, KN_MJCF_KEY_QVEL) &&
		!checkLength(reader, key, "qvel", key->qvel.count, nv)) {
		return false;
	}
	int mocaps = 0;
	for (int b = 0; b < reader->bodies.count; ++b) {
		mocaps += reader->bodies.items[b].mocap != 0 ? 1 : 0;
	}
	if ((key->mpos.count != 0 && !checkLength(reader, key, "mpos", key->mpos.count, 3 * mocaps)) ||
		(key->mquat.count != 0 && !checkLength(reader, key, "mquat", key->mquat.count, 4 * mocaps))) {
		return false;
	}
	return checkControls(reader, key);
}

bool knMjcf_CheckKeys(knMjcf* reader) {
	// where joints may have been left out, only the keyframe that is chosen must fit; a file without joints is a part of others
	const bool whole = reader->joints.count > 0 && !reader->lenient;
	for (int i = 0; i < reader->keys.count && whole; ++i) {
		if (!checkKey(reader, &reader->keys.items[i])) {
			return false;
		}
	}
	return true;
}

bool knMjcf_ChooseKey(knMjcf* reader, const char* name, const knMjcfElement* element) {
	int index = knNameTable_Get(&reader->keyNames, name);
	if (index < 0) {
		const char* suggestion =
			knMjcf_SuggestElement(reader, name, reader->keys.items, reader->keys.count, sizeof(knMjcfKey));
		const knMjcfElement nowhere = { .line = 0 };
		return knMjcf_Fail(reader, element != NULL ? element : &nowhere, "key", KN_BAD_DATA,
						   "the file has no keyframe named '%.60s'%s", name, suggestion);
	}
	const knMjcfKey* key = &reader->keys.items[index];
	if (!checkKey(reader, key)) {
		return false;
	}
	if (knMjcf_Given(&key->element, KN_MJCF_KEY_QPOS)) {
		noteQuats(reader, key);
	}
	if (key->time != 0.0) {
		knMjcf_Note(reader, &key->element, "<key> time ignored: worlds start at time 0");
	}
	reader->key = key;
	return !reader->failed;
}

double knMjcf_JointStart(const knMjcf* reader, int jointIndex) {
	const knMjcfJoint* joint = &reader->joints.items[jointIndex];
	if (reader->key == NULL || !knMjcf_Given(&reader->key->element, KN_MJCF_KEY_QPOS)) {
		return knMjcf_JointRef(reader, joint);
	}
	return reader->key->qpos.items[reader->jointStart[jointIndex]];
}

// --- all bodies ------------------------------------------------------------------------------------------

// A kinematic body's velocity is given at its centre of mass.
static knTwist originVelocity(const knMjcfNode* node, knFrame frame) {
	knVec3 w = node->def.angularVelocity;
	knVec3 arm = knRotate(frame.q, node->mass.center);
	return knMakeTwist(w, knSub(node->def.velocity, knCross(w, arm)));
}

// Where the keyframe puts the mocap bodies, in the order of the file.
static void placeMocap(const knMjcf* reader, int index, knFrame* frame) {
	const knMjcfKey* key = reader->key;
	if (3 * index + 3 <= key->mpos.count) {
		const double* p = key->mpos.items + 3 * (size_t)index;
		frame->p = knV3(p[0], p[1], p[2]);
	}
	if (4 * index + 4 <= key->mquat.count) {
		frame->q = keyQuat(key->mquat.items + 4 * (size_t)index);
	}
}

// Poses of all nodes for the given coordinates; NULL: the reference pose, at rest. Parents come before children.
static void poseAll(knMjcf* reader, const double* qpos, const double* qvel, bool reference) {
	int mocaps = 0;
	for (int b = 1; b < reader->bodies.count; ++b) {
		knMjcfNode* node = &reader->nodes[b];
		const int parentIndex = reader->bodies.items[b].parent;
		const knMjcfNode* parent = &reader->nodes[parentIndex];
		Motion motion = { node->local, knZeroTwist() };
		if (parentIndex > 0) {
			const Motion base = { reference ? parent->reference : parent->frame, parent->velocity };
			motion.frame = knMulF(base.frame, node->local);
			motion.velocity = knMakeTwist(base.velocity.ang, carried(&base, motion.frame.p));
		}
		for (int i = node->firstJoint; i < node->firstJoint + node->jointCount; ++i) {
			const knMjcfJoint* joint = &reader->joints.items[reader->jointOrder[i]];
			if (joint->type == KN_MJCF_FREE) {
				applyFree(qpos, qvel, &motion);
			} else if (qpos != NULL) {
				applyJoint(reader, joint, qpos, qvel, &motion);
			} else if (qvel != NULL) {
				const double ref[4] = { joint->type == KN_MJCF_BALL ? 1.0 : knMjcf_JointRef(reader, joint) };
				applyJoint(reader, joint, ref, qvel, &motion);
			}
			qpos = qpos != NULL ? qpos + knMjcf_JointNq(joint) : NULL;
			qvel = qvel != NULL ? qvel + knMjcf_JointNv(joint) : NULL;
		}
		if (reader->bodies.items[b].mocap != 0 && !reference) {
			placeMocap(reader, mocaps++, &motion.frame);
		}
		if (node->kinematic) {
			motion.velocity = originVelocity(node, motion.frame);
		}
		if (reference) {
			node->reference = motion.frame;
		}
		node->frame = motion.frame;
		node->velocity = motion.velocity;
	}
}

void knMjcf_Pose(knMjcf* reader) {
	poseAll(reader, NULL, NULL, true);
	const knMjcfKey* key = reader->key;
	if (key != NULL) {
		poseAll(reader, knMjcf_Given(&key->element, KN_MJCF_KEY_QPOS) ? key->qpos.items : NULL,
				knMjcf_Given(&key->element, KN_MJCF_KEY_QVEL) ? key->qvel.items : NULL, false);
	}
}
