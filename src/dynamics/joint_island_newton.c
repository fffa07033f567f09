// Newton's method on all bodies and joints of an island. With A the derivative of a body's equation by its (w, u), B the
// end rows and M the mean rows of joints, one iteration solves
//
//   A dx - M^T dlambda = -rest           for every body
//   weight B dx + compliance dlambda = -residual      for every row
//
// Bodies are eliminated (3 x 3 inverses; the mass is a scalar), which leaves S dlambda = right with
//
//   S = weight B A^-1 M^T + compliance      S_ii *= 1 + reg
//
// S has a symmetric pattern but no symmetric values. Rows that depend on each other (loops) make it singular with a
// right side in its range: the small reg then finds one of the solutions and Newton itself is the refinement.

#include "dynamics/joint_island_internal.h"

#include <string.h>

#define TREE_SHARE 1e-10 // reg
#define LOOP_SHARE 1e-8
#define LOST 1e6 // m: a residual that has no way back
#define FREE_ITERATIONS                                                                                      \
	6 // after which limits, friction and motors stay as they are: else they might go on alternating
#define FALLS 0.7  // of the residual before: worth another iteration
#define EXACT 1e-4 // of the tolerance: a guess that needs no iteration
#define SEARCH_HALVINGS 8
#define STALLED 0.9 // of the gap three iterations before: joints in conflict

// --- assembly --------------------------------------------------------------------------------------------------

static void respond(const knEquationBody* body, double weight, knTwist end, knTwist* response) {
	// end row times A^-1
	const knVec3 ang = knTMulMV(&body->inverseAng, end.ang);
	*response = knMakeTwist(knScale(weight, ang), knScale(weight * body->inverseLin, end.lin));
}

// block += response of joint i times rows of joint k, both at one body.
static void addPair(const knEquationJoint* i, bool iChild, const knEquationJoint* k, bool kChild, bool rates,
					double* block) {
	for (int r = 0; r < i->count; ++r) {
		const knTwist* x = iChild ? &i->rows[r].responseC : &i->rows[r].responseP;
		for (int c = 0; c < k->count; ++c) {
			const knEquationRow* row = &k->rows[c];
			const knTwist* y =
				rates ? (kChild ? &row->endC : &row->endP) : (kChild ? &row->meanC : &row->meanP);
			block[r * k->count + c] += x->ang.x * y->ang.x + x->ang.y * y->ang.y + x->ang.z * y->ang.z +
									   x->lin.x * y->lin.x + x->lin.y * y->lin.y + x->lin.z * y->lin.z;
		}
	}
}

// A hub's own block A and what couples it to one of its joints.
static void addHub(const knEquationBody* body, double* block) {
	const knMat33 A = knInverse33(&body->inverseAng);
	const knVec3 columns[3] = { A.cx, A.cy, A.cz };
	for (int i = 0; i < 3; ++i) {
		for (int j = 0; j < 3; ++j) {
			block[6 * i + j] = knComponent(columns[j], i);
		}
		block[6 * (i + 3) + i + 3] = 1.0 / body->inverseLin;
	}
}

static void storeSix(knTwist t, double scale, double* six, int stride) {
	six[0] = scale * t.ang.x;
	six[stride] = scale * t.ang.y;
	six[2 * stride] = scale * t.ang.z;
	six[3 * stride] = scale * t.lin.x;
	six[4 * stride] = scale * t.lin.y;
	six[5 * stride] = scale * t.lin.z;
}

static void addHubEnd(const knEquationJoint* joint, bool isChild, bool rates, double* toHub,
					  double* fromHub) {
	for (int r = 0; r < joint->count; ++r) {
		const knEquationRow* row = &joint->rows[r];
		const knTwist end = isChild ? row->endC : row->endP;
		const knTwist mean = rates ? end : (isChild ? row->meanC : row->meanP);
		storeSix(end, row->weight, toHub + 6 * r, 1);
		storeSix(mean, -1.0, fromHub + r, joint->count);
	}
}

static void addDiagonals(knJointIsland* island, bool rates) {
	const double share = island->pattern->loop ? LOOP_SHARE : TREE_SHARE;
	bool transposed;
	for (int j = 0; j < island->jointCount; ++j) {
		const knEquationJoint* joint = &island->joints[j];
		double* block = knSparse_Block(island->pattern->sparse, j, j, &transposed);
		for (int r = 0; r < joint->count; ++r) {
			const knEquationRow* row = &joint->rows[r];
			const knTwist onP = rates ? row->endP : row->meanP, onC = rates ? row->endC : row->meanC;
			double own = knDotT(row->responseP, onP) + knDotT(row->responseC, onC);
			double* diagonal = &block[r * joint->count + r];
			*diagonal += share * own + row->compliance;
			if (row->weight == 0.0 || (own == 0.0 && row->compliance == 0.0)) {
				*diagonal = 1.0; // an empty row
			}
		}
	}
}

