// Contacts and joint axes as rows of a step, and what they carried as memory for the next.
#include "steppers/reduced/reduced_step.h"

#include "dynamics/collision_input.h"
#include "dynamics/search_margins.h"
#include "model/control.h"
#include "model/joint_parts.h"

#define UNEQUAL 10.0 // ratio of masses beyond which a tree's mobility tells a contact's resistance
#define ALONG                                                                                                \
	0.9999 // cosine, within which a cylinder's arm goes straight outward: a rim that lies flat does not
#define LIMIT_MARGIN 0.01  // m or rad
#define SERVO_GAIN 0.2     // share of its way that a servo plans to go per step
#define BRAKING_SHARE 0.25 // of its greatest deceleration that a servo plans with
#define MOST_AXIS_ROWS (KN_JOINT_MAX_LIMITS + 36)

// --- contacts --------------------------------------------------------------------------------------------

// Velocities as contact lists read them: with this step's forces.
static bool makeInput(knReducedStep* step) {
	knStepContext* context = step->context;
	const knModel* model = context->model;
	knState* state = context->state;
	knTwist* u = KN_SCRATCH(context->arena, knTwist, model->bodyCount);
	if (u == NULL) {
		return false;
	}
	for (int b = 0; b < model->bodyCount; ++b) {
		u[b] = step->before[b];
		if (step->forest.linkOf[b] >= 0) {
			knVec3 a = knMulAdd(knScale(model->gravityScale[b], state->header->gravity), model->invMass[b],
								state->force[b].lin);
			u[b].lin = knMulAdd(u[b].lin, step->h, a);
		}
	}
	double last = knReducedMemory_Get(state, model)->dt;
	step->blocks =
		(knStepBodies){ .count = model->bodyCount, .h = step->h, .invMass = model->invMass, .u = u };
	step->input = (knRowInput){ .model = model,
								.state = state,
								.blocks = &step->blocks,
								.tasks = context->tasks,
								.impulseScale = last > 0.0 ? step->h / last : 0.0,
								.rolling = context->settings->rolling };
	return true;
}

// The part of an arm that does not turn with the body, where its surface is round: the radius of balls and capsules, all
// but the part along the axis of cylinders.
static knVec3 roundPart(const knModelShape* shape, knFrame pose, knVec3 arm, knVec3 outward) {
	knGeomKind kind = knGeom_Kind(shape->geom);
	if (kind == KN_GEOM_SPHERE || kind == KN_GEOM_CAPSULE) {
		return knScale(knGeom_Size(shape->geom).x, outward);
	}
	if (kind == KN_GEOM_CYLINDER) {
		knVec3 axis = knRotate(knMulQ(pose.q, shape->local.q), knV3(0.0, 0.0, 1.0));
		knVec3 fromCenter = knSub(arm, knRotate(pose.q, shape->local.p));
		return knMulAdd(fromCenter, -knDot(fromCenter, axis), axis);
	}
	return knZero3();
}

// The axis of a cylinder that rolls on its rim, or on its side: the round part of its arm is what of `outward` is across it.
static knVec3 rollingAxis(const knModelShape* shape, knFrame pose, knVec3 round, knVec3 outward) {
	if (knGeom_Kind(shape->geom) != KN_GEOM_CYLINDER) {
		return knZero3();
	}
	knVec3 axis = knRotate(knMulQ(pose.q, shape->local.q), knV3(0.0, 0.0, 1.0));
	knVec3 radial = knMulAdd(outward, -knDot(outward, axis), axis);
	double size = knLength(radial) * knLength(round);
	return size > 1e-9 && knDot(radial, round) > ALONG * size ? axis : knZero3();
}

