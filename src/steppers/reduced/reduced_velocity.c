// Velocities at a fixed pose: those nearest to wanted ones, in the metric of the masses, that joints and rows allow.
//
//   least  1/2 sum of (V - V*)^T I (V - V*)  over v,  V = J v,  with the rows' laws
//
// Four uses: velocities that users changed become coordinates'; what overlaps is moved out of each other; what arrives at a
// contact or limit stops or bounces before the step; and after it, the bodies' end velocities (which fit the joints to
// second order only, and have the error of lasting contacts with a sign that flips) become those of the coordinates.
#include "steppers/reduced/reduced_step.h"

#include "model/control.h"

#include <string.h>

#define VELOCITY_ROUNDS 12
#define VELOCITY_TOLERANCE 1e-11 // m/s
#define BOUNCE_STEPS 2.0         // an approach that gravity makes in so many steps does not bounce
#define BOUNCE_ROUNDS 40
#define BOUNCE_TOLERANCE 1e-13 // m/s, of bounces, which repeat
#define ARRIVAL_SHARE 5e-4     // of that approach: less is left to the step
#define ARRIVAL_TOLERANCE 1e-9 // m/s
#define OVERLAP 1e-4           // m, that may stay
#define BEYOND 1e-6            // m or rad, that a joint may stay beyond a limit
#define REACH 3.0              // times what is wrong, that a pose moves to put it right
#define PUSH_ROUNDS 6
#define PUSH_TOLERANCE 1e-5 // m, of what many contacts are moved out
#define CLOSING_ROUNDS 4
#define CLOSING_TURN 0.3  // rad of a link, in one motion that closes loops
#define LASTING_SHARE 0.2 // of a lasting contact's error that a step takes out
#define QUIET_SHARE 1e-3  // of the speed that gravity gives in a step: taken out at once

typedef struct Velocity {
	knReducedProblem problem;
	const knTwist* wanted; // [bodyCount]
	knTwist* now;          // [bodyCount]
	const knFrame* poses;
	const knTreeMotion* columns;
	knMat33* inertia; // [count] world axes
} Velocity;

static void refresh(knReducedProblem* problem) {
	Velocity* velocity = (Velocity*)problem;
	knReducedStep* step = problem->step;
	const knForest* forest = &step->forest;
	knForest_Velocities(forest, velocity->columns, velocity->poses, step->v, velocity->now);
	for (int i = 0; i < forest->count; ++i) {
		int b = forest->links[i].body;
		knTwist off = knSubT(velocity->now[b], velocity->wanted[b]);
		knVec3 ang = knMulMV(&velocity->inertia[i], off.ang);
		knVec3 lin = knScale(step->context->model->mass[b], off.lin);
		problem->own[i] = (knTreeForce){ knLanes_FromVec(ang), knLanes_FromVec(lin) };
	}
}

static void advance(knReducedProblem* problem, double scale) {
	for (int k = 0; k < problem->step->forest.nv; ++k) {
		problem->step->v[k] += scale * problem->y[k];
	}
}

static bool makeVelocity(Velocity* velocity, knReducedStep* step, const knFrame* poses,
						 const knTreeMotion* columns, const knLanes* arms, const knTwist* wanted) {
	knArena* arena = step->context->arena;
	const knForest* forest = &step->forest;
	const knModel* model = step->context->model;
	if (!knReducedProblem_Make(&velocity->problem, step, 1.0)) {
		return false;
	}
	velocity->wanted = wanted;
	velocity->poses = poses;
	velocity->columns = columns;
	velocity->now = step->now;
	velocity->inertia = KN_SCRATCH(arena, knMat33, forest->count);
	knTreeForce* rows = KN_SCRATCH(arena, knTreeForce, forest->nv);
	if (arena->failed) {
		return false;
	}
	const knLanes none = knLanes_All(0.0);
	for (int i = 0; i < forest->count; ++i) {
		int b = forest->links[i].body;
		double m = model->mass[b];
		velocity->inertia[i] = knRotateTensor(poses[b].q, &model->inertiaLocal[b]);
		velocity->problem.base[i] = (knForestBlock){
			.aa = knLanes_FromMat(&velocity->inertia[i]),
			.al = { none, none, none },
			.la = { none, none, none },
			.ll = { knLanes_Make(m, 0.0, 0.0), knLanes_Make(0.0, m, 0.0), knLanes_Make(0.0, 0.0, m) },
		};
	}
	for (int k = 0; k < forest->nv; ++k) {
		rows[k] = (knTreeForce){ columns[k].ang, columns[k].lin };
	}
	knForestSystem* system = &velocity->problem.system;
	system->S = columns;
	system->R = rows;
	system->end = system->mean = arms;
	velocity->problem.rates = velocity->now;
	velocity->problem.refresh = refresh;
	velocity->problem.advance = advance;
	velocity->problem.tolerance = VELOCITY_TOLERANCE;
	return true;
}

