// Collisions, contact and shock propagation as published (Guendelman et al. 2003, sections 6 to 8; Weinstein et al.
// 2006, section VI, for the joints between them).
//
// A pair of bodies is looked at where it is predicted to be at the end of the step; of the points at which it
// overlaps there and approaches, one takes an impulse, both bodies are predicted anew, and so on. In collisions it is
// the deepest point; in contact the one that is deepest at the start poses, and among points as deep, as on flat
// faces, the one that approaches fastest (in a fixed order the corners of a face do not settle). Impulses only push.
// Contact takes the approach away by tenths: restitution k/N - 1 in sweep k.
//
// The arms of impulses are those at the start poses, also in collisions, where the paper takes the predicted ones: so
// angular momentum is conserved to round-off. A pair is skipped while neither body moved since it was found clean.

#include "core/sort.h"
#include "steppers/impulse/paper/impact_turn.h"
#include "steppers/impulse/paper/step_paper.h"

#define SWEEPS 10        // Guendelman et al.
#define SWEEPS_JOINTED 9 // Weinstein et al.
#define COLLISION_SWEEPS 5
#define COLLISION_IMPULSES 20 // of a pair, per visit
#define CONTACT_IMPULSES 20
#define SHOCK_IMPULSES 10
#define LEVEL_REPEATS 2
#define JOINT_SWEEPS 1  // over joints alone, after shock propagation, unless they take part in it
#define THICKNESS 1e-6  // of the smaller body's radius: contact keeps this much apart
#define SAME_DEPTH 1e-4 // of the same: points as deep as each other
#define APPROACH 1e-12  // m/s: slower is none

// --- turning ------------------------------------------------------------------------------------------------

void knImpact_Turn(const knMat33* K, const knMat33* K12, const knMat33* K22, knVec3 dw, knVec3* j,
				   knVec3* g) {
	knMat33 inverse = knInverse33(K), transposed = knTranspose33(K12);
	knMat33 coupling = knMulMM(&inverse, K12), lost = knMulMM(&transposed, &coupling);
	lost = knScaleM(-1.0, &lost);
	knMat33 schur = knAddMM(K22, &lost), solve = knInverse33(&schur);
	*g = knMulMV(&solve, dw);
	*j = knNeg(knMulMV(&coupling, *g));
}

knVec3 knImpact_ReduceTurning(knVec3 w, knVec3 n, double reduction) {
	double spin = knDot(w, n);
	knVec3 roll = knMulAdd(w, -spin, n);
	double rolling = knLength(roll), spinning = knAbs(spin);
	double keptRoll = rolling > reduction ? (rolling - reduction) / rolling : 0.0;
	double keptSpin = spinning > reduction ? (spinning - reduction) / spinning : 0.0;
	return knMulAdd(knScale(keptRoll, roll), keptSpin * spin, n);
}

// --- a phase ------------------------------------------------------------------------------------------------

// The world of one phase: which velocities, and who is frozen.
typedef struct Phase {
	const knPaperStep* paper;
	knImpulseStep* step;
	bool forced; // what forces add is added to velocities for predicting
	double e;    // restitution; of collisions: the pairs' own
	bool collision;
	bool* frozen;   // [bodyCount]
	int64_t* moved; // [bodyCount] when the body last took an impulse
	int64_t* clean; // [pairCount] when the pair was last found without approaching overlap; -1: never
	int64_t now;
} Phase;

// A point of a pair where it touches at the predicted poses, carried back to the start poses.
typedef struct Touch {
	knVec3 rA, rB, n, u; // arms and relative velocity at the start poses
	double depth;        // m, by which touches are compared: the smaller the deeper
	double approach;     // m/s
} Touch;

static knFrame predicted(const Phase* phase, int body) {
	const knImpulseStep* step = phase->step;
	knTwist u = step->m.blocks.u[body];
	return knMovePose(step->m.state->pose[body],
					  phase->forced ? knAddT(u, knMaximal_Force(&step->m, body)) : u, step->m.h);
}

