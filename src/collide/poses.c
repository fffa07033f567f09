// From frames to boxes: what changed since the last call, where its shapes are now, and which left their fat
// boxes.
//
// A frame that kept its bits and its margin costs one comparison. A fat box is the exact box grown by a
// fraction of its size and stretched along its last motion; shapes that do not move get none of either. It is made
// anew when the exact box leaves it or, slower now, would get much less room. The growth changes how often trees and
// pairs are mended, never a result.
#include <string.h>

#include "collide/collider.h"
#include "core/tasks.h"

#define FAT_GROWTH 0.05 // of the box's longest side, on each side
#define FAT_STRETCH 3.0 // calls of the last motion
#define FAT_LONGEST 0.5 // of the box's longest side: limit of the stretch
#define FAT_LOOSE 2.0   // so many times the room that it would get now is too much
#define LOOSE_CALLS 16  // each shape is looked at once in so many calls
#define FRAMES_PER_TASK 512
#define CHANGED_PER_TASK 64

enum { CHANGED = 1, MOVED, BAD_FRAME, BAD_MARGIN }; // changed: only its margin or motion

typedef struct PoseJob {
	knCollider* collider;
	const knCollideInput* input;
} PoseJob;

bool knPoses_IsFiniteBox(knAabb box) {
	return knIsFinite3(box.lower) && knIsFinite3(box.upper);
}

static double marginOf(const knCollideInput* input, int frame) {
	return input->margins != NULL ? input->margins[frame] : 0.0;
}

static knFrameMotion motionOf(const knCollideInput* input, int frame) {
	return input->motions != NULL ? input->motions[frame]
								  : (knFrameMotion){ .around = marginOf(input, frame) };
}

static bool isSame(knVec3 a, knVec3 b) {
	return a.x == b.x && a.y == b.y && a.z == b.z;
}

static bool isSameMotion(const knFrameMotion* a, const knFrameMotion* b) {
	return a->around == b->around && isSame(a->turn, b->turn) && isSame(a->ways[0], b->ways[0]) &&
		   isSame(a->ways[1], b->ways[1]);
}

static bool isFiniteMotion(const knFrameMotion* motion) {
	return knIsFinite(motion->around) && knIsFinite3(motion->turn) && knIsFinite3(motion->ways[0]) &&
		   knIsFinite3(motion->ways[1]);
}

static bool isActive(const knCollideInput* input, int shape) {
	return input->shapeActive == NULL || input->shapeActive[shape] != 0;
}

// --- frames ----------------------------------------------------------------------------------------------

static void compareFrame(const PoseJob* job, int f) {
	knCollider* c = job->collider;
	const knFrame* frame = &job->input->frames[f];
	double margin = marginOf(job->input, f);
	knFrameMotion motion = motionOf(job->input, f);
	bool still = c->posed && memcmp(frame, &c->frames[f], sizeof(knFrame)) == 0;
	if (still && margin == c->margins[f] && isSameMotion(&motion, &c->motions[f])) {
		c->frameChanged[f] = 0;
		return;
	}
	bool goodMargin = knIsFinite(margin) && isFiniteMotion(&motion);
	c->frameChanged[f] = !knIsFiniteF(*frame) ? BAD_FRAME
											  : (!goodMargin ? BAD_MARGIN
												 : still     ? CHANGED
															 : MOVED);
	c->frames[f] = *frame;
	c->margins[f] = margin;
	c->motions[f] = motion;
}

static void compareFrames(int begin, int end, int worker, void* argument) {
	(void)worker;
	for (int f = begin; f < end; ++f) {
		compareFrame(argument, f);
	}
}

// A frame whose shapes were switched on or off counts as changed.
static void compareShapes(knCollider* c, const knCollideInput* input, int f) {
	for (int i = c->firstShape[f]; i < c->firstShape[f + 1]; ++i) {
		int shape = c->shapesOfFrame[i];
		if (isActive(input, shape) != (c->active[shape] != 0)) {
			c->frameChanged[f] = c->frameChanged[f] <= CHANGED ? MOVED : c->frameChanged[f];
		}
	}
}

