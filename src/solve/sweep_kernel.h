// The kernels of sweep.h, written once on four lanes and compiled once for each kind of vectors (sweep_wide.c,
// sweep_scalar.c). With u the velocities and D = J W J^T of a row:
//
//   normal     lambda_n <- max(0, lambda_n - w_n / D_n)               w = J u + bias
//   friction   w_t grows by what the normal row just changed (A1, A2); then either
//     cone     both tangents at once, lambda_t <- lambda_t - w_t / (max D_t + |A12|), scaled back to mu lambda_n
//     box      one after the other, each clamped to +-mu lambda_n
//   u          changes by W J^T (change of lambda) after each point
//
// The local cross terms make the three rows behave as if visited one by one.
#pragma once

#include <stddef.h>

#include "solve/sweep.h"

// Four pairs of blocks while their points are visited.
typedef struct Lanes {
	const knPack* pack;
	knWideTwist A, B; // velocities
} Lanes;

KN_WIDE knWide3 relativeVelocity(const Lanes* lanes, const knPackPoint* point) {
	knWide3 rA = knWide3_Load(point->rA), rB = knWide3_Load(point->rB);
	knWide3 vA = knWide3_Add(lanes->A.lin, knWide3_Cross(lanes->A.ang, rA));
	knWide3 vB = knWide3_Add(lanes->B.lin, knWide3_Cross(lanes->B.ang, rB));
	return knWide3_Sub(vB, vA);
}

KN_WIDE void applyImpulse(Lanes* lanes, const knPackPoint* point, knWide3 P) {
	knWide3 rA = knWide3_Load(point->rA), rB = knWide3_Load(point->rB);
	const knPack* pack = lanes->pack;
	lanes->A.lin = knWide3_MulSub(lanes->A.lin, knWide_Load(pack->imA), P);
	lanes->A.ang = knWide3_Sub(lanes->A.ang, knWide3_Symmetric(pack->IA, knWide3_Cross(rA, P)));
	lanes->B.lin = knWide3_MulAdd(lanes->B.lin, knWide_Load(pack->imB), P);
	lanes->B.ang = knWide3_Add(lanes->B.ang, knWide3_Symmetric(pack->IB, knWide3_Cross(rB, P)));
}

KN_WIDE void applyMoment(Lanes* lanes, knWide3 moment) {
	lanes->A.ang = knWide3_Sub(lanes->A.ang, knWide3_Symmetric(lanes->pack->IA, moment));
	lanes->B.ang = knWide3_Add(lanes->B.ang, knWide3_Symmetric(lanes->pack->IB, moment));
}

// Scales (x, y) back to length `limit` where it is longer.
KN_WIDE void clampLength(knWide limit, knWide* x, knWide* y) {
	knWide length2 = knWide_MulAdd(knWide_Mul(*x, *x), *y, *y);
	knWide outside = knWide_Greater(length2, knWide_Mul(limit, limit));
	if (knWide_Any(outside)) {
		knWide one = knWide_Splat(1.0);
		knWide length = knWide_Sqrt(knWide_Select(outside, length2, one));
		knWide scale = knWide_Select(outside, knWide_Div(limit, length), one);
		*x = knWide_Mul(*x, scale);
		*y = knWide_Mul(*y, scale);
	}
}

KN_WIDE void clampLength3(knWide limit, knWide3* v) {
	knWide length2 = knWide3_Dot(*v, *v);
	knWide outside = knWide_Greater(length2, knWide_Mul(limit, limit));
	if (knWide_Any(outside)) {
		knWide one = knWide_Splat(1.0);
		knWide length = knWide_Sqrt(knWide_Select(outside, length2, one));
		*v = knWide3_Scale(knWide_Select(outside, knWide_Div(limit, length), one), *v);
	}
}

KN_WIDE knWide clampSides(knWide x, knWide limit) {
	return knWide_Min(knWide_Max(x, knWide_Sub(knWide_Splat(0.0), limit)), limit);
}

// lambda - omega (w + gamma lambda) / (D + gamma) with 1/(D + gamma) = invD / (1 + gamma invD)
KN_WIDE knWide relaxed(const knPackOptions* options, knWide lambda, knWide w, knWide invD) {
	knWide gamma = knWide_Splat(options->gamma), one = knWide_Splat(1.0);
	knWide inverse = knWide_Div(invD, knWide_MulAdd(one, gamma, invD));
	knWide step = knWide_Mul(knWide_MulAdd(w, gamma, lambda), inverse);
	return knWide_MulSub(lambda, knWide_Splat(options->omega), step);
}

