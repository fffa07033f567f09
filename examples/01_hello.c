// A stack of three boxes and a chain of five links: build a scene, step it, read poses.
#include <stdio.h>
#include <knuckle/knuckle.h>

// Returns the topmost box.
static knBodyId addBoxes(knScene* scene, const knShapeDef* material, knError* error) {
	knBodyId box = KN_WORLD_BODY;
	for (int i = 0; i < 3; ++i) {
		knBodyDef def = knBodyDef_Default();
		def.frame.p = knV3(2.0, 0.0, 0.25 + 0.5 * i);
		box = knScene_AddBody(scene, &def, error);
		knScene_AddBox(scene, box, knV3(0.25, 0.25, 0.25), material, error);
	}
	return box;
}

// The chain hangs 3 m above the ground and starts level. Returns its last link.
static knBodyId addChain(knScene* scene, const knShapeDef* material, knError* error) {
	knBodyId link = KN_WORLD_BODY;
	for (int i = 0; i < 5; ++i) {
		knBodyId previous = link;
		knBodyDef def = knBodyDef_Default();
		def.frame.p = knV3(0.2 + 0.4 * i, 0.0, 3.0);
		link = knScene_AddBody(scene, &def, error);
		knScene_AddBox(scene, link, knV3(0.15, 0.05, 0.05), material, error);

		knJointDef joint = knJointDef_Default(KN_JOINT_BALL);
		knJointDef_At(&joint, scene, previous, link, knV3(0.4 * i, 0.0, 3.0), knV3(1.0, 0.0, 0.0), error);
		knScene_AddJoint(scene, &joint, error);
	}
	return link;
}

int main(void) {
	knError error = { 0 };
	knSceneDef sceneDef = knSceneDef_Default();
	knScene* scene = knScene_Create(&sceneDef, NULL, &error);
	knShapeDef material = knShapeDef_Default();
	knScene_AddPlane(scene, KN_WORLD_BODY, &material, &error);
	knBodyId box = addBoxes(scene, &material, &error), link = addChain(scene, &material, &error);

	knModel* model = knModel_Create(scene, &error);
	knWorldDef worldDef = knWorldDef_Default();
	knWorld* world = model != NULL ? knWorld_Create(model, &worldDef, &error) : NULL;
	for (int i = 1; i <= 200 && error.status == KN_OK; ++i) {
		knWorld_Step(world, 0.01, &error);
		if (i % 50 == 0) {
			knVec3 a = knWorld_BodyCenter(world, link), b = knWorld_BodyCenter(world, box);
			printf("t = %.1f  link (%.2f, %.2f)  box (%.2f, %.2f)\n", i * 0.01, a.x, a.z, b.x, b.z);
		}
	}
	if (error.status != KN_OK) {
		printf("%s: %s\n", error.element, error.message);
	}
	knWorld_Destroy(world);
	knModel_Release(model);
	knScene_Destroy(scene);
	return error.status != KN_OK;
}
