// Preconditioner of the settling (joint_settle.c): an incomplete block factorisation K ~ L D L^T in which only joints
// that share a moving body have a block L_ik.
//
// Joints are eliminated from the far ends towards what the island hangs on (a breadth-first order, reversed). On a tree
// this order makes no fill, so that the factorisation is exact and conjugate gradients are done at once, whatever
// the ratio of masses; loops and nets drop their fill. A pivot that the dropping spoils is replaced by the joint's own
// block. On a body with very many joints only near neighbours in the order are linked, so that the cost stays linear.
#include <string.h>

#include "steppers/impulse/joint_direct.h"
#include "steppers/impulse/joint_links.h"

#define WINDOW 8    // neighbours on one body, in the order, that are linked
#define SOUND 1e-10 // of a pivot beside its own block, whose softness is more

// A block below the diagonal: row `later`, column of the entry whose list it stands in.
typedef struct knJointLink {
	_Alignas(32) double block[KN_LINK_SIZE]; // first K_ik, then L_ik
	int later;
} knJointLink;

struct knPreconditioner {
	int* position; // [jointCount] in the order of elimination
	int* order;    // [jointCount] entries, island by island (as islandJoint)
	int* first;    // [jointCount + 1] links of an entry
	knJointLink* links;
	double (*pivot)[KN_LINK_SIZE]; // [jointCount] LDL^T of D
	uint8_t* whole;                // [islandCount] nothing is dropped: a tree, all of whose links are there
	uint8_t* sound;                // [islandCount] no pivot had to be replaced. knPreconditioner_Factor
	int *bodyFirst, *bodyEntry;    // entries of each moving body, in the order of elimination
};

// --- pattern ---------------------------------------------------------------------------------------------

static bool moves(const knArticulationSolve* solve, int body) {
	return solve->invMass[body] > 0.0;
}

// Entries of each moving body, in the order of `sequence`.
static void listByBody(const knArticulationSolve* solve, const int* sequence, int* first, int* entries) {
	const int bodyCount = solve->input.model->bodyCount;
	for (int b = 0; b <= bodyCount + 1; ++b) {
		first[b] = 0;
	}
	for (int pass = 0; pass < 2; ++pass) {
		for (int n = 0; n < solve->jointCount; ++n) {
			const int i = sequence != NULL ? sequence[n] : n;
			const int bodies[2] = { solve->joints[i].parent, solve->joints[i].child };
			for (int k = 0; k < 2; ++k) {
				if (!moves(solve, bodies[k])) {
					continue;
				}
				if (pass == 0) {
					first[bodies[k] + 2] += 1;
				} else {
					entries[first[bodies[k] + 1]++] = i;
				}
			}
		}
		for (int b = 0; pass == 0 && b < bodyCount; ++b) {
			first[b + 2] += first[b + 1];
		}
	}
}

// Breadth-first from the joints that hang on immovable bodies, or from the first; written from the back.
static void orderIsland(knArticulationSolve* solve, int island, int* queue) {
	struct knPreconditioner* p = solve->precondition;
	const int begin = solve->islandBegin[island], end = solve->islandBegin[island + 1];
	int head = 0, tail = 0;
	for (int n = begin; n < end; ++n) {
		const int i = solve->islandJoint[n];
		bool hung = !moves(solve, solve->joints[i].parent) || !moves(solve, solve->joints[i].child);
		p->position[i] = hung ? 0 : -1;
		if (hung) {
			queue[tail++] = i;
		}
	}
	if (tail == 0) {
		queue[tail++] = solve->islandJoint[begin];
		p->position[queue[0]] = 0;
	}
	while (head < tail) {
		const int i = queue[head];
		p->order[end - 1 - head] = i;
		p->position[i] = end - 1 - head;
		head += 1;
		const int bodies[2] = { solve->joints[i].parent, solve->joints[i].child };
		for (int k = 0; k < 2; ++k) {
			for (int m = p->bodyFirst[bodies[k]]; moves(solve, bodies[k]) && m < p->bodyFirst[bodies[k] + 1];
				 ++m) {
				if (p->position[p->bodyEntry[m]] < 0) {
					p->position[p->bodyEntry[m]] = 0;
					queue[tail++] = p->bodyEntry[m];
				}
			}
		}
	}
}

