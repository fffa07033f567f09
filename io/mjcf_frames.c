// <frame>: what stands in one is moved to the frame of its body, so that nothing later knows of frames.
//
// A frame is posed in the frame or body around it. Frames are kept in the order of their tags, so an outer one comes first.
#include "mjcf.h"

bool knMjcf_FrameClass(knMjcf* reader, int frame, int bodyClass, int* index) {
	*index = bodyClass;
	for (; frame >= 0; frame = reader->frames.items[frame].element.frame) {
		const knMjcfFrame* at = &reader->frames.items[frame];
		if (at->childClass != NULL) {
			*index = knNameTable_Get(&reader->classNames, at->childClass);
			return *index >= 0 || knMjcf_Fail(reader, &at->element, "frame", KN_BAD_DATA,
											  "there is no default class '%.60s'", at->childClass);
		}
	}
	return true;
}

// Writes the pose of an element in its body over the one in its frame.
static bool moveElement(knMjcf* reader, knMjcfElement* element, const char* tag, const knFrame* poses) {
	if (element->frame < 0) {
		return true;
	}
	knFrame own = { .p = element->pos };
	if (!knMjcf_Orientation(reader, element, tag, &own.q)) {
		return false;
	}
	const knFrame pose = knMulF(poses[element->frame], own);
	element->pos = pose.p;
	element->orientation[0] = pose.q.w;
	element->orientation[1] = pose.q.x;
	element->orientation[2] = pose.q.y;
	element->orientation[3] = pose.q.z;
	element->given =
		(element->given & ~KN_MJCF_ORIENTATION_BITS) | KN_MJCF_BIT(KN_MJCF_POS) | KN_MJCF_BIT(KN_MJCF_QUAT);
	return true;
}

// A capsule between two points is placed by those alone.
static void movePoints(knMjcfGeom* geom, knFrame pose) {
	for (int i = 0; i < 6; i += 3) {
		const knVec3 p = knPoint(pose, knV3(geom->fromto[i], geom->fromto[i + 1], geom->fromto[i + 2]));
		geom->fromto[i] = p.x;
		geom->fromto[i + 1] = p.y;
		geom->fromto[i + 2] = p.z;
	}
}

static bool moveGeoms(knMjcf* reader, const knFrame* poses) {
	for (int i = 0; i < reader->geoms.count; ++i) {
		knMjcfGeom* geom = &reader->geoms.items[i];
		if (geom->element.frame >= 0 && knMjcf_Given(&geom->element, KN_MJCF_GEOM_FROMTO)) {
			movePoints(geom, poses[geom->element.frame]);
		} else if (!moveElement(reader, &geom->element, "geom", poses)) {
			return false;
		}
	}
	return true;
}

bool knMjcf_ResolveFrames(knMjcf* reader) {
	const int count = reader->frames.count;
	if (count == 0) {
		return true;
	}
	knFrame* poses = KN_SCRATCH(&reader->arena, knFrame, count);
	if (poses == NULL) {
		return knMjcf_NoMemory(reader);
	}
	for (int i = 0; i < count; ++i) {
		const knMjcfElement* element = &reader->frames.items[i].element;
		poses[i].p = element->pos;
		if (!knMjcf_Orientation(reader, element, "frame", &poses[i].q)) {
			return false;
		}
		poses[i] = element->frame >= 0 ? knMulF(poses[element->frame], poses[i]) : poses[i];
	}
	bool ok = moveGeoms(reader, poses);
	for (int i = 1; ok && i < reader->bodies.count; ++i) {
		ok = moveElement(reader, &reader->bodies.items[i].element, "body", poses);
	}
	for (int i = 0; ok && i < reader->sites.count; ++i) {
		ok = moveElement(reader, &reader->sites.items[i].element, "site", poses);
	}
	for (int i = 0; ok && i < reader->lights.count; ++i) {
		knMjcfLight* light = &reader->lights.items[i];
		if (light->element.frame >= 0) {
			light->direction = knRotate(poses[light->element.frame].q, light->direction);
			light->element.pos = knPoint(poses[light->element.frame], light->element.pos);
		}
	}
	for (int i = 0; ok && i < reader->joints.count; ++i) {
		knMjcfJoint* joint = &reader->joints.items[i];
		if (joint->element.frame >= 0) {
			joint->axis = knRotate(poses[joint->element.frame].q, joint->axis);
			joint->element.pos = knPoint(poses[joint->element.frame], joint->element.pos);
		}
	}
	return ok;
}
