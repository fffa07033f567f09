// Contacts as rows (Erleben 2007). For a point p between bodies A and B and c in {n, t1, t2}:
//
//   J = [ -(r_A x c), -c, +(r_B x c), +c ]      n from A to B, J_n u > 0 separating, r from centres to p
//   normal:    lo = 0, hi = inf                 friction: |lambda_t| <= mu lambda_n
//   bounce:    bias = +e J_n u (u before forces, approaching): w = J_n u' + e J_n u >= 0 is Newton's law
//   apart:     J_n u' >= -d/h, the bodies may close the gap d but not more
//   touching:  J_n u' >= 0. Overlaps are the correction's business.
//   in between J_n u' >= -(d/d0) d/h for gaps below d0 = KN_REST_GAP: rows that let a standing body fall by fractions
//              of a micrometre keep tall piles busy, and a gap that is held open until it reaches d0 ends in a drop.
//
// One common point p for both bodies makes the impulses equal and opposite on one line, so linear and angular
// momentum are conserved to round-off. Tangents are a fixed pair for each normal; a friction pyramid may have them
// follow the sliding, where it is then exact. Bodies that resist rolling get three rows more, moments across n and
// about it, each with |lambda| <= a lambda_n, a the arm of the resistance.

#include "dynamics/contact_rows.h"

#include "core/tasks.h"
#include "dynamics/collision_input.h"

enum {
	CONTACT_GRAIN = 64,
	PAIR_GRAIN = 32,
	CHUNK_GRAIN = 16,
	INHERITORS = 32, // points of a pair; with more of them one does not matter
};
#define SAME_PLACE 0.05 // of a body's radius: a point so near to an old one carries on for it
#define ROLLED_PLACE                                                                                         \
	1.0 // likewise, where the two touch in one point, then and now: where one rolls on the other, it wanders
#define SAME_DISTANCE 1e-6 // relative, below it the lower feature goes first
#define SLIDING_SPEED 1e-6 // m/s, below it the direction of sliding is noise
#define FLATTENED 1e-6     // of the trace of S, see below
#define SHARE_MOST 2.0     // points close together cannot hold the moment of one far away

// --- listing ---------------------------------------------------------------------------------------------

static bool isSolid(const knRowInput* input, const knContactPair* pair) {
	const knModel* model = input->model;
	bool sensor = model->shapes[pair->shapeA].sensor || model->shapes[pair->shapeB].sensor;
	bool movable = model->invMass[pair->frameA] > 0.0 || model->invMass[pair->frameB] > 0.0;
	return !sensor && movable;
}

// The arm of the rolling resistance, m: the larger of the two.
static double rollingArm(const knRowInput* input, int shapeA, int shapeB) {
	const knModelShape* shapes = input->model->shapes;
	double arm = knMax(shapes[shapeA].rollingFriction, shapes[shapeB].rollingFriction);
	return input->rolling >= 0.0 ? input->rolling : arm;
}

// The pair's anchor body: the one that moves, so that a point on the ground is known by its place on the box.
static int anchorOf(const knModel* model, const knStepContact* contact) {
	int a = model->shapes[contact->shapeA].body, b = model->shapes[contact->shapeB].body;
	return model->invMass[a] > 0.0 ? a : b;
}

static knVec3 placeOf(const knRowInput* input, const knStepContact* contact) {
	knVec3 point = knLerp(contact->point.pointA, contact->point.pointB, 0.5);
	return knInvPoint(input->state->pose[anchorOf(input->model, contact)], point);
}

// < 0: the memory belongs before the pair of shapes, 0: to it, > 0: after it.
static int comparePair(const knContactMemory* memory, const knContactPair* pair) {
	if (memory->shapeA != pair->shapeA) {
		return memory->shapeA < pair->shapeA ? -1 : 1;
	}
	return memory->shapeB < pair->shapeB ? -1 : memory->shapeB > pair->shapeB;
}

// Memories of one pair, [begin, end), that have not found their contact yet.
typedef struct Recall {
	const knContactMemory* memory;
	bool* taken;
	int begin, end;
} Recall;

