// Contacts on mean velocities. Rows J(u, w) >= -max(gap, 0)/h at mean arms change the energy by
//
//   E' - E - gravity = sum lambda . J(u, w) = - sum lambda_n max(gap, 0)/h - sum |lambda_t| |slip|  <= 0
//
// Alone they would turn what arrives around (end gap 0 means v' = -v), and leave an error in the velocity of a lasting contact
// that flips its sign in every step. Hence a solve before the step and one after it, both on true velocities with
// whole inverse masses. The stepper's solver has half of them: there impulses count twice.
//
// Landing:   J v >= -max(gap, 0)/h from lambda = 0 at the start pose; touching points take part, so that a blow passes
//            through a pile. An island whose kinetic energy rises keeps its velocities.
// Settling:  rows that carried load, at the end pose:  J v" = (1 - beta) J v',  lambda + delta >= 0, friction within its cone.
//            beta = 1 where a contact is new, slides, or is next to still; else beta = 0.2: that takes less out of what
//            rolls. One beta an island: then the solve is one on beta v' with the target 0.
// Guard:     W = sum P . u + T . w over an island must not be positive. With A the same at the free velocities,
//            all impulses of the island are scaled by -A/(W - A) where unfinished sweeps have left it so.

#include "dynamics/time_step.h"

#include "core/assert.h"
#include "dynamics/joint_rows.h"
#include "dynamics/mean_rotation.h"

#define TURNING 0.01 // rad a step: arms of what turns less are those of the start
#define PASSING 5e-4 // radii a step: normals of balls that go less are those of the start
#define STILL                                                                                                \
	1e-3 // of g h: slower arrivals are left to the settling, and its errors below that taken out at once
#define LASTING_SHARE 0.2      // beta of lasting contacts
#define LEAVING_STEPS 50.0     // what carries nothing and is out of its overlap by then is not pushed
#define FLIPPED 0.01           // of the kinetic energy
#define SLENDER 2.0            // of the inertia: tr I tr I^-1/9 - 1, 0 for a cube
#define SLENDER_GAIN 1e-3      // of the energy in a step
#define SLIDES 0.999           // of the cone: friction that is at its bound
#define ENERGY_ROUND_OFF 1e-12 // of the kinetic energy: work, or a gain, that is round-off
#define WORK_OF_FREE 1e-5      // of |A|: what unfinished sweeps may leave
#define SCALINGS 8
#define SCALING 0.7

static bool isMean(const knTimeStep* step, int b) {
	return step->stageOf[b] >= 0 && step->blocks->weight[b] < KN_WEIGHT_END;
}

static bool isMeanChunk(const knTimeStep* step, const knSweepChunk* chunk) {
	return chunk->stage >= 0 && (isMean(step, chunk->a) || isMean(step, chunk->b));
}

static int32_t islandOf(const knTimeStep* step, const knSweepChunk* chunk) {
	int32_t island = step->islands->group[chunk->a];
	return island >= 0 ? island : step->islands->group[chunk->b];
}

static bool floats(const knTimeStep* step, const knSweepChunk* chunk) {
	return isMeanChunk(step, chunk) && !step->islands->anchored[islandOf(step, chunk)];
}

static void load(knTimeStep* step, int stage) {
	step->failed = !step->solver.load(step->solver.context, stage) || step->failed;
}

static double weightSpeed(const knTimeStep* step) {
	return step->blocks->h * knLength(step->state->header->gravity);
}

// Bodies that are one ball about their centre.
static void findBalls(knTimeStep* step) {
	const knModel* model = step->model;
	for (int b = 0; b < model->bodyCount; ++b) {
		step->symmetric[b] = 1;
	}
	for (int s = 0; s < model->shapeCount; ++s) {
		const knModelShape* shape = &model->shapes[s];
		bool ball = knGeom_Kind(shape->geom) == KN_GEOM_SPHERE && knLengthSquared(shape->local.p) == 0.0;
		step->symmetric[shape->body] &= ball;
	}
}

double* knTimeStep_ChooseWeights(const knModel* model, const knState* state, knArena* arena) {
	knJointEdge* edges = KN_SCRATCH(arena, knJointEdge, knState_JointCount(model));
	double* weights = KN_SCRATCH(arena, double, model->bodyCount);
	if (arena->failed) {
		return NULL;
	}
	for (int b = 0; b < model->bodyCount; ++b) {
		weights[b] = KN_WEIGHT_MEAN;
	}
	int count = knJointRows_ListEdges(model, state, edges);
	for (int i = 0; i < count; ++i) {
		weights[edges[i].a] = weights[edges[i].b] = KN_WEIGHT_END;
	}
	return weights;
}

