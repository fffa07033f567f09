// Accelerations at a state: forces of joints, gravity, users' forces and damping, the articulated-body method, then the forces
// of all constraints.
//
// Springs, dampers, actuators and force motors act on the coordinates of their joints. An explicit integrator takes them as they
// are; semi-implicit Euler, with a step of s, takes them at its end: k (x + s v) + c v, and c s + k s^2 beside the armature on
// the diagonal of H.
#include "steppers/reduced/paper/paper_step.h"

#include "model/control.h"
#include "model/joint_parts.h"

#define REFINEMENTS 1 // of divide and conquer

void knPaper_Place(knPaperStep* step, double time, const double* q, const double* v, knPaperPlace* place) {
	const knModel* model = step->context->model;
	const knState* state = step->context->state;
	for (int b = 0; b < model->bodyCount; ++b) {
		if (model->bodyKind[b] == KN_BODY_KINEMATIC) {
			place->pose[b] = knMovePose(step->origin[b], state->velocity[b], time);
		}
	}
	knForest_Place(step->forest, q, place->pose);
	knForest_Columns(step->forest, q, place->pose, place->columns, place->c);
	knForest_Velocities(step->forest, place->columns, place->pose, v, place->velocity);
}

// --- forces of joints --------------------------------------------------------------------------------------

typedef struct Pull {
	double force, resistance; // N or N m; added inertia
} Pull;

// k x + c v, taken `ahead` seconds ahead.
static Pull springPull(double x, double rate, double stiffness, double damping, double ahead) {
	return (Pull){ -stiffness * (x + ahead * rate) - damping * rate, ahead * (damping + ahead * stiffness) };
}

static void addPull(knPaperStep* step, const knReducedAxisRow* row, Pull pull) {
	const knForestLink* link = &step->forest->links[row->link];
	for (int k = 0; k < link->nv; ++k) {
		step->tau[link->vOffset + k] += row->coef[k] * pull.force;
		step->diagonal[link->vOffset + k] += row->coef[k] * row->coef[k] * pull.resistance;
	}
}

// Springs, dampers and force motors of the forest's joints; delta is the way since the rows were made.
static void pullAxes(knPaperStep* step, const double* delta, const double* v) {
	const knReducedStep* from = step->from;
	for (int i = 0; i < from->axisCount; ++i) {
		const knReducedAxisRow* row = &from->axes[i];
		const knForestLink* link = &step->forest->links[row->link];
		double rate = 0.0, way = 0.0;
		for (int k = 0; k < link->nv; ++k) {
			rate += row->coef[k] * v[link->vOffset + k];
			way += row->coef[k] * delta[link->vOffset + k];
		}
		if (row->law == KN_LAW_SOFT) {
			addPull(step, row, springPull(row->x + way, rate, row->stiffness, row->damping, step->softStep));
		} else if (row->law == KN_LAW_BOUND && row->lo == row->hi) {
			addPull(step, row, (Pull){ .force = row->lo / step->h });
		}
	}
}

// Actuators: what they resist is theirs only between their bounds.
static void pullDrives(knPaperStep* step, const double* q, const double* v) {
	const knModel* model = step->context->model;
	const knState* state = step->context->state;
	for (int i = 0; i < step->forest->count && model->control.driveCount > 0; ++i) {
		const knForestLink* link = &step->forest->links[i];
		const knJoint* joint = link->joint >= 0 ? &model->joints[link->joint] : NULL;
		for (int axis = 0; axis < link->nv && joint != NULL; ++axis) {
			const knAxisDrive* drive = knState_Drive(state, model, link->joint, axis);
			// what does not resist is a force of the joint's rows
			if (drive == NULL || !(drive->stiffness > 0.0 || drive->damping > 0.0)) {
				continue;
			}
			int k = knForest_CoordinateOf(link, axis);
			bool simple = link->nq == link->nv;
			double sign = link->reversed ? -1.0 : 1.0, rate = sign * v[link->vOffset + k];
			// of quaternions: where the step began
			double x = simple ? sign * q[link->qOffset + k]
							  : knJoint_AxisPosition(joint, &state->q[joint->qOffset], axis) +
									joint->axis[axis].rest;
			Pull pull = springPull(x, rate, drive->stiffness, drive->damping, step->softStep);
			double force = drive->force + pull.force;
			bool free = force > drive->lower && force < drive->upper;
			step->tau[link->vOffset + k] += sign * knClamp(force, drive->lower, drive->upper);
			step->diagonal[link->vOffset + k] += free ? pull.resistance : 0.0;
		}
	}
}

