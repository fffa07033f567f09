// The set C of constraints as rows: contacts that touch, limits that are reached, loops, motors and dry friction of joints.
#include "steppers/reduced/paper/paper_step.h"

// --- contacts ------------------------------------------------------------------------------------------------

// A ball, or the end of a capsule: the point of its core does not move along the body.
static bool isPoint(const knPaperStep* step, int shape, int body, knVec3 core) {
	const knModelShape* item = &step->context->model->shapes[shape];
	knGeomKind kind = knGeom_Kind(item->geom);
	if (kind != KN_GEOM_CAPSULE) {
		return kind == KN_GEOM_SPHERE;
	}
	knVec3 inBody = knSub(knInvRotate(step->from->start[body].q, core), item->local.p);
	double along = knAbs(knInvRotate(item->local.q, inBody).z), half = knGeom_Size(item->geom).y;
	return along >= (1.0 - 1e-6) * half;
}

// What the normal turns with: the body that a point touches, the line between two points (-1), or what does not move.
static int faceOf(const knPaperStep* step, const knReducedContact* contact) {
	const knReducedStep* from = step->from;
	const knStepContact* source = &from->list.contacts[from->list.anchors[contact->point].contact];
	bool pointA = isPoint(step, source->shapeA, contact->bodyA, contact->coreA);
	bool pointB = isPoint(step, source->shapeB, contact->bodyB, contact->coreB);
	if (pointA && pointB) {
		return -1;
	}
	if (pointA != pointB) {
		return pointA ? contact->bodyB : contact->bodyA;
	}
	return contact->linkB < 0 ? contact->bodyB : contact->bodyA;
}

static knQuat turnOf(const knPaperStep* step, const knPaperPlace* place, int body) {
	return knMulQ(place->pose[body].q, knConj(step->from->start[body].q));
}

// From A's core to B's.
static knVec3 between(const knReducedContact* contact, const knFrame* pose, knVec3 coreA, knVec3 coreB) {
	return knSub(knAdd(pose[contact->bodyB].p, coreB), knAdd(pose[contact->bodyA].p, coreA));
}

knPaperContactAt knPaper_ContactAt(const knPaperStep* step, const knReducedContact* contact,
								   const knPaperPlace* place) {
	int face = faceOf(step, contact);
	knQuat turn = face >= 0 ? turnOf(step, place, face) : knIdentityQ();
	knVec3 coreA = knRotate(turnOf(step, place, contact->bodyA), contact->coreA);
	knVec3 coreB = knRotate(turnOf(step, place, contact->bodyB), contact->coreB);
	knVec3 apart = between(contact, place->pose, coreA, coreB);
	knVec3 apartStart = between(contact, step->from->start, contact->coreA, contact->coreB);
	if (face < 0 && knDot(apart, apartStart) > 0.0) {
		turn = knQuat_Between(knNormalize(apartStart), knNormalize(apart));
	}
	knPaperContactAt site = { .n = knRotate(turn, contact->n),
							  .t1 = knRotate(turn, contact->t1),
							  .t2 = knRotate(turn, contact->t2) };
	site.armA = knAdd(coreA, knRotate(turn, contact->roundA));
	site.armB = knAdd(coreB, knRotate(turn, contact->roundB));
	site.gap = contact->gap + knDot(site.n, apart) - knDot(contact->n, apartStart);
	return site;
}

static void placeContact(const knPaperStep* step, const knPaperPlace* place, knPaperRow* row) {
	const knReducedContact* contact = &step->from->contacts[row->index];
	knPaperContactAt site = knPaper_ContactAt(step, contact, place);
	knVec3 along = row->side == 0 ? site.n : row->side == 1 ? site.t1 : site.t2;
	row->jA = knScaleT(-1.0, knMakeTwist(knCross(site.armA, along), along));
	row->jB = knMakeTwist(knCross(site.armB, along), along);
}

