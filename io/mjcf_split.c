// Bodies with several joints that are together no joint of the vocabulary: a body is put between each two of them.
//
// MuJoCo moves a body by its joints one after the other, without bodies between; bodies here have mass. The ones put in
// weigh SHARE of the body that they carry, at the joint's place; what they add is reported. All of them stand in the body's
// own frame in the reference pose, so joints keep their numbers, and qpos its order.
#include "mjcf.h"

#define SHARE 1e-4 // of the body's mass and mean moment of inertia

// --- the bodies ----------------------------------------------------------------------------------------------

// Number of joints in the first group, at most three, that are one joint together.
static int firstGroup(const knMjcf* reader, const int* joints, int count) {
	const knMjcfJoint* group[3];
	for (int i = 0; i < count; ++i) {
		if (reader->joints.items[joints[i]].type == KN_MJCF_FREE) {
			return count; // refused later, where it stands
		}
	}
	for (int i = 0; i < count && i < 3; ++i) {
		group[i] = &reader->joints.items[joints[i]];
	}
	for (int n = count < 3 ? count : 3; n > 1; --n) {
		if (knMjcf_IsOneJoint(group, n)) {
			return n;
		}
	}
	return 1;
}

// Gives each group of joints a body; returns how many bodies go before the original.
static int groupJoints(knMjcf* reader, const int* joints, int count, int firstBody) {
	int bodies = 0;
	for (int at = 0; at < count;) {
		const int size = firstGroup(reader, joints + at, count - at);
		for (int i = at; firstBody >= 0 && i < at + size; ++i) {
			reader->joints.items[joints[i]].body = firstBody + bodies;
		}
		at += size;
		bodies += 1;
	}
	return bodies - 1;
}

typedef struct Lists {
	int* first; // [bodies + 1] of each body's joints in `order`
	int* order;
	int* moved; // [bodies] new index
} Lists;

static bool listJoints(knMjcf* reader, Lists* lists) {
	const int bodies = reader->bodies.count, joints = reader->joints.count;
	lists->first = KN_SCRATCH_ZERO(&reader->arena, int, bodies + 2);
	lists->order = KN_SCRATCH(&reader->arena, int, joints);
	lists->moved = KN_SCRATCH(&reader->arena, int, bodies);
	if (lists->first == NULL || lists->order == NULL || lists->moved == NULL) {
		return knMjcf_NoMemory(reader);
	}
	for (int i = 0; i < joints; ++i) {
		lists->first[reader->joints.items[i].body + 2] += 1;
	}
	for (int b = 0; b < bodies; ++b) {
		lists->first[b + 2] += lists->first[b + 1];
	}
	for (int i = 0; i < joints; ++i) {
		lists->order[lists->first[reader->joints.items[i].body + 1]++] = i;
	}
	return true;
}

// The bodies put before body b, which then stands in their frame.
static bool putBodies(knMjcf* reader, knMjcfBody* body, int count, int target, knMjcfBody* to) {
	for (int i = 0; i < count; ++i) {
		to[i] = *body;
		to[i].element.name = NULL;
		to[i].parent = i == 0 ? body->parent : target - count + i - 1;
		to[i].inertial = -1;
		to[i].carries = target;
		if (i > 0) {
			to[i].element.pos = knZero3();
			to[i].element.given &= ~KN_MJCF_ORIENTATION_BITS;
		}
	}
	if (count > 0) {
		body->parent = target - 1;
		body->element.pos = knZero3();
		body->element.given &= ~KN_MJCF_ORIENTATION_BITS;
		knMjcf_Approximate(reader, &body->element,
						   "<body> with several joints: bodies between them weigh %g of it", SHARE);
	}
	return !reader->failed;
}

bool knMjcf_SplitBodies(knMjcf* reader) {
	Lists lists;
	const int count = reader->bodies.count;
	if (!listJoints(reader, &lists)) {
		return false;
	}
	int added = 0;
	for (int b = 0; b < count; ++b) {
		const int* joints = &lists.order[lists.first[b]];
		const int jointCount = lists.first[b + 1] - lists.first[b];
		reader->bodies.items[b].carries = -1;
		added += jointCount > 1 ? groupJoints(reader, joints, jointCount, -1) : 0;
		lists.moved[b] = b + added;
	}
	if (added == 0) {
		return true;
	}
	knMjcfBody* old = KN_SCRATCH(&reader->arena, knMjcfBody, count);
	if (old == NULL || !KN_ARRAY_RESERVE(&reader->allocator, &reader->bodies, count + added)) {
		return knMjcf_NoMemory(reader);
	}
	for (int b = 0; b < count; ++b) {
		old[b] = reader->bodies.items[b];
	}
	for (int i = 0; i < reader->geoms.count; ++i) {
		reader->geoms.items[i].body = lists.moved[reader->geoms.items[i].body];
	}
	for (int i = 0; i < reader->sites.count; ++i) {
		reader->sites.items[i].body = lists.moved[reader->sites.items[i].body];
	}
	for (int i = 0; i < reader->lights.count; ++i) {
		reader->lights.items[i].body = lists.moved[reader->lights.items[i].body];
	}
	for (int i = 0; i < reader->joints.count; ++i) {
		reader->joints.items[i].body = lists.moved[reader->joints.items[i].body];
	}
	reader->bodies.count = count + added;
	for (int b = 0; b < count; ++b) {
		const int target = lists.moved[b], before = b > 0 ? lists.moved[b - 1] : -1;
		const int between = target - before - 1;
		old[b].parent = old[b].parent >= 0 ? lists.moved[old[b].parent] : -1;
		if (between > 0) {
			groupJoints(reader, &lists.order[lists.first[b]], lists.first[b + 1] - lists.first[b],
						before + 1);
		}
		if (!putBodies(reader, &old[b], between, target, &reader->bodies.items[before + 1])) {
			return false;
		}
		reader->bodies.items[target] = old[b];
	}
	return true;
}

// --- their masses and contacts -------------------------------------------------------------------------------

void knMjcf_WeighSplit(knMjcf* reader) {
	for (int b = 1; b < reader->bodies.count; ++b) {
		const int carried = reader->bodies.items[b].carries;
		if (carried < 0) {
			continue;
		}
		const knMassProps* from = &reader->nodes[carried].mass;
		const knMjcfJoint* joint = &reader->joints.items[reader->jointOrder[reader->nodes[b].firstJoint]];
		const double moment = SHARE * (from->inertia.cx.x + from->inertia.cy.y + from->inertia.cz.z) / 3.0;
		reader->nodes[b].mass = (knMassProps){ .mass = SHARE * from->mass,
											   .center = joint->element.pos,
											   .inertia = knDiagonal33(moment, moment, moment) };
		reader->nodes[b].massGiven = true;
	}
}

bool knMjcf_ExcludeSplit(knMjcf* reader) {
	for (int b = 1; b < reader->bodies.count; ++b) {
		const knMjcfBody* body = &reader->bodies.items[b];
		const int parent = reader->nodes[body->parent].owner;
		// the first of a row: what it hangs on does not touch what it carries
		if (body->carries < 0 || reader->bodies.items[body->parent].carries == body->carries ||
			reader->nodes[parent].kind != KN_BODY_DYNAMIC) {
			continue;
		}
		knError cause = { .status = KN_OK };
		if (knScene_ExcludePair(reader->scene, reader->nodes[parent].id, reader->nodes[body->carries].id,
								&cause) != KN_OK) {
			return knMjcf_FailFrom(reader, &body->element, &cause);
		}
	}
	return true;
}