// --- the plain sweep: Gauss-Seidel with a cone -----------------------------------------------------------

KN_WIDE void visitPoint(Lanes* lanes, knPackPoint* point) {
	knWide3 n = knWide3_Load(point->n), t1 = knWide3_Load(point->t1), t2 = knWide3_Load(point->t2);
	knWide3 v = relativeVelocity(lanes, point);

	// normal
	knWide old = knWide_Load(point->lambda[0]);
	knWide w = knWide_Add(knWide3_Dot(n, v), knWide_Load(point->bias));
	knWide normal = knWide_Max(knWide_MulSub(old, w, knWide_Load(point->invD)), knWide_Splat(0.0));
	knWide change = knWide_Sub(normal, old);
	knWide_Store(point->lambda[0], normal);

	// friction
	knWide old1 = knWide_Load(point->lambda[1]), old2 = knWide_Load(point->lambda[2]);
	knWide w1 = knWide_MulAdd(knWide3_Dot(t1, v), knWide_Load(point->A1), change);
	knWide w2 = knWide_MulAdd(knWide3_Dot(t2, v), knWide_Load(point->A2), change);
	knWide invD = knWide_Load(point->invD1);
	knWide l1 = knWide_MulSub(old1, w1, invD), l2 = knWide_MulSub(old2, w2, invD);
	clampLength(knWide_Mul(knWide_Load(point->mu), normal), &l1, &l2);
	knWide_Store(point->lambda[1], l1);
	knWide_Store(point->lambda[2], l2);

	knWide3 P = knWide3_Scale(change, n);
	P = knWide3_MulAdd(P, knWide_Sub(l1, old1), t1);
	P = knWide3_MulAdd(P, knWide_Sub(l2, old2), t2);
	applyImpulse(lanes, point, P);
}

// Rolling resistance: moments against relative turning, about an axis across n and about n, at most arm lambda_n each.
KN_WIDE knWide3 rollingChange(const knPackPoint* point, knPackRolling* rolling, knWide3 moment) {
	knWide3 n = knWide3_Load(point->n), old = knWide3_Load(rolling->lambda);
	knWide limit = knWide_Mul(knWide_Load(rolling->arm), knWide_Load(point->lambda[0]));
	knWide along = knWide3_Dot(n, moment);
	moment = knWide3_MulSub(moment, along, n);
	clampLength3(limit, &moment);
	moment = knWide3_MulAdd(moment, clampSides(along, limit), n);
	knWide_Store(rolling->lambda[0], moment.x);
	knWide_Store(rolling->lambda[1], moment.y);
	knWide_Store(rolling->lambda[2], moment.z);
	return knWide3_Sub(moment, old);
}

KN_WIDE knWide3 rollingPlain(const knPackPoint* point, knPackRolling* rolling, knWide3 spin) {
	knWide3 moment = knWide3_MulSub(knWide3_Load(rolling->lambda), knWide_Load(rolling->invD), spin);
	return rollingChange(point, rolling, moment);
}

KN_WIDE void visitRolling(Lanes* lanes, const knPackPoint* point, knPackRolling* rolling) {
	applyMoment(lanes, rollingPlain(point, rolling, knWide3_Sub(lanes->B.ang, lanes->A.ang)));
}

// --- the general sweep: relaxation, damping, a box --------------------------------------------------------

