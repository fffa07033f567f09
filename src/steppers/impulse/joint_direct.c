// Assembling and solving over bodies: see joint_direct.h.
#include "steppers/impulse/joint_direct.h"

#include <string.h>

#include "steppers/impulse/joint_lanes.h"

#define DENSEST 64 // block products a body: beyond it the matrix counts as dense

// --- pattern ---------------------------------------------------------------------------------------------

static bool moves(const knArticulationSolve* solve, int body) {
	return solve->invMass[body] > 0.0;
}

static bool buildIsland(knJointDirect* direct, const knArticulationSolve* solve, int island, int* bodies,
						knBodyEdge* edges, knArena* arena) {
	int bodyCount = 0, edgeCount = 0;
	for (int n = solve->islandBegin[island]; n < solve->islandBegin[island + 1]; ++n) {
		const knSolveJoint* entry = &solve->joints[solve->islandJoint[n]];
		const int both[2] = { entry->parent, entry->child };
		for (int k = 0; k < 2; ++k) {
			if (moves(solve, both[k]) && direct->stepOf[both[k]] < 0) {
				direct->stepOf[both[k]] = bodyCount;
				bodies[bodyCount++] = both[k];
			}
		}
		if (moves(solve, both[0]) && moves(solve, both[1])) {
			edges[edgeCount++] = (knBodyEdge){ both[0], both[1] };
		}
	}
	knBodyMatrix* matrix = &direct->matrices[island];
	if (!knBodyMatrix_Build(matrix, bodies, bodyCount, edges, edgeCount, direct->stepOf, arena)) {
		return false;
	}
	if (matrix->products > (int64_t)DENSEST * bodyCount) {
		matrix->count = 0;
		for (int i = 0; i < bodyCount; ++i) {
			direct->stepOf[bodies[i]] = -1;
		}
		return true;
	}
	for (int n = solve->islandBegin[island]; n < solve->islandBegin[island + 1]; ++n) {
		const int i = solve->islandJoint[n], a = solve->joints[i].parent, b = solve->joints[i].child;
		direct->blockOf[i] = knBodyMatrix_BlockOf(matrix, direct->stepOf[a], direct->stepOf[b]);
	}
	return true;
}

bool knJointDirect_Build(knJointDirect* direct, const knArticulationSolve* solve, const uint8_t* wanted,
						 knArena* arena) {
	const int bodyCount = solve->input.model->bodyCount;
	direct->matrices = KN_SCRATCH_ZERO(arena, knBodyMatrix, solve->islandCount);
	direct->firstOf = KN_SCRATCH_ZERO(arena, int, solve->islandCount);
	direct->blockOf = KN_SCRATCH(arena, int, solve->jointCount);
	direct->stepOf = KN_SCRATCH(arena, int, bodyCount);
	direct->x = KN_SCRATCH(arena, double, 6 * bodyCount);
	int* bodies = KN_SCRATCH(arena, int, bodyCount);
	knBodyEdge* edges = KN_SCRATCH(arena, knBodyEdge, solve->jointCount);
	if (arena->failed) {
		return false;
	}
	for (int b = 0; b < bodyCount; ++b) {
		direct->stepOf[b] = -1;
	}
	for (int k = 0, first = 0; k < solve->islandCount; ++k) {
		if (wanted[k] != 0 && !buildIsland(direct, solve, k, bodies, edges, arena)) {
			return false;
		}
		direct->firstOf[k] = first;
		first += 6 * direct->matrices[k].count;
	}
	return true;
}

bool knJointDirect_Has(const knJointDirect* direct, int island) {
	return direct->matrices != NULL && direct->matrices[island].count > 0;
}

// --- assembling ------------------------------------------------------------------------------------------

static void write(double* out, double sign, knVec3 moment, knVec3 force) {
	out[0] = sign * moment.x;
	out[1] = sign * moment.y;
	out[2] = sign * moment.z;
	out[3] = sign * force.x;
	out[4] = sign * force.y;
	out[5] = sign * force.z;
}

knBodyRow knBodyRow_Make(const knArticulationSolve* solve, int entry, knTwist wrench) {
	const knSolveJoint* joint = &solve->joints[entry];
	const knJointBlock* block = &solve->blocks[entry];
	knBodyRow row = { { 0.0 }, { 0.0 } };
	if (moves(solve, joint->parent)) {
		write(row.a, -1.0, knAdd(wrench.ang, knCross(block->rP, wrench.lin)), wrench.lin);
	}
	if (moves(solve, joint->child)) {
		write(row.b, 1.0, knAdd(wrench.ang, knCross(block->rC, wrench.lin)), wrench.lin);
	}
	return row;
}

