// Mass properties against closed forms, against integration over a grid, and sums against the parallel-axis
// rule.
#include "knuckle/collide.h"
#include "support/kn_test.h"

static void assertNearMatrix(const knMat33* actual, const knMat33* expected, double tolerance) {
	assert_near3(actual->cx, expected->cx, tolerance);
	assert_near3(actual->cy, expected->cy, tolerance);
	assert_near3(actual->cz, expected->cz, tolerance);
}

static void closedForms(void** state) {
	(void)state;
	knGeom* sphere = knGeom_Sphere(0.5, NULL, NULL);
	knGeom* box = knGeom_Box(knV3(0.5, 1.0, 1.5), NULL, NULL);
	knGeom* capsule = knGeom_Capsule(0.5, 1.0, NULL, NULL);
	knGeom* plane = knGeom_Plane(NULL, NULL);

	knMassProps props = knGeom_MassProps(sphere, 1000.0);
	double mass = 1000.0 * KN_PI / 6.0;
	knMat33 inertia = knDiagonal33(mass / 10.0, mass / 10.0, mass / 10.0); // 2/5 m r^2
	assert_near(props.mass, mass, 1e-9);
	assertNearMatrix(&props.inertia, &inertia, 1e-9);

	props = knGeom_MassProps(box, 2.0);
	inertia = knDiagonal33(12.0 / 12.0 * (4.0 + 9.0), 12.0 / 12.0 * (1.0 + 9.0), 12.0 / 12.0 * (1.0 + 4.0));
	assert_near(props.mass, 12.0, 1e-12);
	assertNearMatrix(&props.inertia, &inertia, 1e-12);

	// cylinder of length 2 and a sphere cut in two halves
	props = knGeom_MassProps(capsule, 3.0);
	assert_near(props.mass, 3.0 * (KN_PI / 2.0 + KN_PI / 6.0), 1e-12);
	assert_near(props.inertia.cz.z, 3.0 * (KN_PI / 2.0 * 0.125 + KN_PI / 6.0 * 0.1), 1e-12);

	assert_near(knGeom_MassProps(plane, 1.0).mass, 0.0, 0.0);
	knGeom_Release(sphere);
	knGeom_Release(box);
	knGeom_Release(capsule);
	knGeom_Release(plane);
}

// Cubes of a grid whose middles lie inside; the distance function decides, so this is independent of the
// formulas.
static knMassProps integrate(const knGeom* geom, double reach, int cells) {
	double side = 2.0 * reach / cells, element = side * side * side;
	double mass = 0.0, xx = 0.0, yy = 0.0, zz = 0.0, xy = 0.0, yz = 0.0, zx = 0.0;
	knVec3 first = knZero3();
	for (int i = 0; i < cells; ++i) {
		for (int j = 0; j < cells; ++j) {
			for (int k = 0; k < cells; ++k) {
				knVec3 p = knV3((i + 0.5) * side - reach, (j + 0.5) * side - reach, (k + 0.5) * side - reach);
				// cells that the surface cuts count in part
				double inside = knClamp(0.5 - knGeom_Distance(geom, p) / side, 0.0, 1.0) * element;
				mass += inside;
				first = knMulAdd(first, inside, p);
				xx += inside * p.x * p.x;
				yy += inside * p.y * p.y;
				zz += inside * p.z * p.z;
				xy += inside * p.x * p.y;
				yz += inside * p.y * p.z;
				zx += inside * p.z * p.x;
			}
		}
	}
	knVec3 c = knScale(1.0 / mass, first);
	xx -= mass * c.x * c.x;
	yy -= mass * c.y * c.y;
	zz -= mass * c.z * c.z;
	xy -= mass * c.x * c.y;
	yz -= mass * c.y * c.z;
	zx -= mass * c.z * c.x;
	return (knMassProps){
		mass, c, knMakeMat33(knV3(yy + zz, -xy, -zx), knV3(-xy, xx + zz, -yz), knV3(-zx, -yz, xx + yy))
	};
}

static void assertIntegrates(const knGeom* geom, double reach) {
	knMassProps props = knGeom_MassProps(geom, 1.0), sum = integrate(geom, reach, 80);
	assert_near(props.mass, sum.mass, 5e-3 * sum.mass);
	assert_near3(props.center, sum.center, 2e-3);
	assertNearMatrix(&props.inertia, &sum.inertia, 1e-2 * knLength(sum.inertia.cx));
}

