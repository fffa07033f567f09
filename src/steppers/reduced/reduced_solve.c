// Rows with laws over the forest: the method of multipliers, each round Newton's method with an exact line search.
//
//   a row's law      l = law(z),  z = lambda - r/e,  slope D = law'(z)/e           e: softness, r: rate
//   contact          l = projection of z onto the cone |l_t| <= mu l_n, with r_n + mu |slip of the round before|: at the
//                    end of the rounds Coulomb's law (de Saxce)
//   scalar rows      l = z cut to [lo, hi];  springs: l = -h k (x + theta dx) - c dx
//   Newton           (T + C) y = residual.  T: the links' own blocks, each row's J^T D J added to its links' blocks as if
//                    it were inertia; C: what a row between two links does from one to the other
//   end of a round   lambda = l;  the next begins unless all e (l - lambda), m/s, are small
//
// T + C is eliminated over the forest: C is the system's couplings (forest.h). A round ends as soon as the laws' slopes hold,
// so that rounds and Newton's steps are the same where nothing bends.
#include "steppers/reduced/reduced_step.h"

#include <string.h>

#define ROW_TOLERANCE 1e-7 // m/s, by which rows are left wrong when rounds end; of contacts that do not end:
#define CONTACT_SHARE 1e-3 // of the speed that gravity gives in a step; the next step goes on from there
#define ROUND_ITERATIONS 4 // of Newton's method, while laws bend
#define IMPACT_SHARE 1e-3  // and of the speed of the fastest arrival
#define SLIP_SHARE                                                                                           \
	0.02 // of a slip, by which that of the round before may differ: a contact then lifts, and takes energy
#define EXACT_ROUNDS 2    // with contacts: from here on these shares and ROUGH_CHANGE are enough
#define FEW_ROUNDS 12     // the same of few contacts
#define ROUGH_CHANGE 1e-6 // m
#define UNFINISHED 1e-4   // m, with contacts: a last change below it is good enough to go on with
#define RUNAWAY 1e30      // m or m/s
#define PATIENCE 8        // rounds without contacts before that: steps grow while tension builds up
#define DIVERGING 2.0     // growth of Newton's step at which it is given up
#define LOST 100.0        // times the least step so far, and longer than the first ones: the same
#define DAMPED_ROUND 12   // from here on slips are averaged over rounds: they may take turns
#define CONTRADICTION                                                                                        \
	0.9               // share of what loops were wrong by that a round leaves, if they contradict each other
#define VAIN 0.1      // of the contradiction, that a round may move anything by
#define ROUNDED 1e-4  // m, by which they may
#define SLOW 0.3      // share of what rows were wrong by that a round may leave; else they become
#define HARDER 8.0    // times as hard,
#define HARDEST 600.0 // at most
#define SEARCH_STEPS 40
#define FAINT 1e-3 // of a contact's own resistance: a slope that the matrix does without
#define SPARSER                                                                                              \
	0.8 // share of the rows between links that a pattern was made for, below which it is made anew

bool knReducedProblem_Make(knReducedProblem* problem, knReducedStep* step, double rate) {
	knArena* arena = step->context->arena;
	const knForest* forest = &step->forest;
	*problem = (knReducedProblem){ .step = step, .rate = rate, .rowTolerance = ROW_TOLERANCE };
	problem->base = KN_SCRATCH(arena, knForestBlock, forest->count);
	problem->own = KN_SCRATCH(arena, knTreeForce, forest->count);
	problem->push = KN_SCRATCH(arena, knTreeForce, forest->count);
	problem->total = KN_SCRATCH(arena, knTreeForce, forest->count);
	problem->motion = KN_SCRATCH(arena, knTreeMotion, forest->count);
	problem->B = KN_SCRATCH(arena, double, forest->bCount);
	problem->tau = KN_SCRATCH(arena, double, forest->nv);
	problem->y = KN_SCRATCH(arena, double, forest->nv);
	return knForestSystem_Make(&problem->system, forest, arena) && !arena->failed;
}

// --- laws ------------------------------------------------------------------------------------------------

// Normal and friction by themselves: friction cut to a disc.
static void discLaw(const knReducedContact* contact, const double z[3], double l[3], double* D) {
	double inverse = 1.0 / contact->e, s = sqrt(z[1] * z[1] + z[2] * z[2]);
	bool cut = s > contact->disc;
	double scale = cut ? contact->disc / s : 1.0;
	l[0] = knMax(z[0], 0.0);
	l[1] = scale * z[1], l[2] = scale * z[2];
	if (D != NULL) {
		double w1 = cut ? z[1] / s : 0.0, w2 = cut ? z[2] / s : 0.0, f = scale * inverse;
		D[0] = z[0] > 0.0 ? inverse : 0.0;
		D[4] = f * (1.0 - w1 * w1);
		D[5] = D[7] = -f * w1 * w2;
		D[8] = f * (1.0 - w2 * w2);
	}
}