static int recallFeature(const Recall* recall, uint64_t feature) {
	for (int i = recall->begin; i < recall->end; ++i) {
		if (!recall->taken[i] && recall->memory[i].feature == feature) {
			recall->taken[i] = true;
			return i;
		}
	}
	return -1;
}

// When a face becomes the other body's to name, all its features change at once, but its points stay.
static int recallPlace(const Recall* recall, knVec3 place, double reach) {
	int nearest = -1;
	double distance = reach;
	for (int i = recall->begin; i < recall->end; ++i) {
		double d = knDistance(recall->memory[i].place, place);
		if (!recall->taken[i] && d < distance) {
			distance = d;
			nearest = i;
		}
	}
	if (nearest >= 0) {
		recall->taken[nearest] = true;
	}
	return nearest;
}

static void recallPair(const knRowInput* input, const Recall* recall, const knStepContact* contacts,
					   int count, int* remembered) {
	int missing = 0;
	for (int k = 0; k < count; ++k) {
		remembered[k] = recallFeature(recall, contacts[k].point.feature);
		missing += remembered[k] < 0;
	}
	for (int k = 0; k < count && missing > 0; ++k) {
		if (remembered[k] < 0) {
			const bool lone = count == 1 && recall->end - recall->begin == 1;
			const double radius = input->model->radius[anchorOf(input->model, &contacts[k])];
			const double reach = (lone ? ROLLED_PLACE : SAME_PLACE) * radius;
			remembered[k] = recallPlace(recall, placeOf(input, &contacts[k]), reach);
		}
	}
}

// --- what points that are gone carried -------------------------------------------------------------------

// Of many corners a manifold keeps four, and which four may change from step to step. What a corner carried goes over
// to those that stay or are new, by changes d that keep force R and moment: sum d = R, sum d x = M, and of all such
// changes the smallest. With n points, c the mean of their x and S the sum of (x - c)(x - c)^T,
//
//   d = R/n + (x - c) . S^-1 (M - R c)
//
// Points on a line or in a plane leave S singular, but then all (x - c) lie there too: a little of its trace is added.
// A point that would have to pull gives up what it carries, and the others share that as well.

typedef struct Heirs {
	knVec3 place[INHERITORS];
	double normal[INHERITORS]; // carried until now
	bool out[INHERITORS];      // gave up what it carried
	int count;

	// of those that are not out
	int sharing;
	knVec3 center;
	knMat33 inverse; // of S
} Heirs;

static void prepareHeirs(Heirs* heirs) {
	heirs->sharing = 0;
	heirs->center = knZero3();
	for (int k = 0; k < heirs->count; ++k) {
		heirs->sharing += !heirs->out[k];
		heirs->center = heirs->out[k] ? heirs->center : knAdd(heirs->center, heirs->place[k]);
	}
	heirs->center = knScale(1.0 / knMax(heirs->sharing, 1.0), heirs->center);
	knMat33 S = knDiagonal33(0.0, 0.0, 0.0);
	double trace = 0.0;
	for (int k = 0; k < heirs->count; ++k) {
		knVec3 x = heirs->out[k] ? knZero3() : knSub(heirs->place[k], heirs->center);
		knMat33 skew = knSkew(x), square = knMulMM(&skew, &skew); // x x^T - x^2 1
		S = knAddMM(&S, &square);
		trace += knLengthSquared(x);
	}
	double shift = (1.0 + FLATTENED) * trace;
	knMat33 diagonal = knDiagonal33(shift, shift, shift);
	S = knAddMM(&S, &diagonal);
	heirs->inverse = trace > 0.0 ? knInverse33(&S) : knDiagonal33(0.0, 0.0, 0.0);
}

// The share of heir k in a force R whose moment is R x.
static double shareOf(const Heirs* heirs, int k, double R, knVec3 x) {
	knVec3 lever = knMulMV(&heirs->inverse, knScale(R, knSub(x, heirs->center)));
	return heirs->out[k] ? 0.0 : R / heirs->sharing + knDot(knSub(heirs->place[k], heirs->center), lever);
}

