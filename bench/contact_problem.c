// The contact problem of one step (contact_problem.h).
#include "contact_problem.h"

#include <string.h>

// --- taking it out ---------------------------------------------------------------------------------------------

// Ids to blocks, so that contacts need no search.
static int32_t* indexBodies(const knModel* model, knArena* arena) {
	int slots = knScene_BodySlots(knModel_Scene(model));
	int32_t* blocks = KN_SCRATCH_ZERO(arena, int32_t, slots + 1);
	for (int i = 0; blocks != NULL && i < knModel_BodyCount(model); ++i) {
		blocks[knModel_BodyAt(model, i).index1] = i + 1;
	}
	return blocks;
}

static void takeBodies(knContactProblem* problem, const knWorld* world, double h) {
	const knModel* model = knWorld_Model(world);
	const knScene* scene = knModel_Scene(model);
	for (int i = 0; i < knModel_BodyCount(model); ++i) {
		knBodyId body = knModel_BodyAt(model, i);
		const knBodyDef* def = knScene_GetBody(scene, body);
		problem->u[i + 1] =
			knMakeTwist(knWorld_BodyAngularVelocity(world, body), knWorld_BodyVelocity(world, body));
		if (def->kind != KN_BODY_DYNAMIC) {
			continue;
		}
		knMassProps mass = knModel_BodyMass(model, body);
		knMat33 inertia = knRotateTensor(knWorld_BodyFrame(world, body).q, &mass.inertia);
		problem->invMass[i + 1] = 1.0 / mass.mass;
		problem->invInertia[i + 1] = knInverse33(&inertia);
		problem->u[i + 1].lin =
			knMulAdd(problem->u[i + 1].lin, h * def->gravityScale, knWorld_Gravity(world));
	}
}

static double frictionOf(const knScene* scene, const knContact* contact) {
	double a = knScene_GetShape(scene, contact->shapeA)->friction,
		   b = knScene_GetShape(scene, contact->shapeB)->friction;
	return sqrt(a * b);
}

static void takePoint(knContactProblem* problem, const knWorld* world, const knContact* contact,
					  const int32_t* blocks) {
	const knContactPoint* point = &contact->point;
	knSweepPoint* out = &problem->points[problem->pointCount];
	memset(out, 0, sizeof(*out));
	knVec3 place = knScale(0.5, knAdd(point->pointA, point->pointB));
	out->n = point->normal;
	out->t1 = knAnyOrthogonal(point->normal);
	out->t2 = knCross(out->n, out->t1);
	out->rA = KN_ID_IS_NULL(contact->bodyA) ? place : knSub(place, knWorld_BodyCenter(world, contact->bodyA));
	out->rB = KN_ID_IS_NULL(contact->bodyB) ? place : knSub(place, knWorld_BodyCenter(world, contact->bodyB));
	out->mu = frictionOf(knModel_Scene(knWorld_Model(world)), contact);
	out->depth = point->separation;

	// points of one pair follow each other
	int32_t a = blocks[contact->bodyA.index1], b = blocks[contact->bodyB.index1];
	knSweepChunk* last = problem->chunkCount > 0 ? &problem->chunks[problem->chunkCount - 1] : NULL;
	if (last != NULL && last->a == a && last->b == b && last->count < KN_CHUNK_POINTS) {
		last->count += 1;
	} else {
		problem->chunks[problem->chunkCount++] = (knSweepChunk){ a, b, problem->pointCount, 1, 0 };
	}
	problem->pointCount += 1;
}

