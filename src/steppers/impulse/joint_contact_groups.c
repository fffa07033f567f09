// The groups of joint_contact.c: their entries, and the patterns of their matrices.
//
// The matrix of a heap fills, the more the larger it is, and in a large one there is always a row that changes. So groups that are
// dense are solved less exactly (joint_contact_newton.c, joint_contact_linear.c), and the largest are cut into parts, between
// which the matrix has nothing. Units, the bodies that hang together by joints, are never cut: a part is a few of them that
// touch. A group that is mostly one unit (a net, a bridge, a tank with what lies on it) is not large, whatever its size.
#include "steppers/impulse/joint_contact_internal.h"

#define DENSEST 64 // block products a body: beyond it a heap is large, and another group is not solved here
#define UNCUT 640  // bodies of a large group that is not cut
#define PART 430   // bodies of a part at most

// Of one group, in arrays for the largest possible one.
typedef struct Units {
	int count;
	int* of;       // [bodyCount] -1: none
	int* ofIsland; // [islands of joints] -1: none
	int* size;     // [count] bodies
	int* island;   // [count] of joints; -1: a single body
	int* begin;    // [count + 2] into points
	int* points;   // entries of `whole` between a unit and others
	int* part;     // [count] -1: none yet
	int* shared;   // [count] points with the part that is growing
	int* frontier; // [count]
} Units;

typedef struct Builder {
	knJointContacts* contacts;
	knArena* arena;
	Units units;
	int* stepOf; // [bodyCount] -1 between groups
	int* bodies; // [bodyCount]
} Builder;

static bool moves(const Builder* builder, int body) {
	return builder->contacts->whole.invMass[body] > 0.0;
}

// --- units -----------------------------------------------------------------------------------------------

// -1: immovable
static int findUnit(Builder* builder, int body) {
	Units* units = &builder->units;
	if (!moves(builder, body)) {
		return -1;
	}
	if (units->of[body] < 0) {
		const int island = builder->contacts->whole.bodyIsland[body];
		int unit = island >= 0 ? units->ofIsland[island] : -1;
		if (unit < 0) {
			unit = units->count++;
			units->size[unit] = units->shared[unit] = 0;
			units->part[unit] = -1;
			units->island[unit] = island;
			if (island >= 0) {
				units->ofIsland[island] = unit;
			}
		}
		units->of[body] = unit;
		units->size[unit] += 1;
	}
	return units->of[body];
}

typedef struct Size {
	int bodies, largest; // of a group, and of its largest unit
} Size;

static Size findUnits(Builder* builder, const knLawGroup* group) {
	const knArticulationSolve* whole = &builder->contacts->whole;
	Units* units = &builder->units;
	Size size = { 0, 0 };
	units->count = 0;
	for (int n = 0; n < group->count; ++n) {
		const knSolveJoint* joint = &whole->joints[group->entries[n].index];
		(void)findUnit(builder, joint->parent);
		(void)findUnit(builder, joint->child);
	}
	for (int k = 0; k < units->count; ++k) {
		size.bodies += units->size[k];
		size.largest = units->size[k] > size.largest ? units->size[k] : size.largest;
	}
	return size;
}

// --- parts -----------------------------------------------------------------------------------------------

static void findPoints(Builder* builder, const knLawGroup* group) {
	const knArticulationSolve* whole = &builder->contacts->whole;
	Units* units = &builder->units;
	int* begin = units->begin;
	for (int k = 0; k < units->count + 2; ++k) {
		begin[k] = 0;
	}
	for (int pass = 0; pass < 2; ++pass) {
		for (int n = 0; n < group->count; ++n) {
			const int i = group->entries[n].index;
			const int both[2] = { findUnit(builder, whole->joints[i].parent),
								  findUnit(builder, whole->joints[i].child) };
			for (int k = 0; both[0] >= 0 && both[1] >= 0 && both[0] != both[1] && k < 2; ++k) {
				if (pass == 0) {
					begin[both[k] + 2] += 1;
				} else {
					units->points[begin[both[k] + 1]++] = i;
				}
			}
		}
		for (int k = 0; pass == 0 && k < units->count; ++k) {
			begin[k + 2] += begin[k + 1];
		}
	}
}

