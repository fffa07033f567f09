// The work of joint_links.h, compiled once for every machine and once for those with AVX. Blocks are aligned to 32 bytes.
#pragma once

#include "core/wide.h"
#include "steppers/impulse/joint_links.h"

#define STRIDE KN_LINK_STRIDE

// Loops over the vectors of a row from number `from` on, whole vectors only.
#define EACH_VECTOR(r, from, rows) for (int r = (from) / KN_LANES * KN_LANES; r < (rows); r += KN_LANES)

static void multiply(const double* factors, int n, double* K) {
	// rows of (L D)^T; L has ones on its diagonal
	_Alignas(32) double LD[KN_LINK_SIZE];
	for (int k = 0; k < n; ++k) {
		const double D = factors[(n + 1) * k];
		LD[STRIDE * k + k] = D;
		for (int r = k + 1; r < n; ++r) {
			LD[STRIDE * k + r] = factors[n * r + k] * D;
		}
	}
	for (int c = 0; c < n; ++c) {
		EACH_VECTOR(r, c, n) {
			knWide sum = knWide_Splat(0.0);
			for (int k = 0; k <= c; ++k) {
				const knWide left = knWide_Load(LD + STRIDE * k + r);
				sum = knWide_MulAdd(sum, left, knWide_Splat(k == c ? 1.0 : factors[n * c + k]));
			}
			knWide_Store(K + STRIDE * c + r, sum);
		}
	}
}

static void factor(double* own, int n) {
	for (int k = 0; k < n; ++k) {
		double* row = own + STRIDE * k;
		const double pivot = row[k];
		_Alignas(32) double scaled[STRIDE];
		EACH_VECTOR(r, k, n) {
			knWide_Store(scaled + r, knWide_Div(knWide_Load(row + r), knWide_Splat(pivot)));
		}
		for (int c = k + 1; c < n; ++c) {
			EACH_VECTOR(r, c, n) {
				double* to = own + STRIDE * c + r;
				knWide_Store(to,
							 knWide_MulSub(knWide_Load(to), knWide_Load(row + r), knWide_Splat(scaled[c])));
			}
		}
		EACH_VECTOR(r, k, n) {
			knWide_Store(row + r, knWide_Load(scaled + r));
		}
		row[k] = pivot;
	}
}

// --- blocks of two joints --------------------------------------------------------------------------------

// Rows of a joint as wrenches on a body, about its centre: number by number.
typedef struct WideRows {
	_Alignas(32) double part[6][STRIDE];
} WideRows;

static void readRows(const knArticulationSolve* solve, int i, int body, WideRows* out) {
	const knJointBlock* block = &solve->blocks[i];
	const bool child = solve->joints[i].child == body;
	const knVec3 arm = child ? block->rC : block->rP;
	const knWide3 lever = { knWide_Splat(arm.x), knWide_Splat(arm.y), knWide_Splat(arm.z) };
	for (int r = 0; r < block->all; r += KN_LANES) {
		const double* from[KN_LANES];
		for (int l = 0; l < KN_LANES; ++l) {
			from[l] = &block->rows[r + l < block->all ? r + l : block->all - 1].ang.x;
		}
		knWideTwist row = knWideTwist_Read(from, 0);
		row.ang = knWide3_Add(row.ang, knWide3_Cross(lever, row.lin));
		if (!child) {
			row = (knWideTwist){ knWide3_Neg(row.ang), knWide3_Neg(row.lin) };
		}
		const knWide parts[6] = { row.ang.x, row.ang.y, row.ang.z, row.lin.x, row.lin.y, row.lin.z };
		for (int c = 0; c < 6; ++c) {
			knWide_Store(out->part[c] + r, parts[c]);
		}
	}
}

// What the body answers to the rows.
static void answerRows(const knArticulationSolve* solve, int body, int count, const WideRows* rows,
					   WideRows* out) {
	const knMat33* I = &solve->invInertia[body];
	const knWide mass = knWide_Splat(solve->invMass[body]);
	const knWide33 inertia = { { knWide_Splat(I->cx.x), knWide_Splat(I->cx.y), knWide_Splat(I->cx.z) },
							   { knWide_Splat(I->cy.x), knWide_Splat(I->cy.y), knWide_Splat(I->cy.z) },
							   { knWide_Splat(I->cz.x), knWide_Splat(I->cz.y), knWide_Splat(I->cz.z) } };
	for (int r = 0; r < count; r += KN_LANES) {
		const knWide3 ang = { knWide_Load(rows->part[0] + r), knWide_Load(rows->part[1] + r),
							  knWide_Load(rows->part[2] + r) };
		const knWide3 spin = knWide33_MulV(&inertia, ang);
		knWide_Store(out->part[0] + r, spin.x);
		knWide_Store(out->part[1] + r, spin.y);
		knWide_Store(out->part[2] + r, spin.z);
		for (int c = 3; c < 6; ++c) {
			knWide_Store(out->part[c] + r, knWide_Mul(mass, knWide_Load(rows->part[c] + r)));
		}
	}
}

