// A shelf of boxes, asked what is where: a ray, a ball that rolls along it in thought, what is near, and a bullet.
#include <math.h>
#include <stdio.h>
#include <knuckle/knuckle.h>

static knWorld* makeShelf(knBodyId* bullet, knError* error) {
	knSceneDef def = knSceneDef_Default();
	def.gravity = knV3(0.0, 0.0, 0.0);
	knScene* scene = knScene_Create(&def, NULL, error);
	knShapeDef shape = knShapeDef_Default();
	for (int i = 0; i < 4; ++i) {
		knBodyDef box = knBodyDef_Default();
		box.frame.p = knV3(1.0 * i, 0.0, 0.5);
		knScene_AddBox(scene, knScene_AddBody(scene, &box, error), knV3(0.005, 0.4, 0.5), &shape, error);
	}
	knBodyDef ball = knBodyDef_Default();
	ball.frame.p = knV3(-2.5, 0.1, 0.5);
	ball.velocity = knV3(300.0, 0.0, 0.0);
	ball.fast = true;
	*bullet = knScene_AddBody(scene, &ball, error);
	knScene_AddSphere(scene, *bullet, 0.005, &shape, error);
	knModel* model = knModel_Create(scene, error);
	knWorld* world = model != NULL ? knWorld_Create(model, NULL, error) : NULL;
	knModel_Release(model);
	knScene_Destroy(scene);
	return world;
}

int main(void) {
	knError error = { 0 };
	knBodyId bullet;
	knWorld* world = makeShelf(&bullet, &error);
	knGeom* ball = knGeom_Sphere(0.1, NULL, &error);
	if (world == NULL || ball == NULL) {
		printf("%s\n", error.message);
		return 1;
	}

	// what a ray from the left meets, all of it, nearest first; the bullet does not count
	knQueryFilter filter = knQueryFilter_Default();
	filter.except = bullet;
	knWorldHit hits[8];
	knVec3 from = knV3(-1.0, 0.0, 0.5), way = knV3(3.5, 0.0, 0.0);
	int count = knWorld_RayCastAll(world, from, way, &filter, hits, 8);
	for (int i = 0; i < count && i < 8; ++i) {
		printf("ray: plate %d at x = %.3f\n", i, hits[i].point.x);
	}

	// how far a ball of 10 cm gets from between the first two plates
	knShapeCast cast = { .geom = ball, .frame = knIdentityF(), .translation = knV3(2.0, 0.0, 0.0) };
	cast.frame.p = knV3(0.5, 0.0, 0.5);
	if (knWorld_Cast(world, &cast, &filter, &hits[0])) {
		printf("ball: stops after %.3f m\n", hits[0].fraction * 2.0);
	}
	if (knWorld_Nearest(world, ball, cast.frame, INFINITY, &filter, &hits[0])) {
		printf("ball: the nearest plate is %.3f m away\n", hits[0].distance);
	}

	// 300 m/s, 5 m in a step, and yet it does not get through a plate of 1 cm
	knWorld_Step(world, 1.0 / 60.0, &error);
	printf("bullet: x = %.2f, %.1f m/s\n", knWorld_BodyCenter(world, bullet).x,
		   knWorld_BodyVelocity(world, bullet).x);
	knGeom_Release(ball);
	knWorld_Destroy(world);
	return error.status != KN_OK;
}
