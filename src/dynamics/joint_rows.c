// Joints as rows. A joint row is a 6-vector r in the axes of the parent's joint frame with rate r . V_P, V_P
// the child's velocity relative to the parent's at the child's joint origin (the anchor). In world axes (a, l):
//
//   J = [ -(a + r_p x l), -l, (a + r_c x l), l ]     r_p, r_c from the centres to the anchor
//
// Parent and child get opposite wrenches at one common point, so that momentum is conserved to round-off.
//
//   locked     J u = -c                             lambda free
//   limit      J u >= -room/h, at most 0            lambda >= 0
//   friction   J u = 0                              |lambda| <= h f + b |load|, the load being the locked rows' lambda
//   spring     lambda = -h (k (x + h J u) + c J u)  implicit: gamma = 1/(h (h k + c)), bias = k x/(h k + c); armature and
//   drive      actuators                            likewise (model/control.h)
//   motor      J u = target speed                   |lambda| <= h fmax
//
// c = (C(x + h v) - C(x))/h - J v is the curvature of the constraint C (distance from the closest allowed frame)
// along the present motion v: with it a link that turns by h w ends on its circle and not on the tangent, while the
// impulse still acts along the directions at the start. So the motion is that of the SHAKE method, which neither
// drifts nor damps; what error is left is the correction's business:
//
//   locked     J p = -C(x)      limit      J p >= -room      p: displacements

#include "dynamics/joint_rows.h"

#include "model/control.h"
#include "model/joint_parts.h"

#define CURVATURE_TURN 0.2 // rad a step; faster spins are not followed
#define STEADY_SHARE 0.5   // of its inertia: less stiffness times h^2 is left to the step
#define LIMIT_MARGIN 0.01  // m or rad: limits with less room always have a row

// A joint while its rows are written.
typedef struct Site {
	const knJoint* joint;
	const knJointState* state;
	int index;
	int parent, child; // blocks
	knQuat axes;       // the parent's joint frame in the world
	knVec3 rP, rC;     // from the centres to the anchor
	knFrame J;         // the child's joint frame seen from the parent's
	const double* q;
} Site;

// Joint rows under construction.
typedef struct Builder {
	const knRowInput* input;
	knJointRows* list;
	knRows* rows;
	const knJointMemory* memory; // of the joint at hand
	int memoryCount;
} Builder;

static Site makeSite(const knModel* model, const knState* state, int index) {
	const knJoint* joint = knState_Joint(state, model, index);
	knFrame poseP = state->pose[joint->parent], poseC = state->pose[joint->child];
	knVec3 anchor = knPoint(poseC, joint->frameChild.p);
	Site site = {
		.joint = joint,
		.state = &state->joint[index],
		.index = index,
		.parent = joint->parent,
		.child = joint->child,
		.axes = knMulQ(poseP.q, joint->frameParent.q),
		.rP = knSub(anchor, poseP.p),
		.rC = knSub(anchor, poseC.p),
		.J = knJoint_Frame(joint, poseP, poseC),
		.q = &state->q[joint->qOffset],
	};
	return site;
}

// The wrench (or row) at the anchor, seen from a body's centre.
static knTwist atCenter(knTwist wrench, knVec3 arm) {
	return knMakeTwist(knAdd(wrench.ang, knCross(arm, wrench.lin)), wrench.lin);
}

// --- one row ---------------------------------------------------------------------------------------------

static double recall(const Builder* builder, int part) {
	for (int i = 0; i < builder->memoryCount; ++i) {
		if (builder->memory[i].part == part) {
			return builder->input->impulseScale * builder->memory[i].impulse;
		}
	}
	return 0.0;
}

// A free row (lambda without bounds) along `along`; the caller narrows it.
static knRow* addRow(Builder* builder, const Site* site, knTwist along, int part, double gamma) {
	KN_ASSERT(builder->rows->count < builder->rows->capacity &&
			  builder->list->count < builder->list->capacity);
	builder->list->rows[builder->list->count++] = (knJointRow){ site->index, part, along };
	knTwist world = knRotateT(site->axes, along);
	knRow* row = &builder->rows->items[builder->rows->count++];
	*row = (knRow){
		.a = site->parent,
		.b = site->child,
		.Ja = knScaleT(-1.0, atCenter(world, site->rP)),
		.Jb = atCenter(world, site->rC),
		.gamma = gamma,
		.lo = -(double)INFINITY,
		.hi = (double)INFINITY,
		.normal = KN_ROW_NO_NORMAL,
		.group = site->index,
	};
	knStepBodies_FinishRow(builder->input->blocks, row);
	return row;
}

