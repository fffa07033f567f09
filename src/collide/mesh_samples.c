// Vertices and edges of a mesh against a target.
//
// The mesh's tree is walked; a node goes when the ball about it cannot come within the margin, or when that ball, moved
// along its way, does not come near the target. What is small compared with its way, and not yet near, is taken for the
// ball about it: such contacts only slow it down until it is looked at from nearer. An edge is followed
// by the slope of the distance along it: where that turns from falling to rising lies a minimum. A stretch along
// which the distance stays the same (an edge that lies on a face) has two ends, and both are contacts. Edges much
// longer than the target's features are cut into pieces first.
#include "collide/sdf_target.h"

#include "geom/sdf.h"

#define LEVEL 1e-3            // slope below which the distance counts as constant
#define PIECE_NAMES (1 << 21) // pieces of all edges, as features
#define PIECES_MOST 32        // of an edge
#define TRIES 16              // for the bottom of a piece
#define EXACT 1e-5            // pieces: so close to the least possible is the least
#define EXACT_FIELD 0.05      // of the field's tolerance, where only the field is asked
#define EXACT_AHEAD 1e-4      // the same ahead of a motion
#define ASIDE 0.01            // pieces: no closer to their ends
#define SPLITS 14             // halvings of a piece, to the end of a stretch
#define KNOWN 256             // vertices that are remembered; a power of two
#define DEPTH 128             // of the tree, as far as ways are kept; deeper nodes use those above
#define LEAVES 256            // triangles whose edges wait; those of others do not
#define FEW 7                 // nodes of a subtree, twice its triangles less one
#define ONE_END 0.02          // pieces: a shorter stretch is one point
#define AT_END 1e-3           // closer to an end of the edge its vertex stands for it
#define BALLS 8.0             // radii: what goes farther than that is one
#define BALLS_FINE 3.0        // the same for what is small compared with its mesh
#define FINE 0.03             // sizes: radius of that
#define FINE_BLOW 0.06        // the same where only a blow may bring it
#define EARLY_WAY 0.02        // of a way: so close to being near is near
#define EARLY_BALL 0.1        // of a radius
#define WAY_STEPS 12          // along a ball's way; then it counts as near
#define EXACT_SHARE 0.01      // of the target's size, as the envelopes of contacts are
#define EXACT_LIMIT 0.01      // m
#define EXACT_TOLERANCES 0.5  // of the field
#define SKEW 1e-3             // sine of the angle below which two edges are parallel

void knContactSink_Add(const knContactSink* sink, knVec3 sample, const knTouch* touch, uint64_t feature) {
	knVec3 own = knPoint(sink->frame, sample), other = knPoint(sink->frame, touch->point);
	knVec3 out = knRotate(sink->frame.q, touch->normal);
	knContactPoint point;
	point.pointA = sink->targetIsA ? other : own;
	point.pointB = sink->targetIsA ? own : other;
	point.normal = sink->targetIsA ? out : knNeg(out);
	point.separation = knDot(knSub(point.pointB, point.pointA), point.normal);
	point.feature = feature;
	knReducer_Add(sink->reducer, &point);
}

// --- gaps that say nothing -------------------------------------------------------------------------------

static bool isShut(const knContactSink* sink, const knGap* gap) {
	return sink->stops != NULL && knGapCulling_Covers(sink->stops, gap);
}

// Adds a contact unless its gap says nothing.
static void addTouch(const knContactSink* sink, knVec3 sample, const knTouch* touch, uint64_t feature) {
	knGap gap = { .center = sample, .normal = touch->normal, .separation = touch->separation };
	if (isShut(sink, &gap)) {
		return;
	}
	if (sink->stops != NULL) {
		knGapCulling_Add(sink->stops, sample, touch->normal, touch->separation);
	}
	knContactSink_Add(sink, sample, touch, feature);
}

// --- what may come near ----------------------------------------------------------------------------------