bool knReduced_ReadVelocities(knReducedStep* step, const knTwist* wanted, double* v) {
	Velocity velocity = { 0 };
	double* kept = step->v;
	step->v = v;
	bool done = makeVelocity(&velocity, step, step->start, step->columns0, step->arm0, wanted);
	for (int k = 0; k < step->forest.nv; ++k) {
		v[k] = 0.0;
	}
	done = done && knReducedProblem_Solve(&velocity.problem, 1);
	step->v = kept;
	return done;
}

// Inertias that turn with the joints' axes alone.
static void addArmatures(const knReducedStep* step, double* B) {
	const knModel* model = step->context->model;
	for (int k = 0; k < step->forest.bCount; ++k) {
		B[k] = 0.0;
	}
	for (int i = 0; i < step->forest.count; ++i) {
		const knForestLink* link = &step->forest.links[i];
		for (int k = 0; k < link->nv && link->joint >= 0; ++k) {
			const knAxisDrive* drive = knState_Drive(step->context->state, model, link->joint, k);
			B[link->bOffset + k * link->nv + k] =
				model->joints[link->joint].axis[k].armature + (drive != NULL ? drive->inertia : 0.0);
		}
	}
}

// The masses at the start, factored.
static bool factorMasses(Velocity* velocity, knReducedStep* step) {
	if (!makeVelocity(velocity, step, step->start, step->columns0, step->arm0, step->before)) {
		return false;
	}
	addArmatures(step, velocity->problem.B);
	velocity->problem.system.B = velocity->problem.B;
	for (int i = 0; i < step->forest.count; ++i) {
		velocity->problem.system.block[i] = velocity->problem.base[i];
	}
	knForestSystem_Factor(&velocity->problem.system);
	return true;
}

// kOwn from factored masses.
static void readResponses(knReducedStep* step, const knForestSystem* system) {
	for (int i = 0; i < step->forest.count; ++i) {
		const knForestLink* link = &step->forest.links[i];
		for (int k = 0; k < link->nv; ++k) {
			step->kOwn[link->vOffset + k] = knMax(system->D[link->bOffset + k * (link->nv + 1)], 0.0);
		}
	}
	step->responded = true;
}

// Links that something touches, and all above them.
static void markTouched(const knReducedStep* step, bool* touched) {
	for (int k = 0; k < step->list.pointCount; ++k) {
		const int links[2] = { step->forest.linkOf[step->list.anchors[k].bodyA],
							   step->forest.linkOf[step->list.anchors[k].bodyB] };
		for (int side = 0; side < 2; ++side) {
			for (int i = links[side]; i >= 0 && !touched[i]; i = step->forest.links[i].parent) {
				touched[i] = true;
			}
		}
	}
}

bool knReduced_LinkMobilities(knReducedStep* step) {
	Velocity velocity = { 0 };
	bool* touched = KN_SCRATCH_ZERO(step->context->arena, bool, step->forest.count);
	step->mobility = KN_SCRATCH(step->context->arena, double, 36 * step->forest.count);
	if (touched == NULL || step->mobility == NULL || !factorMasses(&velocity, step)) {
		return false;
	}
	markTouched(step, touched);
	knForestSystem_Mobilities(&velocity.problem.system, touched, step->mobility);
	readResponses(step, &velocity.problem.system);
	return true;
}

bool knReduced_JointResponses(knReducedStep* step) {
	Velocity velocity = { 0 };
	if (step->responded) {
		return true;
	}
	if (!factorMasses(&velocity, step)) {
		return false;
	}
	readResponses(step, &velocity.problem.system);
	return true;
}

// --- rows ------------------------------------------------------------------------------------------------