bool knTimeStep_Begin(knTimeStep* step) {
	int bodies = step->model->bodyCount, points = step->contacts->pointCount;
	knArena* arena = step->arena;
	step->end = KN_SCRATCH(arena, knFrame, bodies);
	step->turn = KN_SCRATCH_ZERO(arena, knVec3, bodies);
	step->turning = KN_SCRATCH_ZERO(arena, uint8_t, bodies);
	step->symmetric = KN_SCRATCH(arena, uint8_t, bodies);
	step->extra = KN_SCRATCH_ZERO(arena, knVec3, points);
	step->bounced = KN_SCRATCH_ZERO(arena, uint8_t, points);
	step->loadedBefore = KN_SCRATCH_ZERO(arena, uint8_t, points);
	step->work = KN_SCRATCH(arena, knTwist, bodies);
	step->kept = KN_SCRATCH(arena, knSweepPoint, points);
	step->sums = KN_SCRATCH(arena, double, bodies);
	step->tolerance = KN_SCRATCH(arena, double, bodies);
	step->acts = KN_SCRATCH_ZERO(arena, uint8_t, bodies);
	step->guarded = 0;
	step->renewed = step->failed = false;
	if (arena->failed) {
		return false;
	}
	findBalls(step);
	for (int k = 0; k < points; ++k) {
		int remembered = step->contacts->anchors[k].remembered;
		step->loadedBefore[k] = remembered >= 0 && step->memory[remembered].normal > 0.0;
	}
	return true;
}

static knVec3 impulseOf(const knSweepPoint* p) {
	return knMulAdd(knMulAdd(knScale(p->lambda[0], p->n), p->lambda[1], p->t1), p->lambda[2], p->t2);
}

static knVec3 velocityAt(const knSweepPoint* p, const knSweepChunk* chunk, const knTwist* u) {
	const knTwist *a = &u[chunk->a], *b = &u[chunk->b];
	return knSub(knAdd(b->lin, knCross(b->ang, p->rB)), knAdd(a->lin, knCross(a->ang, p->rA)));
}

// J, of a body with velocity u.
static double kineticEnergy(const knTimeStep* step, int b, knTwist u) {
	knVec3 w = knInvRotate(step->state->pose[b].q, u.ang);
	return 0.5 * (step->model->mass[b] * knLengthSquared(u.lin) +
				  knDot(w, knMulMV(&step->model->inertiaLocal[b], w)));
}

// Whether places on a body, which moved in the step, have turned by more than their normals know.
static bool turnsFar(const knTimeStep* step, int b) {
	return step->blocks->h * knLength(step->blocks->u[b].ang) >= TURNING;
}

// --- mean velocities -----------------------------------------------------------------------------------------

static void addPoint(knTimeStep* step, const knSweepChunk* chunk, const knSweepPoint* p) {
	knVec3 j = impulseOf(p);
	knTwist *a = &step->blocks->impulse[chunk->a], *b = &step->blocks->impulse[chunk->b];
	a->lin = knSub(a->lin, j);
	a->ang = knSub(a->ang, knAdd(knCross(p->rA, j), p->rolling));
	b->lin = knAdd(b->lin, j);
	b->ang = knAdd(b->ang, knAdd(knCross(p->rB, j), p->rolling));
}

// Of one stage, -1: of all.
static void sumStage(knTimeStep* step, int stage) {
	for (int b = 0; b < step->blocks->count; ++b) {
		if (stage < 0 || step->stageOf[b] == stage) {
			step->blocks->impulse[b] = knZeroTwist();
		}
	}
	for (int i = 0; i < step->contacts->chunkCount; ++i) {
		const knSweepChunk* chunk = &step->contacts->chunks[i];
		if (isMeanChunk(step, chunk) && (stage < 0 || chunk->stage == stage)) {
			for (int k = chunk->first; k < chunk->first + chunk->count; ++k) {
				addPoint(step, chunk, &step->contacts->points[k]);
			}
		}
	}
}

