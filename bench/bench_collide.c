// knuckle bench collide: nanoseconds for each cell of the convex pair grid, in four situations:
//
//   apart      farther than the margin: a rejection
//   near       apart by up to a fifth of the size, within the margin: distance and contacts
//   touching   overlapping by up to a thousandth of the size
//   deep       overlapping by a tenth of the size or more
//
// Then the broad phase of bench_broad.c. --peers puts libccd beside the grid, for the same pairs in the same run. --full compares a million random pairs with the
// certified search of support/convex_oracle.h instead, and its exit status says whether all agree.
#include <stdlib.h>

#include "bench.h"
#include "cli.h"
#include "peers/peer_ccd.h"
#include "processor_clock.h"
#include "progress.h"
#include "support/convex_oracle.h"

enum { APART, NEAR, TOUCHING, DEEP, SITUATIONS };
enum { SAMPLES = 128, MOST_TRIES = 200000, KINDS = 7, FULL_PAIRS = 1000000 };

extern const knBenchSuite knBroadBench;

static const char* const situationNames[SITUATIONS] = { "apart", "near", "touching", "deep" };
static const knGeomKind kinds[KINDS] = { KN_GEOM_SPHERE,    KN_GEOM_CAPSULE, KN_GEOM_BOX,  KN_GEOM_CYLINDER,
										 KN_GEOM_ELLIPSOID, KN_GEOM_HULL,    KN_GEOM_PLANE };

typedef struct Sample {
	knGeom *a, *b;
	knFrame frameA, frameB;
	double margin;
	double separation;
	double size;
} Sample;

typedef struct Samples {
	Sample items[SITUATIONS][SAMPLES];
	int counts[SITUATIONS];
} Samples;

static int situationOf(double separation) {
	if (separation > 0.3) {
		return APART;
	}
	if (separation > 1e-3 && separation < 0.2) {
		return NEAR;
	}
	if (separation < -1e-6 && separation > -1e-3) {
		return TOUCHING;
	}
	return separation < -0.1 ? DEEP : SITUATIONS;
}

// Random pairs of two kinds, sorted by situation; those of very different sizes are left out.
static void gather(knGeomKind kindA, knGeomKind kindB, Samples* samples) {
	OracleRandom random = { 1 + 10 * (uint64_t)kindA + (uint64_t)kindB };
	*samples = (Samples){ .counts = { 0 } };
	int open = SITUATIONS;
	for (int n = 0; n < MOST_TRIES && open > 0; ++n) {
		OraclePair pair = oracleRandomPair(kindA, kindB, &random);
		double ratio = kindB == KN_GEOM_PLANE ? 1.0 : pair.a.reach / pair.b.reach;
		knContactPoint points[KN_PAIR_MAX_POINTS];
		int count = knCollide_Pair(pair.a.geom, pair.frameA, pair.b.geom, pair.frameB, 10.0 * pair.size,
								   points, KN_PAIR_MAX_POINTS);
		double separation = INFINITY;
		for (int i = 0; i < count; ++i) {
			separation = fmin(separation, points[i].separation);
		}
		int situation = situationOf(separation / pair.size);
		if (count == 0 || ratio > 10.0 || ratio < 0.1 || situation == SITUATIONS ||
			samples->counts[situation] == SAMPLES) {
			oracleRelease(&pair);
			continue;
		}
		double margin = situation == NEAR ? 0.25 * pair.size : 0.0;
		int place = samples->counts[situation]++;
		samples->items[situation][place] =
			(Sample){ pair.a.geom, pair.b.geom, pair.frameA, pair.frameB, margin, separation, pair.size };
		open -= samples->counts[situation] == SAMPLES;
	}
}

static void release(Samples* samples) {
	for (int s = 0; s < SITUATIONS; ++s) {
		for (int i = 0; i < samples->counts[s]; ++i) {
			knGeom_Release(samples->items[s][i].a);
			knGeom_Release(samples->items[s][i].b);
		}
	}
}

// --- timing ------------------------------------------------------------------------------------------------------

typedef double SampleFn(const Sample* sample, const knCcdPeer* peer);

static double runOwn(const Sample* s, const knCcdPeer* peer) {
	(void)peer;
	knContactPoint points[KN_PAIR_MAX_POINTS];
	return knCollide_Pair(s->a, s->frameA, s->b, s->frameB, s->margin, points, KN_PAIR_MAX_POINTS);
}