// The projection of z onto the friction cone, and its slope over e in frame axes.
static void coneLaw(const knReducedContact* contact, const double r[3], double l[3], double* D) {
	double inverse = 1.0 / contact->e, mu = contact->mu;
	double z0 = contact->lambda[0] - (r[0] + contact->shift) * inverse,
		   z1 = contact->lambda[1] - r[1] * inverse, z2 = contact->lambda[2] - r[2] * inverse;
	double s = sqrt(z1 * z1 + z2 * z2);
	if (D != NULL) {
		memset(D, 0, 9 * sizeof(double));
	}
	if (contact->disc >= 0.0) {
		discLaw(contact, (double[3]){ z0 + contact->shift * inverse, z1, z2 }, l, D);
		return;
	}
	// the polar cone first: without friction, and nothing tangential, it is the cone's own negative
	if (mu * s <= -z0) {
		l[0] = l[1] = l[2] = 0.0;
	} else if (s <= mu * z0) {
		l[0] = z0, l[1] = z1, l[2] = z2;
		if (D != NULL) {
			D[0] = D[4] = D[8] = inverse;
		}
	} else {
		double share = 1.0 / (1.0 + mu * mu);
		l[0] = (z0 + mu * s) * share;
		double scale = mu * l[0] / s;
		l[1] = scale * z1, l[2] = scale * z2;
		if (D != NULL) {
			double k = inverse * share, w1 = z1 / s, w2 = z2 / s, f = scale * inverse, b = mu * mu * k - f;
			D[0] = k;
			D[1] = D[3] = mu * k * w1;
			D[2] = D[6] = mu * k * w2;
			D[4] = f + b * w1 * w1;
			D[5] = D[7] = b * w1 * w2;
			D[8] = f + b * w2 * w2;
		}
	}
}

static double boundLaw(double z, double lo, double hi) {
	return z < lo ? lo : z > hi ? hi : z;
}

// --- rows at the present iterate -------------------------------------------------------------------------

static knVec3 relativeRate(const knReducedContact* contact, const knTwist* rates) {
	const knTwist *a = &rates[contact->bodyA], *b = &rates[contact->bodyB];
	knVec3 onA = knAdd(a->lin, knCross(a->ang, contact->armA));
	return knSub(knAdd(b->lin, knCross(b->ang, contact->armB)), onA);
}

static void pushLink(knTreeForce* push, int link, knVec3 arm, knVec3 impulse, double sign) {
	if (link >= 0) {
		push[link].n += knLanes_FromVec(knScale(sign, knCross(arm, impulse)));
		push[link].f += knLanes_FromVec(knScale(sign, impulse));
	}
}

static void pushWrench(knTreeForce* push, int link, knTwist wrench, double scale) {
	if (link >= 0) {
		push[link].n += knLanes_FromVec(knScale(scale, wrench.ang));
		push[link].f += knLanes_FromVec(knScale(scale, wrench.lin));
	}
}

static knVec3 inWorld(const knReducedContact* contact, const double l[3]) {
	return knMulAdd(knMulAdd(knScale(l[0], contact->n), l[1], contact->t1), l[2], contact->t2);
}

static void measureContact(knReducedContact* contact, const knReducedProblem* problem) {
	const knTwist* rates = problem->rates;
	knVec3 u = relativeRate(contact, rates);
	contact->r[0] = knDot(contact->n, u) - contact->target;
	contact->r[1] = knDot(contact->t1, u);
	contact->r[2] = knDot(contact->t2, u);
	if (problem->interior) {
		knReducedInterior_Contact(problem, contact);
	} else {
		coneLaw(contact, contact->r, contact->l, contact->D);
	}
}

// A soft row: r is the displacement over h in the implicit step.
static double softLaw(double x, double stiffness, double damping, double theta, double h, double r) {
	return -h * (stiffness * (x + theta * h * r) + damping * r);
}