// Both turn about their centres, and the samples go along a way: where that leaves a sample as seen from the target.
static void setTurns(knSdfTarget* target, const knPairInput* in, bool isA) {
	int own = isA ? 0 : 1, other = 1 - own;
	knFrame frame = isA ? in->frameA : in->frameB;
	knQuat turn = knQuat_Exp(in->turns[own]), turnOther = knQuat_Exp(in->turns[other]);
	knVec3 center = in->centers[own], centerOther = in->centers[other];
	knQuat q = knMulQ(knConj(turn), turnOther); // of samples in the world, the target being held
	knQuat local = knMulQ(knConj(frame.q), knMulQ(q, frame.q));
	target->turn = knQuat_ToMat33(local);
	target->grow = 1.0 + knMin(2.0, knLength(in->turns[own]) + knLength(in->turns[other]));
	for (int i = 0; i < target->wayCount; ++i) {
		knVec3 way = isA ? in->ways[i] : knNeg(in->ways[i]);
		// the target's origin, if it were a sample
		knVec3 there = knAdd(knAdd(centerOther, way), knRotate(turnOther, knSub(frame.p, centerOther)));
		knVec3 held = knAdd(center, knInvRotate(turn, knSub(there, center)));
		target->ways[i] = knInvRotate(frame.q, knSub(held, frame.p));
	}
}

void knSdfTarget_SetWays(knSdfTarget* target, const knPairInput* in, bool isA) {
	bool usable = target->bound != NULL;
	target->near = usable ? in->near : target->margin;
	target->exact = INFINITY;
	if (in->looksAhead && target->mesh != NULL && usable) {
		double fine = EXACT_TOLERANCES * target->mesh->field->tolerance;
		target->exact = knMin(fine, knMin(EXACT_SHARE * target->mesh->size, EXACT_LIMIT));
		target->bound = target->boundAhead;
		target->look = target->lookAhead;
	}
	target->wayCount = usable ? in->wayCount : 0;
	if (target->wayCount > 0) {
		setTurns(target, in, isA);
	}
}

static knVec3 wayOf(const knSdfTarget* target, int way, knVec3 point) {
	return knSub(knAdd(target->ways[way], knMulMV(&target->turn, point)), point);
}

// Something that goes along the ways of a target: how far each of them takes it.
typedef struct Mover {
	knVec3 center;
	double radius;
	double bound; // at the centre
	knVec3 ways[KN_PAIR_WAYS];
	double lengths[KN_PAIR_WAYS], farthest;
} Mover;

static double measureWays(const knSdfTarget* target, knVec3 center, knVec3* ways, double* lengths) {
	double farthest = 0.0;
	for (int i = 0; i < target->wayCount; ++i) {
		ways[i] = wayOf(target, i, center);
		lengths[i] = knLength(ways[i]);
		farthest = knMax(farthest, lengths[i]);
	}
	return farthest;
}

// Follows a ball along a way in steps as long as the gap is. `bound` is that at its centre, NaN: not known.
static bool follow(const knSdfTarget* target, int way, const Mover* mover, knVec3* toward, double* gone) {
	double length = mover->lengths[way], near = target->near + target->grow * mover->radius;
	*toward = length > 0.0 ? knScale(1.0 / length, mover->ways[way]) : knZero3();
	*gone = target->starts[way] * length;
	if (target->starts[way] >= 1.0) {
		return false;
	}
	double early = knMax(EARLY_WAY * length, EARLY_BALL * mover->radius);
	for (int i = 0; i < WAY_STEPS; ++i) {
		double bound =
			*gone == 0.0 ? mover->bound : target->bound(target, knMulAdd(mover->center, *gone, *toward));
		double room = bound - near;
		if (!(room > early)) {
			return true;
		}
		*gone += room;
		if (*gone >= length) {
			return false;
		}
	}
	return true;
}

bool knSdfTarget_Follow(const knSdfTarget* target, int way, knVec3 center, double radius, double bound,
						knVec3* toward, double* gone) {
	Mover mover = { .center = center, .radius = radius, .bound = bound };
	mover.ways[way] = wayOf(target, way, center);
	mover.lengths[way] = knLength(mover.ways[way]);
	return follow(target, way, &mover, toward, gone);
}

bool knSdfTarget_MayReach(const knSdfTarget* target, knVec3 center, double radius) {
	double bound = target->bound(target, center), gap = bound - radius, gone;
	if (target->wayCount == 0 || gap < target->near) {
		return gap < target->margin;
	}
	for (int i = 0; i < target->wayCount; ++i) {
		knVec3 toward;
		if (knSdfTarget_Follow(target, i, center, radius, bound, &toward, &gone)) {
			return true;
		}
	}
	return false;
}