KN_WIDE knWide3 generalPoint(const Lanes* lanes, knPackPoint* point, const knPackOptions* options) {
	knWide3 n = knWide3_Load(point->n), t1 = knWide3_Load(point->t1), t2 = knWide3_Load(point->t2);
	knWide3 v = relativeVelocity(lanes, point);
	knWide old = knWide_Load(point->lambda[0]);
	knWide w = knWide_Add(knWide3_Dot(n, v), knWide_Load(point->bias));
	knWide normal = knWide_Max(relaxed(options, old, w, knWide_Load(point->invD)), knWide_Splat(0.0));
	knWide change = knWide_Sub(normal, old);
	knWide_Store(point->lambda[0], normal);

	knWide old1 = knWide_Load(point->lambda[1]), old2 = knWide_Load(point->lambda[2]);
	knWide limit = knWide_Mul(knWide_Load(point->mu), normal);
	knWide w1 = knWide_MulAdd(knWide3_Dot(t1, v), knWide_Load(point->A1), change);
	knWide w2 = knWide_MulAdd(knWide3_Dot(t2, v), knWide_Load(point->A2), change);
	knWide l1 = relaxed(options, old1, w1, knWide_Load(point->invD1)), l2;
	if (options->friction == KN_SWEEP_CONE) {
		l2 = relaxed(options, old2, w2, knWide_Load(point->invD2));
		clampLength(limit, &l1, &l2);
	} else {
		l1 = clampSides(l1, limit);
		w2 = knWide_MulAdd(w2, knWide_Load(point->A12), knWide_Sub(l1, old1));
		l2 = clampSides(relaxed(options, old2, w2, knWide_Load(point->invD2)), limit);
	}
	knWide_Store(point->lambda[1], l1);
	knWide_Store(point->lambda[2], l2);
	knWide3 P = knWide3_Scale(change, n);
	P = knWide3_MulAdd(P, knWide_Sub(l1, old1), t1);
	return knWide3_MulAdd(P, knWide_Sub(l2, old2), t2);
}

KN_WIDE knWide3 rollingPoint(const Lanes* lanes, const knPackPoint* point, knPackRolling* rolling,
							 const knPackOptions* options) {
	knWide3 spin = knWide3_Sub(lanes->B.ang, lanes->A.ang), old = knWide3_Load(rolling->lambda), moment;
	knWide invD = knWide_Load(rolling->invD);
	moment.x = relaxed(options, old.x, spin.x, invD);
	moment.y = relaxed(options, old.y, spin.y, invD);
	moment.z = relaxed(options, old.z, spin.z, invD);
	return rollingChange(point, rolling, moment);
}

// Gauss-Seidel changes the lanes that it reads, Jacobi's method others: `lanes` stays as it was.
KN_WIDE void visitGeneral(const knSweepSet* set, int k, const knPackOptions* options, const Lanes* lanes,
						  Lanes* out) {
	knPackPoint* point = &set->points[k];
	applyImpulse(out, point, generalPoint(lanes, point, options));
	if (set->rolling != NULL) {
		applyMoment(out, rollingPoint(lanes, point, &set->rolling[k], options));
	}
}

KN_WIDE Lanes gatherLanes(const knPack* pack, const knTwist* u) {
	return (Lanes){ pack, knWideTwist_Gather(u, pack->a), knWideTwist_Gather(u, pack->b) };
}

KN_WIDE void scatterLanes(const Lanes* lanes, knTwist* u) {
	knWideTwist_Scatter(u, lanes->pack->a, lanes->pack->freeA, lanes->A);
	knWideTwist_Scatter(u, lanes->pack->b, lanes->pack->freeB, lanes->B);
}

// A visit is a chain of operations that wait for each other. Two packs that share no block and have as many points
// take turns, so that the processor has something to do meanwhile. Packs with one lane may be of a colour whose packs
// share blocks.
KN_WIDE bool takeTurns(const knSweepSet* set, int p, int end) {
	return p + 1 < end && set->packs[p].count == set->packs[p + 1].count && set->packs[p + 1].chunk[1] >= 0;
}

KN_WIDE void visitPlain(const knSweepSet* set, int k, Lanes* lanes) {
	visitPoint(lanes, &set->points[k]);
	if (set->rolling != NULL) {
		visitRolling(lanes, &set->points[k], &set->rolling[k]);
	}
}

static void sweepPlain(const knSweepSet* set, int begin, int end, knTwist* u) {
	for (int p = begin; p < end; ++p) {
		const knPack *pack = &set->packs[p], *other = pack + 1;
		Lanes lanes = gatherLanes(pack, u);
		if (takeTurns(set, p, end)) {
			Lanes others = gatherLanes(other, u);
			for (int k = 0; k < pack->count; ++k) {
				visitPlain(set, pack->first + k, &lanes);
				visitPlain(set, other->first + k, &others);
			}
			scatterLanes(&others, u);
			++p;
		} else {
			for (int k = 0; k < pack->count; ++k) {
				visitPlain(set, pack->first + k, &lanes);
			}
		}
		scatterLanes(&lanes, u);
	}
}