static double runIntersect(const Sample* s, const knCcdPeer* peer) {
	knCcdShape a = { s->a, s->frameA }, b = { s->b, s->frameB };
	return knCcdPeer_Intersect(peer, &a, &b);
}

static double runDepth(const Sample* s, const knCcdPeer* peer) {
	knCcdShape a = { s->a, s->frameA }, b = { s->b, s->frameB };
	return knCcdPeer_Depth(peer, &a, &b);
}

// Nanoseconds of processor time for one pair, over all samples, repeated until it can be timed; the best of three.
static double timeSamples(const Sample* samples, int count, SampleFn* fn, const knCcdPeer* peer) {
	double best = INFINITY;
	volatile double sink = 0.0;
	for (int attempt = 0; attempt < 3 && count > 0; ++attempt) {
		int64_t done = 0;
		double start = processorSeconds(), elapsed;
		do {
			for (int i = 0; i < count; ++i) {
				sink += fn(&samples[i], peer);
			}
			done += count;
			elapsed = processorSeconds() - start;
		} while (elapsed < 0.01);
		best = fmin(best, 1e9 * elapsed / (double)done);
	}
	(void)sink; // only there to keep the calls
	return best;
}

// The largest difference of libccd's depths from ours, in sizes.
static double peerError(const Samples* samples, const knCcdPeer* peer) {
	double worst = 0.0;
	for (int s = TOUCHING; s <= DEEP; ++s) {
		for (int i = 0; i < samples->counts[s]; ++i) {
			const Sample* sample = &samples->items[s][i];
			double depth = runDepth(sample, peer);
			worst = fmax(worst, fabs(fmax(depth, 0.0) + sample->separation) / sample->size);
		}
	}
	return worst;
}

static void timeCell(knGeomKind kindA, knGeomKind kindB, const knCcdPeer* peer, Samples* samples, FILE* out) {
	gather(kindA, kindB, samples);
	printf("%-10s%-10s", knGeomKind_Name(kindA), knGeomKind_Name(kindB));
	bool meets = peer != NULL && kindB != KN_GEOM_PLANE;
	for (int s = 0; s < SITUATIONS; ++s) {
		const Sample* items = samples->items[s];
		double ns = timeSamples(items, samples->counts[s], runOwn, NULL), other = NAN;
		if (meets && s != NEAR) {
			other = timeSamples(items, samples->counts[s], s == APART ? runIntersect : runDepth, peer);
		}
		printf("%9.0f", ns);
		if (peer != NULL) {
			printf(isnan(other) ? "         -" : "%10.0f", other);
		}
		if (out != NULL) {
			fprintf(out, "%s,%s,%s,%.1f,%.1f\n", knGeomKind_Name(kindA), knGeomKind_Name(kindB),
					situationNames[s], ns, other);
		}
	}
	if (meets) {
		printf("%11.1e", peerError(samples, peer));
	}
	printf("\n");
	release(samples);
}

static int timeGrid(const knBenchOptions* options, FILE* out) {
	const char* reason = "";
	knCcdPeer* peer = options->peers ? knCcdPeer_Open(&reason) : NULL;
	if (options->peers && peer == NULL) {
		return cliFail(CLI_FAILED, "no peer: %s", reason);
	}
	Samples* samples = malloc(sizeof(Samples));
	if (samples == NULL) {
		knCcdPeer_Close(peer);
		return cliFail(CLI_FAILED, "out of memory");
	}
	if (out != NULL) {
		fputs("a,b,situation,ns,libccd_ns\n", out);
	}
	printf("nanoseconds for one pair%s\n%-20s", peer != NULL ? ", libccd beside it" : "", "");
	for (int s = 0; s < SITUATIONS; ++s) {
		printf("%9s%s", situationNames[s], peer != NULL ? "    libccd" : "");
	}
	printf("%s\n", peer != NULL ? "  its error" : "");
	for (int i = 0; i < KINDS - 1; ++i) {
		for (int j = i; j < KINDS; ++j) {
			timeCell(kinds[i], kinds[j], peer, samples, out);
		}
	}
	free(samples);
	knCcdPeer_Close(peer);
	return CLI_DONE;
}

// --- the long comparison -----------------------------------------------------------------------------------------

