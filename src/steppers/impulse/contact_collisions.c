// The collision phase of the default scheme: points that bounce (dynamics/bounce.h), with the velocities from before the forces.
//
// Groups of bodies bounce by themselves, in parallel. Joints answer at the impact; what they answer is found again, as an
// impulse that is counted, by post-stabilization afterwards, since both are linear. What does not bounce is left to the contact phase: it stops in the same step, and an inelastic collision and a contact are
// the same thing there.

#include "core/tasks.h"
#include "steppers/impulse/impulse_step.h"

#define EXACT_WORK 1000 // joints times points: with more, joints answer once a round and not at every visit

// A group in which a point bounces.
typedef struct BounceGroup {
	int group;                // index into step->groups
	int firstPoint, count;    // of `points`
	int firstBody, bodyCount; // of `bodies`
	const struct Bounce* bounce;
	int rounds;
} BounceGroup;

typedef struct Bounce {
	knImpulseStep* step;
	knBounceInput input; // of all groups
	knBouncePoint* points;
	int pointCount;
	BounceGroup* groups;
	int groupCount;
	int* bodies;      // [bodyCount] that move, by group
	int* bodyFirst;   // [bodyCount + 1] by group (a body's index), into bodies
	uint8_t* visited; // [bodyCount] islands of joints, all 0 between uses
} Bounce;

// --- which points ----------------------------------------------------------------------------------------

static bool isJointed(const knImpulseStep* step, int body) {
	return step->joints != NULL && knArticulationSolve_IslandOf(step->joints, body) >= 0;
}

static knBouncePoint makePoint(const knImpulseStep* step, const knImpulsePair* pair, int k) {
	const knImpulsePoint* p = &step->points[k];
	return (knBouncePoint){ .source = k,
							.a = p->a,
							.b = p->b,
							.n = p->n,
							.t1 = p->t1,
							.t2 = p->t2,
							.rA = p->rA,
							.rB = p->rB,
							.mu = p->mu,
							.e = pair->e,
							.gap = p->gap,
							.touching = KN_REST_GAP * knImpulseStep_Envelope(step, p->a, p->b),
							.jointed = isJointed(step, p->a) || isJointed(step, p->b) };
}

// The points of a group that may bounce, into `points`; returns whether one of them does so at once.
static bool listPoints(Bounce* bounce, int group) {
	const knImpulseStep* step = bounce->step;
	bool begins = false;
	for (int i = step->groups.first[group]; i < step->groups.first[group + 1]; ++i) {
		const knImpulsePair* pair = &step->pairs[step->groups.items[i]];
		// others bounce by knTimeStep_Bounce
		bool listed =
			pair->e > 0.0 && step->partOf[knImpulseStep_GroupOfBodies(step, pair->a, pair->b)] == KN_PART_END;
		for (int k = pair->first; listed && k < pair->first + pair->count; ++k) {
			if (step->points[k].target > -(double)INFINITY) {
				knBouncePoint* p = &bounce->points[bounce->pointCount++];
				*p = makePoint(step, pair, k);
				begins = begins || knBounce_Begins(&bounce->input, p);
			}
		}
	}
	return begins;
}

static bool listGroups(Bounce* bounce) {
	const knImpulseStep* step = bounce->step;
	knArena* arena = step->context->arena;
	int most = 0;
	for (int i = 0; i < step->pairCount; ++i) {
		most += step->pairs[i].e > 0.0 ? step->pairs[i].count : 0;
	}
	if (most == 0) {
		return true;
	}
	bounce->points = KN_SCRATCH(arena, knBouncePoint, most);
	bounce->groups = KN_SCRATCH(arena, BounceGroup, step->groups.count);
	for (int g = 0; !arena->failed && g < step->groups.count; ++g) {
		int first = bounce->pointCount;
		if (listPoints(bounce, g)) {
			bounce->groups[bounce->groupCount++] = (BounceGroup){
				.group = g, .firstPoint = first, .count = bounce->pointCount - first, .bounce = bounce
			};
		} else {
			bounce->pointCount = first;
		}
	}
	return !arena->failed;
}

// Bodies by group, a counting sort.
static void listBodies(Bounce* bounce) {
	const knImpulseStep* step = bounce->step;
	const int bodyCount = step->model->bodyCount;
	int* first = bounce->bodyFirst;
	for (int b = 0; b < bodyCount; ++b) {
		if (step->islands.group[b] >= 0) {
			first[step->islands.group[b] + 2] += 1;
		}
	}
	for (int b = 0; b < bodyCount; ++b) {
		first[b + 2] += first[b + 1];
	}
	for (int b = 0; b < bodyCount; ++b) {
		if (step->islands.group[b] >= 0) {
			bounce->bodies[first[step->islands.group[b] + 1]++] = b;
		}
	}
	for (int g = 0; g < bounce->groupCount; ++g) {
		BounceGroup* group = &bounce->groups[g];
		const knImpulsePoint* p = &step->points[bounce->points[group->firstPoint].source];
		const int lead = knImpulseStep_GroupOf(step, p);
		group->firstBody = first[lead];
		group->bodyCount = first[lead + 1] - first[lead];
	}
}

