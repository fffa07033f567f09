// One cell of the field of sdf.h: a linear function, how far its sign is in doubt, and how far it may be too high.
//
//   slope      least squares over the samples; distance: the middle between the largest errors
//   doubt      without surface in the cell: as far as the function reaches to the wrong side of zero.
//              With: the largest |phi| on any triangle in the cell. Where phi is larger there is no surface, that
//              part of the cell is convex, so it has one sign, and its outermost corner was sampled.
//   slack      f the true distance, at most `gap` from a sample: f >= f(sample) - gap. At least rho away
//              from the surface f is also semi-concave, f(sum l_i x_i) >= sum l_i (f(x_i) - |x_i - x|^2 / 2 rho),
//              and the corners of an eighth of the cell give a bound that shrinks with h^2.
//
// All of it is reckoned with the rounded numbers that the cell keeps, so that it holds for them.
#include "geom/sdf.h"

#define SHARE 0.4       // of the tolerance at samples: what lies between them may have the rest
#define SHARE_SMALL 0.3 // the same with fewer samples
#define SHARE_LAST 0.6  // the same in cells that are not cut further
#define DOUBT 0.2       // of the tolerance: cells that could be smaller are in doubt no farther
#define ROUGH 0.1       // of the tolerance: how far samples themselves may be off
#define ROUGH_FAR 0.05  // of the distance beyond the band
#define ROUNDING 1e-9   // of lengths
#define POLYGON_MOST 9  // corners of a triangle cut by six planes

knMeshRough knSdf_Rough(const knSdf* field, const knMesh* mesh) {
	return (knMeshRough){ ROUGH * field->tolerance, KN_SDF_BAND * mesh->size, ROUGH_FAR };
}

// Sample i stands at (x, y, z) in {-1, 0, 1} half sides.
static knVec3 placeOf(int i) {
	return knV3(i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1);
}

static bool isCorner(int i) {
	return i % 3 != 1 && i / 3 % 3 != 1 && i / 9 != 1;
}

static bool isSampled(const knSdfStencil* s, int i) {
	return s->whole || i == KN_SDF_SAMPLES / 2 || isCorner(i);
}

// --- the linear function ---------------------------------------------------------------------------------

static int16_t packSlope(double slope) {
	double scaled = slope / KN_SDF_SLOPE;
	return (int16_t)knMax(-32767.0, knMin(32767.0, scaled < 0.0 ? scaled - 0.5 : scaled + 0.5));
}

static void fitSlope(const knSdfStencil* s, knSdfCell* cell) {
	double weight = 0.0;
	knVec3 sum = knZero3();
	for (int i = 0; i < KN_SDF_SAMPLES; ++i) {
		if (isSampled(s, i)) {
			knVec3 at = placeOf(i);
			weight += at.x * at.x;
			sum = knMulAdd(sum, s->values[i], at);
		}
	}
	double scale = 2.0 / (s->side * weight);
	cell->slope[0] = packSlope(scale * sum.x);
	cell->slope[1] = packSlope(scale * sum.y);
	cell->slope[2] = packSlope(scale * sum.z);
}

static double valueAt(const knSdfCell* cell, const knSdfStencil* s, knVec3 halfSides) {
	return (double)cell->distance + 0.5 * s->side * knDot(knSdfCell_Slope(cell), halfSides);
}

static void fitDistance(const knSdfStencil* s, knSdfCell* cell) {
	double least = INFINITY, most = -INFINITY;
	cell->distance = 0.0f;
	for (int i = 0; i < KN_SDF_SAMPLES; ++i) {
		if (isSampled(s, i)) {
			double rest = s->values[i] - valueAt(cell, s, placeOf(i));
			least = knMin(least, rest);
			most = knMax(most, rest);
		}
	}
	cell->distance = (float)(0.5 * (least + most));
}

// Whether the error is small enough at all samples; the largest by which the function may be too high.
static bool isClose(const knSdf* field, const knMesh* mesh, const knSdfStencil* s, bool smallest,
					const knSdfCell* cell, double* high) {
	knMeshRough rough = knSdf_Rough(field, mesh);
	double share = smallest ? SHARE_LAST : s->whole ? SHARE : SHARE_SMALL;
	bool close = true;
	*high = 0.0;
	for (int i = 0; i < KN_SDF_SAMPLES; ++i) {
		if (!isSampled(s, i)) {
			continue;
		}
		double error = valueAt(cell, s, placeOf(i)) - s->values[i];
		double beyond = knMax(0.0, knAbs(s->values[i]) - KN_SDF_BAND * mesh->size);
		close = close && knAbs(error) <= share * field->tolerance + KN_SDF_FAR_SHARE * beyond;
		*high = knMax(*high, error + knMeshRough_Error(&rough, knAbs(s->values[i])));
	}
	return close;
}

// --- slack -----------------------------------------------------------------------------------------------

static double slackOf(const knSdfStencil* s, const knSdfCell* cell, double clear, double high) {
	double h = s->side, steep = knLength(knSdfCell_Slope(cell));
	// farthest from all samples: in the middle of an eighth of the cell; or between corners and centre
	double gap = s->whole ? 0.4331 * h : 0.5591 * h;
	double slack = (1.0 + steep) * gap;
	double rho = (s->values[KN_SDF_SAMPLES / 2] > 0.0 ? clear : 0.0) - 0.8661 * h;
	if (rho > 0.0) {
		double part = s->whole ? 0.25 * h : 0.5 * h; // half the side between samples
		slack = knMin(slack, 3.0 * part * part / (2.0 * rho));
	}
	return high + slack;
}

