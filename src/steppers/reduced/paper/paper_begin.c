// Beginning and end of the published step, and the looks at contacts between its parts.
#include "steppers/reduced/paper/paper_step.h"

#include <string.h>

#include "model/control.h"

#define GAP_TOLERANCE 1e-4   // m: bodies touch
#define SPEED_TOLERANCE 1e-4 // m/s: a contact rests
#define ERROR_TOLERANCE 1e-8 // rad, m: of a part of the embedded pair

static knPaperChoices chooseSettings(const knSettings* settings, double gravity) {
	const bool rk4 = settings->reduced.integrator < 0;
	knPaperChoices choices = {
		.integrator = rk4 ? KN_PAPER_RK4 : (knPaperIntegrator)settings->reduced.integrator,
		.tolerance = settings->reduced.tolerance < 0.0 ? ERROR_TOLERANCE : settings->reduced.tolerance,
		.lcp = settings->reduced.lcp < 0 ? KN_PAPER_DANTZIG : (knPaperLcp)settings->reduced.lcp,
		.impact = settings->reduced.impact < 0 ? KN_PAPER_ALGEBRAIC : (knPaperImpact)settings->reduced.impact,
		.penalty = settings->reduced.contact == 1,
		.stiffness = knMax(settings->reduced.stiffness, 0.0),
		.gap = settings->reduced.contactGap < 0.0 ? GAP_TOLERANCE : settings->reduced.contactGap,
		.speed = settings->reduced.contactSpeed < 0.0 ? SPEED_TOLERANCE : settings->reduced.contactSpeed,
		.bounceSpeed = settings->reduced.bounceSpeed,
	};
	if (choices.bounceSpeed < 0.0) {
		// a bounce that stays within the gap of touching bodies cannot be told from rest
		choices.bounceSpeed = sqrt(2.0 * gravity * choices.gap);
	}
	return choices;
}

// --- trees -----------------------------------------------------------------------------------------------

static int baseOf(const knPaperStep* step, int i) {
	const knForestLink* link = &step->forest->links[i];
	while (link->parent >= 0) {
		link = &step->forest->links[link->parent];
	}
	bool scripted = link->joint >= 0 && step->context->model->bodyKind[link->parentBody] == KN_BODY_KINEMATIC;
	return scripted ? link->parentBody : 0;
}

static bool makeTree(knPaperStep* step, knPaperTree* item, knTreeLink* links) {
	const knModel* model = step->context->model;
	knArena* arena = step->context->arena;
	const knAllocator allocator = knArena_Allocator(arena);
	for (int k = 0; k < item->linkCount; ++k) {
		const knForestLink* link = &step->forest->links[item->firstLink + k];
		bool root = link->parent < 0, hangs = root && link->joint >= 0 && item->baseBody == 0;
		links[k] = (knTreeLink){
			.parent = root ? -1 : link->parent - item->firstLink,
			.kind = link->kind,
			.frameParent =
				hangs ? knMulF(step->from->start[link->parentBody], link->inParent) : link->inParent,
			.frameChild = knInvF(link->fromJoint),
			.mass = { .mass = model->mass[link->body], .inertia = model->inertiaLocal[link->body] },
		};
	}
	item->tree = knTree_Create(links, item->linkCount, &allocator, step->context->error);
	item->work = item->tree != NULL ? knTreeWork_Create(item->tree, &allocator, step->context->error) : NULL;
	if (item->work != NULL && step->divided) {
		item->dca = knTreeDca_Create(item->tree, &allocator, step->context->error);
	}
	return item->work != NULL && (item->dca != NULL || !step->divided);
}

static bool makeTrees(knPaperStep* step) {
	const knForest* forest = step->forest;
	knArena* arena = step->context->arena;
	step->trees = KN_SCRATCH(arena, knPaperTree, forest->count);
	knTreeLink* links = KN_SCRATCH(arena, knTreeLink, forest->count);
	bool made = !arena->failed;
	for (int i = 0; i < forest->count && made;) {
		knPaperTree* item = &step->trees[step->treeCount++];
		*item = (knPaperTree){ .firstLink = i,
							   .qOffset = forest->links[i].qOffset,
							   .vOffset = forest->links[i].vOffset,
							   .baseBody = baseOf(step, i) };
		while (i < forest->count && baseOf(step, i) == item->baseBody) {
			++i;
		}
		item->linkCount = i - item->firstLink;
		made = makeTree(step, item, links);
	}
	return made;
}

// --- forces and inertias that last for the step ------------------------------------------------------------

