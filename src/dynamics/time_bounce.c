// Bounces of bodies on mean velocities, before the forces of the step (bounce.h: together, in rounds, with the velocities of
// the start).
//
// A body, or two, that nothing else bounces on do so when they meet: at the time t of their first contact, to which they
// are moved freely; there normal and arms are true; and with their new velocities they go back by t. The free motion is
//
//   x += t v + t^2 a/2,   v += t a,   R by the mean rotation over t (mean_rotation.h)
//
// reversible, and exact in energy and momenta, so that heights, times and spin of bounces are exact. Such bodies then
// stand behind the surface at the start of the step; a pair of theirs that is apart at the end of the free motion is left out
// of the step. What bounces in larger groups does so at the start poses.

#include "core/sets.h"
#include "dynamics/bounce.h"
#include "dynamics/fast_bodies.h"
#include "dynamics/mean_rotation.h"
#include "dynamics/time_step.h"

#define EVENTS 8          // impacts of a group in a step, one after the other
#define NEWTON_STEPS 12   // on the gap
#define CLOSED 1e-12      // m, a gap that is none
#define CLOSED_FIRST 1e-6 // m, the same where Newton's method ends early
#define TOGETHER 1e-9     // m: points so near at the time of the first bounce with it
#define SLOWEST 1e-12     // m/s, of an approach

typedef struct Bouncer {
	knTimeStep* step;
	knBounceInput input;
	knBouncePoint* points;
	int count;
	int32_t* lead;     // [bodyCount] groups of bodies that bounce on each other
	int32_t* size;     // [bodyCount] of a group: bodies that move
	double* time;      // [bodyCount] s, of a body's last bounce; -1: none
	uint8_t* moved;    // [bodyCount] 1: it stands elsewhere than it did
	knFrame* pose;     // [bodyCount] scratch: where bodies are at a time
	knTwist* velocity; // [bodyCount] and their velocities then
} Bouncer;

// --- free motion -----------------------------------------------------------------------------------------------

static bool moves(const Bouncer* bouncer, int b) {
	return bouncer->step->blocks->invMass[b] > 0.0;
}

// A body after the time t, forward or back.
static void follow(const knTimeStep* step, int b, double t, knFrame* pose, knTwist* velocity) {
	const knModel* model = step->model;
	if (step->model->bodyKind[b] != KN_BODY_DYNAMIC) {
		*pose = knMovePose(*pose, *velocity, t);
		return;
	}
	knVec3 a = knScale(model->gravityScale[b], step->state->header->gravity);
	a = knMulAdd(a, model->invMass[b], step->state->force[b].lin);
	knVec3 Pi = knMulMV(&model->inertiaLocal[b], knInvRotate(pose->q, velocity->ang));
	knVec3 L = knRotate(pose->q, Pi);
	knVec3 w = knMeanAngularVelocity(&model->inertiaLocal[b], &model->invInertiaLocal[b], Pi, t);
	knQuat turn = knQuat_Exp(knScale(t, knRotate(pose->q, w)));
	pose->q = knNormalizeQ(knMulQ(turn, pose->q));
	pose->p = knMulAdd(knMulAdd(pose->p, t, velocity->lin), 0.5 * t * t, a);
	velocity->lin = knMulAdd(velocity->lin, t, a);
	velocity->ang = knRotate(pose->q, knMulMV(&model->invInertiaLocal[b], knInvRotate(pose->q, L)));
}

static void followPair(const Bouncer* bouncer, const knBouncePoint* p, double t) {
	const int bodies[2] = { p->a, p->b };
	for (int k = 0; k < 2; ++k) {
		int b = bodies[k];
		bouncer->pose[b] = bouncer->step->state->pose[b];
		bouncer->velocity[b] = bouncer->step->state->velocity[b];
		follow(bouncer->step, b, t, &bouncer->pose[b], &bouncer->velocity[b]);
	}
}