static void measureAxis(const knReducedProblem* problem, knReducedAxisRow* row, const double* rateOf) {
	const knReducedStep* step = problem->step;
	const knForestLink* link = &step->forest.links[row->link];
	row->r = row->l = row->slope = 0.0;
	for (int k = 0; k < link->nv && !row->off; ++k) {
		row->r += row->coef[k] * rateOf[link->vOffset + k];
	}
	if (row->off) {
		return;
	}
	const bool soft = row->law == KN_LAW_SOFT || row->law == KN_LAW_DRIVE;
	if (row->law == KN_LAW_CARRY) {
		// over a step the end velocity is 2 r - target
		row->slope = problem->displacements ? 2.0 * row->carried : row->carried;
		row->l = -row->slope * (row->r - row->target);
	} else if (soft && !problem->timed) {
		row->slope = row->after;
		row->l = -row->slope * row->r;
	} else if (row->law == KN_LAW_DRIVE && problem->interior) {
		knReducedInterior_Axis(problem, row);
	} else if (row->law == KN_LAW_DRIVE) {
		double z = row->push - row->r / row->e;
		row->l = boundLaw(z, row->lo, row->hi);
		row->slope = row->l == z ? 1.0 / row->e : 0.0;
	} else if (row->law == KN_LAW_SOFT) {
		row->l = softLaw(row->x, row->stiffness, row->damping, row->theta, step->h, row->r);
		row->slope = step->h * (row->stiffness * row->theta * step->h + row->damping);
	} else {
		row->r -= row->target;
		double z = row->lambda - row->r / row->e;
		row->l = boundLaw(z, row->lo, row->hi);
		row->slope = row->l == z ? 1.0 / row->e : 0.0;
		if (problem->interior) {
			knReducedInterior_Axis(problem, row);
		}
	}
}

static void measurePair(const knReducedStep* step, knReducedPairRow* row, const knReducedProblem* problem) {
	row->l = row->slope = 0.0;
	if (row->locked && problem->displacements) {
		row->r = row->error * problem->rate;
	} else {
		row->r = knDotT(row->jP, problem->rates[row->bodyP]) + knDotT(row->jC, problem->rates[row->bodyC]);
	}
	if (row->off) {
		return;
	}
	if (row->law == KN_LAW_SOFT && !problem->timed) {
		row->slope = row->after;
		row->l = -row->slope * row->r;
	} else if (row->law == KN_LAW_SOFT) {
		row->l = softLaw(row->x, row->stiffness, row->damping, row->theta, step->h, row->r);
		row->slope = step->h * (row->stiffness * row->theta * step->h + row->damping);
	} else {
		row->r -= row->target;
		double z = row->lambda - row->r / row->e;
		row->l = boundLaw(z, row->lo, row->hi);
		row->slope = row->l == z ? 1.0 / row->e : 0.0;
		if (problem->interior) {
			knReducedInterior_Pair(problem, row);
		}
	}
}

// Rates of the joints' coordinates, as axis rows read them.
static void jointRates(const knReducedProblem* problem, double* rates) {
	const knReducedStep* step = problem->step;
	for (int i = 0; i < step->forest.count; ++i) {
		const knForestLink* link = &step->forest.links[i];
		if (!problem->displacements) {
			for (int k = link->vOffset; k < link->vOffset + link->nv; ++k) {
				rates[k] = step->v[k];
			}
		} else if (link->nq == link->nv) {
			for (int k = 0; k < link->nv; ++k) {
				rates[link->vOffset + k] =
					problem->rate * (step->q[link->qOffset + k] - step->q0[link->qOffset + k]);
			}
		} else {
			// angular rates in the axes of the columns: of a ball joint these are orthonormal
			knTwist own = step->mean[link->body], parent = step->mean[link->parentBody];
			knVec3 w = knSub(own.ang, parent.ang);
			for (int k = 0; k < link->nv; ++k) {
				knVec3 column = knLanes_ToVec(step->columns0[link->vOffset + k].ang);
				rates[link->vOffset + k] = knDot(column, w);
			}
		}
	}
}

// Everything that depends on the iterate; false without memory.
static bool measureRows(knReducedProblem* problem) {
	knReducedStep* step = problem->step;
	const knForest* forest = &step->forest;
	for (int i = 0; i < forest->count; ++i) {
		problem->push[i] = (knTreeForce){ -problem->own[i].n, -problem->own[i].f };
	}
	for (int k = 0; k < forest->nv; ++k) {
		problem->tau[k] = problem->ownTau != NULL ? problem->ownTau[k] : 0.0;
	}
	for (int k = 0; problem->useContacts && k < step->contactCount; ++k) {
		knReducedContact* contact = &step->contacts[k];
		if (contact->off) {
			continue;
		}
		measureContact(contact, problem);
		double change[3];
		for (int i = 0; i < 3; ++i) {
			change[i] = contact->l[i] - contact->offset[i];
		}
		knVec3 impulse = inWorld(contact, change);
		pushLink(problem->push, contact->linkA, contact->armA, impulse, -1.0);
		pushLink(problem->push, contact->linkB, contact->armB, impulse, 1.0);
	}
	if (problem->useAxes && step->axisCount > 0) {
		double* rates = problem->y; // free until the solution
		jointRates(problem, rates);
		for (int k = 0; k < step->axisCount; ++k) {
			knReducedAxisRow* row = &step->axes[k];
			const knForestLink* link = &forest->links[row->link];
			measureAxis(problem, row, rates);
			for (int i = 0; i < link->nv; ++i) {
				problem->tau[link->vOffset + i] += row->coef[i] * (row->l - row->offset);
			}
		}
	}
	for (int k = 0; problem->usePairs && k < step->pairCount; ++k) {
		knReducedPairRow* row = &step->pairs[k];
		measurePair(step, row, problem);
		pushWrench(problem->push, row->linkP, row->jP, row->l - row->offset);
		pushWrench(problem->push, row->linkC, row->jC, row->l - row->offset);
	}
	return true;
}

