// A joint of your own: a point of a body is confined to the surface of a sphere, its rotation is free.
// A custom joint is two functions that return the closest allowed value; the library finds the rest.
#include <stdio.h>
#include <knuckle/knuckle.h>

// --- the joint: its context is the sphere's radius; the sphere is centred on the parent's joint frame ---

// The closest allowed frame: the origin goes to the surface, the rotation stays.
static knFrame projectState(knFrame joint, void* context) {
	const double* radius = context;
	double distance = knLength(joint.p);
	knVec3 normal = distance > 0.0 ? knScale(1.0 / distance, joint.p) : knV3(0.0, 0.0, 1.0);
	return knMakeFrame(knScale(*radius, normal), joint.q);
}

// The closest allowed velocity: what points away from the sphere goes, spin and sliding stay.
static knTwist projectVelocity(knFrame joint, knTwist velocity, void* context) {
	knVec3 normal = knNormalize(projectState(joint, context).p);
	velocity.lin = knMulAdd(velocity.lin, -knDot(velocity.lin, normal), normal);
	return velocity;
}

static knJointDef sphereSurface(double* radius) {
	knJointDef def = knJointDef_Default(KN_JOINT_CUSTOM);
	def.name = "surface";
	def.custom = (knCustomJoint){ projectState, projectVelocity, radius };
	return def;
}

// --- a bead that slides down a sphere of 1 m, starting 0.3 rad from the top ---

int main(void) {
	double radius = 1.0;
	knError error = { 0 };
	knSceneDef sceneDef = knSceneDef_Default();
	knScene* scene = knScene_Create(&sceneDef, NULL, &error);
	if (scene == NULL) {
		return 1;
	}

	knBodyDef beadDef = knBodyDef_Default();
	beadDef.name = "bead";
	beadDef.frame.p = knV3(radius * knSin(0.3), 0.0, radius * knCos(0.3));
	knShapeDef material = knShapeDef_Default();
	knBodyId bead = knScene_AddBody(scene, &beadDef, &error);
	knScene_AddSphere(scene, bead, 0.05, &material, &error);

	knJointDef jointDef = sphereSurface(&radius);
	jointDef.child = bead;
	knJointId joint = knScene_AddJoint(scene, &jointDef, &error);

	knModel* model = knModel_Create(scene, &error);
	knWorldDef worldDef = knWorldDef_Default();
	knWorld* world = model != NULL ? knWorld_Create(model, &worldDef, &error) : NULL;
	double worst = 0.0;
	for (int i = 0; world != NULL && i < 1000 && error.status == KN_OK; ++i) {
		if (knWorld_Step(world, 0.001, &error) == KN_OK) {
			worst = knMax(worst, knWorld_MeasureJoint(world, joint).distance);
			if ((i + 1) % 250 == 0) {
				knVec3 p = knWorld_BodyCenter(world, bead);
				printf("t = %.2f  bead (%.3f, %.3f, %.3f)  %.3f m from the centre\n", knWorld_Time(world),
					   p.x, p.y, p.z, knLength(p));
			}
		}
	}
	if (error.status != KN_OK) {
		printf("%s: %s\n", error.element, error.message);
	} else {
		printf("never further than %.1e m off the sphere\n", worst);
	}

	knWorld_Destroy(world);
	knModel_Release(model);
	knScene_Destroy(scene);
	return error.status != KN_OK || worst > 1e-3;
}
