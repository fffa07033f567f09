// The gaps of gap_culling.h.
#include "collide/gap_culling.h"

#define BESIDE 0.4 // difference of normals, squared: contacts that stop each other's gaps from closing
#define PATCH 0.15 // sizes: if they are no farther apart
#define APART 0.5  // reaches: stops that are closer are one
#define ALIKE 0.9  // cosine: if they look about the same way

knCullingRule knCullingRule_Make(double tilt, double slide, double size) {
	return (knCullingRule){ tilt, slide, PATCH * size };
}

bool knCullingRule_Holds(const knCullingRule* rule, double deeper, double between, double bend) {
	return deeper > rule->tilt * between + rule->slide * bend && bend * bend < BESIDE &&
		   between < rule->reach;
}

void knGapCulling_Add(knGapCulling* stops, knVec3 point, knVec3 normal, double separation) {
	for (int i = 0; i < stops->count; ++i) {
		knCullingContact* stop = &stops->items[i];
		if (knDistance(stop->point, point) < APART * stops->rule.reach &&
			knDot(stop->normal, normal) > ALIKE) {
			*stop = separation < stop->separation ? (knCullingContact){ point, normal, separation } : *stop;
			return;
		}
	}
	if (stops->count < KN_CULLING_CONTACTS) {
		stops->items[stops->count++] = (knCullingContact){ point, normal, separation };
	}
}

bool knGapCulling_Covers(const knGapCulling* stops, const knGap* gap) {
	for (int i = 0; i < stops->count && gap->separation > 0.0; ++i) {
		const knCullingContact* stop = &stops->items[i];
		double deeper = gap->separation - stop->separation;
		if (!(deeper > stops->rule.tilt * gap->radius)) {
			continue;
		}
		double between = knDistance(gap->center, stop->point) + gap->radius;
		double bend = knDistance(gap->normal, stop->normal) + gap->bend;
		if (knCullingRule_Holds(&stops->rule, deeper, between, bend)) {
			return true;
		}
	}
	return false;
}

void knGapCulling_Turn(knGapCulling* stops, knFrame frame) {
	for (int i = 0; i < stops->count; ++i) {
		knCullingContact* stop = &stops->items[i];
		stop->point = knPoint(frame, stop->point);
		stop->normal = knNeg(knRotate(frame.q, stop->normal));
	}
}