// What each link asks of its joint.
static void sumTotals(knReducedProblem* problem) {
	const knForest* forest = &problem->step->forest;
	knTreeForce* F = problem->total;
	for (int i = 0; i < forest->count; ++i) {
		F[i] = (knTreeForce){ -problem->push[i].n, -problem->push[i].f };
	}
	for (int i = forest->count - 1; i >= 0; --i) {
		int parent = forest->links[i].parent;
		if (parent >= 0) {
			knTreeForce_AddShifted(&F[parent], &F[i], problem->system.mean[i]);
		}
	}
}

// --- the matrix ------------------------------------------------------------------------------------------

// A += s [arm; 1] D [byTurn, 1].
static void addPoint(knForestBlock* A, knVec3 arm, const knMat33* byTurn, const knMat33* D, double s) {
	knMat33 scaled = knScaleM(s, D), a = knSkew(arm);
	knMat33 De = knMulMM(&scaled, byTurn), aD = knMulMM(&a, &scaled), aDe = knMulMM(&a, &De);
	knLanes33 lanes = knLanes_FromMat(&aDe);
	knLanes_AddMat(&A->aa, &lanes);
	lanes = knLanes_FromMat(&aD);
	knLanes_AddMat(&A->al, &lanes);
	lanes = knLanes_FromMat(&De);
	knLanes_AddMat(&A->la, &lanes);
	lanes = knLanes_FromMat(&scaled);
	knLanes_AddMat(&A->ll, &lanes);
}

static knMat33 worldSlope(const knReducedContact* contact) {
	knVec3 F[3] = { contact->n, contact->t1, contact->t2 };
	knVec3 columns[3];
	for (int i = 0; i < 3; ++i) { // rows of D F
		columns[i] = knZero3();
		for (int j = 0; j < 3; ++j) {
			columns[i] = knMulAdd(columns[i], contact->D[3 * i + j], F[j]);
		}
	}
	// sum over i of F_i (D F)_i^T
	knMat33 sum = knDiagonal33(0.0, 0.0, 0.0);
	for (int i = 0; i < 3; ++i) {
		sum.cx = knMulAdd(sum.cx, columns[i].x, F[i]);
		sum.cy = knMulAdd(sum.cy, columns[i].y, F[i]);
		sum.cz = knMulAdd(sum.cz, columns[i].z, F[i]);
	}
	return sum;
}

static void addOuter(knForestBlock* A, knTwist push, knTwist change, double s) {
	knLanes n = knLanes_FromVec(knScale(s, push.ang)), f = knLanes_FromVec(knScale(s, push.lin));
	knLanes w = knLanes_FromVec(change.ang), u = knLanes_FromVec(change.lin);
	A->aa.x += n * knLanes_X(w), A->aa.y += n * knLanes_Y(w), A->aa.z += n * knLanes_Z(w);
	A->al.x += n * knLanes_X(u), A->al.y += n * knLanes_Y(u), A->al.z += n * knLanes_Z(u);
	A->la.x += f * knLanes_X(w), A->la.y += f * knLanes_Y(w), A->la.z += f * knLanes_Z(w);
	A->ll.x += f * knLanes_X(u), A->ll.y += f * knLanes_Y(u), A->ll.z += f * knLanes_Z(u);
}

// Does the row weigh anything in the matrix? `weight`, kg, of the row itself: interior points leave faint traces everywhere.
static bool hasSlope(const knReducedProblem* problem, const knReducedContact* contact) {
	double most = knMax(contact->D[0], knMax(contact->D[4], contact->D[8]));
	return !contact->off && most > (problem->interior ? FAINT * contact->cone.weight : 0.0);
}

// Blocks between links become zero; a pattern that has become much sparser is forgotten.
static void clearCouplings(knReducedProblem* problem) {
	knReducedStep* step = problem->step;
	knForestCouplings* couplings = problem->system.couplings;
	int rows = 0;
	for (int k = 0; problem->useContacts && k < step->contactCount; ++k) {
		const knReducedContact* contact = &step->contacts[k];
		rows += contact->linkA >= 0 && contact->linkB >= 0 && hasSlope(problem, contact);
	}
	if (!couplings->planned || rows < SPARSER * problem->patternRows) {
		knForestCouplings_Forget(couplings);
		problem->patternRows = rows;
	} else {
		knForestCouplings_Clear(couplings);
	}
}

