#include "dynamics/joint_sweeps.h"

#include "solve/pgs.h"

#define EXACT_WORK                                                                                           \
	20000 // joint rows times points: with more, joints answer once a round and not at every visit
#define NEWTON_ROUNDS 8       // of corrections, while joints are apart
#define NEWTON_TOLERANCE 1e-6 // m or rad

// --- rows ------------------------------------------------------------------------------------------------

bool knJointSweeps_Reserve(knJointSweeps* s) {
	const knModel* model = s->input->model;
	if (!knJointRows_Reserve(&s->joints, model, s->state, s->arena) ||
		!knJointRows_Reserve(&s->errorList, model, s->state, s->arena)) {
		return false;
	}
	s->rows = (knRows){ .items = KN_SCRATCH(s->arena, knRow, s->joints.capacity),
						.capacity = s->joints.capacity,
						.blockCount = model->bodyCount,
						.loads = KN_SCRATCH(s->arena, knRowLoad, s->joints.loadCapacity),
						.loadCapacity = s->joints.loadCapacity };
	s->errorRows = (knRows){ .items = KN_SCRATCH(s->arena, knRow, s->errorList.capacity),
							 .capacity = s->errorList.capacity,
							 .blockCount = model->bodyCount };
	return !s->arena->failed;
}

bool knJointSweeps_Begin(knJointSweeps* s) {
	knJointRows_Fill(&s->joints, s->input, s->memory, s->memoryCount, &s->rows);
	return !s->direct || s->rows.count == 0 || knDirectRows_Build(&s->locked, &s->rows, s->arena);
}

bool knJointSweeps_AddRows(knJointSweeps* s, knSweepSet* set, const int32_t* stageOf, int stage) {
	knDirectRows* locked = s->direct && s->rows.count > 0 ? &s->locked : NULL;
	return knSweepRows_Build(&set->joints, &s->rows, stageOf, set->stageCount, locked, stage, s->arena);
}

// --- bounces ---------------------------------------------------------------------------------------------

typedef struct Bounce {
	knBounceInput input;
	knBouncePoint* points;
	int count;
} Bounce;

static bool isJointed(const knJointSweeps* s, int b) {
	int32_t group = s->islands->group[b];
	return group >= 0 && s->islands->jointed[group] && s->locked.count > 0;
}

static void answerDirectly(knTwist* change, int a, int b, void* context) {
	(void)a;
	(void)b;
	knJointSweeps* s = context;
	knDirectRows_Restore(&s->locked, change);
}

static knBouncePoint makePoint(const knJointSweeps* s, const knSweepChunk* chunk, int k, double e) {
	const knSweepPoint* point = &s->contacts->points[k];
	return (knBouncePoint){ .source = k,
							.a = chunk->a,
							.b = chunk->b,
							.n = point->n,
							.t1 = point->t1,
							.t2 = point->t2,
							.rA = point->rA,
							.rB = point->rB,
							.mu = point->mu,
							.e = e,
							.gap = point->depth,
							.touching =
								KN_REST_GAP * knContactRows_Envelope(s->input->model, chunk->a, chunk->b),
							.jointed = isJointed(s, chunk->a) || isJointed(s, chunk->b) };
}

static int movingBody(const knJointSweeps* s, const knSweepChunk* chunk) {
	return s->input->blocks->invMass[chunk->a] > 0.0 ? chunk->a : chunk->b;
}

static bool listPoints(Bounce* bounce, knJointSweeps* s) {
	const knContactRows* contacts = s->contacts;
	bounce->points = KN_SCRATCH(s->arena, knBouncePoint, contacts->pointCount);
	if (bounce->points == NULL) {
		return false;
	}
	int jointed = 0;
	for (int i = 0; i < contacts->chunkCount; ++i) {
		const knSweepChunk* chunk = &contacts->chunks[i];
		// others bounce by knTimeStep_Bounce
		bool listed = chunk->stage >= 0 && s->input->blocks->weight[movingBody(s, chunk)] == KN_WEIGHT_END;
		for (int k = chunk->first; k < chunk->first + chunk->count && listed; ++k) {
			double e = knContactRows_Restitution(contacts, s->input, k);
			if (e <= 0.0) {
				break;
			}
			if (contacts->points[k].bias < KN_ROW_OUT_OF_REACH) {
				knBouncePoint* p = &bounce->points[bounce->count++];
				*p = makePoint(s, chunk, k, e);
				jointed += p->jointed;
			}
		}
	}
	bounce->input.answer = jointed > 0 ? answerDirectly : NULL;
	bounce->input.context = s;
	bounce->input.exact = (double)jointed * s->locked.count <= EXACT_WORK;
	return true;
}