// --- forces on links ---------------------------------------------------------------------------------------

static void pushLink(knPaperStep* step, int body, knTwist row, double force) {
	int i = step->forest->linkOf[body];
	if (i >= 0) {
		step->forces[i] = knMulAddT(step->forces[i], force, row);
	}
}

// Springs, dampers and force motors of loop joints.
static void pullPairs(knPaperStep* step) {
	const knReducedStep* from = step->from;
	const knState* state = step->context->state;
	for (int i = 0; i < from->pairCount; ++i) {
		const knReducedPairRow* row = &from->pairs[i];
		double force = row->lo / step->h;
		if (row->law == KN_LAW_SOFT) {
			const knJoint* joint = knState_Joint(state, step->context->model, row->joint);
			knFrame J = knJoint_Frame(joint, step->at.pose[joint->parent], step->at.pose[joint->child]);
			double q[KN_JOINT_MAX_Q] = { 0.0 };
			knJointOps_Get(joint->kind)->coordinates(joint, J, &state->q[joint->qOffset], q);
			double rate = knDotT(row->jP, step->at.velocity[row->bodyP]) +
						  knDotT(row->jC, step->at.velocity[row->bodyC]);
			double x = knJoint_AxisPosition(joint, q, row->part - KN_PART_SPRING);
			force = springPull(x, rate, row->stiffness, row->damping, 0.0).force;
		} else if (row->lo != row->hi) {
			continue;
		}
		pushLink(step, row->bodyP, row->jP, force);
		pushLink(step, row->bodyC, row->jC, force);
	}
}

// Damping of bodies.
static void dragLinks(knPaperStep* step) {
	const knModel* model = step->context->model;
	for (int i = 0; i < step->forest->count; ++i) {
		int b = step->forest->links[i].body;
		knTwist velocity = step->at.velocity[b];
		knVec3 spin = knInvRotate(step->at.pose[b].q, velocity.ang);
		knVec3 momentum = knRotate(step->at.pose[b].q, knMulMV(&model->inertiaLocal[b], spin));
		step->forces[i].ang = knMulAdd(step->forces[i].ang, -model->angularDamping[b], momentum);
		step->forces[i].lin =
			knMulAdd(step->forces[i].lin, -model->linearDamping[b] * model->mass[b], velocity.lin);
	}
}

// The slides' baseline: a contact as a spring and damper along its normal, and friction that grows with the slip up to mu N.
static void pushContacts(knPaperStep* step) {
	const double speed = knMax(10.0 * step->choices.speed, 1e-9);
	for (int i = 0; i < step->from->contactCount; ++i) {
		const knReducedContact* contact = &step->from->contacts[i];
		int a = contact->bodyA, b = contact->bodyB;
		knPaperContactAt site = knPaper_ContactAt(step, contact, &step->at);
		knVec3 u = knSub(knAdd(step->at.velocity[b].lin, knCross(step->at.velocity[b].ang, site.armB)),
						 knAdd(step->at.velocity[a].lin, knCross(step->at.velocity[a].ang, site.armA)));
		double K = contact->e * 100.0; // 1/kg; e is a hundredth of it
		// a tenth of what the step can follow, damped by half of the critical
		double k = step->choices.stiffness > 0.0 ? step->choices.stiffness : 0.01 / (K * step->h * step->h);
		double rate = knDot(u, contact->n), force = -k * site.gap - sqrt(k / K) * rate;
		if (site.gap >= 0.0 || force <= 0.0) {
			continue;
		}
		knVec3 slip = knMulAdd(u, -rate, contact->n);
		double slow = knMax(knLength(slip), speed);
		knVec3 push = knMulAdd(knScale(force, contact->n), -contact->mu * force / slow, slip);
		pushLink(step, b, knMakeTwist(knCross(site.armB, push), push), 1.0);
		pushLink(step, a, knMakeTwist(knCross(site.armA, push), push), -1.0);
	}
}