static double pairSize(const knImpulseStep* step, const knShapePair* pair) {
	const double* radius = step->m.model->radius;
	bool both = step->m.model->invMass[pair->a] > 0.0 && step->m.model->invMass[pair->b] > 0.0;
	return both ? knMin(radius[pair->a], radius[pair->b])
				: radius[step->m.model->invMass[pair->a] > 0.0 ? pair->a : pair->b];
}

// The point of the same feature at the start poses; NULL: there is none.
static const knSweepPoint* atStart(const knImpulseStep* step, const knShapePair* pair, uint64_t feature) {
	for (int k = pair->first; k < pair->first + pair->count; ++k) {
		if (step->m.contacts.contacts[step->m.contacts.anchors[k].contact].point.feature == feature) {
			return &step->m.contacts.points[k];
		}
	}
	return NULL;
}

// Where bodies roll, the place of a feature at the start poses is not the place of the matter that touches at the end:
// a normal impulse at the latter would brake a ball by an arm of h v. So a feature that is known at the start poses is
// taken from there, and only others are carried back with their bodies.
static Touch carryBack(const Phase* phase, const knShapePair* pair, const knContactPoint* point,
					   knFrame poseA, knFrame poseB) {
	const knImpulseStep* step = phase->step;
	const knSweepPoint* known = atStart(step, pair, point->feature);
	knFrame startA = step->m.state->pose[pair->a], startB = step->m.state->pose[pair->b];
	Touch touch = { .n = point->normal, .depth = point->separation };
	if (known != NULL) {
		touch.rA = known->rA;
		touch.rB = known->rB;
	} else {
		knVec3 onA = knPoint(startA, knInvPoint(poseA, point->pointA));
		knVec3 onB = knPoint(startB, knInvPoint(poseB, point->pointB));
		knVec3 place = knLerp(onA, onB, 0.5);
		touch.rA = knSub(place, startA.p);
		touch.rB = knSub(place, startB.p);
		touch.depth = phase->collision ? point->separation : knDot(knSub(onB, onA), point->normal);
	}
	if (known != NULL && !phase->collision) {
		touch.n = known->n;
		touch.depth = known->depth;
	}
	const knTwist *uA = &step->m.blocks.u[pair->a], *uB = &step->m.blocks.u[pair->b];
	touch.u = knSub(knAdd(uB->lin, knCross(uB->ang, touch.rB)), knAdd(uA->lin, knCross(uA->ang, touch.rA)));
	touch.approach = -knDot(touch.u, touch.n);
	return touch;
}

// The touch to be processed next; false if none approaches.
static bool choose(Phase* phase, const knShapePair* pair, Touch* chosen) {
	const knImpulseStep* step = phase->step;
	knContactPoint points[KN_PAPER_PAIR_POINTS];
	knFrame poseA = predicted(phase, pair->a), poseB = predicted(phase, pair->b);
	double size = pairSize(step, pair);
	double margin = phase->collision ? 0.0 : THICKNESS * size;
	int count = knPaperStep_TestPair(phase->paper, pair, poseA, poseB, margin, points);
	bool found = false;
	for (int k = 0; k < count; ++k) {
		Touch touch = carryBack(phase, pair, &points[k], poseA, poseB);
		if (!(touch.approach > APPROACH)) {
			continue;
		}
		double deeper = found ? chosen->depth - touch.depth : 1.0;
		bool same = found && knAbs(deeper) <= SAME_DEPTH * size;
		if (!found || (same ? touch.approach > chosen->approach : deeper > 0.0)) {
			*chosen = touch;
			found = true;
		}
	}
	return found;
}

static void push(Phase* phase, int body, knVec3 r, knVec3 j, knVec3 g) {
	const knStepBodies* blocks = &phase->step->m.blocks;
	if (!phase->frozen[body]) {
		knTwist* u = &blocks->u[body];
		u->lin = knMulAdd(u->lin, blocks->invMass[body], j);
		u->ang = knAdd(u->ang, knMulMV(&blocks->invInertia[body], knAdd(knCross(r, j), g)));
		phase->moved[body] = phase->now;
	}
}

