// Projected Gauss-Seidel over contacts, four at a time (Erleben 2007, section 3, matrix-free).
//
// A contact point has three rows that share two blocks: normal n (lambda >= 0) and friction t1, t2 (bounded by
// mu lambda_n). Points of one pair of blocks form a chunk of at most four. Chunks that share no free block may
// be solved at once; they get the same colour. A pack is four chunks of a colour, one a lane: it reads the
// velocities of its eight blocks once, passes over its points, and writes them back. Colours, packs and lanes
// follow from the order of the chunks alone, so results know neither threads nor vector widths.
//
// Stages divide a set: a stage is solved on its own, and a block may be free in one stage and frozen in
// others, where it keeps its velocity. Shock propagation makes a stage of each layer.
#pragma once

#include "core/arena.h"
#include "core/simd.h"
#include "solve/direct_rows.h"
#include "solve/rows.h"

enum { KN_CHUNK_POINTS = 4 };

// Three rows of one contact point. The solver reads all, and writes lambda and rolling.
// Vectors stand with one number each, so that packs are filled four numbers at a time.
typedef struct knSweepPoint {
	knVec3 n;     // n, t1, t2: unit, right-handed; n from block a to block b, J_n u > 0 separating
	double depth; // m, for corrections: separation, negative when overlapping
	knVec3 rA;    // rA, rB: from the blocks' centres to the point
	double bias;  // added to J_n u
	knVec3 rB;
	double mu; // friction
	knVec3 t1;
	double arm; // m, of rolling resistance: three more rows, moments across and along n; 0: none
	knVec3 t2;
	double lambda[3]; // N s, in: warm start, out: solution
	knVec3 rolling;   // N m s on b, the same
} knSweepPoint;

typedef struct knSweepChunk {
	int32_t a, b;         // blocks
	int32_t first, count; // its points
	int32_t stage;
} knSweepChunk;

typedef enum knSweepFriction {
	KN_SWEEP_CONE, // |lambda_t| <= mu lambda_n
	KN_SWEEP_BOX,  // each tangent by itself
} knSweepFriction;

// Inverse masses of the blocks. A frozen block counts as infinitely heavy.
typedef struct knSweepBlocks {
	int count;
	const double* invMass;     // 0: immovable
	const knMat33* invInertia; // world axes
	const int32_t* freeStage;  // [count] the only stage in which a block is free; NULL: free in all
} knSweepBlocks;

// --- packs -----------------------------------------------------------------------------------------------

// One point of each lane. Lanes without one are zero and stay so. Two rows of four fill a line of the cache: what plain
// sweeps over velocities do not read stands by itself.
typedef struct knPackPoint {
	double n[3][KN_LANES], rA[3][KN_LANES], rB[3][KN_LANES];
	double invD[KN_LANES];  // of the normal row
	double depth[KN_LANES]; // corrections: separation
	double push[KN_LANES];  // corrections: multiplier, kg m
	double t1[3][KN_LANES], t2[3][KN_LANES];
	double A1[KN_LANES], A2[KN_LANES]; // n with t1, n with t2
	double invD1[KN_LANES];            // cone: both 1/(max D + |A12|), and A12 zero
	double bias[KN_LANES], mu[KN_LANES];
	double lambda[3][KN_LANES];
	double A12[KN_LANES]; // t1 with t2 (box)
	double invD2[KN_LANES];
} knPackPoint;

// Rolling rows of a pack's points, in an array of their own: few scenes have them.
typedef struct knPackRolling {
	double arm[KN_LANES];
	double invD[KN_LANES]; // 1 / a bound of the largest eigenvalue of the three rows' matrix
	double lambda[3][KN_LANES];
} knPackRolling;

// How a point's impulses have changed, over sweeps (sweep_momentum.h).
typedef struct knPackMomentum {
	double before[3][KN_LANES], direction[3][KN_LANES];
} knPackMomentum;

