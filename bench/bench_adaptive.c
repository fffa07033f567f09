// knuckle bench adaptive: what divide and conquer and hybrid bodies cost and how far they are from the truth.
//
//   cost        forward dynamics of chains by articulated bodies and by divide and conquer, on one and on two threads
//   response    collision response of a hybrid chain against its active joints, and against all of them
//   error       accelerations of a chain of which d joints move, chosen by the metric or evenly spread, against all moving:
//               what the metric says is left out, and what really is
//   flight, contact, threshold
//               whole steps of scenes by the stepper: cost, and how far the motion is from that of all joints
//   drawings    assembly and hybrid trees
//
// Times are the least of several batches, in processor time, so that other work on the machine disturbs little; threads are
// compared by the time of day.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "adaptive_table.h"
#include "articulated/dca.h"
#include "articulated/hybrid.h"
#include "assembly_drawing.h"
#include "bench.h"
#include "cli.h"
#include "plot.h"
#include "processor_clock.h"

#define BATCHES 25
#define BATCH_TIME 0.0008 // s: short enough to fit between what else runs
#define MAX_ROWS 16

static const knVec3 gravity = { 0.0, 0.0, -9.81 };

// --- chains ------------------------------------------------------------------------------------------------

// Rods of 0.1 m and 0.1 kg; the axes of hinges alternate; stretched along x, slightly wavy, at rest.
typedef struct Chain {
	int n;
	knTree* tree;
	knTreeWork* work;
	double *q, *v, *tau, *qdd, *other;
	knTwist* forces;
	knTreeDca* dca;
	knDcaMetric metric;
	knHybrid* hybrid;
	knWelded* body;
	knRegion region, ahead;
	int tip;      // segment with the last link
	knVec3 point; // where it is hit
	knTasks tasks;
	knAllocator allocator;
} Chain;

static knTreeLink rod(int i) {
	const double m = 0.1, l = 0.1, r = 0.02;
	knQuat turn =
		knQuat_Exp(i % 2 == 0 ? knV3(0.0, 0.0, 1.5707963267948966) : knV3(0.0, 1.5707963267948966, 0.0));
	double along = 0.5 * m * r * r, across = m * (3.0 * r * r + l * l) / 12.0;
	return (knTreeLink){ .parent = i - 1,
						 .kind = KN_JOINT_HINGE,
						 .frameParent = knMakeFrame(knV3(i > 0 ? l : 0.0, 0.0, 0.0), turn),
						 .frameChild = knMakeFrame(knZero3(), turn),
						 .mass = { m, knV3(0.5 * l, 0.0, 0.0), knDiagonal33(along, across, across) } };
}

static void closeChain(Chain* c) {
	if (c->metric.dca != NULL) {
		knDcaMetric_Free(&c->metric);
	}
	if (c->hybrid != NULL) {
		knRegion_Free(&c->region, c->hybrid->assembly, &c->allocator);
		knRegion_Free(&c->ahead, c->hybrid->assembly, &c->allocator);
	}
	knWelded_Destroy(c->body);
	knHybrid_Destroy(c->hybrid);
	knTreeDca_Destroy(c->dca);
	knTreeWork_Destroy(c->work);
	knTree_Destroy(c->tree);
	free(c->q);
	free(c->forces);
}

static bool openTree(Chain* c) {
	knTreeLink* links = calloc((size_t)c->n, sizeof(knTreeLink));
	for (int i = 0; links != NULL && i < c->n; ++i) {
		links[i] = rod(i);
	}
	c->tree = links != NULL ? knTree_Create(links, c->n, NULL, NULL) : NULL;
	free(links);
	c->work = c->tree != NULL ? knTreeWork_Create(c->tree, NULL, NULL) : NULL;
	c->q = calloc(5 * (size_t)c->n, sizeof(double));
	c->forces = calloc((size_t)c->n, sizeof(knTwist));
	return c->work != NULL && c->q != NULL && c->forces != NULL;
}

static bool openChain(Chain* c, int n) {
	*c = (Chain){ .n = n, .allocator = knAllocator_Default() };
	if (!openTree(c)) {
		return false;
	}
	double** vectors[] = { &c->v, &c->tau, &c->qdd, &c->other };
	for (int i = 0; i < 4; ++i) {
		*vectors[i] = c->q + (size_t)(i + 1) * (size_t)n;
	}
	for (int i = 0; i < n; ++i) {
		c->q[i] = 0.02 * ((i * 7919) % 101 - 50) / 50.0;
	}
	c->dca = knTreeDca_Create(c->tree, NULL, NULL);
	c->hybrid = c->dca != NULL ? knHybrid_Create(c->dca->assembly, NULL, NULL) : NULL;
	c->body = c->hybrid != NULL ? knWelded_Create(c->hybrid, n, NULL, NULL) : NULL;
	return c->body != NULL && knRegion_Init(&c->region, c->dca->assembly, n, &c->allocator) &&
		   knRegion_Init(&c->ahead, c->dca->assembly, n, &c->allocator);
}