static double normalRate(const knReducedContact* contact, const knTwist* velocities) {
	const knTwist *a = &velocities[contact->bodyA], *b = &velocities[contact->bodyB];
	knVec3 onA = knAdd(a->lin, knCross(a->ang, contact->armA));
	return knDot(contact->n, knSub(knAdd(b->lin, knCross(b->ang, contact->armB)), onA));
}

static void armsAt(knReducedStep* step, knReducedContact* contact, const knFrame* poses) {
	knQuat turnA = knMulQ(poses[contact->bodyA].q, knConj(step->start[contact->bodyA].q));
	knQuat turnB = knMulQ(poses[contact->bodyB].q, knConj(step->start[contact->bodyB].q));
	knVec3 roundA = knReduced_RoundAfter(contact->roundA, contact->axisA, contact->n, turnA);
	knVec3 roundB = knReduced_RoundAfter(contact->roundB, contact->axisB, knNeg(contact->n), turnB);
	contact->armA = knAdd(knRotate(turnA, contact->coreA), roundA);
	contact->armB = knAdd(knRotate(turnB, contact->coreB), roundB);
	if (contact->linkA >= 0 && contact->linkB >= 0) {
		knVec3 apart = knScale(0.5, knSub(knAdd(poses[contact->bodyB].p, contact->armB),
										  knAdd(poses[contact->bodyA].p, contact->armA)));
		contact->armA = knAdd(contact->armA, apart);
		contact->armB = knSub(contact->armB, apart);
	}
	contact->byTurnA = knSkew(knNeg(contact->armA));
	contact->byTurnB = knSkew(knNeg(contact->armB));
}

// Rows of joints as a phase without time has them: limits and locked directions only.
static void chooseRows(knReducedStep* step, bool timeless) {
	for (int k = 0; k < step->axisCount; ++k) {
		knReducedAxisRow* row = &step->axes[k];
		row->off = timeless && !(row->room < (double)INFINITY) && row->law != KN_LAW_CARRY;
	}
	for (int k = 0; k < step->pairCount; ++k) {
		knReducedPairRow* row = &step->pairs[k];
		row->off = timeless && !row->locked && !(row->room < (double)INFINITY);
	}
}

// Multipliers of all rows, kept while another problem uses them.
typedef struct Kept {
	double *contacts, *axes, *pairs;
} Kept;

static bool keepMultipliers(knReducedStep* step, Kept* kept) {
	knArena* arena = step->context->arena;
	kept->contacts = KN_SCRATCH(arena, double, 3 * step->contactCount);
	kept->axes = KN_SCRATCH(arena, double, step->axisCount);
	kept->pairs = KN_SCRATCH(arena, double, step->pairCount);
	if (arena->failed) {
		return false;
	}
	for (int k = 0; k < step->contactCount; ++k) {
		for (int i = 0; i < 3; ++i) {
			kept->contacts[3 * k + i] = step->contacts[k].lambda[i];
		}
	}
	for (int k = 0; k < step->axisCount; ++k) {
		kept->axes[k] = step->axes[k].lambda;
		step->axes[k].lambda = 0.0;
	}
	for (int k = 0; k < step->pairCount; ++k) {
		kept->pairs[k] = step->pairs[k].lambda;
		step->pairs[k].lambda = 0.0;
	}
	return true;
}

static void returnMultipliers(knReducedStep* step, const Kept* kept) {
	for (int k = 0; k < step->contactCount; ++k) {
		knReducedContact* contact = &step->contacts[k];
		contact->shift = 0.0;
		contact->disc = -1.0;
		contact->off = false;
		for (int i = 0; i < 3; ++i) {
			contact->lambda[i] = kept->contacts[3 * k + i];
			contact->offset[i] = 0.0;
		}
	}
	for (int k = 0; k < step->axisCount; ++k) {
		step->axes[k].lambda = kept->axes[k];
		step->axes[k].offset = 0.0;
	}
	for (int k = 0; k < step->pairCount; ++k) {
		step->pairs[k].lambda = kept->pairs[k];
		step->pairs[k].offset = 0.0;
	}
	chooseRows(step, false);
}

// --- impacts ---------------------------------------------------------------------------------------------

typedef enum Arrival { NOTHING_ARRIVES, SOMETHING_LANDS, SOMETHING_BOUNCES } Arrival;

