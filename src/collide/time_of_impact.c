// Conservative advancement over one pair, and motion bounds along chains.
#include "collide/time_of_impact.h"

#define MOST_ROUNDS 500 // then it is given up
#define FREE_ROUNDS 40  // then what hugs the other without meeting it moves on by nudges
#define LEAST_PART 1e-9 // of the time at hand: smaller rounds are rounding

knFrame knMoving_At(const knMoving* moving, double time) {
	knVec3 center = knMulAdd(moving->center, time, moving->motion.lin);
	knQuat turn = knQuat_Exp(knScale(time, moving->motion.ang));
	return knMakeFrame(knAdd(center, knRotate(turn, knSub(moving->frame.p, moving->center))),
					   knNormalizeQ(knMulQ(turn, moving->frame.q)));
}

static double reachOf(const knMoving* moving) {
	return knGeom_TurningReach(moving->geom, moving->frame, moving->center);
}

knTimeOfImpact knTimeOfImpact_Begin(double from) {
	return (knTimeOfImpact){ .time = from };
}

static void endAt(knTimeOfImpact* meeting, knTimeOfImpactState state, double time) {
	meeting->state = state;
	meeting->time = time;
}

void knTimeOfImpact_Follow(const knTimeOfImpactInput* in, int rounds, knTimeOfImpact* meeting) {
	knPairMotion motion = { .velocityA = in->a.motion,
							.velocityB = in->b.motion,
							.reachA = reachOf(&in->a),
							.reachB = reachOf(&in->b),
							.skin = in->skin,
							.idle = in->idle,
							.nudge = in->nudge };
	double speed = knDistance(in->b.motion.lin, in->a.motion.lin) +
				   motion.reachA * knLength(in->a.motion.ang) + motion.reachB * knLength(in->b.motion.ang);
	for (int i = 0; i < rounds && meeting->state == KN_MEETING_OPEN; ++i) {
		double time = meeting->time, left = in->to - time;
		knPairInput pair = knPairInput_Make(in->a.geom, knMoving_At(&in->a, time), in->b.geom,
											knMoving_At(&in->b, time), 0.0);
		motion.centerA = knMulAdd(in->a.center, time, in->a.motion.lin);
		motion.centerB = knMulAdd(in->b.center, time, in->b.motion.lin);
		double free = knConvexPairs_Soonest(&pair, &motion, left, &meeting->touch, &meeting->looks);
		bool hugs = meeting->rounds >= FREE_ROUNDS && speed > 0.0;
		meeting->rounds += 1;
		if (free == 0.0) {
			endAt(meeting, KN_MEETING_HIT, time);
		} else if (free >= left) {
			endAt(meeting, KN_MEETING_NONE, INFINITY);
		} else if (meeting->rounds == MOST_ROUNDS) {
			endAt(meeting, KN_MEETING_STALLED, time);
		} else {
			meeting->time = time + knMax(free, hugs ? in->nudge / speed : LEAST_PART * in->to);
		}
	}
}

bool knTimeOfImpact_Find(const knTimeOfImpactInput* in, knTimeOfImpact* meeting) {
	*meeting = knTimeOfImpact_Begin(in->from);
	knTimeOfImpact_Follow(in, MOST_ROUNDS, meeting);
	return meeting->state != KN_MEETING_NONE;
}

void knChain_SpeedBounds(const knChainLink* links, int count, double* turns, double* origins,
						 double* points) {
	for (int k = 0; k < count; ++k) {
		const knChainLink* link = &links[k];
		KN_ASSERT(link->parent < k);
		double turn = link->parent >= 0 ? turns[link->parent] : 0.0;
		double origin = link->parent >= 0 ? origins[link->parent] : 0.0;
		turns[k] = turn + knAbs(link->turn);
		origins[k] = origin + turn * link->arm + knAbs(link->slide);
		points[k] = origins[k] + turns[k] * link->reach;
	}
}
