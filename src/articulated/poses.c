// Kinematics: what is read off the poses and velocities of all links.
#include "articulated/tree.h"

// --- what users read -------------------------------------------------------------------------------------

void knTree_Kinematics(const knTree* tree, knTreeWork* work, const double* q, const double* v) {
	tree->kernel->sweep(tree, work, q, v, NULL, knZero3());
}

knFrame knTree_LinkFrame(const knTree* tree, const knTreeWork* work, int link) {
	knMat33 R = knLanes_ToMat(&work->pose[link].R);
	knFrame joint = knMakeFrame(knLanes_ToVec(work->origin[link]), knQuat_FromMat33(&R));
	return knMulF(joint, knInvF(tree->inLink[link]));
}

knTwist knTree_LinkVelocity(const knTree* tree, const knTreeWork* work, int link) {
	knVec3 w = knLanes_ToVec(work->velocity[link].ang), u = knLanes_ToVec(work->velocity[link].lin);
	knVec3 arm = knSub(knTree_LinkFrame(tree, work, link).p, knLanes_ToVec(work->origin[link]));
	return (knTwist){ w, knAdd(u, knCross(w, arm)) };
}

knTwist knTree_LinkAcceleration(const knTree* tree, const knTreeWork* work, int link) {
	knVec3 w = knLanes_ToVec(work->velocity[link].ang), alpha = knLanes_ToVec(work->motion[link].ang);
	knVec3 arm = knSub(knTree_LinkFrame(tree, work, link).p, knLanes_ToVec(work->origin[link]));
	knVec3 swing = knAdd(knCross(alpha, arm), knCross(w, knCross(w, arm)));
	return (knTwist){ alpha, knAdd(knLanes_ToVec(work->motion[link].lin), swing) };
}

static knVec3 pointVelocity(knFrame frame, knTwist velocity, knVec3 point) {
	return knAdd(velocity.lin, knCross(velocity.ang, knSub(point, frame.p)));
}

void knTree_ReadLinks(const knTree* tree, const knTreeWork* work, const knFrame* frames,
					  const knTwist* velocities, double* q, double* v) {
	knMat33 axes = knLanes_ToMat(&work->base->pose.R);
	knFrame base = knMakeFrame(knLanes_ToVec(work->base->pose.r), knQuat_FromMat33(&axes));
	knTwist baseVelocity = { knLanes_ToVec(work->base->velocity.ang),
							 knLanes_ToVec(work->base->velocity.lin) };
	for (int i = 0; i < tree->count; ++i) {
		const knTreeNode* node = &tree->nodes[i];
		int p = node->parent;
		const knJoint* joint = &tree->joints[i];
		knFrame from = p >= 0 ? frames[p] : base;
		knTwist drift = p >= 0 ? velocities[p] : baseVelocity;
		knFrame outer = knMulF(p >= 0 ? knMulF(from, tree->inLink[p]) : from, tree->rest[i]);
		knFrame inner = knMulF(frames[i], tree->inLink[i]), J = knInvMulF(outer, inner);
		knTwist relative = { knSub(velocities[i].ang, drift.ang),
							 knSub(pointVelocity(frames[i], velocities[i], inner.p),
								   pointVelocity(from, drift, inner.p)) };
		double previous[KN_JOINT_MAX_Q];
		for (int k = 0; k < joint->nq; ++k) {
			previous[k] = q[node->qOffset + k];
		}
		knJointOps_Get(node->kind)->coordinates(joint, J, previous, q + node->qOffset);
		knJoint_Velocities(joint, J, q + node->qOffset, knInvRotateT(outer.q, relative), v + node->vOffset);
	}
}

knTreeForce knTree_UserForce(const knTree* tree, const knTreeWork* work, int i, const knTwist* forces) {
	// from the joint's origin to that of the link's frame
	knVec3 inJoint = knInvF(tree->inLink[i]).p;
	knLanes arm = knLanes_Mul(&work->pose[i].R, knLanes_FromVec(inJoint)), f = knLanes_FromVec(forces[i].lin);
	return (knTreeForce){ knLanes_FromVec(forces[i].ang) + knLanes_Cross(arm, f), f };
}

void knTree_TakeForces(const knTree* tree, knTreeWork* work, const knTwist* forces) {
	for (int i = 0; forces != NULL && i < tree->count; ++i) {
		knTreeForce applied = knTree_UserForce(tree, work, i, forces);
		work->force[i].n -= applied.n;
		work->force[i].f -= applied.f;
	}
}

void knTree_Jacobian(const knTree* tree, const knTreeWork* work, int link, knVec3 point, double* J) {
	int nv = tree->nv;
	for (int k = 0; k < 6 * nv; ++k) {
		J[k] = 0.0;
	}
	for (int i = link; i >= 0; i = tree->nodes[i].parent) {
		const knTreeNode* node = &tree->nodes[i];
		knVec3 arm = knSub(point, knLanes_ToVec(work->origin[i]));
		for (int k = 0; k < node->nv; ++k) {
			knTreeMotion S = knTree_Column(tree, work, i, k);
			knVec3 ang = knLanes_ToVec(S.ang), lin = knAdd(knLanes_ToVec(S.lin), knCross(ang, arm));
			double column[6] = { ang.x, ang.y, ang.z, lin.x, lin.y, lin.z };
			for (int row = 0; row < 6; ++row) {
				J[row * nv + node->vOffset + k] = column[row];
			}
		}
	}
}

knTreeForce knTree_LinkMomentum(const knTree* tree, const knTreeWork* work, int i) {
	knTreeRigid rigid = knTreeNode_Rigid(&tree->nodes[i], &work->pose[i].R);
	knTreeInertia inertia = knTreeRigid_Full(&rigid, tree->nodes[i].mass);
	return knTreeInertia_Mul(&inertia, &work->velocity[i]);
}

double knTree_KineticEnergy(const knTree* tree, const knTreeWork* work) {
	double sum = 0.0;
	for (int i = 0; i < tree->count; ++i) {
		knTreeForce momentum = knTree_LinkMomentum(tree, work, i);
		sum += 0.5 * knTree_Power(&work->velocity[i], &momentum);
	}
	return sum;
}

double knTree_PotentialEnergy(const knTree* tree, const knTreeWork* work, knVec3 gravity) {
	double sum = 0.0;
	for (int i = 0; i < tree->count; ++i) {
		const knTreeNode* node = &tree->nodes[i];
		knVec3 moment = knLanes_ToVec(knLanes_MulNumbers(&work->pose[i].R, node->momentArm));
		sum -= knDot(gravity, knMulAdd(moment, node->mass, knLanes_ToVec(work->origin[i])));
	}
	return sum;
}

knTwist knTree_Momentum(const knTree* tree, const knTreeWork* work, knVec3 point) {
	knTwist sum = knZeroTwist();
	for (int i = 0; i < tree->count; ++i) {
		knTreeForce momentum = knTree_LinkMomentum(tree, work, i);
		knVec3 p = knLanes_ToVec(momentum.f);
		knVec3 L = knAdd(knLanes_ToVec(momentum.n), knCross(knSub(knLanes_ToVec(work->origin[i]), point), p));
		sum = (knTwist){ knAdd(sum.ang, L), knAdd(sum.lin, p) };
	}
	return sum;
}