static bool fill(knContactProblem* problem, const knWorld* world, double h) {
	// a clone takes the step; its contacts are those at the start of it
	knWorld* clone = knWorld_Clone(world, NULL);
	if (clone == NULL || knWorld_Step(clone, h, NULL) != KN_OK) {
		if (clone != NULL) {
			knWorld_Destroy(clone);
		}
		return false;
	}
	int count;
	const knContact* contacts = knWorld_Contacts(clone, &count);
	const knModel* model = knWorld_Model(world);
	knArena* arena = &problem->arena;
	problem->bodyCount = knModel_BodyCount(model) + 1;
	problem->invMass = KN_SCRATCH_ZERO(arena, double, problem->bodyCount);
	problem->invInertia = KN_SCRATCH_ZERO(arena, knMat33, problem->bodyCount);
	problem->u = KN_SCRATCH_ZERO(arena, knTwist, problem->bodyCount);
	problem->points = KN_SCRATCH_ZERO(arena, knSweepPoint, count + 1);
	problem->chunks = KN_SCRATCH_ZERO(arena, knSweepChunk, count + 1);
	int32_t* blocks = indexBodies(model, arena);
	if (!arena->failed) {
		takeBodies(problem, world, h);
		for (int i = 0; i < count; ++i) {
			takePoint(problem, world, &contacts[i], blocks);
		}
	}
	knWorld_Destroy(clone);
	return !arena->failed;
}

bool knContactProblem_Open(knContactProblem* problem, const knWorld* world, double h) {
	memset(problem, 0, sizeof(*problem));
	knAllocator allocator = knAllocator_Default();
	knArena_Init(&problem->arena, &allocator);
	if (!fill(problem, world, h)) {
		knContactProblem_Close(problem);
		return false;
	}
	return true;
}

void knContactProblem_Close(knContactProblem* problem) {
	knArena_Free(&problem->arena);
	memset(problem, 0, sizeof(*problem));
}

// --- matrices --------------------------------------------------------------------------------------------------

int knContactProblem_Rows(const knContactProblem* problem) {
	return 3 * problem->pointCount;
}

// The two 6-vectors of a row, for blocks a and b of its chunk.
typedef struct Row {
	int32_t block[2];
	knTwist J[2];
} Row;

static Row rowOf(const knContactProblem* problem, int row) {
	int chunk = 0;
	while (problem->chunks[chunk].first + problem->chunks[chunk].count <= row / 3) {
		++chunk;
	}
	const knSweepPoint* point = &problem->points[row / 3];
	knVec3 c = row % 3 == 0 ? point->n : row % 3 == 1 ? point->t1 : point->t2;
	Row result = { { problem->chunks[chunk].a, problem->chunks[chunk].b },
				   { knScaleT(-1.0, knMakeTwist(knCross(point->rA, c), c)),
					 knMakeTwist(knCross(point->rB, c), c) } };
	return result;
}

static double entry(const knContactProblem* problem, const Row* x, const Row* y) {
	double sum = 0.0;
	for (int i = 0; i < 2; ++i) {
		for (int k = 0; k < 2; ++k) {
			int32_t block = x->block[i];
			if (block == y->block[k]) {
				sum += problem->invMass[block] * knDot(x->J[i].lin, y->J[k].lin) +
					   knDot(x->J[i].ang, knMulMV(&problem->invInertia[block], y->J[k].ang));
			}
		}
	}
	return sum;
}

void knContactProblem_Matrix(const knContactProblem* problem, double* A) {
	int n = knContactProblem_Rows(problem);
	for (int i = 0; i < n; ++i) {
		Row x = rowOf(problem, i);
		for (int k = 0; k <= i; ++k) {
			Row y = rowOf(problem, k);
			A[i * n + k] = A[k * n + i] = entry(problem, &x, &y);
		}
	}
}

void knContactProblem_Right(const knContactProblem* problem, double* b) {
	for (int i = 0; i < knContactProblem_Rows(problem); ++i) {
		Row row = rowOf(problem, i);
		b[i] = 0.0;
		for (int k = 0; k < 2; ++k) {
			const knTwist* u = &problem->u[row.block[k]];
			b[i] += knDot(row.J[k].ang, u->ang) + knDot(row.J[k].lin, u->lin);
		}
	}
}

// Column by column: (L + D) t = -U e, by forward substitution.
void knContactProblem_GaussSeidel(const double* A, int n, double* T) {
	for (int column = 0; column < n; ++column) {
		for (int i = 0; i < n; ++i) {
			double sum = column > i ? -A[i * n + column] : 0.0;
			for (int k = 0; k < i; ++k) {
				sum -= A[i * n + k] * T[k * n + column];
			}
			T[i * n + column] = A[i * n + i] > 0.0 ? sum / A[i * n + i] : 0.0;
		}
	}
}