static void sweepGeneral(const knSweepSet* set, int begin, int end, const knPackOptions* options,
						 const knTwist* from, knTwist* to) {
	for (int p = begin; p < end; ++p) {
		const knPack* pack = &set->packs[p];
		Lanes lanes = gatherLanes(pack, from), out = lanes;
		if (from == to) {
			for (int k = pack->first; k < pack->first + pack->count; ++k) {
				visitGeneral(set, k, options, &out, &out);
			}
		} else {
			out = gatherLanes(pack, to);
			for (int k = pack->first; k < pack->first + pack->count; ++k) {
				visitGeneral(set, k, options, &lanes, &out);
			}
		}
		scatterLanes(&out, to);
	}
}

static void sweepVelocities(const knSweepSet* set, int begin, int end, const knPackOptions* options,
							const knTwist* from, knTwist* to) {
	if (options->general) {
		sweepGeneral(set, begin, end, options, from, to);
	} else {
		sweepPlain(set, begin, end, to);
	}
}

// --- warm start ------------------------------------------------------------------------------------------

KN_WIDE void applyRows(Lanes* lanes, const knPackPoint* point, const double lambda[3][KN_LANES]) {
	knWide3 P = knWide3_Scale(knWide_Load(lambda[0]), knWide3_Load(point->n));
	P = knWide3_MulAdd(P, knWide_Load(lambda[1]), knWide3_Load(point->t1));
	applyImpulse(lanes, point, knWide3_MulAdd(P, knWide_Load(lambda[2]), knWide3_Load(point->t2)));
}

static void applyImpulses(const knSweepSet* set, int begin, int end, knTwist* u) {
	for (int p = begin; p < end; ++p) {
		const knPack* pack = &set->packs[p];
		Lanes lanes = gatherLanes(pack, u);
		for (int k = pack->first; k < pack->first + pack->count; ++k) {
			applyRows(&lanes, &set->points[k], set->points[k].lambda);
			if (set->rolling != NULL) {
				applyMoment(&lanes, knWide3_Load(set->rolling[k].lambda));
			}
		}
		scatterLanes(&lanes, u);
	}
}

// --- corrections -----------------------------------------------------------------------------------------

KN_WIDE void pushPoint(Lanes* lanes, knPackPoint* point) {
	knWide3 n = knWide3_Load(point->n);
	knWide w = knWide_Add(knWide3_Dot(n, relativeVelocity(lanes, point)), knWide_Load(point->depth));
	knWide old = knWide_Load(point->push);
	knWide push = knWide_Max(knWide_MulSub(old, w, knWide_Load(point->invD)), knWide_Splat(0.0));
	knWide_Store(point->push, push);
	applyImpulse(lanes, point, knWide3_Scale(knWide_Sub(push, old), n));
}

static void sweepCorrections(const knSweepSet* set, int begin, int end, knTwist* p) {
	for (int i = begin; i < end; ++i) {
		const knPack* pack = &set->packs[i];
		knPackPoint* points = &set->points[pack->first];
		Lanes lanes = gatherLanes(pack, p);
		if (takeTurns(set, i, end)) {
			Lanes others = gatherLanes(++pack, p);
			knPackPoint* otherPoints = &set->points[pack->first];
			for (int k = 0; k < pack->count; ++k) {
				pushPoint(&lanes, &points[k]);
				pushPoint(&others, &otherPoints[k]);
			}
			scatterLanes(&others, p);
			++i;
		} else {
			for (int k = 0; k < pack->count; ++k) {
				pushPoint(&lanes, &points[k]);
			}
		}
		scatterLanes(&lanes, p);
	}
}

// --- merit -----------------------------------------------------------------------------------------------

// H^2 of a bounded row: lambda - clamp(lambda - w/D), times sqrt(D); or, in plain units, of lambda and w as they are.
KN_WIDE knWide squaredResidual(knWide lambda, knWide w, knWide invD, knWide lo, knWide hi, bool unscaled) {
	knWide zero = knWide_Splat(0.0), one = knWide_Splat(1.0);
	knWide used = knWide_Greater(invD, zero);
	knWide inverse = knWide_Select(used, invD, one);
	knWide step = unscaled ? w : knWide_Mul(w, inverse);
	knWide target = knWide_Min(knWide_Max(knWide_Sub(lambda, step), lo), hi);
	knWide H = knWide_Sub(lambda, target);
	knWide square = knWide_Mul(H, H);
	square = unscaled ? square : knWide_Div(square, inverse);
	return knWide_Select(used, square, zero);
}

