// The elliptic cone of a ball joint, in the plane of swing vectors (joint_cone.c).
#pragma once

#include "model/joint.h"

// A rotation q = swing twist: twist by `twist` about x, swing by `angle` about u = (0, u.y, u.z).
typedef struct knSwing {
	double angle;  // phi in [0, pi]
	double uy, uz; // unit
	double twist;  // in (-pi, pi]
} knSwing;

knSwing knSwing_Split(knQuat q);
// Room between the swing vector b = phi u and the ellipse with half axes coneY, coneZ, negative outside, and
// the unit outward normal (y, z) at the ellipse's closest point.
double knCone_Room(double coneY, double coneZ, const knSwing* swing, double* normalY, double* normalZ);
// A bound from below of the same, without the search.
double knCone_RoomBound(double coneY, double coneZ, const knSwing* swing);
// d/dt of the swing vector's component along the unit vector (y, z), as a row for the angular velocity.
knVec3 knSwing_RateRow(const knSwing* swing, double y, double z);
// Point g = (cos k phi, sin k phi u) of the cone's boundary that is closest to the unit vector (r0, ry, rz) of
// the same form, whose swing lies outside the cone.
void knCone_Closest(double coneY, double coneZ, double k, const double r[3], double g[3]);