static void compareActivity(knCollider* c, const knCollideInput* input) {
	if (input->shapeActive != NULL && c->posed && c->shapeCount > 0 &&
		memcmp(input->shapeActive, c->active, (size_t)c->shapeCount) == 0) {
		return;
	}
	for (int f = 0; f < c->frameCount; ++f) {
		compareShapes(c, input, f);
	}
}

// Takes a frame that changed into the list.
static knStatus noteFrame(knCollider* c, int f, knError* error) {
	if (c->frameChanged[f] == 0) {
		return KN_OK;
	}
	if (c->frameChanged[f] > MOVED) {
		const char* what = c->frameChanged[f] == BAD_FRAME ? "a pose" : "a margin";
		return knError_Set(error, KN_BAD_DATA, "collider", "frame %d has %s that is not finite", f, what);
	}
	c->frameEpoch[f] = c->frameChanged[f] == MOVED ? c->epoch : c->frameEpoch[f];
	c->changedFrames[c->changedCount++] = f;
	return KN_OK;
}

// Frames of a list, or all if there is none.
static knStatus listChanged(knCollider* c, const int* frames, int count, knError* error) {
	knStatus status = KN_OK;
	c->changedCount = 0;
	for (int k = 0; k < count && status == KN_OK; ++k) {
		status = noteFrame(c, frames != NULL ? frames[k] : k, error);
	}
	return status;
}

// --- shapes ----------------------------------------------------------------------------------------------

// The growth to each side and the stretch along the last motion, of a shape on a frame that moves.
static knAabb fatten(const knCollider* c, int shape, knAabb box, knAabb old) {
	if (!c->frameMoves[c->shapes[shape].frame]) {
		return box;
	}
	knVec3 size = knSub(box.upper, box.lower);
	double longest = knMax(size.x, knMax(size.y, size.z));
	knAabb fat = knAabb_Grow(box, FAT_GROWTH * knMax(0.0, longest));
	knVec3 motion = knScale(FAT_STRETCH, knSub(box.lower, old.lower));
	if (!knIsFinite3(motion)) {
		return fat; // it was not active before
	}
	double most = FAT_LONGEST * longest;
	for (int k = 0; k < 3; ++k) {
		double stretch = knClamp(knComponent(motion, k), -most, most);
		knVec3* end = stretch > 0.0 ? &fat.upper : &fat.lower;
		knSetComponent(end, k, knComponent(*end, k) + stretch);
	}
	return fat;
}

// Whether a fat box has much more room than a new one would: its shape has come to rest since.
static bool isLoose(knAabb present, knAabb fresh, knAabb box) {
	for (int k = 0; k < 3; ++k) {
		double side = knComponent(box.upper, k) - knComponent(box.lower, k);
		double room = knComponent(present.upper, k) - knComponent(present.lower, k) - side;
		double need = knComponent(fresh.upper, k) - knComponent(fresh.lower, k) - side;
		if (room > FAT_LOOSE * need) {
			return true;
		}
	}
	return false;
}

// The farthest that a turn moves a point of the shape: a corner of its bounds. No turn moves one by more than two radii.
static double spinOf(const knCollider* c, int shape) {
	int frame = c->shapes[shape].frame;
	knVec3 turn = knInvRotate(c->frames[frame].q, c->motions[frame].turn);
	const knAabb* box = &c->bounds[shape];
	double farthest = 0.0;
	for (int k = 0; k < 8; ++k) {
		knVec3 corner = knV3(k & 1 ? box->upper.x : box->lower.x, k & 2 ? box->upper.y : box->lower.y,
							 k & 4 ? box->upper.z : box->lower.z);
		farthest = knMax(farthest, knLengthSquared(knCross(turn, corner)));
	}
	return knMin(sqrt(farthest), 2.0 * c->radii[shape]);
}