// Later neighbours of entry i, into `links` if given; returns how many. None where the island is solved directly.
static int linkEntry(const knArticulationSolve* solve, int i, knJointLink* links) {
	const struct knPreconditioner* p = solve->precondition;
	const int bodies[2] = { solve->joints[i].parent, solve->joints[i].child };
	int found[2 * WINDOW], count = 0;
	if (knJointDirect_Has(solve->direct, knSolveJoint_Island(solve, &solve->joints[i]))) {
		return 0;
	}
	for (int k = 0; k < 2; ++k) {
		int taken = 0;
		for (int m = p->bodyFirst[bodies[k]]; moves(solve, bodies[k]) && m < p->bodyFirst[bodies[k] + 1];
			 ++m) {
			const int j = p->bodyEntry[m];
			if (p->position[j] <= p->position[i]) {
				continue;
			}
			if (taken == WINDOW) {
				p->whole[knSolveJoint_Island(solve, &solve->joints[i])] = 0;
				break;
			}
			taken += 1;
			bool known = false;
			for (int f = 0; f < count; ++f) {
				known = known || found[f] == j;
			}
			if (!known) {
				found[count] = j;
				if (links != NULL) {
					links[count].later = j;
				}
				count += 1;
			}
		}
	}
	return count;
}

bool knPreconditioner_Reserve(knArticulationSolve* solve, knArena* arena) {
	const int count = solve->jointCount, bodyCount = solve->input.model->bodyCount;
	struct knPreconditioner* p = KN_SCRATCH_ZERO(arena, struct knPreconditioner, 1);
	if (p == NULL) {
		return false;
	}
	solve->precondition = p;
	p->position = KN_SCRATCH(arena, int, count);
	p->order = KN_SCRATCH(arena, int, count);
	p->first = KN_SCRATCH(arena, int, count + 1);
	p->pivot = knArena_Take(arena, sizeof(*p->pivot) * (size_t)count);
	p->bodyFirst = KN_SCRATCH(arena, int, bodyCount + 2);
	p->bodyEntry = KN_SCRATCH(arena, int, 2 * count);
	p->whole = KN_SCRATCH(arena, uint8_t, solve->islandCount);
	p->sound = KN_SCRATCH_ZERO(arena, uint8_t, solve->islandCount);
	int* queue = KN_SCRATCH(arena, int, count);
	if (arena->failed) {
		return false;
	}
	listByBody(solve, NULL, p->bodyFirst, p->bodyEntry);
	for (int k = 0; k < solve->islandCount; ++k) {
		orderIsland(solve, k, queue);
		p->whole[k] = solve->looped[k] == 0;
	}
	listByBody(solve, p->order, p->bodyFirst, p->bodyEntry);
	p->first[0] = 0;
	for (int i = 0; i < count; ++i) {
		p->first[i + 1] = p->first[i] + linkEntry(solve, i, NULL);
	}
	p->links = KN_SCRATCH(arena, knJointLink, p->first[count]);
	for (int i = 0; p->links != NULL && i < count; ++i) {
		linkEntry(solve, i, p->links + p->first[i]);
	}
	return p->links != NULL;
}

// --- numbers ---------------------------------------------------------------------------------------------

static const double* ownFactor(const knJointBlock* block) {
	return block->all > block->count ? block->whole : block->factor;
}

// K_ji of two entries over the moving bodies that they share.
static void couple(const knArticulationSolve* solve, int i, int j, double* block) {
	const int bodies[2] = { solve->joints[i].parent, solve->joints[i].child };
	memset(block, 0, sizeof(double) * KN_LINK_STRIDE * (size_t)solve->blocks[i].all);
	for (int k = 0; k < 2; ++k) {
		const int b = bodies[k];
		if (moves(solve, b) && (solve->joints[j].parent == b || solve->joints[j].child == b)) {
			knLinkKernel_Best()->couple(solve, i, j, b, block);
		}
	}
}

// The diagonal block from the entry's own factors, with their softness; a couple's is in the factors.
static void ownBlock(const knJointBlock* block, double* K) {
	knLinkKernel_Best()->multiply(ownFactor(block), block->all, K);
	for (int r = 0; r < block->count; ++r) {
		K[(KN_LINK_STRIDE + 1) * r] += block->softness[r];
	}
}

static bool factorPivot(double* pivot, int n) {
	double before[KN_BLOCK_ROWS];
	for (int k = 0; k < n; ++k) {
		before[k] = pivot[(KN_LINK_STRIDE + 1) * k];
	}
	knLinkKernel_Best()->factor(pivot, n);
	for (int k = 0; k < n; ++k) {
		const double D = pivot[(KN_LINK_STRIDE + 1) * k];
		if (D == 0.0 || !knIsFinite(D) || !(D > SOUND * before[k])) {
			return false;
		}
	}
	return true;
}