// Takes a unit into a part; those that touch it come to the frontier.
static void takeUnit(Builder* builder, int unit, int part, int* frontierCount) {
	Units* units = &builder->units;
	units->part[unit] = part;
	for (int e = units->begin[unit]; e < units->begin[unit + 1]; ++e) {
		const knSolveJoint* point = &builder->contacts->whole.joints[units->points[e]];
		const int parent = units->of[point->parent],
				  other = parent == unit ? units->of[point->child] : parent;
		if (units->part[other] < 0) {
			if (units->shared[other] == 0) {
				units->frontier[(*frontierCount)++] = other;
			}
			units->shared[other] += 1;
		}
	}
}

// Lets a part grow from a unit, by what shares most points with it.
static void growPart(Builder* builder, int seed, int part) {
	Units* units = &builder->units;
	int frontierCount = 0, size = 0;
	for (int next = seed; next >= 0;) {
		size += units->size[next];
		takeUnit(builder, next, part, &frontierCount);
		next = -1;
		for (int f = 0; f < frontierCount; ++f) {
			const int unit = units->frontier[f];
			if (units->part[unit] < 0 && size + units->size[unit] <= PART &&
				(next < 0 || units->shared[unit] > units->shared[next] ||
				 (units->shared[unit] == units->shared[next] && unit < next))) {
				next = unit;
			}
		}
	}
	for (int f = 0; f < frontierCount; ++f) {
		units->shared[units->frontier[f]] = 0;
	}
}

static void cutGroup(Builder* builder, knLawGroup* group) {
	Units* units = &builder->units;
	findPoints(builder, group);
	for (int k = 0, part = 0; k < units->count; ++k) {
		if (units->part[k] < 0) {
			growPart(builder, k, part++);
		}
	}
	for (int n = 0; n < group->count; ++n) {
		const knSolveJoint* joint = &builder->contacts->whole.joints[group->entries[n].index];
		const int a = findUnit(builder, joint->parent), b = findUnit(builder, joint->child);
		group->entries[n].cut = a >= 0 && b >= 0 && units->part[a] != units->part[b];
	}
}

// --- groups ----------------------------------------------------------------------------------------------

static bool buildMatrix(Builder* builder, knLawGroup* group) {
	const knArticulationSolve* whole = &builder->contacts->whole;
	int bodyCount = 0, edgeCount = 0;
	knBodyEdge* edges = KN_SCRATCH(builder->arena, knBodyEdge, group->count);
	if (edges == NULL) {
		return false;
	}
	for (int n = 0; n < group->count; ++n) {
		const knSolveJoint* joint = &whole->joints[group->entries[n].index];
		const int both[2] = { joint->parent, joint->child };
		for (int k = 0; k < 2; ++k) {
			if (moves(builder, both[k]) && builder->stepOf[both[k]] < 0) {
				builder->stepOf[both[k]] = bodyCount;
				builder->bodies[bodyCount++] = both[k];
			}
		}
		if (moves(builder, both[0]) && moves(builder, both[1]) && !group->entries[n].cut) {
			edges[edgeCount++] = (knBodyEdge){ both[0], both[1] };
		}
	}
	if (!knBodyMatrix_Build(&group->matrix, builder->bodies, bodyCount, edges, edgeCount, builder->stepOf,
							builder->arena)) {
		return false;
	}
	for (int n = 0; n < group->count; ++n) {
		const knSolveJoint* joint = &whole->joints[group->entries[n].index];
		group->entries[n].a = builder->stepOf[joint->parent];
		group->entries[n].b = builder->stepOf[joint->child];
	}
	for (int i = 0; i < bodyCount; ++i) {
		builder->stepOf[builder->bodies[i]] = -1;
	}
	return true;
}

// Room for vectors, and for rows: those of the blocks and the bounds, three a point.
static bool addNumbers(Builder* builder, knLawGroup* group) {
	knJointContacts* contacts = builder->contacts;
	const int numbers = 6 * group->matrix.count, firstRow = contacts->rowCount;
	int bounds = 0;
	for (int n = 0; n < group->count; ++n) {
		knLawEntry* entry = &group->entries[n];
		const bool joint = entry->index < contacts->jointCount;
		const int ofJoint = joint ? contacts->whole.joints[entry->index].boundCount : 0;
		entry->first = contacts->rowCount;
		contacts->rowCount += joint ? KN_BLOCK_ROWS + ofJoint : 3;
		bounds += ofJoint;
	}
	group->moved = KN_SCRATCH(builder->arena, double, numbers);
	group->forward = KN_SCRATCH(builder->arena, double, numbers);
	group->work = KN_SCRATCH(builder->arena, double, group->large ? KN_LAW_VECTORS* numbers : numbers);
	if (group->large) {
		group->islands = KN_SCRATCH(builder->arena, int, builder->units.count);
		group->held = KN_SCRATCH(builder->arena, knHeldRow, bounds);
		group->deltas = KN_SCRATCH(builder->arena, knLawDelta, contacts->rowCount - firstRow + bounds);
	}
	for (int k = 0; !builder->arena->failed && group->large && k < builder->units.count; ++k) {
		if (builder->units.island[k] >= 0) {
			group->islands[group->islandCount++] = builder->units.island[k];
		}
	}
	return !builder->arena->failed;
}

