// Projected Gauss-Seidel, matrix-free (Erleben 2007, section 3): rows are visited in order, each changes
// its own impulse so that its condition holds, and the velocities follow at once. A = J W J^T is never formed.
//
//   w      = J u + bias + gamma lambda        residual velocity of the row
//   lambda <- clamp(lambda - w / D, lo, hi)   D = J W J^T + gamma, the row's diagonal of A
//   u      <- u + T (change of lambda)        T = W J^T
//
// Friction rows take their bounds +-mu lambda_normal, or those of their load, anew at every visit. A row with a load is
// pushed together with the answer z of the rows of that load (Schur complement): K z = -J_k T, K = J_k T_k. The merit theta = 1/2 sum H_i^2
// with H = min(lambda - lo, max(lambda - hi, w)) is zero exactly at a solution; impulses are scaled by
// sqrt(D) and velocities by 1/sqrt(D), so that both are in sqrt(J) and scenes can be compared.

#include "solve/pgs.h"

#include "core/assert.h"
#include "core/dense.h"

#define NOTHING_LEFT 1e-12 // of its own response: other rows hold the blocks in the row's direction

static double residual(const knRow* row, const knTwist* u) {
	return knDotT(row->Ja, u[row->a]) + knDotT(row->Jb, u[row->b]) + row->bias + row->gamma * row->lambda;
}

static void applyImpulse(const knRow* row, double change, knTwist* u) {
	u[row->a] = knMulAddT(u[row->a], change, row->Ta);
	u[row->b] = knMulAddT(u[row->b], change, row->Tb);
}

static double boundOfLoad(const knRow* rows, const knRowLoad* load) {
	knVec3 sum = knZero3();
	for (int i = 0; i < load->count; ++i) {
		sum = knMulAdd(sum, rows[load->first + i].lambda, load->direction[i]);
	}
	return load->least + load->share * knLength(sum);
}

static void bounds(const knRows* rows, const knRow* row, double* lo, double* hi) {
	*lo = row->lo;
	*hi = row->hi;
	if (row->normal != KN_ROW_NO_NORMAL) {
		*hi = row->mu * rows->items[row->normal].lambda;
		*lo = -*hi;
	} else if (row->load > 0) {
		*hi = boundOfLoad(rows->items, &rows->loads[row->load - 1]);
		*lo = -*hi;
	}
}

static double respond(const knRow* row, knTwist Ta, knTwist Tb) {
	return knDotT(row->Ja, Ta) + knDotT(row->Jb, Tb);
}

static void prepareLoad(const knRows* rows, const knRow* row) {
	knRowLoad* load = &rows->loads[row->load - 1];
	const knRow* held = &rows->items[load->first];
	const int n = load->count;
	double K[KN_LOAD_ROWS * KN_LOAD_ROWS];
	for (int i = 0; i < n; ++i) {
		KN_ASSERT(held[i].a == row->a && held[i].b == row->b);
		load->answer[i] = -respond(&held[i], row->Ta, row->Tb);
		for (int k = 0; k <= i; ++k) {
			K[n * i + k] = respond(&held[i], held[k].Ta, held[k].Tb);
		}
	}
	const bool regular = n > 0 && knDense_FactorLdl(K, n);
	if (regular) {
		knDense_SolveLdl(K, n, load->answer);
	}
	load->Ta = row->Ta;
	load->Tb = row->Tb;
	for (int i = 0; i < n; ++i) {
		load->answer[i] = regular ? load->answer[i] : 0.0;
		load->Ta = knMulAddT(load->Ta, load->answer[i], held[i].Ta);
		load->Tb = knMulAddT(load->Tb, load->answer[i], held[i].Tb);
	}
	const double D = respond(row, load->Ta, load->Tb);
	load->invD = D > NOTHING_LEFT * row->D ? 1.0 / D : 0.0;
}

void knPgs_Begin(knRows* rows, knTwist* u) {
	for (int i = 0; i < rows->count; ++i) {
		knRow* row = &rows->items[i];
		KN_ASSERT(row->a >= 0 && row->a < rows->blockCount && row->b >= 0 && row->b < rows->blockCount);
		KN_ASSERT(row->normal == KN_ROW_NO_NORMAL || (row->normal >= 0 && row->normal < rows->count));
		KN_ASSERT(row->load >= 0 && row->load <= rows->loadCount);
		row->invD = row->D > 0.0 ? 1.0 / row->D : 0.0;
		row->lambda = row->D > 0.0 ? row->lambda : 0.0;
		applyImpulse(row, row->lambda, u);
		if (row->load > 0) {
			prepareLoad(rows, row);
		}
	}
}

static void visitLoaded(const knRows* rows, knRow* row, knTwist* u) {
	const knRowLoad* load = &rows->loads[row->load - 1];
	double lo, hi;
	bounds(rows, row, &lo, &hi);
	const double lambda = knClamp(row->lambda - residual(row, u) * load->invD, lo, hi);
	const double change = lambda - row->lambda;
	row->lambda = lambda;
	u[row->a] = knMulAddT(u[row->a], change, load->Ta);
	u[row->b] = knMulAddT(u[row->b], change, load->Tb);
	for (int i = 0; i < load->count; ++i) {
		rows->items[load->first + i].lambda += change * load->answer[i];
	}
}

static void visit(const knRows* rows, knRow* row, knTwist* u) {
	if (row->invD == 0.0) {
		return;
	}
	if (row->load > 0) {
		visitLoaded(rows, row, u);
		return;
	}
	double lo, hi;
	bounds(rows, row, &lo, &hi);
	double lambda = knClamp(row->lambda - residual(row, u) * row->invD, lo, hi);
	applyImpulse(row, lambda - row->lambda, u);
	row->lambda = lambda;
}

void knPgs_Visit(knRows* rows, const int32_t* order, int count, knTwist* u) {
	for (int i = 0; i < count; ++i) {
		visit(rows, &rows->items[order[i]], u);
	}
}

knPgsResult knPgs_Solve(knRows* rows, int sweeps, knTwist* u) {
	knPgs_Begin(rows, u);
	for (int s = 0; s < sweeps; ++s) {
		for (int i = 0; i < rows->count; ++i) {
			visit(rows, &rows->items[i], u);
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
	bounds(rows, row, &lo, &hi);
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