// How far a place may go.
static double farthestWay(const knSdfTarget* target, knVec3 point) {
	double farthest = 0.0;
	for (int i = 0; i < target->wayCount; ++i) {
		farthest = knMax(farthest, knLengthSquared(wayOf(target, i, point)));
	}
	return sqrt(farthest);
}

// Whether something of this length goes farther than that, and is not yet so near that its place must be exact.
static bool isPassing(const knSdfTarget* target, knVec3 center, double length) {
	return target->exact < INFINITY && farthestWay(target, center) > length &&
		   target->bound(target, center) - 0.5 * length >= target->exact;
}

// --- vertices --------------------------------------------------------------------------------------------

// A vertex in the target's frame, and what the target said about it: all edges that end there ask for it.
typedef struct KnownVertex {
	int vertex; // -1: none yet
	bool probed;
	knVec3 point;
	double bound; // of the distance; -INFINITY: not known
	knSeen seen;
} KnownVertex;

typedef struct Walk {
	const knMesh* mesh;
	const knSdfTarget* target;
	const knContactSink* sink;
	knFrame frame;
	knMat33 R; // of the frame
	int kind;
	KnownVertex* known; // [KNOWN] by the vertex's last digits
	int* last;          // triangle that the last probe found
} Walk;

static knVec3 placed(const Walk* walk, knVec3 local) {
	return knAdd(walk->frame.p, knMulMV(&walk->R, local));
}

static void learnVertex(const Walk* walk, int vertex, KnownVertex* known) {
	const knSdfTarget* target = walk->target;
	known->vertex = vertex;
	known->point = placed(walk, walk->mesh->vertices[vertex]);
	known->probed = target->look != NULL && target->look(target, known->point, &known->seen);
	known->bound = target->look != NULL    ? known->seen.bound
				   : target->bound != NULL ? target->bound(target, known->point)
										   : -INFINITY;
}

static inline KnownVertex* knownVertex(const Walk* walk, int vertex) {
	KnownVertex* known = &walk->known[vertex & (KNOWN - 1)];
	if (known->vertex != vertex) {
		learnVertex(walk, vertex, known);
	}
	return known;
}

static knSeen probePoint(const Walk* walk, knVec3 point) {
	knSeen seen = walk->target->probe(walk->target, point, *walk->last);
	*walk->last = seen.hit.triangle >= 0 ? seen.hit.triangle : *walk->last;
	return seen;
}

static const knSeen* probeVertex(const Walk* walk, KnownVertex* known) {
	if (!known->probed) {
		known->probed = true;
		known->seen = probePoint(walk, known->point);
	}
	return &known->seen;
}

// What a vertex touches.
static bool touchVertex(const Walk* walk, int vertex, KnownVertex* known, knTouch* touch) {
	const knSdfTarget* target = walk->target;
	bool solid = target->mesh != NULL && target->mesh->solid;
	bool exact = known->bound < target->exact;                  // else the field is good enough
	bool told = target->wayCount == 0 && target->bound != NULL; // by the bound
	if ((target->wayCount == 0 && known->bound >= target->margin) ||
		(exact && !told && !target->mayReach(target, known->point, 0.0))) {
		return false;
	}
	bool sees = solid && (known->probed || exact || target->wayCount == 0);
	const knSeen* seen = sees ? probeVertex(walk, known) : NULL;
	knVec3 facing = knMulMV(&walk->R, walk->mesh->vertexNormals[vertex]);
	return target->touch(target, known->point, facing, seen, touch);
}

static void collideVertex(const Walk* walk, int vertex) {
	KnownVertex* known = knownVertex(walk, vertex);
	knTouch touch;
	if (touchVertex(walk, vertex, known, &touch)) {
		addTouch(walk->sink, known->point, &touch, knMeshFeature(walk->kind, vertex, 0));
	}
}

// --- edges -----------------------------------------------------------------------------------------------

typedef struct Edge {
	const Walk* walk;
	int id;
	int piece;          // the present one
	knVec3 from, along; // along: the whole edge
	double length;
} Edge;

// The distance along the edge at parameter t.
typedef struct Probe {
	double t;
	double distance, slope;
	knSeen seen;
} Probe;