static knPlacedContact place(const Bouncer* bouncer, const knBouncePoint* p, const knFrame* pose) {
	const knTimeStep* step = bouncer->step;
	return knContactGeometry_At(step->contacts, step->model, step->start, pose, p->source);
}

static knVec3 velocityAt(knTwist u, knVec3 center, knVec3 place) {
	return knAdd(u.lin, knCross(u.ang, knSub(place, center)));
}

// s, when the point meets in the free motion; negative: it does not in this step, or is not found to.
static double timeOfContact(const Bouncer* bouncer, const knBouncePoint* p) {
	const double h = bouncer->step->blocks->h;
	double t = 0.0, gap = 0.0;
	for (int i = 0; i < NEWTON_STEPS; ++i) {
		followPair(bouncer, p, t);
		knPlacedContact at = place(bouncer, p, bouncer->pose);
		gap = at.gap;
		if (knAbs(gap) < CLOSED || (i == 0 && gap <= 0.0)) {
			return t;
		}
		knVec3 vA = velocityAt(bouncer->velocity[p->a], bouncer->pose[p->a].p, at.onA);
		knVec3 vB = velocityAt(bouncer->velocity[p->b], bouncer->pose[p->b].p, at.onB);
		double rate = knDot(at.n, knSub(vB, vA));
		if (rate > -SLOWEST) {
			return -1.0;
		}
		t -= gap / rate;
		if (t < 0.0 || t > h) {
			return -1.0;
		}
	}
	return knAbs(gap) < CLOSED_FIRST ? t : -1.0;
}

// --- points ------------------------------------------------------------------------------------------------------

// A point's directions, arms and gap at given poses.
static void setPoint(const Bouncer* bouncer, knBouncePoint* p, const knFrame* pose) {
	knPlacedContact at = place(bouncer, p, pose);
	bool both = moves(bouncer, p->a) && moves(bouncer, p->b);
	knVec3 common = knLerp(at.onA, at.onB, 0.5);
	p->n = at.n;
	p->t1 = knAnyOrthogonal(at.n);
	p->t2 = knCross(at.n, p->t1);
	p->rA = knSub(both ? common : at.onA, pose[p->a].p);
	p->rB = knSub(both ? common : at.onB, pose[p->b].p);
	p->gap = at.gap;
	p->known = false;
}

static bool listPoints(Bouncer* bouncer) {
	knTimeStep* step = bouncer->step;
	const knContactRows* list = step->contacts;
	const knRowInput input = { .model = step->model };
	int count = 0;
	for (int pass = 0; pass < 2; ++pass) {
		for (int i = 0; i < list->chunkCount; ++i) {
			const knSweepChunk* chunk = &list->chunks[i];
			int body = moves(bouncer, chunk->a) ? chunk->a : chunk->b;
			double e = knContactRows_Restitution(list, &input, chunk->first);
			bool listed = e > 0.0 && chunk->stage >= 0 && step->blocks->weight[body] < KN_WEIGHT_END;
			for (int k = chunk->first; listed && k < chunk->first + chunk->count; ++k) {
				if (pass == 0) {
					count += 1;
					continue;
				}
				const knSweepPoint* point = &list->points[k];
				bouncer->points[bouncer->count++] =
					(knBouncePoint){ .source = k,
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
									 .passing = point->bias >= KN_ROW_OUT_OF_REACH,
									 .touching = KN_REST_GAP *
												 knContactRows_Envelope(step->model, chunk->a, chunk->b) };
			}
		}
		if (count == 0) {
			return true;
		}
		if (pass == 0) {
			bouncer->points = KN_SCRATCH(step->arena, knBouncePoint, count);
			if (step->arena->failed) {
				return false;
			}
		}
	}
	return true;
}

static bool anyBegins(const Bouncer* bouncer) {
	for (int i = 0; i < bouncer->count; ++i) {
		if (knBounce_Begins(&bouncer->input, &bouncer->points[i])) {
			return true;
		}
	}
	return false;
}