static void setBounds(knRow* row, double limit) {
	row->lo = -limit;
	row->hi = limit;
}

// --- the parts -------------------------------------------------------------------------------------------

// The joint's error at given poses, from the closest allowed frame.
static knTwist errorAt(const knJoint* joint, knFrame poseP, knFrame poseC) {
	knFrame J = knJoint_Frame(joint, poseP, poseC);
	return knJoint_ErrorTwist(J, knJointOps_Get(joint->kind)->projectState(joint, J));
}

// h times the curvature term: what the error grows by along the present motion beyond its linear part.
static knTwist curvedError(const Builder* builder, const Site* site, knTwist error, knTwist* linear) {
	const knState* state = builder->input->state;
	double h = builder->input->blocks->h;
	knTwist vP = state->velocity[site->parent], vC = state->velocity[site->child];
	knFrame poseP = state->pose[site->parent], poseC = state->pose[site->child];
	*linear = knZeroTwist();
	// fast spins are not followed; bodies that are steadied shall lose their swing, and do so along the tangent
	const uint8_t* steadied = builder->input->blocks->steadied;
	bool fast = h * knMax(knLength(vP.ang), knLength(vC.ang)) > CURVATURE_TURN;
	if (fast || steadied[site->parent] || steadied[site->child]) {
		return knZeroTwist();
	}
	*linear = knScaleT(h, knJoint_RelativeTwist(site->joint, poseP, vP, poseC, vC));
	knTwist moved = errorAt(site->joint, knMovePose(poseP, vP, h), knMovePose(poseC, vC, h));
	return knSubT(moved, error);
}

static void addLocked(Builder* builder, const Site* site) {
	const knJointOps* ops = knJointOps_Get(site->joint->kind);
	knTwist locked[6];
	int count = ops->lockedRows(site->joint, site->J, locked);
	if (count == 0) {
		return;
	}
	knTwist error = knJoint_ErrorTwist(site->J, ops->projectState(site->joint, site->J)), linear;
	knTwist curved = curvedError(builder, site, error, &linear);
	double c[6];
	for (int i = 0; i < 6; ++i) {
		c[i] = recall(builder, KN_PART_LOCKED + i);
	}
	knTwist wrench = knMakeTwist(knV3(c[0], c[1], c[2]), knV3(c[3], c[4], c[5]));
	for (int i = 0; i < count; ++i) {
		knRow* row = addRow(builder, site, locked[i], KN_PART_LOCKED, 0.0);
		row->bias = knDotT(locked[i], knSubT(curved, linear)) / builder->input->blocks->h;
		row->lambda = knDotT(locked[i], wrench);
	}
}

static void addLimits(Builder* builder, const Site* site) {
	const knStepBodies* blocks = builder->input->blocks;
	const knFrame* pose = builder->input->state->pose;
	knTwist V = knJoint_RelativeTwist(site->joint, pose[site->parent], blocks->u[site->parent],
									  pose[site->child], blocks->u[site->child]);
	double margin = LIMIT_MARGIN + 2.0 * blocks->h * (knLength(V.ang) + knLength(V.lin));
	knJointLimit limits[KN_JOINT_MAX_LIMITS];
	int count = knJoint_Limits(site->joint, site->J, site->q, margin, limits);
	for (int i = 0; i < count; ++i) {
		int part = KN_PART_LIMIT + 3 * (limits[i].axis + 2) + limits[i].side + 1;
		knRow* row = addRow(builder, site, limits[i].row, part, 0.0);
		row->lo = 0.0;
		double room = limits[i].distance;
		row->bias = knMax(room, 0.0) / blocks->h;
		row->lambda = recall(builder, part);
	}
}

// A user's joint may lock directions that have a part along an axis: friction has none there.
static knTwist withoutLocked(const Site* site, knTwist along) {
	knTwist locked[6];
	int count = site->joint->kind == KN_JOINT_CUSTOM
					? knJointOps_Get(site->joint->kind)->lockedRows(site->joint, site->J, locked)
					: 0;
	for (int i = 0; i < count; ++i) {
		along = knMulAddT(along, -knDotT(locked[i], along), locked[i]);
	}
	return along;
}

