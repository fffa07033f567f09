// Flat patches of contact: points of two welded bodies that have one normal and stand in a row.
//
// A segment on a table touches it at every link, but is rigid: with small turns the gap at each point changes by an affine
// function of its place, so a point between two others whose gap is no smaller than what theirs give by interpolation is held by
// them. Only the corners of the lower hull of the gaps over the row go to the solver, often two of many:
//
//   along the row, s          s_a <= s_k <= s_b:  kept unless  gap_k >= (1 - t) gap_a + t gap_b,  t = (s_k - s_a)/(s_b - s_a)
//   across it, and up         no farther from the line a b than LEAN of a link's size
//
// How a rigid body spreads its load is open. After the step it is spread evenly, for whom asks and for the choice of joints, as
// p_k = N/m + (M - N s_mean)(s_k - s_mean)/S over the m points, with the normal impulse N and its moment M along the row; where
// that would pull, or some points do not touch, the corners keep what they carry.
#include "steppers/adaptive/adaptive_step.h"

#include "core/sort.h"

#define ALIKE 1e-12     // of normals, 1 - cosine
#define FLAT 1e-4       // of a link's size, by which gaps may be off the line
#define LEAN 1e-2       // of a link's size, by which places may be
#define MOST_NORMALS 16 // of two bodies: what has more is not flat

typedef struct Row {
	knAdaptiveStep* step;
	const knContactSet* set;
	knPatchPoint* points;
	int count;
	double size; // m, of a link
} Row;

// --- rows ----------------------------------------------------------------------------------------------------------

static knVec3 placeOf(const Row* row, int k) {
	return row->set->points[row->points[k].index].pointB;
}

static int farthestFrom(const Row* row, int from) {
	int best = from;
	for (int k = 0; k < row->count; ++k) {
		if (knDistance(placeOf(row, k), placeOf(row, from)) >
			knDistance(placeOf(row, best), placeOf(row, from))) {
			best = k;
		}
	}
	return best;
}

static bool comesBefore(const void* a, const void* b, void* context) {
	(void)context;
	const knPatchPoint *p = a, *q = b;
	return p->along < q->along || (p->along == q->along && p->index < q->index);
}

// Places on the row, in its order.
static bool arrange(Row* row) {
	int begin = farthestFrom(row, 0), end = farthestFrom(row, begin);
	knVec3 origin = placeOf(row, begin), way = knSub(placeOf(row, end), origin);
	knVec3 normal = row->set->points[row->points[0].index].normal;
	knVec3 along = knLengthSquared(way) > 0.0 ? knNormalize(way) : way, across = knCross(normal, along);
	for (int k = 0; k < row->count; ++k) {
		knPatchPoint* point = &row->points[k];
		knVec3 at = knSub(placeOf(row, k), origin);
		point->along = knDot(along, at);
		point->across = knDot(across, at);
		point->up = knDot(normal, at);
		point->gap = row->set->points[point->index].separation;
		point->kept = false;
	}
	return knSort_Merge(row->points, row->count, sizeof(*row->points), comesBefore, NULL,
						row->step->context->arena);
}

// A point against the line of two: by how much its gap is larger; how far off it is, as a share of what may be.
static double excess(const knPatchPoint* a, const knPatchPoint* b, const knPatchPoint* point, double size,
					 double* off) {
	double length = b->along - a->along, t = length > 0.0 ? (point->along - a->along) / length : 0.0;
	double across = point->across - (a->across + t * (b->across - a->across));
	double up = point->up - (a->up + t * (b->up - a->up));
	double more = point->gap - (a->gap + t * (b->gap - a->gap));
	*off = knMax(knMax(knAbs(across), knAbs(up)) / (LEAN * size), -more / (FLAT * size));
	return more;
}