// A contact's slope: in the blocks of its links, and between them. False: no memory.
static bool addContact(knReducedProblem* problem, const knReducedContact* contact) {
	knForestSystem* system = &problem->system;
	double rate = problem->rate;
	knMat33 D = worldSlope(contact);
	if (contact->linkA >= 0) {
		addPoint(&system->block[contact->linkA], contact->armA, &contact->byTurnA, &D, rate);
	}
	if (contact->linkB >= 0) {
		addPoint(&system->block[contact->linkB], contact->armB, &contact->byTurnB, &D, rate);
	}
	if (contact->linkA < 0 || contact->linkB < 0) {
		return true;
	}
	knForestPair* pair = knForestCouplings_Couple(system->couplings, contact->linkA, contact->linkB);
	if (pair != NULL) {
		int side = pair->link[0] == contact->linkA ? 0 : 1;
		addPoint(&pair->block[side], contact->armA, &contact->byTurnB, &D, -rate);
		addPoint(&pair->block[!side], contact->armB, &contact->byTurnA, &D, -rate);
	}
	return pair != NULL;
}

static bool addPairRow(knReducedProblem* problem, const knReducedPairRow* row) {
	knForestSystem* system = &problem->system;
	double slope = row->slope * problem->rate;
	if (row->linkP >= 0) {
		addOuter(&system->block[row->linkP], row->jP, row->eP, slope);
	}
	if (row->linkC >= 0) {
		addOuter(&system->block[row->linkC], row->jC, row->eC, slope);
	}
	if (row->linkP < 0 || row->linkC < 0) {
		return true;
	}
	knForestPair* pair = knForestCouplings_Couple(system->couplings, row->linkP, row->linkC);
	if (pair != NULL) {
		int side = pair->link[0] == row->linkP ? 0 : 1;
		addOuter(&pair->block[side], row->jP, row->eC, slope);
		addOuter(&pair->block[!side], row->jC, row->eP, slope);
	}
	return pair != NULL;
}

static bool assemble(knReducedProblem* problem) {
	knReducedStep* step = problem->step;
	const knForest* forest = &step->forest;
	knForestSystem* system = &problem->system;
	memcpy(system->block, problem->base, (size_t)forest->count * sizeof(knForestBlock));
	for (int k = 0; k < forest->bCount; ++k) {
		problem->B[k] = problem->baseB != NULL ? problem->baseB[k] : 0.0;
	}
	if (system->couplings != NULL) {
		clearCouplings(problem);
	}
	bool done = true;
	for (int k = 0; problem->useContacts && k < step->contactCount && done; ++k) {
		done = !hasSlope(problem, &step->contacts[k]) || addContact(problem, &step->contacts[k]);
	}
	for (int k = 0; problem->useAxes && k < step->axisCount; ++k) {
		const knReducedAxisRow* row = &step->axes[k];
		const knForestLink* link = &forest->links[row->link];
		double slope = row->slope * problem->rate;
		for (int i = 0; i < link->nv; ++i) {
			for (int j = 0; j < link->nv; ++j) {
				problem->B[link->bOffset + i * link->nv + j] += slope * row->coef[i] * row->coef[j];
			}
		}
	}
	for (int k = 0; problem->usePairs && k < step->pairCount && done; ++k) {
		done = step->pairs[k].slope == 0.0 || addPairRow(problem, &step->pairs[k]);
	}
	system->B = problem->B;
	return done && knForestSystem_Factor(system);
}

static knVec3 pointMotion(const knTreeMotion* motion, const knMat33* byTurn) {
	return knAdd(knLanes_ToVec(motion->lin), knMulMV(byTurn, knLanes_ToVec(motion->ang)));
}

static double rowMotion(const knTreeMotion* motion, knTwist row) {
	return knDot(knLanes_ToVec(motion->ang), row.ang) + knDot(knLanes_ToVec(motion->lin), row.lin);
}

// --- line search -----------------------------------------------------------------------------------------

