// The hybrid body as a model and a state of its own (adaptive_step.h), made for each step: its cost is that of the
// segments and joints that move. Coordinates, contact and joint memories pass through unchanged, so that a body all of
// whose joints move is stepped as the reduced stepper would.
#include "steppers/adaptive/adaptive_step.h"

#include "core/sort.h"
#include "model/control.h"
#include "model/state_internal.h"

#include <string.h>

static void* takeFromArena(size_t size, void* context) {
	return knArena_Take(context, size);
}

static void leaveInArena(void* memory, size_t size, void* context) {
	(void)memory;
	(void)size;
	(void)context;
}

knFrame knAdaptive_InSegment(const knAdaptiveStep* step, int body, int* root) {
	knFrame inRoot;
	*root = knHybridForest_Locate(&step->hybrid, body, &inRoot);
	inRoot.p = knSub(inRoot.p, knHybridForest_Center(&step->hybrid, *root));
	return inRoot;
}

// --- bodies --------------------------------------------------------------------------------------------------------

static bool takeBodies(knAdaptiveStep* step, int count) {
	knArena* arena = step->context->arena;
	knModel* model = &step->world.model;
	model->bodyCount = count;
	model->bodyKind = KN_SCRATCH_ZERO(arena, knBodyKind, count);
	model->mass = KN_SCRATCH_ZERO(arena, double, count);
	model->invMass = KN_SCRATCH_ZERO(arena, double, count);
	model->inertiaLocal = KN_SCRATCH_ZERO(arena, knMat33, count);
	model->invInertiaLocal = KN_SCRATCH_ZERO(arena, knMat33, count);
	model->gravityScale = KN_SCRATCH_ZERO(arena, double, count);
	model->linearDamping = KN_SCRATCH_ZERO(arena, double, count);
	model->angularDamping = KN_SCRATCH_ZERO(arena, double, count);
	model->radius = KN_SCRATCH_ZERO(arena, double, count);
	model->thinness = KN_SCRATCH_ZERO(arena, double, count);
	model->initialPose = KN_SCRATCH(arena, knFrame, count);
	model->initialVelocity = KN_SCRATCH(arena, knTwist, count);
	step->world.bodyOf = KN_SCRATCH(arena, int, count);
	return !arena->failed;
}

static void copyOther(knAdaptiveStep* step, int body, int slot) {
	const knModel* full = step->context->model;
	const knState* state = step->context->state;
	knModel* model = &step->world.model;
	model->bodyKind[slot] = full->bodyKind[body];
	model->gravityScale[slot] = full->gravityScale[body];
	model->radius[slot] = full->radius[body];
	model->thinness[slot] = full->thinness[body];
	model->initialPose[slot] = state->pose[body];
	model->initialVelocity[slot] = state->velocity[body];
}

static void copySegment(knAdaptiveStep* step, int root, int slot) {
	const knModel* full = step->context->model;
	const knSegment* segment = &step->hybrid.segments[root];
	const knHybridNode* node = &step->hybrid.nodes[segment->node];
	knModel* model = &step->world.model;
	bool leaf = knHybridForest_IsLeaf(node), held = node->ground;
	model->bodyKind[slot] = held ? KN_BODY_FIXED : KN_BODY_DYNAMIC;
	if (!held) {
		model->mass[slot] = node->mass;
		model->invMass[slot] = leaf ? full->invMass[root] : 1.0 / node->mass;
		model->inertiaLocal[slot] = node->inertia;
		model->invInertiaLocal[slot] = leaf ? full->invInertiaLocal[root] : knInverse33(&node->inertia);
		model->gravityScale[slot] = full->gravityScale[root];
		model->linearDamping[slot] = node->linearDamping;
		model->angularDamping[slot] = node->angularDamping;
	}
	model->radius[slot] = leaf ? node->radius : node->radius + knDistance(node->middle, node->center);
	model->thinness[slot] = node->thinness;
	model->initialPose[slot] = segment->pose;
	model->initialVelocity[slot] = segment->velocity;
}

static bool weldBodies(knAdaptiveStep* step) {
	knHybridForest* hybrid = &step->hybrid;
	int others = hybrid->header->otherCount, count = others + hybrid->header->frontCount;
	if (!takeBodies(step, count)) {
		return false;
	}
	for (int k = 0; k < count; ++k) {
		int body = k < others ? hybrid->others[k] : hybrid->fronts[k - others];
		knHybridForest_Keep(hybrid, &hybrid->links[body], sizeof(knHybridLink));
		hybrid->links[body].slot = k;
		step->world.bodyOf[k] = body;
		if (k < others) {
			copyOther(step, body, k);
		} else {
			copySegment(step, body, k);
		}
	}
	return true;
}