static void pushFreely(const knReducedStep* step, knTwist* wanted);

// Into `after`: velocities as forces and joints make them in the part, without rows. False: no memory.
static bool fallFreely(knReducedStep* step) {
	double* v = KN_SCRATCH(step->context->arena, double, step->forest.nv);
	if (v == NULL) {
		return false;
	}
	pushFreely(step, step->wanted);
	if (!knReduced_ReadVelocities(step, step->wanted, v)) {
		return false;
	}
	for (int b = 0; b < step->context->model->bodyCount; ++b) {
		step->after[b] = step->forest.linkOf[b] < 0 ? step->before[b] : step->after[b];
	}
	knForest_Velocities(&step->forest, step->columns0, step->start, v, step->after);
	return true;
}

static bool mayBounce(const knReducedStep* step, double slow) {
	bool any = false;
	for (int k = 0; k < step->contactCount && !any; ++k) {
		const knReducedContact* contact = &step->contacts[k];
		any = normalRate(contact, step->before) < -slow &&
			  knContactRows_Restitution(&step->list, &step->input, contact->point) > 0.0;
	}
	return any;
}

// The speed with which a contact leaves: it bounces where it is, above the surface, with the energy that it would have there
// after a bounce at the surface. 0: not even that much.
static double leavingSpeed(double rate, double e, double gap, double fall) {
	double energy = e * e * rate * rate + 2.0 * (1.0 - e * e) * fall * knMax(gap, 0.0);
	return energy > 0.0 ? sqrt(energy) : 0.0;
}

// Bounces that would not reach up to where the contact is now happen at the end of the part, on the surface.
static double speedAtSurface(double rate, double gap, double fall) {
	return sqrt(knMax(rate * rate - 2.0 * fall * knMax(gap, 0.0), 0.0));
}

// Targets of the rows. What bounces does so by itself, before the rest lands.
static Arrival findArrivals(knReducedStep* step, bool bounces) {
	double h = step->h, slow = BOUNCE_STEPS * h * knLength(step->context->state->header->gravity);
	bool lands = false, any = false, falls = mayBounce(step, slow) && fallFreely(step);
	for (int k = 0; k < step->contactCount; ++k) {
		knReducedContact* contact = &step->contacts[k];
		double rate = normalRate(contact, step->before), room = -knMax(contact->gap, 0.0) / h;
		double e = knContactRows_Restitution(&step->list, &step->input, contact->point);
		double fall = falls ? (normalRate(contact, step->after) - rate) / h : 0.0;
		double margin = knMax(ARRIVAL_SHARE * slow, ARRIVAL_TOLERANCE);
		bool meets = rate < room - margin;
		bool reaches = rate < -slow && rate + 0.5 * h * knMin(fall, 0.0) < room - margin;
		double leaves = reaches ? leavingSpeed(rate, e, contact->gap, fall) : 0.0;
		contact->rebound = reaches && leaves == 0.0 ? e * speedAtSurface(rate, contact->gap, fall) : 0.0;
		contact->off = !(bounces && leaves > 0.0);
		contact->target = contact->off ? room : leaves;
		any = any || !contact->off;
		lands = lands || meets;
		step->approach = meets ? knMax(step->approach, -rate) : step->approach;
	}
	for (int k = 0; k < step->axisCount; ++k) {
		const knReducedAxisRow* row = &step->axes[k];
		const knForestLink* link = &step->forest.links[row->link];
		double rate = 0.0;
		for (int i = 0; i < link->nv; ++i) {
			rate += row->coef[i] * step->v0[link->vOffset + i];
		}
		lands = lands || (row->room < (double)INFINITY && rate < row->target - ARRIVAL_TOLERANCE);
	}
	return any ? SOMETHING_BOUNCES : lands ? SOMETHING_LANDS : NOTHING_ARRIVES;
}

// What armature keeps: the joints' rates at the start.
static void carryRates(knReducedStep* step) {
	for (int k = 0; k < step->axisCount; ++k) {
		knReducedAxisRow* row = &step->axes[k];
		const knForestLink* link = &step->forest.links[row->link];
		row->target = row->law == KN_LAW_CARRY ? 0.0 : row->target;
		for (int i = 0; i < link->nv && row->law == KN_LAW_CARRY; ++i) {
			row->target += row->coef[i] * step->v0[link->vOffset + i];
		}
	}
}