// What a unit impulse along n does at a point of a body: of its tree where masses differ much, else of the body alone.
static double resistance(const knReducedStep* step, int body, knVec3 arm, knVec3 n) {
	const knModel* model = step->context->model;
	int link = step->forest.linkOf[body];
	if (link < 0) {
		return 0.0;
	}
	knVec3 turn = knCross(arm, n);
	if (step->mobility != NULL) {
		const double* M = step->mobility + 36 * link;
		double push[6] = { turn.x, turn.y, turn.z, n.x, n.y, n.z }, sum = 0.0;
		for (int i = 0; i < 6; ++i) {
			for (int j = 0; j < 6; ++j) {
				sum += push[i] * M[6 * i + j] * push[j];
			}
		}
		return sum;
	}
	knMat33 inverse = knRotateTensor(step->start[body].q, &model->invInertiaLocal[body]);
	return model->invMass[body] + knDot(turn, knMulMV(&inverse, turn));
}

// Does any tree join a light link to one that is much heavier?
static bool massesDiffer(const knReducedStep* step) {
	const knModel* model = step->context->model;
	for (int i = 0; i < step->forest.count; ++i) {
		const knForestLink* link = &step->forest.links[i];
		if (link->parent >= 0) {
			double ratio = model->mass[link->body] / model->mass[link->parentBody];
			if (ratio > UNEQUAL || ratio < 1.0 / UNEQUAL) {
				return true;
			}
		}
	}
	return false;
}

static void makeContact(knReducedStep* step, int k) {
	const knModel* model = step->context->model;
	const knContactAnchor* anchor = &step->list.anchors[k];
	const knSweepPoint* point = &step->list.points[k];
	const knStepContact* source = &step->list.contacts[anchor->contact];
	knReducedContact* contact = &step->contacts[k];
	const knModelShape *shapeA = &model->shapes[source->shapeA], *shapeB = &model->shapes[source->shapeB];
	*contact = (knReducedContact){
		.bodyA = anchor->bodyA,
		.bodyB = anchor->bodyB,
		.linkA = step->forest.linkOf[anchor->bodyA],
		.linkB = step->forest.linkOf[anchor->bodyB],
		.point = k,
		.lasting = point->lambda[0] > 0.0,
		.n = point->n,
		.t1 = point->t1,
		.t2 = point->t2,
		.mu = point->mu,
		.gap = source->point.separation,
		.disc = -1.0,
	};
	contact->roundA = roundPart(shapeA, step->start[anchor->bodyA], anchor->onA, point->n);
	contact->roundB = roundPart(shapeB, step->start[anchor->bodyB], anchor->onB, knNeg(point->n));
	contact->axisA = rollingAxis(shapeA, step->start[anchor->bodyA], contact->roundA, point->n);
	contact->axisB = rollingAxis(shapeB, step->start[anchor->bodyB], contact->roundB, knNeg(point->n));
	contact->coreA = knSub(anchor->onA, contact->roundA);
	contact->coreB = knSub(anchor->onB, contact->roundB);
	double K = resistance(step, contact->bodyA, anchor->onA, point->n) +
			   resistance(step, contact->bodyB, anchor->onB, point->n);
	contact->e = KN_REDUCED_SOFTNESS * knMax(K, 1e-12);
	contact->target = -knMax(contact->gap, 0.0) / step->h;
	for (int i = 0; i < 3; ++i) {
		contact->lambda[i] = point->lambda[i];
	}
	step->crossCount += contact->linkA >= 0 && contact->linkB >= 0;
}

// Asks the collider, or whoever stands in for it.
static knStatus queryContacts(knReducedStep* step, knContactSet* set) {
	knStepContext* context = step->context;
	if (context->findContacts != NULL) {
		return context->findContacts(context, step->blocks.u, step->h, set);
	}
	knSearchMargins reach;
	knCollideInput input;
	knVec3 fall = knScale(step->h, context->state->header->gravity);
	if (!knSearchMargins_Make(&reach, context->model, &step->blocks, fall, true, context->arena) ||
		!knCollisionInput_Make(&input, context->model, context->state, NULL, &context->tasks,
							   context->arena)) {
		return knReduced_OutOfMemory(step);
	}
	return knSearchMargins_Collide(&reach, context->model, context->collider, &input, set, context->arena,
								   context->error);
}

