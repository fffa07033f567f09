// Running the kernels: stage by stage, colour by colour, the packs of a colour in parallel.

#include "solve/sweep.h"

#include <string.h>

#include "core/assert.h"
#include "core/tasks.h"
#include "solve/pgs.h"
#include "solve/sweep_momentum.h"

enum { PACK_GRAIN = 16 };
#define STALL_SPAN 5 // sweeps over which progress is judged

typedef struct Run {
	const knSweepSet* set;
	const knSweepKernel* kernel;
	const knPackOptions* options;
	const knTwist* from;
	knTwist* to;
	double* theta;
	const knMomentumPacks* momenta;
	int pass;  // sum of knMomentumPass
	int first; // pack
} Run;

// --- one pass over a stage -------------------------------------------------------------------------------

static void velocityRange(int begin, int end, int worker, void* argument) {
	(void)worker;
	const Run* run = argument;
	run->kernel->velocities(run->set, run->first + begin, run->first + end, run->options, run->from, run->to);
}

static void passRange(int begin, int end, int worker, void* argument) {
	(void)worker;
	const Run* run = argument;
	run->kernel->velocitiesInPass(run->set, run->first + begin, run->first + end, run->options, run->momenta,
								  run->pass, run->to);
}

static void correctRange(int begin, int end, int worker, void* argument) {
	(void)worker;
	const Run* run = argument;
	run->kernel->correct(run->set, run->first + begin, run->first + end, run->to);
}

static void meritRange(int begin, int end, int worker, void* argument) {
	(void)worker;
	const Run* run = argument;
	run->kernel->merit(run->set, run->first + begin, run->first + end, run->options, run->from, run->theta);
}

static void forColour(Run* run, const knSweepColour* colour, const knTasks* tasks, knTaskFn* fn) {
	run->first = colour->first;
	knTasks_For(colour->serial ? NULL : tasks, colour->count, PACK_GRAIN, fn, run);
}

static void forColours(Run* run, int stage, const knTasks* tasks, knTaskFn* fn) {
	const knSweepStage* s = &run->set->stages[stage];
	for (int c = s->firstColour; c < s->firstColour + s->colourCount; ++c) {
		forColour(run, &run->set->colours[c], tasks, fn);
	}
}

static void solveDirect(const knSweepRows* joints, int stage, knTwist* u) {
	if (joints->direct != NULL && joints->directStage == stage) {
		knDirectRows_Solve(joints->direct, u);
	}
}

// Nothing but rows that are solved at once: one sweep is all.
static bool isDirectAlone(const knSweepSet* set, const knSweepRows* joints, int stage) {
	return joints->direct != NULL && joints->directStage == stage && set->stages[stage].colourCount == 0 &&
		   joints->first[stage] == joints->first[stage + 1];
}

static void visitRows(const knSweepRows* joints, int stage, knTwist* u) {
	solveDirect(joints, stage, u);
	if (joints->rows != NULL) {
		int first = joints->first[stage];
		knPgs_Visit(joints->rows, joints->order + first, joints->first[stage + 1] - first, u);
	}
}

// --- warm start ------------------------------------------------------------------------------------------

static void applyRange(int begin, int end, int worker, void* argument) {
	(void)worker;
	const Run* run = argument;
	run->kernel->apply(run->set, run->first + begin, run->first + end, run->to);
}

void knSweep_Apply(const knSweepSet* set, const knTasks* tasks, knTwist* u) {
	Run run = { .set = set, .kernel = knSweepKernel_Best(), .to = u };
	for (int c = 0; c < set->colourCount; ++c) {
		forColour(&run, &set->colours[c], tasks, applyRange);
	}
}

// --- velocities ------------------------------------------------------------------------------------------

double knSweep_Merit(const knSweepSet* set, int stage, bool unscaled, const knTasks* tasks,
					 const knTwist* u) {
	knPackOptions options = { .friction = set->friction, .unscaled = unscaled };
	Run run = {
		.set = set, .kernel = knSweepKernel_Best(), .options = &options, .from = u, .theta = set->theta
	};
	forColours(&run, stage, tasks, meritRange);
	const knSweepStage* s = &set->stages[stage];
	double sum = 0.0;
	for (int c = s->firstColour; c < s->firstColour + s->colourCount; ++c) {
		for (int p = set->colours[c].first; p < set->colours[c].first + set->colours[c].count; ++p) {
			sum += set->theta[p];
		}
	}
	sum *= 0.5;
	if (set->joints.rows != NULL) {
		const int32_t* first = &set->joints.first[stage];
		sum +=
			knPgs_MeritOf(set->joints.rows, set->joints.order + first[0], first[1] - first[0], unscaled, u);
	}
	return sum;
}

// Constraint force mixing falls linearly to zero: the last sweeps solve the undamped problem.
static double mixingOf(const knSweepOptions* options, int sweep) {
	return options->sweeps > 1 ? options->gamma * (1.0 - (double)sweep / (options->sweeps - 1)) : 0.0;
}

