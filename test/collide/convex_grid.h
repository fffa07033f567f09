// Random pairs of all cells of the convex grid against the certified search of support/convex_oracle.h.
#pragma once

#include "support/kn_test.h"
#include "support/convex_oracle.h"

enum { GRID_KINDS = 7 };

static const knGeomKind gridKinds[GRID_KINDS] = { KN_GEOM_SPHERE,   KN_GEOM_CAPSULE,   KN_GEOM_BOX,
												  KN_GEOM_CYLINDER, KN_GEOM_ELLIPSOID, KN_GEOM_HULL,
												  KN_GEOM_PLANE };

// Signed distances within 1e-6 of the size, normals within 1e-3 where unique, witness points on their surfaces
// within 1e-6.
static inline void assertGridAgrees(int pairsPerCell, uint64_t seed) {
	OracleNode* heap = malloc(ORACLE_NODES * sizeof(OracleNode));
	int open = 0, total = 0;
	for (int i = 0; i < GRID_KINDS - 1; ++i) {
		for (int j = i; j < GRID_KINDS; ++j) {
			OracleRandom random = { seed + (uint64_t)(GRID_KINDS * i + j) * UINT64_C(0x9e3779b9) };
			for (int n = 0; n < pairsPerCell; ++n, ++total) {
				OraclePair pair = oracleRandomPair(gridKinds[i], gridKinds[j], &random);
				OracleErrors errors = oracleCompare(&pair, heap);
				oracleRelease(&pair);
				open += errors.spread > 1e-6;
				if (errors.missing ||
					!(errors.distance <= 1e-6 && errors.normal <= 1e-3 && errors.witness <= 1e-6)) {
					fail_msg(
						"%s and %s, pair %d: distance off by %.2e sizes, normal by %.2e, witnesses by %.2e%s",
						knGeomKind_Name(gridKinds[i]), knGeomKind_Name(gridKinds[j]), n, errors.distance,
						errors.normal, errors.witness, errors.missing ? " (no contact)" : "");
				}
			}
		}
	}
	// the search itself decides nearly all
	assert_true(open < 0.03 * total);
	free(heap);
}
