// Linkages of a model: which bodies joints hold together, and a spanning tree of each such group.
//
// Groups are connected over all enabled joints between dynamic bodies. In a group the tree grows breadth first over
// the joints that can span it; what cannot be reached becomes another root. Order decides everything, never
// addresses: bodies and joints are visited by their index in the model.
#include "articulated/tree.h"

#include "core/arena.h"
#include "model/model.h"

struct knLinkageSet {
	knArena arena; // holds all but the trees
	const knModel* model;
	int count;
	knLinkage* items; // [count]
	int* linkageOf;   // [bodyCount] -1: not dynamic
	int* linkOf;      // [bodyCount]
};

// Scratch of a group's search, over the whole model.
typedef struct Search {
	const knModel* model;
	int* first;    // [bodyCount + 1] into `touching`
	int* touching; // joints of every body, ascending
	int* queue;    // [bodyCount] placed bodies of the group
	int queued;
	int* via;     // [bodyCount] the joint a placed body hangs on, -1: a floating root
	int* from;    // [bodyCount] and the body at its other end, -1: the base
	bool* isTree; // [jointCount]
	bool* placed; // [bodyCount]
	int* members; // [bodyCount] bodies of the group, ascending
	int memberCount;
	int* joints; // [jointCount] joints of the group, ascending
	int jointCount;
	knBaseKind base;
	int baseBody;
} Search;

static bool isDynamic(const knModel* model, int body) {
	return model->bodyKind[body] == KN_BODY_DYNAMIC;
}