static void changeRates(knReducedProblem* problem) {
	knReducedStep* step = problem->step;
	static const knTreeMotion still;
	for (int k = 0; problem->useContacts && k < step->contactCount; ++k) {
		knReducedContact* contact = &step->contacts[k];
		knVec3 a =
			pointMotion(contact->linkA >= 0 ? &problem->motion[contact->linkA] : &still, &contact->byTurnA);
		knVec3 b =
			pointMotion(contact->linkB >= 0 ? &problem->motion[contact->linkB] : &still, &contact->byTurnB);
		knVec3 u = knScale(problem->rate, knSub(b, a));
		contact->dr[0] = knDot(contact->n, u);
		contact->dr[1] = knDot(contact->t1, u);
		contact->dr[2] = knDot(contact->t2, u);
	}
	for (int k = 0; problem->useAxes && k < step->axisCount; ++k) {
		knReducedAxisRow* row = &step->axes[k];
		const knForestLink* link = &step->forest.links[row->link];
		row->dr = 0.0;
		for (int i = 0; i < link->nv; ++i) {
			row->dr += problem->rate * row->coef[i] * problem->y[link->vOffset + i];
		}
	}
	for (int k = 0; problem->usePairs && k < step->pairCount; ++k) {
		knReducedPairRow* row = &step->pairs[k];
		double p = row->linkP >= 0 ? rowMotion(&problem->motion[row->linkP], row->eP) : 0.0;
		double c = row->linkC >= 0 ? rowMotion(&problem->motion[row->linkC], row->eC) : 0.0;
		row->dr = problem->rate * (p + c);
	}
}

static void contactAt(const knReducedContact* contact, double t, double l[3]) {
	double r[3] = { contact->r[0] + t * contact->dr[0], contact->r[1] + t * contact->dr[1],
					contact->r[2] + t * contact->dr[2] };
	coneLaw(contact, r, l, NULL);
}

// The laws at t against their slopes: `error`, m/s; returns the sum of dr (l(t) - (l - t D dr)).
static double curveOfLaws(const knReducedProblem* problem, double t, double* error) {
	const knReducedStep* step = problem->step;
	double sum = 0.0, worst = 0.0;
	for (int k = 0; problem->useContacts && k < step->contactCount; ++k) {
		const knReducedContact* contact = &step->contacts[k];
		if (contact->off) {
			continue;
		}
		double l[3];
		contactAt(contact, t, l);
		for (int i = 0; i < 3; ++i) {
			const double* D = &contact->D[3 * i];
			double straight =
				contact->l[i] - t * (D[0] * contact->dr[0] + D[1] * contact->dr[1] + D[2] * contact->dr[2]);
			sum += contact->dr[i] * (l[i] - straight);
			worst = knMax(worst, contact->e * knAbs(l[i] - straight));
		}
	}
	for (int k = 0; problem->useAxes && k < step->axisCount; ++k) {
		const knReducedAxisRow* row = &step->axes[k];
		const bool drive = row->law == KN_LAW_DRIVE && problem->displacements;
		if ((row->law == KN_LAW_BOUND || drive) && !row->off) {
			double at = drive ? row->push : row->lambda;
			double l = boundLaw(at - (row->r + t * row->dr) / row->e, row->lo, row->hi);
			double off = l - (row->l - t * row->slope * row->dr);
			sum += row->dr * off;
			worst = knMax(worst, row->e * knAbs(off));
		}
	}
	for (int k = 0; problem->usePairs && k < step->pairCount; ++k) {
		const knReducedPairRow* row = &step->pairs[k];
		if (row->law == KN_LAW_BOUND && !row->off) {
			double l = boundLaw(row->lambda - (row->r + t * row->dr) / row->e, row->lo, row->hi);
			double off = l - (row->l - t * row->slope * row->dr);
			sum += row->dr * off;
			worst = knMax(worst, row->e * knAbs(off));
		}
	}
	*error = worst;
	return sum / problem->rate;
}

// How far to go along y: the zero of the merit's slope, which is m (1 - t) - curve(t), m its slope at the start.
static double searchStep(const knReducedProblem* problem, double* error) {
	double curve = curveOfLaws(problem, 1.0, error), start = problem->slopeOfMerit;
	if (*error <= problem->lawTolerance || -curve <= 0.0 || !(start < 0.0)) {
		return 1.0;
	}
	double low = 0.0, high = 1.0, ignored;
	for (int i = 0; i < SEARCH_STEPS && high - low > 1e-3 * high; ++i) {
		double middle = 0.5 * (low + high);
		double slope = start * (1.0 - middle) - curveOfLaws(problem, middle, &ignored);
		if (slope > 0.0) {
			high = middle;
		} else {
			low = middle;
		}
	}
	return 0.5 * (low + high);
}

// --- rounds ----------------------------------------------------------------------------------------------

// The residual along y, negative where y descends.
static double meritSlope(const knReducedProblem* problem) {
	const knForest* forest = &problem->step->forest;
	double sum = 0.0;
	for (int i = 0; i < forest->count; ++i) {
		for (int k = forest->links[i].vOffset; k < forest->links[i].vOffset + forest->links[i].nv; ++k) {
			const knTreeForce* R = &problem->system.R[k];
			double left = knLanes_Dot(R->n, problem->total[i].n) + knLanes_Dot(R->f, problem->total[i].f) -
						  problem->tau[k];
			sum += left * problem->y[k];
		}
	}
	return sum;
}