static bool reserve(Bounce* bounce) {
	knImpulseStep* step = bounce->step;
	knArena* arena = step->context->arena;
	const int bodyCount = step->model->bodyCount;
	bounce->input.change = KN_SCRATCH_ZERO(arena, knTwist, bodyCount);
	bounce->input.saved = KN_SCRATCH(arena, knTwist, bodyCount);
	bounce->input.unit = KN_SCRATCH_ZERO(arena, knTwist, bodyCount);
	bounce->bodies = KN_SCRATCH(arena, int, bodyCount);
	bounce->bodyFirst = KN_SCRATCH_ZERO(arena, int, bodyCount + 2);
	bounce->visited = KN_SCRATCH_ZERO(arena, uint8_t, bodyCount);
	step->landings = KN_SCRATCH_ZERO(arena, knBounceLanding, bodyCount);
	step->bounces = KN_SCRATCH_ZERO(arena, knImpulseBounce, step->pointCount);
	return !arena->failed;
}

// --- bouncing --------------------------------------------------------------------------------------------

static void answerAll(const BounceGroup* group, knTwist* change) {
	const Bounce* bounce = group->bounce;
	const int* bodies = bounce->bodies + group->firstBody;
	for (int pass = 0; pass < 2; ++pass) {
		for (int i = 0; i < group->bodyCount; ++i) {
			const int island = knArticulationSolve_IslandOf(bounce->step->joints, bodies[i]);
			if (island >= 0 && pass == 0 && bounce->visited[island] == 0) {
				knArticulationSolve_Answer(bounce->step->joints, island, change);
				bounce->visited[island] = 1;
			} else if (island >= 0 && pass == 1) {
				bounce->visited[island] = 0;
			}
		}
	}
}

static void answerJoints(knTwist* change, int a, int b, void* context) {
	const BounceGroup* group = context;
	knArticulationSolve* joints = group->bounce->step->joints;
	if (a < 0) {
		answerAll(group, change);
		return;
	}
	const int ofA = knArticulationSolve_IslandOf(joints, a), ofB = knArticulationSolve_IslandOf(joints, b);
	if (ofA >= 0) {
		knArticulationSolve_Answer(joints, ofA, change);
	}
	if (ofB >= 0 && ofB != ofA) {
		knArticulationSolve_Answer(joints, ofB, change);
	}
}

// Joints that answer a visit of each point of the group, and whether there are any.
static double answerWork(const BounceGroup* group) {
	const Bounce* bounce = group->bounce;
	double work = 0.0;
	for (int i = group->firstPoint; i < group->firstPoint + group->count; ++i) {
		const knBouncePoint* p = &bounce->points[i];
		work += p->jointed ? knArticulationSolve_JointsOf(bounce->step->joints, p->a) +
								 knArticulationSolve_JointsOf(bounce->step->joints, p->b)
						   : 0;
	}
	return work;
}

static void bounceGroups(int begin, int end, int worker, void* argument) {
	(void)worker;
	const Bounce* bounce = argument;
	for (int g = begin; g < end; ++g) {
		BounceGroup* group = &bounce->groups[g];
		const double work = answerWork(group);
		knBounceInput input = bounce->input;
		input.bodies = bounce->bodies + group->firstBody;
		input.bodyCount = group->bodyCount;
		input.answer = work > 0.0 ? answerJoints : NULL;
		input.context = group;
		input.exact = work <= EXACT_WORK;
		group->rounds = knBounce_Run(&input, bounce->points + group->firstPoint, group->count);
	}
}

// Impulses into the points and the velocities of the state, without the joints' answers.
static void takeImpulses(const Bounce* bounce) {
	knImpulseStep* step = bounce->step;
	for (int i = 0; i < bounce->pointCount; ++i) {
		const knBouncePoint* p = &bounce->points[i];
		step->bounces[p->source] = (knImpulseBounce){ .impulse = p->impulse, .held = p->held };
		knBounce_Push(&bounce->input, p, p->impulse, step->state->velocity);
	}
}

bool knContactCollisions_Run(knImpulseStep* step, bool* bounced) {
	Bounce bounce = { .step = step,
					  .input = { .blocks = &step->blocks,
								 .start = step->state->velocity,
								 .forced = step->blocks.u,
								 .h = step->h,
								 .gravity = knLength(step->state->header->gravity) } };
	*bounced = false;
	if (!listGroups(&bounce)) {
		return false;
	}
	if (bounce.groupCount == 0) {
		return true;
	}
	if (!reserve(&bounce)) {
		return false;
	}
	listBodies(&bounce);
	knTasks_For(&step->context->tasks, bounce.groupCount, 1, bounceGroups, &bounce);
	int most = 0;
	for (int g = 0; g < bounce.groupCount; ++g) {
		most = bounce.groups[g].rounds > most ? bounce.groups[g].rounds : most;
	}
	knBounce_Land(&bounce.input, &step->islands, bounce.points, bounce.pointCount, step->landings);
	takeImpulses(&bounce);
	step->context->report->iterations += most;
	*bounced = true;
	return true;
}

// --- what has bounced, in the rest of the step -----------------------------------------------------------

void knContactCollisions_Hold(knImpulseStep* step) {
	for (int i = 0; i < step->pointCount; ++i) {
		knImpulseBounce* bounce = &step->bounces[i];
		if (bounce->held > 0.0) {
			knVec3 held = knScale(bounce->held, step->points[i].n);
			knImpulsePoint_Apply(step, &step->points[i], held);
			bounce->impulse = knAdd(bounce->impulse, held);
		}
	}
}

void knContactCollisions_Land(knImpulseStep* step) {
	for (int b = 0; step->landings != NULL && b < step->model->bodyCount; ++b) {
		step->push[b].lin = knMulAdd(step->push[b].lin, 1.0 / step->h, step->landings[b].way);
	}
}
