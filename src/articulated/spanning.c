// Spanning forests (spanning.h). Groups are connected over all usable joints between dynamic bodies. In a group the
// tree grows breadth first over the joints that can span it; what cannot be reached becomes another root. Order
// decides everything, never addresses: bodies and joints are visited by their index in the model.
#include "articulated/spanning.h"

// Scratch of a group's search, over the whole model.
typedef struct Search {
	const knModel* model;
	const bool *usable, *loop; // of knSpanning_Find
	knSpanning* out;
	int* first;    // [bodyCount + 1] into `touching`
	int* touching; // joints of every body, ascending
	int* queue;    // placed bodies of the group
	int queued;
	bool* placed; // [bodyCount]
	int* members; // bodies of the group, ascending
	int memberCount;
	int* joints; // joints of the group, ascending
	int jointCount;
	knBaseKind base;
	int baseBody;
} Search;

static bool isDynamic(const knModel* model, int body) {
	return model->bodyKind[body] == KN_BODY_DYNAMIC;
}

static bool canSpan(const Search* search, const knJoint* joint) {
	bool barred = search->loop != NULL && search->loop[joint - search->model->joints];
	return joint->kind != KN_JOINT_CUSTOM && !joint->loop && !barred;
}

static int otherEnd(const knJoint* joint, int body) {
	return joint->parent == body ? joint->child : joint->parent;
}

// --- groups ------------------------------------------------------------------------------------------------

static bool listTouching(Search* search, knArena* arena) {
	const knModel* model = search->model;
	search->first = KN_SCRATCH_ZERO(arena, int, model->bodyCount + 2);
	search->touching = KN_SCRATCH(arena, int, 2 * model->jointCount + 1);
	if (arena->failed) {
		return false;
	}
	for (int j = 0; j < model->jointCount; ++j) {
		if (search->usable[j]) {
			++search->first[model->joints[j].parent + 2];
			++search->first[model->joints[j].child + 2];
		}
	}
	for (int b = 0; b < model->bodyCount; ++b) {
		search->first[b + 2] += search->first[b + 1];
	}
	for (int j = 0; j < model->jointCount; ++j) {
		if (search->usable[j]) {
			search->touching[search->first[model->joints[j].parent + 1]++] = j;
			search->touching[search->first[model->joints[j].child + 1]++] = j;
		}
	}
	return true;
}

// Numbers the groups of dynamic bodies; -1 for all others.
static int numberGroups(const Search* search, int* group) {
	const knModel* model = search->model;
	int count = 0;
	for (int b = 0; b < model->bodyCount; ++b) {
		group[b] = -1;
	}
	for (int b = 0; b < model->bodyCount; ++b) {
		if (!isDynamic(model, b) || group[b] >= 0) {
			continue;
		}
		int queued = 0;
		search->queue[queued++] = b;
		group[b] = count;
		for (int head = 0; head < queued; ++head) {
			int body = search->queue[head];
			for (int k = search->first[body]; k < search->first[body + 1]; ++k) {
				int other = otherEnd(&model->joints[search->touching[k]], body);
				if (isDynamic(model, other) && group[other] < 0) {
					group[other] = count;
					search->queue[queued++] = other;
				}
			}
		}
		++count;
	}
	return count;
}

// Indices sorted by group, ascending within: offsets[g] .. offsets[g + 1]. Items of group -1 are left out.
static void sortByGroup(const int* groupOf, int count, int groups, int* offsets, int* sorted) {
	for (int g = 0; g < groups + 2; ++g) {
		offsets[g] = 0;
	}
	for (int i = 0; i < count; ++i) {
		if (groupOf[i] >= 0) {
			++offsets[groupOf[i] + 2];
		}
	}
	for (int g = 0; g < groups; ++g) {
		offsets[g + 2] += offsets[g + 1];
	}
	for (int i = 0; i < count; ++i) {
		if (groupOf[i] >= 0) {
			sorted[offsets[groupOf[i] + 1]++] = i;
		}
	}
}

// --- spanning tree -----------------------------------------------------------------------------------------

// Fixed bodies before kinematic ones, joints in their order.
static void chooseBase(Search* search) {
	search->base = KN_BASE_FLOATING;
	search->baseBody = 0;
	for (int k = 0; k < search->jointCount; ++k) {
		const knJoint* joint = &search->model->joints[search->joints[k]];
		int end = isDynamic(search->model, joint->parent) ? joint->child : joint->parent;
		if (isDynamic(search->model, end) || !canSpan(search, joint)) {
			continue;
		}
		if (search->model->bodyKind[end] == KN_BODY_FIXED) {
			search->base = KN_BASE_FIXED;
			search->baseBody = 0;
			return;
		}
		if (search->base == KN_BASE_FLOATING) {
			search->base = KN_BASE_KINEMATIC;
			search->baseBody = end;
		}
	}
}

static bool isBase(const Search* search, int body) {
	return search->base == KN_BASE_KINEMATIC ? body == search->baseBody
											 : search->model->bodyKind[body] == KN_BODY_FIXED;
}

bool knSpanning_IsBase(const knSpanning* spanning, int group, int body) {
	Search search = { .model = spanning->model,
					  .base = spanning->base[group],
					  .baseBody = spanning->baseBody[group] };
	return isBase(&search, body);
}

static void place(Search* search, int body, int joint, int from) {
	search->placed[body] = true;
	search->out->via[body] = joint;
	search->out->from[body] = from;
	search->queue[search->queued++] = body;
	if (joint >= 0) {
		search->out->isTree[joint] = true;
	}
}