static bool aimBodies(knTimeStep* step, int stage) {
	bool any = false;
	for (int b = 1; b < step->blocks->count; ++b) {
		if (step->stageOf[b] != stage || !isMean(step, b) ||
			!step->islands->linked[step->islands->group[b]]) {
			continue;
		}
		if (!step->turning[b]) {
			double way = step->blocks->h * knLength(step->blocks->u[b].lin);
			bool far = step->symmetric[b] ? way >= PASSING * step->model->radius[b]
										  : knStepBodies_Turn(step->blocks, b) >= TURNING;
			// what slides on another in free space has to keep its angular momentum
			step->turning[b] = far || !step->islands->anchored[step->islands->group[b]];
		}
		any = any || step->turning[b];
	}
	for (int b = 1; any && b < step->blocks->count; ++b) {
		if (step->stageOf[b] == stage && isMean(step, b)) {
			knStepBodies_Aim(step->blocks, step->model, step->state, b);
		}
	}
	return any;
}

// Points of a stage, or of islands that float freely in any (stage -1).
static void placePoints(knTimeStep* step, int stage) {
	const knStepBodies* blocks = step->blocks;
	for (int b = 0; b < blocks->count; ++b) {
		bool moves = step->stageOf[b] == stage || (stage < 0 && isMean(step, b)) ||
					 step->model->bodyKind[b] == KN_BODY_KINEMATIC;
		step->end[b] = moves ? knStepBodies_EndPose(blocks, step->state, b) : step->state->pose[b];
		step->turn[b] = knScale(blocks->h, blocks->u[b].ang);
	}
	for (int i = 0; i < step->contacts->chunkCount; ++i) {
		const knSweepChunk* chunk = &step->contacts->chunks[i];
		bool turns = step->turning[chunk->a] || step->turning[chunk->b];
		bool placed = stage >= 0 ? chunk->stage == stage && turns : turns && floats(step, chunk);
		for (int k = chunk->first; placed && k < chunk->first + chunk->count; ++k) {
			knContactGeometry_Mean(step->contacts, step->model, step->start, step->state->pose, step->end,
								   step->turn, k);
		}
	}
}

bool knTimeStep_Aim(knTimeStep* step, int stage) {
	sumStage(step, stage);
	if (!aimBodies(step, stage)) {
		return false;
	}
	placePoints(step, stage);
	// moments by the new arms
	sumStage(step, stage);
	aimBodies(step, stage);
	load(step, stage);
	return true;
}

static void aimTurning(knTimeStep* step) {
	for (int b = 1; b < step->blocks->count; ++b) {
		if (isMean(step, b) && step->turning[b]) {
			knStepBodies_Aim(step->blocks, step->model, step->state, b);
		}
	}
}

static bool anyFloats(const knTimeStep* step) {
	for (int i = 0; i < step->contacts->chunkCount; ++i) {
		if (floats(step, &step->contacts->chunks[i])) {
			return true;
		}
	}
	return false;
}

void knTimeStep_SumImpulses(knTimeStep* step) {
	sumStage(step, -1);
	aimTurning(step);
	// where centres go depends on the impulses alone: arms from there make the angular momentum of what floats exact
	if (anyFloats(step)) {
		placePoints(step, -1);
		sumStage(step, -1);
		aimTurning(step);
	}
}

void knTimeStep_AddChanges(knTimeStep* step, const knTwist* before) {
	const knStepBodies* blocks = step->blocks;
	for (int b = 1; b < blocks->count; ++b) {
		knTwist change = knSubT(blocks->u[b], before[b]);
		if (!isMean(step, b) || knDotT(change, change) == 0.0) {
			continue;
		}
		knMat33 inertia = knInverse33(&blocks->invInertia[b]);
		knTwist impulse =
			knMakeTwist(knMulMV(&inertia, change.ang), knScale(1.0 / blocks->invMass[b], change.lin));
		blocks->impulse[b] = knAddT(blocks->impulse[b], impulse);
		if (step->turning[b]) {
			knStepBodies_Aim(step->blocks, step->model, step->state, b);
		}
	}
}

