// The impulse stepper in maximal coordinates: collision and contact by impulses at points over a contact graph
// (Guendelman et al. 2003), on the time step of dynamics/time_step.h. Joints are solved at once (dynamics/joint_step.h), or with
// contacts row by row. stepDefault at the end is the method on one page, its phases numbered as in Weinstein et al. (2006);
// paper/step_paper.c is that of the publications.
//
// Poses are only predicted, until phase 6 moves them.

#include "steppers/stepper_ops.h"

#include "solve/pgs.h"
#include "steppers/impulse/impulse_step.h"
#include "steppers/impulse/paper/step_paper.h"

#define SMALL_POINTS 96 // groups of so few contact points are solved to the end

int knImpulseStep_Sweeps(const knImpulseStep* step) {
	int sweeps = step->m.context->settings->sweeps;
	return sweeps >= 0 ? sweeps : KN_DEFAULT_SWEEPS;
}

// --- before the solve ----------------------------------------------------------------------------------------

// How each group of bodies is solved: by its size, or with velocities at the end of the step.
static bool findParts(knImpulseStep* step) {
	knMaximalStep* m = &step->m;
	const int bodyCount = m->model->bodyCount;
	int32_t* points = KN_SCRATCH_ZERO(m->context->arena, int32_t, bodyCount);
	if (points == NULL || !knMaximal_WeighGroups(m)) {
		return false;
	}
	for (int c = 0; c < m->contacts.chunkCount; ++c) {
		const knSweepChunk* chunk = &m->contacts.chunks[c];
		points[knMaximal_GroupOf(m, chunk->a, chunk->b)] += chunk->count;
	}
	for (int b = 0; b < bodyCount; ++b) {
		const int32_t group = m->islands.group[b];
		int size = group >= 0 && points[group] > SMALL_POINTS ? KN_PART_LARGE : KN_PART_SMALL;
		m->stageOf[b] = group < 0 ? -1 : m->whole[group] ? KN_PART_END : size;
	}
	for (int c = 0; c < m->contacts.chunkCount; ++c) {
		knSweepChunk* chunk = &m->contacts.chunks[c];
		chunk->stage = m->stageOf[knMaximal_GroupOf(m, chunk->a, chunk->b)];
	}
	return true;
}

// Contacts at the start poses, for velocities with and without this step's forces; joints, groups.
knStatus knImpulseStep_Prepare(knImpulseStep* step) {
	knMaximalStep* m = &step->m;
	m->direct = m->context->settings->articulation != KN_ARTICULATION_SWEEP;
	m->weights = knTimeStep_ChooseWeights(m->model, m->state, m->context->arena);
	if (m->weights == NULL) {
		return knMaximal_OutOfMemory(m);
	}
	knStatus status = knMaximal_ApplyForces(m, m->h);
	KN_THEN(status, knMaximal_FindContacts(m, true));
	if (status != KN_OK) {
		return status;
	}
	knContactRows_Fill(&m->contacts, &m->input, knStepMemory_Contacts(m->state));
	bool prepared = knMaximal_ListPairs(m) && knMaximal_DropPassing(m) && knMaximal_FindIslands(m) &&
					findParts(step) && knMaximal_SolveJoints(m) && knMaximal_BeginSwept(m) &&
					knContactSolve_Begin(step);
	return prepared ? KN_OK : knMaximal_OutOfMemory(m);
}

// --- contact -------------------------------------------------------------------------------------------------

// What bounces, and what arrives without bouncing; then the sweeps begin with the impulses of the last step and the loads of
// piles. False when out of memory.
static bool beginContact(knImpulseStep* step) {
	knMaximalStep* m = &step->m;
	if (!knMaximal_BeginGroups(m) || !knTimeStep_Land(&m->time)) {
		return false;
	}
	knPgs_Begin(&m->swept.rows, m->blocks.u);
	return knMaximal_BeginLoads(m, m->context->settings->shock != 0);
}

// What sweeps leave over: columns at once, then levels from the ground up.
static bool propagate(knImpulseStep* step) {
	knMaximalStep* m = &step->m;
	const bool shock = m->context->settings->shock != 0;
	int sweeps;
	if (shock && !(knContactGroups_Find(&m->known) && knContactColumns_Run(&m->known))) {
		return false;
	}
	knTimeStep_SumImpulses(&m->time);
	return !shock || knMaximal_PropagateShock(m, KN_SWEEP_CONE, -1, &sweeps);
}

// Impulses accumulated over sweeps; the guard of the energy.
static knStatus contact(knImpulseStep* step) {
	bool solved =
		beginContact(step) && knContactSolve_RunEnd(step) && knContactSolve_Run(step) && propagate(step);
	return solved ? knMaximal_Finish(&step->m) : knMaximal_OutOfMemory(&step->m);
}

// --- the step ------------------------------------------------------------------------------------------------

static knStatus stepDefault(knImpulseStep* step) {
	knMaximalStep* m = &step->m;

	// contacts, joints, groups
	knStatus status = knImpulseStep_Prepare(step);

	// 1 collisions
	if (status == KN_OK && !(knMaximal_BounceSwept(m) && knTimeStep_Bounce(&m->time))) {
		status = knMaximal_OutOfMemory(m);
	}

	// 3 contact graph, contact; 4 shock propagation
	KN_THEN(status, knMaximal_BuildLevels(m));
	KN_THEN(status, contact(step));
	KN_THEN(status, knMaximal_Collect(m));

	// 6 bodies move, then velocities of what is loaded, overlaps and joints that are apart
	KN_THEN(status, knMaximal_Move(m));
	KN_THEN(status, knMaximal_Settle(m));
	if (status == KN_OK) {
		status = knContactSolve_Correct(step) ? KN_OK : knMaximal_OutOfMemory(m);
		knJointStep_Store(&m->jointStep, m->state);
	}
	return status;
}

static knStatus stepImpulse(knStepContext* context, double h) {
	knImpulseStep step = {
		.m = { .context = context, .model = context->model, .state = context->state, .h = h }
	};
	double start = knStepContext_Now(context);
	bool paper = context->settings->scheme == KN_SCHEME_PAPER;
	knStatus status = paper ? knImpulsePaper_Step(&step) : stepDefault(&step);
	if (status == KN_OK) {
		knState_UpdateCoordinates(context->state, context->model);
	}
	context->report->solveTime += knStepContext_Now(context) - start - context->report->collideTime;
	return status;
}

static size_t privateSize(const knModel* model, const knSettings* settings) {
	(void)settings;
	// a first guess that most scenes stay below: four points a body, six numbers a joint
	return knStepMemory_Size(4 * model->bodyCount, 6 * (model->jointCount + model->jointCapacity), 0);
}

const knStepperOps knImpulseStepper = {
	.name = "impulse",
	.help = "maximal coordinates; impulses at contact points over a contact graph",
	.privateSize = privateSize,
	.step = stepImpulse,
	.migrate = knStepMemory_Migrate,
};
