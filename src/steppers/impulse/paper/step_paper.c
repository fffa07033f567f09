// The impulse stepper as published: collision and contact after Guendelman et al. 2003, joints after Weinstein et al.
// 2006, whose section III numbers the phases.
//
//   1  collisions, with velocities from before the forces; joints' velocities
//   2  forces; joints' velocities
//   3  contact graph; contact and pre-stabilization, level by level
//   4  shock propagation
//   5  pre-stabilization alone
//   6  bodies move
//   7  joints' velocities

#include "steppers/impulse/paper/step_paper.h"

#include "collide/pair.h"

#define VELOCITY_SWEEPS 5 // of post-stabilization, each taking out a larger share

static void postStabilize(const knPaperStep* paper) {
	double start = knStepContext_Now(paper->step->m.context);
	for (int k = 1; paper->joints != NULL && k <= VELOCITY_SWEEPS; ++k) {
		knPostStabilize_Sweep(paper->joints, (double)k / VELOCITY_SWEEPS);
	}
	knMaximal_CountJointTime(&paper->step->m, start);
}

static void enter(const knPaperStep* paper, knArticulationPhase phase) {
	if (paper->joints != NULL) {
		knArticulationSolve_Enter(paper->joints, phase);
		postStabilize(paper);
	}
}

static bool beginJoints(knPaperStep* paper) {
	const knImpulseStep* step = paper->step;
	knArticulationInput input = { .model = step->m.model,
								  .state = step->m.state,
								  .blocks = &paper->step->m.blocks,
								  .settings = step->m.context->settings,
								  .h = step->m.h };
	paper->joints = knArticulationSolve_Begin(&input, step->m.context->arena);
	if (paper->joints == NULL) {
		return false;
	}
	paper->joints = knArticulationSolve_JointCount(paper->joints) > 0 ? paper->joints : NULL;
	return true;
}

static knStatus begin(knPaperStep* paper) {
	knImpulseStep* step = paper->step;
	knArena* arena = step->m.context->arena;
	knStatus status = knMaximal_ApplyForces(&step->m, step->m.h);
	KN_THEN(status, knMaximal_FindContacts(&step->m, true));
	if (status != KN_OK) {
		return status;
	}
	knContactRows_Fill(&step->m.contacts, &step->m.input, NULL);
	if (!knMaximal_ListPairs(&step->m)) {
		return knMaximal_OutOfMemory(&step->m);
	}
	paper->impulses = KN_SCRATCH_ZERO(arena, knVec3, step->m.contacts.pointCount);
	paper->push = KN_SCRATCH_ZERO(arena, knTwist, step->m.model->bodyCount);
	return !arena->failed && beginJoints(paper) ? KN_OK : knMaximal_OutOfMemory(&step->m);
}

static knStatus collide(knPaperStep* paper) {
	knImpulseStep* step = paper->step;
	for (int b = 0; b < step->m.model->bodyCount; ++b) {
		step->m.blocks.u[b] = step->m.state->velocity[b];
	}
	if (knContactPaper_Collisions(paper)) {
		for (int b = 0; b < step->m.model->bodyCount; ++b) {
			step->m.state->velocity[b] = step->m.blocks.u[b];
		}
	}
	postStabilize(paper);
	return knMaximal_ApplyForces(&step->m, step->m.h);
}

// --- levels --------------------------------------------------------------------------------------------------

int knPaperStep_TestPair(const knPaperStep* paper, const knShapePair* pair, knFrame poseA, knFrame poseB,
						 double margin, knContactPoint* points) {
	const knModelShape* shapes = paper->step->m.model->shapes;
	const knModelShape *a = &shapes[pair->shapeA], *b = &shapes[pair->shapeB];
	int count = knCollide_Pair(a->geom, knMulF(poseA, a->local), b->geom, knMulF(poseB, b->local), margin,
							   points, KN_PAPER_PAIR_POINTS);
	paper->step->m.pairTests += 1;
	return count < KN_PAPER_PAIR_POINTS ? count : KN_PAPER_PAIR_POINTS;
}

static knFrame predict(const knImpulseStep* step, int body, knTwist u) {
	return knMovePose(step->m.state->pose[body], u, step->m.h);
}

