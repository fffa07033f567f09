// Contacts as rows (Erleben 2007). For a point p between bodies A and B and c in {n, t1, t2}:
//
//   J = [ -(r_A x c), -c, +(r_B x c), +c ]      n from A to B, J_n u > 0 separating, r from centres to p
//   normal:    lo = 0, hi = inf                 friction: |lambda_t| <= mu lambda_n
//   bounce:    bias = +e J_n u (u before forces, approaching): w = J_n u' + e J_n u >= 0 is Newton's law
//   apart:     J_n u' >= -d/h, the bodies may close the gap d but not more
//   overlap:   J_n u' >= a modest speed outwards (projection error correction will take that over)
//
// One common point p for both bodies makes the impulses equal and opposite on one line, so linear and angular
// momentum are conserved to round-off. Tangents follow the sliding, where the friction pyramid is then exact;
// at rest they are a fixed pair for each normal. Bodies that resist rolling get two rows more, moments about the
// tangents with |lambda| <= a lambda_n, a the arm of the resistance.

#include "dynamics/contact_rows.h"

#include "core/tasks.h"
#include "dynamics/collision_input.h"

#define CONTACT_GRAIN 64
#define SAME_PLACE 0.05    // of a body's radius: a point so near to an old one carries on for it
#define SLIDING_SPEED 1e-6 // m/s, below it the direction of sliding is noise
#define BOUNCE_STEPS 2.0   // an approach that gravity makes in so many steps does not bounce
#define REST_GAP 0.02      // of the envelope: a smaller gap counts as touching
#define REST_OVERLAP 0.4   // of the envelope: a smaller overlap is left alone, pushing it shakes tall stacks
#define PUSH_GAIN 0.2      // share of what is beyond that is removed per step
#define PUSH_SPEED 0.5     // m/s, at most, so that deep overlaps do not explode

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

bool knContactRows_List(knContactRows* list, const knRowInput* input, const knContactSet* set,
						const knContactMemory* memory, int memoryCount, knArena* arena) {
	*list = (knContactRows){ .count = set->pointCount };
	list->contacts = KN_SCRATCH(arena, knStepContact, set->pointCount);
	list->row = KN_SCRATCH(arena, int, set->pointCount);
	list->remembered = KN_SCRATCH(arena, int, set->pointCount);
	Recall recall = { .memory = memory, .taken = KN_SCRATCH_ZERO(arena, bool, memoryCount) };
	if (arena->failed) {
		return false;
	}
	for (int p = 0, next = 0; p < set->pairCount; ++p) {
		const knContactPair* pair = &set->pairs[p];
		knStepContact* contacts = &list->contacts[next];
		bool solid = isSolid(input, pair);
		int rowsEach = rollingArm(input, pair->shapeA, pair->shapeB) > 0.0 ? 5 : 3;
		for (int k = 0; k < pair->count; ++k, ++next) {
			contacts[k] = (knStepContact){ .shapeA = pair->shapeA,
										   .shapeB = pair->shapeB,
										   .point = set->points[pair->first + k] };
			list->row[next] = solid ? list->rowCount : -1;
			list->rowCount += solid ? rowsEach : 0;
			list->solidCount += solid;
		}
		sortByFeature(contacts, pair->count);

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
		recallPair(input, &recall, contacts, pair->count, &list->remembered[next - pair->count]);
	}
	return true;
}

// --- rows ------------------------------------------------------------------------------------------------

typedef struct FillTask {
	const knContactRows* list;
	const knRowInput* input;
	const knContactMemory* memory;
	int firstRow;
	knRows* rows;
} FillTask;

// One contact while its rows are written.
typedef struct Site {
	int a, b;        // blocks
	knVec3 rA, rB;   // from the centres to the common point
	knVec3 n;        // from A to B
	double gap;      // m, negative when overlapping
	double envelope; // m, of the smaller body that moves
	double mu, e;    // combined materials
	double arm;      // m, of the rolling resistance
} Site;

static double pairEnvelope(const knModel* model, int a, int b) {
	double envelopeA = knCollisionEnvelope(model, a), envelopeB = knCollisionEnvelope(model, b);
	if (model->invMass[a] > 0.0 && model->invMass[b] > 0.0) {
		return knMin(envelopeA, envelopeB);
	}
	return model->invMass[a] > 0.0 ? envelopeA : envelopeB;
}

static Site makeSite(const knRowInput* input, const knStepContact* contact) {
	const knModel* model = input->model;
	const knModelShape *shapeA = &model->shapes[contact->shapeA], *shapeB = &model->shapes[contact->shapeB];
	knVec3 point = knLerp(contact->point.pointA, contact->point.pointB, 0.5);
	Site site = {
		.a = shapeA->body,
		.b = shapeB->body,
		.rA = knSub(point, input->state->pose[shapeA->body].p),
		.rB = knSub(point, input->state->pose[shapeB->body].p),
		.n = contact->point.normal,
		.gap = contact->point.separation,
		.envelope = pairEnvelope(model, shapeA->body, shapeB->body),
		.mu = knCombine_Apply(model->frictionCombine, shapeA->friction, shapeB->friction),
		.e = knCombine_Apply(model->restitutionCombine, shapeA->restitution, shapeB->restitution),
		.arm = rollingArm(input, contact->shapeA, contact->shapeB),
	};
	return site;
}

