// Sleeping: a group whose bodies have all been at rest for a while takes no part in solve and motion. It must never show:
// bodies stop only when they are slower than anybody sees, contacts keep reporting what they carry, and everything that
// could move a body wakes its whole group in the same step.
//
//   a body     pushed by a force, given a velocity, placed elsewhere, robbed of a contact that carried something
//   a group    touched by a body that is awake (it then is one group with it), by a new contact point, by a kinematic
//              body that moves, or overlapping by more than OVERLAP
//   the world  gravity, joints (made, released, enabled, driven) or shapes (enabled) changed; bodies added or removed
//
// What the world's part is compared with is a hash, kept in the state with the rest times.

#include "core/hash.h"
#include "steppers/velocity/velocity_step.h"

#define REST_TIME 0.5   // s
#define REST_SPEED 1e-4 // m/s
#define REST_SPIN 1e-3  // rad/s
#define OVERLAP 1e-4    // m

// Everything whose change may matter to any body.
static uint64_t worldSignature(const knModel* model, const knState* state) {
	uint64_t hash = knHash_Bytes(KN_HASH_SEED, &state->header->gravity, sizeof(knVec3));
	for (int j = 0; j < knState_JointCount(model); ++j) {
		const knJointState* joint = &state->joint[j];
		const uint32_t now[3] = { joint->enabled, joint->inUse, joint->generation };
		hash = knHash_Bytes(hash, now, sizeof(now));
		hash = knHash_Bytes(hash, joint->motorMode, sizeof(joint->motorMode));
		hash = knHash_Bytes(hash, joint->motorTarget, sizeof(joint->motorTarget));
		hash = knHash_Bytes(hash, joint->motorMaxForce, sizeof(joint->motorMaxForce));
	}
	return knHash_Bytes(hash, state->shapeEnabled, (size_t)model->shapeCount);
}

static bool isZero(knTwist t) {
	return knDotT(t, t) == 0.0;
}

static bool samePose(knFrame a, knFrame b) {
	return a.p.x == b.p.x && a.p.y == b.p.y && a.p.z == b.p.z && a.q.w == b.q.w && a.q.x == b.q.x &&
		   a.q.y == b.q.y && a.q.z == b.q.z;
}

static bool staysAsleep(const knVelocityStep* step, const knRestMemory* rest, int b) {
	const knState* state = step->context->state;
	return rest[b].still >= REST_TIME && isZero(state->force[b]) && isZero(state->velocity[b]) &&
		   samePose(state->pose[b], rest[b].pose) && !step->contacts.bereft[b];
}

static bool disturbs(const knVelocityStep* step, const knSweepChunk* chunk) {
	const knState* state = step->context->state;
	const int side[2] = { chunk->a, chunk->b };
	for (int i = 0; i < 2; ++i) {
		if (step->islands.group[side[i]] < 0 && !isZero(state->velocity[side[i]])) {
			return true;
		}
	}
	for (int k = chunk->first; k < chunk->first + chunk->count; ++k) {
		if (step->contacts.anchors[k].remembered < 0 || step->contacts.points[k].depth < -OVERLAP) {
			return true;
		}
	}
	return false;
}

// awake [bodyCount], by group.
static void findAwakeGroups(const knVelocityStep* step, bool all, uint8_t* awake) {
	const knModel* model = step->context->model;
	const knRestMemory* rest = knStepMemory_Bodies(step->context->state);
	for (int b = 0; b < model->bodyCount; ++b) {
		int32_t group = step->islands.group[b];
		if (group >= 0 && (all || !staysAsleep(step, rest, b))) {
			awake[group] = 1;
		}
	}
	for (int i = 0; i < step->contacts.chunkCount && !all; ++i) {
		const knSweepChunk* chunk = &step->contacts.chunks[i];
		int32_t a = step->islands.group[chunk->a], group = a >= 0 ? a : step->islands.group[chunk->b];
		awake[group] |= disturbs(step, chunk);
	}
}

