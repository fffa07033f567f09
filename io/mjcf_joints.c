// Joints of the tree.
//
// Joint frames: child {pos, Q} in the body's frame, with Q's x along the (first) axis; parent so that the joint
// frame is J(ref) in the reference pose:
//   F_child = {pos, Q}        F_parent = weld_parent local F_child J(ref)^-1
// so that coordinates are MuJoCo's qpos. Several joints in a body are one joint of the vocabulary, if there is one:
//   slide slide          SLIDER2       slide slide slide    SLIDER3      slide + hinge, same axis    CYLINDER
//   hinge hinge          UNIVERSAL     slide slide hinge    PLANAR       (all axes orthogonal)
// A universal's and a planar joint's child frame has turned by the last hinge's ref against the axes of the others.
//
// A hinge's turns are counted from the joint's zero in (-pi, pi]. If the start lies beyond, limits and rest move by
// whole turns instead.
#include "mjcf.h"

#include <string.h>

#include "model/joint.h"

// axes this close (as a cosine, or as a distance) count as orthogonal, parallel, or meeting in a point
#define AXIS_TOLERANCE 1e-6
// half a turn away from zero, give or take this, a hinge is still in its first turn
#define TURN_TOLERANCE 1e-9
// nearer to unit length than this, an axis is taken as it is
#define UNIT_EXACT 1e-15

enum { MAX_JOINTS = 3 };

// The joints of one body.
typedef struct Chain {
	int node;
	int count;
	int index[MAX_JOINTS];
	const knMjcfJoint* joint[MAX_JOINTS];
} Chain;

// --- checks ----------------------------------------------------------------------------------------------

bool knMjcf_IsLimited(const knMjcfJoint* joint) {
	return joint->limited == KN_MJCF_LIMITED_TRUE ||
		   (joint->limited == KN_MJCF_LIMITED_AUTO && knMjcf_Given(&joint->element, KN_MJCF_JOINT_RANGE));
}

static bool checkLimits(knMjcf* reader, const knMjcfJoint* joint) {
	const bool ranged = knMjcf_Given(&joint->element, KN_MJCF_JOINT_RANGE);
	const char* sentence = NULL;
	if (ranged && joint->limited == KN_MJCF_LIMITED_AUTO &&
		!knMjcf_Compiler(reader, &joint->element)->autoLimits) {
		sentence = "it has a range, but without autolimits it must say whether it is limited";
	} else if (knMjcf_IsLimited(joint) && joint->type != KN_MJCF_FREE && !ranged) {
		sentence = "it is limited but has no range";
	} else if (knMjcf_IsLimited(joint) && joint->type != KN_MJCF_FREE && joint->range[0] > joint->range[1]) {
		sentence = "the lower end of its range exceeds the upper";
	} else if (knMjcf_IsLimited(joint) && joint->type == KN_MJCF_BALL &&
			   (joint->range[0] != 0.0 || joint->range[1] <= 0.0)) {
		sentence = "the range of a ball joint is 0 and the largest angle";
	}
	return sentence == NULL || knMjcf_Fail(reader, &joint->element, "joint", KN_BAD_DATA, "%s", sentence);
}

knVec3 knMjcf_UnitAxis(knVec3 axis) {
	return knAbs(knLength(axis) - 1.0) > UNIT_EXACT ? knNormalize(axis) : axis;
}

bool knMjcf_CheckJoints(knMjcf* reader) {
	for (int i = 0; i < reader->joints.count; ++i) {
		knMjcfJoint* joint = &reader->joints.items[i];
		const double length = knLength(joint->axis);
		if (joint->type == KN_MJCF_HINGE || joint->type == KN_MJCF_SLIDE) {
			if (!(length > 1e-12) || !knIsFinite(length)) {
				return knMjcf_Fail(reader, &joint->element, "joint", KN_BAD_DATA,
								   "its axis has no direction");
			}
			joint->axis = knMjcf_UnitAxis(joint->axis);
		}
		if (!checkLimits(reader, joint)) {
			return false;
		}
	}
	return true;
}

