// knuckle bench field: signed distance fields of generated meshes.
//
// For each size: time and memory of the field, time of a query (the fastest of many batches, which other work on
// the machine disturbs least), and at random points within 1 % of the surface the largest error against the exact
// search over all triangles and the number of wrong signs.
#include "bench.h"

#include <stdlib.h>
#include <time.h>

#include "geom/geom.h"
#include "geom/sdf.h"
#include "processor_clock.h"

#define POINTS 100000
#define BATCH 2000

static double seconds(void) {
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double uniform(uint64_t* state) {
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (double)(*state >> 11) * 0x1p-53;
}

// A torus with waves on it: around x across x 2 triangles.
static void fillMesh(int around, int across, knVec3* vertices, knTriangle* triangles) {
	for (int i = 0, t = 0; i < around; ++i) {
		for (int j = 0; j < across; ++j) {
			double u = 2.0 * KN_PI * i / around, v = 2.0 * KN_PI * j / across;
			double tube = 0.35 + 0.04 * knSin(9.0 * u) * knSin(5.0 * v) + 0.01 * knSin(40.0 * u + 17.0 * v);
			double r = 1.0 + tube * knCos(v);
			vertices[i * across + j] = knV3(r * knCos(u), r * knSin(u), tube * knSin(v));
			int a = i * across + j, b = (i + 1) % around * across + j;
			int c = (i + 1) % around * across + (j + 1) % across, d = i * across + (j + 1) % across;
			triangles[t++] = (knTriangle){ a, b, c };
			triangles[t++] = (knTriangle){ a, c, d };
		}
	}
}

static void choosePoints(const knMesh* mesh, knVec3* points) {
	uint64_t state = 20241;
	for (int i = 0; i < POINTS; ++i) {
		int t = (int)(uniform(&state) * mesh->faceCount);
		knVec3 p[3];
		knMesh_Corners(mesh, t, p);
		double u = uniform(&state), v = (1.0 - u) * uniform(&state);
		knVec3 at = knMulAdd(knMulAdd(p[0], u, knSub(p[1], p[0])), v, knSub(p[2], p[0]));
		double offset = (2.0 * uniform(&state) - 1.0) * 0.01 * mesh->size;
		points[i] = knMulAdd(at, offset, mesh->faceNormals[t]);
	}
}

// Nanoseconds of a query, in the fastest batch.
static double timeQueries(const knMesh* mesh, const knVec3* points, double* sum) {
	double best = INFINITY;
	for (int first = 0; first + BATCH <= POINTS; first += BATCH) {
		double start = seconds();
		for (int i = 0; i < BATCH; ++i) {
			*sum += knSdf_Sample(mesh, points[first + i]).distance;
		}
		best = knMin(best, seconds() - start);
	}
	return best / BATCH * 1e9;
}

static void measure(const knGeom* geom, double wall, double cpu, FILE* table) {
	const knMesh* mesh = geom->mesh;
	const knSdf* field = mesh->field;
	knVec3* points = malloc(POINTS * sizeof(knVec3));
	if (points == NULL) {
		return;
	}
	choosePoints(mesh, points);
	double sum = 0.0, query = timeQueries(mesh, points, &sum), worst = 0.0;
	int wrong = 0, asked = 0;
	for (int i = 0; i < POINTS; ++i) {
		knSdfSample sample = knSdf_Sample(mesh, points[i]);
		asked += sample.exact;
		double value = sample.distance, exact = knGeom_Distance(geom, points[i]);
		worst = knMax(worst, knAbs(value - exact));
		wrong += (value < 0.0) != (exact < 0.0);
	}
	double bytes =
		(double)field->entryCount * sizeof(uint32_t) + (double)field->cellCount * sizeof(knSdfCell);
	printf("%9d triangles  build %7.2f s (%7.2f s of processor)  field %7.1f MB  query %6.1f ns  "
		   "tree asked %4.1f %%  error %.2e of the size  wrong signs %d\n",
		   mesh->faceCount, wall, cpu, bytes / 1e6, query, 100.0 * asked / POINTS, worst / mesh->size, wrong);
	fflush(stdout);
	if (table != NULL) {
		fprintf(table, "%d,%.3f,%.3f,%.0f,%.1f,%.3e,%d\n", mesh->faceCount, wall, cpu, bytes, query,
				worst / mesh->size, wrong);
	}
	free(points);
}

static int runSize(int around, int across, const knBenchOptions* options, FILE* table) {
	int count = around * across;
	knVec3* vertices = malloc((size_t)count * sizeof(knVec3));
	knTriangle* triangles = malloc(2 * (size_t)count * sizeof(knTriangle));
	knAllocator allocator = knAllocator_Default();
	knError error = { 0 };
	knTaskPool* pool = knTaskPool_Create(options->threads, &allocator, &error);
	knGeom* geom = NULL;
	if (vertices != NULL && triangles != NULL && pool != NULL) {
		fillMesh(around, across, vertices, triangles);
		knMeshDef def = knMeshDef_Default();
		def.vertices = vertices;
		def.vertexCount = count;
		def.triangles = triangles;
		def.triangleCount = 2 * count;
		def.tasks = knTaskPool_Tasks(pool);
		double wall = seconds(), cpu = processorSeconds();
		geom = knGeom_Mesh(&def, NULL, &error);
		wall = seconds() - wall;
		cpu = processorSeconds() - cpu;
		if (geom != NULL) {
			measure(geom, wall, cpu, table);
		}
	}
	if (geom == NULL) {
		fprintf(stderr, "knuckle: bench field: %s\n",
				error.message[0] != 0 ? error.message : "out of memory");
	}
	knGeom_Release(geom);
	knTaskPool_Destroy(pool);
	free(vertices);
	free(triangles);
	return geom != NULL ? 0 : 1;
}

static int run(const knBenchOptions* options) {
	static const int sizes[][2] = { { 50, 20 }, { 158, 63 }, { 500, 200 }, { 1120, 448 } };
	FILE* table = NULL;
	if (options->path != NULL) {
		table = fopen(options->path, "w");
		if (table == NULL) {
			fprintf(stderr, "knuckle: %s cannot be written\n", options->path);
			return 1;
		}
		fputs("triangles,build_s,build_cpu_s,field_bytes,query_ns,error_of_size,wrong_signs\n", table);
	}
	int status = 0;
	for (int i = 0; status == 0 && i < (options->full ? 4 : 3); ++i) {
		status = runSize(sizes[i][0], sizes[i][1], options, table);
	}
	if (table != NULL) {
		fclose(table);
	}
	return status;
}

const knBenchSuite knFieldBench = {
	.name = "field",
	.summary = "signed distance fields of meshes up to 200,000 triangles (--full: a million)",
	.run = run,
};
