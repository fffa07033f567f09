#include "dynamics/contact_groups.h"

static int32_t groupOf(const knContactGroups* groups, const knSweepChunk* chunk) {
	int32_t group = groups->islands->group[chunk->a];
	return group >= 0 ? group : groups->islands->group[chunk->b];
}

// What points tell: how many there are, and m/s, the velocity of the bodies that do not yield, by what they carry.
static bool askPoints(knContactGroups* groups) {
	const knStepBodies* blocks = groups->blocks;
	double* carried = KN_SCRATCH_ZERO(groups->arena, double, blocks->count);
	if (carried == NULL) {
		return false;
	}
	for (int i = 0; i < groups->contacts->chunkCount; ++i) {
		const knSweepChunk* chunk = &groups->contacts->chunks[i];
		bool freeA = blocks->invMass[chunk->a] > 0.0, freeB = blocks->invMass[chunk->b] > 0.0;
		int32_t group = groupOf(groups, chunk);
		knGroupFacts* facts = &groups->facts[group];
		facts->points += chunk->count;
		for (int k = chunk->first; k < chunk->first + chunk->count; ++k) {
			const knSweepPoint* p = &groups->contacts->points[k];
			facts->turns = facts->turns || p->arm > 0.0;
			if (freeA != freeB) {
				knTwist u = blocks->u[freeA ? chunk->b : chunk->a];
				knVec3 v = knAdd(u.lin, knCross(u.ang, freeA ? p->rB : p->rA));
				facts->ground = knMulAdd(facts->ground, p->lambda[0], v);
				carried[group] += p->lambda[0];
			}
		}
	}
	for (int b = 0; b < blocks->count; ++b) {
		knVec3* ground = &groups->facts[b].ground;
		*ground = carried[b] > 0.0 ? knScale(1.0 / carried[b], *ground) : knZero3();
	}
	return true;
}

double knContactGroups_Energy(const knContactGroups* groups, int body, knTwist u) {
	knVec3 v = knSub(u.lin, groups->facts[groups->islands->group[body]].ground);
	knVec3 w = knInvRotate(groups->state->pose[body].q, u.ang);
	return 0.5 * (groups->model->mass[body] * knLengthSquared(v) +
				  knDot(w, knMulMV(&groups->model->inertiaLocal[body], w)));
}

bool knContactGroups_Find(knContactGroups* groups) {
	const int32_t* group = groups->islands->group;
	const int count = groups->blocks->count;
	groups->solved = false;
	groups->facts = KN_SCRATCH_ZERO(groups->arena, knGroupFacts, count);
	if (groups->facts == NULL || !askPoints(groups)) {
		return false;
	}
	for (int b = 0; b < count; ++b) {
		bool known = groups->change != NULL && group[b] == b;
		groups->facts[b].change = known ? groups->change[b] : (double)INFINITY;
		if (group[b] >= 0) {
			knGroupFacts* facts = &groups->facts[group[b]];
			facts->bodies += 1;
			facts->mass += groups->model->mass[b];
			facts->energy += knContactGroups_Energy(groups, b, groups->blocks->u[b]);
		}
	}
	return true;
}