static bool wantsMerit(const knSweepOptions* options) {
	return options->fn != NULL || options->stopTheta > 0.0 || options->stopStall > 0.0;
}

// Tells the listener and decides whether to stop. `last` holds the merits of the sweeps before.
static bool judge(const knSweepSet* set, int stage, const knSweepOptions* options, int sweep,
				  const knTwist* u, double last[STALL_SPAN]) {
	double theta = knSweep_Merit(set, stage, options->unscaled, options->tasks, u);
	if (options->fn != NULL) {
		options->fn(sweep, theta, options->context);
	}
	bool stalled = options->stopStall > 0.0 && sweep >= STALL_SPAN &&
				   theta > (1.0 - options->stopStall) * last[sweep % STALL_SPAN];
	last[sweep % STALL_SPAN] = theta;
	return theta < options->stopTheta || stalled;
}

int knSweep_Velocities(knSweepSet* set, int stage, const knSweepOptions* options, knTwist* u) {
	knPackOptions packs = { .friction = set->friction, .omega = options->omega };
	packs.general =
		options->jacobi || options->gamma > 0.0 || options->omega != 1.0 || set->friction != KN_SWEEP_CONE;
	const knTwist* from = u;
	size_t bytes = sizeof(knTwist) * (size_t)options->blockCount;
	if (options->jacobi) {
		from = options->copy;
	}
	Run run = { .set = set, .kernel = knSweepKernel_Best(), .options = &packs, .from = from, .to = u };
	KN_ASSERT(!options->jacobi || options->momentum == NULL);
	run.momenta = options->momentum != NULL ? knSweepMomentum_Packs(options->momentum) : NULL;
	double last[STALL_SPAN] = { 0.0 }, settled = options->settled;
	int done = 0, sweeps = isDirectAlone(set, &set->joints, stage) ? 1 : options->sweeps;
	for (bool stop = false; done < sweeps && !stop; ++done) {
		int sweep = done;
		packs.gamma = mixingOf(options, sweep);
		if (options->momentum != NULL && sweep > 0) {
			double change = knSweepMomentum_Look(options->momentum);
			settled = sweep == 1 && settled > 0.0 ? knMax(settled, options->relative * change) : settled;
			if (sweep >= options->leastSweeps && change < settled) {
				break;
			}
			knSweepMomentum_GoOn(options->momentum, options->tasks, u);
		}
		visitRows(&set->joints, stage, u);
		if (options->jacobi) {
			memcpy(options->copy, u, bytes);
		}
		if (options->momentum != NULL) {
			run.pass = knSweepMomentum_FirstPass(options->momentum, options->tasks, u) | KN_MOMENTUM_SQUARE;
		}
		forColours(&run, stage, options->tasks, options->momentum != NULL ? passRange : velocityRange);
		stop = wantsMerit(options) && judge(set, stage, options, sweep + 1, u, last);
	}
	// joints have the last word
	solveDirect(&set->joints, stage, u);
	return done;
}

void knSweep_Pass(const knSweepSet* set, int stage, const knMomentumPacks* momenta, int pass,
				  const knTasks* tasks, knTwist* u) {
	// no joints
	KN_ASSERT(set->joints.rows == NULL || set->joints.first[stage] == set->joints.first[stage + 1]);
	KN_ASSERT(set->joints.direct == NULL || set->joints.directStage != stage);
	KN_ASSERT(set->friction == KN_SWEEP_CONE);
	const knPackOptions packs = { .friction = KN_SWEEP_CONE, .omega = 1.0 };
	Run run = { .set = set,
				.kernel = knSweepKernel_Best(),
				.options = &packs,
				.to = u,
				.momenta = momenta,
				.pass = pass };
	forColours(&run, stage, tasks, passRange);
}

// --- corrections -----------------------------------------------------------------------------------------

void knSweep_Correct(knSweepSet* set, int stage, int sweeps, const knTasks* tasks, const knSweepRows* joints,
					 knTwist* p) {
	Run run = { .set = set, .kernel = knSweepKernel_Best(), .to = p };
	for (int sweep = 0; sweep < sweeps; ++sweep) {
		visitRows(joints, stage, p);
		forColours(&run, stage, tasks, correctRange);
	}
	solveDirect(joints, stage, p);
}

const knSweepKernel* knSweepKernel_At(int index) {
	const knSweepKernel* kernels[4];
	int count = 0;
#if defined(KN_AVX_KERNEL)
	if (__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")) {
		kernels[count++] = &knSweepKernelAvx512;
	}
	if (__builtin_cpu_supports("avx")) {
		kernels[count++] = &knSweepKernelAvx;
	}
#endif
	kernels[count++] = &knSweepKernelWide;
	kernels[count++] = &knSweepKernelScalar;
	return index < count ? kernels[index] : NULL;
}

const knSweepKernel* knSweepKernel_Best(void) {
	return knSweepKernel_At(0);
}
