// knuckle bench dynamics: microseconds per call of the functions on articulated trees, against the number of joint
// velocities: chains of hinges, a binary tree of 127, a humanoid of 38. The least of several batches is told, so that
// other work on the machine disturbs little.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "cli.h"
#include "knuckle/articulated.h"
#include "plot.h"

#define BATCHES 25
#define BATCH_TIME 0.0008 // s: short enough to fit between what else runs
#define MATRIX_LIMIT 300  // velocities up to which whole matrices are timed
#define MATRIX_LIMIT_FULL 1000
#define MAX_MODELS 16

static const knVec3 gravity = { 0.0, 0.0, -9.81 };

typedef struct Model {
	char name[24];
	knTree* tree;
	knTreeWork* work;
	int links, nv, tip;
	double *q, *v, *tau, *qdd;
	double *H, *byQ, *byV, *byTau; // NULL: too large
	knVec3 point;
} Model;

// --- models ------------------------------------------------------------------------------------------------

static double uniform(uint64_t* state, double lower, double upper) {
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return lower + (upper - lower) * ((double)(*state >> 11) * 0x1p-53);
}

static knTreeLink makeLink(uint64_t* dice, int parent, knJointKind kind) {
	double x = uniform(dice, -1.0, 1.0), y = uniform(dice, -1.0, 1.0), z = uniform(dice, -1.0, 1.0);
	double side = uniform(dice, 0.05, 0.2);
	return (knTreeLink){ .parent = parent,
						 .kind = kind,
						 .frameParent = knMakeFrame(knV3(0.2 * x, 0.2, 0.1 * z), knQuat_Exp(knV3(x, y, z))),
						 .frameChild = knIdentityF(),
						 .mass = { 1.0, knV3(0.02 * z, 0.1, 0.02 * x),
								   knDiagonal33(side * side, side * side, 1.5 * side * side) } };
}

static int fillChain(knTreeLink* links, int count) {
	uint64_t dice = 1;
	for (int i = 0; i < count; ++i) {
		links[i] = makeLink(&dice, i - 1, KN_JOINT_HINGE);
	}
	return count;
}

static int fillBinary(knTreeLink* links, int count) {
	uint64_t dice = 2;
	for (int i = 0; i < count; ++i) {
		links[i] = makeLink(&dice, (i + 1) / 2 - 1, KN_JOINT_HINGE);
	}
	return count;
}

// A floating pelvis; spine and head of 4 hinges, arms of 7, legs of 7: 38 velocities.
static int fillHumanoid(knTreeLink* links, int count) {
	(void)count;
	static const struct Limb {
		int from, hinges;
	} limbs[] = { { 0, 2 }, { 2, 2 }, { 2, 7 }, { 2, 7 }, { 0, 7 }, { 0, 7 } };
	uint64_t dice = 3;
	int next = 0;
	links[next++] = makeLink(&dice, -1, KN_JOINT_FREE);
	for (size_t l = 0; l < sizeof(limbs) / sizeof(limbs[0]); ++l) {
		for (int k = 0; k < limbs[l].hinges; ++k) {
			links[next] = makeLink(&dice, k == 0 ? limbs[l].from : next - 1, KN_JOINT_HINGE);
			++next;
		}
	}
	return next;
}

static double* numbers(size_t count) {
	return calloc(count + 1, sizeof(double));
}

static void closeModel(Model* model) {
	double* all[] = { model->q, model->v,   model->tau, model->qdd,
					  model->H, model->byQ, model->byV, model->byTau };
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); ++i) {
		free(all[i]);
	}
	knTreeWork_Destroy(model->work);
	knTree_Destroy(model->tree);
}

static bool openModel(Model* model, int (*fill)(knTreeLink*, int), int count, int matrixLimit) {
	knTreeLink* links = calloc((size_t)count, sizeof(knTreeLink));
	if (links != NULL) {
		model->links = fill(links, count);
		model->tree = knTree_Create(links, model->links, NULL, NULL);
	}
	free(links);
	model->work = model->tree != NULL ? knTreeWork_Create(model->tree, NULL, NULL) : NULL;
	if (model->work == NULL) {
		return false;
	}
	size_t nv = (size_t)knTree_VelocityCount(model->tree), nq = (size_t)knTree_CoordinateCount(model->tree);
	size_t entries = nv <= (size_t)matrixLimit ? nv * nv : 0;
	model->nv = (int)nv;
	model->tip = model->links - 1;
	model->q = numbers(nq);
	model->v = numbers(nv);
	model->tau = numbers(nv);
	model->qdd = numbers(nv);
	if (entries > 0) {
		model->H = numbers(entries);
		model->byQ = numbers(entries);
		model->byV = numbers(entries);
		model->byTau = numbers(entries);
	}
	bool room = model->q != NULL && model->v != NULL && model->tau != NULL && model->qdd != NULL &&
				(entries == 0 ||
				 (model->H != NULL && model->byQ != NULL && model->byV != NULL && model->byTau != NULL));
	if (room) {
		uint64_t dice = 9;
		knTree_NeutralCoordinates(model->tree, model->q);
		for (size_t i = 0; i < nv; ++i) {
			model->v[i] = uniform(&dice, -1.0, 1.0);
		}
		knTree_Integrate(model->tree, model->q, model->v, 1.0);
	}
	return room;
}

// --- functions ---------------------------------------------------------------------------------------------

static void callAba(Model* m) {
	knTree_ForwardDynamics(m->tree, m->work, m->q, m->v, m->tau, NULL, gravity, m->qdd);
}

