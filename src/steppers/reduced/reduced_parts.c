// The step of an island, in parts where need be.
//
//   rung 0   impacts, the implicit step, velocities at the end
//   rung 1   where Newton's method fails, or contacts would put energy in: the same in two halves, each again in halves
//   rung 2   parts that still fail: velocities at the end, by the poses of the start (knReduced_Drift): one convex problem,
//            which always has a solution
//   rung 3   loops that no motion closes, or numbers that are not finite (never seen): the island stays where it is for the
//            part, and stops; knStepReport.jointConflicts says so
//
// Contacts are found once: in later parts their gaps and arms follow the motion. After every part kinetic energy may have
// grown by the work of gravity, users, motors, springs and kinematic bodies and by no more; what unfinished rows put in beyond
// that is taken back from all velocities of the island, and reported.
#include "steppers/reduced/reduced_step.h"

#include <string.h>

#define MAX_HALVINGS 6
#define MAX_CONTACT_HALVINGS 2 // where contacts keep Newton's method busy, shorter steps do not help for long
#define MAX_FAILURES 10       // of a step: a motion that no part so far could follow is not followed any more
#define OPEN_LOOP 1e-6        // m or rad, a gap that counts
#define FALLING 0.9           // share of it that may be left by a part that closes it
#define ENERGY_ROUND_OFF 1e-9 // of the energies that the guard compares

// What an attempt changes.
typedef struct Saved {
	double* v0;
	knReducedContact* contacts;
	knReducedAxisRow* axes;
	knReducedPairRow* pairs;
} Saved;

static bool save(const knReducedStep* step, Saved* saved) {
	knArena* arena = step->context->arena;
	saved->v0 = KN_SCRATCH(arena, double, step->forest.nv);
	saved->contacts = KN_SCRATCH(arena, knReducedContact, step->contactCount);
	saved->axes = KN_SCRATCH(arena, knReducedAxisRow, step->axisCount);
	saved->pairs = KN_SCRATCH(arena, knReducedPairRow, step->pairCount);
	if (arena->failed) {
		return false;
	}
	memcpy(saved->v0, step->v0, (size_t)step->forest.nv * sizeof(double));
	memcpy(saved->contacts, step->contacts, (size_t)step->contactCount * sizeof(knReducedContact));
	memcpy(saved->axes, step->axes, (size_t)step->axisCount * sizeof(knReducedAxisRow));
	memcpy(saved->pairs, step->pairs, (size_t)step->pairCount * sizeof(knReducedPairRow));
	return true;
}

static void restore(knReducedStep* step, const Saved* saved) {
	memcpy(step->v0, saved->v0, (size_t)step->forest.nv * sizeof(double));
	memcpy(step->contacts, saved->contacts, (size_t)step->contactCount * sizeof(knReducedContact));
	memcpy(step->axes, saved->axes, (size_t)step->axisCount * sizeof(knReducedAxisRow));
	memcpy(step->pairs, saved->pairs, (size_t)step->pairCount * sizeof(knReducedPairRow));
	knForest_Velocities(&step->forest, step->columns0, step->start, step->v0, step->before);
}

// Multipliers as they were: those of an attempt that diverged are no place to start from.
static void restoreMultipliers(knReducedStep* step, const Saved* saved) {
	for (int k = 0; k < step->contactCount; ++k) {
		memcpy(step->contacts[k].lambda, saved->contacts[k].lambda, sizeof(step->contacts[k].lambda));
	}
	for (int k = 0; k < step->axisCount; ++k) {
		step->axes[k].lambda = saved->axes[k].lambda;
	}
	for (int k = 0; k < step->pairCount; ++k) {
		step->pairs[k].lambda = saved->pairs[k].lambda;
	}
}

// Impulses and their bounds for parts `scale` times as long; targets of what has room for the part's length.
static void scaleRows(knReducedStep* step, double scale) {
	for (int k = 0; k < step->contactCount; ++k) {
		knReducedContact* contact = &step->contacts[k];
		for (int i = 0; i < 3; ++i) {
			contact->lambda[i] *= scale;
		}
		contact->target = -knMax(contact->gap, 0.0) / step->h;
	}
	for (int k = 0; k < step->axisCount; ++k) {
		knReducedAxisRow* row = &step->axes[k];
		row->lambda *= scale, row->lo *= scale, row->hi *= scale;
		row->push *= scale;
		row->e /= row->law == KN_LAW_DRIVE ? scale : 1.0;
		row->target = row->room < (double)INFINITY ? -knMax(row->room, 0.0) / step->h : row->target;
	}
	for (int k = 0; k < step->pairCount; ++k) {
		knReducedPairRow* row = &step->pairs[k];
		row->lambda *= scale, row->lo *= scale, row->hi *= scale;
		row->target = row->room < (double)INFINITY ? -knMax(row->room, 0.0) / step->h : row->target;
	}
}

