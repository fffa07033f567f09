// Constraints by test forces (Kokkevis 2004), and their forces by a complementarity problem.
//
// At a state, what a row measures is affine in the forces f of all rows:
//
//   acceleration   a = a0 + K f      K_ij: what a unit force on row j does to row i, one response of the trees (Mirtich 1996)
//   loops          a = 0             taken out first: pivots in order of size, so that rows that repeat others drop out
//   the rest       lo <= f <= hi, complementary to a - wanted; friction |f_t| <= mu f_n
//
// a0 is measured: the difference of the row's rate a short time after and before, along the motion without the constraints.
// Rows with a rate to hold (friction, motors) want the acceleration that reaches it within a step of the world.
#include "steppers/reduced/paper/paper_step.h"

#define BESIDE 2e-6     // s, between the state and where rates are compared
#define TOLERANCE 1e-9  // of the largest residual, relative (spec of the published method)
#define REDUNDANT 1e-10 // of its own size: what is left of a row that repeats others
#define TIED 1e-3       // the same, of friction that the normal row holds but for this share

// --- test forces ---------------------------------------------------------------------------------------------

static void factorMasses(knPaperStep* step, const double* diagonal, double* B) {
	const knModel* model = step->context->model;
	const knForest* forest = step->forest;
	const knLanes none = knLanes_All(0.0);
	knForestSystem* system = &step->system;
	for (int i = 0; i < forest->count; ++i) {
		const knForestLink* link = &forest->links[i];
		int b = link->body;
		double m = model->mass[b];
		knMat33 inertia = knRotateTensor(step->at.pose[b].q, &model->inertiaLocal[b]);
		system->block[i] = (knForestBlock){
			.aa = knLanes_FromMat(&inertia),
			.al = { none, none, none },
			.la = { none, none, none },
			.ll = { knLanes_Make(m, 0.0, 0.0), knLanes_Make(0.0, m, 0.0), knLanes_Make(0.0, 0.0, m) },
		};
		step->arms[i] = knLanes_FromVec(knSub(step->at.pose[b].p, step->at.pose[link->parentBody].p));
		for (int k = 0; k < link->nv * link->nv; ++k) {
			B[link->bOffset + k] =
				k % (link->nv + 1) == 0 ? diagonal[link->vOffset + k / (link->nv + 1)] : 0.0;
		}
	}
	for (int k = 0; k < forest->nv; ++k) {
		step->R[k] = (knTreeForce){ step->at.columns[k].ang, step->at.columns[k].lin };
	}
	system->S = step->at.columns;
	system->R = step->R;
	system->B = B;
	system->end = system->mean = step->arms;
	knForestSystem_Factor(system);
}

static void pushBody(knPaperStep* step, int body, knTwist row, double force) {
	int i = step->forest->linkOf[body];
	if (i >= 0) {
		step->push[i].n += knLanes_FromVec(knScale(force, row.ang));
		step->push[i].f += knLanes_FromVec(knScale(force, row.lin));
	}
}

static void pushRow(knPaperStep* step, const knPaperRow* row, double force) {
	if (row->source == KN_PAPER_AXIS) {
		const knReducedAxisRow* axis = &step->from->axes[row->index];
		const knForestLink* link = &step->forest->links[axis->link];
		for (int k = 0; k < link->nv; ++k) {
			step->tau[link->vOffset + k] += axis->coef[k] * force;
		}
		return;
	}
	pushBody(step, row->bodyA, row->jA, force);
	pushBody(step, row->bodyB, row->jB, force);
}

static double motionAlong(const knPaperStep* step, int body, knTwist row) {
	int i = step->forest->linkOf[body];
	if (i < 0) {
		return 0.0;
	}
	const knTreeMotion* motion = &step->motions[i];
	return knDot(row.ang, knLanes_ToVec(motion->ang)) + knDot(row.lin, knLanes_ToVec(motion->lin));
}