static double newNormal(const Heirs* heirs, int k, const knContactMemory* gone) {
	double sum = heirs->normal[k] + shareOf(heirs, k, gone->normal, gone->place);
	for (int i = 0; i < heirs->count; ++i) {
		sum += heirs->out[i] ? shareOf(heirs, k, heirs->normal[i], heirs->place[i]) : 0.0;
	}
	return sum;
}

static void inherit(Heirs* heirs, const knContactMemory* gone, knContactAnchor* anchors) {
	for (int k = 0; k < heirs->count; ++k) {
		heirs->out[k] = false;
	}
	prepareHeirs(heirs);
	double largest = 0.0;
	for (int k = 0; k < heirs->count; ++k) {
		largest = knMax(largest, knAbs(shareOf(heirs, k, 1.0, gone->place)));
	}
	for (int k = 0; k < heirs->count; ++k) {
		double weight = largest <= SHARE_MOST ? shareOf(heirs, k, 1.0, gone->place) : 1.0 / heirs->count;
		anchors[k].inherited.friction = knMulAdd(anchors[k].inherited.friction, weight, gone->friction);
	}
	double normal[INHERITORS];
	for (int worst = 0; worst >= 0 && heirs->sharing > 0;) {
		worst = -1;
		for (int k = 0; k < heirs->count; ++k) {
			normal[k] = heirs->out[k] ? 0.0 : newNormal(heirs, k, gone);
			worst = normal[k] < (worst >= 0 ? normal[worst] : 0.0) ? k : worst;
		}
		if (worst >= 0) {
			heirs->out[worst] = true;
			prepareHeirs(heirs);
		}
	}
	for (int k = 0; k < heirs->count; ++k) {
		anchors[k].inherited.normal += normal[k] - heirs->normal[k];
		heirs->normal[k] = normal[k];
	}
}

// Compounds and meshes touch in several directions at once: what one carried is not for another.
static bool hasOneFace(const knRowInput* input, int shape) {
	knGeomKind kind = knGeom_Kind(input->model->shapes[shape].geom);
	return kind != KN_GEOM_COMPOUND && kind != KN_GEOM_MESH && kind != KN_GEOM_HEIGHT_FIELD;
}

// Only while some of the pair's points stayed: else it touches elsewhere.
static void inheritPair(const knContactRows* list, const knRowInput* input, const Recall* recall, int first,
						int count) {
	knContactAnchor* anchors = &list->anchors[first];
	Heirs heirs;
	heirs.count = 0;
	bool stayed = false;
	for (int k = 0; k < count; ++k) {
		stayed |= anchors[k].remembered >= 0;
	}
	for (int i = recall->begin; i < recall->end && stayed && count <= INHERITORS; ++i) {
		if (recall->taken[i] || recall->memory[i].normal <= 0.0) {
			continue;
		}
		for (; heirs.count < count; ++heirs.count) {
			int remembered = anchors[heirs.count].remembered;
			heirs.place[heirs.count] = placeOf(input, &list->contacts[anchors[heirs.count].contact]);
			heirs.normal[heirs.count] = remembered >= 0 ? recall->memory[remembered].normal : 0.0;
		}
		inherit(&heirs, &recall->memory[i], anchors);
	}
}

// The order in which a pair's points are visited: each next one is the farthest from those before. So the first two
// stand across the face, and what one turns the other turns back: sweeps settle a face in a fraction of the visits.
static void orderPoints(const knStepContact* contacts, int count, int* order) {
	double distance[KN_CHUNK_POINTS];
	for (int k = 0; k < count; ++k) {
		order[k] = k;
		distance[k % KN_CHUNK_POINTS] = (double)INFINITY;
	}
	for (int i = 1; i < count && count <= KN_CHUNK_POINTS; ++i) {
		int best = i;
		knVec3 last = contacts[order[i - 1]].point.pointA;
		for (int k = i; k < count; ++k) {
			double d = knDistance(contacts[order[k]].point.pointA, last);
			distance[order[k]] = knMin(distance[order[k]], d);
			best = distance[order[k]] > (1.0 + SAME_DISTANCE) * distance[order[best]] ? k : best;
		}
		int chosen = order[best];
		order[best] = order[i];
		order[i] = chosen;
	}
}

