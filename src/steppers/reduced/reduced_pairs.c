// Rows of loop joints: between two bodies, whatever the trees they are in.
//
// Locked directions ask for no error at the end of the step (implicit step) or for no rate (velocities). They push along
// the mean of the rows at its start and its end, at one common point, the child's joint origin.
#include "steppers/reduced/reduced_step.h"

#include "model/joint_parts.h"

#define LOCK_SOFTNESS 1e-5 // of a row's own resistance
#define LIMIT_MARGIN 0.01  // m or rad
#define MOST_ROWS (6 + KN_JOINT_MAX_LIMITS + 18)

typedef struct Site {
	knFrame outer; // the parent's joint frame in the world
	knFrame J;
	knVec3 anchor, rP, rC;
} Site;

static Site siteAt(const knJoint* joint, const knFrame* poses) {
	knFrame parent = poses[joint->parent], child = poses[joint->child];
	Site site = { .outer = knMulF(parent, joint->frameParent), .J = knJoint_Frame(joint, parent, child) };
	site.anchor = knPoint(child, joint->frameChild.p);
	site.rP = knSub(site.anchor, parent.p);
	site.rC = knSub(site.anchor, child.p);
	return site;
}

static void placeRow(const Site* site, knTwist along, knTwist* onP, knTwist* onC) {
	knTwist world = knRotateT(site->outer.q, along);
	*onC = knMakeTwist(knAdd(world.ang, knCross(site->rC, world.lin)), world.lin);
	*onP = knScaleT(-1.0, knMakeTwist(knAdd(world.ang, knCross(site->rP, world.lin)), world.lin));
}

static double resistance(const knModel* model, const knFrame* poses, int body, knTwist row) {
	if (model->invMass[body] == 0.0) {
		return 0.0;
	}
	knMat33 inverse = knRotateTensor(poses[body].q, &model->invInertiaLocal[body]);
	return model->invMass[body] * knLengthSquared(row.lin) + knDot(row.ang, knMulMV(&inverse, row.ang));
}

static double recall(const knReducedStep* step, const knJointMemory* memory, int count, int part) {
	for (int i = 0; i < count; ++i) {
		if (memory[i].part == part) {
			return step->input.impulseScale * memory[i].impulse;
		}
	}
	return 0.0;
}

static knReducedPairRow* addRow(knReducedStep* step, const knJoint* joint, int index, const Site* site,
								knTwist along, int part) {
	knReducedPairRow* row = &step->pairs[step->pairCount++];
	*row = (knReducedPairRow){
		.bodyP = joint->parent,
		.bodyC = joint->child,
		.linkP = step->forest.linkOf[joint->parent],
		.linkC = step->forest.linkOf[joint->child],
		.joint = index,
		.part = part,
		.alongStart = along,
		.law = KN_LAW_BOUND,
		.lo = -(double)INFINITY,
		.hi = (double)INFINITY,
		.room = (double)INFINITY,
		.theta = 0.5,
	};
	placeRow(site, along, &row->jP, &row->jC);
	double K = resistance(step->context->model, step->start, joint->parent, row->jP) +
			   resistance(step->context->model, step->start, joint->child, row->jC);
	row->e = KN_REDUCED_SOFTNESS * knMax(K, 1e-12);
	step->crossCount += row->linkP >= 0 && row->linkC >= 0;
	return row;
}

static void addAxes(knReducedStep* step, const knJoint* joint, int index, const Site* site,
					const knJointMemory* memory, int memoryCount) {
	const knState* state = step->context->state;
	const knJointState* drive = &state->joint[index];
	const double* q = &state->q[joint->qOffset];
	double h = step->h;
	knTwist along[6];
	knJoint_CoordinateRows(joint, site->J, q, along);
	for (int i = 0; i < joint->nv; ++i) {
		const knJointAxis* axis = &joint->axis[i];
		if (knJointAxis_HasFriction(axis)) {
			knReducedPairRow* row = addRow(step, joint, index, site, along[i], KN_PART_FRICTION + i);
			row->hi = h * axis->friction;
			row->lo = -row->hi;
			row->lambda = recall(step, memory, memoryCount, row->part);
		}
		if (axis->stiffness > 0.0 || axis->damping > 0.0) {
			knReducedPairRow* row = addRow(step, joint, index, site, along[i], KN_PART_SPRING + i);
			row->law = KN_LAW_SOFT;
			row->x = knJoint_AxisPosition(joint, q, i);
			row->stiffness = axis->stiffness;
			row->damping = axis->damping;
			double K = row->e / KN_REDUCED_SOFTNESS, stiff = h * h * axis->stiffness * K;
			row->theta = stiff > 1.0 ? 1.0 - 0.5 / stiff : 0.5;
			row->after =
				(knMax(0.0, 0.25 * (stiff - 1.0)) + knMax(0.0, 0.5 * h * axis->damping * K - 1.0)) / K;
		}
		if (drive->motorMode[i] == KN_MOTOR_VELOCITY || drive->motorMode[i] == KN_MOTOR_POSITION) {
			knReducedPairRow* row = addRow(step, joint, index, site, along[i], KN_PART_MOTOR + i);
			double position = knJoint_AxisPosition(joint, q, i) + axis->rest;
			row->target =
				drive->motorMode[i] == KN_MOTOR_VELOCITY
					? drive->motorTarget[i]
					: knReduced_ServoSpeed(drive->motorTarget[i] - position, drive->motorMaxForce[i],
										   row->e / KN_REDUCED_SOFTNESS, h);
			row->hi = h * drive->motorMaxForce[i];
			row->lo = -row->hi;
			row->lambda = recall(step, memory, memoryCount, row->part);
		}
		if (drive->motorMode[i] == KN_MOTOR_FORCE) {
			knReducedPairRow* row = addRow(step, joint, index, site, along[i], KN_PART_MOTOR + i);
			row->lo = row->hi = h * drive->motorTarget[i];
		}
	}
}

