// knuckle bench broad: the cost of finding what touches, against the number of moving bodies.
//
// Balls of 1 m fill a cube, 0.3 to the cubic metre, in no order, and fly about at up to 5 cm per step, so that all of
// them move. Printed are processor time per call (the broad phase, and the narrow one of the few pairs that touch) and the
// exponent of a line through the logarithms: 1 is linear.
#include <math.h>
#include <stdlib.h>

#include "bench.h"
#include "cli.h"
#include "knuckle/collide.h"
#include "processor_clock.h"

enum { SIZES = 4, WARM_CALLS = 20, CALLS = 20, ROUNDS = 3 };

#define DENSITY 0.3 // balls to the cubic metre
#define SPEED 0.05  // m per call, at most, along each axis

typedef struct Balls {
	int count;
	double side; // of the cube
	knFrame* frames;
	knVec3* velocities;
	knCollideShape* shapes;
	knGeom* geom;
	knCollider* collider;
} Balls;

static double uniform(uint64_t* state) {
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (double)(*state >> 11) * 0x1p-53;
}

static knVec3 anywhere(uint64_t* state, double side) {
	double x = uniform(state), y = uniform(state), z = uniform(state);
	return knScale(side, knV3(x - 0.5, y - 0.5, z - 0.5));
}

static void release(Balls* balls) {
	knCollider_Destroy(balls->collider);
	knGeom_Release(balls->geom);
	free(balls->frames);
	free(balls->velocities);
	free(balls->shapes);
}

static bool make(int count, Balls* balls) {
	*balls = (Balls){ .count = count, .side = cbrt(count / DENSITY) };
	balls->frames = malloc((size_t)count * sizeof(knFrame));
	balls->velocities = malloc((size_t)count * sizeof(knVec3));
	balls->shapes = malloc((size_t)count * sizeof(knCollideShape));
	balls->geom = knGeom_Sphere(0.5, NULL, NULL);
	if (balls->frames == NULL || balls->velocities == NULL || balls->shapes == NULL || balls->geom == NULL) {
		return false;
	}
	uint64_t state = 7;
	for (int i = 0; i < count; ++i) {
		balls->frames[i] = (knFrame){ .p = anywhere(&state, balls->side), .q = knIdentityQ() };
		balls->velocities[i] = anywhere(&state, 2.0 * SPEED);
		balls->shapes[i] = (knCollideShape){ balls->geom, i, knIdentityF(), knFilter_Default() };
	}
	knColliderDef def = { .frameCount = count, .shapeCount = count, .shapes = balls->shapes };
	balls->collider = knCollider_Create(&def, NULL);
	return balls->collider != NULL;
}

static void fly(Balls* balls) {
	for (int i = 0; i < balls->count; ++i) {
		knVec3 *p = &balls->frames[i].p, *v = &balls->velocities[i];
		*p = knAdd(*p, *v);
		for (int k = 0; k < 3; ++k) {
			if (fabs(knComponent(*p, k)) > 0.5 * balls->side) {
				knSetComponent(
					v, k, knComponent(*p, k) > 0.0 ? -fabs(knComponent(*v, k)) : fabs(knComponent(*v, k)));
			}
		}
	}
}

// Processor seconds of a call, the least of some rounds; negative: failed.
static double timeCalls(Balls* balls, int* pairs) {
	double best = INFINITY;
	knContactSet contacts;
	knCollideInput input = { .frames = balls->frames };
	for (int call = 0; call < WARM_CALLS; ++call) {
		fly(balls);
		if (knCollide(balls->collider, &input, &contacts, NULL) != KN_OK) {
			return -1.0;
		}
	}
	for (int round = 0; round < ROUNDS; ++round) {
		double used = 0.0;
		for (int call = 0; call < CALLS; ++call) {
			fly(balls);
			double start = processorSeconds();
			if (knCollide(balls->collider, &input, &contacts, NULL) != KN_OK) {
				return -1.0;
			}
			used += processorSeconds() - start;
		}
		best = fmin(best, used / CALLS);
	}
	*pairs = contacts.pairCount;
	return best;
}

static int run(const knBenchOptions* options) {
	static const int sizes[SIZES] = { 1000, 4000, 16000, 64000 };
	FILE* out = options->path != NULL ? fopen(options->path, "w") : NULL;
	if (options->path != NULL && out == NULL) {
		return cliFail(CLI_BAD_INPUT, "cannot write '%s'", options->path);
	}
	if (out != NULL) {
		fputs("bodies,seconds,pairs\n", out);
	}
	double sumX = 0.0, sumY = 0.0, sumXX = 0.0, sumXY = 0.0;
	int status = CLI_DONE;
	for (int i = 0; status == CLI_DONE && i < SIZES; ++i) {
		Balls balls;
		int pairs = 0;
		double seconds = make(sizes[i], &balls) ? timeCalls(&balls, &pairs) : -1.0;
		release(&balls);
		if (seconds < 0.0) {
			status = cliFail(CLI_FAILED, "out of memory");
			break;
		}
		printf("%6d moving balls  %9.3f ms a call  %6.0f ns a ball  %6d pairs touch\n", sizes[i],
			   1e3 * seconds, 1e9 * seconds / sizes[i], pairs);
		if (out != NULL) {
			fprintf(out, "%d,%.6f,%d\n", sizes[i], seconds, pairs);
		}
		double x = log(sizes[i]), y = log(seconds);
		sumX += x;
		sumY += y;
		sumXX += x * x;
		sumXY += x * y;
	}
	if (status == CLI_DONE) {
		printf("time grows with the number of balls to the power of %.3f\n",
			   (SIZES * sumXY - sumX * sumY) / (SIZES * sumXX - sumX * sumX));
	}
	if (out != NULL && fclose(out) != 0) {
		return cliFail(CLI_BAD_INPUT, "cannot write '%s'", options->path);
	}
	return status;
}

const knBenchSuite knBroadBench = {
	.name = "broad",
	.summary = "broad phase: time against the number of moving bodies",
	.run = run,
};