static void placeShape(knCollider* c, const knCollideInput* input, int shape) {
	const knCollideShape* s = &c->shapes[shape];
	bool active = isActive(input, shape);
	knAabb old = c->active[shape] ? c->boxes[shape] : knAabb_Empty();
	c->active[shape] = active;
	c->worlds[shape] = knMulF(c->frames[s->frame], s->local);
	if (c->items[shape] < 0) {
		return; // a plane has no box
	}
	c->spins[shape] = c->looksAhead && c->anyMesh ? spinOf(c, shape) : 0.0;
	if (!active) {
		c->boxes[shape] = c->fat[shape] = knAabb_Empty();
		c->left[shape] = 1;
		return;
	}
	knAabb box = knAabb_Grow(knGeom_Aabb(s->geom, c->worlds[shape]), c->margins[s->frame]);
	c->boxes[shape] = box;
	if (!knPoses_IsFiniteBox(box)) {
		c->frameChanged[s->frame] = BAD_FRAME;
		return;
	}
	bool outside = !c->posed || !knAabb_Contains(c->fat[shape], box);
	if (outside || (c->epoch + (uint64_t)shape) % LOOSE_CALLS == 0) {
		knAabb fat = fatten(c, shape, box, old);
		if (outside || isLoose(c->fat[shape], fat, box)) {
			c->fat[shape] = fat;
			c->left[shape] = 1;
		}
	}
}

static void placeFrames(int begin, int end, int worker, void* argument) {
	(void)worker;
	const PoseJob* job = argument;
	knCollider* c = job->collider;
	for (int k = begin; k < end; ++k) {
		int frame = c->changedFrames[k];
		for (int i = c->firstShape[frame]; i < c->firstShape[frame + 1]; ++i) {
			placeShape(c, job->input, c->shapesOfFrame[i]);
		}
	}
}

// --- the call --------------------------------------------------------------------------------------------

knStatus knPoses_CheckInput(const knCollider* collider, const knCollideInput* input,
							const knContactSet* contacts, knError* error) {
	KN_ASSERT(collider != NULL && input != NULL && contacts != NULL);
	if (collider == NULL || input == NULL || contacts == NULL ||
		(input->frames == NULL && collider->frameCount > 0) || input->excludedCount < 0 ||
		(input->excluded == NULL && input->excludedCount > 0)) {
		return knError_Set(error, KN_BAD_ARGUMENT, "collider",
						   "the collider, its input or the frames are missing");
	}
	knPairKey last = 0;
	for (int i = 0; i < input->excludedCount; ++i) {
		knFramePair pair = input->excluded[i];
		knPairKey key = knPairKey_Make(pair.a, pair.b);
		if (pair.a < 0 || pair.a >= pair.b || pair.b >= collider->frameCount || key < last) {
			return knError_Set(error, KN_BAD_ARGUMENT, "collider",
							   "excluded pair %d (%d, %d) is out of range or out of order", i, pair.a,
							   pair.b);
		}
		last = key;
	}
	return KN_OK;
}

knStatus knPoses_Update(knCollider* c, const knCollideInput* input, knError* error) {
	PoseJob job = { c, input };
	c->epoch += 1;
	c->looksAhead = input->motions != NULL;
	knTasks_For(&input->tasks, c->frameCount, FRAMES_PER_TASK, compareFrames, &job);
	compareActivity(c, input);
	knStatus status = listChanged(c, NULL, c->frameCount, error);
	if (status == KN_OK) {
		knTasks_For(&input->tasks, c->changedCount, CHANGED_PER_TASK, placeFrames, &job);
		status = listChanged(c, NULL, c->frameCount, error); // boxes may have overflowed
	}
	c->posed = status == KN_OK;
	return status;
}

knStatus knPoses_UpdateListed(knCollider* c, const knCollideInput* input, const int* frames, int count,
							  knError* error) {
	PoseJob job = { c, input };
	KN_ASSERT(c->posed);
	c->epoch += 1;
	c->looksAhead = input->motions != NULL;
	for (int k = 0; k < count; ++k) {
		compareFrame(&job, frames[k]);
		compareShapes(c, input, frames[k]);
	}
	knStatus status = listChanged(c, frames, count, error);
	if (status == KN_OK) {
		placeFrames(0, c->changedCount, 0, &job);
		status = listChanged(c, frames, count, error);
	}
	c->posed = status == KN_OK;
	return status;
}
