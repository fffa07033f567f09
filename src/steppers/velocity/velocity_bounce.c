// Bounces of the velocity stepper (dynamics/bounce.h): before the global solve, with the joints that are solved directly; and
// bodies end where they would have if they had bounced at the surface.

#include "steppers/velocity/velocity_step.h"

#define EXACT_WORK                                                                                           \
	20000 // joint rows times points: with more, joints answer once a round and not at every visit

typedef struct Bounce {
	knBounceInput input;
	knBouncePoint* points;
	int count;
} Bounce;

static bool isJointed(const knVelocityStep* step, int b) {
	int32_t group = step->islands.group[b];
	return group >= 0 && step->islands.jointed[group] && step->direct.count > 0;
}

static void answerDirectly(knTwist* change, int a, int b, void* context) {
	(void)a;
	(void)b;
	knVelocityStep* step = context;
	knDirectRows_Restore(&step->direct, change);
}

static knBouncePoint makePoint(const knVelocityStep* step, const knSweepChunk* chunk, int k, double e) {
	const knSweepPoint* point = &step->contacts.points[k];
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
							.touching = KN_REST_GAP *
										knContactRows_Envelope(step->context->model, chunk->a, chunk->b),
							.jointed = isJointed(step, chunk->a) || isJointed(step, chunk->b) };
}

static int movingBody(const knVelocityStep* step, const knSweepChunk* chunk) {
	return step->blocks.invMass[chunk->a] > 0.0 ? chunk->a : chunk->b;
}

static bool listPoints(Bounce* bounce, knVelocityStep* step) {
	const knContactRows* contacts = &step->contacts;
	bounce->points = KN_SCRATCH(step->context->arena, knBouncePoint, contacts->pointCount);
	if (bounce->points == NULL) {
		return false;
	}
	int jointed = 0;
	for (int i = 0; i < contacts->chunkCount; ++i) {
		const knSweepChunk* chunk = &contacts->chunks[i];
		// others bounce by knTimeStep_Bounce
		bool listed = chunk->stage >= 0 && step->blocks.weight[movingBody(step, chunk)] == KN_WEIGHT_END;
		for (int k = chunk->first; k < chunk->first + chunk->count && listed; ++k) {
			double e = knContactRows_Restitution(contacts, &step->input, k);
			if (e <= 0.0) {
				break;
			}
			knBouncePoint* p = &bounce->points[bounce->count++];
			*p = makePoint(step, chunk, k, e);
			jointed += p->jointed;
		}
	}
	bounce->input.answer = jointed > 0 ? answerDirectly : NULL;
	bounce->input.context = step;
	bounce->input.exact = (double)jointed * step->direct.count <= EXACT_WORK;
	return true;
}

static bool reserve(knVelocityStep* step, knBounceInput* input) {
	knArena* arena = step->context->arena;
	input->change = KN_SCRATCH_ZERO(arena, knTwist, step->blocks.count);
	input->saved = KN_SCRATCH(arena, knTwist, step->blocks.count);
	input->unit = KN_SCRATCH_ZERO(arena, knTwist, step->blocks.count);
	step->bounces = KN_SCRATCH_ZERO(arena, knVec3, step->contacts.pointCount);
	step->landings = KN_SCRATCH_ZERO(arena, knBounceLanding, step->blocks.count);
	return !arena->failed;
}

bool knVelocity_Bounce(knVelocityStep* step) {
	const knState* state = step->context->state;
	Bounce bounce = { .input = { .blocks = &step->blocks,
								 .start = state->velocity,
								 .forced = step->blocks.u,
								 .h = step->h,
								 .gravity = knLength(state->header->gravity),
								 .bodyCount = step->blocks.count } };
	if (!listPoints(&bounce, step)) {
		return false;
	}
	if (bounce.count == 0) {
		return true;
	}
	if (!reserve(step, &bounce.input)) {
		return false;
	}
	step->context->report->iterations += knBounce_Run(&bounce.input, bounce.points, bounce.count);
	knBounce_Land(&bounce.input, &step->islands, bounce.points, bounce.count, step->landings);
	for (int b = 0; b < step->blocks.count; ++b) {
		step->blocks.u[b] = knAddT(step->blocks.u[b], bounce.input.change[b]);
	}
	for (int i = 0; i < bounce.count; ++i) {
		const knBouncePoint* p = &bounce.points[i];
		knVec3 held = knScale(p->held, p->n);
		knBounce_Push(&bounce.input, p, held, step->blocks.u);
		step->bounces[p->source] = knAdd(p->impulse, held);
	}
	return true;
}

void knVelocity_LandBounces(knVelocityStep* step) {
	knFrame* pose = step->context->state->pose;
	for (int b = 0; step->landings != NULL && b < step->blocks.count; ++b) {
		pose[b].p = knAdd(pose[b].p, step->landings[b].way);
	}
}

void knVelocity_ReportBounces(knVelocityStep* step) {
	for (int k = 0; step->bounces != NULL && k < step->contacts.pointCount; ++k) {
		knVec3* impulse = &step->contacts.contacts[step->contacts.anchors[k].contact].impulse;
		*impulse = knAdd(*impulse, step->bounces[k]);
	}
}