static bool canSpan(const knJoint* joint) {
	return joint->kind != KN_JOINT_CUSTOM && !joint->loop;
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
		if (model->jointEnabled[j]) {
			++search->first[model->joints[j].parent + 2];
			++search->first[model->joints[j].child + 2];
		}
	}
	for (int b = 0; b < model->bodyCount; ++b) {
		search->first[b + 2] += search->first[b + 1];
	}
	for (int j = 0; j < model->jointCount; ++j) {
		if (model->jointEnabled[j]) {
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
		if (isDynamic(search->model, end) || !canSpan(joint)) {
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

static void place(Search* search, int body, int joint, int from) {
	search->placed[body] = true;
	search->via[body] = joint;
	search->from[body] = from;
	search->queue[search->queued++] = body;
	if (joint >= 0) {
		search->isTree[joint] = true;
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
		if (canSpan(joint) && (joint->kind == KN_JOINT_FREE) == fromFree) {
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
			child =
				child || (canSpan(joint) && joint->child == body && isDynamic(search->model, joint->parent));
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
				if (canSpan(joint) && joint->kind != KN_JOINT_FREE) {
					grow(search, search->touching[k]);
				}
			}
		}
		if (search->queued < search->memberCount && !growAnywhere(search, true)) {
			place(search, chooseRoot(search), -1, -1);
		}
	}
}

// --- trees -------------------------------------------------------------------------------------------------

static knFrame bodyFrame(const knModel* model, int body) {
	return body == 0 ? knIdentityF() : knScene_GetBody(model->scene, knModel_BodyId(model, body))->frame;
}

// A joint frame on a body that is no link: fixed bodies are the world.
static knFrame inBase(const knModel* model, int body, knFrame frame) {
	return model->bodyKind[body] == KN_BODY_FIXED ? knMulF(bodyFrame(model, body), frame) : frame;
}

// A universal joint seen from its child is one whose axes have changed places: by half a turn about their middle.
static knFrame swappedAxes(knFrame frame) {
	const double s = 0.70710678118654752;
	return knMulF(frame, knMakeFrame(knZero3(), knQ(0.0, s, 0.0, s)));
}

static knTreeLink makeLink(const knLinkageSet* set, const Search* search, int body, bool* reversed) {
	const knModel* model = search->model;
	int j = search->via[body], from = search->from[body];
	knTreeLink link = { .name = knModel_BodyName(model, body),
						.parent = from >= 0 ? set->linkOf[from] : -1,
						.kind = KN_JOINT_FREE,
						.frameParent = knIdentityF(),
						.frameChild = knIdentityF(),
						.mass = knModel_BodyMass(model, knModel_BodyId(model, body)) };
	*reversed = false;
	if (j >= 0) {
		const knJoint* joint = &model->joints[j];
		const knJointDef* def = knScene_GetJoint(model->scene, knModel_JointId(model, j));
		*reversed = joint->parent == body;
		link.kind = joint->kind;
		link.frameParent = *reversed ? def->frameChild : def->frameParent;
		link.frameChild = *reversed ? def->frameParent : def->frameChild;
		if (from < 0) {
			link.frameParent = inBase(model, otherEnd(joint, body), link.frameParent);
		}
		if (*reversed && link.kind == KN_JOINT_UNIVERSAL) {
			link.frameParent = swappedAxes(link.frameParent);
			link.frameChild = swappedAxes(link.frameChild);
		}
	}
	return link;
}

// One end of a loop joint: a link, the base, or a body outside.
static int loopEnd(const knLinkageSet* set, const Search* search, int body, knFrame* frame,
				   knLinkageLoop* loop) {
	if (isDynamic(search->model, body)) {
		return set->linkOf[body];
	}
	*frame = inBase(search->model, body, *frame);
	if (!isBase(search, body)) {
		loop->outside = true;
		bool fixed = search->model->bodyKind[body] == KN_BODY_FIXED;
		loop->outsideBody = fixed ? KN_WORLD_BODY : knModel_BodyId(search->model, body);
	}
	return -1;
}

static knLinkageLoop makeLoop(const knLinkageSet* set, const Search* search, int j) {
	const knModel* model = search->model;
	const knJoint* joint = &model->joints[j];
	const knJointDef* def = knScene_GetJoint(model->scene, knModel_JointId(model, j));
	knLinkageLoop loop = { .joint = knModel_JointId(model, j) };
	loop.loop = (knTreeLoop){ .name = def->name,
							  .kind = joint->kind,
							  .frameParent = def->frameParent,
							  .frameChild = def->frameChild,
							  .custom = joint->custom };
	loop.loop.parent = loopEnd(set, search, joint->parent, &loop.loop.frameParent, &loop);
	loop.loop.child = loopEnd(set, search, joint->child, &loop.loop.frameChild, &loop);
	return loop;
}

static bool build(knLinkageSet* set, const Search* search, int index, knArena* scratch, knError* error) {
	const knModel* model = search->model;
	knLinkage* item = &set->items[index];
	int count = search->queued;
	*item = (knLinkage){ .linkCount = count, .base = search->base };
	item->bodies = KN_SCRATCH(&set->arena, knBodyId, count);
	item->joints = KN_SCRATCH(&set->arena, knJointId, count);
	item->reversed = KN_SCRATCH(&set->arena, bool, count);
	item->loops = KN_SCRATCH(&set->arena, knLinkageLoop, search->jointCount);
	knTreeLink* links = KN_SCRATCH(scratch, knTreeLink, count);
	if (set->arena.failed || scratch->failed) {
		knError_Set(error, KN_NO_MEMORY, "linkage", "out of memory");
		return false;
	}
	if (search->base == KN_BASE_KINEMATIC) {
		item->baseBody = knModel_BodyId(model, search->baseBody);
	}
	for (int i = 0; i < count; ++i) {
		int body = search->queue[i], j = search->via[body];
		set->linkageOf[body] = index;
		set->linkOf[body] = i;
		item->bodies[i] = knModel_BodyId(model, body);
		item->joints[i] = j >= 0 ? knModel_JointId(model, j) : (knJointId){ 0 };
		links[i] = makeLink(set, search, body, &item->reversed[i]);
	}
	for (int k = 0; k < search->jointCount; ++k) {
		if (!search->isTree[search->joints[k]]) {
			item->loops[item->loopCount++] = makeLoop(set, search, search->joints[k]);
		}
	}
	item->tree = knTree_Create(links, count, &set->arena.allocator, error);
	return item->tree != NULL;
}

// --- all ---------------------------------------------------------------------------------------------------

static bool takeScratch(Search* search, knArena* arena) {
	const knModel* model = search->model;
	search->queue = KN_SCRATCH(arena, int, model->bodyCount);
	search->via = KN_SCRATCH(arena, int, model->bodyCount);
	search->from = KN_SCRATCH(arena, int, model->bodyCount);
	search->isTree = KN_SCRATCH_ZERO(arena, bool, model->jointCount + 1);
	search->placed = KN_SCRATCH_ZERO(arena, bool, model->bodyCount);
	return !arena->failed && listTouching(search, arena);
}

static bool extract(knLinkageSet* set, knArena* scratch, knError* error) {
	const knModel* model = set->model;
	Search search = { .model = model };
	int* jointGroup = KN_SCRATCH(scratch, int, model->jointCount + 1);
	int* bodyOffsets = KN_SCRATCH(scratch, int, model->bodyCount + 2);
	int* jointOffsets = KN_SCRATCH(scratch, int, model->bodyCount + 2);
	int* bodies = KN_SCRATCH(scratch, int, model->bodyCount);
	int* joints = KN_SCRATCH(scratch, int, model->jointCount + 1);
	set->linkageOf = KN_SCRATCH(&set->arena, int, model->bodyCount);
	set->linkOf = KN_SCRATCH(&set->arena, int, model->bodyCount);
	if (!takeScratch(&search, scratch) || set->arena.failed) {
		knError_Set(error, KN_NO_MEMORY, "linkage", "out of memory");
		return false;
	}
	int groups = numberGroups(&search, set->linkageOf);
	for (int j = 0; j < model->jointCount; ++j) {
		const knJoint* joint = &model->joints[j];
		int body = isDynamic(model, joint->parent) ? joint->parent : joint->child;
		jointGroup[j] = model->jointEnabled[j] ? set->linkageOf[body] : -1;
	}
	sortByGroup(set->linkageOf, model->bodyCount, groups, bodyOffsets, bodies);
	sortByGroup(jointGroup, model->jointCount, groups, jointOffsets, joints);
	set->items = KN_SCRATCH_ZERO(&set->arena, knLinkage, groups);
	if (set->arena.failed) {
		knError_Set(error, KN_NO_MEMORY, "linkage", "out of memory");
		return false;
	}
	for (int g = 0; g < groups; ++g) {
		search.members = bodies + bodyOffsets[g];
		search.memberCount = bodyOffsets[g + 1] - bodyOffsets[g];
		search.joints = joints + jointOffsets[g];
		search.jointCount = jointOffsets[g + 1] - jointOffsets[g];
		span(&search);
		set->count = g + 1;
		if (!build(set, &search, g, scratch, error)) {
			return false;
		}
	}
	return true;
}

knLinkageSet* knLinkageSet_Create(const knModel* model, const knAllocator* allocator, knError* error) {
	knAllocator source = allocator != NULL ? *allocator : knAllocator_Default();
	knLinkageSet* set = knAllocZero(&source, sizeof(knLinkageSet));
	if (set == NULL) {
		knError_Set(error, KN_NO_MEMORY, "linkage", "out of memory");
		return NULL;
	}
	knArena scratch;
	knArena_Init(&set->arena, &source);
	knArena_Init(&scratch, &source);
	knModel_Retain(model);
	set->model = model;
	bool done = extract(set, &scratch, error);
	knArena_Free(&scratch);
	if (!done) {
		knLinkageSet_Destroy(set);
		return NULL;
	}
	return set;
}

void knLinkageSet_Destroy(knLinkageSet* set) {
	if (set == NULL) {
		return;
	}
	for (int i = 0; i < set->count; ++i) {
		knTree_Destroy(set->items[i].tree);
	}
	knAllocator allocator = set->arena.allocator;
	knModel_Release(set->model);
	knArena_Free(&set->arena);
	knFree(&allocator, set, sizeof(knLinkageSet));
}

int knLinkageSet_Count(const knLinkageSet* set) {
	return set->count;
}

const knLinkage* knLinkageSet_At(const knLinkageSet* set, int index) {
	KN_ASSERT(index >= 0 && index < set->count);
	return &set->items[index];
}

bool knLinkageSet_Find(const knLinkageSet* set, knBodyId body, int* linkage, int* link) {
	int index = knModel_BodyIndex(set->model, body);
	if (index < 0 || set->linkageOf[index] < 0) {
		return false;
	}
	*linkage = set->linkageOf[index];
	*link = set->linkOf[index];
	return true;
}

// Velocities of a scene are those of centres of mass.
static knTwist originVelocity(const knModel* model, knBodyId body) {
	const knBodyDef* def = knScene_GetBody(model->scene, body);
	knVec3 arm = knRotate(def->frame.q, knModel_BodyMass(model, body).center);
	return (knTwist){ def->angularVelocity, knSub(def->velocity, knCross(def->angularVelocity, arm)) };
}

void knLinkage_InitialState(const knLinkage* linkage, const knModel* model, knTreeWork* work, double* q,
							double* v) {
	if (linkage->base == KN_BASE_KINEMATIC) {
		knFrame frame = knScene_GetBody(model->scene, linkage->baseBody)->frame;
		knTreeWork_SetBase(work, frame, originVelocity(model, linkage->baseBody));
	} else {
		knTreeWork_SetBase(work, knIdentityF(), knZeroTwist());
	}
	for (int i = 0; i < linkage->linkCount; ++i) {
		work->linkFrames[i] = knScene_GetBody(model->scene, linkage->bodies[i])->frame;
		work->linkVelocities[i] = originVelocity(model, linkage->bodies[i]);
	}
	knTree_NeutralCoordinates(linkage->tree, q);
	knTree_ReadLinks(linkage->tree, work, work->linkFrames, work->linkVelocities, q, v);
}
