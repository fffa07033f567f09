// Eigenvalues of small dense matrices (spectrum.h).
//
//   symmetric   rotations in the plane (p, q) that annihilate A_pq, in sweeps over all pairs, until what is off the diagonal is
//               rounding error
//   general     Householder reduction to upper Hessenberg form; then, in complex arithmetic, H - s = Q R, H <- R Q + s with
//               Wilkinson's shift s (the eigenvalue of the last 2 x 2 block next to its corner), deflating from below
#include "spectrum.h"

#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SWEEPS 60
#define MAX_STEPS 60 // for each eigenvalue

typedef double complex Complex;

// --- symmetric -------------------------------------------------------------------------------------------------

static void rotate(double* A, int n, int p, int q) {
	double apq = A[p * n + q];
	if (apq == 0.0) {
		return;
	}
	double theta = 0.5 * (A[q * n + q] - A[p * n + p]) / apq;
	double t = (theta < 0.0 ? -1.0 : 1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
	double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
	for (int k = 0; k < n; ++k) {
		double akp = A[k * n + p], akq = A[k * n + q];
		A[k * n + p] = c * akp - s * akq;
		A[k * n + q] = s * akp + c * akq;
	}
	for (int k = 0; k < n; ++k) {
		double apk = A[p * n + k], aqk = A[q * n + k];
		A[p * n + k] = c * apk - s * aqk;
		A[q * n + k] = s * apk + c * aqk;
	}
}

static void sortAscending(double* values, int n) {
	for (int i = 1; i < n; ++i) {
		double v = values[i];
		int k = i;
		for (; k > 0 && values[k - 1] > v; --k) {
			values[k] = values[k - 1];
		}
		values[k] = v;
	}
}

void knSpectrum_Symmetric(double* A, int n, double* values) {
	double total = 0.0;
	for (int i = 0; i < n * n; ++i) {
		total += A[i] * A[i];
	}
	for (int sweep = 0; sweep < MAX_SWEEPS; ++sweep) {
		double off = 0.0;
		for (int p = 0; p < n; ++p) {
			for (int q = p + 1; q < n; ++q) {
				off += A[p * n + q] * A[p * n + q];
			}
		}
		if (off <= 1e-30 * total) {
			break;
		}
		for (int p = 0; p < n; ++p) {
			for (int q = p + 1; q < n; ++q) {
				rotate(A, n, p, q);
			}
		}
	}
	for (int i = 0; i < n; ++i) {
		values[i] = A[i * n + i];
	}
	sortAscending(values, n);
}

// --- general ---------------------------------------------------------------------------------------------------

// H <- P H P with the reflection P that clears column k below the first subdiagonal.
static void reflect(Complex* H, int n, int k, Complex* v) {
	double norm = 0.0;
	for (int i = k + 1; i < n; ++i) {
		v[i] = H[i * n + k];
		norm += creal(v[i] * conj(v[i]));
	}
	norm = sqrt(norm);
	if (norm == 0.0) {
		return;
	}
	double size = cabs(v[k + 1]);
	v[k + 1] += norm * (size > 0.0 ? v[k + 1] / size : 1.0);
	double length = 0.0;
	for (int i = k + 1; i < n; ++i) {
		length += creal(v[i] * conj(v[i]));
	}
	for (int j = 0; j < n; ++j) {
		Complex dot = 0.0;
		for (int i = k + 1; i < n; ++i) {
			dot += conj(v[i]) * H[i * n + j];
		}
		for (int i = k + 1; i < n; ++i) {
			H[i * n + j] -= 2.0 / length * dot * v[i];
		}
	}
	for (int i = 0; i < n; ++i) {
		Complex dot = 0.0;
		for (int j = k + 1; j < n; ++j) {
			dot += H[i * n + j] * v[j];
		}
		for (int j = k + 1; j < n; ++j) {
			H[i * n + j] -= 2.0 / length * dot * conj(v[j]);
		}
	}
}

static Complex wilkinson(const Complex* H, int n, int m) {
	Complex a = H[(m - 1) * n + m - 1], b = H[(m - 1) * n + m], c = H[m * n + m - 1], d = H[m * n + m];
	Complex half = 0.5 * (a + d), root = csqrt(0.25 * (a - d) * (a - d) + b * c);
	Complex one = half + root, two = half - root;
	return cabs(one - d) < cabs(two - d) ? one : two;
}

// One step on the active block [first, m]: Givens rotations from the left, then from the right.
static void qrStep(Complex* H, int n, int first, int m, Complex shift, Complex* cosines, Complex* sines) {
	for (int i = first; i <= m; ++i) {
		H[i * n + i] -= shift;
	}
	for (int k = first; k < m; ++k) {
		Complex a = H[k * n + k], b = H[(k + 1) * n + k];
		double r = sqrt(creal(a * conj(a) + b * conj(b)));
		cosines[k] = r > 0.0 ? a / r : 1.0;
		sines[k] = r > 0.0 ? b / r : 0.0;
		for (int j = k; j <= m; ++j) {
			Complex up = H[k * n + j], low = H[(k + 1) * n + j];
			H[k * n + j] = conj(cosines[k]) * up + conj(sines[k]) * low;
			H[(k + 1) * n + j] = -sines[k] * up + cosines[k] * low;
		}
	}
	for (int k = first; k < m; ++k) {
		for (int i = first; i <= (k + 1 < m ? k + 1 : m); ++i) {
			Complex left = H[i * n + k], right = H[i * n + k + 1];
			H[i * n + k] = cosines[k] * left + sines[k] * right;
			H[i * n + k + 1] = -conj(sines[k]) * left + conj(cosines[k]) * right;
		}
	}
	for (int i = first; i <= m; ++i) {
		H[i * n + i] += shift;
	}
}

// Subdiagonal entries that are rounding error end the active block.
static int blockStart(Complex* H, int n, int m, double scale) {
	int first = m;
	while (first > 0) {
		double near = cabs(H[first * n + first]) + cabs(H[(first - 1) * n + first - 1]);
		if (cabs(H[first * n + first - 1]) <= DBL_EPSILON * (near > 0.0 ? near : scale)) {
			H[first * n + first - 1] = 0.0;
			break;
		}
		--first;
	}
	return first;
}

static bool iterate(Complex* H, int n, Complex* cosines, Complex* sines, double* real, double* imaginary) {
	double scale = 0.0;
	for (int i = 0; i < n * n; ++i) {
		scale += creal(H[i] * conj(H[i]));
	}
	scale = sqrt(scale);
	int steps = 0;
	for (int m = n - 1; m >= 0;) {
		int first = m > 0 ? blockStart(H, n, m, scale) : 0;
		if (first == m) {
			real[m] = creal(H[m * n + m]);
			imaginary[m] = cimag(H[m * n + m]);
			--m;
			steps = 0;
			continue;
		}
		if (++steps > MAX_STEPS) {
			return false;
		}
		// an odd shift now and then breaks cycles
		Complex shift = steps % 10 == 0 ? H[m * n + m] + cabs(H[m * n + m - 1]) : wilkinson(H, n, m);
		qrStep(H, n, first, m, shift, cosines, sines);
	}
	return true;
}

bool knSpectrum_General(const double* A, int n, double* real, double* imaginary) {
	Complex* H = calloc((size_t)n * (size_t)n, sizeof(Complex));
	Complex* work = calloc(2 * (size_t)n + 1, sizeof(Complex));
	bool done = false;
	if (H != NULL && work != NULL) {
		for (int i = 0; i < n * n; ++i) {
			H[i] = A[i];
		}
		for (int k = 0; k + 2 < n; ++k) {
			reflect(H, n, k, work);
		}
		done = iterate(H, n, work, work + n, real, imaginary);
	}
	free(H);
	free(work);
	return done;
}