// One impact of all rows that take part: new velocities at the start.
static bool strike(knReducedStep* step, bool landing) {
	Velocity velocity = { 0 };
	if (!makeVelocity(&velocity, step, step->start, step->columns0, step->arm0, step->before)) {
		return false;
	}
	for (int k = 0; k < step->contactCount; ++k) {
		knReducedContact* contact = &step->contacts[k];
		contact->off = contact->off && !landing;
		for (int i = 0; i < 3; ++i) {
			contact->lambda[i] = 0.0;
		}
	}
	for (int k = 0; k < step->axisCount; ++k) {
		knReducedAxisRow* row = &step->axes[k];
		row->lambda = 0.0;
		row->off = row->law != KN_LAW_CARRY && !(landing && row->room < (double)INFINITY);
	}
	for (int k = 0; k < step->pairCount; ++k) {
		step->pairs[k].lambda = 0.0;
	}
	for (int k = 0; k < step->forest.nv; ++k) {
		step->v[k] = step->v0[k];
	}
	carryRates(step);
	velocity.problem.useContacts = velocity.problem.usePairs = true;
	velocity.problem.useAxes = true;
	velocity.problem.rowTolerance = landing ? velocity.problem.rowTolerance : BOUNCE_TOLERANCE;
	knReducedProblem_Solve(&velocity.problem, VELOCITY_ROUNDS);
	for (int k = 0; k < step->forest.nv; ++k) {
		step->v0[k] = step->v[k];
	}
	knForest_Velocities(&step->forest, step->columns0, step->start, step->v0, step->before);
	for (int k = 0; k < step->contactCount; ++k) {
		knReducedContact* contact = &step->contacts[k];
		for (int i = 0; i < 3 && !contact->off; ++i) {
			contact->impact[i] += contact->lambda[i];
		}
	}
	return true;
}

bool knReduced_Impact(knReducedStep* step, bool landing) {
	Kept kept;
	for (int k = 0; k < step->contactCount; ++k) {
		armsAt(step, &step->contacts[k], step->start);
	}
	step->approach = 0.0;
	step->lands = step->drifts = false;
	Arrival arrival = findArrivals(step, true);
	bool done = true;
	if (arrival != NOTHING_ARRIVES) {
		if (!keepMultipliers(step, &kept)) {
			return false;
		}
		chooseRows(step, true);
		knReduced_PlacePairs(step, step->start, step->start);
		for (int i = 0; i < BOUNCE_ROUNDS && done && arrival == SOMETHING_BOUNCES; ++i) {
			done = strike(step, false);
			arrival = findArrivals(step, i < BOUNCE_ROUNDS - 1);
		}
		step->lands = arrival == SOMETHING_LANDS;
		done = done && (!step->lands || !landing || strike(step, true));
		returnMultipliers(step, &kept);
	}
	for (int k = 0; k < step->contactCount; ++k) {
		step->contacts[k].off = false;
		step->contacts[k].target = -knMax(step->contacts[k].gap, 0.0) / step->h;
	}
	carryRates(step);
	return done;
}

// --- overlaps --------------------------------------------------------------------------------------------

// Rows of a motion that takes overlaps out: contacts without friction, limits and locked directions. The deepest of
// overlaps and of what is beyond limits, m or rad; 0: none.
static double findOverlaps(knReducedStep* step) {
	double worst = 0.0;
	for (int k = 0; k < step->contactCount; ++k) {
		knReducedContact* contact = &step->contacts[k];
		armsAt(step, contact, step->start);
		double deep = -contact->gap - OVERLAP;
		contact->target = (deep > 0.0 ? deep : -knMax(contact->gap, 0.0)) / step->h;
		worst = deep > 0.0 ? knMax(worst, deep + OVERLAP) : worst;
	}
	for (int k = 0; k < step->axisCount; ++k) {
		knReducedAxisRow* row = &step->axes[k];
		double beyond = row->room < (double)INFINITY ? -row->room - BEYOND : 0.0;
		row->target = beyond > 0.0 ? -row->room / step->h : row->target;
		worst = beyond > 0.0 ? knMax(worst, -row->room) : worst;
	}
	return worst;
}