// Bodies look as far as each may go by itself; between two that go together only the way that they can come closer
// matters, with their own velocities or with those that blows may give them. A point out of reach is no contact of this
// step.
static bool withinReach(const knRowInput* input, const knContactPair* pair, const knContactPoint* point) {
	int a = input->model->shapes[pair->shapeA].body, b = input->model->shapes[pair->shapeB].body;
	const knTwist* u = input->blocks->u;
	knVec3 vA = knAdd(u[a].lin, knCross(u[a].ang, knSub(point->pointA, input->state->pose[a].p)));
	knVec3 vB = knAdd(u[b].lin, knCross(u[b].ang, knSub(point->pointB, input->state->pose[b].p)));
	double envelope = 0.5 * (knCollisionEnvelope(input->model, a) + knCollisionEnvelope(input->model, b));
	double fastest = knDistance(vA, vB);
	if (input->struck != NULL) {
		knVec3 hitA = knAdd(vA, knSub(input->struck[a], u[a].lin)),
			   hitB = knAdd(vB, knSub(input->struck[b], u[b].lin));
		fastest = knMax(fastest, knMax(knDistance(hitA, vB), knDistance(vA, hitB)));
	}
	return point->separation <= envelope + input->blocks->h * fastest;
}

// What a pair gets of each list.
typedef struct PairPlace {
	int contact, count; // its first contact and their number
	int point, chunk;   // its first point and chunk
	bool solid;         // it has some
} PairPlace;

typedef struct ListTask {
	const knContactRows* list;
	const knRowInput* input;
	const knContactSet* set;
	const knContactMemory* memory;
	int memoryCount;
	PairPlace* places; // [pairCount]
	bool* taken;       // [memoryCount]
	int* order;        // [pointCount] scratch of each pair at its contacts
	int* remembered;   // [pointCount] the same
} ListTask;

// Which points count, as the first of the pair's numbers in `order`.
static void countRange(int begin, int end, int worker, void* argument) {
	(void)worker;
	const ListTask* task = argument;
	for (int p = begin; p < end; ++p) {
		const knContactPair* pair = &task->set->pairs[p];
		int count = 0, *order = &task->order[pair->first];
		for (int k = pair->first; k < pair->first + pair->count; ++k) {
			const knContactPoint* point = &task->set->points[k];
			if (point->separation <= 0.0 || withinReach(task->input, pair, point)) {
				order[count++] = k;
			}
		}
		task->places[p] = (PairPlace){ .count = count, .solid = isSolid(task->input, pair) };
	}
}

// Gives each pair its place in the lists.
static void placePairs(const ListTask* task, knContactRows* list) {
	for (int p = 0; p < task->set->pairCount; ++p) {
		PairPlace* place = &task->places[p];
		const knContactPair* pair = &task->set->pairs[p];
		place->contact = list->count;
		place->point = list->pointCount;
		place->chunk = list->chunkCount;
		list->count += place->count;
		if (place->solid) {
			list->pointCount += place->count;
			list->chunkCount += (place->count + KN_CHUNK_POINTS - 1) / KN_CHUNK_POINTS;
			list->rowCount +=
				(rollingArm(task->input, pair->shapeA, pair->shapeB) > 0.0 ? 6 : 3) * place->count;
		}
	}
}

// The pair's contacts in order of their features.
static void listContacts(const ListTask* task, const knContactPair* pair, const PairPlace* place) {
	int* order = &task->order[pair->first];
	const knContactPoint* points = task->set->points;
	// insertion: a pair has few points
	for (int i = 1; i < place->count; ++i) {
		int item = order[i], k = i;
		for (; k > 0 && points[order[k - 1]].feature > points[item].feature; --k) {
			order[k] = order[k - 1];
		}
		order[k] = item;
	}
	knStepContact* contacts = &task->list->contacts[place->contact];
	for (int i = 0; i < place->count; ++i) {
		contacts[i] =
			(knStepContact){ .shapeA = pair->shapeA, .shapeB = pair->shapeB, .point = points[order[i]] };
	}
}

