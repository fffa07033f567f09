// Whole steps of scenes by the adaptive stepper, beside `reduced`: what they cost and how far the motion is from that of all
// joints.
//
//   flight      pendulums before their first contact: speed-up and error against active joints
//   threshold   the same with joints chosen by the acceleration that is left out
//   contact     the pendulum of `pegs` among its pegs: time a step, beside the contacts that there were
//
// Errors are distances of links from a run of `reduced` at the same step, root of the mean square, by the chain's length.
#include <math.h>
#include <stdlib.h>

#include "adaptive_table.h"
#include "cli.h"
#include "plot.h"
#include "scene_run.h"

#define STEP 0.005       // s
#define FLIGHT_STEPS 120 // 0.6 s: the first peg is met later
#define COLD_STEPS 10    // at the start all joints move
#define CONTACT_STEPS 180
#define LINK_LENGTH 0.1 // m, of `pegs`
#define MOST_LINKS 500
#define MOST_ROWS 8

typedef struct Flight {
	double ms;       // a step
	double contacts; // a step
	double active;   // joints, on average
	knVec3 places[MOST_LINKS];
} Flight;

static void readPlaces(const knWorld* world, int links, Flight* flight) {
	const knModel* model = knWorld_Model(world);
	int count = 0;
	for (int i = 0; i < knModel_BodyCount(model) && count < links; ++i) {
		knBodyId body = knModel_BodyAt(model, i);
		if (knScene_GetBody(knModel_Scene(model), body)->kind == KN_BODY_DYNAMIC) {
			flight->places[count++] = knWorld_BodyCenter(world, body);
		}
	}
}

// `choice`: the setting that chooses joints; NULL: `reduced`. Counts steps [first, end).
static int fly(int links, const char* choice, int first, int end, Flight* flight) {
	char dofs[32];
	snprintf(dofs, sizeof(dofs), "dofs=%d", links);
	// the scene's own limit does not count beside another choice
	char most[32];
	snprintf(most, sizeof(most), "active=%d", links);
	const char* sets[] = { dofs, choice != NULL ? most : NULL, choice, NULL };
	static knSceneRun run;
	int status = knSceneRun_Open(&run, "pegs", sets, choice != NULL ? "adaptive" : "reduced", STEP, 1);
	if (status != CLI_DONE) {
		return status;
	}
	*flight = (Flight){ 0 };
	for (int i = 0; i < end && status == CLI_DONE; ++i) {
		status = knSceneRun_Step(&run) ? CLI_DONE : CLI_FAILED;
		if (i >= first) {
			int contacts;
			const knStepReport* report = knWorld_Report(run.world.world);
			knWorld_Contacts(run.world.world, &contacts);
			flight->ms += 1e3 * report->stepTime / (end - first);
			flight->contacts += (double)contacts / (end - first);
			flight->active += (double)report->active / (end - first);
		}
	}
	readPlaces(run.world.world, links, flight);
	knSceneRun_Close(&run);
	return status;
}

static double apart(const Flight* a, const Flight* b, int links) {
	double sum = 0.0;
	for (int i = 0; i < links; ++i) {
		double distance = knDistance(a->places[i], b->places[i]);
		sum += distance * distance;
	}
	return sqrt(sum / links) / (LINK_LENGTH * links);
}

typedef struct Rows {
	double active[MOST_ROWS], faster[MOST_ROWS], error[MOST_ROWS];
	int count;
} Rows;

static int flyAll(const Table* table, int links, Rows* rows) {
	static Flight plain, flight;
	int status = fly(links, NULL, COLD_STEPS, FLIGHT_STEPS, &plain);
	if (status == CLI_DONE) {
		tell(table, "flight", links, links, "reduced", plain.ms, "ms");
	}
	for (int active = 10; status == CLI_DONE && rows->count < MOST_ROWS; active *= 2) {
		int moving = active < links ? active : links;
		char choice[32];
		snprintf(choice, sizeof(choice), "active=%d", moving);
		status = fly(links, choice, COLD_STEPS, FLIGHT_STEPS, &flight);
		int k = rows->count++;
		rows->active[k] = moving;
		rows->faster[k] = plain.ms / flight.ms;
		rows->error[k] = apart(&plain, &flight, links);
		tell(table, "flight", links, moving, "adaptive", flight.ms, "ms");
		tell(table, "flight", links, moving, "speed-up", rows->faster[k], "times");
		tell(table, "flight", links, moving, "error", 100.0 * rows->error[k], "% of length");
		if (moving == links) {
			break;
		}
	}
	return status;
}