// Velocity of B relative to A at the point.
static knVec3 relativeVelocity(const Site* site, const knTwist* u) {
	knVec3 vA = knAdd(u[site->a].lin, knCross(u[site->a].ang, site->rA));
	knVec3 vB = knAdd(u[site->b].lin, knCross(u[site->b].ang, site->rB));
	return knSub(vB, vA);
}

static knRow makeRow(const Site* site, const knBlocks* blocks, knVec3 c) {
	knRow row = {
		.a = site->a,
		.b = site->b,
		.Ja = knMakeTwist(knNeg(knCross(site->rA, c)), knNeg(c)),
		.Jb = knMakeTwist(knCross(site->rB, c), c),
		.normal = KN_ROW_NO_NORMAL,
	};
	knBlocks_FinishRow(blocks, &row);
	return row;
}

// A moment about c, bounded by the normal row.
static knRow makeRollingRow(const Site* site, const knBlocks* blocks, knVec3 c, int normal) {
	knRow row = {
		.a = site->a,
		.b = site->b,
		.Ja = knMakeTwist(knNeg(c), knZero3()),
		.Jb = knMakeTwist(c, knZero3()),
		.mu = site->arm,
		.normal = normal,
	};
	knBlocks_FinishRow(blocks, &row);
	return row;
}

// What the normal row asks beyond J u >= 0: bias > 0 leaves room, bias < 0 demands a speed outwards.
static double normalBias(const Site* site, const knRowInput* input) {
	double h = input->blocks->h;
	double before = knDot(site->n, relativeVelocity(site, input->state->velocity));
	double after = knDot(site->n, relativeVelocity(site, input->blocks->u));
	double resting = BOUNCE_STEPS * knLength(input->state->header->gravity) * h;
	double touching = REST_GAP * site->envelope;
	bool meets = site->gap + h * after <= 0.0 || site->gap <= touching;
	double bounce = site->e > 0.0 && before < -resting && meets ? site->e * before : 0.0;
	if (bounce < 0.0 && site->gap > 0.0) {
		return bounce;
	}
	if (site->gap > touching) {
		return site->gap / h;
	}
	// projection error correction will take the place of this push
	double overlap = knMax(-site->gap - REST_OVERLAP * site->envelope, 0.0);
	return knMin(bounce, -knMin(PUSH_GAIN * overlap / h, PUSH_SPEED));
}

static knVec3 firstTangent(const Site* site, const knTwist* u) {
	knVec3 relative = relativeVelocity(site, u);
	knVec3 sliding = knMulAdd(relative, -knDot(relative, site->n), site->n);
	double speed = knLength(sliding);
	return speed > SLIDING_SPEED ? knScale(1.0 / speed, sliding) : knAnyOrthogonal(site->n);
}

static void fillContact(const FillTask* task, int k) {
	const knRowInput* input = task->input;
	Site site = makeSite(input, &task->list->contacts[k]);
	int first = task->firstRow + task->list->row[k];
	knRow* rows = &task->rows->items[first];
	knVec3 t1 = firstTangent(&site, input->blocks->u);
	knVec3 axes[3] = { site.n, t1, knCross(site.n, t1) };
	for (int c = 0; c < 3; ++c) {
		rows[c] = makeRow(&site, input->blocks, axes[c]);
	}
	rows[0].bias = normalBias(&site, input);
	rows[0].hi = (double)INFINITY;
	rows[1].mu = rows[2].mu = site.mu;
	rows[1].normal = rows[2].normal = first;
	for (int c = 1; c < 3 && site.arm > 0.0; ++c) {
		rows[2 + c] = makeRollingRow(&site, input->blocks, axes[c], first);
	}

	// warm start; friction is projected on today's tangents
	if (task->list->remembered[k] >= 0) {
		const knContactMemory* memory = &task->memory[task->list->remembered[k]];
		rows[0].lambda = input->impulseScale * memory->normal;
		rows[1].lambda = input->impulseScale * knDot(memory->friction, axes[1]);
		rows[2].lambda = input->impulseScale * knDot(memory->friction, axes[2]);
	}
}

static void fillRange(int begin, int end, int worker, void* argument) {
	(void)worker;
	const FillTask* task = argument;
	for (int k = begin; k < end; ++k) {
		if (task->list->row[k] >= 0) {
			fillContact(task, k);
		}
	}
}

void knContactRows_Fill(const knContactRows* list, const knRowInput* input, const knContactMemory* memory,
						int firstRow, knRows* rows) {
	KN_ASSERT(firstRow + list->rowCount <= rows->capacity);
	FillTask task = { list, input, memory, firstRow, rows };
	knTasks_For(&input->tasks, list->count, CONTACT_GRAIN, fillRange, &task);
}

int knContactRows_Collect(knContactRows* list, const knRowInput* input, const knRows* rows, int firstRow,
						  knContactMemory* memory) {
	int count = 0;
	for (int k = 0; k < list->count; ++k) {
		knStepContact* contact = &list->contacts[k];
		if (list->row[k] < 0) {
			continue;
		}
		const knRow* row = &rows->items[firstRow + list->row[k]];
		knVec3 friction = knScale(row[1].lambda, row[1].Jb.lin);
		friction = knMulAdd(friction, row[2].lambda, row[2].Jb.lin);
		contact->impulse = knMulAdd(friction, row[0].lambda, row[0].Jb.lin);
		memory[count++] = (knContactMemory){ .shapeA = contact->shapeA,
											 .shapeB = contact->shapeB,
											 .feature = contact->point.feature,
											 .normal = row[0].lambda,
											 .friction = friction,
											 .place = placeOf(input, contact) };
	}
	return count;
}