knStatus knReduced_FindContacts(knReducedStep* step) {
	knStepContext* context = step->context;
	knState* state = context->state;
	double start = knStepContext_Now(context);
	if (!makeInput(step)) {
		return knReduced_OutOfMemory(step);
	}
	knContactSet set;
	knStatus status = queryContacts(step, &set);
	context->report->queries += 1;
	context->report->collideTime += knStepContext_Now(context) - start;
	if (status == KN_BAD_DATA) {
		return knError_Set(context->error, KN_DIVERGED, "world", "a body is too far away to be collided");
	}
	if (status != KN_OK) {
		return status;
	}
	const knContactMemory* memory = knReducedMemory_Contacts(state);
	if (!knContactRows_List(&step->list, &step->input, &set, memory,
							knReducedMemory_Get(state, context->model)->contactCount, context->arena)) {
		return knReduced_OutOfMemory(step);
	}
	knContactRows_Fill(&step->list, &step->input, memory);
	step->contacts = KN_SCRATCH(context->arena, knReducedContact, step->list.pointCount);
	if (context->arena->failed) {
		return knReduced_OutOfMemory(step);
	}
	step->contactCount = step->list.pointCount;
	if (step->contactCount > 0 && massesDiffer(step) && !knReduced_LinkMobilities(step)) {
		return knReduced_OutOfMemory(step);
	}
	for (int k = 0; k < step->contactCount; ++k) {
		makeContact(step, k);
	}
	return KN_OK;
}

// --- joint axes ------------------------------------------------------------------------------------------

// What a row on the joint's twist (parent joint frame's axes, at the child's origin) is on the link's coordinates.
static void setCoefficients(const knReducedStep* step, const knJoint* joint, knTwist along,
							knReducedAxisRow* row) {
	const knForestLink* link = &step->forest.links[row->link];
	knQuat axes = knMulQ(step->start[joint->parent].q, joint->frameParent.q);
	knVec3 anchor = knPoint(step->start[joint->child], joint->frameChild.p);
	knTwist world = knRotateT(axes, along);
	knVec3 arm = knSub(anchor, step->start[link->body].p);
	double sign = link->reversed ? -1.0 : 1.0;
	for (int k = 0; k < link->nv; ++k) {
		const knTreeMotion* column = &step->columns0[link->vOffset + k];
		knVec3 ang = knLanes_ToVec(column->ang), lin = knAdd(knLanes_ToVec(column->lin), knCross(ang, arm));
		row->coef[k] = sign * (knDot(world.ang, ang) + knDot(world.lin, lin));
	}
}

static double recall(const knReducedStep* step, const knJointMemory* memory, int count, int part) {
	for (int i = 0; i < count; ++i) {
		if (memory[i].part == part) {
			return step->input.impulseScale * memory[i].impulse;
		}
	}
	return 0.0;
}

static knReducedAxisRow* addRow(knReducedStep* step, int link, const knJoint* joint, knTwist along,
								int part) {
	knReducedAxisRow* row = &step->axes[step->axisCount++];
	*row = (knReducedAxisRow){
		.link = link,
		.joint = step->forest.links[link].joint,
		.part = part,
		.law = KN_LAW_BOUND,
		.lo = -(double)INFINITY,
		.hi = (double)INFINITY,
		.room = (double)INFINITY,
		.theta = 0.5,
	};
	setCoefficients(step, joint, along, row);
	double K = 0.0;
	for (int k = 0; k < step->forest.links[link].nv; ++k) {
		K += row->coef[k] * row->coef[k] * step->kOwn[step->forest.links[link].vOffset + k];
	}
	row->e = KN_REDUCED_SOFTNESS * knMax(K, 1e-12);
	return row;
}

double knReduced_ServoSpeed(double way, double maxForce, double K, double h) {
	double speed = knMin(SERVO_GAIN * knAbs(way) / h, sqrt(2.0 * BRAKING_SHARE * maxForce * K * knAbs(way)));
	return way < 0.0 ? -speed : speed;
}