// --- joints --------------------------------------------------------------------------------------------------------

// One end of the joint on which the segment hangs.
static knFrame weldEnd(knAdaptiveStep* step, int root, int* body, knFrame frame) {
	if (step->hybrid.links[*body].rank < 0) {
		*body = step->hybrid.links[*body].slot;
		return frame;
	}
	knFrame inSegment;
	int of = *body == root ? root : knHybridForest_FindParent(&step->hybrid, root, &inSegment);
	if (*body == root) {
		inSegment = knAdaptive_InSegment(step, root, &of);
	}
	*body = step->hybrid.links[of].slot;
	frame = knMulF(inSegment, frame);
	frame.q = knNormalizeQ(frame.q);
	return frame;
}

static void weldJoint(knAdaptiveStep* step, int index, int root, int slot) {
	knModel* model = &step->world.model;
	knJoint* joint = &model->joints[slot];
	*joint = step->context->model->joints[index];
	joint->frameParent = weldEnd(step, root, &joint->parent, joint->frameParent);
	joint->frameChild = weldEnd(step, root, &joint->child, joint->frameChild);
	joint->qOffset = model->qCount;
	joint->vOffset = model->vCount;
	model->qCount += joint->nq;
	model->vCount += joint->nv;
	model->jointEnabled[slot] = true;
	step->world.jointOf[slot] = index;
}

// Joints in the order of the full model, which is that of their memories.
static bool weldJoints(knAdaptiveStep* step) {
	knArena* arena = step->context->arena;
	const knHybridForest* hybrid = &step->hybrid;
	knModel* model = &step->world.model;
	int fronts = hybrid->header->frontCount, count = 0;
	knKeyed* keys = KN_SCRATCH(arena, knKeyed, fronts);
	model->joints = KN_SCRATCH(arena, knJoint, fronts);
	model->jointEnabled = KN_SCRATCH(arena, bool, fronts);
	step->world.jointOf = KN_SCRATCH(arena, int, fronts);
	if (arena->failed) {
		return false;
	}
	for (int k = 0; k < fronts; ++k) {
		int root = hybrid->fronts[k], joint = hybrid->links[root].joint;
		if (joint >= 0 && !knHybridForest_IsGrounded(hybrid, root)) {
			keys[count++] = (knKeyed){ (uint64_t)joint, (uint32_t)root };
		}
	}
	if (!knSort_Keys(keys, count, arena)) {
		return false;
	}
	model->jointCount = count;
	for (int k = 0; k < count; ++k) {
		weldJoint(step, (int)keys[k].key, (int)keys[k].value, k);
	}
	return true;
}

// What actuators, tendons and couplings ask of the joints that move.
static bool weldDrives(knAdaptiveStep* step) {
	const knModelControl* full = &step->context->model->control;
	knWeldedWorld* world = &step->world;
	knModelControl* control = &world->model.control;
	int joints = world->model.jointCount;
	if (full->driveCount == 0) {
		return true;
	}
	control->jointDrive = KN_SCRATCH(step->context->arena, int, joints);
	control->drives = KN_SCRATCH(step->context->arena, knModelDrive, full->driveCount);
	world->driveOf = KN_SCRATCH(step->context->arena, int, full->driveCount);
	if (step->context->arena->failed) {
		return false;
	}
	for (int k = 0; k < joints; ++k) {
		int i = full->jointDrive[world->jointOf[k]];
		control->jointDrive[k] = i >= 0 ? control->driveCount : -1;
		for (; i >= 0 && i < full->driveCount && full->drives[i].joint == world->jointOf[k]; ++i) {
			world->driveOf[control->driveCount] = i;
			control->drives[control->driveCount] = full->drives[i];
			control->drives[control->driveCount++].joint = k;
		}
	}
	control->driveCapacity = control->driveCount;
	return true;
}

// --- state ---------------------------------------------------------------------------------------------------------

static int findJoint(const knWeldedWorld* world, int joint) {
	int lower = 0, upper = world->model.jointCount;
	while (lower < upper) {
		int middle = lower + (upper - lower) / 2;
		if (world->jointOf[middle] < joint) {
			lower = middle + 1;
		} else {
			upper = middle;
		}
	}
	return lower < world->model.jointCount && world->jointOf[lower] == joint ? lower : -1;
}