// The rows of a pair: anchors and chunks.
static void listRows(const ListTask* task, const knContactPair* pair, const PairPlace* place) {
	const knModelShape* shapes = task->input->model->shapes;
	const knFrame* pose = task->input->state->pose;
	const knStepContact* contacts = &task->list->contacts[place->contact];
	int *order = &task->order[pair->first], *remembered = &task->remembered[pair->first];
	int a = shapes[pair->shapeA].body, b = shapes[pair->shapeB].body;
	orderPoints(contacts, place->count, order);
	for (int k = 0; k < place->count; ++k) {
		const knContactPoint* point = &contacts[order[k]].point;
		task->list->anchors[place->point + k] = (knContactAnchor){ .onA = knSub(point->pointA, pose[a].p),
																   .onB = knSub(point->pointB, pose[b].p),
																   .bodyA = a,
																   .bodyB = b,
																   .contact = place->contact + order[k],
																   .remembered = remembered[order[k]] };
	}
	for (int k = 0; k < place->count; k += KN_CHUNK_POINTS) {
		int left = place->count - k;
		task->list->chunks[place->chunk + k / KN_CHUNK_POINTS] =
			(knSweepChunk){ .a = a,
							.b = b,
							.first = place->point + k,
							.count = left < KN_CHUNK_POINTS ? left : KN_CHUNK_POINTS };
	}
}

// The first memory that does not belong before a pair.
static int firstMemory(const ListTask* task, const knContactPair* pair) {
	int lower = 0, upper = task->memoryCount;
	while (lower < upper) {
		int middle = lower + (upper - lower) / 2;
		if (comparePair(&task->memory[middle], pair) < 0) {
			lower = middle + 1;
		} else {
			upper = middle;
		}
	}
	return lower;
}

static void listRange(int begin, int end, int worker, void* argument) {
	(void)worker;
	const ListTask* task = argument;
	Recall recall = { .memory = task->memory, .taken = task->taken };
	recall.end = firstMemory(task, &task->set->pairs[begin]);
	for (int p = begin; p < end; ++p) {
		const knContactPair* pair = &task->set->pairs[p];
		const PairPlace* place = &task->places[p];
		listContacts(task, pair, place);

		// memories have the same order, so one pass finds those of each pair
		for (recall.begin = recall.end; recall.begin < task->memoryCount; ++recall.begin) {
			if (comparePair(&task->memory[recall.begin], pair) >= 0) {
				break;
			}
		}
		for (recall.end = recall.begin; recall.end < task->memoryCount; ++recall.end) {
			if (comparePair(&task->memory[recall.end], pair) != 0) {
				break;
			}
		}
		if (place->solid) {
			recallPair(task->input, &recall, &task->list->contacts[place->contact], place->count,
					   &task->remembered[pair->first]);
			listRows(task, pair, place);
			if (hasOneFace(task->input, pair->shapeA) && hasOneFace(task->input, pair->shapeB)) {
				inheritPair(task->list, task->input, &recall, place->point, place->count);
			}
		}
	}
}

static void findBereft(const ListTask* task) {
	// a damaged snapshot may name shapes that do not exist
	const knModel* model = task->input->model;
	const uint32_t shapeCount = (uint32_t)model->shapeCount;
	const knContactMemory* memory = task->memory;
	for (int i = 0; i < task->memoryCount; ++i) {
		bool known = (uint32_t)memory[i].shapeA < shapeCount && (uint32_t)memory[i].shapeB < shapeCount;
		if (!task->taken[i] && known && memory[i].normal > 0.0) {
			task->list->bereft[model->shapes[memory[i].shapeA].body] = 1;
			task->list->bereft[model->shapes[memory[i].shapeB].body] = 1;
		}
	}
}