static void couple(const knArticulationSolve* solve, int i, int j, int body, double* block) {
	const int rows = solve->blocks[j].all, columns = solve->blocks[i].all;
	WideRows ofI, ofJ, answers;
	readRows(solve, i, body, &ofI);
	readRows(solve, j, body, &ofJ);
	answerRows(solve, body, columns, &ofI, &answers);
	for (int r = 0; r < rows; r += KN_LANES) {
		knWide part[6];
		for (int p = 0; p < 6; ++p) {
			part[p] = knWide_Load(ofJ.part[p] + r);
		}
		for (int c = 0; c < columns; ++c) {
			knWide ang = knWide_Mul(part[0], knWide_Splat(answers.part[0][c]));
			knWide lin = knWide_Mul(part[3], knWide_Splat(answers.part[3][c]));
			ang = knWide_MulAdd(ang, part[1], knWide_Splat(answers.part[1][c]));
			lin = knWide_MulAdd(lin, part[4], knWide_Splat(answers.part[4][c]));
			ang = knWide_MulAdd(ang, part[2], knWide_Splat(answers.part[2][c]));
			lin = knWide_MulAdd(lin, part[5], knWide_Splat(answers.part[5][c]));
			double* to = block + STRIDE * c + r;
			knWide_Store(to, knWide_Add(knWide_Load(to), knWide_Add(ang, lin)));
		}
	}
}

static void divide(const double* own, int n, const double* K, int rows, double* L) {
	for (int r = 0; r < rows; r += KN_LANES) {
		knWide b[KN_BLOCK_ROWS];
		for (int i = 0; i < n; ++i) {
			b[i] = knWide_Load(K + STRIDE * i + r);
			for (int k = 0; k < i; ++k) {
				b[i] = knWide_MulSub(b[i], knWide_Splat(own[STRIDE * k + i]), b[k]);
			}
		}
		for (int i = 0; i < n; ++i) {
			b[i] = knWide_Div(b[i], knWide_Splat(own[STRIDE * i + i]));
		}
		for (int i = n - 1; i >= 0; --i) {
			for (int k = i + 1; k < n; ++k) {
				b[i] = knWide_MulSub(b[i], knWide_Splat(own[STRIDE * i + k]), b[k]);
			}
			knWide_Store(L + STRIDE * i + r, b[i]);
		}
	}
}

static void subtract(double* A, const double* a, int rows, const double* b, int columns, int n) {
	for (int r = 0; r < rows; r += KN_LANES) {
		for (int c = 0; c < columns; ++c) {
			knWide sum = knWide_Splat(0.0);
			for (int k = 0; k < n; ++k) {
				sum = knWide_MulAdd(sum, knWide_Load(a + STRIDE * k + r), knWide_Splat(b[STRIDE * k + c]));
			}
			knWide_Store(A + STRIDE * c + r, knWide_Sub(knWide_Load(A + STRIDE * c + r), sum));
		}
	}
}

// --- solving ---------------------------------------------------------------------------------------------

static void solve(const double* own, int n, double* z) {
	for (int k = 0; k < n; ++k) {
		for (int i = k + 1; i < n; ++i) {
			z[i] -= own[STRIDE * k + i] * z[k];
		}
	}
	for (int i = 0; i < n; ++i) {
		z[i] /= own[STRIDE * i + i];
	}
	for (int i = n - 1; i >= 0; --i) {
		for (int k = i + 1; k < n; ++k) {
			z[i] -= own[STRIDE * i + k] * z[k];
		}
	}
}

static void carry(const double* L, int n, int rows, const double* z, double* later) {
	for (int k = 0; k < n; ++k) {
		for (int r = 0; r < rows; ++r) {
			later[r] -= L[STRIDE * k + r] * z[k];
		}
	}
}

#define KN_LINK_KERNEL(name)                                                                                 \
	{ name, multiply, factor, couple, divide, subtract, solve, carry }