static void addFriction(Builder* builder, const Site* site, int axis, knTwist along) {
	const knJointAxis* parts = &site->joint->axis[axis];
	knRow* row = addRow(builder, site, withoutLocked(site, along), KN_PART_FRICTION + axis, 0.0);
	setBounds(row, builder->input->blocks->h * parts->friction);
	row->lambda = recall(builder, KN_PART_FRICTION + axis);
	knRows* rows = builder->rows;
	KN_ASSERT(rows->loadCount < rows->loadCapacity);
	rows->loads[rows->loadCount++] = (knRowLoad){ .least = row->hi, .share = parts->bearing };
	row->load = rows->loadCount;
}

// The friction of a joint feels its locked rows, those from `first` on. Its axes' rows begin with `begin`.
static void addLoads(Builder* builder, const Site* site, int begin, int first) {
	const knRows* rows = builder->rows;
	const knJointRow* described = builder->list->rows;
	for (int i = begin; i < first; ++i) {
		if (rows->items[i].load == 0) {
			continue;
		}
		knRowLoad* load = &rows->loads[rows->items[i].load - 1];
		load->first = first;
		load->count = rows->count - first;
		for (int k = 0; k < load->count; ++k) {
			load->direction[k] =
				knJoint_BearingLoad(site->joint, described[i].row, described[first + k].row.lin);
		}
	}
}

// A row of an axis that gives way: spring, armature, actuators.
static void addSoft(Builder* builder, const Site* site, knTwist along, int part, knAxisRow soft) {
	knRow* row = addRow(builder, site, along, part, soft.gamma);
	row->bias = soft.bias;
	row->lo = soft.lo;
	row->hi = soft.hi;
	row->lambda = recall(builder, part);
}

static void addSpring(Builder* builder, const Site* site, int axis, knTwist along) {
	const knState* state = builder->input->state;
	const knAxisDrive* drive = knState_Drive(state, builder->input->model, site->index, axis);
	const knTwist V =
		knJoint_RelativeTwist(site->joint, state->pose[site->parent], state->velocity[site->parent],
							  state->pose[site->child], state->velocity[site->child]);
	addSoft(builder, site, along, KN_PART_SPRING + axis,
			knAxisRow_Spring(site->joint, drive, site->q, knDotT(along, V), axis, builder->input->blocks->h));
}

static void addDrive(Builder* builder, const Site* site, int axis, knTwist along) {
	const knAxisDrive* drive = knState_Drive(builder->input->state, builder->input->model, site->index, axis);
	addSoft(builder, site, along, KN_PART_DRIVE + axis,
			knAxisRow_Drive(site->joint, drive, site->q, axis, builder->input->blocks->h));
}

static void addMotor(Builder* builder, const Site* site, int axis, knTwist along) {
	const knJointState* state = site->state;
	double h = builder->input->blocks->h;
	knRow* row = addRow(builder, site, along, KN_PART_MOTOR + axis, 0.0);
	double speed = state->motorTarget[axis];
	if (state->motorMode[axis] == KN_MOTOR_POSITION) {
		double position = knJoint_AxisPosition(site->joint, site->q, axis) + site->joint->axis[axis].rest;
		speed = knServo_Speed(state->motorTarget[axis] - position, state->motorMaxForce[axis], row->D, h);
	}
	row->bias = -speed;
	setBounds(row, h * state->motorMaxForce[axis]);
	row->lambda = recall(builder, KN_PART_MOTOR + axis);
}

static bool hasMotorRow(const knJointState* state, int axis) {
	return state->motorMode[axis] == KN_MOTOR_VELOCITY || state->motorMode[axis] == KN_MOTOR_POSITION;
}

static int countAxisRows(const knJoint* joint, const knJointState* state) {
	int count = 0;
	for (int i = 0; i < joint->nv; ++i) {
		count += knJointAxis_HasFriction(&joint->axis[i]) + knAxisRow_HasSpring(joint, state, i) +
				 knAxisRow_HasDrive(state, i) + hasMotorRow(state, i);
	}
	return count;
}