static bool reserveBounces(knJointSweeps* s, knBounceInput* input) {
	const int count = s->input->blocks->count;
	input->change = KN_SCRATCH_ZERO(s->arena, knTwist, count);
	input->saved = KN_SCRATCH(s->arena, knTwist, count);
	input->unit = KN_SCRATCH_ZERO(s->arena, knTwist, count);
	s->bounces = KN_SCRATCH_ZERO(s->arena, knVec3, s->contacts->pointCount);
	s->landings = KN_SCRATCH_ZERO(s->arena, knBounceLanding, count);
	return !s->arena->failed;
}

bool knJointSweeps_Bounce(knJointSweeps* s, int* rounds) {
	const knStepBodies* blocks = s->input->blocks;
	Bounce bounce = { .input = { .blocks = blocks,
								 .start = s->state->velocity,
								 .forced = blocks->u,
								 .h = blocks->h,
								 .gravity = knLength(s->state->header->gravity),
								 .bodyCount = blocks->count } };
	*rounds = 0;
	if (!listPoints(&bounce, s)) {
		return false;
	}
	if (bounce.count == 0) {
		return true;
	}
	if (!reserveBounces(s, &bounce.input)) {
		return false;
	}
	*rounds = knBounce_Run(&bounce.input, bounce.points, bounce.count);
	knBounce_Land(&bounce.input, s->islands, bounce.points, bounce.count, s->landings);
	for (int b = 0; b < blocks->count; ++b) {
		blocks->u[b] = knAddT(blocks->u[b], bounce.input.change[b]);
	}
	for (int i = 0; i < bounce.count; ++i) {
		const knBouncePoint* p = &bounce.points[i];
		knVec3 held = knScale(p->held, p->n);
		knBounce_Push(&bounce.input, p, held, blocks->u);
		s->bounces[p->source] = knAdd(p->impulse, held);
	}
	return true;
}

void knJointSweeps_Land(const knJointSweeps* s) {
	for (int b = 0; s->landings != NULL && b < s->input->blocks->count; ++b) {
		s->state->pose[b].p = knAdd(s->state->pose[b].p, s->landings[b].way);
	}
}

void knJointSweeps_ReportBounces(const knJointSweeps* s) {
	for (int k = 0; s->bounces != NULL && k < s->contacts->pointCount; ++k) {
		knVec3* impulse = &s->contacts->contacts[s->contacts->anchors[k].contact].impulse;
		*impulse = knAdd(*impulse, s->bounces[k]);
	}
}

// --- corrections -----------------------------------------------------------------------------------------

// Errors at the present poses, for the contacts of `set` (their depths are known) and for the joints.
static bool beginCorrection(knJointSweeps* s, knContactCorrection* correction, knSweepSet* set,
							const int32_t* stageOf, int stage) {
	knContactCorrection_Begin(correction, set);
	knJointRows_FillErrors(&s->errorList, s->input, &s->errorRows);
	knPgs_Begin(&s->errorRows, correction->p);
	knDirectRows* locked = NULL;
	if (s->direct && s->errorRows.count > 0) {
		locked = &s->locked;
		if (!knDirectRows_Build(locked, &s->errorRows, s->arena)) {
			return false;
		}
	}
	return knSweepRows_Build(&s->errors, &s->errorRows, stageOf, set->stageCount, locked, stage, s->arena);
}

// The largest error of a locked row, m or rad.
static double worstJoint(const knJointSweeps* s) {
	double worst = 0.0;
	for (int i = 0; i < s->locked.count; ++i) {
		worst = knMax(worst, knAbs(s->errorRows.items[s->locked.order[i]].bias));
	}
	return worst;
}

bool knJointSweeps_Correct(knJointSweeps* s, knContactCorrection* correction, knSweepSet* set,
						   const int32_t* stageOf, int stage, int count) {
	const int rounds = s->rows.count > 0 ? NEWTON_ROUNDS : 1;
	knContactCorrection_Measure(correction);
	if (s->rows.count == 0 && !knContactCorrection_Overlaps(correction)) {
		return true;
	}
	for (int round = 0; round < rounds; ++round) {
		s->locked.count = 0;
		knContactCorrection_Measure(correction);
		if (!beginCorrection(s, correction, set, stageOf, stage)) {
			return false;
		}
		if (round > 0 && worstJoint(s) < NEWTON_TOLERANCE) {
			break;
		}
		for (int k = 0; round == 0 && k < count; ++k) {
			for (int i = 0; i < stage; ++i) {
				knSweep_Correct(set, i, 1, &correction->tasks, &s->errors, correction->p);
			}
		}
		knSweep_Correct(set, stage, count, &correction->tasks, &s->errors, correction->p);
		if (!knContactCorrection_Finish(correction)) {
			return false;
		}
	}
	return true;
}