// All forces on links that are not gravity; false: none.
static bool gatherForces(knPaperStep* step, double time, const double* q, const double* v) {
	const knModel* model = step->context->model;
	const knState* state = step->context->state;
	bool penalty = step->choices.penalty && step->from->contactCount > 0;
	bool placed = step->dragged || penalty || step->from->pairCount > 0;
	if (!placed && !step->pushed) {
		return false;
	}
	for (int i = 0; i < step->forest->count; ++i) {
		int b = step->forest->links[i].body;
		double odd = model->mass[b] * (model->gravityScale[b] - 1.0);
		step->forces[i] =
			knMakeTwist(state->force[b].ang, knMulAdd(state->force[b].lin, odd, state->header->gravity));
	}
	if (placed) {
		knPaper_Place(step, time, q, v, &step->at);
	}
	if (step->dragged) {
		dragLinks(step);
	}
	if (step->from->pairCount > 0) {
		knReduced_PlacePairs(step->from, step->at.pose, step->at.pose);
		pullPairs(step);
	}
	if (penalty) {
		pushContacts(step);
	}
	return true;
}

// --- accelerations -----------------------------------------------------------------------------------------

// Joins of divide and conquer know no inertia of coordinates alone.
static bool isBare(const double* diagonal, int count) {
	for (int k = 0; k < count; ++k) {
		if (diagonal[k] != 0.0) {
			return false;
		}
	}
	return true;
}

static void accelerateTree(knPaperStep* step, const knPaperTree* item, const double* q, const double* v,
						   const knTwist* forces, double* qdd) {
	const double *tau = step->tau + item->vOffset, *diagonal = step->diagonal + item->vOffset;
	knVec3 gravity = step->context->state->header->gravity;
	if (item->dca != NULL && isBare(diagonal, item->tree->nv)) {
		knTreeWork_SetDiagonal(item->work, NULL);
		knTreeDca_ForwardDynamics(item->dca, item->work, q, v, tau, forces, gravity, REFINEMENTS,
								  &step->context->tasks, qdd);
		return;
	}
	knTreeWork_SetDiagonal(item->work, diagonal);
	knTree_ForwardDynamics(item->tree, item->work, q, v, tau, forces, gravity, qdd);
}

bool knPaper_Accelerate(knPaperStep* step, double time, const double* q, const double* v, double* qdd) {
	const knForest* forest = step->forest;
	const knState* state = step->context->state;
	++step->evaluations;
	for (int k = 0; k < forest->nv; ++k) {
		step->tau[k] = 0.0;
		step->diagonal[k] = step->armature[k];
	}
	pullAxes(step, step->delta, v);
	pullDrives(step, q, v);
	const knTwist* forces = gatherForces(step, time, q, v) ? step->forces : NULL;
	for (int k = 0; k < step->treeCount; ++k) {
		const knPaperTree* item = &step->trees[k];
		if (item->baseBody > 0) {
			knTwist velocity = state->velocity[item->baseBody];
			knTreeWork_SetBase(item->work, knMovePose(step->origin[item->baseBody], velocity, time),
							   velocity);
		}
		accelerateTree(step, item, q + item->qOffset, v + item->vOffset,
					   forces != NULL ? forces + item->firstLink : NULL, qdd + item->vOffset);
	}
	return step->C.count == 0 || knPaper_Constrain(step, time, q, v, qdd);
}