static void addJoint(knReducedStep* step, int index, const knJointMemory* memory, int memoryCount) {
	const knModel* model = step->context->model;
	const knState* state = step->context->state;
	const knJoint* joint = knState_Joint(state, model, index);
	Site site = siteAt(joint, step->start);
	const knJointOps* ops = knJointOps_Get(joint->kind);
	knTwist locked[6];
	int count = ops->lockedRows(joint, site.J, locked);
	double c[6];
	for (int i = 0; i < 6; ++i) {
		c[i] = recall(step, memory, memoryCount, KN_PART_LOCKED + i);
	}
	knTwist wrench = knMakeTwist(knV3(c[0], c[1], c[2]), knV3(c[3], c[4], c[5]));
	for (int i = 0; i < count; ++i) {
		knReducedPairRow* row = addRow(step, joint, index, &site, locked[i], KN_PART_LOCKED);
		row->locked = true;
		row->index = i;
		row->e *= LOCK_SOFTNESS / KN_REDUCED_SOFTNESS;
		row->lambda = knDotT(locked[i], wrench);
	}
	knTwist V = knJoint_RelativeTwist(joint, step->start[joint->parent], step->before[joint->parent],
									  step->start[joint->child], step->before[joint->child]);
	double margin = LIMIT_MARGIN + 2.0 * step->h * (knLength(V.ang) + knLength(V.lin));
	knJointLimit limits[KN_JOINT_MAX_LIMITS];
	count = knJoint_Limits(joint, site.J, &state->q[joint->qOffset], margin, limits);
	for (int i = 0; i < count; ++i) {
		int part = KN_PART_LIMIT + 3 * (limits[i].axis + 2) + limits[i].side + 1;
		knReducedPairRow* row = addRow(step, joint, index, &site, limits[i].row, part);
		row->lo = 0.0;
		row->room = limits[i].distance;
		row->target = -knMax(row->room, 0.0) / step->h;
		row->lambda = recall(step, memory, memoryCount, part);
	}
	addAxes(step, joint, index, &site, memory, memoryCount);
}

// Armature and actuators are rows of tree joints.
static knStatus checkLoop(const knReducedStep* step, int index) {
	const knJoint* joint = knState_Joint(step->context->state, step->context->model, index);
	bool driven = step->context->state->joint[index].driven != 0;
	for (int i = 0; i < joint->nv; ++i) {
		driven = driven || joint->axis[i].armature > 0.0;
	}
	return driven ? knError_Set(step->context->error, KN_UNSUPPORTED, "reduced",
								"a joint that closes a loop has armature or an actuator, which 'reduced' "
								"takes on joints of the tree only; 'velocity' takes both")
				  : KN_OK;
}

knStatus knReduced_BuildPairs(knReducedStep* step) {
	const knState* state = step->context->state;
	const knReducedMemory* header = knReducedMemory_Get(state, step->context->model);
	const knJointMemory* memory = knReducedMemory_Joints(state);
	step->pairs = KN_SCRATCH(step->context->arena, knReducedPairRow, MOST_ROWS * step->forest.loopCount);
	if (step->context->arena->failed) {
		return knReduced_OutOfMemory(step);
	}
	int next = 0;
	for (int k = 0; k < step->forest.loopCount; ++k) {
		int index = step->forest.loops[k];
		while (next < header->jointRowCount && memory[next].joint < index) {
			++next;
		}
		int count = 0;
		while (next + count < header->jointRowCount && memory[next + count].joint == index &&
			   memory[next + count].generation == (uint16_t)state->joint[index].generation) {
			++count;
		}
		const knStatus status = checkLoop(step, index);
		if (status != KN_OK) {
			return status;
		}
		addJoint(step, index, memory + next, count);
	}
	return KN_OK;
}

void knReduced_PlacePairs(knReducedStep* step, const knFrame* start, const knFrame* end) {
	for (int k = 0; k < step->pairCount;) {
		int index = step->pairs[k].joint;
		const knJoint* joint = knState_Joint(step->context->state, step->context->model, index);
		const knJointOps* ops = knJointOps_Get(joint->kind);
		Site first = siteAt(joint, start), last = siteAt(joint, end);
		knTwist locked[6], error = knJoint_ErrorTwist(last.J, ops->projectState(joint, last.J));
		int count = ops->lockedRows(joint, last.J, locked);
		for (; k < step->pairCount && step->pairs[k].joint == index; ++k) {
			knReducedPairRow* row = &step->pairs[k];
			knTwist along = row->locked && row->index < count ? locked[row->index] : row->alongStart;
			knTwist onP, onC;
			placeRow(&first, row->alongStart, &onP, &onC);
			placeRow(&last, along, &row->eP, &row->eC);
			row->jP = knScaleT(0.5, knAddT(onP, row->eP));
			row->jC = knScaleT(0.5, knAddT(onC, row->eC));
			row->error = row->locked ? knDotT(along, error) : 0.0;
		}
	}
}