// What a unit impulse along a joint's row does to its two bodies by themselves: what servos plan with, as under every stepper.
static double pairResistance(const knReducedStep* step, const knJoint* joint, knTwist along) {
	const knModel* model = step->context->model;
	knQuat axes = knMulQ(step->start[joint->parent].q, joint->frameParent.q);
	knVec3 anchor = knPoint(step->start[joint->child], joint->frameChild.p);
	knTwist world = knRotateT(axes, along);
	const int bodies[2] = { joint->parent, joint->child };
	double K = 0.0;
	for (int i = 0; i < 2; ++i) {
		int b = bodies[i];
		knVec3 turn = knAdd(world.ang, knCross(knSub(anchor, step->start[b].p), world.lin));
		knMat33 inverse = knRotateTensor(step->start[b].q, &model->invInertiaLocal[b]);
		K += model->invMass[b] > 0.0
				 ? model->invMass[b] * knLengthSquared(world.lin) + knDot(turn, knMulMV(&inverse, turn))
				 : 0.0;
	}
	return K;
}

static void addMotor(knReducedStep* step, int link, const knJoint* joint, int i, knTwist along,
					 const knJointMemory* memory, int memoryCount) {
	const knState* state = step->context->state;
	const knJointState* drive = &state->joint[step->forest.links[link].joint];
	knReducedAxisRow* row = addRow(step, link, joint, along, KN_PART_MOTOR + i);
	double h = step->h, target = drive->motorTarget[i];
	row->axis = i;
	if (drive->motorMode[i] == KN_MOTOR_FORCE) {
		row->lo = row->hi = h * target;
		return;
	}
	if (drive->motorMode[i] == KN_MOTOR_POSITION) {
		double position = knJoint_AxisPosition(joint, &state->q[joint->qOffset], i) + joint->axis[i].rest;
		target = knReduced_ServoSpeed(target - position, drive->motorMaxForce[i],
									  pairResistance(step, joint, along), h);
	}
	row->target = target;
	row->hi = h * drive->motorMaxForce[i];
	row->lo = -row->hi;
	row->lambda = recall(step, memory, memoryCount, row->part);
}

// What takes out the swing of springs and dampers that the step cannot follow: (h omega)^2 beyond 1, h c K beyond 2.
static void tameSpring(knReducedAxisRow* row, double K, double stiffness, double damping, double h) {
	const double stiff = h * h * stiffness * K;
	row->theta = stiff > 1.0 ? 1.0 - 0.5 / stiff : 0.5;
	row->after = (knMax(0.0, 0.25 * (stiff - 1.0)) + knMax(0.0, 0.5 * h * damping * K - 1.0)) / K;
}

// Armature, and what actuators and tendons do to the axis (model/control.h).
static void addDrive(knReducedStep* step, int link, const knJoint* joint, int i, knTwist along) {
	const knState* state = step->context->state;
	const int index = step->forest.links[link].joint;
	const knAxisDrive* drive = knState_Drive(state, step->context->model, index, i);
	const double carried = joint->axis[i].armature + (drive != NULL ? drive->inertia : 0.0), h = step->h;
	if (carried > 0.0) {
		knReducedAxisRow* row = addRow(step, link, joint, along, KN_PART_DRIVE + i);
		row->law = KN_LAW_CARRY;
		row->carried = carried;
	}
	const double push = drive != NULL ? knAxisDrive_Push(drive) : 0.0;
	if (push != 0.0) {
		knReducedAxisRow* row = addRow(step, link, joint, along, KN_PART_DRIVE + i);
		row->lo = row->hi = h * push;
	}
	if (drive != NULL && (drive->stiffness > 0.0 || drive->damping > 0.0)) {
		knReducedAxisRow* row = addRow(step, link, joint, along, KN_PART_DRIVE + i);
		const double x = knJoint_AxisPosition(joint, &state->q[joint->qOffset], i) + joint->axis[i].rest;
		tameSpring(row, row->e / KN_REDUCED_SOFTNESS, drive->stiffness, drive->damping, h);
		row->law = KN_LAW_DRIVE;
		row->e = 1.0 / (h * (drive->stiffness * row->theta * h + drive->damping));
		row->push = h * (drive->force - drive->stiffness * x);
		row->lo = h * drive->lower;
		row->hi = h * drive->upper;
	}
}