// For reports the impulse belongs to the nearest of the points found at the start poses.
static void record(const Phase* phase, const knShapePair* pair, const Touch* touch, knVec3 j) {
	int nearest = pair->first;
	double distance = (double)INFINITY;
	for (int k = pair->first; k < pair->first + pair->count; ++k) {
		double d = knDistance(phase->step->m.contacts.points[k].rA, touch->rA);
		nearest = d < distance ? k : nearest;
		distance = knMin(distance, d);
	}
	phase->paper->impulses[nearest] = knAdd(phase->paper->impulses[nearest], j);
}

static knMat33 inertiaOf(const Phase* phase, int body) {
	return phase->frozen[body] ? knDiagonal33(0.0, 0.0, 0.0) : phase->step->m.blocks.invInertia[body];
}

// Rolling and spinning friction after an impulse that stuck: the relative turning loses up to arm j_n in speed (the
// coefficient has the paper's unit, rad/s per N s).
static void resistTurning(Phase* phase, const knShapePair* pair, const Touch* touch, const knMat33* K,
						  double reduction) {
	knImpulseStep* step = phase->step;
	knMat33 inertiaA = inertiaOf(phase, pair->a), inertiaB = inertiaOf(phase, pair->b);
	knMat33 skewA = knSkew(knNeg(touch->rA)), skewB = knSkew(knNeg(touch->rB));
	knMat33 a = knMulMM(&skewA, &inertiaA), b = knMulMM(&skewB, &inertiaB);
	knMat33 K12 = knAddMM(&a, &b), K22 = knAddMM(&inertiaA, &inertiaB);
	knVec3 w = knSub(step->m.blocks.u[pair->b].ang, step->m.blocks.u[pair->a].ang);
	knVec3 dw = knSub(knImpact_ReduceTurning(w, touch->n, reduction), w), j, g;
	knImpact_Turn(K, &K12, &K22, dw, &j, &g);
	push(phase, pair->a, touch->rA, knNeg(j), knNeg(g));
	push(phase, pair->b, touch->rB, j, g);
	record(phase, pair, touch, j);
}

static void processTouch(Phase* phase, const knShapePair* pair, const Touch* touch) {
	knImpulseStep* step = phase->step;
	const knStepBodies* blocks = &step->m.blocks;
	knMat33 inertiaA = inertiaOf(phase, pair->a), inertiaB = inertiaOf(phase, pair->b);
	knMat33 shareA =
		knImpact_Share(phase->frozen[pair->a] ? 0.0 : blocks->invMass[pair->a], &inertiaA, touch->rA);
	knMat33 shareB =
		knImpact_Share(phase->frozen[pair->b] ? 0.0 : blocks->invMass[pair->b], &inertiaB, touch->rB);
	const knSweepPoint* first = &step->m.contacts.points[pair->first];
	knImpact impact = { .K = knAddMM(&shareA, &shareB),
						.u = touch->u,
						.n = touch->n,
						.e = phase->collision
								 ? knContactRows_Restitution(&step->m.contacts, &step->m.input, pair->first)
								 : phase->e,
						.mu = first->mu };
	knImpactKind kind;
	knVec3 j = knImpact_Solve(&impact, &kind);
	push(phase, pair->a, touch->rA, knNeg(j), knZero3());
	push(phase, pair->b, touch->rB, j, knZero3());
	record(phase, pair, touch, j);
	if (kind == KN_IMPACT_STICK && first->arm > 0.0) {
		resistTurning(phase, pair, touch, &impact.K, first->arm * knDot(j, touch->n));
	}
}

// Returns whether any impulse was applied.
static bool processPair(Phase* phase, int index, int impulses) {
	const knShapePair* pair = &phase->step->m.pairs[index];
	if ((phase->frozen[pair->a] || phase->step->m.blocks.invMass[pair->a] == 0.0) &&
		(phase->frozen[pair->b] || phase->step->m.blocks.invMass[pair->b] == 0.0)) {
		return false;
	}
	bool any = false;
	for (int i = 0; i < impulses; ++i) {
		if (phase->moved[pair->a] <= phase->clean[index] && phase->moved[pair->b] <= phase->clean[index]) {
			break;
		}
		Touch touch;
		phase->now += 1;
		if (!choose(phase, pair, &touch)) {
			phase->clean[index] = phase->now;
			break;
		}
		processTouch(phase, pair, &touch);
		any = true;
	}
	return any;
}