double knReducedProblem_LargestChange(const knReducedProblem* problem) {
	const knReducedStep* step = problem->step;
	double worst = 0.0;
	for (int i = 0; i < step->forest.count; ++i) {
		double radius = step->context->model->radius[step->forest.links[i].body];
		const knTreeMotion* motion = &problem->motion[i];
		double change = sqrt(knLanes_Dot(motion->lin, motion->lin)) +
						knMax(radius, 1e-3) * sqrt(knLanes_Dot(motion->ang, motion->ang));
		worst = change > worst || change != change ? change : worst;
	}
	return worst;
}

// m/s by which a round left things wrong.
typedef struct Wrong {
	double rows;  // all but locked ones
	double slips; // of contacts
	double loops; // locked rows
} Wrong;

// Takes the laws' impulses as multipliers.
static Wrong renewMultipliers(knReducedProblem* problem, bool late, bool damped) {
	knReducedStep* step = problem->step;
	double worst = 0.0;
	Wrong wrong = { 0 };
	for (int k = 0; problem->useContacts && k < step->contactCount; ++k) {
		knReducedContact* contact = &step->contacts[k];
		if (contact->off) {
			continue;
		}
		double slip = contact->mu * sqrt(contact->r[1] * contact->r[1] + contact->r[2] * contact->r[2]);
		slip = contact->disc < 0.0 ? slip : 0.0;
		wrong.slips = knMax(wrong.slips, knAbs(slip - contact->shift) - (late ? SLIP_SHARE * slip : 0.0));
		for (int i = 0; i < 3; ++i) {
			worst = knMax(worst, contact->e * knAbs(contact->l[i] - contact->lambda[i]));
			contact->lambda[i] = contact->l[i];
		}
		contact->shift = damped ? 0.5 * (slip + contact->shift) : slip;
	}
	for (int k = 0; problem->useAxes && k < step->axisCount; ++k) {
		knReducedAxisRow* row = &step->axes[k];
		if (row->law == KN_LAW_BOUND && !row->off) {
			worst = knMax(worst, row->e * knAbs(row->l - row->lambda));
		}
		row->lambda = row->off ? row->lambda : row->l;
	}
	for (int k = 0; problem->usePairs && k < step->pairCount; ++k) {
		knReducedPairRow* row = &step->pairs[k];
		if (row->law == KN_LAW_BOUND && !row->off) {
			double* most = row->locked ? &wrong.loops : &worst;
			*most = knMax(*most, row->e * knAbs(row->l - row->lambda));
		}
		row->before = row->lambda;
		row->lambda = row->off ? row->lambda : row->l;
	}
	wrong.rows = worst;
	return wrong;
}

// Loops that repeat each other but for rounded numbers contradict each other a little: what is left wrong does not fall any more,
// and multipliers grow by the same in every round although nothing moves. What they grew by in so many rounds goes.
static void dropContradiction(knReducedStep* step, int rounds) {
	for (int k = 0; k < step->pairCount; ++k) {
		knReducedPairRow* row = &step->pairs[k];
		row->lambda -= row->locked && !row->off ? rounds * (row->lambda - row->before) : 0.0;
	}
}

// Multipliers of rows that carry much together come by small steps: softness is divided by `factor`, down to HARDEST of what
// it was. Returns how much harder rows are than they were made.
static double harden(knReducedProblem* problem, double hardness, double factor) {
	knReducedStep* step = problem->step;
	if (hardness * factor > HARDEST) {
		return hardness;
	}
	for (int k = 0; k < step->contactCount; ++k) {
		step->contacts[k].e /= factor;
	}
	for (int k = 0; k < step->axisCount; ++k) {
		step->axes[k].e /= step->axes[k].law == KN_LAW_BOUND ? factor : 1.0;
	}
	for (int k = 0; k < step->pairCount; ++k) {
		step->pairs[k].e /= step->pairs[k].law == KN_LAW_BOUND && !step->pairs[k].locked ? factor : 1.0;
	}
	return hardness * factor;
}

void knReducedProblem_Measure(knReducedProblem* problem) {
	measureRows(problem);
}

void knReducedProblem_Arrange(knReducedProblem* problem) {
	if (problem->arrange != NULL) {
		sumTotals(problem);
		problem->arrange(problem);
	}
}

bool knReducedProblem_FindDirection(knReducedProblem* problem, bool anew) {
	sumTotals(problem);
	if (problem->arrange != NULL && !problem->interior) {
		problem->arrange(problem);
	}
	if (anew && !assemble(problem)) {
		return false;
	}
	knForestSystem_Solve(&problem->system, problem->push, problem->tau, problem->y, problem->motion);
	changeRates(problem);
	return true;
}

