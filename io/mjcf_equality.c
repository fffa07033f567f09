// Equalities: connect and weld close loops, a joint equality couples two joints.
//
// Both ends are closed in the reference pose, as in MuJoCo, unless sites say where they meet.
#include "mjcf_loop_fit.h"
#include "mjcf.h"

#define MISFIT 1e-6 // m or rad, beyond which a loop that is closed as it stands is worth a line

// --- ends ------------------------------------------------------------------------------------------------

static const char* tagOf(const knMjcfEquality* equality) {
	static const char* const tags[] = { "connect", "weld", "joint" };
	return tags[equality->kind];
}

// Frames of a ball joint that is closed in the reference pose, at a point of the first body.
static void planConnect(const knMjcf* reader, const knMjcfEquality* equality, int a, int b,
						knMjcfLink* link) {
	const knMjcfNode* first = &reader->nodes[a];
	const knFrame anchor = knMakeFrame(equality->anchor, knIdentityQ());
	link->def = knJointDef_Default(KN_JOINT_BALL);
	link->def.frameParent = first->owner == a ? anchor : knMulF(first->weld, anchor);
	link->def.frameChild =
		knInvMulF(reader->nodes[reader->nodes[b].owner].reference, knMulF(first->reference, anchor));
}

// A weld holds the second body at relpose seen from the first; without one, as they are in the reference pose.
static bool planWeld(knMjcf* reader, const knMjcfEquality* equality, int a, int b, knMjcfLink* link) {
	const knMjcfNode* first = &reader->nodes[a];
	const knMjcfNode* second = &reader->nodes[b];
	const double* r = equality->relpose;
	knFrame pose = knInvMulF(first->reference, second->reference);
	if (r[3] != 0.0 || r[4] != 0.0 || r[5] != 0.0 || r[6] != 0.0) {
		pose.p = knV3(r[0], r[1], r[2]);
		if (!knMjcf_UnitQuat(r + 3, &pose.q)) {
			return knMjcf_Fail(reader, &equality->element, "weld", KN_BAD_DATA,
							   "the quaternion of its relpose has no length");
		}
	}
	link->def = knJointDef_Default(KN_JOINT_FIXED);
	link->def.frameParent = first->owner == a ? pose : knMulF(first->weld, pose);
	link->def.frameChild = second->owner == b ? knIdentityF() : second->weld;
	return true;
}

// The two bodies of an equality; the second is the world if it is not named.
static bool findEnds(knMjcf* reader, const knMjcfEquality* equality, int* a, int* b) {
	const char* tag = tagOf(equality);
	*b = 0;
	if (equality->body1 == NULL) {
		return knMjcf_Fail(reader, &equality->element, tag, KN_BAD_DATA, "it needs body1");
	}
	if (equality->kind == KN_MJCF_CONNECT && !knMjcf_Given(&equality->element, KN_MJCF_EQUALITY_ANCHOR)) {
		return knMjcf_Fail(reader, &equality->element, tag, KN_BAD_DATA, "it needs an anchor");
	}
	return knMjcf_FindBody(reader, &equality->element, tag, equality->body1, a) &&
		   (equality->body2 == NULL || knMjcf_FindBody(reader, &equality->element, tag, equality->body2, b));
}

// Two sites that coincide, or whose frames do.
static bool planSites(knMjcf* reader, const knMjcfEquality* equality, knMjcfLink* link) {
	const char* tag = tagOf(equality);
	if (equality->site1 == NULL || equality->site2 == NULL) {
		return knMjcf_Fail(reader, &equality->element, tag, KN_BAD_DATA, "it needs site1 and site2");
	}
	link->def = knJointDef_Default(equality->kind == KN_MJCF_WELD ? KN_JOINT_FIXED : KN_JOINT_BALL);
	return knMjcf_FindSite(reader, &equality->element, tag, equality->site1, &link->parent,
						   &link->def.frameParent) &&
		   knMjcf_FindSite(reader, &equality->element, tag, equality->site2, &link->child,
						   &link->def.frameChild);
}

static bool isSimple(knMjcf* reader, const knMjcfEquality* equality, const knMjcfJoint* joint) {
	return ((joint->type == KN_MJCF_HINGE || joint->type == KN_MJCF_SLIDE) && joint->link >= 0) ||
		   knMjcf_Fail(reader, &equality->element, "joint", KN_BAD_DATA, "it couples hinges and slides only");
}