static void addAxes(knReducedStep* step, int link, const knJoint* joint, knFrame J,
					const knJointMemory* memory, int memoryCount) {
	const knState* state = step->context->state;
	const knJointState* drive = &state->joint[step->forest.links[link].joint];
	const double* q = &state->q[joint->qOffset];
	knTwist along[6];
	knJoint_CoordinateRows(joint, J, q, along);
	for (int i = 0; i < joint->nv; ++i) {
		const knJointAxis* axis = &joint->axis[i];
		if (knJointAxis_HasFriction(axis)) {
			knReducedAxisRow* row = addRow(step, link, joint, along[i], KN_PART_FRICTION + i);
			row->hi = step->h * axis->friction;
			row->lo = -row->hi;
			row->lambda = recall(step, memory, memoryCount, row->part);
		}
		if (axis->stiffness > 0.0 || axis->damping > 0.0) {
			knReducedAxisRow* row = addRow(step, link, joint, along[i], KN_PART_SPRING + i);
			row->law = KN_LAW_SOFT;
			row->x = knJoint_AxisPosition(joint, q, i);
			row->stiffness = axis->stiffness;
			row->damping = axis->damping;
			tameSpring(row, row->e / KN_REDUCED_SOFTNESS, axis->stiffness, axis->damping, step->h);
		}
		addDrive(step, link, joint, i, along[i]);
		if (drive->motorMode[i] != KN_MOTOR_OFF) {
			addMotor(step, link, joint, i, along[i], memory, memoryCount);
		}
	}
}

static bool hasParts(const knJoint* joint, const knJointState* state) {
	bool parts = joint->coneLimited || joint->twistLimited || joint->reachCount > 0 || state->driven != 0;
	for (int i = 0; i < joint->nv && !parts; ++i) {
		const knJointAxis* axis = &joint->axis[i];
		parts = axis->limited || knJointAxis_HasFriction(axis) || axis->stiffness > 0.0 ||
				axis->damping > 0.0 || axis->armature > 0.0 || state->motorMode[i] != KN_MOTOR_OFF;
	}
	return parts;
}

static void addJoint(knReducedStep* step, int link, const knJointMemory* memory, int memoryCount) {
	const knState* state = step->context->state;
	const knJoint* joint = &step->context->model->joints[step->forest.links[link].joint];
	knFrame J = knJoint_Frame(joint, step->start[joint->parent], step->start[joint->child]);
	knTwist V = knJoint_RelativeTwist(joint, step->start[joint->parent], step->before[joint->parent],
									  step->start[joint->child], step->before[joint->child]);
	addAxes(step, link, joint, J, memory, memoryCount);
	double margin = LIMIT_MARGIN + 2.0 * step->h * (knLength(V.ang) + knLength(V.lin));
	knJointLimit limits[KN_JOINT_MAX_LIMITS];
	int count = knJoint_Limits(joint, J, &state->q[joint->qOffset], margin, limits);
	for (int i = 0; i < count; ++i) {
		int part = KN_PART_LIMIT + 3 * (limits[i].axis + 2) + limits[i].side + 1;
		knReducedAxisRow* row = addRow(step, link, joint, limits[i].row, part);
		row->lo = 0.0;
		row->room = limits[i].distance;
		row->target = -knMax(row->room, 0.0) / step->h;
		row->lambda = recall(step, memory, memoryCount, part);
	}
}

