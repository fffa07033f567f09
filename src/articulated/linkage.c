// Linkages of a model: the trees of its groups of bodies (spanning.h), each body a link.
#include "articulated/tree.h"

#include "articulated/spanning.h"
#include "model/model.h"

struct knLinkageSet {
	knArena arena; // holds all but the trees
	const knModel* model;
	int count;
	knLinkage* items; // [count]
	int* linkageOf;   // [bodyCount] -1: not dynamic
	int* linkOf;      // [bodyCount]
};

static bool isDynamic(const knModel* model, int body) {
	return model->bodyKind[body] == KN_BODY_DYNAMIC;
}

static int otherEnd(const knJoint* joint, int body) {
	return joint->parent == body ? joint->child : joint->parent;
}

// --- trees -------------------------------------------------------------------------------------------------

static knFrame bodyFrame(const knModel* model, int body) {
	return body == 0 ? knIdentityF() : knScene_GetBody(model->scene, knModel_BodyId(model, body))->frame;
}

// A joint frame on a body that is no link: fixed bodies are the world.
static knFrame inBase(const knModel* model, int body, knFrame frame) {
	return model->bodyKind[body] == KN_BODY_FIXED ? knMulF(bodyFrame(model, body), frame) : frame;
}

static knTreeLink makeLink(const knLinkageSet* set, const knSpanning* spanning, int body, bool* reversed) {
	const knModel* model = spanning->model;
	int j = spanning->via[body], from = spanning->from[body];
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
			link.frameParent = knSpanning_SwapAxes(link.frameParent);
			link.frameChild = knSpanning_SwapAxes(link.frameChild);
		}
	}
	return link;
}

// One end of a loop joint: a link, the base, or a body outside.
static int loopEnd(const knLinkageSet* set, const knSpanning* spanning, int group, int body, knFrame* frame,
				   knLinkageLoop* loop) {
	if (isDynamic(spanning->model, body)) {
		return set->linkOf[body];
	}
	*frame = inBase(spanning->model, body, *frame);
	if (!knSpanning_IsBase(spanning, group, body)) {
		loop->outside = true;
		bool fixed = spanning->model->bodyKind[body] == KN_BODY_FIXED;
		loop->outsideBody = fixed ? KN_WORLD_BODY : knModel_BodyId(spanning->model, body);
	}
	return -1;
}

static knLinkageLoop makeLoop(const knLinkageSet* set, const knSpanning* spanning, int group, int j) {
	const knModel* model = spanning->model;
	const knJoint* joint = &model->joints[j];
	const knJointDef* def = knScene_GetJoint(model->scene, knModel_JointId(model, j));
	knLinkageLoop loop = { .joint = knModel_JointId(model, j) };
	loop.loop = (knTreeLoop){ .name = def->name,
							  .kind = joint->kind,
							  .frameParent = def->frameParent,
							  .frameChild = def->frameChild,
							  .custom = joint->custom };
	loop.loop.parent = loopEnd(set, spanning, group, joint->parent, &loop.loop.frameParent, &loop);
	loop.loop.child = loopEnd(set, spanning, group, joint->child, &loop.loop.frameChild, &loop);
	return loop;
}

static bool build(knLinkageSet* set, const knSpanning* spanning, int index, knArena* scratch,
				  knError* error) {
	const knModel* model = spanning->model;
	knLinkage* item = &set->items[index];
	const int* bodies = spanning->bodies + spanning->bodyFirst[index];
	const int* joints = spanning->joints + spanning->jointFirst[index];
	int count = spanning->bodyFirst[index + 1] - spanning->bodyFirst[index];
	int jointCount = spanning->jointFirst[index + 1] - spanning->jointFirst[index];
	*item = (knLinkage){ .linkCount = count, .base = spanning->base[index] };
	item->bodies = KN_SCRATCH(&set->arena, knBodyId, count);
	item->joints = KN_SCRATCH(&set->arena, knJointId, count);
	item->reversed = KN_SCRATCH(&set->arena, bool, count);
	item->loops = KN_SCRATCH(&set->arena, knLinkageLoop, jointCount);
	knTreeLink* links = KN_SCRATCH(scratch, knTreeLink, count);
	if (set->arena.failed || scratch->failed) {
		knError_Set(error, KN_NO_MEMORY, "linkage", "out of memory");
		return false;
	}
	if (spanning->base[index] == KN_BASE_KINEMATIC) {
		item->baseBody = knModel_BodyId(model, spanning->baseBody[index]);
	}
	for (int i = 0; i < count; ++i) {
		int body = bodies[i], j = spanning->via[body];
		set->linkageOf[body] = index;
		set->linkOf[body] = i;
		item->bodies[i] = knModel_BodyId(model, body);
		item->joints[i] = j >= 0 ? knModel_JointId(model, j) : (knJointId){ 0 };
		links[i] = makeLink(set, spanning, body, &item->reversed[i]);
	}
	for (int k = 0; k < jointCount; ++k) {
		if (!spanning->isTree[joints[k]]) {
			item->loops[item->loopCount++] = makeLoop(set, spanning, index, joints[k]);
		}
	}
	item->tree = knTree_Create(links, count, &set->arena.allocator, error);
	return item->tree != NULL;
}

// --- all ---------------------------------------------------------------------------------------------------

static bool extract(knLinkageSet* set, knArena* scratch, knError* error) {
	const knModel* model = set->model;
	knSpanning spanning;
	set->linkageOf = KN_SCRATCH(&set->arena, int, model->bodyCount);
	set->linkOf = KN_SCRATCH(&set->arena, int, model->bodyCount);
	if (!knSpanning_Find(&spanning, model, model->jointEnabled, NULL, scratch) || set->arena.failed) {
		knError_Set(error, KN_NO_MEMORY, "linkage", "out of memory");
		return false;
	}
	for (int b = 0; b < model->bodyCount; ++b) {
		set->linkageOf[b] = spanning.group[b];
	}
	set->items = KN_SCRATCH_ZERO(&set->arena, knLinkage, spanning.groupCount);
	if (set->arena.failed) {
		knError_Set(error, KN_NO_MEMORY, "linkage", "out of memory");
		return false;
	}
	for (int g = 0; g < spanning.groupCount; ++g) {
		set->count = g + 1;
		if (!build(set, &spanning, g, scratch, error)) {
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