// Points are counted, pairs get their places, and then each writes its own: the order does not depend on threads.
bool knContactRows_List(knContactRows* list, const knRowInput* input, const knContactSet* set,
						const knContactMemory* memory, int memoryCount, knArena* arena) {
	*list = (knContactRows){ 0 };
	ListTask task = { .list = list,
					  .input = input,
					  .set = set,
					  .memory = memory,
					  .memoryCount = memoryCount,
					  .places = KN_SCRATCH(arena, PairPlace, set->pairCount),
					  .taken = KN_SCRATCH_ZERO(arena, bool, memoryCount),
					  .order = KN_SCRATCH(arena, int, set->pointCount),
					  .remembered = KN_SCRATCH(arena, int, set->pointCount) };
	if (arena->failed) {
		return false;
	}
	knTasks_For(&input->tasks, set->pairCount, PAIR_GRAIN, countRange, &task);
	placePairs(&task, list);
	list->contacts = KN_SCRATCH(arena, knStepContact, list->count);
	list->points = KN_SCRATCH(arena, knSweepPoint, list->pointCount);
	list->anchors = KN_SCRATCH(arena, knContactAnchor, list->pointCount);
	list->chunks = KN_SCRATCH(arena, knSweepChunk, list->chunkCount);
	list->bereft = KN_SCRATCH_ZERO(arena, uint8_t, input->model->bodyCount);
	if (arena->failed) {
		return false;
	}
	knTasks_For(&input->tasks, set->pairCount, PAIR_GRAIN, listRange, &task);
	findBereft(&task);
	return true;
}

// --- rows ------------------------------------------------------------------------------------------------

typedef struct FillTask {
	const knContactRows* list;
	const knRowInput* input;
	const knContactMemory* memory;
} FillTask;

double knContactRows_Envelope(const knModel* model, int a, int b) {
	double envelopeA = knCollisionEnvelope(model, a), envelopeB = knCollisionEnvelope(model, b);
	if (model->invMass[a] > 0.0 && model->invMass[b] > 0.0) {
		return knMin(envelopeA, envelopeB);
	}
	return model->invMass[a] > 0.0 ? envelopeA : envelopeB;
}

double knContactRows_Restitution(const knContactRows* list, const knRowInput* input, int point) {
	const knStepContact* contact = &list->contacts[list->anchors[point].contact];
	const knModelShape* shapes = input->model->shapes;
	return knCombine_Apply(input->model->restitutionCombine, shapes[contact->shapeA].restitution,
						   shapes[contact->shapeB].restitution);
}

// Velocity of B relative to A at the point.
static knVec3 relativeVelocity(const knSweepPoint* point, const knContactAnchor* anchor, const knTwist* u) {
	const knTwist *a = &u[anchor->bodyA], *b = &u[anchor->bodyB];
	return knSub(knAdd(b->lin, knCross(b->ang, point->rB)), knAdd(a->lin, knCross(a->ang, point->rA)));
}

// What the points of a pair of shapes have in common.
typedef struct PairValues {
	double mu, e, arm;
	double touching; // m, smaller gaps close slowly
} PairValues;

static PairValues pairValues(const knRowInput* input, const knStepContact* contact) {
	const knModel* model = input->model;
	const knModelShape *a = &model->shapes[contact->shapeA], *b = &model->shapes[contact->shapeB];
	return (PairValues){ .mu = knCombine_Apply(model->frictionCombine, a->friction, b->friction),
						 .e = knCombine_Apply(model->restitutionCombine, a->restitution, b->restitution),
						 .arm = rollingArm(input, contact->shapeA, contact->shapeB),
						 .touching = KN_REST_GAP * knContactRows_Envelope(model, a->body, b->body) };
}

// What the normal row asks beyond J u >= 0: bias > 0 leaves room, bias < 0 demands a speed outwards.
static double normalBias(const knSweepPoint* point, const knContactAnchor* anchor, double gap,
						 const PairValues* pair, const knRowInput* input, bool loaded) {
	double h = input->blocks->h, touching = pair->touching, e = pair->e;
	if (e > 0.0 && input->bounceRows) {
		double before = knDot(point->n, relativeVelocity(point, anchor, input->state->velocity));
		double after = knDot(point->n, relativeVelocity(point, anchor, input->blocks->u));
		double resting = KN_BOUNCE_STEPS * knLength(input->state->header->gravity) * h;
		bool meets = gap + h * after <= 0.0 || gap <= touching;
		if (before < -resting && meets) {
			return e * before;
		}
	}
	double room = knMax(gap, 0.0) / h;
	return gap < touching && loaded ? room * (gap / touching) : room;
}