static void gatherForces(knPaperStep* step) {
	const knModel* model = step->context->model;
	const knState* state = step->context->state;
	for (int i = 0; i < step->forest->count; ++i) {
		int b = step->forest->links[i].body;
		double odd = model->mass[b] * (model->gravityScale[b] - 1.0);
		knVec3 force = knMulAdd(state->force[b].lin, odd, state->header->gravity);
		step->firstSpin[i] = step->from->before[b].ang;
		step->forces[i] = knMakeTwist(state->force[b].ang, force);
		step->pushed = step->pushed || knLengthSquared(force) + knLengthSquared(state->force[b].ang) > 0.0;
		step->dragged = step->dragged || model->linearDamping[b] > 0.0 || model->angularDamping[b] > 0.0;
	}
}

static void gatherArmature(knPaperStep* step) {
	const knModel* model = step->context->model;
	const knState* state = step->context->state;
	for (int i = 0; i < step->forest->count; ++i) {
		const knForestLink* link = &step->forest->links[i];
		const knJoint* joint = link->joint >= 0 ? &model->joints[link->joint] : NULL;
		for (int k = 0; k < link->nv; ++k) {
			const knAxisDrive* drive = joint != NULL ? knState_Drive(state, model, link->joint, k) : NULL;
			double own = joint != NULL ? joint->axis[k].armature : 0.0;
			step->armature[link->vOffset + knForest_CoordinateOf(link, k)] =
				own + (drive != NULL ? drive->inertia : 0.0);
		}
	}
}

// --- room ------------------------------------------------------------------------------------------------

static void makePlace(knPaperPlace* place, const knPaperStep* step) {
	knArena* arena = step->context->arena;
	int bodies = step->context->model->bodyCount;
	place->pose = KN_SCRATCH(arena, knFrame, bodies);
	place->velocity = KN_SCRATCH_ZERO(arena, knTwist, bodies);
	place->columns = KN_SCRATCH(arena, knTreeMotion, step->forest->nv);
	place->c = KN_SCRATCH(arena, knLanes, step->forest->count);
	if (!arena->failed) {
		memcpy(place->pose, step->from->start, (size_t)bodies * sizeof(knFrame));
		memcpy(place->velocity, step->from->before, (size_t)bodies * sizeof(knTwist));
	}
}

static bool takeRoom(knPaperStep* step) {
	knArena* arena = step->context->arena;
	const knForest* forest = step->forest;
	int bodies = step->context->model->bodyCount;
	step->second = step->first;
	knReducedStep* second = &step->second;
	second->q0 = KN_SCRATCH(arena, double, forest->nq);
	second->v0 = KN_SCRATCH(arena, double, forest->nv);
	second->kOwn = KN_SCRATCH_ZERO(arena, double, forest->nv);
	second->start = KN_SCRATCH(arena, knFrame, bodies);
	second->before = KN_SCRATCH(arena, knTwist, bodies);
	second->columns0 = KN_SCRATCH(arena, knTreeMotion, forest->nv);
	second->c0 = KN_SCRATCH(arena, knLanes, forest->count);
	second->arm0 = KN_SCRATCH(arena, knLanes, forest->count);
	step->origin = KN_SCRATCH(arena, knFrame, bodies);
	step->armature = KN_SCRATCH_ZERO(arena, double, forest->nv);
	step->diagonal = KN_SCRATCH_ZERO(arena, double, forest->nv);
	step->forces = KN_SCRATCH(arena, knTwist, forest->count);
	step->firstSpin = KN_SCRATCH(arena, knVec3, forest->count);
	step->tau = KN_SCRATCH_ZERO(arena, double, forest->nv);
	step->R = KN_SCRATCH(arena, knTreeForce, forest->nv);
	step->arms = KN_SCRATCH(arena, knLanes, forest->count);
	step->push = KN_SCRATCH(arena, knTreeForce, forest->count);
	step->motions = KN_SCRATCH(arena, knTreeMotion, forest->count);
	step->q = KN_SCRATCH(arena, double, forest->nq);
	step->v = KN_SCRATCH(arena, double, forest->nv);
	step->qn = KN_SCRATCH(arena, double, forest->nq);
	step->vn = KN_SCRATCH(arena, double, forest->nv);
	step->delta = KN_SCRATCH_ZERO(arena, double, forest->nv);
	step->before = KN_SCRATCH_ZERO(arena, double, forest->nv);
	step->qBeside = KN_SCRATCH(arena, double, forest->nq);
	step->vBeside = KN_SCRATCH(arena, double, forest->nv);
	if (arena->failed || !knForestSystem_Make(&step->system, forest, arena)) {
		return false;
	}
	memcpy(second->start, step->first.start, (size_t)bodies * sizeof(knFrame));
	memcpy(second->before, step->first.before, (size_t)bodies * sizeof(knTwist));
	memcpy(step->origin, step->first.start, (size_t)bodies * sizeof(knFrame));
	memcpy(step->q, step->first.q0, (size_t)forest->nq * sizeof(double));
	memcpy(step->v, step->first.v0, (size_t)forest->nv * sizeof(double));
	makePlace(&step->at, step);
	makePlace(&step->other, step);
	return !arena->failed;
}

// --- phases ----------------------------------------------------------------------------------------------

