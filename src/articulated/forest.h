// All dynamic bodies of a world as one forest in joint coordinates, and linear systems over it.
//
// Links are bodies, parents before children; each hangs on its parent body (a link, or a body that does not move or is
// scripted) by the joint that spans it, or on the world by a free joint. Everything is made anew for a step from the
// model and the state, in an arena. Loop joints (those that are not part of the forest) are listed beside it.
//
//   q, v    coordinates of all links in their order; v as in knuckle/articulated.h
//   x       a link's centre of mass, to which all motions and forces of a link refer; world axes
//   c       x less the joint's origin
//
// Linear systems (knForestSystem) have a 6 x 6 block a link, need not be symmetric, and are eliminated from the leaves to
// the roots without fill, as articulated inertias are (Featherstone 2008, chapter 7). For links i with parent p:
//
//   motion   dX_i = shift(dX_p, end arm) + S_i y_i                   y: what the joints do
//   force    F_i = A_i dX_i - push_i + sum over children of shift(F, mean arm)   what link i asks of its joint
//   joint    R_i . F_i + G_i . turn_i + B_i y_i = tau_i                  for every coordinate
//
// With R = S, equal arms, G = 0 and A the links' inertias this is the equation H y = tau + J^T push; the implicit step has
// the mean of start and end in R and the mean arms, the end in S and the end arms. `pull` makes the force between links
// turn with them: what a change of the mean arms does to F.
#pragma once

#include "articulated/spanning.h"
#include "articulated/tree.h"
#include "model/state.h"

typedef struct knForestLink {
	int body, parentBody;
	int parent;    // link, -1: the parent body is none
	int joint;     // of the model, -1: a floating root
	bool reversed; // the body is that joint's parent: coordinates run the other way
	bool alone;    // a floating root without children
	bool steady;   // turns by exp, not cay: alone, or a single link whose joint turns it about its centre
	knJointKind kind;
	int nq, nv, qOffset, vOffset, bOffset;
	knFrame inParent,
		fromJoint; // the joint's frame on the parent body; the body's seen from the joint's child frame
} knForestLink;

typedef struct knForest {
	const knModel* model;
	int count, nq, nv;
	int bCount; // numbers in all links' B: sum of nv squared
	knForestLink* links;
	int* linkOf; // [bodyCount] -1: no link
	int* loops;  // joints that act but are not part of the forest; those made at run time too (state's index)
	int loopCount;
} knForest;

// The link's velocity coordinate that belongs to an axis of its joint as authored.
static inline int knForest_CoordinateOf(const knForestLink* link, int axis) {
	return link->reversed && link->kind == KN_JOINT_UNIVERSAL ? 1 - axis : axis;
}

// `loop` [jointCount], may be NULL: joints that may not be part of the forest although they act. False: no memory.
bool knForest_Build(knForest* forest, const knModel* model, const knState* state, const bool* loop,
					knArena* arena);

// The link's coordinates from the poses of its body and its parent's; q holds earlier ones, from which turns count on.
void knForest_ReadLink(const knForest* forest, int link, const knFrame* poses, double* q);
void knForest_NeutralLink(const knForest* forest, int link, double* q);
// Poses [bodyCount] of all links; those of other bodies are read.
void knForest_Place(const knForest* forest, const double* q, knFrame* poses);
// q moved by y over all links.
void knForest_Advance(const knForest* forest, double* q, const double* y, double scale);

// Columns of S [nv] of all links at their centres, world axes, and c [count].
void knForest_Columns(const knForest* forest, const double* q, const knFrame* poses, knTreeMotion* columns,
					  knLanes* c);
// Velocities [bodyCount] of centres of mass from v; those of bodies that are no links are read.
void knForest_Velocities(const knForest* forest, const knTreeMotion* columns, const knFrame* poses,
						 const double* v, knTwist* velocities);

// --- linear systems --------------------------------------------------------------------------------------

// Of (moment, force) by (turn, displacement).
typedef struct knForestBlock {
	knLanes33 aa, al, la, ll;
} knForestBlock;

