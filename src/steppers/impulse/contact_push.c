// Push-out: what overlaps beyond a small slop at the end of the step is moved apart, velocities untouched.
//
//   gap + h (u_n + p_n) >= -slop     p: velocities that move poses in this step and are then forgotten
//
// Only a share of the overlap is taken out per step, and only at a modest speed, so that deep overlaps dissolve
// instead of exploding. Impulses are equal and opposite: the common centre of mass stays where it is, and angular
// momentum is kept (returnSpin). The published method has nothing like it, and keeps whatever overlap it once got.

#include "core/tasks.h"
#include "steppers/impulse/impulse_step.h"

#define SLOP 0.05 // of the envelope
#define GAIN 0.3  // share of the overlap that is taken out per step
#define SPEED 1.0 // m/s, at most
#define SWEEPS 8
#define POINT_GRAIN 64

// m/s, how fast the point, with a gap of `after` at the end of the step, has to be pushed apart; 0: not at all.
static double wantedSpeed(const knImpulseStep* step, const knImpulsePoint* p, double after) {
	if (knFastBodies_Follows(&step->fast, p->a) || knFastBodies_Follows(&step->fast, p->b)) {
		return 0.0; // where these end is found along their way
	}
	double overlap = -after - SLOP * knImpulseStep_Envelope(step, p->a, p->b);
	return overlap > 0.0 ? knMin(GAIN * overlap / step->h, SPEED) : 0.0;
}

// Multipliers of the set into the points; kg m become N s.
static void storePushes(const knImpulseStep* step) {
	const knSweepSet* set = &step->set;
	for (int p = 0; p < set->packCount; ++p) {
		const knPack* pack = &set->packs[p];
		for (int lane = 0; lane < KN_LANES && pack->chunk[lane] >= 0; ++lane) {
			const knSweepChunk* chunk = &set->chunks[pack->chunk[lane]];
			for (int k = 0; k < chunk->count; ++k) {
				double push = set->points[pack->first + k].push[lane];
				if (push > 0.0) {
					step->points[chunk->first + k].push = push / step->h;
				}
			}
		}
	}
}

// Two bodies shifted by +-h j/m without the velocities to it would gain h j x (v_B - v_A) of angular momentum: they give
// it back, half each.
static void returnSpin(const knImpulseStep* step, const knImpulsePoint* p) {
	const knStepBodies* blocks = &step->blocks;
	if (blocks->invMass[p->a] > 0.0 && blocks->invMass[p->b] > 0.0) {
		knVec3 apart = knSub(blocks->u[p->b].lin, blocks->u[p->a].lin);
		knVec3 half = knScale(-0.5 * step->h * p->push, knCross(p->n, apart));
		blocks->u[p->a].ang = knAdd(blocks->u[p->a].ang, knMulMV(&blocks->invInertia[p->a], half));
		blocks->u[p->b].ang = knAdd(blocks->u[p->b].ang, knMulMV(&blocks->invInertia[p->b], half));
	}
}

typedef struct TargetTask {
	const knImpulseStep* step;
	double* depths; // [pointCount] m, negative: to be pushed apart
} TargetTask;

static void setTargets(int begin, int end, int worker, void* argument) {
	(void)worker;
	const TargetTask* task = argument;
	const knImpulseStep* step = task->step;
	for (int i = begin; i < end; ++i) {
		knImpulsePoint* p = &step->points[i];
		if (step->partOf[knImpulseStep_GroupOf(step, p)] != KN_PART_END) {
			task->depths[i] = 0.0;
			continue;
		}
		double after = p->gap + step->h * knDot(p->n, knImpulsePoint_Velocity(p, step->blocks.u));
		double wanted = wantedSpeed(step, p, after);
		// a point without overlap may close what room it has
		double target = wanted > 0.0 ? wanted : -knMax(after, 0.0) / step->h;
		task->depths[i] = -target * step->h;
		// points that are solved with joints are pushed by these targets
		if (p->withJoints) {
			p->target = target;
		}
	}
}

bool knContactPush_Run(knImpulseStep* step) {
	const knTasks* tasks = &step->context->tasks;
	TargetTask task = { step, KN_SCRATCH(step->context->arena, double, step->pointCount) };
	if (step->context->arena->failed) {
		return false;
	}
	knTasks_For(tasks, step->pointCount, POINT_GRAIN, setTargets, &task);
	for (int i = 0; i < step->pointCount && !step->pushes; ++i) {
		step->pushes = task.depths[i] < 0.0;
	}
	if (!step->pushes) {
		return true;
	}
	knSweepSet_SetDepths(&step->set, tasks, task.depths);
	for (int sweep = 0; sweep < SWEEPS; ++sweep) {
		for (int level = 0; level < step->set.stageCount; ++level) {
			knSweep_Correct(&step->set, level, 1, tasks, &step->set.joints, step->push);
		}
	}
	for (int b = 0; b < step->model->bodyCount; ++b) {
		step->push[b] = knScaleT(1.0 / step->h, step->push[b]);
	}
	storePushes(step);
	return true;
}

void knContactPush_ReturnSpin(knImpulseStep* step) {
	for (int i = 0; i < step->pointCount && (step->pushes || step->joints != NULL); ++i) {
		if (step->points[i].push != 0.0) {
			returnSpin(step, &step->points[i]);
		}
	}
}