static void addAxes(Builder* builder, const Site* site) {
	if (countAxisRows(site->joint, site->state) == 0) {
		return;
	}
	knTwist along[6];
	knJoint_CoordinateRows(site->joint, site->J, site->q, along);
	for (int i = 0; i < site->joint->nv; ++i) {
		if (knJointAxis_HasFriction(&site->joint->axis[i])) {
			addFriction(builder, site, i, along[i]);
		}
		if (knAxisRow_HasSpring(site->joint, site->state, i)) {
			addSpring(builder, site, i, along[i]);
		}
		if (knAxisRow_HasDrive(site->state, i)) {
			addDrive(builder, site, i, along[i]);
		}
		if (hasMotorRow(site->state, i)) {
			addMotor(builder, site, i, along[i]);
		}
	}
}

// --- all joints ------------------------------------------------------------------------------------------

bool knJointRows_TakesPart(const knModel* model, const knState* state, int index) {
	if (!knState_JointActive(state, model, index)) {
		return false;
	}
	const knJoint* joint = knState_Joint(state, model, index);
	return model->invMass[joint->parent] > 0.0 || model->invMass[joint->child] > 0.0;
}

void knJointRows_ApplyForces(const knModel* model, knStepBodies* blocks, knState* state) {
	int count = knState_JointCount(model);
	for (int j = 0; j < count; ++j) {
		state->joint[j].reaction = knZeroTwist();
		if (!knJointRows_TakesPart(model, state, j)) {
			continue;
		}
		bool driven = knJointState_IsPushed(&state->joint[j]);
		const knJoint* joint = knState_Joint(state, model, j);
		for (int i = 0; i < joint->nv; ++i) {
			driven = driven || state->joint[j].motorMode[i] == KN_MOTOR_FORCE;
		}
		if (!driven) {
			continue;
		}
		Site site = makeSite(model, state, j);
		knTwist along[6], wrench = knZeroTwist();
		knJoint_CoordinateRows(joint, site.J, site.q, along);
		for (int i = 0; i < joint->nv; ++i) {
			if (state->joint[j].motorMode[i] == KN_MOTOR_FORCE) {
				wrench = knMulAddT(wrench, state->joint[j].motorTarget[i], along[i]);
			}
			const knAxisDrive* drive = knState_Drive(state, model, j, i);
			if (drive != NULL && knAxisRow_IsForce(joint, &state->joint[j], i)) {
				wrench = knMulAddT(wrench, knAxisDrive_Push(drive), along[i]);
			}
		}
		wrench = knRotateT(site.axes, wrench);
		state->joint[j].reaction = wrench;
		knStepBodies_Drive(blocks, site.parent, knScaleT(-blocks->h, atCenter(wrench, site.rP)));
		knStepBodies_Drive(blocks, site.child, knScaleT(blocks->h, atCenter(wrench, site.rC)));
	}
}

// --- steadying -------------------------------------------------------------------------------------------
//
// A force f at an arm r turns with nothing: turning the body by a changes the moment by -K a, K = (f . r) 1 - r f^T.
// A rod under tension swings with the frequency sqrt(K/I); an explicit step h follows up to h sqrt(K/I) = 1, beyond it
// the swing grows without bounds. Taken implicitly the stiffness acts like more inertia, I + h^2 K. Only what exceeds
// the bound is added, so that motion which the step can follow is left as it is.

// A bound of K for any direction of f: |f| |r| across the arm. A sudden pull to the side counts as much as tension.
static knMat33 pullStiffness(knVec3 f, knVec3 r) {
	double arm = knLength(r), k = arm > 0.0 ? knLength(f) / arm : 0.0;
	knMat33 skew = knSkew(r), square = knMulMM(&skew, &skew);
	return knScaleM(-k, &square);
}

static void steadyBody(knStepBodies* blocks, const knMat33* inertia, const knMat33* stiffness, int b) {
	knMat33 add = knScaleM(blocks->h * blocks->h, stiffness), less = knScaleM(-STEADY_SHARE, inertia);
	knMat33 excess = knAddMM(&add, &less);
	knVec3 values;
	knQuat axes = knDiagonalize33(&excess, &values);
	if (values.x <= 0.0 && values.y <= 0.0 && values.z <= 0.0) {
		return;
	}
	knMat33 positive = knDiagonal33(knMax(values.x, 0.0), knMax(values.y, 0.0), knMax(values.z, 0.0));
	positive = knRotateTensor(axes, &positive);
	knMat33 total = knAddMM(inertia, &positive);
	blocks->invInertia[b] = knInverse33(&total);
	blocks->steadied[b] = 1;
}