// The friction rows of a cone have one residual of two components.
KN_WIDE knWide coneResidual(knWide l1, knWide l2, knWide w1, knWide w2, knWide invD, knWide limit,
							bool unscaled) {
	knWide zero = knWide_Splat(0.0), one = knWide_Splat(1.0);
	knWide used = knWide_Greater(invD, zero);
	knWide inverse = knWide_Select(used, invD, one);
	knWide step = unscaled ? one : inverse;
	knWide x = knWide_MulSub(l1, w1, step), y = knWide_MulSub(l2, w2, step);
	clampLength(limit, &x, &y);
	x = knWide_Sub(l1, x);
	y = knWide_Sub(l2, y);
	knWide square = knWide_MulAdd(knWide_Mul(x, x), y, y);
	square = unscaled ? square : knWide_Div(square, inverse);
	return knWide_Select(used, square, zero);
}

KN_WIDE knWide pointMerit(const Lanes* lanes, const knPackPoint* point, const knPackOptions* options) {
	knWide3 v = relativeVelocity(lanes, point);
	knWide normal = knWide_Load(point->lambda[0]), l1 = knWide_Load(point->lambda[1]);
	knWide l2 = knWide_Load(point->lambda[2]);
	knWide w = knWide_Add(knWide3_Dot(knWide3_Load(point->n), v), knWide_Load(point->bias));
	knWide w1 = knWide3_Dot(knWide3_Load(point->t1), v), w2 = knWide3_Dot(knWide3_Load(point->t2), v);
	knWide zero = knWide_Splat(0.0), infinite = knWide_Splat((double)INFINITY);
	knWide limit = knWide_Mul(knWide_Load(point->mu), normal), least = knWide_Sub(zero, limit);
	knWide invD1 = knWide_Load(point->invD1), invD2 = knWide_Load(point->invD2);
	bool unscaled = options->unscaled;
	knWide sum = squaredResidual(normal, w, knWide_Load(point->invD), zero, infinite, unscaled);
	if (options->friction == KN_SWEEP_CONE) {
		return knWide_Add(sum, coneResidual(l1, l2, w1, w2, invD1, limit, unscaled));
	}
	sum = knWide_Add(sum, squaredResidual(l1, w1, invD1, least, limit, unscaled));
	return knWide_Add(sum, squaredResidual(l2, w2, invD2, least, limit, unscaled));
}

static void measureMerit(const knSweepSet* set, int begin, int end, const knPackOptions* options,
						 const knTwist* u, double* theta) {
	for (int p = begin; p < end; ++p) {
		const knPack* pack = &set->packs[p];
		Lanes lanes = gatherLanes(pack, u);
		knWide sum = knWide_Splat(0.0);
		for (int k = pack->first; k < pack->first + pack->count; ++k) {
			sum = knWide_Add(sum, pointMerit(&lanes, &set->points[k], options));
		}
		_Alignas(32) double lane[KN_LANES];
		knWide_Store(lane, sum);
		theta[p] = (lane[0] + lane[1]) + (lane[2] + lane[3]);
	}
}

// --- filling ---------------------------------------------------------------------------------------------

// Three numbers of a vector and one after it, of four points.
KN_WIDE void loadFour(const double* const from[KN_LANES], size_t at, double vector[3][KN_LANES],
					  double number[KN_LANES]) {
	size_t i = at / sizeof(double);
	knWide part[4];
	knWide_Transpose(from[0] + i, from[1] + i, from[2] + i, from[3] + i, part);
	knWide_Store(vector[0], part[0]);
	knWide_Store(vector[1], part[1]);
	knWide_Store(vector[2], part[2]);
	knWide_Store(number, part[3]);
}

_Static_assert(offsetof(knSweepPoint, rolling) == offsetof(knSweepPoint, lambda) + 3 * sizeof(double) &&
				   sizeof(knSweepPoint) == offsetof(knSweepPoint, rolling) + 3 * sizeof(double),
			   "the last impulse and the moments are taken at once");

KN_WIDE void loadRolling(const double* const from[KN_LANES], knPackRolling* out, const double arm[KN_LANES]) {
	knWide part[4];
	size_t last = offsetof(knSweepPoint, lambda) / sizeof(double) + 2;
	knWide_Transpose(from[0] + last, from[1] + last, from[2] + last, from[3] + last, part);
	knWide_Store(out->arm, knWide_Load(arm));
	knWide_Store(out->lambda[0], part[1]);
	knWide_Store(out->lambda[1], part[2]);
	knWide_Store(out->lambda[2], part[3]);
}