// What kinematic bodies do to islands by the impulses of `points`, times `scale`, is taken from their work, J.
static void addKinematicWork(const knTimeStep* step, const knSweepPoint* points, const knTwist* u,
							 double scale, double* work) {
	for (int i = 0; i < step->contacts->chunkCount; ++i) {
		const knSweepChunk* chunk = &step->contacts->chunks[i];
		bool kinematicA = step->model->bodyKind[chunk->a] == KN_BODY_KINEMATIC;
		bool kinematicB = step->model->bodyKind[chunk->b] == KN_BODY_KINEMATIC;
		if (!isMeanChunk(step, chunk) || !(kinematicA || kinematicB)) {
			continue;
		}
		const knTwist v = u[kinematicA ? chunk->a : chunk->b];
		double sign = kinematicA ? -scale : scale;
		for (int k = chunk->first; k < chunk->first + chunk->count; ++k) {
			const knSweepPoint* p = &points[k];
			knVec3 j = impulseOf(p), r = kinematicA ? p->rA : p->rB;
			knVec3 moment = knAdd(knCross(r, j), p->rolling);
			work[islandOf(step, chunk)] += sign * (knDot(j, v.lin) + knDot(moment, v.ang));
		}
	}
}

// --- the guard -----------------------------------------------------------------------------------------------

// J by island: what the impulses do at the velocities of the step, or at the free ones. Kinematic bodies have their share.
static void sumWork(const knTimeStep* step, bool atFree, double* work) {
	const knStepBodies* blocks = step->blocks;
	const knTwist* u = atFree ? blocks->free : blocks->u;
	for (int b = 0; b < blocks->count; ++b) {
		work[b] = 0.0;
	}
	for (int b = 1; b < blocks->count; ++b) {
		if (isMean(step, b)) {
			bool solved = blocks->cayley[b] != KN_TURN_UNSOLVED;
			work[step->islands->group[b]] += solved ? knDotT(blocks->impulse[b], u[b]) : (double)INFINITY;
		}
	}
	addKinematicWork(step, step->contacts->points, u, 1.0, work);
}

// J by island, what may be work and is none.
static void findTolerances(const knTimeStep* step, const double* free, double* tolerance) {
	const double fall = weightSpeed(step);
	for (int b = 0; b < step->blocks->count; ++b) {
		tolerance[b] = WORK_OF_FREE * knAbs(free[b]);
	}
	for (int b = 1; b < step->blocks->count; ++b) {
		if (isMean(step, b)) {
			double kinetic = kineticEnergy(step, b, step->state->velocity[b]);
			tolerance[step->islands->group[b]] +=
				ENERGY_ROUND_OFF * (kinetic + step->model->mass[b] * fall * fall);
		}
	}
}

static void scaleIslands(knTimeStep* step, const double* share) {
	for (int b = 1; b < step->blocks->count; ++b) {
		double s = isMean(step, b) ? share[step->islands->group[b]] : 1.0;
		if (s < 1.0) {
			step->blocks->impulse[b] = knScaleT(s, step->blocks->impulse[b]);
			knStepBodies_Aim(step->blocks, step->model, step->state, b);
		}
	}
	for (int i = 0; i < step->contacts->chunkCount; ++i) {
		const knSweepChunk* chunk = &step->contacts->chunks[i];
		double s = isMeanChunk(step, chunk) ? share[islandOf(step, chunk)] : 1.0;
		for (int k = chunk->first; s < 1.0 && k < chunk->first + chunk->count; ++k) {
			knSweepPoint* p = &step->contacts->points[k];
			for (int c = 0; c < 3; ++c) {
				p->lambda[c] *= s;
			}
			p->rolling = knScale(s, p->rolling);
		}
	}
}

void knTimeStep_Finish(knTimeStep* step) {
	const int count = step->blocks->count;
	double *free = KN_SCRATCH(step->arena, double, count), *share = KN_SCRATCH(step->arena, double, count);
	if (step->arena->failed) {
		return;
	}
	sumWork(step, true, free);
	for (int b = 0; b < count; ++b) {
		free[b] = knIsFinite(free[b]) ? free[b] : 0.0;
	}
	findTolerances(step, free, step->tolerance);
	for (int round = 0; round <= SCALINGS + 1; ++round) {
		bool any = false;
		sumWork(step, false, step->sums);
		for (int b = 0; b < count; ++b) {
			share[b] = 1.0;
			// not a number: its turn has no solution
			if (step->sums[b] <= step->tolerance[b]) {
				continue;
			}
			bool finite = knIsFinite(step->sums[b]) && free[b] < 0.0;
			double first = finite ? -free[b] / (step->sums[b] - free[b]) : 0.0;
			share[b] = round == 0 ? first : (round <= SCALINGS ? SCALING : 0.0);
			step->guarded += round == 0;
			any = true;
		}
		if (!any) {
			break;
		}
		scaleIslands(step, share);
	}
}