bool knJointIsland_FactorRows(knJointIsland* island, bool rates) {
	knIslandPattern* p = island->pattern;
	knSparse_Clear(p->sparse);
	int pair = 0, hub = 0;
	for (int b = 0; b < island->bodyCount; ++b) {
		const knEquationBody* body = &island->bodies[b];
		for (int x = p->first[b]; x < p->first[b + 1]; ++x) {
			const knEquationJoint* joint = &island->joints[p->ends[x] / 2];
			const bool isChild = p->ends[x] % 2 != 0;
			for (int r = 0; r < joint->count; ++r) {
				knEquationRow* row = &joint->rows[r];
				respond(body, row->weight, isChild ? row->endC : row->endP,
						isChild ? &row->responseC : &row->responseP);
			}
		}
		if (p->hub[b] >= 0) {
			addHub(body, p->hubs[hub++]);
		}
		for (int x = p->first[b]; x < p->first[b + 1]; ++x) {
			const knEquationJoint* i = &island->joints[p->ends[x] / 2];
			if (p->hub[b] >= 0) {
				addHubEnd(i, p->ends[x] % 2 != 0, rates, p->hubs[hub], p->hubs[hub + 1]);
				hub += 2;
				continue;
			}
			for (int y = p->first[b]; y < p->first[b + 1]; ++y) {
				addPair(i, p->ends[x] % 2 != 0, &island->joints[p->ends[y] / 2], p->ends[y] % 2 != 0, rates,
						p->pairs[pair++]);
			}
		}
	}
	addDiagonals(island, rates);
	island->report.factorings += 1;
	return knSparse_Factor(p->sparse).finite;
}

// --- one iteration -----------------------------------------------------------------------------------------------

// What is left at the iterate.
typedef struct Residual {
	double gap;  // m, of joints
	double body; // m, of bodies
} Residual;

static double bodyError(const knEquationBody* body, double h) {
	const knMat33* D = &body->inertia;
	const double trace = D->cx.x + D->cy.y + D->cz.z, size = sqrt(trace / body->mass);
	return h * (knLength(body->restLin) / body->mass + 3.0 * size * knLength(body->restAng) / trace);
}

static Residual evaluate(knJointIsland* island, const knSpan* span) {
	Residual residual = { 0.0, 0.0 };
	for (int b = 0; b < island->bodyCount; ++b) {
		knEquationBody_Move(&island->bodies[b], span);
		knEquationBody_Residual(&island->bodies[b], span);
	}
	for (int j = 0; j < island->jointCount; ++j) {
		knEquationJoint_Evaluate(&island->joints[j], island->bodies, span);
		const double gap = knEquationJoint_Error(&island->joints[j], span->h);
		residual.gap = gap > residual.gap || !knIsFinite(gap) ? gap : residual.gap;
	}
	for (int b = 0; b < island->bodyCount; ++b) {
		const double error = island->bodies[b].mass > 0.0 ? bodyError(&island->bodies[b], span->h) : 0.0;
		residual.body = error > residual.body || !knIsFinite(error) ? error : residual.body;
	}
	return residual;
}

static bool derive(knJointIsland* island, const knSpan* span) {
	const knVec3 zero = knZero3();
	for (int b = 0; b < island->bodyCount; ++b) {
		island->bodies[b].stiffness = knMakeMat33(zero, zero, zero);
	}
	for (int j = 0; j < island->jointCount; ++j) {
		knEquationJoint_Derive(&island->joints[j], island->bodies, span);
	}
	for (int b = 0; b < island->bodyCount; ++b) {
		if (island->bodies[b].mass > 0.0 && !knEquationBody_Respond(&island->bodies[b], span)) {
			return false;
		}
	}
	return knJointIsland_FactorRows(island, false);
}

// Right side: -residual + response . rest; a hub's: -rest.
static void fillRight(knJointIsland* island) {
	const knIslandPattern* p = island->pattern;
	for (int j = 0; j < island->jointCount; ++j) {
		const knEquationJoint* joint = &island->joints[j];
		const knEquationBody *P = &island->bodies[joint->parent], *C = &island->bodies[joint->child];
		const bool ofP =
			P->mass > 0.0 && p->hub[joint->parent]<0, ofC = C->mass> 0.0 && p->hub[joint->child] < 0;
		double* right = island->right + knSparse_Offset(p->sparse, j);
		for (int r = 0; r < joint->count; ++r) {
			const knEquationRow* row = &joint->rows[r];
			right[r] = -row->residual;
			right[r] +=
				ofP ? knDot(row->responseP.ang, P->restAng) + knDot(row->responseP.lin, P->restLin) : 0.0;
			right[r] +=
				ofC ? knDot(row->responseC.ang, C->restAng) + knDot(row->responseC.lin, C->restLin) : 0.0;
		}
	}
	for (int b = 0; b < island->bodyCount; ++b) {
		if (p->hub[b] >= 0) {
			const knEquationBody* body = &island->bodies[b];
			storeSix(knMakeTwist(body->restAng, body->restLin), -1.0,
					 island->right + knSparse_Offset(p->sparse, p->hub[b]), 1);
		}
	}
}