static double changeOf(const knPaperStep* step, const knPaperRow* row, const double* y) {
	if (row->source == KN_PAPER_AXIS) {
		const knReducedAxisRow* axis = &step->from->axes[row->index];
		const knForestLink* link = &step->forest->links[axis->link];
		double change = 0.0;
		for (int k = 0; k < link->nv; ++k) {
			change += axis->coef[k] * y[link->vOffset + k];
		}
		return change;
	}
	return motionAlong(step, row->bodyA, row->jA) + motionAlong(step, row->bodyB, row->jB);
}

bool knPaper_Respond(knPaperStep* step, const double* diagonal) {
	const knForest* forest = step->forest;
	knPaperRows* C = &step->C;
	if (step->B == NULL) {
		step->B = KN_SCRATCH(step->context->arena, double, forest->bCount);
	}
	if (step->context->arena->failed) {
		return false;
	}
	factorMasses(step, diagonal, step->B);
	for (int j = 0; j < C->count; ++j) {
		double* y = C->columns + (size_t)j * (size_t)forest->nv;
		for (int i = 0; i < forest->count; ++i) {
			step->push[i] = (knTreeForce){ knLanes_All(0.0), knLanes_All(0.0) };
		}
		for (int k = 0; k < forest->nv; ++k) {
			step->tau[k] = 0.0;
		}
		pushRow(step, &C->rows[j], 1.0);
		knForestSystem_Solve(&step->system, step->push, step->tau, y, step->motions);
		for (int i = 0; i < C->count; ++i) {
			C->A[i * C->count + j] = changeOf(step, &C->rows[i], y);
		}
	}
	return true;
}

// --- loops -----------------------------------------------------------------------------------------------------

// x_p as a function of the others': row p of A and b hold it from now on, and all other rows have it put in.
static void pivot(knPaperRows* C, int p) {
	int n = C->count;
	double *own = C->A + p * n, inverse = 1.0 / own[p];
	for (int j = 0; j < n; ++j) {
		own[j] = j == p ? 0.0 : -inverse * own[j];
	}
	C->b[p] *= -inverse;
	for (int i = 0; i < n; ++i) {
		double* row = C->A + i * n;
		double share = row[p];
		if (i == p || share == 0.0) {
			continue;
		}
		for (int j = 0; j < n; ++j) {
			row[j] += share * own[j];
		}
		C->b[i] += share * C->b[p];
		row[p] = 0.0;
	}
	C->rows[p].solved = true;
}

void knPaper_EliminateLocked(knPaperStep* step) {
	knPaperRows* C = &step->C;
	double largest = 0.0;
	for (int i = 0; i < C->count; ++i) {
		C->rows[i].solved = false;
		largest = C->rows[i].locked ? knMax(largest, C->A[i * C->count + i]) : largest;
	}
	for (;;) {
		int best = -1;
		double size = REDUNDANT * largest;
		for (int i = 0; i < C->count; ++i) {
			double own = C->A[i * C->count + i];
			if (C->rows[i].locked && !C->rows[i].solved && own > size) {
				best = i;
				size = own;
			}
		}
		if (best < 0) {
			return;
		}
		pivot(C, best);
	}
}

void knPaper_FinishLocked(knPaperStep* step) {
	knPaperRows* C = &step->C;
	for (int i = 0; i < C->count; ++i) {
		if (C->rows[i].locked) {
			double sum = C->b[i];
			for (int j = 0; j < C->count; ++j) {
				sum += C->rows[j].locked ? 0.0 : C->A[i * C->count + j] * C->x[j];
			}
			C->x[i] = C->rows[i].solved ? sum : 0.0;
		}
	}
}

// --- complementarity -------------------------------------------------------------------------------------------

typedef struct Problem {
	int n, *row, *normal;
	double *A, *b, *lo, *hi, *mu, *x;
} Problem;