#define MOST_DISTANCE 1e-6 // sizes
#define MOST_NORMAL 1e-3   // radians
#define MOST_WITNESS 1e-6  // sizes

typedef struct Tally {
	OracleErrors worst;
	int64_t pairs, wrong, open;
} Tally;

static void count(Tally* tally, const OracleErrors* errors) {
	tally->pairs += 1;
	tally->worst.distance = fmax(tally->worst.distance, errors->distance);
	tally->worst.normal = fmax(tally->worst.normal, errors->normal);
	tally->worst.witness = fmax(tally->worst.witness, errors->witness);
	tally->wrong += !(errors->distance <= MOST_DISTANCE && errors->normal <= MOST_NORMAL &&
					  errors->witness <= MOST_WITNESS);
	tally->open += errors->spread > MOST_DISTANCE;
}

static void printTally(const char* first, const char* second, const Tally* tally, FILE* out) {
	printf("%-10s%-10s%10lld%12.1e%12.1e%12.1e%8lld%8lld\n", first, second, (long long)tally->pairs,
		   tally->worst.distance, tally->worst.normal, tally->worst.witness, (long long)tally->open,
		   (long long)tally->wrong);
	if (out != NULL) {
		fprintf(out, "%s,%s,%lld,%.3e,%.3e,%.3e,%lld,%lld\n", first, second, (long long)tally->pairs,
				tally->worst.distance, tally->worst.normal, tally->worst.witness, (long long)tally->open,
				(long long)tally->wrong);
	}
}

static int compareAll(FILE* out) {
	OracleNode* heap = malloc(ORACLE_NODES * sizeof(OracleNode));
	if (heap == NULL) {
		return cliFail(CLI_FAILED, "out of memory");
	}
	int cells = (KINDS - 1) * KINDS / 2 + KINDS - 1, each = (FULL_PAIRS + cells - 1) / cells;
	if (out != NULL) {
		fputs("a,b,pairs,distance,normal,witness,open,wrong\n", out);
	}
	printf("worst errors: distance and witness points in sizes of the smaller shape, normals in radians\n"
		   "%-20s%10s%12s%12s%12s%8s%8s\n",
		   "", "pairs", "distance", "normal", "witness", "open", "wrong");
	cliProgress progress = cliProgress_Begin("pairs", (int64_t)each * cells);
	Tally all = { .pairs = 0 };
	for (int i = 0; i < KINDS - 1; ++i) {
		for (int j = i; j < KINDS; ++j) {
			OracleRandom random = { 1000003 * (uint64_t)(KINDS * i + j) + 11 };
			Tally cell = { .pairs = 0 };
			for (int n = 0; n < each; ++n) {
				OraclePair pair = oracleRandomPair(kinds[i], kinds[j], &random);
				OracleErrors errors = oracleCompare(&pair, heap);
				oracleRelease(&pair);
				count(&cell, &errors);
				count(&all, &errors);
				cliProgress_Update(&progress, all.pairs);
			}
			printTally(knGeomKind_Name(kinds[i]), knGeomKind_Name(kinds[j]), &cell, out);
			fflush(stdout);
		}
	}
	cliProgress_End(&progress);
	printTally("all", "", &all, out);
	printf("open: the search itself left more than %.0e sizes undecided (nearly all directions equal)\n",
		   MOST_DISTANCE);
	free(heap);
	return all.wrong == 0 ? CLI_DONE : cliFail(CLI_FAILED, "%lld pairs are wrong", (long long)all.wrong);
}

// The grid, and the broad phase without a table of its own.
static int timeAll(const knBenchOptions* options, FILE* out) {
	int status = timeGrid(options, out);
	knBenchOptions plain = { .threads = 1 };
	return status == CLI_DONE ? knBroadBench.run(&plain) : status;
}

static int run(const knBenchOptions* options) {
	FILE* out = options->path != NULL ? fopen(options->path, "w") : NULL;
	if (options->path != NULL && out == NULL) {
		return cliFail(CLI_BAD_INPUT, "cannot write '%s'", options->path);
	}
	int status = options->full ? compareAll(out) : timeAll(options, out);
	if (out != NULL && fclose(out) != 0) {
		return cliFail(CLI_BAD_INPUT, "cannot write '%s'", options->path);
	}
	return status;
}

const knBenchSuite knCollideBench = {
	.name = "collide",
	.summary = "convex pairs: time of each kind; --full checks a million",
	.run = run,
};