// Rows after a part: where it has brought them. `moved` are their displacements of the part.
static void advanceRows(knReducedStep* step) {
	for (int k = 0; k < step->contactCount; ++k) {
		knReducedContact* contact = &step->contacts[k];
		int a = contact->bodyA, b = contact->bodyB;
		knQuat turnA = knMulQ(step->pose[a].q, knConj(step->start[a].q));
		knQuat turnB = knMulQ(step->pose[b].q, knConj(step->start[b].q));
		contact->coreA = knRotate(turnA, contact->coreA);
		contact->coreB = knRotate(turnB, contact->coreB);
		contact->roundA = knReduced_RoundAfter(contact->roundA, contact->axisA, contact->n, turnA);
		contact->roundB = knReduced_RoundAfter(contact->roundB, contact->axisB, knNeg(contact->n), turnB);
		contact->axisA = knRotate(turnA, contact->axisA);
		contact->axisB = knRotate(turnB, contact->axisB);
		contact->gap += contact->moved;
		contact->lasting = contact->lambda[0] > 0.0;
	}
	for (int k = 0; k < step->axisCount; ++k) {
		step->axes[k].room += step->axes[k].moved;
		step->axes[k].x += step->axes[k].moved;
	}
	for (int k = 0; k < step->pairCount; ++k) {
		step->pairs[k].room += step->pairs[k].moved;
		step->pairs[k].x += step->pairs[k].moved;
	}
}

// The end of a part becomes the start of the next.
static void goOn(knReducedStep* step) {
	const knForest* forest = &step->forest;
	advanceRows(step);
	memcpy(step->q0, step->q, (size_t)forest->nq * sizeof(double));
	memcpy(step->v0, step->v, (size_t)forest->nv * sizeof(double));
	for (int i = 0; i < forest->count; ++i) {
		step->start[forest->links[i].body] = step->pose[forest->links[i].body];
	}
	knReduced_PlaceKinematics(step, step->time, step->h);
	knForest_Columns(forest, step->q0, step->start, step->columns0, step->c0);
	knForest_Velocities(forest, step->columns0, step->start, step->v0, step->before);
	for (int i = 0; i < forest->count; ++i) {
		const knForestLink* link = &forest->links[i];
		step->arm0[i] = knLanes_FromVec(knSub(step->start[link->body].p, step->start[link->parentBody].p));
	}
}

// Takes back what energy grew by beyond `allowed`, J.
static void guard(knReducedStep* step, double allowed) {
	const knForest* forest = &step->forest;
	knForest_Columns(forest, step->q, step->pose, step->columns, step->c);
	knForest_Velocities(forest, step->columns, step->pose, step->v, step->after);
	double kinetic =
		knReduced_Kinetic(step, step->pose, step->after) + knReduced_CarriedEnergy(step, step->v);
	bool sound = knIsFinite(kinetic);
	if (sound && kinetic <= allowed + ENERGY_ROUND_OFF * (kinetic + knAbs(allowed))) {
		return;
	}
	double scale = sound && allowed > 0.0 ? sqrt(allowed / kinetic) : 0.0;
	for (int k = 0; k < forest->nv; ++k) {
		step->v[k] = scale > 0.0 ? scale * step->v[k] : 0.0;
	}
	step->guarded += 1;
}

// m or rad, the largest gap of loop joints at poses.
static double loopGap(knReducedStep* step, const knFrame* poses) {
	double worst = 0.0;
	knReduced_PlacePairs(step, poses, poses);
	for (int k = 0; k < step->pairCount; ++k) {
		worst = step->pairs[k].locked ? knMax(worst, knAbs(step->pairs[k].error)) : worst;
	}
	return worst;
}

// Loops that no motion closes: the gap did not fall although it was to be closed.
static bool isConflict(knReducedStep* step) {
	double before = step->pairCount > 0 ? loopGap(step, step->start) : 0.0;
	return before > OPEN_LOOP && loopGap(step, step->pose) > FALLING * before;
}

static bool isFinite(const knReducedStep* step) {
	double sum = 0.0;
	for (int k = 0; k < step->forest.nq; ++k) {
		sum += knAbs(step->q[k]);
	}
	return knIsFinite(sum);
}

// The implicit step: where the multipliers of many contacts do not settle soon, by interior points.
static bool move(knReducedStep* step, const Saved* saved) {
	if (knReduced_Move(step, false)) {
		return true;
	}
	if (step->contactCount <= KN_REDUCED_FEW || step->context->arena->failed) {
		return false;
	}
	restoreMultipliers(step, saved);
	return knReduced_Move(step, true);
}

