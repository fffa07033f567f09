// A car with sprung wheels drives over hills: a height field, springs and dampers in slider joints, wheels on motors.
#include <math.h>
#include <stdio.h>
#include <knuckle/knuckle.h>

#define GRID 81    // points along each side
#define CELL 0.5   // m
#define WHEEL 0.35 // m, radius
#define SPEED 8.0  // rad/s

static double heightAt(double x, double y) {
	return 0.25 * sin(0.5 * x) * cos(0.4 * y) + 0.05 * sin(2.1 * x + 1.3 * y);
}

// A height field is centred on its frame; x runs fastest.
static void addTerrain(knScene* scene, knError* error) {
	static double heights[GRID * GRID];
	for (int j = 0; j < GRID; ++j) {
		for (int i = 0; i < GRID; ++i) {
			heights[j * GRID + i] = heightAt((i - GRID / 2) * CELL, (j - GRID / 2) * CELL);
		}
	}
	knHeightFieldDef def = {
		.columns = GRID, .rows = GRID, .cellX = CELL, .cellY = CELL, .heights = heights
	};
	knGeom* field = knGeom_HeightField(&def, NULL, error);
	knShapeDef earth = knShapeDef_Default();
	earth.friction = 0.9;
	knScene_AddShape(scene, KN_WORLD_BODY, field, &earth, error);
	knGeom_Release(field); // the scene keeps its own reference
}

static knBodyId addBody(knScene* scene, const char* name, knVec3 at, double mass, knError* error) {
	knBodyDef def = knBodyDef_Default();
	def.name = name;
	def.frame.p = at;
	def.hasMass = true;
	def.mass.mass = mass;
	def.mass.inertia = knDiagonal33(0.06 * mass, 0.06 * mass, 0.06 * mass);
	return knScene_AddBody(scene, &def, error);
}

// Between car and wheel a hub: it slides up and down on a spring, and the wheel turns on it.
static void addWheel(knScene* scene, knBodyId car, const char* name, knVec3 at, knError* error) {
	char hubName[32];
	snprintf(hubName, sizeof(hubName), "%s hub", name);
	knBodyId hub = addBody(scene, hubName, at, 8.0, error);
	knBodyId wheel = addBody(scene, name, at, 15.0, error);
	knShapeDef rubber = knShapeDef_Default();
	rubber.friction = 1.0;
	// a cylinder lies along its z axis; this turn lays it along y
	rubber.frame.q = knQuat_FromAxisAngle(knV3(1.0, 0.0, 0.0), 0.5 * KN_PI);
	knGeom* tyre = knGeom_Cylinder(WHEEL, 0.1, NULL, error);
	knScene_AddShape(scene, wheel, tyre, &rubber, error);
	knGeom_Release(tyre);

	knJointDef spring = knJointDef_Default(KN_JOINT_SLIDER);
	knJointDef_At(&spring, scene, car, hub, at, knV3(0.0, 0.0, 1.0), error);
	spring.axis[0].stiffness = 25000.0; // N/m
	spring.axis[0].rest = -0.1;         // m: loaded, the car stands where it was built
	spring.axis[0].damping = 2500.0;    // N s/m
	spring.axis[0].limited = true;
	spring.axis[0].lower = -0.25;
	spring.axis[0].upper = 0.25;
	knScene_AddJoint(scene, &spring, error);

	knJointDef axle = knJointDef_Default(KN_JOINT_HINGE);
	knJointDef_At(&axle, scene, hub, wheel, at, knV3(0.0, 1.0, 0.0), error);
	axle.axis[0].motorMode = KN_MOTOR_VELOCITY;
	axle.axis[0].motorTarget = SPEED;
	axle.axis[0].motorMaxForce = 300.0; // N m
	knScene_AddJoint(scene, &axle, error);
}

static knBodyId addCar(knScene* scene, knError* error) {
	double ground = heightAt(-12.0, 0.0) + 0.15;
	knBodyDef def = knBodyDef_Default();
	def.name = "car";
	def.frame.p = knV3(-12.0, 0.0, ground + 0.75);
	knBodyId car = knScene_AddBody(scene, &def, error);
	knShapeDef steel = knShapeDef_Default();
	steel.density = 450.0;
	knScene_AddBox(scene, car, knV3(1.3, 0.55, 0.2), &steel, error);
	const char* names[4] = { "front left", "front right", "rear left", "rear right" };
	for (int i = 0; i < 4; ++i) {
		knVec3 at = knV3(i < 2 ? -11.1 : -12.9, i % 2 == 0 ? 0.75 : -0.75, ground + WHEEL);
		addWheel(scene, car, names[i], at, error);
	}
	return car;
}

int main(void) {
	knError error = { 0 };
	knSceneDef sceneDef = knSceneDef_Default();
	knScene* scene = knScene_Create(&sceneDef, NULL, &error);
	addTerrain(scene, &error);
	knBodyId car = addCar(scene, &error);
	knModel* model = knModel_Create(scene, &error);
	knWorldDef worldDef = knWorldDef_Default();
	knWorld* world = model != NULL ? knWorld_Create(model, &worldDef, &error) : NULL;
	double up = 0.0, way = 0.0;
	for (int i = 0; i <= 500 && error.status == KN_OK && world != NULL; ++i) {
		knVec3 at = knWorld_BodyCenter(world, car);
		up = knRotate(knWorld_BodyFrame(world, car).q, knV3(0.0, 0.0, 1.0)).z;
		way = at.x + 12.0;
		if (i % 100 == 0) {
			printf("t = %.0f  car at (%.1f, %.1f), %.2f m above the ground, %.0f degrees from upright\n",
				   i * 0.01, at.x, at.y, at.z - heightAt(at.x, at.y), acos(knMin(up, 1.0)) * 180.0 / KN_PI);
		}
		knWorld_Step(world, 0.01, &error);
	}
	if (error.status != KN_OK) {
		printf("%s: %s\n", error.element, error.message);
	}
	knWorld_Destroy(world);
	knModel_Release(model);
	knScene_Destroy(scene);
	return error.status != KN_OK || way < 8.0 || up < 0.7;
}