// --- links -----------------------------------------------------------------------------------------------

knMjcfLink* knMjcf_AddLink(knMjcf* reader, const knMjcfLink* link, const char* name) {
	if (!KN_ARRAY_PUSH(&reader->allocator, &reader->links, *link) ||
		(name != NULL && !knNameTable_Set(&reader->linkNames, name, reader->links.count - 1))) {
		knMjcf_NoMemory(reader);
		return NULL;
	}
	knMjcfLink* added = &reader->links.items[reader->links.count - 1];
	added->def.name = name;
	return added;
}

// The parts of one degree of freedom; `sign` is -1 where the joint's axis points against MuJoCo's.
static void planAxis(knMjcf* reader, int index, double sign, knJointAxis* axis) {
	knMjcfJoint* joint = &reader->joints.items[index];
	const bool hinge = joint->type == KN_MJCF_HINGE;
	double lower = hinge ? knMjcf_Angle(reader, &joint->element, joint->range[0]) : joint->range[0];
	double upper = hinge ? knMjcf_Angle(reader, &joint->element, joint->range[1]) : joint->range[1];
	double rest = hinge ? knMjcf_Angle(reader, &joint->element, joint->springref) : joint->springref;
	const double start = knMjcf_JointStart(reader, index);
	if (hinge && knAbs(start) > KN_PI + TURN_TOLERANCE) {
		const double turns = floor((start + KN_PI) / (2.0 * KN_PI));
		lower -= 2.0 * KN_PI * turns;
		upper -= 2.0 * KN_PI * turns;
		rest -= 2.0 * KN_PI * turns;
		joint->turns = 2.0 * KN_PI * turns;
	}
	joint->sign = sign;
	axis->limited = knMjcf_IsLimited(joint);
	axis->lower = sign > 0.0 ? lower : -upper;
	axis->upper = sign > 0.0 ? upper : -lower;
	axis->friction = joint->frictionloss;
	axis->damping = joint->damping;
	axis->stiffness = joint->stiffness;
	axis->rest = sign * rest;
	axis->armature = joint->armature;
	if (joint->forceLimited == KN_MJCF_LIMITED_TRUE ||
		(joint->forceLimited == KN_MJCF_LIMITED_AUTO &&
		 knMjcf_Given(&joint->element, KN_MJCF_JOINT_FORCERANGE))) {
		axis->driveLimited = true;
		axis->driveLower = sign > 0.0 ? joint->forceRange[0] : -joint->forceRange[1];
		axis->driveUpper = sign > 0.0 ? joint->forceRange[1] : -joint->forceRange[0];
	}
}

// Three or six equal axes: MuJoCo gives a ball or free joint one number for all.
static void planEqualAxes(const knMjcfJoint* joint, int count, knJointDef* def) {
	for (int i = 0; i < count; ++i) {
		def->axis[i].friction = joint->frictionloss;
		def->axis[i].damping = joint->damping;
		def->axis[i].stiffness = joint->stiffness;
		def->axis[i].armature = joint->armature;
	}
}

knFrame knMjcf_AxisFrame(knVec3 pos, knVec3 axis) {
	return knMakeFrame(pos, knQuat_Between(knV3(1.0, 0.0, 0.0), axis));
}

knFrame knMjcf_ParentFrame(knFrame local, knFrame frameChild, knJointKind kind, const double* ref) {
	knFrame frame = knMulF(local, frameChild);
	bool displaced = false;
	for (int i = 0; i < MAX_JOINTS; ++i) {
		displaced = displaced || ref[i] != 0.0;
	}
	if (displaced) {
		const knJoint joint = { .kind = kind };
		frame = knMulF(frame, knInvF(knJointOps_Get(kind)->transform(&joint, ref)));
	}
	return frame;
}