knStatus knReduced_BuildAxes(knReducedStep* step) {
	const knModel* model = step->context->model;
	const knState* state = step->context->state;
	knArena* arena = step->context->arena;
	int* linkOf = KN_SCRATCH(arena, int, model->jointCount + 1);
	if (arena->failed) {
		return knReduced_OutOfMemory(step);
	}
	int parted = 0;
	for (int j = 0; j < model->jointCount; ++j) {
		linkOf[j] = -1;
	}
	for (int i = 0; i < step->forest.count; ++i) {
		int j = step->forest.links[i].joint;
		if (j >= 0 && hasParts(&model->joints[j], &state->joint[j])) {
			linkOf[j] = i;
			++parted;
		}
	}
	step->axes = KN_SCRATCH(arena, knReducedAxisRow, MOST_AXIS_ROWS * parted);
	if (arena->failed || (parted > 0 && !knReduced_JointResponses(step))) {
		return knReduced_OutOfMemory(step);
	}
	const knReducedMemory* header = knReducedMemory_Get(state, model);
	const knJointMemory* memory = knReducedMemory_Joints(state);
	int next = 0;
	for (int j = 0; j < model->jointCount && parted > 0; ++j) {
		while (next < header->jointRowCount && memory[next].joint < j) {
			++next;
		}
		int count = 0;
		while (next + count < header->jointRowCount && memory[next + count].joint == j) {
			++count;
		}
		if (linkOf[j] >= 0) {
			addJoint(step, linkOf[j], memory + next, count);
		}
	}
	return KN_OK;
}

// --- memory and read-out ---------------------------------------------------------------------------------

// Mean force and moment of the step on the authored child, at its joint origin, of a joint of the forest.
static void reportReaction(const knReducedStep* step, int i) {
	const knForestLink* link = &step->forest.links[i];
	knState* state = step->context->state;
	if (link->joint < 0 || knReduced_IsAsleep(step, link->body)) {
		return;
	}
	const knJoint* joint = &step->context->model->joints[link->joint];
	knTwist F = knScaleT((link->reversed ? -1.0 : 1.0) / step->h, step->reaction[i]);
	knVec3 anchor = knPoint(step->start[joint->child], joint->frameChild.p);
	knVec3 arm = knSub(step->start[link->body].p, anchor);
	state->joint[link->joint].reaction = knMakeTwist(knAdd(F.ang, knCross(arm, F.lin)), F.lin);
}

static int countJointRows(const knReducedStep* step) {
	int count = 0;
	for (int k = 0; k < step->axisCount; ++k) {
		count += step->axes[k].law == KN_LAW_BOUND;
	}
	for (int k = 0; k < step->pairCount; ++k) {
		const knReducedPairRow* row = &step->pairs[k];
		count += !row->locked ? row->law == KN_LAW_BOUND : (row->index == 0 ? 6 : 0);
	}
	return count;
}

static int collectAxes(const knReducedStep* step, knJointMemory* memory) {
	int count = 0;
	for (int k = 0; k < step->axisCount; ++k) {
		const knReducedAxisRow* row = &step->axes[k];
		if (row->law == KN_LAW_BOUND) {
			memory[count++] =
				(knJointMemory){ .joint = row->joint, .part = (int16_t)row->part, .impulse = row->lambda };
		}
	}
	return count;
}