// Loop joints that are open are to close at a rate, 1/s.
static void aimLoops(knReducedStep* step, double rate) {
	for (int k = 0; k < step->pairCount; ++k) {
		if (step->pairs[k].locked) {
			step->pairs[k].target = -rate * step->pairs[k].error;
		}
	}
}

// Kinematic bodies as they stand at the start, while overlaps are taken out; else as they move.
static void holdKinematics(knReducedStep* step, bool hold) {
	for (int b = 0; b < step->context->model->bodyCount; ++b) {
		if (step->context->model->bodyKind[b] == KN_BODY_KINEMATIC) {
			step->now[b] = hold ? knZeroTwist() : step->context->state->velocity[b];
			step->pose[b] = step->start[b];
		}
	}
}

// Rows for a motion of poses alone.
static void startPush(knReducedStep* step) {
	chooseRows(step, true);
	for (int i = 0; i < step->forest.count; ++i) {
		step->wanted[step->forest.links[i].body] = knZeroTwist();
	}
	for (int k = 0; k < step->axisCount; ++k) {
		step->axes[k].off = step->axes[k].off || step->axes[k].law == KN_LAW_CARRY;
	}
	for (int k = 0; k < step->contactCount; ++k) {
		knReducedContact* contact = &step->contacts[k];
		contact->lambda[0] = contact->lambda[1] = contact->lambda[2] = 0.0;
		contact->disc = 0.0;
	}
	memset(step->v, 0, (size_t)step->forest.nv * sizeof(double));
	knReduced_PlacePairs(step, step->start, step->start);
}

// What is contradictory must not throw bodies about: no link moves farther than REACH times what is wrong.
static void boundMotion(knReducedStep* step, const knTwist* now, double wrong) {
	double most = 0.0;
	for (int i = 0; i < step->forest.count; ++i) {
		int b = step->forest.links[i].body;
		double way = knLength(now[b].lin) + step->context->model->radius[b] * knLength(now[b].ang);
		most = knMax(most, step->h * way);
	}
	double share = most > REACH * wrong ? REACH * wrong / most : 1.0;
	for (int k = 0; k < step->forest.nv; ++k) {
		step->v[k] *= share;
	}
	for (int k = 0; k < step->contactCount && share < 1.0; ++k) {
		knReducedContact* contact = &step->contacts[k];
		contact->r[0] = share * (contact->r[0] + contact->target) - contact->target;
	}
	for (int k = 0; k < step->axisCount && share < 1.0; ++k) {
		knReducedAxisRow* row = &step->axes[k];
		row->r = share * (row->r + row->target) - row->target;
	}
	for (int k = 0; k < step->pairCount && share < 1.0; ++k) {
		knReducedPairRow* row = &step->pairs[k];
		row->r = share * (row->r + row->target) - row->target;
	}
}

// Poses and rows after a motion v over h; velocities stay.
static void movePoses(knReducedStep* step) {
	memcpy(step->q, step->q0, (size_t)step->forest.nq * sizeof(double));
	knForest_Advance(&step->forest, step->q, step->v, step->h);
	knForest_Place(&step->forest, step->q, step->pose);
	memcpy(step->v, step->v0, (size_t)step->forest.nv * sizeof(double));
	for (int k = 0; k < step->contactCount; ++k) {
		step->contacts[k].moved = step->h * (step->contacts[k].r[0] + step->contacts[k].target);
	}
	for (int k = 0; k < step->axisCount; ++k) {
		knReducedAxisRow* row = &step->axes[k];
		row->moved = row->off ? 0.0 : step->h * (row->r + row->target);
	}
	for (int k = 0; k < step->pairCount; ++k) {
		knReducedPairRow* row = &step->pairs[k];
		row->moved = row->off || row->locked ? 0.0 : step->h * (row->r + row->target);
	}
}