// Who rests on whom: i on j, if i, moved alone with its new velocity while j goes on with its old one, runs into j. Returns how many.
static int addEdges(const knPaperStep* paper, const knShapePair* pair, knSupport* edges) {
	const knImpulseStep* step = paper->step;
	knContactPoint found[KN_PAPER_PAIR_POINTS];
	int count = 0;
	for (int side = 0; side < 2; ++side) {
		int mover = side == 0 ? pair->a : pair->b, other = side == 0 ? pair->b : pair->a;
		if (step->m.blocks.invMass[mover] == 0.0) {
			continue;
		}
		knFrame moved = predict(step, mover, step->m.blocks.u[mover]);
		knFrame stays = predict(step, other, knImpulseStep_OldVelocity(step, other));
		if (knPaperStep_TestPair(paper, pair, side == 0 ? moved : stays, side == 0 ? stays : moved, 0.0,
								 found) > 0) {
			edges[count++] = (knSupport){ other, mover };
		}
	}
	return count;
}

static bool sortPairs(knPaperStep* paper) {
	const knImpulseStep* step = paper->step;
	knArena* arena = step->m.context->arena;
	const int levels = step->m.graph.levelCount, *level = step->m.graph.level;
	paper->order = KN_SCRATCH(arena, int, step->m.pairCount);
	paper->levelFirst = KN_SCRATCH_ZERO(arena, int, levels + 2);
	if (arena->failed) {
		return false;
	}
	for (int i = 0; i < step->m.pairCount; ++i) {
		int a = level[step->m.pairs[i].a], b = level[step->m.pairs[i].b];
		paper->levelFirst[(a > b ? a : b) + 2] += 1;
	}
	for (int l = 0; l < levels; ++l) {
		paper->levelFirst[l + 1] += paper->levelFirst[l];
	}
	// levelFirst[l + 1] runs from the begin to the end of level l
	for (int i = 0; i < step->m.pairCount; ++i) {
		int a = level[step->m.pairs[i].a], b = level[step->m.pairs[i].b];
		paper->order[paper->levelFirst[(a > b ? a : b) + 1]++] = i;
	}
	return true;
}

static knStatus findLevels(knPaperStep* paper) {
	knImpulseStep* step = paper->step;
	knArena* arena = step->m.context->arena;
	const int bodyCount = step->m.model->bodyCount;
	knSupport* edges = KN_SCRATCH(arena, knSupport, 2 * step->m.pairCount);
	bool* anchored = KN_SCRATCH(arena, bool, bodyCount);
	int count = 0;
	if (arena->failed) {
		return knMaximal_OutOfMemory(&step->m);
	}
	for (int i = 0; i < step->m.pairCount; ++i) {
		count += addEdges(paper, &step->m.pairs[i], edges + count);
	}
	for (int b = 0; b < bodyCount; ++b) {
		anchored[b] = step->m.blocks.invMass[b] == 0.0;
	}
	bool built =
		knContactGraph_Build(&step->m.graph, bodyCount, anchored, edges, count, arena) && sortPairs(paper);
	return built ? KN_OK : knMaximal_OutOfMemory(&step->m);
}

// --- the step ------------------------------------------------------------------------------------------------

static knStatus collect(const knPaperStep* paper) {
	knImpulseStep* step = paper->step;
	for (int k = 0; k < step->m.contacts.pointCount; ++k) {
		knSweepPoint* p = &step->m.contacts.points[k];
		p->lambda[0] = knDot(p->n, paper->impulses[k]);
		p->lambda[1] = knDot(p->t1, paper->impulses[k]);
		p->lambda[2] = knDot(p->t2, paper->impulses[k]);
	}
	return knMaximal_Collect(&step->m);
}

knStatus knImpulsePaper_Step(knImpulseStep* step) {
	knPaperStep paper = { .step = step };
	knStatus status = begin(&paper);

	// 1, 2
	KN_THEN(status, collide(&paper));
	if (status == KN_OK) {
		enter(&paper, KN_ARTICULATION_DYNAMICS);
	}

	// 3 to 5
	KN_THEN(status, findLevels(&paper));
	KN_THEN(status, knContactPaper_Contact(&paper));

	// 6, 7
	KN_THEN(status, collect(&paper));
	KN_THEN(status, knMaximal_Move(&step->m));
	if (status == KN_OK && paper.joints != NULL) {
		enter(&paper, KN_ARTICULATION_ARRIVAL);
		step->m.context->report->work += knArticulationSolve_Finish(paper.joints);
	}
	return status;
}