// What two links do to each other outside the trees: block[0] is the force that link[0] asks for by the motion of link[1],
// block[1] the other way round.
typedef struct knForestPair {
	int link[2], next[2]; // next: the links' next pairs
	knForestBlock block[2];
} knForestPair;

// One coordinate of an eliminated link and one link that was coupled to it.
typedef struct knForestEnd {
	knTreeForce u;
	knTreeMotion w;
} knForestEnd;

// All pairs of a system, those of rows first; others arise in its elimination. A place is twice a pair's index plus the block.
typedef struct knForestCouplings {
	const knForest* forest;
	knArena* arena;
	knForestPair* pairs;
	int pairCount, pairCapacity;
	int rowPairs;   // of them of rows
	int* firstPair; // [count] of a link

	// knForestCouplings_Plan: elimination, step by step
	bool planned;
	int* order;                            // [count] the link
	int* withParent;                       // [count] the pair with its parent; -1: none
	int* firstEnd;                         // [count + 1] into the links coupled to it, its parent left out:
	int *endLink, *endPlace, *parentPlace; // the link, its block's place, that of the parent's block
	int *firstNumber, *joinPlace; // [count + 1] into ends; places of blocks among the links coupled to it
	int* firstJoin;               // [count + 1] into joinPlace
	knForestEnd* ends;
} knForestCouplings;

typedef struct knForestSystem {
	const knForest* forest;
	// in
	knForestBlock* block;      // [count] A; overwritten by knForestSystem_Factor
	const knTreeMotion* S;     // [nv]
	const knTreeForce* R;      // [nv]: n multiplies moments, f forces
	const knLanes* G;          // [nv]; NULL: none
	const double* B;           // [bCount] row-major, nv x nv of each link; NULL: none
	const knLanes *end, *mean; // [count] arms, from the parent's centre to the link's; of roots not read
	const knLanes* pull;       // [count] force on each link through its joint; NULL: none
	// knForestSystem_Factor
	knTreeForce* U;  // [nv] shifted to the parent
	knTreeMotion* W; // [nv] the same, a row over the parent's motion
	double* D;       // [bCount] inverses
	// room of knForestSystem_Solve
	knTreeForce* gathered; // [count]

	knForestCouplings* couplings; // NULL: none
} knForestSystem;

// Room for what the system's functions write; the caller sets what is `in`. False: no memory.
bool knForestSystem_Make(knForestSystem* system, const knForest* forest, knArena* arena);
// Room for couplings, as many as expected; more is taken from the arena. False: no memory.
bool knForestCouplings_Make(knForestCouplings* couplings, const knForest* forest, int pairCapacity,
							knArena* arena);
// No pairs, no plan.
void knForestCouplings_Forget(knForestCouplings* couplings);
// Numbers become zero; to be called before blocks are written anew.
void knForestCouplings_Clear(knForestCouplings* couplings);
// The pair of two different links, made where there is none yet; valid until the next one. NULL: no memory.
knForestPair* knForestCouplings_Couple(knForestCouplings* couplings, int a, int b);
// Of the pattern, where it has changed. False: no memory.
bool knForestCouplings_Plan(knForestCouplings* couplings);
// False if a joint's matrix is singular, or without memory for what couplings leave.
bool knForestSystem_Factor(knForestSystem* system);
// y [nv] and the links' motions. `push` [count], `tau` [nv]; NULL: none.
void knForestSystem_Solve(const knForestSystem* system, const knTreeForce* push, const double* tau, double* y,
						  knTreeMotion* motions);
// What unit forces on each link do to its own motion, [36 count] row-major 6 x 6, (moment, force) by (turn, displacement):
// J H^-1 J^T, of the links that are `wanted` [count], parents of wanted ones among them; NULL: all. Only of symmetric systems,
// after knForestSystem_Factor.
void knForestSystem_Mobilities(const knForestSystem* system, const bool* wanted, double* mobilities);