static double timeOfDay(void) {
	return cliClock(NULL);
}

// Microseconds of one call: the least of several batches.
static double timeCallBy(double (*clock)(void), void (*call)(Chain*), Chain* chain) {
	double best = INFINITY;
	int repeats = 1;
	for (int batch = 0; batch < BATCHES;) {
		double start = clock();
		for (int i = 0; i < repeats; ++i) {
			call(chain);
		}
		double elapsed = clock() - start;
		if (elapsed < BATCH_TIME && repeats < 1000000) {
			repeats *= 2;
			continue;
		}
		best = fmin(best, elapsed / repeats);
		++batch;
	}
	return 1e6 * best;
}

static double timeCall(void (*call)(Chain*), Chain* chain) {
	return timeCallBy(processorSeconds, call, chain);
}

// --- cost of divide and conquer ------------------------------------------------------------------------------

static void callAba(Chain* c) {
	knTree_ForwardDynamics(c->tree, c->work, c->q, c->v, c->tau, NULL, gravity, c->qdd);
}

static void callDca(Chain* c) {
	knTreeDca_ForwardDynamics(c->dca, c->work, c->q, c->v, c->tau, NULL, gravity, 0, &c->tasks, c->qdd);
}

static void callRefined(Chain* c) {
	knTreeDca_ForwardDynamics(c->dca, c->work, c->q, c->v, c->tau, NULL, gravity, 1, &c->tasks, c->qdd);
}

static void callMetric(Chain* c) {
	knTreeDca_Assemble(c->dca, c->work, c->q, c->v, c->tau, NULL, gravity, &c->tasks);
	knDcaMetric_Assemble(&c->metric, c->work, c->tau, NULL);
}

static const struct Cost {
	const char* name;
	void (*call)(Chain* chain);
	bool parallel;
	double (*clock)(void);
} costs[] = {
	{ "articulated bodies", callAba, false, processorSeconds },
	{ "divide and conquer", callDca, false, processorSeconds },
	{ "refined", callRefined, false, processorSeconds },
	{ "with metric", callMetric, false, processorSeconds },
	{ "refined, one thread", callRefined, false, timeOfDay },
	{ "refined, threads", callRefined, true, timeOfDay },
};

#define COSTS ((int)(sizeof(costs) / sizeof(costs[0])))

static bool benchCost(const Table* table, knTaskPool* pool) {
	static const int sizes[] = { 30, 100, 300, 1000, 5000 };
	enum { SIZES = 5 };
	static double x[SIZES], us[COSTS][SIZES];
	for (int s = 0; s < SIZES; ++s) {
		Chain c;
		bool opened = openChain(&c, sizes[s]) && knDcaMetric_Init(&c.metric, c.dca, NULL);
		for (int k = 0; opened && k < COSTS; ++k) {
			c.tasks = costs[k].parallel ? knTaskPool_Tasks(pool) : (knTasks){ 0 };
			us[k][s] = timeCallBy(costs[k].clock, costs[k].call, &c);
			tell(table, "cost", sizes[s], sizes[s], costs[k].name, us[k][s], "us");
		}
		x[s] = sizes[s];
		closeChain(&c);
		if (!opened) {
			return false;
		}
		tell(table, "cost", sizes[s], sizes[s], "one thread / threads", us[4][s] / us[5][s], "times");
	}
	knPlot plot = { .title = "Forward dynamics of chains: microseconds per call",
					.xLabel = "hinges",
					.yLabel = "us",
					.logX = true,
					.logY = true };
	for (int k = 0; k < 4; ++k) {
		knPlot_Add(&plot, KN_PLOT_MARKED, costs[k].name, x, us[k], SIZES);
	}
	return table->folder == NULL || knPlot_Write(&plot, table->folder, "adaptive_cost");
}

// --- collision response --------------------------------------------------------------------------------------

static void callResponse(Chain* c) {
	knWelded* body = c->body;
	knTree_PrepareImpulses(&body->tree, body->work, body->q);
	knMat33 K = knTree_CollisionMatrix(&body->tree, body->work, c->tip, -1, c->point);
	knTreeImpulse hit = { c->tip, c->point, knV3(0.1, 0.2, 0.3 + 1e-9 * K.cx.x), knZero3() };
	knTree_Respond(&body->tree, body->work, &hit, 1, NULL, c->other);
}

