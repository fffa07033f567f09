// Velocities at the end of a step that the joints allow: one linear solve with the rows of rates at the new pose,
//
//   K mu = wanted - J v,   K = J M^-1 J^T     v += M^-1 J^T mu
//
// the nearest allowed velocities in the metric of kinetic energy, which therefore only falls. Limits that carried load,
// motors and friction take part as far as the bounds of their impulse in the whole step allow: rows beyond a bound are
// given it and the rest is solved again. One refinement.

#include "dynamics/joint_island_internal.h"

#define ROUNDS 12       // of choosing which bounds are active
#define RATE_DONE 1e-13 // m/s: nothing to project

double knJointIsland_KineticEnergy(const knJointIsland* island) {
	double energy = 0.0;
	for (int b = 0; b < island->bodyCount; ++b) {
		const knEquationBody* body = &island->bodies[b];
		const knVec3 L = knTMulMV(&body->R, body->L);
		if (body->mass > 0.0) {
			energy += 0.5 * (body->mass * knLengthSquared(body->v) + knDot(L, knMulMV(&body->invInertia, L)));
		}
	}
	return energy;
}

// A row's part in the projection.
typedef enum Part { IDLE, HELD, AT_LOWER, AT_UPPER } Part;

// Angular velocities and inverse masses at the pose.
static void prepareBodies(knJointIsland* island) {
	for (int b = 0; b < island->bodyCount; ++b) {
		knEquationBody* body = &island->bodies[b];
		if (body->mass > 0.0) {
			const knMat33 back = knTranspose33(&body->R);
			const knMat33 local = knMulMM(&body->invInertia, &back);
			body->inverseAng = knMulMM(&body->R, &local);
			body->inverseLin = 1.0 / body->mass;
			body->w = knMulMV(&body->inverseAng, body->L);
			body->u = body->v;
		}
	}
}

static double rateOf(const knJointIsland* island, const knEquationJoint* joint, const knEquationRow* row) {
	const knEquationBody *P = &island->bodies[joint->parent], *C = &island->bodies[joint->child];
	return knDot(row->endP.ang, P->w) + knDot(row->endP.lin, P->u) + knDot(row->endC.ang, C->w) +
		   knDot(row->endC.lin, C->u);
}

static void push(knJointIsland* island, const knEquationJoint* joint, const knEquationRow* row,
				 double impulse) {
	knEquationBody *P = &island->bodies[joint->parent], *C = &island->bodies[joint->child];
	if (P->mass > 0.0) {
		P->L = knMulAdd(P->L, impulse, row->endP.ang);
		P->v = knMulAdd(P->v, impulse * P->inverseLin, row->endP.lin);
		P->u = P->v;
		P->w = knMulMV(&P->inverseAng, P->L);
	}
	if (C->mass > 0.0) {
		C->L = knMulAdd(C->L, impulse, row->endC.ang);
		C->v = knMulAdd(C->v, impulse * C->inverseLin, row->endC.lin);
		C->u = C->v;
		C->w = knMulMV(&C->inverseAng, C->L);
	}
}

// Which rows take part: weights of the matrix. True: some may reach a bound.
static bool choose(knJointIsland* island) {
	bool bounded = false;
	for (int j = 0; j < island->jointCount; ++j) {
		const knEquationJoint* joint = &island->joints[j];
		for (int r = 0; r < joint->count; ++r) {
			knEquationRow* row = &joint->rows[r];
			row->change = row->gap = 0.0; // of this projection: impulse of the row, and its part
			row->compliance = 0.0;
			row->weight = r < joint->locked && row->weight > 0.0 ? 1.0 : 0.0;
			if (r >= joint->locked) {
				const knEquationAxis* axis = &joint->axes[r - joint->locked];
				row->weight = axis->settles && axis->inverseMass > 0.0 ? 1.0 : 0.0;
				row->gap = row->weight > 0.0 ? HELD : IDLE;
				row->compliance = row->weight > 0.0 ? axis->softness : 0.0;
				bounded =
					bounded || (row->weight > 0.0 && (knIsFinite(axis->lower) || knIsFinite(axis->upper)));
			}
		}
	}
	return bounded;
}

// Solves for the rows with weight and applies what it finds. m/s, the largest rate that was wrong.
static double solveOnce(knJointIsland* island) {
	double worst = 0.0;
	knSparse* sparse = island->pattern->sparse;
	for (int b = 0; b < island->bodyCount; ++b) {
		for (int k = 0; island->pattern->hub[b] >= 0 && k < 6; ++k) {
			island->right[knSparse_Offset(sparse, island->pattern->hub[b]) + k] = 0.0;
		}
	}
	for (int j = 0; j < island->jointCount; ++j) {
		const knEquationJoint* joint = &island->joints[j];
		double* right = island->right + knSparse_Offset(sparse, j);
		for (int r = 0; r < joint->count; ++r) {
			const knEquationRow* row = &joint->rows[r];
			right[r] = 0.0;
			if (row->weight > 0.0) {
				const double wanted = r >= joint->locked ? joint->axes[r - joint->locked].wanted : 0.0;
				right[r] = wanted - rateOf(island, joint, row) - row->compliance * row->change;
				worst = knMax(worst, knAbs(right[r]));
			}
		}
	}
	if (worst <= RATE_DONE) {
		return worst;
	}
	knSparse_Solve(sparse, island->right, island->right, 0);
	for (int j = 0; j < island->jointCount; ++j) {
		const knEquationJoint* joint = &island->joints[j];
		const double* x = island->right + knSparse_Offset(sparse, j);
		for (int r = 0; r < joint->count; ++r) {
			if (joint->rows[r].weight > 0.0) {
				joint->rows[r].change += x[r];
				push(island, joint, &joint->rows[r], x[r]);
			}
		}
	}
	return worst;
}