static knVec3 firstTangent(const knSweepPoint* point, const knContactAnchor* anchor,
						   const knRowInput* input) {
	if (input->alignTangents) {
		knVec3 relative = relativeVelocity(point, anchor, input->blocks->u);
		knVec3 sliding = knMulAdd(relative, -knDot(relative, point->n), point->n);
		double speed = knLength(sliding);
		if (speed > SLIDING_SPEED) {
			return knScale(1.0 / speed, sliding);
		}
	}
	return knAnyOrthogonal(point->n);
}

// Tangents by a normal alone; the points of a face share it.
static void setTangents(const FillTask* task, knSweepPoint* point, const knContactAnchor* anchor,
						const knSweepPoint* before) {
	bool same = before != NULL && !task->input->alignTangents && before->n.x == point->n.x &&
				before->n.y == point->n.y && before->n.z == point->n.z;
	point->t1 = same ? before->t1 : firstTangent(point, anchor, task->input);
	point->t2 = same ? before->t2 : knCross(point->n, point->t1);
}

// `before` is another point of the pair, or NULL.
static void fillPoint(const FillTask* task, int k, const PairValues* pair, const knSweepPoint* before) {
	// in
	const knRowInput* input = task->input;
	knContactAnchor* anchor = &task->list->anchors[k];
	const knStepContact* contact = &task->list->contacts[anchor->contact];

	// the common point of both bodies
	knVec3 place = knLerp(contact->point.pointA, contact->point.pointB, 0.5);
	knSweepPoint point = {
		.n = contact->point.normal,
		.rA = knSub(place, input->state->pose[anchor->bodyA].p),
		.rB = knSub(place, input->state->pose[anchor->bodyB].p),
		.mu = pair->mu,
		.arm = pair->arm,
		.depth = contact->point.separation,
	};
	setTangents(task, &point, anchor, before);

	// warm start; friction is projected on today's tangents
	static const knContactMemory nothing;
	const knContactMemory* memory =
		task->memory != NULL && anchor->remembered >= 0 ? &task->memory[anchor->remembered] : &nothing;
	point.bias = normalBias(&point, anchor, contact->point.separation, pair, input, memory->normal > 0.0);
	if (task->memory != NULL) {
		const knCarried* inherited = &anchor->inherited;
		knVec3 friction = knAdd(memory->friction, inherited->friction);
		point.lambda[0] = input->impulseScale * knMax(memory->normal + inherited->normal, 0.0);
		point.lambda[1] = input->impulseScale * knDot(friction, point.t1);
		point.lambda[2] = input->impulseScale * knDot(friction, point.t2);
		point.rolling = point.arm > 0.0 ? knScale(input->impulseScale, memory->rolling) : knZero3();
	}
	task->list->points[k] = point;
}

static void fillRange(int begin, int end, int worker, void* argument) {
	(void)worker;
	const FillTask* task = argument;
	for (int i = begin; i < end; ++i) {
		int first = task->list->chunks[i].first, last = first + task->list->chunks[i].count - 1;
		PairValues pair = pairValues(task->input, &task->list->contacts[task->list->anchors[first].contact]);
		for (int k = first; k <= last; ++k) {
			fillPoint(task, k, &pair, k > first ? &task->list->points[k - 1] : NULL);
		}
	}
}

void knContactRows_Fill(const knContactRows* list, const knRowInput* input, const knContactMemory* memory) {
	FillTask task = { list, input, memory };
	knTasks_For(&input->tasks, list->chunkCount, CHUNK_GRAIN, fillRange, &task);
}

typedef struct CollectTask {
	const knContactRows* list;
	const knRowInput* input;
	knContactMemory* memory;
} CollectTask;