// q1 - ref1 = polynomial of q2 - ref2, in MuJoCo's coordinates q = sign x + turns. Odd powers take the sign.
static bool planCoupling(knMjcf* reader, const knMjcfEquality* equality) {
	knMjcfJoint *first, *second = NULL;
	if (equality->joint1 == NULL) {
		return knMjcf_Fail(reader, &equality->element, "joint", KN_BAD_DATA, "it needs joint1");
	}
	if (!knMjcf_FindJoint(reader, &equality->element, "joint", equality->joint1, &first) ||
		!isSimple(reader, equality, first)) {
		return false;
	}
	if (equality->joint2 != NULL &&
		(!knMjcf_FindJoint(reader, &equality->element, "joint", equality->joint2, &second) ||
		 !isSimple(reader, equality, second))) {
		return false;
	}
	if (first == second) {
		return knMjcf_Fail(reader, &equality->element, "joint", KN_BAD_DATA, "it couples a joint to itself");
	}
	knCouplingDef coupling = knCouplingDef_Default();
	coupling.name = equality->element.name;
	coupling.joint1.index1 = (uint32_t)first->link + 1;
	coupling.axis1 = first->linkAxis;
	coupling.ref1 = first->sign * (knMjcf_JointRef(reader, first) - first->turns);
	coupling.joint2.index1 = second != NULL ? (uint32_t)second->link + 1 : 0;
	coupling.axis2 = second != NULL ? second->linkAxis : 0;
	coupling.ref2 = second != NULL ? second->sign * (knMjcf_JointRef(reader, second) - second->turns) : 0.0;
	double sign = first->sign;
	for (int i = 0; i < 5; ++i) {
		coupling.coefficients[i] = sign * equality->polynomial[i];
		sign *= second != NULL ? second->sign : 1.0;
	}
	if (equality->solref[0] > 0.0) {
		coupling.timeConstant = equality->solref[0];
	}
	coupling.enabled = equality->active != 0;
	knMjcf_Approximate(reader, &equality->element,
					   "<joint> (equality) is held softly, by an implicit spring");
	return (KN_ARRAY_PUSH(&reader->allocator, &reader->couplings, coupling) || knMjcf_NoMemory(reader)) &&
		   !reader->failed;
}

static bool planEquality(knMjcf* reader, const knMjcfEquality* equality) {
	const char* tag = tagOf(equality);
	knMjcfLink link = { .element = &equality->element };
	const bool sites = equality->site1 != NULL || equality->site2 != NULL;
	int a = 0, b = 0;
	if (sites && !planSites(reader, equality, &link)) {
		return false;
	}
	if (!sites) {
		if (!findEnds(reader, equality, &a, &b)) {
			return false;
		}
		if (a == b) {
			return knMjcf_Fail(reader, &equality->element, tag, KN_BAD_DATA, "it joins a body to itself");
		}
		link.parent = reader->nodes[a].owner;
		link.child = reader->nodes[b].owner;
	}
	const bool moves = reader->nodes[link.parent].kind == KN_BODY_DYNAMIC ||
					   reader->nodes[link.child].kind == KN_BODY_DYNAMIC;
	if (link.parent == link.child || !moves) {
		knMjcf_Note(reader, &equality->element, "<%s> ignored: its bodies cannot move against each other",
					tag);
		return !reader->failed;
	}
	if (!sites && equality->kind == KN_MJCF_CONNECT) {
		planConnect(reader, equality, a, b, &link);
	} else if (!sites && !planWeld(reader, equality, a, b, &link)) {
		return false;
	}
	link.bothEnds = sites;
	link.def.loop = true;
	link.def.collide = true;
	link.def.enabled = equality->active != 0;

	// joints and equalities have one space of names here
	const char* name = equality->element.name;
	if (name != NULL && knNameTable_Get(&reader->linkNames, name) >= 0) {
		knMjcf_Note(reader, &equality->element, "<%s> name '%.60s' dropped: another joint has it", tag, name);
		name = NULL;
	}
	return knMjcf_AddLink(reader, &link, name) != NULL && !reader->failed;
}

bool knMjcf_PlanEqualities(knMjcf* reader) {
	for (int i = 0; i < reader->equalities.count; ++i) {
		const knMjcfEquality* equality = &reader->equalities.items[i];
		if (equality->kind == KN_MJCF_COUPLE ? !planCoupling(reader, equality)
											 : !planEquality(reader, equality)) {
			return false;
		}
	}
	return true;
}

bool knMjcf_FitLoops(knMjcf* reader) {
	knJointId* loops = KN_SCRATCH(&reader->arena, knJointId, reader->links.count);
	const knMjcfElement* first = NULL;
	double largest = 0.0;
	int count = 0;
	if (loops == NULL) {
		return knMjcf_NoMemory(reader);
	}
	for (int i = 0; i < reader->links.count; ++i) {
		const knMjcfLink* link = &reader->links.items[i];
		if (link->bothEnds && link->def.enabled) {
			first = first != NULL ? first : link->element;
			loops[count++] = link->id;
		}
	}
	if (count > 0 && !knLoopFit_Apply(reader->scene, loops, count, &reader->allocator, &largest)) {
		return knMjcf_NoMemory(reader);
	}
	if (largest > MISFIT) {
		knMjcf_Approximate(
			reader, first,
			"<equality> ends miss each other by up to %.2g m or rad where no joint moves: taken "
			"as they lie",
			largest);
	}
	return !reader->failed;
}