// Keeps the corners (Douglas and Peucker 1973); how many points are left out.
static int thin(Row* row, int* stack) {
	knPatchPoint* points = row->points;
	int waiting = 0, begin = 0, end = row->count - 1, kept = 2;
	points[begin].kept = points[end].kept = true;
	for (;;) {
		int worst = -1;
		double most = 1.0, off;
		for (int k = begin + 1; k < end; ++k) {
			(void)excess(&points[begin], &points[end], &points[k], row->size, &off);
			if (off > most) {
				most = off;
				worst = k;
			}
		}
		if (worst >= 0) {
			points[worst].kept = true;
			++kept;
			stack[waiting++] = end;
			end = worst;
		} else if (waiting > 0) {
			begin = end;
			end = stack[--waiting];
		} else {
			return row->count - kept;
		}
	}
}

// --- patches -------------------------------------------------------------------------------------------------------

static bool isLong(const knAdaptiveStep* step, int slot) {
	const knHybridForest* hybrid = &step->hybrid;
	int body = step->world.bodyOf[slot];
	return hybrid->links[body].rank >= 0 &&
		   !knHybridForest_IsLeaf(&hybrid->nodes[hybrid->segments[body].node]);
}

static const knModelShape* shapesOf(const Row* row, const knPatchPoint* point, const knModelShape** b) {
	const knContactPair* pair = &row->set->pairs[point->pair];
	const knModelShape* shapes = row->step->context->model->shapes;
	*b = &shapes[pair->shapeB];
	return &shapes[pair->shapeA];
}

static bool isPlain(const Row* row, const knPatchPoint* point) {
	const knModelShape *b, *a = shapesOf(row, point, &b);
	return !a->sensor && !b->sensor && !(a->rollingFriction > 0.0) && !(b->rollingFriction > 0.0);
}

static bool areAlike(const Row* row, const knPatchPoint* p, const knPatchPoint* q) {
	const knModelShape *pB, *qB, *pA = shapesOf(row, p, &pB), *qA = shapesOf(row, q, &qB);
	return knDot(row->set->points[p->index].normal, row->set->points[q->index].normal) > 1.0 - ALIKE &&
		   pA->friction == qA->friction && pB->friction == qB->friction &&
		   pA->restitution == qA->restitution && pB->restitution == qB->restitution;
}

static double sizeOf(const Row* row) {
	const knModel* model = row->step->context->model;
	const knModelShape *b, *a = shapesOf(row, &row->points[0], &b);
	double size = (double)INFINITY;
	size = row->step->hybrid.links[a->body].rank >= 0 ? knMin(size, model->radius[a->body]) : size;
	return row->step->hybrid.links[b->body].rank >= 0 ? knMin(size, model->radius[b->body]) : size;
}

// Of the points of two bodies, those with the first one's normal come to the front; how many.
static int partition(const Row* row, knPatchPoint* points, int count) {
	int alike = 1;
	for (int k = 1; k < count; ++k) {
		if (areAlike(row, &points[0], &points[k])) {
			knPatchPoint other = points[alike];
			points[alike++] = points[k];
			points[k] = other;
		}
	}
	return alike;
}

// Patches among the points of two bodies, which begin at `first` of the list. False: no memory.
static bool findPatches(knAdaptiveStep* step, const knContactSet* set, int first, int count, int* stack) {
	knWeldPatches* patches = &step->patches;
	for (int normal = 0; count >= 3 && normal < MOST_NORMALS; ++normal) {
		Row row = { .step = step, .set = set, .points = patches->points + first };
		row.count = partition(&row, row.points, count);
		if (row.count >= 3) {
			row.size = sizeOf(&row);
			if (!arrange(&row)) {
				return false;
			}
			int dropped = thin(&row, stack);
			if (dropped > 0) {
				patches->items[patches->count++] = (knWeldPatch){ first, row.count, row.size };
				patches->dropped += dropped;
			}
		}
		first += row.count;
		count -= row.count;
	}
	return true;
}

// --- the set that is solved ----------------------------------------------------------------------------------------

static bool sortPairs(const knContactSet* set, knKeyed* keys, knArena* arena) {
	for (int k = 0; k < set->pairCount; ++k) {
		uint64_t a = (uint64_t)set->pairs[k].frameA, b = (uint64_t)set->pairs[k].frameB;
		keys[k] = (knKeyed){ a < b ? a << 32 | b : b << 32 | a, (uint32_t)k };
	}
	return knSort_Keys(keys, set->pairCount, arena);
}

