// The gaps of stops.h.
#include "collide/stops.h"

#define BESIDE 0.4 // difference of normals, squared: contacts that stop each other's gaps from closing
#define PATCH 0.15 // sizes: if they are no farther apart
#define APART 0.5  // reaches: stops that are closer are one
#define ALIKE 0.9  // cosine: if they look about the same way

knShutRule knShutRule_Make(double tilt, double slide, double size) {
	return (knShutRule){ tilt, slide, PATCH * size };
}

bool knShutRule_Holds(const knShutRule* rule, double deeper, double between, double bend) {
	return deeper > rule->tilt * between + rule->slide * bend && bend * bend < BESIDE &&
		   between < rule->reach;
}

void knStops_Add(knStops* stops, knVec3 point, knVec3 normal, double separation) {
	for (int i = 0; i < stops->count; ++i) {
		knStop* stop = &stops->items[i];
		if (knDistance(stop->point, point) < APART * stops->rule.reach &&
			knDot(stop->normal, normal) > ALIKE) {
			*stop = separation < stop->separation ? (knStop){ point, normal, separation } : *stop;
			return;
		}
	}
	if (stops->count < KN_STOPS) {
		stops->items[stops->count++] = (knStop){ point, normal, separation };
	}
}

bool knStops_Shut(const knStops* stops, const knGap* gap) {
	for (int i = 0; i < stops->count && gap->separation > 0.0; ++i) {
		const knStop* stop = &stops->items[i];
		double deeper = gap->separation - stop->separation;
		if (!(deeper > stops->rule.tilt * gap->radius)) {
			continue;
		}
		double between = knDistance(gap->center, stop->point) + gap->radius;
		double bend = knDistance(gap->normal, stop->normal) + gap->bend;
		if (knShutRule_Holds(&stops->rule, deeper, between, bend)) {
			return true;
		}
	}
	return false;
}

void knStops_Turn(knStops* stops, knFrame frame) {
	for (int i = 0; i < stops->count; ++i) {
		knStop* stop = &stops->items[i];
		stop->point = knPoint(frame, stop->point);
		stop->normal = knNeg(knRotate(frame.q, stop->normal));
	}
}