bool knJointRows_Steady(const knModel* model, const knState* state, const knJointMemory* memory,
						int memoryCount, double lastStep, knStepBodies* blocks, knArena* arena) {
	if (memoryCount == 0 || lastStep <= 0.0) {
		return true;
	}
	knMat33* stiffness = KN_SCRATCH_ZERO(arena, knMat33, model->bodyCount);
	if (stiffness == NULL) {
		return false;
	}
	for (int i = 0; i < memoryCount; ++i) {
		// the three linear components of a locked wrench stand together; a damaged snapshot may name any joint
		bool known = memory[i].joint >= 0 && memory[i].joint < knState_JointCount(model);
		if (memory[i].part != KN_PART_LOCKED + 3 || i + 2 >= memoryCount || !known ||
			!knJointRows_TakesPart(model, state, memory[i].joint)) {
			continue;
		}
		Site site = makeSite(model, state, memory[i].joint);
		knVec3 local = knV3(memory[i].impulse, memory[i + 1].impulse, memory[i + 2].impulse);
		knVec3 f = knScale(1.0 / lastStep, knRotate(site.axes, local));
		knMat33 onChild = pullStiffness(f, site.rC), onParent = pullStiffness(knNeg(f), site.rP);
		stiffness[site.child] = knAddMM(&stiffness[site.child], &onChild);
		stiffness[site.parent] = knAddMM(&stiffness[site.parent], &onParent);
	}
	for (int b = 0; b < model->bodyCount; ++b) {
		const knMat33* K = &stiffness[b];
		if (blocks->invMass[b] > 0.0 && K->cx.x + K->cy.y + K->cz.z > 0.0) {
			knMat33 inertia = knRotateTensor(state->pose[b].q, &model->inertiaLocal[b]);
			steadyBody(blocks, &inertia, K, b);
		}
	}
	return true;
}

bool knJointRows_Reserve(knJointRows* list, const knModel* model, const knState* state, knArena* arena) {
	int bound = 0, loads = 0;
	for (int j = 0; j < knState_JointCount(model); ++j) {
		if (knJointRows_TakesPart(model, state, j)) {
			const knJoint* joint = knState_Joint(state, model, j);
			bound += 6 + KN_JOINT_MAX_LIMITS + countAxisRows(joint, &state->joint[j]);
			for (int i = 0; i < joint->nv; ++i) {
				loads += knJointAxis_HasFriction(&joint->axis[i]);
			}
		}
	}
	*list = (knJointRows){ .rows = KN_SCRATCH(arena, knJointRow, bound),
						   .capacity = bound,
						   .loadCapacity = loads };
	return list->rows != NULL;
}

static bool hasRows(const knRowInput* input, int joint) {
	return knJointRows_TakesPart(input->model, input->state, joint) &&
		   !(input->solved != NULL && input->solved[joint]);
}

void knJointRows_Fill(knJointRows* list, const knRowInput* input, const knJointMemory* memory,
					  int memoryCount, knRows* rows) {
	KN_ASSERT(rows->count == 0);
	int next = 0;
	for (int j = 0; j < knState_JointCount(input->model); ++j) {
		if (!hasRows(input, j)) {
			continue;
		}
		while (next < memoryCount && memory[next].joint < j) {
			next += 1;
		}
		Builder builder = { .input = input, .list = list, .rows = rows, .memory = memory + next };
		for (; next < memoryCount && memory[next].joint == j; ++next) {
			builder.memoryCount += memory[next].generation == (uint16_t)input->state->joint[j].generation;
		}
		Site site = makeSite(input->model, input->state, j);
		const int begin = rows->count;
		addAxes(&builder, &site);
		addLimits(&builder, &site);
		const int first = rows->count;
		addLocked(&builder, &site);
		addLoads(&builder, &site, begin, first);
	}
}

// --- corrections -----------------------------------------------------------------------------------------