static double slopeOf(const Edge* edge, const knSeen* seen) {
	return knDot(seen->normal, edge->along) / edge->length;
}

static Probe probeAt(const Edge* edge, double t) {
	const Walk* walk = edge->walk;
	const knMeshEdge* e = &walk->mesh->edges[edge->id];
	bool end = t <= 0.0 || t >= 1.0;
	Probe probe = { .t = t };
	probe.seen = end ? *probeVertex(walk, knownVertex(walk, t <= 0.0 ? e->a : e->b))
					 : probePoint(walk, knMulAdd(edge->from, t, edge->along));
	probe.distance = probe.seen.distance;
	probe.slope = slopeOf(edge, &probe.seen);
	return probe;
}

// Falling, level or rising: -1, 0, 1.
static int turnOf(const Probe* probe) {
	return probe->slope < -LEVEL ? -1 : probe->slope > LEVEL;
}

static int turnAt(const Edge* edge, double t) {
	Probe probe = probeAt(edge, t);
	return turnOf(&probe);
}

// A place between two where the distance falls and rises, at which it is level or least: where the lines through both
// ends meet. That is the place itself if the edge crosses from one face to another there.
static Probe bottomOf(const Edge* edge, Probe lower, Probe upper) {
	const knSdfTarget* target = edge->walk->target;
	double share = target->exact < INFINITY ? EXACT_AHEAD : EXACT;
	double exact = share * (upper.t - lower.t) * edge->length;
	double enough = target->exact < INFINITY ? EXACT_FIELD * target->mesh->field->tolerance : 0.0;
	Probe middle = lower;
	for (int i = 0; i < TRIES; ++i) {
		double span = upper.t - lower.t, drop = (lower.distance - upper.distance) / edge->length;
		double part = (upper.slope * span + drop) / (upper.slope - lower.slope);
		part = knClamp(part, ASIDE * span, (1.0 - ASIDE) * span);
		middle = probeAt(edge, lower.t + part);
		double least = lower.distance + lower.slope * part * edge->length;
		int turn = turnOf(&middle);
		bool byField = middle.seen.hit.triangle < 0; // which is not worth more
		double error = knAbs(middle.distance - least);
		if (turn == 0 || error <= exact || (byField && error <= enough)) {
			break;
		}
		if (turn < 0) {
			lower = middle;
		} else {
			upper = middle;
		}
	}
	return middle;
}

// The place in [lower, upper] where the slope stops falling (side -1), or starts to rise (side 1).
static double endOf(const Edge* edge, double lower, double upper, int side) {
	for (int i = 0; i < SPLITS; ++i) {
		double middle = 0.5 * (lower + upper);
		int turn = turnAt(edge, middle);
		bool before = side < 0 ? turn < 0 : turn <= 0;
		lower = before ? middle : lower;
		upper = before ? upper : middle;
	}
	return 0.5 * (lower + upper);
}

// Whether the direction n across an edge lies between the normals of its two triangles: it then points away from
// both, seen along either.
static bool isBetween(knVec3 n, knVec3 left, knVec3 right, knVec3 along) {
	knVec3 axis = knCross(left, right);
	double turn = knDot(axis, along) >= 0.0 ? 1.0 : -1.0;
	return turn * knDot(knCross(left, n), along) >= 0.0 && turn * knDot(knCross(n, right), along) >= 0.0;
}

// Closest points of two lines; false if they are nearly parallel or an end is reached.
static bool crossing(knVec3 p, knVec3 d, knVec3 q, knVec3 e, double* s, double* t) {
	double dd = knDot(d, d), ee = knDot(e, e), de = knDot(d, e), det = dd * ee - de * de;
	if (!(det > SKEW * SKEW * dd * ee)) {
		return false;
	}
	knVec3 w = knSub(q, p);
	double wd = knDot(w, d), we = knDot(w, e);
	*s = (wd * ee - we * de) / det;
	*t = (wd * de - we * dd) / det;
	return *s >= 0.0 && *s <= 1.0 && *t >= 0.0 && *t <= 1.0;
}

// Normals of an edge's triangles in the target's frame.
typedef struct Sides {
	knVec3 left, right;
} Sides;