bool knVelocity_FindSleepers(knVelocityStep* step) {
	knStepContext* context = step->context;
	const knModel* model = context->model;
	if (context->settings->sleep <= 0) {
		return true;
	}
	uint8_t* awake = KN_SCRATCH_ZERO(context->arena, uint8_t, model->bodyCount);
	step->asleep = KN_SCRATCH_ZERO(context->arena, uint8_t, model->bodyCount);
	step->still = KN_SCRATCH_ZERO(context->arena, double, model->bodyCount);
	if (context->arena->failed) {
		return false;
	}
	const knStepMemory* memory = knStepMemory_Get(context->state);
	bool known = memory->bodyCount == model->bodyCount;
	bool changed = !known || memory->signature != worldSignature(model, context->state);
	findAwakeGroups(step, changed, awake);
	for (int b = 0; b < model->bodyCount; ++b) {
		int32_t group = step->islands.group[b];
		step->still[b] = known && !changed ? knStepMemory_Bodies(context->state)[b].still : 0.0;
		if (group >= 0 && !awake[group]) {
			step->asleep[b] = 1;
			step->solveSet[b] = -1;
			context->report->sleeping += 1;
		}
	}
	for (int i = 0; i < step->contacts.chunkCount; ++i) {
		knSweepChunk* chunk = &step->contacts.chunks[i];
		chunk->stage = step->asleep[chunk->a] || step->asleep[chunk->b] ? -1 : chunk->stage;
	}
	return true;
}

void knVelocity_QuietSleepers(knVelocityStep* step) {
	for (int b = 0; step->asleep != NULL && b < step->blocks.count; ++b) {
		if (step->asleep[b]) {
			step->blocks.u[b] = step->blocks.free[b] = step->blocks.drive[b] = knZeroTwist();
			step->blocks.momentum[b] = knZero3();
		}
	}
}

// What a fast body hit in its sleep keeps the velocity that it got.
static void wakeStruck(knVelocityStep* step) {
	const knModelShape* shapes = step->context->model->shapes;
	for (int i = 0; i < step->fast.hitCount; ++i) {
		const knStepContact* hit = &step->fast.hits[i];
		int bodies[2] = { shapes[hit->shapeA].body, shapes[hit->shapeB].body };
		for (int k = 0; k < 2; ++k) {
			step->asleep[bodies[k]] = 0;
			step->still[bodies[k]] = 0.0;
		}
	}
}

void knVelocity_RecordRest(knVelocityStep* step) {
	if (step->asleep == NULL) {
		return;
	}
	wakeStruck(step);
	const knModel* model = step->context->model;
	knState* state = step->context->state;
	knRestMemory* rest = knStepMemory_Bodies(state);
	uint8_t* restless = step->asleep; // from here on by group, its sleepers are known by their rest time
	for (int b = 0; b < model->bodyCount; ++b) {
		knTwist v = state->velocity[b];
		bool quiet = knLength(v.lin) < REST_SPEED && knLength(v.ang) < REST_SPIN;
		bool slept = step->asleep[b];
		rest[b].still = slept ? step->still[b] : (quiet ? step->still[b] + step->h : 0.0);
		if (slept) {
			state->pose[b] = step->start[b];
			state->velocity[b] = knZeroTwist();
		}
		restless[b] = 0;
	}
	for (int b = 0; b < model->bodyCount; ++b) {
		if (step->islands.group[b] >= 0 && rest[b].still < REST_TIME) {
			restless[step->islands.group[b]] = 1;
		}
	}
	for (int b = 0; b < model->bodyCount; ++b) {
		if (step->islands.group[b] >= 0 && !restless[step->islands.group[b]]) {
			state->velocity[b] = knZeroTwist();
		}
		rest[b].pose = state->pose[b];
	}
	knStepMemory* memory = state->stepperPart;
	memory->signature = worldSignature(model, state);
}