typedef struct knPack {
	double imA[KN_LANES], imB[KN_LANES]; // zero for frozen blocks and empty lanes
	double IA[6][KN_LANES], IB[6][KN_LANES];
	int32_t a[KN_LANES], b[KN_LANES]; // empty lanes name block 0
	int32_t chunk[KN_LANES];          // -1: empty
	int32_t first, count;             // points
	uint32_t freeA, freeB;            // bit i: the block of lane i moves
} knPack;

typedef struct knSweepColour {
	int32_t first, count; // packs
	bool serial;          // packs that share blocks: more colours were needed than there are
} knSweepColour;

typedef struct knSweepStage {
	int32_t firstColour, colourCount;
} knSweepStage;

// Rows of other kinds (joints), stage by stage, visited before the contacts.
typedef struct knSweepRows {
	knRows* rows;
	int32_t* order;       // indices of rows
	int32_t* first;       // [stageCount + 1] into order
	knDirectRows* direct; // rows that are solved at once, of all stages; NULL: none
	int directStage;      // the stage in which that is done
} knSweepRows;

// Everything lives in the arena that knSweepSet_Build was given.
typedef struct knSweepSet {
	knSweepFriction friction;
	const knSweepChunk* chunks;
	knPack* packs;
	int packCount;
	knPackPoint* points;
	int pointCount;
	knPackRolling* rolling;      // [pointCount] or NULL
	int32_t (*source)[KN_LANES]; // [pointCount] of a lane's point; -1: none
	knSweepColour* colours;
	int colourCount;
	knSweepStage* stages;
	int stageCount;
	double* theta;      // [packCount] scratch
	knSweepRows joints; // may be empty; the caller sets it
} knSweepSet;

// Colours the chunks, fills packs from the points. Chunks of stage -1 are left out. False: no memory.
bool knSweepSet_Build(knSweepSet* set, const knSweepChunk* chunks, int chunkCount, int stageCount,
					  const knSweepPoint* points, const knSweepBlocks* blocks, knSweepFriction friction,
					  const knTasks* tasks, knArena* arena);
// Takes the points and masses of one stage anew; chunks and what moves are as they were.
void knSweepSet_Reload(knSweepSet* set, int stage, const knSweepPoint* points, const knSweepBlocks* blocks,
					   const knTasks* tasks);
// Rows by stages: that of a row is stageOf [blockCount] of its first block that has one. Rows of `direct` (which may be
// NULL) are solved at once in `directStage`, the others are swept. False: no memory.
bool knSweepRows_Build(knSweepRows* result, knRows* rows, const int32_t* stageOf, int stageCount,
					   knDirectRows* direct, int directStage, knArena* arena);
// Writes lambda and rolling back to the points.
void knSweepSet_Store(const knSweepSet* set, const knTasks* tasks, knSweepPoint* points);
// Takes the points' depths for a correction.
void knSweepSet_LoadDepths(knSweepSet* set, const knTasks* tasks, const knSweepPoint* points);

// Momenta of a range of packs.
typedef struct knMomentumPacks {
	int firstPack, firstPoint;
	knPackMomentum* points;       // [points]
	knPackMomentum* rolling;      // [points], of rolling rows; NULL: none
	double (*square)[KN_LANES];   // [packs] |g|^2
	int32_t (*groupOf)[KN_LANES]; // [packs] -1: an empty lane
	const double* groupBeta;      // [groups]
} knMomentumPacks;

// What a pass over packs does for their momenta, point by point: one of the first three before the visit, or none, and the last
// after it.
typedef enum knMomentumPass {
	KN_MOMENTUM_BEGIN = 1,  // keeps the impulses; there is no direction yet
	KN_MOMENTUM_KEEP = 2,   // keeps the impulses
	KN_MOMENTUM_GO_ON = 4,  // goes on from them
	KN_MOMENTUM_SQUARE = 8, // squares what has changed since
} knMomentumPass;

// --- solving ---------------------------------------------------------------------------------------------

// Called after every sweep with the merit of the stage.
typedef void knSweepFn(int sweep, double theta, void* context);

typedef struct knSweepMomentum knSweepMomentum;