// --- depths at the end -----------------------------------------------------------------------------------------

void knTimeStep_Depths(const knTimeStep* step) {
	const knFrame* pose = step->state->pose;
	for (int i = 0; i < step->contacts->chunkCount; ++i) {
		const knSweepChunk* chunk = &step->contacts->chunks[i];
		if (!isMeanChunk(step, chunk)) {
			continue;
		}
		bool turns = turnsFar(step, chunk->a) || turnsFar(step, chunk->b);
		for (int k = chunk->first; k < chunk->first + chunk->count; ++k) {
			knSweepPoint* p = &step->contacts->points[k];
			if (turns) {
				p->depth = knContactGeometry_At(step->contacts, step->model, step->start, pose, k).gap;
			}
			double leaving = knDot(p->n, velocityAt(p, chunk, step->state->velocity));
			bool leaves = step->bounced[k] || p->lambda[0] == 0.0;
			if (leaves && p->depth < 0.0 && p->depth + LEAVING_STEPS * step->blocks->h * leaving > 0.0) {
				p->depth = KN_ROW_OUT_OF_REACH;
			}
		}
	}
}

// --- solves on true velocities ---------------------------------------------------------------------------------

static void keepPoints(knTimeStep* step) {
	for (int k = 0; k < step->contacts->pointCount; ++k) {
		step->kept[k] = step->contacts->points[k];
	}
}

static void restorePoints(knTimeStep* step) {
	for (int k = 0; k < step->contacts->pointCount; ++k) {
		step->contacts->points[k] = step->kept[k];
	}
}

// Kinetic energy of islands by velocities [bodyCount].
static void sumEnergy(const knTimeStep* step, const knTwist* u, double* sums) {
	for (int b = 0; b < step->blocks->count; ++b) {
		sums[b] = 0.0;
	}
	for (int b = 1; b < step->blocks->count; ++b) {
		if (isMean(step, b)) {
			sums[step->islands->group[b]] += kineticEnergy(step, b, u[b]);
		}
	}
}

// --- landing -------------------------------------------------------------------------------------------------

// Whether an impulse that is found with the inertia of the start may gain energy with that of the end.
static bool isSlender(const knTimeStep* step, int b) {
	const knMat33 *I = &step->model->inertiaLocal[b], *inverse = &step->model->invInertiaLocal[b];
	double trace = I->cx.x + I->cy.y + I->cz.z, inverseTrace = inverse->cx.x + inverse->cy.y + inverse->cz.z;
	double turn = step->blocks->h * knLength(step->blocks->free[b].ang);
	double spread = trace * inverseTrace / 9.0 - 1.0;
	return spread > SLENDER || turn * turn * spread > SLENDER_GAIN;
}

// Does the point approach faster than its gap allows, and meet?
static bool arrives(const knTimeStep* step, const knSweepChunk* chunk, int k, double slow) {
	const knSweepPoint* p = &step->contacts->points[k];
	double before = knDot(p->n, velocityAt(p, chunk, step->state->velocity));
	// what was left open in a large group is not to be turned around either
	bool shaken = chunk->stage == step->solver.roughStage && step->loadedBefore[k] && before > slow;
	return before < -p->bias - slow || shaken;
}

// By island, into `sums`: 1: something arrives, 2: and it is slender.
static void findArrivals(const knTimeStep* step) {
	const double slow = STILL * weightSpeed(step);
	for (int b = 0; b < step->blocks->count; ++b) {
		step->sums[b] = 0.0;
	}
	for (int i = 0; i < step->contacts->chunkCount; ++i) {
		const knSweepChunk* chunk = &step->contacts->chunks[i];
		for (int k = chunk->first; isMeanChunk(step, chunk) && k < chunk->first + chunk->count; ++k) {
			if (arrives(step, chunk, k, slow)) {
				step->sums[islandOf(step, chunk)] = 1.0;
				break;
			}
		}
	}
	for (int b = 1; b < step->blocks->count; ++b) {
		int32_t island = step->islands->group[b];
		if (isMean(step, b) && step->sums[island] > 0.0 && isSlender(step, b)) {
			step->sums[island] = 2.0;
		}
	}
}