static void loadPoints(const knSweepSet* set, const knSweepPoint* points, int begin, int end) {
	static const knSweepPoint none;
	_Alignas(32) double arm[KN_LANES], unused[KN_LANES];
	for (int p = begin; p < end; ++p) {
		const knPack* pack = &set->packs[p];
		for (int k = pack->first; k < pack->first + pack->count; ++k) {
			const int32_t* source = set->source[k];
			knPackPoint* out = &set->points[k];
			const double* from[KN_LANES];
			for (int lane = 0; lane < KN_LANES; ++lane) {
				from[lane] = (const double*)(source[lane] >= 0 ? &points[source[lane]] : &none);
			}
			loadFour(from, offsetof(knSweepPoint, n), out->n, out->depth);
			loadFour(from, offsetof(knSweepPoint, rA), out->rA, out->bias);
			loadFour(from, offsetof(knSweepPoint, rB), out->rB, out->mu);
			loadFour(from, offsetof(knSweepPoint, t1), out->t1, arm);
			loadFour(from, offsetof(knSweepPoint, lambda), out->lambda, unused);
			loadFour(from, offsetof(knSweepPoint, t2), out->t2, out->lambda[0]);
			knWide_Store(out->push, knWide_Splat(0.0));
			if (set->rolling != NULL) {
				loadRolling(from, &set->rolling[k], arm);
			}
		}
	}
}

// --- momentum --------------------------------------------------------------------------------------------

// Each row counts by D, what its impulse would do alone.
KN_WIDE knWide squareRows(const knPackMomentum* momentum, const double lambda[3][KN_LANES], knWide invD,
						  knWide invD1, knWide invD2) {
	knWide zero = knWide_Splat(0.0), one = knWide_Splat(1.0);
	knWide inverse[3] = { invD, invD1, invD2 }, sum = zero;
	for (int i = 0; i < 3; ++i) {
		knWide g = knWide_Sub(knWide_Load(lambda[i]), knWide_Load(momentum->before[i]));
		knWide used = knWide_Greater(inverse[i], zero);
		knWide square = knWide_Div(knWide_Mul(g, g), knWide_Select(used, inverse[i], one));
		sum = knWide_Add(sum, knWide_Select(used, square, zero));
	}
	return sum;
}

// With a cone one quotient serves all three rows; those of friction have one D.
KN_WIDE knWide squareCone(const knPackMomentum* momentum, const knPackPoint* point) {
	knWide g[3], zero = knWide_Splat(0.0), one = knWide_Splat(1.0);
	for (int i = 0; i < 3; ++i) {
		g[i] = knWide_Sub(knWide_Load(point->lambda[i]), knWide_Load(momentum->before[i]));
	}
	knWide invD = knWide_Load(point->invD), invD1 = knWide_Load(point->invD1);
	knWide friction = knWide_MulAdd(knWide_Mul(g[1], g[1]), g[2], g[2]);
	knWide sum = knWide_MulAdd(knWide_Mul(knWide_Mul(g[0], g[0]), invD1), friction, invD);
	knWide product = knWide_Mul(invD, invD1), used = knWide_Greater(product, zero);
	return knWide_Select(used, knWide_Div(sum, knWide_Select(used, product, one)), zero);
}

KN_WIDE void goOnRows(knPackMomentum* momentum, double lambda[3][KN_LANES], knWide beta) {
	for (int i = 0; i < 3; ++i) {
		knWide next = knWide_MulAdd(knWide_Load(lambda[i]), beta, knWide_Load(momentum->direction[i]));
		knWide_Store(momentum->direction[i], knWide_Sub(next, knWide_Load(momentum->before[i])));
		knWide_Store(momentum->before[i], next);
		knWide_Store(lambda[i], next);
	}
}

KN_WIDE knWide betaOf(const knMomentumPacks* momenta, int p) {
	_Alignas(32) double beta[KN_LANES];
	for (int lane = 0; lane < KN_LANES; ++lane) {
		int32_t group = momenta->groupOf[p - momenta->firstPack][lane];
		beta[lane] = group >= 0 ? momenta->groupBeta[group] : 0.0;
	}
	return knWide_Load(beta);
}