static bool findAll(knAdaptiveStep* step, const knContactSet* set) {
	knArena* arena = step->context->arena;
	knWeldPatches* patches = &step->patches;
	knKeyed* keys = KN_SCRATCH(arena, knKeyed, set->pairCount);
	int* stack = KN_SCRATCH(arena, int, set->pointCount);
	patches->items = KN_SCRATCH(arena, knWeldPatch, set->pointCount / 3 + 1);
	patches->points = KN_SCRATCH(arena, knPatchPoint, set->pointCount);
	if (arena->failed || !sortPairs(set, keys, arena)) {
		return false;
	}
	int total = 0;
	for (int first = 0, end; first < set->pairCount; first = end) {
		int begin = total;
		const knContactPair* pair = &set->pairs[keys[first].value];
		bool isFlat = isLong(step, pair->frameA) || isLong(step, pair->frameB);
		for (end = first; end < set->pairCount && keys[end].key == keys[first].key; ++end) {
			pair = &set->pairs[keys[end].value];
			for (int k = pair->first; k < pair->first + pair->count && isFlat; ++k) {
				Row row = { .step = step, .set = set };
				patches->points[total] = (knPatchPoint){ .index = k, .pair = (int)keys[end].value };
				total += isPlain(&row, &patches->points[total]);
			}
		}
		if (!findPatches(step, set, begin, total - begin, stack)) {
			return false;
		}
	}
	return true;
}

bool knWeldPatches_Reduce(knAdaptiveStep* step, knContactSet* set) {
	knArena* arena = step->context->arena;
	knWeldPatches* patches = &step->patches;
	*patches = (knWeldPatches){ .set = *set };
	// the published step looks more than once
	if (knAdaptive_IsPaper(step) || set->pointCount < 3) {
		return true;
	}
	if (!findAll(step, set)) {
		return false;
	}
	if (patches->dropped == 0) {
		return true;
	}
	bool* out = KN_SCRATCH_ZERO(arena, bool, set->pointCount);
	knContactPoint* points = KN_SCRATCH(arena, knContactPoint, set->pointCount);
	knContactPair* pairs = KN_SCRATCH(arena, knContactPair, set->pairCount);
	for (int p = 0; !arena->failed && p < patches->count; ++p) {
		for (int k = patches->items[p].first; k < patches->items[p].first + patches->items[p].count; ++k) {
			out[patches->points[k].index] = !patches->points[k].kept;
		}
	}
	int pairCount = 0, pointCount = 0;
	for (int p = 0; !arena->failed && p < set->pairCount; ++p) {
		knContactPair pair = set->pairs[p];
		int first = pointCount;
		for (int k = pair.first; k < pair.first + pair.count; ++k) {
			points[pointCount] = set->points[k];
			pointCount += !out[k];
		}
		pair.first = first;
		pair.count = pointCount - first;
		pairs[pairCount] = pair;
		pairCount += pair.count > 0;
	}
	set->pairs = pairs;
	set->pairCount = pairCount;
	set->points = points;
	set->pointCount = pointCount;
	return !arena->failed;
}

// --- loads ---------------------------------------------------------------------------------------------------------

static bool isBefore(const void* a, const void* b, void* context) {
	(void)context;
	const knStepContact *p = a, *q = b;
	if (p->shapeA != q->shapeA) {
		return p->shapeA < q->shapeA;
	}
	return p->shapeB != q->shapeB ? p->shapeB < q->shapeB : p->point.feature < q->point.feature;
}

static knStepContact contactOf(const knWeldPatches* patches, const knPatchPoint* point) {
	const knContactPair* pair = &patches->set.pairs[point->pair];
	return (knStepContact){ pair->shapeA, pair->shapeB, patches->set.points[point->index], knZero3() };
}

// Of the sorted contacts; NULL: out of reach.
static knStepContact* findContact(knStepContact* contacts, int count, const knStepContact* wanted) {
	int lower = 0, upper = count;
	while (lower < upper) {
		int middle = lower + (upper - lower) / 2;
		if (isBefore(&contacts[middle], wanted, NULL)) {
			lower = middle + 1;
		} else {
			upper = middle;
		}
	}
	return lower < count && !isBefore(wanted, &contacts[lower], NULL) ? &contacts[lower] : NULL;
}