// Islands that are struck, of bodies that are not slender, take this step with velocities at its end: landing and step in
// one solve, with all that the stepper does to bring a blow to the ground.
static bool landCompact(knTimeStep* step, int stage) {
	bool any = false, slender = false;
	for (int b = 1; b < step->blocks->count; ++b) {
		int32_t island = step->islands->group[b];
		if (step->stageOf[b] != stage || !isMean(step, b) || step->sums[island] == 0.0) {
			continue;
		}
		if (step->sums[island] == 1.0) {
			knStepBodies_Restart(step->blocks, step->model, step->state, b, KN_WEIGHT_END);
			any = true;
		} else {
			slender = true;
		}
	}
	if (any) {
		load(step, stage);
	}
	return slender;
}

static bool landStage(knTimeStep* step, int stage) {
	const int count = step->blocks->count;
	for (int i = 0; i < step->contacts->chunkCount; ++i) {
		const knSweepChunk* chunk = &step->contacts->chunks[i];
		for (int k = chunk->first; k < chunk->first + chunk->count; ++k) {
			knSweepPoint* p = &step->contacts->points[k];
			p->lambda[0] = p->lambda[1] = p->lambda[2] = 0.0;
			p->rolling = knZero3();
			p->bias = step->acts[islandOf(step, chunk)] ? p->bias : KN_ROW_OUT_OF_REACH;
		}
	}
	for (int b = 0; b < count; ++b) {
		step->work[b] = step->state->velocity[b];
	}
	load(step, stage);
	if (step->failed || !step->solver.solve(step->solver.context, stage, step->work)) {
		return false;
	}
	sumEnergy(step, step->state->velocity, step->tolerance);
	sumEnergy(step, step->work, step->sums);
	addKinematicWork(step, step->contacts->points, step->work, 0.5, step->sums);
	for (int b = 1; b < count; ++b) {
		int32_t island = step->islands->group[b];
		if (isMean(step, b) && step->stageOf[b] == stage && step->acts[island] &&
			step->sums[island] <= (1.0 + ENERGY_ROUND_OFF) * step->tolerance[island]) {
			step->state->velocity[b] = step->work[b];
			knStepBodies_Restart(step->blocks, step->model, step->state, b, KN_WEIGHT_MEAN);
		}
	}
	for (int i = 0; i < step->contacts->chunkCount; ++i) {
		const knSweepChunk* chunk = &step->contacts->chunks[i];
		int32_t island = islandOf(step, chunk);
		bool taken =
			step->acts[island] && step->sums[island] <= (1.0 + ENERGY_ROUND_OFF) * step->tolerance[island];
		for (int k = chunk->first; chunk->stage == stage && taken && k < chunk->first + chunk->count; ++k) {
			// the solver has half of the inverse masses
			step->extra[k] = knMulAdd(step->extra[k], 0.5, impulseOf(&step->contacts->points[k]));
		}
	}
	return true;
}

bool knTimeStep_Land(knTimeStep* step) {
	findArrivals(step);
	for (int b = 0; b < step->blocks->count; ++b) {
		step->acts[b] = step->sums[b] == 2.0;
	}
	for (int stage = 0; stage < step->solver.stageCount; ++stage) {
		if (!landCompact(step, stage)) {
			continue;
		}
		keepPoints(step);
		bool solved = landStage(step, stage);
		restorePoints(step);
		if (!solved) {
			return false;
		}
		load(step, stage);
	}
	return true;
}

// --- settling ------------------------------------------------------------------------------------------------

static bool isIgnored(const knTimeStep* step, const knSweepChunk* chunk) {
	return step->ignored != NULL && (step->ignored[chunk->a] || step->ignored[chunk->b]);
}

static bool anyTurned(const knTimeStep* step, int stage) {
	for (int b = 1; b < step->blocks->count; ++b) {
		if (step->turning[b] && step->stageOf[b] == stage) {
			return true;
		}
	}
	return false;
}