KN_WIDE void enterRows(knPackMomentum* momentum, double lambda[3][KN_LANES], int pass, knWide beta) {
	if ((pass & KN_MOMENTUM_GO_ON) != 0) {
		goOnRows(momentum, lambda, beta);
		return;
	}
	for (int i = 0; i < 3; ++i) {
		knWide_Store(momentum->before[i], knWide_Load(lambda[i]));
		if ((pass & KN_MOMENTUM_BEGIN) != 0) {
			knWide_Store(momentum->direction[i], knWide_Splat(0.0));
		}
	}
}

// A point goes on when its turn comes, and what the visit changed is squared at once.
KN_WIDE knWide visitInPass(const knSweepSet* set, const knPackOptions* options,
						   const knMomentumPacks* momenta, int k, int pass, knWide beta, knWide sum,
						   Lanes* lanes) {
	knPackPoint* point = &set->points[k];
	knPackRolling* rolling = set->rolling != NULL ? &set->rolling[k] : NULL;
	knPackMomentum* momentum = &momenta->points[k - momenta->firstPoint];
	knPackMomentum* turning = rolling != NULL ? &momenta->rolling[k - momenta->firstPoint] : NULL;
	if ((pass & ~KN_MOMENTUM_SQUARE) != 0) {
		enterRows(momentum, point->lambda, pass, beta);
		if (rolling != NULL) {
			enterRows(turning, rolling->lambda, pass, beta);
		}
	}
	if (options->general) {
		visitGeneral(set, k, options, lanes, lanes);
	} else {
		visitPlain(set, k, lanes);
	}
	if ((pass & KN_MOMENTUM_SQUARE) != 0) {
		sum = knWide_Add(sum, options->friction == KN_SWEEP_CONE
								  ? squareCone(momentum, point)
								  : squareRows(momentum, point->lambda, knWide_Load(point->invD),
											   knWide_Load(point->invD1), knWide_Load(point->invD2)));
		if (rolling != NULL) {
			knWide invD = knWide_Load(rolling->invD);
			sum = knWide_Add(sum, squareRows(turning, rolling->lambda, invD, invD, invD));
		}
	}
	return sum;
}

static void sweepInPass(const knSweepSet* set, int begin, int end, const knPackOptions* options,
						const knMomentumPacks* momenta, int pass, knTwist* u) {
	for (int p = begin; p < end; ++p) {
		const knPack *pack = &set->packs[p], *other = pack + 1;
		Lanes lanes = gatherLanes(pack, u);
		knWide beta = betaOf(momenta, p), sum = knWide_Splat(0.0);
		double* square = momenta->square[p - momenta->firstPack];
		if (takeTurns(set, p, end)) {
			Lanes others = gatherLanes(other, u);
			knWide otherBeta = betaOf(momenta, ++p), otherSum = knWide_Splat(0.0);
			for (int k = 0; k < pack->count; ++k) {
				sum = visitInPass(set, options, momenta, pack->first + k, pass, beta, sum, &lanes);
				otherSum =
					visitInPass(set, options, momenta, other->first + k, pass, otherBeta, otherSum, &others);
			}
			knWide_Store(momenta->square[p - momenta->firstPack], otherSum);
			scatterLanes(&others, u);
		} else {
			for (int k = pack->first; k < pack->first + pack->count; ++k) {
				sum = visitInPass(set, options, momenta, k, pass, beta, sum, &lanes);
			}
		}
		knWide_Store(square, sum);
		scatterLanes(&lanes, u);
	}
}

// --- diagonals -------------------------------------------------------------------------------------------

// What a side adds to the entries x^T W y of a point's rows.
typedef struct Entries {
	knWide nn, n1, n2, d11, d22, d12; // of n, t1 and t2
} Entries;

KN_WIDE void addSide(Entries* sum, const double I[6][KN_LANES], knWide3 r, knWide3 n, knWide3 t1,
					 knWide3 t2) {
	knWide3 an = knWide3_Cross(r, n), a1 = knWide3_Cross(r, t1), a2 = knWide3_Cross(r, t2);
	knWide3 In = knWide3_Symmetric(I, an), I1 = knWide3_Symmetric(I, a1), I2 = knWide3_Symmetric(I, a2);
	sum->nn = knWide_Add(sum->nn, knWide3_Dot(an, In));
	sum->n1 = knWide_Add(sum->n1, knWide3_Dot(a1, In));
	sum->n2 = knWide_Add(sum->n2, knWide3_Dot(a2, In));
	sum->d11 = knWide_Add(sum->d11, knWide3_Dot(a1, I1));
	sum->d22 = knWide_Add(sum->d22, knWide3_Dot(a2, I2));
	sum->d12 = knWide_Add(sum->d12, knWide3_Dot(a1, I2));
}