static bool reserve(Bouncer* bouncer) {
	const knTimeStep* step = bouncer->step;
	const int count = step->blocks->count;
	knArena* arena = step->arena;
	bouncer->lead = KN_SCRATCH(arena, int32_t, count);
	bouncer->size = KN_SCRATCH_ZERO(arena, int32_t, count);
	bouncer->time = KN_SCRATCH(arena, double, count);
	bouncer->moved = KN_SCRATCH_ZERO(arena, uint8_t, count);
	bouncer->pose = KN_SCRATCH(arena, knFrame, count);
	bouncer->velocity = KN_SCRATCH(arena, knTwist, count);
	bouncer->input.change = KN_SCRATCH_ZERO(arena, knTwist, count);
	bouncer->input.saved = KN_SCRATCH(arena, knTwist, count);
	bouncer->input.unit = KN_SCRATCH_ZERO(arena, knTwist, count);
	for (int b = 0; !arena->failed && b < count; ++b) {
		bouncer->time[b] = -1.0;
	}
	return !arena->failed;
}

// --- one group at its time -----------------------------------------------------------------------------------------

// Groups of bodies on which points begin to bounce.
static void findGroups(Bouncer* bouncer) {
	const int count = bouncer->step->blocks->count;
	for (int b = 0; b < count; ++b) {
		bouncer->lead[b] = b;
		bouncer->size[b] = 0;
	}
	for (int i = 0; i < bouncer->count; ++i) {
		const knBouncePoint* p = &bouncer->points[i];
		if (knBounce_Begins(&bouncer->input, p) && moves(bouncer, p->a) && moves(bouncer, p->b)) {
			knSets_Unite(bouncer->lead, p->a, p->b);
		}
	}
	for (int b = 0; b < count; ++b) {
		bouncer->size[knSets_Find(bouncer->lead, b)] += moves(bouncer, b);
	}
}

static int groupOf(const Bouncer* bouncer, const knBouncePoint* p) {
	return knSets_Find(bouncer->lead, moves(bouncer, p->a) ? p->a : p->b);
}

// The first contact of a group; negative: none at a time of its own.
static double firstContact(const Bouncer* bouncer, const knBouncePoint* const* points, int count,
						   double after) {
	double first = -1.0;
	for (int i = 0; i < count; ++i) {
		if (knBounce_Begins(&bouncer->input, points[i])) {
			double t = timeOfContact(bouncer, points[i]);
			bool later = t >= after && t > 0.0;
			first = later && (first < 0.0 || t < first) ? t : first;
		}
	}
	return first;
}

// Bodies of a group, at most two, gone to or back from a time; answers are those of their poses.
static void go(const Bouncer* bouncer, const int* bodies, int bodyCount, double t) {
	knTimeStep* step = bouncer->step;
	for (int i = 0; i < bodyCount; ++i) {
		int b = bodies[i];
		follow(step, b, t, &step->state->pose[b], &step->state->velocity[b]);
		knMat33 full = knRotateTensor(step->state->pose[b].q, &step->model->invInertiaLocal[b]);
		step->blocks->invInertia[b] = knScaleM(step->blocks->weight[b], &full);
	}
}