static bool fillMemory(knAdaptiveStep* step) {
	const knHybridForest* hybrid = &step->hybrid;
	knWeldedWorld* world = &step->world;
	knArena* arena = step->context->arena;
	int rows = 0;
	int* slots = KN_SCRATCH(arena, int, hybrid->header->jointRowCount);
	for (int k = 0; slots != NULL && k < hybrid->header->jointRowCount; ++k) {
		slots[k] = findJoint(world, hybrid->joints[k].joint);
		rows += slots[k] >= 0;
	}
	if (slots == NULL || !knReducedMemory_Resize(&world->state, &world->model, hybrid->header->dt,
												 hybrid->header->contactCount, rows, &world->allocator)) {
		return false;
	}
	knLinkMemory* links = knReducedMemory_Links(&world->state);
	for (int k = hybrid->header->otherCount; k < world->model.bodyCount; ++k) {
		int root = world->bodyOf[k];
		links[k] = hybrid->memory[root];
		links[k].via = links[k].via >= 0 ? findJoint(world, links[k].via) : links[k].via;
		links[k].via = links[k].via < 0 && hybrid->links[root].joint >= 0 ? -2 : links[k].via;
	}
	memcpy(knReducedMemory_Contacts(&world->state), hybrid->contacts,
		   (size_t)hybrid->header->contactCount * sizeof(knContactMemory));
	knJointMemory* joints = knReducedMemory_Joints(&world->state);
	for (int k = 0, count = 0; k < hybrid->header->jointRowCount; ++k) {
		if (slots[k] >= 0) {
			joints[count] = hybrid->joints[k];
			joints[count++].joint = slots[k];
		}
	}
	return true;
}

// Forces on links act on their segments.
static void gatherForces(knAdaptiveStep* step) {
	const knState* state = step->context->state;
	const knHybridForest* hybrid = &step->hybrid;
	for (int k = 0; k < state->header->pushedCount; ++k) {
		int b = state->pushedBodies[k];
		knTwist force = state->force[b];
		if (hybrid->links[b].rank < 0) {
			continue;
		}
		int root;
		knFrame inSegment = knAdaptive_InSegment(step, b, &root);
		knVec3 arm = knRotate(hybrid->segments[root].pose.q, inSegment.p);
		knTwist* sum = &step->world.state.force[hybrid->links[root].slot];
		sum->lin = knAdd(sum->lin, force.lin);
		sum->ang = knAdd(sum->ang, knAdd(force.ang, knCross(arm, force.lin)));
	}
}

static bool weldState(knAdaptiveStep* step) {
	knWeldedWorld* world = &step->world;
	const knModel* full = step->context->model;
	const knState* state = step->context->state;
	size_t room = knReducedMemory_Size(world->model.bodyCount, world->model.jointCount,
									   2 * step->hybrid.header->contactCount + 64,
									   2 * step->hybrid.header->jointRowCount + 64);
	if (!knState_CreateSized(&world->state, &world->model, 0, 0, room, &world->allocator)) {
		return false;
	}
	world->state.header->gravity = state->header->gravity;
	world->state.header->time = state->header->time;
	world->state.header->step = state->header->step;
	for (int k = 0; k < world->model.jointCount; ++k) {
		const knJoint *from = &full->joints[world->jointOf[k]], *to = &world->model.joints[k];
		world->state.joint[k] = state->joint[world->jointOf[k]];
		memcpy(&world->state.q[to->qOffset], &state->q[from->qOffset], sizeof(double) * (size_t)to->nq);
		memcpy(&world->state.v[to->vOffset], &state->v[from->vOffset], sizeof(double) * (size_t)to->nv);
	}
	for (int k = 0; k < world->model.control.driveCount; ++k) {
		world->state.drive[k] = state->drive[world->driveOf[k]];
	}
	gatherForces(step);
	return fillMemory(step);
}

knStatus knAdaptive_Weld(knAdaptiveStep* step) {
	const knModel* full = step->context->model;
	knWeldedWorld* world = &step->world;
	*world = (knWeldedWorld){ .allocator = { takeFromArena, leaveInArena, step->context->arena } };
	world->model.gravity = full->gravity;
	world->model.frictionCombine = full->frictionCombine;
	world->model.restitutionCombine = full->restitutionCombine;
	world->model.allocator = world->allocator;
	world->model.scene = full->scene;
	// entries are filled in as contacts ask for them
	world->model.shapes = KN_SCRATCH(step->context->arena, knModelShape, full->shapeCount);
	if (!weldBodies(step) || !weldJoints(step) || !weldDrives(step) || !weldState(step) ||
		step->context->arena->failed) {
		return knAdaptive_OutOfMemory(step);
	}
	step->inner = *step->context;
	step->inner.model = &world->model;
	step->inner.state = &world->state;
	step->inner.allocator = &world->allocator;
	step->inner.findContacts = knAdaptive_FindContacts;
	step->inner.findData = step;
	return KN_OK;
}