// Rows beyond their bounds are given them; rows at a bound that the rate leaves are held again. True: something changed.
static bool mindBounds(knJointIsland* island) {
	bool changed = false;
	for (int j = 0; j < island->jointCount; ++j) {
		const knEquationJoint* joint = &island->joints[j];
		for (int i = 0; i < joint->axisCount; ++i) {
			const knEquationAxis* axis = &joint->axes[i];
			knEquationRow* row = &joint->rows[joint->locked + i];
			const int part = (int)row->gap;
			if (part == HELD && (row->change < axis->lower || row->change > axis->upper)) {
				const double bound = row->change < axis->lower ? axis->lower : axis->upper;
				row->gap = row->change < axis->lower ? AT_LOWER : AT_UPPER;
				push(island, joint, row, bound - row->change);
				row->change = bound;
				row->weight = 0.0;
				row->compliance = 0.0;
				changed = true;
			} else if (part == AT_LOWER || part == AT_UPPER) {
				const double rate = rateOf(island, joint, row) - axis->wanted;
				// at its lower bound a row could only push more, so its rate must not ask for that
				if (part == AT_LOWER ? rate < -RATE_DONE : rate > RATE_DONE) {
					row->gap = HELD;
					row->weight = 1.0;
					row->compliance = axis->softness;
					changed = true;
				}
			}
		}
	}
	return changed;
}

// J, by motors in the projection.
static double motorWork(const knJointIsland* island) {
	double work = 0.0;
	for (int j = 0; j < island->jointCount; ++j) {
		const knEquationJoint* joint = &island->joints[j];
		for (int i = 0; i < joint->axisCount; ++i) {
			const knEquationRow* row = &joint->rows[joint->locked + i];
			// rate before: wanted less what the impulse changed; the mean of both
			if (joint->axes[i].isMotor && row->change != 0.0) {
				work += row->change * (rateOf(island, joint, row) + row->residual) * 0.5;
			}
		}
	}
	return work;
}

// J, that kinematic bodies put in through the projection's impulses.
static double kinematicWork(const knJointIsland* island) {
	double work = 0.0;
	for (int j = 0; j < island->jointCount; ++j) {
		const knEquationJoint* joint = &island->joints[j];
		const knEquationBody *P = &island->bodies[joint->parent], *C = &island->bodies[joint->child];
		for (int r = 0; r < joint->count; ++r) {
			const knEquationRow* row = &joint->rows[r];
			work -= P->moves ? row->change * knDotT(row->endP, knMakeTwist(P->w, P->u)) : 0.0;
			work -= C->moves ? row->change * knDotT(row->endC, knMakeTwist(C->w, C->u)) : 0.0;
		}
	}
	return work;
}

static void noteRates(knJointIsland* island) {
	for (int j = 0; j < island->jointCount; ++j) {
		for (int r = 0; r < island->joints[j].count; ++r) {
			knEquationRow* row = &island->joints[j].rows[r];
			row->residual = rateOf(island, &island->joints[j], row);
			knEquationAxis* axis =
				r >= island->joints[j].locked ? &island->joints[j].axes[r - island->joints[j].locked] : NULL;
			if (axis != NULL && axis->keepsRate) {
				axis->wanted = row->residual;
			}
		}
	}
}

void knJointIsland_Project(knJointIsland* island, double h) {
	(void)h;
	const double before = knJointIsland_KineticEnergy(island);
	prepareBodies(island);
	for (int j = 0; j < island->jointCount; ++j) {
		knEquationJoint_RateRows(&island->joints[j], island->bodies);
	}
	const bool bounded = choose(island);
	noteRates(island);
	for (int round = 0; round < (bounded ? ROUNDS : 1); ++round) {
		if (!knJointIsland_FactorRows(island, true)) {
			return;
		}
		const double first = solveOnce(island);
		if (first > RATE_DONE) {
			solveOnce(island);
		}
		if (!bounded || !mindBounds(island)) {
			break;
		}
	}
	for (int j = 0; j < island->jointCount; ++j) {
		const knEquationJoint* joint = &island->joints[j];
		for (int r = 0; r < joint->count; ++r) {
			const knEquationRow* row = &joint->rows[r];
			knTwist onChild = row->endC;
			onChild.ang = knSub(onChild.ang, knCross(joint->rC, onChild.lin));
			island->impulse[j] = knMulAddT(island->impulse[j], row->change, onChild);
		}
	}
	const double work = motorWork(island) + kinematicWork(island);
	island->report.work += work;
	island->report.taken += before + work - knJointIsland_KineticEnergy(island);
}
