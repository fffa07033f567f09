// Conservative advancement over one pair, and motion bounds along chains.
#include "collide/meeting.h"

#define MOST_ROUNDS 2000
#define FREE_ROUNDS 40  // then what hugs the other without meeting it moves on by nudges
#define LEAST_PART 1e-9 // of the time at hand: smaller rounds are rounding

knFrame knMoving_At(const knMoving* moving, double time) {
	knVec3 center = knMulAdd(moving->center, time, moving->motion.lin);
	knQuat turn = knQuat_Exp(knScale(time, moving->motion.ang));
	return knMakeFrame(knAdd(center, knRotate(turn, knSub(moving->frame.p, moving->center))),
					   knNormalizeQ(knMulQ(turn, moving->frame.q)));
}

static double turningOf(const knMoving* moving) {
	double speed = knLength(moving->motion.ang);
	return speed > 0.0 ? speed * knGeom_TurningReach(moving->geom, moving->frame, moving->center) : 0.0;
}

bool knMeeting_Find(const knMeetingInput* in, knMeeting* hit) {
	knPairMotion motion = { .velocityA = in->a.motion,
							.velocityB = in->b.motion,
							.turning = turningOf(&in->a) + turningOf(&in->b),
							.skin = in->skin,
							.idle = in->idle,
							.nudge = in->nudge };
	double speed = knLength(knSub(in->b.motion.lin, in->a.motion.lin)) + motion.turning;
	double time = in->from, least = LEAST_PART * (in->to - in->from);
	*hit = (knMeeting){ .time = time };
	for (int round = 0; round < MOST_ROUNDS; ++round) {
		knPairInput pair = knPairInput_Make(in->a.geom, knMoving_At(&in->a, time), in->b.geom,
											knMoving_At(&in->b, time), 0.0);
		motion.centerA = knMulAdd(in->a.center, time, in->a.motion.lin);
		motion.centerB = knMulAdd(in->b.center, time, in->b.motion.lin);
		double left = in->to - time;
		double free = knPieces_Soonest(&pair, &motion, left, &hit->touch);
		hit->time = time;
		if (free == 0.0) {
			return true;
		}
		if (free >= left) {
			return false;
		}
		time += knMax(free, round < FREE_ROUNDS || speed == 0.0 ? least : in->nudge / speed);
	}
	hit->stalled = true;
	return true;
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