static bool bounceAt(Bouncer* bouncer, knBouncePoint* const* points, int count, const int* bodies,
					 int bodyCount, double t) {
	knTimeStep* step = bouncer->step;
	knBouncePoint meeting[KN_CHUNK_POINTS * 4];
	int source[KN_CHUNK_POINTS * 4], met = 0;
	go(bouncer, bodies, bodyCount, t);
	for (int i = 0; i < count && met < KN_CHUNK_POINTS * 4; ++i) {
		knBouncePoint p = *points[i];
		const int sides[2] = { p.a, p.b };
		for (int k = 0; k < 2; ++k) {
			// what the group does not move is where it will be at that time
			knFrame now = step->state->pose[sides[k]];
			bool own = moves(bouncer, sides[k]);
			bouncer->pose[sides[k]] = own ? now : knMovePose(now, step->state->velocity[sides[k]], t);
		}
		setPoint(bouncer, &p, bouncer->pose);
		if (p.gap < TOGETHER) {
			source[met] = i;
			p.gap = 0.0;
			p.impulse = knZero3();
			meeting[met++] = p;
		}
	}
	knBounceInput input = bouncer->input;
	input.bodies = bodies;
	input.bodyCount = bodyCount;
	for (int i = 0; i < bodyCount; ++i) {
		input.change[bodies[i]] = knZeroTwist();
	}
	bool bounced = knBounce_Run(&input, meeting, met) > 0;
	for (int i = 0; i < bodyCount; ++i) {
		int b = bodies[i];
		step->state->velocity[b] = knAddT(step->state->velocity[b], input.change[b]);
		input.change[b] = knZeroTwist();
	}
	for (int i = 0; i < met; ++i) {
		knBouncePoint* p = points[source[i]];
		p->bounced = p->bounced || meeting[i].bounced;
		p->impulse = knAdd(p->impulse, meeting[i].impulse);
	}
	go(bouncer, bodies, bodyCount, -t);
	for (int i = 0; i < bodyCount; ++i) {
		int b = bodies[i];
		knStepBodies_Restart(step->blocks, step->model, step->state, b, KN_WEIGHT_MEAN);
		bouncer->moved[b] = 1;
		bouncer->time[b] = t;
	}
	for (int i = 0; i < count; ++i) {
		setPoint(bouncer, points[i], step->state->pose);
		points[i]->passing = false; // it goes another way now
	}
	return bounced;
}

// The points of a group and its bodies that move.
static void bounceGroup(Bouncer* bouncer, int group, knBouncePoint** points) {
	int bodies[2] = { -1, -1 }, bodyCount = 0, count = 0;
	for (int i = 0; i < bouncer->count; ++i) {
		knBouncePoint* p = &bouncer->points[i];
		const int sides[2] = { p->a, p->b };
		bool fixed = !moves(bouncer, p->a) || !moves(bouncer, p->b);
		// of points between two groups, which do not begin to bounce, the later rounds take care
		if (groupOf(bouncer, p) != group ||
			(!fixed && groupOf(bouncer, p) != knSets_Find(bouncer->lead, p->b))) {
			continue;
		}
		points[count++] = p;
		for (int k = 0; k < 2; ++k) {
			int b = sides[k];
			if (moves(bouncer, b) && b != bodies[0] && b != bodies[1] && bodyCount < 2) {
				bodies[bodyCount++] = b;
			}
		}
	}
	double t = 0.0;
	for (int event = 0; event < EVENTS; ++event) {
		t = firstContact(bouncer, (const knBouncePoint* const*)points, count, t);
		if (t < 0.0 || !bounceAt(bouncer, points, count, bodies, bodyCount, t)) {
			return;
		}
	}
}

// Bodies that may be followed along their way from where they stand, after the bounce: they must not stand behind a surface.
static bool isFast(const Bouncer* bouncer, const knBouncePoint* p) {
	const knTimeStep* step = bouncer->step;
	const knTwist* v = step->state->velocity;
	return knFastBodies_IsFastPair(step->model, p->a, p->b, v[p->a].lin, v[p->b].lin, step->blocks->h);
}