static void callHybrid(Chain* c) {
	knWelded* body = c->body;
	knTree_ForwardDynamics(&body->tree, body->work, body->q, body->v, c->tau, NULL, gravity, c->other);
}

static void callWeld(Chain* c) {
	knHybrid_Weld(c->hybrid, &c->region, c->q, c->v, c->body);
}

static void weldEvenly(Chain* c, int active) {
	knPlacement at;
	knRegion_Fill(c->hybrid, active, 0, &c->region);
	knHybrid_Weld(c->hybrid, &c->region, c->q, c->v, c->body);
	c->tip = knHybrid_Locate(c->hybrid, c->body, c->n - 1, &at);
	knTree_Kinematics(&c->body->tree, c->body->work, c->body->q, c->body->v);
	c->point = knHybrid_LinkFrame(c->hybrid, c->body, c->n - 1).p;
}

// Square of the correlation of y with x.
static double straightness(const double* x, const double* y, int count) {
	double mx = 0.0, my = 0.0, xx = 0.0, yy = 0.0, xy = 0.0;
	for (int i = 0; i < count; ++i) {
		mx += x[i] / count;
		my += y[i] / count;
	}
	for (int i = 0; i < count; ++i) {
		xx += (x[i] - mx) * (x[i] - mx);
		yy += (y[i] - my) * (y[i] - my);
		xy += (x[i] - mx) * (y[i] - my);
	}
	return xy * xy / (xx * yy);
}

static bool benchActive(const Table* table) {
	static const int actives[] = { 5, 10, 20, 40, 80, 160, 320, 640 };
	enum { COUNT = 8 };
	static double x[COUNT], response[COUNT], dynamics[COUNT], weld[COUNT];
	Chain c;
	bool opened = openChain(&c, 2000);
	for (int k = 0; opened && k < COUNT; ++k) {
		weldEvenly(&c, actives[k]);
		x[k] = actives[k];
		response[k] = timeCall(callResponse, &c);
		dynamics[k] = timeCall(callHybrid, &c);
		weld[k] = timeCall(callWeld, &c);
		tell(table, "response", c.n, actives[k], "collision response", response[k], "us");
		tell(table, "response", c.n, actives[k], "forward dynamics", dynamics[k], "us");
		tell(table, "response", c.n, actives[k], "welding", weld[k], "us");
	}
	closeChain(&c);
	if (!opened) {
		return false;
	}
	tell(table, "response", 2000, 640, "R^2 against active joints", straightness(x, response, COUNT), "");
	knPlot plot = { .title = "A hybrid chain of 2000 hinges: microseconds per call",
					.xLabel = "active joints",
					.yLabel = "us" };
	knPlot_Add(&plot, KN_PLOT_MARKED, "collision response", x, response, COUNT);
	knPlot_Add(&plot, KN_PLOT_MARKED, "forward dynamics", x, dynamics, COUNT);
	knPlot_Add(&plot, KN_PLOT_MARKED, "welding", x, weld, COUNT);
	return table->folder == NULL || knPlot_Write(&plot, table->folder, "adaptive_response");
}

static bool benchTotal(const Table* table) {
	static const int sizes[] = { 500, 1000, 2000, 4000, 8000, 100000 };
	for (int s = 0; s < 6; ++s) {
		Chain c;
		bool opened = openChain(&c, sizes[s]);
		if (opened) {
			weldEvenly(&c, 40);
			tell(table, "response", sizes[s], 40, "collision response", timeCall(callResponse, &c), "us");
			tell(table, "response", sizes[s], 40, "welding", timeCall(callWeld, &c), "us");
		}
		closeChain(&c);
		if (!opened) {
			return false;
		}
	}
	return true;
}

// --- metric against error ------------------------------------------------------------------------------------

