#include "dynamics/sleep.h"

#include "core/hash.h"

#define REST_TIME 0.5   // s
#define REST_SPEED 1e-4 // m/s
#define REST_SPIN 1e-3  // rad/s
#define OVERLAP 1e-4    // m

uint64_t knSleep_Signature(const knModel* model, const knState* state) {
	uint64_t hash = knHash_Bytes(KN_HASH_SEED, &state->header->gravity, sizeof(knVec3));
	for (int j = 0; j < knState_JointCount(model); ++j) {
		const knJointState* joint = &state->joint[j];
		const uint32_t now[3] = { joint->enabled, joint->inUse, joint->generation };
		hash = knHash_Bytes(hash, now, sizeof(now));
		hash = knHash_Bytes(hash, joint->motorMode, sizeof(joint->motorMode));
		hash = knHash_Bytes(hash, joint->motorTarget, sizeof(joint->motorTarget));
		hash = knHash_Bytes(hash, joint->motorMaxForce, sizeof(joint->motorMaxForce));
	}
	hash = knHash_Bytes(hash, state->control, (size_t)model->control.actuatorCount * sizeof(double));
	hash = knHash_Bytes(hash, state->activation, (size_t)model->control.actuatorCount * sizeof(double));
	return knHash_Bytes(hash, state->shapeEnabled, (size_t)model->shapeCount);
}

static bool isZero(knTwist t) {
	return knDotT(t, t) == 0.0;
}

static bool samePose(knFrame a, knFrame b) {
	return a.p.x == b.p.x && a.p.y == b.p.y && a.p.z == b.p.z && a.q.w == b.q.w && a.q.x == b.q.x &&
		   a.q.y == b.q.y && a.q.z == b.q.z;
}

// Neither moves nor was moved.
static bool isStill(const knSleepInput* input, int b) {
	return isZero(input->state->velocity[b]) && samePose(input->state->pose[b], input->rest[b].pose);
}

static bool staysAsleep(const knSleepInput* input, int b) {
	return input->rest[b].still >= REST_TIME && isZero(input->state->force[b]) && isStill(input, b) &&
		   !input->contacts->bereft[b];
}

static bool disturbs(const knSleepInput* input, const knSweepChunk* chunk) {
	const int side[2] = { chunk->a, chunk->b };
	for (int i = 0; i < 2; ++i) {
		if (input->group[side[i]] < 0 && !isZero(input->state->velocity[side[i]])) {
			return true;
		}
	}
	for (int k = chunk->first; k < chunk->first + chunk->count; ++k) {
		if (input->contacts->anchors[k].remembered < 0 || input->contacts->points[k].depth < -OVERLAP) {
			return true;
		}
	}
	return false;
}

// awake [bodyCount], by group: a body that belongs to none pulls at a joint.
static void wakeJoined(const knSleepInput* input, uint8_t* awake) {
	for (int j = 0; j < knState_JointCount(input->model); ++j) {
		if (!knState_JointActive(input->state, input->model, j)) {
			continue;
		}
		const knJoint* joint = knState_Joint(input->state, input->model, j);
		int32_t a = input->group[joint->parent], b = input->group[joint->child];
		if (a < 0 && b >= 0) {
			awake[b] |= !isStill(input, joint->parent);
		}
		if (b < 0 && a >= 0) {
			awake[a] |= !isStill(input, joint->child);
		}
	}
}

static void findAwakeGroups(const knSleepInput* input, uint8_t* awake) {
	for (int b = 0; b < input->model->bodyCount; ++b) {
		int32_t group = input->group[b];
		if (group >= 0 && !staysAsleep(input, b)) {
			awake[group] = 1;
		}
	}
	for (int i = 0; i < input->contacts->chunkCount; ++i) {
		const knSweepChunk* chunk = &input->contacts->chunks[i];
		int32_t a = input->group[chunk->a], group = a >= 0 ? a : input->group[chunk->b];
		if (group >= 0) {
			awake[group] |= disturbs(input, chunk);
		}
	}
	wakeJoined(input, awake);
}

bool knSleep_Find(knSleep* sleep, const knSleepInput* input, knArena* arena) {
	const knModel* model = input->model;
	uint8_t* awake = KN_SCRATCH_ZERO(arena, uint8_t, model->bodyCount);
	*sleep = (knSleep){ 0 };
	sleep->asleep = KN_SCRATCH_ZERO(arena, uint8_t, model->bodyCount);
	sleep->still = KN_SCRATCH_ZERO(arena, double, model->bodyCount);
	if (arena->failed) {
		return false;
	}
	if (input->rest == NULL || input->signature != knSleep_Signature(model, input->state)) {
		return true;
	}
	findAwakeGroups(input, awake);
	for (int b = 0; b < model->bodyCount; ++b) {
		int32_t group = input->group[b];
		sleep->still[b] = input->rest[b].still;
		if (group >= 0 && !awake[group]) {
			sleep->asleep[b] = 1;
			sleep->count += 1;
		}
	}
	return true;
}

void knSleep_Record(knSleep* sleep, const knModel* model, knState* state, const int32_t* group,
					const knFrame* start, double h, knRestMemory* rest) {
	uint8_t* restless = sleep->asleep; // from here on by group, its sleepers are known by their rest time
	for (int b = 0; b < model->bodyCount; ++b) {
		knTwist v = state->velocity[b];
		bool quiet = knLength(v.lin) < REST_SPEED && knLength(v.ang) < REST_SPIN;
		bool slept = sleep->asleep[b];
		rest[b].still = slept ? sleep->still[b] : (quiet ? sleep->still[b] + h : 0.0);
		if (slept) {
			state->pose[b] = start[b];
			state->velocity[b] = knZeroTwist();
		}
		restless[b] = 0;
	}
	for (int b = 0; b < model->bodyCount; ++b) {
		if (group[b] >= 0 && rest[b].still < REST_TIME) {
			restless[group[b]] = 1;
		}
	}
	for (int b = 0; b < model->bodyCount; ++b) {
		if (group[b] >= 0 && !restless[group[b]]) {
			state->velocity[b] = knZeroTwist();
		}
		rest[b].pose = state->pose[b];
	}
}