// --- doubt -----------------------------------------------------------------------------------------------

typedef struct Polygon {
	int count;
	knVec3 corners[POLYGON_MOST + 1];
} Polygon;

// Keeps what lies below sign * x[axis] = limit.
static void clip(Polygon* polygon, int axis, double sign, double limit) {
	Polygon out = { 0 };
	for (int i = 0; i < polygon->count; ++i) {
		knVec3 a = polygon->corners[i], b = polygon->corners[(i + 1) % polygon->count];
		double over = sign * knComponent(a, axis) - limit, overNext = sign * knComponent(b, axis) - limit;
		if (over <= 0.0) {
			out.corners[out.count++] = a;
		}
		if ((over < 0.0 && overNext > 0.0) || (over > 0.0 && overNext < 0.0)) {
			out.corners[out.count++] = knMulAdd(a, over / (over - overNext), knSub(b, a));
		}
	}
	*polygon = out;
}

// The largest |phi| of a triangle's part in the cell; -1: no part of it is.
static double largestOn(const knMesh* mesh, int triangle, const knSdfStencil* s, const knSdfCell* cell) {
	Polygon polygon = { .count = 3 };
	knMesh_Corners(mesh, triangle, polygon.corners);
	for (int k = 0; k < 3; ++k) {
		polygon.corners[k] = knSub(polygon.corners[k], s->center);
	}
	double half = 0.5 * s->side * (1.0 + ROUNDING) + ROUNDING * mesh->size;
	for (int k = 0; k < 6 && polygon.count > 0; ++k) {
		clip(&polygon, k / 2, k % 2 ? 1.0 : -1.0, half);
	}
	double largest = -1.0;
	knVec3 slope = knSdfCell_Slope(cell);
	for (int k = 0; k < polygon.count; ++k) {
		largest = knMax(largest, knAbs((double)cell->distance + knDot(slope, polygon.corners[k])));
	}
	return largest;
}

// The largest |phi| on the surface in the cell.
static double largestOnSurface(const knMesh* mesh, const knSdfStencil* s, const knSdfCell* cell,
							   double most) {
	knAabb box = knAabb_Grow((knAabb){ s->center, s->center }, 0.5 * s->side + ROUNDING * mesh->size);
	double largest = 0.0;
	int cursor = 0;
	for (int t; largest <= most && (t = knBvh_Next(&mesh->tree, &box, &cursor)) >= 0;) {
		largest = knMax(largest, largestOn(mesh, t, s, cell));
	}
	return largest;
}

// Whether the corners with the highest and the lowest phi have its sign, as far as it is beyond the doubt.
static bool haveSigns(const knSdfStencil* s, const knSdfCell* cell, double doubt) {
	int high = (cell->slope[0] > 0 ? 2 : 0) + (cell->slope[1] > 0 ? 6 : 0) + (cell->slope[2] > 0 ? 18 : 0);
	int low = KN_SDF_SAMPLES - 1 - high;
	return (valueAt(cell, s, placeOf(high)) <= doubt || s->values[high] > 0.0) &&
		   (valueAt(cell, s, placeOf(low)) >= -doubt || s->values[low] < 0.0);
}

// The doubt; false if it is more than `most`. No surface is within `clear` of the centre.
static bool findDoubt(const knMesh* mesh, const knSdfStencil* s, const knSdfCell* cell, double clear,
					  double most, double* doubt) {
	double middle = s->values[KN_SDF_SAMPLES / 2];
	if (clear > 0.8661 * s->side) {
		knVec3 slope = knSdfCell_Slope(cell);
		double reach = 0.5 * s->side * (knAbs(slope.x) + knAbs(slope.y) + knAbs(slope.z));
		double nearest = (middle > 0.0 ? (double)cell->distance : -(double)cell->distance) - reach;
		*doubt = nearest > 0.0 ? 0.0 : -nearest;
		return *doubt <= most;
	}
	*doubt = largestOnSurface(mesh, s, cell, most);
	return *doubt <= most && haveSigns(s, cell, *doubt);
}

// --- all together ----------------------------------------------------------------------------------------

static uint16_t packUp(const knSdf* field, double length) {
	double quanta = length * (1.0 + ROUNDING) / field->quantum + 1.0;
	return quanta < KN_SDF_NEVER ? (uint16_t)quanta : KN_SDF_NEVER;
}

bool knSdfCell_Fit(const knSdf* field, const knMesh* mesh, const knSdfStencil* stencil, bool smallest,
				   knSdfCell* cell) {
	*cell = (knSdfCell){ .doubt = KN_SDF_NEVER };
	fitSlope(stencil, cell);
	fitDistance(stencil, cell);
	double high, doubt;
	bool close = isClose(field, mesh, stencil, smallest, cell, &high);
	knMeshRough rough = knSdf_Rough(field, mesh);
	double middle = knAbs(stencil->values[KN_SDF_SAMPLES / 2]);
	double clear = middle - knMeshRough_Error(&rough, middle);
	cell->slack = packUp(field, slackOf(stencil, cell, clear, high));
	double most = (smallest ? SHARE : DOUBT) * field->tolerance;
	if (!close || !findDoubt(mesh, stencil, cell, clear, most, &doubt)) {
		return false;
	}
	cell->doubt = packUp(field, doubt);
	return true;
}