static void collectRange(int begin, int end, int worker, void* argument) {
	(void)worker;
	const CollectTask* task = argument;
	const knContactRows* list = task->list;
	for (int k = begin; k < end; ++k) {
		const knSweepPoint* point = &list->points[k];
		knStepContact* contact = &list->contacts[list->anchors[k].contact];
		knVec3 friction = knMulAdd(knScale(point->lambda[1], point->t1), point->lambda[2], point->t2);
		contact->impulse = knMulAdd(friction, point->lambda[0], point->n);
		task->memory[k] = (knContactMemory){ .shapeA = contact->shapeA,
											 .shapeB = contact->shapeB,
											 .feature = contact->point.feature,
											 .normal = point->lambda[0],
											 .friction = friction,
											 .place = placeOf(task->input, contact),
											 .rolling = point->rolling };
	}
}

void knContactRows_Collect(knContactRows* list, const knRowInput* input, knContactMemory* memory) {
	CollectTask task = { list, input, memory };
	knTasks_For(&input->tasks, list->pointCount, CONTACT_GRAIN, collectRange, &task);
}

static double pushWork(knVec3 impulse, knVec3 r, const knTwist* u) {
	return knDot(impulse, knAdd(u->lin, knCross(u->ang, r)));
}

double knContactRows_KinematicWork(const knContactRows* list, const knModel* model, const knTwist* u) {
	double work = 0.0;
	bool any = false;
	for (int b = 0; b < model->bodyCount && !any; ++b) {
		any = model->bodyKind[b] == KN_BODY_KINEMATIC;
	}
	for (int k = 0; k < list->pointCount && any; ++k) {
		const knContactAnchor* anchor = &list->anchors[k];
		const knSweepPoint* point = &list->points[k];
		knVec3 impulse = list->contacts[anchor->contact].impulse; // on B, and as much back on A
		if (model->bodyKind[anchor->bodyA] == KN_BODY_KINEMATIC) {
			work += pushWork(impulse, point->rA, &u[anchor->bodyA]);
		}
		if (model->bodyKind[anchor->bodyB] == KN_BODY_KINEMATIC) {
			work -= pushWork(impulse, point->rB, &u[anchor->bodyB]);
		}
	}
	return work;
}

// --- corrections -----------------------------------------------------------------------------------------

typedef struct DepthTask {
	const knContactRows* list;
	const knFrame* start;
	const knFrame* now;
	knQuat* turns; // of each body since the start
} DepthTask;

static void turnRange(int begin, int end, int worker, void* argument) {
	(void)worker;
	const DepthTask* task = argument;
	for (int b = begin; b < end; ++b) {
		task->turns[b] = knMulQ(task->now[b].q, knConj(task->start[b].q));
	}
}

static void depthRange(int begin, int end, int worker, void* argument) {
	(void)worker;
	const DepthTask* task = argument;
	for (int k = begin; k < end; ++k) {
		const knContactAnchor* anchor = &task->list->anchors[k];
		int a = anchor->bodyA, b = anchor->bodyB;
		knVec3 onA = knAdd(task->now[a].p, knRotate(task->turns[a], anchor->onA));
		knVec3 onB = knAdd(task->now[b].p, knRotate(task->turns[b], anchor->onB));
		task->list->points[k].depth = knDot(task->list->points[k].n, knSub(onB, onA));
	}
}

double knContactRows_Depth(const knContactRows* list, const knFrame* start, const knFrame* now, int k) {
	const knContactAnchor* anchor = &list->anchors[k];
	int a = anchor->bodyA, b = anchor->bodyB;
	knQuat turnA = knMulQ(now[a].q, knConj(start[a].q)), turnB = knMulQ(now[b].q, knConj(start[b].q));
	knVec3 onA = knAdd(now[a].p, knRotate(turnA, anchor->onA));
	knVec3 onB = knAdd(now[b].p, knRotate(turnB, anchor->onB));
	return knDot(list->points[k].n, knSub(onB, onA));
}

void knContactRows_Depths(knContactRows* list, const knFrame* start, const knFrame* now, int bodyCount,
						  knQuat* turns, const knTasks* tasks) {
	DepthTask task = { list, start, now, turns };
	knTasks_For(tasks, bodyCount, CONTACT_GRAIN, turnRange, &task);
	knTasks_For(tasks, list->pointCount, CONTACT_GRAIN, depthRange, &task);
}
