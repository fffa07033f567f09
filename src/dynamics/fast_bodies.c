// Which bodies are fast, and what a step's query leaves to the way they fly.

#include "dynamics/fast_bodies.h"

#include "core/sort.h"
#include "dynamics/collision_input.h"
#include "dynamics/joint_rows.h"

#define OWN_SIZES 1.0   // diameters a step: what goes farther is fast by itself
#define THIN_SHARE 0.5  // of the thickness a step: what is marked and goes farther is fast
#define SKIN_SHARE 0.05 // of the envelope
#define TOUCH_SKINS 2.0 // a wider gap is no contact of a fast body

double knFastBodies_Skin(const knModel* model, int a, int b) {
	double envelopeA = knCollisionEnvelope(model, a), envelopeB = knCollisionEnvelope(model, b);
	if (model->invMass[a] > 0.0 && model->invMass[b] > 0.0) {
		return SKIN_SHARE * knMin(envelopeA, envelopeB);
	}
	return SKIN_SHARE * (model->invMass[a] > 0.0 ? envelopeA : envelopeB);
}

static bool isFast(const knModel* model, const knBlocks* blocks, int b) {
	double radius = model->radius[b];
	if (blocks->invMass[b] == 0.0 || radius == 0.0) {
		return false;
	}
	double way = blocks->h * knLength(blocks->u[b].lin);
	double reach = model->bodyFast[b] ? way + blocks->h * radius * knLength(blocks->u[b].ang) : 0.0;
	bool far =
		way > 2.0 * OWN_SIZES * radius || (model->bodyFast[b] && reach > THIN_SHARE * model->thinness[b]);
	return far && knIsFinite(way) && knIsFinite3(blocks->u[b].ang);
}

static bool findJointed(knFastBodies* fast, const knModel* model, const knState* state, knArena* arena) {
	knJointEdge* edges = KN_SCRATCH(arena, knJointEdge, knState_JointCount(model));
	fast->isFast = KN_SCRATCH_ZERO(arena, uint8_t, model->bodyCount);
	fast->jointed = KN_SCRATCH_ZERO(arena, uint8_t, model->bodyCount);
	if (arena->failed) {
		return false;
	}
	int count = knJointRows_ListEdges(model, state, edges);
	for (int i = 0; i < count; ++i) {
		fast->jointed[edges[i].a] = fast->jointed[edges[i].b] = 1;
	}
	return true;
}

bool knFastBodies_Find(knFastBodies* fast, const knModel* model, const knState* state, const knBlocks* blocks,
					   knArena* arena) {
	for (int b = 1; b < model->bodyCount; ++b) {
		if (!isFast(model, blocks, b)) {
			continue;
		}
		if (fast->isFast == NULL && !findJointed(fast, model, state, arena)) {
			return false;
		}
		if (fast->isFast[b] == 0 && (model->bodyFast[b] || !fast->jointed[b])) {
			fast->isFast[b] = fast->jointed[b] ? 2 : 1;
			fast->count += 1;
		}
	}
	return true;
}

void knFastBodies_Margins(const knFastBodies* fast, const knModel* model, double* margins) {
	for (int b = 0; fast->count > 0 && b < model->bodyCount; ++b) {
		if (fast->isFast[b] == 1) {
			margins[b] = 0.5 * knCollisionEnvelope(model, b);
		}
	}
}

static bool leavesGaps(const knFastBodies* fast, const knContactPair* pair) {
	return fast->isFast[pair->frameA] == 1 || fast->isFast[pair->frameB] == 1;
}

bool knFastBodies_Filter(const knFastBodies* fast, const knModel* model, knContactSet* set, knArena* arena) {
	if (fast->count == 0) {
		return true;
	}
	knContactPair* pairs = KN_SCRATCH(arena, knContactPair, set->pairCount);
	knContactPoint* points = KN_SCRATCH(arena, knContactPoint, set->pointCount);
	if (arena->failed) {
		return false;
	}
	int pairCount = 0, pointCount = 0;
	for (int i = 0; i < set->pairCount; ++i) {
		knContactPair pair = set->pairs[i];
		bool sensor = model->shapes[pair.shapeA].sensor || model->shapes[pair.shapeB].sensor;
		bool touching = leavesGaps(fast, &pair) && !sensor;
		double gap = touching ? TOUCH_SKINS * knFastBodies_Skin(model, pair.frameA, pair.frameB) : 0.0;
		int first = pointCount;
		for (int k = pair.first; k < pair.first + pair.count; ++k) {
			if (!touching || set->points[k].separation <= gap) {
				points[pointCount++] = set->points[k];
			}
		}
		pair.first = first;
		pair.count = pointCount - first;
		if (pair.count > 0) {
			pairs[pairCount++] = pair;
		}
	}
	set->pairs = pairs;
	set->pairCount = pairCount;
	set->points = points;
	set->pointCount = pointCount;
	return true;
}

static bool contactBefore(const void* a, const void* b, void* context) {
	(void)context;
	const knStepContact *p = a, *q = b;
	if (p->shapeA != q->shapeA) {
		return p->shapeA < q->shapeA;
	}
	return p->shapeB < q->shapeB || (p->shapeB == q->shapeB && p->point.feature < q->point.feature);
}

bool knFastBodies_Publish(const knFastBodies* fast, knStepContact** contacts, int* count, knArena* arena) {
	if (fast->hitCount == 0) {
		return true;
	}
	int total = *count + fast->hitCount;
	knStepContact* all = KN_SCRATCH(arena, knStepContact, total);
	if (arena->failed) {
		return false;
	}
	for (int i = 0; i < total; ++i) {
		all[i] = i < *count ? (*contacts)[i] : fast->hits[i - *count];
	}
	*contacts = all;
	*count = total;
	return knSort_Merge(all, total, sizeof(*all), contactBefore, NULL, arena);
}
