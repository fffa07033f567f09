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

#define CONTACT_GRAIN 64
#define SAME_PLACE 0.05    // of a body's radius: a point so near to an old one carries on for it
#define SAME_DISTANCE 1e-6 // relative, below it the lower feature goes first
#define SLIDING_SPEED 1e-6 // m/s, below it the direction of sliding is noise
#define BOUNCE_STEPS 2.0   // an approach that gravity makes in so many steps does not bounce
#define INHERITORS 32      // points of a pair; with more of them one does not matter
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

// Insertion sort: a pair has few points.
static void sortByFeature(knStepContact* contacts, int count) {
	for (int i = 1; i < count; ++i) {
		knStepContact item = contacts[i];
		int k = i;
		for (; k > 0 && contacts[k - 1].point.feature > item.point.feature; --k) {
			contacts[k] = contacts[k - 1];
		}
		contacts[k] = item;
	}
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
			double reach = SAME_PLACE * input->model->radius[anchorOf(input->model, &contacts[k])];
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
		knCarried* inherited = &anchors[k].inherited;
		inherited->friction = knMulAdd(inherited->friction, weight, gone->friction);
		inherited->changeNormal += weight * gone->changeNormal;
		inherited->changeFriction = knMulAdd(inherited->changeFriction, weight, gone->changeFriction);
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

static int countChunks(const knContactSet* set) {
	int count = 0;
	for (int p = 0; p < set->pairCount; ++p) {
		count += (set->pairs[p].count + KN_CHUNK_POINTS - 1) / KN_CHUNK_POINTS;
	}
	return count;
}

static bool reserve(knContactRows* list, const knContactSet* set, int bodyCount, knArena* arena) {
	*list = (knContactRows){ .contacts = KN_SCRATCH(arena, knStepContact, set->pointCount),
							 .points = KN_SCRATCH(arena, knSweepPoint, set->pointCount),
							 .anchors = KN_SCRATCH(arena, knContactAnchor, set->pointCount),
							 .chunks = KN_SCRATCH(arena, knSweepChunk, countChunks(set)),
							 .bereft = KN_SCRATCH_ZERO(arena, uint8_t, bodyCount) };
	return !arena->failed;
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
// matters. A point out of reach is no contact of this step.
static bool withinReach(const knRowInput* input, const knContactPair* pair, const knContactPoint* point) {
	int a = input->model->shapes[pair->shapeA].body, b = input->model->shapes[pair->shapeB].body;
	const knTwist* u = input->blocks->u;
	knVec3 vA = knAdd(u[a].lin, knCross(u[a].ang, knSub(point->pointA, input->state->pose[a].p)));
	knVec3 vB = knAdd(u[b].lin, knCross(u[b].ang, knSub(point->pointB, input->state->pose[b].p)));
	double envelope = 0.5 * (knCollisionEnvelope(input->model, a) + knCollisionEnvelope(input->model, b));
	return point->separation <= envelope + input->blocks->h * knDistance(vA, vB);
}

// The rows of a pair whose contacts begin at `first`: anchors and chunks.
static void addPair(knContactRows* list, const knRowInput* input, const knContactPair* pair, int first,
					int count, const int* remembered, int* order) {
	const knModelShape* shapes = input->model->shapes;
	const knFrame* pose = input->state->pose;
	int a = shapes[pair->shapeA].body, b = shapes[pair->shapeB].body;
	int rowsEach = rollingArm(input, pair->shapeA, pair->shapeB) > 0.0 ? 6 : 3;
	orderPoints(&list->contacts[first], count, order);
	for (int k = 0; k < count; ++k) {
		const knContactPoint* point = &list->contacts[first + order[k]].point;
		if (k % KN_CHUNK_POINTS == 0) {
			list->chunks[list->chunkCount++] = (knSweepChunk){ .a = a, .b = b, .first = list->pointCount };
		}
		list->chunks[list->chunkCount - 1].count += 1;
		list->anchors[list->pointCount++] = (knContactAnchor){ .onA = knSub(point->pointA, pose[a].p),
															   .onB = knSub(point->pointB, pose[b].p),
															   .bodyA = a,
															   .bodyB = b,
															   .contact = first + order[k],
															   .remembered = remembered[order[k]] };
	}
	list->rowCount += rowsEach * count;
}

bool knContactRows_List(knContactRows* list, const knRowInput* input, const knContactSet* set,
						const knContactMemory* memory, int memoryCount, knArena* arena) {
	int* remembered = KN_SCRATCH(arena, int, set->pointCount);
	int* order = KN_SCRATCH(arena, int, set->pointCount);
	Recall recall = { .memory = memory, .taken = KN_SCRATCH_ZERO(arena, bool, memoryCount) };
	if (!reserve(list, set, input->model->bodyCount, arena)) {
		return false;
	}
	for (int p = 0; p < set->pairCount; ++p) {
		const knContactPair* pair = &set->pairs[p];
		int first = list->count;
		for (int k = 0; k < pair->count; ++k) {
			const knContactPoint* point = &set->points[pair->first + k];
			if (point->separation <= 0.0 || withinReach(input, pair, point)) {
				list->contacts[list->count++] =
					(knStepContact){ .shapeA = pair->shapeA, .shapeB = pair->shapeB, .point = *point };
			}
		}
		int count = list->count - first;
		sortByFeature(&list->contacts[first], count);

		// memories have the same order, so one pass finds those of each pair
		for (recall.begin = recall.end; recall.begin < memoryCount; ++recall.begin) {
			if (comparePair(&memory[recall.begin], pair) >= 0) {
				break;
			}
		}
		for (recall.end = recall.begin; recall.end < memoryCount; ++recall.end) {
			if (comparePair(&memory[recall.end], pair) != 0) {
				break;
			}
		}
		if (isSolid(input, pair)) {
			recallPair(input, &recall, &list->contacts[first], count, &remembered[first]);
			int firstPoint = list->pointCount;
			addPair(list, input, pair, first, count, &remembered[first], &order[first]);
			if (hasOneFace(input, pair->shapeA) && hasOneFace(input, pair->shapeB)) {
				inheritPair(list, input, &recall, firstPoint, list->pointCount - firstPoint);
			}
		}
	}
	// a damaged snapshot may name shapes that do not exist
	const uint32_t shapeCount = (uint32_t)input->model->shapeCount;
	for (int i = 0; i < memoryCount; ++i) {
		bool known = (uint32_t)memory[i].shapeA < shapeCount && (uint32_t)memory[i].shapeB < shapeCount;
		if (!recall.taken[i] && known && memory[i].normal > 0.0) {
			list->bereft[input->model->shapes[memory[i].shapeA].body] = 1;
			list->bereft[input->model->shapes[memory[i].shapeB].body] = 1;
		}
	}
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

// What the normal row asks beyond J u >= 0: bias > 0 leaves room, bias < 0 demands a speed outwards.
static double normalBias(const knSweepPoint* point, const knContactAnchor* anchor, double gap, double e,
						 const knRowInput* input) {
	double h = input->blocks->h;
	double touching = KN_REST_GAP * knContactRows_Envelope(input->model, anchor->bodyA, anchor->bodyB);
	if (e > 0.0 && input->bounceRows) {
		double before = knDot(point->n, relativeVelocity(point, anchor, input->state->velocity));
		double after = knDot(point->n, relativeVelocity(point, anchor, input->blocks->u));
		double resting = BOUNCE_STEPS * knLength(input->state->header->gravity) * h;
		bool meets = gap + h * after <= 0.0 || gap <= touching;
		if (before < -resting && meets) {
			return e * before;
		}
	}
	double room = knMax(gap, 0.0) / h;
	return gap < touching ? room * (gap / touching) : room;
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

static void fillPoint(const FillTask* task, int k) {
	// in
	const knRowInput* input = task->input;
	const knModel* model = input->model;
	knContactAnchor* anchor = &task->list->anchors[k];
	const knStepContact* contact = &task->list->contacts[anchor->contact];
	const knModelShape *shapeA = &model->shapes[contact->shapeA], *shapeB = &model->shapes[contact->shapeB];

	// the common point of both bodies
	knVec3 place = knLerp(contact->point.pointA, contact->point.pointB, 0.5);
	knSweepPoint point = {
		.n = contact->point.normal,
		.rA = knSub(place, input->state->pose[anchor->bodyA].p),
		.rB = knSub(place, input->state->pose[anchor->bodyB].p),
		.mu = knCombine_Apply(model->frictionCombine, shapeA->friction, shapeB->friction),
		.arm = rollingArm(input, contact->shapeA, contact->shapeB),
		.depth = contact->point.separation,
	};
	point.t1 = firstTangent(&point, anchor, input);
	point.t2 = knCross(point.n, point.t1);
	double e = knContactRows_Restitution(task->list, input, k);
	point.bias = normalBias(&point, anchor, contact->point.separation, e, input);

	// warm start; friction is projected on today's tangents
	static const knContactMemory nothing;
	if (task->memory != NULL) {
		const knContactMemory* memory =
			anchor->remembered >= 0 ? &task->memory[anchor->remembered] : &nothing;
		const knCarried* inherited = &anchor->inherited;
		knVec3 friction = knAdd(memory->friction, inherited->friction);
		point.lambda[0] = input->impulseScale * knMax(memory->normal + inherited->normal, 0.0);
		point.lambda[1] = input->impulseScale * knDot(friction, point.t1);
		point.lambda[2] = input->impulseScale * knDot(friction, point.t2);
		point.rolling = point.arm > 0.0 ? knScale(input->impulseScale, memory->rolling) : knZero3();
		anchor->changeNormal = input->impulseScale * (memory->changeNormal + inherited->changeNormal);
		anchor->changeFriction =
			knScale(input->impulseScale, knAdd(memory->changeFriction, inherited->changeFriction));
	}
	task->list->points[k] = point;
}

static void fillRange(int begin, int end, int worker, void* argument) {
	(void)worker;
	const FillTask* task = argument;
	for (int k = begin; k < end; ++k) {
		fillPoint(task, k);
	}
}

void knContactRows_Fill(const knContactRows* list, const knRowInput* input, const knContactMemory* memory) {
	FillTask task = { list, input, memory };
	knTasks_For(&input->tasks, list->pointCount, CONTACT_GRAIN, fillRange, &task);
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
											 .changeNormal = list->anchors[k].changeNormal,
											 .changeFriction = list->anchors[k].changeFriction,
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
	for (int k = 0; k < list->pointCount; ++k) {
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

void knContactRows_Depths(knContactRows* list, const knFrame* start, const knFrame* now, int bodyCount,
						  knQuat* turns, const knTasks* tasks) {
	DepthTask task = { list, start, now, turns };
	knTasks_For(tasks, bodyCount, CONTACT_GRAIN, turnRange, &task);
	knTasks_For(tasks, list->pointCount, CONTACT_GRAIN, depthRange, &task);
}