// Rows along which nothing can move by itself take no part: friction across the plane of a planar mechanism, or of a link that
// is folded onto the one before the last.
static bool takesPart(const knPaperRows* C, int i) {
	const knPaperRow* row = &C->rows[i];
	double own = C->A[i * C->count + i], size = own;
	for (int side = 0; row->source == KN_PAPER_CONTACT && side < 3; ++side) {
		int k = i - row->side + side;
		bool same = k < C->count && C->rows[k].source == KN_PAPER_CONTACT && C->rows[k].index == row->index;
		size = same ? knMax(size, C->A[k * C->count + k]) : size;
	}
	if (row->normal >= 0) {
		// what the normal row holds already: the point moves one way only, and friction would have to hold it with any force
		double normal = C->A[row->normal * C->count + row->normal];
		double tie = C->A[i * C->count + row->normal] * C->A[row->normal * C->count + i];
		if (!(normal > 0.0) || own - tie / normal <= TIED * own) {
			return false;
		}
	}
	return !row->locked && own > 0.0 && own > REDUNDANT * size;
}

static bool makeProblem(knPaperStep* step, Problem* problem) {
	const knPaperRows* C = &step->C;
	knArena* arena = &step->scratch;
	int n = 0;
	for (int i = 0; i < C->count; ++i) {
		n += takesPart(C, i);
		C->x[i] = 0.0;
	}
	*problem = (Problem){ .n = n };
	problem->row = KN_SCRATCH(arena, int, n);
	problem->normal = KN_SCRATCH(arena, int, n);
	int* place = KN_SCRATCH(arena, int, C->count);
	double* numbers = KN_SCRATCH(arena, double, (size_t)n*(size_t)(n + 5));
	if (arena->failed) {
		return false;
	}
	double** parts[5] = { &problem->b, &problem->lo, &problem->hi, &problem->mu, &problem->x };
	for (int k = 0; k < 5; ++k) {
		*parts[k] = numbers + (size_t)k * (size_t)n;
	}
	problem->A = numbers + (size_t)5 * (size_t)n;
	for (int i = 0, k = 0; i < C->count; ++i) {
		place[i] = -1;
		if (takesPart(C, i)) {
			place[i] = k;
			problem->row[k++] = i;
		}
	}
	for (int k = 0; k < n; ++k) {
		const knPaperRow* row = &C->rows[problem->row[k]];
		problem->b[k] = C->b[problem->row[k]];
		problem->lo[k] = row->normal >= 0 ? 0.0 : row->lo;
		problem->hi[k] = row->normal >= 0 ? 0.0 : row->hi;
		problem->normal[k] = row->normal >= 0 ? place[row->normal] : -1; // no normal force: none at all
		problem->mu[k] = row->mu;
		for (int l = 0; l < n; ++l) {
			problem->A[k * n + l] = C->A[problem->row[k] * C->count + problem->row[l]];
		}
	}
	return true;
}

static bool solveWith(knLcpResult (*solver)(const knLcp*, const knLcpOptions*, double*, double*),
					  knPaperStep* step, const Problem* problem, int limit, bool* sound) {
	knAllocator allocator = knArena_Allocator(&step->scratch);
	knLcp lcp = { .n = problem->n,
				  .A = problem->A,
				  .b = problem->b,
				  .lo = problem->lo,
				  .hi = problem->hi,
				  .normal = problem->normal,
				  .mu = problem->mu };
	knLcpOptions options = knLcpOptions_Default();
	options.allocator = &allocator;
	options.tolerance = TOLERANCE;
	options.maxIterations = limit;
	knLcpResult result = solver(&lcp, &options, problem->x, NULL);
	*sound = result.status != KN_LCP_BAD && result.status != KN_LCP_NO_MEMORY;
	return result.status == KN_LCP_SOLVED;
}

bool knPaper_SolveLcp(knPaperStep* step) {
	Problem problem;
	knArena_Clear(&step->scratch);
	if (!makeProblem(step, &problem)) {
		return false;
	}
	// pivots: a problem that has a solution takes about one an unknown
	const int limit = 20 + 4 * problem.n;
	bool sound = true;
	bool solved = problem.n == 0;
	if (!solved) {
		solved = step->choices.lcp == KN_PAPER_LEMKE ? solveWith(knLcp_Lemke, step, &problem, limit, &sound)
				 : step->choices.lcp == KN_PAPER_ITERATIVE
					 ? solveWith(knLcp_Nncg, step, &problem, 0, &sound)
					 : solveWith(knLcp_Dantzig, step, &problem, limit, &sound);
	}
	if (!solved && sound) {
		// no forces of friction fit (Painleve 1895): what slides is left to the next impact
		for (int k = 0; k < problem.n; ++k) {
			problem.mu[k] = 0.0;
		}
		solveWith(knLcp_Dantzig, step, &problem, 0, &sound);
	}
	for (int k = 0; k < problem.n && sound; ++k) {
		step->C.x[problem.row[k]] = problem.x[k];
	}
	return sound;
}

