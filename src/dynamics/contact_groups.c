#include "dynamics/contact_groups.h"

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
		int32_t group = knContactGroups_Of(groups, chunk);
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

double knContactGroups_Product(const knContactGroups* groups, int body, knTwist u, knTwist v) {
	knQuat q = groups->state->pose[body].q;
	knVec3 L = knMulMV(&groups->model->inertiaLocal[body], knInvRotate(q, v.ang));
	return groups->model->mass[body] * knDot(u.lin, v.lin) + knDot(knInvRotate(q, u.ang), L);
}

double knContactGroups_Energy(const knContactGroups* groups, int body, knTwist u) {
	knTwist seen = u;
	seen.lin = knSub(u.lin, groups->facts[groups->islands->group[body]].ground);
	return 0.5 * knContactGroups_Product(groups, body, seen, seen);
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
			facts->levels = groups->level[b] > facts->levels ? groups->level[b] : facts->levels;
			facts->mass += groups->model->mass[b];
			facts->energy += knContactGroups_Energy(groups, b, groups->blocks->u[b]);
		}
	}
	return true;
}

// --- what groups begin with ------------------------------------------------------------------------------------

static void push(const knContactGroups* groups, int body, double sign, knVec3 r, knVec3 j, knVec3 moment) {
	const knStepBodies* blocks = groups->blocks;
	if (blocks->invMass[body] > 0.0) {
		knTwist* u = &blocks->u[body];
		u->lin = knMulAdd(u->lin, sign * blocks->invMass[body], j);
		knVec3 turn = knScale(sign, knAdd(knCross(r, j), moment));
		u->ang = knAdd(u->ang, knMulMV(&blocks->invInertia[body], turn));
	}
}

static void pushPoint(const knContactGroups* groups, const knSweepChunk* chunk, const knSweepPoint* p) {
	knVec3 j = knMulAdd(knMulAdd(knScale(p->lambda[0], p->n), p->lambda[1], p->t1), p->lambda[2], p->t2);
	push(groups, chunk->a, -1.0, p->rA, j, p->rolling);
	push(groups, chunk->b, 1.0, p->rB, j, p->rolling);
}

// What nothing holds up carries no load from step to step: whatever it carried when the last of its supports went is not to
// be given back to it. Joints are another matter, they carry what turns with them.
bool knContactGroups_WarmStart(const knContactGroups* groups) {
	const knIslands* islands = groups->islands;
	knContactDescent* descent = knContactDescent_BeginFromZero(groups);
	if (descent == NULL) {
		return false;
	}
	for (int i = 0; i < groups->contacts->chunkCount; ++i) {
		const knSweepChunk* chunk = &groups->contacts->chunks[i];
		int32_t group = knContactGroups_Of(groups, chunk);
		bool kept = islands->anchored[group] || islands->jointed[group];
		for (int k = chunk->first; chunk->stage >= 0 && k < chunk->first + chunk->count; ++k) {
			knSweepPoint* p = &groups->contacts->points[k];
			if (kept && p->lambda[0] > 0.0) {
				pushPoint(groups, chunk, p);
			} else {
				p->lambda[0] = p->lambda[1] = p->lambda[2] = 0.0;
				p->rolling = knZero3();
			}
		}
	}
	knContactDescent_Take(groups, descent);
	return true;
}