typedef struct knSweepOptions {
	int sweeps;
	knSweepMomentum*
		momentum;     // of this stage alone: sweeps go on in the direction of those before; may be NULL
	int leastSweeps;  // with momentum: after so many, stop when a sweep's |g|^2 is below `settled` in every
	double settled;   // group, m2/s2 of its mass; 0: never;
	double relative;  // or below that share of what the first sweep changed
	double gamma;     // constraint force mixing of contact rows, falling to zero over the sweeps
	double omega;     // relaxation; 1: Gauss-Seidel
	bool jacobi;      // all rows from the velocities at the start of the sweep
	double stopTheta; // stop when the merit is below; 0: never
	double stopStall; // stop when it fell by less than this share over five sweeps; 0: never
	bool unscaled;    // merit of plain rows, impulses and velocities mixed as they are
	knSweepFn* fn;    // may be NULL
	void* context;
	const knTasks* tasks;
	knTwist* copy;  // jacobi: room for the velocities
	int blockCount; // jacobi
} knSweepOptions;

// Applies the contacts' impulses of all stages to u: the warm start.
void knSweep_Apply(const knSweepSet* set, const knTasks* tasks, knTwist* u);
// Runs sweeps over one stage; returns how many.
int knSweep_Velocities(knSweepSet* set, int stage, const knSweepOptions* options, knTwist* u);
// One plain pass over a stage, of a sweep that passes over all stages several times, with what it has to do for the momenta
// (knSweepMomentum_FirstPass; KN_MOMENTUM_SQUARE in the last). Not for stages with joints.
void knSweep_Pass(const knSweepSet* set, int stage, const knMomentumPacks* momenta, int pass,
				  const knTasks* tasks, knTwist* u);
// Normal rows and depths alone: displacements p that leave no overlap (projection error correction). The bias of
// the joints' rows is their error.
void knSweep_Correct(knSweepSet* set, int stage, int sweeps, const knTasks* tasks, const knSweepRows* joints,
					 knTwist* p);
// Merit theta = 1/2 sum H^2 of a stage at u.
double knSweep_Merit(const knSweepSet* set, int stage, bool unscaled, const knTasks* tasks, const knTwist* u);

// --- kernels ---------------------------------------------------------------------------------------------

// How a sweep over packs is done; relaxations that differ from plain Gauss-Seidel with a cone are `general`.
typedef struct knPackOptions {
	knSweepFriction friction;
	double gamma, omega;
	bool general;
	bool unscaled; // merit
} knPackOptions;

// One table for each kind of vectors that this build has; all give the same bits.
typedef struct knSweepKernel {
	const char* name;
	// Takes the points of packs from their sources.
	void (*load)(const knSweepSet* set, const knSweepPoint* points, int begin, int end);
	// Diagonals and cross terms of packs whose points and masses are set.
	void (*prepare)(const knSweepSet* set, int begin, int end);
	void (*apply)(const knSweepSet* set, int begin, int end, knTwist* u);
	// Velocities are read from `from`, changes written to `to` (the same array but for Jacobi's method).
	void (*velocities)(const knSweepSet* set, int begin, int end, const knPackOptions* options,
					   const knTwist* from, knTwist* to);
	void (*correct)(const knSweepSet* set, int begin, int end, knTwist* p);
	void (*merit)(const knSweepSet* set, int begin, int end, const knPackOptions* options, const knTwist* u,
				  double* theta);
	// A pass of Gauss-Seidel with momenta; pass: sum of knMomentumPass.
	void (*velocitiesInPass)(const knSweepSet* set, int begin, int end, const knPackOptions* options,
							 const knMomentumPacks* momenta, int pass, knTwist* u);
} knSweepKernel;

extern const knSweepKernel knSweepKernelScalar;
extern const knSweepKernel knSweepKernelWide;
extern const knSweepKernel knSweepKernelAvx, knSweepKernelAvx512; // where KN_AVX_KERNEL is defined
// Those that this machine can run, the fastest first, the scalar twin last; NULL: no more.
const knSweepKernel* knSweepKernel_At(int index);
// The fastest.
const knSweepKernel* knSweepKernel_Best(void);
