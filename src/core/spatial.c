// 6D spatial algebra (Featherstone 2008, chapter 2 and appendix A): transforms, cross products and inertias.
//
//   R, r     rotation and origin of frame B seen from A; E = R^T
//   [r]      the matrix of r x
//   X^T I X  for I = | aa  al |, after turning the blocks:  ll' = ll,  al' = al + [r] ll,
//                    | .   ll |                             aa' = aa - al [r] + [r] al'^T
#include "core/spatial.h"

knTwist knMotionToFrame(knFrame B, knTwist m) {
	knVec3 lin = knSub(m.lin, knCross(B.p, m.ang));
	return knMakeTwist(knInvRotate(B.q, m.ang), knInvRotate(B.q, lin));
}

knTwist knMotionFromFrame(knFrame B, knTwist m) {
	knVec3 ang = knRotate(B.q, m.ang);
	return knMakeTwist(ang, knAdd(knRotate(B.q, m.lin), knCross(B.p, ang)));
}

knTwist knForceToFrame(knFrame B, knTwist f) {
	knVec3 moment = knSub(f.ang, knCross(B.p, f.lin));
	return knMakeTwist(knInvRotate(B.q, moment), knInvRotate(B.q, f.lin));
}

knTwist knForceFromFrame(knFrame B, knTwist f) {
	knVec3 force = knRotate(B.q, f.lin);
	return knMakeTwist(knAdd(knRotate(B.q, f.ang), knCross(B.p, force)), force);
}

knTwist knCrossMotion(knTwist v, knTwist m) {
	return knMakeTwist(knCross(v.ang, m.ang), knAdd(knCross(v.ang, m.lin), knCross(v.lin, m.ang)));
}

knTwist knCrossForce(knTwist v, knTwist f) {
	return knMakeTwist(knAdd(knCross(v.ang, f.ang), knCross(v.lin, f.lin)), knCross(v.ang, f.lin));
}

knInertia knInertia_Make(double mass, knVec3 center, const knMat33* aboutCenter) {
	// parallel axes: -[c][c] = |c|^2 1 - c c^T, written out so that the sum is exactly symmetric
	knVec3 c = center;
	double xy = -mass * c.x * c.y, xz = -mass * c.x * c.z, yz = -mass * c.y * c.z;
	knMat33 shift = knMakeMat33(knV3(mass * (c.y * c.y + c.z * c.z), xy, xz),
								knV3(xy, mass * (c.x * c.x + c.z * c.z), yz),
								knV3(xz, yz, mass * (c.x * c.x + c.y * c.y)));
	knInertia inertia = { mass, knScale(mass, c), knAddMM(aboutCenter, &shift) };
	return inertia;
}

knTwist knInertia_Mul(const knInertia* inertia, knTwist v) {
	knVec3 moment = knAdd(knMulMV(&inertia->origin, v.ang), knCross(inertia->mc, v.lin));
	knVec3 force = knSub(knScale(inertia->mass, v.lin), knCross(inertia->mc, v.ang));
	return knMakeTwist(moment, force);
}

knInertia6 knInertia_Full(const knInertia* inertia) {
	double m = inertia->mass;
	knInertia6 full = { inertia->origin, knSkew(inertia->mc), knDiagonal33(m, m, m) };
	return full;
}

knTwist knInertia6_Mul(const knInertia6* inertia, knTwist v) {
	knVec3 moment = knAdd(knMulMV(&inertia->aa, v.ang), knMulMV(&inertia->al, v.lin));
	knVec3 force = knAdd(knTMulMV(&inertia->al, v.ang), knMulMV(&inertia->ll, v.lin));
	return knMakeTwist(moment, force);
}

knInertia6 knInertia6_Add(const knInertia6* a, const knInertia6* b) {
	knInertia6 sum = { knAddMM(&a->aa, &b->aa), knAddMM(&a->al, &b->al), knAddMM(&a->ll, &b->ll) };
	return sum;
}

// (M + M^T) / 2: round-off must not make an inertia unsymmetric, since factorisations read one half only.
static knMat33 symmetricPart(const knMat33* m) {
	knMat33 t = knTranspose33(m);
	knMat33 sum = knAddMM(m, &t);
	return knScaleM(0.5, &sum);
}

knInertia6 knInertia6_FromFrame(knFrame B, const knInertia6* inB) {
	// blocks to the axes of A, still about the origin of B
	knMat33 aa = knRotateTensor(B.q, &inB->aa);
	knMat33 al = knRotateTensor(B.q, &inB->al);
	knMat33 ll = knRotateTensor(B.q, &inB->ll);

	// about the origin of A
	knMat33 r = knSkew(B.p);
	knMat33 rll = knMulMM(&r, &ll);
	knMat33 alA = knAddMM(&al, &rll);
	knMat33 alAT = knTranspose33(&alA);
	knMat33 alr = knMulMM(&al, &r);
	knMat33 minusAlr = knScaleM(-1.0, &alr);
	knMat33 ralAT = knMulMM(&r, &alAT);
	knMat33 aaA = knAddMM(&aa, &minusAlr);
	aaA = knAddMM(&aaA, &ralAT);

	knInertia6 inA = { symmetricPart(&aaA), alA, symmetricPart(&ll) };
	return inA;
}