// --- accelerations -----------------------------------------------------------------------------------------------

// Rates of all rows a short time later (or before) along the motion without constraints.
static void measureBeside(knPaperStep* step, double time, const double* q, const double* v, const double* qdd,
						  double way) {
	for (int k = 0; k < step->forest->nq; ++k) {
		step->qBeside[k] = q[k];
	}
	for (int k = 0; k < step->forest->nv; ++k) {
		step->vBeside[k] = v[k] + way * qdd[k];
	}
	knForest_Advance(step->forest, step->qBeside, v, way);
	knPaper_Place(step, time + way, step->qBeside, step->vBeside, &step->other);
	knPaper_PlaceRows(step, &step->other, step->vBeside);
}

// Friction along the slip; where there is hardly any, along what drives it.
static void alignFriction(knPaperStep* step) {
	knPaperRows* C = &step->C;
	for (int i = 0; i < C->count; ++i) {
		if (C->rows[i].source != KN_PAPER_CONTACT || C->rows[i].side != 1) {
			continue;
		}
		knPaperRow *first = &C->rows[i], *second = &C->rows[i + 1];
		knReducedContact* contact = &step->from->contacts[first->index];
		double u1 = first->rate, u2 = second->rate, a1 = C->b[i], a2 = C->b[i + 1];
		double slip = sqrt(u1 * u1 + u2 * u2), pull = sqrt(a1 * a1 + a2 * a2);
		bool slides = slip > step->h * pull + step->choices.speed;
		double c = slides ? u1 : a1 + u1 / step->h, s = slides ? u2 : a2 + u2 / step->h;
		double size = sqrt(c * c + s * s);
		second->mu = slides ? 0.0 : contact->mu;
		if (size < 1e-12) {
			continue;
		}
		c /= size;
		s /= size;
		knVec3 t1 = contact->t1, t2 = contact->t2;
		contact->t1 = knAdd(knScale(c, t1), knScale(s, t2));
		contact->t2 = knSub(knScale(c, t2), knScale(s, t1));
		C->b[i] = c * a1 + s * a2;
		C->b[i + 1] = c * a2 - s * a1;
	}
}

bool knPaper_Constrain(knPaperStep* step, double time, const double* q, const double* v, double* qdd) {
	knPaperRows* C = &step->C;
	measureBeside(step, time, q, v, qdd, BESIDE);
	for (int i = 0; i < C->count; ++i) {
		C->b[i] = C->rows[i].rate;
	}
	measureBeside(step, time, q, v, qdd, -BESIDE);
	for (int i = 0; i < C->count; ++i) {
		C->b[i] = (C->b[i] - C->rows[i].rate) / (2.0 * BESIDE);
	}
	knPaper_Place(step, time, q, v, &step->at);
	knPaper_PlaceRows(step, &step->at, v);
	alignFriction(step);
	knPaper_PlaceRows(step, &step->at, v);
	for (int i = 0; i < C->count; ++i) {
		const knPaperRow* row = &C->rows[i];
		C->b[i] += row->driven ? (row->rate - row->target) / step->h : 0.0;
	}
	if (!knPaper_Respond(step, step->diagonal)) {
		return false;
	}
	knPaper_EliminateLocked(step);
	if (!knPaper_SolveLcp(step)) {
		return false;
	}
	knPaper_FinishLocked(step);
	for (int i = 0; i < C->count; ++i) {
		const double* column = C->columns + (size_t)i * (size_t)step->forest->nv;
		C->rows[i].force = C->x[i];
		for (int k = 0; k < step->forest->nv; ++k) {
			qdd[k] += C->x[i] * column[k];
		}
	}
	return true;
}