bool knReduced_PushOut(knReducedStep* step, bool* moved) {
	Kept kept;
	Velocity velocity = { 0 };
	double wrong = findOverlaps(step);
	*moved = wrong > 0.0;
	if (!*moved) {
		return true;
	}
	if (!keepMultipliers(step, &kept) ||
		!makeVelocity(&velocity, step, step->start, step->columns0, step->arm0, step->wanted)) {
		return false;
	}
	holdKinematics(step, true);
	startPush(step);
	velocity.problem.smooth = true;
	if (step->contactCount > KN_REDUCED_FEW) {
		velocity.problem.rowTolerance = PUSH_TOLERANCE / step->h;
	}
	velocity.problem.useContacts = velocity.problem.useAxes = velocity.problem.usePairs = true;
	knReducedProblem_Solve(&velocity.problem, PUSH_ROUNDS);
	boundMotion(step, velocity.now, wrong);
	movePoses(step);
	holdKinematics(step, false);
	returnMultipliers(step, &kept);
	return !step->context->arena->failed;
}

// --- the step that always has a solution -----------------------------------------------------------------

// Velocities of bodies by themselves, with the part's forces; spins as they are.
static void pushFreely(const knReducedStep* step, knTwist* wanted) {
	const knModel* model = step->context->model;
	const knState* state = step->context->state;
	for (int i = 0; i < step->forest.count; ++i) {
		int b = step->forest.links[i].body;
		knVec3 a = knMulAdd(knScale(model->gravityScale[b], state->header->gravity), model->invMass[b],
							state->force[b].lin);
		knMat33 inverse = knRotateTensor(step->start[b].q, &model->invInertiaLocal[b]);
		wanted[b] =
			knMakeTwist(knMulAdd(step->before[b].ang, step->h, knMulMV(&inverse, state->force[b].ang)),
						knMulAdd(step->before[b].lin, step->h, a));
	}
}

bool knReduced_Drift(knReducedStep* step) {
	Velocity velocity = { 0 };
	const knForest* forest = &step->forest;
	pushFreely(step, step->wanted);
	if (!makeVelocity(&velocity, step, step->start, step->columns0, step->arm0, step->wanted)) {
		return false;
	}
	for (int k = 0; k < step->contactCount; ++k) {
		knReducedContact* contact = &step->contacts[k];
		armsAt(step, contact, step->start);
	}
	knReduced_PlacePairs(step, step->start, step->start);
	aimLoops(step, 1.0 / step->h);
	memcpy(step->v, step->v0, (size_t)forest->nv * sizeof(double));
	velocity.problem.useContacts = velocity.problem.useAxes = velocity.problem.usePairs = true;
	velocity.problem.timed = velocity.problem.smooth = true;
	knReducedProblem_Solve(&velocity.problem, VELOCITY_ROUNDS);
	aimLoops(step, 0.0);
	memcpy(step->q, step->q0, (size_t)forest->nq * sizeof(double));
	knForest_Advance(forest, step->q, step->v, step->h);
	knForest_Place(forest, step->q, step->pose);
	knForest_Columns(forest, step->q, step->pose, step->columns, step->c);
	for (int i = 0; i < forest->count; ++i) {
		const knForestLink* link = &forest->links[i];
		int b = link->body;
		knQuat turn = knMulQ(step->pose[b].q, knConj(step->start[b].q));
		knTwist now = velocity.now[b];
		step->mean[b] = now;
		step->after[b] = knMakeTwist(knRotate(turn, now.ang), now.lin);
		step->armEnd[i] = knLanes_FromVec(knSub(step->pose[b].p, step->pose[link->parentBody].p));
		step->armMean[i] = step->arm0[i];
		const knTreeForce* F = &velocity.problem.total[i];
		step->reaction[i] = knMakeTwist(knLanes_ToVec(F->n), knLanes_ToVec(F->f));
	}
	knReduced_SumWork(step);
	step->drifts = true;
	return !step->context->arena->failed;
}

// --- closing ---------------------------------------------------------------------------------------------

