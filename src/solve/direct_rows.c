// Rows without bounds, solved directly. Neighbouring rows of one group (a joint) make one block of the matrix; two of
// these are coupled where they share a block that moves. Closed loops may have more rows than freedom, and the matrix would
// be singular: there every row gives way by a millionth of its own response, and what contradicts itself is shared out.
// Memory comes from the step's arena, through an allocator that never gives anything back.

#include "solve/direct_rows.h"

#include "core/assert.h"
#include "core/sets.h"

enum { ROWS_PER_BLOCK = 6 };
#define LOOP_GIVE 1e-6     // of a row's own response, in loops
#define LOOPED_LIMIT 8000  // blocks; beyond it loops are left to the sweeps: the factor of a lattice fills up
#define NEIGHBOUR_LIMIT 48 // couplings a block on average; beyond it the matrix counts as dense

typedef struct Builder {
	knDirectRows* direct;
	knRows* rows;
	int blockCount;
	int* first;     // [blockCount + 1] into direct->order
	int* sizes;     // [blockCount]
	int* bodyFirst; // [rows->blockCount + 1] into bodyBlocks
	int* bodyBlocks;
	uint8_t* looped; // [rows->blockCount] 1: in an assembly with loops
} Builder;

static void* arenaAllocate(size_t size, void* context) {
	return knArena_Take(context, size);
}

static void arenaRelease(void* memory, size_t size, void* context) {
	(void)memory;
	(void)size;
	(void)context;
}

// --- trees -----------------------------------------------------------------------------------------------

static bool isUnbounded(const knRow* row) {
	return row->lo < -1e300 && row->hi > 1e300 && row->normal == KN_ROW_NO_NORMAL && row->load == 0 &&
		   row->D > 0.0;
}

static bool moves(knTwist T) {
	return knDotT(T, T) > 0.0;
}

// The node of a row's side: a block that moves, or for all others the wall, node 0.
static int32_t nodeOf(int block, knTwist T) {
	return moves(T) ? block : 0;
}

static bool startsBlock(const knRows* rows, int i) {
	const knRow* row = &rows->items[i];
	return i == 0 || !isUnbounded(&rows->items[i - 1]) || rows->items[i - 1].a != row->a ||
		   rows->items[i - 1].b != row->b || rows->items[i - 1].group != row->group;
}

// From one block of an assembly to all of it; the wall connects nothing.
static bool spreadLoops(const knRows* rows, uint8_t* looped, knArena* arena) {
	int32_t* parent = KN_SCRATCH(arena, int32_t, rows->blockCount);
	if (parent == NULL) {
		return false;
	}
	for (int b = 0; b < rows->blockCount; ++b) {
		parent[b] = b;
	}
	for (int i = 0; i < rows->count; ++i) {
		const knRow* row = &rows->items[i];
		if (isUnbounded(row) && moves(row->Ta) && moves(row->Tb)) {
			knSets_Unite(parent, row->a, row->b);
		}
	}
	for (int b = 0; b < rows->blockCount; ++b) {
		int32_t root = knSets_Find(parent, b);
		looped[root] = looped[root] || looped[b];
	}
	for (int b = 0; b < rows->blockCount; ++b) {
		looped[b] = looped[knSets_Find(parent, b)];
	}
	return true;
}

// Marks the blocks that belong to a loop's component. Everything hanging on the wall alone is a tree of its own. False: no
// memory.
static bool findLoops(const knRows* rows, uint8_t* looped, knArena* arena) {
	int32_t* parent = KN_SCRATCH(arena, int32_t, rows->blockCount);
	if (parent == NULL) {
		return false;
	}
	for (int b = 0; b < rows->blockCount; ++b) {
		parent[b] = b;
	}
	for (int i = 0; i < rows->count; ++i) {
		const knRow* row = &rows->items[i];
		if (!isUnbounded(row) || !startsBlock(rows, i)) {
			continue;
		}
		int32_t a = nodeOf(row->a, row->Ta), b = nodeOf(row->b, row->Tb);
		if (!knSets_Unite(parent, a, b)) {
			looped[a > 0 ? a : b] = 1;
		}
	}
	return spreadLoops(rows, looped, arena);
}

static bool isLooped(const Builder* builder, const knRow* row) {
	return builder->looped[moves(row->Ta) ? row->a : row->b] != 0;
}

