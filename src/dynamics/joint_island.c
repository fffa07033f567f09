// Islands from the state and back.

#include "dynamics/joint_island_internal.h"

#define TOLERANCE 1e-10     // m, of gaps and of bodies' equations, as displacements
#define ROUND_OFF 1e-13     // share of the distance from the origin that poses are known to
#define AXLE_TOLERANCE 1e-6 // share of a wheel's size that its axle may miss the centre by

// Local index of a body; new ones are appended.
static int bodyAt(knJointIsland* island, const knJointIslandInput* input, int body) {
	if (input->local[body] < 0) {
		input->local[body] = island->bodyCount;
		island->bodyIndex[island->bodyCount] = body;
		island->bodies[island->bodyCount++] = knEquationBody_Make(input->model, input->state, body);
	}
	return input->local[body];
}

static bool takeMemory(knJointIsland* island, int jointCount, knArena* arena) {
	const int bodies = 2 * jointCount;
	island->bodies = KN_SCRATCH(arena, knEquationBody, bodies);
	island->bodyIndex = KN_SCRATCH(arena, int, bodies);
	island->joints = KN_SCRATCH(arena, knEquationJoint, jointCount);
	island->rows = KN_SCRATCH(arena, knEquationRow, island->rowCount);
	island->last = KN_SCRATCH_ZERO(arena, double, island->rowCount);
	island->impulse = KN_SCRATCH_ZERO(arena, knTwist, jointCount);
	for (int d = 0; d < KN_ISLAND_DEPTH; ++d) {
		island->saved[d] = KN_SCRATCH(arena, knIslandSnapshot, bodies);
		island->savedNumbers[d] = KN_SCRATCH(arena, double, island->rowCount + KN_JOINT_MAX_Q * jointCount);
	}
	return !arena->failed;
}

// The axle of a hinge or cylinder in a body's axes, and how far it misses the centre.
static bool isAxle(const knJoint* joint, bool asChild, knVec3* axle, double* miss) {
	const knFrame* frame = asChild ? &joint->frameChild : &joint->frameParent;
	*axle = knRotate(frame->q, knV3(1.0, 0.0, 0.0));
	*miss = knLength(knCross(*axle, frame->p));
	return joint->kind == KN_JOINT_HINGE || joint->kind == KN_JOINT_CYLINDER;
}

// Wheels: all joints of the body are axles through its centre along one line.
static void findWheels(knJointIsland* island, const knJointIslandInput* input, knVec3* axles) {
	for (int b = 0; b < island->bodyCount; ++b) {
		island->bodies[b].byExp = true;
		axles[b] = knZero3();
	}
	for (int k = 0; k < input->jointCount; ++k) {
		const knJoint* joint = knState_Joint(input->state, input->model, input->joints[k]);
		for (int side = 0; side < 2; ++side) {
			const int b = input->local[side == 0 ? joint->parent : joint->child];
			knEquationBody* body = &island->bodies[b];
			const knMat33* D = &body->inertia;
			const double size = body->mass > 0.0 ? sqrt((D->cx.x + D->cy.y + D->cz.z) / body->mass) : 0.0;
			knVec3 axle;
			double miss;
			bool wheel = isAxle(joint, side == 1, &axle, &miss) && miss <= AXLE_TOLERANCE * size;
			wheel = wheel && knLength(knCross(axle, axles[b])) <= AXLE_TOLERANCE;
			axles[b] = axle;
			body->byExp = body->mass <= 0.0 || (body->byExp && wheel);
		}
	}
}

// m: a chain's size does not count, where it is does.
static double findTolerance(const knJointIsland* island) {
	double far = 0.0;
	for (int b = 0; b < island->bodyCount; ++b) {
		far = knMax(far, knLength(island->bodies[b].x));
	}
	return knMax(TOLERANCE, ROUND_OFF * far);
}