static void findChanges(knJointIsland* island) {
	const knIslandPattern* p = island->pattern;
	for (int b = 0; b < island->bodyCount; ++b) {
		island->bodies[b].changeLin = knNeg(island->bodies[b].restLin);
		island->bodies[b].changeAng = knNeg(island->bodies[b].restAng);
	}
	for (int j = 0; j < island->jointCount; ++j) {
		const knEquationJoint* joint = &island->joints[j];
		knEquationBody *P = &island->bodies[joint->parent], *C = &island->bodies[joint->child];
		const double* x = island->right + knSparse_Offset(p->sparse, j);
		for (int r = 0; r < joint->count; ++r) {
			knEquationRow* row = &joint->rows[r];
			row->change = x[r];
			P->changeAng = knMulAdd(P->changeAng, x[r], row->meanP.ang);
			P->changeLin = knMulAdd(P->changeLin, x[r], row->meanP.lin);
			C->changeAng = knMulAdd(C->changeAng, x[r], row->meanC.ang);
			C->changeLin = knMulAdd(C->changeLin, x[r], row->meanC.lin);
		}
	}
	for (int b = 0; b < island->bodyCount; ++b) {
		knEquationBody* body = &island->bodies[b];
		if (body->mass > 0.0) {
			body->changeAng = knMulMV(&body->inverseAng, body->changeAng);
			body->changeLin = knScale(body->inverseLin, body->changeLin);
		}
	}
}

// Moves the iterate by a share of the change.
static void advance(knJointIsland* island, double share) {
	for (int b = 0; b < island->bodyCount; ++b) {
		knEquationBody* body = &island->bodies[b];
		if (body->mass > 0.0) {
			body->u = knMulAdd(body->u, share, body->changeLin);
			body->w = knMulAdd(body->w, share, body->changeAng);
		}
	}
	for (int r = 0; r < island->rowCount; ++r) {
		island->rows[r].lambda += share * island->rows[r].change;
	}
}

static double largestChange(const knJointIsland* island) {
	double largest = 0.0;
	for (int r = 0; r < island->rowCount; ++r) {
		largest = knMax(largest, knAbs(island->rows[r].change));
	}
	return largest;
}

static bool isDone(const knJointIsland* island, Residual r) {
	return r.gap <= island->tolerance && r.body <= island->tolerance;
}

static double worse(Residual r) {
	return r.gap > r.body || !knIsFinite(r.gap) ? r.gap : r.body;
}

// Gaps that no longer fall while impulses go on growing.
static bool isConflict(const knJointIsland* island, const double* gaps, const double* changes, int count) {
	if (!island->pattern->loop || count < 6) {
		return false;
	}
	return gaps[count - 1] > 1e3 * island->tolerance && gaps[count - 1] > STALLED * gaps[count - 4] &&
		   changes[count - 1] > 0.5 * changes[count - 4];
}

#define MAX_ITERATIONS 64

// What falls steadily is let fall: some derivatives of rows with a law are left out.
static bool goesOn(const knNewtonAttempt* attempt, int k, bool falls) {
	return k < attempt->iterations || (falls && k < MAX_ITERATIONS / 2);
}

knNewtonResult knJointIsland_Newton(knJointIsland* island, const knNewtonAttempt* attempt) {
	knSpan now = attempt->span;
	const knSpan* span = &now;
	double gaps[MAX_ITERATIONS + 1], changes[MAX_ITERATIONS + 1];
	Residual r = evaluate(island, span);
	bool conflict = false, falls = false;
	// a guess that is nearly right is made right, lest what is left adds up while things rest
	bool first = worse(r) > EXACT * island->tolerance;
	for (int k = 0; goesOn(attempt, k, falls) && (first || !isDone(island, r)); ++k) {
		first = false;
		now.frozen = k >= FREE_ITERATIONS;
		if (!(worse(r) < LOST) || !derive(island, span)) {
			return KN_NEWTON_FAILED;
		}
		island->report.iterations += 1;
		fillRight(island);
		knSparse_Solve(island->pattern->sparse, island->right, island->right, 0);
		findChanges(island);
		advance(island, 1.0);
		Residual next = evaluate(island, span);
		double share = 1.0;
		for (int s = 0; attempt->lineSearch && s < SEARCH_HALVINGS && !isDone(island, next) &&
						!(worse(next) < worse(r) * (1.0 - 1e-4 * share));
			 ++s) {
			advance(island, -0.5 * share);
			share *= 0.5;
			next = evaluate(island, span);
		}
		falls = worse(next) < FALLS * worse(r);
		r = next;
		gaps[k] = r.gap;
		changes[k] = largestChange(island);
		conflict = isConflict(island, gaps, changes, k + 1);
	}
	island->report.gap = knMax(island->report.gap, isDone(island, r) ? r.gap : 0.0);
	return isDone(island, r) ? KN_NEWTON_DONE : (conflict ? KN_NEWTON_CONFLICT : KN_NEWTON_FAILED);
}
