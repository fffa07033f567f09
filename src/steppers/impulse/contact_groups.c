// What is known of every group of bodies in contact once the sweeps are done, for those who go on from there: columns that are
// solved at once, and shock propagation. Speeds are seen from the ground, the bodies that do not yield, so that a pile on
// a lift is treated like any other. (Not from the centre of mass: a heavy block draws that down with it, and bricks
// that stand still would be those in motion.)

#include "steppers/impulse/impulse_step.h"

// What points tell: how many there are, and m/s, the velocity of the bodies that do not yield, by what they carry.
static bool askPoints(const knImpulseStep* step) {
	double* carried = KN_SCRATCH_ZERO(step->context->arena, double, step->model->bodyCount);
	if (carried == NULL) {
		return false;
	}
	for (int i = 0; i < step->pointCount; ++i) {
		const knImpulsePoint* p = &step->points[i];
		bool freeA = step->blocks.invMass[p->a] > 0.0, freeB = step->blocks.invMass[p->b] > 0.0;
		int group = knImpulseStep_GroupOf(step, p);
		knGroupFacts* facts = &step->facts[group];
		facts->points += 1;
		facts->turns = facts->turns || p->turn >= 0;
		if (freeA != freeB) {
			knTwist u = step->blocks.u[freeA ? p->b : p->a];
			knVec3 v = knAdd(u.lin, knCross(u.ang, freeA ? p->rB : p->rA));
			facts->ground = knMulAdd(facts->ground, p->jn, v);
			carried[group] += p->jn;
		}
	}
	for (int b = 0; b < step->model->bodyCount; ++b) {
		knVec3* ground = &step->facts[b].ground;
		*ground = carried[b] > 0.0 ? knScale(1.0 / carried[b], *ground) : knZero3();
	}
	return true;
}

double knContactGroups_Energy(const knImpulseStep* step, int body, knTwist u) {
	knTwist seen = knSubT(u, knMakeTwist(knZero3(), step->facts[step->islands.group[body]].ground));
	return 0.5 * knImpulseStep_Product(step, body, seen, seen);
}

bool knContactGroups_Find(knImpulseStep* step) {
	int bodyCount = step->model->bodyCount;
	const int32_t* group = step->islands.group;
	step->facts = KN_SCRATCH_ZERO(step->context->arena, knGroupFacts, bodyCount);
	if (step->facts == NULL || !askPoints(step)) {
		return false;
	}
	for (int b = 0; b < bodyCount; ++b) {
		if (group[b] >= 0) {
			knGroupFacts* facts = &step->facts[group[b]];
			int levels = step->graph.grounded[b] ? step->graph.level[b] : 0;
			facts->levels = levels > facts->levels ? levels : facts->levels;
			facts->mass += step->model->mass[b];
			facts->energy += knContactGroups_Energy(step, b, step->blocks.u[b]);
		}
	}
	for (int b = 0; b < bodyCount; ++b) {
		bool known = step->change != NULL && group[b] == b;
		step->facts[b].change = known ? step->change[b] : (double)INFINITY;
	}
	return true;
}