void knBodyRow_MakeAll(const knArticulationSolve* solve, int entry, knBodyRow rows[KN_BLOCK_ROWS]) {
	const knSolveJoint* joint = &solve->joints[entry];
	const knJointBlock* block = &solve->blocks[entry];
	knJointKernel_Best()->spreadRows(block, rows);
	for (int k = 0; k < block->all && !moves(solve, joint->parent); ++k) {
		memset(rows[k].a, 0, sizeof(rows[k].a));
	}
	for (int k = 0; k < block->all && !moves(solve, joint->child); ++k) {
		memset(rows[k].b, 0, sizeof(rows[k].b));
	}
}

void knBodyMatrix_Begin(knBodyMatrix* matrix, const knArticulationSolve* solve) {
	const knModel* model = solve->input.model;
	knBodyMatrix_Clear(matrix);
	for (int s = 0; s < matrix->count; ++s) {
		const int body = matrix->bodies[s];
		double* block = matrix->diagonal + (ptrdiff_t)36 * s;
		const knMat33* inertia = &solve->inertia[body];
		const knVec3 columns[3] = { inertia->cx, inertia->cy, inertia->cz };
		for (int c = 0; c < 3; ++c) {
			block[6 * c] = columns[c].x;
			block[6 * c + 1] = columns[c].y;
			block[6 * c + 2] = columns[c].z;
			block[7 * (3 + c)] = model->mass[body];
		}
	}
}

// --- joints alone ----------------------------------------------------------------------------------------

bool knJointDirect_Factor(knJointDirect* direct, const knSettleIsland* island) {
	const knArticulationSolve* solve = island->solve;
	knBodyMatrix* matrix = &direct->matrices[island->index];
	knBodyMatrix_Begin(matrix, solve);
	for (int n = 0; n < island->count; ++n) {
		const int i = island->entries[n];
		const knJointBlock* block = &solve->blocks[i];
		const knSolveJoint* entry = &solve->joints[i];
		const knBodyPlace place = knBodyPlace_At(matrix, direct->stepOf[entry->parent],
												 direct->stepOf[entry->child], direct->blockOf[i]);
		knBodyRow rows[KN_BLOCK_ROWS];
		const knBodyRow* each[KN_BLOCK_ROWS];
		double weights[KN_BLOCK_ROWS];
		knBodyRow_MakeAll(solve, i, rows);
		for (int k = 0; k < block->all; ++k) {
			each[k] = &rows[k];
			weights[k] = 1.0 / block->softness[k];
		}
		knBodyPlace_AddRows(&place, each, weights, block->all);
	}
	return knBodyMatrix_Factor(matrix);
}

// Adds a wrench at the joint's point to the forces on a body's centre.
static void addWrench(double* x, int step, knVec3 arm, double sign, knTwist wrench) {
	if (step < 0) {
		return;
	}
	knVec3 moment = knAdd(wrench.ang, knCross(arm, wrench.lin));
	double* to = x + 6 * (ptrdiff_t)step;
	to[0] += sign * moment.x;
	to[1] += sign * moment.y;
	to[2] += sign * moment.z;
	to[3] += sign * wrench.lin.x;
	to[4] += sign * wrench.lin.y;
	to[5] += sign * wrench.lin.z;
}

// The velocity of a body at the joint's point.
static knTwist velocityAt(const double* x, int step, knVec3 arm) {
	if (step < 0) {
		return knZeroTwist();
	}
	const double* v = x + 6 * (ptrdiff_t)step;
	knVec3 spin = knV3(v[0], v[1], v[2]);
	return knMakeTwist(spin, knAdd(knV3(v[3], v[4], v[5]), knCross(spin, arm)));
}

void knJointDirect_Solve(const knJointDirect* direct, const knSettleIsland* island) {
	knArticulationSolve* solve = island->solve;
	const knBodyMatrix* matrix = &direct->matrices[island->index];
	double* x = direct->x + direct->firstOf[island->index];
	memset(x, 0, sizeof(double) * 6 * (size_t)matrix->count);
	for (int n = 0; n < island->count; ++n) {
		const int i = island->entries[n];
		const knJointBlock* block = &solve->blocks[i];
		knTwist wrench = knZeroTwist();
		for (int k = 0; k < block->all; ++k) {
			wrench = knMulAddT(wrench, solve->settle[1][i].v[k] / block->softness[k], block->rows[k]);
		}
		addWrench(x, direct->stepOf[solve->joints[i].parent], block->rP, -1.0, wrench);
		addWrench(x, direct->stepOf[solve->joints[i].child], block->rC, 1.0, wrench);
	}
	knBodyMatrix_Solve(matrix, x);
	for (int n = 0; n < island->count; ++n) {
		const int i = island->entries[n];
		const knJointBlock* block = &solve->blocks[i];
		knTwist rate = knSubT(velocityAt(x, direct->stepOf[solve->joints[i].child], block->rC),
							  velocityAt(x, direct->stepOf[solve->joints[i].parent], block->rP));
		for (int k = 0; k < block->all; ++k) {
			solve->settle[0][i].v[k] =
				(solve->settle[1][i].v[k] - knDotT(block->rows[k], rate)) / block->softness[k];
		}
	}
}