void knPaper_PlaceRows(knPaperStep* step, const knPaperPlace* place, const double* v) {
	if (step->from->pairCount > 0) {
		knReduced_PlacePairs(step->from, place->pose, place->pose);
	}
	for (int i = 0; i < step->C.count; ++i) {
		knPaperRow* row = &step->C.rows[i];
		if (row->source == KN_PAPER_AXIS) {
			const knReducedAxisRow* axis = &step->from->axes[row->index];
			const knForestLink* link = &step->forest->links[axis->link];
			row->rate = 0.0;
			for (int k = 0; k < link->nv; ++k) {
				row->rate += axis->coef[k] * v[link->vOffset + k];
			}
			continue;
		}
		if (row->source == KN_PAPER_CONTACT) {
			placeContact(step, place, row);
		} else {
			row->jA = step->from->pairs[row->index].jP;
			row->jB = step->from->pairs[row->index].jC;
		}
		row->rate =
			knDotT(row->jA, place->velocity[row->bodyA]) + knDotT(row->jB, place->velocity[row->bodyB]);
	}
}

// --- the set -------------------------------------------------------------------------------------------------

static knPaperRow* addRow(knPaperStep* step, knPaperSource source, int index) {
	knPaperRow* row = &step->C.rows[step->C.count++];
	*row = (knPaperRow){ .source = source, .index = index, .normal = -1, .hi = (double)INFINITY };
	return row;
}

static void addContact(knPaperStep* step, int index) {
	const knReducedContact* contact = &step->from->contacts[index];
	int normal = step->C.count;
	for (int side = 0; side < (contact->mu > 0.0 ? 3 : 1); ++side) {
		knPaperRow* row = addRow(step, KN_PAPER_CONTACT, index);
		row->bodyA = contact->bodyA;
		row->bodyB = contact->bodyB;
		row->side = side;
		if (side > 0) {
			row->normal = normal;
			row->mu = contact->mu;
			row->driven = true;
		}
	}
}

// A row of a joint with bounds: a limit, or what holds a rate with a force up to its bounds.
static void addBounded(knPaperStep* step, knPaperSource source, int index, double room, double target,
					   double lo, double hi, bool timeless) {
	bool limit = room < (double)INFINITY;
	if (limit ? room > step->choices.gap : timeless || lo == hi) {
		return;
	}
	knPaperRow* row = addRow(step, source, index);
	row->driven = !limit;
	row->target = limit ? 0.0 : target;
	row->lo = limit ? 0.0 : lo / step->h;
	row->hi = limit ? (double)INFINITY : hi / step->h;
}

static bool takeRoom(knPaperStep* step) {
	knPaperRows* C = &step->C;
	knArena* arena = step->context->arena;
	int most = 3 * step->from->contactCount + step->from->axisCount + step->from->pairCount;
	C->count = 0;
	if (most > C->capacity) {
		C->capacity = most;
		C->rows = KN_SCRATCH(arena, knPaperRow, most);
		C->b = KN_SCRATCH(arena, double, most);
		C->x = KN_SCRATCH(arena, double, most);
		C->matrixCapacity = 0;
	}
	return !arena->failed;
}

static bool takeMatrix(knPaperStep* step) {
	knPaperRows* C = &step->C;
	knArena* arena = step->context->arena;
	if (C->count > C->matrixCapacity) {
		C->matrixCapacity = C->count;
		C->A = KN_SCRATCH(arena, double, (size_t)C->count*(size_t)C->count);
		C->columns = KN_SCRATCH(arena, double, (size_t)C->count*(size_t)step->forest->nv);
	}
	return !arena->failed;
}

bool knPaper_Gather(knPaperStep* step, bool timeless) {
	const knReducedStep* from = step->from;
	if (!takeRoom(step)) {
		return false;
	}
	for (int i = 0; i < from->pairCount; ++i) {
		const knReducedPairRow* pair = &from->pairs[i];
		int count = step->C.count;
		if (pair->locked) {
			addRow(step, KN_PAPER_PAIR, i)->locked = true;
		} else if (pair->law == KN_LAW_BOUND) {
			addBounded(step, KN_PAPER_PAIR, i, pair->room, pair->target, pair->lo, pair->hi, timeless);
		}
		if (step->C.count > count) {
			step->C.rows[count].bodyA = pair->bodyP;
			step->C.rows[count].bodyB = pair->bodyC;
		}
	}
	for (int i = 0; i < from->axisCount; ++i) {
		const knReducedAxisRow* axis = &from->axes[i];
		if (axis->law == KN_LAW_BOUND) {
			addBounded(step, KN_PAPER_AXIS, i, axis->room, axis->target, axis->lo, axis->hi, timeless);
		}
	}
	for (int i = 0; i < from->contactCount && !step->choices.penalty; ++i) {
		if (from->contacts[i].gap <= step->choices.gap) {
			addContact(step, i);
		}
	}
	return takeMatrix(step);
}