// The matrix of a group, and whether the group is large. False: no memory.
static bool chooseWay(Builder* builder, knLawGroup* group, bool* solvable) {
	const Size size = findUnits(builder, group);
	if (!buildMatrix(builder, group)) {
		return false;
	}
	const bool dense = group->matrix.products > (int64_t)DENSEST * size.bodies;
	group->heap = 2 * size.largest < size.bodies;
	group->large = dense && group->heap;
	*solvable = !dense || group->large;
	if (!group->large || size.bodies <= UNCUT) {
		return true;
	}
	cutGroup(builder, group);
	return buildMatrix(builder, group);
}

static bool addGroup(Builder* builder, int island) {
	knJointContacts* contacts = builder->contacts;
	const knArticulationSolve* whole = &contacts->whole;
	const int begin = whole->islandBegin[island], count = whole->islandBegin[island + 1] - begin;
	knLawGroup* group = &contacts->groups[contacts->groupCount];
	*group = (knLawGroup){ .contacts = contacts,
						   .entries = KN_SCRATCH_ZERO(builder->arena, knLawEntry, count),
						   .count = count };
	if (group->entries == NULL) {
		return false;
	}
	for (int n = 0; n < count; ++n) {
		group->entries[n].index = whole->islandJoint[begin + n];
		group->pointCount += group->entries[n].index >= contacts->jointCount ? 1 : 0;
	}
	bool solvable;
	if (!chooseWay(builder, group, &solvable)) {
		return false;
	}
	if (!solvable) {
		return true;
	}
	contacts->groupCount += 1;
	return addNumbers(builder, group);
}

static bool reserve(Builder* builder) {
	knJointContacts* contacts = builder->contacts;
	knArena* arena = builder->arena;
	const int bodies = contacts->whole.input.model->bodyCount, entries = contacts->whole.jointCount;
	Units* units = &builder->units;
	units->of = KN_SCRATCH(arena, int, bodies);
	units->ofIsland = KN_SCRATCH(arena, int, contacts->jointCount);
	units->size = KN_SCRATCH(arena, int, bodies);
	units->island = KN_SCRATCH(arena, int, bodies);
	units->begin = KN_SCRATCH(arena, int, bodies + 2);
	units->points = KN_SCRATCH(arena, int, 2 * entries);
	units->part = KN_SCRATCH(arena, int, bodies);
	units->shared = KN_SCRATCH(arena, int, bodies);
	units->frontier = KN_SCRATCH(arena, int, bodies);
	builder->stepOf = KN_SCRATCH(arena, int, bodies);
	builder->bodies = KN_SCRATCH(arena, int, bodies);
	contacts->groups = KN_SCRATCH(arena, knLawGroup, contacts->whole.islandCount);
	for (int b = 0; !arena->failed && b < bodies; ++b) {
		units->of[b] = builder->stepOf[b] = -1;
	}
	for (int k = 0; !arena->failed && k < contacts->jointCount; ++k) {
		units->ofIsland[k] = -1;
	}
	return !arena->failed;
}

bool knJointContacts_Group(knJointContacts* contacts, knArena* arena) {
	Builder builder = { .contacts = contacts, .arena = arena };
	if (!reserve(&builder)) {
		return false;
	}
	for (int k = 0; k < contacts->whole.islandCount; ++k) {
		if (contacts->touched[k] != 0 && !addGroup(&builder, k)) {
			return false;
		}
	}
	// rows come and go between rounds: their weights begin at 0
	contacts->rows = KN_SCRATCH_ZERO(arena, knLawRow, contacts->rowCount);
	return !arena->failed;
}