static void addErrors(Builder* builder, const Site* site) {
	knTwist locked[6];
	int count = knJointOps_Get(site->joint->kind)->lockedRows(site->joint, site->J, locked);
	const knFrame* pose = builder->input->state->pose;
	knTwist error = errorAt(site->joint, pose[site->parent], pose[site->child]);
	for (int i = 0; i < count; ++i) {
		addRow(builder, site, locked[i], KN_PART_LOCKED, 0.0)->bias = knDotT(locked[i], error);
	}
	knJointLimit limits[KN_JOINT_MAX_LIMITS];
	count = knJoint_Limits(site->joint, site->J, site->q, LIMIT_MARGIN, limits);
	for (int i = 0; i < count; ++i) {
		knRow* row = addRow(builder, site, limits[i].row, KN_PART_LIMIT, 0.0);
		row->lo = 0.0;
		row->bias = limits[i].distance;
	}
}

void knJointRows_FillErrors(knJointRows* list, const knRowInput* input, knRows* rows) {
	rows->count = list->count = 0;
	Builder builder = { .input = input, .list = list, .rows = rows };
	for (int j = 0; j < knState_JointCount(input->model); ++j) {
		if (hasRows(input, j)) {
			Site site = makeSite(input->model, input->state, j);
			addErrors(&builder, &site);
		}
	}
}

int knJointRows_ListEdges(const knModel* model, const knState* state, knJointEdge* edges) {
	int count = 0;
	for (int j = 0; j < knState_JointCount(model); ++j) {
		if (knJointRows_TakesPart(model, state, j)) {
			const knJoint* joint = knState_Joint(state, model, j);
			edges[count++] = (knJointEdge){ joint->parent, joint->child };
		}
	}
	return count;
}

int knJointRows_MemoryCount(const knJointRows* list) {
	int count = 0;
	for (int i = 0; i < list->count; ++i) {
		bool locked = list->rows[i].part == KN_PART_LOCKED;
		bool first = i == 0 || list->rows[i - 1].joint != list->rows[i].joint ||
					 list->rows[i - 1].part != KN_PART_LOCKED;
		count += !locked ? 1 : (first ? 6 : 0);
	}
	return count;
}

// Rows [begin, end) belong to one joint.
static int collectMemories(const knJointRows* list, const knRows* rows, int begin, int end,
						   uint32_t generation, knJointMemory* memory) {
	knJointMemory item = { .joint = list->rows[begin].joint, .generation = (uint16_t)generation };
	int count = 0, locked = 0;
	knTwist wrench = knZeroTwist();
	for (int i = begin; i < end; ++i) {
		const knJointRow* row = &list->rows[i];
		if (row->part == KN_PART_LOCKED) {
			wrench = knMulAddT(wrench, rows->items[i].lambda, row->row);
			locked += 1;
		} else {
			item.part = (int16_t)row->part;
			item.impulse = rows->items[i].lambda;
			memory[count++] = item;
		}
	}
	for (int c = 0; c < 6 && locked > 0; ++c) {
		item.part = (int16_t)(KN_PART_LOCKED + c);
		item.impulse = c < 3 ? knComponent(wrench.ang, c) : knComponent(wrench.lin, c - 3);
		memory[count++] = item;
	}
	return count;
}

double knJointRows_Collect(const knJointRows* list, const knModel* model, const knStepBodies* blocks,
						   const knRows* rows, knState* state, knJointMemory* memory) {
	double work = 0.0;
	for (int begin = 0, end = 0; begin < list->count; begin = end) {
		int index = list->rows[begin].joint;
		const knJoint* joint = knState_Joint(state, model, index);
		knQuat axes = knMulQ(state->pose[joint->parent].q, joint->frameParent.q);
		knTwist impulse = knZeroTwist();
		for (end = begin; end < list->count && list->rows[end].joint == index; ++end) {
			const knRow* row = &rows->items[end];
			impulse = knMulAddT(impulse, row->lambda, list->rows[end].row);
			if (list->rows[end].part >= KN_PART_MOTOR) {
				knTwist meanA = knAddT(state->velocity[row->a], blocks->u[row->a]);
				knTwist meanB = knAddT(state->velocity[row->b], blocks->u[row->b]);
				work += 0.5 * row->lambda * (knDotT(row->Ja, meanA) + knDotT(row->Jb, meanB));
			}
		}
		memory += collectMemories(list, rows, begin, end, state->joint[index].generation, memory);
		knTwist* reaction = &state->joint[index].reaction;
		*reaction = knMulAddT(*reaction, 1.0 / blocks->h, knRotateT(axes, impulse));
	}
	return work;
}