knJointIsland* knJointIsland_Make(knJointIslands* islands, const knJointIslandInput* input, knArena* arena) {
	knJointIsland* island = KN_SCRATCH_ZERO(arena, knJointIsland, 1);
	if (island == NULL) {
		return NULL;
	}
	island->model = input->model;
	island->h = input->h;
	for (int k = 0; k < input->jointCount; ++k) {
		island->rowCount += knEquationJoint_RowCount(input->model, input->state, input->joints[k]);
	}
	knVec3* axles = KN_SCRATCH(arena, knVec3, 2 * input->jointCount);
	if (!takeMemory(island, input->jointCount, arena)) {
		return NULL;
	}
	for (int k = 0; k < input->jointCount; ++k) {
		const knJoint* joint = knState_Joint(input->state, input->model, input->joints[k]);
		bodyAt(island, input, joint->parent);
		bodyAt(island, input, joint->child);
	}
	findWheels(island, input, axles);
	bool redundant = false;
	knEquationRow* rows = island->rows;
	for (int k = 0; k < input->jointCount; ++k) {
		const knJoint* joint = knState_Joint(input->state, input->model, input->joints[k]);
		knEquationJoint* made = &island->joints[island->jointCount++];
		knEquationJoint_Make(made, input->model, input->state, input->joints[k], input->local[joint->parent],
							 input->local[joint->child], island->bodies, rows);
		rows += made->count;
		redundant = redundant || made->locked > 3 || !made->point;
	}
	for (int b = 0; b < island->bodyCount; ++b) {
		input->local[island->bodyIndex[b]] = -1;
	}
	island->tolerance = findTolerance(island);
	island->pattern =
		knIslandPattern_Find(islands, island->bodies, island->bodyCount, island->joints, island->jointCount);
	if (island->pattern == NULL) {
		return NULL;
	}
	island->cold = island->pattern->loop && redundant;
	island->right = KN_SCRATCH(arena, double, knSparse_Size(island->pattern->sparse));
	return island->right != NULL ? island : NULL;
}

void knJointIsland_Guess(knJointIsland* island, int k, const double* lambda, double scale) {
	for (int r = 0; r < island->joints[k].count; ++r) {
		island->joints[k].rows[r].lambda = scale * lambda[r];
	}
}

const knJointIslandReport* knJointIsland_Report(const knJointIsland* island) {
	return &island->report;
}

void knJointIsland_Impulses(const knJointIsland* island, int k, double* lambda) {
	const knEquationJoint* joint = &island->joints[k];
	const double* last = island->last + (joint->rows - island->rows);
	for (int r = 0; r < joint->count; ++r) {
		lambda[r] = last[r];
	}
}

int knJointIsland_Poses(const knJointIsland* island, knFrame* pose) {
	int count = 0;
	for (int b = 0; b < island->bodyCount; ++b) {
		if (island->bodies[b].mass > 0.0) {
			pose[island->bodyIndex[b]] = knMakeFrame(island->bodies[b].x, island->bodies[b].q);
			count += 1;
		}
	}
	return count;
}

void knJointIsland_Store(const knJointIsland* island, knState* state) {
	for (int b = 0; b < island->bodyCount; ++b) {
		const knEquationBody* body = &island->bodies[b];
		const int index = island->bodyIndex[b];
		if (body->mass > 0.0) {
			state->pose[index] = knMakeFrame(body->x, body->q);
			// a quaternion's length is 1 only to round-off: what the next step would not find again is added
			knVec3 omega = knRotate(body->q, knMulMV(&body->invInertia, knInvRotate(body->q, body->L)));
			const knVec3 found = knRotate(body->q, knMulMV(&body->inertia, knInvRotate(body->q, omega)));
			const knVec3 lost = knInvRotate(body->q, knSub(body->L, found));
			omega = knAdd(omega, knRotate(body->q, knMulMV(&body->invInertia, lost)));
			state->velocity[index] = knMakeTwist(omega, body->v);
		}
	}
	for (int j = 0; j < island->jointCount; ++j) {
		state->joint[island->joints[j].index].reaction = knScaleT(1.0 / island->h, island->impulse[j]);
	}
}
