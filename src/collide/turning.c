// Bounds of turning along a direction, and the time that a gap lasts under them.
#include "collide/turning.h"

#define BALL_SLACK 1e-9 // of the radii, for rounding

knSpin knSpin_Make(knVec3 center, knVec3 w, double reach) {
	return (knSpin){ center, w, reach, knLength(w) };
}

knSpin knSpin_In(const knSpin* spin, knFrame frame) {
	return (knSpin){ knInvPoint(frame, spin->center), knInvRotate(frame.q, spin->w), spin->reach,
					 spin->speed };
}

static knVec3 middleOf(const knAabb* box) {
	return knScale(0.5, knAdd(box->lower, box->upper));
}

static knVec3 halfOf(const knAabb* box) {
	return knScale(0.5, knSub(box->upper, box->lower));
}

// The largest |d.x| of a box that reaches by `half` about its middle.
static double halfAlong(knVec3 half, knVec3 d) {
	return knDot(half, knAbs3(d));
}

double knSpin_Reach(const knSpin* spin, const knAabb* box) {
	knVec3 r = knSub(middleOf(box), spin->center), half = halfOf(box);
	double square = knLengthSquared(knAdd(knAbs3(r), half));
	// what lies along the axis is no arm
	double along =
		spin->speed > 0.0 ? (knAbs(knDot(r, spin->w)) - halfAlong(half, spin->w)) / spin->speed : 0.0;
	square = knMin(square, spin->reach * spin->reach);
	return sqrt(knMax(0.0, along > 0.0 ? square - along * along : square));
}

knExcursion knExcursion_OfBox(const knSpin* spin, const knAabb* box, double reach, knVec3 n) {
	if (spin->speed == 0.0) {
		return (knExcursion){ 0 };
	}
	knVec3 r = knSub(middleOf(box), spin->center), half = halfOf(box);
	knVec3 m = knCross(n, spin->w), axis = knScale(1.0 / spin->speed, spin->w);
	double size = knLength(m), tilt = knDot(axis, n);
	double top = knDot(r, n) + halfAlong(half, n);
	double ring = knDot(r, axis) * tilt + halfAlong(half, axis) * knAbs(tilt) + reach * size / spin->speed;
	return (knExcursion){ .rate = knDot(r, m) + halfAlong(half, m),
						  .turn = size * reach,
						  .bend = spin->speed * size * reach,
						  .most = knMax(0.0, ring - top) };
}

knExcursion knExcursion_OfPoints(const knSpin* spin, const knVec3* points, int count, knVec3 n) {
	if (spin->speed == 0.0) {
		return (knExcursion){ 0 };
	}
	knVec3 m = knCross(n, spin->w), axis = knScale(1.0 / spin->speed, spin->w);
	double size = knLength(m), tilt = knDot(axis, n);
	double rate = -INFINITY, top = -INFINITY, ring = -INFINITY, reach = 0.0;
	for (int i = 0; i < count; ++i) {
		knVec3 r = knSub(points[i], spin->center);
		double along = knDot(r, axis), rho = knLength(knMulAdd(r, -along, axis));
		rate = knMax(rate, knDot(r, m));
		top = knMax(top, knDot(r, n));
		ring = knMax(ring, along * tilt + rho * size / spin->speed);
		reach = knMax(reach, rho);
	}
	return (knExcursion){
		.rate = rate, .turn = size * reach, .bend = spin->speed * size * reach, .most = knMax(0.0, ring - top)
	};
}

// The first t > 0 with rate t + bend t^2 / 2 = room; INFINITY: none.
static double timeToFall(double room, double rate, double bend) {
	if (room <= 0.0) {
		return 0.0;
	}
	if (bend <= 0.0) {
		return rate > 0.0 ? room / rate : (double)INFINITY;
	}
	// whichever form does not cancel
	double root = sqrt(rate * rate + 2.0 * bend * room);
	return rate > 0.0 ? 2.0 * room / (root + rate) : (root - rate) / bend;
}

double knExcursion_Time(double room, double approach, const knExcursion* a, const knExcursion* b) {
	const knExcursion* sides[2] = { a, b };
	double time = 0.0, moving = knMax(0.0, approach);
	// each side's turning is bounded with time, or once for all
	for (int capped = 0; capped < 4; ++capped) {
		double left = room, rate = approach, turn = moving, bend = 0.0;
		bool useful = true;
		for (int side = 0; side < 2; ++side) {
			const knExcursion* e = sides[side];
			bool whole = (capped >> side & 1) != 0;
			useful = useful && !(whole && e->turn == 0.0);
			left -= whole ? e->most : 0.0;
			rate += whole ? 0.0 : e->rate;
			turn += whole ? 0.0 : e->turn;
			bend += whole ? 0.0 : e->bend;
		}
		if (useful && left > 0.0) {
			time = knMax(time, knMax(timeToFall(left, rate, bend), timeToFall(left, turn, 0.0)));
		}
	}
	return time;
}

double knBalls_Time(knVec3 apart, knVec3 v, double reach) {
	double room = knLengthSquared(apart) - (1.0 + BALL_SLACK) * reach * reach, closing = -knDot(apart, v);
	if (room <= 0.0) {
		return 0.0;
	}
	double square = closing * closing - knLengthSquared(v) * room;
	return closing > 0.0 && square >= 0.0 ? room / (closing + sqrt(square)) : (double)INFINITY;
}