// Points and answers of what has turned, at the end poses.
static void placeAtEnd(knTimeStep* step, int stage) {
	const knStepBodies* blocks = step->blocks;
	for (int b = 1; b < blocks->count; ++b) {
		if (step->turning[b] && step->stageOf[b] == stage) {
			knMat33 full = knRotateTensor(step->state->pose[b].q, &step->model->invInertiaLocal[b]);
			blocks->invInertia[b] = knScaleM(blocks->weight[b], &full);
		}
	}
	for (int i = 0; i < step->contacts->chunkCount; ++i) {
		const knSweepChunk* chunk = &step->contacts->chunks[i];
		bool turns = step->turning[chunk->a] || step->turning[chunk->b];
		for (int k = chunk->first; chunk->stage == stage && turns && k < chunk->first + chunk->count; ++k) {
			knContactGeometry_Place(step->contacts, step->model, step->start, step->state->pose, k);
		}
	}
}

// Does it stick, and did it carry load before? Then its error may stay for the most part. (Not on a body that is moved:
// the velocities of such bodies, which islands share, cannot be scaled by the share of one.)
static bool lasts(const knTimeStep* step, const knSweepChunk* chunk, int k) {
	const knSweepPoint* p = &step->contacts->points[k];
	const int bodies[2] = { chunk->a, chunk->b };
	for (int i = 0; i < 2; ++i) {
		const knTwist* v = &step->state->velocity[bodies[i]];
		if (step->model->bodyKind[bodies[i]] == KN_BODY_KINEMATIC && knDotT(*v, *v) > 0.0) {
			return false;
		}
	}
	double friction = sqrt(p->lambda[1] * p->lambda[1] + p->lambda[2] * p->lambda[2]);
	bool sticks = p->mu == 0.0 || friction < SLIDES * p->mu * p->lambda[0];
	return sticks && p->arm == 0.0 && step->loadedBefore[k];
}

// A large island next to still, on the ground: a solve would cost as much as the step. Its errors by island are in `sums`.
static bool isQuiet(const knTimeStep* step, int stage, int island) {
	return stage == step->solver.roughStage && step->islands->anchored[island] &&
		   step->sums[island] < STILL * weightSpeed(step);
}

// There, what ends the step with a velocity that it did not have in the mean has only turned it around.
static void stopFlips(knTimeStep* step, int stage) {
	for (int b = 1; b < step->blocks->count; ++b) {
		if (step->stageOf[b] != stage || !isMean(step, b) || !isQuiet(step, stage, step->islands->group[b])) {
			continue;
		}
		knTwist* v = &step->state->velocity[b];
		if (kineticEnergy(step, b, step->blocks->u[b]) < FLIPPED * kineticEnergy(step, b, *v)) {
			*v = step->blocks->u[b];
		}
	}
}

// By island: beta into `share`; the largest error of the stage, but for islands that are quiet.
static double findErrors(knTimeStep* step, int stage, double* share) {
	const knTwist* v = step->state->velocity;
	const double still = STILL * weightSpeed(step);
	double worst = 0.0;
	for (int b = 0; b < step->blocks->count; ++b) {
		share[b] = 1.0;
		step->sums[b] = 0.0;      // the largest error
		step->tolerance[b] = 1.0; // all last
	}
	for (int i = 0; i < step->contacts->chunkCount; ++i) {
		const knSweepChunk* chunk = &step->contacts->chunks[i];
		if (chunk->stage != stage || !isMeanChunk(step, chunk) || isIgnored(step, chunk)) {
			continue;
		}
		int32_t island = islandOf(step, chunk);
		for (int k = chunk->first; k < chunk->first + chunk->count; ++k) {
			const knSweepPoint* p = &step->contacts->points[k];
			if (p->lambda[0] <= 0.0) {
				continue;
			}
			knVec3 u = velocityAt(p, chunk, v);
			double across = p->mu > 0.0 ? knLength(u) : 0.0;
			across += p->arm * knDistance(v[chunk->a].ang, v[chunk->b].ang);
			across = knMin(across, weightSpeed(step));
			step->sums[island] = knMax(step->sums[island], knMax(knAbs(knDot(p->n, u)), across));
			step->tolerance[island] = lasts(step, chunk, k) ? step->tolerance[island] : 0.0;
		}
	}
	for (int b = 0; b < step->blocks->count; ++b) {
		share[b] = step->tolerance[b] > 0.0 && step->sums[b] > still ? LASTING_SHARE : 1.0;
		step->acts[b] =
			!isQuiet(step, stage, b) && step->sums[b] > step->solver.error(step->solver.context, stage);
		worst = step->acts[b] ? knMax(worst, step->sums[b]) : worst;
	}
	return worst;
}