// Groups of at most two bodies that meet in the course of the step.
static bool bounceAtTimes(Bouncer* bouncer) {
	knBouncePoint** points = KN_SCRATCH(bouncer->step->arena, knBouncePoint*, bouncer->count);
	uint8_t* done = KN_SCRATCH_ZERO(bouncer->step->arena, uint8_t, bouncer->step->blocks->count);
	if (bouncer->step->arena->failed) {
		return false;
	}
	findGroups(bouncer);
	for (int i = 0; i < bouncer->count; ++i) {
		const knBouncePoint* p = &bouncer->points[i];
		int group = groupOf(bouncer, p);
		if (!done[group] && bouncer->size[group] <= 2 && p->gap > CLOSED && !isFast(bouncer, p) &&
			knBounce_Begins(&bouncer->input, p)) {
			done[group] = 1;
			bounceGroup(bouncer, group, points);
		}
	}
	return true;
}

// --- the rest --------------------------------------------------------------------------------------------------------

static void bounceTogether(Bouncer* bouncer) {
	knTimeStep* step = bouncer->step;
	for (int i = 0; i < bouncer->count; ++i) {
		knBouncePoint* p = &bouncer->points[i];
		if (bouncer->moved[p->a] || bouncer->moved[p->b]) {
			setPoint(bouncer, p, step->state->pose);
			p->passing = false;
		}
	}
	if (knBounce_Run(&bouncer->input, bouncer->points, bouncer->count) == 0) {
		return;
	}
	for (int b = 0; b < step->blocks->count; ++b) {
		knTwist change = bouncer->input.change[b];
		if (knDotT(change, change) > 0.0) {
			step->state->velocity[b] = knAddT(step->state->velocity[b], change);
			knStepBodies_Restart(step->blocks, step->model, step->state, b, KN_WEIGHT_MEAN);
		}
	}
}

// Rows of what has moved, and of what has bounced: it starts from nothing.
static void renewRows(const Bouncer* bouncer) {
	knTimeStep* step = bouncer->step;
	const double h = step->blocks->h;
	for (int i = 0; i < bouncer->count; ++i) {
		const knBouncePoint* p = &bouncer->points[i];
		knSweepPoint* point = &step->contacts->points[p->source];
		if (p->bounced) {
			step->bounced[p->source] = 1;
			point->lambda[0] = point->lambda[1] = point->lambda[2] = 0.0;
			point->rolling = knZero3();
			step->extra[p->source] = knAdd(step->extra[p->source], p->impulse);
		}
	}
	for (int i = 0; i < step->contacts->chunkCount; ++i) {
		const knSweepChunk* chunk = &step->contacts->chunks[i];
		for (int k = chunk->first; k < chunk->first + chunk->count; ++k) {
			if (!bouncer->moved[chunk->a] && !bouncer->moved[chunk->b]) {
				break;
			}
			knSweepPoint* point = &step->contacts->points[k];
			knContactGeometry_Place(step->contacts, step->model, step->start, step->state->pose, k);
			const knTwist *a = &step->blocks->u[chunk->a], *b = &step->blocks->u[chunk->b];
			knVec3 apart =
				knSub(knAdd(b->lin, knCross(b->ang, point->rB)), knAdd(a->lin, knCross(a->ang, point->rA)));
			bool meets = point->depth + h * knDot(point->n, apart) <= 0.0;
			point->bias = meets ? knMax(point->depth, 0.0) / h : KN_ROW_OUT_OF_REACH;
		}
	}
}

bool knTimeStep_Bounce(knTimeStep* step) {
	Bouncer bouncer = { .step = step,
						.input = { .blocks = step->blocks,
								   .start = step->state->velocity,
								   .forced = step->blocks->u,
								   .h = step->blocks->h,
								   .gravity = knLength(step->state->header->gravity),
								   .bodyCount = step->blocks->count,
								   .yields = true } };
	if (!listPoints(&bouncer)) {
		return false;
	}
	if (bouncer.count == 0 || !anyBegins(&bouncer)) {
		return true;
	}
	if (!reserve(&bouncer) || !bounceAtTimes(&bouncer)) {
		return false;
	}
	bounceTogether(&bouncer);
	renewRows(&bouncer);
	step->renewed = true;
	return true;
}