// The points left out touch as those beside them do.
static bool isFlush(const knPatchPoint* points, int count, double size) {
	for (int a = 0, b = 1; b < count; ++b) {
		if (!points[b].kept) {
			continue;
		}
		for (int k = a + 1; k < b; ++k) {
			double off;
			if (excess(&points[a], &points[b], &points[k], size, &off) > FLAT * size) {
				return false;
			}
		}
		a = b;
	}
	return true;
}

typedef struct Load {
	double normal, moment; // N s, N m s along the row
	knVec3 friction;
	double mean, spread; // of places
	int count;
} Load;

static double shareAt(const Load* load, double along) {
	double tilt = load->spread > 0.0 ? (load->moment - load->normal * load->mean) / load->spread : 0.0;
	return load->normal / load->count + tilt * (along - load->mean);
}

static Load loadOf(const knWeldPatches* patches, const knPatchPoint* points, int count,
				   knStepContact* contacts, int contactCount) {
	Load load = { .count = count };
	for (int k = 0; k < count; ++k) {
		load.mean += points[k].along / count;
		knStepContact wanted = contactOf(patches, &points[k]);
		const knStepContact* contact = points[k].kept ? findContact(contacts, contactCount, &wanted) : NULL;
		if (contact != NULL) {
			double normal = knDot(contact->impulse, contact->point.normal);
			load.normal += normal;
			load.moment += normal * points[k].along;
			load.friction = knAdd(load.friction, knMulAdd(contact->impulse, -normal, contact->point.normal));
		}
	}
	for (int k = 0; k < count; ++k) {
		load.spread += (points[k].along - load.mean) * (points[k].along - load.mean);
	}
	return load;
}

// The row's ends bear least, or most.
static bool isSpreadable(const Load* load, const knPatchPoint* points, int count) {
	return load->normal > 0.0 && shareAt(load, points[0].along) >= 0.0 &&
		   shareAt(load, points[count - 1].along) >= 0.0;
}

static void spreadPatch(const knWeldPatches* patches, const knWeldPatch* patch, knStepContact* contacts,
						int contactCount, int* added) {
	const knPatchPoint* points = patches->points + patch->first;
	Load load = loadOf(patches, points, patch->count, contacts, contactCount);
	bool spreads = isFlush(points, patch->count, patch->size) && isSpreadable(&load, points, patch->count);
	for (int k = 0; k < patch->count; ++k) {
		knStepContact contact = contactOf(patches, &points[k]);
		knStepContact* known = points[k].kept ? findContact(contacts, contactCount, &contact) : NULL;
		if (spreads) {
			double share = shareAt(&load, points[k].along);
			contact.impulse =
				knMulAdd(knScale(share, contact.point.normal), share / load.normal, load.friction);
		}
		if (known != NULL) {
			known->impulse = spreads ? contact.impulse : known->impulse;
		} else if (spreads || contact.point.separation <= 0.0) {
			contacts[contactCount + (*added)++] = contact;
		}
	}
}

bool knWeldPatches_Spread(knAdaptiveStep* step) {
	knStepContext* context = step->context;
	const knWeldPatches* patches = &step->patches;
	if (patches->dropped == 0) {
		return true;
	}
	int count = context->contactCount, added = 0, points = 0;
	for (int p = 0; p < patches->count; ++p) {
		points += patches->items[p].count;
	}
	knStepContact* contacts = KN_SCRATCH(context->arena, knStepContact, count + points);
	if (contacts == NULL) {
		return false;
	}
	for (int k = 0; k < count; ++k) {
		contacts[k] = context->contacts[k];
	}
	for (int p = 0; p < patches->count; ++p) {
		spreadPatch(patches, &patches->items[p], contacts, count, &added);
	}
	context->contacts = contacts;
	context->contactCount = count + added;
	context->report->contacts += added;
	return knSort_Merge(contacts, count + added, sizeof(*contacts), isBefore, NULL, context->arena);
}