// --- back ----------------------------------------------------------------------------------------------------------

static void readSegments(knAdaptiveStep* step) {
	knHybridForest* hybrid = &step->hybrid;
	const knWeldedWorld* world = &step->world;
	knState* state = step->context->state;
	const knLinkMemory* links = knReducedMemory_Links(&world->state);
	for (int k = 0; k < world->model.bodyCount; ++k) {
		int body = world->bodyOf[k];
		if (hybrid->links[body].rank < 0) {
			state->pose[body] = world->state.pose[k];
			state->velocity[body] = world->state.velocity[k];
			continue;
		}
		hybrid->segments[body].pose = world->state.pose[k];
		hybrid->segments[body].velocity = world->state.velocity[k];
		if (world->model.bodyKind[k] == KN_BODY_DYNAMIC) {
			hybrid->memory[body] = links[k];
			hybrid->memory[body].via = links[k].via >= 0 ? world->jointOf[links[k].via] : links[k].via;
		}
	}
}

knStatus knAdaptive_Unweld(knAdaptiveStep* step) {
	const knWeldedWorld* world = &step->world;
	const knReducedMemory* memory = knReducedMemory_Get(&world->state, &world->model);
	knStepContext* context = step->context;
	readSegments(step);
	if (!knHybridForest_Resize(&step->hybrid, context->state, context->model, memory->contactCount,
							   memory->jointRowCount, context->allocator)) {
		return knAdaptive_OutOfMemory(step);
	}
	knHybridForest* hybrid = &step->hybrid;
	hybrid->header->dt = step->h;
	memcpy(hybrid->contacts, knReducedMemory_Contacts(&world->state),
		   (size_t)memory->contactCount * sizeof(knContactMemory));
	const knJointMemory* joints = knReducedMemory_Joints(&world->state);
	for (int k = 0; k < memory->jointRowCount; ++k) {
		hybrid->joints[k] = joints[k];
		hybrid->joints[k].joint = world->jointOf[joints[k].joint];
	}
	for (int k = 0; k < world->model.jointCount; ++k) {
		context->state->joint[world->jointOf[k]].reaction = world->state.joint[k].reaction;
	}
	context->contacts = step->inner.contacts;
	context->contactCount = step->inner.contactCount;
	return knWeldPatches_Spread(step) ? KN_OK : knAdaptive_OutOfMemory(step);
}

// Rates of a joint as the state has them.
static void writeRates(knAdaptiveStep* step, const knReducedStep* reduced, int k) {
	const knJoint *joint = &step->world.model.joints[k],
				  *full = &step->context->model->joints[step->world.jointOf[k]];
	knState* state = step->context->state;
	knHybridForest_Keep(&step->hybrid, &state->v[full->vOffset], sizeof(double) * (size_t)full->nv);
	int p = joint->parent, c = joint->child;
	knFrame J = knJoint_Frame(joint, reduced->start[p], reduced->start[c]);
	knTwist V = knJoint_RelativeTwist(joint, reduced->start[p], reduced->before[p], reduced->start[c],
									  reduced->before[c]);
	knJoint_Velocities(joint, J, &state->q[full->qOffset], V, &state->v[full->vOffset]);
}

knStatus knAdaptive_Project(knAdaptiveStep* step) {
	knStatus status = knAdaptive_Weld(step);
	if (status != KN_OK) {
		return status;
	}
	knReducedStep reduced = { .context = &step->inner, .h = step->h };
	status = knReduced_Begin(&reduced);
	if (status != KN_OK) {
		return status;
	}
	knHybridForest* hybrid = &step->hybrid;
	for (int i = 0; i < reduced.forest.count; ++i) {
		const knForestLink* link = &reduced.forest.links[i];
		int root = step->world.bodyOf[link->body];
		knLinkMemory* memory = &hybrid->memory[root];
		knHybridForest_Keep(hybrid, memory, sizeof(*memory));
		knHybridForest_Keep(hybrid, &hybrid->segments[root], sizeof(knSegment));
		memory->via = link->joint >= 0 ? step->world.jointOf[link->joint] : -1;
		for (int k = 0; k < link->nq; ++k) {
			memory->q[k] = reduced.q0[link->qOffset + k];
		}
		for (int k = 0; k < link->nv; ++k) {
			memory->v[k] = reduced.v0[link->vOffset + k];
		}
		hybrid->segments[root].pose = reduced.start[link->body];
		hybrid->segments[root].velocity = reduced.before[link->body];
	}
	for (int k = 0; k < step->world.model.jointCount; ++k) {
		writeRates(step, &reduced, k);
	}
	return KN_OK;
}
