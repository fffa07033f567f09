// Fewer keys for the same motion. From a kept pose the span to the next one grows while every pose between is
// reproduced: in doubling strides, then by bisection, so that n poses cost about n log n checks.
//
// Programs differ in how they turn between two rotations: glTF demands slerp, Blender interpolates the four numbers.
// Over an angle 2a between keys the two differ by at most about 0.03 a^3 rad, so spans are kept so short that the
// difference does not matter, and the simpler one is checked.
#include "record/glb_keys.h"

#include "core/assert.h"

#define UNIT 32767.0
#define LEAST_SPAN_COSINE 0.995 // of the half angle between two keys that have others between them

static int16_t toShort(double x) {
	return (int16_t)floor(knClamp(x, -1.0, 1.0) * UNIT + 0.5);
}

knGlbPose knGlbPose_Make(knVec3 position, knQuat rotation, const knGlbPose* near) {
	knQuat q = knNormalizeQ(rotation);
	if (near != NULL && knDotQ(q, knGlbPose_Rotation(near)) < 0.0) {
		q = knNegQ(q);
	}
	knGlbPose pose = { { (float)position.x, (float)position.y, (float)position.z },
					   { toShort(q.x), toShort(q.y), toShort(q.z), toShort(q.w) } };
	return pose;
}

knQuat knGlbPose_Rotation(const knGlbPose* pose) {
	const int16_t* r = pose->rotation;
	return knNormalizeQ(knQ(r[3] / UNIT, r[0] / UNIT, r[1] / UNIT, r[2] / UNIT));
}

static knVec3 positionOf(const knGlbPose* pose) {
	return knV3((double)pose->position[0], (double)pose->position[1], (double)pose->position[2]);
}

static double fraction(const knGlbCurve* curve, int first, int last, int index) {
	double start = (double)curve->times[first], end = (double)curve->times[last];
	return ((double)curve->times[index] - start) / (end - start);
}

// True if keys at `first` and `last` reproduce everything between.
typedef bool SpanFn(const knGlbCurve* curve, int first, int last, double tolerance);

static bool positionSpan(const knGlbCurve* curve, int first, int last, double tolerance) {
	knVec3 a = positionOf(&curve->poses[first]), b = positionOf(&curve->poses[last]);
	for (int k = first + 1; k < last; ++k) {
		knVec3 guess = knLerp(a, b, fraction(curve, first, last, k));
		if (knDistance(guess, positionOf(&curve->poses[k])) > tolerance) {
			return false;
		}
	}
	return true;
}

// The angle between two close rotations whose quaternions have the same sign: twice their distance.
static double angleBetween(knQuat a, knQuat b) {
	knQuat d = knQ(a.w - b.w, a.x - b.x, a.y - b.y, a.z - b.z);
	return 2.0 * sqrt(knDotQ(d, d));
}

static bool rotationSpan(const knGlbCurve* curve, int first, int last, double tolerance) {
	knQuat a = knGlbPose_Rotation(&curve->poses[first]), b = knGlbPose_Rotation(&curve->poses[last]);
	if (last > first + 1 && knDotQ(a, b) < LEAST_SPAN_COSINE) {
		return false;
	}
	for (int k = first + 1; k < last; ++k) {
		double s = fraction(curve, first, last, k);
		knQuat guess = knNormalizeQ(
			knQ(a.w + s * (b.w - a.w), a.x + s * (b.x - a.x), a.y + s * (b.y - a.y), a.z + s * (b.z - a.z)));
		if (angleBetween(guess, knGlbPose_Rotation(&curve->poses[k])) > tolerance) {
			return false;
		}
	}
	return true;
}

// The last pose that a key at `first` reaches.
static int reach(const knGlbCurve* curve, int first, SpanFn* spans, double tolerance) {
	int end = curve->count - 1, good = first + 1, bad = end + 1;
	for (int stride = 2; good < end && bad > end; stride *= 2) {
		int tried = stride < end - first ? first + stride : end;
		if (spans(curve, first, tried, tolerance)) {
			good = tried;
		} else {
			bad = tried;
		}
	}
	while (bad - good > 1) {
		int middle = good + (bad - good) / 2;
		if (spans(curve, first, middle, tolerance)) {
			good = middle;
		} else {
			bad = middle;
		}
	}
	return good < end ? good : end;
}

static int chooseKeys(const knGlbCurve* curve, SpanFn* spans, double tolerance, int* keys) {
	int count = 0, at = 0;
	keys[count++] = at;
	while (at < curve->count - 1) {
		at = reach(curve, at, spans, tolerance);
		KN_ASSERT(at > keys[count - 1]);
		keys[count++] = at;
	}
	return count;
}

int knGlbCurve_PositionKeys(const knGlbCurve* curve, double tolerance, int* keys) {
	const float* first = curve->poses[0].position;
	bool moves = false;
	for (int k = 1; k < curve->count && !moves; ++k) {
		const float* p = curve->poses[k].position;
		moves = p[0] != first[0] || p[1] != first[1] || p[2] != first[2];
	}
	return moves ? chooseKeys(curve, positionSpan, tolerance, keys) : 0;
}

int knGlbCurve_RotationKeys(const knGlbCurve* curve, double tolerance, int* keys) {
	const int16_t* first = curve->poses[0].rotation;
	bool moves = false;
	for (int k = 1; k < curve->count && !moves; ++k) {
		const int16_t* r = curve->poses[k].rotation;
		moves = r[0] != first[0] || r[1] != first[1] || r[2] != first[2] || r[3] != first[3];
	}
	return moves ? chooseKeys(curve, rotationSpan, tolerance, keys) : 0;
}