// Blocks of neighbouring rows between the same two bodies.
static bool listBlocks(Builder* builder, knArena* arena) {
	knDirectRows* direct = builder->direct;
	knRows* rows = builder->rows;
	direct->order = KN_SCRATCH(arena, int32_t, rows->count);
	direct->isDirect = KN_SCRATCH_ZERO(arena, uint8_t, rows->count);
	direct->right = KN_SCRATCH(arena, double, rows->count);
	direct->change = KN_SCRATCH(arena, double, rows->count);
	builder->first = KN_SCRATCH(arena, int, rows->count + 1);
	builder->sizes = KN_SCRATCH(arena, int, rows->count);
	builder->looped = KN_SCRATCH_ZERO(arena, uint8_t, rows->blockCount);
	if (arena->failed || !findLoops(rows, builder->looped, arena)) {
		return false;
	}
	int loopedCount = 0;
	for (int i = 0; i < rows->count; ++i) {
		loopedCount +=
			isUnbounded(&rows->items[i]) && startsBlock(rows, i) && isLooped(builder, &rows->items[i]);
	}
	bool takesLoops = loopedCount <= LOOPED_LIMIT;
	for (int i = 0; i < rows->count; ++i) {
		const knRow* row = &rows->items[i];
		if (!isUnbounded(row) || (!takesLoops && isLooped(builder, row))) {
			continue;
		}
		if (startsBlock(rows, i) || builder->sizes[builder->blockCount - 1] == ROWS_PER_BLOCK) {
			builder->first[builder->blockCount] = direct->count;
			builder->sizes[builder->blockCount++] = 0;
		}
		builder->sizes[builder->blockCount - 1] += 1;
		direct->order[direct->count++] = i;
	}
	builder->first[builder->blockCount] = direct->count;
	return true;
}

static const knRow* rowOf(const Builder* builder, int block) {
	return &builder->rows->items[builder->direct->order[builder->first[block]]];
}

// The blocks at each body that moves.
static bool listBodies(Builder* builder, knArena* arena) {
	int bodies = builder->rows->blockCount;
	builder->bodyFirst = KN_SCRATCH_ZERO(arena, int, bodies + 2);
	builder->bodyBlocks = KN_SCRATCH(arena, int, 2 * builder->blockCount);
	if (arena->failed) {
		return false;
	}
	for (int pass = 0; pass < 2; ++pass) {
		for (int k = 0; k < builder->blockCount; ++k) {
			const knRow* row = rowOf(builder, k);
			const int at[2] = { row->a, row->b };
			const bool free[2] = { moves(row->Ta), moves(row->Tb) };
			for (int side = 0; side < 2; ++side) {
				if (free[side] && pass == 0) {
					builder->bodyFirst[at[side] + 2] += 1;
				} else if (free[side]) {
					builder->bodyBlocks[builder->bodyFirst[at[side] + 1]++] = k;
				}
			}
		}
		for (int b = 2; b < bodies + 2 && pass == 0; ++b) {
			builder->bodyFirst[b] += builder->bodyFirst[b - 1];
		}
	}
	return true;
}

static long countCouplings(const Builder* builder) {
	long count = 0;
	for (int b = 0; b < builder->rows->blockCount; ++b) {
		long degree = builder->bodyFirst[b + 1] - builder->bodyFirst[b];
		count += degree * (degree - 1) / 2;
	}
	return count;
}

static knSparse* makeSparse(const Builder* builder, int couplings, knArena* arena) {
	knSparseEntry* entries = KN_SCRATCH(arena, knSparseEntry, couplings);
	int count = 0;
	for (int b = 0; entries != NULL && b < builder->rows->blockCount; ++b) {
		for (int i = builder->bodyFirst[b]; i < builder->bodyFirst[b + 1]; ++i) {
			for (int k = builder->bodyFirst[b]; k < i; ++k) {
				entries[count++] = (knSparseEntry){ builder->bodyBlocks[i], builder->bodyBlocks[k] };
			}
		}
	}
	knAllocator allocator = { arenaAllocate, arenaRelease, arena };
	knSparseDef def = { .blockCount = builder->blockCount,
						.sizes = builder->sizes,
						.entryCount = count,
						.entries = entries,
						.symmetric = true,
						.allocator = &allocator };
	return entries != NULL ? knSparse_Create(&def) : NULL;
}