static Sides sidesOf(const Edge* edge) {
	const Walk* walk = edge->walk;
	const knMeshEdge* e = &walk->mesh->edges[edge->id];
	knVec3 left = knMulMV(&walk->R, walk->mesh->faceNormals[e->left]);
	knVec3 right = e->right >= 0 ? knMulMV(&walk->R, walk->mesh->faceNormals[e->right]) : left;
	return (Sides){ left, right };
}

// Two edges that cross: their common normal, if both can look along it, is the true one where field and faces
// would say the one or the other side of the ridge.
static bool touchEdge(const Edge* edge, const Sides* sides, const knTouch* found, knTouch* best,
					  knVec3* sample) {
	const knMesh* other = edge->walk->target->mesh;
	bool any = false;
	for (int k = 0; k < 3; ++k) {
		int id = other->triangleEdges[found->triangle][k];
		const knMeshEdge* e = &other->edges[id];
		if (!other->edgeConvex[id] || e->right < 0) {
			continue;
		}
		knVec3 q = other->vertices[e->a], d = knSub(other->vertices[e->b], q);
		knVec3 left = other->faceNormals[e->left], right = other->faceNormals[e->right];
		double s, t;
		if (!crossing(edge->from, edge->along, q, d, &s, &t)) {
			continue;
		}
		knVec3 n = knNormalize(knCross(edge->along, d));
		n = knDot(n, knAdd(left, right)) < 0.0 ? knNeg(n) : n;
		if (!isBetween(n, left, right, d) || !isBetween(knNeg(n), sides->left, sides->right, edge->along)) {
			continue;
		}
		knVec3 own = knMulAdd(edge->from, s, edge->along), on = knMulAdd(q, t, d);
		double depth = knDot(n, knSub(own, on));
		if (depth <= 0.0 && depth >= 2.0 * found->separation && (!any || depth > best->separation)) {
			*best = (knTouch){ on, n, depth, found->triangle };
			*sample = own;
			any = true;
		}
	}
	return any;
}

// `seen` is what a probe of the place found, or NULL.
static void collideAt(const Edge* edge, double t, int end, const knSeen* seen) {
	const int id = edge->piece * edge->walk->mesh->edgeCount + edge->id;
	const knSdfTarget* target = edge->walk->target;
	knVec3 point = knMulAdd(edge->from, t, edge->along);
	if (t < AT_END || t > 1.0 - AT_END) {
		return;
	}
	Sides sides = sidesOf(edge);
	knTouch touch;
	if (!target->touch(target, point, knNormalize(knAdd(sides.left, sides.right)), seen, &touch)) {
		return;
	}
	if (touch.separation < 0.0 && touch.triangle >= 0) {
		knTouch crossed;
		knVec3 sample;
		if (touchEdge(edge, &sides, &touch, &crossed, &sample)) {
			touch = crossed;
			point = sample;
		}
	}
	addTouch(edge->walk->sink, point, &touch, knMeshFeature(edge->walk->kind + 1, id, end));
}

// A piece whose slope falls at its lower end and rises at its upper one: its bottom is a point or a stretch.
static void collideHollow(const Edge* edge, const Probe* lower, const Probe* upper) {
	Probe bottom = bottomOf(edge, *lower, *upper);
	double half = 0.5 * ONE_END * (upper->t - lower->t);
	double before = knMax(lower->t, bottom.t - half), after = knMin(upper->t, bottom.t + half);
	bool level = turnOf(&bottom) == 0;
	bool levelBefore = level && turnAt(edge, before) == 0;
	bool levelAfter = level && turnAt(edge, after) == 0;
	if (!levelBefore && !levelAfter) {
		collideAt(edge, bottom.t, 0, edge->walk->target->bound != NULL ? &bottom.seen : NULL);
		return;
	}
	collideAt(edge, levelBefore ? endOf(edge, lower->t, before, -1) : before, 0, NULL);
	collideAt(edge, levelAfter ? endOf(edge, after, upper->t, 1) : after, 1, NULL);
}