// The entry's own factors instead.
static void replacePivot(const knJointBlock* block, double* pivot) {
	const int n = block->all;
	for (int r = 0; r < n; ++r) {
		for (int c = 0; c <= r; ++c) {
			pivot[KN_LINK_STRIDE * c + r] = ownFactor(block)[n * r + c];
		}
	}
}

static knJointLink* findLink(const struct knPreconditioner* p, int earlier, int later) {
	for (int m = p->first[earlier]; m < p->first[earlier + 1]; ++m) {
		if (p->links[m].later == later) {
			return &p->links[m];
		}
	}
	return NULL;
}

// What the elimination of entry i leaves to its later neighbours.
static void eliminate(const knArticulationSolve* solve, int i) {
	const knLinkKernel* kernel = knLinkKernel_Best();
	const struct knPreconditioner* p = solve->precondition;
	const int n = solve->blocks[i].all, begin = p->first[i], end = p->first[i + 1];
	for (int m = begin; m < end; ++m) {
		knJointLink* link = &p->links[m];
		const int a = link->later, rows = solve->blocks[a].all;
		_Alignas(32) double L[KN_LINK_SIZE];
		kernel->divide(p->pivot[i], n, link->block, rows, L);
		// blocks of neighbours that come later in the list still hold K
		for (int o = m; o < end; ++o) {
			const int b = p->links[o].later, rowsB = solve->blocks[b].all;
			if (b == a) {
				kernel->subtract(p->pivot[a], L, rows, link->block, rows, n);
				continue;
			}
			const bool first = p->position[b] < p->position[a];
			knJointLink* target = first ? findLink(p, b, a) : findLink(p, a, b);
			if (target != NULL && first) {
				kernel->subtract(target->block, L, rows, p->links[o].block, rowsB, n);
			} else if (target != NULL) {
				// (L_a K_b^T)^T = K_b L_a^T
				kernel->subtract(target->block, p->links[o].block, rowsB, L, rows, n);
			}
		}
		memcpy(link->block, L, sizeof(double) * KN_LINK_STRIDE * (size_t)n);
	}
}

void knPreconditioner_Factor(knArticulationSolve* solve, int begin, int end) {
	const struct knPreconditioner* p = solve->precondition;
	uint8_t* sound = &p->sound[knSolveJoint_Island(solve, &solve->joints[p->order[begin]])];
	*sound = 1;
	for (int at = begin; at < end; ++at) {
		const int i = p->order[at];
		ownBlock(&solve->blocks[i], p->pivot[i]);
		for (int m = p->first[i]; m < p->first[i + 1]; ++m) {
			couple(solve, i, p->links[m].later, p->links[m].block);
		}
	}
	for (int at = begin; at < end; ++at) {
		const int i = p->order[at];
		if (!factorPivot(p->pivot[i], solve->blocks[i].all)) {
			*sound = 0;
			replacePivot(&solve->blocks[i], p->pivot[i]);
		}
		eliminate(solve, i);
	}
}

void knPreconditioner_Solve(const knArticulationSolve* solve, int begin, int end, struct knSettleVector* z) {
	const knLinkKernel* kernel = knLinkKernel_Best();
	const struct knPreconditioner* p = solve->precondition;
	for (int at = begin; at < end; ++at) {
		const int i = p->order[at], n = solve->blocks[i].all;
		for (int m = p->first[i]; m < p->first[i + 1]; ++m) {
			const knJointLink* link = &p->links[m];
			kernel->carry(link->block, n, solve->blocks[link->later].all, z[i].v, z[link->later].v);
		}
	}
	for (int at = end - 1; at >= begin; --at) {
		const int i = p->order[at], n = solve->blocks[i].all;
		kernel->solve(p->pivot[i], n, z[i].v);
		for (int m = p->first[i]; m < p->first[i + 1]; ++m) {
			const knJointLink* link = &p->links[m];
			for (int k = 0; k < n; ++k) {
				for (int r = 0; r < solve->blocks[link->later].all; ++r) {
					z[i].v[k] -= link->block[KN_LINK_STRIDE * k + r] * z[link->later].v[r];
				}
			}
		}
	}
}

bool knPreconditioner_IsExact(const knArticulationSolve* solve, int island) {
	return solve->precondition->whole[island] != 0 && solve->precondition->sound[island] != 0;
}