// What an impulse of row q does to row p through one body.
static double couple(const knRow* p, const knRow* q, int body) {
	knTwist J = p->a == body ? p->Ja : p->Jb;
	knTwist T = q->a == body ? q->Ta : q->Tb;
	return knDotT(J, T);
}

static void addCoupling(const Builder* builder, int i, int k, int body) {
	const knDirectRows* direct = builder->direct;
	bool transposed = false;
	double* block = knSparse_Block(direct->sparse, i, k, &transposed);
	KN_ASSERT(block != NULL);
	int rowBlock = transposed ? k : i, columnBlock = transposed ? i : k;
	for (int r = 0; r < builder->sizes[rowBlock]; ++r) {
		const knRow* p = &builder->rows->items[direct->order[builder->first[rowBlock] + r]];
		for (int c = 0; c < builder->sizes[columnBlock]; ++c) {
			const knRow* q = &builder->rows->items[direct->order[builder->first[columnBlock] + c]];
			block[r * builder->sizes[columnBlock] + c] += couple(p, q, body);
		}
	}
}

static void fillMatrix(const Builder* builder) {
	const knDirectRows* direct = builder->direct;
	knSparse_Clear(direct->sparse);
	for (int b = 0; b < builder->rows->blockCount; ++b) {
		for (int i = builder->bodyFirst[b]; i < builder->bodyFirst[b + 1]; ++i) {
			for (int k = builder->bodyFirst[b]; k <= i; ++k) {
				addCoupling(builder, builder->bodyBlocks[i], builder->bodyBlocks[k], b);
			}
		}
	}
	for (int k = 0; k < builder->blockCount; ++k) {
		bool transposed = false;
		double* block = knSparse_Block(direct->sparse, k, k, &transposed);
		for (int r = 0; r < builder->sizes[k]; ++r) {
			const knRow* row = &builder->rows->items[direct->order[builder->first[k] + r]];
			double* own = &block[r * builder->sizes[k] + r];
			*own += row->gamma + (isLooped(builder, row) ? LOOP_GIVE * *own : 0.0);
		}
	}
}

bool knDirectRows_Build(knDirectRows* direct, knRows* rows, knArena* arena) {
	*direct = (knDirectRows){ .rows = rows };
	Builder builder = { .direct = direct, .rows = rows };
	if (!listBlocks(&builder, arena) || !listBodies(&builder, arena)) {
		return false;
	}
	long couplings = countCouplings(&builder);
	if (builder.blockCount == 0 || couplings > (long)NEIGHBOUR_LIMIT * builder.blockCount) {
		direct->count = 0;
		return true;
	}
	direct->sparse = makeSparse(&builder, (int)couplings, arena);
	if (direct->sparse == NULL) {
		return false;
	}
	fillMatrix(&builder);
	if (!knSparse_Factor(direct->sparse).finite) {
		direct->sparse = NULL;
		direct->count = 0;
	}
	for (int i = 0; i < direct->count; ++i) {
		direct->isDirect[direct->order[i]] = 1;
	}
	return true;
}

// Solves for `change`, whose right-hand side is set, and applies it.
static void applyChange(knDirectRows* direct, knTwist* u) {
	if (direct->count > 0) {
		knSparse_Solve(direct->sparse, direct->right, direct->change, 0);
	}
	for (int i = 0; i < direct->count; ++i) {
		const knRow* row = &direct->rows->items[direct->order[i]];
		u[row->a] = knMulAddT(u[row->a], direct->change[i], row->Ta);
		u[row->b] = knMulAddT(u[row->b], direct->change[i], row->Tb);
	}
}

static double speedOf(const knRow* row, const knTwist* u) {
	return knDotT(row->Ja, u[row->a]) + knDotT(row->Jb, u[row->b]);
}

void knDirectRows_Solve(knDirectRows* direct, knTwist* u) {
	for (int i = 0; i < direct->count; ++i) {
		const knRow* row = &direct->rows->items[direct->order[i]];
		direct->right[i] = -(speedOf(row, u) + row->bias + row->gamma * row->lambda);
	}
	applyChange(direct, u);
	for (int i = 0; i < direct->count; ++i) {
		direct->rows->items[direct->order[i]].lambda += direct->change[i];
	}
}

void knDirectRows_Restore(knDirectRows* direct, knTwist* u) {
	for (int i = 0; i < direct->count; ++i) {
		direct->right[i] = -speedOf(&direct->rows->items[direct->order[i]], u);
	}
	applyChange(direct, u);
}