// Whether a piece that falls and rises stays out of reach, if the distance is convex along it. Edges are short compared with
// the target's features, and what is seen ahead need not be sure.
static bool isShallow(const Edge* edge, const Probe* lower, const Probe* upper) {
	const knSdfTarget* target = edge->walk->target;
	if (target->exact == INFINITY || target->wayCount > 0) {
		return false;
	}
	double length = (upper->t - lower->t) * edge->length;
	double fall = knMin(0.0, lower->slope), rise = knMax(0.0, upper->slope);
	double least = knMin(lower->distance, upper->distance);
	if (fall < 0.0 && rise > 0.0) {
		double part = (rise * length + lower->distance - upper->distance) / (rise - fall);
		least = lower->distance + fall * knClamp(part, 0.0, length);
	}
	if (least >= target->margin) {
		return true;
	}
	knGap gap = { .center = knMulAdd(edge->from, 0.5 * (lower->t + upper->t), edge->along),
				  .radius = 0.5 * length,
				  .normal = lower->seen.normal,
				  .bend = knDistance(lower->seen.normal, upper->seen.normal),
				  .separation = least };
	return isShut(edge->walk->sink, &gap);
}

static void collidePiece(const Edge* edge, const Probe* lower, const Probe* upper) {
	int turnLower = turnOf(lower), turnUpper = turnOf(upper);
	if (turnLower > 0 || turnUpper < 0 || isShallow(edge, lower, upper)) {
		return;
	}
	if (turnLower < 0 && turnUpper > 0) {
		collideHollow(edge, lower, upper);
	} else if (turnLower < 0 && turnUpper == 0) {
		collideAt(edge, endOf(edge, lower->t, upper->t, -1), 0, NULL);
	} else if (turnLower == 0 && turnUpper > 0) {
		collideAt(edge, endOf(edge, lower->t, upper->t, 1), 1, NULL);
	}
}

static bool mayReach(const Edge* edge, double lower, double upper) {
	const knSdfTarget* target = edge->walk->target;
	knVec3 middle = knMulAdd(edge->from, 0.5 * (lower + upper), edge->along);
	return target->mayReach(target, middle, 0.5 * (upper - lower) * edge->length);
}

static int countPieces(const Edge* edge) {
	double wanted = edge->length / edge->walk->target->detail;
	if (wanted <= 1.0) {
		return 1;
	}
	int most = PIECE_NAMES / edge->walk->mesh->edgeCount;
	most = most < 1 ? 1 : (most > PIECES_MOST ? PIECES_MOST : most);
	return wanted >= most ? most : (int)wanted + 1;
}

// Whether an edge is too far away, or passes: vertices are enough until it is near.
static bool isOut(const Edge* edge, double boundA, double boundB) {
	const knSdfTarget* target = edge->walk->target;
	if (target->wayCount == 0 && 0.5 * (boundA + boundB - edge->length) >= target->margin) {
		return true;
	}
	if (target->exact < INFINITY && target->wayCount == 0) {
		return false; // its ends' slopes are soon known
	}
	return isPassing(target, knMulAdd(edge->from, 0.5, edge->along), edge->length) ||
		   !mayReach(edge, 0.0, 1.0);
}

// An edge that is not cut.
static void collideWhole(const Edge* edge) {
	Probe first = probeAt(edge, 0.0);
	if (turnOf(&first) > 0) {
		return; // that end is the bottom
	}
	Probe last = probeAt(edge, 1.0);
	collidePiece(edge, &first, &last);
}

static void collideEdge(const Walk* walk, int id) {
	const knMesh* mesh = walk->mesh;
	const knMeshEdge* e = &mesh->edges[id];
	const KnownVertex* end = knownVertex(walk, e->a);
	Edge edge = { .walk = walk, .id = id, .from = end->point };
	double boundA = end->bound;
	knVec3 normalA = end->probed ? end->seen.normal : knZero3();
	end = knownVertex(walk, e->b);
	edge.along = knSub(end->point, edge.from);
	edge.length = knLength(edge.along);
	int pieces = countPieces(&edge);
	if (pieces == 1 && (knDot(normalA, edge.along) > LEVEL * edge.length ||
						(end->probed && knDot(end->seen.normal, edge.along) < -LEVEL * edge.length))) {
		return; // one end is the bottom, as is known already
	}
	if (isOut(&edge, boundA, end->bound)) {
		return;
	}
	if (pieces == 1) {
		collideWhole(&edge);
		return;
	}
	Probe first = { 0 };
	bool known = false; // `first`
	for (edge.piece = 0; edge.piece < pieces; ++edge.piece) {
		double lower = (double)edge.piece / pieces, upper = (double)(edge.piece + 1) / pieces;
		if (!mayReach(&edge, lower, upper)) {
			known = false;
			continue;
		}
		first = known ? first : probeAt(&edge, lower);
		Probe last = probeAt(&edge, upper);
		collidePiece(&edge, &first, &last);
		first = last;
		known = true;
	}
}