static int benchFlight(const Table* table) {
	static const int sizes[] = { 200, 300, 500 };
	static const char* const names[] = { "200 hinges", "300 hinges", "500 hinges" };
	static Rows rows[3];
	knPlot speed = { .title = "A pendulum in flight: speed-up against reduced",
					 .xLabel = "active joints",
					 .yLabel = "times",
					 .logX = true,
					 .logY = true };
	knPlot error = { .title = "A pendulum in flight: distance of links from the full motion after 0.6 s",
					 .xLabel = "active joints",
					 .yLabel = "root mean square, of its length",
					 .logX = true,
					 .logY = true };
	int status = CLI_DONE;
	for (int s = 0; s < 3 && status == CLI_DONE; ++s) {
		rows[s] = (Rows){ 0 };
		status = flyAll(table, sizes[s], &rows[s]);
		knPlot_Add(&speed, KN_PLOT_MARKED, names[s], rows[s].active, rows[s].faster, rows[s].count);
		knPlot_Add(&error, KN_PLOT_MARKED, names[s], rows[s].active, rows[s].error, rows[s].count);
	}
	bool written = status != CLI_DONE || table->folder == NULL ||
				   (knPlot_Write(&speed, table->folder, "adaptive_speedup") &&
					knPlot_Write(&error, table->folder, "adaptive_trajectory"));
	return written ? status : CLI_FAILED;
}

static int benchThreshold(const Table* table) {
	static const double bars[] = { 100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.001 };
	enum { BARS = 10, LINKS = 200 };
	static Flight plain, flight;
	static double errors[BARS];
	int status = fly(LINKS, NULL, COLD_STEPS, FLIGHT_STEPS, &plain);
	for (int k = 0; k < BARS && status == CLI_DONE; ++k) {
		char choice[64];
		snprintf(choice, sizeof(choice), "threshold=%g", bars[k]);
		status = fly(LINKS, choice, COLD_STEPS, FLIGHT_STEPS, &flight);
		errors[k] = apart(&plain, &flight, LINKS);
		tell(table, "threshold", LINKS, (int)(flight.active + 0.5), choice, 100.0 * errors[k], "% of length");
	}
	knPlot plot = { .title = "A pendulum of 200 hinges in flight: distance of links from the full motion",
					.xLabel = "threshold, rad/s2",
					.yLabel = "root mean square, of its length",
					.logX = true,
					.logY = true };
	knPlot_Add(&plot, KN_PLOT_MARKED, NULL, bars, errors, BARS);
	bool written = status != CLI_DONE || table->folder == NULL ||
				   knPlot_Write(&plot, table->folder, "adaptive_threshold");
	return written ? status : CLI_FAILED;
}

// The first of the active counts is that of all joints.
static int benchContact(const Table* table) {
	static const int counts[] = { 200, 80, 40, 20 };
	enum { LINKS = 200 };
	static Flight flight;
	int status = fly(LINKS, NULL, FLIGHT_STEPS, FLIGHT_STEPS + CONTACT_STEPS, &flight);
	if (status == CLI_DONE) {
		tell(table, "contact", LINKS, LINKS, "reduced", flight.ms, "ms");
		tell(table, "contact", LINKS, LINKS, "reduced", flight.contacts, "contacts");
	}
	for (int k = 0; k < 4 && status == CLI_DONE; ++k) {
		char choice[32];
		snprintf(choice, sizeof(choice), "active=%d", counts[k]);
		status = fly(LINKS, choice, FLIGHT_STEPS, FLIGHT_STEPS + CONTACT_STEPS, &flight);
		tell(table, "contact", LINKS, counts[k], "adaptive", flight.ms, "ms");
		tell(table, "contact", LINKS, counts[k], "adaptive", flight.contacts, "contacts");
	}
	return status;
}

int benchAdaptiveScenes(const Table* table) {
	int status = benchFlight(table);
	status = status == CLI_DONE ? benchThreshold(table) : status;
	return status == CLI_DONE ? benchContact(table) : status;
}
