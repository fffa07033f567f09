// Newton's direction H d = f of a group (joint_contact_newton.c). A small group's matrix is factored whenever a weight changes.
// That of a large one, where some weight changes all the time, is kept, and the direction found by conjugate gradients:
//
//   H = H0 + sum (w - w0) J^T J      H0, w0: when it was factored      sum: over the rows whose weight is another one
//
// H0 is the preconditioner, so that a few rows take a few iterations; and since the product of H0 with a direction follows from
// that of the iteration before, only the rows of the sum have to be multiplied by. Where a large group is cut, the rows between
// its parts belong to the sum: H0 has none of them.
#include <string.h>

#include "steppers/impulse/joint_contact_internal.h"

#define REACH 16  // iterations at most
#define GOOD 1e-5 // of the first residual, squared

bool knLawGroup_Factor(knLawGroup* group) {
	knJointContacts* contacts = group->contacts;
	knBodyMatrix_Begin(&group->matrix, &contacts->whole);
	group->heldCount = 0;
	for (int n = 0; n < group->count; ++n) {
		const knLawEntry* entry = &group->entries[n];
		const bool joint = entry->index < contacts->jointCount;
		knBodyPlace place = { 0 };
		if (!entry->cut) {
			place = knBodyPlace_Find(&group->matrix, entry->a, entry->b);
		}
		for (int k = 0; k < entry->count; ++k) {
			knLawRow* row = &contacts->rows[entry->first + k];
			const double weight = entry->cut ? 0.0 : row->weight;
			row->made = weight;
			if (weight > 0.0) {
				knBodyPlace_Add(&place, &row->row, weight);
			}
			if (group->large && joint && k >= entry->locked) {
				row->made = 0.0;
				group->held[group->heldCount++] = (knHeldRow){ row->row, entry->a, entry->b, weight };
			}
		}
	}
	group->factored = knBodyMatrix_Factor(&group->matrix);
	return group->factored;
}

static int findDeltas(knLawGroup* group) {
	int count = 0;
	for (int n = 0; n < group->count; ++n) {
		const knLawEntry* entry = &group->entries[n];
		for (int k = 0; k < entry->count; ++k) {
			const knLawRow* row = &group->contacts->rows[entry->first + k];
			if (row->weight != row->made) {
				group->deltas[count++] =
					(knLawDelta){ &row->row, entry->a, entry->b, row->weight - row->made };
			}
		}
	}
	for (int k = 0; k < group->heldCount; ++k) {
		const knHeldRow* held = &group->held[k];
		group->deltas[count++] = (knLawDelta){ &held->row, held->a, held->b, -held->weight };
	}
	return count;
}

static double dot(const double* a, const double* b, int count) {
	double sum = 0.0;
	for (int c = 0; c < count; ++c) {
		sum += a[c] * b[c];
	}
	return sum;
}

static int conjugateGradients(const knLawGroup* group, int deltaCount) {
	const int count = 6 * group->matrix.count;
	const size_t size = sizeof(double) * (size_t)count;
	double *d = group->forward, *r = group->work, *z = r + count, *p = z + count, *plain = p + count,
		   *q = plain + count;
	memcpy(r, d, size);
	memcpy(z, d, size);
	memset(d, 0, size);
	knBodyMatrix_Solve(&group->matrix, z);
	double now = dot(r, z, count), good = GOOD * now;
	memcpy(p, z, size);
	memcpy(plain, r, size); // H0 p
	for (int k = 1;; ++k) {
		memcpy(q, plain, size);
		for (int i = 0; i < deltaCount; ++i) {
			const knLawDelta* delta = &group->deltas[i];
			const double rate = knLawRow_Rate(delta->row, delta->a, delta->b, p);
			knLawRow_Push(delta->row, delta->a, delta->b, delta->weight * rate, q);
		}
		const double curve = dot(p, q, count);
		if (!(curve > 0.0)) {
			return k;
		}
		const double share = now / curve;
		for (int c = 0; c < count; ++c) {
			d[c] += share * p[c];
			r[c] -= share * q[c];
		}
		if (k == REACH) {
			return k;
		}
		memcpy(z, r, size);
		knBodyMatrix_Solve(&group->matrix, z);
		const double next = dot(r, z, count), beta = next / now;
		if (!(next > good)) {
			return k;
		}
		for (int c = 0; c < count; ++c) {
			p[c] = z[c] + beta * p[c];
			plain[c] = r[c] + beta * plain[c];
		}
		now = next;
	}
}

int knLawGroup_Solve(knLawGroup* group) {
	const int deltaCount = group->large ? findDeltas(group) : 0;
	if (deltaCount == 0) {
		knBodyMatrix_Solve(&group->matrix, group->forward);
		return 0;
	}
	return conjugateGradients(group, deltaCount);
}