// Frames from the child's joint frame in its body and the coordinates at the reference pose.
static void planFrames(const knMjcf* reader, int node, knFrame frameChild, const double* ref,
					   knJointDef* def) {
	const int parentIndex = reader->bodies.items[node].parent;
	const knMjcfNode* parent = &reader->nodes[parentIndex];
	def->frameParent = knMjcf_ParentFrame(reader->nodes[node].local, frameChild, def->kind, ref);
	def->frameChild = frameChild;
	if (parent->owner != parentIndex) {
		def->frameParent = knMulF(parent->weld, def->frameParent);
	}
}

static bool addTreeLink(knMjcf* reader, const Chain* chain, const knJointDef* def) {
	const int parent = reader->nodes[reader->bodies.items[chain->node].parent].owner;
	knMjcfLink link = {
		.def = *def, .parent = parent, .child = chain->node, .element = &chain->joint[0]->element
	};
	// MuJoCo keeps parents and children apart unless the parent stands still
	link.def.collide = reader->nodes[parent].kind != KN_BODY_DYNAMIC;
	if (knMjcf_AddLink(reader, &link, chain->joint[0]->element.name) == NULL) {
		return false;
	}
	for (int i = 0; i < chain->count; ++i) {
		reader->joints.items[chain->index[i]].link = reader->links.count - 1;
	}
	for (int i = 1; i < chain->count; ++i) {
		const char* name = chain->joint[i]->element.name;
		if (name != NULL && !knNameTable_Set(&reader->linkNames, name, reader->links.count - 1)) {
			return knMjcf_NoMemory(reader);
		}
	}
	return true;
}

// --- one joint -------------------------------------------------------------------------------------------

static bool planSingle(knMjcf* reader, const Chain* chain) {
	const knMjcfJoint* joint = chain->joint[0];
	knJointDef def = knJointDef_Default(joint->type == KN_MJCF_HINGE ? KN_JOINT_HINGE : KN_JOINT_SLIDER);
	const double ref[MAX_JOINTS] = { knMjcf_JointRef(reader, joint) };
	planFrames(reader, chain->node, knMjcf_AxisFrame(joint->element.pos, joint->axis), ref, &def);
	planAxis(reader, chain->index[0], 1.0, &def.axis[0]);
	return addTreeLink(reader, chain, &def);
}

// MuJoCo limits a ball joint's whole angle; the vocabulary limits swing and twist, each by that angle.
static bool planBall(knMjcf* reader, const Chain* chain) {
	const knMjcfJoint* joint = chain->joint[0];
	knJointDef def = knJointDef_Default(KN_JOINT_BALL);
	const double ref[MAX_JOINTS] = { 0.0 };
	planFrames(reader, chain->node, knMakeFrame(joint->element.pos, knIdentityQ()), ref, &def);
	planEqualAxes(joint, 3, &def);
	if (knMjcf_IsLimited(joint)) {
		const double angle = knMin(knMjcf_Angle(reader, &joint->element, joint->range[1]), KN_PI);
		def.coneLimited = def.twistLimited = true;
		def.coneY = def.coneZ = def.twistUpper = angle;
		def.twistLower = -angle;
		knMjcf_Note(reader, &joint->element,
					"<joint> range of a ball: limits swing and twist, not the whole angle");
	}
	return addTreeLink(reader, chain, &def);
}

// A free body needs no joint unless something acts in it.
static bool planFree(knMjcf* reader, const Chain* chain) {
	const knMjcfJoint* joint = chain->joint[0];
	if (joint->damping == 0.0 && joint->frictionloss == 0.0 && joint->stiffness == 0.0 &&
		joint->armature == 0.0) {
		return true;
	}
	knJointDef def = knJointDef_Default(KN_JOINT_FREE);
	def.frameParent = reader->nodes[chain->node].reference;
	planEqualAxes(joint, 6, &def);
	return addTreeLink(reader, chain, &def);
}

// --- several joints in a body ----------------------------------------------------------------------------