// Square of the difference between the accelerations of the hybrid body and those of the full one (in c->qdd), all joints,
// relative to the latter's.
static double trueError(Chain* c) {
	knWelded* body = c->body;
	knTwist* forces = calloc((size_t)c->n, sizeof(knTwist));
	double *tau = calloc((size_t)c->n, sizeof(double)), off = 0.0, all = 0.0;
	knHybrid_Weld(c->hybrid, &c->region, c->q, c->v, body);
	knTree_Kinematics(&body->tree, body->work, body->q, body->v);
	// a push on the last link acts on its segment
	knPlacement at;
	int tip = knHybrid_Locate(c->hybrid, body, c->n - 1, &at);
	if (tip >= 0 && forces != NULL) {
		knVec3 arm = knSub(knHybrid_LinkFrame(c->hybrid, body, c->n - 1).p,
						   knTree_LinkFrame(&body->tree, body->work, tip).p);
		forces[tip] = (knTwist){ knCross(arm, c->forces[c->n - 1].lin), c->forces[c->n - 1].lin };
	}
	if (tau != NULL && forces != NULL) {
		knTree_ForwardDynamics(&body->tree, body->work, body->q, body->v, tau, forces, gravity, c->other);
	}
	int s = 0;
	for (int i = 0; i < c->n; ++i) {
		off += c->region.active[i] ? 0.0 : c->qdd[i] * c->qdd[i];
		all += c->qdd[i] * c->qdd[i];
	}
	for (s = 0; s < body->tree.count; ++s) {
		double d = c->other[s] - c->qdd[body->region.joints[s]];
		off += d * d;
	}
	free(forces);
	free(tau);
	return off / all;
}

// The joints with the largest metric, by look-ahead from an even spread until nothing changes (or ten rounds).
static bool chooseAhead(Chain* c, int active) {
	double* score = calloc((size_t)c->n, sizeof(double));
	double* tau = calloc((size_t)c->n, sizeof(double));
	knTwist* forces = calloc((size_t)c->n, sizeof(knTwist));
	bool room = score != NULL && tau != NULL && forces != NULL;
	knRegion_Fill(c->hybrid, active, 0, &c->region);
	for (int round = 0; room && round < 10; ++round) {
		knPlacement at;
		knRegion_LookAhead(c->hybrid, &c->region, 1, 0, &c->ahead);
		knHybrid_Weld(c->hybrid, &c->ahead, c->q, c->v, c->body);
		memset(forces, 0, (size_t)c->n * sizeof(knTwist));
		int tip = knHybrid_Locate(c->hybrid, c->body, c->n - 1, &at);
		if (tip >= 0) {
			forces[tip].lin = c->forces[c->n - 1].lin;
		}
		knTree_ForwardDynamics(&c->body->tree, c->body->work, c->body->q, c->body->v, tau, forces, gravity,
							   c->other);
		knRegion_Score(c->hybrid, c->body, c->other, NULL, score);
		knRegion_Select(c->hybrid, &c->ahead, score, &(knRegionOptions){ .count = active }, &c->region);
	}
	free(score);
	free(tau);
	free(forces);
	return room;
}

typedef struct Errors {
	double active[MAX_ROWS], left[MAX_ROWS], metric[MAX_ROWS], ahead[MAX_ROWS], even[MAX_ROWS];
	int rows;
} Errors;

static bool measureErrors(const Table* table, Chain* c, const char* section, Errors* e) {
	int* joints = calloc((size_t)c->n, sizeof(int));
	if (joints == NULL) {
		return false;
	}
	knTree_ForwardDynamics(c->tree, c->work, c->q, c->v, c->tau, c->forces, gravity, c->qdd);
	knTreeDca_Assemble(c->dca, c->work, c->q, c->v, c->tau, c->forces, gravity, NULL);
	knDcaMetric_Assemble(&c->metric, c->work, c->tau, NULL);
	double all = knDcaMetric_Value(&c->metric, c->dca->assembly->root, NULL);
	for (int active = 5; active < c->n && e->rows < MAX_ROWS; active *= 2) {
		int k = e->rows++;
		e->active[k] = active;
		int count =
			knDcaMetric_Select(&c->metric, c->work, c->tau, NULL, active, 0.0, joints, c->other, &e->left[k]);
		e->left[k] = sqrt(e->left[k] / all);
		knRegion_Take(c->dca->assembly, joints, count, &c->region);
		e->metric[k] = sqrt(trueError(c));
		if (!chooseAhead(c, active)) {
			break;
		}
		e->ahead[k] = sqrt(trueError(c));
		knRegion_Fill(c->hybrid, active, 0, &c->region);
		e->even[k] = sqrt(trueError(c));
		tell(table, section, c->n, active, "left out by the metric", e->left[k], "of all");
		tell(table, section, c->n, active, "error, metric", e->metric[k], "of all");
		tell(table, section, c->n, active, "error, look-ahead", e->ahead[k], "of all");
		tell(table, section, c->n, active, "error, evenly spread", e->even[k], "of all");
	}
	free(joints);
	return true;
}

