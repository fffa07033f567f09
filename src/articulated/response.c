// The response of a tree to impulses (Mirtich 1996): the articulated recursion once more with known inertias, p minus
// the impulse, and no velocity terms. Collision matrices and operational space: kernel_probe.h.
#include "articulated/tree.h"

void knTree_PrepareImpulses(const knTree* tree, knTreeWork* work, const double* q) {
	tree->kernel->stiffen(tree, work, q);
	tree->kernel->gather(tree, work, NULL);
}

static void takeImpulses(const knTree* tree, knTreeWork* work, const knTreeImpulse* impulses, int count) {
	for (int i = 0; i < tree->count; ++i) {
		work->force[i] = (knTreeForce){ knLanes_All(0.0), knLanes_All(0.0) };
	}
	for (int k = 0; k < count; ++k) {
		const knTreeImpulse* hit = &impulses[k];
		knLanes arm = knLanes_FromVec(hit->point) - work->origin[hit->link];
		knLanes impulse = knLanes_FromVec(hit->impulse);
		work->force[hit->link].n -= knLanes_FromVec(hit->moment) + knLanes_Cross(arm, impulse);
		work->force[hit->link].f -= impulse;
	}
}

void knTree_Respond(const knTree* tree, knTreeWork* work, const knTreeImpulse* impulses, int count,
					const double* jointImpulses, double* dv) {
	takeImpulses(tree, work, impulses, count);
	tree->kernel->respond(tree, work, jointImpulses, dv);
}

knMat33 knTree_CollisionMatrix(const knTree* tree, const knTreeWork* work, int linkA, int linkB,
							   knVec3 point) {
	knMat33 K;
	tree->kernel->collide(tree, work, linkA, linkB, point, &K);
	return K;
}

void knTree_OperationalInverse(const knTree* tree, const knTreeWork* work, const knTreePoint* points,
							   int count, double* inverse) {
	tree->kernel->operate(tree, work, points, count, inverse);
}