static bool beginPhase(Phase* phase, const knPaperStep* paper) {
	knImpulseStep* step = paper->step;
	knArena* arena = step->m.context->arena;
	*phase = (Phase){ .paper = paper,
					  .step = step,
					  .frozen = KN_SCRATCH_ZERO(arena, bool, step->m.model->bodyCount),
					  .moved = KN_SCRATCH_ZERO(arena, int64_t, step->m.model->bodyCount),
					  .clean = KN_SCRATCH(arena, int64_t, step->m.pairCount) };
	for (int i = 0; !arena->failed && i < step->m.pairCount; ++i) {
		phase->clean[i] = -1;
	}
	return !arena->failed;
}

bool knContactPaper_Collisions(knPaperStep* paper) {
	knImpulseStep* step = paper->step;
	Phase phase;
	if (!beginPhase(&phase, paper)) {
		return false; // the next request for memory will say so
	}
	phase.collision = true;
	phase.forced = true;
	bool any = true, bounced = false;
	for (int sweep = 0; any && sweep < COLLISION_SWEEPS; ++sweep) {
		any = false;
		for (int i = 0; i < step->m.pairCount; ++i) {
			any = processPair(&phase, i, COLLISION_IMPULSES) || any;
		}
		bounced = bounced || any;
		step->m.context->report->iterations += 1;
	}
	return bounced;
}

// --- contact and joints, level by level ----------------------------------------------------------------------

// Entries of the articulation solve sorted by level, the higher of their bodies'.
typedef struct JointLevels {
	int* order;
	int* first; // [levelCount + 1]
} JointLevels;

static int levelOfJoint(const knPaperStep* paper, int entry) {
	const knImpulseStep* step = paper->step;
	int index = knArticulationSolve_JointAt(paper->joints, entry);
	const knJoint* joint = knState_Joint(step->m.state, step->m.model, index);
	int parent = step->m.graph.level[joint->parent], child = step->m.graph.level[joint->child];
	return parent > child ? parent : child;
}

static bool sortJoints(const knPaperStep* paper, JointLevels* levels) {
	const knImpulseStep* step = paper->step;
	knArena* arena = step->m.context->arena;
	int count = paper->joints != NULL ? knArticulationSolve_JointCount(paper->joints) : 0;
	knKeyed* keys = KN_SCRATCH(arena, knKeyed, count);
	levels->order = KN_SCRATCH(arena, int, count);
	levels->first = KN_SCRATCH_ZERO(arena, int, step->m.graph.levelCount + 1);
	if (arena->failed) {
		return false;
	}
	for (int i = 0; i < count; ++i) {
		int level = levelOfJoint(paper, i);
		keys[i] = (knKeyed){ .key = (uint64_t)level, .value = (uint32_t)i };
		levels->first[level + 1] += 1;
	}
	for (int l = 0; l < step->m.graph.levelCount; ++l) {
		levels->first[l + 1] += levels->first[l];
	}
	bool sorted = knSort_Keys(keys, count, arena);
	for (int i = 0; i < count; ++i) {
		levels->order[i] = (int)keys[i].value;
	}
	return sorted;
}

static void stabilizeLevel(Phase* phase, const JointLevels* joints, int level, double epsilon) {
	knImpulseStep* step = phase->step;
	double start = knStepContext_Now(step->m.context);
	phase->now += 1;
	for (int i = joints->first[level]; i < joints->first[level + 1]; ++i) {
		int entry = joints->order[i];
		knPreStabilize_Joint(phase->paper->joints, entry, epsilon);
		int index = knArticulationSolve_JointAt(phase->paper->joints, entry);
		const knJoint* joint = knState_Joint(step->m.state, step->m.model, index);
		phase->moved[joint->parent] = phase->moved[joint->child] = phase->now;
	}
	knMaximal_CountJointTime(&step->m, start);
}

static bool processLevel(Phase* phase, int level, int impulses) {
	const knPaperStep* paper = phase->paper;
	bool any = false;
	for (int i = paper->levelFirst[level]; i < paper->levelFirst[level + 1]; ++i) {
		any = processPair(phase, paper->order[i], impulses) || any;
	}
	return any;
}