// One step of Newton's method; the change in m or m/s, and how far laws were from their slopes.
static bool iterate(knReducedProblem* problem, double* change, double* error) {
	if (!knReducedProblem_FindDirection(problem, true)) {
		return false;
	}
	problem->slopeOfMerit = meritSlope(problem);
	double t = searchStep(problem, error);
	*change = knReducedProblem_LargestChange(problem);
	problem->advance(problem, t);
	problem->refresh(problem);
	measureRows(problem);
	problem->iterations += 1;
	problem->step->iterations += 1;
	*error = t < 1.0 ? knMax(*error, 2.0 * problem->lawTolerance) : *error;
	return *change < RUNAWAY;
}

// Slips to begin with are those of the first iterate.
static void startSlips(knReducedProblem* problem) {
	knReducedStep* step = problem->step;
	for (int k = 0; problem->useContacts && k < step->contactCount; ++k) {
		knReducedContact* contact = &step->contacts[k];
		knVec3 u = relativeRate(contact, problem->rates);
		double t1 = knDot(contact->t1, u), t2 = knDot(contact->t2, u);
		contact->shift = contact->disc < 0.0 ? contact->mu * sqrt(t1 * t1 + t2 * t2) : 0.0;
	}
}

bool knReducedProblem_Solve(knReducedProblem* problem, int rounds) {
	knReducedStep* step = problem->step;
	bool touching = problem->useContacts && step->contactCount > 0;
	problem->system.couplings = NULL;
	if (step->crossCount > 0) {
		if (!knForestCouplings_Make(&step->couplings, &step->forest, step->crossCount,
									step->context->arena)) {
			return false;
		}
		problem->system.couplings = &step->couplings;
	}
	bool many = step->contactCount > KN_REDUCED_FEW;
	double fall = step->h * knLength(step->context->state->header->gravity);
	double rough = knMax(CONTACT_SHARE * fall, IMPACT_SHARE * step->approach);
	problem->lawTolerance = problem->rowTolerance;
	problem->refresh(problem);
	startSlips(problem);
	measureRows(problem);
	if (many && problem->smooth) {
		bool solved = knReducedInterior_Solve(problem, knMax(rough, problem->rowTolerance));
		if (solved || problem->displacements) {
			sumTotals(problem);
			return solved;
		}
		measureRows(problem);
	}
	bool settled = false;
	double hardness = 1.0;
	double change = (double)INFINITY, error = 0.0, best = (double)INFINITY, first = 0.0;
	double wrongBefore = (double)INFINITY, loopsBefore = (double)INFINITY;
	for (int round = 0; round < rounds && !settled; ++round) {
		// many rows may be left to the next step
		bool late = touching && round >= (many ? EXACT_ROUNDS : FEW_ROUNDS);
		problem->lawTolerance = late ? knMax(rough, problem->rowTolerance) : problem->rowTolerance;
		double enough = late ? knMax(problem->tolerance, ROUGH_CHANGE) : problem->tolerance;
		for (int i = 0; i < ROUND_ITERATIONS && (i == 0 || error > problem->lawTolerance); ++i) {
			double before = change;
			if (!iterate(problem, &change, &error)) {
				return false;
			}
			// a step that runs away is too long: without any law to bend it, or beyond where it began
			first = round == 0 ? knMax(first, change) : first;
			if (problem->displacements && round >= (touching ? 2 : PATIENCE) &&
				((error == 0.0 && change > DIVERGING * before) ||
				 (change > LOST * best && change > DIVERGING * first))) {
				return false;
			}
			best = knMin(best, change);
		}
		Wrong wrong = renewMultipliers(problem, late, round >= DAMPED_ROUND);
		bool bent = error > problem->lawTolerance;
		bool fits = !bent && knMax(wrong.rows, wrong.slips) <= problem->lawTolerance;
		// nothing moves but by what multipliers that grow in vain do
		double vain = VAIN * wrong.loops / problem->rate;
		bool contradict = fits && wrong.loops > problem->rowTolerance &&
						  wrong.loops > CONTRADICTION * loopsBefore &&
						  wrong.loops <= ROUNDED * problem->rate &&
						  (change <= knMax(enough, vain) || !problem->displacements);
		if (contradict) {
			dropContradiction(step, round + 1);
		}
		settled = contradict || (fits && wrong.loops <= problem->rowTolerance &&
								 (change <= enough || !problem->displacements));
		if (wrong.rows > SLOW * wrongBefore && wrong.rows > knMax(wrong.slips, problem->lawTolerance) &&
			!bent) {
			hardness = harden(problem, hardness, HARDER);
			change = best = (double)INFINITY;
		}
		wrongBefore = wrong.rows;
		loopsBefore = wrong.loops;
		if (!settled) {
			measureRows(problem);
		}
	}
	harden(problem, hardness, 1.0 / hardness);
	sumTotals(problem);
	return settled || (touching && change <= UNFINISHED);
}
