// A C++ program includes the header and links the library.
#include <knuckle/knuckle.h>

#include <cstdio>

int main() {
	knError error = {};
	knSceneDef def = knSceneDef_Default();
	knScene* scene = knScene_Create(&def, nullptr, &error);
	knShapeDef material = knShapeDef_Default();
	knBodyDef ball = knBodyDef_Default();
	ball.frame.p = knV3(0.0, 0.0, 10.0);
	knBodyId id = knScene_AddBody(scene, &ball, &error);
	knScene_AddSphere(scene, id, 0.5, &material, &error);
	knModel* model = knModel_Create(scene, &error);
	knWorldDef worldDef = knWorldDef_Default();
	knWorld* world = knWorld_Create(model, &worldDef, &error);
	bool falls = knWorld_Step(world, 0.01, &error) == KN_OK && knWorld_BodyVelocity(world, id).z < 0.0;
	std::printf("%s\n", falls ? "falls" : error.message);
	knWorld_Destroy(world);
	knModel_Release(model);
	knScene_Destroy(scene);
	return falls ? 0 : 1;
}