// Loop joints: memories and reactions.
static int collectPairs(const knReducedStep* step, knJointMemory* memory) {
	knState* state = step->context->state;
	int count = 0;
	for (int k = 0; k < step->pairCount;) {
		int index = step->pairs[k].joint;
		const knJoint* joint = knState_Joint(state, step->context->model, index);
		knJointMemory item = { .joint = index, .generation = (uint16_t)state->joint[index].generation };
		knTwist wrench = knZeroTwist(), all = knZeroTwist();
		bool locked = false;
		for (; k < step->pairCount && step->pairs[k].joint == index; ++k) {
			const knReducedPairRow* row = &step->pairs[k];
			all = knMulAddT(all, row->lambda, row->alongStart);
			locked = locked || row->locked;
			if (row->locked) {
				wrench = knMulAddT(wrench, row->lambda, row->alongStart);
			} else if (row->law == KN_LAW_BOUND) {
				item.part = (int16_t)row->part;
				item.impulse = row->lambda;
				memory[count++] = item;
			}
		}
		for (int c = 0; c < 6 && locked; ++c) {
			item.part = (int16_t)(KN_PART_LOCKED + c);
			item.impulse = c < 3 ? knComponent(wrench.ang, c) : knComponent(wrench.lin, c - 3);
			memory[count++] = item;
		}
		knQuat axes = knMulQ(step->start[joint->parent].q, joint->frameParent.q);
		bool slept = knReduced_IsAsleep(step, joint->parent) || knReduced_IsAsleep(step, joint->child);
		if (!slept) {
			state->joint[index].reaction = knScaleT(1.0 / step->h, knRotateT(axes, all));
		}
	}
	return count;
}

// By joints, whatever list they come from; each list is in that order.
static void mergeMemories(knJointMemory* memory, int first, int count, knArena* arena) {
	knJointMemory* copy = KN_SCRATCH(arena, knJointMemory, first);
	for (int i = 0; copy != NULL && i < first; ++i) {
		copy[i] = memory[i];
	}
	for (int i = 0, j = first, k = 0; copy != NULL && i < first; ++k) {
		bool other = j < count && memory[j].joint < copy[i].joint;
		memory[k] = other ? memory[j++] : copy[i++];
	}
}

knStatus knReduced_Collect(knReducedStep* step) {
	knStepContext* context = step->context;
	knState* state = context->state;
	for (int j = 0; j < knState_JointCount(context->model); ++j) {
		const knJoint* joint = knState_Joint(state, context->model, j);
		bool slept = joint != NULL &&
					 (knReduced_IsAsleep(step, joint->parent) || knReduced_IsAsleep(step, joint->child));
		state->joint[j].reaction = slept ? state->joint[j].reaction : knZeroTwist();
	}
	for (int i = 0; i < step->forest.count; ++i) {
		reportReaction(step, i);
	}
	context->report->work += step->work;
	if (!knReducedMemory_Resize(state, context->model, step->h, step->contactCount, countJointRows(step),
								context->allocator)) {
		return knReduced_OutOfMemory(step);
	}
	for (int k = 0; k < step->contactCount; ++k) {
		knSweepPoint* point = &step->list.points[k];
		for (int i = 0; i < 3; ++i) {
			point->lambda[i] = step->contacts[k].lambda[i];
		}
		point->rolling = knZero3();
	}
	step->input.state = state;
	knContactRows_Collect(&step->list, &step->input, knReducedMemory_Contacts(state));
	for (int k = 0; k < step->contactCount; ++k) {
		// what an impact did, and the sum over parts, are no load to start from
		const knReducedContact* contact = &step->contacts[k];
		knVec3 sum = knMulAdd(knScale(contact->sum[0], contact->n), contact->sum[1], contact->t1);
		step->list.contacts[step->list.anchors[k].contact].impulse =
			knMulAdd(sum, contact->sum[2], contact->t2);
	}
	knJointMemory* memory = knReducedMemory_Joints(state);
	int first = collectAxes(step, memory), count = first + collectPairs(step, memory + first);
	mergeMemories(memory, first, count, context->arena);
	context->contacts = step->list.contacts;
	context->contactCount = step->list.count;
	context->report->contacts = step->contactCount;
	context->report->rows = 3 * step->contactCount + step->axisCount + step->pairCount;
	context->report->iterations += step->iterations;
	context->report->jointConflicts = step->conflicts;
	context->report->jointSubSteps += step->subSteps;
	context->report->guarded = context->report->guarded || step->guarded > 0;
	context->report->jointRung =
		step->rung > context->report->jointRung ? step->rung : context->report->jointRung;
	return context->arena->failed ? knReduced_OutOfMemory(step) : KN_OK;
}