// --- the walk --------------------------------------------------------------------------------------------

static void collideVertices(const Walk* walk, int triangle) {
	knMeshSamples samples = walk->mesh->samples[triangle];
	for (int k = 0; k < 3; ++k) {
		if (samples >> k & 1) {
			collideVertex(walk, knTriangle_Corner(&walk->mesh->triangles[triangle], k));
		}
	}
}

static void collideEdges(const Walk* walk, int triangle) {
	knMeshSamples samples = walk->mesh->samples[triangle];
	for (int k = 0; k < 3; ++k) {
		if (samples >> (3 + k) & 1) {
			collideEdge(walk, walk->mesh->triangleEdges[triangle][k]);
		}
	}
}

// All that is in a ball, as long as it is small compared with its way.
static void collideBall(const Walk* walk, int node, const Mover* ball) {
	knTouch touch;
	if (walk->target->touchBall(walk->target, ball->center, ball->radius, ball->bound, &touch)) {
		knVec3 sample = knMulAdd(ball->center, -ball->radius, touch.normal);
		addTouch(walk->sink, sample, &touch, knMeshFeature(walk->kind, node, 1));
	}
}

// The parts of a target's ways that are free for all of a node: they are for all below it, too. Balls nest in time as
// in space: at no time is anything in a node farther from its centre than the ball has grown.
typedef struct Branch {
	int skip; // node after it
	double starts[KN_PAIR_WAYS];
} Branch;

static void setStarts(knSdfTarget* target, const Branch* branch) {
	for (int i = 0; i < target->wayCount; ++i) {
		target->starts[i] = branch->starts[i];
	}
}

// Follows a node's ball along all ways; false if none brings it near.
static bool followNode(const knSdfTarget* target, const Mover* mover, Branch* branch) {
	double gap = mover->bound - mover->radius;
	if (gap < target->near) {
		return gap < target->margin;
	}
	bool any = false;
	for (int i = 0; i < target->wayCount; ++i) {
		knVec3 toward;
		double gone, length = mover->lengths[i];
		if (follow(target, i, mover, &toward, &gone)) {
			branch->starts[i] = length > 0.0 ? gone / length : 0.0;
			any = true;
		} else {
			branch->starts[i] = 1.0;
		}
	}
	return any;
}

// Whether something of this length goes farther than that, and is not yet so near that its place must be exact.
static bool passes(const knSdfTarget* target, const Mover* mover, double length) {
	return target->exact < INFINITY && mover->farthest > length &&
		   mover->bound - 0.5 * length >= target->exact;
}

// Whether a node of the tree may hold samples that touch on their ways; if not but for balls, that is done with here.
static bool isWorth(const Walk* walk, int index, Branch* branch, bool* passing) {
	const knSdfTarget* target = walk->target;
	const knBvhNode* node = &walk->mesh->tree.nodes[index];
	Mover mover = { .center = placed(walk, knAabb_Center(node->box)),
					.radius = walk->mesh->nodeRadii[index] };
	mover.bound = target->bound(target, mover.center);
	mover.farthest = measureWays(target, mover.center, mover.ways, mover.lengths);
	*passing = false;
	bool fine = mover.radius < (target->wayCount > 1 ? FINE_BLOW : FINE) * walk->mesh->size;
	if (passes(target, &mover, (fine ? BALLS_FINE : BALLS) * mover.radius)) {
		collideBall(walk, index, &mover);
		return false;
	}
	// a few triangles are not worth following
	*passing = node->skip - index <= FEW && passes(target, &mover, 2.0 * mover.radius);
	return *passing || followNode(target, &mover, branch);
}

// --- both sides ------------------------------------------------------------------------------------------

// A triangle whose edges wait until all vertices are known, and its part of the ways.
typedef struct Leaf {
	int triangle;
	Branch branch;
} Leaf;