static bool benchErrors(const Table* table, bool pushed) {
	static Errors e;
	e = (Errors){ 0 };
	Chain c;
	bool done = openChain(&c, 300) && knDcaMetric_Init(&c.metric, c.dca, NULL);
	if (done && pushed) {
		// hanging at rest, pushed sideways at its end
		for (int i = 0; i < c.n; ++i) {
			c.q[i] = 0.0;
		}
		knTreeWork_SetBase(c.work, knMakeFrame(knZero3(), knQuat_Exp(knV3(0.0, 1.5707963267948966, 0.0))),
						   knZeroTwist());
		knTreeWork_SetBase(c.body->work,
						   knMakeFrame(knZero3(), knQuat_Exp(knV3(0.0, 1.5707963267948966, 0.0))),
						   knZeroTwist());
		c.forces[c.n - 1].lin = knV3(0.3, 1.0, 0.0);
	}
	done = done && measureErrors(table, &c, pushed ? "pushed" : "released", &e);
	closeChain(&c);
	knPlot plot = { .title = pushed
								 ? "A hanging chain of 300 hinges, pushed at its end: error of accelerations"
								 : "A wavy chain of 300 hinges, released: error of accelerations",
					.xLabel = "active joints",
					.yLabel = "root of the sum of squares, of all",
					.logX = true,
					.logY = true };
	knPlot_Add(&plot, KN_PLOT_DASHED, "left out by the metric", e.active, e.left, e.rows);
	knPlot_Add(&plot, KN_PLOT_MARKED, "error, joints by the metric", e.active, e.metric, e.rows);
	knPlot_Add(&plot, KN_PLOT_MARKED, "error, joints by look-ahead", e.active, e.ahead, e.rows);
	knPlot_Add(&plot, KN_PLOT_MARKED, "error, evenly spread", e.active, e.even, e.rows);
	return done &&
		   (table->folder == NULL ||
			knPlot_Write(&plot, table->folder, pushed ? "adaptive_error_pushed" : "adaptive_error_released"));
}

// --- drawings ------------------------------------------------------------------------------------------------

static bool drawTrees(const Table* table) {
	Chain c;
	bool done = openChain(&c, 23) && knDcaMetric_Init(&c.metric, c.dca, NULL);
	if (done && table->folder != NULL) {
		// the last links are pushed: joints there are active
		c.forces[c.n - 1].lin = knV3(0.0, 1.0, 0.0);
		int joints[8];
		double left;
		knTreeDca_Assemble(c.dca, c.work, c.q, c.v, c.tau, c.forces, knZero3(), NULL);
		knDcaMetric_Assemble(&c.metric, c.work, c.tau, NULL);
		int count = knDcaMetric_Select(&c.metric, c.work, c.tau, NULL, 6, 0.0, joints, c.other, &left);
		knRegion_Take(c.dca->assembly, joints, count, &c.region);
		done = knAssembly_Draw(c.dca->assembly, NULL, "Assembly tree of a chain of 23 links on a base",
							   table->folder, "adaptive_assembly") &&
			   knAssembly_Draw(c.dca->assembly, &c.region,
							   "Hybrid tree: 6 active joints, the front of rigid parts (with their links)",
							   table->folder, "adaptive_hybrid");
	}
	closeChain(&c);
	return done;
}

// --- the suite -----------------------------------------------------------------------------------------------

static int run(const knBenchOptions* options) {
	const char* path = options->path;
	size_t length = path != NULL ? strlen(path) : 0;
	bool csv = length > 4 && strcmp(path + length - 4, ".csv") == 0;
	Table table = { .csv = csv ? fopen(path, "w") : NULL, .folder = csv ? NULL : path };
	if (csv && table.csv == NULL) {
		return cliFail(CLI_BAD_INPUT, "cannot write '%s'", path);
	}
	if (table.csv != NULL) {
		fputs("section,joints,active,what,value,unit\n", table.csv);
	}
	table.threads = options->threads > 1 ? options->threads : 2;
	knTaskPool* pool = knTaskPool_Create(table.threads, NULL, NULL);
	bool done = pool != NULL && benchCost(&table, pool) && benchActive(&table) && benchTotal(&table) &&
				benchErrors(&table, false) && benchErrors(&table, true) && drawTrees(&table);
	knTaskPool_Destroy(pool);
	int status = done ? benchAdaptiveScenes(&table) : CLI_FAILED;
	if (table.csv != NULL && fclose(table.csv) != 0) {
		return cliFail(CLI_BAD_INPUT, "cannot write '%s'", path);
	}
	if (!done) {
		return cliFail(CLI_FAILED, "out of memory, or figures that cannot be written");
	}
	return status;
}

const knBenchSuite knAdaptiveBench = {
	.name = "adaptive",
	.summary = "divide and conquer and hybrid bodies: cost, and error against active joints",
	.run = run,
};