knStatus knPaper_Begin(knPaperStep* step) {
	const knAllocator allocator = knArena_Allocator(step->context->arena);
	knArena_Init(&step->scratch, &allocator);
	step->first = (knReducedStep){ .context = step->context, .h = step->h };
	knStatus status = knReduced_Begin(&step->first);
	if (status != KN_OK) {
		return status;
	}
	step->from = &step->first;
	step->to = &step->second;
	step->forest = &step->first.forest;
	step->choices = chooseSettings(step->context->settings, knLength(step->context->state->header->gravity));
	if (!takeRoom(step)) {
		return knReduced_OutOfMemory(&step->first);
	}
	gatherForces(step);
	gatherArmature(step);
	if (!makeTrees(step)) {
		return step->context->arena->failed ? knReduced_OutOfMemory(&step->first) : KN_UNSUPPORTED;
	}
	return KN_OK;
}

knStatus knPaper_Look(knPaperStep* step, const double* q, const double* v, double time) {
	knReducedStep* to = step->to;
	knState* state = step->context->state;
	const knForest* forest = step->forest;
	size_t bodies = (size_t)step->context->model->bodyCount;
	knPaper_Place(step, time, q, v, &step->at);
	memcpy(to->q0, q, (size_t)forest->nq * sizeof(double));
	memcpy(to->v0, v, (size_t)forest->nv * sizeof(double));
	memcpy(to->start, step->at.pose, bodies * sizeof(knFrame));
	memcpy(to->before, step->at.velocity, bodies * sizeof(knTwist));
	memcpy(to->columns0, step->at.columns, (size_t)forest->nv * sizeof(knTreeMotion));
	memcpy(to->c0, step->at.c, (size_t)forest->count * sizeof(knLanes));
	for (int i = 0; i < forest->count; ++i) {
		const knForestLink* link = &forest->links[i];
		to->arm0[i] = knLanes_FromVec(knSub(to->start[link->body].p, to->start[link->parentBody].p));
	}
	// the collider and joints' coordinates are read off the state
	memcpy(state->pose, to->start, bodies * sizeof(knFrame));
	for (int i = 0; i < forest->count; ++i) {
		state->velocity[forest->links[i].body] = to->before[forest->links[i].body];
	}
	knState_UpdateCoordinates(state, step->context->model);
	to->contactCount = to->axisCount = to->pairCount = to->crossCount = 0;
	to->mobility = NULL;
	knStatus status = knReduced_FindContacts(to);
	status = status == KN_OK ? knReduced_BuildAxes(to) : status;
	return status == KN_OK ? knReduced_BuildPairs(to) : status;
}

int knPaper_PairOrder(const knReducedStep* from, int index, const knStepContact* other) {
	const knStepContact* contact = &from->list.contacts[from->list.anchors[index].contact];
	return contact->shapeA != other->shapeA ? contact->shapeA - other->shapeA
											: contact->shapeB - other->shapeB;
}

void knPaper_Swap(knPaperStep* step) {
	knReducedStep* from = step->from;
	step->from = step->to;
	step->to = from;
}

void knPaper_Accept(knPaperStep* step) {
	knPaper_Swap(step);
	for (int k = 0; k < step->forest->nq; ++k) {
		step->q[k] = step->qn[k];
	}
	for (int k = 0; k < step->forest->nv; ++k) {
		step->v[k] = step->vn[k];
	}
}

knStatus knPaper_End(knPaperStep* step) {
	knStepContext* context = step->context;
	knState* state = context->state;
	knReducedStep* from = step->from;
	for (int j = 0; j < knState_JointCount(context->model); ++j) {
		state->joint[j].reaction = knZeroTwist();
	}
	for (int i = 0; i < step->forest->count; ++i) {
		int b = step->forest->links[i].body;
		knVec3 way = knSub(from->start[b].p, step->origin[b].p);
		knVec3 spin = knLerp(step->firstSpin[i], from->before[b].ang, 0.5);
		context->report->work += knDot(state->force[b].lin, way) + step->h * knDot(state->force[b].ang, spin);
	}
	context->report->work += step->motorWork;
	knReducedStep* first = &step->first;
	memcpy(first->q, step->q, (size_t)step->forest->nq * sizeof(double));
	memcpy(first->v, step->v, (size_t)step->forest->nv * sizeof(double));
	if (!knReducedMemory_Resize(state, context->model, step->h, from->contactCount, 0, context->allocator)) {
		return knReduced_OutOfMemory(first);
	}
	knPaper_ShareImpulses(step);
	from->input.state = state;
	knContactRows_Collect(&from->list, &from->input, knReducedMemory_Contacts(state));
	context->contacts = from->list.contacts;
	context->contactCount = from->list.count;
	context->report->contacts = from->contactCount;
	context->report->iterations += step->evaluations;
	return context->arena->failed ? knReduced_OutOfMemory(first) : knReduced_End(first);
}
