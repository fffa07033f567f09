// Eigenvalues of small dense matrices, for plots: row-major, n x n.
#pragma once

#include <stdbool.h>

// Of a symmetric matrix, ascending, by cyclic Jacobi rotations. A is overwritten.
void knSpectrum_Symmetric(double* A, int n, double* values);
// Of any matrix, real and imaginary parts, by shifted QR on the Hessenberg form. False: no memory or no convergence.
bool knSpectrum_General(const double* A, int n, double* real, double* imaginary);