// A side that does not move adds nothing.
KN_WIDE Entries makeEntries(const knPack* pack, const knPackPoint* point) {
	knWide3 n = knWide3_Load(point->n), t1 = knWide3_Load(point->t1), t2 = knWide3_Load(point->t2);
	knWide mass = knWide_Add(knWide_Load(pack->imA), knWide_Load(pack->imB));
	Entries sum = { knWide_Mul(mass, knWide3_Dot(n, n)),   knWide_Mul(mass, knWide3_Dot(t1, n)),
					knWide_Mul(mass, knWide3_Dot(t2, n)),  knWide_Mul(mass, knWide3_Dot(t1, t1)),
					knWide_Mul(mass, knWide3_Dot(t2, t2)), knWide_Mul(mass, knWide3_Dot(t1, t2)) };
	if (pack->freeA != 0) {
		addSide(&sum, pack->IA, knWide3_Load(point->rA), n, t1, t2);
	}
	if (pack->freeB != 0) {
		addSide(&sum, pack->IB, knWide3_Load(point->rB), n, t1, t2);
	}
	return sum;
}

KN_WIDE knWide reciprocal(knWide D) {
	knWide zero = knWide_Splat(0.0), one = knWide_Splat(1.0);
	knWide used = knWide_Greater(D, zero);
	return knWide_Select(used, knWide_Div(one, knWide_Select(used, D, one)), zero);
}

// The largest row of absolute values bounds the eigenvalues; it is one where the inertia is a sphere's.
static void prepareRolling(const knSweepSet* set, const knPack* pack, int k) {
	knWide row[3], entries[6];
	for (int i = 0; i < 6; ++i) {
		knWide sum = knWide_Add(knWide_Load(pack->IA[i]), knWide_Load(pack->IB[i]));
		entries[i] = knWide_Max(sum, knWide_Sub(knWide_Splat(0.0), sum));
	}
	row[0] = knWide_Add(entries[0], knWide_Add(entries[3], entries[4]));
	row[1] = knWide_Add(entries[1], knWide_Add(entries[3], entries[5]));
	row[2] = knWide_Add(entries[2], knWide_Add(entries[4], entries[5]));
	knWide bound = knWide_Max(row[0], knWide_Max(row[1], row[2]));
	knWide_Store(set->rolling[k].invD, reciprocal(bound));
}

// The diagonal of a normal row. Where friction answers a normal impulse by more than that does itself (mu |A| > D, Painleve's
// bound), plain visits would swing between none and far too much: there the row counts with the friction that goes along.
KN_WIDE knWide normalDiagonal(const Entries* entries, const knPackPoint* point) {
	knWide square = knWide_MulAdd(knWide_Mul(entries->n1, entries->n1), entries->n2, entries->n2);
	knWide answer = knWide_Mul(knWide_Load(point->mu), knWide_Sqrt(square));
	knWide beyond = knWide_Greater(answer, entries->nn);
	return knWide_Select(beyond, knWide_Add(entries->nn, answer), entries->nn);
}

static void preparePacks(const knSweepSet* set, int begin, int end) {
	for (int p = begin; p < end; ++p) {
		const knPack* pack = &set->packs[p];
		for (int k = pack->first; k < pack->first + pack->count; ++k) {
			knPackPoint* point = &set->points[k];
			Entries entries = makeEntries(pack, point);
			knWide D = entries.nn, D1 = entries.d11, D2 = entries.d22, A12 = entries.d12;
			if (set->friction == KN_SWEEP_CONE) {
				knWide off = knWide_Max(A12, knWide_Sub(knWide_Splat(0.0), A12));
				D1 = D2 = knWide_Add(knWide_Max(D1, D2), off);
				A12 = knWide_Splat(0.0);
				D = normalDiagonal(&entries, point);
			}
			knWide_Store(point->invD, reciprocal(D));
			knWide_Store(point->A1, entries.n1);
			knWide_Store(point->A2, entries.n2);
			knWide_Store(point->A12, A12);
			knWide_Store(point->invD1, reciprocal(D1));
			knWide_Store(point->invD2, reciprocal(D2));
			if (set->rolling != NULL) {
				prepareRolling(set, pack, k);
			}
		}
	}
}