// The part from `time` on, with the first rung that succeeds; false: try shorter parts.
static bool takePart(knReducedStep* step, const Saved* saved, bool last) {
	double kinetic =
		knReduced_Kinetic(step, step->start, step->before) + knReduced_CarriedEnergy(step, step->v0);
	// many links that land on links: landing and step in one problem
	bool heap = step->crossCount > 0 && step->contactCount > KN_REDUCED_FEW;
	bool moved = knReduced_Impact(step, !heap) && !(heap && step->lands) && move(step, saved);
	if (!moved && !last && !(heap && step->lands)) {
		return false;
	}
	if (!moved) {
		restoreMultipliers(step, saved);
		step->rung = step->rung > 2 || step->lands ? step->rung : 2;
		bool drifted = knReduced_Drift(step) && isFinite(step);
		step->conflict = drifted && isConflict(step);
		if (!drifted || step->conflict) {
			step->rung = 3;
			knReduced_Rest(step);
		}
	}
	if (knReduced_After(step) && moved) {
		knReduced_ReturnEnergy(step);
	}
	guard(step, kinetic + step->known);
	step->work += step->put;
	step->time += step->h;
	step->subSteps += 1;
	for (int i = 0; i < step->forest.count; ++i) {
		step->reactionSum[i] = knAddT(step->reactionSum[i], step->reaction[i]);
	}
	for (int k = 0; k < step->contactCount; ++k) {
		knReducedContact* contact = &step->contacts[k];
		for (int i = 0; i < 3; ++i) {
			contact->sum[i] += contact->lambda[i] + contact->impact[i];
			contact->impact[i] = 0.0;
		}
	}
	return true;
}

static bool advance(knReducedStep* step, int depth) {
	Saved saved;
	if (!save(step, &saved)) {
		return false;
	}
	bool last = depth >= (step->contactCount > 0 ? MAX_CONTACT_HALVINGS : MAX_HALVINGS) ||
				step->failures >= MAX_FAILURES;
	if (takePart(step, &saved, last)) {
		return true;
	}
	if (step->context->arena->failed) {
		return false;
	}
	restore(step, &saved);
	step->failures += 1;
	step->rung = step->rung > 1 ? step->rung : 1;
	step->h *= 0.5;
	scaleRows(step, 0.5);
	knReduced_PlaceKinematics(step, step->time, step->h);
	bool done = advance(step, depth + 1);
	if (done) {
		goOn(step);
		scaleRows(step, 1.0);
		done = advance(step, depth + 1);
	}
	step->h *= 2.0;
	scaleRows(step, 2.0);
	return done;
}

// J, that gravity gives between the starts and ends of links.
static double gravityWork(const knReducedStep* step) {
	const knModel* model = step->context->model;
	double work = 0.0;
	for (int i = 0; i < step->forest.count; ++i) {
		int b = step->forest.links[i].body;
		knVec3 way = knSub(step->pose[b].p, step->start[b].p);
		work += model->mass[b] * model->gravityScale[b] * knDot(step->context->state->header->gravity, way);
	}
	return work;
}

// Velocities at the present poses that are nearest to those before: momentum stays, although joints have turned.
static bool keepMotion(knReducedStep* step, const knTwist* before) {
	if (!knReduced_ReadVelocities(step, before, step->v0)) {
		return false;
	}
	knForest_Velocities(&step->forest, step->columns0, step->start, step->v0, step->before);
	return true;
}

// What overlaps is moved out of each other; kinetic energy pays for what that lifts, as far as there is any.
static bool pushOut(knReducedStep* step) {
	bool moved = false;
	if (!knReduced_PushOut(step, &moved) || !moved) {
		return !step->context->arena->failed;
	}
	double allowed = knReduced_Kinetic(step, step->start, step->before) +
					 knReduced_CarriedEnergy(step, step->v0) + knMin(gravityWork(step), 0.0);
	for (int i = 0; i < step->forest.count; ++i) {
		int b = step->forest.links[i].body;
		step->wanted[b] = step->before[b];
	}
	goOn(step);
	scaleRows(step, 1.0);
	if (!keepMotion(step, step->wanted)) {
		return !step->context->arena->failed;
	}
	double kinetic =
		knReduced_Kinetic(step, step->start, step->before) + knReduced_CarriedEnergy(step, step->v0);
	if (kinetic > allowed) {
		double scale = allowed > 0.0 ? sqrt(allowed / kinetic) : 0.0;
		for (int k = 0; k < step->forest.nv; ++k) {
			step->v0[k] *= scale;
		}
		knForest_Velocities(&step->forest, step->columns0, step->start, step->v0, step->before);
	}
	return true;
}

bool knReduced_StepIsland(knReducedStep* step) {
	double h = step->h;
	if (!pushOut(step) || !advance(step, 0)) {
		return false;
	}
	if (step->subSteps > 1) {
		knReduced_PlaceKinematics(step, 0.0, h);
	}
	for (int i = 0; i < step->forest.count; ++i) {
		step->reaction[i] = step->reactionSum[i];
	}
	return true;
}