typedef struct Side {
	Walk walk;
	knSdfTarget target; // its starts are those of the present node
	bool waits;         // edges come after all vertices
	int last;           // triangle that the last probe found
	KnownVertex known[KNOWN];
	int leafCount;
	Leaf leaves[LEAVES];
} Side;

static void beginSide(Side* side, const knSamples* samples, bool waits) {
	side->target = *samples->target;
	side->waits = waits;
	side->last = -1;
	side->leafCount = 0;
	for (int i = 0; i < KNOWN; ++i) {
		side->known[i].vertex = -1;
	}
	side->walk =
		(Walk){ samples->mesh, &side->target, samples->sink, samples->frame, knQuat_ToMat33(samples->frame.q),
				samples->kind, side->known,   &side->last };
}

static void meetTriangle(Side* side, int triangle, const Branch* branch, bool edges) {
	setStarts(&side->target, branch);
	collideVertices(&side->walk, triangle);
	if (edges && side->waits && side->leafCount < LEAVES) {
		side->leaves[side->leafCount++] = (Leaf){ triangle, *branch };
	} else if (edges) {
		collideEdges(&side->walk, triangle);
	}
}

// Vertices, and edges that need not wait; nothing moves far.
static void walkTree(Side* side) {
	const Walk* walk = &side->walk;
	const knSdfTarget* target = &side->target;
	const knBvhNode* nodes = walk->mesh->tree.nodes;
	const knReducer* reducer = walk->sink->reducer;
	const Branch none = { 0 };
	int few = target->bound != NULL ? FEW : 0; // what few triangles hold is as soon looked at
	for (int i = 0, count = walk->mesh->tree.nodeCount; i < count && !knReducer_IsDone(reducer);) {
		const knBvhNode* node = &nodes[i];
		if (node->skip - i > few &&
			!target->mayReach(target, placed(walk, knAabb_Center(node->box)), walk->mesh->nodeRadii[i])) {
			i = node->skip;
			continue;
		}
		if (node->item >= 0) {
			meetTriangle(side, node->item, &none, !target->flat);
		}
		i += 1;
	}
}

// The same along ways.
static void followTree(Side* side) {
	const Walk* walk = &side->walk;
	const knBvh* tree = &walk->mesh->tree;
	const knReducer* reducer = walk->sink->reducer;
	knSdfTarget* target = &side->target;
	Branch branches[DEPTH]; // those above the present node
	int depth = 1;
	branches[0] = (Branch){ .skip = tree->nodeCount };
	for (int i = 0; i < tree->nodeCount && !knReducer_IsDone(reducer);) {
		const knBvhNode* node = &tree->nodes[i];
		while (branches[depth - 1].skip <= i) {
			depth -= 1;
		}
		Branch branch = branches[depth - 1];
		bool passing;
		setStarts(target, &branch);
		if (!isWorth(walk, i, &branch, &passing)) {
			i = node->skip;
			continue;
		}
		branch.skip = node->skip;
		if (node->skip - i <= FEW) {
			for (; i < branch.skip; ++i) {
				if (tree->nodes[i].item >= 0) {
					meetTriangle(side, tree->nodes[i].item, &branch, !passing && !target->flat);
				}
			}
			continue;
		}
		if (depth < DEPTH) {
			branches[depth++] = branch;
		}
		i += 1;
	}
}

static void walkEdges(Side* side) {
	for (int i = 0; i < side->leafCount && !knReducer_IsDone(side->walk.sink->reducer); ++i) {
		setStarts(&side->target, &side->leaves[i].branch);
		collideEdges(&side->walk, side->leaves[i].triangle);
	}
}

void knMeshSamples_Collide(const knSamples* samples, int count) {
	Side sides[2];
	knGapCulling* stops = samples[0].sink->stops;
	bool waits = stops != NULL && stops->rule.tilt < INFINITY;
	for (int k = 0; k < count; ++k) {
		beginSide(&sides[k], &samples[k], waits);
		if (k > 0 && waits) {
			knGapCulling_Turn(stops, samples[k].frame);
		}
		if (sides[k].target.wayCount == 0) {
			walkTree(&sides[k]);
		} else {
			followTree(&sides[k]);
		}
	}
	for (int k = 0; k < count && waits; ++k) {
		if (count > 1) {
			knGapCulling_Turn(stops, samples[k].frame);
		}
		walkEdges(&sides[k]);
	}
}
