// Projected Gauss-Seidel, matrix-free (Erleben 2007, section 3): rows are visited in order, each changes
// its own impulse so that its condition holds, and the velocities follow at once. A = J W J^T is never formed.
//
//   w      = J u + bias + gamma lambda        residual velocity of the row
//   lambda <- clamp(lambda - w / D, lo, hi)   D = J W J^T + gamma, the row's diagonal of A
//   u      <- u + T (change of lambda)        T = W J^T
//
// Friction rows take their bounds +-mu lambda_normal anew at every visit. The merit theta = 1/2 sum H_i^2
// with H = min(lambda - lo, max(lambda - hi, w)) is zero exactly at a solution; impulses are scaled by
// sqrt(D) and velocities by 1/sqrt(D), so that both are in sqrt(J) and scenes can be compared.

#include "solve/pgs.h"

#include "core/assert.h"

static double residual(const knRow* row, const knTwist* u) {
	return knDotT(row->Ja, u[row->a]) + knDotT(row->Jb, u[row->b]) + row->bias + row->gamma * row->lambda;
}

static void applyImpulse(const knRow* row, double change, knTwist* u) {
	u[row->a] = knMulAddT(u[row->a], change, row->Ta);
	u[row->b] = knMulAddT(u[row->b], change, row->Tb);
}

static void bounds(const knRow* rows, const knRow* row, double* lo, double* hi) {
	*lo = row->lo;
	*hi = row->hi;
	if (row->normal != KN_ROW_NO_NORMAL) {
		*hi = row->mu * rows[row->normal].lambda;
		*lo = -*hi;
	}
}

void knPgs_Begin(knRows* rows, knTwist* u) {
	for (int i = 0; i < rows->count; ++i) {
		knRow* row = &rows->items[i];
		KN_ASSERT(row->a >= 0 && row->a < rows->blockCount && row->b >= 0 && row->b < rows->blockCount);
		KN_ASSERT(row->normal == KN_ROW_NO_NORMAL || (row->normal >= 0 && row->normal < rows->count));
		row->invD = row->D > 0.0 ? 1.0 / row->D : 0.0;
		row->lambda = row->D > 0.0 ? row->lambda : 0.0;
		applyImpulse(row, row->lambda, u);
	}
}

static void visit(knRow* items, knRow* row, knTwist* u) {
	if (row->invD == 0.0) {
		return;
	}
	double lo, hi;
	bounds(items, row, &lo, &hi);
	double lambda = knClamp(row->lambda - residual(row, u) * row->invD, lo, hi);
	applyImpulse(row, lambda - row->lambda, u);
	row->lambda = lambda;
}

void knPgs_Visit(knRows* rows, const int32_t* order, int count, knTwist* u) {
	for (int i = 0; i < count; ++i) {
		visit(rows->items, &rows->items[order[i]], u);
	}
}

knPgsResult knPgs_Solve(knRows* rows, int sweeps, knTwist* u) {
	knPgs_Begin(rows, u);
	for (int s = 0; s < sweeps; ++s) {
		for (int i = 0; i < rows->count; ++i) {
			visit(rows->items, &rows->items[i], u);
		}
	}
	knPgsResult result = { .sweeps = sweeps, .theta = knPgs_Merit(rows, u) };
	return result;
}

// H^2 of one row; immovable rows have none.
static double squaredResidual(const knRows* rows, const knRow* row, bool unscaled, const knTwist* u) {
	if (row->D <= 0.0) {
		return 0.0;
	}
	double lo, hi;
	bounds(rows->items, row, &lo, &hi);
	double scale = unscaled ? 1.0 : sqrt(row->D);
	double H = knMax(scale * (row->lambda - hi), residual(row, u) / scale);
	H = knMin(scale * (row->lambda - lo), H);
	return H * H;
}

double knPgs_MeritOf(const knRows* rows, const int32_t* order, int count, bool unscaled, const knTwist* u) {
	double sum = 0.0;
	for (int i = 0; i < count; ++i) {
		sum += squaredResidual(rows, &rows->items[order[i]], unscaled, u);
	}
	return 0.5 * sum;
}

double knPgs_Merit(const knRows* rows, const knTwist* u) {
	double sum = 0.0;
	for (int i = 0; i < rows->count; ++i) {
		sum += squaredResidual(rows, &rows->items[i], false, u);
	}
	return 0.5 * sum;
}