static void integrationAgrees(void** state) {
	(void)state;
	knTestRandom random = { 1 };
	knGeom* sphere = knGeom_Sphere(0.4, NULL, NULL);
	knGeom* capsule = knGeom_Capsule(0.3, 0.5, NULL, NULL);
	knGeom* box = knGeom_Box(knV3(0.2, 0.35, 0.5), NULL, NULL);
	assertIntegrates(sphere, 0.5);
	assertIntegrates(capsule, 0.9);
	assertIntegrates(box, 0.6);
	// three children that do not overlap, turned
	knGeomChild children[3] = { { sphere, knMakeFrame(knV3(-0.9, 0.0, 0.1), testQuat(&random)) },
								{ capsule, knMakeFrame(knV3(0.9, 0.4, -0.2), testQuat(&random)) },
								{ box, knMakeFrame(knV3(0.0, -0.7, 0.3), testQuat(&random)) } };
	knGeom* compound = knGeom_Compound(children, 3, NULL, NULL);
	knMassProps props = knGeom_MassProps(compound, 1.0), sum = integrate(compound, 1.8, 120);
	assert_near(props.mass, sum.mass, 1e-2 * sum.mass);
	assert_near3(props.center, sum.center, 1e-2);
	assertNearMatrix(&props.inertia, &sum.inertia, 2e-2 * knLength(sum.inertia.cx));
	knGeom_Release(compound);
	knGeom_Release(sphere);
	knGeom_Release(capsule);
	knGeom_Release(box);
}

// A box cut into eight is the box.
static void partsSumToTheWhole(void** state) {
	(void)state;
	knTestRandom random = { 2 };
	knGeom* whole = knGeom_Box(knV3(0.6, 0.8, 1.0), NULL, NULL);
	knGeom* part = knGeom_Box(knV3(0.3, 0.4, 0.5), NULL, NULL);
	knFrame frame = testFrame(&random, 3.0);
	knGeomChild children[8];
	for (int i = 0; i < 8; ++i) {
		knVec3 at = knV3(i & 1 ? 0.3 : -0.3, i & 2 ? 0.4 : -0.4, i & 4 ? 0.5 : -0.5);
		children[i] = (knGeomChild){ part, knMulF(frame, knMakeFrame(at, knIdentityQ())) };
	}
	knGeom* compound = knGeom_Compound(children, 8, NULL, NULL);
	knMassProps own = knGeom_MassProps(whole, 700.0);
	knMassProps expected = knMassProps_Transform(&own, frame), sum = knGeom_MassProps(compound, 700.0);
	assert_near(sum.mass, expected.mass, 1e-9);
	assert_near3(sum.center, expected.center, 1e-12);
	assertNearMatrix(&sum.inertia, &expected.inertia, 1e-9);
	knGeom_Release(compound);
	knGeom_Release(whole);
	knGeom_Release(part);
}

// Kinetic energy of a turning body does not depend on the axes in which it is written.
static void transformKeepsTheEnergy(void** state) {
	(void)state;
	knTestRandom random = { 3 };
	knMassProps props = { 2.0, testVec3(&random, 1.0), knDiagonal33(1.0, 2.0, 2.5) };
	for (int n = 0; n < 100; ++n) {
		knFrame frame = testFrame(&random, 2.0);
		knMassProps seen = knMassProps_Transform(&props, frame);
		knVec3 spin = testVec3(&random, 1.0), spinSeen = knRotate(frame.q, spin);
		assert_near(knDot(spinSeen, knMulMV(&seen.inertia, spinSeen)),
					knDot(spin, knMulMV(&props.inertia, spin)), 1e-12);
		assert_near3(seen.center, knPoint(frame, props.center), 1e-12);
	}
}

static void addingNothingChangesNothing(void** state) {
	(void)state;
	knMassProps none = { 0 }, some = { 2.0, { 1.0, 2.0, 3.0 }, knDiagonal33(1.0, 2.0, 2.5) };
	knMassProps sum = knMassProps_Add(&none, &some);
	assert_near(sum.mass, 2.0, 0.0);
	assert_near3(sum.center, some.center, 1e-15);
	assertNearMatrix(&sum.inertia, &some.inertia, 1e-14);
	sum = knMassProps_Add(&none, &none);
	assert_near(sum.mass, 0.0, 0.0);
	assert_true(knIsFinite3(sum.center) && knIsFinite3(sum.inertia.cx));
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(closedForms),
		cmocka_unit_test(integrationAgrees),
		cmocka_unit_test(partsSumToTheWhole),
		cmocka_unit_test(transformKeepsTheEnergy),
		cmocka_unit_test(addingNothingChangesNothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