static void prepareSettling(knTimeStep* step, int stage) {
	for (int i = 0; i < step->contacts->chunkCount; ++i) {
		const knSweepChunk* chunk = &step->contacts->chunks[i];
		for (int k = chunk->first; chunk->stage == stage && k < chunk->first + chunk->count; ++k) {
			knSweepPoint* p = &step->contacts->points[k];
			bool settles = p->lambda[0] > 0.0 && !isIgnored(step, chunk) && step->acts[islandOf(step, chunk)];
			p->bias = settles ? 0.0 : KN_ROW_OUT_OF_REACH;
			for (int c = 0; c < 3; ++c) {
				p->lambda[c] *= 2.0; // the solver has half of the inverse masses
			}
			p->rolling = knScale(2.0, p->rolling);
		}
	}
}

static bool settleStage(knTimeStep* step, int stage, double* share) {
	const int count = step->blocks->count;
	knTwist* velocity = step->state->velocity;
	const bool turned = anyTurned(step, stage);
	if (turned) {
		keepPoints(step);
		placeAtEnd(step, stage);
	}
	double worst = findErrors(step, stage, share);
	stopFlips(step, stage);
	if (worst == 0.0) {
		if (turned) {
			restorePoints(step);
		}
		return true;
	}
	if (!turned) {
		keepPoints(step);
	}
	prepareSettling(step, stage);
	for (int b = 0; b < count; ++b) {
		int32_t island = step->islands->group[b];
		step->work[b] = knScaleT(island >= 0 ? share[island] : 1.0, velocity[b]);
	}
	load(step, stage);
	bool solved = !step->failed && step->solver.solve(step->solver.context, stage, step->work);
	for (int b = 0; b < count; ++b) {
		int32_t island = step->islands->group[b];
		knTwist rest = knScaleT(island >= 0 ? 1.0 - share[island] : 0.0, velocity[b]);
		step->work[b] = knAddT(step->work[b], rest);
	}
	sumEnergy(step, velocity, step->tolerance);
	sumEnergy(step, step->work, step->sums);
	addKinematicWork(step, step->contacts->points, velocity, 0.5, step->sums);
	addKinematicWork(step, step->kept, velocity, -1.0, step->sums);
	for (int b = 1; solved && b < count; ++b) {
		int32_t island = step->islands->group[b];
		bool ignored = step->ignored != NULL && step->ignored[b];
		if (isMean(step, b) && step->stageOf[b] == stage && !ignored && step->acts[island] &&
			step->sums[island] <= (1.0 + ENERGY_ROUND_OFF) * step->tolerance[island]) {
			velocity[b] = step->work[b];
		}
	}
	for (int i = 0; i < step->contacts->chunkCount; ++i) {
		const knSweepChunk* chunk = &step->contacts->chunks[i];
		int32_t island = islandOf(step, chunk);
		bool taken =
			step->acts[island] && step->sums[island] <= (1.0 + ENERGY_ROUND_OFF) * step->tolerance[island];
		for (int k = chunk->first; chunk->stage == stage && taken && k < chunk->first + chunk->count; ++k) {
			knVec3 half = knScale(0.5, impulseOf(&step->contacts->points[k]));
			step->extra[k] = knAdd(step->extra[k], knSub(half, impulseOf(&step->kept[k])));
		}
	}
	restorePoints(step);
	return solved;
}

bool knTimeStep_Settle(knTimeStep* step) {
	double* share = KN_SCRATCH(step->arena, double, step->blocks->count);
	if (step->arena->failed) {
		return false;
	}
	for (int stage = 0; stage < step->solver.stageCount; ++stage) {
		if (!settleStage(step, stage, share)) {
			return false;
		}
	}
	return true;
}

double knTimeStep_AddExtra(const knTimeStep* step) {
	double before = knContactRows_KinematicWork(step->contacts, step->model, step->blocks->u);
	for (int k = 0; k < step->contacts->pointCount; ++k) {
		knVec3* impulse = &step->contacts->contacts[step->contacts->anchors[k].contact].impulse;
		*impulse = knAdd(*impulse, step->extra[k]);
	}
	return knContactRows_KinematicWork(step->contacts, step->model, step->blocks->u) - before;
}