static bool orthogonal(knVec3 a, knVec3 b) {
	return knAbs(knDot(a, b)) < AXIS_TOLERANCE;
}

static bool onLine(knVec3 point, knVec3 origin, knVec3 direction) {
	return knLength(knCross(knSub(point, origin), direction)) < AXIS_TOLERANCE;
}

// Each of these says whether the chain is its kind, and if so where the child's joint frame is.
typedef bool MatchFn(const Chain* chain, knVec3* origin, knVec3* x, knVec3* z);

static bool matchSliders(const Chain* chain, knVec3* origin, knVec3* x, knVec3* z) {
	*origin = chain->joint[0]->element.pos;
	*x = chain->joint[0]->axis;
	*z = knCross(*x, chain->joint[1]->axis);
	return orthogonal(*x, chain->joint[1]->axis) &&
		   (chain->count < 3 || knLength(knCross(*z, chain->joint[2]->axis)) < AXIS_TOLERANCE);
}

static bool matchPlanar(const Chain* chain, knVec3* origin, knVec3* x, knVec3* z) {
	const bool match = matchSliders(chain, origin, x, z);
	*origin = chain->joint[2]->element.pos;
	return match;
}

static bool matchUniversal(const Chain* chain, knVec3* origin, knVec3* x, knVec3* z) {
	*origin = chain->joint[0]->element.pos;
	*x = chain->joint[0]->axis;
	*z = chain->joint[1]->axis;
	return orthogonal(*x, *z) && knDistance(*origin, chain->joint[1]->element.pos) < AXIS_TOLERANCE;
}

// The slide's place does not matter, only that both axes have one direction.
static bool matchCylinder(const Chain* chain, knVec3* origin, knVec3* x, knVec3* z) {
	const int slide = chain->joint[0]->type == KN_MJCF_SLIDE ? 0 : 1;
	*origin = chain->joint[1 - slide]->element.pos;
	*x = chain->joint[slide]->axis;
	*z = knAnyOrthogonal(*x);
	return onLine(chain->joint[1 - slide]->axis, knZero3(), *x);
}

typedef struct Pattern {
	const char* joints; // s: slide, h: hinge
	knJointKind kind;
	MatchFn* match;
	int order[MAX_JOINTS]; // the joint that is each axis
	int turned;            // the hinge whose ref turns the child's frame about z, -1: none
} Pattern;

static const Pattern patterns[] = {
	{ "ss", KN_JOINT_SLIDER2, matchSliders, { 0, 1 }, -1 },
	{ "sss", KN_JOINT_SLIDER3, matchSliders, { 0, 1, 2 }, -1 },
	{ "ssh", KN_JOINT_PLANAR, matchPlanar, { 0, 1, 2 }, 2 },
	{ "hh", KN_JOINT_UNIVERSAL, matchUniversal, { 0, 1 }, 1 },
	{ "sh", KN_JOINT_CYLINDER, matchCylinder, { 0, 1 }, -1 },
	{ "hs", KN_JOINT_CYLINDER, matchCylinder, { 1, 0 }, -1 },
};

// The direction in the body's frame that a kind's axis i has when the joint is at zero.
static knVec3 axisDirection(knJointKind kind, int i, knQuat Q) {
	static const int sliderAxes[] = { 0, 1, 2 }, universalAxes[] = { 0, 2 }, cylinderAxes[] = { 0, 0 };
	const int* axes =
		kind == KN_JOINT_UNIVERSAL ? universalAxes : (kind == KN_JOINT_CYLINDER ? cylinderAxes : sliderAxes);
	knVec3 unit = knZero3();
	knSetComponent(&unit, axes[i], 1.0);
	return knRotate(Q, unit);
}