static void callRnea(Model* m) {
	knTree_InverseDynamics(m->tree, m->work, m->q, m->v, m->qdd, NULL, gravity, m->tau);
}

static void callPrepare(Model* m) {
	knTree_PrepareImpulses(m->tree, m->work, m->q);
}

static void callCollision(Model* m) {
	knMat33 K = knTree_CollisionMatrix(m->tree, m->work, m->tip, -1, m->point);
	m->point.x = 1e-9 * K.cx.x;
}

static void callCrba(Model* m) {
	knTree_MassMatrix(m->tree, m->work, m->q, m->H);
}

static void callSolve(Model* m) {
	knTree_MassMatrix(m->tree, m->work, m->q, m->H);
	knTree_FactorMassMatrix(m->tree, m->H);
	knTree_SolveMassMatrix(m->tree, m->H, m->qdd);
}

static void callDerivatives(Model* m) {
	knTreeDerivatives out = { m->qdd, m->byQ, m->byV, m->byTau, m->H };
	knTree_ForwardDynamicsDerivatives(m->tree, m->work, m->q, m->v, m->tau, NULL, gravity, &out);
}

static const struct Function {
	const char* name;
	void (*call)(Model* model);
	bool matrix; // needs room for whole matrices
} functions[] = {
	{ "aba", callAba, false },
	{ "rnea", callRnea, false },
	{ "prepare", callPrepare, false },
	{ "K", callCollision, false },
	{ "crba", callCrba, true },
	{ "crba+solve", callSolve, true },
	{ "derivatives", callDerivatives, true },
};

#define FUNCTIONS ((int)(sizeof(functions) / sizeof(functions[0])))

// Microseconds of one call: the least of several batches.
static double timeCall(void (*call)(Model*), Model* model) {
	double best = INFINITY;
	int repeats = 1;
	for (int batch = 0; batch < BATCHES;) {
		double start = cliClock(NULL);
		for (int i = 0; i < repeats; ++i) {
			call(model);
		}
		double elapsed = cliClock(NULL) - start;
		if (elapsed < BATCH_TIME && repeats < 1000000) {
			repeats *= 2;
			continue;
		}
		best = fmin(best, elapsed / repeats);
		++batch;
	}
	return 1e6 * best;
}

// --- the suite ---------------------------------------------------------------------------------------------

typedef struct Table {
	FILE* out; // NULL: none
	int rows;
	double nv[MAX_MODELS], us[MAX_MODELS][FUNCTIONS]; // of chains
} Table;

static bool benchModel(Table* table, const char* name, int (*fill)(knTreeLink*, int), int count, int limit) {
	Model model = { 0 };
	bool opened = openModel(&model, fill, count, limit);
	for (int f = 0; opened && f < FUNCTIONS; ++f) {
		double us = NAN;
		if (!functions[f].matrix || model.H != NULL) {
			us = timeCall(functions[f].call, &model);
			printf("%-10s %6d  %-12s %12.3f us %10.4f us each\n", name, model.nv, functions[f].name, us,
				   us / model.nv);
			if (table->out != NULL) {
				fprintf(table->out, "%s,%d,%d,%s,%.4f\n", name, model.links, model.nv, functions[f].name, us);
			}
		}
		if (fill == fillChain) {
			table->nv[table->rows] = model.nv;
			table->us[table->rows][f] = us;
		}
	}
	table->rows += opened && fill == fillChain ? 1 : 0;
	closeModel(&model);
	return opened;
}

static bool drawTable(const Table* table, const char* folder) {
	static double columns[FUNCTIONS][MAX_MODELS];
	knPlot plot = { .title = "Chains of hinges: microseconds per call",
					.xLabel = "hinges",
					.yLabel = "us",
					.logX = true,
					.logY = true };
	for (int f = 0; f < FUNCTIONS; ++f) {
		for (int i = 0; i < table->rows; ++i) {
			columns[f][i] = table->us[i][f];
		}
		knPlot_Add(&plot, KN_PLOT_LINE, functions[f].name, table->nv, columns[f], table->rows);
	}
	return knPlot_Write(&plot, folder, "dynamics");
}

static int run(const knBenchOptions* options) {
	static const int chains[] = { 7, 30, 100, 300, 1000, 5000 };
	const char* path = options->path;
	size_t length = path != NULL ? strlen(path) : 0;
	bool csv = length > 4 && strcmp(path + length - 4, ".csv") == 0;
	static Table table;
	table = (Table){ .out = csv ? fopen(path, "w") : NULL };
	if (csv && table.out == NULL) {
		return cliFail(CLI_BAD_INPUT, "cannot write '%s'", path);
	}
	if (table.out != NULL) {
		fputs("model,links,velocities,function,us\n", table.out);
	}
	int limit = options->full ? MATRIX_LIMIT_FULL : MATRIX_LIMIT;
	bool done = true;
	for (size_t i = 0; done && i < sizeof(chains) / sizeof(chains[0]); ++i) {
		done = benchModel(&table, "chain", fillChain, chains[i], limit);
	}
	done = done && benchModel(&table, "tree", fillBinary, 127, limit);
	done = done && benchModel(&table, "humanoid", fillHumanoid, 40, limit);
	if (table.out != NULL && fclose(table.out) != 0) {
		return cliFail(CLI_BAD_INPUT, "cannot write '%s'", path);
	}
	if (!done) {
		return cliFail(CLI_FAILED, "out of memory");
	}
	return path == NULL || csv || drawTable(&table, path) ? CLI_DONE : CLI_BAD_INPUT;
}

const knBenchSuite knDynamicsBench = {
	.name = "dynamics",
	.summary = "articulated trees: microseconds per call against size",
	.run = run,
};