// Places the far end of a joint whose near end is placed or the base.
static bool grow(Search* search, int j) {
	const knJoint* joint = &search->model->joints[j];
	for (int side = 0; side < 2; ++side) {
		int near = side == 0 ? joint->parent : joint->child, far = side == 0 ? joint->child : joint->parent;
		bool held = isDynamic(search->model, near) ? search->placed[near] : isBase(search, near);
		if (held && isDynamic(search->model, far) && !search->placed[far]) {
			place(search, far, j, isDynamic(search->model, near) ? near : -1);
			return true;
		}
	}
	return false;
}

// One joint of the group that leads on; joints to the base first of all, free ones when nothing else is left.
static bool growAnywhere(Search* search, bool fromFree) {
	bool grown = false;
	for (int k = 0; k < search->jointCount && !(grown && fromFree); ++k) {
		const knJoint* joint = &search->model->joints[search->joints[k]];
		if (canSpan(search, joint) && (joint->kind == KN_JOINT_FREE) == fromFree) {
			bool toBase = !isDynamic(search->model, joint->parent) || !isDynamic(search->model, joint->child);
			grown = ((fromFree || toBase) && grow(search, search->joints[k])) || grown;
		}
	}
	return grown;
}

// The first body that is left and nobody's child, or the first left.
static int chooseRoot(const Search* search) {
	int root = -1;
	for (int m = 0; m < search->memberCount; ++m) {
		int body = search->members[m];
		if (search->placed[body]) {
			continue;
		}
		bool child = false;
		for (int k = search->first[body]; k < search->first[body + 1]; ++k) {
			const knJoint* joint = &search->model->joints[search->touching[k]];
			child = child || (canSpan(search, joint) && joint->child == body &&
							  isDynamic(search->model, joint->parent));
		}
		if (!child) {
			return body;
		}
		root = root < 0 ? body : root;
	}
	return root;
}

static void span(Search* search) {
	search->queued = 0;
	chooseBase(search);
	int head = 0;
	growAnywhere(search, false);
	while (search->queued < search->memberCount) {
		for (; head < search->queued; ++head) {
			int body = search->queue[head];
			for (int k = search->first[body]; k < search->first[body + 1]; ++k) {
				const knJoint* joint = &search->model->joints[search->touching[k]];
				if (canSpan(search, joint) && joint->kind != KN_JOINT_FREE) {
					grow(search, search->touching[k]);
				}
			}
		}
		if (search->queued < search->memberCount && !growAnywhere(search, true)) {
			place(search, chooseRoot(search), -1, -1);
		}
	}
}

// --- all -----------------------------------------------------------------------------------------------------

knFrame knSpanning_SwapAxes(knFrame frame) {
	const double s = 0.70710678118654752;
	return knMulF(frame, knMakeFrame(knZero3(), knQ(0.0, s, 0.0, s)));
}

static bool takeRoom(knSpanning* out, Search* search, knArena* arena) {
	int bodies = out->model->bodyCount, joints = out->model->jointCount;
	out->group = KN_SCRATCH(arena, int, bodies);
	out->bodyFirst = KN_SCRATCH(arena, int, bodies + 2);
	out->bodies = KN_SCRATCH(arena, int, bodies);
	out->via = KN_SCRATCH(arena, int, bodies);
	out->from = KN_SCRATCH(arena, int, bodies);
	out->jointFirst = KN_SCRATCH(arena, int, bodies + 2);
	out->joints = KN_SCRATCH(arena, int, joints + 1);
	out->isTree = KN_SCRATCH_ZERO(arena, bool, joints + 1);
	out->base = KN_SCRATCH(arena, knBaseKind, bodies);
	out->baseBody = KN_SCRATCH(arena, int, bodies);
	search->queue = KN_SCRATCH(arena, int, bodies);
	search->members = KN_SCRATCH(arena, int, bodies);
	search->placed = KN_SCRATCH_ZERO(arena, bool, bodies);
	return !arena->failed && listTouching(search, arena);
}

bool knSpanning_Find(knSpanning* out, const knModel* model, const bool* usable, const bool* loop,
					 knArena* arena) {
	*out = (knSpanning){ .model = model };
	Search search = { .model = model, .usable = usable, .loop = loop, .out = out };
	int* jointGroup = KN_SCRATCH(arena, int, model->jointCount + 1);
	if (!takeRoom(out, &search, arena)) {
		return false;
	}
	out->groupCount = numberGroups(&search, out->group);
	for (int j = 0; j < model->jointCount; ++j) {
		const knJoint* joint = &model->joints[j];
		int body = isDynamic(model, joint->parent) ? joint->parent : joint->child;
		jointGroup[j] = usable[j] ? out->group[body] : -1;
	}
	sortByGroup(out->group, model->bodyCount, out->groupCount, out->bodyFirst, search.members);
	sortByGroup(jointGroup, model->jointCount, out->groupCount, out->jointFirst, out->joints);
	int* members = search.members;
	for (int g = 0; g < out->groupCount; ++g) {
		search.members = members + out->bodyFirst[g];
		search.memberCount = out->bodyFirst[g + 1] - out->bodyFirst[g];
		search.joints = out->joints + out->jointFirst[g];
		search.jointCount = out->jointFirst[g + 1] - out->jointFirst[g];
		search.queue = out->bodies + out->bodyFirst[g];
		span(&search);
		out->base[g] = search.base;
		out->baseBody[g] = search.baseBody;
	}
	return true;
}