bool knReduced_CloseLoops(knReducedStep* step) {
	Velocity velocity = { 0 };
	for (int i = 0; i < step->forest.count; ++i) {
		step->wanted[step->forest.links[i].body] = knZeroTwist();
	}
	if (!makeVelocity(&velocity, step, step->start, step->columns0, step->arm0, step->wanted)) {
		return false;
	}
	chooseRows(step, true);
	for (int k = 0; k < step->pairCount; ++k) {
		step->pairs[k].off = !step->pairs[k].locked;
		step->pairs[k].lambda = 0.0;
	}
	aimLoops(step, 1.0 / step->h);
	memset(step->v, 0, (size_t)step->forest.nv * sizeof(double));
	velocity.problem.usePairs = true;
	knReducedProblem_Solve(&velocity.problem, CLOSING_ROUNDS);
	double turn = 0.0;
	for (int i = 0; i < step->forest.count; ++i) {
		turn = knMax(turn, step->h * knLength(velocity.now[step->forest.links[i].body].ang));
	}
	double share = turn > CLOSING_TURN ? CLOSING_TURN / turn : 1.0;
	knForest_Advance(&step->forest, step->q0, step->v, share * step->h);
	knForest_Place(&step->forest, step->q0, step->start);
	knForest_Columns(&step->forest, step->q0, step->start, step->columns0, step->c0);
	for (int i = 0; i < step->forest.count; ++i) {
		const knForestLink* link = &step->forest.links[i];
		step->arm0[i] = knLanes_FromVec(knSub(step->start[link->body].p, step->start[link->parentBody].p));
	}
	return !step->context->arena->failed;
}

// --- after the step --------------------------------------------------------------------------------------

// Loaded contacts: their error goes, a part of it where they last; friction within what the step allowed.
static bool loadContacts(knReducedStep* step) {
	double quiet = QUIET_SHARE * step->h * knLength(step->context->state->header->gravity);
	bool any = false;
	for (int k = 0; k < step->contactCount; ++k) {
		knReducedContact* contact = &step->contacts[k];
		armsAt(step, contact, step->pose);
		contact->off = (step->drifts || !(contact->lambda[0] > 0.0)) && contact->rebound == 0.0;
		contact->shift = 0.0;
		contact->disc = contact->mu * contact->lambda[0];
		double rate = normalRate(contact, step->after);
		bool part = contact->lasting && contact->rebound == 0.0 && knAbs(rate) > quiet;
		contact->target = part ? (1.0 - LASTING_SHARE) * rate : contact->rebound;
		for (int i = 0; i < 3; ++i) {
			contact->offset[i] = contact->lambda[i];
		}
		any = any || !contact->off;
	}
	return any;
}

// Rows of joints go on from what they carried in the step: motors and friction hold their speeds within their bounds,
// limits that carried load stay, springs give up the swing that the step cannot follow.
static void loadJoints(knReducedStep* step, const Kept* kept) {
	for (int k = 0; k < step->axisCount; ++k) {
		knReducedAxisRow* row = &step->axes[k];
		bool limit = row->room < (double)INFINITY;
		bool bound = row->law == KN_LAW_BOUND, soft = row->law == KN_LAW_SOFT || row->law == KN_LAW_DRIVE;
		bool atEnd = row->law == KN_LAW_DRIVE && (row->l <= row->lo || row->l >= row->hi);
		row->off = limit ? !(kept->axes[k] > 0.0) : soft && (row->after == 0.0 || atEnd);
		row->offset = row->lambda = bound ? kept->axes[k] : 0.0;
		// armature ends with the rate that the step gave it
		double carried = step->drifts ? row->r : 2.0 * row->r - row->target;
		row->target = limit ? 0.0 : row->law == KN_LAW_CARRY ? carried : row->target;
	}
	for (int k = 0; k < step->pairCount; ++k) {
		knReducedPairRow* row = &step->pairs[k];
		bool limit = row->room < (double)INFINITY;
		row->off = limit ? !(kept->pairs[k] > 0.0) : row->law == KN_LAW_SOFT && row->after == 0.0;
		row->offset = row->lambda = row->law == KN_LAW_SOFT || row->locked ? 0.0 : kept->pairs[k];
		row->target = limit ? 0.0 : row->target;
	}
}

bool knReduced_After(knReducedStep* step) {
	Kept kept;
	Velocity velocity = { 0 };
	if (!keepMultipliers(step, &kept) ||
		!makeVelocity(&velocity, step, step->pose, step->columns, step->armEnd, step->after)) {
		return false;
	}
	loadJoints(step, &kept);
	velocity.problem.useContacts = loadContacts(step);
	velocity.problem.useAxes = velocity.problem.usePairs = true;
	knReduced_PlacePairs(step, step->pose, step->pose);
	for (int k = 0; k < step->forest.nv; ++k) {
		step->v[k] = step->v0[k];
	}
	bool done = knReducedProblem_Solve(&velocity.problem, VELOCITY_ROUNDS);
	returnMultipliers(step, &kept);
	return done;
}