static void sweep(Phase* phase, const JointLevels* joints, double epsilon) {
	knImpulseStep* step = phase->step;
	phase->e = epsilon - 1.0;
	for (int i = 0; i < step->m.pairCount; ++i) {
		phase->clean[i] = -1;
	}
	for (int level = 0; level < step->m.graph.levelCount; ++level) {
		bool any = true;
		for (int repeat = 0; any && repeat < LEVEL_REPEATS; ++repeat) {
			any = processLevel(phase, level, CONTACT_IMPULSES);
		}
		stabilizeLevel(phase, joints, level, step->m.context->settings->impulse.ramp == 0 ? 1.0 : epsilon);
	}
	step->m.context->report->iterations += 1;
}

// Every level in turn, everything below it frozen; joints see true masses, if they take part at all.
static void propagate(Phase* phase, const JointLevels* joints, bool withJoints) {
	knImpulseStep* step = phase->step;
	for (int level = 0; level < step->m.graph.levelCount; ++level) {
		bool any = true;
		for (int repeat = 1; any && repeat <= LEVEL_REPEATS; ++repeat) {
			phase->e = (double)repeat / LEVEL_REPEATS - 1.0;
			for (int i = phase->paper->levelFirst[level]; i < phase->paper->levelFirst[level + 1]; ++i) {
				phase->clean[phase->paper->order[i]] = -1;
			}
			any = processLevel(phase, level, SHOCK_IMPULSES);
		}
		if (withJoints) {
			stabilizeLevel(phase, joints, level, 1.0);
		}
		for (int b = 0; b < step->m.model->bodyCount; ++b) {
			phase->frozen[b] = phase->frozen[b] || step->m.graph.level[b] == level;
		}
	}
	step->m.context->report->iterations += 1;
}

// Closes joints once more, level by level. Optionally for the poses only: the velocities of before come back after the
// move.
static bool closeJoints(Phase* phase, const JointLevels* joints, int sweeps, bool restore) {
	knImpulseStep* step = phase->step;
	int bodyCount = step->m.model->bodyCount;
	knTwist* saved = KN_SCRATCH(step->m.context->arena, knTwist, bodyCount);
	if (saved == NULL) {
		return false;
	}
	for (int b = 0; b < bodyCount; ++b) {
		saved[b] = step->m.blocks.u[b];
	}
	for (int k = 0; k < sweeps; ++k) {
		for (int level = 0; level < step->m.graph.levelCount; ++level) {
			stabilizeLevel(phase, joints, level, 1.0);
		}
	}
	for (int b = 0; restore && b < bodyCount; ++b) {
		phase->paper->push[b] = knSubT(step->m.blocks.u[b], saved[b]);
		step->m.blocks.u[b] = saved[b];
	}
	step->m.blocks.push = phase->paper->push;
	return true;
}

knStatus knContactPaper_Contact(knPaperStep* paper) {
	knImpulseStep* step = paper->step;
	Phase phase;
	JointLevels joints;
	if (!beginPhase(&phase, paper) || !sortJoints(paper, &joints)) {
		return knMaximal_OutOfMemory(&step->m);
	}
	const knSettings* settings = step->m.context->settings;
	const int published = paper->joints != NULL ? SWEEPS_JOINTED : SWEEPS, shock = settings->shock;
	const int sweeps = settings->sweeps >= 0 ? settings->sweeps : published;
	for (int k = 1; k <= sweeps; ++k) {
		sweep(&phase, &joints, (double)k / sweeps);
	}
	if (shock != 0) {
		propagate(&phase, &joints, shock == KN_SHOCK_JOINTS);
	}
	const bool bySelf = shock != 0 && shock != KN_SHOCK_JOINTS;
	const int alone =
		settings->impulse.jointSweeps >= 0 ? settings->impulse.jointSweeps : (bySelf ? JOINT_SWEEPS : 0);
	bool closed =
		paper->joints == NULL || closeJoints(&phase, &joints, alone, settings->impulse.restore != 0);
	return closed ? KN_OK : knMaximal_OutOfMemory(&step->m);
}