static bool planPattern(knMjcf* reader, const Chain* chain, const Pattern* pattern) {
	knVec3 origin, x, z;
	if (!pattern->match(chain, &origin, &x, &z)) {
		return false;
	}
	knJointDef def = knJointDef_Default(pattern->kind);
	knQuat Q = knMjcf_QuatFromXZ(x, z);
	double ref[MAX_JOINTS] = { 0.0 };
	for (int i = 0; i < chain->count; ++i) {
		const int j = pattern->order[i];
		const knVec3 direction = axisDirection(pattern->kind, i, Q);
		const double sign = knDot(direction, chain->joint[j]->axis) < 0.0 ? -1.0 : 1.0;
		planAxis(reader, chain->index[j], sign, &def.axis[i]);
		reader->joints.items[chain->index[j]].linkAxis = i;
		ref[i] = sign * knMjcf_JointRef(reader, chain->joint[j]);
	}
	if (pattern->turned >= 0) {
		Q = knMulQ(Q, knQuat_FromAxisAngle(knV3(0.0, 0.0, 1.0), ref[pattern->turned]));
	}
	planFrames(reader, chain->node, knMakeFrame(origin, Q), ref, &def);
	addTreeLink(reader, chain, &def);
	return true;
}

bool knMjcf_IsOneJoint(const knMjcfJoint* const* joints, int count) {
	Chain chain = { .count = count };
	char written[MAX_JOINTS + 1] = "";
	for (int i = 0; i < count; ++i) {
		chain.joint[i] = joints[i];
		written[i] = joints[i]->type == KN_MJCF_HINGE ? 'h' : (joints[i]->type == KN_MJCF_SLIDE ? 's' : 'b');
	}
	for (size_t i = 0; i < sizeof patterns / sizeof *patterns; ++i) {
		knVec3 origin, x, z;
		if (strcmp(patterns[i].joints, written) == 0 && patterns[i].match(&chain, &origin, &x, &z)) {
			return true;
		}
	}
	return false;
}

static bool planSeveral(knMjcf* reader, const Chain* chain, int jointCount) {
	char written[MAX_JOINTS + 1] = "";
	for (int i = 0; i < chain->count; ++i) {
		const int type = chain->joint[i]->type;
		written[i] = type == KN_MJCF_HINGE ? 'h' : (type == KN_MJCF_SLIDE ? 's' : 'b');
	}
	for (size_t i = 0; i < sizeof patterns / sizeof *patterns && jointCount <= MAX_JOINTS; ++i) {
		if (strcmp(patterns[i].joints, written) == 0 && planPattern(reader, chain, &patterns[i])) {
			return !reader->failed;
		}
	}
	const knMjcfElement* body = &reader->bodies.items[chain->node].element;
	return knMjcf_Fail(
		reader, body, "body", KN_UNSUPPORTED,
		"the %d joints of body '%.60s' are together no joint that is understood; put a body between "
		"them",
		jointCount, body->name != NULL ? body->name : "(unnamed)");
}

bool knMjcf_PlanJoints(knMjcf* reader) {
	if (!KN_ARRAY_RESERVE(&reader->allocator, &reader->links,
						  reader->joints.count + reader->equalities.count)) {
		return knMjcf_NoMemory(reader);
	}
	for (int b = 1; b < reader->bodies.count; ++b) {
		const knMjcfNode* node = &reader->nodes[b];
		if (node->jointCount == 0 || node->kind == KN_BODY_KINEMATIC) {
			continue;
		}
		Chain chain = { .node = b, .count = node->jointCount < MAX_JOINTS ? node->jointCount : MAX_JOINTS };
		for (int i = 0; i < chain.count; ++i) {
			chain.index[i] = reader->jointOrder[node->firstJoint + i];
			chain.joint[i] = &reader->joints.items[chain.index[i]];
		}
		const int type = chain.joint[0]->type;
		bool ok = node->jointCount > 1   ? planSeveral(reader, &chain, node->jointCount)
				  : type == KN_MJCF_FREE ? planFree(reader, &chain)
				  : type == KN_MJCF_BALL ? planBall(reader, &chain)
										 : planSingle(reader, &chain);
		if (!ok || reader->failed) {
			return false;
		}
	}
	return true;
}
